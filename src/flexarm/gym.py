"""Robots as environments of gymnasium, for reinforcement learning.

>>> import flexarm as fa
>>> from flexarm.gym import FlexarmEnv
>>> env = FlexarmEnv(fa.library.rotating_beam(), limit=5.0, target=(0.0, 8.0, 0.0), native=False)
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
>>> dict(zip(env.names, observation.tolist()))["target.y"], terminated, truncated
(8.0, False, False)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexarm.codegen.evaluator import Native
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.system import System
from flexarm.feedback.feedback import Feedback
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, real_number
from flexarm.integrators.method import Method
from flexarm.robot import Robot
from flexarm.simulation.stepped import Simulation
from flexarm.simulation.stepped_checks import StepError

if TYPE_CHECKING:
    from flexarm.plotting.arm_artist import FrameRenderer

try:
    import gymnasium
except ImportError:
    raise ImportError("flexarm.gym needs gymnasium: pip install 'gymnasium>=1.0'") from None

Numbers = NDArray[np.float32]
Target = Sequence[float] | Array | Callable[[np.random.Generator], Any] | None
OPTIONS = ("q0", "v0", "target")


class FlexarmEnv(gymnasium.Env[Numbers, Numbers]):
    """A `robot` as an environment: actions are torques, held for `dt` (s), as shares (-1 to 1) of their limits.

    robot: a robot, or its `fa.System`.
    limit: the largest torque of each actuator (N m or N), as for `fa.Feedback`: one number, an array, or by link name.
    observe: names of what is observed, as runs and simulations have them (`upper.q`, `v.upper.q`, `tip.x`,
        `deflection.fore.y`, ...), and `target.x`. Unless given: joints and motors with their rates, tip and target.
    target: a place for the tip (x, y, z), or a function of a `numpy.random.Generator` that draws one at each reset.
    reward: a function of (sim, action). Unless given, minus the distance of the tip from the target (m): a choice, not
        more; a step that fails then costs what staying there until the end would.
    duration: of an episode (s), after which it is truncated.
    q0, v0: where episodes start, as for `fa.simulate`; `noise` is the standard deviation of what is added to joints
        (rad or m, within their travel) and to their rates.
    method, substeps, rtol, native: as for `fa.Simulation`; machine code, unless told otherwise, since runs that change
        over to it are not repeatable to the last digit.
    render_mode: "rgb_array" for images, or None.

    An episode is terminated where a step has no result, or a joint comes to the end of its travel: `info["reason"]`
    tells why, and the observation is of the state before. `env.reset(options={"q0": ..., "v0": ..., "target": ...})`
    starts one elsewhere. `env.sim` is the `fa.Simulation`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as gymnasium has it)
        "render_modes": ["rgb_array"],
        "render_fps": 50,
    }

    def __init__(
        self,
        robot: Robot | System,
        *,
        limit: float | Sequence[float] | Mapping[str, float],
        dt: float = 0.01,
        observe: Sequence[str] | None = None,
        target: Target = None,
        reward: Callable[[Simulation, Numbers], float] | None = None,
        duration: float = 5.0,
        q0: Vector | str = None,
        v0: Vector = None,
        noise: float = 0.0,
        method: str | Method = "auto",
        substeps: int = 1,
        rtol: float = 1e-4,
        native: Native = True,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode = {shown(render_mode)}: must be 'rgb_array' or None")
        if reward is None and target is None:
            raise ValueError("reward: give one, a function of (sim, action), or a target, which has one")
        if reward is not None and not callable(reward):
            raise TypeError(f"reward = {shown(reward)}: must be a function of (sim, action)")
        self._drawn: Callable[[np.random.Generator], Any] | None = target if callable(target) else None
        self._aim: Array | None = None if target is None or callable(target) else _place(target)
        self._noise = real_number("noise", noise, least=0)
        duration = real_number("duration", duration, "s", above=0)
        self.sim = Simulation(robot, dt, q0=q0, v0=v0, method=method, substeps=substeps, rtol=rtol, native=native)
        system = self.sim.system
        if self._noise and system.constraints:
            raise ValueError(
                f"noise = {shown(noise)}: would tear the constraints of this robot open; start it elsewhere by "
                "env.reset(options={'q0': ...})"
            )
        if not system.nu:
            raise ValueError(f"robot: {system.robot.name!r} has no actuators, so there is nothing to do")
        self.limits = _limits(limit, system)
        self.steps = max(1, round(duration / self.sim.dt))
        self.target: Array | None = self._aim
        self._reward, self.render_mode = reward, render_mode
        self.metadata = {**self.metadata, "render_fps": max(1, round(1 / self.sim.dt))}
        self.names = tuple(_usual(system, target is not None) if observe is None else _names(observe))
        self._readers = [self._reader(name) for name in self.names]
        self._origin, self._count = self.sim.state, 0
        self._camera: FrameRenderer | None = None
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (system.nu,), np.float32)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (len(self.names),), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Start an episode; a `seed` makes what is drawn repeatable, `options` say where it starts and aims."""
        super().reset(seed=seed)
        given = dict(options or {})
        for name in given:
            if name not in OPTIONS:
                raise KeyError(f"options: there is no {shown(name)}{suggestion(name, OPTIONS)}")
        self.target = _place(given["target"]) if given.get("target") is not None else self._place_to_go()
        if given.get("q0") is not None or given.get("v0") is not None:
            self.sim.reset(given.get("q0"), given.get("v0"))
        else:
            self.sim.state = self._origin
        if self._noise:
            self._shake()
        self._count = 0
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        """Hold the torques of an `action` for dt; beyond the limits they are cut, as drives do."""
        shares = real_array("action", action)
        if shares.shape != self.action_space.shape or not np.isfinite(shares).all():
            raise ValueError(
                f"action = {shown(action)}: must be a finite number for each of {', '.join(self.sim.system.inputs)}"
            )
        shares = np.clip(shares, -1.0, 1.0)
        reason: dict[str, Any] = {}
        try:
            self.sim.step(shares * self.limits)
        except StepError as error:
            reason = {"reason": str(error), "status": error.status}
        left = self.steps - self._count
        self._count += 1
        told = self._rewarded(shares.astype(np.float32), left if reason else 1)
        truncated = not reason and self._count >= self.steps
        return self._observation(), told, bool(reason), truncated, {**self._info(), **reason}

    def render(self) -> Any:
        """The robot as it is, an array (height, width, 3) of bytes with render_mode="rgb_array"; else nothing."""
        if self.render_mode is None:
            return None
        from flexarm.plotting.arm_artist import FrameRenderer

        marks = np.zeros((0, 3)) if self.target is None else self.target[None, :]
        if self._camera is None:
            self._camera = FrameRenderer(self.sim.system, np.array(self.sim.q), marks)
        return self._camera.image(np.array(self.sim.q), marks, f"t = {self.sim.t:.2f} s")

    # --- inside ---

    def _place_to_go(self) -> Array | None:
        return self._aim if self._drawn is None else _place(self._drawn(self.np_random))

    def _shake(self) -> None:
        """Add noise to joints, and to motors behind them, and to their rates."""
        system, q, v = self.sim.system, np.array(self.sim.q), np.array(self.sim.v)
        for link in system.robot.links:
            own = [each for each in system.coordinates if each.link == link.name and each.kind != "elastic"]
            if not own:
                continue
            turn, rate = self.np_random.normal(0.0, self._noise, 2)
            at = q[system.joint(link.name).index]
            travel = system.robot.travel(link)
            moved = at + turn if travel is None else np.clip(at + turn, *travel)
            for each in own:
                q[each.index] += moved - at
                v[each.index] += rate
        self.sim.reset(q, v, self.sim.t)

    def _reader(self, name: str) -> Callable[[Simulation], float]:
        if name in TARGETS and (self._aim is not None or self._drawn is not None):
            return partial(self._aimed, TARGETS.index(name))
        try:
            return self.sim.reader(name)
        except KeyError as error:
            raise KeyError(f"observe: {error.args[0]}") from None

    def _aimed(self, axis: int, sim: Simulation) -> float:
        return np.nan if self.target is None else float(self.target[axis])

    def _observation(self) -> Numbers:
        return np.array([read(self.sim) for read in self._readers], dtype=np.float32)

    def _info(self) -> dict[str, Any]:
        info = {"t": self.sim.t, "error": self.sim.error}
        return info if self.target is None else {**info, "distance": self._distance(self.target)}

    def _distance(self, target: Array) -> float:
        return math.dist(self.sim.tip, target)

    def _rewarded(self, action: Numbers, times: int) -> float:
        if self._reward is None and self.target is not None:
            return -self._distance(self.target) * times
        assert self._reward is not None
        return real_number("reward", self._reward(self.sim, action))


TARGETS = ("target.x", "target.y", "target.z")


def _usual(system: System, aims: bool) -> list[str]:
    """What is observed where nothing is said."""
    moving = [each.name for each in system.coordinates if each.kind != "elastic"]
    return [*moving, *(f"v.{name}" for name in moving), "tip.x", "tip.y", "tip.z", *(TARGETS if aims else ())]


def _names(observe: Any) -> list[str]:
    if isinstance(observe, str) or not isinstance(observe, Sequence) or not observe:
        raise TypeError(f"observe = {shown(observe)}: must be a list of names")
    return list(observe)


def _place(target: Any) -> Array:
    place = real_array("target", target)
    if place.shape != (3,) or not np.isfinite(place).all():
        raise ValueError(f"target = {shown(target)}: must be three finite numbers (m), or a function that draws them")
    return place.copy()


def _limits(limit: Any, system: System) -> Array:
    """The largest torque of each actuator, all of them finite."""
    if limit is None:
        raise ValueError("limit = None: give the largest torque of each actuator")
    try:
        limits = Feedback(lambda t, q, v: [], limit=limit).limits(system)
    except (ValueError, KeyError, TypeError) as error:
        raise type(error)(str(error.args[0]).replace("Feedback: ", "", 1)) from None
    for name, value in zip(system.inputs, limits.tolist(), strict=True):
        if not np.isfinite(value):
            raise ValueError(f"limit = {shown(limit)}: gives none for '{name}'")
    return np.array(limits)
