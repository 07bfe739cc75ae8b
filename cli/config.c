/*
 * config.c: read options from a JSON configuration file.
 *
 * Each value is converted to command-line text and passes the same checks, so the option table is the only definition.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct config {
    const char *path; /* of the file, for messages */
    cli_arguments *arguments;
    struct cli_given *given; /* collected, in the file's order */
    int given_count, given_capacity;
} config;

/* Every message contains the file's path. */
#define CONFIG_ERROR(c, format, ...) \
    cli_usage_error((c)->arguments, "configuration '%s': " format, (c)->path, __VA_ARGS__)

static char *own(cli_arguments *arguments, char *text)
{
    arguments->owned = cli_resize(arguments->owned, (size_t)arguments->owned_count + 1, sizeof *arguments->owned);
    arguments->owned[arguments->owned_count++] = text;
    return text;
}

/* A number, boolean or string as command-line text; NULL for anything else. */
static char *scalar_text(const json_t *value)
{
    if (json_is_string(value)) return cli_format("%s", json_string_value(value));
    if (json_is_integer(value)) return cli_format("%lld", (long long)json_integer_value(value));
    if (json_is_boolean(value)) return cli_format("%s", json_is_true(value) ? "on" : "off");
    if (!json_is_real(value)) return NULL;

    /* The shortest form that reads back as the same number. */
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, json_real_value(value));
        if (strtod(text, NULL) == json_real_value(value)) break;
    }

    return cli_format("%s", text);
}

static int add(config *c, const cli_option *option, char *text)
{
    int status = cli_check_value(c->arguments, option, own(c->arguments, text));
    if (status != CLI_OK) return status;
    if (c->given_count == c->given_capacity) {
        c->given_capacity = c->given_capacity ? 2 * c->given_capacity : 32;
        c->given = cli_resize(c->given, (size_t)c->given_capacity, sizeof *c->given);
    }
    c->given[c->given_count++] = (struct cli_given){option, text};
    return CLI_OK;
}

/* A list of numbers as command-line text, with commas; NULL for anything else. */
static char *list_text(const json_t *list)
{
    char *text = cli_format("%s", "");
    for (size_t i = 0; text && i < json_array_size(list); i++) {
        char *number = json_is_number(json_array_get(list, i)) ? scalar_text(json_array_get(list, i)) : NULL;
        char *longer = number ? cli_format("%s%s%s", text, i ? "," : "", number) : NULL;
        free(number);
        free(text);
        text = longer;
    }
    return text;
}

/* One pair; a list of lists gives the key several times. */
static int add_pair(config *c, const cli_option *option, const char *name, const json_t *value)
{
    /* a list of lists: the option once for each */
    if (json_is_array(value) && json_is_array(json_array_get(value, 0))) {
        int status = CLI_OK;
        for (size_t i = 0; i < json_array_size(value) && status == CLI_OK; i++)
            status = add_pair(c, option, name, json_array_get(value, i));
        return status;
    }

    char *text = json_is_array(value) ? list_text(value) : scalar_text(value);
    int status = text ? add(c, option, cli_format("%s=%s", name, text))
                      : CONFIG_ERROR(c, "'%s' must be a number, true or false, a string or a list of numbers", name);

    free(text);
    return status;
}

/* {"a": {"b": 1}} behind `prefix` becomes prefix.a.b=1. */
static int add_pairs(config *c, const cli_option *option, const char *prefix, json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        int status;

        char *name = *prefix ? cli_format("%s.%s", prefix, key) : cli_format("%s", key);
        if (json_is_object(value))
            status = add_pairs(c, option, name, value);
        else
            status = add_pair(c, option, name, value);
        free(name);
        if (status != CLI_OK) return status;
    }
    return CLI_OK;
}

/* lead_in and lead-in are the same option. */
static void option_name(const char *key, char name[64])
{
    snprintf(name, 64, "%s", key);
    for (char *at = name; *at; at++)
        if (*at == '_') *at = '-';
}

static int unknown_key(const config *c, const char *key)
{
    const cli_command *command = c->arguments->command;

    /* an option of an earlier version */
    char name[64];
    option_name(key, name);
    const char *now = cli_former_option(command, name);
    if (now) return CONFIG_ERROR(c, "'%s' is now %s", key, now);

    const char *names[64];
    const cli_option *option;
    int count = 0;
    for (int i = 0; count < 63 && (option = cli_option_at(command, i)); i++)
        if (strcmp(option->name, "config") != 0) names[count++] = option->name;

    /* names that may be meant */
    if (cli_find_option(command, "set")) names[count++] = "bones";
    const char *nearest = cli_nearest(key, names, count);
    if (nearest) return CONFIG_ERROR(c, "unknown key '%s'; did you mean '%s'?", key, nearest);
    return CONFIG_ERROR(c, "unknown key '%s'", key);
}

static int add_key(config *c, const char *key, json_t *value)
{
    const cli_command *command = c->arguments->command;
    char name[64];

    option_name(key, name);
    const char *prefix = strcmp(name, "bones") == 0 ? "bones" : "";
    const cli_option *option = cli_find_option(command, *prefix ? "set" : name);
    if (!option || strcmp(option->name, "config") == 0) return unknown_key(c, key);

    /* by the kind of the option */
    if (option->kind == CLI_PAIR) {
        if (!json_is_object(value)) return CONFIG_ERROR(c, "'%s' must be an object", key);
        return add_pairs(c, option, prefix, value);
    }
    if (option->kind == CLI_FLAG) {
        if (!json_is_boolean(value)) return CONFIG_ERROR(c, "'%s' must be true or false", key);
        return json_is_true(value) ? add(c, option, cli_format("%s", "")) : CLI_OK;
    }

    /* One value, or a list where the option may be repeated. */
    bool list = option->repeats && json_is_array(value);
    size_t count = list ? json_array_size(value) : 1;
    for (size_t i = 0; i < count; i++) {
        char *text = scalar_text(list ? json_array_get(value, i) : value);
        if (!text) return CONFIG_ERROR(c, "'%s' must be a number or a string", key);
        int status = add(c, option, text);
        if (status != CLI_OK) return status;
    }

    return CLI_OK;
}

int cli_apply_config(cli_arguments *arguments, const char *path)
{
    config c = {.path = path, .arguments = arguments};
    json_t *root = cli_json_load(path);
    if (!root) return CLI_FAILURE;

    int status = CLI_OK;
    if (!json_is_object(root)) status = CONFIG_ERROR(&c, "%s", "the file must contain an object, {...}");
    const char *key;
    json_t *value;

    if (status == CLI_OK) json_object_foreach(root, key, value) if ((status = add_key(&c, key, value)) != CLI_OK) break;
    json_decref(root);

    /* The last value applies, so the command line is appended. */
    if (status == CLI_OK) {
        size_t count = (size_t)(c.given_count + arguments->given_count) + 1;
        struct cli_given *all = cli_allocate(count, sizeof *all);
        if (c.given_count) memcpy(all, c.given, (size_t)c.given_count * sizeof *all);
        memcpy(all + c.given_count, arguments->given, (size_t)arguments->given_count * sizeof *all);
        free(arguments->given);
        arguments->given = all;
        arguments->given_count += c.given_count;
    }

    free(c.given);
    return status;
}
