/* Groups of SIMD lanes, one after the other: a group is driven towards its stop, its nodes are checked and evaluated.

   It follows driver.c in a library of vectors (codegen/simd.py). codegen/groups.py describes the fields of a batch and
   calls it. Arrays have the group as their first index and the lane as their last. Python is called only for groups
   that need it: those that may have reached a limit, or fail. It evaluates and settles their nodes. */

enum { ALL_ADVANCED, NEEDS_ATTENTION, NO_MEMORY };

#define NODE_STRIDE @NODE_STRIDE@

typedef struct {
  long long groups, group, every, coordinates, bounded, readings, wanted_count, reads_nodes, is_low_order, checks_all;
  long long signals;
  long long status, left, node; /* of the present group: why its driver returned, where samples are, the next node */
  double close, sample, smallest_share, error_level, largest_turn, patience, slow_error;
  double step_seconds, node_seconds;
  flexarm_control* controls;
  double *states, *buffer; /* buffer: two numbers a stage, or a vector a coordinate */
  const long long *is_active, *places, *kinds;
  const double *wanted, *quintic, *cubic, *reaching;
  long long *taken, *samples, *steps; /* by group, of the whole run */
  const casadi_real *sizes, *far, *turns, *lower, *upper, *unusual;
  const lane_bits *living;
  casadi_real *furthest, *fastest;
  lane_bits *beyond;
  casadi_real *turned_at, *turning_times;
  lane_bits *swings, *fast_swings;
  const long long *signal_links, *signal_stations; /* deflections of links at stations, along one or two axes */
  const double *signal_shapes, *fast_errors;
  casadi_real *link_bends, *swing_begin, *swing_begin_times, *swing_bends, *swing_far, *swing_far_times, *far_bends;
  casadi_real *phases, *phase_errors, *deflections; /* deflections: room for three numbers a node */
  lane_bits* is_falling;
  const casadi_real* fast_limits;
  casadi_real *range, *node_range, *first;
  int (*fill_readings)(void);
} flexarm_batch;

static inline lane_bits lane_none(void) { return (lane_bits)(lane_all(0.)); }
static inline int lane_some(lane_bits x) {
  int k, any = 0;
  for (k = 0; k < LANES; ++k) any = any || x[k];
  return any;
}
static inline casadi_real lane_select(lane_bits mask, casadi_real x, casadi_real y) {
  return (casadi_real)((mask & (lane_bits) x) | (~mask & (lane_bits) y));
}
static void lane_widen(long long count, casadi_real* range, const casadi_real* now) {
  long long i;
  for (i = 0; i < count; ++i) {
    range[i] = lane_smaller(range[i], now[i]);
    range[count + i] = lane_larger(range[count + i], now[i]);
  }
}

/* From a node x to the next, y, by the polynomials of results/step_history.py, a share s of the way: (q, v, a, energies). */
static void lane_between(const flexarm_batch* b, double s, double h, const casadi_real* x, const casadi_real* y,
    casadi_real* row) {
  long long j, r, c, p, every = b->every;
  double power[6] = {1., s, s * s, s * s * s, s * s * s * s, s * s * s * s * s}, w[18], e[4], rate = 1. / h;
  for (c = 0; c < 18; ++c) for (w[c] = 0., p = 0; p < 6; ++p) w[c] += power[p] * b->quintic[18 * p + c];
  for (c = 0; c < 4; ++c) for (e[c] = 0., p = 0; p < 4; ++p) e[c] += power[p] * b->cubic[4 * p + c];
  for (j = 0; j < every; ++j) {
    casadi_real ends[6] = {x[j], x[every + j] * h, x[2 * every + j] * (h * h),
                           y[j], y[every + j] * h, y[2 * every + j] * (h * h)};
    casadi_real sum;
    for (r = 0; r < 3; ++r) {
      sum = w[6 * r] * ends[0];
      for (c = 1; c < 6; ++c) sum += w[6 * r + c] * ends[c];
      row[r * every + j] = r == 2 ? sum * (rate * rate) : r ? sum * rate : sum;
    }
    if (b->is_low_order) row[2 * every + j] = x[2 * every + j] + s * (y[2 * every + j] - x[2 * every + j]);
  }
  for (j = 0; j < 2; ++j) {
    const casadi_real *from = x + 4 * every + j, *to = y + 4 * every + j;
    row[3 * every + j] = e[0] * from[0] + e[1] * h * from[2] + e[2] * to[0] + e[3] * h * to[2];
  }
}

