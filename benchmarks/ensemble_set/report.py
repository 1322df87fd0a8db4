"""Write docs/ensemble.md from the numbers of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ensemble_set import memory
from ensemble_set.arms import MODULI, PAYLOADS, SAMPLE, WITHIN, Checked
from ensemble_set.cluster import Shared
from ensemble_set.rounds import Seconds, Timed
from ensemble_set.settings import EXUDYN, FEW, FLEXARM, MUJOCO, NAMED, Chosen
from flexarm.codegen.simd_library import widest
from page import machine, table
from search import Trial
from verdicts import Verdict

LANES, THREADS, PYTHON_SHARE, OVERHEAD, MEMORY = 3.5, 1.92, 0.05, 0.2, 1024.0  # goals; MB
NAMED_MUJOCO, BEST_MUJOCO, BEST_EXUDYN = 90.0, 45.0, 40.0  # times their members a second
BATCH = 0.1  # s: of smaller ones nothing is asked of Dask
SHOWN = 3  # settings of each tool


@dataclass(frozen=True)
class Findings:
    """Everything that one run of ensemble.py measured."""

    chosen: Chosen
    timed: Timed
    shared: Sequence[Shared]
    here: float  # s: the sweep of `shared` in threads of one process
    few: Mapping[str, float]
    many: Mapping[str, float]
    seconds: float = 0.0


def verdicts(found: Findings) -> list[Verdict]:
    timed, many = found.timed, found.many
    overhead, batch = overhead_of(found)
    out = [
        Verdict(
            f"lanes: {LANES:g} times the throughput of runs one by one, on one core", *at_least(timed.lanes, LANES)
        ),
        Verdict(f"threads: {THREADS:g} times on {timed.threads} cores", *at_least(timed.cores, THREADS)),
        Verdict(
            f"less than {PYTHON_SHARE:.0%} of a whole `fa.sweep` on one core is Python, not compiled loops",
            f"{1 - 1 / timed.beyond:.1%}",
            1 - 1 / timed.beyond < PYTHON_SHARE,
        ),
    ]
    peers = {
        f"MuJoCo's rollout as the goal has it ({NAMED})": (timed.mujoco_named, NAMED_MUJOCO),
        "MuJoCo's rollout at its best": (timed.mujoco, BEST_MUJOCO),
        "Exudyn's ParameterVariation at its best": (timed.exudyn, BEST_EXUDYN),
    }
    for name, (peer, goal) in peers.items():
        solver, whole = timed.times(peer)
        claim = f"{goal:g} times the members a second of {name}"
        out.append(Verdict(f"{claim}, its models built", *at_least(whole, goal)))
        out.append(Verdict(f"{claim}, its models given", *at_least(solver, goal)))
    out.append(
        Verdict(
            f"Dask adds less than {OVERHEAD:.0%} to batches of {BATCH:g} s or more",
            f"{overhead:.1%} of batches of {batch:.2g} s",
            overhead < OVERHEAD and batch >= BATCH,
        )
    )
    said = f"{many['peak']:.0f} MB"
    out.append(Verdict(f"{many['members']:.0f} members in less than 1 GB", said, many["peak"] < MEMORY))
    return out


def at_least(value: float, wanted: float) -> tuple[str, bool]:
    return f"{value:.3g} times", value >= wanted


def overhead_of(found: Findings) -> tuple[float, float]:
    """Of Dask, a share of the work inside, and the seconds of a batch: of the round that is in the middle."""
    middle = typical(found)
    return middle.overhead, middle.batch


def typical(found: Findings) -> Shared:
    return sorted(found.shared, key=lambda each: each.overhead)[len(found.shared) // 2]


def summary(found: Findings) -> str:
    every = verdicts(found)
    width = max(len(each.claim) for each in every)
    return "\n".join(f"{'holds' if v.holds else 'FAILS':<7}{v.claim:<{width}}  {v.measured}" for v in every)


def written(found: Findings) -> str:
    timed = found.timed
    numbers = {
        "minutes": f"{found.seconds / 60:.0f}",
        "machine": machine("numpy", "casadi", "mujoco", "exudyn", "distributed"),
        "goals": table(
            ("goal", "measured", "holds"),
            [(each.claim, each.measured, "yes" if each.holds else "**no**") for each in verdicts(found)],
        ),
        "members": len(timed.sizes.own),
        "payloads": " to ".join(f"{each:g}" for each in PAYLOADS),
        "moduli": " to ".join(f"{each / 1e9:g}" for each in MODULI),
        "sample": f"{SAMPLE:g}",
        "within": f"{1e3 * WITHIN:g}",
        "checked": len(Checked(timed.sizes.own).numbers),
        "many": many(found),
        "few": len(FEW),
        "rounds": timed.rounds,
        "threads": timed.threads,
        "mujoco_members": len(timed.sizes.mujoco),
        "exudyn_members": len(timed.sizes.exudyn),
        "beside": beside(found),
        "inside": inside(timed),
        "tried": tried(found.chosen),
        "count": ", ".join(
            f"{sum(trial.tool == tool for trial in found.chosen.survey.trials)} of {tool}"
            for tool in found.chosen.survey.tools
        ),
        "dask": dask(found),
        "memory": table(
            ("members", "seconds", "peak MB"),
            [
                (f"{each['members']:.0f}", f"{each['seconds']:.2g}", f"{each['peak']:.0f}")
                for each in (found.few, found.many)
            ],
        ),
        "short": f"{memory.SHORT:g}",
    }
    return PAGE.format(**numbers)


def beside(found: Findings) -> str:
    chosen, timed = found.chosen, found.timed
    own = timed.swept_all[0]
    first = chosen.own[0]
    rows = [("`fa.sweep`, threads", first.setting, error(first), close(chosen, first), f"{1 / own:.0f}", "", "", "")]
    named: tuple[tuple[str, Trial, Seconds], ...] = (
        ("`mujoco.rollout`, threads", chosen.mujoco[0], timed.mujoco),
        ("the same, equal numbers of segments in both links", chosen.mujoco_alike[0], timed.mujoco_alike),
        ("the same, the setting of the goal", chosen.mujoco_named[0], timed.mujoco_named),
        ("Exudyn's ParameterVariation, processes", chosen.exudyn[0], timed.exudyn),
    )
    for name, trial, seconds in named:
        rates = (f"{1 / seconds[1]:.0f}", f"{1 / seconds[0]:.0f}")
        rows.append(
            (
                name,
                trial.setting,
                error(trial),
                close(chosen, trial),
                *rates,
                *(f"{each:.3g}" for each in timed.times(seconds)[::-1]),
            )
        )
    heads = ("tool", "setting", "error mm", f"of {many(found)} arms", "members a second", "models given")
    heads += ("`fa.sweep` is faster", "models given")
    return table(heads, rows)


def error(trial: Trial) -> str:
    return f"{1e3 * trial.error:.2g}"


def close(chosen: Chosen, trial: Trial) -> str:
    """The error of many members (mm)."""
    return f"{1e3 * chosen.closely[trial.setting]:.2g}"


def many(found: Findings) -> int:
    return len(Checked(found.timed.sizes.own, closely=True).numbers)


def inside(timed: Timed) -> str:
    def ms(seconds: float) -> str:
        return f"{1e3 * seconds:.3f}"

    def row(name: str, loops: Seconds, run: str, whole: float) -> tuple[str, ...]:
        return (name, *map(ms, loops), run, ms(whole), f"{1 / whole:.0f}")

    lanes, one, every = widest().lanes, timed.inside, timed.inside_all
    rows = [
        ("one by one, `fa.simulate`", ms(timed.alone[0]), "", "", ms(timed.alone[1]), f"{1 / timed.alone[1]:.0f}"),
        row(f"{lanes} lanes, one core, inside", one[:2], ms(one[2]), one[3]),
        row(f"{lanes} lanes, {timed.threads} threads, inside", every[:2], ms(every[2]), every[3]),
        row("`fa.sweep(..., threads=1)`", timed.swept[1:], "", timed.swept[0]),
        row("`fa.sweep(...)`", timed.swept_all[1:], "", timed.swept_all[0]),
    ]
    heads = ("ms a member, loops of all threads", "steps", "nodes", "run", "whole", "members a second")
    said = f"On all cores a whole `fa.sweep` takes {timed.beyond_all:.2f} times its loops, in total time of all cores."
    return f"{table(heads, rows)}\n{said}\n"


def tried(chosen: Chosen) -> str:
    """The cheapest that hold, and what is cheaper and does not."""
    rows = []
    for tool in (FLEXARM, MUJOCO, EXUDYN):
        own = [trial for trial in chosen.survey.trials if trial.tool == tool and not trial.failure]
        hold = sorted((trial for trial in own if trial.meets(WITHIN)), key=lambda trial: trial.loop)[:SHOWN]
        rough = [trial for trial in own if not trial.meets(WITHIN) and trial.loop < hold[0].loop]
        near = sorted(rough, key=lambda trial: trial.error)[:1]
        rows += [
            (tool, trial.setting, error(trial), f"{1e3 * trial.loop:.3g}", word)
            for these, word in ((hold, "yes"), (near, "**no**"))
            for trial in these
        ]
    return table(("tool", "setting", "error mm", "solver, ms a member", "holds"), rows)


def dask(found: Findings) -> str:
    overhead, batch = overhead_of(found)
    middle = typical(found)
    rows = [
        ("batches", f"{len(middle.batches)}, on {middle.workers} workers"),
        ("a batch", f"{batch:.3g} s"),
        ("the sweep", f"{middle.wall:.3g} s"),
        ("overhead", f"{overhead:.1%}"),
        ("the same sweep in threads of one process", f"{found.here:.3g} s"),
        ("the sweep on the cluster compared with that", f"{middle.wall / found.here - 1:.0%}"),
    ]
    return table(("what", "measured"), rows)


PAGE = """\
# Ensembles

