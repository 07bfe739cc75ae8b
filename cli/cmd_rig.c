/* cmd_rig.c: create a skeleton and weights for a mesh, and compare them with another rig. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "example_files.h"

extern const cli_command cmd_render;

static double longest_side(const cutis_character *c)
{
    double longest = 0;
    for (int k = 0; k < 3; k++) longest = fmax(longest, c->bounds_max[k] - c->bounds_min[k]);
    return longest;
}

/* A table of each joint's distance from its counterpart, over the longest side. Returns the mean in percent. */
static double compare_joints(const cutis_character *rigged, const cutis_character *other)
{
    float *a = cli_allocate(12 * (size_t)rigged->joint_count, sizeof *a);
    float *b = cli_allocate(12 * (size_t)other->joint_count, sizeof *b);

    /* positions and matches of the joints */
    double sum = 0, size = longest_side(other);
    int count = 0;
    cutis_pose_rest(rigged, a);
    cutis_pose_rest(other, b);

    int *matches = cli_allocate((size_t)rigged->joint_count, sizeof *matches);
    cutis_error failure;
    bool matched = cutis_character_match_joints(rigged, other, matches, &failure) == CUTIS_OK;
    if (!matched) cli_library_error(&failure);

    cli_table *table = cli_table_create("llr");
    cli_table_heads(table, "joint|reference|error, % of the height");
    for (int j = 0; j < rigged->joint_count && matched; j++) {
        int k = matches[j];
        double square = 0;
        if (k < 0) continue;
        for (int i = 0; i < 3; i++) {
            double d = a[12 * j + 4 * i + 3] - b[12 * k + 4 * i + 3];
            square += d * d;
        }
        double error = 100 * sqrt(square) / size;

        cli_table_cell(table, "%s", rigged->joints[j].name);
        cli_table_cell(table, "%s", other->joints[k].name);
        cli_table_cell(table, "%.2f", error);

        sum += error;
        count++;
    }

    cli_table_print(table, "  ");
    free(a);
    free(b);
    free(matches);

    double mean = count ? sum / count : NAN;
    printf("mean error of %d joints: %.2f %% of the height\n", count, mean);
    return mean;
}

/* Mean distance over all clips of the vertices under two sets of weights, by linear-blend skinning, in % of the size.
 */
static int compare_weights(const cutis_character *one, const cutis_character *two)
{
    const cutis_character *characters[2] = {one, two};
    cutis_model *models[2] = {NULL, NULL};
    cutis_state *states[2] = {NULL, NULL};
    cutis_error error;
    int status = CLI_OK;

    /* linear-blend skinning with either */
    for (int i = 0; i < 2 && status == CLI_OK; i++) {
        cutis_model_def def = cutis_model_def_default();
        def.character = characters[i];
        if (cutis_model_build(&def, &models[i], &error) != CUTIS_OK ||
            cutis_state_create(models[i], NULL, &states[i], &error) != CUTIS_OK)
            status = cli_library_error(&error);
    }
    float *joints = cli_allocate(12 * (size_t)one->joint_count, sizeof *joints);

    /* mean distance over each clip */
    for (int c = 0; c < one->clip_count && status == CLI_OK; c++) {
        double sum = 0;
        long samples = 0;
        enum { FRAMES = 24 };

        /* sample the clip evenly */
        for (int f = 0; f < FRAMES; f++) {
            double time = one->clips[c].start + (one->clips[c].end - one->clips[c].start) * f / (FRAMES - 1.0);
            cutis_pose_sample(one, c, time, joints);
            for (int i = 0; i < 2; i++) cutis_state_reset(models[i], states[i], joints);

            const float *p = cutis_state_positions(models[0], states[0]),
                        *q = cutis_state_positions(models[1], states[1]);

            /* distances of all vertices */
            for (int v = 0; v < one->vertex_count; v++, samples++) {
                double square = 0;
                for (int k = 0; k < 3; k++) square += pow((double)p[3 * v + k] - q[3 * v + k], 2);
                sum += sqrt(square);
            }
        }

        printf("clip %-16s mean distance from the old weights: %.3f %% of the size\n", one->clips[c].name,
               100 * sum / (double)samples / one->size);
    }

    free(joints);
    for (int i = 0; i < 2; i++) {
        cutis_state_destroy(states[i]);
        cutis_model_destroy(models[i]);
    }
    return status;
}

