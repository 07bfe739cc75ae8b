/*
 * cache_read.c: caches in any of the formats of cache_file.h. Every count is checked against the length of
 * the file before memory is taken for it.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "io/cache/cache_file.h"
#include "io/mesh/obj_file.h"

/* A cache together with its memory. */
typedef struct cache_object {
    cutis_cache cache; /* first, so that the pointer is the same */
    cutis_allocator allocator;
    size_t float_count;
    arena memory; /* of the props */
} cache_object;

static cutis_result cache_error(cutis_error *error, const char *name, const char *sentence)
{
    return error_set(error, CUTIS_ERROR_FORMAT, "%.200s: %s", path_base(name), sentence);
}

double cache_rate_round(double fps)
{
    if (!(fps > 0) || !isfinite(fps)) return 30;
    double near = floor(fps + 0.5);
    return near >= 1 && fabs(fps - near) < 1e-4 * near ? near : fps;
}

cutis_result cache_make(size_t frames, size_t vertices, const cutis_allocator *allocator, cutis_cache **cache,
                        cutis_error *error)
{
    cache_object *object = memory_allocate(allocator, 1, sizeof *object);
    if (!object) return error_memory(error, "a cache");

    /* the cache itself and its floats */
    object->allocator = memory_resolve(allocator);
    object->float_count = frames * vertices * 3;
    object->memory = arena_create(allocator);
    object->cache = (cutis_cache){.vertex_count = (int)vertices, .frame_count = (int)frames, .fps = 30};
    object->cache.positions = memory_allocate(allocator, object->float_count, sizeof(float));

    *cache = &object->cache;
    if (object->cache.positions) return CUTIS_OK;

    cutis_cache_destroy(*cache);
    *cache = NULL;
    return error_memory(error, "a cache");
}

/* Whether frames x vertices positions of `width` bytes a number fit into `size` bytes; says so when not. */
static cutis_result counts_check(const char *name, uint64_t frames, uint64_t vertices, uint64_t width, size_t size,
                                 cutis_error *error)
{
    if (frames == 0 || vertices == 0 || frames > INT_MAX || vertices > INT_MAX / 16)
        return error_set(error, CUTIS_ERROR_FORMAT, "%.200s: %llu frames of %llu vertices are not a usable cache",
                         path_base(name), (unsigned long long)frames, (unsigned long long)vertices);
    uint64_t frame_bytes = vertices * 3 * width, whole = size / frame_bytes;
    if (whole < frames)
        return error_set(
            error, CUTIS_ERROR_FORMAT, "%.200s: the file is cut short: it holds %llu of %llu frames of %llu vertices",
            path_base(name), (unsigned long long)whole, (unsigned long long)frames, (unsigned long long)vertices);
    return CUTIS_OK;
}

static cutis_result pc2_read(const uint8_t *data, size_t size, const char *name, const cutis_allocator *allocator,
                             cutis_cache **cache, cutis_error *error)
{
    if (size < 32 || memcmp(data, "POINTCACHE2", 12) != 0)
        return cache_error(error, name, "it does not start like a .pc2 file");

    /* counts, which the size of the file must bear out */
    uint32_t vertices = bytes_u32(data + 16), frames = bytes_u32(data + 28);
    cutis_result result = counts_check(name, frames, vertices, 4, size - 32, error);
    if (result == CUTIS_OK) result = cache_make(frames, vertices, allocator, cache, error);
    if (result != CUTIS_OK) return result;

    /* positions, then the times */
    float *positions = (float *)(*cache)->positions;
    for (size_t i = 0; i < (size_t)frames * vertices * 3; i++) positions[i] = bytes_float(bytes_u32(data + 32 + 4 * i));
    float start = bytes_float(bytes_u32(data + 20)), rate = bytes_float(bytes_u32(data + 24));

    /* In frames. A rate below half a frame can only be meant in seconds, which some programs write. */
    if (rate > 0 && rate < 0.5f) {
        (*cache)->fps = cache_rate_round(1 / (double)rate);
        (*cache)->start = isfinite(start) ? (double)start : 0;
    } else {
        (*cache)->start = isfinite(start) ? (double)start / (*cache)->fps : 0;
    }
    return CUTIS_OK;
}

