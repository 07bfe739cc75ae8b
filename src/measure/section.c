/*
 * section.c: cross-sections of the limbs around the bones.
 *
 * A bone runs from a joint to each of its children; a joint without children that moves vertices has a bone in
 * its parent's direction to the end of what it moves. At rest the surface is cut by planes at right angles to
 * the bone at the joint itself and at eighths of the bone; at the joint the plane halves the angle to the bone
 * before it. Of the closed contours in a plane the section is the smallest around the bone, provided that most
 * of it moves with the bone, its parent and its children: the cut along a hip bone, say, runs through the
 * whole trunk and says nothing about the hip.
 *
 * A section is material. Its ring of points (edge and parameter) moves with the surface, and its area is the
 * length of the ring's vector area, 1/2 |sum p_i x p_i+1|. So it is defined in every pose, needs no bones
 * in the pose, and does not change by rigid motion. When skin twists into a candy wrapper the ring at the joint
 * shrinks to a point and the area to nothing.
 */
#include "measure/section.h"

#include <string.h>

enum { STATIONS = 8 }; /* planes a bone; the narrowest collapse lies at the joint, which is one of them */

typedef struct section_builder {
    const cutis_character *character;
    const mesh *m;
    arena *memory; /* of the sections */
    section *sections;
    double min_area;    /* smaller contours are noise: (size / 1000)^2 */
    float *heights;     /* (point_count) above the plane */
    float *shares;      /* (point_count) weight of the bone and its neighbours */
    uint8_t *visited;   /* (triangle_count) */
    int *edges;         /* (triangle_count) edges of the contour being followed */
    int *best;          /* (triangle_count) of the section so far */
    float *joints;      /* (joint_count x 12) rest */
    uint8_t *near_bone; /* (joint_count) the bone's joint, parent, children */
} section_builder;

/* The edge of a triangle, other than `skip`, whose ends lie on different sides of the plane; -1 for none. */
static int crossed_edge(const section_builder *b, int t, int skip)
{
    for (int k = 0; k < 3; k++) {
        int e = b->m->triangle_edges[3 * (size_t)t + k];
        const int *end = b->m->edges + 2 * (size_t)e;
        if (e != skip && (b->heights[end[0]] >= 0) != (b->heights[end[1]] >= 0)) return e;
    }
    return -1;
}

/* Follow the contour through triangle t; returns the number of its edges, 0 when it is not closed. */
static int contour_follow(section_builder *b, int first)
{
    const mesh *m = b->m;
    int count = 0, t = first, edge = crossed_edge(b, first, -1);
    while (!b->visited[t]) {
        b->visited[t] = 1;
        edge = crossed_edge(b, t, edge);
        if (edge < 0 || m->edge_triangle_counts[edge] != 2) return 0;
        b->edges[count++] = edge;
        t = m->edge_triangles[2 * edge] == t ? m->edge_triangles[2 * edge + 1] : m->edge_triangles[2 * edge];
    }
    return t == first ? count : 0;
}

static float edge_along(const section_builder *b, int e)
{
    float h0 = b->heights[b->m->edges[2 * e]], h1 = b->heights[b->m->edges[2 * e + 1]];
    return h0 / (h0 - h1);
}

static vec3 edge_point(const float *positions, const int *end, float along)
{
    return vec3_lerp(vec3_load(positions + 3 * (size_t)end[0]), vec3_load(positions + 3 * (size_t)end[1]), along);
}

/* Area of the contour of builder->edges as seen along the axis, and whether it goes around `centre`. */
static double contour_area(const section_builder *b, int count, vec3 centre, vec3 axis, bool *around)
{
    vec3 u = vec3_orthogonal(axis), v = vec3_cross(axis, u);
    double area = 0, last_x = 0, last_y = 0;
    int turns = 0;

    /* around once: twice the area, and turns by crossings of the half line y = 0 */
    for (int i = -1; i < count; i++) {
        int e = b->edges[i < 0 ? count - 1 : i];

        vec3 p = vec3_sub(edge_point(b->m->positions, b->m->edges + 2 * (size_t)e, edge_along(b, e)), centre);
        double x = vec3_dot(p, u), y = vec3_dot(p, v);
        if (i >= 0) {
            double cross = last_x * y - x * last_y;
            area += cross / 2;
            if (last_y <= 0 && y > 0 && cross > 0) turns++;
            if (last_y > 0 && y <= 0 && cross < 0) turns--;
        }
        last_x = x;
        last_y = y;
    }

    *around = turns != 0;
    return fabs(area);
}

