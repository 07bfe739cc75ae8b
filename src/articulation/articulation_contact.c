/* articulation_contact.c: bones near the skin of other links, skin near props, joints at their limits, and their
 * derivatives. */
#include <string.h>

#include "articulation/articulation.h"

/* Frequency of contact over that of the joints, squared, where the bone lies a scale deep. */
static const double CONTACT_RATIO = 400;
/* Contact with the rim of a link's skin fades between these cosines of its direction against the skin's normal. */
static const double RIM_NONE = 0.3, RIM_ALL = 0.7;

/* A place behind the skin of a link is in its flesh between these winding numbers of the limb. */
static const double INSIDE_NONE = 0.25, INSIDE_ALL = 0.5;

/* A bone that lies between so many scales deep in other flesh is lost: no direction leads out of it any more. */
static const double LOST_NONE = 1, LOST_ALL = 2;

/* Contact with a prop is firm at this depth of the skin, over the size. */
static const float PROP_SCALE = 0.0025f;
/* A joint is at its limit from so far before it, radians. */
static const double LIMIT_SCALE = 0.1;

static double smooth_step(double x, double none, double all)
{
    double t = CLAMP((x - none) / (all - none), 0, 1);
    return t * t * (3 - 2 * t);
}

/* The box of a link's skin in this pose. */
static void skin_box(const articulation *a, const float *skin, int link, vec3 *low, vec3 *high)
{
    const articulation_link *l = &a->links[link];
    *low = vec3_make(INFINITY, INFINITY, INFINITY);
    *high = vec3_make(-INFINITY, -INFINITY, -INFINITY);
    for (int i = l->box_first; i < l->box_first + l->box_count; i++) {
        const articulation_box *box = &a->boxes[i];
        const float *m = skin + 12 * (size_t)box->joint;
        vec3 centre = mat34_point(m, vec3_lerp(box->low, box->high, 0.5f));
        vec3 half = vec3_scale(vec3_sub(box->high, box->low), 0.5f);
        vec3 extent = {fabsf(m[0]) * half.x + fabsf(m[1]) * half.y + fabsf(m[2]) * half.z,
                       fabsf(m[4]) * half.x + fabsf(m[5]) * half.y + fabsf(m[6]) * half.z,
                       fabsf(m[8]) * half.x + fabsf(m[9]) * half.y + fabsf(m[10]) * half.z};
        *low = vec3_min(*low, vec3_sub(centre, extent));
        *high = vec3_max(*high, vec3_add(centre, extent));
    }
}

static bool box_near(vec3 low, vec3 high, vec3 x, float distance)
{
    vec3 d = vec3_sub(x, vec3_max(low, vec3_min(x, high)));
    return vec3_length2(d) < distance * distance;
}

/* The smooth normal of the surface at a hit. */
static vec3 smooth_normal(const articulation *a, const float *positions, const int *corner, const float weights[3])
{
    const mesh *m = a->surface;
    vec3 sum = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        vec3 n = {0, 0, 0};
        for (int i = m->point_triangle_first[corner[k]]; i < m->point_triangle_first[corner[k] + 1]; i++) {
            const int *c = m->triangles + 3 * (size_t)m->point_triangles[i];
            vec3 p = vec3_load(positions + 3 * (size_t)c[0]);
            n = vec3_add(n, vec3_cross(vec3_sub(vec3_load(positions + 3 * (size_t)c[1]), p),
                                       vec3_sub(vec3_load(positions + 3 * (size_t)c[2]), p)));
        }
        sum = vec3_madd(sum, vec3_normalize(n), weights[k]);
    }
    return vec3_scale(vec3_normalize(sum), a->outside);
}

/*
 * Derivatives of a contact's distance by the rotation vectors. The nearest point goes with the skin: to first order
 * it need not slide, because the distance is least there.
 */