This page compares flexarm's sweeps of many arms with alternative tools, in one run of `python benchmarks/ensemble.py`
(part of `make bench`; {minutes} minutes), which writes all numbers of this page.

The task is {members} two-link arms (W1 of the [benchmarks](benchmarks.md)) for 10 s, with payloads of {payloads} kg and
moduli of the upper link of {moduli} GPa. Tips are sampled every {sample} s. Every tool runs its cheapest setting, of
many that were tried, that keeps the tips of {checked} arms of the grid (its corners, its middle and those of its edges)
within {within} mm of the exact model's at every sample. flexarm must also meet this for {many} arms, with all of the
lightest payloads, whose tips are hardest to predict. This is not required of other tools, since they would need far
finer settings, but the table below has their errors there.

{machine}; Exudyn runs its fast build.

## Goals

{goals}
## Comparison with other tools

Numbers are medians of {rounds} rounds; in each of them all tools run in turn, with {threads} threads or processes.
`fa.sweep` is timed from its call to its Dataset, with all usual measures, of {members} members; its code was compiled
before. MuJoCo runs {mujoco_members} members and Exudyn {exudyn_members}, on a coarser grid of the same range: their
cost is proportional to the number. "Models given" leaves out the time in which they build their models (MuJoCo builds
them one after the other before the rollout; of Exudyn only the solver's time is counted), although `fa.sweep` builds
its own. MuJoCo records only tips (`skip_checks=True`), and they are read between two steps, which makes its
semi-implicit steps accurate to second order. Torques that jump are given to Exudyn in intervals, as for a single arm.

{beside}
## Distribution of the time

The loops are compiled: steps with step size control, and the evaluation of their nodes (samples, limits, oscillations).
The rest is Python: description of robots, interpolation of their parameters, breakpoints, checks of single members,
results.

{inside}
## Choice of settings

Numbers of settings: {count}. The table has the cheapest settings of each tool that meet the accuracy, and one that is
cheaper and does not, on one core. flexarm's settings are tested with {few} members, in lanes. Of the cheapest that also
meet the accuracy for all {members}, checked in the timed batches, the one with the fastest whole call is timed.
Those of other tools are chosen by their solver's time, compared with which building their models takes little.
"A and B" are those of the upper link and of the forearm. Small errors may be accidental, for every tool: those of a
coarse mesh and of long steps can cancel. The script prints all settings.

{tried}
## On a cluster

The task is `fa.sweep(..., executor=client)` with a `LocalCluster` of {threads} processes. The overhead is the time of
the call, of all workers, against the time that batches take by the workers' clocks: sending, waiting, preparing,
planning and gathering. Workers, scheduler and the waiting program share the cores here, so the batches take longer
too; the comparison with threads of one process contains all of it.

{dask}
## Memory

The task is `fa.sweep` of these numbers of members for {short} s in a process of its own, without histories.

{memory}"""
