"""Figures as pictures in a panel."""

from __future__ import annotations

from typing import Any

from flexarm.show.pixels import pixels

DPI = 110


def image_of(figure: Any, size: tuple[float, float]) -> Any:
    """A figure of so many inches as an array (height, width, 3) of bytes."""
    figure.set_size_inches(*size)
    figure.set_dpi(DPI)
    return pixels(figure)
