/*
 * layers_apart.c: inner layers as they are shown: none turns over, so that none passes through another.
 *
 * Contact presses the skin of a crease below its fat, and the layers of two bones that bend overlap. The flesh between
 * a triangle of one layer and the same triangle of the next is a prism; while the skin does not cross itself and no
 * prism is turned over, the flesh of one place is not that of another. Prisms lower than a share of their height at
 * rest are projected in turn: the skin stays, fat, muscle and bone layer make way. What is shown this way does not act
 * on the simulation: fed back, the projections make the skin of a crease tremble (docs/solvers/layers.md).
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

/*
 * Raise the prism below layer l of triangle t to its least height, and mark its points with the sweep; returns whether
 * it was turned over.
 */
static bool prism_raise(layers_run *run, int t, int l, int sweep)
{
    const int *corners = run->m->mesh->triangles + 3 * t;
    float **x = run->w.shown;
    vec3 middle[3];
    vec3 column = {0, 0, 0};

    /* its height */
    for (int k = 0; k < 3; k++) {
        int i = LAYERS * corners[k] + l;
        vec3 upper = vec3_make(x[0][i], x[1][i], x[2][i]);
        vec3 lower = vec3_make(x[0][i + 1], x[1][i + 1], x[2][i + 1]);
        middle[k] = vec3_add(upper, lower);
        column = vec3_add(column, vec3_sub(upper, lower));
    }
    vec3 normal = vec3_normalize(vec3_cross(vec3_sub(middle[1], middle[0]), vec3_sub(middle[2], middle[0])));
    float height = vec3_dot(column, normal) / 3;
    float missing = run->m->least[LAYER_BONE * t + l] - height;
    if (!(missing > 0)) return false;

    /* the skin stays, other layers share the way */
    float step = APART_STEP * missing * (l == LAYER_SKIN ? 1 : 0.5f);
    for (int k = 0; k < 3; k++) {
        int i = LAYERS * corners[k] + l;
        for (int c = 0; c < 3; c++) {
            x[c][i] += l == LAYER_SKIN ? 0 : step * (&normal.x)[c];
            x[c][i + 1] -= step * (&normal.x)[c];
        }
        run->w.marks[corners[k]] = (uint8_t)(sweep + 1);
    }
    return height <= 0;
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
            for (int l = 0; l < LAYER_BONE; l++) turned |= prism_raise(run, t, l, sweep);
        }
    }

    parallel_for(run->input->jobs, m->point_count, POINT_GRAIN, layers_return, run);
}
