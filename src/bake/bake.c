/*
 * bake.c: drive a solver through a clip and collect every frame.
 *
 * Frame i shows the clip at start + i / fps, from its first key to its last or over the range asked for. The state
 * begins at rest in the rest pose, is led into the clip, and is advanced to each frame's own time, so that no rounding
 * adds up. A range that begins inside of the clip is led in a little earlier, so that its first frame moves.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bake/bake_private.h"
#include "character/lead_in.h"

enum { FRAME_LIMIT = 10000000 };  /* more frames are a mistake in the clip or in the rate */
static const double RUN_UP = 0.5; /* seconds of the clip before a range that are simulated, too */
static const double DEFAULT_FPS = 30;

cutis_bake_def cutis_bake_def_default(void)
{
    return (cutis_bake_def){.start = (double)NAN, .end = (double)NAN, .lead_in = (double)NAN};
}

/* ---- the host ---- */

bool bake_progress(bake *b, cutis_bake_stage stage, long done, long total)
{
    const cutis_bake_def *def = b->def;
    if (b->stopped) return false;
    if (def->progress && !def->progress(def->context, stage, done, total)) b->stopped = true;
    return !b->stopped;
}

cutis_result bake_interrupted(bake *b) { return error_set(b->error, CUTIS_ERROR_INTERRUPTED, "interrupted"); }

void bake_say(bake *b, cutis_bake_message kind, const char *text)
{
    if (b->def->message) b->def->message(b->def->context, kind, text);
    if (kind != CUTIS_BAKE_WARNING || b->result->warning_count == COUNT_OF(b->warnings)) return;
    const char *copy = arena_string(b->memory, text);
    if (copy) b->warnings[b->result->warning_count++] = copy;
}

void bake_replace_character(bake *b, cutis_character *made)
{
    cutis_character_destroy(b->owned);
    b->owned = made;
    b->character = made;
}

const cutis_solver_info *bake_stack_next(const char **rest)
{
    const cutis_solver_info *solver = NULL;
    while (*rest && !solver) {
        char name[64] = "";
        size_t length = strcspn(*rest, "+");
        memcpy(name, *rest, MIN(length, sizeof name - 1));
        solver = cutis_solver_find(name);
        *rest = (*rest)[length] ? *rest + length + 1 : NULL;
    }
    return solver;
}

/* ---- preparation ---- */

static cutis_result prepare_character(bake *b)
{
    const cutis_bake_def *def = b->def;
    const float **examples = NULL;

    /* the mesh and its skeleton */
    b->character = def->character;
    if (def->source.name && bake_is_gltf(def->source.name)) b->source = def->source;
    cutis_result result = def->character ? CUTIS_OK : bake_load_character(b);

    if (result != CUTIS_OK) return result;
    for (int i = 0; !def->character && i < b->character->warning_count; i++)
        bake_say(b, CUTIS_BAKE_WARNING, b->character->warnings[i]);

    if (def->example_count) result = bake_load_examples(b, &examples);

    /* a skeleton, where a motion needs one and there is none */
    bool moves = def->example_count || def->motion.name;
    if (result == CUTIS_OK && b->character->joint_count == 0 && moves) {
        char text[300];
        snprintf(text, sizeof text, "%.200s has no skeleton: it is rigged first", b->character->name);
        bake_say(b, CUTIS_BAKE_NOTE, text);
        result = bake_rig(b, examples);
        if (result == CUTIS_OK && b->source.name && b->glb) result = bake_rig_source(b);
    }

    /* its motion */
    if (result == CUTIS_OK && def->example_count) result = bake_add_examples(b, examples);
    int known = b->character ? b->character->warning_count : 0;
    if (result == CUTIS_OK && def->motion.name) result = bake_add_motion(b);
    for (int i = known; result == CUTIS_OK && i < b->character->warning_count; i++)
        bake_say(b, CUTIS_BAKE_WARNING, b->character->warnings[i]);
    return result;
}