static void fill_row(const articulation *a, articulation_scratch *s, vec3 x, int link, vec3 normal, const int *corner,
                     const float weights[3], double *row)
{
    /* what each link carries of the nearest point: weight, and weighted place; a prop's goes with none */
    memset(s->sums, 0, (size_t)a->link_count * sizeof *s->sums);
    for (int k = 0; k < 3 && corner; k++) {
        vec3 rest = vec3_load(a->surface->positions + 3 * (size_t)corner[k]);
        for (int i = a->first[corner[k]]; i < a->first[corner[k] + 1]; i++) {
            int own = a->joint_links[a->joints[i]];
            double w = (double)weights[k] * (double)a->weights[i];
            if (own < 0) continue;
            vec3 p = mat34_point(s->skin + 12 * (size_t)a->joints[i], rest);
            s->sums[own][0] += w * (double)p.x;
            s->sums[own][1] += w * (double)p.y;
            s->sums[own][2] += w * (double)p.z;
            s->sums[own][3] += w;
        }
    }

    /* the sample goes with its link as a whole, against the skin */
    double own[4] = {(double)x.x, (double)x.y, (double)x.z, 1};
    for (int i = 0; i < 4; i++) s->sums[link][i] -= own[i];
    for (int l = a->link_count - 1; l >= 0; l--) {
        const link_frame *f = &s->frames[l];
        int parent = a->links[l].parent;
        for (int i = 0; i < 4 && parent >= 0; i++) s->sums[parent][i] += s->sums[l][i];

        memset(row + 3 * l, 0, 3 * sizeof *row);
        if (!a->links[l].turns) continue;
        double arm[3] = {s->sums[l][3] * (double)f->origin.x - s->sums[l][0],
                         s->sums[l][3] * (double)f->origin.y - s->sums[l][1],
                         s->sums[l][3] * (double)f->origin.z - s->sums[l][2]};
        double n[3] = {(double)normal.x, (double)normal.y, (double)normal.z};
        double turn[3] = {arm[1] * n[2] - arm[2] * n[1], arm[2] * n[0] - arm[0] * n[2], arm[0] * n[1] - arm[1] * n[0]};
        for (int k = 0; k < 3; k++)
            for (int e = 0; e < 3; e++) row[3 * l + k] += (double)f->axes.m[3 * e + k] * turn[e];
    }

    /* the shift moves all flesh alike, and no prop */
    double *shift = row + 3 * a->link_count;
    shift[0] = corner ? 0 : (double)normal.x;
    shift[1] = corner ? 0 : (double)normal.y;
    shift[2] = corner ? 0 : (double)normal.z;
}

/* The nearest skin of the other links, by how much it is nearer than contact allows. */
static bool find_nearest(const articulation *a, articulation_scratch *s, int sample, vec3 x, articulation_contact *c,
                         const int **corner, float weights[3])
{
    const articulation_sample *own = &a->samples[sample];
    const float most = own->radius;
    float best = INFINITY;

    for (int l = 0; l < a->link_count; l++) {
        float gap = a->gaps[(size_t)sample * (size_t)a->link_count + (size_t)l], allowance = most - gap;
        float limit = MIN(a->reach + own->radius, best - allowance);
        if (!(gap > -INFINITY) || !(limit > 0) || !box_near(s->lows[l], s->highs[l], x, limit)) continue;

        bvh tree = a->links[l].tree;
        tree.nodes = s->nodes + a->links[l].first_node;
        if (!s->fresh[l]) {
            memcpy(tree.nodes, a->links[l].tree.nodes, (size_t)tree.node_count * sizeof *tree.nodes);
            bvh_refit(&tree, s->positions, 0);
            s->fresh[l] = true;
        }

        bvh_hit hit = bvh_closest(&tree, s->positions, x, limit);
        if (hit.triangle < 0 || !(hit.distance + allowance < best)) continue;
        best = hit.distance + allowance;
        *corner = tree.triangles + 3 * (size_t)hit.triangle;
        weights[0] = 1 - hit.u - hit.v;
        weights[1] = hit.u;
        weights[2] = hit.v;
        *c = (articulation_contact){.link = l,
                                    .place = hit.point,
                                    .distance = (double)hit.distance,
                                    .gap = (double)gap,
                                    .scale = (double)own->radius};
    }
    return best < INFINITY;
}

