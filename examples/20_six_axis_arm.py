"""Simulate a six-axis arm of the size of a UR10, from its Denavit-Hartenberg parameters, with harmonic drives.

Links are rigid bodies, except for the two long ones, which are tubes that bend and twist. The springs of the drives
are much softer than the tubes. Masses and centres of mass are those of the data sheet, inertias are estimates.
"""

from math import pi

import matplotlib.pyplot as plt
import numpy as np

import flexarm as fa

harmonic = {"damping": 8.0, "rotor_inertia": 1e-4, "gear_ratio": 100.0}  # stiffness: by size
large, medium, small = (fa.Drive(stiffness=each, **harmonic) for each in (4e4, 2e4, 6e3))

rows = [  # a (m), alpha (rad), d (m), theta (rad)
    {"name": "shoulder", "a": 0.0, "alpha": pi / 2, "d": 0.1273, "drive": large},
    {"a": -0.612, "alpha": 0.0, "d": 0.0, "drive": large},
    {"a": -0.5723, "alpha": 0.0, "d": 0.0, "drive": medium},
    {"name": "wrist1", "a": 0.0, "alpha": pi / 2, "d": 0.163941, "drive": small},
    {"name": "wrist2", "a": 0.0, "alpha": -pi / 2, "d": 0.1157, "drive": small},
    {"name": "wrist3", "a": 0.0, "alpha": 0.0, "d": 0.0922, "drive": small},
]
aluminium, shapes = fa.Material(E=7e10, rho=2700.0, damping=1e-4), fa.Flexible(bend_y=3, bend_z=2, twist=1)
joint = fa.PointMass(4.0, offset=(0, 0, 0.08), inertia=0.015)  # motor and gear at the root of a tube
links = [  # bodies in the frames of the rows
    fa.RigidBody(7.1, com=(0.021, 0, 0.027), inertia=0.03),
    fa.Link("upper", 0.612, section=fa.Section.tube(0.12, 0.106), material=aluminium, flexible=shapes, hub=joint),
    fa.Link("fore", 0.5723, section=fa.Section.tube(0.09, 0.08), material=aluminium, flexible=shapes, hub=joint),
    fa.RigidBody(2.0, com=(0, 0.007, 0.018), inertia=0.003),
    fa.RigidBody(2.0, com=(0, 0.007, 0.018), inertia=0.003),
    fa.RigidBody(0.365, com=(0, 0, -0.026), inertia=2e-4),
]
arm = fa.from_dh(rows, links=links, name="six-axis arm", gravity=(0, 0, -9.81))
tool = fa.Frame("tool", on="wrist3", position=(0, 0, 0.15))
arm = arm.with_({"frames": [*arm.frames, tool], "tip": "tool", "links.wrist3.payload": fa.PointMass(5.0)})
print(arm)

names = [link.name for link in arm.links]
start = dict(zip(names, (0.0, -pi / 3, pi / 2, -2 * pi / 3, -pi / 2, 0.0), strict=True))
stretched = {**start, "upper": -0.2, "fore": 0.3, "wrist1": -1.6}
first = {}
for what, posture in {"bent": start, "stretched": stretched}.items():
    modes = fa.modes(arm, {f"{link}.q": angle for link, angle in posture.items()}, joints="locked")
    first[what] = modes.frequencies[:3]
    print(f"{what}: {', '.join(f'{each:.1f}' for each in first[what])} Hz with the motors held")

# A quarter turn of the base in 0.6 s: the motors follow their motion, the tool swings behind them.
goal = {**start, "shoulder": pi / 2}
motion = {link: fa.minimum_jerk(start[link], goal[link], 0.6) for link in names}
run = fa.simulate(arm, 1.2, motion=motion, q0="equilibrium")
t = run.array("time")
twin = fa.System(arm.rigid())  # what the motors' angles would be for a rigid arm
planned = twin.pose("tool", np.column_stack([each(t) for each in motion.values()]))[:, :3, 3]
sag, error = planned[0] - run.array("tip")[0], run.array("tip") - planned
swing = 1000 * np.linalg.norm(error - error[0], axis=1)
print(f"at rest the tool hangs {1000 * sag[2]:.1f} mm too low; during the turn it is up to {swing.max():.0f} mm off")

run.plot_trajectory(times=[0, 0.3, 1.2]).savefig("six_axis_arm.png")
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.plot(t, swing)
axes.set(xlabel="t (s)", ylabel="tool off its path (mm)")
figure.savefig("six_axis_arm_swing.png")