/* Without a word: flesh for a character that has bones to move it, sliding skin for a surface. */
static cutis_result choose_solver(bake *b)
{
    const cutis_solver_info *otherwise =
        b->def->surface.name ? cutis_solver_with(CUTIS_SOLVER_SURFACE) : cutis_solver_default(b->character);
    b->solver = arena_string(b->memory, b->def->solver ? b->def->solver : otherwise->name);
    b->result->solver = b->solver;
    if (!b->solver) return error_memory(b->error, "a bake");
    if (!b->def->surface.name) return CUTIS_OK;

    /* only a solver with sliding skin takes a surface */
    const cutis_solver_info *solver;
    for (const char *rest = b->solver; (solver = bake_stack_next(&rest));)
        if (solver->flags & CUTIS_SOLVER_SURFACE) return bake_load_surface(b);
    return error_set(b->error, CUTIS_ERROR_DATA, "solver '%.100s' does not slide on a given surface; use solver %s",
                     b->solver, cutis_solver_with(CUTIS_SOLVER_SURFACE)->name);
}

static cutis_result choose_clip(bake *b)
{
    const cutis_character *c = b->character;
    const cutis_bake_def *def = b->def;

    /* the clip named */
    if (def->clip) {
        b->clip = cutis_character_find_clip(c, def->clip);
        if (b->clip >= 0) return CUTIS_OK;

        /* no such clip: name what there is */
        if (c->clip_count == 0)
            return error_set(b->error, CUTIS_ERROR_ARGUMENT, "there is no clip '%.150s': %.150s has none", def->clip,
                             c->name);

        name_search search = name_search_start(def->clip);
        for (int i = 0; i < c->clip_count; i++) name_search_offer(&search, c->clips[i].name);
        if (search.nearest)
            return error_set(b->error, CUTIS_ERROR_ARGUMENT, "there is no clip '%.150s'; did you mean '%.150s'?",
                             def->clip, search.nearest);

        return error_set(b->error, CUTIS_ERROR_ARGUMENT, "there is no clip '%.150s'; the first of %d is '%.150s'",
                         def->clip, c->clip_count, c->clips[0].name);
    }

    /* A surface is the motion itself; a motion that was just added is the last clip. */
    b->clip = b->surface ? -1 : def->motion.name ? c->clip_count - 1 : c->clip_count ? 0 : -1;
    return CUTIS_OK;
}

static cutis_result add_props(bake *b)
{
    cutis_character *more;
    const cutis_bake_def *def = b->def;
    if (!def->prop_count) return CUTIS_OK;
    cutis_result result = cutis_bake_add_props(b->character, def->props, def->prop_count, b->clip, def->message,
                                               def->context, def->allocator, &more, b->error);
    if (result == CUTIS_OK) bake_replace_character(b, more);
    return result;
}

/* The seconds of the clip that are shown: all of it, or the range asked for. */
static cutis_result choose_range(bake *b, double *begin, double *end)
{
    const cutis_bake_def *def = b->def;
    const cutis_clip *clip = b->clip >= 0 ? &b->character->clips[b->clip] : NULL;

    /* from the first to the last key, or frame of a surface */
    double first = clip ? (double)clip->start : 0, last = clip ? (double)clip->end : 0;
    if (b->surface) {
        first = b->surface->start;
        last = first + (b->surface->frame_count - 1) / b->surface->fps;
    }

    /* the part asked for */
    *begin = isnan(def->start) ? first : def->start;
    *end = isnan(def->end) ? last : def->end;
    if (isnan(def->start) && isnan(def->end)) return CUTIS_OK;
    if (def->loop)
        return error_set(b->error, CUTIS_ERROR_ARGUMENT, "a loop is the whole clip; leave out its start and end");

    /* it lies within the clip, up to rounding */
    const double rounding = 1e-4;
    if (!(*begin <= *end) || *begin < first - rounding || *end > last + rounding)
        return error_set(b->error, CUTIS_ERROR_ARGUMENT,
                         "the range from %.6g to %.6g s is outside '%.150s', which runs from %.6g to %.6g s", *begin,
                         *end, clip ? clip->name : "the idle pose", first, last);

    *begin = MAX(*begin, first);
    *end = MIN(*end, last);
    return CUTIS_OK;
}

