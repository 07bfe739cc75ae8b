/*
 * layers.c: solver `layers`: skin, fat, muscle and bone layers of oriented particles.
 *
 * C. Deul, J. Bender 2013, "Physically-Based Character Skinning" (VRIPHYS). This file holds the parameters and
 * the step (their algorithm 1); layers_build.c makes the layers, layers_paths.c the paths, layers_match.c the
 * elasticity, layers_volume.c the sub-volumes. Their heads name the departures; those of the step itself:
 * - The bone layer is driven by dual quaternions by default (parameter `drive`): driven linearly it collapses
 *   itself in a twist, and the flesh with it.
 * - Contacts carry multipliers through the elastic loop: their impulses stay in the particle's balance of inertia
 *   and elasticity instead of being found anew in each iteration.
 * - At the end of a substep, continuous detection makes the motion free of impacts (contact_resolve), so that a
 *   skin without intersections never gets any.
 * - Iterations are accelerated by Chebyshev's semi-iterative method (Wang 2015 for projective dynamics).
 * - Velocities are damped relative to the skeleton's motion, by a rate in 1/s.
 */
#include <string.h>

#include "solvers/layers/layers.h"

#define FLOAT_PARAMETER(name_, default_, min_, max_, unit_, bone_, help_)                                  \
    {                                                                                                      \
        .name = name_, .type = CUTIS_PARAMETER_FLOAT, .default_value = default_, .min = min_, .max = max_, \
        .unit = unit_, .per_bone = bone_, .help = help_                                                    \
    }
#define INT_PARAMETER(name_, default_, min_, max_, help_)                                                            \
    {                                                                                                                \
        .name = name_, .type = CUTIS_PARAMETER_INT, .default_value = default_, .min = min_, .max = max_, .unit = "", \
        .help = help_                                                                                                \
    }
#define BOOL_PARAMETER(name_, default_, bone_, help_)                                                 \
    {                                                                                                 \
        .name = name_, .type = CUTIS_PARAMETER_BOOL, .default_value = default_, .max = 1, .unit = "", \
        .per_bone = bone_, .help = help_                                                              \
    }
#define CHOICE_PARAMETER(name_, choices_, help_)                                                                \
    {                                                                                                           \
        .name = name_, .type = CUTIS_PARAMETER_CHOICE, .max = 1, .unit = "", .choices = choices_, .help = help_ \
    }

static const cutis_parameter layers_parameters[LAYERS_PARAMETER_COUNT] = {
    [LAYERS_ITERATIONS] = INT_PARAMETER("iterations", 15, 1, 200, "iterations of elasticity and contact a substep"),
    [LAYERS_VOLUME_ITERATIONS] = INT_PARAMETER("volume_iterations", 4, 0, 50, "iterations of volume conservation"),
    [LAYERS_RINGS] = INT_PARAMETER("rings", 2, 1, 8, "size w of shape matching regions, in rings of neighbours"),
    [LAYERS_SUMMATION] = CHOICE_PARAMETER("summation", "fast|naive", "sums over regions: along paths, or one by one"),
    [LAYERS_DRIVE] = CHOICE_PARAMETER("drive", "dqs|lbs", "how the skeleton moves the bone layer"),
    [LAYERS_SKIN_STIFFNESS] = FLOAT_PARAMETER("skin_stiffness", 0.4, 0, 1, "", true, "stiffness of the skin layer"),
    [LAYERS_FAT_STIFFNESS] = FLOAT_PARAMETER("fat_stiffness", 0.4, 0, 1, "", true, "stiffness of the fat layer"),
    [LAYERS_MUSCLE_STIFFNESS] =
        FLOAT_PARAMETER("muscle_stiffness", 0.7, 0, 1, "", true, "stiffness of the muscle layer"),
    [LAYERS_BONE_STIFFNESS] = FLOAT_PARAMETER("bone_stiffness", 0.8, 0, 1, "", true, "stiffness of the bone layer"),
    [LAYERS_FAT_DEPTH] =
        FLOAT_PARAMETER("fat_depth", 0.15, 0, 1, "", true, "where the fat layer lies between skin (0) and bone (1)"),
    [LAYERS_MUSCLE_DEPTH] = FLOAT_PARAMETER("muscle_depth", 0.45, 0, 1, "", true, "the same for the muscle layer"),
    [LAYERS_BONE_DEPTH] = FLOAT_PARAMETER("bone_depth", 0.8, 0.05, 1, "", true, "the same for the bone layer"),
    [LAYERS_FLESH] = FLOAT_PARAMETER("flesh", 0.05, 0.001, 1, "size", true,
                                     "greatest depth of the bone layer, over the character's size"),
    [LAYERS_SIBLINGS] = FLOAT_PARAMETER("siblings", 0.3, 0.01, 4, "", false,
                                        "weight of the adjacent layers in a region, over that of its ring"),
    [LAYERS_COUPLING] =
        FLOAT_PARAMETER("coupling", 1, 0, 1, "", false, "how firmly the bone layer is held by the skeleton"),
    [LAYERS_JOINT_DISTANCE] = FLOAT_PARAMETER("joint_distance", 0.8, 0, 1, "", true,
                                              "least distance of flesh from the joint it surrounds, over that at rest"),
    [LAYERS_DAMPING] =
        FLOAT_PARAMETER("damping", 4, 0, 100, "1/s", false, "rate at which motion relative to the skeleton dies away"),
    [LAYERS_GRAVITY] = FLOAT_PARAMETER("gravity", 0, -100, 100, "size/s2", false,
                                       "pull downwards (-y); 0 because the modelled shape hangs already"),
    [LAYERS_CONTACT] = BOOL_PARAMETER("contact", 1, false, "collision of the skin with itself"),
    [LAYERS_THICKNESS] = FLOAT_PARAMETER("thickness", 0.001, 0.00001, 0.02, "size", false,
                                         "gap kept between touching parts, over the character's size"),
    [LAYERS_FRICTION] = FLOAT_PARAMETER("friction", 0.3, 0, 2, "", true, "Coulomb coefficient of the skin"),
    [LAYERS_RESTITUTION] =
        FLOAT_PARAMETER("restitution", 0, 0, 1, "", true, "share of the speed of approach that an impact gives back"),
    [LAYERS_VOLUME] = BOOL_PARAMETER("volume", 1, false, "conservation of volume"),
    [LAYERS_CUT] =
        FLOAT_PARAMETER("cut", 0.5, 0, 1, "", true, "where along the bone the sub-volumes of its two joints meet"),
    [LAYERS_SHARE_VOLUME] =
        BOOL_PARAMETER("share_volume", 0, true, "on: the joint's sub-volume is part of its parent's"),
};

static const char *const layers_parts[] = {"elasticity", "contact", "volume", "other"};
enum { PART_ELASTICITY, PART_CONTACT, PART_VOLUME, PART_OTHER };
static const char *const layers_outputs[] = {"fat", "muscle", "bone", "contact", "piece"};
enum { OUTPUT_PIECE = 4 };

/* Paths and points that a thread takes at once; fixed, so that results do not depend on threads. */
enum { PATH_GRAIN = 2, POINT_GRAIN = 512 };
/*
 * Contraction of an elastic iteration, by which Chebyshev's recurrence extrapolates the next from the last two. Less
 * than most scenes have, so that it stays stable: 8 iterations then leave the error of 15.
 */