typedef struct landmark_list {
    int count;
    cutis_rig_landmark *items;
    json_t *json; /* owns the names */
} landmark_list;

/* {"hips": [x, y, z], ...} */
static int load_landmarks(const char *path, landmark_list *list)
{
    const char *name;
    json_t *value;

    list->json = cli_json_load(path);
    if (!list->json) return CLI_FAILURE;
    if (!json_is_object(list->json)) return cli_error("'%s' must hold an object {\"joint\": [x, y, z], ...}", path);
    list->items = cli_allocate(json_object_size(list->json) + 1, sizeof *list->items);

    /* of three numbers each */
    json_object_foreach(list->json, name, value)
    {
        cutis_rig_landmark *item = &list->items[list->count++];
        item->name = name;
        if (!json_is_array(value) || json_array_size(value) != 3)
            return cli_error("'%s': '%s' must be three numbers [x, y, z]", path, name);

        for (size_t k = 0; k < 3; k++) {
            json_t *number = json_array_get(value, k);
            if (!json_is_number(number)) return cli_error("'%s': '%s' must be three numbers [x, y, z]", path, name);
            item->position[k] = (float)json_number_value(number);
        }
    }
    return CLI_OK;
}

static void print_report(const char *name, const cutis_rig *rig, bool kept)
{
    char vertices[32];
    printf("%s: %s vertices, %d joints%s%s\n", name, cli_format_count(rig->character->vertex_count, vertices),
           rig->character->joint_count, kept ? "" : ", template ", rig->skeleton);
    for (int i = 0; i < rig->sentence_count; i++) printf("  %s\n", rig->sentences[i]);
    if (kept)
        printf("  weights %.1f ms\n", rig->weight_ms);
    else
        printf("  curves %.3f ms, skeleton %.3f ms, weights %.1f ms\n", rig->curve_ms, rig->skeleton_ms,
               rig->weight_ms);
}

/*
 * Direction that a rigged body faces, in degrees about its up axis from the front of the scene. It is perpendicular to
 * the line from the right joints to the left ones; 0 without sides.
 */
static double body_heading(const cutis_character *c, const float *joints, bool z_up)
{
    double left[3] = {0, 0, 0};
    for (int j = 0; j < c->joint_count; j++) {
        size_t length = strlen(c->joints[j].name);
        if (length < 3 || strcmp(c->joints[j].name + length - 2, "_l") != 0) continue;

        /* its twin on the right */
        char *name = cli_format("%s", c->joints[j].name);
        name[length - 1] = 'r';
        int other = cutis_character_find_joint(c, name);
        free(name);
        for (int k = 0; k < 3 && other >= 0; k++)
            left[k] += (double)joints[12 * j + 4 * k + 3] - joints[12 * other + 4 * k + 3];
    }

    /* the front is +Z, or -Y where +Z is up; left of it is +X */
    double aside = z_up ? left[1] : -left[2];
    if (left[0] == 0 && aside == 0) return 0;
    return atan2(aside, left[0]) * 180 / 3.14159265358979;
}

