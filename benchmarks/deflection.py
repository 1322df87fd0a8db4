"""Measure cost and accuracy of link models over deflection: `python benchmarks/deflection.py` (or `make bench`).

The models of a link are "none", "shortening" and "exact". Statics are judged by the elastica and by Kirchhoff's rod in
space (tests/oracles, which do not use flexarm), motions by a fine exact run. Costs are instructions, which do not
depend on the machine. `--plot` writes docs/images/deflection.png and docs/deflection.md.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for tests.oracles

import flexarm as fa
from instructions import counts
from page import table
from tests.oracles import elastica, rod

DOCS = Path(__file__).resolve().parents[1] / "docs"
MODELS = ("none", "shortening", "exact")
LOADS = (0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0)  # P L^2 / EI
DRAWN = (0.4, 1.0, 2.0, 5.0)
SPEEDS = (0.2, 0.6, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0)  # rad/s of the rotating beam
WHIPS = (0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5)  # of the length, in the first shape
SPACE = {"GJ": 0.8, "EI_y": 1.0, "EI_z": 0.6}
SKEW = np.array([0.0, 0.6, -0.8])  # direction of the load in space
SHAPES = (1, 2, 3, 4, 5)
ESTIMATES = '## Which model "auto" takes in space'


@dataclass(frozen=True)
class Point:
    """A deflection as a share of the length, and how far the tip is from where it should be, likewise."""

    model: str
    deflection: float
    error: float


@dataclass(frozen=True)
class Price:
    """Instructions of the inverse dynamics and of a step of order 5."""

    model: str
    shapes: int
    inverse_dynamics: int
    step: int


# --- statics ---


def bar(load: np.ndarray, shapes: int, model: str, **counts: int) -> fa.System:
    """A weightless bar of length 1, clamped, with a dead load at its tip; its modes are those of a loaded bar."""
    section = fa.Section.properties(A=1, I_y=SPACE["EI_y"], I_z=SPACE["EI_z"] if counts else 1.0, J=SPACE["GJ"], I_p=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.UnitsWarning)
        material = fa.Material(E=1, rho=1, G=1)
        flexible = fa.Flexible(bend_y=shapes, **counts, basis=fa.Modes(tip_mass=1e-7), stiffening=model)  # type: ignore[arg-type]
        link = fa.Link("bar", 1.0, fa.Weld(), section, material, flexible, mass=1e-9, payload=fa.PointMass(1.0))
        return fa.System(fa.Robot(links=[link], gravity=load), native=False)


def shape_in_plane(load: float, model: str, shapes: int, x: np.ndarray) -> np.ndarray | None:
    """(points, 3): where the axis of the bar is; None where the model knows no equilibrium."""
    q = None
    try:
        for share in (0.25, 0.5, 0.75, 1.0):
            system = bar(np.array([0, share * load, 0]), shapes, model)
            q = fa.equilibrium(system, q)
    except ArithmeticError:
        return None
    return np.array([system.frame("bar", float(each), q)[:3, 3] for each in x])


def statics_in_plane(loads: Sequence[float] = LOADS, shapes: int = 4) -> list[Point]:
    found = []
    for load in loads:
        x, y, _ = elastica.tip((0.0, load))
        for model in MODELS:
            tip = shape_in_plane(load, model, shapes, np.array([1.0]))
            if tip is not None:
                found.append(Point(model, float(np.hypot(x - 1, y)), float(np.linalg.norm(tip[0] - [x, y, 0]))))
    return found


def statics_in_space(loads: Sequence[float] = LOADS, shapes: int = 3) -> list[Point]:
    """A bar with three different stiffnesses under a skew load: it bends in two planes and twists."""
    found = []
    known: dict[str, np.ndarray | None] = dict.fromkeys(MODELS)
    lost = set()
    for load in loads:
        exact = rod.equilibrium(rod.Rod(length=1.0, **SPACE, force=tuple(load * SKEW))).r[0]
        for model in MODELS:
            if model in lost:
                continue
            system = bar(load * SKEW, shapes, model, bend_z=shapes, twist=shapes)
            try:
                known[model] = q = fa.equilibrium(system, known[model])
            except ArithmeticError:
                lost.add(model)
                continue
            far = float(np.linalg.norm(exact - [1, 0, 0]))
            found.append(Point(model, far, float(np.linalg.norm(system.tip(q) - exact))))
    return found


# --- motions ---


def _track(robot: fa.Robot, duration: float, **options: Any) -> np.ndarray | None:
    """(times, 3) of the tip; None for a run that diverged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = fa.simulate(robot, duration, rtol=1e-7, sample=duration / 400, progress=False, **options)
    return run.tip.values if run.reason == "completed" else None


