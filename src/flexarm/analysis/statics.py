"""Static equilibrium under loads, and Cartesian compliance and stiffness of places on a robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flexarm.analysis.frequency_maps import PostureGrid, map_postures
from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.polynomials import gauss
from flexarm.dynamics.accuracy.shape_truncation import MAX_TRUNCATION_ERROR
from flexarm.dynamics.accuracy.stiffening import system_for_posture
from flexarm.dynamics.accuracy.validity import ValidityWarning, warn_of_posture
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.constraints.initial_projection import Assembly
from flexarm.dynamics.equilibrium import (
    NEUTRAL_SHARE,
    Load,
    StaticBalance,
    find_equilibrium,
    holdable_coordinates,
    named_actuators,
    posture_at,
)
from flexarm.dynamics.links.sliding import is_gripped
from flexarm.dynamics.quantity_names import AXES, WRENCH_COMPONENTS
from flexarm.dynamics.system import System, as_system
from flexarm.feedback.signals import Signals
from flexarm.foundation.messages import shown, suggestion, warn
from flexarm.foundation.validation import Array
from flexarm.integrators.loads import PointLoad, loads_of, warn_of_idle_loads
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile
from flexarm.profiles.standard import constant
from flexarm.robot import Robot

if TYPE_CHECKING:
    import xarray as xr

DISPLACEMENTS = (*AXES, *(f"r{axis}" for axis in AXES))
DISPLACEMENT_UNITS, WRENCH_UNITS = ("m",) * 3 + ("rad",) * 3, ("N",) * 3 + ("N m",) * 3
STATIC_QUADRATURE_POINTS = 40  # on each part of a link with a smooth section
MIN_COMPLIANCE_SHARE = 1e-9  # of the largest: singular values of a scaled compliance that are smaller are zero


# --- equilibrium ---


def equilibrium(
    robot: Robot | System,
    q: Vector = None,
    *,
    loads: Sequence[PointLoad] = (),
    torque: Mapping[str, float] | None = None,
) -> Array:
    """Return the coordinates of a robot at rest under gravity and constant loads, with actuated coordinates held.

    Parameters
    ----------
    robot : Robot or System
        Robot, or its equations of motion. For a `Robot`, links with `stiffening="auto"` are replaced by exact links
        where they bend too far.
    q : array_like or mapping, shape (nq,), optional
        Posture: values of the held coordinates, and start of the iteration for the others, such as passive joints;
        zero if omitted.
    loads : sequence of PointLoad, optional
        Constant forces and torques on places, in world axes. Profiles that change with time are refused.
    torque : dict of str to float, optional
        Constant torques (N m) or forces (N) by actuator. A joint with a torque is not held: it settles where springs,
        gravity and loads balance the torque.

    Returns
    -------
    ndarray, shape (nq,)
        Coordinates in equilibrium. A joint with an elastic drive is held at its motor, a joint without one itself; a
        passive joint, and one with a given torque, is not held.

    Raises
    ------
    ArithmeticError
        If no stable equilibrium is found, as for a torque that nothing balances.
    ValueError
        If a load or a torque changes with time.
    KeyError
        If there is no actuator of a given name.

    See Also
    --------
    compliance : Displacement of a place per force and torque on it.
    System.posture : Coordinates with relaxed drives.

    Notes
    -----
    The equilibrium is computed by Newton's method; where links bend far, gravity, loads and torques are increased
    together in steps. Joints that are not held first settle where the potential energy is least, downhill from q; where
    nothing moves them they stay. In a robot with constraints, driven joints are held as long as the others can still
    meet the constraints: first those named in a mapping q, then in the robot's order. So name the driven joints of a
    closed loop: `fa.equilibrium(four_bar, {"crank.q": 0.5})`.

    Examples
    --------
    >>> from flexarm.robot import Drive, Link, PointMass, Revolute
    >>> hinge = Revolute("y", drive=Drive(stiffness=981.0, rotor_inertia=0.1))
    >>> arm = Robot(links=[Link("arm", 1.0, hinge, mass=0.0, payload=PointMass(1.0))], gravity=(0, 0, -9.81))
    >>> equilibrium(arm).round(4)  # the joint sags by 0.01 rad, its motor is held
    array([0.01, 0.  ])
    >>> equilibrium(arm, loads=[PointLoad("arm", force=(0, 0, 9.81))]).round(4) + 0.0
    array([0., 0.])
    """
    if not isinstance(robot, (System, Robot)):
        raise TypeError(f"robot = {shown(robot)}: must be a Robot, or its equations of motion, fa.System(robot)")
    system = as_system(robot)
    found = find_equilibrium(robot, q, constant_loads(system, loads), _constant_torques(system, torque))
    warn_of_idle_loads(system, loads_of(system, loads), found)
    return found


def constant_loads(system: System, loads: Any) -> tuple[Load, ...]:
    """Return constant loads as (link, x, wrench); raise ValueError if one changes with time."""
    found: list[Load] = []
    for k, (_, parts) in enumerate(loads_of(system, loads)):
        wrench = [_constant(part, f"loads[{k}]: {name}") for name, part in zip(WRENCH_COMPONENTS, parts)]
        found.append((loads[k].link, loads[k].x, np.array(wrench)))
    return tuple(found)


def _constant_torques(system: System, torque: Any) -> dict[str, float]:
    if torque is None:
        return {}
    if not isinstance(torque, Mapping):
        raise TypeError(f"torque = {shown(torque)}: must be constant torques by actuator, {{'upper': 2.0}}")
    for name in torque:
        system.require_input(name, "torque")
    return {name: _constant(profile(value, f"torque.{name}"), f"torque.{name}") for name, value in torque.items()}


def _constant(given: Profile, where: str) -> float:
    value = float(given(0.0))
    if given.pieces != constant(value).pieces:
        raise ValueError(f"{where}: {given.name} changes with time, and statics needs a number")
    return value


# --- compliance and stiffness ---


@dataclass(frozen=True, eq=False)
class CartesianMatrix:
    """Compliance or stiffness of a place: 6 displacements and 6 components of force and torque, in world axes.

    Parameters
    ----------
    matrix : ndarray, shape (rows, columns)
        Values; in the order of `rows` and `columns`.
    rows, columns : tuple of str
        Displacements "x", "y", "z" (m) and small rotations "rx", "ry", "rz" (rad) are the rows of a compliance and the
        columns of a stiffness; forces "fx", "fy", "fz" (N) and torques "tx", "ty", "tz" (N m) are the others.
    at : str
        Name of the place.

    See Also
    --------
    flexarm.compliance : Compute a compliance.
    flexarm.stiffness : Compute a stiffness.
    """

    matrix: Array
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    at: str

    @property
    def units(self) -> tuple[tuple[str, ...], ...]:
        """Units of the entries, row by row: "m/N", "rad/N", "m/(N m)", ... or "N/m", "N m/m", ..."""
        units = dict(zip((*DISPLACEMENTS, *WRENCH_COMPONENTS), (*DISPLACEMENT_UNITS, *WRENCH_UNITS)))

        def entry(row: str, column: str) -> str:
            below = units[column]
            return f"{units[row]}/({below})" if " " in below else f"{units[row]}/{below}"

        return tuple(tuple(entry(row, column) for column in self.columns) for row in self.rows)

    def __getitem__(self, pair: tuple[str, str]) -> float:
        """Return an entry by name, as in `compliance["y", "fy"]`."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"{shown(pair)}: give (row, column), as in ['{self.rows[0]}', '{self.columns[0]}']")
        for name, known in zip(pair, (self.rows, self.columns)):
            if name not in known:
                raise KeyError(f"there is no component {shown(name)}{suggestion(str(name), known)}")
        return float(self.matrix[self.rows.index(pair[0]), self.columns.index(pair[1])])

    def inverse(self, components: Sequence[str] | None = None) -> CartesianMatrix:
        """Return the stiffness of a compliance, or the compliance of a stiffness.

        Parameters
        ----------
        components : sequence of str, optional
            Rows to keep before the inversion, such as ["x", "y", "rz"]; all by default. The stiffness of some
            displacements is that of a place on which no other forces and torques act.

        Returns
        -------
        CartesianMatrix
            The inverse.

        Raises
        ------
        ValueError
            If the place does not yield to some force or torque, so that its stiffness is infinite.
        """
        chosen = list(self.rows) if components is None else _check_components(components, self.rows)
        places = [self.rows.index(each) for each in chosen]
        part = self.matrix[np.ix_(places, places)]
        size = np.sqrt(np.abs(np.diag(part)))
        if not size.all():
            rigid = [name for name, each in zip(chosen, size) if not each]
            raise ValueError(_infinite(self.at, ", ".join(rigid), [name for name in chosen if name not in rigid]))
        _, values, vectors = np.linalg.svd(part / np.outer(size, size))
        if values[-1] < MIN_COMPLIANCE_SHARE * values[0]:
            worst = [name for name, each in zip(chosen, vectors[-1]) if abs(each) > 0.05]
            raise ValueError(_infinite(self.at, f"a combination of {', '.join(worst)}", []))
        rows = tuple(self.columns[k] for k in places)
        return CartesianMatrix(np.asarray(np.linalg.inv(part), dtype=float), rows, tuple(chosen), self.at)

    def __repr__(self) -> str:
        kind = "compliance" if self.rows[0] in DISPLACEMENTS else "stiffness"
        lines = [
            f"{kind} of '{self.at}' (m, rad, N, N m; world axes)",
            " " * 4 + "".join(f"{c:>12}" for c in self.columns),
        ]
        lines += [
            f"{row:4}" + "".join(f"{each:12.4g}" for each in values) for row, values in zip(self.rows, self.matrix)
        ]
        return "\n".join(lines)


