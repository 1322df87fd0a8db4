"""Validation, messages, atomic files, progress bars and interrupts, used by all other packages."""
