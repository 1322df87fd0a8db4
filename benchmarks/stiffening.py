"""Estimated and true error of second-order links in space: `python benchmarks/stiffening.py`.

Every robot is simulated with the models "shortening" and "exact". The true error is the largest distance between the
two tips, the estimate that of `run.statistics["stiffening"]`, both as shares of the peak deflection of a link.
`--write` replaces the table on docs/deflection.md.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import flexarm as fa
from page import table

PAGE = Path(__file__).resolve().parents[1] / "docs" / "deflection.md"
BEGIN, END = "<!-- estimate -->\n", "<!-- end of estimate -->"
STEEL = fa.Material(E=2.1e11, rho=7850)
ARMS: dict[str, dict[str, Any]] = {
    "6.6 mm, 0.5 kg": {"side": 0.0066, "payload": 0.5},
    "6.6 mm, 0.2 kg": {"side": 0.0066, "payload": 0.2},
    "5 mm, 0.1 kg": {"side": 0.005, "payload": 0.1},
    "8 mm, 0.5 kg, damped": {"side": 0.008, "payload": 0.5, "damping": fa.Damping(0.02)},
}
DURATIONS = (0.6, 0.75, 0.9, 1.1, 1.4)  # s, of the minimum-jerk moves
END_TIME = 1.5  # s


def arm(model: str, side: float, payload: float, damping: fa.Damping | None = None) -> fa.Robot:
    """Two links in space under gravity, 0.5 and 0.4 m long, with a square section."""
    flexible = fa.Flexible(bend_y=2, bend_z=2, twist=1, stiffening=model, damping=damping)  # type: ignore[arg-type]
    fields: dict[str, Any] = {"section": fa.Section.rectangle(side, side), "material": STEEL, "flexible": flexible}
    fore = fa.Link("fore", 0.4, fa.Revolute("y"), payload=fa.PointMass(payload), **fields)
    return fa.Robot(links=[fa.Link("upper", 0.5, fa.Revolute("z"), **fields), fore], gravity=(0, 0, -9.81))


def run(model: str, move: float, **fields: Any) -> fa.Run:
    motion = {"upper": fa.minimum_jerk(0, 1.2, move), "fore": fa.minimum_jerk(0, -0.8, move)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ValidityWarning)
        return fa.simulate(
            arm(model, **fields), END_TIME, motion=motion, q0="equilibrium", rtol=1e-6, sample=0.0015, progress=False
        )


def rows() -> list[list[str]]:
    found = []
    for name, fields in ARMS.items():
        for move in DURATIONS:
            second, exact = run("shortening", move, **fields), run("exact", move, **fields)
            bent = np.linalg.norm(exact.array("deflection")[..., 1:], axis=-1).max(axis=0)
            true = np.linalg.norm(second.array("tip") - exact.array("tip"), axis=1).max() / bent.max()
            estimate = max(second.statistics["stiffening"]["estimated_error"].values())
            share = max(bent / [0.5, 0.4])
            found.append([name, f"{move:g} s", f"{share:.1%}", f"{true:.2%}", f"{estimate:.2%}"])
            print(*found[-1], sep="  ", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Estimated and true error of second-order links in space.")
    parser.add_argument("--write", action="store_true", help="replace the table on docs/deflection.md")
    wanted = parser.parse_args()
    found = table(["section, payload", "moves within", "bends by", "true error", "estimate"], rows())
    if wanted.write:
        text = PAGE.read_text()
        begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        PAGE.write_text(text[:begin] + found + text[end:])


if __name__ == "__main__":
    main()
