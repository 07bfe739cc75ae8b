/*
 * articulation.c: the motion of the corrections.
 *
 * Each substep is one step of backward Euler: the minimum over the rotations Delta of a substep of
 *
 *     sum over links  I / 2h^2 |Delta - h spin|^2 + I D w / h |Delta|^2 + I w^2 (1/2 |theta|^2 + 1/4 |theta|^4 / t^2)
 *     + sum over contacts  w^2 k s^2 psi((gap - distance) / s)
 *
 * with theta = turn + Delta, D the damping over the critical one, and distances linear in Delta. Links that no contact moves have
 * an equation each; the others are solved together.
 */
#include "articulation/articulation.h"

#include <string.h>

/* Frequency of the joints' springs, radians/s. */
static const double RATE = 15;
/* Their damping over the critical one: no impact throws a limb further than it is pushed. */
static const double DAMPING = 2;
/* Turn at which the joints' springs become twice as stiff, radians: the effort is spread over more joints. */
static const double STIFFENING_TURN = 0.35;
/* Turns below this are none, radians: a hair's breadth at the end of an arm is ten thousand times as much. */
static const double TURN_NONE = 1e-7;
enum { NEWTON_LIMIT = 6, SETTLE_STEPS = 200 };
static const double SETTLE_INTERVAL = 0.02;

/* ---- rotations ---- */

typedef struct turn_quat {
    double x, y, z, w;
} turn_quat;

static turn_quat turn_exp(const double v[3])
{
    double angle = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    double part = angle > 1e-9 ? det_sin(0.5 * angle) / angle : 0.5;
    return (turn_quat){v[0] * part, v[1] * part, v[2] * part, det_cos(0.5 * angle)};
}

void turns_join(const double a[3], const double b[3], double joined[3])
{
    turn_quat p = turn_exp(a), q = turn_exp(b);
    double x = p.w * q.x + p.x * q.w + p.y * q.z - p.z * q.y, y = p.w * q.y - p.x * q.z + p.y * q.w + p.z * q.x;
    double z = p.w * q.z + p.x * q.y - p.y * q.x + p.z * q.w, w = p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z;
    double length = sqrt(x * x + y * y + z * z), sign = w < 0 ? -1 : 1;
    double part = sign * (length > 1e-9 ? 2 * det_atan2(length, fabs(w)) / length : 2);
    joined[0] = part * x;
    joined[1] = part * y;
    joined[2] = part * z;
}

static mat3 turn_matrix(const double v[3])
{
    turn_quat q = turn_exp(v);
    return quat_matrix((quat){(float)q.x, (float)q.y, (float)q.z, (float)q.w});
}

static bool turn_is_none(const double v[3]) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

static mat3 rotation_of(const float *m)
{
    mat34 whole;
    vec3 translation, scale;
    quat rotation;
    memcpy(&whole, m, sizeof whole);
    mat34_decompose(whole, &translation, &rotation, &scale);
    return quat_matrix(rotation);
}

/* ---- memory ---- */

static void *take(char *block, size_t *end, size_t bytes)
{
    size_t at = (*end + 63) & ~(size_t)63;
    *end = at + bytes;
    return block ? block + at : NULL;
}

articulation_scratch articulation_scratch_lay_out(const articulation *a, void *block, size_t *bytes)
{
    size_t links = (size_t)a->link_count, pose = 12 * (size_t)a->joint_count * sizeof(float), end = 0;
    size_t samples = (size_t)a->sample_count;
    articulation_scratch s;
    s.frames = take(block, &end, links * sizeof *s.frames);
    s.joints = take(block, &end, pose);
    s.skin = take(block, &end, pose);
    s.positions = take(block, &end, 3 * (size_t)a->points.count * sizeof *s.positions);
    s.skinning = take(block, &end, skinning_scratch_count(&a->points) * sizeof *s.skinning);
    s.nodes = take(block, &end, (size_t)a->node_count * sizeof *s.nodes);
    s.lows = take(block, &end, links * sizeof *s.lows);
    s.highs = take(block, &end, links * sizeof *s.highs);
    s.fresh = take(block, &end, links * sizeof *s.fresh);
    s.contacts = take(block, &end, (samples + 1) * sizeof *s.contacts);
    s.rows = take(block, &end, (samples + 1) * 3 * links * sizeof *s.rows);
    s.step = take(block, &end, 3 * links * sizeof *s.step);
    s.gradient = take(block, &end, 3 * links * sizeof *s.gradient);
    s.matrix = take(block, &end, 9 * links * links * sizeof *s.matrix);
    s.active = take(block, &end, links * sizeof *s.active);
    s.sums = take(block, &end, links * sizeof *s.sums);
    *bytes = end;
    return s;
}

