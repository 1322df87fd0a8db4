"""How a page shows its run: deflections magnified, colours with a legend, the rigid twin, trace and arrows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.studio.film import COLOURINGS, UNITS, Film
from flexarm.studio.palette import bands_of, legend

if TYPE_CHECKING:
    from flexarm.studio.page import Page


class ViewPanel:
    """The handles of a page's view, and the drawing that follows from them."""

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        self._magnify = gui.add_slider("deflection x", 0.0, 50.0, 0.5, 1.0)
        self._thicken = gui.add_slider("sections x", 0.5, 50.0, 0.5, 1.0)
        self._colouring = gui.add_dropdown("colour links by", COLOURINGS, initial_value="none")
        self._legend = gui.add_html("", visible=False)
        self._trace = gui.add_checkbox("trace of the tip", True)

        async def again(event: Any) -> None:
            if event.client is not None:
                page.do(page.redraw)

        for handle in (self._magnify, self._thicken, self._colouring, self._trace):
            handle.on_update(again)

    @property
    def magnify(self) -> float:
        return float(self._magnify.value)

    @property
    def thicken(self) -> float:
        return float(self._thicken.value)

    def thicken_to(self, factor: float) -> None:
        """So that thin links are seen; the slider says how much."""
        self._thicken.max = max(50.0, 2 * factor)
        self._thicken.value = factor

    def changed(self, film: Film) -> None:
        """Another film: what does not move is drawn once."""
        self._page.scene.trace(film.way if self._trace.value else None)
        colouring = str(self._colouring.value)
        self._legend.visible = colouring != "none"
        if colouring != "none":
            self._legend.content = legend(colouring, UNITS[colouring], float(film.values(colouring).max(initial=0.0)))

    def draw(self, film: Film, k: int, playing: bool) -> None:
        points = film.points(k) if playing else film.alone(k)
        self._page.scene.arm(points, film.faces, film.kinds, self._bands(film, k))

    def _bands(self, film: Film, k: int) -> Any:
        colouring = str(self._colouring.value)
        if colouring == "none":
            return None
        values: Array = film.values(colouring)
        bands = bands_of(values[k], float(values.max(initial=0.0)))
        return np.where(film.stations >= 0, bands[np.maximum(film.stations, 0)], -1)
