"""Estimated and true error by the number of shapes: `python benchmarks/truncation.py [--robots 100] [--seed 1]`.

Random arms, planar and spatial, with torques, driven joints or a controller, are simulated with their shapes and with
twice as many. The error of a run is the largest distance between tips of links, as a share of the peak deflection, and
that of a link's deflection is a share of its own peak; the estimates are `run.truncation.error` and
`run.truncation.deflection`. Runs that raise another warning (links that bend too far for their model) do not count as
unwarned. `--kinds` takes arms that are thrown or pushed, joints driven by ramps, laws that are no more than functions
of time, or weak, and controllers of some joints only. `--exact` takes spatial arms of one and two exact links with one
and two shapes a family, which may bend by more than half of their length. `--share` prints errors by how much of the
inertia behind a hinge loads modes of two and three shapes (`robot/carried_inertia.py`), without runs.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.dynamics.accuracy.shape_truncation import (
    MAX_DEFLECTION_ERROR,
    MAX_TRUNCATION_ERROR,
    Comparison,
    joint_posture,
    refined,
)
from flexarm.dynamics.links import beam_parameters
from flexarm.integrators.inputs import Schedule
from flexarm.results import truncation_check
from flexarm.robot import carried_inertia

ALLOWED = 0.03  # of the peak deflection: larger errors must raise a warning
ALLOWED_DEFLECTION = 0.3  # of the peak deflection of a link
KINDS = ("torques", "driven joints", "controller")
MORE_KINDS = ("thrown", "pushed", "ramps", "feedforward law", "weak law", "controller of one joint")


def random_case(
    rng: np.random.Generator,
    kind: str,
    shapes: int | None = None,
    spatial: bool | None = None,
    stiffening: str = "shortening",
) -> tuple[fa.Robot, float, dict[str, Any]]:
    """Return a robot, a duration (s) and the other arguments of `simulate`."""
    drawn, count = rng.random() < 0.25, int(rng.integers(1, 4))
    spatial = drawn if spatial is None else spatial
    material = fa.Material(E=70e9, rho=2700.0, damping=float(rng.choice([0.0, 1e-5, 1e-4, 1e-3])))
    duration, number = float(rng.uniform(0.5, 1.5)), int(rng.integers(1, 5))
    shapes = number if shapes is None else shapes
    numbers: dict[str, Any] = {"bend_y": shapes}
    if spatial:  # with one model, which must not follow from the number of shapes
        numbers |= {"bend_z": shapes, "twist": 1, "stiffening": stiffening}
    links = []
    for k in range(count):
        last = k == count - 1
        links.append(
            fa.Link(
                f"link{k}",
                float(rng.uniform(0.3, 1.0)),
                fa.Revolute("z" if k == 0 or not spatial else "y"),
                section=fa.Section.rectangle(float(rng.uniform(0.008, 0.02)), float(rng.uniform(0.008, 0.02))),
                material=material,
                flexible=fa.Flexible(**numbers),
                hub=fa.PointMass(float(rng.uniform(0.2, 2.0)), inertia=float(10 ** rng.uniform(-3, -1))),
                payload=fa.PointMass(float(rng.uniform(0.1, 4.0))) if last and rng.random() < 0.8 else None,
            )
        )
    gravity = (0.0, 0.0, -9.81) if spatial else (0.0, -9.81 * float(rng.random() < 0.3), 0.0)
    robot = fa.Robot("random", links=links, gravity=gravity)
    posture = {f"{link.name}.q": float(rng.uniform(-1.5, 1.5)) for link in links}
    options: dict[str, Any] = {"q0": posture}
    within = duration * float(rng.uniform(0.3, 0.9))
    moves = {link.name: fa.minimum_jerk(posture[f"{link.name}.q"], float(rng.uniform(-1, 1)), within) for link in links}
    inertia = [sum(each.total_mass * each.length**2 for each in links[k:]) for k in range(count)]
    if kind == "torques":
        size = rng.uniform(0.2, 1.0, count) * inertia / duration**2
        switches = [duration / 3, 2 * duration / 3]
        options["torque"] = {
            link.name: fa.bang_bang(each, switches) for link, each in zip(links, size.tolist(), strict=True)
        }
    elif kind == "driven joints":
        options["motion"] = moves
    elif kind in MORE_KINDS:
        options |= _more_options(rng, kind, robot, posture, inertia, moves, within)
    else:
        kp = {link.name: 400.0 * each for link, each in zip(links, inertia, strict=True)}
        kd = {link.name: 40.0 * each for link, each in zip(links, inertia, strict=True)}
        options["torque"] = fa.pd(robot, kp, kd, references=moves)
    return robot, duration, options


def _more_options(
    rng: np.random.Generator,
    kind: str,
    robot: fa.Robot,
    posture: dict[str, float],
    inertia: list[float],
    moves: dict[str, Any],
    within: float,
) -> dict[str, Any]:
    """Return the inputs of the kinds that are not among the usual ones."""
    names = [link.name for link in robot.links]
    if kind == "thrown":
        return {"v0": {f"{name}.q": float(rng.uniform(-4, 4)) for name in names}}
    if kind == "pushed":
        force = fa.bang_bang(float(rng.uniform(0.5, 5.0)), (within / 2, within))
        held = {name: posture[f"{name}.q"] for name in (names if rng.random() < 0.5 else names[1:])}
        return {"motion": held, "loads": [fa.PointLoad(names[-1], None, force=(0.0, force, 0.0))]}
    if kind == "ramps":
        begin = within * float(rng.uniform(0.1, 0.4))
        by = {name: float(rng.uniform(-0.6, 0.6)) for name in names}
        start = {name: posture[f"{name}.q"] for name in names}
        return {"motion": {name: fa.ramp(start[name], start[name] + by[name], begin, within) for name in names}}
    if kind == "controller of one joint":
        one = int(rng.integers(len(names)))
        kp, kd = {names[one]: 400.0 * inertia[one]}, {names[one]: 40.0 * inertia[one]}
        return {"torque": fa.pd(robot, kp, kd, references={names[one]: moves[names[one]]})}
    size = rng.uniform(0.2, 1.0, len(names)) * inertia / within**2
    pushes = [fa.bang_bang(each, (within / 2, within)) for each in size.tolist()]
    stiffness = 10 ** rng.uniform(-1, 1.5) if kind == "weak law" else 0.0
    damping = 10 ** rng.uniform(-1, 0.5) if kind == "weak law" else 0.0
    aims = [posture[f"{name}.q"] + 0.2 for name in names]

    def law(t: Any, q: Any, v: Any) -> Any:
        return [
            push(t) + stiffness * own * (aim - q[f"{name}.q"]) - damping * own * v[f"{name}.q"]
            for push, own, aim, name in zip(pushes, inertia, aims, names, strict=True)
        ]

    return {"torque": law}


def random_exact_case(rng: np.random.Generator, kind: str, shapes: int) -> tuple[fa.Robot, float, dict[str, Any]]:
    """Return the next random case of a spatial robot with exact links that has one or two of them."""
    while len((found := random_case(rng, kind, shapes, spatial=True, stiffening="exact"))[0].links) > 2:
        pass
    return found


def doubled(robot: fa.Robot) -> fa.Robot:
    changes = {
        f"links.{link.name}.flexible.{family}": 2 * count
        for link in robot.links
        for family, count in link.flexible.counts.items()
    }
    return robot.with_(changes)


def run_error(
    robot: fa.Robot, duration: float, options: dict[str, Any]
) -> tuple[fa.Run, float, dict[str, float], list[str]]:
    """Return the run, the largest distance between tips as a share of the peak deflection, the errors of deflections by
    link as shares of their own peaks, and other warnings.
    """
    fields = {**options, "sample": duration / 1000, "rtol": 1e-5, "progress": False}
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always", fa.ValidityWarning)
        run = fa.simulate(robot, duration, **fields)
    others = [str(each.message) for each in raised if "too few shapes" not in str(each.message)]
    finer = fa.simulate(doubled(robot), duration, **fields)
    one, other = _tips(run), _tips(finer)
    samples = min(len(one), len(other))
    distance = np.linalg.norm(one[:samples] - other[:samples], axis=2).max()
    coarse, fine = (each.array("deflection")[:samples, :, 1:] for each in (run, finer))
    off, peaks = (np.linalg.norm(each, axis=2).max(axis=0) for each in (coarse - fine, fine))
    shares = {link.name: float(a / b) if b else 0.0 for link, a, b in zip(robot.links, off, peaks, strict=True)}
    still = peaks.max() < 1e-9 * sum(link.length for link in robot.links)
    return run, 0.0 if still else float(distance / peaks.max()), shares, others


def _tips(run: fa.Run) -> np.ndarray:
    """(times, links, 3): where the tips of links are (m)."""
    system = fa.System(run.robot, native=False)
    return np.stack([system.frame(link.name, None, run.array("q"))[..., :3, 3] for link in run.robot.links], axis=1)


def share_study(robots: int, seed: int) -> None:
    """Print errors of planar arms by how much of the inertia behind a hinge loads modes of two and three shapes."""
    default = carried_inertia.HINGED_SHARE
    for shapes in (2, 3):
        for kind in KINDS[:2]:
            for share in (0.0, 0.001, 0.003, default, 0.03, 0.1, 1.0):
                rng, found = np.random.default_rng(seed), []
                for _ in range(robots):
                    robot, duration, options = random_case(rng, kind, shapes, spatial=False)
                    found.append(_linear_error(robot, duration, options, share))
                carried_inertia.HINGED_SHARE = default
                listed = " ".join(f"{each:7.2%}" for each in np.quantile(found, (0.5, 0.75, 0.9, 1.0)))
                print(f"{shapes} shapes, {kind:13} share {share:5.3f}: median, 75, 90, 100 % of the arms {listed}")


def _linear_error(robot: fa.Robot, duration: float, options: dict[str, Any], share: float) -> float:
    """Return the estimated error, against eight shapes a link with the default share."""
    fine = refined(robot, {(link.name, "bend_y"): 8 for link in robot.links})
    carried_inertia.HINGED_SHARE = share
    beam_parameters._integrals.cache_clear()
    system = fa.System(refined(robot, {}), native=False)
    schedule = Schedule(system, options.get("torque"), options.get("motion"), None)
    start = np.array([system.vector(options["q0"]), np.zeros(system.nq)])
    inputs = truncation_check.RunInputs(system, schedule, duration, start)
    these = Comparison(system.robot, joint_posture(system, start[0]), fine=fine)
    return truncation_check._errors(these, inputs.excitation(these, inputs.sampled(these))).tip


def drift() -> None:
    """Print estimate and error of an arm with light motors, without and with damping, 7 shapes against 8."""
    torque = {"upper": fa.bang_bang(40.0, (0.3, 0.6)), "fore": fa.bang_bang(15.0, (0.3, 0.6))}
    bar, motor = fa.Section.rectangle(0.02, 0.02), fa.PointMass(0.2, inertia=1e-3)
    for damping in (0.0, 1e-4):
        fields = {"section": bar, "material": fa.Material(210e9, 7800.0, damping=damping), "hub": motor}
        runs = []
        for shapes in (7, 8):
            bends = fa.Flexible(bend_y=shapes)
            upper = fa.Link("upper", 1.0, flexible=bends, **fields)
            fore = fa.Link("fore", 0.8, flexible=bends, payload=fa.PointMass(4.0), **fields)
            robot = fa.Robot(links=[upper, fore])
            runs.append(fa.simulate(robot, 1.5, torque=torque, rtol=1e-6, sample=1e-3, progress=False))
        distance = (
            np.linalg.norm(np.subtract(*map(_tips, runs)), axis=2).max() / np.abs(runs[1].array("deflection")).max()
        )
        print(f"damping {damping:g} s: estimate {runs[0].truncation.error:.2%}, error {distance:.2%}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Estimated and true error by the number of shapes.")
    parser.add_argument("--robots", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", action="store_true", help=f"inputs of other kinds: {', '.join(MORE_KINDS)}")
    parser.add_argument("--exact", action="store_true", help="spatial arms with exact links")
    parser.add_argument("--share", action="store_true", help="compare loads of modes instead")
    parser.add_argument("--drift", action="store_true", help="an arm whose joints drift, which the estimate misses")
    wanted = parser.parse_args()
    if wanted.drift:
        return drift()
    if wanted.share:
        return share_study(wanted.robots, wanted.seed)
    rng = np.random.default_rng(wanted.seed)
    found, kinds = [], MORE_KINDS if wanted.kinds else KINDS
    for k in range(wanted.robots):
        kind = kinds[k % len(kinds)]
        robot, duration, options = (
            random_exact_case(rng, kind, 1 + k // 3 % 2) if wanted.exact else random_case(rng, kind)
        )
        begin = time.perf_counter()
        run, error, shares, others = run_error(robot, duration, options)
        if run.truncation.error is None:
            print(f"{k:4d} {kind:13} no estimate: {run.truncation.reason}")
            continue
        links = run.truncation.deflection
        deflections = max((shares[name] for name in links), default=0.0), max(links.values(), default=0.0)
        found.append((error, run.truncation.error, *deflections, bool(others)))
        counts = [[*each.flexible.counts.values()] for each in robot.links]
        bend = (
            np.linalg.norm(run.array("deflection")[..., 1:], axis=2).max(0) / [each.length for each in robot.links]
        ).max()
        print(
            f"{k:4d} {kind:13} {counts!s:30} bends by {bend:4.0%} run {error:8.2%} "
            f"estimate {run.truncation.error:8.2%}, deflection {deflections[0]:8.2%} estimate {deflections[1]:8.2%} "
            f"({time.perf_counter() - begin:.1f} s){' other warning: ' + others[0][:60] if others else ''}",
            flush=True,
        )
    summarize(np.array(found))


def summarize(found: np.ndarray) -> None:
    """Print how often runs were warned rightly: rows of true and estimated errors of tips and of deflections, and
    whether there was another warning.
    """
    errors, estimates, deflections, of_links, others_too = found.T
    valid = others_too == 0
    warned = (estimates > MAX_TRUNCATION_ERROR) | (of_links > MAX_DEFLECTION_ERROR)
    print(f"{len(found)} runs, {warned.sum()} warned of too few shapes, {np.sum(~valid)} of something else")
    for what, true, allowed, bound in (
        ("tip", errors, ALLOWED, MAX_TRUNCATION_ERROR),
        ("deflection", deflections, ALLOWED_DEFLECTION, MAX_DEFLECTION_ERROR),
    ):
        print(f"{what}: errors above {allowed:.0%} without any warning: {np.sum((true > allowed) & ~warned & valid)}")
        print(f"{what}: errors above {bound:.0%}: {np.sum(true > bound)}")
    unneeded = (errors < MAX_TRUNCATION_ERROR) & (deflections < MAX_DEFLECTION_ERROR) & warned
    print(f"warnings although both errors are below their bounds: {np.sum(unneeded)}")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
