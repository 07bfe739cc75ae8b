/*
 * tissue_build.c: columns, wedges and colours, made from a rigged surface.
 */
#include <string.h>

#include "solvers/flesh.h"
#include "solvers/flesh_map.h"
#include "solvers/tissue/tissue.h"

/* Minimum volume of a wedge's Gauss plane at rest, over area times height: below it the flesh is made thinner. */
static const double MIN_WEDGE_SHARE = 0.1;
/* Passes in which flesh whose wedges fold at rest is made thinner, and the factor of each. */
enum { THIN_PASSES = 12 };
static const float THIN_FACTOR = 0.75f;
/* Minimum share of the depth between two layers. */
static const float MIN_LAYER_SHARE = 1.0f / 12;
/* A painted freeze of 1 is a tie of this frequency, Hz: stiffer than any tissue. */
static const double FREEZE_FREQUENCY = 500;
/*
 * Frequency, Hz, at which flesh decays at the rate that is set. With the default rate and the factors of the anatomy
 * map this is 16 % of critical damping in relaxed fat, 20 % in muscle, 60 % in thin skin over bone.
 */
static const double LOSS_FREQUENCY = 1.6;
/* Rest shapes that touch: see contact_untangle. In gaps, gaps, sizes. */
static const float UNTANGLE_TOUCH = 0.02f, UNTANGLE_GAP = 0.1f, UNTANGLE_LIMIT = 2e-3f;

typedef struct builder {
    const solver_build *build;
    tissue_model *model;
    arena *scratch;
    int *colours;         /* (count) by point */
    flesh_columns flesh;  /* by column */
    flesh_map anatomy;    /* by point of the build */
    float *map;           /* (count) a painted map */
    double (*moduli)[3];  /* (count) shear moduli of the column's wedges */
    uint8_t *void_column; /* (count) 1: a wedge has no volume at rest */
} builder;

static double square(double x) { return x * x; }

/* ---- order ---- */

/* Greedy colours of points, so that neighbours differ. Returns their number. */
static int colours_find(const mesh *m, int *colours, uint64_t *used)
{
    int count = 0;
    for (int p = 0; p < m->point_count; p++) colours[p] = -1;
    for (int p = 0; p < m->point_count; p++) {
        memset(used, 0, 64 * sizeof *used);
        for (int i = m->point_neighbour_first[p]; i < m->point_neighbour_first[p + 1]; i++) {
            int c = colours[m->point_neighbours[i]];
            if (c >= 0 && c < 4096) used[c / 64] |= (uint64_t)1 << (c % 64);
        }
        int colour = 0;
        while (colour < 4095 && (used[colour / 64] >> (colour % 64)) & 1) colour++;
        colours[p] = colour;
        count = MAX(count, colour + 1);
    }
    return count;
}

/* Columns colour by colour; within one, those with most triangles first. */
static cutis_result order_find(builder *b, cutis_error *error)
{
    tissue_model *model = b->model;
    const mesh *m = b->build->mesh;
    int n = model->count, most = 0;
    uint64_t *used = ARENA_ARRAY(b->scratch, uint64_t, 64);
    b->colours = ARENA_ARRAY(b->scratch, int, n);
    if (b->scratch->failed) return error_memory(error, "the columns of solver tissue");
    model->colour_count = colours_find(m, b->colours, used);
    for (int p = 0; p < n; p++) most = MAX(most, m->point_triangle_first[p + 1] - m->point_triangle_first[p]);

    model->points = ARENA_ARRAY(b->build->memory, int, n);
    model->columns = ARENA_ARRAY(b->build->memory, int, n);
    model->colour_first = ARENA_ARRAY(b->build->memory, int, model->colour_count + 1);
    model->colour_blocks = ARENA_ARRAY(b->build->memory, int, model->colour_count + 1);
    int *places = ARENA_ARRAY(b->scratch, int, (size_t)model->colour_count *(size_t)(most + 1) + 1);
    if (b->build->memory->failed || !places) return error_memory(error, "the columns of solver tissue");

    /* counting sort by colour and falling number of triangles */
    for (int pass = 0; pass < 2; pass++) {
        for (int p = 0; p < n; p++) {
            int triangles = m->point_triangle_first[p + 1] - m->point_triangle_first[p];
            int key = b->colours[p] * (most + 1) + most - triangles;
            if (pass == 0) {
                places[key + 1]++;
            } else {
                int k = places[key]++;
                model->points[k] = p;
                model->columns[p] = k;
            }
        }
        for (int i = 0; pass == 0 && i < model->colour_count * (most + 1); i++) places[i + 1] += places[i];
        for (int c = 0; pass == 0 && c <= model->colour_count; c++) model->colour_first[c] = places[c * (most + 1)];
    }

    for (int c = 0; c < model->colour_count; c++)
        model->colour_blocks[c + 1] =
            model->colour_blocks[c] + LANE_BLOCKS(model->colour_first[c + 1] - model->colour_first[c]);
    model->block_count = model->colour_blocks[model->colour_count];
    return CUTIS_OK;
}

