/*
 * gltf_write.c: a character as binary glTF 2.0, made from nothing but the character.
 *
 * The vertex order of the file is the character's; copies that texture seams need come after all vertices.
 * Positions are in scene space and the skin says so (extras.cutis.placement), so that reading the file back gives
 * the same rest pose even when the idle pose is another. Polygons are fans marked by FB_ngon_encoding.
 * What glTF has no word for (part names, props, settings) is kept in extras.cutis.
 */
#include "io/gltf/gltf_write.h"
#include "cutis/model.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "character/normals.h"
#include "io/affine.h"
#include "io/files.h"
#include "io/gltf/gltf_build.h"
#include "io/gltf/gltf_document.h"
#include "io/mesh/obj_file.h"
#include "math/math3.h"

/* A run of vertices with accessors of its own. */
typedef struct vertex_group {
    int first, count;
    json_t *attributes, *targets; /* owned until used */
} vertex_group;

typedef struct gltf_writer {
    const cutis_character *character;
    gltf_builder out;
    json_t *nodes, *meshes, *materials, *scene_nodes;
    corner_split split;
    bool has_skin, needs_static; /* the latter: some vertices have no weight in a character that has a skin */
    int mesh_node;
    int *image_materials; /* (image_count) the material that each image was first written for */
    int image_count;
} gltf_writer;

/* ---- vertices ---- */

/* Values of the character's vertices, put in the order of the file's: (count x components). */
static float *values_spread(gltf_writer *w, const vertex_group *group, const float *values, int components)
{
    float *spread = ARENA_ARRAY(&w->out.memory, float, (size_t)group->count *(size_t)components);
    for (int v = 0; spread && v < group->count; v++)
        memcpy(spread + (size_t)v * (size_t)components,
               values + (size_t)w->split.originals[group->first + v] * (size_t)components,
               (size_t)components * sizeof(float));
    if (!spread) w->out.failed = true;
    return spread;
}

/* Normals of the rest pose; a vertex without area points up. */
static float *normals_make(gltf_writer *w)
{
    const cutis_character *c = w->character;
    normal_frames frames;
    cutis_error error;
    float *points = ARENA_ARRAY(&w->out.memory, float, (size_t)c->point_count * 3);
    float *normals = ARENA_ARRAY(&w->out.memory, float, (size_t)c->vertex_count * 3);
    if (!points || !normals || normal_frames_build(&frames, c, &w->out.memory, &error)) {
        w->out.failed = true;
        return NULL;
    }

    character_normals(c, &frames, c->positions, points, normals);
    for (int v = 0; v < c->vertex_count; v++) {
        float *n = normals + 3 * (size_t)v;
        if (!(fabsf(vec3_length2(vec3_load(n)) - 1) < 1e-4f)) vec3_store(n, vec3_make(0, 1, 0));
    }
    return normals;
}

static int influence_count(const gltf_writer *w, int vertex)
{
    const cutis_character *c = w->character;
    return c->influence_first[vertex + 1] - c->influence_first[vertex];
}

/* JOINTS_n and WEIGHTS_n, four influences a set. */
static void influences_add(gltf_writer *w, const vertex_group *group)
{
    /* as many sets as the vertex with the most influences needs; joints in bytes where they fit */
    const cutis_character *c = w->character;
    int most = 1;
    for (int v = 0; v < group->count; v++) most = MAX(most, influence_count(w, w->split.originals[group->first + v]));
    size_t width = c->joint_count + (w->needs_static ? 1 : 0) <= 256 ? 1 : 2;

    for (int set = 0; 4 * set < most; set++) {
        uint8_t *joints = gltf_bytes_push(&w->out, (size_t)group->count * 4 * width);
        float *weights = ARENA_ARRAY(&w->out.memory, float, (size_t)group->count * 4);
        if (!joints || !weights) {
            w->out.failed = true;
            return;
        }

        /* each vertex; one without any weight is bound to the static joint */
        for (int v = 0; v < group->count; v++) {
            int vertex = w->split.originals[group->first + v], count = influence_count(w, vertex);

            /* Rounded to floats the weights must still sum to 1 for a validator: the first takes the difference. */
            double rest = 1;
            for (int i = 1; i < count; i++) rest -= (double)c->influence_weights[c->influence_first[vertex] + i];

            for (int k = 0; k < 4; k++) {
                int i = 4 * set + k, at = c->influence_first[vertex] + i;
                int joint = i < count ? c->influence_joints[at] : count == 0 && i == 0 ? c->joint_count : 0;
                float weight = i < count ? (i == 0 ? (float)rest : c->influence_weights[at]) : count == 0 && i == 0;
                if (!(weight > 0)) {
                    joint = 0;
                    weight = 0;
                }

                weights[4 * v + k] = weight;
                for (size_t b = 0; b < width; b++)
                    joints[((size_t)v * 4 + (size_t)k) * width + b] = (uint8_t)(joint >> (8 * b));
            }
        }

        /* accessors of this set */
        char key[32];
        snprintf(key, sizeof key, "JOINTS_%d", set);
        gltf_put(&w->out, group->attributes, key,
                 json_integer(gltf_accessor_add(&w->out, (size_t)(joints - w->out.bytes), group->count, 4,
                                                width == 1 ? GLTF_UNSIGNED_BYTE : GLTF_UNSIGNED_SHORT,
                                                GLTF_TARGET_VERTICES)));
        snprintf(key, sizeof key, "WEIGHTS_%d", set);
        gltf_put(&w->out, group->attributes, key,
                 json_integer(gltf_floats_add(&w->out, weights, group->count, 4, GLTF_TARGET_VERTICES, false)));
    }
}

