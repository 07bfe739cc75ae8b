/*
 * state.c: states, and how they advance; state_show.c computes what is drawn of them.
 *
 * Time. A dynamic solver advances in substeps of fixed length h. To advance to time t, substeps are taken until
 * one ends at or behind t. What is drawn is interpolated between the last two: so the frame rate only picks
 * which instants are read, and an instant that falls on a substep is that substep's result to the bit. With a
 * motion known in advance every substep samples it. In a stack each stage has a substep of its own: a body that takes
 * longer ones is run to the end of its substep first, and the stages on it see its surface interpolated. With live
 * poses, substeps within a step interpolate between the last pose given and the new one, and the part of a substep that
 * reaches beyond the step holds the new one.
 */
#include <string.h>

#include "character/lead_in.h"
#include "character/morph_sum.h"
#include "engine/model_object.h"
#include "math/math3.h"
#include "solvers/solver_kit.h"

/* A live step longer than this is a host's hiccup, not motion. */
static const double LIVE_LIMIT = 0.25;
/* Accelerations, winds and blows beyond this are a host's mistake, scene units and seconds. */
static const float FORCE_LIMIT = 1e9f;
/*
 * 1 / (2 pi 2 Hz), seconds: the softest flesh there is sags by its square times an acceleration, and a blow throws it
 * by this time the speed.
 */
static const float SOFT_TIME = 0.0796f;
/* Seconds in which the slack of a force that is gone falls to 1 / e: flesh of the default damping moves half as long.
 */
static const double SLACK_TIME = 0.5;
/* A drag pulls in each of about so many iterations of a substep. */
static const float DRAG_PULLS = 10;

/* ---- memory ---- */

cutis_result cutis_state_create(const cutis_model *model, const cutis_allocator *allocator, cutis_state **result,
                                cutis_error *error)
{
    size_t bytes = model->state_bytes + model->scratch_bytes;
    cutis_state *state = memory_allocate(allocator, bytes, 1);
    *result = state;
    if (!state) return error_memory(error, "a state");
    state->allocator = memory_resolve(allocator);
    state->block_bytes = bytes;
    cutis_state_reset(model, state, NULL);
    return CUTIS_OK;
}

void cutis_state_destroy(cutis_state *state)
{
    if (!state) return;
    cutis_allocator allocator = state->allocator;
    memory_release(&allocator, state, state->block_bytes, 1);
}

void cutis_state_copy(const cutis_model *model, cutis_state *to, const cutis_state *from)
{
    size_t offset = offsetof(cutis_state, time);
    memcpy((char *)to + offset, (const char *)from + offset, model->state_bytes - offset);
}

uint64_t cutis_state_hash(const cutis_model *model, const cutis_state *state)
{
    /* The statistics hold times, which no two runs share. */
    uint64_t hash = hash_bytes(&state->time, sizeof state->time, 0);
    hash = hash_bytes(&state->substeps, sizeof state->substeps, hash);
    bool slack = state->slack.swing > 0 || state->slack.pull > 0;
    if (slack) hash = hash_bytes(&state->slack, sizeof state->slack, hash);
    hash = state->blow_count ? hash_bytes(state->blows, (size_t)state->blow_count * sizeof *state->blows, hash) : hash;
    size_t begin = model->joints;
    hash = hash_bytes((const char *)state + begin, model->links - begin, hash);

    /* the pose that is shown follows from the rest; corrections that are zero have no influence */
    const link_state *links = (const link_state *)((const char *)state + model->links);
    if (articulation_is_idle(&model->articulation, links)) return hash;
    return hash_bytes((const char *)state + model->links, model->state_bytes - model->links, hash);
}

double cutis_state_time(const cutis_state *state) { return state->time; }

/* ---- stages ---- */

/* The points of a geometric stage are picked from the vertices it made. */
static void gather_points(const cutis_model *m, const float *vertices, float *points)
{
    for (int p = 0; p < m->character->point_count; p++) {
        memcpy(points + 3 * p, vertices + 3 * m->character->point_vertices[p], 3 * sizeof(float));
    }
}

