/*
 * bvh_motion.c: turns the motion of a .bvh file to the rest pose of a character.
 *
 * A BVH skeleton has no rest rotations: with all channels at 0 its bones lie along their offsets. The
 * character's bones may lie otherwise (an A pose against a T pose), and its joints have axes of their own. So
 * each matched joint gets a fixed rotation S that takes its bones' directions at rest to those of the BVH's
 * zero pose, and then follows in world space:
 *
 *     world_character(t) = world_bvh(t) S rest_character
 *
 * Limbs are aligned bone by bone, each by the shortest turn after what its parent's S already did. The trunk is
 * not: hips, spine, neck and the short bones that carry the limbs differ between skeletons by proportion,
 * not by pose, and following them would tilt the body. The trunk is what hangs together with the topmost
 * joint and has no bone longer than TRUNK_BONE times the longest; of a body that stands, also hips, spine, neck, head
 * and collars of any length; never a joint that is known to be one of a limb. Its S is the turn about the vertical from
 * where the character faces to where the zero pose does, by their thighs and upper arms; of bodies that do not stand,
 * the identity unless they differ much (SPREAD_LIMIT). motion_retarget.c makes the clip.
 */
#include "retarget/bvh_motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "character/joint_parts.h"
#include "character/joint_shape.h"
#include "io/affine.h"
#include "io/bvh_read.h"
#include "math/math3.h"
#include "retarget/bvh_stand.h"
#include "retarget/motion_posture.h"
#include "retarget/motion_retarget.h"
#include "retarget/motion_source.h"

static const double SPREAD_LIMIT = 0.6; /* radians, about 35 degrees */
static const double TRUNK_BONE = 0.5;   /* between a spine bone (1/3 of a thigh) and an upper arm (3/5) */

/* ---- matching ---- */

static int find_source(const bvh_reader *r, const char *name)
{
    for (int j = 0; j < r->joint_count; j++)
        if (r->joints[j].name[0] && strcmp(r->joints[j].name, name) == 0) return j;
    uint64_t key = bvh_name_key(name);
    for (int j = 0; j < r->joint_count; j++)
        if (r->joints[j].name[0] && r->joints[j].key == key) return j;
    return -1;
}

static int find_target(const cutis_character *c, const char *name)
{
    int joint = cutis_character_find_joint(c, name);
    if (joint >= 0) return joint;
    uint64_t key = bvh_name_key(name);
    for (int j = 0; j < c->joint_count; j++)
        if (bvh_name_key(c->joints[j].name) == key) return j;
    return -1;
}

/* How many letters all names begin with: a name space or an actor's, up to a separator, before a letter. */
static int prefix_length(const char *name, const char *other, int length)
{
    int same = 0;
    for (int i = 0; i < length && name[i] && name[i] == other[i]; i++) {
        char next = name[i + 1], beside = other[i + 1];
        bool letters = ((next | 32) >= 'a' && (next | 32) <= 'z') && ((beside | 32) >= 'a' && (beside | 32) <= 'z');
        if (strchr("_.:-| ", name[i]) && letters) same = i + 1;
    }
    return same;
}

static int target_prefix(const cutis_character *c)
{
    const char *first = NULL;
    int length = 0;
    for (int j = 0; j < c->joint_count; j++) {
        if (!c->joints[j].deforms) continue;
        length = first ? prefix_length(first, c->joints[j].name, length) : (int)strlen(c->joints[j].name);
        if (!first) first = c->joints[j].name;
    }
    return length;
}

/* A joint of the motion by its name without what all its names begin with; name: without the character's own. */
static int find_stripped(const bvh_reader *r, const char *name)
{
    const char *first = NULL;
    int length = 0;
    for (int j = 0; j < r->joint_count; j++) {
        if (!r->joints[j].name[0]) continue;
        length = first ? prefix_length(first, r->joints[j].name, length) : (int)strlen(r->joints[j].name);
        if (!first) first = r->joints[j].name;
    }

    uint64_t key = bvh_name_key(name);
    for (int j = 0; j < r->joint_count; j++) {
        const char *own = r->joints[j].name;
        if (strlen(own) > (size_t)length && bvh_name_key(own + length) == key) return j;
    }
    return -1;
}

static bool joint_above(const cutis_character *c, int above, int j)
{
    while (j > above) j = c->joints[j].parent;
    return j >= 0 && j == above;
}

/* Chains of these kinds have any number of joints, which share the bend. */
static bool kind_shared(int kind) { return kind == JOINT_SPINE || kind == JOINT_NECK; }

/* The parts of both skeletons, and the middle of the skin that each joint of the character moves. */
typedef struct part_lists {
    joint_part *sources, *targets;
    const double (*skins)[3];
} part_lists;

static bool parts_tell(const joint_part *parts, int count)
{
    for (int j = 0; j < count; j++)
        if (parts[j].kind == JOINT_UPPER_LEG || parts[j].kind == JOINT_UPPER_ARM) return true;
    return false;
}