static cutis_result count_frames(bake *b)
{
    cutis_bake_result *r = b->result;
    const cutis_clip *clip = b->clip >= 0 ? &b->character->clips[b->clip] : NULL;

    double fps = b->def->fps > 0 ? b->def->fps : DEFAULT_FPS, begin, end;
    cutis_result result = choose_range(b, &begin, &end);
    if (result != CUTIS_OK) return result;

    /* Keys are floats: a last key at 2.6 s lies 3e-6 of a frame before frame 78 at 30 per second, and counts. */
    double frames = floor((end - begin) * fps + (b->surface ? 1e-6 : 1e-3)) + 1;
    if (!(frames >= 1 && frames <= FRAME_LIMIT))
        return error_set(b->error, CUTIS_ERROR_ARGUMENT,
                         "clip '%.150s' lasts %.4g s, which is more than %d frames at %.9g per second",
                         clip ? clip->name : "", end - begin, FRAME_LIMIT, fps);

    /* every frame of the range */
    r->frame_count = (int)frames;
    r->fps = fps;
    r->start = begin;
    r->has_loop = b->def->loop;

    if (b->def->loop) {
        /* Whole frames to a period: the rate gives way, by less than half a frame in all. */
        double intervals = MAX(1, floor(b->period * fps + 0.5));
        r->frame_count = (int)intervals + 1;
        r->fps = intervals / b->period;
        if (fabs(r->fps - floor(r->fps + 0.5)) < 1e-5 * r->fps) r->fps = floor(r->fps + 0.5); /* rounding of keys */
    }

    /* series, one value a frame */
    r->clip = clip ? arena_string(b->memory, clip->name) : NULL;
    r->vertex_count = b->character->vertex_count;
    r->size = (double)b->character->size;
    b->step_series = ARENA_ARRAY(b->memory, double, r->frame_count);
    b->volume_ratios = ARENA_ARRAY(b->memory, double, r->frame_count);
    r->step_series = b->step_series;
    r->volume_ratios = b->volume_ratios;
    return b->memory->failed ? error_memory(b->error, "a bake") : CUTIS_OK;
}

static cutis_model_def model_definition(const bake *b)
{
    cutis_model_def model = cutis_model_def_default();
    model.character = b->character;
    model.solver = b->solver;
    model.substep = b->def->loop ? bake_loop_substep(b) : b->def->substep;
    model.settings = b->def->settings;
    model.setting_count = b->def->setting_count;
    model.detail = b->def->detail;
    model.jobs = b->jobs;
    model.allocator = b->def->allocator;
    return model;
}

static cutis_result build_model(bake *b)
{
    const cutis_bake_def *def = b->def;
    cutis_bake_result *r = b->result;

    /* threads */
    b->jobs = def->jobs;
    if (!b->jobs) {
        cutis_result result = cutis_pool_create(def->threads, def->allocator, &b->pool, b->error);
        if (result != CUTIS_OK) return result;
        b->jobs = cutis_pool_jobs(b->pool);
        r->threads = cutis_pool_thread_count(b->pool);
    }

    /* the model and its state */
    cutis_model_def model = model_definition(b);
    if (!bake_progress(b, CUTIS_BAKE_BUILD, 0, 1)) return bake_interrupted(b);
    double start = clock_seconds();
    cutis_result result = cutis_model_build(&model, &b->model, b->error);

    if (result == CUTIS_OK) result = cutis_state_create(b->model, def->allocator, &b->state, b->error);
    r->build_seconds = clock_seconds() - start;
    if (!bake_progress(b, CUTIS_BAKE_BUILD, 1, 1) && result == CUTIS_OK) result = bake_interrupted(b);
    if (result != CUTIS_OK) return result;

    /* what the build has to say */
    b->info = cutis_model_get_info(b->model);
    for (int i = 0; i < b->info.note_count; i++) bake_say(b, CUTIS_BAKE_NOTE, b->info.notes[i]);
    for (int i = 0; i < b->info.warning_count; i++) bake_say(b, CUTIS_BAKE_WARNING, b->info.warnings[i]);

    /* its figures */
    const cutis_solver_info *solver;
    for (const char *rest = b->solver; !r->element && (solver = bake_stack_next(&rest));) r->element = solver->element;
    r->substep = b->info.substep;
    r->element_count = b->info.element_count;
    r->body_points = b->info.body_is_drawn ? 0 : b->info.body_points;
    r->rigid_pieces = b->info.rigid_pieces;
    r->carried_pieces = b->info.carried_pieces;
    r->model_bytes = (double)b->info.model_bytes;
    r->state_bytes = (double)b->info.state_bytes;

    b->morphs = ARENA_ARRAY(&b->scratch, float, b->character->morph_count + 1);
    return b->scratch.failed ? error_memory(b->error, "a bake") : CUTIS_OK;
}

