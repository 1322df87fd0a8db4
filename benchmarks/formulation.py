"""Cost of deriving closed forms: `python benchmarks/formulation.py` (or `make bench`).

Times are those of the zero-order model (`stiffening="none"`), which the papers have; sizes at the end are those of all
models. The rival is `sympy.physics.mechanics.LagrangesMethod` on the same kinematics: it gets T and U of the same
position vectors r_0ij(x), with the integrals over x already done, and finds the mass matrix and the forcing. Times
depend on the machine: read them as ratios within one run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, Literal

import sympy
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import flexarm as fa

MODELS: tuple[Literal["none", "shortening", "exact"], ...] = ("none", "shortening", "exact")


def arm(elements: int) -> fa.Robot:
    """Two flexible links with hinges, in a vertical plane."""
    soft, bar = fa.Material(E=2e10, rho=7850.0), fa.Section.rectangle(0.005, 0.005)
    shapes = fa.Flexible(bend_y=elements, basis="elements", stiffening="none")
    links = [
        fa.Link(name, size, section=bar, material=soft, flexible=shapes) for name, size in (("a", 1.0), ("b", 0.5))
    ]
    return fa.Robot("two-link arm", links=links, gravity=(0, -9.81, 0))


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def formulate(elements: int, route: str = "extended") -> float:
    """M, C, K, G (and D, F) of the zero-order model as SymPy matrices, with nothing cached from before."""

    def work() -> None:
        form = fa.equations(arm(elements), stiffening="none", route=route)  # type: ignore[arg-type]
        assert all(getattr(form, name) is not None for name in "MCKG")

    def cold() -> float:
        sympy.core.cache.clear_cache()
        return seconds(work)

    return min(cold() for _ in range(3))


def assembly(elements: int, route: str) -> float:
    """The mass and stiffness matrices alone, from elements whose integrals are done."""

    def work() -> float:
        form = fa.equations(arm(elements), stiffening="none", route=route)  # type: ignore[arg-type]
        assert form._inertias is not None
        return seconds(lambda: (form._M, form._K))

    return min(work() for _ in range(3))


def energies(elements: int) -> tuple[Any, list[Any]]:
    """T - U of the same arm in functions of time, and its coordinates."""
    form = fa.equations(arm(elements), stiffening="none")
    moving = [dynamicsymbols(each.name) for each in form.q]
    as_functions = dict(zip(form.q, moving, strict=True))
    x, t = sympy.Symbol("x"), dynamicsymbols._t
    T = U = sympy.Integer(0)
    for i, link in enumerate(form.r):
        m, length = sympy.Symbol(f"m_{i + 1}"), sympy.Symbol(f"l_{i + 1}") / elements
        for r in link:
            place = r[:2, 0].subs(as_functions)
            fields = [_powers(entry, x) for entry in place.diff(t)]
            T += (
                m
                / 2
                * sum(
                    a * b * length ** (p + q + 1) / (p + q + 1)
                    for field in fields
                    for p, a in field.items()
                    for q, b in field.items()
                )
            )
            U -= m * sympy.Symbol("g_y") * sum(c * length ** (p + 1) / (p + 1) for p, c in _powers(place[1], x).items())
    U += (form.q.T * form.K * form.q)[0].subs(as_functions) / 2
    return T - U, moving


def _powers(expression: Any, x: Any) -> dict[int, Any]:
    """Coefficients of the powers of x; products of them are left as products, which the rival likes best."""
    return {int(n): c for (n,), c in sympy.Poly(expression, x).terms()}


def lagrange(elements: int) -> float:
    L, moving = energies(elements)
    sympy.core.cache.clear_cache()

    def work() -> None:
        method = LagrangesMethod(L, moving)
        method.form_lagranges_equations()
        assert method.mass_matrix is not None
        assert method.forcing is not None

    return seconds(work)


def sizes() -> None:
    """Print statements and operations of generated functions and lines of LaTeX, by the model of the links."""
    print(f"{'links, modes':>13}" + "".join(f"{model:>20}" for model in MODELS))
    for links, modes in ((1, 1), (1, 2), (2, 1), (2, 2)):
        cells = [_size({"bend_y": modes}, links, model, "z") for model in MODELS]
        print(f"{links:>8}, {modes:>3}" + "".join(f"{cell:>20}" for cell in cells))
    print("in space: hinges about z and y, links that bend in two planes")
    for links in (1, 2):
        cells = [_size({"bend_y": 1, "bend_z": 1}, links, model, "y") for model in MODELS[:2]]
        print(f"{links:>8}, 1+1" + "".join(f"{cell:>20}" for cell in cells))


def _size(counts: dict[str, int], links: int, model: Literal["none", "shortening", "exact"], axis: str) -> str:
    flexible = fa.Flexible(**counts, stiffening=model)  # type: ignore[arg-type]
    joints = (fa.Revolute("z"), fa.Revolute(axis))  # type: ignore[arg-type]
    pairs = zip(arm(1).links[:links], joints, strict=False)
    bars = [link.model_copy(update={"flexible": flexible, "joint": joint}) for link, joint in pairs]
    form = fa.equations(fa.Robot(links=bars, gravity=(0, -9.81, 0)), stiffening=model)
    steps = [value for _, value in form.listing.steps]
    steps += [value for rows in form.listing.entries.values() for _, _, value in rows]
    return f"{len(steps)} {sum(map(sympy.count_ops, steps))} {len(form.latex().splitlines())}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=32, help="elements per link of the largest arm")
    options = parser.parse_args()
    print("two-link arm, two elements per link, zero-order model: M, C, K, G in closed form (s)")
    rival = lagrange(2)
    own = formulate(2)
    print(f"  LagrangesMethod {rival:.2f}, flexarm {own:.3f}: {rival / own:.0f} times faster")
    print("\ngrowth with the number of elements per link, zero-order model (ms)")
    heads = ("all, extended", "all, global", "M and K, extended", "M and K, global")
    print(f"{'elements':>9}{'nq':>5}" + "".join(f"{head:>19}" for head in heads))
    n = 1
    while n <= options.most:
        everything = [formulate(n, route) for route in ("extended", "global")]
        matrices = [assembly(n, route) for route in ("extended", "global")]
        row = [1e3 * each for each in (*everything, *matrices)]
        print(f"{n:>9}{2 + 4 * n:>5}" + "".join(f"{each:>19.1f}" for each in row))
        n *= 2
    print("\nstatements, operations and lines of LaTeX by the model of the links")
    sizes()


if __name__ == "__main__":
    main()
