/*
 * fit.c: what the templates on solids share, and the choice among them.
 */
#include "rig/fit.h"

#include <string.h>

#include "rig/skeleton_template.h"

/* Tips that stand out by less than this share of the farthest distance need no explanation: ears, fingers, folds. */
static const float MAIN = 0.095f;

/* What is lower than this share of the height may be a foot. */
static const float LOW = 0.3f;

/* Where so much of a body has an image, what one side has the other one has, too. */
static const float SAME_SIDES = 0.97f;

/* Where such a share of joints and bones is in the air, a skeleton is wrong: right ones have 0 to 0.16 there. */
static const float IN_AIR = 0.4f;

/* What a body costs whose +Z points up: +Y is the rule. */
static const float LYING = 0.04f;

float fit_alike(float a, float b, float worst)
{
    float low = MIN(a, b);
    float high = MAX(a, b);
    if (!(low > 0)) return 0;
    float x = (high / low - 1) / (worst - 1);
    return x >= 1 ? 0 : 1 - x * x;
}

float fit_within(float x, float low, float high, float slack)
{
    float away = x < low ? low - x : x > high ? x - high : 0;
    float t = away / slack;
    return t >= 1 ? 0 : 1 - t * t;
}

float fit_parted(const fit_body *b, int tip_a, int tip_b)
{
    const shape_curve *one = &b->curves[tip_a];
    const shape_curve *two = &b->curves[tip_b];
    float step = 0.5f * b->shape->solid.spacing;
    float end = MIN(one->lengths[one->count - 1], two->lengths[two->count - 1]);
    float parted = 0;
    float whole = 0;

    for (float x = 0; x < end && whole < 0.08f * b->height; x += step) {
        /* the least depth on the way across */
        float radius[2];
        vec3 p = shape_curve_at(one, x, &radius[0]);
        vec3 q = shape_curve_at(two, x, &radius[1]);
        int count = 1 + (int)(vec3_distance(p, q) / step);
        float depth = INFINITY;
        for (int i = 0; i <= count; i++) {
            float d = -solid_sample(&b->shape->solid, vec3_lerp(p, q, (float)i / (float)count));
            depth = MIN(depth, d);
        }

        /* from air to flesh */
        float deep = 0.5f * MIN(radius[0], radius[1]) + step;
        float flesh = CLAMP((depth + step) / deep, 0, 1);
        parted += step * (1 - flesh);
        whole = flesh < 1 ? 0 : whole + step;
    }

    return parted;
}

/* The place of a way that is nearest to another place. */
static int way_nearest(const vec3 *way, vec3 place)
{
    int best = 0;
    for (int i = 1; i < FIT_WAY; i++)
        if (vec3_distance(way[i], place) < vec3_distance(way[best], place)) best = i;
    return best;
}

float fit_way(const fit_body *b, int tip_a, int tip_b, float along_a, float along_b)
{
    /* the places between the two curves */
    const vec3 *way = b->ways + (size_t)(tip_a * SHAPE_TIPS + tip_b) * FIT_WAY;
    vec3 places[FIT_WAY + 2];
    int count = 0;
    vec3 first = shape_curve_at(&b->curves[tip_a], along_a, NULL);
    vec3 last = shape_curve_at(&b->curves[tip_b], along_b, NULL);
    places[count++] = first;

    for (int i = way_nearest(way, first) + 1; i < way_nearest(way, last); i++) places[count++] = way[i];
    places[count++] = last;

    /* again and again on to the farthest place that can be seen */
    float slack = 0.25f * b->shape->solid.spacing;
    float length = along_a + along_b;
    for (int at = 0; at < count - 1;) {
        int next = count - 1;
        while (next > at + 1 && shape_visible(b->shape, places[at], places[next], slack) < 1) next--;
        length += vec3_distance(places[at], places[next]);
        at = next;
    }

    return length;
}

float fit_nearest(const shape_curve *c, vec3 place)
{
    float best = INFINITY;
    float length = 0;
    for (int i = 0; i < c->count; i++) {
        float d = vec3_distance(c->places[i], place);
        if (d >= best) continue;
        best = d;
        length = c->lengths[i];
    }
    return length;
}

float fit_thinnest(const fit_body *b, const shape_curve *c, float from, float to, float around, float pull)
{
    enum { STEPS = 40 };
    float radii[STEPS + 1];
    float least = INFINITY;
    if (!(to > from)) return from;

    /* half a cell for the noise of the grid */
    for (int i = 0; i <= STEPS; i++) {
        float x = from + (to - from) * (float)i / STEPS;
        shape_curve_at(c, x, &radii[i]);

        radii[i] = (radii[i] + 0.5f * b->shape->solid.spacing) * (1 + pull * fabsf(x - around) / (to - from));
        least = MIN(least, radii[i]);
    }

    /* a place thicker by a sixth counts a quarter */
    float sum = 0;
    float weights = 0;
    for (int i = 0; i <= STEPS; i++) {
        float thicker = 6 * (radii[i] / least - 1);
        float weight = 1 / ((1 + thicker * thicker) * (1 + thicker * thicker));
        sum += weight * (from + (to - from) * (float)i / STEPS);
        weights += weight;
    }

    return sum / weights;
}

/* Whether the used tips explain another one: it is one of them, or grows out of one near its end, or of the head. */
static bool tip_known(const fit_body *b, int tip, const fit_use *used, int used_count, int head, float height)
{
    for (int k = 0; k < used_count; k++)
        if (used[k].tip == tip || b->joins[used[k].tip * SHAPE_TIPS + tip] < used[k].limit) return true;
    if (head < 0 || !(fit_height(b, b->shape->tips[tip].place) > height)) return false;
    if (b->between[tip * SHAPE_TIPS + head] > b->shape->farthest) return false;
    for (int k = 0; k < used_count; k++)
        if (used[k].tip != head && b->between[tip * SHAPE_TIPS + used[k].tip] <= b->between[tip * SHAPE_TIPS + head])
            return false;
    return true;
}

float fit_explained(const fit_body *b, const fit_use *used, int used_count, int head, float height)
{
    const shape *s = b->shape;
    float all = 0;
    float told = 0;
    for (int i = 0; i < s->tip_count; i++) {
        float reach = s->tips[i].reach / s->farthest;
        if (reach < MAIN || s->tips[i].image >= 0) continue;
        all += reach;
        told += tip_known(b, i, used, used_count, head, height) ? reach : 0;
    }
    return all > 0 ? told / all : 1;
}

/* Whether a far end stands out by so much of the farthest distance, and is a rod: a cape is no limb, nor is what was
 * not seen itself. */
