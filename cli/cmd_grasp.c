/*
 * cmd_grasp.c: a hand grasps a prop: plan, simulation, report, file.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Length of the built-in hand over its size, by which built-in props are sized. */
static const double HAND_SHARE = 0.198 / 0.307;

/* NAME or NAME@SCALE, or a .glb. */
typedef struct prop_choice {
    char *name;
    double scale;
    cutis_props *file;
    cutis_placed_prop placed;
} prop_choice;

static void prop_free(prop_choice *choice)
{
    free(choice->name);
    cutis_props_destroy(choice->file);
}

static int prop_load(const cli_arguments *arguments, const cutis_character *character, double hand_length,
                     prop_choice *choice)
{
    const char *text = arguments->positional_count > 1 ? arguments->positionals[1] : "ball";
    const char *at = strrchr(text, '@');
    cutis_error error;
    *choice = (prop_choice){.scale = 1};
    if (at && strchr(at, '/')) at = NULL;
    if (at && (!cli_parse_numbers(at + 1, ',', 1, &choice->scale) || !(choice->scale > 0)))
        return cli_usage_error(arguments, "prop '%s': after the @ give a scale above 0", text);
    choice->name = cli_format("%.*s", at ? (int)(at - text) : (int)strlen(text), text);

    /* a built-in one suits the hand, not the body */
    if (!strpbrk(choice->name, "./")) {
        double scale = choice->scale * hand_length / HAND_SHARE / (double)character->size;
        cutis_result result =
            cutis_zoo_prop_make(choice->name, character, -1, NULL, scale, NULL, &choice->placed, &error);
        return result == CUTIS_OK ? CLI_OK : cli_library_error(&error);
    }

    /* the first of a file */
    if (cutis_props_load(choice->name, NULL, &choice->file, &error) != CUTIS_OK) return cli_library_error(&error);
    for (int i = 0; i < choice->file->warning_count; i++) cli_warning("%s", choice->file->warnings[i]);
    if (choice->file->count > 1)
        cli_warning("'%s' has %d props; the hand grasps '%s'", choice->name, choice->file->count,
                    choice->file->props[0].prop.name);
    choice->placed = choice->file->props[0];
    for (int k = 0; k < 12; k++)
        if (k % 4 < 3) choice->placed.place[k] *= (float)choice->scale;
    if (choice->placed.prop.role == CUTIS_PROP_COLLIDER) choice->placed.prop.role = CUTIS_PROP_RIGID;
    return CLI_OK;
}

/* ---- the report ---- */

static void print_plan(const cutis_grasp *g, double metres)
{
    const cutis_character *c = g->character;
    printf("hand       '%s', %s, %d fingers %s, %.3g m long\n", c->joints[g->hand.wrist].name,
           g->hand.side == CUTIS_GRASP_LEFT ? "left" : "right", g->hand.finger_count,
           g->hand.by_names ? "by names" : "by the shape of the skeleton", (double)g->hand.length * metres);
    printf("prop       '%s', %.3g N, friction %.3g\n", c->props[g->prop].name, g->weight, g->friction);
    printf("force      %.3g N from each side%s\n", g->force,
           g->force_reached ? "" : ", not reached: a finger is at its limit, or its bone at the prop");
    if (isfinite(g->force_needed))
        printf("closure    score %.3g; %.3g N of normal forces hold the weight\n", g->score, g->force_needed);
    else
        printf("closure    none: no forces at these contacts hold the weight\n");

    cli_table *table = cli_table_create("llrrrr");
    cli_table_heads(table, "finger|bone|area mm2|force N|depth mm|cone");
    for (int i = 0; i < g->contact_count; i++) {
        const cutis_grasp_contact *contact = &g->contacts[i];
        cli_table_cell(table, "%s", contact->finger);
        cli_table_cell(table, "%s", contact->joint);
        cli_table_cell(table, "%.0f", contact->area * 1e6);
        cli_table_cell(table, "%.2f", contact->force);
        cli_table_cell(table, "%.2f", contact->depth * metres * 1e3);
        cli_table_cell(table, "%.0f deg", contact->cone);
    }
    cli_table_print(table, "  ");
}

static void print_trial(const cutis_grasp *g, const cutis_grasp_trial *t, double metres)
{
    printf("%s by %s: %.1f of %.1f mm, slip %.2f mm, bone %.2f mm inside, %.3g %% of size penetration\n",
           t->held ? "lifted" : "NOT HELD", t->solver, t->lifted * metres * 1e3, g->lift * metres * 1e3,
           t->slip * metres * 1e3, t->bone_depth * metres * 1e3, 100 * t->penetration);
}

