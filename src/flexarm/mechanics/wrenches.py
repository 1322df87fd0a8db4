"""Wrenches as arrays (..., 6): a force, then the torque about a point."""

from __future__ import annotations

import numpy as np

from flexarm.foundation.numbers import Array


def about(wrench: Array, r: Array) -> Array:
    """The same wrench about the point at r from that about which it was given."""
    force = wrench[..., :3]
    torque = wrench[..., 3:] - np.cross(r, force)
    return np.concatenate([np.broadcast_to(force, torque.shape), torque], axis=-1)


def turned(R: Array, wrench: Array) -> Array:
    """The same wrench in other axes: R (..., 3, 3) turns coordinates into these."""
    parts = [np.einsum("...ij,...j->...i", R, wrench[..., part]) for part in (slice(0, 3), slice(3, 6))]
    return np.concatenate(parts, axis=-1)


def turned_back(R: Array, wrench: Array) -> Array:
    """The same with the inverse of R."""
    return turned(np.swapaxes(R, -1, -2), wrench)


def force_first(wrench: Array) -> Array:
    """From the order of twists, torque first."""
    return np.concatenate([wrench[..., 3:], wrench[..., :3]], axis=-1)
