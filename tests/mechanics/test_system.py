import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa

DRIVE = fa.Drive(stiffness=100.0, rotor_inertia=0.1)


@pytest.fixture(scope="module")
def system() -> fa.System:
    arm = fa.library.two_link_arm().with_({"links.fore.joint.drive": DRIVE})
    return fa.System(arm, native=False)


def test_coordinates_have_names_in_the_order_of_the_links(system):
    assert system.names == (
        "upper.q",
        "upper.bend_y[1]",
        "upper.bend_y[2]",
        "upper.bend_y[3]",
        "fore.q",
        "fore.motor",
        "fore.bend_y[1]",
        "fore.bend_y[2]",
        "fore.bend_y[3]",
    )
    assert system.index("fore.motor") == 5
    assert system.inputs == ("upper", "fore")
    assert (system.nq, system.nu) == (9, 2)
    assert_allclose(system.input_matrix[[0, 5], [0, 1]], 1)
    assert system.input_matrix.sum() == 2


def test_vectors_by_name_are_vectors(system):
    q = np.zeros(9)
    q[[4, 1]] = 0.5, 0.01
    by_name = {"fore.q": 0.5, "upper.bend_y[1]": 0.01}
    assert_allclose(system.mass_matrix(by_name), system.mass_matrix(q))
    assert_allclose(system.tip(by_name), system.tip(q))
    assert_allclose(
        system.forward_dynamics(None, None, {"fore": 2.0}), system.forward_dynamics(np.zeros(9), np.zeros(9), [0, 2.0])
    )


def test_forces_are_actuator_torques_or_generalised_forces(system):
    zeros = np.zeros(9)
    by_actuator = system.forward_dynamics(zeros, zeros, [1.0, -2.0])
    general = np.zeros(9)
    general[[0, 5]] = 1.0, -2.0
    assert_allclose(system.forward_dynamics(zeros, zeros, general), by_actuator)
    batch = system.forward_dynamics(zeros, zeros, [[1.0, -2.0], [0.0, 0.0]])
    assert_allclose(batch[0], by_actuator)
    assert_allclose(batch[1], 0)


def test_casadi_functions_are_offered_by_name_for_anyones_optimiser(system):
    import casadi as ca

    inverse = system.casadi["inverse_dynamics"]
    assert inverse.name_in() == ["q", "v", "a"]
    q, v, a = np.random.default_rng(0).normal(size=(3, 9)) * 0.01
    assert_allclose(np.array(inverse(q, v, a))[:, 0], system.inverse_dynamics(q, v, a))
    symbol = ca.MX.sym("q", 9)
    assert ca.jacobian(system.casadi["tip"](symbol), symbol).shape == (3, 9)
    assert set(system.casadi) >= {"forward_dynamics", "mass_matrix", "bias", "coriolis", "gravity", "energy", "tip"}


def test_matrices_handed_out_are_copies(system):
    system.stiffness[:] = 0
    system.input_matrix[:] = 0
    assert system.stiffness.any()
    assert system.input_matrix.any()


NAN = [0, 0, np.nan, 0, 0, 0, 0, 0, 0]
MISTAKES = [
    (
        lambda s: s.mass_matrix(np.zeros(4)),
        r"q has shape \(4,\): its last dimension must be 9, one for each of upper.q",
    ),
    (lambda s: s.mass_matrix(0.3), r"q has shape \(\)"),
    (lambda s: s.mass_matrix({"for.q": 1}), "there is no coordinate 'for.q'; did you mean 'fore.q'?"),
    (lambda s: s.bias(np.zeros(9), NAN), r"v of 'upper.bend_y\[2\]' is nan: must be finite"),
    (lambda s: s.forward_dynamics(None, None, np.zeros(3)), r"must be 2 \(actuators upper, fore\) or 9"),
    (lambda s: s.forward_dynamics(None, None, {"elbow": 1.0}), "no actuator at 'elbow'; there are upper, fore"),
    (lambda s: s.tip(link="uper"), "there is no link 'uper'; did you mean 'upper'?"),
    (lambda s: s.frame("fore", 0.6), "x = 0.6: must lie on link 'fore', between 0 and 0.5 m"),
    (lambda s: s.casadi["mass_matix"], "there is no function 'mass_matix'; did you mean 'mass_matrix'?"),
]


@pytest.mark.parametrize(("call", "sentence"), MISTAKES)
def test_wrong_input_is_a_sentence(system, call, sentence):
    with pytest.raises((ValueError, KeyError), match=sentence):
        call(system)


def test_linearization_is_the_derivative_of_the_inverse_dynamics():
    arm = fa.library.rrr_arm(elastic_joints=True).with_(gravity=(0, 0, -9.81))
    arm = arm.with_({f"links.{name}.joint.coulomb": 5.0 for name in ("column", "upper", "fore")})
    system = fa.System(arm, native=False)
    rng = np.random.default_rng(3)
    q, v, a = rng.normal(size=(3, system.nq)) * 0.01
    here = system.linearization(q, v, a)
    step, unit = 1e-5, np.eye(system.nq)

    def slope(shift):
        ends = [system.inverse_dynamics(*(x + s * step * d for x, d in zip((q, v, a), shift))) for s in (1, -1)]
        return (ends[0] - ends[1]).T / (2 * step)

    for found, expected in (
        (here.K, slope((unit, 0, 0))),
        (here.G + here.D, slope((0, unit, 0))),
        (here.M, slope((0, 0, unit))),
    ):
        assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())
    assert_allclose(system.gravity_stiffness(q), system.linearization(q).K - system.stiffness, atol=1e-7)
