"""Loops in C over rows of vectors: a function evaluated again and again, for several groups of lanes.

Rows of all groups are computed one after the other, so that a chunk of steps ends for all where one lane needs it. The
loops are called from Python without its lock.
"""

from __future__ import annotations

_LOOP = """
CASADI_SYMBOL_EXPORT long long {name}_lanes(long long count, long long groups,
    const casadi_real** first, const long long* stride, const long long* across,
    casadi_real** out, const long long* out_stride, const long long* out_across,
    const casadi_real* limits, casadi_real* range, long long width, long long checked, long long patience) {{
  casadi_int sz_arg = {inputs}, sz_res = {outputs}, sz_iw = 0, sz_w = 0;
  long long k, g, i, well = 1, idle = 0;
  lane_bits bad, big;
  {name}_work(&sz_arg, &sz_res, &sz_iw, &sz_w);
  const casadi_real** arg = (const casadi_real**) malloc((sz_arg + 1) * sizeof(casadi_real*));
  casadi_real** res = (casadi_real**) malloc((sz_res + 1) * sizeof(casadi_real*));
  casadi_int* iw = (casadi_int*) malloc((sz_iw + 1) * sizeof(casadi_int));
  casadi_real* w = (casadi_real*) malloc((sz_w + 1) * sizeof(casadi_real));
  k = -1;
  if (checked) for (g = 0; g < groups; ++g) for (i = 0; i < width; ++i)
    range[(2 * g) * width + i] = range[(2 * g + 1) * width + i] = first[0][g * across[0] + i];
  if (arg && res && iw && w) for (k = 0; k < count && well; ++k) {{
    bad = big = lane_none();
    for (g = 0; g < groups; ++g) {{
      for (i = 0; i < {inputs}; ++i) arg[i] = first[i] + k * stride[i] + g * across[i];
      for (i = 0; i < {outputs}; ++i) res[i] = out[i] + k * out_stride[i] + g * out_across[i];
      if ({name}(arg, res, iw, w, 0)) {{ k = -2; break; }}
      if (checked) lane_judge(width, checked, res, limits + 3 * g, &bad, &big);
      else if (range) lane_widen(width, range + 2 * g * width, res[0]);
    }}
    if (k < 0) break;
    well = !lane_some(bad);
    idle = checked && !lane_some(big) ? idle + 1 : 0;
    if (checked && well) for (g = 0; g < groups; ++g)
      lane_widen(width, range + 2 * g * width, out[0] + k * out_stride[0] + g * out_across[0]);
    well = well && (!checked || idle < patience);
  }}
  free(arg); free(res); free(iw); free(w);
  return k < 0 ? -1 : k;
}}
"""

# What a step tells: its state (absurd where beyond any sense: its errors are then infinite), errors, what was left.
_JUDGE = """
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
static void lane_judge(long long width, long long checked, casadi_real** res, const casadi_real* limits,
    lane_bits* bad, lane_bits* big) {
  long long i;
  lane_bits sound = ~lane_none();
  casadi_real most = lane_all(1e100);
  for (i = 0; i < width; ++i) sound &= (res[0][i] < most) & (res[0][i] > -most);
  for (i = 0; i < checked; ++i) {
    res[1][i] = (casadi_real)((sound & (lane_bits) res[1][i]) | (~sound & (lane_bits) lane_all(INFINITY)));
    *bad |= ~(res[1][i] <= limits[0]) | ~(res[2][i] <= limits[1]);
    *big |= ~(res[1][i] < limits[2]);
  }
}
"""

