"""Changes to a description by dotted paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from flexarm.foundation.messages import describe_unknown
from flexarm.robot.description import Description
from flexarm.robot.errors import DescriptionError, DescriptionProblem

_Change = tuple[list[str], object, str]  # steps that are left, the value, the whole path


def apply_changes(description: Description, changes: Mapping[str, object]) -> Any:
    """Replace the values at paths of a description; missing parts on the way are created.

    Parts on a path are returned as plain data without defaults, to be validated; other parts are kept unchanged.
    """
    steps: list[_Change] = []
    for path, value in changes.items():
        if not isinstance(path, str):
            raise DescriptionError(
                [DescriptionProblem("changes", ..., f"a path is text such as 'links.fore.length', but got {path!r}")]
            )
        steps.append((path.split("."), value, path))
    return _put(description, steps)


def value_at(description: Description, path: str) -> tuple[Any, str]:
    """Return the value at a path and its unit (empty if it has none)."""
    node: Any = description
    unit = ""
    for step in path.split("."):
        if isinstance(node, Description):
            if step not in type(node).model_fields:
                sentence = describe_unknown(f"there is no {step!r}", step, type(node).model_fields)
                raise DescriptionError([DescriptionProblem(path, ..., sentence)])
            node, unit = getattr(node, step), _unit(node, step)
        elif isinstance(node, tuple):
            node = node[_index(node, step, path)]
        else:
            there = "the robot has none here" if node is None else f"its owner is {node!r}"
            raise DescriptionError([DescriptionProblem(path, ..., f"there is no {step!r}: {there}")])
    return node, unit


def _unit(owner: Description, field: str) -> str:
    """Return the unit in the annotation of a field; empty if there is none."""
    info = type(owner).model_fields[field]
    parts = get_args(info.annotation)  # of a union with None
    inner = [each for part in parts for each in getattr(part, "__metadata__", ())]
    return next((each.unit for each in (*info.metadata, *inner) if hasattr(each, "unit")), "")


def _put(node: Any, changes: list[_Change]) -> Any:
    """Return a copy of `node` with values put at the end of their steps, one after the other."""
    inside: dict[str | int, list[_Change]] = {}
    for (*steps,), value, path in changes:
        if not steps:
            node, inside = value, {}  # replaces earlier changes inside the node
            continue
        step = _step(node, steps[0], path)
        inside.setdefault(step, []).append((steps[1:], value, path))
    if not inside:
        return node
    if isinstance(node, (list, tuple)):
        return [_put(item, inside.get(index, [])) for index, item in enumerate(node)]
    if isinstance(node, Description):
        own = vars(node)
        return {**dict(node.given), **{step: _put(own.get(str(step)), part) for step, part in inside.items()}}
    held: dict[str | int, Any] = dict(node or {})
    return {**held, **{step: _put(held.get(step), part) for step, part in inside.items()}}


def _step(node: Any, step: str, path: str) -> str | int:
    """Return the field or index that a step selects in a node."""
    if isinstance(node, (list, tuple)):
        return _index(node, step, path)
    if node is None or isinstance(node, (Description, Mapping)):
        return step
    raise DescriptionError([DescriptionProblem(path, ..., f"has no part {step!r} to change: its owner is {node!r}")])


def _index(items: list[Any] | tuple[Any, ...], step: str, path: str) -> int:
    """Return the index of the entry that a step selects in a list, by name or by index."""
    names = [_name_of(item) for item in items]
    if step in names:
        return names.index(step)
    if step.isdecimal() and int(step) < len(items):
        return int(step)
    allowed = [*(name for name in names if name is not None), *(str(index) for index in range(len(items)))]
    raise DescriptionError([DescriptionProblem(path, ..., describe_unknown(f"there is no {step!r}", step, allowed))])


def _name_of(item: object) -> str | None:
    if isinstance(item, Mapping):
        return item.get("name")
    return getattr(item, "name", None)
