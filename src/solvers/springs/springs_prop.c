/*
 * springs_prop.c: free props: rigid bodies and soft ones, and the contact mesh of skin and props together.
 *
 * Props have inertia, unlike the skin: a substep takes them where their velocity and gravity would (backward Euler),
 * and contacts and springs change that. A rigid body's moves and turns of a substep are small, so that its points move
 * by shift + turn x arm while contacts are solved, and exactly at its end. Gyroscopic torque is left out.
 */
#include <string.h>

#include "solvers/solver_kit.h"
#include "solvers/springs/springs.h"

/* Props of the contact mesh lie this far apart, in sizes, so that no pair of props or skin is close at rest. */
static const float APART = 16;
/* A prop this far below all that it could land on is dropped, in sizes: nothing reaches further than its own size. */
static const float DROP_DEPTH = 1;
/* Fastest motion of a prop, sizes a second, and radians a second. */
static const float SPEED_LIMIT = 60, SPIN_LIMIT = 100;

/* ---- build ---- */

static void node_scale(const solver_build *build, const springs_model *m, springs_prop *prop, const float *joints)
{
    vec3 translation, scale = {1, 1, 1};
    quat rotation;
    (void)build;
    if (prop->source->joint >= 0) {
        mat34 pose;
        memcpy(pose.m, joints + 12 * prop->source->joint, sizeof pose.m);
        mat34_decompose(pose, &translation, &rotation, &scale);
    }
    prop->scale[0] = fabsf(scale.x) / m->size;
    prop->scale[1] = fabsf(scale.y) / m->size;
    prop->scale[2] = fabsf(scale.z) / m->size;
}

/* Node numbers: soft surfaces, rigid surfaces, inner nodes. */
static void nodes_assign(springs_model *m)
{
    int at = m->point_count;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < m->prop_count; i++) {
            springs_prop *prop = m->props + i;
            if (prop->soft != (pass == 0)) continue;
            prop->first = at;
            at += prop->point_count;
            if (prop->soft)
                m->soft_points += prop->point_count;
            else
                m->rigid_points += prop->point_count;
        }

    m->contact_count = at;
    for (int i = 0; i < m->prop_count; i++) {
        springs_prop *prop = m->props + i;
        prop->first_inner = at;
        at += prop->inner_count;
        m->inner_count += prop->inner_count;
        if (!prop->soft) continue;

        /* its nodes in one list, and the ends of its springs by that */
        for (int k = 0; k < prop->point_count + prop->inner_count; k++) {
            m->soft.nodes[prop->first_soft + k] =
                k < prop->point_count ? prop->first + k : prop->first_inner + k - prop->point_count;
            m->soft.owners[prop->first_soft + k] = i;
        }
        for (int k = 2 * prop->first_spring; k < 2 * (prop->first_spring + prop->spring_count); k++)
            m->soft.ends[k] = m->soft.nodes[prop->first_soft + m->soft.ends[k]];
    }

    m->node_count = at;
}

static cutis_result soft_finish(springs_model *m, arena *memory, arena *scratch, cutis_error *error)
{
    springs_soft *soft = &m->soft;
    int *place = ARENA_ARRAY(scratch, int, m->node_count + 1);
    soft->first = ARENA_ARRAY(memory, int, soft->node_count + 2);
    soft->springs = ARENA_ARRAY(memory, int, 2 * (size_t)soft->spring_count + 1);
    if (memory->failed || scratch->failed) return error_memory(error, "the soft props");

    /* springs at each node: counted, then listed */
    for (int i = 0; i < soft->node_count; i++) place[soft->nodes[i]] = i;
    for (int s = 0; s < 2 * soft->spring_count; s++) soft->first[place[soft->ends[s]] + 1]++;
    for (int i = 0; i < soft->node_count; i++) soft->first[i + 1] += soft->first[i];
    for (int s = 0; s < 2 * soft->spring_count; s++) {
        soft->springs[soft->first[place[soft->ends[s]]]++] = s;
        m->diagonal[soft->ends[s]] += 2 * soft->stiff[s / 2];
    }

    for (int i = soft->node_count; i > 0; i--) soft->first[i] = soft->first[i - 1];
    soft->first[0] = 0;

    /* the same of the cells' corners */
    soft->corner_first = ARENA_ARRAY(memory, int, soft->node_count + 2);
    soft->corners = ARENA_ARRAY(memory, int, 4 * (size_t)soft->tetra_count + 1);
    if (memory->failed) return error_memory(error, "the soft props");

    for (int c = 0; c < 4 * soft->tetra_count; c++) soft->corner_first[soft->tetras[c] + 1]++;
    for (int i = 0; i < soft->node_count; i++) soft->corner_first[i + 1] += soft->corner_first[i];
    for (int c = 0; c < 4 * soft->tetra_count; c++) soft->corners[soft->corner_first[soft->tetras[c]]++] = c;
    for (int i = soft->node_count; i > 0; i--) soft->corner_first[i] = soft->corner_first[i - 1];
    soft->corner_first[0] = 0;
    return CUTIS_OK;
}

