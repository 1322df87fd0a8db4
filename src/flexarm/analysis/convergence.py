"""Convergence of a simulation: the same case with more shapes, and with a finer tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flexarm.analysis.modes import modes_without_warning
from flexarm.beam.integrals import LinkIntegrals
from flexarm.dynamics.system import System
from flexarm.feedback.feedback import Feedback, feedback_of
from flexarm.feedback.traced_law import TracedLaw, copied
from flexarm.foundation.messages import collect_warnings, shown
from flexarm.foundation.validation import Array, whole_number
from flexarm.results.run import Run
from flexarm.robot import Link, Reduced, Robot
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
        shapes = [f"{link.name}: {_format_counts(link.flexible)}" for link in robot.links if link.flexible is not None]
        early = [f"a run ended early: {each.reason}" for each in runs if each.status != "completed"]
        head = f"{robot.name}, {self.run.array('time')[-1]:g} s; shapes {'; '.join(shapes)}"
        columns = f"{'quantity':<34}{'value':>14}{f'{self.more} more':>14}{'finer steps':>14}"
        rows = [each.line for each in self.differences]
        held = _joint_state(System(robot, native=False))
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
    if not isinstance(robot, (Robot, System)):
        raise TypeError(f"robot = {shown(robot)}: must be a Robot or a System")
    if whole_number("more", more, least=1) > MAX_EXTRA_SHAPE_COUNT:
        raise ValueError(f"more = {shown(more)}: must be at most {MAX_EXTRA_SHAPE_COUNT}")
    if "verify" in options:
        raise ValueError("verify: must be left out, the run with finer steps is a verification")
    system = robot if isinstance(robot, System) else System(robot)
    if all(link.flexible is None for link in system.robot.links):
        raise ValueError("robot: has no flexible link, and so no shapes of which there could be more")
    finer_system = System(with_more_shapes(system.robot, more), native=system.native)
    _require_names(options, system, finer_system)
    others = [_copy_controller(options) for _ in range(2)]  # before the run, which changes the memory of controllers
    run = simulate(system, duration, **options)
    with collect_warnings():  # the first run has given them
        finer = simulate(finer_system, duration, **_transfer_initial_state(others[0], system, finer_system))
        tighter = simulate(system, duration, **_tighten(others[1]))
    differences = [_compare_tip_path(run, finer, tighter), *_compare_deflections(run, finer, tighter)]
    differences += _compare_frequencies(system, finer_system, options.get("q0"))
    return Convergence(run, finer, tighter, tuple(differences), more)


def with_more_shapes(robot: Robot, more: int) -> Robot:
    """Return the robot with `more` additional shapes, or elements, in every family of its links."""
    robot = robot.resolved()
    changes = {
        f"links.{link.name}.flexible": _with_more_shapes(link, link.flexible, more)
        for link in robot.links
        if link.flexible is not None
    }
    return robot.with_(changes)


def _with_more_shapes(link: Link, flexible: Flexible, more: int) -> Flexible:
    changes: dict[str, Any] = {family: count + more for family, count in flexible.counts.items()}
    changes["stiffening"] = link.stiffening  # "auto" could choose another model with more shapes
    basis = flexible.basis
    try:
        if isinstance(basis, Reduced):  # with a mesh that can make them
            kept = None if basis.modes is None else basis.modes + more
            changes["basis"] = Reduced(basis.elements + more, kept, basis.interface)
        return Flexible(**{**dict(flexible.given), **changes})
    except DescriptionError as error:
        raise ValueError(f"more = {more}: gives too many shapes of link {link.name!r}; {error}") from None


def _format_counts(flexible: Flexible) -> str:
    return ", ".join(f"{family} {count}" for family, count in flexible.counts.items())


def _tighten(options: Mapping[str, Any]) -> dict[str, Any]:
    if options.get("dt") is not None:
        return {**options, "dt": options["dt"] / 2}
    return {**options, "rtol": TOLERANCE_FACTOR * options.get("rtol", 1e-4)}


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


def _copy_controller(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with a copy of a digital controller, whose memory would otherwise pass from run to run."""
    torque = options.get("torque")
    if isinstance(torque, Feedback) and torque.rate is not None:
        return {**options, "torque": replace(torque, law=copied(torque.law))}
    return dict(options)


# --- initial states in other shapes ---


def _transfer_initial_state(options: Mapping[str, Any], system: System, finer: System) -> dict[str, Any]:
    out = dict(options)
    for name in ("q0", "v0"):
        given = options.get(name)
        if given is not None and not isinstance(given, str):
            out[name] = transfer_coordinates(system.vector(given, name), system, finer)
    return out


def transfer_coordinates(vector: Array, system: System, finer: System) -> Array:
    """Return a vector of coordinates in a system with other shapes.

    Joint coordinates are copied; deflections are fitted by least squares.
    """
    out = np.zeros(finer.nq)
    for old, new in zip(system._chain.bodies, finer._chain.bodies, strict=True):
        own, other = vector[old.local.all], np.zeros(new.local.count)
        joints = old.local.elastic.start
        other[:joints] = own[:joints]
        eta, start = own[old.local.elastic], joints
        for one, another in ((old.integrals, new.integrals), (old.rear, new.rear)):
            if one is not None and another is not None:
                other[start : start + another.count] = _project_deflection(one, another, eta[: one.count])
                eta, start = eta[one.count :], start + another.count
        out[new.local.all] = other
    return out


def _project_deflection(one: LinkIntegrals, another: LinkIntegrals, eta: Array) -> Array:
    if not eta.any():
        return np.zeros(another.count)
    x = np.linspace(0.0, one.length, STATION_COUNT)
    left, right = (
        np.concatenate([each.displacement(x), each.length * each.rotation(x)]).reshape(-1, each.count)
        for each in (another, one)
    )
    return np.asarray(np.linalg.lstsq(left, right @ eta)[0])


# --- differences ---


def _at_common_times(name: str, *runs: Run) -> list[Array]:
    """Return a variable of several runs at the times that all of them have."""
    rounded_times = [np.round(run.array("time") / max(float(runs[0].array("time")[-1]), 1e-300), 9) for run in runs]
    common = rounded_times[0]
    for each in rounded_times[1:]:
        common = np.intersect1d(common, each)
    return [run.array(name)[np.searchsorted(each, common)] for run, each in zip(runs, rounded_times, strict=True)]


def _compare_tip_path(*runs: Run) -> Difference:
    path, finer, tighter = _at_common_times("tip", *runs)
    extent = np.linalg.norm(path - path[0], axis=1).max()
    apart = [float(np.linalg.norm(path - other, axis=1).max()) for other in (finer, tighter)]
    return Difference("tip path", "m", float(extent), *apart)


def _compare_deflections(*runs: Run) -> list[Difference]:
    found = _at_common_times("deflection", *runs)
    out = []
    for index, link in enumerate(runs[0].robot.links):
        if link.flexible is not None:
            peak, *others = (float(np.linalg.norm(each[:, index, 1:], axis=1).max()) for each in found)
            apart = [abs(peak - other) for other in others]
            out.append(Difference(f"peak deflection of {link.name}", "m", peak, *apart))
    return out


def _joint_state(system: System) -> str:
    """Return the state of the joints for which frequencies are compared: locked, unless constraints hold them."""
    return "free" if system.constraints else "locked"


def _compare_frequencies(system: System, finer: System, q0: Any) -> list[Difference]:
    """Compare natural frequencies at the initial posture; return none if there are no modes there."""
    joints: Any = _joint_state(system)
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
