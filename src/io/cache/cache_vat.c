/*
 * cache_vat.c: frames as vertex-animation textures: 16-bit PNG of positions and normals, and JSON that describes them.
 *
 * Vertex i of frame f is texel (i mod width, f x rows + i / width). A position is low + texel x (high - low), with one
 * pair of bounds for the whole clip, so that its error is at most half of 1 / 65535 of the bounds. Normals are
 * texel x 2 - 1. The PNG is stored, not compressed: textures are compressed by the engine that imports them.
 */
#include <math.h>
#include <string.h>

#include "character/normals.h"
#include "io/cache/cache_file.h"

enum { WIDTH_LIMIT = 4096, HEIGHT_LIMIT = 16384 };

/* ---- PNG ---- */

typedef struct png_writer {
    file_writer *file;
    uint32_t crc, table[256];
    uint32_t a, b; /* Adler-32 of the image */
} png_writer;

static void png_put(png_writer *png, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++) png->crc = png->table[(png->crc ^ bytes[i]) & 255] ^ png->crc >> 8;
    file_writer_put(png->file, data, size);
}

static void png_chunk_begin(png_writer *png, const char *type, size_t size)
{
    uint8_t length[4];
    bytes_put_u32_big(length, (uint32_t)size);
    file_writer_put(png->file, length, 4);
    png->crc = 0xFFFFFFFFu;
    png_put(png, type, 4);
}

static void png_chunk_end(png_writer *png)
{
    uint8_t crc[4];
    bytes_put_u32_big(crc, png->crc ^ 0xFFFFFFFFu);
    file_writer_put(png->file, crc, 4);
}

/* Rows of 16-bit RGB, big-endian, each a chunk of stored blocks. */
static void png_start(png_writer *png, file_writer *file, int width, int height)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10};
    uint8_t head[13] = {[8] = 16, [9] = 2};
    *png = (png_writer){.file = file, .a = 1};

    /* the table of CRC-32, which ends every chunk */
    for (uint32_t i = 0; i < 256; i++) {
        png->table[i] = i;
        for (int k = 0; k < 8; k++) png->table[i] = png->table[i] >> 1 ^ (png->table[i] & 1 ? 0xEDB88320u : 0);
    }

    file_writer_put(file, signature, 8);
    bytes_put_u32_big(head, (uint32_t)width);
    bytes_put_u32_big(head + 4, (uint32_t)height);

    png_chunk_begin(png, "IHDR", 13);
    png_put(png, head, 13);
    png_chunk_end(png);
}

/* row: (1 + 6 x width) bytes, the first of which is the filter, 0. */
static void png_row(png_writer *png, const uint8_t *row, size_t size, bool first, bool last)
{
    uint8_t block[5] = {last, (uint8_t)(size & 255), (uint8_t)(size >> 8), (uint8_t)(~size & 255),
                        (uint8_t)(~size >> 8 & 255)};

    /* Adler-32 of the uncompressed bytes */
    for (size_t i = 0; i < size; i++) {
        png->a = (png->a + row[i]) % 65521;
        png->b = (png->b + png->a) % 65521;
    }

    /* a stored block of deflate for the row; the zlib header before the first, the sum behind the last */
    png_chunk_begin(png, "IDAT", (first ? 2 : 0) + 5 + size + (last ? 4 : 0));
    if (first) png_put(png, "\x78\x01", 2);
    png_put(png, block, 5);
    png_put(png, row, size);
    if (last) {
        uint8_t sum[4];
        bytes_put_u32_big(sum, png->b << 16 | png->a);
        png_put(png, sum, 4);
    }

    png_chunk_end(png);
}

static void png_end(png_writer *png)
{
    png_chunk_begin(png, "IEND", 0);
    png_chunk_end(png);
}

/* ---- textures ---- */

typedef struct vat {
    const cache_frames *frames;
    int width, rows; /* texels a row, rows a frame */
    double low[3], high[3];
    arena memory;
    uint8_t *row;
    float *scratch, *normals;
    normal_frames normal_frames;
} vat;

