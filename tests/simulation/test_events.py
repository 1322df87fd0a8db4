"""What ends a run, and where exactly: each bound from both sides."""

from math import pi

import pytest

import flexarm as fa

RAIL = fa.Link("rail", 1.0, fa.Weld(), mass=1.0)


def slide(**fields):
    return fa.Robot(links=[RAIL, fa.Link("cart", 0.1, fa.SlidingPrismatic(**fields), mass=2.0)])


def run(robot, duration, **options):
    return fa.simulate(robot, duration, **{"method": "rk4", "dt": 1e-2, "native": False, **options})


def ended(robot, duration, **options):
    with pytest.warns(fa.ValidityWarning, match="the run ended early"):
        return run(robot, duration, **options)


@pytest.mark.filterwarnings("error")
def test_a_motion_that_ends_at_a_limit_does_not_pass_it():
    there = run(slide(limits=(0.0, 0.8)), 1.0, motion={"cart": fa.cycloid(0.1, 0.8, 0.5)})
    assert there.reason == "completed"


def test_a_motion_that_passes_a_limit_by_a_millionth_is_noticed():
    beyond = ended(slide(limits=(0.0, 0.8)), 1.0, motion={"cart": fa.cycloid(0.1, 0.8 + 1e-6, 0.5)})
    assert beyond.reason.startswith("'cart.q' reached its upper limit 0.8 m at t = 0.4")


def test_a_motion_that_turns_back_on_a_node_beyond_a_limit_ends_at_the_limit():
    """Where rounding puts the turn on the node itself."""
    bar = fa.Robot(links=[fa.Link("a", 1.0, fa.Revolute("z", limits=(-0.5, 0.5)), mass=3.0)])
    for amplitude in (2.01, 2.04, 2.1):  # the joint comes to rest at amplitude / 4, when the torque ends
        push = {"a": fa.bang_bang(amplitude, (0.5, 1.0))}
        with pytest.warns(fa.ValidityWarning, match="the run ended early"):
            found = fa.simulate(bar, 2.0, torque=push, native=False)
        time = 1 - (1 - 2 / amplitude) ** 0.5 / 2**0.5
        assert found.reason.startswith("'a.q' reached its upper limit 0.5 rad")
        assert float(found.time[-1]) == pytest.approx(time, abs=1e-5)


@pytest.mark.parametrize(("start", "speed", "end"), [(0.6, 1.0, 1.05), (0.4, -1.0, -0.05)])
def test_a_slide_that_is_deeper_in_its_stop_than_a_twentieth_of_the_link_has_left_it(start, speed, end):
    weak = slide(stop=fa.Stop(1e-3))
    left = ended(weak, 1.0, q0={"cart.q": start}, v0={"cart.q": speed}, sample=0.01)
    assert left.reason.startswith("'cart.q' overran its stop and left its link at t = 0.4")
    assert float(left["cart.q"][-1]) == pytest.approx(end, abs=0.011)  # a step of 0.01 m


def test_the_first_of_several_conditions_ends_the_run():
    def late(t, q, v):
        return 0.034 - t

    def early(t, q, v):
        return 0.0213 - t

    for stop in ([late, early], [early, late]):
        stopped = ended(slide(), 1.0, events=stop)
        assert stopped.reason == "'early' reached zero at t = 0.0213 s"
        assert float(stopped.time[-1]) == pytest.approx(0.0213)


@pytest.mark.parametrize(("start", "speed"), [(0.2, 1.0), (0.8, -1.0)])
def test_a_rider_meets_the_joint_of_its_carrier_from_either_side(start, speed):
    shapes = {
        "section": fa.Section.rectangle(0.02, 0.02),
        "material": fa.Material(7e10, 2700.0),
        "flexible": fa.Flexible(bend_y=1),
    }
    carrier = fa.Link("tube", 1.0, fa.FixedPrismatic(), **shapes)
    robot = fa.Robot(links=[carrier, fa.Link("cart", 0.1, fa.SlidingPrismatic(), mass=0.1)])
    motion = {"tube": 0.5, "cart": lambda t: start + speed * t}
    met = ended(robot, 0.5, motion=motion, dt=5e-3)
    assert met.reason.startswith("'cart.q' met the joint of link 'tube' at t = 0.3")
    assert float(met["cart.q"][-1]) == pytest.approx(0.5, abs=1e-6)


def test_a_link_that_bends_by_ten_times_its_length_has_diverged():
    bar = fa.Link(
        "bar", 1.0, section=fa.Section.circle(0.02), material=fa.Material(7e10, 2700.0), flexible=fa.Flexible(bend_y=1)
    )
    diverged = ended(fa.Robot(links=[bar]), 5.0, torque={"bar": 1.0}, dt=0.05)
    assert "diverged at t = " in diverged.reason
    assert "'bar.bend_y[1]' bends its link beyond reason" in diverged.reason
    assert float(abs(diverged["bar.bend_y[1]"]).max()) < 10


@pytest.mark.parametrize(("pace", "time"), [(-1.0, 0.7), (1.0, 0.3)])
def test_a_link_slides_off_its_support_over_either_end(pace, time):
    links = [
        fa.Link("x", 1.0, fa.SlidingPrismatic(angle=pi / 2), offset=(0, -0.5, 0), mass=1.0),
        fa.Link("y", 0.1, fa.SlidingPrismatic(angle=-pi / 2), mass=1.0),
        fa.Link("bar", 1.0, mass=2.0, at=0.0),
    ]
    robot = fa.Robot(links=links, constraints=[fa.PointSupport("bar", (1.3, 0, 0), name="roll")])
    off = ended(robot, 1.0, q0={"x.q": 1.0, "y.q": 0.5}, motion={"x": lambda t: 1.0 + pace * t})
    assert off.reason.startswith("link 'bar' slid off its support 'roll' at t = ")
    assert float(off.time[-1]) == pytest.approx(time, abs=1e-6)


def test_a_condition_that_is_met_within_a_long_step_is_seen():
    """Thrown freely, with steps of a tenth of a second: it is beyond 0.7 m from t = 0.9 s on, for 0.02 s."""
    cart = fa.Robot(links=[fa.Link("cart", 1.0, fa.SlidingPrismatic(limits=(0.0, 2.0)), mass=1.0)])
    top = 0.7 + 0.5 * 0.01**2

    def below(t, q, v):
        return 0.7 - q[0]

    start = {"q0": {"cart.q": top - 0.5 * 0.91**2}, "v0": {"cart.q": 0.91}, "torque": {"cart": -1.0}}
    for method, dt in (("esdirk", 0.07), ("rk4", 0.07)):
        stopped = ended(cart, 1.5, events=below, method=method, dt=dt, **start)
        assert float(stopped.time[-1]) == pytest.approx(0.9, abs=1e-6)
