/*
 * off_file.c: Object File Format (Geomview) as text: OFF, and COFF, NOFF, STOFF, 4OFF and their mixtures.
 *
 * One vertex and one face a line, as all writers do: what follows on a line (colours, normals, texture coordinates) is
 * left out. Text behind # is a comment.
 */
#include <math.h>
#include <string.h>

#include "io/mesh/bare_mesh.h"

/* The next line that holds something, as words of its own. */
static bool line_next(word_reader *text, word_reader *line)
{
    while (text->at < text->end) {
        /* a line without its comment */
        const char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
        const char *end = newline ? newline : text->end;

        const char *comment = memchr(text->at, '#', (size_t)(end - text->at));
        *line = (word_reader){.at = text->at, .end = comment ? comment : end, .line = text->line};

        text->at = newline ? newline + 1 : text->end;
        text->line++;

        /* a line without a word is skipped */
        word_reader probe = *line;
        const char *word;
        if (word_next(&probe, false, &word)) return true;
    }
    return false;
}

static cutis_result read_vertices(bare_mesh *mesh, word_reader *text, long long count, bool homogeneous)
{
    word_reader line;

    for (long long v = 0; v < count; v++) {
        if (!line_next(text, &line))
            return bare_mesh_error(mesh, CUTIS_ERROR_FORMAT, "it is cut short: it has %lld of %lld vertices", v, count);

        /* three numbers, or four with a common divisor */
        double values[4] = {0, 0, 0, 1};
        float position[3];

        for (int k = 0; k < (homogeneous ? 4 : 3); k++)
            if (!word_number(&line, false, &values[k]))
                return file_line_error(mesh->error, mesh->name, line.line, "a vertex needs %d numbers",
                                       homogeneous ? 4 : 3);

        for (int k = 0; k < 3; k++) {
            position[k] = (float)(values[k] / values[3]);
            if (!isfinite(position[k]))
                return file_line_error(mesh->error, mesh->name, line.line,
                                       "a vertex has a position that is not finite");
        }

        if (!bare_mesh_vertex(mesh, position)) return bare_mesh_full(mesh);
    }

    return CUTIS_OK;
}

static cutis_result read_faces(bare_mesh *mesh, word_reader *text, long long count)
{
    enum { CORNER_LIMIT = 4096 };
    int corners[CORNER_LIMIT];
    word_reader line;

    for (long long f = 0; f < count; f++) {
        if (!line_next(text, &line))
            return bare_mesh_error(mesh, CUTIS_ERROR_FORMAT, "it is cut short: it has %lld of %lld faces", f, count);

        /* the number of its corners */
        double size;
        if (!word_number(&line, false, &size) || !(size >= 0 && size <= CORNER_LIMIT) || size != floor(size))
            return file_line_error(mesh->error, mesh->name, line.line,
                                   "a face starts with the number of its corners, 0 to %d", CORNER_LIMIT);

        for (int c = 0; c < (int)size; c++) {
            double index;
            if (!word_number(&line, false, &index) || !(index >= 0 && index < (double)mesh->vertex_count))
                return file_line_error(mesh->error, mesh->name, line.line,
                                       "corner %d is not an index of the %zu vertices", c, mesh->vertex_count);
            corners[c] = (int)index;
        }

        if (!bare_mesh_face(mesh, corners, (int)size)) return bare_mesh_full(mesh);
    }

    return CUTIS_OK;
}

static cutis_result read_all(bare_mesh *mesh, word_reader text)
{
    word_reader line;
    const char *word = "";
    bool homogeneous = false;
    if (!line_next(&text, &line)) return bare_mesh_error(mesh, CUTIS_ERROR_FORMAT, "it is empty");

    /* the keyword may be missing, and the counts may stand behind it */
    word_reader after = line;
    size_t length = word_next(&after, false, &word);

    bool keyword = length >= 3 && word_is(word + length - 3, 3, "off");
    if (keyword) {
        homogeneous = memchr(word, '4', length) != NULL;
        if (memchr(word, 'n', length))
            return bare_mesh_error(mesh, CUTIS_ERROR_UNSUPPORTED, "nOFF is supported only with 3 dimensions");

        line = after;
        length = word_next(&after, false, &word);
        if (word_is(word, length, "binary"))
            return bare_mesh_error(mesh, CUTIS_ERROR_UNSUPPORTED,
                                   "binary OFF is not supported; save the file as text or as PLY");
        if (length == 0 && !line_next(&text, &line))
            return bare_mesh_error(mesh, CUTIS_ERROR_FORMAT, "it is cut short: the counts are missing");
    }

    /* how many there are */
    double vertices;
    double faces;
    if (!word_number(&line, false, &vertices) || !word_number(&line, false, &faces) ||
        !(vertices >= 0 && vertices < 1e9) || !(faces >= 0 && faces < 1e9))
        return file_line_error(mesh->error, mesh->name, line.line, "%s",
                               keyword ? "the counts of vertices and faces are missing" : "it does not start with OFF");

    cutis_result result = read_vertices(mesh, &text, (long long)vertices, homogeneous);
    if (result == CUTIS_OK) result = read_faces(mesh, &text, (long long)faces);
    return result;
}

cutis_result off_character_read(const void *data, size_t size, const char *path, const cutis_allocator *allocator,
                                cutis_character **character, cutis_error *error)
{
    bare_mesh mesh = bare_mesh_create(path, allocator, error);
    cutis_result result = read_all(&mesh, (word_reader){.at = data, .end = (const char *)data + size, .line = 1});
    if (result == CUTIS_OK) result = bare_mesh_finish(&mesh, path, allocator, character);
    bare_mesh_destroy(&mesh);
    return result;
}
