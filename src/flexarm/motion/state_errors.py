"""What errors of a law's states are worth: how far they move the robot, and how large they are against the states."""

from __future__ import annotations

import casadi as ca
import numpy as np

from flexarm.codegen.lock import building
from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.motion.plant import Plant
from flexarm.motion.traced_law import ELSEWHERE, TracedLaw
from flexarm.motion.tracing import Channel

LOOKS = 9  # moments of a run at which a law is looked at
ANSWERING = 1.0  # s: so long a torque that is wrong moves the robot, then its loop has answered; chosen


def error_weights(
    system: System, plant: Plant, law: TracedLaw, numbers: Array, state: tuple[Array, Array], duration: float
) -> Array:
    """How far an error of one in each state of the law moves the robot (m): what its torque does in the time that a
    loop takes to answer (a state that no torque reads counts by the states that it changes). Then how much it counts at
    least: as the length of the robot where it is as large as the state itself. Then what is large for each."""
    slopes, large = torque_slopes(law, duration, *state)
    q, free = state[0], plant.free
    M = system.mass_matrix(q)[np.ix_(free, free)]
    push = (system.input_matrix @ slopes)[free]
    changes = np.linalg.lstsq(M, push, rcond=1e-12)[0] * ANSWERING**2 / 2
    moved = [plant.displacements.function(q, each, 0 * each, numbers)[0].full().max() for each in changes.T]
    found = np.nan_to_num(np.array(moved, dtype=float).reshape(len(law.states)))
    length = sum(link.length for link in system.robot.links) or 1.0
    return np.concatenate([found / duration, length / large / duration, large])


def torque_slopes(law: TracedLaw, duration: float, q: Array, v: Array) -> tuple[Array, Array]:
    """(nu, states): the largest that is found, of torques by the states of a law; where none reads a state, of what it
    changes in a second (and so on), or the most that is felt of it meanwhile, since a filter forgets. And what is large
    for each state. Looked at over the duration of a run, about the state (q, v) in which it begins."""
    looks = _Looks(law, duration, q, v)
    start = np.repeat(law.start[:, None], looks.count, axis=1)
    _, chain, speeds = (_largest(each) for each in looks(start))
    quickest = np.maximum(np.diag(chain), 1 / duration)  # what follows something does not add it up
    large = np.maximum(np.abs(law.start), speeds / quickest)
    large = np.where(large > 0, large, 1.0)
    torques, rates, _ = looks(start + looks.shares.T * large[:, None])
    direct, chain = _largest(torques), _largest(rates)
    unread = ~direct.any(axis=0)
    if unread.any():
        most = np.max([_felt(*each) for each in zip(torques, rates, strict=True)], axis=0)
        for _ in law.states:
            still = ~direct.any(axis=0)
            direct[:, still] = (direct @ chain)[:, still]
        direct[:, unread] = np.fmin(direct, most)[:, unread]
    return direct, large


class _Looks:
    """Moments and postures in which a law is looked at."""

    def __init__(self, law: TracedLaw, duration: float, q: Array, v: Array) -> None:
        with building:
            arguments = law.function.sx_in()
            torques, rates = law.function(*arguments)
            slopes = [ca.densify(ca.jacobian(each, arguments[5])) for each in (torques, rates)]
            self._function = ca.Function("slopes", arguments, [*slopes, rates])
        self._law, self.count = law, LOOKS * len(ELSEWHERE)
        self._t = np.repeat(np.linspace(0.0, duration, LOOKS), len(ELSEWHERE))
        self.shares = np.tile(ELSEWHERE, LOOKS)[:, None]
        sizes = law.system.sizes
        self._state = (q + self.shares * sizes).T, (v + self.shares * sizes).T
        rows = [_tried(each, self._t) for each in law.channels]
        self._channels = np.reshape(rows, (len(rows), self.count))

    def __call__(self, states: Array) -> list[Array]:
        """Slopes of torques and of rates by the states, and these rates: in each look."""
        law, count = self._law, len(self._law.states)
        given = (self._t[None, :], *self._state, self._channels, law.parameters, states)
        found = self._function(*given, law.system.numbers, np.array(law.places))
        shapes = (-1, count), (count, count), (count,)
        return [
            np.stack([part.reshape(shape) for part in np.split(each.full(), self.count, axis=1)])
            for each, shape in zip(found, shapes, strict=True)
        ]


def _largest(looks: Array) -> Array:
    sizes = np.abs(looks)
    return np.asarray(np.where(np.isfinite(sizes), sizes, 0.0).max(axis=0))


def _felt(torques: Array, rates: Array) -> Array:
    """The largest |torques exp(rates t)| within a second, at times that double, and between them."""
    if not np.isfinite(rates).all():
        return np.full(torques.shape, np.nan)
    halvings = max(1, int(np.ceil(np.log2(max(2.0, 4 * np.abs(rates).sum(axis=1).max(initial=0.0))))))
    short = rates / 2.0**halvings
    step = term = np.eye(len(rates))
    for k in range(1, 14):
        term = term @ short / k
        step = step + term
    most = np.abs(torques)
    with np.errstate(all="ignore"):  # what grows without bound is no bound
        for _ in range(halvings):
            twice = step @ step
            most = np.fmax(most, np.fmax(np.abs(torques @ step), np.abs(torques @ twice @ step)))
            step = twice
        return np.asarray(np.fmax(most, np.abs(torques @ step)))


def _tried(channel: Channel, t: Array) -> Array:
    """Zeros where a function of the user's fails: a run that gets there tells."""
    try:
        return channel(t)
    except Exception:
        return np.zeros(t.shape)
