"""Vibration modes of a robot at a posture, at rest or in steady rotation.

The modes are the eigenpairs of M a + G v + K q = 0 about the posture. Rigid-body motions are found first and split off,
so that they have the exact frequency zero and do not disturb the slow vibrations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np

from flexarm.beam.bases import all_modes
from flexarm.dynamics.accuracy.shape_truncation import warn_of_frequencies
from flexarm.dynamics.accuracy.stiffening import system_for_posture
from flexarm.dynamics.accuracy.validity import exact_model_hint, warn_of_posture
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.constraints.initial_projection import Assembly
from flexarm.dynamics.equilibrium import StaticBalance, displacements, holdable_coordinates, posture_at
from flexarm.dynamics.singularity import massless_motions
from flexarm.dynamics.system import System, as_system
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array
from flexarm.robot import Robot

Hold = Literal["free", "locked"]
Complex = np.ndarray[Any, np.dtype[np.complex128]]

# Joint stiffness below this fraction of the stiffness due to gravity and rotation is a rounding error of zero.
STIFFNESS_TOLERANCE = 1e-9
DIFFERENCE_STEP = 1e-5  # step of central differences, in units of each coordinate's characteristic size
TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class ModeSet:
    """Vibration modes of a robot: rigid-body modes first, then in ascending frequency.

    Parameters
    ----------
    eigenvalues : ndarray of complex, shape (modes,)
        Eigenvalue i omega (rad/s) of each mode, undamped; its real part is positive if the motion grows.
    shapes : ndarray, shape (nq, modes)
        Mass-normalised mode shapes in the coordinates `names`; locked coordinates are zero. They are complex if
        gyroscopic terms make coordinates vibrate out of phase.
    damping_ratios : ndarray, shape (modes,)
        Damping ratios, to first order in the damping; negative if damping makes a rotating robot unstable.
    imbalance : float
        Largest acceleration with which the posture would start to move by itself, each coordinate in units of its
        characteristic size per s2. It is zero in equilibrium.
    system : System
        Equations of motion of the robot.
    q : ndarray, shape (nq,)
        Posture about which the robot vibrates.

    See Also
    --------
    flexarm.modes : Compute the modes of a robot.
    flexarm.plot_modes : Draw the mode shapes.
    """

    eigenvalues: Complex
    shapes: Array | Complex
    damping_ratios: Array
    imbalance: float
    system: System
    q: Array

    @property
    def frequencies(self) -> Array:
        """Frequencies in Hz, shape (modes,)."""
        return np.abs(self.eigenvalues.imag) / (2 * np.pi)

    @property
    def rigid(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Mask of the rigid-body modes, shape (modes,)."""
        return np.asarray(self.eigenvalues == 0)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates, in the order of the rows of `shapes`."""
        return self.system.names

    @property
    def kinds(self) -> list[str]:
        """Kind of each mode: "rigid body", "vibration" or "unstable"."""
        return [
            "rigid body" if value == 0 else "unstable" if value.real > 1e-9 * abs(value) else "vibration"
            for value in self.eigenvalues
        ]

    def __len__(self) -> int:
        return len(self.eigenvalues)

    def __repr__(self) -> str:
        slowest = self.frequencies[~self.rigid][:6]
        listed = ", ".join(f"{each:.4g}" for each in slowest) + (", ..." if len(self) > 6 + self.rigid.sum() else "")
        return f"ModeSet of {len(self)} modes, {self.rigid.sum()} of them rigid: {listed or 'no'} Hz"

    def shape(self, mode: int) -> dict[str, Any]:
        """Return the shape of a mode by coordinate name.

        Parameters
        ----------
        mode : int
            Number of the mode, counted from 0; negative numbers count from the end.

        Returns
        -------
        dict of str to float or complex
            Mass-normalised amplitude of each coordinate.
        """
        return dict(zip(self.names, self._shape(mode).tolist(), strict=True))

    def deflection(self, link: str, mode: int, points: int = 51) -> tuple[Array, Array]:
        """Return the displacement of a link's axis in a mode of unit modal amplitude.

        Parameters
        ----------
        link : str
            Name of the link.
        mode : int
            Number of the mode, counted from 0.
        points : int, optional
            Number of points along the link.

        Returns
        -------
        x : ndarray, shape (points,)
            Distance from the root of the link (m).
        displacement : ndarray, shape (points, 3)
            Displacement relative to the root frame of the link, per unit modal amplitude; of a complex shape the real
            part, which is the deflection at one instant.
        """
        shape = self._shape(mode).real
        step = DIFFERENCE_STEP / max(float(np.abs(shape / self.system.sizes).max(initial=0.0)), TINY)
        x, (there, back) = self.system.deflection(link, self.q + step * np.array([shape, -shape]), points)
        return x, (there - back) / (2 * step)

    def participation(self, mode: int) -> dict[str, float]:
        """Return the share of each coordinate's own inertia in the kinetic energy of a mode.

        Parameters
        ----------
        mode : int
            Number of the mode, counted from 0.

        Returns
        -------
        dict of str to float
            Shares by coordinate name; their sum is 1.
        """
        own = np.diag(self.system.mass_matrix(self.q)) * np.abs(self._shape(mode)) ** 2
        return dict(zip(self.names, (own / own.sum()).tolist(), strict=True))

    def _shape(self, mode: int) -> Any:
        if not isinstance(mode, Integral) or isinstance(mode, bool) or not -len(self) <= mode < len(self):
            raise ValueError(f"mode = {shown(mode)}: must be a whole number, 0 to {len(self) - 1}")
        return self.shapes[:, int(mode)]


def modes(
    robot: Robot | System,
    q: Vector | Literal["equilibrium"] = None,
    v: Vector = None,
    *,
    joints: Hold | Mapping[str, Hold] = "free",
) -> ModeSet:
    """Compute the modes of small vibrations about a posture.

    Parameters
    ----------
    robot : Robot or System
        Robot, or its equations of motion.
    q : dict of str to float, array_like of shape (nq,) or "equilibrium", optional
        Posture, by coordinate name or as an array; coordinates that are not given are zero. "equilibrium" is that
        in which the robot rests with its joints held at zero.
    v : dict of str to float or array_like, shape (nq,), optional
        Steady speeds of joints (rad/s or m/s), such as {"beam.q": 6.0}, for rotating robots: centrifugal stiffening and
        gyroscopic coupling are included. The actuator of a joint with a speed keeps that speed. At rest by default.
    joints : {"free", "locked"} or dict of str to {"free", "locked"}, optional
        State of the joints, for all that have actuators or by link name; joints that are not named are free. Passive
        joints are locked only by name. If a locked joint has
        an elastic drive, its motor is locked and the spring still acts.

    Returns
    -------
    ModeSet
        Frequencies, mode shapes and damping ratios.

    Raises
    ------
    ValueError
        If a coordinate can move without moving any mass, or if speeds are given for a robot with constraints.

    Warns
    -----
    ValidityWarning
        If the links have too few shapes for accurate frequencies, or deflect too far at the posture.

    See Also
    --------
    flexarm.linearize : Linear model from inputs to outputs.
    flexarm.frequency_map : Frequencies over many postures.
    flexarm.campbell : Frequencies over the speed of rotation.

    Notes
    -----
    With constraints, the modes are those of the displacements that satisfy the constraints, at the constrained posture
    nearest to `q`, including the stiffness due to the constraint forces. Gravity contributes its stiffness at `q`. The
    modes are those about `q` even if the robot would not stay there (see `ModeSet.imbalance`). Damping does not change
    the frequencies; it is returned as ratios.

    Examples
    --------
    >>> from flexarm.robot import library
    >>> found = modes(library.rotating_beam(), joints="locked")
    >>> f"{found.frequencies[0]:.3f} Hz"  # 1.8751^2 / (2 pi l^2) sqrt(EI / mu): a cantilever
    '0.463 Hz'
    """
    return _checked_modes(robot, q, v, joints, is_silent=False)


def modes_without_warning(
    robot: Robot | System, q: Vector = None, joints: Hold | Mapping[str, Hold] = "free"
) -> ModeSet:
    """Return the modes without the warning of too few shapes, for comparisons of numbers of shapes."""
    return _checked_modes(robot, q, None, joints, is_silent=True)


def _checked_modes(
    robot: Robot | System,
    q: Vector | Literal["equilibrium"],
    v: Vector,
    joints: Hold | Mapping[str, Hold],
    is_silent: bool,
) -> ModeSet:
    system = as_system(robot)
    posture, rates = posture_at(robot, q), system.vector(v, "v")
    if posture.ndim != 1:
        raise ValueError(f"q has shape {posture.shape}: modes are those of one posture at a time")
    if rates.ndim != 1:
        raise ValueError(f"v has shape {rates.shape}: modes are those at one speed at a time")
    if (exact := system_for_posture(robot, posture)) is not None:
        system = exact
    warn_of_posture(system, posture)
    speed, held = steady_speeds(system, rates)
    kept = vibrating_coordinates(system, joints, held)
    if not is_silent:
        warn_of_frequencies(system, posture, set(range(system.nq)).difference(kept))
    return _compute_modes(system, posture, speed, kept)


def _compute_modes(system: System, q: Array, speed: Array, kept: list[int]) -> ModeSet:
    """Compute the modes of the free coordinates `kept`, of displacements Z of them that satisfy the constraints."""
    if system.constraints:
        if speed.any():
            raise ValueError("v: modes in steady rotation are those of robots without constraints")
        q = Assembly(system, [k for k in range(system.nq) if k not in kept]).posture(q)
    here, mass = np.ix_(kept, kept), system.mass_matrix(q)
    _require_inertia(system, kept, mass[here])
    springs, damping, gyroscopic = system.stiffness_matrix(q), system.damping_matrix(q), np.zeros_like(mass)
    independent, Z = kept, np.eye(len(kept))
    if system.constraints:
        independent, Z = displacements(system, q, kept)
        balance = StaticBalance(system)
        stiffness = balance.stiffness(q, constraint_forces=balance.constraint_forces(q, kept))
    elif speed.any():
        moving = system.linearization(q, speed)
        gyroscopic, stiffness = moving.G, moving.K
    else:
        stiffness = springs + system.gravity_stiffness(q)
    matrices = (mass, gyroscopic, stiffness, stiffness - springs, damping)
    M, G, K, geometric, D = (Z.T @ matrix[here] @ Z for matrix in matrices)
    motions = _rigid_body_motions(system, independent, K, geometric)
    eigenvalues: Complex
    vectors: Any
    if np.abs(G).max(initial=0.0) > 1e-12 * np.sqrt(np.abs(M).max(initial=0.0) * np.abs(K).max(initial=0.0)):
        eigenvalues, vectors = _gyroscopic_modes(M, G, K, motions)
    else:
        eigenvalues, vectors = _undamped_modes(M, (K + K.T) / 2, motions)
    shapes: Any = np.zeros((system.nq, vectors.shape[1]), dtype=vectors.dtype)
    shapes[kept] = Z @ vectors
    bias = system.inverse_dynamics(q, speed, None) - damping @ speed
    start = Z @ np.linalg.solve(M, Z.T @ bias[kept])
    imbalance = float(np.abs(start / system.sizes[kept]).max(initial=0.0))
    return ModeSet(eigenvalues, shapes, _damping_ratios(eigenvalues, vectors, M, G, D), imbalance, system, q)


def steady_speeds(system: System, v: Array) -> tuple[Array, set[int]]:
    """Return the speeds of all coordinates, motors included, and the actuated coordinates that are held at them."""
    speed, held = v.astype(float), set()
    for place in np.flatnonzero(v):
        each = system.coordinates[place]
        if each.kind == "elastic":
            raise ValueError(f"v: '{each.name}' is a deflection; only joints turn steadily")
        for actuator in system.actuators:
            pair = [actuator.joint.index, actuator.coordinate.index]
            if place in pair:
                speed[pair] = v[place]
                held.add(actuator.coordinate.index)
    return speed, held


def vibrating_coordinates(system: System, joints: Hold | Mapping[str, Hold], held: set[int]) -> list[int]:
    """Return the indices of the coordinates that may vibrate: all but the locked and the `held` ones."""
    names = [link.name for link in system.robot.links]
    if not isinstance(joints, (str, Mapping)):
        raise TypeError(f"joints = {joints!r}: must be 'free', 'locked', or one of these by link name")
    holds = dict.fromkeys(names, joints) if isinstance(joints, str) else dict(joints)
    for name, hold in holds.items():
        if name not in names:
            raise KeyError(f"joints: there is no link '{name}'{suggestion(str(name), names)}")
        if hold not in ("free", "locked"):
            raise ValueError(f"joints: '{hold}' for link '{name}' is neither 'free' nor 'locked'")
    locked = {each.coordinate.index for each in system.actuators if holds.get(each.link) == "locked"}
    if not isinstance(joints, str):  # by name, passive joints too
        driven = {each.link for each in system.actuators}
        named = {name for name, hold in holds.items() if hold == "locked" and name not in driven}
        locked |= {each.index for each in system.coordinates if each.kind == "joint" and each.link in named}
    return [k for k in range(system.nq) if k not in locked | held]


def _require_inertia(system: System, kept: list[int], M: Array) -> None:
    """Raise ValueError if some motion of the kept coordinates moves no mass."""
    motions = massless_motions(M, system.sizes[kept])
    if not motions.size:
        if np.linalg.eigvalsh(M).min(initial=np.inf) <= 0:
            raise ValueError(
                "q: links bend too far at this posture: their mass matrix is not positive definite"
                f"{exact_model_hint(system.robot)}"
            )
        return
    worst = int(np.abs(motions).max(axis=1).argmax())
    raise ValueError(
        f"'{system.names[kept[worst]]}' can move without moving any mass, so it has no vibration; "
        "give its link a mass, a hub or a payload with inertia"
    )


def _rigid_body_motions(system: System, kept: list[int], K: Array, geometric: Array) -> Array:
    """Return the rigid-body motions among the kept coordinates, as columns: no spring and no weight resists them.

    Springs always hold elastic coordinates and the wind-up of drives, so only the joints, and what follows them, can
    move freely: K is condensed to the joints. Its null space is judged against the stiffness that gravity and rotation
    contribute (`geometric`), not against that of the links.
    """
    n = len(kept)
    change = np.eye(n)
    motors = {each.link: each.index for each in system.coordinates if each.kind == "motor"}
    joints = []
    for each in system.coordinates:
        leader = motors.get(each.link, each.index)
        if each.kind == "joint" and leader in kept:
            joints.append(kept.index(leader))
            if each.index in kept:
                change[kept.index(each.index), joints[-1]] = 1.0  # the link turns with its motor
    others = [k for k in range(n) if k not in joints]
    stiffness = change.T @ K @ change
    follow = np.zeros((n, len(joints)))
    follow[joints] = np.eye(len(joints))
    if others and joints:
        follow[others] = -np.linalg.solve(stiffness[np.ix_(others, others)], stiffness[np.ix_(others, joints)])
    left = follow.T @ stiffness @ follow
    noise = STIFFNESS_TOLERANCE * float(np.abs(geometric).max(initial=0.0))
    values, vectors = np.linalg.eigh((left + left.T) / 2)
    return np.asarray(change @ follow @ vectors[:, np.abs(values) <= noise])


def _undamped_modes(M: Array, K: Array, motions: Array) -> tuple[Complex, Array]:
    """Return eigenvalues i omega and shapes of M a + K x = 0; those of rigid-body motions are exactly zero."""
    rest, spread = _complement(motions, len(M))
    rigid = motions @ np.linalg.inv(np.linalg.cholesky(motions.T @ M @ motions)).T
    along = rigid.T @ M @ spread  # makes the other coordinates M-orthogonal to the rigid-body motions
    spread = spread - rigid @ along
    squares, vectors = all_modes(spread.T @ M @ spread, K[np.ix_(rest, rest)])
    values = 1j * np.sqrt(squares.astype(complex))
    values = np.where(values.real < 0, -values, values)  # an unstable pair shows its growing half
    return np.concatenate([np.zeros(rigid.shape[1]), values]), np.column_stack([rigid, spread @ vectors])


def _complement(motions: Array, n: int) -> tuple[list[int], Array]:
    """Return the coordinates that are no pivots of the rigid-body motions, and their unit vectors."""
    left, pivots = motions.copy(), []
    for _ in range(motions.shape[1]):
        row, column = np.unravel_index(np.abs(left).argmax(), left.shape)
        pivots.append(int(row))
        left = left - np.outer(left[:, column], left[row] / left[row, column])
    rest = [k for k in range(n) if k not in pivots]
    return rest, np.eye(n)[:, rest]


def _gyroscopic_modes(M: Array, G: Array, K: Array, motions: Array) -> tuple[Complex, Complex]:
    """Return eigenvalues and shapes of M a + G v + K x = 0, one of each pair.

    The returned eigenvalue is the one with positive imaginary part, or the growing one. Positions of rigid-body motions
    have no effect and are left out of the state, so that zeros are exact.
    """
    from scipy.linalg import eig

    n, rest = len(M), _complement(motions, len(M))[0]
    basis = np.column_stack([motions, np.eye(n)[:, rest]])
    inverse = np.linalg.inv(basis)[motions.shape[1] :]  # coordinates of the rest
    force, drag = -np.linalg.solve(M, K[:, rest]), -np.linalg.solve(M, G)
    state = np.block([[np.zeros((len(rest), len(rest))), inverse], [force, drag]])
    values, vectors = eig(state)
    size = float(np.abs(values).max(initial=0.0))
    values = np.where(np.abs(values) < 1e-10 * size, 0.0, values)
    waves = np.flatnonzero(values.imag > 1e-9 * np.abs(values))
    growing = np.flatnonzero((np.abs(values.imag) <= 1e-9 * np.abs(values)) & (values.real > 0))
    chosen = np.concatenate([growing, waves[np.argsort(values[waves].imag, kind="stable")]]).astype(int)
    rates = vectors[len(rest) :, chosen]  # velocities of the mode: the shape times its eigenvalue
    shapes = rates / np.sqrt(np.einsum("im,ij,jm->m", rates.conj(), M, rates).real)
    still = max(n - len(chosen), 0)
    rigid = motions[:, :still] if motions.shape[1] >= still else np.zeros((n, still))
    if rigid.any():
        rigid = rigid @ np.linalg.inv(np.linalg.cholesky(rigid.T @ M @ rigid)).T
    return np.concatenate([np.zeros(still), values[chosen]]), np.column_stack([rigid, shapes])[:, :n]


def _damping_ratios(values: Complex, x: Any, M: Array, G: Array, D: Array) -> Array:
    """Return -Re(d lambda)/|lambda| for the first-order change due to D in lambda^2 M + lambda (G + D) + K."""
    m, g, d = (np.einsum("im,ij,jm->m", x.conj(), matrix, x) for matrix in (M, G, D))
    moving = np.abs(values) > 0
    out = np.zeros(len(values))
    lam = values[moving]
    out[moving] = (lam * d[moving] / (2 * lam * m[moving] + g[moving])).real / np.abs(lam)
    return out


def locked_joints(system: System, q: Vector = None) -> dict[str, Hold]:
    """Return "locked" or "free" for each actuated joint, for the argument `joints` of `modes`, at a posture q.

    Joints of a robot with loops are locked in their order as long as the others can still close the loops, so that
    links vibrate as they do while the joints are driven.

    >>> from flexarm.robot import library
    >>> locked_joints(System(library.two_link_arm(), native=False))
    {'upper': 'locked', 'fore': 'locked'}
    """
    driven: dict[str, set[int]] = {}
    for each in system.actuators:
        driven.setdefault(each.link, set()).add(each.coordinate.index)
    if not system.constraints:
        return dict.fromkeys(driven, "locked")
    held = holdable_coordinates(system, Assembly(system, ()).posture(system.posture(q)))
    return {link: "locked" if own <= set(held) else "free" for link, own in driven.items()}
