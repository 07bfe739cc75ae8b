/*
 * picture_paint.c: what colours the surface: which values, through which colours, over which range.
 */
#include "picture_job.h"

#include <stdlib.h>
#include <string.h>

int picture_job_joint(const picture_job *r, const char *name, const char *option)
{
    int joint = cutis_character_find_joint(r->character, name);
    if (joint >= 0) return joint;

    const char **names = cli_allocate((size_t)r->character->joint_count, sizeof *names);
    for (int i = 0; i < r->character->joint_count; i++) names[i] = r->character->joints[i].name;
    const char *nearest = cli_nearest(name, names, r->character->joint_count);
    free(names);

    if (nearest)
        cli_error("%s: there is no joint '%s'; did you mean '%s'?", option, name, nearest);
    else
        cli_error("%s: %s has no joint '%s'; 'cutis info' lists its joints", option, r->character->name, name);

    return -1;
}

/* The output of that name of some solver of the picture; NULL: none has it. */
static const cutis_output_info *output_find(const picture_job *r, const char *name)
{
    const cutis_output_info *found = NULL;
    for (int i = 0; i < r->source_count && !found; i++) found = picture_source_output(&r->sources[i], name);
    return found;
}

/* The colours of a solver's output, or of values from a file, which are told by their name alone. */
static void values_choose(picture_job *r, const char *name, const cutis_output_info *output)
{
    static const picture_map maps[] = {[CUTIS_PALETTE_SEQUENTIAL] = PICTURE_MAP_SEQUENTIAL,
                                       [CUTIS_PALETTE_TOUCH] = PICTURE_MAP_TOUCH,
                                       [CUTIS_PALETTE_CATEGORY] = PICTURE_MAP_CATEGORY};
    cutis_palette palette = output                          ? output->palette
                            : strcmp(name, "layer") == 0    ? CUTIS_PALETTE_CATEGORY
                            : strcmp(name, "pressure") == 0 ? CUTIS_PALETTE_TOUCH
                                                            : CUTIS_PALETTE_SEQUENTIAL;

    r->paint = PAINT_VALUES;
    r->map = maps[palette];

    bool given = output && output->range[0] < output->range[1];
    for (int i = 0; i < 2; i++) r->range[i] = given ? output->range[i] : NAN; /* NAN: found from the values */
}

static int color_unknown(const picture_job *r, const char *name)
{
    static const char *const known[] = {"material", "clay",     "none",   "layer",   "stretch",
                                        "area",     "pressure", "volume", "weights", "part"};
    const char *nearest = cli_nearest(name, known, CLI_COUNT(known));

    /* why it cannot be had */
    if (strcmp(name, "layer") == 0 || strcmp(name, "pressure") == 0)
        return cli_usage_error(r->arguments,
                               "--color %s needs values: a solver that gives them, or a cache that 'cutis bake "
                               "--outputs %s' wrote",
                               name, name);

    if (nearest) return cli_usage_error(r->arguments, "unknown colouring '%s'; did you mean '%s'?", name, nearest);
    return cli_usage_error(r->arguments,
                           "unknown colouring '%s': use material, clay, stretch, area, volume, weights, part, layer, "
                           "pressure, a painted map of the character, or an output of the solvers shown",
                           name);
}

