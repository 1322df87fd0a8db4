"""Compare the errors of some 210 runs with rtol: `python benchmarks/tolerance.py`.

The error of a run is the largest distance of a link's root or tip from where it is in the reference, in units of what
is allowed: rtol times the length of all links. `--references` recomputes the references.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from tolerance_set import cases, measuring, references

HERE = Path(__file__).resolve().parents[1]
FAR = 3.0  # times the tolerance: a run beyond it should warn


@dataclass(frozen=True)
class Row:
    """What a method made of a case; the error in units of what is allowed."""

    name: str
    rtol: float
    error: float
    outcome: measuring.Outcome

    @property
    def silent(self) -> bool:
        """Far off, and not a word."""
        return self.error > FAR and not (self.outcome.warning or self.outcome.failure)

    def line(self) -> str:
        did = self.outcome
        said = did.failure or did.warning
        return (
            f"{self.name:<16}{self.rtol:>8.0e}{self.error:>10.3g}{did.steps:>9}{did.computed:>10}"
            f"{1e3 * did.loop:>10.1f}{did.leak:>10.1e}  {said[:70]}"
        )


HEAD = f"{'case':<16}{'rtol':>8}{'error':>10}{'steps':>9}{'computed':>10}{'loop ms':>10}{'leak':>10}  said"


def measured(name: str, options: dict[str, Any]) -> Row:
    wanted = cases.case(name)
    did = measuring.outcome(wanted, **options)
    return Row(name, wanted.rtol, did.distance(_known()[name].positions) / wanted.tolerance, did)


@cache
def _known() -> dict[str, references.Reference]:
    return {name: each for name, each in references.read().items() if not each.dropped}


def kept(kind: str | None = None) -> list[str]:
    """Cases that have a reference."""
    known = _known()
    return [name for name in cases.names(kind) if name in known]


def by_kind(names: Iterable[str]) -> list[list[str]]:
    """One process makes all of a kind: they share what is traced for them."""
    return [list(group) for _, group in groupby(names, key=lambda name: name.rsplit(" ", 1)[0])]


def _each(work: Callable[[str], Any], names: list[str]) -> list[Any]:
    return [work(name) for name in names]


def in_processes(work: Callable[[str], Any], names: Sequence[str], workers: int) -> list[Any]:
    groups = by_kind(names)
    with ProcessPoolExecutor(workers) as pool:
        return [each for group in pool.map(partial(_each, work), groups) for each in group]


COLUMNS = {"cases": 7, "within 1": 10, "within 3": 10, "median": 9, "worst": 9, "silent": 8, "loop ms": 10}


def _shares(name: str, rows: Sequence[Row]) -> str:
    """How many are within the tolerance."""
    errors = np.array([row.error for row in rows])
    cells = [f"{len(rows)}", f"{np.mean(errors <= 1):.1%}", f"{np.mean(errors <= FAR):.1%}"]
    cells += [f"{np.median(errors):.2g}", f"{errors.max():.3g}", f"{sum(row.silent for row in rows)}"]
    cells += [f"{sum(1e3 * row.outcome.loop for row in rows):.0f}"]
    return f"{name:<16}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, COLUMNS.values(), strict=True))


def summary(rows: Sequence[Row]) -> str:
    """Shares within the tolerance by kind and of all, and who is far off."""
    lines = [f"{'kind':<16}" + "".join(f"{name:>{width}}" for name, width in COLUMNS.items())]
    found = {row.name: row for row in rows}
    for names in by_kind(found):
        lines.append(_shares(names[0].rsplit(" ", 1)[0], [found[name] for name in names]))
    lines.append(_shares("all", rows))
    silent = sorted((row for row in rows if row.silent), key=lambda row: -row.error)
    if silent:
        lines += [f"beyond {FAR:g} times the tolerance without a warning:"]
        lines += [f"  {row.name} ({row.error:.3g})" for row in silent]
    failed = [f"  {row.name}: {row.outcome.failure}" for row in rows if row.outcome.failure]
    return "\n".join([*lines, *(["failed:", *failed] if failed else [])])


def make_references(kind: str | None, workers: int) -> None:
    wanted = cases.names(kind)
    made = dict(zip(wanted, in_processes(references.reference, wanted, workers), strict=True))
    before = references.read() if references.FILE.exists() else {}
    references.write({name: (before | made)[name] for name in cases.names() if name in before | made})
    dropped = {name: each.dropped for name, each in made.items() if each.dropped}
    print(f"{len(made) - len(dropped)} references, {len(dropped)} cases dropped")
    print("\n".join(f"  {name}: {why}" for name, why in dropped.items()))


def elsewhere(checkout: Path, arguments: Sequence[str]) -> list[Row]:
    """The same cases with another checkout of flexarm, in a process of its own."""
    if not (checkout / "src" / "flexarm").is_dir():  # an installed package would be measured in its place
        raise SystemExit(f"{checkout}: has no src/flexarm")
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, str(Path(__file__).resolve()), "--json", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{checkout}: the program failed\n{done.stderr}")
    rows = json.loads(done.stdout.splitlines()[-1])
    return [Row(**(row | {"outcome": measuring.Outcome(**row["outcome"])})) for row in rows]


def compared(here: Sequence[Row], there: Sequence[Row]) -> str:
    lines = [f"{'case':<16}{'rtol':>8}{'error':>10}{'there':>10}{'loop ms':>10}{'there':>10}"]
    for one, other in zip(here, there, strict=True):
        times = f"{1e3 * one.outcome.loop:>10.1f}{1e3 * other.outcome.loop:>10.1f}"
        lines.append(f"{one.name:<16}{one.rtol:>8.0e}{one.error:>10.3g}{other.error:>10.3g}{times}")
    return "\n".join([*lines, "", "here:", summary(here), "", "there:", summary(there)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", help="as fa.simulate takes it; its default unless given")
    parser.add_argument("--kind", choices=cases.kinds(), help="cases of this kind only")
    parser.add_argument("--against", type=Path, metavar="PATH", help="another checkout, set beside this one")
    parser.add_argument("--references", action="store_true", help="find the references anew")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.references:
        make_references(given.kind, given.workers)
        return
    options = {} if given.method is None else {"method": given.method}
    rows = in_processes(partial(measured, options=options), kept(given.kind), given.workers)
    if given.json:
        print(json.dumps([asdict(row) for row in rows]))
    elif given.against is not None:
        asked = {"--method": given.method, "--kind": given.kind, "--workers": str(given.workers)}
        arguments = [word for name, value in asked.items() if value is not None for word in (name, value)]
        print(compared(rows, elsewhere(given.against.resolve(), arguments)))
    else:
        print("\n".join([HEAD, *(row.line() for row in rows), "", summary(rows)]))


if __name__ == "__main__":
    main()
