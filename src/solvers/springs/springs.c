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
    [SPRINGS_REFERENCE] = {PARAMETER_CHOICE("reference", 0, "lbs|dqs|metaballs|dffd"), .per_bone = true,
                           .help = "shape that the skin is anchored to"},
    [SPRINGS_INTEGRATOR] = {PARAMETER_CHOICE("integrator", 0, "fast|rk4"),
                            .help = "way to equilibrium: accelerated descent, or adaptive Runge-Kutta"},
    [SPRINGS_ITERATIONS] = {PARAMETER_INT("iterations", 600, 1, 10000),
                            .help = "most iterations a substep (of rk4: eight times as many steps)"},
    [SPRINGS_TOLERANCE] = {PARAMETER_FLOAT("tolerance", 5e-5, 1e-7, 0.01, "size"),
                           .help = "net force at rest, as the elongation of an anchor that it would cause"},
    [SPRINGS_FLESH] = {PARAMETER_FLOAT("flesh", 30, 0.1, 10000, "kPa"), .per_bone = true,
                       .help = "Young's modulus of the flesh between skin and bone"},
    [SPRINGS_STRETCH] = {PARAMETER_FLOAT("stretch", 0.2, 0, 100, ""), .per_bone = true,
                         .help = "stiffness of the skin against stretching, over flesh x depth"},
    [SPRINGS_BEND] = {PARAMETER_FLOAT("bend", 0.001, 0, 100, ""), .per_bone = true,
                      .help = "stiffness of the skin against bending, over flesh x depth^3"},
    [SPRINGS_BONE] = {PARAMETER_FLOAT("bone", 0.5, 0, 0.95, ""), .per_bone = true,
                      .help = "radius of the bone, over the distance of the nearest skin from its line"},
    [SPRINGS_CONTACT] = {PARAMETER_BOOL("contact", 1), .role = CUTIS_PARAMETER_SELF_COLLISION,
                         .help = "collision of the skin with itself"},
    [SPRINGS_THICKNESS] = {PARAMETER_FLOAT("thickness", 0.001, 0.00001, 0.02, "size"),
                           .help = "least distance of touching surfaces, over the character's size"},
    [SPRINGS_FRICTION] = {PARAMETER_FLOAT("friction", 0.5, 0, 2, ""), .per_bone = true,
                          .help = "Coulomb coefficient of the skin, and of props that have none"},
    [SPRINGS_GRAVITY] = {PARAMETER_FLOAT("gravity", 9.81, -100, 100, "m/s2"), .help = "pull on free props (-y)"},
    [SPRINGS_DAMPING] = {PARAMETER_FLOAT("damping", 1, 0, 100, "1/s"), .role = CUTIS_PARAMETER_DAMPING,
                         .help = "rate at which the motion of free props dies away"},
    [SPRINGS_STAND] = {PARAMETER_BOOL("stand", 1),
                       .help = "free props stand, where they start, on a floor as wide as they are"},
    [SPRINGS_UNIT] = {PARAMETER_FLOAT("unit", 1, 1e-6, 1e6, "m"),
                      .help = "metres in the file's unit of length, for weights and forces of props"},
    [SPRINGS_CONTROL_RINGS] = {PARAMETER_INT("control_rings", 0, 0, 8), .per_bone = true,
                               .help = "dffd: rings of control points along a bone; 0: as many as suit it"},
    [SPRINGS_CONTROL_RADIUS] = {PARAMETER_FLOAT("control_radius", 1.25, 0.6, 3, ""), .per_bone = true,
                                .help = "dffd: radius of the rings, over that of the body there"},
};

static const char *const springs_parts[] = {"reference", "contact", "equilibrium", "adjustment", "other"};
enum { PART_REFERENCE, PART_CONTACT, PART_EQUILIBRIUM, PART_ADJUSTMENT, PART_OTHER };
static const cutis_output_info springs_outputs[] = {
    {.name = "touch",
     .role = CUTIS_OUTPUT_TOUCH,
     .components = 3,
     .unit = "N",
     .palette = CUTIS_PALETTE_TOUCH,
     .help = "force on the skin by what it touches"},
};

