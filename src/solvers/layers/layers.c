/*
 * layers.c: solver `layers`: skin, fat, muscle and bone layers of oriented particles.
 *
 * C. Deul, J. Bender 2013, "Physically-Based Character Skinning" (VRIPHYS). This file holds the parameters and
 * the step (their algorithm 1). layers_build.c makes the layers, layers_paths.c the paths, layers_pieces.c the
 * sub-volumes, layers_fibres.c muscles that bulge; layers_match.c is the elasticity, layers_drive.c what the skeleton
 * asks for, layers_contact.c, layers_recovery.c, layers_volume.c, layers_pressure.c and layers_velocity.c the steps of
 * their names, layers_apart.c the inner layers as they are shown; layers_limits.h holds the constants. Their heads name
 * the departures; that of the step itself:
 * - Iterations are accelerated by Chebyshev's semi-iterative method (Wang 2015 for projective dynamics).
 */
#include <string.h>

#include "solvers/flesh_map.h"
#include "solvers/layers/layers_step.h"

static const cutis_parameter layers_parameters[LAYERS_PARAMETER_COUNT] = {
    [LAYERS_ITERATIONS] = {PARAMETER_INT("iterations", 8, 1, 200),
                           .help = "iterations of elasticity and contact per substep"},
    [LAYERS_VOLUME_ITERATIONS] = {PARAMETER_INT("volume_iterations", 16, 0, 50),
                                  .help = "maximum number of volume iterations per substep"},
    [LAYERS_MATCH_EVERY] = {PARAMETER_INT("match_every", 1, 1, 20),
                            .help = "iterations of contact per iteration of elasticity; above 1 is faster and softer"},
    [LAYERS_RADIUS] = {PARAMETER_FLOAT("radius", 1, 0.1, 4, ""),
                       .help = "radius of shape-matching regions along the skin, divided by the flesh depth"},
    [LAYERS_SUMMATION] = {PARAMETER_CHOICE("summation", 0, "fast|naive"),
                          .help = "computation of region sums: along paths, or directly (slow, for verification)"},
    [LAYERS_DRIVE] = {PARAMETER_CHOICE("drive", 0, "dqs|lbs"), .help = "coupling of the flesh to the skeleton"},
    [LAYERS_SKIN_STIFFNESS] = {PARAMETER_FLOAT("skin_stiffness", 22.4, 2, 250, "Hz"), .per_bone = true,
                               .help = "stiffness of the skin layer"},
    [LAYERS_FAT_STIFFNESS] = {PARAMETER_FLOAT("fat_stiffness", 4, 2, 250, "Hz"), .per_bone = true,
                              .help = "stiffness of the fat layer"},
    [LAYERS_MUSCLE_STIFFNESS] = {PARAMETER_FLOAT("muscle_stiffness", 58.7, 2, 250, "Hz"), .per_bone = true,
                                 .help = "stiffness of the muscle layer"},
    [LAYERS_BONE_STIFFNESS] = {PARAMETER_FLOAT("bone_stiffness", 95.2, 2, 250, "Hz"), .per_bone = true,
                               .help = "stiffness of the bone layer"},
    [LAYERS_FAT_DEPTH] = {PARAMETER_FLOAT("fat_depth", 0.15, 0, 1, ""), .per_bone = true,
                          .help = "depth of the fat layer, from skin (0) to bone (1)"},
    [LAYERS_MUSCLE_DEPTH] = {PARAMETER_FLOAT("muscle_depth", 0.45, 0, 1, ""), .per_bone = true,
                             .help = "depth of the muscle layer, from skin (0) to bone (1)"},
    [LAYERS_BONE_DEPTH] = {PARAMETER_FLOAT("bone_depth", 0.8, 0.05, 1, ""), .per_bone = true,
                           .help = "depth of the bone layer, from skin (0) to the bone itself (1)"},
    [LAYERS_FLESH_DEPTH] = {PARAMETER_FLOAT("flesh_depth", 0.05, 0.001, 1, "size"), .former = "flesh", .per_bone = true,
                            .help = "maximum depth of the flesh, down to the bone layer"},
    [LAYERS_GIVE] = {PARAMETER_FLOAT("give", 0.8, 0.01, 10, ""), .per_bone = true,
                     .help = "maximum displacement of flesh from its skinned position, divided by the flesh depth"},
    [LAYERS_MUSCLE_BULGE] =
        {PARAMETER_FLOAT("muscle_bulge", 0, 0, 2, ""), .per_bone = true,
         .help =
             "thickening of a limb's muscle when the joint beyond it bends by 90 degrees, divided by the flesh depth"},
    [LAYERS_DAMPING] = {PARAMETER_FLOAT("damping", 4, 0, 100, "1/s"), .role = CUTIS_PARAMETER_DAMPING,
                        .help = "decay rate of motion relative to the skeleton"},
    [LAYERS_GRAVITY] =
        {PARAMETER_FLOAT("gravity", 0, -100, 100, "m/s2"),
         .help = "gravity along -y; the rest shape is in equilibrium with it, and flesh sags where bones rotate it"},
    [LAYERS_SELF_COLLISION] = {PARAMETER_BOOL("self_collision", 1), .former = "contact",
                               .role = CUTIS_PARAMETER_SELF_COLLISION, .help = "self-collision of the skin"},
    [LAYERS_CONTACT_GAP] = {PARAMETER_FLOAT("contact_gap", 0.001, 0.00001, 0.02, "size"), .former = "thickness",
                            .help = "minimum distance kept by contact"},
    [LAYERS_FRICTION] = {PARAMETER_FLOAT("friction", 0.3, 0, 2, ""), .per_bone = true,
                         .help = "Coulomb friction coefficient of the skin"},
    [LAYERS_RESTITUTION] = {PARAMETER_FLOAT("restitution", 0, 0, 1, ""), .per_bone = true,
                            .help = "coefficient of restitution of contacts"},
    [LAYERS_VOLUME] = {PARAMETER_BOOL("volume", 1), .help = "volume conservation"},
    [LAYERS_CUT] = {PARAMETER_FLOAT("cut", 0.5, 0, 1, ""), .per_bone = true,
                    .help = "position along the bone where the sub-volumes of its two joints meet"},
    [LAYERS_UNIT] = {FLESH_PARAMETER_UNIT},
    [LAYERS_ANATOMY] = {FLESH_PARAMETER_ANATOMY_OFF},
    [LAYERS_FATNESS] = {FLESH_PARAMETER_FATNESS},
    [LAYERS_FIRMNESS] = {FLESH_PARAMETER_FIRMNESS},
    [LAYERS_SHARE_VOLUME] = {PARAMETER_BOOL("share_volume", 0), .per_bone = true,
                             .help = "merge the joint's sub-volume with its parent's"},
};

