"""Members in lanes: what they give is what each of them gives alone, whoever runs beside them."""

import warnings

import numpy as np
import pytest

import flexarm as fa
from flexarm.codegen.compiler import find_compiler
from flexarm.codegen.simd_library import SSE2
from flexarm.sweeps.case import Member, SweepCase
from flexarm.sweeps.ensemble import tasks
from flexarm.sweeps.measures import evaluate_measures, standard_measures
from tests.simulation.test_constraints import at, beam, four_bar
from tests.sliders import pair

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


def members(**swept):
    """As many as each list has numbers, by names with dots for __."""
    names = [name.replace("__", ".") for name in swept]
    return [Member(k, dict(zip(names, values, strict=True))) for k, values in enumerate(zip(*swept.values()))]


def outcomes(case, these, **options):
    sweep = tasks.prepare(case, these, threads=1, width=SSE2, **options)
    assert sweep.notes == []  # in lanes, all of them
    found = {each.number: each for each in tasks.run(sweep, threads=1)}
    return [found[each.number] for each in these]


def alone(case, member, **more):
    robot = [
        name
        for name in member.changes
        if name.partition(".")[0] not in ("q0", "v0", "gains", "torque", "motion", "loads")
    ]
    changed = case.robot.with_({name: member.changes[name] for name in robot})
    given = {"torque": case.torque, "motion": case.motion, "loads": case.loads, "q0": case.q0, "v0": case.v0, **more}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ValidityWarning)
        return fa.simulate(changed, case.duration, **{**case.options, **given, "native": False})


def compared(found, run, length, rtol):
    """Against a run at the same tolerance: both may be off by it."""
    expected, most = evaluate_measures(run, standard_measures()), 2 * rtol * length
    assert found.status == run.status
    for name in ("tip", "peak_deflection", "residual"):
        np.testing.assert_allclose(found.values[name], expected[name], rtol=0, atol=most, err_msg=name)
    energy = max(abs(expected[name]) for name in ("kinetic", "elastic", "gravity", "drive", "work"))
    for name in ("kinetic", "elastic", "gravity", "drive", "work", "dissipated"):
        assert abs(found.values[name] - expected[name]) < 100 * rtol * energy + 1e-12, name
    np.testing.assert_allclose(found.values["peak_torque"], expected["peak_torque"], rtol=0.02, atol=1e-9)
    assert found.values["end"] == pytest.approx(expected["end"], rel=1e-2)


RTOL = 1e-3
ARM = fa.library.two_link_arm(1e-3).with_({"links.0.flexible.bend_y": 1, "links.1.flexible.bend_y": 1})
PUSH = {"upper": fa.bang_bang(0.02, (0.2, 0.4)), "fore": fa.bang_bang(0.005, (0.2, 0.4))}
TWO = SweepCase(ARM, 1.0, torque=PUSH, options={"rtol": RTOL, "sample": 0.01})
PAYLOADS = members(links__fore__payload__mass=[0.1, 0.15, 0.3], links__upper__material__E=[2e10, 3e10, 1.5e10])


@pytest.mark.parametrize("method", ["esdirk", "dop853", pytest.param("generalized-alpha", marks=pytest.mark.slow)])
def test_members_are_what_they_are_alone(method):
    case = SweepCase(ARM, 1.0, torque=PUSH, options={"rtol": RTOL, "sample": 0.01, "method": method})
    for member, found in zip(PAYLOADS, outcomes(case, PAYLOADS), strict=True):
        compared(found, alone(case, member), 1.5, RTOL)


def test_who_runs_beside_a_member_does_not_matter():
    first = outcomes(TWO, PAYLOADS[:1])[0]
    other = Member(1, {"links.fore.payload.mass": 2.0, "links.upper.material.E": 1e12})
    beside = outcomes(TWO, [PAYLOADS[0], other])[0]
    assert np.abs(first.values["tip"] - beside.values["tip"]).max() < 1.5 * RTOL


def test_fixed_steps_are_the_same_to_rounding():
    case = SweepCase(ARM, 0.3, torque=PUSH, options={"dt": 0.01, "sample": 0.01, "method": "newmark"})
    for member, found in zip(PAYLOADS, outcomes(case, PAYLOADS), strict=True):
        run = alone(case, member)
        np.testing.assert_allclose(found.values["tip"], run.array("tip")[-1], atol=1e-9)


