"""The physics: equations of motion as CasADi expressions, and what makes them callable."""
