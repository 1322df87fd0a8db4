"""Simulate a trolley on a bending beam: `SlidingPrismatic` is fixed to the trolley and moves along the previous link.

The position on the beam, d, is the coordinate trolley.q. The load bends the beam, and the bent beam carries the load.
"""

from math import pi

import flexarm as fa

aluminium = fa.Material(E=7e10, rho=2700.0, damping=1e-3)
beam = fa.Link(
    "beam",
    length=2.0,
    joint=fa.Weld(),  # a cantilever
    section=fa.Section.rectangle(width=0.05, height=0.012),
    material=aluminium,
    flexible=fa.Flexible(bend_z=3),
)
down = (0, pi / 2, 0)
trolley = fa.Link("trolley", length=0.15, joint=fa.SlidingPrismatic(mount=down), mass=0.2, payload=fa.PointMass(0.5))
crane = fa.Robot("trolley on a cantilever", links=[beam, trolley], gravity=(0, 0, -9.81))

quick = fa.simulate(crane, 3.0, motion={"trolley": fa.cycloid(0.3, 1.9, 1.0)}, q0="equilibrium")
slow = fa.simulate(crane, 3.0, motion={"trolley": fa.cycloid(0.3, 1.9, 3.0)}, q0="equilibrium")
for name, run in (("in 1 s", quick), ("in 3 s", slow)):
    sag = run.deflection("beam").sel(axis="z")
    print(f"ride {name}: lowest tip {1000 * float(sag.min()):.1f} mm, final {1000 * float(sag[-1]):.1f} mm")

fa.plot_compare({"in 1 s": quick, "in 3 s": slow}, "trolley.q", "deflection.beam.z").savefig("rider.png")
quick.plot_trajectory(times=[0.0, 0.5, 1.0], magnify=3).savefig("rider_path.png")
