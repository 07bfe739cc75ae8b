/* show.c: the drawn mesh at one instant of a simulation (see show.h). */
#include "show/show.h"

#include <string.h>

#include "character/morph_sum.h"

/* Drawn points move no further than this many edges of the body, in each of two steps, to keep the volume. */
static const float MAX_VOLUME_MOVE = 0.2f;

/* ---- build ---- */

/* What gives the drawn mesh its volume: flesh on the body's surface, as far as it is held there. */
static cutis_result build_volume(display *d, const drawn_cracks *cracks, arena *scratch, arena *memory,
                                 cutis_error *error)
{
    const sim_body *b = d->body;
    float *gives = ARENA_ARRAY(memory, float, cracks->closed.point_count);
    float *follows = ARENA_ARRAY(memory, float, cracks->closed.point_count);
    if (memory->failed) return error_memory(error, "the display");

    /* carried pieces follow as far as they follow the body */
    for (int p = 0; p < cracks->closed.point_count; p++) {
        if (b->bare[p]) gives[p] = MAX_VOLUME_MOVE * b->holds[p] * b->lengths[p];
        for (int k = b->anchor_first[p]; k < b->anchor_first[p + 1] && !b->bare[p]; k++)
            follows[p] += b->anchor_weights[k];
    }

    d->volume = (volume_restore){.character = d->character,
                                 .mesh = &cracks->closed,
                                 .joined = cracks->joined,
                                 .gives = gives,
                                 .follows = follows};
    return volume_restore_build(&d->volume, scratch, memory, error);
}

/* What acts on points: the volume, crossings, the bound. */
static cutis_result build_points(display *d, const drawn_cracks *cracks, bool bounded, const cutis_jobs *jobs,
                                 arena *scratch, arena *memory, cutis_error *error)
{
    const cutis_character *c = d->character;
    cutis_result result = CUTIS_OK;
    if (d->body)
        d->points = d->body->drawn_skinning;
    else if (bounded && c->influence_first)
        result = skinning_build_points(&d->points, c, scratch, memory, error);

    /* closed meshes keep their volume; what props press stays where they press it */
    d->restores_volume = d->body && c->prop_count == 0;
    if (!result && d->restores_volume) result = build_volume(d, cracks, scratch, memory, error);

    if (!result && bounded) result = deviation_build(&d->bound, c, cracks, &d->points, memory, error);
    if (!result && d->body && d->bound.point_count > 0)
        result = crossings_build(&d->crossings, &cracks->closed, jobs, memory, error);
    return result;
}

cutis_result display_build(display *d, const cutis_character *c, const drawn_cracks *cracks, const sim_body *body,
                           bool bounded, const cutis_jobs *jobs, arena *memory, cutis_error *error)
{
    *d = (display){.character = c, .body = body};
    for (int i = 0; i < c->map_count; i++)
        if (strcmp(c->maps[i].name, "amount") == 0) d->amounts = c->maps[i].values;

    cutis_result result = skinning_build(&d->vertices, c->vertex_count, c->positions, c->influence_first,
                                         c->influence_joints, c->influence_weights, c->joint_count, memory, error);
    if (!result) result = normal_frames_build(&d->normals, c, memory, error);
    if (result) return result;

    arena scratch = arena_create(&memory->allocator);
    result = build_points(d, cracks, bounded, jobs, &scratch, memory, error);
    arena_destroy(&scratch);
    return result;
}

/* ---- an instant ---- */

/* Where the arrays of an instant are in the scratch. */
typedef struct display_arrays {
    float *shared;    /* of whatever runs */
    float *skin;      /* (joint_count x 12) of the instant */
    float *skinned;   /* (point_count x 3) under linear skinning */
    float *points;    /* (point_count x 3) that are drawn */
    float *wide;      /* (vertex_count x 3) */
    float *body;      /* (body's point_count x 3) its points at the instant */
    float *deviation; /* (body's point_count x 3) of these from linear skinning */
} display_arrays;