typedef struct {
  const casadi_real** arg;
  casadi_real **res, *row, *out, *w;
  casadi_int* iw;
  void* memory;
} flexarm_reader;

static int flexarm_open_reader(const flexarm_batch* b, flexarm_reader* r) {
  casadi_int sz_arg = 6, sz_res = 1, sz_iw = 0, sz_w = 0;
  @READ@_work(&sz_arg, &sz_res, &sz_iw, &sz_w);
  r->arg = (const casadi_real**) malloc((sz_arg + 1) * sizeof(casadi_real*));
  r->res = (casadi_real**) malloc((sz_res + 1) * sizeof(casadi_real*));
  r->iw = (casadi_int*) malloc((sz_iw + 1) * sizeof(casadi_int));
  r->row = flexarm_workspace(3 * b->every + 2 + b->readings + sz_w, &r->memory);
  r->out = r->row + 3 * b->every + 2;
  r->w = r->out + b->readings;
  return r->arg && r->res && r->iw && r->memory;
}

static void flexarm_close_reader(flexarm_reader* r) {
  free(r->arg); free(r->res); free(r->iw); free(r->memory);
}

/* Readings of the present group at up to `stages` times between its nodes, in order; without times, at its last node.
   `is_sample` has a number that is not zero for those that are samples. */
static void flexarm_read_times(flexarm_batch* b, flexarm_reader* r, long long count, const double* wanted,
    const double* is_sample) {
  flexarm_control* c = b->controls + b->group;
  long long k, i, width = c->states;
  int at_end = !wanted;
  double below = nextafter(c->times[c->steps], -HUGE_VAL);
  const casadi_real *path = (const casadi_real*) c->path, *last = path + c->steps * width;
  casadi_real *range = b->range + 2 * b->group * b->readings, *nodes = b->node_range + 2 * b->group * b->readings;
  for (k = 0; k < c->stages; ++k) {
    double t = at_end ? below : wanted[k < count ? k : count - 1];
    c->stage_times[k] = t < below ? t : below;
  }
  if (!c->segments) b->fill_readings();
  for (k = 0; k < count; ++k) {
    const casadi_real* node = 0;
    if (c->segments) flexarm_evaluate(c, c->stage_times[k], c->inputs + k * c->columns * LANES);
    if (at_end) node = last;
    else {
      double t = wanted[k], h;
      while (b->left + 2 <= c->steps && c->times[b->left + 1] <= t) ++b->left;
      h = c->times[b->left + 1] - c->times[b->left];
      lane_between(b, (t - c->times[b->left]) / h, h, path + b->left * width, path + (b->left + 1) * width, r->row);
    }
    for (i = 0; i < 3; ++i) r->arg[i] = (node ? node : r->row) + i * b->every;
    r->arg[3] = (const casadi_real*) (c->inputs + k * c->columns * LANES);
    r->arg[4] = node ? node + 4 * b->every : r->row + 3 * b->every;
    r->arg[5] = (const casadi_real*) c->numbers;
    r->res[0] = r->out;
    @READ@(r->arg, r->res, r->iw, r->w, 0);
    if (at_end || wanted[k] == c->times[b->left]) lane_widen(b->readings, nodes, r->out);
    if (at_end || !is_sample[k]) continue;
    if (!b->samples[b->group]++) for (i = 0; i < b->readings; ++i) b->first[b->group * b->readings + i] = r->out[i];
    lane_widen(b->readings, range, r->out);
  }
}

/* Readings of the present group at the samples that lie before its last node and not after a limit, and at some nodes
   (all of them, as samples, if those are left open). */
