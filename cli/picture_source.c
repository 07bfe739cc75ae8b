/*
 * picture_source.c: the rest pose, caches and solvers as sequences of shapes.
 */
#include "picture_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Whether a word is a solver or a stack of them: "lbs", "layers+slide". */
static bool is_solver(const char *word)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "+"), word);
    return cutis_solver_find(name) != NULL;
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
    return cli_error("there is no cache '%s'; give a file (%s), a solver's name or 'rest'", word, cli_cache_endings());
}

int picture_source_open(const cutis_character *character, const char *word, picture_source *source)
{
    *source = (picture_source){.name = word};
    struct stat about;
    bool exists = stat(word, &about) == 0;
    if (strcmp(word, "rest") == 0 || (!exists && is_solver(word))) {
        source->kind = strcmp(word, "rest") == 0 ? SOURCE_REST : SOURCE_SOLVER;
        source->label = cli_format("%s", word);
        return CLI_OK;
    }
    if (!exists) return unknown_source(word);
    source->kind = SOURCE_CACHE;
    cutis_error error;
    if (cutis_cache_load(word, NULL, &source->cache, &error) != CUTIS_OK) return cli_library_error(&error);
    if (source->cache->vertex_count != character->vertex_count)
        return cli_error("%s has %d vertices, but %s has %d; it is not a cache of this character", word,
                         source->cache->vertex_count, character->name, character->vertex_count);
    if (source->cache->frame_count < 1) return cli_error("%s has no frames", word);
    /* The file's name without folder and ending. */
    const char *base = strrchr(word, '/') ? strrchr(word, '/') + 1 : word;
    const char *dot = strrchr(base, '.');
    source->label = cli_format("%.*s", dot && dot > base ? (int)(dot - base) : (int)strlen(base), base);
    return CLI_OK;
}

void picture_source_close(picture_source *source)
{
    cutis_cache_destroy(source->cache);
    free(source->label);
    free(source->frames);
    free(source->values);
    *source = (picture_source){0};
}

/* Keep one frame of the state, and its output when it is one number or one vector a vertex. */
static bool keep_frame(picture_source *source, const cutis_character *character, const cutis_model *model,
                       const cutis_state *state, int i, const char *name)
{
    size_t vertex_count = (size_t)character->vertex_count;
    memcpy(source->frames + (size_t)i * vertex_count * 3, cutis_state_positions(model, state), vertex_count * 12);
    cutis_output output;
    if (!name) return true;
    if (!cutis_state_output(model, state, name, &output) || output.domain != CUTIS_DOMAIN_VERTEX ||
        output.count != character->vertex_count)
        return false;
    for (size_t v = 0; v < vertex_count; v++) {
        const float *from = output.values + v * (size_t)output.components;
        double sum = 0;
        for (int k = 0; k < output.components; k++) sum += (double)from[k] * (double)from[k];
        source->values[(size_t)i * vertex_count + v] = output.components == 1 ? from[0] : (float)sqrt(sum);
    }
    return true;
}

int picture_source_run(picture_source *source, const cutis_character *character, int clip, const picture_times *times,
                       const cutis_setting *settings, int setting_count, cutis_pool *pool, const char *output,
                       bool quiet)
{
    size_t vertex_count = (size_t)character->vertex_count;
    source->frames = cli_allocate((size_t)times->count, vertex_count * 12);
    if (output) source->values = cli_allocate((size_t)times->count, vertex_count * sizeof(float));

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

    /* As in a bake: a lead-in of whole substeps, about a second, for solvers with a past. */
    double substep = status == CLI_OK ? cutis_model_get_info(model).substep : 0;
    double lead_in = substep > 0 ? round(1.0 / substep) * substep : 0;
    double origin = clip >= 0 ? (double)character->clips[clip].start : 0;
    cutis_clip_motion motion = {character, clip, lead_in};
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}, .jobs = cutis_pool_jobs(pool)};
    cli_progress progress;
    cli_progress_begin(&progress, source->name, times->count, quiet || substep == 0);
    bool has_output = true;
    for (int i = 0; i < times->count && status == CLI_OK; i++) {
        double time = times->exact ? times->time - origin : times->frames[i] / times->fps;
        time = lead_in + (time < 0 ? 0 : time);
        /* Pieces, so that Ctrl-C is heard. */
        for (double left = 1; left > 0 && status == CLI_OK;) {
            left = time - cutis_state_time(state);
            double piece = substep > 0 ? 8 * substep : left;
            cutis_state_step(model, state, &input, left < 0 ? 0 : left < piece ? left : piece);
            left -= piece;
            if (cli_interrupted()) status = CLI_INTERRUPTED;
        }
        has_output = keep_frame(source, character, model, state, i, output) && has_output;
        cli_progress_update(&progress, i + 1);
    }
    cli_progress_end(&progress);
    if (!has_output) {
        /* This panel stays in its own colour; the caller asks whether any has it. */
        free(source->values);
        source->values = NULL;
    }
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return status;
}

/* The frame of a cache for the i-th frame shown. */
static int cache_frame(const cutis_cache *cache, const picture_times *times, int i)
{
    int frame = times->exact ? (int)floor((times->time - times->start) * times->fps + 0.5) : times->frames[i];
    return frame < 0 ? 0 : frame >= cache->frame_count ? cache->frame_count - 1 : frame;
}

const float *picture_source_positions(const picture_source *source, const cutis_character *character,
                                      const picture_times *times, int i)
{
    size_t frame_floats = (size_t)character->vertex_count * 3;
    if (source->kind == SOURCE_CACHE)
        return source->cache->positions + (size_t)cache_frame(source->cache, times, i) * frame_floats;
    return source->kind == SOURCE_SOLVER ? source->frames + (size_t)i * frame_floats : character->positions;
}

int picture_source_read_values(picture_source *source, const cutis_character *character, const picture_times *times,
                               const char *path)
{
    picture_array array;
    cutis_error error;
    if (picture_array_load(path, &array, &error) != CUTIS_OK) return cli_library_error(&error);
    int last = array.dimension_count;
    while (last > 1 && array.shape[last - 1] == 1) last--; /* (frames x vertices x 1) is as good */
    long vertices = last > 0 ? array.shape[last - 1] : 0, frames = last == 2 ? array.shape[0] : 1;
    int status = CLI_OK;
    if (last > 2 || vertices != character->vertex_count) {
        status = cli_error("%s must hold one number for each vertex (frames x %d), but it has %ld numbers in a row",
                           path, character->vertex_count, vertices);
    } else {
        size_t count = (size_t)vertices;
        source->values = cli_allocate((size_t)times->count, count * sizeof(float));
        for (int i = 0; i < times->count && status == CLI_OK; i++) {
            long frame = times->exact ? (long)floor((times->time - times->start) * times->fps + 0.5) : times->frames[i];
            if (frames == 1) frame = 0;
            if (frame < 0 || frame >= frames)
                status = cli_error("%s has values for the frames 0 to %ld, not for frame %ld", path, frames - 1, frame);
            else
                memcpy(source->values + (size_t)i * count, array.values + (size_t)frame * count, count * sizeof(float));
        }
    }
    picture_array_destroy(&array);
    return status;
}
