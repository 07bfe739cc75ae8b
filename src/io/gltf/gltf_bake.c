/*
 * gltf_bake.c: a simulated clip as a .glb that plays everywhere: skeleton, skin and animated morph targets.
 *
 * The source's own JSON is edited, never rebuilt: whatever cutis does not know stays. Buffers are joined to the one
 * that a .glb has, images beside the file are taken in, morph targets are appended behind those that are
 * there, and their weights become a channel of the clip that was simulated. A character without a glTF file is
 * first written as one in memory and then takes the same way.
 */
#include "io/gltf/gltf_bake.h"

#include <math.h>
#include <string.h>

#include "io/gltf/gltf_bake_props.h"
#include "io/gltf/gltf_build.h"
#include "io/gltf/gltf_edit.h"
#include "io/gltf/gltf_read.h"
#include "io/gltf/gltf_springs.h"
#include "io/gltf/gltf_write.h"
#include "io/mesh/obj_file.h"

typedef struct bake_edit {
    const cutis_morphs_def *def;
    const gltf_bake_def *targets;
    const cutis_character *character;
    gltf_document document;
    gltf_reader reader;
    gltf_builder out;
    bool generated;       /* the document was made from the character */
    const int *originals; /* (read vertex count) the character's vertex; NULL: the same */
    int image_count;      /* that stay in files of their own */
    int spring_count;     /* spring bones that the bake replaces */
    json_t *animation;    /* of the clip; borrowed from the document */
    int times;            /* accessor of the frames' times */
    cutis_error *error;
} bake_edit;

/* Where the source is on the disk, or NULL. */
static const char *source_path(const bake_edit *e) { return e->def->source.data ? NULL : e->def->source.name; }

/* ---- targets ---- */

/* Bounds that a validator recomputes from the floats. */
static void put_bounds(bake_edit *e, json_t *accessor, const float *values, int count, int width)
{
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < width * count; i++) {
        low[i % width] = MIN(low[i % width], values[i]);
        high[i % width] = MAX(high[i % width], values[i]);
    }
    gltf_put_floats(&e->out, accessor, "min", low, width);
    gltf_put_floats(&e->out, accessor, "max", high, width);
}

static bool vector_is_zero(const float *values, int width)
{
    for (int k = 0; k < width; k++)
        if (values[k] != 0) return false;
    return true;
}

static int view_add(bake_edit *e, size_t offset)
{
    json_t *view = gltf_append_object(&e->out, e->out.views);
    gltf_put(&e->out, view, "buffer", json_integer(0));
    gltf_put(&e->out, view, "byteOffset", json_integer((json_int_t)offset));
    gltf_put(&e->out, view, "byteLength", json_integer((json_int_t)(e->out.size - offset)));
    return (int)json_array_size(e->out.views) - 1;
}

