/*
 * slide.c: thin hyperelastic skin that slides over the body. Duo Li, Shinjiro Sueda, Debanga R. Neog, Dinesh K. Pai,
 * "Thin Skin Elastodynamics", 2013.
 *
 * The mesh is fixed on the body (Eulerian): each point holds the place on the unstressed skin whose material lies
 * there now, and the skin's velocity along the body. A step (Algorithm 1) lets the body slip under the skin, moves
 * the skin by its elastic force through a linearly implicit solve, and carries velocity and places along with the
 * skin by semi-Lagrangian advection through the charts.
 *
 * Departures from the paper:
 * - Charts: one per triangle instead of rectangles (slide_atlas.h).
 * - The Jacobian of a point is the mean of its triangles' (slide_system.c).
 * - Coupling (Eqs. 11 to 13): the body's tangential displacement is split into the part zeta min(|d|, Delta_max)
 *   that the skin takes part in and the rest, by which the skin is left behind; the paper describes the same split
 *   from the skin's side. Delta_max is given as a speed, so that it does not depend on the substep. v is then the
 *   velocity against the part that is followed: against the body for zeta = 1, in space for zeta = 0.
 * - Viscous damping, stiffness per region, prestretch, ligaments, materials that bear inversion, and a limit that
 *   keeps an elastic step from turning a triangle over: beyond the paper.
 */
#include "solvers/slide/slide.h"
#include "solvers/solver_kit.h"

#include <string.h>

enum { GRAIN = 256, FOLLOW_EVERY = 8 };

/* A point may move by this part of the least height of its triangles in one step: two such moves do not meet. */
static const double altitude_part = 0.3;
/* ... but always by this part of its mean edge, so that a sliver does not hold the skin fast for ever. */
static const double edge_part = 0.01;
/* The body may slip under a point by so many edges a step; more is a leap, not a motion, and would fold the skin. */
static const double slip_edges = 0.5;

/*
 * At a ridge of the surface the force may point across from both sides, and the place would leap to and fro. A point
 * whose velocity turns round is slowed by half, and gains speed again when it does not, down to this part.
 */
static const double least_calm = 1e-3;

typedef struct step_pass {
    const slide_model *model;
    slide_scratch *s;
    slide_place *places;
    double *v;
    const float *surface, *surface_old;
    bool elastic; /* moves by velocities, which are carried along, limited by the heights of triangles */
} step_pass;

/* ---- coupling ---- */

/* moves = how far the skin is left behind by the body's displacement, in the frames of points. */
static void slip_points(void *context, int begin, int end)
{
    step_pass *p = context;
    const slide_model *model = p->model;
    for (int i = begin; i < end; i++) {
        const double *g = p->s->gammas[i], *q = model->allowed[i];
        double xx = 0, xy = 0, yy = 0, r0 = 0, r1 = 0;
        for (int e = 0; e < 3; e++) {
            double d = p->s->x[3 * i + e] - (double)p->surface_old[3 * i + e] / model->unit;
            xx += g[2 * e] * g[2 * e], xy += g[2 * e] * g[2 * e + 1], yy += g[2 * e + 1] * g[2 * e + 1];
            r0 += g[2 * e] * d, r1 += g[2 * e + 1] * d;
        }
        double det = xx * yy - xy * xy, u = 0, v = 0;
        if (det > 1e-8 * (xx + yy) * (xx + yy)) u = (yy * r0 - xy * r1) / det, v = (xx * r1 - xy * r0) / det;
        double length = sqrt(xx * u * u + 2 * xy * u * v + yy * v * v);
        double followed = model->zeta[i] * (length > model->delta_max[i] ? model->delta_max[i] / length : 1);
        double behind = 1 - followed, flat = sqrt(u * u + v * v) * behind, most = slip_edges * model->edges[i];
        if (flat > most) behind *= most / flat;
        double m0 = -behind * u, m1 = -behind * v;
        p->s->moves[2 * i] = q[0] * m0 + q[1] * m1;
        p->s->moves[2 * i + 1] = q[1] * m0 + q[2] * m1;
    }
}

