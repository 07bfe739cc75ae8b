/*
 * obj_file.c: Wavefront OBJ.
 *
 * Read in two passes over the text: count, then fill. Polygons stay polygons, vertices keep the file's order
 * whether a face uses them or not. o, g and usemtl start a new part. Normals, colours, lines, points and
 * free-form elements are left out. v of a texture coordinate grows upwards in OBJ and downwards in a
 * character.
 */
#include "io/mesh/obj_file.h"

#include <limits.h>
#include <math.h>
#include <string.h>

typedef struct obj_text {
    const char *name;
    const char *at, *end; /* what is left */
    const char *cursor, *line_end;
    int line, next_line;
    cutis_error *error;
} obj_text;

typedef struct obj_counts {
    size_t vertices, texcoords, faces, corners, parts;
    bool has_texcoords;
} obj_counts;

#define obj_error(text, ...) file_line_error((text)->error, (text)->name, (text)->line, __VA_ARGS__)

/* Whether a backslash here continues the line. */
static const char *continuation(const char *p, const char *end)
{
    if (p >= end || *p != '\\') return NULL;
    p++;
    if (p < end && *p == '\r') p++;
    return p < end && *p == '\n' ? p + 1 : NULL;
}

/* Move to the next line, continuations included; false at the end of the text. */
static bool obj_next_line(obj_text *t)
{
    if (t->at >= t->end) return false;
    t->line = t->next_line++;
    const char *p = t->cursor = t->at;

    for (;;) {
        const char *newline = memchr(p, '\n', (size_t)(t->end - p));
        t->line_end = newline ? newline : t->end;
        t->at = newline ? newline + 1 : t->end;

        /* a backslash continues the line */
        bool continued =
            newline && newline > t->cursor &&
            (newline[-1] == '\\' || (newline[-1] == '\r' && newline - 1 > t->cursor && newline[-2] == '\\'));

        if (!continued) return true;
        t->next_line++;
        p = t->at;
    }
}

static void obj_skip_space(obj_text *t)
{
    while (t->cursor < t->line_end) {
        const char *after = continuation(t->cursor, t->line_end);
        if (after)
            t->cursor = after;
        else if (*t->cursor == ' ' || *t->cursor == '\t' || *t->cursor == '\r' || *t->cursor == '\n')
            t->cursor++;
        else
            return;
    }
}

/* Read the word at the start of a line: "v", "f", ... */
static size_t obj_keyword(obj_text *t, const char **word)
{
    obj_skip_space(t);
    *word = t->cursor;
    while (t->cursor < t->line_end && !strchr(" \t\r\n\\", *t->cursor)) t->cursor++;
    return (size_t)(t->cursor - *word);
}

static bool keyword_is(const char *word, size_t length, const char *keyword)
{
    return strlen(keyword) == length && memcmp(word, keyword, length) == 0;
}

static bool obj_number(obj_text *t, double *value)
{
    obj_skip_space(t);
    return text_number(&t->cursor, t->line_end, value);
}

/* Read one of v, v/vt, v//vn, v/vt/vn; 0 stands for an absent number. */
static bool obj_corner(obj_text *t, long long *vertex, long long *texcoord, bool *more)
{
    obj_skip_space(t);

    *more = t->cursor < t->line_end && *t->cursor != '#';
    *texcoord = 0;
    if (!*more) return true;
    long long normal;

    /* vertex, texture coordinate and normal between slashes */
    if (!text_integer(&t->cursor, t->line_end, vertex)) return false;
    if (t->cursor >= t->line_end || *t->cursor != '/') return true;

    t->cursor++;
    text_integer(&t->cursor, t->line_end, texcoord);
    if (t->cursor >= t->line_end || *t->cursor != '/') return true;

    t->cursor++;
    text_integer(&t->cursor, t->line_end, &normal);
    return true;
}

