"""Control an arm by a PD law on its joint, as a formula and as a digital controller.

A law takes (t, q, v) and returns the torques of all motors. Written with plain arithmetic it is compiled together with
the equations of motion. With a sample rate it is called like the program of a real controller and may be any Python.
"""

import numpy as np

import flexarm as fa

aluminium = fa.Material(E=7e10, rho=2700.0, damping=5e-4)
strip = fa.Section.rectangle(width=0.003, height=0.02)
arm = fa.Robot(
    "single-link arm",
    links=[
        fa.Link(
            "arm",
            length=0.9,
            section=strip,
            material=aluminium,
            flexible=fa.Flexible(bend_y=3),
            hub=fa.PointMass(0.0, inertia=0.005),
            payload=fa.PointMass(0.05),
        )
    ],
)
goal, kp, kd = 0.5, 2.0, 0.6  # rad, N m/rad, N m s/rad


def law(t, q, v):
    """Return the PD torque of the joint, coordinate 0; the vibration is not controlled."""
    return [kp * (goal - q[0]) - kd * v[0]]


class SlowController:
    """The same law with an encoder of 20000 counts per turn, whose difference quotient is the speed."""

    def __init__(self, rate):
        self.rate, self.last = rate, None

    def __call__(self, t, q, v):
        angle = round(q[0] * 20000 / (2 * np.pi)) * 2 * np.pi / 20000
        speed = 0.0 if self.last is None else (angle - self.last) * self.rate
        self.last = angle
        return [kp * (goal - angle) - kd * speed]


ideal = fa.simulate(arm, 3.0, torque=law)
digital = fa.simulate(arm, 3.0, torque=fa.Feedback(SlowController(500), rate=500, limit=0.8))

for name, run in (("ideal", ideal), ("digital", digital)):
    error = 1000 * (run.tip.values[-1, 1] - 0.9 * np.sin(goal))
    print(f"{name:8} peak torque {abs(run.torque).max():.2f} N m, error of the tip after 3 s {error:+.2f} mm")

fa.plot_compare({"ideal": ideal, "digital": digital}, "arm.q", "deflection.arm.y", "torque.arm").savefig("feedback.png")
