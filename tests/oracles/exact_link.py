"""A geometrically exact link by brute force: where its sections are, and its mass matrix, at any deflection.

The coordinates eta give the strains, linearly: curvatures in section axes and stretch u' of the axis,

    (kappa_x, kappa_y, kappa_z, u')(x) = strains(x) @ eta,   R' = R hat(kappa),   r' = (1 + u') R e_x,

the root at the origin. Their rates move sections by dr = J deta and turn them by W deta, in root axes:

    W' = R d(kappa)/d(eta),   J' = du'/d(eta) R e_x + W x r'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

STEPS = 2000
"""Of the integration along a link in space; errors are some 1e-13 of its length for curvatures of a few radians."""

POINTS = 240
"""Of the quadrature along a link in a plane."""

Strains = Callable[[np.ndarray], np.ndarray]
"""x (points,) -> (points, 4, n): rows kappa_x, kappa_y, kappa_z, u' for each coordinate."""


@dataclass(frozen=True)
class Sections:
    """At points x with quadrature weights: axis r (points, 3), section axes R (points, 3, 3), and how they move with
    the coordinates, J and W (points, 3, n), all in root axes. The last point is the tip."""

    x: np.ndarray
    weights: np.ndarray
    r: np.ndarray
    R: np.ndarray
    J: np.ndarray
    W: np.ndarray


@dataclass(frozen=True)
class Inertia:
    """m, first moment c (3,), inertia I (3, 3) about the root, and the mass matrix M (6 + n, 6 + n) for the root's
    velocity and angular velocity and the rates of eta, in root axes: M @ rates is the momentum."""

    m: float
    c: np.ndarray
    I: np.ndarray  # noqa: E741
    M: np.ndarray


def strains_of(families: dict[str, list[Callable[[np.ndarray], np.ndarray]]]) -> Strains:
    """From functions of x by family, in this order: v'' of bend_y, w'' of bend_z, theta' of twist, u' of stretch."""
    rows = {"bend_y": (2, 1.0), "bend_z": (1, -1.0), "twist": (0, 1.0), "stretch": (3, 1.0)}
    listed = [(*rows[name], function) for name in rows for function in families.get(name, [])]

    def strains(x: np.ndarray) -> np.ndarray:
        out = np.zeros((len(x), 4, len(listed)))
        for column, (row, sign, function) in enumerate(listed):
            out[:, row, column] = sign * function(x)
        return out

    return strains


def in_space(strains: Strains, eta: np.ndarray, length: float, steps: int = STEPS) -> Sections:
    """By exponentials over short steps (Magnus, order 4) and Simpson's rule over pairs of them."""
    steps += steps % 2
    h, x = length / steps, np.linspace(0, length, steps + 1)
    gauss = np.sqrt(3) / 6
    one, two = ((strains(x[:-1] + (0.5 + sign * gauss) * h) @ eta)[:, :3] for sign in (-1, 1))
    turns = h / 2 * (one + two) - np.sqrt(3) * h**2 / 12 * np.cross(two, one)
    R = np.empty((steps + 1, 3, 3))
    R[0] = np.eye(3)
    for k, turn in enumerate(rotations(turns)):
        R[k + 1] = R[k] @ turn
    rates = strains(x)
    tangent = R[:, :, 0]
    dr = (1 + rates[:, 3] @ eta)[:, None] * tangent
    W = _simpson(R @ rates[:, :3], h)
    J = _simpson(tangent[:, :, None] * rates[:, 3][:, None, :] + _cross(W, dr), h)
    weights = np.full(steps + 1, 2 * h / 3)
    weights[1::2], weights[[0, -1]] = 4 * h / 3, h / 3
    return Sections(x, weights, _simpson(dr, h), R, J, W)


