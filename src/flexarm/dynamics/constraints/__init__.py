"""Constraint equations, their parameters, independent rows and consistent initial states."""
