/* The integration loop with a digital controller: steps from sample to sample, and what happens at one.

   It follows driver.c and the compiled start @START@ (accelerations and powers at a state) in the library of a step.
   codegen/sampler.py has the same loop in Python; there every controller is called. */

enum { CALLED, LINEAR };
enum { TAKEN, FAILED, PAUSED }; /* samples; a controller may want the nodes so far to be looked at before it is called */
enum { SIGNAL, READING, CHANGE }; /* sources of what a controller measures */

/* A controller is called, or is linear: with z = (measured, references, states) and what limits leave of its own sums,
   w[i] = min(max(row[i] (z, w) , lower[i]), upper[i]), its commands and next states are rows times (z, w).
   The number of a sample is that of the row of tables which hold references and noise. */
typedef struct {
  long long kind, next, is_fresh, softens;
  long long rows, samples, most_rows, most_samples; /* of this call */
  long long coordinates, forces, torques, first_torque;
  long long signals, channels, measured, references, states, saturated, command_line, reading_line;
  double rate, slack, final, size, soft_stiffness, soft_damping, kick, shortening, first_size, since;
  const long long *waits, *moves, *sources, *places, *channel_signals, *channel_delays;
  const double *lags, *first_torques, *limits, *sizes;
  const double *signal_rows, *signal_offsets, *biases, *resolutions, *noise, *reference_table;
  const double *saturated_rows, *lower, *upper, *command_rows, *state_rows; /* the last entry of a row is a constant */
  double *values, *commands, *next_states, *readings, *last_readings, *lines;
  double *start, *target, *command_lines, *held_times, *held; /* torques: now, and those of all samples of this call */
  double *start_inputs;
  int (*call)(void);
  int (*restart)(double); /* of the last node for a step size, where the plant's start is not enough; or none */
} flexarm_sampler;

static double flexarm_row(const double* row, const double* x, long long count) {
  double sum = row[count];
  long long k;
  for (k = 0; k < count; ++k)
    if (row[k] != 0) sum += row[k] * x[k];
  return sum;
}

/* The torque of an actuator at time t, until the next sample. */
static double flexarm_torque(const flexarm_sampler* d, long long k, double t) {
  double after = t > d->since ? t - d->since : 0, gap = d->target[k] - d->start[k];
  return gap == 0 || d->lags[k] == 0 ? d->target[k] : d->target[k] - gap * exp(-after / d->lags[k]);
}

/* What sensors show, then the controller, then actuators; 1 where a command or a state is not finite. */
CASADI_SYMBOL_EXPORT int @STEP@_sample(const flexarm_control* c, flexarm_sampler* d, const double* state) {
  long long k, n = 2 * d->coordinates, z = d->measured + d->references + d->states;
  double *x = d->values, *signals = x + z + d->saturated;
  for (k = 0; k < d->signals; ++k) {
    double sum = d->signal_offsets[k];
    long long j;
    for (j = 0; j < n; ++j)
      if (d->signal_rows[k * n + j] != 0) sum += d->signal_rows[k * n + j] * state[j];
    signals[k] = sum;
  }
  for (k = 0; k < d->channels; ++k) {
    double value = signals[d->channel_signals[k]] + d->biases[k] + d->noise[d->next * d->channels + k];
    double* line = d->lines + k * d->reading_line;
    long long length = d->channel_delays[k] + 1;
    if (d->resolutions[k] != 0) value = d->resolutions[k] * nearbyint(value / d->resolutions[k]);
    line[d->next % length] = value;
    d->last_readings[k] = d->readings[k];
    d->readings[k] = line[d->next >= length ? (d->next + 1) % length : 0];
    if (d->next == 0) d->last_readings[k] = d->readings[k];
  }
  for (k = 0; k < d->measured; ++k) {
    long long from = d->places[k];
    x[k] = d->sources[k] == SIGNAL ? signals[from]
         : d->sources[k] == READING ? d->readings[from]
         : (d->readings[from] - d->last_readings[from]) * d->rate;
  }
  for (k = 0; k < d->references; ++k) x[d->measured + k] = d->reference_table[d->next * d->references + k];
  for (k = 0; k < d->saturated; ++k) {
    double u = flexarm_row(d->saturated_rows + k * (z + d->saturated + 1), x, z + d->saturated);
    x[z + k] = u < d->lower[k] ? d->lower[k] : u > d->upper[k] ? d->upper[k] : u;
  }
  for (k = 0; k < d->torques; ++k) {
    double u = flexarm_row(d->command_rows + k * (z + d->saturated + 1), x, z + d->saturated);
    d->commands[k] = u < -d->limits[k] ? -d->limits[k] : u > d->limits[k] ? d->limits[k] : u;
  }
  for (k = 0; k < d->states; ++k)
    d->next_states[k] = flexarm_row(d->state_rows + k * (z + d->saturated + 1), x, z + d->saturated);
  for (k = 0; k < d->torques; ++k) if (!isfinite(d->commands[k])) return 1;
  for (k = 0; k < d->states; ++k) if (!isfinite(d->next_states[k])) return 1;
  for (k = 0; k < d->states; ++k) x[d->measured + d->references + k] = d->next_states[k];
  for (k = 0; k < d->torques; ++k) {
    double before = d->next == 0 ? d->first_torques[k] : flexarm_torque(d, k, c->t), target;
    d->command_lines[(d->next % d->command_line) * d->torques + k] = d->commands[k];
    target = d->next < d->waits[k] ? d->first_torques[k]
           : d->command_lines[((d->next - d->waits[k]) % d->command_line) * d->torques + k];
    d->start[k] = d->moves[k] ? before : target;
    d->target[k] = target;
  }
  d->since = c->t;
  return 0;
}

