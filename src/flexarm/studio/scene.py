"""The 3D scene of a page: camera, ground, view state, arrows of forces and torques, and the meshes in the browser.

The browser and rendered pictures draw the same `ViewState`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.foundation.validation import Array
from flexarm.plotting.arm_points import magnify_deflections
from flexarm.plotting.meshes import Faces, triangulate_rings
from flexarm.results.run import Run
from flexarm.robot import FixedPrismatic, Revolute, Robot
from flexarm.studio.mesh_frames import ARROW_COLOUR, GHOST_COLOUR, GHOST_OPACITY, KIND_COLOURS, TRACE_COLOUR, linear_rgb

MIN_DEPTH_M = 1e-6  # nearer points are not visible


@dataclass(frozen=True)
class ViewCamera:
    """A pinhole camera; `fov` is the vertical field of view (rad), width and height are in pixels."""

    position: tuple[float, ...]
    look_at: tuple[float, ...]
    up: tuple[float, ...]
    fov: float
    width: int
    height: int

    @staticmethod
    def from_page(page: Any, max_side: int) -> ViewCamera:
        """Return viser's camera with at most `max_side` pixels a side; even numbers, as video codecs require."""
        width, height = int(page.image_width), int(page.image_height)
        scale = min(1.0, max_side / max(width, height))
        width, height = (max(2, int(scale * each) // 2 * 2) for each in (width, height))
        position, look_at, up = (tuple(map(float, each)) for each in (page.position, page.look_at, page.up_direction))
        return ViewCamera(position, look_at, up, float(page.fov), width, height)

    def scaled(self, factor: int) -> ViewCamera:
        """Return the camera with more pixels per side."""
        return replace(self, width=factor * self.width, height=factor * self.height)

    def project(self, points: Array) -> Array:
        """Project points (..., 3) to pixels.

        Returns pixels right and down from the upper left corner, and the reciprocal depth (zero behind the camera).
        """
        right, down, ahead = self._directions
        offset = points - np.asarray(self.position)
        depth = offset @ ahead
        near = np.where(depth > MIN_DEPTH_M, 1 / np.maximum(depth, MIN_DEPTH_M), 0.0)
        scale = self.height / 2 / np.tan(self.fov / 2) * near
        return np.stack(
            [self.width / 2 + scale * (offset @ right), self.height / 2 + scale * (offset @ down), near], axis=-1
        )

    @property
    def _directions(self) -> tuple[Array, Array, Array]:
        ahead = np.asarray(self.look_at) - np.asarray(self.position)
        ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-300)
        right = np.cross(ahead, self.up)
        if np.linalg.norm(right) < 1e-9:  # straight up or down
            right = np.array([1.0, 0.0, 0.0])
        right = right / np.linalg.norm(right)
        return right, np.cross(ahead, right), ahead


AXES_LENGTH = 0.06  # of the axes at the base, relative to the robot


@dataclass(frozen=True)
class Ground:
    """The ground of a robot that lies in a cloud of points.

    The robot's up direction becomes the z axis of the view: `rotation` (angle, axis) turns directions of the robot into
    those of the view. All positions are in the view, except `base`, which is in the robot's frame.
    """

    rotation: tuple[float, Array]
    low: Array
    high: Array
    base: tuple[float, ...]

    @staticmethod
    def from_points(robot: Robot, cloud: Array) -> Ground:
        """Return the ground of a robot whose points are a cloud (n, 3)."""
        rotation = upright_rotation(up_direction(robot, cloud))
        points = cloud @ axis_rotation(*rotation).T
        return Ground(rotation, points.min(axis=0), points.max(axis=0), tuple(robot.base.position))

    @property
    def size(self) -> float:
        return float(max((self.high - self.low).max(), 1e-6))

    @property
    def cell(self) -> float:
        """Spacing of grid lines (m)."""
        return round_up_nicely(self.size / 8)

    @property
    def extent(self) -> float:
        return float(self.cell * np.ceil(1.6 * self.size / self.cell))

    @property
    def middle(self) -> Array:
        found = np.round((self.low + self.high) / 2 / self.cell) * self.cell
        found[2] = self.low[2] - 0.03 * self.size
        return np.asarray(found)

    @property
    def axes_length(self) -> float:
        """Length of the axes at the base (m)."""
        return AXES_LENGTH * self.size

    def labels(self) -> list[tuple[str, Array]]:
        """Return the ruler's labels and their positions, and the size of grid cells."""
        step, middle = round_up_nicely(self.size / 4), self.middle
        count = int(np.floor(0.75 * self.size / step))
        front = middle - np.array([0.0, np.round(0.4 * self.size / self.cell) * self.cell, 0.0])
        begin = np.round(middle[0] / step) * step
        places = [float(f"{begin + k * step:.6g}") for k in range(-count, count + 1)]
        found = [(f"{each:g} m", np.array([each, front[1], front[2]])) for each in places]
        return [*found, (f"squares of {self.cell:g} m", front - [0.0, 1.2 * self.cell, 0.0])]

    def camera(self) -> tuple[Array, Array]:
        """Return the initial position and target of the camera."""
        flat = self.high[2] - self.low[2] < 0.1 * self.size
        at = (self.low + self.high) / 2
        return at + self.size * np.array([0.0, -0.85 if flat else -1.15, 0.85 if flat else 0.45]), at


def up_direction(robot: Robot, cloud: Array) -> Array:
    """Return the direction against gravity; without gravity, the normal of the robot's plane, or z."""
    gravity = np.array(robot.gravity)
    if gravity.any():
        axis = int(np.abs(gravity).argmax())
        return np.asarray(-np.sign(gravity[axis]) * np.eye(3)[axis])
    flat = np.flatnonzero(np.ptp(cloud, axis=0) < 0.05 * np.ptp(cloud, axis=0).max())
    return np.asarray(np.eye(3)[2 if 2 in flat or not len(flat) else int(flat[0])])


def upright_rotation(up: Array) -> tuple[float, Array]:
    """Return angle and axis of the rotation that turns a coordinate direction to z."""
    axis = np.cross(up, [0.0, 0.0, 1.0])
    if axis.any():
        return np.pi / 2, axis
    return (0.0 if up[2] > 0 else np.pi), np.array([1.0, 0.0, 0.0])


def axis_rotation(angle: float, axis: Array) -> Array:
    """Return the rotation matrix of an angle about a unit vector.

    >>> axis_rotation(*upright_rotation(np.array([0.0, 1.0, 0.0]))).round(9) @ [0.0, 1.0, 0.0]
    array([0., 0., 1.])
    """
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)


