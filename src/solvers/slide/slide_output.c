/*
 * slide_output.c: what is seen of the skin's sliding: texture coordinates of corners (Appendix A.2), material points
 * for moved vertices, and sliding, stress and wrinkles of vertices.
 *
 * Texture coordinates of a face are all taken in the chart of one place: where the middle of the face lies on the
 * skin. From there the way to each corner is walked until it meets a seam, and beyond the seam the coordinates go on
 * as they were, into the border that textures have around their islands. So a triangle never spans a break.
 *
 * When the middle of a face slides across a seam, its coordinates leap to the other island. For players that
 * interpolate between frames there are steady coordinates too: the same, seen from the chart of the face itself.
 */
#include <string.h>

#include "solvers/slide/slide.h"

enum { GRAIN = 256, FOLLOW_LIMIT = 8, PLACE_LIMIT = 3 };

typedef struct output_pass {
    const slide_model *model;
    slide_state *state;
    const double *skin;
    const float *surface;
    float *points;
    slide_scratch *s;
} output_pass;

/* ---- material points ---- */

void slide_tracks_reset(const slide_model *model, slide_state *state)
{
    if (!model->vertices) return;
    slide_place *tracks = state->tracks;
    memcpy(tracks, state->places, (size_t)model->point_count * sizeof *tracks);
}

/* The point of the skin over a triangle of the body that is nearest to `goal`, as weights; the squared distance. */
static double nearest_in_triangle(const slide_model *model, int triangle, const double *skin, const double *goal,
                                  double weights[3])
{
    const int *p = model->atlas.mesh->triangles + 3 * triangle;
    const double *x[3] = {skin + 3 * p[0], skin + 3 * p[1], skin + 3 * p[2]};
    double aa = 0, ab = 0, bb = 0, ra = 0, rb = 0, best = HUGE_VAL;
    for (int e = 0; e < 3; e++) {
        double a = x[1][e] - x[0][e], b = x[2][e] - x[0][e], r = goal[e] - x[0][e];
        aa += a * a;
        ab += a * b;
        bb += b * b;
        ra += r * a;
        rb += r * b;
    }

    /* inside of the triangle */
    double det = aa * bb - ab * ab, u = bb * ra - ab * rb, v = aa * rb - ab * ra;
    if (det > 1e-12 * (aa + bb) * (aa + bb) && u >= 0 && v >= 0 && u + v <= det) {
        weights[1] = u / det;
        weights[2] = v / det;
        weights[0] = 1 - weights[1] - weights[2];
        double d2 = 0;
        for (int e = 0; e < 3; e++) {
            double d = goal[e] - x[0][e] - weights[1] * (x[1][e] - x[0][e]) - weights[2] * (x[2][e] - x[0][e]);
            d2 += d * d;
        }
        return d2;
    }

    /* On one of the edges. */
    for (int k = 0; k < 3; k++) {
        const double *from = x[k], *to = x[k == 2 ? 0 : k + 1];
        double length = 0, along = 0, d2 = 0;
        for (int e = 0; e < 3; e++) {
            length += (to[e] - from[e]) * (to[e] - from[e]);
            along += (goal[e] - from[e]) * (to[e] - from[e]);
        }

        double t = length > 0 ? slide_min(slide_max(along / length, 0), 1) : 0;
        for (int e = 0; e < 3; e++) {
            double d = goal[e] - from[e] - t * (to[e] - from[e]);
            d2 += d * d;
        }

        if (d2 >= best) continue;
        best = d2;
        weights[k] = 1 - t;
        weights[k == 2 ? 0 : k + 1] = t;
        weights[k == 0 ? 2 : k - 1] = 0;
    }

    return best;
}

/*
 * Where on the body the skin of rest position `goal` lies, from where it lay. The triangles around the nearest corner
 * are tried too: at a ridge several come near, and which one holds the point must not depend on how it came there.
 */
static void follow(const slide_model *model, slide_place *track, const double *skin, const double *goal)
{
    const mesh *m = model->atlas.mesh;

    double w[3], distance = nearest_in_triangle(model, track->triangle, skin, goal, w);
    for (int hop = 0; hop < FOLLOW_LIMIT && distance > 1e-18; hop++) {
        int corner = m->triangles[3 * track->triangle + (w[0] >= w[1] && w[0] >= w[2] ? 0 : w[1] >= w[2] ? 1 : 2)];
        int from = track->triangle;

        for (int n = m->point_triangle_first[corner]; n < m->point_triangle_first[corner + 1]; n++) {
            double other[3], d2 = nearest_in_triangle(model, m->point_triangles[n], skin, goal, other);
            if (!(d2 < distance * (1 - 1e-6))) continue;
            distance = d2;
            track->triangle = m->point_triangles[n];
            memcpy(w, other, sizeof w);
        }

        if (track->triangle == from) break;
    }

    track->b[0] = w[1];
    track->b[1] = w[2];
}

