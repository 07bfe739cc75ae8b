/*
 * springs.c: solver `springs`: a skin of springs anchored to a reference shape, that touches and grasps.
 *
 * F. Cordier, N. Magnenat-Thalmann, "Integrated system for skin deformation". Three layers: skeleton, reference shape
 * (springs_reference.h), skin. This file holds the parameters and the substep; springs_build.c makes the skin's
 * springs, springs_force.c has the forces, springs_integrate.c the way to equilibrium, springs_contact.c detection and
 * response, springs_soft.c and springs_prop.c the free props. Their heads name the departures. Of the substep itself:
 * - The search starts from the last substep's skin, carried along with the reference shape.
 * - A skin that a torn pose has left caught behind itself is put back onto the reference shape, and contact rests until
 *   that has no more intersections than the rest pose.
 */
#include <string.h>

#include "character/skinning.h"
#include "solvers/solver_kit.h"
#include "solvers/springs/springs.h"

static const cutis_parameter springs_parameters[SPRINGS_PARAMETER_COUNT] = {
    [SPRINGS_REFERENCE] =
        {PARAMETER_CHOICE("reference", 4, "lbs|dqs|metaballs|dffd|auto"), .per_bone = true,
         .help = "reference shape that the skin is anchored to; auto measures and selects it for each bone"},
    [SPRINGS_INTEGRATOR] = {PARAMETER_CHOICE("integrator", 0, "fast|rk4"),
                            .help = "integrator: accelerated descent, or adaptive Runge-Kutta"},
    [SPRINGS_ITERATIONS] = {PARAMETER_INT("iterations", 600, 1, 10000),
                            .help = "largest number of iterations per substep (rk4: eight times as many steps)"},
    [SPRINGS_TOLERANCE] =
        {PARAMETER_FLOAT("tolerance", 2e-4, 1e-6, 0.01, "size"),
         .help = "tolerance of the net force at equilibrium, as the anchor elongation that it would cause"},
    [SPRINGS_FLESH_YOUNG] = {PARAMETER_FLOAT("flesh_young", 30, 0.1, 10000, "kPa"), .former = "flesh", .per_bone = true,
                             .help = "Young's modulus of the flesh between skin and bone"},
    [SPRINGS_STRETCH] = {PARAMETER_FLOAT("stretch", 0.2, 0, 100, ""), .per_bone = true,
                         .help = "stretching stiffness of the skin, relative to flesh_young x depth"},
    [SPRINGS_BEND] = {PARAMETER_FLOAT("bend", 0.001, 0, 100, ""), .per_bone = true,
                      .help = "bending stiffness of the skin, relative to flesh_young x depth^3"},
    [SPRINGS_BONE_RADIUS] = {PARAMETER_FLOAT("bone_radius", 0.5, 0, 0.95, ""), .former = "bone", .per_bone = true,
                             .help = "bone radius, relative to the distance of the nearest skin from its line"},
    [SPRINGS_BULGE] = {PARAMETER_FLOAT("bulge", 0.8, 0, 1, ""), .per_bone = true,
                       .help = "share of displaced flesh that bulges out beside a contact"},
    [SPRINGS_SELF_COLLISION] = {PARAMETER_BOOL("self_collision", 1), .former = "contact",
                                .role = CUTIS_PARAMETER_SELF_COLLISION, .help = "self-collision of the skin"},
    [SPRINGS_CONTACT_GAP] = {PARAMETER_FLOAT("contact_gap", 0.001, 0.00001, 0.02, "size"), .former = "thickness",
                             .help = "minimum distance kept by contact"},
    [SPRINGS_FRICTION] = {PARAMETER_FLOAT("friction", 0.8, 0, 2, ""), .per_bone = true,
                          .help = "Coulomb friction coefficient of the skin, and of props without their own"},
    [SPRINGS_GRAVITY] = {PARAMETER_FLOAT("gravity", 9.81, -100, 100, "m/s2"),
                         .help = "acceleration of free props along -y"},
    [SPRINGS_PROP_DAMPING] = {PARAMETER_FLOAT("prop_damping", 1, 0, 100, "1/s"), .former = "damping",
                              .role = CUTIS_PARAMETER_DAMPING, .help = "decay rate of the motion of free props"},
    [SPRINGS_STAND] = {PARAMETER_BOOL("stand", 1),
                       .help = "free props rest on a support at their start height, with their own width"},
    [SPRINGS_UNIT] = {KIT_PARAMETER_UNIT},
    [SPRINGS_CONTROL_RINGS] = {PARAMETER_INT("control_rings", 0, 0, 8), .per_bone = true,
                               .help = "dffd: rings of control points along a bone; 0: from its length"},
    [SPRINGS_CONTROL_RADIUS] = {PARAMETER_FLOAT("control_radius", 1.25, 0.6, 3, ""), .per_bone = true,
                                .help = "dffd: radius of the rings, relative to the body's radius there"},
};

