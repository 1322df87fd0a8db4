"""The ensemble: W1 for 10 s with other payloads and moduli of its upper link, and reference positions of the tips."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.sweeps.case import Member, SweepCase
from peers.result import Result

DURATION, SAMPLE = 10.0, 0.05  # s
WITHIN = 1e-4  # m, of tips at every sample
PAYLOADS, MODULI = (0.05, 0.3), (1.5e10, 4e10)  # kg, Pa
PAYLOAD, MODULUS = "links.fore.payload.mass", "links.upper.material.E"
EXACT = fa.Flexible(bend_y=6, basis="elements", stiffening="exact")
TORQUE = {"upper": fa.bang_bang(0.02, (1, 2)), "fore": fa.bang_bang(0.005, (1, 2))}


@dataclass(frozen=True)
class Grid:
    """So many payloads x so many moduli of the upper link."""

    payloads: int
    moduli: int

    def __len__(self) -> int:
        return self.payloads * self.moduli

    @property
    def values(self) -> tuple[list[float], list[float]]:
        """kg and Pa."""
        return np.linspace(*PAYLOADS, self.payloads).tolist(), np.linspace(*MODULI, self.moduli).tolist()

    @property
    def over(self) -> dict[str, list[float]]:
        """As `fa.sweep` takes it."""
        return dict(zip((PAYLOAD, MODULUS), self.values, strict=True))

    @property
    def pairs(self) -> list[tuple[float, float]]:
        """Payload and modulus of all members, the modulus changing first."""
        return list(itertools.product(*self.values))

    @property
    def members(self) -> list[Member]:
        return [Member(k, {PAYLOAD: payload, MODULUS: E}) for k, (payload, E) in enumerate(self.pairs)]


@dataclass(frozen=True)
class Checked:
    """The members of a grid whose tips are compared with the exact model's: its corners, its middle, and those of its
    edges; `closely`: many more, with all of the lightest payloads, whose tips are hardest to tell."""

    grid: Grid
    closely: bool = False

    @property
    def numbers(self) -> list[int]:
        rows, columns = self.grid.payloads, self.grid.moduli
        across, along = (0, rows // 2, rows - 1), (0, columns // 2, columns - 1)
        if self.closely:
            across, along = (0, 1, 2, rows // 4, *across), tuple(range(columns))
        return sorted({row * columns + column for row, column in itertools.product(across, along)})

    @property
    def pairs(self) -> list[tuple[float, float]]:
        every = self.grid.pairs
        return [every[k] for k in self.numbers]

    def error(self, result: Result) -> float:
        """The largest distance of a tip from where it should be (m); `result.track` is (times, members, axes)."""
        places = np.rint(result.times / SAMPLE).astype(int)
        if len(set(places)) != round(DURATION / SAMPLE) + 1 or not np.isfinite(result.track).all():
            return float("nan")
        exact = np.stack([reference(*pair) for pair in self.pairs], axis=1)
        return float(np.linalg.norm(result.track - exact[places], axis=2).max())


def arm(upper: fa.Flexible, fore: fa.Flexible) -> fa.Robot:
    shapes = {"links.upper.flexible": upper, "links.fore.flexible": fore}
    return fa.library.two_link_arm(damping=1e-3).with_(shapes)


def case(upper: fa.Flexible, fore: fa.Flexible, rtol: float, **options: Any) -> SweepCase:
    known = {"rtol": rtol, "sample": SAMPLE, **options}
    return SweepCase(arm(upper, fore), DURATION, torque=TORQUE, options=known)


@cache
def reference(payload: float, modulus: float, rtol: float = 1e-6) -> np.ndarray:
    """The tip of the exact model at every sample (m)."""
    robot = arm(EXACT, EXACT).with_({PAYLOAD: payload, MODULUS: modulus})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ValidityWarning)  # of samples that are far apart
        run = fa.simulate(robot, DURATION, torque=TORQUE, sample=SAMPLE, rtol=rtol)
    if run.reason != "completed":
        raise RuntimeError(f"the reference {run.reason}")
    return np.asarray(run.array("tip"))
