"""What many members with drawn values tell: quantiles of measures, and how much of their variance each field explains.

First-order indices are estimated from the members themselves (given data): these are sorted into classes of equal
numbers by a field's value, and the variance of a measure between classes, without what chance puts there, is divided
by its whole variance: 1 - (mean square within classes) / (whole mean square), the adjusted correlation ratio. Classes
are so many that both errors are small: a class hides 1 / classes^2 of a linear effect, and chance leaves about
sqrt(2 classes) / members.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.numbers import Array

if TYPE_CHECKING:
    import xarray as xr

LEAST = 8  # members: fewer explain nothing
MOST_CLASSES = 50
ESTIMATOR = "adjusted correlation ratio of the members, sorted into {} classes by each field"


def first_order(x: Array, y: Array) -> Array:
    """Shares of the variance of each column of y (members, ...) that x (members,) explains alone; nan where y is still.

    >>> x = (np.arange(1000) + 0.5) / 1000
    >>> float(np.round(first_order(x, x[:, None])[0], 2))
    1.0
    """
    y = np.asarray(y, dtype=float)
    if len(x) < LEAST:
        return np.full(y.shape[1:], np.nan)
    edges = np.unique(np.quantile(x, np.linspace(0, 1, classes(len(x)) + 1)[1:-1]))
    which = np.unique(np.searchsorted(edges, x, side="left"), return_inverse=True)[1]  # equal values in one class
    counts = np.bincount(which)
    centred = y - y.mean(axis=0)
    sums = np.zeros((len(counts), *y.shape[1:]))
    np.add.at(sums, which, centred)
    within = centred - (sums / counts.reshape(-1, *[1] * (y.ndim - 1)))[which]
    whole = (centred**2).sum(axis=0) / (len(x) - 1)
    noise = (within**2).sum(axis=0) / max(len(x) - len(counts), 1)
    still = whole <= (1e-12 * np.abs(y).max(axis=0)) ** 2  # rounding has no reasons
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(still, np.nan, 1 - noise / whole))


def classes(members: int) -> int:
    return int(min(MOST_CLASSES, max(2, round(0.5 * members**0.5))))


def with_statistics(data: xr.Dataset, fields: Sequence[str], levels: Sequence[float]) -> xr.Dataset:
    """The results of a Monte Carlo study with quantiles and first-order indices of each measure, over the members that
    did not fail."""
    good = np.flatnonzero(np.asarray(data["status"].values) != "failed")
    good = good[np.asarray(data["status"].values)[good] != "missing"]
    estimator = ESTIMATOR.format(classes(max(len(good), 1)))
    made: dict[str, Any] = {}
    for name, each in data.data_vars.items():
        if each.dtype.kind != "f" or each.dims[:1] != ("member",):
            continue
        rows, rest = each.values[good], each.dims[1:]
        about = {key: value for key, value in each.attrs.items() if key == "units"}
        words = each.attrs.get("long_name", name)
        made[f"{name}_quantiles"] = (
            ("quantile", *rest),
            np.quantile(rows, levels, axis=0) if len(rows) else np.full((len(levels), *rows.shape[1:]), np.nan),
            {"long_name": f"quantiles of {words}", **about},
        )
        shares = [first_order(data[field].values[good].astype(float), rows) for field in fields]
        made[f"{name}_first_order"] = (
            ("field", *rest),
            np.array(shares),
            {"long_name": f"share of the variance of {words} that each field explains", "estimator": estimator},
        )
    old = [name for name in data.variables if str(name).endswith(("_quantiles", "_first_order"))]
    kept = data.drop_vars([*old, *({"quantile", "field"} & set(data.coords))])
    return kept.assign(made).assign_coords(quantile=list(levels), field=list(fields))
