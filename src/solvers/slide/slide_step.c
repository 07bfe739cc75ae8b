/*
 * slide_step.c: one step of the skin in time.
 *
 * Over a step of length h the body is held at its new shape, and the way q of the skin along it is found by minimising
 *
 *     E(q) = c / 2 |q - h v|^2_M - (1 - b) / b f_0 . q - f_e . q / b + W(X(q)),    c = 1 / (b h)^2,
 *
 * by Newton's method with a line search; W is the elastic energy, f_0 its force at the beginning, f_e gravity and
 * drags. The minimum is the step of the theta method, v' = (q / h - (1 - b) v) / b with b = theta: for b = 1/2 the
 * trapezoidal rule, of second order and without loss, for b = 1 the implicit Euler method of the paper (Eq. 7), which
 * loses what is fast. Viscosity e of the skin (stiffness-proportional damping) is the same as b = 1/2 + e / 2h, for
 * both take (b - 1/2) (|v' - v|^2_M + |q|^2_H) out of a step; so one formula serves damped and undamped skin. W is
 * infinite for skin that is inside out, so that no step leads there.
 *
 * Viscous friction with the body is the force -d M q / h. It adds g / 2 |q|^2_M with g = d / (b h) to E, which keeps
 * its form with c + g in place of c and c / (c + g) h v in place of h v. Dry friction is a part of W.
 *
 * What the energy of a step differs from what it should be, by the curvature of W, is put into or taken from the
 * velocities by a common factor (a projection on the energy, as in Dinev et al. 2018): the undamped skin keeps its
 * energy and none ever gains.
 *
 * Newton's method has arrived when the energy falls as its model foretold, but for a little skin that folds of the body
 * hold back. A step in which the skin's acceleration
 * changes much is taken again in two parts, and one in which Newton's method does not arrive with b = 1: then the old
 * force does not push skin into what is stiff.
 */
#include <string.h>

#include "solvers/slide/slide.h"
#include "solvers/solver_kit.h"

enum {
    GRAIN = 256,
    SHORT_LIMIT = 5,   /* iterations of Newton's method for the theta that is asked for ... */
    NEWTON_LIMIT = 20, /* ... and for the implicit Euler method */
    SEARCH_LIMIT = 16, /* shortenings of an iteration's way */
    BLOCKED_STEPS = 8, /* after which a point that was blocked is tried again */
    AHEAD = 6,         /* points whose data are fetched beforehand */
};

/* Newton's method has arrived when the energy falls as foretold within this part ... */
static const double agreement = 0.1;
/* ... where the linear system was solved to this relative residual; */
static const double residual_limit = 1e-3;
/* or falls, or is foretold to fall, by less than this part of what it did at first, or of the energy at hand. */
static const double late = 0.1;
static const double negligible = 1e-6;
/* Less skin than this part, by area, may be held back in a step: what it has left to go it goes in the next. */
static const double held_limit = 0.05;
/* A way is taken when E falls by this part of what was foretold. */
static const double least_fall = 0.2;
/* A point that may not even go this part of its way is blocked for the rest of the step. */
static const double least_share = 0.05;
/* The energy of a triangle may differ from what was foretold by this part of its change. */
static const double surprise = 0.25;
/*
 * A part of a step may err by this, in sizes, in the root of the mean square over the skin. Less does not bring the
 * skin nearer to that of steps of 1 ms (test_slide_motion); ten times as much lets undamped skin lose its energy there.
 */
static const double error_limit = 1e-4;
/* Faster than this is no skin, in sizes a second. */
static const double speed_limit = 1000;

typedef struct move_pass {
    const slide_model *model;
    slide_scratch *s;
    const slide_place *from;
    slide_place *to;
    bool again; /* only points whose share has changed */
} move_pass;

static void move_points(void *context, int begin, int end)
{
    const move_pass *p = context;
    for (int a = begin; a < end; a++) {
        /* patches of later points are far in memory */
        int ahead = p->model->free_points[MIN(a + AHEAD, end - 1)];
        const float *patch = p->model->atlas.patches[p->from[ahead].triangle];
        for (int line = 0; line < SLIDE_PATCH_SIZE; line += 16) __builtin_prefetch(patch + line);

        int i = p->model->free_points[a];
        if (p->again && !p->s->grown[i]) continue;

        /* the place goes against the skin's way, by the derivative of the places */
        const double *j = p->s->jacobians[i];
        const double *q = p->s->way + 2 * i;
        double share = p->s->shares[i];
        double way[3];
        for (int e = 0; e < 3; e++) way[e] = -share * (j[2 * e] * q[0] + j[2 * e + 1] * q[1]);

        p->to[i] = p->from[i];
        p->s->tried_spots[i] = p->s->spots[i];
        slide_place_move(&p->model->atlas, &p->to[i], way, &p->s->tried_spots[i]);
        slide_skin_point(p->model, p->s, i, &p->to[i], &p->s->tried_spots[i]);
    }
}

