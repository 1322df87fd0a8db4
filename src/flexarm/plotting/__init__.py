"""Figures, films and tables of results (Matplotlib, rich)."""
