/*
 * image_find.c: images of materials, looked for where exporters put them. PNG and JPEG are kept, TGA (Truevision, 1989)
 * becomes PNG.
 */
#include "io/image_find.h"

#include <string.h>

#include "math/math3.h"

#include "io/png_encode.h"

enum { IMAGE_LIMIT = 1 << 28 };

/* glTF knows PNG and JPEG. */
static bool image_known(const uint8_t *bytes, size_t size)
{
    static const uint8_t png[8] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10}, jpeg[3] = {0xff, 0xd8, 0xff};
    return (size > 8 && memcmp(bytes, png, 8) == 0) || (size > 3 && memcmp(bytes, jpeg, 3) == 0);
}

/* ---- TGA ---- */

typedef struct tga_reader {
    const uint8_t *at, *end, *palette;
    int width, height, depth, palette_first, palette_count, palette_depth;
    bool packed, mapped, grey, from_top;
} tga_reader;

static bool tga_open(tga_reader *t, const uint8_t *bytes, size_t size)
{
    /* header of 18 bytes */
    if (size < 18) return false;
    int kind = bytes[2];
    *t = (tga_reader){.width = (int)bytes_u16(bytes + 12),
                      .height = (int)bytes_u16(bytes + 14),
                      .depth = bytes[16],
                      .palette_first = (int)bytes_u16(bytes + 3),
                      .palette_count = bytes[1] ? (int)bytes_u16(bytes + 5) : 0,
                      .palette_depth = bytes[7],
                      .packed = kind >= 9,
                      .mapped = (kind & 7) == 1,
                      .grey = (kind & 7) == 3,
                      .from_top = bytes[17] & 0x20,
                      .end = bytes + size};

    /* true colour, grey or palette, of 8 bits a channel */
    bool known = kind == 1 || kind == 2 || kind == 3 || kind == 9 || kind == 10 || kind == 11;
    int color_depth = t->mapped ? t->palette_depth : t->depth;
    bool deep = t->grey ? t->depth == 8 : color_depth == 24 || color_depth == 32;
    if (!known || !deep || bytes[1] > 1 || (t->mapped && t->depth != 8) || t->width == 0 || t->height == 0)
        return false;
    if (bytes[17] & 0x10) return false; /* from right to left: nobody writes it */

    /* palette and pixels follow the identification text */
    size_t head = 18 + (size_t)bytes[0], palette = (size_t)t->palette_count * (size_t)t->palette_depth / 8;
    if (head + palette > size) return false;
    t->palette = bytes + head;
    t->at = bytes + head + palette;
    return true;
}

/* One pixel of the file as red, green, blue, opacity. */
static bool tga_pixel(tga_reader *t, uint8_t out[4])
{
    size_t step = (size_t)t->depth / 8, depth = step;

    const uint8_t *p = t->at;
    if ((size_t)(t->end - t->at) < step) return false;
    t->at += step;

    if (t->mapped) {
        int index = p[0] - t->palette_first;
        if (index < 0 || index >= t->palette_count) return false;
        depth = (size_t)t->palette_depth / 8;
        p = t->palette + (size_t)index * depth;
    }

    /* stored as blue, green, red */
    out[0] = t->grey ? p[0] : p[2];
    out[1] = t->grey ? p[0] : p[1];
    out[2] = p[0];
    out[3] = depth == 4 ? p[3] : 255;
    return true;
}

