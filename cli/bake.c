/*
 * bake.c: drive a solver through a clip and write every frame to a cache.
 *
 * Frame i shows the clip at start + i / fps, from its first key to its last. The state begins at rest in the rest
 * pose, is led into the clip's first pose, and is advanced to each frame's own time, so that no rounding adds up.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bake_private.h"
#include "example_files.h"

enum { FRAME_LIMIT = 10000000 }; /* more is a mistake in the clip or in --fps */
/* Seconds of a lead-in: the way into the first pose, and as long as flesh of the softest damping needs to settle. */
static const double LEAD_IN_WAY = 0.5, LEAD_IN_LEAST = 1, LEAD_IN_MOST = 4;
static const int SUBSTEPS_AT_ONCE = 8; /* between two looks at the interrupt flag */

/* ---- preparation ---- */

/* A bare mesh that is to move gets a skeleton; a glTF file that is to be kept gets it too, in a file beside the output.
 */
static int rig_bare(bake *b, const example_set *examples)
{
    const bake_job *job = b->job;
    if (!job->quiet) printf("%s has no skeleton: one is made (cutis rig shows it)\n", b->character->name);
    int status = examples_rig(&b->character, examples, job->quiet);
    if (status != CLI_OK || !b->source || !b->glb) return status;
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
    b->source = cli_is_gltf(job->input) && !cli_is_built_in(job->input) ? job->input : NULL;
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
    unsigned wanted = b->job->body ? CUTIS_SOLVER_SURFACE : skinned ? CUTIS_SOLVER_PREFERRED : CUTIS_SOLVER_BASELINE;
    b->solver = b->job->solver ? b->job->solver : cutis_solver_with(wanted)->name;
    b->result->solver = b->solver;
}

static int load_body(bake *b)
{
    cutis_error error;
    if (!b->job->body) return CLI_OK;
    if (cutis_cache_load(b->job->body, NULL, &b->body, &error) != CUTIS_OK) return cli_library_error(&error);
    if (b->body->vertex_count != b->character->vertex_count)
        return cli_error("'%s' has %d vertices, but %s has %d", b->job->body, b->body->vertex_count, b->character->name,
                         b->character->vertex_count);
    const cutis_solver_info *solver;
    for (const char *rest = b->solver; (solver = cli_stack_next(&rest));)
        if (solver->flags & CUTIS_SOLVER_SURFACE) return CLI_OK;
    return cli_error("--body gives a surface to slide on, which solver '%s' does not take; use --solver %s", b->solver,
                     cutis_solver_with(CUTIS_SOLVER_SURFACE)->name);
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

/* From the material: four times the decay time of the least damped tissue, after the way there. */
static double default_lead_in(const bake *b)
{
    double least = HUGE_VAL;
    const cutis_solver_info *solver;
    for (const char *rest = b->solver; (solver = cli_stack_next(&rest));) {
        char key[128];
        for (int i = 0; i < solver->parameter_count; i++) {
            const cutis_parameter *parameter = &solver->parameters[i];
            if (parameter->role != CUTIS_PARAMETER_DAMPING) continue;
            snprintf(key, sizeof key, "%s.%s", solver->name, parameter->name);
            double value = cutis_model_parameter(b->model, key);
            if (value >= 0 && value < least) least = value;
        }
    }
    double seconds = LEAD_IN_WAY + (least < HUGE_VAL ? 4 / fmax(least, 0.1) : LEAD_IN_LEAST);
    return fmin(LEAD_IN_MOST, fmax(LEAD_IN_LEAST, seconds));
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
    def.substep = b->job->loop ? bake_loop_substep(b) : b->job->substep;
    def.settings = b->job->settings;
    def.setting_count = b->job->setting_count;
    def.all_flesh = b->job->all_flesh;
    def.jobs = cutis_pool_jobs(b->pool);
    double start = cli_clock();
    if (cutis_model_build(&def, &b->model, &error) != CUTIS_OK) return cli_library_error(&error);
    r->build_seconds = cli_clock() - start;
    b->info = cutis_model_get_info(b->model);
    if (!b->job->quiet) cli_warnings(b->info.warnings, b->info.warning_count);
    if (cutis_state_create(b->model, NULL, &b->state, &error) != CUTIS_OK) return cli_library_error(&error);

    r->substep = b->info.substep;
    const cutis_solver_info *solver;
    for (const char *rest = b->solver; !r->element && (solver = cli_stack_next(&rest));) r->element = solver->element;
    r->element_count = b->info.element_count;
    r->model_bytes = (double)b->info.model_bytes;
    r->state_bytes = (double)b->info.state_bytes;
    /* Whole substeps, so that the clip's first instant falls on one at every frame rate. */
    r->lead_in = !isnan(b->job->lead_in) ? b->job->lead_in : r->substep > 0 ? default_lead_in(b) : 0;
    if (r->substep > 0) r->lead_in = round(r->lead_in / r->substep) * r->substep;
    b->motion = (cutis_clip_motion){b->character, b->clip, r->lead_in};
    b->morphs = cli_allocate((size_t)b->character->morph_count + 1, sizeof *b->morphs);
    r->step_series = cli_allocate((size_t)r->frames, sizeof *r->step_series);
    r->volume_ratios = cli_allocate((size_t)r->frames, sizeof *r->volume_ratios);
    return CLI_OK;
}

/* ---- the run ---- */

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
    int status = CLI_OK;
    cli_progress_begin(&progress, "baking", r->frames, b->job->quiet);
    for (int i = 0; i < r->frames && status == CLI_OK; i++) {
        cli_progress_update(&progress, i);
        double start = cli_clock();
        /* A loop's time starts with its period. */
        double origin = b->job->loop && r->substep > 0 ? 0 : r->lead_in;
        status = advance_loop(b, origin + (i + 1 == r->frames && b->period > 0 ? b->period : i / r->fps));
        r->step_series[i] = cli_clock() - start;
        if (status != CLI_OK) break;
        bake_props_record(b, i);
        status = bake_output_append(b);
    }
    if (status == CLI_OK && b->job->loop) bake_loop_join(b);
    if (status == CLI_OK) status = bake_output_flush(b);
    cli_progress_end(&progress);
    return status;
}