/* A skeleton whose names tell no limb is read by its shape; `whose` is for the warning. */
static void parts_by_shape(arena *memory, int count, const char *const *names, const int *parents,
                           const double (*places)[3], const double (*skins)[3], const bool *uses, const char *whose,
                           joint_part *parts, warning_list *warnings)
{
    if (parts_tell(parts, count)) return;
    joint_part *shaped = ARENA_ARRAY(memory, joint_part, count);
    if (!shaped || !joint_parts_by_shape(memory, count, parents, places, skins, uses, shaped)) return;

    /* say what was taken for what: names of the thighs and of the upper arms, left first */
    const char *told[4] = {"", "", "", ""};
    for (int j = 0; j < count; j++) {
        parts[j] = shaped[j];
        int row = parts[j].kind == JOINT_UPPER_LEG ? 0 : parts[j].kind == JOINT_UPPER_ARM ? 2 : -1;
        if (row >= 0) told[row + (parts[j].side == JOINT_SIDE_RIGHT)] = names[j];
    }
    warning_add(warnings,
                "the joint names of the %s identify no limbs, so its shape was used: left and right thigh are '%.40s' "
                "and '%.40s', upper arms '%.40s' and '%.40s'; pass a name map if that is wrong",
                whose, told[0], told[1], told[2], told[3]);
}

/* The middle of the skin that each joint moves; its place where there is none. */
static void skins_place(const cutis_character *c, const double (*places)[3], double (*skins)[3], double *weights)
{
    for (int j = 0; j < c->joint_count; j++) weights[j] = skins[j][0] = skins[j][1] = skins[j][2] = 0;
    for (int v = 0; v < c->vertex_count && c->influence_first; v++)
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
            int j = c->influence_joints[i];
            weights[j] += c->influence_weights[i];
            for (int k = 0; k < 3; k++) skins[j][k] += (double)c->influence_weights[i] * c->positions[3 * v + k];
        }
    for (int j = 0; j < c->joint_count; j++)
        for (int k = 0; k < 3; k++) skins[j][k] = weights[j] > 0 ? skins[j][k] / weights[j] : places[j][k];
}

/* Which joints move skin, by themselves or by a joint below. */
static void uses_find(const cutis_character *c, bool *uses)
{
    for (int j = 0; j < c->joint_count; j++) uses[j] = c->joints[j].deforms;
    for (int j = c->joint_count - 1; j >= 0; j--)
        if (c->joints[j].parent >= 0 && uses[j]) uses[c->joints[j].parent] = true;
}

/* Rest poses of the character's joints in the space of the scene. */
static void rest_place(const cutis_character *c, target_joint *targets)
{
    for (int j = 0; j < c->joint_count; j++) {
        int parent = c->joints[j].parent;
        affine_parts local = affine_parts_load(&c->joints[j].rest);
        targets[j].world = affine_compose(&local);
        memcpy(targets[j].rest, local.rotation, sizeof local.rotation);

        if (parent >= 0) {
            targets[j].world = affine_multiply(&targets[parent].world, &targets[j].world);
            rotation_multiply(targets[parent].rest, local.rotation, targets[j].rest);
        }
        for (int k = 0; k < 3; k++) targets[j].place[k] = targets[j].world.m[4 * k + 3];
    }
}

/* What a skeleton is made of, in the arrays that its parts are found by. */
typedef struct skeleton_lists {
    const char **names;
    int *parents;
    double (*places)[3], (*skins)[3], *weights;
    bool *uses;
} skeleton_lists;

static bool lists_make(arena *memory, int count, skeleton_lists *l)
{
    l->names = ARENA_ARRAY(memory, const char *, count);
    l->parents = ARENA_ARRAY(memory, int, count);
    l->places = arena_push(memory, (size_t)count, sizeof *l->places);
    l->skins = arena_push(memory, (size_t)count, sizeof *l->skins);
    l->weights = ARENA_ARRAY(memory, double, count);
    l->uses = ARENA_ARRAY(memory, bool, count);
    return !memory->failed;
}

/* The parts of the motion's joints; the capture is made to stand by those that names tell. */
static cutis_result source_parts(bvh_reader *r, part_lists *parts, warning_list *warnings)
{
    skeleton_lists l;
    parts->sources = ARENA_ARRAY(&r->memory, joint_part, r->joint_count);
    if (!lists_make(&r->memory, r->joint_count, &l)) return error_memory(r->error, "a motion");

    for (int j = 0; j < r->joint_count; j++) {
        l.names[j] = r->joints[j].name;
        l.parents[j] = r->joints[j].parent;
        l.uses[j] = true;
    }
    joint_parts_find(r->joint_count, l.names, l.parents, parts->sources);
    cutis_result code = r->cursor ? bvh_stand(r, parts->sources, warnings) : CUTIS_OK; /* other files have their axes */
    if (code != CUTIS_OK) return code;

    for (int j = 0; j < r->joint_count; j++) memcpy(l.places[j], r->joints[j].place, sizeof l.places[j]);
    parts_by_shape(&r->memory, r->joint_count, l.names, l.parents, (const double(*)[3])l.places, NULL, l.uses, "motion",
                   parts->sources, warnings);
    return r->memory.failed ? error_memory(r->error, "a motion") : CUTIS_OK;
}

