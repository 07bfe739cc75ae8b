/*
 * contact_resolve.c: makes the motion of a step free of impacts.
 *
 * First passes of Gauss-Seidel over the pairs: what would hit is projected, at the normal of the impact, to the
 * side it came from (Bridson, Fedkiw, Anderson 2002, with positions for velocities). Impacts that resist become
 * rigid impact zones (Provot 1997): their points take the rigid motion that fits their wishes best, zones that
 * meet are merged. A rigid motion of a piece without intersections has none, so this ends.
 */
#include <string.h>

#include "contact/contact.h"

enum { PROJECT_PASSES = 12, ZONE_PASSES = 16, SHORTEN_PASSES = 10, SHORTEN_HALVINGS = 3 };
/*
 * Pairs to look at in each of the two loops, for each point and at least: far more than any motion of a body needs, and
 * an end to what torn bones would ask for.
 */
enum { PAIR_BUDGET = 60, PAIR_BUDGET_LEAST = 1 << 18 };

/* Below this share of the gap to keep, a pair may come hardly closer: at a thousandth the search takes it for touching.
 */
static const float LEAST_GAP = 4e-3f;

/*
 * The distance that motion may not undercut. A tenth of the gap to keep; what is closer already may come only a
 * little closer, lest distances shrink step by step into the rounding of floats.
 */
static float gap_hard(const contact_pair *pair)
{
    float closer = MAX(0.9f * pair->distance, MIN(0.99f * pair->distance, LEAST_GAP * pair->gap));
    return MIN(closer, 0.1f * pair->gap);
}

static bool strayed(const contact_surface *surface, const contact_work *work, const float *end,
                    const contact_search_options *options)
{
    for (int p = 0; p < surface->mesh->point_count; p++)
        if (contact_strayed(surface, work, end, options, p)) return true;
    return false;
}

/* Whether a point of the pair was moved in this pass. */
static bool pair_touched(const contact_pair *pair, const int *moved, int pass)
{
    const int *v = pair->v;
    return MAX(MAX(moved[v[0]], moved[v[1]]), MAX(moved[v[2]], moved[v[3]])) >= pass;
}

/* Whether a point of the pair was moved in this pass or the one before: what has not hit then does not hit now. */
static bool pair_moved(const contact_pair *pair, const int *moved, int pass)
{
    return pair_touched(pair, moved, pass - 1);
}

/* Two bodies that go where they go: nothing can be done about it. */
static bool pair_fixed(const contact_pair *pair, const float *inverse_masses)
{
    for (int k = 0; k < 4; k++)
        if (inverse_masses[pair->v[k]] > 0) return false;
    return true;
}

/* Pairs that a thread takes at once. */
enum { PAIR_GRAIN = 256 };

/* A pass over the pairs, as threads see it. */
typedef struct impact_pass {
    contact_work *work;
    const float *start, *end, *inverse_masses;
    const int *moved;
    int pass;
    bool all; /* not only pairs that were moved */
} impact_pass;

/* The times of impact from the ends that the pass begins with; 2: none. */
static void impacts_find(void *context, int begin, int end)
{
    const impact_pass *p = context;
    for (int i = begin; i < end; i++) {
        const contact_pair *pair = p->work->pairs + i;
        bool wanted = (p->all || pair_moved(pair, p->moved, p->pass)) && !pair_fixed(pair, p->inverse_masses);
        p->work->times[i] = wanted ? contact_pair_impact(pair, p->start, p->end, gap_hard(pair)) : 2;
    }
}

/* Impacts before this share of the step are lifted as if they were at it. */
static const float LEAST_TIME = 0.1f;

/* Push the pair apart at `end`, along the normal it has at time t of the motion. */
static void impact_project(const contact_pair *pair, float t, const float *start, float *end,
                           const float *inverse_masses)
{
    float q[12];
    contact_pair hit = *pair;

    /* the nearest points at the time of impact */
    for (int i = 0; i < 4; i++) {
        vec3 a = vec3_load(start + 3 * pair->v[i]), b = vec3_load(end + 3 * pair->v[i]);
        vec3_store(q + 3 * i, vec3_lerp(a, b, t));
        hit.v[i] = i;
    }
    contact_pair_nearest(&hit, q);

    memcpy(hit.v, pair->v, sizeof hit.v);
    hit.gap = MIN(0.5f * pair->gap, 2 * pair->distance);
    hit.lambda = 0;

    /* Where the end is fine, it is the way there that must be lifted, at the time of the impact. */
    float lift = MIN(pair->distance, 1.5f * gap_hard(pair)) - hit.distance;
    if (lift > 0) hit.gap = MAX(hit.gap, contact_pair_value(&hit, end) + lift / MAX(t, LEAST_TIME));
    contact_pair_project(&hit, inverse_masses, end);
}

