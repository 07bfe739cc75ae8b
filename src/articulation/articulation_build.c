/* articulation_build.c: links, their flesh, and the samples of bones, from a character at rest. */
#include <string.h>

#include "articulation/articulation.h"
#include "character/joint_parts.h"

/* A link carries all joints that reach no further than this from its own, over the size: a hand, a foot, a head. */
static const double LINK_REACH = 0.14;
/* A piece of the mesh is rigid when one joint has at least this weight in all of its points. */
static const float RIGID_WEIGHT = 0.99f;
/* Limbs of less than this share of all flesh do not make what carries them a part of the trunk. */
static const double LIMB_SHARE = 0.005;
/* A limb is at least so many times as long as thick. */
static const float LIMB_SLENDER = 2;
/* Contact begins where the sample is nearer to other skin than this part of its own flesh, */
static const float SQUEEZE = 0.5f;
/* or than so much flesh, over the size, as fingers have, which hardly gives. */
static const float FIRM = 0.01f;
/* A prop presses the last link of a limb so deep at most, over the size. */
static const float LAST_DEPTH = 0.001f;
/* Flesh around a bone counts as at least so thick, over the size. */
static const float THIN = 0.008f;
/* Samples of a bone are this far apart, over the size. */
static const float SAMPLE_SPACING = 0.03f;
/* Skin is around a sample, not beside it, when at rest it is seen from there at less than this cosine. */
static const double OWN_FLESH = 0.5;
/* A limb winds this often around a sample at rest that lies in its flesh; half a turn is a place on its skin. */
static const double AROUND_AT_REST = 0.2;
/* A bone around whose end a limb winds this often lies in it; half a turn is a place on its rim. */
static const double SHEATH_AT_REST = 0.5;
enum { BONE_SAMPLES = 6, LINK_TOUCHES = 48 };
/* A last bone has at least so many, so that one is near its end. */
enum { LEAF_SAMPLES = 4 };
/* Moment of inertia about the middle over mass and mean square distance of the skin: 0.4 for a ball, 1 for a thin rod.
 */
static const double SOLID = 0.6;
/* The largest bend of the elbow and of the knee, degrees from straight: American Academy of Orthopaedic Surgeons, 1965.
 */
static const struct {
    int kind;
    double degrees;
} LIMITS[] = {{JOINT_FOREARM, 150}, {JOINT_LOWER_LEG, 135}};

typedef struct link_build {
    articulation *a;
    const cutis_character *c;
    const mesh *m;
    const int *first, *joints;
    const float *weights;
    int *point_joints; /* (point_count) that moves it most; -1: none */
    vec3 *places;      /* (joint_count) at rest */
    double *reaches;   /* (joint_count) the farthest point of flesh that it or a joint below moves; -1: none */
    bool *things;      /* (joint_count) it and the joints below it move rigid pieces alone: a sword, a shield, a hat */
    double *masses;    /* (link_count) */
    const double *strengths;
    double *radii2; /* (link_count) mean square distance of the skin from its middle */
    arena *memory, *scratch;
} link_build;

/* The joint that moves a point most (-1: none), and its weight. */
static int strongest_joint(const link_build *b, int point, float *most)
{
    int joint = -1;
    *most = 0;
    for (int i = b->first[point]; i < b->first[point + 1]; i++)
        if (b->weights[i] > *most) {
            *most = b->weights[i];
            joint = b->joints[i];
        }
    return joint;
}

static void find_points(link_build *b)
{
    const mesh *m = b->m;
    for (int p = 0; p < m->point_count; p++) {
        /* points of no triangle have no flesh */
        float most;
        b->point_joints[p] = strongest_joint(b, p, &most);
        if (m->point_triangle_first[p] == m->point_triangle_first[p + 1]) b->point_joints[p] = -1;
    }
    for (int j = 0; j < b->c->joint_count; j++) b->places[j] = joint_bind_place(&b->c->joints[j]);
}

/*
 * A joint that moves rigid pieces alone, as all joints below it do, holds a thing. No flesh bends there, so the joint
 * belongs to the link that carries it, and the thing is no flesh of that link: a hand with a sword is as long as a
 * hand.
 */
