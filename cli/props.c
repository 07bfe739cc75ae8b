/*
 * props.c: things to touch, as the command line names them.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* "NAME@X,Y,Z,SCALE" taken apart. */
typedef struct prop_wish {
    char *name;
    bool placed;
    float position[3];
    double scale;
} prop_wish;

static int wish_parse(const char *text, prop_wish *wish)
{
    double numbers[4];
    const char *at = strrchr(text, '@');
    *wish = (prop_wish){.scale = 1};
    /* An @ in a folder's name is none of ours. */
    if (at && strchr(at, '/')) at = NULL;
    wish->name = cli_format("%.*s", at ? (int)(at - text) : (int)strlen(text), text);
    if (!*wish->name) return cli_error("--prop '%s' names nothing: cube, ball, table, or a .glb file", text), CLI_USAGE;
    if (!at) return CLI_OK;
    if (!cli_parse_numbers(at + 1, ',', 3, numbers) && !cli_parse_numbers(at + 1, ',', 4, numbers))
        return cli_error("--prop %s: after the @ give X,Y,Z or X,Y,Z,SCALE", text), CLI_USAGE;
    if (cli_parse_numbers(at + 1, ',', 4, numbers)) wish->scale = numbers[3];
    if (!(wish->scale > 0)) return cli_error("--prop %s: the scale must be above 0", text), CLI_USAGE;
    wish->placed = true;
    for (int k = 0; k < 3; k++) wish->position[k] = (float)numbers[k];
    return CLI_OK;
}

static int add(const cutis_placed_prop *props, int count, cutis_character **character)
{
    cutis_character *more;
    cutis_error error;
    if (cutis_character_add_props(*character, props, count, NULL, &more, &error) != CUTIS_OK)
        return cli_library_error(&error);
    cutis_character_destroy(*character);
    *character = more;
    return CLI_OK;
}

/* All props of a file, moved and scaled as one. */
static int add_file(const prop_wish *wish, bool quiet, cutis_character **character)
{
    cutis_props *loaded;
    cutis_error error;
    if (cutis_props_load(wish->name, NULL, &loaded, &error) != CUTIS_OK) return cli_library_error(&error);
    if (!quiet) cli_warnings(loaded->warnings, loaded->warning_count);
    cutis_placed_prop *props = cli_allocate((size_t)loaded->count, sizeof *props);
    memcpy(props, loaded->props, (size_t)loaded->count * sizeof *props);
    for (int i = 0; i < loaded->count; i++) {
        for (int k = 0; k < 12; k++) props[i].place[k] *= (float)wish->scale;
        for (int k = 0; k < 3 && wish->placed; k++) props[i].place[4 * k + 3] += wish->position[k];
    }
    int status = add(props, loaded->count, character);
    free(props);
    cutis_props_destroy(loaded);
    return status;
}

int cli_add_props(const char *const *texts, int text_count, int clip, bool quiet, cutis_character **character)
{
    int status = CLI_OK;
    for (int i = 0; i < text_count && status == CLI_OK; i++) {
        prop_wish wish;
        status = wish_parse(texts[i], &wish);
        if (status == CLI_OK && strpbrk(wish.name, "./")) {
            status = add_file(&wish, quiet, character);
        } else if (status == CLI_OK) {
            cutis_placed_prop prop;
            cutis_error error;
            const float *position = wish.placed ? wish.position : NULL;
            if (cutis_zoo_prop_make(wish.name, *character, clip, position, wish.scale, NULL, &prop, &error) != CUTIS_OK)
                status = cli_library_error(&error);
            else
                status = add(&prop, 1, character);
        }
        free(wish.name);
    }
    return status;
}

int cli_add_given_props(const cli_arguments *arguments, int clip, bool quiet, cutis_character **character)
{
    int count;
    const char **texts = cli_texts(arguments, "prop", &count);
    int status = cli_add_props(texts, count, clip, quiet, character);
    free(texts);
    return status;
}
