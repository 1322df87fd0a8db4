"""Settings of each tool for the ensemble, from rough to fine, and the cheapest accurate setting of each.

Costs are seconds a member on one core, of peers the processor's: other work must not decide. Both links need not be
resolved alike: the forearm is short and stiff.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import flexarm as fa
import search
from ensemble_set import own
from ensemble_set.arms import DURATION, SAMPLE, WITHIN, Checked, Grid, case, reference
from flexarm.sweeps.case import SweepCase
from peers.result import Candidate, Result
from search import Survey, Trial

FLEXARM, MUJOCO, EXUDYN = "flexarm", "MuJoCo", "Exudyn"
NAMED = "6 and 6 segments, dt 2 ms, implicitfast"  # of MuJoCo: with which the goal was set
REPEATS = 2
FOREARM, CARRIED = 0.1, 0.175  # kg, of a typical arm
FINAL = 4  # settings of flexarm, the cheapest of those that hold, among which the whole call decides
FEW = Grid(20, 13)


@dataclass(frozen=True)
class Chosen:
    """What was tried, and what of each tool is timed: by its name, with what it takes."""

    survey: Survey
    own: tuple[Trial, SweepCase]
    mujoco: tuple[Trial, Mapping[str, Any]]
    mujoco_alike: tuple[Trial, Mapping[str, Any]]  # with as many segments in both links
    mujoco_named: tuple[Trial, Mapping[str, Any]]  # with which the goal was set, however accurate
    exudyn: tuple[Trial, Mapping[str, Any]]
    closely: Mapping[str, float]  # by setting, the largest error of many members (m)


def flexarm_settings() -> dict[str, SweepCase]:
    """Links of these arms bend by a few per cent: foreshortening to second order is enough, and cheaper than exact.
    Modes of a typical arm are the same for all payloads, which are described with fewer robots then."""

    def fixed(count: int, stiffening: Any) -> fa.Flexible:
        return fa.Flexible(bend_y=count, basis=fa.Reduced(12, count, "fixed"), stiffening=stiffening)

    def shapes(count: int, basis: Any) -> fa.Flexible:
        return fa.Flexible(bend_y=count, basis=basis, stiffening="shortening")

    bases = {
        "Craig-Bampton, 1 and 1 modes, exact": (fixed(1, "exact"), fixed(1, "exact")),
        "Craig-Bampton, 1 and 1 modes": (fixed(1, "shortening"), fixed(1, "shortening")),
        "Craig-Bampton, 2 and 1 modes": (fixed(2, "shortening"), fixed(1, "shortening")),
        "3 and 2 modes": (shapes(3, "modes"), shapes(2, "modes")),
        "3 and 2 modes of a typical arm": (shapes(3, fa.Modes(FOREARM + CARRIED)), shapes(2, fa.Modes(CARRIED))),
        "3 and 2 elements": (shapes(3, "elements"), shapes(2, "elements")),
    }
    rtols = (5e-3, 3e-3, 2e-3, 1.5e-3, 1e-3, 7e-4, 5e-4, 4e-4, 3e-4)
    return {f"{name}, rtol {rtol:.2g}": case(*both, rtol) for name, both in bases.items() for rtol in rtols}


def mujoco_settings() -> dict[str, dict[str, Any]]:
    pairs = [(5, 2), (6, 2), (6, 3), (7, 2), (7, 3), (6, 6), (8, 8), (9, 9), (10, 10)]
    found = {}
    for integrator, these in (("Euler", pairs), ("implicitfast", [(6, 2), (6, 6)])):
        for segments in these:
            for parts in (12, 14, 15, 16, 18, 20, 22, 25, 30, 35):
                dt = SAMPLE / parts
                text = f"{segments[0]} and {segments[1]} segments, dt {1e3 * dt:.3g} ms, {integrator}"
                found[text] = {"segments": segments, "dt": dt, "integrator": integrator}
    return found


def exudyn_settings() -> dict[str, dict[str, Any]]:
    found = {}
    for elements in ((2, 1), (2, 2), (3, 1), (3, 2), (3, 3)):
        for parts in (10, 12):
            for radius in (0.6, 0.8, 0.9):
                for tolerance in (3e-4, 1e-4):
                    for integration in (1, 2):
                        dt = SAMPLE / parts
                        text = f"{elements[0]} and {elements[1]} ANCF, dt {1e3 * dt:.3g} ms, radius {radius}, "
                        text += f"tol {tolerance:.0e}, quadrature {integration}"
                        steps = {"elements": elements, "dt": dt, "radius": radius, "tolerance": tolerance}
                        found[text] = {**steps, "integration": integration, "sample": SAMPLE}
    return found


def mujoco_tried(setting: Mapping[str, Any], checked: Checked) -> Result:
    from peers import mujoco_ensemble

    start = time.process_time()
    models = mujoco_ensemble.two_link_arms(checked.pairs, **setting)
    ready = time.process_time()
    track = mujoco_ensemble.tips(models, DURATION, SAMPLE, threads=1).transpose(1, 0, 2)
    end, count = time.process_time(), len(models)
    times = SAMPLE * np.arange(len(track))
    return Result(times, track, (end - ready) / count, (end - start) / count, round(DURATION / setting["dt"]))


def exudyn_tried(setting: Mapping[str, Any], checked: Checked) -> Result:
    from peers import exudyn_ensemble

    given = [{"payload": payload, "upper_E": E, "functionData": setting} for payload, E in checked.pairs]
    start = time.process_time()
    times, tracks, loops, wholes = zip(*map(exudyn_ensemble.member, given), strict=True)
    whole = (time.process_time() - start) / len(given)
    steps = round(DURATION / setting["dt"])
    return Result(times[0], np.stack(tracks, axis=1), whole * sum(loops) / sum(wholes), whole, steps)


TRIED: dict[str, tuple[Callable[[], dict[str, Any]], Callable[[Any, Checked], Result]]] = {
    FLEXARM: (flexarm_settings, own.tried),
    MUJOCO: (mujoco_settings, mujoco_tried),
    EXUDYN: (exudyn_settings, exudyn_tried),
}


def survey(tool: str, checked: Checked, say: Callable[[str], None]) -> Survey:
    """All settings of a tool."""
    for pair in checked.pairs:
        reference(*pair)  # here, not in every child
    settings, run = TRIED[tool]
    every = [Candidate(tool, name, partial(run, each, checked)) for name, each in settings().items()]
    return search.survey(every, checked.error, (WITHIN,), repeats=REPEATS, say=say)


def chosen(grid: Grid, say: Callable[[str], None]) -> Chosen:
    """Settings are tried with few members, those of flexarm in the company of few; what is timed of flexarm must hold
    where it is checked closely, among all of them. Peers are not held to that: it is told."""
    from peers import exudyn_ensemble, mujoco_ensemble  # noqa: F401 - here, not in every child

    few, close = Checked(grid), Checked(grid, closely=True)
    found = {FLEXARM: survey(FLEXARM, Checked(FEW), say), **{tool: survey(tool, few, say) for tool in (MUJOCO, EXUDYN)}}
    alike = {name: each for name, each in mujoco_settings().items() if len(set(each["segments"])) == 1}
    named = next(trial for trial in found[MUJOCO].trials if trial.setting == NAMED)
    mujoco = (
        cheapest(found[MUJOCO], mujoco_settings()),
        cheapest(found[MUJOCO], alike),
        (named, mujoco_settings()[NAMED]),
    )
    exudyn, best = cheapest(found[EXUDYN], exudyn_settings()), quickest(found[FLEXARM], few, close, say)
    trials = [trial for each in found.values() for trial in each.trials]
    errors = {}
    for trial, setting in (best, *mujoco, exudyn):
        errors[trial.setting] = close.error(TRIED[trial.tool][1](setting, close))
        say(f"  {trial.tool:<22}{trial.setting:<52}{errors[trial.setting]:10.2e} of {len(close.numbers)} members")
    return Chosen(Survey(trials, (WITHIN,)), best, *mujoco, exudyn, errors)


def quickest(found: Survey, few: Checked, close: Checked, say: Callable[[str], None]) -> tuple[Trial, SweepCase]:
    """The setting of flexarm that holds also in the company of all members, whose whole sweep is quickest: robots must
    be described, too, which takes some settings longer than others."""
    left, final = flexarm_settings(), list[tuple[float, Trial, SweepCase]]()
    while len(final) < FINAL and (best := _best(found, left)) is not None:
        setting = left.pop(best.setting)
        errors = [each.error(own.tried(setting, each)) for each in (few, close)]
        say(f"  {best.tool:<22}{best.setting:<52}{max(errors):10.2e} among all")
        if max(errors) <= WITHIN:
            whole = min(own.swept(setting, close.grid)[0] for _ in range(REPEATS + 1))
            say(f"  {'':<22}{1e3 * whole:.3f} ms a member, whole")
            final.append((whole, replace(best, error=errors[0]), setting))
    if not final:
        raise SystemExit(f"no setting of flexarm holds {1e3 * WITHIN:g} mm among all members")
    _, trial, setting = min(final, key=lambda each: each[0])
    return trial, setting


def cheapest(found: Survey, settings: Mapping[str, Any]) -> tuple[Trial, Any]:
    """Of these, by the solver's time."""
    best = _best(found, settings)
    if best is None:
        raise SystemExit(f"none of {len(settings)} settings holds {1e3 * WITHIN:g} mm: {', '.join(settings)}")
    return best, settings[best.setting]


def _best(found: Survey, settings: Mapping[str, Any]) -> Trial | None:
    hold = [trial for trial in found.trials if trial.setting in settings and trial.meets(WITHIN)]
    return min(hold, key=lambda trial: trial.loop, default=None)
