/*
 * lattice_contact.c: contact of the skin with itself and with props, by src/contact. The paper has none.
 *
 * At voxel level: after the constraints of a substep the skin is evaluated, and where it would touch, each point's wish
 * to give way goes to the voxels that carry it; a voxel moves by the mean of the wishes, weighted as it carries them.
 * So flesh yields, and the velocities know of it. At surface level, at the end: points are put exactly onto the props
 * they would be inside of, and continuous detection stops the skin from passing through itself.
 */
#include "solvers/lattice/lattice_model.h"

#include <string.h>

cutis_result lattice_contact_build(lattice_contact *contact, const solver_build *build, bool self, bool props,
                                   float thickness, float friction, cutis_error *error)
{
    const cutis_character *character = build->character;
    static const float origin[3] = {0, 0, 0};

    /* what there is to touch */
    int count = build->mesh->point_count;
    contact->self = self;
    contact->with_props = props && character->prop_count > 0;
    contact->thickness = thickness * character->size;
    if (!contact->self && !contact->with_props) return CUTIS_OK;

    /* all points weigh alike */
    float *masses = ARENA_ARRAY(build->memory, float, count);
    if (!masses) return error_memory(error, "the lattice's contact");
    for (int p = 0; p < count; p++) masses[p] = 1;
    contact->inverse_masses = masses;

    /* what to search in */
    cutis_result result = CUTIS_OK;
    if (self) result = contact_surface_build(&contact->surface, build->mesh, build->memory, &build->allocator, error);
    if (result == CUTIS_OK && contact->with_props)
        result = contact_props_build(&contact->props, character, CONTACT_ALL_PROPS, 1, origin, friction, 0,
                                     build->memory, error);
    return result;
}

/* Margin and gap of the skin against itself, in sizes. */
static contact_search_options search_options(const lattice_model *m)
{
    float gap = m->contact.thickness / m->size;
    return (contact_search_options){.margin = gap + 0.1f * m->contact.surface.edge_mean / m->size, .thickness = gap};
}

/* Points of the scene in the space of a reference motion, in sizes; and back. */
static void points_enter(const lattice_model *m, const lattice_frame *reference, const float *from, float *to)
{
    for (int p = 0; p < m->surface.point_count; p++) {
        quad x = {(from[3 * p] - m->origin[0]) / m->size, (from[3 * p + 1] - m->origin[1]) / m->size,
                  (from[3 * p + 2] - m->origin[2]) / m->size, 0};
        x -= reference->b;
        for (int k = 0; k < 3; k++) {
            quad products = x * reference->r[k];
            to[3 * p + k] = products[0] + products[1] + products[2];
        }
    }
}

static void points_leave(const lattice_model *m, const lattice_frame *reference, const float *from, float *to)
{
    for (int p = 0; p < m->surface.point_count; p++) {
        quad x = reference->b + reference->r[0] * from[3 * p] + reference->r[1] * from[3 * p + 1] +
                 reference->r[2] * from[3 * p + 2];
        for (int k = 0; k < 3; k++) to[3 * p + k] = m->origin[k] + m->size * x[k];
    }
}

/* A point's wish to be moved, handed to the voxels that carry it. */
static void wish(const lattice_model *m, int point, vec3 move, quad *wishes)
{
    const lattice_surface *s = &m->surface;
    for (int i = s->first[point]; i < s->first[point + 1]; i++) {
        float w = MAX(s->weights[i], 0.0f);
        wishes[s->voxels[i]] += (quad){move.x * w, move.y * w, move.z * w, w};
    }
}

/* The way out of a prop, and back along it by friction. */
static bool plane_move(const contact_plane *plane, const float *start, const float *end, float h, vec3 *move)
{
    vec3 at = vec3_load(end + 3 * plane->point);
    float depth = plane->offset - vec3_dot(plane->normal, at);
    if (!(depth > 0)) return false;
    vec3 slid = vec3_sub(vec3_sub(at, vec3_load(start + 3 * plane->point)), vec3_scale(plane->velocity, h));
    slid = vec3_madd(slid, plane->normal, -vec3_dot(slid, plane->normal));
    float length = vec3_length(slid), held = plane->friction * depth;
    *move = vec3_scale(plane->normal, depth);
    if (length > 0) *move = vec3_madd(*move, slid, -(held < length ? held / length : 1));
    return true;
}

