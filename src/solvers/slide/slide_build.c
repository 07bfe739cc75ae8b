/*
 * slide_build.c: from a character to the model of the solver `slide`: charts, attachments, per-region values,
 * and texture seams.
 */
#include <string.h>

#include "solvers/slide/slide.h"
#include "solvers/solver_kit.h"

/* What is left of the linear system shows in the shape by a part of what the length of a step does: test_slide_motion.
 */
static const double solve_tolerance = 3e-4;

/*
 * Viscous friction lets sliding decay at zeta / (1 - zeta) over this time, in s, besides `drag`. It is infinite at 1,
 * so that zeta passes into sticking without a jump; the time is so long that it hardly shows at the default of zeta.
 */
static const double drag_time = 1000;

static int next3(int k) { return k == 2 ? 0 : k + 1; }

/* Skin that holds by itself to more than this share of the points is told of. */
static const double warn_share = 0.02;

/* ---- attachments ---- */

static void allow_along(double allowed[3], const double tangent[2])
{
    double length = sqrt(tangent[0] * tangent[0] + tangent[1] * tangent[1]);
    double x = length > 0 ? tangent[0] / length : 0, y = length > 0 ? tangent[1] / length : 0;
    allowed[0] = x * x;
    allowed[1] = x * y;
    allowed[2] = y * y;
}

/* The direction of a painted curve at a point, in its frame: from one marked neighbour to the other. */
static bool curve_tangent(const slide_atlas *atlas, const cutis_character *c, const float *curve, int point,
                          double tangent[2])
{
    const mesh *m = atlas->mesh;
    int found = 0;
    double directions[2][2];
    for (int n = m->point_neighbour_first[point]; n < m->point_neighbour_first[point + 1]; n++) {
        int other = m->point_neighbours[n];
        if (!(curve[c->point_vertices[other]] >= 0.5f)) continue;

        if (found == 2) return false;

        /* an edge of one of the triangles around: the first leads there, the last from there */
        for (int i = m->point_triangle_first[point]; i < m->point_triangle_first[point + 1]; i++) {
            const int *p = m->triangles + 3 * m->point_triangles[i];
            int own = p[0] == point ? 0 : p[1] == point ? 1 : 2;
            bool first = p[next3(own)] == other;
            if (!first && p[next3(next3(own))] != other) continue;

            const double *edges = atlas->wedges[i];
            for (int e = 0; e < 2; e++) directions[found][e] = first ? edges[e] : -edges[2 + e];
            break;
        }
        found++;
    }

    /* from one to the other */
    if (found == 0) return false;
    for (int e = 0; e < 2; e++) tangent[e] = found == 2 ? directions[0][e] - directions[1][e] : directions[0][e];
    return tangent[0] * tangent[0] + tangent[1] * tangent[1] > 1e-6;
}

/*
 * Points where the skin has no tangent plane to slide in: tips of claws, ears and coarse fingers, of which some
 * triangle stands on the mean of all, and triangles that face away from the normals of their corners. The skin holds to
 * them.
 */
static void mark_tips(const slide_atlas *atlas, uint8_t *tips)
{
    static const double steepest = 0.3; /* cosine: 73 degrees */
    static const double away = -0.2;    /* cosine: 102 degrees; skin is inside out from 120 on */
    const mesh *m = atlas->mesh;
    for (int t = 0; t < m->triangle_count; t++) {
        const slide_chart *chart = &atlas->charts[t];
        const int *c = m->triangles + 3 * t;

        if (!(chart->area > 0)) continue;

        /* corners whose normal is far from the triangle's */
        double sum[3] = {0, 0, 0};
        for (int k = 0; k < 3; k++) {
            const double *n = atlas->normals + 3 * c[k];
            for (int e = 0; e < 3; e++) sum[e] += n[e];
            if (n[0] * chart->normal[0] + n[1] * chart->normal[1] + n[2] * chart->normal[2] < steepest) tips[c[k]] = 1;
        }

        /* triangles that face away from all three */
        double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
        double dot = sum[0] * chart->normal[0] + sum[1] * chart->normal[1] + sum[2] * chart->normal[2];
        for (int k = 0; k < 3 && dot < away * length; k++) tips[c[k]] = 1;
    }
}

