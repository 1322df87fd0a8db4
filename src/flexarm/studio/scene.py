"""The 3D scene of a page: ground, view state, arrows of forces and torques, and the meshes in the browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.foundation.validation import Array
from flexarm.plotting.arm_points import Arm, magnify_deflections
from flexarm.results.run import Run
from flexarm.robot import Robot
from flexarm.studio.case import StudioCase
from flexarm.studio.mesh_frames import (
    ARROW_COLOUR,
    GHOST_COLOUR,
    GHOST_OPACITY,
    KIND_COLOURS,
    TRACE_COLOUR,
    ArmMesh,
    linear_rgb,
    thickness_factor,
)

AXES_LENGTH = 0.06  # of the axes at the base, relative to the robot


@dataclass(frozen=True)
class Ground:
    """The ground of a robot that lies in a cloud of points.

    The robot's up direction becomes the z axis of the view: `wxyz` is the quaternion that turns directions of the robot
    into those of the view. All positions are in the view, except `base`, which is in the robot's frame.
    """

    wxyz: Array
    low: Array
    high: Array
    base: tuple[float, ...]

    @staticmethod
    def from_points(robot: Robot, cloud: Array) -> Ground:
        """Return the ground of a robot whose points are a cloud (n, 3)."""
        wxyz = upright_rotation(up_direction(robot, cloud))
        points = rotate(wxyz, cloud)
        return Ground(wxyz, points.min(axis=0), points.max(axis=0), tuple(robot.base.position))

    @property
    def size(self) -> float:
        return float(max((self.high - self.low).max(), 1e-6))

    @property
    def cell(self) -> float:
        """Spacing of grid lines (m)."""
        return round_up_nicely(self.size / 8)

    @property
    def middle(self) -> Array:
        found = np.round((self.low + self.high) / 2 / self.cell) * self.cell
        found[2] = self.low[2] - 0.03 * self.size
        return np.asarray(found)

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
    gravity, extent = np.array(robot.gravity), np.ptp(cloud, axis=0)
    if gravity.any():
        axis = int(np.abs(gravity).argmax())
        return np.asarray(-np.sign(gravity[axis]) * np.eye(3)[axis])
    flat = np.flatnonzero(extent < 0.05 * extent.max())
    return np.asarray(np.eye(3)[2 if 2 in flat or not len(flat) else int(flat[0])])


def upright_rotation(up: Array) -> Array:
    """Return the quaternion (w, x, y, z) of the rotation that turns a coordinate direction to z.

    >>> rotate(upright_rotation(np.array([0.0, -1.0, 0.0])), np.array([[0.0, -1.0, 0.0]])).round(9) + 0.0
    array([[0., 0., 1.]])
    """
    if up[2] < -0.5:
        return np.array([0.0, 1.0, 0.0, 0.0])
    found = np.append(1.0 + up[2], np.cross(up, [0.0, 0.0, 1.0]))
    return np.asarray(found / np.linalg.norm(found))


def rotate(wxyz: Array, points: Array) -> Array:
    """Rotate points (n, 3) by a unit quaternion."""
    across = np.cross(wxyz[1:], points)
    return np.asarray(points + 2 * (wxyz[0] * across + np.cross(wxyz[1:], across)))


def round_up_nicely(size: float) -> float:
    """Return the smallest of 1, 2, 5, 10, 20, ... (times powers of ten) that is not below `size`.

    >>> round_up_nicely(0.13), round_up_nicely(3.0)
    (0.2, 5.0)
    """
    power = 10.0 ** np.floor(np.log10(size))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= size * (1 - 1e-9)))


@dataclass(frozen=True)
class ViewState:
    """The moving content of a view: the arm, ghosts to compare it with, and arrows."""

    points: Any  # corners (v, 3) of the arm
    faces: Any  # triangles (f, 3)
    colours: Any  # of corners (v, 3), bytes
    ghosts: tuple[Any, Any] | None = None  # corners and triangles
    arrows: Array | None = None  # start and end points (n, 2, 3)
    size: float = 1.0  # of the robot (m), which scales the arrows


@dataclass(frozen=True)
class InitialView:
    """The robot before its run: what is visible, and its ground."""

    view_state: ViewState
    ground: Ground


def initial_view(case: StudioCase | Run) -> InitialView | None:
    """Return the robot at its start posture with straight links, or None if only the run determines it."""
    if isinstance(case, Run):
        return None
    start = case.plan.get("q0") or {}
    system = System(case.robot)
    if system.constraints or not isinstance(start, Mapping) or not set(start) <= set(system.names):
        return None
    q = np.zeros((1, system.nq))
    for name, value in start.items():
        q[0, system.index(name)] = value
    mesh = ArmMesh(system, q[0], 1.0, thickness_factor(system))
    return InitialView(
        ViewState(mesh.corners(q)[0], mesh.faces, mesh.base_colours),
        Ground.from_points(case.robot, Arm(system, q, 1.0, 5).cloud),
    )


ARROW_RADIUS = 0.006  # relative to the robot
ARROW_HEAD = (2.5, 5.0)  # radius and length of the head, relative to the arrow's radius
MAX_ARROW_LENGTH = 0.25  # relative to the robot
MIN_ARROW_LENGTH = 1e-3  # relative to the longest; shorter ones are not drawn


class Arrows:
    """Arrows of actuator torques and of loads during a run.

    Actuators have arrows along their joint axes, loads at their points of action. Lengths are proportional to torques
    and forces, relative to their largest values in the run.
    """

    def __init__(self, system: System, run: Run, magnify: float) -> None:
        self.system, self.magnify = system, magnify
        self.length = MAX_ARROW_LENGTH * system.robot.size
        has_torques = any(name.startswith("torque.") for name in run.names)
        self._q = run.array("q")
        self._torque = run["torque"].values if has_torques else np.zeros((len(self._q), len(system.actuators)))
        self._load_places = run.options.get("load_places", [])
        self._loads = run.array("loads") if self._load_places else np.zeros((len(self._q), 0, 6))

    def at(self, sample: int) -> Array:
        """Return start and end points of all arrows at a sample, shape (n, 2, 3)."""
        q = magnify_deflections(self.system, self._q[sample : sample + 1], self.magnify)
        return np.array([*self._actuator_arrows(q, sample), *self._load_arrows(q, sample)]).reshape(-1, 2, 3)

    def _actuator_arrows(self, q: Array, sample: int) -> Iterator[tuple[Array, Array]]:
        largest = float(np.abs(self._torque).max(initial=0.0))
        for actuator, value in zip(self.system.actuators, self._torque[sample], strict=True):
            if abs(value) <= MIN_ARROW_LENGTH * largest:
                continue
            joint = self.system.robot.link(actuator.link).joint
            pose = self.system.frame(actuator.link, 0.0, q)[0]
            number = self.system.joints(actuator.link).index(actuator.joint)
            own = [np.array(each.axis) for each in joint.elementary_motions if each.freedom == number]
            axis = own[0] if own else np.array([1.0, 0.0, 0.0])
            if joint.rides:
                axis = np.array(joint.mount_matrix).T @ axis
            yield pose[:3, 3], pose[:3, 3] + self.length * value / largest * (pose[:3, :3] @ axis)

    def _load_arrows(self, q: Array, sample: int) -> Iterator[tuple[Array, Array]]:
        """Yield arrows of loads: those of forces end at their point of action, those of torques start there."""
        parts = self._loads[..., :3], self._loads[..., 3:]
        largest = [float(np.linalg.norm(part, axis=-1).max(initial=0.0)) for part in parts]
        for k, (link, x) in enumerate(self._load_places):
            point = self.system.frame(link, x, q)[0, :3, 3]
            for part, peak, offset in zip(parts, largest, (-1.0, 0.0), strict=True):
                if np.linalg.norm(part[sample, k]) > MIN_ARROW_LENGTH * peak:
                    arrow = self.length * part[sample, k] / peak
                    yield point + offset * arrow, point + (offset + 1.0) * arrow


class Scene:
    """The scene of one page in viser. All changes of a frame are sent together, so that parts do not lag behind."""

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
        self._waiting: dict[str, Callable[[], None]] | None = None  # updates while a film is recorded

    def hold(self) -> None:
        """Keep updates until `release`; only `draw` changes the scene meanwhile."""
        self._waiting = {}

    def release(self) -> None:
        """Apply the updates since `hold`."""
        waiting, self._waiting = self._waiting or {}, None
        for update in waiting.values():
            update()

    def _update(self, part: str, update: Callable[[], None]) -> None:
        if self._waiting is None:
            update()
        else:
            self._waiting[part] = update

    def set_ground(self, ground: Ground, look: bool = True) -> None:
        """Show the grid with its ruler, and point the camera at it if `look`; `/robot` is turned upright."""
        self._update("ground", lambda: self._set_ground(ground, look))

    def show(self, state: ViewState) -> None:
        """Update everything that moves."""
        self._update("state", lambda: self.draw(state))

    def set_trace(self, path: Array | None) -> None:
        """Show the path of the tip (n, 3), or hide it if None."""
        self._update("trace", lambda: self._set_trace(path))

    def _set_ground(self, ground: Ground, look: bool) -> None:
        size, cell, axes = ground.size, ground.cell, AXES_LENGTH * ground.size
        extent = float(cell * np.ceil(1.6 * size / cell))
        self._scene.add_frame("/robot", show_axes=False, wxyz=ground.wxyz)
        self._scene.add_grid(
            "/ground", extent, extent, plane="xy", cell_size=cell, section_size=5 * cell,
            position=tuple(ground.middle), fade_distance=20 * size, shadow_opacity=0.0,
        )  # fmt: skip
        for label in self._labels:
            label.remove()
        style = {"font_screen_scale": 1.3, "anchor": "center-center"}
        self._labels = [
            self._scene.add_label(f"/ruler/{k}", text, position=tuple(place), **style)
            for k, (text, place) in enumerate(ground.labels())
        ]
        self._scene.add_frame("/robot/axes", axes_length=axes, axes_radius=0.03 * axes, position=ground.base)
        if look:
            self._client.camera.position, self._client.camera.look_at = (tuple(each) for each in ground.camera())

    def draw(self, state: ViewState) -> None:
        """Draw everything that moves, even while updates are held.

        The arm is one mesh, so that its parts do not lag behind each other. viser has no vertex colours: they are
        appended to the corners as unused vertices, and `page.js` applies them.
        """
        corners = np.concatenate([state.points, linear_rgb(state.colours)])
        with self._client.atomic():
            self._set_mesh("arm", corners, state.faces, color=KIND_COLOURS["link"])
            if state.ghosts is None:
                self._hide("ghost")
            else:
                self._set_mesh("ghost", *state.ghosts, color=GHOST_COLOUR, opacity=GHOST_OPACITY)
            self._set_arrows(state.arrows, state.size)

    def _set_trace(self, path: Array | None) -> None:
        if path is None or len(path) < 2:
            self._hide("trace")
            return
        pieces = np.stack([path[:-1], path[1:]], axis=1).astype(np.float32)
        self._meshes["trace"] = self._scene.add_line_segments(
            "/robot/trace", pieces, TRACE_COLOUR, thickness=2.0, thickness_units="screen"
        )

    def _set_arrows(self, pairs: Array | None, size: float) -> None:
        if pairs is None or not len(pairs):
            self._hide("arrows")
            return
        ends, arrows = pairs.astype(np.float32), self._meshes.get("arrows")
        if arrows is not None and arrows.points.shape == pairs.shape:
            arrows.visible, arrows.points = True, ends
            return
        radius = ARROW_RADIUS * size
        head = {"head_radius": ARROW_HEAD[0] * radius, "head_length": ARROW_HEAD[1] * radius}
        add = self._scene.add_arrows
        self._meshes["arrows"] = add("/robot/arrows", ends, ARROW_COLOUR, shaft_radius=radius, **head)

    def _set_mesh(self, name: str, points: Any, faces: Any, **appearance: Any) -> None:
        corners, triangles = points.astype(np.float32), faces.astype(np.uint32)
        mesh = self._meshes.get(name)
        if mesh is None:
            style = {"flat_shading": True, "side": "double", "cast_shadow": False, "receive_shadow": False}
            add = self._scene.add_mesh_simple
            self._meshes[name] = add(f"/robot/{name}", corners, triangles, **style, **appearance)
            return
        mesh.visible = True
        mesh.vertices = corners
        if not np.array_equal(mesh.faces, triangles):
            mesh.faces = triangles

    def _hide(self, name: str) -> None:
        if name in self._meshes:
            self._meshes[name].visible = False
