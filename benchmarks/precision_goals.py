"""Reduction of work compared with an earlier version: at the same tolerance, and at the same error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from precision_cases import Case

if TYPE_CHECKING:
    from precision import Point

SAME_ERROR = {"W1": {1e-4: 1.0, 2e-5: 1.3, 1e-6: 3.0}, "W3": {1e-3: 1.0}, "W4": {1e-3: 2.0}}  # m: times less
SAME_TOLERANCE = {"clamped": {1e-6: 20.0, 1e-4: 1.0}}  # rtol: times less, by default
BEFORE, NOW = "generalized-alpha", "auto"  # by default


def lines(case: Case, here: Sequence[Point], there: Sequence[Point]) -> Iterator[str]:
    for rtol, goal in SAME_TOLERANCE.get(case.name, {}).items():
        now, before = _at(here, NOW, rtol), _at(there, BEFORE, rtol)
        yield from _compared(f"rtol {rtol:.0e}", now, before, goal)
        if now is not None:
            allowed = rtol * case.length
            yield f"  its error is {now.error / allowed:.2g} of what is allowed"
    for error, goal in SAME_ERROR.get(case.name, {}).items():
        for name, cost in (("loop", lambda p: p.loop), ("work", lambda p: p.instructions)):
            now, before = _cheapest(here, error, cost), _cheapest(there, error, cost)
            yield from _compared(f"{1e3 * error:.3g} mm by {name}", now, before, goal)
        default = _cheapest([each for each in here if each.method == NOW], error, lambda p: p.loop)
        yield from _compared(f"{1e3 * error:.3g} mm by default", default, _cheapest(there, error), goal)


def _at(points: Sequence[Point], method: str, setting: float) -> Point | None:
    return next((each for each in points if (each.method, each.setting) == (method, setting)), None)


def _cheapest(
    points: Sequence[Point], error: float, cost: Callable[[Point], float] = lambda point: point.loop
) -> Point | None:
    return min((each for each in points if each.error <= error), key=cost, default=None)


def _compared(what: str, now: Point | None, before: Point | None, goal: float) -> Iterator[str]:
    if now is None or before is None:
        names = ("nothing" if each is None else each.method for each in (now, before))
        yield f"{what}: {' now, '.join(names)} before"
        return
    work, loop = before.instructions / now.instructions, before.loop / now.loop
    yield (
        f"{what}: {work:.3g} times less work, {loop:.3g} times less time ({goal:g} wanted): {now.method} "
        f"{now.setting:.0e}, {1e3 * now.loop:.3g} ms, {1e3 * now.error:.2g} mm; before {before.method} "
        f"{before.setting:.0e}, {1e3 * before.loop:.3g} ms, {1e3 * before.error:.2g} mm"
    )
