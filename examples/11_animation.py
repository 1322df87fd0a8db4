"""Make films of the moving arm, with its rigid twin in grey.

The joints are driven, as by stiff servos: `motion` prescribes them. They stop after 4 s; the arm continues to vibrate.
`run.animate("arm.gif")` needs nothing more; .mp4 needs ffmpeg, .html is a player for any browser, and in a notebook
`run.animate()` alone shows one.
"""

from pathlib import Path

import flexarm as fa

arm = fa.load(Path(__file__).parent / "two_link.yaml")
motion = {"upper": fa.cycloid(0, 1.2, 4), "fore": fa.cycloid(0, -1.2, 4)}
run = fa.simulate(arm, 8.0, motion=motion)
rigid = fa.simulate(arm.rigid(), 8.0, motion=motion)

run.animate("two_link_arm.gif", fps=20, speed=2, magnify=2, other=rigid, dpi=80)  # deflections magnified twice
run.animate("true_scale.gif", fps=10, dpi=60)
run.plot_trajectory(times=[0, 1, 2, 3, 4, 5.2], other=rigid, magnify=2).savefig("trajectory.png")
