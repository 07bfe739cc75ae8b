/*
 * loop.c: the periodic motion of a state under a periodic drive.
 *
 * One period of the drive maps the state at its start to the state at its end; a loop is a fixed point of this map.
 * Flesh is damped, so that plain repetition converges, by one factor a period; where that factor is near 1 (soft,
 * hardly damped flesh, short clips) the iteration is accelerated by Anderson mixing (Anderson 1965; Walker, Ni 2011,
 * "Anderson acceleration for fixed-point iterations"), of the type that minimises the residual over the last few
 * periods. Mixed and plain periods take turns (Banerjee, Suryanarayana, Pask 2016, "Periodic Pulay method").
 *
 * Departures: coefficients come from what can be seen, the vertices and their velocities, and are then applied to the
 * whole state. Only states that declare themselves made of floats are mixed (solver.float_state). A mixed state whose
 * residual has grown is thrown away for the plain one.
 *
 * The seam. Where flesh touches flesh the map is not smooth: rounding decides which pair meets first, and a period that
 * starts in the midst of it never ends as it began, by about a thousandth of an edge. But flesh forgets fast, and
 * in most motions there is an instant at which nothing touches, or little. A period may as well begin and end there. So
 * each period is compared with the one before at some instants (`phases`), and the seam is put at the best of them:
 * the result is one period of the simulation from that instant on, through the end of the clip, to that instant.
 */
#include <math.h>
#include <string.h>

#include "engine/model_object.h"
#include "math/math3.h"

enum { HISTORY = 4, DEFAULT_LIMIT = 64, PATIENCE = 4, HOPE = 16, PHASES = 48 };
static const double DEFAULT_POSITION = 1e-4, DEFAULT_VELOCITY = 1e-2;
/*
 * The search aims lower than the tolerances, and takes the best period once it has closed and for PATIENCE periods no
 * better one has come, or, as it will not close, for HOPE.
 */
static const double AIM = 0.1, IMPROVED = 0.7;
/* Plain repetition goes on as long as each period leaves less than this part of the residual. */
static const double FAST = 0.5;

static float *floats_at(const cutis_state *state, size_t offset) { return (float *)((char *)state + offset); }

/* ---- what is compared of a state ---- */

/* Whether skin slides over the surface, which points alone do not show. */
static bool skin_slides(const cutis_model *m) { return cutis_model_find_output(m, CUTIS_OUTPUT_SLIDING, 0) != NULL; }

/* Floats of the simulated points: of the body, or of the drawn mesh under the last stage. */
static size_t point_floats(const cutis_model *m)
{
    const stage *last = &m->stages[m->stage_count - 1];
    return 3 * (size_t)(stage_has_points(m, last) ? m->character : m->body.character)->point_count;
}

/*
 * A float array of what is compared: simulated points and, where skin slides, how far (scene units); then how
 * far all of that came in the last substep.
 */
static size_t seen_count(const cutis_model *m)
{
    return 2 * (point_floats(m) + (skin_slides(m) ? (size_t)m->character->vertex_count * 3 : 0));
}

