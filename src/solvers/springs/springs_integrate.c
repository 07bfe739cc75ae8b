/*
 * springs_integrate.c: the way to equilibrium.
 *
 * Cordier and Magnenat-Thalmann, section 4.1: a quasi-static system, brought to rest in every substep. Two ways lead to
 * the same shape, both along dX/dt = F / D with D a bound of each node's stiffness:
 * - rk4: an embedded Runge-Kutta scheme of fourth order with an error estimate of fifth (Fehlberg 1969) and a step
 *   that adapts to it.
 * - fast: Jacobi's iteration (Euler steps of t = 1), accelerated by Chebyshev polynomials (Wang 2015), which needs one
 *   evaluation of forces where Runge-Kutta needs six for a step that stability lets be about three times as long.
 *   Most iterations move only the skin that is not at rest and what lies around it: a fist of 1,842 points has 150 of
 *   these. Every few, one iteration moves all, and only such a one may end the search.
 * After each of them the contacts correct (section 4.2.2): their forces stay in the balance, so that a constrained node
 * has no net force left along its constraint.
 */
#include <string.h>

#include "solvers/springs/springs.h"

/* Fehlberg's coefficients: slopes of each stage, weights of the fourth order, and of the error (fifth less fourth). */
static const double STAGE[6][5] = {{0},
                                   {1.0 / 4},
                                   {3.0 / 32, 9.0 / 32},
                                   {1932.0 / 2197, -7200.0 / 2197, 7296.0 / 2197},
                                   {439.0 / 216, -8, 3680.0 / 513, -845.0 / 4104},
                                   {-8.0 / 27, 2, -3544.0 / 2565, 1859.0 / 4104, -11.0 / 40}};
static const double FOURTH[6] = {25.0 / 216, 0, 1408.0 / 2565, 2197.0 / 4104, -1.0 / 5, 0};
static const double FIFTH[6] = {16.0 / 135, 0, 6656.0 / 12825, 28561.0 / 56430, -9.0 / 50, 2.0 / 55};

/*
 * Where the last two moves have one direction (cosine) and shrink by a steady rate, one slow shape is left, and its
 * whole way is taken at once; not before so many iterations, nor far from balance (tolerances).
 */
static const double LEAP_COSINE = 0.99, LEAP_SLOWEST = 0.99, LEAP_FASTEST = 0.7, LEAP_NEAR = 64;
enum { LEAP_EARLIEST = 8 };
/* Steps of the first iterations are not accelerated: contacts settle first. */
enum { PLAIN_ITERATIONS = 2 };
/*
 * Share of the acceleration that nodes in contact get, and where there are rigid bodies, which are not accelerated: at
 * 0.8 a held soft cube no longer comes to rest.
 */
static const float HELD_SHARE = 0.5f, HELD_SHARE_BODIES = 0.25f;
/* Iterations without progress after which it is halved. */
enum { IDLE_LONGEST = 60 };
/* Factors of the steps of a node whose force turns round, and of others. */
static const float CALM_DOWN = 0.7f, CALM_UP = 1.05f;
/*
 * Local iterations between two over all nodes, doubled from the shortest to the longest stretch; rings around what they
 * move; and the share of the tolerance that counts as rest.
 */
enum { LOCAL_SHORTEST = 4, LOCAL_LONGEST = 32, LOCAL_RINGS = 2 };
static const float LOCAL_REST = 0.125f;
/* Longest pseudo-time step: the scheme is stable up to about 3 for eigenvalues up to 1. */
static const float RK_LONGEST = 2.8f, RK_SHORTEST = 0.05f;
/* The same with contacts: their multipliers take a node's way for that of a step of 1. */
static const float RK_TOUCHING = 1;

typedef struct rk_job {
    springs_run *run;
    const float *x;
    float *out;
    int stage; /* slopes known; 6: the result */
    float t;
} rk_job;

static void rk_combine(void *context, int begin, int end)
{
    rk_job *job = context;
    const springs_scratch *w = &job->run->w;
    size_t floats = (size_t)job->run->m->node_count * NODE;
    double worst = 0;

    for (int node = begin; node < end; node++) {
        double error2 = 0;

        /* the weighted slopes so far; at the end also the difference between the two orders */
        for (int c = 0; c < 3; c++) {
            size_t at = (size_t)node * NODE + (size_t)c;
            double step = 0, error = 0;
            for (int s = 0; s < job->stage; s++) {
                double slope = (double)w->stages[(size_t)s * floats + at];
                step += (job->stage == 6 ? FOURTH[s] : STAGE[job->stage][s]) * slope;
                if (job->stage == 6) error += (FIFTH[s] - FOURTH[s]) * slope;
            }
            job->out[at] = (float)((double)job->x[at] + (double)job->t * step);
            error2 += error * error;
        }

        worst = MAX(worst, error2);
    }

    w->partial[begin / NODE_GRAIN] = worst * (double)job->t * (double)job->t;
}

