"""The comparison's own machinery; no peer is needed."""

from __future__ import annotations

import math
import sys
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import flexarm as fa
from flexarm.integrators.registry import METHODS

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

import control_benchmarks
import deflection
import first_call
import growth
import page
import precision
import precision_goals
import search
import shapes
import stepping
import verdicts
import whole_call
import work
from control_set import costs, hub_and_tip, shaping, two_link_arm
from control_set.part import Part, Row, below
from ensemble_set import cluster, memory, own, report, rounds, settings
from ensemble_set.arms import DURATION, SAMPLE, WITHIN, Checked, Grid, reference
from peers.result import Candidate, Failed, Result, lines
from precision_cases import CASES

TIMES = np.linspace(0, 1, 101)
REFERENCE = CubicSpline(TIMES, np.sin(TIMES)[:, None])


def result(error: float = 0.0, loop: float = 1.0, times: np.ndarray = TIMES) -> Result:
    return Result(times, np.sin(times)[:, None] + error, loop, 2 * loop, 100)


def candidate(tool: str, setting: str, **fields: float) -> Candidate:
    return Candidate(tool, setting, lambda: result(**fields))


def deviation(found: Result) -> float:
    return search.deviation(found, REFERENCE)


def survey(*candidates: Candidate, targets: tuple[float, ...] = (1e-2, 1e-3)) -> search.Survey:
    return search.survey(candidates, deviation, targets, limit=20.0, repeats=2)


def test_cheapest_setting_that_meets_the_target() -> None:
    found = survey(
        candidate("a", "cheap but wrong", error=0.5, loop=0.1),
        candidate("a", "just right", error=9e-4, loop=1.0),
        candidate("a", "needlessly fine", error=1e-6, loop=5.0),
        candidate("a", "coarse", error=5e-3, loop=0.4),
    )
    best = [found.best("a", target) for target in found.targets]
    assert [each.setting for each in best if each] == ["coarse", "just right"]
    assert all(each and len(each.loops) == 2 for each in best)  # measured again
    assert found.best("a", 1e-9) is None
    assert found.most_accurate("a").setting == "needlessly fine"


def fails() -> Result:
    raise Failed("Newton gave up")


def breaks() -> Result:
    raise ZeroDivisionError("oh")


def crawls() -> Result:
    time.sleep(60)
    return result()


def test_failed_and_wrong_settings_never_win() -> None:
    not_a_number = result()
    not_a_number.track[50] = math.nan
    short = result(times=TIMES[:80])
    found = survey(
        Candidate("a", "fails", fails),
        Candidate("a", "breaks", breaks),
        Candidate("a", "nan", lambda: not_a_number),
        Candidate("a", "short", lambda: short),
        candidate("a", "good", error=1e-4, loop=9.0),
    )
    assert found.best("a", 1e-2).setting == "good"
    assert {trial.setting: trial.failure for trial in found.failures()} == {
        "fails": "Newton gave up",
        "breaks": "ZeroDivisionError: oh",
        "nan": "the answer is not a number or ends early",
        "short": "the answer is not a number or ends early",
    }


def test_a_setting_that_crawls_is_stopped() -> None:
    trial = search.attempt(Candidate("a", "crawls", crawls), deviation, 1, limit=0.5)
    assert trial.failure == "not finished after 0 s" or trial.failure == "not finished after 1 s"
    assert not trial.meets(math.inf)


def test_error_is_the_largest_distance_at_the_tools_own_times() -> None:
    own = np.linspace(0, 1, 37)
    assert deviation(result(times=own)) < 1e-8
    assert deviation(result(error=3e-3, times=own)) == pytest.approx(3e-3, rel=1e-4)


def test_duel_is_fought_at_the_accuracy_that_the_peer_reaches() -> None:
    found = survey(
        candidate("flexarm", "coarse", error=4e-3, loop=0.1),
        candidate("flexarm", "fine", error=1e-4, loop=1.0),
        candidate("peer", "its best", error=5e-3, loop=2.0),
    )
    fought = verdicts.duel(found, "peer", 1e-3)
    assert fought.accuracy == pytest.approx(5e-3, rel=1e-4)
    assert fought.own.setting == "coarse"
    assert fought.loop == pytest.approx(20.0)
    assert verdicts.duel(found, "absent", 1e-3) is None