/* ---- surface ---- */

/* The painted map of that name by column, `unpainted` where there is none. Returns whether it says anything else. */
static bool map_gather(const builder *b, const char *name, float unpainted, float *values)
{
    const cutis_character *character = b->build->character;
    const float *map = kit_map_find(character, name);
    bool painted = false;
    for (int k = 0; k < b->model->count; k++) {
        values[k] = kit_map_at(character, map, b->model->points[k], unpainted);
        painted = painted || values[k] != unpainted;
    }
    return painted;
}

/* Take small crossings out of the rest shape, so that contact has a side to keep. */
static cutis_result surface_untangle(builder *b, mesh *own, float *positions, cutis_error *error)
{
    tissue_model *model = b->model;
    uint8_t *parted = ARENA_ARRAY(b->scratch, uint8_t, model->count);
    if (!parted) return error_memory(error, "the surface of solver tissue");
    contact_untangle_options options = {
        .touch = UNTANGLE_TOUCH * model->gap, .gap = UNTANGLE_GAP * model->gap, .limit = UNTANGLE_LIMIT};
    contact_untangle_stats stats;
    cutis_result result = contact_untangle(own, &options, &b->build->allocator, positions, parted, &stats, error);
    if (result != CUTIS_OK || stats.moved == 0) return result;
    own->positions = arena_copy(b->build->memory, positions, 3 * (size_t)model->count, sizeof(float));
    return own->positions ? CUTIS_OK : error_memory(error, "the surface of solver tissue");
}

/* The surface in the order of columns, in sizes. */
static cutis_result surface_build(builder *b, cutis_error *error)
{
    tissue_model *model = b->model;
    const mesh *m = b->build->mesh;
    float *positions = ARENA_ARRAY(b->scratch, float, 3 * (size_t)m->point_count);
    int *triangles = ARENA_ARRAY(b->scratch, int, 3 * (size_t)m->triangle_count + 1);
    mesh *own = ARENA_ARRAY(b->build->memory, mesh, 1);
    if (b->scratch->failed || !own) return error_memory(error, "the surface of solver tissue");

    for (int k = 0; k < m->point_count; k++) {
        vec3 x = vec3_sub(vec3_load(m->positions + 3 * model->points[k]), vec3_load(model->centre));
        vec3_store(positions + 3 * k, vec3_scale(x, 1 / model->size));
    }
    for (int i = 0; i < 3 * m->triangle_count; i++) triangles[i] = model->columns[m->triangles[i]];
    model->mesh = own;
    cutis_result result =
        mesh_build(own, m->point_count, positions, m->triangle_count, triangles, b->build->memory, error);
    if (result == CUTIS_OK && model->self_contact) result = surface_untangle(b, own, positions, error);
    if (result == CUTIS_OK && m->triangle_count > 0)
        result = bvh_build(&model->tree, m->triangle_count, own->triangles, own->positions, b->build->memory, error);
    return result;
}

/* ---- columns ---- */

static vec3 node_rest(const tissue_model *m, int k, int l)
{
    const float *x = m->rest + (size_t)COLUMN * k + l;
    return vec3_make(x[0], x[4], x[8]);
}

/* Rest positions of a column's nodes, by the depth of its flesh. */
static void column_place(const builder *b, int k)
{
    tissue_model *model = b->model;
    vec3 x = vec3_load(model->mesh->positions + 3 * k);
    for (int l = 0; l < TISSUE_LAYERS; l++) {
        vec3 p = vec3_madd(x, b->flesh.ways[k], model->shares[4 * k + l] * b->flesh.depths[k]);
        for (int c = 0; c < 3; c++) model->rest[(size_t)COLUMN * k + 4 * c + l] = vec3_axis(p, c);
    }
}

