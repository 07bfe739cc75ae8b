/*
 * ply_file.c: PLY (Stanford), as text, little-endian and big-endian.
 *
 * The header declares elements of scalar and list properties of any type. Read are x, y, z of `vertex`, the corner
 * lists of `face` (vertex_indices, vertex_index) and of `tristrips` (the end of a strip is -1), and texture
 * coordinates of vertices (s t, u v, texture_u texture_v) or of the corners of faces (a list `texcoord`). All other
 * properties and elements are read over. v of a texture coordinate grows upwards in PLY and downwards in a character.
 */
#include <math.h>
#include <string.h>

#include "io/mesh/bare_mesh.h"

enum { ELEMENT_LIMIT = 32, PROPERTY_LIMIT = 128, LIST_LIMIT = 4096 };

typedef enum ply_type {
    PLY_INT8,
    PLY_UINT8,
    PLY_INT16,
    PLY_UINT16,
    PLY_INT32,
    PLY_UINT32,
    PLY_FLOAT,
    PLY_DOUBLE
} ply_type;

typedef enum ply_use {
    PLY_UNUSED,
    PLY_X,
    PLY_Y,
    PLY_Z,
    PLY_U,
    PLY_V,
    PLY_CORNERS,         /* of a face */
    PLY_CORNER_TEXCOORDS /* u, v of each corner of the face */
} ply_use;

typedef struct ply_property {
    ply_type type, count_type;
    bool is_list;
    ply_use use;
} ply_property;

typedef enum ply_kind { PLY_OTHER, PLY_VERTEX, PLY_FACE, PLY_STRIPS } ply_kind;

typedef struct ply_element {
    char name[40];
    long long count;
    ply_kind kind;
    int first_property, property_count;
} ply_element;

typedef enum ply_format { PLY_TEXT, PLY_LITTLE, PLY_BIG } ply_format;

typedef struct ply_reader {
    bare_mesh mesh;
    word_reader text; /* also the cursor over binary data */
    ply_format format;
    ply_element elements[ELEMENT_LIMIT];
    int element_count;
    ply_property properties[PROPERTY_LIMIT];
    int property_count;
    bool has_texcoords, has_corner_texcoords;
    float *vertex_texcoords; /* (vertex_count x 2) */
    size_t vertex_texcoord_capacity;
    float *corner_texcoords; /* (corner_count x 2) */
    size_t corner_texcoord_capacity;
} ply_reader;

#define ply_error(r, ...) bare_mesh_error(&(r)->mesh, CUTIS_ERROR_FORMAT, __VA_ARGS__)

/* ---- header ---- */

static bool type_parse(const char *word, size_t length, ply_type *type)
{
    static const char *const names[][2] = {{"char", "int8"},     {"uchar", "uint8"},   {"short", "int16"},
                                           {"ushort", "uint16"}, {"int", "int32"},     {"uint", "uint32"},
                                           {"float", "float32"}, {"double", "float64"}};
    for (int i = 0; i < COUNT_OF(names); i++)
        if (word_is(word, length, names[i][0]) || word_is(word, length, names[i][1])) {
            *type = (ply_type)i;
            return true;
        }
    return false;
}

static ply_use use_of(ply_kind kind, const char *word, size_t length, bool is_list)
{
    /* names that exporters use */
    static const struct {
        ply_kind kind;
        const char *name;
        bool is_list;
        ply_use use;
    } uses[] = {{PLY_VERTEX, "x", false, PLY_X},
                {PLY_VERTEX, "y", false, PLY_Y},
                {PLY_VERTEX, "z", false, PLY_Z},
                {PLY_VERTEX, "s", false, PLY_U},
                {PLY_VERTEX, "t", false, PLY_V},
                {PLY_VERTEX, "u", false, PLY_U},
                {PLY_VERTEX, "v", false, PLY_V},
                {PLY_VERTEX, "texture_u", false, PLY_U},
                {PLY_VERTEX, "texture_v", false, PLY_V},
                {PLY_FACE, "vertex_indices", true, PLY_CORNERS},
                {PLY_FACE, "vertex_index", true, PLY_CORNERS},
                {PLY_FACE, "texcoord", true, PLY_CORNER_TEXCOORDS},
                {PLY_STRIPS, "vertex_indices", true, PLY_CORNERS},
                {PLY_STRIPS, "vertex_index", true, PLY_CORNERS}};

    /* other properties are skipped */
    for (int i = 0; i < COUNT_OF(uses); i++)
        if (uses[i].kind == kind && uses[i].is_list == is_list && word_is(word, length, uses[i].name))
            return uses[i].use;
    return PLY_UNUSED;
}

