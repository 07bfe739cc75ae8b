/*
 * gltf_mesh.c: vertices, faces, weights, maps and morph targets of a glTF document.
 *
 * Two passes: the first opens and checks every primitive of the surface and counts, the second fills arrays of
 * the exact size. Vertices of a skin are stored in rest scene space (see gltf_scene.c), those of an unskinned mesh
 * node are bound to that node alone. Weights of morph targets that the file sets without an animation are part of the
 * rest shape.
 */
#include <math.h>
#include <string.h>

#include "io/gltf/gltf_primitive.h"
#include "io/scene_build.h"

enum {
    NGON_LIMIT = 4096,  /* corners of one face, as cutis_character_create allows */
    SHARED_SEARCH = 16, /* how many blocks with the same POSITION are compared for sharing */
    SET_LIMIT = 64      /* JOINTS_0 .. JOINTS_63 */
};

/* A run of vertices: one node's instance of one set of attributes. */
typedef struct vertex_block {
    int node;
    json_t *attributes, *targets;
    gltf_place place; /* "mesh 0 primitive 1" */
    gltf_accessor positions;
    int first, count;
    int set_count; /* of JOINTS_n and WEIGHTS_n */
    int previous;  /* the block before with the same POSITION and node, -1: none */
    float *texcoords;
} vertex_block;

typedef struct surface {
    gltf_reader *reader;
    vertex_block *blocks;
    int block_count;
    gltf_primitive *primitives;
    int primitive_count;
    int *last_block; /* (accessor_count) the last block whose POSITION is that accessor, -1: none */
    size_t vertex_count, triangle_count, influence_count;
    bool has_texcoords, has_normals;
    float *positions;
    int *face_first, *corners;
    float *texcoords, *normals;
    int *influence_first, *influence_joints;
    float *influence_weights;
    cutis_part *parts;
    cutis_map *maps;
    cutis_morph *morphs;
    int face_count, corner_count, influence_used;
    int unweighted; /* vertices without any weight */
    int negative;   /* weights below 0 */
} surface;

/* Open an attribute that must have one element for each vertex; *found is false when it is absent. */
static cutis_result attribute_open(gltf_document *document, const json_t *attributes, const char *key,
                                   const char *place, int components, int count, gltf_accessor *accessor, bool *found)
{
    int index;
    cutis_result result = gltf_get_index(document, attributes, key, place, document->accessor_count, false, &index);
    *found = index >= 0;
    if (result != CUTIS_OK || index < 0) return result;
    gltf_place use = gltf_place_make("%.60s of %.90s", key, place);
    result = gltf_accessor_open(document, index, use.text, components, accessor);
    if (result == CUTIS_OK && accessor->count != count)
        return gltf_error(document, CUTIS_ERROR_FORMAT, "accessor %d (%s): has %d elements for %d vertices", index,
                          use.text, accessor->count, count);
    return result;
}

/* ---- first pass: count ---- */

static int block_find(const surface *s, int node, const json_t *attributes, const json_t *targets, int position)
{
    int block = s->last_block[position];
    for (int tried = 0; block >= 0 && tried < SHARED_SEARCH; tried++) {
        const vertex_block *other = &s->blocks[block];
        if (other->node != node) return -1;
        bool same_targets = targets == other->targets || (targets && json_equal(targets, other->targets));
        if (same_targets && json_equal(attributes, other->attributes)) return block;
        block = other->previous;
    }
    return -1;
}

static cutis_result block_count_sets(surface *s, vertex_block *block)
{
    gltf_reader *reader = s->reader;

    /* no influences without a skeleton; without a skin a vertex follows the node's own joint alone */
    if (!reader->has_skeleton) return CUTIS_OK;
    if (reader->nodes[block->node].skin < 0) {
        s->influence_count += (size_t)block->count;
        return CUTIS_OK;
    }

    /* JOINTS_n and WEIGHTS_n come in pairs, numbered without gaps */
    for (; block->set_count < SET_LIMIT; block->set_count++) {
        char joints[32], weights[32];
        snprintf(joints, sizeof joints, "JOINTS_%d", block->set_count);
        snprintf(weights, sizeof weights, "WEIGHTS_%d", block->set_count);
        bool has_joints = json_object_get(block->attributes, joints),
             has_weights = json_object_get(block->attributes, weights);
        if (has_joints != has_weights)
            return gltf_error(reader->document, CUTIS_ERROR_FORMAT, "%s: has %s without %s", block->place.text,
                              has_joints ? joints : weights, has_joints ? weights : joints);
        if (!has_joints) break;
    }

    /* room for four influences a set, or for the first joint alone */
    if (block->set_count == 0)
        warning_add(&reader->warnings, "%s: has a skin but no weights; it follows the skin's first joint",
                    block->place.text);

    s->influence_count += (size_t)block->count * (size_t)MAX(4 * block->set_count, 1);
    return CUTIS_OK;
}