static void group_write(gltf_writer *w, vertex_group *group, const float *normals)
{
    const cutis_character *c = w->character;

    group->attributes = gltf_keep(&w->out, json_object());
    float *positions = values_spread(w, group, c->positions, 3), *spread = values_spread(w, group, normals, 3);
    if (w->out.failed) return;

    /* shape, with the bounds that glTF requires of positions */
    gltf_put(&w->out, group->attributes, "POSITION",
             json_integer(gltf_floats_add(&w->out, positions, group->count, 3, GLTF_TARGET_VERTICES, true)));
    gltf_put(&w->out, group->attributes, "NORMAL",
             json_integer(gltf_floats_add(&w->out, spread, group->count, 3, GLTF_TARGET_VERTICES, false)));

    /* texture coordinates and weights */
    if (w->split.texcoords)
        gltf_put(&w->out, group->attributes, "TEXCOORD_0",
                 json_integer(gltf_floats_add(&w->out, w->split.texcoords + 2 * (size_t)group->first, group->count, 2,
                                              GLTF_TARGET_VERTICES, false)));
    if (w->has_skin) influences_add(w, group);

    /* painted maps as application-specific attributes, in capitals */
    for (int m = 0; m < c->map_count; m++) {
        char key[64];
        snprintf(key, sizeof key, "_CUTIS_%s", c->maps[m].name);
        for (char *p = key; *p; p++) *p = *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p;
        float *values = values_spread(w, group, c->maps[m].values, 1);
        if (values)
            gltf_put(&w->out, group->attributes, key,
                     json_integer(gltf_floats_add(&w->out, values, group->count, 1, GLTF_TARGET_VERTICES, false)));
    }

    if (c->morph_count == 0) return;
    group->targets = gltf_keep(&w->out, json_array());
    for (int m = 0; m < c->morph_count; m++) {
        float *deltas = values_spread(w, group, c->morphs[m].deltas, 3);
        if (!deltas) return;
        gltf_put(&w->out, gltf_append_object(&w->out, group->targets), "POSITION",
                 json_integer(gltf_floats_add(&w->out, deltas, group->count, 3, GLTF_TARGET_VERTICES, true)));
    }
}

/* ---- faces ---- */

/*
 * The corner that a polygon's fan starts at. FB_ngon_encoding tells polygons apart by their first vertex, so it
 * differs from the one before; among the rest, a quad starts on the diagonal that the character cuts it along.
 */
static int fan_start(const int *corners, int first, int count, const int *triangle, int previous)
{
    int best = -1, best_score = -1;

    for (int k = 0; k < count; k++) {
        if (corners[first + k] == previous) continue;

        /* both triangles of a quad hold the corners of its diagonal */
        bool on_diagonal = true;
        for (int t = 0; count == 4 && t < 2; t++) {
            bool inside = false;
            for (int e = 0; e < 3; e++) inside |= triangle[3 * t + e] == first + k;
            on_diagonal &= inside;
        }

        int score = (on_diagonal ? 2 : 0) + (k == 0 ? 1 : 0);
        if (score > best_score) {
            best = k;
            best_score = score;
        }
    }

    return MAX(best, 0);
}

/* The base colour's image in a buffer view of its own; materials with the same bytes share it. Returns the texture. */
static int image_write(gltf_writer *w, const cutis_material *material)
{
    /* one that was written before */
    const cutis_character *c = w->character;
    for (int i = 0; i < w->image_count; i++) {
        const cutis_material *other = &c->materials[w->image_materials[i]];
        if (other->image_size == material->image_size &&
            memcmp(other->image, material->image, material->image_size) == 0)
            return i;
    }

    /* its bytes in the chunk */
    uint8_t *bytes = gltf_bytes_push(&w->out, material->image_size);
    if (!bytes) return 0;
    memcpy(bytes, material->image, material->image_size);

    json_t *view = gltf_append_object(&w->out, w->out.views);
    gltf_put(&w->out, view, "buffer", json_integer(0));
    gltf_put(&w->out, view, "byteOffset", json_integer((json_int_t)(bytes - w->out.bytes)));
    gltf_put(&w->out, view, "byteLength", json_integer((json_int_t)material->image_size));

    /* the lists are made with the first image, since glTF forbids empty ones */
    if (w->image_count == 0) {
        gltf_put_array(&w->out, w->out.root, "images");
        gltf_put_array(&w->out, w->out.root, "textures");
    }

    /* the image, whose type its first byte tells, and the texture that shows it */
    json_t *image = gltf_append_object(&w->out, json_object_get(w->out.root, "images"));
    gltf_put(&w->out, image, "bufferView", json_integer((json_int_t)json_array_size(w->out.views) - 1));
    gltf_put(&w->out, image, "mimeType",
             json_string(*(const uint8_t *)material->image == 0x89 ? "image/png" : "image/jpeg"));

    json_t *texture = gltf_append_object(&w->out, json_object_get(w->out.root, "textures"));
    gltf_put(&w->out, texture, "source", json_integer(w->image_count));
    w->image_materials[w->image_count] = (int)(material - c->materials);
    return w->image_count++;
}

