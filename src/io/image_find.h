/*
 * image_find.h: the images that materials of formats other than glTF name, as bytes that glTF can hold.
 */
#ifndef IO_IMAGE_FIND_H
#define IO_IMAGE_FIND_H

#include "cutis/character.h"
#include "io/files.h"

/*
 * Find the image that a file at `path` calls `name`, which may be a path of another machine: as it stands relative to
 * the file, else by its base name beside the file, in STEM.fbm or in the usual folders of textures. Sets image and
 * image_size of the material, in the arena; warns when there is no such file or it is of no kind that glTF knows.
 */
void image_find(const char *path, const char *name, arena *memory, warning_list *warnings, cutis_material *material);
/* The same of bytes that stood in the file itself; they are copied. Returns false when they are no known image. */
bool image_take(const void *bytes, size_t size, arena *memory, cutis_material *material);

/*
 * A colour's number, 0..1, as glTF has it, which is linear. FBX, COLLADA and .mtl files hold what the screen shows
 * (sRGB), but for those that Blender wrote: it puts its own linear colours there.
 */
float color_read(double value, bool is_linear);
/* Whether a text that names the program that wrote a file names Blender. */
bool written_by_blender(const char *text, const char *end);

#endif
