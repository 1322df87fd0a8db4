"""Planar robots of every kind of joint, and the comparison of a closed form with `System`."""

from __future__ import annotations

from typing import Any

import numpy as np

import flexarm as fa

STEEL = fa.Material(E=2e10, rho=7850.0, damping=1e-3)
BAR = fa.Section.rectangle(0.01, 0.02)
KINDS = ("R", "Pa", "Pb")


def joint(kind: str, **fields: Any) -> Any:
    if kind == "R":
        return fa.Revolute("z", **fields)
    return {"Pa": fa.SlidingPrismatic, "Pb": fa.FixedPrismatic}[kind](angle=0.4, **fields)


def link(name: str, kind: str, flexible: fa.Flexible | None = None, length: float = 1.0, **fields: Any) -> fa.Link:
    how = fields.pop("joint", None) or joint(kind)
    return fa.Link(name, length, how, BAR, STEEL, flexible, **fields)


def bending(count: int, basis: Any = "elements", **fields: Any) -> fa.Flexible:
    return fa.Flexible(bend_y=count, basis=basis, stiffening="none", **fields)


def zero_order(robot: fa.Robot) -> fa.Robot:
    """What the closed form describes, for `System`."""
    flexible = [f"links.{each.name}.flexible.stiffening" for each in robot.links if each.flexible is not None]
    return robot.with_(dict.fromkeys(flexible, "none"))


def state(system: fa.System, seed: int = 0, **given: float) -> tuple[np.ndarray, np.ndarray]:
    """Small random deflections, prismatic joints in the middle of their travel unless given by link."""
    q, v = np.random.default_rng(seed).uniform(-1, 1, (2, system.nq))
    for body in system._chain.bodies:
        elastic = body.local.start + body.local.elastic.start
        inside = slice(elastic, body.local.start + body.local.count)
        sizes = system._chain.coordinates.sizes[inside]
        q[inside] *= 0.05 * np.array(sizes)
        v[inside] *= 0.3 * np.array(sizes)
        if isinstance(body.link.joint, fa.SlidingPrismatic | fa.FixedPrismatic):
            place = body.local.start
            q[place] = given.get(body.link.name, 0.6 * body.link.length + 0.1 * q[place])
    return q, v


def differences(form: Any, system: fa.System, q: np.ndarray, v: np.ndarray) -> dict[str, float]:
    """Relative to the largest entry, of everything that both can compute."""
    found = form.lambdify()(q, v)
    reference = {
        "M": (found["M"], system.mass_matrix(q)),
        "C": (found["C"], system.coriolis(q, v)),
        "Cv": (found["C"] @ v, system.coriolis(q, v) @ v),
        "Kq": (found["K"] @ q, system.spring_forces(q)),
        "D": (found["D"], system.damping_matrix(q)),
        "G": (found["G"], system.gravity(q)),
    }
    return {
        name: float(np.abs(own - other).max() / max(np.abs(other).max(), 1e-300)) if np.abs(other).any() else
        float(np.abs(own).max())
        for name, (own, other) in reference.items()
    }