static bool find_things(link_build *b)
{
    const cutis_character *c = b->c;
    const mesh *m = b->m;
    int *owners = ARENA_ARRAY(b->scratch, int, m->component_count);
    bool *soft = ARENA_ARRAY(b->scratch, bool, c->joint_count);
    if (b->scratch->failed) return false;

    /* the joint of each rigid piece; -1: not seen, -2: soft */
    for (int i = 0; i < m->component_count; i++) owners[i] = -1;
    for (int p = 0; p < m->point_count; p++) {
        float most;
        int joint = strongest_joint(b, p, &most), *owner = &owners[m->point_component[p]];
        if (most < RIGID_WEIGHT || (*owner != -1 && *owner != joint)) *owner = -2;
        if (*owner == -1) *owner = joint;
    }

    /* what moves no soft piece, and some rigid one */
    for (int j = 0; j < c->joint_count; j++) soft[j] = b->things[j] = false;
    for (int p = 0; p < m->point_count; p++) {
        if (b->point_joints[p] < 0) continue;
        bool rigid = owners[m->point_component[p]] != -2;
        b->things[b->point_joints[p]] |= rigid;
        for (int i = b->first[p]; i < b->first[p + 1]; i++) soft[b->joints[i]] |= !rigid && b->weights[i] > 0;
    }
    for (int j = c->joint_count - 1; j >= 0; j--) {
        int parent = c->joints[j].parent;
        if (parent >= 0) soft[parent] |= soft[j];
    }
    for (int j = 0; j < c->joint_count; j++) b->things[j] &= !soft[j] && c->joints[j].parent >= 0;
    return true;
}

static void find_reaches(link_build *b)
{
    const mesh *m = b->m;
    for (int j = 0; j < b->c->joint_count; j++) b->reaches[j] = -1;
    for (int p = 0; p < m->point_count; p++) {
        if (b->point_joints[p] < 0 || b->things[b->point_joints[p]]) continue;
        vec3 x = vec3_load(m->positions + 3 * (size_t)p);
        for (int j = b->point_joints[p]; j >= 0; j = b->c->joints[j].parent)
            b->reaches[j] = MAX(b->reaches[j], (double)vec3_distance(x, b->places[j]));
    }
}

static bool make_links(link_build *b)
{
    articulation *a = b->a;
    const cutis_character *c = b->c;
    a->joint_links = ARENA_ARRAY(b->memory, int, c->joint_count);
    a->links = ARENA_ARRAY(b->memory, articulation_link, c->joint_count);
    if (b->memory->failed) return false;

    /* a joint is a link of its own when it moves flesh and is not part of something small */
    const double small = LINK_REACH * (double)c->size;
    for (int j = 0; j < c->joint_count; j++) {
        int parent = c->joints[j].parent;
        bool inside = parent >= 0 && b->reaches[parent] >= 0 && b->reaches[parent] <= small;
        if (b->reaches[j] < 0 || inside) {
            a->joint_links[j] = parent >= 0 ? a->joint_links[parent] : -1;
            continue;
        }
        a->links[a->link_count] =
            (articulation_link){.joint = j, .parent = parent >= 0 ? a->joint_links[parent] : -1, .place = b->places[j]};
        a->joint_links[j] = a->link_count++;
    }
    return true;
}

/* The trunk: links from which several limbs branch, and those that carry them. */
static void find_trunk(link_build *b, const double *carried, double total)
{
    articulation *a = b->a;
    for (int l = a->link_count - 1; l >= 0; l--) {
        int limbs = 0;
        for (int k = l + 1; k < a->link_count; k++) {
            if (a->links[k].parent != l) continue;
            a->links[l].trunk |= a->links[k].trunk;
            limbs += carried[k] > LIMB_SHARE * total;
        }
        a->links[l].trunk |= limbs > 1;
    }
    for (int l = 0; l < a->link_count; l++) {
        int parent = a->links[l].parent;
        a->links[l].limb = a->links[l].trunk ? -1 : parent < 0 || a->links[parent].trunk ? l : a->links[parent].limb;
    }
}

/* ---- flesh ---- */

/* The link whose flesh a point is; -1: none. */
static int point_link(const link_build *b, int point)
{
    int joint = b->point_joints[point];
    return joint >= 0 && !b->things[joint] ? b->a->joint_links[joint] : -1;
}

static int triangle_link(const link_build *b, int t) { return point_link(b, b->m->triangles[3 * (size_t)t]); }

/* The limb of a point's link; -1: of the trunk, or no flesh. */
static int point_limb(const link_build *b, int point)
{
    int joint = b->point_joints[point], link = joint >= 0 ? b->a->joint_links[joint] : -1;
    return link >= 0 ? b->a->links[link].limb : -1;
}

/* Distance of a point from where its limb begins. */
static float limb_distance(const link_build *b, int limb, int point)
{
    return vec3_distance(vec3_load(b->m->positions + 3 * (size_t)point), b->a->links[limb].place);
}