/* A surface from outside in place of the first stage; what is not finite stays where it was. */
static void sample_surface(const cutis_model *m, cutis_state *state, const cutis_surface *surface, double time)
{
    float *vertices = state_floats(state, m->vertices), *points = state_floats(state, m->stages[0].points);
    memcpy(state_floats(state, m->stages[0].points_old), points, (size_t)m->character->point_count * 3 * sizeof(float));
    surface->sample(surface->context, time, vertices);
    for (int p = 0; p < m->character->point_count; p++) {
        const float *from = vertices + 3 * m->character->point_vertices[p];
        bool fine = fabsf(from[0]) < 1e15f && fabsf(from[1]) < 1e15f && fabsf(from[2]) < 1e15f;
        if (fine) memcpy(points + 3 * p, from, 3 * sizeof(float));
        state->stats.repairs += !fine;
    }
}

/* The points of a stage at the end of the last stage's substep `at`: between two of its own when its are longer. */
static const float *surface_at(const cutis_model *m, cutis_state *state, const stage *s, int64_t at)
{
    const float *a = state_floats(state, s->points_old), *b = state_floats(state, s->points);
    int64_t part = (at - 1) % s->span + 1;
    if (at <= 0 || part == s->span) return b;
    float *between = state_scratch(m, state, m->surface), t = (float)part / (float)s->span;
    for (int i = 0; i < 3 * m->character->point_count; i++) between[i] = a[i] + t * (b[i] - a[i]);
    return between;
}

/* Let a stage see its own pose, if it is not the one that input holds already. */
static void set_pose(const cutis_model *m, cutis_state *state, const stage *s, solver_input *input)
{
    float *skin = state_scratch(m, state, m->skin);
    if (input->joints == state_floats(state, s->joints)) return;
    input->joints = state_floats(state, s->joints);
    input->joints_old = state_floats(state, s->joints_old);
    skin_matrices(m->character, input->joints, skin);
    input->skin = skin;
}

/* Drags of drawn vertices as drags of the body's points that count most for them. */
static void body_drags(const cutis_model *m, cutis_state *state, const stage *s, solver_input *input)
{
    const float *own = state_floats(state, s->body_points);
    cutis_drag *drags = state_scratch(m, state, m->drags);
    int count = 0;

    for (int i = 0; i < input->drag_count && count < DRAG_LIMIT; i++) {
        int point = m->character->vertex_points[input->drags[i].vertex];
        int anchor = embedding_nearest(&m->body, point);
        if (anchor < 0) continue;

        drags[count] = input->drags[i];
        drags[count].vertex = m->body.character->point_vertices[anchor];

        /* the anchor keeps its distance from the vertex that is dragged */
        vec3 offset = vec3_sub(vec3_load(own + 3 * anchor), embedding_place(&m->body, input->skin, own, point));
        vec3_store(drags[count].target, vec3_add(vec3_load(drags[count].target), offset));
        count++;
    }

    input->drags = drags;
    input->drag_count = count;
}

/* One substep, or reset, of a stage on the simulation body. The drawn points follow if another stage runs on them. */
static void run_on_body(const cutis_model *m, cutis_state *state, const stage *s, const solver_input *given, bool reset)
{
    solver_input input = *given;
    float *own = state_floats(state, s->body_points);
    void *data = state_floats(state, s->state), *scratch = state_scratch(m, state, s->scratch);
    if (input.drag_count > 0) body_drags(m, state, s, &input);

    if (reset) {
        s->solver->reset(s->data, data, scratch, &input, own);
    } else {
        s->solver->step(s->data, data, scratch, &input, own, &state->stats);
    }

    if (!stage_has_points(m, s)) return;
    display_points(&m->display, input.skin, own, state_scratch(m, state, m->show), input.jobs,
                   state_floats(state, s->points));
}

