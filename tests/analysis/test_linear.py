"""Linear models with names: against differences of the robot itself, and against exact theory of a beam on a hub."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import flexarm as fa
from flexarm.dynamics.constraints.initial_projection import Assembly
from tests.helpers import unit_link
from tests.oracles import beam_on_hub
from tests.sliders import pair

HUB = 0.1  # kg m^2


def beam_on_a_hub(count, basis="modes", **more):
    flexible = fa.Flexible(bend_y=count, basis=basis, stiffening="none")
    hub = fa.PointMass(0.0, inertia=(0, 0, HUB))
    link = unit_link("beam", joint=fa.Revolute("z"), flexible=flexible, hub=hub, **more)
    return fa.Robot(links=[link])


def frequencies(values, count):
    """Return the first of the conjugate pairs on the imaginary axis."""
    found = np.sort(values.imag[values.imag > 1e-3])
    return found[:count]


@pytest.mark.parametrize(("count", "basis"), [(20, "modes"), (24, fa.Splines(5))])
def test_poles_and_zeros_of_a_beam_on_a_hub(count, basis):
    lin = fa.linearize(beam_on_a_hub(count, basis), inputs=["beam"], outputs=["beam.q", "tip.y"])
    poles, clamped = beam_on_hub.poles(HUB), beam_on_hub.collocated_zeros()
    assert frequencies(lin.poles, 5) == pytest.approx(poles, rel=1e-6)
    collocated = lin["beam.q", "beam"].zeros
    assert frequencies(collocated, 5) == pytest.approx(clamped, rel=1e-6)
    assert np.abs(collocated.real).max() < 1e-4
    both = np.sort(np.concatenate([poles, clamped]))
    assert np.array_equal(both[0::2], clamped)  # they interlace, a zero first, since a pole is at rest


def real_zeros(values):
    """Return the zeros in the right and in the left half plane, sorted by magnitude."""
    real = values.real[np.abs(values.imag) < 1e-6 * np.abs(values)]
    return np.sort(real[real > 0]), np.sort(-real[real < 0])


def test_a_tip_has_zeros_in_the_right_half_plane():
    """The first five are accurate to 1e-6, though terms of the tip's response cancel to exp(-15)."""
    lin = fa.linearize(beam_on_a_hub(24, fa.Splines(5)), inputs=["beam"], outputs=["beam.q", "tip.y"])
    exact = beam_on_hub.tip_zeros()
    right, left = real_zeros(lin["tip.y", "beam"].zeros)
    assert right[:5] == pytest.approx(exact, rel=1e-6)
    assert left[:5] == pytest.approx(exact, rel=1e-6)
    assert len(lin["tip.y", "beam"].zeros) == len(lin.states) - 2


def test_zeros_are_those_of_the_model_as_it_is():
    """The equations of second order are not used if the matrices were replaced."""
    lin = fa.linearize(beam_on_a_hub(3), inputs=["beam"], outputs=["tip.y"])
    A = np.array(lin.A)
    A[4:, :4] *= 4.0
    faster = replace(lin, A=A).zeros
    for each in lin.zeros:
        assert np.abs(faster - 2 * each).min() < 1e-6 * abs(each)


@pytest.mark.parametrize("damping", [0.0, 0.05])
def test_zeros_of_displacements_are_those_of_the_general_way(monkeypatch, damping):
    flexible = {"links.beam.flexible.damping": fa.Damping(ratio=damping)} if damping else {}
    lin = fa.linearize(beam_on_a_hub(4).with_(flexible), inputs=["beam", "tip.fy"], outputs=["beam(0.5).y", "beam.q"])
    for part in (lin, lin["beam(0.5).y", "beam"], lin["beam.q", "tip.fy"]):
        found = part.zeros
        with monkeypatch.context() as patch:
            patch.setattr("flexarm.analysis.transfer._second_order", lambda *_: None)
            expected = part.zeros
        assert len(found) == len(expected)
        for each in expected:
            assert np.abs(found - each).min() < 1e-6 * abs(each)


@pytest.fixture(scope="module")
def arm():
    return fa.System(fa.library.two_link_arm().with_({"gravity": (0, -9.81, 0)}), native=False)