/* How the state comes to the first frame. */
static void plan_lead_in(bake *b)
{
    cutis_bake_result *r = b->result;
    double first = b->clip >= 0 ? (double)b->character->clips[b->clip].start : r->start;

    if (b->surface) first = b->surface->start;
    double skip = r->start - first;

    /* the range is begun a little earlier */
    if (r->substep > 0) b->run_up = floor(MIN(RUN_UP, skip) / r->substep) * r->substep;

    /* what else than the clip moves flesh */
    bool driven = b->surface;
    for (int k = 0; k < 3; k++) driven |= b->def->acceleration[k] != 0 || b->def->wind[k] != 0;

    /* Whole substeps, so that the clip's first instant falls on one at every frame rate. */
    r->lead_in = !isnan(b->def->lead_in) ? b->def->lead_in
                 : driven                ? cutis_bake_lead_in(b->model)
                          : cutis_bake_clip_lead_in(b->model, b->character, b->clip, r->start - b->run_up);
    if (r->substep > 0) r->lead_in = floor(r->lead_in / r->substep + 0.5) * r->substep;
    b->motion = (bake_motion){b->character, b->clip, r->lead_in, r->start - b->run_up};
}

/* A blow has an instant, which a loop does not; and it must be seen. */
static cutis_result check_blows(bake *b)
{
    const cutis_bake_result *r = b->result;

    /* none, or none that a loop could hold */
    if (b->def->blow_count == 0) return CUTIS_OK;
    if (b->def->loop)
        return error_set(b->error, CUTIS_ERROR_ARGUMENT, "a blow happens once and cannot be part of a loop");

    /* each within what is baked */
    double last = r->start + (r->frame_count - 1) / r->fps;
    for (int i = 0; i < b->def->blow_count; i++) {
        const cutis_bake_blow *blow = &b->def->blows[i];
        if (!(blow->time >= r->start && blow->time <= last))
            return error_set(b->error, CUTIS_ERROR_ARGUMENT,
                             "the blow at %.9g s is outside the baked range, %.9g to %.9g s of the clip", blow->time,
                             r->start, last);
        if (!(blow->impulse.radius > 0))
            return error_set(b->error, CUTIS_ERROR_ARGUMENT, "the blow at %.9g s needs a radius above 0, not %.9g",
                             blow->time, (double)blow->impulse.radius);
    }

    return CUTIS_OK;
}

/* ---- the run ---- */

void bake_motion_sample(void *context, double time, float *joints)
{
    const bake_motion *m = context;
    if (time >= m->lead_in)
        cutis_pose_sample(m->character, m->clip, m->first + (time - m->lead_in), joints);
    else
        pose_lead_in(m->character, m->clip, m->first, time, m->lead_in, joints);
}

void bake_motion_morphs(const bake_motion *m, double time, float *weights)
{
    cutis_pose_morphs(m->character, m->clip, m->first + MAX(time - m->lead_in, 0), weights);
    float eased = time < m->lead_in ? (float)lead_in_ease(time, m->lead_in) : 1;
    for (int i = 0; i < m->character->morph_count; i++) weights[i] *= eased;
}

