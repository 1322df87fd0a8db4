"""Generated C cut into pieces computes the same digits."""

import re

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from flexarm.codegen import library
from flexarm.codegen import library as library_module
from flexarm.codegen.compiler import find_compiler


def long_function(terms: int) -> ca.Function:
    """Assignments whose results are needed near and far, with calls of functions and conditional values."""
    x, y = ca.SX.sym("x", 3), ca.SX.sym("y")
    values = [x[0], x[1], x[2], y]
    for k in range(terms):
        values.append(ca.sin(values[-1]) * values[k // 2] + ca.if_else(values[k] > 0, values[-2], -values[-3]))
    return ca.Function("f", [x, y], [ca.vertcat(values[-1], values[terms // 2]), ca.sqrt(ca.fabs(values[-2]))])


def written(function: ca.Function) -> str:
    generator = ca.CodeGenerator("f", {"with_header": False})
    generator.add(function)
    return generator.dump()


def test_other_texts_stay_as_they_are():
    for text in ("", "int main() {\n  return 0;\n}"):
        assert library.split(text) == text


def test_whether_an_array_is_there_is_asked_once():
    """An array that is not there counts as zeros, or is not written: as CasADi has it, at every number."""
    before, after = (len(re.findall(r"(arg|res)\[\d+\] ?(\?|!=)", text)) for text in pair(long_function(20)))
    assert before > 5
    assert after == 4  # two inputs, two outputs


def pair(function: ca.Function) -> tuple[str, str]:
    return written(function), library.split(written(function))


def test_a_body_that_is_not_understood_stays_as_it_is():
    text = written(long_function(1000))
    strange = text.replace("  return 0;", "  while (0) {}\n  return 0;")
    assert library.split(strange) == strange


def test_every_piece_is_short():
    cut = library.split(written(long_function(2000)))
    bodies = re.findall(r"^static void casadi_f\d+_\d+\(.*?\{\n(.*?)^\}", cut, re.S | re.M)
    assert len(bodies) > 10
    assert max(len(re.findall(r"^  a\d+=(?!kept)", body, re.M)) for body in bodies) <= library.MAX_ASSIGNMENTS


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")
@pytest.mark.parametrize("longest", [3, 50, 400])
def test_the_pieces_compute_the_same_digits(longest, tmp_path, monkeypatch):
    monkeypatch.setenv("FLEXARM_CACHE", str(tmp_path))
    monkeypatch.setattr(library, "MAX_ASSIGNMENTS", longest)
    function = long_function(1000)
    assert library.split(written(function)) != written(function)
    compiled = library_module.compiled(function)
    for x in np.random.default_rng(0).normal(size=(5, 4)):
        for found, expected in zip(compiled(x[:3], x[3]), function(x[:3], x[3])):
            assert_array_equal(found.full(), expected.full())
