/*
 * lattice.c: solver `lattice`: a body of voxels in layers of bone, muscle, fat and skin, for motion in real time.
 *
 * Iwamoto, Shum, Yang, Morishima 2015, "Multi-layer lattice model for real-time dynamic character deformation".
 * The step is Algorithm 1: predict, then stretch, volume and lattice shape matching n_total times, then velocities.
 * The other files of this folder hold its parts, each with its departures from the paper; docs/solvers/lattice.md
 * tells the whole. Departures in this file:
 *
 * - The surface is the file's own skinning plus what the lattice adds (lattice_embed.c), and voxels are skinned with
 * the file's weights, unless `weights` asks for those of equation 1.
 * - All voxels are skinned (equation 3), not only those of the bone layer: this target of a voxel tells how fast its
 *   body part moves. Damping acts on the velocity relative to that, so that a character carried along is not held
 *   back by the air the paper's k_d amounts to.
 * - Flesh feels only the share `inertia` of its target's acceleration. A skeleton of lines leaves out ribs, pelvis and
 *   all that holds flesh in place, and without this a body thick around its spine swings like a bell. Velocities in the
 *   state are those left when the other share of the target's velocity is taken away.
 * - A voxel that is not finite, or has come further from its target than a whole size, is put back on it.
 */
#include <math.h>
#include <string.h>

#include "solvers/lattice/lattice_model.h"

enum {
    PART_PRIMARY,
    PART_PREDICTION,
    PART_MATCHING,
    PART_STRETCH,
    PART_VOLUME,
    PART_UPDATE,
    PART_SURFACE,
    PART_CONTACT,
    PART_COUNT
};
/* The first six are those of the paper's Figure 8. */
static const char *const part_names[PART_COUNT] = {"primary", "prediction", "matching", "stretch",
                                                   "volume",  "update",     "surface",  "contact"};

enum { OUTPUT_VOXELS, OUTPUT_TARGETS, OUTPUT_LAYERS, OUTPUT_SHARES, OUTPUT_EDGES, OUTPUT_SOFTNESS, OUTPUT_COUNT };
static const cutis_output_info output_infos[OUTPUT_COUNT] = {
    [OUTPUT_VOXELS] = {.name = "voxels",
                       .role = CUTIS_OUTPUT_ELEMENTS,
                       .domain = CUTIS_DOMAIN_ELEMENT,
                       .components = 3,
                       .unit = "m",
                       .help = "middles of the voxels"},
    [OUTPUT_TARGETS] = {.name = "targets",
                        .domain = CUTIS_DOMAIN_ELEMENT,
                        .components = 3,
                        .unit = "m",
                        .help = "where skinning alone puts them"},
    [OUTPUT_LAYERS] = {.name = "layer",
                       .role = CUTIS_OUTPUT_ELEMENT_LAYER,
                       .domain = CUTIS_DOMAIN_ELEMENT,
                       .components = 1,
                       .unit = "",
                       .palette = CUTIS_PALETTE_CATEGORY,
                       .help = "layer of the voxel: 0 bone, 1 muscle, 2 fat, 3 and 4 other inner layers, 5 skin"},
    [OUTPUT_SHARES] = {.name = "shares",
                       .domain = CUTIS_DOMAIN_ELEMENT,
                       .components = LATTICE_LAYERS,
                       .unit = "",
                       .help = "share of each layer in the voxel"},
    [OUTPUT_EDGES] = {.name = "edges",
                      .role = CUTIS_OUTPUT_ELEMENT_EDGE,
                      .domain = CUTIS_DOMAIN_ELEMENT,
                      .components = 1,
                      .unit = "m",
                      .help = "edge of the voxel"},
    [OUTPUT_SOFTNESS] = {.name = "softness",
                         .components = 1,
                         .unit = "",
                         .range = {0, 1},
                         .help = "1 less the gain of the voxels that carry the vertex; 0 is bone"},
};

