/*
 * bake.c: drive a solver through a clip and write every frame to a cache.
 *
 * Frame i shows the clip at start + i / fps, from its first key to its last. The state begins at rest in the rest
 * pose, is led into the clip's first pose, and is advanced to each frame's own time, so that no rounding adds up.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bake.h"
#include "example_files.h"

enum {
    SCHEMA = 1,             /* of the report; a key that changes its meaning raises it */
    FRAME_LIMIT = 10000000, /* more is a mistake in the clip or in --fps */
    BATCH_BYTES = 16 << 20, /* frames that are measured together */
};
/* Seconds of a lead-in: the way into the first pose, and as long as flesh of the softest damping needs to settle. */
static const double LEAD_IN_WAY = 0.5, LEAD_IN_LEAST = 1, LEAD_IN_MOST = 4;
static const int SUBSTEPS_AT_ONCE = 8; /* between two looks at the interrupt flag */

/* An output of the solver that is written beside the positions. */
typedef struct bake_extra {
    char *name, *path;
    cutis_cache_writer *writer;
} bake_extra;

/* A prop through the frames. */
typedef struct bake_prop {
    float start[3], end[3]; /* where its own space's origin is, in the scene */
    float force[3];         /* at the end, newtons */
    double penetration;     /* deepest */
    float *motions;         /* .glb: (frames x 12) */
    float *shapes;          /* .glb, soft: (frames x vertex_count x 3) */
    int vertex_count, triangle_count;
    const int *triangles; /* borrowed from the model */
} bake_prop;

/* How hard the skin that one joint moves most is touched. */
typedef struct bake_touch {
    double most; /* newtons, length of the sum over the region */
    int frame;   /* of that */
    double sum[3];
} bake_touch;

/* Everything open during a bake, so that one place closes it. */
typedef struct bake {
    const bake_job *job;
    bake_result *result;
    const char *solver; /* the job's, or the one that is chosen for the character */
    cutis_character *character;
    const char *source; /* the glTF file that a .glb is made from, or NULL */
    char *rigged;       /* the same with a skeleton that it lacked, while it is needed; or NULL */
    int clip;
    cutis_pool *pool;
    cutis_model *model;
    cutis_model_info info;
    cutis_state *state;
    cutis_clip_motion motion;
    cutis_cache_writer *writer;
    cutis_cache *body;
    bake_extra *extras; /* (extra_count) */
    int extra_count;
    bake_prop *props;      /* (prop_count of the character) */
    bake_touch *touches;   /* (joint_count), or NULL: the solver does not tell */
    int *regions;          /* (point_count) the joint of the largest weight, -1: none */
    double *step_seconds;  /* (frames) */
    double *volume_ratios; /* (frames) */
    float *morphs;         /* (morph_count) weights of the file's own morphs */
    float *batch;          /* (batch_capacity x vertices x 3) frames on their way to the file; for a .glb all */
    float *texcoords;      /* (batch_capacity x corners x 2) for a format that takes moving ones; or NULL */
    int batch_count, batch_capacity, written;
    double period;     /* seconds of a loop; 0: none */
    cutis_state *seam; /* that goes on from the loop's seam; NULL: none */
    float travel[12];
    bool travels;              /* the clip ends elsewhere than it began */
    double jump;               /* of the clip itself at the loop's ends, over the size; 0: it closes */
    double closed_by;          /* seconds added to close the clip; 0: none */
    cutis_character *original; /* the character before that; NULL: the same */
} bake;

/* ---- preparation ---- */

/* A bare mesh that is to move gets a skeleton; a glTF file that is to be kept gets it too, in a file beside the output.
 */
static int rig_bare(bake *b, const example_set *examples)
{
    const bake_job *job = b->job;
    if (!job->quiet) printf("%s has no skeleton: one is made (cutis rig shows it)\n", b->character->name);
    int status = examples_rig(&b->character, examples, job->quiet);
    if (status != CLI_OK || !b->source || !job->output || !cli_has_ending(job->output, ".glb")) return status;
    cutis_error error;
    b->rigged = cli_format("%s.rig.glb", job->output);
    cutis_result result = cutis_character_save_rig(b->character, b->source, b->rigged, &error);
    b->source = result == CUTIS_OK ? b->rigged : NULL;
    if (result == CUTIS_ERROR_UNSUPPORTED) cli_warning("materials are kept by name only: %s", error.text);
    return result == CUTIS_OK || result == CUTIS_ERROR_UNSUPPORTED ? CLI_OK : cli_library_error(&error);
}

static int add_motion(bake *b)
{
    const bake_job *job = b->job;
    cutis_character *moved;
    cutis_error error;
    int warning_count = b->character->warning_count;
    if (cutis_character_add_bvh(b->character, job->motion, job->map, job->map_count, NULL, &moved, &error) != CUTIS_OK)
        return cli_library_error(&error);
    cutis_character_destroy(b->character);
    b->character = moved;
    if (!job->quiet && moved->warning_count > warning_count)
        cli_warnings(moved->warnings + warning_count, moved->warning_count - warning_count);
    return CLI_OK;
}

static int load_character(bake *b)
{
    const bake_job *job = b->job;
    int status;
    bool gltf = cli_has_ending(job->input, ".glb") || cli_has_ending(job->input, ".gltf");
    b->source = gltf && !cli_is_built_in(job->input) ? job->input : NULL;
    b->character = cli_load_character(job->input, job->quiet, &status);
    if (!b->character) return status;
    example_set examples;
    status = examples_load(b->character, job->example_count, job->examples, &examples);
    if (status == CLI_OK && b->character->joint_count == 0 && (job->example_count || job->motion))
        status = rig_bare(b, &examples);
    if (status == CLI_OK && job->example_count) status = examples_add(&b->character, &examples, job->example_seconds);
    if (status == CLI_OK && job->motion) status = add_motion(b);
    examples_free(&examples);
    return status;
}

/* Without a word: flesh for a character that has bones to move it, sliding skin for a cache. */
static void choose_solver(bake *b)
{
    const cutis_character *c = b->character;
    bool skinned = c->influence_first && c->influence_first[c->vertex_count] > 0;
    b->solver = b->job->solver ? b->job->solver : b->job->body ? "slide" : skinned ? "layers" : "lbs";
    b->result->solver = b->solver;
}

static int choose_clip(bake *b)
{
    const cutis_character *character = b->character;
    if (b->body && !b->job->clip) {
        b->clip = -1; /* the cache is the motion */
        return CLI_OK;
    }
    if (b->job->clip) {
        b->clip = cli_find_clip(character, b->job->clip);
        return b->clip < 0 ? CLI_USAGE : CLI_OK;
    }
    /* The motion that was just added is the last clip, and what was asked for. */
    b->clip = b->job->motion ? character->clip_count - 1 : character->clip_count ? 0 : -1;
    if (b->job->quiet) return CLI_OK;
    if (b->clip < 0)
        cli_warning("%s has no clip, so one frame of its idle pose is baked; --motion FILE.bvh adds a motion%s",
                    character->name, character->joint_count ? "" : " and the skeleton for it");
    else if (character->clip_count > 1 && !b->job->motion)
        fprintf(stderr, "cutis: baking '%s', the first of %d clips; --clip chooses another\n", character->clips[0].name,
                character->clip_count);
    return CLI_OK;
}