def test_growth_is_a_power_of_the_coordinates() -> None:
    costs = [growth.Cost("links", n, n, setup=2.0 * n, step=3.0 * n**1.3) for n in (2, 10, 50)]
    costs.append(growth.Cost("links", 100, 100, failure="not finished"))
    assert growth.exponent(costs, "step") == pytest.approx(1.3)
    assert growth.exponent(costs, "setup") == pytest.approx(1.0)


def test_lines_leave_out_comments_and_docstrings() -> None:
    def three() -> int:
        """Not counted."""
        # nor this

        one = 1
        return one

    assert lines(three) == 3


def test_page_is_written_from_an_empty_run() -> None:
    assert page.written(page.Findings()).startswith("# Benchmarks")


def test_first_calls_are_medians_and_ratios_of_them() -> None:
    here = first_call.medians([{"a": 0.1}, {"a": 9.0}, {"a": 0.2}], [3.0, 1.0, 2.0])
    assert here == {first_call.COLD: 2.0, "a": 0.2}
    assert first_call.medians([{"a": 0.1}], []) == {"a": 0.1}
    head, cold, a = first_call.table([here, {first_call.COLD: 1.0, "a": 0.8}]).splitlines()
    assert head.split() == ["ms", "ms", "there", "ratio"]
    assert cold.split()[-3:] == ["2000.0", "1000.0", "2.00"]
    assert a.split() == ["a", "200.0", "800.0", "0.25"]
    assert first_call.table([here]).splitlines()[2].split() == ["a", "200.0"]


@pytest.mark.slow
def test_first_calls_are_measured_in_processes_of_their_own() -> None:
    (found,) = first_call.measured([first_call.HERE], repeats=1, cold_repeats=0)
    assert 0 < found[first_call.WARM] < found[first_call.SUM] < found[first_call.LABELLED]


def test_a_folder_without_the_package_is_not_measured(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="has no src/flexarm"):
        first_call.in_new_process(tmp_path, str(tmp_path / "cache"), str(tmp_path / "bytecode"))


def test_parts_of_a_whole_call_add_up_to_it() -> None:
    own = fa.simulate
    clock = iter(range(10_000))

    def work() -> fa.Run:
        return fa.simulate(fa.Robot(links=[fa.Link("a", 1.0, mass=1.0)]), 0.1, torque={"a": 1.0}, native=False)

    with whole_call.measured_parts(lambda: float(next(clock))) as found:
        run = work()
    assert run.status == "completed"
    assert list(found) == list(whole_call.PARTS)
    assert all(value > 0 for value in found.values())
    assert sum(found.values()) == next(clock) - 1
    calls = whole_call.counted(work)
    assert calls["loop"] > 100
    assert all(value > 10 for value in calls.values())
    assert fa.simulate is own
    assert "but the loop" in whole_call.table("W1", whole_call.timed(work, 1), calls)


def test_costs_of_digital_controllers_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_call, "DURATION", 0.2)
    *_, python, matrices, ratio, added = whole_call.digital(1).splitlines()
    assert python.split()[-1] == matrices.split()[-1]  # the same steps
    assert "times the continuous one" in ratio
    assert "us a sample" in added


def test_calls_of_a_run_are_counted() -> None:
    robot = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0)])
    simulate = partial(fa.simulate, robot, 0.1, torque={"a": 1.0}, dt=0.01, sample=0.1)  # each sample is a call, too
    found = work.executed(simulate, METHODS["rk4"]())
    assert 4 * 10 < found["residual"] < 4 * 10 + 10  # four stages in each of ten steps, and some starts
    assert found["instructions"] > found["residual"]
    implicit = work.executed(simulate, METHODS["esdirk"]())
    assert 7 * 10 < implicit["residual"] < 7 * 10 + 10  # one iteration a stage, two in the first
    assert 10 < implicit["factor"] < 10 + 10


def point(method: str, setting: float, error: float, loop: float) -> precision.Point:
    return precision.Point(method, setting, error, 10, loop, method, 1e6 * loop)


