"""Simulate a boom in a sleeve of a turning arm: its end slides in the sleeve, and the mouth supports it.

Between end and mouth the boom bends, so it is softer than a boom that a guide clamps.
"""

import flexarm as fa

ALUMINIUM = fa.Material(E=7e10, rho=2700, damping=1e-4)


def crane(joint: fa.Sleeve | fa.FixedPrismatic) -> fa.Robot:
    arm = fa.Link("arm", 1.0, fa.Revolute("z"), mass=6.0)
    flexible = fa.Flexible(bend_y=10, basis="splines")
    boom = fa.Link("boom", 1.2, joint, fa.Section.rectangle(0.01, 0.03), ALUMINIUM, flexible, payload=fa.PointMass(0.4))
    return fa.Robot("crane", links=[arm, boom], gravity=(0, -9.81, 0))


# d is the position of the boom's end in the sleeve, or its length in front of the guide: 0.6 m of it are inside
sleeve, guide = crane(fa.Sleeve()), crane(fa.FixedPrismatic(rear="rigid"))
for name, robot, d in (("sleeve", sleeve, 0.4), ("guide", guide, 0.6)):
    lowest = fa.modes(robot, q={"boom.q": d}, joints="locked").frequencies[0]
    print(f"{name}: the boom vibrates at {float(lowest):.2f} Hz")

motion = {"arm": fa.cycloid(0.0, 1.0, 1.5), "boom": fa.cycloid(0.4, 0.8, 1.5)}
run = fa.simulate(sleeve, 2.0, motion=motion, q0="equilibrium")
held = run.reaction("boom.mouth").sel(row="boom.mouth.y")
print(f"force of the mouth: {float(held[0]):.1f} N at the start, at most {float(held.max()):.1f} N")
run.plot_trajectory(times=[0.0, 0.75, 2.0], magnify=15).savefig("sleeve.png")
