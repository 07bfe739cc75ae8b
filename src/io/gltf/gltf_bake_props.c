/*
 * gltf_bake_props.c: the props of a bake as nodes that play everywhere.
 *
 * A free prop is a node whose place and turn are keyed at every frame. A soft one has morph targets besides: its shape
 * at frames spread evenly, in the space of the node, and weights that go linearly from one to the next. Props that
 * stand still and are in the file already stay as they are.
 */
#include "io/gltf/gltf_bake_props.h"

#include <string.h>

#include "io/gltf/gltf_document.h"
#include "io/gltf/gltf_write.h"
#include "math/math3.h"

enum { TARGET_LIMIT = 32 };

typedef struct props_edit {
    gltf_builder *out;
    const int *joint_nodes; /* (known_count) */
    int known_count;
    const cutis_morphs_def *def;
    json_t *animation;
    int times;
    float *pose; /* (joint_count x 12) */
} props_edit;

static json_t *list_of(props_edit *e, json_t *object, const char *key)
{
    json_t *list = json_object_get(object, key);
    return list ? list : gltf_put_array(e->out, object, key);
}

static void channel_add(props_edit *e, int node, const char *path, const float *values, int count, int components)
{
    json_t *samplers = json_object_get(e->animation, "samplers"), *channels = json_object_get(e->animation, "channels");

    /* What moved the node in the source does so no more. */
    for (size_t c = json_array_size(channels); c-- > 0;) {
        const json_t *target = json_object_get(json_array_get(channels, c), "target");
        const json_t *index = json_object_get(target, "node");
        const char *other = gltf_get_string(target, "path");
        if (index && json_integer_value(index) == node && other && strcmp(other, path) == 0)
            json_array_remove(channels, c);
    }

    /* values over the frames, at the times of all channels */
    json_t *sampler = gltf_append_object(e->out, samplers), *channel = gltf_append_object(e->out, channels);
    gltf_put(e->out, sampler, "input", json_integer(e->times));
    gltf_put(e->out, sampler, "output",
             json_integer(gltf_floats_add(e->out, values, count, components, GLTF_TARGET_NONE, false)));
    gltf_put(e->out, sampler, "interpolation", json_string("LINEAR"));

    gltf_put(e->out, channel, "sampler", json_integer((json_int_t)json_array_size(samplers) - 1));
    json_t *target = gltf_put_object(e->out, channel, "target");
    gltf_put(e->out, target, "node", json_integer(node));
    gltf_put(e->out, target, "path", json_string(path));
}

/* ---- meshes ---- */

static json_t *mesh_add(props_edit *e, json_t *node, const char *name, const float *positions, int vertex_count,
                        const int *triangles, int triangle_count)
{
    json_t *meshes = list_of(e, e->out->root, "meshes"), *mesh = gltf_append_object(e->out, meshes);
    gltf_put_string(e->out, mesh, "name", name);
    json_t *primitive = gltf_append_object(e->out, gltf_put_array(e->out, mesh, "primitives"));
    gltf_put(e->out, gltf_put_object(e->out, primitive, "attributes"), "POSITION",
             json_integer(gltf_floats_add(e->out, positions, vertex_count, 3, GLTF_TARGET_VERTICES, true)));
    gltf_put(e->out, primitive, "indices",
             json_integer(gltf_indices_add(e->out, triangles, 3 * triangle_count, vertex_count)));
    gltf_put(e->out, node, "mesh", json_integer((json_int_t)json_array_size(meshes) - 1));
    return mesh;
}

static void surface_add(props_edit *e, json_t *node, const cutis_prop *prop)
{
    int vertex_count, triangle_count;
    cutis_prop_surface(prop, e->def->character->size, &vertex_count, &triangle_count, NULL, NULL);
    float *positions = ARENA_ARRAY(&e->out->memory, float, 3 * (size_t)vertex_count + 1);
    int *triangles = ARENA_ARRAY(&e->out->memory, int, 3 * (size_t)triangle_count + 1);
    if (!positions || !triangles) {
        e->out->failed = true;
        return;
    }
    cutis_prop_surface(prop, e->def->character->size, &vertex_count, &triangle_count, positions, triangles);
    if (triangle_count > 0) mesh_add(e, node, prop->name, positions, vertex_count, triangles, triangle_count);
}

