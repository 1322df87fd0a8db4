"""An arm drawn into a plot, and moved from frame to frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.show.arm import Arm
from flexarm.show.style import JOINT, TWIN
from flexarm.show.view import View

ARM, PAYLOAD, GROUND = "#0b3c5d", "#d1495b", "0.45"


class Sketch:
    """The lines and markers of one arm; `show(k)` puts them where posture k has them.

    `twin`: an arm for comparison, all in grey behind the others.
    """

    def __init__(
        self,
        plot: Any,
        view: View,
        arm: Arm,
        colour: Any = ARM,
        width: float = 2.6,
        label: str | None = None,
        twin: bool = False,
    ) -> None:
        self.view = view
        self._moving: list[tuple[Any, Array]] = []
        over = 2 if twin else 3
        main, lump, joint = (TWIN, TWIN, TWIN) if twin else (colour, PAYLOAD, JOINT)
        round_ends: dict[str, Any] = {"solid_capstyle": "round", "color": main, "zorder": over}
        for rail in arm.rails:
            plot.plot(*view.data(rail), color=GROUND, linewidth=1.0, linestyle=(0, (6, 3)), zorder=1)
        for support in arm.supports:
            plot.plot(*view.data(support), color=GROUND, linestyle="", marker="^", markersize=3.4 * width, zorder=1.2)
        for number, (name, points) in enumerate(arm.links.items()):
            wide = {"linewidth": 2.6 * width, "alpha": 0.45} if name in arm.sleeves else {"linewidth": width}
            drawn = view.line(plot, label=None if number else label, **wide, **round_ends)
            self._moving.append((drawn, points))
        self._add(plot, arm.brackets, linewidth=0.7 * width, **round_ends)
        self._add(plot, arm.guides, color=joint, linewidth=2.8 * width, solid_capstyle="butt", zorder=over + 0.1)
        self._add(plot, arm.masses, color=lump, linestyle="", marker="o", markersize=3.4 * width, zorder=over + 0.2)
        ring = {"markerfacecolor": "none", "markeredgecolor": joint, "markersize": 2.6 * width}
        self._add(plot, arm.mouths, linestyle="", marker="s", zorder=over + 0.15, **ring)
        hinge = {"markerfacecolor": "white", "markeredgecolor": joint, "markersize": 2.2 * width}
        self._add(plot, arm.hinges, linestyle="", marker="o", zorder=over + 0.3, **hinge)

    @property
    def artists(self) -> list[Any]:
        return [drawn for drawn, _ in self._moving]

    def show(self, k: int) -> None:
        for drawn, points in self._moving:
            self.view.put(drawn, points[k])

    def _add(self, plot: Any, points: Array, **style: Any) -> None:
        """Points (n, k, 3) as markers, or pieces of lines (n, k, 2, 3) with gaps between them."""
        if not points.shape[1]:
            return
        if points.ndim == 4:
            gap = np.full((*points.shape[:2], 1, 3), np.nan)
            points = np.concatenate([points, gap], axis=2).reshape(len(points), -1, 3)
        self._moving.append((self.view.line(plot, **style), points))