static void flexarm_read_until(flexarm_batch* b, flexarm_reader* r, double limit) {
  flexarm_control* c = b->controls + b->group;
  long long* taken = b->taken + b->group;
  double end = c->times[c->steps] - b->close, *wanted = b->buffer, *is_sample = b->buffer + c->stages;
  while (c->steps) {
    long long count = 0;
    while (count < c->stages) {
      double sample = *taken < b->wanted_count && b->wanted[*taken] < end ? b->wanted[*taken] : HUGE_VAL;
      double node = b->node < c->steps ? c->times[b->node] : HUGE_VAL, t;
      if (sample < c->times[0]) sample = c->times[0];
      t = sample < node ? sample : node;
      if (!(t <= limit) || t == HUGE_VAL) break;
      is_sample[count] = b->reads_nodes || sample == t;
      if (sample == t) ++*taken;
      if (node == t) b->node += b->reads_nodes ? 1 : NODE_STRIDE;
      wanted[count++] = t;
    }
    if (!count) return;
    flexarm_read_times(b, r, count, wanted, is_sample);
  }
}

/* How far coordinates of the present group went, and which of its lanes may be beyond reason or, with their speed,
   beyond the bounds of some places. Not zero if one is, or if accelerations are unusual. */
static int flexarm_check(flexarm_batch* b) {
  flexarm_control* c = b->controls + b->group;
  long long j, k, g = b->group, n = b->coordinates, width = c->states;
  const casadi_real* path = (const casadi_real*) c->path;
  lane_bits out = lane_none();
  casadi_real turned = lane_all(0.), most = turned;
  for (j = 0; j < n; ++j) {
    long long own = g * n + j;
    casadi_real went = lane_all(0.), pushed = went;
    for (k = 0; k <= c->steps; ++k) {
      went = lane_larger(went, lane_fabs(path[k * width + j]));
      pushed = lane_larger(pushed, lane_fabs(path[k * width + 2 * b->every + j]));
    }
    out |= ~(went <= b->far[own]);
    turned += went * b->turns[own];
    b->furthest[own] = lane_select(b->living[g], lane_larger(b->furthest[own], went), b->furthest[own]);
    most = lane_larger(most, pushed / b->sizes[own]);
  }
  out |= turned > lane_all(b->largest_turn);
  for (j = 0; j < b->bounded; ++j) {
    casadi_real low = b->lower[g * b->bounded + j], high = b->upper[g * b->bounded + j];
    const casadi_real *q = path + b->places[j], *v = q + b->every;
    for (k = 0; k < c->steps; ++k) {
      double h = (c->times[k + 1] - c->times[k]) * b->reaching[j];
      casadi_real on = h * lane_larger(lane_fabs(v[k * width]), lane_fabs(v[(k + 1) * width]));
      out |= (lane_smaller(q[k * width], q[(k + 1) * width]) - on < low);
      out |= (lane_larger(q[k * width], q[(k + 1) * width]) + on > high);
    }
  }
  b->beyond[g] = out;
  b->fastest[g] = most;
  return lane_some(out) || lane_some(most > b->unusual[g]);
}

/* How far coordinates of each kind went, in sizes, in the buffer. */
static const casadi_real* flexarm_furthest_by_kind(flexarm_batch* b) {
  long long j, n = b->coordinates, first = b->group * n;
  casadi_real* most = (casadi_real*) b->buffer;
  for (j = 0; j < n; ++j) most[j] = lane_all(0.);
  for (j = 0; j < n; ++j)
    most[b->kinds[j]] = lane_larger(most[b->kinds[j]], b->furthest[first + j] / b->sizes[first + j]);
  return most;
}

/* Count turning points of coordinates of the present group after swings that are not small beside how far those of
   their kind went, and those that follow the one before within a sample. */