/*
 * Limbs whose ends skin joins to another limb: the hoof of a leg that hangs on the root, as a control of inverse
 * kinematics, or a wing that ends at a leg. A turn of one of the two would draw out the skin between them, so neither
 * turns. An end is what is nearer to the farthest point of the limb than to its beginning: limbs that skin joins where
 * both begin, as thighs at the crotch, or shoulders and a head without much of a neck, are free. Returns (link_count)
 * by first link.
 */
static const uint8_t *find_tied(const link_build *b)
{
    const articulation *a = b->a;
    const mesh *m = b->m;
    uint8_t *tied = ARENA_ARRAY(b->scratch, uint8_t, a->link_count);
    float *lengths = ARENA_ARRAY(b->scratch, float, a->link_count);
    if (!tied || !lengths) return NULL;
    for (int l = 0; l < a->link_count; l++) lengths[l] = 0;
    for (int p = 0; p < m->point_count; p++) {
        int limb = point_limb(b, p);
        if (limb >= 0) lengths[limb] = MAX(lengths[limb], limb_distance(b, limb, p));
    }

    for (int e = 0; e < m->edge_count; e++) {
        const int *ends = m->edges + 2 * (size_t)e;
        int limbs[2] = {point_limb(b, ends[0]), point_limb(b, ends[1])};
        if (limbs[0] < 0 || limbs[1] < 0 || limbs[0] == limbs[1]) continue;
        bool far = false;
        for (int i = 0; i < 2; i++) far |= limb_distance(b, limbs[i], ends[i]) > 0.5f * lengths[limbs[i]];
        if (!far) continue;
        tied[limbs[0]] = 1;
        tied[limbs[1]] = 1;
    }
    return tied;
}

static bool weigh_links(link_build *b)
{
    articulation *a = b->a;
    const mesh *m = b->m;
    double(*sums)[4] = arena_push(b->scratch, (size_t)a->link_count, sizeof *sums);
    b->masses = ARENA_ARRAY(b->scratch, double, a->link_count);
    b->radii2 = ARENA_ARRAY(b->scratch, double, a->link_count);
    if (b->scratch->failed) return false;

    /* the middle of each link's skin */
    for (int p = 0; p < m->point_count; p++) {
        int link = point_link(b, p);
        if (link < 0) continue;
        for (int k = 0; k < 3; k++) sums[link][k] += (double)m->positions[3 * (size_t)p + (size_t)k];
        sums[link][3]++;
    }
    for (int l = 0; l < a->link_count; l++) {
        double n = sums[l][3];
        a->links[l].middle = n > 0
                                 ? vec3_make((float)(sums[l][0] / n), (float)(sums[l][1] / n), (float)(sums[l][2] / n))
                                 : a->links[l].place;
    }
    for (int p = 0; p < m->point_count; p++) {
        int link = point_link(b, p);
        if (link < 0) continue;
        double d = (double)vec3_distance(vec3_load(m->positions + 3 * (size_t)p), a->links[link].middle);
        b->radii2[link] += d * d / sums[link][3];
    }

    /* mass is volume: cones from the middle to the skin */
    for (int t = 0; t < m->triangle_count; t++) {
        int link = triangle_link(b, t);
        if (link < 0) continue;
        vec3 e[3];
        for (int k = 0; k < 3; k++)
            e[k] = vec3_sub(vec3_load(m->positions + 3 * (size_t)m->triangles[3 * (size_t)t + (size_t)k]),
                            a->links[link].middle);
        b->masses[link] += (double)vec3_dot(e[0], vec3_cross(e[1], e[2])) / 6;
    }

    double total = 0;
    for (int l = 0; l < a->link_count; l++) total += b->masses[l];
    a->outside = total < 0 ? -1 : 1;
    for (int l = 0; l < a->link_count; l++) b->masses[l] = MAX((double)a->outside * b->masses[l], 1e-6 * fabs(total));
    total = 0;
    for (int l = 0; l < a->link_count; l++) total += b->masses[l];

    double *carried = ARENA_ARRAY(b->scratch, double, a->link_count);
    if (!carried) return false;

    /* inertia about the joint of all that a link carries */
    for (int l = 0; l < a->link_count; l++) {
        for (int k = l; k < a->link_count; k++) {
            int up = k;
            while (up > l) up = a->links[up].parent;
            if (up != l) continue;
            double d = (double)vec3_distance(a->links[k].middle, a->links[l].place);
            a->links[l].inertia += b->masses[k] * (d * d + b->radii2[k]);
            carried[l] += b->masses[k];
        }
    }

    for (int l = 0; l < a->link_count; l++) {
        a->links[l].mass = b->masses[l];
        a->links[l].spread = SOLID * b->masses[l] * b->radii2[l];
    }
    a->mass = total;

    /* the trunk stays as it is posed: a turn of it would move all limbs for the sake of one */
    find_trunk(b, carried, total);
    const uint8_t *tied = find_tied(b);
    if (!tied) return false;
    for (int l = 0; l < a->link_count; l++) {
        articulation_link *link = &a->links[l];
        link->strength = b->strengths ? b->strengths[link->joint] : 1;
        link->turns = (!link->trunk && link->parent >= 0 && !tied[link->limb]) || link->strength < 1;
        a->weak |= link->strength < 1;
    }
    a->hold = a->links[0].strength;
    return true;
}

