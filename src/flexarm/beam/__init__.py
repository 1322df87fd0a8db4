"""How a link bends: shape functions and the constant integrals that the equations need. NumPy only."""