static cutis_result mdd_read(const uint8_t *data, size_t size, const char *name, const cutis_allocator *allocator,
                             cutis_cache **cache, cutis_error *error)
{
    if (size < 8) return cache_error(error, name, "it is too short to be a .mdd file");

    /* counts, which the size of the file must bear out */
    uint32_t frames = bytes_u32_big(data), vertices = bytes_u32_big(data + 4);
    if (frames > (size - 8) / 4) return cache_error(error, name, "the file is cut short: its frame times are missing");
    const uint8_t *times = data + 8, *body = times + 4 * (size_t)frames;

    cutis_result result = counts_check(name, frames, vertices, 4, size - 8 - 4 * (size_t)frames, error);
    if (result == CUTIS_OK) result = cache_make(frames, vertices, allocator, cache, error);
    if (result != CUTIS_OK) return result;

    float *positions = (float *)(*cache)->positions;
    for (size_t i = 0; i < (size_t)frames * vertices * 3; i++) positions[i] = bytes_float(bytes_u32_big(body + 4 * i));

    /* start and rate from the times of the first and the last frame */
    double first = (double)bytes_float(bytes_u32_big(times));
    double last = (double)bytes_float(bytes_u32_big(times + 4 * (size_t)(frames - 1)));
    (*cache)->start = isfinite(first) ? first : 0;
    if (frames > 1) (*cache)->fps = cache_rate_round((frames - 1) / (last - first));
    return CUTIS_OK;
}

/* The text behind 'key': in the header of a .npy file; NULL when it is not there. */
static const char *npy_find(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    at = at ? strchr(at + strlen(key), ':') : NULL;
    return at ? at + 1 + strspn(at + 1, " ") : NULL;
}

static cutis_result npy_read(const uint8_t *data, size_t size, const char *name, const cutis_allocator *allocator,
                             cutis_cache **cache, cutis_error *error)
{
    /* magic and length of the header: 16 bits in version 1, 32 since */
    if (size < 12 || memcmp(data, "\x93NUMPY", 6) != 0)
        return cache_error(error, name, "it does not start like a .npy file");

    size_t at = data[6] == 1 ? 10 : 12, length = data[6] == 1 ? bytes_u16(data + 8) : bytes_u32(data + 8);
    char header[512];
    if (length > size - at || length >= sizeof header)
        return cache_error(error, name, "the header of the .npy file is damaged");

    /* the header is a Python dictionary: type, order and shape of the array */
    memcpy(header, data + at, length);
    header[length] = 0;
    const char *type = npy_find(header, "'descr'"), *order = npy_find(header, "'fortran_order'"),
               *shape = npy_find(header, "'shape'");

    bool wide = type && strncmp(type, "'<f8'", 5) == 0;
    if (!type || (!wide && strncmp(type, "'<f4'", 5) != 0) || !order || strncmp(order, "False", 5) != 0)
        return cache_error(error, name,
                           "its numbers are not float32 or float64 in C order; save it with astype('float32')");

    /* shape (frames, vertices, 3), spaces allowed */
    long long counts[3] = {0};
    const char *end = header + length;
    if (shape && *shape == '(') shape++;
    for (int i = 0; shape && i < 3; i++) {
        while (*shape == ' ') shape++;
        if (!text_integer(&shape, end, &counts[i])) shape = NULL;
        if (shape && i < 2) shape = *shape == ',' ? shape + 1 : NULL;
    }

    if (!shape || (*shape != ')' && *shape != ',') || counts[2] != 3 || counts[0] < 0 || counts[1] < 0)
        return cache_error(error, name, "its shape is not (frames, vertices, 3)");

    /* the counts must agree with the size of the file before memory is taken for them */
    const uint8_t *body = data + at + length;
    cutis_result result =
        counts_check(name, (uint64_t)counts[0], (uint64_t)counts[1], wide ? 8 : 4, size - at - length, error);
    if (result == CUTIS_OK) result = cache_make((size_t)counts[0], (size_t)counts[1], allocator, cache, error);
    if (result != CUTIS_OK) return result;

    /* float64 is narrowed */
    float *positions = (float *)(*cache)->positions;
    for (size_t i = 0; i < (size_t)counts[0] * (size_t)counts[1] * 3; i++) {
        if (wide) {
            uint64_t bits = (uint64_t)bytes_u32(body + 8 * i) | (uint64_t)bytes_u32(body + 8 * i + 4) << 32;
            double value;
            memcpy(&value, &bits, 8);
            positions[i] = (float)value;
        } else {
            positions[i] = bytes_float(bytes_u32(body + 4 * i));
        }
    }
    return CUTIS_OK;
}

cutis_result cache_read_memory(const void *data, size_t size, const char *name, const cutis_allocator *allocator,
                               cutis_cache **cache, cutis_error *error)
{
    *cache = NULL;
    switch (cache_format_of(name)) {
    case CACHE_PC2:
        return pc2_read(data, size, name, allocator, cache, error);

    case CACHE_MDD:
        return mdd_read(data, size, name, allocator, cache, error);
    case CACHE_NPY:
        return npy_read(data, size, name, allocator, cache, error);
    default:
        return error_set(
            error, CUTIS_ERROR_ARGUMENT,
            "'%.300s' has no extension of a cache that can be read: .glb, .pc2, .mdd, .npy or .obj (a folder)", name);
    }
}

/* ---- folders of .obj ---- */

