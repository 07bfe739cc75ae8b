/*
 * state.c: states and steps.
 *
 * Time. A dynamic solver advances in substeps of fixed length h. A step to time t takes substeps until
 * one ends at or behind t, and the result is interpolated between the last two: so the frame rate only picks
 * which instants are read, and an instant that falls on a substep is that substep's result to the bit. With a
 * motion known in advance every substep samples it. In a stack each stage has a substep of its own: a body that takes
 * longer ones is run to the end of its substep first, and the stages on it see its surface interpolated. With live
 * poses, substeps within a step interpolate between the last pose given and the new one, and the part of a substep that
 * reaches beyond the step holds the new one.
 */
#include <string.h>

#include "character/lead_in.h"
#include "engine/model_object.h"
#include "math/math3.h"
#include "solvers/solver_kit.h"

/* An instant this near a substep's end, in substeps, is that end. */
static const double INSTANT_TOLERANCE = 1e-6;
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

static float *state_floats(const cutis_state *state, size_t offset) { return (float *)((char *)state + offset); }

static void *state_scratch(const cutis_model *m, const cutis_state *state, size_t offset)
{
    return (char *)state + m->state_bytes + offset;
}

cutis_result cutis_state_create(const cutis_model *model, const cutis_allocator *allocator, cutis_state **result,
                                cutis_error *error)
{
    size_t bytes = model->state_bytes + model->scratch_bytes;
    cutis_state *state = memory_allocate(allocator, bytes, 1);
    *result = state;
    if (!state) return error_memory(error, "a state");
    state->allocator = memory_resolve(allocator);
    state->block_bytes = bytes;
    state->unseen = false;
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
    return hash_bytes((const char *)state + model->links, model->shown - model->links, hash);
}

void state_set_unseen(cutis_state *state, bool unseen) { state->unseen = unseen; }

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
    const float *drawn = state_floats(state, s->points), *own = state_floats(state, s->body_points);
    cutis_drag *drags = state_scratch(m, state, m->drags);
    int count = 0;

    for (int i = 0; i < input->drag_count && count < DRAG_LIMIT; i++) {
        int point = m->character->vertex_points[input->drags[i].vertex];
        int anchor = body_nearest(&m->body, point);
        if (anchor < 0) continue;

        drags[count] = input->drags[i];
        drags[count].vertex = m->body.character->point_vertices[anchor];

        /* the anchor keeps its distance from the vertex that is dragged */
        for (int e = 0; e < 3; e++) drags[count].target[e] += own[3 * anchor + e] - drawn[3 * point + e];
        count++;
    }

    input->drags = drags;
    input->drag_count = count;
}

/* One substep, or reset, of a stage on the simulation body: the drawn points follow. */
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

    if (input.between) return;
    float *show = state_scratch(m, state, m->show), *points = state_floats(state, s->points);
    body_show(&m->body, input.skin, own, show, input.jobs, points);

    /* closed meshes keep their volume; what props press stays where they press it */
    if (m->character->prop_count == 0) fullness_run(&m->body.fullness, input.skin, show, points);
}

