/*
 * slide_system.c: the energy of a configuration, and the linear system of one Newton iteration (Eqs. 6, 7 and 10).
 *
 * With J = dX/du at a point (how the skin's rest place changes along the body), q the way of the skin along the body in
 * a step, and g, H the gradient and Hessian of the energy in rest places X, moving the skin by q changes the place at a
 * point by -J q: the force is J^T g and the system (c M + J^T H J) dq = r, with c and r those of the time integration
 * (slide_step.c). Where the paper takes J per triangle (Eq. 5), this takes its mean over the triangles at the point:
 * only then is J^T g the exact derivative of the energy by the point's own movement (the difference does not vanish on
 * finer meshes: it is the gradient of the energy density). Attachments are eliminated: with the projection Q of each
 * point on the directions it may move in, the system Q A Q + (I - Q) with right side Q r has the solution of the KKT
 * system of Eq. (10); a test compares the two.
 *
 * Points that may not move, and triangles all of whose corners may not, are left out.
 */
#include <string.h>

#include "solvers/slide/slide.h"

enum { TRIANGLE_GRAIN = 256, POINT_GRAIN = 512 };

/* Where the blocks of a triangle's Hessian begin that are those of a corner with the next. */
enum { OFF_DIAGONAL = 12 };

/*
 * Way over which dry friction grows to its largest, in sizes: skin that sticks gives way by less. A shorter way makes
 * friction stiffer against the steps and shows in no picture.
 */
static const double FRICTION_REACH = 2e-4;

/* Acceleration of a drag of strength 1, per distance: it closes in within about a tenth of a second. */
static const double drag_rate = 2500;

typedef struct pass {
    const slide_model *model;
    slide_scratch *s;
    const slide_place *places;
    const slide_increment *increment;
    const int *triangles;
} pass;

static int next3(int k) { return k == 2 ? 0 : k + 1; }

/* ---- geometry ---- */

void slide_skin_point(const slide_model *model, slide_scratch *s, int point, const slide_place *place,
                      const slide_spot *spot)
{
    memcpy(s->skin + 3 * point, spot->position, sizeof spot->position);
    slide_place_normal(&model->atlas, place, s->normals + 3 * point);
}

static void skin_points(void *context, int begin, int end)
{
    pass *p = context;
    for (int i = begin; i < end; i++) slide_skin_point(p->model, p->s, i, &p->places[i], &p->s->spots[i]);
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

static void point_inertia(void *context, int begin, int end)
{
    const pass *p = context;
    const mesh *m = p->model->atlas.mesh;
    const double *metrics = &p->s->metrics[0][0][0]; /* by corner, 4 each */

    for (int a = begin; a < end; a++) {
        int i = p->model->free_points[a];
        d4 sum = d4_set(0);

        for (int n = m->point_triangle_first[i]; n < m->point_triangle_first[i + 1]; n++) {
            int corner = p->model->fans[n];
            sum += p->s->masses[m->point_triangles[n]] * d4_load(metrics + 4 * (size_t)corner);
        }
        for (int e = 0; e < 3; e++) p->s->inertia[i][e] = sum[e];
    }
}

/* The derivative of the place at a point by the skin's way, in the tangent plane of the rounded surface. */
static void point_jacobian(void *context, int begin, int end)
{
    pass *p = context;
    slide_scratch *s = p->s;
    const slide_model *model = p->model;
    for (int a = begin; a < end; a++) {
        int i = model->free_points[a];
        double mean[6];

        differentiate_at(model, s->skin, i, mean);

        /* without the part along the normal, in the directions that may move */
        const double *q = model->allowed[i];
        double n[3];
        double square = slide_spot_cross(&s->spots[i], n);
        double scale = square > 0 ? 1 / square : 0;
        double n0 = scale * (n[0] * mean[0] + n[1] * mean[2] + n[2] * mean[4]);
        double n1 = scale * (n[0] * mean[1] + n[1] * mean[3] + n[2] * mean[5]);
        for (int e = 0; e < 3; e++) {
            double x = mean[2 * e] - n0 * n[e];
            double y = mean[2 * e + 1] - n1 * n[e];
            s->jacobians[i][2 * e] = x * q[0] + y * q[1];
            s->jacobians[i][2 * e + 1] = x * q[1] + y * q[2];
        }
    }
}

void slide_point_derivative(const slide_model *model, const slide_scratch *s, int point, double derivative[6])
{
    differentiate_at(model, s->skin, point, derivative);
}

void slide_skin_known(const slide_model *model, slide_scratch *s, const slide_place *places, const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s, .places = places};
    parallel_for(jobs, model->point_count, POINT_GRAIN, skin_points, &p);
}

