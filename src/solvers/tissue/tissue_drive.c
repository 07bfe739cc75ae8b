/*
 * tissue_drive.c: the skeleton and inertia as springs of the nodes; velocities after the step.
 *
 * Skeleton: the blended rotation of dual quaternions about the nearest point of the bones' lines, which goes where
 * linear skinning has it (after Le and Hodgins 2016). It moves the bone layer's springs; the flesh follows elasticity.
 *
 * Time: the generalised-alpha method of Chung and Hulbert 1993, of second order, without algorithmic damping of slow
 * modes. With z = (1 - af) x1 + af x0 it solves
 *
 *     m ((1 - am) a1 + am a0) + m c ((1 - af) v1 + af v0 - v_skeleton) + grad E(z) = m g,
 *
 * which is the minimum over z of E(z) + m/2 w |z - pull|^2. z is what contact keeps free of crossings, and is shown.
 */
#include <string.h>

#include "solvers/tissue/tissue.h"

enum { POINT_GRAIN = 512 };

/* ---- skeleton ---- */

void tissue_drive_find(tissue_run *run, float *positions)
{
    const tissue_model *m = run->m;
    const float *skin = run->input->skin;
    int n = m->count;

    if (m->drive_linear) {
        skinning_linear(&m->drive, skin, run->w.skinning, run->input->jobs, positions);
    } else {
        skinning_dual_on(&m->drive, skin, m->parents, run->s.turns, run->w.skinning, run->input->jobs, positions);

        /* the middle of the flesh goes where linear skinning has it */
        skinning_linear(&m->axis_drive, skin, run->w.skinning, run->input->jobs, run->w.axis);
        for (int i = 0; i < 3 * n; i++) {
            float move = run->w.axis[i] - positions[6 * (size_t)n + i];
            positions[i] += move;
            positions[3 * n + i] += move;
        }
    }

    /* to sizes */
    float scale = 1 / m->size;
    for (int i = 0; i < m->drive.count; i++)
        for (int c = 0; c < 3; c++) positions[3 * i + c] = (positions[3 * i + c] - m->centre[c]) * scale;
    tissue_fibres_contract(run, positions);
}

/* ---- time ---- */

typedef struct alpha_method {
    double am, af, beta, gamma;
} alpha_method;

static alpha_method alpha_find(void)
{
    double r = SPECTRAL_RADIUS;
    alpha_method a = {.am = (2 * r - 1) / (r + 1), .af = r / (r + 1)};
    a.gamma = 0.5 - a.am + a.af;
    a.beta = 0.25 * (1 - a.am + a.af) * (1 - a.am + a.af);
    return a;
}

/* Gravity on flesh that hangs under it already: the weight less the weight as the bones turn it. */
static vec3 weight_left(const tissue_run *run, int k)
{
    vec3 down = {0, -run->m->gravity, 0};
    return vec3_sub(down, skinning_direction(&run->m->drive, run->input->skin, k, down));
}

/* Unit normal of the skin at column k at the start of the substep. */
static vec3 skin_normal(const tissue_run *run, int k)
{
    const mesh *m = run->m->mesh;
    vec3 sum = {0, 0, 0};
    for (int i = m->point_triangle_first[k]; i < m->point_triangle_first[k + 1]; i++) {
        const int *v = m->triangles + 3 * m->point_triangles[i];
        vec3 a = vec3_load(run->w.skin_old + 3 * v[0]);
        vec3 b = vec3_sub(vec3_load(run->w.skin_old + 3 * v[1]), a);
        vec3 c = vec3_sub(vec3_load(run->w.skin_old + 3 * v[2]), a);
        sum = vec3_add(sum, vec3_cross(b, c));
    }
    return vec3_normalize(sum);
}

/* Acceleration of a node besides that of its bones, and what blows add to its velocity. */
static vec3 outer_acceleration(const tissue_run *run, int k, int l, vec3 fall, vec3 normal, vec3 *blow)
{
    const tissue_model *m = run->m;
    const solver_input *input = run->input;
    const float *z = run->s.z + (size_t)COLUMN * k + l, *v = run->s.v + (size_t)COLUMN * k + l;
    vec3 sum = vec3_madd(fall, vec3_load(input->acceleration), 1 / m->size);
    if (input->impulse_count > 0)
        *blow = vec3_scale(kit_blow(input, vec3_madd(vec3_load(m->centre), vec3_make(z[0], z[4], z[8]), m->size)),
                           1 / m->size);
    if (kit_windy(input)) {
        vec3 velocity = vec3_scale(vec3_make(v[0], v[4], v[8]), m->size);
        sum = vec3_madd(sum, kit_wind(input, normal, velocity, m->depths[k] * m->size), 1 / m->size);
    }
    return sum;
}

