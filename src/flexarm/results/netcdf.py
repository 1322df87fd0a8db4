"""Results as NetCDF4 files.

HDF5 ends the program if it cannot complete a file on a full disk: it writes to memory only.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm._version import __version__
from flexarm.foundation.messages import escape_unprintable, shorten, warn
from flexarm.results.step_history import StepHistory

if TYPE_CHECKING:
    import xarray as xr

NODE_RATES = ("node_q", "node_v", "node_a")
DIGEST_MARK = b"\nflexarm sha256 "  # stands behind a file, where HDF5 does not look; then 64 hexadecimal digits
NODE_ENERGIES = ("node_work", "node_dissipated", "node_power", "node_loss_power")


def with_nodes(data: xr.Dataset, nodes: StepHistory) -> xr.Dataset:
    """The Dataset of a run with its steps, along a dimension of their own."""
    parts = nodes.motions(data.sizes["coordinate"])  # a law's states are known at samples
    variables = {name: (("node", "coordinate"), part) for name, part in zip(NODE_RATES, parts, strict=True)}
    scalars = dict(zip(NODE_ENERGIES, nodes.rows[:, -4:].T, strict=True)) | {"node_time": nodes.times}
    out = data.assign(variables | {name: (("node",), values) for name, values in scalars.items()})
    out["node_time"].attrs = {"units": "s", "order": nodes.order}
    return out


def without_nodes(data: xr.Dataset) -> tuple[xr.Dataset, StepHistory | None]:
    """The Dataset as users see it, and the steps, if they are in it."""
    names = ("node_time", *NODE_RATES, *NODE_ENERGIES)
    if not all(name in data for name in names) or "order" not in data["node_time"].attrs:
        return data, None
    times, *parts = (np.asarray(data[name].values, dtype=float) for name in names)
    return data.drop_vars(names), StepHistory(times, np.column_stack(parts), int(data["node_time"].attrs["order"]))


def netcdf(data: xr.Dataset) -> bytes:
    """Return the Dataset as a NetCDF4 file with a digest behind it.

    `to_netcdf` without a path writes NetCDF3 in older versions of xarray.
    """
    import h5netcdf
    from xarray.backends import H5NetCDFStore

    memory = io.BytesIO()
    with h5netcdf.File(memory, "w") as file:
        data.dump_to_store(H5NetCDFStore(file), encoding={name: _encoding(data[name]) for name in _arrays(data)})
    content = memory.getvalue()
    return content + DIGEST_MARK + hashlib.sha256(content).hexdigest().encode()


def _encoding(variable: xr.DataArray) -> dict[str, bool]:
    """Steps are packed, since they are many and few read them."""
    return {"fletcher32": True} | ({"zlib": True, "shuffle": True} if "node" in variable.dims else {})


def _arrays(data: xr.Dataset) -> list[str]:
    """Variables of numbers: HDF5 keeps a checksum of each block of theirs and finds damage when it reads them."""
    return [str(name) for name, each in data.variables.items() if each.dtype.kind == "f" and each.size]


def read_netcdf(path: str | os.PathLike[str]) -> xr.Dataset:
    """Read the Dataset of a file; raise ValueError with the reason if that is impossible."""
    import h5py
    import xarray as xr

    if not os.path.isfile(path):
        name = str(path) or repr(path)
        raise FileNotFoundError(f"{name}: {'is not a file' if os.path.exists(path) else 'there is no such file'}")
    require_undamaged(path)
    try:
        with h5py.File(path):  # first alone: what reads it for xarray complains on stderr when this fails
            pass
        return xr.load_dataset(path, engine="h5netcdf")
    except Exception as error:  # a damaged file ends in any error, KeyError and RuntimeError among them
        raise ValueError(f"{path}: cannot be read as NetCDF ({shorten(escape_unprintable(str(error)), 300)})") from None


def warn_of_version(name: str, attributes: Mapping[Any, Any]) -> None:
    """Warn if the results called `name` were computed by another version of flexarm."""
    version = attributes.get("version", __version__)
    if version != __version__:
        warn(
            f"{name} was written by flexarm {version}; this is {__version__}, and results of another version may have "
            "another meaning here",
            UserWarning,
        )


def require_undamaged(path: str | os.PathLike[str]) -> None:
    """Raise a ValueError if a file differs from its digest.

    HDF5 may never return from a damaged file, so this is called before it opens one. Files without a digest (of earlier
    versions, of other programs, or changed in place, which cuts it off) are not checked.
    """
    tail = len(DIGEST_MARK) + 64
    with open(path, "rb") as file:
        left = file.seek(0, os.SEEK_END) - tail
        if left < 0:
            return
        file.seek(max(left - tail, 0))
        last = file.read()
        mark, expected = last[-tail:][: len(DIGEST_MARK)], last[-64:]
        if mark != DIGEST_MARK and DIGEST_MARK in last:
            raise ValueError(f"{path}: is damaged: its end was cut off, or something was added to it")
        if mark != DIGEST_MARK:
            return
        file.seek(0)
        digest = hashlib.sha256()
        while left and (block := file.read(min(left, 1 << 20))):
            digest.update(block)
            left -= len(block)
    if digest.hexdigest().encode() != expected:
        raise ValueError(f"{path}: is damaged: its content differs from the digest that it was written with")