static const float RADIUS = 0.8f;
/* Speed of flesh relative to its bones beyond which it is cut, in sizes a second. */
static const float SPEED_LIMIT = 5;
/* Least distance from the bone's line in a full twist, over that at rest: the section keeps nine tenths. */
static const float TWIST_RADIUS = 0.96f;
/* Distance of the skin from its place under the skeleton alone at which it counts as torn, in sizes. */
static const float TORN = 0.3f;
/*
 * Tissue stiffens when it is strained far. Flesh further from its place under the skeleton than FAR (sizes: as deep
 * as flesh is), which no jiggle is, is drawn there by FAR_STIFFNESS (1/s^2, at 2 Hz) and damped critically (1/s, from
 * 2 FAR on): firm flesh does not feel it, and the softest, thrown about, comes home.
 */
static const float FAR = 0.03f;
static const double FAR_STIFFNESS = 158, FAR_DAMPING = 25;
/* Stiffness (1/s^2, at 4 Hz) of the tie to linear skinning of a point that is painted half frozen. */
static const float FREEZE_STIFFNESS = 632;
/* Rate at which a torn skin is brought home, 1/s. */
static const double RECOVERY_RATE = 10;
/* How far the skin may move in a substep relative to its mean motion: in sizes, and sizes a second. */
static const float REACH_LIMIT = 0.04f, REACH_RATE = 3;
/*
 * Push of contact, over the thickness, from which on a point gives way to contact alone. More than 0: else rounding,
 * which decides whether a pair just presses or just does not, would switch the volume's share of the point on and off.
 */
static const float HELD = 0.05f;
/* At this rate, in 1/s, a pressure that is no longer needed goes. */
static const double PRESSURE_RATE = 4;
/* A pressure's most, over the depth of its piece. */
static const float PRESSURE_LIMIT = 0.3f;
/*
 * Substeps over which a reset walks from the rest pose to the pose it is asked for, and their least length in seconds:
 * long, so that inertia does not hold soft flesh back.
 */
enum { RESET_SUBSTEPS = 40 };
static const double RESET_SUBSTEP = 0.05;

/* ---- memory ---- */

/* What changes; floats behind the header. */
typedef struct layers_state {
    float *x[3], *v[3], *q[4]; /* (point_count x LAYERS) */
    float *pressures;          /* (volumes.count) what keeps the sub-volumes, see volumes_keep */
    float *recovering;         /* (1) not 0: the skin is torn or tangled, and contact rests until it is sound */
    float *turns;              /* (joint_count x 4) of joints against their parents, see skinning_dual_on */
    float *drive;              /* (drive.count x 3) skeleton's positions at the last substep, sizes */
    float *outputs;            /* (vertex_count x 3) of three layers, then (vertex_count) of contact */
} layers_state;

/* A joint in the pose of the substep. */
typedef struct layers_twist {
    vec3 centre, line; /* sizes; unit */
    float amount;      /* 0..1 */
    int side;          /* whose line: 0 of the bone that ends at the joint, 1 of that which begins */
} layers_twist;

typedef struct layers_scratch {
    layers_twist *twists; /* (joint_count) */
    bvh_node *nodes;      /* of the tree that counts intersections */
    layers_motion motion;
    float *old[3]; /* (point_count x LAYERS) positions at the start of the substep */
    float *drive;  /* (drive.count x 3) at its end */
    float *skinning;
    float *frozen;     /* (frozen_count x 2 x 3) */
    float *skin_old;   /* (point_count x 3) */
    float *velocities; /* ((point_count + centre_count) x 3) */
    float *before;     /* (point_count x 3) skin before the volume loop */
    float *free;       /* (point_count) 0: held by a contact */
    float *free_next;
    float *pressure; /* (point_count) */
    float *joints;   /* (joint_count x 12 x 2) of a reset */
    int *active;     /* (point_count) points in pairs or planes */
    uint8_t *marks;  /* (point_count) */
    contact_plane *planes;
    contact_pair *touches; /* pairs that press */
    int plane_capacity, touch_capacity;
    layers_volume_work volume;
    contact_work contact;
} layers_scratch;

static void *carve(char *memory, size_t *used, size_t count, size_t size)
{
    void *block = memory ? memory + *used : NULL;
    *used += (count * size + 63) / 64 * 64;
    return block;
}

static layers_state state_view(const layers_model *m, void *memory, size_t *size)
{
    layers_state s;
    size_t used = 0, particles = (size_t)m->point_count * LAYERS;
    for (int c = 0; c < 3; c++) s.x[c] = carve(memory, &used, particles, sizeof(float));
    for (int c = 0; c < 3; c++) s.v[c] = carve(memory, &used, particles, sizeof(float));
    for (int c = 0; c < 4; c++) s.q[c] = carve(memory, &used, particles, sizeof(float));
    s.pressures = carve(memory, &used, (size_t)m->volumes.count, sizeof(float));
    s.recovering = carve(memory, &used, 1, sizeof(float));
    s.turns = carve(memory, &used, (size_t)m->joint_count * 4, sizeof(float));
    s.drive = carve(memory, &used, (size_t)m->drive.count * 3, sizeof(float));
    s.outputs = carve(memory, &used, (size_t)m->character->vertex_count * 10, sizeof(float));
    if (size) *size = used;
    return s;
}

static layers_scratch scratch_view(const layers_model *m, void *memory, size_t *size)
{
    layers_scratch s = {.plane_capacity = 2 * m->point_count, .touch_capacity = 4 * m->point_count};
    size_t used = 0, n = (size_t)m->point_count, particles = n * LAYERS;
    size_t sums = (n + (size_t)m->paths.path_count) * SUM_STRIDE;
    size_t nodes = n + (size_t)m->volumes.centre_count;
    for (int c = 0; c < 3; c++) {
        s.old[c] = carve(memory, &used, particles, sizeof(float));
        s.motion.inert[c] = carve(memory, &used, particles, sizeof(float));
        s.motion.base_x[c] = carve(memory, &used, particles, sizeof(float));
        s.motion.last[c] = carve(memory, &used, particles, sizeof(float));
        s.motion.target[c] = carve(memory, &used, particles, sizeof(float));
        s.motion.push[c] = carve(memory, &used, n, sizeof(float));
    }
    s.motion.base = carve(memory, &used, n * SUM_STRIDE, sizeof(float));
    s.motion.base_sums = carve(memory, &used, sums, sizeof(double));
    s.motion.sums = carve(memory, &used, sums, sizeof(float));
    s.motion.maps = carve(memory, &used, sums, sizeof(float));
    s.drive = carve(memory, &used, (size_t)m->drive.count * 3, sizeof(float));
    s.skinning = carve(memory, &used, skinning_scratch_count(&m->drive), sizeof(float));
    s.frozen = carve(memory, &used, (size_t)m->frozen_count * 6, sizeof(float));
    s.skin_old = carve(memory, &used, n * 3, sizeof(float));
    s.velocities = carve(memory, &used, nodes * 3 + 1, sizeof(float));
    s.before = carve(memory, &used, n * 3, sizeof(float));
    s.free = carve(memory, &used, n, sizeof(float));
    s.free_next = carve(memory, &used, n, sizeof(float));
    s.pressure = carve(memory, &used, n, sizeof(float));
    s.joints = carve(memory, &used, (size_t)m->joint_count * 36, sizeof(float));
    s.nodes = carve(memory, &used, (size_t)m->tree.node_count, sizeof(bvh_node));
    s.twists = carve(memory, &used, (size_t)m->joint_count, sizeof(layers_twist));
    s.active = carve(memory, &used, n, sizeof(int));
    s.marks = carve(memory, &used, n, 1);
    s.planes = carve(memory, &used, m->props.count > 0 ? (size_t)s.plane_capacity : 0, sizeof(contact_plane));
    s.touches = carve(memory, &used, (size_t)s.touch_capacity, sizeof(contact_pair));
    s.volume.positions = carve(memory, &used, nodes * 3 + 1, sizeof(float));
    s.volume.directions = carve(memory, &used, n * 3 + 1, sizeof(float));
    s.volume.lambdas = carve(memory, &used, (size_t)m->volumes.count, sizeof(float));
    s.volume.totals = carve(memory, &used, (size_t)m->volumes.count, sizeof(float));
    s.volume.freedom = carve(memory, &used, (size_t)m->volumes.count, sizeof(float));
    size_t parts = m->volumes.count > 0 ? (size_t)m->volumes.part_first[m->volumes.count] : 0;
    s.volume.sums = carve(memory, &used, 3 * parts, sizeof(double));
    s.volume.components = carve(memory, &used, (size_t)m->mesh->component_count, sizeof(layers_component_sum));
    size_t contact_bytes = contact_work_size(&m->surface);
    char *contact = carve(memory, &used, contact_bytes, 1);
    if (contact) s.contact = contact_work_make(&m->surface, contact);
    if (size) *size = used;
    return s;
}

