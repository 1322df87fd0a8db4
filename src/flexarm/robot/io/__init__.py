"""Robots in files."""
