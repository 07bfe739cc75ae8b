/*
 * fit_things.c: what a body holds or carries.
 *
 * A sword, a shield, a staff or a book is a loose piece of the mesh that is on one side only: across the plane that
 * mirrors the body there is nothing like it. Arms, boots and gloves have twins, and heads, hats and capes are their
 * own. A pair of swords has twins, too, but is longer and thinner than limbs are.
 */
#include "rig/fit.h"

/* Pieces of whose surface less than this share has an image in the body are things. */
static const float TWIN = 0.5f;
/* Square of the length over the surface: 0.3 for a ball, 1 for an arm or a leg; above this: a rod or a blade. */
static const float SLENDER = 2;

typedef struct piece {
    float area, image; /* surface, and the part of it that has an image in the solid */
    vec3 low, high;
} piece;

/* Gather what is known of each piece, by its root in the forest. */
static void pieces_measure(const shape *s, const fit_plane *plane, const float *positions, int triangle_count,
                           const int *triangles, int *roots, piece *pieces)
{
    for (int t = 0; t < triangle_count; t++) {
        vec3 p[3];
        for (int k = 0; k < 3; k++) p[k] = vec3_load(positions + 3 * (size_t)triangles[3 * (size_t)t + k]);
        float area = 0.5f * vec3_length(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])));
        vec3 middle = vec3_scale(vec3_add(p[0], vec3_add(p[1], p[2])), 1.0f / 3);
        vec3 image = fit_plane_image(plane, middle);

        piece *own = &pieces[forest_root(roots, triangles[3 * (size_t)t])];
        own->area += area;
        own->image += solid_sample(&s->solid, image) < 1.5f * s->solid.spacing ? area : 0;
        for (int k = 0; k < 3; k++) {
            own->low = vec3_min(own->low, p[k]);
            own->high = vec3_max(own->high, p[k]);
        }
    }
}

static bool piece_is_thing(const piece *p, bool rods)
{
    float length = vec3_distance(p->low, p->high);
    return p->image < TWIN * p->area || (rods && length * length > SLENDER * p->area);
}

int fit_things_drop(const shape *s, vec3 up, bool rods, int point_count, const float *positions, int triangle_count,
                    const int *triangles, const cutis_jobs *jobs, arena *memory, int *kept, int *kept_count)
{
    int *roots = ARENA_ARRAY(memory, int, point_count);
    piece *pieces = ARENA_ARRAY(memory, piece, point_count);
    *kept_count = 0;
    if (memory->failed) return -1;

    /* the plane that mirrors most of the body, things and all */
    fit_body b = {.shape = s, .jobs = jobs, .up = up};
    fit_planes_find(&b, 0.5f);
    if (b.plane_count == 0) return 0;

    /* pieces: points joined by triangles */
    for (int i = 0; i < point_count; i++) {
        roots[i] = i;
        pieces[i] = (piece){0, 0, {INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    }
    for (int i = 0; i < 3 * triangle_count; i++) forest_join(roots, triangles[i], triangles[i - i % 3]);
    pieces_measure(s, &b.planes[0], positions, triangle_count, triangles, roots, pieces);

    /* a body is more than what it holds */
    int dropped = 0;
    float lost = 0;
    float all = 0;
    for (int i = 0; i < point_count; i++) {
        bool thing = pieces[i].area > 0 && piece_is_thing(&pieces[i], rods);
        dropped += thing;
        lost += thing ? pieces[i].area : 0;
        all += pieces[i].area;
    }
    if (lost > 0.5f * all) return 0;

    /* the other pieces stay */
    for (int t = 0; t < triangle_count; t++) {
        const int *corners = triangles + 3 * (size_t)t;
        if (piece_is_thing(&pieces[forest_root(roots, corners[0])], rods)) continue;
        for (int k = 0; k < 3; k++) kept[3 * (size_t)*kept_count + k] = corners[k];
        *kept_count += 1;
    }
    return dropped;
}