static void rk_slopes(void *context, int begin, int end)
{
    rk_job *job = context;
    const springs_scratch *w = &job->run->w;
    float *slopes = w->stages + (size_t)job->stage * (size_t)job->run->m->node_count * NODE;
    for (int node = begin; node < end; node++)
        vec3_store(slopes + NODE * (size_t)node, vec3_scale(vec3_load(w->force + NODE * (size_t)node), w->give[node]));
}

double springs_rk_step(springs_run *run, float *x, float t)
{
    const springs_model *m = run->m;
    rk_job job = {.run = run, .x = x, .out = run->w.next, .t = t};

    /* six slopes */
    run->at = x;
    for (int s = 0; s < 6; s++) {
        job.stage = s;
        if (s > 0) {
            parallel_for(run->input->jobs, m->node_count, NODE_GRAIN, rk_combine, &job);
            run->at = run->w.next;
        }

        double before = run->residual;
        springs_net(run);
        if (s > 0) run->residual = before; /* that of the first stage counts */
        parallel_for(run->input->jobs, m->node_count, NODE_GRAIN, rk_slopes, &job);
    }

    /* the fourth-order step, and its difference from the fifth */
    job.stage = 6;
    parallel_for(run->input->jobs, m->node_count, NODE_GRAIN, rk_combine, &job);

    double worst = 0;
    for (int i = 0; i * NODE_GRAIN < m->node_count; i++) worst = MAX(worst, run->w.partial[i]);
    return sqrt(worst);
}

static void euler_step(void *context, int begin, int end)
{
    springs_run *run = context;
    for (int i = begin; i < end; i++) {
        int node = run->local ? run->w.local[i] : i;
        size_t at = (size_t)node * NODE;
        vec3 x = vec3_load(run->s.x + at), f = vec3_load(run->w.force + at);

        float give = run->w.give[node];

        /* A force that turns round tells of skin that is stiffer than its bound: it takes shorter steps. */
        if (node < run->m->point_count) {
            float *calm = run->w.calm + at;
            bool turns = vec3_dot(f, vec3_load(calm)) < 0;
            vec3_store(calm, f);
            calm[3] = turns ? CALM_DOWN * calm[3] : MIN(CALM_UP * calm[3], 1.0f);
            give *= calm[3];
        }
        vec3_store(run->w.next + at, vec3_madd(x, f, give));
    }
}

/* Extrapolate from the last iterate over the new one. */
static void chebyshev_step(void *context, int begin, int end)
{
    springs_run *run = context;
    double *moves = run->w.moves + 3 * (begin / NODE_GRAIN);
    moves[0] = moves[1] = moves[2] = 0;
    for (int n = begin; n < end; n++) {
        int node = run->local ? run->w.local[n] : n;
        size_t at = (size_t)node * NODE;

        /* Nodes in contact go less far beyond: what is extrapolated goes through, and comes back as force. */
        bool held = vec3_length2(vec3_load(run->w.push + at)) > 0;
        float omega = held ? 1 + run->share * (run->omega - 1) : run->omega;
        vec3 old = vec3_load(run->s.x + at), last = vec3_load(run->w.last + at);
        vec3 now = vec3_madd(last, vec3_sub(vec3_load(run->w.next + at), last), omega);
        vec3_store(run->w.last + at, old);
        vec3_store(run->s.x + at, now);

        /* the move before, and this one */
        vec3 before = vec3_sub(old, last), after = vec3_sub(now, old);
        float give = run->w.give[node], stiff = give > 0 ? 1 / give : 0;
        moves[0] += (double)(stiff * vec3_length2(before));
        moves[1] += (double)(stiff * vec3_dot(before, after));
        moves[2] += (double)(stiff * vec3_length2(after));
    }
}

/*
 * What is left of a slow way, in moves like the last; 0: moves do not tell. A shape that shrinks by `rate` has as much
 * ahead as all its further moves together.
 */