OUTPUTS = ["upper.q", "fore.q'", "fore.q''", "tip.x", "tip.y'", "tip.y''", "fore(0.2).x''", "deflection.fore.y"]
OUTPUTS += ["upper.strain(0.1)", "upper.moment(0.1)", "upper.shear_y(0.2)", "reaction.upper.fx", "reaction.fore.fy"]


def test_all_matrices_are_derivatives_of_the_robot(arm):
    q0 = fa.equilibrium(arm, {"upper.q": 0.3, "fore.q": -0.8})
    with pytest.warns(fa.ValidityWarning, match="held there by 2.86 N m at 'upper'"):
        lin = fa.linearize(arm, q0, inputs=["upper", "tip.fy", "fore(0.2).tz"], outputs=OUTPUTS)
    hold, n = arm.inverse_dynamics(q0, None, None), arm.nq
    half = next(iter(arm.robot.link("upper").section.extents().values())) / 2

    def rates(x, u):
        q, v = x[:n], x[n:]
        tip, inside = (arm.jacobian("fore", at, q, axes="world") for at in (None, 0.2))
        tau = hold + arm.input_matrix[:, 0] * u[0] + tip[4] * u[1] + inside[2] * u[2]
        return np.r_[v, arm.forward_dynamics(q, v, tau)]

    def outputs(x, u):
        q, v = x[:n], x[n:]
        a, h = rates(x, u)[n:], 2e-4

        def moved(at, order):
            p = [arm.frame("fore", at, q + v * t + a * t * t / 2)[:3, 3] for t in (-h, 0, h)]
            return (p[1], (p[2] - p[0]) / (2 * h), (p[2] - 2 * p[1] + p[0]) / h**2)[order]

        loads = [("fore", None, np.r_[0, u[1], np.zeros(4)]), ("fore", 0.2, np.r_[np.zeros(5), u[2]])]
        cut = [arm.section_forces("upper", x, q, v, a, loads=loads) for x in (0.1, 0.2)]
        held = [arm.reaction(name, q, v, a, loads=loads) for name in ("upper", "fore")]
        return np.array(
            [
                q[arm.index("upper.q")],
                v[arm.index("fore.q")],
                a[arm.index("fore.q")],
                moved(None, 0)[0],
                moved(None, 1)[1],
                moved(None, 2)[1],
                moved(0.2, 2)[0],
                arm.deflection("fore", q)[1][-1, 1],
                arm.strain("upper", 0.1, q, at=(half, 0)),
                cut[0][5],
                cut[1][1],
                held[0][0],
                held[1][1],
            ]
        )

    x0, u0, h = np.r_[q0, np.zeros(n)], np.zeros(3), 1e-5
    for function, by_x, by_u in ((rates, lin.A, lin.B), (outputs, lin.C, lin.D)):
        on_x = np.array([(function(x0 + e, u0) - function(x0 - e, u0)) / (2 * h) for e in h * np.eye(2 * n)]).T
        on_u = np.array([(function(x0, u0 + e) - function(x0, u0 - e)) / (2 * h) for e in h * np.eye(3)]).T
        for found, expected in ((by_x, on_x), (by_u, on_u)):
            sizes = np.maximum(np.abs(expected).max(axis=1, keepdims=True), 1e-3)
            assert (np.abs(found - expected) / sizes).max() < 2e-4


def test_point_forces_are_reciprocal():
    """Responses are symmetric in the places of force and displacement (reciprocity)."""
    robot = fa.library.two_link_arm()
    places = ["tip", "upper(0.2)"]
    lin = fa.linearize(
        robot, {"fore.q": 0.7}, inputs=[f"{each}.fy" for each in places], outputs=[f"{each}.y" for each in places]
    )
    response = lin.frf(np.array([0.3, 2.0, 7.0]))
    assert response[:, 0, 1] == pytest.approx(response[:, 1, 0], rel=1e-9)


def test_a_driven_joint_is_an_input(arm):
    """The driven joint is a double integrator; other poles are modes with that joint locked."""
    robot = arm.robot.with_({"gravity": (0, 0, 0)})
    lin = fa.linearize(robot, inputs=["upper.q''", "fore"], outputs=["upper.q", "tip.y"])
    locked = fa.modes(robot, joints={"upper": "locked", "fore": "free"})
    expected = np.sort(2 * np.pi * locked.frequencies[locked.frequencies > 1e-3])
    assert frequencies(lin.poles, len(expected)) == pytest.approx(expected, rel=1e-6)
    assert lin.frf(0.5)[0, 0] == pytest.approx(-1 / np.pi**2)  # 1 / s^2
    assert str(lin.inputs[0]) == "upper.q'' (rad/s2)"


