/*
 * picture_source.c: the rest pose, caches and solvers as sequences of shapes.
 */
#include "picture_source.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"

const cutis_output_info *picture_source_output(const picture_source *source, const char *name)
{
    const cutis_solver_info *solver;
    for (const char *rest = source->kind == SOURCE_SOLVER ? source->name : NULL; (solver = cli_stack_next(&rest));)
        for (int i = 0; i < solver->output_count; i++)
            if (strcmp(solver->outputs[i].name, name) == 0) return &solver->outputs[i];
    return NULL;
}

bool picture_source_has_parameter(const picture_source *source, const char *key)
{
    const cutis_solver_info *solver;
    const char *dot = strrchr(key, '.'), *name = dot ? dot + 1 : key;
    if (strcmp(name, "preset") == 0) name = "anatomy"; /* every solver that takes presets has it */
    for (const char *rest = source->kind == SOURCE_SOLVER ? source->name : NULL; (solver = cli_stack_next(&rest));)
        for (int i = 0; i < solver->parameter_count; i++)
            if (strcmp(solver->parameters[i].name, name) == 0) return true;
    return false;
}

static int unknown_source(const char *word)
{
    int count = cutis_solver_count();
    const char **names = cli_allocate((size_t)count + 1, sizeof *names);
    for (int i = 0; i < count; i++) names[i] = cutis_solver(i)->name;
    names[count] = "rest";
    const char *nearest = strpbrk(word, "./") ? NULL : cli_nearest(word, names, count + 1);
    free(names);
    if (nearest) return cli_error("'%s' is neither a cache nor a solver; did you mean '%s'?", word, nearest);
    return cli_error("there is no cache '%s'; give a file that 'cutis bake' wrote, a solver's name or 'rest'", word);
}

/* The caption of a cache: its file's name without folder and ending; arm_lbs.pc2 of the character arm is "lbs". */
static char *cache_label(const cutis_character *character, const char *path)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t length = strlen(character->name);
    if (strncmp(base, character->name, length) == 0 && (base[length] == '_' || base[length] == '-') &&
        base[length + 1] && base[length + 1] != '.')
        base += length + 1;
    const char *dot = strrchr(base, '.');
    return cli_format("%.*s", dot && dot > base ? (int)(dot - base) : (int)strlen(base), base);
}

int picture_source_open(const cutis_character *character, const char *word, const char *clip, picture_source *source)
{
    *source = (picture_source){.name = word};

    system_file about;
    bool exists = system_look(word, &about);

    /* TEXT=CACHE, unless there is a file of that name */
    const char *middle = exists ? NULL : strchr(word, '=');
    if (middle) {
        source->label = cli_format("%.*s", (int)(middle - word), word);
        source->named = true;
        word = middle + 1;
        source->name = word;
        exists = system_look(word, &about);
    }

    /* the rest pose or a solver */
    const char *stack = word;
    if (strcmp(word, "rest") == 0 || (!exists && cli_stack_next(&stack))) {
        source->kind = strcmp(word, "rest") == 0 ? SOURCE_REST : SOURCE_SOLVER;
        if (!source->label) source->label = cli_format("%s", word);
        return CLI_OK;
    }

    if (!exists) return unknown_source(word);
    source->kind = SOURCE_CACHE;
    source->cache = cli_load_cache(word, character, clip);
    if (!source->cache) return CLI_FAILURE;
    if (source->cache->frame_count < 1) return cli_error("%s has no frames", word);

    if (!source->label) source->label = cache_label(character, word);
    return CLI_OK;
}

void picture_source_close(picture_source *source)
{
    cutis_cache_destroy(source->cache);
    free(source->label);
    free(source->frames);
    free(source->values);
    free(source->texcoords);
    free(source->normal_weights);
    for (int i = 0; i < SOURCE_TISSUES; i++) free(source->tissues[i]);

    free(source->elements);
    free(source->element_layers);
    free(source->element_edges);

    for (int i = 0; i < source->prop_count; i++) {
        free(source->props[i].motions);
        free(source->props[i].shapes);
        free(source->props[i].triangles);
    }

    free(source->props);
    *source = (picture_source){0};
}

/* ---- solvers ---- */

typedef struct source_run {
    picture_source *source;
    const cutis_character *character;
    const cutis_model *model;
    const cutis_state *state;
    const picture_times *times;
} source_run;

