"""Internal forces of a run: in joints and constraints, across sections, and strain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.codegen.library import building
from flexarm.dynamics.quantity_names import AXES, STATE_PARTS
from flexarm.dynamics.system import System
from flexarm.feedback.signals import Output, Signals
from flexarm.foundation.messages import MAX_LISTED_NAMES, shown, suggestion
from flexarm.foundation.validation import Array
from flexarm.results.dataset import COMPONENTS, Records
from flexarm.results.outputs import INPUTS_ARE_GONE, DenseOutput
from flexarm.robot import Robot

if TYPE_CHECKING:
    import xarray as xr

COMPONENT_UNITS = ("N",) * 3 + ("N m",) * 3
NO_FORCES_REASON = "this run has no record of its loads: it was written by an earlier version; simulate it again"


class Forces:
    """Forces on a robot at the samples of a run."""

    def __init__(self, records: Records, dense: DenseOutput | str) -> None:
        self._records = records
        self.system = dense.system(records.attrs) if isinstance(dense, DenseOutput) else _system(records.attrs)

    @property
    def time(self) -> Array:
        return self._records.values("time")

    def _state(self) -> dict[str, Any]:
        """Arguments of the functions of the system."""
        known, system = self._records.names, self.system
        if "torque" not in known:  # nor are accelerations those that forces make
            raise ValueError(f"forces inside the robot are not known: {INPUTS_ARE_GONE}")
        options = json.loads(self._records.attrs["options"])
        places = options.get("load_places", [])
        if not places and options.get("loads", "[]") != "[]":
            raise ValueError(NO_FORCES_REASON)
        loads = self._records.values("loads") if places else np.zeros((0, 0, 6))
        return {
            **self._motion(),
            "loads": [(link, x, loads[:, k]) for k, (link, x) in enumerate(places)],
            "constraint_forces": self._records.values("reaction") if system.constraints else None,
        }

    def reaction(self, name: object, axes: Any) -> xr.DataArray:
        """Return the forces in the joint of a link, of a constraint, or of one of its rows."""
        links = [link.name for link in self.system.robot.links]
        if isinstance(name, str) and name in links:
            values = self.system.reaction(name, axes=axes, **self._state())
            return self._labelled(values, ["component"], f"reaction in the joint of {name}", where=axes)
        rows, owners = list(self.system.constraints), [row.rpartition(".")[0] for row in self.system.constraints]
        chosen = [row for row, owner in zip(rows, owners, strict=True) if name in (row, owner)]
        if not chosen:
            allowed = [*dict.fromkeys(owners)]
            near = suggestion(name, [*links, *allowed, *rows])
            alternatives = f"; joints are those of links {_listed(links)}; constraints are {_listed(allowed)}"
            raise KeyError(f"there is no reaction {shown(name)} in this run{near if '?' in near else ''}{alternatives}")
        if axes != "joint":
            raise ValueError(f"axes = {shown(axes)}: is for joints only; {', '.join(chosen)} have axes of their own")
        if "reaction" not in self._records.names:
            raise KeyError(f"there is no reaction {shown(name)} in this run: {INPUTS_ARE_GONE}")
        found = self._records.dataset["reaction"]
        return found.sel(row=name if name in rows else chosen)

    def across(self, link: str, x: Any, part: slice, meaning: str, unit: str) -> xr.DataArray:
        """Three components of what acts across sections."""
        values = self.system.section_forces(link, x, **self._state())[..., part]
        return self._labelled(values, ["axis"], f"{meaning} of {link}", x, unit)

    def strain(self, link: str, x: Any, at: Any) -> xr.DataArray:
        values = self.system.strain(link, x, self._records.values("q"), at)
        where = "on the surface" if at is None else f"at y = {at[0]:g} m, z = {at[1]:g} m"
        return self._labelled(values, [], f"strain of {link} {where}", x, "1")

    def output(self, name: object, recorded: Sequence[str]) -> xr.DataArray:
        """Return an output of laws and linear models that is not among the `recorded` quantities.

        Raise a KeyError that suggests the nearest output or recorded quantity if there is none of this name.
        """
        points = json.loads(self._records.attrs["options"]).get("points", {})
        signals = Signals(self.system, {each: (link, x) for each, (link, x) in points.items()})
        found = signals.find(name) if isinstance(name, str) else None
        if found is None:
            known = [*recorded, *signals.output_names]
            raise KeyError(f"there is no {shown(name)} in this run{suggestion(name, known)}")
        return self._labelled(self._values(found), [], found.name, unit=found.unit).rename(found.name)

    def _values(self, output: Output) -> Array:
        """Return the values of an output at all samples."""
        if output.path is None:
            assert output.read is not None  # rows of constraints are recorded
            forces = (
                self._state() if output.needs_forces else {**self._motion(), "loads": (), "constraint_forces": None}
            )
            return np.asarray(output.read(*forces.values()))
        e, count = self.system.equations, len(self.time)
        with building:
            function = ca.Function("output", [e.q, e.v, e.a, e.p], [output.expression(e)])
        numbers = ca.repmat(ca.DM(self.system.numbers), 1, count)
        state = (each.T for each in self._motion().values())
        return np.asarray(function.map(count)(*state, numbers).full().ravel())

    def _motion(self) -> dict[str, Array]:
        return {part: self._records.values(part) for part in STATE_PARTS}

    def _labelled(
        self, values: Array, last: list[str], meaning: str, x: Any = None, unit: str = "", where: str = ""
    ) -> xr.DataArray:
        """(time, x where it is a list, components)."""
        import xarray as xr

        coordinates: dict[str, Any] = {"time": ("time", self.time, {"units": "s"})}
        dimensions = ["time", *(["x"] if np.ndim(x) else []), *last]
        if x is not None:
            places = np.array(x, dtype=float)
            coordinates["x"] = ("x", places, {"units": "m"}) if places.ndim else places
        if last == ["axis"]:
            coordinates["axis"] = list(AXES)
        if last == ["component"]:
            coordinates |= {"component": list(COMPONENTS), "unit": ("component", list(COMPONENT_UNITS))}
        attributes = {"long_name": meaning} | ({"units": unit} if unit else {}) | ({"axes": where} if where else {})
        return xr.DataArray(values, coordinates, dimensions, attrs=attributes)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:MAX_LISTED_NAMES]) + (", ..." if len(names) > MAX_LISTED_NAMES else "") if names else "none"


def _system(attributes: dict[str, str]) -> System:
    return System(Robot.model_validate(json.loads(attributes["model"])))
