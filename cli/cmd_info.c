/* cmd_info.c: print the contents of a character and its problems. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* All derived data, shared by the text and the JSON output. */
typedef struct findings {
    cutis_topology topology;
    int influence_max, deforming_joint_count, unskinned_vertex_count;
    char **problems; /* sentences: the character's warnings and problems of the topology */
    int problem_count;
    const char *unit_hint; /* or NULL */
} findings;

static void add_problem(findings *f, char *text)
{
    f->problems = cli_resize(f->problems, (size_t)f->problem_count + 1, sizeof *f->problems);
    f->problems[f->problem_count++] = text;
}

static const char *plural(int count) { return count == 1 ? "" : "s"; }

static void find_problems(const cutis_character *character, findings *f)
{
    const cutis_topology *t = &f->topology;

    for (int i = 0; i < character->warning_count; i++) add_problem(f, cli_format("%s", character->warnings[i]));

    /* problems of the surface */
    const struct {
        int count;
        const char *what, *so;
    } checks[] = {
        {t->boundary_edge_count, "boundary edge", "the surface has holes there, so its volume is not defined"},
        {t->nonmanifold_edge_count, "edge", "shared by three or more triangles"},
        {t->nonmanifold_point_count, "point", "where separate sheets of the surface touch"},
        {t->inconsistent_edge_count, "edge", "whose two triangles face opposite ways"},
        {t->degenerate_triangle_count, "triangle", "of zero area"},
        {t->isolated_point_count, "point", "used by no face"},
        {t->self_intersection_count, "pair", "of triangles that intersect at rest"},
    };
    for (int i = 0; i < CLI_COUNT(checks); i++)
        if (checks[i].count)
            add_problem(f, cli_format("%d %s%s%s%s", checks[i].count, checks[i].what, plural(checks[i].count),
                                      i == 0 ? ": " : " ", checks[i].so));

    if (t->boundary_edge_count == 0 && t->inconsistent_edge_count == 0 && t->volume < 0)
        add_problem(f, cli_format("the surface is inside out: its volume is negative"));

    if (character->joint_count && f->unskinned_vertex_count == character->vertex_count)
        add_problem(f, cli_format("there are joints, but no vertex has a weight"));
    else if (character->joint_count && f->unskinned_vertex_count)
        add_problem(f,
                    cli_format("%d of %d vertices have no weight", f->unskinned_vertex_count, character->vertex_count));
}

/* A body is 0.02 m (a finger) to 10 m (a dinosaur) long; other sizes suggest another unit. */
static const char *find_unit_hint(double size)
{
    if (size > 5000) return "millimetres, read as metres";
    if (size > 25) return "centimetres, read as metres";
    if (size < 0.005) return "metres, scaled down";
    return NULL;
}

static int find_all(const cutis_character *character, findings *f)
{
    cutis_error error;
    *f = (findings){0};
    if (cutis_character_topology(character, NULL, &f->topology, &error) != CUTIS_OK) return cli_library_error(&error);

    /* influences of each vertex */
    for (int v = 0; v < character->vertex_count; v++) {
        int count = character->influence_first ? character->influence_first[v + 1] - character->influence_first[v] : 0;
        if (count > f->influence_max) f->influence_max = count;
        f->unskinned_vertex_count += count == 0;
    }
    for (int i = 0; i < character->joint_count; i++) f->deforming_joint_count += character->joints[i].deforms;

    f->unit_hint = find_unit_hint((double)character->size);
    find_problems(character, f);
    return CLI_OK;
}

static void key_range(const cutis_clip *clip, int *low, int *high)
{
    *low = *high = clip->track_count ? clip->tracks[0].key_count : 0;
    for (int i = 1; i < clip->track_count; i++) {
        int count = clip->tracks[i].key_count;
        *low = count < *low ? count : *low;
        *high = count > *high ? count : *high;
    }
}

/* ---- text ---- */

static void print_joints(const cutis_character *character, int parent, int depth)
{
    for (int i = 0; i < character->joint_count; i++) {
        if (character->joints[i].parent != parent) continue;
        printf("  %*s%s%s\n", 2 * depth, "", character->joints[i].name,
               character->joints[i].deforms ? "" : "  (moves no vertex)");
        print_joints(character, i, depth + 1);
    }
}

static void print_parts(const cutis_character *character)
{
    enum { SHOWN = 20 };
    if (character->part_count < 2) return;

    printf("parts\n");
    cli_table *table = cli_table_create("lrrl");

    for (int i = 0; i < character->part_count && i < SHOWN; i++) {
        const cutis_part *part = &character->parts[i];
        cli_table_cell(table, "%s", part->name);
        cli_table_cell(table, "%d vertices", part->vertex_count);
        cli_table_cell(table, "%d faces", part->face_count);
        cli_table_cell(table, "%s", part->material);
    }

    cli_table_print(table, "  ");
    if (character->part_count > SHOWN) printf("  and %d more\n", character->part_count - SHOWN);
}

