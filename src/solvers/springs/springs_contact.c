/*
 * springs_contact.c: contacts of skin, props and colliders, and the kinematic response to them.
 *
 * Cordier and Magnenat-Thalmann, section 4.2: contacts are not forces that grow with penetration but corrections of
 * positions, shared so that momentum is conserved, in three places: at once, where a node has gone through
 * (springs_contacts_correct on every iterate); in the balance of forces, where the sum of a contact's corrections is a
 * multiplier whose force cancels what the nodes would push with; and after the integration (springs_contacts_adjust),
 * where continuous detection makes the whole motion of the substep free of impacts. Along the normal the multiplier is
 * a reaction, never negative; across it opposes the motion since the start of the substep, up to Coulomb's bound.
 *
 * Departures: mass of a skin node is its stiffness, since a quasi-static node has no other; multipliers are kept from
 * substep to substep, so that what is held stays held; contacts are swept until they agree, since forces of contacts
 * that share nodes would circle otherwise; the distance kept is a cushion, so that forces stay bounded where folds
 * leave no room.
 */
#include <string.h>

#include "solvers/solver_kit.h"
#include "solvers/springs/springs.h"

/* How far the skin may move in a substep relative to its mean motion: in sizes, and sizes a second. */
static const float REACH_LIMIT = 0.04f, REACH_RATE = 3;
/* Cosine of two normals of one face of a collider. */
static const float SAME_FACE = 0.9f;
/* Newtons beyond which a contact's force is a mishap and is not kept. */
static const float FORCE_LIMIT = 1e6f;
/* The distance of skin from skin gives way by this much of what its nodes would under the same force. */
static const float CUSHION = 0.1f;
/* The same of a bone and a rigid prop: at 0.1 a cube between fingers takes longer to settle, at 1 a blow goes deeper.
 */
static const float CUSHION_BONE = 0.3f;
/* Sweeps over the contacts end when none moves anything by more than this, over the tolerance, or after so many. */
static const float SETTLED = 0.02f;
enum { SWEEPS = 16 };
/* A rigid body is to rest so much better than skin: its errors add up over the substeps, as velocity. */
static const float RIGID_STRICTER = 16;
/* Contacts nearer than this, in thicknesses, may come to bear in the next iterations. */
static const float NEAR = 3;
/* Share of the stiffness of a contact's nodes that its rigid body feels: contacts share nodes, the sum of all counts
 * each of them many times. */
static const float HOLD = 0.02f;
/* The same of a soft prop as a whole: below 1 its steps and the corrections of its surface undo each other; at 2 a cube
 * of 0.2 kg takes twice as many iterations, at 20 some more. */
static const float HOLD_SOFT = 5;
/* Rate at which the mean force on a prop forgets, 1/s: about that of a frame, and the same at every frame rate. */
static const double FORCE_RATE = 60;

static contact_search_options search_options(const springs_run *run)
{
    const springs_model *m = run->m;
    return (contact_search_options){
        .margin = m->thickness + 0.1f * m->surface.edge_mean, .thickness = m->thickness, .released = run->w.rests};
}

/* ---- memory of the last substep ---- */

static unsigned key_hash(const int key[4])
{
    uint32_t h = 2166136261u;
    for (int i = 0; i < 4; i++) {
        h = (h ^ (uint32_t)key[i]) * 16777619u;
        h ^= h >> 15;
    }
    return h;
}

static void table_fill(springs_run *run)
{
    springs_scratch *w = &run->w;
    for (int i = 0; i < w->table_size; i++) w->table[i] = -1;
    unsigned mask = (unsigned)w->table_size - 1;
    for (int i = 0; i < run->s.header[HEADER_MEMORIES]; i++) {
        unsigned at = key_hash(run->s.memories[i].key) & mask;
        while (w->table[at] >= 0) at = (at + 1) & mask;
        w->table[at] = i;
    }
}

static const springs_memory *table_find(const springs_run *run, const int key[4])
{
    const springs_scratch *w = &run->w;
    unsigned mask = (unsigned)w->table_size - 1;
    for (unsigned at = key_hash(key) & mask; w->table[at] >= 0; at = (at + 1) & mask) {
        const springs_memory *memory = run->s.memories + w->table[at];
        if (memcmp(memory->key, key, 4 * sizeof *key) == 0) return memory;
    }
    return NULL;
}

/* ---- making contacts ---- */

/* A rigid side: the weighted points of body `body` at their predicted places. */
static void side_rigid(const springs_run *run, springs_contact *c, int side, int prop, const int *v, const float *w,
                       int count)
{
    vec3 sum = {0, 0, 0};
    float sign = 0;
    for (int i = 0; i < count; i++) {
        sum = vec3_madd(sum, vec3_load(run->s.x + NODE * v[i]), w[i]);
        sign += w[i];
    }
    c->base = vec3_add(c->base, sum);
    c->body[side] = prop;
    c->sign[side] = sign;
    c->arm[side] = vec3_sub(vec3_scale(sum, 1 / sign), vec3_load(run->w.predicted[prop].centre));
}

