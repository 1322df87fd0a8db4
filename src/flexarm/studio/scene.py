"""The robot in the browser: its arm, ground, trace, arrows. It draws what it is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.studio.arrows import HEAD, THIN
from flexarm.studio.ground import Ground
from flexarm.studio.palette import FAINT, GHOST, KIND_COLOURS, PUSHES, TRACE, light
from flexarm.studio.still import Still


class Scene:
    """What one page shows. Who moves something sends all of it in one piece (`client.atomic()`), so that nothing is
    seen a frame late."""

    def __init__(self, client: Any) -> None:
        self._client, self._scene = client, client.scene
        # shadows and the light of surroundings cost more than all the rest where there is no graphics card
        self._scene.configure_default_lights(cast_shadow=False)
        self._scene.configure_environment_map(None)
        # together with viser's own, so bright that colours are those of their legend
        self._scene.add_light_ambient("/light/around", intensity=1.4)
        self._scene.add_light_hemisphere("/light/above", intensity=1.1)
        self._meshes: dict[str, Any] = {}
        self._labels: list[Any] = []

    def ground(self, ground: Ground, look: bool = True) -> None:
        """Grid, its ruler and, to `look` at it, the camera; all of the robot hangs on `/robot`, which is turned."""
        angle, axis = ground.turn
        self._scene.add_frame("/robot", show_axes=False, wxyz=(np.cos(angle / 2), *(np.sin(angle / 2) * axis)))
        self._scene.add_grid(
            "/ground", ground.extent, ground.extent, plane="xy", cell_size=ground.cell, section_size=5 * ground.cell,
            position=tuple(ground.middle), fade_distance=20 * ground.size, shadow_opacity=0.0,
        )  # fmt: skip
        for label in self._labels:
            label.remove()
        self._labels = [
            self._scene.add_label(
                f"/ruler/{k}", text, position=tuple(place), font_screen_scale=1.3, anchor="center-center"
            )
            for k, (text, place) in enumerate(ground.labels())
        ]
        self._scene.add_frame(
            "/robot/axes", axes_length=ground.axes, axes_radius=0.03 * ground.axes, position=ground.base
        )
        if look:
            self._client.camera.position, self._client.camera.look_at = (tuple(each) for each in ground.camera())

    def show(self, still: Still) -> None:
        """All that moves."""
        self._arm(still)
        self._ghosts(still)
        self._arrows(still.arrows, still.size)

    def _arm(self, still: Still) -> None:
        """One mesh, or parts of it would be seen a frame late. viser knows no colours of corners: they follow the
        corners as if they were some more of them, to which no triangle leads, and `page.js` takes them for what they
        are."""
        self._mesh("arm", np.concatenate([still.points, light(still.colours)]), still.faces, color=KIND_COLOURS["link"])

    def _ghosts(self, still: Still) -> None:
        if still.ghosts is None:
            self._drop("ghost")
        else:
            self._mesh("ghost", *still.ghosts, color=GHOST, opacity=FAINT)

    def trace(self, way: Array | None) -> None:
        """The way of the tip (n, 3), or None."""
        if way is None or len(way) < 2:
            self._drop("trace")
            return
        pieces = np.stack([way[:-1], way[1:]], axis=1).astype(np.float32)
        self._meshes["trace"] = self._scene.add_line_segments(
            "/robot/trace", pieces, TRACE, thickness=2.0, thickness_units="screen"
        )

    def _arrows(self, pairs: Array, size: float) -> None:
        if not len(pairs):
            self._drop("arrows")
            return
        ready = self._meshes.get("arrows")
        if ready is not None and ready.points.shape == pairs.shape:
            ready.visible, ready.points = True, pairs.astype(np.float32)
            return
        thin = THIN * size
        self._meshes["arrows"] = self._scene.add_arrows(
            "/robot/arrows",
            pairs.astype(np.float32),
            PUSHES,
            shaft_radius=thin,
            head_radius=HEAD[0] * thin,
            head_length=HEAD[1] * thin,
        )

    def _mesh(self, name: str, points: Any, faces: Any, **looks: Any) -> None:
        corners, triangles = points.astype(np.float32), faces.astype(np.uint32)
        mesh = self._meshes.get(name)
        if mesh is None:
            self._meshes[name] = self._scene.add_mesh_simple(
                f"/robot/{name}",
                corners,
                triangles,
                flat_shading=True,
                side="double",
                cast_shadow=False,
                receive_shadow=False,
                **looks,
            )
            return
        mesh.visible = True
        mesh.vertices = corners
        if not np.array_equal(mesh.faces, triangles):
            mesh.faces = triangles

    def _drop(self, name: str) -> None:
        if name in self._meshes:
            self._meshes[name].visible = False