/* Shares of the depth, from skin to bone layer, with some room between layers. */
static void shares_find(const builder *b)
{
    tissue_model *model = b->model;
    for (int k = 0; k < model->count; k++) {
        int point = model->points[k];
        float depths[TISSUE_LAYERS] = {0, (float)kit_point_value(b->build, point, TISSUE_FAT_DEPTH),
                                       (float)kit_point_value(b->build, point, TISSUE_MUSCLE_DEPTH),
                                       (float)kit_point_value(b->build, point, TISSUE_BONE_DEPTH)};
        float bottom = MAX(depths[TISSUE_BONE], 1e-3f), above = 0;
        for (int l = 0; l < TISSUE_LAYERS; l++) {
            float least = l > 0 ? above + MIN_LAYER_SHARE : 0;
            float wanted = depths[l] / bottom;
            if (l == TISSUE_MUSCLE) wanted = flesh_map_fat_end(&b->anatomy, point, wanted);
            float share = MIN(MAX(wanted, least), 1 - (TISSUE_BONE - l) * MIN_LAYER_SHARE);
            model->shares[4 * k + l] = l == TISSUE_BONE ? 1 : share;
            above = share;
        }
    }
}

/* A wedge at rest: shape functions' gradients at its six Gauss points, from its six nodes (upper three first). */
typedef struct wedge_rest {
    double shear[6][6]; /* integral of products of gradients */
    double volume;      /* mean over two planes */
    double difference;  /* half their difference */
    double heights[3];  /* middle plane's normal times the height of each column */
    double least;       /* smaller plane's volume over that of a right prism */
} wedge_rest;

static double dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross3(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Products of gradients at one Gauss point. u, v: triangle coordinates; s: share of the upper triangle. */
static double gauss_add(double x[6][3], double u, double v, double s, wedge_rest *w)
{
    const double n[3] = {1 - u - v, u, v};
    const double du[3] = {-1, 1, 0}, dv[3] = {-1, 0, 1};
    double local[6][3], jacobian[3][3] = {{0}}, dual[3][3];

    /* derivatives by u, v and s */
    for (int i = 0; i < 6; i++) {
        double side = i < 3 ? s : 1 - s;
        local[i][0] = du[i % 3] * side;
        local[i][1] = dv[i % 3] * side;
        local[i][2] = n[i % 3] * (i < 3 ? 1 : -1);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) jacobian[r][c] += local[i][r] * x[i][c];
    }
    cross3(jacobian[1], jacobian[2], dual[0]);
    cross3(jacobian[2], jacobian[0], dual[1]);
    cross3(jacobian[0], jacobian[1], dual[2]);
    double determinant = dot3(jacobian[0], dual[0]);
    if (!(determinant > 0)) return determinant;

    /* gradients in space */
    double gradients[6][3];
    for (int i = 0; i < 6; i++)
        for (int c = 0; c < 3; c++)
            gradients[i][c] =
                (local[i][0] * dual[0][c] + local[i][1] * dual[1][c] + local[i][2] * dual[2][c]) / determinant;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) w->shear[i][j] += dot3(gradients[i], gradients[j]) * determinant / 12;
    return determinant;
}

static wedge_rest wedge_find(const tissue_model *m, int triangle, int l)
{
    wedge_rest w = {.least = 1};
    double x[6][3], plane[2], area[3], mean[3] = {0, 0, 0}, side[2][3];
    static const double shares[2] = {0.78867513459481287, 0.21132486540518713};
    static const double corners[3][2] = {{1.0 / 6, 1.0 / 6}, {2.0 / 3, 1.0 / 6}, {1.0 / 6, 2.0 / 3}};
    const int *v = m->mesh->triangles + 3 * triangle;

    for (int i = 0; i < 6; i++) {
        vec3 p = node_rest(m, v[i % 3], l + i / 3);
        for (int c = 0; c < 3; c++) x[i][c] = vec3_axis(p, c);
    }

    /* a right prism on the upper triangle with the mean height, for comparison */
    for (int c = 0; c < 3; c++) {
        side[0][c] = x[1][c] - x[0][c];
        side[1][c] = x[2][c] - x[0][c];
        for (int i = 0; i < 3; i++) mean[c] += (x[i][c] - x[i + 3][c]) / 3;
    }
    cross3(side[0], side[1], area);
    double prism = 0.5 * sqrt(dot3(area, area) * dot3(mean, mean));

    /* three points in each of two planes */
    for (int s = 0; s < 2; s++) {
        plane[s] = 0;
        for (int i = 0; i < 3; i++) {
            double determinant = gauss_add(x, corners[i][0], corners[i][1], shares[s], &w);
            plane[s] += determinant / 6;
            w.least = MIN(w.least, prism > 0 ? 0.5 * determinant / prism : 0);
        }
    }
    w.volume = 0.5 * (plane[0] + plane[1]);

    /* the middle plane */
    double normal[3], up[3];
    for (int j = 0; j < 2; j++)
        for (int c = 0; c < 3; c++) side[j][c] = 0.5 * (x[j + 1][c] - x[0][c] + x[j + 4][c] - x[3][c]);
    cross3(side[0], side[1], normal);
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 3; c++) up[c] = x[i][c] - x[i + 3][c];
        w.heights[i] = 0.5 * dot3(normal, up);
    }
    w.difference = 0.5 * (plane[0] - plane[1]);
    return w;
}

