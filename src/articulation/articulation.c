/*
 * articulation.c: the motion of the corrections.
 *
 * Each substep is one step of backward Euler: the minimum over the rotations Delta and the shift t of a substep of
 *
 *     sum over links     m / 2h^2 |way(Delta, t) - way~|^2 + J / 2h^2 |turn(Delta) - turn~|^2          inertia
 *                        + s I (D w / h |Delta|^2 + w^2 (1/2 |theta|^2 + 1/4 |theta|^4 / t^2))         joint springs
 *     + q s M (D w / h |t|^2 + w^2 / 2 |T|^2)                                                        the shift's spring
 *     + sum over contacts  w^2 k s^2 psi((gap - distance) / s)
 *
 * with theta = turn + Delta, T the shift, q its share, D the damping over the critical one, way and turn of a link's
 * flesh, and distances linear in Delta and t. way~ and turn~ are where inertia takes the flesh: with the animated
 * motion for a joint of strength s = 1, whose muscles are those that make the clip, and freely in the scene, under
 * gravity, for one of strength 0. The forces of inertia on a joint are the mean of both by its strength.
 */
#include "articulation/articulation.h"

#include <string.h>

/* Frequency of the joints' springs, radians/s. */
static const double RATE = 15;
/* Their damping (D) over the critical one: no impact throws a limb further than it is pushed. */
static const double DAMPING = 2;
/* Turn at which the joints' springs become twice as stiff, radians: the effort is spread over more joints. */
static const double STIFFENING_TURN = 0.12;
/* Turns below this are none, radians: a hair's breadth at the end of an arm is ten thousand times as much. */
static const double TURN_NONE = 1e-7;
/* Stiffness of the shift's spring over that of joints: a shift keeps the pose, so it is cheaper than turns. */
static const double SHIFT_SHARE = 0.25;
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

static mat3 rotation_part(const mat34 *m)
{
    return (mat3){{m->m[0], m->m[1], m->m[2], m->m[4], m->m[5], m->m[6], m->m[8], m->m[9], m->m[10]}};
}

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
    size_t contacts = (size_t)(a->sample_count + a->touch_count + a->limit_count), unknowns = 3 * (links + 1);
    articulation_scratch s;
    s.frames = take(block, &end, links * sizeof *s.frames);
    s.joints = take(block, &end, pose);
    s.skin = take(block, &end, pose);
    s.positions = take(block, &end, 3 * (size_t)a->points.count * sizeof *s.positions);
    s.touches = take(block, &end, (size_t)a->touch_count * sizeof *s.touches);
    s.skinning = take(block, &end, skinning_scratch_count(&a->points) * sizeof *s.skinning);
    s.nodes = take(block, &end, (size_t)a->node_count * sizeof *s.nodes);
    s.lows = take(block, &end, links * sizeof *s.lows);
    s.highs = take(block, &end, links * sizeof *s.highs);
    s.fresh = take(block, &end, links * sizeof *s.fresh);
    s.capacity = (int)contacts;
    s.contacts = take(block, &end, (contacts + 1) * sizeof *s.contacts);
    s.rows = take(block, &end, (contacts + 1) * unknowns * sizeof *s.rows);
    s.step = take(block, &end, unknowns * sizeof *s.step);
    s.gradient = take(block, &end, unknowns * sizeof *s.gradient);
    s.pull = take(block, &end, unknowns * sizeof *s.pull);
    s.matrix = take(block, &end, unknowns * unknowns * sizeof *s.matrix);
    s.mass = take(block, &end, unknowns * unknowns * sizeof *s.mass);
    s.active = take(block, &end, (links + 1) * sizeof *s.active);
    s.sums = take(block, &end, links * sizeof *s.sums);
    s.motions = take(block, &end, links * sizeof *s.motions);
    *bytes = end;
    return s;
}