def test_elastic_joints_in_space():
    robot = fa.library.rrr_arm(True).with_({f"links.{k}.flexible": None for k in range(3)})
    case = SweepCase(
        robot,
        0.1,
        torque=dict.fromkeys(("column", "upper", "fore"), 400.0),
        q0={"upper.q": 0.3},
        options={"rtol": RTOL},
    )
    these = members(links__fore__payload__mass=[1.0, 3.0], q0__upper__q=[0.3, 0.5], v0__fore__q=[0.0, 1.0])
    for member, found in zip(these, outcomes(case, these), strict=True):
        q0 = {"upper.q": member.changes["q0.upper.q"]}
        run = alone(case, member, q0=q0, v0={"fore.q": member.changes["v0.fore.q"]})
        compared(found, run, sum(link.length for link in robot.links), RTOL)


@pytest.mark.slow
def test_a_slide_that_reaches_the_end_of_its_link():
    robot, name = pair("R", "Pa", modes=1), "b"
    case = SweepCase(
        robot,
        0.5,
        torque={name: 1.0},
        q0={f"{name}.q": 0.2},
        options={"rtol": RTOL, "sample": 0.01, "method": "esdirk"},
    )
    these = [Member(0, {f"torque.{name}": 2.0}), Member(1, {f"torque.{name}": 0.0}), Member(2, {f"torque.{name}": 3.0})]
    for member, found in zip(these, outcomes(case, these), strict=True):
        run = alone(case, Member(0, {}), torque={name: member.changes[f"torque.{name}"]})
        compared(found, run, sum(link.length for link in robot.links), RTOL)
        assert found.status == run.status
        assert (found.reason or "completed").split(" at t")[0] == run.reason.split(" at t")[0]