/*
 * Parts by names. Controls have names like those of the body (a Torso beside the spine): joints that move no skin, by
 * themselves or by others, count only where no joint that does is of their kind and side. False: memory runs out.
 */
static bool named_parts(arena *memory, int count, const skeleton_lists *l, joint_part *parts)
{
    const char **names = ARENA_ARRAY(memory, const char *, count);
    joint_part *all = ARENA_ARRAY(memory, joint_part, count);
    if (memory->failed) return false;
    bool any = false;
    for (int j = 0; j < count; j++) any |= l->uses[j];
    for (int j = 0; j < count; j++) names[j] = l->uses[j] || !any ? l->names[j] : "";
    joint_parts_find(count, names, l->parents, parts);
    joint_parts_find(count, l->names, l->parents, all);

    /* what no other joint is */
    bool has[JOINT_KIND_COUNT][JOINT_SIDE_COUNT] = {{false}};
    for (int j = 0; j < count; j++) has[parts[j].kind][parts[j].side] = true;
    for (int j = 0; j < count; j++)
        if (!names[j][0] && !has[all[j].kind][all[j].side]) parts[j] = all[j];
    return true;
}

/*
 * Feet and hands that hang on controls have the names of these, or none: the joint that moves skin, is of no known kind
 * and lies nearest to the lower bone of a limb, below it.
 */
static void ends_find(const cutis_character *c, const target_joint *targets, const bool *uses, joint_part *parts)
{
    static const int LOWER[2] = {JOINT_LOWER_LEG, JOINT_FOREARM};
    for (int n = 0; n < 4; n++) {
        int lower = -1, upper = -1, best = -1, side = JOINT_SIDE_LEFT + n / 2, kind = LOWER[n % 2];
        bool has = false;
        for (int j = 0; j < c->joint_count; j++) {
            if (parts[j].side != side || parts[j].index > 0) continue;
            has |= parts[j].kind == kind + 1;
            if (parts[j].kind == kind) lower = j;
            if (parts[j].kind == kind - 1) upper = j;
        }
        if (has || lower < 0 || upper < 0) continue;

        /* no further away than the upper bone is long by half, or than the floor */
        double reach = 1.5 * place_distance(targets[upper].place, targets[lower].place);
        reach = MAX(reach, 1.2 * (targets[lower].place[1] - (double)c->bounds_min[1]));
        for (int j = 0; j < c->joint_count; j++) {
            if (parts[j].kind != JOINT_OTHER || !uses[j] || !c->joints[j].deforms) continue;
            if (targets[j].place[1] >= targets[lower].place[1]) continue;

            /* a control hangs on no joint of the body and carries none */
            int above = c->joints[j].parent;
            while (above >= 0 && parts[above].kind == JOINT_OTHER) above = c->joints[above].parent;
            bool carries = false;
            for (int i = j + 1; i < c->joint_count; i++)
                carries |= parts[i].kind != JOINT_OTHER && joint_above(c, j, i);
            if (above >= 0 || carries) continue;
            double apart = place_distance(targets[j].place, targets[lower].place);
            if (apart > reach) continue;
            reach = apart;
            best = j;
        }
        if (best >= 0) parts[best] = (joint_part){kind + 1, side, 0};
    }
}

/* The parts of the character's joints. targets: their rest poses are known. */
static cutis_result target_parts(bvh_reader *r, const cutis_character *c, const target_joint *targets,
                                 part_lists *parts, warning_list *warnings)
{
    skeleton_lists l;
    parts->targets = ARENA_ARRAY(&r->memory, joint_part, c->joint_count);
    if (!lists_make(&r->memory, c->joint_count, &l)) return error_memory(r->error, "a motion");

    /* a file that says which joints make a humanoid is believed, and nothing else of it is one */
    bool humanoid = false;
    for (int j = 0; j < c->joint_count; j++) humanoid |= c->joints[j].role != NULL;
    for (int j = 0; j < c->joint_count; j++) {
        const cutis_joint *joint = &c->joints[j];
        l.names[j] = !humanoid ? joint->name : joint->role ? joint->role : "";
        l.parents[j] = joint->parent;
        memcpy(l.places[j], targets[j].place, sizeof l.places[j]);
    }

    uses_find(c, l.uses);
    if (!named_parts(&r->memory, c->joint_count, &l, parts->targets)) return error_memory(r->error, "a motion");
    skins_place(c, (const double(*)[3])l.places, l.skins, l.weights);
    parts->skins = (const double(*)[3])l.skins;
    parts_by_shape(&r->memory, c->joint_count, l.names, l.parents, (const double(*)[3])l.places, parts->skins, l.uses,
                   "character", parts->targets, warnings);
    if (!humanoid) ends_find(c, targets, l.uses, parts->targets);
    return r->memory.failed ? error_memory(r->error, "a motion") : CUTIS_OK;
}

