"""What makes two sweeps the same."""

import os
import subprocess
import sys
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pytest

import flexarm as fa
from flexarm.sweeps.store import digest

ROOT = Path(__file__).parent.parent.parent


def law(t, q, v):
    return [0.1 * np.sin(t)]


def made(gain):
    return lambda t: gain * t


class Controller:
    def __init__(self, gain):
        self.gain = gain

    def __call__(self, t, q, v):
        return -self.gain * q


SAME = [
    (lambda: fa.bang_bang(0.1, (1, 2)), lambda: fa.bang_bang(0.1 + 1e-12, (1, 2))),  # whose names are equal
    (lambda: fa.spline([0, 1, 2], [0, 1, 2]), lambda: fa.spline([0, 1, 2], [0, 1, 3])),
    (lambda: made(1.0), lambda: made(2.0)),
    (lambda: partial(law, 1.0), lambda: partial(law, 2.0)),
    (lambda: Controller(1.0), lambda: Controller(2.0)),
    (lambda: Controller(1.0).__call__, lambda: Controller(2.0).__call__),
    (lambda: fa.Feedback(law, rate=100.0), lambda: fa.Feedback(law, rate=200.0)),
    (lambda: fa.Feedback(law, limit=1.0), lambda: fa.Feedback(law, limit=2.0)),
    (lambda: {"a": np.arange(3.0)}, lambda: {"a": np.arange(3.0) + 1e-15}),
    (lambda: fa.library.two_link_arm(), lambda: fa.library.two_link_arm(damping=0.1)),
    (lambda: [1, 2], lambda: [[1], 2]),
    (lambda: lambda run: run.tip[-1], lambda: lambda run: run.tip[0]),
    (lambda: 1.0, lambda: "1.0"),
    (lambda: {1, 2}, lambda: {1, 3}),
    (lambda: fa.GeneralizedAlpha(radius=0.8), lambda: fa.GeneralizedAlpha(radius=0.7)),
    (lambda: np.sin, lambda: np.cos),
]


@pytest.mark.parametrize("pair", range(len(SAME)))
def test_a_digest_is_that_of_what_is_computed(pair):
    one, other = SAME[pair]
    assert digest(one()) == digest(one())
    assert digest(one()) != digest(other())


def test_it_is_the_same_in_another_process():
    things = "[law, made(1.0), Controller(2.0), np.sin, {'a', 'b'}]"
    code = f"from tests.sweeps.test_fingerprint import *; print(digest({things}))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), "PYTHONHASHSEED": "7"}
    words = [sys.executable, "-c", code]
    said = subprocess.run(words, capture_output=True, text=True, check=True, env=environment).stdout.strip()
    assert said == digest([law, made(1.0), Controller(2.0), np.sin, {"a", "b"}])


def test_objects_count_by_what_is_written_in_their_classes():
    def made(factor):
        class Base:
            def __init__(self):
                super().__init__()
                self.own = 1

        class Law(Base):
            gain = 2.0

            def __call__(self, t):
                return t * 3.0

            @property
            def half(self):
                return 0.5

        class Edited(Base):
            gain = 2.0

            def __call__(self, t):
                return t * 5.0

            @property
            def half(self):
                return 0.5

        Edited.__qualname__ = Law.__qualname__
        Edited.__name__ = "Law"
        return (Law if factor == 3 else Edited)()

    assert digest(made(3)) == digest(made(3))
    assert digest(made(3)) != digest(made(5))


def test_functions_that_are_decorated_count_by_what_they_compute():
    def first(x):
        return x

    def second(x):
        return 2 * x

    second.__qualname__ = first.__qualname__
    assert digest(lru_cache(first)) == digest(lru_cache(first))
    assert digest(lru_cache(first)) != digest(lru_cache(second))