/* Vectors (count x components) as a plain or, where that is smaller, a sparse accessor. Returns its index. */
static int vectors_add(bake_edit *e, const float *values, int count, int components)
{
    /* sparse costs an index for each moved vertex, and some 160 bytes of overhead */
    int moved = 0;
    for (int v = 0; v < count; v++) moved += !vector_is_zero(values + components * v, components);
    size_t width = count <= 65536 ? 2 : 4, bytes_each = sizeof(float) * (size_t)components;

    int index;
    if ((size_t)moved * (bytes_each + width) + 160 >= (size_t)count * bytes_each && moved > 0) {
        index = gltf_floats_add(&e->out, values, count, components, GLTF_TARGET_VERTICES, false);
    } else {
        /* zeros but for the sparse values: an accessor without a buffer view */
        json_t *accessor = gltf_append_object(&e->out, e->out.accessors);
        index = (int)json_array_size(e->out.accessors) - 1;
        gltf_put(&e->out, accessor, "componentType", json_integer(GLTF_FLOAT));
        gltf_put(&e->out, accessor, "count", json_integer(count));
        gltf_put(&e->out, accessor, "type", json_string(components == 3 ? "VEC3" : "VEC2"));
        if (moved > 0) {
            /* indices of the moved vertices; written before the next push, which may move the bytes */
            uint8_t *indices = gltf_bytes_push(&e->out, (size_t)moved * width);
            if (!indices) return 0;

            int indices_view = view_add(e, (size_t)(indices - e->out.bytes)), at = 0;
            for (int v = 0; v < count; v++) {
                if (vector_is_zero(values + components * v, components)) continue;
                for (size_t k = 0; k < width; k++) indices[(size_t)at * width + k] = (uint8_t)((uint32_t)v >> (8 * k));
                at++;
            }

            uint8_t *bytes = gltf_bytes_push(&e->out, (size_t)moved * bytes_each);
            if (!bytes) return 0;
            int values_view = view_add(e, (size_t)(bytes - e->out.bytes));
            for (int v = 0; v < count; v++) {
                if (vector_is_zero(values + components * v, components)) continue;
                for (int k = 0; k < components; k++, bytes += 4)
                    bytes_put_u32(bytes, bytes_from_float(values[components * v + k]));
            }

            /* the sparse part of the accessor names both views */
            json_t *sparse = gltf_put_object(&e->out, accessor, "sparse");
            gltf_put(&e->out, sparse, "count", json_integer(moved));
            json_t *part = gltf_put_object(&e->out, sparse, "indices");
            gltf_put(&e->out, part, "bufferView", json_integer(indices_view));
            gltf_put(&e->out, part, "componentType",
                     json_integer(width == 2 ? GLTF_UNSIGNED_SHORT : GLTF_UNSIGNED_INT));
            gltf_put(&e->out, gltf_put_object(&e->out, sparse, "values"), "bufferView", json_integer(values_view));
        }
    }

    /* min and max are of the whole accessor, zeros included */
    json_t *accessor = json_array_get(e->out.accessors, (size_t)index);
    if (!e->out.failed) put_bounds(e, accessor, values, count, components);
    return index;
}

/* The run's share of a target, brought to mesh space by a 3 x 3 matrix. */
static void run_values(const bake_edit *e, const gltf_run *run, const float *target, const double m[9], float *values)
{
    for (int v = 0; v < run->count; v++) {
        int from = e->originals ? e->originals[run->first + v] : run->first + v;
        const float *d = target + 3 * (size_t)from;
        for (int i = 0; i < 3; i++)
            values[3 * v + i] =
                (float)(m[3 * i] * (double)d[0] + m[3 * i + 1] * (double)d[1] + m[3 * i + 2] * (double)d[2]);
    }
}

/* Target k of a run: vectors brought to mesh space, or zeros where it moves none of them. */
static void vectors_put(bake_edit *e, const gltf_run *run, json_t *target, const char *attribute, const float *vectors,
                        int k, const double m[9], float *values)
{
    size_t plane = 3 * (size_t)e->character->vertex_count;
    memset(values, 0, 3 * (size_t)run->count * sizeof *values);
    if (run->first >= 0 && k < e->targets->position_count) run_values(e, run, vectors + (size_t)k * plane, m, values);
    gltf_put(&e->out, target, attribute, json_integer(vectors_add(e, values, run->count, 3)));
}

/* The same of texture coordinates: (target, vertex of the document, 2). */
static void texcoords_put(bake_edit *e, const gltf_run *run, json_t *target, int k, float *values)
{
    int own = k - e->targets->texcoord_first, vertices = e->reader.given.vertex_count;
    memset(values, 0, 2 * (size_t)run->count * sizeof *values);
    if (run->first >= 0 && own >= 0 && own < e->targets->texcoord_count)
        memcpy(values, e->targets->texcoords + 2 * ((size_t)own * (size_t)vertices + (size_t)run->first),
               2 * (size_t)run->count * sizeof *values);
    gltf_put(&e->out, target, "TEXCOORD_0", json_integer(vectors_add(e, values, run->count, 2)));
}

