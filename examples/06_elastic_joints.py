"""Simulate an elastic joint: a motor drives a rigid link through a soft gear.

An elastic drive adds the motor's angle as a coordinate, `arm.motor`; the torque acts on the motor.
"""

import numpy as np

import flexarm as fa

drive = fa.Drive(stiffness=100.0, damping=0.05, rotor_inertia=1e-4, gear_ratio=50)
arm = fa.Robot(
    "arm on a soft gear",
    links=[fa.Link("arm", length=0.6, mass=2.0, joint=fa.Revolute("z", drive=drive), payload=fa.PointMass(1.0))],
)

# Two inertias on a spring: that of the motor, reflected to the joint, and that of the arm.
motor, link = drive.reflected_inertia, 2.0 * 0.6**2 / 3 + 1.0 * 0.6**2
expected = np.sqrt(100.0 * (1 / motor + 1 / link)) / (2 * np.pi)
found = fa.modes(arm)
print(f"resonance: {found.frequencies[1]:.4f} Hz, analytic {expected:.4f} Hz")

run = fa.simulate(arm, 2.0, torque={"arm": fa.bang_bang(2.0, (0.5, 1.0))})
wind_up = np.degrees(abs(run["arm.motor"] - run["arm.q"]).max())
print(f"largest wind-up of the gear: {float(wind_up):.2f} degrees")
run.plot("arm.motor", "arm.q", "drive").savefig("elastic_joint.png")
