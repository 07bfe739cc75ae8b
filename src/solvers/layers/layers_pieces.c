/*
 * layers_pieces.c: the sub-volumes of the skin around joints, and which points answer for them.
 *
 * After Deul and Bender 2013, section 4.6. Cutting planes stand across the bones (parameter `cut`); a flood fill
 * between them gives pieces of the skin; each loop of cut edges is closed by a fan to a centre that moves with
 * the skeleton.
 * Departures:
 * - A cut runs along the edges nearest to its plane, between the points that the plane parts, and pieces tile the
 *   whole body: cuts that meet share one centre, so that the total volume is that of the pieces, also that of open
 *   parts (holes get fans like cuts).
 * - A correction is shared out smoothly between neighbouring pieces, so that no step shows at a cut.
 */
#include <string.h>

#include "solvers/layers/layers.h"
#include "solvers/layers/layers_limits.h"
#include "solvers/solver_kit.h"

/* ---- pieces ---- */

typedef struct pieces {
    const solver_build *build;
    layers_model *model;
    const mesh *m; /* in place order */
    int *labels;   /* (point_count) joint whose surroundings the point is in */
    int *piece;    /* (triangle_count) */
    int count;
} pieces;

/* The joint on whose side of the bone's cutting plane the point lies. */
static int point_label(const pieces *b, const vec3 *joints, int point)
{
    const cutis_character *character = b->build->character;
    const point_weights *weights = b->build->weights;

    int bone = -1, end = -1;
    float best = 0, nearest = 1e30f, along = 0;

    /* the bone that moves it most */
    for (int i = weights->first[point]; i < weights->first[point + 1]; i++)
        if (NEARER * weights->weights[i] > best) {
            best = weights->weights[i];
            bone = weights->joints[i];
        }
    if (bone < 0) return character->joint_count;

    /* the nearest of the lines to its children */
    vec3 p = vec3_load(b->build->mesh->positions + 3 * point);
    for (int c = bone + 1; c < character->joint_count; c++) {
        if (character->joints[c].parent != bone || !character->joints[c].deforms) continue;
        vec3 way = vec3_sub(joints[c], joints[bone]);
        float length2 = vec3_length2(way);
        if (!(length2 > 0)) continue;

        float t = vec3_dot(vec3_sub(p, joints[bone]), way) / length2;
        float clamped = CLAMP(t, 0.0f, 1.0f);
        float d2 = vec3_length2(vec3_sub(p, vec3_madd(joints[bone], way, clamped)));
        if (d2 < NEARER * nearest) {
            nearest = d2;
            end = c;
            along = t;
        }
    }

    /* beyond the cut it belongs to the child; joints may share with their parents */
    int label = end >= 0 && NEARER * along > (float)kit_bone_value(b->build, bone, LAYERS_CUT) ? end : bone;
    while (kit_bone_value(b->build, label, LAYERS_SHARE_VOLUME) != 0 && character->joints[label].parent >= 0)
        label = character->joints[label].parent;
    return label;
}

/* Number the connected runs of triangles of equal label. parents: (triangle_count) scratch, left with the roots. */
static void pieces_flood(pieces *b, int *parents)
{
    const mesh *m = b->m;

    /* triangles take the label of two corners */
    for (int t = 0; t < m->triangle_count; t++) {
        const int *c = m->triangles + 3 * t;
        int l0 = b->labels[c[0]], l1 = b->labels[c[1]], l2 = b->labels[c[2]];
        b->piece[t] = l1 == l2 ? l1 : l0;
        parents[t] = t;
    }

    /* joined across edges of equal label */
    for (int e = 0; e < m->edge_count; e++) {
        int s = m->edge_triangles[2 * e], t = m->edge_triangles[2 * e + 1];
        if (s < 0 || t < 0 || b->piece[s] != b->piece[t]) continue;
        forest_join(parents, s, t);
    }
}

/* What decides whether a run of triangles is a piece of its own. */
typedef struct piece_shape {
    int triangles;
    vec3 area;    /* the sum of its triangles' areas as vectors */
    float skin;   /* and that of their lengths */
    float border; /* in common with the piece in hand */
    bool bounded; /* has a neighbour */
} piece_shape;

