/*
 * grasp_hand.c: the hand of a character: wrist, fingers, links, hinges and skin.
 *
 * Fingers are known by the names of joints (joint_parts.h), or by the shape of the skeleton: chains side by side that
 * leave one joint in about the same direction. A flat skeleton, whose joints are all children of one node, gets a tree
 * first: a joint belongs to the bone that ends at it.
 *
 * Limits of flexion follow human joints: knuckles 90, middle joints 105, end joints 70 degrees; thumb 60, 60 and 80
 * (American Academy of Orthopaedic Surgeons, Joint Motion, 1965).
 */
#include "grasp/grasp_private.h"

#include <string.h>

#include "character/joint_parts.h"
#include "character/skinning.h"
#include "mesh/mesh.h"

static const double DEGREE = 3.14159265358979323846 / 180;
/* Chains that a hand may have, and joints of one. */
enum { CHAIN_LIMIT = 8, CHAIN_JOINTS = 8 };
/* Cosine between a finger and the mean of all, below which a chain is no finger of the hand; the thumb stands off. */
static const float FINGER_COSINE = 0.2f;
/* Weights below this do not make a point part of a hand. */
static const float HAND_WEIGHT = 0.5f;
/* Bone radius over the distance of the nearest skin: that of the flesh solvers' default. */
static const float BONE_SHARE = 0.5f;
/* Depth of flesh over the length of the hand, at least. */
static const float LEAST_FLESH = 0.008f;
/* A bone whose end is estimated from its skin ends this near to the next joint, over its length. */
static const float BONE_END_ERROR = 0.75f;

typedef struct chain {
    int kind, count;
    int joints[CHAIN_JOINTS];
    vec3 base, tip; /* first joint; end of the last */
    float length;
} chain;

typedef struct finder {
    const cutis_character *character;
    vec3 *places, *skins; /* (joint_count) joints; mean of the points that each moves most */
    float *reach;         /* (joint_count) mean distance of those points beyond the joint */
    int *tree, *children; /* (joint_count) parents; number of children */
    bool *useful;         /* (joint_count) moves skin, or a joint below does */
    joint_part *parts;
    chain chains[CHAIN_LIMIT];
    int chain_count, wrist, side;
    bool by_names;
} finder;

/* ---- the tree of joints ---- */

/* Whether one joint is the parent of most joints that move skin, with no chains below. */
static int find_flat_parent(const finder *f)
{
    const cutis_character *c = f->character;
    for (int j = -1; j < c->joint_count; j++) {
        int children = 0, deforming = 0;
        for (int k = 0; k < c->joint_count; k++) {
            if (!c->joints[k].deforms) continue;
            deforming++;
            children += c->joints[k].parent == j;
        }

        /* fewer than nine joints are no hand; one in ten may hang elsewhere */
        if (deforming >= 9 && 10 * children >= 9 * deforming) return j;
    }
    return -2;
}

/* Whether a joint is one of those that hang on the flat parent. */
static bool is_flat(const cutis_character *c, int above, int joint)
{
    return c->joints[joint].deforms && c->joints[joint].parent == above;
}

/* The wrist of a flat skeleton: a joint of that name, else the one farthest from the mean of all. */
static int find_flat_wrist(const finder *f, int above)
{
    const cutis_character *c = f->character;
    vec3 mean = {0, 0, 0};
    int count = 0, wrist = -1;
    for (int j = 0; j < c->joint_count; j++) {
        if (!is_flat(c, above, j)) continue;
        mean = vec3_add(mean, f->places[j]);
        count++;
    }
    mean = vec3_scale(mean, 1 / (float)MAX(count, 1));

    float best = -1;
    for (int j = 0; j < c->joint_count; j++) {
        if (!is_flat(c, above, j)) continue;
        if (f->parts[j].kind == JOINT_HAND) return j;
        float far = vec3_distance(f->places[j], mean);
        if (far > best) {
            best = far;
            wrist = j;
        }
    }
    return wrist;
}

/*
 * A joint belongs to the bone that ends at it, and a bone ends at one joint at most. The end of a bone is estimated:
 * the mean of its skin lies half way. Pairs are made nearest first; a joint that is left over belongs to the wrist.
 * Bones lead away from the wrist, so no cycle arises.
 */
