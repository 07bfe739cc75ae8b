/*
 * layers_state.c: the state of the solver `layers` and its scratch as views of one block each; rest, teleport, repair
 * and results.
 */
#include <string.h>

#include "solvers/layers/layers_step.h"

/* Blocks of vertices that a thread writes at once. */
enum { VERTEX_GRAIN = 2048 };

/* ---- views ---- */

static layers_state state_view(const layers_model *m, void *memory, size_t *size)
{
    layers_state s;
    kit_block block = {.memory = memory};
    size_t particles = (size_t)m->point_count * LAYERS;

    for (int c = 0; c < 3; c++) s.x[c] = KIT_CARVE(&block, float, particles);
    for (int c = 0; c < 3; c++) s.v[c] = KIT_CARVE(&block, float, particles);
    for (int c = 0; c < 4; c++) s.q[c] = KIT_CARVE(&block, float, particles);

    /* what substeps hand on */
    s.pressures = KIT_CARVE(&block, float, m->volumes.count);
    s.recovering = KIT_CARVE(&block, float, 1);
    s.released = KIT_CARVE(&block, float, m->point_count);
    s.turns = KIT_CARVE(&block, float, m->joint_count * 4);
    s.drive = KIT_CARVE(&block, float, m->drive.count * 3);

    for (int c = 0; c < 3; c++) s.apart[c] = KIT_CARVE(&block, float, particles);
    s.volume_errors = KIT_CARVE(&block, float, m->volumes.count);
    s.outputs = KIT_CARVE(&block, float, (size_t)m->character->vertex_count * 12);

    if (size) *size = block.used;
    return s;
}

/* Scratch of the elastic iterations. */
static void iterate_view(const layers_model *m, kit_block *block, layers_scratch *s)
{
    size_t n = (size_t)m->point_count;
    size_t particles = n * LAYERS;
    size_t sums = (n + (size_t)m->paths.path_count) * SUM_STRIDE;

    for (int c = 0; c < 3; c++) {
        s->old[c] = KIT_CARVE(block, float, particles);
        s->iterate.inert[c] = KIT_CARVE(block, float, particles);
        s->iterate.base_x[c] = KIT_CARVE(block, float, particles);
        s->iterate.last[c] = KIT_CARVE(block, float, particles);
        s->iterate.target[c] = KIT_CARVE(block, float, particles);
        s->iterate.push[c] = KIT_CARVE(block, float, n);
        s->iterate.centre[c] = KIT_CARVE(block, float, particles);
        s->iterate.pulls[c] = KIT_CARVE(block, float, particles);
    }

    /* sums over regions and along paths */
    s->iterate.base = KIT_CARVE(block, float, n *SUM_STRIDE);
    s->iterate.columns = KIT_CARVE(block, float, particles *LAYERS);
    s->iterate.base_sums = KIT_CARVE(block, double, sums / SUM_STRIDE * BASE_STRIDE);
    s->iterate.sums = KIT_CARVE(block, float, sums);
    s->iterate.maps = KIT_CARVE(block, float, sums);
}

/* Scratch of the volume loop. */
static void volume_view(const layers_model *m, kit_block *block, layers_volume_work *work)
{
    size_t n = (size_t)m->point_count;
    size_t nodes = n + (size_t)m->volumes.centre_count;
    size_t runs = m->volumes.count > 0 ? (size_t)m->volumes.part_first[m->volumes.count] : 0;
    work->positions = KIT_CARVE(block, float, nodes * 3 + 1);
    work->directions = KIT_CARVE(block, float, n * 3 + 1);
    work->lambdas = KIT_CARVE(block, float, m->volumes.count);
    work->totals = KIT_CARVE(block, float, m->volumes.count);
    work->freedom = KIT_CARVE(block, float, m->volumes.count);
    work->sums = KIT_CARVE(block, double, 3 * runs);
    work->targets = KIT_CARVE(block, double, m->volumes.count);
}

