"""Compare shape functions of links at equal counts: `python benchmarks/shapes.py [--runs]`.

Errors of frequencies against the exact ones of tests/reference, of a gravity sag against a fine mesh and, with
`--runs`, of tip paths of the workloads W1 and W3. Bases:

  bare           modes of the link with nothing at its tip, `fa.Modes(tip_mass=0)`
  mass           modes with the mass that hangs there, as a point
  zero posture   modes with what hangs there as a rigid body in the zero posture, first moment and all
  loaded         the default: mass and inertia of what hangs there, the mean over the turns of joints; of two and
                 three shapes a hundredth of the inertia about a hinge
  Craig-Bampton  static shapes of tip deflection and slope, and modes with the tip held
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.interpolate import CubicSpline

import flexarm as fa
from flexarm.robot.carried_inertia import _Rigid, carried_bodies
from flexarm.simulation.simulate import _system

REFERENCE = Path(__file__).parent.parent / "tests" / "reference"
BASES = ("bare", "mass", "zero posture", "loaded", "Craig-Bampton")
COUNTS = (1, 2, 3, 4, 5, 8)
POSTURES = ("0", "30", "90")  # degrees, of the elbow

Case = tuple[fa.Robot, dict[str, Any], list[float]]
"""A robot, the arguments of `fa.modes`, and the exact angular frequencies (rad/s)."""


def with_basis(robot: fa.Robot, name: str, count: int) -> fa.Robot:
    """The robot with `count` shapes of each family that its links have."""
    changes: dict[str, Any] = {}
    for link, loads in zip(robot.links, carried_bodies(robot), strict=True):
        if link.flexible is not None:
            mass = sum(load.mass for load in loads if load.at == link.length)
            changes[f"links.{link.name}.flexible"] = _flexible(link.flexible, name, count, mass)
    return robot.with_(changes)


def _flexible(flexible: fa.Flexible, name: str, count: int, mass: float) -> fa.Flexible:
    families, basis, fewer = flexible.counts, fa.Modes(), 0
    if name in ("bare", "mass"):
        basis = fa.Modes(tip_mass=0.0 if name == "bare" else mass)
    elif name == "Craig-Bampton":  # without modes it is one element
        basis, fewer = (fa.Reduced(24, interface="fixed"), 2) if count > 2 else (fa.Elements(), 1)
    counts = {family: count - fewer if family.startswith("bend") else max(count - 1, 1) for family in families}
    return fa.Flexible(**counts, basis=basis, stiffening=flexible.stiffening, damping=flexible.damping)


def modelled(name: str) -> Any:
    """While robots are computed: what the zero posture needs."""
    return patch.object(_Rigid, "spun", lambda body, _: body) if name == "zero posture" else nullcontext()


# --- frequencies ---


def rows(name: str) -> list[dict[str, str]]:
    with (REFERENCE / name).open() as file:
        return list(csv.DictReader(file))


def beam(payload: fa.PointMass | None, hub: float = 0.0, spring: float | None = None) -> fa.Robot:
    """mu = L = EI = 1."""
    drive = None if spring is None else fa.Drive(stiffness=spring, rotor_inertia=1.0)
    link = fa.Link(
        "beam",
        1.0,
        fa.Revolute(drive=drive),
        fa.Section.properties(1.0, 1.0, 1.0),
        fa.Material(1.0, 1.0),
        fa.Flexible(bend_y=1),
        hub=fa.PointMass(0.0, inertia=hub) if hub else None,
        payload=payload,
    )
    return fa.Robot(links=[link])


def clamped() -> Iterator[Case]:
    for row in rows("clamped_tip_mass.csv"):
        payload = fa.PointMass(float(row["Mp/(mL)"]), inertia=float(row["Jp/(mL^3)"]))
        yield beam(payload), {"joints": "locked"}, _squares(row)


def pinned() -> Iterator[Case]:
    for row in rows("pinned_hub_payload.csv"):
        yield beam(fa.PointMass(float(row["Mp/(mL)"])), float(row["Jh/(mL^3)"])), {}, _squares(row)


def sprung() -> Iterator[Case]:
    for row in rows("spring_root_beam.csv"):
        arm = beam(fa.PointMass(float(row["Mp/(mL)"])), float(row["Jh/(mL^3)"]), float(row["kL/EI"]))
        yield arm, {"joints": "locked"}, _squares(row)


def _squares(row: dict[str, str]) -> list[float]:
    return [float(row[f"betaL_{k}"]) ** 2 for k in range(1, 6)]


def two_links(joints: str, postures: tuple[str, ...] = POSTURES) -> Iterator[Case]:
    """Both joints free or both locked."""
    arm = fa.library.two_link_arm()
    hubs = {"upper": fa.PointMass(0.0, inertia=0.01), "fore": fa.PointMass(0.1, inertia=0.002)}
    for row in rows("two_link_frequencies.csv"):
        if row["joint1"] == row["joint2"] == joints and row["theta2[deg]"] in postures:
            hubbed = arm.with_({f"links.{name}.hub": hub for name, hub in hubs.items()})
            posture = {"fore.q": np.radians(float(row["theta2[deg]"]))}
            exact = [float(row[f"w{k}[rad/s]"]) for k in range(1, 7)]
            yield hubbed if "hubs" in row["params"] else arm, {"q": posture, "joints": joints}, exact


CASES: dict[str, Callable[[], Iterator[Case]]] = {
    "clamped beam with a tip mass and inertia": clamped,
    "beam on a free hinge with a payload": pinned,
    "beam on a spring with a payload": sprung,
    **{
        f"two-link arm, joints {joints}, elbow at {posture} degrees": partial(two_links, joints, (posture,))
        for joints in ("locked", "free")
        for posture in POSTURES
    },
    "two-link arm, any joints, worst posture": lambda: chain(two_links("locked"), two_links("free")),
}


def frequency_errors(cases: Iterator[Case], basis: str, count: int, modes: int = 2) -> list[float]:
    """The largest relative error of each of the first frequencies."""
    found = []
    for robot, options, exact in cases:
        with modelled(basis):
            all_of_them = 2 * np.pi * fa.modes(with_basis(robot, basis, count), **options).frequencies
        elastic = all_of_them[all_of_them > 1e-6 * all_of_them.max()]
        errors = [abs(a / b - 1) for a, b in zip(elastic, exact[:modes], strict=False)]
        found.append(errors + [np.nan] * (modes - len(errors)))
    return [float(each) for each in np.max(found, axis=0)]


# --- the first link of De Luca and Siciliano's arm ---


def de_luca_siciliano() -> fa.Robot:
    """Closed-form dynamic model of planar multilink lightweight robots, 1991, as far as it can be reconstructed: links
    of 0.5 m with 0.2 kg/m and EI = 1 N m2, the second one's hub 1 kg and 0.1 kg m2, payload 0.1 kg and 5e-4 kg m2. What
    the first link carries is its whole mass and inertia about the second joint, 1.2 kg and 0.13383 kg m2."""
    load = fa.PointMass(1.0 + 0.1 + 0.1, inertia=0.1 + 0.1 * 0.5**2 / 3 + 0.1 * 0.5**2 + 5e-4)
    link = beam(load).links[0].model_copy(update={"length": 0.5, "mass": 0.1})
    return fa.Robot(links=[link])


# --- gravity ---


def sag_error(basis: str, count: int, elbow: float) -> float:
    """Of the two-link arm's tip, held against gravity with its first link level, as a share of the sag."""
    arm = fa.library.two_link_arm().with_(gravity=(0.0, -0.981, 0.0))
    mesh = arm.with_(
        {
            f"links.{name}.flexible": fa.Flexible(bend_y=8, basis="elements", stiffening="exact")
            for name in ("upper", "fore")
        }
    )
    held = {"upper.q": 0.0, "fore.q": elbow}
    straight = fa.System(arm.rigid(), native=False).tip(held)
    exact = fa.System(mesh, native=False)
    with modelled(basis):
        system = fa.System(with_basis(arm, basis, count), native=False)
        found = system.tip(fa.equilibrium(system, held)) - straight
    sag = exact.tip(fa.equilibrium(exact, held)) - straight
    return float(np.linalg.norm(found - sag) / np.linalg.norm(sag))