static void flexarm_count_swings(flexarm_batch* b) {
  flexarm_control* c = b->controls + b->group;
  long long j, k, g = b->group, n = b->coordinates, width = c->states;
  const casadi_real* most = flexarm_furthest_by_kind(b);
  for (j = 0; j < n; ++j) {
    long long own = g * n + j;
    casadi_real least = lane_larger(b->smallest_share * most[b->kinds[j]], lane_all(b->error_level)) * b->sizes[own];
    casadi_real where = b->turned_at[own], when = b->turning_times[own];
    lane_bits count = lane_none(), fast = count;
    for (k = 0; k < c->steps; ++k) {
      const casadi_real *q = (const casadi_real*) c->path + k * width + j, *v = q + b->every;
      lane_bits turned = v[0] * v[width] < 0., large = turned & (lane_fabs(q[0] - where) > least);
      casadi_real time = c->times[k] + v[0] / (v[0] - v[width]) * (c->times[k + 1] - c->times[k]);
      count -= large;
      fast -= large & (time - when < lane_all(b->sample));
      where = lane_select(turned, q[0], where);
      when = lane_select(turned, time, when);
    }
    b->turned_at[own] = where;
    b->turning_times[own] = when;
    b->swings[own] += count & b->living[g];
    b->fast_swings[own] += fast & b->living[g];
  }
}

/* Evaluate a deflection, as a share of the length of its link, at all nodes of the present group. */
static void flexarm_deflect(const flexarm_batch* b, long long signal, casadi_real* out) {
  const flexarm_control* c = b->controls + b->group;
  const casadi_real *path = (const casadi_real*) c->path, *sizes = b->sizes + b->group * b->coordinates;
  long long j, k;
  for (k = 0; k <= c->steps; ++k) out[k] = lane_all(0.);
  for (j = 0; j < b->coordinates; ++j) {
    double share = b->signal_shapes[signal * b->coordinates + j];
    casadi_real factor = share / sizes[j];
    if (share != 0) for (k = 0; k <= c->steps; ++k) out[k] += factor * path[k * c->states + j];
  }
}

/* Evaluate the square of the largest deflection of the link that has this signal and those that follow. */
static void flexarm_bend(const flexarm_batch* b, long long signal, casadi_real* bends, casadi_real* work) {
  long long k, s, steps = b->controls[b->group].steps;
  casadi_real *at_station = work, *along = work + steps + 1;
  for (k = 0; k <= steps; ++k) bends[k] = lane_all(0.);
  for (s = signal; s < b->signals && b->signal_links[s] == b->signal_links[signal]; ++s) {
    int is_first = s == signal || b->signal_stations[s] != b->signal_stations[s - 1];
    flexarm_deflect(b, s, along);
    for (k = 0; k <= steps; ++k) {
      at_station[k] = along[k] * along[k] + (is_first ? lane_all(0.) : at_station[k]);
      bends[k] = lane_larger(bends[k], at_station[k]);
    }
  }
}

/* Follow swings of deflections of the present group from one turning point to the next, without those that are small
   beside how far their link went. Each adds to the phase error, by its duration that of a fast or a slow vibration,
   times the square of the largest deflection of the link meanwhile; half a swing times the phase error is compared with
   the largest so far. */