/* The rest of the line as a name, without space at its ends. */
static const char *obj_name(obj_text *t, arena *memory)
{
    obj_skip_space(t);
    const char *end = t->line_end;
    while (end > t->cursor && strchr(" \t\r\n", end[-1])) end--;
    size_t length = (size_t)MIN(end - t->cursor, 200);
    char *name = arena_push(memory, length + 1, 1);
    if (!name) return NULL;
    if (length) memcpy(name, t->cursor, length);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < 32) name[i] = '_';
    return name;
}

static obj_text obj_open(const char *data, size_t size, const char *path, cutis_error *error)
{
    return (obj_text){.name = path_base(path), .at = data, .end = data + size, .next_line = 1, .error = error};
}

/* ---- first pass ---- */

static cutis_result obj_count(obj_text t, obj_counts *counts)
{
    /* first pass: sizes of the arrays */
    *counts = (obj_counts){.parts = 1};

    while (obj_next_line(&t)) {
        const char *word;
        size_t length = obj_keyword(&t, &word);

        if (keyword_is(word, length, "v")) {
            counts->vertices++;
        } else if (keyword_is(word, length, "vt")) {
            counts->texcoords++;
        } else if (keyword_is(word, length, "o") || keyword_is(word, length, "g") ||
                   keyword_is(word, length, "usemtl")) {
            counts->parts++;
        } else if (keyword_is(word, length, "f")) {
            /* corners, and whether any has texture coordinates */
            counts->faces++;
            long long vertex, texcoord;
            bool more = true;

            while (more) {
                if (!obj_corner(&t, &vertex, &texcoord, &more))
                    return obj_error(&t, "a face contains something that is not a number");
                if (!more) break;
                counts->corners++;
                if (texcoord) counts->has_texcoords = true;
            }
        }
    }

    /* indices are ints, and arrays hold several numbers an element */
    if (counts->vertices > INT_MAX / 16 || counts->corners > INT_MAX / 16 || counts->texcoords > INT_MAX / 16)
        return error_set(t.error, CUTIS_ERROR_UNSUPPORTED, "%.150s: the mesh is too large", t.name);
    return CUTIS_OK;
}

/* ---- second pass ---- */

typedef struct obj_reader {
    obj_text text;
    obj_counts counts;
    arena memory;
    warning_list warnings;
    float *positions, *texcoord_list;
    int *face_first, *corners, *corner_texcoords; /* the last: -1 where a corner has none */
    cutis_part *parts;
    int vertex_count, texcoord_count, face_count, corner_count, part_count;
    const char *group, *material;
    const char *library; /* of materials: the last one named, or NULL */
    bool external;
    bool part_ended; /* the next face starts a part */
    int short_faces;
    name_set names;
} obj_reader;

static cutis_result obj_read_floats(obj_text *t, const char *what, int count, int optional_from, float *values)
{
    for (int i = 0; i < count; i++) {
        double value = 0;
        if (!obj_number(t, &value)) {
            if (i < optional_from) return obj_error(t, "%s needs %d numbers", what, optional_from);
            value = 0;
        }
        values[i] = (float)value;
        if (!isfinite(values[i])) return obj_error(t, "%s is not a finite number", what);
    }
    return CUTIS_OK;
}

/* OBJ counts from 1, or backwards from -1 for what was last defined. */
static bool obj_resolve(long long number, int so_far, size_t total, int *index)
{
    long long zero_based = number < 0 ? so_far + number : number - 1;
    *index = (int)zero_based;
    return number != 0 && zero_based >= 0 && zero_based < (long long)total;
}

static cutis_result obj_start_part(obj_reader *r)
{
    cutis_part *part = &r->parts[r->part_count];
    *part = (cutis_part){.name = name_set_add(&r->names, r->group, "part", r->part_count),
                         .material = r->material,
                         .first_face = r->face_count};
    r->part_count++;
    r->part_ended = false;
    return part->name ? CUTIS_OK : error_memory(r->text.error, "an OBJ file");
}

