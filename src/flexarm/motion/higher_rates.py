"""Third and fourth rates of profiles: a profile of the second one, whose own two rates they are."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import Array
from flexarm.motion.outlook import Outlook
from flexarm.motion.pieces import Opaque, Piece, Spline, looked
from flexarm.motion.profiles import Profile
from flexarm.motion.segments import Segment, Stretch, fit_segment
from flexarm.motion.shaped import Copies


@dataclass(frozen=True)
class SecondRate:
    """The second rate of a piece that has a formula; its rates come from CasADi."""

    of: Piece

    def value(self, t: Array, rate: int) -> Array:
        if rate == 0:
            return self.of.value(t, 2)
        return np.broadcast_to(self._rates[rate](t[None, :]).full()[0], t.shape)

    def expression(self, t: Any, rate: int) -> Any:
        return self._rates[rate](t)

    def look(self, begin: float, end: float, rate: int) -> tuple[Piece, Outlook]:
        """A wave and its rates are equally fast; so is, nearly, what is as smooth as a profile of this kind."""
        return self, looked(self.of, begin, end, 2)[1]

    def segment(self, stretch: Stretch, rate: int) -> Segment | None:
        return fit_segment(lambda t: self.value(t, rate), stretch)

    @cached_property
    def _rates(self) -> list[Any]:
        import casadi as ca

        t = ca.SX.sym("t")
        found = [ca.SX(self.of.expression(t, 2))]
        for _ in range(2):
            found.append(ca.jacobian(found[-1], t))
        return [ca.Function("rate", [t], [ca.densify(each)]) for each in found]


def second_rate(profile: Profile, where: str) -> Profile:
    """Of a profile whose pieces have four rates; `where` begins the sentence about one that has not."""
    for piece in profile.pieces:
        _require_smooth(piece, where, profile)
    return Profile(profile.starts, tuple(SecondRate(each) for each in profile.pieces), f"second rate of {profile.name}")


def _require_smooth(piece: Piece, where: str, profile: Profile) -> None:
    if isinstance(piece, Copies):
        for each in piece.copies:
            _require_smooth(each.piece, where, profile)
    if isinstance(piece, (Opaque, Spline)):
        why = "a function that can only be called" if isinstance(piece, Opaque) else "a cubic spline"
        raise ValueError(
            f"{where} = {profile.name}: {why} has no third and fourth rates; give a formula of t or a profile, such as "
            "fa.rest_to_rest(0, 1, 2)"
        )