static bool tip_limb(const fit_body *b, int tip, float reach)
{
    float own = b->shape->tips[tip].reach;
    return b->shape->tips[tip].image < 0 && own >= reach * b->shape->farthest &&
           fit_rod(b, tip, 0.2f * own, 0.7f * own) >= 0.8f;
}

static bool tip_low(const fit_body *b, int tip)
{
    return fit_height(b, b->shape->tips[tip].place) <= b->ground + 0.08f * b->height;
}

int fit_other_feet(const fit_body *b, const fit_use *used, int used_count, float reach)
{
    int count = 0;
    for (int i = 0; i < b->shape->tip_count; i++)
        count += tip_low(b, i) && tip_limb(b, i, reach) && !tip_known(b, i, used, used_count, -1, 0);
    return count;
}

int fit_other_arms(const fit_body *b, const fit_use *used, int used_count, int head, float height)
{
    int count = 0;
    for (int i = 0; i < b->shape->tip_count; i++)
        count += !tip_low(b, i) && tip_limb(b, i, 0.25f) && !tip_known(b, i, used, used_count, head, height);
    return count;
}

float fit_toes(const fit_body *b, int tip, float seam, vec3 leg, vec3 axis)
{
    const shape *s = b->shape;
    vec3 sole = s->tips[tip].place;

    /* the middle of what touches the ground there */
    vec3 mean = {0, 0, 0};
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        if (fit_height(b, vec3_sub(s->places[i], sole)) > 0.1f * seam) continue;
        if (vec3_distance(s->places[i], sole) > 0.4f * seam) continue;
        mean = vec3_add(mean, s->places[i]);
        count++;
    }

    if (count == 0 || !(seam > 0)) return 0;
    return vec3_dot(vec3_sub(vec3_scale(mean, 1 / (float)count), leg), axis) / seam;
}

float fit_rod(const fit_body *b, int tip, float from, float to)
{
    float worst = 0;
    for (int k = 0; k <= 4; k++) {
        float length = from + (to - from) * (float)k / 4;
        float radius;
        shape_curve_at(&b->curves[tip], length, &radius);
        radius += 0.5f * b->shape->solid.spacing;
        int bin = CLAMP((int)(length / b->bin), 0, FIT_BINS - 1);
        worst += 0.2f * b->areas[tip * FIT_BINS + bin] / (3.14159265f * radius * radius);
    }
    return fit_within(worst, 0, 4, 8);
}

float fit_slender(const fit_body *b)
{
    const shape *s = b->shape;
    vec3 first = vec3_orthogonal(b->up);
    vec3 second = vec3_cross(b->up, first);
    vec3 mean = {0, 0, 0};
    for (int i = 0; i < s->count; i++) mean = vec3_madd(mean, s->places[i], 1 / (float)s->count);

    /* second moments */
    float up = 0;
    float xx = 0;
    float zz = 0;
    float xz = 0;
    for (int i = 0; i < s->count; i++) {
        vec3 d = vec3_sub(s->places[i], mean);
        float x = vec3_dot(d, first);
        float z = vec3_dot(d, second);
        up += fit_height(b, d) * fit_height(b, d);
        xx += x * x;
        zz += z * z;
        xz += x * z;
    }

    /* the larger principal one in the level plane */
    float level = 0.5f * (xx + zz) + sqrtf(0.25f * (xx - zz) * (xx - zz) + xz * xz);
    return sqrtf(up / MAX(level, 1e-30f));
}

float fit_agree(const fit_body *b, const skeleton *s)
{
    float sum = 0;
    if (b->landmark_count == 0) return 1;
    for (int i = 0; i < b->landmark_count; i++)
        for (int j = 0; j < s->count; j++) {
            if (strcmp(s->joints[j].name, b->landmarks[i].name) != 0) continue;
            float away = vec3_distance(s->joints[j].position, vec3_load(b->landmarks[i].position)) / b->shape->size;
            sum += 1 / (1 + 100 * away * away);
        }
    return sum / (float)b->landmark_count;
}

/* Share of the joints inside, and of the bones that run inside. */
static float fit_inside(const fit_body *b, const skeleton *s)
{
    float slack = b->shape->solid.spacing;
    float sum = 0;
    int count = 0;

    /* joints inside, and bones that run inside */
    for (int j = 0; j < s->count; j++) {
        bool inside = solid_sample(&b->shape->solid, s->joints[j].position) < slack;
        sum += inside;
        count++;

        if (s->joints[j].parent < 0) continue;
        float seen = shape_visible(b->shape, s->joints[s->joints[j].parent].position, s->joints[j].position, slack);
        sum += seen;
        count++;
    }

    return count ? sum / (float)count : 0;
}

typedef struct fit_bone {
    vec3 a, b;
} fit_bone;

/* Bones from joint to joint, and from leaves on to the surface. Returns how many. */
static int bones_list(const fit_body *b, const skeleton *s, fit_bone *bones)
{
    int count = 0;
    float step = 0.5f * b->shape->solid.spacing;
    for (int j = 0; j < s->count; j++) {
        int parent = s->joints[j].parent;
        bool leaf = true;
        for (int k = j + 1; k < s->count && leaf; k++) leaf = s->joints[k].parent != j;
        if (parent < 0) continue;

        vec3 at = s->joints[j].position;
        vec3 way = vec3_sub(at, s->joints[parent].position);
        bones[count++] = (fit_bone){s->joints[parent].position, at};

        /* from a leaf on to the surface */
        if (!leaf) continue;
        float longest = 3 * vec3_length(way);
        way = vec3_normalize(way);
        float length = 0;
        while (length < longest && solid_sample(&b->shape->solid, vec3_madd(at, way, length + step)) < 0)
            length += step;
        bones[count++] = (fit_bone){at, vec3_madd(at, way, length)};
    }

    return count;
}

/*
 * Share of the cells that the bones explain: nearer to a bone than about twice the depth of the body there. Leaves run
 * on to the surface. A skeleton that sits in half of a body leaves the other half unexplained.
 */
static float fit_cover(const fit_body *b, const skeleton *s)
{
    enum { SAMPLES = 1500 };
    const shape *body = b->shape;
    fit_bone bones[2 * SKELETON_MAX];

    int bone_count = bones_list(b, s, bones);
    int stride = 1 + body->count / SAMPLES;
    int told = 0;
    int count = 0;

    /* about SAMPLES nodes of the body, and the nearest point of any bone to each */
    for (int i = 0; i < body->count; i += stride) {
        vec3 p = body->places[i];
        float least = INFINITY;
        vec3 nearest = p;
        for (int k = 0; k < bone_count; k++) {
            rig_bone bone = {0, bones[k].a, bones[k].b};
            vec3 q = rig_bone_closest(&bone, p);
            float d = vec3_length2(vec3_sub(p, q));
            if (d >= least) continue;
            least = d;
            nearest = q;
        }

        /* covered: within twice the depth of the bone, with a tolerance of 1.5 cells */
        float depth =
            MAX(-solid_sample(&body->solid, nearest), -solid_sample(&body->solid, vec3_lerp(nearest, p, 0.5f)));
        float reach = 2 * MAX(depth, 0.0f) + 1.5f * body->solid.spacing;
        told += least < reach * reach;
        count++;
    }

    return (float)told / (float)MAX(count, 1);
}