/* ---- advection ---- */

/* Semi-Lagrangian: what comes to point i when the skin moves by moves[i] was at -moves[i]. */
static void advect_points(void *context, int begin, int end)
{
    step_pass *p = context;
    const slide_model *model = p->model;
    const slide_scratch *s = p->s;
    const slide_atlas *atlas = &model->atlas;
    const mesh *m = atlas->mesh;
    for (int i = begin; i < end; i++) {
        double move[2] = {s->moves[2 * i], s->moves[2 * i + 1]};
        s->places[i] = p->places[i];
        if (p->elastic) memcpy(s->velocities + 2 * i, p->v + 2 * i, 2 * sizeof(double));
        if (move[0] == 0 && move[1] == 0) continue;

        /* By how much the place would change by the point's own derivative, and how much of that is allowed. */
        const double *j = s->jacobians[i];
        double mean[3], size = 0, slowed = 1;
        for (int e = 0; e < 3; e++) {
            mean[e] = -j[2 * e] * move[0] - j[2 * e + 1] * move[1];
            size += mean[e] * mean[e];
        }
        if (p->elastic) {
            double height = model->edges[i];
            for (int n = m->point_triangle_first[i]; n < m->point_triangle_first[i + 1]; n++)
                height = slide_min(height, s->altitudes[m->point_triangles[n]]);
            double most = slide_max(altitude_part * height, edge_part * model->edges[i]);
            if (size > most * most) slowed = most / sqrt(size);
            for (int e = 0; e < 3; e++) mean[e] *= slowed;
            move[0] *= slowed, move[1] *= slowed;
            size *= slowed * slowed;
        }

        double axis[2] = {1, 0}, back[2] = {-move[0], -move[1]};
        slide_place from = slide_walk_from_point(atlas, i, back, axis);
        const int *c = m->triangles + 3 * from.triangle;
        double w[3] = {1 - from.b[0] - from.b[1], from.b[0], from.b[1]};
        /* Start from the point itself when it is a corner, else from the nearest corner. */
        int near = c[0] == i ? 0 : c[1] == i ? 1 : c[2] == i ? 2 : -1;
        if (near < 0) near = w[0] >= w[1] && w[0] >= w[2] ? 0 : w[1] >= w[2] ? 1 : 2;
        int base = c[near];
        double chord[3], flat[2], apart = 0;
        for (int e = 0; e < 3; e++) {
            double to = w[0] * s->skin[3 * c[0] + e] + w[1] * s->skin[3 * c[1] + e] + w[2] * s->skin[3 * c[2] + e];
            double off = to - s->skin[3 * i + e] - mean[e];
            chord[e] = to - s->skin[3 * base + e];
            apart += off * off;
        }
        /*
         * Where the skin is folded, the triangle upwind has another derivative than the point, and would carry the
         * place against the force; there the point's own derivative, by which the force was found, is taken.
         */
        if (p->elastic && apart > 0.25 * size) {
            memcpy(chord, mean, sizeof chord);
            base = i;
        }
        slide_place place = p->places[base];
        const double *n = s->normals + 3 * base;
        double unit[3], square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2], scale = square > 0 ? 1 / sqrt(square) : 0;
        for (int e = 0; e < 3; e++) unit[e] = scale * n[e];
        slide_turn_flat(atlas, place.triangle, chord, unit, flat);
        slide_walk(atlas, &place, flat, NULL, NULL);
        s->places[i] = place;
        if (!p->elastic) continue;
        /* Velocities of the corners, turned into the chart and from there into the point's frame. */
        double x = 0, y = 0;
        for (int k = 0; k < 3; k++) {
            const double *turn = atlas->turns[from.triangle][k], *v = p->v + 2 * c[k];
            x += w[k] * (turn[0] * v[0] - turn[1] * v[1]);
            y += w[k] * (turn[1] * v[0] + turn[0] * v[1]);
        }
        s->velocities[2 * i] = axis[0] * x + axis[1] * y;
        s->velocities[2 * i + 1] = axis[0] * y - axis[1] * x;
        const double *q = model->allowed[i];
        double v0 = slowed * s->velocities[2 * i], v1 = slowed * s->velocities[2 * i + 1];
        s->velocities[2 * i] = q[0] * v0 + q[1] * v1;
        s->velocities[2 * i + 1] = q[1] * v0 + q[2] * v1;
    }
}

