/*
 * slide_system.c: the linear system of one step (Eqs. 6, 7 and 10), and its solution.
 *
 * With J = dX/du at a point (how the skin's rest place changes along the body), v the velocity of the skin along the
 * body, and g, H the gradient and Hessian of the energy in rest places X, moving the skin by v changes the place at
 * a point by -J v, so
 *
 *     (M + h^2 J^T H J) v' = M v + h (J^T g + b).
 *
 * Where the paper takes J per triangle (Eq. 5), this takes its mean over the triangles at the point: only then is
 * J^T g the exact derivative of the energy by the point's own movement (the difference does not vanish on finer
 * meshes: it is the gradient of the energy density). Attachments are eliminated: with the projection Q of each point
 * on the directions it may move in, the system Q A Q + (I - Q) with right side Q r has the solution of the KKT
 * system of Eq. (10) for g = 0; a test compares the two.
 *
 * The system is solved by preconditioned conjugate gradients from the last velocity on. Sums are taken in a fixed
 * order, so that the bits do not depend on threads.
 */
#include <string.h>

#include "solvers/slide/slide.h"
#include "solvers/solver_kit.h"

enum { TRIANGLE_GRAIN = 256, POINT_GRAIN = 512, ITERATION_LIMIT = 300, BLOCK_SIZE = 27 };

/* The solution is accepted when the residual has fallen to this part of the right side. */
static const double tolerance = 1e-4;
/* A body triangle smaller than this part of its rest area has no elasticity: it is collapsed. */
static const double least_area = 0.02;
/* Acceleration of a drag of strength 1, per distance: it closes in within about a tenth of a second. */
static const double drag_rate = 2500;

typedef struct pass {
    const slide_model *model;
    slide_scratch *s;
    const slide_place *places;
    const double *v;
    const double *a, *b;
    double *c;
    double alpha;
} pass;

static int next3(int k) { return k == 2 ? 0 : k + 1; }

/* ---- geometry ---- */

static void skin_points(void *context, int begin, int end)
{
    pass *p = context;
    for (int i = begin; i < end; i++) {
        slide_place_position(&p->model->atlas, &p->places[i], p->s->skin + 3 * i);
        slide_place_normal(&p->model->atlas, &p->places[i], p->s->normals + 3 * i);
    }
}

/* Edges (e1, e2) x the chart's inverse: the columns of the derivative of a linear map on the triangle by its chart. */
static inline void differentiate(const double slopes[4], const double *p0, const double *p1, const double *p2,
                                 d4 columns[2])
{
    d4 a = {p0[0], p0[1], p0[2], 0}, d1 = (d4){p1[0], p1[1], p1[2], 0} - a, d2 = (d4){p2[0], p2[1], p2[2], 0} - a;
    columns[0] = slopes[0] * d1;
    columns[1] = slopes[1] * d1 + slopes[2] * d2;
}

static inline double dot3(d4 a, d4 b)
{
    d4 c = a * b;
    return c[0] + c[1] + c[2];
}

static void triangle_metric(void *context, int begin, int end)
{
    pass *p = context;
    slide_scratch *s = p->s;
    const slide_atlas *atlas = &p->model->atlas;
    for (int t = begin; t < end; t++) {
        const int *c = atlas->mesh->triangles + 3 * t;
        const double *slopes = atlas->slopes[t];
        d4 fall[2], gamma[2];
        differentiate(slopes, s->x + 3 * c[0], s->x + 3 * c[1], s->x + 3 * c[2], gamma);
        differentiate(slopes, s->skin + 3 * c[0], s->skin + 3 * c[1], s->skin + 3 * c[2], fall);

        /* A third of the mass of the skin that lies on the triangle; a floor keeps every point movable. */
        double xy = dot3(fall[0], fall[1]), spread2 = dot3(fall[0], fall[0]) * dot3(fall[1], fall[1]) - xy * xy;
        double mass = slopes[3] * (sqrt(slide_max(spread2, 1e-4)) / 3), floor = 1e-3 * mass;
        s->metric[t][0] = mass * dot3(gamma[0], gamma[0]) + floor;
        s->metric[t][1] = mass * dot3(gamma[0], gamma[1]);
        s->metric[t][2] = mass * dot3(gamma[1], gamma[1]) + floor;
    }
}

