"""Planar robots with all kinds of joints, and comparison of a closed form with `System`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.symbolic import checks

STEEL = fa.Material(E=2e10, rho=7850.0, damping=1e-3)
BAR = fa.Section.rectangle(0.01, 0.02)
LUMP = fa.PointMass(0.3, offset=(0.05, 0.02, 0), inertia=0.01)
KINDS = ("R", "Pa", "Pb")
GRAVITY = (0.5, -9.81, 0)
TOLERANCE = 1e-12


def joint(kind: str, **fields: Any) -> Any:
    if kind == "R":
        return fa.Revolute("z", **fields)
    return {"Pa": fa.SlidingPrismatic, "Pb": fa.FixedPrismatic}[kind](angle=0.4, **fields)


def link(name: str, kind: str, flexible: fa.Flexible | None = None, length: float = 1.0, **fields: Any) -> fa.Link:
    how = fields.pop("joint", None) or joint(kind)
    return fa.Link(name, length, how, BAR, STEEL, flexible, **fields)


def bending(count: int, basis: Any = "elements", **fields: Any) -> fa.Flexible:
    return fa.Flexible(bend_y=count, basis=basis, stiffening="none", **fields)


def arm(elements: int, **fields: Any) -> fa.Robot:
    """Return an arm of two revolute links with finite elements."""
    shapes = bending(elements)
    return fa.Robot("arm", links=[link("a", "R", shapes), link("b", "R", shapes, 0.7, **fields)], gravity=GRAVITY)


def zero_order(robot: fa.Robot) -> fa.Robot:
    """Return the robot with stiffening "none" for all links."""
    flexible = [f"links.{each.name}.flexible.stiffening" for each in robot.links if each.flexible is not None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.UnitsWarning)
        return robot.with_(dict.fromkeys(flexible, "none"))


def state(system: fa.System, seed: int = 0, **given: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a random state with deflections of some per cent.

    Coordinates of sliding joints are given by the name of their link, or lie in the front part of a sliding link.
    """
    q, v = np.random.default_rng(seed).uniform(-1, 1, (2, system.nq))
    for body in system._chain.bodies:
        elastic = slice(body.local.start + body.local.elastic.start, body.local.start + body.local.count)
        sizes = np.array(system._chain.coordinates.sizes[elastic])
        q[elastic] *= 0.05 * sizes
        v[elastic] *= 0.3 * sizes
        rail = body.link if body.parent is None else system._chain.bodies[body.parent].link
        if isinstance(body.link.joint, fa.SlidingPrismatic):
            q[body.local.start] = given.get(body.link.name, 0.6 * rail.length)
        elif isinstance(body.link.joint, fa.FixedPrismatic):
            q[body.local.start] = given.get(body.link.name, 0.7 * body.link.length)
    return q, v


def agrees(robot: fa.Robot, k: Any = None, given: Any = None, seed: int = 0, **options: Any) -> fa.ClosedForm:
    """Compare the closed form with `System` in a random state, and return it."""
    form = fa.equations(robot, k=k, **options)
    simulated = options.get("stiffening", "robot") == "robot"
    system = fa.System(robot if simulated else form.robot, native=False)
    assert form.names == system.names
    error, where = worst(form, system, *state(system, seed, **(given or {})))
    assert error < TOLERANCE, where
    return form


def size_ratio(robot: fa.Robot, **options: Any) -> float:
    """Return the ratio of the estimated number of statements to their number."""
    form = fa.equations(robot, **options)
    statements = len(form.listing.steps) + sum(len(entries) for entries in form.listing.entries.values())
    return sum(checks.estimate_statement_counts(form.robot)) / statements


def worst(form: fa.ClosedForm, system: fa.System, q: np.ndarray, v: np.ndarray) -> tuple[float, str]:
    """Return the largest difference from `System`, relative to the largest entry of a matrix, and its name."""
    found = form.lambdify()(q, v)
    C = system.coriolis(q, v)
    pairs = {
        "M": (found["M"], system.mass_matrix(q)),
        "C": (found["C"], C),
        "Cv": (found["C"] @ v, C @ v),
        "Kq": (found["K"] @ q, system.spring_forces(q)),
        "D": (found["D"], system.damping_matrix(q)),
        "G": (found["G"], system.gravity(q)),
    }
    a = np.random.default_rng(7).uniform(-1, 1, system.nq)
    whole = system.inverse_dynamics(q, v, a) - _dry_friction(system, v)
    pairs["inverse dynamics"] = (found["M"] @ a + found["C"] @ v + found["K"] @ q + found["D"] @ v + found["G"], whole)
    scales = {name: _largest(other) for name, (_, other) in pairs.items()}
    scales["Cv"] = _largest(np.abs(C) @ np.abs(v))  # its terms cancel
    rounding = (
        0.1 * _largest(pairs["M"][1]) * _largest(v)
    )  # C consists of derivatives of M, which may be small compared with M
    scales |= {"C": max(scales["C"], rounding), "Cv": max(scales["Cv"], rounding * _largest(v))}
    errors = {name: _largest(own - other) / (scales[name] or 1.0) for name, (own, other) in pairs.items()}
    return max((value, name) for name, value in errors.items())


def _dry_friction(system: fa.System, v: np.ndarray) -> np.ndarray:
    out = np.zeros(system.nq)
    for link in system.robot.links:
        for each, own in zip(system.joints(link.name), link.joint.freedom_properties, strict=True):
            out[each.index] = own.coulomb * np.tanh(v[each.index] / own.coulomb_speed)
    return out


def _largest(array: np.ndarray) -> float:
    return float(np.abs(array).max(initial=0.0))