/* Keep the i-th frame of an output in *kept, (times x count x components), which is made with the first frame. */
static void keep_values(const source_run *run, const cutis_output *output, int i, float **kept)
{
    size_t floats = (size_t)output->count * (size_t)output->components;
    if (!*kept) *kept = cli_allocate((size_t)run->times->count, floats * sizeof(float));
    memcpy(*kept + (size_t)i * floats, output->values, floats * sizeof(float));
}

/* The index-th output of a role, as far as the solver has it. */
static void keep_role(const source_run *run, cutis_output_role role, int index, int i, float **kept)
{
    cutis_output output;
    if (cutis_state_output_role(run->model, run->state, role, index, &output)) keep_values(run, &output, i, kept);
}

/* An output of vertices as one number each: the length of a vector. */
static void keep_lengths(const source_run *run, const char *name, int i, float **kept)
{
    cutis_output output;
    if (!cutis_state_output(run->model, run->state, name, &output) || output.domain != CUTIS_DOMAIN_VERTEX) return;

    if (output.components == 1) {
        keep_values(run, &output, i, kept);
        return;
    }

    size_t count = (size_t)output.count;
    if (!*kept) *kept = cli_allocate((size_t)run->times->count, count * sizeof(float));
    for (size_t k = 0; k < count; k++) {
        double sum = 0;
        for (int c = 0; c < output.components; c++) {
            double x = (double)output.values[k * (size_t)output.components + (size_t)c];
            sum += x * x;
        }
        (*kept)[(size_t)i * count + k] = (float)sqrt(sum);
    }
}

/* Voxels or particles. */
static void keep_elements(const source_run *run, int i)
{
    picture_source *s = run->source;
    cutis_output output;
    if (!cutis_state_output_role(run->model, run->state, CUTIS_OUTPUT_ELEMENTS, 0, &output)) return;
    s->element_count = output.count;
    keep_values(run, &output, i, &s->elements);
    keep_role(run, CUTIS_OUTPUT_ELEMENT_LAYER, 0, i, &s->element_layers);
    keep_role(run, CUTIS_OUTPUT_ELEMENT_EDGE, 0, i, &s->element_edges);
}

static void keep_props(const source_run *run, int i)
{
    picture_source *s = run->source;
    size_t count = (size_t)run->times->count;

    /* room, at the first frame */
    if (!s->props) {
        s->prop_count = run->character->prop_count;
        s->props = cli_allocate((size_t)s->prop_count, sizeof *s->props);
        for (int k = 0; k < s->prop_count; k++) s->props[k].motions = cli_allocate(count, 12 * sizeof(float));
    }

    for (int k = 0; k < s->prop_count; k++) {
        picture_prop *kept = &s->props[k];
        cutis_prop_state now;
        cutis_state_prop(run->model, run->state, k, &now);
        memcpy(kept->motions + 12 * (size_t)i, now.transform, sizeof now.transform);

        /* soft ones have a shape of their own */
        if (now.vertex_count == 0) continue;
        size_t floats = 3 * (size_t)now.vertex_count;
        if (!kept->shapes) {
            kept->shapes = cli_allocate(count * floats, sizeof(float));
            kept->vertex_count = now.vertex_count;
            kept->triangle_count = now.triangle_count;
            kept->triangles = cli_allocate(3 * (size_t)now.triangle_count, sizeof(int));
            memcpy(kept->triangles, now.triangles, 3 * (size_t)now.triangle_count * sizeof(int));
        }

        memcpy(kept->shapes + (size_t)i * floats, now.positions, floats * sizeof(float));
    }
}

static void keep_frame(const source_run *run, int i, const picture_wants *wants)
{
    if (run->character->prop_count) keep_props(run, i);
    picture_source *s = run->source;
    size_t floats = (size_t)run->character->vertex_count * 3;
    memcpy(s->frames + (size_t)i * floats, cutis_state_positions(run->model, run->state), floats * sizeof(float));
    if (wants->value) keep_lengths(run, wants->value, i, &s->values);
    if (wants->texcoords) keep_role(run, CUTIS_OUTPUT_TEXCOORDS, 0, i, &s->texcoords);
    for (int t = 0; t < SOURCE_TISSUES && wants->tissues; t++)
        keep_role(run, CUTIS_OUTPUT_TISSUE, t, i, &s->tissues[t]);
    if (wants->elements) keep_elements(run, i);
}

/* A clip as a motion that leaves out its first seconds. */
typedef struct source_motion {
    cutis_clip_motion clip;
    double skip;
} source_motion;