/* Distance of the skin from its reference at which it counts as torn, in sizes. */
static const float TORN = 0.3f;
/* Substeps over which a reset walks from the rest pose to the pose it is asked for. */
enum { RESET_SUBSTEPS = 40 };

/* ---- memory ---- */

static void *carve(char *memory, size_t *used, size_t count, size_t size)
{
    void *block = memory ? memory + *used : NULL;
    *used += (count * size + 63) / 64 * 64;
    return block;
}

static int memory_capacity(const springs_model *m) { return 4 * m->contact_count + 64; }

static springs_state state_view(const springs_model *m, void *memory, size_t *size)
{
    springs_state s;
    size_t used = 0, nodes = (size_t)m->node_count * NODE;
    s.header = carve(memory, &used, HEADER_COUNT, sizeof(int));
    s.x = carve(memory, &used, nodes, sizeof(float));
    s.reference = carve(memory, &used, (size_t)m->point_count * NODE, sizeof(float));
    s.elongation = carve(memory, &used, (size_t)m->point_count * NODE, sizeof(float));
    s.velocity = carve(memory, &used, (size_t)m->soft.node_count * NODE, sizeof(float));
    s.bodies = carve(memory, &used, (size_t)m->prop_count, sizeof(springs_body));
    s.reports = carve(memory, &used, (size_t)m->character->prop_count, sizeof(springs_report));
    s.memories = carve(memory, &used, (size_t)memory_capacity(m), sizeof(springs_memory));
    s.touch = carve(memory, &used, (size_t)m->character->vertex_count * 3, sizeof(float));
    s.prop_vertices = carve(memory, &used, m->prop_vertex_count * 3, sizeof(float));
    if (size) *size = used;
    return s;
}

static springs_scratch scratch_view(const springs_model *m, void *memory, size_t *size)
{
    springs_scratch s = {.contact_capacity = 16 * m->contact_count + 256,
                         .plane_capacity = 2 * m->contact_count,
                         .memory_capacity = memory_capacity(m),
                         .table_size = 64};
    while (s.table_size < 2 * s.memory_capacity) s.table_size *= 2;
    size_t used = 0, nodes = (size_t)m->node_count * NODE, points = (size_t)m->contact_count;
    size_t soft = (size_t)m->soft.node_count * NODE;
    s.edge_forces = carve(memory, &used, (size_t)m->edges.blocks * LANES * EDGE, sizeof(float));
    s.spring_forces = carve(memory, &used, (size_t)m->soft.spring_count * 4, sizeof(float));
    s.push = carve(memory, &used, nodes, sizeof(float));
    s.force = carve(memory, &used, nodes, sizeof(float));
    s.give = carve(memory, &used, (size_t)m->node_count, sizeof(float));
    s.next = carve(memory, &used, nodes, sizeof(float));
    s.last = carve(memory, &used, nodes, sizeof(float));
    s.inert = carve(memory, &used, soft, sizeof(float));
    s.before = carve(memory, &used, soft, sizeof(float));
    s.stages = carve(memory, &used, m->rk4 ? 6 * nodes : 0, sizeof(float));
    s.start = carve(memory, &used, points * 3, sizeof(float));
    s.end = carve(memory, &used, points * 3, sizeof(float));
    s.points = carve(memory, &used, (size_t)m->point_count * 3, sizeof(float));
    s.motions = carve(memory, &used, (size_t)m->prop_count, sizeof(springs_motion));
    s.predicted = carve(memory, &used, (size_t)m->prop_count, sizeof(springs_body));
    s.inertia = carve(memory, &used, (size_t)m->prop_count, sizeof(mat3));
    s.contacts = carve(memory, &used, (size_t)s.contact_capacity, sizeof(springs_contact));
    s.active = carve(memory, &used, (size_t)s.contact_capacity, sizeof(int));
    s.planes = carve(memory, &used, m->colliders.count > 0 ? (size_t)s.plane_capacity : 0, sizeof(contact_plane));
    s.table = carve(memory, &used, (size_t)s.table_size, sizeof(int));
    s.partial = carve(memory, &used, 2 * (size_t)NODE_BLOCKS(m->node_count) + 2, sizeof(double));
    s.joints = carve(memory, &used, (size_t)m->joint_count * 36, sizeof(float));
    s.nodes = carve(memory, &used, (size_t)m->tree.node_count, sizeof(bvh_node));
    s.reference = carve(memory, &used, springs_reference_scratch_size(m->reference), 1);
    size_t contact_bytes = contact_work_size(&m->surface);
    char *contact = carve(memory, &used, contact_bytes, 1);
    if (contact) s.contact = contact_work_make(&m->surface, contact);
    if (size) *size = used;
    return s;
}

