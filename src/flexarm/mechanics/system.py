"""System: a robot's coordinates by name and its equations of motion as functions of arrays."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from flexarm.codegen.evaluator import Evaluator, Native
from flexarm.codegen.lock import building
from flexarm.foundation.numbers import Array, real_array
from flexarm.foundation.sentences import shown, suggestion
from flexarm.mechanics.answers import Energy, Linearization
from flexarm.mechanics.arguments import Arguments, Vector
from flexarm.mechanics.bodies import Body
from flexarm.mechanics.chain import Chain
from flexarm.mechanics.constraints import Row
from flexarm.mechanics.coordinates import Actuator, Coordinate
from flexarm.mechanics.equations import Equations
from flexarm.mechanics.functions import BoundFunctions, Functions
from flexarm.mechanics.link_models.gripped import gripped
from flexarm.mechanics.numbers import Numbers
from flexarm.mechanics.reach import node_turns, warn_of_furthest
from flexarm.mechanics.singularity import idle_coordinates, idle_motions, without_inertia
from flexarm.mechanics.size import require_size, size_estimate
from flexarm.mechanics.strains import RIGID, point_of_section, require_in_section, strain, strain_rows, surface_point
from flexarm.mechanics.structure import Structure, numbers_of, structure_of
from flexarm.robot import Robot
from flexarm.robot.joints import Joint

if TYPE_CHECKING:
    from flexarm.mechanics.derivatives import Derivative
    from flexarm.mechanics.rates import Rates
    from flexarm.robot.picking import Pick

Mask = NDArray[np.bool_]


# Coordinates beyond which a linearization is computed column by column: as one expression it grows with their square.
MANY = 40

TOO_LARGE = "the accelerations are not finite: q, v or tau is too large"

# Accelerations per second squared, in units of what is large for a coordinate, at which the mass matrix is looked at.
ABSURD_ACCELERATION = 1e9


class System:
    """The equations of motion of a robot, M(q) a + h(q, v) = B u.

    Vectors q, v, a have one entry per coordinate (`names`); give them as arrays, with any leading dimensions for a
    batch, or as mappings by coordinate name with the others zero.

    `native`: "auto" runs CasADi's virtual machine and compiles a function to machine code once it is used often
    enough to pay; True compiles at the first call; False never does.
    """

    def __init__(self, robot: Robot, native: Native = "auto") -> None:
        if not isinstance(robot, Robot):
            kind = type(robot).__name__
            raise TypeError(
                f"robot: System needs a Robot, but got {kind}: {shown(robot)}; fa.load reads one from a file"
            )
        if not (isinstance(native, bool) or (isinstance(native, str) and native == "auto")):
            raise ValueError(f"native = {shown(native)}: must be 'auto', True or False")
        self._given, robot = robot, robot.resolved()
        require_size(robot)
        self.robot = robot
        self.native: Native = native
        self._chain = Chain(robot)
        self._arguments = Arguments(self._chain)
        self._evaluators: dict[ca.Function, Evaluator] = {}
        self._lock = threading.Lock()
        self._found: tuple[Structure, Numbers, Array] | None = None
        self._looked = False  # whether the mass matrix was looked at

    def __reduce__(self) -> tuple[type[System], tuple[Robot, Native]]:
        """Copies and pickles build their functions anew."""
        return System, (self._given, self.native)

    @property
    def picks(self) -> dict[str, Pick]:
        """By link, what was picked where its description leaves numbers of shapes open."""
        from flexarm.robot.picking import picks

        return picks(self._given)

    @property
    def size_estimate(self) -> int:
        """About how many instructions inverse dynamics or mass matrix take, known before they are made."""
        return size_estimate(self.robot)

    @cached_property
    def model(self) -> str:
        """The robot as JSON: results carry it."""
        return self.robot.model_dump_json()

    # --- structure and numbers ---

    @property
    def _described(self) -> tuple[Structure, Numbers, Array]:
        """No `cached_property`: before Python 3.12 all systems share its lock, and a thread that has `building` would
        wait for one that wants it."""
        if self._found is None:
            with building:
                structure, numbers = structure_of(self._chain)
                vector = structure.numbers.vector_of(numbers, same=True)
                vector.setflags(write=False)
                self._found = structure, numbers, vector
        return self._found

    @property
    def structure(self) -> Structure:
        """What this robot shares with all others that differ in their numbers only."""
        return self._described[0]

    @property
    def numbers(self) -> Array:
        """All numbers of the robot that its functions take, in order: lengths, masses, integrals, ... (read-only).

        They depend on each other: a length is also in integrals and places. `numbers_of` gives those of a changed
        robot, `derivative` how functions change with what a robot is made of.
        """
        return self._described[2]

    @property
    def number_names(self) -> tuple[str, ...]:
        """What each of the numbers is: `links.fore.payload.mass`, `links.fore.K[1,1]`, ..."""
        return tuple(self._described[1].names)

    @property
    def number_units(self) -> tuple[str, ...]:
        """Of the numbers."""
        return tuple(self._described[1].units)

    def numbers_of(self, robot: Robot) -> Array:
        """The numbers of another `robot` of the same structure; a ValueError tells the first difference.

        >>> from flexarm.robot import library
        >>> system = System(library.two_link_arm())
        >>> heavier = system.numbers_of(system.robot.with_({"links.fore.payload.mass": 0.2}))
        >>> place = system.number_names.index("links.fore.payload.mass")
        >>> float(system.numbers[place]), float(heavier[place])
        (0.15, 0.2)
        """
        if not isinstance(robot, Robot):
            raise TypeError(f"robot = {shown(robot)}: must be a Robot")
        return self.structure.numbers.vector_of(numbers_of(Chain(robot.resolved(like=self.robot))))

    @property
    def parametric(self) -> Functions:
        """The functions of `casadi` with the numbers as a last argument: shared by all robots of the structure."""
        return self.structure.functions

    @cached_property
    def casadi(self) -> BoundFunctions:
        """The equations as CasADi functions of this robot, by name: `casadi["inverse_dynamics"](q, v, a)`."""
        return BoundFunctions(self.structure.functions, self.numbers)

    def derivative(self, function: str, by: Sequence[str]) -> Derivative:
        """How a `function` of `parametric` changes with fields of the robot, such as
        by=["links.fore.payload.mass", "gravity.2"]: paths as `Robot.with_` takes them, entries of vectors by index.

        >>> from flexarm.robot import Link, PointMass
        >>> rod = System(Robot(links=[Link("rod", 3.0, mass=0.0, payload=PointMass(2.0))]))
        >>> rod.derivative("mass_matrix", by=["links.rod.payload.mass", "links.rod.length"])().round(9)  # of m l^2
        array([[[ 9., 12.]]])
        """
        from flexarm.mechanics.derivatives import Derivative

        return Derivative(self, self._chain, self._rates, function, by)

    @cached_property
    def _rates(self) -> Rates:
        from flexarm.mechanics.rates import Rates

        return Rates(self._chain)

    # --- coordinates ---

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """What each entry of q is: its name, link, kind, unit, ..."""
        return tuple(self._chain.coordinates.all)

    @property
    def actuators(self) -> tuple[Actuator, ...]:
        """What each input is: its link, its unit, the coordinate on which it acts."""
        return tuple(self._chain.coordinates.actuators)

    @property
    def names(self) -> tuple[str, ...]:
        """Coordinates in order: `upper.q`, `upper.motor`, `upper.bend_y[1]`, ..."""
        return tuple(self._chain.coordinates.names)

    @property
    def units(self) -> tuple[str, ...]:
        """Of the coordinates: rad or m of joints and motors, 1 of elastic ones."""
        return tuple(self._chain.coordinates.units)

    @property
    def meshes(self) -> Array:
        """By coordinate, elements of its link's finest mesh, 1 without any: so many add up to what one mode does."""
        shapes = {link.name: link.flexible for link in self.robot.links if link.flexible is not None}
        meshes = {name: each for name, each in shapes.items() if each.meshed}
        elements = {name: max(each.counts.values()) for name, each in meshes.items()}
        return np.array([elements.get(each.link, 1) for each in self.coordinates], dtype=float)

    @property
    def sizes(self) -> Array:
        """What is large for each coordinate: one radian or metre of a joint, a deflection as long as its link."""
        return self._chain.coordinates.sizes.copy()

    @property
    def elastic(self) -> Mask:
        """Which coordinates are elastic."""
        return np.array([each.kind == "elastic" for each in self.coordinates], dtype=bool)

    def joint(self, link: str) -> Coordinate:
        """The coordinate of a link's joint."""
        for each in self.coordinates:
            if each.link == link and each.kind == "joint":
                return each
        raise KeyError(f"there is no joint that moves link {shown(link)}{suggestion(link, self.inputs)}")

    @property
    def inputs(self) -> tuple[str, ...]:
        """Links whose joint has an actuator, in order."""
        return tuple(self._chain.coordinates.inputs)

    @property
    def input_units(self) -> tuple[str, ...]:
        """Of the actuators: N m or N."""
        return tuple(self._chain.coordinates.input_units)

    @property
    def nq(self) -> int:
        return self._chain.coordinates.count

    @property
    def nu(self) -> int:
        return len(self.inputs)

    @property
    def input_matrix(self) -> Array:
        """B (nq, nu): generalised forces per torque of the actuators; an elastic drive's acts on its motor. An entry is
        the gear ratio where a drive's torque is that at the motor's shaft, else 1."""
        return self._chain.coordinates.input_matrix.copy()

    def index(self, name: str) -> int:
        """Place of a coordinate by name.

        >>> from flexarm.robot import library
        >>> System(library.two_link_arm()).index("fore.q")
        4
        """
        return self._chain.coordinates.index(name)

    def vector(self, values: Vector, name: str = "q") -> Array:
        """An array of coordinates from `values`: a mapping by name (the others zero), an array, or None (all zero).

        `name` is what the sentence about a wrong value calls it.
        """
        return self._arguments.vector(name, values)

    # --- equations of motion ---

    def inverse_dynamics(self, q: Vector, v: Vector, a: Vector) -> Array:
        """Generalised forces (..., nq) for the accelerations a: M(q) a + h(q, v). They are those at joints and motors'
        coordinates; a torque counted at a motor's shaft (`torque_at="motor"`) is its `gear` times smaller
        (`system.actuators`)."""
        return self._call("inverse_dynamics", q=q, v=v, a=a)[0]

    def forward_dynamics(self, q: Vector, v: Vector, tau: Vector = None) -> Array:
        """Accelerations (..., nq) under tau: nu actuator torques or nq generalised forces; or a mapping, torques by
        link and generalised forces by coordinate.

        Those of the tree of links: constraints count in simulations only.
        """
        return self._accelerations(q, v, self._arguments.forces(tau))

    def _accelerations(self, q: Vector, v: Vector, forces: Array) -> Array:
        a = self._call("forward_dynamics", q=q, v=v, tau=forces)[0]
        self._require_inertia(q, a)
        return a

    def singularity(self, q: Vector = None, held: Collection[int] = (), nearly: bool = False) -> str | None:
        """Which motions at the posture q move no mass, in a sentence; None where the mass matrix is regular.

        `held`: places of coordinates that do not move freely and need no inertia. `nearly`: also motions that move
        next to none.
        """
        if nearly not in (True, False):
            raise ValueError(f"nearly = {shown(nearly)}: must be True or False")
        posture = self._arguments.vector("q", q)
        if posture.ndim != 1:
            raise ValueError(f"q has shape {posture.shape}: one posture at a time is looked at")
        places = held if isinstance(held, Collection) else ("",)
        if not all(isinstance(each, Integral) and 0 <= each < self.nq for each in places):
            raise ValueError(f"held = {shown(held)}: must be places of coordinates, 0 to {self.nq - 1}")
        free = [k for k in range(self.nq) if k not in held]
        M = self._call("momentum", q=posture, v=np.eye(self.nq))[0][np.ix_(free, free)]
        if not free or not np.isfinite(M).all():
            return None
        links = self.robot.links
        whole = sum(each.total_mass for each in links) * sum(each.length for each in links) ** 2
        motions = idle_motions(M, self.sizes[free], whole, nearly)
        if not motions.size:
            return None
        slides = self._parallel_slides([free[k] for k in idle_coordinates(motions)], posture)
        return without_inertia(motions, [self.names[k] for k in free], slides)

    def _parallel_slides(self, places: list[int], q: Array) -> list[Joint]:
        """Return the joints of these coordinates if all of them slide along the same direction in the world."""
        moved = [self.coordinates[k] for k in places]
        if len(moved) < 2 or any(each.kind != "joint" or each.unit != "m" for each in moved):
            return []
        ways = np.array([self.jacobian(each.link, None, q, axes="world")[3:, each.index] for each in moved])
        along = ways @ ways[0] / (np.linalg.norm(ways, axis=1) * np.linalg.norm(ways[0]))
        return [self.robot.link(each.link).joint for each in moved] if (np.abs(along) > 1 - 1e-9).all() else []

    def mass_matrix(self, q: Vector = None) -> Array:
        """M(q), (..., nq, nq).

        >>> from flexarm.robot import Link, PointMass
        >>> System(Robot(links=[Link("rod", 3.0, mass=0.0, payload=PointMass(2.0))])).mass_matrix()  # m l^2
        array([[18.]])
        """
        return self._call("mass_matrix", q=q)[0]

    def bias(self, q: Vector, v: Vector) -> Array:
        """h(q, v) = C v + K q + D v + G + friction, (..., nq). Where material appears in a joint (`rear="none"`)
        there is more to it: it brings momentum along."""
        return self._call("bias", q=q, v=v)[0]

    def coriolis(self, q: Vector, v: Vector) -> Array:
        """C(q, v) from Christoffel symbols: dM/dt - 2 C is skew, C v the quadratic part of the bias."""
        return self._call("coriolis", q=q, v=v)[0]

    def gravity(self, q: Vector = None) -> Array:
        """G(q), gradient of the gravity potential, (..., nq)."""
        return self._call("gravity", q=q)[0]

    @property
    def stiffness(self) -> Array:
        """K (nq, nq) of elastic links and drives, as far as it is constant (see `stiffness_matrix`)."""
        return self._constant_matrices[0].copy()

    @property
    def damping(self) -> Array:
        """D (nq, nq) of links, drives and viscous joints, as far as it is constant (see `damping_matrix`); Coulomb
        friction is not linear and stands in the bias."""
        return self._constant_matrices[1].copy()

    @cached_property
    def _constant_matrices(self) -> tuple[Array, Array]:
        K, D = self.structure.functions.constants(self.numbers)
        return K.full(), D.full()

    def spring_forces(self, q: Vector = None) -> Array:
        """Generalised forces of elastic links and drives, (..., nq): `stiffness` @ q unless links slide."""
        return self._call("spring_forces", q=q)[0]

    def stiffness_matrix(self, q: Vector = None) -> Array:
        """Their derivative (..., nq, nq). A link that slides through its joint is stiffer the shorter it sticks out."""
        return self._call("stiffness_matrix", q=q)[0]

    def damping_matrix(self, q: Vector = None) -> Array:
        """D(q), (..., nq, nq), Coulomb friction left out."""
        return self._call("damping_matrix", q=q)[0]

    def gravity_stiffness(self, q: Vector = None) -> Array:
        """dG/dq, (..., nq, nq): with `stiffness` it resists small displacements at rest."""
        return self._call("gravity_stiffness", q=q)[0]

    def linearization(self, q: Vector = None, v: Vector = None, a: Vector = None) -> Linearization:
        """Small motions about a state: M ddx + (G + D) dx + K x, derivatives of the inverse dynamics (of the tree of
        links: constraints are left out)."""
        if self.nq <= MANY:
            K, G, D = self._call("linearization", q=q, v=v, a=a)
        else:
            q, v, a = (
                self._arguments.vector(name, each)[..., None, :] for name, each in (("q", q), ("v", v), ("a", a))
            )
            columns = self._call("linearization_along", q=q, v=v, a=a, x=np.eye(self.nq))
            K, G, D = (each.swapaxes(-1, -2) for each in columns)
            q = q[..., 0, :]
        return Linearization(np.broadcast_to(self.mass_matrix(q), K.shape).copy(), K, G, D)

    def energy(self, q: Vector, v: Vector = None) -> Energy:
        """Kinetic, elastic (links), gravity and drive (wind-up) energy; gravity is zero at the world's origin.

        >>> from flexarm.robot import Link, PointMass
        >>> pendulum = Robot(links=[Link("rod", 1.0, mass=0.0, payload=PointMass(2.0))])
        >>> float(System(pendulum).energy({"rod.q": 0.0}, {"rod.q": 3.0}).kinetic)  # m v^2 / 2
        9.0
        """
        return Energy(*self._call("energy", q=q, v=v))

    # --- constraints ---

    @property
    def equations(self) -> Equations:
        """The same as CasADi expressions, with symbols for the numbers, on which other rooms build."""
        return self.structure.equations

    @property
    def constraint_rows(self) -> tuple[Row, ...]:
        """The constraint equations with their units and what they belong to."""
        return tuple(self.structure.constraints.rows) if self.structure.constrained else ()

    @property
    def constraint_scales(self) -> Array:
        """What is a large violation of each row: the robot's length, or a radian."""
        length = sum(link.length for link in self.robot.links)
        return np.array([length if row.unit == "m" else 1.0 for row in self.constraint_rows])

    @property
    def constraints(self) -> tuple[str, ...]:
        """Rows of the constraint equations by name: `loop[0].x`, ..."""
        return tuple(row.name for row in self.constraint_rows)

    def constraint(self, q: Vector = None) -> Array:
        """Phi(q), (..., rows): zero where the constraints hold; m and rad."""
        if not self.constraints:
            return np.zeros((*self.vector(q).shape[:-1], 0))
        return self._call("constraint", q=q)[0]

    def constraint_jacobian(self, q: Vector = None) -> Array:
        """dPhi/dq, (..., rows, nq)."""
        if not self.constraints:
            return np.zeros((*self.vector(q).shape[:-1], 0, self.nq))
        return self._call("constraint_jacobian", q=q)[0]

    def constraint_stiffness(self, q: Vector, forces: Array) -> Array:
        """d(Phi_q^T forces)/dq (nq, nq): what constraint forces add to the stiffness as they turn with the robot."""
        rows = real_array("forces", forces)
        if rows.shape != (len(self.constraints),) or not np.isfinite(rows).all():
            raise ValueError(
                f"forces = {shown(forces)}: must be {len(self.constraints)} finite numbers, one for each row"
            )
        return np.asarray(self.parametric["constraint_stiffness"](self.vector(q), rows, self.numbers).full())

    # --- forces inside ---

    def reaction(
        self,
        link: str,
        q: Vector = None,
        v: Vector = None,
        a: Vector = None,
        *,
        loads: Sequence[Any] = (),
        constraint_forces: Any = None,
        axes: Literal["joint", "world"] = "joint",
    ) -> Array:
        """Force (N) and torque (N m) of a link's joint on the `link`, about the joint, (..., 6), that the accelerations
        take: bearings, drive, friction and stops together.

        loads: (link, x, wrench) each: force and torque (..., 6) in world axes on the section at x (None is the tip).
        constraint_forces: (..., rows), as `run["reaction"]` has them; found unless given, where the coordinates without
        actuators tell them (at `fa.equilibrium`, say).
        axes: those of the link's root frame, or the world's.

        >>> from flexarm.robot import Link, PointMass
        >>> rod = Robot(links=[Link("rod", 3.0, mass=0.0, payload=PointMass(2.0))], gravity=(0, -10, 0))
        >>> System(rod).reaction("rod").round(9)  # carries its payload
        array([ 0., 20.,  0.,  0.,  0., 60.])
        """
        if axes not in ("joint", "world"):
            raise ValueError(f"axes = {shown(axes)}: must be 'joint' or 'world'")
        number, _ = self.place(link)
        from flexarm.mechanics.reactions import Balance

        return Balance(self, q, v, a, loads, constraint_forces).reaction(number, axes)

    def section_forces(
        self,
        link: str,
        x: Any,
        q: Vector = None,
        v: Vector = None,
        a: Vector = None,
        *,
        loads: Sequence[Any] = (),
        constraint_forces: Any = None,
    ) -> Array:
        """Force (N) and moment (N m) across sections of a `link` at x (m from its root, a number or a list):
        (..., 6), or (..., len(x), 6), in the axes of the section.

        They are those of the outboard part on the inboard one: axial force (tension positive), shear along y and z;
        torsion, bending moments about y and z. What is fixed to the section itself counts as outboard, so that at x = 0
        they are the reaction of the joint with the sign changed. loads and constraint_forces as in `reaction`.

        >>> from flexarm.robot import Link, PointMass
        >>> rod = Robot(links=[Link("rod", 3.0, mass=0.0, payload=PointMass(2.0))], gravity=(0, -10, 0))
        >>> System(rod).section_forces("rod", [0.0, 2.0]).round(9)[:, [1, 5]]  # shear and moment
        array([[-20., -60.],
               [-20., -20.]])
        """
        number, places = self._arguments.places(link, x)
        from flexarm.mechanics.internal_forces import LinkCuts
        from flexarm.mechanics.reactions import Balance

        found = LinkCuts(Balance(self, q, v, a, loads, constraint_forces), number).forces(places)
        return found[..., 0, :] if np.ndim(x) == 0 else found

    def strain(self, link: str, x: Any, q: Vector = None, at: Sequence[float] | None = None) -> Array:
        """Strain along a flexible link, as a strain gauge shows it.

        Parameters
        ----------
        link : str
            Name of the link.
        x : float or sequence of float
            Distance from the root of the link (m).
        q : array_like or mapping, shape (..., nq), optional
            Coordinates; zero if omitted.
        at : (float, float), optional
            Point (y, z) of the section (m). By default the gauge is on the surface, in the plane in which the link
            bends, at positive y or z; a link that bends both ways needs `at`. On the axis, `at=(0, 0)`, bending makes
            no strain.

        Returns
        -------
        ndarray, shape (...) or (..., len(x))
            u' - y v'' - z w'' of the shapes; a link without `stretch` has no u'.

        Examples
        --------
        >>> from flexarm.robot import library
        >>> arm = System(library.two_link_arm())
        >>> bool(arm.strain("upper", 0.0, {"upper.bend_y[1]": 0.01}) < 0)  # the side towards which it bends
        True
        """
        body, places, y, z = self._gauges(link, x, at)
        found = strain(body, self.vector(q)[..., body.local.all], places, y, z)
        return found[..., 0] if np.ndim(x) == 0 else found

    def strain_row(self, link: str, x: float, at: Sequence[float] | None = None) -> Array:
        """Return the derivatives of a strain by all coordinates, (nq,), of a link that does not slide in its joint.

        link, x, at: as in `strain`, which is this row times q.
        """
        body, places, y, z = self._gauges(link, x, at)
        if gripped(body.link):
            raise ValueError(f"link '{link}' slides through its joint: its strain is not linear in the coordinates")
        row = np.zeros(self.nq)
        row[body.local.all][body.local.elastic] = strain_rows(body, places, y, z)[0]
        return row

    def _gauges(self, link: str, x: Any, at: Sequence[float] | None) -> tuple[Body, Array, Array, Array]:
        """Return the body, and x, y and z of strain gauges on it; on its surface if `at` is None."""
        number, places = self._arguments.places(link, x)
        body = self._chain.bodies[number]
        if at is None:
            y, z = np.array([surface_point(body.link, each) for each in places.tolist()]).reshape(-1, 2).T
            return body, places, y, z
        if body.link.flexible is None:
            raise ValueError(RIGID.format(link=link))
        given = point_of_section(at)
        require_in_section(body.link, places, *given)
        return body, places, np.full(len(places), given[0]), np.full(len(places), given[1])

    # --- geometry ---

    def tip(self, q: Vector = None, link: str | None = None) -> Array:
        """Position of a link's tip in the world (..., 3); of the last link unless named.

        >>> from flexarm.robot import library
        >>> System(library.two_link_arm()).tip({"fore.q": np.pi / 2}).round(6)
        array([1. , 0.5, 0. ])
        """
        return self.frame(self.robot.links[-1].name if link is None else link, None, q)[..., :3, 3]

    def frame(self, link: str, x: float | None = None, q: Vector = None) -> Array:
        """Pose (..., 4, 4) of the section of a `link` at x (m from the root; None is the tip) in the world."""
        number, there = self._place(link, x)
        rotation, position = self._call(self.parametric.frame(number, there), there.vector, q=q)
        out = np.zeros((*position.shape[:-1], 4, 4))
        out[..., :3, :3], out[..., :3, 3], out[..., 3, 3] = rotation, position, 1.0
        return out

    def jacobian(
        self, link: str, x: float | None = None, q: Vector = None, axes: Literal["own", "world"] = "own"
    ) -> Array:
        """(..., 6, nq): twist per v of a `link`'s section at x, angular rows first, in its own axes or the world's."""
        if axes not in ("own", "world"):
            raise ValueError(f"axes = {shown(axes)}: must be 'own' or 'world'")
        number, there = self._place(link, x)
        out = self._call(self.parametric.jacobian(number, there), there.vector, q=q)[0]
        if axes == "own":
            return out
        R = self.frame(link, x, q)[..., :3, :3]
        return np.concatenate([R @ out[..., :3, :], R @ out[..., 3:, :]], axis=-2)

    def deflection(self, link: str, q: Vector, points: int = 51) -> tuple[Array, Array]:
        """(x, displacement (..., points, 3)) of a link's axis against the straight link, in its root frame."""
        number, length = self.place(link, None)
        x = self._arguments.stations(length, points)
        straight = self.vector(q).copy()
        straight[..., self.elastic] = 0.0
        return x, self._along(number, q, x) - self._along(number, straight, x)

    def turns_between_nodes(self, q: Vector = None) -> dict[str, Array]:
        """By link that bends exactly: the largest angle (rad) between two neighbours of the nodes that follow it.
        Beyond about one radian more shapes, or elements, are wanted."""
        return node_turns(self, self._arguments.vector("q", q))

    @cached_property
    def _unit_turns(self) -> Array:
        """Sum of `turns_between_nodes` of all links for a unit of each coordinate (rad): at q no link turns by more
        than abs(q) @ _unit_turns."""
        return np.asarray(sum(node_turns(self, np.eye(self.nq)).values(), np.zeros(self.nq)))

    def axis(self, link: str, q: Vector = None, points: int = 51) -> Array:
        """(..., points, 3): a link's deformed axis in the world."""
        number, length = self.place(link, None)
        R, p = self._call(self.parametric.root(number), q=q)
        rho = self._along(number, q, self._arguments.stations(length, points))
        return np.asarray(p[..., None, :] + rho @ R.swapaxes(-1, -2))

    def _along(self, link: int, q: Vector, x: Array) -> Array:
        """(..., points, 3): points of a link's deformed axis in its root frame."""
        vector = self._arguments.vector("q", q)
        body = self._chain.bodies[link]
        return body.model.points(body, vector[..., body.local.all], x)

    def posture(self, q: Vector = None, name: str = "q") -> Array:
        """Coordinates with drives that are not mentioned not wound up: motors where their joints are given."""
        out = self.vector(q, name).copy()
        given = q if isinstance(q, Mapping) else {}
        for each in self.coordinates:
            if each.kind == "motor" and each.name not in given and self.joint(each.link).name in given:
                out[each.index] = out[self.joint(each.link).index]
        return out

    # --- from names and arrays to functions ---

    def place(self, link: str, x: float | None = None) -> tuple[int, float]:
        """The number of a link and a place x on it (m from its root; None is its tip), both known to be there."""
        return self._arguments.place(link, x)

    def add_place(self, numbers: Numbers, path: str, link: int, x: float) -> None:
        """Add the numbers of a place x on a link, under a path, to others."""
        body = self._chain.bodies[link]
        body.model.add_place(numbers, path, body, x)

    def _place(self, link: str, x: float | None) -> tuple[int, Numbers]:
        """The number of a link, and the numbers of a place on it."""
        number, at = self.place(link, x)
        there = Numbers()
        body = self._chain.bodies[number]
        body.model.add_place(there, "place", body, at, anywhere=True)
        return number, there

    def _call(self, function: str | ca.Function, *more: Array, **given: Vector) -> list[Array]:
        functions, numbers = self.structure.functions, self._described[2]
        function = functions[function] if isinstance(function, str) else function
        vectors = [self._arguments.vector(name, value) for name, value in given.items()]
        with self._lock:
            if function not in self._evaluators:
                self._evaluators[function] = Evaluator(functions.code(function), self.native)
            evaluator = self._evaluators[function]
        return evaluator(*vectors, *more, numbers)

    def _require_inertia(self, q: Vector, a: Array) -> None:
        """Look for motions without inertia once, and wherever an acceleration is not finite or absurd."""
        q = np.broadcast_to(self._arguments.vector("q", q), a.shape)
        doubtful = ~(np.abs(a / self.sizes).max(axis=-1, initial=0.0) < ABSURD_ACCELERATION)
        postures = list(q[doubtful])
        if not self._looked and q.size:
            postures.append(q.reshape(-1, self.nq)[0])
            self._looked = True
        for posture in postures:
            if sentence := self.singularity(posture):
                self._looked = False  # at the next call again
                raise ValueError(sentence)
        if not np.isfinite(a).all():
            raise ValueError(TOO_LARGE)
        if self.nq:
            warn_of_furthest(self, q.reshape(-1, self.nq))
