"""Measure the overhead of a step of `Simulation` over its machine code: `python benchmarks/stepping.py`.

For each robot, along the same motion from rest, in turns and side by side: `sim.step(torque)`; the same machine code
called with nothing around it ("raw": its result is copied to where the next call starts, and the time of such a copy
taken off again); and a step of `fa.simulate`'s own, 250 in a call. Times are the processor's; of each the fastest of
many rounds counts. The difference of the first two is what Python adds; that of the last two is a call for each step
and what a held step does more: its checks, and a restart where the torque jumps ("jumping": at every step, which is
another motion).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from itertools import count

import numpy as np

import flexarm as fa
from flexarm.integrators.group_inputs import GroupInputs
from flexarm.integrators.inputs import Schedule
from flexarm.integrators.registry import METHODS
from flexarm.integrators.step_runner import CompiledStepper
from flexarm.simulation.options import tolerance_of
from robots import planar_chain

DT = 1e-3  # s
STEPS = CHUNK = 250  # a round
TORQUE = 1e-3  # N m
MOST = 5.0  # microseconds that Python may add
ROBOTS = {
    "one rigid link": lambda: planar_chain(1).rigid(),
    "two links, 3 modes each": lambda: fa.library.two_link_arm(),
    "RRR arm": lambda: fa.library.rrr_arm(),
    "ten links, 3 modes each": lambda: planar_chain(10),
}


def rounds(functions: list[Callable[[], float]], repeats: int) -> list[float]:
    """The least time (s) of each, all of them called in turns."""
    return [min(each) for each in zip(*([function() for function in functions] for _ in range(repeats)), strict=True)]


def timed(call: Callable[[], object], before: Callable[[], object] = lambda: None) -> Callable[[], float]:
    def one_round() -> float:
        before()
        start = time.thread_time()
        for _ in range(STEPS):
            call()
        return (time.thread_time() - start) / STEPS

    return one_round


def of_simulate(system: fa.System, method: str) -> Callable[[], float]:
    """A step of the run's own stepper."""
    schedule, tolerance = Schedule(system, None, None, ()), tolerance_of(system.robot, 1e-4, 0.0, 1.0)
    stepper = CompiledStepper(schedule.plant(), METHODS[method](), CHUNK, True, schedule.given)
    at, rest = stepper.plant.layout, np.zeros(system.nq)
    schedule = Schedule(system, [TORQUE] * system.nu, None, ())
    inputs = GroupInputs([schedule], stepper.plant, stepper.lanes)
    state = at.at_rest(rest, rest)
    state[at.a] = state[at.aux] = stepper.accelerations(rest, rest, schedule.inputs(np.zeros(1))[0])
    stepper.set_bounds(tolerance, True, 0.0)
    stepper.begin_stretch(0.0, inputs)
    control = stepper.driver.control

    def one_round() -> float:
        stepper.states[0, :, 0] = state
        control.t, control.stop, control.dt, control.longest = 0.0, CHUNK * DT, DT, np.inf
        control.most_steps = control.most_attempts = CHUNK
        control.patience, control.previous = np.inf, 0.0
        start = time.thread_time()
        for _ in stepper.drive(lambda: None):
            pass
        return (time.thread_time() - start) / control.steps

    return one_round


def measured(robot: fa.Robot, method: str, repeats: int) -> list[float]:
    """Microseconds of a step: by hand, by hand with torques that jump, raw, in a run."""
    system = fa.System(robot)
    sim = fa.Simulation(system, DT, method=method, native=True)
    torques = [np.full(system.nu, value) for value in (TORQUE, -TORQUE)]
    turn, stepper = count(), sim._stepper

    def copy() -> None:
        stepper.before[:] = stepper.after

    def carried() -> None:
        stepper.raw()
        stepper.before[:] = stepper.after

    def begun() -> None:
        sim.reset()
        stepper.inputs[:, :, stepper.plant.input_places[1]] = TORQUE

    functions = [
        timed(lambda: sim.step(torques[0]), sim.reset),
        timed(lambda: sim.step(torques[next(turn) % 2]), sim.reset),
        timed(carried, begun),
        of_simulate(system, method),
        timed(copy, begun),
    ]
    step, jumping, raw, run, copied = (1e6 * each for each in rounds(functions, repeats))
    return [step, jumping, raw - copied, run]


def main() -> None:
    parser = argparse.ArgumentParser(description="What a step by hand costs beside the machine code that it calls.")
    parser.add_argument("--rounds", type=int, default=100, help="of which the fastest counts")
    parser.add_argument("--robot", choices=ROBOTS, help="only this one")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore", fa.ValidityWarning)
    print(
        f"{'robot':<26}{'method':<20}{'step':>8}{'raw':>8}{'added':>8}{'ratio':>7}{'jumping':>9}{'in a run':>10}   us"
    )
    added = []
    for name, robot in ROBOTS.items():
        for method in ("esdirk", "generalized-alpha") if wanted.robot in (None, name) else ():
            step, jumping, raw, run = measured(robot(), method, wanted.rounds)
            added.append(step - raw)
            print(
                f"{name:<26}{method:<20}{step:>8.2f}{raw:>8.2f}{step - raw:>8.2f}{step / raw:>7.2f}{jumping:>9.2f}"
                f"{run:>10.2f}",
                flush=True,
            )
    print(f"Python adds {max(added):.2f} us at most ({MOST:g} are allowed)")


if __name__ == "__main__":
    main()
