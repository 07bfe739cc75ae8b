/*
 * bench_skinning.c: linear-blend and dual-quaternion skinning, nanoseconds per vertex.
 *
 * The character is a tube of quads with a chain of joints along it; every vertex has four influences, the joints
 * nearest to it along the axis, as in the meshes that engines ship. Positions only, one thread, a new pose each step.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { JOINTS = 32, INFLUENCES = 4, POSES = 2 };

typedef struct tube {
    float *positions;
    int *face_first, *corners, *influence_first, *influence_joints;
    float *influence_weights;
    cutis_joint joints[JOINTS];
    char names[JOINTS][24];
} tube;

static void tube_free(tube *t)
{
    free(t->positions);
    free(t->face_first);
    free(t->corners);
    free(t->influence_first);
    free(t->influence_joints);
    free(t->influence_weights);
}

/* The four joints around height y (joint j stands at y = j), weights falling with the distance. */
static void weigh(float y, int *joints, float *weights)
{
    int first = (int)floorf(y) - 1;
    first = first < 0 ? 0 : first > JOINTS - INFLUENCES ? JOINTS - INFLUENCES : first;
    float sum = 0;
    for (int k = 0; k < INFLUENCES; k++) {
        joints[k] = first + k;
        weights[k] = 1 / (0.25f + fabsf(y - (float)(first + k)));
        sum += weights[k];
    }
    for (int k = 0; k < INFLUENCES; k++) weights[k] /= sum;
}

/* A tube of rings x around vertices, open at both ends, from y = 0 to y = JOINTS. */
static cutis_character *make_tube(int rings, int around)
{
    tube t = {0};
    int vertex_count = rings * around, face_count = (rings - 1) * around;

    t.positions = cli_allocate(3 * (size_t)vertex_count, sizeof(float));
    t.face_first = cli_allocate((size_t)face_count + 1, sizeof(int));
    t.corners = cli_allocate(4 * (size_t)face_count, sizeof(int));
    t.influence_first = cli_allocate((size_t)vertex_count + 1, sizeof(int));
    t.influence_joints = cli_allocate(INFLUENCES * (size_t)vertex_count, sizeof(int));
    t.influence_weights = cli_allocate(INFLUENCES * (size_t)vertex_count, sizeof(float));

    /* rings of vertices, each held by the joints nearest in height */
    for (int r = 0; r < rings; r++)
        for (int a = 0; a < around; a++) {
            int v = r * around + a;
            double angle = 6.283185307179586 * a / around;
            float y = (float)JOINTS * (float)r / (float)(rings - 1);
            float *position = t.positions + 3 * v;
            position[0] = (float)(2 * cos(angle));
            position[1] = y;
            position[2] = (float)(2 * sin(angle));

            t.influence_first[v + 1] = INFLUENCES * (v + 1);
            weigh(y, t.influence_joints + INFLUENCES * v, t.influence_weights + INFLUENCES * v);
        }

    /* quads between the rings */
    for (int f = 0; f < face_count; f++) {
        int r = f / around, a = f % around, b = (a + 1) % around;
        const int corners[4] = {r * around + a, (r + 1) * around + a, (r + 1) * around + b, r * around + b};
        memcpy(t.corners + 4 * f, corners, sizeof corners);
        t.face_first[f + 1] = 4 * (f + 1);
    }

    /* a chain of joints, one apart */
    for (int j = 0; j < JOINTS; j++) {
        snprintf(t.names[j], sizeof t.names[j], "joint_%d", j);
        cutis_transform rest = {{0, j ? 1.0f : 0.0f, 0}, {0, 0, 0, 1}, {1, 1, 1}};
        t.joints[j] = (cutis_joint){.name = t.names[j], .parent = j - 1, .rest = rest, .idle = rest};
        const float inverse_bind[12] = {1, 0, 0, 0, 0, 1, 0, -(float)j, 0, 0, 1, 0};
        memcpy(t.joints[j].inverse_bind, inverse_bind, sizeof inverse_bind);
    }

    /* the library makes its own copy */
    cutis_character given = {
        .name = "tube",
        .vertex_count = vertex_count,
        .positions = t.positions,
        .face_count = face_count,
        .face_first = t.face_first,
        .corners = t.corners,
        .influence_first = t.influence_first,
        .influence_joints = t.influence_joints,
        .influence_weights = t.influence_weights,
        .joint_count = JOINTS,
        .joints = t.joints,
    };

    cutis_character *character = NULL;
    cutis_error error;
    if (cutis_character_create(&given, NULL, &character, &error) != CUTIS_OK) cli_library_error(&error);
    tube_free(&t);
    return character;
}

/* A chain bent about z by `bend` radians a joint. */
static void bend_chain(double bend, float *joints)
{
    double x = 0, y = 0, angle = 0;
    for (int j = 0; j < JOINTS; j++) {
        float c = (float)cos(angle), s = (float)sin(angle);
        const float matrix[12] = {c, -s, 0, (float)x, s, c, 0, (float)y, 0, 0, 1, 0};
        memcpy(joints + 12 * j, matrix, sizeof matrix);
        x -= sin(angle);
        y += cos(angle);
        angle += bend;
    }
}

static int time_tube(bench_context *context, const char *solver, int rings, int around)
{
    int status = CLI_FAILURE;
    cutis_error error;
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    cutis_character *character = make_tube(rings, around);
    if (!character) return CLI_FAILURE;

    cutis_model_def def = cutis_model_def_default();
    def.character = character;
    def.solver = solver;
    if (cutis_model_build(&def, &model, &error) != CUTIS_OK ||
        cutis_state_create(model, NULL, &state, &error) != CUTIS_OK) {
        status = cli_library_error(&error);
    } else {
        /* two poses in turn, so that nothing is carried over from step to step */
        float poses[POSES][12 * JOINTS];
        bend_chain(0.04, poses[0]);
        bend_chain(0.08, poses[1]);

        double end = cli_clock() + bench_seconds(context), best = HUGE_VAL;
        for (int i = 0; (i < 20 || cli_clock() < end) && !cli_interrupted(); i++) {
            cutis_step_input input = {.joints = poses[i % POSES]};
            double begin = cli_clock();
            cutis_state_step(model, state, &input, 1.0 / 60);
            double seconds = cli_clock() - begin;
            best = seconds < best ? seconds : best;
        }

        /* the best of the runs */
        bench_row row = {.name = solver,
                         .element = "vertices",
                         .count = character->vertex_count,
                         .threads = 1,
                         .ms = best * 1e3,
                         .each = "vertex"};
        bench_add(context, &row);
        status = cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
    }

    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(character);
    return status;
}

/* 8,600 vertices, the zoo's man; 100,000, more than the caches hold. */
static int time_sizes(bench_context *context, const char *solver)
{
    int status = time_tube(context, solver, 86, 100);
    return status == CLI_OK ? time_tube(context, solver, 400, 250) : status;
}

static int run_lbs(bench_context *context) { return time_sizes(context, "lbs"); }
static int run_dqs(bench_context *context) { return time_sizes(context, "dqs"); }

const bench bench_lbs = {"lbs", "linear-blend skinning, 4 influences, one thread, positions only", run_lbs};
const bench bench_dqs = {"dqs", "dual-quaternion skinning, 4 influences, one thread, positions only", run_dqs};
