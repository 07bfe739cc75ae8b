/*
 * solver_kit.h: what solvers share: the notation of parameter tables, views of a block of memory, the lap clock, values
 * by bone and by painted map, the walk into a pose, and the tests of a skin that has to recover.
 */
#ifndef SOLVERS_SOLVER_KIT_H
#define SOLVERS_SOLVER_KIT_H

#include "math/math3.h"
#include "mesh/mesh.h"
#include "solvers/solver.h"

/* ---- parameter tables ---- */

/*
 * An entry is a macro for what the type needs, then any other field by its name:
 *
 *     [LAYERS_FRICTION] = {PARAMETER_FLOAT("friction", 0.3, 0, 2, ""), .per_bone = true, .help = "..."},
 */
#define PARAMETER_FLOAT(name_, default_, min_, max_, unit_) \
    .name = name_, .type = CUTIS_PARAMETER_FLOAT, .default_value = default_, .min = min_, .max = max_, .unit = unit_
#define PARAMETER_INT(name_, default_, min_, max_) \
    .name = name_, .type = CUTIS_PARAMETER_INT, .default_value = default_, .min = min_, .max = max_, .unit = ""
#define PARAMETER_BOOL(name_, default_) \
    .name = name_, .type = CUTIS_PARAMETER_BOOL, .default_value = default_, .max = 1, .unit = ""
#define PARAMETER_CHOICE(name_, default_, choices_) \
    .name = name_, .type = CUTIS_PARAMETER_CHOICE, .default_value = default_, .unit = "", .choices = choices_

/* For every solver that knows accelerations, speeds or forces: files may be in centimetres. */
#define KIT_PARAMETER_UNIT                                                                                        \
    PARAMETER_FLOAT("unit", 1, 1e-6, 1e6, "m"), .help = "length of the file's unit, for parameters in metres or " \
                                                        "newtons"

/* ---- memory ---- */

/*
 * A view of a state or of scratch: arrays are carved from one block in turn, each on a cache line of its own. With
 * memory NULL all arrays are NULL and only `used` counts, which so is the block's size.
 */
typedef struct kit_block {
    char *memory;
    size_t used; /* bytes */
} kit_block;

void *kit_carve(kit_block *block, size_t count, size_t size);
#define KIT_CARVE(block, type, count) ((type *)kit_carve((block), (size_t)(count), sizeof(type)))

/* ---- statistics and warnings ---- */

/* Add the time since *clock to a part of the step, and set the clock to now. Begin with clock_seconds(). */
void kit_lap(double *clock, cutis_step_stats *stats, int part);

/* Tell what was chosen without being asked for; one sentence. */
void kit_note(const solver_build *build, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Warn of something that the user should know; one sentence. */
void kit_warn(const solver_build *build, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- values by bone and by painted map ---- */

/* A parameter of a joint. */
double kit_bone_value(const solver_build *build, int joint, int parameter);
/* A parameter of a point: the mean over its bones, and that value to the bit where all have the same. */
double kit_point_value(const solver_build *build, int point, int parameter);

/* The painted map of that name (vertex_count), NULL when there is none. */
const float *kit_map_find(const cutis_character *character, const char *name);
/* A map at a point, within 0..1; `unpainted` when the map is NULL. */
float kit_map_at(const cutis_character *character, const float *map, int point, float unpainted);

/* ---- poses ---- */

/*
 * The pose a share `t` (0..1) of the way between two, each joint in its parent's space, so that bones keep their
 * length. All poses (joint_count x 12). At 1 it is `to` to the bit.
 */
void kit_pose_between(const cutis_character *character, const float *from, const float *to, float t, float *pose);

/*
 * The walk of a reset from the rest pose, where nothing intersects, to the pose that is asked for:
 *
 *     solver_input input = *asked;
 *     kit_walk walk = kit_walk_start(character, memory, RESET_SUBSTEPS, &input);     input has the rest pose
 *     while (kit_walk_next(&walk)) substep(...);                                     input has the next pose
 */
typedef struct kit_walk {
    const cutis_character *character;
    const float *target;         /* (joint_count x 12) */
    float *rest, *joints, *skin; /* (joint_count x 12) each */
    int step, step_count;        /* step_count is 0 when the rest pose is asked for */
} kit_walk;

/* Floats of memory that a walk needs. */
size_t kit_walk_floats(const cutis_character *character);
/* Point the input to the poses of the walk, at first the rest pose, without drags. */
kit_walk kit_walk_start(const cutis_character *character, float *memory, int step_count, solver_input *input);
/* The next pose; false at the end. */
bool kit_walk_next(kit_walk *walk);

/* A position in units of `size` about `centre`, moved by a transform of scene space. */
vec3 kit_transform(const float transform[12], vec3 centre, float size, vec3 x);

/* ---- what acts on flesh besides its bones ---- */

/* Velocity that the blows of this substep give to flesh at a place, scene units/s. */
vec3 kit_blow(const solver_input *input, vec3 place);
/* Whether any wind blows. */
bool kit_windy(const solver_input *input);
/*
 * Acceleration by the wind's pressure of flesh that moves with a velocity under `thickness` of skin whose unit normal
 * points outwards; scene units and seconds. What does not face the wind feels none.
 */
vec3 kit_wind(const solver_input *input, vec3 normal, vec3 velocity, float thickness);
/* The greatest acceleration that a wind of a speed gives to flesh of any thickness. */
float kit_wind_most(float speed);

/* ---- recovery ---- */

/*
 * Bound the skin's motion from `before` relative to its mean by `reach`, so that a bone that is torn elsewhere drags
 * its skin along over some substeps instead of sweeping it through everything at once. Both (point_count x 3).
 */
void kit_skin_limit(const float *before, int point_count, float reach, float *skin);
/* Whether some point of the skin is further than `limit` from its place. Arrays of `stride` floats a point. */
bool kit_skin_strays(const float *skin, const float *places, int point_count, int stride, float limit);
/* Whether the skin intersects itself in more pairs of triangles than at rest. nodes: scratch of the tree's size. */
bool kit_skin_tangled(const mesh *m, const bvh *rest_tree, bvh_node *nodes, const float *skin, int rest_intersections,
                      const cutis_jobs *jobs);

#endif
