"""Estimated and true error of second-order links in space: `python benchmarks/stiffening.py`.

Every robot is simulated with the models "shortening" and "exact". The true error is the largest difference of the two
tips or of the deflections of a link, the estimate that of `run.statistics["stiffening"]`, both as shares of the peak
deflection.
A table has 20 moves of four arms; a summary has robots drawn at random (`--seed`), of `--kinds` also columns that carry
up to 98 % of the load that buckles them, and links with a mass beside them. `--write` replaces both on
docs/deflection.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.dynamics.accuracy.validity import DEFLECTION_LIMIT
from flexarm.results.stiffening_check import MAX_STIFFENING_ERROR
from page import table

PAGE = Path(__file__).resolve().parents[1] / "docs" / "deflection.md"
BEGIN, END = "<!-- estimate -->\n", "<!-- end of estimate -->"
STEEL = fa.Material(E=2.1e11, rho=7850)
ARMS: dict[str, dict[str, Any]] = {
    "6.6 mm, 0.5 kg": {"side": 0.0066, "payload": 0.5},
    "6.6 mm, 0.2 kg": {"side": 0.0066, "payload": 0.2},
    "5 mm, 0.1 kg": {"side": 0.005, "payload": 0.1},
    "8 mm, 0.5 kg, damped": {"side": 0.008, "payload": 0.5, "damping": fa.Damping(0.02)},
}
DURATIONS = (0.6, 0.75, 0.9, 1.1, 1.4)  # s, of the minimum-jerk moves
END_TIME = 1.5  # s


@dataclass(frozen=True)
class Comparison:
    """Errors of a run of second-order links, as shares of the peak deflection.

    bend: largest deflection of a link, as a share of its length; tip: error of the tip; true: error of the tip or of a
    link's deflection, whichever is larger.
    """

    bend: float
    tip: float
    true: float
    estimate: float

    @property
    def repeated(self) -> bool:
        """True if a run with "auto" is repeated with exact links."""
        return self.estimate > MAX_STIFFENING_ERROR or self.bend > DEFLECTION_LIMIT["shortening"]

    def __str__(self) -> str:
        return (
            f"bends by {self.bend:.1%}, true error {self.true:.2%} (tip {self.tip:.2%}), estimate {self.estimate:.2%}"
        )


def arm(model: str, side: float, payload: float, damping: fa.Damping | None = None) -> fa.Robot:
    """Two links in space under gravity, 0.5 and 0.4 m long, with a square section."""
    flexible = fa.Flexible(bend_y=2, bend_z=2, twist=1, stiffening=model, damping=damping)  # type: ignore[arg-type]
    fields: dict[str, Any] = {"section": fa.Section.rectangle(side, side), "material": STEEL, "flexible": flexible}
    fore = fa.Link("fore", 0.4, fa.Revolute("y"), payload=fa.PointMass(payload), **fields)
    return fa.Robot(links=[fa.Link("upper", 0.5, fa.Revolute("z"), **fields), fore], gravity=(0, 0, -9.81))


def run(model: str, move: float, **fields: Any) -> fa.Run:
    motion = {"upper": fa.minimum_jerk(0, 1.2, move), "fore": fa.minimum_jerk(0, -0.8, move)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ValidityWarning)
        return fa.simulate(
            arm(model, **fields), END_TIME, motion=motion, q0="equilibrium", rtol=1e-6, sample=0.0015, progress=False
        )


def compared(second: fa.Run, exact: fa.Run) -> Comparison:
    """Compare a run of second-order links with one of exact links."""
    count = min(len(second.array("time")), len(exact.array("time")))
    tips, bends = ([each.array(name)[:count] for each in (second, exact)] for name in ("tip", "deflection"))
    across = np.linalg.norm(bends[1][..., 1:], axis=-1).max(axis=0)
    errors = [np.linalg.norm(a - b, axis=-1).max() for a, b in (tips, bends)]
    return Comparison(
        bend=float((across / [link.length for link in exact.robot.links]).max()),
        tip=float(errors[0] / across.max()),
        true=float(max(errors) / across.max()),
        estimate=max(second.statistics["stiffening"]["estimated_error"].values()),
    )


def moves() -> list[Comparison]:
    """Return and print the comparisons of ARMS."""
    found = []
    for name, fields in ARMS.items():
        for move in DURATIONS:
            found.append(compared(run("shortening", move, **fields), run("exact", move, **fields)))
            print(name, f"{move:g} s", found[-1], sep="  ", flush=True)
    return found


@dataclass(frozen=True)
class Case:
    """A robot drawn at random and the arguments of its run."""

    kind: str
    links: tuple[dict[str, Any], ...]  # fields of fa.Link, but for the model of the flexible ones
    gravity: tuple[float, float, float]
    duration: float
    drive: dict[str, Any]

    def robot(self, model: str) -> fa.Robot:
        links = [
            fa.Link(**{**fields, "flexible": fa.Flexible(**fields["flexible"], stiffening=model)})
            if "flexible" in fields
            else fa.Link(**fields)
            for fields in self.links
        ]
        return fa.Robot(links=links, gravity=self.gravity)

    def run(self, model: str) -> fa.Run:
        system, drive = fa.System(self.robot(model)), dict(self.drive)
        if isinstance(drive.get("q0"), dict):  # shares of the length
            sizes = dict(zip(system.names, system.sizes, strict=True))
            drive["q0"] = {name: share * sizes[name] for name, share in drive["q0"].items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fa.ValidityWarning)
            return fa.simulate(system, self.duration, rtol=1e-6, sample=self.duration / 1000, progress=False, **drive)

    def __str__(self) -> str:
        shapes = "+".join(str(each["flexible"]["bend_y"]) for each in self.links if "flexible" in each)
        return f"{self.kind}, {len(self.links)} links, {shapes} shapes, {self.duration:.2g} s"


def draw(rng: np.random.Generator) -> Case:
    """Draw a robot whose links bend by 1 to 10 % of their length in its motion, more or less."""
    kind = str(rng.choice(["torque", "move", "release"]))
    gravity, count, duration = bool(rng.random() < 0.5), int(rng.integers(1, 4)), float(rng.uniform(0.5, 3))
    lengths = rng.uniform(0.3, 1.0, count)
    payload = float(rng.choice([0, rng.uniform(0.05, 0.8)]))
    damping = fa.Damping(float(rng.uniform(0.002, 0.03))) if rng.random() < 0.5 else None
    shapes = int(rng.integers(1, 5 - count))
    move = float(rng.uniform(0.4, 0.9) * min(duration, 1.5))
    angles = rng.uniform(0.3, 1.2, count) * rng.choice([-1, 1], count)
    names = [f"link{k}" for k in range(count)]
    carried, outer, links = payload, 0.0, []
    for k in reversed(range(count)):
        length, bend, flat = lengths[k], 10 ** rng.uniform(-2.1, -1.1), rng.uniform(0.5, 2)
        push = (9.81 if gravity else 0) + (
            10.0 if kind == "release" else 5.8 * abs(angles[k]) / move**2 * lengths.sum()
        )
        height = _height(length, flat, bend, push, carried, outer)
        flexible = {"bend_y": shapes, "bend_z": shapes, "damping": damping}
        flexible |= {"twist": 1} if rng.random() < 0.5 else {}
        section = fa.Section.rectangle(height, flat * height)
        joint = fa.Revolute("z" if k == 0 else str(rng.choice(["y", "z"])))
        links.append(
            {"name": names[k], "length": length, "joint": joint, "section": section, "material": STEEL}
            | {"flexible": flexible, "payload": fa.PointMass(payload if k == count - 1 else 0.0)}
        )
        carried, outer = carried + STEEL.rho * flat * height**2 * length, outer + length
    drive = _drive(rng, kind, names, links, angles, move, gravity)
    return Case(kind, tuple(reversed(links)), (0, 0, -9.81 if gravity else 0), duration, drive)


def draw_other(rng: np.random.Generator) -> Case:
    """Draw a column under a load that would nearly buckle it, or a link with a mass beside it."""
    length, flat, duration = float(rng.uniform(0.4, 1.0)), float(rng.uniform(0.7, 1.4)), float(rng.uniform(2, 8))
    flexible = {"bend_y": 2, "bend_z": 2, "twist": 1}
    if rng.random() < 0.5:
        share, height = float(rng.choice([0.3, 0.7, 0.9, 0.95, 0.98])), float(rng.uniform(0.005, 0.01))
        softest = STEEL.E * flat * height**4 * min(1.0, flat**2) / 12
        critical = np.pi**2 * softest / (4 * length**2)
        beam = STEEL.rho * flat * height**2 * length
        column = {
            "name": "column",
            "length": length,
            "joint": fa.Revolute("z"),
            "section": fa.Section.rectangle(height, flat * height),
            "material": STEEL,
            "flexible": flexible,
            "payload": fa.PointMass(max(share * critical / 9.81 - 0.3 * beam, 0.0)),
        }
        push = float(rng.uniform(0.005, 0.03)) * (1 - share) * 3 * softest / length**2
        loads = [fa.PointLoad("column", None, [0, fa.step(push), 0.3 * push])]
        drive = {"motion": {"column": 0.0}, "loads": loads}
        return Case(f"column at {share:.0%}", (column,), (-9.81, 0, 0), duration, drive)
    side = float(rng.uniform(0.005, 0.008))
    section = fa.Section.rectangle(side, flat * side)
    arm = {"name": "arm", "length": length, "joint": fa.Revolute("z"), "section": section, "material": STEEL}
    offset = (0.0, *(rng.uniform(0.3, 1.0) * length * np.array([1.0, 0.0])[:: int(rng.choice([-1, 1]))]).tolist())
    tool = {"name": "tool", "length": 0.05, "joint": fa.Weld(), "offset": offset, "section": section}
    tool |= {"material": STEEL, "payload": fa.PointMass(float(rng.uniform(0.1, 0.5)))}
    start = {f"arm.{family}[1]": float(rng.uniform(0.005, 0.05)) for family in ("bend_y", "bend_z")}
    drive = {"q0": start, "motion": {"arm": 0.0}}
    return Case("mass beside", ({**arm, "flexible": flexible}, tool), (0, 0, 0), min(duration, 3.0), drive)


def _height(length: float, flat: float, bend: float, push: float, carried: float, outer: float) -> float:
    """Return the height of a section (m) with which a link bends so far, as a share of its length."""
    height = 1e-3
    for _ in range(60):
        mass = STEEL.rho * flat * height**2 * length
        force, moment = (carried + 0.375 * mass) * push, carried * push * outer / 2
        inertia = length * (force * length / 3 + moment / 2) / (bend * STEEL.E)
        height = (height * (12 * inertia / (flat * min(1.0, flat) ** 2)) ** 0.25) ** 0.5
    return float(height)


def _drive(
    rng: np.random.Generator, kind: str, names: list[str], links: list[Any], angles: Any, move: float, gravity: bool
) -> dict[str, Any]:
    """Return the arguments of `fa.simulate` that make a robot move; `links` are listed from the tip inward."""
    start = {"q0": "equilibrium"} if gravity and kind != "release" else {}
    if kind == "move":
        return {"motion": {name: fa.minimum_jerk(0, by, move) for name, by in zip(names, angles, strict=True)}, **start}
    if kind == "release":
        bent = {
            f"{name}.{family}[1]": float(rng.uniform(0.01, 0.08)) for name in names for family in ("bend_y", "bend_z")
        }
        held = names if gravity or rng.random() < 0.5 else names[1:]
        return {"q0": bent, "motion": dict.fromkeys(held, 0.0)}
    inertia, reach = 0.0, 0.0
    for link in links:
        mass = STEEL.rho * link["section"].at(0.5).A * link["length"]
        reach += link["length"]
        inertia += (mass / 3 + link["payload"].mass) * reach**2
    torque = fa.bang_bang(float(5.8 * angles[0] / move**2 * inertia), (move / 2, move))
    return {"torque": {names[0]: torque}, "motion": dict.fromkeys(names[1:], 0.0), **start}


def drawn(seed: int, count: int, make: Callable[[np.random.Generator], Case] = draw) -> list[Comparison]:
    """Return and print the comparisons of robots drawn at random."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        case = make(rng)
        found.append(compared(case.run("shortening"), case.run("exact")))
        print(case, found[-1], sep="  ", flush=True)
    return found


