"""A robot: a tree of links on the ground, with constraints."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import hypot
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from flexarm.foundation.messages import describe_unknown, format_number
from flexarm.robot.carried_inertia import find_cycle, parents_first
from flexarm.robot.constraints import AnyConstraint, Constraint, PointSupport, constraint_names
from flexarm.robot.description import Description, lazy_property, warn_of_new_units
from flexarm.robot.errors import DescriptionError, DescriptionProblem
from flexarm.robot.field_types import Checked, Vector, Vector3
from flexarm.robot.flexibility import Elements
from flexarm.robot.frames import Frame
from flexarm.robot.joints import FixedPrismatic, MovingJoint, RidingJoint, Sleeve
from flexarm.robot.links import GROUND, Link, missing_mesh
from flexarm.robot.path_updates import apply_changes
from flexarm.robot.pose import Pose
from flexarm.robot.sleeves import mouth_supports, sleeve_problems, sleeve_travel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MAX_LINKS = 200  # also of constraints; more than can be compiled
LARGE_GRAVITY_M_S2 = 100.0  # four times that of Jupiter


class TitleCheck(Checked):
    """Validation of text on one line."""

    def check(self, value: object) -> str:
        if not isinstance(value, str) or not value or not value.isprintable():
            raise ValueError("must be text on one line")
        return value

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1}


class Robot(Description):
    """Robot: a tree of links on a base, with gravity and constraints.

    `print(robot)` shows a table of its links.

    See Also
    --------
    Link : Part of a robot.
    load : Read a robot from a file.
    simulate : Simulate the motion of a robot.

    Examples
    --------
    >>> robot = Robot(links=[Link("upper", 1.0, mass=1.0), Link("fore", 0.5, mass=0.5)], gravity=(0, -9.81, 0))
    >>> robot.coordinates, robot.total_mass
    (2, 1.5)
    """

    name: Annotated[str, TitleCheck()] = Field("robot", description="name of the robot")
    links: tuple[Link, ...] = Field(
        description="the links, at most 200; the parent of each is the previous one unless given",
        json_schema_extra={"minItems": 1, "maxItems": MAX_LINKS},
    )
    gravity: Annotated[Vector3, Vector("m/s2")] = Field(
        (0.0, 0.0, 0.0), description="acceleration of gravity in the world's axes (m/s2)"
    )
    base: Pose = Field(Pose.model_construct(), description="pose of the ground's frame in the world")
    constraints: tuple[AnyConstraint, ...] = Field(
        (), description="closed loops, points on lines and planes, supports on which links slide"
    )
    frames: tuple[Frame, ...] = Field((), description="named frames on links: tools, sensors, points of interest")
    tip: str | None = Field(
        None,
        description="link or frame whose position is that of the robot's tip; unless given, the last link of the "
        "longest chain",
    )

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str = "robot",
            *,
            links: Iterable[Link],
            gravity: ArrayLike = (0, 0, 0),
            base: Pose = ...,
            constraints: Iterable[Constraint] = (),
            frames: Iterable[Frame] = (),
            tip: str | None = None,
        ) -> None: ...

    def link(self, name: str) -> Link:
        """Return the link of a name.

        Parameters
        ----------
        name : str
            Name of the link.

        Returns
        -------
        Link
            Link of that name.

        Raises
        ------
        DescriptionError
            If there is no such link.

        Examples
        --------
        >>> Robot(links=[Link("upper", 1.0, mass=1.0)]).link("uper")
        Traceback (most recent call last):
        flexarm.robot.errors.DescriptionError: link = 'uper': no such link; did you mean 'upper'? (allowed: upper)
        """
        for link in self.links:
            if link.name == name:
                return link
        raise DescriptionError([DescriptionProblem("link", name, describe_unknown("no such link", name, self._names))])

    @lazy_property
    def parents(self) -> tuple[int | None, ...]:
        """Index of each link's parent, None for the ground."""
        return tuple(self._parent(index) for index in range(len(self.links)))

    @lazy_property
    def order(self) -> tuple[int, ...]:
        """Indices of the links with every parent before its children, otherwise in the order of the list."""
        return parents_first(self.parents)

    @lazy_property
    def tip_name(self) -> str:
        """Link or frame that is the robot's tip.

        Unless `tip` is given, it is the last link of the longest chain: the one with the most links between it and the
        ground, the last of several.
        """
        if self.tip is not None:
            return self.tip
        depths: dict[int | None, int] = {None: 0}
        for index in self.order:
            depths[index] = depths[self.parents[index]] + 1
        return self._names[max(range(len(self.links)), key=lambda index: (depths[index], index))]

    def place(self, name: str, x: float | None = None) -> tuple[int, float, Frame | None]:
        """Return the section that a link with a distance, or a frame, stands for.

        Parameters
        ----------
        name : str
            Name of a link or of a frame.
        x : float, optional
            Distance from the root of the link (m), by default its tip; a frame has its own.

        Returns
        -------
        number : int
            Index of the link.
        x : float
            Distance from its root (m).
        frame : Frame or None
            The frame on that section, if the name is that of a frame.
        """
        frame = next((each for each in self.frames if each.name == name), None)
        if frame is not None:
            name, x = frame.on, frame.x
        number = self._names.index(name)
        return number, self.links[number].length if x is None else x, frame

    @lazy_property
    def every_constraint(self) -> tuple[Constraint, ...]:
        """Constraints, including those of joints (the mouths of sleeves)."""
        return (*self.constraints, *mouth_supports(self))

    @property
    def total_mass(self) -> float:
        """Mass of all links and the masses on them (kg)."""
        return sum(link.total_mass for link in self.links)

    @lazy_property
    def size(self) -> float:
        """Characteristic length: the sum of those of the links, or 1 m if all are zero."""
        return sum(link.extent for link in self.links) or 1.0

    @property
    def coordinates(self) -> int:
        """Number of coordinates of the robot."""
        return sum(link.coordinates for link in self.resolved().links)

    def travel(self, link: Link | str) -> tuple[float, float] | None:
        """Return the limits of a link's joint.

        Parameters
        ----------
        link : Link or str
            Link or its name.

        Returns
        -------
        tuple of float or None
            Lower and upper limit (rad or m); None if there are none.

        Notes
        -----
        Joints that slide along a link are limited by its ends unless limits are given. A flexible part of zero length
        would have infinite frequencies; therefore a hundredth of the length is left to each part that bends.
        """
        link = self.link(link.name if isinstance(link, Link) else link)
        joint = link.joint
        if not isinstance(joint, MovingJoint):
            if joint.freedoms:
                sentence = "has limits of each of its freedoms: take travels"
                raise DescriptionError([DescriptionProblem(f"joint of {link.name!r}", ..., sentence)])
            return None
        if joint.limits is not None:
            return joint.limits
        if isinstance(joint, RidingJoint):
            parent = self._parent(self._names.index(link.name))
            rail = None if parent is None else self.links[parent]
            if isinstance(joint, Sleeve):
                return sleeve_travel(joint, link, rail)
            return None if rail is None else (0.0, rail.length)
        if isinstance(joint, FixedPrismatic):
            front = 0.01 if link.flexible is not None else 0.0
            rear = front if joint.rear == "flexible" else 0.0
            return front * link.length, (1.0 - rear) * link.length
        return None

    def travels(self, link: Link | str) -> tuple[tuple[float, float] | None, ...]:
        """Return the limits of each freedom of a link's joint.

        Parameters
        ----------
        link : Link or str
            Link or its name.

        Returns
        -------
        tuple of (tuple of float or None)
            Lower and upper limit (rad or m) of each freedom; None if there are none.
        """
        link = self.link(link.name if isinstance(link, Link) else link)
        if isinstance(link.joint, MovingJoint):
            return (self.travel(link),)
        return tuple(each.limits for each in link.joint.freedom_properties)

    def resolved(self, like: Robot | None = None) -> Robot:
        """Return the robot with numbers of shapes selected for links that leave them open; `print(robot)` shows them.

        Parameters
        ----------
        like : Robot, optional
            Robot whose links of the same names provide the numbers, as far as they have any.

        Returns
        -------
        Robot
            Robot with numbers of shapes for all flexible links.

        Raises
        ------
        DescriptionError
            If the selected numbers are not possible for a link.

        Examples
        --------
        >>> from flexarm.robot.library import two_link_arm
        >>> arm = two_link_arm().with_({"links.fore.flexible": {}})
        >>> arm.resolved().link("fore").flexible
        Flexible(bend_y=3)
        """
        free = {link.name: link.flexible for link in self.links if link.flexible is not None and link.flexible.open}
        if not free:
            return self
        from flexarm.robot.basis_selection import select_bases, with_counts

        given = {} if like is None else {link.name: link.flexible.counts for link in like.links if link.flexible}
        counts = {name: given.get(name) or selection.counts for name, selection in select_bases(self).items()}
        changes = {f"links.{name}.flexible": with_counts(each, counts[name]) for name, each in free.items()}
        try:
            return Robot.model_validate(apply_changes(self, changes))
        except DescriptionError as error:
            raise DescriptionError(_with_selection(error.problems, self._names, counts)) from None

    def rigid(self) -> Robot:
        """Return the robot with rigid links and rigid drives.

        Returns
        -------
        Robot
            Copy without flexibility, its name with the suffix " (rigid)".
        """
        name = self.name.removesuffix(" (rigid)") + " (rigid)"
        return self.model_copy(update={"name": name, "links": tuple(link.rigid() for link in self.links)})

    def with_(self, changes: Mapping[str, object] | None = None, **top_level: object) -> Robot:
        """Return a validated copy with changes.

        Parameters
        ----------
        changes : mapping, optional
            New values by path, such as "links.fore.payload.mass"; links are found by name or index, and missing parts
            on the way are created.
        **top_level
            New values of the robot's own fields, such as gravity.

        Returns
        -------
        Robot
            Changed copy.

        Raises
        ------
        DescriptionError
            If a path does not exist or the changed robot is not valid.

        Examples
        --------
        >>> robot = Robot(links=[Link("upper", 1.0, mass=1.0)])
        >>> robot.with_({"links.upper.payload.mass": 0.3}).total_mass
        1.3
        """
        if not isinstance(changes, Mapping | None):
            sentence = "must be a mapping from paths to values, such as {'links.fore.payload.mass': 0.3}"
            raise DescriptionError([DescriptionProblem("changes", changes, sentence)])
        values = {**(changes or {}), **top_level}
        robot = Robot.model_validate(apply_changes(self, values))
        warn_of_new_units(robot, values, list(self.every_unit_warning()))
        return robot

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the robot to a YAML file.

        Parameters
        ----------
        path : str or path-like
            File to write; an existing file is replaced atomically.

        See Also
        --------
        load : Read a robot from a file.
        """
        from flexarm.robot.io.files import save

        save(self, path)

    def __str__(self) -> str:
        from flexarm.robot.table import text

        return text(self)

    def _repr_html_(self) -> str:
        from flexarm.robot.table import html

        return html(self)

    @lazy_property
    def _names(self) -> tuple[str, ...]:
        return tuple(link.name for link in self.links)

    def _parent(self, index: int) -> int | None:
        parent = self.links[index].parent
        if parent is None:
            return index - 1 if index else None
        return None if parent == GROUND else self._names.index(parent)

    def unit_warnings(self) -> list[tuple[str, str]]:
        large = hypot(*self.gravity) > LARGE_GRAVITY_M_S2
        return [("gravity", "looks like mm/s2; gravity is in m/s2")] if large else []

    def conflicts(self) -> Iterator[DescriptionProblem]:
        if excess := [*self._excess_parts()]:  # the other checks would take long
            yield from excess
            return
        if not self.links:
            yield DescriptionProblem("links", self.links, "must have at least one link")
        found = [*self._repeated_names(), *self._wrong_parents()]
        if not found:  # the tree is defined only if all parents exist
            found = [*self._cycles(), *self._places_beyond_parents(), *self._wrong_rails()]
        yield from found
        yield from self._wrong_frames()
        yield from self._wrong_constraints()
        yield from self._loose_links()

    def _excess_parts(self) -> Iterator[DescriptionProblem]:
        for name, parts in (("links", self.links), ("constraints", self.constraints), ("frames", self.frames)):
            if len(parts) > MAX_LINKS:
                yield DescriptionProblem(name, ..., f"there are {len(parts)}, but a robot has at most {MAX_LINKS}")

    def _loose_links(self) -> Iterator[DescriptionProblem]:
        """Yield links with a free root that no constraint holds."""
        owners = {each.name: each.on for each in self.frames}
        named = {owners.get(name, name) for each in self.constraints for name, _, _ in each.places.values()}
        for index, link in enumerate(self.links):
            if link.flexible is not None and link.flexible.loose and link.name not in named:
                path, sentence = f"links[{index}].flexible.basis.root", "needs a constraint that holds the link"
                yield DescriptionProblem(path, "free", sentence)

    def _repeated_names(self) -> Iterator[DescriptionProblem]:
        for index, name in enumerate(self._names):
            if (first := self._names.index(name)) != index:
                yield DescriptionProblem(f"links[{index}].name", name, f"is already the name of links[{first}]")

    def _wrong_parents(self) -> Iterator[DescriptionProblem]:
        for index, link in enumerate(self.links):
            path = f"links[{index}].parent"
            if link.parent == link.name:
                yield DescriptionProblem(path, link.parent, "a link cannot hang on itself")
            elif link.parent is not None and link.parent not in (GROUND, *self._names):
                allowed = [GROUND, *(name for name in self._names if name != link.name)]
                yield DescriptionProblem(path, link.parent, describe_unknown("no such link", link.parent, allowed))

    def _cycles(self) -> Iterator[DescriptionProblem]:
        if cycle := find_cycle(self.parents):
            names = " -> ".join(self._names[index] for index in cycle)
            rule = "a link hangs on the previous one unless it names a parent"
            yield DescriptionProblem("links", ..., f"hang on each other in a circle: {names}; {rule}")

    def _places_beyond_parents(self) -> Iterator[DescriptionProblem]:
        for index, (link, parent) in enumerate(zip(self.links, self.parents, strict=True)):
            if link.at is None:
                continue
            path = f"links[{index}].at"
            if parent is None:
                yield DescriptionProblem(path, link.at, "must be left out: the link hangs on the ground, use offset")
            elif link.at > (length := self.links[parent].length):
                sentence = f"must lie on its parent {self._names[parent]!r}, between 0 and {format_number(length)} (m)"
                yield DescriptionProblem(path, link.at, sentence)

    def _wrong_frames(self) -> Iterator[DescriptionProblem]:
        names = [each.name for each in self.frames]
        for index, frame in enumerate(self.frames):
            path = f"frames[{index}]"
            if frame.name in self._names:
                yield DescriptionProblem(f"{path}.name", frame.name, "is already the name of a link")
            elif (first := names.index(frame.name)) != index:
                yield DescriptionProblem(f"{path}.name", frame.name, f"is already the name of frames[{first}]")
            if frame.on not in self._names:
                sentence = describe_unknown("no such link", frame.on, self._names)
                yield DescriptionProblem(f"{path}.on", frame.on, sentence)
            elif frame.x is not None and frame.x > (length := self.link(frame.on).length):
                sentence = f"must lie on link {frame.on!r}, between 0 and {format_number(length)} (m)"
                yield DescriptionProblem(f"{path}.x", frame.x, sentence)
        if self.tip is not None and self.tip not in (*self._names, *names):
            sentence = describe_unknown("no such link or frame", self.tip, [*self._names, *names])
            yield DescriptionProblem("tip", self.tip, sentence)

    def _wrong_constraints(self) -> Iterator[DescriptionProblem]:
        names = constraint_names(self.constraints)
        for index, constraint in enumerate(self.constraints):
            path = f"constraints[{index}]"
            if (first := names.index(names[index])) != index:
                yield DescriptionProblem(f"{path}.name", names[index], f"is already the name of constraints[{first}]")
            for field, (link, where, at) in constraint.places.items():
                grounded = field in ("second", "on")
                if link == GROUND and grounded:
                    continue
                slides = isinstance(constraint, PointSupport) and field == "link"
                frames = [] if isinstance(constraint, PointSupport) else [each.name for each in self.frames]
                if link in frames:
                    if at is not None:
                        sentence = f"must be left out: {link!r} is a frame, which has its place"
                        yield DescriptionProblem(f"{path}.{where}", at, sentence)
                elif link not in self._names:
                    allowed = [*self._names, *frames, *([GROUND] if grounded else [])]
                    sentence = describe_unknown("no such link" + " or frame" * bool(frames), link, allowed)
                    yield DescriptionProblem(f"{path}.{field}", link, sentence)
                elif slides and _sheared(self.link(link)):
                    sentence = (
                        "must be a link without flexible.shear: it slides on the support, and such shapes have none"
                    )
                    yield DescriptionProblem(f"{path}.{field}", link, sentence)
                elif slides and (wrong := _no_support(self.link(link), "a support")):
                    yield DescriptionProblem(f"links[{self._names.index(link)}].flexible.stiffening", "exact", wrong)
                elif at is not None and at > (length := self.link(link).length):
                    sentence = f"must lie on link {link!r}, between 0 and {format_number(length)} (m)"
                    yield DescriptionProblem(f"{path}.{where}", at, sentence)

    def _wrong_rails(self) -> Iterator[DescriptionProblem]:
        """Yield problems of joints that cannot slide along their parents."""
        for index, (link, parent) in enumerate(zip(self.links, self.parents, strict=True)):
            if isinstance(link.joint, RidingJoint):
                rail = None if parent is None else self.links[parent]
                if isinstance(link.joint, Sleeve):
                    yield from (problem.under(f"links[{index}]") for problem in sleeve_problems(link, rail))
                    if wrong := _no_support(link, "the mouth of its sleeve"):
                        yield DescriptionProblem(f"links[{index}].flexible.stiffening", "exact", wrong)
                yield from (problem.under(f"links[{index}].joint") for problem in _rail_problems(link.joint, rail))
                if rail is not None and _sheared(rail):
                    sentence = f"must be false: {link.name!r} slides along {rail.name!r}, and such shapes have no shear"
                    yield DescriptionProblem(f"links[{parent}].flexible.shear", True, sentence)
                if rail is not None and (wrong := _no_rail(rail, repr(link.name))):
                    yield DescriptionProblem(f"links[{parent}].flexible.stiffening", "exact", wrong)


def _with_selection(
    problems: list[DescriptionProblem], names: Sequence[str], counts: Mapping[str, dict[str, int]]
) -> list[DescriptionProblem]:
    """Add the selected numbers to problems of links that have no given numbers."""
    out = []
    for problem in problems:
        name = next((each for k, each in enumerate(names) if problem.path.startswith(f"links[{k}].")), "")
        if name in counts:
            picked = ", ".join(f"{family} {count}" for family, count in counts[name].items())
            problem = replace(problem, sentence=f"{problem.sentence} (picked for link {name!r}: {picked})")
        out.append(problem)
    return out


def _sheared(link: Link) -> bool:
    return link.flexible is not None and link.flexible.shear


def _no_rail(link: Link, rider: str) -> str:
    """Return why nothing can slide along a link with exact stiffening; empty if it can."""
    if link.flexible is None or link.stiffening != "exact":
        return ""
    for lacks, way, kind in (
        (not link.flexible.in_one_plane, "its shapes in one plane", "bends in space"),
        (link.flexible.meshed, "its basis modes", "is a mesh"),
    ):
        if lacks:
            return f"must be 'shortening' or 'none', or {way}: {rider} slides along {link.name!r}, which {kind}"
    return ""


def _no_support(link: Link, support: str) -> str:
    """Return why no support can slide along a link; an exact link must also have a section without steps."""
    if wrong := _no_rail(link, support):
        return wrong
    if link.stiffening == "exact" and link.section is not None and link.section.breaks:
        return (
            f"must be 'shortening' or 'none', or its section without steps: {support} slides along {link.name!r}, "
            "whose curvature jumps at them"
        )
    return ""


def _rail_problems(joint: RidingJoint, rail: Link | None) -> Iterator[DescriptionProblem]:
    """Yield problems of a joint that slides along a link, or along the ground (None)."""
    if rail is not None and not rail.length:
        yield DescriptionProblem("", ..., f"slides along its parent {rail.name!r}, which has no length")
        return
    if rail is None:
        if joint.on_mesh:
            sentence = "needs a flexible parent with basis elements, but the joint rides on the ground"
            yield DescriptionProblem("contact", joint.contact, sentence)
        if joint.stop is not None and joint.limits is None and not isinstance(joint, Sleeve):
            yield DescriptionProblem(
                "limits", ..., "is required (m), since the joint has a stop and the ground has no ends"
            )
        return
    beyond = joint.limits is not None and (joint.limits[0] < 0 or joint.limits[1] > rail.length)
    if beyond and not isinstance(joint, Sleeve):  # sleeves have their own limits
        sentence = f"must lie on its parent {rail.name!r}, between 0 and {format_number(rail.length)} (m)"
        yield DescriptionProblem("limits", joint.limits, sentence)
    if joint.on_mesh and (lack := missing_mesh(rail)):
        sentence = f"needs a flexible parent with basis elements, but {rail.name!r} {lack}"
        yield DescriptionProblem("contact", joint.contact, sentence)
    elif not joint.on_mesh and rail.flexible is not None and not rail.flexible.smooth:
        meshed = isinstance(rail.flexible.basis, Elements)
        way = "this joint" if meshed else "basis elements and this joint"
        other = "" if isinstance(joint, Sleeve) else f", or {way} contact nodal or element"
        sentence = (
            f"cannot ride on its parent {rail.name!r}, whose basis is {rail.flexible.basis.type}: its curvature jumps "
            f"at nodes; give {rail.name!r} basis modes or splines{other}"
        )
        field = "type" if isinstance(joint, Sleeve) else "contact"
        yield DescriptionProblem(field, getattr(joint, field), sentence)
