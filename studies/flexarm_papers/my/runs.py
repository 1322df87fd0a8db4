"""What the robots of the paper do, and what is read from their runs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import pi
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.foundation.validation import Array
from flexarm.robot.joints import PrismaticContact
from flexarm_papers.my.robots import ELEMENTS, OURS, PAPER, Model, built, c_rpb
from flexarm_papers.runs import simulate

INPUTS_END = 0.5  # s
INPUTS = {"C_PaR": (4.0, 0.2), "C_RPb": (0.05, 0.5), "experiment": (1.0, 0.008)}  # of joints 1, 2 (N, N m), chosen
STARTS = {"C_PaR": -pi / 4, "C_RPb": 0.3, "experiment": 0.0}  # of joint 2 (rad, m), chosen; joint 1 starts at zero
DURATIONS = {"C_PaR": 10.0, "C_RPb": 20.0, "experiment": 3.0}  # s; Table 3, that of the experiment is chosen
SAMPLES = 10_000  # of a run: some hundred in a period of the slowest vibration
MESH_STEP = 2.5e-4  # s, where nodes in the guide change: under error control each change would ask for tiny steps
SLIDE_ENDS = 2.0  # s
SLIDE = fa.cycloid(0.3, 0.6, SLIDE_ENDS)  # d_2 of C_RPb when it is driven (m), chosen


def inputs(name: str) -> dict[str, fa.Profile]:
    """Bang-bang, and nothing afterwards."""
    switches = (INPUTS_END / 2, INPUTS_END)
    return {f"link{k}": fa.bang_bang(amplitude, switches) for k, amplitude in enumerate(INPUTS[name], start=1)}


def moved(
    name: str, robot: fa.Robot, duration: float | None = None, rtol: float = 1e-6, step: float = MESH_STEP
) -> fa.Run:
    """A robot under its inputs. What is undamped needs a tight tolerance: errors in phase add up."""
    joint = robot.links[1].joint
    steps: dict[str, Any] = {"dt": step} if isinstance(joint, fa.FixedPrismatic) and joint.on_mesh else {"rtol": rtol}
    start, sample = {"link2.q": STARTS[name]}, DURATIONS[name] / SAMPLES
    options: dict[str, Any] = {"torque": inputs(name), "q0": start, "sample": sample} | steps
    return simulate(robot, duration or DURATIONS[name], native=False, **options)


@cache
def flexible_run(name: str, model: Model = PAPER) -> fa.Run:
    return moved(name, built(name, model))


@cache
def rigid_run(name: str) -> fa.Run:
    """The rigid robot of the same parameters."""
    return moved(name, built(name).rigid(), rtol=1e-7)


def slid(count: int, contact: PrismaticContact) -> fa.Run:
    """C_RPb with its torque, and with d_2 driven; damped, so that contact is compared and not phases."""
    robot = c_rpb(replace(PAPER, contact=contact, damping=OURS.damping), count)
    options: dict[str, Any] = {"torque": {"link1": inputs("C_RPb")["link1"]}, "motion": {"link2": SLIDE}}
    return simulate(robot, 2 * SLIDE_ENDS, sample=0.01, native=False, **options)


# --- readings ---


def flexural(run: fa.Run) -> Array:
    """Displacement of link 2's tip across its own axis (m)."""
    return np.asarray(run.deflection("link2").sel(axis="y").values)


def peak(run: fa.Run) -> float:
    """Largest flexural displacement of link 2's tip (m)."""
    return float(np.abs(flexural(run)).max())


def slope(run: fa.Run) -> Array:
    """Angle of link 2's tip against its root (rad)."""
    turned = run.data["tip_rotation"].values
    angle = np.unwrap(np.arctan2(turned[:, 1, 0], turned[:, 0, 0]))
    if isinstance(run.robot.links[0].joint, fa.Revolute):
        return np.asarray(angle - run["link1.q"].values)
    return np.asarray(angle - run["link2.q"].values - pi / 2)


def largest_bend(run: fa.Run) -> float:
    """Largest flexural displacement of the tip, as a fraction of the length that sticks out."""
    guided = isinstance(run.robot.links[1].joint, fa.FixedPrismatic)
    out = run["link2.q"].values if guided else run.robot.links[1].length
    return float(np.max(np.abs(flexural(run)) / out))


def deviation(name: str, model: Model = PAPER) -> Array:
    """Tip of the flexible robot from that of the rigid one, x and y (m)."""
    return np.asarray((flexible_run(name, model).tip - rigid_run(name).tip).values[:, :2])


def momentum(run: fa.Run) -> Array:
    """Of everything along the ground (C_PaR) or about joint 1 (C_RPb): only the input of joint 1 changes it."""
    rows = fa.System(run.robot, native=False).mass_matrix(run.data["q"].values)[:, 0]
    return np.asarray((rows * run.data["v"].values).sum(axis=1))


def momentum_left(run: fa.Run) -> float:
    """Largest momentum after the inputs have ended, as a fraction of the largest of all."""
    found = np.abs(momentum(run))
    return float(found[run.time.values > INPUTS_END].max() / found.max())


def last(run: fa.Run) -> float:
    """Joint 2 at the end of a run (rad or m)."""
    return float(run["link2.q"][-1])


def stored(run: fa.Run) -> Array:
    """Kinetic and elastic energy (J)."""
    return np.asarray((run.energy["kinetic"] + run.energy["elastic"]).values)


def changes(run: fa.Run) -> list[int]:
    """The samples of C_RPb after which another element is in the guide."""
    size = run.robot.link("link2").length / ELEMENTS["C_RPb"]
    inside = np.ceil(run["link2.q"].values / size - 1e-9)
    return [int(each) + 1 for each in np.flatnonzero(np.diff(inside))]


def push(run: fa.Run) -> Array:
    """Elastic force on d_2 (N): the bent front pushes the link out of its guide, the bent rear pushes it back."""
    system = fa.System(run.robot, native=False)
    return np.asarray(-system.spring_forces(run.data["q"].values)[:, system.index("link2.q")])


def at_rest_again(run: fa.Run, force: Array) -> float:
    """Mean of a force after the driven slide has ended (N)."""
    return float(np.mean(force[run.time.values > SLIDE_ENDS]))


def beside_each_other(name: str, quantity: str) -> dict[str, tuple[Any, Any]]:
    """A quantity of the paper's model, of ours and of the rigid robot, over time."""
    runs = {"the paper's model": flexible_run(name), "ours": flexible_run(name, OURS), "rigid": rigid_run(name)}
    return {label: (run.time, run[quantity].values) for label, run in runs.items()}
