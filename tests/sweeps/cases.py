"""Small cases with known answers, and measures that other processes can import."""

from __future__ import annotations

import os
import time

import numpy as np

import flexarm as fa

BAR = fa.Robot(links=[fa.Link("bar", 1.0, mass=3.0)])
MASS = "links.bar.mass"
QUICK = {"native": False, "method": "rk4", "dt": 0.05, "sample": 0.05}


def angle(run):
    """Of the bar at the end; without gravity 3 torque t^2 / (2 m), by any method of order two."""
    return run.array("q")[-1, 0]


def slow_angle(run):
    time.sleep(0.03)
    return angle(run)


def deadly(run):
    """Kills its process at one mass."""
    if abs(run.robot.links[0].mass - 2.0) < 1e-9:
        os._exit(1)
    return angle(run)


def swept(masses, **given):
    return fa.sweep(
        BAR, {MASS: masses}, 1.0, **{"torque": {"bar": 1.0}, "measure": angle, "progress": False, **QUICK, **given}
    )


def known(masses):
    return 1.5 / np.asarray(masses)
