"""Time and results of a link's integrals, for links of many kinds: `python benchmarks/integrals.py`.

`--against CHECKOUT` runs another checkout of the package on the same links, in turns with this one, and tells how much
faster this one is and how far their results are apart.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import flexarm as fa
from flexarm.beam.foreshortening import DISPLACEMENT_PRODUCTS, ROTATION_PRODUCTS, SecondOrderBlocks
from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.section_nodes import LinkNodes
from flexarm.beam.sliding_integrals import SlidingIntegrals

HERE = Path(__file__).resolve().parent.parent
ROUNDS = 3  # of the two checkouts
SECONDS = 0.4  # for each kind in a turn, at least five times

BAR = fa.Section.rectangle(0.02, 0.03)
THIN = fa.Section.rectangle(0.01, 0.02)
MATERIAL = fa.Material(7e10, 2700, damping=1e-4)
TAPER = fa.Section.tapered(BAR, THIN)
STEPS = fa.Section.stepped([{"upto": 0.4, "section": BAR}, {"upto": 1.0, "section": THIN}])
SPATIAL = {"bend_y": 3, "bend_z": 3, "twist": 2, "stretch": 2}


def link(section: fa.Section = BAR, rotary: bool = False, **flexible: Any) -> fa.Link:
    return fa.Link(
        "link", 0.8, section=section, material=MATERIAL, flexible=fa.Flexible(**flexible), rotary_inertia=rotary
    )


KINDS: dict[str, tuple[type[LinkIntegrals], fa.Link]] = {
    "rigid": (LinkIntegrals, fa.Link("link", 0.8, section=BAR, material=MATERIAL)),
    "2 modes": (LinkIntegrals, link(bend_y=2)),
    "5 modes": (LinkIntegrals, link(bend_y=5)),
    "10 modes": (LinkIntegrals, link(bend_y=10)),
    "3+3+2+2 modes": (LinkIntegrals, link(**SPATIAL)),
    "3+3+2+2 modes, rotary inertia": (LinkIntegrals, link(rotary=True, **SPATIAL)),
    "10 elements": (LinkIntegrals, link(bend_y=10, basis="elements")),
    "50 elements": (LinkIntegrals, link(bend_y=50, basis="elements")),
    "20 elements reduced to 4 modes": (LinkIntegrals, link(bend_y=4, basis=fa.Reduced(20))),
    "the same, Craig-Bampton": (LinkIntegrals, link(bend_y=4, basis=fa.Reduced(20, interface="fixed"))),
    "taper, 3 modes": (LinkIntegrals, link(TAPER, bend_y=3)),
    "taper, 3+3+2+2 modes": (LinkIntegrals, link(TAPER, **SPATIAL)),
    "taper, 10 elements": (LinkIntegrals, link(TAPER, bend_y=10, basis="elements")),
    "steps, 3 modes": (LinkIntegrals, link(STEPS, bend_y=3)),
    "steps, 3+3+2+2 modes": (LinkIntegrals, link(STEPS, **SPATIAL)),
    "sliding, 3 modes": (SlidingIntegrals, link(bend_y=3)),
    "sliding, 3+3+2+2 modes": (SlidingIntegrals, link(**SPATIAL)),
    "3 modes, nodes of stiffening 'exact'": (LinkIntegrals, link(bend_y=3, stiffening="exact")),
}
PLAIN = ("m", "c0", "g0", "a", "b", "j", "section_inertia", "M", "M_elastic", "K", "D", "sizes")
CONVECTED = ("a_c", "b_c", "M_c", "M_cc", "convected_damping")


def everything(kind: str) -> dict[str, Any]:
    """All that the equations ask of a link, computed anew."""
    family, described = KINDS[kind]
    integrals = family(described)
    found: dict[str, Any] = {name: getattr(integrals, name) for name in PLAIN}
    for name, x in (("middle", integrals.length / 3), ("tip", integrals.length)):
        station = integrals.station(x)
        found[name] = {"U": station.U, "W": station.W}
    if isinstance(integrals, SlidingIntegrals):
        found |= {name: getattr(integrals, name) for name in CONVECTED}
        found |= {f"turning{row}": dict(enumerate(integrals.turning(row))) for row in range(3)}
        found["convected_damping"] = {
            f"{name} {k}": part for name, parts in found["convected_damping"].items() for k, part in enumerate(parts)
        }
    if integrals.stiffening == "shortening":
        found |= of_second_order(integrals)
    if integrals.stiffening == "exact":
        nodes = LinkNodes(integrals)
        pieces = {f"{k} {name}": getattr(each, name) for k, each in enumerate(nodes.pieces) for name in ("beta", "B")}
        found["nodes"] = pieces | {"tip": nodes.weights(integrals.length)}
    return found


def of_second_order(integrals: LinkIntegrals) -> dict[str, Any]:
    """Moments of the displacements, displacements and angles at the tip."""
    forms = SecondOrderBlocks(integrals)
    found: dict[str, Any] = {}
    for k, each in forms.present(DISPLACEMENT_PRODUCTS):
        found[f"moved {k}"] = {f"{power}": forms.moment(each, power) for power in (0, 1)}
        found[f"moved {k}"]["tip"] = forms.at(each, integrals.length)
    found["turned"] = {f"{k}": forms.at(each, integrals.length) for k, each in forms.present(ROTATION_PRODUCTS)}
    return found


def milliseconds(kind: str) -> float:
    """The quickest of many calls: whatever else the machine does only adds to it."""
    everything(kind)
    times: list[float] = []
    while sum(times) < SECONDS or len(times) < 5:
        start = time.perf_counter()
        everything(kind)
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def measure(results: Path) -> None:
    """Times and results of the package that is imported here, into a file."""
    found: dict[str, Any] = {}
    for kind in KINDS:
        found[f"{kind}/ms"] = milliseconds(kind)
        for name, value in everything(kind).items():
            parts = value if isinstance(value, dict) else {"": value}
            found |= {f"{kind}/{name} {part}": each for part, each in parts.items()}
    np.savez(results, **found)


def measured(checkout: Path) -> dict[str, np.ndarray]:
    """The same of some checkout, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.npz"
        environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
        subprocess.run([sys.executable, __file__, "--into", str(results)], env=environment, check=True)
        with np.load(results) as found:
            return dict(found)