/* Whether a zone holds a point of the pair: others have not moved since the first pass looked at them. */
static bool pair_zoned(const contact_pair *pair, const int *zones)
{
    const int *v = pair->v;
    return MAX(MAX(zones[v[0]], zones[v[1]]), MAX(zones[v[2]], zones[v[3]])) >= 0;
}

static void zone_join(int *zones, int a, int b)
{
    if (zones[a] < 0) zones[a] = a;
    if (zones[b] < 0) zones[b] = b;
    forest_join(zones, a, b);
}

/*
 * Every zone to the rigid motion from start that fits `wish` best. data: 16 floats a point, kept at the roots. Points
 * without mobility go where they go: a zone that holds some goes along with them.
 */
static int zones_move(int n, int *zones, const float *start, const float *wish, const float *inverse_masses,
                      float *data, float *end)
{
    const float fixed = 1e4f; /* weight of such a point in the fit */
    int count = 0;

    /* centroids of each zone at the start and at the end */
    for (int p = 0; p < n; p++) {
        if (zones[p] < 0) continue;
        float *z = data + 16 * forest_root(zones, p);
        if (zones[p] == p) memset(z, 0, 16 * sizeof(float));
        count++;
        float weight = inverse_masses[p] > 0 ? 1 : fixed;
        for (int k = 0; k < 3; k++) z[k] += weight * start[3 * p + k], z[3 + k] += weight * wish[3 * p + k];
        z[6] += weight;
    }

    /* Roots are the lowest points of their zones, so that they come first above and in the next loop. */
    for (int p = 0; p < n; p++) {
        if (zones[p] < 0) continue;
        float *z = data + 16 * forest_root(zones, p);
        if (zones[p] == p) {
            for (int k = 0; k < 6; k++) z[k] /= z[6];
            memset(z + 7, 0, 9 * sizeof(float));
        }

        float weight = inverse_masses[p] > 0 ? 1 : fixed;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                z[7 + 3 * i + j] += weight * (wish[3 * p + i] - z[3 + i]) * (start[3 * p + j] - z[j]);
    }

    /* the best rigid motion of each zone moves its points */
    for (int p = 0; p < n; p++) {
        if (zones[p] < 0) continue;
        float *z = data + 16 * forest_root(zones, p);
        if (zones[p] == p) {
            mat3 a;
            memcpy(a.m, z + 7, sizeof a.m);
            mat3 r = quat_matrix(polar_rotation(a, quat_identity(), 20));
            memcpy(z + 7, r.m, sizeof r.m);
        }

        mat3 r;
        memcpy(r.m, z + 7, sizeof r.m);
        vec3 local = vec3_sub(vec3_load(start + 3 * p), vec3_load(z));
        vec3_store(end + 3 * p, vec3_add(vec3_load(z + 3), mat3_vector(r, local)));
    }

    return count;
}

/*
 * What still would hit goes less far: its points take half of their way beyond the mean motion, at last none of it.
 * What hits even then stops everything at the first impact. So the end is free of impacts whatever was asked for.
 * Returns whether all had to stop.
 */
static bool motion_shorten(const contact_surface *surface, contact_work *work, const float *start, float *end,
                           const float *inverse_masses, const contact_search_options *options, const cutis_jobs *jobs)
{
    int n = surface->mesh->point_count;
    float *wish = work->wishes, *shares = work->zone_data;
    double sum[3] = {0};

    /* the common translation never causes an impact and is kept */
    for (int p = 0; p < n; p++)
        for (int k = 0; k < 3; k++) sum[k] += (double)end[3 * p + k] - start[3 * p + k];
    vec3 mean = {(float)(sum[0] / n), (float)(sum[1] / n), (float)(sum[2] / n)};

    memcpy(wish, end, (size_t)n * 3 * sizeof(float));
    for (int p = 0; p < n; p++) shares[p] = 1;
    float first = 1;

    /* shorten until nothing meets */
    for (int pass = 0; pass <= SHORTEN_PASSES; pass++) {
        contact_search_update(surface, work, start, end, options, jobs);

        /* every point that takes part in an impact */
        bool hit = false;
        for (int i = 0; i < work->pair_count; i++) {
            const contact_pair *pair = work->pairs + i;
            if (pair_fixed(pair, inverse_masses)) continue;
            float t = contact_pair_impact(pair, start, end, gap_hard(pair));
            if (t > 1) continue;
            hit = true;
            first = pass == SHORTEN_PASSES ? MIN(first, t) : 1;

            /* Marked by a sign: each is shortened once a pass, however many impacts it has. */
            for (int k = 0; k < 4; k++) shares[pair->v[k]] = -fabsf(shares[pair->v[k]]);
        }
        if (!hit) return false;

        /* halve their motions; in the last pass stop all at the first impact */
        for (int p = 0; p < n; p++) {
            if (!(inverse_masses[p] > 0)) continue;
            if (pass == SHORTEN_PASSES) {
                vec3 from = vec3_load(start + 3 * p), way = vec3_sub(vec3_sub(vec3_load(end + 3 * p), from), mean);
                vec3_store(end + 3 * p, vec3_madd(vec3_add(from, mean), way, first));
            } else if (signbit(shares[p])) {
                shares[p] = pass < SHORTEN_HALVINGS ? -0.5f * shares[p] : 0;
                vec3 from = vec3_add(vec3_load(start + 3 * p), mean), way = vec3_sub(vec3_load(wish + 3 * p), from);
                vec3_store(end + 3 * p, vec3_madd(from, way, shares[p]));
            }
        }
    }

    return true;
}

