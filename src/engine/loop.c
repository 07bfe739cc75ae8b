/*
 * loop.c: the periodic motion of a state under a periodic drive.
 *
 * One period of the drive maps the state at its start to the state at its end; a loop is a fixed point of this map.
 * Flesh is damped, so that plain repetition converges, by one factor a period; where that factor is near 1 (soft,
 * hardly damped flesh, short clips) the iteration is accelerated by Anderson mixing (Anderson 1965; Walker, Ni 2011,
 * "Anderson acceleration for fixed-point iterations"), of the type that minimises the residual over the last few
 * periods.
 *
 * Departures: coefficients come from what can be seen, the vertices and their velocities, and are then applied to the
 * whole state. Only states that declare themselves made of floats are mixed
 * (SOLVER_FLOAT_STATE). A mixed state whose residual has grown is thrown away for the plain one.
 */
#include <math.h>
#include <string.h>

#include "engine/model_object.h"
#include "math/math3.h"

enum { HISTORY = 4, DEFAULT_LIMIT = 64 };
static const double DEFAULT_POSITION = 1e-5, DEFAULT_VELOCITY = 1e-3;
/* Plain repetition goes on as long as each period leaves less than this part of the residual. */
static const double FAST = 0.5;

static float *floats_at(const cutis_state *state, size_t offset) { return (float *)((char *)state + offset); }

/* ---- what can be seen of a state ---- */

/* A float array of what can be seen: positions of the vertices, then how far they came in the last substep. */
static size_t seen_count(const cutis_model *m) { return (size_t)m->character->vertex_count * 6; }

/* Take down the positions; the first half of `seen` held those of the substep before. */
static void seen_take(const cutis_model *m, const cutis_state *state, float *seen)
{
    const float *x = floats_at(state, m->vertices);
    size_t half = seen_count(m) / 2;
    for (size_t i = 0; i < half; i++) {
        seen[half + i] = x[i] - seen[i];
        seen[i] = x[i];
    }
}

/* Root of the largest sum of squares of three differences. */
static double largest_difference(const float *a, const float *b, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i += 3) {
        double x = (double)a[i] - (double)b[i], y = (double)a[i + 1] - (double)b[i + 1];
        double z = (double)a[i + 2] - (double)b[i + 2];
        largest = MAX(largest, x * x + y * y + z * z);
    }
    return sqrt(largest);
}

/* ---- mixing ---- */

typedef struct loop_search {
    const cutis_model *model;
    const cutis_loop_def *def;
    int count, newest;          /* of the histories: filled, and the latest entry */
    cutis_state *ends[HISTORY]; /* states at the end of a period */
    float *residuals[HISTORY];  /* seen end less seen start */
    float *seen_ends[HISTORY];
    float *start, *seen; /* seen at the start and at the end of the period */
    bool mixable;
} loop_search;

static void residual_take(const loop_search *s, float *residual)
{
    size_t count = seen_count(s->model);
    /* Velocities count like the path they cover in a tenth of a second, about a swing of soft flesh. */
    float weight = (float)(0.1 / s->model->substep);
    for (size_t i = 0; i < count; i++) residual[i] = (s->seen[i] - s->start[i]) * (i < count / 2 ? 1 : weight);
}

static double dot(const float *a, const float *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

/* Weights (count), summing to 1, of the ends whose mean has the smallest residual. False when they are no use. */
static bool mixing_weights(const loop_search *s, double *weights)
{
    size_t length = seen_count(s->model);
    double a[HISTORY * HISTORY], x[HISTORY], trace = 0;
    int n = s->count;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[i * n + j] = dot(s->residuals[i], s->residuals[j], length);
    for (int i = 0; i < n; i++) trace += a[i * n + i];
    if (!(trace > 0)) return false;
    for (int i = 0; i < n; i++) a[i * n + i] += 1e-8 * trace, x[i] = 1;
    /* Cholesky; the constrained minimum is the solution for ones, scaled to the sum 1. */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > 0)) return false;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) x[i] -= a[i * n + k] * x[k];
        x[i] /= a[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) x[i] -= a[k * n + i] * x[k];
        x[i] /= a[i * n + i];
    }
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    if (!(fabs(sum) > 0)) return false;
    for (int i = 0; i < n; i++) weights[i] = x[i] / sum;
    for (int i = 0; i < n; i++)
        if (!(fabs(weights[i]) < 20)) return false;
    return true;
}

