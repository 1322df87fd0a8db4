"""Which shapes a link needs whose description leaves that open: `Flexible()`, `Flexible(up_to=50)`.

All from numbers of the description: what of its deformations the robot can excite, how slowly each of them vibrates
with what the link carries (Dunkerley's sum, at most a fifth below the first frequency), and how many modes there are
up to a bound (from the number of waves that fit into the link).
"""

from __future__ import annotations

from math import ceil, floor, isfinite, pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.robot.carried_inertia import LIGHTENED_COUNTS, CarriedBody, carried_bodies
from flexarm.robot.constraints import PointSupport
from flexarm.robot.flexibility import (
    FAMILIES,
    MAX_ELEMENTS,
    MAX_MODES,
    Basis,
    Elements,
    Flexible,
    Modes,
    Reduced,
    Splines,
)
from flexarm.robot.joints import Revolute, RidingJoint
from flexarm.robot.links import Link

if TYPE_CHECKING:
    from flexarm.robot.robot import Robot

BOUND_FACTOR = 10.0  # times the slowest first frequency of all links: unless given, the bound
STATIC_FACTOR = (
    10.0  # times the bound: what is slower has its static shape; the rest changes frequencies by (1 / 10)^2 / 2
)
EXTRA_SHAPES = 1  # shape beyond the modes up to the bound, for joints that let go and loads in other postures
EXPECTED_ERROR = 0.005  # relative error of frequencies up to the bound with these numbers (tests/robot/test_picking.py)
ELEMENT_ANGLE = 1.2  # of a wave's angle, what one cubic or quadratic element covers with a tenth of that error
LINEAR_ELEMENT_ANGLE = 0.3  # a linear one
DUNKERLEY_FACTORS = {
    1: 8 / pi**2,
    2: 12 / 12.3624,
}  # of Dunkerley's sum over a uniform link's own mass, by order: its first mode
MAX_WAVE_ANGLE = 1e5
JUMP_THRESHOLD = 0.3  # of a wave's own curvature or strain: a jump at a load inside the link that takes more shapes
STATION_COUNT = 64  # along a link, for its integrals

OUT_OF_PLANE = "nothing moves it out of its plane"
SLIDING_CAVEAT = (
    "frequencies may be some per cent off: where something slides along it, or holds it, curvature or shear jumps; see "
    "fa.convergence"
)
LOAD_CAVEAT = "how good they are is not known, for they carry another load than the link: see fa.convergence"


@dataclass(frozen=True)
class BasisSelection:
    """What was picked for a link.

    counts: by family; insufficient: what would take more, where there cannot be so many.
    first: about the first frequency of each family that counts (Hz); left_out: why others have no shapes.
    bound: up to which modes are insufficient (Hz), and whether it was given.
    caveat: why the error is not known; empty where shapes and loads are such as those by which it was measured.
    """

    counts: dict[str, int]
    insufficient: dict[str, str]
    first: dict[str, float]
    left_out: dict[str, str]
    bound: float
    given: bool
    caveat: str

    @property
    def error(self) -> float:
        """Expected relative error of frequencies up to the bound."""
        stiff = [self.first[name] for name in self.left_out if name in self.first]
        return max([EXPECTED_ERROR, *((self.bound / first) ** 2 / 2 for first in stiff)])

    def summary(self) -> str:
        """In a sentence."""
        below = f"modes below {self.bound:.4g} Hz" + (
            "" if self.given else f", {BOUND_FACTOR:g} times the slowest link's"
        )
        counts = ", ".join(f"{name} {count}" for name, count in self.counts.items())
        reasons = dict.fromkeys(self.left_out.values())
        without = [f"no {' or '.join(self._left_out_for(why))}: {why}" for why in reasons]
        return f"{counts} (picked: {'; '.join([below, *self._expected(), *without])})"

    def _expected(self) -> list[str]:
        """What to expect, as far as it is known."""
        if self.insufficient:
            return [f"{name} would take {more}" for name, more in self.insufficient.items()]
        return [self.caveat or f"expect frequencies to {100 * self.error:.2g} %"]

    def _left_out_for(self, reason: str) -> list[str]:
        return [name for name, why in self.left_out.items() if why == reason]