#define VOXEL_GRAIN 512
/* How far a voxel may be from its target before it is put back, in sizes. */
#define LEASH 1.0f
/* Rounds of contact at voxel level in a substep. */
#define CONTACT_ROUNDS 2
/* The furthest that a drag pulls in one substep, in sizes. */
#define DRAG_REACH 0.5f

/* ---- memory: all arrays are padded ---- */

typedef struct lattice_state {
    quad *positions, *velocities, *targets;
    float *rotations; /* (4 x padded) of the regions */
    float *errors;    /* (padded) of volume, remembered */
    float *voxels;    /* (count x 3) outputs, scene space */
    float *scene_targets;
} lattice_state;

typedef struct lattice_scratch {
    quad *guess, *moved; /* predicted positions */
    quad *carried;       /* velocity of the targets */
    quad *weighted;
    lattice_frame *a, *b, *frames;
    lattice_frame *loans;  /* (loan_most) of the sums */
    lattice_frame *turns;  /* r: how the skeleton turns a voxel, where the voxel needs it */
    lattice_frame *joints; /* (joint_count + 1) skinning maps, in sizes */
    quad *displacements;   /* of voxels from their targets */
    float *skinning;       /* scratch of the surface's skinning */
    float *base;           /* (point_count x 3) the surface without the lattice's doing */
    quad *pushes;
    int *repairs; /* by block of voxels */
    quad *wishes; /* of contact */
    lattice_contact_work contact;
} lattice_scratch;

/* The next array of a block, on a line of its own; with block NULL only its size counts. */
static void *carve(char *block, size_t *used, size_t count, size_t size)
{
    void *here = block ? block + *used : NULL;
    *used += (count * size + 63) / 64 * 64;
    return here;
}

static size_t state_carve(const lattice_model *m, char *block, lattice_state *s)
{
    size_t n = (size_t)m->padded, used = 0;
    s->positions = carve(block, &used, n, sizeof(quad));
    s->velocities = carve(block, &used, n, sizeof(quad));
    s->targets = carve(block, &used, n, sizeof(quad));
    s->rotations = carve(block, &used, 4 * n, sizeof(float));
    s->errors = carve(block, &used, n, sizeof(float));
    s->voxels = carve(block, &used, 3 * (size_t)m->count, sizeof(float));
    s->scene_targets = carve(block, &used, 3 * (size_t)m->count, sizeof(float));
    return used;
}

static size_t scratch_carve(const lattice_model *m, char *block, lattice_scratch *s)
{
    size_t n = (size_t)m->padded + LATTICE_PAD, used = 0;
    s->guess = carve(block, &used, n, sizeof(quad));
    s->moved = carve(block, &used, n, sizeof(quad));
    s->carried = carve(block, &used, n, sizeof(quad));
    s->weighted = carve(block, &used, n, sizeof(quad));
    s->a = carve(block, &used, n, sizeof(lattice_frame));
    s->b = carve(block, &used, n, sizeof(lattice_frame));
    s->frames = carve(block, &used, n, sizeof(lattice_frame));
    s->loans = carve(block, &used, (size_t)m->sweep.loan_most, sizeof(lattice_frame));
    s->turns = carve(block, &used, n, sizeof(lattice_frame));
    s->joints = carve(block, &used, (size_t)m->joint_count + 1, sizeof(lattice_frame));
    s->displacements = carve(block, &used, n, sizeof(quad));
    s->skinning = carve(block, &used, skinning_scratch_count(&m->surface.base), sizeof(float));
    s->base = carve(block, &used, 3 * (size_t)m->surface.point_count, sizeof(float));
    s->pushes = carve(block, &used, 3 * n + 3, sizeof(quad));
    s->repairs = carve(block, &used, n / VOXEL_GRAIN + 1, sizeof(int));
    const lattice_contact *contact = &m->contact;
    if (contact->self || contact->with_props) {
        size_t points = (size_t)m->surface.point_count;
        s->wishes = carve(block, &used, n, sizeof(quad));
        s->contact.points = carve(block, &used, 3 * points, sizeof(float));
        s->contact.start = carve(block, &used, 3 * points, sizeof(float));
        s->contact.end = carve(block, &used, 3 * points, sizeof(float));
        s->contact.places = carve(block, &used, contact->press ? 3 * points : 0, sizeof(float));
        s->contact.planes = carve(block, &used, contact->with_props ? points : 0, sizeof(contact_plane));
        void *work = carve(block, &used, contact->self ? contact_work_size(&contact->surface) : 0, 1);
        if (contact->self && work) s->contact.work = contact_work_make(&contact->surface, work);
    }
    return used;
}

