import numpy as np
import pytest

import flexarm as fa

TORQUE = {"upper": fa.bang_bang(0.02, (0.3, 0.6)), "fore": fa.bang_bang(0.005, (0.3, 0.6))}


@pytest.fixture(scope="module")
def system():
    return fa.System(fa.library.two_link_arm(damping=1e-3), native=False)


def run(system, **options):
    return fa.simulate(system, 1.0, native=False, **{"torque": TORQUE, "sample": 0.05, **options})


@pytest.mark.parametrize("method", ["auto", "generalized-alpha", "rk45"])
def test_the_estimate_is_about_the_true_error_and_at_least_that_of_the_tip(system, method):
    exact = run(system, rtol=1e-9, method="rk45").array("tip")
    found = run(system, verify=True, method=method, rtol=1e-3)
    true = np.linalg.norm(found.array("tip") - exact, axis=1).max()
    assert true / 2 < found.error_estimate < 1e-3 * 1.5
    assert found.options["verify"] is True
    assert found.array("tip") == pytest.approx(run(system, method=method, rtol=1e-3).array("tip"), abs=0)


def test_without_it_there_is_none(system):
    assert run(system).error_estimate is None


def test_a_run_that_is_too_far_off_warns(system):
    with pytest.warns(fa.ValidityWarning, match=r"links are up to .* m are allowed; take a smaller dt"):
        found = run(system, verify=True, dt=0.01, rtol=1e-6)
    assert found.error_estimate > 1.5e-6


def test_a_digital_controller_is_asked_once(system):
    """It has a memory: a second run that asked it again would see another one."""
    calls = []

    def law(t, q, v):
        calls.append(t)
        return [0.001 * len(calls), 0.0]

    found = run(system, torque=fa.Feedback(law, rate=50), verify=True)
    assert len(calls) == 50
    assert found.error_estimate < 1e-4 * 1.5


def test_a_run_that_ends_early_is_verified_as_far_as_it_came(system):
    with pytest.warns(fa.ValidityWarning, match="ended early"):
        found = run(system, verify=True, events=lambda t, q, v: 0.52 - t)
    assert 0 < found.error_estimate < 1.5e-4


def test_other_switches_are_refused(system):
    with pytest.raises(ValueError, match="verify = 'yes': must be True or False"):
        run(system, verify="yes")


def test_it_survives_a_file(system, tmp_path):
    found = run(system, verify=True)
    found.save(tmp_path / "a.nc")
    assert fa.Run.load(tmp_path / "a.nc").error_estimate == found.error_estimate