/* The mean of the derivatives of the triangles around a point, by area, in the point's frame; 3 x 2. */
static inline void differentiate_at(const slide_model *model, const double *positions, int i, double mean[6])
{
    const mesh *m = model->atlas.mesh;
    const double *own = positions + 3 * i;
    d4 x = d4_set(0), y = d4_set(0), a = {own[0], own[1], own[2], 0};
    for (int n = m->point_neighbour_first[i]; n < m->point_neighbour_first[i + 1]; n++) {
        const double *other = positions + 3 * m->point_neighbours[n], *c = model->stencils[n];
        d4 d = (d4){other[0], other[1], other[2], 0} - a;
        x += c[0] * d;
        y += c[1] * d;
    }
    for (int e = 0; e < 3; e++) {
        mean[2 * e] = x[e];
        mean[2 * e + 1] = y[e];
    }
}

static void point_body(void *context, int begin, int end)
{
    pass *p = context;
    for (int i = begin; i < end; i++) differentiate_at(p->model, p->s->x, i, p->s->gammas[i]);
}

static void point_skin(void *context, int begin, int end)
{
    pass *p = context;
    slide_scratch *s = p->s;
    const slide_model *model = p->model;
    const mesh *m = model->atlas.mesh;
    for (int i = begin; i < end; i++) {
        double mean[6], inertia[3] = {0};
        differentiate_at(model, s->skin, i, mean);
        for (int n = m->point_triangle_first[i]; n < m->point_triangle_first[i + 1]; n++) {
            const double *turn = model->fans[n], *metric = s->metric[m->point_triangles[n]];
            double co = turn[0], si = turn[1], xx = metric[0], xy = metric[1], yy = metric[2];
            double ax = xx * co + xy * si, bx = xy * co + yy * si, ay = xy * co - xx * si, by = yy * co - xy * si;
            inertia[0] += co * ax + si * bx;
            inertia[1] += co * ay + si * by;
            inertia[2] += co * by - si * ay;
        }

        /* A place moves along the surface; the rounded normal does not jump where the chart changes. */
        const double *q = model->allowed[i];
        double n[3], size = 0;
        for (int e = 0; e < 3; e++) {
            n[e] = s->normals[3 * i + e];
            size += n[e] * n[e];
        }
        double scale = size > 0 ? 1 / size : 0;
        double n0 = scale * (n[0] * mean[0] + n[1] * mean[2] + n[2] * mean[4]);
        double n1 = scale * (n[0] * mean[1] + n[1] * mean[3] + n[2] * mean[5]);
        for (int e = 0; e < 3; e++) {
            double x = mean[2 * e] - n0 * n[e], y = mean[2 * e + 1] - n1 * n[e];
            s->jacobians[i][2 * e] = x * q[0] + y * q[1];
            s->jacobians[i][2 * e + 1] = x * q[1] + y * q[2];
        }
        memcpy(s->inertia[i], inertia, sizeof inertia);
    }
}

void slide_skin_points(const slide_model *model, slide_scratch *s, const slide_place *places, const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s, .places = places};
    parallel_for(jobs, model->point_count, POINT_GRAIN, skin_points, &p);
}

void slide_system_body(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s};
    parallel_for(jobs, model->point_count, POINT_GRAIN, point_body, &p);
}

void slide_system_skin(const slide_model *model, slide_scratch *s, const slide_place *places, const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s, .places = places};
    parallel_for(jobs, model->point_count, POINT_GRAIN, skin_points, &p);
    parallel_for(jobs, model->triangle_count, TRIANGLE_GRAIN, triangle_metric, &p);
    parallel_for(jobs, model->point_count, POINT_GRAIN, point_skin, &p);
}

/* ---- elements ---- */

/* Four triangles: what their elements are made of. */
typedef struct element_input {
    slide_body body;
    d4 places[3][3], normal[3], stiffness;
    d4_mask whole; /* not collapsed */
} element_input;

