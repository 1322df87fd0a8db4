"""Digital controllers inside the integration loop: the compiled loop and the one in Python do the same."""

import re

import casadi as ca
import numpy as np
import pytest

import flexarm as fa
from flexarm.codegen import sampler
from flexarm.codegen.compiler import find_compiler
from flexarm.simulation.controller_samples import ControllerSamples
from tests.simulation.test_constraints import at, four_bar

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")
ARM = fa.library.two_link_arm(damping=1e-3)
GOALS = {"upper.q": fa.cycloid(0.0, 0.4, 0.5), "fore.q": fa.cycloid(0.0, -0.2, 0.5)}
LINKS = {"upper": GOALS["upper.q"], "fore": GOALS["fore.q"]}


def lqg(rate=500.0, **given):
    lin = fa.linearize(ARM, outputs=["upper.q", "fore.q"]).reduce(8)
    noise = {"upper.q": 1e-3, "fore.q": 1e-3}
    design = fa.lqg(lin, noise, 10.0, {"upper": 1.0, "fore": 1.0}, noise, references=GOALS, rate=rate)
    return design.feedback(**given)


def pid(rate=500.0, **given):
    gains = {"kp": {"upper": 0.05, "fore": 0.01}, "kd": {"upper": 0.05, "fore": 0.01}, "ki": 0.05}
    return fa.pid(ARM, **gains, references=LINKS, rate=rate, **given)


def plain(t, q, v):
    return [-0.05 * (q["upper.q"] - 0.3) - 0.05 * v[0], -0.02 * q[1] - 0.02 * v[1]]


SENSORS = {
    "upper.q": fa.Sensor(resolution=1e-4, noise=1e-5, bias=1e-3, delay=0.004, seed=3),
    "fore.q": fa.Sensor(noise=1e-4),
}
MOTORS = {"upper": fa.Actuator(limit=0.02, lag=0.01), "fore": fa.Actuator(delay=0.004, start=0.001)}
CASES = {
    "lqg": lambda: {"torque": lqg()},
    "lqg with a limit": lambda: {"torque": lqg(limit=0.01), "method": "dop853"},
    "lqg with sensors": lambda: {"torque": lqg(sensors=SENSORS)},
    "lqg with actuators": lambda: {"torque": lqg(actuators=MOTORS)},
    "slow lqg": lambda: {"torque": lqg(rate=50.0)},
    "pid with a limit": lambda: {"torque": pid(limit={"upper": 0.02})},
    "pid with sensors of which rates are differences": lambda: {"torque": pid(sensors=SENSORS)},
    "filters": lambda: {"torque": fa.notch(fa.low_pass(pid(), 40.0), 12.0)},
    "generalized-alpha": lambda: {"torque": pid(), "method": "generalized-alpha"},
    "newmark with a fixed step": lambda: {"torque": lqg(), "method": "newmark", "dt": 7e-4},
    "a load that jumps": lambda: {
        "torque": pid(),
        "loads": [fa.PointLoad("fore", force=[0, fa.bang_bang(0.01, (0.1, 0.2501)), 0])],
    },
    "a load that is called": lambda: {
        "torque": lqg(),
        "loads": [fa.PointLoad("fore", force=[0, lambda t: 0.01 * abs(np.sin(9 * t)), 0])],
    },
    "a law that is called": lambda: {"torque": fa.Feedback(plain, rate=500)},
    "a feedforward": lambda: {"torque": pid(feedforward={"upper": fa.sine(0.01, 3.0)})},
}


def simulated(native, duration=0.7, **given):
    return fa.simulate(ARM, duration, native=native, **{"rtol": 1e-5, "sample": 0.05, **given})


def count_samples(monkeypatch):
    """Note of each run whether its controller was linear, and how many samples its driver took."""
    found = []
    original = ControllerSamples.drop_after

    def note(self, t):
        found.append((self._linear, None if self.sampler is None else int(self.sampler.control.next)))
        return original(self, t)

    monkeypatch.setattr(ControllerSamples, "drop_after", note)
    return found


