/* articulation_contact.c: where bones come near to the skin of other links, and how links change that distance. */
#include <string.h>

#include "articulation/articulation.h"

/* Frequency of contact over that of the joints, squared, where the bone lies a scale deep. */
static const double CONTACT_RATIO = 100;
/* Contact with the rim of a link's skin fades between these cosines of its direction against the skin's normal. */
static const double RIM_NONE = 0.3, RIM_ALL = 0.7;

/* A place behind the skin of a link is in its flesh between these winding numbers of the limb. */
static const double INSIDE_NONE = 0.25, INSIDE_ALL = 0.5;

/* A bone that lies between so many scales deep in other flesh is lost: no direction leads out of it any more. */
static const double LOST_NONE = 1, LOST_ALL = 2;

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
static void contact_row(const articulation *a, articulation_scratch *s, vec3 x, int link, vec3 normal,
                        const int *corner, const float weights[3], double *row)
{
    /* what each link carries of the nearest point: weight, and weighted place */
    memset(s->sums, 0, (size_t)a->link_count * sizeof *s->sums);
    for (int k = 0; k < 3; k++) {
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
        if (!(a->links[l].inertia > 0)) continue;
        double arm[3] = {s->sums[l][3] * (double)f->origin.x - s->sums[l][0],
                         s->sums[l][3] * (double)f->origin.y - s->sums[l][1],
                         s->sums[l][3] * (double)f->origin.z - s->sums[l][2]};
        double n[3] = {(double)normal.x, (double)normal.y, (double)normal.z};
        double turn[3] = {arm[1] * n[2] - arm[2] * n[1], arm[2] * n[0] - arm[0] * n[2], arm[0] * n[1] - arm[1] * n[0]};
        for (int k = 0; k < 3; k++)
            for (int e = 0; e < 3; e++) row[3 * l + k] += (double)f->axes.m[3 * e + k] * turn[e];
    }
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
        *c = (articulation_contact){.sample = sample, .link = l, .place = hit.point, .distance = (double)hit.distance,
                                    .gap = (double)gap, .scale = (double)own->radius};
    }
    return best < INFINITY;
}

double articulation_winding(const articulation *a, const float *positions, int limb, int sample, vec3 x)
{
    double sum = 0;
    for (int l = 0; l < a->link_count; l++) {
        const bvh *tree = &a->links[l].tree;
        if (a->links[l].limb != limb) continue;
        if (!(a->gaps[(size_t)sample * (size_t)a->link_count + (size_t)l] > -INFINITY)) continue;
        if (tree->node_count > 0) sum += mesh_winding(tree->triangle_count, tree->triangles, positions, x);
    }
    return (double)a->outside * sum;
}

int articulation_find_contacts(const articulation *a, articulation_scratch *s, const cutis_jobs *jobs)
{
    skin_matrices(a->character, s->joints, s->skin);
    for (int l = 0; l < a->link_count; l++) {
        skin_box(a, s->skin, l, &s->lows[l], &s->highs[l]);
        s->fresh[l] = false;
    }

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
        contact_row(a, s, x, own->link, c->normal, corner, weights, s->rows + 3 * (size_t)count * (size_t)a->link_count);
        count++;
    }
    return count;
}

double contact_potential(double overlap, double *first, double *second)
{
    double d = MAX(overlap, 0), d2 = d * d;
    *first = d2 + 4 * d2 * d2;
    *second = 2 * d + 16 * d * d2;
    return d * d2 / 3 + 0.8 * d * d2 * d2;
}