def test_less_work_at_the_same_error_and_at_the_same_tolerance() -> None:
    cases = {case.name: case for case in CASES}
    here = [point("auto", 1e-6, 1e-7, 0.5), point("auto", 1e-4, 9e-4, 0.1)]
    there = [point("generalized-alpha", 1e-6, 1e-6, 10.0), point("generalized-alpha", 1e-4, 9e-4, 0.2)]
    first, allowed, second, _ = precision_goals.lines(cases["clamped"], here, there)
    assert first.startswith("rtol 1e-06: 20 times less work, 20 times less time")
    assert allowed == "  its error is 0.11 of what is allowed"
    assert second.startswith("rtol 1e-04: 2 times less work")
    by_loop, *_ = precision_goals.lines(cases["W4"], here, there)
    assert by_loop.startswith("1 mm by loop: 2 times less work")
    assert "nothing now" in next(iter(precision_goals.lines(cases["W4"], [], there)))


def test_steps_by_hand_are_timed_beside_the_machine_code_that_they_call() -> None:
    step, jumping, raw, run = stepping.measured(stepping.ROBOTS["one rigid link"](), "generalized-alpha", repeats=3)
    assert min(step, jumping, raw, run) > 0
    assert step > raw


def test_shapes_are_compared_at_equal_counts() -> None:
    for name in shapes.BASES:
        robot = shapes.with_basis(fa.library.two_link_arm(), name, 3)
        assert robot.coordinates == fa.library.two_link_arm().coordinates
    with pytest.warns(fa.UnitsWarning):
        bare, loaded = (shapes.frequency_errors(shapes.clamped(), name, 2) for name in ("bare", "loaded"))
    assert max(loaded) < 1e-9 < 1e-2 < min(bare)
    assert shapes.sag_error("loaded", 4, 0.0) < 1e-4 < 1e-2 < shapes.sag_error("bare", 4, 0.0)


# --- deflection.py ---


def test_models_of_links_are_worth_what_they_cost() -> None:
    points = deflection.statics_in_plane(loads=(0.1, 1.0))
    small, large = sorted({point.deflection for point in points})
    error = {(point.model, point.deflection): point.error for point in points}
    for far in (small, large):
        assert error["exact", far] < error["shortening", far] < error["none", far]
    spatial = deflection.statics_in_space(loads=(0.1,), shapes=2)
    assert [point.model for point in spatial] == list(deflection.MODELS)
    costs = [price.inverse_dynamics for price in deflection.prices(space=False, shapes=(2,))]
    assert costs == sorted(costs)


def test_how_far_a_model_may_bend_lies_between_points() -> None:
    points = [deflection.Point("exact", 10.0**k, 10.0 ** (2 * k)) for k in (-3, -2, -1)]
    assert deflection.reaches(points, "exact", 1e-3) == pytest.approx(10**-1.5)
    assert deflection.reaches(points, "exact", 1.0) == pytest.approx(0.1)
    assert deflection.reaches(points, "exact", 1e-9) == 0.0


def test_motions_are_judged_by_finer_ones() -> None:
    spun = deflection.spin_up(speeds=(2.0,), shapes=2, fine=3, end=1.0)
    let_go = deflection.whip(sizes=(0.1,), shapes=1, fine=2)
    for points in (spun, let_go):
        error = {point.model: point.error for point in points}
        assert error["exact"] < error["none"]


def test_the_page_tells_reach_and_cost() -> None:
    points = [deflection.Point(model, far, far**2) for model in deflection.MODELS for far in (0.01, 0.1)]
    costs = [deflection.Price(model, 2, 100, 1000) for model in deflection.MODELS]
    page = deflection.written(deflection.Findings(points, points, points, points, costs, costs))
    assert "| planar | 2 | 100 / 1000 | 100 / 1000 | 100 / 1000 |" in page
    assert "| a beam is spun up | 0.1 % | 3.2 % | 3.2 % | 3.2 % |" in page


# --- control_benchmarks.py ---


def held(*rows: Row) -> bool:
    return all(row.holds is not False for row in rows)


