"""The cases: each kind is a function of its random parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import pi
from typing import Any

import numpy as np

import flexarm as fa
from tolerance_set import robots
from tolerance_set.draw import Draw
from tolerance_set.laws import following, gains
from tolerance_set.robots import inertia, softness


@dataclass(frozen=True)
class Case:
    """A run: `fa.simulate(robot, duration, rtol=rtol, **inputs)`."""

    robot: fa.Robot
    duration: float
    rtol: float
    inputs: dict[str, Any] = field(default_factory=dict)
    name: str = ""

    @property
    def length(self) -> float:
        return sum(link.length for link in self.robot.links)

    @property
    def tolerance(self) -> float:
        """How far links may be from where they should be (m)."""
        return self.rtol * self.length


Kind = Callable[[Draw], Case]
_kinds: dict[str, tuple[int, Kind]] = {}


def kind(name: str, count: int) -> Callable[[Kind], Kind]:
    def known(make: Kind) -> Kind:
        _kinds[name] = count, make
        return make

    return known


def kinds() -> list[str]:
    return list(_kinds)


def case(name: str, stretch: float = 0.0) -> Case:
    """By its name, "friction 3"; with all of its numbers larger by the fraction `stretch`."""
    of, number = name.rsplit(" ", 1)
    found = _kinds[of][1](Draw(of, int(number), stretch))
    return Case(found.robot, found.duration, found.rtol, found.inputs, name)


def names(of: str | None = None) -> list[str]:
    return [f"{each} {k}" for each, (count, _) in _kinds.items() if of in (None, each) for k in range(count)]


def acceleration(robot: fa.Robot, wanted: float) -> float:
    """That of a joint (rad/s2), less than what would bend soft links too far."""
    return min(wanted, 0.3 * min(map(softness, robot.links)) / len(robot.links))


def torques(robot: fa.Robot, wanted: float) -> dict[str, float]:
    """That give every joint about this acceleration (rad/s2)."""
    size = acceleration(robot, wanted)
    return {link.name: inertia(robot, k) * size for k, link in enumerate(robot.links)}


PLANAR = (robots.rigid_pair, robots.one_rod, robots.rod_of_elements, robots.two_rods, robots.three_links)


@kind("planar", 15)
def planar(draw: Draw) -> Case:
    """Sines and steps that begin softly, some with a start in motion."""
    robot = draw.turn(PLANAR)(draw)
    duration = draw.between(1, 4)
    size = torques(robot, draw.between(1, 4))
    torque = {name: fa.sine(each, draw.between(0.2, 1.5), draw.between(0, 2)) for name, each in size.items()}
    start = {f"{robot.links[-1].name}.q": draw.between(-1, 1)}
    return Case(robot, duration, draw.rtol(len(PLANAR)), {"torque": torque, "q0": start})


@kind("spatial", 12)
def spatial(draw: Draw) -> Case:
    makes = (robots.spatial_rod, robots.spatial_arm)
    robot = draw.turn(makes)(draw)
    size = torques(robot, draw.between(1, 3))
    torque = {name: fa.sine(each, draw.between(0.3, 1.5), draw.between(0, 2)) for name, each in size.items()}
    return Case(robot, draw.between(0.5, 2), draw.rtol(len(makes)), {"torque": torque})


@kind("jumps", 15)
def jumps(draw: Draw) -> Case:
    """Torques that jump."""
    robot = draw.turn(PLANAR)(draw)
    duration = draw.between(1, 4)
    signs = {name: draw.sign() * each for name, each in torques(robot, draw.between(1, 6)).items()}

    def push(size: float) -> fa.Profile:
        first = draw.between(0.1, 0.4) * duration
        if draw.number % 2:
            return fa.step(-size / 2, size, first)
        return fa.bang_bang(size, (first, 2 * first))

    return Case(robot, duration, draw.rtol(len(PLANAR)), {"torque": {name: push(each) for name, each in signs.items()}})


@kind("friction", 12)
def friction(draw: Draw) -> Case:
    """Coulomb friction: joints that stick, break loose and turn back."""
    makes = (robots.rigid_pair, robots.one_rod)
    robot = draw.turn(makes)(draw)
    size = torques(robot, draw.between(3, 10))
    links = [
        link.model_copy(update={"joint": fa.Revolute(**robots.friction(draw, size[link.name]))}) for link in robot.links
    ]
    if draw.number % 4 < 2:
        torque = {name: fa.sine(each, draw.between(0.5, 2)) for name, each in size.items()}
    else:
        torque = {name: fa.bang_bang(each, (draw.between(0.3, 0.6), 1.0)) for name, each in size.items()}
    return Case(fa.Robot(links=links), draw.between(1.5, 3), draw.rtol(len(makes)), {"torque": torque})


@kind("stops", 12)
def stops(draw: Draw) -> Case:
    """Against elastic stops: a cart, a cart with a flexible pole, a flexible arm."""
    makes = (partial(robots.cart, flexible=False), partial(robots.cart, flexible=True), robots.stopped_rod)
    robot = draw.turn(makes)(draw)
    first = robot.links[0]
    force = robot.total_mass * draw.between(1, 3)
    if first.name != "cart":
        force = torques(robot, draw.between(4, 20))[first.name]
    elif len(robot.links) > 1:
        force = min(force, robot.total_mass * acceleration(robot, 1.0) / 2)
    push = fa.bang_bang(force, (draw.between(0.6, 1.0), draw.between(1.5, 2.0)))
    return Case(robot, draw.between(1.5, 2.5), draw.rtol(len(makes)), {"torque": {first.name: push}})


@kind("stiff gains", 12)
def stiff_gains(draw: Draw) -> Case:
    """Feedback whose bandwidth is far above that of its aim."""
    makes = (robots.rigid_pair, robots.one_rod)
    robot = draw.turn(makes)(draw)
    joints = [link.name for link in robot.links]
    duration, angle = draw.between(1, 3), 0.2 if len(joints) == 1 else 1.0
    if draw.number % 4 < 2:
        aims = [fa.cycloid(0, angle * draw.between(0.5, 1), 1.5 * duration) for _ in joints]
    else:
        aims = [fa.ramp(0, angle * draw.between(0.2, 0.5), 0.1, 1.1 * duration) for _ in joints]
    inertias = [inertia(robot, k) for k in range(len(joints))]
    tuned = gains(inertias, draw.about(30, 1000), draw.between(0.3, 1.5))
    return Case(robot, duration, draw.rtol(len(makes)), {"torque": fa.Feedback(following(joints, aims), gains=tuned)})


@kind("chirps", 9)
def chirps(draw: Draw) -> Case:
    """Through resonances."""
    makes = (robots.one_rod, robots.two_rods, robots.rigid_pair)
    robot = draw.turn(makes)(draw)
    duration, size = draw.between(2, 6), torques(robot, 10.0)
    torque = {name: fa.chirp(each, 0.5, draw.about(5, 60), 0.9 * duration) for name, each in size.items()}
    return Case(robot, duration, draw.rtol(len(makes)), {"torque": torque})


@kind("fast sines", 12)
def fast_sines(draw: Draw) -> Case:
    """Faster than a first step would see."""
    makes = (robots.rigid_pair, robots.one_rod)
    robot = draw.turn(makes)(draw)
    frequency = draw.turn((20.0, 50.0, 100.0, 100.0, 200.0, 33.0))
    size = torques(robot, 0.02 * (2 * pi * frequency) ** 2)
    phase = draw.turn((0.0, pi / 2, pi / 2, 0.0, 1.0))
    torque = {name: fa.sine(each, frequency, phase) for name, each in size.items()}
    return Case(robot, draw.between(0.5, 1.5), draw.rtol(len(makes)), {"torque": torque})


def bump(size: float, middle: float, width: float) -> Callable[[Any], Any]:
    """A smooth pulse as a function of t."""
    return lambda t: size * np.exp(-(((t - middle) / width) ** 2))


@kind("pulses", 8)
def pulses(draw: Draw) -> Case:
    """A few milliseconds long, in splines and in functions of t."""
    makes = (robots.rigid_pair, robots.one_rod)
    robot = draw.turn(makes)(draw)
    at, width = draw.between(0.3, 0.6), draw.about(0.003, 0.02)
    size = torques(robot, 0.3 / width)
    if draw.number % 4 < 2:
        torque = {name: bump(each, at, width) for name, each in size.items()}
    else:
        times = np.append(np.arange(at - 4 * width, at + 4 * width, 1e-3), 5.0)
        shape = np.where(times < 1, np.exp(-(((times - at) / width) ** 2)), 0.0)
        shape[0] = 0.0
        torque = {name: fa.spline(times, each * shape) for name, each in size.items()}
    return Case(robot, draw.between(0.8, 1.5), draw.rtol(len(makes)), {"torque": torque})


@kind("driven", 12)
def driven(draw: Draw) -> Case:
    """Joints whose motion is prescribed."""
    makes = (robots.one_rod, robots.two_rods, robots.three_links)
    robot = draw.turn(makes)(draw)
    duration = draw.between(1.5, 4)
    size = acceleration(robot, 4.0) * duration**2 / 10
    motion = {"upper": fa.cycloid(0, min(2.0, size), draw.turn((0.7, 1.3)) * duration)}
    if len(robot.links) == 2:
        motion["fore"] = fa.sine(min(0.3, size / 40), draw.between(0.5, 1.0))
    return Case(robot, duration, draw.rtol(len(makes)), {"motion": motion})


@kind("digital", 10)
def digital(draw: Draw) -> Case:
    """Controllers with a sample rate."""
    makes = (robots.rigid_pair, robots.one_rod)
    robot = draw.turn(makes)(draw)
    joints = [link.name for link in robot.links]
    duration = draw.between(0.8, 2)
    aims = [fa.cycloid(0, 0.3 * draw.between(0.5, 1), 1.5 * duration) for _ in joints]
    tuned = gains([inertia(robot, k) for k in range(len(joints))], draw.between(3, 8), draw.between(0.4, 0.8))
    law = fa.Feedback(following(joints, aims), rate=draw.turn((100.0, 50.0, 200.0, 400.0)), gains=tuned)
    return Case(robot, duration, draw.rtol(len(makes)), {"torque": law})


@kind("loops", 12)
def loops(draw: Draw) -> Case:
    """Four-bar linkages, pushed or driven, rigid or with a coupler that bends."""
    flexible, pushed = draw.turn((False, True)), draw.turn((True, True, False))
    robot, start = robots.four_bar(draw, flexible)
    duration = draw.between(0.6, 1.5)
    inputs: dict[str, Any] = {"q0": start}
    if pushed:
        size = draw.between(1, 3) * (inertia(robot, 0) + inertia(robot, 2)) / duration**2 / 3
        inputs["torque"] = {"crank": fa.bang_bang(size, (0.6 * duration, 0.9 * duration))}
    else:
        inputs["motion"] = {"crank": fa.cycloid(0, draw.between(2, 2 * pi), duration)}
    return Case(robot, duration, draw.rtol(2), inputs)


@kind("drives", 9)
def drives(draw: Draw) -> Case:
    """Elastic drives."""
    flexible = draw.turn((False, True))
    robot = robots.geared(draw, flexible)
    size = torques(robot, draw.between(2, 8))["upper"]
    push = fa.bang_bang(size, (draw.between(0.3, 0.6), draw.between(0.8, 1.2)))
    return Case(robot, draw.between(1, 3), draw.rtol(2), {"torque": {"upper": push}})


@kind("pendulums", 12)
def pendulums(draw: Draw) -> Case:
    """Under gravity, from rest beside the vertical."""
    choice = draw.turn(("one", "two", "rod"))
    start = {"upper.q": -pi / 2 + draw.between(0.2, 1.2)}
    if choice == "one":
        robot, duration = fa.Robot(links=[robots.lump(draw, "upper")], gravity=robots.DOWN), draw.between(3, 15)
    elif choice == "two":
        robot, duration = robots.rigid_pair(draw, gravity=robots.DOWN), draw.between(0.7, 1.5)
    else:
        link = robots.rod(draw, "upper", fa.Flexible(bend_y=2), length=draw.between(0.3, 0.5))
        robot, duration = fa.Robot(links=[link], gravity=robots.DOWN), draw.between(1, 4)
    return Case(robot, duration, draw.rtol(3), {"q0": start})


@kind("metal", 12)
def metal(draw: Draw) -> Case:
    """Undamped links of steel under torques that jump."""
    robot = robots.steel_pair(draw)
    duration, size = draw.between(0.5, 1.5), torques(robot, draw.between(2, 10))
    if draw.number % 2:
        torque = {name: fa.step(0.0, each, 0.1) for name, each in size.items()}
    else:
        torque = {name: fa.bang_bang(each, (duration / 3, 2 * duration / 3)) for name, each in size.items()}
    return Case(robot, duration, draw.rtol(2), {"torque": torque})


@kind("vibration", 10)
def vibration(draw: Draw) -> Case:
    """Clamped beams for a long time: phase errors add up."""
    robot = robots.clamped(draw, damped=bool(draw.number % 2))
    link = robot.links[0]
    force = robots.stiffness(link) * draw.between(0.02, 0.05) * link.length
    release = fa.step(force, 0.0, draw.between(0.2, 0.5))
    load = fa.PointLoad("beam", link.length, force=(0.0, release, 0.0))
    return Case(robot, draw.between(8, 20), draw.rtol(2), {"loads": [load]})


@kind("spin-up", 9)
def spin_up(draw: Draw) -> Case:
    robot = robots.spinner(draw)
    duration = draw.between(4, 12)
    turning = fa.spin_up(draw.between(1, 4), draw.between(0.5, 0.9) * duration)
    return Case(robot, duration, draw.rtol(1), {"motion": {"beam": turning}})


@kind("riders", 6)
def riders(draw: Draw) -> Case:
    """A trolley along a beam that bends under it, driven or pushed."""
    robot = robots.trolley(draw)
    beam = robot.links[0].length
    duration, start = draw.between(1, 3), 0.2 * beam
    if draw.number % 2:
        ride = fa.cycloid(start, draw.between(0.6, 0.9) * beam, 0.7 * duration)
        inputs: dict[str, Any] = {"motion": {"trolley": ride}}
    else:
        force = robot.links[1].total_mass * 0.5 * beam / (0.6 * duration) ** 2
        push = fa.bang_bang(force, (0.3 * duration, 0.6 * duration))
        inputs = {"torque": {"trolley": push}, "q0": {"trolley.q": start}}
    return Case(robot, duration, draw.rtol(2), inputs)


@kind("mixed", 18)
def mixed(draw: Draw) -> Case:
    """Steel with all that is hard at once: jumps, friction, a stop, and in every second case stiff feedback."""
    robot = robots.workshop_arm(draw, draw.between(2, 8))
    duration = draw.between(0.6, 1.5)
    joints = [link.name for link in robot.links]
    if draw.number % 2:
        aims = [fa.step(0.0, draw.sign() * draw.between(0.1, 0.4), 0.1) for _ in joints]
        tuned = gains([inertia(robot, k) for k in range(len(joints))], draw.about(10, 60), draw.between(0.3, 1))
        return Case(robot, duration, draw.rtol(2), {"torque": fa.Feedback(following(joints, aims), gains=tuned)})
    size = {name: draw.sign() * each for name, each in torques(robot, draw.between(4, 12)).items()}
    torque = {
        name: fa.bang_bang(each, (draw.between(0.2, 0.4) * duration, draw.between(0.6, 0.8) * duration))
        for name, each in size.items()
    }
    return Case(robot, duration, draw.rtol(2), {"torque": torque})
