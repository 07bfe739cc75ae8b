/*
 * file_convert.c: any character as .glb or .obj, and what a file is made of.
 */
#include <string.h>

#include "cutis/io.h"
#include "io/gltf/gltf_pack.h"

/* A glTF file keeps all it holds; anything else becomes a character first. */
static cutis_result convert_gltf(const char *source, const char *path, cutis_compression compression,
                                 const cutis_allocator *allocator, cutis_convert_info *info, cutis_error *error)
{
    file_data file;
    gltf_document document;
    cutis_result result = file_read(source, 0, allocator, &file, error);
    if (result != CUTIS_OK) return result;
    result = gltf_document_parse(&document, file.bytes, file.size, source, true, allocator, error);
    if (result == CUTIS_OK) result = gltf_pack_save(&document, source, compression, path, info, error);
    gltf_document_destroy(&document);
    file_release(&file);
    return result;
}

cutis_result cutis_convert(const char *source, const char *path, cutis_compression compression,
                           const cutis_allocator *allocator, cutis_convert_info *info, cutis_error *error)
{
    /* results are filled even when nobody asks for them */
    cutis_convert_info own;
    if (!info) info = &own;
    *info = (cutis_convert_info){0};

    /* only the binary form can be compressed */
    bool binary = path_ends(path, ".glb") || path_ends(path, ".vrm");
#ifndef CUTIS_HAS_MESHOPT
    if (compression == CUTIS_COMPRESSION_MESHOPT)
        return error_set(error, CUTIS_ERROR_UNSUPPORTED,
                         "this build of cutis has no meshoptimizer; install libmeshoptimizer and rebuild to compress");
#endif
    if (compression != CUTIS_COMPRESSION_NONE && !binary)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "'%.200s' cannot be compressed; only a .glb can", path);

    /* glTF to glTF keeps what a character does not hold */
    if (binary && path_is_gltf(source)) return convert_gltf(source, path, compression, allocator, info, error);

    /* other formats go through a character */
    cutis_character *character;
    cutis_result result = cutis_character_load(source, allocator, &character, error);
    if (result != CUTIS_OK) return result;
    result = cutis_character_save(character, path, error);
    cutis_character_destroy(character);

    /* compress what was written */
    if (result == CUTIS_OK && compression != CUTIS_COMPRESSION_NONE)
        result = convert_gltf(path, path, compression, allocator, info, error);
    return result;
}

struct details_block {
    cutis_file_details details;
    arena memory;
};

static const char *reader_name(const gltf_document *document)
{
    for (int i = 0; i < document->extension_count; i++)
        if (strcmp(document->extensions[i], "KHR_draco_mesh_compression") == 0) return "glTF reader, libdraco";
    return "glTF reader";
}

cutis_result cutis_file_details_load(const char *path, const cutis_allocator *allocator, cutis_file_details **details,
                                     cutis_error *error)
{
    static const char *const readers[][2] = {{".fbx", "FBX reader"}, {".obj", "OBJ reader"},
                                             {".ply", "PLY reader"}, {".stl", "STL reader"},
                                             {".off", "OFF reader"}, {".dae", "COLLADA reader"}};

    /* the details own their memory */
    *details = NULL;

    arena memory = arena_create(allocator);
    struct details_block *block = ARENA_ARRAY(&memory, struct details_block, 1);
    cutis_result result = block ? CUTIS_OK : error_memory(error, path);

    /* other formats than glTF are known by their ending */
    for (int i = 0; block && i < COUNT_OF(readers); i++)
        if (path_ends(path, readers[i][0])) block->details.reader = readers[i][1];

    /* glTF: the document tells which decoder and which extensions it needs */
    if (block && path_is_gltf(path)) {
        file_data file;
        gltf_document document;
        result = file_read(path, 0, allocator, &file, error);
        if (result == CUTIS_OK) {
            result = gltf_document_parse(&document, file.bytes, file.size, path, true, allocator, error);
            block->details.reader = reader_name(&document);
            const char **names = ARENA_ARRAY(&memory, const char *, document.extension_count + 1);
            for (int i = 0; names && result == CUTIS_OK && i < document.extension_count; i++)
                names[block->details.extension_count++] = arena_string(&memory, document.extensions[i]);
            block->details.extensions = names;

            gltf_document_destroy(&document);
            file_release(&file);
        }
    }

    /* unknown endings are an error */
    if (result == CUTIS_OK && !block->details.reader)
        result = error_set(error, CUTIS_ERROR_ARGUMENT, "'%.200s' has no extension that cutis reads", path);

    if (result == CUTIS_OK && memory.failed) result = error_memory(error, path);
    if (result != CUTIS_OK) {
        arena_destroy(&memory);
        return result;
    }

    /* the block owns the arena that it lies in */
    block->memory = memory;
    *details = &block->details;
    return CUTIS_OK;
}

void cutis_file_details_destroy(cutis_file_details *details)
{
    if (!details) return;
    arena memory = ((struct details_block *)details)->memory;
    arena_destroy(&memory);
}
