/*
 * zoo_props.c: things to touch, made by code: cubes, balls, a can, a capsule, a pencil, a table and a floor.
 */
#include <string.h>

#include "character/skinning.h"
#include "cutis/zoo.h"
#include "math/math3.h"
#include "zoo/zoo_kit.h"

typedef struct zoo_thing {
    cutis_zoo_entry entry;
    cutis_prop_role role;
    cutis_prop_shape shape;
    float size[3]; /* as in cutis_prop, for the built-in hand, metres; zeros: half of the usual width */
} zoo_thing;

static const zoo_thing things[] = {
    {{"cube", "a soft cube, 6 cm wide for a hand"}, CUTIS_PROP_SOFT, CUTIS_PROP_BOX, {0}},
    {{"ball", "a free rigid ball, 6 cm wide for a hand"}, CUTIS_PROP_RIGID, CUTIS_PROP_SPHERE, {0}},
    {{"table", "a fixed table top"}, CUTIS_PROP_COLLIDER, CUTIS_PROP_BOX, {0}},
    {{"floor", "an infinite floor at the lowest point of the rest pose"}, CUTIS_PROP_COLLIDER, CUTIS_PROP_PLANE, {0}},
    {{"block", "a rigid cube, 6 cm wide for a hand"}, CUTIS_PROP_RIGID, CUTIS_PROP_BOX, {0}},
    {{"soft_ball", "a soft ball, 6 cm wide for a hand"}, CUTIS_PROP_SOFT, CUTIS_PROP_SPHERE, {0}},
    {{"capsule", "a rigid capsule like a bottle, 4.4 cm wide for a hand"},
     CUTIS_PROP_RIGID,
     CUTIS_PROP_CAPSULE,
     {0.022f, 0.040f, 0}},
    {{"can", "a rigid can, 6 cm wide and 11 cm high for a hand"},
     CUTIS_PROP_RIGID,
     CUTIS_PROP_MESH,
     {0.03f, 0.055f, 0}},
    {{"pencil", "a rigid pencil, 8 mm wide and 17 cm long for a hand"},
     CUTIS_PROP_RIGID,
     CUTIS_PROP_MESH,
     {0.004f, 0.085f, 0}},
};
enum { THING_TABLE = 2, THING_FLOOR = 3 };

/* Half the width of a cube or ball: 3 cm for the built-in hand, whose size is 0.307 m. */
static const float HAND_SIZE = 0.307f, HALF_WIDTH = 0.03f / 0.307f;

/*
 * A cylinder of radius 1 from y = -1 to 1: 24 sides, 8 rows, and the middles of its ends. A prop owns no memory, so the
 * surface is constant and takes its size from the placement.
 */
enum { SIDES = 24, ROWS = 8, CYLINDER_POINTS = SIDES * (ROWS + 1) + 2, CYLINDER_TRIANGLES = 2 * SIDES * (ROWS + 1) };
#define ARC(y)                                                                                                       \
    1, y, 0, 0.965926f, y, 0.258819f, 0.866025f, y, 0.5f, 0.707107f, y, 0.707107f, 0.5f, y, 0.866025f, 0.258819f, y, \
        0.965926f
#define RING(y)                                                                                                    \
    ARC(y), 0, y, 1, -0.258819f, y, 0.965926f, -0.5f, y, 0.866025f, -0.707107f, y, 0.707107f, -0.866025f, y, 0.5f, \
        -0.965926f, y, 0.258819f, -1, y, 0, -0.965926f, y, -0.258819f, -0.866025f, y, -0.5f, -0.707107f, y,        \
        -0.707107f, -0.5f, y, -0.866025f, -0.258819f, y, -0.965926f, 0, y, -1, 0.258819f, y, -0.965926f, 0.5f, y,  \
        -0.866025f, 0.707107f, y, -0.707107f, 0.866025f, y, -0.5f, 0.965926f, y, -0.258819f
static const float cylinder_positions[3 * CYLINDER_POINTS] = {RING(-1),
                                                              RING(-0.75f),
                                                              RING(-0.5f),
                                                              RING(-0.25f),
                                                              RING(0),
                                                              RING(0.25f),
                                                              RING(0.5f),
                                                              RING(0.75f),
                                                              RING(1),
                                                              0,
                                                              -1,
                                                              0,
                                                              0,
                                                              1,
                                                              0};

