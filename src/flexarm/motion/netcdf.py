"""Results as NetCDF4 files.

HDF5 that cannot finish a file on a full disk takes the whole program down, so that it only ever writes to memory.
"""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

from flexarm.foundation.sentences import cut, printable

if TYPE_CHECKING:
    import xarray as xr


def netcdf(data: xr.Dataset) -> bytes:
    """The Dataset as a NetCDF4 file. (`to_netcdf` without a path writes NetCDF3 in older versions of xarray.)"""
    import h5netcdf
    from xarray.backends import H5NetCDFStore

    memory = io.BytesIO()
    with h5netcdf.File(memory, "w") as file:
        data.dump_to_store(H5NetCDFStore(file), encoding={name: {"fletcher32": True} for name in _arrays(data)})
    return memory.getvalue()


def _arrays(data: xr.Dataset) -> list[str]:
    """Variables of numbers: HDF5 keeps a checksum of each block of theirs and finds damage when it reads them."""
    return [str(name) for name, each in data.variables.items() if each.dtype.kind == "f" and each.size]


def read_netcdf(path: str | os.PathLike[str]) -> xr.Dataset:
    """The Dataset in a file; whatever is wrong with it is said in a sentence."""
    import h5py
    import xarray as xr

    if not os.path.isfile(path):
        raise FileNotFoundError(f"{path}: {'is not a file' if os.path.exists(path) else 'there is no such file'}")
    try:
        with h5py.File(path):  # first alone: what reads it for xarray complains on stderr when this fails
            pass
        return xr.load_dataset(path, engine="h5netcdf")
    except Exception as error:  # a damaged file ends in any error, KeyError and RuntimeError among them
        raise ValueError(f"{path}: cannot be read as NetCDF ({cut(printable(str(error)), 300)})") from None
