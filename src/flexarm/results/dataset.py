"""Recorded arrays of a run, which become a labelled Dataset when it is first accessed.

Importing xarray imports pandas and takes longer than a short simulation.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flexarm.dynamics.quantity_names import AXES
from flexarm.foundation.validation import Array

if TYPE_CHECKING:
    import xarray as xr

ENERGIES = {
    "kinetic": "kinetic energy",
    "elastic": "elastic energy",
    "gravity": "energy of gravity",
    "drive": "energy of drives",
    "work": "work of inputs",
    "dissipated": "dissipated energy",
    "balance": "energy lost or gained by integration",
}

COMPONENTS = tuple(f"{what}.{axis}" for what in ("force", "torque") for axis in AXES)
"""Of a wrench."""

Labels = tuple[tuple[str, str, tuple[str, ...]], ...]  # name, dimension, label of each place

_swap = threading.Lock()


class Variable(NamedTuple):
    """One variable, with fields in the order of xarray's."""

    dims: tuple[str, ...]
    values: Array
    attrs: dict[str, str]


class Deferred:
    """Arrays by name that are computed together when the first of them is read.

    Of two threads that read at once one computes them and the other waits. If computing is interrupted, the next reader
    starts it again.
    """

    def __init__(self, compute: Callable[[], Mapping[str, Array]]) -> None:
        self._compute: Callable[[], Mapping[str, Array]] | None = compute
        self._arrays: Mapping[str, Array] = {}
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> Array:
        with self._lock:
            if self._compute is not None:
                self._arrays = self._compute()
                self._compute = None  # and what it refers to
        return self._arrays[name]


class DeferredVariable:
    """A `Variable` whose values are computed when they are read. Copies and pickles have the values."""

    def __init__(self, dims: tuple[str, ...], name: str, arrays: Deferred, attrs: dict[str, str]) -> None:
        self.dims, self.attrs, self._name, self._arrays = dims, attrs, name, arrays

    @property
    def values(self) -> Array:
        return self._arrays[self._name]

    def __reduce__(self) -> tuple[type[Variable], tuple[Any, ...]]:
        return Variable, (self.dims, self.values, self.attrs)


class Arrays(NamedTuple):
    """A run's variables (`time` among them), labels and attributes; they are read as those of a Dataset."""

    variables: Mapping[str, Variable | DeferredVariable]
    labels: Labels
    attrs: dict[str, str]

    def labelled(self) -> xr.Dataset:
        import xarray as xr

        variables = {name: (each.dims, each.values, each.attrs) for name, each in self.variables.items()}
        time = xr.Coordinates({"time": variables.pop("time")})
        return xr.Dataset(variables, _coordinates(self.labels).merge(time).coords, self.attrs)


class Records:
    """Arrays until their Dataset is accessed; from then on the Dataset, which the user may change."""

    def __init__(self, held: Arrays | xr.Dataset) -> None:
        self._held = held

    @property
    def attrs(self) -> dict[str, str]:
        return self._held.attrs

    @property
    def names(self) -> list[str]:
        """Names of the variables over time."""
        return [str(name) for name in self._held.variables if self.has(name)]

    def has(self, name: Hashable) -> bool:
        """Return True if a variable is numbers over time."""
        found = self._held.variables.get(name)  # type: ignore[call-overload]
        return found is not None and found.dims[:1] == ("time",)

    def values(self, name: str) -> Array:
        """The numbers of a variable, (time, ...)."""
        return np.asarray(self._held.variables[name].values)

    @property
    def dataset(self) -> xr.Dataset:
        held = self._held
        if not isinstance(held, Arrays):
            return held
        made = held.labelled()
        with _swap:  # two threads may have made one, but all get the same
            if self._held is held:
                self._held = made
            return self._held  # type: ignore[return-value]  # arrays are not put back


@lru_cache(maxsize=64)
def _coordinates(labels: Labels) -> xr.Coordinates:
    """Return coordinates with their indexes, cached for runs of the same robot."""
    import xarray as xr

    return xr.Coordinates({name: (dimension, list(places)) for name, dimension, places in labels})


def joined(statistics: str, more: str) -> str:
    """Return a JSON object with the members of two, which have no name in common."""
    return f"{statistics[:-1]}, {more[1:]}"


def arrays(**parts: Any) -> Arrays:
    """Return the arrays of a run with their labels; `Deferred` parts are computed when they are read."""
    labels = [
        ("coordinate", "coordinate", parts["names"]),
        ("axis", "axis", AXES),
        ("column", "column", AXES),
        ("input", "input", parts["inputs"]),
        ("link", "link", parts["links"]),
        ("unit", "coordinate", parts["units"]),
        ("kind", "coordinate", parts["kinds"]),
        ("input_unit", "input", parts["input_units"]),
    ]
    last = parts["links"][-1]
    layout = {
        "q": (("coordinate",), "", "coordinates"),
        "v": (("coordinate",), "", "rates of the coordinates"),
        "a": (("coordinate",), "", "accelerations of the coordinates"),
        "tip": (("axis",), "m", f"position of the tip of link '{last}', the last one"),
        "tip_rotation": (("axis", "column"), "1", f"rotation of the tip of link '{last}', the last one"),
        "deflection": (("link", "axis"), "m", "deflection of each link's tip in its root frame"),
        **({"torque": (("input",), "", "torque or force of the actuators")} if "torque" in parts else {}),
        **{name: ((), "J", meaning) for name, meaning in ENERGIES.items()},
    }
    if parts["points"]:
        labels.append(("point", "point", parts["points"]))
        parts["points"] = np.stack(list(parts["points"].values()), axis=1)
        layout["points"] = (("point", "axis"), "m", "positions of chosen points")
    if parts.get("loads"):
        labels += [("load", "load", parts["loads"]), ("component", "component", COMPONENTS)]
        layout["loads"] = (("load", "component"), "", "force (N) and torque (N m) of each load, in world axes")
        parts["loads"] = np.stack(list(parts["loads"].values()), axis=1)
    if parts.get("law_states"):
        labels.append(("law_state", "law_state", parts["law_states"]))
        layout["law_states"] = (("law_state",), "", "states of the feedback law")
        parts["law_states"] = np.stack(list(parts["law_states"].values()), axis=1)
    if "rows" in parts:
        labels += [("row", "row", parts["rows"]), ("row_unit", "row", parts["rows"].values())]
        layout["violation"] = ((), "", "largest violation of a constraint row (m or rad)")
    if "reaction" in parts:
        layout["reaction"] = (
            ("row",),
            "",
            "force (N) or moment (N m) of each constraint row on its first side or link",
        )
    variables: dict[str, Variable | DeferredVariable] = {}
    for name, (dims, unit, meaning) in layout.items():
        attributes = {"long_name": meaning} | ({"units": unit} if unit else {})
        given = parts[name]
        if isinstance(given, Deferred):
            variables[name] = DeferredVariable(("time", *dims), name, given, attributes)
        else:
            variables[name] = Variable(("time", *dims), given, attributes)
    variables["time"] = Variable(("time",), parts["time"], {"units": "s"})
    # copies: whoever gave the lists may change them before the labels are needed
    fixed = tuple((name, dimension, tuple(places)) for name, dimension, places in labels)
    return Arrays(variables, fixed, parts["attributes"])
