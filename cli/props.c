/*
 * props.c: things to touch, as the command line names them.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* "NAME@X,Y,Z,SCALE" taken apart; the name is to be freed. */
static int request_parse(const char *text, cutis_prop_request *request)
{
    double numbers[4];

    const char *at = strrchr(text, '@');
    *request = (cutis_prop_request){.scale = 1};

    /* An @ in a folder's name is none of ours. */
    if (at && strchr(at, '/')) at = NULL;
    request->name = cli_format("%.*s", at ? (int)(at - text) : (int)strlen(text), text);
    if (!*request->name) {
        cli_error("--prop '%s': the name is missing; use a built-in prop, such as cube or ball, or a .glb file", text);
        return CLI_USAGE;
    }

    if (!at) return CLI_OK;
    if (!cli_parse_numbers(at + 1, ',', 3, numbers) && !cli_parse_numbers(at + 1, ',', 4, numbers)) {
        cli_error("--prop %s: after the @ give X,Y,Z or X,Y,Z,SCALE", text);
        return CLI_USAGE;
    }

    if (cli_parse_numbers(at + 1, ',', 4, numbers)) request->scale = numbers[3];
    if (!(request->scale > 0)) {
        cli_error("--prop %s: the scale must be above 0", text);
        return CLI_USAGE;
    }

    /* where it is put */
    request->placed = true;
    for (int k = 0; k < 3; k++) request->position[k] = (float)numbers[k];
    return CLI_OK;
}

int cli_prop_requests(const cli_arguments *arguments, cutis_prop_request **requests, int *count)
{
    int status = CLI_OK, given = cli_text_count(arguments, "prop");
    *requests = cli_allocate((size_t)given + 1, sizeof **requests);
    *count = 0;
    while (*count < given && status == CLI_OK) {
        const char *text = cli_text_at(arguments, "prop", *count);
        status = request_parse(text, &(*requests)[(*count)++]);
    }
    return status;
}

void cli_prop_requests_free(cutis_prop_request *requests, int count)
{
    for (int i = 0; i < count; i++) free((void *)requests[i].name);
    free(requests);
}

static void on_message(void *quiet, cutis_bake_message kind, const char *text)
{
    if (!*(bool *)quiet && kind == CUTIS_BAKE_WARNING) cli_warning("%s", text);
}

int cli_add_given_props(const cli_arguments *arguments, int clip, bool quiet, cutis_character **character)
{
    int count;
    cutis_prop_request *requests;

    int status = cli_prop_requests(arguments, &requests, &count);
    cutis_character *more;
    cutis_error error;

    /* those that were asked for */
    if (status == CLI_OK && count > 0) {
        if (cutis_bake_add_props(*character, requests, count, clip, on_message, &quiet, NULL, &more, &error) ==
            CUTIS_OK) {
            cutis_character_destroy(*character);
            *character = more;
        } else {
            status = cli_library_error(&error);
        }
    }

    cli_prop_requests_free(requests, count);
    return status;
}