/* Triangles t to t + 3; those behind `end` repeat the last. */
static void load_elements(const pass *p, int t, int end, element_input *in)
{
    const slide_scratch *s = p->s;
    const slide_atlas *atlas = &p->model->atlas;
    d4 x[3][3], area;
    const int *c[4];
    for (int lane = 0; lane < 4; lane++) {
        int own = t + lane < end ? t + lane : end - 1;
        c[lane] = atlas->mesh->triangles + 3 * own;
        area[lane] = atlas->slopes[own][3];
        in->stiffness[lane] = p->model->stiffness[own];
    }
    for (int k = 0; k < 3; k++) {
        int i0 = 3 * c[0][k], i1 = 3 * c[1][k], i2 = 3 * c[2][k], i3 = 3 * c[3][k];
        for (int e = 0; e < 3; e++) {
            x[k][e] = (d4){s->x[i0 + e], s->x[i1 + e], s->x[i2 + e], s->x[i3 + e]};
            in->places[k][e] = (d4){s->skin[i0 + e], s->skin[i1 + e], s->skin[i2 + e], s->skin[i3 + e]};
            d4 n = {s->normals[i0 + e], s->normals[i1 + e], s->normals[i2 + e], s->normals[i3 + e]};
            in->normal[e] = k == 0 ? n : in->normal[e] + n;
        }
    }
    in->body = slide_body_make((const d4(*)[3])x, p->model->material.stretch);
    in->whole = (in->body.area > least_area * area) & (area > 0);
}

/* One row of blocks for each of four triangles, from columns for all four. */
static void store_columns(double *const to[4], const d4 *columns, int count)
{
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        d4 m[4] = {columns[i], columns[i + 1], columns[i + 2], columns[i + 3]};
        d4_transpose(m);
        for (int lane = 0; lane < 4; lane++) d4_store(to[lane] + i, m[lane]);
    }
    for (; i < count; i++)
        for (int lane = 0; lane < 4; lane++) to[lane][i] = columns[i][lane];
}

/* Blocks of a pass's triangles t to t + 3 of those before end. */
static void element_block(const pass *p, int t, int end)
{
    slide_scratch *s = p->s;
    double unused[BLOCK_SIZE], *to[4];
    element_input in;
    slide_element element;
    load_elements(p, t, end, &in);
    slide_element_make(&p->model->material, in.stiffness, &in.body, (const d4(*)[3])in.places, in.normal, true,
                       &element);
    d4 zero = d4_set(0), altitude = d4_select(in.whole, element.altitude, d4_set(HUGE_VAL));
    d4 larger = d4_select(in.whole, element.stress[0], zero), smaller = d4_select(in.whole, element.stress[1], zero);
    const int *c[4];
    for (int lane = 0; lane < 4; lane++) {
        int own = t + lane;
        c[lane] = p->model->atlas.mesh->triangles + 3 * (own < end ? own : end - 1);
        to[lane] = own < end ? s->blocks[own] : unused;
        if (own >= end) continue;
        s->altitudes[own] = altitude[lane];
        s->stress[own][0] = larger[lane];
        s->stress[own][1] = smaller[lane];
    }

    /* The factors and the gradient by the unknowns: along the axes of the skin triangle. */
    d4 f[6][6], block[BLOCK_SIZE];
    for (int k = 0; k < 3; k++) {
        d4 j[6], local[3][2];
        const double *j0 = s->jacobians[c[0][k]], *j1 = s->jacobians[c[1][k]];
        const double *j2 = s->jacobians[c[2][k]], *j3 = s->jacobians[c[3][k]];
        for (int e = 0; e < 6; e++) j[e] = (d4){j0[e], j1[e], j2[e], j3[e]};
        for (int a = 0; a < 3; a++) {
            const d4 *axis = element.axes[a];
            local[a][0] = j[0] * axis[0] + j[2] * axis[1] + j[4] * axis[2];
            local[a][1] = j[1] * axis[0] + j[3] * axis[1] + j[5] * axis[2];
        }
        for (int e = 0; e < 2; e++) {
            d4 g = local[0][e] * element.gradient[k][0] + local[1][e] * element.gradient[k][1];
            block[2 * k + e] = d4_select(in.whole, g, zero);
            for (int i = 0; i < 4; i++)
                f[i][2 * k + e] = local[0][e] * element.factors[i][k][0] + local[1][e] * element.factors[i][k][1];
            for (int i = 4; i < 6; i++) f[i][2 * k + e] = local[2][e] * element.factors[i][k][0];
        }
    }

    /* Sum of weighted squares: the upper triangle. */
    for (int i = 0; i < 6; i++) element.weights[i] = d4_select(in.whole, element.weights[i], zero);
    int at = 6;
    for (int a = 0; a < 6; a++) {
        d4 weighted[6];
        for (int i = 0; i < 6; i++) weighted[i] = element.weights[i] * f[i][a];
        for (int b = a; b < 6; b++) {
            d4 sum = weighted[0] * f[0][b];
            for (int i = 1; i < 6; i++) sum += weighted[i] * f[i][b];
            block[at++] = sum;
        }
    }
    store_columns(to, block, BLOCK_SIZE);
}

