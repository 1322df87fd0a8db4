"""fa.sweep: members, measures, results."""

import json
import warnings

import numpy as np
import pytest
import xarray as xr

import flexarm as fa
from flexarm.results.netcdf import netcdf
from tests.sweeps.cases import BAR, MASS, QUICK, angle, known, swept

ARM = fa.library.two_link_arm()
PUSH = {"upper": fa.bang_bang(0.02, (0.1, 0.2))}


def test_members_are_what_they_should_be_by_hand():
    masses = [1.0, 2.0, 5.0]
    found = fa.sweep(
        BAR, {MASS: masses, "torque.bar": [1.0, 2.0]}, 1.0, torque={"bar": 0.0}, measure={"angle": angle}, **QUICK
    )
    assert found["angle"].dims == (MASS, "torque.bar")
    assert found["angle"].values == pytest.approx(np.outer(known(masses), [1.0, 2.0]))
    assert found[MASS].attrs == {"long_name": "mass of bar", "units": "kg"}
    assert found["torque.bar"].attrs["units"] == "N m"
    assert float(found["angle"].sel({MASS: 2.0, "torque.bar": 2.0})) == pytest.approx(1.5)


def test_every_member_is_the_run_that_simulate_gives():
    over = {"links.fore.payload.mass": [0.0, 0.2], "links.upper.material.E": [1e10, 2e10]}
    options = {"torque": PUSH, "native": False}
    found = fa.sweep(ARM, over, 0.3, keep="runs", **options)
    for mass in over["links.fore.payload.mass"]:
        for E in over["links.upper.material.E"]:
            changes = {"links.fore.payload.mass": mass, "links.upper.material.E": E}
            run, one = fa.simulate(ARM.with_(changes), 0.3, **options), found.sel(changes)
            assert (one["tip"].values == run.tip.values[-1]).all()
            assert (one["run"].item().array("q") == run.array("q")).all()
            bends = np.linalg.norm(run.array("deflection"), axis=2)
            assert (one["peak_deflection"].values == bends.max(axis=0)).all()
            assert float(one["residual"]) == pytest.approx(run.residual(after=0.2))  # when the torque ends
            assert one["peak_torque"].values.tolist() == [0.02, 0.0]
            assert float(one["kinetic"]) == run.array("kinetic")[-1]
            assert float(one["end"]) == 0.3
    assert set(found["status"].values.ravel()) == {"completed"}
    assert found["tip"].sel(axis="y", drop=True).shape == (2, 2)
    assert found["peak_torque"]["input_unit"].values.tolist() == ["N m", "N m"]


def test_results_say_what_made_them():
    found = swept([1.0])
    assert fa.Robot.model_validate(json.loads(found.attrs["model"])) == BAR
    options = json.loads(found.attrs["options"])
    assert options["duration"] == 1.0
    assert options["method"] == "rk4"
    assert "'bar': 1.0" in options["torque"]
    assert found.attrs["version"] == fa.__version__
    assert netcdf(found)


def test_measures_may_be_arrays_names_and_single_functions():
    found = swept([1.0, 2.0], measure={"q": lambda run: run.array("q")[::10], "one": lambda run: True})
    assert found["q"].dims == (MASS, "q_1", "q_2")
    assert found["one"].values.tolist() == [1.0, 1.0]
    assert list(swept([1.0], measure=["tip", "end"]).data_vars) == ["tip", "end", "status", "reason"]
    assert "measure" in swept([1.0], measure=lambda run: 1.0)
    with pytest.raises(ValueError, match="did you mean 'residual'"):
        swept([1.0], measure=["residul"])


def test_a_member_that_fails_is_recorded_and_the_others_go_on():
    robot = fa.Robot(links=[fa.Link("bar", 1.0, mass=3.0, joint=fa.Revolute(limits=(-1.0, 1.0)))])
    with pytest.warns(UserWarning, match=r"1 of 3 members failed \(1 x ValueError: joint 'bar' starts at 5 rad"):
        found = fa.sweep(robot, {"q0.bar.q": [0.0, 5.0, 0.5]}, 0.2, measure=angle, **QUICK)
    assert found["status"].values.tolist() == ["completed", "failed", "completed"]
    assert np.isnan(found["angle"].values).tolist() == [False, True, False]
    assert "outside its travel" in found["reason"].values[1]
    assert found.attrs["summary"].endswith("the first is member 1 (q0.bar.q = 5.0)")


def test_a_run_that_ends_early_is_told_by_its_status():
    robot = fa.Robot(links=[fa.Link("bar", 1.0, mass=3.0, joint=fa.Revolute(limits=(-1.0, 1.0)))])
    with pytest.warns(UserWarning, match="1 of 2 members stopped, the first is member 1: 'bar.q' reached"):
        found = fa.sweep(robot, {"torque.bar": [0.1, 10.0]}, 1.0, torque={"bar": 0.0}, **QUICK)
    assert found["status"].values.tolist() == ["completed", "stopped"]
    assert "limit" in found["reason"].values[1]
    assert float(found["end"][1]) == pytest.approx(np.sqrt(0.2), rel=1e-3)