def apart(kind: str, ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> float:
    """The largest difference of any entry, beside the largest entry of its array."""
    gaps = [0.0]
    for name in ours:
        if name.startswith(f"{kind}/") and not name.endswith("/ms") and np.any(theirs[name]):
            gaps.append(float(np.abs(ours[name] - theirs[name]).max() / np.abs(theirs[name]).max()))
    return max(gaps)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the integrals of links of many kinds.")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout of the package")
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.into:
        measure(options.into)
        return
    checkouts = [HERE] if options.against is None else [HERE, options.against.resolve()]
    if missing := [str(each) for each in checkouts if not (each / "src" / "flexarm").is_dir()]:
        parser.error(f"{missing[0]} is no checkout of the package: it has no src/flexarm")
    turns = [[measured(each) for each in checkouts] for _ in range(ROUNDS)]
    print(f"{'kind of link':<38}{'ms':>8}" + (f"{'against':>10}{'ratio':>8}{'apart':>10}" if options.against else ""))
    for kind in KINDS:
        best = [min(float(turn[k][f"{kind}/ms"]) for turn in turns) for k in range(len(checkouts))]
        line = f"{kind:<38}{best[0]:>8.2f}"
        if options.against:
            line += f"{best[1]:>10.2f}{best[1] / best[0]:>8.1f}{apart(kind, *turns[0]):>10.1e}"
        print(line)


if __name__ == "__main__":
    main()
