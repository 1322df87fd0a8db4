"""Input shaping: commands as sums of delayed copies whose vibrations cancel.

Names and amplitudes are those of Singer and Seering (ZV, ZVD) and of Singhose (EI and its humps). With damping the
impulses decay as the vibration does, which is exact at the modelled frequency and approximate around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flexarm.analysis.modes import modes as modes_of
from flexarm.analysis.state_space import StateSpace
from flexarm.dynamics.accuracy.validity import ValidityWarning
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.system import System
from flexarm.foundation.messages import shown, suggestion, warn
from flexarm.foundation.validation import Array, real_array, real_number, whole_number
from flexarm.profiles.derived import copied
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile
from flexarm.robot import Robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT_RESIDUAL = 0.05  # residual vibration of EI shapers, relative to the unshaped vibration


MAX_RESONANT_RATIO = 2**-0.5  # damping ratio from which a pair of poles has no resonance
STABLE_SHARE = 1e-9  # of the fastest pole: real and imaginary parts that are smaller are rounding
KINDS = ("zv", "zvd", "zvdd", "ei", "two-hump-ei", "three-hump-ei")


def _amplitudes(kind: str, V: float) -> list[float]:
    """Return the amplitudes of impulses half a period apart, without damping; V is the allowed residual vibration."""
    X = (V**2 * (np.sqrt(1 - V**2) + 1)) ** (1 / 3)
    two = (3 * X**2 + 2 * X + 3 * V**2) / (16 * X)
    three, next_three = (1 + 3 * V + 2 * np.sqrt(2 * (V**2 + V))) / 16, (1 - V) / 4
    return {
        "zv": [1 / 2, 1 / 2],
        "zvd": [1 / 4, 1 / 2, 1 / 4],
        "zvdd": [1 / 8, 3 / 8, 3 / 8, 1 / 8],
        "ei": [(1 + V) / 4, (1 - V) / 2, (1 + V) / 4],
        "two-hump-ei": [two, 1 / 2 - two, 1 / 2 - two, two],
        "three-hump-ei": [three, next_three, 1 - 2 * (three + next_three), next_three, three],
    }[kind]


@dataclass(frozen=True)
class Shaper:
    """Input shaper: a sum of delayed and scaled copies of a command. Call it with a profile.

    Parameters
    ----------
    kind : str
        Kind of the shaper, such as "zv".
    frequencies : tuple of float
        Natural frequencies (Hz) for which it was designed.
    ratios : tuple of float
        Damping ratios for which it was designed.
    amplitudes : tuple of float
        Amplitudes of the impulses; their sum is one.
    delays : tuple of float
        Delays of the impulses (s), ascending from zero.

    See Also
    --------
    flexarm.shaper : Design a shaper.

    Examples
    --------
    >>> from flexarm.profiles.standard import step
    >>> zv = Shaper("zv", (2.0,), (0.0,), (0.5, 0.5), (0.0, 0.25))
    >>> shaped = zv(step(0.0, 1.0))
    >>> float(shaped(0.1)), float(shaped(0.3))
    (0.5, 1.0)
    >>> float(zv.residual(2.0).round(12))
    0.0
    """

    kind: str
    frequencies: tuple[float, ...]
    ratios: tuple[float, ...]
    amplitudes: tuple[float, ...]
    delays: tuple[float, ...]

    @property
    def duration(self) -> float:
        """Time by which a command becomes longer (s)."""
        return self.delays[-1]

    def __call__(self, command: Any) -> Profile:
        """Return the shaped command.

        Parameters
        ----------
        command : Profile, float, array_like or callable
            Profile, number, table or function of t. Before t = 0 a profile has its own values (a cycloid its start), a
            function its value at t = 0.

        Returns
        -------
        Profile
            Sum of the delayed and scaled copies.

        Warns
        -----
        ValidityWarning
            If the shaper takes longer than the move.
        """
        if isinstance(command, Shaper):
            raise TypeError("a shaper shapes a command; shapers together are fa.shaper(kind, frequency=[f1, f2])")
        given = profile(command, "command")
        breaks = [each for each in given.breaks if np.isfinite(each)]
        length = breaks[-1] - breaks[0] if breaks else 0.0  # steps have no duration
        if 0 < length < self.duration:
            warn(
                f"the {self.kind} shaper delays by up to {self.duration:.3g} s, more than {given!r} takes "
                f"({length:.3g} s): the move becomes more than twice as long; take a shaper of fewer impulses, or a "
                "slower move",
                ValidityWarning,
            )
        return copied(given, self.amplitudes, self.delays, f"{self.kind}-shaped {given.name}")

    def residual(self, frequency: Any, ratio: float = 0.0) -> Array:
        """Return the residual vibration of a mode, relative to that after the unshaped command.

        Parameters
        ----------
        frequency : float or array_like
            Natural frequency of the mode (Hz).
        ratio : float, optional
            Damping ratio of the mode.

        Returns
        -------
        ndarray
            Residual vibration, of the shape of `frequency`.
        """
        f = np.atleast_1d(real_array("frequency", frequency))
        if f.ndim > 1:
            raise ValueError(f"frequency has shape {f.shape}: must be one frequency (Hz), or a list of them")
        _require_vibration(real_number("ratio", ratio, least=0))
        omega = 2 * np.pi * f[:, None]
        A, t = np.array(self.amplitudes), np.array(self.delays)
        turned = np.exp((ratio * omega + 1j * omega * np.sqrt(1 - ratio**2)) * (t - t[-1]))
        out = np.abs(turned @ A)
        return np.asarray(out if np.ndim(frequency) else out[0])

    def insensitivity(self, residual: float = DEFAULT_RESIDUAL, mode: int = 0) -> float:
        """Return the relative width of the frequency band around a mode within which the residual vibration is small.

        Parameters
        ----------
        residual : float, optional
            Largest allowed residual vibration, relative to the unshaped vibration.
        mode : int, optional
            Number of the mode, counted from 0, in the order of `frequencies`.

        Returns
        -------
        float
            Width of the band, relative to the mode's frequency.
        """
        residual = real_number("residual", residual, above=0)
        if whole_number("mode", mode, least=0) >= len(self.frequencies):
            raise ValueError(f"mode = {mode}: the shaper is for {len(self.frequencies)} of them, 0 is the first")
        f0, ratio = self.frequencies[mode], self.ratios[mode]
        if self.residual(f0, ratio) > residual * (1 + 1e-9):
            return 0.0
        return sum(self._band_edge(f0, ratio, residual, way) for way in (-1, 1))

    def _band_edge(self, f0: float, ratio: float, residual: float, way: int) -> float:
        """Return the relative distance from a frequency to the edge of the band, downwards or upwards (`way`)."""
        steps = np.linspace(0, 1 if way < 0 else 3, 20001)
        beyond = self.residual(f0 * (1 + way * steps), ratio) > residual * (1 + 1e-9)
        if not beyond[1:].any():
            return float(steps[-1])
        first = 1 + int(beyond[1:].argmax())
        low, high = float(steps[first - 1]), float(steps[first])
        for _ in range(60):
            middle = (low + high) / 2
            if self.residual(f0 * (1 + way * middle), ratio) > residual * (1 + 1e-12):
                high = middle
            else:
                low = middle
        return low

    def plot(self, frequencies: Any = None) -> Figure:
        """Plot the residual vibration over frequency (the sensitivity curve).

        Parameters
        ----------
        frequencies : array_like, optional
            Frequencies (Hz); by default a band around the modes.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from flexarm.plotting.frequency import plot_sensitivity

        return plot_sensitivity({self.kind: self}, frequencies)


