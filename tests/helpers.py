"""What several test files share: non-dimensional links, reference tables, random robots."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

import flexarm as fa
from flexarm.beam.section_nodes import LinkNodes
from flexarm.dynamics import links as link_models
from flexarm.dynamics.parameters import Parameters

REFERENCE = Path(__file__).parent / "reference"


def table(name: str) -> list[dict[str, str]]:
    """Rows of a reference table."""
    with open(REFERENCE / name, newline="") as file:
        return list(csv.DictReader(file))


def unit_link(name: str = "beam", **changes: Any) -> fa.Link:
    """A link with mu = L = EI = EA = GJ = 1, so that times and frequencies are non-dimensional."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.UnitsWarning)
        fields: dict[str, Any] = {
            "length": 1.0,
            "section": fa.Section.properties(A=1, I_y=1, I_z=1, J=1, I_p=1),
            "material": fa.Material(E=1, rho=1, G=1),
        }
        return fa.Link(name, **{**fields, **changes})


def more_nodes(monkeypatch: Any, count: int = 6) -> None:
    """So many more on every piece of exact links, which then are as exact as rounding lets them be."""
    few = LinkNodes.per_piece.fget
    assert few is not None
    monkeypatch.setattr(LinkNodes, "per_piece", property(lambda nodes: few(nodes) + count))
    for name in ("exact", "exact_part", "sections"):  # links that are the same share their nodes
        monkeypatch.setattr(f"{link_models.__name__}.{name}.link_nodes", LinkNodes)
    for name in ("exact", "second_order"):  # and beams remember their numbers
        monkeypatch.setattr(f"{link_models.__name__}.{name}.add_cached", add_anew)


def add_anew(
    parameters: Parameters, path: str, beam: Any, key: tuple[object, ...], add: Callable[[Parameters], None]
) -> None:
    """Add parameters as `add_cached` does, without the cache."""
    own = Parameters()
    add(own)
    parameters.include(own.under(path))


def omega(modes: fa.ModeSet) -> np.ndarray:
    """Angular frequencies without rigid-body modes."""
    return 2 * np.pi * modes.frequencies[~modes.rigid]


# --- random robots ---

angles = st.tuples(*[st.floats(-1.5, 1.5)] * 3)
ALUMINIUM = fa.Material(E=7e10, rho=2700)


@st.composite
def sections(draw: st.DrawFn) -> Any:
    width = draw(st.floats(0.01, 0.03))
    plain = [fa.Section.rectangle(width, 0.02), fa.Section.circle(width), fa.Section.tube(0.03, width / 2)]
    tapered = fa.Section.tapered(fa.Section.rectangle(width, 0.02), fa.Section.rectangle(0.01, 0.01))
    stepped = fa.Section.stepped([{"upto": 0.3, "section": plain[1]}, {"upto": 1.0, "section": plain[0]}])
    return draw(st.sampled_from([*plain, tapered, stepped]))


@st.composite
def flexibilities(draw: st.DrawFn, planar: bool) -> fa.Flexible | None:
    families = ["bend_y", "stretch"] if planar else ["bend_y", "bend_z", "twist", "stretch"]
    counts = {name: draw(st.integers(0, 2)) for name in families}
    bases = ["modes", "elements", fa.Reduced(3), fa.Reduced(4, 1, "fixed"), fa.Modes(0.2, 0.01), fa.Elements(order=2)]
    basis = draw(st.sampled_from(bases))
    if basis == "elements" or isinstance(basis, fa.Elements):
        counts = {name: 2 * count for name, count in counts.items()}  # a stepped section has two pieces
    if not any(counts.values()):
        return None
    return fa.Flexible(
        **counts,
        basis=basis,
        stiffening=draw(st.sampled_from(["shortening", "none", "exact"])),
        damping=draw(st.sampled_from([None, fa.Damping(ratio=[0.02]), fa.Damping(alpha=0.1, beta=1e-4)])),
    )


