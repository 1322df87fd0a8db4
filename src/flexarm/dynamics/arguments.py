"""What a system answers with where one array is not enough.

From what users give to arrays: coordinates by name, places on links, torques; or a sentence about what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from flexarm.dynamics.model import Chain
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, real_number, whole_number


@dataclass(frozen=True)
class Energy:
    """Energies in J, numbers or arrays over a batch; also by key, `energy["kinetic"]`."""

    kinetic: Array
    elastic: Array
    gravity: Array
    drive: Array

    @property
    def total(self) -> Array:
        return self.kinetic + self.elastic + self.gravity + self.drive

    def __getitem__(self, name: str) -> Array:
        known = ["kinetic", "elastic", "gravity", "drive", "total"]
        if name not in known:
            raise KeyError(f"there is no energy '{name}'{suggestion(name, known)}")
        return getattr(self, name)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Linearization:
    """Matrices (..., nq, nq) of small motions: mass, tangent stiffness, gyroscopic terms, dissipation."""

    M: Array
    K: Array
    G: Array
    D: Array


Vector = Mapping[str, float] | Array | list[float] | tuple[float, ...] | None

MAX_POINT_COUNT = 100_000

# Of a link's length: a slide at its end may be beyond it by this much.
POSITION_TOLERANCE = 1e-9


class Arguments:
    """Of the functions of one robot."""

    def __init__(self, chain: Chain) -> None:
        self._links, self._bodies, self._coordinates = chain.robot.links, chain.bodies, chain.coordinates

    def place(self, link: str, x: float | None) -> tuple[int, float]:
        names = [each.name for each in self._links]
        if link not in names:
            raise KeyError(f"there is no link {shown(link)}{suggestion(link, names)}")
        length = self._links[names.index(link)].length
        at = length if x is None else real_number("x", x, "m")
        if not 0 <= at <= length:
            raise ValueError(f"x = {at:g}: must lie on link '{link}', between 0 and {length:g} m")
        return names.index(link), at

    def places(self, link: str, x: Any) -> tuple[int, Array]:
        """The number of a link and places on it, (points,); a number is one point."""
        number, _ = self.place(link, None)
        given = real_array("x", x)
        if given.ndim > 1 or given.size > MAX_POINT_COUNT:
            raise ValueError(
                f"x has shape {given.shape}: must be a number or a list of at most {MAX_POINT_COUNT} numbers (m)"
            )
        return number, np.array([self.place(link, each)[1] for each in np.atleast_1d(given).tolist()])

    def stations(self, length: float, points: int) -> Array:
        """Points along a link, root and tip among them."""
        count = whole_number("points", points, least=1)
        if count > MAX_POINT_COUNT:
            raise ValueError(f"points = {count}: must be at most {MAX_POINT_COUNT}")
        return np.linspace(0, length, count)

    def vector(self, name: str, value: Vector) -> Array:
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
        """nq generalised forces from actuator torques or from themselves (where nu = nq they are the same)."""
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
        """From torques by link and generalised forces by coordinate."""
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