def summary(found: list[Comparison]) -> str:
    """Return a sentence with the failures of the estimate."""
    large = [each for each in found if each.true > MAX_STIFFENING_ERROR]
    missed = [each.true for each in large if not each.repeated]
    needless = sum(each.repeated for each in found if each.true <= MAX_STIFFENING_ERROR)
    ratios = [each.estimate / each.true for each in large]
    kept = f"{len(missed)} of them are not repeated (up to {max(missed):.1%})" if missed else "all of them are repeated"
    return (
        f"{len(large)} of {len(found)} runs have an error above {MAX_STIFFENING_ERROR:.0%}, and {kept}. Of the "
        f"{len(found) - len(large)} others, {needless} repeated unnecessarily. Where the error exceeds "
        f"{MAX_STIFFENING_ERROR:.0%}, the estimate is {min(ratios):.2g} to {max(ratios):.2g} times the error."
    )


def page_part(moved: list[Comparison], random: list[Comparison], seed: int) -> str:
    names = [(name, f"{move:g} s") for name in ARMS for move in DURATIONS]
    rows = [
        [*name, f"{each.bend:.1%}", f"{each.true:.2%}", f"{each.estimate:.2%}"]
        for name, each in zip(names, moved, strict=True)
    ]
    shown = table(["section, payload", "moves within", "bends by", "true error", "estimate"], rows)
    return f"""{shown}
{summary(moved)}

{len(random)} robots drawn at random (`--seed {seed}`): 1 to 3 links with rectangular sections, 1 to 3 shapes of a
family, with and without payload, gravity and damping; moved, driven by bang-bang torques, or released from a bent
shape, over 0.5 to 3 s.
{summary(random)}

"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Estimated and true error of second-order links in space.")
    parser.add_argument("--write", action="store_true", help="replace the table on docs/deflection.md")
    parser.add_argument("--seed", type=int, default=1, help="seed of the robots drawn at random")
    parser.add_argument("--count", type=int, default=25, help="number of robots drawn at random")
    parser.add_argument("--random", action="store_true", help="only the robots drawn at random")
    parser.add_argument("--kinds", action="store_true", help="only columns, and links with a mass beside them")
    wanted = parser.parse_args()
    if wanted.kinds:
        return print(summary(drawn(wanted.seed, wanted.count, draw_other)))
    random = drawn(wanted.seed, wanted.count)
    print(summary(random))
    if wanted.random:
        return
    moved = moves()
    print(summary(moved))
    if wanted.write:
        text = PAGE.read_text()
        begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        PAGE.write_text(text[:begin] + page_part(moved, random, wanted.seed) + text[end:])


if __name__ == "__main__":
    main()
