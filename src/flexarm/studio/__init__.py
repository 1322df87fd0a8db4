"""The studio: a robot seen, changed and understood in the browser."""

import sys
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """The call and the room in which it lives have one name: once a file of the room is imported, `fa.studio` is the
    room, so the room can be called, too."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from flexarm.studio.server import studio

        return studio(*arguments, **options)


sys.modules[__name__].__class__ = _Room