/* ---- the step ---- */

/* Body positions in sizes; a value that is not finite keeps the old one. */
static int load_surface(const slide_model *model, slide_scratch *s, const float *surface, float *kept)
{
    int repairs = 0;
    for (int i = 0; i < 3 * model->point_count; i++) {
        bool fine = fabsf(surface[i]) < 1e15f;
        repairs += !fine;
        if (fine) kept[i] = surface[i];
        s->x[i] = (double)kept[i] / model->unit;
    }
    return repairs;
}

static void reset(const void *data, void *state, void *scratch, const solver_input *input, float *points)
{
    const slide_model *model = data;
    const mesh *m = model->atlas.mesh;
    slide_scratch s;
    slide_scratch_map(model, scratch, &s);
    memset(state, 0, model->state_size);
    slide_place *places = slide_at(state, model->places);
    double *calm = slide_at(state, model->calm);
    for (int i = 0; i < model->point_count; i++) {
        calm[i] = 1;
        if (m->point_triangle_first[i] == m->point_triangle_first[i + 1]) continue;
        int t = m->point_triangles[m->point_triangle_first[i]];
        const int *c = m->triangles + 3 * t;
        places[i] = slide_place_of_corner(t, c[0] == i ? 0 : c[1] == i ? 1 : 2);
    }
    slide_tracks_reset(model, state);
    memcpy(slide_at(state, model->surface), input->surface, 3 * (size_t)model->point_count * sizeof(float));
    for (int i = 0; i < 3 * model->point_count; i++) s.x[i] = (double)input->surface[i] / model->unit;
    slide_system_skin(model, &s, places, input->jobs);
    slide_system_elements(model, &s, places, input->jobs);
    memcpy(points, input->surface, 3 * (size_t)model->point_count * sizeof(float));
}

static double kinetic_energy(const slide_model *model, const slide_scratch *s, const double *v)
{
    double sum = 0;
    for (int i = 0; i < model->point_count; i++) {
        const double *m = s->inertia[i], *w = v + 2 * i;
        sum += 0.5 * (m[0] * w[0] * w[0] + 2 * m[1] * w[0] * w[1] + m[2] * w[1] * w[1]);
    }
    return sum;
}

/*
 * On a body that stands still the skin may only lose energy. What a step has gained by its discretisation is taken
 * from the velocity; if that is not enough, the step is taken back and the skin comes to rest. before: energy at its
 * beginning; old: the places then.
 */
static void spend_gain(const slide_model *model, slide_scratch *s, slide_place *places, double *v, double before,
                       const slide_place *old, const cutis_jobs *jobs)
{
    size_t count = (size_t)model->point_count;
    slide_system_skin(model, s, places, jobs);
    double elastic = slide_system_energy(model, s, places), kinetic = kinetic_energy(model, s, v);
    if (elastic + kinetic <= before) return;
    double scale = elastic < before && kinetic > 0 ? sqrt((before - elastic) / kinetic) * (1 - 1e-12) : 0;
    for (size_t i = 0; i < 2 * count; i++) v[i] *= scale;
    if (elastic > before) memcpy(places, old, count * sizeof *places);
}