/*
 * The cache's frames as a surface: from the rest pose to the first frame during the lead-in, eased like a clip's, then
 * linearly from frame to frame, the last one held.
 */
void bake_surface_sample(void *context, double time, float *positions)
{
    const bake *b = context;
    const cutis_cache *cache = b->surface;
    size_t count = 3 * (size_t)cache->vertex_count;

    /* the two frames around the time */
    double lead_in = b->result->lead_in, last = cache->frame_count - 1;
    double frame = (MAX(time - lead_in, 0) + b->motion.first - cache->start) * cache->fps;
    frame = MIN(frame, last);
    size_t whole = (size_t)frame, next = whole < (size_t)last ? whole + 1 : whole;
    const float *from = cache->positions + whole * count, *to = cache->positions + next * count;

    /* what lies between, eased in from the rest pose */
    double part = frame - (double)whole, eased = time < lead_in ? lead_in_ease(time, lead_in) : 1;
    for (size_t i = 0; i < count; i++) {
        double x = (double)from[i] + part * ((double)to[i] - (double)from[i]),
               rest = (double)b->character->positions[i];
        positions[i] = (float)(eased < 1 ? rest + eased * (x - rest) : x);
    }
}

/* The instant of a blow in the state's time: where the nearest substep begins, so that the frame rate does not matter.
 */
static double blow_instant(const bake *b, const cutis_bake_blow *blow)
{
    double substep = b->result->substep;
    return floor((b->motion.lead_in + blow->time - b->motion.first) / substep + 0.5) * substep;
}

/* The blows that fall now. *next: the time of the next one, at most what it was. Returns their number. */
static int take_blows(bake *b, double now, double *next, cutis_impulse blows[CUTIS_MAX_IMPULSES])
{
    double substep = b->result->substep;
    int count = 0;

    for (int i = 0; i < b->def->blow_count && substep > 0; i++) {
        double instant = blow_instant(b, &b->def->blows[i]), left = instant - now;
        bool falls = fabs(left) < 1e-3 * substep && now > b->struck;
        if (falls && count < CUTIS_MAX_IMPULSES) blows[count++] = b->def->blows[i].impulse;
        if (left > 1e-3 * substep) *next = MIN(*next, instant);
    }

    /* once, however short the next steps are */
    if (count > 0) b->struck = now + 0.5 * substep;
    return count;
}

/* Where a bake is when the host is asked whether to go on. */
typedef struct bake_place {
    bake *bake;
    cutis_bake_stage stage;
    long done, total;
} bake_place;

static bool bake_interrupts(void *context)
{
    bake_place *place = context;
    return !bake_progress(place->bake, place->stage, place->done, place->total);
}

/* Add up the statistics of a step. */
static void add_stats(bake *b)
{
    cutis_bake_result *r = b->result;
    const cutis_step_stats *stats = cutis_state_stats(b->model, b->state);
    r->substeps += stats->substeps;
    r->iterations += stats->iterations;
    r->unconverged += stats->unconverged;
    r->repairs += stats->repairs;
    r->contacts_max = MAX(r->contacts_max, stats->contacts);
    r->residual_max = MAX(r->residual_max, stats->residual);
    for (int i = 0; i < CUTIS_MAX_PARTS; i++) r->part_ms[i] += stats->part_ms[i];
}

/* Bring the state to `time`, blow by blow. */
static cutis_result advance(bake *b, double time, cutis_bake_stage stage, long done, long total)
{
    bake_place place = {b, stage, done, total};

    /* forces that last */
    cutis_step_input input = {.motion = {&b->motion, bake_motion_sample}, .jobs = b->jobs};
    if (b->surface) input.surface = (cutis_surface){b, bake_surface_sample};
    memcpy(input.acceleration, b->def->acceleration, sizeof input.acceleration);
    memcpy(input.wind, b->def->wind, sizeof input.wind);

    for (bool last = false; !last;) {
        double next = time;
        cutis_impulse blows[CUTIS_MAX_IMPULSES];
        input.impulses = blows;
        input.impulse_count = take_blows(b, cutis_state_time(b->state), &next, blows);
        last = next >= time;

        if (b->character->morph_count) {
            bake_motion_morphs(&b->motion, next, b->morphs);
            input.morphs = b->morphs;
        }
        bool reached = cutis_state_advance(b->model, b->state, &input, next, bake_interrupts, &place);
        add_stats(b);
        if (!reached || !bake_progress(b, stage, done, total)) return bake_interrupted(b);
    }

    return CUTIS_OK;
}