static void shapes_find(const mesh *m, int *parents, piece_shape *shapes)
{
    memset(shapes, 0, (size_t)m->triangle_count * sizeof *shapes);

    for (int t = 0; t < m->triangle_count; t++) {
        const int *c = m->triangles + 3 * t;
        vec3 p = vec3_load(m->positions + 3 * c[0]), q = vec3_load(m->positions + 3 * c[1]);
        vec3 area = vec3_cross(vec3_sub(q, p), vec3_sub(vec3_load(m->positions + 3 * c[2]), p));

        piece_shape *shape = shapes + forest_root(parents, t);
        shape->triangles++;
        shape->area = vec3_add(shape->area, area);
        shape->skin += vec3_length(area);
    }

    /* pieces that have a border to others */
    for (int e = 0; e < m->edge_count; e++) {
        int s = m->edge_triangles[2 * e], t = m->edge_triangles[2 * e + 1];
        if (s < 0 || t < 0) continue;
        s = forest_root(parents, s);
        t = forest_root(parents, t);
        if (s != t) shapes[s].bounded = shapes[t].bounded = true;
    }
}

/* The neighbour with the longest border in common with `piece`, which has one. */
static int piece_neighbour(const mesh *m, int *parents, piece_shape *shapes, int piece)
{
    int best = -1;

    for (int e = 0; e < m->edge_count; e++) {
        int s = m->edge_triangles[2 * e], t = m->edge_triangles[2 * e + 1];
        if (s < 0 || t < 0) continue;
        s = forest_root(parents, s);
        t = forest_root(parents, t);

        if (s == t || (s != piece && t != piece)) continue;
        const int *ends = m->edges + 2 * e;
        int other = s == piece ? t : s;
        shapes[other].border +=
            vec3_distance(vec3_load(m->positions + 3 * ends[0]), vec3_load(m->positions + 3 * ends[1]));

        if (best < 0 || NEARER * shapes[other].border > shapes[best].border) best = other;
    }

    return best;
}

/*
 * Join what is no volume of its own to the neighbour with the longest common border, the smallest first: pieces of few
 * triangles, and patches, which do not go round their joint (the skin of a throat, or between the thighs). The volume
 * under a patch is what its fans make of it, and its own skin could hardly answer for that.
 */
static void pieces_join(const mesh *m, int *parents, piece_shape *shapes)
{
    for (;;) {
        /* the smallest of those that are no volume of their own */
        int piece = -1;
        shapes_find(m, parents, shapes);
        for (int root = 0; root < m->triangle_count; root++) {
            const piece_shape *shape = shapes + root;
            if (!shape->bounded) continue;
            if (shape->triangles >= PIECE_TRIANGLES && vec3_length(shape->area) <= PATCH_FLATNESS * shape->skin)
                continue;
            if (piece < 0 || shape->skin < NEARER * shapes[piece].skin) piece = root;
        }

        if (piece < 0) return;
        forest_join(parents, piece, piece_neighbour(m, parents, shapes, piece));
    }
}

/* ---- closing ---- */

/* Corners of the boundary half-edges of each piece: an edge of a triangle whose other side is not in the piece. */
static bool half_edge_open(const pieces *b, int t, int corner)
{
    int e = b->m->triangle_edges[3 * t + corner];
    int other = b->m->edge_triangles[2 * e] == t ? b->m->edge_triangles[2 * e + 1] : b->m->edge_triangles[2 * e];
    return other < 0 || b->piece[other] != b->piece[t];
}

/* Cut edges that hang together, and edges of holes, make a network; all its fans meet in one centre. */
typedef struct closing {
    int *order;    /* (triangle_count) triangles by piece */
    int *first;    /* (count + 2) */
    int *networks; /* (point_count) union-find over the points of cut edges */
    int *centres;  /* (point_count) centre of each network's root, else -1 */
    double *sums;  /* (centre_count x (joint_count + 4)) position, count, and weights of each network's points */
} closing;

/*
 * The networks of cut edges; returns how many. Pieces on both sides of an edge close it by the same triangle, so that
 * they tile the body, also where three of them meet.
 */
static int networks_find(const pieces *b, closing *c)
{
    const mesh *m = b->m;
    int count = 0;

    /* each point for itself */
    for (int v = 0; v < m->point_count; v++) {
        c->networks[v] = v;
        c->centres[v] = -1;
    }

    /* points of cut edges hang together */
    for (int t = 0; t < m->triangle_count; t++)
        for (int k = 0; k < 3; k++)
            if (half_edge_open(b, t, k))
                forest_join(c->networks, m->triangles[3 * t + k], m->triangles[3 * t + (k + 1) % 3]);

    /* a centre for each network */
    for (int t = 0; t < m->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            if (!half_edge_open(b, t, k)) continue;
            int root = forest_root(c->networks, m->triangles[3 * t + k]);
            if (c->centres[root] < 0) c->centres[root] = count++;
        }
    return count;
}

