"""The study of My et al.: robots with revolute, sliding and fixed prismatic joints."""

from functools import cache
from math import cos, cosh, pi, sin, sinh

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

import flexarm as fa
from flexarm_papers import my
from flexarm_papers.progress import Steps

NAMES = ("C_PaR", "C_RPb", "experiment")


# --- the appendix ---


def test_straight_robots_are_where_the_rigid_ones_are():
    assert my.apart_when_straight() < 1e-12


def test_one_row_of_the_appendix_is_misprinted():
    computed, printed, mended = my.end_of_rpa()
    assert mended == pytest.approx(computed, abs=1e-12)
    assert abs(printed - computed) > 0.05


# --- robots ---


@pytest.mark.parametrize(
    ("name", "area", "second"),
    [("C_PaR", 1.2e-4, 9e-11), ("C_RPb", 4.5e-5, 8.44e-12), ("experiment", 2e-5, 1.667e-12)],
)
def test_sections_have_the_printed_properties(name, area, second):
    found = my.SECTIONS[name].at(0.0)
    assert_allclose((found.A, found.I_z), (area, second), rtol=1e-3)


@pytest.mark.parametrize(("robot", "length", "payload"), [(my.c_par(), 0.8, 0.1), (my.experiment(), 0.3, 0.02)])
def test_three_elements_know_the_first_frequency_of_a_clamped_link_with_its_payload(robot, length, payload):
    link = robot.links[1]
    section, mass = link.section.at(0.0), link.beam_mass

    def characteristic(b):
        return 1 + cos(b) * cosh(b) + payload / mass * b * (cos(b) * sinh(b) - sin(b) * cosh(b))

    beta = brentq(characteristic, 0.5, 1.87510407)
    exact = beta**2 * np.sqrt(2e10 * section.I_z / (mass * length**3)) / (2 * pi)
    assert fa.modes(robot, joints="locked").frequencies[0] == pytest.approx(exact, rel=1e-3)


# --- rigid robots in closed form ---


def pieces(rates, start, duration):
    """The solution of rates(t, y, sign), integrated from switch to switch of the inputs."""
    solutions, begin, y = [], 0.0, np.array(start)
    for end, sign in ((my.INPUTS_END / 2, 1.0), (my.INPUTS_END, -1.0), (duration, 0.0)):
        found = solve_ivp(
            lambda t, y, sign=sign: rates(y, sign), (begin, end), y, rtol=1e-10, atol=1e-12, dense_output=True
        )
        solutions.append((begin, found.sol))
        begin, y = end, found.y[:, -1]
    return lambda t: next(sol for begin, sol in reversed(solutions) if t >= begin)(t)


def rigid_pa_r(name, link1, link2, payload):
    """d, theta of a slide that carries a rod: M d'' - S (cos theta theta')' = F, J theta'' - S cos theta d'' = T."""
    m, L = link2.beam_mass, link2.length
    M, S, J = link1.mass + m + payload, m * L / 2 + payload * L, m * L**2 / 3 + payload * L**2
    F, T = my.INPUTS[name]

    def rates(y, sign):
        _, theta, speed, spin = y
        matrix = np.array([[M, -S * cos(theta)], [-S * cos(theta), J]])
        return [speed, spin, *np.linalg.solve(matrix, [sign * F - S * sin(theta) * spin**2, sign * T])]

    return pieces(rates, [0.0, my.STARTS[name], 0.0, 0.0], my.DURATIONS[name])


def rigid_r_pb(name, link1, link2, payload):
    """theta, d of a rod in a guide on a turning bar: (J(d) theta')' = T, m d'' = F + J'(d) theta'^2 / 2."""
    density, L, l1 = link2.beam_mass / link2.length, link2.length, link1.length
    mass = link2.beam_mass + payload
    T, F = my.INPUTS[name]

    def rates(y, sign):
        _, d, spin, speed = y
        r = l1 + d
        J = link1.mass * l1**2 / 3 + density * (r**3 - (r - L) ** 3) / 3 + payload * r**2
        slope = density * (r**2 - (r - L) ** 2) + 2 * payload * r
        return [spin, speed, (sign * T - slope * speed * spin) / J, (sign * F + slope * spin**2 / 2) / mass]

    return pieces(rates, [0.0, my.STARTS[name], 0.0, 0.0], my.DURATIONS[name])