/* A sum of weighted terms, and the worst of them. */
typedef struct fit_sum {
    float sum, weights, worst;
} fit_sum;

static void sum_add(fit_sum *s, fit_term term)
{
    if (!(term.weight > 0)) return;
    s->sum += term.value * term.weight;
    s->weights += term.weight;
    s->worst = MIN(s->worst, term.value);
}

float fit_score(const fit_body *b, const skeleton *s, const fit_ends *ends, const fit_demand *demand,
                const fit_term *terms, int count)
{
    /* what every template is asked */
    int feet = fit_other_feet(b, ends->used, ends->used_count, ends->foot_reach);
    const fit_term common[] = {
        {fit_within(fit_inside(b, s), 0.97f, 1, IN_AIR), demand->inside},
        {fit_within(fit_cover(b, s), demand->cover_low, 1, demand->cover_slack), demand->cover},
        {fit_explained(b, ends->used, ends->used_count, ends->head, ends->height), demand->explained},
        {MAX(0.0f, 1 - demand->foot_cost * (float)feet), demand->feet},
    };

    /* and its own terms */
    fit_sum sum = {0, 0, 1};
    for (int i = 0; i < COUNT_OF(common); i++) sum_add(&sum, common[i]);
    for (int i = 0; i < count; i++) sum_add(&sum, terms[i]);
    return demand->trust * sum.sum / sum.weights * (0.6f + 0.4f * sum.worst);
}

static int joint_twin(const skeleton *s, int j)
{
    size_t length = strlen(s->joints[j].name);
    if (length < 3 || s->joints[j].name[length - 2] != '_') return -1;
    char side = s->joints[j].name[length - 1];
    if (side != 'l' && side != 'r') return -1;
    for (int k = 0; k < s->count; k++)
        if (k != j && strlen(s->joints[k].name) == length &&
            strncmp(s->joints[k].name, s->joints[j].name, length - 1) == 0)
            return k;
    return -1;
}

/* The least share of cells with an image inside that makes a plane one of symmetry. */
static const float SYMMETRIC = 0.82f;

vec3 fit_plane_image(const fit_plane *plane, vec3 p)
{
    return vec3_madd(p, plane->normal, 2 * (plane->offset - vec3_dot(p, plane->normal)));
}

static vec3 mirrored(vec3 p, vec3 lateral, float plane)
{
    return vec3_madd(p, lateral, 2 * (plane - vec3_dot(p, lateral)));
}

/* Share of the cells, one in `stride`, whose mirror image is inside too. */
static float mirror_share(const shape *s, vec3 lateral, float plane, int stride)
{
    int inside = 0;
    int count = 0;
    for (int i = 0; i < s->count; i += stride) {
        inside += solid_sample(&s->solid, mirrored(s->places[i], lateral, plane)) < s->solid.spacing;
        count++;
    }
    return (float)inside / (float)MAX(count, 1);
}

/* The best plane near a given one: turned and shifted a little. */
static fit_plane plane_refine(const fit_body *b, fit_plane given)
{
    const shape *s = b->shape;
    vec3 middle = s->places[s->middle];
    float at = given.offset - vec3_dot(middle, given.normal);
    fit_plane best = {.share = -1};

    for (int turn = -4; turn <= 4; turn++) {
        vec3 normal = quat_rotate(quat_axis_angle(b->up, 0.02 * turn), given.normal);
        for (int shift = -3; shift <= 3; shift++) {
            float offset = vec3_dot(middle, normal) + at + 0.5f * (float)shift * s->solid.spacing;
            float share = mirror_share(s, normal, offset, 1 + s->count / 1500);
            if (share > best.share) best = (fit_plane){normal, offset, share};
        }
    }

    best.share = mirror_share(s, best.normal, best.offset, 3);
    return best;
}

enum { TURNS = 36 };

/* The best plane at each turn by steps of five degrees. */
typedef struct turns_work {
    const fit_body *body;
    vec3 first, mean;
    fit_plane found[TURNS];
} turns_work;

static void turns_block(void *context, int begin, int end)
{
    enum { SHIFTS = 6 };
    turns_work *w = context;
    const shape *s = w->body->shape;
    for (int turn = begin; turn < end; turn++) {
        vec3 normal = quat_rotate(quat_axis_angle(w->body->up, 3.14159265358979 * turn / TURNS), w->first);
        w->found[turn] = (fit_plane){.share = -1};

        /* what hangs on one side only moves the mean: look beside it too */
        for (int shift = -SHIFTS; shift <= SHIFTS; shift++) {
            float offset = vec3_dot(w->mean, normal) + (float)shift * s->solid.spacing;
            float share = mirror_share(s, normal, offset, 1 + s->count / 500);
            if (share > w->found[turn].share) w->found[turn] = (fit_plane){normal, offset, share};
        }
    }
}

void fit_planes_find(fit_body *b, float least)
{
    const shape *s = b->shape;
    turns_work work = {.body = b, .first = vec3_orthogonal(b->up)};
    for (int i = 0; i < s->count; i++) work.mean = vec3_madd(work.mean, s->places[i], 1 / (float)s->count);
    parallel_for(b->jobs, TURNS, 6, turns_block, &work);
    const fit_plane *found = work.found;

    /* maxima over the turns, best first */
    b->plane_count = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        float share = found[turn].share;
        if (share < least - 0.1f || share < found[(turn + 1) % TURNS].share ||
            share <= found[(turn + TURNS - 1) % TURNS].share)
            continue;

        fit_plane plane = plane_refine(b, found[turn]);
        if (plane.share < least) continue;

        /* into the list, best first */
        int at = b->plane_count;
        if (at == FIT_PLANES) {
            if (b->planes[at - 1].share >= plane.share) continue;
            at--;
        } else {
            b->plane_count++;
        }

        for (; at > 0 && b->planes[at - 1].share < plane.share; at--) b->planes[at] = b->planes[at - 1];
        b->planes[at] = plane;
    }
}

