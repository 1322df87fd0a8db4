"""Validation, messages, files, progress and interrupts: what all other packages use."""