/* A primitive's vertices as a run; one that is no part of the surface gets targets that move nothing. */
static gltf_run run_find(const bake_edit *e, int node, int mesh, int primitive, const json_t *object)
{
    for (int i = 0; i < e->reader.run_count; i++)
        if (e->reader.runs[i].node == node && e->reader.runs[i].primitive == primitive) return e->reader.runs[i];
    const json_t *index = json_object_get(json_object_get(object, "attributes"), "POSITION");
    const json_t *accessor = json_array_get(e->document.accessors, (size_t)json_integer_value(index));
    int count = index ? (int)json_integer_value(json_object_get(accessor, "count")) : 0;
    return (gltf_run){node, mesh, primitive, -1, count};
}

static void primitive_edit(bake_edit *e, const gltf_run *run, json_t *object, json_t *shared)
{
    /* deltas return from scene space to mesh space: vectors by the inverse of the placement */
    const gltf_node *node = &e->reader.nodes[run->node];
    affine placement = gltf_node_placement(&e->reader, node), inverse;
    affine_inverse(&placement, &inverse);

    double back[9], turn[9], norm = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) norm += placement.m[4 * i + j] * placement.m[4 * i + j];
    norm = norm > 0 ? sqrt(norm / 3) : 1;

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            back[3 * i + j] = inverse.m[4 * i + j];
            turn[3 * i + j] = placement.m[4 * j + i] / norm; /* normals: by the transpose, at unit length */
        }

    /* new targets go behind those of the source */
    json_t *targets = json_object_get(object, "targets");
    if (!targets) targets = gltf_put_array(&e->out, object, "targets");
    if (run->count <= 0) return;

    /* normals and texture coordinates only where the primitive has them */
    const json_t *attributes = json_object_get(object, "attributes");
    bool normals = e->targets->normals && json_object_get(attributes, "NORMAL");
    bool texcoords = e->targets->texcoord_count > 0 && json_object_get(attributes, "TEXCOORD_0");
    float *values = ARENA_ARRAY(&e->out.memory, float, (size_t)run->count * 3);
    if (!values) {
        e->out.failed = true;
        return;
    }
    for (int k = 0; k < e->targets->target_count && !e->out.failed; k++) {
        /* Primitives with the same vertices share the target's accessors. */
        json_t *known = json_array_get(json_object_get(shared, "targets"), (size_t)k);
        if (known) {
            gltf_append(&e->out, targets, json_deep_copy(known));
            continue;
        }

        /* Every target has every attribute: players take a missing one for the primitive's own, or leave out all. */
        json_t *target = gltf_append_object(&e->out, targets);
        vectors_put(e, run, target, "POSITION", e->targets->deltas, k, back, values);
        if (normals) vectors_put(e, run, target, "NORMAL", e->targets->normals, k, turn, values);
        if (texcoords) texcoords_put(e, run, target, k, values);
    }
}

/* [0, 0, ...] behind the weights that are there. */
static void weights_extend(bake_edit *e, json_t *object, int before)
{
    json_t *weights = json_object_get(object, "weights");
    if (!weights) return;
    while ((int)json_array_size(weights) > before) json_array_remove(weights, json_array_size(weights) - 1);
    while ((int)json_array_size(weights) < before + e->targets->target_count && !e->out.failed)
        gltf_append(&e->out, weights, json_integer(0));
}

static void names_extend(bake_edit *e, json_t *mesh, int before)
{
    json_t *extras = json_object_get(mesh, "extras");
    if (extras && !json_is_object(extras)) return;
    if (!extras) extras = gltf_put_object(&e->out, mesh, "extras");
    json_t *names = json_object_get(extras, "targetNames");
    if (!json_is_array(names)) names = gltf_put_array(&e->out, extras, "targetNames");
    for (int i = (int)json_array_size(names); i < before; i++) gltf_append(&e->out, names, json_sprintf("morph_%d", i));
    for (int k = 0; k < e->targets->target_count; k++) gltf_append(&e->out, names, json_sprintf("cutis_%02d", k));
}