def spin_up(speeds: Sequence[float] = SPEEDS, shapes: int = 6, fine: int = 10, end: float = 12.0) -> list[Point]:
    """The rotating beam (8 m) brought to a speed within 15 s: largest distance of its tip from the fine run."""
    found = []
    for speed in speeds:
        motion = {"beam": fa.spin_up(speed, 15.0)}
        exact = _track(fa.library.rotating_beam(fine), end, motion=motion)
        assert exact is not None
        far = _from_straight(exact, motion["beam"], end) / 8.0
        for model in MODELS:
            tip = _track(fa.library.rotating_beam(shapes, model), end, motion=motion)  # type: ignore[arg-type]
            if tip is not None:
                found.append(Point(model, far, float(np.linalg.norm(tip - exact, axis=1).max()) / 8.0))
    return [point for point in found if point.error < 1]


def _from_straight(tip: np.ndarray, angle: Any, end: float) -> float:
    q = np.array([angle(t) for t in np.linspace(0, end, len(tip))])
    return float(np.hypot(tip[:, 0] - 8 * np.cos(q), tip[:, 1] - 8 * np.sin(q)).max())


def whip(sizes: Sequence[float] = WHIPS, shapes: int = 3, fine: int = 8) -> list[Point]:
    """A clamped bar, let go from its first bending shape; its tip over one period of it."""
    found = []
    for size in sizes:

        def track(count: int, model: str, size: float = size) -> np.ndarray | None:
            steel = fa.Material(E=2.1e11, rho=7850)
            flexible = fa.Flexible(bend_y=count, basis=fa.Modes(tip_mass=0), stiffening=model)  # type: ignore[arg-type]
            link = fa.Link("bar", 1.0, fa.Weld(), fa.Section.rectangle(0.005, 0.02), steel, flexible)
            system = fa.System(fa.Robot(links=[link]))
            q = np.zeros(system.nq)
            tip = system._chain.bodies[0].integrals.station(1.0).U[1, 0]
            q[0] = size / tip
            return _track(system, 2 * np.pi / np.sqrt(system.stiffness[0, 0] / system.mass_matrix()[0, 0]), q0=q)

        exact = track(fine, "exact")
        assert exact is not None
        for model in MODELS:
            tip = track(shapes, model)
            if tip is not None:
                found.append(Point(model, size, float(np.linalg.norm(tip - exact, axis=1).max())))
    return [point for point in found if point.error < 1]


# --- cost ---


def arm(shapes: int, model: str, space: bool) -> fa.Robot:
    """Two links, each with so many shapes of a family."""
    families = ("bend_y", "bend_z", "twist") if space else ("bend_y",)
    flexible = fa.Flexible(**dict.fromkeys(families, shapes), stiffening=model)  # type: ignore[arg-type]
    fields: dict[str, Any] = {
        "section": fa.Section.rectangle(0.01, 0.02),
        "material": fa.Material(E=7e10, rho=2700),
        "flexible": flexible,
    }
    joint = fa.Revolute("y") if space else fa.Revolute("z")
    links = [fa.Link("upper", 0.6, **fields), fa.Link("fore", 0.5, joint, payload=fa.PointMass(0.1), **fields)]
    return fa.Robot(links=links, gravity=(0, 0, -9.81) if space else (0, -9.81, 0))


def prices(space: bool, shapes: Sequence[int] = SHAPES) -> list[Price]:
    found = []
    for count in shapes:
        for model in MODELS:
            robot = arm(count, model, space)
            system = fa.System(robot, native=False)
            inverse = system.parametric["inverse_dynamics"].n_instructions()
            found.append(Price(model, count, inverse, counts(robot, [])["step of order 5"]))
    return found


# --- what was found ---


@dataclass(frozen=True)
class Findings:
    in_plane: list[Point]
    in_space: list[Point]
    spin_up: list[Point]
    whip: list[Point]
    planar: list[Price]
    spatial: list[Price]

    @property
    def motions(self) -> dict[str, list[Point]]:
        return {
            "a force bends a bar in a plane": self.in_plane,
            "a skew force bends and twists a bar": self.in_space,
            "a beam is spun up": self.spin_up,
            "a bent bar is released": self.whip,
        }


def found_out() -> Findings:
    return Findings(
        statics_in_plane(),
        statics_in_space(),
        spin_up(),
        whip(),
        prices(space=False),
        prices(space=True, shapes=SHAPES[:4]),
    )