/* The first pose shown at the end of the lead-in, and the clip from there. */
static void motion_sample(void *context, double time, float *joints)
{
    const source_motion *m = context;
    const cutis_clip_motion *clip = &m->clip;

    /* from the start of the clip */
    if (m->skip <= 0) {
        cutis_clip_motion_sample((void *)clip, time, joints);
        return;
    }

    /* a lead-in to the first frame that is shown */
    double first = (double)clip->character->clips[clip->clip].start + m->skip, u = time / clip->lead_in;
    if (time >= clip->lead_in)
        cutis_pose_sample(clip->character, clip->clip, first + time - clip->lead_in, joints);
    else
        cutis_pose_blend(clip->character, clip->clip, first, (float)(u * u * u * (u * (6 * u - 15) + 10)), joints);
}

static void motion_morphs(const source_motion *m, double time, float *morphs)
{
    bool led_in = time < m->clip.lead_in;
    cutis_clip_motion_morphs(&m->clip, led_in ? time : time + m->skip, morphs);
}

static bool is_interrupted(void *context)
{
    (void)context;
    return cli_interrupted();
}

int picture_source_run(picture_source *source, const cutis_character *character, int clip, const picture_times *times,
                       const cutis_setting *settings, int setting_count, cutis_pool *pool, const picture_wants *wants,
                       bool quiet)
{
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    cutis_error error;

    cutis_model_def def = cutis_model_def_default();

    def.character = character;
    def.solver = source->name;
    def.settings = settings;
    def.setting_count = setting_count;
    def.jobs = cutis_pool_jobs(pool);

    int status = CLI_OK;
    if (cutis_model_build(&def, &model, &error) != CUTIS_OK ||
        cutis_state_create(model, NULL, &state, &error) != CUTIS_OK)
        status = cli_library_error(&error);

    /* what the build warns of */
    cutis_model_info info = {0};
    if (status == CLI_OK) info = cutis_model_get_info(model);
    for (int i = 0; i < info.warning_count && !quiet; i++) cli_warning("%s", info.warnings[i]);

    /* Half a second before the range, so that its first frame moves. */
    double substep = info.substep;
    double origin = clip >= 0 ? (double)character->clips[clip].start : 0;
    double skip = substep > 0 ? fmax(0, times->skip - 0.5) : 0;

    /* a lead-in as that of a bake */
    double lead_in = substep > 0 ? cutis_bake_clip_lead_in(model, character, clip, origin + skip) : 0;
    source_motion motion = {{character, clip, lead_in}, skip};
    if (substep > 0 && lead_in == 0) {
        float *joints = cli_allocate((size_t)character->joint_count + 1, 12 * sizeof *joints);
        motion_sample(&motion, 0, joints);
        cutis_state_reset(model, state, joints);
        free(joints);
    }
    cutis_step_input input = {.motion = {&motion, motion_sample}, .jobs = cutis_pool_jobs(pool)};
    source->frames = cli_allocate((size_t)times->count, (size_t)character->vertex_count * 12);

    float *morphs = cli_allocate((size_t)character->morph_count + 1, sizeof *morphs);
    input.morphs = morphs;
    source_run run = {source, character, model, state, times};

    /* run, and keep each frame */
    cli_progress progress;
    cli_progress_begin(&progress, source->name, times->count, quiet || substep == 0);
    for (int i = 0; i < times->count && status == CLI_OK; i++) {
        double time = times->exact ? times->time - origin : times->frames[i] / times->fps;
        double reached = lead_in + fmax(0, time - skip);
        motion_morphs(&motion, reached, morphs);

        /* simulate, then draw with the amount of this instant */
        cutis_state_advance(model, state, &input, reached, is_interrupted, NULL);
        if (cli_interrupted()) status = CLI_INTERRUPTED;
        float amount = (float)cutis_bake_key_value(wants->keys, wants->key_count, "amount", origin + time, 1);
        input.amount = &amount;
        cutis_state_show(model, state, &input);
        if (status == CLI_OK) keep_frame(&run, i, wants);
        cli_progress_update(&progress, i + 1);
    }
    cli_progress_end(&progress);

    free(morphs);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return status;
}

/* ---- frames ---- */

/* The number of the i-th frame shown, in a file. */
static long file_frame(const picture_times *times, int i)
{
    return times->exact ? (long)floor((times->time - times->start) * times->fps + 0.5) : times->frames[i];
}