static cutis_result mesh_join(const solver_build *build, springs_model *m, arena *scratch, cutis_error *error)
{
    const mesh *skin = build->mesh;
    int triangles = skin->triangle_count;
    for (int i = 0; i < m->prop_count; i++) triangles += m->props[i].triangle_count;
    float *positions = ARENA_ARRAY(scratch, float, 3 * (size_t)m->contact_count + 3);
    int *corners = ARENA_ARRAY(scratch, int, 3 * (size_t)triangles + 3);
    if (scratch->failed) return error_memory(error, "the contact mesh");

    for (int p = 0; p < m->point_count; p++)
        for (int k = 0; k < 3; k++) positions[3 * p + k] = (skin->positions[3 * p + k] - m->centre[k]) / m->size;
    memcpy(corners, skin->triangles, 3 * (size_t)skin->triangle_count * sizeof *corners);

    /* props, far from each other at rest */
    int used = 3 * skin->triangle_count;
    for (int i = 0; i < m->prop_count; i++) {
        const springs_prop *prop = m->props + i;
        vec3 away = vec3_make(APART * (float)(i + 1), 0, 0);
        for (int p = 0; p < prop->point_count; p++)
            vec3_store(positions + 3 * (prop->first + p), vec3_add(away, vec3_load(prop->rest + 3 * p)));
        for (int k = 0; k < 3 * prop->triangle_count; k++) corners[used++] = prop->first + prop->triangles[k];
    }

    cutis_result result = mesh_build(&m->mesh, m->contact_count, positions, triangles, corners, build->memory, error);
    if (result != CUTIS_OK) return result;
    return contact_surface_build(&m->surface, &m->mesh, build->memory, &build->allocator, error);
}

/* A collider without end: points meet its plane. */
static bool prop_is_plane(const cutis_prop *prop)
{
    return prop->role == CUTIS_PROP_COLLIDER && prop->shape == CUTIS_PROP_PLANE;
}

/* Trees of the props' own surfaces, and the mean edge of the skin, which margins of contact go by. */
static cutis_result trees_build(springs_model *m, arena *memory, cutis_error *error)
{
    for (int i = 0; i < m->prop_count; i++) {
        springs_prop *prop = m->props + i;

        prop->corners = ARENA_ARRAY(memory, int, 3 * (size_t)prop->triangle_count + 1);
        if (!prop->corners) return error_memory(error, "the props");
        for (int k = 0; k < 3 * prop->triangle_count; k++) prop->corners[k] = prop->first + prop->triangles[k];
        m->prop_triangles = MAX(m->prop_triangles, prop->triangle_count);

        if (prop->triangle_count == 0) continue;
        cutis_result result =
            bvh_build(&prop->tree, prop->triangle_count, prop->corners, m->mesh.positions, memory, error);
        if (result) return result;
        m->prop_nodes = MAX(m->prop_nodes, prop->tree.node_count);
    }

    /* the mean edge of the skin */
    double sum = 0;
    const mesh *skin = m->skin;
    for (int e = 0; e < skin->edge_count; e++)
        sum += (double)vec3_distance(vec3_load(m->mesh.positions + 3 * skin->edges[2 * e]),
                                     vec3_load(m->mesh.positions + 3 * skin->edges[2 * e + 1]));
    if (skin->edge_count > 0) m->surface.edge_mean = (float)(sum / skin->edge_count);
    return CUTIS_OK;
}

