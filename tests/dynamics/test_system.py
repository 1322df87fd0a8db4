import pickle
import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.dynamics import model_structure as structure_module
from flexarm.dynamics import system_base

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
    (lambda s: s.jacobian("fore", axes="wrld"), "axes = 'wrld': must be 'own' or 'world'"),
    (lambda s: s.energy(None)["kintic"], "there is no energy 'kintic'; did you mean 'kinetic'?"),
    (lambda s: fa.System(s.robot, native="yes"), "native = 'yes': must be 'auto', True or False"),
    (lambda s: s.vector(NAN), r"q of 'upper.bend_y\[2\]' is nan: must be finite"),
    (lambda s: s.vector(NAN, "shape"), r"shape of 'upper.bend_y\[2\]' is nan: must be finite"),
    (lambda s: s.mass_matrix(np.zeros(9, complex)), "q = .*: must be an array of real numbers, not of complex"),
    (lambda s: s.bias(None, np.zeros(9, bool)), "v = .*: must be an array of real numbers, not of booleans"),
    (lambda s: s.mass_matrix(["1"] * 9), "q = .*: must be an array of real numbers, not of text"),
    (lambda s: s.mass_matrix("straight"), "q = 'straight': must be an array of real numbers, not of text"),
    (lambda s: s.mass_matrix([None] * 9), "q = .*: must be an array of real numbers, not of objects"),
    (lambda s: s.mass_matrix([[0.0], [0.0, 1.0]]), "q = .*: its rows must be equally long"),
    (lambda s: s.mass_matrix({3: 1.0}), "there is no coordinate '3'; there are upper.q"),
    (lambda s: s.mass_matrix({"fore.q": None}), r"q\['fore.q'\] = None: must be a number, not NoneType"),
    (lambda s: s.mass_matrix({"fore.q": 1j}), r"q\['fore.q'\] = 1j: must be a number, not complex"),
    (lambda s: s.mass_matrix({"fore.q": True}), r"q\['fore.q'\] = True: must be a number, not true or false"),
    (lambda s: s.mass_matrix({"fore.q": np.ones(2)}), r"q\['fore.q'\] = array\(.*: must be a number, not ndarray"),
    (lambda s: s.forward_dynamics(None, None, {"fore": "x"}), r"tau\['fore'\] = 'x': must be a number, not text"),
    (lambda s: s.forward_dynamics(None, None, {"fore": np.ones(2)}), r"tau\['fore'\] = .*: must be a number"),
    (lambda s: s.forward_dynamics(None, None, {"fore": np.nan}), r"tau\['fore'\] = nan: must be a finite number"),
    (lambda s: s.forward_dynamics(None, None, {4: 1.0}), "tau: there is no actuator at 4; there are upper, fore"),
    (lambda s: s.forward_dynamics(None, None, ["a", "b"]), "tau = .*: must be an array of real numbers, not of text"),
    (lambda s: s.forward_dynamics(None, np.full(9, 1e200)), "accelerations are not finite: q, v or tau is too large"),
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


def test_a_system_needs_a_robot():
    with pytest.raises(TypeError, match=r"System needs a Robot, but got str: 'a.yaml'; fa.load reads one from a file"):
        fa.System("a.yaml")


def test_coordinates_without_inertia_are_named():
    sentence = "the mass matrix is singular: 'b.q' has no inertia; give its link a mass, a hub or a payload"
    arm = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0), fa.Link("b", 1.0)])
    system = fa.System(arm, native=False)
    with pytest.raises(ValueError, match=sentence):
        system.forward_dynamics(None, None, {"a": 1.0})
    with pytest.raises(ValueError, match=sentence):
        system.forward_dynamics(np.zeros((2, 1, 2)), np.zeros((3, 2)))
    bare = fa.System(fa.Robot(links=[fa.Link("a", 1.0), fa.Link("b", 1.0)]), native=False)
    with pytest.raises(ValueError, match=r"'a.q', 'b.q' have no inertia; give their links a mass"):
        bare.forward_dynamics(None, None)


