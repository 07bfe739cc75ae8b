/*
 * limb_curve.c: the curve skeleton of a limb, through the centres of its rings: places, radii, seams and bends.
 */
#include "rig/skeleton_template.h"

/* The centre of a ring; pose -1: at rest. */
static vec3 ring_centre(const limb *l, int ring, int pose)
{
    return pose < 0 ? l->rings[ring].centre : l->pose_centres[pose * l->ring_count + ring];
}

static vec3 limb_smooth_in(const limb *l, int pose, float d, float window, float *radius)
{
    vec3 sum = {0, 0, 0};
    float weight = 0, radii = 0;

    /* a weighted mean of the rings within the window */
    for (int r = 0; r < l->ring_count; r++) {
        const limb_ring *ring = &l->rings[r];
        float away = fabsf(ring->distance - d) / window;
        if (away >= 1 || (ring->count < 5 && r > 2)) continue;
        float w = (1 - away) * (float)MIN(ring->count, 24);
        sum = vec3_madd(sum, ring_centre(l, r, pose), w);
        radii += w * ring->radius;
        weight += w;
    }

    if (weight > 0) {
        if (radius) *radius = radii / weight;
        return vec3_scale(sum, 1 / weight);
    }

    /* No ring is near: the nearest one serves. */
    int nearest = 0;
    for (int r = 1; r < l->ring_count; r++)
        if (fabsf(l->rings[r].distance - d) < fabsf(l->rings[nearest].distance - d)) nearest = r;
    if (radius) *radius = l->rings[nearest].radius;
    return ring_centre(l, nearest, pose);
}

vec3 limb_smooth(const limb *l, float d, float window, float *radius)
{
    return limb_smooth_in(l, -1, d, window, radius);
}

float limb_window(const limb *l)
{
    float longest = l->rings[l->ring_count - 1].distance;
    float step = l->ring_count > 1 ? longest / (float)l->ring_count : longest;
    return MAX(2.5f * step, 1e-12f);
}

float limb_radius(const limb *l, float d)
{
    float radius = 0;
    limb_smooth(l, d, limb_window(l), &radius);
    return radius;
}

vec3 limb_place_in(const limb *l, int pose, float d, float last)
{
    float window = limb_window(l);
    if (d <= last) return limb_smooth_in(l, pose, d, window, NULL);
    vec3 a = limb_smooth_in(l, pose, 0.72f * last, window, NULL);
    vec3 b = limb_smooth_in(l, pose, 0.94f * last, window, NULL);
    return vec3_madd(b, vec3_sub(b, a), (d - 0.94f * last) / (0.22f * last));
}

vec3 limb_place(const limb *l, float d, float last) { return limb_place_in(l, -1, d, last); }

float limb_seam(const limb *l, float from, float to, float growth)
{
    float step = 0.5f * limb_window(l), d = from;
    while (d < to && limb_radius(l, d) <= growth * limb_radius(l, 0.85f * d)) d += step;
    return MIN(d, to);
}

float limb_bend(const limb *l, float d, float slack, float arm)
{
    float best = d, sharpest = 0.93969262f, window = 2 * limb_window(l); /* cos 20 degrees */
    for (int pose = -1; pose < l->pose_count; pose++)
        for (int i = -6; i <= 6; i++) {
            /* A pose that is not at rest bends where it bends: it may be looked for farther away. */
            float at = d + (pose < 0 ? slack : 1.8f * slack) * (float)i / 6;
            vec3 here = limb_smooth_in(l, pose, at, window, NULL);
            vec3 in = vec3_normalize(vec3_sub(here, limb_smooth_in(l, pose, at - arm, window, NULL)));
            vec3 out = vec3_normalize(vec3_sub(limb_smooth_in(l, pose, at + arm, window, NULL), here));
            float cosine = vec3_dot(in, out);

            if (cosine < sharpest) {
                sharpest = cosine;
                best = at;
            }
        }
    return best;
}