/* Draw numbered joints from three sides and print a table of their names and positions, usable as landmarks. */
static int picture_draw(const cutis_character *c, bool z_up, const char *path, const char *picture, bool quiet)
{
    /* front and side views relative to the body's heading */
    float *joints = cli_allocate(12 * (size_t)c->joint_count, sizeof *joints);
    cutis_pose_rest(c, joints);
    double turn = body_heading(c, joints, z_up);
    char *view = cli_format("front@%.0f,side@%.0f,top@%.0f", turn, turn, turn);

    /* draw the rig with its joints' numbers */
    char *argv[] = {(char *)path, "--style", z_up ? "numbers,no-floor,white,z-up" : "numbers,no-floor,white",
                    "--view",     view,      "--size",
                    "1800x700",   "-o",      (char *)picture,
                    "--quiet"};
    cli_arguments arguments;
    bool help;
    int status = cli_parse(&cmd_render, CLI_COUNT(argv), argv, &arguments, &help);
    if (status == CLI_OK) status = cmd_render.run(&arguments);

    cli_arguments_free(&arguments);
    free(view);
    if (status != CLI_OK || quiet) {
        free(joints);
        return status;
    }

    /* their names and places */
    cli_table *table = cli_table_create("rlrrr");
    cli_table_heads(table, "number|joint|x|y|z");

    for (int j = 0; j < c->joint_count; j++) {
        cli_table_cell(table, "%d", j);
        cli_table_cell(table, "%s", c->joints[j].name);
        for (int k = 0; k < 3; k++) cli_table_cell(table, "%.4g", joints[12 * j + 4 * k + 3]);
    }

    printf("%s shows:\n", picture);
    cli_table_print(table, "  ");
    free(joints);
    return CLI_OK;
}

/* --against: the input's own rig, or that of another file. */
static int compare_all(const cli_arguments *arguments, const cutis_character *character, const cutis_rig *rig,
                       bool kept)
{
    const char *against = cli_text(arguments, "against");
    int status = CLI_OK;
    if (!against) return CLI_OK;

    /* against the file's own skeleton, or its weights */
    if (strcmp(against, "own") == 0) {
        if (kept && character->clip_count > 0) return compare_weights(character, rig->character);
        compare_joints(rig->character, character);
        return CLI_OK;
    }

    cutis_character *other = cli_load_character(against, true, &status);
    if (!other) return status;
    compare_joints(rig->character, other);
    cutis_character_destroy(other);
    return CLI_OK;
}

/* A glTF file keeps its contents; from other formats the character is written. */
static int save(const cutis_character *character, const char *source, const char *path, bool kept)
{
    cutis_error error;
    cutis_result result = CUTIS_ERROR_UNSUPPORTED;
    if (kept && cli_is_gltf(source)) cli_warning("materials are kept by name only, without textures");
    if (!kept && cli_is_gltf(source)) {
        result = cutis_character_save_rig(character, source, path, &error);
        if (result == CUTIS_ERROR_UNSUPPORTED) cli_warning("materials are kept by name only: %s", error.text);
    }
    if (result == CUTIS_ERROR_UNSUPPORTED) result = cutis_character_save(character, path, &error);
    return result == CUTIS_OK ? CLI_OK : cli_library_error(&error);
}

/* With examples, also save their clip and morph targets. */
static int save_all(const cutis_character *character, const example_set *examples, const char *source, const char *path,
                    bool kept)
{
    cutis_error error;
    cutis_character *moved;
    if (examples->count == 0) return save(character, source, path, kept);
    if (cutis_rig_examples(character, examples->count, examples->positions, 1, NULL, &moved, &error) != CUTIS_OK)
        return cli_library_error(&error);
    int status = save(moved, source, path, true);
    cutis_character_destroy(moved);
    return status;
}

static void turn_vector(const float from[3], float to[3])
{
    to[0] = from[0];
    to[1] = from[2];
    to[2] = -from[1];
}

/* A mesh whose +Z points up, turned so that +Y does, as glTF wants it. */
static cutis_character *turn_up(cutis_character *character, int *status)
{
    cutis_character given = *character, *turned = NULL;
    cutis_error error;
    size_t count = 3 * (size_t)given.vertex_count;
    float *positions = cli_allocate(count, sizeof *positions);
    float *normals = character->normals ? cli_allocate(count, sizeof *normals) : NULL;

    /* z up becomes y up */
    for (size_t v = 0; v < count; v += 3) {
        turn_vector(character->positions + v, positions + v);
        if (normals) turn_vector(character->normals + v, normals + v);
    }

    given.positions = positions;
    given.normals = normals;
    if (cutis_character_create(&given, NULL, &turned, &error) != CUTIS_OK) *status = cli_library_error(&error);
    free(positions);
    free(normals);
    cutis_character_destroy(character);
    return turned;
}

