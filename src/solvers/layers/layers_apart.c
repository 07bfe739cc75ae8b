/*
 * layers_apart.c: inner layers as they are shown: none turns over, so that none passes through another.
 *
 * Contact presses the skin of a crease below its fat, and the layers of two bones that bend overlap. The flesh between
 * a triangle of one layer and the same triangle of the next is a prism; while the skin does not cross itself and no
 * prism is turned over, the flesh of one place is not that of another. Prisms lower than a share of their height at
 * rest are projected in turn: the skin stays, fat, muscle and bone layer make way along the normal of the prism. Where
 * a prism faces away from its skin, as the layers of a wide head on a thin neck do in a bend, its normal leads out of
 * the body, and its columns are drawn towards the skin instead. What is shown this way does not act on the simulation:
 * fed back, the projections make the skin of a crease tremble (docs/reference/solvers/layers.md).
 */
#include <float.h>
#include <string.h>

#include "solvers/layers/layers_step.h"

/* ---- heights ---- */

/* Mean heights of the prisms below each layer over LANES triangles from first on, the last one repeated. */
static void heights_find(const mesh *skin, float *const x[3], int first, vfloat heights[LAYER_BONE])
{
    int32_t at[3][LANES];
    vfloat corners[3][3][LAYERS];

    /* the layers of the corners */
    for (int lane = 0; lane < LANES; lane++)
        for (int k = 0; k < 3; k++)
            at[k][lane] = LAYERS * skin->triangles[3 * MIN(first + lane, skin->triangle_count - 1) + k];
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++) v_load4(x[c], at[k], corners[k][c]);

    for (int l = 0; l < LAYER_BONE; l++) {
        vfloat sides[2][3], columns[3], product = v_set(0), length2 = v_set(0);

        /* the triangle in the middle of the prism, and its columns */
        for (int c = 0; c < 3; c++) {
            vfloat sums[3];
            for (int k = 0; k < 3; k++) sums[k] = corners[k][c][l] + corners[k][c][l + 1];
            for (int k = 0; k < 2; k++) sides[k][c] = sums[k + 1] - sums[0];
            columns[c] = v_set(0);
            for (int k = 0; k < 3; k++) columns[c] = columns[c] + (corners[k][c][l] - corners[k][c][l + 1]);
        }

        /* columns along its normal */
        for (int c = 0; c < 3; c++) {
            int d = (c + 1) % 3, e = (c + 2) % 3;
            vfloat normal = sides[0][d] * sides[1][e] - sides[0][e] * sides[1][d];
            product = product + normal * columns[c];
            length2 = length2 + normal * normal;
        }
        heights[l] = product / (v_set(3) * v_sqrt(length2) + v_set(FLT_MIN));
    }
}

void layers_apart_build(layers_model *model)
{
    const mesh *skin = model->mesh;
    for (int t = 0; t < skin->triangle_count; t += LANES) {
        vfloat heights[LAYER_BONE];
        heights_find(skin, model->regions.rest, t, heights);

        /* a share of those at rest */
        for (int l = 0; l < LAYER_BONE; l++) {
            float values[LANES];
            v_store(values, heights[l]);
            for (int lane = 0; lane < MIN(LANES, skin->triangle_count - t); lane++)
                model->least[LAYER_BONE * (t + lane) + l] = APART_SHARE * MAX(values[lane], LEAST_DEPTH);
        }
    }
}

/* ---- search ---- */

/* Where the layers are shown: as far from the simulated ones as before, and coming back. */
static void layers_carry(void *context, int begin, int end)
{
    layers_run *run = context;
    float keep = (float)det_exp(-run->h / APART_TIME);
    for (int c = 0; c < 3; c++)
        for (int i = LAYERS * begin; i < LAYERS * end; i++)
            run->w.shown[c][i] = run->s.x[c][i] + keep * run->s.apart[c][i];
}