def select_bases(robot: Robot) -> dict[str, BasisSelection]:
    """What is picked, by link."""
    excited = _excited(robot)
    open_ones = [index for index, link in enumerate(robot.links) if link.flexible is not None and link.flexible.open]
    loads = carried_bodies(robot) if open_ones else []
    first = {
        index: {name: _first(robot.links[index], name, loads[index]) for name in excited[index]} for index in open_ones
    }
    slowest = min((each for of_link in first.values() for each in of_link.values()), default=0.0)
    slid_on = _slid_on(robot)
    return {
        robot.links[index].name: _pick(
            robot.links[index], first[index], loads[index], slowest, SLIDING_CAVEAT if index in slid_on else ""
        )
        for index in open_ones
    }


def _slid_on(robot: Robot) -> set[int]:
    """Links at whose joints, supports and mouths, which move along them, shear or curvature jumps."""
    names = [link.name for link in robot.links]
    found = {parent for link, parent in zip(robot.links, robot.parents) if isinstance(link.joint, RidingJoint)}
    supports = [each for each in robot.every_constraint if isinstance(each, PointSupport)]
    found |= {names.index(each) for support in supports for each in (support.link, support.on) if each in names}
    return {index for index in found if index is not None}


def with_counts(flexible: Flexible, counts: dict[str, int]) -> dict[str, Any]:
    """The same deformations with numbers, as plain data: some may not go together."""
    return {**dict(flexible.given), **counts, "up_to": None}


def _pick(
    link: Link, first: dict[str, float], loads: tuple[CarriedBody, ...], slowest: float, known_caveat: str = ""
) -> BasisSelection:
    assert link.flexible is not None
    given = link.flexible.up_to
    bound = BOUND_FACTOR * slowest if given is None else given
    left_out = {name: OUT_OF_PLANE for name in FAMILIES if name not in first}
    counts: dict[str, int] = {}
    insufficient: dict[str, str] = {}
    for name, frequency in sorted(first.items(), key=lambda each: each[1]):
        if frequency > STATIC_FACTOR * bound and not _needed(link.flexible, name, counts):
            left_out[name] = f"its first mode is at {frequency:.3g} Hz"
        else:
            count = _count(link, name, bound, frequency <= bound, loads)
            most, why = _most(link.flexible.basis, name)
            kept = _kept(link.flexible.basis)
            counts[name] = min(count, most) if kept is None else kept
            if counts[name] < count:
                insufficient[name] = f"{count}, more than {why}"
    ordered = {name: counts[name] for name in FAMILIES if name in counts}
    slow = {name: ordered[name] for name in ordered if first[name] <= bound}
    caveat = known_caveat or (_jumps(link, slow, bound, loads) if _carries(link, loads) else LOAD_CAVEAT)
    return BasisSelection(ordered, insufficient, first, left_out, bound, given is not None, caveat)


def _needed(flexible: Flexible, family: str, counts: dict[str, int]) -> bool:
    """Whether a family stays however stiff it is: the softest does, and of a link with shear the softest bending."""
    bends = any(FAMILIES[name].order == 2 for name in counts)
    return not counts or (flexible.shear and FAMILIES[family].order == 2 and not bends)


def _carries(link: Link, loads: tuple[CarriedBody, ...]) -> bool:
    """Whether the shapes bear what the link carries: modes their own loads, tip shapes any at the tip, elements all."""
    basis = None if link.flexible is None else link.flexible.basis
    if isinstance(basis, Modes):
        return not (basis.given_load and loads)
    if isinstance(basis, Reduced):
        return not loads or (basis.interface == "fixed" and all(load.at == link.length for load in loads))
    return True


def _jumps(link: Link, counts: dict[str, int], bound: float, loads: tuple[CarriedBody, ...]) -> str:
    """What is told of loads inside a link at which curvature or strain jumps: smooth modes converge slowly there."""
    assert link.flexible is not None
    elements = link.flexible.meshed
    places = {
        load.at
        for load in loads
        for name, count in counts.items()
        if _felt(link, name, bound, load) and not (elements and _is_node(link, load.at, count))
    }
    if not places:
        return ""
    where = " and ".join(f"{at:.4g} m" for at in sorted(places))
    way = "elements" if elements else "more shapes (see fa.convergence), or elements"
    jump = f"at {where}, inside the link, a load makes its curvature or strain jump"
    return f"frequencies may be some per cent off: {jump}; take {way} with a node there"