def test_a_measure_that_fails_is_told():
    def picky(run):
        return 1 / (float(run.robot.links[0].mass) - 2.0)

    with pytest.warns(UserWarning, match="measure 'picky' failed .ZeroDivisionError"):
        found = swept([1.0, 2.0, 3.0], measure=picky)
    assert found["picky"].values[[0, 2]].tolist() == [-1.0, 1.0]
    with pytest.warns(UserWarning, match="must be a number"):
        swept([1.0], measure={"a": lambda run: "text"})


def test_what_members_warn_of_is_counted_not_shown_for_each():
    limp = ARM.with_({"links.upper.flexible.stiffening": "none"})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = fa.sweep(
            limp, {"torque.upper": [0.0, 2.0, 3.0]}, 0.3, torque={"upper": 0.0}, native=False, measure=["tip"]
        )
    assert len(said) == 1
    assert "2 of 3 members warn, the first is member 1: " in str(said[0].message)
    assert found["warnings"].values[0] == ""
    assert "upper" in found["warnings"].values[1]


def test_other_structures_run_and_it_is_said():
    with pytest.warns(UserWarning, match="of 2 structures"):
        found = fa.sweep(
            ARM, {"links.upper.flexible.bend_y": [1, 2]}, 0.05, torque=PUSH, native=False, measure=["tip", "kinetic"]
        )
    assert np.isfinite(found["tip"].values).all()
    with pytest.warns(UserWarning, match="of 2 structures"):
        fa.sweep(ARM, {"links.upper.flexible.stiffening": ["none", "exact"]}, 0.01, native=False, measure=["tip"])


def test_structures_are_counted_in_one_warning():
    """Numbers of shapes that are left open are picked for each member, so a length decides its structure, too."""
    arm = ARM.with_({"links.upper.flexible": {}})
    over = {"links.fore.flexible.bend_y": [1, 2], "links.upper.flexible.up_to": [50.0, 500.0, 501.0]}
    with pytest.warns(UserWarning, match="structures") as warned:
        fa.sweep(arm, over, 0.005, native=False, measure=["tip"])
    (sentence,) = [str(each.message) for each in warned if "structures" in str(each.message)]
    assert "of 4 structures (1, 2, 1, 2 members)" in sentence


def test_gains_of_a_law():
    def law(t, q, v, gains):
        return -gains["kp"] * q - gains["kd"] * v

    found = fa.sweep(
        BAR,
        {"gains.kp": [4.0, 9.0]},
        np.pi,
        torque=fa.Feedback(law, gains={"kp": 1.0, "kd": 0.0}),
        q0={"bar.q": 0.1},
        measure=angle,
        native=False,
        rtol=1e-8,
    )
    assert found["angle"].values == pytest.approx([0.1, -0.1], abs=1e-6)  # I = 1: cos 2 pi, cos 3 pi


class Counter:
    """A digital controller that remembers how often it spoke."""

    def __init__(self):
        self.times = 0

    def __call__(self, t, q, v):
        self.times += 1
        return [float(self.times)]


def test_a_controller_that_remembers_begins_anew_in_each_member():
    found = fa.sweep(
        BAR, {MASS: [3.0, 3.0]}, 0.1, torque=fa.Feedback(Counter(), rate=100.0), measure=angle, native=False
    )
    assert found["angle"][0] == found["angle"][1] > 0


def test_driven_joints_and_loads():
    found = fa.sweep(
        BAR, {"motion.bar.y1": [0.5, 1.0]}, 1.0, motion={"bar": fa.cycloid(0.0, 0.1, 1.0)}, measure=angle, **QUICK
    )
    assert found["angle"].values == pytest.approx([0.5, 1.0])
    found = fa.sweep(BAR, {"loads.0.torque.2": [0.5, 1.0]}, 1.0, loads=[fa.PointLoad("bar")], measure=angle, **QUICK)
    assert found["angle"].values == pytest.approx([0.25, 0.5])


def test_a_tolerance_of_the_robots_size_is_refused():
    for call in (
        fa.simulate,
        lambda robot, *given, **options: fa.sweep(robot, {MASS: [1.0]}, *given, **options),
        lambda robot, *given, **options: fa.Simulation(robot, 0.01, **options),
    ):
        for rtol in (1, 1e-300):
            with pytest.raises(ValueError, match=r"rtol = 1.*: must be at least 1e-13 and at most 0\.1"):
                call(BAR, 0.1, rtol=rtol)
    with pytest.raises(ValueError, match=r"atol = 1: must be at least 0 and at most 0\.1 \(m\)"):
        fa.simulate(BAR, 0.1, atol=1)