void slide_skin_points(const slide_model *model, slide_scratch *s, const slide_place *places, const cutis_jobs *jobs)
{
    for (int i = 0; i < model->point_count; i++) s->spots[i] = slide_place_rounded(&model->atlas, &places[i]);
    slide_skin_known(model, s, places, jobs);
}

void slide_system_body(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s};
    parallel_for(jobs, model->point_count, POINT_GRAIN, point_body, &p);
}

void slide_system_jacobians(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s};
    parallel_for(jobs, model->free_count, POINT_GRAIN, point_jacobian, &p);
}

void slide_system_inertia(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s};
    parallel_for(jobs, model->free_count, POINT_GRAIN, point_inertia, &p);
}

/* ---- elements ---- */

/* The vectors (of points, 3 each) at corner k of four triangles. */
static inline void load_corners(const double *vectors, const int *const corners[4], int k, d4 to[3])
{
    const double *a = vectors + 3 * corners[0][k], *b = vectors + 3 * corners[1][k];
    const double *c = vectors + 3 * corners[2][k], *d = vectors + 3 * corners[3][k];
    for (int e = 0; e < 3; e++) to[e] = (d4){a[e], b[e], c[e], d[e]};
}

/* gamma^T gamma of four triangles, in the frames of the points at their corners. A floor keeps every point movable. */
static void store_metrics(const pass *p, const int triangles[4], const d4 metric[3])
{
    static const double floor = 1e-3;
    const slide_atlas *atlas = &p->model->atlas;
    d4 xx = metric[0], xy = metric[1], yy = metric[2];
    d4 turns[4];
    for (int lane = 0; lane < 4; lane++) turns[lane] = d4_load(atlas->turns[triangles[lane]][0]);
    d4_transpose(turns);

    for (int k = 0; k < 3; k++) {
        d4 co = turns[(2 * k) % 4], si = turns[(2 * k + 1) % 4];
        for (int lane = 0; lane < 4 && k == 2; lane++) {
            co[lane] = atlas->turns[triangles[lane]][2][0];
            si[lane] = atlas->turns[triangles[lane]][2][1];
        }

        d4 ax = xx * co + xy * si, bx = xy * co + yy * si;
        d4 ay = xy * co - xx * si, by = yy * co - xy * si;
        d4 m[4] = {co * ax + si * bx + floor, co * ay + si * by, co * by - si * ay + floor, d4_set(0)};
        d4_transpose(m);
        for (int lane = 0; lane < 4; lane++) d4_store(p->s->metrics[triangles[lane]][k], m[lane]);
    }
}

/* Shapes of the body's triangles, which stay as they are while the skin moves. */
static void body_shapes(void *context, int begin, int end)
{
    const pass *p = context;
    const mesh *m = p->model->atlas.mesh;
    for (int t = begin; t < end; t += 4) {
        /* those behind the end repeat the last */
        int triangles[4];
        const int *c[4];
        d4 slopes[4], x[3][3];
        for (int lane = 0; lane < 4; lane++) {
            triangles[lane] = t + lane < end ? t + lane : end - 1;
            c[lane] = m->triangles + 3 * triangles[lane];
            slopes[lane] = d4_load(p->model->atlas.slopes[triangles[lane]]);
        }
        d4_transpose(slopes);
        for (int k = 0; k < 3; k++) load_corners(p->s->x, c, k, x[k]);

        /* all four at once */
        d4 metric[3];
        slide_body body = slide_body_make(slopes, (const d4(*)[3])x, p->model->material.stretch, metric);
        store_metrics(p, triangles, metric);

        d4 shapes[4] = {body.area, body.b[1][0], body.b[1][1], body.b[2][1]};
        d4_transpose(shapes);
        for (int lane = 0; lane < 4; lane++) d4_store(p->s->shapes[triangles[lane]], shapes[lane]);
    }
}