/* Which directions each point may move in: all, along a curve, or none. tips (point_count): zeros. */
static void build_attachments(slide_model *model, const solver_build *build, uint8_t *tips, double (*allowed)[3])
{
    const cutis_character *c = build->character;
    const float *freeze = kit_map_find(c, "freeze"), *curve = kit_map_find(c, "curve");
    int boundary = (int)build->values[SLIDE_BOUNDARY];
    int asked = 0, held = 0;

    mark_tips(&model->atlas, tips);
    for (int i = 0; i < model->point_count; i++) {
        int vertex = c->point_vertices[i];
        uint8_t kind = model->atlas.boundary[i];
        double tangent[2];

        /* free, unless the boundary or a painted curve says otherwise */
        allowed[i][0] = 1;
        allowed[i][1] = 0;
        allowed[i][2] = 1;
        if (kind == 1 && boundary == SLIDE_BOUNDARY_ALONG) allow_along(allowed[i], model->atlas.tangents[i]);
        if (curve && curve[vertex] >= 0.5f) {
            memset(allowed[i], 0, sizeof allowed[i]);
            if (curve_tangent(&model->atlas, c, curve, i, tangent)) allow_along(allowed[i], tangent);
        }

        /* attached by the user, or held because there is no tangent plane */
        bool attached = (kind == 1 && boundary == SLIDE_BOUNDARY_FIXED) || (freeze && freeze[vertex] >= 0.5f) ||
                        kit_point_value(build, i, SLIDE_ATTACH) >= 0.5 || !(model->drag[i] < HUGE_VAL);
        bool tip = kind == 2 || !(model->areas[i] > 0) || tips[i];
        if (attached || tip) memset(allowed[i], 0, sizeof allowed[i]);
        asked += !attached;
        held += !attached && tip;

        /* The trace of a projection is the number of directions it lets through. */
        model->constraint_count += 2 - (int)(allowed[i][0] + allowed[i][2] + 0.5);
    }

    if (held > warn_share * asked)
        kit_warn(build,
                 "the skin is attached automatically at %d of %d points: tips without a tangent plane, and points of "
                 "several surface sheets; render --color attached shows them",
                 held, asked);
}

static bool may_move(const slide_model *model, int point)
{
    return model->allowed[point][0] + model->allowed[point][2] > 0;
}

/* What is simulated: points that may move, and the triangles around them. */
static void build_region(slide_model *model, int *points, int *triangles, int *all_triangles)
{
    const mesh *m = model->atlas.mesh;

    for (int i = 0; i < model->point_count; i++)
        if (may_move(model, i)) points[model->free_count++] = i;

    /* triangles with a corner that moves */
    for (int t = 0; t < model->triangle_count; t++) {
        bool moves = false;
        for (int k = 0; k < 3; k++) moves |= may_move(model, m->triangles[3 * t + k]);
        all_triangles[t] = t;
        if (moves) triangles[model->free_triangle_count++] = t;
    }

    model->free_points = points;
    model->free_triangles = triangles;
    model->all_triangles = all_triangles;
}

/* ---- texture ---- */

static void build_texture(slide_model *model, const cutis_character *c, float (*texcoords)[3][2], uint8_t *seams,
                          int *face_triangles)
{
    const mesh *m = model->atlas.mesh;

    /* corners of the mesh's triangles have the coordinates of the character's faces */
    for (int f = 0; f < c->face_count; f++) face_triangles[f] = -1;
    int at = 0;
    for (int t = 0; t < c->triangle_count && at < m->triangle_count; t++) {
        int p[3];
        for (int k = 0; k < 3; k++) p[k] = c->vertex_points[c->triangles[3 * t + k]];
        if (memcmp(p, m->triangles + 3 * at, sizeof p) != 0) continue; /* collapsed by welding */

        for (int k = 0; k < 3; k++) memcpy(texcoords[at][k], c->texcoords + 2 * c->triangle_corners[3 * t + k], 8);
        if (face_triangles[c->triangle_faces[t]] < 0) face_triangles[c->triangle_faces[t]] = at;
        at++;
    }

    /* A seam is an edge whose ends have other coordinates on its two sides; a boundary ends the walk by itself. */
    for (int t = 0; t < m->triangle_count; t++) {
        for (int k = 0; k < 3; k++) {
            int across = model->atlas.charts[t].across[k];
            if (across < 0) continue;
            int other = across / 3, opposite = across % 3;
            const float *a = texcoords[t][next3(k)], *b = texcoords[t][next3(next3(k))];
            const float *a2 = texcoords[other][next3(next3(opposite))], *b2 = texcoords[other][next3(opposite)];
            if (memcmp(a, a2, 8) != 0 || memcmp(b, b2, 8) != 0) seams[t] |= (uint8_t)(1 << k);
        }
    }
}