size_t articulation_state_bytes(const articulation *a) { return (size_t)a->link_count * sizeof(link_state); }

size_t articulation_scratch_bytes(const articulation *a)
{
    size_t bytes = 0;
    if (a->link_count > 0) articulation_scratch_lay_out(a, NULL, &bytes);
    return bytes;
}

/* ---- poses ---- */

void articulation_place(const articulation *a, const double *turns, size_t stride, const float *animated,
                        link_frame *frames, float *joints)
{
    for (int l = 0; l < a->link_count; l++) {
        const articulation_link *link = &a->links[l];
        const double *turn = turns + stride * (size_t)l;
        const float *own = animated + 12 * (size_t)link->joint;
        link_frame *f = &frames[l];
        mat34 parent = link->parent >= 0 ? frames[link->parent].move : mat34_identity();
        vec3 place = {own[3], own[7], own[11]};
        f->move = parent;
        f->origin = mat34_point(parent.m, place);
        f->axes = mat3_identity();
        int carrier = a->character->joints[link->joint].parent;
        if (carrier < 0) continue;

        /* rest axes as the parent turns them */
        mat34 skin, inverse;
        memcpy(&skin, animated + 12 * (size_t)carrier, sizeof skin);
        memcpy(&inverse, a->character->joints[carrier].inverse_bind, sizeof inverse);
        skin = mat34_multiply(skin, inverse);
        mat3 turned = rotation_of(skin.m), moved = {{parent.m[0], parent.m[1], parent.m[2], parent.m[4], parent.m[5],
                                                     parent.m[6], parent.m[8], parent.m[9], parent.m[10]}};
        f->axes = mat3_multiply(moved, turned);
        if (turn_is_none(turn)) continue;

        /* about the joint, then with the parent */
        mat3 r = mat3_multiply(f->axes, mat3_multiply(turn_matrix(turn), mat3_transpose(turned)));
        vec3 t = vec3_sub(f->origin, mat3_vector(r, place));
        f->move = (mat34){{r.m[0], r.m[1], r.m[2], t.x, r.m[3], r.m[4], r.m[5], t.y, r.m[6], r.m[7], r.m[8], t.z}};
    }
    if (!joints) return;

    const mat34 none = mat34_identity();
    for (int j = 0; j < a->joint_count; j++) {
        int link = a->joint_links[j];
        mat34 own;
        memcpy(&own, animated + 12 * (size_t)j, sizeof own);
        if (link >= 0 && memcmp(&frames[link].move, &none, sizeof none) != 0)
            own = mat34_multiply(frames[link].move, own);
        memcpy(joints + 12 * (size_t)j, &own, sizeof own);
    }
}

void articulation_pose(const articulation *a, const link_state *state, void *scratch, const float *animated,
                       double part, float *joints)
{
    size_t bytes;
    articulation_scratch s = articulation_scratch_lay_out(a, scratch, &bytes);
    for (int l = 0; l < a->link_count; l++)
        for (int k = 0; k < 3; k++)
            s.step[3 * l + k] =
                part >= 1 ? state[l].turn[k] : state[l].turn_old[k] + part * (state[l].turn[k] - state[l].turn_old[k]);
    articulation_place(a, s.step, 3, animated, s.frames, joints);
}

/* ---- a substep ---- */