/* The square of how far unit forces at a place move it, per second^2: the sum over the links that carry it. */
static double place_mobility(const articulation *a, int link, vec3 x)
{
    double sum = 0;
    for (int l = link; l >= 0; l = a->links[l].parent) {
        double d = (double)vec3_distance(x, a->links[l].place);
        if (a->links[l].turns) sum += d * d / a->links[l].inertia;
    }
    return sum;
}

/* ---- skin ---- */

static cutis_result build_trees(link_build *b, cutis_error *error)
{
    articulation *a = b->a;
    const mesh *m = b->m;
    int *triangles = ARENA_ARRAY(b->memory, int, 3 * (size_t)m->triangle_count);
    if (!triangles) return error_memory(error, "the articulation");

    int at = 0;
    for (int l = 0; l < a->link_count; l++) {
        int begin = at;
        for (int t = 0; t < m->triangle_count; t++)
            if (triangle_link(b, t) == l)
                memcpy(triangles + 3 * (size_t)at++, m->triangles + 3 * (size_t)t, 3 * sizeof *triangles);
        if (at == begin) continue;

        cutis_result result =
            bvh_build(&a->links[l].tree, at - begin, triangles + 3 * (size_t)begin, m->positions, b->memory, error);
        if (result != CUTIS_OK) return result;
        a->links[l].first_node = a->node_count;
        a->node_count += a->links[l].tree.node_count;
    }
    return CUTIS_OK;
}

/* Skin is a mean of places that joints give it, so it lies in the box of the boxes of each joint's points. */
static bool build_boxes(link_build *b)
{
    articulation *a = b->a;
    const cutis_character *c = b->c;
    int *of_joint = ARENA_ARRAY(b->scratch, int, c->joint_count);
    int capacity = 0;
    if (!of_joint) return false;

    for (int pass = 0; pass < 2; pass++) {
        int count = 0;
        if (pass == 1) a->boxes = ARENA_ARRAY(b->memory, articulation_box, capacity);
        if (b->memory->failed) return false;

        for (int l = 0; l < a->link_count; l++) {
            articulation_link *link = &a->links[l];
            for (int j = 0; j < c->joint_count; j++) of_joint[j] = -1;
            int begin = count;
            for (int i = 0; i < 3 * link->tree.triangle_count; i++) {
                int p = link->tree.triangles[i];
                vec3 x = vec3_load(b->m->positions + 3 * (size_t)p);
                for (int k = b->first[p]; k < b->first[p + 1]; k++) {
                    int *own = &of_joint[b->joints[k]];
                    if (*own < 0) {
                        *own = count++;
                        if (pass == 1) a->boxes[*own] = (articulation_box){b->joints[k], x, x};
                    }
                    if (pass == 0) continue;
                    a->boxes[*own].low = vec3_min(a->boxes[*own].low, x);
                    a->boxes[*own].high = vec3_max(a->boxes[*own].high, x);
                }
            }
            link->box_first = begin;
            link->box_count = count - begin;
        }
        capacity = count;
    }
    return true;
}

/* ---- samples ---- */

/* Distance of a place from the nearest skin at rest, positive outside, up to `most`; INFINITY beyond. */
static float skin_distance(const link_build *b, int link, vec3 x, float most, double *cosine)
{
    const bvh *tree = &b->a->links[link].tree;
    *cosine = 1;
    if (tree->node_count == 0) return INFINITY;
    bvh_hit hit = bvh_closest(tree, b->m->positions, x, most);
    if (hit.triangle < 0) return INFINITY;

    const int *corner = tree->triangles + 3 * (size_t)hit.triangle;
    vec3 p[3];
    for (int k = 0; k < 3; k++) p[k] = vec3_load(b->m->positions + 3 * (size_t)corner[k]);
    vec3 n = vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0]));
    double across = (double)(vec3_dot(vec3_normalize(n), vec3_sub(x, hit.point)) * b->a->outside);
    *cosine = hit.distance > 0 ? across / (double)hit.distance : 1;
    return across < 0 ? -hit.distance : hit.distance;
}