static void build_tree(finder *f, int above, bool *ended)
{
    const cutis_character *c = f->character;
    int n = c->joint_count, wrist = find_flat_wrist(f, above);
    for (int j = 0; j < n; j++)
        if (is_flat(c, above, j)) f->tree[j] = j == wrist ? above : wrist;

    for (int pair = 0; pair < n; pair++) {
        float least = INFINITY;
        int child = -1, parent = -1;
        for (int k = 0; k < n; k++) {
            if (k == wrist || ended[k] || !is_flat(c, above, k)) continue;
            vec3 half = vec3_sub(f->skins[k], f->places[k]), end = vec3_madd(f->places[k], half, 2);
            float reach = MIN(least, BONE_END_ERROR * 2 * vec3_length(half));
            float near = vec3_distance(f->places[k], f->places[wrist]);
            for (int j = 0; j < n; j++) {
                if (j == k || j == wrist || !is_flat(c, above, j) || f->tree[j] != wrist) continue;
                float d = vec3_distance(end, f->places[j]);
                if (d >= reach || vec3_distance(f->places[j], f->places[wrist]) <= near) continue;
                reach = d;
                least = d;
                child = j;
                parent = k;
            }
        }
        if (child < 0) return;
        f->tree[child] = parent;
        ended[parent] = true;
    }
}

static cutis_result finder_open(finder *f, arena *memory, cutis_error *error)
{
    const cutis_character *c = f->character;
    int n = c->joint_count;
    f->places = ARENA_ARRAY(memory, vec3, n + 1);
    f->skins = ARENA_ARRAY(memory, vec3, n + 1);
    f->reach = ARENA_ARRAY(memory, float, n + 1);
    f->tree = ARENA_ARRAY(memory, int, n + 1);
    f->children = ARENA_ARRAY(memory, int, n + 1);
    f->useful = ARENA_ARRAY(memory, bool, n + 1);
    f->parts = ARENA_ARRAY(memory, joint_part, n + 1);
    const char **names = ARENA_ARRAY(memory, const char *, n + 1);
    bool *ended = ARENA_ARRAY(memory, bool, n + 1);
    float *totals = ARENA_ARRAY(memory, float, n + 1);
    if (memory->failed) return error_memory(error, "a hand");

    for (int j = 0; j < n; j++) {
        f->places[j] = joint_bind_place(&c->joints[j]);
        f->tree[j] = c->joints[j].parent;
        names[j] = c->joints[j].name;
    }

    /* the middle of the skin of each joint */
    for (int p = 0; c->influence_first && p < c->point_count; p++) {
        int v = c->point_vertices[p];
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
            float w = c->influence_weights[i] * c->influence_weights[i];
            int j = c->influence_joints[i];
            f->skins[j] = vec3_madd(f->skins[j], vec3_load(c->positions + 3 * (size_t)v), w);
            totals[j] += w;
        }
    }
    for (int j = 0; j < n; j++) f->skins[j] = totals[j] > 0 ? vec3_scale(f->skins[j], 1 / totals[j]) : f->places[j];

    joint_parts_find(n, names, f->tree, f->parts);
    int flat = find_flat_parent(f);
    if (flat >= -1) {
        build_tree(f, flat, ended);
        joint_parts_find(n, names, f->tree, f->parts);
    }

    /* joints that move skin, by themselves or by others; parents may stand behind their children here */
    for (int j = 0; j < n; j++) {
        if (!c->joints[j].deforms) continue;
        for (int k = j; k >= 0 && !f->useful[k]; k = f->tree[k]) f->useful[k] = true;
    }
    for (int j = 0; j < n; j++)
        if (f->useful[j] && f->tree[j] >= 0) f->children[f->tree[j]]++;
    return CUTIS_OK;
}

/* ---- chains ---- */

static void chain_finish(const finder *f, chain *c)
{
    int last = c->joints[c->count - 1];
    c->base = f->places[c->joints[0]];

    /* the mean of the last bone's skin lies about half way to the tip */
    vec3 way = vec3_sub(f->skins[last], f->places[last]);
    c->tip = vec3_madd(f->places[last], way, 2);
    c->length = vec3_distance(c->tip, f->places[last]);
    for (int i = 1; i < c->count; i++) c->length += vec3_distance(f->places[c->joints[i]], f->places[c->joints[i - 1]]);
}

