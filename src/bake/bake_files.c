/*
 * bake_files.c: what a bake reads from files and writes to them, or to memory under the same names.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bake/bake_private.h"
#include "io/cache/cache_file.h"
#include "io/files.h"
#include "io/gltf/gltf_rig.h"
#include "retarget/bvh_motion.h"

/* Writers that are open. */
struct bake_files {
    file_store *store;           /* takes the files; NULL: the disk */
    cutis_cache_writer *writer;  /* of the frames; NULL for a .glb */
    cutis_cache_writer **extras; /* (extra_count) */
};

bool bake_is_gltf(const char *path) { return path_is_gltf(path); }
bool bake_is_glb(const char *path) { return path_ends(path, ".glb") || path_ends(path, ".vrm"); }

cutis_result bake_check_format(const char *path, cutis_error *error)
{
    if (bake_is_glb(path) || cutis_cache_known(path)) return CUTIS_OK;
    return error_set(error, CUTIS_ERROR_ARGUMENT,
                     "cannot detect the format of '%.300s' from its extension; use .glb, .usda, .pc2, .mdd, .npy, .vat "
                     "or .obj (a folder)",
                     path);
}

/* ---- reading ---- */

static cutis_result load(const cutis_file *file, const cutis_allocator *allocator, cutis_character **character,
                         cutis_error *error)
{
    if (!file->data) return cutis_character_load(file->name, allocator, character, error);
    return cutis_character_load_memory(file->data, file->size, file->name, allocator, character, error);
}

cutis_result bake_load_character(bake *b)
{
    cutis_character *character;
    cutis_result result = load(&b->def->source, b->def->allocator, &character, b->error);
    if (result == CUTIS_OK) bake_replace_character(b, character);
    return result;
}

cutis_result bake_add_motion(bake *b)
{
    const cutis_bake_def *def = b->def;
    const cutis_file *motion = &def->motion;

    cutis_character *moved;
    if (motion->data && !path_ends(motion->name, ".bvh"))
        return error_set(b->error, CUTIS_ERROR_UNSUPPORTED,
                         "'%.300s': a motion in memory must be a .bvh; other formats are read from their files",
                         motion->name);

    cutis_result result = motion->data ? bvh_motion_add(b->character, motion->data, motion->size, motion->name,
                                                        def->map, def->map_count, def->allocator, &moved, b->error)
                                       : cutis_character_add_bvh(b->character, motion->name, def->map, def->map_count,
                                                                 def->allocator, &moved, b->error);
    if (result == CUTIS_OK) bake_replace_character(b, moved);
    return result;
}

cutis_result bake_load_surface(bake *b)
{
    const cutis_file *file = &b->def->surface;
    cutis_result result =
        file->data ? cache_read_memory(file->data, file->size, file->name, b->def->allocator, &b->surface, b->error)
                   : cutis_cache_load(file->name, b->def->allocator, &b->surface, b->error);
    if (result != CUTIS_OK || b->surface->vertex_count == b->character->vertex_count) return result;
    return error_set(b->error, CUTIS_ERROR_DATA, "'%.200s' has %d vertices, but %.150s has %d", file->name,
                     b->surface->vertex_count, b->character->name, b->character->vertex_count);
}

void bake_unload_surface(bake *b) { cutis_cache_destroy(b->surface); }

cutis_result bake_load_examples(bake *b, const float ***positions)
{
    int count = b->def->example_count;
    *positions = ARENA_ARRAY(&b->scratch, const float *, count + 1);
    if (!*positions) return error_memory(b->error, "examples");

    /* the vertices of each */
    for (int i = 0; i < count; i++) {
        cutis_character *example;
        const cutis_file *file = &b->def->examples[i];
        cutis_result result = load(file, b->def->allocator, &example, b->error);
        if (result != CUTIS_OK) return result;

        int vertices = example->vertex_count;
        (*positions)[i] = arena_copy(&b->scratch, example->positions, (size_t)vertices * 3, sizeof(float));
        cutis_character_destroy(example);
        if (!(*positions)[i]) return error_memory(b->error, "examples");

        /* an example is the same mesh in another pose */
        if (vertices != b->character->vertex_count)
            return error_set(
                b->error, CUTIS_ERROR_DATA,
                "example '%.150s' has %d vertices and '%.100s' has %d; an example must be the same mesh in "
                "another pose, with its vertices in the same order",
                file->name, vertices, b->character->name, b->character->vertex_count);
    }

    return CUTIS_OK;
}