static void side_add(const springs_run *run, springs_contact *c, int side, const int *v, const float *w, int count)
{
    const springs_model *m = run->m;
    int prop = m->owner[v[0]];
    c->prop[side] = prop;
    if (prop >= 0 && !m->props[prop].soft) {
        side_rigid(run, c, side, prop, v, w, count);
        return;
    }
    for (int i = 0; i < count; i++) {
        c->v[c->count] = v[i];
        c->w[c->count++] = w[i];
    }
}

/* Sizes per newton along a direction, of the bodies that take part. */
static float bodies_mobility(const springs_run *run, const springs_contact *c, vec3 direction)
{
    float sum = 0;
    for (int side = 0; side < 2; side++) {
        if (c->body[side] < 0) continue;
        const springs_motion *motion = run->w.motions + c->body[side];
        vec3 turn = vec3_cross(c->arm[side], direction);
        sum += motion->give + vec3_dot(turn, mat3_vector(motion->give_turn, turn));
    }
    return sum;
}

static void mobility_find(const springs_run *run, springs_contact *c)
{
    vec3 across = vec3_orthogonal(c->normal);
    c->mobility = bodies_mobility(run, c, c->normal);
    c->slip = MAX(bodies_mobility(run, c, across), bodies_mobility(run, c, vec3_cross(c->normal, across)));
}

/* The same of its nodes, as they give way in this iteration. */
static float nodes_mobility(const springs_run *run, const springs_contact *c)
{
    float sum = 0;
    for (int i = 0; i < c->count; i++) sum += c->w[i] * c->w[i] * run->w.give[c->v[i]];
    return sum;
}

static vec3 contact_difference(const springs_run *run, const springs_contact *c, const float *x)
{
    vec3 d = c->base;
    for (int i = 0; i < c->count; i++) d = vec3_madd(d, vec3_load(x + NODE * c->v[i]), c->w[i]);
    for (int side = 0; side < 2; side++) {
        if (c->body[side] < 0) continue;
        const springs_motion *motion = run->w.motions + c->body[side];
        vec3 move = vec3_add(motion->shift, vec3_cross(motion->turn, c->arm[side]));
        d = vec3_madd(d, move, c->sign[side]);
    }
    return d;
}

void springs_contact_shift(const springs_contact *c, const float *give, vec3 impulse, vec3 shifts[4])
{
    for (int i = 0; i < c->count; i++) shifts[i] = vec3_scale(impulse, c->w[i] * give[c->v[i]]);
}

/* Move what takes part by an impulse in newtons, nodes at x (NULL: bodies alone); the force stays in the balance. */
static void contact_apply(springs_run *run, const springs_contact *c, vec3 impulse, float *x)
{
    vec3 shifts[4];
    springs_contact_shift(c, run->w.give, impulse, shifts);
    for (int i = 0; i < c->count; i++) {
        float *push = run->w.push + NODE * c->v[i];
        if (x) vec3_store(x + NODE * c->v[i], vec3_add(vec3_load(x + NODE * c->v[i]), shifts[i]));
        vec3_store(push, vec3_madd(vec3_load(push), impulse, c->w[i]));
    }

    for (int side = 0; side < 2; side++) {
        if (c->body[side] < 0) continue;
        springs_motion *motion = run->w.motions + c->body[side];
        vec3 own = vec3_scale(impulse, c->sign[side]), torque = vec3_cross(c->arm[side], own);
        motion->push = vec3_add(motion->push, own);
        motion->torque = vec3_add(motion->torque, torque);
        motion->shift = vec3_madd(motion->shift, own, motion->give);
        motion->turn = vec3_add(motion->turn, mat3_vector(motion->give_turn, torque));
    }
}

/* Forces of the last substep act from the start: on what takes part they are in the balance, bodies move by them. */
static void contact_recall(springs_run *run, springs_contact *c)
{
    const springs_memory *memory = table_find(run, c->key);
    if (!memory) return;
    vec3 shear = vec3_load(memory->shear);
    c->lambda = memory->lambda;
    shear = vec3_madd(shear, c->normal, -vec3_dot(shear, c->normal));
    float bound = c->friction * MIN(c->lambda, c->most), length = vec3_length(shear);
    c->shear = length > bound ? vec3_scale(shear, bound / length) : shear;
    contact_apply(run, c, vec3_madd(c->shear, c->normal, c->lambda), NULL);
}

/*
 * What friction can hold, of skin on colliders and itself; free props give way. Flesh shears no further than it is
 * deep: where skin would stick farther across from its reference than that, it slips. And only what flesh can press
 * with counts, its anchor's force at the bone. A fold that wedges itself at an edge has forces without bounds, and
 * friction would draw it out to a spike.
 */
static void friction_limit(const springs_run *run, springs_contact *c, vec3 d)
{
    const springs_model *m = run->m;
    c->most = FORCE_LIMIT;
    for (int k = 0; k < 2; k++)
        if (c->prop[k] >= 0 && !m->props[c->prop[k]].fixed) return;

    /* skin that sticks, from its reference */
    vec3 off = vec3_sub(c->start, d);
    float flesh = 0, total = 0, most = 0;
    for (int i = 0; i < c->count; i++) {
        int p = c->v[i];
        if (p >= m->point_count) return;
        vec3 u = vec3_sub(vec3_load(run->s.x + NODE * p), vec3_load(run->s.reference + NODE * p));
        float w = fabsf(c->w[i]);
        off = vec3_madd(off, u, c->w[i]);
        flesh += w * m->flesh[p];
        most += w * 2 * m->anchor[p] * m->flesh[p];
        total += w;
    }
    if (!(total > 0)) return;

    c->most = most;
    off = vec3_madd(off, c->normal, -vec3_dot(off, c->normal));
    float far = vec3_length(off), limit = flesh / total;
    if (far > limit) c->start = vec3_madd(c->start, off, limit / far - 1);
}

