"""Panel with a field for every parameter of a case, in folders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flexarm.foundation.messages import format_number
from flexarm.robot.io.files import SIMULATION
from flexarm.studio.case import Parameter, StudioCase
from flexarm.studio.panels.widgets import add_number_box, on_input

OnChange = Callable[[str, float | str], None]

MAX_FIELD_COUNT = 400  # browsers become slow with more
MAIN_NAMES = ("length", "section", "material.E", "material.damping", "payload.mass", "drive.stiffness", "masses")


class ParametersPanel:
    """The parameter fields of a page; `on_change` is called with the name and the typed text."""

    def __init__(self, gui: Any, on_change: OnChange) -> None:
        self._gui, self._on_change = gui, on_change
        self._folder = gui.add_folder(None)
        self._folders: list[Any] = []
        self._handles: dict[str, Any] = {}

    def build(self, case: StudioCase | None) -> None:
        """Create the fields of a case; None has none."""
        for folder in self._folders:
            folder.remove()
        self._folders, self._handles = [], {}
        parameters = [] if case is None else case.parameters()
        groups: dict[str, list[Parameter]] = {}
        for each in _with_fields(parameters):
            groups.setdefault(folder_of(each), []).append(each)
        with self._folder:
            for group, members in groups.items():
                self._add_group(group, members)
            if (hidden := len(parameters) - MAX_FIELD_COUNT) > 0:
                text = f"{hidden} more parameters have no field here; change them in the robot file."
                self._folders.append(self._gui.add_markdown(text))

    def show(self, case: StudioCase) -> None:
        """Show the values of a case; build the fields anew if it has other parameters."""
        values = {each.name: each.value for each in _with_fields(case.parameters())}
        if values.keys() != self._handles.keys():
            self.build(case)
        else:
            for name, handle in self._handles.items():
                handle.value = format_number(values[name])

    def _add_group(self, group: str, members: list[Parameter]) -> None:
        main = [each for each in members if is_main(each)]
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
        handle = add_number_box(self._gui, field_label(parameter, group), parameter.value, parameter.name)
        self._handles[parameter.name] = handle

        on_input(lambda: self._on_change(parameter.name, handle.value), handle)


def _with_fields(parameters: list[Parameter]) -> list[Parameter]:
    """Return the parameters that have fields, those of the simulation first."""
    return sorted(parameters, key=lambda each: not each.steps)[:MAX_FIELD_COUNT]


def folder_of(parameter: Parameter) -> str:
    """Return the folder of a parameter: that of its link, of the robot or of the simulation."""
    first, *rest = parameter.name.split(".")
    return SIMULATION if parameter.steps else rest[0] if first == "links" else "robot"


def is_main(parameter: Parameter) -> bool:
    """Return True for parameters that are changed most often."""
    root, _, inner = parameter.name.partition(".")
    in_link = inner.partition(".")[2]
    return bool(parameter.steps) or root == "gravity" or in_link.startswith(MAIN_NAMES) or in_link.endswith(MAIN_NAMES)


def field_label(parameter: Parameter, group: str) -> str:
    """Return the label of a parameter; `page.js` changes labels with `count` by one."""
    name = " ".join(parameter.steps) or parameter.name.removeprefix(f"links.{group}.")
    unit = "count" if parameter.is_integer else parameter.unit
    return f"{name} ({unit})" if unit else name
