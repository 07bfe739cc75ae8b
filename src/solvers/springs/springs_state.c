/*
 * springs_state.c: the state of the solver `springs` and its scratch as views of one block each; teleport and results.
 */
#include <string.h>

#include "solvers/solver_kit.h"
#include "solvers/springs/springs.h"

/* ---- views ---- */

static int memory_capacity(const springs_model *m) { return 4 * m->contact_count + 64; }

static springs_state state_view(const springs_model *m, void *memory, size_t *size)
{
    springs_state s;
    kit_block block = {.memory = memory};
    size_t nodes = (size_t)m->node_count * NODE;

    /* the skin, and what it is anchored to */
    s.header = KIT_CARVE(&block, int, HEADER_COUNT);
    s.x = KIT_CARVE(&block, float, nodes);
    s.reference = KIT_CARVE(&block, float, (size_t)m->point_count *NODE);
    s.elongation = KIT_CARVE(&block, float, (size_t)m->point_count *NODE);
    s.bulge = KIT_CARVE(&block, float, m->point_count);
    s.turns = KIT_CARVE(&block, float, (size_t)m->joint_count * 4);

    s.velocity = KIT_CARVE(&block, float, (size_t)m->soft.node_count *NODE);
    s.bodies = KIT_CARVE(&block, springs_body, m->prop_count);
    s.reports = KIT_CARVE(&block, springs_report, m->character->prop_count);

    /* contact, and what is shown */
    s.released = KIT_CARVE(&block, float, m->contact_count);
    s.memories = KIT_CARVE(&block, springs_memory, (size_t)memory_capacity(m));
    s.touch = KIT_CARVE(&block, float, (size_t)m->character->vertex_count * 3);
    s.prop_vertices = KIT_CARVE(&block, float, m->prop_vertex_count * 3);

    if (size) *size = block.used;
    return s;
}

static springs_scratch scratch_view(const springs_model *m, void *memory, size_t *size)
{
    springs_scratch s = {.contact_capacity = 16 * m->contact_count + 256,
                         .plane_capacity = 2 * m->contact_count,
                         .memory_capacity = memory_capacity(m),
                         .table_size = 64};

    while (s.table_size < 2 * s.memory_capacity) s.table_size *= 2;
    kit_block block = {.memory = memory};
    size_t nodes = (size_t)m->node_count * NODE;
    size_t points = (size_t)m->contact_count;
    size_t soft = (size_t)m->soft.node_count * NODE;

    s.rest = KIT_CARVE(&block, float, (size_t)m->edges.blocks *LANES);
    s.cosine = KIT_CARVE(&block, float, (size_t)m->edges.blocks *LANES);
    s.sine = KIT_CARVE(&block, float, (size_t)m->edges.blocks *LANES);
    s.edge_forces = KIT_CARVE(&block, float, (size_t)m->edges.blocks *LANES *EDGE);
    s.spring_forces = KIT_CARVE(&block, float, (size_t)m->soft.spring_count * 4);
    s.cell_forces = KIT_CARVE(&block, float, (size_t)m->soft.tetra_count * 16);
    s.push = KIT_CARVE(&block, float, nodes);
    s.force = KIT_CARVE(&block, float, nodes);
    s.give = KIT_CARVE(&block, float, m->node_count);

    s.next = KIT_CARVE(&block, float, nodes);
    s.last = KIT_CARVE(&block, float, nodes);
    s.unrest = KIT_CARVE(&block, float, m->point_count);
    s.calm = KIT_CARVE(&block, float, (size_t)m->point_count *NODE);
    s.local = KIT_CARVE(&block, int, m->node_count);
    s.blocks = KIT_CARVE(&block, int, m->edges.blocks);
    s.inert = KIT_CARVE(&block, float, soft);
    s.before = KIT_CARVE(&block, float, soft);
    s.carried = KIT_CARVE(&block, float, soft);
    s.guarded = KIT_CARVE(&block, float, soft);
    s.stages = KIT_CARVE(&block, float, m->rk4 ? 6 * nodes : 0);

    /* where things are and go */
    s.start = KIT_CARVE(&block, float, points * 3);
    s.end = KIT_CARVE(&block, float, points * 3);
    s.points = KIT_CARVE(&block, float, (size_t)m->point_count * 3);
    s.target = KIT_CARVE(&block, float, (size_t)m->point_count *NODE);
    s.rests = KIT_CARVE(&block, float, points);
    s.motions = KIT_CARVE(&block, springs_motion, m->prop_count);
    s.predicted = KIT_CARVE(&block, springs_body, m->prop_count);
    s.inertia = KIT_CARVE(&block, mat3, m->prop_count);

    s.contacts = KIT_CARVE(&block, springs_contact, s.contact_capacity);
    s.active = KIT_CARVE(&block, int, s.contact_capacity);
    s.planes = KIT_CARVE(&block, contact_plane, m->colliders.count > 0 ? (size_t)s.plane_capacity : 0);
    s.table = KIT_CARVE(&block, int, s.table_size);
    s.queue = KIT_CARVE(&block, int, m->point_count);
    s.marks = KIT_CARVE(&block, uint8_t, m->point_count);
    s.partial = KIT_CARVE(&block, double, 2 * (size_t)NODE_BLOCKS(m->node_count) + 2);
    s.moves = KIT_CARVE(&block, double, 3 * (size_t)NODE_BLOCKS(m->node_count) + 3);

    /* reset, recovery, reference shape */
    s.walk = KIT_CARVE(&block, float, kit_walk_floats(m->character));
    s.nodes = KIT_CARVE(&block, bvh_node, m->tree.node_count);
    s.prop_nodes = KIT_CARVE(&block, bvh_node, m->prop_nodes);
    s.reference = KIT_CARVE(&block, char, springs_reference_scratch_size(m->reference));

    char *contact = KIT_CARVE(&block, char, contact_work_size(&m->surface));
    if (contact) s.contact = contact_work_make(&m->surface, contact);
    if (size) *size = block.used;
    return s;
}