static void add_line(link_build *b, int joint, vec3 from, vec3 to, int least)
{
    articulation *a = b->a;
    float size = b->c->size;
    int count = CLAMP((int)(vec3_distance(from, to) / (SAMPLE_SPACING * size)) + 1, least, BONE_SAMPLES);

    for (int i = 0; i < count; i++) {
        vec3 x = vec3_lerp(from, to, ((float)i + 0.5f) / (float)count);
        float nearest = INFINITY;
        int around = -1;
        for (int l = 0; l < a->link_count; l++) {
            double cosine;
            float d = skin_distance(b, l, x, 0.5f * size, &cosine);
            if (!(fabsf(d) < fabsf(nearest))) continue;
            nearest = d;
            around = l;
        }

        /* a place outside of all flesh is no bone, and one in the flesh of the trunk no limb's */
        if (!(nearest < 0) || a->links[around].trunk) continue;
        int link = a->joint_links[joint];
        a->samples[a->sample_count++] =
            (articulation_sample){link, joint, x, MAX(-nearest, THIN * size), place_mobility(a, link, x)};
    }
}

/* A limb that is hardly longer than thick is a bulge of the trunk: it stays with it. */
static void drop_bulges(articulation *a)
{
    for (int l = 0; l < a->link_count; l++) {
        if (a->links[l].limb != l) continue;
        float length = 0, thick = 0;
        for (int i = 0; i < a->sample_count; i++) {
            const articulation_sample *s = &a->samples[i];
            if (a->links[s->link].limb != l) continue;
            length = MAX(length, vec3_distance(s->rest, a->links[l].place));
            thick = MAX(thick, s->radius);
        }
        if (length >= LIMB_SLENDER * thick) continue;
        for (int k = l; k < a->link_count; k++) {
            if (a->links[k].limb != l) continue;
            a->links[k].limb = -1;
            a->links[k].trunk = true;
            a->links[k].turns = a->links[k].strength < 1;
        }
    }

    int kept = 0;
    for (int i = 0; i < a->sample_count; i++)
        if (!a->links[a->samples[i].link].trunk) a->samples[kept++] = a->samples[i];
    a->sample_count = kept;
}

static bool make_samples(link_build *b)
{
    articulation *a = b->a;
    const cutis_character *c = b->c;
    double(*sums)[4] = arena_push(b->scratch, (size_t)c->joint_count, sizeof *sums);
    a->samples = ARENA_ARRAY(b->memory, articulation_sample, 2 * BONE_SAMPLES * (size_t)c->joint_count);
    if (!sums || !a->samples) return false;

    for (int p = 0; p < b->m->point_count; p++) {
        int j = b->point_joints[p];
        if (j < 0 || b->things[j]) continue;
        for (int k = 0; k < 3; k++) sums[j][k] += (double)b->m->positions[3 * (size_t)p + (size_t)k];
        sums[j][3]++;
    }

    /* towards each child; a last bone as far beyond the middle of its flesh */
    for (int j = 0; j < c->joint_count; j++) {
        double n = sums[j][3];
        if (n == 0 || a->links[a->joint_links[j]].trunk) continue;
        bool leaf = true;
        for (int child = j + 1; child < c->joint_count; child++) {
            if (c->joints[child].parent != j) continue;
            if (b->reaches[child] >= 0) leaf = false;
            add_line(b, j, b->places[j], b->places[child], 2);
        }
        vec3 middle = {(float)(sums[j][0] / n), (float)(sums[j][1] / n), (float)(sums[j][2] / n)};
        if (leaf) add_line(b, j, b->places[j], vec3_madd(middle, vec3_sub(middle, b->places[j]), 0.5f), LEAF_SAMPLES);
    }
    drop_bulges(a);
    return true;
}

/* ---- gaps ---- */

static int link_depth(const articulation *a, int link)
{
    int depth = 0;
    for (int l = link; l >= 0; l = a->links[l].parent) depth++;
    return depth;
}

/* The way along the skeleton from a place on one link to a place on another, and the links passed on it. */
static double way_along(const articulation *a, int one, vec3 from, int other, vec3 to, int *hops)
{
    double way = 0;
    int depth_one = link_depth(a, one), depth_other = link_depth(a, other);
    *hops = 0;
    while (one != other) {
        /* the deeper end goes up to the joint of its link */
        bool up_one = depth_one >= depth_other;
        int *link = up_one ? &one : &other, *depth = up_one ? &depth_one : &depth_other;
        vec3 *x = up_one ? &from : &to;
        if (*link < 0) break;
        way += (double)vec3_distance(*x, a->links[*link].place);
        *x = a->links[*link].place;
        *link = a->links[*link].parent;
        --*depth;
        ++*hops;
    }
    return way + (double)vec3_distance(from, to);
}

