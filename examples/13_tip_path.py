"""Move a tip along a path: torques computed for a rigid arm, applied to a flexible one.

`fa.rigid_torques` solves inverse kinematics along a path in time and the inverse dynamics of the rigid twin. Its
torques are profiles for `simulate`. The twin follows the path; the flexible arm deviates from it.
"""

import numpy as np

import flexarm as fa

aluminium = fa.Material(E=7e10, rho=2700.0, damping=1e-3)
bar = {"section": fa.Section.rectangle(0.006, 0.03), "material": aluminium, "flexible": fa.Flexible(bend_y=3)}
motor = fa.PointMass(0.8, inertia=0.01)
arm = fa.Robot(
    "two-link arm",
    links=[
        fa.Link("upper", length=0.8, **bar, hub=motor),
        fa.Link("fore", length=0.6, **bar, hub=motor, payload=fa.PointMass(0.5)),
    ],
)

# Once around a circle in 1.5 s, from rest to rest, then half a second more.
turn = fa.cycloid(0, 2 * np.pi, 1.5)
times = np.linspace(0, 2, 201)


def circle(t):
    return 0.8 + 0.2 * np.cos(turn(t)), 0.3 + 0.2 * np.sin(turn(t)), 0.0


plan = fa.rigid_torques(arm, circle, times, q0={"fore.q": 1.0})  # q0 selects the configuration of the elbow
rigid = fa.simulate(arm.rigid(), 2.0, torque=plan.torque, q0=plan.q0)
run = fa.simulate(arm, 2.0, torque=plan.torque, q0=plan.q0)

target = np.array([circle(t) for t in run.time.values])
errors = {
    name: np.linalg.norm(each.tip.values - target, axis=1) for name, each in (("rigid", rigid), ("flexible", run))
}
for name, distance in errors.items():
    print(f"largest distance of the {name} arm from the path: {1000 * distance.max():.3f} mm")
stiff = arm.with_({f"links.{name}.material.E": 7e11 for name in ("upper", "fore")})
again = fa.simulate(stiff, 2.0, torque=plan.torque, q0=plan.q0)
print(f"flexible arm, ten times as stiff: {1000 * np.linalg.norm(again.tip.values - target, axis=1).max():.3f} mm")

figure = run.plot_trajectory(times=[0.0, 0.45, 0.75, 1.05], other=rigid)
figure.axes[-1].plot(*target[:, :2].T, ":", color="black")  # the path
figure.savefig("tip_path.png")