/* Fingers of one side by names. Returns how many have two joints or more. */
static int chains_by_names(finder *f, int side)
{
    const cutis_character *c = f->character;
    f->chain_count = 0;
    for (int kind = JOINT_THUMB; kind <= JOINT_PINKY; kind++) {
        chain *found = &f->chains[f->chain_count];
        *found = (chain){.kind = kind};
        for (int index = 0; index < CHAIN_JOINTS; index++)
            for (int j = 0; j < c->joint_count && found->count < CHAIN_JOINTS; j++) {
                const joint_part *part = &f->parts[j];
                if (part->kind == kind && part->side == side && part->index == index && f->useful[j])
                    found->joints[found->count++] = j;
            }
        if (found->count < 2) continue;
        chain_finish(f, found);
        f->chain_count++;
    }
    return f->chain_count;
}

/* The chain that begins at a child of a joint: down to the end, as long as it does not branch. */
static bool chain_follow(const finder *f, int start, chain *found)
{
    *found = (chain){.kind = JOINT_OTHER};
    for (int at = start; at >= 0;) {
        if (found->count == CHAIN_JOINTS || f->children[at] > 1) return false;
        found->joints[found->count++] = at;
        int next = -1;
        for (int k = 0; k < f->character->joint_count && f->children[at] == 1; k++)
            if (f->tree[k] == at && f->useful[k]) next = k;
        at = next;
    }
    if (found->count < 2) return false;
    chain_finish(f, found);
    return found->length > 0;
}

/* Whether the chains below joint `wrist` may be fingers: 3 to 6 of like length, side by side, away from the wrist. */
static bool chains_below(finder *f, int wrist)
{
    f->chain_count = 0;
    for (int j = 0; j < f->character->joint_count; j++) {
        if (f->tree[j] != wrist || !f->useful[j]) continue;
        if (f->chain_count == CHAIN_LIMIT) return false;
        f->chain_count += chain_follow(f, j, &f->chains[f->chain_count]);
    }
    if (f->chain_count < 3 || f->chain_count > FINGER_LIMIT) return false;

    /* their mean direction and length */
    vec3 mean = {0, 0, 0}, bases = {0, 0, 0};
    float length = 0;
    for (int i = 0; i < f->chain_count; i++) {
        const chain *c = &f->chains[i];
        mean = vec3_add(mean, vec3_normalize(vec3_sub(c->tip, c->base)));
        bases = vec3_madd(bases, c->base, 1 / (float)f->chain_count);
        length += c->length / (float)f->chain_count;
    }

    mean = vec3_normalize(mean);
    vec3 away = vec3_normalize(vec3_sub(bases, f->places[wrist]));
    if (vec3_dot(mean, away) < FINGER_COSINE) return false;
    for (int i = 0; i < f->chain_count; i++) {
        const chain *c = &f->chains[i];
        if (vec3_dot(vec3_normalize(vec3_sub(c->tip, c->base)), mean) < FINGER_COSINE) return false;
        if (c->length < 0.3f * length || c->length > 2.5f * length) return false;
        if (vec3_distance(c->base, bases) > 1.2f * length) return false;
    }
    return true;
}

/* The thumb is the chain that begins nearest to the wrist and stands off the others; the rest in a row from there. */
static void chains_order(finder *f)
{
    int n = f->chain_count, thumb = 0;
    float best = -INFINITY;
    for (int i = 0; i < n; i++) {
        vec3 others = {0, 0, 0};
        for (int k = 0; k < n; k++)
            if (k != i) others = vec3_add(others, vec3_normalize(vec3_sub(f->chains[k].tip, f->chains[k].base)));
        vec3 own = vec3_normalize(vec3_sub(f->chains[i].tip, f->chains[i].base));
        float apart = 1 - vec3_dot(own, vec3_normalize(others));
        if (apart > best) {
            best = apart;
            thumb = i;
        }
    }

    chain first = f->chains[thumb];
    f->chains[thumb] = f->chains[0];
    f->chains[0] = first;

    /* along the row: by the distance of the knuckles from the thumb's tip, nearest first */
    for (int i = 2; i < n; i++)
        for (int k = i; k > 1; k--) {
            const chain *a = &f->chains[k - 1], *b = &f->chains[k];
            if (vec3_distance(a->base, first.tip) <= vec3_distance(b->base, first.tip)) break;
            chain swap = f->chains[k];
            f->chains[k] = f->chains[k - 1];
            f->chains[k - 1] = swap;
        }
    for (int i = 0; i < n; i++) f->chains[i].kind = JOINT_THUMB + i;
}

