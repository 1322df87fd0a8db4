"""Modes, linear models, spectra, inverse kinematics and other evaluations of robots and runs."""
