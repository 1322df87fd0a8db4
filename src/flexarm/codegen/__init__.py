"""CasADi functions as callables on NumPy arrays, as C source and as compiled libraries."""