/* Islands of the texture, and which triangles are near a border of one. points, islands: (point_count) zeros, and out.
 */
static void build_islands(const slide_model *model, const uint8_t *seams, uint8_t *points, uint8_t *near_seam,
                          int *islands)
{
    enum { RINGS = 3 };
    const mesh *m = model->atlas.mesh;

    /* join triangles across edges that are no seams; mark the ends of seams */
    for (int t = 0; t < m->triangle_count; t++) islands[t] = t;
    for (int t = 0; t < m->triangle_count; t++) {
        for (int k = 0; k < 3; k++) {
            int across = model->atlas.charts[t].across[k];
            bool seam = seams[t] >> k & 1;
            if (across >= 0 && !seam) forest_join(islands, t, across / 3);
            if (!seam) continue;
            points[m->triangles[3 * t + next3(k)]] = 1;
            points[m->triangles[3 * t + next3(next3(k))]] = 1;
        }
    }

    /* each triangle by the root of its island */
    for (int t = 0; t < m->triangle_count; t++) islands[t] = forest_root(islands, t);

    /* triangles around the points of seams, then those around theirs */
    for (int ring = 0; ring < RINGS; ring++) {
        for (int t = 0; t < m->triangle_count; t++)
            for (int k = 0; k < 3; k++) near_seam[t] |= points[m->triangles[3 * t + k]];
        for (int t = 0; t < m->triangle_count; t++)
            for (int k = 0; k < 3; k++) points[m->triangles[3 * t + k]] |= near_seam[t];
    }
}

/* Seams and open edges of each island; first (triangle_count + 2): zeros, and out: where
 * island t begins is at t + 1. edges NULL: only their number. */
static int build_seams(const slide_model *model, const uint8_t *seams, int *first, int *edges)
{
    int count = 0;
    for (int t = 0; t < model->triangle_count && !edges; t++) {
        for (int k = 0; k < 3; k++) {
            if (model->atlas.charts[t].across[k] >= 0 && !(seams[t] >> k & 1)) continue;
            first[model->islands[t] + 1]++;
            count++;
        }
    }

    if (!edges) return count;

    /* where each island begins; then each in its place, which shifts the beginnings by one */
    for (int t = 0; t < model->triangle_count; t++) first[t + 1] += first[t];
    for (int t = model->triangle_count - 1; t >= 0; t--) {
        for (int k = 2; k >= 0; k--) {
            if (model->atlas.charts[t].across[k] >= 0 && !(seams[t] >> k & 1)) continue;
            edges[--first[model->islands[t] + 1]] = 3 * t + k;
            count++;
        }
    }

    first[model->triangle_count + 1] = count;
    return count;
}

/* ---- build ---- */

/*
 * The entries of the linear system: points that may move and are neighbours.
 *
 * Points are taken ring by ring, for a file's own order may have neighbours far apart: the preconditioner knows them
 * the less, and the cache. Equations are taken from STRANDS parts of the points by turns: in the substitutions of
 * slide_solve.c a point waits for its neighbours before it, and points of the other strands keep the processor busy
 * meanwhile.
 */
static void build_links(slide_model *model, int *order, int *equations, int *index, int *links, int *link_first,
                        int *link_upper)
{
    enum { STRANDS = 3 };
    const mesh *m = model->atlas.mesh;

    /* ring by ring */
    for (int i = 0; i < model->point_count; i++) index[i] = -1;
    for (int a = 0; a < model->free_count; a++) index[model->free_points[a]] = 0;
    int count = 0;
    for (int a = 0; a < model->free_count; a++) {
        if (index[model->free_points[a]]) continue;
        index[model->free_points[a]] = 1;
        order[count++] = model->free_points[a];
        for (int next = count - 1; next < count; next++) {
            for (int n = m->point_neighbour_first[order[next]]; n < m->point_neighbour_first[order[next] + 1]; n++) {
                int other = m->point_neighbours[n];
                if (index[other] != 0) continue;
                index[other] = 1;
                order[count++] = other;
            }
        }
    }

    int length = (model->free_count + STRANDS - 1) / STRANDS;
    count = 0;
    for (int first = 0; first < length; first++) {
        for (int a = first; a < model->free_count; a += length) {
            equations[count] = order[a];
            index[order[a]] = count++;
        }
    }

    /* neighbours before a point, then those behind it */
    count = 0;
    for (int a = 0; a < model->free_count; a++) {
        int i = equations[a];
        link_first[a] = count;
        for (int upper = 0; upper < 2; upper++) {
            for (int n = m->point_neighbour_first[i]; n < m->point_neighbour_first[i + 1]; n++) {
                int other = index[m->point_neighbours[n]];
                if (other >= 0 && (other > a) == upper) links[count++] = other;
            }
            if (!upper) link_upper[a] = count;
        }
    }

    link_first[model->free_count] = count;
    model->equations = equations;
    model->links = links;
    model->link_first = link_first;
    model->link_upper = link_upper;
}