static double product(const slide_model *model, const double *a, const double *b)
{
    double sum = 0;
    for (int k = 0; k < model->free_count; k++) {
        int i = model->free_points[k];
        sum += a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
    }
    return sum;
}

double slide_kinetic(const slide_model *model, const slide_scratch *s, const double *v)
{
    double sum = 0;
    for (int k = 0; k < model->free_count; k++) {
        int i = model->free_points[k];
        const double *m = s->inertia[i], *x = v + 2 * i;
        sum += m[0] * x[0] * x[0] + 2 * m[1] * x[0] * x[1] + m[2] * x[1] * x[1];
    }
    return 0.5 * sum;
}

/* ---- the step ---- */

/* What a step is about. */
typedef struct motion {
    const slide_model *model;
    slide_scratch *s;
    const cutis_jobs *jobs;
    slide_increment increment;
    double b;       /* theta */
    double kinetic; /* energy of the velocities at the beginning */
    double before;  /* elastic energy there */
    double after;   /* at the end */
    bool arrived;
} motion;

/* Lessen the shares around triangles whose energy grew by more than foretold, most where skin would be inside out. */
static int halve_shares(const slide_model *model, slide_scratch *s)
{
    int halved = 0;

    /* points of triangles that did not follow their model */
    memset(s->grown, 0, (size_t)model->point_count);
    for (int k = 0; k < model->free_triangle_count; k++) {
        int t = model->free_triangles[k];
        double size;
        double change = slide_system_foretold(model, s, t, &size);

        if (s->energies[t] - s->old_energies[t] <= change + surprise * size) continue;
        uint8_t grown = s->energies[t] < HUGE_VAL ? 1 : 2;

        for (int e = 0; e < 3; e++) {
            uint8_t *own = &s->grown[model->atlas.mesh->triangles[3 * t + e]];
            *own = MAX(*own, grown);
        }
        halved++;
    }

    /* go a shorter way, or none */
    for (int k = 0; k < model->free_count; k++) {
        int i = model->free_points[k];
        if (!s->grown[i]) continue;
        s->shares[i] *= s->grown[i] == 1 ? 0.5 : 0.2;
        if (s->shares[i] < least_share) s->shares[i] = 0;
    }

    return halved;
}

/* Whether the energy of the skin whose way was not shortened changed as foretold. */
static bool others_follow(const slide_model *model, const slide_scratch *s)
{
    double off = 0;
    double sum = 0;
    for (int k = 0; k < model->free_triangle_count; k++) {
        int t = model->free_triangles[k];
        const int *c = model->atlas.mesh->triangles + 3 * t;
        if (s->shares[c[0]] < 1 || s->shares[c[1]] < 1 || s->shares[c[2]] < 1) continue;
        double size;
        off += s->energies[t] - s->old_energies[t] - slide_system_foretold(model, s, t, &size);
        sum += size;
    }
    return fabs(off) <= agreement * sum + model->noise;
}

/*
 * Find a part of the way s->way that lowers E: places go to s->places. The way is shortened only where the energy does
 * not follow its model. Returns the fall of E, 0 when there is none.
 */
