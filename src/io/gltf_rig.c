/*
 * gltf_rig.c: put a new skeleton and new weights into a glTF file and keep all else of it: materials, textures,
 * extensions, vertex order, nodes. The file's own JSON is edited. Skins and animations of the old skeleton go.
 */
#include <string.h>

#include "io/gltf_read.h"
#include "io/gltf_rig.h"

typedef struct rig_writer {
    gltf_document document;
    gltf_reader reader;
    const cutis_character *character;
    uint8_t *bytes; /* the one binary chunk */
    size_t size, capacity;
    int first_joint_node;
    bool failed; /* memory ran out */
} rig_writer;

static uint8_t *chunk_push(rig_writer *w, size_t size)
{
    size_t start = (w->size + 3) & ~(size_t)3, end = start + ((size + 3) & ~(size_t)3);
    if (end > w->capacity) {
        size_t capacity = MAX(2 * w->capacity, end + 65536);
        uint8_t *grown = memory_allocate(NULL, capacity, 1);
        if (!grown) {
            w->failed = true;
            return NULL;
        }
        if (w->size) memcpy(grown, w->bytes, w->size);
        memory_release(NULL, w->bytes, w->capacity, 1);
        w->bytes = grown;
        w->capacity = capacity;
    }
    memset(w->bytes + w->size, 0, end - w->size);
    w->size = end;
    return w->bytes + start;
}

static json_t *list_of(rig_writer *w, const char *key)
{
    json_t *list = json_object_get(w->document.root, key);
    if (list) return list;
    if (json_object_set_new(w->document.root, key, json_array()) != 0) w->failed = true;
    return json_object_get(w->document.root, key);
}

/* Add `value` (may be NULL: out of memory) to a list; returns its index. */
static int list_append(rig_writer *w, const char *key, json_t *value)
{
    json_t *list = list_of(w, key);
    if (!list || json_array_append_new(list, value) != 0) {
        w->failed = true;
        return 0;
    }
    return (int)json_array_size(list) - 1;
}

/* An accessor over bytes of the chunk in a view of its own. target 0: none. */
static int accessor_append(rig_writer *w, const uint8_t *bytes, size_t size, int count, const char *type, int component,
                           int target)
{
    json_t *view = json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)(bytes - w->bytes), "byteLength",
                             (json_int_t)size);
    if (target && view && json_object_set_new(view, "target", json_integer(target)) != 0) w->failed = true;
    int index = list_append(w, "bufferViews", view);
    return list_append(w, "accessors",
                       json_pack("{s:i, s:i, s:i, s:s}", "bufferView", index, "componentType", component, "count",
                                 count, "type", type));
}

/* All buffers become one. */
static void buffers_join(rig_writer *w)
{
    gltf_document *d = &w->document;
    json_int_t *offsets = gltf_allocate(d, (size_t)d->buffer_count + 1, sizeof *offsets);
    if (!offsets) {
        w->failed = true;
        return;
    }
    for (int b = 0; b < d->buffer_count && !w->failed; b++) {
        uint8_t *room = chunk_push(w, d->buffers[b].size);
        if (!room) return;
        memcpy(room, d->buffers[b].bytes, d->buffers[b].size);
        offsets[b] = (json_int_t)(room - w->bytes);
    }
    for (int v = 0; v < d->view_count; v++) {
        json_t *view = json_array_get(d->buffer_views, (size_t)v);
        json_int_t buffer = json_integer_value(json_object_get(view, "buffer"));
        json_int_t offset = json_integer_value(json_object_get(view, "byteOffset"));
        if (buffer < 0 || buffer >= d->buffer_count) continue;
        if (json_object_set_new(view, "byteOffset", json_integer(offset + offsets[buffer])) != 0 ||
            json_object_set_new(view, "buffer", json_integer(0)) != 0)
            w->failed = true;
    }
}

