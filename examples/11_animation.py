"""A film of the moving arm, its rigid twin in grey.

`run.animate("arm.gif")` needs nothing more; .mp4 needs ffmpeg, .html is a player for any browser, and in a notebook
`run.animate()` alone shows one.
"""

import flexarm as fa

arm = fa.library.two_link_arm(damping=1e-3)
torque = {"upper": fa.bang_bang(0.1, (1.5, 3)), "fore": fa.bang_bang(0.02, (1.5, 3))}
run = fa.simulate(arm, 5.0, torque=torque)
rigid = fa.simulate(arm.rigid(), 5.0, torque=torque)

run.animate("two_link_arm.gif", fps=20, other=rigid, dpi=80)
run.animate("slow_and_large.gif", fps=10, speed=0.5, magnify=3, dpi=60)
run.plot_trajectory(times=[0.0, 1.0, 2.0, 3.0, 5.0], other=rigid).savefig("trajectory.png")
