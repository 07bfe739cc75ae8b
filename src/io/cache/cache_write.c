/*
 * cache_write.c: positions of every vertex at every frame, written frame by frame. The target appears only
 * when it is whole.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "io/cache/cache_file.h"
#include "io/mesh/obj_file.h"

struct cutis_cache_writer {
    cutis_allocator allocator;
    arena memory;
    file_store *store; /* takes the files; NULL: the disk */
    cache_format format;
    cutis_cache_info info;
    int frame_count;     /* appended */
    file_writer file;    /* all but .obj */
    uint8_t *row;        /* (vertex_count x 12) bytes of a frame */
    char *path, *folder; /* .obj: the target and the temporary folder */
    corner_split split;
    cache_frames frames; /* .usda and .vat */
};

cache_format cache_format_of(const char *path)
{
    static const char *const endings[] = {".pc2", ".mdd", ".npy", ".obj", ".usda", ".vat"};
    for (int i = 0; i < COUNT_OF(endings); i++)
        if (path_ends(path, endings[i])) return (cache_format)i;
    return CACHE_UNKNOWN;
}

bool cutis_cache_known(const char *path) { return cache_format_of(path) != CACHE_UNKNOWN; }

int cache_frame_number(const char *name)
{
    if (strncmp(name, "frame_", 6) != 0) return -1;
    const char *cursor = name + 6, *end = name + strlen(name);
    long long number;
    if (cursor == end || *cursor < '0' || *cursor > '9' || !text_integer(&cursor, end, &number)) return -1;
    return strcmp(cursor, ".obj") == 0 && number < INT_MAX ? (int)number : -1;
}

/* ---- folders of .obj ---- */

static char *frame_path(cutis_cache_writer *writer, const char *folder, int frame)
{
    size_t length = strlen(folder) + 40;
    char *path = arena_push(&writer->memory, length, 1);
    if (path) snprintf(path, length, "%s/frame_%04d.obj", folder, frame);
    return path;
}

static cutis_result folder_start(cutis_cache_writer *writer, const char *path, cutis_error *error)
{
    /* the faces of the .obj frames are those of the character */
    char reason[128];
    const cutis_character *character = writer->info.character;

    if (!character || character->vertex_count != writer->info.vertex_count)
        return error_set(error, CUTIS_ERROR_ARGUMENT,
                         "cannot write '%s': a folder of .obj needs the character of the %d vertices", path,
                         writer->info.vertex_count);

    /* a file of that name is not replaced by a folder */
    system_file info;
    if (!writer->store && system_look(path, &info) && !info.folder)
        return error_set(
            error, CUTIS_ERROR_FILE,
            "cannot write '%s': a cache of .obj frames is a folder, but this is a file; choose another name", path);

    /* trailing slashes would put the temporary folder inside */
    writer->path = arena_string(&writer->memory, path);
    if (!writer->path || !corner_split_make(character, &writer->memory, &writer->split))
        return error_memory(error, "a cache");

    size_t length = strlen(path);
    while (length > 1 && writer->path[length - 1] == '/') writer->path[--length] = 0;

    /* a store in memory has no folders */
    if (writer->store) return CUTIS_OK;

    /* write into a temporary folder: a complete one takes its place at the end */
    int failure = EEXIST;
    for (int attempt = 0; attempt < 100 && failure == EEXIST; attempt++) {
        char *name = file_temporary_name(writer->path, attempt, &writer->allocator);
        char *folder = name ? arena_string(&writer->memory, name) : NULL;
        file_string_release(&writer->allocator, name);
        if (!folder) return error_memory(error, "a cache");
        failure = system_folder_create(folder) ? 0 : errno;
        if (failure == 0) writer->folder = folder;
    }

    if (failure)
        return error_set(error, CUTIS_ERROR_FILE, "cannot write '%s': %s", path, system_error_text(failure, reason));
    return CUTIS_OK;
}

static cutis_result folder_append(cutis_cache_writer *writer, const float *positions, cutis_error *error)
{
    char *path = frame_path(writer, writer->store ? writer->path : writer->folder, writer->frame_count);
    if (!path) return error_memory(error, "a cache");

    file_writer file;
    cutis_result result = file_writer_open(&file, writer->store, path, &writer->allocator, error);
    if (result != CUTIS_OK) return result;
    file.quick = true;

    /* times in a comment, for the reader */
    char start[32], fps[32];
    text_from_float((float)writer->info.start, start);
    text_from_float((float)writer->info.fps, fps);

    file_writer_print(&file, "# cutis start %s fps %s\n", start, fps);
    obj_write(&file, writer->info.character, positions, &writer->split);
    return file_writer_finish(&file, error);
}

