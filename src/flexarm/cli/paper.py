"""`flexarm paper`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def paper(
    name: Annotated[str | None, typer.Argument(help="a study, or all; lists them unless given")] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="folder of the pages; made if need be")] = Path(
        "papers"
    ),
) -> None:
    """Compute a paper's numerical examples anew: a page, figures and data."""
    try:
        from flexarm_papers.progress import Steps
        from flexarm_papers.study import studies, study, write_index
    except ModuleNotFoundError as error:
        if error.name != "flexarm_papers":
            raise
        raise ValueError(ABSENT) from None

    if name is None:
        for each in studies():
            print(f"{each.name:<8} {each.paper} ({each.covers})")
        print("flexarm paper NAME runs one of them, flexarm paper all runs all")
        return
    chosen = studies() if name == "all" else [study(name)]
    if output.exists() and not output.is_dir():
        raise ValueError(f"--output {output}: is a file, not a folder")
    with Steps(sum(len(each.sections) for each in chosen)) as steps:
        pages = [each.run(output, steps) for each in chosen]
    if name == "all":
        pages.insert(0, write_index(output, chosen))
    print("pages in " + ", ".join(map(str, pages)))


ABSENT = (
    "the studies of the papers are not part of the installed package: they are run from the repository, whose folder "
    "studies/ holds them (make papers, or pip install --editable . there)"
)