/* A prop presses a point no further from its place than is painted; beyond that it enters the flesh. */
static void planes_limit(const lattice_model *m, lattice_contact_work *work, int count)
{
    for (int i = 0; i < count && m->contact.press; i++) {
        contact_plane *plane = &work->planes[i];
        vec3 place = vec3_load(work->places + 3 * plane->point);
        float reach = m->contact.press[plane->point] * m->size;
        plane->offset = MIN(plane->offset, vec3_dot(plane->normal, place) + reach);
    }
}

int lattice_contact_wishes(const lattice_model *m, lattice_contact_work *work, const solver_input *input,
                           const lattice_frame *old_reference, const lattice_frame *reference, const float *start,
                           int round, quad *wishes)
{
    const lattice_contact *contact = &m->contact;
    int contacts = 0;
    memset(wishes, 0, (size_t)m->padded * sizeof *wishes);

    /* props push points out */
    if (contact->with_props) {
        int count = contact_props_search(&contact->props, input->joints_old, input->joints, input->h,
                                         m->surface.point_count, start, work->points, contact->thickness,
                                         contact->thickness, work->planes, m->surface.point_count);
        planes_limit(m, work, count);

        /* how far each point has to move */
        for (int i = 0; i < count; i++) {
            vec3 move;
            if (!plane_move(&work->planes[i], start, work->points, (float)input->h, &move)) continue;
            wish(m, work->planes[i].point, move, wishes);
            contacts++;
        }
    }

    /* points of the body push each other apart, in the frame of the whole body */
    if (contact->self) {
        contact_search_options options = search_options(m);
        points_enter(m, reference, work->points, work->end);

        /* One search serves all rounds, and the end of the substep. */
        if (round == 0) {
            points_enter(m, old_reference, start, work->start);
            contact_search(&contact->surface, &work->work, work->start, work->end, &options, input->jobs);
        }

        /* pairs that are too close */
        for (int i = 0; i < work->work.pair_count; i++) {
            const contact_pair *pair = &work->work.pairs[i];
            float lack = pair->gap - contact_pair_value(pair, work->end), sum = 0;
            if (!(lack > 0)) continue;
            for (int k = 0; k < 4; k++) sum += pair->weights[k] * pair->weights[k];

            quad normal =
                reference->r[0] * pair->normal.x + reference->r[1] * pair->normal.y + reference->r[2] * pair->normal.z;
            vec3 out = {normal[0] * m->size, normal[1] * m->size, normal[2] * m->size};
            for (int k = 0; k < 4 && sum > 0; k++)
                wish(m, pair->v[k], vec3_scale(out, lack * pair->weights[k] / sum), wishes);
            contacts++;
        }
    }

    /* The mean, and nothing for bones. */
    for (int v = 0; v < m->padded; v++) {
        float w = wishes[v][3];
        wishes[v] *= quad_set(v >= m->bone_count && w > 1e-6f ? 1 / (w * m->size) : 0);
        wishes[v][3] = 0;
    }
    return contacts;
}

void lattice_contact_finish(const lattice_model *m, lattice_contact_work *work, const solver_input *input,
                            const lattice_frame *reference, const float *start, float *end)
{
    const lattice_contact *contact = &m->contact;

    /* out of props */
    if (contact->with_props) {
        int count =
            contact_props_search(&contact->props, input->joints_old, input->joints, input->h, m->surface.point_count,
                                 start, end, contact->thickness, 0, work->planes, m->surface.point_count);
        planes_limit(m, work, count);
        for (int i = 0; i < count; i++) {
            const contact_plane *plane = &work->planes[i];
            float *p = end + 3 * plane->point, depth = plane->offset - vec3_dot(plane->normal, vec3_load(p));
            if (depth > 0) vec3_store(p, vec3_madd(vec3_load(p), plane->normal, depth));
        }
    }

    /* and apart from each other, without impacts on the way */
    if (contact->self) {
        contact_search_options options = search_options(m);
        points_enter(m, reference, end, work->end);
        contact_resolve(&contact->surface, &work->work, work->start, work->end, contact->inverse_masses, &options, true,
                        input->jobs);
        points_leave(m, reference, work->end, end);
    }
}