/* Take down what is compared; the first half of `seen` held that of the substep before. */
static void seen_take(const cutis_model *m, cutis_state *state, const cutis_jobs *jobs, float *seen)
{
    const stage *last = &m->stages[m->stage_count - 1];
    const float *x = floats_at(state, stage_has_points(m, last) ? last->points : last->body_points);
    size_t half = seen_count(m) / 2, own = point_floats(m);
    cutis_output sliding = {0};
    if (half > own) {
        state_finish(m, state, jobs);
        cutis_state_output_role(m, state, CUTIS_OUTPUT_SLIDING, 0, &sliding);
    }
    for (size_t i = 0; i < half; i++) {
        float now = i < own ? x[i] : sliding.values ? sliding.values[i - own] : 0;
        seen[half + i] = now - seen[i];
        seen[i] = now;
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
    double position_limit, velocity_limit; /* over the size, over the speed */
    int substeps;                          /* of a period */
    /* Instants inside a period. */
    int phase_count;
    float *phases;                  /* (phase_count x seen) seen there in the last period */
    double *positions, *velocities; /* (phase_count) how far that was from the period before; of a substep's path */
    /* Mixing. */
    bool mixable;
    int count, newest;          /* of the histories: filled, and the latest entry */
    cutis_state *ends[HISTORY]; /* states at the end of a period */
    float *residuals[HISTORY];  /* seen end less seen start */
    float *seen_ends[HISTORY];
    float *start, *seen; /* seen at the start of the period, and now */
    /* States at the start of the period, of that before, and the same two of the best. */
    cutis_state *begin, *before, *best, *best_before;
    int best_phase; /* -1: the seam is at the start */
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

    /* the Gram matrix of the residuals, slightly regularised: late residuals are nearly parallel */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[i * n + j] = dot(s->residuals[i], s->residuals[j], length);
    for (int i = 0; i < n; i++) trace += a[i * n + i];
    if (!(trace > 0)) return false;
    for (int i = 0; i < n; i++) {
        a[i * n + i] += 1e-8 * trace;
        x[i] = 1;
    }

    /* The constrained minimum is the solution for ones, scaled to the sum 1. */
    if (!cholesky_solve(a, x, n)) return false;
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    if (!(fabs(sum) > 0)) return false;

    /* weights this large would only amplify rounding */
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

    /* what is seen of the ends */
    for (size_t i = 0; i < seen_count(m); i++) {
        double sum = 0;
        for (int k = 0; k < s->count; k++) sum += weights[k] * (double)s->seen_ends[k][i];
        s->seen[i] = (float)sum;
    }

    /* the states behind it */
    size_t point_bytes = (size_t)m->character->point_count * 3 * sizeof(float);
    for (int i = 0; i < m->stage_count; i++) {
        const stage *part = &m->stages[i];
        if (stage_has_points(m, part)) {
            mix(s, weights, part->points_old, point_bytes, state);
            mix(s, weights, part->points, point_bytes, state);
        }
        if (part->on_body)
            mix(s, weights, part->body_points, (size_t)m->body.character->point_count * 3 * sizeof(float), state);
        mix(s, weights, part->state, part->solver->state_size(part->data), state);
    }
}

/* ---- the search ---- */

/* Mean over the points of the squared path in the last substep. */
static double path_squared(const cutis_model *m, const float *seen)
{
    size_t half = seen_count(m) / 2, own = point_floats(m);
    return 3 * dot(seen + half, seen + half, own) / (double)own;
}

/* Turn and move what was seen back by the travel of a period. */
static void seen_return(const cutis_model *m, mat34 back, float *seen)
{
    size_t half = seen_count(m) / 2, own = point_floats(m);
    for (size_t i = 0; i < own; i += 3) {
        vec3_store(seen + i, mat34_point(back.m, vec3_load(seen + i)));
        vec3_store(seen + half + i, mat34_vector(back.m, vec3_load(seen + half + i)));
    }
}

/* The substep at whose end a phase is. */
static int phase_substep(const loop_search *s, int phase)
{
    return (int)((int64_t)(phase + 1) * s->substeps / (s->phase_count + 1));
}

/* Compare what is seen with the period before, and take it down. */
static void phase_take(const loop_search *s, int phase)
{
    size_t count = seen_count(s->model), half = count / 2;
    float *row = s->phases + (size_t)phase * count;
    s->positions[phase] = largest_difference(row, s->seen, half);
    s->velocities[phase] = largest_difference(row + half, s->seen + half, half);
    memcpy(row, s->seen, count * sizeof(float));
}

/* The next substep of a period; false when interrupted. */
static bool run_substep(const loop_search *s, int index, cutis_state *state)
{
    const cutis_model *m = s->model;
    cutis_step_input input = {.motion = s->def->motion, .jobs = s->def->jobs};
    memcpy(input.acceleration, s->def->acceleration, sizeof input.acceleration);
    memcpy(input.wind, s->def->wind, sizeof input.wind);
    cutis_state_advance(m, state, &input, (double)index * m->substep, NULL, NULL);
    return !(s->def->interrupted && s->def->interrupted(s->def->context));
}

/* One period from time 0. Returns the mean of the squared speed; negative when interrupted. */
static double run_period(const loop_search *s, cutis_state *state)
{
    const cutis_model *m = s->model;
    double sum = 0;

    /* the substeps, with what is seen at each phase that may become the seam */
    for (int i = 1, phase = 0; i <= s->substeps; i++) {
        if (!run_substep(s, i, state)) return -1;
        seen_take(m, state, s->def->jobs, s->seen);
        sum += path_squared(m, s->seen) / (m->substep * m->substep);
        if (phase < s->phase_count && phase_substep(s, phase) == i) phase_take(s, phase++);
    }

    /* carry the state back to where the period began */
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
    return sum / (double)s->substeps;
}

static cutis_result search_start(loop_search *s, arena *memory, const cutis_allocator *allocator, cutis_error *error)
{
    const cutis_model *m = s->model;
    const cutis_loop_def *def = s->def;
    cutis_result result = CUTIS_OK;

    /* what is asked for */
    s->position_limit = def->position_tolerance > 0 ? def->position_tolerance : DEFAULT_POSITION;
    s->velocity_limit = def->velocity_tolerance > 0 ? def->velocity_tolerance : DEFAULT_VELOCITY;
    s->substeps = (int)floor(def->period / m->substep + 0.5);
    s->phase_count = def->seam ? MIN(PHASES, s->substeps - 1) : 0;

    /* whether states may be mixed */
    s->mixable = !def->plain;
    for (int i = 0; i < m->stage_count; i++) s->mixable &= m->stages[i].solver->float_state;

    /* what is seen of states */
    s->start = ARENA_ARRAY(memory, float, seen_count(m));
    s->seen = ARENA_ARRAY(memory, float, seen_count(m));
    s->phases = ARENA_ARRAY(memory, float, (size_t)s->phase_count *seen_count(m));
    s->positions = ARENA_ARRAY(memory, double, s->phase_count);
    s->velocities = ARENA_ARRAY(memory, double, s->phase_count);
    for (int i = 0; i < HISTORY && s->mixable && result == CUTIS_OK; i++) {
        s->residuals[i] = ARENA_ARRAY(memory, float, seen_count(m));
        s->seen_ends[i] = ARENA_ARRAY(memory, float, seen_count(m));
        result = cutis_state_create(m, allocator, &s->ends[i], error);
    }

    /* the states that are kept */
    cutis_state **const states[] = {&s->begin, &s->before, &s->best, &s->best_before};
    for (int i = 0; i < COUNT_OF(states) && result == CUTIS_OK; i++)
        result = cutis_state_create(m, allocator, states[i], error);

    if (result == CUTIS_OK && memory->failed) result = error_memory(error, "a loop");
    return result;
}

static void search_end(loop_search *s)
{
    for (int i = 0; i < HISTORY; i++) cutis_state_destroy(s->ends[i]);
    cutis_state_destroy(s->begin);
    cutis_state_destroy(s->before);
    cutis_state_destroy(s->best);
    cutis_state_destroy(s->best_before);
}

/* A seam in tolerances: closed at 1. position and the path of a substep in scene units. */
static double seam_take(const loop_search *s, double position, double velocity, cutis_loop_info *info)
{
    info->position_seam = position / (double)s->model->character->size;
    info->velocity_seam = info->speed > 0 ? velocity / s->model->substep / info->speed : 0;
    return MAX(info->position_seam / s->position_limit, info->velocity_seam / s->velocity_limit);
}

/* Remember the seam of the period that was just run, at its end (-1) or at a phase, if it is the best so far. */
static void best_take(loop_search *s, double value, int phase, const cutis_loop_info *found, double *least,
                      cutis_loop_info *info)
{
    if (!(value < *least)) return;
    *least = value;
    *info = *found;
    info->closed = value <= 1;
    s->best_phase = phase;
    cutis_state_copy(s->model, s->best, s->begin);
    cutis_state_copy(s->model, s->best_before, s->before);
}

/* Take down the end of a period, and start the next from a mean of such ends where repetition is slow. */
static bool accelerate(loop_search *s, cutis_state *state, bool slow, bool spoilt)
{
    s->newest = (s->newest + 1) % HISTORY;

    /* drop the history when mixing has spoilt the seam */
    if (spoilt) {
        s->count = 0;
        s->newest = 0;
    }
    s->count = MIN(s->count + 1, HISTORY);

    /* the newest end, and its residual */
    cutis_state_copy(s->model, s->ends[s->newest], state);
    memcpy(s->seen_ends[s->newest], s->seen, seen_count(s->model) * sizeof(float));
    residual_take(s, s->residuals[s->newest]);
    double weights[HISTORY];

    /* mix where plain periods converge slowly */
    bool mixed = slow && s->count >= 2 && mixing_weights(s, weights);
    if (mixed) mix_state(s, weights, state);
    return mixed;
}

/* Repeat until the seam is closed. Returns whether a period was found, and not interrupted. */
static bool search(loop_search *s, cutis_state *state, cutis_loop_info *info)
{
    const cutis_model *m = s->model;
    int limit = s->def->period_limit > 0 ? s->def->period_limit : DEFAULT_LIMIT, since = 0;
    double least = HUGE_VAL, last = HUGE_VAL, last_end = HUGE_VAL;
    bool mixed = false, accelerated = false;

    /* At first at rest in the pose: nothing moves. */
    size_t count = seen_count(m), half = count / 2;
    seen_take(m, state, s->def->jobs, s->seen);
    memset(s->seen + half, 0, half * sizeof(float));
    state->time = 0;
    state->substeps = 0;

    for (int period = 1; period <= limit; period++) {
        memcpy(s->start, s->seen, count * sizeof(float));
        cutis_state_copy(m, s->before, s->begin);
        cutis_state_copy(m, s->begin, state);
        double speed2 = run_period(s, state), least_before = least;
        if (speed2 < 0) {
            info->interrupted = true;
            return false;
        }

        /* the seam at the period's end */
        cutis_loop_info found = {.speed = sqrt(speed2)};
        double end = seam_take(s, largest_difference(s->start, s->seen, half),
                               largest_difference(s->start + half, s->seen + half, half), &found),
               now = end;
        best_take(s, end, -1, &found, &least, info);

        /* A period that goes on from the one before makes a loop with it, cut at any instant. */
        bool whole = !mixed;
        for (int i = 0; i < s->phase_count && period > 1 && whole && end > AIM; i++) {
            double value = seam_take(s, s->positions[i], s->velocities[i], &found);
            found.seam_time = phase_substep(s, i) * m->substep;
            now = MIN(now, value);
            best_take(s, value, i, &found, &least, info);
        }

        /* stop when the seam is closed, or no longer improves */
        info->periods = period;
        info->accelerated = accelerated;
        since = least < IMPROVED * least_before ? 0 : since + 1;
        if (least <= AIM || since >= (least <= 1 ? PATIENCE : HOPE)) break;

        /* the start of the next period: mixed from the last ones, or simply the end of this one */
        if (s->mixable) mixed = accelerate(s, state, whole && now > FAST * last, !whole && end > 2 * last_end);
        accelerated |= mixed;
        if (whole) last = now;
        last_end = end;
    }

    return true;
}

/* `state` to the start of the best period, and the state that takes over at its seam. */
static void best_give(loop_search *s, cutis_state *state, cutis_loop_info *info)
{
    const cutis_model *m = s->model;
    if (s->best_phase >= 0) {
        cutis_state_copy(m, s->def->seam, s->best_before);
        for (int i = 1; i <= phase_substep(s, s->best_phase); i++)
            if (!run_substep(s, i, s->def->seam)) info->interrupted = true;
    } else if (s->def->seam) {
        cutis_state_copy(m, s->def->seam, s->best);
    }
    cutis_state_copy(m, state, s->best);
}

cutis_result cutis_state_find_loop(const cutis_model *model, cutis_state *state, const cutis_loop_def *def,
                                   const cutis_allocator *allocator, cutis_loop_info *info, cutis_error *error)
{
    *info = (cutis_loop_info){.closed = true};

    /* what is asked for */
    if (!(def->period > 0) || !def->motion.sample)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "a loop needs a motion and a period of more than 0 s");
    if (model->substep == 0) return CUTIS_OK; /* no past, nothing to find */

    /* the period has to be a whole number of substeps */
    double substeps = def->period / model->substep;
    if (fabs(substeps - floor(substeps + 0.5)) > 1e-6 * substeps)
        return error_set(
            error, CUTIS_ERROR_ARGUMENT,
            "a period of %.9g s is not a whole number of substeps of %.9g s; build the model with a substep "
            "of %.9g s",
            def->period, model->substep, def->period / ceil(substeps));

    /* the search */
    loop_search s = {.model = model, .def = def, .newest = -1};
    arena memory = arena_create(allocator);
    cutis_result result = search_start(&s, &memory, allocator, error);
    if (result == CUTIS_OK) {
        info->closed = false;
        if (search(&s, state, info)) best_give(&s, state, info);
        cutis_state_show(model, state, &(cutis_step_input){.jobs = def->jobs});
        if (def->seam) cutis_state_show(model, def->seam, &(cutis_step_input){.jobs = def->jobs});
    }

    search_end(&s);
    arena_destroy(&memory);
    return result;
}
