"""From a figure to bytes."""

from __future__ import annotations

from typing import Any

import numpy as np


def pixels(figure: Any) -> Any:
    """What a figure looks like, as an array (height, width, 3) of bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