/* Add the targets to the mesh of a node; a mesh that other nodes show, too, is copied first. */
static void node_edit(bake_edit *e, int index)
{
    /* a mesh that several nodes show is copied, so that each has targets of its own */
    const gltf_node *node = &e->reader.nodes[index];
    int mesh_index = node->mesh, users = 0;
    for (int i = 0; i < e->document.node_count; i++) users += e->reader.nodes[i].mesh == mesh_index;
    json_t *mesh = json_array_get(e->document.meshes, (size_t)mesh_index);

    if (users > 1) {
        gltf_append(&e->out, e->document.meshes, json_deep_copy(mesh));
        mesh_index = (int)json_array_size(e->document.meshes) - 1;
        mesh = json_array_get(e->document.meshes, (size_t)mesh_index);
        gltf_put(&e->out, node->object, "mesh", json_integer(mesh_index));
    }

    /* targets of each primitive, made once for each run of vertices */
    json_t *primitives = json_object_get(mesh, "primitives");
    json_t *made = gltf_keep(&e->out, json_object()); /* new targets of this mesh, by first vertex */
    for (size_t p = 0; p < json_array_size(primitives) && !e->out.failed; p++) {
        json_t *object = json_array_get(primitives, p);
        gltf_run run = run_find(e, index, node->mesh, (int)p, object);

        char key[32];
        snprintf(key, sizeof key, "%d", run.first);
        json_t *shared = run.first >= 0 ? json_object_get(made, key) : NULL;
        size_t before = json_array_size(json_object_get(object, "targets"));
        primitive_edit(e, &run, object, shared);

        /* remember what was made, without the source's own targets */
        if (shared || run.first < 0) continue;
        json_t *entry = gltf_put_object(&e->out, made, key), *list = gltf_put_array(&e->out, entry, "targets");
        json_t *targets = json_object_get(object, "targets");
        for (size_t k = before; k < json_array_size(targets); k++)
            gltf_append(&e->out, list, json_deep_copy(json_array_get(targets, k)));
    }
    json_decref(made);

    /* default weights and names keep the length of the list of targets */
    weights_extend(e, mesh, node->morph_count);
    weights_extend(e, node->object, node->morph_count);
    names_extend(e, mesh, node->morph_count);
}

/* ---- clips ---- */

static bool node_has_surface(const bake_edit *e, int node)
{
    for (int i = 0; i < e->reader.run_count; i++)
        if (e->reader.runs[i].node == node) return true;
    return false;
}

/* Room for the new targets in a channel of another clip: each key's weights, then zeros. */
static cutis_result channel_widen(bake_edit *e, json_t *animation, json_t *channel, int before)
{
    /* the old weights, interleaved: `before` values at each key */
    json_t *samplers = json_object_get(animation, "samplers");
    const json_t *old = json_array_get(samplers, (size_t)json_integer_value(json_object_get(channel, "sampler")));
    int output = (int)json_integer_value(json_object_get(old, "output"));
    gltf_accessor accessor;
    cutis_result result = gltf_accessor_open(&e->document, output, "weights", 1, &accessor);
    if (result != CUTIS_OK) return result;

    int keys = accessor.count / before, after = before + e->targets->target_count;
    float *values = ARENA_ARRAY(&e->out.memory, float, accessor.count);
    float *wide = ARENA_ARRAY(&e->out.memory, float, (size_t)keys *(size_t)after);

    json_t *sampler = gltf_keep(&e->out, json_deep_copy(old));
    if (!values || !wide || !sampler) {
        json_decref(sampler);
        return error_memory(e->error, "a glTF document");
    }

    /* each key's row is widened; the new weights stay 0 */
    result = gltf_accessor_floats(&e->document, &accessor, "weights", values);
    for (int k = 0; k < keys; k++)
        memcpy(wide + (size_t)k * (size_t)after, values + (size_t)k * (size_t)before, (size_t)before * sizeof(float));

    /* a sampler of its own: another channel may use the old one */
    gltf_put(&e->out, sampler, "output",
             json_integer(gltf_floats_add(&e->out, wide, keys * after, 1, GLTF_TARGET_NONE, false)));
    gltf_append(&e->out, samplers, sampler);
    gltf_put(&e->out, channel, "sampler", json_integer((json_int_t)json_array_size(samplers) - 1));
    return result;
}

