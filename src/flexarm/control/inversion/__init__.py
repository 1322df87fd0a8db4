"""Torques that move a point of a flexible robot along a path."""