/* Finish a contact whose sides are set, and keep it if it may come to bear. */
static void contact_add(springs_run *run, springs_contact *c, float margin)
{
    if (run->contact_count >= run->w.contact_capacity) return;
    vec3 d = contact_difference(run, c, run->s.x);
    friction_limit(run, c, d);
    float value = vec3_dot(c->normal, d) - c->gap;
    bool known = table_find(run, c->key) != NULL;
    if (value > margin && !known) return;
    mobility_find(run, c);
    float mobility = c->mobility + nodes_mobility(run, c);
    if (!(mobility > 0)) return;
    c->cushion = (c->bones > 0 ? CUSHION_BONE : CUSHION) * mobility;
    contact_recall(run, c);
    run->w.contacts[run->contact_count++] = *c;
}

static float pair_friction(const springs_model *m, const contact_pair *pair)
{
    float skin = 0, total = 0, own = -1;
    for (int i = 0; i < 4; i++) {
        int prop = m->owner[pair->v[i]];
        float w = fabsf(pair->weights[i]);
        if (prop < 0) {
            skin += w * m->friction[pair->v[i]];
            total += w;
        } else
            own = MAX(own, m->props[prop].friction);
    }

    if (own >= 0) return own;
    return total > 0 ? skin / total : m->friction_default;
}

/* Mean outward normal of the faces around a feature, at the start of the substep. */
static vec3 feature_normal(const springs_run *run, const int *v, int count)
{
    const mesh *m = &run->m->mesh;
    vec3 sum = {0, 0, 0};

    /* triangles that hold all points of the feature */
    for (int i = m->point_triangle_first[v[0]]; i < m->point_triangle_first[v[0] + 1]; i++) {
        const int *t = m->triangles + 3 * m->point_triangles[i];
        bool holds = true;
        for (int k = 1; k < count; k++) holds = holds && (t[0] == v[k] || t[1] == v[k] || t[2] == v[k]);
        if (!holds) continue;

        vec3 p = vec3_load(run->w.start + 3 * t[0]), q = vec3_load(run->w.start + 3 * t[1]);
        vec3 r = vec3_load(run->w.start + 3 * t[2]);
        sum = vec3_add(sum, vec3_normalize(vec3_cross(vec3_sub(q, p), vec3_sub(r, p))));
    }
    return sum;
}

/*
 * Whether the two sides of a pair have passed through each other already, as when a character is put into a collider:
 * the way from one to the other leads inwards on both. Then they are to part the other way.
 */
static bool pair_inverted(const springs_run *run, const contact_pair *pair, int first)
{
    vec3 own = feature_normal(run, pair->v, first), other = feature_normal(run, pair->v + first, 4 - first);
    return vec3_dot(pair->normal, own) > 0 && vec3_dot(pair->normal, other) < 0;
}

/* Where the bone under a point of the skin has its surface. */
static vec3 bone_place(const springs_run *run, int point)
{
    vec3 normal = springs_point_normal(run->m->skin, run->s.reference, point);
    return vec3_madd(vec3_load(run->s.reference + NODE * point), normal, -run->m->flesh[point]);
}

/* Whether a place was in a rigid body at the start of the substep. */
static bool body_holds(const springs_run *run, int index, vec3 place)
{
    const springs_model *m = run->m;
    const springs_prop *prop = m->props + index;
    const float *r = run->s.bodies[index].rotation;

    /* into the rest pose, where its tree is */
    vec3 off = vec3_sub(place, vec3_load(run->s.bodies[index].centre));
    if (prop->triangle_count == 0 || vec3_length2(off) > prop->radius * prop->radius) return false;
    off = quat_rotate(quat_conjugate((quat){r[0], r[1], r[2], r[3]}), off);
    vec3 shift = vec3_sub(vec3_load(m->mesh.positions + 3 * prop->first), vec3_load(prop->rest));
    return bvh_ray_winding(&prop->tree, m->mesh.positions, vec3_add(off, shift), vec3_make(0.301f, 0.871f, 0.389f),
                           -1) > 0;
}

/*
 * The bone under the skin of a contact with a free rigid prop stops the prop: it goes where the pose has it, so the
 * prop takes the whole reaction, and momentum comes from the skeleton. By what the bone was in the prop at the start of
 * the substep, and by what the pose moves it towards the prop, as between two fingers that close, it may be in it: that
 * the flesh alone pushes away. No friction: that is the skin's.
 */
