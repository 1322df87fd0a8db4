"""`scipy.integrate.solve_ivp` on flexarm's own right-hand side, compiled and called through buffers that stay in place.

Radau also gets the compiled exact Jacobian.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp

import flexarm as fa
from flexarm.codegen.library import compiled
from peers.result import Failed, Result


class RightHandSide:
    """The rates of the state (q, v) under the torques `tau` (nu), and their Jacobian."""

    def __init__(self, system: fa.System) -> None:
        n = system.nq
        state, torque = ca.SX.sym("state", 2 * n), ca.SX.sym("torque", system.nu)
        q, v = state[:n], state[n:]
        a = system.casadi["forward_dynamics"](q, v, ca.DM(system.input_matrix) @ torque)
        rates = ca.vertcat(v, a)
        self.tau = np.zeros(system.nu)
        self.rates = self._bound("rates", state, torque, rates, (2 * n,))
        self.jacobian = self._bound("jacobian", state, torque, ca.densify(ca.jacobian(rates, state)), (2 * n, 2 * n))

    def _bound(self, name: str, state: Any, torque: Any, value: Any, shape: tuple[int, ...]) -> Callable[..., Any]:
        function = compiled(ca.Function(name, [state, torque], [value]))
        inside, out = np.zeros(state.numel()), np.zeros(shape, order="F")
        buffer, evaluate = function.buffer()
        buffer.set_arg(0, memoryview(inside))
        buffer.set_arg(1, memoryview(self.tau))
        buffer.set_res(0, memoryview(out.reshape(-1, order="F")))

        def call(t: float, y: Any, keep: Any = (function, buffer)) -> Any:
            inside[:] = y
            evaluate()
            return out.copy()

        return call


def solve(
    system: fa.System, stretches: list[tuple[float, float, Any]], sample: float, method: str, rtol: float, atol: float
) -> Result:
    """`stretches` of constant torque: (begin, end, torques)."""
    start = time.perf_counter()
    side = RightHandSide(system)
    options = {"jac": side.jacobian} if method == "Radau" else {}
    state, times, states, calls = np.zeros(2 * system.nq), [], [], 0
    ready = time.perf_counter()
    for begin, end, torque in stretches:
        side.tau[:] = torque
        wanted = np.linspace(begin, end, round((end - begin) / sample) + 1)
        found = solve_ivp(side.rates, (begin, end), state, method, t_eval=wanted, rtol=rtol, atol=atol, **options)
        if not found.success:
            raise Failed(found.message)
        state = found.y[:, -1]
        times.append(found.t)
        states.append(found.y[: system.nq].T)
        calls += found.nfev
    loop = time.perf_counter() - ready
    tip = system.tip(np.vstack(states))
    return Result(np.concatenate(times), tip, loop, time.perf_counter() - start, calls)


def two_link_arm(upper: fa.Flexible, fore: fa.Flexible, method: str, rtol: float, atol: float) -> Result:
    flexible = {"links.upper.flexible": upper, "links.fore.flexible": fore}
    system = fa.System(fa.library.two_link_arm(damping=1e-3).with_(flexible))
    stretches = [(begin, end, (sign * 0.02, sign * 0.005)) for begin, end, sign in ((0, 1, 1), (1, 2, -1), (2, 10, 0))]
    return solve(system, stretches, 0.01, method, rtol, atol)


def rrr_arm(shapes: Sequence[fa.Flexible], elastic: bool, method: str, rtol: float, atol: float) -> Result:
    system = fa.System(
        fa.library.rrr_arm(elastic).with_({f"links.{k}.flexible": each for k, each in enumerate(shapes)})
    )
    return solve(system, [(0.0, 1.0, (400.0, 400.0, 400.0))], 0.005, method, rtol, atol)
