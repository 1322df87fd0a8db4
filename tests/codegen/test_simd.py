"""Generated C with a vector for each number: every construct gives the digits that it gives alone."""

import re
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import flexarm as fa
from flexarm.codegen import cache, simd_library
from flexarm.codegen.compiler import find_compiler
from flexarm.codegen.library import generate_source
from flexarm.codegen.simd import TESTED_CASADI, UnexpectedSource, vectorize
from flexarm.codegen.simd_library import AVX2, AVX512, SSE2, LaneFunction, LaneLibrary, SimdWidth, widest
from flexarm.sweeps.ensemble import lane_code as compiled

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

RANDOM = np.random.default_rng(1)
WIDTHS = sorted({SSE2, widest()})


def arithmetic() -> ca.Function:
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    compared = [a < b, a <= b, a == b, a != b, ca.logic_and(a < b, b <= 1), ca.logic_or(a < b, a > 1), ca.logic_not(a)]
    chosen = [ca.if_else(a < b, a, b), ca.if_else(ca.logic_and(a < b, b <= 3), 2, b), ca.sign(a), ca.fabs(a)]
    functions = [ca.tan(a), ca.exp(a), ca.sqrt(a), ca.floor(a), ca.atan2(a, b), ca.fmod(a, b), ca.copysign(a, b)]
    functions += [a**b, ca.hypot(a, b), ca.log1p(a), ca.tanh(a), ca.fmin(a, b), ca.fmax(a, b)]
    constants = [2 * a, 2 - a, ca.pi * a, 1e-300 * a, -a / 3, ca.SX(3.5), ca.SX(-1), ca.inf * a, 1 / a]
    return ca.Function("arithmetic", [a, b], [ca.vertcat(*compared, *chosen, *functions, *constants)])


def vectors() -> ca.Function:
    m, n = ca.MX.sym("m", 3), ca.MX.sym("n", 3)
    out = [ca.dot(m, n), ca.fabs(m), ca.fmin(m, n), ca.if_else(m[0] > n[0], m, n), m @ n.T, ca.norm_2(m)]
    out += [ca.fmax(m, 1e-3), m * 2 + 1, ca.vertcat(m, 0, 1), ca.DM([1, 2, 3]) * m, ca.sum1(m), m < n, m[0] <= n]
    return ca.Function("vectors", [m, n], out)


def constants() -> ca.Function:
    """CasADi writes arrays of more than eight constants on several lines."""
    x = ca.MX.sym("x", 20)
    return ca.Function("constants", [x], [ca.DM(range(1, 21)) * x, ca.DM([1, *[0] * 19]) + x, ca.DM([3, 4]) * x[:2]])


def matrices() -> ca.Function:
    """Functions of CasADi's own that steps, laws and constraints may need."""
    sparse, dense = ca.MX.sym("sparse", ca.Sparsity.upper(3)), ca.MX.sym("dense", 3, 3)
    replaced = ca.MX(dense)
    replaced[1, :] = sparse[0, :]
    out = [sparse, ca.project(dense, ca.Sparsity.lower(3)), sparse.T, sparse @ sparse, dense @ sparse, replaced]
    out += [ca.cross(dense[:, 0], dense[:, 1]), ca.diag(dense[:, 2])]
    return ca.Function("matrices", [sparse, dense], [ca.densify(each) for each in out])


def turns() -> ca.Function:
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    return ca.Function("turns", [a, b], [ca.sin(a), ca.cos(a), ca.cos(b), ca.sin(b)])


def halved() -> ca.Function:
    """x is halved as often as it is above one, three times at most."""
    x = ca.MX.sym("x")
    half, same = ca.Function("half", [x], [x / 2]), ca.Function("same", [x], [x])
    here = x
    for _ in range(3):
        here = ca.Function.if_else("choice", half, same)(here > 1, here)
    return ca.Function("halved", [x], [here])


MAKE = (arithmetic, vectors, turns, halved, constants, matrices)


@pytest.fixture(scope="module", params=WIDTHS, ids=lambda width: f"{width.lanes} lanes")
def library(request):
    functions = [make() for make in MAKE]
    made = LaneLibrary([each.name() for each in functions], lambda: functions, None, request.param)
    assert made.loaded is not None
    return made