static void bone_add(springs_run *run, const springs_contact *skin, const contact_pair *pair, int rigid, int first)
{
    const springs_model *m = run->m;
    int begin = rigid == 0 ? first : 0, end = rigid == 0 ? 4 : first;
    springs_contact c = *skin;
    c.bones = c.count;
    c.count = 0;
    c.key[3] = -2 - c.key[3];
    c.friction = 0;

    /* the bone now and at the start, and the prop at the start */
    vec3 start = {0, 0, 0}, was = {0, 0, 0};
    float total = 0;
    for (int i = 0; i < 4; i++) {
        int p = pair->v[i];
        float w = pair->weights[i];
        start = vec3_madd(start, vec3_load(run->w.start + 3 * p), w);
        if (i < begin || i >= end) continue;

        vec3 bone = bone_place(run, p), reference = vec3_load(run->s.reference + NODE * p);
        vec3 way = vec3_sub(vec3_sub(bone, reference), vec3_load(run->s.elongation + NODE * p));
        c.base = vec3_madd(c.base, bone, w);
        start = vec3_madd(start, way, w);
        was = vec3_madd(was, vec3_add(vec3_load(run->w.start + 3 * p), way), w);
        total += w;
    }

    /* what it has passed already, or the pose drives it through; a face that is not between the two stops nothing */
    float value = vec3_dot(c.normal, start);
    float driven = vec3_dot(c.normal, vec3_sub(vec3_sub(c.base, skin->base), was));
    c.start = start;
    c.gap = MIN(value, 0.0f) + MIN(driven, 0.0f);
    if (value < -m->thickness && !body_holds(run, skin->body[rigid], vec3_scale(was, 1 / total))) return;
    contact_add(run, &c, 2 * m->thickness);
}

static void pair_add(springs_run *run, const contact_pair *pair)
{
    const springs_model *m = run->m;

    /* whether these two may touch */
    int first = pair->kind == CONTACT_POINT_TRIANGLE ? 1 : 2;
    int a = m->owner[pair->v[0]], b = m->owner[pair->v[3]];
    if (a == b && (a >= 0 || !m->self_contact)) return;
    bool fixed[2] = {a >= 0 && m->props[a].fixed, b >= 0 && m->props[b].fixed};
    if (fixed[0] && fixed[1]) return;
    if (fixed[1] && first == 1) return; /* a point on a collider's face meets its plane, see colliders_add */

    springs_contact c = {.body = {-1, -1}, .normal = pair->normal, .gap = pair->gap};
    if ((fixed[0] || fixed[1]) && pair_inverted(run, pair, first)) c.normal = vec3_scale(c.normal, -1);
    side_add(run, &c, 0, pair->v, pair->weights, first);
    side_add(run, &c, 1, pair->v + first, pair->weights + first, 4 - first);

    /* where the contact started, and which one it is */
    for (int i = 0; i < 4; i++) {
        c.start = vec3_madd(c.start, vec3_load(run->w.start + 3 * pair->v[i]), pair->weights[i]);
        c.key[i] = pair->v[i];
    }

    if (first == 2) c.key[0] = -2 - c.key[0]; /* edges are not mixed up with points */

    /* friction, and the list */
    c.friction = pair_friction(m, pair);
    for (int side = 0; side < 2; side++)
        if (c.body[side] >= 0 && !fixed[side] && c.prop[1 - side] == -1) bone_add(run, &c, pair, side, first);
    contact_add(run, &c, 2 * m->thickness + 0.1f * m->surface.edge_mean);
}

/*
 * A collider presses skin down to the bone and no further: the clip asks for what cannot be. Where the bone under a
 * point is in the collider, behind the same face, the point lies on that bone; there, skin and collider no longer meet
 * by edges and impacts. What counts is where the bone is, not how deep the point would be: skin at the side of a limb
 * is not to be pushed along it.
 */
static void bone_limit(springs_run *run, springs_contact *c, int point)
{
    const springs_model *m = run->m;
    int collider = -2 - c->prop[1];
    if (point >= m->point_count || collider < 0 || collider >= m->colliders.count) return;

    vec3 bone = bone_place(run, point);
    if (c->gap - vec3_dot(c->normal, bone) <= m->thickness) return;

    /* beside the collider the plane goes on, so bone and reference must lie in it, behind this face */
    float places[6];
    vec3_store(places, bone);
    vec3_store(places + 3, vec3_load(run->s.reference + NODE * point));
    contact_props one = m->colliders;
    contact_plane planes[2];
    one.count = 1;
    one.props += collider;
    const float *joints = run->input->joints;
    if (contact_props_search(&one, joints, joints, (double)run->h, 2, places, places, m->thickness, m->thickness,
                             planes, 2) < 2)
        return;
    for (int i = 0; i < 2; i++)
        if (vec3_dot(planes[i].normal, c->normal) < SAME_FACE) return;

    /* how deep it is */
    float depth = planes[0].offset - m->thickness - vec3_dot(planes[0].normal, bone);
    if (!(depth > 0)) return;

    c->bone = depth;
    c->gap -= depth;
    if (!(run->w.rests[point] > 0)) run->w.rests[point] = -1;
}