static size_t layers_state_size(const void *data)
{
    size_t size;
    state_view(data, NULL, &size);
    return size;
}

static size_t layers_scratch_size(const void *data)
{
    size_t size;
    scratch_view(data, NULL, &size);
    return size;
}

static long layers_element_count(const void *data) { return (long)((const layers_model *)data)->point_count * LAYERS; }

/* ---- a substep ---- */

/* Everything a substep works with. */
typedef struct layers_run {
    const layers_model *m;
    layers_state s;
    layers_scratch w;
    const solver_input *input;
    double h;
    float omega; /* of the acceleration, in this iteration */
    int pair_count, plane_count, touch_count, active_count;
} layers_run;

/* Where the skeleton has skin, bone layer and fans' centres, in sizes. */
static void drive_find(layers_run *run, const float *skin, float *positions)
{
    const layers_model *m = run->m;
    if (m->drive_linear)
        skinning_linear(&m->drive, skin, run->w.skinning, run->input->jobs, positions);
    else
        skinning_dual_on(&m->drive, skin, m->parents, run->s.turns, run->w.skinning, run->input->jobs, positions);
    if (m->frozen_count > 0) {
        float *frozen = run->w.frozen;
        skinning_linear(&m->frozen_drive, skin, run->w.skinning, run->input->jobs, frozen);
        for (int i = 0; i < m->frozen_count; i++) {
            memcpy(positions + 3 * m->frozen[i], frozen + 3 * i, 3 * sizeof(float));
            memcpy(positions + 3 * (m->point_count + m->frozen[i]), frozen + 3 * (m->frozen_count + i),
                   3 * sizeof(float));
        }
    }
    float scale = 1 / m->size;
    for (int i = 0; i < m->drive.count; i++)
        for (int c = 0; c < 3; c++) positions[3 * i + c] = (positions[3 * i + c] - m->centre[c]) * scale;
}

/* A particle's position in a drive: between skin and bone layer by depth. */
static float drive_at(const layers_model *m, const float *drive, int k, int l, int c)
{
    float skin = drive[3 * k + c], bone = drive[3 * (m->point_count + k) + c];
    return skin + m->depths[4 * k + l] * (bone - skin);
}

/* Where inertia takes the particles (algorithm 1, lines 1 to 4), and where the skeleton wants them. */
static void predict(void *context, int begin, int end)
{
    layers_run *run = context;
    const layers_model *m = run->m;
    float h = (float)run->h;
    for (int c = 0; c < 3; c++) {
        float fall = c == 1 ? -m->gravity * h : 0;
        const float *x = run->s.x[c], *v = run->s.v[c];
        for (int k = begin; k < end; k++)
            for (int l = 0; l < LAYERS; l++) {
                int i = 4 * k + l;
                run->w.old[c][i] = x[i];
                run->w.motion.target[c][i] = drive_at(m, run->w.drive, k, l, c);
                float y = x[i] + h * (v[i] + fall);
                run->w.motion.inert[c][i] = y;
                run->w.motion.x[c][i] = l == LAYER_BONE ? run->w.motion.target[c][i] : y;
                run->w.motion.last[c][i] = run->w.motion.x[c][i];
            }
        for (int k = begin; k < end; k++) run->w.skin_old[3 * k + c] = run->w.old[c][4 * k];
    }
    float pull = (float)(run->h * run->h * FAR_STIFFNESS), share = pull / (1 + pull);
    for (int i = LAYERS * begin; i < LAYERS * end; i++) {
        float away[3], away2 = 0;
        for (int c = 0; c < 3; c++) away[c] = run->w.motion.target[c][i] - run->w.motion.inert[c][i];
        for (int c = 0; c < 3; c++) away2 += away[c] * away[c];
        if (!(away2 > FAR * FAR)) continue;
        float step = share * (1 - FAR / sqrtf(away2));
        for (int c = 0; c < 3; c++) run->w.motion.inert[c][i] += step * away[c];
    }
}

static void base_sums(void *context, int begin, int end)
{
    layers_run *run = context;
    layers_match_base_sums(&run->m->paths, &run->m->regions, &run->w.motion, begin, end);
}

static void base_moments(void *context, int begin, int end)
{
    layers_run *run = context;
    layers_match_base(&run->m->paths, &run->m->regions, &run->w.motion, begin, end);
}

/* Mean motion of the skin's drive from rest. */
static void shift_find(layers_run *run)
{
    const layers_model *m = run->m;
    double sum[3] = {0};
    for (int k = 0; k < m->point_count; k++)
        for (int c = 0; c < 3; c++) sum[c] += (double)run->w.drive[3 * k + c] - m->mesh->positions[3 * k + c];
    for (int c = 0; c < 3; c++) run->w.motion.shift[c] = (float)(sum[c] / m->point_count);
}

static void iteration_sums(void *context, int begin, int end)
{
    layers_run *run = context;
    layers_match_sums(&run->m->paths, &run->m->regions, &run->w.motion, run->m->naive, begin, end);
}

static void iteration_maps(void *context, int begin, int end)
{
    layers_run *run = context;
    layers_match_maps(&run->m->paths, &run->m->regions, &run->w.motion, run->m->naive, begin, end);
}