/* The weights of all targets of a node at every frame, as a channel of the clip. */
static void channel_add(bake_edit *e, int node_index)
{
    /* a row of weights for each frame: the source's targets, then the new ones */
    const gltf_node *node = &e->reader.nodes[node_index];
    const cutis_morphs_def *def = e->def;
    int before = node->morph_count, after = before + e->targets->target_count;

    float *values = ARENA_ARRAY(&e->out.memory, float, (size_t)def->frame_count *(size_t)after);
    float *own = ARENA_ARRAY(&e->out.memory, float, e->character->morph_count + 1);

    if (!values || !own) {
        e->out.failed = true;
        return;
    }
    for (int f = 0; f < def->frame_count; f++) {
        /* the source's weights as the clip plays them; tracks are relative to the defaults */
        float *row = values + (size_t)f * (size_t)after;
        if (before) {
            cutis_pose_morphs(e->character, def->clip, def->start + f / def->fps, own);
            for (int m = 0; m < before; m++) row[m] = own[node->first_morph + m] + node->morph_defaults[m];
        }

        memcpy(row + before, e->targets->weights + (size_t)f * (size_t)e->targets->target_count,
               (size_t)e->targets->target_count * sizeof(float));
    }

    /* a sampler with linear interpolation between frames */
    json_t *samplers = json_object_get(e->animation, "samplers"), *channels = json_object_get(e->animation, "channels");
    json_t *sampler = gltf_append_object(&e->out, samplers), *channel = gltf_append_object(&e->out, channels);
    int output = gltf_floats_add(&e->out, values, def->frame_count * after, 1, GLTF_TARGET_NONE, false);
    gltf_put(&e->out, sampler, "input", json_integer(e->times));
    gltf_put(&e->out, sampler, "output", json_integer(output));
    gltf_put(&e->out, sampler, "interpolation", json_string("LINEAR"));

    /* the channel that leads it to the node */
    gltf_put(&e->out, channel, "sampler", json_integer((json_int_t)json_array_size(samplers) - 1));
    json_t *target = gltf_put_object(&e->out, channel, "target");
    gltf_put(&e->out, target, "node", json_integer(node_index));
    gltf_put(&e->out, target, "path", json_string("weights"));
}

/*
 * The node of a joint of the character; -1: the document has none. A document made from the character has its joints as
 * its first nodes, in their order; its reader may find another root above them.
 */
static int joint_node(const bake_edit *e, int joint)
{
    if (joint >= (e->generated ? e->character->joint_count : e->reader.joint_count)) return -1;
    return e->generated ? joint : e->reader.joint_nodes[joint];
}

