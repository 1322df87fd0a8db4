"""Quantities of a run by name: `upper.q`, `v.upper.q`, `tip.x`, `deflection.upper.y`, `torque.upper`, ..."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import shown, suggestion
from flexarm.robot.flexibility import FAMILIES

if TYPE_CHECKING:
    import xarray as xr

AXES = ("x", "y", "z")
STRAIN_PATTERN = re.compile(r"(?P<link>[\w-]+)\.strain\((?P<x>[^,()]*).*\)")  # as laws and linear models have it
ENERGY_WORDS = {
    "kinetic": "kinetic energy",
    "elastic": "elastic energy",
    "gravity": "energy of gravity",
    "drive": "energy of drives",
    "work": "work of inputs",
    "dissipated": "dissipated energy",
    "balance": "energy lost or gained by integration",
}
RATE_NAMES = {"q": ("", ""), "v": ("rate of ", "/s"), "a": ("acceleration of ", "/s2")}
DEFORMATIONS = dict(zip(FAMILIES, ("bending y", "bending z", "twist", "stretch"), strict=True))


@dataclass(frozen=True)
class NamedQuantity:
    """One quantity: its place in the data, its unit and its label in figures."""

    variable: str
    words: str
    unit: str = ""
    part: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"{self.words} ({self.unit})" if self.unit not in ("", "1") else self.words

    def of(self, data: xr.Dataset) -> xr.DataArray:
        """Return the values, with their unit."""
        found = data[self.variable].sel(self.part)
        return found.assign_attrs(units=self.unit) if self.unit else found


def named(data: xr.Dataset, name: object) -> NamedQuantity:
    """The quantity of that name, one of `available`."""
    table = available(data)
    if isinstance(name, str) and name not in table and (way := _method(data, name)):
        raise KeyError(f"there is no {shown(name)} in this run; {way}")
    if not isinstance(name, str) or name not in table:
        raise KeyError(f"there is no {shown(name)} in this run{suggestion(name, list(table))}")
    return table[name]


def _method(data: xr.Dataset, name: str) -> str:
    """The call that answers a name of a force inside the robot."""
    word, _, rest = name.partition(".")
    link = rest.partition(".")[0]
    base = name.rstrip("'")
    if base in _labels(data, "coordinate") and len(name) - len(base) in (1, 2):
        return f"did you mean '{'va'[len(name) - len(base) - 1]}.{base}'?"
    if match := STRAIN_PATTERN.fullmatch(name):
        return f"that is run.strain('{match['link']}', {match['x']})"
    if link not in _labels(data, "link") or word not in ("reaction", "moment", "force", "strain"):
        return ""
    place = "" if word == "reaction" else ", x"
    return f"that is run.{word}('{link}'{place})"


def available(data: xr.Dataset) -> dict[str, NamedQuantity]:
    """Return all quantities by name; a point whose name is taken (`tip`) is `points.tip.x`."""
    out: dict[str, NamedQuantity] = {}
    for name, series in _all(data):
        out[name if name not in out else f"{series.variable}.{name}"] = series
    return out


def _all(data: xr.Dataset) -> Iterator[tuple[str, NamedQuantity]]:
    units = dict(zip(_labels(data, "coordinate"), data["unit"].values.tolist(), strict=True))
    for variable, (word, per) in RATE_NAMES.items():
        for name, unit in units.items():
            link, what = _coordinate(name, unit)
            series = NamedQuantity(variable, f"{link}: {word}{what}", f"{unit or '1'}{per}", {"coordinate": name})
            yield name if variable == "q" else f"{variable}.{name}", series
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
    for name, words in ENERGY_WORDS.items():
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