cutis_result springs_props_build(const solver_build *build, springs_model *m, cutis_error *error)
{
    const cutis_character *character = build->character;
    arena *memory = build->memory, scratch = arena_create(&build->allocator);
    cutis_result result = CUTIS_OK;

    for (int i = 0; i < character->prop_count; i++) m->prop_count += !prop_is_plane(character->props + i);
    m->props = ARENA_ARRAY(memory, springs_prop, m->prop_count + 1);
    m->prop_of = ARENA_ARRAY(memory, int, character->prop_count + 1);
    m->collider_index = ARENA_ARRAY(memory, int, character->prop_count + 1);
    float *joints = ARENA_ARRAY(&scratch, float, 12 * (size_t)m->joint_count + 12);
    if (memory->failed || scratch.failed) result = error_memory(error, "the props");

    if (result == CUTIS_OK) cutis_pose_rest(character, joints);

    /* shapes of the props; colliders are counted, too */
    int at = 0, collider = 0;
    for (int i = 0; i < character->prop_count && result == CUTIS_OK; i++) {
        const cutis_prop *source = character->props + i;
        m->prop_of[i] = -1;
        m->collider_index[collider] = i;
        collider += source->role == CUTIS_PROP_COLLIDER;
        if (prop_is_plane(source)) continue;

        springs_prop *prop = m->props + at;
        *prop = (springs_prop){.source = source,
                               .index = i,
                               .soft = source->role == CUTIS_PROP_SOFT,
                               .fixed = source->role == CUTIS_PROP_COLLIDER};
        m->bodies = m->bodies || source->role == CUTIS_PROP_RIGID;
        m->prop_of[i] = at++;

        prop->friction = source->friction;
        node_scale(build, m, prop, joints);
        result = springs_shape_build(build, m, prop, error);
        if (result != CUTIS_OK || !prop->soft) continue;

        /* what is shown of a soft one: the mesh given, or its own surface */
        bool own = source->shape == CUTIS_PROP_MESH;
        prop->vertex_count = own ? source->vertex_count : prop->point_count;
        prop->shown_count = own ? source->triangle_count : prop->triangle_count;
        prop->shown = own ? source->triangles : prop->triangles;
        prop->output_first = m->prop_vertex_count;
        m->prop_vertex_count += (size_t)prop->vertex_count;
    }

    /* nodes of all props behind those of the skin */
    if (result == CUTIS_OK) {
        nodes_assign(m);
        m->diagonal = ARENA_ARRAY(memory, float, m->node_count + 1);
        m->friction = ARENA_ARRAY(memory, float, m->contact_count + 1);
        m->owner = ARENA_ARRAY(memory, int, m->contact_count + 1);
        if (memory->failed) result = error_memory(error, "the props");
    }

    /* which prop a node belongs to */
    if (result == CUTIS_OK) {
        for (int p = 0; p < m->contact_count; p++) m->owner[p] = -1;
        for (int i = 0; i < m->prop_count; i++)
            for (int p = 0; p < m->props[i].point_count; p++) {
                m->owner[m->props[i].first + p] = i;
                m->friction[m->props[i].first + p] = m->props[i].friction;
            }

        result = soft_finish(m, memory, &scratch, error);
    }

    /* one surface for contact, and the colliders */
    if (result == CUTIS_OK) result = mesh_join(build, m, &scratch, error);
    if (result == CUTIS_OK) result = trees_build(m, memory, error);
    if (result == CUTIS_OK)
        result = contact_props_build(&m->colliders, character, CONTACT_COLLIDERS, 1 / m->size, m->centre, -1, 0, memory,
                                     error);
    arena_destroy(&scratch);
    return result;
}

/* ---- motion ---- */

vec3 springs_body_point(const springs_body *body, const float *rest)
{
    quat q = {body->rotation[0], body->rotation[1], body->rotation[2], body->rotation[3]};
    return vec3_add(vec3_load(body->centre), quat_rotate(q, vec3_load(rest)));
}

static quat body_rotation(const springs_body *body)
{
    return (quat){body->rotation[0], body->rotation[1], body->rotation[2], body->rotation[3]};
}