def reaches(points: Sequence[Point], model: str, error: float) -> float:
    """The deflection up to which a model stays within an error, between points on a line of logarithms."""
    own = sorted((point for point in points if point.model == model), key=lambda point: point.deflection)
    x, y = (np.log([getattr(point, name) for point in own]) for name in ("deflection", "error"))
    over = np.flatnonzero(y > np.log(error))
    if not len(over):
        return float(np.exp(x[-1]))
    k = over[0]
    if k == 0:
        return 0.0
    share = (np.log(error) - y[k - 1]) / (y[k] - y[k - 1])
    return float(np.exp(x[k - 1] + share * (x[k] - x[k - 1])))


def written(findings: Findings) -> str:
    def percent(value: float) -> str:
        return "-" if value == 0 else f"{100 * value:.0f} %" if value > 0.1 else f"{100 * value:.2g} %"

    rows = []
    for name, points in findings.motions.items():
        for error in (1e-3, 1e-4):
            cells = []
            for model in MODELS:
                reach = reaches(points, model, error)
                most = max((point.deflection for point in points if point.model == model), default=0.0)
                cells.append(
                    ("all, to " if reach == most == max(p.deflection for p in points) else "") + percent(reach)
                )
            rows.append([name, f"{100 * error:g} %", *cells])
    costs = []
    for kind, own in (("planar", findings.planar), ("spatial", findings.spatial)):
        for count in sorted({price.shapes for price in own}):
            by_model = {price.model: price for price in own if price.shapes == count}
            cells = [f"{by_model[model].inverse_dynamics} / {by_model[model].step}" for model in MODELS]
            costs.append([kind, count, *cells])
    heads = [f'"{model}"' for model in MODELS]
    return PAGE.format(
        reach=table(["case", "error of the tip", *heads], rows), cost=table(["arm", "shapes", *heads], costs)
    )


PAGE = """\
# How far links bend

This page shows the accuracy and the cost of the link models over deflection. `python benchmarks/deflection.py --plot`
(part of `make bench`) measures them, draws the figure and writes this page.

![Shapes of a bar, errors against deflection, and instructions](images/deflection.png)

"none" is linear in the shapes, "shortening" is complete to second order, "exact" is limited only by its shapes
([theory](theory.md)). The references are the elastica and Kirchhoff's rod for statics, solved independently as
differential equations, and an exact run with more shapes for motions. Deflection is the distance of the tip from its
position on a straight link, error its distance from the reference, both as shares of the length.

## Largest deflection of each model

{reach}
Links have 4 shapes in the plane and 3 of each family in space, the beam that is spun up 6, the released bar 3. The
remaining error of "exact" is due to the small number of shapes: it decreases with every further shape (see
`fa.convergence`), that of the others does not. The spun-up beam is the test of dynamic stiffening, without which "none"
diverges above 2.9 rad/s; its error is that of a motion, which grows with time.

## Cost of the models

The table has the instructions of the inverse dynamics / of a step of the implicit method of order 5, of an arm of two
links with the given number of shapes of each family (spatial links bend in two planes and twist).

{cost}"""


def printed(findings: Findings) -> None:
    for name, points in findings.motions.items():
        print(f"\n{name}\n{'deflection':>12}" + "".join(f"{model:>12}" for model in MODELS))
        for far in sorted({point.deflection for point in points}):
            by_model = {point.model: point.error for point in points if point.deflection == far}
            print(f"{far:12.4f}" + "".join(f"{by_model.get(model, np.nan):12.1e}" for model in MODELS))
    for kind, own in (("planar", findings.planar), ("spatial", findings.spatial)):
        print(f"\n{kind} arm: instructions of the inverse dynamics, of a step of order 5")
        for price in own:
            print(f"{price.shapes:4} {price.model:<12}{price.inverse_dynamics:8}{price.step:9}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Cost and accuracy of links, the further they bend.")
    parser.add_argument("--plot", action="store_true", help="write docs/images/deflection.png and docs/deflection.md")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore", fa.ValidityWarning)  # how far models may bend is what is found out
    findings = found_out()
    printed(findings)
    if wanted.plot:
        from deflection_picture import draw

        draw(findings, DOCS / "images" / "deflection.png")
        page = DOCS / "deflection.md"
        kept = page.read_text().partition(ESTIMATES)  # written by stiffening.py
        page.write_text(written(findings).rstrip("\n") + "\n\n" + kept[1] + kept[2])


if __name__ == "__main__":
    main()
