"""Runs in several threads give what they give alone, bit by bit."""

import threading
import time

import numpy as np
import pytest

import flexarm as fa

SOFT = fa.Material(E=7e10, rho=2700.0, damping=1e-3)


def arm(payload: float) -> fa.Robot:
    bar, flexible = fa.Section.rectangle(0.005, 0.005), fa.Flexible(bend_y=2)
    upper = fa.Link("upper", length=1.0, section=bar, material=SOFT, flexible=flexible)
    fore = fa.Link("fore", length=0.5, section=bar, material=SOFT, flexible=flexible, payload=fa.PointMass(payload))
    return fa.Robot(links=[upper, fore])


def four_bar() -> fa.Robot:
    links = [fa.Link(name, length, mass=1.0) for name, length in (("crank", 0.5), ("coupler", 1.0), ("rocker", 0.8))]
    links[2] = fa.Link("rocker", 0.8, mass=1.0, parent="ground", offset=(1.0, 0.0, 0.0))
    return fa.Robot(links=links, constraints=[fa.Loop("coupler", "rocker")])


def job(robots, k, native):
    push = 0.01 + 0.005 * (k % 3)
    torque = {"upper": fa.bang_bang(push, (0.1, 0.2))}
    if k % 3 == 1:
        torque = lambda t, q, v: [push * fa.sine(1, 2)(t) - 0.01 * v[0], -0.01 * v["fore.q"]]  # noqa: E731
    if k % 3 == 2:
        torque = fa.Feedback(lambda t, q, v: [push - 0.01 * v[0], -0.01 * v["fore.q"]], rate=200)
    method = "rk45" if k % 4 == 3 else "generalized-alpha"
    run = fa.simulate(robots[k % len(robots)], 0.3, torque=torque, native=native, method=method, sample=0.01)
    return np.column_stack([run.data["q"].values, run.tip.values, run.energy["kinetic"].values])


@pytest.mark.parametrize("native", [False, True])
def test_many_runs_of_one_and_of_several_robots_at_once(native, tmp_path, monkeypatch):
    monkeypatch.setenv("FLEXARM_CACHE", str(tmp_path))
    robots, count = [arm(0.15), arm(0.2)], 12
    found: list = [None] * count
    go = threading.Barrier(count)

    def work(k):
        go.wait()  # all at once, nothing made before
        found[k] = job(robots, k, native)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for k in range(count):
        np.testing.assert_array_equal(found[k], job(robots, k, native), err_msg=f"run {k}")


@pytest.mark.parametrize("method", ["adams", "bdf"])
def test_integrators_of_sundials_in_threads(method):
    """CasADi's are not safe there: this ended the whole program."""

    def tip(payload):
        return fa.simulate(arm(payload), 0.02, torque={"upper": 0.01}, rtol=1e-2, method=method).array("tip")

    payloads, found = [0.1, 0.2, 0.3, 0.1], {}
    threads = [threading.Thread(target=lambda k=k: found.update({k: tip(payloads[k])})) for k in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for k, payload in enumerate(payloads):
        np.testing.assert_array_equal(found[k], tip(payload))


def test_one_system_in_several_threads():
    system = fa.System(arm(0.1), native=False)
    q = np.random.default_rng(1).uniform(-0.1, 0.1, (6, system.nq))

    def answers(system, x):
        return system.mass_matrix(x), system.forward_dynamics(x, x), system.tip(x)

    alone = [answers(fa.System(system.robot, native=False), x) for x in q]
    found: list = [None] * len(q)

    def work(k):
        found[k] = answers(system, q[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(q))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for expected, got in zip(alone, found, strict=True):
        for one, other in zip(expected, got, strict=True):
            np.testing.assert_array_equal(other, one)


def test_a_thread_that_builds_does_not_wait_for_one_that_wants_to():
    """Nor for the description of another robot, which that one has begun."""
    from flexarm.codegen.library import building

    one, other = (fa.System(fa.Robot(links=[fa.Link("a", length, mass=1.0)]), native=False) for length in (1.0, 2.0))
    done = threading.Event()

    def build():
        with building:
            wanting.start()
            time.sleep(0.1)  # the other waits for us, inside its system
            assert other.structure is not None
            done.set()

    wanting = threading.Thread(target=lambda: one.structure, daemon=True)
    threading.Thread(target=build, daemon=True).start()
    assert done.wait(20)
    wanting.join(20)
    assert one.structure is other.structure