float fit_symmetry(const fit_body *b, const int (*pairs)[2], int pair_count, const int *singles, int single_count)
{
    const shape *s = b->shape;
    if (b->plane_count == 0) return 1;

    float best = 0;
    for (int p = 0; p < b->plane_count; p++) {
        const fit_plane *plane = &b->planes[p];
        float sum = 0;

        /* pairs by their images, single tips by their distance from the plane */
        for (int i = 0; i < pair_count; i++) {
            vec3 image = mirrored(s->tips[pairs[i][0]].place, plane->normal, plane->offset);
            sum += fit_within(vec3_distance(image, s->tips[pairs[i][1]].place) / s->size, 0, 0.02f, 0.1f);
        }
        for (int i = 0; i < single_count; i++) {
            float away = vec3_dot(s->tips[singles[i]].place, plane->normal) - plane->offset;
            sum += fit_within(fabsf(away) / s->size, 0, 0.015f, 0.06f);
        }

        best = MAX(best, sum / (float)(pair_count + single_count) * plane->share / b->planes[0].share);
    }

    /* a body that is a little posed says less: one that steps has about 0.95 */
    float certain = CLAMP((b->planes[0].share - 0.96f) / 0.03f, 0, 1);
    return 1 - certain * (1 - best);
}

void fit_mirror(const fit_body *b, vec3 lateral, skeleton *s)
{
    /* the plane through the middles of the pairs */
    float plane = 0;
    int pairs = 0;
    bool found = false;
    for (int j = 0; j < s->count; j++) {
        int k = joint_twin(s, j);
        s->joints[j].mirror = k >= 0 ? k : j;
        if (k <= j) continue;
        plane += 0.5f * vec3_dot(vec3_add(s->joints[j].position, s->joints[k].position), lateral);
        pairs++;
    }

    if (pairs == 0) return;
    plane /= (float)pairs;

    /* a plane of symmetry of the body near to it */
    float best = 0.85f;
    float given = plane;
    vec3 across = lateral;
    for (int p = 0; p < b->plane_count; p++) {
        float along = vec3_dot(b->planes[p].normal, across);
        float sign = along < 0 ? -1.0f : 1.0f;

        vec3 middle = b->shape->places[b->shape->middle];
        float shift =
            sign * (b->planes[p].offset - vec3_dot(middle, b->planes[p].normal)) - (given - vec3_dot(middle, across));
        if (fabsf(along) < 0.96f || fabsf(shift) > 0.05f * b->shape->size || b->planes[p].share < best) continue;
        best = b->planes[p].share;
        lateral = vec3_scale(b->planes[p].normal, sign);
        plane = sign * b->planes[p].offset;
        found = true;
    }

    if (!found) return;

    /* what differs by the noise of the grid is averaged; a limb that is posed by itself stays where it is */
    for (int j = 0; j < s->count; j++) {
        skeleton_joint *joint = &s->joints[j];
        int k = joint_twin(s, j);
        if (k < 0) {
            float away = plane - vec3_dot(joint->position, lateral);
            if (fabsf(away) < 0.06f * b->shape->size) joint->position = vec3_madd(joint->position, lateral, away);
        } else if (k > j) {
            vec3 own = joint->position;
            vec3 other = mirrored(s->joints[k].position, lateral, plane);
            float share = 0.5f * fit_within(vec3_distance(own, other) / b->shape->size, 0, 0.02f, 0.03f);
            joint->position = vec3_lerp(own, other, share);
            s->joints[k].position = mirrored(vec3_lerp(other, own, share), lateral, plane);
        }
    }
}

void fit_tail(const fit_body *b, int tip, float base, int parent, skeleton *s)
{
    static const char *const NAMES[5] = {"tail_1", "tail_2", "tail_3", "tail_4", "tail_5"};
    for (int k = 0; k < 5; k++)
        parent =
            skeleton_add(s, NAMES[k], parent, shape_curve_at(&b->curves[tip], (0.98f - 0.19f * (float)k) * base, NULL));
}

/* ---- tries ---- */

void fit_try_keep(fit_try *tries, int *count, fit_try t)
{
    int at = *count;
    if (at == FIT_TRIES) {
        if (tries[at - 1].guess >= t.guess) return;
        at--;
    } else {
        *count += 1;
    }
    for (; at > 0 && tries[at - 1].guess < t.guess; at--) tries[at] = tries[at - 1];
    tries[at] = t;
}

/* Whether joints of the same name are elsewhere: in the mean, or those of one limb by far. */
static bool joints_elsewhere(const fit_body *b, const skeleton *one, const skeleton *two)
{
    float sum = 0;
    float worst = 0;
    int count = 0;
    for (int i = 0; i < one->count; i++)
        for (int k = 0; k < two->count; k++) {
            if (strcmp(one->joints[i].name, two->joints[k].name) != 0) continue;
            float apart = vec3_distance(one->joints[i].position, two->joints[k].position);
            sum += apart;
            worst = MAX(worst, apart);
            count++;
        }
    return sum > 0.06f * b->shape->size * (float)count || worst > 0.15f * b->shape->size;
}

/* ---- choice ---- */

typedef struct fit_template {
    const char *name;
    const char *kind;
    bool (*run)(const fit_body *b, fit *best);       /* the one reading; NULL: there are several */
    int (*tries)(const fit_body *b, fit_try *tries); /* the likeliest ones, best first */
    bool (*place)(const fit_body *b, const fit_try *t, fit *made);
    float floor; /* readings whose guess is less than this share of the best one's are left out */
    float say;   /* of the guess in the score, 0 to 1 */
} fit_template;

static const fit_template TEMPLATES[] = {
    {"biped", "biped", NULL, fit_biped_tries, fit_biped_place, 0.75f, 0.3f},
    {"quadruped", "quadruped", NULL, fit_quadruped_tries, fit_quadruped_place, 0.6f, 0.2f},
    {"bird", "bird", fit_bird, NULL, NULL, 0, 0},
    {"many_legs", "many_legs", fit_many_legs, NULL, NULL, 0, 0},
    {"fish", "spine", fit_fish, NULL, NULL, 0, 0},
    {"snake", "spine", fit_snake, NULL, NULL, 0, 0},
    {"tree", "tree", fit_tree, NULL, NULL, 0, 0},
};

/*
 * The best reading of a body by a template; where landmarks choose, all of them are looked at. False when none can be
 * placed.
 */