/* Make flesh thinner where its wedges would fold at rest; what folds however thin it is is marked. */
static void columns_place(builder *b)
{
    tissue_model *model = b->model;
    const mesh *m = model->mesh;
    for (int k = 0; k < model->count; k++) column_place(b, k);
    for (int pass = 0; pass <= THIN_PASSES; pass++) {
        bool folded = false;
        memset(b->void_column, 0, (size_t)model->count);
        for (int t = 0; t < m->triangle_count; t++) {
            double least = 1;
            for (int l = 0; l < TISSUE_WEDGES; l++) least = MIN(least, wedge_find(model, t, l).least);
            if (least >= MIN_WEDGE_SHARE) continue;
            folded = true;
            for (int i = 0; i < 3; i++) b->void_column[m->triangles[3 * t + i]] = 1;
        }
        if (!folded || pass == THIN_PASSES) break;
        for (int k = 0; k < model->count; k++) {
            if (!b->void_column[k]) continue;
            b->flesh.depths[k] *= THIN_FACTOR;
            column_place(b, k);
        }
    }
}

/* ---- stiffness ---- */

/*
 * By how much faster than the parameter says the flesh of a column decays. Tissue loses about the same share of its
 * energy in each cycle at any frequency (a constant loss tangent), so its decay rate grows with the frequency at which
 * it swings: that of its layers in series, fixed at the bone. With one rate for all, firm and thin flesh rings.
 */
static float loss_factor(const builder *b, int k, double amount)
{
    double compliance = 0, depth = MAX((double)b->flesh.depths[k], 1e-6);
    const float *shares = b->model->shares + 4 * (size_t)k;
    for (int l = 0; l < TISSUE_WEDGES; l++) compliance += (double)(shares[l + 1] - shares[l]) / b->moduli[k][l];
    double frequency = 1 / (4 * depth * sqrt(MAX(compliance, 1e-12)));
    return (float)det_exp(amount * det_log(frequency / LOSS_FREQUENCY));
}

/* Shear moduli of the wedges of each column: that of a slab as deep as the flesh which swings at the frequency. */
static void moduli_find(builder *b)
{
    tissue_model *model = b->model;
    static const int parameters[TISSUE_WEDGES] = {TISSUE_SKIN_STIFFNESS, TISSUE_FAT_STIFFNESS, TISSUE_MUSCLE_STIFFNESS};
    float *fat = ARENA_ARRAY(b->scratch, float, model->count);
    if (!fat) return;
    map_gather(b, "stiffness", 1, b->map);
    map_gather(b, "fat", 1, fat);

    for (int k = 0; k < model->count; k++) {
        int point = model->points[k];
        double depth = MAX((double)b->flesh.depths[k], REFERENCE_DEPTH);
        double frequencies[TISSUE_WEDGES];
        for (int l = 0; l < TISSUE_WEDGES; l++) frequencies[l] = kit_point_value(b->build, point, parameters[l]);
        frequencies[1] += (1 - (double)fat[k]) * (frequencies[2] - frequencies[1]);
        for (int l = 0; l < TISSUE_WEDGES; l++) {
            double map = MAX((double)b->map[k], 0.02);
            b->moduli[k][l] = square(4 * depth * frequencies[l] * map * (double)b->anatomy.stiffness[l][point]);
        }
        model->dampings[k] = (float)b->build->values[TISSUE_DAMPING] * b->anatomy.damping[point] *
                             loss_factor(b, k, (double)b->anatomy.amounts[point]);
        model->friction[k] = (float)kit_point_value(b->build, point, TISSUE_FRICTION);
        model->depths[k] = b->flesh.depths[k];
        model->radii[k] = vec3_distance(b->flesh.axis[k], node_rest(model, k, TISSUE_SKIN));
    }
}

