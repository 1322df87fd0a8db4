"""Section 5: the beam on its supports, described twice, its motions, and what is read from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.foundation.validation import Array
from flexarm_papers.runs import simulate

# --- the beam (section 5) ---

LENGTH, MASS_PER_METRE, RIGIDITY = 1.0, 1.0, 1.0  # m, kg/m, N m^2
SUPPORTS = (0.0, 0.25)  # m: the one nearest to H and the one nearest to E
DEFLECTION = 0.01  # m: of the observed end at the start

ELEMENTS, FEW_ELEMENTS = 16, 4  # here, and in the paper
MODES = 6  # of the second description
SAMPLE_COUNT = 1400  # of a run

Describe = Callable[[str, int, Any, float], fa.Robot]


def floating(driven: str, elements: int, stiffening: Any, load: float = 0.0) -> fa.Robot:
    """The paper's way: elements in a frame that moves as the rigid beam would, led by its end H (left) or E (right);
    two constraints hold the beam on its supports. `load` (N/m) acts upward, all along the beam."""
    flexible = fa.Flexible(bend_y=elements, basis=fa.Elements(root="free"), stiffening=stiffening)
    return _supported([beam(fa.SlidingPrismatic(0.0 if driven == "H" else np.pi), flexible)], load)


def rooted(driven: str, modes: int, stiffening: Any, load: float = 0.0) -> fa.Robot:
    """The same beam otherwise: modes of a beam clamped at its driven end, in a frame that rises and turns with it."""
    flexible = fa.Flexible(bend_y=modes, basis=fa.Modes(tip_mass=0), stiffening=stiffening)
    hinge = fa.Revolute("z", mount=(0, 0, 0 if driven == "H" else np.pi))
    rail = fa.Link("rail", 1.0, fa.SlidingPrismatic(np.pi / 2), mass=0.0, offset=(0, -0.5, 0))
    lift = fa.Link("lift", 1.0, fa.SlidingPrismatic(-np.pi / 2), mass=0.0)
    return _supported([rail, lift, beam(hinge, flexible, at=0.0)], load)


def beam(joint: Any, flexible: fa.Flexible, **more: Any) -> fa.Link:
    """Mass per metre and EI are all that matters, and all that is given: here a thin strip of steel has them."""
    steel = fa.Material(E=2e11, rho=7850.0)
    inertia = RIGIDITY / steel.E
    section = fa.Section.properties(A=MASS_PER_METRE / steel.rho, I_y=inertia, I_z=inertia)
    return fa.Link("beam", LENGTH, joint, section, steel, flexible, **more)


def _supported(links: list[fa.Link], load: float) -> fa.Robot:
    held = [fa.PointSupport("beam", (x, 0, 0), "y", name) for x, name in zip(SUPPORTS, ("H_side", "E_side"))]
    return fa.Robot("beam over supports", links=links, gravity=(0, load / MASS_PER_METRE, 0), constraints=held)


# --- its motions: equation (57) with the numbers of the captions ---


@dataclass(frozen=True)
class Case:
    """The overhang W beyond the support nearest to H falls from `start` by `travel` (m) in `duration` (s)."""

    name: str
    figure: int
    start: float
    travel: float
    duration: float
    observed: str

    @property
    def peak_speed(self) -> float:
        return 2 * abs(self.travel) / self.duration

    def place(self, x: float) -> fa.Profile:
        """Where the point of the beam x (m) right of H is over time; the origin is the support nearest to H."""
        return fa.cycloid(x - self.start, x - self.start + self.travel, self.duration)

    def speed(self, t: Array) -> Array:
        """Return the speed of the beam to the right (m/s)."""
        return np.asarray(self.travel / self.duration * (1 - np.cos(2 * np.pi * t / self.duration)))

    def acceleration(self, t: Array) -> Array:
        """Of the beam, to the right (m/s^2)."""
        return np.asarray(2 * np.pi * self.travel / self.duration**2 * np.sin(2 * np.pi * t / self.duration))


SLOW_PUSH = Case("slow push", 7, 0.725, 0.7, 3.5, "H")
FAST_PUSH = Case("fast push", 8, 0.725, 0.7, 0.7, "H")
FAST_PULL = Case("fast pull", 9, 0.025, -0.7, 0.7, "E")
CASES = (SLOW_PUSH, FAST_PUSH, FAST_PULL)


@cache
def travel(
    case: Case,
    describe: Describe = floating,
    driven: str = "H",
    count: int = ELEMENTS,
    stiffening: str = "shortening",
    rtol: float = 1e-5,
    deflection: float = DEFLECTION,
    **options: Any,
) -> fa.Run:
    """Simulate a case from rest, in the static shape of a uniform load that was just removed; the observed end has
    risen by `deflection` (m)."""
    system = system_of(describe(driven, count, stiffening, 0.0))
    way = case.place(0.0 if driven == "H" else LENGTH)
    loaded = system_of(describe(driven, count, "none", 1e-3))
    return simulate(
        system,
        case.duration,
        motion={system.robot.links[0].name: way},
        q0=_bent(system, loaded, float(way(0.0)), _at(case.observed, driven), deflection),
        points={end: ("beam", _at(end, driven)) for end in "HE"},
        sample=case.duration / SAMPLE_COUNT,
        rtol=rtol,
        native=False,  # tracing takes most of the time, and compiling would take longer
        **options,
    )


@lru_cache(maxsize=16)
def system_of(robot: fa.Robot) -> fa.System:
    return fa.System(robot, native=False)


def _at(end: str, driven: str) -> float:
    """Where an end is along the link, whose root is the driven end."""
    return 0.0 if end == driven else LENGTH


def _bent(system: fa.System, loaded: fa.System, place: float, observed: float, deflection: float) -> Array:
    """Return the static shape under a uniform load that lifts the observed end by `deflection` (m)."""
    slide = system.robot.links[0].name
    straight = system.vector({f"{slide}.q": place} | ({"lift.q": 0.5} if slide == "rail" else {}))
    shape = fa.equilibrium(loaded, straight) - straight
    for _ in range(3):  # once would do, but for a frame that turns
        shape = shape * deflection / system.frame("beam", observed, straight + shape)[1, 3]
    return np.asarray(straight + shape)


def newmark(dt: float, stabilization: Any = "projection", method: str = "newmark") -> fa.Run:
    """The fast push with the paper's elements and steps of dt (s)."""
    return travel(FAST_PUSH, count=FEW_ELEMENTS, method=method, stabilization=stabilization, dt=dt)


