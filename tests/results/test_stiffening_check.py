"""Spatial links with stiffening "auto": second order where that is accurate, else exact."""

import threading
import warnings
from itertools import pairwise

import numpy as np
import pytest

import flexarm as fa
import flexarm.simulation.simulate as simulate_module
from flexarm.dynamics.accuracy.stiffening import load_stiffness, softening
from flexarm.results.stiffening_check import estimated_errors, lever

STEEL = fa.Material(E=2.1e11, rho=7850)


def arm(stiffening="auto", payload=0.2, **more):
    flexible = fa.Flexible(**{"bend_y": 1, "bend_z": 1, "stiffening": stiffening, **more})
    section = fa.Section.rectangle(0.0066, 0.0066)
    link = fa.Link("arm", 0.9, fa.Revolute("z"), section, STEEL, flexible, payload=fa.PointMass(payload))
    return fa.Robot(links=[link], gravity=(0, 0, -9.81))


def moved(robot, duration=0.7, **more):
    motion = {"arm": fa.minimum_jerk(0, 1.5, duration)}
    options = {"motion": motion, "q0": "equilibrium", "progress": False, "native": False, "rtol": 1e-6, "sample": 0.01}
    return fa.simulate(robot, 1.5, **{**options, **more})


def test_a_large_vibration_is_repeated_with_the_exact_model():
    with pytest.warns(fa.ValidityWarning, match="repeated with the exact model of 'arm'") as said:
        run = moved(arm())
    assert len(said) == 1
    found = run.statistics["stiffening"]
    assert found["models"] == {"arm": "exact"}
    assert found["repeated"]
    assert found["estimated_error"]["arm"] > 0.01
    np.testing.assert_array_equal(run.array("tip"), moved(arm("exact")).array("tip"))
    assert run.robot.link("arm").stiffening == "exact"


def test_a_small_vibration_keeps_the_second_order_model():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = moved(arm(payload=0.0, bend_z=2), 1.2)  # one shape alone sags 1.3 % too much
    found = run.statistics["stiffening"]
    assert found["models"] == {"arm": "shortening"}
    assert not found["repeated"]
    assert found["estimated_error"]["arm"] < 0.01


def test_shortening_that_is_given_stays_and_warns():
    with pytest.warns(fa.ValidityWarning, match="grows with time; take stiffening='exact'"):
        run = moved(arm("shortening"))
    assert run.statistics["stiffening"]["models"] == {"arm": "shortening"}


def test_a_system_keeps_its_model_and_warns():
    with pytest.warns(fa.ValidityWarning, match="take stiffening='exact'"):
        run = moved(fa.System(arm(), native=False))
    assert run.robot.link("arm").stiffening == "shortening"


def test_shear_has_no_exact_model_and_the_warning_says_so():
    with pytest.warns(fa.ValidityWarning, match="not available with shear"):
        moved(arm(shear=True))


def test_the_estimate_is_near_the_error():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        second, exact = moved(arm("shortening")), moved(arm("exact"))
    peak = np.linalg.norm(exact.array("deflection")[:, 0, 1:], axis=1).max()
    error = np.linalg.norm(second.array("tip") - exact.array("tip"), axis=1).max() / peak
    assert 0.5 < second.statistics["stiffening"]["estimated_error"]["arm"] / error < 3


def test_postures_that_bend_far_take_the_exact_model():
    heavy = arm(payload=1.2)
    exact = arm("exact", payload=1.2)
    with pytest.warns(fa.ValidityWarning, match="exact model is used"):
        q = fa.equilibrium(heavy)
    np.testing.assert_allclose(q, fa.equilibrium(exact), rtol=1e-12)
    with pytest.warns(fa.ValidityWarning, match="exact model is used"):
        found = fa.modes(heavy, q, joints="locked")
    np.testing.assert_allclose(found.frequencies, fa.modes(exact, q, joints="locked").frequencies)
    with pytest.warns(fa.ValidityWarning, match="exact model is used"):
        linear = fa.linearize(heavy, q)
    np.testing.assert_allclose(linear.A, fa.linearize(exact, q).A)


def soft_arm(side, stiffening="auto"):
    flexible, section = fa.Flexible(bend_y=2, bend_z=2, stiffening=stiffening), fa.Section.rectangle(side, side)
    bar = {"section": section, "material": STEEL, "flexible": flexible}
    upper = fa.Link("upper", 0.5, fa.Revolute("z"), **bar)
    fore = fa.Link("fore", 0.4, fa.Revolute("y"), **bar, payload=fa.PointMass(0.5))
    return fa.Robot(links=[upper, fore], gravity=(0, 0, -9.81))