static void step(const void *data, void *state, void *scratch, const solver_input *input, float *points,
                 cutis_step_stats *stats)
{
    const slide_model *model = data;
    const cutis_jobs *jobs = input->jobs;
    slide_scratch s;
    slide_scratch_map(model, scratch, &s);
    slide_place *places = slide_at(state, model->places);
    double *v = slide_at(state, model->velocities), *calm = slide_at(state, model->calm);
    float *surface = slide_at(state, model->surface);
    size_t count = (size_t)model->point_count;
    step_pass p = {.model = model, .s = &s, .places = places, .v = v, .surface_old = s.old_surface};
    double start = clock_seconds();

    /* The body moves; where the skin does not follow wholly, it is left behind. */
    memcpy(s.old_surface, surface, 3 * count * sizeof(float));
    stats->repairs += load_surface(model, &s, input->surface, surface);
    if (model->slips || model->gravity != 0 || input->drag_count > 0) slide_system_body(model, &s, jobs);
    if (model->slips) {
        slide_skin_points(model, &s, places, jobs);
        parallel_for(jobs, model->point_count, GRAIN, slip_points, &p);
        parallel_for(jobs, model->point_count, GRAIN, advect_points, &p);
        memcpy(places, s.places, count * sizeof *places);
    }
    slide_system_skin(model, &s, places, jobs);
    /* Nothing acts on the skin from outside: then its energy is watched. */
    bool still =
        memcmp(s.old_surface, surface, 3 * count * sizeof(float)) == 0 && input->drag_count == 0 && model->gravity == 0;
    double before = still ? slide_system_energy(model, &s, places) + kinetic_energy(model, &s, v) : 0;
    double coupled = clock_seconds();

    slide_system_elements(model, &s, places, jobs);
    slide_system_assemble(model, &s, v, input->drags, input->drag_count, jobs);
    double assembled = clock_seconds();

    double residual;
    /* Forces change little from step to step: the last gain is likely to come again. */
    double *gains = slide_at(state, model->gains);
    memcpy(s.velocities, v, 2 * count * sizeof *v);
    for (size_t i = 0; i < 2 * count; i++) v[i] += gains[i];
    int iterations = slide_system_solve(model, &s, v, &residual, jobs);
    stats->iterations += iterations;
    stats->residual = residual;
    stats->unconverged += residual > 1e-3;
    for (size_t i = 0; i < count; i++) {
        double *own = v + 2 * i;
        const double *old = s.velocities + 2 * i;
        for (int e = 0; e < 2; e++) gains[2 * i + (size_t)e] = own[e] - old[e];
        /* Faster than this is no skin: a thousand sizes a second. */
        for (int e = 0; e < 2; e++)
            if (!(fabs(own[e]) < 1000)) own[e] = 0, stats->repairs++;
        calm[i] =
            own[0] * old[0] + own[1] * old[1] < 0 ? slide_max(0.5 * calm[i], least_calm) : slide_min(1.15 * calm[i], 1);
        for (int e = 0; e < 2; e++) s.moves[2 * i + e] = model->h * (own[e] *= calm[i]);
    }
    double solved = clock_seconds();

    p.elastic = true;
    parallel_for(jobs, model->point_count, GRAIN, advect_points, &p);
    if (still) memcpy(s.old_places, places, count * sizeof *places);
    memcpy(places, s.places, count * sizeof *places);
    memcpy(v, s.velocities, 2 * count * sizeof *v);
    if (still) spend_gain(model, &s, places, v, before, s.old_places, jobs);
    memcpy(points, surface, 3 * count * sizeof(float));
    if (model->vertices) {
        slide_skin_points(model, &s, places, jobs);
        slide_tracks_follow(model, state, s.skin, surface, points, jobs);
    }
    /* Now and then, at instants that do not depend on the frame rate; in between the middles are near enough. */
    if (llround(input->time / model->h) % FOLLOW_EVERY == 0) slide_faces_follow(model, state, s.skin, jobs);
    double end = clock_seconds();
    stats->part_ms[0] += (coupled - start) * 1e3;
    stats->part_ms[1] += (assembled - coupled) * 1e3;
    stats->part_ms[2] += (solved - assembled) * 1e3;
    stats->part_ms[3] += (end - solved) * 1e3;
}