/* A joint's track as a channel of the new clip. A node that is given as a matrix cannot be animated as it is. */
static void track_add(bake_edit *e, const cutis_track *track)
{
    static const char *const paths[] = {"translation", "rotation", "scale"};
    static const char *const interpolations[] = {"STEP", "LINEAR", "CUBICSPLINE"};

    /* morph weights have a channel of their own; a node that became several joints is written once */
    int index = track->path == CUTIS_PATH_MORPH ? -1 : joint_node(e, track->target);
    if (index < 0) return;
    const gltf_node *node = &e->reader.nodes[index];
    if (!e->generated && node->first_joint != track->target) return; /* a second joint of the same node */

    /* only translation, rotation and scale can be animated, so a matrix is taken apart */
    if (json_object_get(node->object, "matrix")) {
        cutis_transform t = affine_parts_store(&node->parts);
        json_object_del(node->object, "matrix");
        gltf_put_floats(&e->out, node->object, "translation", t.translation, 3);
        gltf_put_floats(&e->out, node->object, "rotation", t.rotation, 4);
        gltf_put_floats(&e->out, node->object, "scale", t.scale, 3);
    }

    /* a cubic key has two tangents beside its value */
    int components = track->path == CUTIS_PATH_ROTATION ? 4 : 3;
    int values = track->key_count * (track->interpolation == CUTIS_INTERPOLATION_CUBIC ? 3 : 1);

    json_t *samplers = json_object_get(e->animation, "samplers"), *channels = json_object_get(e->animation, "channels");
    json_t *sampler = gltf_append_object(&e->out, samplers), *channel = gltf_append_object(&e->out, channels);

    /* times, whose bounds glTF requires */
    int input = gltf_floats_add(&e->out, track->times, track->key_count, 1, GLTF_TARGET_NONE, false);
    json_t *bounds = json_array_get(e->out.accessors, (size_t)input);
    gltf_put_floats(&e->out, bounds, "min", track->times, 1);
    gltf_put_floats(&e->out, bounds, "max", track->times + track->key_count - 1, 1);
    gltf_put(&e->out, sampler, "input", json_integer(input));

    int output = gltf_floats_add(&e->out, track->values, values, components, GLTF_TARGET_NONE, false);
    gltf_put(&e->out, sampler, "output", json_integer(output));
    gltf_put(&e->out, sampler, "interpolation", json_string(interpolations[track->interpolation]));

    /* the channel that leads them to the node */
    gltf_put(&e->out, channel, "sampler", json_integer((json_int_t)json_array_size(samplers) - 1));
    json_t *target = gltf_put_object(&e->out, channel, "target");
    gltf_put(&e->out, target, "node", json_integer(index));
    gltf_put(&e->out, target, "path", json_string(paths[track->path]));
}

/* The animation of the clip; made from the character's tracks when the source does not have it. */
static void find_animation(bake_edit *e)
{
    const cutis_clip *clip = e->def->clip >= 0 ? &e->character->clips[e->def->clip] : NULL;
    for (int i = 0; clip && i < e->reader.given.clip_count; i++)
        if (strcmp(e->reader.given.clips[i].name, clip->name) == 0)
            e->animation = json_array_get(e->document.animations, (size_t)e->reader.clip_animations[i]);
    bool used = clip || e->targets->target_count > 0 || e->targets->track_count > 0 || e->def->props;
    if (e->animation || !used) return;
    e->animation = gltf_append_object(&e->out, gltf_edit_list(&e->out, "animations"));
    gltf_put_string(&e->out, e->animation, "name", clip ? clip->name : "idle");
    gltf_put_array(&e->out, e->animation, "samplers");
    gltf_put_array(&e->out, e->animation, "channels");
    for (int t = 0; clip && t < clip->track_count && !e->out.failed; t++) track_add(e, &clip->tracks[t]);
}

/*
 * Rotations and translations that contact has changed, in place of the clip's. The clip as it was stays behind all
 * others, under its name with ".animated".
 */