static size_t lattice_state_size(const void *data)
{
    lattice_state unused;
    return state_carve(data, NULL, &unused);
}

static size_t lattice_scratch_size(const void *data)
{
    lattice_scratch unused;
    return scratch_carve(data, NULL, &unused);
}

static long lattice_element_count(const void *data) { return ((const lattice_model *)data)->count; }

/* ---- one substep ---- */

typedef struct lattice_step_job {
    const lattice_model *m;
    lattice_state s;
    lattice_scratch t;
    const solver_input *input;
    lattice_frame reference; /* rigid motion that sums are relative to, from rest place to place */
    const quad *shown;       /* the voxels that displace_block shows */
    float h;
} lattice_step_job;

/* A skinning matrix as a map in sizes, about the middle of the rest pose. */
static void joint_map(const lattice_model *m, const float matrix[12], lattice_frame *joint)
{
    vec3 moved = mat34_point(matrix, vec3_load(m->origin));
    joint->b = (quad){(moved.x - m->origin[0]) / m->size, (moved.y - m->origin[1]) / m->size,
                      (moved.z - m->origin[2]) / m->size, 0};
    for (int k = 0; k < 3; k++) joint->r[k] = (quad){matrix[k], matrix[4 + k], matrix[8 + k], 0};
}

/* All of them; the last one is the scene. */
static void joints_prepare(const lattice_model *m, const float *skin, lattice_frame *joints)
{
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    for (int j = 0; j < m->joint_count; j++) joint_map(m, skin + 12 * j, &joints[j]);
    joint_map(m, identity, &joints[m->joint_count]);
}

/* Equation 3 for all voxels; bone voxels go to their place. */
static void primary_block(void *context, int begin, int end)
{
    lattice_step_job *job = context;
    const lattice_model *m = job->m;
    quad inverse_h = quad_set(1 / job->h);
    for (int v = begin; v < end; v++) {
        const int *joints = m->joints + LATTICE_JOINTS * v;
        const float *weights = m->weights + LATTICE_JOINTS * v;
        lattice_frame map = {{0}, {{0}, {0}, {0}}};
        for (int i = 0; i < LATTICE_JOINTS && weights[i] > 0; i++) {
            const lattice_frame *joint = &job->t.joints[joints[i]];
            quad w = quad_set(weights[i]);
            map.b += joint->b * w;
            for (int k = 0; k < 3; k++) map.r[k] += joint->r[k] * w;
        }
        quad rest = m->rest[v], target = map.b + map.r[0] * rest[0] + map.r[1] * rest[1] + map.r[2] * rest[2];
        quad speed = (target - job->s.targets[v]) * inverse_h;
        job->s.targets[v] = target;
        job->t.carried[v] = speed;
        if (v < m->bone_count) job->t.guess[v] = target;
        for (int k = 0; k < 3 && m->turned[v]; k++) {
            quad column = map.r[k];
            float length = sqrtf(column[0] * column[0] + column[1] * column[1] + column[2] * column[2]);
            job->t.turns[v].r[k] = column * (length > 1e-6f ? 1 / length : 0);
        }
    }
}