/* ---- loops ---- */

/*
 * Whether the clip ends in the pose it began with, perhaps elsewhere: then `travel` is the rigid motion in between.
 * Returns the largest gap of a joint that remains, over the size.
 */
static double find_travel(bake *b)
{
    const cutis_character *c = b->character;
    size_t floats = 12 * (size_t)c->joint_count;
    float *first = cli_allocate(floats + 1, sizeof *first), *last = cli_allocate(floats + 1, sizeof *last);
    cutis_pose_sample(c, b->clip, (double)c->clips[b->clip].start, first);
    cutis_pose_sample(c, b->clip, (double)c->clips[b->clip].end, last);
    b->travels = false;
    double best = HUGE_VAL;
    /* No travel at all, or that of one of the first joints. */
    for (int root = -1; root < c->joint_count && root < 8; root++) {
        double m[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, gap = 0;
        if (root >= 0) {
            const float *a = first + 12 * root, *z = last + 12 * root;
            double scale = 0;
            for (int k = 0; k < 3; k++) scale += (double)a[4 * k] * (double)a[4 * k];
            if (!(scale > 0)) continue;
            /* z x inverse of a, both a rotation times one scale */
            for (int i = 0; i < 3; i++) {
                for (int j = 0; j < 3; j++) {
                    m[4 * i + j] = 0;
                    for (int k = 0; k < 3; k++) m[4 * i + j] += (double)z[4 * i + k] * (double)a[4 * j + k] / scale;
                }
                m[4 * i + 3] = (double)z[4 * i + 3];
                for (int j = 0; j < 3; j++) m[4 * i + 3] -= m[4 * i + j] * (double)a[4 * j + 3];
            }
        }
        for (int j = 0; j < c->joint_count; j++) {
            if (!c->joints[j].deforms) continue;
            double d2 = 0;
            for (int i = 0; i < 3; i++) {
                double x = m[4 * i + 3];
                for (int k = 0; k < 3; k++) x += m[4 * i + k] * (double)first[12 * j + 4 * k + 3];
                d2 += pow(x - (double)last[12 * j + 4 * i + 3], 2);
            }
            gap = fmax(gap, sqrt(d2) / (double)c->size);
        }
        if (gap < 0.5 * best || (root >= 0 && best > 1e-4 && gap < best)) {
            best = gap;
            b->travels = root >= 0;
            for (int i = 0; i < 12; i++) b->travel[i] = (float)m[i];
        }
        if (best < 1e-4) break;
    }
    if (best > 0.01) b->travels = false;
    free(first);
    free(last);
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
static double last_move(const bake *b, double interval)
{
    const cutis_character *c = b->character;
    float *a = cli_allocate(12 * (size_t)c->joint_count, sizeof *a),
          *z = cli_allocate(12 * (size_t)c->joint_count, sizeof *z);
    double end = (double)c->clips[b->clip].end, largest = 0;
    cutis_pose_sample(c, b->clip, end - interval, a);
    cutis_pose_sample(c, b->clip, end, z);
    for (int j = 0; j < c->joint_count; j++) {
        double d2 = 0;
        for (int i = 3; i < 12; i += 4) d2 += pow((double)a[12 * j + i] - (double)z[12 * j + i], 2);
        if (c->joints[j].deforms) largest = fmax(largest, sqrt(d2) / (double)c->size);
    }
    free(a);
    free(z);
    return largest;
}

/* A copy of a track that goes on to its first value, `interval` seconds behind the clip's end. */
static cutis_track close_track(const cutis_track *track, float end, double interval)
{
    int components = track->path == CUTIS_PATH_ROTATION ? 4 : track->path == CUTIS_PATH_MORPH ? 1 : 3;
    size_t row = (size_t)components * (track->interpolation == CUTIS_INTERPOLATION_CUBIC ? 3 : 1);
    size_t count = (size_t)track->key_count;
    float *times = cli_allocate(count + 2, sizeof *times), *values = cli_allocate((count + 2) * row, sizeof *values);
    memcpy(times, track->times, count * sizeof *times);
    memcpy(values, track->values, count * row * sizeof *values);
    if (times[count - 1] < end - 1e-6f) { /* held until the end */
        times[count] = end;
        memcpy(values + count * row, values + (count - 1) * row, row * sizeof *values);
        count++;
    }
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
static int close_clip(bake *b, double interval)
{
    const cutis_character *c = b->character;
    const cutis_clip *clip = &c->clips[b->clip];
    cutis_clip *clips = cli_allocate((size_t)c->clip_count, sizeof *clips);
    cutis_track *tracks = cli_allocate((size_t)clip->track_count, sizeof *tracks);
    memcpy(clips, c->clips, (size_t)c->clip_count * sizeof *clips);
    for (int t = 0; t < clip->track_count; t++) tracks[t] = close_track(&clip->tracks[t], clip->end, interval);
    clips[b->clip].tracks = tracks;
    cutis_character given = *c, *closed = NULL;
    given.clips = clips;
    cutis_error error;
    cutis_result result = cutis_character_create(&given, NULL, &closed, &error);
    for (int t = 0; t < clip->track_count; t++) {
        free((void *)tracks[t].times);
        free((void *)tracks[t].values);
    }
    free(tracks);
    free(clips);
    if (result != CUTIS_OK) return cli_library_error(&error);
    b->original = b->character;
    b->character = closed;
    return CLI_OK;
}

/* See whether the clip closes, close it when only the last key is missing, and take its period. */
static int prepare_loop(bake *b)
{
    const cutis_clip *clip = b->clip >= 0 ? &b->character->clips[b->clip] : NULL;
    if (!clip || !(clip->end > clip->start))
        return cli_error("--loop needs a clip that lasts longer than 0 s; %s", clip ? clip->name : "there is none");
    double gap = find_travel(b), interval = last_interval(clip);
    if (gap > 1e-3 && interval > 0 && gap < 3 * last_move(b, interval)) {
        int status = close_clip(b, interval);
        if (status != CLI_OK) return status;
        clip = &b->character->clips[b->clip];
        b->closed_by = interval;
        gap = find_travel(b);
    }
    b->jump = gap > 1e-3 ? gap : 0;
    if (b->jump > 0 && !b->job->quiet)
        cli_warning(
            "clip '%s' does not end as it began: a joint is off by %.2g %% of the size, so the loop jumps there",
            clip->name, 100 * gap);
    b->period = (double)clip->end - (double)clip->start;
    return CLI_OK;
}

static int count_frames(bake *b)
{
    bake_result *r = b->result;
    const cutis_clip *clip = b->clip >= 0 ? &b->character->clips[b->clip] : NULL;
    double frames = clip ? cli_frame_count(clip, b->job->fps) : 1;
    if (b->body) frames = floor((b->body->frame_count - 1) / b->body->fps * b->job->fps + 1e-6) + 1;
    if (!(frames >= 1 && frames <= FRAME_LIMIT))
        return cli_error("clip '%s' lasts %.4g s, which is more than %d frames at %.9g per second", clip->name,
                         (double)clip->end - (double)clip->start, FRAME_LIMIT, b->job->fps);
    r->frames = (int)frames;
    r->fps = b->job->fps;
    r->has_loop = b->job->loop;
    r->start = b->body ? b->body->start : clip ? (double)clip->start : 0;
    if (b->job->loop) {
        /* Whole frames to a period: the rate gives way, by less than half a frame in all. */
        double intervals = fmax(1, floor(b->period * b->job->fps + 0.5));
        r->frames = (int)intervals + 1;
        r->fps = intervals / b->period;
        if (fabs(r->fps - floor(r->fps + 0.5)) < 1e-5 * r->fps) r->fps = floor(r->fps + 0.5); /* rounding of keys */
    }
    r->clip = clip ? cli_format("%s", clip->name) : NULL;
    r->vertices = b->character->vertex_count;
    return CLI_OK;
}

/* The substep of a loop: the stack's own (or the one asked for), made to divide the period. */
static double loop_substep(const bake *b)
{
    double substep = 0;
    for (const char *at = b->solver; at; at = strchr(at, '+') ? strchr(at, '+') + 1 : NULL) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "+"), at);
        const cutis_solver_info *solver = cutis_solver_find(name);
        if (solver && solver->substep > 0 && substep == 0) substep = solver->substep; /* the body's is the longest */
    }
    if (substep > 0 && b->job->substep > 0) substep = b->job->substep;
    if (substep == 0) return 0;
    double divided = b->period / ceil(b->period / substep - 1e-6);
    return divided >= 0.0005 ? divided : substep;
}