cutis_result bake_rig_source(bake *b)
{
    file_store store = {.allocator = memory_resolve(b->def->allocator)};
    file_data file = {0};
    const cutis_file *source = &b->source;

    /* the file with a skeleton, in memory */
    cutis_result result = source->data ? CUTIS_OK : file_read(source->name, 0, b->def->allocator, &file, b->error);
    if (result == CUTIS_OK)
        result = gltf_rig_write(b->character, source->data ? source->data : file.bytes,
                                source->data ? source->size : file.size, source->name, !source->data, &store,
                                source->name, b->error);

    file_release(&file);

    /* without it the result still stands, with plain materials */
    if (result == CUTIS_ERROR_UNSUPPORTED) {
        char text[700];
        snprintf(text, sizeof text, "materials are kept by name only: %s", b->error ? b->error->text : "");
        bake_say(b, CUTIS_BAKE_WARNING, text);
        b->source = (cutis_file){0};
        result = CUTIS_OK;
    } else if (result == CUTIS_OK) {
        size_t size = store.files[0].size;
        b->source.data = arena_copy(&b->scratch, store.files[0].bytes, size, 1);
        b->source.size = size;
        if (!b->source.data) result = error_memory(b->error, "a glTF document");
    }

    file_store_release(&store);
    return result;
}

cutis_result bake_add_prop_file(const cutis_character *character, const cutis_prop_request *request,
                                void (*message)(void *context, cutis_bake_message kind, const char *text),
                                void *context, const cutis_allocator *allocator, cutis_character **result,
                                cutis_error *error)
{
    cutis_props *loaded;
    cutis_result code = cutis_props_load(request->name, allocator, &loaded, error);
    if (code != CUTIS_OK) return code;

    /* what the reader left out */
    for (int i = 0; i < loaded->warning_count && message; i++)
        message(context, CUTIS_BAKE_WARNING, loaded->warnings[i]);

    /* each where the request wants it */
    cutis_placed_prop *props = memory_allocate(allocator, (size_t)loaded->count, sizeof *props);
    double scale = request->scale > 0 ? request->scale : 1;
    for (int i = 0; i < loaded->count && props; i++) {
        props[i] = loaded->props[i];
        for (int k = 0; k < 12; k++) props[i].place[k] *= (float)scale;
        for (int k = 0; k < 3 && request->placed; k++) props[i].place[4 * k + 3] += request->position[k];
    }

    /* a character that has them */
    code = props ? cutis_character_add_props(character, props, loaded->count, allocator, result, error)
                 : error_memory(error, "props");

    memory_release(allocator, props, (size_t)loaded->count, sizeof *props);
    cutis_props_destroy(loaded);
    return code;
}

/* ---- writing ---- */

static void store_release(void *context, const cutis_allocator *allocator)
{
    file_store *store = context;
    file_store_release(store);
    memory_release(allocator, store, 1, sizeof *store);
}

static cutis_result extra_open(bake *b, int index)
{
    const cutis_bake_result *r = b->result;
    const bake_extra *extra = &b->extras[index];
    const char *path = arena_format(&b->scratch, "%s.%s.npy", b->path, extra->name);
    cutis_cache_info info = {extra->count, r->frame_count, r->start, r->fps, NULL, extra->components};
    if (!path) return error_memory(b->error, "a bake");
    return cache_create_in(b->files->store, path, &info, b->def->allocator, &b->files->extras[index], b->error);
}

cutis_result bake_files_open(bake *b)
{
    const cutis_bake_result *r = b->result;

    /* writers of this bake */
    struct bake_files *files = ARENA_ARRAY(&b->scratch, struct bake_files, 1);
    if (!files) return error_memory(b->error, "a bake");

    files->extras = ARENA_ARRAY(&b->scratch, cutis_cache_writer *, b->extra_count + 1);
    if (!files->extras) return error_memory(b->error, "a bake");
    b->files = files;

    /* without a path the files stay in memory */
    if (!b->def->output) {
        files->store = memory_allocate(b->def->allocator, 1, sizeof *files->store);
        if (!files->store) return error_memory(b->error, "a bake");
        files->store->allocator = memory_resolve(b->def->allocator);
        b->owner->store = files->store;
        b->owner->release_files = store_release;
    }

    /* the cache, and one beside it for each extra output */
    cutis_cache_info info = {r->vertex_count, r->frame_count, r->start, r->fps, b->character, 3};
    cutis_result result = CUTIS_OK;

    if (!b->glb) result = cache_create_in(files->store, b->path, &info, b->def->allocator, &files->writer, b->error);
    for (int i = 0; i < b->extra_count && result == CUTIS_OK; i++) result = extra_open(b, i);
    return result;
}

