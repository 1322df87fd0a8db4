"""Which output of a robot is looked at first, and which others it has."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from flexarm.analysis.linear import linearize
from flexarm.mechanics.system import System
from flexarm.motion.run import Run

AXES = "xyz"


def usual_output(run: Run) -> str:
    """The tip along the axis on which it moves most in a run; of one that rests, `tip.y`."""
    way = np.ptp(run.array("tip"), axis=0)
    return f"tip.{AXES[int(way.argmax())]}" if way.max() > 0 else "tip.y"


def pushed_output(system: System, posture: Mapping[str, float], given: str) -> str | None:
    """The tip along the axis on which an input pushes it most in a posture; None where it does not push it."""
    there = linearize(system, q=dict(posture), inputs=[given], outputs=[f"tip.{axis}''" for axis in AXES])
    push = np.abs(there.D[:, 0])
    return f"tip.{AXES[int(push.argmax())]}" if push.max() > 0 else None


def output_words(system: System, usual: str) -> str:
    """Names that this robot's outputs have."""
    names = [usual, f"{usual}''", *(f"{each.link}.q" for each in system.actuators[:1])]
    bent = [link for link in system.robot.links if link.flexible is not None]
    for link in bent[:1]:
        place = f"{link.length / 2:.3g}"
        side = "z" if link.flexible is not None and link.flexible.bend_z and not link.flexible.bend_y else "y"
        names += [f"deflection.{link.name}.{side}", f"{link.name}({place}).{usual[-1]}", f"{link.name}.strain({place})"]
    return f"Outputs: {', '.join(f'`{name}`' for name in names)}, ..."