/* The weighted mean of `bytes` bytes of floats at an offset, from the ends into the state. */
static void mix(const loop_search *s, const double *weights, size_t offset, size_t bytes, cutis_state *state)
{
    float *to = floats_at(state, offset);
    for (size_t i = 0; i < bytes / sizeof(float); i++) {
        double sum = 0;
        for (int k = 0; k < s->count; k++) sum += weights[k] * (double)floats_at(s->ends[k], offset)[i];
        if (fabs(sum) < 1e30) to[i] = (float)sum;
    }
}

static void mix_state(const loop_search *s, const double *weights, cutis_state *state)
{
    const cutis_model *m = s->model;
    for (size_t i = 0; i < seen_count(m); i++) {
        double sum = 0;
        for (int k = 0; k < s->count; k++) sum += weights[k] * (double)s->seen_ends[k][i];
        s->seen[i] = (float)sum;
    }
    size_t point_bytes = (size_t)m->character->point_count * 3 * sizeof(float);
    for (int i = 0; i < m->stage_count; i++) {
        const stage *part = &m->stages[i];
        mix(s, weights, part->points_old, point_bytes, state);
        mix(s, weights, part->points, point_bytes, state);
        mix(s, weights, part->state, part->solver->state_size(part->data), state);
    }
}

/* ---- the search ---- */

/* Mean over the vertices of the squared path in the last substep. */
static double path_squared(const cutis_model *m, const float *seen)
{
    size_t half = seen_count(m) / 2;
    return dot(seen + half, seen + half, half) / (double)m->character->vertex_count;
}

/* Turn and move what was seen back by the travel of a period. */
static void seen_return(const cutis_model *m, mat34 back, float *seen)
{
    size_t half = seen_count(m) / 2;
    for (size_t i = 0; i < half; i += 3) {
        vec3_store(seen + i, mat34_point(back.m, vec3_load(seen + i)));
        vec3_store(seen + half + i, mat34_vector(back.m, vec3_load(seen + half + i)));
    }
}

/* One period from time 0. Returns the mean of the squared speed; negative when interrupted. */
static double run_period(const loop_search *s, cutis_state *state)
{
    const cutis_model *m = s->model;
    int64_t substeps = (int64_t)floor(s->def->period / m->substep + 0.5);
    cutis_step_input input = {.motion = s->def->motion, .jobs = s->def->jobs};
    double sum = 0;
    state->time = 0;
    state->substeps = 0;
    for (int64_t i = 1; i <= substeps; i++) {
        cutis_state_step(m, state, &input, (double)i * m->substep - state->time);
        seen_take(m, state, s->seen);
        sum += path_squared(m, s->seen) / (m->substep * m->substep);
        if (s->def->interrupted && s->def->interrupted(s->def->context)) return -1;
    }
    if (s->def->travel) {
        mat34 travel, back;
        memcpy(&travel, s->def->travel, sizeof travel);
        if (mat34_inverse(travel, &back)) {
            cutis_state_teleport(m, state, back.m);
            seen_return(m, back, s->seen);
        }
    }
    state->time = 0;
    state->substeps = 0;
    return sum / (double)substeps;
}

static cutis_result search_start(loop_search *s, arena *memory, const cutis_allocator *allocator, cutis_error *error)
{
    const cutis_model *m = s->model;
    cutis_result result = CUTIS_OK;
    s->mixable = !s->def->plain;
    for (int i = 0; i < m->stage_count; i++) s->mixable &= (m->stages[i].solver->flags & SOLVER_FLOAT_STATE) != 0;
    s->start = ARENA_ARRAY(memory, float, seen_count(m));
    s->seen = ARENA_ARRAY(memory, float, seen_count(m));
    for (int i = 0; i < HISTORY && s->mixable && result == CUTIS_OK; i++) {
        s->residuals[i] = ARENA_ARRAY(memory, float, seen_count(m));
        s->seen_ends[i] = ARENA_ARRAY(memory, float, seen_count(m));
        result = cutis_state_create(m, allocator, &s->ends[i], error);
    }
    if (result == CUTIS_OK && memory->failed) result = error_memory(error, "a loop");
    return result;
}

