/*
 * picture_character.c: a character's mesh and the values that can colour it.
 */
#include "picture_character.h"

#include <stdlib.h>
#include <string.h>

/* Faces that meet at rest at more than this stay sharp: a box keeps its edges, a nose does not get any. */
static const float CREASE = 62;

bool picture_body_create(const cutis_character *c, picture_body *body)
{
    *body = (picture_body){.character = c};

    size_t triangle_count = (size_t)c->triangle_count;
    body->smooth =
        picture_smooth_create(c->positions, c->triangles, c->triangle_count, c->vertex_points, c->point_count, CREASE);
    body->edges = calloc(triangle_count + 1, 1);
    if (c->texcoords) body->texcoords = malloc((triangle_count + 1) * 6 * sizeof(float));
    if (!body->smooth || !body->edges || (c->texcoords && !body->texcoords)) {
        picture_body_destroy(body);
        return false;
    }

    /* edges of faces, not of the triangles they were cut into, and texture coordinates by corner */
    for (size_t t = 0; t < triangle_count; t++) {
        const int *corners = c->triangle_corners + t * 3;
        int first = c->face_first[c->triangle_faces[t]], count = c->face_first[c->triangle_faces[t] + 1] - first;
        for (int k = 0; k < 3; k++) {
            /* Neighbours along the face, in either direction. */
            int step = abs(corners[(k + 1) % 3] - corners[k]);
            if (step == 1 || step == count - 1) body->edges[t] |= (uint8_t)(1 << k);
            if (body->texcoords)
                memcpy(body->texcoords + (t * 3 + (size_t)k) * 2, c->texcoords + (size_t)corners[k] * 2, 8);
        }
    }
    return true;
}

void picture_body_destroy(picture_body *body)
{
    picture_smooth_destroy(body->smooth);
    free(body->edges);
    free(body->texcoords);
    free(body->opposites);
    free(body->opposite_bary);
    *body = (picture_body){0};
}

picture_mesh picture_body_mesh(const picture_body *body, const float *positions, float *corner_normals)
{
    const cutis_character *c = body->character;

    picture_smooth_normals(body->smooth, positions, corner_normals);
    return (picture_mesh){
        .vertex_count = c->vertex_count,
        .triangle_count = c->triangle_count,
        .positions = positions,
        .triangles = c->triangles,
        .corner_normals = corner_normals,
        .corner_texcoords = body->texcoords,
        .edges = body->edges,
        .color = {0.86f, 0.70f, 0.625f},
        .inside_color = {0.76f, 0.47f, 0.43f},
        .cap_color = {0.87f, 0.53f, 0.48f},
        .texture_scale = 16,
    };
}

/* ---- values ---- */

static pvec point_at(const cutis_character *c, const float *positions, int point)
{
    return pvec_load(positions + (size_t)c->point_vertices[point] * 3);
}

static void spread(const cutis_character *c, const float *point_values, float *values)
{
    for (int v = 0; v < c->vertex_count; v++) values[v] = point_values[c->vertex_points[v]];
}

void picture_value_stretch(const cutis_character *c, const float *positions, float *scratch, float *values)
{
    for (int p = 0; p < c->point_count; p++) scratch[p] = 1;
    for (size_t t = 0; t < (size_t)c->point_triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            /* ratio of each edge */
            int a = c->point_triangles[t * 3 + (size_t)k], b = c->point_triangles[t * 3 + (size_t)(k + 1) % 3];
            float rest = pvec_length(pvec_sub(point_at(c, c->positions, a), point_at(c, c->positions, b)));
            float length = pvec_length(pvec_sub(point_at(c, positions, a), point_at(c, positions, b)));
            if (rest == 0) continue;

            /* a point shows its edge of largest change */
            float ratio = length / rest, strength = fmaxf(ratio, 1 / ratio);
            const int ends[2] = {a, b};
            for (int e = 0; e < 2; e++)
                if (strength > fmaxf(scratch[ends[e]], 1 / scratch[ends[e]])) scratch[ends[e]] = ratio;
        }

    spread(c, scratch, values);
}

static float triangle_area(const cutis_character *c, const float *positions, const int *t)
{
    pvec a = point_at(c, positions, t[0]);
    pvec e1 = pvec_sub(point_at(c, positions, t[1]), a), e2 = pvec_sub(point_at(c, positions, t[2]), a);
    return 0.5f * pvec_length(pvec_cross(e1, e2));
}

void picture_value_area(const cutis_character *c, const float *positions, float *scratch, float *values)
{
    /* areas around each point, now and at rest */
    memset(scratch, 0, (size_t)c->point_count * 2 * sizeof *scratch);
    for (size_t t = 0; t < (size_t)c->point_triangle_count; t++) {
        const int *points = c->point_triangles + t * 3;
        float rest = triangle_area(c, c->positions, points), area = triangle_area(c, positions, points);
        for (int k = 0; k < 3; k++) {
            scratch[points[k] * 2] += area;
            scratch[points[k] * 2 + 1] += rest;
        }
    }

    for (int v = 0; v < c->vertex_count; v++) {
        const float *sums = scratch + (size_t)c->vertex_points[v] * 2;
        values[v] = sums[1] > 0 ? sums[0] / sums[1] : NAN;
    }
}