static float leap_find(const springs_run *run, int count)
{
    if (run->residual > LEAP_NEAR * (double)run->m->tolerance) return 0;

    /* the last two moves of all nodes */
    double moves[3] = {0};
    for (int block = 0; block * NODE_GRAIN < count; block++)
        for (int k = 0; k < 3; k++) moves[k] += run->w.moves[3 * block + k];

    bool straight = moves[1] > 0 && moves[1] * moves[1] > LEAP_COSINE * LEAP_COSINE * moves[0] * moves[2];
    double rate = straight ? moves[1] / moves[0] : 0;
    return rate > LEAP_FASTEST && rate < LEAP_SLOWEST ? (float)(rate / (1 - rate)) : 0;
}

static void leap_take(springs_run *run, int count, float leap)
{
    for (int n = 0; n < count; n++) {
        size_t at = (size_t)(run->local ? run->w.local[n] : n) * NODE;
        vec3 now = vec3_load(run->s.x + at), move = vec3_sub(now, vec3_load(run->w.last + at));
        now = vec3_madd(now, move, leap);
        vec3_store(run->s.x + at, now);
        vec3_store(run->w.last + at, now);
    }
}

/* Add the neighbours of the points marked with `ring` - 1. */
static void ring_add(const mesh *skin, uint8_t *marks, uint8_t ring)
{
    for (int p = 0; p < skin->point_count; p++) {
        if (marks[p] != ring - 1) continue;
        for (int k = skin->point_neighbour_first[p]; k < skin->point_neighbour_first[p + 1]; k++)
            if (!marks[skin->point_neighbours[k]]) marks[skin->point_neighbours[k]] = ring;
    }
}

/*
 * The nodes that further iterations move: skin that is not at rest, what bears, and a rim around both; all soft nodes.
 * The blocks of edges that these need.
 */
static void local_find(springs_run *run)
{
    const springs_model *m = run->m;
    uint8_t *marks = run->w.marks;

    /* skin that is not at rest, or that bears */
    float rest = LOCAL_REST * m->tolerance;
    for (int p = 0; p < m->point_count; p++) marks[p] = run->w.unrest[p] > rest * rest;
    for (int i = 0; i < run->active_count; i++) {
        const springs_contact *c = run->w.contacts + run->w.active[i];
        for (int k = 0; k < c->count; k++)
            if (c->v[k] < m->point_count) marks[c->v[k]] = 1;
    }
    for (int ring = 2; ring < 2 + LOCAL_RINGS; ring++) ring_add(m->skin, marks, (uint8_t)ring);

    /* the list; what is not in it loses its momentum */
    run->local_count = 0;
    for (int p = 0; p < m->point_count; p++) {
        if (marks[p])
            run->w.local[run->local_count++] = p;
        else
            memcpy(run->w.last + NODE * p, run->s.x + NODE * p, NODE * sizeof(float));
    }
    run->local_skin = run->local_count;
    for (int i = 0; i < m->soft.node_count; i++) run->w.local[run->local_count++] = m->soft.nodes[i];

    /* blocks of edges: each in its own place, then closed up */
    int *blocks = run->w.blocks;
    run->local_blocks = 0;
    for (int b = 0; b < m->edges.blocks; b++) blocks[b] = -1;
    for (int i = 0; i < run->local_skin; i++) {
        int p = run->w.local[i];
        for (int k = m->incident_first[p]; k < m->incident_first[p + 1]; k++) {
            int b = m->incident[k] / (EDGE * LANES);
            blocks[b] = b;
        }
    }
    for (int b = 0; b < m->edges.blocks; b++)
        if (blocks[b] >= 0) blocks[run->local_blocks++] = b;
}