static void material_write(gltf_writer *w, const char *name)
{
    const cutis_character *c = w->character;

    json_t *object = gltf_append_object(&w->out, w->materials);
    gltf_put_string(&w->out, object, "name", name);
    json_t *look = gltf_put_object(&w->out, object, "pbrMetallicRoughness");
    gltf_put(&w->out, look, "metallicFactor", json_integer(0));

    /* by name; a material without a look keeps the default */
    for (int i = 0; i < c->material_count; i++) {
        const cutis_material *material = &c->materials[i];
        if (strcmp(material->name, name) != 0) continue;

        gltf_put_floats(&w->out, look, "baseColorFactor", material->color, 4);
        if (material->image && w->split.texcoords)
            gltf_put(&w->out, gltf_put_object(&w->out, look, "baseColorTexture"), "index",
                     json_integer(image_write(w, material)));
        if (material->cutout) gltf_put(&w->out, object, "alphaMode", json_string("MASK"));
        return;
    }
}

static void part_write(gltf_writer *w, json_t *primitives, const cutis_part *part, const vertex_group *group)
{
    const cutis_character *c = w->character;

    /* how many triangles it has */
    int first_corner = c->face_first[part->first_face];
    int end_corner = c->face_first[part->first_face + part->face_count];
    bool polygons = end_corner - first_corner > 3 * part->face_count;
    int triangle_count = end_corner - first_corner - 2 * part->face_count, index_count = 0;
    if (triangle_count == 0) return;

    int *indices = ARENA_ARRAY(&w->out.memory, int, (size_t)triangle_count * 3);
    if (!indices) {
        w->out.failed = true;
        return;
    }

    /* Triangles of the character lie in the order of its faces. */
    int triangle = first_corner - 2 * part->first_face, previous = -1;
    for (int f = part->first_face; f < part->first_face + part->face_count; f++) {
        int first = c->face_first[f], count = c->face_first[f + 1] - first;
        int start =
            polygons ? fan_start(w->split.corners, first, count, c->triangle_corners + 3 * (size_t)triangle, previous)
                     : 0;

        previous = w->split.corners[first + start];
        for (int k = 1; k + 1 < count; k++) {
            indices[index_count++] = previous - group->first;
            indices[index_count++] = w->split.corners[first + (start + k) % count] - group->first;
            indices[index_count++] = w->split.corners[first + (start + k + 1) % count] - group->first;
        }
        triangle += count - 2;
    }

    json_t *primitive = gltf_append_object(&w->out, primitives);
    gltf_put(&w->out, primitive, "attributes", json_incref(group->attributes));
    gltf_put(&w->out, primitive, "indices",
             json_integer(gltf_indices_add(&w->out, indices, index_count, group->count)));
    if (group->targets) gltf_put(&w->out, primitive, "targets", json_incref(group->targets));

    /* its material, written with the first part that has it */
    if (part->material[0]) {
        size_t m = 0;
        while (m < json_array_size(w->materials) &&
               strcmp(gltf_get_string(json_array_get(w->materials, m), "name"), part->material) != 0)
            m++;
        if (m == json_array_size(w->materials)) material_write(w, part->material);
        gltf_put(&w->out, primitive, "material", json_integer((json_int_t)m));
    }

    if (polygons) {
        gltf_put_object(&w->out, gltf_put_object(&w->out, primitive, "extensions"), "FB_ngon_encoding");
        if (!json_object_get(w->out.root, "extensionsUsed"))
            gltf_append(&w->out, gltf_put_array(&w->out, w->out.root, "extensionsUsed"),
                        json_string("FB_ngon_encoding"));
    }

    gltf_put_string(&w->out, gltf_put_object(&w->out, gltf_put_object(&w->out, primitive, "extras"), "cutis"), "part",
                    part->name);
}

/* Whether the parts cut vertices and corners into disjoint runs that follow each other. */
static bool parts_disjoint(const gltf_writer *w)
{
    const cutis_character *c = w->character;
    int vertex = 0;
    for (int p = 0; p < c->part_count; p++) {
        const cutis_part *part = &c->parts[p];
        if (part->first_vertex != vertex || part->vertex_count == 0) return false;
        vertex += part->vertex_count;
        for (int k = c->face_first[part->first_face]; k < c->face_first[part->first_face + part->face_count]; k++)
            if (c->corners[k] < part->first_vertex || c->corners[k] >= vertex) return false;
    }
    return vertex == c->vertex_count && w->split.count == c->vertex_count;
}