size_t springs_state_size(const void *data)
{
    size_t size;
    state_view(data, NULL, &size);
    return size;
}

size_t springs_scratch_size(const void *data)
{
    size_t size;
    scratch_view(data, NULL, &size);
    return size;
}

springs_run springs_run_make(const void *data, void *state, void *scratch, const solver_input *input)
{
    springs_run run = {.m = data, .input = input, .h = (float)input->h, .omega = 1};
    run.s = state_view(data, state, NULL);
    run.w = scratch_view(data, scratch, NULL);
    return run;
}

/* ---- teleport ---- */

void springs_teleport(const void *data, void *state, const float transform[12])
{
    const springs_model *m = data;
    springs_state s = state_view(m, state, NULL);
    vec3 translation, scale, centre = vec3_load(m->centre);
    quat rotation;
    mat34 matrix;

    memcpy(matrix.m, transform, sizeof matrix.m);
    mat34_decompose(matrix, &translation, &rotation, &scale);

    /* skin and soft props */
    for (int i = 0; i < m->node_count; i++) {
        vec3_store(s.x + NODE * i, kit_transform(transform, centre, m->size, vec3_load(s.x + NODE * i)));
    }
    for (int i = 0; i < m->point_count; i++) {
        vec3_store(s.reference + NODE * i,
                   kit_transform(transform, centre, m->size, vec3_load(s.reference + NODE * i)));
    }

    for (int i = 0; i < m->point_count; i++)
        vec3_store(s.elongation + NODE * i, quat_rotate(rotation, vec3_load(s.elongation + NODE * i)));
    for (int i = 0; i < m->soft.node_count; i++)
        vec3_store(s.velocity + NODE * i, quat_rotate(rotation, vec3_load(s.velocity + NODE * i)));

    /* rigid props, and the floors they stand on */
    for (int i = 0; i < m->prop_count; i++) {
        springs_body *body = s.bodies + i;
        vec3_store(body->centre, kit_transform(transform, centre, m->size, vec3_load(body->centre)));
        quat q = {body->rotation[0], body->rotation[1], body->rotation[2], body->rotation[3]};
        q = quat_normalize(quat_multiply(rotation, q));
        memcpy(body->rotation, &q, sizeof q);
        vec3_store(body->velocity, quat_rotate(rotation, vec3_load(body->velocity)));
        vec3_store(body->spin, quat_rotate(rotation, vec3_load(body->spin)));

        float *stand = s.reports[m->props[i].index].stand;
        vec3_store(stand, kit_transform(transform, centre, m->size, vec3_load(stand)));
    }

    /* forces, and what is shown */
    for (int i = 0; i < s.header[HEADER_MEMORIES]; i++)
        vec3_store(s.memories[i].shear, quat_rotate(rotation, vec3_load(s.memories[i].shear)));
    for (int v = 0; v < m->character->vertex_count; v++)
        vec3_store(s.touch + 3 * v, quat_rotate(rotation, vec3_load(s.touch + 3 * v)));
    for (size_t i = 0; i < m->prop_vertex_count; i++)
        vec3_store(s.prop_vertices + 3 * i, mat34_point(transform, vec3_load(s.prop_vertices + 3 * i)));
}

/* ---- results ---- */

bool springs_output(const void *data, const void *state, int index, cutis_output *output)
{
    const springs_model *m = data;
    springs_state s = state_view(m, (void *)state, NULL);
    (void)index;
    *output = (cutis_output){
        .domain = CUTIS_DOMAIN_VERTEX, .count = m->character->vertex_count, .components = 3, .values = s.touch};
    return true;
}

void springs_prop_get(const void *data, const void *state, int index, cutis_prop_state *prop)
{
    const springs_model *m = data;
    springs_state s = state_view(m, (void *)state, NULL);
    const springs_report *report = s.reports + index;

    /* what acts on it */
    for (int c = 0; c < 3; c++) prop->force[c] = report->force[c];
    prop->penetration = report->penetration * m->size;
    prop->crossings = report->crossings;
    prop->dropped = m->prop_of[index] >= 0 && s.bodies[m->prop_of[index]].dropped != 0;
    prop->bone = report->bone_depth > 0 ? report->bone : -1;
    prop->bone_depth = report->bone_depth * m->size;

    if (m->prop_of[index] < 0) return;
    const springs_prop *own = m->props + m->prop_of[index];
    if (own->fixed) return;

    /* the body's rotation and origin */
    const springs_body *body = s.bodies + m->prop_of[index];
    quat q = {body->rotation[0], body->rotation[1], body->rotation[2], body->rotation[3]};
    mat3 r = quat_matrix(q);
    vec3 origin = vec3_sub(vec3_load(body->centre), quat_rotate(q, own->centre));
    origin = vec3_madd(vec3_load(m->centre), origin, m->size);

    /* as a transform of the source */
    for (int row = 0; row < 3; row++) {
        for (int k = 0; k < 3; k++) prop->transform[4 * row + k] = r.m[3 * row + k] * own->scale[k] * m->size;
        prop->transform[4 * row + 3] = vec3_axis(origin, row);
    }

    if (!own->soft) return;
    prop->vertex_count = own->vertex_count;
    prop->triangle_count = own->shown_count;
    prop->positions = s.prop_vertices + 3 * own->output_first;
    prop->triangles = own->shown;
}