def test_robots_without_inputs_have_no_peak_torque():
    section, metal = fa.Section.rectangle(0.01, 0.01), fa.Material(7e10, 2700.0)
    beam = fa.Link("a", 1.0, section=section, material=metal, flexible=fa.Flexible(bend_y=1), joint=fa.Weld())
    pair = fa.Robot(links=[beam])
    found = fa.sweep(pair, {"q0.a.bend_y[1]": [0.0, 0.01]}, 0.01, native=False)
    assert "peak_torque" not in found
    assert found["peak_deflection"].values[0] == 0 < found["peak_deflection"].values[1]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"torque": {"nobody": 1.0}}, "nobody"),
        ({"method": "nonsense"}, "nonsense"),
        ({"dt": -1.0}, "dt"),
        ({"rtoll": 1e-3}, "no option 'rtoll'; did you mean 'rtol'"),
        ({"points": {"p": ("nobody", 1.0)}}, "nobody"),
        ({"q0": {"bar.qq": 1.0}}, "bar.qq"),
        ({"q0": {"bar.q": 1.0, "other": 2.0}}, "other"),
        ({"keep": "all"}, "keep"),
        ({"executor": 3}, "executor"),
        ({"threads": 0}, "threads"),
        ({"measure": {"status": angle}}, "another name"),
        ({"events": 3}, "events"),
    ],
)
def test_what_is_wrong_with_every_member_is_told_before_any_of_them(given, sentence):
    with pytest.raises((TypeError, ValueError, KeyError), match=sentence):
        swept([1.0, 2.0], **given)


def test_names_survive_a_file(tmp_path):
    found = fa.sweep(ARM, {"q0.upper.bend_y[1]": [0.0, 0.01]}, 0.01, native=False, store=tmp_path / "a.nc")
    again = xr.load_dataset(tmp_path / "a.nc", engine="h5netcdf")
    assert again["tip"].dims == found["tip"].dims


def test_the_bar_tells_members_and_pace():
    from flexarm.sweeps.runner import MemberProgress

    assert MemberProgress(1000, False).words(250.0, 123.4) == "250 of 1000 members, 123 a second"


def test_members_that_run_one_by_one_say_why():
    assert swept([1.0, 2.0]).attrs["notes"].startswith("2 members run one by one: native=False selects")


def test_all_measures_are_there_though_all_members_failed():
    def law(t, q, v):
        raise RuntimeError("broken")

    with pytest.warns(UserWarning, match="2 of 2 members failed"):
        found = fa.sweep(BAR, {MASS: [1.0, 2.0]}, 1.0, torque=fa.Feedback(law, rate=10), progress=False)
    assert found["tip"].dims == (MASS, "axis")
    assert np.isnan(found["tip"]).all()
    with pytest.raises(ValueError, match="no numbers to draw"):
        fa.plot_sweep(found)


def test_usual_measures_beside_own_ones():
    found = swept([1.0, 2.0], measure=["tip", angle])
    assert set(found.data_vars) == {"tip", "angle", "status", "reason"}
    assert found["tip"].attrs["units"] == "m"
    assert "end" in swept([1.0], measure="end")
    own = swept([1.0], measure={"tip": lambda run: 1000 * run.array("tip")[-1]})
    assert own["tip"].attrs == {"long_name": "tip"}  # nobody knows its unit


def test_a_measure_that_fails_leaves_the_others_alone():
    def broken(run):
        raise RuntimeError("no")

    with pytest.warns(UserWarning, match="measure 'broken' failed"):
        found = swept([1.0, 2.0], measure={"broken": broken, "angle": angle})
    assert found["angle"].values == pytest.approx(known([1.0, 2.0]))
    assert np.isnan(found["broken"]).all()
    assert set(found["status"].values) == {"failed"}


def test_masked_numbers_are_none():
    found = swept([1.0], measure={"m": lambda run: np.ma.masked_array([1.0, 2.0], mask=[True, False])})
    np.testing.assert_array_equal(found["m"].values, [[np.nan, 2.0]])


@pytest.mark.parametrize("name", ["axis", "tip_quantiles", "x_derivative", "quantile", "status", MASS])
def test_names_that_results_have_are_refused_before_anything_runs(name):
    with pytest.raises(ValueError, match="take another name"):
        swept([1.0], measure={name: angle})


@pytest.mark.parametrize(
    ("one", "other"), [("torque.bar", "torque.bar.value"), ("gravity.1", "gravity.01"), (MASS, "links.0.mass")]
)
def test_one_number_under_two_names_is_refused(one, other):
    with pytest.raises(ValueError, match="are one field"):
        fa.sweep(BAR, {one: [1.0], other: [2.0]}, 1.0, torque={"bar": 1.0}, **QUICK)
