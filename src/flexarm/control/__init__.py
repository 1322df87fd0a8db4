"""Controllers, input shaping and inversion."""
