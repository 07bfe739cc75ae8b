/*
 * slide_advection.c: the body pulls the skin along or not (Section 3.6), and velocities are carried along with the skin
 * (Eq. 8).
 *
 * The paper moves the mesh by the part of the body's tangential displacement that the skin follows (Eqs. 11 to 13), and
 * so lets a body that glides at constant speed leave its skin behind for ever. Here velocities are those against the
 * body, and of every change of the body's velocity the part 1 - zeta is taken from them: inertia, in the frame of the
 * body. Skin then lags when the body starts, catches up, and overshoots when it stops; a constant velocity leaves no
 * trace.
 *
 * Velocities are carried along by the method of MacCormack as made stable by Selle et al. (2008), one of those that the
 * paper names: semi-Lagrangian forth and back, half of what then is missing is added, within the values around.
 */
#include <string.h>

#include "solvers/slide/slide.h"
#include "solvers/solver_kit.h"

enum { GRAIN = 256 };

/* A body that is faster than this leaps, and does not carry its skin along; sizes a second. */
static const double slip_limit = 30;
/*
 * Ways shorter than this part of an edge carry nothing: a step changes velocities by less than this part of how they
 * differ along the edge, and waves cross several edges in a step. Shapes stay as they are (test_slide_motion).
 */
static const double shortest_way = 3e-3;

typedef struct advection {
    const slide_model *model;
    slide_state *state;
    slide_scratch *s;
    const int *moving;
    const double *way, *v;
    double *to;
    double h;
} advection;

/* ---- coupling ---- */

/* The vector of a point's frame that the body carries to `vector`, as near as it comes (the pseudoinverse of gamma). */
static void frame_vector(const double gamma[6], const double vector[3], double own[2])
{
    /* normal equations of the least squares fit */
    double xx = 0, xy = 0, yy = 0, r0 = 0, r1 = 0;
    for (int e = 0; e < 3; e++) {
        double a = gamma[2 * e], b = gamma[2 * e + 1];
        xx += a * a;
        xy += a * b;
        yy += b * b;
        r0 += a * vector[e];
        r1 += b * vector[e];
    }

    /* solve them; a squashed frame carries nothing */
    double det = xx * yy - xy * xy;
    bool fine = det > 1e-8 * (xx + yy) * (xx + yy);
    own[0] = fine ? (yy * r0 - xy * r1) / det : 0;
    own[1] = fine ? (xx * r1 - xy * r0) / det : 0;
}

void slide_rest_vector(const slide_model *model, int point, const double vector[3], double own[2])
{
    double gamma[6] = {0};
    const mesh *m = model->atlas.mesh;
    const double *x = model->atlas.positions;
    for (int n = m->point_neighbour_first[point]; n < m->point_neighbour_first[point + 1]; n++) {
        for (int e = 0; e < 3; e++) {
            double d = x[3 * m->point_neighbours[n] + e] - x[3 * point + e];
            gamma[2 * e] += model->stencils[n][0] * d;
            gamma[2 * e + 1] += model->stencils[n][1] * d;
        }
    }
    frame_vector(gamma, vector, own);
}

/* Which share of a velocity of the body is below a tangential speed. */
static double followed_share(const double gamma[6], const double velocity[3], double limit)
{
    double own[2], speed = 0;
    frame_vector(gamma, velocity, own);
    for (int e = 0; e < 3; e++) {
        double along = gamma[2 * e] * own[0] + gamma[2 * e + 1] * own[1];
        speed += along * along;
    }
    speed = sqrt(speed);
    return speed > limit ? limit / speed : 1;
}

