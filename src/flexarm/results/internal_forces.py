"""Forces inside the robot of a run: in joints and constraints, across sections; and strain."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.feedback.signals import GAUGE, Signals
from flexarm.foundation.messages import MAX_LISTED_NAMES, shown, suggestion
from flexarm.foundation.validation import Array
from flexarm.results.by_name import AXES
from flexarm.results.dataset import COMPONENTS, Records
from flexarm.results.outputs import INPUTS_ARE_GONE, Dense
from flexarm.robot import Robot

if TYPE_CHECKING:
    import xarray as xr

UNITS = ("N",) * 3 + ("N m",) * 3
LOST = (
    "this run does not tell where its loads acted and how large they were: it was written by an earlier version; "
    "simulate it again"
)


class Forces:
    """All that is known of the forces on a robot at the samples of a run."""

    def __init__(self, records: Records, dense: Dense | str) -> None:
        self._records = records
        self.system = dense.system(records.attrs) if isinstance(dense, Dense) else _system(records.attrs)

    @property
    def time(self) -> Array:
        return self._records.values("time")

    def _state(self) -> dict[str, Any]:
        """What the functions of the system take."""
        known, system = self._records.names, self.system
        if "torque" not in known:  # nor are accelerations those that forces make
            raise ValueError(f"forces inside the robot are not known: {INPUTS_ARE_GONE}")
        options = json.loads(self._records.attrs["options"])
        places = options.get("load_places", [])
        if not places and options.get("loads", "[]") != "[]":
            raise ValueError(LOST)
        loads = self._records.values("loads") if places else np.zeros((0, 0, 6))
        return {
            **{name: self._records.values(name) for name in ("q", "v", "a")},
            "loads": [(link, x, loads[:, k]) for k, (link, x) in enumerate(places)],
            "constraint_forces": self._records.values("reaction") if system.constraints else None,
        }

    def reaction(self, name: object, axes: Any) -> xr.DataArray:
        """Of the joint of a link, or of a constraint, or of one of its rows."""
        links = [link.name for link in self.system.robot.links]
        if isinstance(name, str) and name in links:
            values = self.system.reaction(name, axes=axes, **self._state())
            return self._labelled(values, ["component"], f"reaction in the joint of {name}", where=axes)
        rows, owners = list(self.system.constraints), [row.rpartition(".")[0] for row in self.system.constraints]
        chosen = [row for row, owner in zip(rows, owners, strict=True) if name in (row, owner)]
        if not chosen:
            allowed = [*dict.fromkeys(owners)]
            near = suggestion(name, [*links, *allowed, *rows])
            said = f"; joints are those of links {_listed(links)}; constraints are {_listed(allowed)}"
            raise KeyError(f"there is no reaction {shown(name)} in this run{near if '?' in near else ''}{said}")
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

    def gauge(self, name: str) -> xr.DataArray | None:
        """Return the strain called `fore.strain(0.1)` or `fore.strain(0.1, y, z)`; None if the name is another."""
        match = GAUGE.fullmatch(name)
        if match is None or match["link"] not in [link.name for link in self.system.robot.links]:
            return None
        x, y, z = Signals(self.system).gauge(name, match["link"], match["x"])
        return self.strain(match["link"], x, (y, z)).rename(name)

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
            coordinates |= {"component": list(COMPONENTS), "unit": ("component", list(UNITS))}
        attributes = {"long_name": meaning} | ({"units": unit} if unit else {}) | ({"axes": where} if where else {})
        return xr.DataArray(values, coordinates, dimensions, attrs=attributes)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:MAX_LISTED_NAMES]) + (", ..." if len(names) > MAX_LISTED_NAMES else "") if names else "none"


def _system(attributes: dict[str, str]) -> System:
    return System(Robot.model_validate(json.loads(attributes["model"])))