/* The shape at a frame, in the node's space there. */
static void shape_bring(const cutis_moving_prop *p, int frame, float *positions)
{
    mat34 motion, inverse;
    memcpy(motion.m, p->motions + 12 * (size_t)frame, sizeof motion.m);
    mat34_inverse(motion, &inverse);
    const float *from = p->positions + (size_t)frame * (size_t)p->vertex_count * 3;
    for (int v = 0; v < p->vertex_count; v++)
        vec3_store(positions + 3 * v, mat34_point(inverse.m, vec3_load(from + 3 * v)));
}

/* The frame that target k shows, of targets that share the frames behind the first evenly. */
static int target_frame(int frame_count, int target_count, int k)
{
    return (int)((long)(k + 1) * (frame_count - 1) / target_count);
}

static void soft_add(props_edit *e, int node_index, json_t *node, const cutis_prop *prop, const cutis_moving_prop *p)
{
    /* a target for each later frame, or as many as the limit allows; all of them when exact */
    const cutis_morphs_def *def = e->def;
    int limit = def->exact ? def->frame_count : def->target_limit ? def->target_limit : TARGET_LIMIT;
    int target_count = MIN(def->frame_count - 1, limit);

    size_t floats = 3 * (size_t)p->vertex_count;
    float *base = ARENA_ARRAY(&e->out->memory, float, floats), *shape = ARENA_ARRAY(&e->out->memory, float, floats);
    float *weights = ARENA_ARRAY(&e->out->memory, float, (size_t)def->frame_count *(size_t)MAX(target_count, 1));
    if (!base || !shape || !weights) {
        e->out->failed = true;
        return;
    }

    /* the shape of the first frame is the mesh itself */
    shape_bring(p, 0, base);
    json_t *mesh = mesh_add(e, node, prop->name, base, p->vertex_count, p->triangles, p->triangle_count);
    if (target_count == 0 || e->out->failed) return;

    /* each target: the difference to it, at frames spread evenly */
    json_t *targets = gltf_put_array(e->out, json_array_get(json_object_get(mesh, "primitives"), 0), "targets");
    for (int k = 0; k < target_count && !e->out->failed; k++) {
        shape_bring(p, target_frame(def->frame_count, target_count, k), shape);
        for (size_t i = 0; i < floats; i++) shape[i] -= base[i];
        gltf_put(e->out, gltf_append_object(e->out, targets), "POSITION",
                 json_integer(gltf_floats_add(e->out, shape, p->vertex_count, 3, GLTF_TARGET_VERTICES, true)));
    }

    /* weights rise linearly to 1 at the target's frame and fall to 0 at the next one's */
    for (int f = 0; f < def->frame_count; f++) {
        float *row = weights + (size_t)f * (size_t)target_count;
        for (int k = 0; k < target_count; k++) {
            int here = target_frame(def->frame_count, target_count, k);
            int before = k ? target_frame(def->frame_count, target_count, k - 1) : 0;
            int after = k + 1 < target_count ? target_frame(def->frame_count, target_count, k + 1) : here;

            if (f > before && f <= here) row[k] = (float)(f - before) / (float)(here - before);
            if (f > here && f < after) row[k] = (float)(after - f) / (float)(after - here);
        }
    }

    /* one channel for all weights of the node */
    channel_add(e, node_index, "weights", weights, def->frame_count * target_count, 1);
}

/* ---- nodes ---- */

/* The prop's node in the file, or a new one in its scene. */
static json_t *node_find(props_edit *e, const cutis_prop *prop, int *index)
{
    json_t *nodes = list_of(e, e->out->root, "nodes");

    /* the joint's own node */
    if (prop->joint >= 0 && prop->joint < e->known_count) {
        *index = e->joint_nodes[prop->joint];
        return json_array_get(nodes, (size_t)*index);
    }

    /* a node of the scene */
    json_int_t scene_index = json_integer_value(json_object_get(e->out->root, "scene"));
    json_t *scene = json_array_get(json_object_get(e->out->root, "scenes"), (size_t)scene_index);
    if (!scene) return NULL;

    *index = (int)json_array_size(nodes);
    gltf_append(e->out, list_of(e, scene, "nodes"), json_integer(*index));

    json_t *node = gltf_append_object(e->out, nodes);
    gltf_put_string(e->out, node, "name", prop->name);
    gltf_prop_describe(e->out, node, prop);
    return node;
}

