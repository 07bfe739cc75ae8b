/*
 * springs_bulge.c: flesh that is pressed in comes out beside.
 *
 * Flesh is all but incompressible. The anchors know nothing of it: each point gives way alone. So the volume that
 * pressed points lose (area x distance inwards from the reference shape) is handed to the skin around them, within a
 * few depths of flesh along the surface, as an offset outwards of what that skin is anchored to. It is read from the
 * skin at the end of a substep, and acts in the next; most of what it was before stays, so that skin in a fold does not
 * rock.
 */
#include <string.h>

#include "solvers/springs/springs.h"

/* How far a pressed point's volume goes, in depths of its flesh, and at least in mean edges. */
static const float REACH = 3, REACH_EDGES = 2;
/* A point that is pressed in by this share of its flesh takes none of it. */
static const float TAKES_NONE = 0.1f;
/* Farthest offset, over the depth of flesh, and the greatest depth that counts, in sizes: more would stand out as
 * lumps. */
static const float FARTHEST = 0.5f, MOST_FLESH = 0.015f;
/* Share of the last substep's offset that stays, and the offset below which nothing is left, in sizes. */
static const float STAYS = 0.8f, NOTHING = 1e-6f;

vec3 springs_point_normal(const mesh *skin, const float *places, int p)
{
    vec3 sum = {0, 0, 0};
    for (int i = skin->point_triangle_first[p]; i < skin->point_triangle_first[p + 1]; i++) {
        const int *t = skin->triangles + 3 * skin->point_triangles[i];
        vec3 a = vec3_load(places + NODE * t[0]);
        vec3 b = vec3_sub(vec3_load(places + NODE * t[1]), a), c = vec3_sub(vec3_load(places + NODE * t[2]), a);
        sum = vec3_add(sum, vec3_cross(b, c));
    }
    return vec3_length2(sum) > 0 ? vec3_normalize(sum) : sum;
}

/* How far each point lies inwards of the reference shape. */
static bool inwards_find(const springs_run *run, float *inwards)
{
    const springs_model *m = run->m;
    bool any = false;
    for (int p = 0; p < m->point_count; p++) {
        vec3 off = vec3_sub(vec3_load(run->s.reference + NODE * p), vec3_load(run->s.x + NODE * p));
        inwards[p] = 0;
        if (!(vec3_length2(off) > NOTHING * NOTHING) || run->s.released[p] > 0) continue;
        inwards[p] = MAX(vec3_dot(off, springs_point_normal(m->skin, run->s.reference, p)), 0.0f);
        any = any || inwards[p] > 0;
    }
    return any;
}

/* How readily a point takes volume of one at `distance`. */
static float takes(const springs_model *m, const float *inwards, int q, float distance, float reach)
{
    if (m->frozen[q]) return 0;
    float near = 1 - distance / reach;
    float free = 1 - MIN(inwards[q] / (TAKES_NONE * m->flesh[q]), 1.0f);
    return m->area[q] * near * near * free;
}

/* Hand the volume of a pressed point to those around it, reached along the surface. */
static void volume_spread(const springs_run *run, int p, const float *inwards, float *bulge)
{
    const springs_model *m = run->m;
    const mesh *skin = m->skin;
    const float *rest = m->mesh.positions;

    int *queue = run->w.queue, count = 1;
    uint8_t *marks = run->w.marks;

    float reach = MAX(REACH * m->flesh[p], REACH_EDGES * m->surface.edge_mean), total = 0;
    vec3 at = vec3_load(rest + 3 * p);
    queue[0] = p;
    marks[p] = 1;
    for (int i = 0; i < count; i++) {
        int from = queue[i];
        for (int k = skin->point_neighbour_first[from]; k < skin->point_neighbour_first[from + 1]; k++) {
            int q = skin->point_neighbours[k];

            float distance = vec3_distance(vec3_load(rest + 3 * q), at);
            if (marks[q] || distance >= reach) continue;
            marks[q] = 1;
            queue[count++] = q;
            total += takes(m, inwards, q, distance, reach);
        }
    }

    /* each takes its share */
    float volume = m->bulge[p] * m->area[p] * inwards[p];
    for (int i = 0; i < count; i++) {
        int q = queue[i];
        float distance = vec3_distance(vec3_load(rest + 3 * q), at);
        if (i > 0 && total > 0) bulge[q] += volume * takes(m, inwards, q, distance, reach) / (total * m->area[q]);
        marks[q] = 0;
    }
}

/* The mean with the neighbours' offsets, as points of uneven meshes take uneven shares. */
static float even_out(const springs_model *m, const float *fresh, const float *inwards, int p)
{
    int first = m->skin->point_neighbour_first[p], last = m->skin->point_neighbour_first[p + 1], count = 0;
    float sum = 0;
    for (int k = first; k < last; k++) {
        int q = m->skin->point_neighbours[k];
        if (inwards[q] > TAKES_NONE * m->flesh[q]) continue;
        sum += fresh[q];
        count++;
    }
    return count > 0 ? 0.5f * (fresh[p] + sum / (float)count) : fresh[p];
}

void springs_bulge_find(springs_run *run)
{
    const springs_model *m = run->m;
    float *inwards = run->w.end, *fresh = run->w.end + m->point_count;
    bool any = inwards_find(run, inwards);

    /* what pressed points lose */
    memset(fresh, 0, (size_t)m->point_count * sizeof *fresh);
    memset(run->w.marks, 0, (size_t)m->point_count);
    for (int p = 0; any && p < m->point_count; p++)
        if (inwards[p] > NOTHING && m->bulge[p] > 0) volume_spread(run, p, inwards, fresh);

    /* evened out, limited, and smoothed over time */
    for (int p = 0; p < m->point_count; p++) {
        float next = STAYS * run->s.bulge[p] +
                     (1 - STAYS) * MIN(even_out(m, fresh, inwards, p), FARTHEST * MIN(m->flesh[p], MOST_FLESH));
        run->s.bulge[p] = next > NOTHING ? next : 0;
    }
}

void springs_bulge_apply(springs_run *run)
{
    const springs_model *m = run->m;
    memcpy(run->w.target, run->s.reference, (size_t)m->point_count * NODE * sizeof(float));
    for (int p = 0; p < m->point_count; p++) {
        if (!(run->s.bulge[p] > 0)) continue;
        float *x = run->w.target + NODE * p;
        vec3_store(x, vec3_madd(vec3_load(x), springs_point_normal(m->skin, run->s.reference, p), run->s.bulge[p]));
    }
}