/* Repeat until the seam is closed; `state` is then at the start of a period. */
static void search(loop_search *s, cutis_state *state, cutis_loop_info *info)
{
    const cutis_model *m = s->model;
    const cutis_loop_def *def = s->def;
    double position_limit = (def->position_tolerance > 0 ? def->position_tolerance : DEFAULT_POSITION);
    double velocity_limit = (def->velocity_tolerance > 0 ? def->velocity_tolerance : DEFAULT_VELOCITY);
    int limit = def->period_limit > 0 ? def->period_limit : DEFAULT_LIMIT;
    double before = HUGE_VAL;
    bool mixed = false;
    /* At first at rest in the pose: nothing moves. */
    size_t count = seen_count(m), half = count / 2;
    memcpy(s->seen, floats_at(state, m->vertices), half * sizeof(float));
    for (info->periods = 0; info->periods < limit;) {
        memcpy(s->start, s->seen, count * sizeof(float));
        double speed2 = run_period(s, state);
        if (speed2 < 0) {
            info->interrupted = true;
            return;
        }
        info->periods++;
        double position = largest_difference(s->start, s->seen, half);
        double velocity = largest_difference(s->start + half, s->seen + half, half) / m->substep;
        info->speed = sqrt(speed2);
        info->position_seam = position / (double)m->character->size;
        info->velocity_seam = info->speed > 0 ? velocity / info->speed : 0;
        info->closed = info->position_seam <= position_limit && info->velocity_seam <= velocity_limit;
        if (info->closed) return;

        double now = MAX(info->position_seam / position_limit, info->velocity_seam / velocity_limit);
        if (s->mixable) {
            s->newest = (s->newest + 1) % HISTORY;
            /* A mixed state that made it worse spoils the history, too. */
            if (mixed && now > 2 * before) s->count = 0, s->newest = 0;
            s->count = MIN(s->count + 1, HISTORY);
            cutis_state_copy(m, s->ends[s->newest], state);
            memcpy(s->seen_ends[s->newest], s->seen, count * sizeof(float));
            residual_take(s, s->residuals[s->newest]);
            double weights[HISTORY];
            mixed = now > FAST * before && s->count >= 2 && mixing_weights(s, weights);
            if (mixed) mix_state(s, weights, state);
            info->accelerated |= mixed;
        }
        before = now;
    }
}

cutis_result cutis_state_find_loop(const cutis_model *model, cutis_state *state, const cutis_loop_def *def,
                                   const cutis_allocator *allocator, cutis_loop_info *info, cutis_error *error)
{
    *info = (cutis_loop_info){.closed = true};
    if (!(def->period > 0) || !def->motion.sample)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "a loop needs a motion and a period of more than 0 s");
    if (model->substep == 0) return CUTIS_OK; /* no past, nothing to find */
    double substeps = def->period / model->substep;
    if (fabs(substeps - floor(substeps + 0.5)) > 1e-6 * substeps)
        return error_set(
            error, CUTIS_ERROR_ARGUMENT,
            "a period of %.9g s is not a whole number of substeps of %.9g s; build the model with a substep "
            "of %.9g s",
            def->period, model->substep, def->period / ceil(substeps));
    loop_search s = {.model = model, .def = def, .newest = -1};
    arena memory = arena_create(allocator);
    cutis_result result = search_start(&s, &memory, allocator, error);
    if (result == CUTIS_OK) {
        info->closed = false;
        search(&s, state, info);
    }
    for (int i = 0; i < HISTORY; i++) cutis_state_destroy(s.ends[i]);
    arena_destroy(&memory);
    return result;
}