/* Unit normals of the points of the posed body: the mean of the triangles around, by area. */
static void pose_normals(void *context, int begin, int end)
{
    output_pass *p = context;
    const mesh *m = p->model->atlas.mesh;

    for (int i = begin; i < end; i++) {
        vec3 sum = vec3_make(0, 0, 0);
        for (int n = m->point_triangle_first[i]; n < m->point_triangle_first[i + 1]; n++) {
            const int *q = m->triangles + 3 * m->point_triangles[n];
            vec3 a = vec3_load(p->surface + 3 * q[0]);
            sum = vec3_add(sum, vec3_cross(vec3_sub(vec3_load(p->surface + 3 * q[1]), a),
                                           vec3_sub(vec3_load(p->surface + 3 * q[2]), a)));
        }

        sum = vec3_normalize(sum);
        p->s->posed_normals[3 * i] = (double)sum.x;
        p->s->posed_normals[3 * i + 1] = (double)sum.y;
        p->s->posed_normals[3 * i + 2] = (double)sum.z;
    }
}

/*
 * How far the rounded body lies above a place of a flat triangle. Points on flat triangles would cut the surface short
 * once more. Phong tessellation (Boubekeur, Alexa 2008): the mean of the place's projections on the tangent planes of
 * the corners; half of that way is the parabola that has these planes.
 */
static void lift(const output_pass *p, const slide_place *track, double position[3])
{
    const int *q = p->model->atlas.mesh->triangles + 3 * track->triangle;
    const double weights[3] = {1 - track->b[0] - track->b[1], track->b[0], track->b[1]};
    double way[3] = {0, 0, 0};

    for (int k = 0; k < 3; k++) {
        const double *normal = p->s->posed_normals + 3 * q[k];
        double off = 0;
        for (int e = 0; e < 3; e++) off += (position[e] - (double)p->surface[3 * q[k] + e]) * normal[e];
        for (int e = 0; e < 3; e++) way[e] -= 0.5 * weights[k] * off * normal[e];
    }

    for (int e = 0; e < 3; e++) position[e] += way[e];
}

static void follow_points(void *context, int begin, int end)
{
    output_pass *p = context;
    const slide_model *model = p->model;
    slide_place *tracks = p->state->tracks;
    for (int i = begin; i < end; i++) {
        if (model->areas[i] > 0) follow(model, &tracks[i], p->skin, model->atlas.positions + 3 * i);
        double position[3];
        slide_place_posed(&model->atlas, &tracks[i], p->surface, position);
        lift(p, &tracks[i], position);
        for (int e = 0; e < 3; e++) p->points[3 * i + e] = (float)position[e];
    }
}

void slide_tracks_follow(const slide_model *model, slide_state *state, slide_scratch *s, const float *surface,
                         float *points, const cutis_jobs *jobs)
{
    output_pass p = {.model = model, .state = state, .skin = s->skin, .surface = surface, .points = points, .s = s};
    parallel_for(jobs, model->point_count, GRAIN, pose_normals, &p);
    parallel_for(jobs, model->point_count, GRAIN, follow_points, &p);
}

/* ---- texture coordinates ---- */

static void texture_at(const slide_model *model, int triangle, double b1, double b2, float *out)
{
    const float(*t)[2] = model->texcoords[triangle];
    for (int e = 0; e < 2; e++)
        out[e] = (float)((double)t[0][e] + b1 * ((double)t[1][e] - (double)t[0][e]) +
                         b2 * ((double)t[2][e] - (double)t[0][e]));
}

/* A vector in space as one of a chart; only its part in the plane: the rest is how far a chord lies under the surface.
 */
static void flatten_in_plane(const slide_atlas *atlas, int triangle, double vector[3], double flat[2])
{
    const double *n = atlas->charts[triangle].normal;
    double out = vector[0] * n[0] + vector[1] * n[1] + vector[2] * n[2];
    for (int e = 0; e < 3; e++) vector[e] -= out * n[e];
    slide_flatten(atlas, triangle, vector, flat);
}

