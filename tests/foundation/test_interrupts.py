"""Ctrl-C at any moment: a run is kept or not begun, never lost or wrong."""

import random
import signal
import threading

import numpy as np
import pytest

import flexarm as fa
from flexarm.foundation.interrupts import Interrupts, end_runs_when

TWO = fa.Robot("two", links=[fa.Link("a", 1.0, mass=1.0), fa.Link("b", 1.0, mass=1.0)])


@pytest.fixture
def pressed_during():
    """Call a function and press Ctrl-C after so many seconds, wherever it is then; None if it is not to return."""
    running = []
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT) if running else None)

    def call(seconds, function):
        try:
            running.append(True)
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                return function()
            finally:
                running.clear()  # too late: it has returned
        except KeyboardInterrupt:
            return None

    yield call
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
@pytest.mark.parametrize("method", ["generalized-alpha", "bdf"])
def test_interrupts_at_random_moments(pressed_during, method):
    def law(t, q, v):
        return [fa.sine(1.0, 1.0)(t) - q["a.q"], -v["b.q"]]

    options = {"torque": law, "native": False, "method": method, "sample": 2e-3}
    whole = [fa.simulate(TWO, 2.0, **options) for _ in range(2)][-1]  # the second is as fast as those that follow
    wall, draw, tried, interrupted = whole.statistics["wall_time"], random.Random(1), 0, 0
    while tried < 25 or interrupted <= 5:
        tried += 1
        assert tried < 200
        run = pressed_during(draw.uniform(0.1, 1.0) * wall, lambda: fa.simulate(TWO, 2.0, **options))
        if run is None:  # it had not begun
            interrupted += 1
            continue
        t, q = run.time.values, run.data["q"].values
        assert np.isfinite(q).all()
        assert (np.diff(t) > 0).all()
        on_samples = np.isin(t, whole.time.values)
        np.testing.assert_array_equal(q[on_samples], whole.data["q"].values[: on_samples.sum()])
        if run.status == "interrupted":
            interrupted += 1
        else:  # it was over before: machines that share their cores are faster at times
            wall = min(wall, run.statistics["wall_time"])


def test_an_error_that_an_interrupt_was_turned_into_is_an_interrupt_again():
    interrupts = Interrupts()

    def wrapped():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise RuntimeError("rhs failed") from None

    with pytest.raises(KeyboardInterrupt), interrupts.catching():
        wrapped()
    assert interrupts.pressed
    with pytest.raises(RuntimeError), Interrupts().catching():
        raise RuntimeError("its own")


def test_held_interrupts_are_noted_and_handlers_come_back():
    before, interrupts = signal.getsignal(signal.SIGINT), Interrupts()
    with interrupts.catching(), interrupts.deferring():
        signal.raise_signal(signal.SIGINT)
    assert interrupts.pressed
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):
        interrupts.check()


def test_other_threads_have_no_signals():
    found = []

    def work():
        with Interrupts().catching() as interrupts:
            found.append(interrupts.pressed)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [False]


def test_a_wish_ends_the_runs_of_its_thread_only():
    others = []
    with end_runs_when(lambda: True):
        thread = threading.Thread(target=lambda: others.append(fa.simulate(TWO, 0.1, native=False)))
        thread.start()
        thread.join()
        with pytest.warns(fa.ValidityWarning, match="interrupted"):
            run = fa.simulate(TWO, 1.0, torque={"a": lambda t: 1.0}, native=False)
    assert run.status == "interrupted"
    assert others[0].status == "completed"
    assert fa.simulate(TWO, 0.1, native=False).status == "completed"
