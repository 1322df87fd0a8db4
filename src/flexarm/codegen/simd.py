"""Vectorize C source that CasADi generates: each number becomes a SIMD vector, with one robot in each lane.

CasADi's C does arithmetic on `casadi_real`. If that is a vector type of the compiler, sums and products need no change.
What C defines for numbers only (a constant, a comparison, a function of the library) is rewritten here, so that each
lane has the digits that it would have alone. Comparisons give ones and zeros, as in C. Sine and cosine are computed in
vectors, to about one unit in the last place; other functions of the library are called lane by lane. Where a step
decides whether to go on (an iteration, new factors), it goes on if any lane needs it: that costs the others time, not
accuracy.

The rewriting is made for the C that tested versions of CasADi generate. What it does not recognize could be compiled to
something else (a list of numbers in braces fills the lanes of one vector), so the result is checked, and refused with
`UnexpectedSource`.
"""

from __future__ import annotations

import re
from math import factorial, pi

import casadi as ca

SCALAR_FUNCTIONS = (
    "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "log",
    "sqrt", "floor", "ceil", "fabs", "log1p", "expm1", "erf",
)  # fmt: skip
VECTOR_MATH = "sin, cos"  # what is computed in vectors; the others lane by lane
OF_TWO = ("pow", "atan2", "fmod", "hypot", "copysign")

HALF_PI_PARTS = (1.570796325802803, 9.920935791635221e-10, 5.170182981794105e-19)  # of pi / 2

_HEAD = """
typedef double casadi_real __attribute__((vector_size({bytes}), aligned(8)));
typedef long long lane_bits __attribute__((vector_size({bytes}), aligned(8)));
#define LANES {lanes}
#define LANE_ALL(x) {{{copies}}}
static inline casadi_real lane_all(double x) {{
  casadi_real r; int k; for (k = 0; k < LANES; ++k) r[k] = x; return r; }}
static inline casadi_real lane_kept(lane_bits where, casadi_real x) {{ return (casadi_real)(where & (lane_bits) x); }}
static inline casadi_real lane_lt(casadi_real x, casadi_real y) {{ return lane_kept(x < y, lane_all(1.)); }}
static inline casadi_real lane_le(casadi_real x, casadi_real y) {{ return lane_kept(x <= y, lane_all(1.)); }}
static inline casadi_real lane_eq(casadi_real x, casadi_real y) {{ return lane_kept(x == y, lane_all(1.)); }}
static inline casadi_real lane_ne(casadi_real x, casadi_real y) {{ return lane_kept(x != y, lane_all(1.)); }}
static inline casadi_real lane_if(casadi_real x, casadi_real y) {{ return lane_kept(x != lane_all(0.), y); }}
static inline casadi_real lane_not(casadi_real x) {{ return lane_eq(x, lane_all(0.)); }}
static inline casadi_real lane_and(casadi_real x, casadi_real y) {{ return lane_if(x, lane_ne(y, lane_all(0.))); }}
static inline casadi_real lane_or(casadi_real x, casadi_real y) {{
  return lane_not(lane_and(lane_not(x), lane_not(y))); }}
static inline int lane_any(casadi_real x) {{
  int k, any = 0; for (k = 0; k < LANES; ++k) any = any || x[k] != 0.; return any; }}
static inline casadi_real lane_larger(casadi_real x, casadi_real y) {{
  lane_bits first = (x > y) | (y != y);
  return (casadi_real)((first & (lane_bits) x) | (~first & (lane_bits) y)); }}
static inline casadi_real lane_smaller(casadi_real x, casadi_real y) {{
  lane_bits first = (x < y) | (y != y);
  return (casadi_real)((first & (lane_bits) x) | (~first & (lane_bits) y)); }}
static inline casadi_real lane_sign(casadi_real x) {{
  casadi_real r; int k; for (k = 0; k < LANES; ++k) r[k] = x[k] < 0 ? -1. : x[k] > 0 ? 1. : x[k]; return r; }}
"""
# Quarter turns are taken off with pi/2 in three parts, the first two of 30 digits, so that their multiples are exact;
# what is left is at most pi/4, where Taylor's series end below rounding, and what rounding took from it (the tail) is
# put back. Angles of more than a million radians go lane by lane.
_TURNS = """
static inline casadi_real lane_sine(casadi_real x, casadi_real tail) {{
  casadi_real s = x * x, r = lane_all({sin[0]});
  {sin_terms}
  return x + (x * s * r + tail * (1. - s * .5)); }}
static inline casadi_real lane_cosine(casadi_real x, casadi_real tail) {{
  casadi_real s = x * x, half = s * .5, most = 1. - half, r = lane_all({cos[0]});
  {cos_terms}
  return most + (((1. - most) - half) + (s * s * r - x * tail)); }}
static inline int lane_far(casadi_real x) {{
  int k, far = 0; for (k = 0; k < LANES; ++k) far = far || !(x[k] < 1e6 && x[k] > -1e6); return far; }}
static casadi_real lane_turned(casadi_real x, casadi_real* ahead) {{
  casadi_real shifted = x * {two_over_pi} + 6755399441055744.;
  casadi_real turns = shifted - 6755399441055744.;
  casadi_real second = turns * {p2}, third = turns * {p3};
  casadi_real rough = x - turns * {p1}, fine = rough - second, left = fine - third;
  casadi_real tail = ((rough - fine) - second) + ((fine - left) - third);
  lane_bits quarter = (lane_bits) shifted, other = -(quarter & 1), sign = (quarter & 2) << 62;
  lane_bits sign_ahead = ((quarter + 1) & 2) << 62;
  lane_bits s = (lane_bits) lane_sine(left, tail), c = (lane_bits) lane_cosine(left, tail);
  *ahead = (casadi_real)(((other & s) | (~other & c)) ^ sign_ahead);
  return (casadi_real)(((other & c) | (~other & s)) ^ sign); }}
static casadi_real lane_both(casadi_real x, casadi_real* cosine) {{
  casadi_real r; int k;
  if (!lane_far(x)) return lane_turned(x, cosine);
  for (k = 0; k < LANES; ++k) {{ r[k] = sin(x[k]); (*cosine)[k] = cos(x[k]); }}
  return r; }}
static inline casadi_real lane_sin(casadi_real x) {{ casadi_real cosine; return lane_both(x, &cosine); }}
static inline casadi_real lane_cos(casadi_real x) {{ casadi_real cosine; lane_both(x, &cosine); return cosine; }}
"""
_OF_ONE = """
static inline casadi_real lane_{name}(casadi_real x) {{
  casadi_real r; int k; for (k = 0; k < LANES; ++k) r[k] = {name}(x[k]); return r; }}"""