void slide_system_shapes(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s};
    parallel_for(jobs, model->triangle_count, TRIANGLE_GRAIN, body_shapes, &p);
}

/* Four triangles: what their elements are made of. */
typedef struct element_input {
    int triangles[4];
    slide_body body;
    d4 places[3][3], normal[3], stiffness;
    d4_mask whole; /* has an area at rest */
} element_input;

/* Triangles list[at] to list[at + 3]; those behind `end` repeat the last. */
static void load_elements(const slide_model *model, const slide_scratch *s, const int *list, int at, int end,
                          element_input *in)
{
    const slide_atlas *atlas = &model->atlas;
    d4 shapes[4];
    const int *c[4];

    /* what a triangle has */
    for (int lane = 0; lane < 4; lane++) {
        int own = list[at + lane < end ? at + lane : end - 1];
        in->triangles[lane] = own;
        c[lane] = atlas->mesh->triangles + 3 * own;
        shapes[lane] = d4_load(s->shapes[own]);
        in->stiffness[lane] = model->stiffness[own];
    }

    /* what its corners have */
    for (int k = 0; k < 3; k++) {
        d4 n[3];
        load_corners(s->skin, c, k, in->places[k]);
        load_corners(s->normals, c, k, n);
        for (int e = 0; e < 3; e++) in->normal[e] = k == 0 ? n[e] : in->normal[e] + n[e];
    }

    /* the shape of the body */
    d4_transpose(shapes);
    in->whole = shapes[0] > 0;
    in->body.area = shapes[0];
    in->body.b[1][0] = shapes[1];
    in->body.b[1][1] = shapes[2];
    in->body.b[2][0] = d4_set(0);
    in->body.b[2][1] = shapes[3];
    in->body.b[0][0] = -shapes[1];
    in->body.b[0][1] = -shapes[2] - shapes[3];
}

/* Hessian and gradient of each of four triangles, from columns for all four. */
static void store_columns(slide_scratch *s, const int triangles[4], const d4 *hessian, const d4 *gradient)
{
    for (int i = 0; i < SLIDE_HESSIAN_SIZE; i += 4) {
        d4 m[4] = {hessian[i], hessian[i + 1], hessian[i + 2], hessian[i + 3]};
        d4_transpose(m);
        for (int lane = 0; lane < 4; lane++) d4_store(s->hessians[triangles[lane]] + i, m[lane]);
    }
    for (int i = 0; i < SLIDE_GRADIENT_SIZE; i += 4) {
        d4 m[4] = {gradient[i], gradient[i + 1], gradient[i + 2], gradient[i + 3]};
        d4_transpose(m);
        for (int lane = 0; lane < 4; lane++) d4_store(s->gradients[triangles[lane]] + i, m[lane]);
    }
}

/* A third of the skin that lies on each of four triangles; a floor keeps every point movable. */
static void store_masses(const pass *p, const element_input *in, d4 area)
{
    for (int lane = 0; lane < 4; lane++) {
        int own = in->triangles[lane];
        p->s->masses[own] = slide_max(area[lane], 0.01 * p->model->atlas.slopes[own][3]) / 3;
    }
}