@needs_compiler
@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
@pytest.mark.parametrize("name", CASES)
def test_runs_take_the_same_steps_in_both(name, monkeypatch):
    found = count_samples(monkeypatch)
    machine, python = (simulated(native, **CASES[name]()) for native in (True, False))
    names = ("steps", "rejected", "computed")
    assert machine.status == python.status == "completed"
    assert [machine.statistics[each] for each in names] == [python.statistics[each] for each in names]
    np.testing.assert_allclose(machine.array("q"), python.array("q"), rtol=0, atol=1e-9)
    np.testing.assert_allclose(machine["torque"].values, python["torque"].values, rtol=0, atol=1e-8)
    rate = CASES[name]()["torque"].rate
    samples = round(0.7 * rate)
    assert found == [(name != "a law that is called", samples), (False, samples)]


@needs_compiler
@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
def test_every_sample_as_a_breakpoint_gives_the_same_digits(monkeypatch):
    monkeypatch.setattr("flexarm.codegen.driver.MAX_CALL_S", 60.0)  # the number of calls does not depend on the machine
    law = {"torque": fa.Feedback(plain, rate=500), "loads": [fa.PointLoad("fore", force=[0, fa.sine(0.01, 4.0), 0])]}
    inside = simulated(True, **law)
    monkeypatch.setattr("flexarm.integrators.step_runner.CompiledStepper.sample_inside", lambda *_: None)
    at_breakpoints = simulated(True, **law)
    assert inside.statistics["steps"] == at_breakpoints.statistics["steps"]
    assert inside.statistics["chunks"] < at_breakpoints.statistics["chunks"] / 10
    np.testing.assert_allclose(inside.array("q"), at_breakpoints.array("q"), rtol=0, atol=1e-13)
    np.testing.assert_allclose(inside["torque"].values, at_breakpoints["torque"].values, rtol=0, atol=1e-13)
    assert inside.at(0.123)["torque"].values == pytest.approx(at_breakpoints.at(0.123)["torque"].values, abs=1e-13)


@needs_compiler
@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("case", ["driven", "closed"])
def test_restarts_with_driven_joints_and_constraints_are_those_at_breakpoints(case, native, monkeypatch):
    robot, given = ARM, {"motion": {"upper": fa.cycloid(0.0, 0.3, 0.2)}, "torque": fa.Feedback(plain, rate=500)}
    if case == "closed":
        robot = four_bar()
        given = {"torque": fa.pd(robot, 2.0, 0.5, {"crank": 1.3}, rate=500), "q0": at(1.0)}
    monkeypatch.setattr("flexarm.codegen.driver.MAX_CALL_S", 60.0)  # the number of calls does not depend on the machine
    runs = [fa.simulate(robot, 0.3, native=native, **given)]
    monkeypatch.setattr("flexarm.integrators.step_runner.CompiledStepper.sample_inside", lambda *_: None)
    runs.append(fa.simulate(robot, 0.3, native=native, **given))
    assert runs[0].status == "completed"
    assert runs[0].statistics["steps"] == runs[1].statistics["steps"]
    assert runs[0].statistics["chunks"] < runs[1].statistics["chunks"] / 3
    for name in ("q", "torque"):
        np.testing.assert_allclose(runs[0].array(name), runs[1].array(name), rtol=0, atol=1e-9)


@needs_compiler
@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
@pytest.mark.parametrize("native", [True, False])
def test_a_verification_replays_the_commands(native):
    run = simulated(native, torque=lqg(), verify=True)
    assert 0 < run.error_estimate < 1e-4
    assert run.statistics["verification_steps"] > run.statistics["steps"]


@needs_compiler
@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
@pytest.mark.parametrize("native", [True, False])
def test_a_run_that_stops_has_commands_up_to_its_end_and_no_law_is_called_after_it(native):
    called = []

    def law(t, q, v):
        called.append(t)
        return [0.02, 0.0]

    stop = lambda t, q, v: 0.0503 - t  # noqa: E731
    run = simulated(native, torque=fa.Feedback(law, rate=500), events=stop, sample=0.01)
    assert run.status == "stopped"
    assert run.array("time")[-1] == pytest.approx(0.0503, abs=1e-6)
    assert called == pytest.approx([k / 500 for k in range(26)])
    own = simulated(native, torque=lqg(), events=stop, sample=0.01)
    assert own.array("time")[-1] == pytest.approx(0.0503, abs=1e-6)
    assert np.isfinite(own["torque"].values).all()