/* From the material: four times the decay time of the least damped tissue, after the way there. */
static double default_lead_in(const bake *b)
{
    double least = HUGE_VAL;
    for (const char *at = b->solver; at; at = strchr(at, '+') ? strchr(at, '+') + 1 : NULL) {
        char name[64], key[128];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "+"), at);
        const cutis_solver_info *solver = cutis_solver_find(name);
        for (int i = 0; solver && i < solver->parameter_count; i++) {
            const cutis_parameter *parameter = &solver->parameters[i];
            if (!strstr(parameter->name, "damping") || strcmp(parameter->unit, "1/s") != 0) continue;
            snprintf(key, sizeof key, "%s.%s", name, parameter->name);
            double value = cutis_model_parameter(b->model, key);
            if (value >= 0 && value < least) least = value;
        }
    }
    double seconds = LEAD_IN_WAY + (least < HUGE_VAL ? 4 / fmax(least, 0.1) : LEAD_IN_LEAST);
    return fmin(LEAD_IN_MOST, fmax(LEAD_IN_LEAST, seconds));
}

static bool loop_interrupted(void *unused)
{
    (void)unused;
    return cli_interrupted();
}

/* Bring the state from the clip's first pose into the periodic motion. */
static int find_loop(bake *b)
{
    bake_result *r = b->result;
    cutis_error error;
    if (r->substep == 0) return CLI_OK;
    if (cutis_state_create(b->model, NULL, &b->seam, &error) != CUTIS_OK) return cli_library_error(&error);
    b->motion.lead_in = 0; /* from here on time counts from the start of the period */
    cutis_loop_def def = {.motion = {&b->motion, cutis_clip_motion_sample},
                          .period = b->period,
                          .travel = b->travels ? b->travel : NULL,
                          .position_tolerance = BAKE_SEAM_POSITION,
                          .velocity_tolerance = BAKE_SEAM_VELOCITY,
                          .seam = b->seam,
                          .interrupted = loop_interrupted,
                          .jobs = cutis_pool_jobs(b->pool)};
    double start = cli_clock();
    if (cutis_state_find_loop(b->model, b->state, &def, NULL, &r->loop, &error) != CUTIS_OK)
        return cli_library_error(&error);
    r->lead_in_seconds += cli_clock() - start;
    return r->loop.interrupted ? CLI_INTERRUPTED : CLI_OK;
}

/*
 * The seam of the period that was written, in position: its end against its start, or the search's, which ran this very
 * period, looked at more than vertices and may have put the seam elsewhere. That in velocity is the search's.
 */
static void measure_seam(bake *b)
{
    bake_result *r = b->result;
    size_t floats = 3 * (size_t)r->vertices;
    float *first = b->batch, *last = b->batch + (size_t)(r->frames - 1) * floats;
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
            d2 += pow(x - (double)last[i + (size_t)k], 2);
        }
        largest = fmax(largest, d2);
    }
    double seam = sqrt(largest) / (double)b->character->size;
    r->loop.position_seam = fmax(fmax(r->loop.position_seam, seam), b->jump);
    r->loop.closed =
        r->loop.position_seam <= BAKE_SEAM_POSITION && (r->substep == 0 || r->loop.velocity_seam <= BAKE_SEAM_VELOCITY);
    /* The last key is the first, unless the character has walked on. */
    if (!b->travels) memcpy(last, first, floats * sizeof(float));
    cutis_output moving;
    if (b->texcoords && cutis_state_output(b->model, b->state, "texcoords", &moving)) {
        size_t row = (size_t)moving.count * 2;
        memcpy(b->texcoords + (size_t)(r->frames - 1) * row, b->texcoords, row * sizeof(float));
    }
}

static int build_model(bake *b)
{
    bake_result *r = b->result;
    cutis_error error;
    b->pool = cli_create_pool(b->job->threads);
    if (!b->pool) return CLI_FAILURE;
    r->threads = cutis_pool_thread_count(b->pool);
    cutis_model_def def = cutis_model_def_default();
    def.character = b->character;
    def.solver = b->solver;
    def.substep = b->job->loop ? loop_substep(b) : b->job->substep;
    def.settings = b->job->settings;
    def.setting_count = b->job->setting_count;
    def.jobs = cutis_pool_jobs(b->pool);
    double start = cli_clock();
    if (cutis_model_build(&def, &b->model, &error) != CUTIS_OK) return cli_library_error(&error);
    r->build_seconds = cli_clock() - start;
    b->info = cutis_model_get_info(b->model);
    if (!b->job->quiet) cli_warnings(b->info.warnings, b->info.warning_count);
    if (cutis_state_create(b->model, NULL, &b->state, &error) != CUTIS_OK) return cli_library_error(&error);

    r->substep = b->info.substep;
    r->element_count = b->info.element_count;
    r->model_bytes = (double)b->info.model_bytes;
    r->state_bytes = (double)b->info.state_bytes;
    /* Whole substeps, so that the clip's first instant falls on one at every frame rate. */
    r->lead_in = !isnan(b->job->lead_in) ? b->job->lead_in : r->substep > 0 ? default_lead_in(b) : 0;
    if (r->substep > 0) r->lead_in = round(r->lead_in / r->substep) * r->substep;
    b->motion = (cutis_clip_motion){b->character, b->clip, r->lead_in};
    return CLI_OK;
}