enum { CHAIN_LIMIT = 32 };

/* The chain of one kind and side, -1 where a joint is missing; returns its length. */
static int part_chain(const joint_part *parts, int count, int kind, int side, int chain[CHAIN_LIMIT])
{
    int length = 0;
    for (int i = 0; i < CHAIN_LIMIT; i++) chain[i] = -1;
    for (int j = 0; j < count; j++) {
        if (parts[j].kind != kind || parts[j].side != side || parts[j].index >= CHAIN_LIMIT) continue;
        chain[parts[j].index] = j;
        length = MAX(length, parts[j].index + 1);
    }
    return length;
}

/*
 * Match by what the joints are. Spines and necks of different numbers of joints share the turn: the upper ends go
 * together, and what has no counterpart stays stiff. Limbs and fingers go joint by joint from the body outwards.
 */
static int match_parts(const bvh_reader *r, const cutis_character *c, const part_lists *parts, target_joint *targets,
                       bool *taken)
{
    int count = 0;

    /* chains of the same part and side, from the root outwards */
    for (int i = 0; i < JOINT_KIND_COUNT * JOINT_SIDE_COUNT; i++) {
        int kind = i / JOINT_SIDE_COUNT, side = i % JOINT_SIDE_COUNT, from[CHAIN_LIMIT], to[CHAIN_LIMIT];
        if (kind == JOINT_OTHER) continue;

        int m = part_chain(parts->sources, r->joint_count, kind, side, from);
        int n = part_chain(parts->targets, c->joint_count, kind, side, to);
        bool share = kind_shared(kind);

        /* joints of a spine are shared out; other chains match one to one */
        for (int k = 0; k < n && m > 0; k++) {
            if (share && (k + 1) * m / n == k * m / n) continue;
            int source = share ? (k + 1) * m / n - 1 : k;
            if (source >= m || from[source] < 0 || to[k] < 0) continue;
            if (taken[from[source]] || targets[to[k]].source >= 0) continue;

            targets[to[k]].source = from[source];
            taken[from[source]] = true;
            count++;
        }
    }

    return count;
}

/* Fill the targets' sources; returns how many joints are driven. */
static int match_names(const bvh_reader *r, const cutis_character *c, const cutis_name_pair *pairs, int pair_count,
                       const part_lists *parts, target_joint *targets, bool *taken, warning_list *warnings)
{
    int count = 0;
    for (int j = 0; j < c->joint_count; j++) targets[j].source = -1;

    /* pairs that the caller gave */
    for (int i = 0; i < pair_count; i++) {
        int source = find_source(r, pairs[i].from), target = find_target(c, pairs[i].to);
        if (source < 0 || target < 0) {
            warning_add(warnings, "name map: '%.80s' is not a joint of the %s",
                        source < 0 ? pairs[i].from : pairs[i].to, source < 0 ? "motion" : "character");
            continue;
        }

        if (targets[target].source >= 0 || taken[source]) continue;
        targets[target].source = source;
        taken[source] = true;
        count++;
    }

    int hips = -1, prefix = target_prefix(c);
    for (int j = 0; j < c->joint_count && hips < 0; j++)
        if (parts->targets[j].kind == JOINT_HIPS) hips = j;
    for (int j = 0; j < c->joint_count; j++) {
        if (targets[j].source >= 0) continue;
        int source = find_source(r, c->joints[j].name);
        if (source < 0 && strlen(c->joints[j].name) > (size_t)prefix)
            source = find_stripped(r, c->joints[j].name + prefix);
        if (source < 0 || taken[source]) continue;

        /* One name for two parts: a LeftShoulder may be the collar bone or the upper arm. */
        const joint_part *own = &parts->targets[j], *other = &parts->sources[source];
        if (own->kind != other->kind || own->side != other->side) continue;

        /* joints of spines and necks are shared out below; what stands above the hips is no part of the body */
        if (kind_shared(own->kind) || (own->kind == JOINT_OTHER && joint_above(c, j, hips))) continue;

        targets[j].source = source;
        taken[source] = true;
        count++;
    }

    /* parts of the body for the rest */
    return count + match_parts(r, c, parts, targets, taken);
}

/* ---- the two rest poses ---- */

static void bone_add(target_joint *joint, const double from[3], const double to[3])
{
    double a = sqrt(from[0] * from[0] + from[1] * from[1] + from[2] * from[2]);
    double b = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]);

    /* a short bone tells less of how a joint is turned: thighs that begin beside the hips say nothing of the trunk */
    double weight = sqrt(a * b);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) joint->spread[3 * i + k] += weight * (to[i] / b * from[k] / a);
    if (joint->bone_count++ == 0) {
        memcpy(joint->lead[0], from, sizeof joint->lead[0]);
        memcpy(joint->lead[1], to, sizeof joint->lead[1]);
    }
}

