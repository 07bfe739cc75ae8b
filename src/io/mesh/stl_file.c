/*
 * stl_file.c: STL, as text and binary.
 *
 * STL gives three positions for each triangle. Equal positions become one vertex, so that the surface is connected;
 * vertices are in the order in which the file first names them. Each solid of a text is a part. Normals and colours
 * are left out. A binary file often begins with the word "solid" too: it is one when its size fits its count.
 */
#include <math.h>
#include <string.h>

#include "io/mesh/bare_mesh.h"

enum { STL_HEADER = 84, STL_RECORD = 50 };

typedef struct stl_reader {
    bare_mesh mesh;
    int *slots; /* (capacity) vertex + 1 by the hash of its position, 0: free */
    size_t capacity;
} stl_reader;

static size_t slot_of(const stl_reader *r, const float *position)
{
    size_t slot = (size_t)hash_bytes(position, 3 * sizeof(float), 0) & (r->capacity - 1);
    while (r->slots[slot] &&
           memcmp(r->mesh.positions + 3 * (size_t)(r->slots[slot] - 1), position, 3 * sizeof(float)) != 0)
        slot = (slot + 1) & (r->capacity - 1);
    return slot;
}

/* Keep the table at most half full. */
static bool slots_grow(stl_reader *r)
{
    if (2 * (r->mesh.vertex_count + 1) <= r->capacity) return true;
    r->capacity = MAX(2 * r->capacity, 1024);
    r->slots = ARENA_ARRAY(&r->mesh.memory, int, r->capacity);
    if (!r->slots) return false;
    for (size_t v = 0; v < r->mesh.vertex_count; v++) r->slots[slot_of(r, r->mesh.positions + 3 * v)] = (int)v + 1;
    return true;
}

static bool vertex_weld(stl_reader *r, float *position, int *vertex)
{
    for (int k = 0; k < 3; k++) position[k] += 0.0f; /* -0 is 0 */
    if (!slots_grow(r)) return false;
    size_t slot = slot_of(r, position);
    if (!r->slots[slot]) {
        if (!bare_mesh_vertex(&r->mesh, position)) return false;
        r->slots[slot] = (int)r->mesh.vertex_count;
    }
    *vertex = r->slots[slot] - 1;
    return true;
}

static cutis_result read_binary(stl_reader *r, const uint8_t *bytes, size_t size)
{
    size_t count = bytes_u32(bytes + STL_HEADER - 4);

    /* as many as are declared */
    if (count > (size - STL_HEADER) / STL_RECORD)
        return bare_mesh_error(&r->mesh, CUTIS_ERROR_FORMAT,
                               "it is cut short: %zu triangles are declared, %zu exist; or it is not STL", count,
                               (size - STL_HEADER) / STL_RECORD);

    /* corners that coincide become one vertex */
    for (size_t t = 0; t < count; t++) {
        const uint8_t *record = bytes + STL_HEADER + t * STL_RECORD + 12; /* behind the normal */
        int corners[3];

        for (size_t c = 0; c < 3; c++) {
            float position[3];
            for (size_t k = 0; k < 3; k++) {
                position[k] = bytes_float(bytes_u32(record + 12 * c + 4 * k));
                if (!isfinite(position[k]))
                    return bare_mesh_error(&r->mesh, CUTIS_ERROR_DATA, "triangle %zu has a position that is not finite",
                                           t);
            }
            if (!vertex_weld(r, position, &corners[c])) return bare_mesh_full(&r->mesh);
        }

        if (!bare_mesh_face(&r->mesh, corners, 3)) return bare_mesh_full(&r->mesh);
    }

    return CUTIS_OK;
}

/* The rest of a "solid" line is its name. */
static cutis_result start_solid(stl_reader *r, word_reader *text)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\t')) text->at++;
    const char *start = text->at;
    word_skip_line(text);
    const char *end = text->at;
    while (end > start && (unsigned char)end[-1] <= 32) end--;
    size_t length = (size_t)MIN(end - start, 100);
    char *name = arena_push(&r->mesh.memory, length + 1, 1);
    if (!name) return bare_mesh_full(&r->mesh);
    if (length) memcpy(name, start, length);
    return bare_mesh_part(&r->mesh, name) ? CUTIS_OK : bare_mesh_full(&r->mesh);
}

static cutis_result read_vertex(stl_reader *r, word_reader *text, int *vertex)
{
    float position[3];
    for (int k = 0; k < 3; k++) {
        double value;
        if (!word_number(text, false, &value) || !isfinite((float)value))
            return file_line_error(r->mesh.error, r->mesh.name, text->line, "a vertex needs 3 finite numbers");
        position[k] = (float)value;
    }
    return vertex_weld(r, position, vertex) ? CUTIS_OK : bare_mesh_full(&r->mesh);
}

static cutis_result read_text(stl_reader *r, const char *data, size_t size)
{
    enum { CORNER_LIMIT = 4096 };

    word_reader text = {.at = data, .end = data + size, .line = 1};
    const char *word;
    size_t length;

    int corners[CORNER_LIMIT];
    int count = 0;
    bool open = false;

    /* keyword by keyword; facets and their normals are not needed */
    while ((length = word_next(&text, false, &word))) {
        cutis_result result = CUTIS_OK;
        if (word_is(word, length, "solid")) {
            result = start_solid(r, &text);
        } else if (word_is(word, length, "endsolid")) {
            word_skip_line(&text);
        } else if (word_is(word, length, "loop")) {
            count = 0;
            open = true;
        } else if (word_is(word, length, "vertex")) {
            /* only between loop and endloop */
            if (!open || count == CORNER_LIMIT)
                return file_line_error(r->mesh.error, r->mesh.name, text.line, "a vertex is outside a loop");
            result = read_vertex(r, &text, &corners[count++]);
        } else if (word_is(word, length, "endloop")) {
            if (!bare_mesh_face(&r->mesh, corners, count)) return bare_mesh_full(&r->mesh);
            count = 0;
            open = false;
        }
        if (result != CUTIS_OK) return result;
    }

    /* a loop left open tells that the file was cut */
    if (open) return bare_mesh_error(&r->mesh, CUTIS_ERROR_FORMAT, "it is cut short: its last loop does not end");
    return CUTIS_OK;
}

cutis_result stl_character_read(const void *data, size_t size, const char *path, const cutis_allocator *allocator,
                                cutis_character **character, cutis_error *error)
{
    const uint8_t *bytes = data;
    stl_reader r = {.mesh = bare_mesh_create(path, allocator, error)};

    /* binary files may begin with 'solid' too: their size decides */
    bool solid = size >= 5 && word_is(data, 5, "solid");
    bool fits = size >= STL_HEADER && (size - STL_HEADER) % STL_RECORD == 0 &&
                (size - STL_HEADER) / STL_RECORD == bytes_u32(bytes + STL_HEADER - 4);

    cutis_result result;
    if (solid && !fits)
        result = read_text(&r, data, size);
    else if (size >= STL_HEADER)
        result = read_binary(&r, bytes, size);
    else
        result = bare_mesh_error(&r.mesh, CUTIS_ERROR_FORMAT, "it is too short to be an STL file");

    if (result == CUTIS_OK) result = bare_mesh_finish(&r.mesh, path, allocator, character);
    bare_mesh_destroy(&r.mesh);
    return result;
}
