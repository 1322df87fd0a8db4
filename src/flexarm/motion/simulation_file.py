"""A simulation as a robot file asks for it: the `simulation:` section, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flexarm.foundation.sentences import suggestion
from flexarm.motion.inputs import profile
from flexarm.motion.loads import PointLoad
from flexarm.motion.stabilization import Baumgarte

PLAIN = ("duration", "q0", "v0", "method", "radius", "rtol", "atol", "dt", "sample")
FIELDS = (*PLAIN, "torque", "motion", "loads", "points", "stabilization")


def simulation_options(section: Mapping[str, Any], file: str) -> dict[str, Any]:
    """Arguments of `simulate` from the section of a file."""
    for name in section:
        if name not in FIELDS:
            raise ValueError(f"{file}: simulation.{name}: unknown field{suggestion(str(name), list(FIELDS))}")
    if "duration" not in section:
        raise ValueError(f"{file}: simulation.duration: is required (s); give it in the file or with --duration")
    out = {name: section[name] for name in PLAIN if name in section}
    for name in ("duration", "radius", "rtol", "atol", "dt", "sample"):
        if name in out and (isinstance(out[name], bool) or not isinstance(out[name], (int, float))):
            raise ValueError(f"{file}: simulation.{name} = {out[name]!r}: must be a number")
    for name in ("torque", "motion"):
        if name in section:
            given = _mapping(section[name], f"{file}: simulation.{name}")
            out[name] = {link: profile(value, f"{file}: simulation.{name}.{link}") for link, value in given.items()}
    if "stabilization" in section:
        out["stabilization"] = _stabilization(section["stabilization"], f"{file}: simulation.stabilization")
    if "loads" in section:
        out["loads"] = [_load(load, f"{file}: simulation.loads[{k}]") for k, load in enumerate(section["loads"] or ())]
    if "points" in section:
        given = _mapping(section["points"], f"{file}: simulation.points")
        out["points"] = {name: (point["link"], point["x"]) for name, point in given.items()}
    return out


def _stabilization(value: Any, where: str) -> Any:
    """`projection`, or `{gamma: 5, beta: 5}`."""
    if value == "projection":
        return value
    if not isinstance(value, Mapping) or set(value) - {"gamma", "beta"}:
        raise ValueError(f"{where} = {value!r}: must be projection, or a mapping with gamma and beta")
    try:
        return Baumgarte(**{name: float(number) for name, number in value.items()})
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from None


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{where} = {value!r}: must be a mapping by name")
    return value


def _load(load: Any, where: str) -> PointLoad:
    fields = dict(_mapping(load, where))
    unknown = set(fields) - {"link", "x", "force", "torque"}
    if unknown or "link" not in fields:
        raise ValueError(
            f"{where}: give link, x, force and torque; {', '.join(sorted(unknown)) or 'link'} is not right"
        )
    for name in ("force", "torque"):
        if name in fields:
            fields[name] = [profile(value, f"{where}.{name}[{k}]") for k, value in enumerate(fields[name])]
    return PointLoad(**fields)