/* The joint that carries each, and the nearest driven joint above it. */
static cutis_result carriers_measure(const bvh_reader *r, const cutis_character *c, const joint_part *parts,
                                     arena *memory, target_joint *targets, int *order)
{
    if (!motion_carriers_find(c, parts, memory, targets, order)) return error_memory(r->error, "a motion");

    /* the next joint above that the motion drives */
    for (int i = 0; i < c->joint_count; i++) {
        int j = order[i];
        int above = targets[j].carrier;
        targets[j].driven_parent = above < 0 || targets[above].source >= 0 ? above : targets[above].driven_parent;
    }

    return CUTIS_OK;
}

/* The trunk of a person by what its joints are, however long their bones. */
static bool is_trunk(int kind)
{
    return kind == JOINT_HIPS || kind == JOINT_SPINE || kind == JOINT_NECK || kind == JOINT_HEAD ||
           kind == JOINT_COLLAR;
}

/* Joints of limbs follow their bones however short these are beside the longest one. */
static bool is_limb(int kind) { return kind >= JOINT_UPPER_ARM && kind <= JOINT_LOWER_LEG; }

/* A limb of one joint, as of people made of boxes, points where the end of the capture's limb is. */
static void aims_find(const bvh_reader *r, const cutis_character *c, const part_lists *parts, target_joint *targets)
{
    for (int j = 0; j < c->joint_count; j++) targets[j].aim = targets[j].aim_bone = -1;
    for (int j = 0; j < c->joint_count; j++) {
        int kind = parts->targets[j].kind, side = parts->targets[j].side, source = targets[j].source;
        if ((kind != JOINT_UPPER_ARM && kind != JOINT_UPPER_LEG) || side == JOINT_SIDE_NONE || source < 0) continue;
        if (parts->sources[source].kind != kind) continue;

        /* the limb has no second joint that is driven */
        bool bends = false;
        for (int i = 0; i < c->joint_count; i++)
            bends |= parts->targets[i].kind == kind + 1 && parts->targets[i].side == side && targets[i].source >= 0;
        if (bends) continue;

        /* the second and the last joint of the capture's limb */
        for (int i = 0; i < r->joint_count; i++) {
            const joint_part *part = &parts->sources[i];
            if (part->side != side || part->index > 0) continue;
            if (part->kind == kind + 1) targets[j].aim_bone = i;
            if (part->kind == kind + 2) targets[j].aim = i;
        }
        if (targets[j].aim_bone < 0) targets[j].aim = -1;
    }
}

/* A limb of one joint, as of people made of boxes: its bone goes through the middle of its skin. */
static void bones_by_skin(const bvh_reader *r, const cutis_character *c, const part_lists *parts, target_joint *targets)
{
    for (int j = 0; j < c->joint_count; j++) {
        int kind = parts->targets[j].kind, source = targets[j].source, next = -1;
        bool limb =
            kind == JOINT_UPPER_ARM || kind == JOINT_FOREARM || kind == JOINT_UPPER_LEG || kind == JOINT_LOWER_LEG;
        if (!limb || source < 0 || targets[j].bone_count > 0) continue;

        /* the capture's bone: to its farthest child */
        const double *place = r->joints[source].place;
        for (int i = source + 1; i < r->joint_count; i++)
            if (r->joints[i].parent == source &&
                (next < 0 || place_distance(r->joints[i].place, place) > place_distance(r->joints[next].place, place)))
                next = i;
        double half = place_distance(parts->skins[j], targets[j].place);
        if (next < 0 || !(half > 1e-3 * (double)c->size) || !(place_distance(r->joints[next].place, place) > 0))
            continue;

        double from[3], to[3];
        for (int k = 0; k < 3; k++) {
            from[k] = parts->skins[j][k] - targets[j].place[k];
            to[k] = r->joints[next].place[k] - place[k];
        }
        bone_add(&targets[j], from, to);
        targets[j].longest_bone = 2 * half;
    }
}

/* Arms and fingers: of a body that keeps its posture they alone are free. */
static bool is_arm(int kind)
{
    return (kind >= JOINT_UPPER_ARM && kind <= JOINT_HAND) || (kind >= JOINT_THUMB && kind <= JOINT_PINKY);
}

/*
 * The turn of a joint of a body that keeps its rest pose. Zero poses have legs apart by up to 20 degrees: what stands
 * straight down in the character is the line from hip to ankle there, not the vertical. person: the capture stands; an
 * animal's rest pose stands as it is.
 */