/* Check the command line. */
static int check_arguments(const cli_arguments *arguments)
{
    const char *name = arguments->positionals[0], *path = cli_text(arguments, "output");
    if (cli_given(arguments, "picture") && !path)
        return cli_usage_error(arguments, "--picture shows the written file, so it needs -o OUT.glb");
    if (!path && !cli_given(arguments, "against"))
        return cli_usage_error(arguments, "the output is missing: -o FILE.glb");
    if (path && !cli_has_ending(path, ".glb")) return cli_usage_error(arguments, "'%s' must end in .glb", path);
    return path ? cli_check_output(path, name, false) : CLI_OK;
}

/* Load the mesh and turn it upright if needed; NULL and *status on failure. */
static cutis_character *load_mesh(const cli_arguments *arguments, int *status)
{
    const char *name = arguments->positionals[0];
    cutis_character *character = cli_load_character(name, true, status);
    if (!character || strcmp(cli_text(arguments, "up"), "z") != 0) return character;
    if (cli_is_gltf(name) || cli_given(arguments, "example")) {
        cutis_character_destroy(character);
        *status = cli_usage_error(
            arguments, "--up z is for a single bare mesh (.obj, .ply, .stl, .off); in glTF files +Y points up");
        return NULL;
    }
    return turn_up(character, status);
}

/* Create the rig. The caller loads examples; landmarks and a pattern are loaded here. */
static int make_rig(const cli_arguments *arguments, const cutis_character *character, const example_set *examples,
                    const cutis_jobs *jobs, cutis_rig **rig)
{
    static const char *const methods[] = {"auto", "heat", "voxel"};
    const char *name = arguments->positionals[0], *template = cli_text(arguments, "template");
    bool kept = strcmp(template, "own") == 0, foreign = strchr(template, '.') != NULL;

    /* what it starts from */
    int status = CLI_OK;
    landmark_list landmarks = {0};
    cutis_character *pattern = foreign ? cli_load_character(template, true, &status) : NULL;
    if (status == CLI_OK && cli_given(arguments, "landmarks"))
        status = load_landmarks(cli_text(arguments, "landmarks"), &landmarks);

    /* only bare meshes have an unknown up axis */
    cutis_rig_def def = cutis_rig_def_default();
    def.character = character;
    if (!kept && !foreign) def.skeleton = template;
    def.pattern = pattern;
    def.y_up = strcmp(cli_text(arguments, "up"), "auto") != 0 ||
               (!cli_has_ending(name, ".obj") && !cli_has_ending(name, ".ply") && !cli_has_ending(name, ".stl") &&
                !cli_has_ending(name, ".off"));

    /* landmarks, method and examples */
    def.landmarks = landmarks.items;
    def.landmark_count = landmarks.count;
    for (int i = 0; i < CLI_COUNT(methods); i++)
        if (strcmp(cli_text(arguments, "weights"), methods[i]) == 0) def.method = (cutis_rig_method)i;

    def.poses = examples->positions;
    def.pose_count = examples->count;
    def.max_influences = cli_integer(arguments, "influences");
    def.jobs = jobs;

    cutis_error error;
    if (status == CLI_OK && (kept ? cutis_rig_bind : cutis_rig_create)(&def, rig, &error) != CUTIS_OK)
        status = cli_library_error(&error);

    cutis_character_destroy(pattern);
    free(landmarks.items);
    json_decref(landmarks.json);
    return status;
}

