"""Where a sweep keeps its members as they finish, and finds them when it is called again.

`sweep.nc` is written when all is done; until then `sweep.nc.part` beside it has a line for each member. A folder has
both inside, and with `keep="runs"` the histories.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flexarm.foundation.files import write_bytes
from flexarm.foundation.sentences import shown
from flexarm.motion.netcdf import netcdf, read_netcdf
from flexarm.motion.run import Run
from flexarm.sweeps.fingerprint import differences
from flexarm.sweeps.journal import Journal
from flexarm.sweeps.member import Outcome

if TYPE_CHECKING:
    import xarray as xr

IN_FOLDER = "sweep.nc"
RUNS = "runs"


class Store:
    """The files of one sweep; whatever is there of another one stays as it is."""

    def __init__(self, path: Path, folder: bool, fingerprint: dict[str, str]) -> None:
        self.named, self.folder = path, folder
        self.file = path / IN_FOLDER if folder else path
        self.fingerprint = fingerprint
        self.journal = Journal(self.file.with_name(self.file.name + ".part"))

    def finished(self) -> xr.Dataset | None:
        """The results, if this sweep is done already; a ValueError if another one is kept here."""
        if self.file.exists():
            data = read_netcdf(self.file)
            self._require_own(_read(data.attrs.get("fingerprint")))
            return data
        head = self.journal.head()
        if head is not None:
            self._require_own(head.get("fingerprint"))
        elif self.journal.path.exists() and self.journal.path.stat().st_size and not self._unborn():
            self._require_own(None)
        return None

    def begin(self) -> Iterator[Outcome]:
        """Make ready to keep members; those that are there come back."""
        if self.folder:
            self.named.mkdir(exist_ok=True)
        return self.journal.begin({"fingerprint": self.fingerprint})

    def keep(self, outcome: Outcome) -> None:
        """The history first: a member whose line is there has one."""
        if outcome.run is not None:
            (self.named / RUNS).mkdir(exist_ok=True)
            outcome.run.save(self._run(outcome.number))
        self.journal.write(outcome)

    def run(self, number: int) -> Run | None:
        return Run.load(self._run(number)) if self._run(number).exists() else None

    def finish(self, data: xr.Dataset) -> None:
        """All is done: the results in one file, and the journal gone."""
        write_bytes(self.file, netcdf(data.assign_attrs(fingerprint=json.dumps(self.fingerprint))))
        self.journal.remove()

    def close(self) -> None:
        self.journal.close()

    def _run(self, number: int) -> Path:
        return self.named / RUNS / f"{number:07d}.nc"

    def _unborn(self) -> bool:
        """A journal whose very first line was being written when its program was killed."""
        content = self.journal.path.read_bytes()
        return b"\n" not in content and b'"flexarm sweep"' in content

    def _require_own(self, found: Any) -> None:
        if not isinstance(found, dict):
            raise ValueError(f"store = {str(self.named)!r}: what is there is no sweep of flexarm; it is left alone")
        if found != self.fingerprint:
            raise ValueError(
                f"store = {str(self.named)!r}: belongs to another sweep, which differs in "
                f"{differences(found, self.fingerprint)}; it is left alone: take another name, or remove it"
            )


def store_of(given: Any, fingerprint: dict[str, str], keeps_runs: bool) -> Store:
    """The store that `store=` names: a .nc file, or a folder."""
    if not isinstance(given, (str, os.PathLike)) or not os.fspath(given) or "\0" in os.fsdecode(given):
        raise TypeError(f"store = {shown(given)}: must be the name of a file, 'sweep.nc', or of a folder")
    path = Path(os.fsdecode(given))
    folder = path.is_dir() or path.suffix == ""
    if not folder and path.suffix.lower() != ".nc":
        raise ValueError(f"store = {str(path)!r}: must end in .nc, or be a folder: results are NetCDF")
    if keeps_runs and not folder:
        raise ValueError(f"store = {str(path)!r}: histories need a folder; take store={str(path.with_suffix(''))!r}")
    if folder and path.exists() and not path.is_dir():
        raise ValueError(f"store = {str(path)!r}: is a file; name one that ends in .nc, or a folder")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"store = {str(path)!r}: there is no folder '{path.parent}'")
    return Store(path, folder, fingerprint)


def _read(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return None