static size_t shared_count(const display *d)
{
    size_t count = MAX(skinning_scratch_count(&d->vertices), deviation_scratch_count(&d->bound));
    if (d->points.count) count = MAX(count, skinning_scratch_count(&d->points));
    if (d->body) count = MAX(count, embedding_scratch_count(d->body));
    if (d->restores_volume) count = MAX(count, volume_restore_scratch_count(&d->volume));
    count = MAX(count, crossings_scratch_count(&d->crossings));
    return (count + 15) & ~(size_t)15;
}

static size_t body_count(const display *d) { return d->body ? 3 * (size_t)d->body->character->point_count : 0; }

size_t display_scratch_count(const display *d)
{
    const cutis_character *c = d->character;
    size_t drawn = 6 * (size_t)c->point_count + 3 * (size_t)c->vertex_count;
    return shared_count(d) + 12 * (size_t)c->joint_count + drawn + 2 * body_count(d);
}

static display_arrays arrays_view(const display *d, float *scratch)
{
    const cutis_character *c = d->character;
    display_arrays a = {.shared = scratch, .skin = scratch + shared_count(d)};
    a.skinned = a.skin + 12 * (size_t)c->joint_count;
    a.points = a.skinned + 3 * (size_t)c->point_count;
    a.wide = a.points + 3 * (size_t)c->point_count;
    a.body = a.wide + 3 * (size_t)c->vertex_count;
    a.deviation = a.body + body_count(d);
    return a;
}

void display_points(const display *d, const float *skin, const float *body_points, float *scratch,
                    const cutis_jobs *jobs, float *points)
{
    display_arrays a = arrays_view(d, scratch);
    skinning_linear(&d->points, skin, a.shared, jobs, a.skinned);
    embedding_deviation(d->body, skin, body_points, a.shared, jobs, a.deviation);
    embedding_show(d->body, body_points, a.deviation, a.skinned, a.shared, points);
    if (d->restores_volume) volume_restore_run(&d->volume, skin, a.shared, points);
}

/*
 * The body's points inside a substep, and their deviation: the deviation is interpolated, and linear skinning is that
 * of the instant, so that rigid pieces are exact.
 */
static void interpolate_body(const display *d, const display_instant *i, const display_arrays *a)
{
    const sim_body *b = d->body;
    size_t count = body_count(d);
    for (int end = 0; end < 2; end++) {
        skin_matrices(d->character, i->joints_ends[end], a->skin);
        skinning_linear(&b->body_skinning, a->skin, a->shared, i->jobs, a->body);
        for (size_t k = 0; k < count; k++) {
            float deviation = i->points_ends[end][k] - a->body[k];
            a->deviation[k] = end == 0 ? deviation : a->deviation[k] + i->alpha * (deviation - a->deviation[k]);
        }
    }

    /* on the pose of the instant */
    skin_matrices(d->character, i->joints, a->skin);
    skinning_linear(&b->body_skinning, a->skin, a->shared, i->jobs, a->body);
    for (size_t k = 0; k < count; k++) a->body[k] += a->deviation[k];
}

/* The drawn points as simulated, their linear skinning where it is needed, and the skin matrices of the instant. */
static void find_points(const display *d, const display_instant *i, const display_arrays *a)
{
    const float *from = i->points_ends[0], *to = i->points_ends[1];
    if (i->of_body && i->alpha < 1) {
        interpolate_body(d, i, a);
        to = a->body;
    } else {
        skin_matrices(d->character, i->joints, a->skin);
        if (i->of_body) embedding_deviation(d->body, a->skin, to, a->shared, i->jobs, a->deviation);
    }
    if (i->of_body || d->bound.point_count > 0) skinning_linear(&d->points, a->skin, a->shared, i->jobs, a->skinned);

    /* points of a body move the drawn ones; without a body they are the drawn ones */
    if (i->of_body) {
        embedding_show(d->body, to, a->deviation, a->skinned, a->shared, a->points);
        if (d->restores_volume) volume_restore_run(&d->volume, a->skin, a->shared, a->points);
        return;
    }
    size_t count = 3 * (size_t)d->character->point_count;
    memcpy(a->points, to, count * sizeof(float));
    for (size_t k = 0; k < count && i->alpha < 1; k++) a->points[k] = from[k] + i->alpha * (to[k] - from[k]);
}