static int open_output(bake *b)
{
    const bake_result *r = b->result;
    cutis_error error;
    cutis_cache_info info = {r->vertices, r->frames, r->start, r->fps, b->character, 3};
    bool glb = b->job->output && cli_has_ending(b->job->output, ".glb");
    if (!glb && b->job->output && cutis_cache_create(b->job->output, &info, NULL, &b->writer, &error) != CUTIS_OK)
        return cli_library_error(&error);
    size_t frame_bytes = 3 * sizeof(float) * (size_t)r->vertices;
    size_t capacity = frame_bytes ? BATCH_BYTES / frame_bytes : 1;
    bool all = glb || b->job->loop || b->job->measure || b->job->check_count || b->job->keep;
    b->batch_capacity = all ? r->frames : capacity < 1 ? 1 : capacity > (size_t)r->frames ? r->frames : (int)capacity;
    b->morphs = cli_allocate((size_t)b->character->morph_count + 1, sizeof *b->morphs);
    b->batch = cli_allocate((size_t)b->batch_capacity, frame_bytes);
    cutis_output moving;
    if (b->writer && cli_has_ending(b->job->output, ".usda") &&
        cutis_state_output(b->model, b->state, "texcoords", &moving) && moving.domain == CUTIS_DOMAIN_CORNER &&
        moving.components == 2)
        b->texcoords = cli_allocate((size_t)b->batch_capacity * (size_t)moving.count * 2, sizeof *b->texcoords);
    b->step_seconds = cli_allocate((size_t)r->frames, sizeof *b->step_seconds);
    b->volume_ratios = cli_allocate((size_t)r->frames, sizeof *b->volume_ratios);
    return CLI_OK;
}

/* ---- the body from a cache ---- */

/*
 * The cache's frames as a surface: from the rest pose to the first frame during the lead-in, eased like a clip's, then
 * linearly from frame to frame, the last one held.
 */
static void sample_body(void *context, double time, float *positions)
{
    const bake *b = context;
    const cutis_cache *cache = b->body;
    size_t count = 3 * (size_t)cache->vertex_count;
    double lead_in = b->result->lead_in;
    const float *from = b->character->positions, *to = cache->positions;
    double part;
    if (time < lead_in) {
        double u = time / lead_in;
        part = u * u * u * (u * (6 * u - 15) + 10);
    } else {
        double frame = (time - lead_in) * cache->fps, last = cache->frame_count - 1;
        frame = frame < last ? frame : last;
        size_t whole = (size_t)frame, next = whole < (size_t)last ? whole + 1 : whole;
        from = cache->positions + whole * count;
        to = cache->positions + next * count;
        part = frame - (double)whole;
    }
    for (size_t i = 0; i < count; i++)
        positions[i] = (float)((double)from[i] + part * ((double)to[i] - (double)from[i]));
}

static int load_body(bake *b)
{
    cutis_error error;
    if (!b->job->body) return CLI_OK;
    if (cutis_cache_load(b->job->body, NULL, &b->body, &error) != CUTIS_OK) return cli_library_error(&error);
    if (b->body->vertex_count != b->character->vertex_count)
        return cli_error("'%s' has %d vertices, but %s has %d", b->job->body, b->body->vertex_count, b->character->name,
                         b->character->vertex_count);
    if (!strstr(b->solver, "slide"))
        return cli_error("--body gives a surface to slide on, which solver '%s' does not take; use --solver slide",
                         b->solver);
    return CLI_OK;
}

/* ---- other outputs ---- */

static int open_extras(bake *b)
{
    const bake_result *r = b->result;
    for (const char *at = b->job->outputs; at && *at;) {
        cutis_output output;
        cutis_error error;
        int length = (int)strcspn(at, ",");
        b->extras = cli_resize(b->extras, (size_t)b->extra_count + 1, sizeof *b->extras);
        bake_extra *extra = &b->extras[b->extra_count++];
        *extra = (bake_extra){.name = cli_format("%.*s", length, at)};
        extra->path = cli_format("%s.%s.npy", b->job->output, extra->name);
        if (!cutis_state_output(b->model, b->state, extra->name, &output))
            return cli_error("solver '%s' has no output '%s' for %s; 'cutis solvers' lists them", b->solver,
                             extra->name, b->character->name);
        cutis_cache_info info = {output.count, r->frames, r->start, r->fps, NULL, output.components};
        if (cutis_cache_create(extra->path, &info, NULL, &extra->writer, &error) != CUTIS_OK)
            return cli_library_error(&error);
        at += length + (at[length] == ',');
    }
    return CLI_OK;
}

static int write_extras(bake *b)
{
    for (int i = 0; i < b->extra_count; i++) {
        cutis_output output;
        cutis_error error;
        if (cutis_state_output(b->model, b->state, b->extras[i].name, &output) &&
            cutis_cache_append(b->extras[i].writer, output.values, &error) != CUTIS_OK)
            return cli_library_error(&error);
    }
    return CLI_OK;
}

/* ---- props and touch ---- */

static void open_props(bake *b)
{
    const cutis_character *c = b->character;
    bool glb = b->job->output && cli_has_ending(b->job->output, ".glb");
    b->props = cli_allocate((size_t)c->prop_count + 1, sizeof *b->props);
    for (int i = 0; glb && i < c->prop_count; i++)
        b->props[i].motions = cli_allocate((size_t)b->result->frames, 12 * sizeof(float));
    cutis_output touch;
    if (!cutis_state_output(b->model, b->state, "touch", &touch) || touch.domain != CUTIS_DOMAIN_VERTEX ||
        touch.components != 3 || !c->influence_first)
        return;
    b->touches = cli_allocate((size_t)c->joint_count + 1, sizeof *b->touches);
    b->regions = cli_allocate((size_t)c->point_count + 1, sizeof *b->regions);
    for (int p = 0; p < c->point_count; p++) {
        int v = c->point_vertices[p];
        float most = 0;
        b->regions[p] = -1;
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++)
            if (c->influence_weights[i] > most) most = c->influence_weights[i], b->regions[p] = c->influence_joints[i];
    }
}

