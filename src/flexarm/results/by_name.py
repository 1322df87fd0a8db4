"""Recorded quantities of a run by name: `upper.q`, `upper.q'`, `tip.x`, `deflection.upper.y`, `torque.upper`, ..."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any

from flexarm.dynamics.quantity_names import AXES, STATE_PARTS, derivative, derivative_unit
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import MAX_LISTED_NAMES, shown
from flexarm.results.dataset import ENERGIES
from flexarm.robot.flexibility import FAMILIES

if TYPE_CHECKING:
    import xarray as xr

    from flexarm.results.run import Run

DERIVATIVE_WORDS = ("", "rate of ", "acceleration of ")
DEFORMATIONS = dict(zip(FAMILIES, ("bending y", "bending z", "twist", "stretch"), strict=True))


@dataclass(frozen=True)
class NamedQuantity:
    """Recorded quantity: its place in the data, its meaning in words and its unit."""

    variable: str
    words: str
    unit: str = ""
    part: dict[str, str] = field(default_factory=dict)

    def of(self, data: xr.Dataset) -> xr.DataArray:
        """Return a copy of the values, with label and unit as attributes."""
        attributes = {"long_name": self.words} | ({"units": self.unit} if self.unit else {})
        return data[self.variable].sel(self.part).copy().assign_attrs(attributes)


def label_of(series: xr.DataArray) -> str:
    """Return the label of a quantity in figures: what it is, and its unit."""
    words, unit = series.attrs["long_name"], series.attrs.get("units", "")
    return f"{words} ({unit})" if unit not in ("", "1") else str(words)


def one_quantity(run: Run, name: Any) -> xr.DataArray:
    """Return a quantity of a run over time; raise KeyError if the name is that of several, such as all coordinates."""
    found = run[name]
    if found.ndim > 1:
        parts = [each for each in run.names if each.startswith(f"{name}.")] or run.names
        raise KeyError(f"{shown(name)} is several quantities; take one of {', '.join(parts[:MAX_LISTED_NAMES])}")
    return found


def available(data: xr.Dataset) -> dict[str, NamedQuantity]:
    """Return all quantities by name; a point whose name is taken (`tip`) is `points.tip.x`."""
    out: dict[str, NamedQuantity] = {}
    for name, series in _all(data):
        out[name if name not in out else f"{series.variable}.{name}"] = series
    return out


def _all(data: xr.Dataset) -> Iterator[tuple[str, NamedQuantity]]:
    units = dict(zip(_labels(data, "coordinate"), data["unit"].values.tolist(), strict=True))
    for order, (variable, word) in enumerate(zip(STATE_PARTS, DERIVATIVE_WORDS, strict=True)):
        for name, unit in units.items():
            link, what = _coordinate(name, unit)
            series = NamedQuantity(
                variable, f"{link}: {word}{what}", derivative_unit(unit, order), {"coordinate": name}
            )
            yield derivative(name, order), series
    for axis in AXES:
        yield f"tip.{axis}", NamedQuantity("tip", f"tip {axis}", "m", {"axis": axis})
    for link in _labels(data, "link"):
        for axis in AXES:
            part = {"link": link, "axis": axis}
            yield f"deflection.{link}.{axis}", NamedQuantity("deflection", f"{link}: tip deflection {axis}", "m", part)
    for link, unit in zip(_labels(data, "input"), _input_units(data), strict=True) if "torque" in data else ():
        word = "force" if unit == "N" else "torque"
        yield f"torque.{link}", NamedQuantity("torque", f"{link}: {word}", unit, {"input": link})
    for state in _labels(data, "law_state"):
        yield f"law.{state}", NamedQuantity("law_states", f"law: {state}", "", {"law_state": state})
    if "reaction" in data:
        for row, unit in zip(_labels(data, "row"), data["row_unit"].values.tolist(), strict=True):
            yield f"reaction.{row}", NamedQuantity("reaction", f"reaction {row}", unit, {"row": row})
    if "violation" in data:
        yield "violation", NamedQuantity("violation", "largest violation of a constraint")
    for name, words in ENERGIES.items():
        yield name, NamedQuantity(name, words, "J")
    for point in _labels(data, "point"):
        for axis in AXES:
            yield f"{point}.{axis}", NamedQuantity("points", f"{point} {axis}", "m", {"point": point, "axis": axis})


def _labels(data: xr.Dataset, dimension: str) -> list[Any]:
    return list(data[dimension].values.tolist()) if dimension in data.coords else []


def _input_units(data: xr.Dataset) -> list[str]:
    if "input_unit" not in data.coords:  # a file of an earlier version
        return ["N m"] * data.sizes["input"]
    return list(data["input_unit"].values.tolist())


def _coordinate(name: str, unit: str) -> tuple[str, str]:
    """The link and what of it: angle, travel, motor, bending y (shape 2)."""
    link, _, own = name.partition(".")
    if own == "q":
        return link, "travel" if unit == "m" else "angle"
    family, _, number = own.removeprefix("rear.").rstrip("]").partition("[")
    where = "rear " if own.startswith("rear.") else ""
    return link, where + DEFORMATIONS.get(family, family) + (f", shape {number}" if number else "")


def coordinates_of(data: xr.Dataset, *kinds: str) -> list[str]:
    """Names of the coordinates of these kinds: "joint", "motor", "elastic"."""
    pairs = zip(data["coordinate"].values.tolist(), data["kind"].values.tolist(), strict=True)
    return [name for name, kind in pairs if kind in kinds]
