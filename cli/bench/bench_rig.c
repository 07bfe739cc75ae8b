/*
 * bench_rig.c: automatic rigging and in-betweens, beside Table 1 of Bian et al. 2018 (an Intel machine of 2017).
 *
 * VI: curve finding, SC: skeleton creation, SD: skin deformation of one frame. The paper's meshes are of 7,207 and
 * 13,201 vertices; the zoo's cat and dancer have nearly as many. Times do not hold the adjacency of points, triangles
 * and quads, which the paper's input, a mesh loaded into a modelling program, has too.
 */
#include <math.h>
#include <stdlib.h>

#include "base/system.h"
#include "bench.h"

/*
 * A host's memory: one block that stays warm, handed out from the front and taken back all at once. With malloc, what
 * is timed would be the system's clearing of fresh pages.
 */
typedef struct warm_memory {
    char *block;
    size_t size, used;
} warm_memory;

static void *warm_allocate(void *context, size_t size, size_t alignment)
{
    warm_memory *memory = context;
    size_t at = (memory->used + alignment - 1) / alignment * alignment;
    if (at + size > memory->size) return NULL;
    memory->used = at + size;
    return memory->block + at;
}

static void warm_release(void *context, void *block, size_t size) { (void)context, (void)block, (void)size; }

/* The fastest of several runs. */
static int time_rig(const bench_context *context, const cutis_character *character, const cutis_jobs *jobs,
                    bool no_curves, double *curve_ms, double *skeleton_ms)
{
    double end = cli_clock() + bench_seconds(context);

    /* one warm block for every run, so that page faults are not measured */
    warm_memory memory = {.size = (size_t)512 << 20};
    memory.block = system_allocate(memory.size, 64);
    if (!memory.block) return cli_error("out of memory for a benchmark");
    cutis_allocator allocator = {&memory, warm_allocate, warm_release};

    int status = CLI_OK;
    *curve_ms = *skeleton_ms = HUGE_VAL;

    /* the least of the runs */
    for (int i = 0; (i < 3 || cli_clock() < end) && status == CLI_OK && !cli_interrupted(); i++) {
        cutis_rig_def def = cutis_rig_def_default();
        cutis_rig *rig;
        cutis_error error;
        def.character = character;
        def.allocator = &allocator;
        def.jobs = jobs;

        def.no_curves = no_curves;
        memory.used = 0;

        /* a rig from nothing */
        if (cutis_rig_create(&def, &rig, &error) != CUTIS_OK) {
            status = cli_library_error(&error);
            break;
        }

        *curve_ms = fmin(*curve_ms, rig->curve_ms);
        *skeleton_ms = fmin(*skeleton_ms, rig->skeleton_ms);
        cutis_rig_destroy(rig);
    }

    system_release(memory.block);
    return status;
}

static int time_deformation(const bench_context *context, const cutis_character *character, const cutis_jobs *jobs,
                            double *ms)
{
    cutis_model_def def = cutis_model_def_default();
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    cutis_error error;
    int status = CLI_OK;

    /* solver curves, through the first clip */
    def.character = character;
    def.solver = "curves";
    if (cutis_model_build(&def, &model, &error) != CUTIS_OK ||
        cutis_state_create(model, NULL, &state, &error) != CUTIS_OK) {
        status = cli_library_error(&error);
    } else {
        cutis_clip_motion clip = {character, 0, 0};
        cutis_step_input input = {.motion = {&clip, cutis_clip_motion_sample}, .jobs = jobs};
        bench_row row = {0};
        status = bench_steps(context, model, state, &input, 1.0 / 60, 20, &row);
        *ms = row.ms;
    }

    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return status;
}

/*
 * What a row is about: all three stages of the paper, curves and skeleton, or what leads to a skeleton alone; or the
 * skeleton of a mesh of triangles, which is fitted to the solid that the mesh encloses.
 */
