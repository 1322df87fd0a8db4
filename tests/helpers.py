"""What several test files share: non-dimensional links, reference tables, random robots."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

import flexarm as fa

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


def omega(modes: fa.ModeSet) -> np.ndarray:
    """Angular frequencies without rigid-body modes."""
    return 2 * np.pi * modes.frequencies[~modes.rigid]


# --- random robots ---

unit = st.floats(-1, 1, allow_nan=False)
angles = st.tuples(*[st.floats(-1.5, 1.5)] * 3)


@st.composite
def links(draw: st.DrawFn, index: int, names: list[str], planar: bool) -> fa.Link:
    length = draw(st.floats(0.3, 1.2))
    width = draw(st.floats(0.01, 0.03))
    families = ["bend_y", "stretch"] if planar else ["bend_y", "bend_z", "twist", "stretch"]
    flexible = None
    if draw(st.booleans()):
        counts = {name: draw(st.integers(0, 2)) for name in families}
        if any(counts.values()):
            flexible = fa.Flexible(
                **counts,
                basis=draw(st.sampled_from(["modes", "elements", fa.reduced(elements=3)])),
                stiffening=draw(st.sampled_from(["shortening", "none", "full"])),
                damping=draw(st.sampled_from([None, fa.Damping(ratio=0.02), fa.Damping(alpha=0.1, beta=1e-4)])),
            )
    drive = draw(
        st.sampled_from([None, fa.Drive(rotor_inertia=0.01, gear_ratio=3), fa.Drive(50.0, 0.1, 0.02, gear_ratio=2)])
    )
    mount = (0, 0, draw(st.floats(-1.5, 1.5))) if planar else draw(angles)
    axis: Any = "z" if planar else draw(st.sampled_from(["x", "y", "z", "-y", (1.0, 2.0, -0.5)]))
    joint: fa.Revolute | fa.Weld = fa.Weld(mount=mount)
    if index == 0 or draw(st.integers(0, 3)):
        joint = fa.Revolute(axis, mount=mount, viscous=0.1, coulomb=draw(st.sampled_from([0.0, 0.2])), drive=drive)
    inertia = draw(st.sampled_from([None, 0.01, (0.01, 0.02, 0.025)]))
    offset = (0.05, 0.02, 0.0 if planar else 0.03)
    return fa.Link(
        f"link{index}",
        length=length,
        joint=joint,
        section=draw(
            st.sampled_from(
                [
                    fa.Section.rectangle(width, 0.02),
                    fa.Section.circle(width),
                    fa.Section.tapered(fa.Section.rectangle(width, 0.02), fa.Section.rectangle(0.01, 0.01)),
                ]
            )
        ),
        material=fa.Material(E=7e10, rho=2700, damping=draw(st.sampled_from([0.0, 1e-3]))),
        flexible=flexible,
        rotary_inertia=draw(st.booleans()),
        # an inertia about every axis at the root keeps each joint's own inertia positive, whatever its axis
        hub=fa.PointMass(0.1, inertia=0.01),
        payload=draw(st.sampled_from([None, fa.PointMass(0.3), fa.PointMass(0.3, offset=offset, inertia=inertia)])),
        parent=draw(st.sampled_from([None, "ground", *names])) if names else None,
    )


@st.composite
def robots(draw: st.DrawFn, most: int = 5, planar: bool | None = None) -> fa.Robot:
    """Trees of 1 to `most` links: planar and spatial, rigid and flexible mixed, drives, payloads."""
    flat = draw(st.booleans()) if planar is None else planar
    found: list[fa.Link] = []
    for index in range(draw(st.integers(1, most))):
        found.append(draw(links(index, [link.name for link in found], flat)))
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
