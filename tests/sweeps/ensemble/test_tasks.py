"""Members grouped and checked before they run, then run in threads."""

import itertools
import pickle
import re
import threading
import warnings

import numpy as np
import pytest

import flexarm as fa
from flexarm.codegen.compiler import find_compiler
from flexarm.codegen.simd_library import SSE2
from flexarm.sweeps.case import Member, SweepCase
from flexarm.sweeps.ensemble import tasks
from flexarm.sweeps.ensemble.tasks import MemberTask
from flexarm.sweeps.executors import compute_portion, pack_job
from flexarm.sweeps.measures import STANDARD_MEASURES
from tests.sweeps.ensemble.test_batch import ARM, PUSH

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

CASE = SweepCase(ARM, 0.5, torque=PUSH, options={"rtol": 1e-3, "sample": 0.01, "method": "esdirk"})
ALONE = SweepCase(ARM, 0.1, torque=PUSH, options={"rtol": 1e-2, "native": False})


def payloads(values):
    return [Member(k, {"links.fore.payload.mass": value}) for k, value in enumerate(values)]


def prepared(case, these, **options):
    return tasks.prepare(case, these, width=SSE2, **{"threads": 2, **options})


def ran(case, these, **options):
    sweep = prepared(case, these, **options)
    return {each.number: each for each in tasks.run(sweep, threads=2)}, sweep


def test_many_members_by_interpolation_are_those_that_were_computed():
    masses, stiffnesses = np.linspace(0.05, 0.5, 6), np.linspace(1e10, 4e10, 5)
    pairs = itertools.product(masses, stiffnesses)
    these = [Member(k, {"links.fore.payload.mass": m, "links.upper.material.E": E}) for k, (m, E) in enumerate(pairs)]
    found, sweep = ran(CASE, these)
    assert sweep.notes == []
    assert len(sweep.tasks) > 1
    assert re.fullmatch(r"numbers of 30 robots from those of \d+", sweep.interpolated[0])
    few, _ = ran(CASE, these[7:9])  # too few for interpolation
    for number in (7, 8):
        np.testing.assert_allclose(found[number].values["tip"], few[number].values["tip"], atol=1.5e-3)
    assert sorted(found) == list(range(30))
    assert {each.status for each in found.values()} == {"completed"}
    assert found[0].values.keys() == STANDARD_MEASURES.keys()
    for name, value in found[0].values.items():
        assert np.ndim(value) == len(STANDARD_MEASURES[name].dimensions)


def test_interpolated_rows_to_ten_digits():
    """But for what is only compared with: it has kinks."""
    sweep = prepared(CASE, payloads(np.linspace(0.0, 0.5, 40)))
    cohort, (these, rows, _) = sweep.jobs[0].cohort, sweep._members[0]
    for place in (3, 17, 38):
        exact = cohort.rows.row(these[place].smooth)
        rough = cohort.rows.scale.close > 1e-10
        found = rows.select(these.select([place]), [place])[0]
        np.testing.assert_allclose(found[~rough], exact[~rough], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found[rough], exact[rough], rtol=1e-2)


def test_damping_by_the_order_of_frequencies_is_not_interpolated():
    """It jumps where two families change places."""
    ranked = fa.Flexible(bend_y=1, bend_z=1, damping=fa.Damping(ratio=(0.01, 0.05)), stiffening="shortening")
    case = SweepCase(ARM.with_({"links.fore.flexible": ranked}), 0.1, options={"rtol": 1e-2, "method": "esdirk"})
    these = [Member(k, {"links.fore.section.width": each}) for k, each in enumerate(np.linspace(0.004, 0.006, 30))]
    assert isinstance(prepared(case, these)._members[0][1].source, np.ndarray)


def test_structures_that_differ_run_apart_and_say_so():
    these = [Member(k, {"links.fore.flexible.bend_y": count}) for k, count in enumerate((1, 2, 1))]
    found, sweep = ran(CASE, these)
    assert sweep.notes == ["robots of 2 structures run apart: they differ by more than numbers"]
    assert len(found) == 3
    np.testing.assert_allclose(found[0].values["tip"], found[2].values["tip"], atol=1e-12)


def test_what_members_do_not_mention_is_as_it_is():
    these = [Member(0, {"links.fore.payload.mass": 0.3}), Member(1, {}), Member(2, {"links.fore.payload.mass": 0.15})]
    found, _ = ran(CASE, these)
    np.testing.assert_allclose(found[1].values["tip"], found[2].values["tip"], atol=1e-6)


def test_no_members_are_no_tasks():
    assert prepared(CASE, []).tasks == []


# --- one by one ---


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"native": False}, "native=False"),
        ({"method": "bdf"}, "bdf chooses its own steps"),
        ({"verify": True, "native": "auto"}, "verify=True"),
    ],
)
def test_what_lanes_cannot_do_is_done_one_by_one_with_a_word(options, why):
    case = SweepCase(ARM, 0.05, torque=PUSH, options={"rtol": 1e-2, **options})
    found, sweep = ran(case, payloads([0.1, 0.2]))
    assert why in sweep.notes[0]
    assert "2 members run one by one" in sweep.notes[0]
    assert found[0].status == "completed"
    assert found[0].values.keys() == STANDARD_MEASURES.keys()


