/* cmd_completion.c: the bash completion, generated from the command tables and installed by `make install`. */
#include <string.h>

#include "cli.h"

/* Print possible values of an option, by the value's name in help. Others complete to files. */
static void print_values(const cli_option *option)
{
    if (option->kind == CLI_CHOICE) {
        for (const char *at = option->choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
            printf("%.*s ", (int)strcspn(at, "|"), at);
    } else if (strcmp(option->name, "solver") == 0) {
        for (int i = 0; i < cutis_solver_count(); i++) printf("%s ", cutis_solver(i)->name);
    }
}

static void print_command(const cli_command *command)
{
    printf("    %s)\n        options=\"", command->name);

    const cli_option *option;
    for (int i = 0; (option = cli_option_at(command, i)); i++) {
        if (option->letter) printf("-%c ", option->letter);
        printf("--%s ", option->name);
    }

    printf("\"\n        case \"$previous\" in\n");
    for (int i = 0; (option = cli_option_at(command, i)); i++) {
        if (option->kind == CLI_FLAG) continue;
        printf("        --%s", option->name);
        if (option->letter) printf("|-%c", option->letter);

        printf(") values=\"");
        print_values(option);
        printf("\"; value=yes ;;\n");
    }
    printf("        esac\n");

    if (strcmp(command->name, "solvers") == 0) {
        printf("        plain=\"");
        for (int i = 0; i < cutis_solver_count(); i++) printf("%s ", cutis_solver(i)->name);
        printf("\"\n");
    } else if (strcmp(command->name, "help") == 0) {
        printf("        plain=\"$commands\"\n");
    } else if (strstr(command->usage, "NAME") && strcmp(command->name, "bench") != 0) {
        printf("        plain=\"$models\"\n");
    }
    printf("        ;;\n");
}

static int run(const cli_arguments *arguments)
{
    (void)arguments;

    /* words that do not depend on the command */
    printf("# bash completion for cutis %s, made by 'cutis completion'\n_cutis()\n{\n", cutis_version());
    printf("    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n");

    printf("    local commands=\"");
    for (int i = 0; cli_commands[i]; i++)
        if (!cli_commands[i]->hidden) printf("%s ", cli_commands[i]->name);
    printf("\"\n    local models=\"");
    for (int i = 0; i < cutis_zoo_count(); i++) printf("%s ", cutis_zoo(i).name);

    printf("\"\n    local options= values= value= plain=\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$current\"))\n"
           "        return\n"
           "    fi\n"
           "    case \"${COMP_WORDS[1]}\" in\n");

    /* options and values of each command */
    for (int i = 0; cli_commands[i]; i++)
        if (!cli_commands[i]->hidden) print_command(cli_commands[i]);

    /* choose by what is being typed */
    printf("    esac\n"
           "    if [ -n \"$value\" ]; then\n"
           "        COMPREPLY=($(compgen -W \"$values\" -- \"$current\"))\n"
           "        [ -n \"$values\" ] || COMPREPLY=($(compgen -f -- \"$current\"))\n"
           "    elif [[ $current == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
           "    else\n"
           "        COMPREPLY=($(compgen -W \"$plain\" -- \"$current\") $(compgen -f -- \"$current\"))\n"
           "    fi\n"
           "}\n"
           "complete -o filenames -F _cutis cutis\n");
    return CLI_OK;
}

const cli_command cmd_completion = {
    .name = "completion",
    .usage = "",
    .summary = "print the bash completion script",
    .examples = "cutis completion > /etc/bash_completion.d/cutis",
    .run = run,
    .hidden = true,
};
