"""Control laws as they run in a simulation: signals, tracing, digital laws, sensors and actuators."""
