"""Numbers of a case as sweeps call them: `simulation.torque:upper:amplitude` is `torque.upper.amplitude` there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from flexarm.foundation.sentences import suggestion
from flexarm.motion.given_profiles import profile
from flexarm.robot.files import SIMULATION
from flexarm.studio.case import Case, Number, Scaled

ROOTS = ("torque", "motion", "loads", "q0", "v0", "gains", "references")  # what is not of the robot
CONTROLLED = ("torque", "motion", "q0", "gains", "references")  # what shapers and controllers are made of
SCALE = "scale"


def fields(case: Case) -> dict[str, Number]:
    """By name all numbers that can be swept."""
    named = ((field_of(each.path), each) for each in case.numbers())
    return {name: each for name, each in named if name}


def sweepable(case: Case, name: str) -> bool:
    """Whether members of a sweep differ by this field alone: all have the same shapers and controllers."""
    return case.control.off or name.partition(".")[0] not in CONTROLLED


def require_swept(case: Case, name: str) -> None:
    """A sentence where all members would have the shapers and controllers of a case that this field is a part of."""
    if not sweepable(case, name):
        raise ValueError(
            f"sweep: {name} cannot be varied while shapers or controllers are on, which are made of it; switch them off"
        )


def plainly(case: Case, names: Iterable[str]) -> Case:
    """The case to sweep: factors that are varied are those of the profiles themselves, whatever they are now."""
    known = fields(case)
    factors = {known[name].path: 1.0 for name in names if name in known and name.endswith(f".{SCALE}")}
    return case.with_(factors) if factors else case


def field_of(path: str) -> str:
    """What a sweep calls a number; empty for those that none can vary.

    >>> field_of("links.fore.payload.mass"), field_of("simulation.q0:fore.q"), field_of("simulation.duration")
    ('links.fore.payload.mass', 'q0.fore.q', '')
    >>> field_of("simulation.torque:upper:times"), field_of("simulation.torque:gains:kp:0")
    ('torque.upper.scale', 'gains.kp[1]')
    """
    inside = path.removeprefix(f"{SIMULATION}.")
    if inside == path:
        return path
    root, *steps = inside.split(":")
    if root == "torque" and steps[0] == "gains":
        return f"gains.{steps[1]}" + "".join(f"[{int(each) + 1}]" for each in steps[2:])
    if root in ("q0", "v0"):
        return "" if steps[0].isdecimal() else f"{root}.{steps[0]}"
    if root == "loads":
        return f"loads.{'.'.join(steps)}" if len(steps) > 2 else ""
    if root not in ("torque", "motion"):
        return ""
    return ".".join([root, *steps[:-1], SCALE if steps[-1] == "times" else steps[-1]])


def varied(case: Case, changes: Mapping[str, Any]) -> Case:
    """The case of a member of a sweep that changes these; a sentence where there is no such number in it."""
    of_robot = {name: value for name, value in changes.items() if name.partition(".")[0] not in ROOTS}
    if of_robot:
        case = replace(case, robot=case.robot.with_(of_robot))
    known = {name: each.path for name, each in fields(case).items()}
    for name in sorted((name for name in changes if name not in of_robot), key=lambda name: name.endswith(SCALE)):
        root, _, rest = name.partition(".")
        path = known.get(name) or known.get(f"{name}.value")
        if path is None and root in ("q0", "v0") and isinstance(case.plan.get(root, {}), Mapping):
            path = f"{SIMULATION}.{root}:{rest}"
        if path is not None:
            case = case.with_({path: float(changes[name])})
        elif root in ("torque", "motion") and rest.endswith(f".{SCALE}"):
            case = _scaled(case, root, rest.removesuffix(f".{SCALE}"), float(changes[name]))
        else:
            raise ValueError(
                f"{name}: nothing in this simulation has that name, so that this member cannot be computed here"
                f"{suggestion(name, list(known))}"
            )
    return case


def _scaled(case: Case, root: str, link: str, factor: float) -> Case:
    given = case.plan.get(root)
    if not isinstance(given, Mapping) or link not in given:
        raise ValueError(f"{root}.{link}.{SCALE}: this simulation has no {root} of {link!r}")
    made = Scaled(profile(given[link], f"{root}.{link}"), factor)
    return replace(case, plan={**case.plan, root: {**given, link: made}})