size_t articulation_state_bytes(const articulation *a)
{
    return a->link_count > 0 ? (size_t)(a->link_count + 1) * sizeof(link_state) : 0;
}

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
    const double *way = turns + stride * (size_t)a->link_count;
    mat34 shift = mat34_identity();
    for (int k = 0; k < 3; k++) shift.m[4 * k + 3] = (float)way[k];

    for (int l = 0; l < a->link_count; l++) {
        const articulation_link *link = &a->links[l];
        const double *turn = turns + stride * (size_t)l;
        const float *own = animated + 12 * (size_t)link->joint;
        link_frame *f = &frames[l];
        mat34 parent = link->parent >= 0 ? frames[link->parent].move : shift;
        vec3 place = {own[3], own[7], own[11]};
        f->move = parent;
        f->origin = mat34_point(parent.m, place);
        f->axes = mat3_identity();
        if (!link->turns) continue;

        /* rest axes as the parent turns them */
        mat3 turned = mat3_identity(), moved = rotation_part(&parent);
        int carrier = a->character->joints[link->joint].parent;
        if (carrier >= 0) {
            mat34 skin, inverse;
            memcpy(&skin, animated + 12 * (size_t)carrier, sizeof skin);
            memcpy(&inverse, a->character->joints[carrier].inverse_bind, sizeof inverse);
            skin = mat34_multiply(skin, inverse);
            turned = rotation_of(skin.m);
        }
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
        const mat34 *move = link >= 0 ? &frames[link].move : a->shifts[j] ? &shift : &none;
        if (memcmp(move, &none, sizeof none) != 0) own = mat34_multiply(*move, own);
        memcpy(joints + 12 * (size_t)j, &own, sizeof own);
    }
}

void articulation_pose(const articulation *a, const link_state *state, void *scratch, const float *animated,
                       double part, float *joints)
{
    size_t bytes;
    articulation_scratch s = articulation_scratch_lay_out(a, scratch, &bytes);
    for (int l = 0; l <= a->link_count; l++)
        for (int k = 0; k < 3; k++)
            s.step[3 * l + k] =
                part >= 1 ? state[l].turn[k] : state[l].turn_old[k] + part * (state[l].turn[k] - state[l].turn_old[k]);
    articulation_place(a, s.step, 3, animated, s.frames, joints);
}

/* ---- inertia ---- */

/* The rotation vector of b after the inverse of a. */
static void pose_turn(const double a[4], const double b[4], double turn[3])
{
    double x = a[3] * b[0] - b[3] * a[0] - (b[1] * a[2] - b[2] * a[1]);
    double y = a[3] * b[1] - b[3] * a[1] - (b[2] * a[0] - b[0] * a[2]);
    double z = a[3] * b[2] - b[3] * a[2] - (b[0] * a[1] - b[1] * a[0]);
    double w = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    double length = sqrt(x * x + y * y + z * z), sign = w < 0 ? -1 : 1;
    double part = sign * (length > 1e-9 ? 2 * det_atan2(length, fabs(w)) / length : 2);
    turn[0] = part * x;
    turn[1] = part * y;
    turn[2] = part * z;
}

/* Where the middle of each link is in the pose of scratch->joints, and its rotation. */
static void find_motions(const articulation *a, articulation_scratch *s)
{
    for (int l = 0; l < a->link_count; l++) {
        const articulation_link *link = &a->links[l];
        link_motion *m = &s->motions[l];
        mat34 own, inverse;
        vec3 translation, scale;
        quat q;
        memcpy(&own, s->joints + 12 * (size_t)link->joint, sizeof own);
        memcpy(&inverse, a->character->joints[link->joint].inverse_bind, sizeof inverse);
        own = mat34_multiply(own, inverse);
        vec3 place = mat34_point(own.m, link->middle);
        m->place[0] = (double)place.x;
        m->place[1] = (double)place.y;
        m->place[2] = (double)place.z;
        if (!a->weak) continue;
        mat34_decompose(own, &translation, &q, &scale);
        m->pose[0] = (double)q.x;
        m->pose[1] = (double)q.y;
        m->pose[2] = (double)q.z;
        m->pose[3] = (double)q.w;
    }
}

