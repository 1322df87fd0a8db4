"""fa.sensitivity, against derivatives that are known."""

import numpy as np
import pytest

import flexarm as fa
from tests.sweeps.cases import BAR, MASS, angle

SECTION, METAL = fa.Section.rectangle(0.005, 0.005), fa.Material(7e10, 2700.0)
BEAM = fa.Robot(
    links=[fa.Link("beam", 1.0, section=SECTION, material=METAL, flexible=fa.Flexible(bend_z=2), joint=fa.Weld())],
    gravity=(0, 0, -0.1),
)


def test_a_turning_bar():
    """angle = q0 + v0 t + 3 torque t^2 / (2 m l^2)."""
    by = ["torque.bar", MASS, "links.bar.length", "q0.bar.q", "v0.bar.q"]
    found = fa.sensitivity(BAR, by, 2.0, torque={"bar": 0.5}, measure=angle, native=False)
    assert float(found["angle"]) == pytest.approx(1.0)
    assert found["angle_derivative"].values == pytest.approx([2.0, -1 / 3, -2.0, 1.0, 2.0], rel=1e-6)
    assert (found["angle_derivative_error"].values < 1e-4).all()
    assert found["unit"].values.tolist() == ["N m", "kg", "m", "rad", "rad/s"]
    assert found["value"].values.tolist() == [0.5, 3.0, 1.0, 0.0, 0.0]


def test_a_swinging_pendulum():
    """Small swings, q0 cos(w t) with w^2 = 3 g / (2 l): d/dl is q0 sin(w t) w t / (2 l), d/dg by -l / g of that."""
    robot = BAR.with_(gravity=(9.81, 0, 0))
    found = fa.sensitivity(
        robot, ["links.bar.length", "gravity.0"], 1.0, q0={"bar.q": 1e-3}, measure=angle, native=False, rtol=1e-10
    )
    w = np.sqrt(1.5 * 9.81)
    rate = 1e-3 * np.sin(w) * w / 2
    assert found["angle_derivative"].values == pytest.approx([rate, -rate / 9.81], rel=1e-4)


def bend(run):
    """At the start: of a beam in equilibrium."""
    return run.array("deflection")[0, 0, 2]


def test_the_static_deflection_of_a_beam():
    """w = -mu g l^4 / (8 E I): by E -w / E, by g w / g."""
    by = ["links.beam.material.E", "gravity.2", "links.beam.section.width"]
    found = fa.sensitivity(BEAM, by, 0.01, q0="equilibrium", measure=bend, native=False)
    w = float(found["bend"])
    assert w == pytest.approx(-2700 * 0.1 * 12 / (8 * 7e10 * 0.005**2), rel=0.01)
    assert found["bend_derivative"].values[:2] == pytest.approx([-w / 7e10, w / -0.1], rel=1e-4)
    width = found["bend_derivative"].values[2]
    assert min(abs(width), abs(width + 2 * w / 0.005)) < 1e-4 * abs(w / 0.005)  # I is of the third power of one side


def test_accelerations_as_the_equations_have_them():
    arm = fa.library.two_link_arm()
    by = ["links.fore.payload.mass", "links.upper.material.E", "links.fore.length"]
    q0, torque = {"fore.q": 0.4, "upper.bend_y[1]": 0.01}, {"upper": 0.05}
    found = fa.sensitivity(
        arm, by, 1e-3, q0=q0, torque=torque, measure={"a": lambda run: run.array("a")[0, [0, 4]]}, native=False
    )
    system = fa.System(arm, native=False)
    exact = system.derivative("forward_dynamics", by)(q0, None, torque)
    assert found["a_derivative"].values == pytest.approx(exact[[0, 4]].T, rel=1e-5)


def test_where_there_is_a_robot_on_one_side_only():
    """A payload of no mass: differences go forward."""
    robot = BAR.with_({"links.bar.payload.mass": 0.0})
    found = fa.sensitivity(
        robot, ["links.bar.payload.mass"], 1.0, torque={"bar": 1.0}, measure=angle, native=False
    )  # t^2 / (2 (1 + m))
    assert found["angle_derivative"].values == pytest.approx([-0.5], rel=1e-4)


