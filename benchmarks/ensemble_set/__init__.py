"""The parts of ensemble.py: the arms, what each tool makes of them, what is measured, and the page."""