/* Bring a place to a position of the skin that is not far. */
static void approach(const slide_model *model, slide_place *place, const double goal[3])
{
    for (int k = 0; k < PLACE_LIMIT; k++) {
        double at[3], way[2], length = 0;
        slide_place_position(&model->atlas, place, at);
        for (int e = 0; e < 3; e++) {
            at[e] = goal[e] - at[e];
            length += at[e] * at[e];
        }
        if (length < 1e-16) return;
        flatten_in_plane(&model->atlas, place->triangle, at, way);
        slide_walk(&model->atlas, place, way, NULL, NULL);
    }
}

/*
 * Where a place beyond a seam lies in the chart of the triangle at the seam, when all between is unfolded: the walk
 * goes on across the seam by `way`, which is turned into the vector to the place.
 */
static void unfold_beyond(const slide_atlas *atlas, slide_place from, const slide_place *own, double way[2])
{
    double axis[2] = {1, 0}, ahead[2] = {way[0], way[1]}, goal[3];
    slide_place_position(atlas, own, goal);

    /* walk on until the place lies in the same triangle */
    for (int k = 0; k < PLACE_LIMIT; k++) {
        double at[3];
        slide_walk(atlas, &from, ahead, axis, NULL);
        slide_place_position(atlas, &from, at);
        for (int e = 0; e < 3; e++) at[e] = goal[e] - at[e];
        flatten_in_plane(atlas, from.triangle, at, ahead);

        way[0] += axis[0] * ahead[0] + axis[1] * ahead[1];
        way[1] += axis[0] * ahead[1] - axis[1] * ahead[0];
        if (from.triangle == own->triangle) return;
    }
}

/*
 * The place that the border of a texture shows (src/mesh/texel.c) at weights w of a triangle, beyond the edge opposite
 * k: triangles are unfolded until it lies in one. axis: a vector of the first chart, turned along.
 */
static slide_place border_place(const slide_atlas *atlas, int triangle, int k, double w[3], double axis[2])
{
    enum { HOP_LIMIT = 64 };
    for (int hop = 0; hop < HOP_LIMIT && k >= 0; hop++) {
        const slide_chart *chart = &atlas->charts[triangle];
        if (chart->across[k] < 0) break;
        int other = chart->across[k] / 3, l = chart->across[k] % 3;
        const slide_chart *next = &atlas->charts[other];

        /* from corner k + 1 here, which is l + 2 there */
        int from = (k + 1) % 3, to = (l + 2) % 3;
        double v[2] = {w[1] * chart->edge + w[2] * chart->apex[0], w[2] * chart->apex[1]};

        v[0] -= from == 0 ? 0 : from == 1 ? chart->edge : chart->apex[0];
        v[1] -= from == 2 ? chart->apex[1] : 0;
        slide_turn_across(chart->along[k], next->along[l], v);
        slide_turn_across(chart->along[k], next->along[l], axis);

        v[0] += to == 0 ? 0 : to == 1 ? next->edge : next->apex[0];
        v[1] += to == 2 ? next->apex[1] : 0;
        slide_chart_rates(atlas, other, v, w + 1);
        w[0] = 1 - w[1] - w[2];
        triangle = other;

        /* on, across the edge that it lies farthest beyond, but never back */
        k = triangle_exit(w, l);
    }

    /* what is still outside is brought to the edge */
    triangle_weights_clamp(w);
    return (slide_place){.triangle = triangle, .b = {w[1], w[2]}};
}