def _felt(link: Link, family: str, bound: float, load: CarriedBody) -> bool:
    """Whether waves of that frequency feel that a load inside the link makes curvature or strain jump."""
    if not 0 < load.at < link.length:
        return False
    per_length = _waves(link, family, bound) / link.length
    own = float(np.mean(_along(link, family)[1]))
    if FAMILIES[family].order == 1:
        return (load.inertia[0] if family == "twist" else load.mass) * per_length > JUMP_THRESHOLD * own
    return load.inertia[_axis(family)] * per_length**3 > JUMP_THRESHOLD * own


def _is_node(link: Link, at: float, count: int) -> bool:
    """Of a mesh of a link; where its section has steps only these count, for elements are then not all as long."""
    steps = () if link.section is None else link.section.breaks
    nodes = np.array(steps) if steps else np.arange(count + 1) / count
    return bool(np.abs(nodes - at / link.length).min() < 1e-9)


def _kept(basis: Basis) -> int | None:
    """How many shapes of every family a basis has, where it says."""
    return basis.modes if isinstance(basis, Reduced) else None


def _most(basis: Basis, family: str) -> tuple[int, str]:
    """How many shapes there can be, and what sets that."""
    if isinstance(basis, (Elements, Splines)):
        return MAX_ELEMENTS, "there can be"
    if isinstance(basis, Reduced):
        if basis.modes is not None:
            return basis.modes, f"the {basis.modes} that basis.modes keeps"
        most = basis.mesh_size(family) - basis.tip_shapes(family)
        if most < MAX_MODES:
            return max(most, 1), "its mesh can make"  # one that makes none is refused
    return MAX_MODES, "there can be"


def _count(link: Link, family: str, bound: float, below: bool, loads: tuple[CarriedBody, ...]) -> int:
    """Shapes or elements for modes up to a bound (Hz), `below` which there are any or not."""
    assert link.flexible is not None
    basis, waves = link.flexible.basis, _waves(link, family, bound)
    order = FAMILIES[family].order
    if isinstance(basis, (Elements, Splines)):
        straight = isinstance(basis, Elements) and order == 1 and basis.order == 1
        cover = LINEAR_ELEMENT_ANGLE if straight else ELEMENT_ANGLE
        pieces = 1 if link.section is None else len(link.section.breaks) + 1
        return max(pieces, ceil(waves / cover), 1)
    # a load that holds the tip, or the tip and its slope, shifts the waves by a quarter or by half of their length
    inside = max(floor(waves / pi + (order - 0.5 if loads else 0.5)), 1) if below else 0
    count = inside + EXTRA_SHAPES
    if (
        isinstance(basis, Modes)
        and order == 2
        and count in LIGHTENED_COUNTS
        and any(any(load.hinged) for load in loads)
    ):
        count += 1  # of the inertia behind the hinge only a share counts
    return max(count - basis.tip_shapes(family), 1) if isinstance(basis, Reduced) else count


def _waves(link: Link, family: str, bound: float) -> float:
    """The angle of the wave of that frequency along the link; very many waves are as many as any."""
    stiffness, inertia = _along(link, family)
    order = FAMILIES[family].order
    per_length = np.mean((inertia / stiffness) ** (0.5 / order)) * (2 * pi * bound) ** (1 / order)
    return min(float(per_length) * link.length, MAX_WAVE_ANGLE)


def _first(link: Link, family: str, loads: tuple[CarriedBody, ...]) -> float:
    """About the first frequency (Hz) of a family of the clamped link with its loads: Dunkerley's sum, the trace of
    flexibility times inertia."""
    stiffness, inertia = _along(link, family)
    step = link.length / STATION_COUNT
    x = (np.arange(STATION_COUNT) + 0.5) * step
    reach = np.maximum(x[:, None] - x[None, :], 0.0) + np.diag(np.full(STATION_COUNT, step / 4))
    soft = step / stiffness
    if FAMILIES[family].order == 1:
        total = DUNKERLEY_FACTORS[1] * float((reach > 0).astype(float) @ soft @ inertia) * step
        lumps = [(load.at, load.inertia[0] if family == "twist" else load.mass) for load in loads]
        total += sum(lump * float(soft[x < at].sum()) for at, lump in lumps)
    else:
        total = DUNKERLEY_FACTORS[2] * float(reach**2 @ soft @ inertia) * step
        axis = _axis(family)
        for load in loads:
            arm = np.maximum(load.at - x, 0.0)
            total += load.mass * float(arm**2 @ soft) + 2 * load.moment * float(arm @ soft)
            total += load.inertia[axis] * float(soft[x < load.at].sum())
    return 1 / (2 * pi * sqrt(total)) if total > 0 and isfinite(total) else 0.0


