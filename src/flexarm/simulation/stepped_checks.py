"""Checks of steps by hand, which must not fail silently, and numbers of a `Simulation` by name.

Most checks are bounds of coordinates that the compiled step compares itself; the rest is evaluated if one of them is
exceeded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.dynamics.accuracy.validity import MAX_NODE_TURN, ValidityWarning, coordinate_limit, posture_warnings
from flexarm.dynamics.quantity_names import AXES, STATE_PARTS, state_names
from flexarm.dynamics.system import System
from flexarm.foundation.interrupts import Status
from flexarm.foundation.messages import warn
from flexarm.foundation.validation import Array
from flexarm.integrators.step_size import ABSURD_STATE, Tolerance
from flexarm.integrators.zero_order_hold import ZeroOrderHoldStepper
from flexarm.simulation.events import MAX_STOP_OVERRUN, EventDetector
from flexarm.simulation.members import SingleMember
from flexarm.simulation.run_checks import Contacts, InertiaMonitor

if TYPE_CHECKING:
    from flexarm.simulation.stepped import Simulation


ENERGY_NAMES = ("kinetic", "elastic", "gravity", "drive")


@dataclass(frozen=True)
class Reading:
    """Energies, tip and deflections of the links' tips (links, 3) in a state."""

    energies: Array
    tip: Array
    deflections: Array


def available(system: System) -> dict[str, Callable[[Simulation], float]]:
    """Return the functions that read all numbers, by name."""
    found: dict[str, Callable[[Simulation], float]] = {}
    for name, (part, k) in state_names(system.names).items():
        found[name] = partial(_part, STATE_PARTS.index(part) * system.nq + k)
    found |= {f"tip.{axis}": partial(_tip, k) for k, axis in enumerate(AXES)}
    for k, link in enumerate(system.robot.links):
        found |= {f"deflection.{link.name}.{axis}": partial(_deflection, k, j) for j, axis in enumerate(AXES)}
    found |= {f"torque.{name}": partial(_torque, k) for k, name in enumerate(system.inputs)}
    found |= {name: partial(_energy, k) for k, name in enumerate(ENERGY_NAMES)}
    return found | {name: attrgetter(name) for name in ("work", "dissipated", "t", "error")}


def _part(k: int, sim: Any) -> float:
    """Return part k of the state, which begins with q, v and a."""
    return float(sim._before[k])


def _torque(k: int, sim: Any) -> float:
    return float(sim.torque[k])


def _tip(k: int, sim: Any) -> float:
    return float(sim._read().tip[k])


def _deflection(link: int, axis: int, sim: Any) -> float:
    return float(sim._read().deflections[link, axis])


def _energy(k: int, sim: Any) -> float:
    return float(sim._read().energies[k])


ABSURD_SQUARE = ABSURD_STATE**2  # of a whole state
BOUND_GROWTH = 1.25  # bounds of bending after a look at them, which found nothing
NEAR_LIMIT = 0.999  # of what ends a run: bounds that are met just before


class StepError(RuntimeError):
    """Step of a `Simulation` that has no result; the simulation keeps its state from before the step.

    Parameters
    ----------
    reason : str
        Why there is no result.
    status : {"failed", "stopped"}, optional
        "failed" if the step cannot be computed, "stopped" if a joint has reached the end of its travel.
    """

    def __init__(self, reason: str, status: Status = "failed") -> None:
        super().__init__(reason)
        self.status: Status = status

    def __reduce__(self) -> tuple[type[StepError], tuple[str, Status]]:
        return StepError, (str(self), self.status)


@dataclass
class GivenWarnings:
    """Which warnings were given: each is given once."""

    inaccurate: bool = False
    doubtful: bool = False
    jumped: bool = False
    wider: float = field(default=1.0)  # bounds of bending


