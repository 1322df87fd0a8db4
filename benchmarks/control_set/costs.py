"""Cost of a control loop: the same PD of two joints at 1 kHz, run in several ways."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import flexarm as fa
import stepping
from control_set.part import Part, Row

PERIOD, END = 1e-3, 1.0  # s
KP, KD, GOAL = {"upper": 20.0, "fore": 5.0}, {"upper": 3.0, "fore": 0.2}, {"upper": 0.3, "fore": 0.3}


def loops(system: fa.System) -> dict[str, Callable[[], np.ndarray]]:
    """Each runs for a second and gives where the tip is then."""
    fixed = {"dt": PERIOD, "sample": 0.01, "method": "esdirk", "progress": False}
    laws = {rate: fa.pd(system, KP, KD, GOAL, rate=rate) for rate in (None, 1 / PERIOD)}
    sim = fa.Simulation(system, PERIOD, method="esdirk")

    def run(law: Any, **options: Any) -> np.ndarray:
        return np.asarray(fa.simulate(system, END, torque=law, **options).array("tip")[-1])

    def own(t: float, q: Any, v: Any) -> list[float]:
        return [KP[name] * (GOAL[name] - q[f"{name}.q"]) - KD[name] * v[f"{name}.q"] for name in GOAL]

    def by_hand() -> np.ndarray:
        sim.reset()
        for _ in range(round(END / PERIOD)):
            sim.step(own(sim.t, sim.q, sim.v))
        return np.array(sim.tip)

    return {
        "no law: a constant torque": lambda: run({"upper": 0.1, "fore": 0.1}, **fixed),
        "compiled law": lambda: run(laws[None], **fixed),
        "compiled law, steps by rtol 1e-4": lambda: run(laws[None], sample=0.01, progress=False),
        "digital law at 1 kHz": lambda: run(laws[1 / PERIOD], **fixed),
        "user-defined digital law at 1 kHz": lambda: run(fa.Feedback(own, rate=1 / PERIOD), **fixed),
        "`fa.Simulation`, stepped by hand at 1 kHz": by_hand,
    }


def part(rounds: int = 7) -> Part:
    arm = fa.library.de_luca_siciliano_arm(damping=0.03)
    system = fa.System(arm)
    ways = loops(system)
    tips = {name: way() for name, way in ways.items()}  # and compiles
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():  # in turns: what slows the machine down slows all of them
            start = time.process_time()
            way()
            times[name].append(time.process_time() - start)
    least = {name: min(each) for name, each in times.items()}
    unit = least["compiled law"]
    rows = []
    for name, each in least.items():
        apart = float(np.linalg.norm(tips[name] - tips["compiled law"]))
        said = f"{each / unit:.2f} times the compiled law"
        if not name.startswith("no law"):
            said += f"; tip {1e3 * apart:.1g} mm from it" if apart else f" ({1e3 * unit:.1f} ms for 1000 steps of 1 ms)"
        rows.append(Row(name, said))
    step, _, raw, _ = stepping.measured(arm, "esdirk", repeats=max(3, rounds * 5))
    added = step - raw
    asked = f"`sim.step` adds at most {stepping.MOST:g} us to its machine code"
    rows.append(Row(asked, f"{added:.1f} us in addition to {raw:.1f} us", bool(added <= stepping.MOST)))

    def panel(plot: Any) -> None:
        names = list(least)[::-1]
        plot.barh([name.replace("`", "") for name in names], [least[name] / unit for name in names], color="#0b3c5d")
        plot.set(xlabel="processor time, compiled law = 1", title="1 s of a two-link arm, PD of both joints")

    return Part(rows, [panel])
