"""Panel with a field for every parameter of a case, in folders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flexarm.robot.io.files import SIMULATION
from flexarm.studio.case import Parameter, StudioCase
from flexarm.studio.panels.widgets import add_number_box, format_number, on_input

OnChange = Callable[[str, float | str], None]

MAX_FIELD_COUNT = 400  # browsers become slow with more
MAIN_NAMES = ("length", "section", "material.E", "material.damping", "payload.mass", "drive.stiffness", "masses")


class ParametersPanel:
    """The parameter fields of a page; `on_change` is called with the path and the typed text."""

    def __init__(self, gui: Any, on_change: OnChange) -> None:
        self._gui, self._on_change = gui, on_change
        self._folder = gui.add_folder(None)
        self._folders: list[Any] = []
        self._handles: dict[str, Any] = {}
        self._shown_paths: set[str] = set()

    @property
    def paths(self) -> list[str]:
        return list(self._handles)

    def build(self, case: StudioCase | None) -> None:
        """Create the fields of a case; None has none."""
        for folder in self._folders:
            folder.remove()
        self._folders, self._handles = [], {}
        parameters = [] if case is None else case.parameters()
        self._shown_paths = {each.path for each in parameters[:MAX_FIELD_COUNT]}
        groups: dict[str, list[Parameter]] = {}
        for each in sorted(parameters, key=lambda each: not each.path.startswith(SIMULATION)):
            groups.setdefault(folder_of(each.path), []).append(each)
        with self._folder:
            for group, members in groups.items():
                self._group(group, members)
            if len(parameters) > MAX_FIELD_COUNT:
                hidden = len(parameters) - MAX_FIELD_COUNT
                text = f"{hidden} more parameters have no field here; change them in the robot file."
                self._folders.append(self._gui.add_markdown(text))

    def show(self, case: StudioCase) -> None:
        """Show the values of a case; build the fields anew if it has other parameters."""
        parameters = case.parameters()
        if {each.path for each in parameters[:MAX_FIELD_COUNT]} != self._shown_paths:
            self.build(case)
            return
        for each in parameters:
            if each.path in self._handles:
                self._handles[each.path].value = format_number(each.value)

    def _group(self, group: str, members: list[Parameter]) -> None:
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

    def _add(self, parameter: Parameter, group: str) -> None:
        if len(self._handles) >= MAX_FIELD_COUNT:
            return
        handle = add_number_box(self._gui, field_label(parameter, group), parameter.value, parameter.path)
        self._handles[parameter.path] = handle

        on_input(lambda: self._on_change(parameter.path, handle.value), handle)


def folder_of(path: str) -> str:
    """Return the folder of a parameter.

    >>> folder_of("links.fore.payload.mass"), folder_of("gravity.2"), folder_of("simulation.duration")
    ('fore', 'robot', 'simulation')
    """
    first, *rest = path.split(".")
    return rest[0] if first == "links" else SIMULATION if first == SIMULATION else "robot"


def is_main(path: str) -> bool:
    """Return True for parameters that are changed most often."""
    name_in_link = path.split(".", 2)[-1]
    return path.startswith(("links.", "gravity.")) and (
        path.startswith("gravity.")
        or any(name_in_link.startswith(each) or name_in_link.endswith(each) for each in MAIN_NAMES)
    )


def field_label(parameter: Parameter, group: str) -> str:
    """Return the label of a parameter; `page.js` changes labels with `count` by one."""
    name = parameter.path.removeprefix(f"links.{group}.").removeprefix(f"{SIMULATION}.").replace(":", " ")
    unit = "count" if parameter.is_integer else parameter.unit
    return f"{name} ({unit})" if unit else name
