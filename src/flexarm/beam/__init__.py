"""Shape functions of links and their integrals (NumPy only)."""
