"""Goals and whether they hold, and the comparisons in which flexarm is slower."""

from __future__ import annotations

import math
from dataclasses import dataclass

from footprint import Footprint
from growth import Cost, exponent
from search import Survey, Trial
from workloads import Goal, Workload

GROWTH = 1.3  # the largest allowed power of the number of coordinates
MEMORY = 1024.0  # MB
COLD, COMPILER = 10.0, 15.0  # cold set-up: times the warm one, and seconds for the compiler


@dataclass(frozen=True)
class Verdict:
    claim: str
    measured: str
    holds: bool


@dataclass(frozen=True)
class Duel:
    """flexarm against a peer at equal accuracy: the peer's own, where it does not reach what is asked."""

    peer: Trial
    accuracy: float
    own: Trial | None
    own_whole: Trial | None
    peer_whole: Trial

    @property
    def loop(self) -> float:
        return self.peer.loop / self.own.loop if self.own else math.nan

    @property
    def whole(self) -> float:
        return self.peer_whole.whole / self.own_whole.whole if self.own_whole else math.nan


def rivals(survey: Survey, peer: str) -> list[str]:
    return [tool for tool in survey.tools if tool.startswith(peer)]


def duel(survey: Survey, peer: str, accuracy: float, same: str = "") -> Duel | None:
    found = _cheapest(survey, peer, accuracy, "loop")
    if found is None:
        accurate = [best for tool in rivals(survey, peer) if (best := survey.most_accurate(tool))]
        if not accurate:
            return None
        accuracy = min(trial.error for trial in accurate)
        found = _cheapest(survey, peer, accuracy, "loop")
    whole = _cheapest(survey, peer, accuracy, "whole")
    assert found is not None
    assert whole is not None
    own, own_whole = (survey.best("flexarm", accuracy, of, same) for of in ("loop", "whole"))
    return Duel(found, accuracy, own, own_whole, whole)


def _cheapest(survey: Survey, peer: str, accuracy: float, of: str) -> Trial | None:
    fit = [best for tool in rivals(survey, peer) if (best := survey.best(tool, accuracy, of))]
    return min(fit, key=lambda trial: getattr(trial, of), default=None)


def of_goals(workload: Workload, survey: Survey) -> list[Verdict]:
    return [verdict for goal in workload.goals for verdict in _of_goal(workload, survey, goal)]


def _of_goal(workload: Workload, survey: Survey, goal: Goal) -> list[Verdict]:
    found = duel(survey, goal.peer, goal.accuracy, goal.same)
    if found is None:
        return [Verdict(f"{workload.name}: faster than {goal.peer}", f"{goal.peer} gave no result", False)]
    where = f"{workload.name} at {1e3 * found.accuracy:.3g} mm"
    if goal.same:
        where += f" on the same equations ({goal.same})"
    if found.accuracy != goal.accuracy:
        where += f" (all that {goal.peer} reaches)"
    pairs = (("solver loop", goal.loop, found.loop), ("whole call", goal.whole, found.whole))
    return [
        Verdict(
            f"{where}: {name} at least {wanted:g} times faster than {goal.peer}",
            "flexarm does not reach this accuracy" if math.isnan(ratio) else f"{ratio:.3g} times",
            ratio >= wanted,
        )
        for name, wanted, ratio in pairs
        if wanted
    ]


def of_footprints(prints: dict[tuple[str, str], Footprint]) -> list[Verdict]:
    out = []
    for (workload, tool), found in prints.items():
        if tool != "flexarm":
            continue
        text = f"{found.memory:.0f} MB"
        out.append(Verdict(f"{workload}: less than 1 GB of memory", text, found.memory < MEMORY))
        if workload == "W4":
            most = COLD * found.warm + COMPILER
            claim = f"W4: cold set-up under {COLD:g} times the warm one plus {COMPILER:g} s"
            out.append(Verdict(claim, f"{found.cold:.2f} s of {most:.2f} s", found.cold < most))
    return out


def of_growth(costs: dict[str, list[Cost]]) -> list[Verdict]:
    out = []
    for kind, found in costs.items():
        for of, name in (("step", "cost of a step"), ("setup", "set-up and compile time")):
            power = exponent(found, of)
            claim = f"W5: {name} grows no faster than N^{GROWTH:g} with the {kind}"
            out.append(Verdict(claim, f"N^{power:.2f}", power <= GROWTH))
    return out


def losses(workload: Workload, survey: Survey, prints: dict[tuple[str, str], Footprint]) -> list[str]:
    """Sentences about every peer that beats flexarm in something."""
    out = []
    for peer in survey.tools:
        if peer == "flexarm":
            continue
        for target in workload.targets:
            theirs = survey.best(peer, target)
            ours = survey.best("flexarm", target)
            where = f"{workload.name} within {1e3 * target:.3g} mm"
            if theirs and not ours:
                best = survey.most_accurate("flexarm")
                reach = f"its best error is {1e3 * best.error:.3g} mm" if best else "it has no result"
                out.append(f"{where}: {peer} gets there ({theirs.setting}), flexarm does not: {reach}.")
            for of, name in (("loop", "solver loop"), ("whole", "whole call")):
                theirs, ours = survey.best(peer, target, of), survey.best("flexarm", target, of)
                if theirs and ours and getattr(theirs, of) < getattr(ours, of):
                    times = f"{1e3 * getattr(theirs, of):.3g} ms against {1e3 * getattr(ours, of):.3g} ms"
                    out.append(f"{where}: the {name} of {peer} is faster, {times}.")
        mine, other = prints.get((workload.name, "flexarm")), prints.get((workload.name, peer))
        if mine and other:
            for of, name in (("cold", "nothing compiled yet"), ("warm", "compiled before")):
                if getattr(other, of) < getattr(mine, of):
                    times = f"{getattr(other, of):.2g} s against {getattr(mine, of):.2g} s"
                    out.append(f"{workload.name}, first call in a new process, {name}: {peer} is faster, {times}.")
            if other.memory < mine.memory:
                out.append(
                    f"{workload.name}: {peer} needs less memory, {other.memory:.0f} MB against {mine.memory:.0f}."
                )
    return out