/* Images in files beside the source go into the chunk; what cannot be read stays a reference. */
static void images_embed(rig_writer *w, const char *source)
{
    json_t *images = json_object_get(w->document.root, "images");
    for (size_t i = 0; i < json_array_size(images) && !w->failed; i++) {
        json_t *image = json_array_get(images, i);
        const char *uri = gltf_get_string(image, "uri");
        if (!uri || strncmp(uri, "data:", 5) == 0) continue;
        file_data file;
        const char *type = gltf_image_read(source, uri, &w->document.memory, &file);
        uint8_t *room = type ? chunk_push(w, file.size) : NULL;
        if (room) {
            memcpy(room, file.bytes, file.size);
            int view = list_append(w, "bufferViews",
                                   json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset",
                                             (json_int_t)(room - w->bytes), "byteLength", (json_int_t)file.size));
            if (json_object_set_new(image, "bufferView", json_integer(view)) != 0) w->failed = true;
            if (json_object_set_new(image, "mimeType", json_string(type)) != 0) w->failed = true;
            json_object_del(image, "uri");
        }
        file_release(&file);
    }
}

/* Joints as new nodes, their roots in the active scene. */
static void joints_append(rig_writer *w)
{
    const cutis_character *c = w->character;
    json_t *scene =
        json_array_get(w->document.scenes, (size_t)json_integer_value(json_object_get(w->document.root, "scene")));
    w->first_joint_node = (int)json_array_size(list_of(w, "nodes"));
    for (int j = 0; j < c->joint_count; j++) {
        const cutis_transform *t = &c->joints[j].idle;
        json_t *node =
            json_pack("{s:s, s:[f,f,f], s:[f,f,f,f], s:[f,f,f]}", "name", c->joints[j].name, "translation",
                      (double)t->translation[0], (double)t->translation[1], (double)t->translation[2], "rotation",
                      (double)t->rotation[0], (double)t->rotation[1], (double)t->rotation[2], (double)t->rotation[3],
                      "scale", (double)t->scale[0], (double)t->scale[1], (double)t->scale[2]);
        list_append(w, "nodes", node);
    }
    for (int j = 0; j < c->joint_count && !w->failed; j++) {
        int parent = c->joints[j].parent;
        json_t *owner =
            parent >= 0 ? json_array_get(list_of(w, "nodes"), (size_t)(w->first_joint_node + parent)) : scene;
        const char *key = parent >= 0 ? "children" : "nodes";
        json_t *list = json_object_get(owner, key);
        if (!list && owner && json_object_set_new(owner, key, json_array()) == 0) list = json_object_get(owner, key);
        if (!list || json_array_append_new(list, json_integer(w->first_joint_node + j)) != 0) w->failed = true;
    }
}

/* Mesh space -> rest scene space of a mesh node, as the reader placed its vertices. */
static affine placement_of(const rig_writer *w, const gltf_node *node)
{
    if (!w->reader.has_skeleton) return node->world;
    if (node->skin >= 0) return w->reader.skins[node->skin].placement;
    affine bind = affine_load(w->reader.joints[node->first_joint].inverse_bind), placement;
    affine_inverse(&bind, &placement);
    return placement;
}

/* A skin for one mesh node; returns its index. */
static int skin_append(rig_writer *w, const affine *placement)
{
    const cutis_character *c = w->character;
    size_t size = 64 * (size_t)c->joint_count;
    uint8_t *bytes = chunk_push(w, size);
    json_t *joints = json_array();
    if (!bytes || !joints) {
        w->failed = true;
        json_decref(joints);
        return 0;
    }
    for (int j = 0; j < c->joint_count; j++) {
        affine inverse = affine_load(c->joints[j].inverse_bind), bind = affine_multiply(&inverse, placement);
        for (int i = 0; i < 16; i++) {
            double value = i % 4 < 3 ? bind.m[4 * (i % 4) + i / 4] : i == 15;
            bytes_put_u32(bytes + 64 * (size_t)j + 4 * (size_t)i, bytes_from_float((float)value));
        }
        if (json_array_append_new(joints, json_integer(w->first_joint_node + j)) != 0) w->failed = true;
    }
    int matrices = accessor_append(w, bytes, size, c->joint_count, "MAT4", GLTF_FLOAT, 0);
    return list_append(w, "skins", json_pack("{s:o, s:i}", "joints", joints, "inverseBindMatrices", matrices));
}