def test_what_shapes_do_not_resolve_does_not_hold() -> None:
    holds = [row.holds for row in hub_and_tip.poles_and_zeros(count=8, modes=6).rows]
    assert holds[2] is True  # they interlace all the same
    assert holds[3] is False
    assert held(hub_and_tip.reciprocity(), *shaping.table().rows)


def test_an_arm_under_pd_is_said_to_settle_only_if_it_does() -> None:
    assert held(*two_link_arm.clamped())
    (settled,) = two_link_arm.settling(ratios=(0.2,)).rows
    assert settled.holds
    (cut,) = two_link_arm.settling(ratios=(0.05,), longest=5.0).rows
    assert cut.holds is False
    assert cut.found.startswith("not within 5 s")
    assert "from 5000 Hz on" in two_link_arm.rate_needed().found


def test_loops_end_in_the_same_place_whoever_closes_them() -> None:
    ways = costs.loops(fa.System(fa.library.de_luca_siciliano_arm(damping=0.03)))
    digital, by_hand = (next(way for name, way in ways.items() if word in name) for word in ("user-defined", "by hand"))
    assert digital() == pytest.approx(by_hand(), abs=1e-6)


def test_python_control_is_found_beside_the_benchmarks() -> None:
    """Which it would not be, were a file of theirs called control.py."""
    control = pytest.importorskip("control")
    assert "benchmarks" not in Path(control.__file__).parts


