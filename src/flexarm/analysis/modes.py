"""Vibration modes of a robot at a posture, at rest or in steady rotation.

Which joints of a robot can be locked: all, or as many as its loops leave.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np

from flexarm.beam.bases import all_modes
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.constraints.initial_projection import Assembly
from flexarm.dynamics.equilibrium import constraint_multipliers, displacements, holdable_coordinates, tangent_stiffness
from flexarm.dynamics.shape_truncation import warn_of_frequencies
from flexarm.dynamics.singularity import massless_motions
from flexarm.dynamics.stiffening import system_for_posture
from flexarm.dynamics.system import System
from flexarm.dynamics.validity import exact_model_hint, warn_of_posture
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array
from flexarm.robot import Robot

Hold = Literal["free", "locked"]
Complex = np.ndarray[Any, np.dtype[np.complex128]]

# Of the stiffness that gravity and rotation give: below this a joint's is a zero spoilt by rounding.
ROUNDING = 1e-9
SMALL = 1e-5  # of what is large for a coordinate: the step of differences
TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class ModeSet:
    """Undamped modes, rigid-body modes (no restoring force) first, then in ascending frequency.

    `eigenvalues`: i omega of each mode; with a positive real part where the motion grows.
    `shapes`: (nq, modes) in the coordinates `names`, mass-normalised; locked coordinates are zero. They are complex
    where gyroscopic terms make coordinates vibrate out of phase.
    `damping_ratios`: to first order in the damping; negative where it makes a rotating robot unstable.
    `imbalance`: the largest acceleration at which the posture would start to move by itself, per coordinate in units
    of what is large for it; zero in equilibrium.
    """

    eigenvalues: Complex
    shapes: Array | Complex
    damping_ratios: Array
    imbalance: float
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
            "rigid body" if value == 0 else "unstable" if value.real > 1e-9 * abs(value) else "vibration"
            for value in self.eigenvalues
        ]

    def __len__(self) -> int:
        return len(self.eigenvalues)

    def shape(self, mode: int) -> dict[str, Any]:
        """A mode by coordinate name; modes count from 0."""
        return dict(zip(self.names, self._shape(mode).tolist(), strict=True))

    def deflection(self, link: str, mode: int, points: int = 51) -> tuple[Array, Array]:
        """(x, displacement (points, 3)) of a link's axis against its root frame, for unit modal amplitude (of a
        complex shape the real part: the deflection at one instant)."""
        shape = self._shape(mode).real
        step = SMALL / max(float(np.abs(shape / self.system.sizes).max(initial=0.0)), TINY)
        x, (there, back) = self.system.deflection(link, self.q + step * np.array([shape, -shape]), points)
        return x, (there - back) / (2 * step)

    def participation(self, mode: int) -> dict[str, float]:
        """Share of each coordinate's own inertia in the kinetic energy."""
        own = np.diag(self.system.mass_matrix(self.q)) * np.abs(self._shape(mode)) ** 2
        return dict(zip(self.names, (own / own.sum()).tolist(), strict=True))

    def _shape(self, mode: int) -> Any:
        if not isinstance(mode, Integral) or isinstance(mode, bool) or not -len(self) <= mode < len(self):
            raise ValueError(f"mode = {shown(mode)}: must be a whole number, 0 to {len(self) - 1}")
        return self.shapes[:, int(mode)]


