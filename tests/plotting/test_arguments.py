"""Every wrong value of a figure or film is answered with a sentence that begins with the argument's name."""

import re

import numpy as np
import pytest

import flexarm as fa
from flexarm.plotting.animate import Animation

from .runs import two_link

NO_NUMBERS = ["2", None, True, [1.0], 1j, float("nan"), float("inf"), -1]
NO_RUNS = ["other", 3, {}, fa.library.two_link_arm()]
NO_FLAGS = ["yes", 1, []]


def cases():
    run = two_link()
    for value in [3, None, ["tip.x"]]:
        yield "what", value, lambda v: run.plot(v)
        yield "what", value, lambda v: fa.plot_compare({"a": run}, v)
    for value in NO_RUNS:
        yield "other", value, lambda v: run.plot(other=v)
        yield "other", value, lambda v: run.plot("tip.x", other=v)
        yield "other", value, lambda v: run.plot_trajectory(other=v)
        yield "other", value, lambda v: run.animate(other=v)
        yield "other", value, lambda v: run.compare(v)
        yield "run", value, lambda v: Animation(v)
        yield "runs['a']", value, lambda v: fa.plot_compare({"a": v})
        yield "modes", value, lambda v: fa.plot_modes(v)
    for value in [[run], run, {}, None, "runs"]:
        yield "runs", value, lambda v: fa.plot_compare(v)
    for value in ["2", None, True, 0, -1, 2.5, [], [float("nan")], [2.0], ["a"], [None], [[0.1]], {"a": 1}]:
        yield "times", value, lambda v: run.plot_trajectory(v)
    for value in NO_NUMBERS:
        yield "magnify", value, lambda v: run.plot_trajectory(magnify=v)
        yield "magnify", value, lambda v: run.animate(magnify=v)
    for value in [*NO_NUMBERS, 0]:
        yield "fps", value, lambda v: run.animate(fps=v)
        yield "speed", value, lambda v: run.animate(speed=v)
        yield "dpi", value, lambda v: run.animate(dpi=v)
    yield "dpi", 1e5, lambda v: run.animate(dpi=v)
    yield "fps", 1e9, lambda v: run.animate(fps=v)
    yield "speed = 1e-09", 1e-9, lambda v: run.animate(speed=v)
    for value in NO_FLAGS:
        yield "trace", value, lambda v: run.animate(trace=v)
        yield "progress", value, lambda v: run.animate(progress=v)
    for value in [3, "", ["a.gif"], b""]:
        yield "path", value, lambda v: run.animate(v)
        yield "path", value, lambda v: run.animate().save(v)
    for value in ["2", None, True, float("nan"), 7.0, [0.1]]:
        yield "time", value, lambda v: run.animate().figure(v)
    for value in [0, -1, 2.5, "2", None, True]:
        yield "most", value, lambda v: fa.plot_modes(fa.modes(fa.library.two_link_arm()), most=v)


CASES = list(cases())


@pytest.mark.parametrize(("name", "value", "call"), CASES, ids=[f"{name}-{value!r:.30}" for name, value, _ in CASES])
def test_error_names_the_argument(name, value, call):
    with pytest.raises((ValueError, TypeError), match=re.escape(name)) as caught:
        call(value)
    sentence = str(caught.value)
    assert re.search(rf"\b{re.escape(name)}( =|\[|:)" if " " not in name else re.escape(name), sentence), sentence
    assert "\n" not in sentence
    assert len(sentence) < 300


def test_unknown_options_are_named():
    with pytest.raises(TypeError, match="'colour'"):
        two_link().animate(colour="red")


def test_numpy_numbers_are_accepted():
    run = two_link()
    assert len(run.plot_trajectory(np.int64(2), magnify=np.float32(2)).legends) == 1
    assert len(run.plot_trajectory(np.array([0.0, 0.5])).legends) == 1