enum { PART_ELASTICITY, PART_CONTACT, PART_VOLUME, PART_OTHER };
static const char *const layers_parts[] = {"elasticity", "contact", "volume", "other"};
static const cutis_output_info layers_outputs[LAYERS_OUTPUT_COUNT] = {
    [LAYERS_OUTPUT_FAT] =
        {.name = "fat", .role = CUTIS_OUTPUT_TISSUE, .components = 3, .unit = "m", .help = "surface of the fat layer"},
    [LAYERS_OUTPUT_MUSCLE] = {.name = "muscle",
                              .role = CUTIS_OUTPUT_TISSUE,
                              .components = 3,
                              .unit = "m",
                              .help = "surface of the muscle layer"},
    [LAYERS_OUTPUT_BONE] = {.name = "bone",
                            .role = CUTIS_OUTPUT_TISSUE,
                            .components = 3,
                            .unit = "m",
                            .help = "surface of the bone layer"},
    [LAYERS_OUTPUT_CONTACT] = {.name = "contact",
                               .components = 1,
                               .unit = "size/s2",
                               .palette = CUTIS_PALETTE_TOUCH,
                               .help = "contact force, divided by the mean particle mass"},
    [LAYERS_OUTPUT_RELEASED] = {.name = "released",
                                .components = 1,
                                .unit = "",
                                .palette = CUTIS_PALETTE_TOUCH,
                                .help =
                                    "1 where self-collision is disabled because the pose drives bones through flesh"},
    [LAYERS_OUTPUT_PIECE] = {.name = "piece",
                             .components = 1,
                             .unit = "",
                             .palette = CUTIS_PALETTE_CATEGORY,
                             .help = "index of the vertex's main sub-volume"},
    [LAYERS_OUTPUT_VOLUME] = {.name = "volume",
                              .components = 1,
                              .unit = "",
                              .palette = CUTIS_PALETTE_TOUCH,
                              .help = "relative change of that sub-volume"},
};

