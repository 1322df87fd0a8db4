"""Tables of robots: plain text for `print`, HTML for notebooks."""

from __future__ import annotations

from html import escape
from io import StringIO
from textwrap import wrap
from typing import TYPE_CHECKING

from flexarm.foundation.messages import format_number
from flexarm.robot.basis_selection import first_bending_frequencies, select_bases
from flexarm.robot.carried_inertia import HINGED_SHARE, LIGHTENED_COUNTS, CarriedBody, carried_bodies, reference_loads
from flexarm.robot.flexibility import Flexible, Modes, Reduced
from flexarm.robot.links import Link
from flexarm.robot.masses import PointMass

if TYPE_CHECKING:
    from flexarm.robot.robot import Robot

WIDTH = 100
COLUMNS = ("link", "joint", "length", "section", "mass", "flexible", "payload", "hub")


def text(robot: Robot) -> str:
    """Return the table as plain text, WIDTH characters wide."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rule = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)  # for any console
    table = Table(box=rule, width=WIDTH, pad_edge=False)
    for column in COLUMNS:
        table.add_column(column, overflow="fold")
    for row in _rows(robot):
        table.add_row(*(Text(cell) for cell in row))
    out = StringIO()
    console = Console(file=out, width=WIDTH, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(Text(_header(robot)), table)
    lines = [line.rstrip() for line in out.getvalue().rstrip().splitlines()]
    return "\n".join([*lines, *(line for note in _notes(robot) for line in wrap(note, WIDTH, subsequent_indent="  "))])


def html(robot: Robot) -> str:
    """Return the table as HTML."""
    head = "".join(f"<th>{column}</th>" for column in COLUMNS)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in _rows(robot))
    notes = "".join(f"<p>{escape(note)}</p>" for note in _notes(robot))
    return f"<table><caption>{escape(_header(robot))}</caption><tr>{head}</tr>{rows}</table>{notes}"


def _header(robot: Robot) -> str:
    gravity = f"gravity {_numbers(robot.gravity)} m/s2" if any(robot.gravity) else "no gravity"
    sizes = f"{robot.coordinates} coordinates, {robot.total_mass:.4g} kg"
    return f"{robot.name}: {gravity}, {sizes}, {_tip(robot)}"


def _tip(robot: Robot) -> str:
    """Return whose tip is the robot's."""
    name, branched = robot.tip_name, len(set(robot.parents)) < len(robot.links)
    if robot.place(name)[2] is not None:
        return f"tip at frame {name}"
    return f"tip of {name}" + (", the last link of the longest chain" if branched and robot.tip is None else "")


def _rows(robot: Robot) -> list[tuple[str, ...]]:
    return [
        (
            _place(link),
            link.joint.describe(),
            f"{link.length:.4g} m",
            _section(link),
            f"{link.beam_mass if link.body is None else link.body.mass:.4g} kg",
            _deformation(link),
            _lump(link.payload),
            _lump(link.hub),
        )
        for link in robot.resolved().links
    ]


def _notes(robot: Robot) -> list[str]:
    """Return notes on values that were derived: numbers of shapes, loads of modes, bending frequencies, accuracy."""
    from flexarm.dynamics.accuracy.shape_truncation import expected_accuracy

    selected = [f"{name}: {selection.summary()}" for name, selection in select_bases(robot).items()]
    loads = zip(robot.resolved().links, carried_bodies(robot), strict=True)
    of_links = [note for link, carries in loads for note in (_load(link, carries), _bending(link, carries)) if note]
    return [*selected, *of_links, *filter(None, [expected_accuracy(robot)]), *_frames(robot)]


def _frames(robot: Robot) -> list[str]:
    """Return the places of the frames, in one note for each link."""
    found: dict[str, list[str]] = {}
    for frame in robot.frames:
        at = "" if frame.x is None else f" at {frame.x:.4g} m"
        where = f" {_numbers(frame.position)} m" if any(frame.position) else ""
        found.setdefault(frame.on, []).append(f"{frame.name}{at}{where}")
    return [f"frames on {link}: {', '.join(names)}" for link, names in found.items()]


def _bending(link: Link, carries: tuple[CarriedBody, ...]) -> str:
    """Return the first bending frequencies in both directions, which reveal a section rotated by 90 degrees."""
    if link.flexible is None:
        return ""
    counts = link.flexible.counts
    found = first_bending_frequencies(link, carries)
    parts = [
        f"{frequency:.3g} Hz along {family[-1]}{'' if family in counts else ' (no shapes)'}"
        for family, frequency in found.items()
    ]
    return f"{link.name}: first bending, clamped with its load: about {', '.join(parts)}"


def _load(link: Link, carries: tuple[CarriedBody, ...]) -> str:
    """Return the loads of a link's modes; empty if there are none."""
    basis = None if link.flexible is None else link.flexible.basis
    if not isinstance(basis, Modes) or not (carries or basis.given_load):
        return ""
    loads = reference_loads(link, carries)
    places = [f"{load.summary()} at {'its tip' if load.at == link.length else f'{load.at:.4g} m'}" for load in loads]
    counts = {} if link.flexible is None else link.flexible.counts
    turns = {axis for load in loads for axis, inertia in enumerate(load.hinged) if inertia}
    few = [
        name for name, axis in (("bend_z", 1), ("bend_y", 2)) if counts.get(name) in LIGHTENED_COUNTS and axis in turns
    ]
    share = f" (hinged: {100 * HINGED_SHARE:g} % of the inertia in {' and '.join(few)})" if few else ""
    given = " (given)" if basis.given_load else ""
    return f"{link.name}: its modes carry {' and '.join(places) or 'nothing'}{given}{share}"


def _place(link: Link) -> str:
    return link.name if link.parent is None else f"{link.name} on {link.parent}"


def _section(link: Link) -> str:
    if link.section is None:
        return ""
    sizes = " x ".join(f"{size * 1000:.4g}" for size in link.section.extents().values())
    return f"{link.section.shape} {sizes} mm" if sizes else link.section.shape


def _deformation(link: Link) -> str:
    if link.body is not None:
        largest = max(link.body.inertia_matrix[axis][axis] for axis in range(3))
        return f"rigid body, {largest:.4g} kg m2" if largest else "rigid body"
    return "rigid" if link.flexible is None else _flexible(link, link.flexible)


def _flexible(link: Link, flexible: Flexible) -> str:
    basis, counts = flexible.basis, flexible.counts
    if isinstance(basis, Reduced):  # it may keep another number than the family's own
        counts = {family: basis.coordinates(family, count) for family, count in counts.items()}
    words = [*(f"{family} {count}" for family, count in counts.items()), basis.type]
    more = {"shear": flexible.shear, "rotary inertia": link.rotary_inertia}
    model = "no stiffening" if link.stiffening == "none" else link.stiffening
    return ", ".join([*words, *filter(more.get, more), model])


def _lump(lump: PointMass | None) -> str:
    if lump is None:
        return ""
    if lump.inertia is None:
        return f"{lump.mass:.4g} kg"
    largest = max(lump.inertia_matrix[axis][axis] for axis in range(3))
    inertia = f"{largest:.4g} kg m2"
    return f"{lump.mass:.4g} kg, {inertia}" if lump.mass else inertia


def _numbers(values: tuple[float, ...]) -> str:
    return f"({', '.join(format_number(value) for value in values)})"