static bool template_fit(const fit_template *t, const fit_body *b, fit *best)
{
    if (t->run) return t->run(b, best);
    fit_try tries[FIT_TRIES];
    float scores[FIT_TRIES] = {0};
    int count = t->tries(b, tries);
    fit made = *best;
    int chosen = -1;
    float top = count ? tries[0].guess : 0;
    float most = 0;

    /* the best of them, by score and landmarks */
    for (int i = 0; i < count; i++) {
        if (b->landmark_count == 0 && tries[i].guess < t->floor * top) break;
        if (!t->place(b, &tries[i], &made)) continue;
        made.score *= 1 - t->say + t->say * tries[i].guess / top;
        scores[i] = made.score;
        float merit = made.score * fit_agree(b, &made.skeleton);

        if (chosen >= 0 && merit <= most) continue;
        *best = made;
        best->guess = tries[i].guess;
        most = merit;
        chosen = i;
    }

    if (chosen < 0) return false;

    /* another reading that is as good, with its joints elsewhere, makes this one a guess */
    best->rival = 0;
    for (int i = 0; i < count; i++) {
        if (i == chosen || scores[i] < best->score - FIT_GAP || scores[i] <= best->rival) continue;
        t->place(b, &tries[i], &made);
        if (joints_elsewhere(b, &best->skeleton, &made.skeleton)) best->rival = scores[i];
    }

    return true;
}

/*
 * What the templates ask of each tip that takes a search: its curve, sections, and the ways between it and those before
 * it. distances, parents: (count).
 */
static void tip_measure(const fit_body *b, int tip, shape_room *room, float *distances, int *parents)
{
    const shape *s = b->shape;

    shape_curve_trace(s, &s->tips[tip], &b->curves[tip]);
    shape_spread(s, s->tips[tip].node, room, distances, parents);
    for (int k = 0; k <= tip; k++) {
        b->between[tip * SHAPE_TIPS + k] = distances[s->tips[k].node];
        b->between[k * SHAPE_TIPS + tip] = distances[s->tips[k].node];

        vec3 *forth = b->ways + (size_t)(k * SHAPE_TIPS + tip) * FIT_WAY;
        vec3 *back = b->ways + (size_t)(tip * SHAPE_TIPS + k) * FIT_WAY;

        int steps = 0;
        for (int i = s->tips[k].node; parents[i] >= 0; i = parents[i]) steps++;
        int node = s->tips[k].node;
        int walked = 0;
        for (int j = 0; j < FIT_WAY; j++) {
            for (; walked < steps * j / (FIT_WAY - 1); walked++) node = parents[node];
            forth[j] = s->places[node];
            back[FIT_WAY - 1 - j] = s->places[node];
        }
    }

    /* sections */
    float *areas = b->areas + tip * FIT_BINS;
    float spacing = s->solid.spacing;
    for (int k = 0; k < FIT_BINS; k++) areas[k] = 0;
    for (int i = 0; i < s->count; i++) {
        int bin = (int)(distances[i] / b->bin);
        if (bin < FIT_BINS) areas[bin] += spacing * spacing * spacing / b->bin;
    }
}

/* The nearest node to a place, within `limit`; -1: none. */
static int node_near(const shape *s, vec3 place, float limit)
{
    int node = -1;
    for (int k = 0; k < s->count; k++) {
        float d = vec3_distance(s->places[k], place);
        if (d >= limit) continue;
        limit = d;
        node = k;
    }
    return node;
}

/*
 * The same for a tip that is the image of another one: curve and sections are that one's, and so are the ways to images
 * of the other tips. The way between the two goes across the plane where the other one comes to it first, not by the
 * place where the hidden limb has grown to the body.
 */
static void twin_measure(const fit_body *b, int tip, shape_room *room, float *distances, int *parents)
{
    const shape *s = b->shape;
    const fit_plane *plane = &b->planes[0];
    int own = s->tips[tip].image;
    shape_curve *curve = &b->curves[tip];
    *curve = b->curves[own];
    for (int i = 0; i < curve->count; i++) curve->places[i] = fit_plane_image(plane, curve->places[i]);
    memcpy(b->areas + tip * FIT_BINS, b->areas + own * FIT_BINS, FIT_BINS * sizeof *b->areas);

    /* where the seen limb comes to the plane */
    shape_spread(s, s->tips[own].node, room, distances, parents);
    int across = s->middle;
    for (int i = 0; i < s->count; i++) {
        float away = fabsf(vec3_dot(s->places[i], plane->normal) - plane->offset);
        if (away < s->solid.spacing && distances[i] < distances[across]) across = i;
    }

    for (int k = 0; k <= tip; k++) {
        /* from the image of the other tip back to the seen one */
        int node = k == own ? across : node_near(s, fit_plane_image(plane, s->tips[k].place), INFINITY);
        float length = k == own ? 2 * distances[across] : distances[node];
        b->between[tip * SHAPE_TIPS + k] = length;
        b->between[k * SHAPE_TIPS + tip] = length;
        vec3 *forth = b->ways + (size_t)(k * SHAPE_TIPS + tip) * FIT_WAY;
        vec3 *back = b->ways + (size_t)(tip * SHAPE_TIPS + k) * FIT_WAY;

        int steps = 0;
        for (int i = node; parents[i] >= 0; i = parents[i]) steps++;
        int walked = 0;
        int half = k == own ? FIT_WAY / 2 : 0;
        for (int j = half; j < FIT_WAY; j++) {
            for (; walked < steps * (j - half) / (FIT_WAY - 1 - half); walked++) node = parents[node];
            forth[j] = fit_plane_image(plane, s->places[node]);
            if (half) forth[FIT_WAY - 1 - j] = s->places[node];
        }
        for (int j = 0; j < FIT_WAY; j++) back[FIT_WAY - 1 - j] = forth[j];
    }
}

/* Tips that are measured side by side: every second one by each block. */
enum { TIP_BLOCKS = 2 };
typedef struct tips_work {
    const fit_body *body;
    int first;
    float *distances[TIP_BLOCKS];
    int *parents[TIP_BLOCKS];
    shape_room rooms[TIP_BLOCKS];
} tips_work;

static void tips_block(void *context, int begin, int end)
{
    tips_work *w = context;
    for (int k = begin; k < end; k++)
        for (int i = w->first + k; i < w->body->shape->tip_count; i += TIP_BLOCKS) {
            bool seen = w->body->shape->tips[i].image < 0;
            (seen ? tip_measure : twin_measure)(w->body, i, &w->rooms[k], w->distances[k], w->parents[k]);
        }
}

/* Measure the tips from a number on. */
static void tips_measure(tips_work *w, const cutis_jobs *jobs, int first)
{
    w->first = first;
    parallel_for(jobs, TIP_BLOCKS, 1, tips_block, w);
}