static const char *const springs_parts[] = {"reference", "contact", "equilibrium", "adjustment", "other"};
enum { PART_REFERENCE, PART_CONTACT, PART_EQUILIBRIUM, PART_ADJUSTMENT, PART_OTHER };
static const cutis_output_info springs_outputs[] = {
    {.name = "touch",
     .role = CUTIS_OUTPUT_TOUCH,
     .components = 3,
     .unit = "N",
     .palette = CUTIS_PALETTE_TOUCH,
     .help = "contact force on the skin"},
};

/* Distance of the skin from its reference at which it counts as torn, in sizes. */
static const float TORN = 0.3f;
/* Substeps over which a reset walks from the rest pose to the pose it is asked for. */
enum { RESET_SUBSTEPS = 40 };

/* ---- a substep ---- */

/*
 * The reference shape of the pose. The skin goes along with it, and goes on as it went: its elongations change in this
 * substep about as in the last, where nothing touches it.
 */
static void reference_follow(springs_run *run, bool whole)
{
    const springs_model *m = run->m;
    springs_reference_evaluate(m->reference, run->input->skin, run->s.turns, run->w.reference, run->input->jobs,
                               run->w.points);

    /* in sizes from the centre */
    float scale = 1 / m->size;
    for (int p = 0; p < m->point_count; p++) {
        const float *touch = run->s.touch + 3 * m->character->point_vertices[p];
        bool touched = touch[0] != 0 || touch[1] != 0 || touch[2] != 0;

        /* What changed within the tolerance stands still: carried on, it would drift as far as no force tells. */
        vec3 moved = vec3_sub(vec3_load(run->s.x + NODE * p), vec3_load(run->s.reference + NODE * p));
        moved = vec3_sub(moved, vec3_load(run->s.elongation + NODE * p));
        bool still = touched || vec3_length2(moved) < m->contact_tolerance * m->contact_tolerance;

        for (int c = 0; c < 3; c++) {
            float *old = run->s.reference + NODE * p + c, *x = run->s.x + NODE * p + c;
            float *last = run->s.elongation + NODE * p + c;
            float next = (run->w.points[3 * p + c] - m->centre[c]) * scale, u = *x - *old;
            if (!(fabsf(next) < 1e6f)) next = *old;
            float change = still ? 0 : u - *last;

            /* Skin that lies on the reference stays on it to the bit. */
            *x = whole || m->frozen[p] || (u == 0 && change == 0) ? next : next + (u + change);
            *last = whole ? 0 : u;
            *old = next;
        }
    }

    springs_bulge_apply(run);
    springs_rest(run);
}

/* How much each node gives way, for contacts; springs_net refines it. */
static void gives_find(springs_run *run)
{
    const springs_model *m = run->m;

    /* skin: the springs around it, and its anchor, which stiffens as it is stretched */
    for (int p = 0; p < m->point_count; p++) {
        vec3 u = vec3_sub(vec3_load(run->w.target + NODE * p), vec3_load(run->s.x + NODE * p));
        float k = m->anchor[p] * (1 + 3 * MIN(vec3_length2(u), m->flesh[p] * m->flesh[p]) * m->depth[p]);
        run->w.give[p] = m->frozen[p] ? 0 : 1 / (m->diagonal[p] + k);
    }

    /* rigid props move as bodies; soft nodes have inertia */
    for (int p = m->point_count + m->soft_points; p < m->contact_count; p++) run->w.give[p] = 0;
    for (int i = 0; i < m->soft.node_count; i++) {
        int node = m->soft.nodes[i];
        float k = m->soft.mass[i] / (run->h * run->h);
        run->w.give[node] = springs_prop_still(run, m->soft.owners[i]) ? 0 : 1 / (m->diagonal[node] + k);
    }
}