static void couple_points(void *context, int begin, int end)
{
    const advection *p = context;
    const slide_model *model = p->model;

    for (int a = begin; a < end; a++) {
        int i = model->free_points[a];
        const double *gamma = p->s->gammas[i], *q = model->allowed[i];
        double velocity[3], change[3], own[2], size = 0;

        /* velocity of the body at the point */
        for (int e = 0; e < 3; e++) {
            velocity[e] = (p->s->x[3 * i + e] - (double)p->s->old_surface[3 * i + e] / model->unit) / p->h;
            size += velocity[e] * velocity[e];
        }

        /* the skin follows a part, and less where the tangential speed is above the limit */
        double followed = model->zeta[i];
        if (model->delta_max[i] < HUGE_VAL) followed *= followed_share(gamma, velocity, model->delta_max[i]);
        double left = size > slip_limit * slip_limit ? 0 : 1 - followed;

        /* what it does not follow of the change */
        for (int e = 0; e < 3; e++) {
            double slip = left * velocity[e];
            change[e] = slip - p->state->slips[3 * i + e];
            p->state->slips[3 * i + e] = slip;
        }

        /* the first step may be a leap from the pose of the reset, of which the second must not feel the end */
        if (*p->state->started < 2) continue;

        /* its part along the directions that may move */
        frame_vector(gamma, change, own);
        p->state->velocities[2 * i] -= q[0] * own[0] + q[1] * own[1];
        p->state->velocities[2 * i + 1] -= q[1] * own[0] + q[2] * own[1];
    }
}

void slide_couple(const slide_model *model, slide_state *state, slide_scratch *s, double h, const cutis_jobs *jobs)
{
    advection pass = {.model = model, .state = state, .s = s, .h = h};
    parallel_for(jobs, model->free_count, GRAIN, couple_points, &pass);
    *state->started = MIN(*state->started + 1, 2);
}

bool slide_pushed(const solver_input *input)
{
    const float *a = input->acceleration;
    return input->impulse_count > 0 || a[0] != 0 || a[1] != 0 || a[2] != 0;
}

void slide_push(const slide_model *model, slide_state *state, const slide_scratch *s, const solver_input *input)
{
    for (int k = 0; k < model->free_count; k++) {
        /* the gain of velocity; what is across the body does not move the skin */
        int i = model->free_points[k];
        const double *x = s->x + 3 * i, *q = model->allowed[i];
        vec3 place = {(float)(x[0] * model->unit), (float)(x[1] * model->unit), (float)(x[2] * model->unit)};
        vec3 gain = vec3_madd(kit_blow(input, place), vec3_load(input->acceleration), (float)model->h);
        const double along[3] = {gain.x / model->unit, gain.y / model->unit, gain.z / model->unit};
        double own[2];

        /* along the body, in the directions that may move */
        frame_vector(s->gammas[i], along, own);
        state->velocities[2 * i] += q[0] * own[0] + q[1] * own[1];
        state->velocities[2 * i + 1] += q[1] * own[0] + q[2] * own[1];
    }
}

/* ---- advection ---- */

/* Where the skin of a point was, and how the point's frame turns on the way there. */
typedef struct origin {
    slide_place place;
    double axis[2];
} origin;

/* The place from which `way` leads to point i. */
static inline origin find_origin(const slide_model *model, int i, const double way[2])
{
    const slide_atlas *atlas = &model->atlas;
    const mesh *m = atlas->mesh;
    const double back[2] = {-way[0], -way[1]};

    /* the triangle around the point that the way lies inside of most, as slide_walk_from_point has it */
    int best = m->point_triangle_first[i];
    double best_inside = -HUGE_VAL;
    for (int n = best; n < m->point_triangle_first[i + 1]; n++) {
        const double *e = atlas->wedges[n];
        double inside = slide_min(e[0] * back[1] - e[1] * back[0], e[2] * back[1] - e[3] * back[0]);
        best = inside > best_inside ? n : best;
        best_inside = slide_max(inside, best_inside);
    }

    /* nearly all ways end in it */
    int t = model->fans[best] / 3, corner = model->fans[best] % 3;
    const double *turn = atlas->turns[t][corner], *slopes = atlas->slopes[t];
    double x = turn[0] * back[0] - turn[1] * back[1], y = turn[1] * back[0] + turn[0] * back[1];
    double b1 = (corner == 1) + slopes[0] * x + slopes[1] * y;
    double b2 = (corner == 2) + slopes[2] * y;
    if (best_inside >= 0 && slopes[3] > 0 && b1 >= 0 && b2 >= 0 && b1 + b2 <= 1)
        return (origin){{.triangle = t, .b = {b1, b2}}, {turn[0], turn[1]}};

    origin o = {.axis = {1, 0}};
    o.place = slide_walk_from_point(atlas, i, back, o.axis);
    return o;
}

