"""The command line: one file for each command, `entry` for what they share when they end."""

from flexarm.cli.entry import main

__all__ = ["main"]
