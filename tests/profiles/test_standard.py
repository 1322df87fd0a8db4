from inspect import signature

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.profiles.parse import from_mapping, profile
from flexarm.profiles.segments import Formula, Opaque

T = np.linspace(0.05, 9.95, 67)
PROFILES = [
    fa.bang_bang(2.0, (1.0, 2.5)),
    fa.step(0.0, 3.0, 2.0),
    fa.ramp(1.0, 4.0, 2.0, 5.0),
    fa.sine(2.0, 0.3, phase=0.4, offset=1.0),
    fa.chirp(1.5, 0.1, 0.5, 8.0),
    fa.cycloid(0.4, 0.8, 6.0),
    fa.spin_up(6.0, 7.5),
    fa.spline([0, 1, 3, 7, 10], [0.0, 1.0, -1.0, 2.0, 0.5]),
]


@pytest.mark.parametrize("each", PROFILES, ids=repr)
def test_rates_are_derivatives_inside_every_piece(each):
    h = 1e-5
    inside = np.array([t for t in T if all(abs(t - b) > 0.02 for b in each.breaks)])
    assert_allclose(each(inside, 1), (each(inside + h) - each(inside - h)) / (2 * h), atol=1e-7)
    assert_allclose(each(inside, 2), (each(inside + h, 1) - each(inside - h, 1)) / (2 * h), atol=1e-7)


def test_values():
    assert fa.bang_bang(2.0, (1.0, 2.5))(np.array([0, 0.99, 1.0, 2.0, 2.5, 9])).tolist() == [2, 2, -2, -2, 0, 0]
    assert fa.step(0.0, 3.0, 2.0)(1.999) == 0
    assert fa.step(0.0, 3.0, 2.0)(2.0) == 3
    assert fa.ramp(1.0, 4.0, 2.0, 5.0)(3.0) == pytest.approx(2.0)
    assert fa.cycloid(0.4, 0.8, 6.0)(np.array([0, 3.0, 6.0, 7.0])) == pytest.approx([0.4, 0.6, 0.8, 0.8])
    rate = 6.0 / 15 * (T - 15 / (2 * np.pi) * np.sin(2 * np.pi * T / 15))  # the papers' law
    assert_allclose(fa.spin_up(6.0, 15.0)(T, 1), rate, atol=1e-12)
    assert fa.spin_up(6.0, 15.0)(20.0, 1) == pytest.approx(6.0)
    angle = fa.spin_up(6.0, 15.0)
    assert angle(np.nextafter(15.0, 0)) == pytest.approx(angle(15.0), abs=1e-9)  # no jump where the pieces meet


TIMED = {  # of the times from 1 to 3 s, with the other arguments of the same style
    fa.ramp: (0.5, 2.0),
    fa.cycloid: (0.5, 2.0),
    fa.minimum_jerk: (0.5, 2.0),
    fa.rest_to_rest: (0.5, 2.0),
    fa.spin_up: (2.0,),
    fa.chirp: (1.5, 0.5, 3.0),
}


@pytest.mark.parametrize("make", TIMED, ids=lambda make: make.__name__)
def test_a_start_shifts_a_profile_and_a_single_time_is_its_end(make):
    plain, late = make(*TIMED[make], 0.0, 2.0), make(*TIMED[make], 1.0, 3.0)
    assert make(*TIMED[make], 2.0) == make(*TIMED[make], t1=2.0) == plain
    assert make(*TIMED[make], 2.0).made.given == plain.made.given
    assert late.breaks == (1.0, 3.0)
    t = np.linspace(-0.5, 5.0, 111)
    for order in (0, 1, 2):
        assert_allclose(late(t + 1.0, order)[t + 1.0 > 0], plain(t, order)[t + 1.0 > 0], atol=1e-12)
    with pytest.raises(ValueError, match=r"t1 = 1\.0: must be later than t0 = 2\.0 \(s\)"):
        make(*TIMED[make], 2.0, 1.0)


@pytest.mark.parametrize(
    "make", [fa.ramp, fa.cycloid, fa.minimum_jerk, fa.rest_to_rest, fa.trapezoid, fa.s_curve, fa.step]
)
def test_all_changes_of_a_value_have_arguments_of_one_style(make):
    names = [*signature(make).parameters]
    assert names[:2] == ["y0", "y1"]
    assert set(names[2:]) <= {"t0", "t1", "speed", "acceleration", "jerk", "smooth"}
    assert "t0" in names


def test_limited_motions_start_when_they_are_told():
    for make, limits in ((fa.trapezoid, (1.0, 2.0)), (fa.s_curve, (1.0, 2.0, 10.0))):
        plain, late = make(0.2, 1.0, *limits), make(0.2, 1.0, *limits, t0=0.7)
        assert_allclose(late(T + 0.7), plain(T), atol=1e-12)


def test_tables_come_from_files_and_mappings(tmp_path):
    file = tmp_path / "torque.csv"
    file.write_text("t,upper,fore\n0,0,1\n1,1,1\n2,4,1\n3,9,1\n")
    assert fa.table(file, "upper")(1.5) == pytest.approx(2.25)  # a parabola is its own spline
    assert fa.table({"t": [0, 1, 2, 3], "x": [0, 1, 4, 9]})(2.5) == pytest.approx(6.25)
    with pytest.raises(ValueError, match="choose one with column: upper, fore"):
        fa.table(file)


