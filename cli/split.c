/*
 * split.c: one long clip as many bakes. A job of a list with "split": SECONDS becomes pieces that run side by side,
 * each a bake of a range of the clip, and a job that joins them.
 *
 * A bake of a range simulates half a second of the clip before it, and a solver forgets its past. Whether it has
 * forgotten enough is measured: the last frame of a piece and the first of the next show the same instant, and the
 * largest distance between them is the seam. A piece whose seam is larger than SEAM is baked again from twice as far
 * before its range, until it starts where the clip does, where the seam is that of one bake: none.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"

/* The largest seam, over the character's size: a tenth of a pixel of a character that fills a screen. */
static const double SEAM = 1e-4;

/* ---- the list ---- */

/* The range of the clip that a job bakes, seconds. */
static int range_find(const json_t *job, int index, double *start, double *end)
{
    int status;
    cutis_character *character = cli_load_character(json_string_value(json_object_get(job, "input")), true, &status);
    if (!character) return status;

    /* the clip, and the range of it */
    const char *name = json_string_value(json_object_get(job, "clip"));
    int clip = name ? cli_find_clip(character, name) : 0;

    if (clip < 0 || clip >= character->clip_count) {
        status = cli_error("job %d: a job that is split needs a clip of its input", index);
    } else {
        json_t *from = json_object_get(job, "start");
        json_t *to = json_object_get(job, "end");
        *start = from ? json_number_value(from) : (double)character->clips[clip].start;
        *end = to ? json_number_value(to) : (double)character->clips[clip].end;
    }

    cutis_character_destroy(character);
    return status;
}

/* Append the pieces of a job, whole frames each, and the job itself, which joins them. */
static int pieces_append(json_t *list, json_t *job, int index)
{
    /* what a split needs */
    double seconds = json_number_value(json_object_get(job, "split"));
    double fps = json_number_value(json_object_get(job, "fps"));
    const char *output = json_string_value(json_object_get(job, "output"));

    if (!json_object_get(job, "input") || !output) return cli_error("job %d: needs 'input' and 'output'", index);
    if (seconds <= 0 || fps <= 0) return cli_error("job %d: 'split' needs seconds above 0, and 'fps'", index);
    if (!cutis_cache_known(output) || json_object_get(job, "loop"))
        return cli_error("job %d: a clip that is split becomes a cache (%s), without a loop", index,
                         cli_cache_endings());

    /* whole frames of the clip */
    double start = 0, end = 0;
    int status = range_find(job, index, &start, &end);
    if (status != CLI_OK) return status;

    int frames = (int)floor((end - start) * fps + 1e-3);
    int each = (int)fmax(1, floor(seconds * fps + 0.5));
    int count = (frames + each - 1) / each;

    /* neighbours share the frame between them */

    json_t *names = json_array();
    for (int k = 0; k < count; k++) {
        int last = k + 1 < count ? (k + 1) * each : frames;

        /* a job like this one, for a part of the range */
        char *path = cli_format("%s.part-%d.npy", output, k);
        json_t *piece = json_copy(job);
        json_object_del(piece, "split");
        json_object_del(piece, "check");

        json_object_set_new(piece, "output", json_string(path));
        json_object_set_new(piece, "start", json_real(start + k * each / fps));
        json_object_set_new(piece, "end", json_real(start + last / fps));
        json_array_append_new(list, piece);
        json_array_append_new(names, json_string(path));
        free(path);
    }

    /* the whole, which joins them */
    json_t *whole = json_copy(job);
    json_object_set_new(whole, "pieces", names);
    json_object_set_new(whole, "clip_start", json_real(start));
    json_array_append_new(list, whole);
    return CLI_OK;
}

int split_expand(json_t *jobs, json_t *defaults, json_t **expanded)
{
    int status = CLI_OK;
    *expanded = json_array();
    for (size_t i = 0; i < json_array_size(jobs) && status == CLI_OK; i++) {
        /* what the job says, over the defaults */
        json_t *given = json_array_get(jobs, i);
        json_t *merged = json_object();
        json_object_update(merged, defaults);
        json_object_update(merged, given);

        if (json_is_object(given) && json_object_get(merged, "split"))
            status = pieces_append(*expanded, merged, (int)i);
        else
            json_array_append(*expanded, given);
        json_decref(merged);
    }

    return status;
}

/* ---- joining ---- */

/* One piece as it is read back; frames that belong to the piece before it are left out. */
typedef struct piece {
    cutis_cache *cache;
    int skip; /* frames before the range */
} piece;

static const float *piece_frame(const piece *p, int frame)
{
    return p->cache->positions + 3 * (size_t)p->cache->vertex_count * (size_t)(p->skip + frame);
}

/* The largest distance between the last frame of one piece and the first of the next, units. */
static double seam_measure(const piece *one, const piece *next)
{
    const float *a = piece_frame(one, one->cache->frame_count - one->skip - 1);
    const float *b = piece_frame(next, 0);

    /* the largest distance of a vertex */
    double worst = 0;
    for (int v = 0; v < one->cache->vertex_count; v++) {
        double square = 0;
        for (int k = 0; k < 3; k++) {
            double d = (double)a[3 * v + k] - (double)b[3 * v + k];
            square += d * d;
        }
        worst = fmax(worst, square);
    }

    return sqrt(worst);
}