/* Put every stage at rest in the pose of its joints, or let it take a substep to there; fill its points. */
static void run_stage(const cutis_model *m, cutis_state *state, int index, solver_input *input, bool reset)
{
    const stage *s = &m->stages[index];
    bool geometric = stage_is_geometric(s), has_points = !geometric || m->stage_count > 1;
    float *points = state_floats(state, s->points), *points_old = state_floats(state, s->points_old);
    float *result = geometric ? state_floats(state, m->vertices) : points;
    void *own = state_floats(state, s->state), *scratch = state_scratch(m, state, s->scratch);
    size_t point_bytes = (size_t)m->character->point_count * 3 * sizeof(float);

    /* keep the last points: a stage above may look between the two */
    if (has_points) memcpy(points_old, points, point_bytes);
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

/* Let every stage fill its outputs. */
static void finish_stages(const cutis_model *m, cutis_state *state, solver_input *input)
{
    for (int i = 0; i < m->stage_count; i++) {
        const stage *s = &m->stages[i];
        if (!s->solver->finish) continue;
        set_pose(m, state, s, input);
        input->surface = i > 0 ? surface_at(m, state, &m->stages[i - 1], state->substeps) : NULL;
        s->solver->finish(s->data, state_floats(state, s->state), state_scratch(m, state, s->scratch), input);
    }
}

/* Vertices from the last stage's points, alpha of the way from the last substep but one to the last. */
static void write_vertices(const cutis_model *m, cutis_state *state, double alpha)
{
    const stage *last = &m->stages[m->stage_count - 1];
    if (last->solver->info.flags & CUTIS_SOLVER_GEOMETRIC) return;

    const float *a = state_floats(state, last->points_old), *b = state_floats(state, last->points);
    float *vertices = state_floats(state, m->vertices);
    float t = (float)alpha;

    for (int v = 0; v < m->character->vertex_count; v++) {
        int p = 3 * m->character->vertex_points[v];
        for (int e = 0; e < 3; e++) {
            vertices[3 * v + e] = alpha >= 1 ? b[p + e] : a[p + e] + t * (b[p + e] - a[p + e]);
        }
    }
}

/* ---- morphs ---- */

/* `base` (vertex_count x 3; NULL: zeros) plus all morphs by their weights, into scratch. NULL when none counts. */
static float *morph_sum(const cutis_model *m, cutis_state *state, const float *weights, const float *base)
{
    const cutis_character *c = m->character;
    bool any = false;
    for (int k = 0; weights && k < c->morph_count; k++) any |= weights[k] != 0;
    if (!any) return NULL;

    /* start from the base */
    float *sum = state_scratch(m, state, m->morphed);
    size_t count = (size_t)c->vertex_count * 3;
    if (base) {
        memcpy(sum, base, count * sizeof *sum);
    } else {
        memset(sum, 0, count * sizeof *sum);
    }

    /* add what counts and is finite */
    for (int k = 0; k < c->morph_count; k++) {
        float w = weights[k];
        if (!(fabsf(w) < 1e15f)) {
            state->stats.repairs++;
            continue;
        }
        if (w == 0) continue;
        const float *deltas = c->morphs[k].deltas;
        for (size_t i = 0; i < count; i++) sum[i] += w * deltas[i];
    }

    return sum;
}

/* Add the morphs to a surface that does not know them, turned by the blended skin matrices. */
static void add_morphs(const cutis_model *m, cutis_state *state, const float *weights)
{
    const cutis_character *c = m->character;
    const float *offsets = morph_sum(m, state, weights, NULL);
    if (!offsets) return;

    /* offsets turn with the joints, as linear skinning turns them */
    const float *skin = state_scratch(m, state, m->skin);
    float *vertices = state_floats(state, m->vertices);
    for (int v = 0; v < c->vertex_count; v++) {
        vec3 offset = vec3_load(offsets + 3 * (size_t)v), turned = {0, 0, 0};
        int first = c->influence_first ? c->influence_first[v] : 0;
        int end = c->influence_first ? c->influence_first[v + 1] : 0;

        for (int i = first; i < end; i++)
            turned = vec3_madd(turned, mat34_vector(skin + 12 * (size_t)c->influence_joints[i], offset),
                               c->influence_weights[i]);
        if (first == end) turned = offset;
        vec3_store(vertices + 3 * (size_t)v, vec3_add(vec3_load(vertices + 3 * (size_t)v), turned));
    }
}

/* At the end of a substep the one before no longer counts; what is left of it must not depend on the frame rate. */
static void forget_old_points(const cutis_model *m, cutis_state *state)
{
    for (int i = 0; i < m->stage_count; i++) {
        const stage *s = &m->stages[i];
        if ((s->solver->info.flags & CUTIS_SOLVER_GEOMETRIC) && m->stage_count == 1) continue;
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
    articulation_pose(&m->articulation, state_links(m, state), state_scratch(m, state, m->articulation_scratch),
                      joints, part > 1 - INSTANT_TOLERANCE ? 1 : MAX(part, 0), joints);
}

/* Let contact turn the joints in a substep of the first stage; `before` is its last animated pose. */
static void advance_joints(const cutis_model *m, cutis_state *state, const cutis_step_input *input, const float *before,
                           const float *animated, float *joints)
{
    bool still = memcmp(before, animated, 12 * (size_t)m->character->joint_count * sizeof(float)) == 0;
    articulation_step(&m->articulation, state_links(m, state), state_scratch(m, state, m->articulation_scratch),
                      animated, m->stages[0].substep, still, input->jobs, joints);
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
static void slack_update(const cutis_model *m, cutis_state *state, const step_span *span, const float *skin)
{
    const cutis_step_input *input = span->input;
    float fade = (float)det_exp((span->begin - span->end) / SLACK_TIME);
    float acceleration = force_length(input->acceleration) + kit_wind_most(force_length(input->wind)), speed = 0;

    /* blows of this step, and those that wait */
    for (int i = 0; i < MIN(input->impulse_count, CUTIS_MAX_IMPULSES); i++)
        speed += force_length(input->impulses[i].velocity);
    for (int i = 0; i < state->blow_count; i++) speed += force_length(state->blows[i].impulse.velocity);

    float swing = SOFT_TIME * (SOFT_TIME * acceleration + speed), pull = 0;
    for (int i = 0; i < input->drag_count; i++) pull = MAX(pull, drag_pull(m->character, skin, input->drags + i));

    state->slack.swing = MAX(swing, fade * state->slack.swing);
    state->slack.pull = MAX(pull, fade * state->slack.pull);
}

/* Bound how far the vertices that are shown depart from linear skinning of their instant. */
static void bound_vertices(const cutis_model *m, cutis_state *state, const step_span *span, bool exact)
{
    const cutis_character *c = m->character;
    if (m->bound.point_count == 0) return;

    float *vertices = state_floats(state, m->vertices), *joints = state_scratch(m, state, m->limit);
    float *skin = joints + 12 * (size_t)c->joint_count, *points = skin + 12 * (size_t)c->joint_count;
    gather_points(m, vertices, points);

    /* skinning of this instant */
    if (!exact) instant_pose(m, state, span, joints);
    skin_matrices(c, exact ? state_floats(state, m->joints) : joints, skin);

    slack_update(m, state, span, skin);
    deviation_stats stats = deviation_limit(&m->bound, skin, state->slack, !state->unseen,
                                            points + 3 * (size_t)c->point_count, span->input->jobs, points);

    state->stats.limited = stats.points;
    state->stats.limited_vertex = stats.worst >= 0 ? c->point_vertices[stats.worst] : -1;
    if (stats.worst < 0 && stats.parted == 0 && !m->bound.joined) return;

    /* back to the vertices */
    for (int v = 0; v < c->vertex_count; v++)
        memcpy(vertices + 3 * (size_t)v, points + 3 * (size_t)c->vertex_points[v], 3 * sizeof(float));
}

/*
 * Vertices of a stage on the simulation body, alpha of the way through its last substep: the deviation from linear
 * skinning is interpolated, and linear skinning is that of the instant itself, so that rigid pieces are exactly there.
 */
static void show_instant(const cutis_model *m, cutis_state *state, const step_span *span, double alpha)
{
    const cutis_character *c = m->character;
    const stage *s = &m->stages[0];
    const cutis_jobs *jobs = span->input->jobs;
    size_t count = 3 * (size_t)c->point_count, joint_count = 12 * (size_t)c->joint_count;
    float *joints = state_scratch(m, state, m->instant), *shown = joints + joint_count, *skinned = shown + count;
    float *skin = state_scratch(m, state, m->skin);
    float *scratch = state_scratch(m, state, m->show), t = (float)alpha;
    const float *ends[2] = {state_floats(state, s->points_old), state_floats(state, s->points)};
    const size_t poses[2] = {m->joints_old, m->joints};

    /* the deviation between the ends of the substep */
    for (int end = 0; end < 2; end++) {
        skin_matrices(c, state_floats(state, poses[end]), skin);
        body_skin(&m->body, skin, scratch, jobs, skinned);
        for (size_t i = 0; i < count; i++) {
            float deviation = ends[end][i] - skinned[i];
            shown[i] = end == 0 ? deviation : shown[i] + t * (deviation - shown[i]);
        }
    }

    /* on the pose of the instant */
    instant_pose(m, state, span, joints);
    skin_matrices(c, joints, skin);
    body_skin(&m->body, skin, scratch, jobs, skinned);

    float *vertices = state_floats(state, m->vertices);
    for (int v = 0; v < c->vertex_count; v++) {
        const size_t p = 3 * (size_t)c->vertex_points[v];
        for (size_t e = 0; e < 3; e++) vertices[3 * (size_t)v + e] = skinned[p + e] + shown[p + e];
    }
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
    memcpy(state_floats(state, model->shown), own, joint_bytes);

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

    /* outputs and vertices */
    finish_stages(model, state, &input);
    write_vertices(model, state, 1);
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
    if (stage_is_geometric(&m->stages[0])) work.rest = morph_sum(m, state, input->morphs, m->character->positions);
    return work;
}

/* A stack without a dynamic stage: the pose at the end is all that counts. */
static void step_geometric(const cutis_model *m, cutis_state *state, const step_span *span, solver_input *work)
{
    pose_at(m, state, span, span->end, m->joints, m->joints_old);
    work->time = span->end;
    for (int i = 0; i < m->stage_count; i++) run_stage(m, state, i, work, false);
    memcpy(state_floats(state, m->shown), state_floats(state, m->joints),
           (size_t)m->character->joint_count * 12 * sizeof(float));
}

/* Substeps until one ends at or behind the end of the span; vertices at that instant. */
static void step_dynamic(const cutis_model *m, cutis_state *state, const step_span *span, solver_input *work)
{
    /* the last substep, and whether the instant falls on its end */
    double reached = span->end / m->stages[m->stage_count - 1].substep;
    int64_t last = (int64_t)ceil(reached - INSTANT_TOLERANCE);
    bool exact = reached - (double)(last - 1) > 1 - INSTANT_TOLERANCE;

    /* A surface solver looks at the body in every substep; a caller only at the last, or the last two. */
    while (state->substeps < last) {
        work->between = m->stage_count == 1 && state->substeps + 1 < (exact ? last : last - 1);
        substep(m, state, span, work);
    }

    /* vertices of the instant, between the last two substeps */
    double alpha = exact ? 1 : reached - (double)(state->substeps - 1);
    if (!exact && m->stage_count == 1 && m->stages[0].on_body) {
        show_instant(m, state, span, alpha);
        work->joints = NULL; /* the skin matrices are no longer those of a substep */
    } else {
        write_vertices(m, state, alpha);
    }

    /* the pose of the instant */
    float *shown = state_floats(state, m->shown);
    if (exact)
        memcpy(shown, state_floats(state, m->joints), (size_t)m->character->joint_count * 12 * sizeof(float));
    else
        instant_pose(m, state, span, shown);

    /* bound, then morphs on top */
    bound_vertices(m, state, span, exact);
    if (!stage_is_geometric(&m->stages[0])) add_morphs(m, state, span->input->morphs);
    if (exact) forget_old_points(m, state);
}

void cutis_state_step(const cutis_model *model, cutis_state *state, const cutis_step_input *input, double dt)
{
    size_t joint_bytes = (size_t)model->character->joint_count * 12 * sizeof(float);

    float *given = state_floats(state, model->joints_given);
    state->stats = (cutis_step_stats){.limited_vertex = -1};
    if (!(dt > 0)) dt = 0;

    /* a live pose: joints that make no sense keep their last place */
    if (input->joints) {
        float *target = state_scratch(model, state, model->target);
        dt = MIN(dt, LIVE_LIMIT);
        memcpy(target, given, joint_bytes);
        state->stats.repairs = copy_pose(model, target, input->joints);
    }

    /* the span of time, and what acts in it */
    step_span span = {input, state->time, state->time + dt};
    state->time = span.end;

    blows_add(model, state, input);
    solver_input work = solver_input_make(model, state, input);

    /* to its end */
    if (model->substep == 0)
        step_geometric(model, state, &span, &work);
    else
        step_dynamic(model, state, &span, &work);
    if (state->stats.substeps > 0) finish_stages(model, state, &work);

    /* What the next live step starts from. */
    size_t last = joints_yield(model) ? model->animated : model->joints;
    memcpy(given, input->joints ? (float *)state_scratch(model, state, model->target) : state_floats(state, last),
           joint_bytes);
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
    size_t poses[5 + 2 * STAGE_LIMIT] = {model->joints, model->joints_old, model->joints_given, model->animated,
                                         model->shown};
    int pose_count = 5;
    for (int i = 0; i < model->stage_count; i++) {
        const stage *s = &model->stages[i];
        if (s->span == 1) continue;
        poses[pose_count++] = s->joints;
        poses[pose_count++] = s->joints_old;
    }
    for (int i = 0; i < pose_count; i++) move_joints(model, state_floats(state, poses[i]), transform);

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
        if (!stage_is_geometric(s) || model->stage_count > 1) {
            move_points(state_floats(state, s->points_old), model->character->point_count, transform);
            move_points(state_floats(state, s->points), model->character->point_count, transform);
        }
        if (s->on_body) move_points(state_floats(state, s->body_points), model->body.character->point_count, transform);
        if (s->solver->teleport) s->solver->teleport(s->data, state_floats(state, s->state), transform);
    }
}

/* ---- results ---- */

const float *cutis_state_positions(const cutis_model *model, const cutis_state *state)
{
    return state_floats(state, model->vertices);
}

const float *cutis_state_joints(const cutis_model *model, const cutis_state *state)
{
    return state_floats(state, model->shown);
}

void cutis_state_normals(const cutis_model *model, const cutis_state *state, float *normals)
{
    const cutis_character *c = model->character;
    const float *vertices = state_floats(state, model->vertices);

    /* Sum over the triangles of a point, at the point's first vertex; then unit length, for all its vertices. */
    memset(normals, 0, (size_t)c->vertex_count * 3 * sizeof *normals);
    for (int t = 0; t < c->triangle_count; t++) {
        const int *v = c->triangles + 3 * t;
        vec3 a = vec3_load(vertices + 3 * v[0]);
        vec3 n = vec3_cross(vec3_sub(vec3_load(vertices + 3 * v[1]), a), vec3_sub(vec3_load(vertices + 3 * v[2]), a));

        for (int e = 0; e < 3; e++) {
            float *sum = normals + 3 * c->point_vertices[c->vertex_points[v[e]]];
            vec3_store(sum, vec3_add(vec3_load(sum), n));
        }
    }

    /* unit length */
    for (int p = 0; p < c->point_count; p++) {
        float *sum = normals + 3 * c->point_vertices[p];
        vec3 n = vec3_normalize(vec3_load(sum));
        vec3_store(sum, vec3_length2(n) > 0 ? n : vec3_make(0, 1, 0));
    }

    /* the same for all vertices of a point */
    for (int v = 0; v < c->vertex_count; v++) {
        int from = c->point_vertices[c->vertex_points[v]];
        if (from != v) memcpy(normals + 3 * v, normals + 3 * from, 3 * sizeof *normals);
    }
}

const cutis_step_stats *cutis_state_stats(const cutis_model *model, const cutis_state *state)
{
    (void)model;
    return &state->stats;
}

/* An output of the body's vertices on the drawn mesh. */
static void output_show(const cutis_model *m, const cutis_state *state, const stage *s, int index, cutis_output *output)
{
    const cutis_character *c = m->character;
    const float *vertices = state_floats(state, m->vertices), *own = state_floats(state, s->body_points);
    const int *vertex_points = m->body.character->vertex_points;
    int width = output->components;
    bool place = s->solver->info.outputs[index].role == CUTIS_OUTPUT_TISSUE;
    float *all = (float *)state_scratch(m, state, m->outputs) + (size_t)index * (size_t)c->vertex_count * 3;

    for (int v = 0; v < c->vertex_count; v++) {
        float *to = all + (size_t)v * (size_t)width;
        int p = c->vertex_points[v];

        if (!place) {
            body_spread(&m->body, p, output->values, width, to);
            continue;
        }

        /* an inner surface lies below the drawn vertex as it lies below the body's points; clothing has none */
        memcpy(to, vertices + 3 * (size_t)v, 3 * sizeof(float));
        for (int k = m->body.anchor_first[p]; k < m->body.anchor_first[p + 1] && m->body.bare[p]; k++) {
            int from = m->body.character->point_vertices[m->body.anchors[k]];
            for (int e = 0; e < 3; e++)
                to[e] += m->body.anchor_weights[k] * (output->values[3 * from + e] - own[3 * vertex_points[from] + e]);
        }
    }

    output->count = c->vertex_count;
    output->values = all;
}

/*
 * A place inside the body between two substeps: solvers tell those of the last one's end, and the vertices are of the
 * instant, so what lies below a vertex goes along with it.
 */
static void output_shift(const cutis_model *m, const cutis_state *state, const stage *s, int index,
                         cutis_output *output)
{
    double reached = state->time / s->substep;
    if (!(reached < (double)state->substeps - INSTANT_TOLERANCE)) return;

    const cutis_character *c = m->character;
    const float *vertices = state_floats(state, m->vertices), *points = state_floats(state, s->points);
    float *all = (float *)state_scratch(m, state, m->outputs) + (size_t)index * (size_t)c->vertex_count * 3;

    /* the surface keeps its offset from the drawn vertex */
    for (int v = 0; v < c->vertex_count; v++) {
        const float *point = points + 3 * (size_t)c->vertex_points[v];
        for (size_t e = 0; e < 3; e++) {
            size_t at = 3 * (size_t)v + e;
            all[at] = vertices[at] + (output->values[at] - point[e]);
        }
    }

    output->values = all;
}

bool cutis_state_output(const cutis_model *model, const cutis_state *state, const char *name, cutis_output *output)
{
    /* The last stage that has it wins: it is nearest to the surface that is shown. */
    for (int i = model->stage_count - 1; i >= 0; i--) {
        const stage *s = &model->stages[i];
        for (int k = 0; k < s->solver->info.output_count; k++) {
            if (strcmp(s->solver->info.outputs[k].name, name) == 0) {
                if (!s->solver->output(s->data, state_floats(state, s->state), k, output)) return false;
                if (s->on_body && output->domain == CUTIS_DOMAIN_VERTEX && output->components <= 3)
                    output_show(model, state, s, k, output);
                else if (model->stage_count == 1 && s->solver->info.outputs[k].role == CUTIS_OUTPUT_TISSUE)
                    output_shift(model, state, s, k, output);
                return true;
            }
        }
    }

    return false;
}

bool cutis_state_output_role(const cutis_model *model, const cutis_state *state, cutis_output_role role, int index,
                             cutis_output *output)
{
    const cutis_output_info *info = cutis_model_find_output(model, role, index);
    return info && cutis_state_output(model, state, info->name, output);
}

void cutis_state_prop(const cutis_model *model, const cutis_state *state, int index, cutis_prop_state *prop)
{
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const cutis_prop *source = &model->character->props[index];
    *prop = (cutis_prop_state){.bone = -1};
    const float *transform = source->joint >= 0 ? state_floats(state, model->joints) + 12 * source->joint : identity;
    memcpy(prop->transform, transform, sizeof prop->transform);
    for (int i = 0; i < model->stage_count; i++) {
        const stage *s = &model->stages[i];
        if (s->solver->prop) s->solver->prop(s->data, state_floats(state, s->state), index, prop);
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