static void flexarm_follow_swings(flexarm_batch* b) {
  flexarm_control* c = b->controls + b->group;
  long long s, k, g = b->group;
  casadi_real *bends = b->deflections, *along = bends + c->steps + 1;
  for (s = 0; s < b->signals; ++s) {
    long long own = g * b->signals + s;
    casadi_real begin = b->swing_begin[own], begin_time = b->swing_begin_times[own], bend = b->swing_bends[own];
    casadi_real far = b->swing_far[own], far_time = b->swing_far_times[own], far_bend = b->far_bends[own];
    casadi_real phase = b->phases[own], error = b->phase_errors[own], most = b->link_bends[own], least;
    lane_bits falls = b->is_falling[own];
    if (!s || b->signal_links[s] != b->signal_links[s - 1]) flexarm_bend(b, s, bends, along);
    flexarm_deflect(b, s, along);
    for (k = 0; k <= c->steps; ++k) most = lane_larger(most, bends[k]);
    least = b->smallest_share * b->smallest_share * most;
    for (k = 0; k <= c->steps; ++k) {
      casadi_real w = along[k], now = lane_all(c->times[k]), rate;
      lane_bits further = (falls & (w <= far)) | (~falls & (w >= far)), turned;
      far = lane_select(further, w, far);
      far_time = lane_select(further, now, far_time);
      far_bend = lane_larger(lane_select(further, lane_all(0.), far_bend), bends[k]);
      bend = lane_larger(bend, bends[k]);
      turned = ((w - far) * (w - far) > least) & b->living[g];
      rate = lane_select(far_time - begin_time < b->fast_limits[g], lane_all(b->fast_errors[s]), lane_all(b->slow_error));
      phase += lane_select(turned, rate * bend, lane_all(0.));
      error = lane_select(turned,
        lane_larger(error, lane_fabs(far - begin) * .5 * lane_smaller(phase, lane_all(2.))), error);
      begin = lane_select(turned, far, begin);
      begin_time = lane_select(turned, far_time, begin_time);
      bend = lane_select(turned, far_bend, bend);
      far = lane_select(turned, w, far);
      far_time = lane_select(turned, now, far_time);
      far_bend = lane_select(turned, bends[k], far_bend);
      falls ^= turned;
    }
    b->link_bends[own] = lane_select(b->living[g], most, b->link_bends[own]);
    b->swing_begin[own] = begin;
    b->swing_begin_times[own] = begin_time;
    b->swing_bends[own] = bend;
    b->swing_far[own] = far;
    b->swing_far_times[own] = far_time;
    b->far_bends[own] = far_bend;
    b->phases[own] = phase;
    b->phase_errors[own] = error;
    b->is_falling[own] = falls;
  }
}

/* Evaluate the rest of the nodes of the present group. */
static void flexarm_finish(flexarm_batch* b, flexarm_reader* r) {
  if (!b->controls[b->group].steps) return;
  flexarm_read_until(b, r, HUGE_VAL);
  flexarm_read_times(b, r, 1, 0, 0);
  flexarm_count_swings(b);
  flexarm_follow_swings(b);
}

/* Read the present group up to a limit of time (s), or finish it. */
CASADI_SYMBOL_EXPORT long long flexarm_evaluate_group(flexarm_batch* b, double limit, long long finishes) {
  flexarm_reader r;
  double began = flexarm_now();
  if (!flexarm_open_reader(b, &r)) {
    flexarm_close_reader(&r);
    return NO_MEMORY;
  }
  if (finishes) flexarm_finish(b, &r);
  else flexarm_read_until(b, &r, limit);
  flexarm_close_reader(&r);
  b->node_seconds += flexarm_now() - began;
  return 0;
}

/* Drive groups from `group` on, each with one call of the driver; return early for one that needs Python. */
CASADI_SYMBOL_EXPORT long long flexarm_advance(flexarm_batch* b) {
  flexarm_reader r;
  long long found = ALL_ADVANCED, driven_groups = 0;
  double began = flexarm_now();
  if (!flexarm_open_reader(b, &r)) {
    flexarm_close_reader(&r);
    return NO_MEMORY;
  }
  for (; b->group < b->groups; ++b->group) {
    flexarm_control* c = b->controls + b->group;
    double *state = b->states + b->group * c->states * LANES, start = flexarm_now(), driven;
    long long i, status;
    int attention;
    if (!b->is_active[b->group] || c->t >= c->stop) continue;
    if (driven_groups++ && start - began > b->patience) break;
    for (i = 0; i < c->states * LANES; ++i) c->path[i] = state[i];
    status = @STEP@_drive(c);
    driven = flexarm_now();
    b->step_seconds += driven - start;
    b->status = status;
    b->left = 0;
    b->node = b->reads_nodes ? 0 : NODE_STRIDE;
    attention = flexarm_check(b);
    if (b->checks_all || attention || status > TIME_IS_UP) found = NEEDS_ATTENTION;
    else {
      flexarm_finish(b, &r);
      b->steps[b->group] += c->steps;
      for (i = 0; i < c->states * LANES; ++i) state[i] = c->path[c->steps * c->states * LANES + i];
    }
    b->node_seconds += flexarm_now() - driven;
    if (found != ALL_ADVANCED) break;
  }
  flexarm_close_reader(&r);
  return found;
}
