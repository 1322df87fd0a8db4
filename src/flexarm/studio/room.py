"""A room that can be called."""

from __future__ import annotations

from types import ModuleType
from typing import Any


class Room(ModuleType):
    """`fa.studio` is both the room and the call that opens it."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from flexarm.studio.server import studio

        return studio(*arguments, **options)