/* The centre of an open half-edge's network. */
static int centre_of(const closing *c, int point) { return c->centres[forest_root(c->networks, point)]; }

/* Positions and weights of the centres: means over the half-edges of their networks. */
static void centres_fill(const pieces *b, closing *c)
{
    layers_volumes *v = &b->model->volumes;
    const mesh *m = b->m;
    const point_weights *weights = b->build->weights;
    int joints = b->model->joint_count;

    for (int t = 0; t < m->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            if (!half_edge_open(b, t, k)) continue;

            int point = m->triangles[3 * t + k];
            int original = b->model->paths.points[point];
            double *sums = c->sums + (size_t)centre_of(c, point) * (size_t)(joints + 4);

            for (int a = 0; a < 3; a++) sums[a] += b->build->mesh->positions[3 * original + a];
            sums[3] += 1;
            for (int w = weights->first[original]; w < weights->first[original + 1]; w++)
                sums[4 + weights->joints[w]] += weights->weights[w];
        }

    /* means, and the heaviest eight joints */
    for (int centre = 0; centre < v->centre_count; centre++) {
        double *sums = c->sums + (size_t)centre * (size_t)(joints + 4);
        for (int a = 0; a < 3; a++) v->centre_rest[3 * centre + a] = (float)(sums[a] / sums[3]);

        int at = v->centre_first[centre];
        double kept = 0;
        for (int slot = 0; slot < 8; slot++) {
            int best = -1;
            for (int j = 0; j < joints; j++)
                if (sums[4 + j] > 0 && (best < 0 || sums[4 + j] > sums[4 + best])) best = j;
            if (best < 0) break;
            v->centre_joints[at] = best;
            v->centre_weights[at++] = (float)sums[4 + best];
            kept += sums[4 + best];
            sums[4 + best] = 0;
        }

        /* weights that sum to 1 */
        for (int w = v->centre_first[centre]; w < at; w++) v->centre_weights[w] = (float)(v->centre_weights[w] / kept);
        v->centre_first[centre + 1] = at;
    }
}

/* Whether the piece with its fans has no outline: its vector area vanishes. */
static bool piece_closed(const layers_volumes *v, int p, const float *positions)
{
    double sum[3] = {0}, total = 0;
    for (int t = v->triangle_first[p]; t < v->triangle_first[p + 1]; t++) {
        const int *c = v->triangles + 3 * t;
        vec3 a = vec3_load(positions + 3 * c[0]);
        vec3 n = vec3_cross(vec3_sub(vec3_load(positions + 3 * c[1]), a), vec3_sub(vec3_load(positions + 3 * c[2]), a));
        sum[0] += n.x;
        sum[1] += n.y;
        sum[2] += n.z;
        total += vec3_length(n);
    }
    return sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) < 1e-4 * total;
}

/* ---- shares ---- */

/*
 * How far the shares of point k go to the mean of its neighbours' in each pass for all passes to blend over `width`
 * (mean square, sizes), whatever the length of the edges.
 */
static float share_step(const mesh *m, int k, float width)
{
    int first = m->point_neighbour_first[k], last = m->point_neighbour_first[k + 1];
    float sum2 = 0;
    for (int i = first; i < last; i++) {
        vec3 other = vec3_load(m->positions + 3 * m->point_neighbours[i]);
        sum2 += vec3_length2(vec3_sub(other, vec3_load(m->positions + 3 * k)));
    }

    /* a pass of step s widens by s times the mean square of the edges */
    return sum2 > 0 ? MIN(width * width * (float)(last - first) / ((float)SHARE_PASSES * sum2), SHARE_STEP) : 0;
}

