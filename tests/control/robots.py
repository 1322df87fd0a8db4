"""Small robots with known answers."""

import flexarm as fa

BAR = fa.Section.rectangle(0.01, 0.004)
METAL = fa.Material(7e10, 2700.0)
DOWN = (0, 0, -9.81)


def pendulum(drive=None, gravity=(0, 0, 0), axis="z"):
    """One point of 1 kg at 1 m."""
    joint = fa.Revolute(axis, drive=drive)
    return fa.Robot(links=[fa.Link("a", 1.0, joint, mass=0.0, payload=fa.PointMass(1.0))], gravity=gravity)


def weighty(drive=None):
    """Two soft links that hang on hinges, with hubs."""
    links = [
        fa.Link(
            name,
            0.5,
            fa.Revolute("y", drive=drive),
            section=BAR,
            material=METAL,
            flexible=fa.Flexible(bend_z=2),
            hub=fa.PointMass(0.0, inertia=0.01),
            payload=fa.PointMass(0.2),
        )
        for name in "ab"
    ]
    return fa.Robot(links=links, gravity=DOWN)
