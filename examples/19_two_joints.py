"""Compare five controllers of a two-link arm: the same motion of both joints, evaluated at the tip.

With stiff PD the tip vibrates; without gravity a feedforward with quasi-static deflections has no advantage. Computed
torque is soft in the first mode, and its fast loop, intended for faster modes, costs some accuracy here. LQG damps the
tip, but lags.
"""

import matplotlib.pyplot as plt
import numpy as np

import flexarm as fa

metal, shapes = fa.Material(E=7e10, rho=2700.0, damping=5e-4), fa.Flexible(bend_y=2)
strip = {"section": fa.Section.rectangle(0.008, 0.03), "material": metal, "flexible": shapes}
upper = fa.Link("upper", 0.6, **strip, hub=fa.PointMass(0.0, inertia=0.05))
fore = fa.Link("fore", 0.5, **strip, hub=fa.PointMass(0.5, inertia=0.02), payload=fa.PointMass(0.2))
arm, end = fa.Robot("two strips", links=[upper, fore]), 1.0  # first frequency 3.3 Hz with joints held
motion = {"upper": fa.minimum_jerk(0, 0.6, end), "fore": fa.minimum_jerk(0, 0.8, end)}
joints = {f"{link}.q": each for link, each in motion.items()}

laws = {}
for model in ("rigid", "quasi-static"):
    torque = fa.feedforward(arm, motion, end, model=model)
    laws[f"PD, {model} feedforward"] = fa.pd(arm, {"upper": 60.0, "fore": 20.0}, {"upper": 4.0, "fore": 1.0}, motion,
                                             feedforward=torque)  # fmt: skip
for fast in (0.0, 1.0):
    laws[f"computed torque, fast = {fast:g}"] = fa.computed_torque(arm, 64.0, 16.0, motion, fast=fast)
pushed, gauges = [*motion, "tip.fy"], ["upper.strain(0.02)", "fore.strain(0.02)"]
lin = fa.linearize(arm, inputs=pushed, outputs=[*joints, *gauges, "tip.y"])  # about the start
noise = dict.fromkeys(joints, 1e-8) | dict.fromkeys(gauges, 1e-10)
process, weights = dict.fromkeys(pushed, 1.0), {"tip.y": 1e5, "fore.q": 1e4}
laws["LQG"] = fa.lqg(lin, weights, 1.0, process, noise, references=joints).feedback()

twin, worst, left = fa.System(arm.rigid()), {}, {}
figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
for name, law in laws.items():
    run = fa.simulate(arm, 3.0, torque=law)
    t = run.array("time")
    path = twin.tip(np.column_stack([each(t) for each in motion.values()]))
    error = 1000 * np.linalg.norm(run.array("tip") - path, axis=1)
    worst[name], left[name] = error[t <= end].max(), error[t >= end + 0.5].max()
    print(f"{name:30} error of the tip {worst[name]:5.1f} mm during the motion, {left[name]:5.2f} mm after it")
    axes.semilogy(t, error, label=name)
axes.set(xlabel="t (s)", ylabel="distance of the tip from that of a rigid arm (mm)", ylim=(1e-3, 300))
axes.legend()
figure.savefig("two_joints.png")