static void element_blocks(void *context, int begin, int end)
{
    for (int t = begin; t < end; t += 4) element_block(context, t, end);
}

void slide_system_elements(const slide_model *model, slide_scratch *s, const slide_place *places,
                           const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s, .places = places};
    parallel_for(jobs, model->triangle_count, TRIANGLE_GRAIN, element_blocks, &p);
}

double slide_system_energy(const slide_model *model, slide_scratch *s, const slide_place *places)
{
    pass p = {.model = model, .s = s, .places = places};
    double sum = 0;
    for (int t = 0; t < model->triangle_count; t += 4) {
        element_input in;
        load_elements(&p, t, model->triangle_count, &in);
        d4 energy =
            slide_element_energy(&model->material, in.stiffness, &in.body, (const d4(*)[3])in.places, in.normal);
        for (int lane = 0; lane < 4 && t + lane < model->triangle_count; lane++)
            if (in.whole[lane]) sum += energy[lane];
    }
    for (int i = 0; i < model->point_count && model->ligament > 0; i++) {
        double length = 0;
        for (int e = 0; e < 3; e++) {
            double d = s->skin[3 * i + e] - model->atlas.positions[3 * i + e];
            length += d * d;
        }
        double over = slide_max(sqrt(length) - model->slack, 0);
        sum += 0.5 * model->ligament * model->ligament * model->areas[i] * over * over;
    }
    return sum;
}

/* ---- assembly ---- */

/* Where the 2 x 2 block of corners (own, other) is kept in the upper triangle of a 6 x 6 matrix. */
static const uint8_t upper[3][3][4] = {{{0, 1, 1, 6}, {2, 3, 7, 8}, {4, 5, 9, 10}},
                                       {{2, 7, 3, 8}, {11, 12, 12, 15}, {13, 14, 16, 17}},
                                       {{4, 9, 5, 10}, {13, 16, 14, 17}, {18, 19, 19, 20}}};

/* The ligaments of a point: springs over its area to the body point, once the slack is used up. */
static void add_ligament(const slide_model *model, const slide_scratch *s, int i, double f[2], double k[3])
{
    double d[3], length = 0;
    for (int e = 0; e < 3; e++) {
        d[e] = s->skin[3 * i + e] - model->atlas.positions[3 * i + e];
        length += d[e] * d[e];
    }
    length = sqrt(length);
    if (!(length > model->slack) || !(length > 0)) return;
    double pull = model->ligament * model->ligament * model->areas[i], across = 1 - model->slack / length;
    const double *j = s->jacobians[i];
    double u[2] = {0, 0}, jj[3] = {0, 0, 0};
    for (int e = 0; e < 3; e++) {
        u[0] += j[2 * e] * d[e] / length;
        u[1] += j[2 * e + 1] * d[e] / length;
        jj[0] += j[2 * e] * j[2 * e];
        jj[1] += j[2 * e] * j[2 * e + 1];
        jj[2] += j[2 * e + 1] * j[2 * e + 1];
    }
    for (int e = 0; e < 2; e++) f[e] += pull * (length - model->slack) * u[e];
    k[0] += pull * (across * jj[0] + (1 - across) * u[0] * u[0]);
    k[1] += pull * (across * jj[1] + (1 - across) * u[0] * u[1]);
    k[2] += pull * (across * jj[2] + (1 - across) * u[1] * u[1]);
}

