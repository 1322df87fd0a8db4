"""Properties of descriptions that are computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["remembered"]

if TYPE_CHECKING:
    from builtins import property as remembered
else:

    class remembered(property):
        """A property that a description computes when it is first asked for: it does not change, nor do its parts.

        What is remembered stands in a slot beside the fields, so that copies (which may have other fields), pickles
        and comparisons know nothing of it. It must not be something that its users could change. Of two threads that
        ask at once both compute it.
        """

        def __get__(self, owner: Any, kind: Any = None) -> Any:
            if owner is None:
                return self
            try:
                known = owner._known
            except AttributeError:
                known = {}
                object.__setattr__(owner, "_known", known)
            if self not in known:
                known[self] = super().__get__(owner, kind)
            return known[self]
