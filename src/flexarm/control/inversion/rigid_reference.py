"""Reference of an inversion: the motion of the rigid twin's joints along the path, held before and after.

Any form of path is converted to joint coordinates of the rigid twin (the same robot with rigid links and drives) over
time with two derivatives; the point on the flexible robot is to be where the twin's is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from flexarm.analysis.inverse_kinematics import posture_search
from flexarm.analysis.rigid_kinematics import Component, RigidTwin
from flexarm.analysis.rigid_torques import RigidTorques, rigid_torques
from flexarm.dynamics.arguments import Vector
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, real_number
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile

REST_TOLERANCE = 1e-3  # rates at the ends of a path, relative to the largest, that count as rest
KINK_STEP = 1e-5  # time step, relative to the duration, with which kinks are detected
KINK_TOLERANCE = 0.1  # jump of the jerk, relative to the largest acceleration per duration
SAMPLE_COUNT = 1000  # samples of a path between its breaks
RESOLUTION_TOLERANCE = 0.03  # error of linear interpolation between times, relative to the extent of the path
SINGULAR_VALUE_TOLERANCE = 1e-6  # relative to the largest singular value
MAX_DURATION_S = 1e9
DEFAULT_TIME_COUNT = 513  # times of a function whose end only is given; 257 do not resolve its jerk
POSITION, ROTATION = (0, 1, 2), (3, 4, 5)
Place = tuple[str, float | None]
PATH_KINDS = "joints by link {'arm': fa.minimum_jerk(0, 1.5, 1.0)}, or what fa.rigid_torques takes as a path"


@dataclass(frozen=True)
class TwinPath:
    """Joint coordinates of a rigid twin from `begin` to `end` (s).

    `read` maps (times within, order of derivative 0 to 2) to values (n, joints); `breaks` are times of possible kinks;
    `rows` are the components of the point's pose that matter; `moving` are the joints that move it.
    """

    begin: float
    end: float
    read: Callable[[Array, int], Array]
    breaks: tuple[float, ...]
    rows: tuple[int, ...]
    moving: tuple[int, ...]

    @property
    def duration(self) -> float:
        """Return the duration of the path (s)."""
        return self.end - self.begin

    def __call__(self, t: Array, order: int = 0) -> Array:
        """Return joint coordinates, or their derivatives, at any times; the twin rests before and after the path."""
        last = np.nextafter(self.end, -np.inf)  # a profile may end there
        out = self.read(np.clip(t, self.begin, last), order)
        if order:
            out[(t < self.begin) | (t > self.end)] = 0.0
        return out

    @cached_property
    def _times(self) -> Array:
        """Return dense times between every two breaks."""
        edges = [self.begin, *self.breaks, self.end]
        return np.concatenate(
            [np.linspace(*ends, SAMPLE_COUNT, endpoint=False) for ends in pairwise(edges)] + [edges[-1:]]
        )

    @cached_property
    def extent(self) -> float:
        """Return the travel of the joint that moves most (rad or m)."""
        return float(np.ptp(self(self._times), axis=0).max(initial=0.0))

    def is_resolved_by(self, steps: int) -> bool:
        """Return True if linear interpolation over so many steps approximates the path."""
        ends = np.linspace(self.begin, self.end, steps + 1)
        there, exact = self(ends), self(self._times)
        lines = np.stack([np.interp(self._times, ends, each) for each in there.T], axis=1)
        return bool(np.abs(lines - exact).max() <= RESOLUTION_TOLERANCE * self.extent)

    def require_smooth(self, jerk: bool) -> None:
        """Raise ValueError if the path does not go from rest to rest, or its acceleration (or `jerk`) jumps.

        The jerk must be continuous if motors act through springs.
        """
        fastest = [float(np.abs(self(self._times, order)).max(initial=0.0)) for order in (1, 2)]
        ends = np.array([self.begin, np.nextafter(self.end, -np.inf)])
        if not self.extent:
            raise ValueError(f"tip: stays where it is from t = {self.begin:g} s to {self.end:g} s; must be a path")
        for order, what in ((1, "speed"), (2, "acceleration")):
            for time, value in zip((self.begin, self.end), np.abs(self.read(ends, order)).max(axis=1), strict=True):
                if value > REST_TOLERANCE * max(fastest[order - 1], 1e-300):
                    raise ValueError(
                        f"tip: has {'a' if order == 1 else 'an'} {what} at t = {time:g} s, where it "
                        f"{'begins' if time == self.begin else 'ends'}; torques are found for paths that begin and end "
                        "at rest, smoothly, as fa.minimum_jerk and fa.rest_to_rest do"
                    )
        for time in self.breaks:
            self._require_smooth_at(time, fastest)
        for time in (self.begin, *self.breaks, self.end) if jerk else ():
            self._require_smooth_jerk(time, fastest[1])

    def _require_smooth_at(self, time: float, fastest: list[float]) -> None:
        before = np.nextafter(time, -np.inf)
        for order, what in ((0, "itself"), (1, "its speed"), (2, "its acceleration")):
            left, right = (self(np.array([t]), order)[0] for t in (before, time))
            if np.abs(right - left).max() > REST_TOLERANCE * max([self.extent, *fastest][order], 1e-300):
                raise ValueError(
                    f"tip: {what} jumps at t = {time:g} s, which would take torques that grow with every mode of the "
                    "robot; take a smoother path, such as fa.minimum_jerk or fa.s_curve"
                )

    def _require_smooth_jerk(self, time: float, fastest: float) -> None:
        """Raise ValueError at a kink, where the second difference of the acceleration decreases only linearly."""
        step = KINK_STEP * self.duration
        left, middle, right = self(np.array([time - step, time, time + step]), 2)
        if np.abs(right - 2 * middle + left).max() > KINK_TOLERANCE * KINK_STEP * fastest:
            raise ValueError(
                f"tip: the rate of its acceleration jumps at t = {time:g} s; motors behind springs would have to jump "
                "with it, so take a path with more smooth rates, such as fa.rest_to_rest(0, 1, 2, smooth=4), in three "
                "profiles x, y, z; a function, or samples, at more times (500) resolve it"
            )


def twin_path(
    twin: RigidTwin,
    tip: Any,
    times: Any,
    q0: Vector,
    place: Place,
    components: Sequence[Component] | None,
    joints: Sequence[str] | None,
) -> TwinPath:
    """Return the checked path of the rigid twin from the arguments of a user."""
    if isinstance(tip, Mapping):
        for name, given in (("components", components), ("joints", joints)):
            if given is not None:
                raise ValueError(f"{name} = {shown(given)}: has no meaning where tip gives joints by link")
        return _joint_path(twin, tip, _times(times), q0, place)
    if isinstance(tip, Profile):
        raise TypeError(f"tip = {shown(tip)}: one profile is no place in space; must be {PATH_KINDS}")
    found = _follow_path(twin, tip, _times(times), q0, place, components, joints)
    frames = _is_frames(tip, found.times)
    search = posture_search(twin.system, np.eye(4) if frames else np.zeros(3), q0, *place, components, joints)
    return TwinPath(
        float(found.times[0]),
        float(found.times[-1]),
        _interpolate(twin, found),
        found.breaks,
        search.rows,
        search.moving,
    )


def _times(times: Any) -> Array:
    """Return the checked times of a path; a number is its end, from zero on."""
    if np.ndim(times) == 0 and not isinstance(times, (list, tuple)):
        return np.linspace(0.0, real_number("times", times, "s", above=0, most=MAX_DURATION_S), DEFAULT_TIME_COUNT)
    given = real_array("times", times)
    ordered = given.ndim == 1 and len(given) > 1 and np.isfinite(given).all() and (np.diff(given) > 0).all()
    if not ordered or np.abs(given).max() > MAX_DURATION_S:
        raise ValueError(f"times = {shown(times)}: must be finite times in ascending order (s), or the last of them")
    return given


def _joint_path(twin: RigidTwin, given: Mapping[Any, Any], times: Array, q0: Vector, place: Place) -> TwinPath:
    """Return the path of joints given by link; joints that are not named stay at q0."""
    links = [each.link for each in twin.rigid.coordinates]
    if not given:
        raise ValueError(f"tip = {shown(given)}: names no joint; must be {PATH_KINDS}")
    for name in given:
        if name not in links:
            raise KeyError(f"tip: no joint moves a link {shown(name)}{suggestion(name, links)}")
    start = twin.system.posture(q0, "q0")
    if start.ndim != 1:
        raise ValueError(f"q0 has shape {start.shape}: the robot begins at one posture")
    held = start[twin.joints]
    found = {links.index(name): profile(each, f"tip[{name!r}]") for name, each in given.items()}

    def read(t: Array, order: int) -> Array:
        out = np.tile(held if order == 0 else np.zeros_like(held), (len(t), 1))
        for k, each in found.items():
            out[:, k] = each(t, order)
        return out

    begin, end = float(times[0]), float(times[-1])
    _require_travel(twin, read(times, 0), times)
    moving = tuple(k for k in sorted(found) if k in twin.moving_joints(place[0]))
    breaks = {time for each in found.values() for time in each.breaks if begin < time < end}
    # positions determine at most three joints, and fewer if axes are parallel
    rows = POSITION if _rank(twin, read(times, 0), place, POSITION, moving) == len(moving) else POSITION + ROTATION
    return TwinPath(begin, end, read, tuple(sorted(breaks)), rows, moving)


def _require_travel(twin: RigidTwin, q: Array, times: Array) -> None:
    low, high = twin.travel
    for k, name in enumerate(twin.rigid.names):
        outside = ~((q[:, k] >= low[k]) & (q[:, k] <= high[k]))
        if outside.any():
            at = int(outside.argmax())
            raise ValueError(
                f"tip: '{name}' = {q[at, k]:.4g} at t = {times[at]:.4g} s is outside of its travel, {low[k]:g} to "
                f"{high[k]:g}"
            )


def _rank(twin: RigidTwin, q: Array, place: Place, rows: Sequence[int], moving: Sequence[int]) -> int:
    if not moving:
        return 0
    link, x = place
    J = twin.rigid.jacobian(link, x, q[:: max(1, len(q) // 16)], axes="world")[:, [3, 4, 5, 0, 1, 2]]
    sizes = np.linalg.svd(J[:, rows][:, :, moving], compute_uv=False)
    return int((sizes > SINGULAR_VALUE_TOLERANCE * sizes.max()).sum(axis=1).min())


def _follow_path(
    twin: RigidTwin, tip: Any, times: Array, q0: Vector, place: Place, components: Any, joints: Any
) -> RigidTorques:
    """Call `rigid_torques`; its messages name the argument `path`, which is `tip` here."""
    link, x = place
    try:
        return rigid_torques(twin.system, tip, times, q0=q0, link=link, x=x, components=components, joints=joints)
    except (TypeError, ValueError) as error:
        message = str(error)
        if message.startswith("path"):
            raise type(error)("tip" + message.removeprefix("path")) from None
        raise


def _is_frames(tip: Any, times: Array) -> bool:
    if isinstance(tip, (list, tuple)) and any(isinstance(each, Profile) for each in tip):
        return False
    sample = np.asarray(tip(float(times[0]))) if callable(tip) else np.asarray(tip)[0]
    return sample.shape == (4, 4)


def _interpolate(twin: RigidTwin, found: RigidTorques) -> Callable[[Array, int], Array]:
    """Interpolate joint coordinates and both derivatives by polynomials of degree 5, cut where accelerations jump."""
    from scipy.interpolate import BPoly

    stacked = np.stack([each[:, twin.joints] for each in (found.q, found.v, found.a)], axis=1)
    whole = [BPoly.from_derivatives(found.times, stacked[:, :, k], orders=None) for k in range(len(twin.joints))]

    def read(t: Array, order: int) -> Array:
        inside = np.clip(t, found.times[0], found.times[-1])
        return np.stack([each(inside, nu=order) for each in whole], axis=1)

    return read