static cutis_result obj_read_face(obj_reader *r)
{
    /* corners, counted from 1, or from the latest backwards when negative */
    obj_text *t = &r->text;
    int first = r->corner_count;

    for (;;) {
        long long vertex, texcoord;
        bool more;

        if (!obj_corner(t, &vertex, &texcoord, &more))
            return obj_error(t, "a face contains something that is not a number");
        if (!more) break;

        /* position, then texture coordinate; a face may have none */
        int index;
        if (!obj_resolve(vertex, r->vertex_count, r->counts.vertices, &index))
            return obj_error(t, "a face uses vertex %lld, but there are only %zu", vertex, r->counts.vertices);
        r->corners[r->corner_count] = index;
        if (texcoord) {
            if (!obj_resolve(texcoord, r->texcoord_count, r->counts.texcoords, &index))
                return obj_error(t, "a face uses texture coordinate %lld, but there are only %zu", texcoord,
                                 r->counts.texcoords);
            r->corner_texcoords[r->corner_count] = index;
        } else if (r->corner_texcoords) {
            r->corner_texcoords[r->corner_count] = -1;
        }
        r->corner_count++;
    }

    /* points and lines are no surface */
    if (r->corner_count - first < 3) {
        r->short_faces++;
        r->corner_count = first;
        return CUTIS_OK;
    }

    /* a group or a material begins with its first face */
    if (r->part_ended) {
        cutis_result result = obj_start_part(r);
        if (result != CUTIS_OK) return result;
    }

    r->face_first[r->face_count++] = first;
    return CUTIS_OK;
}

static cutis_result obj_fill(obj_reader *r)
{
    /* second pass: fill the arrays */
    obj_text *t = &r->text;
    r->part_ended = true;
    r->material = "";
    while (obj_next_line(t)) {
        const char *word;
        size_t length = obj_keyword(t, &word);
        cutis_result result = CUTIS_OK;
        if (keyword_is(word, length, "v")) {
            result = obj_read_floats(t, "a vertex", 3, 3, r->positions + 3 * (size_t)r->vertex_count++);
        } else if (keyword_is(word, length, "vt")) {
            /* v points up in OBJ */
            float *texcoord = r->texcoord_list + 2 * (size_t)r->texcoord_count++;
            result = obj_read_floats(t, "a texture coordinate", 2, 1, texcoord);
            texcoord[1] = 1 - texcoord[1];
        } else if (keyword_is(word, length, "f")) {
            result = obj_read_face(r);
        } else if (keyword_is(word, length, "mtllib")) {
            r->library = obj_name(t, &r->memory);
            if (!r->library) return error_memory(t->error, "an OBJ file");
        } else if (keyword_is(word, length, "o") || keyword_is(word, length, "g") ||
                   keyword_is(word, length, "usemtl")) {
            /* groups and materials end a part */
            const char *name = obj_name(t, &r->memory);
            if (!name) return error_memory(t->error, "an OBJ file");
            if (word[0] == 'u')
                r->material = name;
            else
                r->group = name;
            r->part_ended = true;
        }

        if (result != CUTIS_OK) return result;
    }

    /* the end of the last face */
    r->face_first[r->face_count] = r->corner_count;
    return CUTIS_OK;
}

/* The run of vertices that each part's faces use. */
static void obj_end_parts(obj_reader *r)
{
    for (int i = 0; i < r->part_count; i++) {
        /* faces up to the next part */
        cutis_part *part = &r->parts[i];
        part->face_count = (i + 1 < r->part_count ? r->parts[i + 1].first_face : r->face_count) - part->first_face;

        /* the range of their vertices */
        int low = INT_MAX, high = -1;
        for (int c = r->face_first[part->first_face]; c < r->face_first[part->first_face + part->face_count]; c++) {
            low = MIN(low, r->corners[c]);
            high = MAX(high, r->corners[c]);
        }

        part->first_vertex = high < 0 ? 0 : low;
        part->vertex_count = high < 0 ? 0 : high - low + 1;
    }
}

