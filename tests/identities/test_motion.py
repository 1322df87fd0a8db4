"""Random robots under random inputs: a run ends, and its energy is accounted for or the run says what went wrong."""

import warnings

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import flexarm as fa
from flexarm.profiles.parse import profile
from tests.helpers import robots, state

inputs = st.sampled_from(
    [
        lambda scale: scale,
        lambda scale: fa.sine(scale, 3.0),
        lambda scale: fa.bang_bang(scale, (0.01, 0.02)),
        lambda scale: fa.cycloid(0.0, scale, 0.03),
        lambda scale: lambda t: scale * np.exp(-20 * t),
    ]
)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(robots(most=3), inputs, st.floats(0.01, 1.0), st.integers(0, 1000), st.booleans())
def test_runs_end_and_account_for_their_energy(robot, make, scale, seed, drive_first):
    system = fa.System(robot, native=False)
    given_inputs = {name: make(scale) for name in system.inputs}
    motion = {}
    if drive_first and system.inputs and not profile(make(scale), "motion").jumps():
        first = system.inputs[0]
        motion = {first: given_inputs.pop(first)}
    q, v, _ = state(system, seed, size=0.5)
    joints = ~system.elastic
    q, v = q * joints, v * joints  # links straight at the start: their stiffest modes would take ages to follow
    for actuator in system.actuators:
        if actuator.link in motion:
            begins, place = profile(motion[actuator.link], "motion"), actuator.coordinate.index
            q[place], v[place] = begins(0.0), begins(0.0, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = fa.simulate(
            system, 0.05, torque=given_inputs, motion=motion, q0=q, v0=v, rtol=1e-2, sample=0.005, native=False
        )
    assert np.isfinite(run.data["q"].values).all()
    assert run.statistics["steps"] < 1_000_000
    largest = max(float(np.abs(run.energy[name].values).max()) for name in ("kinetic", "elastic", "drive", "work"))
    # vibrations far below the tolerance (a stiff link that settles under its weight) may be damped away unseen
    assert abs(float(run.statistics["energy_balance"])) < 0.02 * largest + 1e-5 or run.reason != "completed"