static void fast_iterate(springs_run *run, cutis_step_stats *stats)
{
    const springs_model *m = run->m;
    const cutis_jobs *jobs = run->input->jobs;
    size_t bytes = (size_t)m->node_count * NODE * sizeof(float);

    /* begin with plain steps */
    memcpy(run->w.last, run->s.x, bytes);
    double best = 1e30, leapt = 1e30; /* residuals: the least, and that of the last leap */
    int since = 0, idle = 0, locals = 0, stretch = LOCAL_SHORTEST;
    run->omega = 1;
    run->share = m->bodies ? HELD_SHARE_BODIES : HELD_SHARE;
    run->active_count = 0;
    for (int i = 0; i < m->point_count * NODE; i++) run->w.calm[i] = i % NODE == 3;

    /* a plain step, which contacts correct */
    for (int i = 0;; i++) {
        bool last = i >= m->iterations;
        run->local = locals > 0 && !last;
        run->at = run->s.x;
        springs_net(run);
        float moved = 0;
        int count = run->local ? run->local_count : m->node_count;
        parallel_for(jobs, count, NODE_GRAIN, euler_step, run);
        if (m->soft.node_count > 0) springs_soft_step(run);
        if (run->contact_count > 0) moved = springs_contacts_correct(run, run->w.next);
        run->residual = MAX(run->residual, run->body_residual);

        /* balanced, or given up */
        bool met = run->residual < (double)m->tolerance && moved < m->contact_tolerance;
        locals = run->local && met ? 0 : locals - 1;
        if ((met && !run->local) || last) {
            /* With nothing left to balance the state stays as it is, to the bit. */
            if (moved > 0) memcpy(run->s.x, run->w.next, bytes);
            run->local = false;
            stats->unconverged += !met;
            stats->iterations += i;
            return;
        }

        /* An acceleration that makes things worse, or no better for long, is begun anew, with more care in contact. */
        idle = run->residual < best ? 0 : idle + 1;
        if (run->residual > 4 * best || idle > IDLE_LONGEST) {
            if (since > PLAIN_ITERATIONS) run->share *= 0.5f;
            since = 0;
            idle = 0;
            best = run->residual;
        }

        /* Chebyshev's factor, after some plain iterations */
        best = MIN(best, run->residual);
        float rho2 = m->spectral * m->spectral;
        run->omega = since < PLAIN_ITERATIONS    ? 1
                     : since == PLAIN_ITERATIONS ? 2 / (2 - rho2)
                                                 : 4 / (4 - rho2 * run->omega);
        since++;
        parallel_for(jobs, count, NODE_GRAIN, chebyshev_step, run);

        /* one slow shape that is left goes all its way at once */
        bool helped = run->residual < 0.5 * leapt; /* else leaps go in circles, as where skin cannot come to rest */
        float leap = since > LEAP_EARLIEST && helped && !m->bodies ? leap_find(run, count) : 0;
        if (!m->bodies) springs_contacts_extrapolate(run, leap > 0 ? 1 + leap : 1 + run->share * (run->omega - 1));
        if (leap > 0) {
            leap_take(run, count, leap);
            leapt = run->residual;
            since = 0;
            idle = 0;
            best = 1e30;
        }

        /* most iterations are local; those over all tell what they leave out */
        if (!run->local) {
            local_find(run);
            locals = stretch;
            stretch = MIN(2 * stretch, LOCAL_LONGEST);
        }
    }
}

static void rk_iterate(springs_run *run, cutis_step_stats *stats)
{
    const springs_model *m = run->m;
    size_t bytes = (size_t)m->node_count * NODE * sizeof(float);

    float t = 1;
    double allowed = 0.3 * (double)m->contact_tolerance;
    float moved = 0; /* by the contacts, after the last step */

    for (int i = 0;; i++) {
        double error = springs_rk_step(run, run->s.x, t);
        run->residual = MAX(run->residual, run->body_residual);
        if (run->residual < (double)m->tolerance && moved < m->contact_tolerance && i > 0) {
            stats->iterations += i;
            return;
        }

        if (i == 0 && run->residual < (double)m->tolerance && run->contact_count == 0) return;
        if (i >= 8 * m->iterations) break;

        /* Far from rest the way itself does not matter: the error may be a share of what is left to go. */
        double limit = MAX(allowed, 0.05 * run->residual);
        if (error <= limit || t <= RK_SHORTEST) {
            memcpy(run->s.x, run->w.next, bytes);
            if (run->contact_count > 0) moved = springs_contacts_correct(run, run->s.x);
        }

        /* a step that the error allows */
        double grow = error > 0 ? 0.9 * sqrt(sqrt(limit / error)) : 4;
        t = CLAMP(t * (float)CLAMP(grow, 0.2, 4), RK_SHORTEST, run->contact_count > 0 ? RK_TOUCHING : RK_LONGEST);
    }

    stats->iterations += 8 * m->iterations;
    stats->unconverged++;
}

void springs_equilibrium(springs_run *run, cutis_step_stats *stats)
{
    run->body_residual = 0;
    if (run->m->rk4)
        rk_iterate(run, stats);
    else
        fast_iterate(run, stats);
    stats->residual = run->residual;
}
