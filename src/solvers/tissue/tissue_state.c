/*
 * tissue_state.c: the state of the solver `tissue` and its scratch as views of one block each; rest, teleport, results.
 */
#include <string.h>

#include "solvers/tissue/tissue.h"

enum { VERTEX_GRAIN = 2048 };

static tissue_state state_view(const tissue_model *m, void *memory, size_t *size)
{
    tissue_state s;
    kit_block block = {.memory = memory};
    size_t records = (size_t)m->count * COLUMN;
    s.z = KIT_CARVE(&block, float, records);
    s.x = KIT_CARVE(&block, float, records);
    s.v = KIT_CARVE(&block, float, records);
    s.a = KIT_CARVE(&block, float, records);
    s.turns = KIT_CARVE(&block, float, m->joint_count * 4);
    s.drive = KIT_CARVE(&block, float, m->drive.count * 3);
    s.slip = KIT_CARVE(&block, float, m->count * 3);
    s.released = KIT_CARVE(&block, float, m->count);
    s.outputs = KIT_CARVE(&block, float, (size_t)m->character->vertex_count * 10);
    if (size) *size = block.used;
    return s;
}

static tissue_work work_view(const tissue_model *m, void *memory, size_t *size)
{
    kit_block block = {.memory = memory};
    size_t n = (size_t)m->count, records = n * COLUMN;
    tissue_work w = {.pair_capacity = 16 * m->count + 1024, .plane_capacity = m->props.count * m->count};

    /* columns */
    w.z = KIT_CARVE(&block, float, records);
    w.last = KIT_CARVE(&block, float, records);
    w.residual = KIT_CARVE(&block, float, records);
    w.result = KIT_CARVE(&block, float, records);
    for (int j = 0; j < ANDERSON; j++) {
        w.residuals[j] = KIT_CARVE(&block, float, records);
        w.results[j] = KIT_CARVE(&block, float, records);
    }
    w.sums = KIT_CARVE(&block, double, (n / 256 + 1) * (2 * ANDERSON + 1));
    w.pull = KIT_CARVE(&block, float, records);
    w.pull_weight = KIT_CARVE(&block, float, n * 4);
    w.touch = KIT_CARVE(&block, float, n *TOUCH);
    w.limits = KIT_CARVE(&block, float, n);
    w.slips = KIT_CARVE(&block, float, n * 4);
    w.moves = KIT_CARVE(&block, float, m->block_count);

    /* skeleton */
    w.drive = KIT_CARVE(&block, float, m->drive.count * 3);
    w.skinning = KIT_CARVE(&block, float, skinning_scratch_count(&m->drive));
    w.axis = KIT_CARVE(&block, float, n * 3);
    w.walk = KIT_CARVE(&block, float, kit_walk_floats(m->character));

    /* contact */
    w.skin_old = KIT_CARVE(&block, float, n * 3);
    w.skin = KIT_CARVE(&block, float, n * 3);
    w.pairs = KIT_CARVE(&block, tissue_pair, w.pair_capacity);
    w.pair_first = KIT_CARVE(&block, int, n + 1);
    w.pair_list = KIT_CARVE(&block, int, 4 * (size_t)w.pair_capacity);
    w.planes = KIT_CARVE(&block, contact_plane, w.plane_capacity);
    w.plane_first = KIT_CARVE(&block, int, n + 1);
    w.plane_list = KIT_CARVE(&block, int, w.plane_capacity);
    char *contact = KIT_CARVE(&block, char, contact_work_size(&m->surface));
    if (contact) w.contact = contact_work_make(&m->surface, contact);
    w.nodes = KIT_CARVE(&block, bvh_node, m->tree.node_count);
    w.marks = KIT_CARVE(&block, uint8_t, n);
    w.queue = KIT_CARVE(&block, int, n);
    w.spread = KIT_CARVE(&block, float, n);

    if (size) *size = block.used;
    return w;
}

size_t tissue_state_size(const void *data)
{
    size_t size;
    state_view(data, NULL, &size);
    return size;
}

size_t tissue_scratch_size(const void *data)
{
    size_t size;
    work_view(data, NULL, &size);
    return size;
}

tissue_run tissue_run_make(const void *data, void *state, void *scratch, const solver_input *input)
{
    tissue_run run = {.m = data, .input = input, .h = input->h};
    run.s = state_view(data, state, NULL);
    run.w = work_view(data, scratch, NULL);
    return run;
}