/* Blocks and energies of the free triangles at to at + 3 of those before end. */
static void element_block(const pass *p, int at, int end)
{
    slide_scratch *s = p->s;
    element_input in;
    slide_element element;

    /* energy and its derivatives by the places */
    load_elements(p->model, s, p->model->free_triangles, at, end, &in);
    slide_element_make(&p->model->material, in.stiffness, &in.body, (const d4(*)[3])in.places, in.normal, true,
                       &element);
    store_masses(p, &in, element.skin);

    d4 zero = d4_set(0);
    d4 energy = d4_select(in.whole, element.energy, zero);
    const int *c[4];
    for (int lane = 0; lane < 4; lane++) {
        int own = in.triangles[lane];
        c[lane] = p->model->atlas.mesh->triangles + 3 * own;
        s->energies[own] = energy[lane];
    }

    /* The factors and the gradient by the unknowns: along the axes of the skin triangle. */
    d4 f[6][6], hessian[SLIDE_HESSIAN_SIZE], gradient[SLIDE_GRADIENT_SIZE] = {0};
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
            gradient[2 * k + e] = d4_select(in.whole, g, zero);
            for (int i = 0; i < 4; i++)
                f[i][2 * k + e] = local[0][e] * element.factors[i][k][0] + local[1][e] * element.factors[i][k][1];
            for (int i = 4; i < 6; i++) f[i][2 * k + e] = local[2][e] * element.factors[i][k][0];
        }
    }

    /* Sum of weighted squares: each corner with itself and with the next. */
    for (int i = 0; i < 6; i++) element.weights[i] = d4_select(in.whole, element.weights[i], zero);
    for (int k = 0; k < 3; k++) {
        for (int e = 0; e < 2; e++) {
            d4 weighted[6];
            for (int i = 0; i < 6; i++) weighted[i] = element.weights[i] * f[i][2 * k + e];
            for (int o = 0; o < 4; o++) {
                /* a block on the diagonal is symmetric */
                if (e == 1 && o == 0) {
                    hessian[4 * k + 2] = hessian[4 * k + 1];
                    continue;
                }
                int other = 2 * (o < 2 ? k : next3(k)) + o % 2;
                d4 sum = weighted[0] * f[0][other];
                for (int i = 1; i < 6; i++) sum += weighted[i] * f[i][other];
                hessian[(o < 2 ? 0 : OFF_DIAGONAL) + 4 * k + 2 * e + o % 2] = sum;
            }
        }
    }

    store_columns(s, in.triangles, hessian, gradient);
}

static void element_blocks(void *context, int begin, int end)
{
    for (int at = begin; at < end; at += 4) element_block(context, at, end);
}

static void element_energies(void *context, int begin, int end)
{
    const pass *p = context;
    for (int at = begin; at < end; at += 4) {
        element_input in;
        load_elements(p->model, p->s, p->triangles, at, end, &in);
        d4 skin;
        d4 energy = slide_element_energy(&p->model->material, in.stiffness, &in.body, (const d4(*)[3])in.places,
                                         in.normal, &skin);
        store_masses(p, &in, skin);
        energy = d4_select(in.whole, energy, d4_set(0));
        for (int lane = 0; lane < 4; lane++) p->s->energies[in.triangles[lane]] = energy[lane];
    }
}

/*
 * Which share of a length wrinkles take up where skin is pressed together: it has `most` skin on a length of the body,
 * and would have 1, less what it grows narrower by being stretched across (tension field theory).
 */
static double taken_up(const slide_model *model, double most, double least)
{
    double across = least > 0 ? slide_max(1 / least - 1, 0) : 0;
    double natural = slide_max(1 - model->poisson * across, 0.5);
    return slide_max(natural * most - 1, 0);
}

static void element_stresses(void *context, int begin, int end)
{
    const pass *p = context;
    for (int at = begin; at < end; at += 4) {
        element_input in;
        slide_stress element;
        load_elements(p->model, p->s, p->model->all_triangles, at, end, &in);
        slide_stress_make(&p->model->material, in.stiffness, &in.body, (const d4(*)[3])in.places, in.normal, &element);

        /* principal stresses, and the share of length that wrinkles take up */
        for (int lane = 0; lane < 4; lane++) {
            double *own = p->s->stress[in.triangles[lane]];
            own[0] = in.whole[lane] ? element.stress[0][lane] : 0;
            own[1] = in.whole[lane] ? element.stress[1][lane] : 0;
            p->s->taken[in.triangles[lane]] =
                own[1] < 0 ? taken_up(p->model, element.stretch[0][lane], element.stretch[1][lane]) : 0;

            /* direction of the smaller stress, in space */
            for (int e = 0; e < 3; e++) {
                double axis = element.pressed[0][lane] * element.axes[0][e][lane];
                axis += element.pressed[1][lane] * element.axes[1][e][lane];
                p->s->pressed[in.triangles[lane]][e] = axis;
            }
        }
    }
}