def round_up_nicely(size: float) -> float:
    """Return the smallest of 1, 2, 5, 10, 20, ... (times powers of ten) that is not below `size`.

    >>> round_up_nicely(0.13), round_up_nicely(3.0)
    (0.2, 5.0)
    """
    power = 10.0 ** np.floor(np.log10(size))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= size * (1 - 1e-9)))


def _no_arrows() -> Array:
    return np.zeros((0, 2, 3))


@dataclass(frozen=True)
class ViewState:
    """The moving content of a view.

    Attributes
    ----------
    points, faces, colours : ndarray
        Corners (v, 3) of the arm, triangles (f, 3), and colours (v, 3) of corners (bytes).
    ghosts : tuple or None
        Corners and triangles of the arms to compare with.
    arrows : ndarray, shape (n, 2, 3)
        Start and end points.
    size : float
        Size of the robot (m), which scales the arrows.
    """

    points: Any
    faces: Any
    colours: Any
    ghosts: tuple[Any, Any] | None = None
    arrows: Array = field(default_factory=_no_arrows)
    size: float = 1.0


ARROW_RADIUS = 0.006  # relative to the robot
ARROW_HEAD = (2.5, 5.0)  # radius and length of the head, relative to the arrow's radius
ARROW_SIDE_COUNT = 10
MAX_ARROW_LENGTH = 0.25  # relative to the robot