static double line_search(motion *m, const slide_place *places, double elastic, double slope, double curvature)
{
    const slide_model *model = m->model;
    slide_scratch *s = m->s;

    /* the whole way first, but for blocked points */
    memcpy(s->old_energies, s->energies, (size_t)model->triangle_count * sizeof(double));
    for (int i = 0; i < model->point_count; i++) s->shares[i] = 1;
    for (int k = 0; k < model->free_count; k++) {
        int i = model->free_points[k];
        if (s->blocked[i]) s->shares[i] = 0;
    }

    double whole = 0; /* what is foretold of the whole way */
    for (int i = 0; i < SEARCH_LIMIT; i++) {
        move_pass pass = {model, s, places, s->places, .again = i > 0};
        parallel_for(m->jobs, model->free_count, GRAIN, move_points, &pass);
        double reached = i == 0 ? slide_system_energy(model, s, m->jobs) : slide_system_regrown(model, s, m->jobs);

        /* the inertial part of E, and what its model says, at these shares */
        double inertial = 0, foretold = 0, shorter = curvature > 0 ? 0.5 * curvature / slope : 0.5;
        for (int k = 0; k < model->free_count; k++) {
            int p = model->free_points[k];
            const double *mass = s->inertia[p];
            double part = s->shares[p];
            double x = part * s->way[2 * p], y = part * s->way[2 * p + 1];
            double u = m->increment.goal[2 * p] - s->moved[2 * p] - 0.5 * x;
            double v = m->increment.goal[2 * p + 1] - s->moved[2 * p + 1] - 0.5 * y;
            double inertia = m->increment.inertia + s->grips[p];
            double f0 = inertia * (mass[0] * u + mass[1] * v);
            double f1 = inertia * (mass[1] * u + mass[2] * v);
            f0 += m->increment.first_share * s->first_forces[2 * p] + s->outer_forces[2 * p];
            f1 += m->increment.first_share * s->first_forces[2 * p + 1] + s->outer_forces[2 * p + 1];
            inertial += x * f0 + y * f1;
            foretold += (s->right[2 * p] * x + s->right[2 * p + 1] * y) * (1 - part * shorter);
        }

        double fall = elastic - reached + inertial;
        if (i == 0) whole = foretold;

        /* accepted: E falls by a fair part of what was foretold, or rounding hides the change */
        if (fall > least_fall * foretold || (foretold <= model->noise && reached < HUGE_VAL)) {
            m->after = reached;
            m->arrived = fabs(fall - whole) <= agreement * whole + model->noise;
            return slide_max(fall, model->noise);
        }

        /* shorter, where it is too long, or else everywhere */
        if (halve_shares(model, s) > 0) continue;
        for (int k = 0; k < model->free_count; k++) {
            int p = model->free_points[k];
            s->shares[p] *= 0.5;
            s->grown[p] = 1;
        }
    }

    /* who was in the way is blocked */
    for (int k = 0; k < model->free_count; k++) {
        int i = model->free_points[k];
        if (s->shares[i] < 1) s->shares[i] = 0;
    }

    return 0;
}

/* Newton's method: minimise E from the places at hand, which become those at the end. */
static void minimise(motion *m, slide_place *places, const double *guess, const double *v, cutis_step_stats *stats)
{
    const slide_model *model = m->model;
    slide_scratch *s = m->s;
    size_t count = 2 * (size_t)model->point_count;

    memset(s->moved, 0, count * sizeof *s->moved);
    memset(s->shortened, 0, (size_t)model->point_count);
    m->arrived = false;

    double least = 0;
    double total = 0;
    double largest = 0;
    bool fresh = false; /* points have been blocked: what is left to do is to be seen anew */
    int limit = m->b < 1 ? SHORT_LIMIT : NEWTON_LIMIT;

    for (int iteration = 0; iteration < limit && !m->arrived; iteration++) {
        /* the model of E at the places */
        bool first = iteration == 0;
        m->increment.first = first;
        double clock = clock_seconds();
        if (!first) slide_system_jacobians(model, s, m->jobs);
        for (int k = 0; k < model->free_count; k++) {
            int i = model->free_points[k];
            if (s->blocked[i]) memset(s->jacobians[i], 0, sizeof s->jacobians[i]);
        }

        double elastic = slide_system_elements(model, s, m->jobs);
        if (first) {
            m->before = elastic;
            m->after = elastic;
            slide_system_inertia(model, s, m->jobs);
            m->kinetic = slide_kinetic(model, s, v);
        }

        slide_system_assemble(model, s, &m->increment, m->jobs);
        for (int k = 0; k < model->free_count; k++) {
            int i = model->free_points[k];
            if (s->blocked[i]) memset(s->right + 2 * i, 0, 2 * sizeof *s->right);
        }
        kit_lap(&clock, stats, SLIDE_PART_ELEMENTS);

        /* its minimum; a first guess may be so bad that the way does not lead down */
        double residual, slope = 0;
        for (int attempt = 0; attempt < 2 && !(slope > 0); attempt++) {
            if (first && attempt == 0)
                memcpy(s->way, guess, count * sizeof *guess);
            else
                memset(s->way, 0, count * sizeof *s->way);
            stats->iterations += slide_system_solve(model, s, s->way, &largest, &residual, m->jobs);
            slope = product(model, s->right, s->way);
        }

        stats->residual = residual;
        double curvature = slope;
        if (residual > residual_limit) {
            slide_system_multiply(model, s, s->way, s->image, m->jobs);
            curvature = product(model, s->image, s->way);
        }
        kit_lap(&clock, stats, SLIDE_PART_SOLVE);

        /* nothing left to do */
        if (first || fresh) least = slide_max(late * slope, negligible * (m->kinetic + elastic) + model->noise);
        fresh = false;
        bool little = slope <= least;
        if (!(slope > 0)) {
            m->arrived = slope == 0;
            break;
        }

        /* go there as far as E falls */
        double fall = line_search(m, places, elastic, slope, curvature);
        kit_lap(&clock, stats, SLIDE_PART_ADVECTION);
        double held = 0;
        double area = 0;
        for (int k = 0; k < model->free_count; k++) {
            int i = model->free_points[k];
            held += s->shares[i] < 1 ? model->areas[i] : 0;
            area += model->areas[i];
            s->shortened[i] |= s->shares[i] < 1;
            fresh |= s->shares[i] == 0 && !s->blocked[i];
            s->blocked[i] |= s->shares[i] == 0;
            if (!(fall > 0)) continue;
            s->moved[2 * i] += s->shares[i] * s->way[2 * i];
            s->moved[2 * i + 1] += s->shares[i] * s->way[2 * i + 1];
            places[i] = s->places[i];
            s->spots[i] = s->tried_spots[i];
        }

        total += fall;
        little |= !first && fall > 0 && fall <= late * total;
        bool solved = residual <= residual_limit;
        m->arrived = ((m->arrived && solved) || little) && !fresh;
        if (fall > 0 && solved && held > 0 && held <= held_limit * area) m->arrived |= others_follow(model, s);

        /* no way down: back to the last places, and on only if points were blocked */
        if (fall > 0) continue;
        slide_skin_known(model, s, places, m->jobs);
        slide_system_energy(model, s, m->jobs);
        if (!fresh) break;
    }
}

