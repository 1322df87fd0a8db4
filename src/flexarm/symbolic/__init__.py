"""Equations of motion in closed form (SymPy or SymEngine)."""
