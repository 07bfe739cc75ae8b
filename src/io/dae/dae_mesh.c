/*
 * dae_mesh.c: meshes, skins and morph targets of a COLLADA file.
 *
 * Vertices are those of the geometry, in its order; polygons stay polygons, strips and fans become triangles. A joint
 * is found by its sid (Name_array) or id (IDREF_array).
 */
#include <math.h>
#include <string.h>

#include "io/dae/dae_scene.h"

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
        /* offset of each input within a corner */
        int offset = dae_attribute_integer(input, "offset", 0);
        in.width = MAX(in.width, offset + 1);
        if (strcmp(xml_attribute(input, "semantic"), "VERTEX") == 0) in.vertex = offset;

        if (strcmp(xml_attribute(input, "semantic"), "TEXCOORD") == 0 && in.texcoord < 0) {
            const xml_node *source = dae_find_url(r, mesh, xml_attribute(input, "source"));
            in.texcoords = dae_source_numbers(r, source, &in.texcoord_count, &in.texcoord_stride);
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

/* A face of so many corners of p: the first ones, or those that `order` (may be NULL) names. */
static cutis_result face_add(dae_reader *r, scene_mesh *mesh, polygon_lists *out, const polygon_inputs *in,
                             const double *p, const int *order, int corners)
{
    if (corners < 3) return CUTIS_OK;
    int first = out->face_first[mesh->face_count];

    /* corners, with texture coordinates where there are any */
    for (int c = 0; c < corners; c++) {
        const double *corner = p + (size_t)(order ? order[c] : c) * (size_t)in->width;
        double vertex = corner[in->vertex];
        if (!(vertex >= 0 && vertex < mesh->vertex_count))
            return dae_error(r, CUTIS_ERROR_FORMAT, "a polygon uses a vertex that does not exist, in mesh", mesh->name);
        out->corners[first + c] = (int)vertex;

        double at = in->texcoord >= 0 ? corner[in->texcoord] : -1;
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
    static const char *const names[] = {"triangles", "polylist", "polygons", "tristrips", "trifans"};
    for (int i = 0; i < COUNT_OF(names); i++)
        if (strcmp(node->name, names[i]) == 0) return true;
    return false;
}

/* The indices of a list, one <p> after the other; a polygon with holes (<ph>) is taken without them. */
static const xml_node *indices_next(const xml_node *list, const xml_node **cursor)
{
    const xml_node *at = *cursor ? (*cursor)->next : list->first_child;
    while (at && strcmp(at->name, "p") != 0 && strcmp(at->name, "ph") != 0) at = at->next;
    *cursor = at;
    return at && strcmp(at->name, "ph") == 0 ? xml_child(at, "p") : at;
}

/* The triangles of a strip or a fan of so many corners. */
static cutis_result strip_add(dae_reader *r, scene_mesh *mesh, polygon_lists *out, const polygon_inputs *in,
                              const double *p, int corners, bool fan)
{
    for (int k = 0; k + 2 < corners; k++) {
        int order[3] = {fan ? 0 : k, k + 1, k + 2};
        if (!fan && k % 2) {
            order[1] = k + 2;
            order[2] = k + 1;
        }
        cutis_result result = face_add(r, mesh, out, in, p, order, 3);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

static cutis_result list_read(dae_reader *r, const xml_node *element, const xml_node *list, scene_mesh *mesh,
                              polygon_lists *out)
{
    /* offsets of the inputs, and the corners of each polygon where the list states them */
    polygon_inputs in = inputs_read(r, element, list);
    int size_count = 0;
    const double *sizes = xml_numbers(xml_child(list, "vcount"), &r->memory, &size_count);
    out->names[out->name_count++] = xml_attribute(list, "material");
    if (in.vertex < 0 || in.width == 0) return CUTIS_OK;

    /* each kind of list lays out its indices differently */
    bool strip = strncmp(list->name, "tri", 3) == 0 && strcmp(list->name, "triangles") != 0;
    bool single = strcmp(list->name, "polygons") == 0; /* one <p> for each */

    const xml_node *cursor = NULL;
    for (const xml_node *p = indices_next(list, &cursor); cursor; p = indices_next(list, &cursor)) {
        int count;
        const double *numbers = xml_numbers(p, &r->memory, &count);
        if (!numbers) return dae_memory(r);

        /* strips and fans share corners, polygons follow each other */
        int corners = count / in.width, at = 0;
        cutis_result result = CUTIS_OK;
        if (strip) result = strip_add(r, mesh, out, &in, numbers, corners, strcmp(list->name, "trifans") == 0);
        for (int f = 0; at < corners && !strip && result == CUTIS_OK; f++) {
            double wanted = single ? corners : strcmp(list->name, "triangles") == 0 ? 3 : f < size_count ? sizes[f] : 0;
            if (!(wanted >= 1 && wanted <= corners - at)) break;
            result = face_add(r, mesh, out, &in, numbers + (size_t)at * (size_t)in.width, NULL, (int)wanted);
            at += (int)wanted;
        }
        if (result != CUTIS_OK) return result;
    }

    return CUTIS_OK;
}

/* The positions of a geometry (count x 3); NULL: none, or no memory. */
static const double *positions_read(dae_reader *r, const xml_node *geometry, int *count)
{
    const xml_node *element = xml_child(geometry, "mesh"), *vertices = xml_child(element, "vertices");
    const xml_node *source = dae_find_url(r, element, xml_attribute(dae_find_input(vertices, "POSITION"), "source"));

    int number_count, stride;
    const double *numbers = dae_source_numbers(r, source, &number_count, &stride);

    *count = numbers && stride >= 3 ? number_count / stride : 0;
    double *positions = ARENA_ARRAY(&r->memory, double, 3 * (size_t)*count + 1);

    for (int v = 0; positions && v < *count; v++)
        for (int k = 0; k < 3; k++) {
            double value = numbers[(size_t)v * (size_t)stride + (size_t)k];
            positions[3 * (size_t)v + (size_t)k] = fabs(value) < 1e30 ? value : 0;
        }

    return positions;
}

static cutis_result mesh_read(dae_reader *r, const xml_node *geometry, int node, scene_mesh *mesh)
{
    const xml_node *element = xml_child(geometry, "mesh");

    const char *name = xml_attribute(geometry, "name");
    *mesh = (scene_mesh){.name = *name ? name : r->s.nodes[node].name, .node = node, .to_node = affine_identity()};

    mesh->positions = positions_read(r, geometry, &mesh->vertex_count);
    if (!mesh->positions) return dae_memory(r);

    /* room: no more corners than there are words in the lists, thrice in strips */
    size_t corners = 0;
    int lists = 0;
    for (const xml_node *list = element->first_child; list; list = list->next) {
        if (!is_polygon_list(list)) continue;
        lists++;
        const xml_node *cursor = NULL;
        for (const xml_node *p = indices_next(list, &cursor); cursor; p = indices_next(list, &cursor))
            corners += p ? 3 * ((size_t)(p->text_end - p->text) / 2 + 1) : 0;
    }

    /* bounded by what the file can justify */
    cutis_result result = dae_charge(r, corners * 6 + (size_t)mesh->vertex_count * 8, mesh->name);
    if (result != CUTIS_OK) return result;

    polygon_lists out = {.face_first = ARENA_ARRAY(&r->memory, int, corners + 2),
                         .corners = ARENA_ARRAY(&r->memory, int, corners + 1),
                         .materials = ARENA_ARRAY(&r->memory, int, corners + 1),
                         .texcoords = ARENA_ARRAY(&r->memory, float, 2 * corners + 2),
                         .names = ARENA_ARRAY(&r->memory, const char *, lists + 1)};
    if (r->memory.failed) return dae_memory(r);

    for (const xml_node *list = element->first_child; list; list = list->next) {
        if (is_polygon_list(list)) result = list_read(r, element, list, mesh, &out);
        if (result != CUTIS_OK) return result;
    }

    mesh->face_first = out.face_first;
    mesh->corners = out.corners;
    mesh->texcoords = out.texcoords;
    mesh->face_materials = out.materials;
    mesh->materials = out.names;
    mesh->material_count = out.name_count;

    return CUTIS_OK;
}

/* ---- morph targets ---- */

/* One target: what it adds to the mesh. False when it does not fit, or when memory runs out. */
static bool target_read(dae_reader *r, const xml_node *geometry, bool relative, const scene_mesh *mesh,
                        scene_morph *morph)
{
    int count;

    const double *positions = positions_read(r, geometry, &count);
    if (!positions || count != mesh->vertex_count) return false;

    int *vertices = ARENA_ARRAY(&r->memory, int, count + 1);
    double *deltas = ARENA_ARRAY(&r->memory, double, 3 * (size_t)count + 1);
    if (!vertices || !deltas) return false;

    /* keep the vertices that move */
    for (int v = 0; v < count; v++) {
        double *delta = deltas + 3 * (size_t)morph->count;
        for (int k = 0; k < 3; k++) delta[k] = positions[3 * v + k] - (relative ? 0 : mesh->positions[3 * v + k]);
        if (delta[0] == 0 && delta[1] == 0 && delta[2] == 0) continue;
        vertices[morph->count++] = v;
    }

    morph->vertices = vertices;
    morph->deltas = deltas;
    return true;
}

/* The targets of a morph controller: whole shapes (NORMALIZED, the default) or differences (RELATIVE). */
static cutis_result morph_read(dae_reader *r, const xml_node *element, scene_mesh *mesh, const xml_node **weights)
{
    const xml_node *list = xml_child(element, "targets");

    const xml_node *names = dae_find_url(r, element, xml_attribute(dae_find_input(list, "MORPH_TARGET"), "source"));
    *weights = dae_find_url(r, element, xml_attribute(dae_find_input(list, "MORPH_WEIGHT"), "source"));

    int weight_count, stride;
    const double *values = dae_source_numbers(r, *weights, &weight_count, &stride);
    bool relative = strcmp(xml_attribute(element, "method"), "RELATIVE") == 0;

    const xml_node *words = xml_child(names, "IDREF_array");
    if (!words) words = xml_child(names, "Name_array");

    /* room for the targets */
    int capacity = 0, lost = 0;
    size_t length;
    const char *cursor = NULL;

    while (dae_word(words, &cursor, &length)) capacity++;
    scene_morph *morphs = ARENA_ARRAY(&r->memory, scene_morph, capacity + 1);
    if (!morphs || !values) return dae_memory(r);

    /* a target keeps its place, so that animations of the weights find it */
    cursor = NULL;
    for (const char *word; (word = dae_word(words, &cursor, &length)) != NULL;) {
        char *id = arena_format(&r->memory, "%.*s", (int)length, word);
        if (!id) return dae_memory(r);
        cutis_result result = dae_charge(r, (size_t)mesh->vertex_count * 60, id);
        if (result != CUTIS_OK) return result;

        const xml_node *geometry = dae_find_url(r, NULL, id);
        scene_morph *morph = &morphs[mesh->morph_count];
        *morph = (scene_morph){.name = xml_attribute(geometry, "name")};
        if (!*morph->name) morph->name = id;

        double weight = mesh->morph_count < weight_count ? values[mesh->morph_count] : 0;
        morph->weight = fabs(weight) < 1e6 ? weight : 0;
        if (!target_read(r, geometry, relative, mesh, morph)) lost++;
        if (r->memory.failed) return dae_memory(r);

        mesh->morph_count++;
    }

    if (lost)
        warning_add(&r->warnings, "%d morph targets of mesh '%.60s' have another number of vertices and are ignored",
                    lost, mesh->name);
    mesh->morphs = morphs;
    return CUTIS_OK;
}

/* ---- skins ---- */

/* One node by the name that a skin gives it: first below its instance's skeletons, where names may repeat elsewhere. */
static int skin_node(const dae_reader *r, const xml_node *instance, bool by_id, const char *word, size_t length)
{
    static const char *const keys[] = {"sid", "id", "name"};
    int node = -1;

    /* below the skeletons of the instance first */
    for (const xml_node *s = xml_child(instance, "skeleton"); s && node < 0; s = xml_next(s, "skeleton")) {
        const char *start = s->text, *end = s->text_end;
        while (start < end && ((unsigned char)*start <= 32 || *start == '#')) start++;
        while (end > start && (unsigned char)end[-1] <= 32) end--;

        int top = dae_find_node(r, -1, "id", start, (size_t)(end - start));
        for (int k = by_id; k < 3 && node < 0 && top >= 0; k++) node = dae_find_node(r, top, keys[k], word, length);
    }

    for (int k = by_id; k < 3 && node < 0; k++) node = dae_find_node(r, -1, keys[k], word, length);
    return node;
}

/* The nodes that the names of a skin's joints stand for. */
static int *skin_nodes(dae_reader *r, const xml_node *source, const xml_node *instance, int *count)
{
    const xml_node *list = xml_child(source, "Name_array");
    bool by_id = list == NULL;
    if (by_id) list = xml_child(source, "IDREF_array");
    *count = 0;
    const char *cursor = NULL;
    size_t length;
    int *nodes = ARENA_ARRAY(&r->memory, int, (list ? (size_t)(list->text_end - list->text) / 2 : 0) + 2);
    for (const char *word; nodes && (word = dae_word(list, &cursor, &length)) != NULL;)
        nodes[(*count)++] = skin_node(r, instance, by_id, word, length);
    return nodes;
}

static cutis_result weights_fill(dae_reader *r, const xml_node *skin, const xml_node *list, scene_mesh *mesh,
                                 scene_cluster *clusters, int joint_count)
{
    int size_count, pair_count, weight_count, stride;
    const xml_node *weight_input = dae_find_input(list, "WEIGHT"), *joint_input = dae_find_input(list, "JOINT");
    const double *sizes = xml_numbers(xml_child(list, "vcount"), &r->memory, &size_count);
    const double *pairs = xml_numbers(xml_child(list, "v"), &r->memory, &pair_count);

    const double *weights =
        dae_source_numbers(r, dae_find_url(r, skin, xml_attribute(weight_input, "source")), &weight_count, &stride);
    if (!sizes || !pairs || !weights) return dae_memory(r);

    int joint_offset = dae_attribute_integer(joint_input, "offset", 0),
        weight_offset = dae_attribute_integer(weight_input, "offset", 1);
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
    /* joints of the skin and the matrices of its bind pose */
    const xml_node *joints = xml_child(skin, "joints");
    const xml_node *names = dae_find_url(r, skin, xml_attribute(dae_find_input(joints, "JOINT"), "source"));
    const xml_node *binds = dae_find_url(r, skin, xml_attribute(dae_find_input(joints, "INV_BIND_MATRIX"), "source"));

    int joint_count, number_count, stride, shape_count;
    const int *nodes = skin_nodes(r, names, instance, &joint_count);
    const double *numbers = dae_source_numbers(r, binds, &number_count, &stride);
    const double *shape = xml_numbers(xml_child(skin, "bind_shape_matrix"), &r->memory, &shape_count);
    scene_cluster *clusters = ARENA_ARRAY(&r->memory, scene_cluster, joint_count + 1);
    if (!nodes || !numbers || !shape || !clusters) return dae_memory(r);

    /* COLLADA maps the mesh by the bind shape before the inverse bind matrix */
    affine bind_shape = shape_count >= 16 ? dae_matrix(shape) : affine_identity();
    for (int j = 0; j < joint_count; j++) {
        affine inverse = 16 * (j + 1) <= number_count ? dae_matrix(numbers + 16 * (size_t)j) : affine_identity();
        clusters[j] = (scene_cluster){.node = nodes[j], .to_bone = affine_multiply(&inverse, &bind_shape)};
        affine_inverse(&inverse, &clusters[j].bound);
    }

    /* weights, joint by joint */
    cutis_result result = weights_fill(r, skin, xml_child(skin, "vertex_weights"), mesh, clusters, joint_count);
    if (result != CUTIS_OK) return result;

    /* joints without weights are not needed; those missing in the scene are reported */
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

cutis_result dae_read_meshes(dae_reader *r)
{
    size_t capacity = 0;

    /* as many as there are instances, at most */
    for (int n = 0; n < r->s.node_count; n++)
        for (const xml_node *c = r->nodes[n].element->first_child; c; c = c->next)
            capacity += strncmp(c->name, "instance_", 9) == 0;

    r->s.meshes = ARENA_ARRAY(&r->memory, scene_mesh, capacity + 1);
    r->morph_weights = ARENA_ARRAY(&r->memory, const xml_node *, capacity + 1);
    if (!r->s.meshes || !r->morph_weights) return dae_memory(r);

    for (int n = 0; n < r->s.node_count; n++)
        for (const xml_node *c = r->nodes[n].element->first_child; c; c = c->next) {
            bool controlled = strcmp(c->name, "instance_controller") == 0;
            if (!controlled && strcmp(c->name, "instance_geometry") != 0) continue;

            /* a geometry, perhaps below a skin, a morph, or one of the other */
            const xml_node *target = dae_find_url(r, NULL, xml_attribute(c, "url")), *skin = NULL, *morph = NULL;
            for (int i = 0; i < 4 && target && strcmp(target->name, "controller") == 0; i++) {
                const xml_node *inner = xml_child(target, "skin");
                if (inner && !skin) skin = inner;
                if (!inner) inner = xml_child(target, "morph");
                if (inner && !morph && strcmp(inner->name, "morph") == 0) morph = inner;
                target = dae_find_url(r, NULL, xml_attribute(inner, "source"));
            }
            if (!target || !xml_child(target, "mesh")) continue;

            /* the mesh, its morphs, its skin */
            scene_mesh *mesh = &r->s.meshes[r->s.mesh_count];
            cutis_result result = mesh_read(r, target, n, mesh);
            if (result == CUTIS_OK && morph) result = morph_read(r, morph, mesh, &r->morph_weights[r->s.mesh_count]);
            if (result == CUTIS_OK && skin) result = skin_read(r, skin, c, mesh);
            if (result != CUTIS_OK) return result;

            if (mesh->face_count) r->s.mesh_count++;
        }

    return CUTIS_OK;
}