def test_a_law_with_a_sample_rate_and_a_stop_run_one_by_one():
    law = fa.Feedback(lambda t, q, v: [0.0, 0.0], rate=100)
    assert "sample rate" in prepared(SweepCase(ARM, 0.1, torque=law), payloads([0.1])).notes[0]
    stopped = ARM.with_({"links.fore.joint.limits": (-1, 1), "links.fore.joint.stop": fa.Stop(100.0)})
    assert "stops" in prepared(SweepCase(stopped, 0.1), payloads([0.1])).notes[0]


def test_without_a_compiler_members_run_one_by_one(monkeypatch, caplog):
    monkeypatch.setenv("CC", "no-such-compiler")
    case = SweepCase(
        ARM.with_({"links.upper.length": 1.1, "links.fore.flexible.bend_y": 2}),
        0.02,
        options={"rtol": 1e-2, "method": "newmark"},
    )
    found, sweep = ran(case, payloads([0.1]))
    assert "no machine code" in sweep.notes[0]
    assert found[0].status == "completed"


# --- measures and runs ---


def test_measures_of_the_user_and_one_that_fails():
    def broken(run):
        raise KeyError("nothing")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, _ = ran(ALONE, payloads([0.1, 0.2]), measures={"last": lambda run: float(run.array("tip")[-1, 0])})
        failed, _ = ran(ALONE, payloads([0.1]), measures={"broken": broken})
    assert found[1].values["last"] == pytest.approx(1.5, abs=0.01)
    assert failed[0].status == "failed"
    assert failed[0].reason == "measure 'broken' failed (KeyError: 'nothing')"


def test_some_of_the_usual_measures_need_no_histories(monkeypatch):
    from flexarm.sweeps.ensemble import job
    from flexarm.sweeps.measures import checked_measures

    every, _ = ran(CASE, payloads([0.1, 0.2]))
    monkeypatch.setattr(job, "member_run", None)
    some, _ = ran(CASE, payloads([0.1, 0.2]), measures=checked_measures(["tip", "residual"]))
    assert some[1].values.keys() == {"tip", "residual"}
    np.testing.assert_array_equal(some[1].values["tip"], every[1].values["tip"])


def test_a_member_that_fails_at_the_start_is_recorded():
    def law(t, q, v, gains):
        return [np.sqrt(gains["k"]), 0.0]  # no number below zero

    case = SweepCase(ARM, 0.1, torque=fa.Feedback(law, gains={"k": 0.0}), options={"rtol": 1e-2, "method": "esdirk"})
    found, _ = ran(case, [Member(0, {"gains.k": 1e-6}), Member(1, {"gains.k": -1.0})])
    assert found[0].status == "completed"
    assert (found[1].status, dict(found[1].values)) == ("failed", {})
    assert "not finite" in found[1].reason


