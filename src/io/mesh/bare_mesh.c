/*
 * bare_mesh.c: a polygon mesh that grows while a file is read, and words of a text.
 *
 * The arrays grow with what was read, never with what a file declares, so that a damaged count costs no memory.
 */
#include "io/mesh/bare_mesh.h"

#include <limits.h>
#include <string.h>

bare_mesh bare_mesh_create(const char *path, const cutis_allocator *allocator, cutis_error *error)
{
    return (bare_mesh){.name = path_base(path), .error = error, .memory = arena_create(allocator)};
}

void bare_mesh_destroy(bare_mesh *mesh) { arena_destroy(&mesh->memory); }

cutis_result bare_mesh_error(const bare_mesh *mesh, cutis_result code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    cutis_result result = file_error(mesh->error, code, mesh->name, format, arguments);
    va_end(arguments);
    return result;
}

cutis_result bare_mesh_full(const bare_mesh *mesh)
{
    if (mesh->memory.failed) return error_memory(mesh->error, mesh->name);
    return bare_mesh_error(mesh, CUTIS_ERROR_UNSUPPORTED, "the mesh is too large");
}

/* Room for `count` elements; the content is kept. */
static bool grow(bare_mesh *mesh, void *array, size_t *capacity, size_t count, size_t size)
{
    void **place = array;
    if (count <= *capacity) return true;
    if (count > INT_MAX / 16) return false;
    size_t larger = MAX(MAX(2 * *capacity, count), 256);
    void *block = arena_push(&mesh->memory, larger, size);
    if (!block) return false;
    if (*capacity) memcpy(block, *place, *capacity * size);
    *place = block;
    *capacity = larger;
    return true;
}

bool bare_mesh_vertex(bare_mesh *mesh, const float position[3])
{
    if (!grow(mesh, &mesh->positions, &mesh->vertex_capacity, mesh->vertex_count + 1, 3 * sizeof(float))) return false;
    memcpy(mesh->positions + 3 * mesh->vertex_count, position, 3 * sizeof(float));
    mesh->vertex_count++;
    return true;
}

bool bare_mesh_face(bare_mesh *mesh, const int *corners, int count)
{
    if (count < 3) {
        mesh->short_faces++;
        return true;
    }

    if (!grow(mesh, &mesh->face_first, &mesh->face_capacity, mesh->face_count + 2, sizeof(int))) return false;
    if (!grow(mesh, &mesh->corners, &mesh->corner_capacity, mesh->corner_count + (size_t)count, sizeof(int)))
        return false;

    memcpy(mesh->corners + mesh->corner_count, corners, (size_t)count * sizeof(int));
    mesh->face_first[mesh->face_count++] = (int)mesh->corner_count;
    mesh->corner_count += (size_t)count;
    mesh->face_first[mesh->face_count] = (int)mesh->corner_count;
    return true;
}

bool bare_mesh_part(bare_mesh *mesh, const char *name)
{
    if (!grow(mesh, &mesh->parts, &mesh->part_capacity, mesh->part_count + 1, sizeof(cutis_part))) return false;
    mesh->parts[mesh->part_count++] = (cutis_part){.name = name, .material = "", .first_face = (int)mesh->face_count};
    return true;
}

/* Close the parts: leave out those without faces, and find the run of vertices that each one's faces use. */
static bool finish_parts(bare_mesh *mesh)
{
    size_t kept = 0;
    name_set names = name_set_create(&mesh->memory);
    for (size_t i = 0; i < mesh->part_count; i++) {
        /* a part ends where the next begins */
        cutis_part part = mesh->parts[i];
        int end = i + 1 < mesh->part_count ? mesh->parts[i + 1].first_face : (int)mesh->face_count;
        part.face_count = end - part.first_face;
        if (part.face_count == 0) continue;

        /* range of the vertices that its corners name */
        int low = INT_MAX;
        int high = 0;
        for (int c = mesh->face_first[part.first_face]; c < mesh->face_first[end]; c++) {
            low = MIN(low, mesh->corners[c]);
            high = MAX(high, mesh->corners[c]);
        }

        part.first_vertex = low;
        part.vertex_count = high - low + 1;

        /* names must be unique */
        part.name = name_set_add(&names, part.name, "part", (int)i);
        if (!part.name) return false;
        mesh->parts[kept++] = part;
    }

    mesh->part_count = kept;
    return true;
}

cutis_result bare_mesh_finish(bare_mesh *mesh, const char *path, const cutis_allocator *allocator,
                              cutis_character **character)
{
    /* a point cloud or an empty file is no surface */
    if (mesh->vertex_count && !mesh->face_count)
        return bare_mesh_error(mesh, CUTIS_ERROR_DATA,
                               "it has %zu points and no faces; reconstruct a surface first, for example with MeshLab",
                               mesh->vertex_count);
    if (!mesh->face_count) return bare_mesh_error(mesh, CUTIS_ERROR_DATA, "the mesh is empty: it has no faces");

    /* what was dropped is reported */
    mesh->warnings.memory = &mesh->memory;
    if (mesh->short_faces)
        warning_add(&mesh->warnings, "%d faces with fewer than 3 corners are ignored", mesh->short_faces);
    if (!finish_parts(mesh)) return error_memory(mesh->error, mesh->name);

    /* one mesh without a skeleton */
    cutis_character given = {.name = path_stem(&mesh->memory, path),
                             .vertex_count = (int)mesh->vertex_count,
                             .positions = mesh->positions,
                             .face_count = (int)mesh->face_count,
                             .face_first = mesh->face_first,
                             .corners = mesh->corners,
                             .texcoords = mesh->texcoords,
                             .part_count = (int)mesh->part_count,
                             .parts = mesh->parts,
                             .warning_count = warning_finish(&mesh->warnings),
                             .warnings = mesh->warnings.sentences};

    if (mesh->memory.failed) return error_memory(mesh->error, mesh->name);
    return cutis_character_create(&given, allocator, character, mesh->error);
}

/* ---- words ---- */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'; }

size_t word_next(word_reader *reader, bool same_line, const char **word)
{
    while (reader->at < reader->end && is_space(*reader->at)) {
        bool ends = *reader->at == (reader->returns ? '\r' : '\n');
        if (ends && same_line) break;
        if (ends) reader->line++;
        reader->at++;
    }
    *word = reader->at;
    while (reader->at < reader->end && !is_space(*reader->at)) reader->at++;
    return (size_t)(reader->at - *word);
}

void word_skip_line(word_reader *reader)
{
    while (reader->at < reader->end && *reader->at != (reader->returns ? '\r' : '\n')) reader->at++;
    if (reader->at < reader->end) {
        reader->at++;
        reader->line++;
    }
}

bool word_number(word_reader *reader, bool same_line, double *value)
{
    const char *word;
    size_t length = word_next(reader, same_line, &word);
    const char *cursor = word;
    return length && text_number(&cursor, word + length, value) && cursor == word + length;
}

bool word_is(const char *word, size_t length, const char *text)
{
    if (strlen(text) != length) return false;
    for (size_t i = 0; i < length; i++) {
        char c = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] + 32) : word[i];
        if (c != text[i]) return false;
    }
    return true;
}