/* A point above a plane that moves by `way` in the substep. prop: -2 - collider, or any other negative number. */
static void plane_add(springs_run *run, int point, vec3 normal, float offset, vec3 way, float friction, int prop)
{
    const springs_model *m = run->m;
    int owner = m->owner[point];
    const float one = 1;
    springs_contact c = {.body = {-1, -1}, .normal = normal, .gap = offset, .key = {point, prop, -1, -1}};
    side_add(run, &c, 0, &point, &one, 1);
    c.prop[1] = prop;
    c.start = vec3_add(vec3_load(run->w.start + 3 * point), way);
    float own = owner >= 0 ? m->props[owner].friction : m->friction[point];
    c.friction = friction >= 0 ? friction : own >= 0 ? own : m->friction_default;
    bone_limit(run, &c, point);
    contact_add(run, &c, 2 * m->thickness + 0.1f * m->surface.edge_mean);
}

static void colliders_add(springs_run *run)
{
    const springs_model *m = run->m;
    contact_search_options options = search_options(run);
    for (int i = 0; i < m->colliders.count; i++) {
        contact_props one = m->colliders;
        one.count = 1;
        one.props += i;
        int count = contact_props_search(&one, run->input->joints_old, run->input->joints, (double)run->h,
                                         m->contact_count, run->w.start, run->w.end, options.margin, m->thickness,
                                         run->w.planes, run->w.plane_capacity);

        for (int k = 0; k < count; k++) {
            const contact_plane *plane = run->w.planes + k;
            plane_add(run, plane->point, plane->normal, plane->offset, vec3_scale(plane->velocity, run->h),
                      plane->friction, -2 - i);
        }
    }
}

/* Free props stand where they were put, on a floor as wide as they are. */
static void stands_add(springs_run *run)
{
    const springs_model *m = run->m;
    for (int i = 0; i < m->prop_count && m->stand; i++) {
        const springs_prop *prop = m->props + i;
        if (prop->fixed) continue;
        const float *stand = run->s.reports[prop->index].stand, *centre = run->s.bodies[i].centre;
        float x = centre[0] - stand[0], z = centre[2] - stand[2];
        if (x * x + z * z > prop->radius * prop->radius || centre[1] < stand[1]) continue;
        for (int p = prop->first; p < prop->first + prop->point_count; p++)
            if (run->w.end[3 * p + 1] < stand[1] + 2 * m->thickness || run->w.start[3 * p + 1] < stand[1])
                plane_add(run, p, vec3_make(0, 1, 0), stand[1], vec3_make(0, 0, 0), -1, SPRINGS_NOBODY);
    }
}

static void end_gather(springs_run *run)
{
    for (int p = 0; p < run->m->contact_count; p++) memcpy(run->w.end + 3 * p, run->s.x + NODE * p, 3 * sizeof(float));
    kit_skin_limit(run->w.start, run->m->point_count, REACH_LIMIT + REACH_RATE * run->h, run->w.end);
}

/* Rigid props that something bears on are searched for where they would be without their weight. */
static void end_raise(springs_run *run)
{
    const springs_model *m = run->m;
    float h = run->h;
    vec3 weight = vec3_scale(vec3_scale(springs_fall(run), -h), h);
    for (int i = 0; i < m->prop_count; i++) {
        if (m->props[i].soft || springs_prop_still(run, i) || run->s.bodies[i].touching == 0) continue;
        for (int p = m->props[i].first; p < m->props[i].first + m->props[i].point_count; p++)
            vec3_store(run->w.end + 3 * p, vec3_add(vec3_load(run->w.end + 3 * p), weight));
    }
}

void springs_contacts_find(springs_run *run)
{
    const springs_model *m = run->m;
    contact_search_options options = search_options(run);
    run->contact_count = 0;

    table_fill(run);
    end_gather(run);
    end_raise(run);

    /* planes first: they tell where bones are in colliders */
    for (int p = 0; p < m->contact_count; p++) {
        bool fixed = m->owner[p] >= 0 && m->props[m->owner[p]].fixed;
        run->w.rests[p] = fixed ? 2 : run->s.released[p];
    }

    colliders_add(run);
    stands_add(run);

    if (m->self_contact || m->prop_count > 0) {
        int count = contact_search(&m->surface, &run->w.contact, run->w.start, run->w.end, &options, run->input->jobs);
        for (int i = 0; i < count; i++) pair_add(run, run->w.contact.pairs + i);
    }
}

/* ---- response ---- */

/* Correct one contact on positions x; returns by how much (sizes). */
static float contact_correct(springs_run *run, springs_contact *c, float *x)
{
    vec3 d = contact_difference(run, c, x);
    float value = c->value = vec3_dot(c->normal, d) - c->gap;
    if (value >= 0 && c->lambda <= 0) return 0;

    float mobility = c->nodes + c->mobility;
    if (!(mobility > 0)) return 0;
    float next = MAX(c->lambda - (value + c->cushion * c->lambda) / (mobility + c->cushion), 0.0f);
    float change = next - c->lambda;
    c->lambda = next;

    /* Friction: back to where it was across, by at most the bound. The normal's part does not change across. */
    vec3 slip = vec3_sub(d, c->start);
    slip = vec3_madd(slip, c->normal, -vec3_dot(slip, c->normal));
    vec3 shear = vec3_madd(c->shear, slip, -1 / (c->nodes + c->slip));
    float bound = c->friction * MIN(next, c->most), length = vec3_length(shear);
    if (length > bound) shear = vec3_scale(shear, length > 0 ? bound / length : 0);
    vec3 across = vec3_sub(shear, c->shear);
    c->shear = shear;
    contact_apply(run, c, vec3_madd(across, c->normal, change), x);
    return MAX(fabsf(change) * mobility, vec3_length(across) * (c->nodes + c->slip));
}

