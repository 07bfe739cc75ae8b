/*
 * lattice_state.c: the state of the solver `lattice` and its scratch as views of one block each; teleport and outputs.
 */
#include <string.h>

#include "solvers/lattice/lattice_step.h"

/* ---- views ---- */

size_t lattice_state_view(const lattice_model *m, void *memory, lattice_state *s)
{
    kit_block block = {.memory = memory};
    size_t n = (size_t)m->padded;
    s->positions = KIT_CARVE(&block, quad, n);
    s->velocities = KIT_CARVE(&block, quad, n);
    s->targets = KIT_CARVE(&block, quad, n);
    s->deviations = KIT_CARVE(&block, quad, n);
    s->bulges = KIT_CARVE(&block, quad, n);
    s->rotations = KIT_CARVE(&block, float, 4 * n);
    s->volumes = KIT_CARVE(&block, float, n);
    s->joint_turns = KIT_CARVE(&block, float, 4 * (size_t)m->joint_count);
    s->priors = KIT_CARVE(&block, lattice_frame, m->own_shape ? n : 0);
    s->voxels = KIT_CARVE(&block, float, 3 * (size_t)m->count);
    s->scene_targets = KIT_CARVE(&block, float, 3 * (size_t)m->count);
    return block.used;
}

size_t lattice_scratch_view(const lattice_model *m, void *memory, lattice_scratch *s)
{
    kit_block block = {.memory = memory};

    /* voxels: places and forces */
    size_t n = (size_t)m->padded + LATTICE_PAD;
    s->guess = KIT_CARVE(&block, quad, n);
    s->carried = KIT_CARVE(&block, quad, n);
    s->weighted = KIT_CARVE(&block, quad, n);
    s->places = KIT_CARVE(&block, quad, n);
    s->pulls = KIT_CARVE(&block, quad, n);
    s->pushes = KIT_CARVE(&block, quad, n);
    s->bulged = KIT_CARVE(&block, quad, n);
    s->wanted = KIT_CARVE(&block, float, n);
    s->found = KIT_CARVE(&block, float, n);
    s->intact = KIT_CARVE(&block, float, n);

    /* regions */
    s->a = KIT_CARVE(&block, lattice_frame, n);
    s->b = KIT_CARVE(&block, lattice_frame, n);
    s->frames = KIT_CARVE(&block, lattice_frame, n);
    s->loans = KIT_CARVE(&block, lattice_frame, (size_t)m->sweep.loan_most);
    s->turns = KIT_CARVE(&block, lattice_frame, n);

    /* joints, surface and counters */
    s->joints = KIT_CARVE(&block, lattice_frame, (size_t)m->joint_count + 1);
    s->turned = KIT_CARVE(&block, lattice_frame, (size_t)m->joint_count + 1);
    s->displacements = KIT_CARVE(&block, quad, n);
    s->skinning = KIT_CARVE(&block, float, skinning_scratch_count(&m->surface.base));
    s->base = KIT_CARVE(&block, float, 3 * (size_t)m->surface.point_count);
    s->shares = KIT_CARVE(&block, quad, 3 * n + 3);
    s->scales = KIT_CARVE(&block, float, (size_t)m->joint_count + 1);
    s->repairs = KIT_CARVE(&block, int, n / VOXEL_GRAIN + 1);

    /* contact with props and itself */
    const lattice_contact *contact = &m->contact;
    if (contact->self || contact->with_props) {
        size_t points = (size_t)m->surface.point_count;
        s->wishes = KIT_CARVE(&block, quad, n);
        s->contact.points = KIT_CARVE(&block, float, 3 * points);
        s->contact.start = KIT_CARVE(&block, float, 3 * points);
        s->contact.end = KIT_CARVE(&block, float, 3 * points);
        s->contact.places = KIT_CARVE(&block, float, contact->press ? 3 * points : 0);
        s->contact.planes = KIT_CARVE(&block, contact_plane, contact->with_props ? points : 0);
        char *work = KIT_CARVE(&block, char, contact->self ? contact_work_size(&contact->surface) : 0);
        if (contact->self && work) s->contact.work = contact_work_make(&contact->surface, work);
    }

    if (m->touch.on) lattice_touch_carve(m, &block, s);
    return block.used;
}

size_t lattice_state_size(const void *data)
{
    lattice_state unused;
    return lattice_state_view(data, NULL, &unused);
}

size_t lattice_scratch_size(const void *data)
{
    lattice_scratch unused;
    return lattice_scratch_view(data, NULL, &unused);
}

/* ---- teleport, outputs ---- */

void lattice_teleport(const void *data, void *state, const float transform[12])
{
    const lattice_model *m = data;
    lattice_state s;
    lattice_state_view(m, state, &s);
    vec3 moved = mat34_point(transform, vec3_load(m->origin));
    quad c[3], shift = {(moved.x - m->origin[0]) / m->size, (moved.y - m->origin[1]) / m->size,
                        (moved.z - m->origin[2]) / m->size, 0};
    for (int k = 0; k < 3; k++) c[k] = (quad){transform[k], transform[4 + k], transform[8 + k], 0};
    for (int v = 0; v < m->count; v++) {
        quad p = s.positions[v], u = s.velocities[v], t = s.targets[v];
        s.positions[v] = shift + c[0] * p[0] + c[1] * p[1] + c[2] * p[2];
        s.velocities[v] = c[0] * u[0] + c[1] * u[1] + c[2] * u[2];
        s.targets[v] = shift + c[0] * t[0] + c[1] * t[1] + c[2] * t[2];
        vec3_store(s.voxels + 3 * v, mat34_point(transform, vec3_load(s.voxels + 3 * v)));
        vec3_store(s.scene_targets + 3 * v, mat34_point(transform, vec3_load(s.scene_targets + 3 * v)));
    }
}

bool lattice_output(const void *data, const void *state, int index, cutis_output *output)
{
    const lattice_model *m = data;
    lattice_state s;

    /* Only read through: the state is not changed. */
    lattice_state_view(m, (void *)state, &s);
    const cutis_output outputs[LATTICE_OUTPUT_COUNT] = {
        {CUTIS_DOMAIN_ELEMENT, m->count, 3, s.voxels},
        {CUTIS_DOMAIN_ELEMENT, m->count, 3, s.scene_targets},
        {CUTIS_DOMAIN_ELEMENT, m->count, 1, m->layers},
        {CUTIS_DOMAIN_ELEMENT, m->count, LATTICE_LAYERS, m->shares},
        {CUTIS_DOMAIN_ELEMENT, m->count, 1, m->edges},
        {CUTIS_DOMAIN_VERTEX, m->character->vertex_count, 1, m->softness},
        {CUTIS_DOMAIN_VERTEX, m->character->vertex_count, 1, m->tissue},
    };
    if (index < 0 || index >= LATTICE_OUTPUT_COUNT) return false;
    *output = outputs[index];
    return true;
}