/* Put every stage at rest in the pose of its joints, or let it take a substep to there; fill its points. */
static void run_stage(const cutis_model *m, cutis_state *state, int index, solver_input *input, bool reset)
{
    const stage *s = &m->stages[index];
    bool geometric = stage_is_geometric(s), has_points = stage_has_points(m, s);
    float *points = state_floats(state, s->points), *points_old = state_floats(state, s->points_old);
    float *result = geometric ? state_floats(state, m->vertices) : points;
    void *own = state_floats(state, s->state), *scratch = state_scratch(m, state, s->scratch);
    size_t point_bytes = (size_t)m->character->point_count * 3 * sizeof(float);

    /* keep the last points: an instant that is drawn, or seen by a stage above, may lie between the two */
    if (has_points) memcpy(points_old, points, point_bytes);
    if (s->on_body && !has_points)
        memcpy(state_floats(state, s->body_points_old), state_floats(state, s->body_points),
               (size_t)m->body.character->point_count * 3 * sizeof(float));
    set_pose(m, state, s, input);

    /* the solver itself, or its way over the simulation body */
    if (s->on_body) {
        run_on_body(m, state, s, input, reset);
    } else if (reset) {
        s->solver->reset(s->data, own, scratch, input, result);
    } else {
        s->solver->step(s->data, own, scratch, input, result, &state->stats);
    }

    /* hand the surface to the next stage */
    if (has_points && geometric) gather_points(m, result, points);
    if (has_points && reset) memcpy(points_old, points, point_bytes);
    input->surface = has_points ? points : NULL;
}

void state_finish(const cutis_model *m, cutis_state *state, const cutis_jobs *jobs)
{
    solver_input input = {.jobs = jobs};
    for (int i = 0; i < m->stage_count; i++) {
        const stage *s = &m->stages[i];
        if (!s->solver->finish) continue;
        set_pose(m, state, s, &input);
        input.h = s->substep;
        input.time = state->time;
        input.surface = i > 0 ? surface_at(m, state, &m->stages[i - 1], state->substeps) : NULL;
        s->solver->finish(s->data, state_floats(state, s->state), state_scratch(m, state, s->scratch), &input);
    }
}

void state_run_geometric(const cutis_model *m, cutis_state *state, const cutis_jobs *jobs)
{
    solver_input input = {.time = state->time, .jobs = jobs};
    float *rest = state_scratch(m, state, m->morphed);
    if (morph_sum(m->character, state_floats(state, m->morph_weights), m->character->positions, rest,
                  &state->stats.repairs))
        input.rest = rest;
    for (int i = 0; i < m->stage_count; i++) run_stage(m, state, i, &input, false);
}

/* At the end of a substep the one before no longer counts; what is left of it must not depend on the frame rate. */
static void forget_old_points(const cutis_model *m, cutis_state *state)
{
    for (int i = 0; i < m->stage_count; i++) {
        const stage *s = &m->stages[i];
        if (!stage_has_points(m, s)) continue;
        if (state->substeps % s->span != 0) continue;
        memcpy(state_floats(state, s->points_old), state_floats(state, s->points),
               (size_t)m->character->point_count * 3 * sizeof(float));
    }
}

/* ---- poses ---- */

/*
 * Copy a pose; a joint whose matrix makes no sense keeps what `to` holds: not finite, stretched ten thousand
 * times, or a million sizes away, where floats no longer tell a finger from an arm. Returns their number.
 */
static int copy_pose(const cutis_model *m, float *to, const float *from)
{
    const float stretch_limit = 1e4f, distance_limit = 1e6f * m->character->size;
    int repairs = 0;

    for (int j = 0; j < m->character->joint_count; j++) {
        const float *a = from + 12 * j, *b = m->character->joints[j].inverse_bind;

        bool fine = true;
        for (int r = 0; r < 3; r++) {
            fine &= fabsf(a[4 * r + 3]) < distance_limit;

            /* Against rest: above a joint may stand a change of units, a thousand or a hundred thousand times. */
            for (int k = 0; k < 3; k++)
                fine &= fabsf(a[4 * r] * b[k] + a[4 * r + 1] * b[4 + k] + a[4 * r + 2] * b[8 + k]) < stretch_limit;
        }

        /* a joint out of range keeps its last pose */
        if (fine) {
            memcpy(to + 12 * j, from + 12 * j, 12 * sizeof(float));
        } else {
            repairs++;
        }
    }
    return repairs;
}