static void mesh_write(gltf_writer *w)
{
    /* disjoint parts have vertices of their own, others share one group */
    const cutis_character *c = w->character;
    bool disjoint = parts_disjoint(w);
    int group_count = disjoint ? c->part_count : 1;
    vertex_group *groups = ARENA_ARRAY(&w->out.memory, vertex_group, group_count);
    float *normals = normals_make(w);

    json_t *mesh = gltf_append_object(&w->out, w->meshes), *primitives = gltf_put_array(&w->out, mesh, "primitives");
    if (!groups || !normals) {
        w->out.failed = true;
        return;
    }

    /* attributes of each group, then the primitives that refer to them */
    gltf_put_string(&w->out, mesh, "name", c->name);
    for (int g = 0; g < group_count; g++) {
        groups[g].first = disjoint ? c->parts[g].first_vertex : 0;
        groups[g].count = disjoint ? c->parts[g].vertex_count : w->split.count;
        if (!w->out.failed) group_write(w, &groups[g], normals);
    }

    for (int p = 0; p < c->part_count && !w->out.failed; p++)
        part_write(w, primitives, &c->parts[p], &groups[disjoint ? p : 0]);

    /* primitives hold their own references */
    for (int g = 0; g < group_count; g++) {
        json_decref(groups[g].attributes);
        json_decref(groups[g].targets);
    }

    /* weights of 0 show the rest shape; names of targets are in extras, as exporters agree */
    if (c->morph_count == 0) return;
    json_t *weights = gltf_put_array(&w->out, mesh, "weights"),
           *names = gltf_put_array(&w->out, gltf_put_object(&w->out, mesh, "extras"), "targetNames");
    for (int m = 0; m < c->morph_count; m++) {
        json_t *holder = gltf_keep(&w->out, json_object());
        gltf_append(&w->out, weights, json_integer(0));
        gltf_put_string(&w->out, holder, "name", c->morphs[m].name);
        gltf_append(&w->out, names, json_incref(json_object_get(holder, "name")));
        json_decref(holder);
    }
}

/* ---- skeleton ---- */

static void transform_write(gltf_writer *w, json_t *node, const cutis_transform *t)
{
    affine_parts parts = affine_parts_load(t); /* normalises the rotation in doubles */
    json_t *rotation;
    gltf_put_floats(&w->out, node, "translation", t->translation, 3);
    rotation = gltf_put_array(&w->out, node, "rotation");
    for (int i = 0; i < 4; i++) gltf_append(&w->out, rotation, json_real(parts.rotation[i]));
    gltf_put_floats(&w->out, node, "scale", t->scale, 3);
}

static void joints_write(gltf_writer *w)
{
    const cutis_character *c = w->character;

    /* nodes in the idle pose */
    for (int j = 0; j < c->joint_count; j++) {
        json_t *node = gltf_append_object(&w->out, w->nodes);
        gltf_put_string(&w->out, node, "name", c->joints[j].name);
        transform_write(w, node, &c->joints[j].idle);
    }
    int roots = w->needs_static ? 1 : 0;

    for (int j = 0; j < c->joint_count; j++) roots += c->joints[j].parent < 0;
    if (w->needs_static) gltf_put_string(&w->out, gltf_append_object(&w->out, w->nodes), "name", "static");

    /* The joints of a skin need one root in common. */
    json_t *root_list = w->scene_nodes;
    if (roots > 1 && w->has_skin) {
        gltf_append(&w->out, w->scene_nodes, json_integer((json_int_t)json_array_size(w->nodes)));
        json_t *common = gltf_append_object(&w->out, w->nodes);
        gltf_put_string(&w->out, common, "name", "skeleton_root");
        root_list = gltf_put_array(&w->out, common, "children");
    }

    for (int j = 0; j < c->joint_count; j++) {
        json_t *list = root_list;
        if (c->joints[j].parent >= 0) {
            json_t *parent = json_array_get(w->nodes, (size_t)c->joints[j].parent);
            list = json_object_get(parent, "children");
            if (!list) list = gltf_put_array(&w->out, parent, "children");
        }

        gltf_append(&w->out, list, json_integer(j));
    }

    if (w->needs_static) gltf_append(&w->out, root_list, json_integer(c->joint_count));
}

