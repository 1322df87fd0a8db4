"""`simulate`, the integration loop, events, and `Simulation`, which is stepped by hand."""