static void predict_block(void *context, int begin, int end)
{
    lattice_step_job *job = context;
    quad h = quad_set(job->h);
    for (int i = begin; i < end; i++) {
        int v = job->m->bone_count + i;
        quad speed = job->s.velocities[v] + job->t.carried[v] * (1 - job->m->inertias[v]);
        job->t.guess[v] = job->s.positions[v] + speed * h;
    }
}

/* Where the reference motion puts a voxel. */
static inline quad reference_place(const lattice_step_job *job, int v)
{
    quad rest = job->m->rest[v];
    return job->reference.b + job->reference.r[0] * rest[0] + job->reference.r[1] * rest[1] +
           job->reference.r[2] * rest[2];
}

static void weigh_block(void *context, int begin, int end)
{
    lattice_step_job *job = context;
    for (int v = begin; v < end; v++) {
        quad p = job->t.guess[v] - reference_place(job, v);
        p[3] = 1;
        job->t.weighted[v] = p * job->m->masses[v];
    }
}

/* Equations 4 and 5. */
static void goal_block(void *context, int begin, int end)
{
    lattice_step_job *job = context;
    const lattice_model *m = job->m;
    for (int v = begin; v < end; v++) {
        const lattice_frame *sum = &job->t.a[v];
        quad share = quad_set(m->regions.inverse_counts[v]);
        if (v < m->bone_count) continue;
        quad goal = sum->b * share + reference_place(job, v);
        goal[3] = 0;
        quad p = job->t.guess[v];
        p += (goal - p) * m->gains[v];
        if (m->freezes) p += (job->s.targets[v] - p) * m->freezes[v];
        job->t.guess[v] = p;
    }
}

static void match(lattice_step_job *job)
{
    const lattice_model *m = job->m;
    const cutis_jobs *jobs = job->input->jobs;
    parallel_for(jobs, m->count, VOXEL_GRAIN, weigh_block, job);
    lattice_sum_moments(&m->sweep, job->t.weighted, job->t.a, job->t.b, jobs);
    lattice_rotations(&m->regions, &job->reference, job->t.a, job->t.turns, job->s.rotations, job->t.frames, jobs);
    lattice_sum_frames(&m->sweep, job->t.frames, job->t.a, job->t.b, job->t.loans, jobs);
    parallel_for(jobs, m->count, VOXEL_GRAIN, goal_block, job);
}

/* How far the voxels are from their targets; shown: the guess, or any other places. */
static void displace_block(void *context, int begin, int end)
{
    lattice_step_job *job = context;
    for (int v = begin; v < end; v++) job->t.displacements[v] = job->shown[v] - job->s.targets[v];
}

/* The surface without the lattice's doing. */
static void base_write(lattice_step_job *job, float *points)
{
    skinning_linear(&job->m->surface.base, job->input->skin, job->t.skinning, job->input->jobs, points);
}

/* The surface that voxels at `shown` carry. */
static void surface_write(lattice_step_job *job, const quad *shown, float *points)
{
    job->shown = shown;
    base_write(job, points);
    parallel_for(job->input->jobs, job->m->count, VOXEL_GRAIN, displace_block, job);
    lattice_surface_displace(&job->m->surface, job->t.displacements, job->m->size, points, job->input->jobs);
}

/* Where a surface point is, in sizes, with the voxels at the guess; base: (point_count x 3). */
static quad point_place(const lattice_step_job *job, const float *base, int point)
{
    const lattice_model *m = job->m;
    const lattice_surface *surface = &m->surface;
    quad place = {0, 0, 0, 0};
    for (int k = 0; k < 3; k++) place[k] = (base[3 * point + k] - m->origin[k]) / m->size;
    for (int i = surface->first[point]; i < surface->first[point + 1]; i++) {
        int v = surface->voxels[i];
        place += (job->t.guess[v] - job->s.targets[v]) * surface->weights[i];
    }
    return place;
}

/*
 * Pull surface points towards their targets: the constraint that the point is there, solved by equation 6 for the
 * voxels that carry it. A strength of 1 pins; less closes that share of the way in a 60th of a second.
 */
