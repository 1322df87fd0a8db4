"""Time: inputs, steps, the loop over them, and results."""
