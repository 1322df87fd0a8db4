"""Decays: exact sums of damped sines, noise, and the modes of a damped robot."""

import numpy as np
import pytest

import flexarm as fa

T = np.linspace(0.3, 2.3, 401)


def vibration(t, f, zeta, amplitude, phase):
    s, omega = t - t[0], 2 * np.pi * f
    return amplitude * np.exp(-zeta * omega * s) * np.cos(omega * np.sqrt(1 - zeta**2) * s + phase)


MANY = [(3.0, 0.02, 2.0, 0.4), (7.7, 0.005, 0.5, -2.0), (8.4, 0.04, 1.0, 1.0), (21.0, -0.001, 0.1, 3.0)]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("offset", [0.0, 5.0])
def test_exact_sums_are_found_exactly(count, offset):
    x = offset + sum(vibration(T, *each) for each in MANY[:count])
    found = fa.decay(T, x, modes=count)
    f, zeta, amplitudes, phases = (np.array(each) for each in zip(*MANY[:count], strict=True))
    assert found.frequencies == pytest.approx(f, rel=1e-8)
    assert found.damping_ratios == pytest.approx(zeta, rel=1e-8, abs=1e-10)
    assert found.amplitudes == pytest.approx(amplitudes, rel=1e-8)
    assert found.phases == pytest.approx(phases, rel=1e-8)
    assert found.offset == pytest.approx(offset, abs=1e-8)
    assert found.fit == pytest.approx(1, abs=1e-12)
    assert found(T) == pytest.approx(x, abs=1e-8)


def test_the_strongest_vibrations_are_found_among_others():
    x = sum(vibration(T, *each) for each in MANY)
    found = fa.decay(T, x, modes=2)
    assert found.frequencies == pytest.approx([3.0, 7.7], rel=1e-6)  # which last longer than 8.4
    assert 0.7 < found.fit < 1


def test_a_strong_damping_and_a_slow_drift_of_its_own():
    x = vibration(T, 3.0, 0.4, 2.0, 0.1) + 3 * np.exp(-1.7 * T)
    found = fa.decay(T, x)
    assert (found.frequencies[0], found.damping_ratios[0]) == pytest.approx((3.0, 0.4), rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_noise_has_little_effect(seed):
    noise = 0.02 * np.random.default_rng(seed).normal(size=len(T))
    one = fa.decay(T, vibration(T, *MANY[0]) + noise)
    assert one.frequencies[0] == pytest.approx(3.0, rel=1e-3)
    assert one.damping_ratios[0] == pytest.approx(0.02, rel=0.05)
    assert one.fit == pytest.approx(1, abs=2e-3)
    two = fa.decay(T, vibration(T, *MANY[0]) + vibration(T, *MANY[2]) + noise, modes=2)
    assert two.frequencies == pytest.approx([3.0, 8.4], rel=5e-3)
    assert two.damping_ratios == pytest.approx([0.02, 0.04], rel=0.15)


@pytest.mark.parametrize(("f", "zeta"), [(3.0, 0.0), (3.0, 0.02), (5.0, 0.2), (2.0, -0.01)])
def test_the_decrement_of_one_vibration(f, zeta):
    found = fa.decay(T, 4 + vibration(T, f, zeta, 2.0, 0.3), method="log-decrement")
    assert found.frequencies[0] == pytest.approx(f, rel=1e-6)
    assert found.damping_ratios[0] == pytest.approx(zeta, rel=1e-5, abs=1e-6)
    assert (found.amplitudes[0], found.phases[0], found.offset) == pytest.approx((2.0, 0.3, 4.0), rel=1e-4)


@pytest.mark.parametrize(
    ("x", "options", "sentence"),
    [
        (vibration(T, *MANY[0]), {"modes": 2, "method": "log-decrement"}, "is that of one vibration"),
        (vibration(T, *MANY[0]) + vibration(T, *MANY[2]), {"method": "log-decrement"}, "is not one vibration"),
        (np.exp(-T), {"method": "log-decrement"}, "has 0 extremes"),
        (np.exp(-T), {}, "has 0 that vibrate"),
        (vibration(T, *MANY[0]), {"modes": 3}, "has 1 that vibrate"),
        (np.ones(len(T)), {}, "does not change"),
    ],
)
def test_signals_without_vibrations_are_refused(x, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        fa.decay(T, x, **options)


@pytest.fixture(scope="module")
def run():
    """Run of a damped beam released from a small deflection in its first two modes."""
    damping = fa.Damping(ratio=[0.01, 0.02])
    link = fa.library.rotating_beam(modes=2).links[0]
    robot = fa.Robot(links=[link.model_copy(update={"joint": fa.Weld()})]).with_(
        {"links.beam.flexible.damping": damping}
    )
    modes = fa.modes(robot)
    q0 = 1e-4 * (modes.shapes[:, 0] + modes.shapes[:, 1])
    return fa.simulate(robot, 6.0, q0=q0, rtol=1e-8, native=False)


def test_a_robots_decay_has_its_modes(run):
    expected = fa.modes(run.robot)
    found = run.decay("tip.y", after=0.5, modes=2)
    assert found.unit == "m"
    assert found.frequencies == pytest.approx(expected.frequencies, rel=1e-4)
    assert found.damping_ratios == pytest.approx(expected.damping_ratios, rel=1e-3)
    assert found.fit > 1 - 1e-6
    fast = run.decay("tip.y''", after=0.5, before=4.0, modes=2, sample=0.004)
    assert fast.frequencies == pytest.approx(expected.frequencies, rel=1e-4)
    assert fast.damping_ratios == pytest.approx(expected.damping_ratios, rel=1e-2)  # the slow one is hardly seen
    assert fast.unit == "m/s2"