@st.composite
def joints(draw: st.DrawFn, planar: bool) -> fa.Revolute | fa.Weld:
    mount = (0, 0, draw(st.floats(-1.5, 1.5))) if planar else draw(angles)
    if not draw(st.integers(0, 3)):
        return fa.Weld(mount=mount)
    axis: Any = "z" if planar else draw(st.sampled_from(["x", "y", "z", "-y", (1.0, 2.0, -0.5)]))
    drives = [None, fa.Drive(rotor_inertia=0.01, gear_ratio=3), fa.Drive(50.0, 0.1, 0.02, gear_ratio=2)]
    coulomb = draw(st.sampled_from([0.0, 0.2]))
    return fa.Revolute(axis, mount=mount, viscous=0.1, coulomb=coulomb, drive=draw(st.sampled_from(drives)))


@st.composite
def links(draw: st.DrawFn, index: int, above: list[fa.Link], planar: bool) -> fa.Link:
    depth = 0.0 if planar else 0.03
    inertia = draw(st.sampled_from([None, 0.01, (0.01, 0.02, 0.025)]))
    payloads = [None, fa.PointMass(0.3), fa.PointMass(0.3, offset=(0.05, 0.02, depth), inertia=inertia)]
    flexible = draw(flexibilities(planar))
    parent = draw(st.sampled_from([None, "ground", *(link.name for link in above)])) if above else None
    hangs = parent != "ground" and bool(above)
    return fa.Link(
        f"link{index}",
        length=draw(st.floats(0.3, 1.2)),
        joint=draw(joints(planar)),
        section=draw(sections()),
        material=ALUMINIUM.model_copy(update={"damping": draw(st.sampled_from([0.0, 1e-3]))}),
        flexible=flexible,
        mass=draw(st.sampled_from([None, 0.8])),
        rotary_inertia=draw(st.booleans()),
        # a rigid link needs an inertia about every axis, whatever its joint's
        hub=fa.PointMass(0.1, inertia=0.01) if flexible is None or draw(st.booleans()) else None,
        payload=draw(st.sampled_from(payloads)),
        masses=draw(st.sampled_from([(), (fa.PointMass(0.2, offset=(0, 0.03, depth), at=0.2),)])),
        parent=parent,
        at=draw(st.sampled_from([None, 0.25])) if hangs else None,
        offset=draw(st.sampled_from([(0, 0, 0), (0.02, -0.04, depth)])),
    )


@st.composite
def robots(draw: st.DrawFn, most: int = 5, planar: bool | None = None) -> fa.Robot:
    """Trees of 1 to `most` links: planar and spatial, rigid and flexible mixed, drives, payloads, every basis."""
    flat = draw(st.booleans()) if planar is None else planar
    found: list[fa.Link] = []
    for index in range(draw(st.integers(1, most))):
        found.append(draw(links(index, found, flat)))
    gravity = draw(st.sampled_from([(0, 0, 0), (0, -9.81, 0) if flat else (1.0, -2.0, -9.5)]))
    base = fa.Pose((0.1, 0.2, 0.0)) if flat else fa.Pose((0.1, 0.2, 0.3), draw(angles))
    return fa.Robot("random", links=found, gravity=gravity, base=base)


def sizes(system: fa.System) -> np.ndarray:
    """Per coordinate: 1 rad of a joint, 2 % of deflection or 0.02 rad of slope or twist at the tip of a link."""
    out = np.ones(system.nq)
    for body in system._chain.bodies:
        tip = body.integrals.station(body.integrals.length)
        largest = np.abs(np.concatenate([tip.U, tip.W])).max(axis=0, initial=0.0)
        out[body.local.all][body.local.elastic] = 0.02 / np.maximum(largest, 1.0)
    return out


def state(system: fa.System, seed: int, size: float = 0.3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A random q, v, a with deflections that are small against the links."""
    q, v, a = np.random.default_rng(seed).uniform(-1, 1, (3, system.nq)) * size * sizes(system)
    return q, v, a
