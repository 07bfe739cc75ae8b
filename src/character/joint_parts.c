/*
 * joint_parts.c: what a joint is by its name.
 *
 * A name is cut into words (at separators, digits and capitals), words that say nothing and the side are taken out, and
 * the longest run of words that the table knows decides. Some words mean different joints in different
 * skeletons (shoulder, arm, leg, hip); these are decided afterwards by what else the skeleton has.
 */
#include "character/joint_parts.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/core.h"
#include "cutis/character.h"

enum { WORD_LIMIT = 12, WORD_LENGTH = 24 };

/* Kinds of doubtful words, behind those of the header. */
enum { DOUBT_SHOULDER = JOINT_KIND_COUNT, DOUBT_ARM, DOUBT_LEG, DOUBT_HIP, KIND_NUMBER };

static const struct {
    const char *word;
    int kind;
} WORDS[] = {
    {"hips", DOUBT_HIP},
    {"hip", DOUBT_HIP},
    {"pelvis", DOUBT_HIP},
    {"spine", JOINT_SPINE},
    {"lowerback", JOINT_SPINE},
    {"upperback", JOINT_SPINE},
    {"back", JOINT_SPINE},
    {"chest", JOINT_SPINE},
    {"upperchest", JOINT_SPINE},
    {"lowerchest", JOINT_SPINE},
    {"torso", JOINT_SPINE},
    {"abdomen", JOINT_SPINE},
    {"waist", JOINT_SPINE},
    {"neck", JOINT_NECK},
    {"head", JOINT_HEAD},
    {"clavicle", JOINT_COLLAR},
    {"collar", JOINT_COLLAR},
    {"collarbone", JOINT_COLLAR},
    {"scapula", JOINT_COLLAR},
    {"shoulder", DOUBT_SHOULDER},
    {"arm", DOUBT_ARM},
    {"upperarm", JOINT_UPPER_ARM},
    {"uparm", JOINT_UPPER_ARM},
    {"shldr", JOINT_UPPER_ARM},
    {"humerus", JOINT_UPPER_ARM},
    {"forearm", JOINT_FOREARM},
    {"lowerarm", JOINT_FOREARM},
    {"lowarm", JOINT_FOREARM},
    {"elbow", JOINT_FOREARM},
    {"hand", JOINT_HAND},
    {"wrist", JOINT_HAND},
    {"fist", JOINT_HAND},
    {"upleg", JOINT_UPPER_LEG},
    {"upperleg", JOINT_UPPER_LEG},
    {"thigh", JOINT_UPPER_LEG},
    {"femur", JOINT_UPPER_LEG},
    {"leg", DOUBT_LEG},
    {"lowleg", JOINT_LOWER_LEG},
    {"lowerleg", JOINT_LOWER_LEG},
    {"shin", JOINT_LOWER_LEG},
    {"calf", JOINT_LOWER_LEG},
    {"knee", JOINT_LOWER_LEG},
    {"tibia", JOINT_LOWER_LEG},
    {"foot", JOINT_FOOT},
    {"ankle", JOINT_FOOT},
    {"toe", JOINT_TOE},
    {"toes", JOINT_TOE},
    {"toebase", JOINT_TOE},
    {"ball", JOINT_TOE},
    {"thumb", JOINT_THUMB},
    {"handthumb", JOINT_THUMB},
    {"index", JOINT_INDEX},
    {"handindex", JOINT_INDEX},
    {"middle", JOINT_MIDDLE},
    {"handmiddle", JOINT_MIDDLE},
    {"ring", JOINT_RING},
    {"handring", JOINT_RING},
    {"pinky", JOINT_PINKY},
    {"little", JOINT_PINKY},
    {"handpinky", JOINT_PINKY},
    {"handlittle", JOINT_PINKY},
    {"tail", JOINT_TAIL},
    {"legupper", JOINT_UPPER_LEG},
    {"leglower", JOINT_LOWER_LEG},
    {"legankle", JOINT_FOOT},
    {"legfoot", JOINT_FOOT},
    {"legtoe", JOINT_TOE},
};