static void record_prop(bake *b, int index, int frame)
{
    bake_prop *p = &b->props[index];
    cutis_prop_state now;
    cutis_state_prop(b->model, b->state, index, &now);
    for (int k = 0; k < 3; k++) {
        p->end[k] = now.motion[4 * k + 3];
        if (frame == 0) p->start[k] = p->end[k];
        p->force[k] = now.force[k];
    }
    bool moved = p->end[0] != p->start[0] || p->end[1] != p->start[1] || p->end[2] != p->start[2];
    bool given = b->character->props[index].role != CUTIS_PROP_COLLIDER;
    if (given && (moved || now.vertex_count > 0)) b->result->props_moved = true;
    if ((double)now.penetration > p->penetration) p->penetration = (double)now.penetration;
    if (!p->motions) return;
    memcpy(p->motions + 12 * (size_t)frame, now.motion, sizeof now.motion);
    if (now.vertex_count == 0) return;
    size_t floats = 3 * (size_t)now.vertex_count;
    if (!p->shapes) {
        p->shapes = cli_allocate((size_t)b->result->frames * floats, sizeof(float));
        p->vertex_count = now.vertex_count;
        p->triangle_count = now.triangle_count;
        p->triangles = now.triangles;
    }
    memcpy(p->shapes + (size_t)frame * floats, now.positions, floats * sizeof(float));
}

static void record_touch(bake *b, int frame)
{
    const cutis_character *c = b->character;
    cutis_output touch;
    if (!b->touches || !cutis_state_output(b->model, b->state, "touch", &touch)) return;
    for (int j = 0; j < c->joint_count; j++) memset(b->touches[j].sum, 0, sizeof b->touches[j].sum);
    /* Vertices of one point tell the same force: it counts once. */
    for (int p = 0; p < c->point_count; p++)
        for (int k = 0; k < 3 && b->regions[p] >= 0; k++)
            b->touches[b->regions[p]].sum[k] += (double)touch.values[3 * (size_t)c->point_vertices[p] + (size_t)k];
    for (int j = 0; j < c->joint_count; j++) {
        const double *f = b->touches[j].sum;
        double length = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
        if (length > b->touches[j].most) b->touches[j].most = length, b->touches[j].frame = frame;
    }
}

static json_t *vector_json(double x, double y, double z)
{
    return json_pack("[o, o, o]", cli_json_real(x), cli_json_real(y), cli_json_real(z));
}

static json_t *report_props(const bake *b)
{
    static const char *const roles[] = {"collider", "rigid", "soft"};
    json_t *list = json_array();
    for (int i = 0; i < b->character->prop_count; i++) {
        const cutis_prop *prop = &b->character->props[i];
        const bake_prop *p = &b->props[i];
        json_array_append_new(list,
                              json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "name", cli_json_string(prop->name),
                                        "role", roles[prop->role], "start",
                                        vector_json((double)p->start[0], (double)p->start[1], (double)p->start[2]),
                                        "end", vector_json((double)p->end[0], (double)p->end[1], (double)p->end[2]),
                                        "lift", cli_json_real((double)p->end[1] - (double)p->start[1]), "penetration",
                                        cli_json_real(p->penetration), "force",
                                        vector_json((double)p->force[0], (double)p->force[1], (double)p->force[2])));
    }
    return list;
}

/* Regions that were touched at all. */
static json_t *report_touch(const bake *b)
{
    json_t *regions = json_object();
    double all[3] = {0, 0, 0};
    for (int j = 0; j < b->character->joint_count; j++) {
        const bake_touch *t = &b->touches[j];
        for (int k = 0; k < 3; k++) all[k] += t->sum[k];
        if (!(t->most > 0)) continue;
        json_object_set_new(regions, b->character->joints[j].name,
                            json_pack("{s:o, s:i, s:o}", "most", cli_json_real(t->most), "frame", t->frame, "end",
                                      vector_json(t->sum[0], t->sum[1], t->sum[2])));
    }
    return json_pack("{s:o, s:o}", "end", vector_json(all[0], all[1], all[2]), "regions", regions);
}

/* ---- the run ---- */

/* Bring the state to `time`, in pieces of whole substeps that can be interrupted in between. */
static int advance(bake *b, double time)
{
    bake_result *r = b->result;
    cutis_step_input input = {.motion = {&b->motion, cutis_clip_motion_sample}, .jobs = cutis_pool_jobs(b->pool)};
    if (b->body) input.body = (cutis_body){b, sample_body};
    double piece = r->substep > 0 ? SUBSTEPS_AT_ONCE * r->substep : HUGE_VAL;
    for (bool last = false; !last;) {
        double left = time - cutis_state_time(b->state);
        last = left <= piece;
        if (b->character->morph_count) {
            cutis_clip_motion_morphs(&b->motion, last ? time : cutis_state_time(b->state) + piece, b->morphs);
            input.morphs = b->morphs;
        }
        cutis_state_step(b->model, b->state, &input, left < 0 ? 0 : last ? left : piece);
        const cutis_step_stats *stats = cutis_state_stats(b->model, b->state);
        r->substeps += stats->substeps;
        r->iterations += stats->iterations;
        r->unconverged += stats->unconverged;
        r->repairs += stats->repairs;
        if (stats->contacts > r->contacts_max) r->contacts_max = stats->contacts;
        if (stats->residual > r->residual_max) r->residual_max = stats->residual;
        for (int i = 0; i < CUTIS_MAX_PARTS; i++) r->part_ms[i] += stats->part_ms[i];
        if (cli_interrupted()) return CLI_INTERRUPTED;
    }
    return CLI_OK;
}

/* The same in a loop: at its seam the state that begins the period takes over. */
static int advance_loop(bake *b, double time)
{
    double seam = b->result->loop.seam_time;
    if (b->seam && seam > 0 && cutis_state_time(b->state) < seam && time >= seam) {
        int status = advance(b, seam);
        if (status != CLI_OK) return status;
        cutis_state_copy(b->model, b->state, b->seam);
    }
    return advance(b, time);
}

/* Measure and write the frames that have come together. */
static int flush_batch(bake *b)
{
    bake_result *r = b->result;
    cutis_error error;
    size_t frame_floats = 3 * (size_t)r->vertices;
    if (b->batch_count && cutis_measure_frames(b->character, b->batch, b->batch_count, cutis_pool_jobs(b->pool), NULL,
                                               b->volume_ratios + b->written, NULL, NULL, &error) != CUTIS_OK)
        return cli_library_error(&error);
    for (int i = 0; i < b->batch_count; i++) {
        const float *frame = b->batch + (size_t)i * frame_floats;
        r->hash = cli_hash(frame, frame_floats * sizeof *frame, r->hash);
        if (b->writer && cutis_cache_append(b->writer, frame, &error) != CUTIS_OK) return cli_library_error(&error);
        if (b->texcoords &&
            cutis_cache_append_texcoords(b->writer, b->texcoords + (size_t)i * (size_t)b->character->corner_count * 2,
                                         &error) != CUTIS_OK)
            return cli_library_error(&error);
    }
    b->written += b->batch_count;
    b->batch_count = 0;
    return CLI_OK;
}

