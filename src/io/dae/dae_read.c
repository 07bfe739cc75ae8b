/*
 * dae_read.c: COLLADA 1.4 and 1.5 (Khronos): nodes, meshes, skins and animations.
 *
 * This file has the document and its nodes, those of library_nodes where they are instanced; dae_mesh.c the meshes,
 * dae_clips.c the animations, dae_materials.c the looks.
 */
#include "io/dae/dae_read.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/dae/dae_scene.h"
#include "math/math3.h"

cutis_result dae_error(const dae_reader *r, cutis_result code, const char *what, const char *which)
{
    return error_set(r->error, code, "%.150s: %s '%.60s'", r->name, what, which);
}

cutis_result dae_memory(const dae_reader *r) { return error_memory(r->error, r->name); }

cutis_result dae_charge(dae_reader *r, size_t bytes, const char *which)
{
    if (bytes > r->budget)
        return dae_error(r, CUTIS_ERROR_UNSUPPORTED, "it expands too much for the size of the file, at", which);
    r->budget -= bytes;
    return CUTIS_OK;
}

/* ---- looking things up ---- */

static const xml_node *find_id(const xml_node *node, const char *id)
{
    for (const xml_node *child = node ? node->first_child : NULL; child; child = child->next) {
        if (strcmp(xml_attribute(child, "id"), id) == 0) return child;
        if (strcmp(child->name, "library_visual_scenes") == 0) continue;
        if (strncmp(child->name, "library_", 8) == 0 || strcmp(child->name, "mesh") == 0 ||
            strcmp(child->name, "skin") == 0 || strcmp(child->name, "animation") == 0) {
            const xml_node *found = find_id(child, id);
            if (found) return found;
        }
    }
    return NULL;
}

const xml_node *dae_find_url(const dae_reader *r, const xml_node *within, const char *url)
{
    if (*url == '#') url++;
    if (!*url) return NULL;
    const xml_node *found = within ? find_id(within, url) : NULL;
    return found ? found : find_id(r->root, url);
}

const xml_node *dae_find_input(const xml_node *list, const char *semantic)
{
    for (const xml_node *input = xml_child(list, "input"); input; input = xml_next(input, "input"))
        if (strcmp(xml_attribute(input, "semantic"), semantic) == 0) return input;
    return NULL;
}

const char *dae_word(const xml_node *element, const char **cursor, size_t *length)
{
    const char *at = !element ? NULL : *cursor ? *cursor : element->text, *end = element ? element->text_end : NULL;
    while (at && at < end && (unsigned char)*at <= 32) at++;
    const char *word = at;
    while (at && at < end && (unsigned char)*at > 32) at++;
    *cursor = at;
    *length = at ? (size_t)(at - word) : 0;
    return at > word ? word : NULL;
}

int dae_attribute_integer(const xml_node *node, const char *key, int missing)
{
    const char *text = xml_attribute(node, key), *cursor = text;
    long long value;
    if (!*text || !text_integer(&cursor, text + strlen(text), &value)) return missing;
    return value >= 0 && value < INT_MAX / 16 ? (int)value : missing;
}

const double *dae_source_numbers(dae_reader *r, const xml_node *source, int *count, int *stride)
{
    const xml_node *accessor = xml_child(xml_child(source, "technique_common"), "accessor");
    *stride = dae_attribute_integer(accessor, "stride", 1);
    if (*stride < 1) *stride = 1;
    return xml_numbers(xml_child(source, "float_array"), &r->memory, count);
}

/* ---- transforms ---- */

affine dae_matrix(const double *m)
{
    affine a;
    for (int i = 0; i < 12; i++) a.m[i] = fabs(m[i]) < 1e30 ? m[i] : 0;
    return a;
}

static affine op_matrix(const dae_op *op)
{
    affine_parts parts = affine_parts_identity();
    if (strcmp(op->element->name, "matrix") == 0) return dae_matrix(op->values);

    /* translation, scale, or a turn about an axis */
    if (strcmp(op->element->name, "translate") == 0) {
        memcpy(parts.translation, op->values, sizeof parts.translation);
    } else if (strcmp(op->element->name, "scale") == 0) {
        memcpy(parts.scale, op->values, sizeof parts.scale);
    } else {
        const double *v = op->values;
        double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), half = v[3] * (3.14159265358979323846 / 360);
        for (int k = 0; k < 3 && length > 0; k++) parts.rotation[k] = v[k] / length * det_sin(half);
        if (length > 0) parts.rotation[3] = det_cos(half);
    }

    return affine_compose(&parts);
}