static void shares_smooth(const layers_model *model, int count, float *shares, float *next)
{
    const mesh *m = model->mesh;
    size_t n = (size_t)m->point_count, width = (size_t)count;

    for (int pass = 0; pass < SHARE_PASSES; pass++) {
        for (size_t k = 0; k < n; k++) {
            /* the mean of the neighbours */
            int degree = m->point_neighbour_first[k + 1] - m->point_neighbour_first[k];
            for (size_t p = 0; p < width; p++) next[k * width + p] = 0;
            for (int i = m->point_neighbour_first[k]; i < m->point_neighbour_first[k + 1]; i++) {
                const float *other = shares + (size_t)m->point_neighbours[i] * width;
                for (size_t p = 0; p < width; p++) next[k * width + p] += other[p];
            }

            /* a step towards it */
            float step = share_step(m, (int)k, SHARE_WIDTH * model->flesh[k]);
            for (size_t p = 0; p < width; p++)
                next[k * width + p] =
                    (1 - step) * shares[k * width + p] + step * next[k * width + p] / (float)MAX(degree, 1);
        }
        memcpy(shares, next, n * width * sizeof(float));
    }
}

/* The heaviest shares of each point, summing to 1. */
static void shares_pick(layers_volumes *v, int n, const float *shares)
{
    int at = 0;

    for (int k = 0; k < n; k++) {
        v->point_first[k] = at;
        float taken[SHARE_LIMIT], total = 0;
        int first = at;

        /* the largest shares, one after the other */
        for (int slot = 0; slot < SHARE_LIMIT; slot++) {
            int best = -1;
            for (int p = 0; p < v->count; p++) {
                float s = shares[(size_t)k * (size_t)v->count + (size_t)p];
                bool used = false;
                for (int i = first; i < at; i++) used = used || v->point_volumes[i] == p;
                if (s > 0.01f && !used && (best < 0 || s > shares[(size_t)k * (size_t)v->count + (size_t)best]))
                    best = p;
            }

            if (best < 0) break;
            taken[slot] = shares[(size_t)k * (size_t)v->count + (size_t)best];
            total += taken[slot];
            v->point_volumes[at++] = best;
        }

        /* that add up to 1 */
        for (int i = first; i < at; i++) v->point_shares[i] = taken[i - first] / total;
    }

    v->point_first[n] = at;
}

/* ---- build ---- */

static cutis_result pieces_find(pieces *b, arena *scratch, cutis_error *error)
{
    const mesh *m = b->m;
    const cutis_character *character = b->build->character;

    vec3 *joints = ARENA_ARRAY(scratch, vec3, character->joint_count + 1);
    int *parents = ARENA_ARRAY(scratch, int, m->triangle_count + 1);
    int *numbers = ARENA_ARRAY(scratch, int, m->triangle_count + 1);
    piece_shape *shapes = ARENA_ARRAY(scratch, piece_shape, m->triangle_count + 1);
    b->labels = ARENA_ARRAY(scratch, int, m->point_count);
    b->piece = ARENA_ARRAY(scratch, int, m->triangle_count + 1);
    if (scratch->failed) return error_memory(error, "the sub-volumes of solver layers");

    /* labels of points, then pieces of triangles */
    for (int j = 0; j < character->joint_count; j++) joints[j] = joint_bind_place(&character->joints[j]);
    for (int k = 0; k < m->point_count; k++) b->labels[k] = point_label(b, joints, b->model->paths.points[k]);
    pieces_flood(b, parents);
    pieces_join(m, parents, shapes);

    for (int t = 0; t < m->triangle_count; t++) {
        int root = forest_root(parents, t);
        if (root == t) numbers[t] = b->count++;
        b->piece[t] = numbers[root]; /* roots come before what hangs on them */
    }

    return CUTIS_OK;
}

/* Runs of triangles of one piece, for the threads. */
static cutis_result parts_build(layers_volumes *v, arena *memory, cutis_error *error)
{
    v->part_first = ARENA_ARRAY(memory, int, v->count + 1);
    if (!v->part_first) return error_memory(error, "the sub-volumes of solver layers");
    for (int p = 0; p < v->count; p++) {
        int triangles = v->triangle_first[p + 1] - v->triangle_first[p];
        v->part_first[p + 1] = v->part_first[p] + (triangles + LAYERS_PART_TRIANGLES - 1) / LAYERS_PART_TRIANGLES;
    }
    v->part_pieces = ARENA_ARRAY(memory, int, v->part_first[v->count] + 1);
    if (!v->part_pieces) return error_memory(error, "the sub-volumes of solver layers");
    for (int p = 0; p < v->count; p++)
        for (int part = v->part_first[p]; part < v->part_first[p + 1]; part++) v->part_pieces[part] = p;
    return CUTIS_OK;
}

