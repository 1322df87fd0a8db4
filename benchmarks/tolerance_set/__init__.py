"""Cases, references and measurements of `python benchmarks/tolerance.py`."""