/* How much the bones of each joint are twisted against each other (0..1), and about which line of the pose. */
static void twists_find(layers_run *run)
{
    const layers_model *m = run->m;
    for (int j = 0; j < m->joint_count; j++) {
        layers_twist *twist = run->w.twists + j;
        const float *joint = run->input->joints + 12 * j;
        int parent = m->character->joints[j].parent;
        *twist = (layers_twist){.centre = {(joint[3] - m->centre[0]) / m->size, (joint[7] - m->centre[1]) / m->size,
                                           (joint[11] - m->centre[2]) / m->size}};
        if (parent < 0) continue;
        mat34 own, other;
        vec3 translation, scale;
        quat q, p;
        memcpy(own.m, run->input->skin + 12 * j, sizeof own.m);
        memcpy(other.m, run->input->skin + 12 * parent, sizeof other.m);
        mat34_decompose(own, &translation, &q, &scale);
        mat34_decompose(other, &translation, &p, &scale);
        quat turn = quat_multiply(quat_conjugate(p), q);
        vec3 axis = {turn.x, turn.y, turn.z};
        float sine = vec3_length(axis);
        if (!(sine > 1e-4f)) continue;
        for (int side = 0; side < 2; side++) {
            vec3 bone = m->bone_axes[2 * j + side];
            float along = fabsf(vec3_dot(axis, bone)) / sine;
            float amount = CLAMP((along - 0.7f) / 0.25f, 0.0f, 1.0f) * MIN(sine / 0.35f, 1.0f);
            if (amount > twist->amount) twist->amount = amount, twist->side = side, twist->line = quat_rotate(q, bone);
        }
    }
}

/* Unilateral distances to the joint: out to the bound, along the ray from its centre, and from its line in a twist. */
static void holds_project(layers_run *run, int path_begin, int path_end)
{
    const layers_model *m = run->m;
    float **x = run->w.motion.x;
    for (int i = m->hold_first[path_begin]; i < m->hold_first[path_end]; i++) {
        const layers_hold *hold = m->holds + i;
        const layers_twist *twist = run->w.twists + hold->joint;
        if (!(hold->distance > 0) && !(twist->amount > 0)) continue;
        vec3 p = vec3_make(x[0][hold->particle], x[1][hold->particle], x[2][hold->particle]);
        vec3 way = vec3_sub(p, twist->centre);
        float length2 = vec3_length2(way);
        bool near = length2 < 1.0001f * hold->distance * hold->distance;
        if (!near && !(twist->amount > 0)) continue; /* nearly all of them: spare the roots */
        float length = sqrtf(length2);
        if (length < hold->distance && length > 1e-6f) {
            way = vec3_scale(way, hold->distance / length);
            p = vec3_add(twist->centre, way);
        }
        vec3 radial = vec3_madd(way, twist->line, -vec3_dot(way, twist->line));
        float radius = vec3_length(radial), least = TWIST_RADIUS * twist->amount * hold->radius[twist->side];
        if (radius < least && radius > 1e-6f) p = vec3_madd(p, radial, least / radius - 1);
        x[0][hold->particle] = p.x, x[1][hold->particle] = p.y, x[2][hold->particle] = p.z;
    }
}

/* What painted maps say of places begin..end: frozen ones stay with the skeleton, others are pressed in so far. */
static void maps_project(layers_run *run, int begin, int end)
{
    const layers_model *m = run->m;
    float **x = run->w.motion.x, **target = run->w.motion.target;
    for (int k = begin; k < end && m->press; k++) {
        if (m->press[k] >= 1) continue;
        vec3 skin = vec3_make(target[0][4 * k], target[1][4 * k], target[2][4 * k]);
        vec3 bone =
            vec3_make(target[0][4 * k + LAYER_BONE], target[1][4 * k + LAYER_BONE], target[2][4 * k + LAYER_BONE]);
        vec3 way = vec3_sub(skin, bone);
        float depth = vec3_length(way);
        if (!(depth > 1e-6f)) continue;
        vec3 out = vec3_scale(way, 1 / depth);
        for (int i = 4 * k; i < 4 * k + LAYER_BONE; i++) {
            vec3 off = vec3_make(x[0][i] - target[0][i], x[1][i] - target[1][i], x[2][i] - target[2][i]);
            float least = -m->press[k] * (1 - m->depths[i]) * depth, along = vec3_dot(off, out);
            if (along >= least) continue;
            x[0][i] += (least - along) * out.x, x[1][i] += (least - along) * out.y, x[2][i] += (least - along) * out.z;
        }
    }
    /* The tie of a frozen point joins inertia and elasticity in the particle's balance. */
    float h2 = (float)(run->h * run->h);
    for (int k = begin; k < end && m->freeze; k++) {
        if (!(m->freeze[k] > 0)) continue;
        float share = m->freeze[k] / (1 - m->freeze[k]), tie = FREEZE_STIFFNESS * h2 * share * share;
        for (int i = 4 * k; i < 4 * k + LAYERS; i++) {
            float keep = m->freeze[k] >= 1 ? 0 : 1 / (1 + tie / (1 + h2 * m->regions.kappa_mean[i]));
            for (int c = 0; c < 3; c++) x[c][i] = target[c][i] + keep * (x[c][i] - target[c][i]);
        }
    }
}

static void iteration_blend(void *context, int begin, int end)
{
    layers_run *run = context;
    const layers_model *m = run->m;
    layers_match_blend(&m->paths, &m->regions, &run->w.motion, m->naive, run->h, run->omega, m->coupling, begin, end);
    holds_project(run, begin, end);
    maps_project(run, m->paths.path_first[begin], m->paths.path_first[end]);
}

/* ---- contact ---- */

static void skin_gather(const layers_run *run, float *positions)
{
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < run->m->point_count; k++) positions[3 * k + c] = run->w.motion.x[c][4 * k];
}

static void point_activate(layers_run *run, int p)
{
    if (run->w.marks[p]) return;
    run->w.marks[p] = 1;
    run->w.active[run->active_count++] = p;
}

static void drags_activate(layers_run *run)
{
    for (int i = 0; i < run->input->drag_count; i++) {
        int v = run->input->drags[i].vertex;
        if (v < 0 || v >= run->m->character->vertex_count) continue;
        point_activate(run, run->m->paths.places[run->m->character->vertex_points[v]]);
    }
}

static contact_search_options search_options(const layers_model *m)
{
    return (contact_search_options){.margin = m->thickness + 0.1f * m->surface.edge_mean, .thickness = m->thickness};
}

/*
 * Bound the skin's motion in a substep relative to its mean, so that a bone that is torn elsewhere drags its skin
 * along over some substeps instead of sweeping it through everything at once.
 */
static void skin_limit(const layers_run *run, float *skin)
{
    const layers_model *m = run->m;
    float reach = REACH_LIMIT + REACH_RATE * (float)run->h;
    double sum[3] = {0};
    for (int k = 0; k < m->point_count; k++)
        for (int c = 0; c < 3; c++) sum[c] += (double)skin[3 * k + c] - run->w.skin_old[3 * k + c];
    vec3 mean = {(float)(sum[0] / m->point_count), (float)(sum[1] / m->point_count), (float)(sum[2] / m->point_count)};
    for (int k = 0; k < m->point_count; k++) {
        vec3 old = vec3_add(vec3_load(run->w.skin_old + 3 * k), mean), way = vec3_sub(vec3_load(skin + 3 * k), old);
        float length2 = vec3_length2(way);
        if (length2 > reach * reach) vec3_store(skin + 3 * k, vec3_madd(old, way, reach / sqrtf(length2)));
    }
}

/* A prop presses a point no further from its place than is painted; beyond that it enters the flesh. */
static void planes_limit(layers_run *run)
{
    const layers_model *m = run->m;
    for (int i = 0; i < run->plane_count && m->press; i++) {
        contact_plane *plane = run->w.planes + i;
        int k = plane->point;
        if (m->press[k] >= 1) continue;
        const float *skin = run->w.drive + 3 * k, *bone = run->w.drive + 3 * (m->point_count + k);
        float reach = m->press[k] * vec3_distance(vec3_load(skin), vec3_load(bone));
        plane->offset = MIN(plane->offset, vec3_dot(plane->normal, vec3_load(skin)) + reach);
    }
}

