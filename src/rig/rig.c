/*
 * rig.c: the public calls: check the definition, find or keep the skeleton, make weights, and put the new character
 * together.
 */
#include <string.h>

#include "character/skinning.h"
#include "limbs/curve_search.h"
#include "limbs/level_rings.h"
#include "rig/fit.h"
#include "rig/hands.h"
#include "rig/rigging.h"
#include "rig/skeleton_template.h"

typedef struct rig_object {
    cutis_rig rig;
    arena memory;
} rig_object;

cutis_rig_def cutis_rig_def_default(void) { return (cutis_rig_def){.max_influences = 4, .voxel_resolution = 96}; }

void cutis_rig_destroy(cutis_rig *rig)
{
    if (!rig) return;
    rig_object *object = (rig_object *)rig;
    cutis_character_destroy(rig->character);
    cutis_allocator allocator = object->memory.allocator;
    arena_destroy(&object->memory);
    memory_release(&allocator, object, 1, sizeof *object);
}

static cutis_result def_check(const cutis_rig_def *def, cutis_error *error)
{
    if (!def->character) return error_set(error, CUTIS_ERROR_ARGUMENT, "rigging needs a character");

    if (def->max_influences < 1 || def->max_influences > RIG_MAX_INFLUENCES)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "max_influences is %d; it must be 1 to %d", def->max_influences,
                         RIG_MAX_INFLUENCES);
    if (def->voxel_resolution < 16 || def->voxel_resolution > 256)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "voxel_resolution is %d; it must be 16 to 256",
                         def->voxel_resolution);
    if (def->pose_count < 0 || (def->pose_count > 0 && !def->poses))
        return error_set(error, CUTIS_ERROR_ARGUMENT, "pose_count is %d, but poses are missing", def->pose_count);

    /* poses that are finite */
    for (int k = 0; k < def->pose_count; k++)
        for (int i = 0; i < 3 * def->character->vertex_count; i++)
            if (!isfinite(def->poses[k][i]))
                return error_set(error, CUTIS_ERROR_DATA, "pose %d: vertex %d is not finite", k + 1, i / 3);

    /* something to rig, and a skeleton to fit */
    if (def->pattern && def->pattern->joint_count == 0)
        return error_set(error, CUTIS_ERROR_DATA, "'%s' has no skeleton to fit", def->pattern->name);
    if (def->character->point_triangle_count == 0)
        return error_set(error, CUTIS_ERROR_DATA, "the character has no triangles to rig");
    return CUTIS_OK;
}

/* A skeleton as the stages below see it. */
typedef struct rig_joints {
    int count;
    const int *parents;
    const float *positions; /* (count x 3) */
    const bool *takes_part;
    const char *const *names;
} rig_joints;

/* The character with these joints and the weights of its points. */
static cutis_result character_make(const cutis_rig_def *def, const cutis_joint *joints, int joint_count,
                                   bool keep_clips, const rig_influences *w, arena *memory, cutis_character **made,
                                   cutis_error *error)
{
    /* at most w->limit influences a vertex */
    const cutis_character *c = def->character;
    cutis_character given = *c;
    int *first = ARENA_ARRAY(memory, int, c->vertex_count + 1);
    int *influence_joints = ARENA_ARRAY(memory, int, (size_t)c->vertex_count *(size_t)w->limit);
    float *weights = ARENA_ARRAY(memory, float, (size_t)c->vertex_count *(size_t)w->limit);
    int at = 0;
    if (memory->failed) return error_memory(error, "a rigged character");

    /* vertices share the weights of their point; zeros are dropped */
    for (int v = 0; v < c->vertex_count; v++) {
        const int *slot = w->joints + (size_t)c->vertex_points[v] * (size_t)w->limit;
        const float *weight = w->weights + (size_t)c->vertex_points[v] * (size_t)w->limit;
        first[v] = at;
        for (int k = 0; k < w->limit; k++) {
            if (!(weight[k] > 0)) continue;
            influence_joints[at] = slot[k];
            weights[at++] = weight[k];
        }
    }

    first[c->vertex_count] = at;

    /* replace joints and weights, keep the rest */
    given.influence_first = first;
    given.influence_joints = influence_joints;
    given.influence_weights = weights;
    given.joints = joints;
    given.joint_count = joint_count;
    if (!keep_clips) {
        /* What moved the old joints has nothing to move any more. */
        given.clip_count = 0;
        given.prop_count = 0;
        given.setting_count = 0;
    }

    return cutis_character_create(&given, def->allocator, made, error);
}

