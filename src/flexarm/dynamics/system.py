"""Equations of motion of a robot as functions of arrays (`System`).

Coordinates and parameters are in `system_base`, geometry and constraints in `system_geometry`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flexarm.codegen.evaluator import Native
from flexarm.dynamics.arguments import Energy, Linearization, Vector
from flexarm.dynamics.singularity import InertiaCheck, singularity
from flexarm.dynamics.system_geometry import SystemGeometry
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array
from flexarm.robot import Robot

if TYPE_CHECKING:
    from flexarm.dynamics.parameter_derivatives import Derivative, ParameterRates

# Above this, a linearization is computed column by column: one expression grows with the square of nq.
MAX_DENSE_COORDINATES = 40


class System(SystemGeometry):
    """Equations of motion of a robot, M(q) a + h(q, v) = B u.

    Parameters
    ----------
    robot : Robot
        Description of the robot. Numbers of shapes that it leaves open are chosen automatically (`picks`).
    native : {"auto", True, False}, optional
        Use of machine code. "auto" (default) runs CasADi's virtual machine and compiles a function once it is called
        often enough; True compiles at the first call; False never compiles.

    Notes
    -----
    Vectors q, v, a have one entry per coordinate (`names`). They are given as arrays with any leading dimensions for a
    batch, or as mappings by name, the others zero. See docs/theory.md, "Equations of motion".

    Examples
    --------
    >>> from flexarm.robot import Link, PointMass
    >>> pendulum = Robot(links=[Link("rod", 3.0, mass=0.0, payload=PointMass(2.0))])
    >>> System(pendulum).mass_matrix()  # m l^2
    array([[18.]])
    """

    def __reduce__(self) -> tuple[type[System], tuple[Robot, Native]]:
        """Copy and pickle without functions, which are rebuilt."""
        return System, (self._given, self.native)

    def derivative(self, function: str, by: Sequence[str]) -> Derivative:
        """Return the derivative of a function by fields of the robot's description.

        Parameters
        ----------
        function : str
            Name of a function in `parametric`.
        by : sequence of str
            Paths of fields, as in `Robot.with_`, with entries of vectors by index:
            `["links.fore.payload.mass", "gravity.2"]`.

        Returns
        -------
        Derivative
            Callable with the arguments of the function.

        Examples
        --------
        >>> from flexarm.robot import Link, PointMass
        >>> rod = System(Robot(links=[Link("rod", 3.0, mass=0.0, payload=PointMass(2.0))]))
        >>> rod.derivative("mass_matrix", by=["links.rod.payload.mass", "links.rod.length"])().round(9)  # of m l^2
        array([[[ 9., 12.]]])
        """
        from flexarm.dynamics.parameter_derivatives import Derivative

        return Derivative(self, self._chain, self._rates, function, by)

    @cached_property
    def _rates(self) -> ParameterRates:
        from flexarm.dynamics.parameter_derivatives import ParameterRates

        return ParameterRates(self._chain)

    # --- equations of motion ---

    def inverse_dynamics(self, q: Vector, v: Vector, a: Vector) -> Array:
        """Return the generalized forces for given accelerations, M(q) a + h(q, v).

        Parameters
        ----------
        q : array_like or mapping, shape (..., nq)
            Coordinates.
        v : array_like or mapping, shape (..., nq)
            Rates of the coordinates.
        a : array_like or mapping, shape (..., nq)
            Second derivatives of the coordinates.

        Returns
        -------
        ndarray, shape (..., nq)
            Forces on joints, motors and shapes. Torques at a motor's shaft are smaller by `gear` (see `actuators`).
        """
        return self._call("inverse_dynamics", q=q, v=v, a=a)[0]

    def forward_dynamics(self, q: Vector, v: Vector, tau: Vector = None) -> Array:
        """Return the accelerations under given forces, M(q)^-1 (tau - h(q, v)), without constraints.

        Parameters
        ----------
        q : array_like or mapping, shape (..., nq)
            Coordinates.
        v : array_like or mapping, shape (..., nq)
            Rates of the coordinates.
        tau : array_like or mapping, optional
            nu actuator torques or nq generalized forces; or a mapping with torques by link and generalized forces by
            coordinate. Zero if omitted.

        Returns
        -------
        ndarray, shape (..., nq)
            Accelerations.

        Raises
        ------
        ValueError
            If the mass matrix is singular.
        """
        return self._accelerations(q, v, self._arguments.forces(tau))

    def _accelerations(self, q: Vector, v: Vector, forces: Array) -> Array:
        a = self._call("forward_dynamics", q=q, v=v, tau=forces)[0]
        self._inertia_check.require(q, a)
        return a

    @cached_property
    def _inertia_check(self) -> InertiaCheck:
        return InertiaCheck(self)

    def singularity(self, q: Vector = None, held: Collection[int] = (), nearly: bool = False) -> str | None:
        """Return a message that names motions without inertia at a posture.

        Parameters
        ----------
        q : array_like or mapping, shape (nq,), optional
            Posture.
        held : collection of int, optional
            Indices of coordinates that are held and need no inertia.
        nearly : bool, optional
            Include motions with almost no inertia.

        Returns
        -------
        str or None
            A sentence; None if the mass matrix is regular.
        """
        return singularity(self, q, held, nearly)

    def mass_matrix(self, q: Vector = None) -> Array:
        """Return the mass matrix M(q).

        Parameters
        ----------
        q : array_like or mapping, shape (..., nq), optional
            Coordinates; zero if omitted.

        Returns
        -------
        ndarray, shape (..., nq, nq)
            Symmetric and, unless `singularity` names a motion without inertia, positive definite.
        """
        return self._call("mass_matrix", q=q)[0]

    def bias(self, q: Vector, v: Vector) -> Array:
        """Return h(q, v) = C v + K q + D v + G + friction.

        Parameters
        ----------
        q : array_like or mapping, shape (..., nq)
            Coordinates.
        v : array_like or mapping, shape (..., nq)
            Rates of the coordinates.

        Returns
        -------
        ndarray, shape (..., nq)
            Forces at zero acceleration, with the momentum of material that enters at a joint (`rear="none"`).
        """
        return self._call("bias", q=q, v=v)[0]

    def coriolis(self, q: Vector, v: Vector) -> Array:
        """Return the Coriolis matrix C(q, v) of Christoffel symbols.

        Parameters
        ----------
        q : array_like or mapping, shape (..., nq)
            Coordinates.
        v : array_like or mapping, shape (..., nq)
            Rates of the coordinates.

        Returns
        -------
        ndarray, shape (..., nq, nq)
            Matrix for which dM/dt - 2 C is skew and C v is the quadratic part of `bias`.
        """
        return self._call("coriolis", q=q, v=v)[0]

    def gravity(self, q: Vector = None) -> Array:
        """Return the generalized forces of gravity, G(q) = dU/dq.

        Parameters
        ----------
        q : array_like or mapping, shape (..., nq), optional
            Coordinates; zero if omitted.

        Returns
        -------
        ndarray, shape (..., nq)
            Gradient of the gravity potential U.
        """
        return self._call("gravity", q=q)[0]

    @property
    def stiffness(self) -> Array:
        """Constant part of the stiffness matrix K of links and drives, shape (nq, nq); see `stiffness_matrix`."""
        return self._constant_matrices[0].copy()

    @property
    def damping(self) -> Array:
        """Constant part of the damping matrix D, shape (nq, nq), without Coulomb friction; see `damping_matrix`."""
        return self._constant_matrices[1].copy()

    @cached_property
    def _constant_matrices(self) -> tuple[Array, Array]:
        K, D = self.structure.functions.constants(self.numbers)
        return K.full(), D.full()

    def spring_forces(self, q: Vector = None) -> Array:
        """Return the generalized forces of elastic links, drives and stops.

        Parameters
        ----------
        q : array_like or mapping, shape (..., nq), optional
            Coordinates; zero if omitted.

        Returns
        -------
        ndarray, shape (..., nq)
            `stiffness` @ q, unless links slide through their joint or a joint touches its stop.
        """
        return self._call("spring_forces", q=q)[0]

    def stiffness_matrix(self, q: Vector = None) -> Array:
        """Return the derivative of `spring_forces` by q.

        Parameters
        ----------
        q : array_like or mapping, shape (..., nq), optional
            Coordinates; zero if omitted.

        Returns
        -------
        ndarray, shape (..., nq, nq)
            Tangent stiffness.
        """
        return self._call("stiffness_matrix", q=q)[0]

    def damping_matrix(self, q: Vector = None) -> Array:
        """Return the damping matrix D(q), without Coulomb friction.

        Parameters
        ----------
        q : array_like or mapping, shape (..., nq), optional
            Coordinates; zero if omitted.

        Returns
        -------
        ndarray, shape (..., nq, nq)
            Symmetric damping matrix.
        """
        return self._call("damping_matrix", q=q)[0]

    def gravity_stiffness(self, q: Vector = None) -> Array:
        """Return the derivative of `gravity` by q.

        Parameters
        ----------
        q : array_like or mapping, shape (..., nq), optional
            Coordinates; zero if omitted.

        Returns
        -------
        ndarray, shape (..., nq, nq)
            Geometric stiffness dG/dq, which adds to `stiffness_matrix` for small displacements at rest.
        """
        return self._call("gravity_stiffness", q=q)[0]

    def linearization(self, q: Vector = None, v: Vector = None, a: Vector = None) -> Linearization:
        """Return the matrices of small motions about a state, M ddx + (G + D) dx + K x, without constraints.

        Parameters
        ----------
        q, v, a : array_like or mapping, shape (..., nq), optional
            Coordinates and their first and second derivatives; zero if omitted.

        Returns
        -------
        Linearization
            Mass matrix and derivatives of the inverse dynamics.
        """
        if self.nq <= MAX_DENSE_COORDINATES:
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
        """Return the kinetic, elastic, gravity and drive energy.

        Parameters
        ----------
        q : array_like or mapping, shape (..., nq)
            Coordinates.
        v : array_like or mapping, shape (..., nq), optional
            Rates of the coordinates; zero if omitted.

        Returns
        -------
        Energy
            Energies (J); that of gravity is zero at the origin of the world.

        Examples
        --------
        >>> from flexarm.robot import Link, PointMass
        >>> pendulum = Robot(links=[Link("rod", 1.0, mass=0.0, payload=PointMass(2.0))])
        >>> float(System(pendulum).energy({"rod.q": 0.0}, {"rod.q": 3.0}).kinetic)  # m v^2 / 2
        9.0
        """
        return Energy(*self._call("energy", q=q, v=v))

    # --- internal forces ---

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
        """Return the force and torque of a joint on its link: bearings, drive, friction and stops together.

        Parameters
        ----------
        link : str
            Name of the link.
        q, v, a : array_like or mapping, shape (..., nq), optional
            Coordinates and their first and second derivatives; zero if omitted.
        loads : sequence of (str, float or None, array_like), optional
            Loads (link, x, wrench): force (N) and torque (N m), (..., 6), in world axes at x (m; None is the tip).
        constraint_forces : array_like, shape (..., rows), optional
            Forces of the constraint rows, as in `run["reaction"]`; by default those that balance passive coordinates.
        axes : {"joint", "world"}, optional
            Axes of the result: those of the link's root frame (default) or of the world.

        Returns
        -------
        ndarray, shape (..., 6)
            Force (N) and torque about the joint (N m).

        See Also
        --------
        section_forces : Forces and moments across sections of a link.

        Examples
        --------
        >>> from flexarm.robot import Link, PointMass
        >>> rod = Robot(links=[Link("rod", 3.0, mass=0.0, payload=PointMass(2.0))], gravity=(0, -10, 0))
        >>> System(rod).reaction("rod").round(9)  # carries its payload
        array([ 0., 20.,  0.,  0.,  0., 60.])
        """
        if axes not in ("joint", "world"):
            raise ValueError(f"axes = {shown(axes)}: must be 'joint' or 'world'")
        number = self._arguments.link(link)
        from flexarm.dynamics.joint_reactions import Balance

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
        """Return the forces and moments across sections of a link.

        Parameters
        ----------
        link : str
            Name of the link.
        x : float or sequence of float
            Distances from the link's root (m).
        q, v, a : array_like or mapping, shape (..., nq), optional
            Coordinates and their first and second derivatives; zero if omitted.
        loads, constraint_forces : array_like, optional
            As in `reaction`.

        Returns
        -------
        ndarray, shape (..., 6) or (..., len(x), 6)
            Axial force (tension positive) and shear along y and z (N); torsion and bending moments about y and z (N m);
            in the axes of the section.

        Notes
        -----
        Forces are those of the outboard part on the inboard part. Masses fixed to the section itself count as outboard,
        so that at x = 0 the result is the reaction of the joint with opposite sign.

        Examples
        --------
        >>> from flexarm.robot import Link, PointMass
        >>> rod = Robot(links=[Link("rod", 3.0, mass=0.0, payload=PointMass(2.0))], gravity=(0, -10, 0))
        >>> System(rod).section_forces("rod", [0.0, 2.0]).round(9)[:, [1, 5]]  # shear and moment
        array([[-20., -60.],
               [-20., -20.]])
        """
        number, places = self._arguments.places(link, x)
        if self.robot.links[number].body is not None and places.any():
            raise ValueError(f"x = {shown(x)}: must be 0: link '{link}' is a rigid body, which has no sections")
        from flexarm.dynamics.internal_forces import LinkSectionForces
        from flexarm.dynamics.joint_reactions import Balance

        found = LinkSectionForces(Balance(self, q, v, a, loads, constraint_forces), number).forces(places)
        return found[..., 0, :] if np.ndim(x) == 0 else found


def as_system(robot: object, native: Native = False) -> System:
    """Return the equations of motion of a robot; raise TypeError for anything else."""
    if not isinstance(robot, (Robot, System)):
        raise TypeError(f"robot = {shown(robot)}: must be a Robot or a System")
    return robot if isinstance(robot, System) else System(robot, native=native)