affine_parts dae_node_local(const dae_op *ops, int count)
{
    affine map = affine_identity();
    for (int i = 0; i < count; i++) {
        affine step = op_matrix(&ops[i]);
        map = affine_multiply(&map, &step);
    }
    affine_parts parts;
    affine_decompose(&map, &parts);
    return parts;
}

static cutis_result ops_read(dae_reader *r, dae_node *node)
{
    for (const xml_node *child = node->element->first_child; child; child = child->next) {
        /* how many numbers it needs */
        int wanted = strcmp(child->name, "matrix") == 0                                           ? 16
                     : strcmp(child->name, "rotate") == 0                                         ? 4
                     : strcmp(child->name, "translate") == 0 || strcmp(child->name, "scale") == 0 ? 3
                                                                                                  : 0;
        if (wanted == 0 || node->op_count == OP_LIMIT) continue;

        int count;
        const double *values = xml_numbers(child, &r->memory, &count);
        if (!values) return dae_memory(r);

        if (count < wanted)
            return dae_error(r, CUTIS_ERROR_FORMAT, "too few numbers in a transform of node",
                             xml_attribute(node->element, "id"));

        /* numbers out of range count as 0 */
        dae_op *op = &node->ops[node->op_count++];
        op->element = child;
        op->count = wanted;
        for (int i = 0; i < wanted; i++) op->values[i] = fabs(values[i]) < 1e30 ? values[i] : 0;
    }

    return CUTIS_OK;
}

/* ---- nodes ---- */

/* Room for one node more. */
static cutis_result nodes_grow(dae_reader *r)
{
    if (r->s.node_count < r->node_capacity) return CUTIS_OK;
    int capacity = 2 * r->node_capacity + 64;

    dae_node *nodes = ARENA_ARRAY(&r->memory, dae_node, capacity);
    scene_node *scene_nodes = ARENA_ARRAY(&r->memory, scene_node, capacity);
    if (!nodes || !scene_nodes) return dae_memory(r);

    if (r->s.node_count) {
        memcpy(nodes, r->nodes, (size_t)r->s.node_count * sizeof *nodes);
        memcpy(scene_nodes, r->s.nodes, (size_t)r->s.node_count * sizeof *scene_nodes);
    }
    r->nodes = nodes;

    r->s.nodes = scene_nodes;
    r->node_capacity = capacity;
    return CUTIS_OK;
}

/* The <node> with this id at any depth below an element. */
static const xml_node *find_node_element(const xml_node *above, const char *id)
{
    for (const xml_node *node = xml_child(above, "node"); node; node = xml_next(node, "node")) {
        if (strcmp(xml_attribute(node, "id"), id) == 0) return node;
        const xml_node *found = find_node_element(node, id);
        if (found) return found;
    }
    return NULL;
}

/* What an instance_node stands for: a node of a library, or of a scene. */
static const xml_node *instanced_node(const dae_reader *r, const xml_node *instance)
{
    const char *url = xml_attribute(instance, "url");
    if (*url == '#') url++;
    for (const xml_node *list = r->root->first_child; list && *url; list = list->next) {
        const xml_node *found = NULL;
        if (strcmp(list->name, "library_nodes") == 0) found = find_node_element(list, url);
        if (strcmp(list->name, "library_visual_scenes") == 0)
            for (const xml_node *v = list->first_child; v && !found; v = v->next) found = find_node_element(v, url);
        if (found) return found;
    }

    return NULL;
}

/* A node and what is below it; instances: how many instance_node it is inside of. */
static cutis_result node_read(dae_reader *r, const xml_node *element, int parent, int instances)
{
    enum { NESTED_LIMIT = 16 };
    cutis_result result = instances ? dae_charge(r, sizeof(dae_node), xml_attribute(element, "id")) : CUTIS_OK;
    if (result == CUTIS_OK) result = nodes_grow(r);
    if (result != CUTIS_OK) return result;

    int index = r->s.node_count++;
    r->nodes[index] = (dae_node){.element = element};
    result = ops_read(r, &r->nodes[index]);
    if (result != CUTIS_OK) return result;

    const char *name = xml_attribute(element, "name");
    if (!*name) name = xml_attribute(element, "id");
    r->s.nodes[index] = (scene_node){.name = name,
                                     .parent = parent,
                                     .local = dae_node_local(r->nodes[index].ops, r->nodes[index].op_count),
                                     .is_bone = strcmp(xml_attribute(element, "type"), "JOINT") == 0};

    /* what is below, without a gap; a node that instances itself ends at some depth */
    for (const xml_node *child = element->first_child; child && result == CUTIS_OK; child = child->next) {
        bool instance = strcmp(child->name, "instance_node") == 0;
        if (strcmp(child->name, "node") == 0) result = node_read(r, child, index, instances);
        const xml_node *target = instance && instances < NESTED_LIMIT ? instanced_node(r, child) : NULL;
        if (target) result = node_read(r, target, index, instances + 1);
        if (instance && !target)
            warning_add(&r->warnings, "instance_node '%.60s' names no node of the file, or itself",
                        xml_attribute(child, "url"));
    }

    return result;
}

