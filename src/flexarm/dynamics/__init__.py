"""Equations of motion as CasADi expressions, and `System`, which evaluates them."""