/* A pose between two, each joint by itself in scene space. */
static void blend_poses(const cutis_model *m, const float *a, const float *b, double t, float *joints)
{
    for (int j = 0; j < m->character->joint_count; j++) {
        /* an unchanged joint is copied to the bit */
        mat34 ma, mb;
        memcpy(&ma, a + 12 * j, sizeof ma);
        memcpy(&mb, b + 12 * j, sizeof mb);
        if (t >= 1 || memcmp(&ma, &mb, sizeof ma) == 0) {
            memcpy(joints + 12 * j, &mb, sizeof mb);
            continue;
        }

        /* position, rotation and scale apart */
        vec3 ta, tb, sa, sb;
        quat ra, rb;
        mat34_decompose(ma, &ta, &ra, &sa);
        mat34_decompose(mb, &tb, &rb, &sb);
        mat34 mixed =
            mat34_compose(vec3_lerp(ta, tb, (float)t), quat_slerp(ra, rb, (float)t), vec3_lerp(sa, sb, (float)t));
        memcpy(joints + 12 * j, &mixed, sizeof mixed);
    }
}

/* ---- instants between substeps ---- */

/* A step as its caller gave it, and the times at which it begins and ends. */
typedef struct step_span {
    const cutis_step_input *input;
    double begin, end;
} step_span;

static bool joints_yield(const cutis_model *m) { return m->articulation.link_count > 0; }

static link_state *state_links(const cutis_model *m, cutis_state *state)
{
    return (link_state *)((char *)state + m->links);
}

/* Turn the joints of an animated pose at an instant of the first stage's last substep as contact has turned them. */
static void correct_pose(const cutis_model *m, cutis_state *state, double instant, float *joints)
{
    const stage *first = &m->stages[0];
    double part = instant / first->substep - (double)((state->substeps - 1) / first->span);
    articulation_pose(&m->articulation, state_links(m, state), state_scratch(m, state, m->articulation_scratch), joints,
                      part > 1 - INSTANT_TOLERANCE ? 1 : MAX(part, 0), joints);
}

/* Let contact turn the joints in a substep of the first stage; `before` is its last animated pose. */
static void advance_joints(const cutis_model *m, cutis_state *state, const cutis_step_input *input, const float *before,
                           const float *animated, float *joints)
{
    articulation_input own = {.animated = animated, .h = m->stages[0].substep, .jobs = input->jobs};
    own.still = memcmp(before, animated, 12 * (size_t)m->character->joint_count * sizeof(float)) == 0;
    for (int k = 0; k < 3; k++)
        own.acceleration[k] = fabsf(input->acceleration[k]) < FORCE_LIMIT ? input->acceleration[k] : 0;

    /* blows that have not fallen on the first stage yet */
    cutis_impulse blows[CUTIS_MAX_IMPULSES];
    for (int i = 0; i < state->blow_count; i++)
        if (state->blows[i].stages & 1) blows[own.impulse_count++] = state->blows[i].impulse;
    own.impulses = blows;
    articulation_step(&m->articulation, state_links(m, state), state_scratch(m, state, m->articulation_scratch), &own,
                      joints);
}

/* The pose at an instant of a step into the joints at an offset of the state, and what was there into joints_old. */
static void pose_at(const cutis_model *m, cutis_state *state, const step_span *span, double instant,
                    size_t joints_offset, size_t joints_old_offset)
{
    const cutis_step_input *input = span->input;
    const size_t joint_bytes = (size_t)m->character->joint_count * 12 * sizeof(float);
    float *joints = state_floats(state, joints_offset), *animated = state_floats(state, m->animated);
    float *target = state_scratch(m, state, m->target);
    memcpy(state_floats(state, joints_old_offset), joints, joint_bytes);
    if (joints_yield(m)) memcpy(joints, animated, joint_bytes);

    /* live: between the last pose given and this one; a motion is sampled */
    if (input->joints) {
        double begin = span->begin, end = span->end, t = end > begin ? (instant - begin) / (end - begin) : 1;
        blend_poses(m, state_floats(state, m->joints_given), target, CLAMP(t, 0, 1), joints);
    } else if (input->motion.sample) {
        input->motion.sample(input->motion.context, instant, target);
        state->stats.repairs += copy_pose(m, joints, target);
    }

    /* contact turns them on the time of the first stage */
    if (!joints_yield(m)) return;
    if (joints_offset != m->stages[0].joints) {
        correct_pose(m, state, instant, joints);
        return;
    }
    float *before = state_scratch(m, state, m->before);
    memcpy(before, animated, joint_bytes);
    memcpy(animated, joints, joint_bytes);
    advance_joints(m, state, input, before, animated, joints);
}

