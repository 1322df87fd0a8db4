"""Methods: the formulas of their steps."""
