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

static const cutis_parameter slide_parameters[SLIDE_PARAMETER_COUNT] = {
    [SLIDE_MATERIAL] =
        {PARAMETER_CHOICE("material", SLIDE_NEO_HOOKEAN, "stvk|neohookean|fung"),
         .help = "elastic material: St. Venant-Kirchhoff (the paper), stable neo-Hookean, or Fung (exponential)"},
    [SLIDE_OUTPUT] = {PARAMETER_CHOICE("output", SLIDE_SHOW_TEXTURE, "texture|vertices"),
                      .help = "what shows the sliding: texture coordinates, or vertices that move with their skin"},
    [SLIDE_BOUNDARY] = {PARAMETER_CHOICE("boundary", SLIDE_BOUNDARY_ALONG, "slide|fixed|free"),
                        .help = "skin at open edges: slides along, is fixed, or moves freely"},
    [SLIDE_WAVE_SPEED] = {PARAMETER_FLOAT("wave_speed", 15, 0.1, 200, "size/s"),
                          .help = "speed at which a stretch travels through the skin"},
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
                       .help = "viscous resistance to sliding"},
    [SLIDE_ZETA] = {PARAMETER_FLOAT("zeta", 1, 0, 1, ""), .per_bone = true,
                    .help = "share of the body's tangential motion that the skin follows; a painted map 'zeta' wins"},
    [SLIDE_DELTA_MAX] = {PARAMETER_FLOAT("delta_max", 0, 0, 1000, "m/s"), .per_bone = true,
                         .help = "largest tangential speed of the body that the skin follows; 0 for no limit"},
    [SLIDE_ATTACH] = {PARAMETER_FLOAT("attach", 0, 0, 1, ""), .per_bone = true,
                      .help = "attaches the skin to the body where 0.5 or more, as the painted map 'freeze' does"},
    [SLIDE_LIGAMENT_STIFFNESS] =
        {PARAMETER_FLOAT("ligament_stiffness", 0, 0, 160, "Hz"), .former = "ligament",
         .help = "frequency of the springs that tie the skin to its place on the body; 0 for none"},
    [SLIDE_SLACK] = {PARAMETER_FLOAT("slack", 0.01, 0, 1, "size"),
                     .help = "distance that the skin slides before ligaments pull"},
    [SLIDE_GRAVITY] = {PARAMETER_FLOAT("gravity", 0, -100, 100, "m/s2"), .help = "acceleration of the skin along -y"},
    [SLIDE_UNIT] = {KIT_PARAMETER_UNIT},
};

enum { PART_COUPLING, PART_ELEMENTS, PART_SOLVE, PART_ADVECTION };
static const char *const slide_parts[] = {"coupling", "elements", "linear solve", "advection"};

static const cutis_output_info slide_outputs[SLIDE_OUTPUT_COUNT] = {
    [SLIDE_OUTPUT_TEXCOORDS] = {.name = "texcoords",
                                .role = CUTIS_OUTPUT_TEXCOORDS,
                                .domain = CUTIS_DOMAIN_CORNER,
                                .components = 2,
                                .unit = "",
                                .help = "texture coordinates of the skin that lies at the corner now"},
    [SLIDE_OUTPUT_SLIDING] = {.name = "sliding",
                              .role = CUTIS_OUTPUT_SLIDING,
                              .components = 3,
                              .unit = "m",
                              .help = "rest place of the vertex less that of the skin that lies there now"},
    [SLIDE_OUTPUT_STRESS] = {.name = "stress",
                             .components = 2,
                             .unit = "",
                             .help = "principal stresses over Young's modulus, the larger first; positive is tension"},
    [SLIDE_OUTPUT_WRINKLE] = {.name = "wrinkle",
                              .components = 1,
                              .unit = "",
                              .help = "compressive part of the smaller stress: how much the skin should wrinkle"},
};

/* Substeps between two looks at where the middles of faces are. */
enum { FOLLOW_EVERY = 8 };
/* Faster than this is no skin, in sizes a second. */
static const double SPEED_LIMIT = 1000;
/* Relative residual of the linear solve from which on a substep counts as unconverged. */
static const double RESIDUAL_LIMIT = 1e-3;

/*
 * At a ridge of the surface the force may point across from both sides, and the place would leap to and fro. A point
 * whose velocity turns round is slowed by half, and gains speed again when it does not, down to this part.
 */
static const double LEAST_CALM = 1e-3;

/* ---- energy ---- */

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

/* The body moves; where the skin does not follow wholly, it is left behind. Returns values that were not finite. */
static int body_move(const slide_model *model, slide_state *state, slide_scratch *s, const solver_input *input)
{
    size_t count = (size_t)model->point_count;
    memcpy(s->old_surface, state->surface, 3 * count * sizeof(float));
    int repairs = load_surface(model, s, input->surface, state->surface);
    if (model->slips || slide_pushed(model, input)) slide_system_body(model, s, input->jobs);
    if (!model->slips) return repairs;
    slide_skin_points(model, s, state->places, input->jobs);
    slide_slip(model, s, input->jobs);
    slide_advect(model, s, state->places, NULL, input->jobs);
    memcpy(state->places, s->places, count * sizeof *s->places);
    return repairs;
}

