"""Input shaping: commands as sums of delayed copies, so that what each excites cancels.

Names and amplitudes are those of Singer and Seering (ZV, ZVD) and of Singhose (EI and its humps). With damping the
impulses decay as the vibration does: at the modelled frequency that is exact, and around it nearly.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flexarm.analysis.modes import modes as modes_of
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.system import System
from flexarm.dynamics.validity import ValidityWarning
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, real_number, whole_number
from flexarm.profiles.derived import copied
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile
from flexarm.robot import Robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VIBRATION = 0.05  # residual vibration that EI shapers allow, of the unshaped one


def _zv(tolerance: float) -> list[float]:
    return [1 / 2, 1 / 2]


def _zvd(tolerance: float) -> list[float]:
    return [1 / 4, 1 / 2, 1 / 4]


def _zvdd(tolerance: float) -> list[float]:
    return [1 / 8, 3 / 8, 3 / 8, 1 / 8]


def _ei(tolerance: float) -> list[float]:
    return [(1 + tolerance) / 4, (1 - tolerance) / 2, (1 + tolerance) / 4]


def _two_hump(tolerance: float) -> list[float]:
    X = (tolerance**2 * (np.sqrt(1 - tolerance**2) + 1)) ** (1 / 3)
    first = (3 * X**2 + 2 * X + 3 * tolerance**2) / (16 * X)
    return [first, 1 / 2 - first, 1 / 2 - first, first]


def _three_hump(tolerance: float) -> list[float]:
    first = (1 + 3 * tolerance + 2 * np.sqrt(2 * (tolerance**2 + tolerance))) / 16
    second = (1 - tolerance) / 4
    return [first, second, 1 - 2 * (first + second), second, first]


KINDS: dict[str, Callable[[float], list[float]]] = {
    "zv": _zv,
    "zvd": _zvd,
    "zvdd": _zvdd,
    "ei": _ei,
    "two-hump-ei": _two_hump,
    "three-hump-ei": _three_hump,
}
"""By name, amplitudes of impulses that are half a period apart, without damping; of the vibration that is allowed."""


@dataclass(frozen=True)
class Shaper:
    """Impulses of these amplitudes (their sum is one) after these delays (s). Call it with a profile.

    kind, frequencies (Hz), ratios: what it was made for.
    """

    kind: str
    frequencies: tuple[float, ...]
    ratios: tuple[float, ...]
    amplitudes: tuple[float, ...]
    delays: tuple[float, ...]

    @property
    def duration(self) -> float:
        """By how much a command becomes longer (s)."""
        return self.delays[-1]

    def _warn_of_short_moves(self, given: Profile) -> None:
        """A step has no length; what is shorter than the shaper makes of it is hardly the move that was meant."""
        breaks = [each for each in given.breaks if np.isfinite(each)]
        length = breaks[-1] - breaks[0] if breaks else 0.0
        if 0 < length < self.duration:
            warnings.warn(
                f"the {self.kind} shaper delays by up to {self.duration:.3g} s, more than {given!r} takes "
                f"({length:.3g} s): the move becomes more than twice as long; take a shaper of fewer impulses, or a "
                "slower move",
                ValidityWarning,
                stacklevel=3,
            )

    def __call__(self, command: Any) -> Profile:
        """The command with what it would excite cancelled: a profile, a number, a table or a function of t.

        Before t = 0 a command is what it says it is there (cycloid: where it starts), a function what it is at t = 0.
        """
        if isinstance(command, Shaper):
            raise TypeError("a shaper shapes a command; shapers together are fa.shaper(kind, frequency=[f1, f2])")
        given = profile(command, "command")
        self._warn_of_short_moves(given)
        return copied(given, self.amplitudes, self.delays, f"{self.kind}-shaped {given.name}")

    def residual(self, frequency: Any, ratio: float = 0.0) -> Array:
        """Vibration that is left of a mode of this `frequency` (Hz, one or many) and damping `ratio`, as a part of what
        the unshaped command would leave."""
        f = np.atleast_1d(real_array("frequency", frequency))
        if f.ndim > 1:
            raise ValueError(f"frequency has shape {f.shape}: must be one frequency (Hz), or a list of them")
        real_number("ratio", ratio, least=0)
        if ratio >= 1:
            raise ValueError(f"ratio = {ratio:g}: must be below 1; what is over-damped does not vibrate")
        omega = 2 * np.pi * f[:, None]
        A, t = np.array(self.amplitudes), np.array(self.delays)
        turned = np.exp((ratio * omega + 1j * omega * np.sqrt(1 - ratio**2)) * (t - t[-1]))
        out = np.abs(turned @ A)
        return np.asarray(out if np.ndim(frequency) else out[0])

    def insensitivity(self, residual: float = VIBRATION, mode: int = 0) -> float:
        """Width of the band of frequencies around a mode in which no more than this residual is left, as a part of
        the mode's frequency. `mode` counts from 0, in the order of `frequencies`."""
        residual = real_number("residual", residual, above=0)
        if whole_number("mode", mode, least=0) >= len(self.frequencies):
            raise ValueError(f"mode = {mode}: the shaper is for {len(self.frequencies)} of them, 0 is the first")
        f0, ratio = self.frequencies[mode], self.ratios[mode]
        if self.residual(f0, ratio) > residual * (1 + 1e-9):
            return 0.0
        return sum(self._edge(f0, ratio, residual, way) for way in (-1, 1))

    def _edge(self, f0: float, ratio: float, residual: float, way: int) -> float:
        """How far one may go from a frequency, as a part of it."""
        steps = np.linspace(0, 1 if way < 0 else 3, 20001)[1:]
        left = self._along(f0, ratio, way, steps)
        beyond = np.flatnonzero(left > residual * (1 + 1e-9))
        if not len(beyond):
            return float(steps[-1])
        low, high = (0.0 if beyond[0] == 0 else float(steps[beyond[0] - 1])), float(steps[beyond[0]])
        for _ in range(60):
            middle = (low + high) / 2
            if self._along(f0, ratio, way, np.array([middle]))[0] > residual * (1 + 1e-12):
                high = middle
            else:
                low = middle
        return low

    def _along(self, f0: float, ratio: float, way: int, steps: Array) -> Array:
        return self.residual(f0 * (1 + way * steps), ratio)

    def plot(self, frequencies: Any = None) -> Figure:
        """Residual vibration over frequency: the sensitivity curve."""
        from flexarm.plotting.frequency import plot_sensitivity

        return plot_sensitivity({self.kind: self}, frequencies)