/* Where the other curves join that of a tip. marks: (count), -1 before and after. */
static void tip_joins(fit_body *b, int tip, int *marks)
{
    const shape *s = b->shape;
    float length = s->tips[tip].over;

    /* lengths along the own curve */
    for (int i = s->tips[tip].node; i >= 0; i = s->parents[i]) {
        memcpy(&marks[i], &length, sizeof length);
        if (s->parents[i] >= 0) length += vec3_distance(s->places[i], s->places[s->parents[i]]);
    }

    /* the first node of it that another curve meets */
    for (int k = 0; k < s->tip_count; k++) {
        int i = s->tips[k].node;
        while (marks[i] == -1 && s->parents[i] >= 0) i = s->parents[i];
        float join;
        memcpy(&join, &marks[i], sizeof join);
        b->joins[tip * SHAPE_TIPS + k] = marks[i] == -1 ? length : join;
    }

    for (int i = s->tips[tip].node; i >= 0; i = s->parents[i]) marks[i] = -1;
}

/* A tip that is the image of another one meets the others where that one does. */
static void twin_joins(fit_body *b, int tip)
{
    int own = b->shape->tips[tip].image;
    if (own < 0) return;
    for (int k = 0; k < b->shape->tip_count; k++) {
        b->joins[tip * SHAPE_TIPS + k] = b->joins[own * SHAPE_TIPS + k];
        b->joins[k * SHAPE_TIPS + tip] = b->joins[k * SHAPE_TIPS + own];
    }

    /* and that one at the middle */
    const shape_curve *c = &b->curves[own];
    b->joins[tip * SHAPE_TIPS + own] = c->lengths[c->count - 1];
    b->joins[own * SHAPE_TIPS + tip] = c->lengths[c->count - 1];
}

/*
 * The top of the body above its middle as a far end of its own, where none is near: heads with ears, horns or a hat
 * have no far end at their crown.
 */
static void crown_add(const fit_body *b, shape *s)
{
    int best = -1;
    float merit = -INFINITY;
    vec3 middle = s->places[s->middle];

    /* high, and not far aside */
    for (int i = 0; i < s->count; i++) {
        vec3 d = vec3_sub(s->places[i], middle);
        float m = vec3_dot(d, b->up) - vec3_length(fit_level(b, d));
        if (m <= merit) continue;
        merit = m;
        best = i;
    }

    for (int k = 0; k < s->tip_count; k++)
        if (vec3_distance(s->tips[k].place, s->places[best]) < 0.06f * b->height) return;

    if (s->tip_count == SHAPE_TIPS) s->tip_count--;
    s->tips[s->tip_count++] = (shape_tip){best, s->distances[best], 0, -1, -1, s->places[best], s->places[best], 0, -1};
}

/* Whether the twin of a tip across a plane is among the tips. */
static bool twin_known(const fit_body *b, const shape *s, const fit_plane *plane, int tip, bool low)
{
    float near = 0.05f * s->size;
    vec3 image = fit_plane_image(plane, s->tips[tip].place);
    float aside = vec3_dot(s->tips[tip].place, plane->normal) - plane->offset;

    for (int k = 0; k < s->tip_count; k++) {
        /* a foot that steps has its twin elsewhere on the other side */
        float other = vec3_dot(s->tips[k].place, plane->normal) - plane->offset;
        bool foot = other * aside < 0 && fabsf(other) > 0.5f * near &&
                    fit_height(b, s->tips[k].place) < b->ground + LOW * b->height;
        if (low ? foot : k != tip && vec3_distance(s->tips[k].place, image) < 2 * near) return true;
    }
    return false;
}

/*
 * The other one of a pair: a far end beside the plane of symmetry whose image is none gets a twin there. Feet (legs
 * that touch, or are hidden in a skirt) of any body that is about symmetric; hands (an arm that has grown to the hip,
 * or that holds something) only where nearly all of the body has an image, so that the other arm must be there.
 */
static void twins_add(const fit_body *b, shape *s)
{
    if (b->plane_count == 0 || b->planes[0].share < 0.9f) return;
    const fit_plane *plane = &b->planes[0];
    float near = 0.05f * s->size;
    int count = s->tip_count;
    for (int i = 0; i < count && s->tip_count < SHAPE_TIPS - 1; i++) {
        /* far ends beside the plane without a twin */
        const shape_tip *tip = &s->tips[i];
        vec3 image = fit_plane_image(plane, tip->place);
        bool low = fit_height(b, tip->place) <= b->ground + LOW * b->height;
        if (tip->reach < 0.15f * s->farthest || vec3_distance(tip->place, image) < near) continue;
        if (!low && plane->share < SAME_SIDES) continue;
        if (twin_known(b, s, plane, i, low)) continue;

        /* the nearest node to its image */
        int node = node_near(s, image, near);
        if (node >= 0)
            s->tips[s->tip_count++] = (shape_tip){node,
                                                  low ? s->distances[node] : tip->distance,
                                                  tip->reach,
                                                  tip->elder,
                                                  tip->seam,
                                                  s->places[node],
                                                  s->places[node],
                                                  0,
                                                  low ? -1 : i};
    }
}

static void bounds_find(fit_body *b)
{
    b->ground = INFINITY;
    b->top = -INFINITY;
    for (int i = 0; i < b->shape->count; i++) {
        float h = fit_height(b, b->shape->places[i]);
        b->ground = MIN(b->ground, h);
        b->top = MAX(b->top, h);
    }
    b->height = b->top - b->ground;
}

/* The templates of one body side by side. */
typedef struct templates_work {
    const fit_body *body;
    const char *name; /* the only one, or NULL */
    fit *made;        /* (templates) name NULL: it does not fit */
} templates_work;

static void templates_block(void *context, int begin, int end)
{
    templates_work *w = context;
    for (int t = begin; t < end; t++) {
        fit *made = &w->made[t];
        *made = (fit){.name = TEMPLATES[t].name, .kind = TEMPLATES[t].kind, .score = 0, .up = w->body->up};
        bool asked = !w->name || strcmp(w->name, TEMPLATES[t].name) == 0;
        if (!asked || !template_fit(&TEMPLATES[t], w->body, made)) {
            made->name = NULL;
            continue;
        }
        made->skeleton.name = TEMPLATES[t].name;
        made->score *= fit_agree(w->body, &made->skeleton);
    }
}

/*
 * A body read by one template with +Y and with +Z up: the reading whose far ends look less likely loses by that, the
 * one with +Z up by the rule, and where their joints are elsewhere, one is the rival of the other.
 */