long picture_source_frame(const picture_source *source, const picture_times *times, int i)
{
    long frame = file_frame(times, i), last = source->cache->frame_count - 1;
    return frame < 0 ? 0 : frame > last ? last : frame;
}

const float *picture_source_positions(const picture_source *source, const cutis_character *character,
                                      const picture_times *times, int i)
{
    size_t frame_floats = (size_t)character->vertex_count * 3;
    if (source->kind == SOURCE_SOLVER) return source->frames + (size_t)i * frame_floats;
    if (source->kind == SOURCE_REST) return character->positions;
    return source->cache->positions + (size_t)picture_source_frame(source, times, i) * frame_floats;
}

/* Copy the frames shown of an array (frames x row), or of one row for all. */
static int copy_frames(const picture_array *array, long frames, size_t row, const picture_times *times,
                       const char *path, float **kept)
{
    *kept = cli_allocate((size_t)times->count, row * sizeof(float));
    for (int i = 0; i < times->count; i++) {
        long frame = frames == 1 ? 0 : file_frame(times, i);
        if (frame < 0 || frame >= frames)
            return cli_error("%s has values for the frames 0 to %ld, not for frame %ld", path, frames - 1, frame);
        memcpy(*kept + (size_t)i * row, array->values + (size_t)frame * row, row * sizeof(float));
    }
    return CLI_OK;
}

/* The file of an output that a bake wrote beside a cache; to free(), NULL when there is none. */
static char *output_path(const picture_source *source, const char *name)
{
    system_file about;
    char *path = source->kind == SOURCE_CACHE ? cli_format("%s.%s.npy", source->name, name) : NULL;
    if (path && system_look(path, &about)) return path;
    free(path);
    return NULL;
}

/* (frames x vertices x 3) to (frames x vertices) lengths. */
static void array_take_lengths(picture_array *array)
{
    if (array->dimension_count != 3 || array->shape[2] != 3) return;
    size_t count = (size_t)array->shape[0] * (size_t)array->shape[1];
    for (size_t i = 0; i < count; i++) {
        const float *x = array->values + 3 * i;
        array->values[i] = pvec_length(pvec_load(x));
    }
    array->dimension_count = 2;
}

bool picture_source_has_values(const picture_source *source, const char *name)
{
    char *path = output_path(source, name);
    free(path);
    return path != NULL;
}

int picture_source_read_values(picture_source *source, const cutis_character *character, const picture_times *times,
                               const char *file_or_name)
{
    /* the file, if this source has one */
    picture_array array;
    cutis_error error;
    char *path =
        cli_has_ending(file_or_name, ".npy") ? cli_format("%s", file_or_name) : output_path(source, file_or_name);
    if (!path) return CLI_OK;
    int status = picture_array_load(path, &array, &error) == CUTIS_OK ? CLI_OK : cli_library_error(&error);

    /* its shape: (frames x vertices x 1) is as good, and vectors count by their length */
    if (status == CLI_OK) {
        array_take_lengths(&array);
        int last = array.dimension_count;
        while (last > 1 && array.shape[last - 1] == 1) last--;

        long vertices = last > 0 ? array.shape[last - 1] : 0;
        long frames = last == 2 ? array.shape[0] : 1;
        if (last > 2 || vertices != character->vertex_count)
            status = cli_error("%s must hold one number for each vertex (frames x %d), but it has %ld numbers in a row",
                               path, character->vertex_count, vertices);
        else
            status = copy_frames(&array, frames, (size_t)vertices, times, path, &source->values);
        picture_array_destroy(&array);
    }
    free(path);
    return status;
}

int picture_source_read_texcoords(picture_source *source, const cutis_character *character, const picture_times *times)
{
    picture_array array;
    cutis_error error;
    char *path = output_path(source, "texcoords");
    if (!path) return CLI_OK;
    int status = picture_array_load(path, &array, &error) == CUTIS_OK ? CLI_OK : cli_library_error(&error);

    /* one pair for each corner */
    if (status == CLI_OK) {
        if (array.dimension_count != 3 || array.shape[1] != character->corner_count || array.shape[2] != 2)
            status = cli_error("%s must hold texture coordinates for each corner of the faces (frames x %d x 2)", path,
                               character->corner_count);
        else
            status = copy_frames(&array, array.shape[0], (size_t)array.shape[1] * 2, times, path, &source->texcoords);
        picture_array_destroy(&array);
    }

    free(path);
    return status;
}

