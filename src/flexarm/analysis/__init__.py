"""What follows from the equations: vibration modes."""
