"""Compare shapes and methods for W3, the undamped spatial arm under step torques: `python benchmarks/frontier.py`.

Here shapes make errors as well as steps. Errors are told from two fine discretisations of the same arm, which are not
the same themselves: their distance is what "right" means. `--plot` writes docs/images/precision_w3_frontier.png.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import flexarm as fa
import precision
import work
from flexarm.integrators.registry import METHODS
from peers import flexarm_models
from w3_shapes import Shapes, elements, fine, reduced

REPEATS = 5

REFERENCES: dict[str, tuple[Shapes, dict[str, Any]]] = {
    "8 elements": (elements(8, 4), {"method": "rk4", "dt": 1.5e-5}),
    "8 modes": (fine(), {"method": "dop853", "rtol": 1e-5}),
}
SHAPES: dict[str, Shapes] = {
    "2 elements": elements(2, 2),
    "4 elements": elements(4, 2),
    "2, 2 and 2 modes": reduced(2, 2, 2),
    "2, 3 and 3 modes": reduced(2, 3, 3),
    "2, 4 and 4 modes": reduced(2, 4, 4),
    "2, 6 and 4 modes": reduced(2, 6, 4),
}
BY_TOLERANCE: list[dict[str, Any]] = [
    *({"method": "esdirk", "rtol": rtol} for rtol in (1e-2, 3e-3, 1e-3, 3e-4)),
    {"method": "dop853", "rtol": 1e-2},
    {"method": "generalized-alpha", "rtol": 1e-2},
]
STABLE = 2.5  # times the fastest period over 2 pi: longest step of rk4
TODAY = 1e-4  # s: of rk4 with four elements, the cheapest way before


@dataclass(frozen=True)
class Way:
    shapes: str
    method: str
    setting: float
    errors: tuple[float, ...]  # from each reference, m
    steps: int
    instructions: int
    loop: float

    @property
    def error(self) -> float:
        return max(self.errors)

    def line(self) -> str:
        far = "".join(f"{1e3 * error:>12.2f}" for error in self.errors)
        return (
            f"{self.shapes:<20}{self.method:<20}{self.setting:<9.2g}{far}{self.steps:>8}"
            f"{1e-6 * self.instructions:>10.0f}{1e3 * self.loop:>10.1f}"
        )


def simulated(shapes: Shapes, native: Any = True, **options: Any) -> fa.Run:
    flexarm_models.native = native
    return flexarm_models.rrr_arm(shapes, False, **options)


def fixed_steps(name: str) -> list[float]:
    arm = fa.library.rrr_arm().with_({f"links.{k}.flexible": each for k, each in enumerate(SHAPES[name])})
    stable = STABLE / (2 * np.pi * fa.modes(arm).frequencies.max())
    return [stable, *([TODAY] if name == "4 elements" else [])]


def tried(name: str, options: dict[str, Any], references: Sequence[np.ndarray]) -> Way:
    runs = [simulated(SHAPES[name], **options) for _ in range(REPEATS)]
    tip = runs[-1].array("tip")
    errors = tuple(float(np.linalg.norm(tip - each, axis=1).max()) for each in references)
    method, *setting = options.values()
    counted = work.executed(partial(simulated, SHAPES[name], **_without_method(options)), METHODS[method]())
    loop = min(run.statistics["loop_time"] for run in runs)
    steps = runs[-1].statistics["computed"]
    return Way(name, method, setting[0], errors, steps, counted["instructions"], loop)


def _without_method(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name != "method"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", action="store_true", help="write docs/images/precision_w3_frontier.png")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    references = [simulated(shapes, **options).array("tip") for shapes, options in REFERENCES.values()]
    apart = float(np.linalg.norm(references[0] - references[1], axis=1).max())
    print(f"the references ({', '.join(REFERENCES)}) are {1e3 * apart:.2f} mm apart")
    far = "".join(f"{name:>12}" for name in REFERENCES)
    print(f"{'shapes':<20}{'method':<20}{'setting':<9}{far}{'steps':>8}{'M instr':>10}{'loop ms':>10}")
    ways = []
    for name in SHAPES:
        for options in [*BY_TOLERANCE, *({"method": "rk4", "dt": dt} for dt in fixed_steps(name))]:
            ways.append(tried(name, options, references))
            print(ways[-1].line(), flush=True)
    if given.plot:
        import pictures

        pictures.frontier(ways, apart, precision.IMAGES / "precision_w3_frontier.png")


if __name__ == "__main__":
    main()
