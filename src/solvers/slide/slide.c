/*
 * slide.c: thin hyperelastic skin that slides over the body. Duo Li, Shinjiro Sueda, Debanga R. Neog, Dinesh K. Pai,
 * "Thin Skin Elastodynamics", 2013.
 *
 * The mesh is fixed on the body (Eulerian): each point holds the place on the unstressed skin whose material lies
 * there now, and the skin's velocity along the body. A step (Algorithm 1) gives the skin what it does not follow of the
 * body's acceleration, moves it by its elastic force, and carries velocities along with it through the charts.
 *
 * Departures from the paper:
 * - Charts: one per triangle instead of rectangles, rounded between the corners (slide_atlas.h).
 * - The Jacobian of a point is the mean of its triangles' (slide_system.c).
 * - Coupling (Eqs. 11 to 13): velocities are those against the body, and the body's acceleration acts on them
 *   (slide_advection.c). Delta_max is given as a speed, so that it does not depend on the substep.
 * - Time integration: a minimisation with a line search, of second order for undamped skin (slide_step.c).
 * - Viscous friction with the body follows from zeta (slide_build.c); dry friction (slide_system.c) is beyond the
 * paper.
 * - Viscous damping, stiffness per region, prestretch, ligaments, and materials that do not turn inside out
 *   (slide_material.c): beyond the paper.
 */
#include "solvers/slide/slide.h"
#include "solvers/solver_kit.h"

#include <string.h>

static const cutis_parameter slide_parameters[SLIDE_PARAMETER_COUNT] = {
    [SLIDE_MATERIAL] =
        {PARAMETER_CHOICE("material", SLIDE_NEO_HOOKEAN, "stvk|neohookean|fung"),
         .help = "elastic material: St. Venant-Kirchhoff (the paper), stable neo-Hookean, or Fung (exponential)"},
    [SLIDE_OUTPUT] = {PARAMETER_CHOICE("output", SLIDE_SHOW_TEXTURE, "texture|vertices"),
                      .help = "output of the sliding: texture coordinates, or vertices that move with their skin"},
    [SLIDE_BOUNDARY] = {PARAMETER_CHOICE("boundary", SLIDE_BOUNDARY_ALONG, "slide|fixed|free"),
                        .help = "skin at open edges: slides along, is fixed, or moves freely"},
    [SLIDE_WAVE_SPEED] = {PARAMETER_FLOAT("wave_speed", 15, 0.1, 200, "size/s"),
                          .help = "propagation speed of stretch in the skin"},
    [SLIDE_STIFFNESS] = {PARAMETER_FLOAT("stiffness", 1, 0, 100, ""), .per_bone = true,
                         .help = "factor on the elastic modulus, multiplied by the painted map 'stiffness'"},
    [SLIDE_POISSON] = {PARAMETER_FLOAT("poisson", 0.3, 0, 0.95, ""),
                       .help = "Poisson's ratio in the plane of the skin"},
    [SLIDE_FUNG_EXPONENT] = {PARAMETER_FLOAT("fung", 10, 0.1, 100, ""),
                             .help = "exponent of the Fung material; larger stiffens sooner"},
    [SLIDE_AREA] = {PARAMETER_FLOAT("area", 0, 0, 100, ""),
                    .help = "resistance to area change, in elastic moduli; 0 leaves it to the material"},
    [SLIDE_TENSION] = {PARAMETER_FLOAT("tension", 0, -0.5, 1, ""),
                       .help = "strain of the skin at rest; positive is tight"},
    [SLIDE_DAMPING] = {PARAMETER_FLOAT("damping", 4, 0, 1000, "1/s"), .role = CUTIS_PARAMETER_DAMPING,
                       .help = "decay rate of skin vibration; 0 for none"},
    [SLIDE_ZETA] =
        {PARAMETER_FLOAT("zeta", 0.999, 0, 1, ""), .per_bone = true,
         .help = "how closely the skin follows the body: 0 slides without resistance, 1 sticks; a painted map 'zeta' "
                 "overrides it"},
    [SLIDE_DRAG] = {PARAMETER_FLOAT("drag", 0, 0, 100000, "1/s"), .per_bone = true,
                    .help = "viscous friction with the body: decay rate of the sliding speed; 0 for none"},
    [SLIDE_FRICTION] = {PARAMETER_FLOAT("friction", 0, 0, 100, "1/size"), .per_bone = true,
                        .help = "dry friction with the body: strain that it holds, per length of skin; 0 for none"},
    [SLIDE_DELTA_MAX] = {PARAMETER_FLOAT("delta_max", 0, 0, 1000, "m/s"), .per_bone = true,
                         .help = "largest tangential speed of the body that the skin follows; 0 for no limit"},
    [SLIDE_ATTACH] = {PARAMETER_FLOAT("attach", 0, 0, 1, ""), .per_bone = true,
                      .help = "0.5 or more attaches the skin to the body, as the painted map 'freeze' does"},
    [SLIDE_LIGAMENT_STIFFNESS] =
        {PARAMETER_FLOAT("ligament_stiffness", 0, 0, 160, "Hz"), .former = "ligament",
         .help = "frequency of the springs that hold the skin at its position on the body; 0 for none"},
    [SLIDE_SLACK] = {PARAMETER_FLOAT("slack", 0.01, 0, 1, "size"), .help = "sliding distance before ligaments pull"},
    [SLIDE_GRAVITY] = {PARAMETER_FLOAT("gravity", 0, -100, 100, "m/s2"), .help = "acceleration of the skin along -y"},
    [SLIDE_UNIT] = {KIT_PARAMETER_UNIT},
};