# States between nodes, by the polynomials of motion/sampling.py: `weights` are those of (q, h v, h^2 a) at both ends in
# q, v and a, then those of (x, h dx) in energies, then h and the share of the way.
_BETWEEN = """
CASADI_SYMBOL_EXPORT void flexarm_between(long long count, long long groups, long long every, const long long* left,
    const double* weights, const casadi_real* path, long long stride, long long across, casadi_real* rows,
    long long rows_across, long long low) {
  long long k, g, j, r, c, width = 3 * every + 2;
  for (g = 0; g < groups; ++g) for (k = 0; k < count; ++k) {
    const double *w = weights + 24 * k, *e = w + 18, h = w[22], s = w[23], rate = 1. / h;
    const casadi_real *x = path + g * across + left[k] * stride, *y = x + stride;
    casadi_real* row = rows + g * rows_across + k * width;
    for (j = 0; j < every; ++j) {
      casadi_real ends[6] = {x[j], x[every + j] * h, x[2 * every + j] * (h * h),
                             y[j], y[every + j] * h, y[2 * every + j] * (h * h)};
      casadi_real moved = ends[3] - ends[0], sum;
      casadi_real first = 6. * moved - 4. * ends[1] - 2. * ends[4], last = -6. * moved + 2. * ends[1] + 4. * ends[4];
      casadi_real thrown = lane_larger(lane_fabs(first - ends[2]), lane_fabs(last - ends[5]));
      lane_bits off = thrown > 2. * (lane_fabs(moved) + (lane_fabs(ends[1]) + lane_fabs(ends[4])) * .5);
      ends[2] = (casadi_real)((off & (lane_bits) first) | (~off & (lane_bits) ends[2]));
      ends[5] = (casadi_real)((off & (lane_bits) last) | (~off & (lane_bits) ends[5]));
      for (r = 0; r < 3; ++r) {
        sum = w[6 * r] * ends[0];
        for (c = 1; c < 6; ++c) sum += w[6 * r + c] * ends[c];
        row[r * every + j] = r == 2 ? sum * (rate * rate) : r ? sum * rate : sum;
      }
      if (low) row[2 * every + j] = x[2 * every + j] + s * (y[2 * every + j] - x[2 * every + j]);
    }
    for (j = 0; j < 2; ++j) {
      const casadi_real *p = x + 4 * every + j, *q = y + 4 * every + j;
      row[3 * every + j] = e[0] * p[0] + e[1] * h * p[2] + e[2] * q[0] + e[3] * h * q[2];
    }
  }
}
"""

# The largest error of all lanes in each step, as a share of what is allowed; infinite where one is not a number.
_WORST = """
CASADI_SYMBOL_EXPORT void flexarm_worst(long long count, long long groups, long long checked,
    const casadi_real* errors, long long stride, long long across, const casadi_real* allowed, double* worst) {
  long long k, g, i, lane;
  for (k = 0; k < count; ++k) {
    casadi_real most = lane_all(0.);
    for (g = 0; g < groups; ++g) {
      const casadi_real* row = errors + k * stride + g * across;
      for (i = 0; i < checked; ++i) {
        lane_bits known = (row[i] <= lane_all(1.7976931348623157e308)) & (row[i] >= -lane_all(1.7976931348623157e308));
        casadi_real share = row[i] / allowed[g];
        known &= share == share;
        share = (casadi_real)((known & (lane_bits) share) | (~known & (lane_bits) lane_all(INFINITY)));
        most = lane_larger(most, share);
      }
    }
    for (worst[k] = 0., lane = 0; lane < LANES; ++lane) if (most[lane] > worst[k]) worst[k] = most[lane];
  }
}
"""

# How often coordinates turn on nodes, after swings larger than `least`; `last` is where they turned, `living` has bits.
_SWINGS = """
CASADI_SYMBOL_EXPORT void flexarm_swings(long long nodes, long long groups, long long width,
    const casadi_real* q, const casadi_real* v, long long stride, long long across,
    const casadi_real* least, const lane_bits* living, casadi_real* last, lane_bits* counts) {
  long long k, g, j;
  for (g = 0; g < groups; ++g) for (k = 0; k + 1 < nodes; ++k) for (j = 0; j < width; ++j) {
    long long at = g * across + k * stride + j, own = g * width + j;
    lane_bits turned = v[at] * v[at + stride] < 0.;
    casadi_real swing = lane_fabs(q[at] - last[own]);
    counts[own] -= turned & (swing > least[own]) & living[g];
    last[own] = (casadi_real)((turned & (lane_bits) q[at]) | (~turned & (lane_bits) last[own]));
  }
}
"""


def loop(name: str, inputs: int, outputs: int) -> str:
    """C that evaluates a function, with so many inputs and outputs, for rows of groups of lanes. Where rows are steps
    (`checked` errors each), it ends as a chunk of steps does, by the limits of each lane, and tells how far the entries
    of the first output went; where they are not, a `range` that is given is widened by that of all rows."""
    return _LOOP.format(name=name, inputs=inputs, outputs=outputs)


COMMON = _JUDGE + _BETWEEN + _WORST + _SWINGS
"""What the loops of a library share."""
