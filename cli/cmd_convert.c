/*
 * cmd_convert.c: any file that cutis reads as a .glb or .obj.
 */
#include <string.h>

#include "base/system.h"
#include "cli.h"

bool cli_compression(const char *text, cutis_compression *compression)
{
    static const struct {
        const char *name;
        cutis_compression value;
    } known[] = {{"none", CUTIS_COMPRESSION_NONE},
                 {"meshopt", CUTIS_COMPRESSION_MESHOPT},
                 {"quantize", CUTIS_COMPRESSION_QUANTIZE}};

    *compression = CUTIS_COMPRESSION_NONE;
    for (int i = 0; i < CLI_COUNT(known); i++) {
        if (strcmp(text, known[i].name) != 0) continue;
        *compression = known[i].value;
        return true;
    }
    return false;
}

int cli_compress(const char *path, cutis_compression compression, bool quiet)
{
    cutis_convert_info info;
    cutis_error error;
    system_file before;
    if (!system_look(path, &before)) return CLI_OK;
    if (cutis_convert(path, path, compression, NULL, &info, &error) != CUTIS_OK) return cli_library_error(&error);
    if (!quiet)
        printf("  compressed %.3g MB from %.3g MB, positions rounded by at most %.2g units\n",
               (double)info.file_bytes / 1e6, (double)before.size / 1e6, info.position_error);
    return CLI_OK;
}

static int run(const cli_arguments *arguments)
{
    const char *source = arguments->positionals[0], *path = arguments->positionals[1];
    const char *compress = cli_text(arguments, "compress");
    cutis_compression compression;
    system_file about;

    /* what is asked for */
    if (!cli_has_ending(path, ".glb") && !cli_has_ending(path, ".vrm") && !cli_has_ending(path, ".obj"))
        return cli_usage_error(arguments, "'%s' must end in .glb, .vrm or .obj", path);
    if (!cli_compression(compress, &compression))
        return cli_usage_error(arguments, "--compress takes none, quantize or meshopt, not '%s'", compress);
    if (!system_look(source, &about)) return cli_error("there is no file '%s'", source);

    int status = cli_check_output(path, source, false);
    if (status != CLI_OK) return status;

    /* what a reader leaves out is told; a glTF file is kept as it is */
    if (!cli_is_gltf(source)) {
        cutis_character *character = cli_load_character(source, cli_flag(arguments, "quiet"), &status);
        if (!character) return status;
        cutis_character_destroy(character);
    }

    cutis_convert_info info;
    cutis_error error;
    if (cutis_convert(source, path, compression, NULL, &info, &error) != CUTIS_OK) return cli_library_error(&error);

    system_file written;
    if (cli_flag(arguments, "quiet") || !system_look(path, &written)) return CLI_OK;
    printf("%s: %.3g MB from %.3g MB", path, (double)written.size / 1e6, (double)about.size / 1e6);
    if (compression != CUTIS_COMPRESSION_NONE) printf(", positions rounded by at most %.2g units", info.position_error);
    printf("\n");

    if (info.image_count)
        cli_warning("%d image%s could not be read and %s left where they are", info.image_count,
                    info.image_count == 1 ? "" : "s", info.image_count == 1 ? "is" : "are");
    return CLI_OK;
}

static const cli_option options[] = {
    CLI_OPTION_COMPRESS,
};

const cli_command cmd_convert = {
    .name = "convert",
    .usage = "IN OUT.glb|.obj [--compress quantize|meshopt]",
    .summary = "convert any file that cutis reads to .glb, or its rest mesh to .obj",
    .description = "A glTF file keeps all of its contents; Draco and meshopt compression is decompressed, and external "
                   "images are embedded. From other formats, mesh, skeleton, weights, clips, morph targets and texture "
                   "coordinates are kept, and materials with their base colours and images.",
    .examples = "cutis convert hero.fbx hero.glb\ncutis convert packed.glb plain.glb\ncutis convert hero.glb small.glb "
                "--compress meshopt",
    .options = options,
    .option_count = CLI_COUNT(options),
    .positional_min = 2,
    .positional_max = 2,
    .run = run,
};
