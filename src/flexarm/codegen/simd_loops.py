"""Loops in C over vectors: a function over rows of several groups of lanes, and loops over the nodes of steps.

Rows of all groups are computed one after the other, so that a chunk of steps ends for all where one lane needs it.
Loops over nodes evaluate states at nodes and between them, the range of coordinates, and the number of their
oscillations. All are called without Python's lock.
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

# From a node x to the next, y, by the polynomials of motion/sampling.py: `weights` are those of (q, h v, h^2 a) at both
# ends in q, v and a, then those of (x, h dx) in energies, then h and the share of the way.
_BETWEEN = """
static void lane_weights(double s, double h, const double* quintic, const double* cubic, double* w) {
  int c, p;
  double power[6] = {1., s, s * s, s * s * s, s * s * s * s, s * s * s * s * s};
  for (c = 0; c < 18; ++c) for (w[c] = 0., p = 0; p < 6; ++p) w[c] += power[p] * quintic[18 * p + c];
  for (c = 0; c < 4; ++c) for (w[18 + c] = 0., p = 0; p < 4; ++p) w[18 + c] += power[p] * cubic[4 * p + c];
  w[22] = h;
  w[23] = s;
}
static void lane_between(long long every, const double* w, const casadi_real* x, const casadi_real* y, long long low,
    casadi_real* row) {
  long long j, r, c;
  const double *e = w + 18, h = w[22], s = w[23], rate = 1. / h;
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
"""

# A function (q, v, a, inputs, energies, numbers) -> readings at `count` wanted times, in order, between `nodes` nodes,
# by which `range` is widened, and at the last node, by which `at_nodes` is; `first` takes the very first readings.
_READ = """
CASADI_SYMBOL_EXPORT long long {name}_nodes(long long count, const double* wanted, long long nodes,
    const double* times, const casadi_real* inputs, long long across, casadi_real* first, casadi_real* at_nodes,
    long long groups, long long every, long long entered, long long width, long long told, long long told_numbers,
    long long reach, long long low, const casadi_real* path, const casadi_real* numbers, const double* quintic,
    const double* cubic, casadi_real* range) {{
  casadi_int sz_arg = 6, sz_res = 1, sz_iw = 0, sz_w = 0;
  long long k, g, i, left = 0, failed = 0;
  {name}_work(&sz_arg, &sz_res, &sz_iw, &sz_w);
  const casadi_real** arg = (const casadi_real**) malloc((sz_arg + 1) * sizeof(casadi_real*));
  casadi_real** res = (casadi_real**) malloc((sz_res + 1) * sizeof(casadi_real*));
  casadi_int* iw = (casadi_int*) malloc((sz_iw + 1) * sizeof(casadi_int));
  void* room;
  casadi_real *row = lane_room(3 * every + 2 + told + sz_w, &room), *w = row + 3 * every + 2 + told;
  double* weights = (double*) malloc((24 * count + 1) * sizeof(double));
  long long* before = (long long*) malloc((count + 1) * sizeof(long long));
  failed = !(arg && res && iw && room && weights && before);
  for (k = 0; k < count && !failed; ++k) {{
    while (left + 2 < nodes && times[left + 1] <= wanted[k]) ++left;
    before[k] = left;
    lane_weights((wanted[k] - times[left]) / (times[left + 1] - times[left]), times[left + 1] - times[left],
                 quintic, cubic, weights + 24 * k);
  }}
  for (g = 0; g < groups && !failed; ++g) {{
    const casadi_real* here = path + g * reach;
    res[0] = row + 3 * every + 2;
    for (k = 0; k < count + (at_nodes != 0) && !failed; ++k) {{
      const casadi_real *node = here + (nodes - 1) * width, *state = k < count ? row : node;
      if (k < count) lane_between(every, weights + 24 * k, here + before[k] * width, here + (before[k] + 1) * width,
                                  low, row);
      for (i = 0; i < 3; ++i) arg[i] = state + i * every;
      arg[3] = inputs + k * entered + g * across;
      arg[4] = k < count ? row + 3 * every : node + 4 * every;
      arg[5] = numbers + g * told_numbers;
      failed = {name}(arg, res, iw, w, 0);
      if (k == 0 && first) for (i = 0; i < told; ++i) first[g * told + i] = res[0][i];
      lane_widen(told, (k < count ? range : at_nodes) + 2 * g * told, res[0]);
    }}
  }}
  free(arg); free(res); free(iw); free(room); free(weights); free(before);
  return failed;
}}
"""

# How far coordinates went on the last steps of size h, by the least and the largest of each entry of the states:
# `furthest` so far, in lanes that are `living` (bits); which lanes may be `beyond` reason, or, with their speed, the
# bounds of some `places`; the `fastest` acceleration in sizes. 1 where one may be beyond, 2 where one is `unusual`.
_REACH = """
CASADI_SYMBOL_EXPORT long long flexarm_reach(double h, long long groups, long long width, long long every, long long n,
    long long bounded, const long long* places, const double* reaching, double coiled, const casadi_real* range,
    const casadi_real* sizes, const casadi_real* far, const casadi_real* turns, const casadi_real* lower,
    const casadi_real* upper, const casadi_real* unusual, const lane_bits* living, casadi_real* furthest,
    lane_bits* beyond, casadi_real* fastest) {
  long long g, j;
  lane_bits left = lane_none(), thrown = left;
  for (g = 0; g < groups; ++g) {
    const casadi_real *low = range + 2 * g * width, *high = low + width;
    lane_bits out = lane_none();
    casadi_real turned = lane_all(0.), most = turned;
    for (j = 0; j < n; ++j) {
      long long own = g * n + j, a = 2 * every + j;
      casadi_real went = lane_larger(lane_fabs(low[j]), lane_fabs(high[j])), all = lane_larger(furthest[own], went);
      out |= ~(went <= far[own]);
      turned += went * turns[own];
      furthest[own] = (casadi_real)((living[g] & (lane_bits) all) | (~living[g] & (lane_bits) furthest[own]));
      most = lane_larger(most, lane_larger(lane_fabs(low[a]), lane_fabs(high[a])) / sizes[own]);
    }
    out |= turned > lane_all(coiled);
    for (j = 0; j < bounded; ++j) {
      long long own = g * bounded + j, q = places[j], v = every + q;
      casadi_real on = h * reaching[j] * lane_larger(lane_fabs(low[v]), lane_fabs(high[v]));
      out |= (low[q] - on < lower[own]) | (high[q] + on > upper[own]);
    }
    beyond[g] = out;
    fastest[g] = most;
    left |= out;
    thrown |= most > unusual[g];
  }
  return lane_some(left) + 2 * lane_some(thrown);
}
"""

# How often coordinates turned on nodes, after swings that are not small beside how far those of their kind went; `last`
# is where they turned, `living` has bits.
_SWINGS = """
CASADI_SYMBOL_EXPORT long long flexarm_swings(long long nodes, long long groups, long long width, long long every,
    long long n, long long reach, const long long* kinds, double minded, double least, const casadi_real* path,
    const casadi_real* sizes, const casadi_real* furthest, const lane_bits* living, casadi_real* most,
    casadi_real* last, lane_bits* counts) {
  long long k, g, j;
  for (g = 0; g < groups; ++g) {
    for (j = 0; j < n; ++j) most[j] = lane_all(0.);
    for (j = 0; j < n; ++j) most[kinds[j]] = lane_larger(most[kinds[j]], furthest[g * n + j] / sizes[g * n + j]);
    for (j = 0; j < n; ++j) {
      long long own = g * n + j;
      casadi_real smallest = lane_larger(minded * most[kinds[j]], lane_all(least)) * sizes[own], where = last[own];
      lane_bits count = lane_none();
      for (k = 0; k + 1 < nodes; ++k) {
        const casadi_real *q = path + g * reach + k * width + j, *v = q + every;
        lane_bits turned = v[0] * v[width] < 0.;
        count -= turned & (lane_fabs(q[0] - where) > smallest);
        where = (casadi_real)((turned & (lane_bits) q[0]) | (~turned & (lane_bits) where));
      }
      last[own] = where;
      counts[own] += count & living[g];
    }
  }
  return 0;
}
"""

# States as the first nodes of the next steps: auxiliary accelerations lead the others by a fraction of the step.
_BEGIN = """
CASADI_SYMBOL_EXPORT long long flexarm_begin(double longer, const casadi_real* states, long long groups,
    long long width, long long every, long long reach, casadi_real* path) {
  long long g, i;
  for (g = 0; g < groups; ++g) {
    const casadi_real *state = states + g * width, *a = state + 2 * every;
    casadi_real* node = path + g * reach;
    for (i = 0; i < width; ++i) node[i] = state[i];
    if (longer != 1.) for (i = 0; i < every; ++i) node[3 * every + i] = a[i] + (a[every + i] - a[i]) * longer;
  }
  return 0;
}
"""

COMMON = _VECTORS + _JUDGE
"""What the loops of a library share."""

NODE_LOOPS = _BETWEEN + _REACH + _SWINGS + _BEGIN
"""The loops over nodes."""


def loop(name: str, inputs: int, outputs: int) -> str:
    """C that evaluates a function, with so many inputs and outputs, for rows of groups of lanes. Where rows are steps
    (`checked` errors each), it ends as a chunk of steps does, by the limits of each lane, and tells the worst of all
    lanes in each step, and how far the entries of the first output went."""
    return _LOOP.format(name=name, inputs=inputs, outputs=outputs)


def reading(name: str) -> str:
    """C that reads states with this function."""
    return _READ.format(name=name)
