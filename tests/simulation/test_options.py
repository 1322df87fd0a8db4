"""method="auto"."""

import pytest

import flexarm as fa

STRIP = {"section": fa.Section.rectangle(0.0032, 0.019), "material": fa.Material(E=71e9, rho=2710.0)}


def chosen(robot, duration=1.0, **options):
    return fa.simulate(robot, duration, native=False, **options).statistics["method"]


def clamped(count=3):
    flexible = fa.Flexible(bend_y=count, stiffening="shortening")
    return fa.Robot(links=[fa.Link("arm", 0.9, fa.Weld(), **STRIP, flexible=flexible)])


def test_a_clean_vibration_at_a_small_tolerance_is_followed_by_the_explicit_method():
    assert chosen(clamped(), q0={"arm.bend_y[1]": 0.01}, rtol=1e-6) == "dop853"


def test_modes_that_need_not_be_followed_ask_for_the_implicit_one():
    arm = fa.library.two_link_arm(damping=1e-3)
    assert chosen(arm, torque={"upper": fa.bang_bang(0.02, (0.3, 0.6))}) == "esdirk"


@pytest.mark.parametrize(
    "joint",
    [fa.Revolute("z", coulomb=0.01), fa.Revolute("z", limits=(-1, 1), stop=fa.Stop(1e3))],
    ids=["friction", "stop"],
)
def test_what_is_stiff_only_at_times_asks_for_the_implicit_one(joint):
    pendulum = fa.Robot(links=[fa.Link("rod", 1.0, joint, mass=1.0)], gravity=(0, -9.81, 0))
    assert chosen(pendulum, q0={"rod.q": -1.0}, rtol=1e-8) == "esdirk"


@pytest.mark.parametrize("contact", ["nodal", "element"])
def test_loads_that_jump_from_node_to_node_ask_for_a_method_without_stages(contact):
    mesh = fa.Flexible(bend_y=4, basis="elements", stiffening="none")
    rider = fa.Link("rider", 0.1, fa.SlidingPrismatic(contact=contact), mass=0.1)
    robot = fa.Robot(links=[fa.Link("beam", 0.9, fa.Weld(), **STRIP, flexible=mesh), rider], gravity=(0, -9.81, 0))
    assert chosen(robot, 0.1, motion={"rider": fa.ramp(0.2, 0.3, 0.0, 0.1)}) == "generalized-alpha"


def test_others_than_auto_are_what_they_are():
    for method in ("esdirk", "dop853", "generalized-alpha", "rk45", "bdf"):
        assert chosen(clamped(1), 0.1, q0={"arm.bend_y[1]": 0.01}, method=method) == method
    assert chosen(clamped(1), 0.1, method=fa.GeneralizedAlpha(0.5)) == "generalized-alpha"
    assert chosen(clamped(1), 0.1, radius=0.5) == "generalized-alpha"
    assert chosen(clamped(1), 0.1, dt=0.01) == "generalized-alpha"


def test_both_give_the_same():
    options = {"q0": {"arm.bend_y[1]": 0.01}, "rtol": 1e-6, "native": False}
    first, second = (fa.simulate(clamped(), 1.0, method=method, **options) for method in ("auto", "esdirk"))
    assert first.array("tip")[-1] == pytest.approx(second.array("tip")[-1], abs=1e-6)


def test_the_same_run_is_compared_once(monkeypatch):
    from flexarm.simulation import options as choice

    calls, own = [], choice._compared

    def counted(*given):
        calls.append(given)
        return own(*given)

    monkeypatch.setattr(choice, "_compared", counted)
    assert [chosen(clamped(), 1.01, q0={"arm.bend_y[1]": 0.01}, rtol=1e-6) for _ in range(2)] == ["dop853"] * 2
    assert len(calls) == 1
    chosen(clamped(), 1.01, q0={"arm.bend_y[1]": 0.02}, rtol=1e-6)
    chosen(clamped(), 1.01, q0={"arm.bend_y[1]": 0.01}, rtol=1e-5)
    chosen(clamped(4), 1.01, q0={"arm.bend_y[1]": 0.01}, rtol=1e-6)
    assert len(calls) == 4
