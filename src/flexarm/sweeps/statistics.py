"""What many members with drawn values tell: quantiles of measures, and how much of their variance each field explains.

First-order indices are estimated from the members themselves (given data): these are sorted into classes of equal
numbers by a field's value, a straight line is fitted to a measure in each class, and what the lines leave is compared
with the whole: 1 - (mean square about the lines) / (whole mean square), the adjusted correlation ratio. Of values that
were drawn at random, mean squares are by degrees of freedom, so that a field that explains nothing has, on average, the
share zero; a single estimate may be a little below. Chance leaves about 2 sqrt(classes) / members. On Sobol's points
the other fields are spread evenly in each class, so that lines follow no chance, and squares are compared as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.sweeps.table import MISSING

if TYPE_CHECKING:
    import xarray as xr

LEAST = 8  # members: fewer explain nothing
FEWEST = 20  # members of an interrupted study: statistics of fewer are withheld
MOST_CLASSES = 25
ESTIMATOR = "{} of the members, about straight lines in {} classes by each field"


def first_order(x: Array, y: Array, even: bool = False) -> Array:
    """Shares of the variance of each column of y (members, ...) that x (members,) explains alone; nan where y is still.
    `even`: the points fill the space evenly, as Sobol's do.

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
    within = centred - _means(centred, which, counts)
    along = (x - _means(x, which, counts)).reshape(-1, *[1] * (y.ndim - 1))
    spread = np.bincount(which, np.ravel(along) ** 2)
    lines = spread > (1e-9 * np.abs(x).max(initial=0.0)) ** 2 * counts  # not of classes of one value
    slopes = _sums(along * within, which, counts) / _column(np.where(lines, spread, np.inf), y.ndim)
    within = within - along * slopes[which]
    freedom = (1, 1) if even else (len(x) - 1, max(len(x) - len(counts) - int(lines.sum()), 1))
    whole, noise = ((each**2).sum(axis=0) / of for each, of in zip((centred, within), freedom, strict=True))
    still = (centred**2).sum(axis=0) <= len(x) * (1e-12 * np.abs(y).max(axis=0)) ** 2  # rounding has no reasons
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(still, np.nan, 1 - noise / whole))


def classes(members: int) -> int:
    return int(min(MOST_CLASSES, max(2, round(members ** (1 / 3)))))


def _sums(values: Array, which: Any, counts: Any) -> Array:
    out = np.zeros((len(counts), *values.shape[1:]))
    np.add.at(out, which, values)
    return out


def _means(values: Array, which: Any, counts: Any) -> Array:
    """The mean of each member's class."""
    return np.asarray((_sums(values, which, counts) / _column(counts, values.ndim))[which])


def _column(values: Any, dimensions: int) -> Array:
    return np.asarray(values, dtype=float).reshape(-1, *[1] * (dimensions - 1))


def random_sample(data: xr.Dataset) -> int:
    """Return the number of members, in the order in which they were drawn, before the first that is missing.

    It is zero if that are too few for statistics.
    """
    if "status" not in data:
        return int(data.sizes["member"])
    missing = data["status"].values == MISSING
    if not missing.any():
        return len(missing)
    first = int(missing.argmax())
    return first if first >= FEWEST else 0


def with_statistics(data: xr.Dataset, fields: Sequence[str], levels: Sequence[float], even: bool) -> xr.Dataset:
    """Add quantiles and first-order indices of each measure to the results of a Monte Carlo study.

    They are over the members that have the measure. Members of a study that was interrupted are no random sample: which
    of them are done depends on how long they take. Its statistics are those of the members before the first that is
    missing, if they are not too few, and `attrs["statistics"]` gives their number.
    """
    made: dict[str, Any] = {}
    drawn, members = random_sample(data), int(data.sizes["member"])
    for name, each in data.data_vars.items():
        if each.dtype.kind != "f" or each.dims[:1] != ("member",):
            continue
        known = np.isfinite(each.values).all(axis=tuple(range(1, each.ndim)))
        known[drawn:] = False
        rows, rest = each.values[known], each.dims[1:]
        about = {key: value for key, value in each.attrs.items() if key == "units"} | {"members": len(rows)}
        words = each.attrs.get("long_name", name)
        made[f"{name}_quantiles"] = (
            ("quantile", *rest),
            np.quantile(rows, levels, axis=0) if len(rows) else np.full((len(levels), *rows.shape[1:]), np.nan),
            {"long_name": f"quantiles of {words}", **about},
        )
        shares = [first_order(data[field].values[known].astype(float), rows, even) for field in fields]
        kind = "correlation ratio" if even else "adjusted correlation ratio"
        made[f"{name}_first_order"] = (
            ("field", *rest),
            np.array(shares),
            {
                "long_name": f"share of the variance of {words} that each field explains",
                "estimator": ESTIMATOR.format(kind, classes(max(len(rows), 1))),
                "members": len(rows),
            },
        )
    old = [name for name in data.variables if str(name).endswith(("_quantiles", "_first_order"))]
    kept = data.drop_vars([*old, *({"quantile", "field"} & set(data.coords))])
    kept.attrs.pop("statistics", None)
    if not drawn and members:
        kept.attrs["statistics"] = f"withheld, since fewer than {FEWEST} of the first members drawn are done"
    elif drawn < members:
        kept.attrs["statistics"] = f"of the first {drawn} of {members} members drawn, which are all done"
    return kept.assign(made).assign_coords(quantile=list(levels), field=list(fields))
