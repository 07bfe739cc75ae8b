/*
 * bake_loop.c: a clip as a loop: whether it closes, the key that it lacks, its travel, and the seam of what is written.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bake/bake_private.h"

/* ---- the clip ---- */

/* The rigid motion m (3 x 4) that takes pose `a` of a joint to pose `z`. False when `a` is flat. */
static bool rigid_between(const float a[12], const float z[12], double m[12])
{
    /* the square of the scale of a */
    double scale = 0;
    for (int k = 0; k < 3; k++) scale += (double)a[4 * k] * (double)a[4 * k];
    if (!(scale > 0)) return false;

    /* z x inverse of a, both a rotation times one scale */
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m[4 * i + j] = 0;
            for (int k = 0; k < 3; k++) m[4 * i + j] += (double)z[4 * i + k] * (double)a[4 * j + k] / scale;
        }
        m[4 * i + 3] = (double)z[4 * i + 3];
        for (int j = 0; j < 3; j++) m[4 * i + 3] -= m[4 * i + j] * (double)a[4 * j + 3];
    }

    return true;
}

/* The largest distance of a deforming joint of pose `last` from the same joint of `first` moved by m, over the size. */
static double largest_gap(const cutis_character *c, const float *first, const float *last, const double m[12])
{
    double gap = 0;
    for (int j = 0; j < c->joint_count; j++) {
        if (!c->joints[j].deforms) continue;

        double d2 = 0;
        for (int i = 0; i < 3; i++) {
            double x = m[4 * i + 3];
            for (int k = 0; k < 3; k++) x += m[4 * i + k] * (double)first[12 * j + 4 * k + 3];
            double d = x - (double)last[12 * j + 4 * i + 3];
            d2 += d * d;
        }

        gap = MAX(gap, sqrt(d2) / (double)c->size);
    }

    return gap;
}

/*
 * Whether the clip ends in the pose it began with, perhaps elsewhere: then `travel` is the rigid motion in between.
 * Returns the largest gap of a joint that remains, over the size.
 */