/* Words that go with every joint, and words that make a joint none of the body's own. */
static const char *const SILENT[] = {"mixamorig", "bip", "def", "bone", "joint", "jnt", "jt", "skeleton", "armature"};
static const char *const STRANGE[] = {"twist", "roll",   "ik",   "pole", "target", "end", "nub", "tip", "leaf",
                                      "site",  "helper", "ctrl", "wing", "eye",    "jaw", "ear", "hair"};

static bool listed(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, list[i]) == 0) return true;
    return false;
}

static int word_kind(const char *word)
{
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strcmp(word, WORDS[i].word) == 0) return WORDS[i].kind;
    return JOINT_OTHER;
}

static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_letter(char c) { return is_upper(c) || (c >= 'a' && c <= 'z'); }

/* Cut a name into lower-case words of letters; what stands before a colon or bar is a name space. */
static int name_cut(const char *name, char words[WORD_LIMIT][WORD_LENGTH])
{
    for (const char *c = name; *c; c++)
        if ((*c == ':' || *c == '|') && c[1]) name = c + 1;

    int count = 0;
    while (*name && count < WORD_LIMIT) {
        if (!is_letter(*name)) {
            name++;
            continue;
        }

        /* a run of letters */
        size_t length = 0;
        do {
            if (length < WORD_LENGTH - 1) words[count][length++] = is_upper(*name) ? (char)(*name - 'A' + 'a') : *name;
            name++;

            /* A capital begins a word after a small letter, and before one: LHip is l and hip. */
            if (is_upper(*name) && (!is_upper(name[-1]) || (is_letter(name[1]) && !is_upper(name[1])))) break;
        } while (is_letter(*name));
        words[count++][length] = 0;
    }
    return count;
}

/* A side as names tell it. Legs of animals have pairs of letters; what is spelled out wins over letters: left_r_leg. */
static const struct {
    const char *text;
    int side;
    bool spelled, front, alone; /* alone: only as a whole word */
} SIDES[] = {
    {"left", JOINT_SIDE_LEFT, true, false, false}, {"right", JOINT_SIDE_RIGHT, true, false, false},
    {"fl", JOINT_SIDE_LEFT, false, true, true},    {"fr", JOINT_SIDE_RIGHT, false, true, true},
    {"lf", JOINT_SIDE_LEFT, false, true, true},    {"rf", JOINT_SIDE_RIGHT, false, true, true},
    {"bl", JOINT_SIDE_LEFT, false, false, true},   {"br", JOINT_SIDE_RIGHT, false, false, true},
    {"rl", JOINT_SIDE_LEFT, false, false, true},   {"rr", JOINT_SIDE_RIGHT, false, false, true},
    {"l", JOINT_SIDE_LEFT, false, false, false},   {"r", JOINT_SIDE_RIGHT, false, false, false},
};

/* Take the side off the front of a word when what is left is known: lthigh, leftarm. Returns a row of SIDES, or -1. */
static int word_side(char *word)
{
    if (word_kind(word) != JOINT_OTHER) return -1;
    for (size_t i = 0; i < sizeof SIDES / sizeof *SIDES; i++) {
        size_t length = strlen(SIDES[i].text);
        if (strncmp(word, SIDES[i].text, length) != 0) continue;
        if (word[length] && (SIDES[i].alone || word_kind(word + length) == JOINT_OTHER)) continue;
        memmove(word, word + length, strlen(word + length) + 1);
        return (int)i;
    }
    return -1;
}

