"""A study: what a paper computes, section by section, and how it is run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from flexarm.dynamics.accuracy.validity import ValidityWarning
from flexarm.foundation.files import write_text
from flexarm_papers.page import Page

if TYPE_CHECKING:
    from flexarm_papers.progress import Steps

NAMES = ("my", "spatial", "bien", "moolam", "pan")  # the files of this room that hold a study


@dataclass(frozen=True)
class Study:
    """A paper's numerical examples.

    name: as on the command line.
    paper: authors, title, where and when, as far as is known.
    covers: which of its figures are made.
    sections: each computes its results and tells them on the page, in the paper's order.
    short: authors and year, for the page's title and the site's menu; the whole citation unless given.
    """

    name: str
    paper: str
    covers: str
    sections: tuple[Callable[[Page], None], ...]
    short: str = ""

    @property
    def title(self) -> str:
        return f"{self.short or self.paper}, recomputed"

    def run(self, folder: Path, steps: Steps) -> Path:
        """Write the study's page, figures and data into FOLDER/name."""
        page = Page(folder / self.name, self.title)
        if self.short:
            page.text(f"The paper: {self.paper}.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ValidityWarning)  # the page tells how far its robots bend, and why
            for section in self.sections:
                steps.next(f"{self.name}: {section.__name__.replace('_', ' ')}")
                section(page)
        return page.write()


def study(name: str) -> Study:
    """A study by name."""
    if name not in NAMES:
        from flexarm.foundation.messages import suggestion

        raise ValueError(f"there is no study '{name}'{suggestion(name, [*NAMES, 'all'])}")
    found: Study = import_module(f"flexarm_papers.{name}").STUDY
    return found


def studies() -> list[Study]:
    return [study(name) for name in NAMES]


def write_index(folder: Path, chosen: Iterable[Study]) -> Path:
    """The list of the studies, with links to their pages."""
    lines = [f"- [{each.name}]({each.name}/index.md): {each.paper} ({each.covers})" for each in chosen]
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *map(_entry, chosen), "```"])
    words = "\n\n".join(["# The papers, recomputed", INTRODUCTION, "\n".join(lines), toctree]) + "\n"
    write_text(folder / "index.md", words)
    return folder / "index.md"


def _entry(each: Study) -> str:
    """Of the site's menu."""
    return f"{each.short or each.paper} <{each.name}/index>"


INTRODUCTION = """These pages recompute every numerical example of the five papers that flexarm is built on.
`flexarm paper NAME` runs one study and `flexarm paper all` runs all of them. Each study writes a page, its figures and,
in `data/`, its results as NetCDF. The papers' own figures were not available, and each paper omits some of its inputs.
So the printed numbers and the statements of the texts are compared, not curves. Each page lists what the paper reports,
what it omits and what was chosen instead, what is changed on purpose, and what is found.

Each statement is evaluated with the paper's own model and against its own reference: *yes*, *no* with the evidence, or
*cannot be decided* with what would decide it. There are two exceptions. The Canadarm2 paper's model (first order plus
foreshortening) is not available for spatial robots, so its statements about that arm are evaluated with the zero-order,
the second-order and the exact model, and *yes* means yes in all three. Of Pan et al. the comparisons with four elements
are also shown with the paper's equation (16); statements about push and pull, shortening and amplitudes are evaluated
with our nonlinear model. Where our model differs from the paper's, the page also shows what ours gives."""