def modes(
    robot: Robot | System,
    q: Vector = None,
    v: Vector = None,
    joints: Hold | Mapping[str, Hold] = "free",
) -> ModeSet:
    """Modes of small vibrations about the posture q (by name or as an array; zero where not given).

    `joints`: "free", "locked", or one of these by link name (joints not named are free). A locked joint with an
    elastic drive has its motor locked, so its spring still works. `v`: steady speeds of joints, {"beam.q": 6.0}, for
    rotating robots (centrifugal stiffening, gyroscopic coupling); the actuator of a joint with a speed holds it.
    With constraints: modes on them, at the posture on them nearest to q, with the stiffness that the constraint forces
    of that posture give; at rest only.
    Gravity counts through its stiffness at q. The vibrations are those about q even where the robot would not stay
    there (see `imbalance`). Damping is left out of the frequencies and given as ratios.

    >>> from flexarm.robot import library
    >>> found = modes(library.rotating_beam(), joints="locked")
    >>> f"{found.frequencies[0]:.3f} Hz"  # 1.8751^2 / (2 pi l^2) sqrt(EI / mu): a cantilever
    '0.463 Hz'
    """
    system, posture, speed, kept = _vibration(robot, q, v, joints)
    warn_of_frequencies(system, posture, set(range(system.nq)).difference(kept))
    return _mode_set(system, posture, speed, kept)


def modes_of_any_shapes(robot: Robot | System, q: Vector = None, joints: Hold | Mapping[str, Hold] = "free") -> ModeSet:
    """Return the modes without a warning of too few shapes, for those who compare numbers of shapes."""
    return _mode_set(*_vibration(robot, q, None, joints))


def _vibration(
    robot: Robot | System, q: Vector, v: Vector, joints: Hold | Mapping[str, Hold]
) -> tuple[System, Array, Array, list[int]]:
    """Return system, posture, speeds and the coordinates that vibrate."""
    if not isinstance(robot, (Robot, System)):
        raise TypeError(f"robot = {shown(robot)}: must be a Robot or a System")
    system = robot if isinstance(robot, System) else System(robot, native=False)
    posture = system.posture(q)
    if posture.ndim != 1:
        raise ValueError(f"q has shape {posture.shape}: modes are those of one posture at a time")
    rates = system.vector(v, "v")
    if rates.ndim != 1:
        raise ValueError(f"v has shape {rates.shape}: modes are those at one speed at a time")
    if (exact := system_for_posture(robot, posture)) is not None:
        system = exact
    warn_of_posture(system, posture)
    speed, held = steady_speeds(system, rates)
    kept = vibrating(system, joints, held)
    return system, posture, speed, kept


def _mode_set(system: System, posture: Array, speed: Array, kept: list[int]) -> ModeSet:
    if system.constraints:
        return _constrained(system, posture, speed, kept)
    here = np.ix_(kept, kept)
    M = system.mass_matrix(posture)[here]
    _require_inertia(system, kept, M)
    if speed.any():
        moving = system.linearization(posture, speed)
        G, K = moving.G[here], moving.K[here]
    else:
        G, K = np.zeros_like(M), (system.stiffness_matrix(posture) + system.gravity_stiffness(posture))[here]
    motions = _motions(system, kept, K, K - system.stiffness_matrix(posture)[here])
    eigenvalues: Complex
    vectors: Any
    if np.abs(G).max(initial=0.0) > 1e-12 * np.sqrt(np.abs(M).max(initial=0.0) * np.abs(K).max(initial=0.0)):
        eigenvalues, vectors = _gyroscopic_modes(M, G, K, motions)
    else:
        eigenvalues, vectors = _modes(M, (K + K.T) / 2, motions)
    shapes: Any = np.zeros((system.nq, len(kept)), dtype=vectors.dtype)
    shapes[kept] = vectors
    ratios = _damping_ratios(eigenvalues, vectors, M, G, system.damping_matrix(posture)[here])
    return ModeSet(eigenvalues, shapes, ratios, _imbalance(system, posture, speed, kept, M), system, posture)