/* One node's quadratic: *pull and *weight (over mass); adds a blow to the velocity. */
static void node_pull(const tissue_run *run, const alpha_method *t, int at, float damping, float drive_move,
                      float outer, double *pull, double *weight)
{
    double h = run->h, c = damping;
    double x0 = run->s.x[at], v0 = run->s.v[at], a0 = run->s.a[at];

    if (run->still) {
        *weight = 1 / (h * h);
        *pull = (double)run->s.z[at] + drive_move + outer / *weight;
        return;
    }
    double by_z = 1 / ((1 - t->af) * t->beta * h * h);
    double a_fixed = -v0 / (t->beta * h) - (0.5 / t->beta - 1) * a0;
    double v_fixed = v0 + h * (1 - t->gamma) * a0 + h * t->gamma * a_fixed;
    double slip = (1 - t->af) * v_fixed + t->af * v0 - drive_move / h;
    *weight = (1 - t->am) * by_z + c * (1 - t->af) * h * t->gamma * by_z;
    *pull = x0 - ((1 - t->am) * a_fixed + t->am * a0 + c * slip - outer) / *weight;
}

static void predict_block(void *context, int begin, int end)
{
    tissue_run *run = context;
    const tissue_model *m = run->m;
    const solver_input *input = run->input;
    alpha_method t = alpha_find();
    bool heavy = m->gravity > 0 || m->gravity < 0, windy = kit_windy(input);

    for (int k = begin; k < end; k++) {
        vec3 fall = heavy ? weight_left(run, k) : vec3_make(0, 0, 0);
        vec3 normal = windy ? skin_normal(run, k) : vec3_make(0, 0, 0);
        for (int l = 0; l < TISSUE_LAYERS; l++) {
            vec3 blow = {0, 0, 0};
            vec3 outer = outer_acceleration(run, k, l, fall, normal, &blow);
            float mass = m->mass[4 * k + l];

            for (int c = 0; c < 3; c++) {
                float target[4], before[4];
                int at = COLUMN * k + 4 * c + l;
                tissue_drive_column(m, run->w.drive, k, c, target);
                tissue_drive_column(m, run->s.drive, k, c, before);
                float move = target[l] - before[l];
                run->s.v[at] += vec3_axis(blow, c);

                /* inertia and damping, then the skeleton's springs */
                double pull, weight;
                node_pull(run, &t, at, m->dampings[k], move, vec3_axis(outer, c), &pull, &weight);
                double stiffness = mass * weight, sum = stiffness * pull;
                double spring = l == TISSUE_BONE ? (double)m->bone_springs[k] : 0;
                if (m->freeze) spring += (double)m->freeze[k] * mass;
                run->w.pull[at] = (float)((sum + spring * target[l]) / (stiffness + spring));
                run->w.pull_weight[4 * k + l] = (float)(stiffness + spring);

                /*
                 * First iterate: along with the bones. Not on with the motion against them: a minimum that is not quite
                 * reached would keep some of it, substep after substep, and the flesh would swing itself up.
                 */
                run->w.z[at] = run->s.z[at] + move;
            }
        }
    }
}

void tissue_predict(tissue_run *run)
{
    const tissue_model *m = run->m;
    for (int k = 0; k < m->count; k++)
        for (int c = 0; c < 3; c++) run->w.skin_old[3 * k + c] = run->s.z[COLUMN * k + 4 * c];
    parallel_for(run->input->jobs, m->count, POINT_GRAIN, predict_block, run);
}

static void node_advance(tissue_run *run, const alpha_method *t, int at)
{
    double h = run->h, z = run->w.z[at], x0 = run->s.x[at], v0 = run->s.v[at], a0 = run->s.a[at];
    double x1 = x0 + (z - x0) / (1 - t->af);
    double a1 = (x1 - x0 - h * v0) / (t->beta * h * h) - (0.5 / t->beta - 1) * a0;
    run->s.z[at] = (float)z;
    run->s.x[at] = run->still ? (float)z : (float)x1;
    run->s.v[at] = run->still ? 0 : (float)(v0 + h * ((1 - t->gamma) * a0 + t->gamma * a1));
    run->s.a[at] = run->still ? 0 : (float)a1;
}

static void advance_block(void *context, int begin, int end)
{
    tissue_run *run = context;
    alpha_method t = alpha_find();
    for (int i = COLUMN * begin; i < COLUMN * end; i++)
        if (i % COLUMN < 12) node_advance(run, &t, i);
}

void tissue_advance(tissue_run *run)
{
    parallel_for(run->input->jobs, run->m->count, POINT_GRAIN, advance_block, run);
    memcpy(run->s.drive, run->w.drive, (size_t)run->m->drive.count * 3 * sizeof(float));
}