/*
 * Which blocks of triangles add up to an entry of the linear system, and which entries a pair of neighbours has in the
 * stencils. Points that may move have a single fan, so that an edge between two is run once in either direction.
 */
static void build_sources(const slide_model *model, const int *index, int (*sources)[2], int (*neighbours)[2])
{
    const mesh *m = model->atlas.mesh;
    for (int n = 0; n < model->link_first[model->free_count]; n++)
        for (int o = 0; o < 2; o++) sources[n][o] = SLIDE_BLOCKS * m->triangle_count;

    for (int point = 0; point < m->point_count; point++) {
        for (int at = m->point_triangle_first[point]; at < m->point_triangle_first[point + 1]; at++) {
            const int *c = m->triangles + 3 * m->point_triangles[at];
            int own = c[0] == point ? 0 : c[1] == point ? 1 : 2;

            /* entry of the other corner among the point's neighbours */
            for (int o = 0; o < 2; o++) {
                int other = c[(own + 1 + o) % 3];
                int n = m->point_neighbour_first[point];
                while (m->point_neighbours[n] != other) n++;
                neighbours[at][o] = n;

                /* and in the linear system, when both may move: the block of own with next, or of previous with own */
                if (index[point] < 0 || index[other] < 0) continue;
                n = model->link_first[index[point]];
                while (model->links[n] != index[other]) n++;
                sources[n][o] = SLIDE_BLOCKS * m->point_triangles[at] + 3 + (o == 0 ? own : (own + 2) % 3);
            }
        }
    }
}

/*
 * The derivative at a point is the mean of those of its triangles, by area, in the point's frame: chart vector = turn
 * x point vector. It is linear in the places of the neighbours, with coefficients that do not change.
 */
static void build_fans(const slide_model *model, const int (*neighbours)[2], int *fans, double (*stencils)[2])
{
    const slide_atlas *atlas = &model->atlas;
    const mesh *m = atlas->mesh;
    for (int i = 0; i < m->point_count; i++) {
        for (int n = m->point_triangle_first[i]; n < m->point_triangle_first[i + 1]; n++) {
            int t = m->point_triangles[n];
            const int *c = m->triangles + 3 * t;
            int own = c[0] == i ? 0 : c[1] == i ? 1 : 2;

            /* how the triangle's derivative depends on its corners */
            const double *slopes = atlas->slopes[t];
            double co = atlas->turns[t][own][0], si = atlas->turns[t][own][1];
            double share = model->areas[i] > 0 ? slopes[3] / (3 * model->areas[i]) : 0;
            double corners[3][2] = {
                {0, 0},
                {share * (co * slopes[0] + si * slopes[1]), share * (co * slopes[1] - si * slopes[0])},
                {share * si * slopes[2], share * co * slopes[2]}};

            /* added to the entries of the two neighbours */
            fans[n] = 3 * t + own;
            for (int e = 0; e < 2; e++) {
                corners[0][e] = -corners[1][e] - corners[2][e];
                for (int o = 0; o < 2; o++) stencils[neighbours[n][o]][e] += corners[(own + 1 + o) % 3][e];
            }
        }
    }
}

/*
 * Friction between skin and body at a point. The drag is 0 for zeta 0 and infinite for zeta 1, where the skin sticks.
 * The strain that dry friction holds over a length is a gradient of stress, which balances a force over the area.
 */
static void build_friction(slide_model *model, const solver_build *build, int i, double zeta, double *drag,
                           double *friction)
{
    double own = kit_point_value(build, i, SLIDE_DRAG);
    drag[i] = zeta < 1 ? own + zeta / (1 - zeta) / drag_time : HUGE_VAL;
    friction[i] = model->young * kit_point_value(build, i, SLIDE_FRICTION);
    if (friction[i] > 0) model->friction = friction;
}

