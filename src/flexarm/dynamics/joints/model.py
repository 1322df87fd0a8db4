"""Model of a joint that consists of elementary motions: rotations about axes and translations along them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca

from flexarm.dynamics.spatial_algebra import Jet, Shift, Step, Turn, constant_axis
from flexarm.robot.joints import TurnAbout

if TYPE_CHECKING:
    from flexarm.dynamics.bodies import Body, SymbolicBody
    from flexarm.dynamics.parameters import Parameters, SymbolsUnder
    from flexarm.robot.joints import Joint
    from flexarm.robot.joints.base import ElementaryMotion


class JointModel:
    """Model of a joint, without state: what differs from joint to joint is in the bodies.

    The place of the joint on its parent is `seat`; after the mount, `steps` lead to the link's root frame. The base
    class takes them from the joint's elementary motions.
    """

    # --- parameters of bodies ---

    def add_parameters(self, out: Parameters, path: str, where: str, joint: Joint) -> None:
        """Add the parameters of the motion beyond the mount, and facts that decide which steps there are."""
        motions = joint.elementary_motions
        names = {motion.field: motion.axis for motion in motions}  # motions along one axis share its parameters
        for name, axis in names.items():
            out.add_directions(f"{path}.{name}", axis)
        for name, motion in _ratios(motions).items():
            assert motion.ratio is not None
            out.add(f"{path}.{name}", _ratio_unit(joint, motion), motion.ratio)
        if motions:
            out.fact(where, "moves by", ", ".join(map(_kind_of_motion, motions)))

    def add_seat(self, out: Parameters, path: str, body: Body, above: Body) -> None:
        """Add the parameters of the joint's place on its parent."""
        assert body.hangs_at is not None
        above.model.add_place(out, f"{path}.place", above, body.hangs_at)

    # --- expressions of bodies with symbols ---

    def seat(self, body: SymbolicBody, carrier: SymbolicBody | None, above: Jet | None, own: Jet) -> list[Step]:
        """Return the steps from the root frame of the parent, or from the base (None), to the joint."""
        if carrier is None or above is None:
            return []
        return carrier.model.place(carrier, body.parameters.under("place"), above)

    def steps(self, body: SymbolicBody, own: Jet) -> list[Step]:
        """Return the steps from the mounted frame of the joint to the root frame of the link."""
        motions, parameters = body.link.joint.elementary_motions, body.parameters.under("joint")
        ratios = {id(motion): name for name, motion in _ratios(motions).items()}
        return [_step(motion, ratios.get(id(motion)), parameters, own) for motion in motions]


def _ratios(motions: tuple[ElementaryMotion, ...]) -> dict[str, ElementaryMotion]:
    """Return the motions with a ratio by the name of that parameter."""
    found = [motion for motion in motions if motion.ratio is not None]
    return {"ratio" if len(found) == 1 else f"ratios[{k}]": motion for k, motion in enumerate(found)}


def _ratio_unit(joint: Joint, motion: ElementaryMotion) -> str:
    given, moved = joint.freedoms[motion.freedom].unit, "rad" if isinstance(motion, TurnAbout) else "m"
    return "1" if given == moved else f"{moved}/{given}"


def _kind_of_motion(motion: ElementaryMotion) -> str:
    ratio = "" if motion.ratio is None else " with a ratio"
    return f"{type(motion).__name__} {motion.field} by freedom {motion.freedom}{ratio}"


def _step(motion: ElementaryMotion, ratio: str | None, parameters: SymbolsUnder, own: Jet) -> Step:
    coordinate, axis = own.of(motion.freedom), constant_axis(parameters[motion.field])
    if ratio is not None:
        coordinate = Jet(*(parameters[ratio] * part for part in coordinate.parts))
    if isinstance(motion, TurnAbout):
        return Turn(axis, coordinate.x, coordinate.dx, coordinate.ddx)
    return Shift(*(_along(axis, part) for part in coordinate.parts))


def _along(axis: Any, distance: Any) -> Any:
    return (ca.SX(ca.sparsify(ca.DM(axis))) if isinstance(axis, tuple) else axis) * distance