/* The same in a loop: at its seam the state that begins the period takes over. */
static cutis_result advance_loop(bake *b, double time, int frame)
{
    double seam = b->result->loop.seam_time;
    if (b->seam && seam > 0 && cutis_state_time(b->state) < seam && time >= seam) {
        cutis_result result = advance(b, seam, CUTIS_BAKE_FRAMES, frame, b->result->frame_count);
        if (result != CUTIS_OK) return result;
        cutis_state_copy(b->model, b->state, b->seam);
    }
    return advance(b, time, CUTIS_BAKE_FRAMES, frame, b->result->frame_count);
}

/* From rest to the clip's first pose, and through the run-up. Without a lead-in flesh is at rest in that pose. */
static cutis_result run_lead_in(bake *b)
{
    enum { AT_ONCE = 8 }; /* substeps between two updates of the progress */
    cutis_bake_result *r = b->result;
    double start = clock_seconds(), seconds = r->lead_in + b->run_up;

    if (r->substep > 0 && !(r->lead_in > 0) && !b->surface) {
        float *joints = ARENA_ARRAY(&b->scratch, float, (size_t)b->character->joint_count * 12 + 1);
        if (!joints) return error_memory(b->error, "a bake");
        bake_motion_sample(&b->motion, 0, joints);
        cutis_state_reset(b->model, b->state, joints);
    }

    /* A geometric solver gets there in one step. */
    long total = r->substep > 0 ? (long)floor(seconds / r->substep + 0.5) : seconds > 0;
    cutis_result result = CUTIS_OK;
    for (long done = 0; done < total && result == CUTIS_OK;) {
        long next = MIN(done + AT_ONCE, total);
        result = advance(b, seconds * (double)next / (double)total, CUTIS_BAKE_LEAD_IN, done, total);
        done = next;
    }

    r->lead_in_seconds = clock_seconds() - start;
    for (int i = 0; i < CUTIS_MAX_PARTS; i++) r->part_ms[i] = 0; /* the parts are told per frame */
    return result;
}

static cutis_result run_frames(bake *b)
{
    cutis_bake_result *r = b->result;
    cutis_result result = CUTIS_OK;

    double origin =
        b->def->loop && r->substep > 0 ? 0 : r->lead_in + b->run_up; /* a loop's time starts with its period */

    for (int i = 0; i < r->frame_count && result == CUTIS_OK; i++) {
        double start = clock_seconds();
        bool last = i + 1 == r->frame_count;
        double time = origin + (last && b->period > 0 ? b->period : i / r->fps);

        result = advance_loop(b, time, i);
        float amount = bake_amount(b, r->start + (time - origin));
        cutis_step_input shown = {.amount = &amount, .jobs = b->jobs};
        if (result == CUTIS_OK) cutis_state_show(b->model, b->state, &shown);
        b->step_series[i] = clock_seconds() - start;

        /* after an interruption the finished frames become the result */
        if (result == CUTIS_ERROR_INTERRUPTED && b->def->partial && i > 0 && !b->def->loop) {
            r->frame_count = i;
            r->interrupted = true;
            result = CUTIS_OK;
            break;
        }

        /* what the frame is good for, and where it goes */
        if (result == CUTIS_OK) bake_joints_record(b, i, time);
        if (result == CUTIS_OK) bake_verdict_frame(b, time);
        if (result == CUTIS_OK) result = bake_props_record(b, i);
        if (result == CUTIS_OK) result = bake_output_append(b);
    }

    /* what needs all frames */
    if (result == CUTIS_OK && b->def->loop) bake_loop_join(b);
    if (result == CUTIS_OK) bake_props_warn(b);
    return result == CUTIS_OK ? bake_output_flush(b) : result;
}