/* JOINTS_n and WEIGHTS_n of a run of vertices, in place of the old ones. */
static void influences_put(rig_writer *w, json_t *attributes, int first, int count)
{
    const cutis_character *c = w->character;
    int most = 1;
    char key[32];
    for (int set = 0; set < 64; set++) {
        snprintf(key, sizeof key, "JOINTS_%d", set);
        json_object_del(attributes, key);
        snprintf(key, sizeof key, "WEIGHTS_%d", set);
        json_object_del(attributes, key);
    }
    for (int v = first; v < first + count; v++) most = MAX(most, c->influence_first[v + 1] - c->influence_first[v]);
    for (int set = 0; 4 * set < most && !w->failed; set++) {
        size_t joint_size = 8 * (size_t)count, weight_size = 16 * (size_t)count;
        uint8_t *joints = chunk_push(w, joint_size);
        if (!joints) return;
        int joint_accessor = accessor_append(w, joints, joint_size, count, "VEC4", GLTF_UNSIGNED_SHORT, 34962);
        for (int v = 0; v < count; v++)
            for (int k = 0; k < 4; k++) {
                int i = c->influence_first[first + v] + 4 * set + k;
                int joint = i < c->influence_first[first + v + 1] ? c->influence_joints[i] : 0;
                joints[8 * (size_t)v + 2 * (size_t)k] = (uint8_t)joint;
                joints[8 * (size_t)v + 2 * (size_t)k + 1] = (uint8_t)(joint >> 8);
            }
        uint8_t *weights = chunk_push(w, weight_size);
        if (!weights) return;
        int weight_accessor = accessor_append(w, weights, weight_size, count, "VEC4", GLTF_FLOAT, 34962);
        for (int v = 0; v < count; v++)
            for (int k = 0; k < 4; k++) {
                int i = c->influence_first[first + v] + 4 * set + k;
                float weight = i < c->influence_first[first + v + 1] ? c->influence_weights[i] : 0;
                bytes_put_u32(weights + 16 * (size_t)v + 4 * (size_t)k, bytes_from_float(weight));
            }
        snprintf(key, sizeof key, "JOINTS_%d", set);
        if (json_object_set_new(attributes, key, json_integer(joint_accessor)) != 0) w->failed = true;
        snprintf(key, sizeof key, "WEIGHTS_%d", set);
        if (json_object_set_new(attributes, key, json_integer(weight_accessor)) != 0) w->failed = true;
    }
}

/*
 * Walk the primitives in the reader's order, which is that of the character's parts. When they do not match one to one,
 * or a mesh stands in the scene twice, the file cannot be edited so.
 */
static cutis_result surface_edit(rig_writer *w, bool check)
{
    gltf_document *d = &w->document;
    const cutis_character *c = w->character;
    int part = 0;
    uint8_t *used = gltf_allocate(d, (size_t)d->mesh_count + 1, 1);
    if (!used) return gltf_error_memory(d);
    for (int i = 0; i < d->node_count; i++) {
        const gltf_node *node = &w->reader.nodes[w->reader.order[i]];
        if (node->mesh < 0 || !node->in_scene || node->is_prop) continue;
        json_t *primitives = json_object_get(json_array_get(d->meshes, (size_t)node->mesh), "primitives");
        if (used[node->mesh]++)
            return gltf_error(d, CUTIS_ERROR_UNSUPPORTED, "mesh %d is used by several nodes", node->mesh);
        for (size_t p = 0; p < json_array_size(primitives); p++, part++) {
            json_t *attributes = json_object_get(json_array_get(primitives, p), "attributes");
            gltf_accessor positions;
            int index;
            cutis_result result =
                gltf_get_index(d, attributes, "POSITION", "a primitive", d->accessor_count, true, &index);
            if (result == CUTIS_OK) result = gltf_accessor_open(d, index, "POSITION", 3, &positions);
            if (result != CUTIS_OK) return result;
            if (part >= c->part_count || c->parts[part].vertex_count != positions.count)
                return gltf_error(d, CUTIS_ERROR_UNSUPPORTED, "its primitives are not those of the character");
            if (!check) influences_put(w, attributes, c->parts[part].first_vertex, c->parts[part].vertex_count);
        }
        if (check) continue;
        affine placement = placement_of(w, node);
        if (json_object_set_new(node->object, "skin", json_integer(skin_append(w, &placement))) != 0) w->failed = true;
    }
    if (part != c->part_count || json_array_size(d->scenes) == 0)
        return gltf_error(d, CUTIS_ERROR_UNSUPPORTED, "its primitives are not those of the character");
    return CUTIS_OK;
}