def papers_own(dt: float) -> fa.Run:
    """The paper's scheme: Newmark's method, alpha = 0.25, delta = 0.5, stabilised with gamma = beta = 5 1/s."""
    return newmark(dt, method="newmark-baumgarte")


def finely_integrated() -> fa.Run:
    """The same beam without much error of integration."""
    return travel(FAST_PUSH, count=FEW_ELEMENTS, rtol=1e-6)


# --- what is read from them ---


def rise(run: fa.Run, end: str) -> Array:
    """Transverse displacement of an end (m)."""
    return np.asarray(run.data["points"].sel(point=end, axis="y").values)


def apart(case: Case, one: fa.Run, other: fa.Run) -> Array:
    """Distance of the observed end in two runs over time, as a fraction of the initial rise."""
    return np.asarray(np.abs(rise(one, case.observed) - rise(other, case.observed)) / DEFLECTION)


def vibration_energy(run: fa.Run, elements: int = ELEMENTS) -> Array:
    """Energy of bending and of transverse motion (J) in a run of `floating` elements driven at H."""
    transverse = run["v"].values.copy()
    transverse[:, 0] = 0.0
    energy = system_of(floating("H", elements, "none")).energy(run["q"].values, transverse)
    return np.asarray(energy.kinetic + energy.elastic)


def first_frequency_squared(case: Case, stiffening: str, t: Array, elements: int = 8) -> Array:
    """((rad/s)^2), of the beam held where it is at time t, under the axial force of that time with the drive at H;
    where it is negative, that force would buckle the beam."""
    system = system_of(floating("H", elements, stiffening))
    q, a = np.zeros((2, len(t), system.nq))
    q[:, 0], a[:, 0] = case.place(0.0)(t), case.acceleration(t)
    about, rows = system.linearization(q, 0 * q, a), system.constraint_jacobian(q)
    return np.array([_lowest(M[1:, 1:], K[1:, 1:], J[:, 1:]) for M, K, J in zip(about.M, about.K, rows)])


def _lowest(M: Array, K: Array, J: Array) -> float:
    from scipy.linalg import eigh, null_space

    free = null_space(J)
    return float(eigh(free.T @ K @ free, free.T @ M @ free, eigvals_only=True)[0])