/* Velocities that blows give to a link: the means over its touches. */
static void add_blows(const articulation *a, const articulation_scratch *s, const articulation_input *input, int link,
                      link_rate *rate)
{
    const articulation_link *own = &a->links[link];
    const link_motion *m = &s->motions[link];
    double linear[3] = {0}, angular[3] = {0}, count = 0;
    for (int i = 0; i < a->touch_count; i++) {
        if (a->touches[i].link != link) continue;
        vec3 x = s->touches[i];
        double r[3] = {(double)x.x - m->place[0], (double)x.y - m->place[1], (double)x.z - m->place[2]};
        count++;

        for (int b = 0; b < input->impulse_count; b++) {
            const cutis_impulse *blow = &input->impulses[b];
            vec3 away = vec3_sub(x, vec3_load(blow->place));
            double share = MAX(1 - (double)(vec3_length2(away) / (blow->radius * blow->radius)), 0);
            double v[3];
            for (int k = 0; k < 3; k++) v[k] = share * share * (double)blow->velocity[k];
            for (int k = 0; k < 3; k++) linear[k] += v[k];
            for (int k = 0; k < 3; k++) angular[k] += r[(k + 1) % 3] * v[(k + 2) % 3] - r[(k + 2) % 3] * v[(k + 1) % 3];
        }
    }
    if (count == 0) return;
    for (int k = 0; k < 3; k++) rate->way[k] += linear[k] / count * input->h;
    for (int k = 0; k < 3 && own->spread > 0; k++)
        rate->turn[k] += own->mass / own->spread * angular[k] / count * input->h;
}

/* Where inertia, gravity and blows take the links from the last correction in the new pose. */
static void predict_motions(const articulation *a, const link_state *state, articulation_scratch *s,
                            const articulation_input *input)
{
    const double h = input->h;
    for (int l = 0; l < a->link_count; l++) {
        const link_state *own = &state[l];
        link_motion *m = &s->motions[l];
        double turned[3] = {0};
        if (a->weak) pose_turn(m->pose, own->pose, turned);
        for (int k = 0; k < 3; k++) {
            m->held.way[k] = h * own->rate.way[k];
            m->held.turn[k] = h * own->rate.turn[k];
            double moved = own->place[k] - m->place[k] + h * h * (double)input->acceleration[k];
            m->falling.way[k] = a->weak ? moved + h * own->scene_rate.way[k] : m->held.way[k];
            m->falling.turn[k] = a->weak ? turned[k] + h * own->scene_rate.turn[k] : m->held.turn[k];
        }
        if (input->impulse_count == 0) continue;
        add_blows(a, s, input, l, &m->held);
        add_blows(a, s, input, l, &m->falling);
    }
}

static double strength_of(const articulation *a, int unknown)
{
    return unknown == a->link_count ? a->hold : a->links[unknown].strength;
}

/* Derivatives of a link's way (rows 0 to 2) and turn (3 to 5) by the unknowns of a link or of the shift. */
static void find_jacobian(const articulation *a, const articulation_scratch *s, int link, int by, double jacobian[6][3])
{
    memset(jacobian, 0, 6 * sizeof *jacobian);
    if (by == a->link_count) {
        for (int k = 0; k < 3; k++) jacobian[k][k] = 1;
        return;
    }
    const link_frame *f = &s->frames[by];
    const double *x = s->motions[link].place;
    double r[3] = {x[0] - (double)f->origin.x, x[1] - (double)f->origin.y, x[2] - (double)f->origin.z};
    for (int c = 0; c < 3; c++) {
        double axis[3] = {(double)f->axes.m[c], (double)f->axes.m[3 + c], (double)f->axes.m[6 + c]};
        for (int k = 0; k < 3; k++) {
            jacobian[k][c] = axis[(k + 1) % 3] * r[(k + 2) % 3] - axis[(k + 2) % 3] * r[(k + 1) % 3];
            jacobian[3 + k][c] = axis[k];
        }
    }
}

