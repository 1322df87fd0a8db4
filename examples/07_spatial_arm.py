"""Simulate a crane-like arm in space under gravity, which bends in both directions and twists.

Joints turn about any axis of their frame; `mount` rotates that frame relative to the parent (roll, pitch, yaw in rad).
"""

from math import pi

import flexarm as fa

steel = fa.Material(E=2.1e11, rho=7850.0, G=8e10, damping=2e-3)
tube = fa.Section.tube(0.05, 0.045)
shapes = fa.Flexible(bend_y=2, bend_z=2, twist=1)
up, level = (0, -pi / 2, 0), (0, pi / 2, 0)  # pitches that turn the link's x axis upward, and back

arm = fa.Robot(
    "spatial arm",
    gravity=(0, 0, -9.81),
    links=[
        fa.Link("column", length=0.8, mass=20.0, joint=fa.Revolute("x", mount=up), hub=fa.PointMass(5.0, inertia=0.1)),
        fa.Link("boom", length=2.0, joint=fa.Revolute("y", mount=level), section=tube, material=steel, flexible=shapes),
        fa.Link(
            "stick",
            length=1.5,
            joint=fa.Revolute("y"),
            section=tube,
            material=steel,
            flexible=shapes,
            payload=fa.PointMass(8.0),
        ),
    ],
)

# In equilibrium at first, then turned by a quarter turn in 1.5 s, then 1.5 s of free vibration.
motion = {"column": fa.cycloid(0, pi / 2, 1.5), "boom": fa.cycloid(0, -0.7, 1.5), "stick": fa.cycloid(0, 1.2, 1.5)}
run = fa.simulate(arm, 3.0, motion=motion, q0="equilibrium")
sag = run.deflection("boom").sel(axis="z")
print(f"at rest the boom sags by {-1000 * float(sag[0]):.1f} mm")
print(f"largest torque of the column's motor: {float(abs(run.torque.sel(input='column')).max()):.0f} N m")
run.plot_trajectory(times=[0, 0.75, 3.0], magnify=5).savefig("spatial_arm.png")
