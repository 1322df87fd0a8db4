"""Signals of a run over all time: Fourier integrals that go on after its end with the free motions that it ends in."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.analysis.decays import motions
from flexarm.analysis.recorded import Recorded, read
from flexarm.foundation.numbers import Array
from flexarm.mechanics.reach import ValidityWarning

if TYPE_CHECKING:
    from flexarm.motion.run import Run

Complex = np.ndarray[Any, np.dtype[np.complex128]]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(3)  # a piece of the run
TURNS = 64  # frequencies that are one apart, after which rounding in their waves is cut off
TAIL = 0.1  # of the run, its end, unless the input has ended before: what it does there goes on
SHORT = 0.02  # of the run: a shorter time after the input is none
ENDED = 1e-9  # of the largest input
FREE = 21  # motions in it at the most
GOES_ON = 1e-3  # of what it was: an end that moves more, and is no sum of free motions, is told
KNOWN, SURE = 1e-3, 1e-7  # of the end's motion, that free motions may miss: once the input has ended, and before
LEAST, MOST = 60, 600  # samples of the end


class AllTime:
    """Two signals over all time: pieces of a run between which inputs may jump, and what goes on after its end."""

    def __init__(
        self, run: Run, first: float, last: float, step: float, names: tuple[str, str], rest: tuple[float, float]
    ) -> None:
        even = np.linspace(first, last, max(round((last - first) / step), 2) + 1)
        ends = np.unique(np.concatenate([even, run.jumps[(run.jumps > first) & (run.jumps < last)]]))
        lengths, self.breaks = np.diff(ends), ends
        self.first, self.last = first, last
        self.times = ((ends[:-1] + ends[1:])[:, None] / 2 + lengths[:, None] / 2 * NODES).ravel()
        self.weights = (lengths[:, None] / 2 * WEIGHTS).ravel()
        found = self._read(run, self.times, names, rest)
        self.values, self.units = [each.values for each in found], [each.unit for each in found]
        begin, self.bound = self._end_of_input()
        begin = max(begin, last - MOST * step)
        tail = np.linspace(begin, last, max(LEAST, round((last - begin) / step)) + 1)[:-1]
        self.tails = [self._tail(each) for each in self._read(run, tail, names, rest)]

    def _end_of_input(self) -> tuple[float, float]:
        """From when on motions are free, or may be, and what they may miss of the signals then."""
        acting = self.times[np.abs(self.values[0]) > ENDED * np.abs(self.values[0]).max()]
        ended, whole = float(acting[-1]) if len(acting) else self.first, self.last - self.first
        later = [each for each in self.breaks if each > ended]
        free = bool(later) and self.last - later[0] > SHORT * whole
        return (later[0], KNOWN) if free else (self.last - TAIL * whole, SURE)

    @staticmethod
    def _read(run: Run, times: Array, names: tuple[str, str], rest: tuple[float, float]) -> list[Recorded]:
        """Against what they are at rest."""
        at = run.at(np.clip(times, 0, float(run.array("time")[-1])))
        found = [read(at, name, times) for name in names]
        return [replace(each, values=each.values - still) for each, still in zip(found, rest)]

    def _tail(self, samples: Recorded) -> tuple[Any, Any, float]:
        """Rates and sizes, at the end, of the motions that go on; and the share of the end that they miss."""
        nothing = np.zeros(0, dtype=complex)
        size = float(np.abs(samples.values).max())
        if size == 0:
            return nothing, nothing, 0.0
        rates, parts, _ = motions(samples, FREE)
        s = samples.times - samples.times[0]
        missed = np.abs(samples.values - (np.exp(np.multiply.outer(s, rates)) @ parts).real).max() / size
        if missed > self.bound:
            return nothing, nothing, 1.0
        parts = parts * np.exp(rates * (self.last - samples.times[0]))
        return np.minimum(rates.real, 0) + 1j * rates.imag, parts, float(missed)

    def transforms(self, f: Array) -> tuple[Complex, Complex]:
        """Fourier integrals of both at frequencies (Hz)."""
        out = np.zeros((2, len(f)), dtype=complex)
        weighted, wave = np.stack([values * self.weights for values in self.values]), np.ones(0)
        t = self.times - self.first
        even = len(f) > 2 and np.ptp(np.diff(f)) < 1e-9 * f[-1]
        turn = np.exp(-2j * np.pi * (f[1] - f[0]) * t) if even else None
        for k, each in enumerate(f):
            wave = wave * turn if turn is not None and k % TURNS else np.exp(-2j * np.pi * each * t)
            out[:, k] = weighted @ wave
        s = 2j * np.pi * f
        for k, (rates, parts, _) in enumerate(self.tails):
            beyond = (parts / (s[:, None] - rates)).sum(axis=1) if len(rates) else 0.0
            out[k] += beyond * np.exp(-s * (self.last - self.first))
        return out[0], out[1]

    def warn_of_end(self, output: str) -> None:
        """An end at which it moves, and is not understood, blurs the response."""
        late = self.times > self.last - 0.02 * (self.last - self.first)
        for values, (_, _, missed) in zip(self.values, self.tails):
            left = float(np.abs(values[late]).max() / max(np.abs(values).max(), np.finfo(float).tiny))
            if missed * left > GOES_ON:
                warnings.warn(
                    f"'{output}' still moves at the end ({left:.1%} of its largest), and not in free motions alone: "
                    "the response is blurred; let the run go on for some periods after the input has ended",
                    ValidityWarning,
                    stacklevel=4,
                )
                return