static void axes_compare(const fit_body *b, int which, fit *level, fit *lying)
{
    const fit_template *t = &TEMPLATES[which];
    if (lying->name) lying->score -= LYING;
    if (!level->name || !lying->name) return;

    float top = MAX(MAX(level->guess, lying->guess), 1e-12f);
    level->score *= 1 - t->say + t->say * level->guess / top;
    lying->score *= 1 - t->say + t->say * lying->guess / top;

    fit *better = level->score >= lying->score ? level : lying;
    const fit *other = level->score >= lying->score ? lying : level;
    if (joints_elsewhere(b, &better->skeleton, &other->skeleton)) better->rival = MAX(better->rival, other->score);
}

bool fit_find(const shape *given, const char *name, quat turn, bool y_up, const cutis_rig_landmark *landmarks,
              int landmark_count, const cutis_jobs *jobs, arena *memory, fit *best, fit *second)
{
    arena scratch = arena_create(&memory->allocator);
    shape *s = ARENA_ARRAY(&scratch, shape, 1);
    fit_body b = {.shape = s,
                  .jobs = jobs,
                  .bin = given->farthest / FIT_BINS,
                  .landmarks = landmarks,
                  .landmark_count = landmark_count};
    int n = SHAPE_TIPS;

    b.curves = ARENA_ARRAY(&scratch, shape_curve, n);
    b.between = ARENA_ARRAY(&scratch, float, n *n);
    b.ways = ARENA_ARRAY(&scratch, vec3, n * n * FIT_WAY);
    b.joins = ARENA_ARRAY(&scratch, float, n *n);
    b.areas = ARENA_ARRAY(&scratch, float, n *FIT_BINS);
    b.scratch = ARENA_ARRAY(&scratch, int, given->count);
    tips_work tips = {.body = &b};
    for (int k = 0; k < TIP_BLOCKS; k++) {
        tips.distances[k] = ARENA_ARRAY(&scratch, float, given->count);
        tips.parents[k] = ARENA_ARRAY(&scratch, int, given->count);
        shape_room_create(given, &scratch, &tips.rooms[k]);
    }
    fit *made = ARENA_ARRAY(&scratch, fit, 2 * COUNT_OF(TEMPLATES));
    templates_work work = {&b, name, made};

    bool fine = !scratch.failed;
    best->score = -1;
    second->score = -1;

    /* curves, ways and sections of the far ends serve both axes */
    if (fine) {
        *s = *given;
        tips_measure(&tips, jobs, 0);
    }

    /* glTF has +Y up, many other files +Z */
    for (int axis = 0; axis < (y_up ? 1 : 2) && fine; axis++) {
        *s = *given;
        b.up = axis ? quat_rotate(turn, (vec3){0, 0, 1}) : (vec3){0, 1, 0};
        b.ahead = quat_rotate(turn, axis ? (vec3){0, -1, 0} : (vec3){0, 0, 1});

        /* what depends on the way up */
        bounds_find(&b);
        fit_planes_find(&b, SYMMETRIC);
        twins_add(&b, s);
        crown_add(&b, s);
        tips_measure(&tips, jobs, MIN(given->tip_count, SHAPE_TIPS - 1));
        for (int i = 0; i < s->count; i++) b.scratch[i] = -1;
        for (int i = 0; i < s->tip_count && fine; i++) tip_joins(&b, i, b.scratch);
        for (int i = 0; i < s->tip_count && fine; i++) twin_joins(&b, i);

        work.made = made + axis * COUNT_OF(TEMPLATES);
        if (fine) parallel_for(jobs, COUNT_OF(TEMPLATES), 1, templates_block, &work);
        for (int t = 0; t < COUNT_OF(TEMPLATES) && axis && fine; t++) axes_compare(&b, t, &made[t], &work.made[t]);
    }

    /* the best template and the best of another kind */
    for (int i = 0; i < (y_up ? 1 : 2) * COUNT_OF(TEMPLATES) && fine; i++) {
        const fit *f = &made[i];
        if (!f->name) continue;
        if (f->score > best->score) {
            if (best->score >= 0 && best->kind != f->kind) *second = *best;
            *best = *f;
        } else if (f->kind != best->kind && f->score > second->score) {
            *second = *f;
        }
    }

    arena_destroy(&scratch);
    return fine && best->score >= 0;
}

quat fit_turn(int point_count, const float *positions, int triangle_count, const int *triangles)
{
    (void)point_count;

    /* second moments of the surface in the level plane */
    double sum[3] = {0, 0, 0};
    double xx = 0;
    double zz = 0;
    double xz = 0;
    for (int round = 0; round < 2; round++)
        for (int t = 0; t < triangle_count; t++) {
            vec3 p[3];
            for (int k = 0; k < 3; k++) p[k] = vec3_load(positions + 3 * (size_t)triangles[3 * (size_t)t + k]);

            double area = vec3_length(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])));
            double x = ((double)p[0].x + p[1].x + p[2].x) / 3;
            double z = ((double)p[0].z + p[1].z + p[2].z) / 3;
            if (round == 0) {
                sum[0] += area;
                sum[1] += area * x;
                sum[2] += area * z;
                continue;
            }

            x -= sum[1] / sum[0];
            z -= sum[2] / sum[0];
            xx += area * x * x;
            zz += area * z * z;
            xz += area * x * z;
        }

    if (!(sum[0] > 0)) return quat_identity();
    double angle = 0.5 * det_atan2(2 * xz, xx - zz);
    return quat_axis_angle((vec3){0, 1, 0}, angle);
}

static void fit_turn_back(fit *f, quat back)
{
    if (f->score < 0) return;
    f->up = quat_rotate(back, f->up);
    f->forward = quat_rotate(back, f->forward);
    for (int j = 0; j < f->skeleton.count; j++)
        f->skeleton.joints[j].position = quat_rotate(back, f->skeleton.joints[j].position);
}

/* Landmarks in the turned body; those on the surface go to the middle of the body below them. */
static void landmarks_settle(const shape *body, quat turn, cutis_rig_landmark *landmarks, int count)
{
    for (int i = 0; i < count; i++) {
        vec3 p = quat_rotate(turn, vec3_load(landmarks[i].position));
        if (solid_sample(&body->solid, p) > -1.2f * body->solid.spacing) p = shape_centre(body, p, INFINITY);
        vec3_store(landmarks[i].position, p);
    }
}

static void landmarks_turn(quat turn, cutis_rig_landmark *landmarks, int count)
{
    for (int i = 0; i < count; i++)
        vec3_store(landmarks[i].position, quat_rotate(turn, vec3_load(landmarks[i].position)));
}

bool fit_unrivalled(const fit *best)
{
    return best->score >= FIT_BOUND && best->score - MAX(best->rival, 0.0f) >= FIT_GAP;
}