static cutis_result read_property(ply_reader *r)
{
    const char *word;
    ply_property property = {0};

    /* a property belongs to the element before it */
    if (r->element_count == 0 || r->property_count == PROPERTY_LIMIT)
        return ply_error(r, "line %d: a property comes before all elements, or there are more than %d", r->text.line,
                         PROPERTY_LIMIT);
    ply_element *element = &r->elements[r->element_count - 1];

    /* a list states the type of its length first */
    size_t length = word_next(&r->text, true, &word);
    property.is_list = word_is(word, length, "list");
    if (property.is_list) {
        length = word_next(&r->text, true, &word);
        if (!type_parse(word, length, &property.count_type) || property.count_type >= PLY_FLOAT)
            return ply_error(r, "line %d: the count of a list is not an integer type", r->text.line);
        length = word_next(&r->text, true, &word);
    }

    /* type of the values, and the name that decides their use */
    if (!type_parse(word, length, &property.type))
        return ply_error(r, "line %d: '%.*s' is not a PLY type", r->text.line, (int)MIN(length, 30), word);
    length = word_next(&r->text, true, &word);
    property.use = use_of(element->kind, word, length, property.is_list);

    /* texture coordinates come with vertices or with faces */
    r->has_texcoords |= property.use == PLY_U;
    r->has_corner_texcoords |= property.use == PLY_CORNER_TEXCOORDS;

    r->properties[r->property_count++] = property;
    element->property_count++;
    return CUTIS_OK;
}

static cutis_result read_element(ply_reader *r)
{
    const char *word;
    double count;

    size_t length = word_next(&r->text, true, &word);
    if (r->element_count == ELEMENT_LIMIT) return ply_error(r, "it has more than %d elements", ELEMENT_LIMIT);

    ply_element *element = &r->elements[r->element_count++];
    *element = (ply_element){.first_property = r->property_count};

    snprintf(element->name, sizeof element->name, "%.*s", (int)MIN(length, 30), word);
    element->kind = word_is(word, length, "vertex")      ? PLY_VERTEX
                    : word_is(word, length, "face")      ? PLY_FACE
                    : word_is(word, length, "tristrips") ? PLY_STRIPS
                                                         : PLY_OTHER;
    if (!word_number(&r->text, true, &count) || !(count >= 0 && count < 1e12))
        return ply_error(r, "line %d: element '%s' has no count", r->text.line, element->name);
    element->count = (long long)count;
    return CUTIS_OK;
}

static cutis_result read_format(ply_reader *r)
{
    const char *word;

    /* the order of bytes */
    size_t length = word_next(&r->text, true, &word);
    if (word_is(word, length, "ascii"))
        r->format = PLY_TEXT;
    else if (word_is(word, length, "binary_little_endian"))
        r->format = PLY_LITTLE;
    else if (word_is(word, length, "binary_big_endian"))
        r->format = PLY_BIG;
    else
        return ply_error(r, "line %d: '%.*s' is not a PLY format", r->text.line, (int)MIN(length, 30), word);

    return CUTIS_OK;
}

static cutis_result read_header(ply_reader *r)
{
    const char *word;
    size_t length = word_next(&r->text, false, &word);

    if (!word_is(word, length, "ply")) return ply_error(r, "it is not a PLY file: it does not start with 'ply'");
    bool has_format = false;

    /* the first line's end tells how the others end; binary data follows the last one at once */
    const char *end = r->text.at;
    while (end < r->text.end && *end != '\r' && *end != '\n') end++;
    r->text.returns = end + 1 < r->text.end && end[0] == '\r' && end[1] != '\n';

    for (;;) {
        word_skip_line(&r->text);
        length = word_next(&r->text, false, &word);
        cutis_result result = CUTIS_OK;

        if (length == 0) return ply_error(r, "it is cut short: its header does not end");
        if (word_is(word, length, "end_header")) break;

        if (word_is(word, length, "format")) {
            result = read_format(r);
            has_format = true;
        } else if (word_is(word, length, "element")) {
            result = read_element(r);
        } else if (word_is(word, length, "property")) {
            result = read_property(r);
        }

        if (result != CUTIS_OK) return result;
    }

    if (!has_format) return ply_error(r, "its header defines no format");
    word_skip_line(&r->text);
    return CUTIS_OK;
}

/* ---- values ---- */

static bool value_read(ply_reader *r, ply_type type, double *value)
{
    static const int sizes[] = {1, 1, 2, 2, 4, 4, 4, 8};
    if (r->format == PLY_TEXT) return word_number(&r->text, false, value);

    /* bytes in either order */
    const uint8_t *bytes = (const uint8_t *)r->text.at;
    int size = sizes[type];
    if (r->text.end - r->text.at < size) return false;
    r->text.at += size;

    uint64_t bits = 0;
    for (int i = 0; i < size; i++) bits = bits << 8 | bytes[r->format == PLY_BIG ? i : size - 1 - i];

    switch (type) {
    case PLY_INT8:
        *value = (int8_t)bits;
        break;
    case PLY_INT16:
        *value = (int16_t)bits;
        break;
    case PLY_INT32:
        *value = (int32_t)bits;
        break;
    case PLY_FLOAT:
        *value = (double)bytes_float((uint32_t)bits);
        break;
    case PLY_DOUBLE:
        memcpy(value, &bits, sizeof *value);
        break;
    default:
        *value = (double)bits;
        break;
    }
    return true;
}

