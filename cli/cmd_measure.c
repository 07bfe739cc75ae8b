/*
 * cmd_measure.c: the quality of a baked result, against the character's rest pose.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quality.h"

static void cell_frame(cli_table *table, int frame)
{
    if (frame >= 0)
        cli_table_cell(table, "frame %d", frame);
    else
        cli_table_cell(table, "%s", "");
}

static void print_text(const cutis_quality *q, double fps)
{
    const struct {
        const char *name, *what;
        bool whole;
        double value;
        int frame; /* the worst frame; -1: not applicable */
    } rows[] = {
        {"frames", "frames in the cache", true, q->frames, -1},
        {"fps", "frames per second, from the cache or --fps", false, fps, -1},
        {"vertices", "vertices of the character", true, q->vertices, -1},
        {"size", "diagonal of the rest pose's bounds, units", false, q->size, -1},
        {"volume_rest", "volume of the closed parts at rest, units cubed", false, q->volume_rest, -1},
        {"volume_error_max", "largest |V / V_rest - 1|", false, q->volume_error_max, q->worst_volume_frame},
        {"volume_error_mean", "its mean over frames", false, q->volume_error_mean, -1},
        {"volume_min_ratio", "smallest V / V_rest", false, q->volume_min_ratio, -1},
        {"volume_union", "largest error of the volume with overlaps counted once", false, q->volume_union,
         q->worst_union_frame},
        {"self_intersections_rest", "intersecting pairs of triangles at rest", true, q->self_intersections_rest, -1},
        {"self_intersections_max", "maximum over frames", true, q->self_intersections_max, q->worst_intersection_frame},
        {"self_intersections_mean", "mean over frames", false, q->self_intersections_mean, -1},
        {"penetration_max", "deepest surface point inside the body, divided by the size", false, q->penetration_max,
         q->worst_penetration_frame},
        {"stretch_p99", "99th percentile of edge stretch, max(l / l0, l0 / l)", false, q->stretch_p99, -1},
        {"area_distortion_p99", "the same for triangle areas", false, q->area_distortion_p99, -1},
        {"min_section_ratio", "smallest cross-section around a bone, divided by rest", false, q->min_section_ratio,
         q->worst_section_frame},
        {"acceleration_rms", "jitter: RMS acceleration divided by the size, 1/s^2", false, q->acceleration_rms, -1},
        {"non_finite", "values that are not finite", true, q->non_finite, -1},
    };

    /* a dash where a figure is not defined */
    cli_table *table = cli_table_create("lrll");
    for (int i = 0; i < CLI_COUNT(rows); i++) {
        /* name, value, meaning and the worst frame */
        cli_table_cell(table, "%s", rows[i].name);
        if (isnan(rows[i].value))
            cli_table_cell(table, "%s", "-");
        else
            cli_table_cell(table, rows[i].whole ? "%.0f" : "%.6g", rows[i].value);

        cli_table_cell(table, "%s", rows[i].what);
        cell_frame(table, rows[i].frame);
    }

    cli_table_print(table, "");
}

/* ---- against linear skinning ---- */

/* Find the clip of the frames: the given one, or the first if it has the same number of frames. -1: none. */
static int find_clip(const cli_arguments *arguments, const cutis_character *character, const cutis_cache *cache,
                     double fps)
{
    const char *name = cli_text(arguments, "clip");
    if (name) return cutis_character_find_clip(character, name);
    if (character->clip_count == 0) return -1;
    if (cli_given(arguments, "motion")) return character->clip_count - 1;
    return cli_frame_count(&character->clips[0], fps) == cache->frame_count ? 0 : -1;
}

/* Compare the frames with linear skinning of the clip; false when there is no clip to compare with. */
static bool judge(const cli_arguments *arguments, const cutis_character *character, const cutis_cache *cache,
                  double fps, cutis_pool *pool, cutis_verdict *verdict)
{
    int clip = find_clip(arguments, character, cache, fps);
    cutis_model_def def = cutis_model_def_default();
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    cutis_judge *judge = NULL;

    /* linear skinning, and a judge */
    def.character = character;
    bool fine =
        clip >= 0 && cutis_model_build(&def, &model, NULL) == CUTIS_OK &&
        cutis_state_create(model, NULL, &state, NULL) == CUTIS_OK &&
        cutis_judge_create(character, cache->frame_count, cutis_pool_jobs(pool), NULL, &judge, NULL) == CUTIS_OK;

    /* the file's own morphs, excluding those of a bake */
    float *morphs = cli_allocate((size_t)character->morph_count + 1, sizeof *morphs);
    cutis_clip_motion motion = {character, clip, 0};
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}, .morphs = morphs};
    double skip =
        cli_given(arguments, "start") ? cli_number(arguments, "start") - (double)character->clips[clip].start : 0;

    /* each frame beside skinning at the same time */
    for (int f = 0; fine && f < cache->frame_count; f++) {
        double time = fmax(0, skip + f / fps);
        cutis_clip_motion_morphs(&motion, time, morphs);
        for (int m = 0; m < character->morph_count; m++)
            if (strncmp(character->morphs[m].name, "cutis_", 6) == 0) morphs[m] = 0;

        cutis_state_reset(model, state, NULL);
        cutis_state_step(model, state, &input, time);
        cutis_judge_frame(judge, cache->positions + (size_t)f * 3 * (size_t)cache->vertex_count,
                          cutis_state_positions(model, state), NULL);
    }

    if (fine) cutis_judge_finish(judge, 0, 0, 0, verdict);
    free(morphs);
    cutis_judge_destroy(judge);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return fine;
}

