"""Parts of control_benchmarks.py; each returns rows of a table and figures."""