double articulation_winding(const articulation *a, const float *positions, int limb, int sample, vec3 x)
{
    double sum = 0;
    for (int l = 0; l < a->link_count; l++) {
        const bvh *tree = &a->links[l].tree;
        if (a->links[l].limb != limb) continue;
        if (sample >= 0 && !(a->gaps[(size_t)sample * (size_t)a->link_count + (size_t)l] > -INFINITY)) continue;
        if (tree->node_count > 0) sum += mesh_winding(tree->triangle_count, tree->triangles, positions, x);
    }
    return (double)a->outside * sum;
}

/* Bones near the skin of other links. */
static int find_skin_contacts(const articulation *a, articulation_scratch *s, const cutis_jobs *jobs)
{
    int count = 0;
    bool skinned = false;
    for (int i = 0; i < a->sample_count; i++) {
        const articulation_sample *own = &a->samples[i];
        vec3 x = mat34_point(s->skin + 12 * (size_t)own->joint, own->rest);

        /* the surface is needed only where boxes are near */
        bool near = false;
        for (int l = 0; l < a->link_count && !near; l++)
            near = a->gaps[(size_t)i * (size_t)a->link_count + (size_t)l] > -INFINITY &&
                   box_near(s->lows[l], s->highs[l], x, own->radius);
        if (!near) continue;
        if (!skinned) skinning_linear(&a->points, s->skin, s->skinning, jobs, s->positions);
        skinned = true;

        articulation_contact *c = &s->contacts[count];
        const int *corner = NULL;
        float weights[3] = {0};
        if (!find_nearest(a, s, i, x, c, &corner, weights)) continue;

        /* inside or outside, by the normal; at the rim of the link's skin there is neither */
        vec3 normal = smooth_normal(a, s->positions, corner, weights), away = vec3_sub(x, c->place);
        double across = (double)vec3_dot(away, normal), firm = 1;
        if (across < 0) c->distance = -c->distance;
        c->normal = normal;
        if (fabs(c->distance) > 1e-3 * c->scale) {
            c->normal = vec3_scale(away, (float)(1 / c->distance));
            firm = smooth_step(fabs(across / c->distance), RIM_NONE, RIM_ALL);
        }
        if (c->distance < 0) firm *= 1 - smooth_step(-c->distance / c->scale, LOST_NONE, LOST_ALL);
        if (c->distance < 0 && firm > 0) {
            double winding = articulation_winding(a, s->positions, a->links[c->link].limb, i, x);
            firm *= smooth_step(winding, INSIDE_NONE, INSIDE_ALL);
        }
        if (!(firm > 0) || c->distance > c->gap + c->scale) continue;

        c->stiffness = CONTACT_RATIO * firm / (own->mobility + a->links[c->link].mobility);
        fill_row(a, s, x, own->link, c->normal, corner, weights, contact_row(a, s, count));
        count++;
    }
    return count;
}

/* How far a unit force along a contact's row moves it, per second^2. */
static double row_mobility(const articulation *a, const double *row)
{
    const double *shift = row + 3 * a->link_count;
    double sum = (shift[0] * shift[0] + shift[1] * shift[1] + shift[2] * shift[2]) / a->mass;
    for (int l = 0; l < a->link_count; l++, row += 3)
        if (a->links[l].turns) sum += (row[0] * row[0] + row[1] * row[1] + row[2] * row[2]) / a->links[l].inertia;
    return sum;
}

static void place_touches(const articulation *a, articulation_scratch *s)
{
    const cutis_character *c = a->character;
    for (int i = 0; i < a->touch_count; i++) {
        int vertex = a->touches[i].vertex;
        vec3 rest = vec3_load(c->positions + 3 * (size_t)vertex), x = {0, 0, 0};
        for (int k = c->influence_first[vertex]; k < c->influence_first[vertex + 1]; k++)
            x = vec3_madd(x, mat34_point(s->skin + 12 * (size_t)c->influence_joints[k], rest), c->influence_weights[k]);
        s->touches[i] = x;
    }
}