static cutis_result weigh(const cutis_rig_def *def, const mesh *m, const rig_solid *whole, const rig_joints *joints,
                          const cutis_joint *nodes, bool keep_clips, rig_report *report, rig_object *object,
                          cutis_error *error)
{
    arena memory = arena_create(def->allocator);
    rig_weights_result weights = {0};
    double start = clock_seconds();

    /* weights, and their time */
    cutis_result result = rig_weights_make(def, m, whole, joints->count, joints->parents, joints->positions,
                                           joints->takes_part, joints->names, &memory, report, &weights, error);
    if (result == CUTIS_OK && !keep_clips)
        rig_sides_part(m, joints->count, joints->names, joints->positions, &weights.influences);
    object->rig.weight_ms = (clock_seconds() - start) * 1e3;

    /* the character with them */
    if (result == CUTIS_OK)
        result = character_make(def, nodes, joints->count, keep_clips, &weights.influences, &memory,
                                &object->rig.character, error);

    object->rig.heat_points = weights.heat_points;
    object->rig.voxel_points = weights.voxel_points;
    object->rig.follow_points = weights.follow_points;
    arena_destroy(&memory);
    return result;
}

static cutis_result bind_kept(const cutis_rig_def *def, rig_report *report, rig_object *object, cutis_error *error)
{
    /* weights need a skeleton */
    const cutis_character *c = def->character;
    if (c->joint_count == 0)
        return error_set(error, CUTIS_ERROR_DATA, "'%s' has no skeleton to make weights for", c->name);

    /* joints as the weights take them */
    arena memory = arena_create(def->allocator);
    mesh m;
    cutis_result result = mesh_build_character(&m, c, &memory, error);
    int *parents = ARENA_ARRAY(&memory, int, c->joint_count);
    float *positions = ARENA_ARRAY(&memory, float, 3 * (size_t)c->joint_count);
    bool *takes_part = ARENA_ARRAY(&memory, bool, c->joint_count), any = false;
    const char **names = ARENA_ARRAY(&memory, const char *, c->joint_count);
    if (result == CUTIS_OK && memory.failed) result = error_memory(error, "a rig");
    if (result == CUTIS_OK) {
        /* joints where the bind pose has them; those that deformed before do again */
        for (int j = 0; j < c->joint_count; j++) any = any || c->joints[j].deforms;
        for (int j = 0; j < c->joint_count; j++) {
            vec3_store(positions + 3 * j, joint_bind_place(&c->joints[j]));
            parents[j] = c->joints[j].parent;
            names[j] = c->joints[j].name;
            takes_part[j] = !any || c->joints[j].deforms;
        }

        rig_joints joints = {c->joint_count, parents, positions, takes_part, names};
        rig_say(report, "the skeleton of %d joints was kept", c->joint_count);
        result = weigh(def, &m, NULL, &joints, c->joints, true, report, object, error);
    }

    arena_destroy(&memory);
    return result;
}

static const skeleton_joint *joint_named(const skeleton *s, const char *name)
{
    for (int j = 0; j < s->count; j++)
        if (strcmp(s->joints[j].name, name) == 0) return &s->joints[j];
    return NULL;
}

/*
 * Whether feet stand in the lower third of the body, on legs at least half as long as the hips are wide. A mesh whose
 * up is another axis, as many programs write .obj files, has limbs too, but lies.
 */
