"""Frequency response and map of poles and zeros of a chosen input and output, at the posture of the time shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.analysis.linear import linearize
from flexarm.studio.modes_panel import posture
from flexarm.studio.outputs import output_words, pushed_output, usual_output
from flexarm.studio.picture import image_of

if TYPE_CHECKING:
    from flexarm.studio.computing import Result
    from flexarm.studio.page import Page

SIZE = (4.4, 4.2)  # inches
FREQUENCIES = (0.1, 1.0, 10.0)  # Hz, at which an output must move at all


class ResponsePanel:
    """The handles of a page's linear model."""

    def __init__(self, page: Page) -> None:
        self._page, self._gui = page, page.client.gui
        self._input = self._gui.add_dropdown("input", ("-",), initial_value="-")
        self._output = self._gui.add_text("output", "tip.y")
        self._typed = False
        self._compute = self._gui.add_button("Response at the posture shown")
        self._said = self._gui.add_markdown("")
        self._place = self._gui.add_folder(None)
        self._drawn: list[Any] = []

        async def asked(event: Any) -> None:
            page.do(self.compute)

        async def typed(event: Any) -> None:
            if event.client is not None:
                self._typed = bool(str(event.target.value).strip())

        self._compute.on_click(asked)
        self._output.on_update(typed)

    def offer(self, result: Result) -> None:
        """Inputs and outputs of another run, perhaps of another robot."""
        names = result.system.inputs or ("-",)
        if tuple(self._input.options) != names:
            self._input.options = names
            self._input.value = names[0]
            self._typed = False
        usual = usual_output(result.run)
        if not self._typed and self._output.value != usual:
            self._output.value = usual
        words = output_words(result.system, usual)
        if self._said.content != words:
            self._said.content = words

    def clear(self) -> None:
        """Another run: its response is another."""
        for each in self._drawn:
            each.remove()
        self._drawn = []

    def compute(self) -> None:
        page = self._page
        if page.result is None or page.film is None:
            return
        page.forget()
        system = page.result.system
        if not system.inputs:
            raise ValueError("response: no joint of this robot has an actuator")
        there = posture(system, page.film, page.line.time)
        given = str(self._input.value)
        if not self._typed:
            self._output.value = pushed_output(system, there, given) or usual_output(page.result.run)
        output = str(self._output.value).strip()
        model = linearize(system, q=there, inputs=[given], outputs=[output])
        if not np.abs(model.frf(FREQUENCIES)).max(initial=0.0) > 0:
            raise ValueError(f"response: {given!r} does not move {output!r} in this posture; choose another of both")
        figures = [image_of(figure, SIZE) for figure in (model.bode(), model.pole_zero_map())]
        self.clear()
        with self._place:
            self._drawn = [self._gui.add_markdown(f"At the posture of {page.line.time:.4g} s:")]
            self._drawn += [self._gui.add_image(image) for image in figures]