static void skin_write(gltf_writer *w)
{
    const cutis_character *c = w->character;
    int count = c->joint_count + (w->needs_static ? 1 : 0);

    json_t *skin = gltf_append_object(&w->out, gltf_put_array(&w->out, w->out.root, "skins"));
    json_t *joints = gltf_put_array(&w->out, skin, "joints");
    float *matrices = ARENA_ARRAY(&w->out.memory, float, (size_t)count * 16);

    if (!matrices) {
        w->out.failed = true;
        return;
    }

    /* inverse bind matrices, column-major; the identity for the static joint */
    for (int j = 0; j < count; j++) {
        static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
        const float *bind = j < c->joint_count ? c->joints[j].inverse_bind : identity;
        float *m = matrices + 16 * (size_t)j;
        for (int i = 0; i < 12; i++) m[4 * (i % 4) + i / 4] = bind[i];
        m[15] = 1;
        gltf_append(&w->out, joints, json_integer(j));
    }

    gltf_put(&w->out, skin, "inverseBindMatrices",
             json_integer(gltf_floats_add(&w->out, matrices, count, 16, GLTF_TARGET_NONE, false)));

    /* placement for the reader: the mesh is in scene space already */
    gltf_put(&w->out, gltf_put_object(&w->out, gltf_put_object(&w->out, skin, "extras"), "cutis"), "placement",
             json_string("scene"));
}

/* object.extras.cutis, made when it is not there. */
static json_t *extras_get(gltf_builder *out, json_t *object)
{
    json_t *extras = json_object_get(object, "extras");
    if (!extras) extras = gltf_put_object(out, object, "extras");
    json_t *own = json_object_get(extras, "cutis");
    return own ? own : gltf_put_object(out, extras, "cutis");
}

/* A number when that gives the same text back, else a string. */
static void setting_put(gltf_writer *w, json_t *object, const char *key, const char *text)
{
    const char *cursor = text, *end = text + strlen(text);
    double value;
    char back[32];

    /* a number only where it reads back as the same text */
    if (text_number(&cursor, end, &value) && cursor == end && fabs(value) < 1e30) {
        text_from_float((float)value, back);
        if (strcmp(back, text) == 0) {
            gltf_put(&w->out, object, key, json_real(value));
            return;
        }
    }

    gltf_put_string(&w->out, object, key, text);
}

/* The joint of a key "bones.JOINT.NAME", -1 for none; *name is what follows. A joint's name may hold dots. */
static int setting_joint(const cutis_character *c, const char *key, const char **name)
{
    int joint = -1;
    size_t longest = 0;

    *name = key;
    if (strncmp(key, "bones.", 6) != 0) return -1;

    /* the longest name: one may begin like another */
    for (int j = 0; j < c->joint_count; j++) {
        size_t length = strlen(c->joints[j].name);
        if (length < longest || strncmp(key + 6, c->joints[j].name, length) != 0 || key[6 + length] != '.') continue;
        joint = j;
        longest = length;
    }

    if (joint >= 0) *name = key + 6 + longest + 1;
    return joint;
}

/* Settings of one solver go into an object of its name. */
static void settings_write(gltf_writer *w, json_t *scene)
{
    const cutis_character *c = w->character;

    /* solver, joint and name */
    for (int i = 0; i < c->setting_count; i++) {
        const char *key = c->settings[i].key;
        char solver[64] = "";
        size_t length = strcspn(key, ".");
        if (key[length] && length < sizeof solver) {
            memcpy(solver, key, length);
            solver[length] = 0;
        }

        bool named = solver[0] && cutis_solver_find(solver);
        if (named) key += length + 1;

        int joint = setting_joint(c, key, &key);
        json_t *object = extras_get(&w->out, joint >= 0 ? json_array_get(w->nodes, (size_t)joint) : scene);

        if (named) {
            json_t *own = json_object_get(object, solver);
            object = json_is_object(own) ? own : gltf_put_object(&w->out, object, solver);
        }

        setting_put(w, object, key, c->settings[i].value);
    }
}

/* ---- props ---- */

void gltf_prop_describe(gltf_builder *out, json_t *node, const cutis_prop *prop)
{
    static const char *const roles[] = {"collider", "rigid", "soft"};
    static const char *const shapes[] = {"mesh", "plane", "sphere", "capsule", "box"};
    json_t *extras = extras_get(out, node);
    gltf_put(out, extras, "role", json_string(roles[prop->role]));
    gltf_put(out, extras, "shape", json_string(shapes[prop->shape]));
    if (prop->shape > CUTIS_PROP_PLANE) gltf_put_floats(out, extras, "size", prop->size, 3);
    gltf_put(out, extras, "mass", json_real((double)prop->mass));
    if (prop->friction >= 0) gltf_put(out, extras, "friction", json_real((double)prop->friction));
    if (prop->restitution >= 0) gltf_put(out, extras, "restitution", json_real((double)prop->restitution));
    gltf_put(out, extras, "stiffness", json_real((double)prop->stiffness));
}