static void contacts_search(layers_run *run)
{
    const layers_model *m = run->m;
    contact_search_options options = search_options(m);
    float *skin = run->w.volume.positions;
    skin_gather(run, skin);
    skin_limit(run, skin);
    run->pair_count = run->plane_count = run->active_count = 0;
    memset(run->w.marks, 0, (size_t)m->point_count);
    if (m->self_contact && *run->s.recovering == 0)
        run->pair_count =
            contact_search(&m->surface, &run->w.contact, run->w.skin_old, skin, &options, run->input->jobs);
    if (m->props.count > 0)
        run->plane_count = contact_props_search(&m->props, run->input->joints_old, run->input->joints, run->h,
                                                m->point_count, run->w.skin_old, skin, options.margin, m->thickness,
                                                run->w.planes, run->w.plane_capacity);
    planes_limit(run);
    for (int i = 0; i < run->pair_count; i++)
        for (int k = 0; k < 4; k++) point_activate(run, run->w.contact.pairs[i].v[k]);
    for (int i = 0; i < run->plane_count; i++) point_activate(run, run->w.planes[i].point);
    drags_activate(run);
}

static void plane_project(contact_plane *plane, float *positions)
{
    float *x = positions + 3 * plane->point;
    float value = vec3_dot(plane->normal, vec3_load(x)) - plane->offset;
    if (value >= 0 && plane->lambda <= 0) return;
    float next = MAX(plane->lambda - value, 0);
    vec3_store(x, vec3_madd(vec3_load(x), plane->normal, next - plane->lambda));
    plane->lambda = next;
}

/* A dragged point goes its strength's share of the way in each substep. */
static void drags_project(layers_run *run, float *positions)
{
    const layers_model *m = run->m;
    for (int i = 0; i < run->input->drag_count; i++) {
        const cutis_drag *drag = run->input->drags + i;
        if (drag->vertex < 0 || drag->vertex >= m->character->vertex_count) continue;
        int k = m->paths.places[m->character->vertex_points[drag->vertex]];
        float strength = CLAMP(drag->strength, 0.0f, 1.0f);
        for (int c = 0; c < 3; c++) {
            float target = (drag->target[c] - m->centre[c]) / m->size;
            if (!(fabsf(target) < 100)) continue;
            positions[3 * k + c] += strength * (target - positions[3 * k + c]);
        }
    }
}

/* One pass over pairs and planes; what it moves stays in the particles' balance as an impulse. */
static void contacts_project(layers_run *run)
{
    const layers_model *m = run->m;
    float *skin = run->w.volume.positions;
    float h2 = (float)(run->h * run->h);
    for (int a = 0; a < run->active_count; a++) {
        int k = run->w.active[a];
        for (int c = 0; c < 3; c++) skin[3 * k + c] = run->w.motion.x[c][4 * k];
    }
    for (int i = 0; i < run->pair_count; i++) contact_pair_project(run->w.contact.pairs + i, m->inverse_masses, skin);
    for (int i = 0; i < run->plane_count; i++) plane_project(run->w.planes + i, skin);
    drags_project(run, skin);
    for (int a = 0; a < run->active_count; a++) {
        int k = run->w.active[a];
        float weight = 1 + h2 * m->regions.kappa_mean[4 * k];
        for (int c = 0; c < 3; c++) {
            float *x = run->w.motion.x[c] + 4 * k;
            run->w.motion.push[c][k] += weight * (skin[3 * k + c] - *x);
            *x = skin[3 * k + c];
        }
    }
}

/* Whether some point of the skin is further from where the skeleton has it than flesh ever is. */
static bool skin_torn(const layers_run *run, const float *skin, const float *drive, float limit)
{
    for (int k = 0; k < run->m->point_count; k++)
        if (!(vec3_length2(vec3_sub(vec3_load(skin + 3 * k), vec3_load(drive + 3 * k))) < limit * limit)) return true;
    return false;
}

/*
 * Torn bones can leave the skin caught behind itself, where pairs would hold it for ever, or turned inside out, where
 * elasticity would. Then contact rests, and the skeleton brings the flesh home, until it is where the skeleton has it
 * and intersects no more than at rest.
 */
static void recovery_update(layers_run *run)
{
    const layers_model *m = run->m;
    const float *skin = run->w.volume.positions;
    if (*run->s.recovering == 0) {
        if (skin_torn(run, skin, run->w.drive, TORN)) *run->s.recovering = 1;
        return;
    }
    if (skin_torn(run, skin, run->w.drive, 0.025f * TORN)) return;
    bvh tree = m->tree;
    tree.nodes = run->w.nodes;
    memcpy(tree.nodes, m->tree.nodes, (size_t)tree.node_count * sizeof(bvh_node));
    bvh_refit(&tree, skin, 0);
    if (mesh_self_intersections(m->mesh, &tree, skin, run->input->jobs, NULL, 0) <= m->rest_intersections)
        *run->s.recovering = 0;
}

/* The way home of a substep in recovery. */
static void recovery_pull(layers_run *run)
{
    float share = (float)(1 - det_exp(-RECOVERY_RATE * run->h));
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < LAYERS * run->m->point_count; i++)
            run->w.motion.x[c][i] += share * (run->w.motion.target[c][i] - run->w.motion.x[c][i]);
}

/* ---- volume ---- */

/* Contact moved the point by this much in the substep: so it holds it. */
static void point_hold(layers_run *run, int k, float push)
{
    run->w.free[k] = MIN(run->w.free[k], MAX(1 - push / (HELD * run->m->thickness), 0.0f));
}

/* How free each point is: 0 in contact, smoothly to 1 away from it, and where contact only begins. */
static void freedom_find(layers_run *run)
{
    const layers_model *m = run->m;
    int held = 0;
    for (int k = 0; k < m->point_count; k++) run->w.free[k] = 1;
    for (int i = 0; i < run->pair_count; i++) {
        const contact_pair *pair = run->w.contact.pairs + i;
        for (int v = 0; v < 4 && pair->lambda > 0; v++, held++)
            point_hold(run, pair->v[v], pair->lambda * m->inverse_masses[pair->v[v]] * fabsf(pair->weights[v]));
    }
    for (int i = 0; i < run->plane_count; i++)
        if (run->w.planes[i].lambda > 0) point_hold(run, run->w.planes[i].point, run->w.planes[i].lambda), held++;
    for (int pass = 0; pass < 2 && held > 0; pass++) {
        for (int k = 0; k < m->point_count; k++) {
            float sum = run->w.free[k];
            int first = m->mesh->point_neighbour_first[k], last = m->mesh->point_neighbour_first[k + 1];
            for (int i = first; i < last; i++) sum += run->w.free[m->mesh->point_neighbours[i]];
            run->w.free_next[k] = run->w.free[k] * sum / (float)(last - first + 1);
        }
        memcpy(run->w.free, run->w.free_next, (size_t)m->point_count * sizeof(float));
    }
    if (held > 0)
        layers_volume_freedom(&m->volumes, m->point_count, run->w.free, run->w.volume.freedom);
    else
        memcpy(run->w.volume.freedom, m->volumes.freedom, (size_t)m->volumes.count * sizeof(float));
}

/*
 * The pressure that kept a volume in the substeps before acts from the first iteration on, so that elasticity and
 * contact find their balance with it. It is the sum of the corrections so far, which forgets slowly.
 */