/* ---- the result ---- */

static cutis_result measure_quality(bake *b)
{
    cutis_bake_result *r = b->result;
    if (!b->def->measure && !r->check_count) return CUTIS_OK;
    r->has_quality = true;
    return cutis_measure(b->character, b->batch, r->frame_count, r->fps, b->jobs, b->def->allocator, &r->quality,
                         b->error);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static cutis_result sum_up(bake *b)
{
    cutis_bake_result *r = b->result;

    /* times of a frame */
    double sum = 0, *sorted = arena_copy(&b->scratch, b->step_series, (size_t)r->frame_count, sizeof *sorted);
    if (!sorted) return error_memory(b->error, "a bake");
    for (int i = 0; i < r->frame_count; i++) sum += sorted[i];
    qsort(sorted, (size_t)r->frame_count, sizeof *sorted, compare_doubles);

    r->step_min = sorted[0];
    r->step_max = sorted[r->frame_count - 1];
    r->step_median = sorted[r->frame_count / 2];
    r->step_mean = sum / r->frame_count;

    for (int i = 0; i < CUTIS_MAX_PARTS; i++) r->part_ms[i] /= r->frame_count;

    /* An open surface has no volume. */
    cutis_topology topology;
    cutis_result result = cutis_character_topology(b->character, b->def->allocator, &topology, b->error);

    if (result != CUTIS_OK) return result;
    r->volume_min = topology.closed_component_count ? b->volume_ratios[0] : (double)NAN;
    r->volume_max = r->volume_min;

    for (int i = 1; i < r->frame_count && topology.closed_component_count; i++) {
        r->volume_min = MIN(r->volume_min, b->volume_ratios[i]);
        r->volume_max = MAX(r->volume_max, b->volume_ratios[i]);
    }

    /* sentences */
    const char **warnings = arena_copy(b->memory, b->warnings, (size_t)r->warning_count, sizeof *warnings);
    if (r->warning_count && !warnings) return error_memory(b->error, "a bake");
    r->warnings = warnings;
    return CUTIS_OK;
}

static cutis_result check_def(const bake *b)
{
    const cutis_bake_def *def = b->def;
    if (!def->character && !def->source.name)
        return error_set(b->error, CUTIS_ERROR_ARGUMENT, "a bake needs a character, or the file of one");
    if (!(def->fps >= 0) || !(isnan(def->lead_in) || (def->lead_in >= 0 && isfinite(def->lead_in))))
        return error_set(b->error, CUTIS_ERROR_ARGUMENT, "a bake needs a rate above 0 and a lead-in of 0 s or more");
    if (!(def->tolerance >= 0) || def->targets < 0 || def->targets > 32)
        return error_set(b->error, CUTIS_ERROR_ARGUMENT, "a bake needs a tolerance of 0 or more and 1 to 32 targets");
    return b->path ? bake_check_format(b->path, b->error) : CUTIS_OK;
}

static cutis_result run_all(bake *b)
{
    cutis_bake_result *r = b->result;
    double start = clock_seconds();

    /* what is baked */
    cutis_result result = check_def(b);
    if (result == CUTIS_OK) result = bake_checks_open(b);
    if (result == CUTIS_OK && !bake_progress(b, CUTIS_BAKE_LOAD, 0, 1)) result = bake_interrupted(b);

    if (result == CUTIS_OK) result = prepare_character(b);
    r->load_seconds = clock_seconds() - start;

    if (result == CUTIS_OK) result = choose_solver(b);
    if (result == CUTIS_OK) result = choose_clip(b);
    if (result == CUTIS_OK) result = add_props(b);
    if (result == CUTIS_OK && b->def->loop) result = bake_loop_prepare(b);
    if (result == CUTIS_OK) result = count_frames(b);

    if (result == CUTIS_OK) result = check_blows(b);
    if (result == CUTIS_OK) result = bake_keys_check(b);

    /* the simulation */
    if (result == CUTIS_OK) result = build_model(b);
    if (result == CUTIS_OK) plan_lead_in(b);
    if (result == CUTIS_OK) result = bake_output_open(b);
    if (result == CUTIS_OK) result = bake_props_open(b);
    if (result == CUTIS_OK) result = bake_joints_open(b);
    if (result == CUTIS_OK) result = bake_verdict_open(b);
    if (result == CUTIS_OK) result = run_lead_in(b);
    if (result == CUTIS_OK && b->def->loop) result = bake_loop_find(b);
    if (result == CUTIS_OK) result = run_frames(b);

    /* what came of it */
    if (result == CUTIS_OK && !bake_progress(b, CUTIS_BAKE_MEASURE, 0, 0) && !r->interrupted)
        result = bake_interrupted(b);
    if (result == CUTIS_OK) result = measure_quality(b);
    if (result == CUTIS_OK) result = bake_joints_finish(b);

    if (result == CUTIS_OK && !bake_progress(b, CUTIS_BAKE_WRITE, 0, 0) && !r->interrupted)
        result = bake_interrupted(b);
    if (result == CUTIS_OK) result = bake_output_finish(b);

    /* the report */
    if (result != CUTIS_OK) return result;
    r->total_seconds = clock_seconds() - start;
    r->peak_bytes = memory_peak();

    result = sum_up(b);
    if (result != CUTIS_OK) return result;
    bake_verdict_finish(b);
    bake_checks_decide(b);

    r->report = bake_report_make(b);
    return r->report ? CUTIS_OK : error_memory(b->error, "a report");
}

cutis_result cutis_bake(const cutis_bake_def *def, cutis_bake_result **result, cutis_error *error)
{
    *result = NULL;

    /* an owner of what outlives the bake */
    bake_owner *owner = memory_allocate(def->allocator, 1, sizeof *owner);
    if (!owner) return error_memory(error, "a bake");

    owner->memory = arena_create(def->allocator);
    bake b = {.def = def, .owner = owner, .result = &owner->result, .memory = &owner->memory, .error = error};
    b.struck = -1;
    b.scratch = arena_create(def->allocator);
    b.clip = -1;

    /* where it goes */
    b.path = def->output;
    if (!b.path && def->format)
        b.path = arena_format(&b.scratch, "bake%s%s", def->format[0] == '.' ? "" : ".", def->format);

    /* all of it */
    b.glb = b.path && bake_is_glb(b.path);

    /* from the definition to the report */
    cutis_result code = run_all(&b);

    /* frames that stay */
    if (code == CUTIS_OK && def->keep_frames) {
        owner->frames = b.batch;
        owner->frame_floats = (size_t)b.batch_capacity * 3 * (size_t)b.result->vertex_count;
        b.result->positions = b.batch;
        b.batch = NULL;
    }

    /* release what the bake alone needed */
    bake_output_close(&b);
    bake_verdict_close(&b);
    bake_unload_surface(&b);
    cutis_state_destroy(b.state);
    cutis_state_destroy(b.seam);
    cutis_model_destroy(b.model);
    cutis_pool_destroy(b.pool);
    cutis_character_destroy(b.owned);
    cutis_character_destroy(b.original_owned);
    arena_destroy(&b.scratch);

    /* all of it or nothing */
    if (code == CUTIS_OK)
        *result = &owner->result;
    else
        cutis_bake_destroy(&owner->result);
    return code;
}

void cutis_bake_destroy(cutis_bake_result *result)
{
    bake_owner *owner = (bake_owner *)result;
    if (!owner) return;
    cutis_allocator allocator = owner->memory.allocator;
    if (owner->store) owner->release_files(owner->store, &allocator);
    memory_release(&allocator, owner->frames, owner->frame_floats, sizeof(float));
    arena_destroy(&owner->memory);
    memory_release(&allocator, owner, 1, sizeof *owner);
}
