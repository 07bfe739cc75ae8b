/* show.c: the drawn mesh at one instant of a simulation (see show.h). */
#include "show/show.h"

#include <string.h>

#include "character/morph_sum.h"

/* Drawn points move no further than this many edges of the body, in each of two steps, to keep the volume. */
static const float FILL_MOST = 0.2f;

/* ---- build ---- */

/* What gives the drawn mesh its volume: flesh on the body's surface, as far as it is held there. */
static cutis_result build_fullness(display *d, const drawn_cracks *cracks, arena *scratch, arena *memory,
                                   cutis_error *error)
{
    const sim_body *b = d->body;
    float *gives = ARENA_ARRAY(memory, float, cracks->closed.point_count);
    float *follows = ARENA_ARRAY(memory, float, cracks->closed.point_count);
    if (memory->failed) return error_memory(error, "the display");

    /* carried pieces follow as far as they follow the body */
    for (int p = 0; p < cracks->closed.point_count; p++) {
        if (b->bare[p]) gives[p] = FILL_MOST * b->holds[p] * b->lengths[p];
        for (int k = b->anchor_first[p]; k < b->anchor_first[p + 1] && !b->bare[p]; k++)
            follows[p] += b->anchor_weights[k];
    }

    d->fullness = (fullness){.character = d->character,
                             .mesh = &cracks->closed,
                             .joined = cracks->joined,
                             .gives = gives,
                             .follows = follows};
    return fullness_build(&d->fullness, scratch, memory, error);
}

cutis_result display_build(display *d, const cutis_character *c, const drawn_cracks *cracks, const sim_body *body,
                           bool bounded, bool parted, const cutis_jobs *jobs, arena *memory, cutis_error *error)
{
    *d = (display){.character = c, .body = body};
    for (int i = 0; i < c->map_count; i++)
        if (strcmp(c->maps[i].name, "amount") == 0) d->amounts = c->maps[i].values;

    cutis_result result = skinning_build(&d->vertices, c->vertex_count, c->positions, c->influence_first,
                                         c->influence_joints, c->influence_weights, c->joint_count, memory, error);

    if (!result) result = normal_frames_build(&d->normals, c, memory, error);

    /* closed meshes keep their volume; what props press stays where they press it */
    d->fills = body && c->prop_count == 0;
    if (!result && d->fills) {
        arena scratch = arena_create(&memory->allocator);
        result = build_fullness(d, cracks, &scratch, memory, error);
        arena_destroy(&scratch);
    }

    if (!result && bounded) result = deviation_build(&d->bound, c, cracks, memory, error);
    if (!result && parted && d->bound.point_count > 0)
        result = parting_build(&d->bound.parting, &cracks->closed, jobs, memory, error);
    return result;
}

/* ---- an instant ---- */

/* Where the arrays of an instant are in the scratch. */
typedef struct display_arrays {
    float *shared; /* of whatever runs */
    float *skin;   /* (joint_count x 12) of the instant */
    float *points; /* (point_count x 3) that are drawn */
    float *spare;  /* (point_count x 3) */
    float *wide;   /* (vertex_count x 3) */
} display_arrays;

static size_t shared_count(const display *d)
{
    size_t count = MAX(skinning_scratch_count(&d->vertices), deviation_scratch_count(&d->bound));
    if (d->body) count = MAX(count, embedding_scratch_count(d->body));
    if (d->fills) count = MAX(count, fullness_scratch_count(&d->fullness));
    return (count + 15) & ~(size_t)15;
}

size_t display_scratch_count(const display *d)
{
    const cutis_character *c = d->character;
    return shared_count(d) + 12 * (size_t)c->joint_count + 6 * (size_t)c->point_count + 3 * (size_t)c->vertex_count;
}

static display_arrays arrays_view(const display *d, float *scratch)
{
    const cutis_character *c = d->character;
    display_arrays a = {.shared = scratch, .skin = scratch + shared_count(d)};
    a.points = a.skin + 12 * (size_t)c->joint_count;
    a.spare = a.points + 3 * (size_t)c->point_count;
    a.wide = a.spare + 3 * (size_t)c->point_count;
    return a;
}

void display_points(const display *d, const float *skin, const float *body_points, float *scratch,
                    const cutis_jobs *jobs, float *points)
{
    embedding_show(d->body, skin, body_points, scratch, jobs, points);
    if (d->fills) fullness_run(&d->fullness, skin, scratch, points);
}

/*
 * Drawn points of a body inside a substep: the deviation from linear skinning is interpolated, and linear skinning is
 * that of the instant itself, so that rigid pieces are exactly there.
 */
static void interpolate_body(const display *d, const display_instant *i, const display_arrays *a)
{
    const cutis_character *c = d->character;
    size_t count = 3 * (size_t)c->point_count;
    float *skinned = a->spare, *deviations = a->wide;

    /* the deviation between the ends; the vertices are at least as many as the points */
    for (int end = 0; end < 2; end++) {
        skin_matrices(c, i->joints_ends[end], a->skin);
        display_points(d, a->skin, i->points_ends[end], a->shared, i->jobs, a->points);
        embedding_skin(d->body, a->skin, a->shared, i->jobs, skinned);
        for (size_t k = 0; k < count; k++) {
            float deviation = a->points[k] - skinned[k];
            deviations[k] = end == 0 ? deviation : deviations[k] + i->alpha * (deviation - deviations[k]);
        }
    }

    /* on the pose of the instant */
    skin_matrices(c, i->joints, a->skin);
    embedding_skin(d->body, a->skin, a->shared, i->jobs, skinned);
    for (size_t k = 0; k < count; k++) a->points[k] = skinned[k] + deviations[k];
}

/* The drawn points of an instant, and its skin matrices. */
static void find_points(const display *d, const display_instant *i, const display_arrays *a)
{
    size_t count = 3 * (size_t)d->character->point_count;
    if (i->of_body && i->alpha < 1) {
        interpolate_body(d, i, a);
        return;
    }

    skin_matrices(d->character, i->joints, a->skin);
    if (i->of_body) {
        display_points(d, a->skin, i->points_ends[1], a->shared, i->jobs, a->points);
    } else if (i->alpha < 1) {
        const float *from = i->points_ends[0], *to = i->points_ends[1];
        for (size_t k = 0; k < count; k++) a->points[k] = from[k] + i->alpha * (to[k] - from[k]);
    } else {
        memcpy(a->points, i->points_ends[1], count * sizeof(float));
    }
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

    /* an exaggerated deviation is bounded as it is shown, by bounds as much wider */
    float above = MAX(i->amount, 1.0f);
    if (d->bound.point_count > 0) {
        deviation_stats bounded =
            deviation_limit(&d->bound, a.skin, i->slack, above, a.shared, i->jobs, a.points);
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
