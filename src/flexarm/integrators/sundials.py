"""SUNDIALS' CVODES through CasADi: Adams and BDF methods of variable order and step size.

Steps of this `Stepper` are the intervals between samples; inside, CVODES chooses its own steps, and the inputs are
polynomials through their values at the nodes.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
from numpy.polynomial import legendre

from flexarm.codegen.driver import LARGEST_STATE, TIME_SLACK, Driver, DriverStatus
from flexarm.codegen.evaluator import Evaluator, SharedFunction
from flexarm.codegen.library import building
from flexarm.codegen.loops import Runner
from flexarm.foundation.validation import Array
from flexarm.integrators.compiled_step import Report, report
from flexarm.integrators.plant import Plant, PlantParameters
from flexarm.integrators.step_runner import InitialAccelerations
from flexarm.integrators.stepper import ScalarStepper

MOST_INTERVALS = 250  # in one call of CVODES
MAX_STORED_INTEGRATORS = 8  # integrators of different structures, tolerances, ...

_made: OrderedDict[tuple[object, ...], tuple[Plant, ca.Function, Callable[[], ca.Function]]] = OrderedDict()

INPUT_NODES = tuple(((1 - np.cos(np.pi * np.arange(9) / 8)) / 2).tolist())  # at which the inputs are polynomials


class SundialsStepper(ScalarStepper):
    """Up to `capacity` intervals of CVODES in one call; `kind` is "adams" or "bdf"."""

    explicit = softens = False
    order = 1  # of the intervals: what happens inside is CVODES' own

    def __init__(
        self, plant: Plant, kind: str, capacity: int, rtol: float, atol: float, given: PlantParameters
    ) -> None:
        count = min(capacity, MOST_INTERVALS)
        self.plant, self.count, self.nodes = plant, count, INPUT_NODES
        self._numbers = given.numbers
        layout = plant.layout
        parts = plant.input_count, INPUT_NODES, given.numbers, layout.every_a, layout.every_aux
        self._share(Driver(layout.size, 1, *parts, estimate=1, patience=1, capacity=count), given.sizes)
        nodes = np.array(INPUT_NODES)
        self._to_coefficients = np.linalg.inv(legendre.legvander(2 * nodes - 1, len(nodes) - 1))
        self._options = {
            "linear_multistep_method": kind,
            "nonlinear_solver_iteration": "functional" if kind == "adams" else "newton",
            "reltol": rtol,
            "abstol": atol,
            "max_num_steps": 100_000,
            "disable_internal_warnings": True,
            "show_eval_warnings": False,
        }
        self.plant, self._integrator, self._single = _integrators(plant, kind, count, self._options)
        with building:
            start = self.plant.start
            self._start = Evaluator(SharedFunction(start, [1, 0, 0, 1][: start.n_out()]), native=False)
            self.report = Report(Runner(report(self.plant)), self._numbers)
            self._starts = InitialAccelerations(Runner(start), self._numbers)
        self._scale = given.sizes[self.plant.free]
        self._parameters = np.concatenate([self._numbers, self._scale])

    def _advance(self) -> DriverStatus:
        """Go from interval to interval; CVODES keeps the tolerances itself."""
        control, path = self.driver.control, self.driver.path
        left, below = control.stop - control.t, np.nextafter(control.stop, -np.inf)
        needed = max(1, math.ceil(left / control.dt - TIME_SLACK))
        rows = []
        for k in range(min(needed, self.count, control.most_steps)):
            try:
                rows.append(self(np.minimum(control.t + control.dt * (k + np.array(INPUT_NODES)), below)))
            except Exception:
                if not rows:
                    raise
                break  # it raises again when that interval comes
        path[1 : len(rows) + 1] = self._states(path[0], np.array(rows), control.dt)
        sound = (np.abs(path[1 : len(rows) + 1]) < LARGEST_STATE).all(axis=1)
        steps = len(rows) if sound.all() else int((~sound).argmax())
        self.driver.times[: steps + 1] = control.t + control.dt * np.arange(steps + 1)
        if steps == needed:
            self.driver.times[steps] = control.stop
        control.steps, control.attempts, control.t = steps, len(rows), self.driver.times[steps]
        control.rejected, control.unsolved = steps < len(rows), 0
        if steps:
            control.shortest_taken = min(control.shortest_taken, control.dt)
            control.longest_taken = max(control.longest_taken, control.dt)
        return DriverStatus.ENOUGH_STEPS if sound.all() else DriverStatus.STEP_TOO_SMALL

    def _states(self, state: Array, inputs: Array, dt: float) -> Array:
        """Return the states after intervals of dt (s) with these inputs at their nodes."""
        plant, n, free, steps, scale = self.plant, self.plant.n, self.plant.free, len(inputs), self._scale
        at = plant.layout
        x0 = np.concatenate(
            [state[at.every_q][free] / scale, state[at.every_v][free] / scale, state[[at.work, at.lost]]]
        )
        rows = np.empty((self.count, len(INPUT_NODES), plant.input_count))
        rows[:steps], rows[steps:] = inputs, inputs[-1, -1]  # what lies beyond is not used
        coefficients = np.einsum("jk,ikm->ijm", self._to_coefficients, rows)
        lasts = np.where(np.arange(self.count) < steps, dt, 0.0)
        u = np.column_stack([np.arange(self.count), lasts, coefficients.reshape(self.count, -1)])
        with building:  # integrators of CasADi are not safe in threads: one at a time, also those of other structures
            x = self._integrated(x0, u)
        ends = rows[:, -1]
        driven = [ends[:, place] for place in plant.input_places[3:5]]
        q, v = np.zeros((2, self.count, n))
        for out, values, places in ((q, x[:, : len(free)], driven[0]), (v, x[:, len(free) : -2], driven[1])):
            out[:, free], out[:, plant.driven] = values * scale, places
        none = np.zeros(1)
        a, given, drained, *forces = self._start(q, v, ends, none, none, self._numbers)
        return np.column_stack([q, v, a, a, x[:, -2:], given, drained, *forces])[:steps]

    def start(self, states: Array, inputs: Array, sizes: Array) -> list[Array]:
        at, state, none = self.plant.layout, states[0, :, 0], np.zeros(1)
        found = self._start(state[at.every_q], state[at.every_v], inputs[0, :, 0], none, none, self._numbers)
        return [np.reshape(each, (1, -1, 1)) for each in found]

    @property
    def starts(self) -> InitialAccelerations:
        return self._starts

    def numbers_of(self, member: int) -> Array:
        return self._numbers

    def longest_steps(self, inputs: Array, duration: float) -> Array:
        """Return infinity: CVODES controls its own stability."""
        return np.full(1, math.inf)

    def _integrated(self, x0: Array, u: Array) -> Array:
        """A row per interval; not numbers from where CVODES gives up."""
        try:
            return np.asarray(self._integrator(x0=x0, u=u.T, p=self._parameters)["xf"].full().T)
        except RuntimeError:  # the last intervals may lie beyond the end of the run: go as far as there is a way
            out = np.full((self.count, len(x0)), np.nan)
            for k, row in enumerate(u):
                try:
                    one = self._single()(x0=x0, u=np.array([0.0, *row[1:]]), p=self._parameters)
                except RuntimeError:
                    break
                x0 = out[k] = one["xf"].full()[:, 0]
            return out


def _integrators(
    plant: Plant, kind: str, count: int, options: dict[str, Any]
) -> tuple[Plant, ca.Function, Callable[[], ca.Function]]:
    """Return the integrators of a structure, for many intervals and for one, with their plant."""
    key = (*plant.identity, kind, count, *options.items())
    with building:
        if key not in _made:
            problem = _problem(plant, _rate(plant))

            def over(intervals: int) -> ca.Function:
                # in CasADi's virtual machine: CVODES needs derivatives, which machine code lacks
                ends = np.arange(1.0, intervals + 1).tolist()
                return ca.integrator("cvodes", "cvodes", problem, 0.0, ends, options)

            _made[key] = plant, over(count), cache(lambda: over(1))
            while len(_made) > MAX_STORED_INTEGRATORS:
                _made.popitem(last=False)
        _made.move_to_end(key)
        return _made[key]


def _rate(plant: Plant) -> ca.Function:
    """(q, v, u, numbers) -> rates of the free q and v, of work and of loss."""
    q, v, u = (ca.MX.sym(name, size) for name, size in zip("qvu", (plant.n, plant.n, plant.input_count)))
    a, forces = plant.motion(q, v, u)
    powers = [ca.dot(v, force) for force in plant.energy_forces(q, v, a, u, forces)]
    return plant.step_function("rate", [q, v, u], [plant.of_free(v), plant.of_free(a), *powers])


def _problem(plant: Plant, rate: ca.Function) -> dict[str, ca.MX]:
    """Parameters are the numbers of a robot, and what is large for each free coordinate."""
    free, terms = len(plant.free), len(INPUT_NODES)
    x, clock = ca.MX.sym("x", 2 * free + 2), ca.MX.sym("t")
    u = ca.MX.sym("u", 2 + plant.input_count * terms)
    p = ca.MX.sym("p", plant.numbers.numel() + free)
    numbers, scale = p[: plant.numbers.numel()], p[plant.numbers.numel() :]
    local = clock - u[0]
    coefficients = ca.reshape(u[2:], plant.input_count, terms)
    inputs = coefficients @ _legendre(2 * local - 1, terms)
    _, _, _, (q_driven, v_driven, _) = plant.split(inputs)
    q, v = plant.whole(x[:free] * scale, q_driven), plant.whole(x[free : 2 * free] * scale, v_driven)
    dq, dv, given, drained = rate(q, v, inputs, numbers)
    ode = u[1] * ca.vertcat(dq / scale, dv / scale, given, drained)
    return {"x": x, "u": u, "p": p, "t": clock, "ode": ode}


def _legendre(x: ca.MX, terms: int) -> ca.MX:
    """P_0 ... P_(terms - 1) at x, by their recurrence."""
    out = [ca.MX(1), x]
    for k in range(1, terms - 1):
        out.append(((2 * k + 1) * x * out[k] - k * out[k - 1]) / (k + 1))
    return ca.vertcat(*out[:terms])
