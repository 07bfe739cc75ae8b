/*
 * bvh_read.c: reads a .bvh file: words, hierarchy, frames; and the poses that they are.
 */
#include "io/bvh_read.h"

#include <math.h>
#include <string.h>

#include "io/affine.h"
#include "math/math3.h"

enum { JOINT_LIMIT = 1 << 20 };

/* ---- text ---- */

#define bvh_error(text, ...) file_line_error((text)->error, (text)->name, (text)->line, __VA_ARGS__)

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static void skip_space(bvh_reader *r)
{
    for (; r->cursor < r->end && is_space(*r->cursor); r->cursor++)
        if (*r->cursor == '\n') r->line++;
}

/* The next word; empty at the end of the text. */
static size_t next_word(bvh_reader *r, const char **word)
{
    skip_space(r);
    *word = r->cursor;
    while (r->cursor < r->end && !is_space(*r->cursor)) r->cursor++;
    return (size_t)(r->cursor - *word);
}

static bool word_is(const char *word, size_t length, const char *expected)
{
    if (strlen(expected) != length) return false;
    for (size_t i = 0; i < length; i++)
        if (lower(word[i]) != lower(expected[i])) return false;
    return true;
}

static cutis_result expect_word(bvh_reader *r, const char *expected)
{
    const char *word;
    size_t length = next_word(r, &word);
    if (word_is(word, length, expected)) return CUTIS_OK;
    return bvh_error(r, "'%s' is expected, not '%.*s'", expected, (int)MIN(length, 40), word);
}

static cutis_result expect_number(bvh_reader *r, const char *what, double *value)
{
    skip_space(r);
    if (!text_number(&r->cursor, r->end, value) || !(fabs(*value) < 1e15))
        return bvh_error(r, "%s is not a finite number", what);
    return CUTIS_OK;
}

/* The rest of the line as a name. */
static cutis_result read_name(bvh_reader *r, const char **name)
{
    while (r->cursor < r->end && (*r->cursor == ' ' || *r->cursor == '\t')) r->cursor++;

    /* up to the end of the line or a brace */
    const char *begin = r->cursor;
    while (r->cursor < r->end && *r->cursor != '\n' && *r->cursor != '{') r->cursor++;
    const char *last = r->cursor;
    while (last > begin && is_space(last[-1])) last--;

    /* without control characters */
    size_t length = (size_t)MIN(last - begin, 200);
    char *copy = arena_push(&r->memory, length + 1, 1);
    if (!copy) return error_memory(r->error, "a BVH file");
    if (length) memcpy(copy, begin, length);

    for (size_t i = 0; i < length; i++)
        if ((unsigned char)copy[i] < 32) copy[i] = '_';
    *name = copy;
    return CUTIS_OK;
}

/* ---- names ---- */

uint64_t bvh_name_key(const char *name)
{
    static const char prefix[] = "mixamorig";
    char plain[256];
    size_t length = 0;

    /* letters and digits alone, in lower case */
    for (; *name && length < sizeof plain - 1; name++)
        if (!strchr("_.:-| ", *name)) plain[length++] = lower(*name);
    plain[length] = 0;

    /* the prefix of one exporter, with its number */
    char *start = plain;
    if (strncmp(plain, prefix, sizeof prefix - 1) == 0) {
        start += sizeof prefix - 1;
        while (*start >= '0' && *start <= '9') start++;
        if (!*start) start = plain;
    }

    return hash_bytes(start, strlen(start), 1);
}

/* ---- hierarchy ---- */

static cutis_result read_channels(bvh_reader *r, bvh_joint *joint)
{
    static const char *const names[] = {"Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation"};

    double count;
    cutis_result result = expect_number(r, "the number of channels", &count);
    if (result != CUTIS_OK) return result;
    if (count != floor(count) || count < 0 || count > BVH_CHANNELS)
        return bvh_error(r, "a joint has 0 to %d channels, not %g", BVH_CHANNELS, count);

    /* numbers of each frame that belong to the joint */
    joint->channel_count = (int)count;
    joint->first_channel = r->channel_count;
    r->channel_count += joint->channel_count;

    for (int i = 0; i < joint->channel_count; i++) {
        const char *word;
        size_t length = next_word(r, &word);
        joint->channels[i] = -1;
        for (int k = 0; k < COUNT_OF(names); k++)
            if (word_is(word, length, names[k])) joint->channels[i] = k;
        if (joint->channels[i] < 0) return bvh_error(r, "'%.*s' is not a channel", (int)MIN(length, 40), word);
    }

    return CUTIS_OK;
}