static void drag(lattice_step_job *job)
{
    const lattice_model *m = job->m;
    if (job->input->drag_count > 0) base_write(job, job->t.base);
    for (int i = 0; i < job->input->drag_count; i++) {
        const cutis_drag *d = &job->input->drags[i];
        if (d->vertex < 0 || d->vertex >= m->character->vertex_count || !(d->strength > 0)) continue;
        int point = m->character->vertex_points[d->vertex];
        double strength = d->strength >= 1 ? 1 : 1 - det_pow(1 - (double)d->strength, 60.0 * job->h);
        quad target;
        bool finite = true;
        for (int k = 0; k < 3; k++) {
            target[k] = (d->target[k] - m->origin[k]) / m->size;
            finite &= fabsf(target[k]) < 1e6f;
        }
        target[3] = 0;
        if (!finite) continue;
        quad pull = (target - point_place(job, job->t.base, point)) * (float)strength;
        float length = sqrtf(pull[0] * pull[0] + pull[1] * pull[1] + pull[2] * pull[2]), sum = 0;
        if (length > DRAG_REACH) pull *= quad_set(DRAG_REACH / length);
        int first = m->surface.first[point], last = m->surface.first[point + 1];
        for (int k = first; k < last; k++)
            if (m->surface.voxels[k] >= m->bone_count) sum += m->surface.weights[k] * m->surface.weights[k];
        if (!(sum > 1e-6f)) continue;
        for (int k = first; k < last; k++)
            if (m->surface.voxels[k] >= m->bone_count)
                job->t.guess[m->surface.voxels[k]] += pull * (m->surface.weights[k] / sum);
    }
}

/* Stretch, volume and shape matching, n_total times. */
static void constrain(lattice_step_job *job, cutis_step_stats *stats)
{
    const lattice_model *m = job->m;
    const cutis_jobs *jobs = job->input->jobs;
    for (int i = 0; i < m->iterations; i++) {
        double start = clock_seconds(), time;
        if (m->has_stretch) {
            /* The corrections use the positions before any of them; bone voxels stay. */
            lattice_stretch_solve(&m->stretch, job->t.guess, job->t.moved, jobs);
            memcpy(job->t.guess + m->bone_count, job->t.moved + m->bone_count,
                   (size_t)(m->count - m->bone_count) * sizeof(quad));
        }
        time = clock_seconds(), stats->part_ms[PART_STRETCH] += (time - start) * 1e3, start = time;
        if (m->has_volume)
            lattice_volume_solve(&m->volume, job->t.guess, job->t.turns, job->s.errors, job->t.pushes, jobs);
        time = clock_seconds(), stats->part_ms[PART_VOLUME] += (time - start) * 1e3, start = time;
        match(job);
        drag(job);
        time = clock_seconds(), stats->part_ms[PART_MATCHING] += (time - start) * 1e3;
    }
}

/* Velocities and damping. */
static void update_block(void *context, int begin, int end)
{
    lattice_step_job *job = context;
    const lattice_model *m = job->m;
    quad inverse_h = quad_set(1 / job->h), scale = quad_set(m->size);
    quad origin = {m->origin[0], m->origin[1], m->origin[2], 0};
    int *repairs = &job->t.repairs[begin / VOXEL_GRAIN];
    *repairs = 0;
    for (int v = begin; v < end; v++) {
        quad p = job->t.guess[v], target = job->s.targets[v];
        if (v >= m->bone_count) {
            quad away = p - target, carried = job->t.carried[v];
            float distance2 = away[0] * away[0] + away[1] * away[1] + away[2] * away[2];
            quad speed = (p - job->s.positions[v]) * inverse_h;
            speed = carried + (speed - carried) * m->keeps[v];
            if (!(distance2 < LEASH * LEASH)) {
                p = job->t.guess[v] = target, speed = carried;
                ++*repairs;
            }
            job->s.velocities[v] = speed - carried * (1 - m->inertias[v]);
        }
        job->s.positions[v] = p;
        quad scene = origin + p * scale, scene_target = origin + target * scale;
        for (int k = 0; k < 3; k++)
            job->s.voxels[3 * v + k] = scene[k], job->s.scene_targets[3 * v + k] = scene_target[k];
    }
}