static void point_rows(void *context, int begin, int end)
{
    pass *p = context;
    slide_scratch *s = p->s;
    const slide_model *model = p->model;
    const mesh *m = model->atlas.mesh;
    double h = model->h, hh = h * h;
    for (int i = begin; i < end; i++) {
        for (int n = m->point_neighbour_first[i]; n < m->point_neighbour_first[i + 1]; n++)
            memset(s->rows[n], 0, sizeof s->rows[n]);
        double f[2] = {0, 0}, k[3] = {0, 0, 0};
        for (int n = m->point_triangle_first[i]; n < m->point_triangle_first[i + 1]; n++) {
            int t = m->point_triangles[n];
            const int *c = m->triangles + 3 * t;
            int own = c[0] == i ? 0 : c[1] == i ? 1 : 2;
            const double *block = s->blocks[t], *h6 = block + 6;
            f[0] += block[2 * own];
            f[1] += block[2 * own + 1];
            const uint8_t *u = upper[own][own];
            k[0] += h6[u[0]];
            k[1] += h6[u[1]];
            k[2] += h6[u[3]];
            for (int o = 0, other = next3(own); o < 2; o++, other = next3(other)) {
                double *row = s->rows[model->slots[6 * t + 2 * own + o]];
                u = upper[own][other];
                for (int e = 0; e < 4; e++) row[e] += hh * h6[u[e]];
            }
        }
        if (model->ligament > 0) add_ligament(model, s, i, f, k);

        /* Inertia and right side in the directions that may move; the others are put to zero by (I - Q). */
        const double *q = model->allowed[i], *mass = s->inertia[i];
        double v0 = p->v[2 * i], v1 = p->v[2 * i + 1];
        double r0 = mass[0] * v0 + mass[1] * v1 + h * f[0], r1 = mass[1] * v0 + mass[2] * v1 + h * f[1];
        if (model->gravity != 0) {
            const double *g = s->gammas[i], weight = h * model->gravity * model->areas[i];
            r0 -= weight * g[2];
            r1 -= weight * g[3];
        }
        double damp = 1 + h * model->damping;
        double a = mass[0] * q[0] + mass[1] * q[1], b = mass[0] * q[1] + mass[1] * q[2];
        double c = mass[1] * q[0] + mass[2] * q[1], d = mass[1] * q[1] + mass[2] * q[2];
        double level = mass[0] + mass[2] > 0 ? mass[0] + mass[2] : 1;
        s->diagonal[i][0] = damp * (q[0] * a + q[1] * c) + hh * k[0] + level * (1 - q[0]);
        s->diagonal[i][1] = damp * (q[0] * b + q[1] * d) + hh * k[1] - level * q[1];
        s->diagonal[i][2] = damp * (q[1] * b + q[2] * d) + hh * k[2] + level * (1 - q[2]);
        s->right[2 * i] = q[0] * r0 + q[1] * r1;
        s->right[2 * i + 1] = q[1] * r0 + q[2] * r1;
    }
}

void slide_system_assemble(const slide_model *model, slide_scratch *s, const double *v, const cutis_drag *drags,
                           int drag_count, const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s, .v = v};
    parallel_for(jobs, model->point_count, POINT_GRAIN, point_rows, &p);
    for (int i = 0; i < drag_count; i++) {
        if (drags[i].vertex < 0 || drags[i].vertex >= model->character->vertex_count) continue;
        int point = model->character->vertex_points[drags[i].vertex];
        const double *g = s->gammas[point], *q = model->allowed[point];
        double f[2] = {0, 0}, strength = CLAMP((double)drags[i].strength, 0, 1);
        strength *= model->h * drag_rate * model->areas[point];
        for (int e = 0; e < 3; e++) {
            double pull = strength * ((double)drags[i].target[e] / model->unit - s->x[3 * point + e]);
            if (!(fabs(pull) < 1e15)) pull = 0;
            f[0] += g[2 * e] * pull;
            f[1] += g[2 * e + 1] * pull;
        }
        s->right[2 * point] += q[0] * f[0] + q[1] * f[1];
        s->right[2 * point + 1] += q[1] * f[0] + q[2] * f[1];
    }
}

static bool accelerated(const solver_input *input)
{
    return input->acceleration[0] != 0 || input->acceleration[1] != 0 || input->acceleration[2] != 0;
}

bool slide_pushed(const slide_model *model, const solver_input *input)
{
    return model->gravity != 0 || input->drag_count > 0 || input->impulse_count > 0 || accelerated(input);
}