static int run(const cli_arguments *arguments)
{
    const char *name = arguments->positionals[0], *path = cli_text(arguments, "output");
    bool kept = strcmp(cli_text(arguments, "template"), "own") == 0, quiet = cli_flag(arguments, "quiet");

    int status = check_arguments(arguments);
    if (status != CLI_OK) return status;

    cutis_character *character = load_mesh(arguments, &status);
    if (!character) return status;

    /* the rig, from the mesh and its example poses */
    cutis_rig *rig = NULL;
    example_set examples = {0};
    int example_count;
    const char **paths = cli_texts(arguments, "example", &example_count);

    cutis_pool *pool = cli_create_pool(cli_integer(arguments, "threads"));
    status = pool ? examples_load(character, example_count, paths, &examples) : CLI_FAILURE;
    if (status == CLI_OK) status = make_rig(arguments, character, &examples, cutis_pool_jobs(pool), &rig);

    /* report, file, picture, comparison */
    if (status == CLI_OK && !quiet) print_report(path ? path : name, rig, kept);
    if (status == CLI_OK && path) status = save_all(rig->character, &examples, name, path, kept);
    if (status == CLI_OK && cli_given(arguments, "picture"))
        status = picture_draw(rig->character, rig->z_up, path, cli_text(arguments, "picture"), quiet);
    if (status == CLI_OK) status = compare_all(arguments, character, rig, kept);

    /* an uncertain result has its own exit code */
    if (status == CLI_OK && !kept && !rig->recognised && !cli_flag(arguments, "accept")) {
        cli_warning("the body was not recognised with certainty; inspect the skeleton ('cutis render %s --style "
                    "skeleton'), or select one with --template or --landmarks",
                    path ? path : "OUT.glb");
        status = CLI_CHECK;
    }

    cutis_rig_destroy(rig);
    examples_free(&examples);
    free(paths);
    cutis_pool_destroy(pool);
    cutis_character_destroy(character);
    return status;
}

static const cli_option options[] = {
    CLI_OPTION_OUTPUT("OUT.glb", "the rigged character"),
    {.name = "template",
     .letter = 't',
     .kind = CLI_TEXT,
     .value = "T|FILE.glb",
     .help = "skeleton to fit: auto, biped, quadruped, bird, many_legs, fish, hand, snake, chain, tree; own: keep the "
             "skeleton and clips of the file and compute new weights; a file: fit the skeleton of that character",
     .fallback = "auto"},
    {.name = "weights",
     .letter = 'w',
     .kind = CLI_CHOICE,
     .value = "W",
     .help = "method for skin weights",
     .fallback = "auto",
     .choices = "auto|heat|voxel"},
    {.name = "landmarks",
     .kind = CLI_TEXT,
     .value = "FILE.json",
     .help = "known joint positions, inside or on the surface: {\"shin_l\": [x, y, z], ...}; the fit starts from them"},
    {.name = "picture",
     .kind = CLI_TEXT,
     .value = "P.png",
     .help = "picture with numbered joints from the front, the side and above; their names and positions are printed"},
    CLI_OPTION_EXAMPLE("the same mesh in another pose: joints are placed where it bends most, and the pose is saved "
                       "for solver curves"),
    {.name = "up",
     .kind = CLI_CHOICE,
     .value = "AXIS",
     .help = "up axis of a bare mesh (.obj, .ply, .stl, .off); auto: fit both; z: turn the mesh to y up",
     .fallback = "auto",
     .choices = "auto|y|z"},
    {.name = "accept",
     .kind = CLI_FLAG,
     .help = "exit with 0 even when no template was recognised with certainty (otherwise 3)"},
    {.name = "influences",
     .kind = CLI_INTEGER,
     .value = "N",
     .help = "maximum number of joints per vertex",
     .fallback = "4",
     .min = 1,
     .max = 8},
    {.name = "against",
     .kind = CLI_TEXT,
     .value = "own|FILE|NAME",
     .help = "print joint errors against this rig, or against the input's own; with --template own: of positions over "
             "all clips"},
};

const cli_command cmd_rig = {
    .name = "rig",
    .usage = "FILE|NAME -o OUT.glb [--template T] [--weights W] [--landmarks F.json]",
    .summary = "create a skeleton and skin weights for a mesh",
    .description = "Finds the limbs of the mesh, fits a template skeleton to them and computes skin weights by bone "
                   "heat, or by voxels where bone heat is unavailable. The report lists the findings and the method "
                   "used for each part. Use --landmarks to correct joints.",
    .examples = "cutis rig statue.obj -o statue.glb\n"
                "cutis rig scan.obj --up z -o scan.glb\n"
                "cutis rig man --against own\n"
                "cutis rig mesh.obj --against hand_made.glb -o mesh.glb",
    .options = options,
    .option_count = CLI_COUNT(options),
    .positional_min = 1,
    .positional_max = 1,
    .run = run,
};