/* Springs of the bone layer, painted ties, and the scale of contact forces. */
static void springs_find(builder *b)
{
    tissue_model *model = b->model;
    float *areas = b->map;
    mesh_point_areas(model->mesh, model->mesh->positions, areas);
    double mean = 0;
    for (int k = 0; k < model->count; k++) mean += areas[k] / model->count;

    for (int k = 0; k < model->count; k++) {
        double mass = 0, modulus = 0;
        for (int l = 0; l < TISSUE_LAYERS; l++) mass += model->mass[4 * k + l];
        for (int l = 0; l < TISSUE_WEDGES; l++) modulus += b->moduli[k][l] / TISSUE_WEDGES;
        double bone = 2 * 3.14159265358979 * kit_point_value(b->build, model->points[k], TISSUE_BONE_STIFFNESS);
        model->inverse_masses[k] = (float)(1 / mass);
        /* connective tissue of one modulus: firmer where the flesh is thin, as flesh is */
        bone *= MAX(1.0, REFERENCE_DEPTH / model->depths[k]);
        model->bone_springs[k] = (float)(mass * bone * bone);
        model->touch_scale[k] = (float)(modulus * MAX((double)areas[k], 0.01 * mean));
    }
}

/* Ties where the skin is painted frozen, or has no flesh. */
static cutis_result freeze_find(builder *b, cutis_error *error)
{
    tissue_model *model = b->model;
    bool any = map_gather(b, "freeze", 0, b->map);
    for (int k = 0; k < model->count; k++) {
        if (b->void_column[k]) b->map[k] = 1;
        any = any || b->map[k] > 0;
    }
    if (!any) return CUTIS_OK;
    model->freeze = ARENA_ARRAY(b->build->memory, float, model->count);
    if (!model->freeze) return error_memory(error, "the frozen columns of solver tissue");
    for (int k = 0; k < model->count; k++) {
        double share = MIN((double)b->map[k], 1.0);
        double omega = 2 * 3.14159265358979 * FREEZE_FREQUENCY * share;
        model->freeze[k] = (float)(share * omega * omega);
    }
    return CUTIS_OK;
}

/* ---- entries ---- */

/* Where the entries of a column are collected before they go into blocks. */
typedef struct column_entry {
    int p, q; /* other columns of the triangle; q == p: only the shear of p counts */
    double values[ENTRY];
} column_entry;

/* Wedges of all triangles at rest, and their moduli. */
typedef struct wedge_table {
    wedge_rest *rest; /* (triangle_count x TISSUE_WEDGES) */
    double *modulus;  /* likewise; 0: void */
} wedge_table;

static cutis_result wedges_find(builder *b, wedge_table *table, cutis_error *error)
{
    tissue_model *model = b->model;
    const mesh *m = model->mesh;
    size_t count = (size_t)m->triangle_count * TISSUE_WEDGES;
    table->rest = ARENA_ARRAY(b->scratch, wedge_rest, count + 1);
    table->modulus = ARENA_ARRAY(b->scratch, double, count + 1);
    if (b->scratch->failed) return error_memory(error, "the wedges of solver tissue");

    double total = 0;
    for (int t = 0; t < m->triangle_count; t++) {
        const int *v = m->triangles + 3 * t;
        for (int l = 0; l < TISSUE_WEDGES; l++) {
            wedge_rest *w = &table->rest[TISSUE_WEDGES * t + l];
            *w = wedge_find(model, t, l);
            if (w->least < MIN_WEDGE_SHARE) continue;
            double mean = (b->moduli[v[0]][l] + b->moduli[v[1]][l] + b->moduli[v[2]][l]) / 3;
            table->modulus[TISSUE_WEDGES * t + l] = mean;
            total += w->volume;
            for (int i = 0; i < 6; i++) model->mass[4 * v[i % 3] + l + i / 3] += (float)(w->volume / 6);
        }
    }

    /* none too light */
    float least = (float)(1e-4 * total / (TISSUE_LAYERS * (double)MAX(model->count, 1)));
    for (int i = 0; i < TISSUE_LAYERS * model->count; i++) model->mass[i] = MAX(model->mass[i], MAX(least, 1e-14f));
    return CUTIS_OK;
}

/* Shear of column a's layer i with column c's layer j, over the wedges of a triangle. */
static double shear_of(const wedge_table *table, int t, int a, int i, int c, int j)
{
    double sum = 0;
    for (int l = 0; l < TISSUE_WEDGES; l++) {
        if (i < l || i > l + 1 || j < l || j > l + 1) continue;
        int at = TISSUE_WEDGES * t + l;
        if (table->modulus[at] > 0) sum += table->modulus[at] * table->rest[at].shear[a + 3 * (i - l)][c + 3 * (j - l)];
    }
    return sum;
}

