"""Vibration modes of a robot at a posture, at rest or in steady rotation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from flexarm.beam.bases import lowest_modes
from flexarm.beam.polynomials import Array
from flexarm.mechanics.coordinates import suggestion
from flexarm.mechanics.system import System, Vector
from flexarm.robot import Robot

Hold = Literal["free", "locked"]
Complex = np.ndarray[Any, np.dtype[np.complex128]]

# A row of the tangent stiffness below this fraction of the gravity stiffness is a zero spoilt by rounding.
ROUNDING = 1e-11


@dataclass(frozen=True)
class ModeSet:
    """Undamped modes in ascending frequency, rigid-body modes (no restoring force) first, at zero frequency.

    `eigenvalues`: i omega of each mode; real and positive where the posture is unstable.
    `shapes`: (nq, modes) in the coordinates `names`, mass-normalised; locked coordinates are zero.
    """

    eigenvalues: Complex
    shapes: Array | Complex
    damping_ratios: Array
    system: System
    q: Array

    @property
    def frequencies(self) -> Array:
        """Hz."""
        return np.abs(self.eigenvalues.imag) / (2 * np.pi)

    @property
    def rigid(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which modes are rigid-body motions."""
        return np.asarray(self.eigenvalues == 0)

    @property
    def names(self) -> tuple[str, ...]:
        return self.system.names

    @property
    def kinds(self) -> list[str]:
        """`rigid body`, `vibration` or `unstable`, mode by mode."""
        return [
            "rigid body" if value == 0 else "unstable" if value.real > abs(value) * 1e-9 else "vibration"
            for value in self.eigenvalues
        ]

    def __len__(self) -> int:
        return len(self.eigenvalues)

    def shape(self, mode: int) -> dict[str, float]:
        """A mode by coordinate name; modes count from 0."""
        return dict(zip(self.names, self.shapes[:, mode].tolist(), strict=True))

    def deflection(self, link: str, mode: int, points: int = 51) -> tuple[Array, Array]:
        """(x, displacement (points, 3)) of a link's axis against its root frame, for unit modal amplitude."""
        return self.system.deflection(link, self.shapes[:, mode].real, points)

    def participation(self, mode: int) -> dict[str, float]:
        """Share of the kinetic energy that each coordinate's own inertia holds."""
        inertia = np.diag(self.system.mass_matrix(self.q)) * self.shapes[:, mode] ** 2
        return dict(zip(self.names, (inertia / inertia.sum()).tolist(), strict=True))

    def rows(self, most: int | None = None) -> list[tuple[str, ...]]:
        """Lines of the table: mode, Hz, rad/s, damping ratio, kind, the coordinate that moves most."""
        out: list[tuple[str, ...]] = []
        for mode in range(len(self))[:most]:
            share = self.participation(mode)
            busiest = max(share, key=lambda name: share[name])
            frequency = self.frequencies[mode]
            out.append(
                (
                    str(mode + 1),
                    f"{frequency:.6g}",
                    f"{2 * np.pi * frequency:.6g}",
                    f"{self.damping_ratios[mode]:.3g}",
                    self.kinds[mode],
                    f"{busiest} ({share[busiest]:.0%})",
                )
            )
        return out


def modes(
    robot: Robot | System,
    q: Vector = None,
    v: Vector = None,
    joints: Hold | Mapping[str, Hold] = "free",
) -> ModeSet:
    """Modes of small vibrations about the posture q (by name or as an array; zero where not given).

    `joints`: "free", "locked", or one of these by link name (joints not named are free). A locked joint with an
    elastic drive has its motor locked, so its spring still works. `v`: steady joint speeds, for rotating robots
    (centrifugal stiffening, gyroscopic coupling); a joint with a speed is held at it.
    Gravity counts through its stiffness at q; damping is left out of the frequencies and given as ratios.
    """
    system = robot if isinstance(robot, System) else System(robot, native=False)
    posture, speed = system.vector(q), system.vector(v)
    kept = _kept(system, joints, speed)
    here = np.ix_(kept, kept)
    M = system.mass_matrix(posture)[here]
    if speed.any():
        moving = system.linearization(posture, speed)
        eigenvalues, vectors = _moving_modes(M, moving.G[here], moving.K[here])
    else:
        weight = system.gravity_stiffness(posture)
        noise = ROUNDING * np.abs(weight).max(initial=0.0)
        eigenvalues, vectors = _modes(M, (system.stiffness + weight)[here], _common_motions(system, kept), noise)
    shapes: Array | Complex = np.zeros((system.nq, len(kept)), dtype=vectors.dtype)  # type: ignore[assignment]
    shapes[kept] = vectors
    dissipated = np.einsum("im,ij,jm->m", shapes.conj(), system.damping, shapes).real
    omega = np.abs(eigenvalues)
    ratios = np.divide(dissipated, 2 * omega, out=np.zeros(len(kept)), where=omega > 0)
    return ModeSet(eigenvalues, shapes, ratios, system, posture)