static void keep_align(const bvh_reader *r, const part_lists *lists, target_joint *joint, int kind, bool person,
                       const double body[4])
{
    static const double DOWN[3] = {0, -1, 0};
    memcpy(joint->align, body, sizeof joint->align);
    int from = lists->sources[joint->source].kind, side = lists->sources[joint->source].side, ends[2] = {-1, -1};
    if ((from != JOINT_UPPER_LEG && from != JOINT_LOWER_LEG) || is_trunk(kind) || !person) return;

    /* hip and ankle of the capture's leg */
    for (int i = r->joint_count - 1; i >= 0; i--) {
        const joint_part *part = &lists->sources[i];
        if (part->side != side || part->index > 0) continue;
        if (part->kind == JOINT_UPPER_LEG) ends[0] = i;
        if (part->kind == JOINT_FOOT) ends[1] = i;
    }
    if (ends[0] < 0 || ends[1] < 0) return;

    double leg[3], apart[4];
    for (int k = 0; k < 3; k++) leg[k] = r->joints[ends[1]].place[k] - r->joints[ends[0]].place[k];
    rotation_between(DOWN, leg, apart);
    rotation_multiply(apart, body, joint->align);
}

/* body: the turn of the whole body, as motion_posture_find has it. */
static void align_make(const bvh_reader *r, const cutis_character *c, const part_lists *lists, const int *order,
                       motion_posture posture, bool person, const double body[4], target_joint *targets)
{
    const joint_part *parts = lists->targets;
    double size = (double)c->size, reach = 0;
    bool stands = posture == POSTURE_UPRIGHT;

    for (int j = 0; j < r->joint_count; j++) reach = MAX(reach, place_distance(r->joints[j].place, r->joints[0].place));
    double tiny = 1e-4 * size, tiny_source = 1e-4 * reach;

    /* Collect the bones: from each driven joint to the driven one above it, when that is elsewhere. */
    for (int j = 0; j < c->joint_count; j++) {
        if (targets[j].source < 0) continue;
        const double *place = r->joints[targets[j].source].place;
        for (int p = targets[j].driven_parent; p >= 0; p = targets[p].driven_parent) {
            const double *above = r->joints[targets[p].source].place;
            if (place_distance(targets[j].place, targets[p].place) <= tiny ||
                place_distance(place, above) <= tiny_source)
                break;

            double from[3], to[3];
            for (int k = 0; k < 3; k++) {
                from[k] = targets[j].place[k] - targets[p].place[k];
                to[k] = place[k] - above[k];
            }
            /* the bone of a limb is the one to its next joint, not to a thumb beside the hand */
            bool next_part = is_limb(parts[p].kind) && parts[j].kind == parts[p].kind + 1;
            if (next_part && !targets[p].limb_bone) targets[p].bone_count = 0;
            if (next_part || !targets[p].limb_bone) bone_add(&targets[p], from, to);
            targets[p].limb_bone |= next_part;
            if (p == targets[j].driven_parent)
                targets[p].longest_bone =
                    MAX(targets[p].longest_bone, place_distance(targets[j].place, targets[p].place));

            /* Joints further up at the same place (hips and the heads of hip bones) share the bone. */
            int next = targets[p].driven_parent;
            if (next < 0 || place_distance(above, r->joints[targets[next].source].place) > tiny_source) break;
        }
    }
    bones_by_skin(r, c, lists, targets);
    double longest = 0;
    for (int j = 0; j < c->joint_count; j++) longest = MAX(longest, targets[j].longest_bone);

    /* from the root: turn each joint so that its bones point like those of the motion */
    for (int i = 0; i < c->joint_count; i++) {
        target_joint *joint = &targets[order[i]];
        const target_joint *parent = joint->driven_parent >= 0 ? &targets[joint->driven_parent] : NULL;

        double before[4] = {0, 0, 0, 1};
        if (parent) memcpy(before, parent->align, sizeof before);
        memcpy(joint->align, before, sizeof before);
        if (joint->source < 0) continue;

        /* whether it belongs to the trunk */
        int kind = parts[order[i]].kind;
        joint->trunk = !parent || (stands && is_trunk(kind)) ||
                       (parent->trunk && !is_limb(kind) && joint->longest_bone <= TRUNK_BONE * longest);
        double fit[4], turned[3], inverse[4], difference[4];

        /* a body that does not stand keeps its own rest pose, but for free arms */
        bool keeps = posture > POSTURE_OWN || (posture == POSTURE_OWN && !is_arm(kind));
        if (keeps) keep_align(r, lists, joint, kind, person, body);
        if (keeps) continue;

        if (kind == JOINT_FOOT || kind == JOINT_TOE) {
            /* soles lie on the floor in both rest poses: ankles of other heights tell nothing, where toes point does */
            double from[3] = {joint->lead[0][0], 0, joint->lead[0][2]};
            double to[3] = {joint->lead[1][0], 0, joint->lead[1][2]};
            double tilt = fabs(joint->lead[0][1]) + fabs(joint->lead[1][1]);
            bool level = joint->bone_count > 0 && tilt < 3 * (place_distance(from, (double[3]){0, 0, 0}) +
                                                              place_distance(to, (double[3]){0, 0, 0}));
            if (level) rotation_between(from, to, joint->align);
            if (level) continue;

            /* else as the top of the chain is turned */
            int top = order[i];
            while (targets[top].driven_parent >= 0) top = targets[top].driven_parent;
            memcpy(joint->align, targets[top].align, sizeof joint->align);
            continue;
        }
        if (stands && !parent) {
            memcpy(joint->align, body, sizeof joint->align);
            continue;
        }
        if (joint->bone_count == 0 || (joint->trunk && parent)) continue;
        if (joint->bone_count == 1) {
            /* a single bone: the shortest turn */
            rotation_apply(before, joint->lead[0], turned);
            rotation_between(turned, joint->lead[1], difference);
            rotation_multiply(difference, before, fit);
        } else {
            /* several bones: the best rotation of all */
            mat3 spread;
            for (int k = 0; k < 9; k++) spread.m[k] = (float)joint->spread[k];
            quat guess = {(float)before[0], (float)before[1], (float)before[2], (float)before[3]};
            quat q = polar_rotation(spread, guess, 60);
            fit[0] = q.x;
            fit[1] = q.y;
            fit[2] = q.z;
            fit[3] = q.w;
            rotation_conjugate(before, inverse);
            rotation_multiply(fit, inverse, difference);
        }

        /* the trunk follows its parent unless it differs much */
        if (joint->trunk && 2 * det_acos(MIN(fabs(difference[3]), 1)) <= SPREAD_LIMIT) continue;
        rotation_normalize(fit);
        memcpy(joint->align, fit, sizeof fit);
    }
}

