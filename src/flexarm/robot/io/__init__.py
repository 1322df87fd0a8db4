"""Reading and writing of robots in files."""
