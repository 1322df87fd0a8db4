"""Simulate a first arm: two strips of steel in a horizontal plane, driven back and forth by their motors.

A robot is a chain of links. By default each link is attached to the previous one by a hinge.
"""

import flexarm as fa

steel = fa.Material(E=2.1e11, rho=7850.0, damping=1e-3)  # Pa, kg/m3, s
strip = fa.Section.rectangle(width=0.002, height=0.010)  # m
bending = fa.Flexible(bend_y=3)  # three shapes of bending in the plane

arm = fa.Robot(
    "two-link flexible arm",
    links=[
        fa.Link("upper", length=1.0, section=strip, material=steel, flexible=bending),
        fa.Link("fore", length=0.5, section=strip, material=steel, flexible=bending, payload=fa.PointMass(0.15)),
    ],
)
print(arm)

# +0.15 N m for a second, -0.15 N m for another one, then zero
torque = {"upper": fa.bang_bang(0.15, (1, 2)), "fore": fa.bang_bang(0.04, (1, 2))}
run = fa.simulate(arm, 5.0, torque=torque)
rigid = fa.simulate(arm.rigid(), 5.0, torque=torque)

peak = abs(run.deflection("upper")).max()
print(f"peak deflection of the upper link: {1000 * float(peak):.1f} mm")
print(f"tip after 5 s: {run.tip.values[-1].round(3)} m")
print(f"tip of the rigid twin: {rigid.tip.values[-1].round(3)} m")

run.plot(other=rigid).savefig("first_arm.png")  # joints, deflections, torques, energies
run.to_csv("first_arm.csv")  # a table for other programs
run.save("first_arm.nc")  # everything; fa.Run.load("first_arm.nc") reads it