static void pressures_apply(layers_run *run)
{
    const layers_model *m = run->m;
    layers_volume_work *work = &run->w.volume;
    memcpy(work->positions, run->w.skin_old, (size_t)m->point_count * 3 * sizeof(float));
    for (int k = 0; k < m->point_count; k++) run->w.free[k] = 1;
    layers_volume_directions(&m->volumes, m->mesh, run->w.free, work, run->input->jobs);
    layers_volume_push(&m->volumes, m->point_count, work, run->s.pressures, run->input->jobs, run->w.motion.push);
}

static void volumes_keep(layers_run *run)
{
    const layers_model *m = run->m;
    layers_volume_work *work = &run->w.volume;
    memcpy(work->positions + 3 * m->point_count, run->w.drive + 6 * m->point_count,
           (size_t)m->volumes.centre_count * 3 * sizeof(float));
    freedom_find(run);
    layers_volume_directions(&m->volumes, m->mesh, run->w.free, work, run->input->jobs);
    memset(work->totals, 0, (size_t)m->volumes.count * sizeof(float));
    for (int i = 0; i < m->volume_iterations; i++)
        layers_volume_project(&m->volumes, m->point_count, work, run->input->jobs);
    if (m->volume_iterations > 0) layers_volume_total(&m->volumes, m->mesh, work);
    float keep = (float)det_exp(-PRESSURE_RATE * run->h);
    /* What the free points did shall all of them do. */
    for (int p = 0; p < m->volumes.count; p++) {
        float limit = PRESSURE_LIMIT * (float)m->volumes.depths[p];
        run->s.pressures[p] = CLAMP(run->s.pressures[p] * keep + work->freedom[p] * work->totals[p], -limit, limit);
    }
}

/* The skin to where volume and contact put it, but for wholly frozen points; the layers below follow by depth. */
static void skin_scatter(layers_run *run)
{
    const layers_model *m = run->m;
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < m->point_count; k++) {
            float *x = run->w.motion.x[c] + 4 * k;
            if (m->freeze && m->freeze[k] >= 1) continue;
            float step = run->w.volume.positions[3 * k + c] - run->w.before[3 * k + c];
            x[LAYER_SKIN] = run->w.volume.positions[3 * k + c];
            for (int l = LAYER_FAT; l < LAYER_BONE; l++) x[l] += step * (1 - m->depths[4 * k + l]);
        }
}

/* ---- velocities ---- */

static void velocities_find(void *context, int begin, int end)
{
    layers_run *run = context;
    const layers_model *m = run->m;
    float inverse = (float)(1 / run->h), keep = (float)det_exp(-(double)m->damping * run->h);
    float keep_far = (float)det_exp(-FAR_DAMPING * run->h);
    if (*run->s.recovering != 0) keep = 0;
    for (int k = begin; k < end; k++)
        for (int l = 0; l < LAYERS; l++) {
            int i = 4 * k + l;
            float relative[3], bone[3], length2 = 0, away2 = 0;
            for (int c = 0; c < 3; c++) {
                float away = run->w.motion.x[c][i] - run->w.motion.target[c][i];
                bone[c] = (run->w.motion.target[c][i] - drive_at(m, run->s.drive, k, l, c)) * inverse;
                relative[c] = ((run->w.motion.x[c][i] - run->w.old[c][i]) * inverse - bone[c]) * keep;
                length2 += relative[c] * relative[c];
                away2 += away * away;
            }
            if (away2 > FAR * FAR) {
                float more = 1 - MIN(sqrtf(away2) / FAR - 1, 1.0f) * (1 - keep_far);
                for (int c = 0; c < 3; c++) relative[c] *= more;
                length2 *= more * more;
            }
            float cut = length2 > SPEED_LIMIT * SPEED_LIMIT ? SPEED_LIMIT / sqrtf(length2) : 1;
            for (int c = 0; c < 3; c++) run->s.v[c][i] = bone[c] + cut * relative[c];
        }
}

/* Divergence, friction and restitution, on the skin. */
static void velocities_correct(layers_run *run)
{
    const layers_model *m = run->m;
    float *v = run->w.velocities;
    int n = m->point_count;
    float inverse = (float)(1 / run->h);
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < n; k++) v[3 * k + c] = run->s.v[c][4 * k];
    if (m->volume_on && *run->s.recovering == 0) {
        const float *now = run->w.drive + 6 * n, *old = run->s.drive + 6 * n;
        for (int i = 0; i < 3 * m->volumes.centre_count; i++) v[3 * n + i] = (now[i] - old[i]) * inverse;
        layers_volume_velocity(&m->volumes, n, &run->w.volume, run->input->jobs, v);
    }
    for (int i = 0; i < run->touch_count; i++) {
        const contact_pair *pair = run->w.touches + i;
        vec3 before = {0, 0, 0};
        float friction = 0, restitution = 0, mass = 0;
        for (int k = 0; k < 4; k++) {
            int p = pair->v[k];
            for (int c = 0; c < 3; c++)
                (&before.x)[c] += pair->weights[k] * (run->w.motion.inert[c][4 * p] - run->w.old[c][4 * p]) * inverse;
            friction += 0.5f * fabsf(pair->weights[k]) * m->friction[p];
            restitution += 0.5f * fabsf(pair->weights[k]) * m->restitution[p];
            mass += m->inverse_masses[p] * pair->weights[k] * pair->weights[k];
        }
        contact_pair_velocity(pair, m->inverse_masses, friction, restitution, vec3_dot(before, pair->normal),
                              pair->lambda * mass * inverse, v);
    }
    for (int i = 0; i < run->plane_count; i++) {
        const contact_plane *plane = run->w.planes + i;
        if (!(plane->lambda > 0)) continue;
        float *x = v + 3 * plane->point;
        vec3 relative = vec3_sub(vec3_load(x), plane->velocity);
        float normal = vec3_dot(relative, plane->normal);
        vec3 slip = vec3_madd(relative, plane->normal, -normal);
        float speed = vec3_length(slip);
        float cut = speed > 0 ? MIN(plane->friction * plane->lambda * inverse, speed) / speed : 0;
        vec3 before = vec3_sub(vec3_make(run->w.motion.inert[0][4 * plane->point] - run->w.old[0][4 * plane->point],
                                         run->w.motion.inert[1][4 * plane->point] - run->w.old[1][4 * plane->point],
                                         run->w.motion.inert[2][4 * plane->point] - run->w.old[2][4 * plane->point]),
                               vec3_scale(plane->velocity, (float)run->h));
        float approach = vec3_dot(before, plane->normal) * inverse;
        float wanted = approach < 0 ? -plane->restitution * approach : 0;
        relative = vec3_madd(vec3_scale(slip, 1 - cut), plane->normal, MAX(normal, wanted));
        vec3_store(x, vec3_add(relative, plane->velocity));
    }
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < n; k++) run->s.v[c][4 * k] = v[3 * k + c];
}