def shaper(
    kind: Literal["zv", "zvd", "zvdd", "ei", "two-hump-ei", "three-hump-ei"],
    robot: Robot | System | None = None,
    *,
    frequency: float | Sequence[float] | None = None,
    ratio: float | Sequence[float] = 0.0,
    modes: int = 1,
    q: Vector = None,
    joints: Literal["locked", "free"] | Mapping[str, Any] = "locked",
    residual: float = VIBRATION,
) -> Shaper:
    """A shaper for one or several modes: `shaper(command)` is the command to give instead.

    kind: zv, zvd and zvdd leave no vibration, ever less sensitive to the frequency; ei, two-hump-ei and three-hump-ei
    leave some, and are the least sensitive.
    frequency, ratio: natural frequencies (Hz) and damping ratios; a ratio holds for all, or one for each.
    robot: instead of these, its lowest `modes` at the posture q, with `joints` as in `fa.modes` (locked: a motion of
    driven joints; free: torques). residual: what EI shapers allow to remain, as a part of the unshaped vibration.

    >>> shaper("zvd", frequency=2.0).delays
    (0.0, 0.25, 0.5)
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"kind = {shown(kind)}: there is no such shaper{suggestion(kind, list(KINDS))}")
    residual = real_number("residual", residual, above=0)
    if residual >= 1:
        raise ValueError(f"residual = {residual:g}: must be below 1, a part of the unshaped vibration")
    if (robot is None) == (frequency is None):
        raise ValueError("give a robot, or frequency=... (Hz): one of the two")
    unread = {"modes": modes != 1, "q": q is not None, "joints": joints != "locked"} if robot is None else {}
    for name in [name for name, said in unread.items() if said]:
        raise ValueError(f"{name}: is of a robot's modes, and frequency tells what vibrates; give one of the two")
    if robot is not None and np.any(np.asarray(ratio) != 0.0):
        raise ValueError(f"ratio = {shown(ratio)}: the robot's modes have theirs; give it with frequency=... (Hz)")
    pairs = _given(frequency, ratio) if robot is None else _of_robot(robot, modes, q, joints)
    amplitudes, delays = np.ones(1), np.zeros(1)
    for f, zeta in pairs:
        own, after = _impulses(kind, f, zeta, residual)
        amplitudes, delays = np.outer(amplitudes, own).ravel(), np.add.outer(delays, after).ravel()
    order = np.argsort(delays, kind="stable")
    amplitudes, delays = _merged(amplitudes[order], delays[order])
    frequencies, ratios = zip(*pairs)
    return Shaper(kind, frequencies, ratios, tuple(amplitudes.tolist()), tuple(delays.tolist()))


def _given(frequency: Any, ratio: Any) -> list[tuple[float, float]]:
    frequencies = [frequency] if np.ndim(frequency) == 0 else list(frequency)
    ratios = [ratio] * len(frequencies) if np.ndim(ratio) == 0 else list(ratio)
    if not frequencies:
        raise ValueError(f"frequency = {shown(frequency)}: must be one or more frequencies (Hz)")
    if len(ratios) != len(frequencies):
        raise ValueError(f"ratio: {len(ratios)} of them for {len(frequencies)} frequencies; give one for each, or one")
    found = [
        (real_number("frequency", f, "Hz", above=0), real_number("ratio", zeta, least=0))
        for f, zeta in zip(frequencies, ratios)
    ]
    for f, zeta in found:
        if zeta >= 1:
            raise ValueError(f"ratio = {zeta:g} (at {f:g} Hz): must be below 1; what is over-damped does not vibrate")
    return found


def _of_robot(robot: Robot | System, count: int, q: Vector, joints: Any) -> list[tuple[float, float]]:
    count = whole_number("modes", count, least=1)
    found = modes_of(robot, q=q, joints=joints)
    pairs = [
        (float(f), float(zeta))
        for f, zeta, kind in zip(found.frequencies, found.damping_ratios, found.kinds)
        if kind != "rigid body" and f > 0
    ]
    if len(pairs) < count:
        raise ValueError(f"modes = {count}: the robot has {len(pairs)} modes that vibrate at this posture")
    for f, zeta in pairs[:count]:
        if zeta >= 1:
            raise ValueError(f"the mode at {f:g} Hz is over-damped (ratio {zeta:.3g}): it does not vibrate")
    return pairs[:count]


def _impulses(kind: str, f: float, zeta: float, residual: float) -> tuple[Array, Array]:
    """Amplitudes and delays for one mode: half a damped period apart, each as much smaller as the vibration is then."""
    plain = np.array(KINDS[kind](residual))
    root = np.sqrt(1 - zeta**2)
    decay = np.exp(-zeta * np.pi / root * np.arange(len(plain)))
    return plain * decay / (plain * decay).sum(), np.arange(len(plain)) / (2 * f * root)


def _merged(amplitudes: Array, delays: Array) -> tuple[Array, Array]:
    """Impulses at one time are one."""
    fresh = np.append(True, np.diff(delays) > 1e-12 * max(delays[-1], 1e-300))
    return np.add.reduceat(amplitudes, np.flatnonzero(fresh)), delays[fresh]