/* Outputs, once for all substeps of a step; stresses are those that moved the skin in the last substep. */
static void finish(const void *data, void *state, void *scratch, const solver_input *input)
{
    const slide_model *model = data;
    slide_scratch s;
    slide_scratch_map(model, scratch, &s);
    const slide_place *places = slide_at(state, model->places);
    slide_skin_points(model, &s, places, input->jobs);
    slide_outputs_fill(model, state, &s, input->jobs);
}

static void teleport(const void *data, void *state, const float transform[12])
{
    const slide_model *model = data;
    float *surface = slide_at(state, model->surface);
    for (int i = 0; i < model->point_count; i++)
        vec3_store(surface + 3 * i, mat34_point(transform, vec3_load(surface + 3 * i)));
}

double slide_energy(const slide_model *model, void *state, void *scratch, const float *surface, double *kinetic)
{
    slide_scratch s;
    slide_scratch_map(model, scratch, &s);
    const slide_place *places = slide_at(state, model->places);
    const double *v = slide_at(state, model->velocities);
    for (int i = 0; i < 3 * model->point_count; i++) s.x[i] = (double)surface[i] / model->unit;
    slide_system_skin(model, &s, places, NULL);
    double elastic = slide_system_energy(model, &s, places);
    *kinetic = kinetic_energy(model, &s, v);
    return elastic;
}

/* ---- the table ---- */

static long element_count(const void *data) { return 2L * ((const slide_model *)data)->point_count; }
static size_t state_size(const void *data) { return ((const slide_model *)data)->state_size; }
static size_t scratch_size(const void *data) { return ((const slide_model *)data)->scratch_size; }

static const cutis_output_info output_infos[] = {
    {.name = "texcoords",
     .role = CUTIS_OUTPUT_TEXCOORDS,
     .domain = CUTIS_DOMAIN_CORNER,
     .components = 2,
     .unit = "",
     .help = "texture coordinates of the skin that lies at the corner now"},
    {.name = "sliding",
     .role = CUTIS_OUTPUT_SLIDING,
     .components = 3,
     .unit = "m",
     .help = "rest place of the vertex less that of the skin that lies there now"},
    {.name = "stress",
     .components = 2,
     .unit = "",
     .help = "principal stresses over Young's modulus, the larger first; positive is tension"},
    {.name = "wrinkle",
     .components = 1,
     .unit = "",
     .help = "compressive part of the smaller stress: how much the skin should wrinkle"},
};

static bool output(const void *data, const void *state, int index, cutis_output *out)
{
    const slide_model *model = data;
    const cutis_character *c = model->character;
    const char *block = state;
    const cutis_output outputs[] = {
        {CUTIS_DOMAIN_CORNER, c->corner_count, 2, (const float *)(const void *)(block + model->corner_texcoords)},
        {CUTIS_DOMAIN_VERTEX, c->vertex_count, 3, (const float *)(const void *)(block + model->sliding)},
        {CUTIS_DOMAIN_VERTEX, c->vertex_count, 2, (const float *)(const void *)(block + model->stress)},
        {CUTIS_DOMAIN_VERTEX, c->vertex_count, 1, (const float *)(const void *)(block + model->wrinkle)},
    };
    if (index == 0 && !model->texcoords) return false;
    *out = outputs[index];
    return true;
}

static const char *const parts[] = {"coupling", "elements", "linear solve", "advection"};

