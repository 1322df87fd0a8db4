"""Gymnasium environments of robots, for reinforcement learning.

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
from flexarm.dynamics.quantity_names import derivative
from flexarm.dynamics.system import System
from flexarm.feedback.feedback import Feedback
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, real_number
from flexarm.integrators.methods.method import Method
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
TARGETS = ("target.x", "target.y", "target.z")


class FlexarmEnv(gymnasium.Env[Numbers, Numbers]):
    """Gymnasium environment of a robot driven by torques.

    An action is an array of torques as fractions (-1 to 1) of `limit`, held constant for `dt`. An episode is terminated
    if a step fails or a joint reaches a limit of its travel: `info["reason"]` contains the reason, and the observation
    is that of the last valid state. It is truncated after `duration`.

    Parameters
    ----------
    robot : Robot or System
        The robot; it must have at least one actuator.
    limit : float, sequence of float or mapping of str to float
        Largest torque of each actuator (N m or N), as for `Feedback`: one value, an array, or values by link name.
    dt : float, optional
        Duration of a step (s).
    observe : sequence of str, optional
        Names of the observed quantities, as in runs and simulations (`upper.q`, `upper.q'`, `tip.x`,
        `deflection.fore.y`, ...), and `target.x`, `target.y`, `target.z`. By default the coordinates of joints and
        motors, their rates, the tip and the target.
    target : sequence of 3 floats or callable, optional
        Target position of the tip (m), or a function of a `numpy.random.Generator` that returns a position for each
        episode.
    reward : callable, optional
        Function of (sim, action) that returns the reward of a step. By default minus the distance of the tip from the
        target (m); a failed step is then charged with that distance for all remaining steps of the episode.
    duration : float, optional
        Duration of an episode (s).
    q0, v0 : optional
        Initial coordinates and rates, as for `simulate`.
    noise : float, optional
        Standard deviation of the random offset of the initial joint coordinates (rad or m, within the travel of the
        joints) and of their rates (per s).
    method, substeps, rtol : optional
        Integration method, number of substeps and tolerance, as for `Simulation`.
    native : bool or "auto", optional
        Use of compiled code, as for `Simulation`. The default is True, because runs that switch to compiled code
        midway are not repeatable to the last digit.
    render_mode : {"rgb_array"}, optional
        Return images from `render`; by default there are none.

    Attributes
    ----------
    sim : Simulation
        The simulation behind the environment.
    names : tuple of str
        Names of the entries of an observation.
    limits : ndarray, shape (nu,)
        Largest torque of each actuator.
    target : ndarray, shape (3,), or None
        Target of the current episode.

    See Also
    --------
    flexarm.Simulation : Simulation that advances step by step.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (declared as in gymnasium)
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
            raise ValueError("reward: give a function of (sim, action), or a target for the default reward")
        if reward is not None and not callable(reward):
            raise TypeError(f"reward = {shown(reward)}: must be a function of (sim, action)")
        self._given_target = target if target is None or callable(target) else _position(target)
        self._noise = real_number("noise", noise, least=0)
        duration = real_number("duration", duration, "s", above=0)
        self.sim = Simulation(robot, dt, q0=q0, v0=v0, method=method, substeps=substeps, rtol=rtol, native=native)
        system = self.sim.system
        if self._noise and system.constraints:
            raise ValueError(
                f"noise = {shown(noise)}: would violate the constraints of this robot; vary its initial state by "
                "env.reset(options={'q0': ...})"
            )
        if not system.nu:
            raise ValueError(f"robot: {system.robot.name!r} has no actuators, so there are no actions")
        self.limits = _limits(limit, system)
        self.steps = max(1, round(duration / self.sim.dt))
        self.target: Array | None = None if callable(self._given_target) else self._given_target
        self._reward, self.render_mode = reward, render_mode
        self.metadata = {**self.metadata, "render_fps": max(1, round(1 / self.sim.dt))}
        self.names = tuple(self._default_names() if observe is None else _names(observe))
        self._readers = [self._reader(name) for name in self.names]
        self._initial_state, self._step_count = self.sim.state, 0
        self._renderer: FrameRenderer | None = None
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (system.nu,), np.float32)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (len(self.names),), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Start an episode.

        Parameters
        ----------
        seed : int, optional
            Seed of the random target and noise.
        options : dict, optional
            Values for this episode: "q0", "v0" and "target".

        Returns
        -------
        observation : ndarray of float32
            Observed quantities, in the order of `names`.
        info : dict
            Time "t" (s), estimated "error" of the simulation (m) and, if there is a target, "distance" (m).
        """
        super().reset(seed=seed)
        given = dict(options or {})
        for name in given:
            if name not in OPTIONS:
                raise KeyError(f"options: there is no {shown(name)}{suggestion(name, OPTIONS)}")
        target = self._given_target if given.get("target") is None else given["target"]
        self.target = None if target is None else _position(target(self.np_random) if callable(target) else target)
        if given.get("q0") is not None or given.get("v0") is not None:
            self.sim.reset(given.get("q0"), given.get("v0"))
        else:
            self.sim.state = self._initial_state
        if self._noise:
            self._add_noise()
        self._step_count = 0
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        """Apply the torques of an action for one step.

        Parameters
        ----------
        action : array_like, shape (nu,)
            Torques as fractions of their limits; values beyond -1 and 1 are clipped.

        Returns
        -------
        observation : ndarray of float32
            Observed quantities, in the order of `names`.
        reward : float
            Reward of the step.
        terminated : bool
            True if the step failed or a joint reached a limit of its travel.
        truncated : bool
            True at the end of the episode's duration.
        info : dict
            As for `reset`, with "reason" and "status" if the episode was terminated.
        """
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
        remaining = self.steps - self._step_count
        self._step_count += 1
        reward = self._step_reward(shares.astype(np.float32), remaining if reason else 1)
        truncated = not reason and self._step_count >= self.steps
        return self._observation(), reward, bool(reason), truncated, {**self._info(), **reason}

    def render(self) -> Any:
        """Return an image of the robot.

        Returns
        -------
        ndarray of uint8, shape (height, width, 3), or None
            None unless `render_mode` is "rgb_array".
        """
        if self.render_mode is None:
            return None
        from flexarm.plotting.arm_artist import FrameRenderer

        marks = np.zeros((0, 3)) if self.target is None else self.target[None, :]
        if self._renderer is None:
            self._renderer = FrameRenderer(self.sim.system, np.array(self.sim.q), marks)
        return self._renderer.image(np.array(self.sim.q), marks, f"t = {self.sim.t:.2f} s")

    def _add_noise(self) -> None:
        """Add noise to the coordinates and rates of joints and of the motors behind elastic drives."""
        system, q, v = self.sim.system, np.array(self.sim.q), np.array(self.sim.v)
        for link in system.robot.links:
            motors = [each for each in system.coordinates if each.link == link.name and each.kind == "motor"]
            for joint, travel in zip(system.joints(link.name), system.robot.travels(link), strict=True):
                turn, rate = self.np_random.normal(0.0, self._noise, 2)
                at = q[joint.index]
                moved = at + turn if travel is None else np.clip(at + turn, *travel)
                for each in (joint, *motors):
                    q[each.index] += moved - at
                    v[each.index] += rate
        self.sim.reset(q, v, self.sim.t)

    def _default_names(self) -> list[str]:
        """Return the names of the quantities that are observed by default."""
        moving = [each.name for each in self.sim.system.coordinates if each.kind != "elastic"]
        targets = [] if self._given_target is None else TARGETS
        return [*moving, *(derivative(name) for name in moving), "tip.x", "tip.y", "tip.z", *targets]

    def _reader(self, name: str) -> Callable[[Simulation], float]:
        if name in TARGETS and self._given_target is not None:
            return partial(self._target_entry, TARGETS.index(name))
        try:
            return self.sim.reader(name)
        except KeyError as error:
            raise KeyError(f"observe: {error.args[0]}") from None

    def _target_entry(self, axis: int, sim: Simulation) -> float:
        return np.nan if self.target is None else float(self.target[axis])

    def _observation(self) -> Numbers:
        return np.array([read(self.sim) for read in self._readers], dtype=np.float32)

    def _info(self) -> dict[str, Any]:
        info = {"t": self.sim.t, "error": self.sim.error}
        return info if self.target is None else {**info, "distance": math.dist(self.sim.tip, self.target)}

    def _step_reward(self, action: Numbers, count: int) -> float:
        if self._reward is not None:
            return real_number("reward", self._reward(self.sim, action))
        assert self.target is not None
        return -math.dist(self.sim.tip, self.target) * count


def _names(observe: Any) -> list[str]:
    if isinstance(observe, str) or not isinstance(observe, Sequence) or not observe:
        raise TypeError(f"observe = {shown(observe)}: must be a list of names")
    return list(observe)


def _position(target: Any) -> Array:
    position = real_array("target", target)
    if position.shape != (3,) or not np.isfinite(position).all():
        raise ValueError(f"target = {shown(target)}: must be three finite numbers (m), or a function that draws them")
    return position.copy()


def _limits(limit: Any, system: System) -> Array:
    """Return the largest torque of each actuator; all must be finite."""
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
