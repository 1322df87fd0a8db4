"""What a view shows at one moment: all that moves in it. The page and pictures of it are drawn from the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array


def _nothing() -> Array:
    return np.zeros((0, 2, 3))


@dataclass(frozen=True)
class Still:
    """An arm: corners (v, 3), triangles (f, 3) between them, and a colour (v, 3) of bytes for each corner.

    ghosts: corners and triangles of other arms to compare with, or None.
    arrows: (n, 2, 3) from where to where; size: of the robot (m).
    """

    points: Any
    faces: Any
    colours: Any
    ghosts: tuple[Any, Any] | None = None
    arrows: Array = field(default_factory=_nothing)
    size: float = 1.0
