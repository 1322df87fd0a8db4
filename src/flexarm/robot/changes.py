"""Changes to a description by dotted paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flexarm.foundation.sentences import unknown

from .description import Description
from .errors import DescriptionError, Problem


def changed(description: Description, changes: Mapping[str, object]) -> Any:
    """The description with the value at each path replaced; parts missing on the way are made.

    What lies on a path comes back as plain data without defaults, to be validated anew; the rest stays as it is.
    """
    data: Any = description
    for path, value in changes.items():
        if not isinstance(path, str):
            raise DescriptionError(
                [Problem("changes", ..., f"a path is text such as 'links.fore.length', but got {path!r}")]
            )
        data = _put(data, path.split("."), value, path)
    return data


def _put(node: Any, steps: list[str], value: object, path: str) -> Any:
    """A copy of `node` with `value` put where `steps` lead."""
    if not steps:
        return value
    step, *rest = steps
    if isinstance(node, Description):
        inner = getattr(node, step) if step in type(node).model_fields else None
        return {**dict(node.given()), step: _put(inner, rest, value, path)}
    if isinstance(node, (list, tuple)):
        index = _index(node, step, path)
        return [*node[:index], _put(node[index], rest, value, path), *node[index + 1 :]]
    if node is None or isinstance(node, Mapping):
        inside = node or {}
        return {**inside, step: _put(inside.get(step), rest, value, path)}
    raise DescriptionError([Problem(path, ..., f"has no part {step!r} to change: its owner is {node!r}")])


def _index(items: list[Any] | tuple[Any, ...], step: str, path: str) -> int:
    """Which entry of a list a step means: by name where the entries have names, else by index."""
    names = [_name_of(item) for item in items]
    if step in names:
        return names.index(step)
    if step.isdecimal() and int(step) < len(items):
        return int(step)
    allowed = [*(name for name in names if name is not None), *(str(index) for index in range(len(items)))]
    raise DescriptionError([Problem(path, ..., unknown(f"there is no {step!r}", step, allowed))])


def _name_of(item: object) -> str | None:
    if isinstance(item, Mapping):
        return item.get("name")
    return getattr(item, "name", None)