class Arrows:
    """Arrows of actuator torques and of loads during a run.

    Actuators have arrows along their joint axes, loads at their points of action. Lengths are proportional to torques
    and forces, relative to their largest values in the run.
    """

    def __init__(self, system: System, run: Run, magnify: float) -> None:
        self.system, self.magnify = system, magnify
        self.size = system.robot.size
        known = run.names
        self._q = run.array("q")
        self._torque = run["torque"].values if any(name.startswith("torque.") for name in known) else None
        self._load_places = run.options.get("load_places", [])
        self._loads = run.array("loads") if self._load_places else np.zeros((len(self._q), 0, 6))

    def at(self, sample: int) -> Array:
        """Return start and end points of all arrows at a sample, shape (n, 2, 3)."""
        q = magnify_deflections(self.system, self._q[sample : sample + 1], self.magnify)
        return np.array([*self._actuator_arrows(q, sample), *self._load_arrows(q, sample)]).reshape(-1, 2, 3)

    def _actuator_arrows(self, q: Array, sample: int) -> list[tuple[Array, Array]]:
        if self._torque is None:
            return []
        largest = float(np.abs(self._torque).max(initial=0.0))
        found = []
        for k, actuator in enumerate(self.system.actuators):
            value = float(self._torque[sample, k])
            if largest == 0 or abs(value) < 1e-3 * largest:
                continue
            joint = self.system.robot.link(actuator.link).joint
            pose = self.system.frame(actuator.link, 0.0, q)[0]
            axis = np.array(joint.axis_vector) if isinstance(joint, Revolute) else np.array([1.0, 0.0, 0.0])
            if not isinstance(joint, (Revolute, FixedPrismatic)):
                axis = np.array(joint.mount_matrix).T @ axis
            axis = pose[:3, :3] @ axis
            found.append((pose[:3, 3], pose[:3, 3] + MAX_ARROW_LENGTH * self.size * value / largest * axis))
        return found

    def _load_arrows(self, q: Array, sample: int) -> list[tuple[Array, Array]]:
        """Return arrows of loads: those of forces end at their point of action, those of torques start there."""
        parts = self._loads[..., :3], self._loads[..., 3:]
        largest = [float(np.linalg.norm(part, axis=-1).max(initial=0.0)) for part in parts]
        found = []
        for k, (link, x) in enumerate(self._load_places):
            for part, peak, offset in zip(parts, largest, (-1.0, 0.0), strict=True):
                value = part[sample, k]
                if peak > 0 and np.linalg.norm(value) > 1e-3 * peak:
                    point, arrow = self.system.frame(link, x, q)[0, :3, 3], MAX_ARROW_LENGTH * self.size * value / peak
                    found.append((point + offset * arrow, point + (offset + 1.0) * arrow))
        return found


def arrow_solids(pairs: Array, size: float) -> tuple[Array, Faces]:
    """Return corners (v, 3) and triangles of arrows (n, 2, 3) as solids, for a robot of that size (m)."""
    begin, arrow = pairs[:, 0], pairs[:, 1] - pairs[:, 0]
    length = np.maximum(np.linalg.norm(arrow, axis=1, keepdims=True), 1e-300)
    along = arrow / length
    aside = np.cross(along, np.where(np.abs(along[:, :1]) < 0.8, [[1.0, 0, 0]], [[0, 1.0, 0]]))
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    angles = 2 * np.pi * np.arange(ARROW_SIDE_COUNT) / ARROW_SIDE_COUNT
    ring = np.cos(angles)[:, None] * aside[:, None] + np.sin(angles)[:, None] * np.cross(along, aside)[:, None]
    base_radius = ARROW_RADIUS * size
    neck = np.maximum(length - ARROW_HEAD[1] * base_radius, 0.0)
    rings = [(0 * neck, base_radius), (neck, base_radius), (neck, ARROW_HEAD[0] * base_radius), (length, 0.0)]
    points = np.stack([(begin + at * along)[:, None] + radius * ring for at, radius in rings], axis=1)
    faces, _ = triangulate_rings(len(rings), ARROW_SIDE_COUNT, caps=True)
    count = len(rings) * ARROW_SIDE_COUNT
    every = np.concatenate([faces + k * count for k in range(len(pairs))]) if len(pairs) else faces[:0]
    return points.reshape(-1, 3), every