static void rotation_store(springs_body *body, quat q)
{
    q = quat_normalize(q);
    body->rotation[0] = q.x;
    body->rotation[1] = q.y;
    body->rotation[2] = q.z;
    body->rotation[3] = q.w;
}

/* A turn given as axis times angle. */
static quat turn_quat(vec3 turn)
{
    float angle = vec3_length(turn);
    if (!(angle > 1e-9f)) return quat_normalize((quat){0.5f * turn.x, 0.5f * turn.y, 0.5f * turn.z, 1});
    return quat_axis_angle(vec3_scale(turn, 1 / angle), (double)angle);
}

/* A body where the node of its prop is. */
static springs_body body_place(const springs_model *m, const springs_prop *prop, const float *joints)
{
    springs_body body = {.touching = 0};
    vec3 translation = {0, 0, 0}, scale;
    quat rotation = quat_identity();
    if (prop->source->joint >= 0) {
        mat34 pose;
        memcpy(pose.m, joints + 12 * prop->source->joint, sizeof pose.m);
        mat34_decompose(pose, &translation, &rotation, &scale);
    }

    rotation_store(&body, rotation);
    vec3 origin = vec3_scale(vec3_sub(translation, vec3_load(m->centre)), 1 / m->size);
    vec3_store(body.centre, vec3_add(origin, quat_rotate(body_rotation(&body), prop->centre)));
    return body;
}

void springs_props_reset(springs_run *run, const float *joints)
{
    const springs_model *m = run->m;

    for (int i = 0; i < m->prop_count; i++) {
        const springs_prop *prop = m->props + i;
        springs_body *body = run->s.bodies + i;
        *body = body_place(m, prop, prop->fixed ? run->input->joints : joints);

        /* its nodes, and the lowest of them */
        float lowest = 1e30f;
        for (int k = 0; k < prop->point_count + prop->inner_count; k++) {
            int node = k < prop->point_count ? prop->first + k : prop->first_inner + k - prop->point_count;
            vec3 p = springs_body_point(body, prop->rest + 3 * k);
            vec3_store(run->s.x + NODE * node, p);
            lowest = MIN(lowest, p.y);
        }

        springs_report *report = run->s.reports + prop->index;
        report->stand[0] = body->centre[0];
        report->stand[1] = lowest;
        report->stand[2] = body->centre[2];
    }

    memset(run->s.velocity, 0, (size_t)m->soft.node_count * NODE * sizeof(float));
}

static mat3 inertia_turned(const springs_prop *prop, quat q, float factor)
{
    mat3 r = quat_matrix(q), result = mat3_multiply(mat3_multiply(r, prop->inertia), mat3_transpose(r));
    for (int i = 0; i < 9; i++) result.m[i] *= factor;
    return result;
}

vec3 springs_fall(const springs_run *run)
{
    vec3 felt = vec3_scale(vec3_load(run->input->acceleration), 1 / run->m->size);
    return vec3_add(felt, vec3_make(0, -run->m->gravity, 0));
}

/* Velocity that blows give to a place of a prop, sizes/s. */
static vec3 springs_blow(const springs_run *run, const float *place)
{
    if (run->input->impulse_count == 0) return vec3_make(0, 0, 0);
    vec3 scene = vec3_madd(vec3_load(run->m->centre), vec3_load(place), run->m->size);
    return vec3_scale(kit_blow(run->input, scene), 1 / run->m->size);
}

void springs_bodies_predict(springs_run *run)
{
    const springs_model *m = run->m;
    float h = run->h;

    vec3 fall = vec3_scale(springs_fall(run), h);
    for (int i = 0; i < m->prop_count; i++) {
        const springs_prop *prop = m->props + i;
        if (prop->soft) continue;

        springs_body *next = run->w.predicted + i;
        *next = run->s.bodies[i];
        run->w.inertia[i] = (mat3){{0}};

        /* where inertia takes it, or its joint */
        bool still = springs_prop_still(run, i);
        if (prop->fixed) *next = body_place(m, prop, run->input->joints);
        if (!still) {
            vec3 velocity = vec3_add(vec3_load(next->velocity), fall);
            velocity = vec3_add(velocity, springs_blow(run, next->centre));
            vec3_store(next->centre, vec3_madd(vec3_load(next->centre), velocity, h));
            rotation_store(next, quat_multiply(turn_quat(vec3_scale(vec3_load(next->spin), h)), body_rotation(next)));
            run->w.inertia[i] = inertia_turned(prop, body_rotation(next), h * h);
        }

        /* how easily contacts move it, and its surface */
        run->w.motions[i] = (springs_motion){.give = still ? 0 : h * h / prop->mass, .give_turn = run->w.inertia[i]};
        for (int p = 0; p < prop->point_count; p++)
            vec3_store(run->s.x + NODE * (prop->first + p), springs_body_point(next, prop->rest + 3 * p));
    }
}

