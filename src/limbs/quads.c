/* quads.c: half-edges of a character's quads. */
#include "limbs/quads.h"

/* Match the half-edges of each pair of points; where more than two meet, or both run the same way, none is matched. */
static void twins_match(quads *q, const int *first, const int *halves, int point_count)
{
    for (int p = 0; p < point_count; p++)
        for (int i = first[p]; i < first[p + 1]; i++) {
            int h = halves[i], twin = -1, found = 0, a = quad_start(q, h), b = quad_end(q, h);

            /* an edge of exactly two faces has a twin, when they run it opposite ways */
            for (int k = first[p]; k < first[p + 1]; k++) {
                int o = halves[k], c = quad_start(q, o), d = quad_end(q, o);
                if (k == i || !((c == a && d == b) || (c == b && d == a))) continue;
                found++;
                if (c == b) twin = o;
            }

            q->twins[h] = found == 1 ? twin : -1;
        }
}

/* Points with quads all around them; faces: how many faces of any kind each point has. */
static void spokes_find(quads *q, const int *faces, int point_count)
{
    for (int p = 0; p < point_count; p++) {
        int h = q->spokes[p], start = h, count = 0;

        /* turn once around the point */
        while (h >= 0 && count < 64) {
            count++;
            h = quad_turn(q, h);
            if (h == start) break;
        }

        bool closed = h >= 0 && h == start && count == faces[p];
        if (!closed) q->spokes[p] = -1;
        q->valence[p] = (uint8_t)(closed ? count : 0);
    }
}

cutis_result quads_build(quads *q, const cutis_character *character, arena *memory, cutis_error *error)
{
    arena scratch = arena_create(&memory->allocator);
    int n = character->point_count, half_count = 0;
    q->count = 0;

    for (int f = 0; f < character->face_count; f++)
        q->count += character->face_first[f + 1] - character->face_first[f] == 4;
    q->corners = ARENA_ARRAY(memory, int, 4 * (size_t)q->count + 1);
    q->twins = ARENA_ARRAY(memory, int, 4 * (size_t)q->count + 1);
    q->ahead = ARENA_ARRAY(memory, int, 4 * (size_t)q->count + 1);
    q->spokes = ARENA_ARRAY(memory, int, n);
    q->valence = ARENA_ARRAY(memory, uint8_t, n);

    int *faces = ARENA_ARRAY(&scratch, int, n), *first = ARENA_ARRAY(&scratch, int, n + 2);
    int *halves = ARENA_ARRAY(&scratch, int, 4 * (size_t)q->count + 1);
    if (scratch.failed || memory->failed) {
        arena_destroy(&scratch);
        return error_memory(error, "quads");
    }

    /* half edges of the quads, one of which starts at each point */
    for (int p = 0; p < n; p++) q->spokes[p] = -1;
    for (int f = 0; f < character->face_count; f++) {
        int at = character->face_first[f], count = character->face_first[f + 1] - at;
        for (int k = 0; k < count; k++) {
            int p = character->vertex_points[character->corners[at + k]];
            faces[p]++;
            if (count != 4) continue;
            q->spokes[p] = half_count;
            q->corners[half_count++] = p;
        }
    }

    /* By the lower point of each; the firsts stand one place ahead while they are filled. */
    for (int h = 0; h < half_count; h++) first[MIN(quad_start(q, h), quad_end(q, h)) + 2]++;
    for (int p = 0; p < n; p++) first[p + 2] += first[p + 1];
    for (int h = 0; h < half_count; h++) halves[first[MIN(quad_start(q, h), quad_end(q, h)) + 1]++] = h;

    twins_match(q, first, halves, n);
    spokes_find(q, faces, n);

    /* straight on, where four quads meet */
    for (int h = 0; h < half_count; h++)
        q->ahead[h] = q->valence[quad_end(q, h)] == 4 ? quad_next(q->twins[quad_next(h)]) : -1;

    arena_destroy(&scratch);
    return CUTIS_OK;
}
