"""`Run` and what it is made of: recorded steps, samples, energies, checks and files."""
