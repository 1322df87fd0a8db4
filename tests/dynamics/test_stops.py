"""Elastic stops: forces at both ends of the travel, on a massless-arm hinge whose equations are by hand."""

import numpy as np
import pytest

import flexarm as fa

LOWER, UPPER, STIFFNESS, DAMPING = -1.0, 2.0, 100.0, 5.0
FADE = 1e-3 * (UPPER - LOWER)  # over this depth the damping sets in


@pytest.fixture(scope="module")
def hinge():
    joint = fa.Revolute("z", limits=(LOWER, UPPER), stop=fa.Stop(STIFFNESS, DAMPING))
    return fa.System(fa.Robot(links=[fa.Link("rod", 1.0, joint, mass=1.0)]), native=False)


@pytest.mark.parametrize(
    ("angle", "torque"),
    [
        (UPPER + 0.1, STIFFNESS * 0.1),
        (LOWER - 0.2, -STIFFNESS * 0.2),
        (UPPER - 1e-6, 0.0),
        (LOWER + 1e-6, 0.0),
    ],
)
def test_a_stop_is_a_spring_beyond_its_limit(hinge, angle, torque):
    assert hinge.inverse_dynamics([angle], [0.0], [0.0]) == pytest.approx([torque], abs=1e-12)


def test_its_energy_is_that_of_a_spring(hinge):
    stored = [hinge.energy([angle]).total - hinge.energy([0.0]).total for angle in (UPPER + 0.1, LOWER - 0.2)]
    assert np.array(stored) == pytest.approx([STIFFNESS * 0.1**2 / 2, STIFFNESS * 0.2**2 / 2])


@pytest.mark.parametrize(
    ("depth", "share"), [(-0.1, 0.0), (0.0, 0.0), (0.25 * FADE, 0.25), (FADE, 1.0), (1.5 * FADE, 1.0), (0.1, 1.0)]
)
@pytest.mark.parametrize("speed", [2.0, -3.0])
def test_its_damping_sets_in_over_a_thousandth_of_the_travel(hinge, depth, share, speed):
    for angle in (UPPER + depth, LOWER - depth):
        still, moving = (hinge.inverse_dynamics([angle], [v], [0.0])[0] for v in (0.0, speed))
        assert moving - still == pytest.approx(share * DAMPING * speed, abs=1e-9)