static size_t springs_state_size(const void *data)
{
    size_t size;
    state_view(data, NULL, &size);
    return size;
}

static size_t springs_scratch_size(const void *data)
{
    size_t size;
    scratch_view(data, NULL, &size);
    return size;
}

static long springs_element_count(const void *data)
{
    const springs_model *m = data;
    return (long)m->edges.count + m->point_count + m->soft.spring_count;
}

/* ---- a substep ---- */

static double lap(double *clock)
{
    double now = clock_seconds(), passed = now - *clock;
    *clock = now;
    return passed * 1e3;
}

/*
 * The reference shape of the pose. The skin goes along with it, and goes on as it went: its elongations change in this
 * substep about as in the last, where nothing touches it.
 */
static void reference_follow(springs_run *run, bool whole)
{
    const springs_model *m = run->m;
    springs_reference_evaluate(m->reference, run->input->skin, run->w.reference, run->input->jobs, run->w.points);
    float scale = 1 / m->size;
    for (int p = 0; p < m->point_count; p++) {
        const float *touch = run->s.touch + 3 * m->character->point_vertices[p];
        bool touched = touch[0] != 0 || touch[1] != 0 || touch[2] != 0;
        for (int c = 0; c < 3; c++) {
            float *old = run->s.reference + NODE * p + c, *x = run->s.x + NODE * p + c;
            float *last = run->s.elongation + NODE * p + c;
            float next = (run->w.points[3 * p + c] - m->centre[c]) * scale, u = *x - *old;
            if (!(fabsf(next) < 1e6f)) next = *old;
            float change = touched ? 0 : u - *last;
            /* Skin that lies on the reference stays on it to the bit. */
            *x = whole || m->frozen[p] || (u == 0 && change == 0) ? next : next + (u + change);
            *last = whole ? 0 : u;
            *old = next;
        }
    }
}

/* How much each node gives way, for contacts; springs_net refines it. */
static void gives_find(springs_run *run)
{
    const springs_model *m = run->m;
    for (int p = 0; p < m->point_count; p++) {
        vec3 u = vec3_sub(vec3_load(run->s.reference + NODE * p), vec3_load(run->s.x + NODE * p));
        float k = m->anchor[p] * (1 + 3 * vec3_length2(u) * m->depth[p]);
        run->w.give[p] = m->frozen[p] ? 0 : 1 / (m->diagonal[p] + k);
    }
    for (int i = 0; i < m->soft.node_count; i++) {
        int node = m->soft.nodes[i];
        float k = m->soft.mass[i] / (run->h * run->h);
        run->w.give[node] = run->held ? 0 : 1 / (m->diagonal[node] + k);
    }
}

static bool skin_torn(const springs_run *run)
{
    for (int p = 0; p < run->m->point_count; p++) {
        vec3 u = vec3_sub(vec3_load(run->s.x + NODE * p), vec3_load(run->s.reference + NODE * p));
        if (!(vec3_length2(u) < TORN * TORN)) return true;
    }
    return false;
}

