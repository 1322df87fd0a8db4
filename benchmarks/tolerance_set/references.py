"""Reference positions of the links at the end of each case: computed by two methods, stored if they agree.

Every number of a case is also changed by a hundredth of its rtol: if that moves an end by more than the tolerance, the
case is ill-conditioned and tells nothing about methods.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tolerance_set.cases import Case, case
from tolerance_set.measuring import Outcome, outcome

FILE = Path(__file__).with_name("references.json")
AGREE = 0.1  # of the tolerance
SENSITIVE = 1.0  # of the tolerance, for numbers changed by a hundredth of rtol
LIMIT = 60.0  # s for a run


@dataclass(frozen=True)
class Way:
    """A method with an rtol that is this share of the case's, or with steps of dt (s)."""

    method: str
    share: float = 1.0
    dt: float | None = None

    def words(self, rtol: float) -> str:
        return f"{self.method} at {self.share * rtol:.0e}" if self.dt is None else f"{self.method}, dt = {self.dt:g} s"

    def run(self, wanted: Case) -> Outcome:
        return outcome(wanted, limit=LIMIT, method=self.method, rtol=self.share * wanted.rtol, dt=self.dt)


# in the order in which they are tried
TRIED = (
    Way("rk45", 1e-3),
    Way("esdirk", 1e-2),
    Way("esdirk", 1e-3),
    Way("rk45", 1e-2),
    Way("bdf", 1e-5),
    Way("generalized-alpha", 1e-2),
)
FAST = ("chirps", "fast sines", "pulses")  # inputs that two adaptive methods might both overlook
EVEN = (Way("rk45", dt=5e-5), Way("esdirk", dt=1e-4), Way("esdirk", dt=2e-5))


@dataclass(frozen=True)
class Reference:
    """Positions (m) of root and tip of every link at the end; `dropped` says why there are none."""

    positions: list[list[float]]
    found: str = ""
    agreement: float = 0.0  # of the tolerance: how far the other method is away
    condition: float = 0.0  # by how much more the ends move than numbers change, relative to the robot's length
    dropped: str = ""


def read() -> dict[str, Reference]:
    return {name: Reference(**fields) for name, fields in json.loads(FILE.read_text()).items()}


def write(references: dict[str, Reference]) -> None:
    rows = (f"{json.dumps(name)}: {json.dumps(_plain(each))}" for name, each in references.items())
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


def _plain(reference: Reference) -> dict[str, Any]:
    return {key: value for key, value in vars(reference).items() if value not in ("", 0.0)}


def reference(name: str) -> Reference:
    """Of a case, with what two methods found."""
    wanted, said = case(name), []
    tried: dict[Way, Outcome] = {}
    for way in EVEN if name.rsplit(" ", 1)[0] in FAST else TRIED:
        found = way.run(wanted)
        if found.failure:
            said.append(f"{way.words(wanted.rtol)}: {found.failure}")
            continue
        for other, before in tried.items():
            apart = before.distance(found.positions) / wanted.tolerance
            how = f"{other.words(wanted.rtol)}, {way.words(wanted.rtol)}"
            said.append(f"{apart:.2g} between {how}")
            if other.method != way.method and apart < AGREE:
                return _checked(name, other, before, how, apart)
        tried[way] = found
    return Reference([], dropped=f"no two methods agree ({'; '.join(said)})")


def _checked(name: str, way: Way, found: Outcome, how: str, apart: float) -> Reference:
    wanted = case(name)
    changed = case(name, stretch=wanted.rtol / 100)
    moved = way.run(changed).distance(found.positions) / wanted.tolerance
    condition = float(f"{100 * moved:.3g}")
    if moved > SENSITIVE:
        return Reference([], condition=condition, dropped=f"ill-conditioned: {condition} times what numbers change by")
    return Reference(found.positions, how, float(f"{apart:.2g}"), condition)