int dae_find_node(const dae_reader *r, int top, const char *key, const char *value, size_t length)
{
    for (int n = MAX(top, 0); n < r->s.node_count; n++) {
        /* a node's descendants follow it without a gap */
        int up = n;
        while (up > top && top >= 0) up = r->s.nodes[up].parent;
        if (top >= 0 && up != top) break;
        const char *own = xml_attribute(r->nodes[n].element, key);
        if (strlen(own) == length && memcmp(own, value, length) == 0) return n;
    }
    return -1;
}

/* ---- the whole ---- */

static void asset_read(dae_reader *r)
{
    const xml_node *asset = xml_child(r->root, "asset"), *up = xml_child(asset, "up_axis");
    const char *meter = xml_attribute(xml_child(asset, "unit"), "meter"), *cursor = meter;

    double unit;
    r->s.unit = 1;
    if (text_number(&cursor, meter + strlen(meter), &unit) && unit > 1e-9 && unit < 1e9) r->s.unit = unit;

    char axis = 'Y';
    for (const char *p = up ? up->text : ""; up && p < up->text_end; p++)
        if (*p == 'X' || *p == 'Z') axis = *p;

    /* turn the up axis to y */
    const double half = 0.70710678118654752440;
    double turn[4] = {axis == 'Z' ? -half : 0, 0, axis == 'X' ? half : 0, axis == 'Y' ? 1 : half};
    memcpy(r->s.turn, turn, sizeof turn);
}

static cutis_result read_all(dae_reader *r, const void *data, size_t size)
{
    int line;

    r->root = xml_parse(data, size, &r->memory, &line);
    if (r->memory.failed) return dae_memory(r);
    if (!r->root) return file_line_error(r->error, r->name, line, "its XML is damaged or cut short");

    if (strcmp(r->root->name, "COLLADA") != 0)
        return dae_error(r, CUTIS_ERROR_FORMAT, "it is not a COLLADA file: it starts with", r->root->name);
    asset_read(r);

    /* the scene that is shown, else the first */
    const char *url = xml_attribute(xml_child(xml_child(r->root, "scene"), "instance_visual_scene"), "url");
    const xml_node *list = xml_child(r->root, "library_visual_scenes"), *visual = xml_child(list, "visual_scene");
    for (; list; list = xml_next(list, "library_visual_scenes"))
        for (const xml_node *v = xml_child(list, "visual_scene"); v && *url; v = xml_next(v, "visual_scene"))
            if (strcmp(xml_attribute(v, "id"), url + 1) == 0) visual = v;

    cutis_result result = nodes_grow(r);
    for (const xml_node *node = xml_child(visual, "node"); node && result == CUTIS_OK; node = xml_next(node, "node"))
        result = node_read(r, node, -1, 0);
    if (result == CUTIS_OK) result = dae_read_meshes(r);
    if (result == CUTIS_OK) result = dae_read_clips(r);
    return result;
}

cutis_result dae_character_read(const void *data, size_t size, const char *path, bool motion_only, bool external,
                                const cutis_allocator *allocator, cutis_character **character, cutis_error *error)
{
    dae_reader r = {.name = path_base(path), .error = error, .memory = arena_create(allocator)};
    r.budget = ((size_t)64 << 20) + 64 * size;
    r.warnings.memory = &r.memory;

    /* read into a scene */
    r.s = (scene){
        .name = r.name, .memory = &r.memory, .warnings = &r.warnings, .error = error, .motion_only = motion_only};
    cutis_result result = read_all(&r, data, size);

    /* looks, unless the motion alone is wanted */
    if (result == CUTIS_OK && !motion_only) {
        r.s.materials = dae_materials_read(r.root, external ? path : NULL, &r.memory, &r.warnings, &r.s.material_count);
        if (!r.s.materials) result = dae_memory(&r);
    }

    if (result == CUTIS_OK) result = scene_build(&r.s, path, allocator, character);
    arena_destroy(&r.memory);

    return result;
}