void tissue_state_rest(tissue_run *run)
{
    const tissue_model *m = run->m;
    size_t bytes = (size_t)m->count * COLUMN * sizeof(float);
    memset(run->s.turns, 0, (size_t)m->joint_count * 4 * sizeof(float));
    tissue_drive_find(run, run->w.drive);
    memcpy(run->s.drive, run->w.drive, (size_t)m->drive.count * 3 * sizeof(float));
    memcpy(run->s.z, m->rest, bytes);
    memcpy(run->s.x, m->rest, bytes);
    memset(run->s.v, 0, bytes);
    memset(run->s.a, 0, bytes);
    memset(run->s.slip, 0, (size_t)m->count * 3 * sizeof(float));
    memset(run->s.released, 0, (size_t)m->count * sizeof(float));
    memset(run->w.touch, 0, (size_t)m->count * TOUCH * sizeof(float));
}

void tissue_teleport(const void *data, void *state, const float transform[12])
{
    const tissue_model *m = data;
    tissue_state s = state_view(m, state, NULL);
    vec3 centre = vec3_load(m->centre), translation, scale;
    mat34 matrix;
    quat rotation;
    memcpy(matrix.m, transform, sizeof matrix.m);
    mat34_decompose(matrix, &translation, &rotation, &scale);
    mat3 turn = quat_matrix(rotation);

    /* places and directions of the nodes */
    for (int i = 0; i < COLUMN * m->count; i++) {
        if (i % COLUMN >= 4) continue;
        float *places[2] = {s.z + i, s.x + i}, *directions[2] = {s.v + i, s.a + i};
        for (int j = 0; j < 2; j++) {
            vec3 x = kit_transform(transform, centre, m->size, vec3_make(places[j][0], places[j][4], places[j][8]));
            for (int c = 0; c < 3; c++) places[j][4 * c] = vec3_axis(x, c);
        }
        for (int j = 0; j < 2; j++) {
            vec3 d = mat3_vector(turn, vec3_make(directions[j][0], directions[j][4], directions[j][8]));
            for (int c = 0; c < 3; c++) directions[j][4 * c] = vec3_axis(d, c);
        }
    }

    /* slip, skeleton and outputs */
    for (int k = 0; k < m->count; k++) vec3_store(s.slip + 3 * k, mat3_vector(turn, vec3_load(s.slip + 3 * k)));
    for (int i = 0; i < m->drive.count; i++)
        vec3_store(s.drive + 3 * i, kit_transform(transform, centre, m->size, vec3_load(s.drive + 3 * i)));
    for (int i = 0; i < 3 * m->character->vertex_count; i++)
        vec3_store(s.outputs + 3 * i, mat34_point(transform, vec3_load(s.outputs + 3 * i)));
}

static void vertices_write(void *context, int begin, int end)
{
    tissue_run *run = context;
    const tissue_model *m = run->m;
    size_t vertices = (size_t)m->character->vertex_count;
    for (int v = begin; v < end; v++) {
        int k = m->columns[m->character->vertex_points[v]];
        const float *z = run->s.z + (size_t)COLUMN * k, *touch = run->w.touch + (size_t)TOUCH * k;
        for (int l = TISSUE_FAT; l < TISSUE_LAYERS; l++)
            for (int c = 0; c < 3; c++)
                run->s.outputs[(size_t)(l - 1) * vertices * 3 + 3 * (size_t)v + (size_t)c] =
                    z[4 * c + l] * m->size + m->centre[c];
        run->s.outputs[vertices * 9 + (size_t)v] = vec3_length(vec3_load(touch)) / m->mass[4 * k];
    }
}

void tissue_results_write(tissue_run *run, float *points)
{
    const tissue_model *m = run->m;
    for (int k = 0; k < m->count; k++)
        for (int c = 0; c < 3; c++)
            points[3 * m->points[k] + c] = run->s.z[COLUMN * k + 4 * c] * m->size + m->centre[c];
    parallel_for(run->input->jobs, m->character->vertex_count, VERTEX_GRAIN, vertices_write, run);
}

bool tissue_output(const void *data, const void *state, int index, cutis_output *output)
{
    const tissue_model *m = data;
    tissue_state s = state_view(m, (void *)state, NULL);
    int vertices = m->character->vertex_count;
    *output = (cutis_output){.domain = CUTIS_DOMAIN_VERTEX,
                             .count = vertices,
                             .components = index < TISSUE_OUTPUT_CONTACT ? 3 : 1,
                             .values = s.outputs + (size_t)vertices * 3 * (size_t)index};
    if (index == TISSUE_OUTPUT_TISSUE) output->values = m->tissue;
    return true;
}
