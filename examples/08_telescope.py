"""Simulate a telescope: a link that slides through its joint, softer the further it extends.

The same robot for the command line: `flexarm run examples/08_telescope.yaml --animate telescope.gif`.
"""

from pathlib import Path

import flexarm as fa

arm = fa.load(Path(__file__).parent / "08_telescope.yaml")

frequencies = {}
for d in (0.4, 0.7, 1.0):
    found = fa.modes(arm, q={"boom.q": d}, joints="locked")
    frequencies[d] = float(found.frequencies[0])
    print(f"boom extended by {d} m: {frequencies[d]:.2f} Hz")

motion = {"shoulder": fa.cycloid(0.0, 0.8, 2.0), "boom": fa.cycloid(0.4, 1.0, 2.0)}
run = fa.simulate(arm, 3.0, motion=motion, q0="equilibrium")
print(f"largest force to extend the boom: {float(abs(run.torque.sel(input='boom')).max()):.2f} N")
run.plot_trajectory(times=[0.0, 1.0, 3.0], magnify=3).savefig("telescope.png")