/* The step that would balance a body, were nothing else to move: its contacts against its inertia. */
static void body_imbalance(const springs_run *run, int b, vec3 *move, vec3 *turn)
{
    const springs_motion *motion = run->w.motions + b;
    float mass = run->m->props[b].mass / (run->h * run->h);
    *move = vec3_scale(vec3_madd(motion->push, motion->shift, -mass), motion->give);
    *turn = vec3_sub(mat3_vector(motion->give_turn, motion->torque), mat3_vector(motion->back, motion->turn));
}

/* Add what a stiffness k at the end of an arm does against turning. */
static void hold_add(mat3 *holds, float k, vec3 arm)
{
    float a[3], length2 = vec3_length2(arm);
    vec3_store(a, arm);
    for (int j = 0; j < 9; j++) holds->m[j] += k * ((j % 4 == 0 ? length2 : 0) - a[j / 3] * a[j % 3]);
}

/* How rigid bodies give way in this iteration, and their own step towards balance, as nodes have theirs. */
static void bodies_step(springs_run *run)
{
    const springs_model *m = run->m;
    for (int b = 0; b < m->prop_count; b++) {
        if (m->props[b].soft || springs_prop_still(run, b)) continue;

        springs_motion *motion = run->w.motions + b;

        /* contacts that bear hold the body */
        float mass = m->props[b].mass / (run->h * run->h), hold = 0;
        mat3 holds = {{0}};
        for (int i = 0; i < run->contact_count; i++) {
            const springs_contact *c = run->w.contacts + i;
            if (!(c->lambda > 0)) continue;
            float stiff = HOLD / (c->nodes > 0 ? c->nodes : c->cushion);
            for (int side = 0; side < 2; side++) {
                if (c->body[side] != b) continue;
                hold += stiff;
                hold_add(&holds, stiff, c->arm[side]);
            }
        }

        /* With W the inverse inertia and T = holds: (1/W + T)^-1 = W (1 + T W)^-1, and no W is divided by. */
        mat3 w = run->w.inertia[b], product = mat3_multiply(holds, w);
        mat34 sum = {{0}}, inverse;
        for (int j = 0; j < 9; j++) sum.m[j / 3 * 4 + j % 3] = product.m[j] + (j % 4 == 0 ? 1.0f : 0.0f);
        if (!mat34_inverse(sum, &inverse)) continue;
        for (int j = 0; j < 9; j++) product.m[j] = inverse.m[j / 3 * 4 + j % 3];
        motion->give = 1 / (mass + hold);
        motion->give_turn = mat3_multiply(w, product);
        motion->back = mat3_transpose(product);

        vec3 move, turn;
        body_imbalance(run, b, &move, &turn);
        motion->shift = vec3_add(motion->shift, move);
        motion->turn = vec3_add(motion->turn, turn);
    }
}

/* The node of a contact that a prop owns, -1: none. */
static int contact_node(const springs_model *m, const springs_contact *c, int prop)
{
    for (int i = 0; i < c->count; i++)
        if (c->v[i] < m->contact_count && m->owner[c->v[i]] == prop) return c->v[i];
    return -1;
}

/* One soft prop as a whole: its net force and torque against its inertia and what holds it. */
static void whole_step(springs_run *run, int index)
{
    const springs_model *m = run->m;
    const springs_prop *prop = m->props + index;
    const springs_soft *soft = &m->soft;
    int first = prop->first_soft, last = first + prop->point_count + prop->inner_count;

    /* the middle, which any is good for */
    vec3 centre = vec3_load(run->s.bodies[index].centre);

    /* net force and torque, inertia */
    vec3 force = {0, 0, 0}, torque = {0, 0, 0};
    float hold = 0, inertia = 1 / (run->h * run->h);
    mat3 holds = {{0}};
    for (int i = first; i < last; i++) {
        vec3 f = vec3_load(run->w.force + NODE * soft->nodes[i]);
        vec3 arm = vec3_sub(vec3_load(run->s.x + NODE * soft->nodes[i]), centre);
        force = vec3_add(force, f);
        torque = vec3_add(torque, vec3_cross(arm, f));
        hold += soft->mass[i] * inertia;
        hold_add(&holds, soft->mass[i] * inertia, arm);
    }

    int count = run->local ? run->active_count : run->contact_count;
    for (int i = 0; i < count; i++) {
        const springs_contact *c = run->w.contacts + (run->local ? run->w.active[i] : i);
        if (!(c->lambda > 0) || (c->prop[0] != index && c->prop[1] != index)) continue;
        int node = contact_node(m, c, index);
        if (node < 0) continue;
        float k = HOLD_SOFT / nodes_mobility(run, c);
        hold += k;
        hold_add(&holds, k, vec3_sub(vec3_load(run->s.x + NODE * node), centre));
    }

    /* the step that would balance it */
    mat34 sum = {{0}}, inverse;
    for (int j = 0; j < 9; j++) sum.m[j / 3 * 4 + j % 3] = holds.m[j];
    if (!mat34_inverse(sum, &inverse)) return;
    vec3 shift = vec3_scale(force, 1 / hold), turn = mat34_vector(inverse.m, torque);
    for (int i = first; i < last; i++) {
        vec3 arm = vec3_sub(vec3_load(run->s.x + NODE * soft->nodes[i]), centre);
        float *next = run->w.next + NODE * soft->nodes[i];
        vec3_store(next, vec3_add(vec3_load(next), vec3_add(shift, vec3_cross(turn, arm))));
    }
}