static cutis_result rig_save(rig_writer *w, file_store *store, const char *path, cutis_error *error)
{
    json_t *root = w->document.root;
    size_t length = json_dumpb(root, NULL, 0, JSON_COMPACT), padded = (length + 3) & ~(size_t)3;
    char *text = arena_push(&w->document.memory, padded + 1, 1);
    if (length == 0 || !text || json_dumpb(root, text, length, JSON_COMPACT) != length)
        return error_memory(error, "a glTF document");
    memset(text + length, ' ', padded - length);
    size_t total = 12 + 8 + padded + 8 + w->size;
    if (total > UINT32_MAX)
        return error_set(error, CUTIS_ERROR_UNSUPPORTED, "cannot write '%s': a .glb file holds at most 4 GB", path);
    file_writer writer;
    cutis_result result = file_writer_open(&writer, store, path, NULL, error);
    if (result != CUTIS_OK) return result;
    uint8_t head[20];
    bytes_put_u32(head, 0x46546C67);
    bytes_put_u32(head + 4, 2);
    bytes_put_u32(head + 8, (uint32_t)total);
    bytes_put_u32(head + 12, (uint32_t)padded);
    bytes_put_u32(head + 16, 0x4E4F534A);
    file_writer_put(&writer, head, 20);
    file_writer_put(&writer, text, padded);
    bytes_put_u32(head, (uint32_t)w->size);
    bytes_put_u32(head + 4, 0x004E4942);
    file_writer_put(&writer, head, 8);
    file_writer_put(&writer, w->bytes, w->size);
    return file_writer_finish(&writer, error);
}

cutis_result gltf_rig_write(const cutis_character *character, const void *data, size_t size, const char *source,
                            bool external, file_store *store, const char *path, cutis_error *error)
{
    rig_writer w = {.character = character};
    cutis_result result = gltf_document_parse(&w.document, data, size, source, external, NULL, error);
    w.reader.document = &w.document;
    w.reader.warnings.memory = &w.document.memory;
    if (result == CUTIS_OK) result = gltf_read_nodes(&w.reader);
    if (result == CUTIS_OK) result = gltf_read_skeleton(&w.reader);
    if (result == CUTIS_OK) result = surface_edit(&w, true);
    if (result == CUTIS_OK) {
        json_t *root = w.document.root;
        json_object_del(root, "animations");
        json_object_del(root, "skins");
        buffers_join(&w);
        if (external) images_embed(&w, source);
        joints_append(&w);
        /* A node that keeps the number of a skin that is gone would be damage. */
        for (int i = 0; i < w.document.node_count; i++)
            json_object_del(json_array_get(w.document.nodes, (size_t)i), "skin");
        if (!w.failed) result = surface_edit(&w, false);
        chunk_push(&w, 0);
        json_t *buffers = json_pack("[{s:I}]", "byteLength", (json_int_t)w.size);
        if (!buffers || json_object_set_new(root, "buffers", buffers) != 0) w.failed = true;
        if (result == CUTIS_OK && w.failed) result = error_memory(error, "a glTF document");
    }
    if (result == CUTIS_OK) result = rig_save(&w, store, path, error);
    memory_release(NULL, w.bytes, w.capacity, 1);
    gltf_document_destroy(&w.document);
    return result;
}
