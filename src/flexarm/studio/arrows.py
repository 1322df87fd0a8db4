"""Forces and torques on a robot as arrows: of actuators about and along their joints, loads where they act."""

from __future__ import annotations

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.motion.run import Run
from flexarm.robot import FixedPrismatic, Revolute
from flexarm.show.arm import magnified
from flexarm.show.solids import Faces, skin

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
        q = magnified(self.system, self._q[sample : sample + 1], self.magnify)
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
    faces, _ = skin(len(rings), AROUND, caps=True)
    count = len(rings) * AROUND
    every = np.concatenate([faces + k * count for k in range(len(pairs))]) if len(pairs) else faces[:0]
    return points.reshape(-1, 3), every