static void prop_write(gltf_writer *w, const cutis_prop *prop)
{
    json_t *node = prop->joint >= 0 ? json_array_get(w->nodes, (size_t)prop->joint) : NULL;

    /* The joint's own node when it is free, else a node of its own below it or in the scene. */
    if (!node || json_object_get(gltf_get_extras(node), "role") || json_object_get(node, "mesh")) {
        json_t *list = node ? json_object_get(node, "children") : w->scene_nodes;
        if (!list) list = gltf_put_array(&w->out, node, "children");
        gltf_append(&w->out, list, json_integer((json_int_t)json_array_size(w->nodes)));
        node = gltf_append_object(&w->out, w->nodes);
        gltf_put_string(&w->out, node, "name", prop->name);
    }
    gltf_prop_describe(&w->out, node, prop);
    if (prop->shape != CUTIS_PROP_MESH || prop->triangle_count == 0) return;

    /* a mesh of its own */
    json_t *mesh = gltf_append_object(&w->out, w->meshes);
    gltf_put_string(&w->out, mesh, "name", prop->name);
    json_t *primitive = gltf_append_object(&w->out, gltf_put_array(&w->out, mesh, "primitives"));

    gltf_put(
        &w->out, gltf_put_object(&w->out, primitive, "attributes"), "POSITION",
        json_integer(gltf_floats_add(&w->out, prop->positions, prop->vertex_count, 3, GLTF_TARGET_VERTICES, true)));
    gltf_put(&w->out, primitive, "indices",
             json_integer(gltf_indices_add(&w->out, prop->triangles, 3 * prop->triangle_count, prop->vertex_count)));

    gltf_put(&w->out, node, "mesh", json_integer((json_int_t)json_array_size(w->meshes) - 1));
}

/* ---- clips ---- */

typedef struct clip_times {
    const float *times; /* as written */
    int count, accessor;
} clip_times;

typedef struct clip_writer {
    json_t *samplers, *channels;
    clip_times *written; /* of this clip, for tracks that share their times */
    int written_count;
    float shift; /* glTF has no time before 0 */
} clip_writer;

static int times_write(gltf_writer *w, clip_writer *clip, const float *given, int count)
{
    float *times = ARENA_ARRAY(&w->out.memory, float, count);
    if (!times) {
        w->out.failed = true;
        return 0;
    }

    /* shifted, so that none is negative */
    for (int i = 0; i < count; i++) {
        times[i] = given[i] + clip->shift;

        /* Times must grow: of two equal ones the later moves by the least possible. */
        if (i > 0 && !(times[i] > times[i - 1])) times[i] = nextafterf(times[i - 1], INFINITY);
    }

    /* times that another track has written already */
    for (int i = 0; i < clip->written_count; i++)
        if (clip->written[i].count == count &&
            memcmp(clip->written[i].times, times, (size_t)count * sizeof(float)) == 0)
            return clip->written[i].accessor;
    int accessor = gltf_floats_add(&w->out, times, count, 1, GLTF_TARGET_NONE, true);
    clip->written[clip->written_count++] = (clip_times){times, count, accessor};
    return accessor;
}

static void channel_write(gltf_writer *w, clip_writer *clip, int node, const char *path,
                          cutis_interpolation interpolation, int input, int output)
{
    static const char *const names[] = {"STEP", "LINEAR", "CUBICSPLINE"};
    json_t *sampler = gltf_append_object(&w->out, clip->samplers),
           *channel = gltf_append_object(&w->out, clip->channels);
    gltf_put(&w->out, sampler, "input", json_integer(input));
    gltf_put(&w->out, sampler, "output", json_integer(output));
    gltf_put(&w->out, sampler, "interpolation", json_string(names[interpolation]));
    gltf_put(&w->out, channel, "sampler", json_integer((json_int_t)json_array_size(clip->samplers) - 1));
    json_t *target = gltf_put_object(&w->out, channel, "target");
    gltf_put(&w->out, target, "node", json_integer(node));
    gltf_put(&w->out, target, "path", json_string(path));
}

static void track_write(gltf_writer *w, clip_writer *clip, const cutis_track *track)
{
    static const char *const paths[] = {"translation", "rotation", "scale"};

    int components = track->path == CUTIS_PATH_ROTATION ? 4 : 3;
    bool cubic = track->interpolation == CUTIS_INTERPOLATION_CUBIC;
    int values = track->key_count * (cubic ? 3 : 1);

    float *copy = arena_copy(&w->out.memory, track->values, (size_t)values * (size_t)components, sizeof(float));
    if (!copy) {
        w->out.failed = true;
        return;
    }

    /* rotations at unit length */
    for (int i = 0; components == 4 && i < values; i++) {
        if (cubic && i % 3 != 1) continue; /* a tangent */
        double q[4];
        for (int k = 0; k < 4; k++) q[k] = copy[4 * (size_t)i + (size_t)k];
        rotation_normalize(q);
        for (int k = 0; k < 4; k++) copy[4 * (size_t)i + (size_t)k] = (float)q[k];
    }

    int input = times_write(w, clip, track->times, track->key_count);
    int output = gltf_floats_add(&w->out, copy, values, components, GLTF_TARGET_NONE, false);
    channel_write(w, clip, track->target, paths[track->path], track->interpolation, input, output);
}