/* The seam of an island to whose border a place of the texture outside of it belongs, and the weights there. */
static int border_seam(const slide_model *model, int island, const float uv[2], double w[3])
{
    int nearest = -1;
    double least = HUGE_VAL;

    for (int i = model->seam_first[island]; i < model->seam_first[island + 1]; i++) {
        int t = model->seam_edges[i] / 3, k = model->seam_edges[i] % 3;
        const float(*p)[2] = model->texcoords[t];
        const float *a = p[(k + 1) % 3], *b = p[(k + 2) % 3];

        /* only edges that have the place on their outer side */
        double dx = (double)b[0] - (double)a[0], dy = (double)b[1] - (double)a[1];
        double ox = (double)uv[0] - (double)a[0], oy = (double)uv[1] - (double)a[1];
        double inward = dx * ((double)p[k][1] - (double)a[1]) - dy * ((double)p[k][0] - (double)a[0]);
        double side = dx * oy - dy * ox, square = dx * dx + dy * dy;
        if (side * inward > 0 || !(square > 0)) continue;

        /* as texel.c tells distances */
        double share = slide_min(slide_max((ox * dx + oy * dy) / square, 0), 1);
        double fx = ox - share * dx, fy = oy - share * dy;
        double distance = sqrt(fx * fx + fy * fy), off = fabs(side) / sqrt(square);
        double squarely = distance + 1e-3 * (distance - off);
        if (squarely >= least) continue;

        least = squarely;
        nearest = model->seam_edges[i];
    }

    if (nearest < 0) return -1;

    /* its weights in the triangle at the seam */
    const float(*p)[2] = model->texcoords[nearest / 3];
    double ax = (double)p[1][0] - (double)p[0][0], ay = (double)p[1][1] - (double)p[0][1];
    double bx = (double)p[2][0] - (double)p[0][0], by = (double)p[2][1] - (double)p[0][1];
    double x = (double)uv[0] - (double)p[0][0], y = (double)uv[1] - (double)p[0][1], det = ax * by - ay * bx;
    if (!(fabs(det) > 1e-12 * (ax * ax + ay * ay + bx * bx + by * by))) return -1;

    w[1] = (x * by - y * bx) / det;
    w[2] = (ax * y - ay * x) / det;
    w[0] = 1 - w[1] - w[2];
    return nearest;
}

/* Move coordinates in the border of an island to where it shows a place, or as near to that as it does. */
static void aim_at_border(const slide_model *model, int island, const slide_place *own, float uv[2])
{
    enum { TRIES = 6 };
    const slide_atlas *atlas = &model->atlas;
    float best[2] = {uv[0], uv[1]};
    double least = HUGE_VAL, goal[3];
    slide_place_position(atlas, own, goal);

    for (int i = 0; i < TRIES; i++) {
        /* what is shown there */
        double w[3], axis[2] = {1, 0}, left[3], way[2], length = 0;
        int seam = border_seam(model, island, uv, w);
        if (seam < 0) break;
        slide_place shown = border_place(atlas, seam / 3, seam % 3, w, axis);
        slide_place_position(atlas, &shown, left);

        for (int e = 0; e < 3; e++) {
            left[e] = goal[e] - left[e];
            length += left[e] * left[e];
        }

        if (length < least) {
            least = length;
            memcpy(best, uv, sizeof best);
        }
        if (length < 1e-12) break;

        /* what is left, in the chart at the seam, and there in the texture */
        flatten_in_plane(atlas, shown.triangle, left, way);
        const double back[2] = {axis[0] * way[0] + axis[1] * way[1], axis[0] * way[1] - axis[1] * way[0]};
        double rates[2];
        slide_chart_rates(atlas, seam / 3, back, rates);
        const float(*p)[2] = model->texcoords[seam / 3];
        for (int e = 0; e < 2; e++)
            uv[e] += (float)(rates[0] * ((double)p[1][e] - (double)p[0][e]) +
                             rates[1] * ((double)p[2][e] - (double)p[0][e]));
    }

    memcpy(uv, best, sizeof best);
}

static float square_apart(const float a[2], const float b[2])
{
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]);
}

/* own: the place of the corner's skin, whose coordinates are taken to the bit where no seam lies between. */
static void texture_corner(const slide_model *model, slide_place from, const double goal[3], const slide_place *own,
                           float *out)
{
    float middle[2], exact[2];
    texture_at(model, from.triangle, from.b[0], from.b[1], middle);
    texture_at(model, own->triangle, own->b[0], own->b[1], exact);
    const slide_atlas *atlas = &model->atlas;

    /* straight there, up to a seam */
    double at[3], way[2];
    slide_place_position(atlas, &from, at);
    for (int e = 0; e < 3; e++) at[e] = goal[e] - at[e];
    slide_flatten(atlas, from.triangle, at, way);
    slide_walk(atlas, &from, way, NULL, model->seams);
    bool arrived = way[0] == 0 && way[1] == 0;

    if (arrived) {
        /* but for the bend of the surface: what is left is taken flat */
        slide_place_position(atlas, &from, at);
        for (int e = 0; e < 3; e++) at[e] = goal[e] - at[e];
        flatten_in_plane(atlas, from.triangle, at, way);
    } else {
        unfold_beyond(atlas, from, own, way);
    }

    /* the coordinates there, continued beyond the triangle */
    const slide_chart *chart = &atlas->charts[from.triangle];
    texture_at(model, from.triangle, from.b[0] + chart->inverse[0] * way[0] + chart->inverse[1] * way[1],
               from.b[1] + chart->inverse[3] * way[1], out);
    if (!arrived) {
        /* no further than the face is wide: beyond, the border of another seam shows the place by chance */
        const float start[2] = {out[0], out[1]};
        aim_at_border(model, model->islands[from.triangle], own, out);
        if (square_apart(out, start) > square_apart(start, middle)) memcpy(out, start, sizeof start);
    }

    /* neighbours that share the corner then have the same coordinates there */
    float off = 0, length = 0;
    for (int e = 0; e < 2; e++) {
        off += (exact[e] - out[e]) * (exact[e] - out[e]);
        length += (out[e] - middle[e]) * (out[e] - middle[e]);
    }

    if (arrived && off < 0.1f * length) memcpy(out, exact, sizeof exact);
}

