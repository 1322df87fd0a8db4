"""The equations in closed form, by SymPy or SymEngine."""
