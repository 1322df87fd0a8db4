"""Figures of sweeps: curves over one parameter, maps over two, quantiles over the parameters of a Monte Carlo study."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array
from flexarm.plotting.colours import LINE_STYLES
from flexarm.plotting.style import Picture, escape_math, label_plot, place_legend, wrap_title
from flexarm.results.netcdf import warn_of_version
from flexarm.sweeps.monte_carlo import random_sample

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

MAX_PANEL_COUNT = 6
DEFAULT_MEASURES = ("peak_deflection", "residual", "tip", "peak_torque")  # those that exist are plotted by default
SECONDARY_MEASURES = ("end", "balance")  # plotted only by name or if there are no others
MAX_BIN_COUNT = 12  # along a random parameter, with quantiles for each bin
MIN_BIN_MEMBER_COUNT = 8
MAX_TICK_COUNT = 8  # ticks are put at the values if there are no more
MIN_LOG_SCALE_RATIO = 10.0  # of the largest to the smallest value of a geometric sequence
VARIATION_TOLERANCE = 1e-9  # relative


def plot_sweep(data: xr.Dataset, quantity: str | Sequence[str] | None = None, **at: Any) -> Figure:
    """Plot the results of a sweep.

    The figure has curves over one parameter or maps over two. For a Monte Carlo study it has the members as points and
    bands of quantiles over each random parameter.

    Parameters
    ----------
    data : xarray.Dataset
        Results of `sweep` or `monte_carlo`.
    quantity : str or sequence of str, optional
        Names of measures (`"tip"`) or of their components (`"tip.y"`, `"peak_deflection.upper"`). By default peak
        deflection, residual vibration, tip and peak torque, as far as they exist.
    **at
        Values of parameters that are held fixed, by the end of their names (`mass=0.1`) or in full
        (`**{"links.fore.payload.mass": 0.1}`); the nearest value of the sweep is taken. Parameters beyond two are held
        at their first value by default.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    See Also
    --------
    sweep : Simulate all combinations of values.
    monte_carlo : Simulate values drawn from distributions.

    Examples
    --------
    >>> import flexarm as fa
    >>> bar = fa.Robot("bar", links=[fa.Link("bar", 1.0, mass=3.0)])
    >>> data = fa.sweep(bar, {"links.bar.mass": [1.0, 2.0]}, 0.1, torque={"bar": 1.0}, native=False, progress=False)
    >>> plot_sweep(data, "tip.y").axes[0].get_xlabel()
    'links.bar.mass (kg)'
    """
    if not all(hasattr(data, name) for name in ("attrs", "data_vars", "coords")) or "status" not in data:
        raise TypeError(f"data = {shown(data)}: must be the Dataset of a sweep, as fa.sweep gives it")
    warn_of_version("data", data.attrs)
    fields = sweep_fields(data)
    data = _select_fixed(data, fields, at)
    panels = _panels(data, quantity)
    if not any(np.isfinite(part.values).any() for _, part in panels):
        raise ValueError(f"data: has no numbers to draw ({data.attrs.get('summary') or 'no measure varies'})")
    if "member" in data.dims:
        return _bands(data, panels, fields)
    free = [name for name in fields if name in data.dims]
    if not free:
        raise ValueError("data: all fields are held; leave one free for the axis")
    return _lines(data, panels, free[0]) if len(free) == 1 else _maps(data, panels, free[0], free[1])


Part = tuple[str, "xr.DataArray"]  # name of a component of a measure, and its values over the fields


def sweep_fields(data: xr.Dataset) -> list[str]:
    """Return the names of the fields that vary, in order."""
    if "member" in data.dims:
        return [str(name) for name, each in data.coords.items() if each.dims == ("member",) and name != "member"]
    return [str(name) for name in data["status"].dims]


def _select_fixed(data: xr.Dataset, fields: Sequence[str], at: dict[str, Any]) -> xr.Dataset:
    """Select the data at fixed values of fields so that at most two fields are free."""
    for given, value in at.items():
        ends = [name for name in fields if name == given or name.endswith(f".{given}")]
        if len(ends) != 1 or ends[0] not in data.dims:
            known = [name for name in fields if name in data.dims]
            raise ValueError(f"at: {given!r} is no field that can be held{suggestion(given, known)}")
        column = data[ends[0]]
        try:
            data = data.sel({ends[0]: value}, method="nearest" if column.dtype.kind in "iuf" else None)
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"at: {given} = {shown(value)}: must be one of {shown(column.values.tolist())}") from None
    free = [name for name in fields if name in data.dims]
    return data.isel(dict.fromkeys(free[2:], 0)) if "member" not in data.dims else data


def _panels(data: xr.Dataset, quantity: Any) -> list[Part]:
    """Return the components to plot: those named, or a limited number of the default ones."""
    if quantity is None:
        found = [part for name in _default_measures(data) for part in _parts(data, name)]
        return ([part for part in found if _varies(part[1])] or found)[:MAX_PANEL_COUNT]
    names = [quantity] if isinstance(quantity, str) else quantity
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(each, str) for each in names):
        raise TypeError(f"quantity = {shown(quantity)}: must be the name of a measure, or several in a list")
    found, known = [], drawable_quantities(data)
    for name in names:
        parts = _parts(data, name) if name in _measures(data) else [(name, known[name])] if name in known else []
        if not parts:
            raise ValueError(f"quantity: there is no {name!r}{suggestion(name, [*_measures(data), *known])}")
        found += parts
    if len(found) > 4 * MAX_PANEL_COUNT:
        raise ValueError(
            f"quantity = {shown(quantity)}: has {len(found)} parts, and {4 * MAX_PANEL_COUNT} can be drawn; name some"
        )
    return found


def drawable_quantities(data: xr.Dataset) -> dict[str, xr.DataArray]:
    """Return all components of measures that can be plotted, by name."""
    return {label: part for name in _measures(data) for label, part in _parts(data, name)}


def default_quantity(data: xr.Dataset) -> str:
    """Return the name of the first component that is plotted by default."""
    return _panels(data, None)[0][0]


def _measures(data: xr.Dataset) -> list[str]:
    derived = ("_quantiles", "_first_order")
    return [
        str(name) for name, each in data.data_vars.items() if each.dtype.kind == "f" and not str(name).endswith(derived)
    ]


def _default_measures(data: xr.Dataset) -> list[str]:
    known = _measures(data)
    usual = [name for name in DEFAULT_MEASURES if name in known]
    others = [name for name in known if name not in usual and name not in SECONDARY_MEASURES]
    return usual if usual else others or known


def _parts(data: xr.Dataset, name: str) -> list[Part]:
    """Return the components of a measure by its links, axes or inputs."""
    return _split(name, data[name], [dim for dim in data[name].dims if dim not in data["status"].dims])


def _split(name: str, whole: xr.DataArray, dims: Iterable[Hashable]) -> list[Part]:
    """Split an array along dimensions into labelled components."""
    parts: list[Part] = [(name, whole)]
    for dim in dims:
        labels = whole[dim].values.tolist() if dim in whole.coords else list(range(whole.sizes[dim]))
        parts = [(f"{label}.{each}", part.isel({dim: k})) for label, part in parts for k, each in enumerate(labels)]
    return parts


def _varies(part: xr.DataArray) -> bool:
    values = part.values[np.isfinite(part.values)]
    return bool(values.size and np.ptp(values) > VARIATION_TOLERANCE * np.abs(values).max())


def _label(name: str, part: xr.DataArray, width: int = 18) -> str:
    unit = part.attrs.get("units") or (str(part["input_unit"].item()) if "input_unit" in part.coords else "")
    return fill(f"{name} ({unit})" if unit else name, width, break_long_words=False)


def _axis_label(data: xr.Dataset, field: str) -> str:
    unit = data[field].attrs.get("units", "")
    return f"{field} ({unit})" if unit not in ("", "1") else field


def _figure(count: int, data: xr.Dataset, columns: int, height: float = 2.4, width: float = 4.6) -> tuple[Picture, Any]:
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = Picture(figsize=(max(width * columns, 6.0), 0.9 + height * rows))
    plots = [figure.add_subplot(rows, columns, k + 1) for k in range(count)]
    failed = int((data["status"].values == "failed").sum() + (data["status"].values == "missing").sum())
    held = [
        f"{name} = {each.item():.4g}"
        for name, each in data.coords.items()
        if not each.dims and each.dtype.kind in "iuf"
    ]
    title = ", ".join([str(data.attrs.get("robot", "sweep")), *held])
    statistics = f"; statistics are {data.attrs['statistics']}" if "statistics" in data.attrs else ""
    title += f" ({failed} of {data['status'].size} members failed or are missing{statistics})" if failed else ""
    figure.suptitle(wrap_title(title, figure.get_figwidth()), fontsize=11)
    return figure, plots


def _lines(data: xr.Dataset, panels: Sequence[Part], field: str) -> Picture:
    figure, plots = _figure(len(panels), data, 1 if len(panels) <= 3 else 2, height=2.0)
    x = data[field].values
    for plot, (name, part) in zip(plots, panels, strict=True):
        places = _places(x)
        order = np.argsort(places, kind="stable")
        style: dict[str, Any] = {"color": LINE_STYLES[0][0], "linewidth": 1.2, "markersize": 3}
        plot.plot(places[order], part.values[order], marker="o" if len(x) <= 40 else "", **style)
        failed = places[~np.isfinite(part.values)]
        if len(failed):  # crosses on the lower edge
            low = np.full(len(failed), 0.03)
            plot.plot(failed, low, "x", color="0.6", markersize=4, transform=plot.get_xaxis_transform())
        _set_scale(plot.xaxis, plot.set_xscale, x)
        label_plot(plot, _axis_label(data, field), _label(name, part))
    figure.align_ylabels()
    return figure


def _places(values: Any) -> Array:
    """Return the positions of values on an axis; strings are numbered."""
    return np.arange(len(values), dtype=float) if values.dtype.kind in "UOb" else np.asarray(values, dtype=float)


def _set_scale(axis: Any, scale: Any, values: Any) -> None:
    """Set ticks at names or at a few values, and a logarithmic scale for a geometric sequence."""
    if values.dtype.kind in "UOb":
        axis.set_ticks(np.arange(len(values)), [escape_math(str(each)) for each in values])
        return
    if _is_geometric(values):
        scale("log")
    if len(values) <= MAX_TICK_COUNT:
        axis.set_ticks(values, [f"{each:.4g}" for each in values])
        axis.set_ticks([], minor=True)


def _is_geometric(values: Any) -> bool:
    """Return True if values are a geometric sequence over a wide range."""
    if len(values) < 3 or values.dtype.kind in "UOb" or min(values) <= 0:
        return False
    factors = np.diff(np.log(np.sort(np.asarray(values, dtype=float))))
    return bool(np.ptp(factors) < 0.01 * factors.mean() and factors.sum() >= np.log(MIN_LOG_SCALE_RATIO))


def _maps(data: xr.Dataset, panels: Sequence[Part], across: str, up: str) -> Picture:
    figure, plots = _figure(len(panels), data, 2, height=3.0)
    for plot, (name, part) in zip(plots, panels, strict=True):
        values = part.transpose(up, across).values
        edges = [_edges(data[field].values) for field in (across, up)]
        mesh = plot.pcolormesh(*edges, np.ma.masked_invalid(values), cmap="viridis", rasterized=True)
        plot.set_facecolor("0.85")  # members that failed
        _set_scale(plot.xaxis, plot.set_xscale, data[across].values)
        _set_scale(plot.yaxis, plot.set_yscale, data[up].values)
        figure.colorbar(mesh, ax=plot, label=escape_math(_label(name, part, 32)))
        plot.set(xlabel=escape_math(_axis_label(data, across)), ylabel=escape_math(_axis_label(data, up)))
    return figure


def _edges(values: Any) -> Array:
    """Return the edges of cells around values in any order."""
    x = _places(values)
    if len(x) == 1:
        return np.array([x[0] - 0.5, x[0] + 0.5])
    if _is_geometric(values):
        return np.asarray(np.exp(_edges(np.log(x))))
    middles = (x[1:] + x[:-1]) / 2
    return np.concatenate([[2 * x[0] - middles[0]], middles, [2 * x[-1] - middles[-1]]])


def _bands(data: xr.Dataset, panels: Sequence[Part], fields: Sequence[str]) -> Picture:
    """Plot members as points with bands of quantiles, a row for each measure and a column for each field.

    Like its statistics, the bands of an interrupted Monte Carlo study are those of its first members.
    """
    shown_fields = list(fields)[:4]
    drawn = random_sample(data) if data.attrs.get("kind") == "monte_carlo" else None
    count, columns = len(panels), len(shown_fields)
    figure, plots = _figure(count * columns, data, columns, width=3.9)
    for k, (name, part) in enumerate(panels):
        for column, field in enumerate(shown_fields):
            plot = plots[k * columns + column]
            _band(plot, np.asarray(data[field].values, dtype=float), np.asarray(part.values, dtype=float), drawn)
            if (share := _explained_variance(data, name, field)) is not None:
                plot.set_title(f"explains {100 * max(share, 0.0):.0f} %", fontsize=9)
            below = _axis_label(data, field) if k == count - 1 else ""
            label_plot(plot, below, "" if column else _label(name, part))
    figure.align_ylabels()
    if plots[0].get_legend_handles_labels()[1]:
        place_legend(figure, plots[0], "lower", ncols=3, fontsize=9)
    return figure


def _band(plot: Any, x: Array, y: Array, drawn: int | None) -> None:
    """Draw all members as points, and quantiles of the first `drawn` members (of all if None)."""
    good = np.isfinite(y)
    colour = LINE_STYLES[0][0]
    plot.plot(x[good], y[good], linestyle="", marker=".", markersize=2, color="0.6", rasterized=True, zorder=1)
    x, y = x[:drawn][good[:drawn]], y[:drawn][good[:drawn]]
    bins = min(MAX_BIN_COUNT, len(x) // MIN_BIN_MEMBER_COUNT)
    if bins < 2:
        return
    order = np.argsort(x, kind="stable")
    parts = np.array_split(order, bins)
    places = [float(np.median(x[part])) for part in parts]
    levels = np.array([np.quantile(y[part], (0.05, 0.25, 0.5, 0.75, 0.95)) for part in parts])
    plot.fill_between(places, levels[:, 0], levels[:, 4], color=colour, alpha=0.15, linewidth=0, label="5 to 95 %")
    plot.fill_between(places, levels[:, 1], levels[:, 3], color=colour, alpha=0.25, linewidth=0, label="25 to 75 %")
    plot.plot(places, levels[:, 2], color=colour, linewidth=1.2, label="median")


def _explained_variance(data: xr.Dataset, name: str, field: str) -> float | None:
    """Return the fraction of the variance of a component that a field explains, None if it is not known."""
    measure = max((each for each in _measures(data) if name == each or name.startswith(f"{each}.")), key=len)
    if f"{measure}_first_order" not in data:
        return None
    indices = data[f"{measure}_first_order"].sel(field=field)
    fractions = {label: float(part) for label, part in _split(measure, indices, indices.dims)}
    found = fractions.get(name, np.nan)
    return found if np.isfinite(found) else None
