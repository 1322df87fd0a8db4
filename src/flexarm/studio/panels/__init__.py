"""Panels of a studio page, one class for each group of controls."""