@pytest.mark.parametrize(("move", "repeated"), [(0.6, True), (0.75, True), (1.1, False)])
def test_moves_of_two_links_are_within_a_hundredth_of_exact_links(move, repeated):
    """With the second-order model 26, 2.1 and 0.34 % of the peak deflection off (docs/deflection.md)."""
    motion = {"upper": fa.minimum_jerk(0, 1.2, move), "fore": fa.minimum_jerk(0, -0.8, move)}
    options = {"motion": motion, "q0": "equilibrium", "rtol": 1e-5, "sample": 0.005, "progress": False}
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        run = fa.simulate(soft_arm(0.0066), 1.5, **options)
    notes = [each for each in raised if "repeated with the exact model of 'upper', 'fore'" in str(each.message)]
    assert (len(notes), run.statistics["stiffening"]["repeated"]) == (repeated, repeated)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        second = fa.simulate(soft_arm(0.0066, "shortening"), 1.5, **options)
        exact = fa.simulate(soft_arm(0.0066, "exact"), 1.5, **options)
    peak = np.linalg.norm(exact.array("deflection")[..., 1:], axis=-1).max()

    def error(other):
        return np.linalg.norm(other.array("tip") - exact.array("tip"), axis=1).max() / peak

    assert error(run) < 0.01
    assert (error(second) > 0.01) == repeated


@pytest.mark.parametrize("side", [0.0025, 0.0015])
def test_equilibria_of_soft_links_are_those_of_exact_links(side):
    """With 2.5 mm only the upper link bends too far before it is exact; with 1.5 mm there is no equilibrium before."""
    with pytest.warns(fa.ValidityWarning, match="exact model is used for 'upper', 'fore'") as said:
        q = fa.equilibrium(soft_arm(side))
    assert not any("take stiffening" in str(each.message) for each in said)
    assert all(each.filename == __file__ for each in said)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(q, fa.equilibrium(soft_arm(side, "exact")), rtol=1e-9, atol=1e-12)


def test_a_system_without_an_equilibrium_raises():
    with pytest.raises(ArithmeticError, match="take stiffening='exact'"):
        fa.equilibrium(fa.System(soft_arm(0.0015), native=False))


def test_a_link_that_carries_nothing_is_not_repeated_without_need():
    """Its frequency is off by 0.02 to 0.1 (w/L)^2; that of a link with a heavy payload by 0.37 (w/L)^2."""
    bare = {model: arm(model, payload=0.0) for model in ("auto", "exact")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run, exact = (moved(each, 0.38, q0=None) for each in bare.values())
    peak = np.linalg.norm(exact.array("deflection")[:, 0, 1:], axis=1).max()
    assert peak > 0.06 * 0.9
    error = np.linalg.norm(run.array("tip") - exact.array("tip"), axis=1).max() / peak
    assert error < 0.01
    assert not run.statistics["stiffening"]["repeated"]


def test_fast_vibration_of_a_link_with_a_free_joint_is_repeated():
    """Bends by 1 %, but its second mode makes hundreds of swings: the deflection is 13 % of the peak off."""
    flexible = fa.Flexible(bend_y=2, bend_z=2)
    section = fa.Section.rectangle(0.0112, 0.0212)
    link = fa.Link("arm", 0.85, fa.Revolute("z"), section, STEEL, flexible, payload=fa.PointMass(0.45))
    push = {"arm": fa.bang_bang(-5.8, (0.44, 0.88))}
    with pytest.warns(fa.ValidityWarning, match="repeated with the exact model"):
        run = fa.simulate(fa.Robot(links=[link]), 1.3, torque=push, rtol=1e-5, progress=False)
    assert run.statistics["stiffening"]["repeated"]


def test_links_may_be_listed_in_any_order():
    """The lever of a link is that of what it carries."""
    base, link = fa.Link("base", 0.5, parent="ground"), arm().links[0]
    inner = link.model_copy(update={"parent": "base"})
    outer = link.model_copy(update={"name": "tip", "parent": "arm"})
    errors = []
    for links in ([base, inner, outer], [outer, inner, base]):
        motion = {"base": 0.0, "arm": fa.minimum_jerk(0, 0.5, 1.0), "tip": 0.0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            system = fa.System(fa.Robot(links=links), native=False)
            run = fa.simulate(system, 1.0, motion=motion, progress=False, native=False)
        errors.append(run.statistics["stiffening"]["estimated_error"])
    assert errors[0]["arm"] == pytest.approx(errors[1]["arm"], rel=0.05)


def test_a_digital_controller_is_not_called_twice():
    calls = []

    def hold(t, q, v):
        calls.append(t)
        return [3.0 * (1 - q[0]) - 0.05 * v[0]]

    with pytest.warns(fa.ValidityWarning, match="take stiffening='exact'") as said:
        run = fa.simulate(arm(), 0.8, torque=fa.Feedback(hold, rate=50), progress=False, native=False)
    assert len([each for each in said if "too few shapes" not in str(each.message)]) == 1
    assert run.robot.link("arm").stiffening == "shortening"
    assert not run.statistics["stiffening"]["repeated"]
    assert all(later > before for before, later in pairwise(calls))


def test_a_run_that_is_stopped_is_repeated_to_its_own_end():
    stop = lambda t, q, v: 1.2 - t  # noqa: E731
    with pytest.warns(fa.ValidityWarning, match="repeated with the exact model"):
        run = moved(arm(), events=stop)
    assert (run.status, run.robot.link("arm").stiffening) == ("stopped", "exact")
    assert run.array("time")[-1] == pytest.approx(1.2)


def test_a_repeated_run_is_verified():
    with pytest.warns(fa.ValidityWarning, match="repeated with the exact model"):
        run = moved(arm(), verify=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run.error_estimate == moved(arm("exact"), verify=True).error_estimate


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True)])
def test_an_interrupted_run_is_kept(monkeypatch, first, second):
    """Interrupted in the first run it is not repeated; in the second, the first is what is there."""
    import flexarm.simulation.simulate as module

    complete, count = module._complete, []

    def interrupted(loop, *rest):
        count.append(loop)
        complete(loop, *rest)
        if (first, second)[len(count) - 1]:
            loop.interrupted()

    monkeypatch.setattr(module, "_complete", interrupted)
    with pytest.warns(fa.ValidityWarning) as said:
        run = moved(arm())
    assert len(count) == (1 if first else 2)
    assert run.status == "interrupted"
    assert run.robot.link("arm").stiffening == "shortening"
    assert any("take stiffening='exact'" in str(each.message) for each in said)