static void folder_discard(cutis_cache_writer *writer)
{
    if (!writer->folder) return;
    for (int i = 0; i <= writer->frame_count; i++) {
        char *path = frame_path(writer, writer->folder, i);
        if (path) system_remove(path);
    }
    system_folder_remove(writer->folder);
    writer->folder = NULL;
}

/* Empty the folder that was replaced: frames go, whatever else was in it moves to the new one. */
static void folder_clear(cutis_cache_writer *writer, const char *old)
{
    system_listing listing;
    if (!system_listing_open(&listing, old)) return;

    /* frames are deleted; what else the folder held moves along */
    for (const char *name; (name = system_listing_next(&listing));) {
        system_file other;
        size_t length = strlen(old) + strlen(writer->path) + strlen(name) + 2;
        char *from = arena_push(&writer->memory, length, 1), *to = arena_push(&writer->memory, length, 1);

        if (!from || !to) break;
        snprintf(from, length, "%s/%s", old, name);
        snprintf(to, length, "%s/%s", writer->path, name);

        if (cache_frame_number(name) >= 0)
            system_remove(from);
        else if (!system_look(to, &other) && !system_rename(from, to))
            break;
    }

    system_listing_close(&listing);
    system_folder_remove(old); /* stays when something could not be moved */
}

static cutis_result folder_finish(cutis_cache_writer *writer, cutis_error *error)
{
    char reason[128];
    system_file info;
    char *old = NULL;

    /* an older cache is moved aside, under a name that is free */
    if (system_look(writer->path, &info)) {
        for (int attempt = 100; attempt < 200 && !old; attempt++) {
            char *name = file_temporary_name(writer->path, attempt, &writer->allocator);
            char *candidate = name ? arena_string(&writer->memory, name) : NULL;
            file_string_release(&writer->allocator, name);
            if (!candidate) return error_memory(error, "a cache");
            if (!system_look(candidate, &info)) old = candidate;
        }

        if (!old || !system_rename(writer->path, old))
            return error_set(error, CUTIS_ERROR_FILE, "cannot replace '%s': %s", writer->path,
                             system_error_text(errno, reason));
    }

    /* put the new one in its place; on failure the older one is put back */
    if (!system_rename(writer->folder, writer->path)) {
        int failure = errno;
        if (old && !system_rename(old, writer->path))
            return error_set(error, CUTIS_ERROR_FILE, "cannot write '%s'; its former contents are now in '%s'",
                             writer->path, old);
        return error_set(error, CUTIS_ERROR_FILE, "cannot write '%s': %s", writer->path,
                         system_error_text(failure, reason));
    }

    /* the older one is deleted last */
    writer->folder = NULL;
    if (old) folder_clear(writer, old);
    return CUTIS_OK;
}

/* ---- single files ---- */

static void header_pc2(cutis_cache_writer *writer)
{
    uint8_t head[32] = "POINTCACHE2";
    bytes_put_u32(head + 12, 1);
    bytes_put_u32(head + 16, (uint32_t)writer->info.vertex_count);
    bytes_put_u32(head + 20, bytes_from_float((float)(writer->info.start * writer->info.fps)));
    bytes_put_u32(head + 24, bytes_from_float(1));
    bytes_put_u32(head + 28, (uint32_t)writer->info.frame_count);
    file_writer_put(&writer->file, head, sizeof head);
}

static void header_mdd(cutis_cache_writer *writer)
{
    uint8_t word[8];
    bytes_put_u32_big(word, (uint32_t)writer->info.frame_count);
    bytes_put_u32_big(word + 4, (uint32_t)writer->info.vertex_count);
    file_writer_put(&writer->file, word, 8);
    for (int i = 0; i < writer->info.frame_count; i++) {
        bytes_put_u32_big(word, bytes_from_float((float)(writer->info.start + i / writer->info.fps)));
        file_writer_put(&writer->file, word, 4);
    }
}