/* A morph track's value at a time, for tracks whose keys do not coincide. */
static float morph_sample(const cutis_track *track, float time)
{
    bool cubic = track->interpolation == CUTIS_INTERPOLATION_CUBIC;
    int stride = cubic ? 3 : 1, offset = cubic ? 1 : 0, key = 0;

    /* the key at or before the time */
    while (key + 1 < track->key_count && track->times[key + 1] <= time) key++;
    float a = track->values[stride * key + offset];
    if (key + 1 == track->key_count || time <= track->times[key] || track->interpolation == CUTIS_INTERPOLATION_STEP)
        return a;

    float b = track->values[stride * (key + 1) + offset], length = track->times[key + 1] - track->times[key];
    float u = (time - track->times[key]) / length;
    if (!cubic) return a + u * (b - a);

    /* cubic Hermite */
    float out = track->values[stride * key + 2] * length, in = track->values[stride * (key + 1)] * length;
    return (2 * u * u * u - 3 * u * u + 1) * a + (u * u * u - 2 * u * u + u) * out + (3 * u * u - 2 * u * u * u) * b +
           (u * u * u - u * u) * in;
}

/*
 * All morph weights of a clip are one channel in glTF. Tracks with the same keys are interleaved as they
 * are; others are sampled at all keys of all and joined by lines.
 */
static void weights_write(gltf_writer *w, clip_writer *clip, const cutis_clip *source)
{
    const cutis_character *c = w->character;
    const cutis_track **tracks = ARENA_ARRAY(&w->out.memory, const cutis_track *, c->morph_count);
    if (!tracks) {
        w->out.failed = true;
        return;
    }

    /* the morphs' tracks, and whether all have the same keys */
    const cutis_track *some = NULL;
    bool alike = true;
    size_t capacity = 0;
    for (int t = 0; t < source->track_count; t++) {
        const cutis_track *track = &source->tracks[t];
        if (track->path != CUTIS_PATH_MORPH) continue;
        tracks[track->target] = track;
        capacity += (size_t)track->key_count;
        if (!some) some = track;
        alike &= track->key_count == some->key_count && track->interpolation == some->interpolation &&
                 memcmp(track->times, some->times, (size_t)some->key_count * sizeof(float)) == 0;
    }
    if (!some) return;

    /* keys of the channel */
    int count = some->key_count, per_key = 1;
    const float *times = some->times;
    cutis_interpolation interpolation = some->interpolation;
    if (alike) {
        per_key = interpolation == CUTIS_INTERPOLATION_CUBIC ? 3 : 1;
    } else {
        /* The union of all keys, ascending, by repeated search for the next larger one in each track. */
        float *all = ARENA_ARRAY(&w->out.memory, float, capacity);
        int *at = ARENA_ARRAY(&w->out.memory, int, c->morph_count);
        if (!all || !at) {
            w->out.failed = true;
            return;
        }

        for (count = 0;;) {
            float next = INFINITY;
            for (int m = 0; m < c->morph_count; m++)
                if (tracks[m] && at[m] < tracks[m]->key_count) next = MIN(next, tracks[m]->times[at[m]]);
            if (next == INFINITY) break;
            for (int m = 0; m < c->morph_count; m++)
                while (tracks[m] && at[m] < tracks[m]->key_count && tracks[m]->times[at[m]] <= next) at[m]++;
            all[count++] = next;
        }

        times = all;
        interpolation = CUTIS_INTERPOLATION_LINEAR;
    }

    /* weights of all morphs at each key, 0 without a track */
    float *values = ARENA_ARRAY(&w->out.memory, float, (size_t)count *(size_t)per_key *(size_t)c->morph_count);
    if (!values) {
        w->out.failed = true;
        return;
    }

    for (int i = 0; i < count * per_key; i++)
        for (int m = 0; m < c->morph_count; m++)
            if (tracks[m])
                values[(size_t)i * (size_t)c->morph_count + (size_t)m] =
                    alike ? tracks[m]->values[i] : morph_sample(tracks[m], times[i]);

    /* the channel of the node that shows the mesh */
    int input = times_write(w, clip, times, count);
    int output = gltf_floats_add(&w->out, values, count * per_key * c->morph_count, 1, GLTF_TARGET_NONE, false);
    channel_write(w, clip, w->mesh_node, "weights", interpolation, input, output);
}

