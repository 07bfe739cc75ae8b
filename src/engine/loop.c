/*
 * loop.c: the periodic motion of a state under a periodic drive.
 *
 * One period of the drive maps the state at its start to the state at its end; a loop is a fixed point of this map.
 * Flesh is damped, so that plain repetition converges, by one factor a period; where that factor is near 1 (soft,
 * hardly damped flesh, short clips) the iteration is accelerated by Anderson mixing (Anderson 1965; Walker, Ni 2011,
 * "Anderson acceleration for fixed-point iterations"), of the type that minimises the residual over the last few
 * periods.
 *
 * Departures: coefficients come from what can be seen, the points of the last stage and their velocities, and are
 * then applied to the whole state. Only states that declare themselves made of floats are mixed
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

void cutis_state_difference(const cutis_model *model, const cutis_state *a, const cutis_state *b, double *position,
                            double *velocity)
{
    const stage *last = &model->stages[model->stage_count - 1];
    double largest = 0, fastest = 0;
    if (last->solver->flags & SOLVER_GEOMETRIC) {
        const float *x = floats_at(a, model->vertices), *y = floats_at(b, model->vertices);
        for (int v = 0; v < model->character->vertex_count; v++)
            largest = MAX(largest, (double)vec3_distance(vec3_load(x + 3 * (size_t)v), vec3_load(y + 3 * (size_t)v)));
    } else {
        const float *x = floats_at(a, last->points), *x_old = floats_at(a, last->points_old);
        const float *y = floats_at(b, last->points), *y_old = floats_at(b, last->points_old);
        for (size_t i = 0; i < (size_t)model->character->point_count * 3; i += 3) {
            double d2 = 0, v2 = 0;
            for (size_t k = i; k < i + 3; k++) {
                double d = (double)y[k] - (double)x[k];
                double v = ((double)y[k] - (double)y_old[k] - (double)x[k] + (double)x_old[k]) / model->substep;
                d2 += d * d, v2 += v * v;
            }
            largest = MAX(largest, d2), fastest = MAX(fastest, v2);
        }
        largest = sqrt(largest), fastest = sqrt(fastest);
    }
    *position = largest;
    *velocity = fastest;
}

/* Root mean square speed of the points in the last substep. */
static double speed_squared(const cutis_model *m, const cutis_state *state)
{
    const stage *last = &m->stages[m->stage_count - 1];
    const float *x = floats_at(state, last->points), *x_old = floats_at(state, last->points_old);
    size_t count = (size_t)m->character->point_count;
    double sum = 0;
    for (size_t i = 0; i < 3 * count; i++) {
        double v = ((double)x[i] - (double)x_old[i]) / m->substep;
        sum += v * v;
    }
    return sum / (double)count;
}

/* ---- mixing ---- */

typedef struct loop_search {
    const cutis_model *model;
    const cutis_loop_def *def;
    int count, newest;          /* of the histories: filled, and the latest entry */
    cutis_state *ends[HISTORY]; /* states at the end of a period */
    float *residuals[HISTORY];  /* (6 x point_count) seen end less seen start */
    bool mixable;
} loop_search;

/* Displacements of points and, scaled by what a velocity of the points changes in a substep's place, velocities. */
static void residual_take(const cutis_model *m, const cutis_state *start, const cutis_state *end, float *residual)
{
    const stage *last = &m->stages[m->stage_count - 1];
    const float *x = floats_at(start, last->points), *x_old = floats_at(start, last->points_old);
    const float *y = floats_at(end, last->points), *y_old = floats_at(end, last->points_old);
    size_t count = (size_t)m->character->point_count * 3;
    /* Velocities count like the path they cover in a tenth of a second, about a swing of soft flesh. */
    float weight = (float)(0.1 / m->substep);
    for (size_t i = 0; i < count; i++) {
        residual[i] = y[i] - x[i];
        residual[count + i] = weight * ((y[i] - y_old[i]) - (x[i] - x_old[i]));
    }
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
    size_t length = (size_t)s->model->character->point_count * 6;
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
    size_t point_bytes = (size_t)m->character->point_count * 3 * sizeof(float);
    for (int i = 0; i < m->stage_count; i++) {
        const stage *part = &m->stages[i];
        mix(s, weights, part->points_old, point_bytes, state);
        mix(s, weights, part->points, point_bytes, state);
        mix(s, weights, part->state, part->solver->state_size(part->data), state);
    }
}