static json_t *numbers_json(const float *values)
{
    return json_pack("[f, f, f]", (double)values[0], (double)values[1], (double)values[2]);
}

static json_t *report_json(const cutis_grasp *g, const cutis_grasp_trial *t)
{
    const cutis_character *c = g->character;
    json_t *root = json_object(), *contacts = json_array();
    for (int i = 0; i < g->contact_count; i++) {
        const cutis_grasp_contact *contact = &g->contacts[i];
        json_array_append_new(contacts,
                              json_pack("{s:s, s:s, s:o, s:o, s:f, s:f, s:f, s:f}", "finger", contact->finger, "bone",
                                        contact->joint, "place", numbers_json(contact->place), "normal",
                                        numbers_json(contact->normal), "area", contact->area, "force", contact->force,
                                        "depth", contact->depth, "cone", contact->cone));
    }
    json_object_set_new(root, "hand",
                        json_pack("{s:s, s:s, s:i, s:b, s:f}", "wrist", c->joints[g->hand.wrist].name, "side",
                                  g->hand.side == CUTIS_GRASP_LEFT ? "left" : "right", "fingers", g->hand.finger_count,
                                  "by_names", (int)g->hand.by_names, "length", (double)g->hand.length));
    json_object_set_new(root, "prop", cli_json_string(c->props[g->prop].name));
    json_object_set_new(root, "unit", cli_json_real(g->unit));
    json_object_set_new(root, "weight", cli_json_real(g->weight));
    json_object_set_new(root, "friction", cli_json_real(g->friction));
    json_object_set_new(root, "force", cli_json_real(g->force));
    json_object_set_new(root, "force_reached", json_boolean(g->force_reached));
    json_object_set_new(root, "force_needed", isfinite(g->force_needed) ? cli_json_real(g->force_needed) : json_null());
    json_object_set_new(root, "score", cli_json_real(g->score));
    json_object_set_new(root, "placements", json_integer(g->tried));
    json_object_set_new(root, "contacts", contacts);
    if (!t) return root;
    json_object_set_new(root, "trial",
                        json_pack("{s:s, s:b, s:f, s:f, s:f, s:f, s:f, s:o, s:i, s:f, s:f}", "solver", t->solver,
                                  "held", (int)t->held, "lifted", t->lifted, "lift", g->lift, "slip", t->slip,
                                  "penetration", t->penetration, "bone_depth", t->bone_depth, "bone",
                                  t->bone >= 0 ? cli_json_string(c->joints[t->bone].name) : json_null(), "unconverged",
                                  (int)t->unconverged, "limited", t->limited_share, "step_ms", t->step_ms));
    return root;
}

/* ---- the command ---- */

static bool on_progress(void *context, long done, long total)
{
    (void)context;
    (void)done;
    (void)total;
    return !cli_interrupted();
}

static int report(const cli_arguments *arguments, const cutis_grasp *g, const cutis_grasp_trial *trial)
{
    const char *path = cli_text(arguments, "report");
    bool quiet = cli_flag(arguments, "quiet");
    if (!quiet) print_plan(g, g->unit);
    if (!quiet && trial) print_trial(g, trial, g->unit);
    return path ? cli_json_save(report_json(g, trial), path) : CLI_OK;
}

static int simulate_and_save(const cli_arguments *arguments, const cutis_grasp *g)
{
    const char *path = cli_text(arguments, "output");
    cutis_error error;
    cutis_grasp_trial trial;
    bool planned = cli_flag(arguments, "plan");
    if (!planned) {
        cutis_pool *pool = cli_create_pool(cli_integer(arguments, "threads"));
        if (!pool) return CLI_FAILURE;
        cutis_result result = cutis_grasp_try(g, cutis_pool_jobs(pool), on_progress, NULL, &trial, &error);
        cutis_pool_destroy(pool);
        if (result == CUTIS_ERROR_INTERRUPTED) return CLI_INTERRUPTED;
        if (result != CUTIS_OK) return cli_library_error(&error);
    }

    /* a file of a dropped prop is written, too: it shows why */
    if (path && cutis_character_save(g->character, path, &error) != CUTIS_OK) return cli_library_error(&error);
    int status = report(arguments, g, planned ? NULL : &trial);
    if (status != CLI_OK || planned) return status;
    if (!trial.held) cli_warning("prop '%s' slips or falls in the lift", g->character->props[g->prop].name);
    return !trial.held && cli_flag(arguments, "check") ? CLI_CHECK : CLI_OK;
}