int picture_source_read_weights(picture_source *source, const cutis_character *character, const picture_times *times,
                                const char *map)
{
    picture_array array;
    cutis_error error;
    system_file about;
    char *path = cli_format("%s.weights.npy", map);
    int status = CLI_OK;

    /* one number for each vertex, where the map has weights */
    if (system_look(path, &about)) {
        if (picture_array_load(path, &array, &error) != CUTIS_OK) {
            status = cli_library_error(&error);
        } else {
            if (array.dimension_count < 2 || array.shape[1] != character->vertex_count)
                status =
                    cli_error("%s must hold one number for each vertex (frames x %d)", path, character->vertex_count);
            else
                status =
                    copy_frames(&array, array.shape[0], (size_t)array.shape[1], times, path, &source->normal_weights);
            picture_array_destroy(&array);
        }
    }

    free(path);
    return status;
}

/* ---- times ---- */

int picture_times_find(const cli_arguments *arguments, const cutis_character *character, int clip_index,
                       const picture_source *sources, int source_count, bool quiet, picture_times *t)
{
    /* what the caches have */
    const cutis_clip *clip = clip_index >= 0 ? &character->clips[clip_index] : NULL;
    bool cached = false, moving = false, uneven = false;
    *t = (picture_times){.fps = 30};

    /* the shortest, and the rate of the first */
    for (int i = 0; i < source_count; i++) {
        const cutis_cache *cache = sources[i].cache;
        if (sources[i].kind == SOURCE_SOLVER) moving = true;

        if (!cache) continue;
        uneven |= cached && (cache->frame_count != t->available || cache->fps != t->fps);
        if (!cached) {
            t->fps = cache->fps;
            t->start = cache->start;
            t->available = cache->frame_count;
        }

        if (cache->frame_count < t->available) t->available = cache->frame_count;
        cached = true;
    }

    /* differences are told, options win */
    if (uneven && !quiet) cli_warning("the caches differ in length or rate; frames are matched by number");
    if (cli_given(arguments, "fps")) t->fps = cli_number(arguments, "fps");
    if (!(t->fps > 0)) t->fps = 30;

    if (cached) return CLI_OK;

    /* what the clip has */
    double frames = clip && moving ? cli_frame_count(clip, t->fps) : 1;
    if (!(frames >= 1 && frames <= 1e6)) return cli_error("clip '%s' has too many frames", clip->name);
    t->available = (int)frames;
    t->start = clip && moving ? (double)clip->start : 0;
    return CLI_OK;
}

/* Leave the frames from `start` to `end` seconds, which then count from 0. */
static int times_limit(double start, double end, picture_times *t)
{
    /* the whole motion where nothing is given */
    double last = t->start + (t->available - 1) / t->fps;
    if (isnan(start)) start = t->start;
    if (isnan(end)) end = last;

    if (!(start <= end) || start < t->start - 1e-4 || end > last + 1 / t->fps)
        return cli_error("the range from %g to %g s is outside the motion, which runs from %g to %g s", start, end,
                         t->start, last);

    /* whole frames within the range */
    t->first = (int)ceil((start - t->start) * t->fps - 1e-3);
    int stop = (int)floor((end - t->start) * t->fps + 1e-3);
    if (t->first >= t->available) t->first = t->available - 1;
    if (stop >= t->available) stop = t->available - 1;
    t->available = stop > t->first ? stop - t->first + 1 : 1;

    t->skip = t->first / t->fps;
    return CLI_OK;
}

static int frames_error(const picture_times *t, const char *text)
{
    return cli_error("--frame %s: give N, FIRST:LAST or FIRST:LAST:STEP within 0:%d, or seconds: 1.5s, 0.5s:2s", text,
                     t->available - 1);
}

/* "A:B:STEP"; a part that is left out is the first frame, the last, or 1. */
static int frames_parse(const char *text, picture_times *t)
{
    long part[3] = {0, t->available - 1, 1};
    const char *s = text;
    for (int i = 0; i < 3; i++) {
        /* up to three numbers between colons */
        char *end;
        errno = 0;
        long n = strtol(s, &end, 10);
        if (errno) return frames_error(t, text);

        if (end != s) part[i] = n;
        s = end;
        if (*s == 0) break;
        if (*s++ != ':' || i == 2) return frames_error(t, text);
    }

    /* one frame; negative ones count from the end */
    if (!strchr(text, ':')) part[1] = part[0];
    for (int i = 0; i < 2; i++)
        if (part[i] < 0) part[i] += t->available; /* from the end */
    if (part[0] < 0 || part[1] < part[0] || part[1] >= t->available || part[2] < 1 || part[2] > t->available)
        return frames_error(t, text);

    t->count = (int)((part[1] - part[0]) / part[2]) + 1;
    t->frames = cli_allocate((size_t)t->count, sizeof *t->frames);
    for (int i = 0; i < t->count; i++) t->frames[i] = (int)(part[0] + i * part[2]);
    return CLI_OK;
}