static void clips_write(gltf_writer *w)
{
    const cutis_character *c = w->character;
    if (c->clip_count == 0) return;

    json_t *animations = gltf_put_array(&w->out, w->out.root, "animations");
    const cutis_track **last = ARENA_ARRAY(&w->out.memory, const cutis_track *, 3 * (size_t)c->joint_count);

    if (!last) {
        w->out.failed = true;
        return;
    }

    for (int i = 0; i < c->clip_count && !w->out.failed; i++) {
        const cutis_clip *source = &c->clips[i];
        if (source->track_count == 0) continue;

        json_t *animation = gltf_append_object(&w->out, animations);
        gltf_put_string(&w->out, animation, "name", source->name);
        if (source->focus) gltf_put_floats(&w->out, extras_get(&w->out, animation), "focus", source->focus, 3);

        clip_writer clip = {.samplers = gltf_put_array(&w->out, animation, "samplers"),
                            .channels = gltf_put_array(&w->out, animation, "channels"),
                            .shift = MAX(-source->start, 0)};
        clip.written = ARENA_ARRAY(&w->out.memory, clip_times, (size_t)source->track_count + 1);
        if (!clip.written) w->out.failed = true;

        /* Of two tracks for one thing the later counts, as in a pose. */
        for (int t = 0; t < source->track_count; t++)
            if (source->tracks[t].path != CUTIS_PATH_MORPH)
                last[3 * source->tracks[t].target + (int)source->tracks[t].path] = &source->tracks[t];

        for (int t = 0; t < source->track_count && !w->out.failed; t++) {
            const cutis_track *track = &source->tracks[t];
            if (track->path != CUTIS_PATH_MORPH && last[3 * track->target + (int)track->path] == track)
                track_write(w, &clip, track);
        }

        if (!w->out.failed) weights_write(w, &clip, source);
    }

    if (json_array_size(animations) == 0) json_object_del(w->out.root, "animations");
}

/* ---- the file ---- */

static void document_make(gltf_writer *w)
{
    const cutis_character *c = w->character;

    /* asset and the scene */
    w->out.root = gltf_keep(&w->out, json_object());
    json_t *asset = gltf_put_object(&w->out, w->out.root, "asset");
    gltf_put(&w->out, asset, "version", json_string("2.0"));
    gltf_put(&w->out, asset, "generator", json_sprintf("cutis %s", cutis_version()));

    gltf_put(&w->out, w->out.root, "scene", json_integer(0));
    json_t *scene = gltf_append_object(&w->out, gltf_put_array(&w->out, w->out.root, "scenes"));
    w->scene_nodes = gltf_put_array(&w->out, scene, "nodes");

    /* lists that are filled below */
    w->nodes = gltf_put_array(&w->out, w->out.root, "nodes");
    w->meshes = gltf_put_array(&w->out, w->out.root, "meshes");
    w->materials = gltf_put_array(&w->out, w->out.root, "materials");
    w->out.accessors = gltf_put_array(&w->out, w->out.root, "accessors");
    w->out.views = gltf_put_array(&w->out, w->out.root, "bufferViews");

    /* vertices without weights in a character with a skin need a joint that stands still */
    w->has_skin = c->joint_count > 0 && c->influence_first && c->influence_first[c->vertex_count] > 0;
    for (int v = 0; w->has_skin && v < c->vertex_count; v++) w->needs_static |= influence_count(w, v) == 0;

    /* glTF has texture coordinates on vertices: vertices are split at seams */
    if (!corner_split_make(c, &w->out.memory, &w->split)) w->out.failed = true;
    w->image_materials = ARENA_ARRAY(&w->out.memory, int, c->material_count + 1);
    if (!w->image_materials) w->out.failed = true;
    if (w->out.failed) return;

    /* the mesh, and joints as the first nodes, so that their numbers are the joints' */
    mesh_write(w);
    joints_write(w);

    /* the node that shows the mesh */
    w->mesh_node = (int)json_array_size(w->nodes);
    gltf_append(&w->out, w->scene_nodes, json_integer(w->mesh_node));
    json_t *node = gltf_append_object(&w->out, w->nodes);

    gltf_put_string(&w->out, node, "name", c->name);
    gltf_put(&w->out, node, "mesh", json_integer(0));
    if (w->has_skin) {
        gltf_put(&w->out, node, "skin", json_integer(0));
        skin_write(w);
    }

    /* clips, settings and props refer to these nodes */
    if (w->out.failed) return;
    clips_write(w);
    settings_write(w, scene);
    for (int i = 0; i < c->prop_count && !w->out.failed; i++) prop_write(w, &c->props[i]);

    /* glTF forbids empty lists */
    if (json_array_size(w->materials) == 0) json_object_del(w->out.root, "materials");

    /* the buffer of all views */
    json_t *buffer = gltf_append_object(&w->out, gltf_put_array(&w->out, w->out.root, "buffers"));
    gltf_bytes_push(&w->out, 0); /* to a multiple of 4 */
    gltf_put(&w->out, buffer, "byteLength", json_integer((json_int_t)w->out.size));
}

cutis_result gltf_character_build(const cutis_character *character, gltf_builder *builder, cutis_error *error)
{
    gltf_writer w = {.character = character, .out = {.memory = arena_create(NULL)}};
    document_make(&w);
    *builder = w.out;
    return w.out.failed ? error_memory(error, "a glTF document") : CUTIS_OK;
}

cutis_result gltf_character_write(const cutis_character *character, const char *path, cutis_error *error)
{
    gltf_builder builder;
    cutis_result result = gltf_character_build(character, &builder, error);
    if (result == CUTIS_OK) result = gltf_builder_save(&builder, NULL, path, NULL, error);
    gltf_builder_destroy(&builder);
    return result;
}