def _check_components(components: Any, known: tuple[str, ...]) -> list[str]:
    if isinstance(components, str) or not isinstance(components, Sequence) or not components:
        raise TypeError(f"components = {shown(components)}: must be a list of some of {', '.join(known)}")
    for each in components:
        if each not in known:
            raise KeyError(f"components: there is no component {shown(each)}{suggestion(str(each), known)}")
    if len(set(components)) < len(components):
        raise ValueError(f"components = {shown(components)}: has a component twice")
    return list(components)


def _infinite(at: str, rigid: str, others: list[str]) -> str:
    advice = f"; give components={others}" if others else "; np.linalg.pinv(compliance.matrix) leaves such forces out"
    return f"the stiffness of '{at}' is infinite: nothing yields along {rigid}{advice if rigid else ''}"


def compliance(
    robot: Robot | System,
    q: Vector | Literal["equilibrium"] = None,
    at: str | tuple[str, float | None] = "tip",
    *,
    loads: Sequence[PointLoad] = (),
) -> CartesianMatrix:
    """Return the Cartesian compliance of a place, with the motors held.

    Parameters
    ----------
    robot : Robot or System
        Robot, or its equations of motion.
    q : dict of str to float, array_like of shape (nq,) or "equilibrium", optional
        Posture, by coordinate name or as an array; coordinates that are not given are zero. "equilibrium" is that in
        which the robot rests under gravity and `loads` with its joints held at zero.
    at : str or (str, float), optional
        Place: "tip", the name of a link (its tip), "fore(0.2)" or ("fore", 0.2), in m from the root of the link.
    loads : sequence of PointLoad, optional
        Constant loads that act already; they contribute their geometric stiffness.

    Returns
    -------
    CartesianMatrix
        Displacement (m) and small rotation (rad) of the place per force (N) and torque (N m) on it, in world axes.

    Raises
    ------
    ArithmeticError
        If some motion has no stiffness, or the posture is unstable.

    Warns
    -----
    ValidityWarning
        If the shapes of a link reproduce less than 98 % of its static deflection or rotation.

    See Also
    --------
    flexarm.stiffness : The inverse.
    flexarm.compliance_map : Compliance over many postures.
    flexarm.equilibrium : Posture under loads of any size.

    Notes
    -----
    The compliance is J Z (Z^T K Z)^-1 Z^T J^T, where J is the Jacobian of the place, K the tangent stiffness of
    links, drives, stops, gravity, loads and constraint forces at the posture, and Z the displacements of the
    coordinates that are not held, on the constraints. `equilibrium` holds the same coordinates: the motor of each
    elastic drive, and each other actuated joint. Few modes underestimate the rotation by a torque at the tip of a
    link: `basis="elements"` has no such error.

    Examples
    --------
    >>> from flexarm.robot import Flexible, Link, Material, Section, Weld
    >>> flexible = Flexible(bend_y=2, bend_z=2, twist=2, basis="elements")
    >>> bar = Link("bar", 1.0, Weld(), Section.rectangle(0.02, 0.01), Material(E=7e10, rho=2700), flexible)
    >>> found = compliance(Robot(links=[bar]))
    >>> f"{found['y', 'fy']:.4e}, {found['rz', 'fy']:.4e}"  # l^3 / 3 EI, l^2 / 2 EI
    '7.1429e-04, 1.0714e-03'
    """
    system = as_system(robot)
    acting = constant_loads(system, loads)
    posture = posture_at(robot, q, acting)
    if posture.ndim != 1:
        raise ValueError(f"q has shape {posture.shape}: the compliance is that of one posture")
    if (exact := system_for_posture(robot, posture, acting)) is not None:
        system = exact
    warn_of_posture(system, posture)
    place = Signals(system).place(at)
    _warn_of_shapes(system)
    named = None if isinstance(q, str) else q
    return CartesianMatrix(
        _compliance_matrix(system, posture, place, acting, named), DISPLACEMENTS, WRENCH_COMPONENTS, _place_name(at)
    )