def _constrained(system: System, q: Array, speed: Array, kept: list[int]) -> ModeSet:
    """Modes among the displacements that respect the constraints."""
    if speed.any():
        raise ValueError("v: modes in steady rotation are those of robots without constraints")
    q = Assembly(system, [k for k in range(system.nq) if k not in kept]).posture(q)
    here = np.ix_(kept, kept)
    _require_inertia(system, kept, system.mass_matrix(q)[here])
    independent, Z = displacements(system, q, kept)
    K = tangent_stiffness(system, q, constraint_multipliers(system, q, kept))
    matrices = (system.mass_matrix(q), K, K - system.stiffness_matrix(q), system.damping_matrix(q))
    M, K, geometric, D = (Z.T @ matrix[here] @ Z for matrix in matrices)
    motions = _motions(system, independent, K, geometric)
    eigenvalues, vectors = _modes(M, (K + K.T) / 2, motions)
    shapes = np.zeros((system.nq, len(independent)))
    shapes[kept] = Z @ vectors
    ratios = _damping_ratios(eigenvalues, vectors, M, np.zeros_like(M), D)
    bias = system.inverse_dynamics(q, None, None)[kept]
    start = Z @ np.linalg.solve(M, Z.T @ bias) if len(independent) else np.zeros(len(kept))
    sizes = system.sizes[kept]
    imbalance = float(np.abs(start / sizes).max(initial=0.0))
    return ModeSet(eigenvalues, shapes, ratios, imbalance, system, q)


def steady_speeds(system: System, v: Array) -> tuple[Array, set[int]]:
    """Speeds of all coordinates, a motor turning with its joint, and the actuated coordinates that hold them."""
    speed, held, actuated = np.zeros(system.nq), set(), _actuated(system)
    for place in np.flatnonzero(v):
        each = system.coordinates[place]
        if each.kind == "elastic":
            raise ValueError(f"v: '{each.name}' is a deflection; only joints turn steadily")
        speed[system.joint(each.link).index] = speed[actuated[each.link]] = v[place]
        held.add(actuated[each.link])
    return speed, held


def _actuated(system: System) -> dict[str, int]:
    """Which coordinate each joint's actuator acts on, by link name."""
    return {each.link: each.coordinate.index for each in system.actuators}


def vibrating(system: System, joints: Hold | Mapping[str, Hold], held: set[int]) -> list[int]:
    """Coordinates that may vibrate."""
    names = [link.name for link in system.robot.links]
    if not isinstance(joints, (str, Mapping)):
        raise TypeError(f"joints = {joints!r}: must be 'free', 'locked', or one of these by link name")
    wanted = dict.fromkeys(names, joints) if isinstance(joints, str) else dict(joints)
    for name, hold in wanted.items():
        if name not in names:
            raise KeyError(f"joints: there is no link '{name}'{suggestion(str(name), names)}")
        if hold not in ("free", "locked"):
            raise ValueError(f"joints: '{hold}' for link '{name}' is neither 'free' nor 'locked'")
    actuated = _actuated(system)
    locked = {actuated[name] for name, hold in wanted.items() if hold == "locked" and name in actuated}
    return [k for k in range(system.nq) if k not in locked | held]


def _require_inertia(system: System, kept: list[int], M: Array) -> None:
    """Every motion must move some mass."""
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


def _motions(system: System, kept: list[int], K: Array, geometric: Array) -> Array:
    """Rigid-body motions among the kept coordinates, as columns: no spring and no weight resists them.

    Elastic coordinates and the wind-up of drives are always held by springs, so only joints need a look, with what
    follows them: K is condensed to the joints, and its null space is judged against the stiffness that gravity and
    rotation give (`geometric`), not against that of the links.
    """
    n = len(kept)
    change = np.eye(n)
    joints, actuated = [], {each.coordinate.index for each in system.actuators}
    for place, k in enumerate(kept):
        if k not in actuated:
            continue
        joints.append(place)
        turned = system.joint(system.coordinates[k].link).index
        if turned in kept:
            change[kept.index(turned), place] = 1.0  # the link turns with its motor
    others = [k for k in range(n) if k not in joints]
    stiffness = change.T @ K @ change
    follow = np.zeros((n, len(joints)))
    follow[joints] = np.eye(len(joints))
    if others and joints:
        follow[others] = -np.linalg.solve(stiffness[np.ix_(others, others)], stiffness[np.ix_(others, joints)])
    left = follow.T @ stiffness @ follow
    noise = ROUNDING * float(np.abs(geometric).max(initial=0.0))
    values, vectors = np.linalg.eigh((left + left.T) / 2)
    return np.asarray(change @ follow @ vectors[:, np.abs(values) <= noise])


