"""Inversion of flexible robots: torques that move a point of a robot along a path."""
