"""Resolve what a studio opens, read uploads of a browser, and encode files to be downloaded."""

from __future__ import annotations

import inspect
import math
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from flexarm.foundation.messages import describe_unknown, shown
from flexarm.results.netcdf import netcdf, read_netcdf, require_undamaged, warn_of_version
from flexarm.results.run import Run
from flexarm.robot import Robot
from flexarm.robot.io.files import yaml_text
from flexarm.robot.library import two_link_arm
from flexarm.simulation.simulate import simulate
from flexarm.studio.case import StudioCase
from flexarm.studio.server import MAX_FILE_BYTES
from flexarm.studio.sweeps import SweepResults, is_sweep

MAX_CONTENT_BYTES = 1_000_000_000  # uncompressed
SUFFIXES = (".yaml", ".yml", ".nc")


def read_upload(name: str, content: bytes) -> StudioCase | Run | SweepResults:
    """Read a robot file, a run or a sweep from a browser's upload.

    Nothing in the file is executed, and no other file is read.
    """
    ending = Path(name).suffix.lower()
    if ending not in SUFFIXES:
        raise ValueError(f"{shown(name)}: must be a robot (.yaml), or a run or a sweep (.nc)")
    if len(content) > MAX_FILE_BYTES:
        raise ValueError(oversize_message(name, len(content)))
    with tempfile.TemporaryDirectory(prefix="flexarm-studio-") as folder:
        path = Path(folder) / f"{safe_file_name(Path(name).stem)}{ending}"
        path.write_bytes(content)
        try:
            if ending == ".nc":
                _require_bounded(path)
                return read_results(path)
            found = StudioCase.from_file(path)
            _require_no_tables(found.plan, f"{path.name}: simulation")
        except (ValueError, OSError) as error:
            raise ValueError(str(error).replace(f"{folder}/", "")) from None
        return replace(found, file=path.name)


def _require_no_tables(node: Any, where: str) -> None:
    """Refuse tables: the names in an uploaded file would be looked up among the server's files."""
    if isinstance(node, Mapping):
        if isinstance(node.get("source"), (str, os.PathLike)):
            raise ValueError(
                f"{where}.source = {shown(node['source'])}: a file opened in the browser cannot refer to tables; "
                "open it with flexarm studio, or write the values into it"
            )
        for name, each in node.items():
            _require_no_tables(each, f"{where}.{name}")
    elif isinstance(node, (list, tuple)):
        for index, each in enumerate(node):
            _require_no_tables(each, f"{where}[{index}]")


def _require_bounded(path: Path) -> None:
    """Refuse NetCDF files with too many values (small files may be compressed) or links to other files.

    Files that are not HDF5 are left to the reader, which raises its own error.
    """
    import h5py

    if not h5py.is_hdf5(path):
        return
    require_undamaged(path)
    size_bytes = 0

    def count(group: Any) -> None:
        nonlocal size_bytes
        for name in group:
            link = group.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                raise ValueError(f"{path.name}: {name} leads to another file; only the file itself is read")
            if not isinstance(link, h5py.HardLink):
                continue  # a soft link within this file
            each = group[name]
            if isinstance(each, h5py.Group):
                count(each)
            elif isinstance(each, h5py.Dataset):
                if each.external or each.is_virtual:
                    raise ValueError(f"{path.name}: {name} is stored in another file; only the file itself is read")
                size_bytes += math.prod(each.shape or (0,)) * each.dtype.itemsize

    try:
        with h5py.File(path) as file:
            count(file)
    except ValueError:
        raise
    except Exception as error:  # includes recursive groups
        raise ValueError(f"{path.name}: cannot be read ({type(error).__name__})") from None
    if size_bytes > MAX_CONTENT_BYTES:
        raise ValueError(
            f"{path.name}: holds {size_bytes / 1e9:.3g} GB of numbers; "
            f"at most {MAX_CONTENT_BYTES / 1e9:.3g} GB can be opened"
        )