def evaluated(library, name, *arguments):
    """Outputs for rows of arguments (rows, entries), each lane a row."""
    lanes = library.width.lanes
    function = next(each for each in library.functions if each.name() == name)
    groups = -(-len(arguments[0]) // lanes)
    packed = []
    for each in arguments:
        padded = np.concatenate([each, np.repeat(each[:1], groups * lanes - len(each), axis=0)])
        packed.append(np.ascontiguousarray(padded.reshape(groups, 1, lanes, -1).swapaxes(2, 3)))
    out = [np.zeros((groups, 1, function.numel_out(k), lanes)) for k in range(function.n_out())]
    LaneFunction(library.loaded, name, packed, out)(1)
    return [each.swapaxes(2, 3).reshape(groups * lanes, -1)[: len(arguments[0])] for each in out]


def alone(function, *arguments):
    rows = [
        [part.full().ravel(order="F") for part in function.call([ca.DM(x) for x in row])] for row in zip(*arguments)
    ]
    return [np.stack(each) for each in zip(*rows, strict=True)]


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 3.0, 0.5, -2.5, 1e-310, 1e200, np.inf, -np.inf, np.nan])


def test_numbers_comparisons_and_choices_are_those_of_one(library):
    a, b = (each.ravel()[:, None] for each in np.meshgrid(SPECIAL, SPECIAL))
    (found,), (expected,) = evaluated(library, "arithmetic", a, b), alone(library.functions[0], a, b)
    np.testing.assert_array_equal(found, expected)  # nan where there is one, smaller and larger beside it included