void springs_props_predict(springs_run *run)
{
    const springs_model *m = run->m;
    float h = run->h;
    vec3 fall = vec3_scale(springs_fall(run), h);

    springs_bodies_predict(run);

    for (int k = 0; k < m->prop_count; k++) {
        const springs_prop *prop = m->props + k;
        bool touching = run->s.bodies[k].touching != 0, still = springs_prop_still(run, k);
        for (int i = prop->first_soft; prop->soft && i < prop->first_soft + prop->point_count + prop->inner_count;
             i++) {
            /* where inertia takes the node, without and with its weight */
            float *x = run->s.x + NODE * m->soft.nodes[i];
            vec3 velocity = vec3_make(0, 0, 0);
            if (!still) velocity = vec3_add(vec3_load(run->s.velocity + NODE * i), springs_blow(run, x));
            vec3 level = vec3_madd(vec3_load(x), velocity, h);
            vec3 next = still ? level : vec3_madd(level, fall, h);
            vec3_store(run->w.inert + NODE * i, next);

            /* What is borne begins where its weight is borne, too. */
            vec3_store(x, touching ? level : next);
        }
    }
}

/* Mean way since the start of those points of a kept contact that a prop (-1: the skin) owns; false: none is. */
static bool side_way(const springs_run *run, const int key[4], int owner, vec3 *way)
{
    const springs_model *m = run->m;
    vec3 sum = {0, 0, 0};
    float count = 0;
    for (int k = 0; k < 4; k++) {
        int p = k == 0 && key[0] < 0 ? -2 - key[0] : key[k];
        if (p < 0 || m->owner[p] != owner) continue;
        sum = vec3_add(sum, vec3_sub(vec3_load(run->s.x + NODE * p), vec3_load(run->w.start + 3 * p)));
        count++;
    }
    *way = count > 0 ? vec3_scale(sum, 1 / count) : sum;
    return count > 0;
}

void springs_soft_carry(springs_run *run)
{
    const springs_model *m = run->m;
    for (int i = 0; i < m->prop_count && !run->held; i++) {
        const springs_prop *prop = m->props + i;
        if (!prop->soft) continue;

        /* how far the skin that bears on it goes ahead of it; what else it touches holds it back */
        vec3 sum = {0, 0, 0};
        float total = 0;
        for (int k = 0; k < run->s.header[HEADER_MEMORIES]; k++) {
            const springs_memory *memory = run->s.memories + k;
            vec3 own, skin;
            if (!side_way(run, memory->key, i, &own)) continue;
            total += memory->lambda;
            if (side_way(run, memory->key, -1, &skin)) sum = vec3_madd(sum, vec3_sub(skin, own), memory->lambda);
        }
        if (!(total > 0)) continue;

        vec3 ahead = vec3_scale(sum, 1 / total);
        for (int k = prop->first_soft; k < prop->first_soft + prop->point_count + prop->inner_count; k++) {
            float *x = run->s.x + NODE * m->soft.nodes[k];
            vec3_store(x, vec3_add(vec3_load(x), ahead));
        }
    }
}