/* ---- the search ---- */

/* One period from time 0. Returns the mean of the squared speed; negative when interrupted. */
static double run_period(const loop_search *s, cutis_state *state, cutis_step_stats *stats)
{
    const cutis_model *m = s->model;
    int64_t substeps = (int64_t)floor(s->def->period / m->substep + 0.5);
    cutis_step_input input = {.motion = s->def->motion, .jobs = s->def->jobs};
    double sum = 0;
    state->time = 0;
    state->substeps = 0;
    for (int64_t i = 1; i <= substeps; i++) {
        cutis_state_step(m, state, &input, (double)i * m->substep - state->time);
        stats->repairs += state->stats.repairs;
        sum += speed_squared(m, state);
        if (s->def->interrupted && s->def->interrupted(s->def->context)) return -1;
    }
    if (s->def->travel) {
        mat34 travel, back;
        memcpy(&travel, s->def->travel, sizeof travel);
        if (mat34_inverse(travel, &back)) cutis_state_teleport(m, state, back.m);
    }
    state->time = 0;
    state->substeps = 0;
    return sum / (double)substeps;
}

static cutis_result search_start(loop_search *s, const cutis_allocator *allocator, cutis_state **start,
                                 cutis_error *error)
{
    const cutis_model *m = s->model;
    s->mixable = !s->def->plain;
    for (int i = 0; i < m->stage_count; i++) s->mixable &= (m->stages[i].solver->flags & SOLVER_FLOAT_STATE) != 0;
    cutis_result result = cutis_state_create(m, allocator, start, error);
    for (int i = 0; i < HISTORY && s->mixable && result == CUTIS_OK; i++) {
        result = cutis_state_create(m, allocator, &s->ends[i], error);
        s->residuals[i] = memory_allocate(allocator, (size_t)m->character->point_count * 6, sizeof(float));
        if (result == CUTIS_OK && !s->residuals[i]) result = error_memory(error, "a loop");
    }
    return result;
}

static void search_end(loop_search *s, const cutis_allocator *allocator, cutis_state *start)
{
    cutis_state_destroy(start);
    for (int i = 0; i < HISTORY; i++) {
        cutis_state_destroy(s->ends[i]);
        memory_release(allocator, s->residuals[i], (size_t)s->model->character->point_count * 6, sizeof(float));
    }
}

/* Repeat until the seam is closed; `state` is then at the start of a period. */
static void search(loop_search *s, cutis_state *state, cutis_state *start, cutis_loop_info *info)
{
    const cutis_model *m = s->model;
    const cutis_loop_def *def = s->def;
    double position_limit = (def->position_tolerance > 0 ? def->position_tolerance : DEFAULT_POSITION);
    double velocity_limit = (def->velocity_tolerance > 0 ? def->velocity_tolerance : DEFAULT_VELOCITY);
    int limit = def->period_limit > 0 ? def->period_limit : DEFAULT_LIMIT;
    double before = HUGE_VAL;
    bool mixed = false;
    cutis_step_stats stats = {0};
    for (info->periods = 0; info->periods < limit;) {
        cutis_state_copy(m, start, state);
        double speed2 = run_period(s, state, &stats);
        if (speed2 < 0) {
            info->interrupted = true;
            return;
        }
        info->periods++;
        double position, velocity;
        cutis_state_difference(m, start, state, &position, &velocity);
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
            residual_take(m, start, state, s->residuals[s->newest]);
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
    cutis_state *start = NULL;
    cutis_result result = search_start(&s, allocator, &start, error);
    if (result == CUTIS_OK) {
        info->closed = false;
        search(&s, state, start, info);
    }
    search_end(&s, allocator, start);
    return result;
}
