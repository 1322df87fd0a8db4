"""Conversion of user arguments to arrays; results `Energy` and `Linearization`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from flexarm.dynamics.model import Chain
from flexarm.dynamics.places import Place
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, real_number, whole_number


@dataclass(frozen=True)
class Energy:
    """Energies of a robot; also by key, `energy["kinetic"]`.

    Parameters
    ----------
    kinetic, elastic, gravity, drive : ndarray
        Kinetic energy, strain energy of the links, potential of gravity, energy of elastic drives and stops (J);
        numbers, or arrays over a batch.
    """

    kinetic: Array
    elastic: Array
    gravity: Array
    drive: Array

    @property
    def total(self) -> Array:
        """Sum of all energies (J)."""
        return self.kinetic + self.elastic + self.gravity + self.drive

    def __getitem__(self, name: str) -> Array:
        names = ["kinetic", "elastic", "gravity", "drive", "total"]
        if name not in names:
            raise KeyError(f"there is no energy '{name}'{suggestion(name, names)}")
        return getattr(self, name)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Linearization:
    """Matrices of small motions, M ddx + (G + D) dx + K x.

    Parameters
    ----------
    M, K, G, D : ndarray, shape (..., nq, nq)
        Mass matrix, tangent stiffness, gyroscopic matrix and damping matrix.
    """

    M: Array
    K: Array
    G: Array
    D: Array


Vector = Mapping[str, float] | Array | list[float] | tuple[float, ...] | None

MAX_POINT_COUNT = 100_000

# Relative to a link's length: distance beyond its ends that is accepted for what slides along it.
POSITION_TOLERANCE = 1e-9


class Arguments:
    """Validation and conversion of arguments for the functions of one robot."""

    def __init__(self, chain: Chain) -> None:
        self._robot, self._bodies, self._coordinates = chain.robot, chain.bodies, chain.coordinates

    def link(self, name: str) -> int:
        """Return the index of a link."""
        names = [each.name for each in self._robot.links]
        if name not in names:
            raise KeyError(f"there is no link {shown(name)}{suggestion(name, names)}")
        return names.index(name)

    def place(self, name: str, x: float | None) -> Place:
        """Return a frame, or a position on a link (m); None is the tip."""
        frames = [each.name for each in self._robot.frames]
        if name in frames:
            if x is not None:
                raise ValueError(f"x = {shown(x)}: must be left out: '{name}' is a frame, which has its place")
            return Place(*self._robot.place(name))
        names = [*(each.name for each in self._robot.links), *frames]
        if name not in names:
            what = "link or frame" if frames else "link"
            raise KeyError(f"there is no {what} {shown(name)}{suggestion(name, names)}")
        return Place(self.link(name), self._position(name, x))

    def _position(self, link: str, x: float | None) -> float:
        """Return a validated position on a link (m); None is the tip."""
        length = self._robot.link(link).length
        at = length if x is None else real_number("x", x, "m")
        if not 0 <= at <= length:
            raise ValueError(f"x = {at:g}: must lie on link '{link}', between 0 and {length:g} m")
        return at

    def places(self, link: str, x: Any) -> tuple[int, Array]:
        """Return the index of a link and positions on it, shape (points,); a number is one point."""
        number = self.link(link)
        given = real_array("x", x)
        if given.ndim > 1 or given.size > MAX_POINT_COUNT:
            raise ValueError(
                f"x has shape {given.shape}: must be a number or a list of at most {MAX_POINT_COUNT} numbers (m)"
            )
        return number, np.array([self._position(link, each) for each in np.atleast_1d(given).tolist()])

    def stations(self, length: float, points: int) -> Array:
        """Return equally spaced points along a link, root and tip included."""
        count = whole_number("points", points, least=1)
        if count > MAX_POINT_COUNT:
            raise ValueError(f"points = {count}: must be at most {MAX_POINT_COUNT}")
        return np.linspace(0, length, count)

    def vector(self, name: str, value: Vector) -> Array:
        """Return validated coordinates as an array (..., nq); `name` is the argument's name in messages."""
        vector = self._coordinates.vector(value, name)
        names, count = self._coordinates.names, self._coordinates.count
        if vector.ndim == 0 or vector.shape[-1] != count:
            raise ValueError(
                f"{name} has shape {vector.shape}: its last dimension must be {count}, one for each of "
                f"{', '.join(names[:6])}{', ...' if count > 6 else ''}"
            )
        if not np.isfinite(vector).all():
            where = int(np.argwhere(~np.isfinite(vector))[0][-1])
            raise ValueError(f"{name} of '{names[where]}' is {vector[~np.isfinite(vector)][0]}: must be finite")
        if name == "q":
            for body in self._bodies:
                body.model.require(body, vector, f"{body.link.name}.q")
        return vector

    def forces(self, tau: Vector) -> Array:
        """Return nq generalized forces from nu actuator torques, nq generalized forces, or a mapping."""
        if tau is None:
            return np.zeros(self._coordinates.count)
        if isinstance(tau, Mapping):
            return self._forces_by_name(tau)
        given = real_array("tau", tau)
        if not np.isfinite(given).all():
            raise ValueError(f"tau = {shown(tau)}: must be finite")
        if given.ndim == 0 or given.shape[-1] not in (len(self._coordinates.inputs), self._coordinates.count):
            raise ValueError(
                f"tau has shape {given.shape}: its last dimension must be {len(self._coordinates.inputs)} (actuators "
                f"{', '.join(self._coordinates.inputs)}) or {self._coordinates.count} (generalised forces)"
            )
        if len(self._coordinates.inputs) != self._coordinates.count:
            return (
                np.asarray(given @ self._coordinates.input_matrix.T)
                if given.shape[-1] == len(self._coordinates.inputs)
                else given
            )
        for each in self._coordinates.actuators:
            if each.gear != 1:
                raise ValueError(
                    f"tau = {shown(tau)}: could be torques at motors or generalised forces, which differ where "
                    f"torque_at = 'motor'; give torques by link, {{'{each.link}': ...}}, or forces by coordinate, "
                    f"{{'{each.coordinate.name}': ...}}"
                )
        return given

    def _forces_by_name(self, tau: Mapping[str, float]) -> Array:
        """Return generalized forces from torques by link and generalized forces by coordinate."""
        out = np.zeros(self._coordinates.count)
        for name, value in tau.items():
            number = real_number(f"tau['{name}']", value)
            if name in self._coordinates.inputs:
                out += self._coordinates.input_matrix[:, self._coordinates.inputs.index(name)] * number
            elif name in self._coordinates.names:
                out[self._coordinates.index(name)] += number
            else:
                raise KeyError(
                    f"tau: there is no actuator at {shown(name)}{suggestion(name, list(self._coordinates.inputs))}"
                )
        return out
