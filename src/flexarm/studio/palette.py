"""Colours of the page: kinds of parts, and bands from nothing to the largest value, readable in grey."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array

Colour = tuple[int, int, int]
Bands = np.ndarray[Any, np.dtype[np.int64]]

BANDS = 12
KIND_COLOURS: dict[str, Colour] = {
    "link": (45, 110, 160),
    "joint": (60, 60, 60),
    "drive": (120, 95, 60),
    "mass": (209, 73, 91),
    "ground": (130, 130, 130),
}
_STOPS: tuple[Colour, ...] = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))


def band_colours() -> list[Colour]:
    """One colour for each band, from dark to light."""
    place = np.linspace(0, len(_STOPS) - 1, BANDS)
    mixed = [np.interp(place, range(len(_STOPS)), [stop[k] for stop in _STOPS]) for k in range(3)]
    return [(int(r), int(g), int(b)) for r, g, b in zip(*mixed, strict=True)]


def bands_of(values: Array, largest: float) -> Bands:
    """The band of each value between 0 and the largest.

    >>> bands_of(np.array([0.0, 0.5, 1.0]), 1.0)
    array([ 0,  6, 11])
    """
    if not largest > 0:
        return np.zeros(values.shape, dtype=int)
    return np.asarray(np.clip((values / largest * BANDS).astype(int), 0, BANDS - 1))


def legend(quantity: str, unit: str, largest: float) -> str:
    """The bands with their ends in words, as HTML."""
    cells = "".join(f'<span style="flex:1;background:rgb{colour}"></span>' for colour in band_colours())
    bar = f'<div style="display:flex;height:14px;border:1px solid #888">{cells}</div>'
    said = "" if unit == "1" else f" {unit}"
    ends = (
        f'<div style="display:flex;justify-content:space-between"><span>0</span><span>{largest:.3g}{said}</span></div>'
    )
    return f'<div style="font-size:12px;padding:4px 10px">{html.escape(quantity)}{bar}{ends}</div>'
