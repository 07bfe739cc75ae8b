/*
 * obj_materials.c: the library of materials (.mtl) beside an .obj: base colours and their images.
 */
#include <string.h>

#include "io/image_find.h"
#include "io/mesh/obj_file.h"

/* The rest of a line, without the white space around it, in the arena. */
static char *rest_of(const char *at, const char *end, arena *memory)
{
    while (at < end && (unsigned char)*at <= 32) at++;
    while (end > at && (unsigned char)end[-1] <= 32) end--;
    return arena_format(memory, "%.*s", (int)(end - at), at);
}

/* The name behind options such as -bm 0.5 or -o 1 1 1: from the last word that starts the name of a file. */
static const char *image_name(char *text)
{
    if (text[0] != '-') return text;
    char *last = strrchr(text, ' ');
    return last ? last + 1 : text;
}

static void line_read(const char *at, const char *end, const char *path, bool is_linear, arena *memory,
                      warning_list *warnings, cutis_material *material)
{
    size_t length = 0;
    while (at + length < end && (unsigned char)at[length] > 32) length++;

    if (length == 2 && memcmp(at, "Kd", 2) == 0) {
        at += 2;
        for (int k = 0; k < 3; k++) {
            double value;
            while (at < end && (unsigned char)*at <= 32) at++;
            if (!text_number(&at, end, &value)) break;
            if (!material->image) material->color[k] = color_read(value, is_linear);
        }
    } else if (length == 6 && memcmp(at, "map_Kd", 6) == 0 && !material->image) {
        char *name = rest_of(at + 6, end, memory);
        if (!name) return;
        image_find(path, image_name(name), memory, warnings, material);
        for (int k = 0; k < 3; k++) material->color[k] = material->image ? 1 : 0.8f;
    } else if (length == 5 && memcmp(at, "map_d", 5) == 0) {
        material->cutout = true;
    }
}

/* Visit the lines of a library; with materials NULL only count. */
static void lines_visit(const file_data *file, const char *path, arena *memory, warning_list *warnings,
                        cutis_material *materials, int *count)
{
    const char *at = (const char *)file->bytes, *end = at + file->size;
    bool is_linear = written_by_blender(at, at + MIN(file->size, (size_t)200)); /* in its first comment */

    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end) line_end = end;
        while (at < line_end && (unsigned char)*at <= 32) at++;

        /* counted in the first pass, filled in the second */
        if (line_end - at > 6 && memcmp(at, "newmtl", 6) == 0) {
            if (materials) {
                char *name = rest_of(at + 6, line_end, memory);
                materials[*count] = (cutis_material){.name = name ? name : "", .color = {0.8f, 0.8f, 0.8f, 1}};
            }
            (*count)++;
        } else if (materials && *count > 0) {
            line_read(at, line_end, path, is_linear, memory, warnings, &materials[*count - 1]);
        }

        at = line_end + (line_end < end);
    }
}

const cutis_material *obj_materials_read(const char *path, const char *library, arena *memory, warning_list *warnings,
                                         int *count)
{
    file_data file = {0};
    *count = 0;

    /* beside the file, never elsewhere */
    char *full = arena_format(memory, "%.*s%s", (int)(path_base(path) - path), path, library);
    if (!full || library[0] == '/' || file_read(full, 0, NULL, &file, NULL) != CUTIS_OK) {
        warning_add(warnings, "the material library '%.80s' is missing", library);
        return NULL;
    }

    /* count, then fill */
    lines_visit(&file, path, memory, warnings, NULL, count);
    cutis_material *materials = ARENA_ARRAY(memory, cutis_material, *count + 1);
    *count = 0;
    if (materials) lines_visit(&file, path, memory, warnings, materials, count);

    /* a cutout needs an image */
    for (int i = 0; i < *count; i++)
        if (!materials[i].image) materials[i].cutout = false;

    file_release(&file);
    return materials;
}