static double find_travel(bake *b)
{
    const cutis_character *c = b->character;

    /* the clip's first and last pose */
    size_t floats = 12 * (size_t)c->joint_count;
    float *first = ARENA_ARRAY(&b->scratch, float, floats + 1);
    float *last = ARENA_ARRAY(&b->scratch, float, floats + 1);
    if (!first || !last) return 0;

    cutis_pose_sample(c, b->clip, (double)c->clips[b->clip].start, first);
    cutis_pose_sample(c, b->clip, (double)c->clips[b->clip].end, last);

    b->travels = false;
    double best = HUGE_VAL;

    /* No travel at all, or that of one of the first joints. */
    for (int root = -1; root < c->joint_count && root < 8; root++) {
        double m[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
        if (root >= 0 && !rigid_between(first + 12 * root, last + 12 * root, m)) continue;

        /* travel has to pay: standing still is preferred to a small gain */
        double gap = largest_gap(c, first, last, m);
        if (gap < 0.5 * best || (root >= 0 && best > 1e-4 && gap < best)) {
            best = gap;
            b->travels = root >= 0;
            for (int i = 0; i < 12; i++) b->travel[i] = (float)m[i];
        }
        if (best < 1e-4) break;
    }

    if (best > 0.01) b->travels = false;
    return best;
}

/* Seconds between the last two keys of the track that has the most. */
static double last_interval(const cutis_clip *clip)
{
    const cutis_track *most = NULL;
    for (int t = 0; t < clip->track_count; t++)
        if (!most || clip->tracks[t].key_count > most->key_count) most = &clip->tracks[t];
    if (!most || most->key_count < 3) return 0;
    return (double)most->times[most->key_count - 1] - (double)most->times[most->key_count - 2];
}

/* How far the deforming joints come, at most, in the clip's last `interval` seconds, over the size. */
static double last_move(bake *b, double interval)
{
    const cutis_character *c = b->character;
    float *a = ARENA_ARRAY(&b->scratch, float, 12 * c->joint_count);
    float *z = ARENA_ARRAY(&b->scratch, float, 12 * c->joint_count);

    if (!a || !z) return 0;
    double end = (double)c->clips[b->clip].end, largest = 0;

    cutis_pose_sample(c, b->clip, end - interval, a);
    cutis_pose_sample(c, b->clip, end, z);

    for (int j = 0; j < c->joint_count; j++) {
        double d2 = 0;
        for (int i = 3; i < 12; i += 4) {
            double d = (double)a[12 * j + i] - (double)z[12 * j + i];
            d2 += d * d;
        }
        if (c->joints[j].deforms) largest = MAX(largest, sqrt(d2) / (double)c->size);
    }

    return largest;
}

/* A copy of a track that goes on to its first value, `interval` seconds behind the clip's end. */
static cutis_track close_track(arena *memory, const cutis_track *track, float end, double interval)
{
    int components = track->path == CUTIS_PATH_ROTATION ? 4 : track->path == CUTIS_PATH_MORPH ? 1 : 3;
    size_t row = (size_t)components * (track->interpolation == CUTIS_INTERPOLATION_CUBIC ? 3 : 1);
    size_t count = (size_t)track->key_count;

    float *times = ARENA_ARRAY(memory, float, count + 2), *values = ARENA_ARRAY(memory, float, (count + 2) * row);
    if (!times || !values) return *track;

    memcpy(times, track->times, count * sizeof *times);
    memcpy(values, track->values, count * row * sizeof *values);

    /* a track that ends early holds its last value until the clip's end */
    if (times[count - 1] < end - 1e-6f) { /* held until the end */
        times[count] = end;
        memcpy(values + count * row, values + (count - 1) * row, row * sizeof *values);
        count++;
    }

    /* then its first value again */
    times[count] = (float)((double)end + interval);
    memcpy(values + count * row, track->values, row * sizeof *values);

    cutis_track closed = *track;
    closed.key_count = (int)count + 1;
    closed.times = times;
    closed.values = values;
    return closed;
}

/*
 * Clips are often saved without the key that repeats the first, one interval short of a period. A copy of the
 * character has it.
 */
static cutis_result close_clip(bake *b, double interval)
{
    /* its tracks, closed */
    const cutis_character *c = b->character;
    const cutis_clip *clip = &c->clips[b->clip];
    cutis_clip *clips = arena_copy(&b->scratch, c->clips, (size_t)c->clip_count, sizeof *clips);
    cutis_track *tracks = ARENA_ARRAY(&b->scratch, cutis_track, clip->track_count);
    for (int t = 0; tracks && t < clip->track_count; t++)
        tracks[t] = close_track(&b->scratch, &clip->tracks[t], clip->end, interval);
    if (b->scratch.failed) return error_memory(b->error, "a loop");

    /* a character with the closed clip in place of the given one */
    clips[b->clip].tracks = tracks;
    cutis_character given = *c, *closed = NULL;
    given.clips = clips;
    cutis_result result = cutis_character_create(&given, b->def->allocator, &closed, b->error);
    if (result != CUTIS_OK) return result;

    b->original = b->character;
    b->original_owned = b->owned;
    b->owned = closed;
    b->character = closed;
    return CUTIS_OK;
}

cutis_result bake_loop_prepare(bake *b)
{
    const cutis_clip *clip = b->clip >= 0 ? &b->character->clips[b->clip] : NULL;
    if (!clip || !(clip->end > clip->start))
        return error_set(b->error, CUTIS_ERROR_DATA, "a loop needs a clip that lasts longer than 0 s; %.200s",
                         clip ? clip->name : "there is none");

    /* the key that repeats the first */
    double gap = find_travel(b), interval = last_interval(clip);
    if (gap > 1e-3 && interval > 0 && gap < 3 * last_move(b, interval)) {
        cutis_result result = close_clip(b, interval);
        if (result != CUTIS_OK) return result;
        clip = &b->character->clips[b->clip];
        b->closed_by = interval;
        gap = find_travel(b);
    }

    /* what remains */
    b->jump = gap > 1e-3 ? gap : 0;
    if (b->jump > 0) {
        char text[400];
        snprintf(text, sizeof text,
                 "clip '%.200s' does not end as it began: a joint is off by %.2g %% of the size, so the loop jumps "
                 "there",
                 clip->name, 100 * gap);
        bake_say(b, CUTIS_BAKE_WARNING, text);
    }

    b->period = (double)clip->end - (double)clip->start;
    return b->scratch.failed ? error_memory(b->error, "a loop") : CUTIS_OK;
}

double bake_loop_substep(const bake *b)
{
    double substep = 0;
    const cutis_solver_info *solver;
    for (const char *rest = b->solver; substep == 0 && (solver = bake_stack_next(&rest));)
        if (solver->substep > 0) substep = solver->substep; /* the body's is the longest */
    if (substep > 0 && b->def->substep > 0) substep = b->def->substep;
    if (substep == 0) return 0;
    double divided = b->period / ceil(b->period / substep - 1e-6);
    return divided >= 0.0005 ? divided : substep;
}

/* ---- the motion ---- */

static bool loop_interrupted(void *context) { return !bake_progress(context, CUTIS_BAKE_LOOP, 0, 0); }

cutis_result bake_loop_find(bake *b)
{
    cutis_bake_result *r = b->result;
    if (r->substep == 0) return CUTIS_OK;

    cutis_result result = cutis_state_create(b->model, b->def->allocator, &b->seam, b->error);
    if (result != CUTIS_OK) return result;

    /* from here on time counts from the start of the period */
    b->motion.lead_in = 0;
    cutis_loop_def def = {.motion = {&b->motion, bake_motion_sample},
                          .period = b->period,
                          .travel = b->travels ? b->travel : NULL,
                          .position_tolerance = CUTIS_BAKE_SEAM_POSITION,
                          .velocity_tolerance = CUTIS_BAKE_SEAM_VELOCITY,
                          .seam = b->seam,
                          .interrupted = loop_interrupted,
                          .context = b,
                          .jobs = b->jobs};

    memcpy(def.acceleration, b->def->acceleration, sizeof def.acceleration);
    memcpy(def.wind, b->def->wind, sizeof def.wind);

    /* the search takes the place of a longer lead-in */
    double start = clock_seconds();
    result = cutis_state_find_loop(b->model, b->state, &def, b->def->allocator, &r->loop, b->error);
    r->lead_in_seconds += clock_seconds() - start;
    return result == CUTIS_OK && r->loop.interrupted ? bake_interrupted(b) : result;
}

/*
 * The seam of the period that was written, in position: its end against its start, or the search's, which ran this very
 * period, looked at more than vertices and may have put the seam elsewhere. That in velocity is the search's.
 */
void bake_loop_join(bake *b)
{
    /* the largest distance between end and start, as far as the character has not travelled */
    cutis_bake_result *r = b->result;
    size_t floats = 3 * (size_t)r->vertex_count;
    float *first = b->batch, *last = b->batch + (size_t)(r->frame_count - 1) * floats;
    double largest = 0;

    for (size_t i = 0; i < floats; i += 3) {
        double d2 = 0;
        for (int k = 0; k < 3; k++) {
            double x = first[i + (size_t)k];
            if (b->travels) {
                const float *m = b->travel + 4 * k;
                x = (double)m[0] * (double)first[i] + (double)m[1] * (double)first[i + 1] +
                    (double)m[2] * (double)first[i + 2] + (double)m[3];
            }

            double d = x - (double)last[i + (size_t)k];
            d2 += d * d;
        }
        largest = MAX(largest, d2);
    }

    /* the worst of all seams, and whether it is small enough */
    double seam = sqrt(largest) / (double)b->character->size;
    r->loop.position_seam = MAX(MAX(r->loop.position_seam, seam), b->jump);
    r->loop.closed = r->loop.position_seam <= CUTIS_BAKE_SEAM_POSITION &&
                     (r->substep == 0 || r->loop.velocity_seam <= CUTIS_BAKE_SEAM_VELOCITY);

    /* The last key is the first, unless the character has walked on. */
    if (!b->travels) memcpy(last, first, floats * sizeof(float));
    size_t row = (size_t)b->texcoord_floats;
    if (b->texcoords) memcpy(b->texcoords + (size_t)(r->frame_count - 1) * row, b->texcoords, row * sizeof(float));
}