/* Whether the skin has no more intersections than at rest. */
static bool skin_whole(springs_run *run)
{
    const springs_model *m = run->m;
    if (m->tree.node_count == 0) return true;
    for (int p = 0; p < m->point_count; p++) memcpy(run->w.end + 3 * p, run->s.x + NODE * p, 3 * sizeof(float));
    bvh tree = m->tree;
    tree.nodes = run->w.nodes;
    memcpy(tree.nodes, m->tree.nodes, (size_t)tree.node_count * sizeof(bvh_node));
    bvh_refit(&tree, run->w.end, 0);
    return mesh_self_intersections(m->skin, &tree, run->w.end, run->input->jobs, NULL, 0) <= m->rest_intersections;
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

static void substep(springs_run *run, cutis_step_stats *stats)
{
    const springs_model *m = run->m;
    double clock = clock_seconds();
    bool contacts = m->self_contact || m->prop_count > 0 || m->colliders.count > 0;
    int *recovering = run->s.header + HEADER_RECOVERING;
    for (int p = 0; p < m->contact_count; p++) memcpy(run->w.start + 3 * p, run->s.x + NODE * p, 3 * sizeof(float));
    for (int i = 0; i < m->soft.node_count; i++)
        memcpy(run->w.before + NODE * i, run->s.x + NODE * m->soft.nodes[i], NODE * sizeof(float));
    springs_props_predict(run);
    reference_follow(run, *recovering != 0);
    memset(run->w.push, 0, (size_t)m->node_count * NODE * sizeof(float));
    run->contact_count = 0;
    stats->part_ms[PART_REFERENCE] += lap(&clock);

    if (contacts && !*recovering) {
        gives_find(run);
        springs_contacts_find(run);
    }
    stats->part_ms[PART_CONTACT] += lap(&clock);
    springs_equilibrium(run, stats);
    stats->part_ms[PART_EQUILIBRIUM] += lap(&clock);

    bool failed = false;
    springs_props_finish(run);
    if (contacts && !*recovering) failed = springs_contacts_adjust(run);
    springs_contacts_keep(run);
    stats->contacts = run->s.header[HEADER_MEMORIES];
    stats->repairs += nodes_repair(run);
    springs_soft_finish(run, run->w.before);
    if (*recovering) {
        if (skin_whole(run)) *recovering = 0;
    } else if (contacts && skin_torn(run)) {
        for (int p = 0; p < m->point_count; p++)
            memcpy(run->s.x + NODE * p, run->s.reference + NODE * p, NODE * sizeof(float));
        *recovering = 1;
    }
    if (failed && !*recovering) stats->unconverged++;
    stats->part_ms[PART_ADJUSTMENT] += lap(&clock);
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

springs_run springs_run_make(const void *data, void *state, void *scratch, const solver_input *input)
{
    springs_run run = {.m = data, .input = input, .h = (float)input->h, .omega = 1};
    run.s = state_view(data, state, NULL);
    run.w = scratch_view(data, scratch, NULL);
    return run;
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
    stats->part_ms[PART_OTHER] += lap(&clock);
}

/* ---- reset ---- */

/* A pose between two, each joint in its parent's space, so that bones keep their length. */
static void pose_between(const cutis_character *character, const float *from, const float *to, float t, float *out)
{
    for (int j = 0; j < character->joint_count; j++) {
        int parent = character->joints[j].parent;
        mat34 local[2];
        for (int side = 0; side < 2; side++) {
            const float *pose = side ? to : from;
            memcpy(local[side].m, pose + 12 * j, sizeof local[side].m);
            if (parent < 0) continue;
            mat34 above, inverse;
            memcpy(above.m, pose + 12 * parent, sizeof above.m);
            mat34_inverse(above, &inverse);
            local[side] = mat34_multiply(inverse, local[side]);
        }
        vec3 translation[2], scale[2];
        quat rotation[2];
        for (int side = 0; side < 2; side++)
            mat34_decompose(local[side], &translation[side], &rotation[side], &scale[side]);
        mat34 mixed = mat34_compose(vec3_lerp(translation[0], translation[1], t),
                                    quat_slerp(rotation[0], rotation[1], t), vec3_lerp(scale[0], scale[1], t));
        if (parent >= 0) {
            mat34 above;
            memcpy(above.m, out + 12 * parent, sizeof above.m);
            mixed = mat34_multiply(above, mixed);
        }
        memcpy(out + 12 * j, t < 1 ? mixed.m : to + 12 * j, sizeof mixed.m);
    }
}

static void springs_reset(const void *data, void *state, void *scratch, const solver_input *input, float *points)
{
    const springs_model *m = data;
    solver_input walk = *input;
    size_t joint_floats = (size_t)m->joint_count * 12;
    springs_run run = springs_run_make(data, state, scratch, &walk);
    memset(state, 0, springs_state_size(data));
    float *rest = run.w.joints, *joints = rest + joint_floats, *skin = joints + joint_floats;
    cutis_pose_rest(m->character, rest);
    springs_props_reset(&run, input->joints);
    memcpy(joints, rest, joint_floats * sizeof(float));
    skin_matrices(m->character, joints, skin);
    walk.joints = walk.joints_old = joints;
    walk.skin = skin;
    reference_follow(&run, true);
    bool moved = memcmp(rest, input->joints, joint_floats * sizeof(float)) != 0;
    run.held = true;
    for (int i = 1; i <= RESET_SUBSTEPS && moved; i++) {
        cutis_step_stats stats = {0};
        pose_between(m->character, rest, input->joints, (float)i / RESET_SUBSTEPS, joints);
        skin_matrices(m->character, joints, skin);
        substep(&run, &stats);
    }
    run.held = false;
    for (int i = 0; i < m->character->prop_count; i++) memset(run.s.reports[i].force, 0, sizeof run.s.reports[i].force);
    if (!moved) memset(run.w.push, 0, (size_t)m->node_count * NODE * sizeof(float));
    touch_write(&run);
    points_write(&run, points);
    springs_props_report(&run);
}

static void springs_teleport(const void *data, void *state, const float transform[12])
{
    const springs_model *m = data;
    springs_state s = state_view(m, state, NULL);
    vec3 translation, scale, centre = vec3_load(m->centre);
    quat rotation;
    mat34 matrix;
    memcpy(matrix.m, transform, sizeof matrix.m);
    mat34_decompose(matrix, &translation, &rotation, &scale);
    for (int i = 0; i < m->node_count; i++) {
        vec3 x = vec3_madd(centre, vec3_load(s.x + NODE * i), m->size);
        vec3_store(s.x + NODE * i, vec3_scale(vec3_sub(mat34_point(transform, x), centre), 1 / m->size));
    }
    for (int i = 0; i < m->point_count; i++) {
        vec3 x = vec3_madd(centre, vec3_load(s.reference + NODE * i), m->size);
        vec3_store(s.reference + NODE * i, vec3_scale(vec3_sub(mat34_point(transform, x), centre), 1 / m->size));
    }
    for (int i = 0; i < m->point_count; i++)
        vec3_store(s.elongation + NODE * i, quat_rotate(rotation, vec3_load(s.elongation + NODE * i)));
    for (int i = 0; i < m->soft.node_count; i++)
        vec3_store(s.velocity + NODE * i, quat_rotate(rotation, vec3_load(s.velocity + NODE * i)));
    for (int i = 0; i < m->prop_count; i++) {
        springs_body *body = s.bodies + i;
        vec3 x = vec3_madd(centre, vec3_load(body->centre), m->size);
        vec3_store(body->centre, vec3_scale(vec3_sub(mat34_point(transform, x), centre), 1 / m->size));
        quat q = {body->rotation[0], body->rotation[1], body->rotation[2], body->rotation[3]};
        q = quat_normalize(quat_multiply(rotation, q));
        body->rotation[0] = q.x, body->rotation[1] = q.y, body->rotation[2] = q.z, body->rotation[3] = q.w;
        vec3_store(body->velocity, quat_rotate(rotation, vec3_load(body->velocity)));
        vec3_store(body->spin, quat_rotate(rotation, vec3_load(body->spin)));
        float *stand = s.reports[m->props[i].index].stand;
        x = mat34_point(transform, vec3_madd(centre, vec3_load(stand), m->size));
        vec3_store(stand, vec3_scale(vec3_sub(x, centre), 1 / m->size));
    }
    for (int i = 0; i < s.header[HEADER_MEMORIES]; i++)
        vec3_store(s.memories[i].shear, quat_rotate(rotation, vec3_load(s.memories[i].shear)));
    for (int v = 0; v < m->character->vertex_count; v++)
        vec3_store(s.touch + 3 * v, quat_rotate(rotation, vec3_load(s.touch + 3 * v)));
    for (size_t i = 0; i < m->prop_vertex_count; i++)
        vec3_store(s.prop_vertices + 3 * i, mat34_point(transform, vec3_load(s.prop_vertices + 3 * i)));
}

/* ---- results ---- */

static cutis_result springs_build(const solver_build *build, void **data, cutis_error *error)
{
    springs_model *model = ARENA_ARRAY(build->memory, springs_model, 1);
    if (!model) return error_memory(error, "solver springs");
    *data = model;
    return springs_model_build(build, model, error);
}

static bool springs_output(const void *data, const void *state, int index, cutis_output *output)
{
    const springs_model *m = data;
    springs_state s = state_view(m, (void *)state, NULL);
    (void)index;
    *output = (cutis_output){
        .domain = CUTIS_DOMAIN_VERTEX, .count = m->character->vertex_count, .components = 3, .values = s.touch};
    return true;
}

static void springs_prop_get(const void *data, const void *state, int index, cutis_prop_state *prop)
{
    const springs_model *m = data;
    springs_state s = state_view(m, (void *)state, NULL);
    const springs_report *report = s.reports + index;
    for (int c = 0; c < 3; c++) prop->force[c] = report->force[c];
    prop->penetration = report->penetration * m->size;
    if (m->prop_of[index] < 0) return;
    const springs_prop *own = m->props + m->prop_of[index];
    const springs_body *body = s.bodies + m->prop_of[index];
    quat q = {body->rotation[0], body->rotation[1], body->rotation[2], body->rotation[3]};
    mat3 r = quat_matrix(q);
    vec3 origin = vec3_sub(vec3_load(body->centre), quat_rotate(q, own->centre));
    origin = vec3_madd(vec3_load(m->centre), origin, m->size);
    for (int row = 0; row < 3; row++) {
        for (int k = 0; k < 3; k++) prop->transform[4 * row + k] = r.m[3 * row + k] * own->scale[k] * m->size;
        prop->transform[4 * row + 3] = (&origin.x)[row];
    }
    if (!own->soft) return;
    prop->vertex_count = own->vertex_count;
    prop->triangle_count = own->shown_count;
    prop->positions = s.prop_vertices + 3 * own->output_first;
    prop->triangles = own->shown;
}

extern const solver solver_springs;
const solver solver_springs = {
    .info = {.name = "springs",
             .summary = "skin of springs anchored to a reference shape, that touches, grasps and feels",
             .paper = "F. Cordier, N. Magnenat-Thalmann, Integrated system for skin deformation",
             .element = "springs",
             .parts = springs_parts,
             .part_count = COUNT_OF(springs_parts),
             .substep = 1.0 / 60,
             .parameters = springs_parameters,
             .parameter_count = SPRINGS_PARAMETER_COUNT,
             .outputs = springs_outputs,
             .output_count = COUNT_OF(springs_outputs),
             .flags = CUTIS_SOLVER_SELF_CONTACT},
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
