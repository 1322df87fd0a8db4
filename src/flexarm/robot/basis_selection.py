"""Automatic choice of the number of shapes of links that leave it open: `Flexible()`, `Flexible(up_to=50)`.

The choice needs only the description: the deformations that the robot can excite, the first frequency of each with the
bodies that the link carries (Dunkerley's formula, at most a fifth too low), and the number of modes up to a frequency
bound (from the number of waves that fit into the link).
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
from flexarm.robot.joints import RidingJoint, SlideAlong, TurnAbout
from flexarm.robot.links import Link

if TYPE_CHECKING:
    from flexarm.robot.robot import Robot

BOUND_FACTOR = 10.0  # default frequency bound, relative to the lowest first frequency of all links
STATIC_FACTOR = 10.0  # families above this multiple of the bound are left out: an error of frequencies of 0.5 %
EXTRA_SHAPES = 1  # beyond the modes up to the bound, for free joints and loads in other postures
EXPECTED_ERROR = 0.005  # relative, of frequencies up to the bound (tests/robot/test_basis_selection.py)
ELEMENT_ANGLE = 1.2  # phase angle of a wave over one cubic or quadratic element, for a tenth of that error
LINEAR_ELEMENT_ANGLE = 0.3  # the same for linear elements
DUNKERLEY_FACTORS = {1: 8 / pi**2, 2: 12 / 12.3624}  # by order; make Dunkerley's sum exact for a uniform link's mass
MAX_WAVE_ANGLE = 1e5
JUMP_THRESHOLD = 0.3  # relative to a wave's own curvature or strain; larger jumps at a load need more shapes
STATION_COUNT = 64  # points along a link for integrals

OUT_OF_PLANE = "nothing moves it out of its plane"
SLIDING_CAVEAT = (
    "frequencies may be some per cent off: where something slides along it, or holds it, curvature or shear jumps; see "
    "fa.convergence"
)
LOAD_CAVEAT = "how good they are is not known, for they carry another load than the link: see fa.convergence"


@dataclass(frozen=True)
class BasisSelection:
    """Selected numbers of shapes of a link.

    Parameters
    ----------
    counts : dict of str to int
        Numbers by family.
    insufficient : dict of str to str
        Families that would need more shapes than possible, and why.
    first : dict of str to float
        Estimate of the first frequency of each excited family (Hz).
    left_out : dict of str to str
        Families without shapes, and why.
    bound : float
        Frequency up to which modes are represented (Hz).
    given : bool
        True if the bound was given.
    caveat : str
        Reason why the error is unknown; empty if it is known.
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
        """Return the selection as a sentence."""
        below = f"modes below {self.bound:.4g} Hz" + (
            "" if self.given else f", {BOUND_FACTOR:g} times the slowest link's"
        )
        counts = ", ".join(f"{name} {count}" for name, count in self.counts.items())
        reasons = dict.fromkeys(self.left_out.values())
        without = [f"no {' or '.join(self._left_out_for(why))}: {why}" for why in reasons]
        return f"{counts} (picked: {'; '.join([below, *self._expected(), *without])})"

    def _expected(self) -> list[str]:
        """Return the expected accuracy, as far as it is known."""
        if self.insufficient:
            return [f"{name} would take {more}" for name, more in self.insufficient.items()]
        return [self.caveat or f"expect frequencies to {100 * self.error:.2g} %"]

    def _left_out_for(self, reason: str) -> list[str]:
        return [name for name, why in self.left_out.items() if why == reason]


def select_bases(robot: Robot) -> dict[str, BasisSelection]:
    """Return the selection for each link that leaves its numbers open."""
    excited = _excitable_families(robot)
    open_links = [index for index, link in enumerate(robot.links) if link.flexible is not None and link.flexible.open]
    loads = carried_bodies(robot) if open_links else []
    first = {
        index: {name: _first_frequency(robot.links[index], name, loads[index]) for name in excited[index]}
        for index in open_links
    }
    slowest = min((each for of_link in first.values() for each in of_link.values()), default=0.0)
    rails = _rails(robot)
    return {
        robot.links[index].name: _select(
            robot.links[index], first[index], loads[index], slowest, SLIDING_CAVEAT if index in rails else ""
        )
        for index in open_links
    }


