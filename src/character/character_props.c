/*
 * character_props.c: props put beside a character, and what a prop of any shape looks like.
 */
#include <string.h>

#include "base/core.h"
#include "cutis/character.h"
#include "math/math3.h"

/* ---- more props ---- */

static bool joint_name_taken(const cutis_joint *joints, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(joints[i].name, name) == 0) return true;
    return false;
}

static cutis_result props_append(const cutis_character *c, const cutis_placed_prop *props, int count,
                                 const cutis_allocator *allocator, arena *memory, cutis_character **result,
                                 cutis_error *error)
{
    /* the joints and props that there are */
    cutis_joint *joints = ARENA_ARRAY(memory, cutis_joint, (size_t)(c->joint_count + count) + 1);
    cutis_prop *all = ARENA_ARRAY(memory, cutis_prop, (size_t)(c->prop_count + count) + 1);
    if (!joints || !all) return error_memory(error, "props");
    if (c->joint_count) memcpy(joints, c->joints, (size_t)c->joint_count * sizeof *joints);
    if (c->prop_count) memcpy(all, c->props, (size_t)c->prop_count * sizeof *all);

    /* each new prop has a joint of its own name */
    for (int i = 0; i < count; i++) {
        const cutis_placed_prop *from = &props[i];
        const char *base = from->prop.name && from->prop.name[0] ? from->prop.name : "prop", *name = base;
        int joint = c->joint_count + i;
        for (int number = 2; joint_name_taken(joints, joint, name); number++) {
            name = arena_format(memory, "%s_%d", base, number);
            if (!name) return error_memory(error, "props");
        }

        /* its place, which must have an inverse */
        mat34 place, inverse;
        memcpy(place.m, from->place, sizeof place.m);
        bool finite = true;
        for (int k = 0; k < 12; k++) finite = finite && isfinite(place.m[k]);
        if (!finite || !mat34_inverse(place, &inverse)) {
            return error_set(error, CUTIS_ERROR_DATA,
                             "the transform of prop '%s' is singular or not finite; give it a scale above 0", base);
        }

        /* the joint rests there */
        vec3 translation, scale;
        quat rotation;
        mat34_decompose(place, &translation, &rotation, &scale);
        cutis_transform transform = {{translation.x, translation.y, translation.z},
                                     {rotation.x, rotation.y, rotation.z, rotation.w},
                                     {scale.x, scale.y, scale.z}};
        joints[joint] = (cutis_joint){.name = name, .parent = -1, .rest = transform, .idle = transform};
        memcpy(joints[joint].inverse_bind, inverse.m, sizeof inverse.m);

        all[c->prop_count + i] = from->prop;
        all[c->prop_count + i].name = name;
        all[c->prop_count + i].joint = joint;
    }

    /* a character with all of them */
    cutis_character given = *c;
    given.joints = joints;
    given.joint_count += count;
    given.props = all;
    given.prop_count += count;
    return cutis_character_create(&given, allocator, result, error);
}

cutis_result cutis_character_add_props(const cutis_character *character, const cutis_placed_prop *props, int prop_count,
                                       const cutis_allocator *allocator, cutis_character **result, cutis_error *error)
{
    *result = NULL;
    arena memory = arena_create(allocator);
    cutis_result code = props_append(character, props, prop_count, allocator, &memory, result, error);
    arena_destroy(&memory);
    return code;
}

/* ---- surfaces ---- */

/*
 * Cells along an edge of the cube that a round surface is bent from; even, so that its middle is a row of points. The
 * surface is also the one that is simulated: with 12 it is at most 0.55 % of the radius below the true sphere.
 */
enum { ROUND_CELLS = 12 };

/* Points of a round surface: those of the cube's surface, and for a capsule the middle row once more. */
enum {
    ROUND_POINTS = 6 * ROUND_CELLS * ROUND_CELLS + 2,
    ROUND_TRIANGLES = 12 * ROUND_CELLS * ROUND_CELLS,
    MIDDLE_POINTS = 4 * ROUND_CELLS
};

static void box_make(const float low[3], const float high[3], float *positions, int *triangles)
{
    /* Corner i lies at the high end of axis k when bit k of i is set. */
    static const int corners[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                    2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) positions[3 * i + k] = i >> k & 1 ? high[k] : low[k];
    memcpy(triangles, corners, sizeof corners);
}

/* Number of the point of the cube's surface at (x, y, z), each 0..ROUND_CELLS: the caps first, then row by row. */
static int cube_point(int x, int y, int z)
{
    enum { N = ROUND_CELLS, CAP = (N + 1) * (N + 1) };
    if (y == 0) return z * (N + 1) + x;
    if (y == N) return CAP + z * (N + 1) + x;

    int around = z == 0 ? x : x == N ? N + z : z == N ? 2 * N + (N - x) : 3 * N + (N - z);
    return 2 * CAP + (y - 1) * MIDDLE_POINTS + around;
}