static cutis_result value_error(const ply_reader *r, const ply_element *element, long long index)
{
    if (r->text.at >= r->text.end)
        return ply_error(r, "it is cut short at %s %lld of %lld", element->name, index, element->count);
    return ply_error(r, "line %d: %s %lld contains something that is not a number", r->text.line, element->name, index);
}

/* Room for `count` pairs; the content is kept. */
static bool pairs_grow(ply_reader *r, float **pairs, size_t *capacity, size_t count)
{
    if (count <= *capacity) return true;
    size_t larger = MAX(2 * *capacity, count + 256);
    float *block = ARENA_ARRAY(&r->mesh.memory, float, 2 * larger);
    if (!block) return false;
    if (*capacity) memcpy(block, *pairs, 2 * *capacity * sizeof(float));
    *pairs = block;
    *capacity = larger;
    return true;
}

/* ---- elements ---- */

/* What one face is made of while its properties are read. */
typedef struct ply_face {
    int corners[LIST_LIMIT];
    int corner_count;
    float texcoords[2 * LIST_LIMIT];
    int texcoord_count; /* numbers */
} ply_face;

/* A strip: each corner after the second makes a triangle, turned over every other time; -1 ends it. */
static cutis_result strip_read(ply_reader *r, const ply_property *property, const ply_element *element, long long index,
                               double count)
{
    /* the last two corners, and how many since the strip began */
    int last[2] = {0, 0};
    int seen = 0;
    for (double i = 0; i < count; i++) {
        double value;
        if (!value_read(r, property->type, &value)) return value_error(r, element, index);

        /* a negative index starts over */
        if (value < 0) {
            seen = 0;
            continue;
        }

        if (!(value < 2e9)) return ply_error(r, "strip %lld uses a vertex that does not exist", index);
        int corner = (int)value;

        /* a triangle, unless it is degenerate: such ones join the runs of a strip */
        bool turned = seen % 2 == 1;
        if (seen >= 2 && last[0] != last[1] && last[0] != corner && last[1] != corner) {
            int triangle[3] = {turned ? last[1] : last[0], turned ? last[0] : last[1], corner};
            if (!bare_mesh_face(&r->mesh, triangle, 3)) return bare_mesh_full(&r->mesh);
        }

        /* the window moves on by one corner */
        last[0] = last[1];
        last[1] = corner;
        seen++;
    }
    return CUTIS_OK;
}

static cutis_result list_read(ply_reader *r, const ply_property *property, const ply_element *element, long long index,
                              ply_face *face)
{
    double count;

    /* how long it is */
    if (!value_read(r, property->count_type, &count)) return value_error(r, element, index);
    if (!(count >= 0)) return ply_error(r, "%s %lld has a list of negative length", element->name, index);

    if (element->kind == PLY_STRIPS && property->use == PLY_CORNERS)
        return strip_read(r, property, element, index, count);

    int limit = property->use == PLY_CORNER_TEXCOORDS ? 2 * LIST_LIMIT : LIST_LIMIT;
    if (property->use != PLY_UNUSED && count > limit)
        return ply_error(r, "face %lld has more than %d corners", index, LIST_LIMIT);

    /* by the use of the property */
    for (double i = 0; i < count; i++) {
        double value;
        if (!value_read(r, property->type, &value)) return value_error(r, element, index);

        if (property->use == PLY_CORNERS) {
            if (!(value >= 0 && value < 2e9)) return ply_error(r, "face %lld uses a vertex that does not exist", index);
            face->corners[face->corner_count++] = (int)value;
        } else if (property->use == PLY_CORNER_TEXCOORDS) {
            face->texcoords[face->texcoord_count++] = isfinite((float)value) ? (float)value : 0;
        }
    }

    return CUTIS_OK;
}

static cutis_result face_add(ply_reader *r, const ply_face *face)
{
    size_t first = r->mesh.corner_count;
    if (!bare_mesh_face(&r->mesh, face->corners, face->corner_count)) return bare_mesh_full(&r->mesh);
    if (!r->has_corner_texcoords || face->corner_count < 3) return CUTIS_OK;
    if (!pairs_grow(r, &r->corner_texcoords, &r->corner_texcoord_capacity, r->mesh.corner_count))
        return bare_mesh_full(&r->mesh);
    for (int i = 0; i < face->corner_count && 2 * i + 1 < face->texcoord_count; i++) {
        r->corner_texcoords[2 * (first + (size_t)i)] = face->texcoords[2 * i];
        r->corner_texcoords[2 * (first + (size_t)i) + 1] = 1 - face->texcoords[2 * i + 1];
    }
    return CUTIS_OK;
}