/* The mass matrix of the active unknowns over h^2, and its product with the predicted motion. */
static void build_mass(const articulation *a, articulation_scratch *s, int active_count, double h)
{
    int n = 3 * active_count;
    memset(s->mass, 0, (size_t)n * (size_t)n * sizeof *s->mass);
    memset(s->pull, 0, (size_t)n * sizeof *s->pull);

    for (int l = 0; l < a->link_count; l++) {
        const articulation_link *link = &a->links[l];
        const link_motion *m = &s->motions[l];
        double linear = link->mass / (h * h), angular = link->spread / (h * h), rows[6][3], columns[6][3];

        for (int i = 0; i < active_count; i++) {
            if (!articulation_carries(a, s->active[i], l)) continue;
            find_jacobian(a, s, l, s->active[i], rows);

            /* the muscles of the joint hold so much of what it carries */
            double held = strength_of(a, s->active[i]);
            for (int k = 0; k < 3; k++) {
                double way = held * m->held.way[k] + (1 - held) * m->falling.way[k];
                double turn = held * m->held.turn[k] + (1 - held) * m->falling.turn[k];
                for (int r = 0; r < 3; r++)
                    s->pull[3 * i + r] += linear * rows[k][r] * way + angular * rows[3 + k][r] * turn;
            }

            for (int j = 0; j <= i; j++) {
                if (!articulation_carries(a, s->active[j], l)) continue;
                find_jacobian(a, s, l, s->active[j], columns);
                for (int r = 0; r < 3; r++)
                    for (int c = 0; c < 3; c++)
                        for (int k = 0; k < 3; k++)
                            s->mass[(size_t)(3 * i + r) * (size_t)n + (size_t)(3 * j + c)] +=
                                linear * rows[k][r] * columns[k][c] + angular * rows[3 + k][r] * columns[3 + k][c];
            }
        }
    }
}

/* ---- a substep ---- */

bool articulation_carries(const articulation *a, int by, int link)
{
    if (by == a->link_count) return true;
    while (link > by) link = a->links[link].parent;
    return link == by;
}

static bool is_at_rest(const link_state *state)
{
    return turn_is_none(state->turn) && turn_is_none(state->rate.way) && turn_is_none(state->rate.turn);
}

/* Unknowns of this substep: limbs that move or that a contact turns, and the shift. Returns how many. */
static int find_active(const articulation *a, const link_state *state, const articulation_scratch *s,
                       const articulation_input *input, int contact_count)
{
    const int links = a->link_count;
    bool shifted = !turn_is_none(state[links].turn) || !(a->hold >= 1);
    for (int c = 0; c < contact_count && !shifted; c++) shifted = !turn_is_none(contact_row(a, s, c) + 3 * links);
    bool all = shifted || input->impulse_count > 0;

    int count = 0;
    for (int l = 0; l < links; l++) {
        const articulation_link *link = &a->links[l];
        bool moved = all;
        for (int k = 0; k < links && !moved; k++)
            moved = a->links[k].limb == link->limb && (a->links[k].strength < 1 || !is_at_rest(&state[k]));
        for (int c = 0; c < contact_count && !moved; c++)
            for (int k = 0; k < links && !moved; k++)
                moved = a->links[k].limb == link->limb && !turn_is_none(contact_row(a, s, c) + 3 * k);
        if (moved && link->turns) s->active[count++] = l;
    }
    if (shifted) s->active[count++] = links;
    return count;
}