static void job_prepare(lattice_step_job *job, const void *data, void *state, void *scratch, const solver_input *input)
{
    const lattice_model *m = data;
    memset(job, 0, sizeof *job);
    job->m = m, job->input = input, job->h = (float)m->substep;
    state_carve(m, state, &job->s);
    scratch_carve(m, scratch, &job->t);
    /* The regions' padding is computed with; nothing else ever writes it. */
    for (int v = m->count; v < m->padded; v++) job->t.a[v] = job->t.turns[v] = (lattice_frame){{0}, {{0}, {0}, {0}}};
    joints_prepare(m, input->skin, job->t.joints);
}

/* The rigid part of a joint's motion. */
static lattice_frame rigid_part(const lattice_frame *joint)
{
    mat34 map = {{0}};
    for (int k = 0; k < 9; k++) map.m[k / 3 * 4 + k % 3] = joint->r[k % 3][k / 3];
    vec3 translation, scale;
    quat turn;
    mat34_decompose(map, &translation, &turn, &scale);
    mat3 r = quat_matrix(quat_normalize(turn));
    lattice_frame rigid = {.b = joint->b};
    for (int k = 0; k < 3; k++) rigid.r[k] = (quad){r.m[k], r.m[3 + k], r.m[6 + k], 0};
    return rigid;
}

static void reference_choose(lattice_step_job *job) { job->reference = rigid_part(&job->t.joints[job->m->reference]); }

/* The same at the start of the substep. */
static lattice_frame reference_before(const lattice_step_job *job)
{
    const lattice_model *m = job->m;
    if (m->reference >= m->joint_count) return job->reference;
    mat34 pose, bind, skin;
    memcpy(pose.m, job->input->joints_old + 12 * m->reference, sizeof pose.m);
    memcpy(bind.m, m->character->joints[m->reference].inverse_bind, sizeof bind.m);
    skin = mat34_multiply(pose, bind);
    lattice_frame joint;
    joint_map(m, skin.m, &joint);
    return rigid_part(&joint);
}

/* Let the voxels give way where the skin touches; start: the skin of the last substep. */
static int collide(lattice_step_job *job, const lattice_frame *before, const float *start)
{
    int contacts = 0;
    if (job->m->contact.press) base_write(job, job->t.contact.places);
    for (int round = 0; round < CONTACT_ROUNDS; round++) {
        surface_write(job, job->t.guess, job->t.contact.points);
        contacts = lattice_contact_wishes(job->m, &job->t.contact, job->input, before, &job->reference, start, round,
                                          job->t.wishes);
        if (!contacts) break;
        for (int v = job->m->bone_count; v < job->m->count; v++) job->t.guess[v] += job->t.wishes[v];
    }
    return contacts;
}