static cutis_result start_joint(bvh_reader *r, bool end_site, int parent)
{
    bvh_joint *joint = &r->joints[r->joint_count];
    cutis_result result;

    /* end sites have no name */
    if (end_site) {
        result = expect_word(r, "Site");
        joint->name = "";
    } else {
        result = read_name(r, &joint->name);
        joint->key = result == CUTIS_OK ? bvh_name_key(joint->name) : 0;
    }

    if (result == CUTIS_OK) result = expect_word(r, "{");
    joint->parent = parent;
    r->joint_count++;
    return result;
}

static cutis_result read_hierarchy(bvh_reader *r)
{
    /* Every joint opens a brace, so braces bound their number. */
    size_t capacity = 0;
    for (const char *p = r->cursor; p < r->end; p++) capacity += *p == '{';

    if (capacity > JOINT_LIMIT) return bvh_error(r, "there are more than %d joints", JOINT_LIMIT);
    r->joints = ARENA_ARRAY(&r->memory, bvh_joint, capacity);
    if (!r->joints) return error_memory(r->error, "a BVH file");

    if (r->end - r->cursor >= 3 && memcmp(r->cursor, "\xEF\xBB\xBF", 3) == 0) r->cursor += 3; /* byte order mark */
    cutis_result result = expect_word(r, "HIERARCHY");
    if (result != CUTIS_OK)
        return bvh_error(r, "'HIERARCHY' is expected: this is not a .bvh file; other motions are clips of a .glb, "
                            ".gltf, .vrm, .fbx or .dae file");
    int current = -1; /* the joint whose braces are open */

    /* a word at a time: a joint, a property of the open one, or a closing brace */
    while (result == CUTIS_OK) {
        const char *word;
        size_t length = next_word(r, &word);
        bool root = word_is(word, length, "ROOT"), joint = word_is(word, length, "JOINT"),
             end = word_is(word, length, "End");

        if (root || joint || end) {
            if (root != (current < 0)) return bvh_error(r, "'%.*s' is unexpected here", (int)length, word);

            /* A name may hold a brace that was counted for another joint. */
            if ((size_t)r->joint_count == capacity) return bvh_error(r, "a joint has no braces");
            result = start_joint(r, end, current);
            current = r->joint_count - 1;
        } else if (word_is(word, length, "OFFSET") && current >= 0) {
            for (int k = 0; k < 3 && result == CUTIS_OK; k++)
                result = expect_number(r, "an offset", &r->joints[current].offset[k]);
        } else if (word_is(word, length, "CHANNELS") && current >= 0) {
            if (r->joints[current].channel_count) return bvh_error(r, "a joint has two lists of channels");
            result = read_channels(r, &r->joints[current]);
        } else if (word_is(word, length, "}") && current >= 0) {
            current = r->joints[current].parent;
        } else if (word_is(word, length, "MOTION") && current < 0) {
            break;
        } else if (length == 0) {
            return bvh_error(r, "the file is cut short: there is no MOTION");
        } else {
            return bvh_error(r, "'%.*s' is unexpected here", (int)MIN(length, 40), word);
        }
    }
    if (result == CUTIS_OK && r->joint_count == 0) return bvh_error(r, "there are no joints");

    /* places in the rest pose */
    for (int i = 0; i < r->joint_count && result == CUTIS_OK; i++)
        for (int k = 0; k < 3; k++)
            r->joints[i].place[k] =
                r->joints[i].offset[k] + (r->joints[i].parent >= 0 ? r->joints[r->joints[i].parent].place[k] : 0);

    return result;
}

/*
 * Some tools give all joints channels of place, which count from the offset for some and from the parent for others.
 * Bones keep their length: places whose mean is the offset, rather than 0, count from the parent; the offset is taken
 * off. Roots have no bone, so theirs stay.
 */
static void places_relative(bvh_reader *r)
{
    double apart = 0, whole = 0;

    /* over all joints with channels of place: how far the mean is from the offset, and how long offsets are */
    for (int j = 0; j < r->joint_count; j++) {
        const bvh_joint *joint = &r->joints[j];
        for (int c = 0; c < joint->channel_count && joint->parent >= 0; c++) {
            if (joint->channels[c] >= 3) continue;
            double mean = 0;
            for (int f = 0; f < r->frame_count; f++)
                mean += (double)r->values[(size_t)f * (size_t)r->channel_count + (size_t)(joint->first_channel + c)];
            double offset = joint->offset[joint->channels[c]];
            mean /= r->frame_count;
            apart += (mean - offset) * (mean - offset);
            whole += offset * offset;
        }
    }
    if (!(apart < 0.25 * whole)) return;

    for (int j = 0; j < r->joint_count; j++) {
        const bvh_joint *joint = &r->joints[j];
        for (int c = 0; c < joint->channel_count && joint->parent >= 0; c++) {
            if (joint->channels[c] >= 3) continue;
            for (int f = 0; f < r->frame_count; f++)
                r->values[(size_t)f * (size_t)r->channel_count + (size_t)(joint->first_channel + c)] -=
                    (float)joint->offset[joint->channels[c]];
        }
    }
}