def test_what_is_said_of_inputs_is_said_once():
    hasty = lambda t: 0.2 * np.sin(400 * t)  # noqa: E731
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        moved(arm(), loads=[fa.PointLoad("arm", force=(0, hasty, 0))], dt=0.01, rtol=1e-3)
    sentences = [str(each.message) for each in said]
    assert any("repeated with the exact model" in each for each in sentences)
    assert len(sentences) == len(set(sentences))
    assert all(each.filename == __file__ for each in said if "repeated" in str(each.message))


def test_a_link_that_bends_too_far_warns_once():
    with pytest.warns(fa.ValidityWarning, match="take stiffening='exact'") as said:
        moved(arm("shortening"), 0.45)
    assert len(said) == 1


def test_runs_in_threads_are_repeated_each_by_itself():
    loads = [0.01, 0.2, 0.01, 0.2]
    found = [None] * len(loads)

    def job(place):
        found[place] = moved(arm(payload=loads[place]), 0.7)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        threads = [threading.Thread(target=job, args=(place,)) for place in range(len(loads))]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        alone = [moved(arm(payload=load), 0.7) for load in loads]
    for run, other in zip(found, alone, strict=True):
        assert run.statistics["stiffening"]["repeated"] == other.statistics["stiffening"]["repeated"]
        np.testing.assert_array_equal(run.array("tip"), other.array("tip"))
    assert [run.statistics["stiffening"]["repeated"] for run in alone] == [False, True, False, True]


def test_a_simulation_keeps_its_model_and_warns_beyond_a_tenth():
    sim = fa.Simulation(arm(payload=0.8), 0.02, native=False)

    def steps():
        for _ in range(40):
            sim.step({"arm": 0.0})

    with pytest.warns(fa.ValidityWarning, match=r"meant for less than 10%; take stiffening='exact'"):
        steps()


def test_links_that_slide_in_space_have_no_exact_model_and_the_warning_says_so():
    section = fa.Section.rectangle(0.005, 0.005)
    bar = {"section": section, "material": STEEL, "flexible": fa.Flexible(bend_y=1, bend_z=1)}
    ram = fa.Link("ram", 1.0, fa.FixedPrismatic(), **bar, payload=fa.PointMass(0.1))
    run = {"motion": {"ram": 0.9}, "progress": False, "native": False}
    with pytest.warns(fa.ValidityWarning, match="not available for a link in space that slides through its joint"):
        fa.simulate(fa.Robot(links=[ram], gravity=(0, 0, -9.81)), 1.0, **run)
    rail = fa.Link("rail", 1.0, fa.Weld(), **bar)
    cart = fa.Link("cart", 0.1, fa.SlidingPrismatic(), mass=0.3)
    robot = fa.Robot(links=[rail, cart], gravity=(0, 0, -9.81))
    with pytest.warns(fa.ValidityWarning, match="not available for a link in space along which something slides"):
        fa.simulate(robot, 1.0, **{**run, "motion": {"cart": 0.9}})


