/*
 * load.c: characters, clips, outputs and pools as the command line names them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/system.h"
#include "cli.h"

bool cli_has_ending(const char *path, const char *ending)
{
    size_t length = strlen(path), ending_length = strlen(ending);
    return length > ending_length && strcasecmp(path + length - ending_length, ending) == 0;
}

bool cli_is_gltf(const char *path)
{
    return cli_has_ending(path, ".glb") || cli_has_ending(path, ".gltf") || cli_has_ending(path, ".vrm");
}

bool cli_is_built_in(const char *name)
{
    for (int i = 0; i < cutis_zoo_count(); i++)
        if (strcmp(cutis_zoo(i).name, name) == 0) return true;
    return false;
}

int cli_unknown_character(const char *name, bool file_allowed)
{
    int count = cutis_zoo_count();
    const char *what = file_allowed ? "file and no built-in character" : "built-in character";

    const char **names = cli_allocate((size_t)count, sizeof *names);
    for (int i = 0; i < count; i++) names[i] = cutis_zoo(i).name;

    const char *nearest = cli_nearest(name, names, count);
    if (nearest)
        cli_error("there is no %s '%s'; did you mean '%s'?", what, name, nearest);
    else
        cli_error("there is no %s '%s'; 'cutis models' lists the built-in ones", what, name);

    free(names);
    return CLI_USAGE;
}

int cli_unknown_solver(const char *name)
{
    int count = cutis_solver_count();
    const char **names = cli_allocate((size_t)count, sizeof *names);
    for (int i = 0; i < count; i++) names[i] = cutis_solver(i)->name;
    const char *nearest = cli_nearest(name, names, count);
    if (nearest)
        cli_error("there is no solver '%s'; did you mean '%s'?", name, nearest);
    else
        cli_error("there is no solver '%s'; 'cutis solvers' lists them", name);
    free(names);
    return CLI_USAGE;
}

cutis_character *cli_load_character(const char *name_or_path, bool quiet, int *status)
{
    cutis_character *character = NULL;
    cutis_error error;

    cutis_result result;
    system_file about;
    bool plain = !strpbrk(name_or_path, "./");

    *status = CLI_FAILURE;

    /* a built-in character, or a file */
    if (plain && cli_is_built_in(name_or_path)) {
        result = cutis_zoo_make(name_or_path, 1.0, NULL, &character, &error);
    } else if (!system_look(name_or_path, &about) && errno == ENOENT) {
        if (plain)
            *status = cli_unknown_character(name_or_path, true);
        else
            cli_error("there is no file '%s'", name_or_path);
        return NULL;
    } else {
        result = cutis_character_load(name_or_path, NULL, &character, &error);
    }

    /* a message, or the reader's warnings */
    if (result != CUTIS_OK) {
        *status = cli_library_error(&error);
        return NULL;
    }

    if (!quiet) cli_warnings(character->warnings, character->warning_count);
    *status = CLI_OK;
    return character;
}

int cli_add_given_motion(const cli_arguments *arguments, bool quiet, cutis_character **character)
{
    const char *path = cli_text(arguments, "motion");
    if (!path) return CLI_OK;

    /* nothing that a motion could move */
    if ((*character)->joint_count == 0)
        return cli_error("%s has no skeleton for the motion '%s'; make one with 'cutis rig'", (*character)->name, path);

    /* what only the copy warns of is new */
    int known = (*character)->warning_count;
    cutis_character *moved;
    cutis_error error;
    int map_count;
    cutis_name_pair *map = cli_map(arguments, &map_count);
    cutis_result result = cutis_character_add_bvh(*character, path, map, map_count, NULL, &moved, &error);
    free(map);
    if (result != CUTIS_OK) return cli_library_error(&error);

    if (!quiet) cli_warnings(moved->warnings + known, moved->warning_count - known);
    cutis_character_destroy(*character);
    *character = moved;
    return CLI_OK;
}

cutis_cache *cli_load_cache(const char *path, const cutis_character *character, const char *clip)
{
    cutis_cache *cache = NULL;

    cutis_error error;
    cutis_result result = cli_is_gltf(path)
                              ? cutis_cache_play(path, clip, 0, character->vertex_count, NULL, &cache, &error)
                              : cutis_cache_load(path, NULL, &cache, &error);

    /* a cache of this character */
    if (result != CUTIS_OK) {
        cli_library_error(&error);
        return NULL;
    }
    if (cache->vertex_count == character->vertex_count) return cache;

    cli_error("'%s' has %d vertices, %s has %d: it was made from another character", path, cache->vertex_count,
              character->name, character->vertex_count);
    cutis_cache_destroy(cache);
    return NULL;
}