static void motion_add(props_edit *e, int index, json_t *node, const cutis_prop *prop, const cutis_moving_prop *p)
{
    const cutis_morphs_def *def = e->def;

    size_t frames = (size_t)def->frame_count;
    int parent = prop->joint >= 0 && prop->joint < e->known_count ? def->character->joints[prop->joint].parent : -1;

    float *translations = ARENA_ARRAY(&e->out->memory, float, 3 * frames);
    float *rotations = ARENA_ARRAY(&e->out->memory, float, 4 * frames);
    if (!translations || !rotations) {
        e->out->failed = true;
        return;
    }

    bool moves = false;
    quat last = quat_identity();
    for (size_t f = 0; f < frames; f++) {
        mat34 motion;
        memcpy(motion.m, p->motions + 12 * f, sizeof motion.m);
        moves |= memcmp(motion.m, p->motions, sizeof motion.m) != 0;

        /* relative to the joint above */
        if (parent >= 0) {
            mat34 above, inverse;
            cutis_pose_sample(def->character, def->clip, def->start + (double)f / def->fps, e->pose);
            memcpy(above.m, e->pose + 12 * parent, sizeof above.m);
            mat34_inverse(above, &inverse);
            motion = mat34_multiply(inverse, motion);
        }

        vec3 translation, scale;
        quat q;
        mat34_decompose(motion, &translation, &q, &scale);
        q = quat_normalize(q);

        /* Of q and -q the one that is nearer to the frame before. */
        if (q.x * last.x + q.y * last.y + q.z * last.z + q.w * last.w < 0) q = (quat){-q.x, -q.y, -q.z, -q.w};
        last = q;

        vec3_store(translations + 3 * f, translation);
        const float four[4] = {q.x, q.y, q.z, q.w};
        memcpy(rotations + 4 * f, four, sizeof four);
        if (f > 0) continue;

        /* the first frame is the rest pose of the node */
        json_object_del(node, "matrix");
        gltf_put_floats(e->out, node, "translation", translations, 3);
        gltf_put_floats(e->out, node, "rotation", rotations, 4);
        gltf_put_floats(e->out, node, "scale", (const float[3]){scale.x, scale.y, scale.z}, 3);
    }

    /* channels only where it moves */
    if (!moves || !e->animation) return;
    channel_add(e, index, "translation", translations, def->frame_count, 3);
    channel_add(e, index, "rotation", rotations, def->frame_count, 4);
}

void gltf_bake_props(gltf_builder *out, const int *joint_nodes, int known_count, const cutis_morphs_def *def,
                     json_t *animation, int times)
{
    const cutis_character *c = def->character;
    props_edit e = {.out = out,
                    .joint_nodes = joint_nodes,
                    .known_count = known_count,
                    .def = def,
                    .animation = animation,
                    .times = times};

    e.pose = ARENA_ARRAY(&out->memory, float, 12 * (size_t)c->joint_count + 1);
    if (!e.pose) out->failed = true;

    /* each prop: its node, its motion, its shape */
    for (int i = 0; i < c->prop_count && !out->failed; i++) {
        const cutis_prop *prop = &c->props[i];
        const cutis_moving_prop *p = &def->props[i];
        bool known = prop->joint >= 0 && prop->joint < known_count;
        int index;

        json_t *node = node_find(&e, prop, &index);
        if (!node || out->failed) continue;

        /* colliders of the file move with their joint already */
        if (prop->role != CUTIS_PROP_COLLIDER || !known) motion_add(&e, index, node, prop, p);

        /* a soft prop shows its shape by morph targets, any other its surface; a plane has no bounds to show */
        if (p->vertex_count > 0 && animation) {
            soft_add(&e, index, node, prop, p);
        } else if (!json_object_get(node, "mesh") && prop->shape != CUTIS_PROP_PLANE) {
            surface_add(&e, node, prop);
        }
    }
}