static void lattice_step(const void *data, void *state, void *scratch, const solver_input *input, float *points,
                         cutis_step_stats *stats)
{
    const lattice_model *m = data;
    lattice_step_job job;
    double start = clock_seconds(), time;
    job_prepare(&job, data, state, scratch, input);
    parallel_for(input->jobs, m->count, VOXEL_GRAIN, primary_block, &job);
    reference_choose(&job);
    time = clock_seconds(), stats->part_ms[PART_PRIMARY] += (time - start) * 1e3, start = time;
    parallel_for(input->jobs, m->count - m->bone_count, VOXEL_GRAIN, predict_block, &job);
    time = clock_seconds(), stats->part_ms[PART_PREDICTION] += (time - start) * 1e3;

    constrain(&job, stats);
    stats->iterations += m->iterations;

    start = clock_seconds();
    bool touches = m->contact.self || m->contact.with_props;
    lattice_frame before = job.reference;
    if (touches) before = reference_before(&job), stats->contacts = collide(&job, &before, points);
    time = clock_seconds(), stats->part_ms[PART_CONTACT] += (time - start) * 1e3, start = time;
    parallel_for(input->jobs, m->count, VOXEL_GRAIN, update_block, &job);
    for (int i = 0; i * VOXEL_GRAIN < m->count; i++) stats->repairs += job.t.repairs[i];
    time = clock_seconds(), stats->part_ms[PART_UPDATE] += (time - start) * 1e3, start = time;
    if (!touches) {
        if (!input->between) surface_write(&job, job.t.guess, points);
        stats->part_ms[PART_SURFACE] += (clock_seconds() - start) * 1e3;
        return;
    }
    /* Contact needs the skin of every substep: where it was, and where it goes. */
    surface_write(&job, job.t.guess, job.t.contact.points);
    time = clock_seconds(), stats->part_ms[PART_SURFACE] += (time - start) * 1e3, start = time;
    lattice_contact_finish(m, &job.t.contact, input, &job.reference, points, job.t.contact.points);
    memcpy(points, job.t.contact.points, (size_t)m->surface.point_count * 3 * sizeof(float));
    stats->part_ms[PART_CONTACT] += (clock_seconds() - start) * 1e3;
}

/* ---- reset, teleport, outputs ---- */

/* Rotations of the regions as the skeleton turns them: the nearest rotation to each voxel's skinning map. */
static void rotations_reset(lattice_step_job *job)
{
    const lattice_model *m = job->m;
    for (int v = 0; v < m->padded; v++) {
        quat q = quat_identity();
        if (v < m->count) {
            mat3 sum = {{0}};
            for (int i = 0; i < LATTICE_JOINTS; i++)
                for (int k = 0; k < 9; k++)
                    sum.m[k] += m->weights[LATTICE_JOINTS * v + i] *
                                job->t.joints[m->joints[LATTICE_JOINTS * v + i]].r[k % 3][k / 3];
            /* Start from the strongest joint, so that half turns are no trouble. */
            const lattice_frame *joint = &job->t.joints[m->joints[LATTICE_JOINTS * v]];
            mat34 strongest = {{0}};
            for (int k = 0; k < 9; k++) strongest.m[k / 3 * 4 + k % 3] = joint->r[k % 3][k / 3];
            vec3 translation, scale;
            mat34_decompose(strongest, &translation, &q, &scale);
            q = polar_rotation(sum, q, 20);
        }
        const float parts[4] = {q.x, q.y, q.z, q.w};
        for (int i = 0; i < 4; i++) job->s.rotations[(size_t)i * m->padded + v] = parts[i];
    }
}

/* Substeps without velocity until the body rests in the pose, so that the first frame does not start with a jerk. */
#define SETTLE_STEPS 120
#define SETTLED 1e-7f

static void lattice_reset(const void *data, void *state, void *scratch, const solver_input *input, float *points)
{
    const lattice_model *m = data;
    lattice_step_job job;
    cutis_step_stats unused = {0};
    memset(state, 0, lattice_state_size(m));
    job_prepare(&job, data, state, scratch, input);
    primary_block(&job, 0, m->count);
    rotations_reset(&job);
    reference_choose(&job);
    for (int v = 0; v < m->count; v++) {
        job.s.positions[v] = job.t.guess[v] = job.s.targets[v];
        job.s.velocities[v] = job.t.carried[v] = (quad){0, 0, 0, 0};
    }
    for (int i = 0; i < SETTLE_STEPS; i++) {
        float moved = 0;
        constrain(&job, &unused);
        for (int v = m->bone_count; v < m->count; v++) {
            quad d = job.t.guess[v] - job.s.positions[v];
            moved = fmaxf(moved, fmaxf(fabsf(d[0]), fmaxf(fabsf(d[1]), fabsf(d[2]))));
            job.s.positions[v] = job.t.guess[v];
        }
        if (!(moved > SETTLED)) break;
    }
    update_block(&job, 0, m->count);
    for (int v = 0; v < m->count; v++) job.s.velocities[v] = (quad){0, 0, 0, 0};
    surface_write(&job, job.t.guess, points);
}

