"""Convergence studies with more shapes and with finer steps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.analysis.convergence import transfer_coordinates, with_more_shapes

TORQUE = {"upper": fa.bang_bang(0.02, (0.2, 0.4)), "fore": fa.bang_bang(0.005, (0.2, 0.4))}


def arm(basis: object = "modes", count: int = 2) -> fa.Robot:
    shapes = fa.Flexible(bend_y=count, basis=basis)
    names = ("upper", "fore")
    return fa.library.two_link_arm(damping=1e-3).with_({f"links.{name}.flexible": shapes for name in names})


@pytest.fixture(scope="module")
def found() -> fa.Convergence:
    return fa.convergence(arm(), 0.6, torque=TORQUE, q0={"fore.q": 0.5}, more=2, rtol=1e-6, native=False)


def test_differences_are_those_of_the_runs(found):
    apart = np.linalg.norm(found.run.array("tip") - found.finer.array("tip"), axis=1).max()
    assert found["tip path"].shapes == pytest.approx(apart)
    assert found["tip path"].shapes > 10 * found["tip path"].steps > 0
    peak = np.linalg.norm(found.run.array("deflection")[:, 1, 1:], axis=1).max()
    assert found["peak deflection of fore"].value == pytest.approx(peak)
    frequencies = [fa.modes(robot, {"fore.q": 0.5}, joints="locked").frequencies[0] for robot in (arm(), arm(count=4))]
    assert found["frequency 1"].value == pytest.approx(frequencies[0])
    assert found["frequency 1"].shapes == pytest.approx(frequencies[0] - frequencies[1], rel=1e-6)
    assert found["frequency 1"].steps is None


def test_print_shows_a_table(found):
    head, columns, *rows, note = str(found).splitlines()
    assert head == "two-link flexible arm, 0.6 s; shapes upper: bend_y 2; fore: bend_y 2"
    assert columns.split() == ["quantity", "value", "2", "more", "finer", "steps"]
    names = [
        "tip path",
        "peak deflection of upper",
        "peak deflection of fore",
        *(f"frequency {k}" for k in (1, 2, 3, 4)),
    ]
    assert [row[:34].strip() for row in rows] == names
    assert all(row.split()[-1] in ("m", "Hz") for row in rows)
    assert note.endswith("frequencies: joints locked")
    with pytest.raises(KeyError, match="there is no quantity 'speed'"):
        found["speed"]


def test_more_shapes_differ_less():
    few, many = (
        fa.convergence(arm(count=count), 0.3, torque=TORQUE, more=1, native=False)["frequency 2"] for count in (2, 4)
    )
    assert many.shapes < 0.1 * few.shapes


def test_steps_of_a_given_size_are_halved():
    found = fa.convergence(arm(), 0.1, torque=TORQUE, more=1, dt=1e-3, native=False)
    assert found.tighter.options["dt"] == 5e-4


def test_numbers_left_open_are_picked_first():
    robot = arm().with_({"links.fore.flexible": fa.Flexible(), "links.upper.flexible": fa.Flexible()})
    assert with_more_shapes(robot, 2).link("fore").flexible.counts == {"bend_y": 5}
    found = fa.convergence(robot, 0.05, torque=TORQUE, more=1, native=False)
    assert "upper: bend_y 4; fore: bend_y 3" in str(found)  # of the hinged fore two and three modes carry a share only


@pytest.mark.parametrize(
    ("basis", "coordinates"),
    [("modes", 4), (fa.Modes(tip_mass=0), 4), ("elements", 8), (fa.Reduced(2), 4), (fa.Reduced(4, 2, "fixed"), 6)],
)
def test_more_of_every_basis(basis, coordinates):
    assert with_more_shapes(arm(basis), 2).link("fore").flexible.coordinates == coordinates


def test_more_shapes_are_of_the_same_model():
    """The model chosen for few modes is kept with more modes."""
    few = arm(count=11)
    assert few.link("fore").stiffening == "exact"
    assert with_more_shapes(few, 2).link("fore").stiffening == "exact"
    assert with_more_shapes(arm("elements"), 2).link("fore").stiffening == "shortening"


@pytest.mark.parametrize(
    ("basis", "count", "message"),
    [
        (fa.Reduced(500), 2, "elements = 502: must be"),
        (fa.Reduced(300, 99), 2, "modes = 101: must be"),
        ("modes", 99, "bend_y = 101: must be at most 100"),
        ("elements", 499, "bend_y = 501: must be"),
    ],
)
def test_too_many_shapes_are_refused(basis, count, message):
    with pytest.raises(ValueError, match=f"more = 2: gives too many shapes of link 'upper'; {message}"):
        with_more_shapes(arm(basis, count), 2)


@pytest.mark.parametrize("basis", ["modes", "elements", fa.Reduced(6, interface="fixed")])
def test_initial_deflections_are_projected(basis):
    robot = arm(basis).with_({"links.fore.joint": fa.FixedPrismatic()} if basis == "modes" else {})
    system = fa.System(robot, native=False)
    finer = fa.System(with_more_shapes(robot, 4), native=False)
    q = 1e-3 * system.sizes * np.random.default_rng(0).uniform(-1, 1, system.nq)
    q[system.index("fore.q")] = 0.3
    other = transfer_coordinates(q, system, finer)
    assert other[finer.index("fore.q")] == 0.3
    assert_allclose(finer.tip(other), system.tip(q), atol=2e-5)


class Memory:
    """Digital controller whose torque decreases with each call."""

    def __init__(self) -> None:
        self.call_count = 0

    def __call__(self, t, q, v):
        self.call_count += 1
        return [0.02 / self.call_count, 0.0]


def test_controllers_have_no_memory_of_other_runs():
    law = Memory()
    options = {"torque": fa.Feedback(law, rate=100), "native": False}
    found = fa.convergence(arm(), 0.1, more=1, **options)
    calls = law.call_count
    alone = fa.simulate(arm(), 0.1, torque=fa.Feedback(Memory(), rate=100), rtol=1e-5, native=False)
    assert_allclose(found.tighter.array("tip"), alone.array("tip"), rtol=1e-12)
    assert calls <= 12


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (lambda t, q, v: [-q["upper.q"], -v["fore.q"]], ""),
        (lambda t, q, v: [-q[0], -0.1 * sum(v[k] for k in range(v.shape[0]))], ""),
        (lambda t, q, v: [-q[0], -v[3]], "reads 'fore.q' by its place.*reads upper.bend_y.3. there.*q\\['fore.q'\\]"),
        (lambda t, q, v: [-q[0], -v[-1]], "reads 'fore.bend_y.2.' by its place"),
        (lambda t, q, v: [-q[0], -0.1 * np.ones(6) @ v], "does not suit a robot with more shapes"),
    ],
)
def test_laws_read_coordinates_by_name(law, message):
    if message:
        with pytest.raises(ValueError, match=f"torque: the law {message}"):
            fa.convergence(arm(), 0.02, torque=law, more=1, native=False)
    else:
        assert fa.convergence(arm(), 0.02, torque=law, more=1, native=False).finer.status == "completed"


def test_refusals():
    with pytest.raises(ValueError, match="no flexible link"):
        fa.convergence(arm().rigid(), 1.0)
    with pytest.raises(ValueError, match="verify: must be left out"):
        fa.convergence(arm(), 1.0, verify=True)
    with pytest.raises(TypeError, match="unexpected keyword"):
        fa.convergence(arm(), 0.01, torques=1)