/* ---- the result ---- */

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

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int sum_up(bake *b)
{
    bake_result *r = b->result;
    double sum = 0;
    double *sorted = cli_allocate((size_t)r->frames, sizeof *sorted);
    for (int i = 0; i < r->frames; i++) sum += sorted[i] = r->step_series[i];
    qsort(sorted, (size_t)r->frames, sizeof *sorted, compare_doubles);
    r->step_min = sorted[0];
    r->step_max = sorted[r->frames - 1];
    r->step_median = sorted[r->frames / 2];
    r->step_mean = sum / r->frames;
    free(sorted);
    for (int i = 0; i < CUTIS_MAX_PARTS; i++) r->part_ms[i] /= r->frames;
    /* An open surface has no volume. */
    cutis_topology topology;
    cutis_error error;
    if (cutis_character_topology(b->character, NULL, &topology, &error) != CUTIS_OK) return cli_library_error(&error);
    r->volume_min = r->volume_max = topology.closed_component_count ? r->volume_ratios[0] : (double)NAN;
    for (int i = 1; i < r->frames && topology.closed_component_count; i++) {
        r->volume_min = fmin(r->volume_min, r->volume_ratios[i]);
        r->volume_max = fmax(r->volume_max, r->volume_ratios[i]);
    }
    return CLI_OK;
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
    if (status == CLI_OK && b->job->loop) status = bake_loop_prepare(b);
    if (status == CLI_OK) status = count_frames(b);
    if (status == CLI_OK) status = build_model(b);
    if (status == CLI_OK && cli_interrupted()) status = CLI_INTERRUPTED;
    if (status == CLI_OK) status = bake_output_open(b);
    if (status == CLI_OK) bake_props_open(b);
    if (status == CLI_OK) status = run_lead_in(b);
    if (status == CLI_OK && b->job->loop) status = bake_loop_find(b);
    if (status == CLI_OK) status = run_frames(b);
    if (status == CLI_OK) status = measure_quality(b);
    if (status == CLI_OK) status = find_bones(b);
    if (status == CLI_OK) status = bake_output_finish(b);
    if (status != CLI_OK) return status;
    r->total_seconds = cli_clock() - start;
    r->peak_bytes = cli_peak_memory();
    status = sum_up(b);
    if (status == CLI_OK) bake_report_decide(b);
    if (status == CLI_OK) r->report = bake_report_make(b);
    return status;
}

int bake_run(const bake_job *job, bake_result *result)
{
    *result = (bake_result){0};
    bake b = {.job = job, .result = result, .glb = job->output && cli_has_ending(job->output, ".glb")};
    int status = run_all(&b);
    if (status == CLI_OK && job->keep) {
        result->positions = b.batch;
        b.batch = NULL;
    }
    bake_output_close(&b);
    bake_props_close(&b);
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