static cutis_result vertex_add(ply_reader *r, long long index, const double values[6])
{
    float position[3];

    for (int k = 0; k < 3; k++) {
        position[k] = (float)values[PLY_X + k];
        if (!isfinite(position[k]))
            return bare_mesh_error(&r->mesh, CUTIS_ERROR_DATA, "vertex %lld has a position that is not finite", index);
    }

    if (!bare_mesh_vertex(&r->mesh, position)) return bare_mesh_full(&r->mesh);
    if (!r->has_texcoords) return CUTIS_OK;

    if (!pairs_grow(r, &r->vertex_texcoords, &r->vertex_texcoord_capacity, r->mesh.vertex_count))
        return bare_mesh_full(&r->mesh);

    float *pair = r->vertex_texcoords + 2 * (r->mesh.vertex_count - 1);
    pair[0] = isfinite((float)values[PLY_U]) ? (float)values[PLY_U] : 0;
    pair[1] = isfinite((float)values[PLY_V]) ? 1 - (float)values[PLY_V] : 0;

    return CUTIS_OK;
}

static cutis_result elements_read(ply_reader *r, const ply_element *element, ply_face *face)
{
    for (long long i = 0; i < element->count; i++) {
        double values[PLY_V + 1] = {0};
        face->corner_count = 0;
        face->texcoord_count = 0;

        /* every property in its order, used or not */
        for (int p = 0; p < element->property_count; p++) {
            const ply_property *property = &r->properties[element->first_property + p];
            if (property->is_list) {
                cutis_result result = list_read(r, property, element, i, face);
                if (result != CUTIS_OK) return result;
                continue;
            }

            double value;
            if (!value_read(r, property->type, &value)) return value_error(r, element, i);
            if (property->use != PLY_UNUSED) values[property->use] = value;
        }

        /* a vertex or a face */
        cutis_result result = CUTIS_OK;
        if (element->kind == PLY_VERTEX) result = vertex_add(r, i, values);
        if (element->kind == PLY_FACE) result = face_add(r, face);
        if (result != CUTIS_OK) return result;
    }

    return CUTIS_OK;
}

static cutis_result read_all(ply_reader *r)
{
    cutis_result result = read_header(r);

    ply_face *face = result == CUTIS_OK ? ARENA_ARRAY(&r->mesh.memory, ply_face, 1) : NULL;
    if (result != CUTIS_OK) return result;
    if (!face) return bare_mesh_full(&r->mesh);

    for (int e = 0; e < r->element_count; e++) {
        if (r->elements[e].property_count == 0) continue;
        result = elements_read(r, &r->elements[e], face);
        if (result != CUTIS_OK) return result;
    }

    /* faces may stand before the vertices, so their corners are checked at the end */
    bare_mesh *mesh = &r->mesh;
    for (size_t c = 0; c < mesh->corner_count; c++)
        if ((size_t)mesh->corners[c] >= mesh->vertex_count)
            return ply_error(r, "a face uses vertex %d, but there are only %zu", mesh->corners[c], mesh->vertex_count);

    /* texture coordinates of corners win over those of vertices; strips have only the latter */
    if (r->has_corner_texcoords &&
        pairs_grow(r, &r->corner_texcoords, &r->corner_texcoord_capacity, mesh->corner_count)) {
        mesh->texcoords = r->corner_texcoords;
    } else if (r->has_texcoords && mesh->corner_count) {
        mesh->texcoords = ARENA_ARRAY(&mesh->memory, float, 2 * mesh->corner_count);
        for (size_t c = 0; mesh->texcoords && c < mesh->corner_count; c++)
            memcpy(mesh->texcoords + 2 * c, r->vertex_texcoords + 2 * (size_t)mesh->corners[c], 2 * sizeof(float));
    }

    return mesh->memory.failed ? bare_mesh_full(mesh) : CUTIS_OK;
}

cutis_result ply_character_read(const void *data, size_t size, const char *path, const cutis_allocator *allocator,
                                cutis_character **character, cutis_error *error)
{
    ply_reader r = {.mesh = bare_mesh_create(path, allocator, error)};
    r.text = (word_reader){.at = data, .end = (const char *)data + size, .line = 1};
    cutis_result result = read_all(&r);
    if (result == CUTIS_OK) result = bare_mesh_finish(&r.mesh, path, allocator, character);
    bare_mesh_destroy(&r.mesh);
    return result;
}