/* From a rest position to that of a point's skin; returns the length. */
static double hold_vector(const slide_scratch *s, int i, const double from[3], double d[3])
{
    double square = 0;
    for (int e = 0; e < 3; e++) {
        d[e] = s->skin[3 * i + e] - from[e];
        square += d[e] * d[e];
    }
    return sqrt(square);
}

/* The energy of a point's ligament. */
static double ligament_energy(const slide_model *model, const slide_scratch *s, int i)
{
    double d[3];
    double over = slide_max(hold_vector(s, i, model->atlas.positions + 3 * i, d) - model->slack, 0);
    return 0.5 * model->ligament * model->ligament * model->areas[i] * over * over;
}

/*
 * The energy of dry friction at a point: a bristle from the anchor to the skin. Its force grows along the first
 * FRICTION_REACH and stays at its largest beyond; at the end of the step the anchor follows to within the reach. The
 * skin so rests in a potential while it sticks, and does not creep.
 */
static double friction_energy(const slide_model *model, const slide_scratch *s, int i)
{
    double d[3];
    double length = hold_vector(s, i, s->anchors + 3 * i, d);
    double reached = slide_min(length, FRICTION_REACH);
    return model->friction[i] * model->areas[i] * (length - reached + 0.5 * reached * reached / FRICTION_REACH);
}

void slide_system_yield(const slide_model *model, const slide_scratch *s, double *anchors)
{
    for (int k = 0; k < model->free_count; k++) {
        int i = model->free_points[k];
        double d[3];
        double length = hold_vector(s, i, anchors + 3 * i, d);
        if (!(length > FRICTION_REACH)) continue;
        for (int e = 0; e < 3; e++) anchors[3 * i + e] += (1 - FRICTION_REACH / length) * d[e];
    }
}

static double energy_sum(const slide_model *model, const slide_scratch *s)
{
    double sum = 0;
    for (int a = 0; a < model->free_triangle_count; a++) sum += s->energies[model->free_triangles[a]];
    for (int a = 0; a < model->free_count && model->ligament > 0; a++)
        sum += ligament_energy(model, s, model->free_points[a]);
    for (int a = 0; a < model->free_count && model->friction; a++)
        sum += friction_energy(model, s, model->free_points[a]);
    return sum;
}

double slide_system_elements(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s};
    parallel_for(jobs, model->free_triangle_count, TRIANGLE_GRAIN, element_blocks, &p);
    return energy_sum(model, s);
}

double slide_system_energy(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s, .triangles = model->free_triangles};
    parallel_for(jobs, model->free_triangle_count, TRIANGLE_GRAIN, element_energies, &p);
    return energy_sum(model, s);
}

double slide_system_regrown(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs)
{
    int count = 0;
    for (int a = 0; a < model->free_triangle_count; a++) {
        const int *c = model->atlas.mesh->triangles + 3 * model->free_triangles[a];
        if (s->grown[c[0]] | s->grown[c[1]] | s->grown[c[2]]) s->regrown[count++] = model->free_triangles[a];
    }
    pass p = {.model = model, .s = s, .triangles = s->regrown};
    parallel_for(jobs, count, TRIANGLE_GRAIN, element_energies, &p);
    return energy_sum(model, s);
}

double slide_system_foretold(const slide_model *model, const slide_scratch *s, int triangle, double *size)
{
    const int *c = model->atlas.mesh->triangles + 3 * triangle;
    const double *gradient = s->gradients[triangle];
    const double *hessian = s->hessians[triangle];
    double d[3][2], linear = 0, square = 0;

    /* linear term */
    for (int k = 0; k < 3; k++) {
        for (int e = 0; e < 2; e++) {
            d[k][e] = s->shares[c[k]] * s->way[2 * c[k] + e];
            linear -= gradient[2 * k + e] * d[k][e];
        }
    }

    /* quadratic term: the blocks of the Hessian */
    for (int k = 0; k < 3; k++) {
        for (int o = 0; o < 4; o++) {
            int row = o / 2, column = o % 2;
            square += 0.5 * hessian[4 * k + o] * d[k][row] * d[k][column];
            square += hessian[OFF_DIAGONAL + 4 * k + o] * d[k][row] * d[next3(k)][column];
        }
    }

    *size = fabs(linear) + square;
    return linear + square;
}

