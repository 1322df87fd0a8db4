"""From where a page looks at its robot, as numbers: what is drawn elsewhere is seen as in the page.

Where a robot stands in its view: which way is up, the ground with its ruler, and from where all of it is seen.

What a view shows at one moment: all that moves in it. The page and pictures of it are drawn from the same.

Forces and torques on a robot as arrows: of actuators about and along their joints, loads where they act.

The robot in the browser: its arm, ground, trace, arrows. It draws what it is given.
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
from flexarm.studio.mesh_frames import FAINT, GHOST, KIND_COLOURS, PUSHES, TRACE, light

NEAREST = 1e-6  # m: what is nearer, or behind, is not seen


@dataclass(frozen=True)
class ViewCamera:
    """A camera at a position that looks at a point; fov: angle (rad) from the top to the bottom of the picture."""

    position: tuple[float, ...]
    look_at: tuple[float, ...]
    up: tuple[float, ...]
    fov: float
    width: int
    height: int

    @staticmethod
    def of(page: Any, most: int) -> ViewCamera:
        """The one of a page, as viser tells it, with at most so many pixels a side; even ones, as films want them."""
        width, height = int(page.image_width), int(page.image_height)
        less = min(1.0, most / max(width, height))
        width, height = (max(2, int(less * each) // 2 * 2) for each in (width, height))
        position, look_at, up = (tuple(map(float, each)) for each in (page.position, page.look_at, page.up_direction))
        return ViewCamera(position, look_at, up, float(page.fov), width, height)

    def finer(self, times: int) -> ViewCamera:
        """The same with so many times more pixels."""
        return replace(self, width=times * self.width, height=times * self.height)

    def seen(self, points: Array) -> Array:
        """Points (..., 3) as pixels right and down from the upper left corner, and one by their distance; zero of what
        is behind."""
        right, down, ahead = self._directions
        offset = points - np.asarray(self.position)
        depth = offset @ ahead
        near = np.where(depth > NEAREST, 1 / np.maximum(depth, NEAREST), 0.0)
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


AXES = 0.06  # of the robot: length of the axes of its base


@dataclass(frozen=True)
class Ground:
    """The surroundings of a robot that is somewhere in a cloud of points.

    What is up for the robot is made the view's z: `turn` (angle, axis) leads from the robot's directions to the view's.
    All places are the view's, but `base`, which is the robot's.
    """

    turn: tuple[float, Array]
    low: Array
    high: Array
    base: tuple[float, ...]

    @staticmethod
    def of(robot: Robot, cloud: Array) -> Ground:
        turn = standing(upward(robot, cloud))
        seen = cloud @ rotation(*turn).T
        return Ground(turn, seen.min(axis=0), seen.max(axis=0), tuple(robot.base.position))

    @property
    def size(self) -> float:
        return float(max((self.high - self.low).max(), 1e-6))

    @property
    def cell(self) -> float:
        """How far lines of the ground are apart (m)."""
        return nice(self.size / 8)

    @property
    def extent(self) -> float:
        return float(self.cell * np.ceil(1.6 * self.size / self.cell))

    @property
    def middle(self) -> Array:
        found = np.round((self.low + self.high) / 2 / self.cell) * self.cell
        found[2] = self.low[2] - 0.03 * self.size
        return np.asarray(found)

    @property
    def axes(self) -> float:
        """Length of the axes at the base (m)."""
        return AXES * self.size

    def labels(self) -> list[tuple[str, Array]]:
        """Numbers along the ground in front of the robot, and how large its squares are, with their places."""
        step, middle = nice(self.size / 4), self.middle
        count = int(np.floor(0.75 * self.size / step))
        front = middle - np.array([0.0, np.round(0.4 * self.size / self.cell) * self.cell, 0.0])
        begin = np.round(middle[0] / step) * step
        places = [float(f"{begin + k * step:.6g}") for k in range(-count, count + 1)]
        found = [(f"{each:g} m", np.array([each, front[1], front[2]])) for each in places]
        return [*found, (f"squares of {self.cell:g} m", front - [0.0, 1.2 * self.cell, 0.0])]

    def camera(self) -> tuple[Array, Array]:
        """From where, and whereto, one looks first."""
        flat = self.high[2] - self.low[2] < 0.1 * self.size
        at = (self.low + self.high) / 2
        return at + self.size * np.array([0.0, -0.85 if flat else -1.15, 0.85 if flat else 0.45]), at


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


def _nothing() -> Array:
    return np.zeros((0, 2, 3))


@dataclass(frozen=True)
class Still:
    """An arm: corners (v, 3), triangles (f, 3) between them, and a colour (v, 3) of bytes for each corner.

    ghosts: corners and triangles of other arms to compare with, or None.
    arrows: (n, 2, 3) from where to where; size: of the robot (m).
    """

    points: Any
    faces: Any
    colours: Any
    ghosts: tuple[Any, Any] | None = None
    arrows: Array = field(default_factory=_nothing)
    size: float = 1.0


THIN = 0.006  # of the robot: radius of an arrow
HEAD = (2.5, 5.0)  # radius and length of its head, in those of the arrow
AROUND = 10  # corners of an arrow
LONGEST = 0.25  # of the robot: the arrows of the largest torque, and of the largest force and torque of a load


class Arrows:
    """The arrows of a run; torques and forces are each as long as they are large, compared over the whole run."""

    def __init__(self, system: System, run: Run, magnify: float) -> None:
        self.system, self.magnify = system, magnify
        self.size = sum(link.length for link in system.robot.links)
        known = run.names
        self._q = run.array("q")
        self._torque = run["torque"].values if any(name.startswith("torque.") for name in known) else None
        self._places = run.options.get("load_places", [])
        self._loads = run.array("loads") if self._places else np.zeros((len(self._q), 0, 6))

    def at(self, sample: int) -> Array:
        """(n, 2, 3): from where to where."""
        q = magnify_deflections(self.system, self._q[sample : sample + 1], self.magnify)
        return np.array([*self._of_actuators(q, sample), *self._of_loads(q, sample)]).reshape(-1, 2, 3)

    def _of_actuators(self, q: Array, sample: int) -> list[tuple[Array, Array]]:
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
            own = np.array(joint.axis_vector) if isinstance(joint, Revolute) else np.array([1.0, 0.0, 0.0])
            if not isinstance(joint, (Revolute, FixedPrismatic)):
                own = np.array(joint.mount_matrix).T @ own
            way = pose[:3, :3] @ own
            found.append((pose[:3, 3], pose[:3, 3] + LONGEST * self.size * value / largest * way))
        return found

    def _of_loads(self, q: Array, sample: int) -> list[tuple[Array, Array]]:
        """Forces end where they act, torques begin there."""
        parts = self._loads[..., :3], self._loads[..., 3:]
        largest = [float(np.linalg.norm(part, axis=-1).max(initial=0.0)) for part in parts]
        found = []
        for k, (link, x) in enumerate(self._places):
            for part, most, begins in zip(parts, largest, (-1.0, 0.0), strict=True):
                value = part[sample, k]
                if most > 0 and np.linalg.norm(value) > 1e-3 * most:
                    place, way = self.system.frame(link, x, q)[0, :3, 3], LONGEST * self.size * value / most
                    found.append((place + begins * way, place + (begins + 1.0) * way))
        return found


def bodies(pairs: Array, size: float) -> tuple[Array, Faces]:
    """Arrows (n, 2, 3) as bodies: corners (v, 3) and triangles, for a robot of that size (m)."""
    begin, way = pairs[:, 0], pairs[:, 1] - pairs[:, 0]
    length = np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-300)
    along = way / length
    aside = np.cross(along, np.where(np.abs(along[:, :1]) < 0.8, [[1.0, 0, 0]], [[0, 1.0, 0]]))
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    turn = 2 * np.pi * np.arange(AROUND) / AROUND
    ring = np.cos(turn)[:, None] * aside[:, None] + np.sin(turn)[:, None] * np.cross(along, aside)[:, None]
    thin = THIN * size
    neck = np.maximum(length - HEAD[1] * thin, 0.0)
    rings = [(0 * neck, thin), (neck, thin), (neck, HEAD[0] * thin), (length, 0.0)]
    points = np.stack([(begin + at * along)[:, None] + radius * ring for at, radius in rings], axis=1)
    faces, _ = triangulate_rings(len(rings), AROUND, caps=True)
    count = len(rings) * AROUND
    every = np.concatenate([faces + k * count for k in range(len(pairs))]) if len(pairs) else faces[:0]
    return points.reshape(-1, 3), every


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
