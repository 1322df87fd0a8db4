"""Colours of the page: kinds of parts, and those from nothing to the largest value, readable in grey."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array

Colour = tuple[int, int, int]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]

KIND_COLOURS: dict[str, Colour] = {
    "link": (45, 110, 160),
    "joint": (60, 60, 60),
    "drive": (120, 95, 60),
    "mass": (209, 73, 91),
    "ground": (130, 130, 130),
}
GHOST: Colour = (150, 150, 150)
FAINT = 0.35  # opacity of ghosts
TRACE: Colour = (209, 73, 91)
PUSHES: Colour = (217, 96, 15)
STOPS: tuple[Colour, ...] = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))


def shades(values: Array, largest: float) -> Bytes:
    """The colour (..., 3) of each value between 0 and the largest, from dark to light.

    >>> shades(np.array([0.0, 0.5, 1.0]), 1.0)[:, 0]
    array([ 68,  33, 253], dtype=uint8)
    """
    share = np.clip(values / largest, 0.0, 1.0) if largest > 0 else np.zeros(np.shape(values))
    place = share * (len(STOPS) - 1)
    mixed = [np.interp(place, range(len(STOPS)), [stop[k] for stop in STOPS]) for k in range(3)]
    return np.stack(mixed, axis=-1).round().astype(np.uint8)


def light(colours: Bytes) -> Any:
    """Bytes of colours as amounts of light, 0 to 1: what graphics cards mix.

    >>> light(np.array([0, 128, 255], dtype=np.uint8)).round(3)
    array([0.   , 0.216, 1.   ], dtype=float32)
    """
    share = np.arange(256) / 255
    table = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4).astype(np.float32)
    return table[colours]


def legend_words(quantity: str, unit: str, largest: float) -> tuple[str, str, str]:
    """What it is of, and both ends."""
    return quantity, "0", f"{largest:.3g}" + ("" if unit == "1" else f" {unit}")


def legend(words: tuple[str, str, str]) -> str:
    """The colours with these words, as HTML."""
    quantity, low, high = (html.escape(each) for each in words)
    bar = f"height:14px;border:1px solid #888;background:linear-gradient(90deg,{','.join(f'rgb{c}' for c in STOPS)})"
    ends = f'<div style="display:flex;justify-content:space-between"><span>{low}</span><span>{high}</span></div>'
    return f'<div style="font-size:12px;padding:4px 10px">{quantity}<div style="{bar}"></div>{ends}</div>'
