"""Loops in C over rows of vectors: a function evaluated again and again, for several groups of lanes.

Rows of all groups are computed one after the other, so that a chunk of steps ends for all where one lane needs it. The
loops are called from Python without its lock.
"""

from __future__ import annotations

_LOOP = """
CASADI_SYMBOL_EXPORT long long {name}_lanes(long long count, long long groups,
    const casadi_real** first, const long long* stride, const long long* across,
    casadi_real** out, const long long* out_stride, const long long* out_across,
    const casadi_real* limits, casadi_real* range, double* worst, long long width, long long checked,
    long long patience) {{
  casadi_int sz_arg = {inputs}, sz_res = {outputs}, sz_iw = 0, sz_w = 0;
  long long k, g, i, well = 1, idle = 0;
  lane_bits bad, big;
  casadi_real most[2];
  {name}_work(&sz_arg, &sz_res, &sz_iw, &sz_w);
  const casadi_real** arg = (const casadi_real**) malloc((sz_arg + 1) * sizeof(casadi_real*));
  casadi_real** res = (casadi_real**) malloc((sz_res + 1) * sizeof(casadi_real*));
  casadi_int* iw = (casadi_int*) malloc((sz_iw + 1) * sizeof(casadi_int));
  void* room;
  casadi_real* w = lane_room(sz_w, &room);
  k = -1;
  if (checked) for (g = 0; g < groups; ++g) for (i = 0; i < width; ++i)
    range[(2 * g) * width + i] = range[(2 * g + 1) * width + i] = first[0][g * across[0] + i];
  if (arg && res && iw && room) for (k = 0; k < count && well; ++k) {{
    bad = big = lane_none();
    most[0] = most[1] = lane_all(0.);
    for (g = 0; g < groups; ++g) {{
      for (i = 0; i < {inputs}; ++i) arg[i] = first[i] + k * stride[i] + g * across[i];
      for (i = 0; i < {outputs}; ++i) res[i] = out[i] + k * out_stride[i] + g * out_across[i];
      if ({name}(arg, res, iw, w, 0)) {{ k = -2; break; }}
      if (checked) lane_judge(width, checked, res, limits + 5 * g, &bad, &big, most);
    }}
    if (k < 0) break;
    if (checked) for (i = 0; i < 2; ++i) worst[2 * k + i] = lane_most(most[i]);
    well = !lane_some(bad);
    idle = checked && !lane_some(big) ? idle + 1 : 0;
    if (checked && well) for (g = 0; g < groups; ++g)
      lane_widen(width, range + 2 * g * width, out[0] + k * out_stride[0] + g * out_across[0]);
    well = well && (!checked || idle < patience);
  }}
  free(arg); free(res); free(iw); free(room);
  return k < 0 ? -1 : k;
}}
"""

# What loops are made of: room for vectors, on whole cache lines; bits; how far numbers go.
_VECTORS = """
static casadi_real* lane_room(long long count, void** room) {
  const size_t size = sizeof(casadi_real);
  *room = malloc((count + 2) * size);
  return (casadi_real*)(((size_t) *room + size - 1) / size * size); }
static inline lane_bits lane_none(void) { return (lane_bits)(lane_all(0.)); }
static inline int lane_some(lane_bits x) {
  int k, any = 0; for (k = 0; k < LANES; ++k) any = any || x[k]; return any; }
static void lane_widen(long long width, casadi_real* range, const casadi_real* now) {
  long long i;
  for (i = 0; i < width; ++i) {
    range[i] = lane_smaller(range[i], now[i]);
    range[width + i] = lane_larger(range[width + i], now[i]);
  }
}
"""

# What a step tells: its state (absurd where beyond any sense: its errors are then infinite), errors, what was left. Its
# limits are the largest of both, the error below which longer steps would do, and what both are shares of.
_JUDGE = """
static inline double lane_most(casadi_real x) {
  int k; double most = x[0]; for (k = 1; k < LANES; ++k) if (x[k] > most) most = x[k]; return most; }
static inline casadi_real lane_share(casadi_real error, lane_bits known, casadi_real allowed) {
  casadi_real share = error / allowed;
  known &= share == share;
  return (casadi_real)((known & (lane_bits) share) | (~known & (lane_bits) lane_all(INFINITY))); }
static void lane_judge(long long width, long long checked, casadi_real** res, const casadi_real* limits,
    lane_bits* bad, lane_bits* big, casadi_real* most) {
  long long i;
  lane_bits sound = ~lane_none(), known = sound, solved = sound;
  casadi_real error = lane_all(0.), left = error, absurd = lane_all(1e100), largest = lane_all(1.7976931348623157e308);
  for (i = 0; i < width; ++i) sound &= (res[0][i] < absurd) & (res[0][i] > -absurd);
  for (i = 0; i < checked; ++i) {
    res[1][i] = (casadi_real)((sound & (lane_bits) res[1][i]) | (~sound & (lane_bits) lane_all(INFINITY)));
    *bad |= ~(res[1][i] <= limits[0]) | ~(res[2][i] <= limits[1]);
    *big |= ~(res[1][i] < limits[2]);
    known &= lane_fabs(res[1][i]) <= largest;
    solved &= lane_fabs(res[2][i]) <= largest;
    error = lane_larger(error, res[1][i]);
    left = lane_larger(left, res[2][i]);
  }
  most[0] = lane_larger(most[0], lane_share(error, known, limits[3]));
  most[1] = lane_larger(most[1], lane_share(left, solved, limits[4]));
}
"""


def loop(name: str, inputs: int, outputs: int) -> str:
    """C that evaluates a function, with so many inputs and outputs, for rows of groups of lanes. Where rows are steps
    (`checked` errors each), it ends as a chunk of steps does, by the limits of each lane, and tells the worst of all
    lanes in each step, and how far the entries of the first output went."""
    return _LOOP.format(name=name, inputs=inputs, outputs=outputs)


COMMON = _VECTORS + _JUDGE
"""What the loops of a library share."""