/* What the springs of a joint give: gradient and curvature by its turn, over inertia and rate^2. */
static double spring(const double turn[3], double gradient[3])
{
    double t2 = (turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]) / (STIFFENING_TURN * STIFFENING_TURN);
    for (int k = 0; k < 3; k++) gradient[k] = turn[k] * (1 + t2);
    return 1 + 3 * t2;
}

/* Links that some contact turns. */
static int find_active(const articulation *a, const articulation_scratch *s, int contact_count)
{
    int count = 0;
    for (int l = 0; l < a->link_count; l++) {
        bool moved = false;
        for (int c = 0; c < contact_count && !moved; c++)
            moved = !turn_is_none(s->rows + 3 * ((size_t)c * (size_t)a->link_count + (size_t)l));
        if (moved) s->active[count++] = l;
    }
    return count;
}

/* Gradient and curvature of a link without contact, by its Delta. Returns the curvature. */
static double link_gradient(const articulation_link *link, const link_state *state, const double *step, double h,
                            double *gradient)
{
    double theta[3], pull[3];
    for (int k = 0; k < 3; k++) theta[k] = state->turn[k] + step[k];
    double stiff = spring(theta, pull), rate = RATE, damping = 2 * DAMPING * RATE / h;
    for (int k = 0; k < 3; k++)
        gradient[k] = link->inertia * ((step[k] - h * state->spin[k]) / (h * h) + damping * step[k] +
                                       rate * rate * pull[k]);
    return link->inertia * (1 / (h * h) + damping + rate * rate * stiff);
}

/* Minimise over the Deltas of the active links. Returns the number of contacts that push. */
static int solve_active(const articulation *a, const link_state *state, articulation_scratch *s, int contact_count,
                        int active_count, double h)
{
    int n = 3 * active_count, pushing = 0;
    for (int iteration = 0; iteration < NEWTON_LIMIT; iteration++) {
        memset(s->matrix, 0, (size_t)n * (size_t)n * sizeof *s->matrix);

        /* joints */
        for (int i = 0; i < active_count; i++) {
            int l = s->active[i];
            double stiff = link_gradient(&a->links[l], &state[l], s->step + 3 * l, h, s->gradient + 3 * i);
            for (int k = 0; k < 3; k++) s->matrix[(3 * i + k) * n + 3 * i + k] = stiff;
        }

        /* contacts */
        pushing = 0;
        for (int c = 0; c < contact_count; c++) {
            const articulation_contact *contact = &s->contacts[c];
            const double *row = s->rows + 3 * (size_t)c * (size_t)a->link_count;
            double distance = contact->distance, first, second;
            for (int i = 0; i < active_count; i++)
                for (int k = 0; k < 3; k++) distance += row[3 * s->active[i] + k] * s->step[3 * s->active[i] + k];
            if (distance >= contact->gap) continue;
            contact_potential((contact->gap - distance) / contact->scale, &first, &second);
            double rate2 = RATE * RATE * contact->stiffness;
            pushing++;

            for (int i = 0; i < n; i++) {
                double own = row[3 * s->active[i / 3] + i % 3];
                if (own == 0) continue;
                s->gradient[i] -= rate2 * contact->scale * first * own;
                for (int k = 0; k <= i; k++)
                    s->matrix[i * n + k] += rate2 * second * own * row[3 * s->active[k / 3] + k % 3];
            }
        }

        /* Newton's step */
        if (!cholesky_solve(s->matrix, s->gradient, n)) break;
        double largest = 0;
        for (int i = 0; i < n; i++) {
            s->step[3 * s->active[i / 3] + i % 3] -= s->gradient[i];
            largest = MAX(largest, fabs(s->gradient[i]));
        }
        if (largest < 1e-3 * TURN_NONE) break;
    }
    return pushing;
}

/* A link that nothing touches returns on its own. */
static void solve_free(const articulation_link *link, const link_state *state, double h, double *step)
{
    for (int iteration = 0; iteration < NEWTON_LIMIT; iteration++) {
        double gradient[3], stiff = link_gradient(link, state, step, h, gradient);
        for (int k = 0; k < 3; k++) step[k] -= gradient[k] / stiff;
    }
}

static double largest_of(const double v[3]) { return MAX(fabs(v[0]), MAX(fabs(v[1]), fabs(v[2]))); }

