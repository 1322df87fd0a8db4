"""The members of a batch, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

from flexarm.foundation.numbers import Array

ROUGH = 0.01  # how well `sizes` and `turns` are known: largest values, which have kinks where fields vary


@dataclass(frozen=True)
class Crew:
    """The members of a batch: arrays with a row for each.

    numbers: what the functions of the plant take; sizes: what is large for each coordinate.
    q, v, law_states: where a run begins.
    allowed, solved: of errors (m, J), see `Tolerance`.
    push: a torque that turns the robot as a whole by about 1 rad/s2.
    lower, upper: limits of the joints `limited`; turns: what each coordinate alone turns nodes of exact links by;
    slideways: lengths along which the joints `sliding` go. far: deflections beyond reason, in sizes.
    slowest: the logarithm of the frequency of the slowest vibration (rad/s).
    """

    numbers: Array
    sizes: Array
    q: Array
    v: Array
    law_states: Array
    allowed: Array
    solved: Array
    push: Array
    lower: Array
    upper: Array
    turns: Array
    slideways: Array
    limited: list[int]
    sliding: list[int]
    far: Array
    slowest: Array

    def __len__(self) -> int:
        return len(self.numbers)