/* The joint that all fingers hang on. */
static int common_ancestor(const finder *f)
{
    int n = f->character->joint_count;
    for (int j = f->tree[f->chains[0].joints[0]]; j >= 0; j = f->tree[j]) {
        bool all = true;
        for (int i = 1; i < f->chain_count; i++) {
            int k = f->chains[i].joints[0];
            for (int step = 0; step < n && k >= 0 && k != j; step++) k = f->tree[k];
            all = all && k == j;
        }
        if (all) return j;
    }
    return -1;
}

static bool find_by_names(finder *f, cutis_grasp_side side)
{
    /* the side asked for; without a wish the right one */
    static const int order[] = {JOINT_SIDE_RIGHT, JOINT_SIDE_LEFT, JOINT_SIDE_NONE};
    int best = -1, most = 1;
    for (int i = 0; i < COUNT_OF(order); i++) {
        if (side == CUTIS_GRASP_LEFT && order[i] == JOINT_SIDE_RIGHT) continue;
        if (side == CUTIS_GRASP_RIGHT && order[i] == JOINT_SIDE_LEFT) continue;
        int count = chains_by_names(f, order[i]);
        if (count > most) {
            most = count;
            best = order[i];
        }
    }
    if (best < 0) return false;

    chains_by_names(f, best);
    f->wrist = common_ancestor(f);
    f->side = best;
    f->by_names = true;
    return f->wrist >= 0;
}

/*
 * A last joint at the end of the finger (a leaf, a nub) moves little skin and does not bend: its bone is much shorter
 * than the one before.
 */
static void chains_drop_leaves(finder *f)
{
    for (int i = 0; i < f->chain_count; i++) {
        chain *c = &f->chains[i];
        while (c->count > 2) {
            int last = c->joints[c->count - 1];
            float bone = 2 * vec3_distance(f->skins[last], f->places[last]);
            float before = vec3_distance(f->places[last], f->places[c->joints[c->count - 2]]);
            if (bone > 0.35f * before) break;
            vec3 end = f->places[last];
            c->count--;
            chain_finish(f, c);
            c->tip = end;
        }
    }
}

/* ---- the hand ---- */

/* Of four joints or more of a finger, the first lies in the palm and does not bend. */
static int chain_skip(const chain *c)
{
    int most = c->kind == JOINT_THUMB ? LINK_LIMIT : 3;
    return MAX(c->count - most, 0);
}

/*
 * Which side of the hand is the palm: of the two normals of the row of knuckles, the one that the side tells, or
 * towards which fingers bend and the thumb stands.
 */
static vec3 palm_normal(const finder *f, vec3 forward, vec3 across)
{
    vec3 n = vec3_normalize(vec3_cross(across, forward));
    if (f->side == JOINT_SIDE_RIGHT) return n;
    if (f->side == JOINT_SIDE_LEFT) return vec3_scale(n, -1);

    float sum = 0;
    for (int i = 0; i < f->chain_count; i++) {
        const chain *c = &f->chains[i];
        vec3 base = f->places[c->joints[chain_skip(c)]];
        vec3 way = vec3_sub(c->tip, base);

        /* a bent finger leaves its first bone towards the palm; the thumb leaves the row of knuckles */
        vec3 first = vec3_normalize(vec3_sub(f->places[c->joints[chain_skip(c) + 1]], base));
        vec3 bend = vec3_madd(way, first, -vec3_dot(way, first));
        if (c->kind == JOINT_THUMB) bend = vec3_madd(way, forward, -vec3_dot(way, forward));
        sum += vec3_dot(bend, n) / c->length;
    }
    return vec3_scale(n, sum < 0 ? -1 : 1);
}