/* Side s of row r, seen from outside; the ends are fans. */
#define SIDE(r, s, t)                                                                                              \
    (r) * SIDES + (s), ((r) + 1) * SIDES + (s), ((r) + 1) * SIDES + (t), (r)*SIDES + (s), ((r) + 1) * SIDES + (t), \
        (r)*SIDES + (t)
#define ALL(M, r)                                                                                                      \
    M(r, 0, 1), M(r, 1, 2), M(r, 2, 3), M(r, 3, 4), M(r, 4, 5), M(r, 5, 6), M(r, 6, 7), M(r, 7, 8), M(r, 8, 9),        \
        M(r, 9, 10), M(r, 10, 11), M(r, 11, 12), M(r, 12, 13), M(r, 13, 14), M(r, 14, 15), M(r, 15, 16), M(r, 16, 17), \
        M(r, 17, 18), M(r, 18, 19), M(r, 19, 20), M(r, 20, 21), M(r, 21, 22), M(r, 22, 23), M(r, 23, 0)
#define LOW_END(r, s, t) (r), (s), (t)
#define HIGH_END(r, s, t) (r), ROWS *SIDES + (t), ROWS *SIDES + (s)
static const int cylinder_triangles[3 * CYLINDER_TRIANGLES] = {ALL(SIDE, 0),
                                                               ALL(SIDE, 1),
                                                               ALL(SIDE, 2),
                                                               ALL(SIDE, 3),
                                                               ALL(SIDE, 4),
                                                               ALL(SIDE, 5),
                                                               ALL(SIDE, 6),
                                                               ALL(SIDE, 7),
                                                               ALL(LOW_END, SIDES *(ROWS + 1)),
                                                               ALL(HIGH_END, SIDES *(ROWS + 1) + 1)};
static const float TABLE_HALF[3] = {0.5f, 0.03f, 0.5f}; /* over the size */
static const float TABLE_GAP = 0.003f;                  /* below what stands on it, over the size */

int cutis_zoo_prop_count(void) { return COUNT_OF(things); }

cutis_zoo_entry cutis_zoo_prop(int index)
{
    return index >= 0 && index < COUNT_OF(things) ? things[index].entry : (cutis_zoo_entry){NULL, NULL};
}

/* Lowest y of the skin under linear blending through a clip, and of the props that are there. */
static cutis_result lowest_find(const cutis_character *c, int clip, const cutis_allocator *allocator, float *lowest,
                                cutis_error *error)
{
    enum { SAMPLES = 60 };

    arena memory = arena_create(allocator);
    skinning skin;
    cutis_result result = skinning_build(&skin, c->vertex_count, c->positions, c->influence_first, c->influence_joints,
                                         c->influence_weights, c->joint_count, &memory, error);
    float *joints = ARENA_ARRAY(&memory, float, 12 * (size_t)c->joint_count + 1);
    float *matrices = ARENA_ARRAY(&memory, float, 12 * (size_t)c->joint_count + 1);
    float *positions = ARENA_ARRAY(&memory, float, 3 * (size_t)c->vertex_count);
    float *scratch = result == CUTIS_OK ? ARENA_ARRAY(&memory, float, skinning_scratch_count(&skin)) : NULL;
    if (result == CUTIS_OK && memory.failed) result = error_memory(error, "a table");

    /* the skin */
    *lowest = c->bounds_min[1];
    for (int i = 0; result == CUTIS_OK && i < SAMPLES; i++) {
        double start = clip >= 0 ? c->clips[clip].start : 0, end = clip >= 0 ? c->clips[clip].end : 0;
        cutis_pose_sample(c, clip, start + (end - start) * i / (SAMPLES - 1), joints);
        skin_matrices(c, joints, matrices);
        skinning_linear(&skin, matrices, scratch, NULL, positions);
        for (int v = 0; v < c->vertex_count; v++) *lowest = MIN(*lowest, positions[3 * v + 1]);
    }

    /* props, at rest */
    for (int i = 0; result == CUTIS_OK && i < c->prop_count; i++) {
        const cutis_prop *prop = &c->props[i];
        int vertex_count, triangle_count;
        cutis_prop_surface(prop, 0, &vertex_count, &triangle_count, NULL, NULL);
        float *surface = ARENA_ARRAY(&memory, float, 3 * (size_t)vertex_count + 1);
        int *triangles = ARENA_ARRAY(&memory, int, 3 * (size_t)triangle_count + 1);
        if (!surface || !triangles) {
            result = error_memory(error, "a table");
            break;
        }
        cutis_prop_surface(prop, 0, &vertex_count, &triangle_count, surface, triangles);
        cutis_pose_rest(c, joints);
        for (int v = 0; v < vertex_count; v++) {
            vec3 x = vec3_load(surface + 3 * v);
            if (prop->joint >= 0) x = mat34_point(joints + 12 * prop->joint, x);
            *lowest = MIN(*lowest, x.y);
        }
    }
    arena_destroy(&memory);
    return result;
}