static const cutis_parameter parameters[SLIDE_PARAMETER_COUNT] = {
    [SLIDE_MATERIAL] = {PARAMETER_CHOICE("material", SLIDE_NEO_HOOKEAN, "stvk|neohookean|fung"),
                        .help = "St. Venant-Kirchhoff as in the paper, stable neo-Hookean, or exponential (Fung)"},
    [SLIDE_OUTPUT] = {PARAMETER_CHOICE("output", SLIDE_OUTPUT_TEXTURE, "texture|vertices"),
                      .help = "what shows the sliding: texture coordinates, or vertices moved with their skin"},
    [SLIDE_BOUNDARY] = {PARAMETER_CHOICE("boundary", SLIDE_BOUNDARY_ALONG, "slide|fixed|free"),
                        .help = "skin at an open edge slides along it, is attached to it, or moves freely"},
    [SLIDE_WAVE_SPEED] = {PARAMETER_FLOAT("wave_speed", 15, 0.1, 200, "1/s"),
                          .help = "speed of stretch through the skin, in sizes of the character a second"},
    [SLIDE_STIFFNESS] = {PARAMETER_FLOAT("stiffness", 1, 0, 100, ""), .per_bone = true,
                         .help = "factor on the elastic modulus; times the painted map 'stiffness'"},
    [SLIDE_POISSON] = {PARAMETER_FLOAT("poisson", 0.3, 0, 0.95, ""),
                       .help = "Poisson's ratio in the plane of the skin"},
    [SLIDE_FUNG_EXPONENT] = {PARAMETER_FLOAT("fung", 10, 0.1, 100, ""),
                             .help = "exponent of the Fung material: how soon it stiffens"},
    [SLIDE_AREA] = {PARAMETER_FLOAT("area", 0, 0, 100, ""),
                    .help = "resistance to change of area, in elastic moduli; 0 leaves it to the material"},
    [SLIDE_TENSION] = {PARAMETER_FLOAT("tension", 0, -0.5, 1, ""),
                       .help = "strain of the skin at rest; positive is tight"},
    [SLIDE_DAMPING] = {PARAMETER_FLOAT("damping", 4, 0, 1000, "1/s"), .role = CUTIS_PARAMETER_DAMPING,
                       .help = "viscous resistance to sliding"},
    [SLIDE_ZETA] = {PARAMETER_FLOAT("zeta", 1, 0, 1, ""), .per_bone = true,
                    .help = "share of the body's sideways motion that carries the skin along; a map 'zeta' wins"},
    [SLIDE_DELTA_MAX] = {PARAMETER_FLOAT("delta_max", 0, 0, 1000, "m/s"), .per_bone = true,
                         .help = "fastest sideways motion of the body that the skin follows; 0 is no limit"},
    [SLIDE_ATTACH] = {PARAMETER_FLOAT("attach", 0, 0, 1, ""), .per_bone = true,
                      .help = "1 attaches the skin to the body; from 0.5 on by weight, as the map 'freeze' does"},
    [SLIDE_LIGAMENT] = {PARAMETER_FLOAT("ligament", 0, 0, 1000, "1/s"),
                        .help = "angular frequency of the springs that tie skin to its body point; 0 is none"},
    [SLIDE_SLACK] = {PARAMETER_FLOAT("slack", 0.01, 0, 1, ""),
                     .help = "how far skin slides before ligaments pull, in sizes of the character"},
    [SLIDE_GRAVITY] = {PARAMETER_FLOAT("gravity", 0, -100, 100, "m/s2"), .help = "pull on the skin along -Y"},
};

extern const solver solver_slide;
const solver solver_slide = {
    .info = {.name = "slide",
             .summary = "thin elastic skin that slides over the body: moving texture coordinates",
             .paper = "Li, Sueda, Neog, Pai 2013, Thin Skin Elastodynamics",
             .element = "dofs",
             .parts = parts,
             .part_count = COUNT_OF(parts),
             .substep = 0.001,
             .parameters = parameters,
             .parameter_count = SLIDE_PARAMETER_COUNT,
             .outputs = output_infos,
             .output_count = COUNT_OF(output_infos),
             .flags = CUTIS_SOLVER_SURFACE},
    .build = slide_build,
    .element_count = element_count,
    .state_size = state_size,
    .scratch_size = scratch_size,
    .reset = reset,
    .step = step,
    .finish = finish,
    .teleport = teleport,
    .output = output,
};