static void header_npy(cutis_cache_writer *writer)
{
    /* Padded with spaces and ended by a newline, so that the data begin at a multiple of 64. */
    char head[192] = "\x93NUMPY\x01";
    int used =
        10 + snprintf(head + 10, sizeof head - 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, %d), }",
                      writer->info.frame_count, writer->info.vertex_count, writer->info.components);
    int total = (used + 1 + 63) / 64 * 64;
    memset(head + used, ' ', (size_t)(total - used));
    head[8] = (char)(total - 10); /* below 256 */
    head[total - 1] = '\n';
    file_writer_put(&writer->file, head, (size_t)total);
}

/* ---- formats that need all frames at once ---- */

static bool cache_collects(const cutis_cache_writer *writer)
{
    return writer->format == CACHE_USDA || writer->format == CACHE_VAT;
}

static size_t frame_floats(const cutis_cache_writer *writer) { return (size_t)writer->info.vertex_count * 3; }

static cutis_result frames_start(cutis_cache_writer *writer, const char *path, cutis_error *error)
{
    const cutis_character *character = writer->info.character;
    if (!character || character->vertex_count != writer->info.vertex_count)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "cannot write '%s': it needs the character of the %d vertices",
                         path, writer->info.vertex_count);

    /* Not from the arena, whose blocks are zeroed and kept apart for speed. */
    writer->path = arena_string(&writer->memory, path);
    writer->frames.info = writer->info;
    writer->frames.store = writer->store;
    writer->frames.positions =
        memory_allocate(&writer->allocator, (size_t)writer->info.frame_count * frame_floats(writer), sizeof(float));

    return writer->path && writer->frames.positions ? CUTIS_OK : error_memory(error, "a cache");
}

static void frames_free(cutis_cache_writer *writer)
{
    size_t frames = (size_t)writer->info.frame_count;
    memory_release(&writer->allocator, writer->frames.positions, frames * frame_floats(writer), sizeof(float));
    if (writer->frames.texcoords)
        memory_release(&writer->allocator, writer->frames.texcoords,
                       frames * (size_t)writer->info.character->corner_count * 2, sizeof(float));
}

cutis_result cutis_cache_append_texcoords(cutis_cache_writer *writer, const float *texcoords, cutis_error *error)
{
    if (writer->format != CACHE_USDA) return CUTIS_OK;
    if (writer->frame_count == 0)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "texture coordinates belong to the frame appended before");
    size_t floats = (size_t)writer->info.character->corner_count * 2;
    if (!writer->frames.texcoords)
        writer->frames.texcoords =
            memory_allocate(&writer->allocator, (size_t)writer->info.frame_count * floats, sizeof(float));
    if (!writer->frames.texcoords) return error_memory(error, "a cache");
    memcpy(writer->frames.texcoords + (size_t)(writer->frame_count - 1) * floats, texcoords, floats * sizeof(float));
    return CUTIS_OK;
}

/* ---- the interface ---- */

static cutis_result writer_start(cutis_cache_writer *writer, const char *path, cutis_error *error)
{
    if (writer->format == CACHE_OBJ) return folder_start(writer, path, error);
    if (cache_collects(writer)) return frames_start(writer, path, error);
    writer->row =
        memory_allocate(&writer->allocator, (size_t)writer->info.vertex_count, 4 * (size_t)writer->info.components);
    if (!writer->row) return error_memory(error, "a cache");
    cutis_result result = file_writer_open(&writer->file, writer->store, path, &writer->allocator, error);
    if (result != CUTIS_OK) return result;
    void (*const headers[])(cutis_cache_writer *) = {header_pc2, header_mdd, header_npy};
    headers[writer->format](writer);
    return CUTIS_OK;
}

static void writer_free(cutis_cache_writer *writer)
{
    memory_release(&writer->allocator, writer->row, (size_t)writer->info.vertex_count,
                   4 * (size_t)writer->info.components);
    frames_free(writer);
    arena_destroy(&writer->memory);
    cutis_allocator allocator = writer->allocator;
    memory_release(&allocator, writer, 1, sizeof *writer);
}