# --- bad input: before anything runs ---


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"links.fore.payload.mas": 0.1}, "did you mean 'mass'"),
        ({"links.fora.payload.mass": 0.1}, "did you mean 'fore'"),
        ({"links.fore.length": -1.0}, "links.fore.length"),
        ({"q0.fore.p": 0.1}, "no coordinate 'fore.p'; did you mean 'fore.q'"),
        ({"gains.kp": 1.0}, "there is no gain 'gains.kp'"),
        ({"torque.uper.amplitude": 1.0}, "did you mean 'torque.upper'"),
        ({"torque.upper.amplitud": 1.0}, "did you mean 'torque.upper.amplitude'"),
        ({"motion.upper": 1.0}, "there is no 'motion.upper'"),
        ({"torque.upper.amplitude": float("nan")}, "torque.upper.amplitude"),
    ],
)
def test_values_that_make_no_member_are_told_before_anything_runs(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        prepared(CASE, [Member(0, {}), Member(5, changes)])


def test_the_member_among_many_that_is_no_robot():
    these = payloads([*np.linspace(0.1, 0.5, 30), -0.2])
    with pytest.raises(ValueError, match=r"member 30 \(links.fore.payload.mass = -0.2\)"):
        prepared(CASE, these)


def test_unknown_options_and_gains():
    with pytest.raises(TypeError, match="did you mean 'rtol'"):
        prepared(SweepCase(ARM, 0.1, options={"rtoll": 1}), payloads([0.1]))
    law = fa.Feedback(lambda t, q, v, gains: [gains["kp"] * q[0], 0.0], gains={"kp": 1.0})
    with pytest.raises(ValueError, match=r"no gain 'gains\.kd'"):
        prepared(SweepCase(ARM, 0.1, torque=law), [Member(0, {"gains.kd": 1.0})])


# --- threads ---


def test_whoever_stops_early_loses_only_what_is_not_done():
    outcomes = tasks.run(prepared(ALONE, payloads(np.linspace(0.1, 0.5, 24))), threads=1)
    first = list(itertools.islice(outcomes, 9))
    outcomes.close()
    assert len({each.number for each in first}) == 9
    assert not [each for each in threading.enumerate() if each.name.startswith("flexarm sweep")]


def test_threads_give_what_one_gives():
    these = payloads(np.linspace(0.1, 0.5, 12))
    one = {each.number: each for each in tasks.run(prepared(CASE, these), threads=1)}
    three = {each.number: each for each in tasks.run(prepared(CASE, these), threads=3)}
    for number, each in one.items():
        np.testing.assert_array_equal(each.values["tip"], three[number].values["tip"])


def test_tasks_are_cut_where_outcomes_are_kept():
    whole = MemberTask(0, tuple(range(200)))
    assert tasks.TaskCutter([whole], prompt=False).next() == whole
    waiting = tasks.TaskCutter([whole, MemberTask(1, (0, 1))], prompt=True)
    first = waiting.next()
    assert len(first) == tasks.FIRST_TASK_SIZE
    waiting.record_time(first, tasks.TASK_DURATION_S * 4)
    second = waiting.next()
    assert len(second) == tasks.FIRST_TASK_SIZE // 4
    sizes = [len(first), len(second)]
    places = [*first.places, *second.places]
    while (task := waiting.next()) is not None:
        if task.job == 0:
            sizes.append(len(task))
            places += task.places
    assert tuple(places) == whole.places
    assert max(sizes[1:]) == tasks.FIRST_TASK_SIZE // 4


def test_columns_of_tasks_are_the_members_one_by_one():
    these = payloads(np.linspace(0.1, 0.5, 12))
    columns = list(tasks.compute(prepared(CASE, these), threads=1))
    single = {each.number: each for each in tasks.run(prepared(CASE, these), threads=1)}
    numbers = np.concatenate([each.numbers for each in columns]).tolist()  # tasks are done in no certain order
    assert sorted(numbers) == sorted(single) == list(range(12))
    tips = np.concatenate([each.values["tip"] for each in columns])
    np.testing.assert_array_equal(tips, [single[number].values["tip"] for number in numbers])
    assert not any(each.single or each.endings for each in columns)


# --- elsewhere ---


def test_tasks_can_be_sent_to_another_process():
    these = payloads(np.linspace(0.1, 0.5, 6))
    for case in (CASE, ALONE):
        sweep = prepared(case, these)
        here = {each.number: each for task in sweep.tasks for each in sweep.compute(task)}
        parcels = [pack_job(job, by_value=True) for job in sweep.jobs]
        parts = [(parcels[task.job], pickle.loads(pickle.dumps(sweep.portion(task)))) for task in sweep.tasks]
        there = {each.number: each for parcel, portion in parts for each in compute_portion(parcel, portion)[0]}
        for number, each in here.items():
            np.testing.assert_array_equal(each.values["tip"], there[number].values["tip"])


# --- what should be known of members ---


@pytest.mark.slow
def test_links_that_bend_too_far():
    shapes = fa.Flexible(bend_y=1, stiffening="shortening")
    soft = SweepCase(ARM.with_({"links.upper.flexible": shapes}), 0.3, torque={"upper": 0.5}, options=CASE.options)
    these = [Member(k, {"links.upper.material.E": E}) for k, E in enumerate((2e9, 2e10, 2e12))]
    found, _ = ran(soft, these)
    assert [any("link 'upper' bends by" in each for each in found[k].warnings) for k in range(3)] == [True, True, False]
    assert "stiffening 'shortening' is meant for less than" in found[0].warnings[0]
    longer = [Member(0, {"links.0.length": 2.0}), Member(1, {"links.upper.length": 2.0})]
    by_place, by_name = ran(soft, longer)[0].values()
    assert by_place.warnings == by_name.warnings


def test_a_few_members_run_one_by_one(monkeypatch):
    """They are done before their code for lanes would be compiled."""
    monkeypatch.setattr(tasks, "MIN_LANE_MEMBERS", 4)
    notes = {count: tasks.prepare(CASE, payloads(np.linspace(0.1, 0.2, count))).notes for count in (3, 4)}
    assert notes == {3: ["3 members run one by one: fewer than 4 do not pay for lanes"], 4: []}


def test_digits_do_not_depend_on_threads_nor_on_how_tasks_are_cut(monkeypatch):
    these = payloads(np.linspace(0.05, 0.5, 100))
    expected = {each.number: each.values for each in tasks.run(tasks.prepare(CASE, these, threads=1), threads=1)}
    monkeypatch.setattr(tasks, "FIRST_TASK_SIZE", 16)
    for threads, prompt in ((3, False), (2, True)):
        sweep = tasks.prepare(CASE, these, threads=threads)
        for each in tasks.run(sweep, threads=threads, prompt=prompt):
            for name, value in each.values.items():
                np.testing.assert_array_equal(value, expected[each.number][name], err_msg=name)
