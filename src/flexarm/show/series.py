"""What can be drawn over time, by name: `upper.q`, `v.upper.q`, `tip.x`, `deflection.upper.y`, `torque.upper`, ..."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System

if TYPE_CHECKING:
    from flexarm.motion.run import Run

RATES = {"v": "/s", "a": "/s2"}


@dataclass(frozen=True)
class Series:
    """A quantity over time, with what to write beside it."""

    name: str
    values: Array
    unit: str

    @property
    def label(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit not in ("", "1") else self.name


def series(run: Run, name: str) -> Series:
    """A quantity of a run by name; those of `available`."""
    table = _table(run)
    if name not in table:
        from flexarm.foundation.sentences import suggestion

        raise KeyError(f"there is no '{name}' in this run{suggestion(name, list(table))}")
    variable, choice, unit = table[name]
    return Series(name, run.data[variable].sel(choice).values, unit)


def joints(run: Run, *kinds: str) -> list[str]:
    """Names of the coordinates of these kinds: "joint", "motor"."""
    return [each.name for each in System(run.robot, native=False).coordinates if each.kind in kinds]


def beside(run: Run, other: Run) -> str:
    """What another run is called in a figure of this one."""
    name = str(other.data.attrs["robot"])
    return "rigid twin" if name == f"{run.data.attrs['robot']} (rigid)" else name


def available(run: Run) -> list[str]:
    """Names of all quantities of a run."""
    return list(_table(run))


def _table(run: Run) -> dict[str, tuple[str, dict[str, Any], str]]:
    """By name: variable, which part of it, unit."""
    data, out = run.data, {}
    units = dict(zip(data["coordinate"].values.tolist(), data["unit"].values.tolist(), strict=True))
    for coordinate, unit in units.items():
        out[coordinate] = ("q", {"coordinate": coordinate}, unit)
    for rate, per in RATES.items():
        for coordinate, unit in units.items():
            out[f"{rate}.{coordinate}"] = (rate, {"coordinate": coordinate}, f"{unit or '1'}{per}")
    for axis in "xyz":
        out[f"tip.{axis}"] = ("tip", {"axis": axis}, "m")
    for link in data["link"].values.tolist():
        for axis in "xyz":
            out[f"deflection.{link}.{axis}"] = ("deflection", {"link": link, "axis": axis}, "m")
    for point in data["point"].values.tolist() if "point" in data.coords else ():
        for axis in "xyz":
            out[f"{point}.{axis}"] = ("points", {"point": point, "axis": axis}, "m")
    forces = data["input_unit"].values.tolist() if "input_unit" in data.coords else ["N m"] * data.sizes["input"]
    for link, unit in zip(data["input"].values.tolist(), forces, strict=True):
        out[f"torque.{link}"] = ("torque", {"input": link}, unit)
    if "reaction" in data:
        for row, unit in zip(data["row"].values.tolist(), data["row_unit"].values.tolist(), strict=True):
            out[f"reaction.{row}"] = ("reaction", {"row": row}, unit)
        out["violation"] = ("violation", {}, "")
    out |= {str(name): (str(name), {}, "J") for name in run.energy}
    return out
