"""Functions of time: segments, standard profiles, tables, bandwidth and tracing."""