cutis_result bake_files_append(bake *b, int frame)
{
    struct bake_files *files = b->files;

    size_t at = (size_t)frame, floats = 3 * (size_t)b->result->vertex_count;
    cutis_result result = CUTIS_OK;

    /* positions, then texture coordinates, then the outputs beside them */
    if (files->writer) result = cutis_cache_append(files->writer, b->batch + at * floats, b->error);
    if (result == CUTIS_OK && files->writer && b->texcoords)
        result = cutis_cache_append_texcoords(files->writer, b->texcoords + at * (size_t)b->texcoord_floats, b->error);

    for (int i = 0; i < b->extra_count && result == CUTIS_OK; i++) {
        const bake_extra *extra = &b->extras[i];
        result = cutis_cache_append(files->extras[i],
                                    extra->values + at * (size_t)extra->count * (size_t)extra->components, b->error);
    }
    return result;
}

static bool save_interrupted(void *context)
{
    bake *b = context;
    return !bake_progress(b, CUTIS_BAKE_WRITE, 0, 0) && !b->result->interrupted;
}

/* The frames as morph targets of the file they were made from. */
static cutis_result write_morphs(bake *b)
{
    cutis_bake_result *r = b->result;
    const cutis_bake_def *def = b->def;

    /* the ways of the props */
    int prop_count = b->character->prop_count;
    cutis_moving_prop *props = ARENA_ARRAY(&b->scratch, cutis_moving_prop, prop_count + 1);

    if (!props) return error_memory(b->error, "a bake");
    for (int i = 0; i < prop_count; i++) {
        const bake_prop *p = &b->props[i];
        props[i] = (cutis_moving_prop){p->motions, p->vertex_count, p->triangle_count, p->shapes, p->triangles};
    }

    /* A file that is kept plays its own clip, which holds its last pose where the closed one goes on. */
    cutis_morphs_def morphs = {.character = b->source.name && b->original ? b->original : b->character,
                               .source = b->source,
                               .clip = b->clip,
                               .start = r->start,
                               .fps = r->fps,
                               .frame_count = r->frame_count,
                               .frames = b->batch,
                               .joints = r->turned_count > 0 || b->joint_shift > 0 ? b->poses : NULL,
                               .texcoords = b->texcoords,
                               .tolerance = def->tolerance,
                               .target_limit = def->targets,
                               .exact = def->exact,
                               .positions_only = def->positions_only,
                               .props = prop_count ? props : NULL,
                               .interrupted = save_interrupted,
                               .context = b,
                               .jobs = b->jobs,
                               .allocator = def->allocator};

    /* fit and write */
    r->has_morphs = true;
    cutis_result result = morphs_save(&morphs, b->files->store, b->path, &r->morphs, b->error);
    if (result != CUTIS_OK) return result;

    if (r->morphs.interrupted) return bake_interrupted(b);

    /* what could not be taken over */
    if (r->morphs.image_count) {
        char text[500];
        bool one = r->morphs.image_count == 1;
        snprintf(text, sizeof text, "%d %s could not be read and %s not part of %.300s", r->morphs.image_count,
                 one ? "image" : "images", one ? "is" : "are", b->path);
        bake_say(b, CUTIS_BAKE_WARNING, text);
    }

    if (r->morphs.spring_count) {
        char text[300];
        bool one = r->morphs.spring_count == 1;
        snprintf(text, sizeof text, "%d spring %s not part of the result: the bake moves %s vertices itself",
                 r->morphs.spring_count, one ? "bone is" : "bones are", one ? "its" : "their");
        bake_say(b, CUTIS_BAKE_NOTE, text);
    }

    return CUTIS_OK;
}

cutis_result bake_files_finish(bake *b)
{
    struct bake_files *files = b->files;
    cutis_result result = CUTIS_OK;

    /* finish frees a writer, also on failure */
    for (int i = 0; i < b->extra_count && result == CUTIS_OK; i++) {
        cutis_cache_writer *extra = files->extras[i];
        files->extras[i] = NULL;
        result = cutis_cache_finish(extra, b->error);
    }

    /* the main file last; frames that could not be written are discarded */
    cutis_cache_writer *writer = files->writer;
    files->writer = NULL;
    if (result != CUTIS_OK)
        cutis_cache_discard(writer);
    else
        result = b->glb ? write_morphs(b) : cutis_cache_finish(writer, b->error);

    if (result != CUTIS_OK || !files->store) return result;

    /* files in memory, for the host */
    cutis_bake_file *list = ARENA_ARRAY(b->memory, cutis_bake_file, files->store->count);
    if (!list) return error_memory(b->error, "a bake");
    for (int i = 0; i < files->store->count; i++)
        list[i] =
            (cutis_bake_file){files->store->files[i].name, files->store->files[i].bytes, files->store->files[i].size};

    b->result->files = list;
    b->result->file_count = files->store->count;
    return CUTIS_OK;
}

void bake_files_discard(bake *b)
{
    if (!b->files) return;
    cutis_cache_discard(b->files->writer);
    for (int i = 0; i < b->extra_count; i++) cutis_cache_discard(b->files->extras[i]);
}