bool fit_certain(const fit *best, const fit *second)
{
    return best->score >= FIT_SURE && fit_unrivalled(best) && best->score - second->score >= FIT_KIND_GAP;
}

/* The height of the lowest cell. */
static float shape_lowest(const shape *s, vec3 up)
{
    float lowest = INFINITY;
    for (int i = 0; i < s->count; i++) lowest = MIN(lowest, vec3_dot(s->places[i], up));
    return lowest;
}

/*
 * Look at a body again without the things that it holds: first without those on one side only, then, unless it is
 * recognised for certain, without slender ones, too. The best two fits are replaced by certain ones that are better.
 * positions: turned, as the shape's.
 */
static cutis_result things_try(const shape *body, int point_count, const float *positions, int triangle_count,
                               const int *triangles, quat turn, bool y_up, const cutis_jobs *jobs, arena *memory,
                               fit *best, fit *second, cutis_error *error)
{
    /* a score is at most 1: no look could be better by the gap */
    if (fit_certain(best, second) && best->score + FIT_GAP > 1) return CUTIS_OK;

    int *kept = ARENA_ARRAY(memory, int, 3 * (size_t)triangle_count);
    shape *bare = ARENA_ARRAY(memory, shape, 1);
    fit *fits = ARENA_ARRAY(memory, fit, 2);
    if (memory->failed) return error_memory(error, "a rig");

    /* things may make a body look as if it lay down */
    const vec3 ups[2] = {best->up, {0, 1, 0}};
    int up_count = vec3_distance(ups[0], ups[1]) > 0.1f ? 2 : 1;
    int before = 0;
    for (int look = 0; look < (fit_certain(best, second) ? 1 : 2) * up_count; look++) {
        int count;
        int things = fit_things_drop(body, ups[look % up_count], look >= up_count, point_count, positions,
                                     triangle_count, triangles, jobs, memory, kept, &count);
        if (things < 0) return error_memory(error, "a rig");
        if (things == before || count == 0) continue;
        before = things;

        /* what is left may enclose nothing: then the first look counts */
        cutis_result result = shape_build(point_count, positions, count, kept, FIT_CELLS, jobs, memory, bare, error);
        if (result == CUTIS_ERROR_DATA) continue;
        if (result != CUTIS_OK) return result;

        /* what stands on the ground are legs, in pieces though they may be */
        vec3 up = ups[look % up_count];
        float height = -shape_lowest(bare, vec3_scale(up, -1)) - shape_lowest(bare, up);
        if (shape_lowest(bare, up) > shape_lowest(body, up) + 0.08f * height) continue;
        bool found = fit_find(bare, NULL, turn, y_up, NULL, 0, jobs, memory, &fits[0], &fits[1]);
        if (!found && (memory->failed || fits[0].score >= 0)) return error_memory(error, "a rig");
        if (!found || !fit_certain(&fits[0], &fits[1])) continue;
        if (fits[0].score < best->score + (fit_certain(best, second) ? FIT_GAP : 0)) continue;

        *best = fits[0];
        *second = fits[1];
        best->thing_count = things;
        break;
    }
    return CUTIS_OK;
}

/* A copy for the weights. The caller sees by the arena when memory runs out. */
static void solid_keep(const solid *made, quat turn, arena *memory, rig_solid *kept)
{
    size_t count = (size_t)made->size[0] * (size_t)made->size[1] * (size_t)made->size[2];
    kept->solid = *made;
    kept->turn = turn;
    kept->solid.distance = arena_copy(memory, made->distance, count, sizeof *made->distance);
}

cutis_result fit_surface(int point_count, const float *positions, int triangle_count, const int *triangles,
                         const char *name, bool y_up, cutis_rig_landmark *landmarks, int landmark_count,
                         const cutis_jobs *jobs, arena *memory, fit *best, fit *second, rig_solid *whole,
                         cutis_error *error)
{
    arena scratch = arena_create(&memory->allocator);
    shape *body = ARENA_ARRAY(&scratch, shape, 1);
    float *turned = ARENA_ARRAY(&scratch, float, 3 * (size_t)point_count);
    cutis_result result = scratch.failed ? error_memory(error, "a rig") : CUTIS_OK;

    best->score = -1;
    second->score = -1;

    /* turned to its principal axes in the level plane */
    if (result == CUTIS_OK) {
        quat turn = fit_turn(point_count, positions, triangle_count, triangles);
        for (int i = 0; i < point_count; i++)
            vec3_store(turned + 3 * (size_t)i, quat_rotate(turn, vec3_load(positions + 3 * (size_t)i)));
        result = shape_build(point_count, turned, triangle_count, triangles, FIT_CELLS, jobs, &scratch, body, error);

        if (result == CUTIS_OK) {
            solid_keep(&body->solid, turn, memory, whole);
            landmarks_settle(body, turn, landmarks, landmark_count);
            bool found = fit_find(body, name, turn, y_up, landmarks, landmark_count, jobs, &scratch, best, second);
            if (found && !name && landmark_count == 0)
                result = things_try(body, point_count, turned, triangle_count, triangles, turn, y_up, jobs, &scratch,
                                    best, second, error);
            if (found && !name && best->score < FIT_BOUND && landmark_count == 0) {
                /* not recognised: the tree of its limbs, with the name and the score of the best template */
                fit *tree = ARENA_ARRAY(&scratch, fit, 2);
                if (tree && fit_find(body, "tree", turn, y_up, NULL, 0, jobs, &scratch, &tree[0], &tree[1]))
                    best->skeleton = tree[0].skeleton;
                else
                    result = error_memory(error, "a rig");
            }

            if (!found && (scratch.failed || best->score >= 0)) result = error_memory(error, "a rig");

            /* no limbs to see, or far from what the user knows: the typical body through the landmarks */
            const char *wanted = name ? name : found ? best->name : "biped";
            bool lost = result == CUTIS_OK && landmark_count >= 3 && (!found || best->score < FIT_BOUND);
            if (lost && skeleton_typical(wanted, &best->skeleton)) {
                best->name = best->skeleton.name;
                best->up = (vec3){0, 1, 0};
                best->score = FIT_BOUND;
            }

            /* back to the file's own axes */
            fit_turn_back(best, quat_conjugate(turn));
            fit_turn_back(second, quat_conjugate(turn));

            /* boxes that lie side by side are one solid without limbs */
            bool person = !name || strcmp(name, "biped") == 0;
            if (person && landmark_count == 0 && result == CUTIS_OK &&
                fit_blocks(positions, triangle_count, triangles, y_up, &scratch, best))
                second->score = -1;
            landmarks_turn(quat_conjugate(turn), landmarks, landmark_count);
        }
    }

    arena_destroy(&scratch);
    return result;
}