static void print_details(const cutis_file_details *details)
{
    if (!details) return;
    printf("read by    %s\n", details->reader);
    for (int i = 0; i < details->extension_count; i++) printf("%s%s", i ? ", " : "extensions ", details->extensions[i]);
    if (details->extension_count) printf("\n");
}

static void print_text(const cutis_character *character, const findings *f, const cutis_file_details *details)
{
    const cutis_topology *t = &f->topology;
    char a[32], b[32], c[32];
    const float *low = character->bounds_min, *high = character->bounds_max;

    printf("%s\n", character->name);
    print_details(details);
    printf("mesh       %s vertices, %s points, %s faces", cli_format_count(character->vertex_count, a),
           cli_format_count(character->point_count, b), cli_format_count(character->face_count, c));
    if (t->quad_count == character->face_count)
        printf(" (all quads)");
    else
        printf(" (%s quads)", cli_format_count(t->quad_count, a));
    printf(", %d part%s%s\n", character->part_count, plural(character->part_count),
           character->texcoords ? ", texture coordinates" : "");

    printf("size       %.4g x %.4g x %.4g units, diagonal %.4g%s%s\n", (double)(high[0] - low[0]),
           (double)(high[1] - low[1]), (double)(high[2] - low[2]), (double)character->size,
           f->unit_hint ? "; probably " : "", f->unit_hint ? f->unit_hint : "");

    printf("surface    %s, %d component%s", t->boundary_edge_count ? "open" : "closed", t->component_count,
           plural(t->component_count));
    if (t->boundary_loop_count) printf(", %d hole%s", t->boundary_loop_count, plural(t->boundary_loop_count));
    printf(", area %.4g", t->area);
    if (t->closed_component_count) printf(", volume %.4g", t->volume);
    printf("\n");

    if (character->joint_count)
        printf("skeleton   %d joints, %d of them deform, at most %d influence%s per vertex\n", character->joint_count,
               f->deforming_joint_count, f->influence_max, plural(f->influence_max));
    else
        printf("skeleton   none\n");

    /* maps, morphs, props and settings */
    for (int i = 0; i < character->map_count; i++) printf("map        %s\n", character->maps[i].name);
    for (int i = 0; i < character->morph_count; i++) printf("morph      %s\n", character->morphs[i].name);
    for (int i = 0; i < character->prop_count; i++) printf("prop       %s\n", character->props[i].name);
    for (int i = 0; i < character->setting_count; i++)
        printf("setting    %s=%s\n", character->settings[i].key, character->settings[i].value);
    print_parts(character);

    if (character->joint_count) {
        printf("joints\n");
        print_joints(character, -1, 0);
    }
    if (character->clip_count) {
        printf("clips\n");
        cli_table *table = cli_table_create("lrlrr");
        for (int i = 0; i < character->clip_count; i++) {
            const cutis_clip *clip = &character->clips[i];
            int least, most;
            key_range(clip, &least, &most);

            /* name, length and tracks */
            cli_table_cell(table, "%s", clip->name);
            cli_table_cell(table, "%.4g s", (double)(clip->end - clip->start));
            cli_table_cell(table, "from %.4g to %.4g s", (double)clip->start, (double)clip->end);
            cli_table_cell(table, "%d track%s", clip->track_count, plural(clip->track_count));
            if (least == most)
                cli_table_cell(table, "%d key%s", most, plural(most));
            else
                cli_table_cell(table, "%d to %d keys", least, most);
        }
        cli_table_print(table, "  ");
    } else {
        printf("clips      none\n");
    }

    printf(f->problem_count ? "problems\n" : "problems   none\n");
    for (int i = 0; i < f->problem_count; i++) printf("  %s\n", f->problems[i]);
}

/* ---- JSON ---- */

static json_t *clips_json(const cutis_character *character)
{
    json_t *array = json_array();
    for (int i = 0; i < character->clip_count; i++) {
        const cutis_clip *clip = &character->clips[i];
        int least, most;
        key_range(clip, &least, &most);
        json_array_append_new(array, json_pack("{s:o, s:o, s:o, s:o, s:i, s:i, s:i}", "name",
                                               cli_json_string(clip->name), "start", cli_json_real((double)clip->start),
                                               "end", cli_json_real((double)clip->end), "length",
                                               cli_json_real((double)clip->end - (double)clip->start), "tracks",
                                               clip->track_count, "keys_min", least, "keys_max", most));
    }

    return array;
}

static json_t *joints_json(const cutis_character *character)
{
    json_t *array = json_array();
    for (int i = 0; i < character->joint_count; i++) {
        const cutis_joint *joint = &character->joints[i];
        json_array_append_new(
            array, json_pack("{s:o, s:o, s:b}", "name", cli_json_string(joint->name), "parent",
                             cli_json_string(joint->parent < 0 ? NULL : character->joints[joint->parent].name),
                             "deforms", (int)joint->deforms));
    }
    return array;
}