/* The pose at the end of a step, which may lie inside of a substep. */
static void instant_pose(const cutis_model *m, cutis_state *state, const step_span *span, float *joints)
{
    float *target = state_scratch(m, state, m->target);
    memcpy(joints, state_floats(state, joints_yield(m) ? m->animated : m->joints),
           12 * (size_t)m->character->joint_count * sizeof(float));
    if (span->input->motion.sample && !span->input->joints)
        span->input->motion.sample(span->input->motion.context, span->end, target);
    if (span->input->motion.sample || span->input->joints) copy_pose(m, joints, target);
    if (joints_yield(m)) correct_pose(m, state, span->end, joints);
}

static float force_length(const float force[3])
{
    float length = vec3_length(vec3_load(force));
    return length < FORCE_LIMIT ? length : 0;
}

/* How far a drag pulls its vertex from where linear skinning has it. */
static float drag_pull(const cutis_character *c, const float *skin, const cutis_drag *drag)
{
    int v = drag->vertex;
    if (v < 0 || v >= c->vertex_count || !c->influence_first) return 0;

    vec3 rest = vec3_load(c->positions + 3 * (size_t)v), place = {0, 0, 0};
    for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++)
        place =
            vec3_madd(place, mat34_point(skin + 12 * (size_t)c->influence_joints[i], rest), c->influence_weights[i]);

    float length = vec3_distance(vec3_load(drag->target), place);
    return length < FORCE_LIMIT ? CLAMP(DRAG_PULLS * drag->strength, 0.0f, 1.0f) * length : 0;
}

/*
 * How far the forces of a step can move flesh beyond what it does by itself. The bounds are widened by that, so that
 * none has no slack, a small force a small one, and a force that ends a slack that fades.
 */
static void slack_update(const cutis_model *m, cutis_state *state, const step_span *span)
{
    if (m->display.bound.point_count == 0) return;
    const cutis_step_input *input = span->input;
    float fade = (float)det_exp((span->begin - span->end) / SLACK_TIME);
    float acceleration = force_length(input->acceleration) + kit_wind_most(force_length(input->wind)), speed = 0;

    /* blows of this step, and those that wait */
    for (int i = 0; i < MIN(input->impulse_count, CUTIS_MAX_IMPULSES); i++)
        speed += force_length(input->impulses[i].velocity);
    for (int i = 0; i < state->blow_count; i++) speed += force_length(state->blows[i].impulse.velocity);

    /* the pull of drags, from where skinning has their vertices at this instant */
    float swing = SOFT_TIME * (SOFT_TIME * acceleration + speed), pull = 0;
    float *skin = state_scratch(m, state, m->target);
    if (input->drag_count > 0) skin_matrices(m->character, state_floats(state, m->instant), skin);
    for (int i = 0; i < input->drag_count; i++) pull = MAX(pull, drag_pull(m->character, skin, input->drags + i));

    state->slack.swing = MAX(swing, fade * state->slack.swing);
    state->slack.pull = MAX(pull, fade * state->slack.pull);
}

/* ---- steps ---- */

void cutis_state_reset(const cutis_model *model, cutis_state *state, const float *joints)
{
    float *own = state_floats(state, model->joints);
    size_t joint_bytes = (size_t)model->character->joint_count * 12 * sizeof(float);

    /* time and counters */
    state->time = 0;
    state->substeps = 0;
    state->stats = (cutis_step_stats){.limited_vertex = -1};
    state->blow_count = 0;
    state->slack = (deviation_slack){0};

    /* the pose, still */
    cutis_pose_rest(model->character, own);
    if (joints) state->stats.repairs = copy_pose(model, own, joints);
    memcpy(state_floats(state, model->joints_given), own, joint_bytes);
    memcpy(state_floats(state, model->animated), own, joint_bytes);
    if (joints_yield(model)) {
        link_state *links = state_links(model, state);
        memset(links, 0, articulation_state_bytes(&model->articulation));
        articulation_settle(&model->articulation, links, state_scratch(model, state, model->articulation_scratch),
                            state_floats(state, model->animated), NULL, own);
    }
    memcpy(state_floats(state, model->joints_old), own, joint_bytes);

    /* every solver at rest in it */
    solver_input input = {0};
    for (int i = 0; i < model->stage_count; i++) {
        const stage *s = &model->stages[i];
        if (s->span > 1) {
            memcpy(state_floats(state, s->joints), own, joint_bytes);
            memcpy(state_floats(state, s->joints_old), own, joint_bytes);
        }
        input.h = s->substep;
        run_stage(model, state, i, &input, true);
    }

    memcpy(state_floats(state, model->instant), own, joint_bytes);
    if (model->character->morph_count)
        memset(state_floats(state, model->morph_weights), 0, (size_t)model->character->morph_count * sizeof(float));
    state->shown = false;
    cutis_state_show(model, state, NULL);
}

