"""Campbell's diagram: rotating cantilevers, whirling shafts, stretched rods; modes followed through crossings."""

import warnings

import numpy as np
import pytest

import flexarm as fa
from tests.helpers import table, unit_link

ROWS = [row for row in table("rotating_cantilever.csv") if float(row["hub_radius/L"]) == 0]
SPEEDS = [float(row["eta"]) for row in ROWS]


@pytest.fixture(scope="module")
def blade():
    flexible = fa.Flexible(bend_y=24, bend_z=24, basis="splines", stiffening="shortening")
    return fa.campbell(fa.Robot(links=[unit_link(joint=fa.Revolute("z"), flexible=flexible)]), "beam", SPEEDS)


def column(name):
    return np.array([float(row[name]) for row in ROWS])


def test_flap_and_lag_of_a_rotating_cantilever(blade):
    """To 1e-5, each one curve though all are equal at rest; lag^2 = flap^2 - eta^2."""
    omega, squares = 2 * np.pi * blade.frequencies, np.array(SPEEDS) ** 2
    for pair in range(3):
        flap, lag = column(f"flap{pair + 1}"), column(f"lag{pair + 1}")
        high, low = sorted((2 * pair, 2 * pair + 1), key=lambda mode: -omega[-1, mode])
        assert omega[:, high] == pytest.approx(flap, rel=1e-5)
        assert omega[:, low] == pytest.approx(lag, rel=1e-5)
        assert omega[:, low] ** 2 == pytest.approx(omega[:, high] ** 2 - squares, rel=1e-6)
    assert not blade.unstable.any()


def test_shapes_stay_in_their_planes(blade):
    """Shapes stay in their planes even at rest, where equal frequencies allow any mixture."""
    across = np.array([".bend_z" in name for name in blade.names])
    for mode in range(6):
        shares = (np.abs(blade.shapes[:, across, mode]) ** 2).sum(axis=1) / (np.abs(blade.shapes[:, :, mode]) ** 2).sum(
            axis=1
        )
        assert np.ptp(shares) < 1e-6


def test_critical_speeds_lie_where_curves_cross_orders(blade):
    ((speed, frequency),) = blade.critical()
    lag = column("lag1")
    k = int(np.flatnonzero(lag < SPEEDS)[0])
    assert SPEEDS[k - 1] < speed < SPEEDS[k]
    assert frequency == pytest.approx(speed / (2 * np.pi))
    assert np.interp(speed, SPEEDS, lag) == pytest.approx(speed, rel=1e-2)
    assert len(blade.critical(2.0)) == 2


def test_modes_are_followed_through_a_crossing():
    """Seen in its frame, one whirl of a shaft falls with speed and the other rises, through those of another beam."""
    section = fa.Section.properties(A=1, I_y=1, I_z=1, J=1, I_p=1e-9)
    flexible = fa.Flexible(bend_y=2, bend_z=2, stiffening="none")
    shaft = unit_link(joint=fa.Revolute("x"), section=section, flexible=flexible)
    speeds = np.array([0.0, 2.0, 4.0, 12.0])
    found = fa.campbell(fa.Robot(links=[shaft]), "beam", speeds, modes=4)
    omega = 2 * np.pi * found.frequencies
    first, second = 3.5160152685, 22.0344915647
    expected = [np.abs(first - speeds), first + speeds, second - speeds, second + speeds]
    ways = [min(np.abs(omega[:, mode] - each).max() for each in expected) for mode in range(4)]
    assert max(ways) < 1e-4 * second  # 2 shapes: the second to 1e-6
    assert sorted(omega[-1]) == pytest.approx(sorted(each[-1] for each in expected), rel=1e-4)


def test_a_rod_stays_where_turning_stretches_it():
    """EA u'' + mu Omega^2 (x + u) = 0: u(l) = tan(Omega)/Omega - 1; it vibrates at omega^2 = (pi/2)^2 - Omega^2
    (without its Coriolis force, which has no partner where nothing bends)."""
    flexible = fa.Flexible(stretch=8, stiffening="none")
    rod = unit_link("rod", joint=fa.Revolute("z"), flexible=flexible)
    system = fa.System(fa.Robot(links=[rod]), native=False)
    found = fa.campbell(system, "rod", [0.0, 0.3, 0.6], modes=1)
    for speed, q, f in zip(found.speeds[1:], found.q[1:], found.frequencies[1:, 0], strict=True):
        assert system.deflection("rod", q)[1][-1, 0] == pytest.approx(np.tan(speed) / speed - 1, rel=1e-4)
        assert (2 * np.pi * f) ** 2 == pytest.approx((np.pi / 2) ** 2 - speed**2, rel=1e-6)


def test_damping_and_instability():
    section = fa.Section.properties(A=1, I_y=4, I_z=1, J=1, I_p=1e-9)
    flexible = fa.Flexible(bend_y=2, bend_z=2, stiffening="none", damping=fa.Damping(ratio=0.01))
    robot = fa.Robot(links=[unit_link(joint=fa.Revolute("x"), section=section, flexible=flexible)])
    found = fa.campbell(robot, "beam", [0.0, 2.0, 4.5], modes=2)
    assert found.damping_ratios[0] == pytest.approx(0.01)
    assert found.unstable.any(axis=1).tolist() == [False, False, True]  # between the critical speeds 3.516 and 7.03


def turning_arm(**more):
    bar = {"section": fa.Section.rectangle(0.02, 0.02), "material": fa.Material(7e10, 2700)}
    links = [fa.Link("arm", 1.0, fa.Revolute("z"), flexible=fa.Flexible(bend_y=1), **bar)]
    links.append(fa.Link("blade", 0.5, fa.Revolute("z"), flexible=fa.Flexible(bend_y=1), **bar))
    return fa.Robot(links=links, **more)


@pytest.mark.parametrize(
    ("robot", "joint", "sentence"),
    [
        (turning_arm(gravity=(0, -9.81, 0)), "arm", "its weight changes as it turns"),
        (turning_arm(), "blade", "the inertia of what carries it changes"),
        (turning_arm(), "baldes", "did you mean 'blade'"),
        (turning_arm(constraints=[fa.OnPlane("blade", normal="y")]), "arm", "has constraints"),
        (
            fa.Robot(links=[fa.Link("slide", 1.0, fa.SlidingPrismatic(limits=(0, 1)), mass=1.0, offset=(0, 0, 0))]),
            "slide",
            "must be a hinge",
        ),
    ],
)
def test_what_does_not_turn_steadily_is_refused(robot, joint, sentence):
    with pytest.raises((KeyError, ValueError), match=sentence):
        fa.campbell(robot, joint, [0.0, 1.0])


def test_weight_along_the_axis_is_allowed_and_motors_turn():
    drive = fa.Drive(stiffness=500.0, rotor_inertia=0.1)
    robot = turning_arm(gravity=(0, 0, -9.81)).with_({"links.arm.joint.drive": drive})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fa.campbell(robot, "arm", [0.0, 2.0], modes=3)
    still = fa.modes(robot, joints="locked").frequencies[:3]
    assert found.frequencies[0] == pytest.approx(still, rel=1e-9)
    with pytest.raises(ValueError, match="modes = 9: the robot has"):
        fa.campbell(robot, "arm", [0.0], modes=9)