def test_axes_and_deflections_of_a_batch_are_those_of_its_members(system):
    batch = np.random.default_rng(5).normal(size=(2, 3, 9)) * 0.02
    for link in ("upper", "fore"):
        x, bent = system.deflection(link, batch, points=4)
        axes = system.axis(link, batch, points=4)
        assert x.shape == (4,)
        assert bent.shape == axes.shape == (2, 3, 4, 3)
        for place in np.ndindex(2, 3):
            assert_allclose(bent[place], system.deflection(link, batch[place], points=4)[1], atol=1e-15)
            assert_allclose(axes[place], system.axis(link, batch[place], points=4), atol=1e-15)
            assert_allclose(axes[place][-1], system.tip(batch[place], link), atol=1e-12)


def test_all_matrices_of_a_linearization_have_the_batch_of_any_argument(system):
    here = system.linearization(None, np.zeros((2, 3, 9)))
    assert {matrix.shape for matrix in (here.M, here.K, here.G, here.D)} == {(2, 3, 9, 9)}


def test_numbers_of_a_system_cannot_be_written(system):
    with pytest.raises(ValueError, match="read-only"):
        system.numbers[0] = 1.0


def test_systems_and_modes_pickle(system):
    again = pickle.loads(pickle.dumps(system))
    assert again.native is False
    assert_allclose(again.mass_matrix({"fore.q": 0.4}), system.mass_matrix({"fore.q": 0.4}), rtol=0)
    found = fa.modes(system)
    assert_allclose(pickle.loads(pickle.dumps(found)).frequencies, found.frequencies, rtol=0)


def test_threads_share_what_the_first_of_them_builds(monkeypatch):
    system, expected = (fa.System(fa.library.two_link_arm(), native=False) for _ in range(2))
    monkeypatch.setattr(structure_module, "_structures", OrderedDict())
    _ = system.structure
    monkeypatch.setattr(structure_module, "_structures", OrderedDict())
    built, start = [], threading.Barrier(8)
    recipe = system.parametric._recipes["mass_matrix"]

    def slow_recipe():
        built.append("function")
        time.sleep(0.05)
        return recipe()

    class SlowEvaluator(system_base.Evaluator):
        def __init__(self, *args):
            built.append("evaluator")
            time.sleep(0.05)
            super().__init__(*args)

    monkeypatch.setitem(system.parametric._recipes, "mass_matrix", slow_recipe)
    monkeypatch.setattr(system_base, "Evaluator", SlowEvaluator)

    def compute(angle):
        start.wait()
        return system.mass_matrix({"fore.q": angle})

    angles = np.linspace(0, 1, 8)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(compute, angles))
    assert built == ["function", "evaluator"]
    for angle, M in zip(angles, found):
        assert_allclose(M, expected.mass_matrix({"fore.q": angle}), rtol=0)


def test_a_linearization_by_columns_is_that_of_one_expression(monkeypatch):
    from flexarm.dynamics import system as system_module

    robot = fa.library.two_link_arm(damping=1e-3).with_({"gravity": (0, -9.81, 0)})
    system = fa.System(robot, native=False)
    q, v, a = 0.1 * np.random.default_rng(5).normal(size=(3, 2, 1, system.nq))
    whole = system.linearization(q, v, a[0])
    monkeypatch.setattr(system_module, "MAX_DENSE_COORDINATES", 0)
    columns = system.linearization(q, v, a[0])
    for name in ("M", "K", "G", "D"):
        assert getattr(columns, name).shape == (2, 1, system.nq, system.nq)
        assert_allclose(getattr(columns, name), getattr(whole, name), rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("at", [-2.6e-14, 0.0, 1.0, 1.0 + 1e-12])
@pytest.mark.parametrize("rear", ["none", "rigid", "flexible"])
def test_a_rigid_slide_may_stand_at_its_end_up_to_rounding(rear, at):
    slide = fa.Link("slide", 1.0, fa.FixedPrismatic(rear=rear), mass=1.0, payload=fa.PointMass(1.0))
    system = fa.System(fa.Robot(links=[slide], gravity=(0, -9.81, 0)), native=False)
    assert np.isfinite(system.energy([at], [1.0]).total)
    assert np.isfinite(system.forward_dynamics([at], [1.0])).all()


def test_a_slide_beyond_its_end_is_refused():
    rigid = fa.Link("slide", 1.0, fa.FixedPrismatic(rear="none"), mass=1.0, payload=fa.PointMass(1.0))
    with pytest.raises(ValueError, match=r"q of 'slide.q' is -1e-08: it must lie between 0 and 1 m, since"):
        fa.System(fa.Robot(links=[rigid]), native=False).energy([-1e-8])