/* Where a thing lies when nobody says: where the clip (none: any) reaches for one, else in front, at half height. */
static vec3 usual_place(const cutis_character *c, int clip, float half)
{
    for (int i = 0; i < c->clip_count; i++)
        if ((clip < 0 || i == clip) && c->clips[i].focus) return vec3_load(c->clips[i].focus);
    return vec3_make(0.5f * (c->bounds_min[0] + c->bounds_max[0]), 0.5f * (c->bounds_min[1] + c->bounds_max[1]),
                     c->bounds_max[2] + 1.5f * half);
}

cutis_result cutis_zoo_prop_make(const char *name, const cutis_character *character, int clip, const float *position,
                                 double scale, const cutis_allocator *allocator, cutis_placed_prop *prop,
                                 cutis_error *error)
{
    /* the thing, or the nearest name */
    const zoo_thing *found = NULL;
    name_search search = name_search_start(name);
    for (int i = 0; i < COUNT_OF(things); i++) {
        name_search_offer(&search, things[i].entry.name);
        if (strcmp(name, things[i].entry.name) == 0) found = &things[i];
    }
    if (!found && search.nearest)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "there is no built-in prop '%s'; did you mean '%s'?", name,
                         search.nearest);
    if (!found)
        return error_set(
            error, CUTIS_ERROR_ARGUMENT,
            "there is no built-in prop '%s'; use cube, block, ball, soft_ball, can, capsule, pencil, table, "
            "floor or a .glb file",
            name);
    if (!(scale > 0 && scale < 1e6))
        return error_set(error, CUTIS_ERROR_ARGUMENT, "prop '%s': a scale of %g is not above 0", name, scale);

    /* as large as suits the character */
    float size = character->size * (float)scale, half = HALF_WIDTH * size;
    *prop = (cutis_placed_prop){.prop = {.name = found->entry.name,
                                         .role = found->role,
                                         .shape = found->shape,
                                         .size = {half, half, half},
                                         .joint = -1,
                                         .friction = -1,
                                         .restitution = -1,
                                         .stiffness = 0.5f},
                                .place = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};

    /* the others have their own measures; a mesh takes them from its placement */
    float unit = size / HAND_SIZE;
    for (int k = 0; k < 3 && found->size[0] > 0; k++) prop->prop.size[k] = found->size[k] * unit;
    if (found->shape == CUTIS_PROP_MESH) {
        prop->prop.vertex_count = CYLINDER_POINTS;
        prop->prop.triangle_count = CYLINDER_TRIANGLES;
        prop->prop.positions = cylinder_positions;
        prop->prop.triangles = cylinder_triangles;
        prop->place[0] = prop->prop.size[0];
        prop->place[5] = prop->prop.size[1];
        prop->place[10] = prop->prop.size[0];
    }

    /* at its usual place; a table below all that moves */
    vec3 place = usual_place(character, clip, half);
    if (found == &things[THING_TABLE]) {
        for (int k = 0; k < 3; k++) prop->prop.size[k] = TABLE_HALF[k] * size;
        if (!position) {
            float lowest;
            cutis_result result = lowest_find(character, clip, allocator, &lowest, error);
            if (result != CUTIS_OK) return result;
            place = vec3_make(0.5f * (character->bounds_min[0] + character->bounds_max[0]),
                              lowest - TABLE_GAP * character->size,
                              0.5f * (character->bounds_min[2] + character->bounds_max[2]));
        }
    }

    /* a floor under the feet at rest */
    if (found == &things[THING_FLOOR])
        place = vec3_make(0.5f * (character->bounds_min[0] + character->bounds_max[0]), character->bounds_min[1],
                          0.5f * (character->bounds_min[2] + character->bounds_max[2]));

    /* or where it is asked for */
    if (position) place = vec3_load(position);
    if (found == &things[THING_TABLE]) place.y -= prop->prop.size[1]; /* it was the top that was placed */
    prop->place[3] = place.x;
    prop->place[7] = place.y;
    prop->place[11] = place.z;
    return CUTIS_OK;
}
