"""Read a robot from a file, change it, compute its modes, and save it.

On the command line: `flexarm run examples/two_link.yaml --rigid --set links.fore.payload.mass=0.3`.
"""

from pathlib import Path

import flexarm as fa

arm = fa.load(Path(__file__).parent / "two_link.yaml")

# A parameter study: frequency over payload
loads = [0.0, 0.15, 0.3, 0.6]
frequencies = []
for mass in loads:
    changed = arm.with_({"links.fore.payload": {"mass": mass} if mass else None})
    frequencies.append(float(fa.modes(changed, joints="locked").frequencies[0]))
    print(f"payload {mass:4.2f} kg: {frequencies[-1]:.3f} Hz")

heavy = arm.with_({"links.fore.payload.mass": 0.6}, name="heavy arm")
heavy.save("heavy_arm.yaml")
assert fa.load("heavy_arm.yaml") == heavy