static void hinges_find(grasp_hand *hand)
{
    static const float most[3] = {90, 105, 70}, thumb[4] = {30, 60, 60, 80};
    vec3 aim = vec3_madd(hand->origin, hand->forward, 0.9f * hand->palm_length);
    aim = vec3_madd(aim, hand->normal, 0.25f * hand->length);
    for (int i = 0; i < hand->finger_count; i++) {
        grasp_finger *finger = &hand->fingers[i];
        bool is_thumb = finger->kind == JOINT_THUMB;
        for (int k = 0; k < finger->link_count; k++) {
            grasp_link *link = &finger->links[k];
            vec3 along = vec3_normalize(vec3_sub(link->end, link->place));

            /* fingers close towards the palm's normal, the thumb towards a place above the palm */
            vec3 towards = is_thumb ? vec3_sub(aim, link->place) : hand->normal;
            link->hinge = vec3_normalize(vec3_cross(along, towards));
            float bend = 0;
            if (k > 0) {
                vec3 before = vec3_normalize(vec3_sub(link->place, finger->links[k - 1].place));
                float cosine = vec3_dot(before, along), sine = vec3_dot(vec3_cross(before, along), link->hinge);
                bend = (float)det_atan2((double)sine, (double)cosine);
            }

            /* limits count from the straight finger */
            float limit = is_thumb ? thumb[MIN(k + (finger->link_count == 4 ? 0 : 1), 3)] : most[MIN(k, 2)];
            link->high = MAX(limit * (float)DEGREE - bend, 0.0f);
            link->low = MIN(-(k == 0 ? 30 : 5) * (float)DEGREE - bend, 0.0f);
        }
    }
}

static cutis_result hand_fill(finder *f, arena *memory, grasp_hand *hand, cutis_error *error)
{
    int n = f->character->joint_count;
    *hand = (grasp_hand){.wrist = f->wrist,
                         .side = f->side,
                         .finger_count = f->chain_count,
                         .by_names = f->by_names,
                         .has_thumb = f->chains[0].kind == JOINT_THUMB,
                         .origin = f->places[f->wrist],
                         .tree = f->tree};
    hand->link_of = ARENA_ARRAY(memory, int, n + 1);
    if (!hand->link_of) return error_memory(error, "a hand");

    /* links */
    for (int i = 0; i < f->chain_count; i++) {
        const chain *c = &f->chains[i];
        grasp_finger *finger = &hand->fingers[i];
        finger->kind = c->kind;
        for (int k = chain_skip(c); k < c->count; k++)
            finger->links[finger->link_count++] =
                (grasp_link){.joint = c->joints[k],
                             .place = f->places[c->joints[k]],
                             .end = k + 1 < c->count ? f->places[c->joints[k + 1]] : c->tip};
    }

    /* the row of knuckles */
    vec3 knuckles = {0, 0, 0};
    int first = hand->has_thumb ? 1 : 0, fingers = f->chain_count - first;
    for (int i = first; i < f->chain_count; i++)
        knuckles = vec3_madd(knuckles, hand->fingers[i].links[0].place, 1 / (float)fingers);
    vec3 forward = vec3_sub(knuckles, hand->origin);
    hand->palm_length = vec3_length(forward);
    hand->forward = vec3_normalize(forward);

    /* towards the thumb: from the last finger to the first; of one finger, to the thumb itself */
    vec3 across = vec3_sub(hand->fingers[first].links[0].place, hand->fingers[f->chain_count - 1].links[0].place);
    if (fingers < 2) across = vec3_sub(f->chains[0].tip, knuckles);
    across = vec3_madd(across, hand->forward, -vec3_dot(across, hand->forward));
    hand->across = vec3_normalize(across);
    hand->normal = palm_normal(f, hand->forward, hand->across);
    for (int i = 0; i < hand->finger_count; i++)
        for (int k = 0; k < hand->fingers[i].link_count; k++)
            hand->length = MAX(hand->length, vec3_distance(hand->fingers[i].links[k].end, hand->origin));
    if (!(hand->length > 0) || !(hand->palm_length > 0) || !(vec3_length(hand->normal) > 0.5f))
        return error_set(error, CUTIS_ERROR_UNSUPPORTED,
                         "the hand at joint '%s' has no length; check the skeleton's rest pose",
                         f->character->joints[f->wrist].name);

    /* which joints move with which link: the nearest one above */
    for (int j = 0; j < n; j++) {
        hand->link_of[j] = -2;
        for (int k = j, step = 0; k >= 0 && step <= n && hand->link_of[j] == -2; k = f->tree[k], step++) {
            for (int i = 0; i < hand->finger_count; i++)
                for (int l = 0; l < hand->fingers[i].link_count; l++)
                    if (hand->fingers[i].links[l].joint == k) hand->link_of[j] = i * LINK_LIMIT + l;
            if (k == hand->wrist && hand->link_of[j] == -2) hand->link_of[j] = PALM;
        }
    }
    hinges_find(hand);
    return CUTIS_OK;
}