static double frames_size(const piece *p)
{
    float low[3] = {HUGE_VALF, HUGE_VALF, HUGE_VALF};
    float high[3] = {-HUGE_VALF, -HUGE_VALF, -HUGE_VALF};
    const float *x = piece_frame(p, 0);
    for (int i = 0; i < 3 * p->cache->vertex_count; i++) {
        low[i % 3] = fminf(low[i % 3], x[i]);
        high[i % 3] = fmaxf(high[i % 3], x[i]);
    }
    return sqrt(pow((double)(high[0] - low[0]), 2) + pow((double)(high[1] - low[1]), 2) +
                pow((double)(high[2] - low[2]), 2));
}

/* Bake a piece again from `start` on. */
static int piece_bake(const batch_job *job, double start)
{
    char **argv = cli_allocate((size_t)job->argc + 1, sizeof *argv);
    char *text = cli_format("%.17g", start);
    for (int i = 0; i < job->argc; i++)
        argv[i] = i > 0 && strcmp(job->argv[i - 1], "--start") == 0 ? text : job->argv[i];
    process child = {0};
    int exit_code = CLI_FAILURE;
    bool ran = process_start(&child, argv, NULL, NULL) && process_wait_any(&child, 1, &exit_code) == 0;
    free(text);
    free(argv);
    return ran && exit_code == 0 ? CLI_OK : cli_error("'%s' cannot be baked again", job->output);
}

static int piece_load(const batch_job *job, piece *p)
{
    cutis_error error;
    cutis_cache_destroy(p->cache);
    p->cache = NULL;
    return cutis_cache_load(job->output, NULL, &p->cache, &error) == CUTIS_OK ? CLI_OK : cli_library_error(&error);
}

/* Bring the seam before piece k below the bound. */
static int seam_close(const batch_job *job, double clip_start, double fps, const piece *before, piece *p, double *seam)
{
    /* how far the lead-in can reach */
    double start = json_number_value(json_object_get(job->options, "start"));
    int room = (int)floor((start - clip_start) * fps + 0.5);
    int longer = (int)fmax(1, fps);
    int status = CLI_OK;

    *seam = seam_measure(before, p) / frames_size(p);

    /* bake it again with a longer lead-in, until the seam closes or the clip begins */
    while (status == CLI_OK && *seam > SEAM && p->skip < room && !cli_interrupted()) {
        int frames = longer < room ? longer : room;
        status = piece_bake(job, start - frames / fps);
        if (status == CLI_OK) status = piece_load(job, p);
        if (status != CLI_OK) break;

        p->skip = frames;
        *seam = seam_measure(before, p) / frames_size(p);
        longer *= 2;
    }

    return status;
}

/* All frames, the shared ones once, into the output. */
static int frames_write(const batch_job *job, const piece *pieces, int count, double start, double fps)
{
    cutis_error error;
    cutis_cache_writer *writer = NULL;

    int status;
    cutis_character *character = cli_load_character(job->input, true, &status);
    if (!character) return status;

    /* how many there are */
    int frames = 1;
    for (int k = 0; k < count; k++) frames += pieces[k].cache->frame_count - pieces[k].skip - 1;

    cutis_cache_info info = {.vertex_count = pieces[0].cache->vertex_count,
                             .frame_count = frames,
                             .start = start,
                             .fps = fps,
                             .character = character};

    bool fine = cutis_cache_create(job->output, &info, NULL, &writer, &error) == CUTIS_OK;
    for (int k = 0; k < count && fine; k++)
        for (int f = k > 0; f < pieces[k].cache->frame_count - pieces[k].skip && fine; f++)
            fine = cutis_cache_append(writer, piece_frame(&pieces[k], f), &error) == CUTIS_OK;

    /* finish, or leave nothing behind */
    if (fine)
        fine = cutis_cache_finish(writer, &error) == CUTIS_OK;
    else
        cutis_cache_discard(writer);

    cutis_character_destroy(character);
    return fine ? CLI_OK : cli_library_error(&error);
}

int split_join(const batch_job *job)
{
    int count = job->piece_count;
    const batch_job *jobs = job - count;

    double clip_start = json_number_value(json_object_get(job->options, "clip_start"));
    double fps = json_number_value(json_object_get(job->options, "fps"));
    piece *pieces = cli_allocate((size_t)count, sizeof *pieces);
    double worst = 0;
    int status = CLI_OK;

    /* load them, and close the seams between */
    for (int k = 0; k < count && status == CLI_OK; k++) {
        if (!batch_job_done(&jobs[k])) {
            status = cli_error("'%s' is not there: run the list again", jobs[k].output);
            break;
        }

        status = piece_load(&jobs[k], &pieces[k]);
        double seam = 0;
        if (status == CLI_OK && k > 0)
            status = seam_close(&jobs[k], clip_start, fps, &pieces[k - 1], &pieces[k], &seam);
        worst = fmax(worst, seam);
    }

    /* the whole, and its record */
    if (status == CLI_OK && cli_interrupted()) status = CLI_INTERRUPTED;
    if (status == CLI_OK) status = frames_write(job, pieces, count, clip_start, fps);

    if (status == CLI_OK)
        status = cli_json_save(json_pack("{s:i, s:f, s:f}", "pieces", count, "seam", worst, "seam_bound", SEAM),
                               job->report);

    for (int k = 0; k < count; k++) cutis_cache_destroy(pieces[k].cache);
    free(pieces);

    /* the pieces are in the whole now */
    for (int k = 0; k < count && status == CLI_OK; k++) {
        system_remove(jobs[k].output);
        system_remove(jobs[k].record);
        system_remove(jobs[k].report);
    }
    return status;
}