class Scene:
    """The scene of one page in viser.

    Callers send all changes of a frame together (`client.atomic()`), so that parts do not lag behind.
    """

    def __init__(self, client: Any) -> None:
        self._client, self._scene = client, client.scene
        # shadows and environment light are slow without a graphics card
        self._scene.configure_default_lights(cast_shadow=False)
        self._scene.configure_environment_map(None)
        # with viser's own lights, these reproduce the colours of the legend
        self._scene.add_light_ambient("/light/around", intensity=1.4)
        self._scene.add_light_hemisphere("/light/above", intensity=1.1)
        self._meshes: dict[str, Any] = {}
        self._labels: list[Any] = []

    def set_ground(self, ground: Ground, look: bool = True) -> None:
        """Show the grid with its ruler, and point the camera at it if `look`; `/robot` is turned upright."""
        angle, axis = ground.rotation
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
            "/robot/axes", axes_length=ground.axes_length, axes_radius=0.03 * ground.axes_length, position=ground.base
        )
        if look:
            self._client.camera.position, self._client.camera.look_at = (tuple(each) for each in ground.camera())

    def show(self, state: ViewState) -> None:
        """Update everything that moves."""
        self._set_arm(state)
        self._set_ghosts(state)
        self._set_arrows(state.arrows, state.size)

    def _set_arm(self, state: ViewState) -> None:
        """Update the arm, which is one mesh so that its parts do not lag behind each other.

        viser has no vertex colours: they are appended to the corners as unused vertices, and `page.js` applies them.
        """
        self._set_mesh(
            "arm", np.concatenate([state.points, linear_rgb(state.colours)]), state.faces, color=KIND_COLOURS["link"]
        )

    def _set_ghosts(self, state: ViewState) -> None:
        if state.ghosts is None:
            self._hide("ghost")
        else:
            self._set_mesh("ghost", *state.ghosts, color=GHOST_COLOUR, opacity=GHOST_OPACITY)

    def set_trace(self, path: Array | None) -> None:
        """Show the path of the tip (n, 3), or hide it if None."""
        if path is None or len(path) < 2:
            self._hide("trace")
            return
        pieces = np.stack([path[:-1], path[1:]], axis=1).astype(np.float32)
        self._meshes["trace"] = self._scene.add_line_segments(
            "/robot/trace", pieces, TRACE_COLOUR, thickness=2.0, thickness_units="screen"
        )

    def _set_arrows(self, pairs: Array, size: float) -> None:
        if not len(pairs):
            self._hide("arrows")
            return
        arrows = self._meshes.get("arrows")
        if arrows is not None and arrows.points.shape == pairs.shape:
            arrows.visible, arrows.points = True, pairs.astype(np.float32)
            return
        radius = ARROW_RADIUS * size
        self._meshes["arrows"] = self._scene.add_arrows(
            "/robot/arrows",
            pairs.astype(np.float32),
            ARROW_COLOUR,
            shaft_radius=radius,
            head_radius=ARROW_HEAD[0] * radius,
            head_length=ARROW_HEAD[1] * radius,
        )

    def _set_mesh(self, name: str, points: Any, faces: Any, **appearance: Any) -> None:
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
                **appearance,
            )
            return
        mesh.visible = True
        mesh.vertices = corners
        if not np.array_equal(mesh.faces, triangles):
            mesh.faces = triangles

    def _hide(self, name: str) -> None:
        if name in self._meshes:
            self._meshes[name].visible = False
