/*
 * cache_usda.c: frames as a USD mesh in text: points, normals and texture coordinates as time samples.
 *
 * A time code is a frame. The v of texture coordinates grows upwards in USD, downwards in a character.
 */
#include <string.h>

#include "character/normals.h"
#include "io/cache/cache_file.h"

/* A list of vectors: [(1, 2, 3), ...]; flip: the second of two numbers is turned upside down. */
static void put_vectors(file_writer *w, const float *values, size_t count, int components, bool flip)
{
    char text[32];
    file_writer_put(w, "[", 1);

    /* a tuple each; USD counts v from the bottom */
    for (size_t i = 0; i < count; i++) {
        file_writer_put(w, i ? ", (" : "(", i ? 3 : 1);
        for (int k = 0; k < components; k++) {
            float value = values[i * (size_t)components + (size_t)k];
            if (k) file_writer_put(w, ", ", 2);
            file_writer_put(w, text, (size_t)text_from_float(flip && k == 1 ? 1 - value : value, text));
        }
        file_writer_put(w, ")", 1);
    }

    file_writer_put(w, "]", 1);
}

static void put_integers(file_writer *w, const char *name, const int *values, int count, const int *differences)
{
    file_writer_print(w, "        int[] %s = [", name);
    for (int i = 0; i < count; i++)
        file_writer_print(w, "%s%d", i ? ", " : "", differences ? differences[i + 1] - differences[i] : values[i]);
    file_writer_print(w, "]\n");
}

/* A name that USD takes: letters, digits and underscores, no digit first. */
static void prim_name(const char *name, char result[64])
{
    size_t n = 0;
    if (*name >= '0' && *name <= '9') result[n++] = '_';
    for (; *name && n < 63; name++) {
        char c = *name;
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        result[n++] = fine ? c : '_';
    }
    result[n] = 0;
    if (n == 0) memcpy(result, "character", 10);
}

static void put_samples(file_writer *w, const cache_frames *f, const char *declaration, const float *values,
                        size_t count, int components, bool flip)
{
    double first = f->info.start * f->info.fps;
    file_writer_print(w, "        %s.timeSamples = {\n", declaration);
    for (int i = 0; i < f->info.frame_count; i++) {
        char code[32];
        text_from_float((float)(first + i), code);
        file_writer_print(w, "            %s: ", code);
        put_vectors(w, values + (size_t)i * count * (size_t)components, count, components, flip);
        file_writer_print(w, ",\n");
    }
    file_writer_print(w, "        }\n");
}

static void put_normals(file_writer *w, const cache_frames *f, const normal_frames *frames, float *scratch,
                        float *normals)
{
    size_t vertices = (size_t)f->info.vertex_count;
    double first = f->info.start * f->info.fps;
    file_writer_print(w, "        normal3f[] normals (interpolation = \"vertex\")\n        normal3f[] "
                         "normals.timeSamples = {\n");

    /* a time sample each */
    for (int i = 0; i < f->info.frame_count; i++) {
        char code[32];
        text_from_float((float)(first + i), code);

        character_normals(f->info.character, frames, f->positions + (size_t)i * vertices * 3, scratch, normals);
        file_writer_print(w, "            %s: ", code);
        put_vectors(w, normals, vertices, 3, false);
        file_writer_print(w, ",\n");
    }

    file_writer_print(w, "        }\n");
}

cutis_result cache_write_usda(const cache_frames *f, const char *path, const cutis_allocator *allocator,
                              cutis_error *error)
{
    /* scratch for the normals of one frame */
    const cutis_character *c = f->info.character;
    arena memory = arena_create(allocator);
    float *scratch = ARENA_ARRAY(&memory, float, (size_t)c->point_count * 3);
    float *normals = ARENA_ARRAY(&memory, float, (size_t)c->vertex_count * 3);

    file_writer w;
    normal_frames frames;
    cutis_result result =
        memory.failed ? error_memory(error, "a cache") : normal_frames_build(&frames, c, &memory, error);
    if (result == CUTIS_OK) result = file_writer_open(&w, f->store, path, allocator, error);

    /* header: axis, unit and the range of time codes, counted in frames */
    if (result == CUTIS_OK) {
        char name[64], rate[32], first[32], last[32];
        double start = f->info.start * f->info.fps;

        prim_name(c->name, name);
        text_from_float((float)f->info.fps, rate);
        text_from_float((float)start, first);
        text_from_float((float)(start + f->info.frame_count - 1), last);
        file_writer_print(&w,
                          "#usda 1.0\n(\n    defaultPrim = \"%s\"\n    upAxis = \"Y\"\n    metersPerUnit = 1\n"
                          "    startTimeCode = %s\n    endTimeCode = %s\n    timeCodesPerSecond = %s\n"
                          "    framesPerSecond = %s\n)\n\ndef Xform \"%s\"\n{\n    def Mesh \"surface\"\n    {\n"
                          "        uniform token subdivisionScheme = \"none\"\n",
                          name, first, last, rate, rate, name);

        /* topology, which all frames share */
        put_integers(&w, "faceVertexCounts", NULL, c->face_count, c->face_first);
        put_integers(&w, "faceVertexIndices", c->corners, c->corner_count, NULL);

        /* rest positions as the default, then positions and normals of each frame */
        file_writer_print(&w, "        point3f[] points = ");
        put_vectors(&w, c->positions, (size_t)c->vertex_count, 3, false);
        file_writer_print(&w, "\n");
        put_samples(&w, f, "point3f[] points", f->positions, (size_t)c->vertex_count, 3, false);
        put_normals(&w, f, &frames, scratch, normals);

        /* texture coordinates by corner, with samples where they are animated */
        if (c->texcoords || f->texcoords) {
            file_writer_print(&w, "        texCoord2f[] primvars:st = ");
            put_vectors(&w, c->texcoords ? c->texcoords : f->texcoords, (size_t)c->corner_count, 2, true);
            file_writer_print(&w, " (interpolation = \"faceVarying\")\n");
        }
        if (f->texcoords)
            put_samples(&w, f, "texCoord2f[] primvars:st", f->texcoords, (size_t)c->corner_count, 2, true);

        file_writer_print(&w, "    }\n}\n");
        result = file_writer_finish(&w, error);
    }

    arena_destroy(&memory);
    return result;
}