static void lattice_teleport(const void *data, void *state, const float transform[12])
{
    const lattice_model *m = data;
    lattice_state s;
    state_carve(m, state, &s);
    mat34 move;
    memcpy(&move, transform, sizeof move);
    vec3 translation, scale, moved = mat34_point(transform, vec3_load(m->origin));
    quat turn;
    mat34_decompose(move, &translation, &turn, &scale);
    quad c[3], shift = {(moved.x - m->origin[0]) / m->size, (moved.y - m->origin[1]) / m->size,
                        (moved.z - m->origin[2]) / m->size, 0};
    for (int k = 0; k < 3; k++) c[k] = (quad){transform[k], transform[4 + k], transform[8 + k], 0};
    for (int v = 0; v < m->count; v++) {
        quad p = s.positions[v], u = s.velocities[v], t = s.targets[v];
        s.positions[v] = shift + c[0] * p[0] + c[1] * p[1] + c[2] * p[2];
        s.velocities[v] = c[0] * u[0] + c[1] * u[1] + c[2] * u[2];
        s.targets[v] = shift + c[0] * t[0] + c[1] * t[1] + c[2] * t[2];
        float *q = s.rotations + v;
        size_t n = m->padded;
        quat after = quat_normalize(quat_multiply(turn, (quat){q[0], q[n], q[2 * n], q[3 * n]}));
        q[0] = after.x, q[n] = after.y, q[2 * n] = after.z, q[3 * n] = after.w;
        vec3_store(s.voxels + 3 * v, mat34_point(transform, vec3_load(s.voxels + 3 * v)));
        vec3_store(s.scene_targets + 3 * v, mat34_point(transform, vec3_load(s.scene_targets + 3 * v)));
    }
}

static bool lattice_output(const void *data, const void *state, int index, cutis_output *output)
{
    const lattice_model *m = data;
    lattice_state s;
    /* Only read through: the state is not changed. */
    state_carve(m, (char *)state, &s);
    const cutis_output outputs[OUTPUT_COUNT] = {
        {CUTIS_DOMAIN_ELEMENT, m->count, 3, s.voxels},
        {CUTIS_DOMAIN_ELEMENT, m->count, 3, s.scene_targets},
        {CUTIS_DOMAIN_ELEMENT, m->count, 1, m->layers},
        {CUTIS_DOMAIN_ELEMENT, m->count, LATTICE_LAYERS, m->shares},
        {CUTIS_DOMAIN_ELEMENT, m->count, 1, m->edges},
        {CUTIS_DOMAIN_VERTEX, m->character->vertex_count, 1, m->softness},
    };
    if (index < 0 || index >= OUTPUT_COUNT) return false;
    *output = outputs[index];
    return true;
}

extern const solver solver_lattice;
const solver solver_lattice = {
    .info = {.name = "lattice",
             .summary = "voxels in layers of bone, muscle, fat and skin, by lattice shape matching; for real time",
             .paper = "Iwamoto, Shum, Yang, Morishima 2015, Multi-layer lattice model for real-time dynamic character "
                      "deformation",
             .element = "voxels",
             .parts = part_names,
             .part_count = PART_COUNT,
             .substep = 1.0 / 120,
             .parameters = lattice_parameters,
             .parameter_count = LATTICE_PARAMETERS,
             .outputs = output_infos,
             .output_count = OUTPUT_COUNT,
             .flags = CUTIS_SOLVER_SELF_CONTACT},
    .float_state = true,
    .build = lattice_model_build,
    .element_count = lattice_element_count,
    .state_size = lattice_state_size,
    .scratch_size = lattice_scratch_size,
    .reset = lattice_reset,
    .step = lattice_step,
    .teleport = lattice_teleport,
    .output = lattice_output,
};