def first_bending_frequencies(link: Link, loads: tuple[CarriedBody, ...]) -> dict[str, float]:
    """Estimate the first bending frequencies (Hz) of a clamped link with its loads, along y and along z."""
    return {family: _first(link, family, loads) for family in ("bend_y", "bend_z")}


def _axis(family: str) -> int:
    """About which sections turn in bending."""
    return 2 if family == "bend_y" else 1


def _along(link: Link, family: str) -> tuple[Array, Array]:
    """What section_property and what moves, per length, at stations along a link."""
    assert link.section is not None
    assert link.material is not None
    fractions = (np.arange(STATION_COUNT) + 0.5) / STATION_COUNT
    modulus = link.material.E if FAMILIES[family].modulus == "E" else link.material.shear_modulus
    stiffness = [modulus * getattr(link.section.at(xi), FAMILIES[family].section_property) for xi in fractions]
    per_length = link.polar_inertia_per_length if family == "twist" else link.mass_per_length
    return np.array(stiffness), np.array([per_length(xi) for xi in fractions])


# --- what a robot can excite ---


def _excited(robot: Robot) -> list[tuple[str, ...]]:
    """The families of each link that joints, gravity and offsets can excite: of a robot that moves in a plane, and that
    nothing pulls out of it, no bending across the plane and no twist."""
    frames = _frames(robot)
    normal = _normal(robot, frames)
    if normal is None or not _planar(robot, frames, normal):
        return [tuple(FAMILIES)] * len(robot.links)
    return [("bend_y" if abs(frame[:, 2] @ normal) > 0.5 else "bend_z", "stretch") for frame in frames]


def _frames(robot: Robot) -> list[Array]:
    """The axes of each link in the world, at zero joint coordinates."""
    frames: dict[int, Array] = {}
    for index in robot.order:
        parent = robot.parents[index]
        above = np.array(robot.base.matrix) if parent is None else frames[parent]
        frames[index] = above @ np.array(robot.links[index].joint.mount_matrix)
    return [frames[index] for index in range(len(robot.links))]


def _normal(robot: Robot, frames: list[Array]) -> Array | None:
    """Of the plane in which the robot moves if it moves in one: the axis of its hinges, or what gravity leaves."""
    for link, frame in zip(robot.links, frames, strict=True):
        if isinstance(link.joint, Revolute):
            return np.asarray(frame @ np.array(link.joint.axis_vector))
    across = np.cross(frames[0][:, 0], robot.gravity)
    size = float(np.linalg.norm(across))
    return across / size if size > 1e-9 * float(np.linalg.norm(robot.gravity)) else None


def _planar(robot: Robot, frames: list[Array], normal: Array) -> bool:
    """Whether hinges, links, offsets, inertias and gravity keep to a plane."""
    parents = robot.parents
    largest = sum(link.length for link in robot.links)
    if abs(normal @ robot.gravity) > 1e-9 * float(np.linalg.norm(robot.gravity)):
        return False
    for index, (link, frame) in enumerate(zip(robot.links, frames, strict=True)):
        parent = parents[index]
        above = np.array(robot.base.matrix) if parent is None else frames[parent]
        own = frame.T @ normal  # in the link's axes
        if abs(own[0]) > 1e-9 or min(abs(own[1]), abs(own[2])) > 1e-9:
            return False
        if isinstance(link.joint, Revolute) and abs(abs(own @ link.joint.axis_vector) - 1) > 1e-9:
            return False
        offsets = [above @ link.offset, *(frame @ lump.offset for lump in _lumps(link))]
        if parent is None:
            offsets = offsets[1:]  # where the whole robot stands does not matter
        if any(abs(normal @ offset) > 1e-9 * largest for offset in offsets):
            return False
        if any(_askew(np.array(lump.inertia_matrix), own) for lump in _lumps(link)):
            return False
    return True


def _lumps(link: Link) -> list[Any]:
    return [lump for lump in (link.hub, link.payload, *link.masses) if lump is not None]


def _askew(inertia: Array, axis: Array) -> bool:
    """Whether a body that turns about an axis would leave its plane."""
    turned = inertia @ axis
    return bool(np.abs(turned - axis * (axis @ turned)).max() > 1e-9 * np.abs(inertia).max(initial=0.0))
