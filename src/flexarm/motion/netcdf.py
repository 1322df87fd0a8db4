"""Results as the bytes of a NetCDF4 file.

HDF5 that cannot finish a file on a full disk takes the whole program down, so that it only ever writes to memory.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr


def netcdf(data: xr.Dataset) -> bytes:
    """The Dataset as a NetCDF4 file. (`to_netcdf` without a path writes NetCDF3 in older versions of xarray.)"""
    import h5netcdf
    from xarray.backends import H5NetCDFStore

    memory = io.BytesIO()
    with h5netcdf.File(memory, "w") as file:
        data.dump_to_store(H5NetCDFStore(file))
    return memory.getvalue()