static void build_values(slide_model *model, const solver_build *build, double *stiffness, double *zeta,
                         double *delta_max, double *areas, double *edges)
{
    const cutis_character *c = build->character;
    const mesh *m = build->mesh;

    const float *painted = kit_map_find(c, "stiffness"), *painted_zeta = kit_map_find(c, "zeta");
    for (int i = 0; i < m->point_count; i++) {
        int vertex = c->point_vertices[i];

        /* coupling with the body: zeta and the largest speed that is followed */
        zeta[i] = painted_zeta ? CLAMP((double)painted_zeta[vertex], 0, 1) : kit_point_value(build, i, SLIDE_ZETA);
        double limit = kit_point_value(build, i, SLIDE_DELTA_MAX);
        delta_max[i] = limit > 0 ? limit / (build->values[SLIDE_UNIT] * model->unit) : HUGE_VAL;
        if (zeta[i] < 1 || limit > 0) model->slips = true;

        /* mean length of the edges around */
        double sum = 0;
        int first = m->point_neighbour_first[i], count = m->point_neighbour_first[i + 1] - first;
        for (int n = first; n < first + count; n++) {
            const float *a = m->positions + 3 * i, *b = m->positions + 3 * m->point_neighbours[n];
            sum += (double)vec3_distance(vec3_load(a), vec3_load(b));
        }
        edges[i] = count > 0 ? sum / count / model->unit : 0;
    }

    /* stiffness of triangles, areas of points */
    for (int t = 0; t < m->triangle_count; t++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            int point = m->triangles[3 * t + k], vertex = c->point_vertices[point];
            double own = kit_point_value(build, point, SLIDE_STIFFNESS);
            sum += own * (painted ? CLAMP((double)painted[vertex], 0, 1) : 1);
            areas[point] += model->atlas.charts[t].area / 3;
        }
        stiffness[t] = sum / 3;
    }
}