void slide_system_stresses(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s};
    parallel_for(jobs, model->triangle_count, TRIANGLE_GRAIN, element_stresses, &p);
}

/* ---- assembly ---- */

/*
 * A force along d, by which a rest position is left, that grows with its length at the rate `along`: added to force and
 * Hessian of a point.
 */
static void add_hold(const slide_scratch *s, int i, const double d[3], double length, double force, double along,
                     double f[2], double k[3])
{
    if (!(length > 0)) return;

    /* how the place moves along d, and at all */
    const double *j = s->jacobians[i];
    double u[2] = {0, 0}, jj[3] = {0, 0, 0};
    for (int e = 0; e < 3; e++) {
        u[0] += j[2 * e] * d[e] / length;
        u[1] += j[2 * e + 1] * d[e] / length;
        jj[0] += j[2 * e] * j[2 * e];
        jj[1] += j[2 * e] * j[2 * e + 1];
        jj[2] += j[2 * e + 1] * j[2 * e + 1];
    }

    double across = force / length;
    for (int e = 0; e < 2; e++) f[e] += force * u[e];
    k[0] += across * jj[0] + (along - across) * u[0] * u[0];
    k[1] += across * jj[1] + (along - across) * u[0] * u[1];
    k[2] += across * jj[2] + (along - across) * u[1] * u[1];
}

/* The ligaments of a point: springs over its area to the body point, once the slack is used up. */
static void add_ligament(const slide_model *model, const slide_scratch *s, int i, double f[2], double k[3])
{
    double d[3];
    double length = hold_vector(s, i, model->atlas.positions + 3 * i, d);
    double pull = model->ligament * model->ligament * model->areas[i];
    if (length > model->slack) add_hold(s, i, d, length, pull * (length - model->slack), pull, f, k);
}

/* The dry friction of a point; without a way it holds as for a short one. */
static void add_friction(const slide_model *model, const slide_scratch *s, int i, double f[2], double k[3])
{
    double d[3];
    double length = hold_vector(s, i, s->anchors + 3 * i, d);
    double largest = model->friction[i] * model->areas[i];
    double along = largest / FRICTION_REACH;
    if (!(length > 0)) {
        d[0] = 1e-9 * FRICTION_REACH;
        length = d[0];
        d[1] = 0;
        d[2] = 0;
    }
    bool slips = length > FRICTION_REACH;
    add_hold(s, i, d, length, slips ? largest : along * length, slips ? 0 : along, f, k);
}

/* Force and Hessian of the triangles around a point: the entries of its row, and of its diagonal (xx, xy, yy). */
static void add_triangles(const slide_model *model, slide_scratch *s, int a, double f[2], double k[3])
{
    const mesh *m = model->atlas.mesh;
    int i = model->equations[a];
    d4 diagonal = d4_set(0);

    for (int n = m->point_triangle_first[i]; n < m->point_triangle_first[i + 1]; n++) {
        int t = m->point_triangles[n];
        int own = model->fans[n] - 3 * t;
        f[0] += s->gradients[t][2 * own];
        f[1] += s->gradients[t][2 * own + 1];
        diagonal += d4_load(s->hessians[t] + 4 * own);
    }

    /* entries of the row: the triangles on both sides of the edge */
    const double *blocks = s->hessians[0];
    for (int n = model->link_first[a]; n < model->link_first[a + 1]; n++) {
        const double *one = blocks + 4 * (size_t)model->sources[n][0];
        const double *other = blocks + 4 * (size_t)model->sources[n][1];
        d4_store(s->rows[n], d4_load(one) + (d4){other[0], other[2], other[1], other[3]});
    }

    /* xx, xy, yy */
    k[0] = diagonal[0];
    k[1] = diagonal[1];
    k[2] = diagonal[3];
}