int picture_paint_choose(picture_job *r)
{
    const char *name = r->color;
    const cutis_character *c = r->character;
    const float given[2] = {r->range[0], r->range[1]};

    /* diverging around 1, unless said otherwise */
    r->color_name = name;
    r->map = PICTURE_MAP_DIVERGING;
    r->range[0] = 0.5f;
    r->range[1] = 1.5f;

    bool file = cli_has_ending(name, ".npy");
    for (int i = 0; i < r->source_count; i++) r->values_from_files |= picture_source_has_values(&r->sources[i], name);
    r->values_from_files |= file;

    /* by name: what is known, then maps of the file */
    if (strcmp(name, "none") == 0 || strcmp(name, "clay") == 0) {
        r->paint = PAINT_NONE;
    } else if (strcmp(name, "material") == 0) {
        /* a texture that is asked for goes on clay, where it can be seen */
        bool textured = r->texture != PICTURE_TEXTURE_NONE && !cli_given(r->arguments, "color");
        r->paint = textured ? PAINT_NONE : PAINT_MATERIAL;
    } else if (r->values_from_files || output_find(r, name)) {
        if (file) r->color_name = "value";
        values_choose(r, name, output_find(r, name));
    } else if (strcmp(name, "stretch") == 0) {
        r->paint = PAINT_STRETCH;
    } else if (strcmp(name, "area") == 0) {
        r->paint = PAINT_AREA;
    } else if (strcmp(name, "volume") == 0) {
        r->paint = PAINT_VOLUME;
    } else if (strcmp(name, "weights") == 0 || strncmp(name, "weights:", 8) == 0) {
        r->paint = name[7] ? PAINT_WEIGHT : PAINT_WEIGHTS;
        r->map = PICTURE_MAP_SEQUENTIAL;
        r->range[0] = 0;
        r->range[1] = 1;
        if (!c->influence_first) return cli_error("%s has no weights to colour by", c->name);
        r->joint = r->paint == PAINT_WEIGHT ? picture_job_joint(r, name + 8, "--color weights") : 0;
        if (r->joint < 0) return CLI_USAGE;
        if (r->paint == PAINT_WEIGHT) r->color_name = c->joints[r->joint].name;
    } else if (strcmp(name, "part") == 0) {
        r->paint = PAINT_PART;
    } else {
        int map = 0;
        while (map < c->map_count && strcmp(c->maps[map].name, name) != 0) map++;
        if (map == c->map_count) return color_unknown(r, name);
        r->paint = PAINT_MAP;
        r->joint = map;
        r->map = PICTURE_MAP_SEQUENTIAL;
        r->range[0] = 0;
        r->range[1] = 1;
    }

    /* a range that was given */
    for (int i = 0; i < 2 && r->range_given; i++) r->range[i] = given[i];
    return CLI_OK;
}

void picture_paint_range(picture_job *r)
{
    if (r->paint != PAINT_VALUES || !isnan(r->range[0])) return;

    /* The range of all that is shown; a pressure begins at 0. */
    float low = INFINITY, high = -INFINITY;
    for (int i = 0; i < r->source_count; i++) {
        const float *values = r->sources[i].values;
        size_t count = values ? (size_t)r->times.count * (size_t)r->character->vertex_count : 0;
        for (size_t k = 0; k < count; k++)
            if (isfinite(values[k])) {
                low = fminf(low, values[k]);
                high = fmaxf(high, values[k]);
            }
    }

    if (!(low <= high)) {
        low = 0;
        high = 1;
    }

    /* ends that make a usable range */
    if (r->map == PICTURE_MAP_TOUCH && low > 0) low = 0;
    if (low == high) high = low + 1;

    r->range[0] = low;
    r->range[1] = high;
}

/* The values of one panel into the mesh. */
void picture_paint_apply(picture_job *r, const picture_source *source, int frame, const float *positions,
                         picture_mesh *mesh)
{
    const cutis_character *c = r->character;

    /* the map and its range */
    mesh->map = r->map;
    mesh->range[0] = r->range[0];
    mesh->range[1] = r->range[1];
    mesh->vertex_values = r->values;

    /* values of the vertices */
    switch (r->paint) {
    case PAINT_NONE:
        mesh->vertex_values = NULL;
        break;
    case PAINT_MATERIAL:
        mesh->vertex_values = NULL;
        mesh->materials = r->materials;
        mesh->triangle_materials = r->triangle_materials;
        break;
    case PAINT_STRETCH:
        picture_value_stretch(c, positions, r->scratch, r->values);
        break;
    case PAINT_AREA:
        picture_value_area(c, positions, r->scratch, r->values);
        break;
    case PAINT_VOLUME:
        picture_value_volume(&r->body, positions, r->scratch, r->values);
        break;
    case PAINT_WEIGHT:
        picture_value_weight(c, r->joint, r->values);
        break;
    case PAINT_WEIGHTS:
    case PAINT_PART:
        mesh->vertex_values = NULL;
        mesh->vertex_colors = r->colors;
        break;
    case PAINT_MAP:
        mesh->vertex_values = c->maps[r->joint].values;
        break;
    case PAINT_VALUES:
        mesh->vertex_values = source->values ? source->values + (size_t)frame * (size_t)c->vertex_count : NULL;
        break;
    }
}

bool picture_paint_has_bar(const picture_job *r)
{
    return r->paint != PAINT_NONE && r->paint != PAINT_MATERIAL && r->paint != PAINT_WEIGHTS &&
           r->paint != PAINT_PART && r->map != PICTURE_MAP_CATEGORY;
}
