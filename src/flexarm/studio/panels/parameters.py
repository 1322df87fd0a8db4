"""A knob for every number of a case, in folders; what comes from them is told by path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flexarm.robot.io.files import SIMULATION
from flexarm.studio.case import Number, StudioCase
from flexarm.studio.panels.widgets import add_number_box, written

Turned = Callable[[str, float | str], None]

MOST = 400  # knobs of a page: a browser bears no more
MAIN = ("length", "section", "material.E", "material.damping", "payload.mass", "drive.stiffness", "masses")


class Knobs:
    """The knobs of a page, made anew for another robot. `turned` is called with path and what was typed."""

    def __init__(self, gui: Any, turned: Turned) -> None:
        self._gui, self._turned = gui, turned
        self._place = gui.add_folder(None)
        self._folders: list[Any] = []
        self._handles: dict[str, Any] = {}
        self._shown: set[str] = set()

    @property
    def paths(self) -> list[str]:
        return list(self._handles)

    def build(self, case: StudioCase | None) -> None:
        """For this case; None has nothing to turn."""
        for folder in self._folders:
            folder.remove()
        self._folders, self._handles = [], {}
        numbers = [] if case is None else case.numbers()
        self._shown = {each.path for each in numbers[:MOST]}
        groups: dict[str, list[Number]] = {}
        for each in sorted(numbers, key=lambda each: not each.path.startswith(SIMULATION)):
            groups.setdefault(group_of(each.path), []).append(each)
        with self._place:
            for group, members in groups.items():
                self._group(group, members)
            if len(numbers) > MOST:
                said = f"{len(numbers) - MOST} more numbers have no knob here: a robot file can change them."
                self._folders.append(self._gui.add_markdown(said))

    def show(self, case: StudioCase) -> None:
        """Put the values of a case into the knobs, after an undo; other ones where it has other numbers."""
        numbers = case.numbers()
        if {each.path for each in numbers[:MOST]} != self._shown:
            self.build(case)
            return
        for each in numbers:
            if each.path in self._handles:
                self._handles[each.path].value = written(each.value)

    def _group(self, group: str, members: list[Number]) -> None:
        main = [each for each in members if group == SIMULATION or is_main(each.path)]
        folder = self._gui.add_folder(group, expand_by_default=bool(main))
        self._folders.append(folder)
        with folder:
            for each in main:
                self._add(each, group)
            if rest := [each for each in members if each not in main]:
                with self._gui.add_folder("more", expand_by_default=False):
                    for each in rest:
                        self._add(each, group)

    def _add(self, number: Number, group: str) -> None:
        if len(self._handles) >= MOST:
            return
        handle = add_number_box(self._gui, label_of(number, group), number.value, number.path)
        self._handles[number.path] = handle

        async def told(event: Any, path: str = number.path) -> None:
            if event.client is not None:  # a hand, not `show`
                self._turned(path, event.target.value)

        handle.on_update(told)


def group_of(path: str) -> str:
    """The folder in which a number is.

    >>> group_of("links.fore.payload.mass"), group_of("gravity.2"), group_of("simulation.duration")
    ('fore', 'robot', 'simulation')
    """
    first, *rest = path.split(".")
    return rest[0] if first == "links" else SIMULATION if first == SIMULATION else "robot"


def is_main(path: str) -> bool:
    """Whether a number is one that people turn first."""
    inside = path.split(".", 2)[-1]
    return path.startswith(("links.", "gravity.")) and (
        path.startswith("gravity.") or any(inside.startswith(name) or inside.endswith(name) for name in MAIN)
    )


def label_of(number: Number, group: str) -> str:
    """What stands beside a knob; `page.js` turns counts by one."""
    own = number.path.removeprefix(f"links.{group}.").removeprefix(f"{SIMULATION}.").replace(":", " ")
    unit = "count" if number.whole else number.unit
    return f"{own} ({unit})" if unit else own