/* Start and rate from the comment that cutis puts on top of each frame. */
static void comment_read(const file_data *file, cutis_cache *cache)
{
    static const char opening[] = "# cutis start ";
    const char *cursor = (const char *)file->bytes, *end = cursor + file->size;
    double start, fps;
    if (file->size < sizeof opening || strncmp(cursor, opening, sizeof opening - 1) != 0) return;
    cursor += sizeof opening - 1;
    if (!text_number(&cursor, end, &start) || end - cursor < 6 || strncmp(cursor, " fps ", 5) != 0) return;
    cursor += 5;
    if (!text_number(&cursor, end, &fps) || !(fps > 0)) return;
    cache->start = start;
    cache->fps = fps;
}

static cutis_result frame_read(const char *folder, int frame, int frame_count, arena *memory,
                               const cutis_allocator *allocator, cutis_cache **cache, cutis_error *error)
{
    /* load the frame's file */
    size_t length = strlen(folder) + 40;
    char *path = arena_push(memory, length, 1);
    if (!path) return error_memory(error, "a cache");
    snprintf(path, length, "%s/frame_%04d.obj", folder, frame);

    file_data file;
    cutis_result result = file_read(path, 0, allocator, &file, error);
    if (result != CUTIS_OK) return result;

    /* allocate with the first frame; a comment in it holds start and rate */
    int count = 0;
    if (!*cache) { /* the first frame decides the number of vertices */
        result = obj_positions_read((const char *)file.bytes, file.size, path, 0, NULL, &count, error);
        if (result == CUTIS_OK && count == 0) result = cache_error(error, path, "it holds no vertices");
        if (result == CUTIS_OK) result = cache_make((size_t)frame_count, (size_t)count, allocator, cache, error);
        if (result == CUTIS_OK) comment_read(&file, *cache);
    }

    /* positions go straight into the cache; every frame must have as many vertices */
    if (result == CUTIS_OK) {
        int expected = (*cache)->vertex_count;
        float *positions = (float *)(*cache)->positions + (size_t)frame * (size_t)expected * 3;
        result = obj_positions_read((const char *)file.bytes, file.size, path, expected, positions, &count, error);
        if (result == CUTIS_OK && count != expected)
            result = error_set(error, CUTIS_ERROR_FORMAT, "%.300s: has %d vertices, the frames before it have %d", path,
                               count, expected);
    }

    file_release(&file);
    return result;
}

static cutis_result folder_read(const char *folder, const cutis_allocator *allocator, cutis_cache **cache,
                                cutis_error *error)
{
    char reason[128];
    system_listing listing;

    if (!system_listing_open(&listing, folder))
        return error_set(error, CUTIS_ERROR_FILE, "cannot open the folder '%s': %s", folder,
                         system_error_text(errno, reason));

    /* Frames are numbered from 0 without a gap, so the largest number tells how many there are. */
    int count = 0, largest = -1;
    for (const char *name; (name = system_listing_next(&listing));) {
        int number = cache_frame_number(name);
        if (number < 0) continue;
        count++;
        largest = MAX(largest, number);
    }
    system_listing_close(&listing);

    /* a gap tells that frames are missing */
    if (count == 0) return error_set(error, CUTIS_ERROR_FORMAT, "'%s' holds no frame_0000.obj", folder);
    if (largest != count - 1)
        return error_set(error, CUTIS_ERROR_FORMAT, "'%s' holds %d frames, but the last one is number %d", folder,
                         count, largest);

    arena memory = arena_create(allocator);
    cutis_result result = CUTIS_OK;
    for (int i = 0; i < count && result == CUTIS_OK; i++)
        result = frame_read(folder, i, count, &memory, allocator, cache, error);
    arena_destroy(&memory);

    if (result != CUTIS_OK) {
        cutis_cache_destroy(*cache);
        *cache = NULL;
    }

    return result;
}

/* ---- the interface ---- */

cutis_result cutis_cache_load(const char *path, const cutis_allocator *allocator, cutis_cache **cache,
                              cutis_error *error)
{
    *cache = NULL;
    if (path_is_gltf(path)) return cutis_cache_play(path, NULL, 0, 0, allocator, cache, error);

    cache_format format = cache_format_of(path);
    if (format == CACHE_UNKNOWN) return cache_read_memory(NULL, 0, path, allocator, cache, error);
    if (format == CACHE_OBJ) return folder_read(path, allocator, cache, error);

    file_data file;
    cutis_result result = file_read(path, 0, allocator, &file, error);
    if (result != CUTIS_OK) return result;

    result = cache_read_memory(file.bytes, file.size, path, allocator, cache, error);
    file_release(&file);
    return result;
}

void cutis_cache_destroy(cutis_cache *cache)
{
    if (!cache) return;
    cache_object *object = (cache_object *)cache;
    cutis_allocator allocator = object->allocator;
    memory_release(&allocator, (void *)cache->positions, object->float_count, sizeof(float));
    arena_destroy(&object->memory);
    memory_release(&allocator, object, 1, sizeof *object);
}

arena *cache_memory(cutis_cache *cache) { return &((cache_object *)cache)->memory; }