/* The rigid motion that fits a soft body best. */
static void body_fit(springs_run *run, int index)
{
    const springs_prop *prop = run->m->props + index;
    springs_body *body = run->s.bodies + index;
    const springs_soft *soft = &run->m->soft;

    /* the centre of mass */
    double centre[3] = {0}, total = 0;
    int nodes = prop->point_count + prop->inner_count;
    for (int k = 0; k < nodes; k++) {
        double mass = (double)soft->mass[prop->first_soft + k];
        const float *x = run->s.x + NODE * soft->nodes[prop->first_soft + k];
        for (int c = 0; c < 3; c++) centre[c] += mass * (double)x[c];
        total += mass;
    }

    for (int c = 0; c < 3; c++) body->centre[c] = (float)(centre[c] / total);

    /* the polar part of its covariance with the rest shape */
    mat3 a = {{0}};
    for (int k = 0; k < nodes; k++) {
        float mass = soft->mass[prop->first_soft + k] / (float)total;
        vec3 x = vec3_sub(vec3_load(run->s.x + NODE * soft->nodes[prop->first_soft + k]), vec3_load(body->centre));
        const float *r = prop->rest + 3 * k;
        for (int c = 0; c < 3; c++) {
            a.m[c] += mass * x.x * r[c];
            a.m[3 + c] += mass * x.y * r[c];
            a.m[6 + c] += mass * x.z * r[c];
        }
    }

    rotation_store(body, polar_rotation(a, body_rotation(body), 20));
}

void springs_props_finish(springs_run *run)
{
    const springs_model *m = run->m;
    float inverse = 1 / run->h, keep = (float)det_exp(-(double)m->damping * (double)run->h);

    for (int i = 0; i < m->prop_count; i++) {
        const springs_prop *prop = m->props + i;
        springs_body *body = run->s.bodies + i;
        if (prop->fixed) *body = run->w.predicted[i];
        if (prop->soft || springs_prop_still(run, i)) continue;

        /* where contacts leave it */
        springs_body next = run->w.predicted[i];
        const springs_motion *motion = run->w.motions + i;
        vec3_store(next.centre, vec3_add(vec3_load(next.centre), motion->shift));
        rotation_store(&next, quat_multiply(turn_quat(motion->turn), body_rotation(&next)));
        vec3 velocity = vec3_scale(vec3_sub(vec3_load(next.centre), vec3_load(body->centre)), inverse * keep);

        /* The turn from the old rotation to the new one, as a rate. */
        quat way = quat_multiply(body_rotation(&next), quat_conjugate(body_rotation(body)));
        float sign = way.w < 0 ? -1.0f : 1.0f;
        vec3 axis = vec3_scale(vec3_make(way.x, way.y, way.z), sign);
        float sine = vec3_length(axis);
        double angle = 2 * det_atan2((double)sine, (double)(sign * way.w));
        vec3 spin = sine > 0 ? vec3_scale(axis, (float)angle / sine * inverse * keep) : axis;

        /* no faster than the limits */
        float speed = vec3_length(velocity), rate = vec3_length(spin);
        if (speed > SPEED_LIMIT) velocity = vec3_scale(velocity, SPEED_LIMIT / speed);
        if (rate > SPIN_LIMIT) spin = vec3_scale(spin, SPIN_LIMIT / rate);
        vec3_store(next.velocity, velocity);
        vec3_store(next.spin, spin);

        /* A mishap leaves it where it was, at rest. */
        bool fine = vec3_length2(vec3_load(next.centre)) < 1e12f && speed < 1e12f && rate < 1e12f;
        if (!fine) {
            next = *body;
            memset(next.velocity, 0, sizeof next.velocity);
            memset(next.spin, 0, sizeof next.spin);
        }

        *body = next;
        for (int p = 0; p < prop->point_count; p++)
            vec3_store(run->s.x + NODE * (prop->first + p), springs_body_point(body, prop->rest + 3 * p));
    }
}

/* Velocities of soft nodes, from where they were to where they are. */
void springs_soft_finish(springs_run *run, const float *before)
{
    const springs_model *m = run->m;
    float inverse = 1 / run->h, keep = (float)det_exp(-(double)m->damping * (double)run->h);
    for (int i = 0; i < m->soft.node_count; i++) {
        int node = m->soft.nodes[i];

        vec3 way = vec3_sub(vec3_load(run->s.x + NODE * node), vec3_load(before + NODE * i));
        vec3 velocity = vec3_scale(way, inverse * keep);
        float speed = vec3_length(velocity);
        if (speed > SPEED_LIMIT) velocity = vec3_scale(velocity, SPEED_LIMIT / speed);
        if (springs_prop_still(run, m->soft.owners[i])) velocity = vec3_make(0, 0, 0);
        vec3_store(run->s.velocity + NODE * i, velocity);
    }

    for (int i = 0; i < m->prop_count; i++)
        if (m->props[i].soft) body_fit(run, i);
}

