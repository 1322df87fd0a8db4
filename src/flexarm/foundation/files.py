"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def atomically(path: Path, write: Callable[[str], object]) -> None:
    """Write beside the place and move there in one step: no half-written file, the earlier one intact on failure."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {path.parent}")
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        part = os.path.join(folder, path.name)  # a file of its own making has the permissions that the user wants
        write(part)
        os.replace(part, path)