cutis_result cache_create_in(file_store *store, const char *path, const cutis_cache_info *info,
                             const cutis_allocator *allocator, cutis_cache_writer **writer, cutis_error *error)
{
    /* the ending names the format */
    *writer = NULL;
    cache_format format = cache_format_of(path);
    if (format == CACHE_UNKNOWN)
        return error_set(error, CUTIS_ERROR_ARGUMENT,
                         "'%.300s' has no extension of a cache: .pc2, .mdd, .npy, .usda, .vat or .obj (a folder)",
                         path);

    /* counts and times that a file can hold */
    if (info->vertex_count < 1 || info->frame_count < 1 || !(info->fps > 0) || !isfinite(info->fps) ||
        !isfinite(info->start))
        return error_set(error, CUTIS_ERROR_ARGUMENT,
                         "a cache needs at least one vertex and one frame and a finite rate, not %d, %d and %g",
                         info->vertex_count, info->frame_count, info->fps);

    /* only .npy stores other channels than positions */
    if (info->components < 0 || (info->components != 0 && info->components != 3 && format != CACHE_NPY))
        return error_set(error, CUTIS_ERROR_ARGUMENT,
                         "'%.300s' holds positions, 3 numbers per vertex, not %d; .npy takes any number", path,
                         info->components);

    /* the writer keeps a copy of the info; 0 components stand for 3 */
    cutis_cache_writer *created = memory_allocate(allocator, 1, sizeof *created);
    if (!created) return error_memory(error, "a cache");

    created->allocator = memory_resolve(allocator);
    created->memory = arena_create(allocator);
    created->store = store;
    created->format = format;

    created->info = *info;
    if (created->info.components == 0) created->info.components = 3;

    /* open the file and write its header; a writer that cannot start is freed */
    cutis_result result = writer_start(created, path, error);
    if (result != CUTIS_OK)
        writer_free(created);
    else
        *writer = created;
    return result;
}

cutis_result cutis_cache_create(const char *path, const cutis_cache_info *info, const cutis_allocator *allocator,
                                cutis_cache_writer **writer, cutis_error *error)
{
    return cache_create_in(NULL, path, info, allocator, writer, error);
}

cutis_result cutis_cache_append(cutis_cache_writer *writer, const float *positions, cutis_error *error)
{
    /* headers state the number of frames, so no more may follow */
    if (writer->frame_count == writer->info.frame_count)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "the cache was started with %d frames and is full",
                         writer->info.frame_count);

    /* a file a frame */
    if (writer->format == CACHE_OBJ) {
        cutis_result result = folder_append(writer, positions, error);
        if (result == CUTIS_OK) writer->frame_count++;
        return result;
    }

    /* formats that are written as a whole collect their frames */
    size_t count = (size_t)writer->info.vertex_count * (size_t)writer->info.components;
    if (cache_collects(writer)) {
        memcpy(writer->frames.positions + (size_t)writer->frame_count++ * count, positions, count * sizeof(float));
        return CUTIS_OK;
    }

    /* a stream of floats: big-endian in .mdd, little-endian elsewhere */
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = bytes_from_float(positions[i]);
        if (writer->format == CACHE_MDD)
            bytes_put_u32_big(writer->row + 4 * i, bits);
        else
            bytes_put_u32(writer->row + 4 * i, bits);
    }

    file_writer_put(&writer->file, writer->row, count * 4);
    writer->frame_count++;

    /* a failed write is reported now, not only at the end */
    if (writer->file.failed) {
        char reason[128];
        return error_set(error, CUTIS_ERROR_FILE, "cannot write '%s': %s", writer->file.path,
                         system_error_text(writer->file.failure, reason));
    }
    return CUTIS_OK;
}

void cutis_cache_discard(cutis_cache_writer *writer)
{
    if (!writer) return;
    if (writer->format == CACHE_OBJ)
        folder_discard(writer);
    else if (!cache_collects(writer))
        file_writer_discard(&writer->file);
    writer_free(writer);
}

cutis_result cutis_cache_finish(cutis_cache_writer *writer, cutis_error *error)
{
    /* fewer frames than were announced */
    if (writer->frame_count != writer->info.frame_count) {
        cutis_result result =
            error_set(error, CUTIS_ERROR_ARGUMENT, "the cache was started with %d frames but received %d",
                      writer->info.frame_count, writer->frame_count);
        cutis_cache_discard(writer);
        return result;
    }

    /* a folder takes its place */
    if (writer->format == CACHE_OBJ) {
        cutis_result result = writer->store ? CUTIS_OK : folder_finish(writer, error);
        folder_discard(writer); /* what could not be put in place */
        writer_free(writer);
        return result;
    }

    /* formats that are written as a whole, or the end of a stream */
    cutis_result result =
        writer->format == CACHE_USDA  ? cache_write_usda(&writer->frames, writer->path, &writer->allocator, error)
        : writer->format == CACHE_VAT ? cache_write_vat(&writer->frames, writer->path, &writer->allocator, error)
                                      : file_writer_finish(&writer->file, error);

    writer_free(writer);
    return result;
}