/* From rest to the clip's first pose. */
static int run_lead_in(bake *b)
{
    bake_result *r = b->result;
    cli_progress progress;
    double start = cli_clock();
    /* A solver without a past gets there in one step. */
    long total = r->substep > 0 ? lround(r->lead_in / r->substep) : r->lead_in > 0;
    int status = CLI_OK;
    cli_progress_begin(&progress, "leading in", total, b->job->quiet);
    for (long done = 0; done < total && status == CLI_OK;) {
        cli_progress_update(&progress, done);
        done = done + SUBSTEPS_AT_ONCE < total ? done + SUBSTEPS_AT_ONCE : total;
        status = advance(b, r->lead_in * (double)done / (double)total);
    }
    cli_progress_end(&progress);
    r->lead_in_seconds = cli_clock() - start;
    for (int i = 0; i < CUTIS_MAX_PARTS; i++) r->part_ms[i] = 0; /* the parts are told per frame */
    return status;
}

static int run_frames(bake *b)
{
    bake_result *r = b->result;
    cli_progress progress;
    size_t frame_floats = 3 * (size_t)r->vertices;
    int status = CLI_OK;
    cli_progress_begin(&progress, "baking", r->frames, b->job->quiet);
    for (int i = 0; i < r->frames && status == CLI_OK; i++) {
        cli_progress_update(&progress, i);
        double start = cli_clock();
        /* A loop's time starts with its period. */
        double origin = b->job->loop && r->substep > 0 ? 0 : r->lead_in;
        status = advance_loop(b, origin + (i + 1 == r->frames && b->period > 0 ? b->period : i / r->fps));
        b->step_seconds[i] = cli_clock() - start;
        if (status == CLI_OK) status = write_extras(b);
        if (status != CLI_OK) break;
        for (int k = 0; k < b->character->prop_count; k++) record_prop(b, k, i);
        record_touch(b, i);
        cutis_output moving;
        if (b->texcoords && cutis_state_output(b->model, b->state, "texcoords", &moving))
            memcpy(b->texcoords + (size_t)b->batch_count * (size_t)moving.count * 2, moving.values,
                   (size_t)moving.count * 2 * sizeof(float));
        memcpy(b->batch + (size_t)b->batch_count++ * frame_floats, cutis_state_positions(b->model, b->state),
               frame_floats * sizeof(float));
        if (b->batch_count == b->batch_capacity && b->batch_capacity < r->frames) status = flush_batch(b);
    }
    if (status == CLI_OK && b->job->loop) measure_seam(b);
    if (status == CLI_OK) status = flush_batch(b);
    cli_progress_end(&progress);
    return status;
}

/* The frames as morph targets of the file they were made from. */
static int write_morphs(bake *b)
{
    bake_result *r = b->result;
    const bake_job *job = b->job;
    cutis_error error;
    const char *source = b->source;
    /* A file that is kept plays its own clip, which holds its last pose where the closed one goes on. */
    cutis_bake_def def = {.character = source && b->original ? b->original : b->character,
                          .source = source,
                          .clip = b->clip,
                          .start = r->start,
                          .fps = r->fps,
                          .frame_count = r->frames,
                          .frames = b->batch,
                          .tolerance = job->tolerance,
                          .target_limit = job->targets,
                          .exact = job->exact,
                          .positions_only = job->safe,
                          .jobs = cutis_pool_jobs(b->pool)};
    cutis_bake_prop *props = cli_allocate((size_t)b->character->prop_count + 1, sizeof *props);
    for (int i = 0; i < b->character->prop_count; i++) {
        const bake_prop *p = &b->props[i];
        props[i] = (cutis_bake_prop){p->motions, p->vertex_count, p->triangle_count, p->shapes, p->triangles};
    }
    if (b->character->prop_count) def.props = props;
    r->has_morphs = true;
    cutis_result result = cutis_bake_save(&def, job->output, &r->morphs, &error);
    free(props);
    return result == CUTIS_OK ? CLI_OK : cli_library_error(&error);
}

static int close_output(bake *b)
{
    cutis_error error;
    for (int i = 0; i < b->extra_count; i++) {
        cutis_cache_writer *extra = b->extras[i].writer;
        b->extras[i].writer = NULL;
        if (cutis_cache_finish(extra, &error) != CUTIS_OK) return cli_library_error(&error);
    }
    if (!b->job->output) return CLI_OK;
    if (!b->writer) return write_morphs(b);
    cutis_cache_writer *writer = b->writer;
    b->writer = NULL; /* finish frees it, also on failure */
    return cutis_cache_finish(writer, &error) == CUTIS_OK ? CLI_OK : cli_library_error(&error);
}

/* ---- the result ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int sum_up(bake *b)
{
    bake_result *r = b->result;
    double sum = 0;
    for (int i = 0; i < r->frames; i++) sum += b->step_seconds[i];
    r->step_series = cli_allocate((size_t)r->frames, sizeof *r->step_series);
    memcpy(r->step_series, b->step_seconds, (size_t)r->frames * sizeof *r->step_series);
    qsort(b->step_seconds, (size_t)r->frames, sizeof *b->step_seconds, compare_doubles);
    r->step_min = b->step_seconds[0];
    r->step_max = b->step_seconds[r->frames - 1];
    r->step_median = b->step_seconds[r->frames / 2];
    r->step_mean = sum / r->frames;
    for (int i = 0; i < CUTIS_MAX_PARTS; i++) r->part_ms[i] /= r->frames;
    /* An open surface has no volume. */
    cutis_topology topology;
    cutis_error error;
    if (cutis_character_topology(b->character, NULL, &topology, &error) != CUTIS_OK) return cli_library_error(&error);
    r->volume_min = r->volume_max = topology.closed_component_count ? b->volume_ratios[0] : (double)NAN;
    for (int i = 1; i < r->frames && topology.closed_component_count; i++) {
        r->volume_min = fmin(r->volume_min, b->volume_ratios[i]);
        r->volume_max = fmax(r->volume_max, b->volume_ratios[i]);
    }
    return CLI_OK;
}

static int measure_quality(bake *b)
{
    bake_result *r = b->result;
    cutis_error error;
    if (!b->job->measure && !b->job->check_count) return CLI_OK;
    r->has_quality = true;
    return cutis_measure(b->character, b->batch, r->frames, r->fps, cutis_pool_jobs(b->pool), NULL, &r->quality,
                         &error) == CUTIS_OK
               ? CLI_OK
               : cli_library_error(&error);
}

