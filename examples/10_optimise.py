"""Use the equations in an optimizer: the torque that turns a flexible arm in a second and leaves it at rest.

`system.casadi[...]` are CasADi functions: they can be differentiated, nested and used in nonlinear programs. This
program uses direct transcription with the implicit midpoint rule; the unknowns are states and torques at all times.
"""

import casadi as ca
import numpy as np

import flexarm as fa

arm = fa.Robot(
    "single-link arm",
    links=[
        fa.Link(
            "arm",
            length=0.9,
            section=fa.Section.rectangle(width=0.003, height=0.02),
            material=fa.Material(E=7e10, rho=2700.0),
            flexible=fa.Flexible(bend_y=2),
            hub=fa.PointMass(0.0, inertia=0.005),
        )
    ],
)
system = fa.System(arm)
inverse_dynamics = system.casadi["inverse_dynamics"]  # (q, v, a) -> generalized forces
B, nq = system.input_matrix, system.nq
duration, steps, goal = 1.0, 200, 0.5
h = duration / steps

problem = ca.Opti()
q, v = problem.variable(nq, steps + 1), problem.variable(nq, steps + 1)
u = problem.variable(system.nu, steps)
for k in range(steps):
    middle_q, middle_v = (q[:, k] + q[:, k + 1]) / 2, (v[:, k] + v[:, k + 1]) / 2
    problem.subject_to(q[:, k + 1] == q[:, k] + h * middle_v)
    problem.subject_to(inverse_dynamics(middle_q, middle_v, (v[:, k + 1] - v[:, k]) / h) == B @ u[:, k])
target = np.zeros(nq)
target[system.index("arm.q")] = goal
for place, where in ((0, np.zeros(nq)), (steps, target)):
    problem.subject_to(q[:, place] == where)
    problem.subject_to(v[:, place] == 0)
problem.subject_to(u[:, 0] == 0)
problem.subject_to(u[:, -1] == 0)
problem.minimize(ca.sumsqr(ca.diff(u, 1, 1)))  # a smooth torque
problem.solver("ipopt", {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"})
torques = np.atleast_2d(problem.solve().value(u))[0]
print(f"largest torque {abs(torques).max():.3f} N m")

# Check by simulation with these torques, which begin and end at zero, and half a second without torque.
times = h * (np.arange(steps) + 0.5)
run = fa.simulate(arm, 1.5, torque={"arm": fa.spline(times, torques, after="zero")}, rtol=1e-6)
after = run.data.sel(time=slice(duration, None))
print(f"it comes to rest at {float(run['arm.q'][-1]):.3f} rad")
ringing = float(abs(after["deflection"].sel(link="arm", axis="y")).max())
largest = float(abs(run.deflection("arm").sel(axis="y")).max())
print(f"largest deflection during the motion {1000 * largest:.1f} mm, afterwards {1000 * ringing:.2f} mm")