static cutis_result volumes_close(pieces *b, arena *scratch, cutis_error *error)
{
    const mesh *m = b->m;
    layers_volumes *v = &b->model->volumes;
    arena *memory = b->build->memory;
    closing c = {.order = ARENA_ARRAY(scratch, int, m->triangle_count + 1),
                 .first = ARENA_ARRAY(scratch, int, b->count + 2),
                 .networks = ARENA_ARRAY(scratch, int, m->point_count),
                 .centres = ARENA_ARRAY(scratch, int, m->point_count)};
    if (scratch->failed) return error_memory(error, "the sub-volumes of solver layers");

    for (int t = 0; t < m->triangle_count; t++) c.first[b->piece[t] + 2]++;
    for (int p = 0; p < b->count; p++) c.first[p + 2] += c.first[p + 1];
    for (int t = 0; t < m->triangle_count; t++) c.order[c.first[b->piece[t] + 1]++] = t;

    /* room for them and for the fans of the cuts */
    int centres = networks_find(b, &c), open = 0;
    c.sums = ARENA_ARRAY(scratch, double, (size_t)centres *(size_t)(b->model->joint_count + 4) + 1);
    if (!c.sums) return error_memory(error, "the sub-volumes of solver layers");

    for (int t = 0; t < m->triangle_count; t++)
        for (int k = 0; k < 3; k++) open += half_edge_open(b, t, k);

    v->count = b->count;
    v->centre_count = centres;
    v->rest = ARENA_ARRAY(memory, double, b->count + 1);
    v->triangle_first = ARENA_ARRAY(memory, int, b->count + 1);
    v->triangles = ARENA_ARRAY(memory, int, 3 * (size_t)(m->triangle_count + open) + 1);
    v->shares = ARENA_ARRAY(memory, float, 3 * (size_t)(m->triangle_count + open) + 1);
    v->centre_rest = ARENA_ARRAY(memory, float, 3 * (size_t)centres + 1);
    v->centre_first = ARENA_ARRAY(memory, int, centres + 1);
    v->centre_joints = ARENA_ARRAY(memory, int, 8 * (size_t)centres + 1);
    v->centre_weights = ARENA_ARRAY(memory, float, 8 * (size_t)centres + 1);
    if (memory->failed) return error_memory(error, "the sub-volumes of solver layers");

    /* triangles of each piece, each open edge with its fan */
    int at = 0;
    centres_fill(b, &c);

    for (int p = 0; p < b->count; p++) {
        v->triangle_first[p] = at;
        for (int i = c.first[p]; i < c.first[p + 1]; i++) {
            int t = c.order[i];
            memcpy(v->triangles + 3 * at++, m->triangles + 3 * t, 3 * sizeof(int));

            for (int k = 0; k < 3; k++) {
                if (!half_edge_open(b, t, k)) continue;
                int from = m->triangles[3 * t + k], to = m->triangles[3 * t + (k + 1) % 3];
                int *fan = v->triangles + 3 * at++;
                fan[0] = to;
                fan[1] = from;
                fan[2] = m->point_count + centre_of(&c, from);
            }
        }
    }

    v->triangle_first[b->count] = at;
    return parts_build(v, memory, error);
}

