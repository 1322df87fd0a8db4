"""The physics: equations of motion as CasADi expressions, and systems that evaluate them."""