class StepChecks:
    """Checks of one simulation between two resets."""

    def __init__(
        self,
        system: System,
        stepper: ZeroOrderHoldStepper,
        tolerance: Tolerance,
        dt: float,
        given: GivenWarnings,
    ) -> None:
        self.system, self.stepper, self.tolerance, self.dt, self.given = (
            system,
            stepper,
            tolerance,
            dt,
            given,
        )
        self._events, self._contacts = EventDetector(system, None), Contacts(system, stepper.report)
        self._inertia = InertiaMonitor(SingleMember(system, self._events), stepper)
        self.always = bool(self._events.conditions) or self._contacts.any
        self.allowed = math.inf if given.inaccurate else tolerance.allowed
        self.unsolved = tolerance.length
        self._bound()

    def require_at_start(self, state: Array) -> None:
        """Require a valid initial state."""
        first = state[None, :, None]
        reasons = self._inertia.infinite_at_start(first, [0]) or self._inertia.singular_at_start(first, [0])
        if reasons:
            raise ValueError(reasons[0])
        self._events.require_at_start(state, self.stepper.layout.state)

    def look(self, t: float, elapsed: float) -> None:
        """Check the step just computed from t, `elapsed` seconds after the start: raise or warn."""
        stepper = self.stepper
        layout, diagnostics = stepper.layout.state, stepper.diagnostics.tolist()
        error, left, alarms, size, _ = diagnostics
        nodes = stepper.path[:, stepper.layout.own]
        if not size < ABSURD_SQUARE:
            raise StepError(f"diverged at t = {t:.6g} s: {self._worst(nodes)} is not a number after {self._a_step}")
        if left > self.unsolved:
            raise StepError(
                f"Newton's iteration did not converge in {self._a_step} from t = {t:.6g} s; take a shorter one, or "
                "more substeps"
            )
        times = t + self.dt * np.linspace(0.0, 1.0, len(nodes))
        if alarms or self.always:
            event = self._events.first(times, nodes, layout, self.system.sizes, stepper.order, self.dt)
            if event is not None:
                raise StepError(event.sentence, event.status)
            for reason in self._inertia.singular_along(nodes[..., None], 0, [0]).values():
                raise StepError(f"diverged at t = {t:.6g} s: {reason}")
            self._look_at_contacts(times, nodes)
        if alarms:
            self._look_at_bending(float(times[-1]), nodes[-1][layout.q])
            self._bound()
            stepper.diagnostics[2] = 0.0
        if error > self.allowed:
            self._tell_error(error, elapsed)

    @property
    def _a_step(self) -> str:
        substeps = len(self.stepper.path) - 1
        return f"a step of {self.dt:g} s" + (f" in {substeps} substeps" if substeps > 1 else "")

    def _worst(self, nodes: Array) -> str:
        """The coordinate that is furthest off."""
        q = np.abs(nodes[-1, : self.system.nq] / self.system.sizes)
        return f"'{self.system.names[int(np.argmax(np.where(np.isfinite(q), q, np.inf)))]}'" if len(q) else "the state"

    def _bound(self) -> None:
        """Set the bounds of coordinates and accelerations beyond which steps are checked."""
        system, events, n = self.system, self._events, self.system.nq
        far = NEAR_LIMIT * np.where(np.isfinite(events.far), events.far * system.sizes, np.inf)
        far = np.minimum(far, self._of_bending())
        low, high = -far, far.copy()
        for place, ((lower, upper), _) in events.limits.items():
            low[place], high[place] = lower, upper
        for place, (_, length) in events.ends.items():
            low[place], high[place] = -MAX_STOP_OVERRUN * length, (1 + MAX_STOP_OVERRUN) * length
        self.stepper.low[:n], self.stepper.high[:n] = low, high
        self.stepper.low[2 * n :] = -self.stepper.unusual[0, 0] * system.sizes
        self.stepper.high[2 * n :] = self.stepper.unusual[0, 0] * system.sizes

    def _of_bending(self) -> Array:
        """Return bounds below which no link bends, twists or curls beyond its model; after the warning, those of exact
        links only.
        """
        system = self.system
        turns = system._unit_turns
        models = {link.name: link.stiffening for link in system.robot.links}
        shares = [coordinate_limit(models[each.link], each.family) for each in system.coordinates]
        count = max(1, int(system.elastic.sum()))
        with np.errstate(divide="ignore"):
            bounds = np.minimum(np.array(shares) * system.sizes, MAX_NODE_TURN / turns) / count
        if self.given.doubtful:
            bounds = np.where(turns > 0, bounds, np.inf)
        bounds = bounds * min(self.given.wider, count)
        return np.where(system.elastic, bounds, np.inf)

    def _look_at_contacts(self, times: Array, nodes: Array) -> None:
        """Warn where a joint went through a stop within a step."""
        missed = self._contacts.first_missed(times, nodes, self.stepper.layout.state)
        if missed is not None and not self.given.jumped:
            self.given.jumped = True
            warn(
                f"a joint runs into its stop at t = {times[0]:.4g} s so fast that {self._a_step} passes over it: the "
                "energy of the impact is not right; take shorter ones, or more substeps",
                ValidityWarning,
            )

    def _look_at_bending(self, t: float, q: Array) -> None:
        self.given.wider *= BOUND_GROWTH
        doubts = [] if self.given.doubtful else posture_warnings(self.system, q, f" at t = {t:.4g} s")
        for sentence in doubts:
            self.given.doubtful = True
            warn(sentence, ValidityWarning)

    def _tell_error(self, error: float, elapsed: float) -> None:
        """A tolerance is for a run: for one second, and for each of those that follow."""
        most = self.tolerance.allowed * max(1.0, elapsed)
        if error <= most:
            self.allowed = most
            return
        self.allowed, self.given.inaccurate = math.inf, True
        substeps = len(self.stepper.path) - 1
        too_large = error / elapsed / self.tolerance.allowed  # were it to go on like this
        wanted = math.ceil(1.2 * substeps * too_large ** (1 / self.stepper.order))
        way = f"about substeps={wanted}" if wanted <= 1000 else "a much shorter step"
        warn(
            f"{self._a_step} is long for this robot: after {elapsed:.4g} s its links may be {error:.2g} m from where "
            f"they should be, and rtol = {self.tolerance.rtol:g} of its length is {most:.2g} m; {way} would do (or "
            "give a larger rtol)",
            ValidityWarning,
        )
