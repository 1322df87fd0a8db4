"""Live plots of chosen quantities, with a line at the time shown."""

from __future__ import annotations

import html
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flexarm.show.colours import STYLES
from flexarm.studio.curves import Curves, Quantities

if TYPE_CHECKING:
    from flexarm.studio.page import Page

FIRST = ("joints", "tip deflection", "energies")  # what is plotted before anybody chose
SELDOM = 0.15  # s: how often lines follow while it plays
NOTHING = "nothing"
HEIGHT = 190  # pixels
GHOST, CURSOR = "#999999", "#d1495b"
DASHES = ((4, 3), (2, 2), (8, 3), (1, 3))


class Plot:
    """One plot, and the choice of what is in it."""

    def __init__(self, page: Page, number: int) -> None:
        self._page, self._gui = page, page.client.gui
        self._choice = self._gui.add_dropdown(f"plot {number + 1}", (NOTHING, *FIRST), initial_value=FIRST[number])
        self._place = self._gui.add_folder(None)
        self._drawn: Any = None
        self._curves: Curves | None = None
        self._labels: list[str] = []
        self._title = ""

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
            self._choice.value = kept if kept in names else NOTHING
        chosen = str(self._choice.value)
        self._curves = None if chosen == NOTHING else run.curves(chosen, others)
        self._draw(chosen)

    def _draw(self, title: str) -> None:
        found = self._curves
        labels = [] if found is None else list(found.values)
        if self._drawn is not None and (labels != self._labels or not labels or self._title != title):
            self._drawn.remove()
            self._drawn = None
        self._labels, self._title = labels, title
        if found is None or not labels:
            return
        data = tuple(found.with_cursor(self._page.line.time))
        if self._drawn is not None:
            self._drawn.data = data
            return
        with self._place:
            self._drawn = self._gui.add_uplot(
                data,
                (
                    {"label": "t (s)"},
                    *(_series(k, label, label in found.ghosts) for k, label in enumerate(labels)),
                    {"label": "now", "stroke": CURSOR},
                ),
                title=html.escape(f"{title} ({found.unit})" if found.unit and found.unit != "1" else title),
                scales={"x": {"time": False}},
                axes=({"label": "t (s)", "labelSize": 18, "size": 34}, {"size": 62}),
                legend={"show": len(labels) <= 6},
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


def _series(k: int, label: str, ghost: bool) -> dict[str, Any]:
    label = html.escape(label)  # plots take words for HTML, and names may be anybody's
    if ghost:
        return {"label": label, "stroke": GHOST, "width": 1, "dash": DASHES[k % len(DASHES)]}
    return {"label": label, "stroke": STYLES[k % len(STYLES)][0], "width": 1.5}