/* ---- blows ---- */

static bool blow_sound(const cutis_impulse *blow)
{
    bool sound = blow->radius > 0 && blow->radius < FORCE_LIMIT;
    for (int k = 0; k < 3; k++) sound &= fabsf(blow->place[k]) < FORCE_LIMIT && fabsf(blow->velocity[k]) < FORCE_LIMIT;
    return sound;
}

/* Keep the blows of a step until every dynamic stage begins a substep: a short step may hold no such instant. */
static void blows_add(const cutis_model *m, cutis_state *state, const cutis_step_input *input)
{
    unsigned stages = 0;
    for (int i = 0; i < m->stage_count; i++)
        if (!(m->stages[i].solver->info.flags & CUTIS_SOLVER_GEOMETRIC)) stages |= 1u << i;
    for (int i = 0; i < input->impulse_count && stages && state->blow_count < CUTIS_MAX_IMPULSES; i++)
        if (blow_sound(&input->impulses[i]))
            state->blows[state->blow_count++] = (pending_blow){input->impulses[i], stages};
}

/* The blows that a stage has not felt; they are gone when all have. Returns their number. */
static int blows_take(cutis_state *state, int index, cutis_impulse taken[CUTIS_MAX_IMPULSES])
{
    int count = 0, kept = 0;
    for (int i = 0; i < state->blow_count; i++) {
        pending_blow blow = state->blows[i];
        if (blow.stages & 1u << index) taken[count++] = blow.impulse;
        blow.stages &= ~(1u << index);
        if (blow.stages) state->blows[kept++] = blow;
    }
    state->blow_count = kept;
    return count;
}

/* One substep of the last stage, and of every stage below it whose own begins here. */
static void substep(const cutis_model *m, cutis_state *state, const step_span *span, solver_input *work)
{
    const stage *last = &m->stages[m->stage_count - 1];
    const cutis_surface *surface = &span->input->surface;
    int64_t at = ++state->substeps;
    state->stats.substeps++;

    /* the pose at its end; contact turns joints on the first stage's time */
    const stage *body = &m->stages[0];
    bool body_first = joints_yield(m) && body->span > 1;
    if (body_first && (at - 1) % body->span == 0)
        pose_at(m, state, span, (double)((at - 1) / body->span + 1) * body->substep, body->joints, body->joints_old);
    pose_at(m, state, span, (double)at * last->substep, m->joints, m->joints_old);
    work->joints = NULL;
    work->surface = NULL;

    /* each stage, from the body to the surface */
    for (int i = 0; i < m->stage_count; i++) {
        const stage *s = &m->stages[i];
        int64_t index = (at - 1) / s->span + 1; /* of its own substep that ends at or behind this instant */
        bool begins = (at - 1) % s->span == 0, given = i == 0 && surface->sample && m->stage_count > 1;
        work->h = s->substep;
        work->time = (double)index * s->substep;
        cutis_impulse blows[CUTIS_MAX_IMPULSES];

        /* a surface given by the host takes the place of the first stage */
        if (given) {
            blows_take(state, i, blows); /* it is not moved by any */
            sample_surface(m, state, surface, (double)at * last->substep);
            work->surface = state_floats(state, s->points);
            continue;
        }

        /* the stage's own substep, with the blows that wait for it */
        if (begins) {
            work->impulses = blows;
            work->impulse_count = blows_take(state, i, blows);
            if (s->span > 1 && !(i == 0 && body_first)) pose_at(m, state, span, work->time, s->joints, s->joints_old);
            run_stage(m, state, i, work, false);
            work->impulse_count = 0;
        }

        /* The next stage sees this one at the end of its own substep. */
        if (i + 1 < m->stage_count) {
            int next = m->stages[i + 1].span;
            work->surface = surface_at(m, state, s, ((at - 1) / next + 1) * next);
        }
    }
}