/* Mark the triangles with a prism that is too low. */
static void prisms_mark(void *context, int begin, int end)
{
    layers_run *run = context;
    for (int t = begin; t < end; t += LANES) {
        vfloat heights[LAYER_BONE];
        heights_find(run->m->mesh, run->w.shown, t, heights);

        for (int lane = 0; lane < MIN(LANES, end - t); lane++) run->w.prism_marks[t + lane] = 0;
        for (int l = 0; l < LAYER_BONE; l++) {
            float values[LANES];
            v_store(values, heights[l]);
            for (int lane = 0; lane < MIN(LANES, end - t); lane++)
                run->w.prism_marks[t + lane] |= values[lane] < run->m->least[LAYER_BONE * (t + lane) + l];
        }
    }
}

/* The marked triangles, and those around them that projections may lower; returns how many. */
static int prisms_list(layers_run *run)
{
    const mesh *skin = run->m->mesh;
    int *list = run->w.prisms;
    int count = 0;
    for (int t = 0; t < skin->triangle_count; t++)
        if (run->w.prism_marks[t]) list[count++] = t;

    for (int ring = 0, next = 0; ring < APART_RINGS; ring++) {
        for (int last = count; next < last; next++) {
            for (int k = 0; k < 3; k++) {
                int p = skin->triangles[3 * list[next] + k];
                for (int i = skin->point_triangle_first[p]; i < skin->point_triangle_first[p + 1]; i++) {
                    int t = skin->point_triangles[i];
                    if (!run->w.prism_marks[t]) list[count++] = t;
                    run->w.prism_marks[t] = 1;
                }
            }
        }
    }

    return count;
}

/* ---- projection ---- */

/* The prisms below the layers of one triangle, a component each; the last layer has none. */
typedef struct prisms {
    vrecord normals[3]; /* unit, of the triangles in the middle of the prisms */
    vrecord heights;
} prisms;

/* corners: the layers of each, component by component. */
static inline prisms prisms_measure(vrecord corners[3][3])
{
    prisms found;
    vrecord sides[2][3], columns[3];

    /* the triangles in the middle of the prisms, by twice their sides, and the sums of their columns */
    for (int c = 0; c < 3; c++) {
        vrecord middles[3];
        columns[c] = (vrecord){0};
        for (int k = 0; k < 3; k++) {
            vrecord upper = corners[k][c];
            vrecord lower = __builtin_shufflevector(upper, upper, 1, 2, 3, 3);
            middles[k] = upper + lower;
            columns[c] = columns[c] + (upper - lower);
        }
        for (int k = 0; k < 2; k++) sides[k][c] = middles[k + 1] - middles[0];
    }

    /* their normals, mean columns along them; what has no area has no height */
    vrecord *n = found.normals;
    for (int c = 0; c < 3; c++) {
        int d = (c + 1) % 3, e = (c + 2) % 3;
        n[c] = sides[0][d] * sides[1][e] - sides[0][e] * sides[1][d];
    }
    vrecord length = record_sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    vrecord inverse = 1 / (length + record_where(length <= 0, 1));
    for (int c = 0; c < 3; c++) n[c] = n[c] * inverse;
    found.heights = (columns[0] * n[0] + columns[1] * n[1] + columns[2] * n[2]) / 3;
    return found;
}

/* Whether the prism below layer l faces away from the skin of its triangle. */
static bool prism_faces_away(vrecord corners[3][3], const prisms *now, int l)
{
    float product = 0;
    for (int c = 0; c < 3; c++) {
        int d = (c + 1) % 3, e = (c + 2) % 3;
        float normal = (corners[1][d][0] - corners[0][d][0]) * (corners[2][e][0] - corners[0][e][0]) -
                       (corners[1][e][0] - corners[0][e][0]) * (corners[2][d][0] - corners[0][d][0]);
        product += normal * now->normals[c][l];
    }
    return product < 0;
}

