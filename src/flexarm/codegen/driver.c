/* The integration loop between two breakpoints: inputs, step, error judgement, step size control, recorded nodes.

   It follows the compiled step @STEP@ in its library. codegen/driver.py has the same loop in Python, with the
   same names and the same rules; docs/design.md describes both. Arrays of a group of lanes have the lane as their last
   index; a single robot is a group of one lane. The lanes of a group share their steps: the largest error decides. */

#include <math.h>
#include <stdlib.h>
#include <time.h>

#ifndef LANES
#define LANES 1
#endif

#define SAFETY @SAFETY@
#define SMALLEST_CHANGE @SMALLEST_CHANGE@
#define LARGEST_CHANGE @LARGEST_CHANGE@
#define SMALLEST_EXCESS @SMALLEST_EXCESS@
#define LARGEST_STATE @LARGEST_STATE@
#define UNSOLVED_EXCESS @UNSOLVED_EXCESS@
#define TIME_SLACK @TIME_SLACK@

enum { REACHED_STOP, ENOUGH_STEPS, TIME_IS_UP, STEP_TOO_SMALL, INPUTS_FAILED, COULD_NOT_RUN };

/* One input over a stretch without jumps, with s = scale t + shift: a parabola, a wave whose frequency may grow, a
   decaying exponential and a piecewise polynomial in (s - row[0]) row[1], added up. */
typedef struct {
  double scale, shift, offset, slope, curvature;
  double amplitude, frequency, phase, growth;
  double decaying, decay_rate;
  long long intervals, terms;
  const double *knots, *rows;
} flexarm_segment;

typedef struct {
  long long states, measures, columns, stages, input_lanes;
  long long first_acceleration, first_auxiliary, accelerations;
  long long block, block_steps, is_fixed, was_rejected, most_steps, most_attempts;
  long long steps, attempts, rejected, unsolved; /* of this call */
  double t, stop, dt, longest, smallest, previous, recent_excess, former_excess, patience, exponent;
  double shortest_taken, longest_taken;
  const double *nodes, *numbers, *horizon, *solved, *error_limit, *unsolved_limit;
  const flexarm_segment *segments; /* columns x input_lanes (LANES, or 1 for all); none: the callback fills the inputs */
  double *stage_times, *inputs, *times, *path, *errors, *left, *start;
  int (*fill_inputs)(void);
  long long *unsolved_by_lane; /* added up over calls; may be none */
} flexarm_control;

/* Memory on whole cache lines for `count` values; `memory` is to be freed. */
static casadi_real* flexarm_workspace(long long count, void** memory) {
  const size_t line = 64;
  *memory = malloc((size_t) (count + 1) * sizeof(casadi_real) + line);
  return (casadi_real*) (((size_t) *memory + line - 1) / line * line);
}

