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

        /* the prop itself */
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

enum { RINGS = 33, SIDES = 48 }; /* of a sphere; an odd number of rings leaves a straight one for a capsule */

static void box_make(const float low[3], const float high[3], float *positions, int *triangles)
{
    /* Corner i lies at the high end of axis k when bit k of i is set. */
    static const int corners[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                    2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) positions[3 * i + k] = i >> k & 1 ? high[k] : low[k];
    memcpy(triangles, corners, sizeof corners);
}

/* Rings around y from the lower pole to the upper one; poles are one point, so that the surface is closed. */
static void capsule_make(float radius, float half, float *positions, int *triangles)
{
    const double pi = 3.14159265358979323846;

    /* poles */
    int last = 1 + (RINGS - 1) * SIDES, t = 0;
    vec3_store(positions, vec3_make(0, -half - radius, 0));
    vec3_store(positions + 3 * last, vec3_make(0, half + radius, 0));

    /* rings */
    for (int i = 1; i < RINGS; i++) {
        double angle = ((double)i / RINGS - 0.5) * pi;
        float y = radius * (float)det_sin(angle) + (2 * i < RINGS ? -half : half), r = radius * (float)det_cos(angle);
        for (int k = 0; k < SIDES; k++) {
            double around = 2 * pi * k / SIDES;
            vec3_store(positions + 3 * (1 + (i - 1) * SIDES + k),
                       vec3_make(r * (float)det_sin(around), y, r * (float)det_cos(around)));
        }
    }

    /* a fan at each pole, quads between the rings */
    for (int k = 0; k < SIDES; k++) {
        int next = (k + 1) % SIDES, top = 1 + (RINGS - 2) * SIDES;
        const int ends[6] = {0, 1 + next, 1 + k, last, top + k, top + next};
        memcpy(triangles + 3 * t, ends, sizeof ends);
        t += 2;
        for (int i = 0; i < RINGS - 2; i++) {
            int a = 1 + i * SIDES + k, b = 1 + i * SIDES + next, c = a + SIDES, d = b + SIDES;
            const int two[6] = {a, b, d, a, d, c};
            memcpy(triangles + 3 * t, two, sizeof two);
            t += 2;
        }
    }
}

void cutis_prop_surface(const cutis_prop *prop, float plane, int *vertex_count, int *triangle_count, float *positions,
                        int *triangles)
{
    /* counts, which a first call asks for */
    bool mesh = prop->shape == CUTIS_PROP_MESH;
    bool round = prop->shape == CUTIS_PROP_SPHERE || prop->shape == CUTIS_PROP_CAPSULE;
    *vertex_count = mesh ? prop->vertex_count : round ? 2 + (RINGS - 1) * SIDES : 8;
    *triangle_count = mesh ? prop->triangle_count : round ? 2 * (RINGS - 1) * SIDES : 12;
    if (!positions || !triangles) return;

    /* the surface */
    if (mesh) {
        if (prop->vertex_count) memcpy(positions, prop->positions, (size_t)prop->vertex_count * 3 * sizeof(float));
        if (prop->triangle_count) memcpy(triangles, prop->triangles, (size_t)prop->triangle_count * 3 * sizeof(int));
    } else if (round) {
        capsule_make(prop->size[0], prop->shape == CUTIS_PROP_CAPSULE ? prop->size[1] : 0, positions, triangles);
    } else if (prop->shape == CUTIS_PROP_PLANE) {
        box_make((const float[3]){-plane, -0.01f * plane, -plane}, (const float[3]){plane, 0, plane}, positions,
                 triangles);
    } else {
        const float *s = prop->size;
        box_make((const float[3]){-s[0], -s[1], -s[2]}, s, positions, triangles);
    }
}