def test_on_constraints_no_state_is_redundant():
    """Poles are the modes of the same robot, and reactions of constraints are outputs."""
    links = [unit_link("beam", joint=fa.Revolute("z"), flexible=fa.Flexible(bend_y=3, stiffening="none"))]
    held = fa.OnPlane("beam", point=(1, 0, 0), normal=(0, 1, 0), name="rest")
    robot = fa.Robot(links=links, constraints=[held])
    lin = fa.linearize(robot, inputs=["beam"], outputs=["reaction.rest.normal", "beam.moment(0.5)"])
    assert lin.A.shape == (6, 6)
    expected = 2 * np.pi * fa.modes(robot).frequencies
    assert frequencies(lin.poles, 3) == pytest.approx(expected, rel=1e-6)
    # a slow torque at one end of a beam on two supports: its force at the other, and half of its moment in the middle
    slow = lin.frf(1e-4)[:, 0].real
    assert slow == pytest.approx([-1.0, -0.5], abs=1e-3) or slow == pytest.approx([-1.0, 0.5], abs=1e-3)


def test_at_steady_speed_rotation_stiffens():
    lin = fa.linearize(fa.library.rotating_beam(), v={"beam.q": 6.0}, inputs=["beam.q''"], outputs=["tip.y"])
    found = fa.modes(fa.library.rotating_beam(), v={"beam.q": 6.0})
    expected = 2 * np.pi * np.sort(found.frequencies[found.frequencies > 1e-3])[:2]
    assert frequencies(lin.poles, 2) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"points": ["camera"]}, "points = .*: must be a mapping"),
        ({"inputs": ["uper"]}, "there is no input 'uper'; did you mean 'upper'"),
        ({"outputs": ["tip.w"]}, "there is no output 'tip.w'"),
        ({"outputs": ["upper.q'''"]}, "has 3 primes"),
        ({"outputs": ["fore.strain(far)"]}, "in the brackets must stand a distance"),
        ({"outputs": ["fore.strain(9)"]}, "9"),
        ({"outputs": ["fore.torque(0.1)"]}, "there is no output 'fore.torque"),
        ({"inputs": "upper"}, "must be a list of names"),
        ({"inputs": ["upper.q''", "upper"]}, "'upper' moves nothing, since \"upper.q''\" drives its joint"),
        ({"outputs": ["tip.y", "tip.y"]}, "has a name twice"),
        ({"points": {"eye": "fore"}}, "must be \\(link, x\\)"),
    ],
)
def test_wrong_names_are_refused(arm, options, sentence):
    with pytest.raises((KeyError, ValueError, TypeError), match=sentence):
        fa.linearize(arm, **options)


def test_user_points_and_no_warning_in_equilibrium(arm):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lin = fa.linearize(
            fa.library.two_link_arm(), points={"eye": ("fore", 0.2)}, inputs=[], outputs=["eye.y", "fore(0.2).y"]
        )
    assert np.array_equal(lin.C[0], lin.C[1])
    assert lin.held == {"upper": 0.0, "fore": 0.0}


