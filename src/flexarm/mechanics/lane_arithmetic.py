"""Arithmetic of vectors in C, with the words that CasADi's programs need: each lane has the digits it would have alone.

Sums and products are the compiler's. Comparisons give ones and zeros, as in C. Sine and cosine are computed in vectors
(to about one unit in the last place); other functions of the library are called lane by lane.
"""

from __future__ import annotations

from math import factorial, pi

FUNCTIONS = (
    "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "log",
    "sqrt", "floor", "ceil", "fabs", "log1p", "expm1", "erf",
)  # fmt: skip
OF_TWO = ("pow", "atan2", "fmod", "hypot", "copysign")

PARTS = (1.570796325802803, 9.920935791635221e-10, 5.170182981794105e-19)  # of pi / 2

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


def _turns() -> str:
    """Sine and cosine in vectors."""
    sines = [(-1) ** k / factorial(2 * k + 1) for k in range(1, 9)][::-1]
    cosines = [(-1) ** k / factorial(2 * k) for k in range(2, 10)][::-1]
    terms = (" ".join(f"r = r * s + lane_all({each!r});" for each in series[1:]) for series in (sines, cosines))
    first, second, third = PARTS
    return _TURNS.format(
        sin=sines, cos=cosines, sin_terms=next(terms), cos_terms=next(terms),
        two_over_pi=repr(2 / pi), p1=repr(first), p2=repr(second), p3=repr(third),
    )  # fmt: skip


def arithmetic(lanes: int) -> str:
    """C that says what a number is, and what can be done with it."""
    out = _HEAD.format(bytes=8 * lanes, lanes=lanes, copies=", ".join(["x"] * lanes)) + _turns()
    out += "".join(_OF_ONE.format(name=name) for name in FUNCTIONS)
    return out + "".join(_OF_TWO.format(name=name) for name in OF_TWO)