static bool stands_on_feet(const cutis_character *c, const skeleton *s)
{
    const skeleton_joint *left = joint_named(s, "thigh_l"), *right = joint_named(s, "thigh_r");
    const skeleton_joint *foot = joint_named(s, "foot_l");
    if (!left || !right || !foot) return true;
    float height = c->bounds_max[1] - c->bounds_min[1];
    return foot->position.y < c->bounds_min[1] + height / 3 &&
           vec3_distance(left->position, right->position) < 2 * vec3_distance(left->position, foot->position);
}

/*
 * A closed body of one part on which the limbs of the surface alone fit a template in proportion needs no solid: this
 * is the quick path, a millisecond for tens of thousands of points.
 */
static bool quick_fits(const mesh *m, const cutis_character *c, const skeleton *s)
{
    if (m->component_count != 1 || !m->component_closed[0]) return false;
    if (strcmp(s->name, "hand") == 0) return s->count >= 16 && fingers_in_a_row(s);

    /* the curves of quads follow the limbs; of other meshes the solid tells more */
    int quad_count = 0;
    for (int f = 0; f < c->face_count; f++) quad_count += c->face_first[f + 1] - c->face_first[f] == 4;
    if (2 * quad_count < c->face_count) return false;

    const skeleton_joint *head = joint_named(s, "head");
    const skeleton_joint *hips = joint_named(s, "hips");
    if (!head || !hips || !stands_on_feet(c, s)) return false;

    float height = c->bounds_max[1] - c->bounds_min[1];
    if (strcmp(s->name, "biped") == 0) {
        /* people in proportion: hips half way up, head on top, all fingers, ankles near the floor */
        const skeleton_joint *foot = joint_named(s, "foot_l");
        const skeleton_joint *arm = joint_named(s, "upper_arm_l");
        const skeleton_joint *hand = joint_named(s, "hand_l");
        if (!foot || !arm || !hand || s->count < 40) return false;
        float reach = vec3_distance(arm->position, hand->position) / height;
        float hip = (hips->position.y - c->bounds_min[1]) / height;
        float ankle = (foot->position.y - c->bounds_min[1]) / height;
        return hip > 0.48f && hip < 0.6f && ankle < 0.08f && reach > 0.22f && reach < 0.4f;
    }

    /* animals whose ears and tail tell which way they face */
    return strcmp(s->name, "quadruped") == 0 && joint_named(s, "ear_l") && joint_named(s, "tail_1") &&
           head->position.y > hips->position.y;
}

/*
 * The skeleton of the template that fits the solid of all parts best, and the names of the best two. The solid lives in
 * solid_memory.
 */