/* A place of the cube on the unit sphere: rows and columns of a side lie at equal angles. */
static vec3 cube_bend(int x, int y, int z)
{
    const double quarter = 3.14159265358979323846 / 4;
    const int at[3] = {x, y, z};
    float u[3];
    for (int k = 0; k < 3; k++) {
        double angle = (2.0 * at[k] / ROUND_CELLS - 1) * quarter;
        u[k] = (float)(det_sin(angle) / det_cos(angle));
    }
    return vec3_normalize(vec3_load(u));
}

/* Two triangles of the cell of a side that has its lowest corner at `low`; axes run from there, outside is right. */
static void cell_add(const int quad[4], int turn, int **triangles)
{
    const int one[6] = {quad[0], quad[1], quad[2], quad[0], quad[2], quad[3]};
    const int other[6] = {quad[0], quad[1], quad[3], quad[1], quad[2], quad[3]};
    memcpy(*triangles, turn ? one : other, sizeof one);
    *triangles += 6;
}

/* A sphere (half = 0), or a capsule: the sphere cut at its middle row and drawn apart along y. */
static void round_make(float radius, float half, bool capsule, float *positions, int *triangles)
{
    enum { N = ROUND_CELLS };

    /* points; the middle row of a capsule is its lower end here, and its upper end behind all */
    for (int y = 0; y <= N; y++)
        for (int z = 0; z <= N; z++)
            for (int x = 0; x <= N; x++) {
                if (y > 0 && y < N && z > 0 && z < N && x > 0 && x < N) continue;
                vec3 p = vec3_scale(cube_bend(x, y, z), radius);
                int point = cube_point(x, y, z);
                vec3_store(positions + 3 * point, vec3_make(p.x, p.y + (2 * y > N ? half : -half), p.z));
                if (2 * y != N || !capsule) continue;
                int upper = ROUND_POINTS + point - cube_point(0, N / 2, 0);
                vec3_store(positions + 3 * upper, vec3_make(p.x, half, p.z));
            }

    /* cells of the six sides, seen from outside */
    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++) {
                    int quad[4];
                    for (int k = 0; k < 4; k++) {
                        int corner = side ? k : 3 - k, at[3];
                        at[axis] = side ? N : 0;
                        at[(axis + 1) % 3] = i + (corner == 1 || corner == 2);
                        at[(axis + 2) % 3] = j + (corner >= 2);
                        quad[k] = cube_point(at[0], at[1], at[2]);

                        /* above the middle, the upper end of a capsule */
                        int y = axis == 1 ? -1 : axis == 0 ? i : j;
                        if (capsule && y >= N / 2 && 2 * at[1] == N) quad[k] += ROUND_POINTS - cube_point(0, N / 2, 0);
                    }
                    cell_add(quad, (i + j) % 2, &triangles);
                }

    /* the straight part of a capsule */
    int lower = cube_point(0, N / 2, 0), upper = ROUND_POINTS;
    for (int k = 0; capsule && k < MIDDLE_POINTS; k++) {
        int next = (k + 1) % MIDDLE_POINTS;
        cell_add((const int[4]){lower + next, lower + k, upper + k, upper + next}, k % 2, &triangles);
    }
}

void cutis_prop_surface(const cutis_prop *prop, float plane, int *vertex_count, int *triangle_count, float *positions,
                        int *triangles)
{
    /* counts, which a first call asks for */
    bool mesh = prop->shape == CUTIS_PROP_MESH;
    bool capsule = prop->shape == CUTIS_PROP_CAPSULE, round = capsule || prop->shape == CUTIS_PROP_SPHERE;
    int middle = capsule ? MIDDLE_POINTS : 0;
    *vertex_count = mesh ? prop->vertex_count : round ? ROUND_POINTS + middle : 8;
    *triangle_count = mesh ? prop->triangle_count : round ? ROUND_TRIANGLES + 2 * middle : 12;
    if (!positions || !triangles) return;

    if (mesh) {
        if (prop->vertex_count) memcpy(positions, prop->positions, (size_t)prop->vertex_count * 3 * sizeof(float));
        if (prop->triangle_count) memcpy(triangles, prop->triangles, (size_t)prop->triangle_count * 3 * sizeof(int));
    } else if (round) {
        round_make(prop->size[0], capsule ? prop->size[1] : 0, capsule, positions, triangles);
    } else if (prop->shape == CUTIS_PROP_PLANE) {
        box_make((const float[3]){-plane, -0.01f * plane, -plane}, (const float[3]){plane, 0, plane}, positions,
                 triangles);
    } else {
        const float *s = prop->size;
        box_make((const float[3]){-s[0], -s[1], -s[2]}, s, positions, triangles);
    }
}
