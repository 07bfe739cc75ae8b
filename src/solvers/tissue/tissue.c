/*
 * tissue.c: solver `tissue`: flesh as an elastic solid between skeleton and skin.
 *
 * Every substep minimises one energy over the nodes of all columns:
 *
 *     E = inertia and damping + wedges + springs of the bone layer + contact + friction + painted ties
 *
 * docs/reference/solvers/tissue.md has the terms, their derivatives and the method. tissue_build.c makes columns and
 * wedges, tissue_cells.c is elasticity and descent, tissue_contact.c contact and friction, tissue_drive.c skeleton and
 * time.
 */
#include <string.h>

#include "solvers/flesh_map.h"
#include "solvers/tissue/tissue.h"

/* Substeps of the walk from the rest pose, at the end of it to settle, and their length in seconds. */
enum { RESET_SUBSTEPS = 40, RESET_SETTLING = 10, RESET_ITERATIONS = 16 };
static const double RESET_SUBSTEP = 0.05;

static const cutis_parameter tissue_parameters[TISSUE_PARAMETER_COUNT] = {
    [TISSUE_ITERATIONS] = {PARAMETER_INT("iterations", 8, 1, 200), .help = "iterations per substep, at most"},
    [TISSUE_DRIVE] = {PARAMETER_CHOICE("drive", 0, "dqs|lbs"), .help = "how the skeleton moves the bone layer"},
    [TISSUE_SKIN_STIFFNESS] = {PARAMETER_FLOAT("skin_stiffness", 12, 2, 250, "Hz"), .per_bone = true,
                               .help = "stiffness of the skin: frequency of a slab of it, as deep as the flesh"},
    [TISSUE_FAT_STIFFNESS] = {PARAMETER_FLOAT("fat_stiffness", 4, 2, 250, "Hz"), .per_bone = true,
                              .help = "stiffness of the fat, likewise"},
    [TISSUE_MUSCLE_STIFFNESS] = {PARAMETER_FLOAT("muscle_stiffness", 12, 2, 250, "Hz"), .per_bone = true,
                                 .help = "stiffness of the muscle, likewise"},
    [TISSUE_BONE_STIFFNESS] = {PARAMETER_FLOAT("bone_stiffness", 40, 2, 250, "Hz"), .per_bone = true,
                               .help = "stiffness of the springs that hold the bone layer to the skeleton"},
    [TISSUE_FAT_DEPTH] = {PARAMETER_FLOAT("fat_depth", 0.1, 0, 1, ""), .per_bone = true,
                          .help = "depth at which skin ends and fat begins, from skin (0) to bone (1)"},
    [TISSUE_MUSCLE_DEPTH] = {PARAMETER_FLOAT("muscle_depth", 0.45, 0, 1, ""), .per_bone = true,
                             .help = "depth at which fat ends and muscle begins, from skin (0) to bone (1)"},
    [TISSUE_BONE_DEPTH] = {PARAMETER_FLOAT("bone_depth", 0.8, 0.05, 1, ""), .per_bone = true,
                           .help = "depth of the bone layer, from skin (0) to the bone itself (1)"},
    [TISSUE_FLESH_DEPTH] = {PARAMETER_FLOAT("flesh_depth", 0.05, 0.001, 1, "size"), .per_bone = true,
                            .help = "maximum depth of the flesh, down to the bone layer"},
    [TISSUE_DAMPING] = {PARAMETER_FLOAT("damping", 4, 0, 100, "1/s"), .role = CUTIS_PARAMETER_DAMPING,
                        .help = "decay rate of velocity relative to the skeleton"},
    [TISSUE_GRAVITY] = {PARAMETER_FLOAT("gravity", 9.81, -100, 100, "m/s2"),
                        .help = "weight along -y; the modelled shape is the shape under gravity"},
    [TISSUE_SELF_COLLISION] = {PARAMETER_BOOL("self_collision", 1), .role = CUTIS_PARAMETER_SELF_COLLISION,
                               .help = "self-collision of the skin"},
    [TISSUE_CONTACT_GAP] = {PARAMETER_FLOAT("contact_gap", 0.001, 0.00001, 0.02, "size"),
                            .help = "distance at which contact begins"},
    [TISSUE_FRICTION] = {PARAMETER_FLOAT("friction", 0.3, 0, 2, ""), .per_bone = true,
                         .help = "Coulomb friction coefficient of the skin"},
    [TISSUE_UNIT] = {FLESH_PARAMETER_UNIT},
    [TISSUE_MUSCLE_BULGE] = {PARAMETER_FLOAT("muscle_bulge", 1, 0, 3, ""), .per_bone = true,
                             .help =
                                 "how much a limb's muscle thickens on the inner side as the joint beyond it bends"},
    [TISSUE_ANATOMY] = {FLESH_PARAMETER_ANATOMY},
    [TISSUE_FATNESS] = {FLESH_PARAMETER_FATNESS},
    [TISSUE_FIRMNESS] = {FLESH_PARAMETER_FIRMNESS},
};