static const char *const slide_parts[] = {[SLIDE_PART_COUPLING] = "coupling",
                                          [SLIDE_PART_ELEMENTS] = "elements",
                                          [SLIDE_PART_SOLVE] = "linear solve",
                                          [SLIDE_PART_ADVECTION] = "advection"};

static const cutis_output_info slide_outputs[SLIDE_OUTPUT_COUNT] = {
    [SLIDE_OUTPUT_TEXCOORDS] = {.name = "texcoords",
                                .role = CUTIS_OUTPUT_TEXCOORDS,
                                .domain = CUTIS_DOMAIN_CORNER,
                                .components = 2,
                                .unit = "",
                                .help = "texture coordinates of the skin that is at the corner now"},
    [SLIDE_OUTPUT_SLIDING] = {.name = "sliding",
                              .role = CUTIS_OUTPUT_SLIDING,
                              .components = 3,
                              .unit = "m",
                              .help =
                                  "rest position of the vertex minus the rest position of the skin that is there now"},
    [SLIDE_OUTPUT_STRESS] = {.name = "stress",
                             .components = 2,
                             .unit = "",
                             .help = "principal stresses over Young's modulus, the larger first; positive is tension"},
    [SLIDE_OUTPUT_WRINKLE] = {.name = "wrinkle",
                              .components = 1,
                              .unit = "",
                              .help = "compressive part of the smaller stress: how much the skin should wrinkle"},
    [SLIDE_OUTPUT_FOLDS] =
        {.name = "folds",
         .components = 3,
         .unit = "",
         .help = "direction across wrinkles in the rest pose; its length is the compressed share of the skin"},
    [SLIDE_OUTPUT_ATTACHED] =
        {.name = "attached",
         .components = 1,
         .unit = "",
         .help = "1 where the skin is attached, 0.5 where it slides along a line, 0 where it is free"},
    [SLIDE_OUTPUT_STEADY] = {.name = "texcoords_steady",
                             .role = CUTIS_OUTPUT_TEXCOORDS_STEADY,
                             .domain = CUTIS_DOMAIN_CORNER,
                             .components = 2,
                             .unit = "",
                             .help = "the same in the face's own island, without jumps: for interpolation in time"},
};

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

/* Algorithm 1. */
static void slide_step(const void *data, void *memory, void *scratch, const solver_input *input, float *points,
                       cutis_step_stats *stats)
{
    const slide_model *model = data;
    const cutis_jobs *jobs = input->jobs;
    size_t count = (size_t)model->point_count;
    slide_state state;
    slide_scratch s;

    slide_state_view(model, memory, &state);
    slide_scratch_view(model, scratch, &s);
    s.spots = state.spots;
    s.anchors = state.anchors;
    double clock = clock_seconds();

    /* points that may not move are nothing to the skin's motion */
    memset(s.jacobians, 0, count * sizeof *s.jacobians);
    memset(s.right, 0, 2 * count * sizeof *s.right);
    memset(s.goal, 0, 2 * count * sizeof *s.goal);
    memset(s.guess, 0, 2 * count * sizeof *s.guess);

    /* coupling with the body */
    memcpy(s.old_surface, state.surface, 3 * count * sizeof(float));
    stats->repairs += load_surface(model, &s, input->surface, state.surface);
    bool pushed = slide_pushed(input);
    if (model->slips || model->gravity != 0 || input->drag_count > 0 || pushed) slide_system_body(model, &s, jobs);
    if (model->slips) slide_couple(model, &state, &s, model->h, jobs);
    if (pushed) slide_push(model, &state, &s, input);
    if (model->pull[0]) slide_pull(model, &state, &s, jobs);
    kit_lap(&clock, stats, SLIDE_PART_COUPLING);

    slide_advance(model, &state, &s, input, stats);
    if (model->friction) slide_system_yield(model, &s, state.anchors);
    clock = clock_seconds();

    memcpy(points, state.surface, 3 * count * sizeof(float));
    if (model->vertices) {
        slide_skin_points(model, &s, state.places, jobs);
        slide_tracks_follow(model, &state, &s, state.surface, points, jobs);
    }

    kit_lap(&clock, stats, SLIDE_PART_ADVECTION);
}

/* Outputs, once for all substeps of a step. */
static void slide_finish(const void *data, void *memory, void *scratch, const solver_input *input)
{
    const slide_model *model = data;
    slide_state state;
    slide_scratch s;
    slide_state_view(model, memory, &state);
    slide_scratch_view(model, scratch, &s);
    s.spots = state.spots;
    for (int i = 0; i < 3 * model->point_count; i++) s.x[i] = (double)state.surface[i] / model->unit;
    slide_system_shapes(model, &s, input->jobs);
    slide_skin_known(model, &s, state.places, input->jobs);
    slide_system_stresses(model, &s, input->jobs);
    slide_outputs_fill(model, &state, &s, input->jobs);
}