def shaper(
    kind: Literal["zv", "zvd", "zvdd", "ei", "two-hump-ei", "three-hump-ei"],
    robot: Robot | System | StateSpace | None = None,
    *,
    frequency: float | Sequence[float] | None = None,
    ratio: float | Sequence[float] = 0.0,
    modes: int = 1,
    q: Vector = None,
    joints: Literal["locked", "free"] | Mapping[str, Any] = "locked",
    residual: float = DEFAULT_RESIDUAL,
) -> Shaper:
    """Design an input shaper for one or several modes.

    Parameters
    ----------
    kind : {"zv", "zvd", "zvdd", "ei", "two-hump-ei", "three-hump-ei"}
        "zv", "zvd" and "zvdd" leave no vibration and are increasingly insensitive to the frequency; the "ei" kinds
        leave `residual` and are the least sensitive.
    robot : Robot, System or StateSpace, optional
        Robot whose lowest modes are shaped, instead of `frequency` and `ratio`; or a linear model, such as that of a
        closed loop, `fa.linearize(robot, q, torque=feedback)`, of which the slowest resonances are shaped: pairs of
        poles with a damping ratio below 0.71.
    frequency : float or sequence of float, optional
        Natural frequencies (Hz).
    ratio : float or sequence of float, optional
        Damping ratios, one for all or one for each frequency.
    modes : int, optional
        Number of modes.
    q : dict of str to float or array_like, shape (nq,), optional
        Posture of the robot; zero by default.
    joints : {"locked", "free"} or dict of str to {"locked", "free"}, optional
        State of the joints, as in `modes`: "locked" for a command of joint motion, "free" for a command of torques.
    residual : float, optional
        Residual vibration that the "ei" kinds allow, relative to the unshaped vibration.

    Returns
    -------
    Shaper
        Shaper; `shaper(command)` is the shaped command.

    Raises
    ------
    ValueError
        If there is no such kind, both or neither of `robot` and `frequency` are given, or a mode does not vibrate.

    See Also
    --------
    modes : Modes of a robot.
    linearize : Linear model of a robot, also under a control law.

    References
    ----------
    .. [1] N. C. Singer and W. P. Seering, "Preshaping command inputs to reduce system vibration", J. Dyn. Sys., Meas.,
           Control 112, 1990.

    Examples
    --------
    >>> shaper("zvd", frequency=2.0).delays
    (0.0, 0.25, 0.5)
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"kind = {shown(kind)}: there is no such shaper{suggestion(kind, KINDS)}")
    residual = real_number("residual", residual, above=0)
    if residual >= 1:
        raise ValueError(f"residual = {residual:g}: must be below 1, a part of the unshaped vibration")
    if (robot is None) == (frequency is None):
        raise ValueError("give a robot, or frequency=... (Hz): one of the two")
    unread = {"modes": modes != 1 and robot is None, "q": q is not None, "joints": joints != "locked"}
    other = "frequency" if robot is None else "a linear model" if isinstance(robot, StateSpace) else ""
    for name in [name for name, is_given in unread.items() if is_given and other]:
        raise ValueError(
            f"{name}: applies to a robot's modes, but {other} is given instead of a robot; give one of the two"
        )
    if robot is not None and np.any(np.asarray(ratio) != 0.0):
        raise ValueError(f"ratio = {shown(ratio)}: the robot's modes have theirs; give it with frequency=... (Hz)")
    if robot is None:
        pairs = _check_modes(frequency, ratio)
    elif isinstance(robot, StateSpace):
        pairs = _resonances(robot, modes)
    else:
        pairs = _robot_modes(robot, modes, q, joints)
    amplitudes, delays = np.ones(1), np.zeros(1)
    for f, zeta in pairs:
        own, root = np.array(_amplitudes(kind, residual)), np.sqrt(1 - zeta**2)
        number = np.arange(len(own))  # impulses half a damped period apart decay with the vibration
        own = own * np.exp(-zeta * np.pi / root * number)
        amplitudes = np.outer(amplitudes, own / own.sum()).ravel()
        delays = np.add.outer(delays, number / (2 * f * root)).ravel()
    order = np.argsort(delays, kind="stable")
    amplitudes, delays = amplitudes[order], delays[order]
    fresh = np.append(True, np.diff(delays) > 1e-12 * max(delays[-1], 1e-300))
    amplitudes, delays = np.add.reduceat(amplitudes, np.flatnonzero(fresh)), delays[fresh]  # merged at equal times
    frequencies, ratios = zip(*pairs)
    return Shaper(kind, frequencies, ratios, tuple(amplitudes.tolist()), tuple(delays.tolist()))


def _check_modes(frequency: Any, ratio: Any) -> list[tuple[float, float]]:
    frequencies = [frequency] if np.ndim(frequency) == 0 else list(frequency)
    ratios = [ratio] * len(frequencies) if np.ndim(ratio) == 0 else list(ratio)
    if not frequencies:
        raise ValueError(f"frequency = {shown(frequency)}: must be one or more frequencies (Hz)")
    if len(ratios) != len(frequencies):
        raise ValueError(f"ratio: {len(ratios)} of them for {len(frequencies)} frequencies; give one for each, or one")
    frequencies = [real_number("frequency", f, "Hz", above=0) for f in frequencies]
    ratios = [real_number("ratio", zeta, least=0) for zeta in ratios]
    for f, zeta in zip(frequencies, ratios):
        _require_vibration(zeta, f" (at {f:g} Hz)")
    return list(zip(frequencies, ratios))


def _require_vibration(ratio: float, where: str = "") -> None:
    if ratio >= 1:
        raise ValueError(f"ratio = {ratio:g}{where}: must be below 1; what is over-damped does not vibrate")


def _resonances(lin: StateSpace, count: int) -> list[tuple[float, float]]:
    """Return frequency (Hz) and damping ratio of the slowest resonances of a linear model in continuous time."""
    count = whole_number("modes", count, least=1)
    if lin.dt is not None:
        raise ValueError("robot: is a sampled model; give the one in continuous time")
    sizes = np.abs(lin.poles)
    if (growing := lin.poles.real > STABLE_SHARE * sizes.max(initial=0.0)).any():
        raise ValueError(f"robot: the linear model is unstable, with a pole at {lin.poles[growing][0]:.3g} rad/s")
    pairs = [
        (float(size / (2 * np.pi)), max(float(-pole.real / size), 0.0))
        for pole, size in zip(lin.poles, sizes)
        if pole.imag > STABLE_SHARE * sizes.max() and -pole.real < MAX_RESONANT_RATIO * size
    ]
    if len(pairs) < count:
        raise ValueError(f"modes = {count}: the linear model has {len(pairs)} resonances")
    return sorted(pairs)[:count]


def _robot_modes(robot: Robot | System, count: int, q: Vector, joints: Any) -> list[tuple[float, float]]:
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
