/*
 * cmd_models.c: the built-in characters and their clips; and `make`, which writes one to a file, is in cmd_make.c.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* "flex 2.0 s, twist 2.0 s" */
static char *clip_list(const cutis_character *character)
{
    char *text = cli_format("%s", "");
    for (int i = 0; i < character->clip_count; i++) {
        const cutis_clip *clip = &character->clips[i];
        char *longer = cli_format("%s%s%s %.3g s", text, i ? ", " : "", clip->name, (double)(clip->end - clip->start));
        free(text);
        text = longer;
    }
    return text;
}

static json_t *model_json(const cutis_character *character, cutis_zoo_entry entry)
{
    json_t *clips = json_array();
    for (int i = 0; i < character->clip_count; i++) {
        const cutis_clip *clip = &character->clips[i];
        json_array_append_new(clips,
                              json_pack("{s:s, s:o, s:o}", "name", clip->name, "start",
                                        cli_json_real((double)clip->start), "end", cli_json_real((double)clip->end)));
    }
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:o}", "name", entry.name, "summary", entry.summary, "vertices",
                     character->vertex_count, "faces", character->face_count, "joints", character->joint_count, "clips",
                     clips);
}

static int run(const cli_arguments *arguments)
{
    bool json = cli_flag(arguments, "json");
    json_t *models = json ? json_array() : NULL;
    cli_table *table = json ? NULL : cli_table_create("lrrrll");
    if (table) cli_table_heads(table, "name|vertices|faces|joints|clips|what");

    /* each is made, for its figures */
    int status = CLI_OK;
    for (int i = 0; i < cutis_zoo_count() && status == CLI_OK; i++) {
        cutis_zoo_entry entry = cutis_zoo(i);
        cutis_character *character = cli_load_character(entry.name, true, &status);
        if (!character) break;

        /* as JSON, or as a row */
        if (json) {
            json_array_append_new(models, model_json(character, entry));
        } else {
            char buffer[32];
            char *clips = clip_list(character);
            cli_table_cell(table, "%s", entry.name);
            cli_table_cell(table, "%s", cli_format_count(character->vertex_count, buffer));
            cli_table_cell(table, "%s", cli_format_count(character->face_count, buffer));
            cli_table_cell(table, "%d", character->joint_count);
            cli_table_cell(table, "%s", clips);
            cli_table_cell(table, "%s", entry.summary);
            free(clips);
        }

        cutis_character_destroy(character);
        if (cli_interrupted()) status = CLI_INTERRUPTED;
    }

    if (table) cli_table_print(table, "");
    if (json && status == CLI_OK) return cli_json_print(json_pack("{s:o}", "models", models));
    json_decref(models);
    return status;
}

const cli_command cmd_models = {
    .name = "models",
    .usage = "[--json]",
    .summary = "list the built-in characters and their clips",
    .examples = "cutis models",
    .run = run,
    .json = true,
};