static cutis_result skeleton_on_solid(const cutis_rig_def *def, const mesh *m, rig_report *report, rig_object *object,
                                      arena *solid_memory, rig_solid *whole, skeleton *s, cutis_error *error)
{
    arena memory = arena_create(def->allocator);
    fit *fits = ARENA_ARRAY(&memory, fit, 2);
    cutis_rig_landmark *landmarks = ARENA_ARRAY(&memory, cutis_rig_landmark, def->landmark_count + 1);
    if (memory.failed) {
        arena_destroy(&memory);
        return error_memory(error, "a rig");
    }

    bool any = !def->skeleton || strcmp(def->skeleton, "auto") == 0;
    for (int i = 0; i < def->landmark_count; i++) landmarks[i] = def->landmarks[i];
    cutis_result result = fit_surface(m->point_count, m->positions, m->triangle_count, m->triangles,
                                      any ? NULL : def->skeleton, def->y_up, landmarks, def->landmark_count, def->jobs,
                                      solid_memory, &fits[0], &fits[1], whole, error);

    s->count = 0;

    /* a name that no template has agrees with none: the likeliest skeleton tells what is meant */
    if (result == CUTIS_OK && fits[0].score == 0) fits[0].score = 1e-6f;
    if (result == CUTIS_OK && fits[0].score > 0) {
        /* the best, the next best, and how sure that is: a template that is named has rivals of its own kind only */
        bool other = fits[0].rival > MAX(fits[1].score, 0.0f);
        float rival = MAX(MAX(fits[0].rival, fits[1].score), 0.0f);
        const char *next = other ? "an alternative fit" : fits[1].score > 0 ? fits[1].name : "nothing else";
        object->rig.score = fits[0].score;
        bool tree = strcmp(fits[0].name, "tree") == 0; /* fits every body: its score is a constant */
        bool sure = any ? fit_certain(&fits[0], &fits[1]) : tree || fit_unrivalled(&fits[0]);
        object->rig.recognised = sure || def->landmark_count >= 3;
        object->rig.z_up = fits[0].up.z > 0.5f;
        if (fits[0].thing_count > 0)
            rig_say(report, "%d loose pieces that are slender or one-sided were excluded from the fit as held objects",
                    fits[0].thing_count);

        if (object->rig.recognised)
            rig_say(report, "recognised: %s, score %.2f; next best %s, %.2f", fits[0].name, (double)fits[0].score, next,
                    (double)rival);
        else if (fits[0].score >= FIT_BOUND)
            rig_say(report, "not certain: %s (%.2f) or %s (%.2f); the skeleton is a %s. %s select another",
                    fits[0].name, (double)fits[0].score, next, (double)rival, fits[0].name,
                    any ? "--template and --landmarks" : "--landmarks");
        else if (!any)
            rig_say(report, "template %s fits poorly: score %.2f, below %.2f. --landmarks corrects its joints",
                    fits[0].name, (double)fits[0].score, (double)FIT_BOUND);
        else
            rig_say(report,
                    "not recognised: the best templates are %s (%.2f) and %s (%.2f), below %.2f; the skeleton is a "
                    "tree of its limbs. --template and --landmarks select another",
                    fits[0].name, (double)fits[0].score, next, (double)rival, (double)FIT_BOUND);

        /* the skeleton, moved to the landmarks */
        *s = fits[0].skeleton;
        if (object->rig.z_up) rig_say(report, "+Z points up");
        if (result == CUTIS_OK)
            result = skeleton_landmarks(landmarks, def->landmark_count, 0.12f * def->character->size, s, error);
        if (def->landmark_count) rig_say(report, "%d joints pinned to landmarks", def->landmark_count);
    }

    arena_destroy(&memory);
    return result;
}

/* Ears of the surface's skeleton, where they were found on both sides, for the skeleton of the solid. */
static void ears_graft(const mesh *m, const skeleton *surface, skeleton *s)
{
    if (m->component_count != 1 || strcmp(surface->name, s->name) != 0 || strcmp(s->name, "quadruped") != 0) return;

    /* both skeletons must agree on where the head is */
    const skeleton_joint *one = joint_named(surface, "head"), *two = joint_named(s, "head");
    float size = vec3_distance(joint_named(s, "hips")->position, two->position);
    if (!joint_named(surface, "ear_l") || vec3_distance(one->position, two->position) > 0.25f * size) return;

    /* ears, each below the joint of its parent's name */
    for (int j = 0; j < surface->count; j++) {
        const skeleton_joint *joint = &surface->joints[j];
        if (strncmp(joint->name, "ear", 3) != 0) continue;
        int above = skeleton_find(s, surface->joints[joint->parent].name);
        skeleton_add(s, joint->name, above, joint->position);
    }
}

/*
 * Put a template into the body: by the limbs of the surface where these suffice, else by the solid of all parts. Hands
 * and chains are found on the surface alone.
 */