enum { PART_ELASTICITY, PART_CONTACT, PART_OTHER };
static const char *const tissue_parts[] = {"elasticity", "contact", "other"};
static const cutis_output_info tissue_outputs[TISSUE_OUTPUT_COUNT] = {
    [TISSUE_OUTPUT_FAT] = {.name = "fat",
                           .role = CUTIS_OUTPUT_TISSUE,
                           .components = 3,
                           .unit = "m",
                           .help = "surface between skin and fat"},
    [TISSUE_OUTPUT_MUSCLE] = {.name = "muscle",
                              .role = CUTIS_OUTPUT_TISSUE,
                              .components = 3,
                              .unit = "m",
                              .help = "surface between fat and muscle"},
    [TISSUE_OUTPUT_BONE] = {.name = "bone",
                            .role = CUTIS_OUTPUT_TISSUE,
                            .components = 3,
                            .unit = "m",
                            .help = "surface of the bone layer"},
    [TISSUE_OUTPUT_CONTACT] = {.name = "contact",
                               .components = 1,
                               .unit = "size/s2",
                               .palette = CUTIS_PALETTE_TOUCH,
                               .help = "force of contact, over the mass of the skin there"},
    [TISSUE_OUTPUT_TISSUE] = {.name = "tissue",
                              .components = 1,
                              .unit = "",
                              .range = {0, 1},
                              .help = "softness of the flesh: 0 firm, 0.5 muscle, 1 fat"},
};

/* ---- the step ---- */

/* Motion of a node in an iteration below which the minimum is reached, sizes. */
static const float MIN_MOTION = 1e-8f;

static void substep(tissue_run *run, int iterations, cutis_step_stats *stats)
{
    double clock = clock_seconds();
    run->iterations = iterations;

    /* the first iterate, and what it may touch */
    tissue_predict(run);
    kit_lap(&clock, stats, PART_OTHER);
    tissue_contact_begin(run);
    kit_lap(&clock, stats, PART_CONTACT);

    /* descend */
    float moved = 0;
    for (int i = 0; i < iterations; i++) {
        tissue_contact_evaluate(run);
        kit_lap(&clock, stats, PART_CONTACT);
        moved = tissue_sweep(run, i);
        kit_lap(&clock, stats, PART_ELASTICITY);
        stats->iterations++;
        if (moved < MIN_MOTION) break;
    }
    stats->residual = moved;

    /* the result as the state */
    stats->unconverged += !tissue_contact_end(run);
    stats->contacts = tissue_contact_count(run);
    kit_lap(&clock, stats, PART_CONTACT);
    tissue_advance(run);
    kit_lap(&clock, stats, PART_OTHER);
}

static void tissue_step(const void *data, void *state, void *scratch, const solver_input *input, float *points,
                        cutis_step_stats *stats)
{
    tissue_run run = tissue_run_make(data, state, scratch, input);
    tissue_drive_find(&run, run.w.drive);
    substep(&run, run.m->iterations, stats);
    tissue_results_write(&run, points);
}

/* At rest in the rest pose; then to the pose of the input by a slow walk, so that flesh does not pass through itself.
 */
static void tissue_reset(const void *data, void *state, void *scratch, const solver_input *input, float *points)
{
    const tissue_model *m = data;
    solver_input walked = *input;
    tissue_run run = tissue_run_make(data, state, scratch, &walked);
    kit_walk walk = kit_walk_start(m->character, run.w.walk, RESET_SUBSTEPS, &walked);
    tissue_state_rest(&run);

    run.still = true;
    run.h = MAX(run.h, RESET_SUBSTEP);
    for (int settled = walk.step_count > 0 ? 0 : RESET_SETTLING; settled < RESET_SETTLING;) {
        settled += !kit_walk_next(&walk);
        cutis_step_stats stats = {0};
        tissue_drive_find(&run, run.w.drive);
        substep(&run, RESET_ITERATIONS, &stats);
    }
    tissue_results_write(&run, points);
}

/* ---- the table ---- */

static cutis_result tissue_build(const solver_build *build, void **data, cutis_error *error)
{
    tissue_model *model = ARENA_ARRAY(build->memory, tissue_model, 1);
    if (!model) return error_memory(error, "solver tissue");
    *data = model;
    return tissue_model_build(build, model, error);
}

static long tissue_element_count(const void *data)
{
    return (long)((const tissue_model *)data)->mesh->triangle_count * TISSUE_WEDGES;
}

extern const solver solver_tissue;
const solver solver_tissue = {
    .info = {.name = "tissue",
             .summary = "flesh as an elastic solid: wedges of skin, fat and muscle, with contact, in one energy",
             .paper = "",
             .element = "wedges",
             .parts = tissue_parts,
             .part_count = COUNT_OF(tissue_parts),
             .substep = 0.005,
             .parameters = tissue_parameters,
             .parameter_count = TISSUE_PARAMETER_COUNT,
             .outputs = tissue_outputs,
             .output_count = TISSUE_OUTPUT_COUNT,
             .flags =
                 CUTIS_SOLVER_SELF_CONTACT | CUTIS_SOLVER_PREFERRED | CUTIS_SOLVER_BODY | CUTIS_SOLVER_PROP_CONTACT},
    .float_state = true,
    .build = tissue_build,
    .element_count = tissue_element_count,
    .state_size = tissue_state_size,
    .scratch_size = tissue_scratch_size,
    .reset = tissue_reset,
    .step = tissue_step,
    .teleport = tissue_teleport,
    .output = tissue_output,
};
