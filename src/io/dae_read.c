/*
 * dae_read.c: COLLADA 1.4 and 1.5 (Khronos): nodes, meshes, skins and animations.
 *
 * Vertices are those of the geometry, in its order; polygons stay polygons. A joint is found by its sid (Name_array) or
 * id (IDREF_array). Keys are taken as linear, or steps; curves of single numbers are sampled as those of FBX would be.
 * Morph controllers are read over: their mesh is taken as it stands.
 */
#include "io/dae_read.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/scene_build.h"
#include "io/xml_parse.h"
#include "math/math3.h"

enum { OP_LIMIT = 16, SAMPLE_RATE = 60 };

/* One step of a node's transform. */
typedef struct dae_op {
    const xml_node *element;
    double values[16];
    int count;
} dae_op;

typedef struct dae_node {
    const xml_node *element;
    dae_op ops[OP_LIMIT];
    int op_count;
} dae_node;

/* Keys of one channel of an animation. */
typedef struct dae_channel {
    const xml_node *animation;
    int node, op;  /* what it drives */
    int component; /* of the step's values, -1: all */
    int key_count, width;
    const double *times, *values;
    bool stepped;
} dae_channel;

typedef struct dae_reader {
    const char *name;
    cutis_error *error;
    arena memory;
    warning_list warnings;
    size_t budget; /* of vertices and corners that may still be read */
    const xml_node *root;
    scene s;
    dae_node *nodes;
    int node_capacity, mesh_capacity;
    dae_channel *channels;
    int channel_count, channel_capacity;
} dae_reader;

static cutis_result dae_error(const dae_reader *r, cutis_result code, const char *what, const char *which)
{
    return error_set(r->error, code, "%.150s: %s '%.60s'", r->name, what, which);
}

static cutis_result dae_memory(const dae_reader *r) { return error_memory(r->error, r->name); }

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

static const xml_node *find_url(const dae_reader *r, const xml_node *within, const char *url)
{
    if (*url == '#') url++;
    if (!*url) return NULL;
    const xml_node *found = within ? find_id(within, url) : NULL;
    return found ? found : find_id(r->root, url);
}

static const xml_node *find_input(const xml_node *list, const char *semantic)
{
    for (const xml_node *input = xml_child(list, "input"); input; input = xml_next(input, "input"))
        if (strcmp(xml_attribute(input, "semantic"), semantic) == 0) return input;
    return NULL;
}

static int attribute_integer(const xml_node *node, const char *key, int missing)
{
    const char *text = xml_attribute(node, key), *cursor = text;
    long long value;
    if (!*text || !text_integer(&cursor, text + strlen(text), &value)) return missing;
    return value >= 0 && value < INT_MAX / 16 ? (int)value : missing;
}

/* A source of numbers: its array and the stride of its accessor. */
static const double *source_numbers(dae_reader *r, const xml_node *source, int *count, int *stride)
{
    const xml_node *accessor = xml_child(xml_child(source, "technique_common"), "accessor");
    *stride = attribute_integer(accessor, "stride", 1);
    if (*stride < 1) *stride = 1;
    return xml_numbers(xml_child(source, "float_array"), &r->memory, count);
}

/* ---- transforms ---- */

static affine matrix_of(const double *m)
{
    affine a;
    for (int i = 0; i < 12; i++) a.m[i] = fabs(m[i]) < 1e30 ? m[i] : 0;
    return a;
}

static affine op_matrix(const dae_op *op)
{
    affine_parts parts = affine_parts_identity();
    if (strcmp(op->element->name, "matrix") == 0) return matrix_of(op->values);
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

static affine_parts node_local(const dae_op *ops, int count)
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
        dae_op *op = &node->ops[node->op_count++];
        op->element = child;
        op->count = wanted;
        for (int i = 0; i < wanted; i++) op->values[i] = fabs(values[i]) < 1e30 ? values[i] : 0;
    }
    return CUTIS_OK;
}

/* ---- nodes ---- */