/* Add gradient and curvature of the springs of one unknown. */
static void add_springs(const articulation *a, const link_state *state, int unknown, const double *step, double h,
                        double gradient[3], double *matrix, int n)
{
    const bool shift = unknown == a->link_count;
    double scale = strength_of(a, unknown) * (shift ? SHIFT_SHARE * a->mass : a->links[unknown].inertia);
    double damping = 2 * DAMPING * RATE / h, theta[3], t2 = 0;
    for (int k = 0; k < 3; k++) {
        theta[k] = state[unknown].turn[k] + step[k];
        if (!shift) t2 += theta[k] * theta[k] / (STIFFENING_TURN * STIFFENING_TURN);
    }
    for (int k = 0; k < 3; k++) {
        gradient[k] += scale * (damping * step[k] + RATE * RATE * (1 + t2) * theta[k]);
        matrix[k * n + k] += scale * (damping + RATE * RATE * (1 + 3 * t2));
    }
}

/* Add a contact that pushes; returns whether it does. */
static bool add_contact(const articulation *a, articulation_scratch *s, int index, int active_count)
{
    const articulation_contact *contact = &s->contacts[index];
    const double *row = contact_row(a, s, index);
    int n = 3 * active_count;
    double distance = contact->distance, first, second;
    for (int i = 0; i < n; i++) distance += row[3 * s->active[i / 3] + i % 3] * s->step[3 * s->active[i / 3] + i % 3];
    if (distance >= contact->gap) return false;

    contact_potential((contact->gap - distance) / contact->scale, &first, &second);
    double rate2 = RATE * RATE * contact->stiffness;
    for (int i = 0; i < n; i++) {
        double own = row[3 * s->active[i / 3] + i % 3];
        if (own == 0) continue;
        s->gradient[i] -= rate2 * contact->scale * first * own;
        for (int k = 0; k <= i; k++) s->matrix[i * n + k] += rate2 * second * own * row[3 * s->active[k / 3] + k % 3];
    }
    return true;
}