static json_t *topology_json(const cutis_topology *t)
{
    return json_pack("{s:b, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:f}", "closed",
                     (int)(t->boundary_edge_count == 0), "components", t->component_count, "closed_components",
                     t->closed_component_count, "boundary_edges", t->boundary_edge_count, "holes",
                     t->boundary_loop_count, "nonmanifold_edges", t->nonmanifold_edge_count, "nonmanifold_points",
                     t->nonmanifold_point_count, "inconsistent_edges", t->inconsistent_edge_count,
                     "degenerate_triangles", t->degenerate_triangle_count, "isolated_points", t->isolated_point_count,
                     "self_intersections", t->self_intersection_count, "area", t->area, "volume", t->volume);
}

static json_t *info_json(const cutis_character *character, const findings *f)
{
    json_t *parts = json_array(), *maps = json_array(), *morphs = json_array(), *problems = json_array();
    json_t *low = json_array(), *high = json_array();

    for (int i = 0; i < character->part_count; i++)
        json_array_append_new(parts,
                              json_pack("{s:o, s:o, s:i, s:i}", "name", cli_json_string(character->parts[i].name),
                                        "material", cli_json_string(character->parts[i].material), "vertices",
                                        character->parts[i].vertex_count, "faces", character->parts[i].face_count));

    for (int i = 0; i < character->map_count; i++)
        json_array_append_new(maps, cli_json_string(character->maps[i].name));
    for (int i = 0; i < character->morph_count; i++)
        json_array_append_new(morphs, cli_json_string(character->morphs[i].name));

    for (int i = 0; i < f->problem_count; i++) json_array_append_new(problems, cli_json_string(f->problems[i]));
    for (int i = 0; i < 3; i++) {
        json_array_append_new(low, cli_json_real((double)character->bounds_min[i]));
        json_array_append_new(high, cli_json_real((double)character->bounds_max[i]));
    }

    json_t *settings = json_object();
    for (int i = 0; i < character->setting_count; i++)
        json_object_set_new(settings, character->settings[i].key, cli_json_string(character->settings[i].value));

    json_t *root = json_pack("{s:o, s:i, s:i, s:i, s:i, s:i, s:f, s:o, s:o, s:o}", "name",
                             cli_json_string(character->name), "vertices", character->vertex_count, "points",
                             character->point_count, "faces", character->face_count, "quads", f->topology.quad_count,
                             "triangles", character->triangle_count, "size", (double)character->size, "bounds_min", low,
                             "bounds_max", high, "topology", topology_json(&f->topology));

    /* data that is not part of the topology */
    json_object_set_new(root, "unit_hint", cli_json_string(f->unit_hint));
    json_object_set_new(root, "texture_coordinates", json_boolean(character->texcoords != NULL));
    json_object_set_new(root, "influences_max", json_integer(f->influence_max));
    json_object_set_new(root, "unskinned_vertices", json_integer(f->unskinned_vertex_count));

    json_object_set_new(root, "parts", parts);
    json_object_set_new(root, "joints", joints_json(character));
    json_object_set_new(root, "clips", clips_json(character));
    json_object_set_new(root, "maps", maps);
    json_object_set_new(root, "morphs", morphs);
    json_object_set_new(root, "settings", settings);
    json_object_set_new(root, "problems", problems);
    return root;
}

/* The reader and the extensions of a file; NULL for a built-in character. */
static cutis_file_details *find_details(const char *name)
{
    cutis_file_details *details = NULL;
    if (strpbrk(name, "./")) cutis_file_details_load(name, NULL, &details, NULL);
    return details;
}

static void details_json(json_t *root, const cutis_file_details *details)
{
    json_t *extensions = json_array();
    for (int i = 0; details && i < details->extension_count; i++)
        json_array_append_new(extensions, cli_json_string(details->extensions[i]));
    json_object_set_new(root, "reader", cli_json_string(details ? details->reader : NULL));
    json_object_set_new(root, "extensions", extensions);
}

static int run(const cli_arguments *arguments)
{
    int status;
    findings f = {0};
    cutis_character *character = cli_load_character(arguments->positionals[0], true, &status);
    if (!character) return status;

    status = find_all(character, &f);
    cutis_file_details *details = find_details(arguments->positionals[0]);

    if (status == CLI_OK && cli_flag(arguments, "json")) {
        json_t *root = info_json(character, &f);
        details_json(root, details);
        status = cli_json_print(root);
    } else if (status == CLI_OK) {
        print_text(character, &f, details);
    }

    cutis_file_details_destroy(details);
    for (int i = 0; i < f.problem_count; i++) free(f.problems[i]);
    free(f.problems);
    cutis_character_destroy(character);
    return status;
}

const cli_command cmd_info = {
    .name = "info",
    .usage = "FILE|NAME [--json]",
    .summary = "mesh, joints, clips and problems of a character",
    .description = "Prints the contents of a character and its problems. A problem is not an error: the exit code is 0 "
                   "if the file can be used.",
    .examples = "cutis info hero.glb\ncutis info arm --json",
    .positional_min = 1,
    .positional_max = 1,
    .run = run,
    .json = true,
};