/*
 * The coordinates of a corner's skin in the island of the corner itself. They depend on the vertex and its island
 * alone, so that all faces that share both agree.
 */
static void steady_corner(const output_pass *p, int face_triangle, int corner, float *out)
{
    const slide_model *model = p->model;
    const slide_atlas *atlas = &model->atlas;
    const cutis_character *c = model->character;
    int point = c->vertex_points[c->corners[corner]], island = model->islands[face_triangle];
    const slide_place *own = &p->state->places[point];
    const double *goal = p->skin + 3 * point, *rest = atlas->positions + 3 * point;

    /* of the island's triangles around the point, the one that lies most in the direction of the skin */
    const mesh *m = atlas->mesh;
    slide_place from = {.triangle = -1};
    double best = -HUGE_VAL;
    bool near = model->near_seam[own->triangle] || model->islands[own->triangle] != island;
    for (int n = m->point_triangle_first[point]; n < m->point_triangle_first[point + 1]; n++) {
        int t = model->fans[n] / 3, l = model->fans[n] % 3;
        near |= model->near_seam[t];
        if (model->islands[t] != island) continue;
        if (memcmp(model->texcoords[t][l], c->texcoords + 2 * corner, 2 * sizeof(float)) != 0) continue;

        double way[3] = {goal[0] - rest[0], goal[1] - rest[1], goal[2] - rest[2]}, flat[2], rates[3];
        flatten_in_plane(atlas, t, way, flat);
        slide_chart_rates(atlas, t, flat, rates + 1);
        rates[0] = -rates[1] - rates[2];
        double inside = slide_min(rates[(l + 1) % 3], rates[(l + 2) % 3]);
        if (!(inside > best)) continue;
        best = inside;
        from = slide_place_of_corner(t, l);
    }

    /* away from seams, the coordinates of its place */
    if (!near || from.triangle < 0)
        texture_at(model, own->triangle, own->b[0], own->b[1], out);
    else
        texture_corner(model, from, goal, own, out);
}

/* Where the middle of a face's first triangle lies on the skin, from one of its corners. */
static slide_place find_middle(const slide_model *model, const slide_place *places, const double *skin, int triangle)
{
    const int *q = model->atlas.mesh->triangles + 3 * triangle;
    slide_place place = places[q[0]];
    double middle[3];
    for (int e = 0; e < 3; e++) middle[e] = (skin[3 * q[0] + e] + skin[3 * q[1] + e] + skin[3 * q[2] + e]) / 3;
    approach(model, &place, middle);
    return place;
}

/* Whether no seam can lie between the corners of a face: they lie in one island, away from its border. */
static bool is_far_from_seams(const slide_model *model, const slide_place *places, int first, int last)
{
    const cutis_character *c = model->character;
    int island = model->islands[places[c->vertex_points[c->corners[first]]].triangle];
    for (int k = first; k < last; k++) {
        int triangle = places[c->vertex_points[c->corners[k]]].triangle;
        if (model->near_seam[triangle] || model->islands[triangle] != island) return false;
    }
    return true;
}