/* Whether the contour moves mostly with the bone. */
static bool contour_belongs(const section_builder *b, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        int e = b->edges[i];
        float along = edge_along(b, e);
        sum += (1 - along) * b->shares[b->m->edges[2 * e]] + along * b->shares[b->m->edges[2 * e + 1]];
    }
    return sum > 0.5 * count;
}

/* The section in the plane through centre at right angles to axis: edges in builder->best; returns how many. */
static int section_find(section_builder *b, vec3 centre, vec3 axis)
{
    const mesh *m = b->m;

    /* heights above the plane */
    for (int p = 0; p < m->point_count; p++)
        b->heights[p] = vec3_dot(vec3_sub(vec3_load(m->positions + 3 * (size_t)p), centre), axis);
    memset(b->visited, 0, (size_t)m->triangle_count);

    /* the smallest contour around the centre that belongs to the bone */
    int best_count = 0;
    double best_area = INFINITY;
    for (int t = 0; t < m->triangle_count; t++) {
        if (b->visited[t] || crossed_edge(b, t, -1) < 0) continue;
        int count = contour_follow(b, t);
        bool around = false;
        double area = count >= 3 ? contour_area(b, count, centre, axis, &around) : 0;
        if (!around || area < b->min_area || area >= best_area || !contour_belongs(b, count)) continue;
        best_area = area;
        best_count = count;
        memcpy(b->best, b->edges, (size_t)count * sizeof *b->best);
    }

    return best_count;
}

static vec3 joint_place(const section_builder *b, int joint)
{
    const float *m = b->joints + 12 * (size_t)joint;
    return (vec3){m[3], m[7], m[11]};
}

/* Share of each point's weight that is of the bone's joint, its parent and its children. */
static void shares_fill(section_builder *b, int joint)
{
    const cutis_character *c = b->character;
    for (int j = 0; j < c->joint_count; j++)
        b->near_bone[j] = j == joint || j == c->joints[joint].parent || c->joints[j].parent == joint;
    for (int p = 0; p < b->m->point_count; p++) {
        int vertex = c->point_vertices[p];
        b->shares[p] = 0;
        for (int i = c->influence_first[vertex]; i < c->influence_first[vertex + 1]; i++)
            if (b->near_bone[c->influence_joints[i]]) b->shares[p] += c->influence_weights[i];
    }
}

/* How far along `direction` from the joint the points that it moves reach. */
static float tip_distance(const section_builder *b, int joint, vec3 direction)
{
    const cutis_character *c = b->character;
    float reach = 0;

    for (int p = 0; p < b->m->point_count; p++) {
        int vertex = c->point_vertices[p];
        for (int i = c->influence_first[vertex]; i < c->influence_first[vertex + 1]; i++) {
            if (c->influence_joints[i] != joint || c->influence_weights[i] < 0.5f) continue;

            vec3 offset = vec3_sub(vec3_load(b->m->positions + 3 * (size_t)p), joint_place(b, joint));
            reach = fmaxf(reach, vec3_dot(offset, direction));
        }
    }

    return reach;
}

/* Length of the vector area. Taken from its first point, so that far places lose no digits. */
static double section_area(const section *s, const float *positions)
{
    double sum[3] = {0, 0, 0}, last[3] = {0, 0, 0};
    vec3 origin = edge_point(positions, s->ends, s->along[0]);
    for (int i = 1; i < s->point_count; i++) {
        vec3 p = edge_point(positions, s->ends + 2 * (size_t)i, s->along[i]);
        double d[3] = {(double)p.x - origin.x, (double)p.y - origin.y, (double)p.z - origin.z};
        for (int k = 0; k < 3; k++) sum[k] += last[(k + 1) % 3] * d[(k + 2) % 3] - last[(k + 2) % 3] * d[(k + 1) % 3];
        memcpy(last, d, sizeof last);
    }
    return sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / 2;
}