/* What solvers are given of a step's input: forces that are finite, and morphs where they come before the pose. */
static solver_input solver_input_make(const cutis_model *m, cutis_state *state, const cutis_step_input *input)
{
    solver_input work = {.drags = input->drags, .drag_count = input->drag_count, .jobs = input->jobs};
    for (int k = 0; k < 3; k++) {
        work.acceleration[k] = fabsf(input->acceleration[k]) < FORCE_LIMIT ? input->acceleration[k] : 0;
        work.wind[k] = fabsf(input->wind[k]) < FORCE_LIMIT ? input->wind[k] : 0;
    }
    float *rest = state_scratch(m, state, m->morphed);
    bool morphed = stage_is_geometric(&m->stages[0]) && m->substep > 0;
    if (morphed && morph_sum(m->character, input->morphs, m->character->positions, rest, &state->stats.repairs))
        work.rest = rest;
    return work;
}

/*
 * Substeps until one ends at or behind the end of the span. Returns whether the host has stopped it before; then the
 * span ends with the last substep.
 */
static bool run_substeps(const cutis_model *m, cutis_state *state, step_span *span, solver_input *work,
                         bool (*interrupted)(void *context), void *context)
{
    double h = m->stages[m->stage_count - 1].substep, reached = span->end / h;
    int64_t last = (int64_t)ceil(reached - INSTANT_TOLERANCE);
    bool exact = reached - (double)(last - 1) > 1 - INSTANT_TOLERANCE, stopped = false;

    /* A surface solver needs the body in every substep, a drag too; what is drawn only the last, or the last two. */
    for (int64_t first = state->substeps; state->substeps < last && !stopped;) {
        stopped = state->substeps > first && interrupted && interrupted(context);
        work->between =
            m->stage_count == 1 && work->drag_count == 0 && !stopped && state->substeps + 1 < (exact ? last : last - 1);
        substep(m, state, span, work);
    }

    stopped &= state->substeps < last;
    if (stopped) span->end = (double)state->substeps * h;
    if (exact || stopped) forget_old_points(m, state);
    return stopped;
}

/* What is drawn depends on the pose and the morphs of the instant that was reached. */
static void keep_instant(const cutis_model *m, cutis_state *state, const step_span *span)
{
    const float *morphs = span->input->morphs;
    float *joints = state_floats(state, m->instant), *weights = state_floats(state, m->morph_weights);
    if (state_is_exact(m, state)) {
        memcpy(joints, state_floats(state, m->joints), (size_t)m->character->joint_count * 12 * sizeof(float));
    } else {
        instant_pose(m, state, span, joints);
    }

    for (int k = 0; k < m->character->morph_count; k++) weights[k] = morphs ? morphs[k] : 0;
    state->shown = false;
}

bool cutis_state_advance(const cutis_model *model, cutis_state *state, const cutis_step_input *input, double time,
                         bool (*interrupted)(void *context), void *context)
{
    size_t joint_bytes = (size_t)model->character->joint_count * 12 * sizeof(float);

    float *given = state_floats(state, model->joints_given);
    state->stats = (cutis_step_stats){.limited_vertex = -1};
    if (!(time > state->time)) time = state->time;

    /* a live pose: joints that make no sense keep their last place */
    if (input->joints) {
        float *target = state_scratch(model, state, model->target);
        time = MIN(time, state->time + LIVE_LIMIT);
        memcpy(target, given, joint_bytes);
        state->stats.repairs = copy_pose(model, target, input->joints);
    }

    /* the span of time, and what acts in it */
    step_span span = {input, state->time, time};
    blows_add(model, state, input);
    solver_input work = solver_input_make(model, state, input);

    /* to its end; without a dynamic stage the pose there is all that counts */
    bool stopped = false;
    if (model->substep == 0)
        pose_at(model, state, &span, span.end, model->joints, model->joints_old);
    else
        stopped = run_substeps(model, state, &span, &work, interrupted, context);
    state->time = span.end;

    /* what the next live step starts from */
    bool reached = input->joints && !stopped;
    size_t last = joints_yield(model) ? model->animated : model->joints;
    memcpy(given, reached ? (float *)state_scratch(model, state, model->target) : state_floats(state, last),
           joint_bytes);

    keep_instant(model, state, &span);
    slack_update(model, state, &span);
    return !stopped;
}

