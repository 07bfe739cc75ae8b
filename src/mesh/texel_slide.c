/*
 * texel_slide.c: the texture of slid skin, in the texture coordinates that the character has at rest.
 *
 * Moving texture coordinates cross seams only as well as the islands on both sides agree (texel.c). Here the
 * coordinates stay and the image moves: every texel is a place of the body, the skin that lies there is found on the
 * skin itself, not in its texture, and the texel takes the colour that this skin has. Texels on both sides of a seam
 * are then the same place of the body with the same skin, however their islands are stretched.
 */
#include <math.h>
#include <string.h>

#include "cutis/texture.h"
#include "mesh/mesh.h"

enum { HOP_LIMIT = 256 };

/* A place of the skin: a triangle of the mesh and weights of its corners. */
typedef struct skin_place {
    int triangle;
    float weights[3];
} skin_place;

typedef struct slid_skin {
    const cutis_character *character;
    mesh surface;
    const int *sources;   /* (surface.triangle_count) triangles of the character */
    const int *triangles; /* (triangle_count of the character) those of the surface; -1: collapsed by welding */
    const float *sliding; /* (vertex_count x 3) */
} slid_skin;

/* The squared distance from a triangle of the skin, and the place in it that is nearest. */
static float triangle_distance(const slid_skin *s, int triangle, vec3 goal, float weights[3])
{
    const int *p = s->surface.triangles + 3 * triangle;
    vec3 x[3];
    for (int k = 0; k < 3; k++) x[k] = vec3_load(s->surface.positions + 3 * p[k]);
    vec3 off = vec3_sub(triangle_closest(goal, x[0], x[1], x[2], weights), goal);
    return vec3_dot(off, off);
}

/*
 * Go from a place to that of the skin nearest to `goal`: again and again the best of the triangles around the nearest
 * corner. It goes along the surface and never leaps, say from one finger to the next.
 */
static void place_approach(const slid_skin *s, vec3 goal, skin_place *place)
{
    const mesh *m = &s->surface;
    float least = triangle_distance(s, place->triangle, goal, place->weights);

    for (int hop = 0; hop < HOP_LIMIT; hop++) {
        const float *w = place->weights;
        int corner = w[0] >= w[1] && w[0] >= w[2] ? 0 : w[1] >= w[2] ? 1 : 2;
        int point = m->triangles[3 * place->triangle + corner];
        bool nearer = false;

        for (int i = m->point_triangle_first[point]; i < m->point_triangle_first[point + 1]; i++) {
            skin_place other = {.triangle = m->point_triangles[i]};
            float distance = triangle_distance(s, other.triangle, goal, other.weights);
            if (distance >= least) continue;
            least = distance;
            *place = other;
            nearer = true;
        }
        if (!nearer) break;
    }
}

/*
 * Where the skin of a texel's place is in the texture; false when it has not slid. *last: the triangle found for the
 * texel before, or -1.
 */
static bool texel_source(const slid_skin *s, const cutis_texel *texel, int *last, double uv[2])
{
    const cutis_character *c = s->character;
    int t = texel->triangle;
    const int *v = c->triangles + 3 * t;
    float weights[3] = {texel->weights[0], texel->weights[1], texel->weights[2]};

    /* the rest position of the skin there */
    bool slid = false;
    float goal[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        for (int e = 0; e < 3; e++) {
            float off = s->sliding[3 * v[k] + e];
            slid |= off != 0;
            goal[e] += weights[k] * (c->positions[3 * v[k] + e] - off);
        }
    }

    if (!slid) return false;

    /* its triangle: from where the texel before had it, or from the texel's own on */
    if (s->triangles[t] >= 0) {
        skin_place place = {.triangle = *last >= 0 ? *last : s->triangles[t]};
        place_approach(s, vec3_load(goal), &place);
        *last = place.triangle;
        t = s->sources[place.triangle];
        memcpy(weights, place.weights, sizeof weights);
    }

    uv[0] = 0;
    uv[1] = 0;
    for (int k = 0; k < 3; k++) {
        const float *own = c->texcoords + 2 * c->triangle_corners[3 * t + k];
        uv[0] += (double)weights[k] * (double)own[0];
        uv[1] += (double)weights[k] * (double)own[1];
    }

    return true;
}

/* The surface, and how its triangles and the character's belong together. */
static cutis_result skin_prepare(slid_skin *s, arena *memory, cutis_error *error)
{
    const cutis_character *c = s->character;
    cutis_result result = mesh_build_character(&s->surface, c, memory, error);
    if (result) return result;

    int *sources = ARENA_ARRAY(memory, int, s->surface.triangle_count);
    int *triangles = ARENA_ARRAY(memory, int, c->triangle_count);
    if (memory->failed) return error_memory(error, "texture");

    /* the mesh leaves out triangles that welding has collapsed */
    for (int t = 0, at = 0; t < c->triangle_count; t++) {
        int p[3];
        for (int k = 0; k < 3; k++) p[k] = c->vertex_points[c->triangles[3 * t + k]];
        triangles[t] = -1;
        if (at >= s->surface.triangle_count || memcmp(p, s->surface.triangles + 3 * at, sizeof p) != 0) continue;
        triangles[t] = at;
        sources[at++] = t;
    }

    s->sources = sources;
    s->triangles = triangles;
    return CUTIS_OK;
}

cutis_result cutis_texture_slide(const cutis_character *character, const cutis_texel *texels, int width, int height,
                                 int channels, const float *sliding, const float *image,
                                 const cutis_allocator *allocator, float *slid, cutis_error *error)
{
    arena memory = arena_create(allocator);
    size_t count = (size_t)width * (size_t)height;

    slid_skin skin = {.character = character, .sliding = sliding};
    cutis_result result = skin_prepare(&skin, &memory, error);

    /* colours between texels at the rim of an island are made with what lies beyond it */
    float *extended = ARENA_ARRAY(&memory, float, count *(size_t)channels);
    if (result == CUTIS_OK && memory.failed) result = error_memory(error, "texture");
    if (result == CUTIS_OK) {
        memcpy(extended, image, count * (size_t)channels * sizeof *image);
        result = cutis_texture_extend(character, texels, width, height, channels, allocator, extended, error);
    }

    if (result == CUTIS_OK) {
        int last = -1;
        int own = -1;
        memcpy(slid, extended, count * (size_t)channels * sizeof *slid);
        for (size_t i = 0; i < count; i++) {
            if (texels[i].triangle < 0) continue;

            /* beside a texel of the same triangle the skin is near */
            if (texels[i].triangle != own) last = -1;
            own = texels[i].triangle;

            /* skin that has not slid keeps its bits */
            double uv[2];
            if (!texel_source(&skin, &texels[i], &last, uv)) continue;
            cutis_texture_sample(extended, width, height, channels, uv[0], uv[1], slid + i * (size_t)channels);
        }
    }

    arena_destroy(&memory);
    return result;
}
