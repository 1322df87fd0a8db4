"""Short runs that several tests plot."""

from functools import cache

import numpy as np

import flexarm as fa

ALUMINIUM = fa.Material(E=7e10, rho=2700, damping=1e-3)
BAR = fa.Section.rectangle(0.004, 0.02)


@cache
def two_link(rigid: bool = False) -> fa.Run:
    """Return a run of the two-link arm under bang-bang torques for one second."""
    robot = fa.library.two_link_arm(damping=1e-3)
    torque = {"upper": fa.bang_bang(0.05, (0.5, 1)), "fore": fa.bang_bang(0.01, (0.5, 1))}
    return fa.simulate(
        robot.rigid() if rigid else robot, 1.0, torque=torque, points={"elbow": ("upper", 1.0)}, native=False
    )


@cache
def spatial() -> fa.Run:
    motion = {"column": fa.cycloid(0, 1.0, 4.0), "upper": fa.cycloid(0, -0.5, 4.0), "fore": fa.cycloid(0, 0.5, 4.0)}
    return fa.simulate(fa.library.rrr_arm(), 1.0, motion=motion, sample=0.05, native=False)


@cache
def telescope() -> fa.Run:
    """Return a run of a boom that slides out of a rotating shoulder."""
    robot = fa.Robot(
        "telescope",
        links=[
            fa.Link("shoulder", length=0.3, mass=1.0, hub=fa.PointMass(0.5, inertia=0.01)),
            fa.Link(
                "boom",
                length=1.0,
                joint=fa.FixedPrismatic(),
                section=BAR,
                material=ALUMINIUM,
                flexible=fa.Flexible(bend_y=2),
                payload=fa.PointMass(0.2),
                offset=(0, 0.05, 0),
            ),
        ],
    )
    motion = {"shoulder": fa.cycloid(0, 0.5, 1.0), "boom": fa.cycloid(0.3, 0.8, 1.0)}
    return fa.simulate(robot, 1.0, motion=motion, q0={"boom.q": 0.3}, sample=0.02, native=False)


@cache
def cart() -> fa.Run:
    """Return a run of a cart with a flexible pendulum in the xz plane."""
    pole = fa.Link(
        "pole",
        length=0.8,
        joint=fa.Revolute("y", mount=(0, np.pi / 2, 0)),
        section=fa.Section.rectangle(0.02, 0.004),
        material=ALUMINIUM,
        flexible=fa.Flexible(bend_z=2),
        payload=fa.PointMass(0.3),
    )
    trolley = fa.Link("trolley", length=0.1, joint=fa.SlidingPrismatic(), mass=1.0, offset=(0, 0, 0.05))
    robot = fa.Robot("cart", links=[trolley, pole], gravity=(0, 0, -9.81))
    return fa.simulate(robot, 1.0, motion={"trolley": fa.cycloid(0, 0.5, 1.0)}, sample=0.02, native=False)