static layers_scratch scratch_view(const layers_model *m, void *memory, size_t *size)
{
    layers_scratch s = {.plane_capacity = 2 * m->point_count, .touch_capacity = 4 * m->point_count};
    kit_block block = {.memory = memory};
    size_t n = (size_t)m->point_count;

    iterate_view(m, &block, &s);

    s.drive = KIT_CARVE(&block, float, m->drive.count * 3);
    s.skinning = KIT_CARVE(&block, float, skinning_scratch_count(&m->drive));
    s.axis = KIT_CARVE(&block, float, n * 3);
    s.frozen = KIT_CARVE(&block, float, m->frozen_count * 6);
    s.walk = KIT_CARVE(&block, float, kit_walk_floats(m->character));

    s.skin_old = KIT_CARVE(&block, float, n * 3);
    s.velocities = KIT_CARVE(&block, float, (n + (size_t)m->volumes.centre_count) * 3 + 1);
    s.before = KIT_CARVE(&block, float, n * 3);
    s.ties = KIT_CARVE(&block, float, n *LAYERS);
    s.inverses = KIT_CARVE(&block, float, n);
    s.free = KIT_CARVE(&block, float, n);
    s.free_next = KIT_CARVE(&block, float, n);
    s.pressure = KIT_CARVE(&block, float, n);
    s.nodes = KIT_CARVE(&block, bvh_node, m->tree.node_count);
    volume_view(m, &block, &s.volume);

    /* layers as they are shown */
    for (int c = 0; c < 3; c++) s.shown[c] = s.iterate.last[c];
    s.prisms = KIT_CARVE(&block, int, m->mesh->triangle_count);
    s.prism_marks = KIT_CARVE(&block, uint8_t, m->mesh->triangle_count);

    s.active = KIT_CARVE(&block, int, n);
    s.marks = KIT_CARVE(&block, uint8_t, n);
    s.planes = KIT_CARVE(&block, contact_plane, m->props.count > 0 ? s.plane_capacity : 0);
    s.touches = KIT_CARVE(&block, contact_pair, s.touch_capacity);

    char *contact = KIT_CARVE(&block, char, contact_work_size(&m->surface));
    if (contact) s.contact = contact_work_make(&m->surface, contact);

    if (size) *size = block.used;
    return s;
}

size_t layers_state_size(const void *data)
{
    size_t size;
    state_view(data, NULL, &size);
    return size;
}

size_t layers_scratch_size(const void *data)
{
    size_t size;
    scratch_view(data, NULL, &size);
    return size;
}

layers_run layers_run_make(const void *data, void *state, void *scratch, const solver_input *input)
{
    layers_run run = {.m = data, .input = input, .h = input->h, .omega = 1};
    run.s = state_view(data, state, NULL);
    run.w = scratch_view(data, scratch, NULL);
    for (int c = 0; c < 3; c++) run.w.iterate.x[c] = run.s.x[c];
    for (int c = 0; c < 4; c++) run.w.iterate.q[c] = run.s.q[c];
    return run;
}

/* ---- rest, teleport, repair ---- */

void layers_state_rest(layers_run *run)
{
    const layers_model *m = run->m;

    memset(run->s.turns, 0, (size_t)m->joint_count * 4 * sizeof(float));
    layers_drive_find(run, run->w.drive);
    memcpy(run->s.drive, run->w.drive, (size_t)m->drive.count * 3 * sizeof(float));

    *run->s.recovering = 0;
    memset(run->s.released, 0, (size_t)m->point_count * sizeof(float));
    memset(run->w.pressure, 0, (size_t)m->point_count * sizeof(float));
    memset(run->s.pressures, 0, (size_t)m->volumes.count * sizeof(float));

    /* the particles are at rest */
    for (int i = 0; i < LAYERS * m->point_count; i++) {
        for (int c = 0; c < 3; c++) run->s.x[c][i] = m->regions.rest[c][i];
        for (int c = 0; c < 3; c++) run->s.v[c][i] = 0;
        for (int c = 0; c < 3; c++) run->s.apart[c][i] = 0;
        for (int c = 0; c < 4; c++) run->s.q[c][i] = c == 3;
    }
}

void layers_teleport(const void *data, void *state, const float transform[12])
{
    const layers_model *m = data;
    layers_state s = state_view(m, state, NULL);
    vec3 centre = vec3_load(m->centre);
    mat34 matrix;
    vec3 translation, scale;
    quat rotation;

    /* the rotation of the transform */
    memcpy(matrix.m, transform, sizeof matrix.m);
    mat34_decompose(matrix, &translation, &rotation, &scale);
    mat3 turn = quat_matrix(rotation);

    /* particles: positions, velocities, rotations of their regions */
    for (int i = 0; i < LAYERS * m->point_count; i++) {
        vec3 x = kit_transform(transform, centre, m->size, vec3_make(s.x[0][i], s.x[1][i], s.x[2][i]));
        vec3 v = mat3_vector(turn, vec3_make(s.v[0][i], s.v[1][i], s.v[2][i]));
        vec3 apart = mat3_vector(turn, vec3_make(s.apart[0][i], s.apart[1][i], s.apart[2][i]));
        quat q = quat_multiply(rotation, (quat){s.q[0][i], s.q[1][i], s.q[2][i], s.q[3][i]});

        q = quat_multiply(q, quat_conjugate(rotation));

        for (int c = 0; c < 3; c++) s.x[c][i] = vec3_axis(x, c);
        for (int c = 0; c < 3; c++) s.v[c][i] = vec3_axis(v, c);
        for (int c = 0; c < 3; c++) s.apart[c][i] = vec3_axis(apart, c);
        s.q[0][i] = q.x;
        s.q[1][i] = q.y;
        s.q[2][i] = q.z;
        s.q[3][i] = q.w;
    }

    /* the skeleton's last places, and the results */
    for (int i = 0; i < m->drive.count; i++)
        vec3_store(s.drive + 3 * i, kit_transform(transform, centre, m->size, vec3_load(s.drive + 3 * i)));
    for (int i = 0; i < 3 * m->character->vertex_count; i++)
        vec3_store(s.outputs + 3 * i, mat34_point(transform, vec3_load(s.outputs + 3 * i)));
}