/*
 * New velocities from the way s->moved; points whose way had to be shortened take those of the implicit Euler method.
 * Returns the energy that the method would leave of a parabola.
 */
static double take_velocities(const motion *m, double h, double *v, double *gains)
{
    const slide_model *model = m->model;
    slide_scratch *s = m->s;
    double b = m->b;
    double energy = m->kinetic + m->before;

    /* velocities; products of the way with outer forces and forces at first; of gains with the way and with themselves
     */
    double gift = 0;
    double first = 0;
    double given = 0;
    double gained = 0;
    for (int k = 0; k < model->free_count; k++) {
        int i = model->free_points[k];
        const double *mass = s->inertia[i], *q = s->moved + 2 * i, *outer = s->outer_forces + 2 * i;
        const double *force = s->first_forces + 2 * i;

        /* by v' = (q / h - (1 - b) v) / b */
        double own = s->shortened[i] ? 1 : b;
        double way = s->blocked[i] ? 0 : 1 / (h * own);
        double keep = s->blocked[i] ? 0 : (1 - own) / own;
        double x = way * q[0] - keep * v[2 * i];
        double y = way * q[1] - keep * v[2 * i + 1];
        double u0 = x - v[2 * i];
        double u1 = y - v[2 * i + 1];
        v[2 * i] = x;
        v[2 * i + 1] = y;
        gains[2 * i] = u0;
        gains[2 * i + 1] = u1;

        double p0 = mass[0] * u0 + mass[1] * u1;
        double p1 = mass[1] * u0 + mass[2] * u1;
        gift += b * (outer[0] * q[0] + outer[1] * q[1]);
        gift -= b * s->grips[i] * (mass[0] * q[0] * q[0] + 2 * mass[1] * q[0] * q[1] + mass[2] * q[1] * q[1]);
        first += force[0] * q[0] + force[1] * q[1];
        given += p0 * q[0] + p1 * q[1];
        gained += p0 * u0 + p1 * u1;
    }

    double wanted = slide_min(0.5 + 0.5 * model->viscosity / h, 1);
    if (!(wanted > 0.5)) return energy + gift;

    /* what is lost: (f_0 - f_1) . q with f_1 from the momentum, M (v' - v) = h ((1 - b) f_0 + b f_1 + f_e) */
    double stiff = slide_max((first + gift) / b - given / (b * h), 0);
    return energy + gift - (wanted - 0.5) * (gained + stiff);
}