static void replace_tracks(bake_edit *e)
{
    if (e->targets->track_count == 0 || !e->animation) return;
    const char *name = gltf_get_string(e->animation, "name");
    json_t *before = gltf_keep(&e->out, json_deep_copy(e->animation));
    gltf_put(&e->out, before, "name", json_sprintf("%s.animated", name ? name : "clip"));
    gltf_append(&e->out, json_object_get(e->out.root, "animations"), before);

    for (int t = 0; t < e->targets->track_count && !e->out.failed; t++) {
        const cutis_track *track = &e->targets->tracks[t];
        int own = joint_node(e, track->target);
        if (own < 0) continue;
        const char *changed = track->path == CUTIS_PATH_ROTATION ? "rotation" : "translation";

        /* backwards, because channels are removed */
        json_t *channels = json_object_get(e->animation, "channels");
        for (size_t c = json_array_size(channels); c-- > 0;) {
            json_t *target = json_object_get(json_array_get(channels, c), "target");
            const char *path = gltf_get_string(target, "path");
            const json_t *node = json_object_get(target, "node");
            if (node && (int)json_integer_value(node) == own && path && strcmp(path, changed) == 0)
                json_array_remove(channels, c);
        }
        track_add(e, track);
    }
}

static void add_times(bake_edit *e)
{
    const cutis_morphs_def *def = e->def;

    float *times = ARENA_ARRAY(&e->out.memory, float, def->frame_count);
    if (!times) {
        e->out.failed = true;
        return;
    }

    /* times ascend strictly, whatever a float rounds */
    for (int f = 0; f < def->frame_count; f++) {
        times[f] = (float)MAX(def->start + f / def->fps, 0);
        if (f > 0 && !(times[f] > times[f - 1])) times[f] = nextafterf(times[f - 1], INFINITY);
    }

    e->times = gltf_floats_add(&e->out, times, def->frame_count, 1, GLTF_TARGET_NONE, true);
}

static cutis_result edit_clips(bake_edit *e)
{
    /* weights of the source: replaced in the clip that was baked, widened in all others */
    json_t *animations = json_object_get(e->out.root, "animations");
    for (size_t a = 0; a < json_array_size(animations); a++) {
        json_t *animation = json_array_get(animations, a), *channels = json_object_get(animation, "channels");

        /* backwards, because channels are removed */
        for (size_t c = json_array_size(channels); c-- > 0;) {
            json_t *channel = json_array_get(channels, c), *target = json_object_get(channel, "target");
            const char *path = gltf_get_string(target, "path");
            const json_t *node = json_object_get(target, "node");
            int index = node ? (int)json_integer_value(node) : -1;

            if (!path || strcmp(path, "weights") != 0 || index < 0 || index >= e->document.node_count) continue;
            int before = e->reader.nodes[index].morph_count;
            if (before == 0 || !node_has_surface(e, index)) continue;

            if (animation == e->animation) {
                json_array_remove(channels, c);
            } else {
                cutis_result result = channel_widen(e, animation, channel, before);
                if (result != CUTIS_OK) return result;
            }
        }
    }

    /* the baked clip's weights of each node that shows a part of the surface */
    for (int i = 0; i < e->document.node_count && !e->out.failed; i++)
        if (node_has_surface(e, i)) channel_add(e, i);
    return CUTIS_OK;
}

/* ---- the whole ---- */

static void edit_props(bake_edit *e)
{
    int count = e->generated ? e->character->joint_count : e->reader.joint_count;
    int *nodes = ARENA_ARRAY(&e->out.memory, int, count + 1);
    if (!nodes) {
        e->out.failed = true;
        return;
    }

    /* nodes of the joints */
    for (int j = 0; j < count; j++) nodes[j] = joint_node(e, j);
    gltf_bake_props(&e->out, nodes, count, e->def, e->animation, e->times);

    /* An animation that was made for props that stand still. */
    json_t *animations = json_object_get(e->out.root, "animations");
    if (!e->animation || json_array_size(json_object_get(e->animation, "channels")) > 0) return;
    for (size_t i = json_array_size(animations); i-- > 0;)
        if (json_array_get(animations, i) == e->animation) json_array_remove(animations, i);
    if (json_array_size(animations) == 0) json_object_del(e->out.root, "animations");
}

