"""Run many simulations in one call: all combinations of payload and stiffness, random values of both, derivatives.

The same call runs on a cluster. With Dask on this machine (pip install ".[cluster]" in the sources of flexarm):

    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=4, threads_per_worker=1) as cluster, Client(cluster) as client:
        found = fa.sweep(arm, over, duration=1.0, torque=torque, executor=client, store="sweep.nc")

and on a SLURM cluster through dask-jobqueue (https://jobqueue.dask.org), whose workers are batch jobs:

    from dask_jobqueue import SLURMCluster

    cluster = SLURMCluster(cores=16, processes=16, memory="32GB", walltime="01:00:00")
    cluster.scale(jobs=10)
    found = fa.sweep(arm, over, duration=1.0, torque=torque, executor=Client(cluster), store="sweep.nc")

With `store`, finished members are kept: the same call continues after an interruption.
"""

import numpy as np
from scipy.stats import norm

import flexarm as fa

arm = fa.library.two_link_arm(damping=1e-3)
mass, E = "links.fore.payload.mass", "links.upper.material.E"
torque = {"upper": fa.bang_bang(0.02, (0.25, 0.5))}

over = {mass: np.linspace(0.05, 0.25, 5), E: np.linspace(1.5e10, 2.5e10, 4)}
found = fa.sweep(arm, over, duration=1.0, torque=torque, store="sweep.nc")
bends = found["peak_deflection"].sel(link="upper")
worst = bends.where(bends == bends.max(), drop=True)
print(f"the upper link bends most, {1000 * float(bends.max()):.1f} mm, with {float(worst[mass][0]):.2f} kg")
fa.plot_sweep(found, ["peak_deflection.upper", "residual"]).savefig("sweep.png", dpi=150)

# How uncertain is the tip, if payload and stiffness have tolerances of a few per cent?
drawn = {mass: norm(0.15, 0.005), E: norm(2e10, 4e8)}
spread = fa.monte_carlo(arm, drawn, duration=1.0, members=64, sobol=True, torque=torque, measure=["tip"])
low, high = 1000 * spread["tip_quantiles"].sel(axis="y", quantile=[0.05, 0.95]).values
shares = spread["tip_first_order"].sel(axis="y")
print(f"the tip ends between {low:.2f} and {high:.2f} mm in nine of ten cases")
print(", ".join(f"{name} explains {100 * max(0.0, float(shares.sel(field=name))):.0f} % of it" for name in drawn))
fa.plot_sweep(spread, "tip.y").savefig("spread.png", dpi=150)

# How does the tip change with each of them?
slopes = fa.sensitivity(arm, [mass, E], duration=1.0, torque=torque, measure=["tip"])
for name in (mass, E):
    one = slopes.sel(field=name)
    tenth = 100 * float(one["value"] * one["tip_derivative"].sel(axis="y"))
    print(f"ten per cent more of {name} move the tip by {tenth:.3f} mm")