/* The kind of a name by itself, doubtful ones included; index: its place in a finger when the name tells, or -1. */
static int name_kind(const char *name, int *side, int *index)
{
    static const char *const phalanges[] = {"proximal", "intermediate", "distal"};
    char words[WORD_LIMIT][WORD_LENGTH];
    int given = name_cut(name, words), count = 0;
    bool strange = false, front = false, metacarpal = false, spelled = false;

    /* words that say a side, a place in a finger, or nothing */
    *side = JOINT_SIDE_NONE;
    *index = -1;
    for (int i = 0; i < given; i++) {
        bool letter_f = strcmp(words[i], "f") == 0;
        int found = word_side(words[i]);
        if (found >= 0 && (SIDES[found].spelled || !spelled)) {
            *side = SIDES[found].side;
            spelled = SIDES[found].spelled;
            front |= SIDES[found].front;
        }
        front |= spelled && letter_f; /* left_f_leg */
        strange |= listed(words[i], STRANGE, sizeof STRANGE / sizeof *STRANGE);
        front |= strcmp(words[i], "front") == 0 || strcmp(words[i], "fore") == 0;
        metacarpal |= strcmp(words[i], "metacarpal") == 0;
        for (int k = 0; k < 3; k++)
            if (strcmp(words[i], phalanges[k]) == 0) *index = k;
        if (!words[i][0] || listed(words[i], SILENT, sizeof SILENT / sizeof *SILENT)) continue;
        memmove(words[count++], words[i], WORD_LENGTH);
    }

    /* the longest run of words that has a meaning; what is meant stands behind what describes it */
    if (strange) return JOINT_OTHER;
    int kind = JOINT_OTHER;
    for (int run = count; run > 0 && kind == JOINT_OTHER; run--) {
        for (int i = count - run; i >= 0 && kind == JOINT_OTHER; i--) {
            char joined[WORD_LIMIT * WORD_LENGTH] = "";
            for (int k = i; k < i + run; k++) strcat(joined, words[k]);
            kind = word_kind(joined);
        }
    }

    if (front && (kind == DOUBT_LEG || (kind >= JOINT_UPPER_LEG && kind <= JOINT_TOE))) kind = DOUBT_ARM;

    /* The thumb is the one finger whose metacarpal bone moves freely. */
    if (kind == JOINT_THUMB && (metacarpal || *index >= 0))
        *index = metacarpal ? 0 : *index == 0 ? 1 : 2;
    else if (metacarpal)
        kind = JOINT_OTHER;
    return kind;
}

static bool side_has(int count, const joint_part *parts, int side, int kind)
{
    for (int j = 0; j < count; j++)
        if (parts[j].side == side && parts[j].kind == kind) return true;
    return false;
}

/* Give the joints of kind `from` on a side, in order, those of the kinds first..last that the skeleton lacks. */
static void doubt_spread(int count, joint_part *parts, int side, int from, int first, int last)
{
    bool has[KIND_NUMBER] = {false};
    for (int j = 0; j < count; j++)
        if (parts[j].side == side) has[parts[j].kind] = true;
    int next = first;
    for (int j = 0; j < count; j++) {
        if (parts[j].side != side || parts[j].kind != from) continue;
        while (next <= last && has[next]) next++;
        parts[j].kind = next <= last ? next++ : JOINT_OTHER;
    }
}

/*
 * A leg or arm above one that is told to be upper is where the limb joins the body. Where the limb has no named end,
 * as hind legs whose feet are controls, it is the first of three bones, and the names of the others are one too early.
 */
static void doubt_above(int count, const int *parents, joint_part *parts, int side, int doubt, int upper)
{
    bool ended = side_has(count, parts, side, upper + 2);
    for (int j = 0; j < count; j++) {
        if (parts[j].side != side || parts[j].kind != upper) continue;
        int above = parents[j];
        while (above >= 0 && (parts[above].side != side || parts[above].kind != doubt)) above = parents[above];
        if (above < 0) continue;
        parts[above].kind = ended ? JOINT_OTHER : upper;
        if (ended) continue;

        /* one on, from the far end */
        for (int k = 0; k < count; k++)
            if (k != above && parts[k].side == side && (parts[k].kind == upper || parts[k].kind == upper + 1))
                parts[k].kind++;
        return;
    }
}

