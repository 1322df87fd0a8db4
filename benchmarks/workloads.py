"""What is compared: each workload with its candidates, a converged reference, an error measure and targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

import flexarm as fa
from peers import flexarm_models
from peers.result import Candidate, Result
from search import deviation


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    duration: float
    targets: tuple[float, ...]  # m
    reference: Callable[[], CubicSpline]
    converged: str  # how the reference was found
    candidates: Callable[[], list[Candidate]]
    checks: Callable[[], dict[str, float]] = field(default=dict)  # distances of the reference from other solutions, m
    speed_targets: dict[tuple[str, float], tuple[float, float]] = field(default_factory=dict)
    """By (tool, accuracy): how many times faster than it the loop and the whole call should be."""

    def error(self, result: Result) -> float:
        return deviation(result, self.reference())


def spline(run: fa.Run, track: Any) -> CubicSpline:
    if run.reason != "completed":
        raise RuntimeError(f"the reference {run.reason}")
    return CubicSpline(run.time.values, track)


def distance(a: CubicSpline, b: CubicSpline) -> float:
    return float(np.linalg.norm(a(a.x) - b(a.x), axis=1).max())


def tip(run: fa.Run) -> Any:
    return run.tip.values


# --- W1: the planar two-link arm ---

TIP_MODES = {"upper": fa.Modes(tip_mass=0.24), "fore": fa.Modes(tip_mass=0.15)}  # what hangs at the links' tips


def _two_link_bases() -> dict[str, tuple[fa.Flexible, fa.Flexible]]:
    def both(count: int, basis: Any) -> tuple[fa.Flexible, fa.Flexible]:
        return (fa.Flexible(bend_y=count, basis=basis),) * 2

    bases = {f"{n} modes": both(n, "modes") for n in (2, 3, 5)}
    bases |= {
        f"{n} modes with tip mass": tuple(fa.Flexible(bend_y=n, basis=each) for each in TIP_MODES.values())
        for n in (2, 3)
    }
    bases |= {f"{n} elements": both(n, "elements") for n in (2, 3)}
    bases |= {f"Craig-Bampton, {n} mode{'s' * (n > 1)}": both(n, fa.reduced(12, n, "fixed")) for n in (1, 2)}
    return bases


def _w1_candidates() -> list[Candidate]:
    from peers import exudyn_models, mujoco_models, scipy_solver

    out = []
    for name, (upper, fore) in _two_link_bases().items():
        for rtol in (1e-2, 1e-3, 5e-4, 3e-4, 1e-4):
            work = partial(flexarm_models.two_link_arm, upper, fore, rtol=rtol)
            out.append(Candidate("flexarm", f"{name}, rtol {rtol:.0e}", partial(flexarm_models.measured, work, tip)))
    for elements, dt, radius, tolerance, integration in _ANCF:
        text = f"{elements} ANCF, dt {1e3 * dt:g} ms, radius {radius}, tol {tolerance:.0e}, quadrature {integration}"
        work = partial(exudyn_models.two_link_arm, elements, dt, radius, tolerance, integration)
        out.append(Candidate("Exudyn", text, work))
    for segments in (2, 3, 4, 6, 8, 12):
        for parts in (2, 3, 4, 5, 10):
            dt = 0.01 / parts
            text = f"{segments} segments, dt {1e3 * dt:.3g} ms"
            out.append(Candidate("MuJoCo", text, partial(mujoco_models.two_link_arm, segments, dt)))
    shapes = fa.Flexible(bend_y=1, basis=fa.reduced(12, 1, "fixed"))
    for method in ("Radau", "DOP853"):
        for rtol in (1e-3, 1e-4, 1e-5, 1e-6):
            work = partial(scipy_solver.two_link_arm, shapes, shapes, method=method, rtol=rtol, atol=1e-2 * rtol)
            out.append(Candidate(f"solve_ivp {method}", f"Craig-Bampton, 1 mode, rtol {rtol:.0e}", work))
    return out


_ANCF = [
    *((n, dt, 0.8, 1e-3, 1) for n in (1, 2, 3, 4) for dt in (10e-3, 5e-3, 2e-3, 1e-3)),
    *((n, dt, 0.3, 1e-3, 1) for n in (2, 3) for dt in (10e-3, 5e-3, 2e-3)),
    *((n, dt, 0.6, 1e-3, 1) for n in (2, 3) for dt in (10e-3, 5e-3, 2e-3)),
    *((2, 5e-3, radius, tolerance, 1) for radius in (0.6, 0.9) for tolerance in (1e-2, 1e-4)),
    *((n, 5e-3, 0.6, 1e-3, 2) for n in (2, 3)),
    (2, 5e-3, 0.8, 1e-8, 1),
]


@cache
def _w1_reference(rtol: float = 1e-6, elements: int = 4) -> CubicSpline:
    shapes = fa.Flexible(bend_y=elements, basis="elements", stiffening="full")
    run = flexarm_models.two_link_arm(shapes, shapes, rtol=rtol)
    return spline(run, tip(run))


def _w1_checks() -> dict[str, float]:
    from peers import exudyn_models

    other = exudyn_models.two_link_arm(8, 1e-3, 0.9, 1e-4, 1)
    return {
        "itself at ten times the tolerance": distance(_w1_reference(), _w1_reference(rtol=1e-5)),
        "itself with 3 elements": distance(_w1_reference(), _w1_reference(elements=3)),
        "Exudyn, 8 ANCF elements, dt 1 ms": deviation(other, _w1_reference()),
    }


W1 = Workload(
    name="W1",
    title="planar two-link arm, Kelvin-Voigt damping 1e-3 s, 10 s",
    duration=10.0,
    targets=(1e-3, 1e-4, 2e-5),
    reference=_w1_reference,
    converged="flexarm, stiffening='full', 4 elements a link, rtol 1e-6",
    candidates=_w1_candidates,
    checks=_w1_checks,
    speed_targets={("Exudyn", 1e-4): (10, 3), ("MuJoCo", 1e-4): (5, 0), ("solve_ivp", 1e-4): (30, 0)},
)

ALL = {each.name: each for each in (W1,)}
