"""Figures, films and tables of what the other rooms computed."""