/* Bring the energy to what it should be by a common factor on the velocities. */
static void settle_energy(const slide_model *model, const slide_scratch *s, double energy, double *v)
{
    double kinetic = slide_kinetic(model, s, v);
    if (!(kinetic > 0)) return;
    double wanted = sqrt(slide_max(energy, 0) / kinetic);

    /* damped skin loses what it has gained somewhere, but not everywhere at once */
    double factor = model->viscosity > 0 ? slide_max(slide_min(wanted, 1), 0.99) : slide_min(wanted, 10);
    for (int k = 0; k < model->free_count; k++) {
        int i = model->free_points[k];
        v[2 * i] *= factor;
        v[2 * i + 1] *= factor;
    }
}

/*
 * How far the step errs: by the change of acceleration, as the trapezoidal rule does, in the mean of all skin, for one
 * point that a fold of the body throws about must not make the step of all others shorter.
 */
static double step_error(const slide_model *model, const double *gains, const double *old_gains, double h)
{
    double sum = 0;
    double area = 0;
    for (int k = 0; k < model->free_count; k++) {
        int i = model->free_points[k];
        double x = gains[2 * i] - old_gains[2 * i];
        double y = gains[2 * i + 1] - old_gains[2 * i + 1];
        sum += model->areas[i] * (x * x + y * y);
        area += model->areas[i];
    }
    return area > 0 ? h / 12 * sqrt(sum / area) : 0;
}

/* One part of a step, of length h. */
static bool step_part(const slide_model *model, slide_state *state, slide_scratch *s, const solver_input *input,
                      double h, double b, double *error, cutis_step_stats *stats)
{
    double clock = clock_seconds();
    motion m = {.model = model, .s = s, .jobs = input->jobs, .b = b};
    double *v = state->velocities;

    /* what resists the sliding, and what pushes from outside */
    double decay = model->damping > 0 ? det_exp(-model->damping * h) : 1;
    double inertia = 1 / (b * b * h * h);
    for (int k = 0; k < model->free_count; k++) {
        int i = model->free_points[k];
        s->grips[i] = model->drag[i] / (b * h);
        double carried = inertia / (inertia + s->grips[i]);
        for (int e = 0; e < 2; e++) {
            v[2 * i + e] *= decay;
            s->goal[2 * i + e] = carried * h * v[2 * i + e];
            s->guess[2 * i + e] = h * (v[2 * i + e] + b * state->gains[2 * i + e]);
        }
    }

    slide_system_outer(model, s, input->drags, input->drag_count, 1 / b);

    /* the minimum of E */
    slide_system_shapes(model, s, input->jobs);
    slide_skin_known(model, s, state->places, input->jobs);
    slide_system_jacobians(model, s, input->jobs);
    m.increment = (slide_increment){.inertia = inertia, .first_share = (1 - b) / b, .goal = s->goal, .moved = s->moved};

    /* blocked points are tried again, each at its own step */
    int64_t step = llround(input->time / model->h);
    for (int k = 0; k < model->free_count; k++) {
        int i = model->free_points[k];
        s->blocked[i] = state->blocked[i] && (step + i) % BLOCKED_STEPS != 0;
    }

    kit_lap(&clock, stats, SLIDE_PART_COUPLING);
    minimise(&m, state->places, s->guess, v, stats);
    clock = clock_seconds();

    /* velocities, carried along with the skin */
    memcpy(s->old_gains, state->gains, 2 * (size_t)model->point_count * sizeof(double));
    double energy = take_velocities(&m, h, v, state->gains);
    *error = step_error(model, state->gains, s->old_gains, h);
    for (int k = 0; k < model->free_count; k++)
        state->blocked[model->free_points[k]] = s->blocked[model->free_points[k]];

    slide_advect(model, s, s->moved, v, input->jobs);
    slide_system_inertia(model, s, input->jobs);
    settle_energy(model, s, energy - m.after, v);
    kit_lap(&clock, stats, SLIDE_PART_ADVECTION);

    /* the implicit Euler method cannot take more than there is */
    bool spent = b < 1 && m.after - energy > negligible * fabs(energy) + model->noise;
    return m.arrived && !spent;
}

/* Velocities that are no numbers, or no skin's, are reset; returns how many. */
static int repair(const slide_model *model, double *v)
{
    int repairs = 0;
    for (int i = 0; i < 2 * model->point_count; i++) {
        if (fabs(v[i]) < speed_limit) continue;
        v[i] = 0;
        repairs++;
    }
    return repairs;
}