static cutis_result shares_build(pieces *b, arena *scratch, cutis_error *error)
{
    layers_volumes *v = &b->model->volumes;
    const mesh *m = b->m;
    arena *memory = b->build->memory;
    size_t n = (size_t)m->point_count, dense = n * (size_t)MAX(v->count, 1);

    float *shares = ARENA_ARRAY(scratch, float, dense), *next = ARENA_ARRAY(scratch, float, dense);
    v->point_first = ARENA_ARRAY(memory, int, n + 1);
    v->point_volumes = ARENA_ARRAY(memory, int, SHARE_LIMIT *n);
    v->point_shares = ARENA_ARRAY(memory, float, SHARE_LIMIT *n);
    v->softness = ARENA_ARRAY(memory, float, n);
    if (scratch->failed || memory->failed) return error_memory(error, "the sub-volumes of solver layers");

    /* shares by the triangles around a point */
    for (int t = 0; t < m->triangle_count; t++)
        for (int k = 0; k < 3; k++)
            shares[(size_t)m->triangles[3 * t + k] * (size_t)v->count + (size_t)b->piece[t]] += 1;

    for (size_t k = 0; k < n; k++) {
        float total = 0;
        for (int p = 0; p < v->count; p++) total += shares[k * (size_t)v->count + (size_t)p];
        for (int p = 0; p < v->count && total > 0; p++) shares[k * (size_t)v->count + (size_t)p] /= total;
    }

    /* smoothed over the borders, the largest few kept */
    shares_smooth(b->model, v->count, shares, next);
    shares_pick(v, m->point_count, shares);

    const cutis_character *character = b->build->character;
    b->model->vertex_pieces = ARENA_ARRAY(memory, float, character->vertex_count + 1);
    if (!b->model->vertex_pieces) return error_memory(error, "the sub-volumes of solver layers");
    for (int i = 0; i < character->vertex_count; i++) {
        int k = b->model->paths.places[character->vertex_points[i]];
        if (v->point_first[k] < v->point_first[k + 1])
            b->model->vertex_pieces[i] = (float)v->point_volumes[v->point_first[k]];
    }

    /* shares of the triangles' corners */
    for (int p = 0; p < v->count; p++)
        for (int i = 3 * v->triangle_first[p]; i < 3 * v->triangle_first[p + 1]; i++) {
            int k = v->triangles[i];
            for (int s = k < m->point_count ? v->point_first[k] : 0; k < m->point_count && s < v->point_first[k + 1];
                 s++)
                if (v->point_volumes[s] == p) v->shares[i] = v->point_shares[s];
        }

    /* Flesh gives way by its depth; a thin cover of a bone does not. */
    float deepest = 0;
    for (size_t k = 0; k < n; k++) {
        float d2 = 0;
        for (int c = 0; c < 3; c++) {
            float d = b->model->regions.rest[c][4 * k + LAYER_BONE] - b->model->regions.rest[c][4 * k];
            d2 += d * d;
        }
        v->softness[k] = sqrtf(d2);
        deepest = MAX(deepest, v->softness[k]);
    }

    for (size_t k = 0; k < n; k++) v->softness[k] = MAX(v->softness[k] / deepest, 0.05f);
    v->deepest = deepest;

    v->areas = ARENA_ARRAY(memory, float, n);
    v->give = ARENA_ARRAY(memory, double, v->count + 1);
    v->depths = ARENA_ARRAY(memory, double, v->count + 1);
    v->freedom = ARENA_ARRAY(memory, float, v->count + 1);
    if (memory->failed) return error_memory(error, "the sub-volumes of solver layers");

    /* by how much each sub-volume grows when its points go out by their softness */
    mesh_point_areas(m, m->positions, v->areas);
    for (size_t k = 0; k < n; k++)
        for (int s = v->point_first[k]; s < v->point_first[k + 1]; s++)
            v->give[v->point_volumes[s]] += (double)(v->areas[k] * v->softness[k] * v->point_shares[s]);
    return CUTIS_OK;
}

cutis_result layers_volumes_build(const solver_build *build, layers_model *model, cutis_error *error)
{
    arena scratch = arena_create(&build->allocator);
    pieces b = {.build = build, .model = model, .m = model->mesh};
    layers_volumes *v = &model->volumes;

    cutis_result result = pieces_find(&b, &scratch, error);
    if (result == CUTIS_OK) result = volumes_close(&b, &scratch, error);
    if (result == CUTIS_OK) result = shares_build(&b, &scratch, error);

    /* skin and centres at rest */
    float *positions = NULL;
    int n = model->point_count;
    if (result == CUTIS_OK) {
        positions = ARENA_ARRAY(&scratch, float, 3 * (size_t)(n + v->centre_count) + 1);
        if (!positions) result = error_memory(error, "the sub-volumes of solver layers");
    }

    if (result == CUTIS_OK) {
        memcpy(positions, model->mesh->positions, 3 * (size_t)n * sizeof(float));
        for (int c = 0; c < v->centre_count; c++)
            for (int a = 0; a < 3; a++)
                positions[3 * (n + c) + a] = (v->centre_rest[3 * c + a] - model->centre[a]) / model->size;

        /* rest volumes; what is not closed has none */
        int dropped = 0;
        for (int p = 0; p < v->count; p++) {
            bool closed = piece_closed(v, p, positions);
            v->rest[p] = closed ? layers_volume_of(v, p, n, positions) : 0;
            dropped += !closed;
            v->depths[p] = v->give[p] > 0 ? MIN(fabs(v->rest[p]) / v->give[p], (double)v->deepest) : 0;
        }

        if (dropped > 0 && build->warn)
            build->warn(build->warn_context,
                        "layers: part of the surface is not orientable or not manifold; its volume is not conserved");
    }

    arena_destroy(&scratch);
    return result;
}