/* Whether a particle's numbers are those of a particle. */
static bool particle_fine(const layers_state *s, int i)
{
    int wrong = 0;
    for (int c = 0; c < 3; c++) wrong |= !(fabsf(s->x[c][i]) < 1e6f) | !(fabsf(s->v[c][i]) < 1e6f);
    for (int c = 0; c < 4; c++) wrong |= !(fabsf(s->q[c][i]) < 2);
    return !wrong;
}

/* Whether all of begin..end are; without branches, so that it is done in vectors. */
static bool particles_fine(const layers_state *s, int begin, int end)
{
    int wrong = 0;
    for (int i = begin; i < end; i++) wrong |= !particle_fine(s, i);
    return !wrong;
}

/* Each block counts its own. */
static void repair_block(void *context, int begin, int end)
{
    layers_run *run = context;
    int repairs = 0;
    bool fine = particles_fine(&run->s, LAYERS * begin, LAYERS * end);

    for (int i = LAYERS * begin; i < LAYERS * end && !fine; i++) {
        if (particle_fine(&run->s, i)) continue;
        for (int c = 0; c < 3; c++) run->s.x[c][i] = run->w.iterate.target[c][i];
        for (int c = 0; c < 3; c++) run->s.v[c][i] = 0;
        for (int c = 0; c < 4; c++) run->s.q[c][i] = c == 3;
        repairs++;
    }
    run->w.active[begin / POINT_GRAIN] = repairs;
}

int layers_repair(layers_run *run)
{
    int repairs = 0;
    parallel_for(run->input->jobs, run->m->point_count, POINT_GRAIN, repair_block, run);
    for (int block = 0; block * POINT_GRAIN < run->m->point_count; block++) repairs += run->w.active[block];
    return repairs;
}

/* ---- results ---- */

static void vertices_write(void *context, int begin, int end)
{
    layers_run *run = context;
    const layers_model *m = run->m;
    size_t vertices = (size_t)m->character->vertex_count;

    for (int v = begin; v < end; v++) {
        int k = m->paths.places[m->character->vertex_points[v]];

        /* the inner layers, in the scene */
        for (int l = LAYER_FAT; l < LAYERS; l++)
            for (int c = 0; c < 3; c++)
                run->s.outputs[(size_t)(l - 1) * vertices * 3 + 3 * (size_t)v + (size_t)c] =
                    run->w.shown[c][4 * k + l] * m->size + m->centre[c];

        /* figures of the contact and of the volumes */
        run->s.outputs[vertices * 9 + (size_t)v] = run->w.pressure[k];
        run->s.outputs[vertices * 10 + (size_t)v] = run->s.released[k];
        run->s.outputs[vertices * 11 + (size_t)v] =
            m->volumes.count > 0 ? run->s.volume_errors[(int)m->vertex_pieces[v]] : 0;
    }
}

void layers_results_write(layers_run *run, float *points)
{
    const layers_model *m = run->m;
    for (int k = 0; k < m->point_count; k++)
        for (int c = 0; c < 3; c++) points[3 * m->paths.points[k] + c] = run->s.x[c][4 * k] * m->size + m->centre[c];
    layers_apart(run);
    parallel_for(run->input->jobs, m->character->vertex_count, VERTEX_GRAIN, vertices_write, run);
}

bool layers_output(const void *data, const void *state, int index, cutis_output *output)
{
    const layers_model *m = data;
    layers_state s = state_view(m, (void *)state, NULL);
    int vertices = m->character->vertex_count;
    static const int first[LAYERS_OUTPUT_COUNT] = {0, 3, 6, 9, 10, 0, 11}; /* in floats a vertex */
    size_t at = (size_t)vertices * (size_t)first[index];
    *output = (cutis_output){.domain = CUTIS_DOMAIN_VERTEX,
                             .count = vertices,
                             .components = index < LAYERS_OUTPUT_CONTACT ? 3 : 1,
                             .values = index == LAYERS_OUTPUT_PIECE ? m->vertex_pieces : s.outputs + at};
    return true;
}