/* Keep the pairs that press, for friction after contact_resolve has searched anew, and their pressures. */
static void pairs_keep(layers_run *run)
{
    const layers_model *m = run->m;
    float inverse = (float)(1 / run->h);
    run->touch_count = 0;
    memset(run->w.pressure, 0, (size_t)m->point_count * sizeof(float));
    for (int i = 0; i < run->pair_count; i++) {
        const contact_pair *pair = run->w.contact.pairs + i;
        if (!(pair->lambda > 0)) continue;
        if (run->touch_count < run->w.touch_capacity) run->w.touches[run->touch_count++] = *pair;
        for (int k = 0; k < 4; k++)
            run->w.pressure[pair->v[k]] += fabsf(pair->weights[k]) * pair->lambda * inverse * inverse;
    }
    for (int i = 0; i < run->plane_count; i++)
        run->w.pressure[run->w.planes[i].point] += run->w.planes[i].lambda * inverse * inverse;
}

/* ---- results ---- */

/* Put back what is not finite. Each block counts its repairs. */
static void repair(void *context, int begin, int end)
{
    layers_run *run = context;
    int repairs = 0;
    for (int i = LAYERS * begin; i < LAYERS * end; i++) {
        bool fine = true;
        for (int c = 0; c < 3; c++) fine = fine && fabsf(run->s.x[c][i]) < 1e6f && fabsf(run->s.v[c][i]) < 1e6f;
        for (int c = 0; c < 4; c++) fine = fine && fabsf(run->s.q[c][i]) < 2;
        if (fine) continue;
        for (int c = 0; c < 3; c++) run->s.x[c][i] = run->w.motion.target[c][i], run->s.v[c][i] = 0;
        for (int c = 0; c < 4; c++) run->s.q[c][i] = c == 3;
        repairs++;
    }
    run->w.active[begin / POINT_GRAIN] = repairs;
}

static void vertices_write(void *context, int begin, int end)
{
    layers_run *run = context;
    const layers_model *m = run->m;
    size_t vertices = (size_t)m->character->vertex_count;
    for (int v = begin; v < end; v++) {
        int k = m->paths.places[m->character->vertex_points[v]];
        for (int l = LAYER_FAT; l < LAYERS; l++)
            for (int c = 0; c < 3; c++)
                run->s.outputs[(size_t)(l - 1) * vertices * 3 + 3 * (size_t)v + (size_t)c] =
                    run->s.x[c][4 * k + l] * m->size + m->centre[c];
        run->s.outputs[vertices * 9 + (size_t)v] = run->w.pressure[k];
    }
}

static void results_write(layers_run *run, float *points)
{
    const layers_model *m = run->m;
    for (int k = 0; k < m->point_count; k++)
        for (int c = 0; c < 3; c++) points[3 * m->paths.points[k] + c] = run->s.x[c][4 * k] * m->size + m->centre[c];
    parallel_for(run->input->jobs, m->character->vertex_count, 2048, vertices_write, run);
}

/* ---- the step ---- */

static layers_run run_make(const void *data, void *state, void *scratch, const solver_input *input)
{
    layers_run run = {.m = data, .input = input, .h = input->h, .omega = 1};
    run.s = state_view(data, state, NULL);
    run.w = scratch_view(data, scratch, NULL);
    for (int c = 0; c < 3; c++) run.w.motion.x[c] = run.s.x[c];
    for (int c = 0; c < 4; c++) run.w.motion.q[c] = run.s.q[c];
    return run;
}

static double lap(double *clock)
{
    double now = clock_seconds(), passed = now - *clock;
    *clock = now;
    return passed * 1e3;
}

static void substep(layers_run *run, cutis_step_stats *stats)
{
    const layers_model *m = run->m;
    const cutis_jobs *jobs = run->input->jobs;
    int paths = m->paths.path_count;
    double clock = clock_seconds();
    drive_find(run, run->input->skin, run->w.drive);
    parallel_for(jobs, m->point_count, POINT_GRAIN, predict, run);
    for (int c = 0; c < 3; c++) memset(run->w.motion.push[c], 0, (size_t)m->point_count * sizeof(float));
    if (m->volume_on) pressures_apply(run);
    shift_find(run);
    twists_find(run);
    if (!m->naive) {
        parallel_for(jobs, paths, PATH_GRAIN, base_sums, run);
        parallel_for(jobs, paths, PATH_GRAIN, base_moments, run);
    }
    run->pair_count = run->plane_count = run->active_count = 0;
    bool contacts = m->self_contact || m->props.count > 0 || run->input->drag_count > 0;
    stats->part_ms[PART_OTHER] += lap(&clock);

    if (contacts) contacts_search(run);
    stats->part_ms[PART_CONTACT] += lap(&clock);
    for (int i = 0; i < m->iterations; i++) {
        run->omega = i == 0 ? 1 : 4 / (4 - RADIUS * RADIUS * (i == 1 ? 2 : run->omega));
        parallel_for(jobs, paths, PATH_GRAIN, iteration_sums, run);
        parallel_for(jobs, paths, PATH_GRAIN, iteration_maps, run);
        parallel_for(jobs, paths, PATH_GRAIN, iteration_blend, run);
        stats->part_ms[PART_ELASTICITY] += lap(&clock);
        if (run->active_count > 0) contacts_project(run);
        stats->part_ms[PART_CONTACT] += lap(&clock);
    }
    stats->iterations += m->iterations;
    stats->contacts = 0;
    for (int i = 0; i < run->pair_count; i++) stats->contacts += run->w.contact.pairs[i].lambda > 0;
    for (int i = 0; i < run->plane_count; i++) stats->contacts += run->w.planes[i].lambda > 0;

    maps_project(run, 0, m->point_count); /* contacts came last in the loop */
    skin_gather(run, run->w.volume.positions);
    memcpy(run->w.before, run->w.volume.positions, (size_t)m->point_count * 3 * sizeof(float));
    pairs_keep(run);
    stats->part_ms[PART_OTHER] += lap(&clock);
    bool sound = *run->s.recovering == 0;
    if (m->volume_on && m->volumes.count > 0 && sound) volumes_keep(run);
    if (!sound) {
        memset(run->s.pressures, 0, (size_t)m->volumes.count * sizeof(float));
        memcpy(run->w.volume.freedom, m->volumes.freedom, (size_t)m->volumes.count * sizeof(float));
    }
    stats->part_ms[PART_VOLUME] += lap(&clock);
    if (m->self_contact) {
        contact_search_options options = search_options(m);
        contact_resolve_stats resolved = {0};
        if (*run->s.recovering == 0) {
            skin_limit(run, run->w.volume.positions);
            resolved = contact_resolve(&m->surface, &run->w.contact, run->w.skin_old, run->w.volume.positions,
                                       m->inverse_masses, &options, true, jobs);
        }
        recovery_update(run);
        stats->unconverged += resolved.failed || *run->s.recovering != 0;
        stats->residual = resolved.zone_points;
    }
    skin_scatter(run);
    if (*run->s.recovering != 0) recovery_pull(run);
    stats->part_ms[PART_CONTACT] += lap(&clock);

    parallel_for(jobs, m->point_count, POINT_GRAIN, velocities_find, run);
    velocities_correct(run);
    parallel_for(jobs, m->point_count, POINT_GRAIN, repair, run);
    for (int block = 0; block * POINT_GRAIN < m->point_count; block++) stats->repairs += run->w.active[block];
    memcpy(run->s.drive, run->w.drive, (size_t)m->drive.count * 3 * sizeof(float));
    stats->part_ms[PART_OTHER] += lap(&clock);
}

static void layers_step(const void *data, void *state, void *scratch, const solver_input *input, float *points,
                        cutis_step_stats *stats)
{
    layers_run run = run_make(data, state, scratch, input);
    substep(&run, stats);
    results_write(&run, points);
}