@pytest.mark.parametrize("driven", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_loop_stays_closed(driven):
    robot = four_bar(beam(7e10, 1e-3) | {"flexible": fa.Flexible(bend_y=1)}, gravity=(0, -9.81, 0))
    motion = {"crank": fa.cycloid(1.0, 1.5, 0.2)} if driven else None
    case = SweepCase(robot, 0.2, motion=motion, q0=at(1.0), options={"rtol": RTOL, "sample": 0.005, "method": "esdirk"})
    these = members(links__coupler__material__E=[7e10, 2e10])
    for member, found in zip(these, outcomes(case, these), strict=True):
        compared(found, alone(case, member), 1.1, RTOL)


def law(t, x, gains):
    error = x.reference("a.q") - x["a.q"]
    return {"a": gains["kp"] * error - 6.0 * x["a.q'"] + gains["ki"] * x.state("sum")}, {"sum": error}


def test_a_law_with_gains_and_states():
    rod = fa.Robot(links=[fa.Link("a", 1.0, mass=3.0)])
    control = fa.Feedback(law, gains={"kp": 20.0, "ki": 5.0}, references={"a.q": 1.0}, states={"sum": 0.0}, limit=15.0)
    case = SweepCase(rod, 1.0, torque=control, options={"rtol": RTOL, "sample": 0.01, "method": "esdirk"})
    these = members(gains__kp=[20.0, 10.0, 40.0], gains__ki=[5.0, 0.0, 9.0], links__a__mass=[3.0, 4.0, 2.0])
    for member, found in zip(these, outcomes(case, these), strict=True):
        gains = {"kp": member.changes["gains.kp"], "ki": member.changes["gains.ki"]}
        changed = fa.Feedback(law, gains=gains, references={"a.q": 1.0}, states={"sum": 0.0}, limit=15.0)
        compared(
            found, alone(case, Member(0, {"links.a.mass": member.changes["links.a.mass"]}), torque=changed), 1.0, RTOL
        )


def test_amplitudes_and_times_of_profiles():
    case = SweepCase(ARM, 0.5, torque=PUSH, options={"rtol": RTOL / 10, "sample": 0.01, "method": "esdirk"})
    these = [
        Member(0, {"torque.upper.amplitude": 0.01}),
        Member(1, {"torque.upper.amplitude": 0.05}),
        Member(2, {"torque.fore.switch.1": 0.3}),
    ]
    changed = [
        {"upper": fa.bang_bang(0.01, (0.2, 0.4))},
        {"upper": fa.bang_bang(0.05, (0.2, 0.4))},
        {"fore": fa.bang_bang(0.005, (0.2, 0.3))},
    ]
    for torque, found in zip(changed, outcomes(case, these), strict=True):
        compared(found, alone(case, Member(0, {}), torque={**PUSH, **torque}), 1.5, RTOL)


def test_hanging_still_by_member():
    robot = ARM.with_(gravity=(0, -9.81, 0), links=ARM.links[1:])
    case = SweepCase(robot, 0.1, q0="equilibrium", options={"rtol": RTOL, "method": "esdirk"})
    these = members(links__fore__payload__mass=[0.1, 0.2])
    for member, found in zip(these, outcomes(case, these), strict=True):
        compared(found, alone(case, member), 0.5, RTOL)


# --- members that end early ---


def test_those_that_end_early_say_so_and_leave_the_others_alone():
    limited = ARM.with_({"links.fore.joint.limits": (-0.0172, 0.05)})
    case = SweepCase(limited, 1.0, torque=PUSH, options={"rtol": RTOL / 10, "sample": 0.01, "method": "esdirk"})
    these = members(links__fore__payload__mass=[0.05, 0.15, 5.0])
    found = outcomes(case, these)
    runs = [alone(case, member) for member in these]
    assert {each.status for each in found} == {"completed", "stopped"}
    for one, run in zip(found, runs, strict=True):
        assert one.status == run.status
        assert one.reason.split(" at t")[0] == ("" if run.status == "completed" else run.reason.split(" at t")[0])
        compared(one, run, 1.5, RTOL)


def test_a_condition_of_the_user():
    def still(t, q, v):
        return 0.008 - q["upper.q"]

    case = SweepCase(ARM, 1.0, torque=PUSH, options={"rtol": RTOL, "events": still, "method": "esdirk"})
    for member, found in zip(PAYLOADS, outcomes(case, PAYLOADS), strict=True):
        run = alone(case, member)
        assert found.reason.startswith("'still' reached zero")
        assert found.values["end"] == pytest.approx(run.array("time")[-1], rel=1e-3)


def test_a_function_that_fails_ends_its_members():
    def torque(t):
        return 0.01 / (0.0 if t > 0.3 else 1.0) if np.ndim(t) == 0 else np.array([torque(each) for each in t])

    case = SweepCase(ARM, 0.5, torque={"upper": torque}, options={"rtol": RTOL, "method": "esdirk"})
    for each in outcomes(case, [Member(0, {}), Member(1, {"torque.upper.scale": 0.5})]):
        assert each.status == "failed"
        assert "the torque of 'upper' failed at t = 0.3" in each.reason


@pytest.mark.parametrize("own_measures", [False, True])
def test_vibration_is_what_is_left_after_the_own_inputs(own_measures):
    """Members beside one another jump at other times; each is told from its own last jump on."""
    options = {"rtol": 1e-5, "sample": 0.005, "method": "esdirk"}
    case = SweepCase(ARM, 1.5, torque={"upper": fa.bang_bang(0.02, (0.2, 0.4))}, options=options)
    these = [
        Member(k, {"torque.upper.switch.0": t, "torque.upper.switch.1": 2 * t}) for k, t in enumerate((0.1, 0.3, 0.6))
    ]
    measures = {"residual": standard_measures()["residual"], "one": lambda run: 1.0} if own_measures else None
    for member, found in zip(these, outcomes(case, these, measures=measures), strict=True):
        run = alone(case, Member(0, {}), torque={"upper": fa.bang_bang(0.02, tuple(member.changes.values()))})
        assert found.values["residual"] == pytest.approx(
            evaluate_measures(run, standard_measures())["residual"], rel=2e-3
        )


def test_forces_of_loads():
    load = fa.PointLoad("fore", force=(0, 0.02, 0))
    case = SweepCase(ARM, 0.3, loads=[load], options={"rtol": RTOL, "sample": 0.01, "method": "esdirk"})
    these = [Member(0, {"loads.0.force.1": 0.01}), Member(1, {"loads.0.force.1": 0.03})]
    for member, found in zip(these, outcomes(case, these), strict=True):
        changed = fa.PointLoad("fore", force=(0, member.changes["loads.0.force.1"], 0))
        compared(found, alone(case, Member(0, {}), loads=[changed]), 1.5, RTOL)


def test_a_member_that_diverges_does_not_take_others_along():
    def law(t, q, v, gains):
        return [gains["k"] * v[0] ** 3]  # it runs away in finite time

    rod = fa.Robot(links=[fa.Link("a", 1.0, mass=3.0)])
    case = SweepCase(
        rod, 2.0, torque=fa.Feedback(law, gains={"k": 0.0}), v0={"a.q": 1.0}, options={"rtol": RTOL, "method": "esdirk"}
    )
    still, away = outcomes(case, [Member(0, {"gains.k": 0.0}), Member(1, {"gains.k": 1.0})])
    assert still.status == "completed"
    np.testing.assert_allclose(still.values["tip"], [np.cos(2), np.sin(2), 0], atol=2 * RTOL)
    assert away.status == "failed"
    assert away.reason.startswith("diverged at t = 0.5")  # v = 1 / sqrt(1 - 2 t)
    assert "changes too fast" in away.reason


def test_runs_of_members_are_those_of_simulate():
    case = SweepCase(
        ARM, 1.0, torque=PUSH, options={"rtol": RTOL, "sample": 0.01, "method": "esdirk", "native": "auto"}
    )
    found = outcomes(case, PAYLOADS[:2], keep_runs=True, measures={"steps": lambda run: run.statistics["steps"]})
    for member, one in zip(PAYLOADS, found, strict=False):
        run, expected = one.run, alone(case, member)
        assert one.values["steps"] > 5
        assert run.names == expected.names
        assert run.options.keys() == expected.options.keys()
        assert run.robot == expected.robot
        for name in ("tip", "q", "torque", "work"):
            np.testing.assert_allclose(run.array(name), expected.array(name), atol=2 * RTOL)
        np.testing.assert_allclose(run.at(0.123).array("tip"), expected.at(0.123).array("tip"), atol=2 * RTOL)


def test_members_that_end_one_after_the_other():
    """Lanes of those that have ended do what others do, and end with these."""
    limited = ARM.with_({"links.upper.joint.limits": (-0.05, 0.01)})
    case = SweepCase(limited, 0.5, torque=PUSH, options={"rtol": RTOL, "sample": 0.01, "method": "esdirk"})
    these = [Member(k, {"torque.upper.amplitude": each}) for k, each in enumerate((0.0, 0.1, 0.06, 0.04, 0.2))]
    found = outcomes(case, these)
    assert [each.status for each in found] == ["completed", *["stopped"] * 4]
    ends = [each.values["end"] for each in found]
    assert ends[4] < ends[1] < ends[2] < ends[3] < ends[0] == 0.5


def test_members_that_diverge_one_after_the_other():
    def law(t, q, v, gains):
        return [gains["k"] * v[0] ** 3]

    rod = fa.Robot(links=[fa.Link("a", 1.0, mass=3.0)])
    case = SweepCase(
        rod, 2.0, torque=fa.Feedback(law, gains={"k": 0.0}), v0={"a.q": 1.0}, options={"rtol": RTOL, "method": "esdirk"}
    )
    found = outcomes(case, [Member(k, {"gains.k": each}) for k, each in enumerate((1.0, 0.5, 0.0))])
    assert [each.status for each in found] == ["failed", "failed", "completed"]
    assert [each.reason[:17] for each in found[:2]] == ["diverged at t = 0", "diverged at t = 1"]


def test_fixed_steps_that_are_far_too_long_are_told():
    case = SweepCase(ARM, 1.7, torque={"upper": 1.0}, options={"dt": 0.02, "method": "newmark", "sample": 0.1})
    (found,) = outcomes(case, [Member(0, {})])
    run = alone(case, Member(0, {}))
    assert (found.status, run.status) == ("completed", "completed")
    assert run.statistics["unsolved"]
    assert f"did not converge in {run.statistics['unsolved']} of" in found.warnings[0]