void springs_soft_step(springs_run *run)
{
    for (int i = 0; i < run->m->prop_count; i++)
        if (run->m->props[i].soft && !springs_prop_still(run, i)) whole_step(run, i);
}

static void bodies_measure(springs_run *run)
{
    const springs_model *m = run->m;
    run->body_residual = 0;
    for (int b = 0; b < m->prop_count; b++) {
        if (m->props[b].soft || springs_prop_still(run, b)) continue;
        vec3 move, turn;
        body_imbalance(run, b, &move, &turn);
        double net = (double)(vec3_length(move) + m->props[b].radius * vec3_length(turn));
        net *= (double)(RIGID_STRICTER * run->h * run->h / (m->props[b].mass * run->w.motions[b].give));
        run->body_residual = MAX(run->body_residual, net);
    }
}

float springs_contacts_correct(springs_run *run, float *x)
{
    float moved = 0, settled = SETTLED * run->m->contact_tolerance;
    float near = (run->m->bodies ? 1 : NEAR) * run->m->thickness;
    int count = run->local ? run->active_count : run->contact_count, active = 0;

    /* how easily each contact moves */
    for (int i = 0; i < count; i++) {
        springs_contact *c = run->w.contacts + (run->local ? run->w.active[i] : i);
        c->nodes = nodes_mobility(run, c);
    }
    if (run->m->bodies) bodies_step(run);

    /* one sweep over all, which tells those that bear */
    for (int i = 0; i < count; i++) {
        int index = run->local ? run->w.active[i] : i;
        springs_contact *c = run->w.contacts + index;
        if (run->m->bodies) mobility_find(run, c);
        float way = contact_correct(run, c, x);
        moved = MAX(moved, way);
        if (run->local || c->lambda > 0 || c->value < near) run->w.active[active++] = index;
    }
    run->active_count = active;

    /* further sweeps over these, until they settle */
    float largest = moved;
    for (int sweep = 1; sweep < SWEEPS && moved > settled; sweep++) {
        moved = 0;
        for (int i = 0; i < active; i++) {
            float way = contact_correct(run, run->w.contacts + run->w.active[i], x);
            moved = MAX(moved, way);
        }
        largest = MAX(largest, moved);
    }

    if (run->m->bodies) bodies_measure(run);
    return largest;
}

/* Another force of a contact, within its bounds; nothing is moved. */
static void contact_force_set(springs_run *run, springs_contact *c, vec3 force)
{
    float along = vec3_dot(force, c->normal), lambda = MAX(along, 0.0f);

    vec3 shear = vec3_madd(force, c->normal, -along);
    float bound = c->friction * MIN(lambda, c->most), length = vec3_length(shear);
    if (length > bound) shear = vec3_scale(shear, length > 0 ? bound / length : 0);

    vec3 next = vec3_madd(shear, c->normal, lambda);
    vec3 change = vec3_sub(next, vec3_madd(c->shear, c->normal, c->lambda));
    for (int i = 0; i < c->count; i++) {
        float *push = run->w.push + NODE * c->v[i];
        vec3_store(push, vec3_madd(vec3_load(push), change, c->w[i]));
    }

    c->lambda = lambda;
    c->shear = shear;
}

void springs_contacts_extrapolate(springs_run *run, float factor)
{
    int count = run->local ? run->active_count : run->contact_count;
    for (int i = 0; i < count; i++) {
        springs_contact *c = run->w.contacts + (run->local ? run->w.active[i] : i);

        /* what bore in both iterations */
        vec3 now = vec3_madd(c->shear, c->normal, c->lambda), last = c->last;
        c->last = now;
        if (!(c->lambda > 0) || !(vec3_dot(last, c->normal) > 0)) continue;
        contact_force_set(run, c, vec3_madd(last, vec3_sub(now, last), factor));
    }
}

