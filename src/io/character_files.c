/*
 * character_files.c: characters from and to files, by the file's ending.
 */
#include <string.h>

#include "cutis/io.h"
#include "io/dae/dae_read.h"
#include "io/fbx/fbx_read.h"
#include "io/gltf/gltf_read.h"
#include "io/gltf/gltf_rig.h"
#include "io/gltf/gltf_write.h"
#include "io/mesh/bare_mesh.h"
#include "io/mesh/obj_file.h"

/* What makes a .glb of a file that cutis does not read. */
static const char *way_to_gltf(const char *path)
{
    static const char *const scenes[] = {".blend", ".usd", ".usda", ".usdc", ".usdz", ".abc",
                                         ".ma",    ".mb",  ".max",  ".c4d",  ".3ds",  ".x"};
    static const char *const meshes[] = {".ztl", ".zpr"};
    if (path_ends(path, ".bvh")) return "; it is a motion: pass a character, and this file as its motion";
    for (int i = 0; i < COUNT_OF(scenes); i++)
        if (path_ends(path, scenes[i]))
            return "; open it in Blender (or the program that made it) and export it as glTF 2.0 (.glb)";
    for (int i = 0; i < COUNT_OF(meshes); i++)
        if (path_ends(path, meshes[i])) return "; save it as .obj or .glb";
    return "";
}

typedef cutis_result (*other_reader)(const void *data, size_t size, const char *path, const cutis_allocator *allocator,
                                     cutis_character **character, cutis_error *error);

/* The reader of a file that holds a mesh alone, or NULL. */
static other_reader find_other_reader(const char *path)
{
    static const struct {
        const char *ending;
        other_reader read;
    } readers[] = {{".ply", ply_character_read}, {".stl", stl_character_read}, {".off", off_character_read}};
    for (int i = 0; i < COUNT_OF(readers); i++)
        if (path_ends(path, readers[i].ending)) return readers[i].read;
    return NULL;
}

static cutis_result load_plain(const void *data, size_t size, const char *path, bool external,
                               const cutis_allocator *allocator, cutis_character **character, cutis_error *error)
{
    *character = NULL;

    /* formats that refer to other files */
    if (path_is_gltf(path)) return gltf_character_read(data, size, path, external, allocator, character, error);
    if (path_ends(path, ".fbx"))
        return fbx_character_read(data, size, path, false, external, allocator, character, error);
    if (path_ends(path, ".obj")) return obj_character_read(data, size, path, external, allocator, character, error);
    if (path_ends(path, ".dae"))
        return dae_character_read(data, size, path, false, external, allocator, character, error);

    /* formats that hold all they need */
    other_reader read = find_other_reader(path);
    if (read) return read(data, size, path, allocator, character, error);

    return error_set(
        error, CUTIS_ERROR_ARGUMENT,
        "'%.300s' has no extension that cutis reads: .glb, .gltf, .vrm, .fbx, .dae, .obj, .ply, .stl or .off%s", path,
        way_to_gltf(path));
}

static cutis_result load(const void *data, size_t size, const char *path, bool external,
                         const cutis_allocator *allocator, cutis_character **character, cutis_error *error)
{
    file_data plain = {0};
    bool text = path_ends(path, ".obj") || path_ends(path, ".dae") || path_ends(path, ".off");
    cutis_result result = text ? text_plain(data, size, path_base(path), allocator, &plain, error) : CUTIS_OK;
    if (result != CUTIS_OK) return result;
    result = plain.bytes ? load_plain(plain.bytes, plain.size, path, external, allocator, character, error)
                         : load_plain(data, size, path, external, allocator, character, error);
    file_release(&plain);
    return result;
}

cutis_result cutis_character_load(const char *path, const cutis_allocator *allocator, cutis_character **character,
                                  cutis_error *error)
{
    *character = NULL;
    file_data file = {0};
    bool known = path_is_gltf(path) || path_ends(path, ".fbx") || path_ends(path, ".dae") || path_ends(path, ".obj") ||
                 find_other_reader(path);
    if (!known) return load(NULL, 0, path, true, allocator, character, error);
    cutis_result result = file_read(path, 0, allocator, &file, error);
    if (result == CUTIS_OK) result = load(file.bytes, file.size, path, true, allocator, character, error);
    file_release(&file);
    return result;
}

cutis_result cutis_character_load_memory(const void *data, size_t size, const char *name,
                                         const cutis_allocator *allocator, cutis_character **character,
                                         cutis_error *error)
{
    return load(data, size, name, false, allocator, character, error);
}

static cutis_result save_obj(const cutis_character *character, const char *path, cutis_error *error)
{
    arena memory = arena_create(NULL);
    corner_split split;
    file_writer writer;
    cutis_result result = CUTIS_OK;

    if (!corner_split_make(character, &memory, &split)) result = error_memory(error, "an OBJ file");
    if (result == CUTIS_OK) result = file_writer_open(&writer, NULL, path, NULL, error);
    if (result == CUTIS_OK) {
        obj_write(&writer, character, character->positions, &split);
        result = file_writer_finish(&writer, error);
    }

    arena_destroy(&memory);
    return result;
}

cutis_result cutis_character_save(const cutis_character *character, const char *path, cutis_error *error)
{
    if (path_ends(path, ".glb")) return gltf_character_write(character, path, error);
    if (path_ends(path, ".obj")) return save_obj(character, path, error);
    return error_set(error, CUTIS_ERROR_ARGUMENT,
                     "'%.300s' has no extension that a character can be saved as: .glb or .obj", path);
}

cutis_result cutis_character_save_rig(const cutis_character *character, const char *source, const char *path,
                                      cutis_error *error)
{
    file_data file = {0};
    if (!path_ends(path, ".glb")) return error_set(error, CUTIS_ERROR_ARGUMENT, "'%.300s' must end in .glb", path);
    if (!path_is_gltf(source))
        return error_set(error, CUTIS_ERROR_ARGUMENT, "'%.300s' must end in .glb or .gltf", source);
    if (character->joint_count == 0 || !character->influence_first)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "the character has no skeleton or no weights to write");
    cutis_result result = file_read(source, 0, NULL, &file, error);
    if (result == CUTIS_OK) result = gltf_rig_write(character, file.bytes, file.size, source, true, NULL, path, error);
    file_release(&file);
    return result;
}