def _kept(system: System, joints: Hold | Mapping[str, Hold], speed: Array) -> list[int]:
    """Coordinates that may vibrate."""
    names = [link.name for link in system.robot.links]
    wanted = dict.fromkeys(names, joints) if isinstance(joints, str) else dict(joints)
    for name, hold in wanted.items():
        if name not in names:
            raise KeyError(f"joints: there is no link '{name}'{suggestion(name, names)}")
        if hold not in ("free", "locked"):
            raise ValueError(f"joints: '{hold}' for link '{name}' is neither 'free' nor 'locked'")
    actuated = dict(zip(system.inputs, system.input_matrix.argmax(axis=0), strict=True))
    locked = {actuated[name] for name, hold in wanted.items() if hold == "locked" and name in actuated}
    return [k for k in range(system.nq) if k not in locked and speed[k] == 0]


def _common_motions(system: System, kept: list[int]) -> Array:
    """Coordinates in which a free drive turns with its link: column of the motor moves both, that of q winds up."""
    change = np.eye(len(kept))
    for place, k in enumerate(kept):
        link, kind = system.names[k].rsplit(".", 1)
        joint = system.names.index(f"{link}.q") if kind == "motor" else None
        if joint is not None and joint in kept:
            change[kept.index(joint), place] = 1.0
    return change


def _modes(M: Array, K: Array, change: Array, noise: float) -> tuple[Complex, Array]:
    """Eigenvalues i omega and mass-normalised shapes of M a + K x = 0, M and K symmetric.

    Motions without any stiffness are split off exactly before the eigenproblem, so that rigid-body modes have the
    frequency zero and do not blur the slow vibrations.
    """
    M, K = change.T @ M @ change, change.T @ K @ change
    loose = np.abs(K).max(axis=1, initial=0.0) <= noise
    held = ~loose
    rigid = np.linalg.inv(np.linalg.cholesky(M[np.ix_(loose, loose)])).T
    follow = -np.linalg.solve(M[np.ix_(loose, loose)], M[np.ix_(loose, held)])
    inertia = M[np.ix_(held, held)] + M[np.ix_(held, loose)] @ follow
    squares, vectors = _ascending(inertia, K[np.ix_(held, held)])
    shapes = np.zeros((len(M), len(M)))
    rigid_count = int(loose.sum())
    shapes[np.ix_(loose, np.arange(rigid_count))] = rigid
    shapes[held, rigid_count:] = vectors
    shapes[loose, rigid_count:] = follow @ vectors
    values = np.concatenate([np.zeros(rigid_count), 1j * np.sqrt(squares.astype(complex))])
    values = np.where(values.real < 0, -values, values)  # an unstable pair shows its growing half
    return values, change @ shapes


def _ascending(M: Array, K: Array) -> tuple[Array, Array]:
    """omega^2 (negative where unstable) and mass-normalised vectors of K x = omega^2 M x."""
    if not len(K):
        return np.zeros(0), np.zeros((0, 0))
    try:
        omega, vectors = lowest_modes(M, K, len(K))
        return omega**2, vectors
    except np.linalg.LinAlgError:  # K is not positive definite: some posture under gravity
        from scipy.linalg import eigh

        squares, vectors = eigh(K, M)
        return np.asarray(squares), np.asarray(vectors)


def _moving_modes(M: Array, G: Array, K: Array) -> tuple[Complex, Array | Complex]:
    """Eigenvalues and shapes of M a + G v + K x = 0; without gyroscopic terms the shapes are real."""
    if not np.abs(G).max(initial=0.0) > ROUNDING * np.sqrt(np.abs(M).max(initial=0.0) * np.abs(K).max(initial=0.0)):
        return _modes(M, (K + K.T) / 2, np.eye(len(M)), noise=0.0)
    from scipy.linalg import eig

    n = len(M)
    state = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, G)]])
    values, vectors = eig(state)
    upper = np.argsort(values.imag, kind="stable")[n:]  # one of each conjugate pair
    values, vectors = values[upper], vectors[:n, upper]
    return values, vectors / np.sqrt(np.einsum("im,ij,jm->m", vectors.conj(), M, vectors).real)
