"""Write a control loop: the robot is stepped by hand, one period at a time.

The controller is any program: here one with an integral, which stops when the vibration has decayed.
"""

import flexarm as fa

aluminium = fa.Material(E=7e10, rho=2700.0, damping=5e-4)
arm = fa.Robot(
    "single-link arm",
    links=[
        fa.Link(
            "arm",
            length=0.9,
            section=fa.Section.rectangle(width=0.003, height=0.02),
            material=aluminium,
            flexible=fa.Flexible(bend_y=3),
            hub=fa.PointMass(0.0, inertia=0.005),
            payload=fa.PointMass(0.05),
        )
    ],
)
goal, kp, kd, ki = 0.5, 2.0, 0.6, 0.5  # rad, N m/rad, N m s/rad, N m/(rad s)

sim = fa.Simulation(arm, dt=2e-3)
integral, rest_time, largest = 0.0, 0.0, 0.0
while rest_time < 0.2 and sim.t < 5.0:  # until the arm has been at rest for 0.2 s
    error = goal - sim.q["arm.q"]
    integral += error * sim.dt if abs(error) < 0.1 else 0.0
    sim.step({"arm": kp * error - kd * sim.v["arm.q"] + ki * integral})
    bend = sim["deflection.arm.y"]
    largest = max(largest, abs(bend))
    rest_time = rest_time + sim.dt if abs(error) < 1e-3 and abs(bend) < 1e-3 else 0.0
print(f"at rest after {sim.t:.2f} s; the tip bent by up to {1000 * largest:.0f} mm")
print(f"estimated error with steps of {1000 * sim.dt:g} ms: {sim.error:.0e} m")

# A copy is independent of the original: here it gets a torque of 1 N m for 50 ms.
other = sim.copy()
for _ in range(25):
    other.step({"arm": 1.0})
print(f"the copy turns to {other['arm.q']:.2f} rad; the original is still at {sim['arm.q']:.2f} rad")
