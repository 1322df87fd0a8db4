"""Poses, Jacobians, deformed axes, strains and constraint violations of a system."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from flexarm.dynamics.accuracy.validity import node_turns
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.bodies import Body
from flexarm.dynamics.constraints.equations import Row
from flexarm.dynamics.links.sliding import is_gripped
from flexarm.dynamics.strains import (
    RIGID_LINK,
    point_of_section,
    require_in_section,
    strain,
    surface_point,
)
from flexarm.dynamics.system_base import SystemBase
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, real_array


class SystemGeometry(SystemBase):
    """Base class of `System`: geometry and constraints, without equations of motion."""

    def tip(self, q: Vector = None, link: str | None = None) -> Array:
        """Return the position of the robot's tip, or of that of a link, in the world.

        Parameters
        ----------
        q : array_like or mapping, shape (..., nq), optional
            Coordinates; zero if omitted.
        link : str, optional
            Name of a link, whose tip is meant, or of a frame; the robot's tip if omitted.

        Returns
        -------
        ndarray, shape (..., 3)
            Position (m).

        Examples
        --------
        >>> from flexarm.dynamics.system import System
        >>> from flexarm.robot import library
        >>> System(library.two_link_arm()).tip({"fore.q": np.pi / 2}).round(6)
        array([1. , 0.5, 0. ])
        """
        return self.frame(self.robot.tip_name if link is None else link, None, q)[..., :3, 3]

    def frame(self, link: str, x: float | None = None, q: Vector = None) -> Array:
        """Return the pose of a section of a link, or of a frame, in the world.

        Parameters
        ----------
        link : str
            Name of the link, or of a frame.
        x : float, optional
            Distance of the section from the link's root (m); the tip if omitted. A frame has its own.
        q : array_like or mapping, shape (..., nq), optional
            Coordinates; zero if omitted.

        Returns
        -------
        ndarray, shape (..., 4, 4)
            Homogeneous transformation from the axes of the section or frame to world axes.

        See Also
        --------
        pose : The same for a frame or the tip of a link.
        """
        number, there = self._place(link, x)
        rotation, position = self._call(self.parametric.frame(number, there), there.vector, q=q)
        out = np.zeros((*position.shape[:-1], 4, 4))
        out[..., :3, :3], out[..., :3, 3], out[..., 3, 3] = rotation, position, 1.0
        return out

    def pose(self, name: str | None = None, q: Vector = None) -> Array:
        """Return the pose of a frame, or of the tip of a link, in the world.

        Parameters
        ----------
        name : str, optional
            Name of a frame or of a link; the robot's tip if omitted.
        q : array_like or mapping, shape (..., nq), optional
            Coordinates; zero if omitted.

        Returns
        -------
        ndarray, shape (..., 4, 4)
            Homogeneous transformation from the axes of the frame to world axes.

        Examples
        --------
        >>> from flexarm.dynamics.system import System
        >>> from flexarm.robot import Frame, Link, RigidBody, Robot
        >>> wrist = Link("wrist", body=RigidBody(2.0, com=(0, 0, 0.05)))
        >>> arm = Robot(links=[wrist], frames=[Frame("tool", on="wrist", position=(0.1, 0, 0.2))])
        >>> System(arm).pose("tool", {"wrist.q": np.pi / 2})[:3, 3].round(9)
        array([0. , 0.1, 0.2])
        """
        return self.frame(self.robot.tip_name if name is None else name, None, q)

    def jacobian(
        self, link: str, x: float | None = None, q: Vector = None, axes: Literal["own", "world"] = "own"
    ) -> Array:
        """Return the geometric Jacobian of a section of a link, or of a frame.

        Parameters
        ----------
        link : str
            Name of the link, or of a frame.
        x : float, optional
            Distance of the section from the link's root (m); the tip if omitted. A frame has its own.
        q : array_like or mapping, shape (..., nq), optional
            Coordinates; zero if omitted.
        axes : {"own", "world"}, optional
            Axes in which the twist is written: those of the section or frame (default) or of the world.

        Returns
        -------
        ndarray, shape (..., 6, nq)
            Angular velocity (first three rows) and velocity of the section per generalized velocity.
        """
        if axes not in ("own", "world"):
            raise ValueError(f"axes = {shown(axes)}: must be 'own' or 'world'")
        number, there = self._place(link, x)
        out = self._call(self.parametric.jacobian(number, there), there.vector, q=q)[0]
        if axes == "own":
            return out
        R = self.frame(link, x, q)[..., :3, :3]
        return np.concatenate([R @ out[..., :3, :], R @ out[..., 3:, :]], axis=-2)

    def load_forces(self, link: str, x: float | None, wrench: Array, q: Vector = None) -> tuple[Array, Array]:
        """Return the generalized forces of a force and a torque on a section, and their stiffness.

        Parameters
        ----------
        link : str
            Name of the link.
        x : float or None
            Distance of the section from the link's root (m); the tip if None.
        wrench : array_like, shape (6,)
            Force (N) and torque (N m) in world axes.
        q : array_like or mapping, shape (..., nq), optional
            Coordinates; zero if omitted.

        Returns
        -------
        forces : ndarray, shape (..., nq)
            Generalized forces J^T w.
        stiffness : ndarray, shape (..., nq, nq)
            Geometric stiffness -d(J^T w)/dq, which adds to `gravity_stiffness`; torques make it unsymmetric.
        """
        number, there = self._place(link, x)
        given = real_array("wrench", wrench)
        if given.shape != (6,) or not np.isfinite(given).all():
            raise ValueError(f"wrench = {shown(wrench)}: must be a force and a torque, six finite numbers (N, N m)")
        found = self._call(self.parametric.load(number, there), given, there.vector, q=q)
        return found[0], found[1]

    def deflection(self, link: str, q: Vector, points: int = 51) -> tuple[Array, Array]:
        """Return the displacement of a link's axis from the undeformed link.

        Parameters
        ----------
        link : str
            Name of the link.
        q : array_like or mapping, shape (..., nq)
            Coordinates.
        points : int, optional
            Number of equally spaced points, root and tip included.

        Returns
        -------
        x : ndarray, shape (points,)
            Distances from the root (m).
        displacement : ndarray, shape (..., points, 3)
            Displacements in the link's root frame (m).
        """
        number = self._arguments.link(link)
        length = self.robot.links[number].length
        x = self._arguments.stations(length, points)
        straight = self.vector(q).copy()
        straight[..., self.elastic] = 0.0
        return x, self._points_on_axis(number, q, x) - self._points_on_axis(number, straight, x)

    def turns_between_nodes(self, q: Vector = None) -> dict[str, Array]:
        """Return the largest rotation between neighbouring nodes of each exact link.

        Parameters
        ----------
        q : array_like or mapping, shape (..., nq), optional
            Coordinates; zero if omitted.

        Returns
        -------
        dict of str to ndarray, shape (...)
            Angles (rad) by link. Beyond about one radian, use more shapes or elements.
        """
        return node_turns(self, self._arguments.vector("q", q))

    @cached_property
    def _unit_turns(self) -> Array:
        """Sum over all links of `turns_between_nodes` for a unit of each coordinate (rad).

        At q no link turns by more than abs(q) @ _unit_turns.
        """
        return np.asarray(sum(node_turns(self, np.eye(self.nq)).values(), np.zeros(self.nq)))

    def axis(self, link: str, q: Vector = None, points: int = 51) -> Array:
        """Return points of a link's deformed axis in the world.

        Parameters
        ----------
        link : str
            Name of the link.
        q : array_like or mapping, shape (..., nq), optional
            Coordinates; zero if omitted.
        points : int, optional
            Number of equally spaced points, root and tip included.

        Returns
        -------
        ndarray, shape (..., points, 3)
            Positions (m).
        """
        number = self._arguments.link(link)
        length = self.robot.links[number].length
        R, p = self._call(self.parametric.root(number), q=q)
        rho = self._points_on_axis(number, q, self._arguments.stations(length, points))
        return np.asarray(p[..., None, :] + rho @ R.swapaxes(-1, -2))

    def _points_on_axis(self, link: int, q: Vector, x: Array) -> Array:
        """Return points (..., points, 3) of a link's deformed axis in its root frame."""
        vector = self._arguments.vector("q", q)
        body = self._chain.bodies[link]
        return body.model.points(body, vector[..., body.local.all], x)

    # --- strains ---

    def strain(self, link: str, x: Any, q: Vector = None, at: Sequence[float] | None = None) -> Array:
        """Return the axial strain of a flexible link, as measured by a strain gauge.

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
            bends, at positive y or z; a link that bends both ways requires `at`. At the axis, `at=(0, 0)`, bending
            causes no strain.

        Returns
        -------
        ndarray, shape (...) or (..., len(x))
            Strain u' - y v'' - z w'' of the shapes; without `stretch`, u' is zero.

        Examples
        --------
        >>> from flexarm.dynamics.system import System
        >>> from flexarm.robot import library
        >>> arm = System(library.two_link_arm())
        >>> bool(arm.strain("upper", 0.0, {"upper.bend_y[1]": 0.01}) < 0)  # compression on the inner side of the bend
        True
        """
        body, places, y, z = self._gauges(link, x, at)
        found = strain(body, self.vector(q)[..., body.local.all], places, y, z)
        return found[..., 0] if np.ndim(x) == 0 else found

    def _gauge_row(self, link: str, x: float, at: Sequence[float] | None) -> Array:
        """Return the strain of a link per unit of each coordinate, (nq,); it is linear unless the link slides."""
        if is_gripped(self.robot.links[self._arguments.link(link)]):
            raise ValueError(f"link = {shown(link)}: slides through its joint, so that its strain is no function of q")
        own = [each.index for each in self.coordinates if each.link == link and each.kind == "elastic"]
        q = np.zeros((len(own), self.nq))
        for each in self.coordinates:  # other links may slide through their joints: q = 0 is not a posture of these
            if each.kind == "joint" and is_gripped(other := self.robot.link(each.link)):
                q[:, each.index] = other.length / 2
        q[np.arange(len(own)), own] = 1.0
        row = np.zeros(self.nq)
        row[own] = self.strain(link, x, q, at=at)
        return row

    def _gauges(self, link: str, x: Any, at: Sequence[float] | None) -> tuple[Body, Array, Array, Array]:
        """Return the body and the positions x, y, z of strain gauges; on the surface if `at` is None."""
        number, places = self._arguments.places(link, x)
        body = self._chain.bodies[number]
        if at is None:
            y, z = np.array([surface_point(body.link, each) for each in places.tolist()]).reshape(-1, 2).T
            return body, places, y, z
        if body.link.flexible is None:
            raise ValueError(RIGID_LINK.format(link=link))
        given = point_of_section(at)
        require_in_section(body.link, places, *given)
        return body, places, np.full(len(places), given[0]), np.full(len(places), given[1])

    # --- constraints ---

    @property
    def constraint_rows(self) -> tuple[Row, ...]:
        """Constraint equations with their names, units and constraints."""
        return tuple(self.structure.constraints.rows) if self.structure.constrained else ()

    @property
    def constraint_scales(self) -> Array:
        """Characteristic violation of each constraint row: the length of the robot (m), or one radian."""
        length = self.robot.size
        return np.array([length if row.unit == "m" else 1.0 for row in self.constraint_rows])

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the constraint rows: `loop[0].x`, ..."""
        return tuple(row.name for row in self.constraint_rows)

    def constraint(self, q: Vector = None) -> Array:
        """Return the constraint violations Phi(q).

        Parameters
        ----------
        q : array_like or mapping, shape (..., nq), optional
            Coordinates; zero if omitted.

        Returns
        -------
        ndarray, shape (..., rows)
            Zero where the constraints hold (m and rad).
        """
        if not self.constraints:
            return np.zeros((*self.vector(q).shape[:-1], 0))
        return self._call("constraint", q=q)[0]

    def constraint_jacobian(self, q: Vector = None) -> Array:
        """Return the constraint Jacobian dPhi/dq.

        Parameters
        ----------
        q : array_like or mapping, shape (..., nq), optional
            Coordinates; zero if omitted.

        Returns
        -------
        ndarray, shape (..., rows, nq)
            Derivatives of `constraint`.
        """
        if not self.constraints:
            return np.zeros((*self.vector(q).shape[:-1], 0, self.nq))
        return self._call("constraint_jacobian", q=q)[0]

    def constraint_stiffness(self, q: Vector, forces: Array) -> Array:
        """Return the geometric stiffness of constraint forces, d(Phi_q^T forces)/dq.

        Parameters
        ----------
        q : array_like or mapping, shape (nq,)
            Coordinates.
        forces : array_like, shape (rows,)
            Forces of the constraint rows (N and N m).

        Returns
        -------
        ndarray, shape (nq, nq)
            Stiffness due to the rotation of constraint forces with the robot.
        """
        rows = real_array("forces", forces)
        if rows.shape != (len(self.constraints),) or not np.isfinite(rows).all():
            raise ValueError(
                f"forces = {shown(forces)}: must be {len(self.constraints)} finite numbers, one for each row"
            )
        return np.asarray(self.parametric["constraint_stiffness"](self.vector(q), rows, self.numbers).full())
