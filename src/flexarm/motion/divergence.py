"""Why a run found no way on."""

from __future__ import annotations

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.assembly import Assembly
from flexarm.mechanics.system import System
from flexarm.motion.plant import Plant


def divergence(system: System, plant: Plant, t: float, last: Array, tried: Array, fell: float | None) -> str:
    """In a sentence: after the `last` good state at time t the next one that was `tried` is none, though the step fell
    to so much (s; None of fixed steps)."""
    layout = plant.layout
    what = "is not a number with this fixed step"
    if fell is not None:
        what = f"changes too fast (the step fell to {fell:.2g} s)"
    q = np.abs(tried[layout.q] / system.sizes)
    worst = int(np.argmax(np.where(np.isfinite(q), q, np.inf))) if len(q) else 0
    return f"diverged at t = {t:.6g} s: '{system.names[worst]}' {what}{_singularity(system, plant, last[layout.q])}"


def _singularity(system: System, plant: Plant, q: Array) -> str:
    """The end of a sentence about a failure where constraints, or a lack of inertia, are at fault."""
    if plant.constraint_solver is None:
        found = system.singularity(q, plant.driven, nearly=True)
        if found is None:
            return ""
        if system.singularity(np.where(system.elastic, 0.0, q), plant.driven, nearly=True) is None:
            return "; links bend further there than their model bears: their mass matrix is nearly singular"
        return f"; {found.replace('is singular', 'is nearly singular there')}"
    names = Assembly(system, plant.driven).nearly_singular(q)
    return f"; the mechanism is nearly singular there: {names} cannot be held" if names else ""