static cutis_result surface_add_primitive(surface *s, int node, int mesh, int index)
{
    gltf_reader *reader = s->reader;
    gltf_document *document = reader->document;

    /* a primitive without positions shows nothing */
    json_t *object = json_array_get(gltf_primitives(document, mesh), (size_t)index);
    json_t *attributes = json_object_get(object, "attributes"), *targets = json_object_get(object, "targets");
    gltf_place place = gltf_place_make("mesh %d primitive %d", mesh, index);
    if (!json_object_get(attributes, "POSITION")) {
        warning_add(&reader->warnings, "%s: has no POSITION and is ignored", place.text);
        return CUTIS_OK;
    }

    /* open positions and indices; points and lines are not usable */
    gltf_accessor positions;
    cutis_result result = gltf_positions_open(document, attributes, place.text, &positions);
    if (result != CUTIS_OK) return result;

    gltf_primitive *primitive = &s->primitives[s->primitive_count];
    bool usable;
    result = gltf_primitive_open(reader, object, place.text, positions.count, primitive, &usable);
    if (result != CUTIS_OK || !usable) return result;

    /* what the second pass needs of it */
    primitive->place = place;
    primitive->mesh = mesh;
    primitive->index = index;
    primitive->ngons =
        primitive->mode == GLTF_TRIANGLES && json_object_get(json_object_get(object, "extensions"), "FB_ngon_encoding");

    /* its part is named by extras, else by the node, else by the mesh */
    primitive->name = gltf_get_string(gltf_get_extras(object), "part");
    if (!primitive->name || !*primitive->name) primitive->name = gltf_get_string(reader->nodes[node].object, "name");
    if (!primitive->name || !*primitive->name)
        primitive->name = gltf_get_string(json_array_get(document->meshes, (size_t)mesh), "name");

    /* primitives with the same attributes and targets share their vertices */
    primitive->block = block_find(s, node, attributes, targets, positions.index);
    if (primitive->block < 0) {
        primitive->block = s->block_count++;
        vertex_block *block = &s->blocks[primitive->block];
        *block = (vertex_block){.node = node,
                                .attributes = attributes,
                                .targets = targets,
                                .place = place,
                                .positions = positions,
                                .first = (int)s->vertex_count,
                                .count = positions.count,
                                .previous = s->last_block[positions.index]};
        s->last_block[positions.index] = primitive->block;

        /* counts of the new vertices */
        s->vertex_count += (size_t)positions.count;
        if (json_object_get(attributes, "TEXCOORD_0")) s->has_texcoords = true;
        if (json_object_get(attributes, "NORMAL")) s->has_normals = true;
        result = block_count_sets(s, block);
        if (result != CUTIS_OK) return result;
    }

    /* triangles, and the limit on the size of a surface */
    s->triangle_count += (size_t)gltf_triangle_count(primitive->mode, primitive->index_count);
    if (s->vertex_count > GLTF_VERTEX_LIMIT || s->triangle_count > GLTF_VERTEX_LIMIT ||
        s->influence_count > (size_t)2 * GLTF_VERTEX_LIMIT)
        return gltf_error(document, CUTIS_ERROR_UNSUPPORTED, "%s: the mesh exceeds %d million vertices or triangles",
                          place.text, GLTF_VERTEX_LIMIT >> 20);
    s->primitive_count++;
    return CUTIS_OK;
}