/* ---- elasticity, over paths ---- */

static void base_sums(void *context, int begin, int end)
{
    layers_run *run = context;
    layers_match_base_sums(&run->m->paths, &run->m->regions, &run->w.iterate, begin, end);
}

static void base_moments(void *context, int begin, int end)
{
    layers_run *run = context;
    layers_match_base(&run->m->paths, &run->m->regions, &run->w.iterate, begin, end);
}

static void iteration_sums(void *context, int begin, int end)
{
    layers_run *run = context;
    layers_match_sums(&run->m->paths, &run->m->regions, &run->w.iterate, run->m->naive, begin, end);
}

static void iteration_maps(void *context, int begin, int end)
{
    layers_run *run = context;
    layers_match_maps(&run->m->paths, &run->m->regions, &run->w.iterate, run->m->naive, begin, end);
}

static void iteration_blend(void *context, int begin, int end)
{
    layers_run *run = context;
    const layers_model *m = run->m;
    layers_match_blend(&m->paths, &m->regions, &run->w.iterate, m->naive, run->h, run->omega, begin, end);
    layers_maps_project(run, m->paths.path_first[begin], m->paths.path_first[end]);
}

static void elasticity_begin(layers_run *run)
{
    const cutis_jobs *jobs = run->input->jobs;
    int paths = run->m->paths.path_count;
    parallel_for(jobs, paths, PATH_GRAIN, base_sums, run);
    parallel_for(jobs, paths, PATH_GRAIN, base_moments, run);
}

static void elasticity_iterate(layers_run *run, int iteration)
{
    const cutis_jobs *jobs = run->input->jobs;
    int paths = run->m->paths.path_count;
    float radius2 = CHEBYSHEV_RADIUS * CHEBYSHEV_RADIUS;
    run->omega = iteration == 0 ? 1 : 4 / (4 - radius2 * (iteration == 1 ? 2 : run->omega));
    parallel_for(jobs, paths, PATH_GRAIN, iteration_sums, run);
    parallel_for(jobs, paths, PATH_GRAIN, iteration_maps, run);
    parallel_for(jobs, paths, PATH_GRAIN, iteration_blend, run);
}

/* ---- the step ---- */

