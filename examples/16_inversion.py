"""Move a tip exactly along a path: the torque begins before the tip moves.

`fa.invert` computes the torques that move the tip of a flexible robot along a path. A torque at the hub first moves
the tip the other way. So the link is bent before the tip moves, and straightened after it has arrived. In a simulation
with these torques the tip follows the path, also with more modes.
"""

import numpy as np

import flexarm as fa


def arm(modes):
    steel = fa.Material(E=2.1e11, rho=7850.0)
    strip = fa.Section.rectangle(width=0.003, height=0.03)
    shapes = fa.Flexible(bend_y=modes, damping=fa.Damping(ratio=0.01))
    hub, payload = fa.PointMass(0.0, inertia=0.01), fa.PointMass(0.2)
    return fa.Robot(
        "steel strip",
        links=[fa.Link("arm", 1.0, section=strip, material=steel, flexible=shapes, hub=hub, payload=payload)],
    )


quarter = fa.minimum_jerk(0, np.pi / 2, 1.0)  # motion of the joint of a rigid arm
found = fa.invert(arm(3), {"arm": quarter}, 1.0)
run = found.play(rtol=1e-6)
more = found.play(arm(5), rtol=1e-6)

# torques of a rigid arm, for comparison
twin = fa.invert(arm(3).rigid(), {"arm": quarter}, 1.0)
plain = fa.simulate(arm(3), 1.0, torque=twin.torque)

path_length = np.pi / 2  # m
print(f"the torque begins {1000 * found.before:.0f} ms before the path and ends {1000 * found.after:.0f} ms after it")
for name, inversion, each in (
    ("inverted", found, run),
    ("two more modes", found, more),
    ("rigid torques", twin, plain),
):
    error = inversion.missed(each).max()
    print(f"{name:15} largest distance from the path {1000 * error:6.2f} mm, {error / path_length:.2%} of its length")

found.plot(run).savefig("inversion.png")