/* The sections of one bone. before: direction of the bone that leads to it, or zero. */
static bool bone_sections(section_builder *b, int joint, vec3 end, vec3 before)
{
    vec3 start = joint_place(b, joint), direction = vec3_normalize(vec3_sub(end, start));

    for (int station = 0; station < STATIONS; station++) {
        vec3 axis = direction;
        if (station == 0) {
            /* A bone that turns back on itself has no plane between; its own will do. */
            vec3 half = vec3_add(direction, before);
            if (vec3_length(half) > 0.1f) axis = vec3_normalize(half);
        }

        int count = section_find(b, vec3_lerp(start, end, (float)station / STATIONS), axis);
        if (count == 0) continue;

        /* as pairs of points, so that it can be found again in every frame */
        section *s = ARENA_ARRAY(b->memory, section, 1);
        int *ends = ARENA_ARRAY(b->memory, int, 2 * (size_t)count);
        float *along = ARENA_ARRAY(b->memory, float, count);
        if (!s || !ends || !along) return false;

        for (int i = 0; i < count; i++) {
            memcpy(ends + 2 * (size_t)i, b->m->edges + 2 * (size_t)b->best[i], 2 * sizeof *ends);
            along[i] = edge_along(b, b->best[i]);
        }

        *s = (section){b->sections, count, ends, along, 0};
        s->area = section_area(s, b->m->positions);
        b->sections = s;
    }
    return true;
}

static bool bones_walk(section_builder *b)
{
    const cutis_character *c = b->character;
    float min_length = 1e-3f * c->size;

    for (int j = 0; j < c->joint_count; j++) {
        if (!c->joints[j].deforms) continue;

        /* where the bone is, and where it comes from */
        int parent = c->joints[j].parent;
        vec3 place = joint_place(b, j), before = {0, 0, 0};
        if (parent >= 0) before = vec3_normalize(vec3_sub(place, joint_place(b, parent)));
        shares_fill(b, j);

        /* a section between the joint and each child */
        bool has_child = false;
        for (int child = j + 1; child < c->joint_count; child++) {
            if (c->joints[child].parent != j) continue;
            vec3 end = joint_place(b, child);
            if (vec3_distance(place, end) < min_length) continue;
            has_child = true;
            if (!bone_sections(b, j, end, before)) return false;
        }

        /* a bone without children goes on to the tip of its flesh */
        if (has_child || vec3_length2(before) == 0) continue;
        float reach = tip_distance(b, j, before);
        if (reach >= min_length && !bone_sections(b, j, vec3_madd(place, before, reach), before)) return false;
    }

    return true;
}

cutis_result sections_build(section **built, const cutis_character *character, const mesh *m, arena *memory,
                            cutis_error *error)
{
    *built = NULL;
    if (character->joint_count == 0 || !character->influence_first || m->triangle_count == 0) return CUTIS_OK;

    /* scratch of the search */
    arena temporary = arena_create(&memory->allocator);
    section_builder b = {.character = character, .m = m, .memory = memory};
    b.min_area = 1e-6 * (double)character->size * character->size;

    b.heights = ARENA_ARRAY(&temporary, float, m->point_count);
    b.shares = ARENA_ARRAY(&temporary, float, m->point_count);
    b.visited = ARENA_ARRAY(&temporary, uint8_t, m->triangle_count);
    b.edges = ARENA_ARRAY(&temporary, int, m->triangle_count);
    b.best = ARENA_ARRAY(&temporary, int, m->triangle_count);
    b.joints = ARENA_ARRAY(&temporary, float, 12 * (size_t)character->joint_count);
    b.near_bone = ARENA_ARRAY(&temporary, uint8_t, character->joint_count);

    /* the sections of all bones, at rest */
    bool ok = !temporary.failed;
    if (ok) {
        cutis_pose_rest(character, b.joints);
        ok = bones_walk(&b);
        *built = b.sections;
    }

    arena_destroy(&temporary);
    return ok ? CUTIS_OK : error_memory(error, "the sections");
}

double sections_ratio(const section *sections, const float *positions)
{
    double least = NAN;
    for (const section *s = sections; s; s = s->next) {
        double ratio = section_area(s, positions) / s->area;
        if (!(ratio >= least)) least = ratio;
    }
    return least;
}
