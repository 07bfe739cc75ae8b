/* body_cracks.c: joins the points on both sides of a crack (see body_cracks.h). */
#include "body/body_cracks.h"

#include "character/skinning.h"

#include <string.h>

/* Widest crack that is closed, of the size: 2 mm on a person. Seams of mirrored halves are narrower. */
static const float WIDTH = 1e-3f;
/* Points further apart than this share of their shortest edges are two rims of a gap that was modelled. */
static const float EDGE_SHARE = 0.3f;

typedef struct borders {
    const cutis_character *character;
    const mesh *mesh;
    const float *reaches; /* (points) how far a partner may be; 0: not at a border */
} borders;

/* A share of the shortest edge at every point of an open border. */
static float *border_reaches(const mesh *m, arena *scratch)
{
    float *reaches = ARENA_ARRAY(scratch, float, m->point_count);
    if (!reaches) return NULL;

    /* ends of open edges */
    for (int e = 0; e < m->edge_count; e++) {
        if (m->edge_triangle_counts[e] != 1) continue;
        reaches[m->edges[2 * e]] = INFINITY;
        reaches[m->edges[2 * e + 1]] = INFINITY;
    }

    /* their shortest edges */
    for (int e = 0; e < m->edge_count; e++) {
        const int *ends = m->edges + 2 * (size_t)e;
        float length =
            vec3_distance(vec3_load(m->positions + 3 * (size_t)ends[0]), vec3_load(m->positions + 3 * (size_t)ends[1]));
        for (int k = 0; k < 2; k++) reaches[ends[k]] = MIN(reaches[ends[k]], EDGE_SHARE * length);
    }

    return reaches;
}

/* Whether two points within the largest reach are the two sides of a crack. */
static bool are_sides(void *context, int a, int b)
{
    const borders *s = context;
    const cutis_character *c = s->character;
    float distance =
        vec3_distance(vec3_load(s->mesh->positions + 3 * (size_t)a), vec3_load(s->mesh->positions + 3 * (size_t)b));
    return s->reaches[a] > 0 && s->reaches[b] > 0 && distance <= MIN(s->reaches[a], s->reaches[b]) &&
           vertices_move_alike(c, c->point_vertices[a], c->point_vertices[b]);
}

/* The mesh of joined points, without triangles that have collapsed. */
static cutis_result build_joined(const mesh *m, const int *joined, arena *scratch, arena *memory, mesh *closed,
                                 cutis_error *error)
{
    int *triangles = ARENA_ARRAY(scratch, int, 3 * (size_t)m->triangle_count);
    if (!triangles) return error_memory(error, "a simulation body");

    int count = 0;
    for (int t = 0; t < m->triangle_count; t++) {
        int corners[3];
        for (int k = 0; k < 3; k++) corners[k] = joined[m->triangles[3 * t + k]];
        if (corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0]) continue;
        memcpy(triangles + 3 * (size_t)count++, corners, sizeof corners);
    }

    return mesh_build(closed, m->point_count, m->positions, count, triangles, memory, error);
}

/* joined: as `cracks` has it, and *count how many points are left. */
static cutis_result join_borders(const cutis_character *character, const mesh *m, float reach, arena *scratch,
                                 int *joined, int *count, cutis_error *error)
{
    borders sides = {character, m, border_reaches(m, scratch)};
    int *numbers = ARENA_ARRAY(scratch, int, m->point_count);
    int *first = ARENA_ARRAY(scratch, int, m->point_count);
    if (scratch->failed) return error_memory(error, "a simulation body");

    /* numbers of what is left, then the lowest point of each */
    *count = weld_positions(m->point_count, m->positions, reach, are_sides, &sides, &scratch->allocator, numbers);
    if (*count < 0) return error_memory(error, "a simulation body");
    for (int p = m->point_count - 1; p >= 0; p--) first[numbers[p]] = p;
    for (int p = 0; p < m->point_count; p++) joined[p] = first[numbers[p]];
    return CUTIS_OK;
}

cutis_result cracks_close(drawn_cracks *result, const cutis_character *character, const mesh *m, arena *memory,
                          cutis_error *error)
{
    *result = (drawn_cracks){.closed = *m};

    /* nothing is open, as nearly always */
    bool open = false;
    for (int e = 0; e < m->edge_count && !open; e++) open = m->edge_triangle_counts[e] == 1;
    if (!open) return CUTIS_OK;

    int *joined = ARENA_ARRAY(memory, int, m->point_count);
    if (!joined) return error_memory(error, "a simulation body");

    /* join, and build what has changed */
    arena scratch = arena_create(&memory->allocator);
    int count = m->point_count;
    cutis_result status = join_borders(character, m, WIDTH * character->size, &scratch, joined, &count, error);
    if (!status && count < m->point_count) {
        status = build_joined(m, joined, &scratch, memory, &result->closed, error);
        result->joined = joined;
    }

    arena_destroy(&scratch);
    return status;
}

void cracks_follow(const int *joined, int point_count, const float *places, float *points)
{
    for (int p = 0; joined && p < point_count; p++) {
        size_t at = 3 * (size_t)p, first = 3 * (size_t)joined[p];
        if (at == first) continue;
        vec3 moved = vec3_sub(vec3_load(points + first), vec3_load(places + first));
        vec3_store(points + at, vec3_add(vec3_load(places + at), moved));
    }
}
