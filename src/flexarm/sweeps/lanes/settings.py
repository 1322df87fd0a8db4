"""How members are run: the options of `fa.simulate`, checked once for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from flexarm.codegen.simd_library import Width
from flexarm.foundation.numbers import Array, real_number
from flexarm.foundation.sentences import suggestion
from flexarm.motion.budget import require_finite_work, sample_times
from flexarm.motion.method_names import chosen_stabilization
from flexarm.motion.methods import Method
from flexarm.motion.plan import Plan, tolerance_of
from flexarm.motion.simulate import SHORTEST
from flexarm.motion.stabilization import Stabilization
from flexarm.robot import Robot


@dataclass(frozen=True)
class Settings:
    """As `fa.simulate` takes them; `width`: of the lanes, where it is not that of the processor."""

    method: str | Method = "auto"
    radius: float | None = None
    stabilization: Stabilization = "projection"
    rtol: float = 1e-4
    atol: float = 0.0
    dt: float | None = None
    sample: float | None = None
    points: Mapping[str, tuple[str, float]] | None = None
    stop: Any = None
    verify: bool = False
    native: Any = "auto"
    width: Width | None = None

    @staticmethod
    def of(options: Mapping[str, Any], width: Width | None = None) -> Settings:
        known = [each.name for each in fields(Settings) if each.name != "width"]
        for name in options:
            if name not in known:
                raise TypeError(f"there is no option '{name}'{suggestion(name, known)}")
        return Settings(**options, width=width)

    @property
    def chooses(self) -> bool:
        """Whether the method is left open."""
        return self.method == "auto" and self.radius is None and self.dt is None

    def plan(self, robot: Robot, duration: float) -> Plan:
        """Of the runs of this robot."""
        duration = real_number("duration", real_number("duration", duration, "s", above=0), "s", least=SHORTEST)
        dt = None if self.dt is None else real_number("dt", self.dt, "s", above=0)
        require_finite_work(duration, dt, None)
        tolerance = tolerance_of(robot, self.rtol, self.atol, duration)
        held = chosen_stabilization(self.stabilization, self.method)
        return Plan(self.method, self.radius, dt, tolerance, held, self.native)

    def samples(self, duration: float, coordinates: int) -> Array:
        sample = None if self.sample is None else real_number("sample", self.sample, "s", above=0)
        return sample_times(float(duration), sample, coordinates)