static cutis_result read_motion(bvh_reader *r)
{
    double frames;

    cutis_result result = expect_word(r, "Frames:");
    if (result == CUTIS_OK) result = expect_number(r, "the number of frames", &frames);
    if (result == CUTIS_OK) result = expect_word(r, "Frame");
    if (result == CUTIS_OK) result = expect_word(r, "Time:");
    if (result == CUTIS_OK) result = expect_number(r, "the frame time", &r->frame_time);
    if (result != CUTIS_OK) return result;

    if (!(r->frame_time > 1e-6 && r->frame_time < 1e3))
        return bvh_error(r, "a frame time of %g s is not usable", r->frame_time);
    if (r->channel_count == 0) return bvh_error(r, "its joints have no channels");

    if (frames == 0) return bvh_error(r, "the motion has no frames");

    /* Each number takes two bytes at least, so the text bounds what is worth allocating. */
    double needed = frames * r->channel_count;
    if (frames != floor(frames) || frames < 1 || needed > ((double)(r->end - r->cursor) + 1) / 2)
        return bvh_error(r, "%g frames are declared, more than the file holds", frames);

    r->frame_count = (int)frames;
    r->values = ARENA_ARRAY(&r->memory, float, (size_t)r->frame_count *(size_t)r->channel_count);
    if (!r->values) return error_memory(r->error, "a BVH file");

    for (size_t i = 0; i < (size_t)r->frame_count * (size_t)r->channel_count; i++) {
        double value;
        skip_space(r);
        if (r->cursor == r->end)
            return bvh_error(r, "the file is cut short: it holds %zu of %d frames", i / (size_t)r->channel_count,
                             r->frame_count);

        result = expect_number(r, "a channel", &value);
        if (result != CUTIS_OK) return result;
        r->values[i] = (float)value;
    }
    places_relative(r);
    return CUTIS_OK;
}

cutis_result bvh_read(bvh_reader *r)
{
    cutis_result result = read_hierarchy(r);
    return result == CUTIS_OK ? read_motion(r) : result;
}

/* ---- poses ---- */

void bvh_pose(const bvh_reader *r, int frame, double (*rotations)[4], double (*places)[3])
{
    /* parents come before their children, so one pass composes the hierarchy */
    const float *values = r->values + (size_t)frame * (size_t)r->channel_count;
    for (int j = 0; j < r->joint_count; j++) {
        const bvh_joint *joint = &r->joints[j];
        double local[4] = {0, 0, 0, 1}, offset[3];
        memcpy(offset, joint->offset, sizeof offset);

        /* channels apply in the order of the file: translations add to the offset, rotations multiply from the right */
        for (int c = 0; c < joint->channel_count; c++) {
            double value = values[joint->first_channel + c];
            int channel = joint->channels[c];
            if (channel < 3) {
                offset[channel] += value;
                continue;
            }

            double half = value * (3.14159265358979323846 / 360), turn[4] = {0, 0, 0, det_cos(half)};
            turn[channel - 3] = det_sin(half);
            rotation_multiply(local, turn, local);
        }

        /* local to world */
        if (joint->parent < 0) {
            memcpy(rotations[j], local, sizeof local);
            memcpy(places[j], offset, sizeof offset);
            continue;
        }
        rotation_multiply(rotations[joint->parent], local, rotations[j]);

        rotation_apply(rotations[joint->parent], offset, places[j]);
        for (int k = 0; k < 3; k++) places[j][k] += places[joint->parent][k];
    }
}

/* A rotation as angles in degrees about z, then the turned x, then the turned y. */
static void rotation_angles(const double q[4], float angles[3])
{
    double x = q[0], y = q[1], z = q[2], w = q[3];
    double sine = CLAMP(2 * (y * z + w * x), -1.0, 1.0);
    double cosine = sqrt(MAX(0.0, 1 - sine * sine));
    const double degrees = 180 / 3.14159265358979323846;

    /* z, x, y: the middle angle first */
    angles[1] = (float)(det_atan2(sine, cosine) * degrees);

    /* at the poles one of the two angles is free */
    if (cosine > 1e-6) {
        angles[0] = (float)(det_atan2(2 * (w * z - x * y), 1 - 2 * (x * x + z * z)) * degrees);
        angles[2] = (float)(det_atan2(2 * (w * y - x * z), 1 - 2 * (x * x + y * y)) * degrees);
    } else {
        angles[0] = (float)(det_atan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z)) * degrees);
        angles[2] = 0;
    }
}