/* How near to its bone flesh may be pressed. */
static float contact_gap(const link_build *b, float flesh)
{
    return MAX(SQUEEZE * flesh, MIN(flesh, FIRM * b->c->size));
}

/* The sample of a joint's bones that is farthest from it; -1: none. */
static int last_sample(const link_build *b, int joint)
{
    const articulation *a = b->a;
    int last = -1;
    float most = -1;
    for (int i = 0; i < a->sample_count; i++) {
        float d = vec3_distance(a->samples[i].rest, b->places[joint]);
        if (a->samples[i].joint != joint || d <= most) continue;
        most = d;
        last = i;
    }
    return last;
}

/*
 * A limb whose skin winds around a sample at rest is the flesh that it is in. When that is the last sample of a bone,
 * the limb is around all of it, and what the bone carries comes out of there: a leg in a skirt, which are no contact.
 */
static bool leave_out_sheaths(link_build *b)
{
    articulation *a = b->a;
    const size_t links = (size_t)a->link_count;
    const int joints = a->joint_count;
    int *last = ARENA_ARRAY(b->scratch, int, joints);
    bool *sheathed = ARENA_ARRAY(b->scratch, bool, joints),
         *around = ARENA_ARRAY(b->scratch, bool, a->sample_count + 1);
    if (b->scratch->failed) return false;
    for (int j = 0; j < joints; j++) last[j] = last_sample(b, j);

    for (int first = 0; first < a->link_count; first++) {
        int limb = a->links[first].limb;
        if (limb != first && !(limb == -1 && first == 0)) continue;

        for (int i = 0; i < a->sample_count; i++)
            around[i] = articulation_winding(a, b->m->positions, limb, i, a->samples[i].rest) >= AROUND_AT_REST;
        for (int j = 0; j < joints; j++) {
            int parent = b->c->joints[j].parent;
            sheathed[j] = parent >= 0 && sheathed[parent];
            if (last[j] < 0 || sheathed[j] || a->links[a->samples[last[j]].link].limb == limb) continue;
            vec3 end = a->samples[last[j]].rest;
            sheathed[j] = articulation_winding(a, b->m->positions, limb, -1, end) >= SHEATH_AT_REST;
        }

        for (int i = 0; i < a->sample_count; i++)
            for (int k = 0; k < a->link_count; k++)
                if (a->links[k].limb == limb && (around[i] || sheathed[a->samples[i].joint]))
                    a->gaps[(size_t)i * links + (size_t)k] = -INFINITY;
    }
    return true;
}

/*
 * Where contact of each sample with each link begins. Flesh that touches by bending alone is no contact: that of the
 * same link and its neighbours, and that which is no further along the skeleton than both are thick. What is near at
 * rest may be as near.
 */
static bool find_gaps(link_build *b)
{
    articulation *a = b->a;
    a->gaps = ARENA_ARRAY(b->memory, float, (size_t)a->sample_count *(size_t)a->link_count);
    if (!a->gaps) return false;

    for (int i = 0; i < a->sample_count; i++) {
        const articulation_sample *s = &a->samples[i];
        for (int l = 0; l < a->link_count; l++) {
            float *gap = &a->gaps[(size_t)i * (size_t)a->link_count + (size_t)l];
            *gap = -INFINITY;

            /* neighbours, and pairs that cannot move apart */
            int hops;
            way_along(a, s->link, s->rest, l, a->links[l].middle, &hops);
            if (hops <= 1 || a->links[l].tree.node_count == 0 || !(s->mobility + a->links[l].mobility > 0)) continue;

            bool own = false;
            for (int k = 0; k < a->sample_count && !own; k++) {
                const articulation_sample *o = &a->samples[k];
                if (o->link == l)
                    own = way_along(a, s->link, s->rest, l, o->rest, &hops) < (double)(s->radius + o->radius);
            }
            if (own) continue;

            double cosine;
            float d = skin_distance(b, l, s->rest, 2 * s->radius, &cosine);
            if (cosine < OWN_FLESH) continue;
            *gap = MIN(contact_gap(b, s->radius), 0.9f * d);
        }
    }
    return leave_out_sheaths(b);
}

/* ---- touches and limits ---- */

/* The joint that moves a drawn vertex most; -1: none. */
static int vertex_joint(const cutis_character *c, int vertex)
{
    int best = -1;
    float most = 0;
    for (int i = c->influence_first[vertex]; i < c->influence_first[vertex + 1]; i++)
        if (c->influence_weights[i] > most) {
            most = c->influence_weights[i];
            best = c->influence_joints[i];
        }
    return best;
}