@pytest.mark.parametrize("name", NAMES)
def test_rigid_twins_move_as_their_closed_forms(name):
    run = my.rigid_run(name)
    link1, link2 = run.robot.links
    closed = (rigid_r_pb if name == "C_RPb" else rigid_pa_r)(name, link1, link2, link2.payload.mass)
    times = run.time.values[::100]
    expected = np.array([closed(t)[:2] for t in times])
    found = np.stack([run["link1.q"].values, run["link2.q"].values], axis=1)[::100]
    assert_allclose(found, expected, atol=3e-6)


# --- flexible robots ---


@pytest.mark.parametrize("name", NAMES)
def test_flexible_robots_bend_visibly_but_little(name):
    run = my.flexible_run(name)
    assert run.reason == "completed"
    assert 0.02 < my.largest_bend(run) < 0.1


@pytest.mark.parametrize("name", NAMES)
def test_energy_is_balanced(name):
    for run in (my.flexible_run(name), my.rigid_run(name)):
        energy = run.energy
        assert float(np.abs(energy["balance"]).max()) < 1e-5 * float(energy["work"].max())


@pytest.mark.parametrize("name", NAMES)
def test_momentum_is_the_impulse_of_the_first_input(name):
    run = my.flexible_run(name)
    profile = my.inputs(name)["link1"]
    rise = my.INPUTS[name][0] * my.INPUTS_END / 2
    found = my.momentum(run)
    for t in (0.1, 0.3, 0.45):
        k = int(np.abs(run.time.values - t).argmin())
        impulse, _ = quad(profile, 0, run.time.values[k], points=[my.INPUTS_END / 2])
        assert found[k] == pytest.approx(impulse, abs=1e-4 * rise)
    assert my.momentum_left(run) < 1e-5


def test_displacement_and_slope_are_the_coordinates_of_the_last_node():
    run = my.flexible_run("C_PaR")
    assert_allclose(my.flexural(run), run["link2.bend_y[5]"].values, atol=1e-12)
    assert_allclose(my.slope(run), run["link2.bend_y[6]"].values, atol=1e-9)


def test_slope_of_the_sliding_link_belongs_to_its_displacement():
    """Near a static shape of a loaded tip: slope = 3/2 w / d, more or less."""
    run = my.flexible_run("C_RPb")
    late = run.time.values > 10
    ratio = my.slope(run)[late].max() / (my.flexural(run)[late] / run["link2.q"].values[late]).max()
    assert ratio == pytest.approx(1.5, rel=0.1)


def test_the_second_node_of_the_experiment_is_a_third_along_the_link():
    system, q = fa.System(my.experiment(), native=False), {"link2.bend_y[1]": 0.01}
    x, bend = system.deflection("link2", q, points=4)
    assert x[1] == pytest.approx(0.1)
    assert bend[1, 1] == pytest.approx(0.01)


@pytest.mark.parametrize(("name", "least", "most"), [("C_PaR", 0.005, 0.05), ("C_RPb", 0.005, 0.3)])
def test_flexible_robots_deviate_from_their_rigid_twins(name, least, most):
    assert least < np.abs(my.deviation(name)).max() < most


@cache
def short(flexible):
    return my.moved("C_PaR", my.c_par(flexible), duration=1.0)


def apart(one, other):
    return float(np.abs(one.tip - other.tip).max())


def test_tips_converge_with_elements():
    fine = short(my.elements(10))
    errors = [apart(short(my.elements(count)), fine) for count in (1, 2, 3, 5)]
    assert (np.diff(errors) < 0).all()
    assert errors[2] < 2e-4
    assert np.log(errors[1] / errors[3]) / np.log(5 / 2) > 3  # order 4 of cubic elements, more or less