/* New velocities, as far as they make sense, and the moves that follow. old: those before. Returns repairs. */
static int velocities_take(const slide_model *model, slide_state *state, slide_scratch *s, const double *old_velocities)
{
    int repairs = 0;
    for (int i = 0; i < model->point_count; i++) {
        double *own = state->velocities + 2 * i;
        const double *old = old_velocities + 2 * i;
        for (int e = 0; e < 2; e++) state->gains[2 * i + e] = own[e] - old[e];
        for (int e = 0; e < 2; e++) {
            if (fabs(own[e]) < SPEED_LIMIT) continue;
            own[e] = 0;
            repairs++;
        }

        /* a velocity that turns round is slowed */
        bool turns = own[0] * old[0] + own[1] * old[1] < 0;
        double *calm = state->calm + i;
        *calm = turns ? slide_max(0.5 * *calm, LEAST_CALM) : slide_min(1.15 * *calm, 1);
        for (int e = 0; e < 2; e++) {
            own[e] *= *calm;
            s->moves[2 * i + e] = model->h * own[e];
        }
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
    double *v = state.velocities;
    double clock = clock_seconds();

    /* coupling with the body; where nothing acts from outside, the skin's energy is watched */
    stats->repairs += body_move(model, &state, &s, input);
    slide_system_skin(model, &s, state.places, jobs);
    bool still =
        memcmp(s.old_surface, state.surface, 3 * count * sizeof(float)) == 0 && !slide_pushed(model, input);
    double before = still ? slide_system_energy(model, &s, state.places) + kinetic_energy(model, &s, v) : 0;
    kit_lap(&clock, stats, PART_COUPLING);

    /* the linear system */
    slide_system_elements(model, &s, state.places, jobs);
    slide_system_assemble(model, &s, v, input->drags, input->drag_count, jobs);
    slide_system_push(model, &s, input);
    kit_lap(&clock, stats, PART_ELEMENTS);

    /* its solution; forces change little from step to step, so the last gain is likely to come again */
    double residual;
    memcpy(s.velocities, v, 2 * count * sizeof *v);
    for (size_t i = 0; i < 2 * count; i++) v[i] += state.gains[i];
    stats->iterations += slide_system_solve(model, &s, v, &residual, jobs);
    stats->residual = residual;
    stats->unconverged += residual > RESIDUAL_LIMIT;
    stats->repairs += velocities_take(model, &state, &s, s.velocities);
    kit_lap(&clock, stats, PART_SOLVE);

    /* advection of places and velocities */
    slide_advect(model, &s, state.places, v, jobs);
    if (still) memcpy(s.old_places, state.places, count * sizeof *s.places);
    memcpy(state.places, s.places, count * sizeof *s.places);
    memcpy(v, s.velocities, 2 * count * sizeof *v);
    if (still) spend_gain(model, &s, state.places, v, before, s.old_places, jobs);

    /* what is shown; faces now and then, at instants that do not depend on the frame rate */
    memcpy(points, state.surface, 3 * count * sizeof(float));
    if (model->vertices) {
        slide_skin_points(model, &s, state.places, jobs);
        slide_tracks_follow(model, &state, s.skin, state.surface, points, jobs);
    }
    if (llround(input->time / model->h) % FOLLOW_EVERY == 0) slide_faces_follow(model, &state, s.skin, jobs);
    kit_lap(&clock, stats, PART_ADVECTION);
}

/* Outputs, once for all substeps of a step; stresses are those that moved the skin in the last substep. */
static void slide_finish(const void *data, void *memory, void *scratch, const solver_input *input)
{
    const slide_model *model = data;
    slide_state state;
    slide_scratch s;
    slide_state_view(model, memory, &state);
    slide_scratch_view(model, scratch, &s);
    slide_skin_points(model, &s, state.places, input->jobs);
    slide_outputs_fill(model, &state, &s, input->jobs);
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
    memset(memory, 0, slide_state_size(model));

    /* every point holds its own skin */
    for (int i = 0; i < model->point_count; i++) {
        state.calm[i] = 1;
        if (m->point_triangle_first[i] == m->point_triangle_first[i + 1]) continue;
        int t = m->point_triangles[m->point_triangle_first[i]];
        const int *c = m->triangles + 3 * t;
        state.places[i] = slide_place_of_corner(t, c[0] == i ? 0 : c[1] == i ? 1 : 2);
    }
    slide_tracks_reset(model, &state);

    /* on the body as it is */
    memcpy(state.surface, input->surface, surface_bytes);
    for (int i = 0; i < 3 * model->point_count; i++) s.x[i] = (double)input->surface[i] / model->unit;
    slide_system_skin(model, &s, state.places, input->jobs);
    slide_system_elements(model, &s, state.places, input->jobs);
    memcpy(points, input->surface, surface_bytes);
}

double slide_energy(const slide_model *model, void *memory, void *scratch, const float *surface, double *kinetic)
{
    slide_state state;
    slide_scratch s;
    slide_state_view(model, memory, &state);
    slide_scratch_view(model, scratch, &s);
    for (int i = 0; i < 3 * model->point_count; i++) s.x[i] = (double)surface[i] / model->unit;
    slide_system_skin(model, &s, state.places, NULL);
    double elastic = slide_system_energy(model, &s, state.places);
    *kinetic = kinetic_energy(model, &s, state.velocities);
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
             .substep = 0.001,
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