/* ---- dropped props ---- */

bool springs_prop_still(const springs_run *run, int index)
{
    return run->held || run->m->props[index].fixed || run->s.bodies[index].dropped != 0;
}

/* How far the skin, and what else a falling prop could land on, reach along the direction of the fall; sizes. */
static float landing_depth(const springs_run *run, vec3 down)
{
    const springs_model *m = run->m;
    float deepest = -1e30f;
    for (int p = 0; p < m->point_count; p++) deepest = MAX(deepest, vec3_dot(down, vec3_load(run->s.x + NODE * p)));

    /* props that do not fall themselves */
    for (int i = 0; i < m->prop_count; i++) {
        const springs_body *body = run->s.bodies + i;
        if (!m->props[i].fixed && body->touching == 0) continue;
        deepest = MAX(deepest, vec3_dot(down, vec3_load(body->centre)) + m->props[i].radius);
    }
    return deepest;
}

/* Whether a plane or its own stand can still stop a falling prop. */
static bool has_floor(const springs_run *run, int index, vec3 down)
{
    const springs_model *m = run->m;
    vec3 centre = vec3_load(run->s.bodies[index].centre);

    for (int i = 0; i < m->colliders.count; i++) {
        int prop = m->collider_index[i], joint = m->character->props[prop].joint;
        if (m->prop_of[prop] >= 0) continue;
        const float *pose = joint >= 0 ? run->input->joints + 12 * joint : NULL;
        vec3 normal = pose ? vec3_make(pose[1], pose[5], pose[9]) : vec3_make(0, 1, 0);
        vec3 place = pose ? vec3_make(pose[3], pose[7], pose[11]) : vec3_make(0, 0, 0);
        place = vec3_scale(vec3_sub(place, vec3_load(m->centre)), 1 / m->size);
        if (vec3_dot(normal, down) < 0 && vec3_dot(normal, vec3_sub(centre, place)) > 0) return true;
    }

    const float *stand = run->s.reports[m->props[index].index].stand;
    float x = centre.x - stand[0], z = centre.z - stand[2], radius = m->props[index].radius;
    return m->stand && down.y < 0 && x * x + z * z <= radius * radius && centre.y >= stand[1];
}

/*
 * A prop that falls freely, below all that could stop it, would fall for ever: single precision ends some hundred sizes
 * away, where its springs find no balance. It stays where it is instead.
 */
void springs_props_drop(springs_run *run)
{
    const springs_model *m = run->m;
    vec3 fall = springs_fall(run);
    if (!(vec3_length2(fall) > 0)) return;

    /* props that nothing bears on, below all that could stop them */
    vec3 down = vec3_normalize(fall);
    float deepest = 0;
    bool known = false;
    for (int i = 0; i < m->prop_count; i++) {
        springs_body *body = run->s.bodies + i;
        if (springs_prop_still(run, i) || body->touching != 0) continue;

        if (!known) deepest = landing_depth(run, down);
        known = true;
        float top = vec3_dot(down, vec3_load(body->centre)) - m->props[i].radius;
        if (top <= deepest + DROP_DEPTH || has_floor(run, i, down)) continue;

        body->dropped = 1;
        memset(body->velocity, 0, sizeof body->velocity);
        memset(body->spin, 0, sizeof body->spin);
    }

    /* the nodes of soft ones stop, too */
    for (int i = 0; i < m->soft.node_count; i++)
        if (run->s.bodies[m->soft.owners[i]].dropped != 0)
            memset(run->s.velocity + NODE * i, 0, NODE * sizeof *run->s.velocity);
}

/* ---- results ---- */

void springs_props_report(springs_run *run)
{
    const springs_model *m = run->m;
    for (int i = 0; i < m->prop_count; i++) {
        const springs_prop *prop = m->props + i;
        for (int v = 0; v < prop->vertex_count; v++) {
            int p = prop->first + (prop->vertex_points ? prop->vertex_points[v] : v);
            vec3 x = vec3_madd(vec3_load(m->centre), vec3_load(run->s.x + NODE * p), m->size);
            vec3_store(run->s.prop_vertices + 3 * (prop->output_first + (size_t)v), x);
        }
    }
}
