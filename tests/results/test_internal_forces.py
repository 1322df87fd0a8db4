"""Forces inside the robots of runs: torques of drives, constraints, loads, files, names."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.simulation.test_constraints import at, four_bar

G = 9.81


def fall(**options) -> fa.Run:
    """The two-link arm falls, undamped: it vibrates fast beside the steps."""
    arm = fa.library.two_link_arm().with_(gravity=(0, -G, 0))
    load = fa.PointLoad("fore", 0.3, force=(0.0, fa.sine(1.0, 2.0), 0.0), torque=(0, 0, 0.01))
    return fa.simulate(
        arm, 0.3, torque={"upper": fa.bang_bang(0.15, (0.1, 0.2))}, loads=[load], native=False, **options
    )


@pytest.fixture(scope="module")
def run() -> fa.Run:
    return fall(sample=1e-3)


@pytest.mark.parametrize("method", ["esdirk", "dop853"])
def test_free_hinges_give_the_torques_of_their_actuators_at_every_sample(method):
    found = fall(sample=1e-3, method=method)
    for link in ("upper", "fore"):
        torque = found.reaction(link).sel(component="torque.z").values
        assert_allclose(torque, found.torque.sel(input=link).values, atol=1e-10)


def test_methods_of_low_order_give_them_nearly():
    found = fall(sample=1e-3, method="generalized-alpha")
    torque = found.reaction("upper").sel(component="torque.z").values
    assert_allclose(torque, found.torque.sel(input="upper").values, atol=1e-3)


def test_answers_are_labelled(run):
    joint = run.reaction("fore")
    assert joint.dims == ("time", "component")
    assert joint["component"].values.tolist()[::5] == ["force.x", "torque.z"]
    assert joint["unit"].values.tolist() == ["N"] * 3 + ["N m"] * 3
    assert run.moment("upper", [0.0, 0.5]).dims == ("time", "x", "axis")
    assert run.force("upper", 0.5).dims == ("time", "axis")
    assert run.strain("upper", 0.5, at=(0.0025, 0.0)).dims == ("time",)
    assert float(run.moment("upper", 0.5)["x"]) == 0.5
    assert run.moment("upper", 0.5).attrs["units"] == "N m"


def test_strain_of_runs_is_that_of_laws_and_linear_models(run):
    weightless = run.robot.with_({"gravity": (0.0, 0.0, 0.0)})
    lin = fa.linearize(weightless, inputs=["upper"], outputs=["upper.strain(0.1)"])
    surface = lin.C @ np.concatenate([run["q"].values, run["v"].values], axis=1).T
    assert np.abs(surface).max() > 1e-6
    assert_allclose(run.strain("upper", 0.1).values, surface[0], atol=1e-12)
    assert_allclose(run["upper.strain(0.1)"].values, surface[0], atol=1e-12)
    off_axis = run.strain("upper", 0.1, at=(0.001, 0.0))
    assert_allclose(run["upper.strain(0.1, 0.001, 0)"].values, off_axis.values)
    assert not run.strain("upper", 0.1, at=(0.0, 0.0)).values.any()
    with pytest.raises(ValueError, match="in the brackets must stand a distance"):
        run["upper.strain(far)"]
    with pytest.raises(KeyError, match=r"there is no 'uper\.strain"):
        run["uper.strain(0.1)"]


def test_the_root_of_a_link_meets_its_joint(run):
    joint = run.reaction("upper").values
    assert_allclose(run.force("upper", 0.0).values, -joint[:, :3], atol=1e-9)
    assert_allclose(run.moment("upper", 0.0).values, -joint[:, 3:], atol=1e-9)


def test_axes_of_the_world_are_those_of_the_joint_turned(run):
    own, world = run.reaction("fore").values, run.reaction("fore", axes="world").values
    assert_allclose(np.linalg.norm(own[:, :3], axis=1), np.linalg.norm(world[:, :3], axis=1), rtol=1e-12)
    assert not np.allclose(own, world)


def test_a_driven_joint_gives_what_drives_it():
    arm = fa.library.two_link_arm()
    found = fa.simulate(arm, 0.5, motion={"upper": fa.cycloid(0.0, 1.0, 0.5)}, native=False)
    torque = found.reaction("upper").sel(component="torque.z").values
    assert_allclose(torque, found.torque.sel(input="upper").values, atol=1e-9)


def test_saved_runs_know_the_forces_of_their_samples(run, tmp_path):
    run.save(tmp_path / "arm.nc")
    again = fa.Run.load(tmp_path / "arm.nc")
    assert_allclose(again.reaction("fore").values, run.reaction("fore").values, atol=1e-12)
    assert_allclose(again.moment("upper", 0.3).values, run.moment("upper", 0.3).values, atol=1e-12)
    assert_allclose(run["loads"].sel(component="torque.z").values[:, 0], 0.01)
    with pytest.raises(ValueError, match="forces inside the robot are not known: a run that was saved"):
        again.at(0.1).reaction("fore")
    again.at(0.1).strain("upper", 0.3)  # which needs no inputs


def test_a_file_without_its_loads_says_so(run):
    import json

    data = run.data.copy()
    options = json.loads(data.attrs["options"])
    del options["load_places"]
    data.attrs["options"] = json.dumps(options)
    with pytest.raises(ValueError, match="has no record of its loads"):
        fa.Run(data).reaction("fore")


def test_between_samples_and_of_parts_of_the_data(run):
    there = run.at([0.05, 0.0501]).reaction("fore")
    assert there.shape == (2, 6)
    assert_allclose(there.values[0], run.reaction("fore").sel(time=0.05, method="nearest").values, rtol=1e-6, atol=1e-8)
    few = fa.Run(run.data.isel(time=slice(0, 3)))
    assert_allclose(few.reaction("fore").values, run.reaction("fore").values[:3], atol=1e-12)


# --- constraints ---


@pytest.fixture(scope="module")
def linkage() -> fa.Run:
    options = {"motion": {"crank": lambda t: 1.0 + 2 * np.pi * t}, "q0": at(1.0), "native": False, "rtol": 1e-6}
    return fa.simulate(four_bar(gravity=(0, -G, 0)), 0.3, **options)


def test_links_and_constraints_answer_by_name(linkage):
    assert linkage.reaction("rocker").dims == ("time", "component")
    loop = linkage.reaction("loop[0]")
    assert loop.dims == ("time", "row")
    assert_allclose(loop.values, linkage["reaction"].values)
    assert_allclose(linkage.reaction("loop[0].y").values, loop.values[:, 1])
    with pytest.raises(KeyError, match=r"'nobody'.* links crank, coupler, rocker; constraints are loop\[0\]"):
        linkage.reaction("nobody")
    with pytest.raises(ValueError, match="axes = 'world': is for joints only"):
        linkage.reaction("loop[0]", axes="world")


def test_a_free_rocker_takes_no_torque_and_the_crank_what_drives_it(linkage):
    assert_allclose(linkage.reaction("rocker").sel(component="torque.z").values, 0, atol=1e-9)
    assert_allclose(linkage.reaction("coupler").sel(component="torque.z").values, 0, atol=1e-9)
    torque = linkage.reaction("crank").sel(component="torque.z").values
    assert_allclose(torque, linkage.torque.sel(input="crank").values, atol=1e-9)


def test_a_link_without_a_joint_to_the_ground_hangs_in_its_supports():
    """A pinned link in a horizontal loop: joint and constraint carry half of its weight each."""
    rod = fa.Link("rod", 1.0, mass=2.0)
    held = fa.OnLine("rod", point=(1.0, 0, 0), direction="x", name="prop")
    found = fa.simulate(fa.Robot(links=[rod], gravity=(0, -G, 0), constraints=[held]), 0.1, native=False)
    assert_allclose(found.reaction("prop").values, G, rtol=1e-9)
    assert_allclose(found.reaction("rod", axes="world").sel(component="force.y").values, G, rtol=1e-9)
    middle = found.moment("rod", 0.5).sel(axis="z").values
    assert_allclose(middle, 2 * G * 1.0 / 8, rtol=1e-9)  # q L^2 / 8


def test_unknown_links_and_places_are_said(run):
    with pytest.raises(KeyError, match="there is no link 'uper'; did you mean 'upper'"):
        run.moment("uper", 0.5)
    with pytest.raises(ValueError, match="x = 3: must lie on link 'upper', between 0 and 1 m"):
        run.force("upper", 3.0)
    with pytest.raises(ValueError, match="must lie in the section of link 'upper'"):
        run.strain("upper", 0.5, at=(1.0, 0.0))
    with pytest.raises(KeyError, match="constraints are none"):
        run.reaction("loop")
