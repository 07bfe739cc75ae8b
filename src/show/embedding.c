/* embedding.c: drawn points from those of the simulation body (see embedding.h). */
#include "show/embedding.h"

/* Where the body deviates by this many of its edges, drawn points take their rest height over it, */
static const float HEIGHT_EDGES = 0.15f;
/* and move by no more than about this many edges for that. */
static const float MAX_HEIGHT_MOVE = 0.3f;

size_t embedding_scratch_count(const sim_body *b)
{
    if (!b->character) return 0;
    size_t count = MAX(skinning_scratch_count(&b->drawn_skinning), skinning_scratch_count(&b->body_skinning));
    return MAX(count, 3 * (size_t)b->character->point_count);
}

void embedding_deviation(const sim_body *b, const float *skin, const float *body_points, float *scratch,
                         const cutis_jobs *jobs, float *deviation)
{
    skinning_linear(&b->body_skinning, skin, scratch, jobs, deviation);
    for (int i = 0; i < 3 * b->character->point_count; i++) deviation[i] = body_points[i] - deviation[i];
}

/*
 * A drawn point x near its place on the body. Skinning that folds within one edge of the body carries x through the
 * body's surface. The more the flesh has moved, the nearer x comes to its rest height over the surface, and to at most
 * its rest distance beside the place. Without this, mh_average under tissue has 2.5 times as many crossing triangles.
 */
static vec3 restore_height(const sim_body *b, int point, vec3 x, vec3 place, vec3 normal, float moved)
{
    float follow = b->holds[point] * (1 - smooth_fall(moved / (HEIGHT_EDGES * b->lengths[point])));
    if (follow == 0) return x;

    /* its height over the place, and no further beside */
    vec3 offset = vec3_sub(x, place);
    float height = vec3_dot(offset, normal);
    vec3 side = vec3_madd(offset, normal, -height);
    float length = vec3_length(side), most = b->sides[point];
    if (length > most) side = vec3_scale(side, most / length);
    vec3 restored = vec3_add(vec3_madd(place, normal, b->heights[point]), side);

    /* a smooth bound: what moves further than that depends on the edges of the body, not on its shape */
    vec3 way = vec3_scale(vec3_sub(restored, x), follow);
    float share = vec3_length(way) / (MAX_HEIGHT_MOVE * b->lengths[point]);
    return vec3_madd(x, way, 1 / sqrtf(1 + share * share));
}

void embedding_show(const sim_body *b, const float *body_points, const float *deviation, const float *skinned,
                    float *scratch, float *points)
{
    float *normals = scratch;
    body_normals(&b->mesh, body_points, normals);

    for (int p = 0; p < b->drawn_skinning.count; p++) {
        vec3 x = vec3_load(skinned + 3 * (size_t)p);
        vec3 moved = {0, 0, 0}, place = {0, 0, 0}, normal = {0, 0, 0};

        /* means over its anchors: deviation, place and normal */
        for (int k = b->anchor_first[p]; k < b->anchor_first[p + 1]; k++) {
            size_t anchor = 3 * (size_t)b->anchors[k];
            moved = vec3_madd(moved, vec3_load(deviation + anchor), b->anchor_weights[k]);
            place = vec3_madd(place, vec3_load(body_points + anchor), b->anchor_weights[k]);
            normal = vec3_madd(normal, vec3_load(normals + anchor), b->anchor_weights[k]);
        }

        /* moved along, and to its height over the body where it holds to it */
        x = vec3_add(x, moved);
        if (b->holds[p] > 0) x = restore_height(b, p, x, place, vec3_normalize(normal), vec3_length(moved));
        vec3_store(points + 3 * (size_t)p, x);
    }
}

void embedding_spread(const sim_body *b, int point, const float *values, int width, float *result)
{
    for (int e = 0; e < width; e++) result[e] = 0;
    for (int k = b->anchor_first[point]; k < b->anchor_first[point + 1]; k++) {
        const float *from = values + (size_t)b->character->point_vertices[b->anchors[k]] * (size_t)width;
        for (int e = 0; e < width; e++) result[e] += b->anchor_weights[k] * from[e];
    }
}

int embedding_nearest(const sim_body *b, int point)
{
    int best = -1;
    for (int k = b->anchor_first[point]; k < b->anchor_first[point + 1]; k++)
        if (best < 0 || b->anchor_weights[k] > b->anchor_weights[best]) best = k;
    return best < 0 ? -1 : b->anchors[best];
}

vec3 embedding_place(const sim_body *b, const float *skin, const float *body_points, int point)
{
    vec3 place = skinning_place(&b->drawn_skinning, skin, point);
    for (int k = b->anchor_first[point]; k < b->anchor_first[point + 1]; k++) {
        vec3 skinned = skinning_place(&b->body_skinning, skin, b->anchors[k]);
        vec3 moved = vec3_sub(vec3_load(body_points + 3 * (size_t)b->anchors[k]), skinned);
        place = vec3_madd(place, moved, b->anchor_weights[k]);
    }
    return place;
}