/* Morph targets belong to the node: two nodes with one mesh have weights of their own. */
static cutis_result node_count_morphs(gltf_reader *reader, gltf_node *node, int *morph_count)
{
    gltf_document *document = reader->document;
    json_t *primitives = gltf_primitives(document, node->mesh);

    /* as many as the primitive with the most */
    for (size_t p = 0; p < json_array_size(primitives); p++) {
        size_t targets = json_array_size(json_object_get(json_array_get(primitives, p), "targets"));
        node->morph_count = MAX(node->morph_count, (int)targets);
    }

    node->first_morph = *morph_count;
    if (node->morph_count > GLTF_VERTEX_LIMIT - *morph_count)
        return gltf_error(document, CUTIS_ERROR_UNSUPPORTED, "mesh %d: it has too many morph targets", node->mesh);
    *morph_count += node->morph_count;

    float *defaults = gltf_allocate(document, (size_t)node->morph_count, sizeof(float));
    if (!defaults) return gltf_error_memory(document);

    /* default weights of the node, else of its mesh */
    const json_t *weights = json_object_get(node->object, "weights");
    if (!weights) weights = json_object_get(json_array_get(document->meshes, (size_t)node->mesh), "weights");
    for (int i = 0; i < node->morph_count; i++) {
        double weight = json_number_value(json_array_get(weights, (size_t)i));
        defaults[i] = fabs(weight) < 1e9 ? (float)weight : 0;
    }

    node->morph_defaults = defaults;
    return CUTIS_OK;
}

static cutis_result surface_count(surface *s)
{
    gltf_reader *reader = s->reader;
    gltf_document *document = reader->document;

    /* as many primitives as the nodes of the scene show, at most */
    size_t capacity = 0;
    for (int i = 0; i < document->node_count; i++)
        if (reader->nodes[i].in_scene && reader->nodes[i].mesh >= 0 && !reader->nodes[i].is_prop)
            capacity += json_array_size(gltf_primitives(document, reader->nodes[i].mesh));

    s->blocks = gltf_allocate(document, capacity, sizeof(vertex_block));
    s->primitives = gltf_allocate(document, capacity, sizeof(gltf_primitive));
    s->last_block = gltf_allocate(document, (size_t)document->accessor_count, sizeof(int));
    if (!s->blocks || !s->primitives || !s->last_block) return gltf_error_memory(document);
    for (int i = 0; i < document->accessor_count; i++) s->last_block[i] = -1;

    /* parents before children, in the order of the scene: also that of parts and vertices */
    for (int i = 0; i < document->node_count; i++) {
        gltf_node *node = &reader->nodes[reader->order[i]];
        if (!node->in_scene || node->mesh < 0 || node->is_prop) continue;
        int count = (int)json_array_size(gltf_primitives(document, node->mesh));
        if (count == 0) warning_add(&reader->warnings, "mesh %d: is empty and is ignored", node->mesh);

        cutis_result result = node_count_morphs(reader, node, &reader->given.morph_count);
        for (int p = 0; p < count && result == CUTIS_OK; p++)
            result = surface_add_primitive(s, reader->order[i], node->mesh, p);
        if (result != CUTIS_OK) return result;
    }

    /* a character needs a surface */
    if (s->triangle_count == 0)
        return gltf_error(document, CUTIS_ERROR_DATA, "the mesh is empty: the scene has no triangles");
    return CUTIS_OK;
}

/* ---- second pass: fill ---- */

affine gltf_node_placement(const gltf_reader *reader, const gltf_node *node)
{
    if (!reader->has_skeleton) return node->world;
    if (node->skin >= 0) return reader->skins[node->skin].placement;

    /* The inverse of what the character will multiply with, to the last bit. */
    affine bind = affine_load(reader->joints[node->first_joint].inverse_bind), placement;
    affine_inverse(&bind, &placement);
    return placement;
}

static cutis_result block_fill_positions(surface *s, const vertex_block *block, const affine *placement)
{
    gltf_document *document = s->reader->document;

    gltf_place use = gltf_place_make("POSITION of %.120s", block->place.text);
    float *positions = s->positions + 3 * (size_t)block->first;

    cutis_result result = gltf_accessor_floats(document, &block->positions, use.text, positions);
    if (result != CUTIS_OK) return result;

    /* to the space of the scene */
    for (int v = 0; v < block->count; v++) {
        float *p = positions + 3 * (size_t)v;
        double local[3] = {p[0], p[1], p[2]}, world[3];
        affine_point(placement, local, world);
        for (int k = 0; k < 3; k++) p[k] = (float)world[k];

        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
            return gltf_error(document, CUTIS_ERROR_DATA, "%s: vertex %d has a position that is not finite",
                              block->place.text, v);
    }
    return CUTIS_OK;
}