static int run(const cli_arguments *arguments)
{
    static const char *const types[] = {"power", "pinch", "hook"}, *const sides[] = {"any", "left", "right"};
    const char *name = arguments->positionals[0], *path = cli_text(arguments, "output");
    int status = CLI_OK;
    if (path && !cli_has_ending(path, ".glb")) return cli_usage_error(arguments, "'%s' must end in .glb", path);
    if (cli_flag(arguments, "plan") && cli_flag(arguments, "check"))
        return cli_usage_error(arguments, "--check needs the simulation, which --plan leaves out");
    if (path) status = cli_check_output(path, name, false);
    if (status != CLI_OK) return status;

    cutis_character *character = cli_load_character(name, cli_flag(arguments, "quiet"), &status);
    if (!character) return status;
    if (path && cli_is_gltf(name)) cli_warning("materials are kept by name only, without textures");
    cutis_grasp_def def = cutis_grasp_def_default();
    for (int i = 0; i < 3; i++) {
        if (strcmp(cli_text(arguments, "type"), types[i]) == 0) def.type = (cutis_grasp_type)i;
        if (strcmp(cli_text(arguments, "side"), sides[i]) == 0) def.side = (cutis_grasp_side)i;
    }
    def.character = character;
    def.force = cli_given(arguments, "force") ? cli_number(arguments, "force") : 0;
    def.friction = cli_given(arguments, "friction") ? cli_number(arguments, "friction") : -1;
    def.lift = cli_given(arguments, "lift") ? cli_number(arguments, "lift") : -1;

    /* the hand, the prop that suits it, and both together */
    cutis_error error;
    cutis_hand_info hand;
    cutis_grasp *grasp = NULL;
    prop_choice choice = {.name = NULL};
    if (cutis_hand_find(character, def.side, false, NULL, &hand, &error) != CUTIS_OK)
        status = cli_library_error(&error);
    if (status == CLI_OK) status = prop_load(arguments, character, (double)hand.length, &choice);
    def.prop = &choice.placed;
    if (status == CLI_OK && cutis_grasp_create(&def, &grasp, &error) != CUTIS_OK) status = cli_library_error(&error);
    if (status == CLI_OK) status = simulate_and_save(arguments, grasp);

    cutis_grasp_destroy(grasp);
    prop_free(&choice);
    cutis_character_destroy(character);
    return status;
}

static const cli_option options[] = {
    CLI_OPTION_OUTPUT("OUT.glb", "the character with the prop and the clip 'grasp'"),
    {.name = "type",
     .letter = 't',
     .kind = CLI_CHOICE,
     .value = "T",
     .help = "power: against the palm; pinch: between thumb, index and middle finger; hook: in the bent fingers",
     .fallback = "power",
     .choices = "power|pinch|hook"},
    {.name = "side",
     .kind = CLI_CHOICE,
     .value = "S",
     .help = "which hand",
     .fallback = "any",
     .choices = "any|left|right"},
    {.name = "force",
     .kind = CLI_NUMBER,
     .value = "N",
     .help = "normal force of the thumb, and of the fingers together, newtons (default: twice what holds the weight by "
             "friction of at most 0.3)",
     .min = 0.01,
     .max = 1000},
    {.name = "friction",
     .kind = CLI_NUMBER,
     .value = "MU",
     .help = "friction of the prop (default: its own, else 0.8)",
     .min = 0,
     .max = 2},
    {.name = "lift",
     .kind = CLI_NUMBER,
     .value = "H",
     .help = "height of the lift, in the character's unit (default: one and a half lengths of the hand)",
     .min = 0,
     .max = 1e6},
    {.name = "plan", .kind = CLI_FLAG, .help = "do not simulate the lift"},
    {.name = "check", .kind = CLI_FLAG, .help = "exit with 3 when the prop slips or falls in the simulated lift"},
    {.name = "report", .kind = CLI_TEXT, .value = "R.json", .help = "contacts, forces, closure and the simulated lift"},
};

const cli_command cmd_grasp = {
    .name = "grasp",
    .usage = "HAND [PROP[@SCALE]] [-o OUT.glb] [--type power|pinch|hook] [--force N]",
    .summary = "close a hand on a prop and lift it",
    .description = "Finds the fingers of a hand or person by names or by the shape of the skeleton, places the prop, "
                   "closes each finger until it touches, squeezes and lifts. PROP is a built-in prop, sized for the "
                   "hand, or a .glb file; without it, a ball. The report lists contacts, forces and a score of force "
                   "closure. The lift is simulated; 'cutis bake OUT.glb' plays the clip with the flesh.",
    .examples = "cutis grasp hand cube -o cube.glb\n"
                "cutis grasp man ball --side left --friction 0.5 -o man.glb\n"
                "cutis grasp hand.glb pencil --type pinch --check --report pencil.json -o pencil.glb",
    .options = options,
    .option_count = CLI_COUNT(options),
    .positional_min = 1,
    .positional_max = 2,
    .run = run,
};