def _rails(robot: Robot) -> set[int]:
    """Return the links along which joints, supports or mouths move, where shear or curvature jumps."""
    names = [link.name for link in robot.links]
    found = {parent for link, parent in zip(robot.links, robot.parents) if isinstance(link.joint, RidingJoint)}
    supports = [each for each in robot.every_constraint if isinstance(each, PointSupport)]
    found |= {names.index(each) for support in supports for each in (support.link, support.on) if each in names}
    return {index for index in found if index is not None}


def with_counts(flexible: Flexible, counts: dict[str, int]) -> dict[str, Any]:
    """Return the flexibility with numbers as plain data, which may be invalid together."""
    return {**dict(flexible.given), **counts, "up_to": None}


def _select(
    link: Link, first: dict[str, float], loads: tuple[CarriedBody, ...], slowest: float, known_caveat: str = ""
) -> BasisSelection:
    assert link.flexible is not None
    given = link.flexible.up_to
    bound = BOUND_FACTOR * slowest if given is None else given
    left_out = {name: OUT_OF_PLANE for name in FAMILIES if name not in first}
    counts: dict[str, int] = {}
    insufficient: dict[str, str] = {}
    for name, frequency in sorted(first.items(), key=lambda each: each[1]):
        if frequency > STATIC_FACTOR * bound and not _is_required(link.flexible, name, counts):
            left_out[name] = f"its first mode is at {frequency:.3g} Hz"
        else:
            count = _required_count(link, name, bound, frequency <= bound, loads)
            most, why = _max_count(link.flexible.basis, name)
            kept = _given_count(link.flexible.basis)
            counts[name] = min(count, most) if kept is None else kept
            if counts[name] < count:
                insufficient[name] = f"{count}, more than {why}"
    ordered = {name: counts[name] for name in FAMILIES if name in counts}
    slow = {name: ordered[name] for name in ordered if first[name] <= bound}
    caveat = known_caveat or (_jump_caveat(link, slow, bound, loads) if _represents_loads(link, loads) else LOAD_CAVEAT)
    return BasisSelection(ordered, insufficient, first, left_out, bound, given is not None, caveat)


def _is_required(flexible: Flexible, family: str, counts: dict[str, int]) -> bool:
    """Return True for a family kept in spite of its stiffness: the softest one, and with shear the softest bending."""
    bends = any(FAMILIES[name].order == 2 for name in counts)
    return not counts or (flexible.shear and FAMILIES[family].order == 2 and not bends)


def _represents_loads(link: Link, loads: tuple[CarriedBody, ...]) -> bool:
    """Return True if the shapes represent the loads: modes their own, tip shapes those at the tip, elements all."""
    basis = None if link.flexible is None else link.flexible.basis
    if isinstance(basis, Modes):
        return not (basis.given_load and loads)
    if isinstance(basis, Reduced):
        return not loads or (basis.interface == "fixed" and all(load.at == link.length for load in loads))
    return True


def _jump_caveat(link: Link, counts: dict[str, int], bound: float, loads: tuple[CarriedBody, ...]) -> str:
    """Return the caveat for loads inside a link where curvature or strain jumps, so that modes converge slowly."""
    assert link.flexible is not None
    elements = link.flexible.meshed
    places = {
        load.at
        for load in loads
        for name, count in counts.items()
        if _is_large_jump(link, name, bound, load) and not (elements and _is_node(link, load.at, count))
    }
    if not places:
        return ""
    where = " and ".join(f"{at:.4g} m" for at in sorted(places))
    way = "elements" if elements else "more shapes (see fa.convergence), or elements"
    jump = f"at {where}, inside the link, a load makes its curvature or strain jump"
    return f"frequencies may be some per cent off: {jump}; take {way} with a node there"