/* Bones that the motion drives into other flesh: what no solver with flesh can make good. */
static int find_bones(bake *b)
{
    bake_result *r = b->result;
    const cutis_character *c = b->character;
    if (!(r->substep > 0) || c->joint_count == 0 || b->body) return CLI_OK;
    size_t floats = (size_t)c->joint_count * 12;
    int capacity = c->joint_count * 4;
    float *poses = cli_allocate((size_t)r->frames * floats, sizeof *poses);
    r->bones = cli_allocate((size_t)capacity, sizeof *r->bones);
    double origin = b->job->loop ? 0 : r->lead_in;
    for (int i = 0; i < r->frames; i++)
        cutis_clip_motion_sample(&b->motion, origin + i / r->fps, poses + (size_t)i * floats);
    cutis_error error;
    int count = 0;
    cutis_result result =
        cutis_measure_bones(c, poses, r->frames, cutis_pool_jobs(b->pool), NULL, r->bones, capacity, &count, &error);
    free(poses);
    if (result != CUTIS_OK) return cli_library_error(&error);
    r->bone_count = count < capacity ? count : capacity;
    r->bone_names = cli_allocate(2 * (size_t)r->bone_count + 1, sizeof *r->bone_names);
    for (int i = 0; i < r->bone_count; i++) {
        r->bone_names[2 * i] = cli_format("%s", c->joints[r->bones[i].joint].name);
        r->bone_names[2 * i + 1] = cli_format("%s", c->joints[r->bones[i].into].name);
    }
    return CLI_OK;
}

static json_t *report_bones(const bake_result *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->bone_count; i++) {
        const cutis_bone_in_flesh *bone = r->bones + i;
        json_array_append_new(list,
                              json_pack("{s:o, s:o, s:i, s:o, s:i}", "joint", cli_json_string(r->bone_names[2 * i]),
                                        "into", cli_json_string(r->bone_names[2 * i + 1]), "frames", bone->frames,
                                        "depth", cli_json_real(bone->depth), "worst_frame", bone->worst_frame));
    }
    return list;
}

/* Decide the bounds, now that every figure is known. */
static void decide_checks(bake *b)
{
    bake_result *r = b->result;
    if (!b->job->check_count) return;
    json_t *figures = quality_json(&r->quality, r->fps);
    json_object_set_new(figures, "step_ms_median", cli_json_real(r->step_median * 1e3));
    json_object_set_new(figures, "step_ms_max", cli_json_real(r->step_max * 1e3));
    json_object_set_new(figures, "peak_memory", cli_json_real(r->peak_bytes));
    json_object_set_new(figures, "repairs", json_integer((json_int_t)r->repairs));
    json_object_set_new(figures, "unconverged", json_integer((json_int_t)r->unconverged));
    if (r->has_morphs) {
        json_object_set_new(figures, "morph_targets", json_integer(r->morphs.target_count));
        json_object_set_new(figures, "morph_error_max", cli_json_real(r->morphs.max_error));
        json_object_set_new(figures, "morph_error_rms", cli_json_real(r->morphs.rms_error));
        json_object_set_new(figures, "file_bytes", json_integer((json_int_t)r->morphs.file_bytes));
    }
    if (r->has_loop) {
        json_object_set_new(figures, "seam_position", cli_json_real(r->loop.position_seam));
        json_object_set_new(figures, "seam_velocity", cli_json_real(r->loop.velocity_seam));
    }
    r->failed_checks = quality_decide(b->job->checks, b->job->check_count, figures);
    json_decref(figures);
}

/* The value in force of one parameter, as JSON. */
static json_t *parameter_json(const cutis_parameter *parameter, double value)
{
    if (isnan(value)) return json_null();
    if (parameter->type == CUTIS_PARAMETER_BOOL) return json_boolean(value != 0);
    if (parameter->type == CUTIS_PARAMETER_INT) return json_integer((json_int_t)value);
    if (parameter->type == CUTIS_PARAMETER_FLOAT) return cli_json_real(value);
    const char *choice = parameter->choices;
    for (int i = (int)value; i > 0 && strchr(choice, '|'); i--) choice = strchr(choice, '|') + 1;
    return json_stringn(choice, strcspn(choice, "|"));
}

/* Parameters, parts and the element of every solver of the stack. */
static void report_solvers(const bake *b, json_t *parameters, json_t *parts)
{
    bake_result *r = b->result;
    bool stack = strchr(b->solver, '+') != NULL;
    int part = 0;
    for (const char *at = b->solver; at; at = strchr(at, '+') ? strchr(at, '+') + 1 : NULL) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "+"), at);
        const cutis_solver_info *solver = cutis_solver_find(name);
        if (!solver) continue;
        if (!r->element) r->element = solver->element;
        for (int i = 0; i < solver->parameter_count; i++) {
            const cutis_parameter *parameter = &solver->parameters[i];
            char key[128];
            snprintf(key, sizeof key, "%s%s%s", stack ? name : "", stack ? "." : "", parameter->name);
            json_object_set_new(parameters, key, parameter_json(parameter, cutis_model_parameter(b->model, key)));
        }
        /* part_ms is summed over the stack by index: the names of the first solver stand for all. */
        for (int i = 0; i < solver->part_count && part == 0 && i < CUTIS_MAX_PARTS; i++)
            json_object_set_new(parts, solver->parts[i], cli_json_real(r->part_ms[i]));
        part += solver->part_count;
    }
}

static json_t *report_settings(const bake *b)
{
    json_t *settings = json_object();
    for (int i = 0; i < b->character->setting_count; i++)
        json_object_set_new(settings, b->character->settings[i].key, cli_json_string(b->character->settings[i].value));
    for (int i = 0; i < b->job->setting_count; i++)
        json_object_set_new(settings, b->job->settings[i].key, cli_json_string(b->job->settings[i].value));
    return settings;
}

static json_t *report_warnings(const bake *b)
{
    json_t *warnings = json_array();
    for (int i = 0; i < b->character->warning_count; i++)
        json_array_append_new(warnings, cli_json_string(b->character->warnings[i]));
    for (int i = 0; i < b->info.warning_count; i++)
        json_array_append_new(warnings, cli_json_string(b->info.warnings[i]));
    return warnings;
}