/* Whether a hand is a right one, by its row of fingers and its palm. */
static bool hand_is_right(const grasp_hand *hand)
{
    return vec3_dot(vec3_cross(hand->across, hand->forward), hand->normal) > 0;
}

static bool hand_matches(const grasp_hand *hand, cutis_grasp_side side)
{
    return side == CUTIS_GRASP_ANY || hand_is_right(hand) == (side == CUTIS_GRASP_RIGHT);
}

/* The joint whose chains are the fingers of a hand of that side, with most of them. */
static bool find_by_shape(finder *f, cutis_grasp_side side, arena *memory, grasp_hand *hand)
{
    int most = 0;
    grasp_hand trial;
    for (int j = 0; j < f->character->joint_count; j++) {
        /* feet have toes */
        int kind = f->parts[j].kind;
        if (kind >= JOINT_UPPER_LEG && kind <= JOINT_TAIL) continue;
        if (!chains_below(f, j)) continue;
        chains_order(f);
        chains_drop_leaves(f);
        f->wrist = j;
        f->side = f->parts[j].side;
        f->by_names = false;

        /* of two hands the right one, if none is asked for */
        cutis_error ignored;
        if (hand_fill(f, memory, &trial, &ignored) != CUTIS_OK || !hand_matches(&trial, side)) continue;
        int score = 4 * f->chain_count + (kind == JOINT_HAND ? 2 : 0) + hand_is_right(&trial);
        if (score <= most) continue;
        most = score;
        *hand = trial;
    }
    return most > 0;
}

cutis_result grasp_hand_find(const cutis_character *character, cutis_grasp_side side, bool by_shape, arena *memory,
                             grasp_hand *hand, cutis_error *error)
{
    finder f = {.character = character, .wrist = -1};
    if (character->joint_count == 0 || !character->influence_first)
        return error_set(error, CUTIS_ERROR_UNSUPPORTED, "'%s' has no skeleton with weights; make one with 'cutis rig'",
                         character->name);
    cutis_result result = finder_open(&f, memory, error);
    if (result != CUTIS_OK) return result;

    bool found = !by_shape && find_by_names(&f, side) && hand_fill(&f, memory, hand, error) == CUTIS_OK &&
                 hand_matches(hand, side);
    if (!found) found = find_by_shape(&f, side, memory, hand);
    if (memory->failed) return error_memory(error, "a hand");
    if (!found)
        return error_set(
            error, CUTIS_ERROR_UNSUPPORTED,
            "'%s' has no %shand with fingers of at least two joints; add fingers with 'cutis rig', or name "
            "the joints thumb_1, index_1, ... (see 'cutis info')",
            character->name,
            side == CUTIS_GRASP_LEFT    ? "left "
            : side == CUTIS_GRASP_RIGHT ? "right "
                                        : "");
    return CUTIS_OK;
}

/* ---- skin ---- */

static vec3 segment_nearest(vec3 p, vec3 a, vec3 b)
{
    vec3 ab = vec3_sub(b, a);
    float length2 = vec3_length2(ab);
    float t = length2 > 0 ? vec3_dot(vec3_sub(p, a), ab) / length2 : 0;
    return vec3_madd(a, ab, CLAMP(t, 0.0f, 1.0f));
}

/* A tenth of the values may be smaller. Sorts. */
static float low_value(float *values, int count)
{
    for (int gap = count / 2; gap > 0; gap /= 2)
        for (int i = gap; i < count; i++)
            for (int k = i; k >= gap && values[k - gap] > values[k]; k -= gap) {
                float swap = values[k];
                values[k] = values[k - gap];
                values[k - gap] = swap;
            }
    return count > 0 ? values[count / 10] : 0;
}

