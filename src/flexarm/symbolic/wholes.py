"""Links that are one piece, or two where a joint grips them, by the model of how they deform."""

from __future__ import annotations

from flexarm.symbolic.beams import Beam
from flexarm.symbolic.exact_part import ExactPart
from flexarm.symbolic.parts import Part
from flexarm.symbolic.pieces import Damped, Piece
from flexarm.symbolic.shortened_part import ShortenedPart

KINDS = {"none": Part, "shortening": ShortenedPart, "exact": ExactPart}


def whole(beam: Beam, damped: Damped) -> list[Piece]:
    """A link in one piece, or the two parts on either side of the joint that grips it."""
    kind: type[Part] = KINDS[beam.stiffening]
    if not beam.gripped:
        return [kind(beam, beam.front, 1, None, damped).piece()]
    assert beam.d is not None
    column, d = beam.d
    out = [kind(beam, beam.front, d / beam.l, (column, 1), damped).piece()]
    if beam.rear is not None:
        kind = KINDS[beam.rear.integrals.stiffening]
        out.append(kind(beam, beam.rear, (beam.l - d) / beam.l, (column, -1), damped).piece())
    return out
