import casadi as ca
import numpy as np
from numpy.testing import assert_allclose

from flexarm.codegen import evaluator
from flexarm.codegen.evaluator import Evaluator, SharedFunction


def product(native=False) -> Evaluator:
    x, y = ca.SX.sym("x", 2), ca.SX.sym("y", 2)
    function = ca.Function("product", [x, y], [ca.dot(x, y), x + y, x @ y.T])
    return Evaluator(SharedFunction(function, ranks=[0, 1, 2]), native=native)


def test_numbers_vectors_and_matrices_keep_their_rank_in_any_batch():
    for leading in ((), (1,), (3,), (2, 3), (0,), (0, 4)):
        x, y = np.ones((*leading, 2)), np.full((*leading, 2), 2.0)
        number, vector, matrix = product()(x, y)
        assert number.shape == leading
        assert vector.shape == (*leading, 2)
        assert matrix.shape == (*leading, 2, 2)
        assert (number == 4).all()
        assert (vector == 3).all()
        assert (matrix == 2).all()


def test_leading_dimensions_broadcast():
    x = np.arange(8.0).reshape(4, 1, 2)
    y = np.arange(6.0).reshape(3, 2)
    number, _, matrix = product()(x, y)
    assert_allclose(number, (x * y).sum(axis=-1))
    assert_allclose(matrix, x[..., :, None] * y[..., None, :])


def test_functions_are_compiled_once_they_have_been_used_enough(monkeypatch):
    compiled = []
    monkeypatch.setattr(evaluator, "compiled", lambda function: compiled.append(function.name()) or function)
    monkeypatch.setattr(evaluator, "WORTH_COMPILING", 10)
    once, always, never = product("auto"), product(True), product(False)
    many = np.ones((4, 2))
    for _ in range(2):
        once(many, many)
    assert compiled == []
    once(many, many)
    once(many, many)
    assert compiled == ["product"]
    always(many[0], many[0])
    assert compiled == ["product"] * 2
    for _ in range(20):
        never(many, many)
    assert compiled == ["product"] * 2