def stiffness(
    robot: Robot | System,
    q: Vector | Literal["equilibrium"] = None,
    at: str | tuple[str, float | None] = "tip",
    *,
    loads: Sequence[PointLoad] = (),
    components: Sequence[str] | None = None,
) -> CartesianMatrix:
    """Return the Cartesian stiffness of a place, with the motors held.

    Parameters
    ----------
    robot : Robot or System
        Robot, or its equations of motion.
    q : dict of str to float, array_like of shape (nq,) or "equilibrium", optional
        Posture, as in `compliance`.
    at : str or (str, float), optional
        Place, as in `compliance`.
    loads : sequence of PointLoad, optional
        Constant loads that act already.
    components : sequence of str, optional
        Displacements, such as ["x", "y", "rz"], for robots that do not yield along the others; all by default.

    Returns
    -------
    CartesianMatrix
        Force (N) and torque (N m) per displacement (m) and small rotation (rad) of the place, in world axes.

    Raises
    ------
    ValueError
        If the place does not yield to some force or torque: the stiffness is infinite.

    See Also
    --------
    flexarm.compliance : The inverse, which always exists.

    Examples
    --------
    >>> from flexarm.robot import Drive, Link, Revolute
    >>> hinge = Revolute("z", drive=Drive(stiffness=1000.0, rotor_inertia=0.1))
    >>> arm = Robot(links=[Link("arm", 2.0, hinge, mass=1.0)])
    >>> stiffness(arm, components=["y"])["fy", "y"]  # k / l^2
    250.0
    """
    return compliance(robot, q, at, loads=loads).inverse(components)