/* Touches near a prop, which is on a node of the animated pose. */
static int find_prop_contacts(const articulation *a, articulation_scratch *s, int index, const float *animated,
                              int count)
{
    const contact_prop *prop = &a->props.props[index];
    const contact_prop_place place = contact_prop_locate(&a->props, index, animated);
    const float scale = PROP_SCALE * a->character->size;

    for (int i = 0; i < a->touch_count && count < s->capacity; i++) {
        const articulation_touch *touch = &a->touches[i];
        vec3 x = s->touches[i], normal;
        float distance = contact_prop_near(prop, &place, x, a->reach, &normal);
        if (!(distance + touch->depth < scale)) continue;

        articulation_contact *c = &s->contacts[count];
        double *row = contact_row(a, s, count);
        *c = (articulation_contact){.link = -1,
                                    .place = vec3_madd(x, normal, -distance),
                                    .normal = normal,
                                    .distance = (double)(distance + touch->depth),
                                    .scale = (double)scale};
        fill_row(a, s, x, touch->link, normal, NULL, NULL, row);
        c->stiffness = CONTACT_RATIO / row_mobility(a, row);
        count++;
    }
    return count;
}

/* The angle between the bones above and below a joint, and the axis about which it opens; false where there is none. */
static bool find_bend(const articulation *a, const float *joints, const articulation_limit *limit, vec3 *axis,
                      double *angle)
{
    int joint = a->links[limit->link].joint, parent = a->character->joints[joint].parent;
    vec3 bones[2], places[2] = {limit->above, limit->below};
    const int carriers[2] = {parent, joint};
    for (int i = 0; i < 2; i++) {
        mat34 pose, inverse;
        memcpy(&pose, joints + 12 * (size_t)carriers[i], sizeof pose);
        memcpy(&inverse, a->character->joints[carriers[i]].inverse_bind, sizeof inverse);
        pose = mat34_multiply(pose, inverse);
        bones[i] = vec3_normalize(mat34_vector(pose.m, places[i]));
    }
    *axis = vec3_cross(bones[0], bones[1]);
    double sine = (double)vec3_length(*axis);
    *angle = det_atan2(sine, (double)vec3_dot(bones[0], bones[1]));
    if (!(sine > 1e-3)) return false;
    *axis = vec3_scale(*axis, (float)(1 / sine));
    return true;
}

/* Joints that contact would bend further than anatomy allows; a clip that does so itself is followed. */
static int find_limits(const articulation *a, articulation_scratch *s, const float *animated, int count)
{
    for (int i = 0; i < a->limit_count; i++) {
        const articulation_limit *limit = &a->limits[i];
        vec3 axis;
        double own, given;
        if (!a->links[limit->link].turns || !find_bend(a, animated, limit, &axis, &given)) continue;
        if (!find_bend(a, s->joints, limit, &axis, &own) || own < MAX(limit->largest, given) - LIMIT_SCALE) continue;

        /* the bend grows with a turn about the axis */
        double *row = contact_row(a, s, count);
        const link_frame *f = &s->frames[limit->link];
        memset(row, 0, 3 * (size_t)(a->link_count + 1) * sizeof *row);
        for (int k = 0; k < 3; k++)
            row[3 * limit->link + k] =
                -(double)(f->axes.m[k] * axis.x + f->axes.m[3 + k] * axis.y + f->axes.m[6 + k] * axis.z);
        s->contacts[count++] = (articulation_contact){.link = -1,
                                                      .distance = MAX(limit->largest, given) - own,
                                                      .scale = LIMIT_SCALE,
                                                      .stiffness = CONTACT_RATIO * a->links[limit->link].inertia};
    }
    return count;
}

int articulation_find_contacts(const articulation *a, articulation_scratch *s, const articulation_input *input)
{
    skin_matrices(a->character, s->joints, s->skin);
    for (int l = 0; l < a->link_count; l++) {
        skin_box(a, s->skin, l, &s->lows[l], &s->highs[l]);
        s->fresh[l] = false;
    }

    if (a->props.count > 0 || input->impulse_count > 0) place_touches(a, s);
    int count = find_skin_contacts(a, s, input->jobs);
    count = find_limits(a, s, input->animated, count);
    for (int p = 0; p < a->props.count; p++) count = find_prop_contacts(a, s, p, input->animated, count);
    return count;
}

double contact_potential(double overlap, double *first, double *second)
{
    double d = MAX(overlap, 0), d2 = d * d;
    *first = d2 + 4 * d2 * d2;
    *second = 2 * d + 16 * d * d2;
    return d * d2 / 3 + 0.8 * d * d2 * d2;
}