# --- runs ---


def run_errors(basis: str, counts: tuple[int, ...], workload: str) -> list[float]:
    """The largest distance of the tip from the converged one, m."""
    from peers import flexarm_models

    def path(shapes: list[fa.Flexible], rtol: float = 1e-4) -> CubicSpline:
        _system.cache_clear()  # the same robot may be modelled otherwise
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fa.ValidityWarning)
            if workload == "W1":
                run = flexarm_models.two_link_arm(shapes[0], shapes[1], rtol=rtol)
            else:
                run = flexarm_models.rrr_arm(shapes, False, rtol=rtol)
        return CubicSpline(run.array("time"), run.array("tip"))

    arm = fa.library.two_link_arm() if workload == "W1" else fa.library.rrr_arm()
    fine = [link.flexible for link in with_basis(arm, "Craig-Bampton", 8).links]
    exact, found = path(fine), []
    for count in counts:
        with modelled(basis):
            track = path([link.flexible for link in with_basis(arm, basis, count).links])
        found.append(float(np.linalg.norm(track(exact.x) - exact(exact.x), axis=1).max()))
    return found


# --- tables ---


def table(title: str, cells: Callable[[str, int], str], counts: tuple[int, ...] = COUNTS) -> None:
    print(f"\n{title}\n{'shapes':<8}" + "".join(f"{name:>18}" for name in BASES))
    for count in counts:
        skipped = {"Craig-Bampton"} if count < 2 else set()
        row = ["-" if name in skipped else cells(name, count) for name in BASES]
        print(f"{count:<8}" + "".join(f"{cell:>18}" for cell in row))


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare shape functions at equal counts.")
    parser.add_argument("--runs", action="store_true", help="the workloads W1 and W3, too (minutes)")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore", fa.UnitsWarning)
    for title, cases in CASES.items():

        def errors(name: str, count: int, cases: Callable[[], Iterator[Case]] = cases) -> str:
            return " ".join(f"{error:.1e}" for error in frequency_errors(cases(), name, count))

        table(f"{title}: largest error of the first and second frequency", errors)

    def second(name: str, count: int) -> str:
        with modelled(name):
            arm = with_basis(de_luca_siciliano(), name, count)
            return f"{fa.modes(arm, joints='locked').frequencies[1]:.4f}"

    table("De Luca and Siciliano's link 1: second frequency (Hz, exact 1.7966)", second, (2, 3, 4, 5, 8))

    def sag(name: str, count: int) -> str:
        return " ".join(f"{sag_error(name, count, np.radians(float(angle))):.0e}" for angle in POSTURES)

    table("two-link arm: error of its sag, elbow at 0, 30, 90 degrees", sag, (1, 2, 3, 4))
    if wanted.runs:
        for workload in ("W1", "W3"):
            counts = (2, 3, 4)
            found = {name: dict(zip(counts, run_errors(name, counts, workload), strict=True)) for name in BASES}
            table(f"{workload}: largest error of the tip's path (m)", lambda n, k, f=found: f"{f[n][k]:.1e}", counts)


if __name__ == "__main__":
    main()