/*
 * Raise the prisms of triangle t that are too low, from the skin down, and mark its points with the sweep; returns
 * whether one was turned over.
 */
static bool prisms_raise(layers_run *run, int t, int sweep)
{
    /* the skin stays, other layers share the way */
    static const vrecord shares[LAYER_BONE] = {{0, -1, 0, 0}, {0, 0.5f, -0.5f, 0}, {0, 0, 0.5f, -0.5f}};
    const int *points = run->m->mesh->triangles + 3 * t;
    const float *least = run->m->least + LAYER_BONE * t;
    vrecord corners[3][3];
    bool turned = false, raised = false;

    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++) corners[k][c] = record_load(run->w.shown[c] + LAYERS * points[k]);

    /* each in turn, as those above leave it */
    prisms now = prisms_measure(corners);
    for (int l = 0; l < LAYER_BONE; l++) {
        float missing = least[l] - now.heights[l];
        if (!(missing > 0)) continue;
        turned |= now.heights[l] <= 0;
        raised = true;

        bool drawn = prism_faces_away(corners, &now, l);
        for (int c = 0; c < 3; c++) {
            vrecord way = APART_STEP * missing * now.normals[c][l] * shares[l];
            for (int k = 0; k < 3; k++)
                corners[k][c] = corners[k][c] + (drawn ? APART_DRAW * (corners[k][c][0] - corners[k][c]) : way);
        }
        if (l + 1 < LAYER_BONE) now = prisms_measure(corners);
    }
    if (!raised) return false;

    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++) memcpy(run->w.shown[c] + LAYERS * points[k], &corners[k][c], sizeof corners[k][c]);
        run->w.marks[points[k]] = (uint8_t)(sweep + 1);
    }
    return turned;
}

/* How far the shown layers are from the simulated ones: no further than some depths of the flesh. */
static void layers_return(void *context, int begin, int end)
{
    layers_run *run = context;
    for (int k = begin; k < end; k++) {
        int at = LAYERS * k;
        float away2[LAYERS] = {0};
        for (int c = 0; c < 3; c++)
            for (int l = 0; l < LAYERS; l++) {
                float apart = run->w.shown[c][at + l] - run->s.x[c][at + l];
                run->s.apart[c][at + l] = apart;
                away2[l] += apart * apart;
            }

        float most = APART_MOST * run->m->flesh[k];
        for (int l = 0; l < LAYERS; l++) {
            if (away2[l] <= most * most) continue;
            for (int c = 0; c < 3; c++) {
                run->s.apart[c][at + l] *= most / sqrtf(away2[l]);
                run->w.shown[c][at + l] = run->s.x[c][at + l] + run->s.apart[c][at + l];
            }
        }
    }
}

void layers_apart(layers_run *run)
{
    const layers_model *m = run->m;

    /* where prisms are low */
    parallel_for(run->input->jobs, m->point_count, POINT_GRAIN, layers_carry, run);
    parallel_for(run->input->jobs, m->mesh->triangle_count, POINT_GRAIN, prisms_mark, run);
    int count = prisms_list(run);

    /* to and fro, until none is turned over; a prism that nothing has moved since it was looked at is as it was */
    bool turned = true;
    memset(run->w.marks, 0, (size_t)m->point_count);
    for (int sweep = 0; sweep < APART_SWEEPS && turned; sweep++) {
        turned = false;
        for (int i = 0; i < count; i++) {
            int t = run->w.prisms[sweep % 2 ? count - 1 - i : i];
            const int *v = m->mesh->triangles + 3 * t;
            const uint8_t *moved = run->w.marks;
            if (moved[v[0]] < sweep && moved[v[1]] < sweep && moved[v[2]] < sweep) continue;
            turned |= prisms_raise(run, t, sweep);
        }
    }

    parallel_for(run->input->jobs, m->point_count, POINT_GRAIN, layers_return, run);
}