def in_plane(strains: Strains, eta: np.ndarray, length: float, points: int = POINTS) -> Sections:
    """By Gauss quadrature, of links that bend in y and stretch: the angle of a section is the integral of kappa_z."""
    panels = max(points // 12, 1)
    nodes, shares = np.polynomial.legendre.leggauss(12)
    size = length / panels
    x = ((np.arange(panels)[:, None] + (nodes + 1) / 2) * size).ravel()
    sums = _running(nodes, panels, size)
    rates = strains(np.append(x, length))
    inner = rates[:-1]

    def integral(values: np.ndarray) -> np.ndarray:
        """From the root to every point, and to the tip."""
        return np.tensordot(sums, values, 1)

    angles = integral(inner[:, 2])
    phi, R = angles @ eta, np.zeros((len(x) + 1, 3, 3))
    R[:, 0, 0] = R[:, 1, 1] = np.cos(phi)
    R[:, 1, 0], R[:, 0, 1], R[:, 2, 2] = np.sin(phi), -np.sin(phi), 1
    W = np.zeros((len(x) + 1, 3, rates.shape[2]))
    W[:, 2] = angles
    tangent = R[:, :, 0]
    dr = (1 + rates[:, 3] @ eta)[:, None] * tangent
    J = integral((tangent[:, :, None] * rates[:, 3][:, None, :] + _cross(W, dr))[:-1])
    weights = np.append(np.tile(shares, panels) * size / 2, 0.0)
    return Sections(np.append(x, length), weights, integral(dr[:-1]), R, J, W)


def inertia(
    sections: Sections,
    mass: Callable[[np.ndarray], np.ndarray],
    rotary: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Inertia:
    """With the mass per length and, perhaps, the sections' inertia per length about their own axes (points, 3)."""
    x, r, R, n = sections.x, sections.r, sections.R, sections.J.shape[2]
    mu = sections.weights * mass(x)
    moves, turns = np.zeros((2, len(x), 3, 6 + n))
    moves[:, :, :3] = turns[:, :, 3:6] = np.eye(3)
    moves[:, :, 3:6] = -_hat(r)  # omega x r
    moves[:, :, 6:], turns[:, :, 6:] = sections.J, sections.W
    M = np.einsum("p,pai,paj->ij", mu, moves, moves)
    if rotary is not None:
        own = sections.weights[:, None] * rotary(x)
        turned = np.einsum("pba,pbi->pai", R, turns)  # in section axes
        M += np.einsum("pa,pai,paj->ij", own, turned, turned)
    return Inertia(float(mu.sum()), mu @ r, M[3:6, 3:6], M)


def rotations(vectors: np.ndarray) -> np.ndarray:
    """(points, 3, 3): of rotation vectors (points, 3), by Rodrigues' formula."""
    angle = np.linalg.norm(vectors, axis=1)[:, None, None]
    hat = _hat(vectors)
    # sin(a) / a and (1 - cos(a)) / a^2
    return np.eye(3) + np.sinc(angle / np.pi) * hat + 0.5 * np.sinc(angle / (2 * np.pi)) ** 2 * hat @ hat


def _hat(v: np.ndarray) -> np.ndarray:
    out = np.zeros((len(v), 3, 3))
    out[:, 0, 1], out[:, 0, 2], out[:, 1, 2] = -v[:, 2], v[:, 1], -v[:, 0]
    return out - out.transpose(0, 2, 1)


def _cross(columns: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(points, 3, n): each column times v."""
    return -_hat(v) @ columns


def _simpson(values: np.ndarray, h: float) -> np.ndarray:
    """Running integrals, of order 4 at every point: the parabola through three, over the first or the second half."""
    left, middle, right = values[:-2:2], values[1:-1:2], values[2::2]
    out = np.zeros_like(values)
    first, both = h / 12 * (5 * left + 8 * middle - right), h / 3 * (left + 4 * middle + right)
    out[2::2] = np.cumsum(both, axis=0)
    out[1::2] = out[:-1:2] + first
    return out


def _running(nodes: np.ndarray, panels: int, size: float) -> np.ndarray:
    """(panels * nodes + 1, panels * nodes): integrals from the start to every Gauss point, and to the end."""
    legendre, count = np.polynomial.legendre, len(nodes)
    vander = legendre.legvander(nodes, count - 1)
    grown = legendre.legval(nodes, legendre.legint(np.eye(count), lbnd=-1)).T @ np.linalg.inv(vander)
    whole = legendre.leggauss(count)[1]
    out = np.zeros((panels * count + 1, panels * count))
    for panel in range(panels):
        own = slice(panel * count, (panel + 1) * count)
        out[own, own] = grown * size / 2
        out[(panel + 1) * count :, own] = whole * size / 2
    return out