def test_a_closed_loop_that_one_crank_holds():
    """Only the input holds the posture, though every joint could be driven: compare with virtual work."""
    bar, metal = fa.Section.rectangle(0.02, 0.02), fa.Material(7e10, 2700)
    links = [fa.Link("crank", 0.2, section=bar, material=metal), fa.Link("coupler", 0.5, section=bar, material=metal)]
    links.append(fa.Link("rocker", 0.4, fa.Revolute("z"), bar, metal, parent="ground", offset=(0.5, 0, 0)))
    robot = fa.Robot(links=links, constraints=[fa.Loop("coupler", "rocker")], gravity=(0, -9.81, 0))
    system, start = fa.System(robot, native=False), {"crank.q": 1.0, "coupler.q": -0.6, "rocker.q": 1.4}
    with pytest.warns(fa.ValidityWarning, match="held there by 0.5195 N m at 'crank'"):
        lin = fa.linearize(system, start, inputs=["crank"], outputs=["crank.q"])

    def weight(crank):
        q = Assembly(system, [0]).posture(np.r_[crank, [lin.at[name] for name in system.names[1:]]])
        J = system.constraint_jacobian(q)
        way = np.r_[1, -np.linalg.solve(J[:, 1:], J[:, 0])]
        return way @ system.gravity(q), way @ system.mass_matrix(q) @ way

    here, step = lin.at["crank.q"], 1e-5
    slope = (weight(here + step)[0] - weight(here - step)[0]) / (2 * step)
    assert lin.A[1, 0] == pytest.approx(-slope / weight(here)[1], rel=1e-6)
    assert lin.held["crank"] == pytest.approx(weight(here)[0], rel=1e-9)


def test_a_model_stores_its_operating_point_and_speeds():
    arm = fa.library.two_link_arm()
    q, v = {"upper.q": 0.3, "fore.q": 0.5, "fore.bend_y[1]": 0.01}, {"upper.q": 2.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ValidityWarning)
        lin = fa.linearize(
            arm, q, v, inputs=["upper"], outputs=["tip.y", "tip.x'", "fore.strain(0.1)", "upper.moment(0)"]
        )
    system = fa.System(arm, native=False)
    tip = system.tip(q)
    J = system.jacobian("fore", None, q, axes="world")[3:]
    forces = system.section_forces("upper", 0.0, q, v, None)
    assert lin.speeds == {"upper.q": 2.0}
    assert lin.outputs_at["tip.y"] == pytest.approx(tip[1])
    assert lin.outputs_at["tip.x'"] == pytest.approx((J @ system.vector(v))[0])
    assert lin.outputs_at["fore.strain(0.1)"] == pytest.approx(float(system.strain("fore", 0.1, q, at=(0.0025, 0.0))))
    assert lin.outputs_at["upper.moment(0)"] == pytest.approx(float(forces[5]))
    assert lin.reduce(4).outputs_at == lin.outputs_at == lin.discrete(0.01).outputs_at


def test_strain_is_an_output_where_another_link_slides_through_its_joint():
    robot = pair("R", "Pb")
    lin = fa.linearize(robot, {"b.q": 0.5}, inputs=["a"], outputs=["a.strain(0.1)"])
    system = fa.System(robot, native=False)
    rates = [float(system.strain("a", 0.1, {"b.q": 0.5, name: 1.0})) for name in ("a.bend_y[1]", "a.bend_y[2]")]
    places = [system.index(name) for name in ("a.bend_y[1]", "a.bend_y[2]")]
    assert lin.C[0, places] == pytest.approx(rates, rel=1e-9)
    assert np.count_nonzero(lin.C) == 2
    law = fa.Feedback(lambda t, x: {"a": -x["a.strain(0.1)"]})
    run = fa.simulate(robot, 0.01, torque=law, q0={"b.q": 0.5})
    assert run["torque.a"].values == pytest.approx(-run["a.strain(0.1)"].values, abs=1e-9)


def test_rounding_errors_of_a_closed_loop_are_no_holding_forces():
    """Closing the loop leaves forces of 3e-8 N m, of a linkage that rests in any posture."""
    rod = {"section": fa.Section.rectangle(0.006, 0.02), "material": fa.Material(E=7e10, rho=2700.0, damping=1e-3)}
    links = [
        fa.Link("crank", 0.2, **rod),
        fa.Link("coupler", 0.7, **rod, flexible=fa.Flexible(bend_y=3)),
        fa.Link("rocker", 0.5, **rod, parent="ground", offset=(0.7, 0, 0)),
    ]
    linkage = fa.Robot(links=links, constraints=[fa.Loop("coupler", "rocker")])
    start = {"coupler.q": 0.7954, "rocker.q": 1.5908}
    with warnings.catch_warnings():
        warnings.simplefilter("error", fa.ValidityWarning)
        fa.linearize(linkage, start)
    with pytest.warns(fa.ValidityWarning, match="the posture is no equilibrium"):
        fa.linearize(linkage.with_({"gravity": (0, -1e-4, 0)}), start)
