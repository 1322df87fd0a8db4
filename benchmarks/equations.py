"""What the equations of motion cost: `python benchmarks/equations.py` (or `make bench`).

Instruction counts are deterministic and asserted in tests/dynamics/test_equations.py. Times depend on the machine:
read them as ratios within one run.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

import flexarm as fa
from flexarm.beam.foreshortening import DISPLACEMENT_PRODUCTS, SecondOrderBlocks
from flexarm.beam.integrals import LinkIntegrals
from flexarm.codegen.compiler import find_compiler
from robots import planar_chain, sliding_pair, spatial_chain


def median(work: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def instruction_counts() -> None:
    print("CasADi instructions")
    print(f"{'robot':<32}{'nq':>5}{'inverse':>10}{'forward':>10}{'M':>10}{'trace s':>10}")
    rows = {f"{n} planar links, 3 modes each": planar_chain(n) for n in (2, 5, 10, 20, 50)}
    rows |= {f"{n} spatial links, 12 modes each": spatial_chain(n) for n in (1, 2, 5, 10)}
    inverse = {}
    for name, robot in rows.items():
        start = time.perf_counter()
        system = fa.System(robot, native=False)
        inverse[name] = system.casadi["inverse_dynamics"].n_instructions()
        traced = time.perf_counter() - start
        counts = [system.casadi[f].n_instructions() for f in ("forward_dynamics", "mass_matrix")]
        print(f"{name:<32}{system.nq:>5}{inverse[name]:>10}{counts[0]:>10}{counts[1]:>10}{traced:>10.3f}")
    names = list(inverse)
    print(f"20 planar links cost {inverse[names[3]] / inverse[names[0]]:.2f} times 2 planar links")


def sliding() -> None:
    print("\ninverse dynamics with prismatic joints, 3 modes in every part, against R-R with as many coordinates")
    for kind, modes in (("Pa", 3), ("Pb", 6)):  # a link that slides through its joint has modes on both sides of it
        pair = [fa.System(robot, native=False) for robot in (sliding_pair(kind), sliding_pair("R", modes))]
        here, there = (system.casadi["inverse_dynamics"].n_instructions() for system in pair)
        print(f"  R-{kind}: nq {pair[0].nq}, {here} instructions, {here / there:.2f} times R-R's {there} (limit 3.0)")


def evaluation() -> None:
    print("\ninverse dynamics per evaluation, batch of 20 000 (us)")
    if find_compiler() is None:
        print("no C compiler: virtual machine only")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FLEXARM_CACHE"] = cache
        for name, robot in (("2 planar links", planar_chain(2)), ("5 spatial links", spatial_chain(5))):
            times = {}
            for kind in (True, False):
                system = fa.System(robot, native=kind)
                q, v, a = np.random.default_rng(0).normal(size=(3, 20_000, system.nq)) * 1e-3
                start = time.perf_counter()
                system.inverse_dynamics(q[0], v[0], a[0])
                first = time.perf_counter() - start

                def work(system=system, q=q, v=v, a=a):
                    return system.inverse_dynamics(q, v, a)

                times[kind] = median(work, 3) / 20_000 * 1e6
                if kind:
                    compiled = first
            print(
                f"  {name}: compiled {times[True]:.2f}, virtual machine {times[False]:.2f}; first call {compiled:.2f} s"
            )


def importing() -> None:
    def seconds(code: str) -> float:
        return median(lambda: subprocess.run([sys.executable, "-c", code], check=True), 9)

    bare = seconds("import numpy, casadi")
    print(f"\nimport numpy, casadi takes {bare:.3f} s; as multiples of it:")
    for code in ("import flexarm", "import flexarm; flexarm.Robot", "import flexarm; flexarm.System"):
        print(f"  {code}: {seconds(code) / bare:.2f}")


def beams() -> None:
    def integrals() -> None:
        link = LinkIntegrals(
            fa.Link(
                "beam",
                1.0,
                section=fa.Section.rectangle(0.01, 0.02),
                material=fa.Material(7e10, 2700),
                flexible=fa.Flexible(bend_y=200, basis="elements"),
            )
        )
        shortening = [SecondOrderBlocks(link).moment(DISPLACEMENT_PRODUCTS[0], power) for power in (0, 1)]
        assert all(part is not None for part in (link.a, link.b, link.M, *shortening, link.K, link.D))

    print(f"all integrals of a link with 200 elements (400 coordinates): {median(integrals, 3):.3f} s")


if __name__ == "__main__":
    instruction_counts()
    sliding()
    evaluation()
    importing()
    beams()