int cli_find_clip(const cutis_character *character, const char *name)
{
    int clip = cutis_character_find_clip(character, name);
    if (clip >= 0) return clip;

    if (character->clip_count == 0) {
        cli_error("there is no clip '%s': %s has none", name, character->name);
        return -1;
    }

    /* the nearest name, or what there is */
    const char **names = cli_allocate((size_t)character->clip_count, sizeof *names);
    for (int i = 0; i < character->clip_count; i++) names[i] = character->clips[i].name;
    const char *nearest = cli_nearest(name, names, character->clip_count);

    if (nearest)
        cli_error("there is no clip '%s'; did you mean '%s'?", name, nearest);
    else if (character->clip_count <= 8) {
        char *list = cli_format("%s", names[0]);
        for (int i = 1; i < character->clip_count; i++) {
            char *longer = cli_format("%s, %s", list, names[i]);
            free(list);
            list = longer;
        }
        cli_error("there is no clip '%s'; there %s %s", name, character->clip_count == 1 ? "is only" : "are", list);
        free(list);
    } else {
        cli_error("there is no clip '%s'; the first of %d is '%s' ('cutis info' lists them)", name,
                  character->clip_count, names[0]);
    }

    free(names);
    return -1;
}

double cli_frame_count(const cutis_clip *clip, double fps)
{
    /* Keys are floats: a last key at 2.6 s lies 3e-6 of a frame before frame 78 at 30 per second, and counts. */
    const double rounding = 1e-3;
    return floor(((double)clip->end - (double)clip->start) * fps + rounding) + 1;
}

/* Whether two paths lead to one file. */
static bool same_file(const char *path, const char *other)
{
    system_file one, two;
    return system_look(path, &one) && system_look(other, &two) && one.device == two.device && one.node == two.node;
}

int cli_check_apart(const char *path, const char *other)
{
    if (!other || !same_file(path, other)) return CLI_OK;
    return cli_error("'%s' is also an input; choose another output", path);
}

int cli_check_output(const char *path, const char *input, bool folder_allowed)
{
    system_file about;

    char *folder = cli_format("%s", path);
    char *slash = strrchr(folder, '/');

    if (slash == folder)
        slash[1] = 0;
    else if (slash)
        *slash = 0;
    else
        strcpy(folder, ".");

    /* whether a file can be put there */
    int status = CLI_OK;
    if (!system_look(folder, &about))
        status = cli_error("cannot write '%s': there is no folder '%s'", path, folder);
    else if (!about.folder)
        status = cli_error("cannot write '%s': '%s' is not a folder", path, folder);
    else if (!system_folder_writable(folder))
        status = cli_error("cannot write '%s': no permission to write in '%s'", path, folder);
    else if (system_look(path, &about)) {
        if (input && same_file(path, input))
            status = cli_error("'%s' is the input itself; choose another output", path);
        else if (about.folder && !folder_allowed)
            status = cli_error("cannot write '%s': it is a folder", path);
        else if (!about.folder && folder_allowed)
            status = cli_error("cannot write '%s': the output is a folder, and this is a file", path);
    }

    free(folder);
    return status;
}

const char *cli_cache_endings(void) { return ".glb, .usda, .pc2, .mdd, .npy, .vat, .obj (a folder)"; }

const cutis_solver_info *cli_stack_next(const char **rest)
{
    const cutis_solver_info *solver = NULL;
    while (*rest && !solver) {
        char name[64];
        size_t length = strcspn(*rest, "+");
        snprintf(name, sizeof name, "%.*s", (int)length, *rest);
        solver = cutis_solver_find(name);
        *rest = (*rest)[length] ? *rest + length + 1 : NULL;
    }
    return solver;
}

cutis_pool *cli_create_pool(int thread_count)
{
    cutis_pool *pool = NULL;
    cutis_error error;
    if (cutis_pool_create(thread_count, NULL, &pool, &error) != CUTIS_OK) {
        cli_library_error(&error);
        return NULL;
    }
    return pool;
}