static cutis_result skeleton_find_best(const cutis_rig_def *def, const curve_search *search, rig_report *report,
                                       rig_object *object, skeleton *s, skeleton *surface_skeleton, arena *solid_memory,
                                       rig_solid *whole, cutis_error *error)
{
    const cutis_character *c = def->character;
    bool any = !def->skeleton || strcmp(def->skeleton, "auto") == 0;
    bool surface = !any && (strcmp(def->skeleton, "hand") == 0 || strcmp(def->skeleton, "chain") == 0);
    object->rig.recognised = true;
    object->rig.score = 1;

    rig_report quick = *report;
    cutis_error unfit = {0};
    bool fits = skeleton_fit(&search->mesh, &search->limbs, def->skeleton, NULL, 0, &quick, s, &unfit) == CUTIS_OK;
    if (unfit.code == CUTIS_ERROR_ARGUMENT && !fits) return error_set(error, CUTIS_ERROR_ARGUMENT, "%s", unfit.text);

    /* posed shapes tell where limbs bend, and only the limbs of the surface are followed into them */
    bool quick_enough = fits && def->landmark_count == 0 && quick_fits(&search->mesh, c, s);
    if (fits && (surface || def->pose_count > 0 || quick_enough)) {
        *report = quick;
        return skeleton_landmarks(def->landmarks, def->landmark_count, 0, s, error);
    }

    if (surface) return error_set(error, CUTIS_ERROR_DATA, "%s", unfit.text);

    /* the solid; where it has no volume, the surface has to do */
    *surface_skeleton = *s;
    cutis_result result = skeleton_on_solid(def, &search->mesh, report, object, solid_memory, whole, s, error);
    if (result == CUTIS_OK && fits && s->count > 0) ears_graft(&search->mesh, surface_skeleton, s);
    if (result == CUTIS_OK && s->count > 0 && strcmp(s->name, "biped") == 0)
        result = hands_add(&search->mesh, def->allocator, s, error);
    if (result == CUTIS_ERROR_DATA && any && search->limbs.count > 0) {
        result = skeleton_fit(&search->mesh, &search->limbs, "chain", NULL, 0, report, s, error);
        object->rig.recognised = false;
    }

    if (result == CUTIS_OK && s->count == 0)
        result = error_set(error, CUTIS_ERROR_DATA,
                           "template '%s' does not fit: too few limbs were detected; try --template auto or tree",
                           any ? "auto" : def->skeleton);
    return result;
}

/* The joints that the new character gets. */
typedef struct rig_plan {
    rig_joints joints;
    const cutis_joint *nodes;
} rig_plan;

/* Where the pattern's joints go: those of the same part as the template's to their places, the others with them. */
static cutis_result pattern_place(const cutis_character *pattern, const skeleton *s, const int *parents,
                                  const vec3 *from, vec3 *to, bool *held, rig_report *report, cutis_error *error)
{
    /* names and parents are all that matching reads */
    cutis_joint joints[SKELETON_MAX] = {{0}};
    int matches[SKELETON_MAX];
    for (int j = 0; j < s->count; j++)
        joints[j] = (cutis_joint){.name = s->joints[j].name, .parent = s->joints[j].parent};
    cutis_character found = {.joint_count = s->count, .joints = joints};
    cutis_result result = cutis_character_match_joints(&found, pattern, matches, error);
    if (result != CUTIS_OK) return result;

    /* places of the matched joints; the first match counts */
    int matched = 0;
    for (int j = 0; j < s->count; j++) {
        if (matches[j] < 0 || held[matches[j]]) continue;
        held[matches[j]] = true;
        to[matches[j]] = s->joints[j].position;
        matched++;
    }

    /* fewer than three matches do not place a skeleton */
    if (matched < 3)
        return error_set(error, CUTIS_ERROR_DATA,
                         "the skeleton of '%s' shares %d joint names with template %s; three or more are required",
                         pattern->name, matched, s->name);

    skeleton_carry(pattern->joint_count, parents, from, held, false, to);
    rig_say(report, "the skeleton of '%s': %d of %d joints matched by name, the others follow their parents",
            pattern->name, matched, pattern->joint_count);
    return CUTIS_OK;
}