/* ---- reset ---- */

/* A pose between the rest pose and `joints`, each joint in its parent's space, so that bones keep their length. */
static void pose_between(const cutis_character *character, const float *rest, const float *joints, float t, float *out)
{
    for (int j = 0; j < character->joint_count; j++) {
        mat34 local[2], pose, inverse;
        int parent = character->joints[j].parent;
        for (int side = 0; side < 2; side++) {
            const float *from = side ? joints : rest;
            memcpy(pose.m, from + 12 * j, sizeof pose.m);
            local[side] = pose;
            if (parent < 0) continue;
            memcpy(pose.m, from + 12 * parent, sizeof pose.m);
            if (mat34_inverse(pose, &inverse)) local[side] = mat34_multiply(inverse, local[side]);
        }
        vec3 ta, tb, sa, sb;
        quat ra, rb;
        mat34_decompose(local[0], &ta, &ra, &sa);
        mat34_decompose(local[1], &tb, &rb, &sb);
        mat34 mixed = mat34_compose(vec3_lerp(ta, tb, t), quat_slerp(ra, rb, t), vec3_lerp(sa, sb, t));
        if (parent >= 0) {
            memcpy(pose.m, out + 12 * parent, sizeof pose.m);
            mixed = mat34_multiply(pose, mixed);
        }
        memcpy(out + 12 * j, mixed.m, sizeof mixed.m);
    }
    if (t >= 1) memcpy(out, joints, (size_t)character->joint_count * 12 * sizeof(float));
}

/*
 * At rest in the rest pose, where nothing intersects; then, when another pose is asked for, there by a slow walk,
 * so that the flesh arrives without having passed through itself.
 */
static void layers_reset(const void *data, void *state, void *scratch, const solver_input *input, float *points)
{
    const layers_model *m = data;
    solver_input walk = *input;
    size_t joint_floats = (size_t)m->joint_count * 12;
    layers_run run = run_make(data, state, scratch, &walk);
    float *rest = run.w.joints, *joints = rest + joint_floats, *skin = joints + joint_floats;
    cutis_pose_rest(m->character, rest);
    skin_matrices(m->character, rest, skin);
    memset(run.s.turns, 0, (size_t)m->joint_count * 4 * sizeof(float));
    drive_find(&run, skin, run.w.drive);
    memcpy(run.s.drive, run.w.drive, (size_t)m->drive.count * 3 * sizeof(float));
    memset(run.w.pressure, 0, (size_t)m->point_count * sizeof(float));
    *run.s.recovering = 0;
    memset(run.s.pressures, 0, (size_t)m->volumes.count * sizeof(float));
    for (int i = 0; i < LAYERS * m->point_count; i++) {
        for (int c = 0; c < 3; c++) run.s.x[c][i] = m->regions.rest[c][i], run.s.v[c][i] = 0;
        for (int c = 0; c < 4; c++) run.s.q[c][i] = c == 3;
    }
    run.h = MAX(run.h, RESET_SUBSTEP);
    bool moved = memcmp(rest, input->joints, joint_floats * sizeof(float)) != 0;
    for (int i = 1; i <= RESET_SUBSTEPS && moved; i++) {
        cutis_step_stats stats = {0};
        pose_between(m->character, rest, input->joints, (float)i / RESET_SUBSTEPS, joints);
        skin_matrices(m->character, joints, skin);
        walk.joints = walk.joints_old = joints;
        walk.skin = skin;
        walk.drag_count = 0;
        substep(&run, &stats);
        for (int c = 0; c < 3; c++) memset(run.s.v[c], 0, (size_t)m->point_count * LAYERS * sizeof(float));
    }
    /* A pressure acts over a substep squared. */
    float shorter = (float)(input->h * input->h / (run.h * run.h));
    for (int p = 0; p < m->volumes.count; p++) run.s.pressures[p] *= shorter;
    results_write(&run, points);
}

static void layers_teleport(const void *data, void *state, const float motion[12])
{
    const layers_model *m = data;
    layers_state s = state_view(m, state, NULL);
    vec3 translation, scale;
    quat rotation;
    mat34 matrix;
    memcpy(matrix.m, motion, sizeof matrix.m);
    mat34_decompose(matrix, &translation, &rotation, &scale);
    mat3 r = quat_matrix(rotation);
    vec3 centre = vec3_load(m->centre);
    for (int i = 0; i < LAYERS * m->point_count; i++) {
        vec3 x = vec3_make(s.x[0][i], s.x[1][i], s.x[2][i]), v = vec3_make(s.v[0][i], s.v[1][i], s.v[2][i]);
        x = vec3_scale(vec3_sub(mat34_point(motion, vec3_madd(centre, x, m->size)), centre), 1 / m->size);
        v = mat3_vector(r, v);
        quat q = quat_multiply(rotation, (quat){s.q[0][i], s.q[1][i], s.q[2][i], s.q[3][i]});
        s.x[0][i] = x.x, s.x[1][i] = x.y, s.x[2][i] = x.z;
        s.v[0][i] = v.x, s.v[1][i] = v.y, s.v[2][i] = v.z;
        s.q[0][i] = q.x, s.q[1][i] = q.y, s.q[2][i] = q.z, s.q[3][i] = q.w;
    }
    for (int i = 0; i < m->drive.count; i++) {
        vec3 x = vec3_madd(centre, vec3_load(s.drive + 3 * i), m->size);
        vec3_store(s.drive + 3 * i, vec3_scale(vec3_sub(mat34_point(motion, x), centre), 1 / m->size));
    }
    for (int i = 0; i < 3 * m->character->vertex_count; i++)
        vec3_store(s.outputs + 3 * i, mat34_point(motion, vec3_load(s.outputs + 3 * i)));
}

static cutis_result layers_build(const solver_build *build, void **data, cutis_error *error)
{
    layers_model *model = ARENA_ARRAY(build->memory, layers_model, 1);
    if (!model) return error_memory(error, "solver layers");
    *data = model;
    return layers_model_build(build, model, error);
}

static bool layers_output(const void *data, const void *state, int index, cutis_output *output)
{
    const layers_model *m = data;
    layers_state s = state_view(m, (void *)state, NULL);
    int vertices = m->character->vertex_count;
    *output = (cutis_output){.domain = CUTIS_DOMAIN_VERTEX,
                             .count = vertices,
                             .components = index < 3 ? 3 : 1,
                             .values = index == OUTPUT_PIECE ? m->vertex_pieces
                                                             : s.outputs + (size_t)index * (size_t)vertices * 3};
    return true;
}

const solver solver_layers = {
    .info = {.name = "layers",
             .summary = "skin, fat, muscle and bone layers of oriented particles, with volume and contact",
             .paper = "C. Deul, J. Bender 2013, Physically-Based Character Skinning",
             .element = "particles",
             .parts = layers_parts,
             .part_count = COUNT_OF(layers_parts),
             .substep = 0.005,
             .parameters = layers_parameters,
             .parameter_count = LAYERS_PARAMETER_COUNT,
             .outputs = layers_outputs,
             .output_count = COUNT_OF(layers_outputs)},
    .flags = SOLVER_FLOAT_STATE,
    .build = layers_build,
    .element_count = layers_element_count,
    .state_size = layers_state_size,
    .scratch_size = layers_scratch_size,
    .reset = layers_reset,
    .step = layers_step,
    .teleport = layers_teleport,
    .output = layers_output,
};