/* The skin begins with the painted strain, u(0), or with as much of it as does not turn it inside out. */
static void start_slid(const slide_model *model, slide_state *state, slide_scratch *s, const cutis_jobs *jobs)
{
    size_t bytes = (size_t)model->point_count * sizeof *state->places;
    memcpy(s->old_places, state->places, bytes);

    /* the body at rest */
    for (int i = 0; i < 3 * model->point_count; i++) s->x[i] = model->atlas.positions[i];
    slide_system_shapes(model, s, jobs);

    /* try the whole strain, then less and less of it */
    for (double share = 1; share > 0.05; share *= 0.7) {
        memcpy(state->places, s->old_places, bytes);
        for (int i = 0; i < model->point_count; i++) {
            double way[3];
            int vertex = model->character->point_vertices[i];
            for (int e = 0; e < 3; e++) way[e] = -share * (double)model->first_slide[e][vertex] / model->unit;
            bool fine = fabs(way[0]) + fabs(way[1]) + fabs(way[2]) < 10;
            if (!(fine && model->areas[i] > 0)) continue;
            slide_spot spot = slide_place_rounded(&model->atlas, &state->places[i]);
            slide_place_move(&model->atlas, &state->places[i], way, &spot);
        }

        /* enough, when no triangle is inside out */
        slide_skin_points(model, s, state->places, jobs);
        if (slide_system_energy(model, s, jobs) < HUGE_VAL) return;
    }

    /* none does: begin without strain */
    memcpy(state->places, s->old_places, bytes);
}

static void slide_reset(const void *data, void *memory, void *scratch, const solver_input *input, float *points)
{
    const slide_model *model = data;
    const mesh *m = model->atlas.mesh;
    size_t surface_bytes = 3 * (size_t)model->point_count * sizeof(float);
    slide_state state;
    slide_scratch s;
    slide_state_view(model, memory, &state);
    slide_scratch_view(model, scratch, &s);
    s.anchors = state.anchors;
    memset(memory, 0, slide_state_size(model));

    /* every point holds its own skin */
    for (int i = 0; i < model->point_count; i++) {
        if (m->point_triangle_first[i] == m->point_triangle_first[i + 1]) continue;
        int t = m->point_triangles[m->point_triangle_first[i]];
        const int *c = m->triangles + 3 * t;
        state.places[i] = slide_place_of_corner(t, c[0] == i ? 0 : c[1] == i ? 1 : 2);
    }

    /* painted strain, and where it leaves the skin */
    if (model->first_slide[0]) start_slid(model, &state, &s, input->jobs);
    slide_tracks_reset(model, &state);
    for (int i = 0; i < model->point_count; i++) state.spots[i] = slide_place_rounded(&model->atlas, &state.places[i]);

    /* dry friction holds the skin where it begins */
    for (int i = 0; i < model->point_count && model->friction; i++)
        memcpy(state.anchors + 3 * i, state.spots[i].position, sizeof state.spots[i].position);

    /* on the body as it is */
    memcpy(state.surface, input->surface, surface_bytes);
    memcpy(points, input->surface, surface_bytes);
}

double slide_energy(const slide_model *model, void *memory, void *scratch, const float *surface, double *kinetic)
{
    slide_state state;
    slide_scratch s;
    slide_state_view(model, memory, &state);
    slide_scratch_view(model, scratch, &s);
    s.anchors = state.anchors;
    for (int i = 0; i < 3 * model->point_count; i++) s.x[i] = (double)surface[i] / model->unit;
    slide_system_shapes(model, &s, NULL);
    slide_skin_points(model, &s, state.places, NULL);
    double elastic = slide_system_energy(model, &s, NULL);
    slide_system_inertia(model, &s, NULL);
    *kinetic = slide_kinetic(model, &s, state.velocities);
    return elastic;
}

/* ---- the table ---- */

static long slide_element_count(const void *data) { return 2L * ((const slide_model *)data)->point_count; }

extern const solver solver_slide;
const solver solver_slide = {
    .info = {.name = "slide",
             .summary = "thin elastic skin that slides over the body: moving texture coordinates",
             .paper = "Li, Sueda, Neog, Pai 2013, Thin Skin Elastodynamics",
             .element = "dofs",
             .parts = slide_parts,
             .part_count = COUNT_OF(slide_parts),
             .substep = 0.004,
             .parameters = slide_parameters,
             .parameter_count = SLIDE_PARAMETER_COUNT,
             .outputs = slide_outputs,
             .output_count = SLIDE_OUTPUT_COUNT,
             .flags = CUTIS_SOLVER_SURFACE},
    .build = slide_build,
    .element_count = slide_element_count,
    .state_size = slide_state_size,
    .scratch_size = slide_scratch_size,
    .reset = slide_reset,
    .step = slide_step,
    .finish = slide_finish,
    .teleport = slide_teleport,
    .output = slide_output,
};
