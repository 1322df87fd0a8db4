"""Torques at the joint's side of a gear, and at the motor's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa

N = 80.0


def arm(torque_at, elastic=True, joint=fa.Revolute):
    drive = fa.Drive(stiffness=500.0 if elastic else None, rotor_inertia=1e-4, gear_ratio=N, torque_at=torque_at)
    links = [fa.Link("a", 0.5, joint(drive=drive, **LIMITS.get(joint, {})), mass=1.0), fa.Link("b", 0.4, mass=0.5)]
    return fa.System(fa.Robot(links=links, gravity=(0, -9.81, 0)), native=False)


LIMITS = {fa.SlidingPrismatic: {"limits": (-5.0, 5.0)}}


@pytest.mark.parametrize("elastic", [True, False])
@pytest.mark.parametrize("joint", [fa.Revolute, fa.SlidingPrismatic])
def test_a_torque_at_the_motor_is_felt_gear_ratio_times_at_the_joint(elastic, joint):
    after, before = arm("joint", elastic, joint), arm("motor", elastic, joint)
    q = np.linspace(0.1, 0.4, after.nq)
    assert_allclose(
        after.forward_dynamics(q, q, {"a": 8.0, "b": 1.0}), before.forward_dynamics(q, q, {"a": 8.0 / N, "b": 1.0})
    )
    assert_allclose(before.input_matrix, after.input_matrix * [N, 1.0])
    assert before.actuators[0].gear == N
    assert before.input_units == ("N m", "N m")


def test_the_power_of_the_shaft_goes_into_the_robot():
    """Torque times the rotor's own speed is the rate of the energy."""
    system = arm("motor")
    torque, q, v = 0.3, np.array([0.1, 0.12, -0.4]), np.array([0.5, 0.7, 0.2])
    dt = 1e-6
    a = system.forward_dynamics(q, v, {"a": torque})
    later, earlier = (system.energy(q + s * v * dt + a * dt**2 / 2, v + s * a * dt).total for s in (1, -1))
    rotor_speed = N * v[system.index("a.motor")]
    assert (later - earlier) / (2 * dt) == pytest.approx(torque * rotor_speed, rel=1e-6)


def test_an_array_that_could_be_either_is_refused():
    system = arm("motor", elastic=False)
    with pytest.raises(ValueError, match=r"tau = \[1.0, 2.0\]: could be torques at motors or generalised forces"):
        system.forward_dynamics(None, None, [1.0, 2.0])
    by_link = system.forward_dynamics(None, None, {"a": 1.0})
    assert_allclose(system.forward_dynamics(None, None, {"a.q": N}), by_link)


def test_the_closed_form_has_the_gear_ratio_in_its_forces():
    import sympy as sp

    form = fa.equations(arm("motor").robot)
    assert form.F[1] == sp.Symbol("n_1") * sp.Symbol("tau_1")
    assert form.values["n_1"] == N
    assert fa.equations(arm("joint").robot).F[1] == sp.Symbol("tau_1")