static float segment_distance(vec3 x, vec3 from, vec3 to)
{
    vec3 way = vec3_sub(to, from);
    float length2 = vec3_length2(way), t = length2 > 0 ? vec3_dot(vec3_sub(x, from), way) / length2 : 0;
    return vec3_distance(x, vec3_madd(from, way, CLAMP(t, 0, 1)));
}

/*
 * How deep a prop may press the skin before the bone yields: as deep as other flesh may. The last link of a limb has
 * bones that the skeleton does not show, such as heel and palm, so that the distance from its joints is no depth of
 * flesh.
 */
static float touch_depth(const link_build *b, int link, vec3 x)
{
    const articulation *a = b->a;
    const cutis_character *c = b->c;
    bool last = true;
    for (int l = link + 1; l < a->link_count; l++) last &= a->links[l].parent != link;
    float most = (last ? LAST_DEPTH : FIRM) * c->size;

    float flesh = INFINITY;
    for (int i = 0; i < a->sample_count; i++)
        if (a->samples[i].link == link) flesh = MIN(flesh, vec3_distance(x, a->samples[i].rest));
    for (int j = 0; j < c->joint_count; j++) {
        int parent = c->joints[j].parent;
        if (a->joint_links[j] == link) flesh = MIN(flesh, vec3_distance(x, b->places[j]));
        if (parent >= 0 && a->joint_links[parent] == link)
            flesh = MIN(flesh, segment_distance(x, b->places[parent], b->places[j]));
    }
    return MIN(flesh - contact_gap(b, flesh), most);
}

/* Whether a place comes before another one, in an order that does not depend on how vertices are numbered. */
static bool place_before(vec3 a, vec3 b) { return a.x != b.x ? a.x < b.x : a.y != b.y ? a.y < b.y : a.z < b.z; }

/* Places that are spread over some vertices of a link: each is the farthest from those before it. */
static void spread_touches(link_build *b, int link, int count, const int *vertices, float *distances)
{
    articulation *a = b->a;
    const float *positions = b->c->positions;
    for (int i = 0; i < count; i++)
        distances[i] = vec3_distance(vec3_load(positions + 3 * (size_t)vertices[i]), a->links[link].place);

    for (int n = 0; n < LINK_TOUCHES && count > 0; n++) {
        int farthest = 0;
        for (int i = 1; i < count; i++) {
            vec3 own = vec3_load(positions + 3 * (size_t)vertices[i]);
            vec3 best = vec3_load(positions + 3 * (size_t)vertices[farthest]);
            bool equal = distances[i] == distances[farthest];
            if (distances[i] > distances[farthest] || (equal && place_before(own, best))) farthest = i;
        }
        if (!(distances[farthest] > 0)) break;

        vec3 x = vec3_load(positions + 3 * (size_t)vertices[farthest]);
        a->touches[a->touch_count++] = (articulation_touch){vertices[farthest], link, touch_depth(b, link, x)};
        for (int i = 0; i < count; i++)
            distances[i] = MIN(distances[i], vec3_distance(x, vec3_load(positions + 3 * (size_t)vertices[i])));
    }
}

/* Touches of the drawn skin, whose rigid parts are no flesh but meet props too. */
static bool make_touches(link_build *b)
{
    articulation *a = b->a;
    const cutis_character *c = b->c;
    int *vertices = ARENA_ARRAY(b->scratch, int, c->vertex_count),
        *owners = ARENA_ARRAY(b->scratch, int, c->vertex_count);
    float *distances = ARENA_ARRAY(b->scratch, float, c->vertex_count);
    a->touches = ARENA_ARRAY(b->memory, articulation_touch, (size_t)LINK_TOUCHES * (size_t)a->link_count);
    if (b->scratch->failed || !a->touches) return false;

    for (int v = 0; v < c->vertex_count; v++) {
        int joint = vertex_joint(c, v);
        owners[v] = joint >= 0 ? a->joint_links[joint] : -1;
    }
    for (int l = 0; l < a->link_count; l++) {
        int count = 0;
        for (int v = 0; v < c->vertex_count; v++)
            if (owners[v] == l) vertices[count++] = v;
        spread_touches(b, l, count, vertices, distances);
    }
    return true;
}

/* The first joint below another one that moves flesh; -1: none. */
static int joint_below(const link_build *b, int joint)
{
    for (int j = joint + 1; j < b->c->joint_count; j++)
        if (b->c->joints[j].parent == joint && b->reaches[j] >= 0) return j;
    return -1;
}

