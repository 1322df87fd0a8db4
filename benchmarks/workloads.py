"""Workloads: each with its candidates, a converged reference, an error measure and targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

import elastica
import flexarm as fa
import w3_shapes
from peers import flexarm_models
from peers.result import Candidate, Result
from search import deviation


@dataclass(frozen=True)
class Goal:
    """How many times faster than a peer flexarm should be at some accuracy (m); 0 asks for nothing."""

    peer: str
    accuracy: float
    loop: float = 0.0
    whole: float = 0.0
    same: str = ""  # only flexarm's settings that begin with this: the peer solves their equations


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    observed: str
    duration: float
    targets: tuple[float, ...]  # m
    reference: Callable[[], CubicSpline]
    converged: str  # how the reference was found
    candidates: Callable[[], list[Candidate]]
    checks: Callable[[], dict[str, float]] = field(default=dict)  # distances of the reference from other solutions, m
    goals: tuple[Goal, ...] = ()

    def error(self, result: Result) -> float:
        return deviation(result, self.reference())


def spline(run: fa.Run, track: Any) -> CubicSpline:
    if run.reason != "completed":
        raise RuntimeError(f"the reference {run.reason}")
    return CubicSpline(run.array("time"), track)


def distance(a: CubicSpline, b: CubicSpline) -> float:
    return float(np.linalg.norm(a(a.x) - b(a.x), axis=1).max())


def tip(run: fa.Run) -> Any:
    return run.array("tip")


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
    bases |= {f"Craig-Bampton, {n} mode{'s' * (n > 1)}": both(n, fa.Reduced(12, n, "fixed")) for n in (1, 2)}
    return bases


def _w1_candidates() -> list[Candidate]:
    from peers import exudyn_models, mujoco_models, scipy_solver

    out = []
    for name, (upper, fore) in _two_link_bases().items():
        for rtol in (2e-2, 1e-2, 3e-3, 1e-3, 5e-4, 3e-4, 1e-4):
            work = partial(flexarm_models.two_link_arm, upper, fore, rtol=rtol)
            out.append(Candidate("flexarm", f"{name}, rtol {rtol:.0e}", partial(flexarm_models.measured, work, tip)))
        for rtol in (1e-2, 1e-3):
            work = partial(flexarm_models.two_link_arm, upper, fore, method="generalized-alpha", rtol=rtol)
            run = partial(flexarm_models.measured, work, tip)
            out.append(Candidate("flexarm", f"{name}, generalized-alpha, rtol {rtol:.0e}", run))
    for elements, dt, radius, tolerance, integration in _ANCF:
        text = f"{elements} ANCF, dt {1e3 * dt:g} ms, radius {radius}, tol {tolerance:.0e}, quadrature {integration}"
        work = partial(exudyn_models.two_link_arm, elements, dt, radius, tolerance, integration)
        out.append(Candidate("Exudyn", text, work))
    for segments in (2, 3, 4, 6, 8, 12):
        for parts in (2, 3, 4, 5, 6, 10, 20):
            dt = 0.01 / parts
            text = f"{segments} segments, dt {1e3 * dt:.3g} ms"
            out.append(Candidate("MuJoCo", text, partial(mujoco_models.two_link_arm, segments, dt)))
    shapes = fa.Flexible(bend_y=1, basis=fa.Reduced(12, 1, "fixed"))
    for method in ("Radau", "DOP853"):
        for rtol in (1e-2, 1e-3, 1e-4):
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
def _w1_reference(rtol: float = 1e-6, elements: int = 6) -> CubicSpline:
    shapes = fa.Flexible(bend_y=elements, basis="elements", stiffening="exact")
    run = flexarm_models.two_link_arm(shapes, shapes, rtol=rtol)
    return spline(run, tip(run))


def _w1_checks() -> dict[str, float]:
    from peers import exudyn_models, mujoco_models

    return {
        "the same at rtol 1e-5": distance(_w1_reference(), _w1_reference(rtol=1e-5)),
        "the same with 5 elements a link": distance(_w1_reference(), _w1_reference(elements=5)),
        "Exudyn, 8 ANCF elements, dt 1 ms": deviation(
            exudyn_models.two_link_arm(8, 1e-3, 0.9, 1e-5, 1), _w1_reference()
        ),
        "MuJoCo, 24 segments, dt 0.2 ms": deviation(mujoco_models.two_link_arm(24, 2e-4), _w1_reference()),
    }


W1 = Workload(
    name="W1",
    title="planar two-link arm, Kelvin-Voigt damping 1e-3 s, 10 s",
    observed="tip",
    duration=10.0,
    targets=(1e-3, 1e-4, 2e-5),
    reference=_w1_reference,
    converged="flexarm with stiffening='exact', 6 elements a link, rtol 1e-6",
    candidates=_w1_candidates,
    checks=_w1_checks,
    goals=(
        Goal("Exudyn", 1e-4, 13, 5),
        Goal("MuJoCo", 1e-4, 14, 5),
        Goal("MuJoCo", 1e-3, whole=2),
        Goal("solve_ivp", 1e-4, 30, same="Craig-Bampton, 1 mode"),
    ),
)


# --- W2: the beam that is spun up ---

W2_PEAK = 0.7505  # m, of the reference; targets are fractions of it
W2_TARGETS = (0.02 * W2_PEAK, 0.005 * W2_PEAK, 0.001 * W2_PEAK, 1e-4)
W2_TIMES = np.linspace(0, 20, 1001)


def _w2_candidates() -> list[Candidate]:
    from peers import exudyn_models

    out = []
    for modes in (2, 3, 4, 6):
        for rtol in (1e-2, 1e-3, 1e-4):
            work = partial(flexarm_models.spin_up_beam, modes, "shortening", rtol=rtol)
            run = partial(flexarm_models.measured, work, flexarm_models.deflection)
            out.append(Candidate("flexarm", f"{modes} modes, stiffening='shortening', rtol {rtol:.0e}", run))
    for modes in (3, 4, 5, 6):
        for rtol in (1e-2, 1e-3, 1e-4):
            work = partial(flexarm_models.spin_up_beam, modes, "exact", rtol=rtol)
            run = partial(flexarm_models.measured, work, flexarm_models.deflection)
            out.append(Candidate("flexarm", f"{modes} modes, stiffening='exact', rtol {rtol:.0e}", run))
    settings = [("ANCF", n, dt, 0.9, 1e-4) for n in (2, 3, 4) for dt in (20e-3, 10e-3, 5e-3)]
    settings += [("ANCF", n, 10e-3, radius, tol) for n in (3, 4) for radius in (0.6, 0.9) for tol in (1e-3, 1e-5)]
    settings += [("ANCF", n, 2.5e-3, 0.9, 1e-5) for n in (4, 8)]
    settings += [("exact", n, dt, radius, 1e-4) for n in (3, 4) for dt in (10e-3, 5e-3) for radius in (0.6, 0.9)]
    for kind, elements, dt, radius, tolerance in settings:
        text = f"{elements} {kind}, dt {1e3 * dt:g} ms, radius {radius}, tol {tolerance:.0e}"
        work = partial(exudyn_models.spin_up_beam, kind, elements, dt, radius, tolerance)
        out.append(Candidate("Exudyn", text, work))
    return out


@cache
def _w2_reference(shapes: int = 6, rtol: float = 1e-8, speed: float = 6.0) -> CubicSpline:
    return CubicSpline(W2_TIMES, elastica.deflection(W2_TIMES, speed, 15.0, shapes, rtol))


def _w2_checks() -> dict[str, float]:
    from peers import exudyn_models

    exact = flexarm_models.measured(
        partial(flexarm_models.spin_up_beam, 6, "exact", rtol=1e-5), flexarm_models.deflection
    )
    second = flexarm_models.measured(
        partial(flexarm_models.spin_up_beam, 6, "shortening", rtol=1e-5), flexarm_models.deflection
    )
    known = {3.0: -0.4111629, 8.0: -0.9319832}  # peaks of the geometrically nonlinear solutions of the spin-up study
    peaks = {
        f"its peak at {speed:g} rad/s from the published {peak:g} m": abs(_w2_peak(speed) - peak)
        for speed, peak in known.items()
    }
    return {
        "the same with 5 shapes, rtol 1e-7": distance(_w2_reference(), _w2_reference(5, 1e-7)),
        **peaks,
        "Exudyn, 8 ANCF elements, dt 2.5 ms": deviation(
            exudyn_models.spin_up_beam("ANCF", 8, 2.5e-3, 0.9, 1e-5), _w2_reference()
        ),
        "flexarm, 6 modes, stiffening='shortening', rtol 1e-5": deviation(second, _w2_reference()),
        "flexarm, 6 modes, stiffening='exact', rtol 1e-5": deviation(exact, _w2_reference()),
    }


def _w2_peak(speed: float) -> float:
    return float(_w2_reference(5, 1e-7, speed)(np.linspace(0, 20, 20_001)).min())


W2 = Workload(
    name="W2",
    title="spin-up beam, 6 rad/s, 20 s",
    observed="deflection of the tip",
    duration=20.0,
    targets=W2_TARGETS,
    reference=_w2_reference,
    converged="a beam that does not stretch, exact geometry, 6 Legendre shapes, DOP853 (benchmarks/elastica.py)",
    candidates=_w2_candidates,
    checks=_w2_checks,
    goals=tuple(Goal("Exudyn", accuracy, 30, 20) for accuracy in W2_TARGETS),
)


# --- W3: the spatial arm ---


def _w3_bases(elastic: bool) -> dict[str, w3_shapes.Shapes]:
    bases = {f"{n} element{'s' * (n > 1)}": w3_shapes.elements(n) for n in (1, 2, 3, 4)[: 3 if elastic else 4]}
    if not elastic:
        bases |= {f"{u} and {f} modes": w3_shapes.reduced(2, u, f) for u, f in ((2, 2), (3, 3), (4, 4))}
    return bases


def _w3_candidates(elastic: bool) -> list[Candidate]:
    from peers import exudyn_models, scipy_solver

    out = []
    steps: list[dict[str, Any]] = [{"dt": dt, "radius": 0.6} for dt in (2e-3, 1e-3, 5e-4)]
    steps += [{"rtol": rtol, "radius": 0.6} for rtol in (1e-2, 1e-3)]
    steps += [{"rtol": rtol} for rtol in (1e-2, 3e-3, 1e-3, 3e-4)]
    steps += [{"rtol": rtol, "method": "rk45"} for rtol in (1e-4, 1e-5)]
    steps += [{"dt": dt, "method": "rk4"} for dt in (1e-4, 5e-5)]
    for name, shapes in _w3_bases(elastic).items():
        for options in steps:
            text = ", ".join(f"{key} {value}" for key, value in options.items())
            work = partial(flexarm_models.rrr_arm, shapes, elastic, **options)
            out.append(Candidate("flexarm", f"{name}, {text}", partial(flexarm_models.measured, work, tip)))
    two = w3_shapes.elements(2)
    for method, rtol in (("Radau", 1e-2), ("DOP853", 1e-3), ("DOP853", 1e-4)):
        work = partial(scipy_solver.rrr_arm, two, elastic, method=method, rtol=rtol, atol=1e-2 * rtol)
        out.append(Candidate(f"solve_ivp {method}", f"2 elements, rtol {rtol:.0e}", work))
    if elastic:
        return out
    settings = [(n, dt, 0.6, 1e-4) for n in (2, 4, 8, 16) for dt in (2e-3, 1e-3, 5e-4)]
    settings += [(n, 1e-3, radius, tol) for n in (8, 16) for radius, tol in ((0.3, 1e-4), (0.9, 1e-4), (0.6, 1e-3))]
    settings += [(12, 1e-3, 0.6, 1e-4), (24, 5e-4, 0.6, 1e-4)]
    for elements, dt, radius, tolerance in settings:
        text = f"{elements} exact, dt {1e3 * dt:g} ms, radius {radius}, tol {tolerance:.0e}"
        out.append(Candidate("Exudyn", text, partial(exudyn_models.rrr_arm, elements, dt, radius, tolerance)))
    return out


@cache
def _w3_reference(rtol: float = 1e-5, modes: int = 8, elements: int = 0) -> CubicSpline:
    shapes = w3_shapes.elements(elements) if elements else w3_shapes.fine(modes)
    run = flexarm_models.rrr_arm(shapes, False, method="dop853", rtol=rtol)
    return spline(run, tip(run))


@cache
def _w3e_reference(rtol: float = 1e-6, elements: int = 3) -> CubicSpline:
    run = flexarm_models.rrr_arm(w3_shapes.elements(elements), True, method="rk45", rtol=rtol)
    return spline(run, tip(run))


def _w3_checks() -> dict[str, float]:
    from peers import exudyn_models

    reference = _w3_reference()
    known = {0.25: (7.414, 0.080, 0.449), 0.5: (6.413, 0.302, -0.863)}  # Exudyn and two prototypes, to 2 mm
    return {
        "the same at rtol 1e-4": distance(reference, _w3_reference(1e-4)),
        "the same with 6 modes of each kind": distance(reference, _w3_reference(modes=6)),
        "the same with 4 elements a link": distance(reference, _w3_reference(elements=4)),
        **{f"the known tip at {t} s": float(np.linalg.norm(reference(t) - place)) for t, place in known.items()},
        "Exudyn, 24 elements, dt 0.5 ms": deviation(exudyn_models.rrr_arm(24, 5e-4, 0.6, 1e-4), reference),
    }


W3 = Workload(
    name="W3",
    title="spatial RRR arm, rigid joints, 400 N m at each joint, 1 s",
    observed="tip",
    duration=1.0,
    targets=(1e-2, 4e-3, 1e-3),
    reference=_w3_reference,
    converged="flexarm with 8 Craig-Bampton modes of each kind a link (twist 3), Dormand-Prince 8, rtol 1e-5",
    candidates=partial(_w3_candidates, False),
    checks=_w3_checks,
    goals=(Goal("Exudyn", 1e-3, 50, 10), Goal("solve_ivp", 1e-2, 30, same="2 elements")),
)

W3E = Workload(
    name="W3e",
    title="the same arm with elastic joints, 1 s (Exudyn has no such rotor among its elements)",
    observed="tip",
    duration=1.0,
    targets=(1e-2, 1e-3),
    reference=_w3e_reference,
    converged="flexarm with 3 elements a link, Runge-Kutta 4(5), rtol 1e-6",
    candidates=partial(_w3_candidates, True),
    checks=lambda: {
        "the same at rtol 1e-5": distance(_w3e_reference(), _w3e_reference(1e-5)),
        "the same with 2 elements a link": distance(_w3e_reference(), _w3e_reference(elements=2)),
    },
)


# --- W4: the Canadarm2 ---


def _w4_candidates() -> list[Candidate]:
    out = []
    for method in ("auto", "generalized-alpha", "rk45"):
        for rtol in (1e-2, 1e-3, 1e-4, 1e-5):
            work = partial(flexarm_models.canadarm2, method=method, rtol=rtol)
            run = partial(flexarm_models.measured, work, tip)
            out.append(Candidate("flexarm", f"{method}, rtol {rtol:.0e}", run))
    return out


@cache
def _w4_reference(rtol: float = 1e-7) -> CubicSpline:
    run = flexarm_models.canadarm2(method="rk45", rtol=rtol)
    return spline(run, tip(run))


W4 = Workload(
    name="W4",
    title="five-link Canadarm2 released under gravity, 3 s",
    observed="tip",
    duration=3.0,
    targets=(1e-2, 1e-3),
    reference=_w4_reference,
    converged="flexarm with the same shapes, Runge-Kutta, rtol 1e-7",
    candidates=_w4_candidates,
    checks=lambda: {"the same at rtol 1e-6": distance(_w4_reference(), _w4_reference(1e-6))},
)

ALL = {each.name: each for each in (W1, W2, W3, W3E, W4)}