static cutis_result edit_document(bake_edit *e)
{
    gltf_edit_begin(&e->out, &e->document);

    e->image_count = gltf_edit_images(&e->out, source_path(e));
    if (!e->out.failed) find_animation(e);
    if (!e->out.failed) replace_tracks(e);

    bool props = e->def->props && e->character->prop_count > 0;
    if ((e->targets->target_count > 0 || props) && !e->out.failed) add_times(e);
    if (e->targets->target_count > 0 && !e->out.failed) {
        /* Clips first: they read accessors of the document as it was. */
        cutis_result result = edit_clips(e);
        if (result != CUTIS_OK) return result;
        for (int i = 0; i < e->document.node_count && !e->out.failed; i++)
            if (node_has_surface(e, i)) node_edit(e, i);
        if (!e->out.failed) e->spring_count = gltf_springs_release(&e->out, &e->reader, e->targets);
    }
    if (props && !e->out.failed) edit_props(e);

    gltf_edit_end(&e->out);
    return CUTIS_OK;
}

static cutis_result edit_source(bake_edit *e, const void *data, size_t size, const char *name, file_store *store,
                                const char *path, cutis_morphs_info *info)
{
    /* the source as a reader sees it */
    cutis_result result =
        gltf_document_parse(&e->document, data, size, name, source_path(e) != NULL, e->def->allocator, e->error);
    e->reader = (gltf_reader){.document = &e->document};
    e->reader.warnings.memory = &e->document.memory;
    if (result == CUTIS_OK) result = gltf_read_all(&e->reader);

    /* a generated file has its vertices split at texture seams */
    int expected = e->character->vertex_count;
    if (e->generated) {
        corner_split split;
        if (!corner_split_make(e->character, &e->out.memory, &split)) return error_memory(e->error, "a glTF document");
        expected = split.count;
        e->originals = split.originals;
    }

    /* targets are written by vertex order, so the source must be the character's file */
    if (result == CUTIS_OK && e->reader.given.vertex_count != expected)
        result = error_set(e->error, CUTIS_ERROR_DATA,
                           "'%.200s' has %d vertices, but the character has %d: it was not loaded from this file", name,
                           e->reader.given.vertex_count, expected);

    /* edit the JSON and report what the bake did */
    if (result == CUTIS_OK) result = edit_document(e);
    info->image_count = e->image_count;
    info->spring_count = e->spring_count;
    if (result == CUTIS_OK && e->out.failed) result = error_memory(e->error, "a glTF document");

    /* save only what is complete */
    if (result != CUTIS_OK) return result;
    return gltf_builder_save(&e->out, store, path, &info->file_bytes, e->error);
}

cutis_result gltf_bake_write(const gltf_bake_def *def, file_store *store, const char *path, cutis_morphs_info *info,
                             cutis_error *error)
{
    const cutis_file *source = &def->morphs->source;
    bake_edit e = {.def = def->morphs, .targets = def, .character = def->morphs->character, .error = error};

    e.out.memory = arena_create(def->morphs->allocator);
    cutis_result result = CUTIS_OK;

    /* both ways end in the same edit of a glTF document */
    if (source->name && path_is_gltf(source->name)) {
        /* the file that is kept */
        file_data file = {0};
        if (!source->data) result = file_read(source->name, 0, def->morphs->allocator, &file, error);
        const void *data = source->data ? source->data : file.bytes;
        size_t size = source->data ? source->size : file.size;
        if (result == CUTIS_OK) result = edit_source(&e, data, size, source->name, store, path, info);
        gltf_document_destroy(&e.document);
        file_release(&file);
    } else {
        /* a document made from the character */
        gltf_builder plain;
        uint8_t *data = NULL;
        size_t size = 0;
        e.generated = true;

        result = gltf_character_build(e.character, &plain, error);
        if (result == CUTIS_OK) result = gltf_builder_pack(&plain, path, &data, &size, error);
        if (result == CUTIS_OK) result = edit_source(&e, data, size, "character.glb", store, path, info);
        gltf_document_destroy(&e.document);
        gltf_builder_destroy(&plain);
    }

    gltf_builder_destroy(&e.out);
    return result;
}
