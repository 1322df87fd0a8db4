"""Convergence of a simulation: the same case with more shapes, and with a finer tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal

import numpy as np

from flexarm.analysis.modes import modes_without_warning
from flexarm.dynamics.system import System, as_system
from flexarm.feedback.feedback import Feedback, feedback_of
from flexarm.feedback.traced_law import TracedLaw, copied
from flexarm.foundation.messages import collect_warnings, shown
from flexarm.foundation.validation import Array, whole_number
from flexarm.results.run import Run
from flexarm.robot import Reduced, Robot
from flexarm.robot.errors import DescriptionError
from flexarm.robot.flexibility import Flexible
from flexarm.simulation.simulate import simulate

COMPARED_FREQUENCY_COUNT = 4
STATION_COUNT = 101  # points along a link at which initial deflections are fitted with other shapes
TOLERANCE_FACTOR = 0.1  # factor of rtol for finer steps; a fixed step is halved
MAX_EXTRA_SHAPE_COUNT = 100


@dataclass(frozen=True)
class Difference:
    """Quantity of a run and its change with more shapes and with finer steps (None if steps have no effect on it)."""

    quantity: str
    unit: str
    value: float
    shapes: float
    steps: float | None

    @property
    def line(self) -> str:
        """Row of the table."""
        value = f"{self.value:.5g} {self.unit}"
        steps = "" if self.steps is None else f"{self.steps:.1e} {self.unit}"
        return f"{self.quantity:<34}{value:>14}{f'{self.shapes:.1e} {self.unit}':>14}{steps:>14}".rstrip()


@dataclass(frozen=True)
class Convergence:
    """Result of a convergence study: three runs and their differences. `print` shows a table.

    Parameters
    ----------
    run : Run
        Run as given.
    finer : Run
        Run with more shapes.
    tighter : Run
        Run with finer steps.
    differences : tuple of Difference
        Changes of the tip's path, of peak deflections and of natural frequencies, in their units.
    more : int
        Number of additional shapes.

    See Also
    --------
    flexarm.convergence : Run the study.
    """

    run: Run
    finer: Run
    tighter: Run
    differences: tuple[Difference, ...]
    more: int

    def __getitem__(self, quantity: str) -> Difference:
        """Return the difference of a quantity by its name in the table."""
        for each in self.differences:
            if each.quantity == quantity:
                return each
        names = ", ".join(each.quantity for each in self.differences)
        raise KeyError(f"there is no quantity {shown(quantity)} (there are: {names})")

    def __str__(self) -> str:
        robot, runs = self.run.robot, (self.run, self.finer, self.tighter)
        flexible = [(link.name, link.flexible.counts) for link in robot.links if link.flexible is not None]
        shapes = [f"{name}: {', '.join(f'{each} {n}' for each, n in counts.items())}" for name, counts in flexible]
        early = [f"a run ended early: {each.reason}" for each in runs if each.status != "completed"]
        head = f"{robot.name}, {self.run.array('time')[-1]:g} s; shapes {'; '.join(shapes)}"
        columns = f"{'quantity':<34}{'value':>14}{f'{self.more} more':>14}{'finer steps':>14}"
        rows = [each.line for each in self.differences]
        held = _joint_state(bool(robot.every_constraint))
        note = f"tip path: its farthest point from the start, and how far paths are apart; frequencies: joints {held}"
        return "\n".join([head, *dict.fromkeys(early), columns, *rows, note])


def convergence(robot: Robot | System, duration: float, *, more: int = 2, **options: Any) -> Convergence:
    """Repeat a simulation with more shapes and with finer steps, and compare the results.

    Parameters
    ----------
    robot : Robot or System
        Robot with at least one flexible link, or its equations of motion.
    duration : float
        Duration of the simulation (s).
    more : int, optional
        Number of shapes (or elements) added to every family of every link.
    **options
        Options of `simulate`, except `verify`. Initial deflections are projected onto the other shapes.

    Returns
    -------
    Convergence
        The runs, and differences of the tip's path, peak deflections and natural frequencies.

    Raises
    ------
    ValueError
        If there is no flexible link, too many shapes result, or a feedback law reads coordinates by their position.

    See Also
    --------
    simulate : Run one simulation.

    Notes
    -----
    Finer steps have a tenth of `rtol`, or half of `dt`. More shapes shift the coordinates, so a feedback law must read
    them by name, `q["fore.q"]`, not by index. This is checked for compiled laws; it cannot be checked for digital
    controllers. Digital controllers are copied before the first run, so that no run sees the memory of another.

    Examples
    --------
    >>> from flexarm.robot import library
    >>> found = convergence(library.rotating_beam(modes=3), 0.5, torque={"beam": 1.0}, more=1, native=False)
    >>> found["frequency 1"].shapes < 1e-9 * found["frequency 1"].value  # modes of a beam that carries nothing
    True
    """
    system = as_system(robot, native="auto")
    if whole_number("more", more, least=1) > MAX_EXTRA_SHAPE_COUNT:
        raise ValueError(f"more = {shown(more)}: must be at most {MAX_EXTRA_SHAPE_COUNT}")
    if "verify" in options:
        raise ValueError("verify: must be left out, the run with finer steps is a verification")
    if all(link.flexible is None for link in system.robot.links):
        raise ValueError("robot: has no flexible link, and so no shapes of which there could be more")
    finer_system = System(with_more_shapes(system.robot, more), native=system.native)
    _require_names(options, system, finer_system)
    others = [dict(options) for _ in range(2)]
    torque = options.get("torque")
    if isinstance(torque, Feedback) and torque.rate is not None:  # each run begins with the same memory
        for each in others:
            each["torque"] = replace(torque, law=copied(torque.law))
    run = simulate(system, duration, **options)
    with collect_warnings():  # the first run has given them
        for name in ("q0", "v0"):
            if (given := others[0].get(name)) is not None and not isinstance(given, str):
                others[0][name] = transfer_coordinates(system.vector(given, name), system, finer_system)
        finer = simulate(finer_system, duration, **others[0])
        fixed = others[1].get("dt") is not None
        tighter = {"dt": others[1]["dt"] / 2} if fixed else {"rtol": TOLERANCE_FACTOR * others[1].get("rtol", 1e-4)}
        closer = simulate(system, duration, **others[1] | tighter)
    differences = _compare_runs(run, finer, closer) + _compare_frequencies(system, finer_system, options.get("q0"))
    return Convergence(run, finer, closer, tuple(differences), more)


def with_more_shapes(robot: Robot, more: int) -> Robot:
    """Return the robot with `more` additional shapes, or elements, in every family of its links."""
    robot, out = robot.resolved(), {}
    for link in robot.links:
        if (flexible := link.flexible) is None:
            continue
        changes: dict[str, Any] = {family: count + more for family, count in flexible.counts.items()}
        changes["stiffening"] = link.stiffening  # "auto" could choose another model with more shapes
        basis = flexible.basis
        try:
            if isinstance(basis, Reduced):  # with a mesh that can make them
                kept = None if basis.modes is None else basis.modes + more
                changes["basis"] = Reduced(basis.elements + more, kept, basis.interface)
            out[f"links.{link.name}.flexible"] = Flexible(**{**dict(flexible.given), **changes})
        except DescriptionError as error:
            raise ValueError(f"more = {more}: gives too many shapes of link {link.name!r}; {error}") from None
    return robot.with_(out)


# --- laws ---


def _require_names(options: Mapping[str, Any], system: System, finer: System) -> None:
    """Raise ValueError if a compiled law reads another coordinate in the robot with more shapes."""
    feedback = feedback_of(options.get("torque"))
    if feedback is None or feedback.rate is not None:
        return
    reads = TracedLaw(feedback, system).reads
    try:
        other = TracedLaw(feedback, finer).reads
    except (TypeError, ValueError, KeyError) as error:
        raise ValueError(f"torque: the law does not suit a robot with more shapes; {error}") from error
    if gone := [name for name in system.names if name in reads - other]:
        name, instead = gone[0], ", ".join(sorted(other - reads)) or "nothing"
        raise ValueError(
            f"torque: the law reads '{name}' by its place, where the robot with more shapes has another coordinate "
            f"(it reads {instead} there); read it by name, q['{name}']"
        )


# --- initial states in other shapes ---


def transfer_coordinates(vector: Array, system: System, finer: System) -> Array:
    """Return coordinates in a system with other shapes; deflections are fitted by least squares."""
    out = np.zeros(finer.nq)
    for old, new in zip(system._chain.bodies, finer._chain.bodies, strict=True):
        own, other = vector[old.local.all], np.zeros(new.local.count)
        joints = old.local.elastic.start
        other[:joints] = own[:joints]
        eta, start = own[old.local.elastic], joints
        for one, another in ((old.integrals, new.integrals), (old.rear, new.rear)):
            if one is None or another is None:
                continue
            if eta[: one.count].any():
                x = np.linspace(0.0, one.length, STATION_COUNT)
                left, right = (
                    np.concatenate([each.displacement(x), each.length * each.rotation(x)]).reshape(-1, each.count)
                    for each in (another, one)
                )
                other[start : start + another.count] = np.linalg.lstsq(left, right @ eta[: one.count])[0]
            eta, start = eta[one.count :], start + another.count
        out[new.local.all] = other
    return out


# --- differences ---


def _compare_runs(*runs: Run) -> list[Difference]:
    """Compare the tip's path and peak deflections at the times that all runs have."""
    times = [np.round(run.array("time") / max(float(runs[0].array("time")[-1]), 1e-300), 9) for run in runs]
    common = reduce(np.intersect1d, times)

    def at_common(name: str) -> list[Array]:
        return [run.array(name)[np.searchsorted(each, common)] for run, each in zip(runs, times, strict=True)]

    path, *others = at_common("tip")
    extent = float(np.linalg.norm(path - path[0], axis=1).max())
    out = [Difference("tip path", "m", extent, *(float(np.linalg.norm(path - each, axis=1).max()) for each in others))]
    deflections = at_common("deflection")
    for index, link in enumerate(runs[0].robot.links):
        if link.flexible is not None:
            peak, *peaks = (float(np.linalg.norm(each[:, index, 1:], axis=1).max()) for each in deflections)
            out.append(Difference(f"peak deflection of {link.name}", "m", peak, *(abs(peak - each) for each in peaks)))
    return out


def _joint_state(constrained: bool) -> Literal["free", "locked"]:
    """Return the state of the joints for which frequencies are compared: locked, unless constraints hold them."""
    return "free" if constrained else "locked"


def _compare_frequencies(system: System, finer: System, q0: Any) -> list[Difference]:
    """Compare natural frequencies at the initial posture; return none if there are no modes there."""
    joints = _joint_state(bool(system.constraints))
    vector = np.zeros(system.nq) if q0 is None or isinstance(q0, str) else system.vector(q0, "q0")
    try:
        few = modes_without_warning(system, vector, joints=joints)
        many = modes_without_warning(finer, transfer_coordinates(vector, system, finer), joints=joints)
    except ValueError:  # some motion has no mass, or no posture meets the constraints
        return []
    here, there = (each.frequencies[~each.rigid][:COMPARED_FREQUENCY_COUNT] for each in (few, many))
    return [
        Difference(f"frequency {k + 1}", "Hz", float(one), float(abs(one - other)), None)
        for k, (one, other) in enumerate(zip(here, there, strict=False))
    ]