/* Algorithm 1, after the drive was found. */
static void substep(layers_run *run, cutis_step_stats *stats)
{
    const layers_model *m = run->m;
    size_t skin_bytes = (size_t)m->point_count * 3 * sizeof(float);
    double clock = clock_seconds();

    /* prediction: inertia, the skeleton's wishes, the pressures of before */
    layers_predict(run);
    for (int c = 0; c < 3; c++) memset(run->w.iterate.push[c], 0, (size_t)m->point_count * sizeof(float));
    if (m->volume_on) layers_pressures_apply(run);
    elasticity_begin(run);
    kit_lap(&clock, stats, PART_OTHER);

    /* collision detection */
    run->pair_count = 0;
    run->plane_count = 0;
    run->active_count = 0;
    if (m->self_contact || m->props.count > 0 || run->input->drag_count > 0) layers_contacts_search(run);
    kit_lap(&clock, stats, PART_CONTACT);

    /* elasticity and contact in turn */
    for (int i = 0; i < m->iterations; i++) {
        if (i % m->match_every == 0) elasticity_iterate(run, i / m->match_every);
        kit_lap(&clock, stats, PART_ELASTICITY);
        if (run->active_count > 0) layers_contacts_project(run);
        kit_lap(&clock, stats, PART_CONTACT);
    }

    stats->iterations += m->iterations;
    stats->contacts = layers_contacts_count(run);

    /* the skin as it is now; painted maps win over contact */
    layers_maps_project(run, 0, m->point_count);
    layers_skin_gather(run, run->w.volume.positions);
    memcpy(run->w.before, run->w.volume.positions, skin_bytes);
    layers_contacts_keep(run);
    kit_lap(&clock, stats, PART_OTHER);

    /* displaced skin comes home slowly; volume conservation */
    bool sound = *run->s.recovering == 0;
    if (sound && !run->walking) layers_home_slow(run);
    if (m->volume_on && m->volumes.count > 0 && sound) layers_volumes_keep(run);
    if (!sound) layers_pressures_clear(run);
    kit_lap(&clock, stats, PART_VOLUME);

    /* no impacts on the way from the last substep */
    if (m->self_contact) {
        int zone_points = 0;
        bool failed = sound && layers_contacts_resolve(run, &zone_points);
        run->impacts_left = failed;
        if (sound && !run->walking) layers_yield_update(run);
        layers_recovery_update(run);
        stats->unconverged += failed || *run->s.recovering != 0;
        stats->residual = zone_points;
    }

    /* errors of the sub-volumes; the skin goes back into its particles */
    if (m->volumes.count > 0)
        layers_volume_errors(&m->volumes, m->point_count, &run->w.volume, run->input->jobs, run->s.volume_errors);
    layers_skin_scatter(run);
    if (*run->s.recovering != 0) layers_recovery_pull(run);
    kit_lap(&clock, stats, PART_CONTACT);

    layers_velocities_find(run);
    stats->repairs += layers_repair(run);
    memcpy(run->s.drive, run->w.drive, (size_t)m->drive.count * 3 * sizeof(float));
    kit_lap(&clock, stats, PART_OTHER);
}

/* Parts of equal length in which no place of the drive goes further than TRAVEL_LIMIT against the mean of all. */
static int count_parts(const layers_run *run)
{
    const float *from = run->s.drive, *to = run->w.drive;
    int count = run->m->drive.count;

    vec3 mean = {0, 0, 0};
    for (int i = 0; i < count; i++)
        mean = vec3_madd(mean, vec3_sub(vec3_load(to + 3 * i), vec3_load(from + 3 * i)), 1 / (float)count);

    /* the longest way against it */
    float most2 = 0;
    for (int i = 0; i < count; i++) {
        vec3 way = vec3_sub(vec3_sub(vec3_load(to + 3 * i), vec3_load(from + 3 * i)), mean);
        most2 = MAX(most2, vec3_length2(way));
    }
    return MAX((int)MIN(ceilf(sqrtf(most2) / TRAVEL_LIMIT), (float)PARTS_LIMIT), 1);
}

/* A pressure acts over a substep squared: the same one for substeps of another length. */
static void pressures_scale(layers_run *run, double from, double to)
{
    float scale = (float)(to * to / (from * from));
    for (int p = 0; p < run->m->volumes.count; p++) run->s.pressures[p] *= scale;
}

/*
 * A substep in parts of equal length, through poses between its own two: contact sees straight ways only, and a limb
 * that goes further than it is thick is caught by what it passes.
 */