static cutis_result obj_build(obj_reader *r, const char *path, const cutis_allocator *allocator,
                              cutis_character **character)
{
    /* sizes first: the arrays are allocated once */
    cutis_result result = obj_count(r->text, &r->counts);
    if (result != CUTIS_OK) return result;

    if (r->counts.faces == 0 || r->counts.vertices == 0)
        return error_set(r->text.error, CUTIS_ERROR_DATA,
                         "%.150s: the mesh is empty: it has %zu vertices and %zu faces", r->text.name,
                         r->counts.vertices, r->counts.faces);

    r->positions = ARENA_ARRAY(&r->memory, float, r->counts.vertices * 3);
    r->texcoord_list = ARENA_ARRAY(&r->memory, float, r->counts.texcoords * 2);
    r->face_first = ARENA_ARRAY(&r->memory, int, r->counts.faces + 1);
    r->corners = ARENA_ARRAY(&r->memory, int, r->counts.corners);
    r->parts = ARENA_ARRAY(&r->memory, cutis_part, r->counts.parts);
    if (r->counts.has_texcoords) r->corner_texcoords = ARENA_ARRAY(&r->memory, int, r->counts.corners);

    if (r->memory.failed) return error_memory(r->text.error, "an OBJ file");
    result = obj_fill(r);
    if (result != CUTIS_OK) return result;
    obj_end_parts(r);
    if (r->short_faces) warning_add(&r->warnings, "%d faces with fewer than 3 corners are ignored", r->short_faces);

    /* texture coordinates by corner instead of by index */
    float *texcoords = NULL;
    if (r->corner_texcoords) {
        texcoords = ARENA_ARRAY(&r->memory, float, (size_t)r->corner_count * 2);
        for (int c = 0; texcoords && c < r->corner_count; c++)
            if (r->corner_texcoords[c] >= 0)
                memcpy(texcoords + 2 * (size_t)c, r->texcoord_list + 2 * (size_t)r->corner_texcoords[c],
                       2 * sizeof(float));
    }

    /* the material library, when materials are used and other files may be read */
    int material_count = 0;
    const cutis_material *materials = NULL;
    if (r->library && *r->library && *r->material && r->external)
        materials = obj_materials_read(path, r->library, &r->memory, &r->warnings, &material_count);

    /* one mesh without a skeleton */
    cutis_character given = {.name = path_stem(&r->memory, path),
                             .material_count = material_count,
                             .materials = materials,
                             .vertex_count = r->vertex_count,
                             .positions = r->positions,
                             .face_count = r->face_count,
                             .face_first = r->face_first,
                             .corners = r->corners,
                             .texcoords = texcoords,
                             .part_count = r->part_count,
                             .parts = r->parts,
                             .warning_count = warning_finish(&r->warnings),
                             .warnings = r->warnings.sentences};

    if (r->memory.failed) return error_memory(r->text.error, "an OBJ file");
    return cutis_character_create(&given, allocator, character, r->text.error);
}

cutis_result obj_character_read(const void *data, size_t size, const char *path, bool external,
                                const cutis_allocator *allocator, cutis_character **character, cutis_error *error)
{
    obj_reader r = {.text = obj_open(data, size, path, error), .memory = arena_create(allocator), .external = external};
    r.warnings.memory = &r.memory;
    r.names = name_set_create(&r.memory);
    cutis_result result = obj_build(&r, path, allocator, character);
    arena_destroy(&r.memory);
    return result;
}

cutis_result obj_positions_read(const char *data, size_t size, const char *path, int capacity, float *positions,
                                int *vertex_count, cutis_error *error)
{
    obj_text t = obj_open(data, size, path, error);
    int count = 0;

    /* lines of vertices alone */
    while (obj_next_line(&t)) {
        const char *word;
        size_t length = obj_keyword(&t, &word);

        if (!keyword_is(word, length, "v")) continue;
        if (positions && count < capacity) {
            cutis_result result = obj_read_floats(&t, "a vertex", 3, 3, positions + 3 * (size_t)count);
            if (result != CUTIS_OK) return result;
        }

        if (count == INT_MAX / 16) return obj_error(&t, "there are too many vertices");
        count++;
    }

    *vertex_count = count;
    return CUTIS_OK;
}