def _is_large_jump(link: Link, family: str, bound: float, load: CarriedBody) -> bool:
    """Return True if a load inside the link makes curvature or strain of waves at a frequency jump considerably."""
    if not 0 < load.at < link.length:
        return False
    per_length = _wave_angle(link, family, bound) / link.length
    own = float(np.mean(_stiffness_and_inertia(link, family)[1]))
    if FAMILIES[family].order == 1:
        return (load.inertia[0] if family == "twist" else load.mass) * per_length > JUMP_THRESHOLD * own
    return load.inertia[_axis(family)] * per_length**3 > JUMP_THRESHOLD * own


def _is_node(link: Link, at: float, count: int) -> bool:
    """Return True if a place is a node of the mesh; with a stepped section only its steps are certain to be nodes."""
    steps = () if link.section is None else link.section.breaks
    nodes = np.array(steps) if steps else np.arange(count + 1) / count
    return bool(np.abs(nodes - at / link.length).min() < 1e-9)


def _given_count(basis: Basis) -> int | None:
    """Return the number of modes of every family if the basis gives it."""
    return basis.modes if isinstance(basis, Reduced) else None


def _max_count(basis: Basis, family: str) -> tuple[int, str]:
    """Return the largest possible number of shapes, and its reason."""
    if isinstance(basis, (Elements, Splines)):
        return MAX_ELEMENTS, "there can be"
    if isinstance(basis, Reduced):
        if basis.modes is not None:
            return basis.modes, f"the {basis.modes} that basis.modes keeps"
        most = basis.mesh_size(family) - basis.tip_shapes(family)
        if most < MAX_MODES:
            return max(most, 1), "its mesh can make"  # a mesh without shapes is refused
    return MAX_MODES, "there can be"


def _required_count(link: Link, family: str, bound: float, below: bool, loads: tuple[CarriedBody, ...]) -> int:
    """Return the number of shapes or elements for modes up to a bound (Hz); `below`: if any are below the bound."""
    assert link.flexible is not None
    basis, waves = link.flexible.basis, _wave_angle(link, family, bound)
    order = FAMILIES[family].order
    if isinstance(basis, (Elements, Splines)):
        straight = isinstance(basis, Elements) and order == 1 and basis.order == 1
        cover = LINEAR_ELEMENT_ANGLE if straight else ELEMENT_ANGLE
        pieces = 1 if link.section is None else len(link.section.breaks) + 1
        return max(pieces, ceil(waves / cover), 1)
    # a heavy load holds the tip, or the tip and its slope, which shifts waves by a quarter or half of their length
    inside = max(floor(waves / pi + (order - 0.5 if loads else 0.5)), 1) if below else 0
    count = inside + EXTRA_SHAPES
    if (
        isinstance(basis, Modes)
        and order == 2
        and count in LIGHTENED_COUNTS
        and any(any(load.hinged) for load in loads)
    ):
        count += 1  # two or three modes are loaded with a share of the inertia behind the hinge
    return max(count - basis.tip_shapes(family), 1) if isinstance(basis, Reduced) else count


def _wave_angle(link: Link, family: str, bound: float) -> float:
    """Return the phase angle of a wave of a frequency along the link (rad), limited to MAX_WAVE_ANGLE."""
    stiffness, inertia = _stiffness_and_inertia(link, family)
    order = FAMILIES[family].order
    per_length = np.mean((inertia / stiffness) ** (0.5 / order)) * (2 * pi * bound) ** (1 / order)
    return min(float(per_length) * link.length, MAX_WAVE_ANGLE)


def _first_frequency(link: Link, family: str, loads: tuple[CarriedBody, ...]) -> float:
    """Estimate the first frequency (Hz) of a family of the clamped link with its loads by Dunkerley's formula.

    The formula takes the trace of flexibility times inertia for 1 / omega^2.
    """
    stiffness, inertia = _stiffness_and_inertia(link, family)
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
    return {family: _first_frequency(link, family, loads) for family in ("bend_y", "bend_z")}


def _axis(family: str) -> int:
    """Return the axis about which sections rotate in bending."""
    return 2 if family == "bend_y" else 1


