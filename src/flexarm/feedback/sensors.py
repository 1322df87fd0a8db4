"""Sensors: resolution, noise, bias and delay of the signals of digital laws."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from flexarm.dynamics.accuracy.validity import ValidityWarning
from flexarm.dynamics.quantity_names import derivative
from flexarm.feedback.measurements import Instant, Reader
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import shown, warn
from flexarm.foundation.named_arrays import UnknownName
from flexarm.foundation.validation import Array, real_number

PERIOD_TOLERANCE = 1e-6  # of a period: delays are whole numbers of periods but for rounding


@dataclass(frozen=True)
class Sensor:
    """Sensor of a signal, with resolution, noise, bias and delay.

    Sensors are given by signal name, `fa.Feedback(sensors={"fore.q": fa.Sensor(...)})`. All values are in the unit of
    the signal.

    Parameters
    ----------
    resolution : float, optional
        Quantization step, for example 2 pi / 4096 rad of an encoder with 4096 counts per turn (`Sensor.encoder`).
    noise : float, optional
        Standard deviation of white noise that is added to each sample.
    bias : float, optional
        Constant offset.
    delay : float, optional
        Age of the reading (s), a whole number of the law's periods.
    seed : int, optional
        Seed of the noise. Runs with the same seed are equal.

    Notes
    -----
    A rate without a sensor of its own is the difference of the last two readings divided by the period, and zero at the
    first sample.

    Examples
    --------
    >>> Sensor.encoder(4).resolution
    1.5707963267948966
    """

    resolution: float = 0.0
    noise: float = 0.0
    bias: float = 0.0
    delay: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("resolution", "noise", "delay"):
            real_number(f"Sensor: {name}", getattr(self, name), least=0)
        real_number("Sensor: bias", self.bias)
        if isinstance(self.seed, bool) or not isinstance(self.seed, (int, np.integer)) or self.seed < 0:
            raise ValueError(f"Sensor: seed = {shown(self.seed)}: must be a whole number, 0 or more")

    @staticmethod
    def encoder(counts: int, delay: float = 0.0) -> Sensor:
        """Return the sensor of an angle with a number of counts per turn.

        Parameters
        ----------
        counts : int
            Counts per turn.
        delay : float, optional
            Age of the reading (s).

        Returns
        -------
        Sensor
        """
        return Sensor(resolution=2 * np.pi / real_number("Sensor.encoder: counts", counts, above=0), delay=delay)


def warn_of_unread_sensors(names: Sequence[str]) -> None:
    """An encoder at a joint whose law reads the motor behind the spring changes nothing."""
    if names:
        warn(
            f"sensors: the law has never looked at {', '.join(map(repr, names))}: what it reads has no such sensor",
            ValidityWarning,
        )


def checked_sensors(given: object) -> dict[str, Sensor]:
    """Validate and copy the sensors of a law."""
    if not isinstance(given, Mapping) or not given:
        raise TypeError(
            f"Feedback: sensors = {shown(given)}: must be a mapping by signal, {{'fore.q': fa.Sensor.encoder(4096)}}"
        )
    for name, each in given.items():
        if not isinstance(name, str) or not isinstance(each, Sensor):
            raise TypeError(f"Feedback: sensors[{shown(name)}] = {shown(each)}: must be a fa.Sensor, by signal name")
    return dict(given)


class Senses:
    """The sensors of one run: each is read once a period, whether the law looks at it or not."""

    def __init__(self, sensors: Mapping[str, Sensor], reader: Reader, rate: float) -> None:
        self._reader, self._rate = reader, rate
        self.signals: dict[str, tuple[tuple[object, ...], int]] = {}
        for name in sensors:
            try:
                signal = reader.require(name).identity
            except UnknownName as error:
                raise KeyError(f"Feedback: sensors: {error.args[0]}") from None
            if other := next((each for each, known in self.signals.items() if known == signal), None):
                raise ValueError(f"Feedback: sensors: '{name}' is the same signal as '{other}'; give one of them")
            self.signals[name] = signal
        self.channels = {name: SensorChannel(each, rate, name) for name, each in sensors.items()}

    def __call__(self, at: Instant) -> dict[Hashable, float]:
        """Readings at the next sample, with rates of those that have no sensor for them; by the names that users gave
        and by what they are, since a signal may have another name in a law."""
        found: dict[Hashable, float] = {}
        known = set(self.signals.values())
        for name, channel in self.channels.items():
            what, order = self.signals[name]
            found[name], change = channel(self._reader(name, at))
            found[what, order] = found[name]
            if (changes := (what, order + 1)) not in known:
                found[derivative(name)] = found[changes] = change * self._rate
        return found

    def unread(self, looked: set[Hashable]) -> list[str]:
        """Sensors at which a law has not looked: neither at what they show nor at its rate, by any name."""
        return [
            name
            for name, (what, order) in self.signals.items()
            if looked.isdisjoint((name, derivative(name), (what, order), (what, order + 1)))
        ]


class SensorChannel:
    """A sensor at work: its noise, and what it has measured but does not show yet."""

    def __init__(self, sensor: Sensor, rate: float, name: str) -> None:
        self.sensor, self._seed = sensor, [sensor.seed, *name.encode()]
        self._random = np.random.default_rng(self._seed)
        periods = sensor.delay * rate
        if abs(periods - round(periods)) > PERIOD_TOLERANCE * max(1.0, periods):
            raise ValueError(
                f"sensors['{name}']: delay = {sensor.delay:g} s: must be a whole number of the law's periods, "
                f"{1 / rate:g} s"
            )
        self.delay = round(periods)  # periods
        self._line: deque[float] = deque(maxlen=self.delay + 1)
        self._last: float | None = None

    def noise(self, samples: int) -> Array:
        """Return the noise of the first samples of a run."""
        if not self.sensor.noise:
            return np.zeros(samples)
        return self.sensor.noise * np.random.default_rng(self._seed).standard_normal(samples)

    def __call__(self, value: float) -> tuple[float, float]:
        """The reading, and by how much it differs from the one before."""
        sensor = self.sensor
        value = value + sensor.bias + (sensor.noise * self._random.standard_normal() if sensor.noise else 0.0)
        if sensor.resolution:
            value = sensor.resolution * round(value / sensor.resolution)
        self._line.append(value)
        reading = self._line[0]
        change = 0.0 if self._last is None else reading - self._last
        self._last = reading
        return reading, change
