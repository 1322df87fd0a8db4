"""What a run owes to its number of shapes: the same case with more of them, and with finer steps."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flexarm.analysis.modes import modes_of_any_shapes
from flexarm.beam.integrals import LinkIntegrals
from flexarm.dynamics.system import System
from flexarm.dynamics.validity import ValidityWarning
from flexarm.feedback.feedback import Feedback, feedback_of
from flexarm.feedback.traced_law import TracedLaw, copied
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, whole_number
from flexarm.results.run import Run
from flexarm.robot import Link, Reduced, Robot
from flexarm.robot.errors import DescriptionError
from flexarm.robot.flexibility import Flexible
from flexarm.simulation.simulate import simulate

FREQUENCIES = 4  # that are compared
STATIONS = 101  # along a link, where initial deflections are carried over
FINER = 0.1  # of the tolerance; half of a given step
MOST_MORE = 100


@dataclass(frozen=True)
class Difference:
    """A quantity of the run, and how far it is off with more shapes and with finer steps (None where steps do not
    matter)."""

    quantity: str
    unit: str
    value: float
    shapes: float
    steps: float | None

    @property
    def line(self) -> str:
        value = f"{self.value:.5g} {self.unit}"
        steps = "" if self.steps is None else f"{self.steps:.1e} {self.unit}"
        return f"{self.quantity:<34}{value:>14}{f'{self.shapes:.1e} {self.unit}':>14}{steps:>14}".rstrip()


@dataclass(frozen=True)
class Convergence:
    """What `convergence` found. `print` shows a table of it.

    run: as it was asked for; finer: with more shapes; tighter: with finer steps.
    differences: of the tip's path, peak deflections and frequencies, in their units.
    """

    run: Run
    finer: Run
    tighter: Run
    differences: tuple[Difference, ...]
    more: int

    def __getitem__(self, quantity: str) -> Difference:
        """A difference by the name of its quantity, as the table has it."""
        for each in self.differences:
            if each.quantity == quantity:
                return each
        known = ", ".join(each.quantity for each in self.differences)
        raise KeyError(f"there is no quantity {shown(quantity)} (there are: {known})")

    def __str__(self) -> str:
        robot, runs = self.run.robot, (self.run, self.finer, self.tighter)
        shapes = [f"{link.name}: {_counts(link.flexible)}" for link in robot.links if link.flexible is not None]
        early = [f"a run ended early: {each.reason}" for each in runs if each.status != "completed"]
        head = f"{robot.name}, {self.run.array('time')[-1]:g} s; shapes {'; '.join(shapes)}"
        columns = f"{'quantity':<34}{'value':>14}{f'{self.more} more':>14}{'finer steps':>14}"
        rows = [each.line for each in self.differences]
        held = _held(System(robot, native=False))
        note = f"tip path: its farthest point from the start, and how far paths are apart; frequencies: joints {held}"
        return "\n".join([head, *dict.fromkeys(early), columns, *rows, note])


def convergence(robot: Robot | System, duration: float, *, more: int = 2, **options: Any) -> Convergence:
    """The same simulation with `more` shapes of every family (or elements), and with finer steps: how far they differ.

    robot, duration, options: those of `fa.simulate`. Initial deflections are carried over to the other shapes. Finer
    steps have a tenth of rtol, or half of dt.

    More shapes shift coordinates: a feedback law must read them by name, `q["fore.q"]`, not by place (a law that is
    compiled is looked at; of a digital controller nobody can tell). Digital controllers remember nothing of another
    run: the runs with more shapes and with finer steps have copies of them, as they were at first.

    >>> from flexarm.robot import library
    >>> found = convergence(library.rotating_beam(modes=3), 0.5, torque={"beam": 1.0}, more=1, native=False)
    >>> found["frequency 1"].shapes < 1e-9 * found["frequency 1"].value  # modes of a beam that carries nothing
    True
    """
    if not isinstance(robot, (Robot, System)):
        raise TypeError(f"robot = {shown(robot)}: must be a Robot or a System")
    if whole_number("more", more, least=1) > MOST_MORE:
        raise ValueError(f"more = {shown(more)}: must be at most {MOST_MORE}")
    if "verify" in options:
        raise ValueError("verify: must be left out, the run with finer steps is a verification")
    system = robot if isinstance(robot, System) else System(robot)
    if all(link.flexible is None for link in system.robot.links):
        raise ValueError("robot: has no flexible link, and so no shapes of which there could be more")
    finer_system = System(with_more_shapes(system.robot, more), native=system.native)
    _require_names(options, system, finer_system)
    others = [_fresh(options) for _ in range(2)]  # before the run, in which a controller learns
    run = simulate(system, duration, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ValidityWarning)  # the run has told
        finer = simulate(finer_system, duration, **_carried_over(others[0], system, finer_system))
        tighter = simulate(system, duration, **_tightened(others[1]))
    differences = [_tip_path(run, finer, tighter), *_deflections(run, finer, tighter)]
    differences += _frequencies(system, finer_system, options.get("q0"))
    return Convergence(run, finer, tighter, tuple(differences), more)


def with_more_shapes(robot: Robot, more: int) -> Robot:
    """The robot with so many more shapes, or elements, of every family that its links have."""
    robot = robot.resolved()
    changes = {
        f"links.{link.name}.flexible": _refined(link, link.flexible, more)
        for link in robot.links
        if link.flexible is not None
    }
    return robot.with_(changes)


def _refined(link: Link, flexible: Flexible, more: int) -> Flexible:
    changes: dict[str, Any] = {family: count + more for family, count in flexible.counts.items()}
    changes["stiffening"] = link.stiffening  # what "auto" was: more shapes could make it another model
    basis = flexible.basis
    try:
        if isinstance(basis, Reduced):  # with a mesh that can make them
            kept = None if basis.modes is None else basis.modes + more
            changes["basis"] = Reduced(basis.elements + more, kept, basis.interface)
        return Flexible(**{**dict(flexible.given), **changes})
    except DescriptionError as error:
        raise ValueError(f"more = {more}: asks for too many shapes of link {link.name!r}; {error}") from None


def _counts(flexible: Flexible) -> str:
    return ", ".join(f"{family} {count}" for family, count in flexible.counts.items())


def _tightened(options: Mapping[str, Any]) -> dict[str, Any]:
    if options.get("dt") is not None:
        return {**options, "dt": options["dt"] / 2}
    return {**options, "rtol": FINER * options.get("rtol", 1e-4)}


# --- laws ---


def _require_names(options: Mapping[str, Any], system: System, finer: System) -> None:
    """A compiled law must not read another coordinate where there are more of them."""
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


def _fresh(options: Mapping[str, Any]) -> dict[str, Any]:
    """With a digital controller of its own: what one remembers goes on from run to run."""
    torque = options.get("torque")
    if isinstance(torque, Feedback) and torque.rate is not None:
        return {**options, "torque": replace(torque, law=copied(torque.law))}
    return dict(options)


# --- initial states in other shapes ---


def _carried_over(options: Mapping[str, Any], system: System, finer: System) -> dict[str, Any]:
    out = dict(options)
    for name in ("q0", "v0"):
        given = options.get(name)
        if given is not None and not isinstance(given, str):
            out[name] = carried_over(system.vector(given, name), system, finer)
    return out


def carried_over(vector: Array, system: System, finer: System) -> Array:
    """Coordinates of one system in another one that has other shapes: joints as they are, deflections as near as can
    be."""
    out = np.zeros(finer.nq)
    for old, new in zip(system._chain.bodies, finer._chain.bodies, strict=True):
        own, other = vector[old.local.all], np.zeros(new.local.count)
        joints = old.local.elastic.start
        other[:joints] = own[:joints]
        eta, start = own[old.local.elastic], joints
        for one, another in ((old.integrals, new.integrals), (old.rear, new.rear)):
            if one is not None and another is not None:
                other[start : start + another.count] = _projected(one, another, eta[: one.count])
                eta, start = eta[one.count :], start + another.count
        out[new.local.all] = other
    return out


def _projected(one: LinkIntegrals, another: LinkIntegrals, eta: Array) -> Array:
    if not eta.any():
        return np.zeros(another.count)
    x = np.linspace(0.0, one.length, STATIONS)
    left, right = (
        np.concatenate([each.displacement(x), each.length * each.rotation(x)]).reshape(-1, each.count)
        for each in (another, one)
    )
    return np.asarray(np.linalg.lstsq(left, right @ eta)[0])


# --- what differs ---


def _together(name: str, *runs: Run) -> list[Array]:
    """A variable of several runs at the times that all of them have."""
    ticks = [np.round(run.array("time") / max(float(runs[0].array("time")[-1]), 1e-300), 9) for run in runs]
    common = ticks[0]
    for each in ticks[1:]:
        common = np.intersect1d(common, each)
    return [run.array(name)[np.searchsorted(each, common)] for run, each in zip(runs, ticks, strict=True)]


def _tip_path(*runs: Run) -> Difference:
    path, finer, tighter = _together("tip", *runs)
    extent = np.linalg.norm(path - path[0], axis=1).max()
    apart = [float(np.linalg.norm(path - other, axis=1).max()) for other in (finer, tighter)]
    return Difference("tip path", "m", float(extent), *apart)


def _deflections(*runs: Run) -> list[Difference]:
    found = _together("deflection", *runs)
    out = []
    for index, link in enumerate(runs[0].robot.links):
        if link.flexible is not None:
            peak, *others = (float(np.linalg.norm(each[:, index, 1:], axis=1).max()) for each in found)
            apart = [abs(peak - other) for other in others]
            out.append(Difference(f"peak deflection of {link.name}", "m", peak, *apart))
    return out


def _held(system: System) -> str:
    """What frequencies are told for: joints locked where nothing else holds them."""
    return "free" if system.constraints else "locked"


def _frequencies(system: System, finer: System, q0: Any) -> list[Difference]:
    """At the posture in which it starts, joints locked where nothing else holds them; none where there are none."""
    joints: Any = _held(system)
    vector = np.zeros(system.nq) if q0 is None or isinstance(q0, str) else system.vector(q0, "q0")
    try:
        few = modes_of_any_shapes(system, vector, joints=joints)
        many = modes_of_any_shapes(finer, carried_over(vector, system, finer), joints=joints)
    except ValueError:  # some motion has no mass, or no posture meets the constraints
        return []
    here, there = (each.frequencies[~each.rigid][:FREQUENCIES] for each in (few, many))
    return [
        Difference(f"frequency {k + 1}", "Hz", float(one), float(abs(one - other)), None)
        for k, (one, other) in enumerate(zip(here, there, strict=False))
    ]
