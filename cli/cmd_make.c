/*
 * cmd_make.c: write a built-in character to a file.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static int run(const cli_arguments *arguments)
{
    const char *name = arguments->positionals[0], *path = cli_text(arguments, "output");
    cutis_error error;

    /* what is asked for */
    if (!path) return cli_usage_error(arguments, "the output is missing: -o FILE.glb");
    if (!cli_has_ending(path, ".glb") && !cli_has_ending(path, ".obj"))
        return cli_usage_error(arguments, "'%s' must end in .glb or .obj", path);
    if (!cli_is_built_in(name)) return cli_unknown_character(name, false);

    int status = cli_check_output(path, NULL, false);
    if (status != CLI_OK) return status;

    cutis_character *character;
    cutis_result result = cutis_zoo_make(name, cli_number(arguments, "resolution"), NULL, &character, &error);
    if (result != CUTIS_OK) return cli_library_error(&error);

    /* save it, and say so */
    if (cutis_character_save(character, path, &error) != CUTIS_OK) {
        status = cli_library_error(&error);
    } else if (!cli_flag(arguments, "quiet")) {
        char vertices[32], faces[32];
        printf("%s: %s vertices, %s faces, %d joints, %d clips\n", path,
               cli_format_count(character->vertex_count, vertices), cli_format_count(character->face_count, faces),
               character->joint_count, character->clip_count);
    }

    cutis_character_destroy(character);
    return status;
}

static const cli_option options[] = {
    CLI_OPTION_OUTPUT("FILE", "file to write: .glb or .obj"),
    {.name = "resolution",
     .kind = CLI_NUMBER,
     .value = "R",
     .help = "scales the number of vertices",
     .fallback = "1",
     .min = 0.1,
     .max = 20},
};

const cli_command cmd_make = {
    .name = "make",
    .usage = "NAME -o FILE.glb [--resolution R]",
    .summary = "write a built-in character to a file",
    .description = "Writes mesh, skeleton, weights, texture coordinates and clips as .glb, or the rest mesh as .obj.",
    .examples = "cutis make arm -o arm.glb\ncutis make man --resolution 4 -o man4.glb",
    .options = options,
    .option_count = CLI_COUNT(options),
    .positional_min = 1,
    .positional_max = 1,
    .run = run,
};