@needs_compiler
@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
@pytest.mark.parametrize("native", [True, False])
def test_no_law_is_called_after_a_joint_came_to_the_end_of_its_travel(native):
    called = []

    def law(t, q, v):
        called.append(t)
        return [1.0]

    rod = fa.Robot(links=[fa.Link("rod", 1.0, fa.Revolute("z", limits=(-1.0, 0.05)), mass=3.0)])
    run = fa.simulate(rod, 1.0, torque=fa.Feedback(law, rate=500), native=native)
    assert run.status == "stopped"
    end = run.array("time")[-1]
    assert end == pytest.approx(0.1**0.5, abs=1e-6)  # q'' = 1
    assert called == pytest.approx(np.arange(0, end, 0.002))
    assert run.statistics["chunks"] < len(called) / 2


@needs_compiler
@pytest.mark.parametrize("native", [True, False])
def test_a_law_that_fails_is_called_once_and_keeps_the_steps_before(native):
    called = []

    def law(t, q, v):
        called.append(t)
        if t > 0.1:
            raise ZeroDivisionError("so much")
        return [0.0, 0.0]

    run = simulated(native, torque=fa.Feedback(law, rate=500), sample=0.01)
    assert run.reason == "the feedback law failed at t = 0.102 s (ZeroDivisionError: so much)"
    assert run.array("time")[-1] == pytest.approx(0.102)
    assert len(called) == 52


@needs_compiler
@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
@pytest.mark.parametrize("native", [True, False])
def test_states_that_are_not_finite_are_named(native):
    goals = {"upper": fa.cycloid(0.0, 1e8, 0.3), "fore": 0.0}
    feedback = fa.low_pass(fa.pd(ARM, 1e308, 0.0, goals, rate=500, limit=0.01), 20.0)
    run = simulated(native, torque=feedback)
    assert run.status == "failed"
    assert run.reason.startswith(
        "the feedback law failed at t = 0.002 s (ValueError: the state 'low_pass.upper' became"
    )


@needs_compiler
def test_a_law_of_the_user_is_never_asked_for_symbols():
    seen = []

    def law(t, x):
        seen.append(type(x["upper.q"]))
        return [0.0, 0.0]

    simulated(True, torque=fa.Feedback(law, rate=500) + pid())
    assert set(seen) == {float}


@needs_compiler
@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
def test_sensors_that_a_linear_law_does_not_read_are_warned_of():
    with pytest.warns(fa.ValidityWarning, match=r"never looked at 'tip\.y'"):
        simulated(True, torque=pid(sensors={"tip.y": fa.Sensor(bias=1.0)}), duration=0.1)
    with pytest.warns(fa.ValidityWarning, match=r"never looked at 'fore\.bend_y\[1\]'"):
        simulated(True, torque=pid(sensors={"fore.bend_y[1]": fa.Sensor(bias=1.0)}), duration=0.1)


def test_structures_of_both_languages_have_the_same_fields():
    text = sampler.SOURCE
    body = text[text.index("typedef struct {") : text.index("} flexarm_sampler;")].partition("{")[2]
    declared = re.sub(r"/\*.*?\*/|\(\w+\);|\b(const|long|double|int|void)\b", ";", body, flags=re.DOTALL)
    assert re.findall(r"\w+", declared) == [name for name, _ in sampler.SamplerControl._fields_]


def test_the_source_is_that_of_the_running_program(monkeypatch):
    monkeypatch.setattr(sampler, "files", lambda _: pytest.fail("it is read again"))
    step, start = (ca.Function(name, [], []) for name in ("own_step", "own_start"))
    assert "own_step_drive_sampled" in sampler.sampler_source(step, start)