_OF_TWO = """
static inline casadi_real lane_{name}(casadi_real x, casadi_real y) {{
  casadi_real r; int k; for (k = 0; k < LANES; ++k) r[k] = {name}(x[k], y[k]); return r; }}"""

_NUMBER = r"-?(?:casadi_inf|casadi_nan|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_X = r"(\w+(?:\[i\])?|\(\*\w+\+\+\))"  # a variable, or an entry in a loop
_COMPARED = {"<=": "le", "<": "lt", "==": "eq", "!=": "ne", "&&": "and", r"\|\|": "or"}
_REWRITTEN = [
    (re.compile(rf"^(\s*(?:a|w)\d+\s*=\s*)\(?({_NUMBER})\)?;$", re.M), r"\1lane_all(\2);"),
    *((re.compile(rf"(=\s*)\({_X}{sign}{_X}\);"), rf"\1lane_{name}(\2,\3);") for sign, name in _COMPARED.items()),
    (re.compile(rf"(=\s*)\(! ?{_X} ?\);"), r"\1lane_not(\2);"),
    (re.compile(rf"(=\s*)\({_X}\?{_X}:0\);"), r"\1lane_if(\2,\3);"),
    (re.compile(r"(\? arg\[\d+\]\[\d+\] : )0;"), r"\1lane_all(0.);"),
    (re.compile(r"if \((arg\[\d+\] \? )casadi_to_int\((\*arg\[\d+\])\)"), r"if (\1lane_any(\2)"),
    (re.compile(r"(\*[xy]\+\+ = )0\.?;"), r"\1lane_all(0.);"),
    (
        re.compile(r"(casadi_int n, )casadi_real alpha(\) \{.*?\*x\+\+ = )alpha;", re.S),
        r"\1double alpha\2lane_all(alpha);",
    ),
    (re.compile(r"(casadi_real \w+ ?= ?)0;"), r"\1lane_all(0.);"),
    (re.compile(r"casadi_real (\w+_default_in)"), r"double \1"),
    (re.compile(r"CASADI_CAST\(casadi_real, (\*x\+\+|x\[[^()]*\])\)"), r"\1"),  # of an array of them already
]
_UNKNOWN = re.compile(r"casadi_to_int\(\*")  # a choice between more than two, which lanes cannot share
_CALL = re.compile(rf"(?<=[=(,*+/ -])({'|'.join(('sin', 'cos', *SCALAR_FUNCTIONS, *OF_TWO))})\(")
_CONSTANT = re.compile(r"^static const casadi_real (casadi_c\d+)\[(\d+)\] =\s*\{([^}]*)\};", re.M)
_ASSIGNED = re.compile(r"^  (a\d+)=([^;]*);$")
_TURN = re.compile(r"^lane_(sin|cos)\((a\d+)\)$")
_HELPERS = {"fabs": "lane_fabs", "fmax": "lane_larger", "fmin": "lane_smaller", "sign": "lane_sign"}
_HELPER = re.compile(r"^casadi_real casadi_(\w+)\([^)]*\) \{(?:[^\n]*\}\n|\n.*?^\}\n)", re.M | re.S)


