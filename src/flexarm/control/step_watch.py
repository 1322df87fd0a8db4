"""What a step by hand must not pass over in silence: it has no result, leaves what the model knows, or is inaccurate.

Most of it is bounds of coordinates, which the compiled step itself compares; the rest is looked at when one of them is
left.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.reach import WIDE_TURN, ValidityWarning, doubts_of_posture, largest
from flexarm.mechanics.system import System
from flexarm.motion.contacts import Contacts
from flexarm.motion.ending import Ending, Status
from flexarm.motion.events import OVERRUN, Watch
from flexarm.motion.held_stepper import HeldStepper
from flexarm.motion.inertia import InertiaWatch
from flexarm.motion.step_size import ABSURD, Tolerance

ABSURD_SQUARE = ABSURD**2  # of a whole state
WIDER = 1.25  # bounds of bending after a look at them, which found nothing
BEYOND = 0.999  # of what ends a run: bounds that are met just before
USER = 5  # frames from a warning to the call of `step`


class StepError(RuntimeError):
    """A step of a `Simulation` that has no result, with the reason; the simulation stays where it was before the step.

    `status` is "failed" where there is no way on, or "stopped" where a joint has come to the end of its travel.
    """

    def __init__(self, reason: str, status: Status = "failed") -> None:
        super().__init__(reason)
        self.status: Status = status

    def __reduce__(self) -> tuple[type[StepError], tuple[str, Status]]:
        return StepError, (str(self), self.status)


@dataclass
class Said:
    """Which warnings were given: each is given once."""

    inaccurate: bool = False
    doubtful: bool = False
    jumped: bool = False
    wider: float = field(default=1.0)  # bounds of bending


class StepWatch:
    """Of one simulation, between two resets."""

    def __init__(self, system: System, stepper: HeldStepper, tolerance: Tolerance, dt: float, said: Said) -> None:
        self.system, self.stepper, self.tolerance, self.dt, self.said = system, stepper, tolerance, dt, said
        self._events, self._contacts = Watch(system, None), Contacts(system)
        self._inertia = InertiaWatch(system, stepper)
        self.always = bool(self._events.conditions) or self._contacts.any
        self.allowed = math.inf if said.inaccurate else tolerance.allowed
        self.unsolved = tolerance.length
        self._bound()

    def require_at_start(self, state: Array) -> None:
        """Of the state in which it begins."""
        self._inertia.require_at_start(state)
        self._events.require_at_start(state, self.stepper.layout.state)

    def look(self, t: float, elapsed: float) -> None:
        """At the step that was just computed from t, `elapsed` seconds after the beginning: raise, or warn."""
        stepper = self.stepper
        layout, told = stepper.layout.state, stepper.told.tolist()
        error, left, alarms, size, _ = told
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
            event = self._events.first(times, nodes, layout, stepper.sizes, stepper.order, self.dt)
            if event is not None:
                raise StepError(event.sentence, event.status)
            try:
                self._inertia.require(t, nodes)
            except Ending as ending:
                raise StepError(str(ending)) from None
            self._look_at_contacts(times, nodes)
        if alarms:
            self._look_at_bending(float(times[-1]), nodes[-1][layout.q])
            self._bound()
            stepper.told[2] = 0.0
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
        """Where coordinates and accelerations must be looked at."""
        system, events, n = self.system, self._events, self.system.nq
        far = BEYOND * np.where(np.isfinite(events.far), events.far * system.sizes, np.inf)
        far = np.minimum(far, self._of_bending())
        low, high = -far, far.copy()
        for place, ((lower, upper), _) in events.limits.items():
            low[place], high[place] = lower, upper
        for place, (_, length) in events.ends.items():
            low[place], high[place] = -OVERRUN * length, (1 + OVERRUN) * length
        self.stepper.low[:n], self.stepper.high[:n] = low, high
        self.stepper.low[2 * n :] = -self._inertia.unusual * system.sizes
        self.stepper.high[2 * n :] = self._inertia.unusual * system.sizes

    def _of_bending(self) -> Array:
        """Below which no link bends, twists or curls further than its model knows; beyond, it may. Once that was said,
        only those of exact links, which may coil up."""
        system = self.system
        turns = system._unit_turns
        models = {link.name: link.stiffening for link in system.robot.links}
        shares = [largest(models[each.link], each.family) for each in system.coordinates]
        count = max(1, int(system.elastic.sum()))
        with np.errstate(divide="ignore"):
            bounds = np.minimum(np.array(shares) * system.sizes, WIDE_TURN / turns) / count
        if self.said.doubtful:
            bounds = np.where(turns > 0, bounds, np.inf)
        bounds = bounds * min(self.said.wider, count)
        return np.where(system.elastic, bounds, np.inf)

    def _look_at_contacts(self, times: Array, nodes: Array) -> None:
        """Warn where a joint went through a stop within a step."""
        missed = self._contacts.first_missed(times, nodes, self.stepper.layout.state, self.stepper.report)
        if missed is not None and not self.said.jumped:
            self.said.jumped = True
            warnings.warn(
                f"a joint runs into its stop at t = {times[0]:.4g} s so fast that {self._a_step} passes over it: the "
                "energy of the impact is not right; take shorter ones, or more substeps",
                ValidityWarning,
                stacklevel=USER,
            )

    def _look_at_bending(self, t: float, q: Array) -> None:
        self.said.wider *= WIDER
        doubts = [] if self.said.doubtful else doubts_of_posture(self.system, q, f" at t = {t:.4g} s")
        for sentence in doubts:
            self.said.doubtful = True
            warnings.warn(sentence, ValidityWarning, stacklevel=USER)

    def _tell_error(self, error: float, elapsed: float) -> None:
        """A tolerance is for a run: for one second, and for each of those that follow."""
        most = self.tolerance.allowed * max(1.0, elapsed)
        if error <= most:
            self.allowed = most
            return
        self.allowed, self.said.inaccurate = math.inf, True
        substeps = len(self.stepper.path) - 1
        too_large = error / elapsed / self.tolerance.allowed  # were it to go on like this
        wanted = math.ceil(1.2 * substeps * too_large ** (1 / self.stepper.order))
        way = f"about substeps={wanted}" if wanted <= 1000 else "a much shorter step"
        warnings.warn(
            f"{self._a_step} is long for this robot: after {elapsed:.4g} s its links may be {error:.2g} m from where "
            f"they should be, and rtol = {self.tolerance.rtol:g} of its length is {most:.2g} m; {way} would do (or "
            "give a larger rtol)",
            ValidityWarning,
            stacklevel=USER,
        )
