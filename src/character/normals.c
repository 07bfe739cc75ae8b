/* normals.c: normals of a character in any shape (see normals.h). */
#include "character/normals.h"

#include <string.h>

#include "math/math3.h"

/* Cosine of 2 degrees, twice the rounding of 8-bit normals: nearer normals of one point are one. */
static const float SAME_NORMAL = 0.9994f;

/* ---- smooth ---- */

static void smooth_normals(const cutis_character *c, const float *positions, float *points, float *normals)
{
    memset(points, 0, (size_t)c->point_count * 3 * sizeof *points);
    for (int t = 0; t < c->point_triangle_count; t++) {
        const int *p = c->point_triangles + 3 * (size_t)t;
        vec3 x[3];
        for (int k = 0; k < 3; k++) x[k] = vec3_load(positions + 3 * (size_t)c->point_vertices[p[k]]);
        float scale = 1 / c->size; /* keeps squares of tiny units from vanishing */
        vec3 n = vec3_cross(vec3_scale(vec3_sub(x[1], x[0]), scale), vec3_scale(vec3_sub(x[2], x[0]), scale));
        for (int k = 0; k < 3; k++)
            vec3_store(points + 3 * (size_t)p[k], vec3_add(vec3_load(points + 3 * (size_t)p[k]), n));
    }
    for (int v = 0; v < c->vertex_count; v++)
        vec3_store(normals + 3 * (size_t)v,
                   vec3_normalize(vec3_scale(vec3_load(points + 3 * (size_t)c->vertex_points[v]), 1e6f)));
}

/* ---- the file's own ---- */

/* Sums of the triangles around the vertices of each frame, at its leader; zero elsewhere. */
static void sum_triangles(const cutis_character *c, const int *leaders, const float *positions, float *sums)
{
    memset(sums, 0, (size_t)c->vertex_count * 3 * sizeof *sums);
    for (int t = 0; t < c->triangle_count; t++) {
        const int *corners = c->triangles + 3 * (size_t)t;
        vec3 x[3];
        for (int k = 0; k < 3; k++) x[k] = vec3_load(positions + 3 * (size_t)corners[k]);
        float scale = 1e3f / c->size;
        vec3 n = vec3_cross(vec3_scale(vec3_sub(x[1], x[0]), scale), vec3_scale(vec3_sub(x[2], x[0]), scale));
        for (int k = 0; k < 3; k++) {
            float *sum = sums + 3 * (size_t)leaders[corners[k]];
            vec3_store(sum, vec3_add(vec3_load(sum), n));
        }
    }
}

/* The frame of a leader from its summed normal; false: the surface has none there. */
static bool frame_make(const float *positions, int leader, int towards, vec3 sum, vec3 frame[3])
{
    if (towards < 0) return false;
    vec3 edge = vec3_sub(vec3_load(positions + 3 * (size_t)towards), vec3_load(positions + 3 * (size_t)leader));
    frame[0] = vec3_normalize(sum);
    frame[1] = vec3_normalize(vec3_madd(edge, frame[0], -vec3_dot(edge, frame[0])));
    frame[2] = vec3_cross(frame[0], frame[1]);
    return vec3_length2(frame[2]) > 0.5f;
}

/* Leaders: the first vertex of a point with about the same normal. chains: (vertex_count + point_count) scratch. */
static void find_leaders(const cutis_character *c, int *chains, int *leaders)
{
    int *next = chains, *first = chains + c->vertex_count;
    for (int p = 0; p < c->point_count; p++) first[p] = -1;

    for (int v = 0; v < c->vertex_count; v++) {
        int p = c->vertex_points[v], found = -1;
        vec3 n = vec3_load(c->normals + 3 * (size_t)v);
        bool none = vec3_length2(n) == 0;

        for (int leader = first[p]; leader >= 0 && found < 0; leader = next[leader]) {
            vec3 other = vec3_load(c->normals + 3 * (size_t)leader);
            if (none ? vec3_length2(other) == 0 : vec3_dot(n, other) > SAME_NORMAL) found = leader;
        }
        leaders[v] = found >= 0 ? found : v;
        if (found >= 0) continue;
        next[v] = first[p];
        first[p] = v;
    }
}