/* Minimise over the active unknowns. Returns the number of contacts that push. */
static int solve_active(const articulation *a, const link_state *state, articulation_scratch *s, int contact_count,
                        int active_count, double h)
{
    int n = 3 * active_count, pushing = 0;
    for (int iteration = 0; iteration < NEWTON_LIMIT; iteration++) {
        /* inertia */
        memcpy(s->matrix, s->mass, (size_t)n * (size_t)n * sizeof *s->matrix);
        for (int i = 0; i < n; i++) {
            double sum = -s->pull[i];
            for (int k = 0; k < n; k++)
                sum += s->mass[k <= i ? i * n + k : k * n + i] * s->step[3 * s->active[k / 3] + k % 3];
            s->gradient[i] = sum;
        }

        /* joints and contacts */
        for (int i = 0; i < active_count; i++)
            add_springs(a, state, s->active[i], s->step + 3 * s->active[i], h, s->gradient + 3 * i,
                        s->matrix + (size_t)(3 * i) * (size_t)(n + 1), n);
        pushing = 0;
        for (int c = 0; c < contact_count; c++) pushing += add_contact(a, s, c, active_count);

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

static double largest_of(const double v[3]) { return MAX(fabs(v[0]), MAX(fabs(v[1]), fabs(v[2]))); }

bool articulation_is_idle(const articulation *a, const link_state *state)
{
    for (int l = 0; l < a->link_count; l++)
        if (!is_at_rest(&state[l])) return false;
    return a->link_count == 0 || (!a->weak && turn_is_none(state[a->link_count].turn));
}

/* Way and turn of a link over the substep. */
static void find_step(const articulation *a, const articulation_scratch *s, int active_count, int link, double way[3],
                      double turn[3])
{
    double jacobian[6][3];
    for (int k = 0; k < 3; k++) way[k] = turn[k] = 0;
    for (int i = 0; i < active_count; i++) {
        if (!articulation_carries(a, s->active[i], link)) continue;
        find_jacobian(a, s, link, s->active[i], jacobian);
        const double *step = s->step + 3 * s->active[i];
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++) {
                way[k] += jacobian[k][c] * step[c];
                turn[k] += jacobian[3 + k][c] * step[c];
            }
    }
}

/* Velocities after the substep, and the unknowns moved by their step. */
static void take_step(const articulation *a, link_state *state, const articulation_scratch *s, int active_count,
                      double h, bool rests)
{
    for (int l = 0; l < a->link_count; l++) {
        link_state *own = &state[l];
        const link_motion *m = &s->motions[l];
        double way[3], turn[3], turned[3];
        find_step(a, s, active_count, l, way, turn);
        if (a->weak) pose_turn(own->pose, m->pose, turned);
        for (int k = 0; k < 3; k++) {
            own->rate.way[k] = rests ? 0 : way[k] / h;
            own->rate.turn[k] = rests ? 0 : turn[k] / h;
            own->scene_rate.way[k] = rests || !a->weak ? 0 : (way[k] + m->place[k] - own->place[k]) / h;
            own->scene_rate.turn[k] = rests || !a->weak ? 0 : (turn[k] + turned[k]) / h;
        }

        double old[3];
        memcpy(old, own->turn, sizeof old);
        if (!rests && !turn_is_none(s->step + 3 * l)) turns_join(s->step + 3 * l, old, own->turn);
    }
    for (int k = 0; k < 3 && !rests; k++) state[a->link_count].turn[k] += s->step[3 * a->link_count + k];
}

/* Remove what is left of a return, so that nothing moves by rounding alone. */
static void drop_rest(const articulation *a, link_state *state, const articulation_scratch *s)
{
    double largest = largest_of(state[a->link_count].turn) / (double)a->character->size;
    for (int l = 0; l < a->link_count; l++)
        largest = MAX(largest, MAX(largest_of(state[l].turn), largest_of(s->step + 3 * l)));
    if (largest >= TURN_NONE) return;
    for (int l = 0; l <= a->link_count; l++) {
        memset(state[l].turn, 0, sizeof state[l].turn);
        state[l].rate = (link_rate){0};
    }
}

/* Keep where weak links are, for the next substep. */
static void keep_places(const articulation *a, link_state *state, articulation_scratch *s, const float *joints)
{
    if (!a->weak) return;
    memcpy(s->joints, joints, 12 * (size_t)a->joint_count * sizeof *joints);
    find_motions(a, s);
    for (int l = 0; l < a->link_count; l++) {
        memcpy(state[l].place, s->motions[l].place, sizeof state[l].place);
        memcpy(state[l].pose, s->motions[l].pose, sizeof state[l].pose);
    }
}

articulation_step_info articulation_step(const articulation *a, link_state *state, void *scratch,
                                         const articulation_input *input, float *joints)
{
    size_t bytes, stride = sizeof *state / sizeof(double);
    articulation_scratch s = articulation_scratch_lay_out(a, scratch, &bytes);
    articulation_step_info info = {.link = -1};

    /* the last correction in the new pose, and what touches there */
    for (int l = 0; l <= a->link_count; l++) memcpy(state[l].turn_old, state[l].turn, sizeof state[l].turn);
    articulation_place(a, state->turn, stride, input->animated, s.frames, s.joints);
    int contact_count = articulation_find_contacts(a, &s, input);
    bool near = input->impulse_count > 0;
    for (int c = 0; c < contact_count; c++) near |= s.contacts[c].distance < s.contacts[c].gap;
    if (!near && articulation_is_idle(a, state)) {
        memcpy(joints, input->animated, 12 * (size_t)a->joint_count * sizeof *joints);
        return info;
    }

    /* the turns of this substep; the first iterate is none */
    find_motions(a, &s);
    predict_motions(a, state, &s, input);
    memset(s.step, 0, 3 * (size_t)(a->link_count + 1) * sizeof *s.step);
    int active_count = find_active(a, state, &s, input, contact_count);
    build_mass(a, &s, active_count, input->h);
    info.contacts = solve_active(a, state, &s, contact_count, active_count, input->h);

    /* what rests on something does not move by rounding alone */
    double largest = largest_of(s.step + 3 * a->link_count) / (double)a->character->size;
    for (int l = 0; l < a->link_count; l++) largest = MAX(largest, largest_of(s.step + 3 * l));
    bool rests = input->still && info.contacts > 0 && largest < TURN_NONE;
    take_step(a, state, &s, active_count, input->h, rests);
    if (info.contacts == 0) drop_rest(a, state, &s);

    for (int l = 0; l < a->link_count; l++) {
        const double *v = state[l].turn;
        double turn = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        if (turn <= info.turn) continue;
        info.turn = turn;
        info.link = l;
    }

    articulation_place(a, state->turn, stride, input->animated, s.frames, joints);
    keep_places(a, state, &s, joints);
    return info;
}

void articulation_settle(const articulation *a, link_state *state, void *scratch, const float *animated,
                         const cutis_jobs *jobs, float *joints)
{
    size_t bytes, stride = sizeof *state / sizeof(double);
    articulation_scratch s = articulation_scratch_lay_out(a, scratch, &bytes);
    articulation_input input = {.animated = animated, .h = SETTLE_INTERVAL, .jobs = jobs};
    articulation_place(a, state->turn, stride, animated, s.frames, joints);
    keep_places(a, state, &s, joints);

    for (int i = 0; i < SETTLE_STEPS; i++) {
        input.still = i > 0;
        articulation_step_info info = articulation_step(a, state, scratch, &input, joints);
        bool moves = false;
        for (int l = 0; l < a->link_count; l++)
            moves |= !turn_is_none(state[l].rate.way) || !turn_is_none(state[l].rate.turn);
        if (info.contacts == 0 && !moves) break;
        if (!moves) break;
    }
    for (int l = 0; l <= a->link_count; l++) {
        state[l].rate = state[l].scene_rate = (link_rate){0};
        memcpy(state[l].turn_old, state[l].turn, sizeof state[l].turn);
    }
}

void articulation_teleport(const articulation *a, link_state *state, const float transform[12])
{
    mat34 move;
    memcpy(&move, transform, sizeof move);
    mat3 turn = rotation_of(transform);
    for (int l = 0; l <= a->link_count; l++) {
        link_state *own = &state[l];
        /* in scene axes are the shift, and turns of joints without a parent */
        bool shift = l == a->link_count || a->character->joints[a->links[l].joint].parent < 0;
        double *ways[] = {own->rate.way,        own->rate.turn,           own->scene_rate.way,
                          own->scene_rate.turn, shift ? own->turn : NULL, shift ? own->turn_old : NULL};
        for (int i = 0; i < 6; i++) {
            if (!ways[i]) continue;
            double v[3] = {ways[i][0], ways[i][1], ways[i][2]};
            for (int k = 0; k < 3; k++)
                ways[i][k] =
                    (double)turn.m[3 * k] * v[0] + (double)turn.m[3 * k + 1] * v[1] + (double)turn.m[3 * k + 2] * v[2];
        }
        if (!a->weak || l == a->link_count) continue;

        /* where it was */
        double x[3] = {own->place[0], own->place[1], own->place[2]};
        for (int k = 0; k < 3; k++)
            own->place[k] = (double)move.m[4 * k] * x[0] + (double)move.m[4 * k + 1] * x[1] +
                            (double)move.m[4 * k + 2] * x[2] + (double)move.m[4 * k + 3];
        vec3 translation, scale;
        quat q, old = {(float)own->pose[0], (float)own->pose[1], (float)own->pose[2], (float)own->pose[3]};
        mat34_decompose(move, &translation, &q, &scale);
        q = quat_multiply(q, old);
        own->pose[0] = (double)q.x;
        own->pose[1] = (double)q.y;
        own->pose[2] = (double)q.z;
        own->pose[3] = (double)q.w;
    }
}
