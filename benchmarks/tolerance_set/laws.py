"""Controllers of the cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flexarm as fa


def following(joints: Sequence[str], aims: Sequence[fa.Profile]) -> Callable[..., Any]:
    """PD control of each of these joints, with gains kp0, kd0, kp1, ..."""

    def law(t: Any, q: Any, v: Any, gains: Any) -> list[Any]:
        return [
            gains[f"kp{k}"] * (aim(t) - q[f"{joint}.q"]) - gains[f"kd{k}"] * v[f"{joint}.q"]
            for k, (joint, aim) in enumerate(zip(joints, aims, strict=True))
        ]

    return law


def gains(inertias: Sequence[float], bandwidth: float, damping: float) -> dict[str, float]:
    """Of joints that feel these inertias, for a bandwidth in rad/s."""
    stiff = {f"kp{k}": each * bandwidth**2 for k, each in enumerate(inertias)}
    return stiff | {f"kd{k}": 2 * damping * bandwidth * each for k, each in enumerate(inertias)}