void slide_system_push(const slide_model *model, slide_scratch *s, const solver_input *input)
{
    if (!accelerated(input) && input->impulse_count == 0) return;
    for (int i = 0; i < model->point_count; i++) {
        /* the gain of velocity, sizes/s; what is across the body does not move the skin */
        const double *x = s->x + 3 * i;
        vec3 place = {(float)(x[0] * model->unit), (float)(x[1] * model->unit), (float)(x[2] * model->unit)};
        vec3 gain = vec3_madd(kit_blow(input, place), vec3_load(input->acceleration), (float)model->h);
        const double along[3] = {gain.x / model->unit, gain.y / model->unit, gain.z / model->unit};

        /* as a push of the point's mass, in the directions that may move */
        const double *g = s->gammas[i], *q = model->allowed[i];
        double f[2] = {0, 0};
        for (int e = 0; e < 3; e++) {
            f[0] += g[2 * e] * along[e] * model->areas[i];
            f[1] += g[2 * e + 1] * along[e] * model->areas[i];
        }
        s->right[2 * i] += q[0] * f[0] + q[1] * f[1];
        s->right[2 * i + 1] += q[1] * f[0] + q[2] * f[1];
    }
}

/* ---- solution ---- */

static void multiply_rows(void *context, int begin, int end)
{
    pass *p = context;
    const slide_scratch *s = p->s;
    const mesh *m = p->model->atlas.mesh;
    const double *v = p->a;
    for (int i = begin; i < end; i++) {
        const double *d = s->diagonal[i];
        double x = d[0] * v[2 * i] + d[1] * v[2 * i + 1], y = d[1] * v[2 * i] + d[2] * v[2 * i + 1];
        for (int n = m->point_neighbour_first[i]; n < m->point_neighbour_first[i + 1]; n++) {
            const double *row = s->rows[n], *w = v + 2 * m->point_neighbours[n];
            x += row[0] * w[0] + row[1] * w[1];
            y += row[2] * w[0] + row[3] * w[1];
        }
        p->c[2 * i] = x;
        p->c[2 * i + 1] = y;
    }
}

void slide_system_multiply(const slide_model *model, slide_scratch *s, const double *vector, double *image,
                           const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s, .a = vector, .c = image};
    parallel_for(jobs, model->point_count, POINT_GRAIN, multiply_rows, &p);
}

