"""Panel of plots of chosen quantities, with a cursor at the current time."""

from __future__ import annotations

import html
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flexarm.plotting.colours import LINE_STYLES
from flexarm.studio.curves import CURSOR_RANGE, Curves, Quantities
from flexarm.studio.panels.widgets import on_input

if TYPE_CHECKING:
    from flexarm.studio.page import Page

DEFAULT_QUANTITIES = ("joints", "tip deflection", "energies")
RIGID_QUANTITIES = {"tip deflection": "tip"}  # of rigid robots
CURSOR_INTERVAL_S = 0.15  # while playing
NO_QUANTITY = "nothing"
PLOT_HEIGHT_PX = 190
CURSOR_COLOUR = "#d1495b"
GHOST_ALPHA = "88"  # hexadecimal opacity
HUE_STEP_DEG = 137.5  # golden angle, for more curves than there are styles
GHOST_DASHES = ((4, 3), (2, 2), (8, 3), (1, 3))


class Plot:
    """One plot with the choice of its quantity; it is created anew if its title, curves or range change."""

    def __init__(self, page: Page, number: int) -> None:
        self._page, self._gui = page, page.client.gui
        self._choice = self._gui.add_dropdown(
            f"plot {number + 1}", (NO_QUANTITY, *DEFAULT_QUANTITIES), initial_value=DEFAULT_QUANTITIES[number]
        )
        self._folder = self._gui.add_folder(None)
        self._drawn: Any = None
        self._curves: Curves | None = None
        self._layout: Any = None

        on_input(lambda: page.submit(page.plots.update), self._choice)

    def update(self, run: Quantities, others: Mapping[str, Quantities]) -> None:
        """Draw the chosen quantity of a run and of the runs to compare with."""
        names = (NO_QUANTITY, *run.names)
        if tuple(self._choice.options) != names:
            kept = str(self._choice.value)
            self._choice.options = names
            self._choice.value = next(
                (each for each in (kept, RIGID_QUANTITIES.get(kept)) if each in names), NO_QUANTITY
            )
        chosen = str(self._choice.value)
        self._curves = None if chosen == NO_QUANTITY else run.curves(chosen, others).in_readable_units()
        self._draw(chosen)

    def _draw(self, name: str) -> None:
        found = self._curves
        layout = None if found is None else (name, found.unit, list(found.values), _incomplete_range(found))
        if self._drawn is not None and layout != self._layout:
            self._drawn.remove()
            self._drawn = None
        self._layout = layout
        if found is None or not found.values:
            return
        if self._drawn is not None:
            self.follow()
            return
        y_range = _incomplete_range(found)
        scales = {"x": {"time": False}, "now": {"range": CURSOR_RANGE}}
        with self._folder:
            self._drawn = self._gui.add_uplot(
                tuple(found.with_cursor(self._page.timeline.time)),
                (
                    {"label": "t (s)"},
                    *_series_options(found),
                    {"label": "now", "stroke": CURSOR_COLOUR, "scale": "now"},
                ),
                title=html.escape(f"{name} ({found.unit})" if found.unit not in ("", "1") else name),
                scales=scales if y_range is None else {**scales, "y": {"range": y_range}},
                axes=({"label": "t (s)", "labelSize": 18, "size": 34}, {"size": 62}),
                legend={"show": True},
                height=PLOT_HEIGHT_PX,
                padding=(12, 24, 0, 0),
            )

    def follow(self) -> None:
        """Move the cursor to the current time."""
        if self._drawn is not None and self._curves is not None:
            self._drawn.data = tuple(self._curves.with_cursor(self._page.timeline.time))


class PlotsPanel:
    """The plots of a page."""

    def __init__(self, page: Page) -> None:
        self._page, self._updated_at = page, 0.0
        self._plots = [Plot(page, number) for number in range(len(DEFAULT_QUANTITIES))]

    def update(self) -> None:
        """Draw all plots for another run or another choice."""
        result = self._page.result
        if result is not None:
            run = Quantities(result.run)
            others = {name: Quantities(ghost) for name, ghost in self._page.view.ghost_runs.items()}
            for plot in self._plots:
                plot.update(run, others)

    def follow(self) -> None:
        now = time.monotonic()
        if not self._page.timeline.playing or now - self._updated_at > CURSOR_INTERVAL_S:
            self._updated_at = now
            for plot in self._plots:
                plot.follow()


def _incomplete_range(found: Curves) -> tuple[float, float] | None:
    """Return the range of the y axis if some values are not finite; uPlot finds none then."""
    if found.is_complete:
        return None
    low, high = found.range
    margin = 0.05 * (high - low) or max(0.05 * abs(high), 1e-9)
    return low - margin, high + margin


def _series_options(found: Curves) -> list[dict[str, Any]]:
    """Return the style of each curve: parts of a curve look alike, other runs are paler and dashed."""
    main = [label for label in found.values if label not in found.parts and label not in found.ghosts]
    drawn = []
    for label in found.values:
        whole = found.parts.get(label, label)
        name, run = found.ghosts.get(whole, (whole, None))
        style = {"width": 1.5} if run is None else {"width": 1.25, "dash": GHOST_DASHES[run % len(GHOST_DASHES)]}
        k, pale = main.index(name), run is not None
        if k < len(LINE_STYLES):
            stroke = LINE_STYLES[k][0] + (GHOST_ALPHA if pale else "")
        else:
            stroke = f"hsl({HUE_STEP_DEG * k % 360:.0f} 70% {65 if pale else 40}%)"
        drawn.append({"label": html.escape(label), "stroke": stroke, **style})  # names may contain markup
    return drawn