bool bvh_channels_make(bvh_reader *r, double (*const places)[3])
{
    static const int CHANNELS[BVH_CHANNELS] = {0, 1, 2, 5, 3, 4};

    /* a place and three angles each, relative to the zero pose */
    r->channel_count = BVH_CHANNELS * r->joint_count;
    r->values = ARENA_ARRAY(&r->memory, float, (size_t)r->frame_count *(size_t)r->channel_count);
    for (int j = 0; j < r->joint_count; j++) {
        bvh_joint *joint = &r->joints[j];
        joint->channel_count = BVH_CHANNELS;
        joint->first_channel = BVH_CHANNELS * j;
        memcpy(joint->channels, CHANNELS, sizeof CHANNELS);
        for (int k = 0; k < 3; k++) {
            joint->place[k] = places[j][k];
            joint->offset[k] = places[j][k] - (joint->parent >= 0 ? places[joint->parent][k] : 0);
        }
    }
    return r->values != NULL;
}

void bvh_frame_store(bvh_reader *r, int frame, double (*const rotations)[4], double (*const places)[3])
{
    /* channels are local: against the parent, offset and rotation */
    for (int j = 0; j < r->joint_count; j++) {
        float *values = r->values + (size_t)frame * (size_t)r->channel_count + BVH_CHANNELS * (size_t)j;
        int parent = r->joints[j].parent;
        double up[4] = {0, 0, 0, 1}, way[3], local[3], turn[4];

        if (parent >= 0) rotation_conjugate(rotations[parent], up);
        for (int k = 0; k < 3; k++) way[k] = places[j][k] - (parent >= 0 ? places[parent][k] : 0);

        rotation_apply(up, way, local);
        rotation_multiply(up, rotations[j], turn);
        for (int k = 0; k < 3; k++) values[k] = (float)(local[k] - r->joints[j].offset[k]);
        rotation_angles(turn, values + 3);
    }
}

/* RMS over the joints of how far they moved against the root between two poses. */
static double pose_distance(int joint_count, double (*const before)[3], double (*const now)[3])
{
    double sum = 0;
    for (int j = 0; j < joint_count; j++)
        for (int k = 0; k < 3; k++) {
            double d = (now[j][k] - now[0][k]) - (before[j][k] - before[0][k]);
            sum += d * d;
        }
    return sqrt(sum / joint_count);
}

cutis_result bvh_drop_calibration(bvh_reader *r, warning_list *warnings)
{
    /*
     * Least jump, of the longest side of the pose, and its ratio to the largest later one. Of seven captures, the jump
     * is 2.8 times (24 frames per second) to 61 times (120) the later ones; no later frame leads by more than 1.9.
     */
    static const double MIN_JUMP = 0.05, MIN_RATIO = 2.4;
    enum { MIN_FRAMES = 10 };

    /* too few frames to judge by */
    if (r->frame_count < MIN_FRAMES) return CUTIS_OK;

    /* allocate two poses */
    double(*places[2])[3], first = 0, later = 0, size = 0;
    for (int i = 0; i < 2; i++) places[i] = arena_push(&r->memory, (size_t)r->joint_count, sizeof **places);
    double(*rotations)[4] = arena_push(&r->memory, (size_t)r->joint_count, sizeof *rotations);
    if (r->memory.failed) return error_memory(r->error, "a motion");

    /* longest side of the first pose */
    bvh_pose(r, 0, rotations, places[0]);
    for (int k = 0; k < 3; k++) {
        double low = places[0][0][k], high = low;
        for (int j = 0; j < r->joint_count; j++) {
            low = MIN(low, places[0][j][k]);
            high = MAX(high, places[0][j][k]);
        }
        size = MAX(size, high - low);
    }

    /* change of pose from frame to frame, the first apart from the others */
    for (int f = 1; f < r->frame_count; f++) {
        bvh_pose(r, f, rotations, places[f % 2]);
        double moved = pose_distance(r->joint_count, places[(f - 1) % 2], places[f % 2]);
        if (f == 1)
            first = moved;
        else
            later = MAX(later, moved);
    }

    /* a jump far above all others: drop the first frame */
    if (!(first > MIN_JUMP * size && first > MIN_RATIO * later)) return CUTIS_OK;
    r->values += r->channel_count;
    r->frame_count--;
    warning_add(warnings,
                "%s: its first frame is skipped as a calibration pose: its joints are %.0f %% of the body's size from "
                "the next frame, which is %.3g times any later change",
                r->name, 100 * first / size, first / MAX(later, 1e-3 * first));
    return CUTIS_OK;
}
