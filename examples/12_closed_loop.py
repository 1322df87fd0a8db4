"""Simulate a four-bar linkage whose coupler bends while the crank makes one turn.

Links form a tree; a `Loop` closes it. Initial angles may be approximate: they are moved onto the constraints, with a
warning if the change is large.
"""

from math import pi

import flexarm as fa

rod = {"section": fa.Section.rectangle(0.006, 0.02), "material": fa.Material(E=7e10, rho=2700.0, damping=1e-3)}
linkage = fa.Robot(
    "four-bar linkage",
    links=[
        fa.Link("crank", length=0.2, **rod),
        fa.Link("coupler", length=0.7, **rod, flexible=fa.Flexible(bend_y=3)),
        fa.Link("rocker", length=0.5, **rod, parent="ground", offset=(0.7, 0, 0)),
    ],
    constraints=[fa.Loop("coupler", "rocker")],  # their tips are joined by a hinge
)
start = {"coupler.q": 0.7954, "rocker.q": 1.5908}  # the upper of two configurations
run = fa.simulate(linkage, 0.5, motion={"crank": fa.cycloid(0, 2 * pi, 0.5)}, q0=start)

peak = float(abs(run.deflection("coupler").sel(axis="y")).max())
gap = float(run["violation"].max())
print(f"the coupler's tip deflects by up to {1000 * peak:.2f} mm; the loop is closed to {gap:.1e} m")
run.plot("rocker.q", "deflection.coupler.y", "torque.crank").savefig("four_bar.png")
run.animate("four_bar.gif", speed=0.1, magnify=10)  # magnifies deflections, joints keep their positions
run.plot_trajectory(times=[0.0, 0.1, 0.22, 0.3], magnify=10).savefig("four_bar_path.png")