bool articulation_is_idle(const articulation *a, const link_state *state)
{
    for (int l = 0; l < a->link_count; l++)
        if (!turn_is_none(state[l].turn) || !turn_is_none(state[l].spin)) return false;
    return true;
}

articulation_step_info articulation_step(const articulation *a, link_state *state, void *scratch,
                                         const float *animated, double h, bool still, const cutis_jobs *jobs,
                                         float *joints)
{
    size_t bytes, stride = sizeof *state / sizeof(double);
    articulation_scratch s = articulation_scratch_lay_out(a, scratch, &bytes);
    articulation_step_info info = {.link = -1};

    /* the last correction in the new pose, and what touches there */
    for (int l = 0; l < a->link_count; l++) memcpy(state[l].turn_old, state[l].turn, sizeof state[l].turn);
    articulation_place(a, state->turn, stride, animated, s.frames, s.joints);
    int contact_count = articulation_find_contacts(a, &s, jobs);
    bool near = false;
    for (int c = 0; c < contact_count; c++) near |= s.contacts[c].distance < s.contacts[c].gap;
    if (!near && articulation_is_idle(a, state)) {
        memcpy(joints, animated, 12 * (size_t)a->joint_count * sizeof *joints);
        return info;
    }

    /* turns of this substep */
    for (int l = 0; l < a->link_count; l++)
        for (int k = 0; k < 3; k++) s.step[3 * l + k] = h * state[l].spin[k];
    int active_count = find_active(a, &s, contact_count);
    info.contacts = solve_active(a, state, &s, contact_count, active_count, h);
    for (int l = 0, next = 0; l < a->link_count; l++) {
        bool active = next < active_count && s.active[next] == l;
        next += active;
        if (!active && a->links[l].inertia > 0) solve_free(&a->links[l], &state[l], h, s.step + 3 * l);
    }

    /* at rest nothing moves by rounding alone */
    double largest = 0;
    for (int l = 0; l < a->link_count; l++) largest = MAX(largest, largest_of(s.step + 3 * l));
    bool rests = still && largest < TURN_NONE;

    for (int l = 0; l < a->link_count; l++) {
        link_state *own = &state[l];
        if (!(a->links[l].inertia > 0)) continue;
        if (rests) {
            memset(own->spin, 0, sizeof own->spin);
        } else if (!turn_is_none(s.step + 3 * l)) {
            double old[3];
            memcpy(old, own->turn, sizeof old);
            turns_join(s.step + 3 * l, old, own->turn);
            for (int k = 0; k < 3; k++) own->spin[k] = s.step[3 * l + k] / h;
        }

        /* what is left of a return */
        bool gone = info.contacts == 0 && largest_of(own->turn) < TURN_NONE && largest_of(s.step + 3 * l) < TURN_NONE;
        if (gone) {
            memset(own->turn, 0, sizeof own->turn);
            memset(own->spin, 0, sizeof own->spin);
        }
        double turn = sqrt(own->turn[0] * own->turn[0] + own->turn[1] * own->turn[1] + own->turn[2] * own->turn[2]);
        if (turn > info.turn) {
            info.turn = turn;
            info.link = l;
        }
    }

    articulation_place(a, state->turn, stride, animated, s.frames, joints);
    return info;
}

void articulation_settle(const articulation *a, link_state *state, void *scratch, const float *animated,
                         const cutis_jobs *jobs, float *joints)
{
    for (int i = 0; i < SETTLE_STEPS; i++) {
        articulation_step_info info = articulation_step(a, state, scratch, animated, SETTLE_INTERVAL, i > 0, jobs, joints);
        bool moves = false;
        for (int l = 0; l < a->link_count; l++) moves |= !turn_is_none(state[l].spin);
        if (info.contacts == 0 && !moves) break;
        if (!moves) break;
    }
    for (int l = 0; l < a->link_count; l++) {
        memset(state[l].spin, 0, sizeof state[l].spin);
        memcpy(state[l].turn_old, state[l].turn, sizeof state[l].turn);
    }
}
