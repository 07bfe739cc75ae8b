/*
 * contact_pair.c: one pair of features: nearest points, impact time, projection, friction.
 *
 * The constraint is that of Deul and Bender 2013, section 4.5, C = n . (difference of the nearest points), with
 * one departure: normal and weights are those of the nearest points at the start of the step and are kept, so
 * that the gradient is weights x n (which for point-triangle and edge-edge pairs at their nearest points equals
 * the paper's, since the terms from turning the normal vanish there), and no sign can flip.
 */
#include "contact/contact.h"

/* Advancement stops after this many steps; what is left is treated as an impact there, which is safe. */
enum { IMPACT_STEPS = 24 };
/* A long step is worth a try when it is this many times longer than the distance allows. */
static const float LEAST_GAIN = 4;

static vec3 at(const float *positions, int i) { return vec3_load(positions + 3 * i); }

static vec3 pair_difference(const contact_pair *pair, const vec3 p[4], float weights[4])
{
    if (pair->kind == CONTACT_POINT_TRIANGLE) {
        float b[3];
        vec3 nearest = triangle_closest(p[0], p[1], p[2], p[3], b);
        weights[0] = 1;
        weights[1] = -b[0];
        weights[2] = -b[1];
        weights[3] = -b[2];
        return vec3_sub(p[0], nearest);
    }

    /* edge against edge */
    float s, t;
    segment_closest(p[0], p[1], p[2], p[3], &s, &t);
    weights[0] = 1 - s;
    weights[1] = s;
    weights[2] = t - 1;
    weights[3] = -t;

    return vec3_sub(vec3_lerp(p[0], p[1], s), vec3_lerp(p[2], p[3], t));
}

void contact_pair_nearest(contact_pair *pair, const float *positions)
{
    vec3 p[4] = {at(positions, pair->v[0]), at(positions, pair->v[1]), at(positions, pair->v[2]),
                 at(positions, pair->v[3])};
    vec3 d = pair_difference(pair, p, pair->weights);
    pair->distance = vec3_length(d);
    pair->normal = vec3_normalize(d);
}

typedef struct dvec3 {
    double x, y, z;
} dvec3;

static dvec3 way_of(vec3 from, vec3 to)
{
    return (dvec3){(double)to.x - from.x, (double)to.y - from.y, (double)to.z - from.z};
}