/* The diagonal of the bounds of points, or of the character at rest if that is larger. */
static float frame_size(const cutis_character *c, const float *points)
{
    vec3 low = vec3_load(points), high = low;
    for (int p = 1; p < c->point_count; p++) {
        low = vec3_min(low, vec3_load(points + 3 * (size_t)p));
        high = vec3_max(high, vec3_load(points + 3 * (size_t)p));
    }
    return MAX(vec3_distance(low, high), c->size);
}

/* Exaggerate the deviation if the amount is above 1, separate crossing triangles, and bound the deviation. */
static deviation_stats bound_points(const display *d, const display_instant *i, const display_arrays *a)
{
    deviation_frame frame = {.skin = a->skin,
                             .skinned = a->skinned,
                             .size = frame_size(d->character, a->skinned),
                             .slack = i->slack,
                             .amount = MAX(i->amount, 1.0f)};
    size_t count = 3 * (size_t)d->character->point_count;
    for (size_t k = 0; k < count && frame.amount != 1; k++)
        a->points[k] = a->skinned[k] + frame.amount * (a->points[k] - a->skinned[k]);

    crossings_separate(&d->crossings, a->skinned, frame.size, a->shared, i->jobs, a->points);
    return deviation_limit(&d->bound, &frame, a->shared, i->jobs, a->points);
}

void display_scale(const display *d, const float *skin, const float *rest, float amount, float *scratch,
                   const cutis_jobs *jobs, float *vertices)
{
    if (amount == 1 && !d->amounts) return;
    display_arrays a = arrays_view(d, scratch);
    skinning skinned = d->vertices;
    if (rest) skinned.rest = rest;
    skinning_linear(&skinned, skin, a.shared, jobs, a.wide);

    for (int v = 0; v < d->character->vertex_count; v++) {
        vec3 skinned_place = vec3_load(a.wide + 3 * (size_t)v), place = vec3_load(vertices + 3 * (size_t)v);
        float factor = d->amounts ? amount * d->amounts[v] : amount;
        if (factor != 1) vec3_store(vertices + 3 * (size_t)v, vec3_lerp(skinned_place, place, factor));
    }
}

/* Add the morphs, turned by the blended skin matrices. Returns how many weights are not finite. */
static int add_morphs(const display *d, const display_instant *i, const display_arrays *a, float *vertices)
{
    const cutis_character *c = d->character;
    int repairs = 0;
    if (!morph_sum(c, i->morphs, NULL, a->wide, &repairs)) return repairs;

    for (int v = 0; v < c->vertex_count; v++) {
        vec3 offset = vec3_load(a->wide + 3 * (size_t)v), turned = {0, 0, 0};
        int first = c->influence_first ? c->influence_first[v] : 0;
        int end = c->influence_first ? c->influence_first[v + 1] : 0;

        for (int k = first; k < end; k++)
            turned = vec3_madd(turned, mat34_vector(a->skin + 12 * (size_t)c->influence_joints[k], offset),
                               c->influence_weights[k]);
        if (first == end) turned = offset;
        vec3_store(vertices + 3 * (size_t)v, vec3_add(vec3_load(vertices + 3 * (size_t)v), turned));
    }
    return repairs;
}

display_stats display_run(const display *d, const display_instant *i, float *scratch, float *vertices)
{
    const cutis_character *c = d->character;
    display_arrays a = arrays_view(d, scratch);
    display_stats stats = {.limited_vertex = -1};
    find_points(d, i, &a);

    if (d->bound.point_count > 0) {
        deviation_stats bounded = bound_points(d, i, &a);
        stats.limited = bounded.points;
        stats.limited_vertex = bounded.worst >= 0 ? c->point_vertices[bounded.worst] : -1;
    }

    for (int v = 0; v < c->vertex_count; v++)
        memcpy(vertices + 3 * (size_t)v, a.points + 3 * (size_t)c->vertex_points[v], 3 * sizeof(float));

    /* without bounds the deviation is scaled here, whatever the amount */
    float rest = d->bound.point_count > 0 ? MIN(i->amount, 1.0f) : i->amount;
    display_scale(d, a.skin, i->rest, rest, scratch, i->jobs, vertices);
    stats.repairs = add_morphs(d, i, &a, vertices);
    return stats;
}
