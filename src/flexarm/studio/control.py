"""Shapers and controllers that a page switches on: what becomes of the options of a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from flexarm.control.driven_joints import driven_joints
from flexarm.control.gravity import gravity_torque
from flexarm.control.pd import pd
from flexarm.control.shapers import KINDS, shaper
from flexarm.mechanics.system import System
from flexarm.motion.given_profiles import profile

SHAPERS = ("none", *KINDS)
FEEDBACKS = ("none", "pd", "pd + gravity")


@dataclass(frozen=True)
class Control:
    """shaper: of torques and motions, for the lowest vibration. feedback: joints follow their motions, or stay where
    they start, by springs kp (N m/rad or N/m) and dampers kd; torques are added to theirs."""

    shaper: str = "none"
    feedback: str = "none"
    kp: float = 10.0
    kd: float = 1.0

    @property
    def off(self) -> bool:
        return self.shaper == "none" and self.feedback == "none"

    def applied(self, system: System, options: dict[str, Any]) -> dict[str, Any]:
        """The options with what is switched on."""
        out = dict(options)
        if self.shaper != "none":
            for name in ("torque", "motion"):
                if isinstance(out.get(name), Mapping) and out[name]:
                    out[name] = self._shaped(system, name, out[name])
        return self._fed_back(system, out) if self.feedback != "none" else out

    def _shaped(self, system: System, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        held: Literal["locked", "free"] = "locked" if name == "motion" else "free"
        made = shaper(cast(Any, self.shaper), system, joints=held)
        return {link: made(profile(each, f"{name}.{link}")) for link, each in given.items()}

    def _fed_back(self, system: System, options: dict[str, Any]) -> dict[str, Any]:
        links = [each.link for each in driven_joints(system)]
        if not links:
            raise ValueError("feedback: no joint of this robot has an actuator")
        start = options.get("q0")
        moved = dict(options.pop("motion", None) or {})
        at = start if isinstance(start, Mapping) else {}
        references = {link: moved.get(link, at.get(f"{link}.q", 0.0)) for link in links}
        torque = options.get("torque")
        law = pd(system, self.kp, self.kd, references, feedforward=torque if torque else None)
        if self.feedback == "pd + gravity":
            law = law + gravity_torque(system)
        return {**options, "torque": law}


OFF = Control()
