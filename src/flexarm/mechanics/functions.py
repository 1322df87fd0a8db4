"""The CasADi functions of a robot by name, each traced when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import casadi as ca

from flexarm.foundation.sentences import suggestion
from flexarm.mechanics.building import building
from flexarm.mechanics.equations import Equations

# What each output is: a number (0), a vector (1) or a matrix (2).
RANKS = {
    **dict.fromkeys(("kinetic", "elastic", "gravity", "drive"), 0),
    **dict.fromkeys(("tau", "a", "h", "G", "p", "Phi", "Kx", "gyroscopic_x", "Dx"), 1),
    **dict.fromkeys(("M", "C", "K", "gyroscopic", "D", "R", "J", "Phi_q"), 2),
}

Recipe = tuple[list[Any], list[Any], list[str], list[str]]


class Functions(Mapping[str, ca.Function]):
    """`functions["inverse_dynamics"](q, v, a)`; also poses and Jacobians of any section of any link (by number)."""

    def __init__(self, equations: Equations) -> None:
        e = self._equations = equations
        self._made: dict[Any, ca.Function] = {}
        self._recipes: dict[str, Callable[[], Recipe]] = {
            "inverse_dynamics": lambda: ([e.q, e.v, e.a], [e.inverse_dynamics], ["q", "v", "a"], ["tau"]),
            "forward_dynamics": lambda: ([e.q, e.v, e.tau], [e.forward_dynamics], ["q", "v", "tau"], ["a"]),
            "mass_matrix": lambda: ([e.q], [e.mass_matrix], ["q"], ["M"]),
            "bias": lambda: ([e.q, e.v], [e.bias], ["q", "v"], ["h"]),
            "coriolis": lambda: ([e.q, e.v], [e.coriolis], ["q", "v"], ["C"]),
            "gravity": lambda: ([e.q], [e.gravity], ["q"], ["G"]),
            "spring_forces": lambda: ([e.q], [e.springs], ["q"], ["h"]),
            "stiffness_matrix": lambda: ([e.q], [e.spring_stiffness], ["q"], ["K"]),
            "damping_matrix": lambda: ([e.q], [e.linear_damping], ["q"], ["D"]),
            "gravity_stiffness": lambda: ([e.q], [e.gravity_stiffness], ["q"], ["K"]),
            "linearization": lambda: (
                [e.q, e.v, e.a],
                list(e.linearization),
                ["q", "v", "a"],
                ["K", "gyroscopic", "D"],
            ),
            "linearization_along": lambda: _linearization_along(e),
            "energy": lambda: ([e.q, e.v], list(e.energies), ["q", "v"], ["kinetic", "elastic", "gravity", "drive"]),
            "momentum": lambda: ([e.q, e.v], [e.momentum], ["q", "v"], ["p"]),
            "tip": lambda: ([e.q], [e.tip], ["q"], ["p"]),
        }
        if e.constrained:
            self._recipes |= {
                "constraint": lambda: ([e.q], [e.constraints.value], ["q"], ["Phi"]),
                "constraint_jacobian": lambda: ([e.q], [e.constraints.jacobian], ["q"], ["Phi_q"]),
                "constraint_stiffness": lambda: _constraint_stiffness(e),
            }

    def __getitem__(self, name: str) -> ca.Function:
        if name not in self._recipes:
            raise KeyError(f"there is no function '{name}'{suggestion(name, list(self._recipes))}")
        return self._cached(name, name, self._recipes[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._recipes)

    def __len__(self) -> int:
        return len(self._recipes)

    def frame(self, link: int, x: float) -> ca.Function:
        """q -> (R, p) of the section at x in the world."""
        e = self._equations
        return self._cached(("frame", link, x), "frame", lambda: ([e.q], list(e.frame(link, x)), ["q"], ["R", "p"]))

    def root(self, link: int) -> ca.Function:
        """q -> (R, p) of a link's root frame in the world."""
        e = self._equations
        return self._cached(("root", link), "root", lambda: ([e.q], list(e.chain.poses(e.q)[link]), ["q"], ["R", "p"]))

    def axis(self, link: int) -> ca.Function:
        """(q, x) -> point of the link's deformed axis in its root frame."""
        e = self._equations

        def recipe() -> Recipe:
            x = ca.SX.sym("x")
            return [e.q, x], [e.point(link, x)], ["q", "x"], ["p"]

        return self._cached(("axis", link), "axis", recipe)

    def jacobian(self, link: int, x: float) -> ca.Function:
        """q -> (6, nq), twist per v of the section at x, in its own axes."""
        e = self._equations
        return self._cached(("jacobian", link, x), "jacobian", lambda: ([e.q], [e.jacobian(link, x)], ["q"], ["J"]))

    def _cached(self, key: Any, name: str, recipe: Callable[[], Recipe]) -> ca.Function:
        with building:  # expressions are built once, whoever asks first
            if key not in self._made:
                inputs, outputs, name_in, name_out = recipe()
                dense = [ca.densify(output) for output in outputs]
                self._made[key] = ca.Function(name, inputs, dense, name_in, name_out)
            return self._made[key]


def _constraint_stiffness(e: Equations) -> Recipe:
    forces = ca.SX.sym("forces", e.constraints.count)
    return [e.q, forces], [ca.jacobian(e.constraints.pull(forces), e.q)], ["q", "forces"], ["K"]


def _linearization_along(e: Equations) -> Recipe:
    """Products of the three matrices of a linearization with a vector x: no larger than twice the equations."""
    x = ca.SX.sym("x", e.q.shape[0])
    return [e.q, e.v, e.a, x], [*e.linearization_along(x)], ["q", "v", "a", "x"], ["Kx", "gyroscopic_x", "Dx"]