def read_results(path: str | os.PathLike[str]) -> Run | SweepResults:
    """Read a run or a sweep from a NetCDF file."""
    data = read_netcdf(path)
    if not is_sweep(data):
        return Run.load(path)
    warn_of_version(str(path), data.attrs)
    return SweepResults(data)


def resolve_start(robot: Any, options: Mapping[str, Any]) -> StudioCase | Run:
    """Return the case or the run that the arguments of `fa.studio` describe."""
    known = [name for name in inspect.signature(simulate).parameters if name not in ("robot", "progress")]
    for name in options:
        if name not in known:
            raise TypeError(describe_unknown(f"unknown option {name!r}", name, known))
    if robot is None:
        return StudioCase.from_robot(two_link_arm(damping=1e-3), options)
    if isinstance(robot, Robot):
        return StudioCase.from_robot(robot, options)
    if not isinstance(robot, (Run, str, os.PathLike)) or robot == "":
        raise TypeError(f"robot = {shown(robot)}: must be a Robot, a Run, or the name of a file (.yaml or .nc)")
    if isinstance(robot, Run) or Path(os.fsdecode(robot)).suffix.lower() == ".nc":
        if options:
            name = next(iter(options))
            raise TypeError(f"{name} = {shown(options[name])}: a run is already computed; give its robot instead")
        found = robot if isinstance(robot, Run) else read_results(robot)
        if isinstance(found, SweepResults):
            raise ValueError(
                f"{robot}: is a sweep, which does not contain its robot; give the robot, and this file as sweep"
            )
        return found
    case = StudioCase.from_file(os.fsdecode(robot))
    return StudioCase.from_robot(case.robot, options, case.file) if options else case


def resolve_sweep(sweep: Any, start: StudioCase | Run) -> SweepResults | None:
    """Return a sweep that matches the case, so that a page can show it."""
    if sweep is None:
        return None
    if isinstance(start, Run):
        raise TypeError("sweep: needs a robot to compute its members; give the robot instead of a run")
    if isinstance(sweep, (str, os.PathLike)):
        found = read_results(sweep)
        if not isinstance(found, SweepResults):
            raise ValueError(f"sweep = {os.fsdecode(sweep)!r}: is one run, not a sweep")
    else:
        found = SweepResults(sweep)
    start.with_(found.changes(0))  # raises for a sweep of another robot
    return found


def oversize_message(name: str, size: int) -> str:
    """Return the error message for a file of that size (bytes)."""
    return f"{shown(name)}: has {size / 1e6:.0f} MB; at most {MAX_FILE_BYTES / 1e6:.0f} MB can be opened"


def encode_yaml(case: StudioCase) -> str:
    """Return the robot, its simulation and its sweep as a robot file."""
    if not case.control.is_off:
        raise ValueError(
            "save as YAML: a file cannot contain shapers and controllers; switch them off, or save as Python"
        )
    section = case.section
    if section is None:
        raise ValueError(
            "save as YAML: a file cannot contain profiles and laws that are Python objects; save as Python"
        )
    return yaml_text(case.robot, section, case.sweep)


def encode_run(run: Run, ending: str) -> bytes:
    """Return a run as a file with the suffix `nc` or `csv`."""
    with tempfile.TemporaryDirectory(prefix="flexarm-studio-") as folder:
        path = Path(folder) / f"run.{ending}"
        (run.save if ending == "nc" else run.to_csv)(path)
        return path.read_bytes()


def encode_sweep(sweep: SweepResults) -> bytes:
    """Return a sweep as a NetCDF file, which the studio and `fa.plot_sweep` read."""
    return netcdf(sweep.data.drop_vars("run", errors="ignore"))


def safe_file_name(name: str) -> str:
    """Replace all characters of a file name that could lead to another folder."""
    return re.sub(r"[^\w-]", "_", name)[:60] or "file"