/* Take a sample in a state, and hold its torques. */
static int flexarm_take_sample(flexarm_control* c, flexarm_sampler* d, const double* state) {
  long long k;
  int result = TAKEN;
  if (d->kind == LINEAR) {
    if (@STEP@_sample(c, d, state)) return FAILED;
    d->held_times[d->samples] = c->t;
    for (k = 0; k < d->torques; ++k) {
      d->held[2 * d->samples * d->torques + k] = d->start[k];
      d->held[(2 * d->samples + 1) * d->torques + k] = d->target[k];
    }
  }
  if (d->kind == CALLED || !c->segments || d->restart) result = d->call(); /* both read what is held */
  if (result != TAKEN) return result;
  for (k = 0; c->segments && k < d->torques; ++k) {
    flexarm_segment* g = (flexarm_segment*) c->segments + d->first_torque + k;
    int moves = d->start[k] != d->target[k] && d->lags[k] != 0;
    flexarm_segment held = {0};
    held.scale = 1;
    held.shift = moves ? -d->since : 0;
    held.offset = d->target[k];
    held.decaying = moves ? d->start[k] - d->target[k] : 0;
    held.decay_rate = moves ? 1 / d->lags[k] : 0;
    *g = held;
  }
  return TAKEN;
}

typedef struct {
  const casadi_real** arg;
  casadi_real **res, *w;
  casadi_int* iw;
} flexarm_memory;

/* Accelerations, powers and multipliers of a state anew, for a first step of size h. */
static int flexarm_restart(flexarm_control* c, flexarm_sampler* d, double* state, double h, flexarm_memory* m) {
  long long k, n = d->coordinates;
  double stiffness = d->soft_stiffness * (h * h), damping = d->soft_damping * h;
  if (d->restart) return d->restart(h) ? INPUTS_FAILED : REACHED_STOP;
  if (c->segments)
    for (k = 0; k < c->columns; ++k) d->start_inputs[k] = flexarm_value(c->segments + k, c->t);
  else {
    for (k = 0; k < c->stages; ++k) c->stage_times[k] = c->t;
    if (c->fill_inputs()) return INPUTS_FAILED;
    for (k = 0; k < c->columns; ++k) d->start_inputs[k] = c->inputs[k];
  }
  m->arg[0] = state; m->arg[1] = state + n; m->arg[2] = d->start_inputs; m->arg[3] = &stiffness; m->arg[4] = &damping;
  m->arg[5] = c->numbers;
  m->res[0] = state + 2 * n; m->res[1] = state + 4 * n + 2; m->res[2] = state + 4 * n + 3;
  m->res[3] = state + 4 * n + 4;
  if (@START@(m->arg, m->res, m->iw, m->w, 0)) return COULD_NOT_RUN;
  for (k = 0; k < n; ++k) state[3 * n + k] = state[2 * n + k];
  return REACHED_STOP;
}

