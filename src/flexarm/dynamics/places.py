"""Places on robots: sections of links, and frames fixed to them."""

from __future__ import annotations

import casadi as ca

from flexarm.dynamics.bodies import Body, SymbolicBody
from flexarm.dynamics.parameters import Parameters, SymbolsUnder
from flexarm.dynamics.spatial_algebra import Jet, Mount, Shift, Step
from flexarm.foundation.dataclass import dataclass
from flexarm.robot import Frame


@dataclass(frozen=True)
class Place:
    """Section of a link at a distance from its root (m), or a frame fixed to that section.

    Parameters
    ----------
    link : int
        Index of the link.
    x : float
        Distance of the section from the link's root (m).
    frame : Frame, optional
        Frame whose pose is meant; without it, that of the section.
    """

    link: int
    x: float
    frame: Frame | None = None


def add_place(parameters: Parameters, path: str, body: Body, place: Place, anywhere: bool = False) -> None:
    """Add the parameters of a place; `anywhere`: those that are not zero at some other place as well."""
    body.model.add_place(parameters, path, body, place.x, anywhere)
    if (frame := place.frame) is None:
        return
    if anywhere:
        parameters.add(f"{path}.frame.position", "m", frame.position)
        parameters.add(f"{path}.frame.rotation", "1", frame.matrix)
    else:
        parameters.add_given(f"{path}.frame.position", "m", frame.position)
        parameters.add_directions(f"{path}.frame.rotation", frame.matrix)


def steps_to_place(body: SymbolicBody, there: SymbolsUnder, own: Jet) -> list[Step]:
    """Return the steps from the root frame of a body to a place on it."""
    steps = body.model.place(body, there, own)
    if "frame.position" not in there:
        return steps
    shift = Shift(ca.densify(there["frame.position"]), ca.SX.zeros(3), ca.SX.zeros(3))
    return [*steps, shift, Mount(there["frame.rotation"])]


def tip_symbols(body: SymbolicBody) -> SymbolsUnder:
    """Return the symbols of the robot's tip, which is a frame on a body, or the body's own tip."""
    own = body.parameters
    return own.under("tip_frame" if "tip_frame.frame.position" in own else "tip")