void slide_pull(const slide_model *model, slide_state *state, slide_scratch *s, const cutis_jobs *jobs)
{
    slide_system_shapes(model, s, jobs);
    slide_skin_points(model, s, state->places, jobs);
    memcpy(s->places, state->places, (size_t)model->point_count * sizeof *s->places);

    for (int i = 0; i < model->point_count; i++) {
        if (model->allowed[i][0] + model->allowed[i][2] > 0 || !(model->areas[i] > 0)) continue;

        /* the way along the body at rest, and what it does to the place */
        int vertex = model->character->point_vertices[i];
        const double *n = model->atlas.normals + 3 * i;
        double pull[3], out = 0, j[6], way[3];
        for (int e = 0; e < 3; e++) {
            pull[e] = model->h * (double)model->pull[e][vertex] / model->unit;
            out += pull[e] * n[e];
        }
        bool fine = fabs(pull[0]) + fabs(pull[1]) + fabs(pull[2]) < 1;
        if (!fine) continue;

        for (int e = 0; e < 3; e++) pull[e] -= out * n[e];
        double own[2];
        slide_rest_vector(model, i, pull, own);
        slide_point_derivative(model, s, i, j);
        for (int e = 0; e < 3; e++) way[e] = -(j[2 * e] * own[0] + j[2 * e + 1] * own[1]);

        slide_place_move(&model->atlas, &s->places[i], way, &s->spots[i]);
        state->velocities[2 * i] = own[0] / model->h;
        state->velocities[2 * i + 1] = own[1] / model->h;
    }

    /* pulled as far as it goes */
    slide_skin_points(model, s, s->places, jobs);
    if (slide_system_energy(model, s, jobs) < HUGE_VAL)
        memcpy(state->places, s->places, (size_t)model->point_count * sizeof *s->places);
    else
        slide_skin_points(model, s, state->places, jobs);
}

/* A way to take a step. */
typedef struct attempt {
    int parts;
    bool euler; /* theta = 1 */
    bool exact; /* must not err too much */
} attempt;

void slide_advance(const slide_model *model, slide_state *state, slide_scratch *s, const solver_input *input,
                   cutis_step_stats *stats)
{
    static const attempt attempts[] = {{1, false, true}, {2, false, false}, {1, true, false}, {4, true, false}};
    enum { EXACT, FINER, ROBUST, LAST };
    size_t count = (size_t)model->point_count;
    size_t place_bytes = count * sizeof *state->places;
    size_t velocity_bytes = 2 * count * sizeof *state->velocities;

    /* as it was, should the step have to be taken again */
    memcpy(s->places, state->places, place_bytes);
    memcpy(s->old_places, state->places, place_bytes);
    memcpy(s->old_velocities, state->velocities, velocity_bytes);
    memcpy(s->first_gains, state->gains, velocity_bytes);

    for (int way = EXACT, next = EXACT; next >= 0; way = next) {
        const attempt *how = &attempts[way];
        double h = model->h / how->parts;
        double b = how->euler ? 1 : slide_min(0.5 + 0.5 * model->viscosity / h, 1);

        next = -1;

        /* from the beginning again */
        if (way != EXACT) {
            memcpy(state->places, s->old_places, place_bytes);
            memcpy(state->velocities, s->old_velocities, velocity_bytes);
            memcpy(state->gains, s->first_gains, velocity_bytes);
            slide_skin_points(model, s, state->places, input->jobs);
        }

        for (int part = 0; part < how->parts && next < 0; part++) {
            /* the body goes straight; at first it is where it ends */
            double share = (double)(part + 1) / how->parts;
            for (size_t i = 0; i < 3 * count && way != EXACT; i++) {
                double to = (double)state->surface[i];
                double from = (double)s->old_surface[i];
                s->x[i] = (part + 1 == how->parts ? to : from + share * (to - from)) / model->unit;
            }

            /* inexact: in parts; not arrived: the robust way, in parts at last */
            double error;
            if (!step_part(model, state, s, input, h, b, &error, stats)) {
                if (way == LAST)
                    stats->unconverged++;
                else
                    next = way == ROBUST ? LAST : ROBUST;
            } else if (how->exact && error > error_limit) {
                next = FINER;
            }
        }
    }

    stats->repairs += repair(model, state->velocities);
}