/* Whether most driven joints are mirror images at rest: left and right are exchanged, and rotations turn backwards. */
static bool mostly_mirrored(const cutis_character *c, const target_joint *targets)
{
    int mirrored = 0, driven = 0;
    for (int j = 0; j < c->joint_count; j++) {
        if (targets[j].source < 0) continue;
        const double *m = targets[j].world.m;
        double volume = m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
                        m[2] * (m[4] * m[9] - m[5] * m[8]);
        mirrored += volume < 0;
        driven++;
    }
    return 2 * mirrored > driven;
}

/* The file's name, with a number when the character has a clip of that name. */
static const char *clip_name(const cutis_character *c, const char *path, arena *memory)
{
    name_set names = name_set_create(memory);
    for (int i = 0; i < c->clip_count; i++)
        if (!name_set_add(&names, c->clips[i].name, "clip", i)) return NULL;
    const char *stem = path_stem(memory, path);
    return stem ? name_set_add(&names, stem, "clip", c->clip_count) : NULL;
}

static cutis_result motion_add(bvh_reader *r, const cutis_character *c, const char *path, const cutis_name_pair *pairs,
                               int pair_count, const cutis_allocator *allocator, cutis_character **result)
{
    if (c->joint_count == 0)
        return error_set(r->error, CUTIS_ERROR_ARGUMENT, "%.150s: the character has no skeleton", r->name);

    /* read the motion, let it stand along y, and drop a calibration pose */
    cutis_result code = r->joints ? CUTIS_OK : bvh_read(r); /* or from a clip already */
    warning_list warnings = {.memory = &r->memory};
    part_lists parts = {0};
    if (code == CUTIS_OK) code = source_parts(r, &parts, &warnings);
    if (code == CUTIS_OK) code = bvh_drop_calibration(r, &warnings);
    if (code != CUTIS_OK) return code;

    /* match joints of the character with those of the motion, by name or, failing that, by shape */
    target_joint *targets = ARENA_ARRAY(&r->memory, target_joint, c->joint_count);
    bool *taken = ARENA_ARRAY(&r->memory, bool, r->joint_count);
    if (r->memory.failed) return error_memory(r->error, "a motion");

    rest_place(c, targets);
    code = target_parts(r, c, targets, &parts, &warnings);
    if (code != CUTIS_OK) return code;

    int driven = match_names(r, c, pairs, pair_count, &parts, targets, taken, &warnings);
    if (driven == 0)
        return error_set(r->error, CUTIS_ERROR_DATA,
                         "%.150s: no joint of the motion (such as '%.60s') matches a joint of the character (such as "
                         "'%.60s') by name or by the shape of the skeleton; pass a name map",
                         r->name, r->joints[0].name, c->joints[0].name);

    if (mostly_mirrored(c, targets))
        return error_set(r->error, CUTIS_ERROR_DATA,
                         "%.150s: the skeleton is mirrored by a negative scale, so no other motion fits it; apply the "
                         "scale of '%.60s' in the program that made it",
                         r->name, c->joints[0].name);

    /* align the two rest poses */
    double body[4];
    bool person = false;
    motion_posture posture = motion_posture_find(r, c, parts.sources, parts.targets, targets, &person, body);
    if (posture == POSTURE_NONE && pair_count == 0)
        return error_set(r->error, CUTIS_ERROR_DATA,
                         "%.150s: the motion is for a body on four legs, and the character stands on two; use a motion "
                         "of a person, or pass a name map",
                         r->name);
    if (posture == POSTURE_NONE) posture = POSTURE_UNKNOWN;
    aims_find(r, c, &parts, targets);
    if (posture == POSTURE_OWN || posture == POSTURE_FOUR)
        warning_add(&warnings, "%s: the %s does not stand upright like the %s; the character keeps its posture%s",
                    r->name, person ? "character" : "motion", person ? "motion" : "character",
                    posture == POSTURE_FOUR ? ", and its forelegs follow the motion's legs" : "");
    int *order = ARENA_ARRAY(&r->memory, int, c->joint_count);
    if (!order) return error_memory(r->error, "a motion");
    code = carriers_measure(r, c, parts.targets, &r->memory, targets, order);
    if (code != CUTIS_OK) return code;
    align_make(r, c, &parts, order, posture, person, body, targets);

    /* the new clip stands behind the clips of the character */
    cutis_clip *clips = ARENA_ARRAY(&r->memory, cutis_clip, c->clip_count + 1);
    if (!clips) return error_memory(r->error, "a motion");

    if (c->clip_count) memcpy(clips, c->clips, (size_t)c->clip_count * sizeof *clips);
    code = motion_retarget(r, c, parts.targets, targets, order, posture, &r->memory, &clips[c->clip_count]);
    if (code != CUTIS_OK) return code;
    clips[c->clip_count].name = clip_name(c, path, &r->memory);

    /* joints without a match are reported, behind the warnings of the character */
    int unmatched = 0;
    for (int j = 0; j < r->joint_count; j++) unmatched += r->joints[j].name[0] && !taken[j];
    if (unmatched)
        warning_add(&warnings, "%s: %d joints of the motion match no joint of the character", r->name, unmatched);

    int added = warning_finish(&warnings);
    const char **sentences = ARENA_ARRAY(&r->memory, const char *, c->warning_count + added);
    if (r->memory.failed) return error_memory(r->error, "a motion");
    if (c->warning_count) memcpy(sentences, c->warnings, (size_t)c->warning_count * sizeof *sentences);

    /* every clip of a file has the same joints: a sentence that the character has already is not repeated */
    int sentence_count = c->warning_count;
    for (int i = 0; i < added; i++) {
        bool known = false;
        for (int k = 0; k < c->warning_count && !known; k++) known = strcmp(c->warnings[k], warnings.sentences[i]) == 0;
        if (!known) sentences[sentence_count++] = warnings.sentences[i];
    }

    /* the same character with one clip more */
    cutis_character given = *c;
    given.clip_count = c->clip_count + 1;
    given.clips = clips;
    given.warning_count = sentence_count;
    given.warnings = sentences;
    return cutis_character_create(&given, allocator, result, r->error);
}