/* Add a triangle's shear of corner a with corner c to the ten coefficients of an entry. */
static void shear_collect(const wedge_table *table, int t, int a, int c, double *values)
{
    for (int l = 0; l < TISSUE_LAYERS; l++) values[l] += shear_of(table, t, a, l, c, l);
    for (int l = 0; l < TISSUE_WEDGES; l++) {
        values[4 + l] += shear_of(table, t, a, l, c, l + 1);
        values[7 + l] += shear_of(table, t, a, l + 1, c, l);
    }
}

/* The entries of column k; returns how many. own: its own shear. */
static int entries_collect(const builder *b, const wedge_table *table, int k, column_entry *entries, double own[OWN])
{
    const mesh *m = b->model->mesh;
    int count = 0;
    memset(own, 0, OWN * sizeof *own);

    /* triangles, with the volume terms of their wedges */
    for (int i = m->point_triangle_first[k]; i < m->point_triangle_first[k + 1]; i++) {
        int t = m->point_triangles[i], corner = 0;
        const int *v = m->triangles + 3 * t;
        while (v[corner] != k) corner++;
        column_entry *e = entries + count++;
        *e = (column_entry){.p = v[(corner + 1) % 3], .q = v[(corner + 2) % 3]};
        double shear[ENTRY_SHEAR] = {0};
        shear_collect(table, t, corner, corner, shear);
        for (int l = 0; l < OWN; l++) own[l] += shear[l];

        for (int l = 0; l < TISSUE_WEDGES; l++) {
            const wedge_rest *w = &table->rest[TISSUE_WEDGES * t + l];
            double modulus = table->modulus[TISSUE_WEDGES * t + l];
            if (!(modulus > 0)) continue;
            double bulk = BULK_RATIO * modulus, *values = e->values + ENTRY_SHEAR + WEDGE * l;
            double own_height = w->heights[corner], p_height = w->heights[(corner + 1) % 3];
            double q_height = w->heights[(corner + 2) % 3];
            values[0] = bulk / w->volume;
            values[1] = (1 + modulus / bulk) * w->volume;
            values[2] = INNER_BULK_SHARE * bulk / w->volume;
            values[3] = w->difference;
            values[4] = (2 * own_height - p_height - q_height) * sqrt(1.0 / 6);
            values[5] = (p_height - q_height) * sqrt(0.5);
        }
    }

    /* shear with each neighbour: in the first triangle that has it as p, or an entry of its own */
    int triangles = count;
    for (int i = 0; i < triangles; i++) {
        int t = m->point_triangles[m->point_triangle_first[k] + i], corner = 0;
        const int *v = m->triangles + 3 * t;
        while (v[corner] != k) corner++;
        for (int side = 1; side <= 2; side++) {
            int other = v[(corner + side) % 3], at = 0;
            while (at < count && entries[at].p != other) at++;
            if (at == count) entries[count++] = (column_entry){.p = other, .q = other};
            shear_collect(table, t, corner, (corner + side) % 3, entries[at].values);
        }
    }
    return count;
}

