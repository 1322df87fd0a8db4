"""Command-line program `flexarm`."""

from flexarm.cli.entry import main

__all__ = ["main"]