/* Joints of the template or of the pattern, in the places that were found. */
static cutis_result plan_make(const cutis_rig_def *def, const skeleton *s, rig_report *report, arena *memory,
                              rig_plan *plan, cutis_error *error)
{
    const cutis_character *pattern = def->pattern;
    int n = pattern ? pattern->joint_count : s->count;

    int *parents = ARENA_ARRAY(memory, int, n);
    float *positions = ARENA_ARRAY(memory, float, 3 * (size_t)n);
    bool *takes_part = ARENA_ARRAY(memory, bool, n);
    bool *held = ARENA_ARRAY(memory, bool, n);
    vec3 *from = ARENA_ARRAY(memory, vec3, n);
    vec3 *to = ARENA_ARRAY(memory, vec3, n);
    quat *turns = ARENA_ARRAY(memory, quat, n);
    const char **names = ARENA_ARRAY(memory, const char *, n);
    cutis_joint *nodes = ARENA_ARRAY(memory, cutis_joint, n);
    if (memory->failed) return error_memory(error, "a rig");

    bool any = false;
    for (int j = 0; pattern && j < n; j++) any = any || pattern->joints[j].deforms;

    /* names, parents, and how the joints are turned; a pattern keeps its own axes, so that its clips fit */
    for (int j = 0; j < n; j++) {
        turns[j] = quat_identity();
        takes_part[j] = true;
        if (!pattern) {
            parents[j] = s->joints[j].parent;
            names[j] = s->joints[j].name;
            to[j] = s->joints[j].position;
            continue;
        }

        mat34 inverse, bind;
        vec3 scale;
        memcpy(inverse.m, pattern->joints[j].inverse_bind, sizeof inverse.m);
        mat34_inverse(inverse, &bind);
        mat34_decompose(bind, &from[j], &turns[j], &scale);

        parents[j] = pattern->joints[j].parent;
        names[j] = pattern->joints[j].name;
        takes_part[j] = !any || pattern->joints[j].deforms;
    }

    if (pattern) {
        cutis_result result = pattern_place(pattern, s, parents, from, to, held, report, error);
        if (result != CUTIS_OK) return result;
    }

    /* transforms from the parent's */
    for (int j = 0; j < n; j++) {
        quat above = parents[j] >= 0 ? quat_conjugate(turns[parents[j]]) : quat_identity();
        vec3 local = parents[j] >= 0 ? quat_rotate(above, vec3_sub(to[j], to[parents[j]])) : to[j];
        quat turn = quat_multiply(above, turns[j]);
        cutis_transform rest = {{local.x, local.y, local.z}, {turn.x, turn.y, turn.z, turn.w}, {1, 1, 1}};

        mat34 bind = mat34_compose(to[j], turns[j], (vec3){1, 1, 1});
        mat34 inverse;
        mat34_inverse(bind, &inverse);

        vec3_store(positions + 3 * (size_t)j, to[j]);
        nodes[j] = (cutis_joint){.name = names[j], .parent = parents[j], .rest = rest, .idle = rest};
        memcpy(nodes[j].inverse_bind, inverse.m, sizeof inverse.m);
    }

    plan->joints = (rig_joints){n, parents, positions, takes_part, names};
    plan->nodes = nodes;
    return CUTIS_OK;
}