/* Joints are unsigned integers; some exporters write them as floats or signed ones, which say the same. */
static cutis_result joints_read(gltf_document *document, const gltf_accessor *accessor, const char *use,
                                uint32_t *joints)
{
    if (accessor->type != GLTF_FLOAT && accessor->type != GLTF_BYTE && accessor->type != GLTF_SHORT)
        return gltf_accessor_integers(document, accessor, use, joints);

    /* floats and signed integers of some exporters */
    size_t count = 4 * (size_t)accessor->count;
    gltf_accessor plain = *accessor;
    plain.normalized = false;
    float *values = gltf_allocate(document, count, sizeof(float));
    if (!values) return gltf_error_memory(document);

    /* whole numbers of joints */
    gltf_accessor_decode(&plain, values);
    for (size_t i = 0; i < count; i++) {
        if (!(values[i] >= 0 && values[i] <= 65535))
            return gltf_error(document, CUTIS_ERROR_FORMAT, "accessor %d (%s): element %zu is not a joint index",
                              accessor->index, use, i / 4);
        joints[i] = (uint32_t)(values[i] + 0.5f);
    }

    return CUTIS_OK;
}

/* Decode JOINTS_n and WEIGHTS_n of all sets: (set_count) pointers to (count x 4). */
static cutis_result block_read_sets(surface *s, const vertex_block *block, uint32_t **joints, float **weights)
{
    gltf_document *document = s->reader->document;

    for (int set = 0; set < block->set_count; set++) {
        char key[32];
        gltf_accessor accessor;
        bool found;

        /* four of each for a vertex */
        joints[set] = gltf_allocate(document, (size_t)block->count * 4, sizeof(uint32_t));
        weights[set] = gltf_allocate(document, (size_t)block->count * 4, sizeof(float));
        if (!joints[set] || !weights[set]) return gltf_error_memory(document);

        /* joint indices, into the skin's list */
        snprintf(key, sizeof key, "JOINTS_%d", set);
        gltf_place use = gltf_place_make("%s of %.120s", key, block->place.text);
        cutis_result result =
            attribute_open(document, block->attributes, key, block->place.text, 4, block->count, &accessor, &found);
        if (result == CUTIS_OK) result = joints_read(document, &accessor, use.text, joints[set]);
        if (result != CUTIS_OK) return result;

        snprintf(key, sizeof key, "WEIGHTS_%d", set);
        use = gltf_place_make("%s of %.120s", key, block->place.text);
        result =
            attribute_open(document, block->attributes, key, block->place.text, 4, block->count, &accessor, &found);
        if (result == CUTIS_OK) result = gltf_accessor_floats(document, &accessor, use.text, weights[set]);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

static cutis_result block_fill_influences(surface *s, const vertex_block *block)
{
    gltf_reader *reader = s->reader;

    const gltf_node *node = &reader->nodes[block->node];
    uint32_t *joints[SET_LIMIT];
    float *weights[SET_LIMIT];
    cutis_result result = block_read_sets(s, block, joints, weights);
    if (result != CUTIS_OK) return result;

    /* each vertex: its influences are a run that starts where the last one ended */
    for (int v = 0; v < block->count; v++) {
        int first = s->influence_used;
        s->influence_first[block->first + v] = first;

        /* positive weights only; a negative one counts as 0 */
        for (int i = 0; i < 4 * block->set_count; i++) {
            size_t at = 4 * (size_t)v + (size_t)(i % 4);
            float weight = weights[i / 4][at];

            uint32_t index = joints[i / 4][at];
            if (weight < 0) s->negative++;
            if (!(weight > 0)) continue;

            const gltf_skin *skin = &reader->skins[node->skin];
            if (index >= (uint32_t)skin->joint_count)
                return gltf_error(reader->document, CUTIS_ERROR_FORMAT,
                                  "JOINTS_%d of %s: vertex %d uses joint %u, but skin %d has only %d", i / 4,
                                  block->place.text, v, (unsigned)index, node->skin, skin->joint_count);
            s->influence_joints[s->influence_used] = skin->joints[index];
            s->influence_weights[s->influence_used++] = weight;
        }

        /* a vertex needs one influence at least */
        if (s->influence_used == first) { /* an unskinned node's own joint, or a vertex that was forgotten */
            int joint = node->first_joint;
            if (node->skin >= 0) {
                /* As three.js shows it: by the joint that it names first. */
                const gltf_skin *skin = &reader->skins[node->skin];
                uint32_t index = block->set_count > 0 ? joints[0][4 * (size_t)v] : 0;
                joint = skin->joints[index < (uint32_t)skin->joint_count ? index : 0];
                if (block->set_count > 0) s->unweighted++;
            }

            s->influence_joints[first] = joint;
            s->influence_weights[first] = 1;
            s->influence_used++;
        }
    }
    return CUTIS_OK;
}

static cutis_result block_fill_texcoords(surface *s, vertex_block *block)
{
    gltf_document *document = s->reader->document;

    gltf_accessor accessor;
    bool found;
    cutis_result result = attribute_open(document, block->attributes, "TEXCOORD_0", block->place.text, 2, block->count,
                                         &accessor, &found);
    if (result != CUTIS_OK || !found) return result;

    block->texcoords = gltf_allocate(document, (size_t)block->count * 2, sizeof(float));
    if (!block->texcoords) return gltf_error_memory(document);

    /* what is not a number there spoils no shape */
    size_t count = 2 * (size_t)block->count, wild = 0;
    gltf_accessor_decode(&accessor, block->texcoords);
    for (size_t i = 0; i < count; i++) {
        if (isfinite(block->texcoords[i])) continue;
        block->texcoords[i] = 0;
        wild++;
    }

    if (wild) warning_add(&s->reader->warnings, "%s: %zu texture coordinates are not numbers", block->place.text, wild);
    return CUTIS_OK;
}

/* The painted values that solvers know, with what holds where nothing was painted. */
static const struct {
    const char *attribute, *name;
    float unpainted;
} known_maps[] = {{"_CUTIS_STIFFNESS", "stiffness", 1}, {"_CUTIS_FAT", "fat", 1},     {"_CUTIS_FREEZE", "freeze", 0},
                  {"_CUTIS_DEPTH", "depth", 1},         {"_CUTIS_CURVE", "curve", 0}, {"_CUTIS_ZETA", "zeta", 1},
                  {"_CUTIS_AMOUNT", "amount", 1}};

/* The map of an attribute, made when it is first met; *map is NULL when cutis has no such map. */
static cutis_result surface_find_map(surface *s, const char *attribute, float **values)
{
    gltf_document *document = s->reader->document;
    cutis_character *given = &s->reader->given;
    *values = NULL;

    for (int k = 0; k < COUNT_OF(known_maps); k++) {
        if (strcmp(attribute, known_maps[k].attribute) != 0) continue;

        /* known from another block already */
        for (int i = 0; i < given->map_count; i++)
            if (strcmp(s->maps[i].name, known_maps[k].name) == 0) *values = (float *)s->maps[i].values;
        if (*values) return CUTIS_OK;

        *values = gltf_allocate(document, s->vertex_count, sizeof(float));
        if (!*values) return gltf_error_memory(document);
        for (size_t v = 0; v < s->vertex_count; v++) (*values)[v] = known_maps[k].unpainted;
        s->maps[given->map_count++] = (cutis_map){known_maps[k].name, *values};
    }
    return CUTIS_OK;
}

/* Normals to the space of the scene: by the inverse transpose of the placement. */
static cutis_result block_fill_normals(surface *s, const vertex_block *block, const affine *placement)
{
    gltf_document *document = s->reader->document;
    gltf_accessor accessor;
    bool found;
    cutis_result result =
        attribute_open(document, block->attributes, "NORMAL", block->place.text, 3, block->count, &accessor, &found);
    if (result == CUTIS_OK && !found) return CUTIS_OK;
    if (result == CUTIS_ERROR_MEMORY) return result;
    if (result != CUTIS_OK) {
        warning_add(&s->reader->warnings, "%s: its normals cannot be read, and are left out", block->place.text);
        return CUTIS_OK;
    }

    affine inverse;
    float *normals = s->normals + 3 * (size_t)block->first;
    gltf_accessor_decode(&accessor, normals);
    affine_inverse(placement, &inverse);
    for (int v = 0; v < block->count; v++) {
        float *n = normals + 3 * (size_t)v;
        double local[3] = {n[0], n[1], n[2]}, world[3], length2 = 0;
        for (int i = 0; i < 3; i++) {
            world[i] = 0;
            for (int j = 0; j < 3; j++) world[i] += inverse.m[4 * j + i] * local[j];
            length2 += world[i] * world[i];
        }

        /* what is not a direction is none */
        double scale = length2 > 0 && length2 < HUGE_VAL ? 1 / sqrt(length2) : 0;
        for (int i = 0; i < 3; i++) n[i] = scale > 0 ? (float)(scale * world[i]) : 0;
    }
    return CUTIS_OK;
}

static cutis_result block_fill_maps(surface *s, const vertex_block *block)
{
    gltf_document *document = s->reader->document;
    const char *key;
    json_t *value;
    json_object_foreach(block->attributes, key, value)
    {
        /* application-specific attributes that solvers know */
        if (strncmp(key, "_CUTIS_", 7) != 0) continue;
        float *values;
        cutis_result result = surface_find_map(s, key, &values);
        if (result != CUTIS_OK) return result;
        if (!values) {
            warning_add(&s->reader->warnings,
                        "%s: %.60s is not a known painted map (STIFFNESS, FAT, FREEZE, DEPTH, CURVE, ZETA, AMOUNT)",
                        block->place.text, key);
            continue;
        }

        /* painted values of this block; other blocks keep what holds without paint */
        gltf_accessor accessor;
        bool found;

        gltf_place use = gltf_place_make("%s of %.120s", key, block->place.text);
        result =
            attribute_open(document, block->attributes, key, block->place.text, 1, block->count, &accessor, &found);
        if (result == CUTIS_OK) result = gltf_accessor_floats(document, &accessor, use.text, values + block->first);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

static cutis_result block_fill_morphs(surface *s, const vertex_block *block, const affine *placement)
{
    gltf_document *document = s->reader->document;
    const gltf_node *node = &s->reader->nodes[block->node];
    for (size_t t = 0; t < json_array_size(block->targets); t++) {
        /* a target without positions moves nothing */
        gltf_place place = gltf_place_make("target %zu of %.100s", t, block->place.text);
        gltf_accessor accessor;
        bool found;

        cutis_result result = attribute_open(document, json_array_get(block->targets, t), "POSITION", place.text, 3,
                                             block->count, &accessor, &found);
        if (result != CUTIS_OK) return result;
        if (!found) continue;

        /* deltas in mesh space, into the block's place in the morph */
        float *deltas = (float *)s->morphs[node->first_morph + (int)t].deltas + 3 * (size_t)block->first;
        gltf_place use = gltf_place_make("POSITION of %.120s", place.text);
        result = gltf_accessor_floats(document, &accessor, use.text, deltas);
        if (result != CUTIS_OK) return result;

        /* to scene space; the default weight is part of the rest shape */
        float weight = node->morph_defaults[t];
        for (int v = 0; v < block->count; v++) {
            float *d = deltas + 3 * (size_t)v, *p = s->positions + 3 * (size_t)(block->first + v);
            double local[3] = {d[0], d[1], d[2]}, world[3];
            affine_vector(placement, local, world);
            for (int k = 0; k < 3; k++) {
                d[k] = (float)world[k];
                p[k] = (float)(p[k] + weight * world[k]);
            }

            /* huge numbers may overflow */
            if (!isfinite(d[0] + d[1] + d[2]) || !isfinite(p[0] + p[1] + p[2]))
                return gltf_error(document, CUTIS_ERROR_DATA, "%s: vertex %d moves to a position that is not finite",
                                  place.text, v);
        }
    }
    return CUTIS_OK;
}

/* ---- faces ---- */

/* End the face whose corners were appended since `first`: turn it in a mirrored mesh, drop it when collapsed. */
static void face_end(surface *s, int first, bool mirrored)
{
    int count = s->corner_count - first;
    int *corners = s->corners + first;

    /* a triangle with a vertex twice */
    if (count == 3 && (corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0])) {
        s->corner_count = first; /* strips are joined by such triangles */
        return;
    }

    for (int i = 1, k = count - 1; mirrored && i < k; i++, k--) {
        int corner = corners[i];
        corners[i] = corners[k];
        corners[k] = corner;
    }

    s->face_first[s->face_count++] = first;
}

static void primitive_fill_faces(surface *s, const gltf_primitive *primitive, const uint32_t *indices, bool mirrored)
{
    int base = s->blocks[primitive->block].first;

    int triangles = gltf_triangle_count(primitive->mode, primitive->index_count);
    int first = s->corner_count;

    for (int t = 0; t < triangles; t++) {
        int at[3];
        gltf_triangle(primitive->mode, t, at);
        int a = base + (int)indices[at[0]], b = base + (int)indices[at[1]], c = base + (int)indices[at[2]];

        /* FB_ngon_encoding: a fan around one vertex is one polygon. */
        int open = s->corner_count - first;
        if (primitive->ngons && open >= 3 && open < NGON_LIMIT && s->corners[first] == a &&
            s->corners[s->corner_count - 1] == b && c != a && c != b) {
            s->corners[s->corner_count++] = c;
            continue;
        }

        if (open > 0) face_end(s, first, mirrored);
        first = s->corner_count;
        s->corners[s->corner_count++] = a;
        s->corners[s->corner_count++] = b;
        s->corners[s->corner_count++] = c;
    }

    if (s->corner_count > first) face_end(s, first, mirrored);
}

static cutis_result primitive_fill(surface *s, int index, name_set *names)
{
    gltf_document *document = s->reader->document;
    const gltf_primitive *primitive = &s->primitives[index];
    const vertex_block *block = &s->blocks[primitive->block];

    /* indices into the block, all within range */
    uint32_t *indices;
    cutis_result result = gltf_indices_read(document, primitive, block->count, &indices);
    if (result != CUTIS_OK) return result;

    /* the part covers the block's vertices, which it may share */
    affine placement = gltf_node_placement(s->reader, &s->reader->nodes[block->node]);
    cutis_part *part = &s->parts[index];
    *part = (cutis_part){.name = name_set_add(names, primitive->name, "part", index),
                         .material = "",
                         .first_vertex = block->first,
                         .vertex_count = block->count,
                         .first_face = s->face_count};

    /* faces; a mirroring placement turns their winding */
    int first_corner = s->corner_count;
    primitive_fill_faces(s, primitive, indices, affine_determinant(&placement) < 0);
    part->face_count = s->face_count - part->first_face;

    /* material's name, made up where it has none */
    if (primitive->material >= 0) {
        const char *name = gltf_get_string(json_array_get(document->materials, (size_t)primitive->material), "name");
        part->material = name && *name ? arena_string(&document->memory, name)
                                       : arena_format(&document->memory, "material_%d", primitive->material);
    }
    if (!part->name || !part->material) return gltf_error_memory(document);

    /* texture coordinates lie on corners, in the file on vertices */
    for (int c = first_corner; s->texcoords && block->texcoords && c < s->corner_count; c++)
        memcpy(s->texcoords + 2 * (size_t)c, block->texcoords + 2 * (size_t)(s->corners[c] - block->first),
               2 * sizeof(float));
    return CUTIS_OK;
}

/* ---- morph names ---- */

static cutis_result surface_make_morphs(surface *s)
{
    gltf_reader *reader = s->reader;
    gltf_document *document = reader->document;

    int count = reader->given.morph_count;
    s->morphs = gltf_allocate(document, (size_t)count, sizeof(cutis_morph));
    if (!s->morphs) return gltf_error_memory(document);
    name_set names = name_set_create(&document->memory);

    /* named by the mesh's extras, as exporters agree */
    for (int i = 0; i < document->node_count; i++) {
        const gltf_node *node = &reader->nodes[reader->order[i]];
        for (int m = 0; m < node->morph_count; m++) {
            const json_t *mesh = json_array_get(document->meshes, (size_t)node->mesh);
            const json_t *list = json_object_get(json_object_get(mesh, "extras"), "targetNames");
            const char *name = json_string_value(json_array_get(list, (size_t)m));

            cutis_morph *morph = &s->morphs[node->first_morph + m];
            morph->name = name_set_add(&names, name, "morph", node->first_morph + m);
            morph->deltas = gltf_allocate(document, s->vertex_count * 3, sizeof(float));
            if (!morph->name || !morph->deltas) return gltf_error_memory(document);
        }
    }
    return CUTIS_OK;
}

cutis_result gltf_read_surface(gltf_reader *reader)
{
    gltf_document *document = reader->document;

    surface s = {.reader = reader};
    if (reader->motion_only) { /* the clips alone are wanted */
        scene_stand_in(&reader->given);
        return CUTIS_OK;
    }

    /* first pass: check all and count */
    cutis_result result = surface_count(&s);
    if (result != CUTIS_OK) return result;

    /* arrays of the exact size */
    s.positions = gltf_allocate(document, s.vertex_count * 3, sizeof(float));
    s.face_first = gltf_allocate(document, s.triangle_count + 1, sizeof(int));
    s.corners = gltf_allocate(document, s.triangle_count * 3, sizeof(int));
    s.parts = gltf_allocate(document, (size_t)s.primitive_count, sizeof(cutis_part));

    s.maps = gltf_allocate(document, COUNT_OF(known_maps), sizeof(cutis_map));
    reader->runs = gltf_allocate(document, (size_t)s.primitive_count, sizeof(gltf_run));
    if (!s.positions || !s.face_first || !s.corners || !s.parts || !s.maps || !reader->runs)
        return gltf_error_memory(document);

    /* texture coordinates, weights and morphs only where the file has them */
    if (s.has_texcoords && !(s.texcoords = gltf_allocate(document, s.triangle_count * 6, sizeof(float))))
        return gltf_error_memory(document);
    if (s.has_normals && !(s.normals = gltf_allocate(document, s.vertex_count * 3, sizeof(float))))
        return gltf_error_memory(document);
    if (reader->has_skeleton) {
        s.influence_first = gltf_allocate(document, s.vertex_count + 1, sizeof(int));
        s.influence_joints = gltf_allocate(document, s.influence_count, sizeof(int));
        s.influence_weights = gltf_allocate(document, s.influence_count, sizeof(float));
        if (!s.influence_first || !s.influence_joints || !s.influence_weights) return gltf_error_memory(document);
    }

    result = surface_make_morphs(&s);
    if (result != CUTIS_OK) return result;

    /* vertices, block by block */
    for (int b = 0; b < s.block_count; b++) {
        vertex_block *block = &s.blocks[b];
        affine placement = gltf_node_placement(reader, &reader->nodes[block->node]);
        result = block_fill_positions(&s, block, &placement);
        if (result == CUTIS_OK && reader->has_skeleton) result = block_fill_influences(&s, block);
        if (result == CUTIS_OK && s.texcoords) result = block_fill_texcoords(&s, block);
        if (result == CUTIS_OK && s.normals) result = block_fill_normals(&s, block, &placement);
        if (result == CUTIS_OK) result = block_fill_maps(&s, block);
        if (result == CUTIS_OK) result = block_fill_morphs(&s, block, &placement);
        if (result != CUTIS_OK) return result;
    }

    /* faces and parts, primitive by primitive; runs tell an editor where they came from */
    name_set names = name_set_create(&document->memory);
    for (int p = 0; p < s.primitive_count; p++) {
        const vertex_block *block = &s.blocks[s.primitives[p].block];
        result = primitive_fill(&s, p, &names);
        if (result != CUTIS_OK) return result;
        reader->runs[reader->run_count++] =
            (gltf_run){block->node, s.primitives[p].mesh, s.primitives[p].index, block->first, block->count};
    }

    /* both lists of starts end with the total */
    s.face_first[s.face_count] = s.corner_count;
    if (s.influence_first) s.influence_first[s.vertex_count] = s.influence_used;

    /* report what is missing from the surface */
    if (s.face_count == 0)
        return gltf_error(document, CUTIS_ERROR_DATA, "the mesh is empty: all triangles use a vertex twice");
    if (s.unweighted)
        warning_add(&reader->warnings, "%d vertices have no weight; they follow their first joint", s.unweighted);
    if (s.negative) warning_add(&reader->warnings, "%d weights are negative and are treated as 0", s.negative);

    cutis_character *given = &reader->given;
    given->vertex_count = (int)s.vertex_count;
    given->positions = s.positions;
    given->face_count = s.face_count;
    given->face_first = s.face_first;
    given->corners = s.corners;
    given->texcoords = s.texcoords;
    given->normals = s.normals;

    given->influence_first = s.influence_first;
    given->influence_joints = s.influence_joints;
    given->influence_weights = s.influence_weights;

    given->part_count = s.primitive_count;
    given->parts = s.parts;
    given->maps = s.maps;
    given->morphs = s.morphs;
    return CUTIS_OK;
}
