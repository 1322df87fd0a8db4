"""Compute vibration modes with free joints, with locked joints, in another posture, and in rotation."""

import numpy as np

import flexarm as fa

arm = fa.library.two_link_arm()

free = fa.modes(arm)
print("joints free:  ", free.frequencies.round(3), "Hz; the first two are rigid-body motions")

locked = fa.modes(arm, joints="locked")
print("joints locked:", locked.frequencies[:3].round(3), "Hz")

bent = fa.modes(arm, q={"fore.q": np.pi / 2}, joints="locked")
print("elbow at 90 degrees:", bent.frequencies[:3].round(3), "Hz")

# A rotating blade is stiffer than one at rest: centrifugal forces pull it straight.
beam = fa.library.rotating_beam()
still = fa.modes(beam, joints="locked")
spinning = fa.modes(beam, v={"beam.q": 6.0}, joints="locked")
print(f"8 m beam: {still.frequencies[0]:.3f} Hz at rest, {spinning.frequencies[0]:.3f} Hz at 6 rad/s")

fa.plot_modes(locked).savefig("modes.png")