/* Limbs, then the template that fits them, then weights. */
static cutis_result rig_new(const cutis_rig_def *def, rig_report *report, rig_object *object, cutis_error *error)
{
    const cutis_character *c = def->character;
    arena memory = arena_create(def->allocator);

    curve_search *search = ARENA_ARRAY(&memory, curve_search, 1);
    skeleton *s = ARENA_ARRAY(&memory, skeleton, 2);
    rig_solid whole = {0};
    double start = clock_seconds();
    cutis_result result = memory.failed ? error_memory(error, "a rig") : CUTIS_OK;

    /* topology and limbs of the surface */
    if (result == CUTIS_OK) search->bare = def->no_curves;
    if (result == CUTIS_OK) result = curve_search_prepare(c, &memory, search, error);
    object->rig.topology_ms = (clock_seconds() - start) * 1e3;
    start = clock_seconds();
    limb_poses poses = {def->pose_count, def->poses, c->point_vertices};
    if (result == CUTIS_OK) result = curve_search_run(c, &poses, def->jobs, &memory, search, error);

    /* a surface of loose triangles has no limbs of its own; the solid may */
    if (result == CUTIS_ERROR_DATA && search->limbs.count == 0 && def->pose_count == 0) result = CUTIS_OK;
    object->rig.curve_ms = (clock_seconds() - start) * 1e3;
    start = clock_seconds();
    if (result == CUTIS_OK) result = skeleton_find_best(def, search, report, object, s, s + 1, &memory, &whole, error);
    object->rig.skeleton_ms = (clock_seconds() - start) * 1e3;

    /* Curves that the skeleton does not need are traced after it. */
    bool level_sets = result == CUTIS_OK && !def->no_curves && search->rings.count == 0;
    if (level_sets) result = level_rings_trace(&search->mesh, c->size, &memory, &search->rings, error);

    rig_plan plan = {0};
    if (result == CUTIS_OK) result = plan_make(def, s, report, &memory, &plan, error);
    if (result == CUTIS_OK) {
        /* what was found, in the result and in sentences */
        int n = plan.joints.count;
        const limbs *found = &search->limbs;
        for (int k = 0; k < found->count; k++) object->rig.ring_count += found->all[k].ring_count;
        int *vertex_curves = def->no_curves ? NULL : ARENA_ARRAY(&object->memory, int, c->vertex_count);
        for (int v = 0; vertex_curves && v < c->vertex_count; v++)
            vertex_curves[v] = search->rings.ring_of[c->vertex_points[v]];
        object->rig.vertex_curves = vertex_curves;
        object->rig.closed_count = search->rings.count;

        object->rig.skeleton = s->name;
        rig_say(report, "template %s: %d joints from %d rings of %d limbs", s->name, n, object->rig.ring_count,
                found->count);
        if (def->pose_count) rig_say(report, "%d other poses of the mesh locate its bends", def->pose_count);
        if (search->rings.count)
            rig_say(report, "%d closed curves along the edges of %s", search->rings.count,
                    level_sets ? "triangles" : "quads");

        result = weigh(def, &search->mesh, whole.solid.distance ? &whole : NULL, &plan.joints, plan.nodes, false,
                       report, object, error);
    }

    arena_destroy(&memory);
    return result;
}

static cutis_result rig_make(const cutis_rig_def *def, bool keep, cutis_rig **rig, cutis_error *error)
{
    *rig = NULL;
    cutis_result result = def_check(def, error);
    if (result != CUTIS_OK) return result;

    /* the rig owns its memory, the report too */
    rig_object *object = memory_allocate(def->allocator, 1, sizeof *object);
    if (!object) return error_memory(error, "a rig");
    object->memory = arena_create(def->allocator);
    object->rig.skeleton = "";
    rig_report *report = ARENA_ARRAY(&object->memory, rig_report, 1);

    /* new weights for the skeleton it has, or a new skeleton */
    if (report) {
        report->memory = &object->memory;
        result = keep ? bind_kept(def, report, object, error) : rig_new(def, report, object, error);
    }

    /* on failure no rig is left behind */
    if (result == CUTIS_OK && object->memory.failed) result = error_memory(error, "a rig");
    if (result != CUTIS_OK) {
        cutis_rig_destroy(&object->rig);
        return result;
    }

    /* what was done, in sentences */
    object->rig.sentences = report->sentences;
    object->rig.sentence_count = report->count;
    *rig = &object->rig;
    return CUTIS_OK;
}

cutis_result cutis_rig_bind(const cutis_rig_def *def, cutis_rig **rig, cutis_error *error)
{
    return rig_make(def, true, rig, error);
}

cutis_result cutis_rig_create(const cutis_rig_def *def, cutis_rig **rig, cutis_error *error)
{
    return rig_make(def, false, rig, error);
}
