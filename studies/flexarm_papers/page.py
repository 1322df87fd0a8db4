"""The page of a study: text, tables, figures and data, written in the order in which they are told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

from flexarm.foundation.files import write_bytes, write_text
from flexarm.results.netcdf import netcdf
from flexarm.results.run import Run

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

DPI = 130
COLOURS = 64  # of a picture: lines and letters need no more, and files are a third as large


class Page:
    """`FOLDER/index.md`, its figures beside it and its data in `FOLDER/data`. `write()` comes last."""

    def __init__(self, folder: Path, title: str) -> None:
        self.folder = folder
        self.data_folder = folder / "data"
        self.data_folder.mkdir(parents=True, exist_ok=True)
        self._parts = [f"# {title}"]

    def text(self, words: str) -> None:
        """Markdown, indented as the program is."""
        self._parts.append(dedent(words).strip())

    def heading(self, words: str) -> None:
        self._parts.append(f"## {words}")

    def table(self, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        lines = [head, ["---"] * len(head), *rows]
        self._parts.append("\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines))

    def chosen(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """What the paper leaves out: (what, our value, why)."""
        self._parts.append("What the paper leaves out, and what was chosen:")
        self.table(["missing", "chosen", "why"], rows)

    def changed(self, rows: list[tuple[str, str, str]]) -> None:
        """What is computed otherwise than the paper does, on purpose: (what the paper has, what is done here, why)."""
        self._parts.append("What we change on purpose:")
        self.table(("the paper", "here", "why"), rows)

    def statements(self, rows: Iterable[tuple[str, str, bool | None]]) -> None:
        """What the paper states, what is found here, and whether that agrees: computed, not written by hand.

        None: what is at hand does not decide it; what would is told with what is found.
        """
        self._parts.append("What the paper states, and what is found here:")
        verdicts = {True: "yes", False: "**no**", None: "cannot be decided"}
        marked = [(said, found, verdicts[None if holds is None else bool(holds)]) for said, found, holds in rows]
        self.table(["the paper", "found here", "agrees"], marked)

    def figure(self, name: str, picture: Figure, caption: str) -> None:
        """`name`.png with a caption below it."""
        write_bytes(self.folder / f"{name}.png", png(picture))
        self._parts.append(f"![{caption}]({name}.png)\n\n*{caption}*")

    def data(self, name: str, results: Run | xr.Dataset) -> None:
        """`data/name.nc`."""
        data = results.data if isinstance(results, Run) else results
        write_bytes(self.data_folder / f"{name}.nc", netcdf(data))

    def write(self) -> Path:
        target = self.folder / "index.md"
        words = "\n\n".join(self._parts) + "\n"
        write_text(target, words)
        return target


def png(picture: Figure) -> bytes:
    """A picture as a file of few colours."""
    from PIL import Image

    drawn, file = BytesIO(), BytesIO()
    picture.savefig(drawn, format="png", dpi=DPI)
    with Image.open(drawn) as full:
        full.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(file, format="png", optimize=True)
    return file.getvalue()


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", r"\|")
