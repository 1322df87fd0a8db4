"""YAML reader with limits, since aliases, nesting and long numbers let small files need much memory and time."""

from __future__ import annotations

from typing import Any, cast

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.constructor import ConstructorError, RoundTripConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent
from ruamel.yaml.nodes import ScalarNode

MAX_VALUES = 50_000  # keys, values, lists and mappings; aliases count like their values
MAX_DEPTH = 50  # of nested lists and mappings
MAX_DIGITS = 400  # of a whole number


class BoundsError(MarkedYAMLError):
    """Error of a valid file that exceeds the limits."""


class BoundedComposer(Composer):
    """Composer of the tree of a document that stops at the limits."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._count = self._level = 0
        self._sizes: dict[str, int] = {}  # numbers of values by anchor

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.parser.peek_event()
        before = self._count
        self._count += self._sizes.get(event.anchor, 1) if isinstance(event, AliasEvent) else 1
        self._level += 1
        if self._count > MAX_VALUES:
            raise BoundsError(None, None, f"holds more than {MAX_VALUES} values", event.start_mark)
        if self._level > MAX_DEPTH:
            raise BoundsError(None, None, f"is nested more than {MAX_DEPTH} deep", event.start_mark)
        node = super().compose_node(parent, index)
        if isinstance(node, ScalarNode) and len(node.value) > MAX_DIGITS and str(node.tag).endswith(":int"):
            raise BoundsError(None, None, f"has a whole number of more than {MAX_DIGITS} digits", event.start_mark)
        if event.anchor is not None and not isinstance(event, AliasEvent):
            self._sizes[event.anchor] = self._count - before
        self._level -= 1
        return node


class LocatedConstructor(RoundTripConstructor):
    """Constructor of values that reports values not matching their tag with their place."""

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except YAMLError:
            raise
        except Exception:  # from the conversion of a date or a tagged number
            kind = str(node.tag).rpartition(":")[2]
            raise ConstructorError(None, None, f"this is not a valid {kind}", node.start_mark) from None


def bounded_yaml() -> YAML:
    """Return a reader that keeps line numbers and refuses files beyond the limits."""
    reader: Any = YAML()
    reader.Composer, reader.Constructor = BoundedComposer, LocatedConstructor
    return cast(YAML, reader)
