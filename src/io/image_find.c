/*
 * image_find.c: images of materials, looked for where exporters put them.
 */
#include "io/image_find.h"

#include <string.h>

enum { IMAGE_LIMIT = 1 << 28 };

/* glTF knows PNG and JPEG. */
static bool image_known(const uint8_t *bytes, size_t size)
{
    static const uint8_t png[8] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10}, jpeg[3] = {0xff, 0xd8, 0xff};
    return (size > 8 && memcmp(bytes, png, 8) == 0) || (size > 3 && memcmp(bytes, jpeg, 3) == 0);
}

bool image_take(const void *bytes, size_t size, arena *memory, cutis_material *material)
{
    if (size > IMAGE_LIMIT || !image_known(bytes, size)) return false;
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

    /* as it stands, then by its base name */
    if (relative && image_try(path, "", own, memory, material, &found)) return;
    char *beside = arena_format(memory, "%s.fbm/", stem);
    if (beside && image_try(path, beside, base, memory, material, &found)) return;
    for (int i = 0; i < COUNT_OF(folders); i++)
        if (image_try(path, folders[i], base, memory, material, &found)) return;
    if (found)
        warning_add(warnings, "the image '%.80s' of material '%.60s' is neither PNG nor JPEG and is left out", base,
                    material->name);
    else
        warning_add(warnings, "the image '%.80s' of material '%.60s' is not there", base, material->name);
}
