"""Poses over time with their first two derivatives: splines through samples, or three profiles.

Positions are splines of degree 5, so that accelerations are smooth; so are the (not normalised) quaternions s of the
axes, with the angular velocity 2 s' s* / |s|^2. Profiles may have jumps in acceleration but not in speed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from flexarm.analysis.rigid_kinematics import require_frames
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, real_array
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile

SPLINE_DEGREE = 5
MIN_SAMPLE_COUNT = SPLINE_DEGREE + 1
FIT_TOLERANCE = 1e-7  # distance of splines from a function of t, relative to its extent
MAX_SAMPLE_COUNT = 4000
JUMP_TOLERANCE = 1e-9  # m or m/s, or relative to the value
EXPECTED_SHAPES = (
    "must be positions (n, 3) or frames (n, 4, 4) at the n times, a function of t that gives a position (3,) or a "
    "frame (4, 4), or three profiles"
)


@dataclass(frozen=True)
class TipPath:
    """Path of poses over time, from the first time to the last.

    `position(t, order)` are positions (n, 3) or their derivatives, `axes` is a spline of quaternions (scalar last) if
    the path has axes; accelerations may jump at the inner times `breaks`.
    """

    times: Array
    position: Callable[[Array, int], Array]
    axes: Any = None
    breaks: tuple[float, ...] = ()

    @property
    def grids(self) -> list[Array]:
        """Return the times in pieces between the breaks, with both ends of each, the last one just before a break."""
        edges = [self.times[0], *self.breaks, self.times[-1]]
        out = []
        for begin, end in pairwise(edges):
            last = end if end is edges[-1] else np.nextafter(end, -np.inf)
            margin = 1e-6 * (end - begin)
            inside = self.times[(self.times > begin + margin) & (self.times < last - margin)]
            few = len(inside) + 2 < MIN_SAMPLE_COUNT
            out.append(np.linspace(begin, last, MIN_SAMPLE_COUNT) if few else np.array([begin, *inside, last]))
        return out

    def poses(self, t: Array) -> Array:
        """Return the positions (n, 3) or frames (n, 4, 4) at times t."""
        from scipy.spatial.transform import Rotation

        if self.axes is None:
            return self.position(t, 0)
        out = np.zeros((len(t), 4, 4))
        out[:, :3, :3] = Rotation.from_quat(self.axes(t)).as_matrix()
        out[:, :3, 3], out[:, 3, 3] = self.position(t, 0), 1.0
        return out

    def rates(self, t: Array, order: int) -> Array:
        """Return velocities (order 1) or accelerations (order 2) in the world, (n, 3); with angular ones, (n, 6)."""
        moving = self.position(t, order)
        if self.axes is None:
            return moving
        s, ds = self.axes(t), self.axes(t, 1)
        square = (s * s).sum(1)[:, None]
        turning = 2 * _multiply_by_conjugate(ds, s) / square
        if order == 2:  # s' s'* has no vector part; the second term is due to the change of |s|^2
            turning = 2 * (_multiply_by_conjugate(self.axes(t, 2), s) - (s * ds).sum(1)[:, None] * turning) / square
        return np.hstack([moving, turning])


def _multiply_by_conjugate(p: Array, s: Array) -> Array:
    """Return the vector parts (n, 3) of the quaternion products p s*, scalar last."""
    return np.asarray(s[:, 3:] * p[:, :3] - p[:, 3:] * s[:, :3] - np.cross(p[:, :3], s[:, :3]))


def _profile_path(times: Array, profiles: Sequence[Profile]) -> TipPath:
    """Return the path of three profiles x, y, z."""

    def position(t: Array, order: int) -> Array:
        inside = np.minimum(t, np.nextafter(times[-1], -np.inf))  # a profile may end at the last time
        return np.stack([each(inside, order) for each in profiles], axis=1)

    breaks = sorted({time for each in profiles for time in each.breaks if times[0] < time < times[-1]})
    for time in breaks:
        for order, jumps in ((0, "jumps"), (1, "has a speed that jumps")):
            before, after = position(np.array([np.nextafter(time, -np.inf), time]), order)
            if np.abs(after - before).max() > JUMP_TOLERANCE * max(1.0, float(np.abs(after).max())):
                raise ValueError(f"path = {shown(list(profiles))}: {jumps} at t = {time:g} s, which no torque can do")
    return TipPath(times, position, None, tuple(breaks))


def tip_path(path: Any, times: Any) -> TipPath:
    """Return a checked path from the arguments of a user."""
    t = real_array("times", times)
    if t.ndim != 1 or not np.isfinite(t).all() or (np.diff(t) <= 0).any() or len(t) < MIN_SAMPLE_COUNT:
        raise ValueError(
            f"times = {shown(times)}: must be at least {MIN_SAMPLE_COUNT} finite times in ascending order (s)"
        )
    if isinstance(path, (list, tuple)) and len(path) == 3 and any(isinstance(each, Profile) for each in path):
        return _profile_path(t, [profile(each, f"path[{k}]") for k, each in enumerate(path)])
    if callable(path):
        return _interpolate_function(path, t)
    return _sampled_path(t, real_array("path", path))


def _interpolate_function(path: Callable[[float], Any], t: Array) -> TipPath:
    """Interpolate a function by splines, at more and more times until they agree with it between their points."""
    samples = _call_at(path, t)
    while True:
        way, middles = _sampled_path(t, samples), (t[1:] + t[:-1]) / 2
        between = _call_at(path, middles)
        extent = float(np.ptp(samples, axis=0).max())
        missed = np.abs(way.poses(middles) - between).reshape(len(middles), -1).max(axis=1)
        if missed.max() <= max(FIT_TOLERANCE * extent, JUMP_TOLERANCE):
            return way
        if 2 * len(t) > MAX_SAMPLE_COUNT:
            where = f"path: near t = {middles[missed.argmax()]:.4g} s the function is not smooth, or too fast"
            raise ValueError(f"{where}: splines through {len(t)} points are off by {missed.max():.2g}")
        order = np.argsort(every := np.concatenate([t, middles]), kind="stable")
        t, samples = every[order], np.concatenate([samples, between])[order]


def _sampled_path(t: Array, samples: Array) -> TipPath:
    """Return the path of splines through positions or frames."""
    from scipy.interpolate import make_interp_spline
    from scipy.spatial.transform import Rotation

    axes = None
    if samples.shape not in ((len(t), 3), (len(t), 4, 4)):
        raise ValueError(f"path has shape {samples.shape} at {len(t)} times: {EXPECTED_SHAPES}")
    if not np.isfinite(samples).all():
        where = t[np.flatnonzero(~np.isfinite(samples).reshape(len(t), -1).all(axis=1))[0]]
        raise ValueError(f"path: is not finite at t = {where:g} s")
    if samples.ndim == 3:
        require_frames("path", samples)
        s = Rotation.from_matrix(samples[:, :3, :3]).as_quat()
        s[1:] *= np.cumprod(np.where((s[1:] * s[:-1]).sum(1) < 0, -1.0, 1.0))[:, None]  # continuous
        axes, samples = make_interp_spline(t, s, SPLINE_DEGREE), samples[:, :3, 3]
    return TipPath(t, make_interp_spline(t, samples, SPLINE_DEGREE), axes)


def _call_at(path: Callable[[float], Any], times: Array) -> Array:
    try:
        return real_array("path", [np.asarray(path(float(t))).tolist() for t in times])
    except (TypeError, AttributeError) as error:
        raise TypeError(
            f"path: calling the function of t failed ({type(error).__name__}: {error}); it {EXPECTED_SHAPES}"
        ) from None