/* Sum of products in fixed blocks: four chains of additions, so that it does not wait for each. */
static double dot(const double *a, const double *b, int count)
{
    double sum[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; k++) sum[k] += a[i + k] * b[i + k];
    for (; i < count; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/*
 * The preconditioner K E^-1 K^T with K = E + L, L the entries below the diagonal D of the system and E chosen such that
 * its diagonal is D: E_i = D_i - sum over k < i of A_ik E_k^-1 A_ki. A quarter of the work of an incomplete
 * factorisation, and nearly its effect.
 */
static void precondition_make(const slide_model *model, slide_scratch *s)
{
    const mesh *m = model->atlas.mesh;
    for (int i = 0; i < model->point_count; i++) {
        const double *d = s->diagonal[i];
        double xx = d[0], xy = d[1], yy = d[2], level = xx * yy - xy * xy;
        for (int n = m->point_neighbour_first[i]; n < m->point_neighbour_first[i + 1]; n++) {
            int k = m->point_neighbours[n];
            if (k > i) break;
            const double *a = s->rows[n], *e = s->inverse[k];
            double p = a[0] * e[0] + a[1] * e[1], q = a[0] * e[1] + a[1] * e[2];
            double r = a[2] * e[0] + a[3] * e[1], t = a[2] * e[1] + a[3] * e[2];
            xx -= p * a[0] + q * a[1];
            xy -= p * a[2] + q * a[3];
            yy -= r * a[2] + t * a[3];
        }
        double det = xx * yy - xy * xy;
        if (!(xx > 0 && yy > 0 && det > 1e-3 * level)) {
            xx = d[0];
            xy = d[1];
            yy = d[2];
            det = level;
        }
        double scale = det > 0 ? 1 / det : 0;
        s->pivots[i][0] = xx;
        s->pivots[i][1] = xy;
        s->pivots[i][2] = yy;
        s->inverse[i][0] = yy * scale;
        s->inverse[i][1] = -xy * scale;
        s->inverse[i][2] = xx * scale;
    }
}

/* K x = r, from the first point to the last; x may be r. */
static void solve_forward(const slide_model *model, const slide_scratch *s, const double *r, double *x)
{
    const mesh *m = model->atlas.mesh;
    const int *first = m->point_neighbour_first, *neighbours = m->point_neighbours;
    for (int i = 0; i < model->point_count; i++) {
        double u = r[2 * i], v = r[2 * i + 1];
        for (int n = first[i]; n < first[i + 1] && neighbours[n] < i; n++) {
            const double *a = s->rows[n], *w = x + 2 * neighbours[n];
            u -= a[0] * w[0] + a[1] * w[1];
            v -= a[2] * w[0] + a[3] * w[1];
        }
        const double *e = s->inverse[i];
        x[2 * i] = e[0] * u + e[1] * v;
        x[2 * i + 1] = e[1] * u + e[2] * v;
    }
}

/* K^T x = r, from the last point to the first. */
static void solve_backward(const slide_model *model, const slide_scratch *s, const double *r, double *x)
{
    const mesh *m = model->atlas.mesh;
    const int *first = m->point_neighbour_first, *neighbours = m->point_neighbours;
    for (int i = model->point_count - 1; i >= 0; i--) {
        double u = r[2 * i], v = r[2 * i + 1];
        for (int n = first[i + 1] - 1; n >= first[i] && neighbours[n] > i; n--) {
            const double *a = s->rows[n], *w = x + 2 * neighbours[n];
            u -= a[0] * w[0] + a[1] * w[1];
            v -= a[2] * w[0] + a[3] * w[1];
        }
        const double *e = s->inverse[i];
        x[2 * i] = e[0] * u + e[1] * v;
        x[2 * i + 1] = e[1] * u + e[2] * v;
    }
}

/*
 * z = E r by blocks; returns r . z, which is the square of the residual in the norm of the preconditioner.
 */
static double weigh(const slide_model *model, const slide_scratch *s, const double *r, double *z)
{
    double sum[2] = {0, 0};
    for (int i = 0; i < model->point_count; i++) {
        const double *e = s->pivots[i], u = r[2 * i], v = r[2 * i + 1];
        z[2 * i] = e[0] * u + e[1] * v;
        z[2 * i + 1] = e[1] * u + e[2] * v;
        sum[0] += u * z[2 * i];
        sum[1] += v * z[2 * i + 1];
    }
    return sum[0] + sum[1];
}

/*
 * Conjugate gradients for K^-1 A K^-T, by Eisenstat (1981, "Efficient implementation of a class of preconditioned
 * conjugate gradient methods"): as A = K + K^T + D - 2 E, its product with p is t + K^-1 (p + (D - 2 E) t) with
 * t = K^-T p, so that an iteration goes through the matrix once and not twice.
 */
int slide_system_solve(const slide_model *model, slide_scratch *s, double *v, double *residual, const cutis_jobs *jobs)
{
    int count = 2 * model->point_count, iterations = 0;
    double *r = s->residual, *z = s->smooth, *p = s->search, *t = s->image, *w = s->moves;
    double goal = tolerance * sqrt(dot(s->right, s->right, count));
    slide_system_multiply(model, s, v, t, jobs);
    for (int i = 0; i < count; i++) r[i] = s->right[i] - t[i];
    double size = sqrt(dot(r, r, count));
    *residual = goal > 0 ? size / goal * tolerance : 0;
    /* What is not solved at all would add up from step to step: a start must be better than what is accepted later. */
    if (!(size > 0.1 * goal)) return 0;

    precondition_make(model, s);
    solve_forward(model, s, r, r);
    double rz = weigh(model, s, r, z), first = rz, enough = first * (goal / size) * (goal / size);
    memcpy(p, z, (size_t)count * sizeof *p);
    while ((rz > enough || iterations == 0) && iterations < ITERATION_LIMIT) {
        solve_backward(model, s, p, t);
        for (int i = 0; i < model->point_count; i++) {
            const double *d = s->diagonal[i], *e = s->pivots[i], *own = t + 2 * i;
            double xx = d[0] - 2 * e[0], xy = d[1] - 2 * e[1], yy = d[2] - 2 * e[2];
            w[2 * i] = p[2 * i] + xx * own[0] + xy * own[1];
            w[2 * i + 1] = p[2 * i + 1] + xy * own[0] + yy * own[1];
        }
        solve_forward(model, s, w, w);
        for (int i = 0; i < count; i++) w[i] += t[i];
        double curvature = dot(p, w, count);
        if (!(curvature > 0)) break;
        double alpha = rz / curvature, last = rz;
        for (int i = 0; i < count; i++) {
            v[i] += alpha * t[i];
            r[i] -= alpha * w[i];
        }
        rz = weigh(model, s, r, z);
        iterations++;
        double beta = rz / last;
        for (int i = 0; i < count; i++) p[i] = z[i] + beta * p[i];
    }
    *residual *= sqrt(rz / first);
    return iterations;
}