def test_gains_and_fixed_steps():
    def law(t, q, v, gains):
        return -gains["kp"] * q

    found = fa.sensitivity(
        BAR, ["gains.kp"], 1.0, torque=fa.Feedback(law, gains={"kp": 4.0}), q0={"bar.q": 0.1}, measure=angle,
        native=False, method="rk4", dt=0.01,
    )  # fmt: skip
    assert found["angle_derivative"].values == pytest.approx([-0.1 * np.sin(2.0) / 4], rel=1e-5)


def test_all_usual_measures_have_derivatives_that_a_second_run_confirms():
    arm, push = fa.library.two_link_arm(), {"upper": fa.bang_bang(0.02, (0.1, 0.2))}
    options = {"torque": push, "native": False, "rtol": 1e-9}
    found = fa.sensitivity(arm, ["links.upper.material.E"], 0.25, **options)
    h = 2e7
    ends = [
        fa.simulate(arm.with_({"links.upper.material.E": 2e10 + k * h}), 0.25, **options).tip.values[-1]
        for k in (-1, 1)
    ]
    assert found["tip_derivative"].values[0] == pytest.approx((ends[1] - ends[0]) / (2 * h), rel=1e-3, abs=1e-18)


def test_a_kink_is_doubted():
    def kinked(run):
        return abs(angle(run) - 0.25)

    with pytest.warns(UserWarning, match="not sure to a per cent: kinked by torque.bar"):
        fa.sensitivity(BAR, ["torque.bar"], 1.0, torque={"bar": 0.5 * (1 + 5e-4)}, measure=kinked, native=False)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"by": []}, "by"),
        ({"by": 3}, "by"),
        ({"by": [MASS, MASS]}, "twice"),
        ({"by": ["links.bar.mas"]}, "did you mean 'mass'"),
        ({"by": ["links.bar.name"]}, "must be a number"),
        ({"by": ["links.bar.payload.mass"]}, "by: links.bar.payload.mass: there is no 'mass'"),
        ({"by": ["gains.kp"]}, "by: there is no gain"),
        ({"step": 0.0}, "step"),
        ({"step": 1.0}, "step"),
    ],
)
def test_what_is_asked_for_is_checked(given, sentence):
    with pytest.raises((TypeError, ValueError, KeyError), match=sentence):
        fa.sensitivity(**{"robot": BAR, "by": [MASS], "duration": 1.0, "native": False, **given})


def test_a_kink_at_the_very_point_is_seen():
    """Slopes 0 and 1/2 to both sides: differences across it agree on the mean."""
    bar = fa.Robot(links=[fa.Link("bar", 1.0, mass=3.0)])
    options = {"torque": {"bar": 0.0}, "measure": {"m": lambda run: max(0.0, run.array("q")[-1, 0])}, "native": False}
    with pytest.warns(UserWarning, match="not sure to a per cent: m by torque.bar"):
        found = fa.sensitivity(bar, ["torque.bar"], 1.0, **options)
    assert float(found["m_derivative"][0]) == pytest.approx(0.25)
    assert float(found["m_derivative_error"][0]) == pytest.approx(0.25, rel=0.01)


def test_peaks_between_samples():
    """A pendulum let go at 1 rad: its largest speed is at the bottom, sqrt(2 m g d (1 - cos 1) / I)."""
    rod = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0)], gravity=(9.81, 0, 0))

    def fastest(run):
        return np.abs(run.array("v")[:, 0]).max()

    found = fa.sensitivity(rod, ["q0.a.q"], 1.0, q0={"a.q": 1.0}, measure=fastest, native=False)
    exact = np.sqrt(3 * 9.81 / 2) * np.cos(0.5)  # of 2 sqrt(3 g / 2 L) sin(q0 / 2)
    assert float(found["fastest_derivative"][0]) == pytest.approx(exact, rel=2e-3)