static void substep_in_parts(layers_run *run, int parts, cutis_step_stats *stats)
{
    const layers_model *m = run->m;
    const solver_input *whole = run->input;
    solver_input part = *whole;
    size_t floats = (size_t)m->joint_count * 12;
    float *poses[2] = {run->w.walk, run->w.walk + floats}, *skin = run->w.walk + 2 * floats;
    int failed = stats->unconverged;

    run->input = &part;
    run->h = whole->h / parts;
    pressures_scale(run, whole->h, run->h);
    for (int i = 1; i <= parts; i++) {
        /* the pose at its end; the last one is the substep's own to the bit */
        float *between = poses[i % 2];
        part.joints = i < parts ? between : whole->joints;
        part.skin = i < parts ? skin : whole->skin;
        if (i < parts) {
            kit_pose_between(m->character, whole->joints_old, whole->joints, (float)i / (float)parts, between);
            skin_matrices(m->character, between, skin);
        }

        layers_drive_find(run, run->w.drive);
        substep(run, stats);

        /* the next one starts there, and blows fall once */
        part.joints_old = part.joints;
        part.impulse_count = 0;
    }

    pressures_scale(run, run->h, whole->h);
    stats->unconverged = MIN(stats->unconverged, failed + 1);
    run->input = whole;
    run->h = whole->h;
}

static void layers_step(const void *data, void *state, void *scratch, const solver_input *input, float *points,
                        cutis_step_stats *stats)
{
    layers_run run = layers_run_make(data, state, scratch, input);
    layers_drive_find(&run, run.w.drive);
    int parts = count_parts(&run);
    if (parts > 1)
        substep_in_parts(&run, parts, stats);
    else
        substep(&run, stats);
    layers_results_write(&run, points);
}

/* At rest in the rest pose; then to the pose asked for by a slow walk, so that flesh does not pass through itself. */
static void layers_reset(const void *data, void *state, void *scratch, const solver_input *input, float *points)
{
    const layers_model *m = data;
    solver_input walked = *input;
    layers_run run = layers_run_make(data, state, scratch, &walked);
    kit_walk walk = kit_walk_start(m->character, run.w.walk, RESET_SUBSTEPS, &walked);
    layers_state_rest(&run);

    /* no velocity is left from one step of the walk to the next */
    run.h = MAX(run.h, RESET_SUBSTEP);
    run.walking = true;
    for (int settled = walk.step_count > 0 ? 0 : RESET_SETTLING; settled < RESET_SETTLING;) {
        settled += !kit_walk_next(&walk);
        cutis_step_stats stats = {0};
        layers_drive_find(&run, run.w.drive);
        substep(&run, &stats);
        for (int c = 0; c < 3; c++) memset(run.s.v[c], 0, (size_t)m->point_count * LAYERS * sizeof(float));
    }

    pressures_scale(&run, run.h, input->h);
    layers_results_write(&run, points);
}

/* ---- the table ---- */

static cutis_result layers_build(const solver_build *build, void **data, cutis_error *error)
{
    layers_model *model = ARENA_ARRAY(build->memory, layers_model, 1);
    if (!model) return error_memory(error, "solver layers");
    *data = model;
    return layers_model_build(build, model, error);
}

static long layers_element_count(const void *data) { return (long)((const layers_model *)data)->point_count * LAYERS; }

extern const solver solver_layers;
const solver solver_layers = {
    .info = {.name = "layers",
             .summary = "skin, fat, muscle and bone layers of oriented particles, with volume and contact",
             .paper = "C. Deul, J. Bender 2013, Physically-Based Character Skinning",
             .element = "particles",
             .parts = layers_parts,
             .part_count = COUNT_OF(layers_parts),
             .substep = 0.005,
             .parameters = layers_parameters,
             .parameter_count = LAYERS_PARAMETER_COUNT,
             .outputs = layers_outputs,
             .output_count = LAYERS_OUTPUT_COUNT,
             .flags = CUTIS_SOLVER_SELF_CONTACT | CUTIS_SOLVER_BODY | CUTIS_SOLVER_PROP_CONTACT},
    .float_state = true,
    .build = layers_build,
    .element_count = layers_element_count,
    .state_size = layers_state_size,
    .scratch_size = layers_scratch_size,
    .reset = layers_reset,
    .step = layers_step,
    .teleport = layers_teleport,
    .output = layers_output,
};
