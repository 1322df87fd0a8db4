"""Equations of motion in closed form (SymEngine, converted to SymPy)."""