/* Put the columns' entries into blocks of LANES. */
static cutis_result entries_build(builder *b, const wedge_table *table, cutis_error *error)
{
    tissue_model *model = b->model;
    const mesh *m = model->mesh;
    int most = 1;
    for (int k = 0; k < model->count; k++)
        most = MAX(most, m->point_triangle_first[k + 1] - m->point_triangle_first[k]);
    int capacity = 3 * most + 1;
    column_entry *entries = ARENA_ARRAY(b->scratch, column_entry, (size_t)capacity * LANES);
    int *lanes = ARENA_ARRAY(b->scratch, int, model->count + LANES);
    model->block_own = ARENA_ARRAY(b->build->memory, int32_t, (size_t)model->block_count * LANES + 1);
    model->block_entries = ARENA_ARRAY(b->build->memory, int, model->block_count + 1);
    model->own_values = ARENA_ARRAY(b->build->memory, float, (size_t)model->block_count *OWN *LANES + 1);
    if (b->scratch->failed || b->build->memory->failed) return error_memory(error, "the wedges of solver tissue");

    /* twice: first their number, then themselves */
    for (int pass = 0; pass < 2; pass++) {
        int total = 0;
        for (int c = 0; c < model->colour_count; c++) {
            for (int block = model->colour_blocks[c]; block < model->colour_blocks[c + 1]; block++) {
                int longest = 0, first = model->colour_first[c] + (block - model->colour_blocks[c]) * LANES;

                /* the last columns of a colour fill its last block more than once */
                for (int lane = 0; lane < LANES; lane++) {
                    int k = MIN(first + lane, model->colour_first[c + 1] - 1);
                    double own[OWN];
                    lanes[lane] = entries_collect(b, table, k, entries + (size_t)lane * (size_t)capacity, own);
                    longest = MAX(longest, lanes[lane]);
                    model->block_own[block * LANES + lane] = k * COLUMN;
                    for (int i = 0; i < OWN; i++)
                        model->own_values[((size_t)block * OWN + (size_t)i) * LANES + (size_t)lane] = (float)own[i];
                }
                model->block_entries[block] = total;

                for (int e = 0; pass == 1 && e < longest; e++) {
                    int32_t *ends = model->entry_ends + (size_t)(total + e) * 2 * LANES;
                    float *values = model->entry_values + (size_t)(total + e) * ENTRY * LANES;
                    for (int lane = 0; lane < LANES; lane++) {
                        const column_entry *entry = entries + (size_t)lane * (size_t)capacity + e;
                        bool real = e < lanes[lane];
                        ends[lane] = real ? entry->p * COLUMN : model->block_own[block * LANES + lane];
                        ends[LANES + lane] = real ? entry->q * COLUMN : model->block_own[block * LANES + lane];
                        for (int i = 0; i < ENTRY; i++) values[i * LANES + lane] = real ? (float)entry->values[i] : 0;
                    }
                }
                total += longest;
            }
        }
        model->block_entries[model->block_count] = total;
        if (pass == 1) break;
        model->entry_ends = ARENA_ARRAY(b->build->memory, int32_t, (size_t)total * 2 * LANES + 1);
        model->entry_values = ARENA_ARRAY(b->build->memory, float, (size_t)total *ENTRY *LANES + 1);
        if (b->build->memory->failed) return error_memory(error, "the wedges of solver tissue");
    }
    return CUTIS_OK;
}

/* ---- skeleton ---- */

/* Skin, bone layer and axis points as positions to be skinned. */
static cutis_result drive_build(builder *b, cutis_error *error)
{
    tissue_model *model = b->model;
    const point_weights *weights = b->build->weights;
    int n = model->count, count = 3 * n;
    size_t influences = 3 * (size_t)weights->first[n];
    model->parents = ARENA_ARRAY(b->build->memory, int, model->joint_count + 1);
    float *rest = ARENA_ARRAY(b->scratch, float, 3 * (size_t)count);
    float *values = ARENA_ARRAY(b->scratch, float, influences + 1);
    int *first = ARENA_ARRAY(b->scratch, int, count + 1);
    int *joints = ARENA_ARRAY(b->scratch, int, influences + 1);
    if (b->scratch->failed || !model->parents) return error_memory(error, "the drive of solver tissue");

    for (int j = 0; j < model->joint_count; j++) model->parents[j] = b->build->character->joints[j].parent;
    int at = 0;
    for (int i = 0; i < count; i++) {
        int k = i % n, point = model->points[k];
        vec3 x = i < n       ? node_rest(model, k, TISSUE_SKIN)
                 : i < 2 * n ? node_rest(model, k, TISSUE_BONE)
                             : b->flesh.axis[k];
        vec3_store(rest + 3 * i, vec3_madd(vec3_load(model->centre), x, model->size));
        first[i] = at;
        for (int w = weights->first[point]; w < weights->first[point + 1]; w++) {
            joints[at] = weights->joints[w];
            values[at++] = weights->weights[w];
        }
    }
    first[count] = at;
    cutis_result result =
        skinning_build(&model->drive, count, rest, first, joints, values, model->joint_count, b->build->memory, error);
    if (result != CUTIS_OK) return result;

    /* the axis points once more, by linear skinning */
    int start = first[2 * n];
    for (int i = 2 * n; i <= count; i++) first[i] -= start;
    return skinning_build(&model->axis_drive, n, rest + 6 * (size_t)n, first + 2 * n, joints + start, values + start,
                          model->joint_count, b->build->memory, error);
}

/* ---- all of it ---- */