@dataclass(frozen=True, eq=False)
class ComplianceMap:
    """Compliance of a place over a grid of postures.

    Parameters
    ----------
    over : dict of str to ndarray
        Values of the joint coordinates by name, one axis of the grid for each.
    units : dict of str to str
        Units of the joint coordinates.
    matrices : ndarray, shape (..., 6, 6)
        Compliances, as in `CartesianMatrix`; nan where a motion has no stiffness, or after an interrupt.
    at : str
        Name of the place.

    See Also
    --------
    flexarm.compliance_map : Compute a map.
    """

    over: dict[str, Array]
    units: dict[str, str]
    matrices: Array
    at: str

    @property
    def data(self) -> xr.DataArray:
        """Labelled xarray DataArray with one dimension for each joint, and `displacement` and `wrench`."""
        import xarray as xr

        coordinates: dict[str, Any] = {
            name: (name, values, {"units": self.units[name]}) for name, values in self.over.items()
        }
        coordinates |= {"displacement": list(DISPLACEMENTS), "wrench": list(WRENCH_COMPONENTS)}
        return xr.DataArray(self.matrices.copy(), coordinates, list(coordinates), name="compliance")

    def __getitem__(self, pair: tuple[str, str]) -> Array:
        """Return an entry of the compliance over the grid, as in `found["y", "fy"]`."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"{shown(pair)}: give (displacement, force), as in ['y', 'fy']")
        for name, known in zip(pair, (DISPLACEMENTS, WRENCH_COMPONENTS)):
            if name not in known:
                raise KeyError(f"there is no component {shown(name)}{suggestion(str(name), known)}")
        return self.matrices[..., DISPLACEMENTS.index(pair[0]), WRENCH_COMPONENTS.index(pair[1])].copy()

    def __repr__(self) -> str:
        sizes = " x ".join(str(len(values)) for values in self.over.values())
        return f"ComplianceMap of '{self.at}' over {', '.join(self.over)} ({sizes})"


def compliance_map(
    robot: Robot | System,
    over: Mapping[str, Any],
    at: str | tuple[str, float | None] = "tip",
    *,
    q: Vector = None,
    loads: Sequence[PointLoad] = (),
    at_equilibrium: bool = False,
    progress: bool | None = None,
) -> ComplianceMap:
    """Compute the Cartesian compliance of a place over a grid of postures, with the motors held.

    Parameters
    ----------
    robot : Robot or System
        Robot, or its equations of motion.
    over : dict of str to array_like
        Ascending values of joint coordinates (rad or m) by name, such as {"fore.q": np.linspace(0, 2)}; the grid has
        one axis for each.
    at : str or (str, float), optional
        Place, as in `compliance`.
    q : dict of str to float or array_like, shape (nq,), optional
        Other coordinates, by name or as an array; zero by default.
    loads : sequence of PointLoad, optional
        Constant loads that act already.
    at_equilibrium : bool, optional
        True evaluates the compliance in equilibrium under gravity and loads at each posture, False with straight links.
    progress : bool, optional
        True shows a progress bar, False none. By default it is shown on a terminal. Ctrl-C ends the computation;
        remaining postures are nan.

    Returns
    -------
    ComplianceMap
        Compliances on the grid.

    Raises
    ------
    KeyError
        If there is no joint coordinate of a given name.
    ValueError
        If values are not finite and ascending.

    Warns
    -----
    ValidityWarning
        If a motion has no stiffness at some postures, the shapes of a link are too few, or the computation was
        interrupted.

    See Also
    --------
    flexarm.compliance : Compliance at one posture.
    flexarm.frequency_map : Frequencies over postures.

    Examples
    --------
    >>> from flexarm.robot import Drive, Link, Revolute
    >>> hinge = Revolute("z", drive=Drive(stiffness=1000.0, rotor_inertia=0.1))
    >>> arm = Robot(links=[Link("arm", 2.0, hinge, mass=1.0)])
    >>> compliance_map(arm, {"arm.q": [0.0, np.pi / 2]})["y", "fy"].round(6)  # l^2 / k, seen from the side or not
    array([0.004, 0.   ])
    """
    system = as_system(robot)
    if not isinstance(at_equilibrium, bool):
        raise ValueError(f"at_equilibrium = {shown(at_equilibrium)}: must be True or False")
    acting, grid = constant_loads(system, loads), PostureGrid(system, over, q)
    place = Signals(system).place(at)
    matrices, refused = np.full((*grid.shape, 6, 6), np.nan), dict[tuple[int, ...], str]()
    named = [*grid.ranges, *(q if isinstance(q, Mapping) else ())]

    def settled(system: System, posture: Array) -> Array:
        return find_equilibrium(system, posture, acting) if at_equilibrium else posture

    def work(system: System, index: tuple[int, ...], posture: Array) -> None:
        refused.pop(index, None)
        try:
            matrices[index] = _compliance_matrix(system, posture, place, acting, dict.fromkeys(named, 0.0))
        except ArithmeticError as error:
            matrices[index], refused[index] = np.nan, str(error)

    done = map_postures(robot, grid, settled, work, progress)
    if refused:
        warn(f"at {len(refused)} of {done} postures {next(iter(refused.values()))}: it is nan there", ValidityWarning)
    _warn_of_shapes(system)
    return ComplianceMap(grid.ranges, grid.units, matrices, _place_name(at))


def _place_name(at: str | tuple[str, float | None]) -> str:
    return at if isinstance(at, str) else at[0] if at[1] is None else f"{at[0]}({at[1]:g})"


def _compliance_matrix(
    system: System, q: Array, place: tuple[str, float | None], loads: tuple[Load, ...], named: Vector
) -> Array:
    """Return the compliance (6, 6) of a place at a posture, which is first moved onto the constraints."""
    balance = StaticBalance(system, loads)
    held = list(balance.held)
    if system.constraints:
        held = holdable_coordinates(system, Assembly(system, ()).posture(q), named_actuators(system, named))
        q = Assembly(system, held).posture(q)
    loose = [k for k in range(system.nq) if k not in held]
    if not loose:
        return np.zeros((6, 6))
    K = balance.stiffness(q, constraint_forces=balance.constraint_forces(q, loose))[np.ix_(loose, loose)]
    J = system.jacobian(*place, q, axes="world")[:, loose]
    Z = np.diag(system.sizes[loose])
    if system.constraints:
        from scipy.linalg import null_space

        Z = Z @ null_space(system.constraint_jacobian(q)[:, loose] @ Z / system.constraint_scales[:, None])
    if not Z.shape[1]:
        return np.zeros((6, 6))
    reduced, moved = Z.T @ K @ Z, J[[3, 4, 5, 0, 1, 2]] @ Z
    _require_stiffness(system, reduced, Z, loose)
    return np.asarray(moved @ np.linalg.solve(reduced, moved.T))


def _require_stiffness(system: System, K: Array, Z: Array, loose: list[int]) -> None:
    """Raise ArithmeticError if a motion has no stiffness, or a negative one."""
    own = np.abs(np.diag(K))
    scale = 1 / np.sqrt(np.where(own > 0, own, 1.0))
    scaled = K * np.outer(scale, scale)
    values, vectors = np.linalg.eigh((scaled + scaled.T) / 2)
    if values[0] > NEUTRAL_SHARE * values[-1]:
        return
    motion = Z @ (scale * vectors[:, 0]) / system.sizes[loose]
    worst = system.names[loose[int(np.abs(motion).argmax())]]
    if values[0] < -NEUTRAL_SHARE * abs(values).max():
        raise ArithmeticError(f"the posture is unstable: '{worst}' gives way under its load, so it has no compliance")
    raise ArithmeticError(f"the compliance is infinite: '{worst}' moves freely; no spring or weight resists it")


# --- accuracy of shapes ---


def _warn_of_shapes(system: System) -> None:
    """Warn of links whose shapes do not reproduce the static deflection and rotation of their tip."""
    for body in system._chain.bodies:
        flexible = body.link.flexible
        if flexible is None or flexible.loose or is_gripped(body.link):
            continue
        worst = min(_static_shares(body.integrals), key=lambda each: each[0], default=(1.0, ""))
        if worst[0] < 1 - 2 * MAX_TRUNCATION_ERROR:
            warn(
                f"the shapes of link '{body.link.name}' make {worst[0]:.1%} of {worst[1]}; take more shapes, or "
                "basis='elements'",
                ValidityWarning,
            )


def _static_shares(integrals: LinkIntegrals) -> list[tuple[float, str]]:
    """Return the compliance of a link's tip by its shapes as a share of the exact one, with what it is, by family."""
    found, tip, length = [], integrals.station(integrals.length), integrals.length
    for name, columns in integrals.columns.items():
        inverse = np.linalg.inv(integrals.K[columns, columns])
        x, weights = gauss(integrals.properties.steps, STATIC_QUADRATURE_POINTS)
        per_length = weights / integrals.properties.stiffness(name)(x)[..., 0]
        axis = {"bend_y": 1, "bend_z": 2, "twist": 0, "stretch": 0}[name]
        U, W = tip.U[axis, columns], tip.W[{"bend_y": 2, "bend_z": 1}.get(name, 0), columns]
        if name.startswith("bend"):
            force = float(per_length @ (length - x) ** 2)
            if integrals.sheared:
                force += float((weights / integrals.properties.shear_stiffness(name)(x)[..., 0]).sum())
            found.append((float(U @ inverse @ U) / force, f"the deflection of its tip by a force ({name})"))
        row, what = (U, "stretch") if name == "stretch" else (W, "rotation")
        found.append(
            (float(row @ inverse @ row) / float(per_length.sum()), f"the {what} of its tip by a load ({name})")
        )
    return found