static json_t *make_report(const bake *b)
{
    bake_result *r = b->result;
    const cutis_character *character = b->character;
    json_t *parameters = json_object(), *parts = json_object();
    report_solvers(b, parameters, parts);
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)r->hash);
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_integer(SCHEMA));
    json_object_set_new(root, "version", cli_json_string(cutis_version()));
    json_object_set_new(root, "input", cli_json_string(b->job->input));
    json_object_set_new(root, "output", cli_json_string(b->job->output));
    json_object_set_new(root, "solver", cli_json_string(b->solver));
    json_object_set_new(root, "character",
                        json_pack("{s:o, s:i, s:i, s:i, s:i, s:o}", "name", cli_json_string(character->name),
                                  "vertices", character->vertex_count, "points", character->point_count, "faces",
                                  character->face_count, "joints", character->joint_count, "size",
                                  cli_json_real((double)character->size)));
    json_object_set_new(root, "clip", cli_json_string(r->clip));
    json_object_set_new(root, "frames", json_integer(r->frames));
    json_object_set_new(root, "fps", cli_json_real(r->fps));
    json_object_set_new(root, "start", cli_json_real(r->start));
    json_object_set_new(root, "lead_in", cli_json_real(r->lead_in));
    json_object_set_new(root, "substep", cli_json_real(r->substep));
    json_object_set_new(root, "threads", json_integer(r->threads));
    json_object_set_new(root, r->element ? r->element : "elements", json_integer(r->element_count));
    json_object_set_new(root, "parameters", parameters);
    json_object_set_new(root, "settings", report_settings(b));
    json_object_set_new(
        root, "timings",
        json_pack("{s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o, s:o}, s:o}", "load_ms", cli_json_real(r->load_seconds * 1e3),
                  "build_ms", cli_json_real(r->build_seconds * 1e3), "lead_in_ms",
                  cli_json_real(r->lead_in_seconds * 1e3), "total_ms", cli_json_real(r->total_seconds * 1e3), "step_ms",
                  "min", cli_json_real(r->step_min * 1e3), "median", cli_json_real(r->step_median * 1e3), "mean",
                  cli_json_real(r->step_mean * 1e3), "max", cli_json_real(r->step_max * 1e3), "parts_ms", parts));
    json_object_set_new(root, "peak_memory", json_integer((json_int_t)r->peak_bytes));
    json_object_set_new(root, "model_memory", json_integer((json_int_t)r->model_bytes));
    json_object_set_new(root, "state_memory", json_integer((json_int_t)r->state_bytes));
    json_object_set_new(
        root, "volume",
        json_pack("{s:o, s:o}", "min_ratio", cli_json_real(r->volume_min), "max_ratio", cli_json_real(r->volume_max)));
    json_object_set_new(root, "stats",
                        json_pack("{s:I, s:I, s:I, s:I, s:i, s:o}", "substeps", (json_int_t)r->substeps, "iterations",
                                  (json_int_t)r->iterations, "unconverged", (json_int_t)r->unconverged, "repairs",
                                  (json_int_t)r->repairs, "contacts_max", r->contacts_max, "residual_max",
                                  cli_json_real(r->residual_max)));
    if (r->has_loop)
        json_object_set_new(root, "loop",
                            json_pack("{s:o, s:o, s:i, s:b, s:b, s:o, s:o, s:o, s:o, s:b}", "period",
                                      cli_json_real(b->period), "closed_by", cli_json_real(b->closed_by), "periods_run",
                                      r->loop.periods, "closed", (int)r->loop.closed, "accelerated",
                                      (int)r->loop.accelerated, "seam_position", cli_json_real(r->loop.position_seam),
                                      "seam_velocity", cli_json_real(r->loop.velocity_seam), "seam_time",
                                      cli_json_real(r->loop.seam_time), "speed", cli_json_real(r->loop.speed),
                                      "travels", (int)b->travels));
    if (character->prop_count) json_object_set_new(root, "props", report_props(b));
    if (b->touches) json_object_set_new(root, "touch", report_touch(b));
    if (r->bones) json_object_set_new(root, "bones_in_flesh", report_bones(r));
    if (r->has_quality) json_object_set_new(root, "quality", quality_json(&r->quality, r->fps));
    if (b->job->check_count)
        json_object_set_new(root, "checks", quality_checks_json(b->job->checks, b->job->check_count));
    if (r->has_morphs)
        json_object_set_new(
            root, "morphs",
            json_pack("{s:i, s:o, s:o, s:o, s:i, s:o, s:I}", "targets", r->morphs.target_count, "rms_error",
                      cli_json_real(r->morphs.rms_error), "max_error", cli_json_real(r->morphs.max_error), "residual",
                      cli_json_real(r->morphs.residual), "worst_frame", r->morphs.worst_frame, "flat_blends",
                      cli_json_real(r->morphs.flat_blends), "file_bytes", (json_int_t)r->morphs.file_bytes));
    json_object_set_new(root, "hash", cli_json_string(hash));
    json_object_set_new(root, "warnings", report_warnings(b));
    return root;
}

static int run_all(bake *b)
{
    bake_result *r = b->result;
    double start = cli_clock();
    int status = load_character(b);
    r->load_seconds = cli_clock() - start;
    if (status == CLI_OK) choose_solver(b);
    if (status == CLI_OK) status = load_body(b);
    if (status == CLI_OK) status = choose_clip(b);
    if (status == CLI_OK && b->job->prop_count)
        status = cli_add_props(b->job->props, b->job->prop_count, b->clip, b->job->quiet, &b->character);
    if (status == CLI_OK && b->job->loop) status = prepare_loop(b);
    if (status == CLI_OK) status = count_frames(b);
    if (status == CLI_OK) status = build_model(b);
    if (status == CLI_OK && cli_interrupted()) status = CLI_INTERRUPTED;
    if (status == CLI_OK) status = open_output(b);
    if (status == CLI_OK) status = open_extras(b);
    if (status == CLI_OK) open_props(b);
    if (status == CLI_OK) status = run_lead_in(b);
    if (status == CLI_OK && b->job->loop) status = find_loop(b);
    if (status == CLI_OK) status = run_frames(b);
    if (status == CLI_OK) status = measure_quality(b);
    if (status == CLI_OK) status = find_bones(b);
    if (status == CLI_OK) status = close_output(b);
    if (status != CLI_OK) return status;
    r->total_seconds = cli_clock() - start;
    r->peak_bytes = cli_peak_memory();
    status = sum_up(b);
    if (status == CLI_OK) decide_checks(b);
    if (status == CLI_OK) r->report = make_report(b);
    return status;
}

int bake_run(const bake_job *job, bake_result *result)
{
    *result = (bake_result){0};
    bake b = {.job = job, .result = result};
    int status = run_all(&b);
    cutis_cache_discard(b.writer);
    for (int i = 0; i < b.extra_count; i++) {
        cutis_cache_discard(b.extras[i].writer);
        free(b.extras[i].name);
        free(b.extras[i].path);
    }
    free(b.extras);
    for (int i = 0; b.props && i < b.character->prop_count; i++) {
        free(b.props[i].motions);
        free(b.props[i].shapes);
    }
    free(b.props);
    free(b.touches);
    free(b.regions);
    cutis_cache_destroy(b.body);
    cutis_state_destroy(b.state);
    cutis_state_destroy(b.seam);
    cutis_model_destroy(b.model);
    cutis_pool_destroy(b.pool);
    cutis_character_destroy(b.character);
    cutis_character_destroy(b.original);
    if (b.rigged) remove(b.rigged);
    free(b.rigged);
    free(b.morphs);
    if (status == CLI_OK && job->keep) {
        result->positions = b.batch;
        b.batch = NULL;
    }
    result->volume_ratios = b.volume_ratios;
    free(b.batch);
    free(b.step_seconds);
    free(b.texcoords);
    if (status != CLI_OK) bake_result_free(result);
    return status;
}

void bake_result_free(bake_result *result)
{
    free(result->clip);
    free(result->volume_ratios);
    free(result->step_series);
    free(result->positions);
    for (int i = 0; i < 2 * result->bone_count; i++) free(result->bone_names[i]);
    free(result->bone_names);
    free(result->bones);
    json_decref(result->report);
    *result = (bake_result){0};
}
