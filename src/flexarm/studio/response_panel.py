"""Frequency response and map of poles and zeros of a chosen input and output, at the posture of the time shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.analysis.linear import linearize
from flexarm.studio.modes_panel import posture

if TYPE_CHECKING:
    from flexarm.studio.page import Page

DPI = 110
SIZE = (4.4, 4.2)  # inches


class ResponsePanel:
    """The handles of a page's linear model."""

    def __init__(self, page: Page) -> None:
        self._page, self._gui = page, page.client.gui
        self._input = self._gui.add_dropdown("input", ("-",), initial_value="-")
        self._output = self._gui.add_text("output", "tip.y")
        self._compute = self._gui.add_button("Response at the posture shown")
        self._said = self._gui.add_markdown("Outputs: `tip.y`, `fore.q`, `fore(0.2).y''`, `fore.strain(0.1)`, ...")
        self._place = self._gui.add_folder(None)
        self._drawn: list[Any] = []

        async def asked(event: Any) -> None:
            page.do(self.compute)

        self._compute.on_click(asked)

    def offer(self, inputs: tuple[str, ...]) -> None:
        """Inputs of another robot."""
        names = inputs or ("-",)
        if tuple(self._input.options) != names:
            self._input.options = names
            self._input.value = names[0]

    def compute(self) -> None:
        page = self._page
        if page.result is None or page.film is None:
            return
        page.forget()
        system = page.result.system
        if not system.inputs:
            raise ValueError("response: no joint of this robot has an actuator")
        there = posture(system, page.film, page.line.time)
        model = linearize(system, q=there, inputs=[str(self._input.value)], outputs=[str(self._output.value).strip()])
        for image in self._drawn:
            image.remove()
        with self._place:
            self._drawn = [self._gui.add_image(image_of(figure)) for figure in (model.bode(), model.pole_zero_map())]


def image_of(figure: Any) -> Any:
    """A figure as an array (height, width, 3) of bytes, small enough for a panel."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure.set_size_inches(*SIZE)
    figure.set_dpi(DPI)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