/* ---- out ---- */

bool corner_split_make(const cutis_character *character, arena *memory, corner_split *split)
{
    int vertex_count = character->vertex_count, corner_count = character->corner_count;
    *split = (corner_split){.count = vertex_count, .corners = character->corners};
    size_t capacity = (size_t)vertex_count + (size_t)corner_count;

    /* every vertex as it is */
    int *originals = ARENA_ARRAY(memory, int, capacity);
    if (!originals) return false;
    for (int v = 0; v < vertex_count; v++) originals[v] = v;

    split->originals = originals;
    if (!character->texcoords) return true;

    /* Variants of a vertex are chained; the chain holds one for each distinct texture coordinate. */
    int *next = ARENA_ARRAY(memory, int, capacity);
    bool *used = ARENA_ARRAY(memory, bool, capacity);
    int *corners = ARENA_ARRAY(memory, int, corner_count);
    float *texcoords = ARENA_ARRAY(memory, float, capacity * 2);

    if (memory->failed) return false;
    for (size_t i = 0; i < capacity; i++) next[i] = -1;

    for (int c = 0; c < corner_count; c++) {
        const float *texcoord = character->texcoords + 2 * (size_t)c;
        int variant = character->corners[c];

        /* the variant with this texture coordinate, or a new one */
        while (used[variant] && memcmp(texcoords + 2 * (size_t)variant, texcoord, 2 * sizeof(float)) != 0 &&
               next[variant] >= 0)
            variant = next[variant];

        if (used[variant] && memcmp(texcoords + 2 * (size_t)variant, texcoord, 2 * sizeof(float)) != 0) {
            next[variant] = split->count;
            variant = split->count++;
            originals[variant] = character->corners[c];
        }

        used[variant] = true;
        memcpy(texcoords + 2 * (size_t)variant, texcoord, 2 * sizeof(float));
        corners[c] = variant;
    }

    split->corners = corners;
    split->texcoords = texcoords;
    return true;
}

static void obj_write_numbers(file_writer *writer, const char *keyword, const float *values, int count)
{
    char line[128];
    int length = snprintf(line, sizeof line, "%s", keyword);
    for (int i = 0; i < count; i++) {
        line[length++] = ' ';
        length += text_from_float(values[i], line + length);
    }
    line[length++] = '\n';
    file_writer_put(writer, line, (size_t)length);
}

void obj_write(file_writer *writer, const cutis_character *character, const float *positions, const corner_split *split)
{
    for (int v = 0; v < character->vertex_count; v++) obj_write_numbers(writer, "v", positions + 3 * (size_t)v, 3);

    /* texture coordinates; v points up in OBJ */
    bool has_texcoords = split && split->texcoords;
    for (int v = 0; has_texcoords && v < split->count; v++) {
        const float *texcoord = split->texcoords + 2 * (size_t)v;
        obj_write_numbers(writer, "vt", (float[]){texcoord[0], 1 - texcoord[1]}, 2);
    }

    /* faces, part by part; indices count from 1 */
    int face = 0;
    for (int p = 0; p < MAX(character->part_count, 1); p++) {
        const cutis_part *part = character->part_count ? &character->parts[p] : NULL;
        if (part) file_writer_print(writer, "g %s\n", part->name);
        if (part && part->material[0]) file_writer_print(writer, "usemtl %s\n", part->material);

        int end = part ? part->first_face + part->face_count : character->face_count;
        if (p == character->part_count - 1) end = character->face_count; /* faces of no part belong to the last */
        for (; face < end; face++) {
            file_writer_put(writer, "f", 1);
            for (int c = character->face_first[face]; c < character->face_first[face + 1]; c++) {
                if (has_texcoords)
                    file_writer_print(writer, " %d/%d", character->corners[c] + 1, split->corners[c] + 1);
                else
                    file_writer_print(writer, " %d", character->corners[c] + 1);
            }

            file_writer_put(writer, "\n", 1);
        }
    }
}
