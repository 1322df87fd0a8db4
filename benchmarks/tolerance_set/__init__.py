"""Runs that tell whether rtol means what it says: `python benchmarks/tolerance.py`."""