def _modes(M: Array, K: Array, motions: Array) -> tuple[Complex, Array]:
    """Eigenvalues i omega and mass-normalised shapes of M a + K x = 0, M and K symmetric.

    Rigid-body motions are split off before the eigenproblem, so that they have the frequency zero and do not blur the
    slow vibrations.
    """
    rest, spread = _complement(motions, len(M))
    rigid = motions @ np.linalg.inv(np.linalg.cholesky(motions.T @ M @ motions)).T
    along = rigid.T @ M @ spread  # what the rest must take along to leave the rigid-body motions alone
    spread = spread - rigid @ along
    squares, vectors = all_modes(spread.T @ M @ spread, K[np.ix_(rest, rest)])
    values = 1j * np.sqrt(squares.astype(complex))
    values = np.where(values.real < 0, -values, values)  # an unstable pair shows its growing half
    return np.concatenate([np.zeros(rigid.shape[1]), values]), np.column_stack([rigid, spread @ vectors])


def _complement(motions: Array, n: int) -> tuple[list[int], Array]:
    """Coordinates that with the rigid-body motions span all: the others are pivots of the motions, in turn."""
    left, pivots = motions.copy(), []
    for _ in range(motions.shape[1]):
        row, column = np.unravel_index(np.abs(left).argmax(), left.shape)
        pivots.append(int(row))
        left = left - np.outer(left[:, column], left[row] / left[row, column])
    rest = [k for k in range(n) if k not in pivots]
    return rest, np.eye(n)[:, rest]


def _gyroscopic_modes(M: Array, G: Array, K: Array, motions: Array) -> tuple[Complex, Complex]:
    """Eigenvalues and shapes of M a + G v + K x = 0, one of each pair: the one with positive frequency, or the growing
    one. Positions of rigid-body motions do not matter, so they are left out of the state and their zeros are exact."""
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
    """-Re(d lambda)/|lambda| of the shift d lambda that D makes to first order in lambda^2 M + lambda (G + D) + K."""
    m, g, d = (np.einsum("im,ij,jm->m", x.conj(), matrix, x) for matrix in (M, G, D))
    moving = np.abs(values) > 0
    out = np.zeros(len(values))
    lam = values[moving]
    out[moving] = (lam * d[moving] / (2 * lam * m[moving] + g[moving])).real / np.abs(lam)
    return out


def _imbalance(system: System, q: Array, speed: Array, kept: list[int], M: Array) -> float:
    if not kept:
        return 0.0
    bias = system.inverse_dynamics(q, speed, np.zeros(system.nq)) - system.damping_matrix(q) @ speed
    start = np.linalg.solve(M, bias[kept])
    return float(np.abs(start / system.sizes[kept]).max())


def locked_joints(system: System, q: Vector = None) -> dict[str, Hold]:
    """By link whether its joint is locked, for `fa.modes(joints=...)` at a posture q.

    Joints of a robot with loops are locked in their order as long as the others can still close the loops, so that
    links vibrate as they do while these are driven.

    >>> from flexarm.robot import library
    >>> locked_joints(System(library.two_link_arm(), native=False))
    {'upper': 'locked', 'fore': 'locked'}
    """
    links = [each.link for each in system.actuators]
    if not system.constraints:
        return dict.fromkeys(links, "locked")
    held = holdable_coordinates(system, Assembly(system, ()).posture(system.posture(q)))
    return {each.link: "locked" if each.coordinate.index in held else "free" for each in system.actuators}