bool springs_contacts_adjust(springs_run *run)
{
    const springs_model *m = run->m;
    contact_search_options options = search_options(run);
    contact_resolve_stats stats = {0};

    /*
     * Of the pairs of the first search only impacts matter now. The narrow margin makes points count as strayed sooner:
     * a patch that was too flat to be searched in may have folded since, by less than the usual margin.
     */
    options.margin = 0.5f * m->thickness;
    end_gather(run);
    for (int pass = 0; pass < 2; pass++) {
        if (m->self_contact || m->prop_count > 0) {
            stats = contact_resolve(&m->surface, &run->w.contact, run->w.start, run->w.end, run->w.give, &options,
                                    pass == 0, run->input->jobs);
        }

        /* What went through a collider meanwhile comes back, and may push others. */
        bool moved = false;
        for (int i = 0; i < run->contact_count; i++) {
            const springs_contact *c = run->w.contacts + i;
            if (c->count != 1 || c->body[0] >= 0 || c->body[1] >= 0) continue;
            float *x = run->w.end + 3 * c->v[0], value = vec3_dot(c->normal, vec3_load(x)) - c->gap;
            if (value >= -0.5f * m->thickness) continue;
            vec3_store(x, vec3_madd(vec3_load(x), c->normal, -value));
            moved = true;
        }
        if (!moved) break;
    }

    for (int p = 0; p < m->point_count + m->soft_points; p++)
        memcpy(run->s.x + NODE * p, run->w.end + 3 * p, 3 * sizeof(float));
    return stats.failed;
}

/* The report of the prop on one side of a contact with the skin; NULL when there is none. */
static springs_report *side_report(springs_run *run, const springs_contact *c, int side)
{
    int prop = c->prop[side];
    if (c->prop[1 - side] != -1 || prop == -1 || prop == SPRINGS_NOBODY) return NULL;
    return run->s.reports + (prop >= 0 ? run->m->props[prop].index : run->m->collider_index[-2 - prop]);
}

/* How far a contact has pushed its skin from the reference, less the depth of flesh: above 0 the bone is in the prop.
 */
static float bone_excess(const springs_run *run, const springs_contact *c)
{
    const springs_model *m = run->m;
    float flesh = 0, total = 0, along = 0;
    for (int i = 0; i < c->count; i++) {
        if (c->v[i] >= m->point_count) continue;
        vec3 way = vec3_sub(vec3_load(run->s.reference + NODE * c->v[i]), vec3_load(run->s.x + NODE * c->v[i]));
        along -= c->w[i] * vec3_dot(c->normal, way);
        flesh += fabsf(c->w[i]) * m->flesh[c->v[i]];
        total += fabsf(c->w[i]);
    }
    return total > 0 ? along - flesh / total : 0;
}

/* Keep the deepest bone in each prop. */
static void bones_report(springs_run *run, const springs_contact *c)
{
    const springs_model *m = run->m;
    for (int side = 0; side < 2; side++) {
        springs_report *report = side_report(run, c, side);
        if (!report) continue;

        float depth = MAX(bone_excess(run, c) - m->thickness, c->bone);
        if (!(depth > report->bone_depth)) continue;

        /* the bone of the point that bears most */
        int best = -1;
        for (int i = 0; i < c->count; i++)
            if (c->v[i] < m->point_count && (best < 0 || fabsf(c->w[i]) > fabsf(c->w[best]))) best = i;
        if (best < 0) continue;

        report->bone_depth = depth;
        report->bone = m->bone[c->v[best]];
    }
}

void springs_contacts_keep(springs_run *run)
{
    const springs_model *m = run->m;
    int kept = 0;

    /* forces are averaged over time, for a report that does not flicker */
    float fresh = 1 - (float)det_exp(-FORCE_RATE * (double)run->h);
    for (int i = 0; i < m->prop_count; i++) run->s.bodies[i].touching = 0;
    for (int i = 0; i < m->character->prop_count; i++) {
        for (int k = 0; k < 3; k++) run->s.reports[i].force[k] *= 1 - fresh;
        run->s.reports[i].bone_depth = 0;
        run->s.reports[i].bone = -1;
    }

    for (int i = 0; i < run->contact_count; i++) {
        const springs_contact *c = run->w.contacts + i;
        if (!(c->lambda > 0)) continue;
        bones_report(run, c);
        vec3 force = vec3_madd(c->shear, c->normal, c->lambda);
        if (!(vec3_length2(force) < FORCE_LIMIT * FORCE_LIMIT)) continue;

        /* skin between a bone and a prop feels what goes through it */
        for (int k = 0; k < c->bones; k++) {
            float *push = run->w.push + NODE * c->v[k];
            vec3_store(push, vec3_madd(vec3_load(push), force, c->w[k]));
        }

        /* remembered for a warm start */
        if (kept < run->w.memory_capacity) {
            springs_memory *memory = run->s.memories + kept++;
            memcpy(memory->key, c->key, sizeof memory->key);
            memory->lambda = c->lambda;
            vec3_store(memory->shear, c->shear);
        }

        for (int side = 0; side < 2; side++) {
            if (c->prop[side] >= 0) run->s.bodies[c->prop[side]].touching = 1;

            /* What the skin does to props. */
            springs_report *report = side_report(run, c, side);
            if (!report) continue;
            vec3 sum = vec3_load(report->force);
            vec3_store(report->force, vec3_madd(sum, force, side ? -fresh : fresh));
        }
    }

    /* What is not in use is zero, so that equal states have equal bytes. */
    if (kept < run->s.header[HEADER_MEMORIES])
        memset(run->s.memories + kept, 0, (size_t)(run->s.header[HEADER_MEMORIES] - kept) * sizeof(springs_memory));
    run->s.header[HEADER_MEMORIES] = kept;
}