void cutis_state_step(const cutis_model *model, cutis_state *state, const cutis_step_input *input, double dt)
{
    cutis_state_advance(model, state, input, state->time + (dt > 0 ? dt : 0), NULL, NULL);
    cutis_state_show(model, state, input);
}

static void move_points(float *points, int count, const float transform[12])
{
    for (int i = 0; i < count; i++) vec3_store(points + 3 * i, mat34_point(transform, vec3_load(points + 3 * i)));
}

static void move_joints(const cutis_model *m, float *joints, const float transform[12])
{
    mat34 move;
    memcpy(&move, transform, sizeof move);
    for (int j = 0; j < m->character->joint_count; j++) {
        mat34 own;
        memcpy(&own, joints + 12 * j, sizeof own);
        own = mat34_multiply(move, own);
        memcpy(joints + 12 * j, &own, sizeof own);
    }
}

void cutis_state_teleport(const cutis_model *model, cutis_state *state, const float transform[12])
{
    /* poses: the model's, and those of stages that run at their own rate */
    size_t poses[5 + 2 * STAGE_LIMIT] = {model->joints, model->joints_old, model->joints_given, model->instant,
                                         model->animated};
    int pose_count = 5;
    for (int i = 0; i < model->stage_count; i++) {
        const stage *s = &model->stages[i];
        if (s->span == 1) continue;
        poses[pose_count++] = s->joints;
        poses[pose_count++] = s->joints_old;
    }
    for (int i = 0; i < pose_count; i++) move_joints(model, state_floats(state, poses[i]), transform);
    if (joints_yield(model)) articulation_teleport(&model->articulation, state_links(model, state), transform);

    /* blows that have not fallen yet */
    for (int i = 0; i < state->blow_count; i++) {
        cutis_impulse *blow = &state->blows[i].impulse;

        vec3_store(blow->place, mat34_point(transform, vec3_load(blow->place)));
        vec3_store(blow->velocity, mat34_vector(transform, vec3_load(blow->velocity)));
    }

    /* points, and what solvers keep */
    move_points(state_floats(state, model->vertices), model->character->vertex_count, transform);
    for (int i = 0; i < model->stage_count; i++) {
        const stage *s = &model->stages[i];
        if (stage_has_points(model, s)) {
            move_points(state_floats(state, s->points_old), model->character->point_count, transform);
            move_points(state_floats(state, s->points), model->character->point_count, transform);
        }
        if (s->on_body) move_points(state_floats(state, s->body_points), model->body.character->point_count, transform);
        if (s->on_body && !stage_has_points(model, s))
            move_points(state_floats(state, s->body_points_old), model->body.character->point_count, transform);
        if (s->solver->teleport) s->solver->teleport(s->data, state_floats(state, s->state), transform);
    }
}

/* ---- a clip as a motion ---- */

void cutis_clip_motion_sample(void *clip_motion, double time, float *joints)
{
    const cutis_clip_motion *motion = clip_motion;
    const cutis_character *c = motion->character;
    double start = motion->clip >= 0 && motion->clip < c->clip_count ? (double)c->clips[motion->clip].start : 0;
    if (time >= motion->lead_in) {
        cutis_pose_sample(c, motion->clip, start + (time - motion->lead_in), joints);
    } else {
        pose_lead_in(c, motion->clip, start, time, motion->lead_in, joints);
    }
}

void cutis_clip_motion_morphs(const cutis_clip_motion *motion, double time, float *weights)
{
    const cutis_character *c = motion->character;
    double start = motion->clip >= 0 && motion->clip < c->clip_count ? (double)c->clips[motion->clip].start : 0;
    cutis_pose_morphs(c, motion->clip, start + MAX(time - motion->lead_in, 0), weights);
    if (time >= motion->lead_in) return;
    float eased = (float)lead_in_ease(time, motion->lead_in);
    for (int m = 0; m < c->morph_count; m++) weights[m] *= eased;
}