static dvec3 dvec3_cross(dvec3 a, dvec3 b)
{
    return (dvec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static double dvec3_dot(dvec3 a, dvec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/*
 * Whether the lines of two edges, or a point and the plane of a triangle, stay further apart than gap. Their distance
 * is f / |n|, f the volume that the four points span and n the product of two sides: f is cubic in time and n
 * quadratic, and both are within the range of their Bezier control values. In double: f is tiny where features all but
 * touch.
 */
static bool pair_parted(const contact_pair *pair, const vec3 p[2][4], float gap)
{
    bool face = pair->kind == CONTACT_POINT_TRIANGLE;
    dvec3 w[2], a[2], b[2]; /* from one feature to the other, and the two sides, at start and end */

    for (int t = 0; t < 2; t++) {
        w[t] = way_of(p[t][face ? 1 : 2], p[t][0]);
        a[t] = way_of(p[t][face ? 1 : 0], p[t][face ? 2 : 1]);
        b[t] = way_of(p[t][face ? 1 : 2], p[t][3]);
    }

    /* coefficients of the triple product over the step, as a cubic in Bernstein form */
    dvec3 n0 = dvec3_cross(a[0], b[0]), n2 = dvec3_cross(a[1], b[1]);
    dvec3 n1 = dvec3_cross(a[0], b[1]), other = dvec3_cross(a[1], b[0]);
    n1 = (dvec3){0.5 * (n1.x + other.x), 0.5 * (n1.y + other.y), 0.5 * (n1.z + other.z)};
    double f[4] = {dvec3_dot(w[0], n0), (dvec3_dot(w[1], n0) + 2 * dvec3_dot(w[0], n1)) / 3,
                   (2 * dvec3_dot(w[1], n1) + dvec3_dot(w[0], n2)) / 3, dvec3_dot(w[1], n2)};

    double longest = sqrt(MAX(dvec3_dot(n0, n0), MAX(dvec3_dot(n1, n1), dvec3_dot(n2, n2))));
    double sign = f[0] < 0 ? -1 : 1;

    /* all four on one side, far enough from 0: it cannot vanish in between */
    for (int i = 0; i < 4; i++)
        if (!(sign * f[i] > gap * longest)) return false;
    return true;
}

float contact_pair_impact(const contact_pair *pair, const float *start, const float *end, float gap)
{
    vec3 p[4], d[4], mean = {0, 0, 0};

    /* motions relative to their mean: a common translation cannot bring an impact */
    for (int i = 0; i < 4; i++) {
        p[i] = at(start, pair->v[i]);
        d[i] = vec3_sub(at(end, pair->v[i]), p[i]);
        mean = vec3_madd(mean, d[i], 0.25f);
    }
    for (int i = 0; i < 4; i++) d[i] = vec3_sub(d[i], mean);

    /* an upper bound of the speed at which the two features approach */
    int first = pair->kind == CONTACT_POINT_TRIANGLE ? 1 : 2;
    float reach[2] = {0, 0};
    for (int i = 0; i < 4; i++) {
        float length = vec3_length(d[i]);
        if (length > reach[i >= first]) reach[i >= first] = length;
    }

    float speed = (reach[0] + reach[1]) * 1.0001f;
    if (pair->distance - gap > speed) return 2;

    /* conservative advancement */
    float t = 0, weights[4];
    for (int step = 0; step < IMPACT_STEPS; step++) {
        vec3 q[2][4];
        for (int i = 0; i < 4; i++) q[0][i] = vec3_madd(p[i], d[i], t);
        float distance = step == 0 ? pair->distance : vec3_length(pair_difference(pair, q[0], weights));

        float room = distance - gap;
        if (step > 0 && room < 0.02f * gap) return t;

        float next = t + MAX(room, 0) / speed;
        if (next >= 1) return 2;
        if (room <= 0) return t;

        /* Features that slide along each other, all but touching, would take endless steps: try longer ones. */
        for (float long_step = 1 - t; long_step > LEAST_GAIN * (next - t); long_step *= 0.25f) {
            for (int i = 0; i < 4; i++) q[1][i] = vec3_madd(p[i], d[i], t + long_step);
            if (!pair_parted(pair, q, gap)) continue;
            next = t + long_step;
            break;
        }
        if (next >= 1) return 2;
        t = next;
    }
    return t;
}

static inline float pair_value(const contact_pair *pair, const float *positions)
{
    vec3 d = {0, 0, 0};
    for (int i = 0; i < 4; i++) d = vec3_madd(d, at(positions, pair->v[i]), pair->weights[i]);
    return vec3_dot(d, pair->normal);
}

float contact_pair_value(const contact_pair *pair, const float *positions) { return pair_value(pair, positions); }

static float pair_mass(const contact_pair *pair, const float *inverse_masses)
{
    float sum = 0;
    for (int i = 0; i < 4; i++) sum += inverse_masses[pair->v[i]] * pair->weights[i] * pair->weights[i];
    return sum;
}

static void pair_apply(const contact_pair *pair, const float *inverse_masses, vec3 impulse, float *values)
{
    for (int i = 0; i < 4; i++) {
        float *x = values + 3 * pair->v[i];
        vec3_store(x, vec3_madd(vec3_load(x), impulse, inverse_masses[pair->v[i]] * pair->weights[i]));
    }
}

static inline float pair_project(contact_pair *pair, const float *inverse_masses, float *positions)
{
    float value = pair_value(pair, positions) - pair->gap;
    if (value >= 0 && pair->lambda <= 0) return 0;
    float mass = pair_mass(pair, inverse_masses);
    if (!(mass > 0)) return 0;
    float next = MAX(pair->lambda - value / mass, 0);
    float change = next - pair->lambda;
    pair->lambda = next;
    pair_apply(pair, inverse_masses, vec3_scale(pair->normal, change), positions);
    return change;
}

float contact_pair_project(contact_pair *pair, const float *inverse_masses, float *positions)
{
    return pair_project(pair, inverse_masses, positions);
}

void contact_pairs_project(contact_pair *pairs, int count, const float *inverse_masses, float *positions)
{
    for (int i = 0; i < count; i++) pair_project(pairs + i, inverse_masses, positions);
}

void contact_pair_velocity(const contact_pair *pair, const float *inverse_masses, float friction, float restitution,
                           float approach, float impulse, float *velocities)
{
    float mass = pair_mass(pair, inverse_masses);
    if (!(mass > 0)) return;

    /* relative velocity of the two features */
    vec3 v = {0, 0, 0};
    for (int i = 0; i < 4; i++) v = vec3_madd(v, at(velocities, pair->v[i]), pair->weights[i]);

    /* normal: at least the speed of restitution */
    float normal_speed = vec3_dot(v, pair->normal);
    float wanted = approach < 0 ? -restitution * approach : 0;
    if (normal_speed < wanted)
        pair_apply(pair, inverse_masses, vec3_scale(pair->normal, (wanted - normal_speed) / mass), velocities);

    /* tangent: Coulomb friction, at most to rest */
    vec3 slip = vec3_madd(v, pair->normal, -normal_speed);
    float speed = vec3_length(slip);
    if (speed > 0) {
        float cut = MIN(friction * impulse, speed);
        pair_apply(pair, inverse_masses, vec3_scale(slip, -cut / (speed * mass)), velocities);
    }
}