/* One texture: the frames' positions, or their normals. */
static cutis_result texture_write(vat *v, const char *path, bool normals, const cutis_allocator *allocator,
                                  cutis_error *error)
{
    /* a row: the filter byte, then texels of three 16-bit channels */
    const cache_frames *f = v->frames;
    int vertices = f->info.vertex_count, total = f->info.frame_count * v->rows;
    size_t size = 1 + 6 * (size_t)v->width;

    file_writer file;
    cutis_result result = file_writer_open(&file, f->store, path, allocator, error);
    if (result != CUTIS_OK) return result;

    png_writer png;
    png_start(&png, &file, v->width, total);

    /* a frame takes v->rows rows; normals are computed once, in its first */
    for (int row = 0; row < total; row++) {
        int frame = row / v->rows, first = row % v->rows * v->width;
        const float *positions = f->positions + (size_t)frame * (size_t)vertices * 3;
        if (normals && first == 0)
            character_normals(f->info.character, &v->normal_frames, positions, v->scratch, v->normals);

        /* filter 0; texels behind the last vertex stay black */
        memset(v->row, 0, size);
        for (int i = first; i < first + v->width && i < vertices; i++) {
            /* normals from [-1, 1], positions from the box of all frames; big-endian */
            for (int k = 0; k < 3; k++) {
                double x = normals ? (double)v->normals[3 * i + k] * 0.5 + 0.5
                                   : ((double)positions[3 * i + k] - v->low[k]) / (v->high[k] - v->low[k]);

                uint32_t value = (uint32_t)floor(CLAMP(x, 0, 1) * 65535 + 0.5);
                uint8_t *texel = v->row + 1 + 6 * (size_t)(i - first) + 2 * (size_t)k;
                texel[0] = (uint8_t)(value >> 8);
                texel[1] = (uint8_t)value;
            }
        }

        png_row(&png, v->row, size, row == 0, row + 1 == total);
    }

    png_end(&png);
    return file_writer_finish(&file, error);
}

static void put_vector(file_writer *file, const char *key, const double v[3])
{
    char text[3][32];
    for (int k = 0; k < 3; k++) text_from_float((float)v[k], text[k]);
    file_writer_print(file, "  \"%s\": [%s, %s, %s],\n", key, text[0], text[1], text[2]);
}

static cutis_result description_write(const vat *v, const char *path, const cutis_allocator *allocator,
                                      cutis_error *error)
{
    const cutis_cache_info *info = &v->frames->info;
    char fps[32], start[32];
    file_writer file;
    cutis_result result = file_writer_open(&file, v->frames->store, path, allocator, error);
    if (result != CUTIS_OK) return result;

    text_from_float((float)info->fps, fps);
    text_from_float((float)info->start, start);

    file_writer_print(&file,
                      "{\n  \"schema\": 1,\n  \"positions\": \"%s.png\",\n  \"normals\": \"%s.normal.png\",\n"
                      "  \"vertices\": %d,\n  \"frames\": %d,\n  \"fps\": %s,\n  \"start\": %s,\n  \"width\": %d,\n"
                      "  \"height\": %d,\n  \"rows_per_frame\": %d,\n",
                      path_base(path), path_base(path), info->vertex_count, info->frame_count, fps, start, v->width,
                      v->rows * info->frame_count, v->rows);

    put_vector(&file, "low", v->low);
    put_vector(&file, "high", v->high);
    file_writer_print(&file, "  \"space\": \"scene\"\n}\n");
    return file_writer_finish(&file, error);
}

cutis_result cache_write_vat(const cache_frames *f, const char *path, const cutis_allocator *allocator,
                             cutis_error *error)
{
    int vertices = f->info.vertex_count;
    vat v = {.frames = f, .width = MIN(vertices, WIDTH_LIMIT), .memory = arena_create(allocator)};

    v.rows = (vertices + v.width - 1) / v.width;
    if ((double)v.rows * f->info.frame_count > HEIGHT_LIMIT)
        return error_set(error, CUTIS_ERROR_UNSUPPORTED,
                         "cannot write '%s': %d frames of %d rows are more than the %d rows of a texture; use a lower "
                         "rate or another format",
                         path, f->info.frame_count, v.rows, HEIGHT_LIMIT);

    /* Bounds of everything, rounded to the floats that the description tells; never flat. */
    for (int k = 0; k < 3; k++) {
        v.low[k] = HUGE_VAL;
        v.high[k] = -HUGE_VAL;
    }

    for (size_t i = 0; i < (size_t)f->info.frame_count * (size_t)vertices * 3; i++) {
        v.low[i % 3] = MIN(v.low[i % 3], (double)f->positions[i]);
        v.high[i % 3] = MAX(v.high[i % 3], (double)f->positions[i]);
    }

    for (int k = 0; k < 3; k++)
        if (!(v.high[k] > v.low[k])) v.high[k] = v.low[k] + 1;

    v.row = ARENA_ARRAY(&v.memory, uint8_t, 1 + 6 * (size_t)v.width);
    v.scratch = ARENA_ARRAY(&v.memory, float, (size_t)f->info.character->point_count * 3);
    v.normals = ARENA_ARRAY(&v.memory, float, (size_t)vertices * 3);
    char *positions = arena_format(&v.memory, "%s.png", path),
         *normals = arena_format(&v.memory, "%s.normal.png", path);

    /* both textures and what tells how to read them */
    cutis_result result = v.memory.failed ? error_memory(error, "a cache") : CUTIS_OK;
    if (result == CUTIS_OK) result = normal_frames_build(&v.normal_frames, f->info.character, &v.memory, error);
    if (result == CUTIS_OK) result = texture_write(&v, positions, false, allocator, error);
    if (result == CUTIS_OK) result = texture_write(&v, normals, true, allocator, error);
    if (result == CUTIS_OK) result = description_write(&v, path, allocator, error);

    arena_destroy(&v.memory);
    return result;
}