def test_elements_agree_with_modes():
    assert apart(short(my.modes(4, "none")), short(my.elements(10))) < 5e-5


def test_what_the_model_leaves_out_is_more_than_what_elements_do():
    fine = short(my.elements(10))
    assert apart(short(my.modes(4, "exact")), fine) > 5 * apart(short(my.elements(3)), fine)


# --- contact ---

EARLY = 5.0  # s


@cache
def early(count=5, contact="continuous"):
    return my.moved("C_RPb", my.c_rpb(count, contact), duration=EARLY, rtol=1e-4)


def last(run):
    return float(run["link2.q"].interp(time=EARLY))


def test_elements_of_the_sliding_link_converge():
    assert apart(early(), early(8)) < 1e-4


def test_the_link_stays_in_its_guide():
    d = my.flexible_run("C_RPb")["link2.q"].values
    assert d.min() >= my.STARTS["C_RPb"] - 1e-9
    assert d.max() < 0.79


def test_a_bent_link_pushes_itself_out_held_at_any_point_only():
    """Front and rear are beams of d and L - d: U goes with d^-3 and (L - d)^-3. A node in the guide does not push."""
    system = fa.System(my.c_rpb(), native=False)
    front = {"link2.q": 0.3, "link2.bend_y[9]": 0.01}
    rear = {"link2.q": 0.3, "link2.rear.bend_y[9]": 0.01}
    assert -system.spring_forces(front)[1] == pytest.approx(3 * system.energy(front).elastic / 0.3, rel=1e-9)
    assert -system.spring_forces(rear)[1] == pytest.approx(-3 * system.energy(rear).elastic / 0.5, rel=1e-9)
    nodal = fa.System(my.c_rpb(contact="nodal"), native=False)
    bent = {"link2.q": 0.3, "link2.bend_y[11]": 0.01}
    assert nodal.energy(bent).elastic > 0
    assert nodal.spring_forces(bent)[1] == 0


def test_the_push_moves_the_link_out_held_at_any_point_only():
    rigid = last(my.rigid_run("C_RPb"))
    assert last(early()) > rigid + 0.02
    for count in (5, 10):
        assert last(early(count, "nodal")) < rigid


def test_shortening_is_not_what_pushes():
    shorter = my.c_rpb().with_({"links.link2.flexible.stiffening": "shortening"})
    assert last(my.moved("C_RPb", shorter, duration=EARLY, rtol=1e-4)) == pytest.approx(last(early()), abs=2e-3)


def test_driven_from_node_to_node_tends_to_held_at_any_point():
    continuous, coarse, fine = my.slid(5, "continuous"), my.slid(5, "nodal"), my.slid(20, "nodal")
    bend = my.flexural(continuous)
    errors = [np.abs(my.flexural(run) - bend).max() / np.abs(bend).max() for run in (coarse, fine)]
    assert errors[0] > 0.5
    assert errors[1] < errors[0] / 3
    holds = [my.at_rest_again(run, run.torque.sel(input="link2").values) for run in (continuous, coarse, fine)]
    assert holds[0] < 0 < min(holds[1:])
    inertia = holds[0] + my.at_rest_again(continuous, my.push(continuous))  # what is left without the push
    assert 0 < inertia < 2 * max(holds[1:])


# --- the page ---


@pytest.mark.slow
def test_the_page(tmp_path):
    words = my.STUDY.run(tmp_path, Steps(len(my.STUDY.sections), wanted=False)).read_text()
    pictures = {path.name for path in (tmp_path / "my").glob("*.png")}
    assert {f"figure_{k}.png" for k in (4, 5, 6, 9, 14)} | {"figures_7_8.png", "figures_12_13.png"} < pictures
    disagreeing = [line for line in words.splitlines() if line.endswith("**no** |")]
    assert len(disagreeing) == 3
    assert [word in line for word, line in zip(("RPa", "inertia", "element"), disagreeing, strict=True)] == [True] * 3