/* The strongest links of a vertex; false when it is not of the hand. */
static bool point_weigh(const cutis_character *c, const grasp_hand *hand, int v, grasp_point *point)
{
    float own = 0, total = 0;
    int used = 0;
    for (int k = 0; k < 4; k++) point->links[k] = PALM;
    for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
        int link = hand->link_of[c->influence_joints[i]];
        float w = c->influence_weights[i];
        total += w;
        if (link == -2) continue;
        own += w;
        if (link == PALM) continue;

        /* links in order of appearance; joints below one link count together */
        int k = 0;
        while (k < used && point->links[k] != link) k++;
        if (k == 4) continue;
        used = MAX(used, k + 1);
        point->links[k] = link;
        point->weights[k] += w;
    }

    float most = total;
    point->link = PALM;
    for (int k = 0; k < used; k++) most -= point->weights[k];
    for (int k = 0; k < used; k++) {
        if (!(point->weights[k] > most)) continue;
        most = point->weights[k];
        point->link = point->links[k];
    }
    return own > HAND_WEIGHT * total && total > 0;
}

/* End of the last bone and radius of each: from the skin around. */
static void links_measure(grasp_hand *hand, float *values)
{
    for (int i = 0; i < hand->finger_count; i++) {
        grasp_finger *finger = &hand->fingers[i];
        for (int k = 0; k < finger->link_count; k++) {
            grasp_link *link = &finger->links[k];
            int l = i * LINK_LIMIT + k, count = hand->first[l + 2] - hand->first[l + 1];
            const grasp_point *points = hand->points + hand->first[l + 1];
            vec3 along = vec3_normalize(vec3_sub(link->end, link->place));

            /* the tip is the farthest skin */
            float far = 0;
            for (int p = 0; p < count; p++) far = MAX(far, vec3_dot(vec3_sub(points[p].rest, link->place), along));
            if (k + 1 == finger->link_count && far > 0) link->end = vec3_madd(link->place, along, far);

            /* distance of the skin beside the bone */
            for (int p = 0; p < count; p++)
                values[p] = vec3_distance(points[p].rest, segment_nearest(points[p].rest, link->place,
                                                                          vec3_madd(link->place, along, 0.7f * far)));
            link->radius = BONE_SHARE * low_value(values, count);
        }
    }
}

cutis_result grasp_hand_skin(const cutis_character *c, arena *memory, grasp_hand *hand, cutis_error *error)
{
    mesh skin;
    cutis_result result = mesh_build_character(&skin, c, memory, error);
    if (result != CUTIS_OK) return result;
    float *areas = ARENA_ARRAY(memory, float, c->point_count + 1);
    float *normals = ARENA_ARRAY(memory, float, 3 * (size_t)c->point_count + 3);
    float *values = ARENA_ARRAY(memory, float, c->point_count + 1);
    grasp_point *all = ARENA_ARRAY(memory, grasp_point, c->point_count + 1);
    hand->points = ARENA_ARRAY(memory, grasp_point, c->point_count + 1);
    if (memory->failed) return error_memory(error, "a hand");
    mesh_point_areas(&skin, skin.positions, areas);
    mesh_normals(&skin, skin.positions, normals, NULL);

    /* points of the hand, by their strongest link */
    int count = 0, counts[LINK_TOTAL + 1] = {0};
    for (int p = 0; p < c->point_count; p++) {
        int v = c->point_vertices[p];
        grasp_point *point = &all[count];
        *point = (grasp_point){.rest = vec3_load(c->positions + 3 * (size_t)v),
                               .normal = vec3_load(normals + 3 * (size_t)p),
                               .area = areas[p]};
        if (!point_weigh(c, hand, v, point)) continue;
        counts[point->link + 1]++;
        count++;
    }
    hand->point_count = count;
    for (int l = 0; l <= LINK_TOTAL; l++) hand->first[l + 1] = hand->first[l] + counts[l];

    int next[LINK_TOTAL + 1];
    memcpy(next, hand->first, sizeof next);
    for (int p = 0; p < count; p++) hand->points[next[all[p].link + 1]++] = all[p];
    links_measure(hand, values);

    /* flesh: from the bone to the skin, as the flesh solvers have it */
    float least = LEAST_FLESH * hand->length;
    for (int p = 0; p < count; p++) {
        grasp_point *point = &hand->points[p];
        point->flesh = 4 * least;
        if (point->link == PALM) continue;
        const grasp_link *link = &hand->fingers[point->link / LINK_LIMIT].links[point->link % LINK_LIMIT];
        bool last = point->link % LINK_LIMIT + 1 == hand->fingers[point->link / LINK_LIMIT].link_count;
        float length = vec3_distance(link->end, link->place);
        float bone = last && length > 0 ? MAX(1 - 2 * link->radius / length, 0.0f) : 1;

        /* the bone of a fingertip leaves as much flesh before its end as beside it */
        vec3 near = segment_nearest(point->rest, link->place, vec3_lerp(link->place, link->end, bone));
        point->flesh = MAX(vec3_distance(point->rest, near) - link->radius, least);
    }
    for (int i = 0; i < hand->finger_count; i++)
        hand->length =
            MAX(hand->length, vec3_distance(hand->fingers[i].links[hand->fingers[i].link_count - 1].end, hand->origin));
    return CUTIS_OK;
}

