"""Many runs as a page needs them: members by number, what each changes, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import cut, shown, suggestion

if TYPE_CHECKING:
    import xarray as xr

KINDS = ("sweep", "monte_carlo")
RAN = ("completed", "stopped")


def is_sweep(data: Any) -> bool:
    """Whether a Dataset is that of many runs, of whatever kind; that of one run has times."""
    return "status" in getattr(data, "data_vars", ()) or getattr(data, "attrs", {}).get("kind") == "sensitivity"


class Sweep:
    """The Dataset of `fa.sweep` or `fa.monte_carlo`."""

    def __init__(self, data: Any) -> None:
        if not is_sweep(data):
            raise TypeError(f"sweep = {shown(data)}: must be the Dataset of a sweep, as fa.sweep gives it")
        if data.attrs.get("kind") not in KINDS:
            raise ValueError("sweep: has no members to be opened; fa.sweep and fa.monte_carlo have")
        self.data: xr.Dataset = data
        self.dimensions = tuple(str(each) for each in data["status"].dims)
        self.size = int(data["status"].size)
        if not self.size:
            raise ValueError("sweep: has no members")
        if not self.quantities:
            raise ValueError("sweep: none of its measures is a number")

    @property
    def together(self) -> bool:
        """Whether members are in a row, and not all combinations of values."""
        return self.dimensions == ("member",)

    @property
    def fields(self) -> list[str]:
        if not self.together:
            return list(self.dimensions)
        return [str(name) for name, each in self.data.coords.items() if each.dims == ("member",) and name != "member"]

    @property
    def quantities(self) -> list[str]:
        """What can be drawn, the usual one first."""
        from flexarm.show.sweeps import usual_quantity  # with Matplotlib, which a page without a sweep does not need

        known = list(self._known)
        usual = usual_quantity(self.data) if known else ""
        if usual.startswith("tip."):  # the direction in which members differ most
            usual = max((name for name in known if name.startswith("tip.")), key=self._spread)
        return sorted(known, key=lambda name: name != usual)

    def _spread(self, quantity: str) -> float:
        values = self.values(quantity)
        values = values[np.isfinite(values)]
        return float(np.ptp(values)) if values.size else 0.0

    @property
    def _known(self) -> dict[str, xr.DataArray]:
        from flexarm.show.sweeps import quantities

        return quantities(self.data)

    def values(self, quantity: str) -> Array:
        """A quantity of all members, by their numbers; nan of those that failed."""
        known = self._known
        if quantity not in known:
            raise ValueError(f"show: the sweep has no {quantity!r}{suggestion(quantity, list(known))}")
        return np.asarray(known[quantity].transpose(*self.dimensions).values, dtype=float).ravel()

    def place(self, member: int) -> dict[str, int]:
        """Where a member is along the dimensions."""
        where = np.unravel_index(member, self.data["status"].shape)
        return dict(zip(self.dimensions, (int(each) for each in where), strict=True))

    def changes(self, member: int) -> dict[str, Any]:
        """What a member changes, by the names that `fa.sweep` knows."""
        one = self.data.isel(self.place(self._checked(member)))
        return {name: _plain(one[name].values[()]) for name in self.fields}

    def members(self, values: Mapping[str, float]) -> list[int]:
        """Those that have these values of all fields."""
        if not all(name in values for name in self.fields):
            return []
        every = np.arange(self.size)
        good = np.ones(self.size, dtype=bool)
        where = np.unravel_index(every, self.data["status"].shape)
        for k, name in enumerate(self.fields):
            column = self.data[name].values
            if column.dtype.kind not in "iuf":
                return []
            own = column[every] if self.together else column[where[k]]
            good &= np.isclose(own, values[name], rtol=1e-9, atol=0.0)
        return [int(each) for each in every[good]]

    def status(self, member: int) -> str:
        return str(self.data["status"].isel(self.place(member)).item())

    def words(self, member: int, quantity: str) -> str:
        """A member in a sentence: what it changes, how it ended, and its value of a quantity."""
        changed = ", ".join(
            f"{name} = {_short(value)}{self._unit(name)}" for name, value in self.changes(member).items()
        )
        status = self.status(member)
        if status not in RAN:
            reason = str(self.data["reason"].isel(self.place(member)).item()) if "reason" in self.data else ""
            return cut(f"member {member} ({changed}): {status}{f', {reason}' if reason else ''}", 400)
        value = self.values(quantity)[member]
        return cut(f"member {member} ({changed}): {quantity} = {_short(float(value))}{self._unit(quantity)}", 400)

    def tip(self, member: int) -> Array | None:
        """Where the tip was at the end, if that was measured."""
        if "tip" not in self.data or self.data["tip"].dims[-1] != "axis":
            return None
        found = np.asarray(self.data["tip"].isel(self.place(member)).values, dtype=float)
        return found if found.shape == (3,) and np.isfinite(found).all() else None

    @property
    def duration(self) -> float | None:
        """Of the runs (s), as far as it is known."""
        try:
            return float(json.loads(self.data.attrs["options"])["duration"])
        except (KeyError, ValueError, TypeError):
            return None

    @property
    def robot(self) -> str:
        """The name of the robot that was swept."""
        return str(self.data.attrs.get("robot", ""))

    def _unit(self, name: str) -> str:
        found = self._known.get(name) if name not in self.fields else self.data[name]
        unit = "" if found is None else found.attrs.get("units", "")
        return "" if unit in ("", "1") else f" {unit}"

    def _checked(self, member: int) -> int:
        if not 0 <= member < self.size:
            raise ValueError(f"member = {member}: must be 0 to {self.size - 1}")
        return member


def _plain(value: Any) -> Any:
    """A value of a Dataset as robots take it."""
    return value.item() if isinstance(value, np.generic) else value


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