def _stiffness_and_inertia(link: Link, family: str) -> tuple[Array, Array]:
    """Return stiffness and inertia per length at stations along a link."""
    assert link.section is not None
    assert link.material is not None
    fractions = (np.arange(STATION_COUNT) + 0.5) / STATION_COUNT
    modulus = link.material.E if FAMILIES[family].modulus == "E" else link.material.shear_modulus
    stiffness = [modulus * getattr(link.section.at(xi), FAMILIES[family].section_property) for xi in fractions]
    per_length = link.polar_inertia_per_length if family == "twist" else link.mass_per_length
    return np.array(stiffness), np.array([per_length(xi) for xi in fractions])


# --- deformations that a robot can excite ---


def _excitable_families(robot: Robot) -> list[tuple[str, ...]]:
    """Return the families of each link that joints, gravity and offsets can excite.

    A robot that moves in a plane, without forces out of it, has no bending across the plane and no twist.
    """
    frames = _frames(robot)
    normal = _normal(robot, frames)
    if normal is None or not _planar(robot, frames, normal):
        return [tuple(FAMILIES)] * len(robot.links)
    return [("bend_y" if abs(frame[:, 2] @ normal) > 0.5 else "bend_z", "stretch") for frame in frames]


def _frames(robot: Robot) -> list[Array]:
    """Return the axes of each link in the world, at zero joint coordinates."""
    frames: dict[int, Array] = {}
    for index in robot.order:
        parent = robot.parents[index]
        above = np.array(robot.base.matrix) if parent is None else frames[parent]
        frames[index] = above @ np.array(robot.links[index].joint.mount_matrix)
    return [frames[index] for index in range(len(robot.links))]


def _normal(robot: Robot, frames: list[Array]) -> Array | None:
    """Return the normal of the plane of motion if there is one: the first axis of a joint, or from gravity."""
    for link, frame in zip(robot.links, frames, strict=True):
        for motion in link.joint.elementary_motions:
            if isinstance(motion, TurnAbout):
                return np.asarray(frame @ np.array(motion.axis))
    across = np.cross(frames[0][:, 0], robot.gravity)
    size = float(np.linalg.norm(across))
    return across / size if size > 1e-9 * float(np.linalg.norm(robot.gravity)) else None


def _planar(robot: Robot, frames: list[Array], normal: Array) -> bool:
    """Return True if joints, links, offsets, inertias and gravity lie in a plane."""
    parents = robot.parents
    largest = robot.size
    if abs(normal @ robot.gravity) > 1e-9 * float(np.linalg.norm(robot.gravity)):
        return False
    for index, (link, frame) in enumerate(zip(robot.links, frames, strict=True)):
        parent = parents[index]
        above = np.array(robot.base.matrix) if parent is None else frames[parent]
        own = frame.T @ normal  # in the link's axes
        if abs(own[0]) > 1e-9 or min(abs(own[1]), abs(own[2])) > 1e-9:
            return False
        if not all(_keeps_plane(motion, own) for motion in link.joint.elementary_motions):
            return False
        offsets = [above @ link.offset, *(frame @ lump.offset for _, lump, _ in link.lumps)]
        if parent is None:
            offsets = offsets[1:]  # the place of the whole robot does not matter
        if any(abs(normal @ offset) > 1e-9 * largest for offset in offsets):
            return False
        if any(_askew(np.array(lump.inertia_matrix), own) for _, lump, _ in link.lumps):
            return False
    return True


def _keeps_plane(motion: TurnAbout | SlideAlong, normal: Array) -> bool:
    """Return True if a motion of a joint stays in the plane with this normal."""
    across = abs(float(normal @ np.array(motion.axis)))
    return abs(across - 1) <= 1e-9 if isinstance(motion, TurnAbout) else across <= 1e-9


def _askew(inertia: Array, axis: Array) -> bool:
    """Return True if the axis is no principal axis, so that rotation about it has moments across it."""
    turned = inertia @ axis
    return bool(np.abs(turned - axis * (axis @ turned)).max() > 1e-9 * np.abs(inertia).max(initial=0.0))