def test_the_page_of_control_tells_what_does_not_hold(tmp_path: Path) -> None:
    part = Part([below("small", 1e-3, 1e-2), below("smaller", 1e-3, 1e-4), Row("a number", "3")], [lambda plot: None])
    found = control_benchmarks.written(dict.fromkeys(control_benchmarks.PARTS, part))
    assert "6 of 12 requirements hold. Not held: smaller; smaller" in found
    assert "| smaller | 1.0e-03 | **no** |" in found
    assert "| a number | 3 |  |" in found
    control_benchmarks.draw(3 * part.panels, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.parametrize("name", control_benchmarks.PARTS)
def test_every_part_of_control_holds(name: str) -> None:
    part = costs.part(rounds=2) if name == "costs" else control_benchmarks.PARTS[name]()
    assert part.rows
    assert held(*part.rows) or name == "costs"  # which is about times


# --- ensemble.py ---

FOUR = Grid(2, 2)


def test_members_are_those_of_the_sweep() -> None:
    grid = Grid(3, 2)
    assert len(grid) == len(grid.pairs) == len(grid.members) == 6
    (payload, payloads), (modulus, moduli) = grid.over.items()
    for number, each in enumerate(grid.members):
        assert each.number == number
        assert each.changes == {payload: payloads[number // 2], modulus: moduli[number % 2]}
    assert Checked(Grid(5, 7)).numbers == [0, 3, 6, 14, 17, 20, 28, 31, 34]
    assert Checked(FOUR).numbers == [0, 1, 2, 3]
    closely = Checked(Grid(40, 25), closely=True).numbers
    assert {*range(75), *Checked(Grid(40, 25)).numbers} < {*closely}
    assert memory.grid_of(100_000) == Grid(250, 400)


def test_every_tool_that_is_here_computes_the_same_arms() -> None:
    """Peers are no part of what the tests need: theirs are tried where they are installed."""
    checked = Checked(FOUR)
    fine = {
        "flexarm": settings.flexarm_settings()["Craig-Bampton, 2 and 1 modes, rtol 0.001"],
        "MuJoCo": {"segments": (8, 3), "dt": SAMPLE / 25, "integrator": "Euler"},
        "Exudyn": {
            "elements": (3, 2),
            "dt": 5e-3,
            "radius": 0.6,
            "tolerance": 3e-4,
            "integration": 1,
            "sample": SAMPLE,
        },
    }
    for tool, setting in fine.items():
        if find_spec(tool.lower()):
            found = settings.TRIED[tool][1](setting, checked)
            assert checked.error(found) < WITHIN, tool
            assert 0 < found.loop < found.whole


def test_tips_that_end_early_are_no_answer() -> None:
    times = np.arange(0, DURATION + SAMPLE / 2, SAMPLE)
    exact = np.stack([reference(*pair) for pair in Checked(FOUR).pairs], axis=1)
    off = exact.copy()
    off[7, 2, 1] += 3e-3
    assert Checked(FOUR).error(Result(times, off, 0.0, 0.0, 0)) == pytest.approx(3e-3)
    assert math.isnan(Checked(FOUR).error(Result(times[:-1], exact[:-1], 0.0, 0.0, 0)))


def test_sweeps_are_timed_with_their_loops() -> None:
    case = settings.flexarm_settings()["Craig-Bampton, 2 and 1 modes, rtol 0.001"]
    steps, nodes, run, prepared = own.together(case, FOUR, threads=1)
    assert 0 < nodes < steps < steps + nodes < run < prepared
    whole, steps, nodes = own.swept(case, FOUR, threads=1)
    assert 0 < nodes < steps < steps + nodes < whole
    assert own.one_by_one(case, FOUR)[0] > 0


def test_what_dask_adds_is_a_share_of_the_work_inside() -> None:
    shared = cluster.Shared(workers=2, wall=1.1, batches=(0.5, 0.5, 0.5, 0.5))
    assert shared.overhead == pytest.approx(0.1)
    assert shared.batch == 0.5


def ensemble(mujoco: tuple[float, float]) -> report.Findings:
    good, rough = (search.Trial("MuJoCo", name, error, (loop,), (loop,)) for name, error, loop in TRIALS)
    trials = [good, rough, *(search.Trial(tool, "its own", 5e-5, (1e-3,), (2e-3,)) for tool in ("flexarm", "Exudyn"))]
    found = search.Survey(trials, (WITHIN,))
    case = settings.flexarm_settings()["3 and 2 elements, rtol 0.001"]
    closely = {trial.setting: 2e-4 for trial in trials}
    chosen = settings.Chosen(found, (trials[2], case), (good, {}), (good, {}), (rough, {}), (trials[3], {}), closely)
    sizes = rounds.Sizes(Grid(40, 25), Grid(5, 4), Grid(10, 10), Grid(10, 6))
    own = {"alone": (4e-3, 5e-3), "inside": (1e-3, 1e-4, 1.1e-3, 1.2e-3)}
    own |= {"inside_all": (1e-3, 1e-4, 5.5e-4, 6e-4)}
    swept = {"swept": (1.14e-3, 1e-3, 1e-4), "swept_all": (6e-4, 1e-3, 1e-4)}
    peers = {"mujoco": mujoco, "mujoco_alike": mujoco, "mujoco_named": (0.06, 0.06), "exudyn": (0.03, 0.06)}
    timed = rounds.Timed(2, sizes, 3, **own, **swept, **peers)
    shared = [cluster.Shared(2, 1.1, (0.5,) * 4)]
    many = {"members": 1e5, "seconds": 60.0, "peak": 2000.0}
    return report.Findings(chosen, timed, shared, 1.0, {**many, "members": 1e3}, many)


TRIALS = (("good", 9e-5, 8e-3), ("rough", 2e-4, 4e-3))


def test_the_page_of_ensembles_tells_what_does_not_hold() -> None:
    found = ensemble(mujoco=(0.0264, 0.0276))
    holds = {verdict.claim: verdict.holds for verdict in report.verdicts(found)}
    assert [claim for claim, held in holds.items() if not held] == [
        "45 times the members a second of MuJoCo's rollout at its best, its models given",
        "100000 members in less than 1 GB",
    ]
    page = report.written(found)
    assert (
        "| 45 times the members a second of MuJoCo's rollout at its best, its models built | 46 times | yes |" in page
    )
    assert (
        "| 45 times the members a second of MuJoCo's rollout at its best, its models given | 44 times | **no** |"
        in page
    )
    assert "| MuJoCo | good | 0.09 | 8 | yes |\n| MuJoCo | rough | 0.2 | 4 | **no** |" in page
    assert "{" not in page


def test_the_cheapest_of_what_holds_is_timed() -> None:
    survey = ensemble((1.0, 1.0)).chosen.survey
    assert settings.cheapest(survey, {"good": 1, "rough": 2}) == (survey.trials[0], 1)
    with pytest.raises(SystemExit, match=r"none of 1 settings holds 0.1 mm: rough"):
        settings.cheapest(survey, {"rough": 2})