static void doubt_decide(int count, const int *parents, joint_part *parts, int side)
{
    bool collar = side_has(count, parts, side, JOINT_COLLAR);
    bool arm = side_has(count, parts, side, JOINT_UPPER_ARM) || side_has(count, parts, side, DOUBT_ARM);
    bool thigh = side_has(count, parts, side, JOINT_UPPER_LEG) ||
                 (side_has(count, parts, side, DOUBT_LEG) && !side_has(count, parts, side, JOINT_LOWER_LEG));
    for (int j = 0; j < count; j++) {
        if (parts[j].side != side) continue;
        if (parts[j].kind == DOUBT_SHOULDER)
            parts[j].kind = !arm ? JOINT_UPPER_ARM : collar ? JOINT_OTHER : JOINT_COLLAR;
        if (parts[j].kind == DOUBT_HIP)
            parts[j].kind = side == JOINT_SIDE_NONE ? JOINT_HIPS : thigh ? JOINT_OTHER : JOINT_UPPER_LEG;
    }
    doubt_above(count, parents, parts, side, DOUBT_ARM, JOINT_UPPER_ARM);
    doubt_above(count, parents, parts, side, DOUBT_LEG, JOINT_UPPER_LEG);
    doubt_spread(count, parts, side, DOUBT_ARM, JOINT_UPPER_ARM, JOINT_HAND);
    doubt_spread(count, parts, side, DOUBT_LEG, JOINT_UPPER_LEG, JOINT_TOE);
}

/* Where the legs meet, for a skeleton whose names do not tell: the nearest joint above both. */
static void hips_find(int count, const int *parents, joint_part *parts)
{
    int legs[2] = {-1, -1};
    for (int j = count - 1; j >= 0; j--) {
        if (parts[j].kind == JOINT_HIPS) return;
        if (parts[j].kind == JOINT_UPPER_LEG && parts[j].side != JOINT_SIDE_NONE)
            legs[parts[j].side - JOINT_SIDE_LEFT] = j;
    }
    if (legs[0] < 0 || legs[1] < 0) return;
    int a = legs[0], b = legs[1];
    while (a != b && a >= 0 && b >= 0) /* a parent has the smaller number */
        if (a > b)
            a = parents[a];
        else
            b = parents[b];
    if (a >= 0 && a == b) parts[a] = (joint_part){JOINT_HIPS, JOINT_SIDE_NONE, 0};
}

/*
 * "Middle", "ring" or "ball" may mean anything. What hangs on the spine, the head or another limb is no digit: the
 * nearest joint above that is known is one of an arm for a finger, of a leg for a toe. Where none is known, names
 * count.
 */
static void digits_hang(int count, const int *parents, joint_part *parts)
{
    for (int j = 0; j < count; j++) {
        int kind = parts[j].kind;
        if (kind < JOINT_TOE || kind == JOINT_TAIL) continue;
        int first = kind == JOINT_TOE ? JOINT_UPPER_LEG : JOINT_COLLAR;
        int last = kind == JOINT_TOE ? JOINT_FOOT : JOINT_HAND;

        int above = parents[j];
        while (above >= 0 &&
               (parts[above].kind == JOINT_OTHER || parts[above].kind >= JOINT_THUMB || parts[above].kind == kind))
            above = parents[above];
        if (above >= 0 && (parts[above].kind < first || parts[above].kind > last)) parts[j].kind = JOINT_OTHER;
    }
}

/* Fingers and toes named after the wrong side (Thumb.R on LowerArm.L) belong to the limb that they hang on. */
static void digits_side(int count, const int *parents, joint_part *parts)
{
    for (int j = 0; j < count; j++) {
        if (parts[j].kind < JOINT_TOE || parts[j].kind == JOINT_TAIL || parts[j].side == JOINT_SIDE_NONE) continue;
        int above = parents[j];
        while (above >= 0 && (parts[above].side == JOINT_SIDE_NONE || parts[above].kind < JOINT_COLLAR ||
                              parts[above].kind > JOINT_FOOT))
            above = parents[above];
        if (above >= 0) parts[j].side = parts[above].side;
    }
}