/* ---- poses ---- */

static mat34 turn_about(vec3 place, vec3 axis, double angle)
{
    mat34 m = mat34_compose(vec3_make(0, 0, 0), quat_axis_angle(axis, angle), vec3_make(1, 1, 1));
    vec3 moved = mat34_vector(m.m, place);
    m.m[3] = place.x - moved.x;
    m.m[7] = place.y - moved.y;
    m.m[11] = place.z - moved.z;
    return m;
}

static void pose_finger(const grasp_hand *hand, const grasp_pose *pose, int finger, mat34 links[LINK_TOTAL])
{
    const grasp_finger *f = &hand->fingers[finger];
    bool is_thumb = f->kind == JOINT_THUMB;
    mat34 at = mat34_identity();

    /* the thumb turns about the palm's long axis, towards the palm's normal */
    if (is_thumb && pose->swing != 0) {
        vec3 out = vec3_cross(hand->forward, hand->across);
        double sign = vec3_dot(out, hand->normal) < 0 ? -1 : 1;
        at = turn_about(f->links[0].place, hand->forward, sign * (double)pose->swing);
    }

    bool aimed = is_thumb && vec3_length2(pose->thumb_hinge) > 0.5f;
    for (int k = 0; k < f->link_count; k++) {
        const grasp_link *link = &f->links[k];
        vec3 hinge = aimed ? pose->thumb_hinge : link->hinge;
        at = mat34_multiply(at, turn_about(link->place, hinge, (double)pose->angles[finger][k]));
        links[finger * LINK_LIMIT + k] = at;
    }
}

void grasp_hand_pose(const grasp_hand *hand, const grasp_pose *pose, mat34 links[LINK_TOTAL])
{
    for (int i = 0; i < hand->finger_count; i++) pose_finger(hand, pose, i, links);
}

vec3 grasp_point_place(const grasp_point *point, const mat34 links[LINK_TOTAL])
{
    vec3 sum = {0, 0, 0};
    float rest = 1;
    for (int k = 0; k < 4 && point->links[k] != PALM; k++) {
        sum = vec3_madd(sum, mat34_point(links[point->links[k]].m, point->rest), point->weights[k]);
        rest -= point->weights[k];
    }
    return vec3_madd(sum, point->rest, rest);
}

/* ---- for hosts ---- */

cutis_result cutis_hand_find(const cutis_character *character, cutis_grasp_side side, bool by_shape,
                             const cutis_allocator *allocator, cutis_hand_info *info, cutis_error *error)
{
    static const char *const kinds[] = {"thumb", "index", "middle", "ring", "pinky"};
    arena memory = arena_create(allocator);
    grasp_hand hand;
    *info = (cutis_hand_info){.wrist = -1};
    cutis_result result = grasp_hand_find(character, side, by_shape, &memory, &hand, error);
    if (result == CUTIS_OK) result = grasp_hand_skin(character, &memory, &hand, error);
    if (result == CUTIS_OK) {
        info->wrist = hand.wrist;
        info->finger_count = hand.finger_count;
        info->by_names = hand.by_names;
        info->length = hand.length;
        vec3_store(info->forward, hand.forward);
        vec3_store(info->palm, hand.normal);
        info->side = hand_is_right(&hand) ? CUTIS_GRASP_RIGHT : CUTIS_GRASP_LEFT;
        for (int i = 0; i < FINGER_LIMIT; i++) {
            info->kinds[i] = i < hand.finger_count ? kinds[hand.fingers[i].kind - JOINT_THUMB] : NULL;
            for (int k = 0; k < LINK_LIMIT; k++)
                info->links[i][k] =
                    i < hand.finger_count && k < hand.fingers[i].link_count ? hand.fingers[i].links[k].joint : -1;
        }
    }
    arena_destroy(&memory);
    return result;
}
