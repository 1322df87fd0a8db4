"""Compare control with exact and published results: `python benchmarks/control_benchmarks.py` (or `make bench`).

Writes docs/control_benchmarks.md with its figures; `--only PART` prints a part and writes nothing. About a minute.
Exact answers are those of tests/oracles. Not named control.py: a script's folder is searched first, and python-control,
which designs use, would not be found.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for tests.oracles

from control_set import costs, hub_and_tip, inversion, shaping, two_link_arm, two_masses
from control_set.part import Part, Row
from flexarm.plotting.style import Picture, draw_grid
from page import table

DOCS = Path(__file__).resolve().parents[1] / "docs"
PARTS: dict[str, Callable[[], Part]] = {
    "linear": hub_and_tip.part,
    "shapers": shaping.part,
    "pd": two_link_arm.part,
    "masses": two_masses.part,
    "inversion": inversion.part,
    "costs": costs.part,
}
FIGURES = {"control_models.png": ("linear", "shapers"), "control_loops.png": ("pd", "masses", "inversion")}
WORDS = {True: "yes", False: "**no**", None: ""}


def draw(panels: list[Callable[..., None]], path: Path) -> None:
    """Two in a row."""
    count = -(-len(panels) // 2)
    figure = Picture(figsize=(11.5, 4.2 * count))
    for plot, panel in zip(figure.subplots(count, 2).flat, panels):
        panel(plot)
        draw_grid(plot)
    figure.savefig(path, dpi=100)


def listed(rows: list[Row], heads: tuple[str, str, str] = ("requirement", "result", "holds")) -> str:
    return table(heads, [(row.asked, row.found, WORDS[row.holds]) for row in rows])


def summary(parts: dict[str, Part]) -> str:
    asked = [row for part in parts.values() for row in part.rows if row.holds is not None]
    missed = [row.asked for row in asked if not row.holds]
    if not missed:
        return f"All {len(asked)} requirements hold."
    return f"{len(asked) - len(missed)} of {len(asked)} requirements hold. Not held: {'; '.join(missed)}."


def written(parts: dict[str, Part]) -> str:
    tables = {name: listed(part.rows) for name, part in parts.items() if name != "costs"}
    costly = listed(parts["costs"].rows, ("loop", "cost", "holds"))
    return PAGE.format(summary=summary(parts), **tables, costs=costly)


PAGE = """\
# Benchmarks of control

This page compares linear models, shapers, feedback and inversion with exact and published results. `python
benchmarks/control_benchmarks.py` (part of `make bench`) measures them, draws the figures and writes all numbers of the
tables. Rows with an empty last column are for comparison and have no requirement.

{summary}

## Linear models

A uniform beam of 1 kg, 1 m, EI = 1 N m2 on a hub of 0.1 kg m2, 24 splines of degree 5, against the roots of the
transcendental equations (`tests/oracles/beam_on_hub.py`); numbers are relative errors. The chirp runs through
`fa.library.rotating_beam` with 2 % damping, in ten seconds and two of silence, and is read by `run.frf` at all
frequencies, peaks and valleys included. A, B, C, D are those of the two-link arm held in equilibrium under gravity.

{linear}
![Poles and zeros, responses, sensitivity of shapers, a shaped motion](images/control_models.png)

## Shapers

Insensitivity is for an undamped vibration, at 5 % of the residual vibration of an unshaped command; published widths to
5e-4. The two-link arm moves by 0.2 and 0.3 rad in 2.5 s, its first mode at the middle of the motion is shaped, and
`run.residual` is the residual vibration.

{shapers}
## PD of De Luca and Siciliano's arm

`fa.library.de_luca_siciliano_arm` moves from rest by a step of 0.5 rad of both joints. These high gains nearly clamp
the joints, and a joint that does not move dissipates no vibration energy. All poles are in the left half plane, but the
settling time depends on the damping of the links, which the problem does not specify; here it is Kelvin-Voigt damping.
Joint 2 acts on the slope of link 1, which has little inertia of its own at its tip: a digital PD with these gains
requires a high sample rate.

{pd}
## Wie and Bernstein's two masses

The force acts on the first mass, the position of the second is measured, and a unit impulse hits it. "Settled" means
within 0.1 m. The compensator is that of `examples/17_two_masses.py`, designed by `fa.robust_lqg` for eight springs and
tested with 31.

{masses}
## Inversion

A steel strip of 1 m with 0.2 kg at its tip makes a quarter of a turn in one second by `fa.minimum_jerk`, with torques
of `fa.invert` for two modes, in a simulation by `fa.simulate`. Errors are the largest distance of the tip from its
path, as a share of the path's length (1.57 m).

{inversion}
![Settling of an arm under PD, two masses, torque and tip of an inversion](images/control_loops.png)

## Cost of a control loop

The task is the arm of De Luca and Siciliano for 1 s under a PD of both joints (20 and 5 N m/rad, 3 and 0.2 N m s/rad),
with steps of 1 ms of the implicit method of order 5. Times are processor times, the least of several rounds, with all
loops in turn in the same run and compiled before; ratios are more reliable than times. A compiled law has no period;
others hold their torque for 1 ms, so tips differ.

{costs}"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare control with exact and published results.")
    parser.add_argument("--only", choices=PARTS, help="print this part, and write nothing")
    wanted = parser.parse_args()
    parts = {}
    for name in [wanted.only] if wanted.only else PARTS:
        parts[name] = PARTS[name]()
        print(f"\n{name}")
        for row in parts[name].rows:
            print(f"  {row.asked}: {row.found}  {WORDS[row.holds]}", flush=True)
    print(f"\n{summary(parts)}")
    if not wanted.only:
        for name, shown in FIGURES.items():
            draw([panel for each in shown for panel in parts[each].panels], DOCS / "images" / name)
        (DOCS / "control_benchmarks.md").write_text(written(parts))


if __name__ == "__main__":
    main()