/* Whether the skin intersects itself more than at rest. */
static bool skin_tangled(springs_run *run)
{
    const springs_model *m = run->m;
    for (int p = 0; p < m->point_count; p++) memcpy(run->w.end + 3 * p, run->s.x + NODE * p, 3 * sizeof(float));
    return kit_skin_tangled(m->skin, &m->tree, run->w.nodes, run->w.end, m->rest_intersections, run->input->jobs);
}

static int nodes_repair(springs_run *run)
{
    const springs_model *m = run->m;
    int repairs = 0;
    for (int p = 0; p < m->point_count; p++) {
        float *x = run->s.x + NODE * p;
        if (fabsf(x[0]) < 1e7f && fabsf(x[1]) < 1e7f && fabsf(x[2]) < 1e7f) continue;
        memcpy(x, run->s.reference + NODE * p, NODE * sizeof(float));
        repairs++;
    }

    for (int i = 0; i < m->soft.node_count; i++) {
        float *x = run->s.x + NODE * m->soft.nodes[i];
        if (fabsf(x[0]) < 1e7f && fabsf(x[1]) < 1e7f && fabsf(x[2]) < 1e7f) continue;
        memcpy(x, run->w.before + NODE * i, NODE * sizeof(float));
        repairs++;
    }

    return repairs;
}

/* What the skin's springs leave unbalanced where it is touched is what touches it. */
static void touch_write(springs_run *run)
{
    const springs_model *m = run->m;
    const cutis_character *character = m->character;
    for (int v = 0; v < character->vertex_count; v++) {
        int p = character->vertex_points[v];
        vec3 push = vec3_load(run->w.push + NODE * p), net = vec3_load(run->w.force + NODE * p);
        bool touched = vec3_length2(push) > 0;
        vec3 force = touched ? vec3_scale(vec3_sub(push, net), m->vertex_share[v]) : vec3_make(0, 0, 0);
        vec3_store(run->s.touch + 3 * v, force);
    }
}

/* A skin that a torn pose has left caught goes back onto the reference shape, and contact rests until it is sound. */
static void recovery_update(springs_run *run, bool contacts)
{
    const springs_model *m = run->m;
    int *recovering = run->s.header + HEADER_RECOVERING;
    if (*recovering) {
        if (!skin_tangled(run)) *recovering = 0;
        return;
    }
    if (!contacts || !kit_skin_strays(run->s.x, run->s.reference, m->point_count, NODE, TORN)) return;
    for (int p = 0; p < m->point_count; p++)
        memcpy(run->s.x + NODE * p, run->s.reference + NODE * p, NODE * sizeof(float));
    *recovering = 1;
}

static void substep(springs_run *run, cutis_step_stats *stats)
{
    const springs_model *m = run->m;
    double clock = clock_seconds();
    bool contacts = m->self_contact || m->prop_count > 0 || m->colliders.count > 0;
    const int *recovering = run->s.header + HEADER_RECOVERING;

    /* where everything starts, and where the skeleton and inertia take it */
    for (int p = 0; p < m->contact_count; p++) memcpy(run->w.start + 3 * p, run->s.x + NODE * p, 3 * sizeof(float));
    for (int i = 0; i < m->soft.node_count; i++)
        memcpy(run->w.before + NODE * i, run->s.x + NODE * m->soft.nodes[i], NODE * sizeof(float));
    springs_props_predict(run);
    reference_follow(run, *recovering != 0);
    springs_soft_carry(run);
    memset(run->w.push, 0, (size_t)m->node_count * NODE * sizeof(float));
    run->contact_count = 0;
    kit_lap(&clock, stats, PART_REFERENCE);

    if (contacts && !*recovering) {
        gives_find(run);
        springs_contacts_find(run);
    }

    kit_lap(&clock, stats, PART_CONTACT);

    /* equilibrium of springs and contacts */
    springs_equilibrium(run, stats);
    kit_lap(&clock, stats, PART_EQUILIBRIUM);

    /* position adjustment, and what the next substep starts from */
    springs_props_finish(run);
    springs_soft_guard(run, false);
    if (!*recovering) springs_yield_return(run);
    bool failed = contacts && !*recovering && springs_contacts_adjust(run);
    springs_contacts_keep(run);

    stats->contacts = run->s.header[HEADER_MEMORIES];
    stats->repairs += nodes_repair(run);
    springs_soft_guard(run, true);
    springs_soft_finish(run, run->w.before);
    springs_props_drop(run);
    if (m->self_contact && !*recovering) springs_yield_update(run);
    recovery_update(run, contacts);

    springs_bulge_find(run);
    if (failed && !*recovering) stats->unconverged++;
    springs_penetration_measure(run);
    kit_lap(&clock, stats, PART_ADJUSTMENT);
}