typedef enum stages { STAGES_ALL, STAGES_RIG, STAGES_SKELETON, STAGES_SOLID } stages;

/* Its faces cut into triangles. */
static int triangulate(cutis_character **character)
{
    const cutis_character *c = *character;
    cutis_character given = *c, *made = NULL;
    int *first = cli_allocate((size_t)c->triangle_count + 1, sizeof *first);
    for (int t = 0; t <= c->triangle_count; t++) first[t] = 3 * t;
    given.face_count = c->triangle_count;
    given.face_first = first;
    given.corners = c->triangles;
    given.part_count = 0; /* ranges of the old faces */

    cutis_error error;
    int status = cutis_character_create(&given, NULL, &made, &error) == CUTIS_OK ? CLI_OK : cli_library_error(&error);
    free(first);
    if (status != CLI_OK) return status;
    cutis_character_destroy(*character);
    *character = made;
    return CLI_OK;
}

static int time_character(bench_context *context, const char *name, const char *title, double resolution, int threads,
                          stages what, const double paper[4])
{
    static const char *const PARTS[2][3] = {{"curves", "skeleton", "deformation"}, {"limbs", "skeleton", ""}};
    cutis_character *character;
    cutis_error error;
    if (cutis_zoo_make(name, resolution, NULL, &character, &error) != CUTIS_OK) return cli_library_error(&error);

    /* each stage on its own */
    double parts[3] = {0, 0, 0};
    cutis_pool *pool = bench_pool(context, threads);
    int status = pool ? CLI_OK : CLI_FAILURE;
    if (status == CLI_OK && what == STAGES_SOLID) status = triangulate(&character);

    if (status == CLI_OK)
        status = time_rig(context, character, cutis_pool_jobs(pool), what >= STAGES_SKELETON, &parts[0], &parts[1]);
    if (status == CLI_OK && what == STAGES_ALL)
        status = time_deformation(context, character, cutis_pool_jobs(pool), &parts[2]);
    if (status == CLI_OK && cli_interrupted()) status = CLI_INTERRUPTED;

    /* one row with its parts */
    if (status == CLI_OK) {
        bench_row row = {.name = title,
                         .element = "vertices",
                         .count = character->vertex_count,
                         .threads = threads,
                         .ms = parts[0] + parts[1] + parts[2],
                         .paper_ms = paper[3],
                         .part_count = what == STAGES_ALL ? 3 : 2};
        for (int k = 0; k < 3; k++) {
            row.part_names[k] = PARTS[what >= STAGES_SKELETON][k];
            row.part_ms[k] = parts[k];
            row.part_paper_ms[k] = paper[k];
        }
        bench_add(context, &row);
    }

    cutis_character_destroy(character);
    return status;
}

static int run(bench_context *context)
{
    static const double cat[4] = {1.32, 0.269, 1.517, 3.106}, dancer[4] = {2.03, 0.431, 2.830, 5.291};
    static const double human[4] = {0, 0, 0, 5}, none[4] = {0};
    int status = CLI_OK;

    /* the paper's characters, with one thread and with two */
    for (int threads = 1; threads <= 2 && status == CLI_OK; threads++) {
        status = time_character(context, "cat", "cat", 1, threads, STAGES_ALL, cat);
        if (status == CLI_OK) status = time_character(context, "dancer", "dancer", 1, threads, STAGES_ALL, dancer);
        if (status == CLI_OK) status = time_character(context, "man", "man", 3.8, threads, STAGES_RIG, human);
        if (status == CLI_OK)
            status = time_character(context, "man", "man, skeleton", 3.8, threads, STAGES_SKELETON, human);
        if (status == CLI_OK) status = time_character(context, "man", "man, triangles", 1, threads, STAGES_SOLID, none);
    }

    return status;
}

const bench bench_rig = {"rig", "curve finding, skeleton and in-betweens, beside Table 1 of Bian et al. 2018", run};