static size_t count_nodes(const xml_node *node)
{
    size_t count = 0;
    for (const xml_node *child = node ? node->first_child : NULL; child; child = child->next)
        if (strcmp(child->name, "node") == 0) count += 1 + count_nodes(child);
    return count;
}

static cutis_result nodes_read(dae_reader *r, const xml_node *above, int parent)
{
    for (const xml_node *element = xml_child(above, "node"); element; element = xml_next(element, "node")) {
        int index = r->s.node_count++;
        r->nodes[index] = (dae_node){.element = element};
        cutis_result result = ops_read(r, &r->nodes[index]);
        if (result != CUTIS_OK) return result;
        const char *name = xml_attribute(element, "name");
        if (!*name) name = xml_attribute(element, "id");
        r->s.nodes[index] = (scene_node){.name = name,
                                         .parent = parent,
                                         .local = node_local(r->nodes[index].ops, r->nodes[index].op_count),
                                         .is_bone = strcmp(xml_attribute(element, "type"), "JOINT") == 0};
        result = nodes_read(r, element, index);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

/* The node with this attribute, among those below `top` (itself too; -1: all). */
static int find_node(const dae_reader *r, int top, const char *key, const char *value, size_t length)
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

/* ---- meshes ---- */

/* The inputs of a list of polygons. */
typedef struct polygon_inputs {
    int width, vertex, texcoord; /* offsets, -1: none */
    const double *texcoords;
    int texcoord_count, texcoord_stride;
} polygon_inputs;

static polygon_inputs inputs_read(dae_reader *r, const xml_node *mesh, const xml_node *list)
{
    polygon_inputs in = {.vertex = -1, .texcoord = -1};
    for (const xml_node *input = xml_child(list, "input"); input; input = xml_next(input, "input")) {
        int offset = attribute_integer(input, "offset", 0);
        in.width = MAX(in.width, offset + 1);
        if (strcmp(xml_attribute(input, "semantic"), "VERTEX") == 0) in.vertex = offset;
        if (strcmp(xml_attribute(input, "semantic"), "TEXCOORD") == 0 && in.texcoord < 0) {
            const xml_node *source = find_url(r, mesh, xml_attribute(input, "source"));
            in.texcoords = source_numbers(r, source, &in.texcoord_count, &in.texcoord_stride);
            if (in.texcoords && in.texcoord_stride >= 2) in.texcoord = offset;
        }
    }
    return in;
}

/* Arrays of a mesh while its lists are read. */
typedef struct polygon_lists {
    int *face_first, *corners, *materials;
    float *texcoords;
    size_t face_capacity, corner_capacity;
    const char **names;
    int name_count;
} polygon_lists;

static cutis_result face_add(dae_reader *r, scene_mesh *mesh, polygon_lists *out, const polygon_inputs *in,
                             const double *p, int corners)
{
    if (corners < 3) return CUTIS_OK;
    int first = out->face_first[mesh->face_count];
    for (int c = 0; c < corners; c++) {
        double vertex = p[c * in->width + in->vertex];
        if (!(vertex >= 0 && vertex < mesh->vertex_count))
            return dae_error(r, CUTIS_ERROR_FORMAT, "a polygon names a vertex that does not exist, in mesh",
                             mesh->name);
        out->corners[first + c] = (int)vertex;
        double at = in->texcoord >= 0 ? p[c * in->width + in->texcoord] : -1;
        if (at >= 0 && (at + 1) * in->texcoord_stride <= in->texcoord_count) {
            const double *uv = in->texcoords + (size_t)at * (size_t)in->texcoord_stride;
            out->texcoords[2 * (first + c)] = fabs(uv[0]) < 1e30 ? (float)uv[0] : 0;
            out->texcoords[2 * (first + c) + 1] = fabs(uv[1]) < 1e30 ? (float)(1 - uv[1]) : 0;
        }
    }
    out->materials[mesh->face_count++] = out->name_count - 1;
    out->face_first[mesh->face_count] = first + corners;
    return CUTIS_OK;
}

static bool is_polygon_list(const xml_node *node)
{
    return strcmp(node->name, "triangles") == 0 || strcmp(node->name, "polylist") == 0 ||
           strcmp(node->name, "polygons") == 0;
}

static cutis_result list_read(dae_reader *r, const xml_node *element, const xml_node *list, scene_mesh *mesh,
                              polygon_lists *out)
{
    polygon_inputs in = inputs_read(r, element, list);
    int size_count = 0;
    const double *sizes = xml_numbers(xml_child(list, "vcount"), &r->memory, &size_count);
    out->names[out->name_count++] = xml_attribute(list, "material");
    if (in.vertex < 0 || in.width == 0) return CUTIS_OK;
    bool single = strcmp(list->name, "polygons") == 0; /* one <p> for each */
    for (const xml_node *p = xml_child(list, "p"); p; p = xml_next(p, "p")) {
        int count;
        const double *numbers = xml_numbers(p, &r->memory, &count);
        if (!numbers) return dae_memory(r);
        int corners = count / in.width, at = 0;
        for (int f = 0; at < corners; f++) {
            double wanted = single ? corners : strcmp(list->name, "triangles") == 0 ? 3 : f < size_count ? sizes[f] : 0;
            if (!(wanted >= 1 && wanted <= corners - at)) break;
            cutis_result result = face_add(r, mesh, out, &in, numbers + (size_t)at * (size_t)in.width, (int)wanted);
            if (result != CUTIS_OK) return result;
            at += (int)wanted;
        }
    }
    return CUTIS_OK;
}

static cutis_result mesh_read(dae_reader *r, const xml_node *geometry, int node, scene_mesh *mesh)
{
    const xml_node *element = xml_child(geometry, "mesh");
    const xml_node *vertices = xml_child(element, "vertices");
    const xml_node *source = find_url(r, element, xml_attribute(find_input(vertices, "POSITION"), "source"));
    int count, stride;
    const double *numbers = source_numbers(r, source, &count, &stride);
    const char *name = xml_attribute(geometry, "name");
    *mesh = (scene_mesh){.name = *name ? name : r->s.nodes[node].name, .node = node, .to_node = affine_identity()};
    if (!numbers) return dae_memory(r);
    mesh->vertex_count = stride >= 3 ? count / stride : 0;

    /* room: no more corners than there are words in the lists */
    size_t corners = 0;
    int lists = 0;
    for (const xml_node *list = element ? element->first_child : NULL; list; list = list->next) {
        if (!is_polygon_list(list)) continue;
        lists++;
        for (const xml_node *p = xml_child(list, "p"); p; p = xml_next(p, "p"))
            corners += (size_t)(p->text_end - p->text) / 2 + 1;
    }
    size_t cost = corners * 6 + (size_t)mesh->vertex_count * 8;
    if (cost > r->budget)
        return dae_error(r, CUTIS_ERROR_UNSUPPORTED, "instances expand out of proportion to the file, at mesh",
                         mesh->name);
    r->budget -= cost;
    double *positions = ARENA_ARRAY(&r->memory, double, 3 * (size_t)mesh->vertex_count);
    polygon_lists out = {.face_first = ARENA_ARRAY(&r->memory, int, corners + 2),
                         .corners = ARENA_ARRAY(&r->memory, int, corners + 1),
                         .materials = ARENA_ARRAY(&r->memory, int, corners + 1),
                         .texcoords = ARENA_ARRAY(&r->memory, float, 2 * corners + 2),
                         .names = ARENA_ARRAY(&r->memory, const char *, lists + 1)};
    if (r->memory.failed) return dae_memory(r);
    for (int v = 0; v < mesh->vertex_count; v++)
        for (int k = 0; k < 3; k++) {
            double value = numbers[(size_t)v * (size_t)stride + (size_t)k];
            positions[3 * (size_t)v + (size_t)k] = fabs(value) < 1e30 ? value : 0;
        }
    for (const xml_node *list = element ? element->first_child : NULL; list; list = list->next) {
        if (!is_polygon_list(list)) continue;
        cutis_result result = list_read(r, element, list, mesh, &out);
        if (result != CUTIS_OK) return result;
    }
    mesh->positions = positions;
    mesh->face_first = out.face_first;
    mesh->corners = out.corners;
    mesh->texcoords = out.texcoords;
    mesh->face_materials = out.materials;
    mesh->materials = out.names;
    mesh->material_count = out.name_count;
    return CUTIS_OK;
}

/* ---- skins ---- */

/* One node by the name that a skin gives it: first below its instance's skeletons, where names may repeat elsewhere. */
static int skin_node(const dae_reader *r, const xml_node *instance, bool by_id, const char *word, size_t length)
{
    static const char *const keys[] = {"sid", "id", "name"};
    int node = -1;
    for (const xml_node *s = xml_child(instance, "skeleton"); s && node < 0; s = xml_next(s, "skeleton")) {
        const char *start = s->text, *end = s->text_end;
        while (start < end && ((unsigned char)*start <= 32 || *start == '#')) start++;
        while (end > start && (unsigned char)end[-1] <= 32) end--;
        int top = find_node(r, -1, "id", start, (size_t)(end - start));
        for (int k = by_id; k < 3 && node < 0 && top >= 0; k++) node = find_node(r, top, keys[k], word, length);
    }
    for (int k = by_id; k < 3 && node < 0; k++) node = find_node(r, -1, keys[k], word, length);
    return node;
}

/* The nodes that the names of a skin's joints stand for. */
static int *skin_nodes(dae_reader *r, const xml_node *source, const xml_node *instance, int *count)
{
    const xml_node *list = xml_child(source, "Name_array");
    bool by_id = list == NULL;
    if (by_id) list = xml_child(source, "IDREF_array");
    *count = 0;
    const char *at = list ? list->text : NULL, *end = list ? list->text_end : NULL;
    int *nodes = ARENA_ARRAY(&r->memory, int, (size_t)(end - at) / 2 + 2);
    while (nodes && at && at < end) {
        while (at < end && (unsigned char)*at <= 32) at++;
        const char *word = at;
        while (at < end && (unsigned char)*at > 32) at++;
        if (at == word) break;
        size_t length = (size_t)(at - word);
        nodes[(*count)++] = skin_node(r, instance, by_id, word, length);
    }
    return nodes;
}

static cutis_result weights_fill(dae_reader *r, const xml_node *skin, const xml_node *list, scene_mesh *mesh,
                                 scene_cluster *clusters, int joint_count)
{
    int size_count, pair_count, weight_count, stride;
    const xml_node *weight_input = find_input(list, "WEIGHT"), *joint_input = find_input(list, "JOINT");
    const double *sizes = xml_numbers(xml_child(list, "vcount"), &r->memory, &size_count);
    const double *pairs = xml_numbers(xml_child(list, "v"), &r->memory, &pair_count);
    const double *weights =
        source_numbers(r, find_url(r, skin, xml_attribute(weight_input, "source")), &weight_count, &stride);
    if (!sizes || !pairs || !weights) return dae_memory(r);
    int joint_offset = attribute_integer(joint_input, "offset", 0),
        weight_offset = attribute_integer(weight_input, "offset", 1);
    int width = MAX(joint_offset, weight_offset) + 1;

    /* two passes over the pairs: count what each joint has, then fill */
    int **vertices = ARENA_ARRAY(&r->memory, int *, joint_count + 1);
    double **values = ARENA_ARRAY(&r->memory, double *, joint_count + 1);
    if (!vertices || !values) return dae_memory(r);
    for (int pass = 0; pass < 2; pass++) {
        size_t at = 0;
        for (int v = 0; v < size_count && v < mesh->vertex_count; v++)
            for (double k = 0; k < sizes[v] && (at + 1) * (size_t)width <= (size_t)pair_count; k++, at++) {
                double joint = pairs[at * (size_t)width + (size_t)joint_offset];
                double weight = pairs[at * (size_t)width + (size_t)weight_offset];
                if (!(joint >= 0 && joint < joint_count) || !(weight >= 0 && weight < weight_count)) continue;
                scene_cluster *cluster = &clusters[(int)joint];
                double value = weights[(int)weight];
                if (!(value > 0 && value < 1e6)) continue;
                if (pass == 1) {
                    vertices[(int)joint][cluster->count] = v;
                    values[(int)joint][cluster->count] = value;
                }
                cluster->count++;
            }
        for (int j = 0; pass == 0 && j < joint_count; j++) {
            vertices[j] = ARENA_ARRAY(&r->memory, int, clusters[j].count + 1);
            values[j] = ARENA_ARRAY(&r->memory, double, clusters[j].count + 1);
            clusters[j].count = 0;
        }
        if (r->memory.failed) return dae_memory(r);
    }
    for (int j = 0; j < joint_count; j++) {
        clusters[j].vertices = vertices[j];
        clusters[j].weights = values[j];
    }
    return CUTIS_OK;
}

static cutis_result skin_read(dae_reader *r, const xml_node *skin, const xml_node *instance, scene_mesh *mesh)
{
    const xml_node *joints = xml_child(skin, "joints");
    const xml_node *names = find_url(r, skin, xml_attribute(find_input(joints, "JOINT"), "source"));
    const xml_node *binds = find_url(r, skin, xml_attribute(find_input(joints, "INV_BIND_MATRIX"), "source"));
    int joint_count, number_count, stride, shape_count;
    const int *nodes = skin_nodes(r, names, instance, &joint_count);
    const double *numbers = source_numbers(r, binds, &number_count, &stride);
    const double *shape = xml_numbers(xml_child(skin, "bind_shape_matrix"), &r->memory, &shape_count);
    scene_cluster *clusters = ARENA_ARRAY(&r->memory, scene_cluster, joint_count + 1);
    if (!nodes || !numbers || !shape || !clusters) return dae_memory(r);
    affine bind_shape = shape_count >= 16 ? matrix_of(shape) : affine_identity();
    for (int j = 0; j < joint_count; j++) {
        affine inverse = 16 * (j + 1) <= number_count ? matrix_of(numbers + 16 * (size_t)j) : affine_identity();
        clusters[j] = (scene_cluster){.node = nodes[j], .to_bone = affine_multiply(&inverse, &bind_shape)};
        affine_inverse(&inverse, &clusters[j].bound);
    }
    cutis_result result = weights_fill(r, skin, xml_child(skin, "vertex_weights"), mesh, clusters, joint_count);
    if (result != CUTIS_OK) return result;
    int kept = 0, lost = 0;
    for (int j = 0; j < joint_count; j++) {
        if (clusters[j].count && clusters[j].node < 0) lost++;
        if (clusters[j].count && clusters[j].node >= 0) clusters[kept++] = clusters[j];
    }
    if (lost) warning_add(&r->warnings, "%d joints of mesh '%.60s' are not in the scene", lost, mesh->name);
    mesh->clusters = clusters;
    mesh->cluster_count = kept;
    return CUTIS_OK;
}

static cutis_result meshes_read(dae_reader *r)
{
    size_t capacity = 0;
    for (int n = 0; n < r->s.node_count; n++)
        for (const xml_node *c = r->nodes[n].element->first_child; c; c = c->next)
            capacity += strncmp(c->name, "instance_", 9) == 0;
    r->s.meshes = ARENA_ARRAY(&r->memory, scene_mesh, capacity + 1);
    if (!r->s.meshes) return dae_memory(r);
    for (int n = 0; n < r->s.node_count; n++)
        for (const xml_node *c = r->nodes[n].element->first_child; c; c = c->next) {
            bool controlled = strcmp(c->name, "instance_controller") == 0;
            if (!controlled && strcmp(c->name, "instance_geometry") != 0) continue;
            const xml_node *target = find_url(r, NULL, xml_attribute(c, "url")), *skin = NULL;
            for (int i = 0; i < 4 && target && strcmp(target->name, "controller") == 0; i++) { /* a skin of a morph */
                const xml_node *inner = xml_child(target, "skin");
                if (inner && !skin) skin = inner;
                if (!inner) inner = xml_child(target, "morph");
                target = find_url(r, NULL, xml_attribute(inner, "source"));
            }
            if (!target || !xml_child(target, "mesh")) continue;
            scene_mesh *mesh = &r->s.meshes[r->s.mesh_count];
            cutis_result result = mesh_read(r, target, n, mesh);
            if (result == CUTIS_OK && skin) result = skin_read(r, skin, c, mesh);
            if (result != CUTIS_OK) return result;
            if (mesh->face_count) r->s.mesh_count++;
        }
    return CUTIS_OK;
}

/* ---- animations ---- */

/* "node/sid", "node/sid.X", "node/sid(3)": what a channel drives. */
static bool target_parse(const dae_reader *r, const char *target, dae_channel *channel)
{
    const char *slash = strchr(target, '/');
    if (!slash) return false;
    channel->node = find_node(r, -1, "id", target, (size_t)(slash - target));
    if (channel->node < 0) return false;
    const char *sid = slash + 1;
    size_t length = strcspn(sid, ".(");
    const dae_node *node = &r->nodes[channel->node];
    channel->op = -1;
    for (int i = 0; i < node->op_count; i++) {
        const char *own = xml_attribute(node->ops[i].element, "sid");
        if (strlen(own) == length && memcmp(own, sid, length) == 0) channel->op = i;
    }
    if (channel->op < 0) return false;
    channel->component = -1;
    if (sid[length] == '.') {
        static const char *const members[4] = {"X", "Y", "Z", "ANGLE"};
        for (int i = 0; i < 4; i++)
            if (strcmp(sid + length + 1, members[i]) == 0) channel->component = i;
        if (channel->component < 0) return false;
    } else if (sid[length] == '(') {
        int indices[2] = {0, -1};
        const char *cursor = sid + length + 1, *end = cursor + strlen(cursor);
        for (int i = 0; i < 2; i++) {
            long long value;
            if (!text_integer(&cursor, end, &value) || value < 0 || value > 15) break;
            indices[i] = (int)value;
            if (strncmp(cursor, ")(", 2) != 0) break;
            cursor += 2;
        }
        channel->component = indices[1] >= 0 ? 4 * indices[1] + indices[0] : indices[0];
    }
    return channel->component < node->ops[channel->op].count;
}

static cutis_result channel_read(dae_reader *r, const xml_node *animation, const xml_node *element)
{
    dae_channel channel = {.animation = animation};
    if (!target_parse(r, xml_attribute(element, "target"), &channel)) return CUTIS_OK;
    const xml_node *sampler = find_url(r, animation, xml_attribute(element, "source"));
    int time_count, value_count, stride;
    channel.times = source_numbers(r, find_url(r, animation, xml_attribute(find_input(sampler, "INPUT"), "source")),
                                   &time_count, &stride);
    channel.values = source_numbers(r, find_url(r, animation, xml_attribute(find_input(sampler, "OUTPUT"), "source")),
                                    &value_count, &channel.width);
    if (!channel.times || !channel.values) return dae_memory(r);
    const xml_node *kinds =
        xml_child(find_url(r, animation, xml_attribute(find_input(sampler, "INTERPOLATION"), "source")), "Name_array");
    const char *kind = kinds ? kinds->text : "";
    while (kinds && kind < kinds->text_end && (unsigned char)*kind <= 32) kind++;
    channel.stepped = kinds && kinds->text_end - kind >= 4 && memcmp(kind, "STEP", 4) == 0;
    int needed = channel.component >= 0 ? 1 : r->nodes[channel.node].ops[channel.op].count;
    channel.key_count = MIN(time_count, value_count / channel.width);
    for (int i = 0; i < channel.key_count; i++)
        if (!(fabs(channel.times[i]) < 1e6) || (i && channel.times[i] < channel.times[i - 1])) channel.key_count = i;
    if (channel.width < needed || channel.key_count == 0) return CUTIS_OK;
    if (r->channel_count == r->channel_capacity) {
        int capacity = 2 * r->channel_capacity + 64;
        dae_channel *larger = ARENA_ARRAY(&r->memory, dae_channel, capacity);
        if (!larger) return dae_memory(r);
        if (r->channel_count) memcpy(larger, r->channels, (size_t)r->channel_count * sizeof *larger);
        r->channels = larger;
        r->channel_capacity = capacity;
    }
    r->channels[r->channel_count++] = channel;
    return CUTIS_OK;
}

static cutis_result animations_read(dae_reader *r, const xml_node *list, const xml_node *top)
{
    for (const xml_node *animation = xml_child(list, "animation"); animation;
         animation = xml_next(animation, "animation")) {
        const xml_node *outer = top ? top : animation;
        for (const xml_node *c = xml_child(animation, "channel"); c; c = xml_next(c, "channel")) {
            cutis_result result = channel_read(r, animation, c);
            if (result != CUTIS_OK) return result;
            if (r->channel_count) r->channels[r->channel_count - 1].animation = outer;
        }
        cutis_result result = animations_read(r, animation, outer);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

static void channel_apply(const dae_channel *channel, double time, dae_op *ops)
{
    int low = 0;
    while (low + 1 < channel->key_count && channel->times[low + 1] <= time) low++;
    int high = MIN(low + 1, channel->key_count - 1);
    double span = channel->times[high] - channel->times[low];
    double share = span > 0 && !channel->stepped ? CLAMP((time - channel->times[low]) / span, 0.0, 1.0) : 0;
    dae_op *op = &ops[channel->op];
    int first = MAX(channel->component, 0), count = channel->component >= 0 ? 1 : op->count;
    for (int i = 0; i < count; i++) {
        double a = channel->values[(size_t)low * (size_t)channel->width + (size_t)i];
        double b = channel->values[(size_t)high * (size_t)channel->width + (size_t)i];
        op->values[first + i] = a + (b - a) * share;
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What a clip of the file takes: all animations, or those that it names. */
static bool clip_takes(const xml_node *clip, const dae_channel *channel)
{
    if (!clip) return true;
    for (const xml_node *i = xml_child(clip, "instance_animation"); i; i = xml_next(i, "instance_animation")) {
        const char *url = xml_attribute(i, "url");
        if (strcmp(url + (*url == '#'), xml_attribute(channel->animation, "id")) == 0) return true;
    }
    return false;
}

static cutis_result node_sample(dae_reader *r, int node, const xml_node *clip, scene_clip *out, scene_track *tracks)
{
    size_t keys = 0;
    bool numbers = false;
    for (int c = 0; c < r->channel_count; c++)
        if (r->channels[c].node == node && clip_takes(clip, &r->channels[c])) {
            keys += (size_t)r->channels[c].key_count;
            numbers |= r->channels[c].component >= 0 || r->nodes[node].ops[r->channels[c].op].count == 4;
        }
    if (keys == 0) return CUTIS_OK;
    double *sorted = ARENA_ARRAY(&r->memory, double, keys);
    if (!sorted) return dae_memory(r);
    size_t used = 0;
    for (int c = 0; c < r->channel_count; c++)
        for (int i = 0;
             r->channels[c].node == node && clip_takes(clip, &r->channels[c]) && i < r->channels[c].key_count; i++)
            sorted[used++] = r->channels[c].times[i];
    qsort(sorted, used, sizeof *sorted, compare_doubles);

    /* whole matrices at their keys; single angles closer, since they do not turn as a quaternion does */
    double length = sorted[used - 1] - sorted[0];
    size_t extra = numbers && length < 3600 ? (size_t)(length * SAMPLE_RATE) + used : 0;
    double *instants = ARENA_ARRAY(&r->memory, double, used + extra + 1);
    if (!instants) return dae_memory(r);
    int count = 0;
    for (size_t i = 0; i < used; i++) {
        if (count && sorted[i] - instants[count - 1] < 1e-5) continue;
        int steps = count && extra ? (int)ceil((sorted[i] - instants[count - 1]) * SAMPLE_RATE - 1e-3) : 1;
        double from = count ? instants[count - 1] : sorted[i];
        for (int k = 1; k < steps && (size_t)count < used + extra; k++)
            instants[count++] = from + (sorted[i] - from) * k / steps;
        if ((size_t)count < used + extra + 1) instants[count++] = sorted[i];
    }
    affine_parts *parts = ARENA_ARRAY(&r->memory, affine_parts, count);
    float *times = ARENA_ARRAY(&r->memory, float, count);
    if (!parts || !times) return dae_memory(r);
    for (int i = 0; i < count; i++) {
        dae_op ops[OP_LIMIT];
        memcpy(ops, r->nodes[node].ops, sizeof ops);
        for (int c = 0; c < r->channel_count; c++)
            if (r->channels[c].node == node && clip_takes(clip, &r->channels[c]))
                channel_apply(&r->channels[c], instants[i], ops);
        parts[i] = node_local(ops, r->nodes[node].op_count);
        times[i] = (float)instants[i];
    }
    tracks[out->track_count++] = (scene_track){node, count, times, parts};
    return CUTIS_OK;
}

static cutis_result clips_read(dae_reader *r)
{
    const xml_node *animations = xml_child(r->root, "library_animations");
    cutis_result result = animations_read(r, animations, NULL);
    if (result != CUTIS_OK || r->channel_count == 0) return result;
    const xml_node *clip = xml_child(xml_child(r->root, "library_animation_clips"), "animation_clip");
    size_t capacity = 1;
    for (const xml_node *c = clip; c; c = xml_next(c, "animation_clip")) capacity++;
    r->s.clips = ARENA_ARRAY(&r->memory, scene_clip, capacity);
    if (!r->s.clips) return dae_memory(r);
    do {
        scene_clip *out = &r->s.clips[r->s.clip_count];
        scene_track *tracks = ARENA_ARRAY(&r->memory, scene_track, r->s.node_count + 1);
        if (!tracks) return dae_memory(r);
        const char *name = xml_attribute(clip ? clip : xml_child(animations, "animation"), "name");
        if (!*name) name = xml_attribute(clip ? clip : xml_child(animations, "animation"), "id");
        *out = (scene_clip){.name = name, .tracks = tracks};
        for (int n = 0; n < r->s.node_count && result == CUTIS_OK; n++) result = node_sample(r, n, clip, out, tracks);
        if (out->track_count) r->s.clip_count++;
        clip = xml_next(clip, "animation_clip");
    } while (clip && result == CUTIS_OK);
    return result;
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
    const xml_node *scenes = xml_child(r->root, "library_visual_scenes");
    const char *url = xml_attribute(xml_child(xml_child(r->root, "scene"), "instance_visual_scene"), "url");
    const xml_node *visual = xml_child(scenes, "visual_scene");
    for (const xml_node *v = visual; v && *url; v = xml_next(v, "visual_scene"))
        if (strcmp(xml_attribute(v, "id"), url + 1) == 0) visual = v;
    size_t count = count_nodes(visual);
    r->nodes = ARENA_ARRAY(&r->memory, dae_node, count + 1);
    r->s.nodes = ARENA_ARRAY(&r->memory, scene_node, count + 1);
    if (r->memory.failed) return dae_memory(r);
    cutis_result result = nodes_read(r, visual, -1);
    if (result == CUTIS_OK) result = meshes_read(r);
    if (result == CUTIS_OK) result = clips_read(r);
    return result;
}

cutis_result dae_character_read(const void *data, size_t size, const char *path, bool motion_only, bool external,
                                const cutis_allocator *allocator, cutis_character **character, cutis_error *error)
{
    dae_reader r = {.name = path_base(path), .error = error, .memory = arena_create(allocator)};
    r.budget = ((size_t)64 << 20) + 64 * size;
    r.warnings.memory = &r.memory;
    r.s = (scene){
        .name = r.name, .memory = &r.memory, .warnings = &r.warnings, .error = error, .motion_only = motion_only};
    cutis_result result = read_all(&r, data, size);
    if (result == CUTIS_OK && !motion_only) {
        r.s.materials = dae_materials_read(r.root, external ? path : NULL, &r.memory, &r.warnings, &r.s.material_count);
        if (!r.s.materials) result = dae_memory(&r);
    }
    if (result == CUTIS_OK) result = scene_build(&r.s, path, allocator, character);
    arena_destroy(&r.memory);
    return result;
}