/* Velocity at point i that was carried there along `way` by linear interpolation, and the range of what it is made of.
 */
static inline void carry(const slide_model *model, const double *v, int i, const double way[2], double carried[2],
                         double range[2][2])
{
    const slide_atlas *atlas = &model->atlas;
    const origin from = find_origin(model, i, way);
    const int *c = atlas->mesh->triangles + 3 * from.place.triangle;
    const double w[3] = {1 - from.place.b[0] - from.place.b[1], from.place.b[0], from.place.b[1]};
    const double *axis = from.axis;

    /* what the three corners have there */
    carried[0] = 0;
    carried[1] = 0;
    for (int k = 0; k < 3; k++) {
        /* into the chart, and from there into the point's frame */
        const double *turn = atlas->turns[from.place.triangle][k], *u = v + 2 * c[k];
        double x = turn[0] * u[0] - turn[1] * u[1];
        double y = turn[1] * u[0] + turn[0] * u[1];
        double own[2] = {axis[0] * x + axis[1] * y, axis[0] * y - axis[1] * x};
        for (int e = 0; e < 2; e++) {
            carried[e] += w[k] * own[e];
            range[0][e] = k == 0 ? own[e] : slide_min(range[0][e], own[e]);
            range[1][e] = k == 0 ? own[e] : slide_max(range[1][e], own[e]);
        }
    }
}

static bool stays(const slide_model *model, const double *way, int i)
{
    double least = shortest_way * model->edges[i];
    return way[0] * way[0] + way[1] * way[1] <= least * least;
}

/* Forth: points that move. */
static void carry_forth(void *context, int begin, int end)
{
    const advection *p = context;
    for (int a = begin; a < end; a++) {
        int i = p->moving[a];
        carry(p->model, p->v, i, p->way + 2 * i, p->to + 2 * i, p->s->ranges[i]);
    }
}

/* Back, and the correction; p->v is what was, p->to what was carried forth, the result goes to s->search. */
static void carry_back(void *context, int begin, int end)
{
    const advection *p = context;
    for (int a = begin; a < end; a++) {
        int i = p->moving[a];
        const double *way = p->way + 2 * i, *q = p->model->allowed[i];
        const double back[2] = {-way[0], -way[1]};
        double again[2], ignored[2][2];

        /* the error of going forth and back, halved and limited to the range */
        const double(*range)[2] = (const double(*)[2])p->s->ranges[i];
        carry(p->model, p->to, i, back, again, ignored);
        double v[2];
        for (int e = 0; e < 2; e++) {
            double corrected = p->to[2 * i + e] + 0.5 * (p->v[2 * i + e] - again[e]);
            v[e] = slide_min(slide_max(corrected, range[0][e]), range[1][e]);
        }

        double *out = p->s->search + 2 * i;
        out[0] = q[0] * v[0] + q[1] * v[1];
        out[1] = q[1] * v[0] + q[2] * v[1];
    }
}

void slide_advect(const slide_model *model, slide_scratch *s, const double *way, double *v, const cutis_jobs *jobs)
{
    /* points that stay keep their velocity */
    int count = 0;
    for (int a = 0; a < model->free_count; a++) {
        int i = model->free_points[a];
        s->moving[count] = i;
        count += !stays(model, way + 2 * i, i);
    }

    memcpy(s->velocities, v, 2 * (size_t)model->point_count * sizeof *v);
    advection pass = {.model = model, .s = s, .moving = s->moving, .way = way, .v = v, .to = s->velocities};
    parallel_for(jobs, count, GRAIN, carry_forth, &pass);
    parallel_for(jobs, count, GRAIN, carry_back, &pass);
    for (int a = 0; a < count; a++) {
        int i = s->moving[a];
        memcpy(v + 2 * i, s->search + 2 * i, 2 * sizeof *v);
    }
}