bool picture_body_find_opposites(picture_body *body, picture_tracer *tracer)
{
    const cutis_character *c = body->character;

    size_t count = (size_t)c->point_count;
    float *positions = malloc((count + 1) * 3 * sizeof *positions);
    float *normals = calloc(count + 1, 3 * sizeof *normals);
    body->opposites = malloc((count + 1) * sizeof *body->opposites);
    body->opposite_bary = malloc((count + 1) * 3 * sizeof *body->opposite_bary);
    bool good = positions && normals && body->opposites && body->opposite_bary;

    /* normals of the points */
    if (good) {
        for (int p = 0; p < c->point_count; p++)
            memcpy(positions + (size_t)p * 3, c->positions + (size_t)c->point_vertices[p] * 3, 12);

        for (size_t t = 0; t < (size_t)c->point_triangle_count; t++) {
            const int *points = c->point_triangles + t * 3;
            pvec a = pvec_load(positions + (size_t)points[0] * 3);
            pvec n = pvec_cross(pvec_sub(pvec_load(positions + (size_t)points[1] * 3), a),
                                pvec_sub(pvec_load(positions + (size_t)points[2] * 3), a));

            for (int k = 0; k < 3; k++) {
                float *sum = normals + (size_t)points[k] * 3;
                sum[0] += n.x;
                sum[1] += n.y;
                sum[2] += n.z;
            }
        }

        /* rays inwards */
        picture_mesh mesh = {.vertex_count = c->point_count,
                             .triangle_count = c->point_triangle_count,
                             .positions = positions,
                             .triangles = c->point_triangles};
        good = picture_find_opposites(tracer, &mesh, normals, 1e-3f * c->size, body->opposites, body->opposite_bary);
    }

    free(positions);
    free(normals);

    return good;
}

/* Where the middle of the body is under a point. */
static pvec body_middle(const picture_body *body, const float *positions, int point)
{
    const cutis_character *c = body->character;
    pvec across = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        across = pvec_madd(across,
                           point_at(c, positions, c->point_triangles[(size_t)body->opposites[point] * 3 + (size_t)k]),
                           body->opposite_bary[(size_t)point * 3 + (size_t)k]);
    return pvec_scale(pvec_add(across, point_at(c, positions, point)), 0.5f);
}

void picture_value_volume(const picture_body *body, const float *positions, float *scratch, float *values)
{
    const cutis_character *c = body->character;

    /* signed volumes of tetrahedra to the middle, now and at rest */
    memset(scratch, 0, (size_t)c->point_count * 2 * sizeof *scratch);
    for (size_t t = 0; t < (size_t)c->point_triangle_count; t++) {
        const int *points = c->point_triangles + t * 3;
        for (int k = 0; k < 3; k++) {
            if (body->opposites[points[k]] < 0) continue;
            for (int now = 0; now < 2; now++) {
                const float *at = now ? positions : c->positions;
                pvec middle = body_middle(body, at, points[k]);
                pvec a = pvec_sub(point_at(c, at, points[0]), middle), b = pvec_sub(point_at(c, at, points[1]), middle);
                float volume = pvec_dot(pvec_cross(a, b), pvec_sub(point_at(c, at, points[2]), middle));
                scratch[points[k] * 2 + 1 - now] += volume;
            }
        }
    }

    for (int v = 0; v < c->vertex_count; v++) {
        const float *sums = scratch + (size_t)c->vertex_points[v] * 2;
        values[v] = sums[1] > 0 ? sums[0] / sums[1] : NAN;
    }
}

void picture_value_weight(const cutis_character *c, int joint, float *values)
{
    for (int v = 0; v < c->vertex_count; v++) {
        values[v] = 0;
        for (int i = c->influence_first ? c->influence_first[v] : 0;
             c->influence_first && i < c->influence_first[v + 1]; i++)
            if (c->influence_joints[i] == joint) values[v] += c->influence_weights[i];
    }
}

static void category_add(float *rgb, int index, float weight)
{
    static const float range[2] = {0, 1};
    picture_color color = picture_map_color(PICTURE_MAP_CATEGORY, (float)index, range);
    rgb[0] += color.r * weight;
    rgb[1] += color.g * weight;
    rgb[2] += color.b * weight;
}

void picture_colors_weights(const cutis_character *c, float *colors)
{
    memset(colors, 0, (size_t)c->vertex_count * 3 * sizeof *colors);
    for (int v = 0; v < c->vertex_count; v++) {
        /* mix the colours of its joints */
        float total = 0;
        for (int i = c->influence_first ? c->influence_first[v] : 0;
             c->influence_first && i < c->influence_first[v + 1]; i++) {
            /* Steps of 5 through the 12 colours: neighbours in the skeleton get unlike ones. */
            category_add(colors + (size_t)v * 3, c->influence_joints[i] * 5, c->influence_weights[i]);
            total += c->influence_weights[i];
        }

        for (int k = 0; k < 3; k++) colors[(size_t)v * 3 + (size_t)k] += 0.5f * (1 - fminf(total, 1));
    }
}

void picture_colors_parts(const cutis_character *c, float *colors)
{
    memset(colors, 0, (size_t)c->vertex_count * 3 * sizeof *colors);
    for (int i = 0; i < c->part_count; i++)
        for (int k = 0; k < c->parts[i].vertex_count; k++)
            category_add(colors + (size_t)(c->parts[i].first_vertex + k) * 3, i, 1);
}
