"""One compensator for a family of models: Wie and Bernstein's two masses with any spring, and what is refused."""

import numpy as np
import pytest

import flexarm as fa

SPRINGS = (0.5, 0.8, 1.2, 2.0)


def model(stiffness):
    robot = fa.library.two_masses(stiffness)
    return fa.linearize(robot, inputs=["mass", "tip.fx"], outputs=["mass.q"])


def first(stiffness=1.6, **given):
    noises = {"process": {"mass": 1.0, "tip.fx": 1.0}, "noise": {"mass.q": 1.0}}
    return fa.lqg(model(stiffness), {"mass.q": 0.02}, 1.0, **noises, **given)


@pytest.fixture(scope="module")
def models():
    return [model(each) for each in SPRINGS]


def test_the_two_masses_are_those_of_the_benchmark():
    lin = model(0.7)
    names = [each.name for each in lin.states]
    order = [names.index(each) for each in ("mass.motor", "mass.q", "mass.motor'", "mass.q'")]
    A = lin.A[np.ix_(order, order)]
    k = 0.7
    np.testing.assert_allclose(A, [[0, 0, 1, 0], [0, 0, 0, 1], [-k, k, 0, 0], [k, -k, 0, 0]])
    np.testing.assert_allclose(lin.B[order], [[0, 0], [0, 0], [1, 0], [0, 1]])


def test_a_compensator_serves_all_springs_where_the_first_one_does_not(models):
    """A short family: the whole one is in examples/17_two_masses.py."""
    start = first()
    assert max(start.closed_loop(each).poles.real.max() for each in models) > -0.05
    design = fa.robust_lqg(start, models, {"tip.fx": 1.0}, {"mass.q": 0.1}, 15.0, limit=1.0)
    assert design.worst < 0.95
    assert max(design.closed_loop(each).poles.real.max() for each in models) <= -1 / 30
    for stiffness in SPRINGS:
        run = fa.simulate(
            fa.library.two_masses(stiffness), 40.0, torque=design.feedback(limit=1.0), v0={"mass.q": 1.0}, native=False
        )
        late = run.data["time"].values >= 15
        assert np.abs(run["mass.q"].values[late]).max() <= 0.1
        assert np.abs(run.torque.values).max() <= 1.0
    again = fa.robust_lqg(start, models, {"tip.fx": 1.0}, {"mass.q": 0.1}, 15.0, limit=1.0)
    assert (again.K == design.K).all()


def test_an_unmet_requirement_causes_a_warning(models):
    with pytest.warns(fa.ValidityWarning, match="no compensator of this order"):
        design = fa.robust_lqg(first(), models[:1], {"tip.fx": 1.0}, {"mass.q": 0.1}, 1.0, limit=0.1)
    assert design.worst > 1


def test_what_is_refused(models):
    good = {"start": first(), "models": models, "impulse": {"tip.fx": 1.0}, "settled": {"mass.q": 0.1}, "within": 15.0}
    lqr = fa.lqr(model(1.0), {"mass.q": 1.0})
    for change, words in [
        ({"start": lqr}, "must be a design of fa.lqg"),
        ({"start": first(rate=10.0)}, "in continuous time"),
        ({"start": first(integral=["mass.q"])}, "has integrals"),
        ({"models": []}, "must be a list of linear models"),
        ({"models": [models[0].discrete(0.1)]}, "is sampled"),
        ({"models": [models[0].part(None, ["mass"])]}, "impulse: models.0. has no input 'tip.fx'"),
        ({"models": [fa.linearize(fa.library.two_masses(1.0), inputs=["tip.fx"])]}, "has no input 'mass'"),
        ({"impulse": {"tip.fw": 1.0}}, "did you mean 'tip.fx'"),
        ({"impulse": 1.0}, "impulse = 1.0"),
        ({"settled": {"mass.p": 1.0}}, "did you mean 'mass.q'"),
        ({"settled": {"mass.q": -1.0}}, "positive"),
        ({"within": 0.0}, "positive"),
        ({"limit": {"mas": 1.0}}, "did you mean 'mass'"),
    ]:
        with pytest.raises((ValueError, TypeError, KeyError), match=words):
            fa.robust_lqg(**{**good, **change})
