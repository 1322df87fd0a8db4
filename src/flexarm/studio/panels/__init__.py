"""Panels of a page of the studio."""
