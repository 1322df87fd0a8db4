"""A study: what a paper computes, section by section, and how it is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from flexarm.foundation.files import write_text
from flexarm_papers.page import Page

if TYPE_CHECKING:
    from flexarm_papers.progress import Steps

NAMES = ("my", "spatial", "bien", "moolam", "pan")  # the files of this room that hold a study


@dataclass(frozen=True)
class Study:
    """A paper's numerical examples.

    name: as on the command line.
    paper: authors, title, where and when.
    covers: which of its figures are made.
    sections: each computes its results and tells them on the page, in the paper's order.
    """

    name: str
    paper: str
    covers: str
    sections: tuple[Callable[[Page], None], ...]

    def run(self, folder: Path, steps: Steps) -> Path:
        """Write the study's page, figures and data into FOLDER/name."""
        page = Page(folder / self.name, self.paper)
        for section in self.sections:
            steps.next(f"{self.name}: {section.__name__.replace('_', ' ')}")
            section(page)
        return page.write()


def study(name: str) -> Study:
    """A study by name."""
    if name not in NAMES:
        from flexarm.foundation.sentences import suggestion

        raise ValueError(f"there is no study '{name}'{suggestion(name, [*NAMES, 'all'])}")
    found: Study = import_module(f"flexarm_papers.{name}").STUDY
    return found


def studies() -> list[Study]:
    return [study(name) for name in NAMES]


def write_index(folder: Path, chosen: Iterable[Study]) -> Path:
    """The list of the studies, with links to their pages."""
    lines = [f"- [{each.name}]({each.name}/index.md): {each.paper} ({each.covers})" for each in chosen]
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *(f"{each.name}/index" for each in chosen), "```"])
    words = "\n\n".join(["# The papers, reproduced", INTRODUCTION, "\n".join(lines), toctree]) + "\n"
    write_text(folder / "index.md", words)
    return folder / "index.md"


INTRODUCTION = """Every numerical example of the five papers that flexarm is built on, computed anew:
`flexarm paper NAME` runs one study, `flexarm paper all` all of them, and writes these pages, their figures and, in
`data/`, the results as NetCDF. Each page says what the paper reports, what is found here, and what had to be chosen
because the paper leaves it out. Where a paper's statement does not hold, the page says so, with the evidence."""
