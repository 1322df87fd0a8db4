"""Sensors show what they are said to show."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa

ROD = fa.Robot("rod", links=[fa.Link("a", 1.0, mass=3.0)])
RATE = 100.0


def readings(sensors, names=("a.q", "a.q'"), duration=0.5, torque=0.7):
    """What a law that turns the rod by a constant torque sees: q = torque t^2 / 2."""
    seen = []

    def law(t, x):
        seen.append([x[name] for name in names] + [x.q["a.q"], x.v["a.q"]])
        return [torque]

    fa.simulate(ROD, duration, torque=fa.Feedback(law, rate=RATE, sensors=sensors), native=False, rtol=1e-9)
    return np.array(seen)


def true(count):
    t = np.arange(count) / RATE
    return 0.35 * t**2


def test_an_encoder_counts():
    found = readings({"a.q": fa.Sensor.encoder(1000)})
    step = 2 * np.pi / 1000
    assert_allclose(found[:, 0], step * np.round(true(len(found)) / step), atol=1e-12)
    assert_allclose(found[1:, 1], np.diff(found[:, 0]) * RATE, atol=1e-9)
    assert found[0, 1] == 0.0
    assert np.array_equal(found[:, 2:], found[:, :2])  # x.q and x.v are as the sensors show them


def test_noise_has_its_deviation_and_its_seed():
    sensor = fa.Sensor(noise=0.02, seed=3)
    one, again = (readings({"a.q": sensor}, duration=10.0)[:, 0] for _ in range(2))
    assert np.array_equal(one, again)
    rest = one - true(len(one))
    assert rest.std() == pytest.approx(0.02, rel=0.1)
    assert abs(rest.mean()) < 3 * 0.02 / np.sqrt(len(rest))
    other = readings({"a.q": fa.Sensor(noise=0.02, seed=4)})[:, 0]
    assert not np.array_equal(other, one[: len(other)])


def test_two_sensors_of_one_seed_have_noise_of_their_own():
    sensor = fa.Sensor(noise=0.02)
    found = readings({"a.q": sensor, "tip.y": sensor}, ("a.q", "tip.y"), torque=0.0)
    assert abs(np.corrcoef(found[:, 0], found[:, 1])[0, 1]) < 0.4


def test_a_delay_shows_what_was():
    found = readings({"a.q": fa.Sensor(delay=0.03, bias=0.1)})[:, 0]
    assert_allclose(found[3:], true(len(found))[:-3] + 0.1, atol=1e-9)
    assert_allclose(found[:3], 0.1, atol=1e-12)


def test_a_rate_with_a_sensor_of_its_own():
    found = readings({"a.q": fa.Sensor.encoder(100), "a.q'": fa.Sensor(bias=0.5)})
    assert_allclose(found[:, 1], 0.7 * np.arange(len(found)) / RATE + 0.5, atol=1e-8)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: fa.Sensor(noise=-1.0), "noise"),
        (lambda: fa.Sensor(seed=-1), "seed = -1"),
        (lambda: fa.Sensor(resolution=float("nan")), "resolution"),
        (lambda: readings({"a.w": fa.Sensor()}), "there is no output 'a.w'"),
        (lambda: readings({"a.q": fa.Sensor(delay=0.0151)}), "whole number of the law's periods"),
        (lambda: readings({"a.q": 3}), "must be a fa.Sensor"),
        (lambda: fa.Feedback(lambda t, x: [0.0], sensors={"a.q": fa.Sensor()}), "rate=1000"),
    ],
)
def test_what_is_no_sensor_is_refused(make, sentence):
    with pytest.raises((TypeError, ValueError, KeyError), match=sentence):
        make()


BEAM = fa.Robot(
    "beam",
    links=[
        fa.Link(
            "a",
            1.0,
            material=fa.Material(2.1e11, 7850),
            section=fa.Section.rectangle(0.02, 0.004),
            flexible=fa.Flexible(bend_y=1),
        )
    ],
)
SAME = {
    "a.strain(0.10)": lambda x: x["a.strain(0.1)"],
    "a.strain(0.1, 0.002, 0)": lambda x: x["a.strain(0.10, 2e-3, 0)"],
    "a.strain(0.1)": lambda x: x["a.strain(0.1, 0.01, 0)"],
    "a.tip.y": lambda x: x.tip[1],
    "a(1).y": lambda x: x["tip.y"],
    "a.moment(0.2)": lambda x: x["a.moment_z(2e-1)"],
}


@pytest.mark.parametrize("name", SAME)
def test_a_sensor_is_read_whatever_its_signal_is_called(name):
    """Else a law would read what is true, and nobody would know."""
    seen = []

    def law(t, x):
        seen.append(SAME[name](x))
        return [0.0]

    feedback = fa.Feedback(law, rate=RATE, sensors={name: fa.Sensor(bias=1000.0)})
    fa.simulate(BEAM, 0.02, torque=feedback, native=False)
    assert_allclose(seen, 1000.0, atol=1.0)


def test_rates_of_a_signal_of_several_names():
    law = fa.Feedback(lambda t, x: [1e-3 * x["a.tip.y'"]], rate=RATE, sensors={"tip.y": fa.Sensor(resolution=1e9)})
    assert not fa.simulate(ROD, 0.1, v0={"a.q": 1.0}, torque=law, native=False).torque.values.any()
    twice = fa.Feedback(lambda t, x: [0.0], rate=RATE, sensors={"tip.y": fa.Sensor(), "a.tip.y": fa.Sensor()})
    with pytest.raises(ValueError, match=r"'a.tip.y' is the same signal as 'tip.y'"):
        fa.simulate(ROD, 0.1, torque=twice, native=False)


def test_a_sensor_that_no_law_looks_at_is_told():
    elastic = ROD.with_({"links.a.joint.drive": fa.Drive(stiffness=50.0, rotor_inertia=0.01)})

    def hold(sensors):
        law = fa.pd(elastic, 1.0, 0.1, {"a": 0.1}, rate=RATE, sensors=sensors)
        fa.simulate(elastic, 0.05, torque=law, native=False)

    with pytest.warns(fa.ValidityWarning, match=r"sensors: the law has never looked at 'a\.q'"):
        hold({"a.q": fa.Sensor.encoder(1000), "a.motor": fa.Sensor.encoder(1000)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hold({"a.motor": fa.Sensor.encoder(1000)})
        readings({"a.q": fa.Sensor(bias=0.1)}, names=("a.q'",))  # a rate is read from it
        readings({"a(1.0).y": fa.Sensor(bias=0.1)}, names=("tip.y",))  # by another name


def test_a_sensor_of_a_signal_that_is_not_there_is_told():
    with pytest.raises(KeyError, match=r"Feedback: sensors: there is no output 'a\.p'; did you mean 'a\.q'"):
        readings({"a.p": fa.Sensor()})