static uint8_t *tga_decode(const void *bytes, size_t size, arena *memory, int *width, int *height, int *channels)
{
    tga_reader t;
    if (!tga_open(&t, bytes, size)) return NULL;

    /* a damaged size must not take memory that the file cannot fill */
    size_t count = (size_t)t.width * (size_t)t.height, at = 0;
    if (count > 255 * size + 255) return NULL; /* a run of 128 takes two bytes at least */

    /* three channels, or four with alpha */
    *channels = (t.mapped ? t.palette_depth : t.depth) == 32 ? 4 : 3;
    uint8_t *pixels = ARENA_ARRAY(memory, uint8_t, count * (size_t)*channels), pixel[4];
    while (pixels && at < count) {
        /* a run repeats one pixel; without packing all are one run of different ones */
        size_t run = count;
        bool repeated = false;
        if (t.packed) {
            if (t.at == t.end) return NULL;
            repeated = *t.at & 0x80;
            run = (size_t)(*t.at++ & 0x7f) + 1;
        }

        /* rows run from the bottom up, unless the header says otherwise */
        for (size_t i = 0; i < run && at < count; i++, at++) {
            if ((i == 0 || !repeated) && !tga_pixel(&t, pixel)) return NULL;
            size_t x = at % (size_t)t.width, y = at / (size_t)t.width;
            if (!t.from_top) y = (size_t)t.height - 1 - y;
            memcpy(pixels + (y * (size_t)t.width + x) * (size_t)*channels, pixel, (size_t)*channels);
        }
    }

    *width = t.width;
    *height = t.height;
    return pixels;
}

bool image_take(const void *bytes, size_t size, arena *memory, cutis_material *material)
{
    int width, height, channels;
    if (size > IMAGE_LIMIT) return false;

    /* TGA becomes PNG */
    if (!image_known(bytes, size)) {
        uint8_t *pixels = tga_decode(bytes, size, memory, &width, &height, &channels);
        if (!pixels) return false;
        material->image = png_encode(pixels, width, height, channels, memory, &material->image_size);
        return material->image != NULL;
    }

    /* PNG and JPEG stay as they are */
    material->image = arena_copy(memory, bytes, size, 1);
    material->image_size = material->image ? size : 0;
    return material->image != NULL;
}

/* Read FOLDER NAME. *found: there is such a file. */
static bool image_try(const char *path, const char *folder, const char *name, arena *memory, cutis_material *material,
                      bool *found)
{
    file_data file = {0};
    char *full = arena_format(memory, "%.*s%s%s", (int)(path_base(path) - path), path, folder, name);
    if (!full || file_read(full, IMAGE_LIMIT, NULL, &file, NULL) != CUTIS_OK) return false;
    *found = true;
    bool taken = image_take(file.bytes, file.size, memory, material);
    file_release(&file);
    return taken;
}

void image_find(const char *path, const char *name, arena *memory, warning_list *warnings, cutis_material *material)
{
    static const char *const folders[] = {"",        "textures/", "Textures/", "texture/",     "Texture/",
                                          "images/", "maps/",     "tex/",      "../textures/", "../Textures/"};
    char *own = arena_string(memory, name), *stem = path_stem(memory, path);

    if (!own || !stem || !*name) return;
    for (char *c = own; *c; c++)
        if (*c == '\\') *c = '/';
    const char *base = strrchr(own, '/') ? strrchr(own, '/') + 1 : own;

    bool found = false, relative = own[0] != '/' && strchr(own, ':') == NULL;
    if (!*base || strcmp(base, ".") == 0) {
        warning_add(warnings, "an image of material '%.60s' has no file name; embed it when you export the file",
                    material->name);
        return;
    }

    /* as it stands, then by its base name */
    if (relative && image_try(path, "", own, memory, material, &found)) return;
    char *beside = arena_format(memory, "%s.fbm/", stem);
    if (beside && image_try(path, beside, base, memory, material, &found)) return;
    for (int i = 0; i < COUNT_OF(folders); i++)
        if (image_try(path, folders[i], base, memory, material, &found)) return;

    /* why there is none */
    if (found)
        warning_add(warnings, "the image '%.80s' of material '%.60s' is neither PNG, JPEG nor TGA and is ignored", base,
                    material->name);
    else
        warning_add(warnings, "the image '%.80s' of material '%.60s' is missing", base, material->name);
}

float color_read(double value, bool is_linear)
{
    value = value > 0 ? MIN(value, 1.0) : 0; /* not a number: 0 */
    if (is_linear) return (float)value;
    return (float)(value <= 0.04045 ? value / 12.92 : det_pow((value + 0.055) / 1.055, 2.4));
}

bool written_by_blender(const char *text, const char *end)
{
    static const char name[] = "Blender";
    for (; text && end - text >= (ptrdiff_t)(sizeof name - 1); text++)
        if (memcmp(text, name, sizeof name - 1) == 0) return true;
    return false;
}