/* Of each leader the neighbour that is farthest across its normal, by the triangles around its frame. */
static void find_tangents(const cutis_character *c, const int *leaders, const float *sums, float *lengths,
                          int *tangents)
{
    for (int v = 0; v < c->vertex_count; v++) tangents[v] = -1;
    memset(lengths, 0, (size_t)c->vertex_count * sizeof *lengths);
    for (int h = 0; h < 3 * c->triangle_count; h++) {
        int leader = leaders[c->triangles[h]], t = h / 3 * 3;
        vec3 normal = vec3_normalize(vec3_load(sums + 3 * (size_t)leader));
        if (vec3_length2(normal) == 0) continue;

        for (int k = 0; k < 3; k++) {
            int other = c->triangles[t + k];
            vec3 edge =
                vec3_sub(vec3_load(c->positions + 3 * (size_t)other), vec3_load(c->positions + 3 * (size_t)leader));
            float length = vec3_length2(vec3_madd(edge, normal, -vec3_dot(edge, normal)));
            if (!(length > lengths[leader])) continue;
            lengths[leader] = length;
            tangents[leader] = other;
        }
    }
}

cutis_result normal_frames_build(normal_frames *f, const cutis_character *c, arena *memory, cutis_error *error)
{
    *f = (normal_frames){0};
    if (!c->normals) return CUTIS_OK;

    size_t count = (size_t)c->vertex_count;
    arena scratch = arena_create(&memory->allocator);
    int *leaders = ARENA_ARRAY(memory, int, count), *tangents = ARENA_ARRAY(memory, int, count);
    float *local = ARENA_ARRAY(memory, float, 3 * count);
    int *chains = ARENA_ARRAY(&scratch, int, count + (size_t)c->point_count);
    float *sums = ARENA_ARRAY(&scratch, float, 3 * count), *lengths = ARENA_ARRAY(&scratch, float, count);
    cutis_result result = memory->failed || scratch.failed ? error_memory(error, "normals") : CUTIS_OK;

    if (!result) {
        find_leaders(c, chains, leaders);
        sum_triangles(c, leaders, c->positions, sums);
        find_tangents(c, leaders, sums, lengths, tangents);

        /* the file's normal in the frame; a vertex without one has that of the surface */
        for (int v = 0; v < c->vertex_count; v++) {
            vec3 n = vec3_load(c->normals + 3 * (size_t)v), frame[3];
            int leader = leaders[v];
            vec3 sum = vec3_load(sums + 3 * (size_t)leader);
            if (!frame_make(c->positions, leader, tangents[leader], sum, frame)) {
                tangents[leader] = -1;
                vec3_store(local + 3 * (size_t)v, n);
            } else if (vec3_length2(n) == 0) {
                local[3 * (size_t)v] = 1;
            } else {
                for (size_t k = 0; k < 3; k++) local[3 * (size_t)v + k] = vec3_dot(frame[k], n);
            }
        }
        *f = (normal_frames){leaders, tangents, local};
    }

    arena_destroy(&scratch);
    return result;
}

static void file_normals(const cutis_character *c, const normal_frames *f, const float *positions, float *normals)
{
    sum_triangles(c, f->leaders, positions, normals);

    /* from the last vertex on, because those that share a frame read the sum at its leader, which comes before them */
    for (int v = c->vertex_count - 1; v >= 0; v--) {
        const float *local = f->local + 3 * (size_t)v;
        int leader = f->leaders[v];
        vec3 frame[3], n = vec3_load(local);
        if (frame_make(positions, leader, f->tangents[leader], vec3_load(normals + 3 * (size_t)leader), frame))
            n = vec3_madd(vec3_madd(vec3_scale(frame[0], n.x), frame[1], n.y), frame[2], n.z);
        vec3_store(normals + 3 * (size_t)v, vec3_normalize(n));
    }
}

void character_normals(const cutis_character *c, const normal_frames *frames, const float *positions, float *scratch,
                       float *normals)
{
    if (frames->leaders)
        file_normals(c, frames, positions, normals);
    else
        smooth_normals(c, positions, scratch, normals);
}