contact_resolve_stats contact_resolve(const contact_surface *surface, contact_work *work, const float *start,
                                      float *end, const float *inverse_masses, const contact_search_options *options,
                                      bool searched, const cutis_jobs *jobs)
{
    contact_resolve_stats stats = {0};
    int n = surface->mesh->point_count;

    if (!searched) contact_search(surface, work, start, end, options, jobs);
    bool fresh = !searched || !strayed(surface, work, end, options);

    int *moved = work->zones; /* the last pass that moved each point */
    for (int p = 0; p < n; p++) moved[p] = -1;

    const long all = MAX((long)PAIR_BUDGET * n, PAIR_BUDGET_LEAST);
    long budget = all;

    /* first, projections of single impacts */
    for (int pass = 0; pass < PROJECT_PASSES && budget > 0; pass++) {
        bool searching = !fresh;
        if (searching) contact_search_update(surface, work, start, end, options, jobs);

        fresh = true;
        budget -= work->pair_count;
        int hits = 0;

        /* as the ends are now, by all threads; then in turn, anew for what the pass itself has moved */
        impact_pass found = {work, start, end, inverse_masses, moved, pass, searching};
        parallel_for(jobs, work->pair_count, PAIR_GRAIN, impacts_find, &found);
        for (int i = 0; i < work->pair_count; i++) {
            const contact_pair *pair = work->pairs + i;
            float t = work->times[i];
            if (pair_touched(pair, moved, pass) && !pair_fixed(pair, inverse_masses))
                t = contact_pair_impact(pair, start, end, gap_hard(pair));
            if (t > 1) continue;
            impact_project(pair, t, start, end, inverse_masses);
            for (int k = 0; k < 4; k++) moved[pair->v[k]] = pass;
            hits++;
        }

        stats.passes++;
        stats.impacts += hits;
        if (hits == 0) {
            if (pass == 0 || !strayed(surface, work, end, options)) return stats;
            fresh = false;
        }
    }

    /* then rigid impact zones */
    int *zones = work->zones;
    for (int p = 0; p < n; p++) zones[p] = -1;
    float *wish = work->wishes;
    memcpy(wish, end, (size_t)n * 3 * sizeof(float));

    budget = all;
    for (int pass = 0; pass < ZONE_PASSES && budget > 0; pass++) {
        contact_search_update(surface, work, start, end, options, jobs);
        budget -= work->pair_count;
        int hits = 0;

        /* join the points of each impact to one zone */
        for (int i = 0; i < work->pair_count; i++) {
            const contact_pair *pair = work->pairs + i;
            if (pass > 0 && !pair_zoned(pair, zones)) continue;
            if (pair_fixed(pair, inverse_masses)) continue;
            if (contact_pair_impact(pair, start, end, gap_hard(pair)) > 1) continue;

            int first = zones[pair->v[0]] < 0 ? -1 : forest_root(zones, pair->v[0]);
            bool rigid = first >= 0;
            for (int k = 1; k < 4 && rigid; k++)
                rigid = zones[pair->v[k]] >= 0 && forest_root(zones, pair->v[k]) == first;
            if (rigid) continue; /* a rigid turn only looks like an impact on straight ways */

            for (int k = 1; k < 4; k++) zone_join(zones, pair->v[0], pair->v[k]);
            hits++;
        }

        stats.passes++;
        if (hits == 0) return stats;
        stats.zone_points = zones_move(n, zones, start, wish, inverse_masses, work->zone_data, end);
    }

    /* last, shorter motions for all */
    stats.failed = motion_shorten(surface, work, start, end, inverse_masses, options, jobs);
    return stats;
}