static void print_verdict(const cutis_verdict *v)
{
    cli_table *table = cli_table_create("lrll");
    printf("\nagainst linear skinning of the clip: %s\n", v->text);

    /* measures that a cache provides, with their bounds */
    for (int i = 0; i < CUTIS_HARM_REPAIRS; i++) {
        if (i == CUTIS_HARM_BONE || i == CUTIS_HARM_NON_FINITE) continue; /* not in a cache */
        cli_table_cell(table, "%s", cutis_harm_name((cutis_harm)i));
        cli_table_cell(table, "%.4g", v->figures[i]);
        cli_table_cell(table, "inspect above %g, bad above %g", cutis_harm_bound((cutis_harm)i, CUTIS_LOOK),
                       cutis_harm_bound((cutis_harm)i, CUTIS_BAD));
        cell_frame(table, v->worst_frames[i]);
    }

    cli_table_print(table, "");
}

static json_t *verdict_json(const cutis_verdict *v)
{
    static const char *const levels[] = {"good", "look", "bad"};
    json_t *figures = json_object();
    for (int i = 0; i < CUTIS_HARM_REPAIRS; i++)
        if (i != CUTIS_HARM_BONE)
            json_object_set_new(figures, cutis_harm_name((cutis_harm)i), cli_json_real(v->figures[i]));
    return json_pack("{s:s, s:o, s:o}", "level", levels[v->level], "text", cli_json_string(v->text), "figures",
                     figures);
}

static int measure(const cli_arguments *arguments, const cutis_character *character, const cutis_cache *cache,
                   cutis_pool *pool)
{
    double fps = cli_given(arguments, "fps") ? cli_number(arguments, "fps") : cache->fps;
    cutis_quality quality;

    /* quality of all frames */
    cutis_error error;
    cli_interrupt_at_once(true);
    cutis_result result = cutis_measure(character, cache->positions, cache->frame_count, fps, cutis_pool_jobs(pool),
                                        NULL, &quality, &error);

    cutis_verdict verdict;
    bool judged = result == CUTIS_OK && judge(arguments, character, cache, fps, pool, &verdict);
    cli_interrupt_at_once(false);
    if (result != CUTIS_OK) return cli_library_error(&error);

    if (cli_flag(arguments, "json")) {
        json_t *root = quality_json(&quality, fps);
        if (judged) json_object_set_new(root, "verdict", verdict_json(&verdict));
        return cli_json_print(root);
    }

    print_text(&quality, fps);
    if (judged) print_verdict(&verdict);
    return CLI_OK;
}

static int run(const cli_arguments *arguments)
{
    int status;
    cutis_cache *cache = NULL;
    cutis_pool *pool = NULL;

    cutis_character *character = cli_load_character(arguments->positionals[0], cli_flag(arguments, "json"), &status);
    if (!character) return status;
    status = cli_add_given_motion(arguments, cli_flag(arguments, "json"), &character);

    /* A baked .glb contains its rest pose. */
    const char *path = arguments->positionals[arguments->positional_count - 1];
    if (status != CLI_OK)
        ; /* said */
    else if (arguments->positional_count < 2 && !cli_is_gltf(path))
        status = cli_usage_error(arguments, "the cache to measure is missing: cutis measure %s CACHE", path);
    else if (!(cache = cli_load_cache(path, character, cli_text(arguments, "clip"))))
        status = CLI_FAILURE;
    else if (!(pool = cli_create_pool(cli_integer(arguments, "threads"))))
        status = CLI_FAILURE;
    else
        status = measure(arguments, character, cache, pool);

    cutis_pool_destroy(pool);
    cutis_cache_destroy(cache);
    cutis_character_destroy(character);
    return status;
}

static const cli_option options[] = {
    CLI_OPTION_CLIP("clip of the frames, for the comparison with linear skinning; for a .glb: the clip to play"),
    CLI_OPTION_MOTION("file with the motion of the frames, as passed to 'cutis bake'"),
    {.name = "start", .kind = CLI_NUMBER, .value = "SECONDS", .help = "time of frame 0 in the clip"},
    CLI_OPTION_FPS("frames per second, for caches without a rate (.npy, .obj; default 30)", NULL),
};

const cli_command cmd_measure = {
    .name = "measure",
    .usage = "FILE|NAME [CACHE] [--clip C] [--fps F] [--json]",
    .summary = "measure the quality of a baked result",
    .description = "A CACHE is an output of 'cutis bake'; a .glb is played and needs no second file. With --clip or "
                   "--motion, or when the first clip has the same number of frames, every frame is also compared with "
                   "linear skinning, as in a bake.",
    .examples = "cutis measure arm arm.pc2\ncutis measure hero.glb hero.npy --fps 60 --json\n"
                "cutis measure hero_flesh.glb",
    .options = options,
    .option_count = CLI_COUNT(options),
    .positional_min = 1,
    .positional_max = 2,
    .run = run,
    .json = true,
};