@pytest.mark.parametrize("late", [True, False], ids=["in its steps", "before its steps"])
def test_an_interrupt_of_the_repeated_run_marks_the_first_one(late, monkeypatch):
    expected = moved(fa.System(arm(), native=False))
    begun = []

    def impatient(t, q, v):
        if (t > 0.5 if late else True) and len(begun) > 1:
            raise KeyboardInterrupt
        return 1.0

    def initial(*given, own=simulate_module.initial_state):
        begun.append(given)
        return own(*given)

    monkeypatch.setattr(simulate_module, "initial_state", initial)
    with pytest.warns(fa.ValidityWarning, match="interrupted while it was repeated with exact links"):
        run = moved(arm(), events=impatient)
    assert run.status == "interrupted"
    assert run.robot.link("arm").stiffening == "shortening"
    np.testing.assert_array_equal(run.array("tip"), expected.array("tip"))


def column(share, stiffening="auto", tilt=0.0):
    """A column that carries such a share of the load that buckles it."""
    flexible = fa.Flexible(bend_y=2, bend_z=2, twist=1, stiffening=stiffening)
    section = fa.Section.rectangle(0.008, 0.0104)
    payload = fa.PointMass(22.9 * share / 0.98)
    link = fa.Link("c", 1.0, section=section, material=fa.Material(2.1e11, 7850), flexible=flexible, payload=payload)
    return fa.Robot(links=[link], gravity=(-9.81 * np.cos(tilt), 9.81 * np.sin(tilt), 0))


@pytest.mark.parametrize(("share", "error"), [(0.98, 0.1), (0.3, 0.0)])
def test_errors_grow_where_a_load_leaves_little_stiffness(share, error):
    """The true error at 98 % of the buckling load is 13 % after 12 s; without the load it would be 0.4 %."""
    system = fa.System(column(share, "shortening"))
    push = fa.PointLoad("c", None, [0, fa.step(0.0, 0.145), 0.045])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ValidityWarning)
        run = fa.simulate(system, 12.0, motion={"c": 0.0}, loads=[push], rtol=1e-5, native=False, progress=False)
    (found,) = estimated_errors(run, system)
    assert error <= found.error < (0.5 if error else 1e-3)


def test_loads_soften_as_weight_does():
    heavy = fa.System(column(0.9, "shortening"), native=False)
    light = fa.System(column(0.9, "shortening").with_(gravity=(0, 0, 0)), native=False)
    q = np.zeros(light.nq)
    weight = heavy.robot.link("c").payload.mass * 9.81
    loads = load_stiffness(light, q, [("c", 1.0, np.array([-weight, 0, 0, 0, 0, 0]))])
    assert softening(light, q) == 1.0
    assert softening(light, q, loads) == pytest.approx(softening(heavy, q), abs=0.02)  # without the link's own weight
    assert softening(heavy, q) == pytest.approx(0.1, abs=0.02)


def test_statics_near_buckling_are_those_of_exact_links():
    with pytest.warns(fa.ValidityWarning, match="'c' bends by 5.3% of its length at this .* under 98% of the load"):
        q = fa.equilibrium(column(0.98, tilt=0.001))
    expected = fa.equilibrium(fa.System(column(0.98, "exact", 0.001), native=False))
    np.testing.assert_allclose(q, expected, atol=1e-9)
    with pytest.warns(fa.ValidityWarning, match="exact model is used"):
        found = fa.modes(column(0.98, tilt=0.001), q, joints="locked")
    exact = fa.modes(fa.System(column(0.98, "exact", 0.001), native=False), q, joints="locked")
    np.testing.assert_allclose(found.frequencies, exact.frequencies, rtol=1e-9)


def test_masses_beside_a_link_lengthen_the_lever():
    def arm(offset):
        fields = {"section": fa.Section.rectangle(0.006, 0.0066), "material": fa.Material(2.1e11, 7850)}
        flexible = fa.Flexible(bend_y=1, bend_z=1)
        links = [
            fa.Link("a", 0.4, flexible=flexible, **fields),
            fa.Link("b", 0.05, fa.Weld(), offset=offset, payload=fa.PointMass(0.4), **fields),
        ]
        return fa.System(fa.Robot(links=links), native=False)

    straight, beside = (arm(offset) for offset in ((0, 0, 0), (0, 0.4, 0)))
    assert lever(straight, straight.robot.links[0]) == pytest.approx(1 + 1.5 * 0.05 / 0.4)
    assert lever(beside, beside.robot.links[0]) == pytest.approx(np.hypot(1 + 1.5 * 0.05 / 0.4, 1.5))