cutis_result bvh_motion_add(const cutis_character *character, const char *data, size_t size, const char *path,
                            const cutis_name_pair *pairs, int pair_count, const cutis_allocator *allocator,
                            cutis_character **result, cutis_error *error)
{
    *result = NULL;
    bvh_reader r = {.name = path_base(path), .cursor = data, .end = data + size, .line = 1, .error = error};
    r.memory = arena_create(allocator);
    cutis_result code = motion_add(&r, character, path, pairs, pair_count, allocator, result);
    arena_destroy(&r.memory);
    return code;
}

/* All clips of another file; the file's first one comes last, as the one that was asked for. */
static cutis_result add_clips(const cutis_character *character, const char *path, const cutis_name_pair *pairs,
                              int pair_count, const cutis_allocator *allocator, cutis_character **result,
                              cutis_error *error)
{
    cutis_character *source;
    cutis_result code = motion_source_load(path, allocator, &source, error);
    const cutis_character *before = character;

    /* backwards: the first clip of the file becomes the last of the character */
    for (int clip = code == CUTIS_OK ? source->clip_count - 1 : -1; clip >= 0 && code == CUTIS_OK; clip--) {
        bvh_reader r = {.name = path_base(path), .error = error, .memory = arena_create(allocator)};
        cutis_character *moved = NULL;

        const char *name = source->clip_count > 1 ? arena_format(&r.memory, "%s.clip", source->clips[clip].name) : path;
        code = name ? motion_source_read(&r, source, clip) : error_memory(error, "a motion");
        if (code == CUTIS_OK) code = motion_add(&r, before, name, pairs, pair_count, allocator, &moved);
        arena_destroy(&r.memory);

        if (before != character) cutis_character_destroy(*result);
        *result = moved;
        before = moved;
    }

    cutis_character_destroy(source);
    return code;
}

cutis_result cutis_character_add_bvh(const cutis_character *character, const char *path, const cutis_name_pair *pairs,
                                     int pair_count, const cutis_allocator *allocator, cutis_character **result,
                                     cutis_error *error)
{
    *result = NULL;
    if (path_is_gltf(path) || path_ends(path, ".fbx") || path_ends(path, ".dae"))
        return add_clips(character, path, pairs, pair_count, allocator, result, error);
    file_data file;
    cutis_result code = file_read(path, 0, allocator, &file, error);
    if (code != CUTIS_OK) return code;
    code = bvh_motion_add(character, (const char *)file.bytes, file.size, path, pairs, pair_count, allocator, result,
                          error);
    file_release(&file);
    return code;
}
