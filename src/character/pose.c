/*
 * pose.c: poses of a skeleton from clips.
 *
 * No memory is needed beyond the result: a joint's twelve floats first hold its local translation, rotation
 * and scale (ten floats), and become its matrix once its parent has become one.
 */
#include <string.h>

#include "base/core.h"
#include "character/lead_in.h"
#include "cutis/character.h"
#include "math/math3.h"

enum { ROTATION = 3, SCALE = 7, LOCAL_FLOATS = 10 };
/* A lead-in goes back in its clip by less than this, seconds: about the decay time of a limb's swing. */
static const double LEAD_IN_BACK = 0.1;
/*
 * Radians a second at which half of a turn counts as a jump of the clip: a right angle in one frame of 30 a second is
 * above. A quarter of it, a fast run, counts as motion within 0.4 %.
 */
static const double JUMP_TURN = 40;

static int path_components(cutis_path path)
{
    return path == CUTIS_PATH_ROTATION ? 4 : path == CUTIS_PATH_MORPH ? 1 : 3;
}

/* The last key at or before time, at least 0. */
static int track_find(const cutis_track *track, float time)
{
    int low = 0, high = track->key_count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (track->times[middle] <= time) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* The track's value at time, held before the first key and after the last. */
static void track_sample(const cutis_track *track, double time, float *result)
{
    /* the key before, and its value between the tangents */
    int n = path_components(track->path);
    bool cubic = track->interpolation == CUTIS_INTERPOLATION_CUBIC;
    int stride = cubic ? 3 * n : n, offset = cubic ? n : 0;
    int key = track_find(track, (float)time);
    const float *a = track->values + (size_t)key * (size_t)stride + offset;

    /* before the first key and after the last the value is held */
    float t0 = track->times[key];
    bool held = key + 1 == track->key_count || time <= (double)t0;
    if (held || track->interpolation == CUTIS_INTERPOLATION_STEP) {
        memcpy(result, a, (size_t)n * sizeof *a);
    } else {
        /* how far on the way to the next key */
        const float *b = a + stride;
        double length = (double)track->times[key + 1] - (double)t0;
        double u = length > 0 ? CLAMP((time - (double)t0) / length, 0, 1) : 1;
        if (cubic) {
            /* Hermite, tangents per second: out of a behind its value, into b before its value. */
            double u2 = u * u, u3 = u2 * u;
            for (int i = 0; i < n; i++) {
                double out = (double)a[n + i] * length, in = (double)b[i - n] * length;
                result[i] = (float)((2 * u3 - 3 * u2 + 1) * (double)a[i] + (u3 - 2 * u2 + u) * out +
                                    (3 * u2 - 2 * u3) * (double)b[i] + (u3 - u2) * in);
            }
        } else if (track->path == CUTIS_PATH_ROTATION) {
            quat qa = quat_normalize((quat){a[0], a[1], a[2], a[3]});
            quat qb = quat_normalize((quat){b[0], b[1], b[2], b[3]});
            quat q = quat_slerp(qa, qb, (float)u);
            memcpy(result, &q, sizeof q);
        } else {
            for (int i = 0; i < n; i++) result[i] = (float)((double)a[i] + u * ((double)b[i] - (double)a[i]));
        }
    }

    /* rounding, and cubics, leave the unit sphere */
    if (track->path == CUTIS_PATH_ROTATION) {
        quat q = quat_normalize((quat){result[0], result[1], result[2], result[3]});
        memcpy(result, &q, sizeof q);
    }
}

/* Local values of one joint become its matrix; the parent's row must be a matrix already. */
static void local_to_world(const cutis_character *character, int joint, float *joints)
{
    float *row = joints + 12 * joint;
    mat34 m =
        mat34_compose(vec3_load(row), (quat){row[ROTATION], row[ROTATION + 1], row[ROTATION + 2], row[ROTATION + 3]},
                      vec3_load(row + SCALE));
    int parent = character->joints[joint].parent;
    if (parent >= 0) {
        mat34 world;
        memcpy(&world, joints + 12 * parent, sizeof world);
        m = mat34_multiply(world, m);
    }
    memcpy(row, &m, sizeof m);
}

/* The row of a track's values in a joint's local transform. */
static float *track_row(const cutis_track *track, float *joints)
{
    int offset = track->path == CUTIS_PATH_TRANSLATION ? 0 : track->path == CUTIS_PATH_ROTATION ? ROTATION : SCALE;
    return joints + 12 * track->target + offset;
}

/*
 * Move a value by `share` of the way from `ahead`, which is `back` seconds after it, to `now`; scales are left as they
 * are. Turns that are jumps of the clip are left out: many clips begin with one frame of another pose. Half a turn has
 * no direction, so that turns are shortened by cos^2 of half of their angle.
 */
static void value_mirror(cutis_path path, const float *now, const float *ahead, double back, float share, float *value)
{
    if (path == CUTIS_PATH_TRANSLATION) {
        for (int i = 0; i < 3; i++) value[i] += share * (now[i] - ahead[i]);
    } else if (path == CUTIS_PATH_ROTATION) {
        quat turn = quat_multiply((quat){now[0], now[1], now[2], now[3]},
                                  quat_conjugate((quat){ahead[0], ahead[1], ahead[2], ahead[3]}));
        double sine = sqrt((double)turn.x * turn.x + (double)turn.y * turn.y + (double)turn.z * turn.z);
        double jump = 2 * sine / (back * JUMP_TURN);
        float calm = (float)(1 / (1 + jump * jump * jump * jump));
        turn = quat_slerp((quat){0, 0, 0, 1}, turn, share * calm * turn.w * turn.w);
        quat q = quat_normalize(quat_multiply(turn, (quat){value[0], value[1], value[2], value[3]}));
        memcpy(value, &q, sizeof q);
    }
}

/* A clip at `time`, blended from the rest pose, and mirrored to `back` seconds before it. */
static void pose_blend(const cutis_character *character, int clip, double time, double back, float blend, float *joints)
{
    const cutis_clip *c = clip >= 0 && clip < character->clip_count ? &character->clips[clip] : NULL;
    int track_count = c ? c->track_count : 0;

    /* local transforms: idle, then as the tracks say */
    for (int j = 0; j < character->joint_count; j++) {
        memcpy(joints + 12 * j, &character->joints[j].idle, LOCAL_FLOATS * sizeof(float));
    }
    for (int i = 0; i < track_count; i++) {
        const cutis_track *track = &c->tracks[i];
        if (track->path != CUTIS_PATH_MORPH) track_sample(track, time, track_row(track, joints));
    }

    /* towards the rest pose */
    for (int j = 0; j < character->joint_count && blend < 1; j++) {
        float *row = joints + 12 * j;
        const cutis_transform *rest = &character->joints[j].rest;
        float t = MAX(blend, 0);
        vec3_store(row, vec3_lerp(vec3_load(rest->translation), vec3_load(row), t));
        quat a = {rest->rotation[0], rest->rotation[1], rest->rotation[2], rest->rotation[3]};
        quat b = {row[ROTATION], row[ROTATION + 1], row[ROTATION + 2], row[ROTATION + 3]};
        quat q = quat_slerp(a, b, t);
        memcpy(row + ROTATION, &q, sizeof q);
        vec3_store(row + SCALE, vec3_lerp(vec3_load(rest->scale), vec3_load(row + SCALE), t));
    }

    /* back, as far as it is blended: the arc from the rest pose stays the same, so that no turn takes the other way */
    for (int i = 0; i < track_count && back > 0; i++) {
        const cutis_track *track = &c->tracks[i];
        float now[4], ahead[4];
        if (track->path == CUTIS_PATH_MORPH) continue;
        track_sample(track, time, now);
        track_sample(track, time + back, ahead);
        value_mirror(track->path, now, ahead, back, CLAMP(blend, 0, 1), track_row(track, joints));
    }

    /* to the scene; parents come first */
    for (int j = 0; j < character->joint_count; j++) local_to_world(character, j, joints);
}

void cutis_pose_blend(const cutis_character *character, int clip, double time, float blend, float *joints)
{
    pose_blend(character, clip, time, 0, blend, joints);
}

void cutis_pose_sample(const cutis_character *character, int clip, double time, float *joints)
{
    pose_blend(character, clip, time, 0, 1, joints);
}

double lead_in_ease(double time, double lead_in)
{
    double u = CLAMP(time / lead_in, 0, 1);
    return u * u * u * (u * (6 * u - 15) + 10);
}

void pose_lead_in(const cutis_character *character, int clip, double first, double time, double lead_in, float *joints)
{
    double left = MAX(lead_in - time, 0), back = left / (1 + left / LEAD_IN_BACK);
    pose_blend(character, clip, first, back, (float)lead_in_ease(time, lead_in), joints);
}

void cutis_pose_morphs(const cutis_character *character, int clip, double time, float *weights)
{
    for (int m = 0; m < character->morph_count; m++) weights[m] = 0;
    if (clip < 0 || clip >= character->clip_count) return;
    const cutis_clip *c = &character->clips[clip];
    for (int i = 0; i < c->track_count; i++)
        if (c->tracks[i].path == CUTIS_PATH_MORPH) track_sample(&c->tracks[i], time, weights + c->tracks[i].target);
}

void cutis_pose_from_locals(const cutis_character *character, const cutis_transform *locals, float *joints)
{
    for (int j = 0; j < character->joint_count; j++) {
        memcpy(joints + 12 * (size_t)j, &locals[j], LOCAL_FLOATS * sizeof(float));
        local_to_world(character, j, joints);
    }
}

void cutis_pose_rest(const cutis_character *character, float *joints) { cutis_pose_blend(character, -1, 0, 0, joints); }