static void points_write(const springs_run *run, float *points)
{
    const springs_model *m = run->m;
    for (int p = 0; p < m->point_count; p++)
        for (int c = 0; c < 3; c++) {
            /* On the reference means its own numbers, not those of a change of units and back. */
            bool same = run->s.x[NODE * p + c] == run->s.reference[NODE * p + c];
            points[3 * p + c] = same ? run->w.points[3 * p + c] : run->s.x[NODE * p + c] * m->size + m->centre[c];
        }
}

static void springs_step(const void *data, void *state, void *scratch, const solver_input *input, float *points,
                         cutis_step_stats *stats)
{
    springs_run run = springs_run_make(data, state, scratch, input);
    substep(&run, stats);
    double clock = clock_seconds();
    touch_write(&run);
    points_write(&run, points);
    springs_props_report(&run);
    kit_lap(&clock, stats, PART_OTHER);
}

/* ---- reset ---- */

/* At rest in the rest pose; then to the pose asked for by a walk, so that skin does not pass through itself. */
static void springs_reset(const void *data, void *state, void *scratch, const solver_input *input, float *points)
{
    const springs_model *m = data;
    solver_input walked = *input;
    springs_run run = springs_run_make(data, state, scratch, &walked);
    memset(state, 0, springs_state_size(data));
    kit_walk walk = kit_walk_start(m->character, run.w.walk, RESET_SUBSTEPS, &walked);
    springs_props_reset(&run, input->joints);
    bool moves = walk.step_count > 0;

    reference_follow(&run, true);

    /* free props stand still on the way */
    run.held = true;
    while (kit_walk_next(&walk)) {
        cutis_step_stats stats = {0};
        substep(&run, &stats);
    }

    run.held = false;

    /* as if it had always been there: no force is left over from the walk */
    for (int i = 0; i < m->character->prop_count; i++) memset(run.s.reports[i].force, 0, sizeof run.s.reports[i].force);
    if (!moves) memset(run.w.push, 0, (size_t)m->node_count * NODE * sizeof(float));
    touch_write(&run);
    points_write(&run, points);
    springs_props_report(&run);
}

/* ---- the table ---- */

static cutis_result springs_build(const solver_build *build, void **data, cutis_error *error)
{
    springs_model *model = ARENA_ARRAY(build->memory, springs_model, 1);
    if (!model) return error_memory(error, "solver springs");
    *data = model;
    return springs_model_build(build, model, error);
}

static long springs_element_count(const void *data)
{
    const springs_model *m = data;
    return (long)m->edges.count + m->point_count + m->soft.spring_count;
}

extern const solver solver_springs;
const solver solver_springs = {
    .info = {.name = "springs",
             .summary = "skin of springs anchored to a reference shape, with contact, grasping and touch forces",
             .paper = "F. Cordier, N. Magnenat-Thalmann, Integrated system for skin deformation",
             .element = "springs",
             .parts = springs_parts,
             .part_count = COUNT_OF(springs_parts),
             .substep = 1.0 / 60,
             .parameters = springs_parameters,
             .parameter_count = SPRINGS_PARAMETER_COUNT,
             .outputs = springs_outputs,
             .output_count = COUNT_OF(springs_outputs),
             .flags =
                 CUTIS_SOLVER_SELF_CONTACT | CUTIS_SOLVER_BODY | CUTIS_SOLVER_PROP_CONTACT | CUTIS_SOLVER_PROP_MOTION},
    .build = springs_build,
    .element_count = springs_element_count,
    .state_size = springs_state_size,
    .scratch_size = springs_scratch_size,
    .reset = springs_reset,
    .step = springs_step,
    .teleport = springs_teleport,
    .output = springs_output,
    .prop = springs_prop_get,
};