static void point_rows(void *context, int begin, int end)
{
    pass *p = context;
    slide_scratch *s = p->s;
    const slide_model *model = p->model;
    const slide_increment *in = p->increment;
    for (int entry = begin; entry < end; entry++) {
        int i = model->equations[entry];

        /* elastic force and Hessian */
        double f[2] = {0, 0}, k[3];
        add_triangles(model, s, entry, f, k);
        if (model->ligament > 0) add_ligament(model, s, i, f, k);
        if (model->friction) add_friction(model, s, i, f, k);

        /* the forces at the beginning of the step */
        double *first = s->first_forces + 2 * i;
        if (in->first) memcpy(first, f, sizeof f);

        /* inertia and right side in the directions that may move; the others are put to zero by (I - Q) */
        const double *q = model->allowed[i], *mass = s->inertia[i];
        double inertia = in->inertia + s->grips[i];
        double v0 = inertia * (in->goal[2 * i] - in->moved[2 * i]);
        double v1 = inertia * (in->goal[2 * i + 1] - in->moved[2 * i + 1]);
        double r0 = mass[0] * v0 + mass[1] * v1 + f[0] + in->first_share * first[0] + s->outer_forces[2 * i];
        double r1 = mass[1] * v0 + mass[2] * v1 + f[1] + in->first_share * first[1] + s->outer_forces[2 * i + 1];

        double a = mass[0] * q[0] + mass[1] * q[1], b = mass[0] * q[1] + mass[1] * q[2];
        double c = mass[1] * q[0] + mass[2] * q[1], d = mass[1] * q[1] + mass[2] * q[2];
        double level = mass[0] + mass[2] > 0 ? mass[0] + mass[2] : 1;

        s->diagonal[entry][0] = inertia * (q[0] * a + q[1] * c + level * (1 - q[0])) + k[0];
        s->diagonal[entry][1] = inertia * (q[0] * b + q[1] * d - level * q[1]) + k[1];
        s->diagonal[entry][2] = inertia * (q[1] * b + q[2] * d + level * (1 - q[2])) + k[2];
        s->right[2 * i] = q[0] * r0 + q[1] * r1;
        s->right[2 * i + 1] = q[1] * r0 + q[2] * r1;
    }
}

void slide_system_assemble(const slide_model *model, slide_scratch *s, const slide_increment *increment,
                           const cutis_jobs *jobs)
{
    pass p = {.model = model, .s = s, .increment = increment};
    memset(s->hessians[model->triangle_count], 0, sizeof s->hessians[0]);
    parallel_for(jobs, model->free_count, POINT_GRAIN, point_rows, &p);
}

void slide_system_outer(const slide_model *model, slide_scratch *s, const cutis_drag *drags, int drag_count,
                        double share)
{
    memset(s->outer_forces, 0, 2 * (size_t)model->point_count * sizeof(double));
    for (int i = 0; i < model->point_count && model->gravity != 0; i++) {
        double weight = share * model->gravity * model->areas[i];
        s->outer_forces[2 * i] -= weight * s->gammas[i][2];
        s->outer_forces[2 * i + 1] -= weight * s->gammas[i][3];
    }

    for (int i = 0; i < drag_count; i++) {
        if (drags[i].vertex < 0 || drags[i].vertex >= model->character->vertex_count) continue;
        int point = model->character->vertex_points[drags[i].vertex];
        const double *g = s->gammas[point];

        double strength = share * drag_rate * model->areas[point] * CLAMP((double)drags[i].strength, 0, 1);
        for (int e = 0; e < 3; e++) {
            double pull = strength * ((double)drags[i].target[e] / model->unit - s->x[3 * point + e]);
            if (!(fabs(pull) < 1e15)) pull = 0;
            s->outer_forces[2 * point] += g[2 * e] * pull;
            s->outer_forces[2 * point + 1] += g[2 * e + 1] * pull;
        }
    }
}
