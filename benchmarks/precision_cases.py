"""Cases of benchmarks/precision.py: fixed equations of motion, so that only time integration causes errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import flexarm as fa
import w3_shapes
from peers import flexarm_models


@dataclass(frozen=True)
class Case:
    """`work` simulates with the options of `fa.simulate`; `finest` are those of the reference, `fixed` the steps (s) of
    methods that have no others. SUNDIALS is tried where a run of it does not take minutes."""

    name: str
    title: str
    length: float  # m: rtol is in units of it
    work: Callable[..., fa.Run]
    finest: dict[str, Any]
    fixed: tuple[float, ...]
    others: tuple[str, ...] = ()


def clamped_arm(native: Any = True, **options: Any) -> fa.Run:
    """Tokhi and Azad's aluminium arm let go in its first mode, 3.3 Hz."""
    arm = fa.Link(
        "arm",
        0.9,
        joint=fa.Weld(),
        section=fa.Section.rectangle(0.0032004, 0.019008),
        material=fa.Material(E=71e9, rho=2710.0),
        flexible=fa.Flexible(bend_y=3),
    )
    return fa.simulate(fa.Robot(links=[arm]), 20.0, q0={"arm.bend_y[1]": 0.01}, sample=0.02, native=native, **options)


def _compiled(work: Callable[..., fa.Run], native: Any = True, **options: Any) -> fa.Run:
    flexarm_models.native = native
    return work(**options)


_modes = fa.Flexible(bend_y=3)

CASES = (
    Case(
        "clamped",
        "aluminium arm, clamped, in its first mode of 3.3 Hz, 20 s",
        0.9,
        clamped_arm,
        {"method": "dop853", "rtol": 1e-9},
        (2e-3, 1e-3, 5e-4),
        ("adams", "bdf"),
    ),
    Case(
        "W1",
        "W1: planar two-link arm, 3 modes a link, Kelvin-Voigt damping, 10 s",
        1.5,
        partial(_compiled, partial(flexarm_models.two_link_arm, _modes, _modes)),
        {"method": "esdirk", "rtol": 1e-8},
        (1e-3, 5e-4),
        ("adams", "bdf"),
    ),
    Case(
        "W3",
        "W3: spatial RRR arm, 4 elements a link, undamped, step torques, 1 s",
        8.5,
        partial(_compiled, partial(flexarm_models.rrr_arm, w3_shapes.elements(4), False)),
        {"method": "dop853", "rtol": 1e-6},
        (1e-4, 5e-5),
    ),
    Case(
        "W4",
        "W4: five-link Canadarm2 released under gravity, 3 s",
        13.0,
        partial(_compiled, flexarm_models.canadarm2),
        {"method": "dop853", "rtol": 1e-8},
        (2e-3, 1e-3, 5e-4),
    ),
)
