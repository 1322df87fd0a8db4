"""What is asked of control, part by part; each tells what was found and draws it."""