/* Shorter steps where accelerations have jumped. */
static void flexarm_brace(flexarm_control* c, const flexarm_sampler* d, const double* before, const double* after) {
  long long k, n = d->coordinates;
  double jump = 0, largest = 0;
  for (k = 2 * n; k < 3 * n; ++k) {
    double size = d->sizes[k - 2 * n], change = fabs(after[k] - before[k]) / size, value = fabs(after[k]) / size;
    if (change > jump) jump = change;
    if (value > largest) largest = value;
  }
  if (jump > d->kick * largest) c->dt = d->shortening * (c->dt < d->first_size ? c->dt : d->first_size);
}

/* From a breakpoint to the next (`final`), with samples between them. */
CASADI_SYMBOL_EXPORT long long @STEP@_drive_sampled(flexarm_control* c, flexarm_sampler* d) {
  casadi_int sz_arg = 6, sz_res = 4, sz_iw = 0, sz_w = 0;
  long long status = REACHED_STOP, steps = 0, attempts = 0, rejected = 0, unsolved = 0, k;
  long long width = c->states, most_attempts = c->most_attempts;
  double *times = c->times, *path = c->path, began = flexarm_now();
  flexarm_memory m;
  @START@_work(&sz_arg, &sz_res, &sz_iw, &sz_w);
  m.arg = (const casadi_real**) malloc((sz_arg + 1) * sizeof(casadi_real*));
  m.res = (casadi_real**) malloc((sz_res + 1) * sizeof(casadi_real*));
  m.iw = (casadi_int*) malloc((sz_iw + 1) * sizeof(casadi_int));
  m.w = (casadi_real*) malloc((sz_w + 1) * sizeof(casadi_real));
  if (!m.arg || !m.res || !m.iw || !m.w) status = COULD_NOT_RUN;
  d->rows = d->samples = 0;
  times[0] = c->t;
  while (status == REACHED_STOP && c->t < d->final) {
    double *state = path + d->rows * width, tick = (double) d->next / d->rate;
    int softened, lands, taken;
    if (tick <= c->t + d->slack) {
      if (d->samples >= d->most_samples || d->rows + 2 > d->most_rows) status = ENOUGH_STEPS;
      else if (attempts && flexarm_now() - began > c->patience) status = TIME_IS_UP;
      else if ((taken = flexarm_take_sample(c, d, state)) != TAKEN)
        status = taken == PAUSED ? ENOUGH_STEPS : INPUTS_FAILED;
      if (status != REACHED_STOP) break;
      for (k = 0; k < width; ++k) state[width + k] = state[k];
      ++d->rows; ++d->samples; ++d->next;
      times[d->rows] = c->t;
      c->previous = c->was_rejected = 0;
      d->is_fresh = 1;
      if ((status = flexarm_restart(c, d, state + width, 0, &m)) != REACHED_STOP) break;
      if (d->kick > 0) flexarm_brace(c, d, state, state + width);
      state += width;
      tick = (double) d->next / d->rate;
    }
    c->stop = tick < d->final - d->slack ? tick : d->final;
    if (c->is_fixed) {
      double count = ceil((c->stop - c->t) / (d->size < c->longest ? d->size : c->longest) - TIME_SLACK);
      c->dt = (c->stop - c->t) / (count > 1 ? count : 1);
    }
    softened = d->is_fresh && d->softens;
    if (softened && (status = flexarm_restart(c, d, state, flexarm_size(c, &lands), &m)) != REACHED_STOP) break;
    c->most_attempts = softened ? 1 : most_attempts;
    c->most_steps = d->most_rows - d->rows;
    c->times = times + d->rows;
    c->path = state;
    status = @STEP@_drive(c);
    d->rows += c->steps;
    steps += c->steps; attempts += c->attempts; rejected += c->rejected; unsolved += c->unsolved;
    if (c->steps) d->is_fresh = 0;
    if (softened && status == ENOUGH_STEPS && d->rows < d->most_rows) status = REACHED_STOP;
  }
  c->times = times; c->path = path; c->stop = d->final; c->most_attempts = most_attempts;
  c->steps = steps; c->attempts = attempts; c->rejected = rejected; c->unsolved = unsolved;
  free(m.arg); free(m.res); free(m.iw); free(m.w);
  return status;
}
