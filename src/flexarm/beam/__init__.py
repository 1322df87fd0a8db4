"""Shape functions of flexible links and their integrals (NumPy only)."""
