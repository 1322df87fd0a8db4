"""Design one compensator for Wie and Bernstein's two masses with any spring between 0.5 and 2 N/m.

The force acts on one mass (not more than 1 N), the position of the other is measured, and a unit impulse hits it. The
benchmark requires a settling time of about 15 s; settled here means within 0.1 m from then on.
"""

import matplotlib.pyplot as plt
import numpy as np

import flexarm as fa


def model(stiffness: float) -> fa.StateSpace:
    return fa.linearize(fa.library.two_masses(stiffness), inputs=["mass", "tip.fx"], outputs=["mass.q"])


springs = np.linspace(0.5, 2.0, 8)
noises = {"process": {"mass": 1.0, "tip.fx": 1.0}, "noise": {"mass.q": 1.0}}
first = fa.lqg(model(1.6), {"mass.q": 0.02}, 1.0, **noises)
design = fa.robust_lqg(
    first, [model(each) for each in springs], {"tip.fx": 1.0}, {"mass.q": 0.1}, within=15.0, limit=1.0
)
print(f"largest ratio of a requirement to its bound, over all springs: {design.worst:.2f}")

figure, axes = plt.subplots(2, sharex=True, layout="constrained")
left, forces = [], []
for stiffness in np.linspace(0.5, 2.0, 31):  # also springs between those of the design
    masses = fa.library.two_masses(stiffness)
    run = fa.simulate(masses, 40.0, torque=design.feedback(limit=1.0), v0={"mass.q": 1.0}, sample=0.05)
    t, position, force = run.data["time"].values, run["mass.q"].values, run.torque.values[:, 0]
    left.append(np.abs(position[t >= 15]).max())
    forces.append(np.abs(force).max())
    for axis, values in zip(axes, (position, force), strict=True):
        axis.plot(t, values, color=plt.cm.viridis((stiffness - 0.5) / 1.5), linewidth=0.8)
print(f"after 15 s the second mass stays within {max(left):.3f} m; the force was at most {max(forces):.2f} N")

axes[0].fill_between([15, 40], -0.1, 0.1, color="0.85", zorder=0)
axes[0].set(ylabel="second mass (m)", title="from soft (dark) to stiff springs")
axes[1].set(xlabel="t (s)", ylabel="force (N)")
figure.savefig("two_masses.png")
