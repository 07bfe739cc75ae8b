/*
 * ray_test.c: the 20-ray test of Bian, Zheng, Chaudhry, You, Zhang 2018, section 4.
 *
 * The paper shoots rays at the mesh. All rays of a test lie in one plane, so that their hits lie on the line in which
 * the plane cuts the surface: this line is followed from triangle to triangle, which takes as long as the line has
 * triangles and needs no tree. What another part of the body would put between is not seen, and need not be.
 */
#include "limbs/ray_test.h"

enum { SECTION_MAX = 1024 };

typedef struct place2 {
    float x, y;
} place2;

typedef struct section {
    int count;
    place2 places[SECTION_MAX];
} section;

/*
 * Follow the line in which the plane (through `origin`, spanned by x and y) cuts the surface, from a triangle at
 * `point`. False when it meets a border or grows too long.
 */
static bool section_follow(const mesh *m, int point, vec3 origin, vec3 x, vec3 y, section *s)
{
    vec3 across = vec3_cross(x, y);
    int triangle = -1;
    int edge = -1;
    int start = -1;
    s->count = 0;

    /* a triangle at the point that the plane cuts */
    for (int i = m->point_triangle_first[point]; i < m->point_triangle_first[point + 1] && triangle < 0; i++) {
        int t = m->point_triangles[i];
        int above = 0;
        for (int k = 0; k < 3; k++)
            above +=
                vec3_dot(across, vec3_sub(vec3_load(m->positions + 3 * (size_t)m->triangles[3 * t + k]), origin)) > 0;
        if (above == 1 || above == 2) triangle = t;
    }
    if (triangle < 0) return false;

    /* from triangle to triangle until the first edge comes again */
    while (s->count < SECTION_MAX) {
        const int *c = m->triangles + 3 * (size_t)triangle;
        float sides[3];
        vec3 away[3];
        int exit = -1;

        for (int k = 0; k < 3; k++) {
            away[k] = vec3_sub(vec3_load(m->positions + 3 * (size_t)c[k]), origin);
            sides[k] = vec3_dot(across, away[k]);
        }

        /* the edge by which the plane leaves */
        for (int k = 0; k < 3; k++) {
            int e = m->triangle_edges[3 * (size_t)triangle + (size_t)k];
            if ((sides[k] > 0) == (sides[(k + 1) % 3] > 0) || e == edge) continue;
            exit = k;
            if (edge >= 0) break;
        }
        if (exit < 0) return false;

        /* where it cuts that edge */
        int next = (exit + 1) % 3;
        float t = sides[exit] / (sides[exit] - sides[next]);
        vec3 cut = vec3_lerp(away[exit], away[next], t);
        edge = m->triangle_edges[3 * (size_t)triangle + (size_t)exit];
        if (edge == start) return true;

        if (start < 0) start = edge;
        s->places[s->count++] = (place2){vec3_dot(cut, x), vec3_dot(cut, y)};

        /* the triangle behind it */
        if (m->edge_triangle_counts[edge] != 2) return false;
        triangle = m->edge_triangles[2 * (size_t)edge] == triangle ? m->edge_triangles[2 * (size_t)edge + 1]
                                                                   : m->edge_triangles[2 * (size_t)edge];
    }
    return false;
}

/* Which of the 20 sectors of 18 degrees holds the place. */
static int sector_of(place2 p)
{
    static const float tangents[4] = {0.32491970f, 0.72654253f, 1.37638192f, 3.07768354f};
    int quarter = p.y >= 0 ? (p.x > 0 ? 0 : 1) : (p.x < 0 ? 2 : 3);
    float a = quarter & 1 ? fabsf(p.y) : fabsf(p.x), b = quarter & 1 ? fabsf(p.x) : fabsf(p.y);
    int sector = 5 * quarter;
    for (int k = 0; k < 4; k++) sector += b >= tangents[k] * a;
    return sector;
}

/* The first hit of each ray from `middle`. False when one goes out. */
static bool rays_shoot(const section *s, float middle, place2 hits[SECTION_RAYS])
{
    /* the rays of one quarter, 18 degrees apart; the others are turned copies */
    static const place2 rays[5] = {{1, 0},
                                   {0.95105652f, 0.30901699f},
                                   {0.80901699f, 0.58778525f},
                                   {0.58778525f, 0.80901699f},
                                   {0.30901699f, 0.95105652f}};

    /* start at the last place: the section is closed */
    float nearest[SECTION_RAYS];
    place2 a = {s->places[s->count - 1].x - middle, s->places[s->count - 1].y};
    int from = sector_of(a);
    for (int k = 0; k < SECTION_RAYS; k++) nearest[k] = INFINITY;

    /* each segment meets the rays between the sectors of its ends */
    for (int i = 0; i < s->count; i++) {
        place2 b = {s->places[i].x - middle, s->places[i].y}, way = {b.x - a.x, b.y - a.y};
        int to = sector_of(b), turn = (to - from + 30) % 20 - 10;
        float turned = a.x * b.y - a.y * b.x;
        if (turn == -10 && turned > 0) turn = 10;

        /* where it meets them */
        for (int k = 0; k < (turn < 0 ? -turn : turn); k++) {
            int ray = (turn > 0 ? from + 1 + k : from - k + 20) % 20;
            place2 d = rays[ray % 5];
            for (int quarter = ray / 5; quarter > 0; quarter--) d = (place2){-d.y, d.x};
            float t = turned / (d.x * way.y - d.y * way.x);
            if (t > 0 && t < nearest[ray]) {
                nearest[ray] = t;
                hits[ray] = (place2){t * d.x, t * d.y};
            }
        }

        a = b;
        from = to;
    }

    /* a ray without a hit leaves the section */
    for (int k = 0; k < SECTION_RAYS; k++)
        if (!(nearest[k] < INFINITY)) return false;
    return true;
}

float section_test(const mesh *m, int point, vec3 inward, vec3 along, float *hits)
{
    section s;
    place2 met[SECTION_RAYS], centre = {0, 0};
    vec3 origin = vec3_load(m->positions + 3 * (size_t)point), x = vec3_normalize(inward);
    vec3 y = vec3_normalize(vec3_madd(along, x, -vec3_dot(along, x)));
    if (!section_follow(m, point, origin, x, y, &s)) return INFINITY;

    /* The other side: where the section crosses the line inwards first. */
    float across = INFINITY, near = 1e-3f * vec3_length(along);
    for (int i = 0; i < s.count; i++) {
        place2 a = s.places[i], b = s.places[i + 1 < s.count ? i + 1 : 0];
        if ((a.y > 0) == (b.y > 0)) continue;
        float at = a.x + (b.x - a.x) * (a.y / (a.y - b.y));
        if (at > near && at < across) across = at;
    }
    if (!(across < INFINITY) || !rays_shoot(&s, 0.5f * across, met)) return INFINITY;

    /* roundness: the spread of distances from the centre of the hits */
    for (int k = 0; k < SECTION_RAYS; k++) {
        centre.x += met[k].x / SECTION_RAYS;
        centre.y += met[k].y / SECTION_RAYS;
    }

    float least = INFINITY, most = 0;
    for (int k = 0; k < SECTION_RAYS; k++) {
        float dx = met[k].x - centre.x, dy = met[k].y - centre.y, d = sqrtf(dx * dx + dy * dy);
        least = MIN(least, d);
        most = MAX(most, d);

        if (hits)
            vec3_store(hits + 3 * (size_t)k, vec3_madd(vec3_madd(origin, x, met[k].x + 0.5f * across), y, met[k].y));
    }

    return most - least;
}
