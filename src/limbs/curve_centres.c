/*
 * curve_centres.c: the curve skeleton of a limb through the centres of its iso-parametric curves, where quads have
 * them.
 *
 * Bian, Zheng, Chaudhry, You, Zhang 2018, section 5: the curve skeleton connects the centres of the curves. Level sets
 * of the distance lean and have more points on one side than on the other; curves of quads stand across the limb.
 */
#include "limbs/curve_centres.h"

/* A curve may be off the limb's rings by this share of their radius, and wider or narrower by this factor. */
static const float AWAY = 0.5f, WIDER = 1.5f;
/* Rings nearer to the seam than this share of the way from the tip begin to open out into the trunk. */
static const float BEFORE_SEAM = 0.9f;

/* Where a curve lies on a limb: distance and radius as the limb's rings have them there, and how far it is off them. */
typedef struct curve_place {
    float distance, radius, away;
} curve_place;

static curve_place limb_project(const limb *l, vec3 at)
{
    curve_place best = {0, 0, INFINITY};
    for (int r = 0; r + 1 < l->ring_count; r++) {
        const limb_ring *a = &l->rings[r], *b = &l->rings[r + 1];
        vec3 way = vec3_sub(b->centre, a->centre);
        float length2 = vec3_length2(way);
        float t = length2 > 0 ? vec3_dot(vec3_sub(at, a->centre), way) / length2 : 0;
        t = CLAMP(t, 0.0f, 1.0f);

        float away = vec3_length2(vec3_sub(at, vec3_madd(a->centre, way, t)));
        if (away >= best.away) continue;
        best.distance = a->distance + t * (b->distance - a->distance);
        best.radius = a->radius + t * (b->radius - a->radius);
        best.away = away;
    }
    best.away = sqrtf(best.away);
    return best;
}

/* Centre, mean radius and number of points of each curve. */
static void curves_measure(const mesh *m, const rings *found, limb_ring *curves)
{
    for (int c = 0; c < found->count; c++) {
        int first = found->first[c], end = found->first[c + 1];
        vec3 sum = {0, 0, 0};
        float radius = 0, share = 1 / (float)(end - first);
        for (int i = first; i < end; i++) sum = vec3_add(sum, vec3_load(m->positions + 3 * (size_t)found->points[i]));
        vec3 centre = vec3_scale(sum, share);
        for (int i = first; i < end; i++)
            radius += vec3_distance(centre, vec3_load(m->positions + 3 * (size_t)found->points[i]));
        curves[c] = (limb_ring){.centre = centre, .radius = radius * share, .count = end - first};
    }
}

/* The curves around a limb, by their distance from its tip; returns how many. */
static int curves_around(const limb *l, const limb_ring *curves, int curve_count, limb_ring *around)
{
    int count = 0;
    float reach = BEFORE_SEAM * l->seam_distance;
    vec3 tip = l->rings[0].centre;
    for (int c = 0; c < curve_count; c++) {
        if (vec3_length2(vec3_sub(curves[c].centre, tip)) > reach * reach) continue; /* the way is longer still */
        curve_place place = limb_project(l, curves[c].centre);
        float radius = curves[c].radius;
        if (place.distance <= l->rings[0].distance || place.distance > reach) continue;
        if (place.away > AWAY * place.radius || radius > WIDER * place.radius || place.radius > WIDER * radius)
            continue;

        int at = count++;
        for (; at > 0 && around[at - 1].distance > place.distance; at--) around[at] = around[at - 1];
        around[at] = curves[c];
        around[at].distance = place.distance;
    }
    return count;
}

cutis_result limbs_centre(const mesh *m, const rings *found, arena *memory, limbs *f, cutis_error *error)
{
    /* the centres of all curves */
    limb_ring *around = ARENA_ARRAY(memory, limb_ring, found->count);
    f->curves = ARENA_ARRAY(memory, limb_ring, found->count);
    if (memory->failed) return error_memory(error, "centres of curves");
    f->curve_count = found->count;
    curves_measure(m, found, f->curves);

    /* fingers and ears have too few rings to gain by it */
    for (int k = 0; k < f->main_count; k++) {
        limb *l = &f->all[k];
        if (l->ring_count < 2) continue;
        int count = curves_around(l, f->curves, f->curve_count, around);
        float step = l->rings[l->ring_count - 1].distance / (float)l->ring_count;

        /* each ring between two curves of its own limb */
        int i = 0;
        for (int r = 0; r < l->ring_count; r++) {
            float d = l->rings[r].distance;
            while (i + 2 < count && around[i + 1].distance < d) i++;
            if (i + 1 >= count || around[i].distance > d || around[i + 1].distance < d) continue;
            float gap = around[i + 1].distance - around[i].distance;
            if (gap > step) continue;
            float t = gap > 0 ? (d - around[i].distance) / gap : 0.5f;
            l->rings[r].centre = vec3_lerp(around[i].centre, around[i + 1].centre, t);
        }
    }

    return CUTIS_OK;
}
