"""Live plots of chosen quantities, with a line at the time shown."""

from __future__ import annotations

import html
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flexarm.plotting.colours import LINE_STYLES
from flexarm.studio.curves import CURSOR, Curves, Quantities

if TYPE_CHECKING:
    from flexarm.studio.page import Page

FIRST = ("joints", "tip deflection", "energies")  # what is plotted before anybody chose
INSTEAD = {"tip deflection": "tip"}  # of robots that do not bend
SELDOM = 0.15  # s: how often lines follow while it plays
NOTHING = "nothing"
HEIGHT = 190  # pixels
RED = "#d1495b"
PALE = "88"  # of 255: how much of a colour is left of another run's
GOLDEN = 137.5  # degrees between hues of more curves than there are colours
DASHES = ((4, 3), (2, 2), (8, 3), (1, 3))
# Names of many curves in few lines, and none of the needle at the time shown, which is the last of each plot.
STYLE = (
    "<style>.uplot .u-legend{line-height:1.15;margin:0}.uplot .u-legend :is(th,td){padding:0 2px}"
    ".u-legend .u-series:last-child,.u-over>.u-cursor-pt:last-child{display:none}</style>"
)


class Plot:
    """One plot, and the choice of what is in it."""

    def __init__(self, page: Page, number: int) -> None:
        self._page, self._gui = page, page.client.gui
        self._choice = self._gui.add_dropdown(f"plot {number + 1}", (NOTHING, *FIRST), initial_value=FIRST[number])
        self._place = self._gui.add_folder(None)
        self._drawn: Any = None
        self._curves: Curves | None = None
        self._looks = _PlotLayout()

        async def chosen(event: Any) -> None:
            if event.client is not None:
                page.do(page.plots.changed)

        self._choice.on_update(chosen)

    def changed(self, run: Quantities, others: Mapping[str, Quantities]) -> None:
        """Another run, or another choice."""
        names = (NOTHING, *run.names)
        if tuple(self._choice.options) != names:
            kept = str(self._choice.value)
            self._choice.options = names
            self._choice.value = next((each for each in (kept, INSTEAD.get(kept)) if each in names), NOTHING)
        chosen = str(self._choice.value)
        self._curves = None if chosen == NOTHING else run.curves(chosen, others).readable()
        self._draw(chosen)

    def _draw(self, name: str) -> None:
        found = self._curves
        looks = _PlotLayout() if found is None else _PlotLayout.of(found, name)
        if self._drawn is not None and looks != self._looks:
            self._drawn.remove()
            self._drawn = None
        self._looks = looks
        if found is None or not found.values:
            return
        data = tuple(found.with_cursor(self._page.line.time))
        if self._drawn is not None:
            self._drawn.data = data
            return
        with self._place:
            self._drawn = self._gui.add_uplot(
                data,
                ({"label": "t (s)"}, *_series(found), {"label": "now", "stroke": RED, "scale": "now"}),
                title=html.escape(looks.title),
                scales=looks.scales,
                axes=({"label": "t (s)", "labelSize": 18, "size": 34}, {"size": 62}),
                legend={"show": True},
                height=HEIGHT,
                padding=(12, 24, 0, 0),
            )

    def follow(self) -> None:
        """Move the line to the time shown."""
        if self._drawn is not None and self._curves is not None:
            self._drawn.data = tuple(self._curves.with_cursor(self._page.line.time))


class PlotsPanel:
    """The plots of a page."""

    def __init__(self, page: Page) -> None:
        self._page, self._told = page, 0.0
        page.client.gui.add_html(STYLE)
        self._plots = [Plot(page, number) for number in range(len(FIRST))]

    def changed(self) -> None:
        """Another run, or another choice."""
        result = self._page.result
        if result is not None:
            run = Quantities(result.run)
            others = {name: Quantities(ghost) for name, ghost in self._page.view.ghost_runs.items()}
            for plot in self._plots:
                plot.changed(run, others)

    def follow(self) -> None:
        now = time.monotonic()
        if not self._page.line.playing or now - self._told > SELDOM:
            self._told = now
            for plot in self._plots:
                plot.follow()


@dataclass(frozen=True)
class _PlotLayout:
    """What a plot is made anew for; other numbers alone are put into the one that is there."""

    title: str = ""
    labels: tuple[str, ...] = ()
    low_high: tuple[float, float] | None = None

    @staticmethod
    def of(found: Curves, name: str) -> _PlotLayout:
        title = f"{name} ({found.unit})" if found.unit not in ("", "1") else name
        if found.whole:
            return _PlotLayout(title, tuple(found.values))
        low, high = found.range  # uPlot finds no range of numbers among which there are others
        edge = 0.05 * (high - low) or max(0.05 * abs(high), 1e-9)
        return _PlotLayout(title, tuple(found.values), (low - edge, high + edge))

    @property
    def scales(self) -> dict[str, Any]:
        own = {} if self.low_high is None else {"y": {"range": self.low_high}}
        return {"x": {"time": False}, "now": {"range": CURSOR}, **own}


def _series(found: Curves) -> list[dict[str, Any]]:
    """How each curve is drawn: parts of one alike, those of other runs paler and dashed."""
    own = [label for label in found.values if label not in found.parts and label not in found.ghosts]
    drawn = []
    for label in found.values:
        whole = found.parts.get(label, label)
        name, run = found.ghosts.get(whole, (whole, None))
        style = {"width": 1.5} if run is None else {"width": 1.25, "dash": DASHES[run % len(DASHES)]}
        stroke = _colour(own.index(name), pale=run is not None)
        drawn.append({"label": html.escape(label), "stroke": stroke, **style})  # names may be anybody's
    return drawn


def _colour(k: int, pale: bool) -> str:
    if k < len(LINE_STYLES):
        return LINE_STYLES[k][0] + (PALE if pale else "")
    return f"hsl({GOLDEN * k % 360:.0f} 70% {65 if pale else 40}%)"