static bool arrays_push(builder *b)
{
    tissue_model *model = b->model;
    arena *memory = b->build->memory;
    int n = model->count;
    model->rest = ARENA_ARRAY(memory, float, (size_t)n *COLUMN);
    model->mass = ARENA_ARRAY(memory, float, n * 4);
    model->shares = ARENA_ARRAY(memory, float, n * 4);
    model->bone_springs = ARENA_ARRAY(memory, float, n);
    model->touch_scale = ARENA_ARRAY(memory, float, n);
    model->friction = ARENA_ARRAY(memory, float, n);
    model->depths = ARENA_ARRAY(memory, float, n);
    model->radii = ARENA_ARRAY(memory, float, n);
    model->inverse_masses = ARENA_ARRAY(memory, float, n);
    model->dampings = ARENA_ARRAY(memory, float, n);
    model->tissue = ARENA_ARRAY(memory, float, model->character->vertex_count);
    b->map = ARENA_ARRAY(b->scratch, float, n);
    b->moduli = arena_push(b->scratch, (size_t)n, sizeof *b->moduli);
    b->void_column = ARENA_ARRAY(b->scratch, uint8_t, n);
    return !memory->failed && !b->scratch->failed;
}

static cutis_result model_fill(builder *b, cutis_error *error)
{
    const solver_build *build = b->build;
    tissue_model *model = b->model;

    /* order and surface */
    cutis_result result = order_find(b, error);
    if (result == CUTIS_OK) result = surface_build(b, error);
    if (result != CUTIS_OK) return result;
    if (!arrays_push(b)) return error_memory(error, "the columns of solver tissue");

    /* columns; a painted depth makes flesh shallower */
    flesh_request request = {.build = build,
                             .surface = model->mesh,
                             .points = model->points,
                             .tree = &model->tree,
                             .size = model->size,
                             .centre = {model->centre[0], model->centre[1], model->centre[2]},
                             .bone_depth = TISSUE_BONE_DEPTH,
                             .flesh_depth = TISSUE_FLESH_DEPTH,
                             .depth_map = map_gather(b, "depth", 1, b->map) ? b->map : NULL};
    result = flesh_find(&request, &b->flesh, b->scratch, error);
    if (result != CUTIS_OK) return result;

    /* what kind of flesh, and its weight */
    flesh_map_request map_request = {build, TISSUE_ANATOMY, TISSUE_FATNESS, TISSUE_FIRMNESS, TISSUE_UNIT};
    result = flesh_map_find(&map_request, &b->anatomy, b->scratch, error);
    if (result != CUTIS_OK) return result;
    model->gravity = (float)flesh_gravity(build->values[TISSUE_GRAVITY], b->anatomy.unit, (double)model->size);
    for (int i = 0; i < build->character->vertex_count; i++)
        model->tissue[i] = b->anatomy.softness[build->character->vertex_points[i]];
    shares_find(b);
    columns_place(b);

    /* wedges */
    wedge_table wedges;
    moduli_find(b);
    result = tissue_fibres_build(build, &b->anatomy.anatomy, model, error);
    if (result == CUTIS_OK) result = wedges_find(b, &wedges, error);
    if (result == CUTIS_OK) result = entries_build(b, &wedges, error);
    if (result != CUTIS_OK) return result;
    springs_find(b);
    result = freeze_find(b, error);

    /* skeleton and contact */
    if (result == CUTIS_OK) result = drive_build(b, error);
    if (result == CUTIS_OK)
        result = contact_surface_build(&model->surface, model->mesh, build->memory, &build->allocator, error);
    if (result == CUTIS_OK)
        result = contact_props_build(&model->props, build->character, CONTACT_ALL_PROPS, 1 / model->size, model->centre,
                                     (float)build->values[TISSUE_FRICTION], 0, build->memory, error);
    return result;
}

cutis_result tissue_model_build(const solver_build *build, tissue_model *model, cutis_error *error)
{
    const cutis_character *character = build->character;
    const double *v = build->values;
    *model = (tissue_model){.character = character,
                            .count = build->mesh->point_count,
                            .joint_count = character->joint_count,
                            .size = character->size > 0 ? character->size : 1,
                            .iterations = (int)v[TISSUE_ITERATIONS],
                            .drive_linear = v[TISSUE_DRIVE] == 1,
                            .self_contact = v[TISSUE_SELF_COLLISION] != 0,
                            .gap = (float)v[TISSUE_CONTACT_GAP]};

    /* lengths in sizes */
    for (int c = 0; c < 3; c++) model->centre[c] = 0.5f * (character->bounds_min[c] + character->bounds_max[c]);
    if (model->count == 0)
        return error_set(error, CUTIS_ERROR_DATA, "solver tissue needs a mesh, and the character has no points");

    /* all of it in one builder */
    arena scratch = arena_create(&build->allocator);
    builder b = {.build = build, .model = model, .scratch = &scratch};
    cutis_result result = model_fill(&b, error);
    arena_destroy(&scratch);
    return result;
}
