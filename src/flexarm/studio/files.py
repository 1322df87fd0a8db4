"""What a page keeps and opens: robots, runs and tables as bytes with a name."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from flexarm.foundation.messages import shown
from flexarm.results.netcdf import netcdf, read_netcdf, require_undamaged, warn_of_version
from flexarm.results.run import Run
from flexarm.robot.io.files import yaml_text
from flexarm.studio.case import StudioCase
from flexarm.studio.server import LARGEST
from flexarm.studio.sweep_members import SweepResults, is_sweep

INSIDE = 1_000_000_000  # bytes of numbers in such a file
ENDINGS = (".yaml", ".yml", ".nc")


def opened(name: str, content: bytes) -> StudioCase | Run | SweepResults:
    """A robot file, a run or a sweep, from what a browser sent. Nothing in it is executed, no other file is read."""
    ending = Path(name).suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"{shown(name)}: must be a robot (.yaml), or a run or a sweep (.nc)")
    if len(content) > LARGEST:
        raise ValueError(too_large(name, len(content)))
    with tempfile.TemporaryDirectory(prefix="flexarm-studio-") as folder:
        path = Path(folder) / f"{plain_name(Path(name).stem)}{ending}"
        path.write_bytes(content)
        try:
            if ending == ".nc":
                _require_bounded(path)
                return results(path)
            found = StudioCase.of_file(path)
            _require_no_tables(found.plan, f"{path.name}: simulation")
        except (ValueError, OSError) as error:
            raise ValueError(str(error).replace(f"{folder}/", "")) from None
        return replace(found, file=path.name)


def _require_no_tables(node: Any, where: str) -> None:
    """A file from a browser is alone: what it names would be looked for among the files of the server."""
    if isinstance(node, Mapping):
        if isinstance(node.get("source"), (str, os.PathLike)):
            raise ValueError(
                f"{where}.source = {shown(node['source'])}: a file that came through the browser finds no tables; "
                "open it by flexarm studio, or write the numbers into it"
            )
        for name, each in node.items():
            _require_no_tables(each, f"{where}.{name}")
    elif isinstance(node, (list, tuple)):
        for index, each in enumerate(node):
            _require_no_tables(each, f"{where}[{index}]")


def _require_bounded(path: Path) -> None:
    """A small file can hold many numbers, packed, and lead to other files; one that is no HDF5 is told of by whoever
    reads it."""
    import h5py

    if not h5py.is_hdf5(path):
        return
    require_undamaged(path)
    inside = 0

    def count(group: Any) -> None:
        nonlocal inside
        for name in group:
            link = group.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                raise ValueError(f"{path.name}: {name} leads to another file, and none is read from here")
            if not isinstance(link, h5py.HardLink):
                continue  # another name of something in this file
            each = group[name]
            if isinstance(each, h5py.Group):
                count(each)
            elif isinstance(each, h5py.Dataset):
                if each.external or each.is_virtual:
                    raise ValueError(f"{path.name}: {name} is kept in another file, and none is read from here")
                inside += math.prod(each.shape or (0,)) * each.dtype.itemsize

    try:
        with h5py.File(path) as file:
            count(file)
    except ValueError:
        raise
    except Exception as error:  # also groups that hold themselves
        raise ValueError(f"{path.name}: cannot be read ({type(error).__name__})") from None
    if inside > INSIDE:
        raise ValueError(
            f"{path.name}: holds {inside / 1e9:.3g} GB of numbers; at most {INSIDE / 1e9:.3g} are opened here"
        )


def results(path: str | os.PathLike[str]) -> Run | SweepResults:
    """What a NetCDF file has: a run, or many."""
    data = read_netcdf(path)
    if not is_sweep(data):
        return Run.load(path)
    warn_of_version(str(path), data.attrs)
    return SweepResults(data)


def too_large(name: str, size: int) -> str:
    """What is said of a file of so many bytes."""
    return f"{shown(name)}: has {size / 1e6:.0f} MB; at most {LARGEST / 1e6:.0f} are opened here"


def yaml_file(case: StudioCase) -> bytes:
    """Robot and simulation as a robot file."""
    if not case.control.off:
        raise ValueError(
            "save as YAML: shapers and controllers cannot stand in a file; switch them off, or copy as Python"
        )
    section = case.section
    if section is None:
        raise ValueError(
            "save as YAML: profiles and laws that are Python objects cannot stand in a file; copy as Python"
        )
    return yaml_text(case.robot, section, case.sweep).encode()


def run_file(run: Run, ending: str) -> bytes:
    """A run as .nc or .csv."""
    with tempfile.TemporaryDirectory(prefix="flexarm-studio-") as folder:
        path = Path(folder) / f"run{ending}"
        if ending == ".nc":
            run.save(path)
        else:
            run.to_csv(path)
        return path.read_bytes()


def sweep_file(sweep: SweepResults) -> bytes:
    """A sweep as .nc, which is opened here and by `fa.plot_sweep`."""
    return netcdf(sweep.data.drop_vars("run", errors="ignore"))


def plain_name(name: str) -> str:
    """Of a file, which leads nowhere else."""
    return re.sub(r"[^\w-]", "_", name)[:60] or "file"