/* "1.5s" into seconds; false when it is none. */
static bool seconds_parse(const char *text, size_t length, double *seconds)
{
    char number[32];
    if (length < 2 || length > sizeof number || text[length - 1] != 's') return false;
    snprintf(number, sizeof number, "%.*s", (int)length - 1, text);
    return cli_parse_numbers(number, ',', 1, seconds);
}

/*
 * "0.5s:2s", "0.5s:", ":2s", each with ":STEP" behind: limits the times to the range, and gives the step as a text of
 * frames, or NULL. *is_range is false for what does not tell seconds.
 */
static int range_parse(const char *text, picture_times *t, bool *is_range, char steps[32])
{
    double ends[2] = {NAN, NAN};

    size_t first = strcspn(text, ":");
    *is_range = false;
    steps[0] = 0;
    if (text[first] == 0) return CLI_OK;

    size_t second = strcspn(text + first + 1, ":");
    const char *rest = text + first + 1 + second;

    *is_range = seconds_parse(text, first, &ends[0]);
    *is_range |= seconds_parse(text + first + 1, second, &ends[1]);
    if (!*is_range) return CLI_OK;

    /* a number without its s would be a frame */
    if ((first > 0 && isnan(ends[0])) || (second > 0 && isnan(ends[1])))
        return cli_error("--frame %s: give both ends in seconds, such as 0.5s:2s", text);
    if (*rest) snprintf(steps, 32, ":%s", rest);
    return times_limit(ends[0], ends[1], t);
}

/* --frame 1.5s. */
static int instant_choose(double time, picture_times *t)
{
    double end = t->start + (t->available - 1) / t->fps;
    if (time < t->start - 1e-6 || time > end + 1 / t->fps)
        return cli_error("--frame %gs is out of range: the motion runs from %g to %g s", time, t->start, end);
    t->exact = true;
    t->time = time;
    t->count = 1;
    t->frames = cli_allocate(1, sizeof *t->frames);
    return CLI_OK;
}

static int frames_choose(const cli_arguments *arguments, int fallback, picture_times *t)
{
    const char *text = cli_text(arguments, "frame");

    double time;
    if (text && seconds_parse(text, strlen(text), &time)) return instant_choose(time, t);

    /* a range of seconds, of which all, or some spread evenly, are shown */
    char steps[32];
    bool range = false;
    int status = text ? range_parse(text, t, &range, steps) : CLI_OK;
    if (status != CLI_OK) return status;
    if (range) text = steps[0] ? steps : NULL;

    if (text && strspn(text, "-0123456789") != strlen(text)) return frames_parse(text, t);
    if (fallback == 0) return frames_parse(":", t);
    if (text) {
        int frame = atoi(text);
        t->count = 1;
        t->frames = cli_allocate(1, sizeof *t->frames);
        t->frames[0] = frame < 0 ? frame + t->available : frame;
        if (t->frames[0] < 0 || t->frames[0] >= t->available)
            return cli_error("there is no frame %d; the frames are 0 to %d", frame, t->available - 1);
        return CLI_OK;
    }

    /* spread evenly over the motion, both ends included */
    t->count = fallback < t->available ? fallback : t->available;
    t->frames = cli_allocate((size_t)t->count, sizeof *t->frames);
    for (int i = 0; i < t->count; i++)
        t->frames[i] = t->count > 1 ? (int)((long)i * (t->available - 1) / (t->count - 1)) : 0;
    return CLI_OK;
}

int picture_times_choose(const cli_arguments *arguments, int fallback, picture_times *t)
{
    int status = frames_choose(arguments, fallback, t);
    for (int i = 0; status == CLI_OK && i < t->count; i++) t->frames[i] += t->first;
    return status;
}

double picture_times_rate(const picture_times *t)
{
    return t->count > 1 ? t->fps / (t->frames[1] - t->frames[0]) : t->fps;
}