cutis_result slide_build(const solver_build *build, void **data, cutis_error *error)
{
    const cutis_character *c = build->character;
    const mesh *m = build->mesh;
    const double *values = build->values;
    arena *memory = build->memory;
    if (m->triangle_count == 0) {
        return error_set(error, CUTIS_ERROR_DATA, "solver slide needs a surface, and '%s' has no triangles", c->name);
    }

    slide_model *model = ARENA_ARRAY(memory, slide_model, 1);
    if (!model) return error_memory(error, "solver slide");

    /* sizes, and charts of the body at rest */
    model->character = c;
    model->unit = (double)c->size;
    model->h = build->substep;
    model->point_count = m->point_count;
    model->triangle_count = m->triangle_count;
    cutis_result result = slide_atlas_build(&model->atlas, m, model->unit, memory, error);
    if (result) return result;

    /* Lame's constants of a membrane in plane stress, from the speed of waves in a strip: c^2 = E / rho. */
    double young = values[SLIDE_WAVE_SPEED] * values[SLIDE_WAVE_SPEED], nu = values[SLIDE_POISSON];
    model->young = young;
    model->poisson = nu;
    model->material = (slide_material){.kind = (slide_material_kind)(int)values[SLIDE_MATERIAL],
                                       .lambda = young * nu / (1 - nu * nu),
                                       .mu = young / (2 * (1 + nu)),
                                       .fung = values[SLIDE_FUNG_EXPONENT],
                                       .area = young * values[SLIDE_AREA],
                                       .stretch = 1 + values[SLIDE_TENSION]};

    model->damping = values[SLIDE_DAMPING];
    model->tolerance = solve_tolerance;

    /* Rayleigh's damping: half by mass, half by stiffness, equal for a wave as long as the character */
    double wave = 6.283185307179586 * values[SLIDE_WAVE_SPEED];
    model->viscosity = model->damping / (wave * wave);
    model->ligament = 6.283185307179586 * values[SLIDE_LIGAMENT_STIFFNESS];
    model->slack = values[SLIDE_SLACK];
    model->gravity = values[SLIDE_GRAVITY] / (values[SLIDE_UNIT] * model->unit);
    model->vertices = (int)values[SLIDE_OUTPUT] == SLIDE_SHOW_VERTICES;

    /* memory of the tables */
    size_t points = (size_t)m->point_count, triangles = (size_t)m->triangle_count;
    double *stiffness = ARENA_ARRAY(memory, double, triangles), *zeta = ARENA_ARRAY(memory, double, points);
    double *delta_max = ARENA_ARRAY(memory, double, points), *areas = ARENA_ARRAY(memory, double, points);
    double *edges = ARENA_ARRAY(memory, double, points);
    double *drag = ARENA_ARRAY(memory, double, points), *friction = ARENA_ARRAY(memory, double, points);
    double(*allowed)[3] = arena_push(memory, points, sizeof *allowed);
    size_t fan_entries = (size_t)m->point_triangle_first[points];
    int(*sources)[2] = arena_push(memory, (size_t)m->point_neighbour_first[points], sizeof *sources);
    int(*neighbours)[2] = arena_push(memory, fan_entries, sizeof *neighbours);
    int *index = ARENA_ARRAY(memory, int, points), *link_first = ARENA_ARRAY(memory, int, points + 1);
    int *link_upper = ARENA_ARRAY(memory, int, points);
    int *links = ARENA_ARRAY(memory, int, m->point_neighbour_first[points]);
    uint8_t *tips = ARENA_ARRAY(memory, uint8_t, points);
    int *equations = ARENA_ARRAY(memory, int, points), *order = ARENA_ARRAY(memory, int, points);
    int *free_points = ARENA_ARRAY(memory, int, points);
    int *free_triangles = ARENA_ARRAY(memory, int, triangles);
    int *all_triangles = ARENA_ARRAY(memory, int, triangles);
    int *fans = ARENA_ARRAY(memory, int, fan_entries);
    double(*stencils)[2] = arena_push(memory, (size_t)m->point_neighbour_first[points], sizeof *stencils);
    if (memory->failed) return error_memory(error, "solver slide");

    /* values of points and triangles */
    build_values(model, build, stiffness, zeta, delta_max, areas, edges);
    for (int i = 0; i < m->point_count; i++) build_friction(model, build, i, zeta[i], drag, friction);
    model->drag = drag;
    model->stiffness = stiffness;
    model->zeta = zeta;
    model->delta_max = delta_max;
    model->areas = areas;
    for (int i = 0; i < m->point_count; i++) model->noise += 1e-14 * young * areas[i];
    model->edges = edges;
    model->sources = (const int(*)[2])sources;

    build_attachments(model, build, tips, allowed);
    model->allowed = (const double(*)[3])allowed;

    /* strain at the beginning, and skin that is pulled along; all three coordinates or none */
    static const char *const first_names[] = {"slide_x", "slide_y", "slide_z"}, *const pulls[] = {"pull_x", "pull_y",
                                                                                                  "pull_z"};
    const float *first[3], *pull[3];
    for (int e = 0; e < 3; e++) {
        first[e] = kit_map_find(c, first_names[e]);
        pull[e] = kit_map_find(c, pulls[e]);
    }

    if (first[0] && first[1] && first[2]) memcpy(model->first_slide, first, sizeof first);
    if (pull[0] && pull[1] && pull[2]) memcpy(model->pull, pull, sizeof pull);

    /* what is simulated, and the sparsity of its system */
    build_region(model, free_points, free_triangles, all_triangles);
    build_links(model, order, equations, index, links, link_first, link_upper);
    build_sources(model, index, sources, neighbours);
    build_fans(model, (const int(*)[2])neighbours, fans, stencils);

    model->fans = fans;
    model->stencils = (const double(*)[2])stencils;

    /* texture: seams, islands and their borders */
    if (c->texcoords) {
        float(*texcoords)[3][2] = arena_push(memory, triangles, sizeof *texcoords);
        uint8_t *seams = ARENA_ARRAY(memory, uint8_t, triangles);
        uint8_t *near_seam = ARENA_ARRAY(memory, uint8_t, triangles), *marks = ARENA_ARRAY(memory, uint8_t, points);
        int *islands = ARENA_ARRAY(memory, int, triangles);
        int *face_triangles = ARENA_ARRAY(memory, int, c->face_count);
        if (memory->failed) return error_memory(error, "solver slide");

        build_texture(model, c, texcoords, seams, face_triangles);
        build_islands(model, seams, marks, near_seam, islands);
        model->near_seam = near_seam;
        model->islands = islands;

        /* counted first, then filled */
        int *seam_first = ARENA_ARRAY(memory, int, triangles + 2);
        if (memory->failed) return error_memory(error, "solver slide");
        int *seam_edges = ARENA_ARRAY(memory, int, build_seams(model, seams, seam_first, NULL));
        if (memory->failed) return error_memory(error, "solver slide");
        build_seams(model, seams, seam_first, seam_edges);
        model->seam_edges = seam_edges;
        model->seam_first = seam_first + 1;

        model->texcoords = (const float(*)[3][2])texcoords;
        model->seams = seams;
        model->face_triangles = face_triangles;
    }

    *data = model;
    return CUTIS_OK;
}