def test_loops_over_entries_are_those_of_one(library):
    m, n = RANDOM.normal(size=(2, 11, 3))
    n[::3] = m[::3]
    for found, expected in zip(evaluated(library, "vectors", m, n), alone(library.functions[1], m, n), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_constants_are_the_same_in_all_lanes(library):
    x = RANDOM.normal(size=(11, 20))
    for found, expected in zip(evaluated(library, "constants", x), alone(library.functions[4], x), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_matrices_are_those_of_one(library):
    upper, dense = RANDOM.normal(size=(11, 6)), RANDOM.normal(size=(11, 9))
    function, sparsity = library.functions[5], library.functions[5].sparsity_in(0)
    rows = [function(ca.DM(sparsity, each), ca.reshape(ca.DM(other), 3, 3)) for each, other in zip(upper, dense)]
    for k, found in enumerate(evaluated(library, "matrices", upper, dense)):
        np.testing.assert_array_equal(found, [row[k].full().ravel(order="F") for row in rows])


@pytest.mark.parametrize("scale", [1e-9, 1.0, 100.0, 1e5, 9.9e5, 1e8, 1e300])
def test_sine_and_cosine_to_a_unit_in_the_last_place(library, scale):
    mpmath = pytest.importorskip("mpmath")
    a = RANDOM.uniform(-scale, scale, (400, 1))
    a[:40, 0] = np.round(a[:40, 0] / (np.pi / 2)) * (np.pi / 2)  # where one of them all but vanishes
    sine, cosine, _, other = evaluated(library, "turns", a, a[::-1])
    with mpmath.workprec(1200):
        exact = np.array([[float(mpmath.sin(mpmath.mpf(x))), float(mpmath.cos(mpmath.mpf(x)))] for x in a[:, 0]])
    apart = np.abs(np.hstack([sine, cosine]) - exact)
    assert (apart <= np.spacing(np.abs(exact)) + 1e-28).all()
    np.testing.assert_array_equal(other[::-1], sine)


def test_turns_that_are_no_number(library):
    a = np.array([[np.nan], [np.inf], [0.5]])
    sine, cosine, *_ = evaluated(library, "turns", a, a)
    assert np.isnan(sine[:2]).all()
    assert np.isnan(cosine[:2]).all()
    np.testing.assert_allclose(sine[2], np.sin(0.5), rtol=1e-15)  # beside them as it is alone


def test_lanes_go_on_while_any_of_them_wants_to(library):
    lanes = library.width.lanes
    x = np.full((lanes, 1), 0.5)
    assert evaluated(library, "halved", x)[0][0] == 0.5
    x[-1] = 3.0  # it wants two
    found = evaluated(library, "halved", x)[0][:, 0]
    assert found[-1] == 0.75
    np.testing.assert_array_equal(found[:-1], 0.125)


def test_what_cannot_be_shared_is_refused():
    x = ca.SX.sym("x")
    three = ca.Function.conditional("three", [ca.Function(f"f{k}", [x], [k * x]) for k in range(3)], halved())
    generator = ca.CodeGenerator("three")
    generator.add(three)
    with pytest.raises(ValueError, match="choice between several"):
        vectorize(generator.dump(), 2)


# --- source that is not as expected ---


def generated() -> str:
    return generate_source("all", [make() for make in MAKE])


DOCTORED = {
    "numbers in braces": [
        (r"\bcasadi_c(\d)", r"casadi_k\1"),
        (r"static const (casadi_real casadi_c\d)", r"const static \1"),
    ],
    "a type beside casadi_real": [(r"casadi_real r ?= ?0;", "double r=0;")],
    "a cast": [(r"= \(w(\d+)<", r"= ((casadi_real) w\1<"), (r"a(\d+)=\(a(\d+)<", r"a\1=(casadi_real)(a\2<")],
    "a choice between numbers": [(r"\((a\d+)\?(a\d+):0\)", r"(\1 ? \2 : a0)")],
    "a comparison of numbers": [(r"\((a\d+)<(a\d+)\)", r"(\1 < \2)"), (r"\((a\d+)&&(a\d+)\)", r"(\1 && \2)")],
    "a call of log2()": [(r"= ?exp\(", "=log2(")],
    "no definition of casadi_real": [("#define casadi_real double", "typedef double casadi_real;")],
}
DOCTORINGS = [(reason, *each) for reason, changes in DOCTORED.items() for each in changes]


@pytest.mark.parametrize(("reason", "pattern", "words"), DOCTORINGS)
def test_source_that_is_not_as_expected_is_refused(reason, pattern, words):
    source = generated()
    doctored = re.sub(pattern, words, source)
    assert doctored != source
    vectorize(source, 2)
    with pytest.raises(UnexpectedSource, match=re.escape(f"CasADi {ca.CasadiMeta.version()} has {reason}, which")):
        vectorize(doctored, 2)


def test_versions_in_the_message_are_those_that_are_declared():
    declared = re.search(r'"casadi>=([\d.]+)"', (Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert TESTED_CASADI[0] == declared[1]
    with pytest.raises(UnexpectedSource, match=f"{TESTED_CASADI[0]} to {TESTED_CASADI[1]}"):
        vectorize("int main(void) { return 0; }", 2)


def test_without_vectors_members_run_one_by_one_and_one_line_says_why(monkeypatch, tmp_path, caplog):
    robot, over = fa.library.two_masses(), {"links.mass.mass": [0.8, 0.9, 1.0, 1.1]}
    expected = fa.sweep(robot, over, 1.0, torque={"mass": 1.0})
    monkeypatch.setenv("FLEXARM_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "_said", set())
    monkeypatch.setattr(compiled, "_codes", type(compiled._codes)())
    make = simd_library.generate_source
    monkeypatch.setattr(
        simd_library, "generate_source", lambda *given: make(*given).replace("#define casadi_real", "//")
    )
    for _ in range(2):
        found = fa.sweep(robot, over, 1.0, torque={"mass": 1.0})
    np.testing.assert_allclose(found["tip"], expected["tip"], rtol=1e-3, atol=1e-12)
    (record,) = caplog.records
    assert "has no definition of casadi_real, which flexarm cannot vectorize" in record.getMessage()
    assert record.getMessage().endswith("robots are computed one by one")


# --- libraries ---


def test_width_is_what_the_processor_has(monkeypatch, tmp_path):
    info = tmp_path / "cpuinfo"
    monkeypatch.setattr(simd_library, "CPU_INFO", info)
    monkeypatch.setattr(simd_library.platform, "machine", lambda: "x86_64")
    said = {"fpu sse2": SSE2, "sse2 avx2 fma": AVX2, "avx2 avx512f avx512dq": AVX512, "avx2 avx512f": AVX2}
    for flags, expected in said.items():
        info.write_text(f"processor : 0\nflags\t\t: {flags}\n")
        assert widest.__wrapped__() == expected
    info.unlink()
    assert widest.__wrapped__() == SSE2
    monkeypatch.setattr(simd_library.platform, "machine", lambda: "aarch64")
    assert widest.__wrapped__() == SSE2


def test_each_width_has_a_library_of_its_own():
    one, other = (LaneLibrary(["halved"], lambda: [halved()], ["same"], width) for width in (SSE2, AVX2))
    assert one._key(find_compiler()) != other._key(find_compiler())


def test_a_compiler_that_fails_says_so_once(caplog, monkeypatch, tmp_path):
    monkeypatch.setenv("FLEXARM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_said", set())
    broken = LaneLibrary(["halved"], lambda: [halved()], None, SimdWidth(2, ("-no-such-flag-at-all",)))
    assert broken.loaded is None
    assert "for 2 lanes failed" in caplog.text
    assert "one by one" in caplog.text
    monkeypatch.setenv("CC", "no-such-compiler")
    assert LaneLibrary(["halved"], lambda: [halved()], None).loaded is None
    assert "no C compiler found" in caplog.text
