"""How figures look: one set of colours and dashes, readable in grey; figures that a notebook shows by itself."""

from __future__ import annotations

import io
from textwrap import fill
from typing import Any

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from flexarm.show.colours import JOINT as JOINT
from flexarm.show.colours import STYLES as STYLES
from flexarm.show.colours import TWIN as TWIN


class Picture(Figure):
    """A figure that belongs to no window: save it with `savefig`; a notebook shows it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options, layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=100)
        return file.getvalue()


def line(plot: Any, k: int, t: Any, values: Any, label: str) -> None:
    """A line in the k-th style."""
    colour, dashes = STYLES[k % len(STYLES)]
    plot.plot(t, values, color=colour, linestyle=dashes, linewidth=1.2, label=plain(label))


def plain(text: str) -> str:
    """A text as it is written: a $ in a name is a $."""
    return text.replace("$", r"\$")


def wrapped(text: str, width: float) -> str:
    """A title in as many lines as it takes at this width (inches)."""
    return plain(fill(text, int(11 * width)))


def grid(plot: Any) -> None:
    plot.grid(color="0.9", linewidth=0.6)
    plot.set_axisbelow(True)
