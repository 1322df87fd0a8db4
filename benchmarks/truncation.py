"""Estimated and true error by the number of shapes: `python benchmarks/truncation.py [--robots 100] [--seed 1]`.

Random arms, planar and spatial, with torques, driven joints or a controller, are simulated with their shapes and with
twice as many. The error of a run is the largest distance between tips of links, as a share of the peak deflection; the
estimate is `run.truncation.error`. Runs that raise another warning (links that bend too far for their model) do not
count as unwarned. `--exact` takes spatial arms of one and two exact links with one and two shapes a family, which may
bend by more than half of their length. `--share` prints errors by how much of the inertia behind a hinge loads modes of
two and three shapes (`robot/carried_inertia.py`), without runs.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.dynamics.links import beam_parameters
from flexarm.dynamics.shape_truncation import MAX_TRUNCATION_ERROR, Comparison, joint_posture, refined
from flexarm.integrators.inputs import Schedule
from flexarm.results import truncation_check
from flexarm.robot import carried_inertia

ALLOWED = 0.03  # of the peak deflection: larger errors must raise a warning
KINDS = ("torques", "driven joints", "controller")


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
    else:
        kp = {link.name: 400.0 * each for link, each in zip(links, inertia, strict=True)}
        kd = {link.name: 40.0 * each for link, each in zip(links, inertia, strict=True)}
        options["torque"] = fa.pd(robot, kp, kd, references=moves)
    return robot, duration, options


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


def run_error(robot: fa.Robot, duration: float, options: dict[str, Any]) -> tuple[fa.Run, float, list[str]]:
    """Return the run, the largest distance between tips as a share of the peak deflection, and other warnings."""
    fields = {**options, "sample": duration / 1000, "rtol": 1e-5, "progress": False}
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always", fa.ValidityWarning)
        run = fa.simulate(robot, duration, **fields)
    others = [str(each.message) for each in raised if "too few shapes" not in str(each.message)]
    finer = fa.simulate(doubled(robot), duration, **fields)
    one, other = _tips(run), _tips(finer)
    samples = min(len(one), len(other))
    distance = np.linalg.norm(one[:samples] - other[:samples], axis=2).max()
    return run, float(distance / np.linalg.norm(finer.array("deflection")[..., 1:], axis=2).max()), others


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
    these = Comparison(system.robot, joint_posture(system, start[0]), fine)
    return truncation_check._error(these, inputs.excitation(these, inputs.sampled(these)))


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
    parser.add_argument("--exact", action="store_true", help="spatial arms with exact links")
    parser.add_argument("--share", action="store_true", help="compare loads of modes instead")
    parser.add_argument("--drift", action="store_true", help="an arm whose joints drift, which the estimate misses")
    wanted = parser.parse_args()
    if wanted.drift:
        return drift()
    if wanted.share:
        return share_study(wanted.robots, wanted.seed)
    rng = np.random.default_rng(wanted.seed)
    found = []
    for k in range(wanted.robots):
        kind = KINDS[k % 3]
        robot, duration, options = (
            random_exact_case(rng, kind, 1 + k // 3 % 2) if wanted.exact else random_case(rng, kind)
        )
        begin = time.perf_counter()
        run, error, others = run_error(robot, duration, options)
        if run.truncation.error is None:
            print(f"{k:4d} {kind:13} no estimate: {run.truncation.reason}")
            continue
        found.append((error, run.truncation.error, bool(others)))
        counts = [[*each.flexible.counts.values()] for each in robot.links]
        bend = (
            np.linalg.norm(run.array("deflection")[..., 1:], axis=2).max(0) / [each.length for each in robot.links]
        ).max()
        print(
            f"{k:4d} {kind:13} {counts!s:30} bends by {bend:4.0%} run {error:8.2%} "
            f"estimate {run.truncation.error:8.2%} "
            f"({time.perf_counter() - begin:.1f} s){' other warning: ' + others[0][:60] if others else ''}",
            flush=True,
        )
    errors, estimates, others_too = np.array(found).T
    warned, valid = estimates > MAX_TRUNCATION_ERROR, others_too == 0
    print(f"{len(found)} runs, {warned.sum()} warned of too few shapes, {np.sum(~valid)} of something else")
    print(f"errors above {ALLOWED:.0%} without any warning: {np.sum((errors > ALLOWED) & ~warned & valid)}")
    print(
        f"warnings although the error is below {MAX_TRUNCATION_ERROR:.0%}: "
        f"{np.sum((errors < MAX_TRUNCATION_ERROR) & warned)}"
    )


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