/* Limits of joints whose names say what they are. */
static bool make_limits(link_build *b)
{
    articulation *a = b->a;
    const cutis_character *c = b->c;
    const char **names = ARENA_ARRAY(b->scratch, const char *, c->joint_count);
    int *parents = ARENA_ARRAY(b->scratch, int, c->joint_count);
    joint_part *parts = ARENA_ARRAY(b->scratch, joint_part, c->joint_count);
    a->limits = ARENA_ARRAY(b->memory, articulation_limit, a->link_count + 1);
    if (b->scratch->failed || !a->limits) return false;

    for (int j = 0; j < c->joint_count; j++) {
        names[j] = c->joints[j].name;
        parents[j] = c->joints[j].parent;
    }
    joint_parts_find(c->joint_count, names, parents, parts);

    for (int l = 0; l < a->link_count; l++) {
        int joint = a->links[l].joint, parent = parents[joint], child = joint_below(b, joint);
        if (parent < 0 || child < 0 || parts[joint].index > 0) continue;
        for (size_t i = 0; i < sizeof LIMITS / sizeof *LIMITS; i++) {
            if (parts[joint].kind != LIMITS[i].kind || parts[joint].side == JOINT_SIDE_NONE) continue;
            a->limits[a->limit_count++] = (articulation_limit){
                .link = l,
                .above = vec3_sub(b->places[joint], b->places[parent]),
                .below = vec3_sub(b->places[child], b->places[joint]),
                .largest = LIMITS[i].degrees * 0.017453292519943295,
            };
        }
    }
    return true;
}

/* Joints that carry flesh go with the shift. */
static bool find_shifted(link_build *b)
{
    articulation *a = b->a;
    a->shifts = ARENA_ARRAY(b->memory, bool, b->c->joint_count);
    for (int j = 0; a->shifts && j < b->c->joint_count; j++)
        a->shifts[j] = a->joint_links[j] >= 0 || b->reaches[j] >= 0;
    return a->shifts;
}

cutis_result articulation_build(articulation *a, const articulation_def *def, arena *memory, cutis_error *error)
{
    const cutis_character *c = def->character;
    const mesh *surface = def->surface;
    *a = (articulation){.character = c,
                        .surface = surface,
                        .first = def->first,
                        .joints = def->joints,
                        .weights = def->weights,
                        .joint_count = c->joint_count};
    if (!c->influence_first || c->joint_count < 3 || surface->triangle_count == 0) return CUTIS_OK;

    arena scratch = arena_create(&memory->allocator);
    link_build b = {.a = a,
                    .c = c,
                    .m = surface,
                    .first = def->first,
                    .joints = def->joints,
                    .weights = def->weights,
                    .strengths = def->strengths,
                    .memory = memory,
                    .scratch = &scratch};
    b.point_joints = ARENA_ARRAY(&scratch, int, surface->point_count);
    b.places = ARENA_ARRAY(&scratch, vec3, c->joint_count);
    b.reaches = ARENA_ARRAY(&scratch, double, c->joint_count);
    b.things = ARENA_ARRAY(&scratch, bool, c->joint_count);
    bool ok = !scratch.failed;

    /* links and their flesh */
    if (ok) find_points(&b);
    ok = ok && find_things(&b);
    if (ok) find_reaches(&b);
    ok = ok && make_links(&b) && (a->link_count == 0 || weigh_links(&b));
    cutis_result result = ok ? build_trees(&b, error) : error_memory(error, "the articulation");

    /* bones */
    if (result == CUTIS_OK && a->link_count > 0 && !(build_boxes(&b) && make_samples(&b)))
        result = error_memory(error, "the articulation");
    for (int l = 0; l < a->link_count && result == CUTIS_OK; l++)
        a->links[l].mobility = place_mobility(a, l, a->links[l].middle);
    if (result == CUTIS_OK && a->link_count > 0 &&
        !(find_gaps(&b) && make_touches(&b) && make_limits(&b) && find_shifted(&b)))
        result = error_memory(error, "the articulation");
    if (result == CUTIS_OK)
        result = skinning_build(&a->points, surface->point_count, surface->positions, def->first, def->joints,
                                def->weights, c->joint_count, memory, error);

    /* props are met in the scene's own units */
    const float origin[3] = {0, 0, 0};
    if (result == CUTIS_OK && a->link_count > 0 && def->meets_props)
        result = contact_props_build(&a->props, c, CONTACT_ALL_PROPS, 1, origin, 0, 0, memory, error);
    a->reach = 0.05f * c->size;
    if (a->sample_count == 0 && a->props.count == 0 && !a->weak) a->link_count = 0;

    arena_destroy(&scratch);
    return result;
}
