"""The robot in the browser: meshes by colour, ground, trace, arrows. It draws what it is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.robot import Robot
from flexarm.studio.film import KINDS
from flexarm.studio.palette import BANDS, KIND_COLOURS, band_colours

GHOST = (150, 150, 150)
TRACE = (209, 73, 91)
PUSHES = (217, 96, 15)


class Scene:
    """What one page shows. Who moves something sends all of it in one piece (`client.atomic()`), so that no part of an
    arm is seen a frame late."""

    def __init__(self, client: Any) -> None:
        self._client, self._scene = client, client.scene
        # shadows and the light of surroundings cost more than all the rest where there is no graphics card
        self._scene.configure_default_lights(cast_shadow=False)
        self._scene.configure_environment_map(None)
        self._scene.add_light_ambient("/light/around", intensity=1.6)
        self._scene.add_light_hemisphere("/light/above", intensity=1.6)
        self._meshes: dict[str, Any] = {}
        self._labels: list[Any] = []
        self._colours = {kind: KIND_COLOURS[kind] for kind in KINDS}
        self._colours |= {f"band{k}": colour for k, colour in enumerate(band_colours())}

    def ground(self, robot: Robot, cloud: Array) -> None:
        """Grid, its unit and the camera, for a robot that is somewhere in a cloud of points.

        What is up for the robot is made the browser's z; all of the robot hangs on `/robot`, which is turned so.
        """
        angle, axis = standing(upward(robot, cloud))
        self._scene.add_frame("/robot", show_axes=False, wxyz=(np.cos(angle / 2), *(np.sin(angle / 2) * axis)))
        seen = cloud @ rotation(angle, axis).T
        low, high = seen.min(axis=0), seen.max(axis=0)
        size = float(max((high - low).max(), 1e-6))
        cell = nice(size / 8)
        extent = cell * np.ceil(1.6 * size / cell)
        middle = np.round((low + high) / 2 / cell) * cell
        middle[2] = low[2] - 0.03 * size
        self._scene.add_grid(
            "/ground", extent, extent, plane="xy", cell_size=cell, section_size=5 * cell, position=tuple(middle),
            fade_distance=20 * size, shadow_opacity=0.0,
        )  # fmt: skip
        self._ruler(middle, size, cell)
        self._scene.add_frame(
            "/robot/axes", axes_length=1.2 * cell, axes_radius=0.02 * cell, position=robot.base.position
        )
        flat = high[2] - low[2] < 0.1 * size
        at, camera = (low + high) / 2, self._client.camera
        camera.position = tuple(at + size * np.array([0.0, -0.85 if flat else -1.15, 0.85 if flat else 0.45]))
        camera.look_at = tuple(at)

    def _ruler(self, middle: Array, size: float, cell: float) -> None:
        """How far lines of the ground are apart, and numbers along it in front of the robot."""
        for label in self._labels:
            label.remove()
        step = nice(size / 4)
        count = int(np.floor(0.75 * size / step))
        front = middle - np.array([0.0, np.round(0.4 * size / cell) * cell, 0.0])
        begin = np.round(middle[0] / step) * step
        places = [begin + k * step for k in range(-count, count + 1)]
        self._labels = [
            self._scene.add_label(f"/ruler/{k}", f"{each:g} m", position=(each, front[1], front[2]))
            for k, each in enumerate(float(f"{place:.6g}") for place in places)
        ]
        below = tuple(front - [0.0, 1.2 * cell, 0.0])
        self._labels.append(self._scene.add_label("/ruler/unit", f"a square of the ground: {cell:g} m", position=below))

    def arm(self, points: Any, faces: Any, kinds: Any, bands: Any | None) -> None:
        """The arm: corners, triangles, which kind each is of, and the bands of colours of links (-1: none)."""
        for number, kind in enumerate(KINDS):
            chosen = kinds == number
            self._mesh(kind, points, faces[chosen if bands is None else chosen & (bands < 0)])
        for k in range(BANDS):
            self._mesh(f"band{k}", points, faces[:0] if bands is None else faces[bands == k])

    def ghost(self, points: Any | None, faces: Any) -> None:
        """Another arm to compare with, or None."""
        self._mesh(
            "ghost", points if points is not None else np.zeros((0, 3)), faces if points is not None else faces[:0]
        )

    def trace(self, way: Array | None) -> None:
        """The way of the tip (n, 3), or None."""
        if way is None or len(way) < 2:
            self._drop("trace")
            return
        pieces = np.stack([way[:-1], way[1:]], axis=1).astype(np.float32)
        self._meshes["trace"] = self._scene.add_line_segments(
            "/robot/trace", pieces, TRACE, thickness=2.0, thickness_units="screen"
        )

    def arrows(self, pairs: Array, size: float) -> None:
        """Arrows from points to points (n, 2, 3); size of the robot (m)."""
        if not len(pairs):
            self._drop("arrows")
            return
        ready = self._meshes.get("arrows")
        if ready is not None and ready.points.shape == pairs.shape:
            ready.visible, ready.points = True, pairs.astype(np.float32)
            return
        thin = 0.006 * size
        self._meshes["arrows"] = self._scene.add_arrows(
            "/robot/arrows",
            pairs.astype(np.float32),
            PUSHES,
            shaft_radius=thin,
            head_radius=2.5 * thin,
            head_length=5 * thin,
        )

    def _mesh(self, name: str, points: Any, faces: Any) -> None:
        """A mesh of one colour with the points that it needs; none where there are no triangles."""
        if not len(faces):
            self._drop(name)
            return
        used, places = np.unique(faces, return_inverse=True)
        corners, triangles = points[used].astype(np.float32), places.reshape(faces.shape).astype(np.uint32)
        mesh = self._meshes.get(name)
        if mesh is None:
            faint = {"color": GHOST, "opacity": 0.35} if name == "ghost" else {"color": self._colours[name]}
            self._meshes[name] = self._scene.add_mesh_simple(
                f"/robot/{name}",
                corners,
                triangles,
                flat_shading=True,
                side="double",
                cast_shadow=False,
                receive_shadow=False,
                **faint,
            )
            return
        mesh.visible = True
        mesh.vertices = corners
        if not np.array_equal(mesh.faces, triangles):
            mesh.faces = triangles

    def _drop(self, name: str) -> None:
        if name in self._meshes:
            self._meshes[name].visible = False


def upward(robot: Robot, cloud: Array) -> Array:
    """Against gravity; without any, across the plane in which the robot is, z unless it is another."""
    gravity = np.array(robot.gravity)
    if gravity.any():
        axis = int(np.abs(gravity).argmax())
        return np.asarray(-np.sign(gravity[axis]) * np.eye(3)[axis])
    flat = np.flatnonzero(np.ptp(cloud, axis=0) < 0.05 * np.ptp(cloud, axis=0).max())
    return np.asarray(np.eye(3)[2 if 2 in flat or not len(flat) else int(flat[0])])


def standing(up: Array) -> tuple[float, Array]:
    """Angle and axis of the turn that makes a direction along one of the axes point along z."""
    axis = np.cross(up, [0.0, 0.0, 1.0])
    if axis.any():
        return np.pi / 2, axis
    return (0.0 if up[2] > 0 else np.pi), np.array([1.0, 0.0, 0.0])


def rotation(angle: float, axis: Array) -> Array:
    """The matrix of a turn about a unit vector.

    >>> rotation(*standing(np.array([0.0, 1.0, 0.0]))).round(9) @ [0.0, 1.0, 0.0]
    array([0., 0., 1.])
    """
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)


def nice(size: float) -> float:
    """The nearest of 1, 2, 5, 10, 20, ... that is not smaller.

    >>> nice(0.13), nice(3.0)
    (0.2, 5.0)
    """
    power = 10.0 ** np.floor(np.log10(size))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= size * (1 - 1e-9)))