static double flexarm_now(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static double flexarm_value(const flexarm_segment* g, double t) {
  double s = g->scale * t + g->shift;
  double out = g->offset + (g->slope * s + g->curvature * (s * s) / 2);
  if (g->amplitude != 0) out += g->amplitude * sin(g->frequency * s + g->growth * (s * s) + g->phase);
  if (g->decaying != 0) out += g->decaying * exp(-g->decay_rate * s);
  if (g->intervals) {
    long long low = 0, high = g->intervals - 1, k;
    double x, sum = 0;
    const double* row;
    while (low < high) {
      k = (low + high + 1) / 2;
      if (s < g->knots[k]) high = k - 1; else low = k;
    }
    row = g->rows + low * (g->terms + 2);
    x = (s - row[0]) * row[1];
    for (k = 0; k < g->terms; ++k) sum = sum * x + row[2 + k];
    out += sum;
  }
  return out;
}

/* All inputs of all lanes at a time. */
static void flexarm_evaluate(const flexarm_control* c, double t, double* inputs) {
  long long j, l;
  for (j = 0; j < c->columns; ++j)
    if (c->input_lanes == 1) {
      double value = flexarm_value(c->segments + j, t);
      for (l = 0; l < LANES; ++l) inputs[j * LANES + l] = value;
    } else {
      for (l = 0; l < LANES; ++l) inputs[j * LANES + l] = flexarm_value(c->segments + j * LANES + l, t);
    }
}

/* The size of the next step, and whether it ends at the stop. */
static double flexarm_size(const flexarm_control* c, int* lands) {
  double remaining = c->stop - c->t, size = c->is_fixed || c->dt < c->longest ? c->dt : c->longest;
  double count = ceil(remaining / size - TIME_SLACK);
  *lands = count <= 1;
  return c->is_fixed ? size : count <= 1 ? remaining : count == 2 ? remaining / 2 : size;
}

static int flexarm_fill(flexarm_control* c, double h) {
  double below = nextafter(c->stop, -HUGE_VAL);
  long long k;
  for (k = 0; k < c->stages; ++k) {
    double t = c->t + h * c->nodes[k];
    c->stage_times[k] = t < below ? t : below;
  }
  if (!c->segments) return c->fill_inputs();
  for (k = 0; k < c->stages; ++k) flexarm_evaluate(c, c->stage_times[k], c->inputs + k * c->columns * LANES);
  return 0;
}

/* The largest of errors and of what the iteration left, in units of what each lane may have; counts unsolved steps. */
static double flexarm_excess(flexarm_control* c, const double* after) {
  long long k, l;
  int is_sound = 1, any_unsolved = 0;
  double error[LANES] = {0}, left[LANES] = {0}, worst = 0;
  for (k = 0; k < c->states * LANES; ++k) is_sound &= fabs(after[k]) < LARGEST_STATE;
  for (k = 0; k < c->measures; ++k)
    for (l = 0; l < LANES; ++l) {
      double e = c->errors[k * LANES + l], r = c->left[k * LANES + l];
      is_sound &= isfinite(e) && isfinite(r);
      error[l] = e > error[l] ? e : error[l];
      left[l] = r > left[l] ? r : left[l];
    }
  if (!is_sound) return HUGE_VAL;
  for (l = 0; l < LANES; ++l) {
    double unsolved = left[l] / c->unsolved_limit[l];
    error[l] /= c->error_limit[l];
    if (error[l] > worst) worst = error[l];
    if (unsolved > worst) worst = unsolved;
    if (c->is_fixed && unsolved > UNSOLVED_EXCESS) {
      any_unsolved = 1;
      if (c->unsolved_by_lane) ++c->unsolved_by_lane[l];
    }
  }
  c->unsolved += any_unsolved;
  return worst;
}

/* The factor from this step size to the next. In a vibration errors vanish twice a period: the largest one of some steps
   decides, those of this block of steps and of the one before. */
static double flexarm_change(flexarm_control* c, double excess, double h) {
  double change, largest = excess > SMALLEST_EXCESS ? excess : SMALLEST_EXCESS;
  if (!isfinite(excess)) return SMALLEST_CHANGE;
  if (excess <= 1) {
    double scale = c->previous > 0 ? pow(h / c->previous, -1 / c->exponent) : 0;
    c->recent_excess *= scale;
    c->former_excess *= scale;
    if (c->former_excess > largest) largest = c->former_excess;
    if (c->recent_excess > largest) largest = c->recent_excess;
    if (excess > c->recent_excess) c->recent_excess = excess;
    if (++c->block_steps >= c->block) {
      c->former_excess = c->recent_excess;
      c->recent_excess = 0;
      c->block_steps = 0;
    }
  }
  change = SAFETY * pow(largest, c->exponent);
  if (c->was_rejected && excess <= 1 && change > 1) change = 1;
  return change < SMALLEST_CHANGE ? SMALLEST_CHANGE : change > LARGEST_CHANGE ? LARGEST_CHANGE : change;
}

CASADI_SYMBOL_EXPORT long long @STEP@_drive(flexarm_control* c) {
  casadi_int sz_arg = 6, sz_res = 3, sz_iw = 0, sz_w = 0;
  long long width = c->states * LANES, status = REACHED_STOP, i;
  double began = flexarm_now(), h, sizes[LANES];
  void* memory;
  @STEP@_work(&sz_arg, &sz_res, &sz_iw, &sz_w);
  const casadi_real** arg = (const casadi_real**) malloc((sz_arg + 1) * sizeof(casadi_real*));
  casadi_real** res = (casadi_real**) malloc((sz_res + 1) * sizeof(casadi_real*));
  casadi_int* iw = (casadi_int*) malloc((sz_iw + 1) * sizeof(casadi_int));
  casadi_real* w = flexarm_workspace(sz_w, &memory);
  c->steps = c->attempts = c->rejected = c->unsolved = 0;
  c->times[0] = c->t;
  if (!arg || !res || !iw || !memory) status = COULD_NOT_RUN;
  while (status == REACHED_STOP && c->t < c->stop) {
    const double* before = c->path + c->steps * width;
    double *after = c->path + (c->steps + 1) * width, excess, change, proposed;
    int lands, is_short;
    if (c->steps >= c->most_steps || c->attempts >= c->most_attempts) status = ENOUGH_STEPS;
    else if (c->attempts && flexarm_now() - began > c->patience) status = TIME_IS_UP;
    if (status != REACHED_STOP) break;
    h = flexarm_size(c, &lands);
    is_short = h < c->dt;
    if (flexarm_fill(c, h)) {
      status = INPUTS_FAILED;
      break;
    }
    if (c->previous > 0 && h != c->previous) { /* auxiliary accelerations lead the others by a share of the step */
      const double* a = before + c->first_acceleration * LANES;
      double* aux = c->start + c->first_auxiliary * LANES;
      for (i = 0; i < width; ++i) c->start[i] = before[i];
      for (i = 0; i < c->accelerations * LANES; ++i) aux[i] = a[i] + (aux[i] - a[i]) * (h / c->previous);
      before = c->start;
    }
    for (i = 0; i < LANES; ++i) sizes[i] = h;
    const double* given[6] = {before, c->inputs, sizes, c->horizon, c->solved, c->numbers};
    double* found[3] = {after, c->errors, c->left};
    for (i = 0; i < 6; ++i) arg[i] = (const casadi_real*) given[i];
    for (i = 0; i < 3; ++i) res[i] = (casadi_real*) found[i];
    if (@STEP@(arg, res, iw, w, 0)) {
      status = COULD_NOT_RUN;
      break;
    }
    ++c->attempts;
    excess = flexarm_excess(c, after);
    change = flexarm_change(c, excess, h);
    proposed = h * change;
    if (c->is_fixed ? isfinite(excess) : excess <= 1) {
      ++c->steps;
      c->t = lands ? c->stop : c->t + h;
      c->times[c->steps] = c->t;
      c->previous = h;
      c->was_rejected = 0;
      if (h < c->shortest_taken) c->shortest_taken = h;
      if (h > c->longest_taken) c->longest_taken = h;
      if (!c->is_fixed && !(is_short && proposed < c->dt)) c->dt = proposed;
    } else {
      ++c->rejected;
      c->was_rejected = 1;
      if (c->is_fixed || c->t + proposed == c->t || (proposed < c->smallest && !is_short)) status = STEP_TOO_SMALL;
      if (!c->is_fixed) c->dt = proposed;
    }
  }
  free(arg); free(res); free(iw); free(memory);
  return status;
}