TESTED_CASADI = ("3.6.5", "3.8.2")
"""The oldest and the newest version of CasADi whose C was tested (`scripts/test-casadi`)."""

_PLAIN = "#ifndef casadi_real\n#define casadi_real double\n#endif\n"
_IGNORED = re.compile(r'/\*.*?\*/|"[^"\n]*"|^[ \t]*#[^\n]*$', re.S | re.M)  # comments, strings, preprocessor
# Choices of an array, or of zeros where there is none; of one entry; of a branch
_POINTER = re.compile(
    r"\b(arg|res)\[\d+\] ?\? \1\[\d+\] : (?:none|nowhere|casadi_zeros|0);"
    r"|\barg\[\d+\] ?\? (?:arg\[\d+\]\[\d+\] : lane_all\(0\.\);|lane_any\(\*arg\[\d+\]\) : 0\))"
)
_UNEXPECTED = {
    "numbers in braces": re.compile(r"\bcasadi_real\b[^;(){}]*=\s*\{(?!LANE_ALL\(|0\.?\};)"),
    "a type beside casadi_real": re.compile(r"\b(?:float|double)\b(?! alpha\)| \w+_default_in\()"),
    "a cast": re.compile(r"(?<!sizeof)\((?:const )?(?:casadi_real|casadi_int|int|long long|long)\s*\**\)(?! sizeof)"),
    "a choice between numbers": re.compile(r"\?"),
    "a comparison of numbers": re.compile(r"^\s*(?:[\w()*+\[\]]+\s*)[-+*/]?=(?!=)[^=;\n]*(?:[<>]|[=!]=|&&|\|\|)", re.M),
}
_LOOP_HEAD = re.compile(r"\bfor \([^;]*;[^;]*;[^;)]*\)")
_DEFINED = re.compile(r"^(?!return\b)(?:\w+[ *]+)+(\w+)\(", re.M)
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\(")
_STATEMENTS = {"if", "for", "while", "switch", "return", "sizeof", "LANE_ALL"}


class UnexpectedSource(ValueError):
    """C source does not look like that of a tested version of CasADi."""

    def __init__(self, reason: str) -> None:
        oldest, newest = TESTED_CASADI
        super().__init__(
            f"the C of CasADi {ca.CasadiMeta.version()} has {reason}, which flexarm cannot vectorize; "
            f"it is tested with CasADi {oldest} to {newest}"
        )


def vectorize(source: str, lanes: int) -> str:
    """Return C source of CasADi with a vector of `lanes` numbers in place of each number.

    Raises
    ------
    UnexpectedSource
        If the source has a construct that is not known to give the same numbers in vectors.
    ValueError
        If lanes cannot share a choice that the source makes.
    """
    if source.count(_PLAIN) != 1:
        raise UnexpectedSource("no definition of casadi_real")
    source = _HELPER.sub(_helper, source)
    source = _CONSTANT.sub(_constant, source)
    for pattern, words in _REWRITTEN:
        source = pattern.sub(words, source)
    source = _paired(_CALL.sub(r"lane_\1(", source))
    if _UNKNOWN.search(source):
        raise ValueError("lanes cannot share a choice between several functions")
    _check(source)
    return source.replace(_PLAIN, arithmetic(lanes))


def _check(source: str) -> None:
    """Raise UnexpectedSource if vectorized source has something that was written for numbers."""
    source = _IGNORED.sub("", source)
    defined = set(_DEFINED.findall(source)) | _STATEMENTS
    for name in _CALLED.findall(source):
        if name not in defined and not name.startswith("lane_"):
            raise UnexpectedSource(f"a call of {name}()")
    source = _LOOP_HEAD.sub("for ()", _POINTER.sub("choice;", source))
    for reason, pattern in _UNEXPECTED.items():
        if pattern.search(source):
            raise UnexpectedSource(reason)


def _paired(source: str) -> str:
    """Return the source with sine and cosine of one angle computed together."""
    lines = source.split("\n")
    seen: dict[str, tuple[int, str, str]] = {}  # by angle: the line, function and result
    declared, made = 0, 0
    for number, line in enumerate(lines):
        if line.startswith("  casadi_real a"):
            declared = number
        found = _ASSIGNED.match(line)
        if found is None:
            if not line.startswith(" "):
                seen.clear()
            continue
        call = _TURN.match(found[2])
        pair = seen.get(call[2]) if call else None
        if call and pair and pair[1] != call[1]:
            later, made = f"b{made}", made + 1
            first, kind, result = pair
            lines[declared] += f" casadi_real {later};"
            if kind == "sin":
                lines[first] = f"  {result}=lane_both({call[2]},&{later});"
            else:
                lines[first] = f"  {later}=lane_both({call[2]},&{result});"
            lines[number] = f"  {found[1]}={later};"
            del seen[call[2]]
        for angle in [angle for angle in seen if angle == found[1]]:
            del seen[angle]
        if call and not pair and call[2] != found[1]:
            seen[call[2]] = (number, call[1], found[1])
    return "\n".join(lines)


def _helper(found: re.Match[str]) -> str:
    """CasADi's own helpers that compare numbers."""
    name = found[1]
    if name not in _HELPERS:
        return found[0]
    places = "x, y" if name in ("fmax", "fmin") else "x"
    typed = ", ".join(f"casadi_real {each}" for each in places.split(", "))
    return f"static inline casadi_real casadi_{name}({typed}) {{ return {_HELPERS[name]}({places}); }}\n"


def _constant(found: re.Match[str]) -> str:
    """An array of constants, each of which is the same in all lanes."""
    vectors = ", ".join(f"LANE_ALL({each.strip()})" for each in found[3].split(","))
    return f"static const casadi_real {found[1]}[{found[2]}] = {{{vectors}}};"


def _turns() -> str:
    """Sine and cosine in vectors."""
    sines = [(-1) ** k / factorial(2 * k + 1) for k in range(1, 9)][::-1]
    cosines = [(-1) ** k / factorial(2 * k) for k in range(2, 10)][::-1]
    terms = (" ".join(f"r = r * s + lane_all({each!r});" for each in series[1:]) for series in (sines, cosines))
    first, second, third = HALF_PI_PARTS
    return _TURNS.format(
        sin=sines, cos=cosines, sin_terms=next(terms), cos_terms=next(terms),
        two_over_pi=repr(2 / pi), p1=repr(first), p2=repr(second), p3=repr(third),
    )  # fmt: skip


def arithmetic(lanes: int) -> str:
    """Return C that defines the number type and its operations."""
    out = _HEAD.format(bytes=8 * lanes, lanes=lanes, copies=", ".join(["x"] * lanes)) + _turns()
    out += "".join(_OF_ONE.format(name=name) for name in SCALAR_FUNCTIONS)
    return out + "".join(_OF_TWO.format(name=name) for name in OF_TWO)