static void texture_faces(void *context, int begin, int end)
{
    output_pass *p = context;
    const slide_model *model = p->model;
    const cutis_character *c = model->character;
    const slide_place *places = p->state->places;
    float *out = p->state->corner_texcoords, *steady = p->state->steady_texcoords;

    for (int f = begin; f < end; f++) {
        int t = model->face_triangles[f];
        int first = c->face_first[f];
        int last = c->face_first[f + 1];
        bool moved = false;
        for (int k = first; k < last; k++) {
            int point = c->vertex_points[c->corners[k]];
            for (int e = 0; e < 3; e++) moved |= p->skin[3 * point + e] != model->atlas.positions[3 * point + e];
        }

        /* Where nothing slides, the coordinates keep their bits. */
        size_t bytes = 2 * (size_t)(last - first) * sizeof *out;
        if (t < 0 || !moved || model->vertices) {
            memcpy(out + 2 * first, c->texcoords + 2 * first, bytes);
            memcpy(steady + 2 * first, c->texcoords + 2 * first, bytes);
            continue;
        }

        /* far from seams, each corner has the coordinates of its own place */
        bool far = is_far_from_seams(model, places, first, last);
        slide_place middle = far ? places[0] : find_middle(model, places, p->skin, t);
        for (int k = first; k < last; k++) {
            int point = c->vertex_points[c->corners[k]];
            const slide_place *own = &places[point];
            if (far)
                texture_at(model, own->triangle, own->b[0], own->b[1], out + 2 * k);
            else
                texture_corner(model, middle, p->skin + 3 * point, own, out + 2 * k);
        }

        for (int k = first; k < last; k++) steady_corner(p, t, k, steady + 2 * k);
    }
}

/* ---- vertices ---- */

/* The direction in which skin is pressed together most, `amount` long: the column of the summed squares that is
 * largest. */
static void fold_direction(const double line[6], double amount, float fold[3])
{
    int k = line[0] >= line[1] && line[0] >= line[2] ? 0 : line[1] >= line[2] ? 1 : 2;
    double d[3], length = 0;
    d[k] = line[k];
    d[(k + 1) % 3] = line[3 + k];
    d[(k + 2) % 3] = line[3 + (k + 2) % 3];
    for (int e = 0; e < 3; e++) length += d[e] * d[e];
    for (int e = 0; e < 3; e++) fold[e] = length > 0 ? (float)(amount * d[e] / sqrt(length)) : 0;
}

static void fill_vertices(void *context, int begin, int end)
{
    output_pass *p = context;
    const slide_model *model = p->model;
    const mesh *m = model->atlas.mesh;
    float *sliding = p->state->sliding, *stress = p->state->stress;
    float *wrinkle = p->state->wrinkle, *attached = p->state->attached, *folds = p->state->folds;

    for (int v = begin; v < end; v++) {
        int i = model->character->vertex_points[v];
        for (int e = 0; e < 3; e++)
            sliding[3 * v + e] = (float)((model->atlas.positions[3 * i + e] - p->skin[3 * i + e]) * model->unit);

        /* sums over the triangles around, by area */
        double sum[2] = {0, 0}, area = 0, taken = 0, line[6] = {0};
        for (int n = m->point_triangle_first[i]; n < m->point_triangle_first[i + 1]; n++) {
            int t = m->point_triangles[n];
            double weight = model->atlas.slopes[t][3];
            sum[0] += weight * p->s->stress[t][0];
            sum[1] += weight * p->s->stress[t][1];
            area += weight;
            taken += weight * p->s->taken[t];

            /* directions have no sign, so that their squares are summed */
            const double *d = p->s->pressed[t];
            double push = weight * slide_max(-p->s->stress[t][1], 0);
            for (int e = 0; e < 3; e++) {
                line[e] += push * d[e] * d[e];
                line[3 + e] += push * d[e] * d[(e + 1) % 3];
            }
        }

        /* in units of Young's modulus */
        double scale = area > 0 ? 1 / (area * model->young) : 0;
        stress[2 * v] = (float)(sum[0] * scale);
        stress[2 * v + 1] = (float)(sum[1] * scale);
        wrinkle[v] = (float)slide_max(-sum[1] * scale, 0);
        attached[v] = (float)(1 - 0.5 * (model->allowed[i][0] + model->allowed[i][2]));
        fold_direction(line, area > 0 ? taken / area : 0, folds + 3 * v);
    }
}

void slide_outputs_fill(const slide_model *model, slide_state *state, slide_scratch *s, const cutis_jobs *jobs)
{
    output_pass p = {.model = model, .state = state, .skin = s->skin, .s = s};
    parallel_for(jobs, model->character->vertex_count, GRAIN, fill_vertices, &p);
    if (model->texcoords) parallel_for(jobs, model->character->face_count, GRAIN, texture_faces, &p);
}
