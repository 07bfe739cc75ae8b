/*
 * gltf_rig.c: put a new skeleton and new weights into a glTF file and keep all else of it: materials, textures,
 * extensions, vertex order, nodes. The file's own JSON is edited. Skins and animations of the old skeleton go.
 */
#include <string.h>

#include "io/gltf/gltf_edit.h"
#include "io/gltf/gltf_read.h"
#include "io/gltf/gltf_rig.h"

typedef struct rig_writer {
    gltf_document document;
    gltf_reader reader;
    gltf_builder out;
    const cutis_character *character;
    int first_joint_node;
} rig_writer;

/* Joints as new nodes, their roots in the active scene. */
static void joints_append(rig_writer *w)
{
    const cutis_character *c = w->character;

    json_t *scene =
        json_array_get(w->document.scenes, (size_t)json_integer_value(json_object_get(w->document.root, "scene")));
    json_t *nodes = gltf_edit_list(&w->out, "nodes");
    w->first_joint_node = (int)json_array_size(nodes);

    /* a node for each joint, in the idle pose */
    for (int j = 0; j < c->joint_count; j++) {
        const cutis_transform *t = &c->joints[j].idle;
        json_t *node = gltf_append_object(&w->out, nodes);
        gltf_put_string(&w->out, node, "name", c->joints[j].name);
        gltf_put_floats(&w->out, node, "translation", t->translation, 3);
        gltf_put_floats(&w->out, node, "rotation", t->rotation, 4);
        gltf_put_floats(&w->out, node, "scale", t->scale, 3);
    }

    /* below its parent's node, or at the root of the scene */
    for (int j = 0; j < c->joint_count && !w->out.failed; j++) {
        int parent = c->joints[j].parent;
        json_t *owner = parent >= 0 ? json_array_get(nodes, (size_t)(w->first_joint_node + parent)) : scene;
        const char *key = parent >= 0 ? "children" : "nodes";

        json_t *list = json_object_get(owner, key);
        if (!list) list = gltf_put_array(&w->out, owner, key);
        gltf_append(&w->out, list, json_integer(w->first_joint_node + j));
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

    float *matrices = ARENA_ARRAY(&w->out.memory, float, 16 * (size_t)c->joint_count);
    if (!matrices) {
        w->out.failed = true;
        return 0;
    }

    /* the bind pose, as seen from the mesh */
    for (int j = 0; j < c->joint_count; j++) {
        affine inverse = affine_load(c->joints[j].inverse_bind), bind = affine_multiply(&inverse, placement);
        for (int i = 0; i < 16; i++) matrices[16 * j + i] = (float)(i % 4 < 3 ? bind.m[4 * (i % 4) + i / 4] : i == 15);
    }

    int accessor = gltf_floats_add(&w->out, matrices, c->joint_count, 16, GLTF_TARGET_NONE, false);
    json_t *skins = gltf_edit_list(&w->out, "skins"), *skin = gltf_append_object(&w->out, skins);
    json_t *joints = gltf_put_array(&w->out, skin, "joints");
    for (int j = 0; j < c->joint_count; j++) gltf_append(&w->out, joints, json_integer(w->first_joint_node + j));

    gltf_put(&w->out, skin, "inverseBindMatrices", json_integer(accessor));
    return (int)json_array_size(skins) - 1;
}

/* JOINTS_n and WEIGHTS_n of a run of vertices, in place of the old ones. */
static void influences_put(rig_writer *w, json_t *attributes, int first, int count)
{
    const cutis_character *c = w->character;
    int most = 1;
    char key[32];

    /* weights of the old skeleton go, in all sets */
    for (int set = 0; set < 64; set++) {
        snprintf(key, sizeof key, "JOINTS_%d", set);
        json_object_del(attributes, key);
        snprintf(key, sizeof key, "WEIGHTS_%d", set);
        json_object_del(attributes, key);
    }

    /* as many sets of four as the vertex with the most influences needs */
    for (int v = first; v < first + count; v++) most = MAX(most, c->influence_first[v + 1] - c->influence_first[v]);
    for (int set = 0; 4 * set < most && !w->out.failed; set++) {
        uint8_t *joints = gltf_bytes_push(&w->out, 8 * (size_t)count);
        float *weights = ARENA_ARRAY(&w->out.memory, float, 4 * (size_t)count);
        if (!joints || !weights) {
            w->out.failed = true;
            return;
        }

        /* 16-bit joints, low byte first; unused places have joint 0 and weight 0 */
        for (int v = 0; v < count; v++)
            for (int k = 0; k < 4; k++) {
                int i = c->influence_first[first + v] + 4 * set + k;
                bool there = i < c->influence_first[first + v + 1];
                int joint = there ? c->influence_joints[i] : 0;
                joints[8 * (size_t)v + 2 * (size_t)k] = (uint8_t)joint;
                joints[8 * (size_t)v + 2 * (size_t)k + 1] = (uint8_t)(joint >> 8);
                weights[4 * v + k] = there ? c->influence_weights[i] : 0;
            }

        /* accessors of this set */
        int joint_accessor = gltf_accessor_add(&w->out, (size_t)(joints - w->out.bytes), count, 4, GLTF_UNSIGNED_SHORT,
                                               GLTF_TARGET_VERTICES);
        int weight_accessor = gltf_floats_add(&w->out, weights, count, 4, GLTF_TARGET_VERTICES, false);

        snprintf(key, sizeof key, "JOINTS_%d", set);
        gltf_put(&w->out, attributes, key, json_integer(joint_accessor));
        snprintf(key, sizeof key, "WEIGHTS_%d", set);
        gltf_put(&w->out, attributes, key, json_integer(weight_accessor));
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

    /* mesh nodes in the reader's order */
    for (int i = 0; i < d->node_count; i++) {
        const gltf_node *node = &w->reader.nodes[w->reader.order[i]];
        if (node->mesh < 0 || !node->in_scene || node->is_prop) continue;
        json_t *primitives = json_object_get(json_array_get(d->meshes, (size_t)node->mesh), "primitives");

        /* skin weights are attributes of the mesh, so two nodes cannot have their own */
        if (used[node->mesh]++)
            return gltf_error(d, CUTIS_ERROR_UNSUPPORTED, "mesh %d is used by several nodes", node->mesh);

        /* each primitive must have as many vertices as the next part */
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

        /* the first call only checks, before anything is changed */
        if (check) continue;
        affine placement = placement_of(w, node);
        gltf_put(&w->out, node->object, "skin", json_integer(skin_append(w, &placement)));
    }

    /* no part may be left over, and the joints need a scene */
    if (part != c->part_count || json_array_size(d->scenes) == 0)
        return gltf_error(d, CUTIS_ERROR_UNSUPPORTED, "its primitives are not those of the character");
    return CUTIS_OK;
}

cutis_result gltf_rig_write(const cutis_character *character, const void *data, size_t size, const char *source,
                            bool external, file_store *store, const char *path, cutis_error *error)
{
    rig_writer w = {.character = character};
    w.out.memory = arena_create(NULL);

    /* the file as it is, which must be the character's */
    cutis_result result = gltf_document_parse(&w.document, data, size, source, external, NULL, error);
    w.reader.document = &w.document;
    w.reader.warnings.memory = &w.document.memory;
    if (result == CUTIS_OK) result = gltf_read_nodes(&w.reader);
    if (result == CUTIS_OK) result = gltf_read_skeleton(&w.reader);
    if (result == CUTIS_OK) result = surface_edit(&w, true);

    /* its old skeleton goes, the new one comes */
    if (result == CUTIS_OK) {
        gltf_edit_begin(&w.out, &w.document);
        json_object_del(w.out.root, "animations");
        json_object_del(w.out.root, "skins");
        gltf_edit_images(&w.out, external ? source : NULL);
        joints_append(&w);

        /* A node that keeps the number of a skin that is gone would be damage. */
        for (int i = 0; i < w.document.node_count; i++)
            json_object_del(json_array_get(w.document.nodes, (size_t)i), "skin");

        if (!w.out.failed) result = surface_edit(&w, false);
        gltf_edit_end(&w.out);
        if (result == CUTIS_OK && w.out.failed) result = error_memory(error, "a glTF document");
    }

    if (result == CUTIS_OK) result = gltf_builder_save(&w.out, store, path, NULL, error);
    gltf_builder_destroy(&w.out);
    gltf_document_destroy(&w.document);
    return result;
}
