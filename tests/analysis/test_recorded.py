"""Sampled quantities of a run, by the names of runs and of linear models."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.analysis.spectra import sample_run


@pytest.fixture(scope="module")
def run():
    system = fa.System(fa.library.two_link_arm(), native=False)
    points = {"eye": ("fore", 0.2)}
    return fa.simulate(system, 0.2, torque={"upper": 0.1}, points=points, rtol=1e-6, native=False)


def one(run, name, **options):
    given = {"after": None, "before": None, "sample": 1e-3, "least": 8, **options}
    return sample_run(run, [name], **given)[0]


def test_samples_are_those_of_the_run_at_their_times(run):
    found = one(run, "tip.y", after=0.05, before=0.1)
    assert len(found.times) == 50
    assert found.times[[0, -1]] == pytest.approx([0.05, 0.099])
    assert np.array_equal(found.values, run.at(found.times)["tip.y"].values)
    assert found.unit == "m"
    assert found.duration == pytest.approx(0.05)


@pytest.mark.parametrize("place", ["tip", "eye", "fore(0.2)", "upper.tip"])
def test_rates_of_places_are_derivatives(run, place):
    h = 1e-4
    times = np.arange(40) * 1e-3 + 0.1
    link, x = {"tip": ("fore", None), "eye": ("fore", 0.2), "fore(0.2)": ("fore", 0.2), "upper.tip": ("upper", None)}[
        place
    ]
    system = fa.System(run.robot, native=False)
    ways = [system.frame(link, x, run.at(times + s * h).array("q"))[:, 1, 3] for s in (-1, 0, 1)]
    first, second = ((ways[2] - ways[0]) / (2 * h), (ways[2] - 2 * ways[1] + ways[0]) / h**2)
    for primes, expected in (("'", first), ("''", second)):
        found = one(run, f"{place}.y{primes}", after=0.1, before=0.14)
        assert found.unit == ("m/s", "m/s2")[len(primes) - 1]
        assert np.abs(found.values - expected).max() < 2e-3 * np.abs(expected).max()


def test_coordinates_strains_and_what_has_no_history(run):
    assert np.array_equal(one(run, "upper.q''").values, one(run, "a.upper.q").values)
    half = run.robot.link("upper").section.extents()["width"] / 2
    strain = one(run, "upper.strain(0.1)")
    assert strain.values == pytest.approx(run.at(strain.times).strain("upper", 0.1, at=(half, 0)).values)
    with pytest.raises(KeyError, match=r"run\.moment"):
        one(run, "upper.moment(0.1)")
    with pytest.raises(KeyError, match=r"did you mean 'tip\."):
        one(run, "tip.w")


def test_a_run_without_steps_has_its_samples_only(run):
    copy = fa.Run(run.data)
    assert not copy.continuous
    found = one(copy, "tip.y", sample=None, before=0.1)
    assert np.array_equal(found.values, run["tip.y"].values[: len(found.values)])
    with pytest.raises(ValueError, match="at its samples only"):
        one(copy, "tip.y", sample=1e-3)
    uneven = fa.Run(run.data.isel(time=[0, 1, 3, 4, 7, 9, 20, 21, 22, 30]))
    with pytest.raises(ValueError, match="equally far apart"):
        one(uneven, "tip.y", sample=None)