/* Where both ankle and foot are named, the foot below the ankle is what others call the toes. */
static void feet_below_ankles(int count, joint_part *parts)
{
    for (int side = JOINT_SIDE_LEFT; side < JOINT_SIDE_COUNT; side++) {
        if (side_has(count, parts, side, JOINT_TOE)) continue;
        for (int j = 0; j < count; j++)
            if (parts[j].side == side && parts[j].kind == JOINT_FOOT && parts[j].index > 0)
                parts[j] = (joint_part){JOINT_TOE, side, parts[j].index - 1};
    }
}

void joint_parts_find(int count, const char *const *names, const int *parents, joint_part *parts)
{
    /* by the name, then by what the names around it mean */
    for (int j = 0; j < count; j++) parts[j].kind = name_kind(names[j], &parts[j].side, &parts[j].index);
    for (int side = 0; side < JOINT_SIDE_COUNT; side++) doubt_decide(count, parents, parts, side);
    hips_find(count, parents, parts);
    digits_hang(count, parents, parts);
    digits_side(count, parents, parts);

    /* joints of one kind and side are a chain: count along it */
    int last[JOINT_KIND_COUNT][JOINT_SIDE_COUNT];
    memset(last, -1, sizeof last);
    for (int j = 0; j < count; j++) {
        joint_part *part = &parts[j];
        if (part->index >= 0 && part->kind != JOINT_OTHER) continue; /* by its name */
        part->index = 0;
        if (part->kind == JOINT_OTHER) continue;

        /* a joint counts when the last of its kind is above it */
        int *before = &last[part->kind][part->side], above = j;
        while (*before >= 0 && above > *before) above = parents[above];
        if (*before >= 0 && above != *before) {
            part->kind = JOINT_OTHER; /* a second chain: controls, or another body */
            continue;
        }
        if (*before >= 0) part->index = parts[*before].index + 1;
        *before = j;
    }
    feet_below_ankles(count, parts);
}

cutis_result cutis_character_match_joints(const cutis_character *one, const cutis_character *two, int *matches,
                                          cutis_error *error)
{
    const cutis_character *both[2] = {one, two};

    /* names and parents of either */
    int most = MAX(one->joint_count, two->joint_count);
    arena memory = arena_create(NULL);
    const char **names = ARENA_ARRAY(&memory, const char *, most);
    int *parents = ARENA_ARRAY(&memory, int, most);
    bool *moves = ARENA_ARRAY(&memory, bool, most);
    joint_part *parts[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) parts[i] = ARENA_ARRAY(&memory, joint_part, both[i]->joint_count);
    if (memory.failed) {
        arena_destroy(&memory);
        return error_memory(error, "matching joints");
    }

    /* what each joint is */
    for (int i = 0; i < 2; i++) {
        /* joints that move no vertex, by themselves or by others below them, are targets of controls */
        int count = both[i]->joint_count;
        bool any = false;
        for (int j = 0; j < count; j++) {
            moves[j] = both[i]->joints[j].deforms;
            any = any || moves[j];
        }
        for (int j = count - 1; j >= 0; j--) {
            parents[j] = both[i]->joints[j].parent;
            if (parents[j] >= 0) moves[parents[j]] = moves[parents[j]] || moves[j];
            names[j] = moves[j] || !any ? both[i]->joints[j].name : "";
        }
        joint_parts_find(both[i]->joint_count, names, parents, parts[i]);
    }

    /* the same part of the other, or the same name where the part is unknown */
    for (int j = 0; j < one->joint_count; j++) {
        const joint_part *own = &parts[0][j];
        matches[j] = own->kind == JOINT_OTHER ? cutis_character_find_joint(two, one->joints[j].name) : -1;
        for (int k = 0; k < two->joint_count && matches[j] < 0 && own->kind != JOINT_OTHER; k++) {
            const joint_part *other = &parts[1][k];
            if (own->kind == other->kind && own->side == other->side && own->index == other->index) matches[j] = k;
        }
    }
    arena_destroy(&memory);
    return CUTIS_OK;
}