def test_functions_of_t_are_traced_where_they_can_be_and_called_where_not():
    formula = profile(lambda t: np.sin(t) * t, "x")
    assert isinstance(formula.pieces[0], Formula)
    assert_allclose(formula(T, 1), np.cos(T) * T + np.sin(T))

    def lookup(t):
        return [1.0, 2.0][int(t > 5)]

    opaque = profile(lookup, "x")
    assert isinstance(opaque.pieces[0], Opaque)
    assert opaque(np.array([1.0, 6.0])).tolist() == [1.0, 2.0]
    curve = profile(lambda t: float(np.interp(t, [0, 10], [0, 5])), "x")
    assert_allclose(curve(np.array([2.0, 3.0]), 1), 0.5, rtol=1e-9)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: fa.bang_bang(1.0, (2.0, 1.0)), "must be a list of finite times in ascending order"),
        (lambda: fa.cycloid(0, 1, -2.0), r"t1 = -2.0: must be later than t0 = 0.0 \(s\)"),
        (lambda: profile("much", "torque.upper"), "torque.upper = 'much': must be a number, a profile"),
        (lambda: profile(float("nan"), "torque.upper"), "torque.upper = nan: must be a finite number"),
        (lambda: profile(lambda: 1.0, "torque.upper"), "calling the function at t = 0 failed"),
        (lambda: from_mapping({"profile": "bang"}, "torque.upper"), "must be one of constant, bang-bang"),
        (lambda: from_mapping({"profile": "sine", "amp": 2}, "x"), "sine takes amplitude, frequency, phase, offset"),
        (lambda: fa.spline([0, 1], [1.0]), "2 times and 1 values"),
    ],
)
def test_mistakes_are_sentences(make, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        make()


def test_the_file_form_is_the_python_form():
    given = from_mapping({"profile": "bang-bang", "amplitude": 0.02, "switch": [1, 2]}, "torque.upper")
    assert_allclose(given(T), fa.bang_bang(0.02, (1, 2))(T))


CONSTANT = ([0.0, 0.1, 0.2], [1.0, 1.0, 1.0])


def test_a_torque_or_load_beyond_its_data_needs_after():
    arm = fa.Robot(links=[fa.Link("a", 1.0, fa.Revolute("z"), mass=1.0)])
    torque = fa.spline(*CONSTANT)
    for given in (
        {"torque": {"a": fa.spline(*CONSTANT)}},
        {"torque": {"a": {"profile": "spline", "times": CONSTANT[0], "values": CONSTANT[1]}}},
        {"torque": {"a": fa.table({"t": CONSTANT[0], "x": CONSTANT[1]})}},
        {"torque": {"a": fa.spline([0.1, 0.6], [1.0, 0.0])}},
        {"loads": [fa.PointLoad("a", force=(0, fa.spline(*CONSTANT), 0))]},
        {"torque": {"a": lambda t: 2 * torque(t - 0.1)}},
        {"torque": {"a": fa.shaper("zv", frequency=10.0)(torque)}},
        {"torque": fa.pd(arm, 1.0, 0.1, {"a": 0.0}, feedforward={"a": torque})},
    ):
        words = r"(torque of 'a'|loads\[0\]|feedforward\.a) = .*: its data reach .* from 0 to 0\.5 s; .*after='zero'"
        with pytest.raises(ValueError, match=words):
            fa.simulate(arm, 0.5, **given)
    with pytest.raises(ValueError, match=r"loads\[0\] = spline.*: its data reach from 0 to 0\.2 s; .*after='zero'"):
        fa.Simulation(arm, 0.01, loads=[fa.PointLoad("a", force=(0, torque, 0))], native=False)
    fa.simulate(arm, 0.2, torque={"a": fa.spline(*CONSTANT)})  # the data suffice
    fa.simulate(arm, 0.5, torque={"a": fa.spline([0.0, 0.1, 0.2], [0.0, 1.0, 0.0])})  # it ends at zero
    moved = fa.spline([0.0, 0.1, 0.2], [0.0, 0.1, 0.2])
    fa.simulate(arm, 0.5, motion={"a": moved})  # motions hold
    fa.simulate(arm, 0.5, torque=fa.pd(arm, 1.0, 0.1, {"a": moved}))  # references, too
    fa.simulate(arm, 0.5, torque={"a": lambda t: moved(t, 2) / 3})  # rates are zero outside


def test_after_says_what_follows_the_data():
    arm = fa.Robot(links=[fa.Link("a", 1.0, fa.Revolute("z"), mass=1.0)])
    speeds = {}
    for after in ("zero", "hold"):
        run = fa.simulate(arm, 0.5, torque={"a": fa.spline(*CONSTANT, after=after)}, rtol=1e-9)
        speeds[after] = float(run["a.q'"][-1])
    assert speeds["hold"] / speeds["zero"] == pytest.approx(0.5 / 0.2, rel=1e-6)
    with pytest.raises(ValueError, match="after = 'stop': must be 'hold' or 'zero'"):
        fa.spline(*CONSTANT, after="stop")
