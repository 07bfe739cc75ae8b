/* Motions on any skeleton: bones keep their length, feet stand, for every rigged person with every capture. */
#include "testing.h"

#include "character/joint_parts.h"
#include "character/joint_shape.h"
#include "io/affine.h"
#include "io/bvh_read.h"
#include "retarget/bvh_motion.h"

static const char *const PEOPLE[] = {
    "rigs/kaykit-knight/Knight-body.glb",
    "rigs/kaykit-mage/Mage-body.glb",
    "rigs/makehuman-child-8/mh_child_8.glb",
    "rigs/makehuman-man-muscular/mh_man_muscular.glb",
    "rigs/makehuman-man-old/mh_man_old.glb",
    "rigs/makehuman-man-tall-thin/mh_man_tall_thin.glb",
    "rigs/makehuman-woman-average/mh_woman_average.glb",
    "rigs/makehuman-woman-thin/mh_woman_thin.glb",
    "rigs/mesh2motion-human-female/human-female.glb",
    "rigs/mesh2motion-human-male/human-male.glb",
    "rigs/mesh2motion-human-zombie/human-zombie.glb",
    "rigs/quaternius-knight/KnightCharacter.glb",
    "rigs/quaternius-man-adventurer/Adventurer.glb",
    "rigs/quaternius-man-farmer/Farmer.glb",
    "rigs/quaternius-platformer/Character.glb",
    "rigs/quaternius-woman-formal/Formal.glb",
    "rigs/quaternius-woman-medieval/Medieval.glb",
    "khronos-CesiumMan/CesiumMan.glb",
};
static const char *const CAPTURES[] = {
    "cmu-mocap/02_01.bvh", "cmu-mocap/02_03.bvh", "cmu-mocap/02_04.bvh", "cmu-mocap/07_01.bvh",
    "cmu-mocap/16_03.bvh", "cmu-mocap/22_16.bvh", "cmu-mocap/55_02.bvh",
};

static joint_part *parts_of(const cutis_character *c)
{
    const char **names = malloc((size_t)c->joint_count * sizeof *names);
    int *parents = malloc((size_t)c->joint_count * sizeof *parents);
    joint_part *parts = calloc((size_t)c->joint_count, sizeof *parts);
    for (int j = 0; j < c->joint_count; j++) {
        names[j] = c->joints[j].name;
        parents[j] = c->joints[j].parent;
    }
    joint_parts_find(c->joint_count, names, parents, parts);
    free(names);
    free(parents);
    return parts;
}

static int part_find(const joint_part *parts, int count, int kind, int side)
{
    for (int j = 0; j < count; j++)
        if (parts[j].kind == kind && parts[j].side == side && parts[j].index == 0) return j;
    return -1;
}

static double place_length(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static double joint_distance(const float *pose, int a, int b)
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        double d = (double)pose[12 * a + 4 * k + 3] - pose[12 * b + 4 * k + 3];
        square += d * d;
    }
    return sqrt(square);
}

/* Bones: joints with their parents where both move skin, and the limbs by what joints are. Returns how many. */
static int bones_find(const cutis_character *c, const joint_part *parts, int (*bones)[2])
{
    static const int CHAINS[][2] = {
        {JOINT_HIPS, JOINT_UPPER_LEG},    {JOINT_UPPER_LEG, JOINT_LOWER_LEG}, {JOINT_LOWER_LEG, JOINT_FOOT},
        {JOINT_UPPER_ARM, JOINT_FOREARM}, {JOINT_FOREARM, JOINT_HAND},        {JOINT_SPINE, JOINT_HIPS},
    };
    int count = 0;
    for (int j = 0; j < c->joint_count; j++)
        if (c->joints[j].parent >= 0 && c->joints[j].deforms && c->joints[c->joints[j].parent].deforms) {
            bones[count][0] = j;
            bones[count++][1] = c->joints[j].parent;
        }
    for (int i = 0; i < (int)(sizeof CHAINS / sizeof *CHAINS); i++)
        for (int side = 1; side < JOINT_SIDE_COUNT; side++) {
            int a = part_find(parts, c->joint_count, CHAINS[i][0], side);
            int b = part_find(parts, c->joint_count, CHAINS[i][1], side);
            if (a < 0) a = part_find(parts, c->joint_count, CHAINS[i][0], JOINT_SIDE_NONE);
            if (b < 0) b = part_find(parts, c->joint_count, CHAINS[i][1], JOINT_SIDE_NONE);
            if (a < 0 || b < 0) continue;

            /* legs of a spider hang on the spine, which bends between them and the hips */
            int above = CHAINS[i][0] == JOINT_HIPS ? c->joints[b].parent : -1;
            while (above >= 0 && parts[above].kind != JOINT_SPINE) above = c->joints[above].parent;
            if (above >= 0) continue;
            bones[count][0] = a;
            bones[count++][1] = b;
        }
    return count;
}

/* How straight a leg is: the way from hip to ankle over thigh and shin. */
static double leg_straight(const double hip[3], const double knee[3], const double ankle[3])
{
    double lengths[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        lengths[0] += (knee[k] - hip[k]) * (knee[k] - hip[k]);
        lengths[1] += (ankle[k] - knee[k]) * (ankle[k] - knee[k]);
        lengths[2] += (ankle[k] - hip[k]) * (ankle[k] - hip[k]);
    }
    return sqrt(lengths[2]) / (sqrt(lengths[0]) + sqrt(lengths[1]));
}

/* All of a file. */
static char *file_text(const char *path, long *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)*size);
    assert_int_equal(fread(text, 1, (size_t)*size, file), *size);
    fclose(file);
    return text;
}

/*
 * Places of the capture's feet in each frame (frame_count x 2 x 3), and its height. straight: (frame_count x 2) how
 * straight its legs are, to be freed, or NULL.
 */
static double (*capture_feet(const char *path, int *frame_count, double *frame_time, double *height,
                             double (**straight)[2]))[2][3]
{
    long size;
    char *text = file_text(path, &size);
    cutis_error error;
    bvh_reader r = {.name = "capture", .cursor = text, .end = text + size, .line = 1, .error = &error};
    r.memory = arena_create(NULL);
    warning_list warnings = {.memory = &r.memory};
    assert_int_equal(bvh_read(&r), CUTIS_OK);
    assert_int_equal(bvh_drop_calibration(&r, &warnings), CUTIS_OK);
    double(*feet)[2][3] = malloc((size_t)r.frame_count * sizeof *feet);
    double(*rotations)[4] = malloc((size_t)r.joint_count * sizeof *rotations);
    double(*places)[3] = malloc((size_t)r.joint_count * sizeof *places);
    int joints[2] = {-1, -1};
    int knees[2] = {-1, -1};
    int hips[2] = {-1, -1};
    if (straight) *straight = malloc((size_t)r.frame_count * sizeof **straight);
    double low = INFINITY;
    double high = -INFINITY;
    for (int j = 0; j < r.joint_count; j++) {
        if (strcmp(r.joints[j].name, "LeftFoot") == 0) joints[0] = j;
        if (strcmp(r.joints[j].name, "RightFoot") == 0) joints[1] = j;
        if (strcmp(r.joints[j].name, "LeftLeg") == 0) knees[0] = j;
        if (strcmp(r.joints[j].name, "RightLeg") == 0) knees[1] = j;
        if (strcmp(r.joints[j].name, "LeftUpLeg") == 0) hips[0] = j;
        if (strcmp(r.joints[j].name, "RightUpLeg") == 0) hips[1] = j;
        low = fmin(low, r.joints[j].place[1]);
        high = fmax(high, r.joints[j].place[1]);
    }
    for (int side = 0; side < 2; side++) assert_true(joints[side] >= 0 && knees[side] >= 0 && hips[side] >= 0);
    for (int f = 0; f < r.frame_count; f++) {
        bvh_pose(&r, f, rotations, places);
        for (int side = 0; side < 2; side++) memcpy(feet[f][side], places[joints[side]], sizeof feet[f][side]);
        for (int side = 0; side < 2 && straight; side++)
            (*straight)[f][side] = leg_straight(places[hips[side]], places[knees[side]], places[joints[side]]);
    }
    *frame_count = r.frame_count;
    *frame_time = r.frame_time;
    *height = high - low;
    free(rotations);
    free(places);
    arena_destroy(&r.memory);
    free(text);
    return feet;
}

/* Places of six joints of a capture, three a side, in each frame: (frame_count x 2 x 3 x 3). */
static double (*capture_places(const char *path, const char *const names[2][3], int *frame_count,
                               double *frame_time))[2][3][3]
{
    long size;
    char *text = file_text(path, &size);

    cutis_error error;
    bvh_reader r = {.name = "capture", .cursor = text, .end = text + size, .line = 1, .error = &error};
    r.memory = arena_create(NULL);
    warning_list warnings = {.memory = &r.memory};
    assert_int_equal(bvh_read(&r), CUTIS_OK);
    assert_int_equal(bvh_drop_calibration(&r, &warnings), CUTIS_OK);

    double(*result)[2][3][3] = malloc((size_t)r.frame_count * sizeof *result);
    double(*rotations)[4] = malloc((size_t)r.joint_count * sizeof *rotations);
    double(*places)[3] = malloc((size_t)r.joint_count * sizeof *places);
    for (int f = 0; f < r.frame_count; f++) {
        bvh_pose(&r, f, rotations, places);
        for (int n = 0; n < 6; n++)
            for (int j = 0; j < r.joint_count; j++)
                if (strcmp(r.joints[j].name, names[n / 3][n % 3]) == 0)
                    memcpy(result[f][n / 3][n % 3], places[j], sizeof places[j]);
    }
    *frame_count = r.frame_count;
    *frame_time = r.frame_time;
    free(rotations);
    free(places);
    arena_destroy(&r.memory);
    free(text);
    return result;
}

typedef struct pair_result {
    double stretch; /* largest change of a bone's length */
    int bone;
    double slip; /* how far a foot moves beyond the capture's while that stands, over the height */
} pair_result;

static pair_result pair_measure(const cutis_character *c, const char *capture)
{
    pair_result result = {0, -1, 0};
    cutis_character *moved = NULL;
    cutis_error error;
    if (cutis_character_add_bvh(c, capture, NULL, 0, NULL, &moved, &error) != CUTIS_OK) fail_msg("%s", error.text);
    int frame_count;
    double frame_time;
    double height;
    double(*feet)[2][3] = capture_feet(capture, &frame_count, &frame_time, &height, NULL);
    joint_part *parts = parts_of(c);
    int(*bones)[2] = malloc(2 * (size_t)(c->joint_count + 32) * sizeof *bones);
    int bone_count = bones_find(c, parts, bones);
    float *rest = malloc(12 * (size_t)c->joint_count * sizeof *rest);
    float *pose = malloc(12 * (size_t)c->joint_count * sizeof *pose);
    cutis_pose_rest(c, rest);
    double own_height = (double)c->bounds_max[1] - c->bounds_min[1];
    int ankles[2];
    double starts[2][3];
    int begins[2] = {-1, -1};
    for (int side = 0; side < 2; side++)
        ankles[side] = part_find(parts, c->joint_count, JOINT_FOOT, JOINT_SIDE_LEFT + side);

    int step = MAX(1, (int)(1.0 / 30 / frame_time + 0.5));
    for (int f = 0; f < frame_count; f += step) {
        cutis_pose_sample(moved, moved->clip_count - 1, f * frame_time, pose);
        for (int b = 0; b < bone_count; b++) {
            double length = joint_distance(rest, bones[b][0], bones[b][1]);
            if (length < 0.01 * own_height) continue;
            double change = fabs(joint_distance(pose, bones[b][0], bones[b][1]) / length - 1);
            if (change <= result.stretch) continue;
            result.stretch = change;
            result.bone = bones[b][0];
        }

        /* a stand: the capture's foot stays within 0.5 % of its height */
        for (int side = 0; side < 2; side++) {
            if (ankles[side] < 0) continue;
            double place[3];
            double own = 0;
            double other = 0;
            for (int k = 0; k < 3; k++) place[k] = pose[12 * ankles[side] + 4 * k + 3];
            for (int k = 0; k < 3 && begins[side] >= 0; k++) {
                own += (place[k] - starts[side][k]) * (place[k] - starts[side][k]);
                double d = feet[f][side][k] - feet[begins[side]][side][k];
                other += d * d;
            }
            if (begins[side] < 0 || sqrt(other) > 0.005 * height) {
                begins[side] = f;
                memcpy(starts[side], place, sizeof place);
                continue;
            }
            result.slip = fmax(result.slip, sqrt(own) / own_height);
        }
    }
    free(feet);
    free(parts);
    free(bones);
    free(rest);
    free(pose);
    cutis_character_destroy(moved);
    return result;
}

static void bones_keep_their_length_and_feet_stand(void **unused)
{
    (void)unused;
    int pairs = 0;
    int bad = 0;
    for (int p = 0; p < (int)(sizeof PEOPLE / sizeof *PEOPLE); p++) {
        const char *path = test_model(PEOPLE[p]);
        if (!path) skip();
        cutis_character *c = NULL;
        assert_int_equal(cutis_character_load(path, NULL, &c, NULL), CUTIS_OK);
        for (int m = 0; m < (int)(sizeof CAPTURES / sizeof *CAPTURES); m++) {
            const char *capture = test_model(CAPTURES[m]);
            if (!capture) skip();
            pair_result r = pair_measure(c, capture);
            pairs++;
            if (r.stretch <= 0.01 && r.slip <= 0.01) continue;
            bad++;
            print_message("%s, %s: stretch %.2f %% (%s), slip %.2f %%\n", PEOPLE[p], CAPTURES[m], 100 * r.stretch,
                          r.bone >= 0 ? c->joints[r.bone].name : "-", 100 * r.slip);
        }
        cutis_character_destroy(c);
    }
    print_message("%d pairs, %d beyond 1 %%\n", pairs, bad);
    assert_int_equal(bad, 0);
}

/* A person, and the same with the capture as its last clip; false: the file is not there. */
static bool person_move(int index, const char *capture, cutis_character **c, cutis_character **moved)
{
    const char *path = test_model(PEOPLE[index]);
    if (!path) return false;
    assert_int_equal(cutis_character_load(path, NULL, c, NULL), CUTIS_OK);
    assert_int_equal(cutis_character_add_bvh(*c, capture, NULL, 0, NULL, moved, NULL), CUTIS_OK);
    return true;
}

/* Steps are scaled by thighs and shins: legs bend as much as the capture's, whatever hips and feet measure. */
static void legs_bend_as_the_capture_does(void **unused)
{
    (void)unused;
    static const int KINDS[3] = {JOINT_UPPER_LEG, JOINT_LOWER_LEG, JOINT_FOOT};
    const char *capture = test_model(CAPTURES[0]);
    if (!capture) skip();
    char file[512];
    snprintf(file, sizeof file, "%s", capture);
    for (int i = 0; i < (int)(sizeof PEOPLE / sizeof *PEOPLE); i++) {
        cutis_character *c = NULL;
        cutis_character *moved = NULL;
        if (!person_move(i, file, &c, &moved)) continue;
        int frame_count;
        double frame_time;
        double height;
        double(*straight)[2];
        free(capture_feet(file, &frame_count, &frame_time, &height, &straight));
        joint_part *parts = parts_of(c);
        float *pose = malloc(12 * (size_t)c->joint_count * sizeof *pose);

        /* the mean over the clip: a foot out of reach may differ for a while */
        double sum = 0;
        int count = 0;
        for (int f = 0; f < frame_count; f += 4) {
            cutis_pose_sample(moved, moved->clip_count - 1, f * frame_time, pose);
            for (int side = 0; side < 2; side++) {
                double places[3][3];
                for (int n = 0; n < 3; n++) {
                    int joint = part_find(parts, c->joint_count, KINDS[n], JOINT_SIDE_LEFT + side);
                    assert_true(joint >= 0);
                    for (int k = 0; k < 3; k++) places[n][k] = pose[12 * joint + 4 * k + 3];
                }
                sum += leg_straight(places[0], places[1], places[2]) - straight[f][side];
                count++;
            }
        }

        /* stumps take steps that are wide for them: their hips come down */
        float *rest = malloc(12 * (size_t)c->joint_count * sizeof *rest);
        cutis_pose_rest(c, rest);
        double leg = 0;
        for (int n = 0; n < 2; n++)
            leg += joint_distance(rest, part_find(parts, c->joint_count, KINDS[n], JOINT_SIDE_LEFT),
                                  part_find(parts, c->joint_count, KINDS[n + 1], JOINT_SIDE_LEFT));
        bool stump = leg < 0.2 * ((double)c->bounds_max[1] - c->bounds_min[1]);
        free(rest);
        print_message("%-45s legs are straighter than the capture's by %.4f\n", PEOPLE[i], sum / count);
        if (!stump) assert_true(fabs(sum / count) < 0.01);
        free(straight);
        free(parts);
        free(pose);
        cutis_character_destroy(moved);
        cutis_character_destroy(c);
    }
}

static void turn(double angle, const double from[3], double to[3])
{
    double x = from[0], z = from[2];
    to[0] = cos(angle) * x + sin(angle) * z;
    to[1] = from[1];
    to[2] = cos(angle) * z - sin(angle) * x;
}

static void skin_middle(const cutis_character *c, int joint, double middle[3])
{
    double sum = 0;
    memset(middle, 0, 3 * sizeof *middle);
    for (int v = 0; v < c->vertex_count; v++)
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
            if (c->influence_joints[i] != joint) continue;
            sum += c->influence_weights[i];
            for (int k = 0; k < 3; k++) middle[k] += (double)c->influence_weights[i] * c->positions[3 * v + k];
        }
    for (int k = 0; k < 3 && sum > 0; k++) middle[k] /= sum;
}

/* What a skeleton's shape tells against what its names tell, over the joints that move skin. */
static void shape_tells_what_names_tell(void **unused)
{
    (void)unused;
    static const int MAJOR[] = {JOINT_HIPS, JOINT_HEAD,      JOINT_UPPER_ARM, JOINT_FOREARM,
                                JOINT_HAND, JOINT_UPPER_LEG, JOINT_LOWER_LEG, JOINT_FOOT};
    int read = 0, all = 0;
    for (int p = 0; p < (int)(sizeof PEOPLE / sizeof *PEOPLE); p++) {
        const char *path = test_model(PEOPLE[p]);
        if (!path) skip();
        cutis_character *c = NULL;
        assert_int_equal(cutis_character_load(path, NULL, &c, NULL), CUTIS_OK);
        joint_part *named = parts_of(c), *shaped = calloc((size_t)c->joint_count, sizeof *shaped);
        float *rest = malloc(12 * (size_t)c->joint_count * sizeof *rest);
        double(*places)[3] = malloc((size_t)c->joint_count * sizeof *places);
        double(*skins)[3] = malloc((size_t)c->joint_count * sizeof *skins), middle[3];
        int *parents = malloc((size_t)c->joint_count * sizeof *parents);
        bool *uses = malloc((size_t)c->joint_count * sizeof *uses);
        cutis_pose_rest(c, rest);
        for (int j = c->joint_count - 1; j >= 0; j--) {
            /* each body is turned by an angle of its own: feet tell the front */
            skin_middle(c, j, middle);
            for (int k = 0; k < 3; k++) places[j][k] = rest[12 * j + 4 * k + 3];
            turn(0.9 * p, places[j], places[j]);
            turn(0.9 * p, middle, skins[j]);
            parents[j] = c->joints[j].parent;
            uses[j] = c->joints[j].deforms;
            for (int i = j + 1; i < c->joint_count; i++) uses[j] |= uses[i] && parents[i] == j;
        }

        arena memory = arena_create(NULL);
        bool found = joint_parts_by_shape(&memory, c->joint_count, parents, (const double(*)[3])places,
                                          (const double(*)[3])skins, uses, shaped);
        int wrong = 0;
        for (int i = 0; found && i < (int)(sizeof MAJOR / sizeof *MAJOR); i++)
            for (int side = 0; side < JOINT_SIDE_COUNT; side++) {
                int joint = part_find(shaped, c->joint_count, MAJOR[i], side);
                int truth = part_find(named, c->joint_count, MAJOR[i], side);
                if (joint < 0 || truth < 0 || joint == truth) continue;
                if (joint_distance(rest, joint, truth) < 0.03 * (double)c->size) continue;
                wrong++;
                print_message("%s: kind %d of side %d is '%s', by shape '%s'\n", PEOPLE[p], MAJOR[i], side,
                              c->joints[truth].name, c->joints[joint].name);
            }
        all++;
        read += found && wrong == 0;
        if (!found) print_message("%s: its shape is not read\n", PEOPLE[p]);
        arena_destroy(&memory);
        free(named);
        free(shaped);
        free(rest);
        free(places);
        free(skins);
        free(parents);
        free(uses);
        cutis_character_destroy(c);
    }
    print_message("%d of %d skeletons are read by their shape\n", read, all);
    assert_true(read >= 15); /* two have feet that hang on controls, one a hat that moves by itself */
}

/* Who walks stands upright: the short way from hips to thighs must not tilt the body. */
static void walkers_stand_upright(void **unused)
{
    (void)unused;
    const char *capture = test_model("cmu-mocap/07_01.bvh");
    if (!capture) skip();
    char file[512];
    snprintf(file, sizeof file, "%s", capture);
    for (int i = 0; i < (int)(sizeof PEOPLE / sizeof *PEOPLE); i++) {
        cutis_character *c = NULL;
        cutis_character *moved = NULL;
        if (!person_move(i, file, &c, &moved)) continue;
        joint_part *parts = parts_of(c);
        float *pose = malloc(12 * (size_t)c->joint_count * sizeof *pose);
        int hips = part_find(parts, c->joint_count, JOINT_HIPS, JOINT_SIDE_NONE);
        int head = part_find(parts, c->joint_count, JOINT_HEAD, JOINT_SIDE_NONE);

        /* the largest angle between the trunk and the vertical, of those whose joints have names */
        double least = 1;
        for (int f = 0; f < 25 && hips >= 0 && head >= 0; f++) {
            cutis_pose_sample(moved, moved->clip_count - 1, 0.1 * f, pose);
            double rise = (double)pose[12 * head + 7] - (double)pose[12 * hips + 7];
            least = fmin(least, rise / joint_distance(pose, head, hips));
        }
        print_message("%-45s leans by a cosine of %.3f\n", PEOPLE[i], least);
        assert_true(least > 0.9);
        free(pose);
        free(parts);
        cutis_character_destroy(moved);
        cutis_character_destroy(c);
    }
}

/* Move a joint at rest by `way` in scene space and leave all others where they are. */
static void joint_shift(cutis_character *c, int joint, const double way[3])
{
    float *rest = malloc(12 * (size_t)c->joint_count * sizeof *rest);
    cutis_pose_rest(c, rest);
    for (int j = 0; j < c->joint_count; j++) {
        if (j != joint && c->joints[j].parent != joint) continue;
        int parent = c->joints[j].parent;
        cutis_joint *own = (cutis_joint *)&c->joints[j];
        double sign = j == joint ? 1 : -1, local[3] = {way[0], way[1], way[2]};

        /* into the parent's space, whose axes are at right angles */
        for (int k = 0; k < 3 && parent >= 0; k++) {
            double product = 0, square = 0;
            for (int i = 0; i < 3; i++) {
                double axis = rest[12 * parent + 4 * i + k];
                product += axis * way[i];
                square += axis * axis;
            }
            local[k] = product / square;
        }
        for (int k = 0; k < 3; k++) own->rest.translation[k] += (float)(sign * local[k]);
    }
    free(rest);
}

/* Where an artist put the joint of the hips, above the thighs or below, says nothing of how the body stands. */
static void hips_may_lie_anywhere(void **unused)
{
    (void)unused;
    const char *capture = test_model("cmu-mocap/02_01.bvh");
    if (!capture) skip();
    char file[512];
    snprintf(file, sizeof file, "%s", capture);
    int tried = 0;
    for (int i = 0; i < (int)(sizeof PEOPLE / sizeof *PEOPLE); i++) {
        const char *path = test_model(PEOPLE[i]);
        if (!path) continue;
        cutis_character *c = NULL, *moved[2];
        assert_int_equal(cutis_character_load(path, NULL, &c, NULL), CUTIS_OK);
        joint_part *parts = parts_of(c);
        int hips = part_find(parts, c->joint_count, JOINT_HIPS, JOINT_SIDE_NONE);
        int head = part_find(parts, c->joint_count, JOINT_HEAD, JOINT_SIDE_NONE);
        int thigh = part_find(parts, c->joint_count, JOINT_UPPER_LEG, JOINT_SIDE_LEFT);
        float *pose[2];
        for (int k = 0; k < 2; k++) pose[k] = malloc(12 * (size_t)c->joint_count * sizeof *pose[k]);
        if (hips >= 0 && head >= 0 && thigh >= 0) {
            assert_int_equal(cutis_character_add_bvh(c, file, NULL, 0, NULL, &moved[0], NULL), CUTIS_OK);
            cutis_pose_rest(c, pose[0]);
            double lower = (double)pose[0][12 * thigh + 7] - (double)pose[0][12 * hips + 7];
            joint_shift(c, hips, (double[3]){0, lower - 0.06 * (double)c->size, 0.02 * (double)c->size});
            assert_int_equal(cutis_character_add_bvh(c, file, NULL, 0, NULL, &moved[1], NULL), CUTIS_OK);

            /* the head is turned as before */
            double most = 0;
            for (int f = 0; f < 10; f++) {
                for (int k = 0; k < 2; k++) cutis_pose_sample(moved[k], moved[k]->clip_count - 1, 0.1 * f, pose[k]);
                for (int k = 0; k < 12; k++) {
                    double size = fabs((double)pose[0][12 * head]) + fabs((double)pose[0][12 * head + 4]) +
                                  fabs((double)pose[0][12 * head + 8]);
                    if (k % 4 < 3)
                        most = fmax(most, fabs((double)pose[1][12 * head + k] - pose[0][12 * head + k]) / size);
                }
            }
            print_message("%-45s the head turns by %.1e when the hips are lowered\n", PEOPLE[i], most);
            assert_true(most < 0.02);
            for (int k = 0; k < 2; k++) cutis_character_destroy(moved[k]);
            tried++;
        }
        for (int k = 0; k < 2; k++) free(pose[k]);
        free(parts);
        cutis_character_destroy(c);
    }
    assert_true(tried >= 10);
}

/* A person of six boxes, one joint each, whose arms hang at rest. */
static cutis_character *boxes_make(void)
{
    enum { BOXES = 6 };
    static const char *const NAMES[BOXES] = {"Body", "Head", "Arm_Left", "Arm_Right", "Leg_Left", "Leg_Right"};
    static const float TOPS[BOXES][3] = {{0, 0.75f, 0},     {0, 1.5f, 0},      {0.37f, 1.4f, 0},
                                         {-0.37f, 1.4f, 0}, {0.12f, 0.75f, 0}, {-0.12f, 0.75f, 0}};
    static const float LENGTHS[BOXES] = {0.75f, 0.5f, -0.7f, -0.7f, -0.75f, -0.75f};
    static const int SIDES[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
    float positions[BOXES * 24], weights[BOXES * 8];
    int first[BOXES * 6 + 1], corners[BOXES * 24], influences[BOXES * 8 + 1], joints[BOXES * 8];
    cutis_joint skeleton[BOXES] = {{0}};
    for (int n = 0; n < BOXES; n++) {
        for (int v = 0; v < 8; v++) {
            float *x = positions + 3 * (8 * n + v), half = n < 2 ? 0.25f : 0.1f;
            x[0] = TOPS[n][0] + (v & 1 ? half : -half);
            x[1] = TOPS[n][1] + (v & 2 ? LENGTHS[n] : 0);
            x[2] = TOPS[n][2] + (v & 4 ? 0.1f : -0.1f);
            influences[8 * n + v] = 8 * n + v;
            joints[8 * n + v] = n;
            weights[8 * n + v] = 1;
        }
        for (int f = 0; f < 6; f++) {
            first[6 * n + f] = 4 * (6 * n + f);
            for (int k = 0; k < 4; k++) corners[4 * (6 * n + f) + k] = 8 * n + SIDES[f][k];
        }
        cutis_joint *j = &skeleton[n];
        j->name = NAMES[n];
        j->parent = n ? 0 : -1;
        j->rest.rotation[3] = 1;
        for (int k = 0; k < 3; k++) {
            j->rest.translation[k] = TOPS[n][k] - (n ? TOPS[0][k] : 0);
            j->rest.scale[k] = 1;
            j->inverse_bind[5 * k] = 1;
            j->inverse_bind[4 * k + 3] = -TOPS[n][k];
        }
        j->idle = j->rest;
    }
    first[BOXES * 6] = BOXES * 24;
    influences[BOXES * 8] = BOXES * 8;
    cutis_character given = {.name = "boxes",
                             .vertex_count = BOXES * 8,
                             .positions = positions,
                             .face_count = BOXES * 6,
                             .face_first = first,
                             .corners = corners,
                             .influence_first = influences,
                             .influence_joints = joints,
                             .influence_weights = weights,
                             .joint_count = BOXES,
                             .joints = skeleton};
    cutis_character *c = NULL;
    cutis_error error = {0};
    if (cutis_character_create(&given, NULL, &c, &error) != CUTIS_OK) fail_msg("%s", error.text);
    return c;
}

/* A limb of one joint has no bone to align; the middle of its skin tells where it points. */
static void limbs_of_one_joint_hang(void **unused)
{
    (void)unused;
    const char *capture = test_model("cmu-mocap/07_01.bvh");
    if (!capture) skip();
    cutis_character *c = boxes_make(), *moved = NULL;
    assert_int_equal(cutis_character_add_bvh(c, capture, NULL, 0, NULL, &moved, NULL), CUTIS_OK);
    double highest = -1;
    for (int f = 0; f < 20; f++) {
        float pose[6 * 12];
        cutis_pose_sample(moved, moved->clip_count - 1, 0.1 * f, pose);
        /* the joint's own y axis, along which the box hangs */
        for (int j = 2; j < 6; j++) highest = fmax(highest, -(double)pose[12 * j + 5]);
    }
    print_message("arms and legs of boxes rise to %.2f of the vertical at most\n", highest);
    assert_true(highest < -0.6);
    cutis_character_destroy(moved);

    /* stiff legs stand on the floor, whatever the capture's knees do: here it crouches to jump */
    capture = test_model("cmu-mocap/02_04.bvh");
    if (!capture) skip();
    assert_int_equal(cutis_character_add_bvh(c, capture, NULL, 0, NULL, &moved, NULL), CUTIS_OK);
    double lowest = INFINITY, level = 0;
    for (int f = 0; f < 20; f++) {
        float pose[6 * 12];
        cutis_pose_sample(moved, moved->clip_count - 1, 0.06 * f, pose);
        double end = INFINITY;
        for (int j = 4; j < 6; j++) end = fmin(end, (double)pose[12 * j + 7] - 0.75 * (double)pose[12 * j + 5]);
        lowest = fmin(lowest, end);
        if (f < 14) level = fmax(level, end); /* before the jump */
    }
    print_message("their legs end %.3f to %.3f above the floor, of 2 in all\n", lowest, level);
    assert_true(lowest > -0.04 && level < 0.04);
    cutis_character_destroy(moved);
    cutis_character_destroy(c);

    /* a mirrored skeleton is refused: no rotation of another body fits it */
    cutis_error error = {0};
    c = boxes_make();
    ((cutis_joint *)&c->joints[0])->rest.scale[0] = -1;
    assert_int_equal(cutis_character_add_bvh(c, capture, NULL, 0, NULL, &moved, &error), CUTIS_ERROR_DATA);
    assert_non_null(strstr(error.text, "mirrored"));
    cutis_character_destroy(c);
}

/* The angle in degrees between the way from joint a to b of a pose and a direction. */
static double bone_angle(const float *pose, int a, int b, const double direction[3])
{
    double product = 0, length = 0;
    for (int k = 0; k < 3; k++) {
        product += ((double)pose[12 * b + 4 * k + 3] - pose[12 * a + 4 * k + 3]) * direction[k];
        length += direction[k] * direction[k];
    }
    return 180 / 3.14159265 * acos(fmin(1, product / (joint_distance(pose, a, b) * sqrt(length))));
}

/* Arms of any length point where the capture's point, at rest in a T pose or in an A pose. */
static void arms_point_as_the_capture_does(void **unused)
{
    (void)unused;
    static const int KINDS[3] = {JOINT_UPPER_ARM, JOINT_FOREARM, JOINT_HAND};
    static const char *const NAMES[2][3] = {{"LeftArm", "LeftForeArm", "LeftHand"},
                                            {"RightArm", "RightForeArm", "RightHand"}};
    const char *capture = test_model("cmu-mocap/02_01.bvh");
    if (!capture) skip();
    char file[512];
    snprintf(file, sizeof file, "%s", capture);
    int frame_count;
    double frame_time;
    double(*places)[2][3][3] = capture_places(file, NAMES, &frame_count, &frame_time);
    int tried = 0;
    for (int i = 0; i < (int)(sizeof PEOPLE / sizeof *PEOPLE); i++) {
        cutis_character *c = NULL, *moved = NULL;
        if (!person_move(i, file, &c, &moved)) continue;
        joint_part *parts = parts_of(c);
        float *pose = malloc(12 * (size_t)c->joint_count * sizeof *pose);
        double worst = 0;
        for (int f = 0; f < frame_count; f += 8) {
            cutis_pose_sample(moved, moved->clip_count - 1, f * frame_time, pose);
            for (int n = 0; n < 4; n++) {
                int side = n / 2, kind = n % 2;
                int a = part_find(parts, c->joint_count, KINDS[kind], JOINT_SIDE_LEFT + side);
                int b = part_find(parts, c->joint_count, KINDS[kind + 1], JOINT_SIDE_LEFT + side);
                if (a < 0 || b < 0) continue;
                double way[3];
                for (int k = 0; k < 3; k++) way[k] = places[f][side][kind + 1][k] - places[f][side][kind][k];
                worst = fmax(worst, bone_angle(pose, a, b, way));
                tried++;
            }
        }
        print_message("%-45s arms are %.2f degrees from the capture's at most\n", PEOPLE[i], worst);
        assert_true(worst < 1);
        free(pose);
        free(parts);
        cutis_character_destroy(moved);
        cutis_character_destroy(c);
    }
    free(places);
    assert_true(tried > 1000);
}

/* Turn the rest pose about the vertical. */
static void character_turn(cutis_character *c, double angle)
{
    double s = sin(angle / 2), w = cos(angle / 2);
    for (int j = 0; j < c->joint_count; j++) {
        if (c->joints[j].parent >= 0) continue;
        cutis_transform *const poses[2] = {&((cutis_joint *)&c->joints[j])->rest,
                                           &((cutis_joint *)&c->joints[j])->idle};
        for (int n = 0; n < 2; n++) {
            float *q = poses[n]->rotation, *t = poses[n]->translation;
            double old[4] = {q[0], q[1], q[2], q[3]}, place[3] = {t[0], t[1], t[2]};
            q[0] = (float)(w * old[0] + s * old[2]);
            q[1] = (float)(w * old[1] + s * old[3]);
            q[2] = (float)(w * old[2] - s * old[0]);
            q[3] = (float)(w * old[3] - s * old[1]);
            turn(angle, place, place);
            for (int k = 0; k < 3; k++) t[k] = (float)place[k];
        }
    }
}

/* Where a character faces at rest says nothing of where it walks: by any angle, not only by large ones. */
static void turned_characters_walk_the_same(void **unused)
{
    (void)unused;
    static const double ANGLES[] = {0.3, -0.5, 1.6, 3.1};
    const char *capture = test_model("cmu-mocap/02_01.bvh");
    if (!capture) skip();
    char file[512];
    snprintf(file, sizeof file, "%s", capture);
    int tried = 0;
    for (int i = 0; i < (int)(sizeof PEOPLE / sizeof *PEOPLE); i++) {
        cutis_character *c = NULL, *moved = NULL;
        if (!person_move(i, file, &c, &moved)) continue;
        joint_part *parts = parts_of(c);
        float *pose = malloc(24 * (size_t)c->joint_count * sizeof *pose), *other = pose + 12 * c->joint_count;
        int hips = part_find(parts, c->joint_count, JOINT_HIPS, JOINT_SIDE_NONE);
        cutis_character *turned = NULL;
        character_turn(c, ANGLES[i % 4]);
        assert_int_equal(cutis_character_add_bvh(c, file, NULL, 0, NULL, &turned, NULL), CUTIS_OK);

        /* every joint of the body, seen from the hips */
        double worst = 0;
        for (int f = 0; f < 12 && hips >= 0; f++) {
            cutis_pose_sample(moved, moved->clip_count - 1, 0.1 * f, pose);
            cutis_pose_sample(turned, turned->clip_count - 1, 0.1 * f, other);
            for (int j = 0; j < c->joint_count; j++) {
                if (parts[j].kind == JOINT_OTHER || !c->joints[j].deforms) continue;
                double square = 0;
                for (int k = 3; k < 12; k += 4)
                    square += pow(
                        (double)pose[12 * j + k] - pose[12 * hips + k] - other[12 * j + k] + other[12 * hips + k], 2);
                worst = fmax(worst, sqrt(square) / (double)c->size);
                tried++;
            }
        }
        print_message("%-45s turned by %.1f: joints within %.4f of the size\n", PEOPLE[i], ANGLES[i % 4], worst);
        assert_true(worst < 0.01);
        free(pose);
        free(parts);
        cutis_character_destroy(turned);
        cutis_character_destroy(moved);
        cutis_character_destroy(c);
    }
    assert_true(tried > 1000);
}

/* One capture, told in other ways. */
enum {
    TOLD_SAME,
    TOLD_Z_UP,
    TOLD_ZERO_TURNED,
    TOLD_BONES_ALONG_X,
    TOLD_FROM_PARENTS,
    TOLD_PREFIX,
    TOLD_ROOT,
    TOLD_SHAPE,
    TOLD_METRES,
    TOLD_COUNT
};
static const char *const TOLD[TOLD_COUNT] = {"the same",     "z up",     "zero pose turned", "bones along x",
                                             "from parents", "a prefix", "a root above",     "names tell nothing",
                                             "another unit"};

static char *text_add(char *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    text += vsprintf(text, format, list);
    va_end(list);
    return text;
}

static char *told_hierarchy(const bvh_reader *r, int told, int joint, char *text)
{
    bool root = r->joints[joint].parent < 0, end = !r->joints[joint].name[0];
    const double *o = r->joints[joint].offset;
    if (end)
        text = text_add(text, "End Site\n{\nOFFSET %g %g %g\n}\n", o[0], o[1], o[2]);
    else if (told == TOLD_SHAPE)
        text = text_add(text, "%s item_%d\n{\n", root ? "ROOT" : "JOINT", joint);
    else
        text = text_add(text, "%s %s%s\n{\n", root ? "ROOT" : "JOINT", told == TOLD_PREFIX ? "Actor_" : "",
                        r->joints[joint].name);
    if (end) return text;
    text = text_add(text, "OFFSET %g %g %g\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n",
                    o[0], o[1], o[2]);
    for (int j = joint + 1; j < r->joint_count; j++)
        if (r->joints[j].parent == joint) text = told_hierarchy(r, told, j, text);
    return text_add(text, "}\n");
}

/* The text of a capture that says the same in another way. */
static char *told_make(const char *path, int told)
{
    long size;
    char *text = file_text(path, &size);
    cutis_error error;
    bvh_reader from = {.name = "capture", .cursor = text, .end = text + size, .line = 1, .error = &error};
    from.memory = arena_create(NULL);
    assert_int_equal(bvh_read(&from), CUTIS_OK);

    /* world: what the scene is turned by; zero: the joints' rotations in the new zero pose */
    bvh_reader to = from;
    int count = from.joint_count, extra = told == TOLD_ROOT;
    double world[4] = {0, 0, 0, 1}, back[4], unit = told == TOLD_METRES ? 0.0254 : 1;
    double(*zero)[4] = calloc((size_t)count + 1, sizeof *zero);
    double(*rotations)[4] = calloc((size_t)count + 1, sizeof *rotations);
    double(*places)[3] = calloc((size_t)count + 1, sizeof *places);
    static const double X[3] = {1, 0, 0}, UP[3] = {0, 1, 0}, Z[3] = {0, 0, 1};
    if (told == TOLD_Z_UP) rotation_between(UP, Z, world);
    for (int j = 0; j < count; j++) {
        zero[j][3] = 1;
        if (told == TOLD_ZERO_TURNED) rotation_between(UP, Z, zero[j]);
        for (int i = count - 1; i > j && told == TOLD_BONES_ALONG_X; i--)
            if (from.joints[i].parent == j && place_length(from.joints[i].offset) > 0)
                rotation_between(from.joints[i].offset, X, zero[j]);
    }

    /* joints, one more above them for TOLD_ROOT */
    to.joint_count = count + extra;
    to.joints = arena_push(&to.memory, (size_t)to.joint_count, sizeof *to.joints);
    if (extra) to.joints[0] = (bvh_joint){.name = "root", .parent = -1};
    for (int j = 0; j < count; j++) {
        to.joints[j + extra] = from.joints[j];
        to.joints[j + extra].parent += extra;
        int parent = from.joints[j].parent;
        double way[3] = {from.joints[j].offset[0], from.joints[j].offset[1], from.joints[j].offset[2]};
        if (parent >= 0) rotation_apply(zero[parent], way, way);
        rotation_apply(world, way, way);
        for (int k = 0; k < 3; k++)
            places[j + extra][k] = unit * way[k] + (parent >= 0 ? places[parent + extra][k] : 0);
    }
    assert_true(bvh_channels_make(&to, places));
    rotation_conjugate(world, back);
    for (int f = 0; f < from.frame_count; f++) {
        rotations[0][3] = 1;
        memset(places[0], 0, sizeof places[0]);
        bvh_pose(&from, f, rotations + extra, places + extra);
        for (int j = extra; j < count + extra; j++) {
            double inverse[4];
            rotation_conjugate(zero[j - extra], inverse);
            rotation_multiply(rotations[j], inverse, rotations[j]);
            rotation_multiply(world, rotations[j], rotations[j]);
            rotation_multiply(rotations[j], back, rotations[j]);
            rotation_apply(world, places[j], places[j]);
            for (int k = 0; k < 3; k++) places[j][k] *= unit;
        }
        bvh_frame_store(&to, f, rotations, places);
    }

    /* the text */
    size_t room = (size_t)to.joint_count * 400 + (size_t)to.frame_count * (size_t)to.channel_count * 24 + 1000;
    char *result = malloc(room), *end = text_add(result, "HIERARCHY\n");
    end = told_hierarchy(&to, told, 0, end);
    end = text_add(end, "MOTION\nFrames: %d\nFrame Time: %g\n", to.frame_count, to.frame_time);
    for (int f = 0; f < to.frame_count; f++)
        for (int j = 0; j < to.joint_count; j++) {
            if (!to.joints[j].name[0]) continue;
            for (int k = 0; k < BVH_CHANNELS; k++) {
                double value = (double)to.values[(size_t)f * (size_t)to.channel_count + (size_t)(BVH_CHANNELS * j + k)];
                if (told == TOLD_FROM_PARENTS && k < 3) value += to.joints[j].offset[k];
                end = text_add(end, "%.6g ", value);
            }
        }
    free(zero);
    free(rotations);
    free(places);
    free(text);
    arena_destroy(&to.memory);
    return result;
}

static void captures_may_be_told_in_any_way(void **unused)
{
    (void)unused;
    static const char *const FILES[] = {"rigs/mesh2motion-human-male/human-male.glb",
                                        "rigs/quaternius-woman-formal/Formal.glb",
                                        "makehuman-cmu-average/mh_average.glb"};
    const char *capture = test_model("cmu-mocap/07_01.bvh");
    if (!capture) skip();
    char file[512];
    snprintf(file, sizeof file, "%s", capture);
    for (int i = 0; i < 3; i++) {
        const char *path = test_model(FILES[i]);
        if (!path) skip();
        cutis_character *c = NULL, *first = NULL;
        assert_int_equal(cutis_character_load(path, NULL, &c, NULL), CUTIS_OK);
        joint_part *parts = parts_of(c);
        float *pose = malloc(24 * (size_t)c->joint_count * sizeof *pose), *other = pose + 12 * c->joint_count;
        int hips = part_find(parts, c->joint_count, JOINT_HIPS, JOINT_SIDE_NONE);
        for (int told = 0; told < TOLD_COUNT; told++) {
            char *text = told_make(file, told);
            cutis_character *moved = NULL;
            cutis_error error = {0};
            if (bvh_motion_add(c, text, strlen(text), "told.bvh", NULL, 0, NULL, &moved, &error) != CUTIS_OK)
                fail_msg("%s: %s", TOLD[told], error.text);
            free(text);
            if (!first) first = moved;

            /* joints of the body, seen from the hips; hands are left out, whose fingers a shape does not tell */
            double worst = 0;
            int where = 0;
            for (int f = 0; f < 20; f++) {
                cutis_pose_sample(first, first->clip_count - 1, 0.1 * f, pose);
                cutis_pose_sample(moved, moved->clip_count - 1, 0.1 * f, other);
                for (int j = 0; j < c->joint_count; j++) {
                    if (parts[j].kind == JOINT_OTHER || parts[j].kind > JOINT_FOOT || !c->joints[j].deforms ||
                        (parts[j].kind == JOINT_HAND && parts[j].index > 0))
                        continue;
                    double square = 0;
                    for (int k = 3; k < 12; k += 4)
                        square += pow((double)pose[12 * j + k] - pose[12 * hips + k] - other[12 * j + k] +
                                          other[12 * hips + k],
                                      2);
                    if (sqrt(square) <= worst * (double)c->size) continue;
                    worst = sqrt(square) / (double)c->size;
                    where = j;
                }
            }
            print_message("%-42s %-20s joints within %.4f of the size (%s)\n", FILES[i], TOLD[told], worst,
                          c->joints[where].name);
            assert_true(worst < 0.015);
            if (moved != first) cutis_character_destroy(moved);
        }
        free(pose);
        free(parts);
        cutis_character_destroy(first);
        cutis_character_destroy(c);
    }
}

/* Bodies that do not stand as a person does. */
static const struct {
    const char *file;
    int legs; /* 4: its trunk keeps level */
} ANIMALS[] = {
    {"khronos-Fox/Fox.glb", 4},
    {"mesh2motion-horse/horse.glb", 4},
    {"mesh2motion-kaiju/kaiju.glb", 2},
    {"rigs/mesh2motion-bird-base/bird-base.glb", 2},
    {"rigs/mesh2motion-fish-whale/fish-whale.glb", 0},
    {"rigs/mesh2motion-fox-cat/fox-cat.glb", 4},
    {"rigs/mesh2motion-fox-dog/fox-dog.glb", 4},
    {"rigs/mesh2motion-fox-fox/fox-fox.glb", 4},
    {"rigs/mesh2motion-spider/spider.glb", 2},
    {"rigs/quaternius-alpaca/Alpaca.glb", 4},
    {"rigs/quaternius-cow/Cow.glb", 4},
    {"rigs/quaternius-donkey/Donkey.glb", 4},
    {"rigs/quaternius-husky/Husky.glb", 4},
};

/* How far a joint has turned from its rest pose away from the vertical, in degrees. */
static double joint_tilt(const float *rest, const float *pose, int joint)
{
    double product = 0;
    for (int k = 0; k < 3; k++) {
        double a = 0, b = 0;
        for (int i = 0; i < 3; i++) {
            a += (double)rest[12 * joint + 4 * i + k] * rest[12 * joint + 4 * i + k];
            b += (double)pose[12 * joint + 4 * i + k] * pose[12 * joint + 4 * i + k];
        }
        product += (double)rest[12 * joint + 4 + k] * pose[12 * joint + 4 + k] / sqrt(a * b);
    }
    return 180 / 3.14159265 * acos(fmin(1, product));
}

/* An animal is not raised to the posture of a person: trunks stay as they are, bones keep their length, feet stand. */
static void animals_keep_their_posture(void **unused)
{
    (void)unused;
    int bad = 0;
    for (int i = 0; i < (int)(sizeof ANIMALS / sizeof *ANIMALS); i++) {
        const char *path = test_model(ANIMALS[i].file);
        if (!path) skip();
        cutis_character *c = NULL;
        assert_int_equal(cutis_character_load(path, NULL, &c, NULL), CUTIS_OK);
        joint_part *parts = parts_of(c);
        int hips = part_find(parts, c->joint_count, JOINT_HIPS, JOINT_SIDE_NONE);
        if (hips < 0) hips = part_find(parts, c->joint_count, JOINT_SPINE, JOINT_SIDE_NONE);
        float *rest = malloc(24 * (size_t)c->joint_count * sizeof *rest), *pose = rest + 12 * c->joint_count;
        cutis_pose_rest(c, rest);
        double stretch = 0, slip = 0, tilt = 0;
        for (int m = 0; m < (int)(sizeof CAPTURES / sizeof *CAPTURES); m++) {
            const char *capture = test_model(CAPTURES[m]);
            if (!capture) skip();
            char file[512];
            snprintf(file, sizeof file, "%s", capture);
            pair_result r = pair_measure(c, file);
            stretch = fmax(stretch, r.stretch);
            slip = fmax(slip, r.slip);

            cutis_character *moved = NULL;
            assert_int_equal(cutis_character_add_bvh(c, file, NULL, 0, NULL, &moved, NULL), CUTIS_OK);
            for (int f = 0; f < 12 && m != 4; f++) { /* the fifth capture bows */
                cutis_pose_sample(moved, moved->clip_count - 1, 0.1 * f, pose);
                tilt = fmax(tilt, joint_tilt(rest, pose, hips));
            }
            cutis_character_destroy(moved);
        }
        print_message("%-45s stretch %.2f %%, slip %.2f %%, hips tilt by %.0f degrees\n", ANIMALS[i].file,
                      100 * stretch, 100 * slip, tilt);
        bad += stretch > 0.01 || slip > 0.01 || tilt > (ANIMALS[i].legs == 4 ? 1 : 50);
        free(rest);
        free(parts);
        cutis_character_destroy(c);
    }
    assert_int_equal(bad, 0);
}

/* Skin of a hand that hangs on the goal of a control, at the place of the hand, goes with the hand. */
static void goals_go_with_their_hands(void **unused)
{
    (void)unused;
    const char *capture = test_model("cmu-mocap/02_01.bvh");
    if (!capture) skip();
    char file[512];
    snprintf(file, sizeof file, "%s", capture);
    const char *path = test_model("rigs/mesh2motion-human-male/human-male.glb");
    if (!path) skip();
    cutis_character *c = NULL, *moved = NULL;
    assert_int_equal(cutis_character_load(path, NULL, &c, NULL), CUTIS_OK);
    int n = c->joint_count, hand = cutis_character_find_joint(c, "hand_l");
    int spine = cutis_character_find_joint(c, "spine_01");
    assert_true(hand >= 0 && spine >= 0);
    float *rest = malloc(12 * ((size_t)n + 2) * sizeof *rest);
    cutis_pose_rest(c, rest);

    /* a control on the spine, without skin, and its goal, with the skin of the hand */
    cutis_joint *joints = malloc(((size_t)n + 2) * sizeof *joints);
    memcpy(joints, c->joints, (size_t)n * sizeof *joints);
    const float *s = rest + 12 * spine, *h = rest + 12 * hand;
    for (int i = 0; i < 2; i++) {
        cutis_joint *j = &joints[n + i];
        *j = (cutis_joint){.name = i ? "arm_goal" : "arm_ik", .parent = i ? n : spine};
        j->rest.rotation[3] = 1;
        for (int k = 0; k < 3; k++) {
            j->rest.scale[k] = 1;
            for (int a = 0; a < 3 && i; a++) {
                j->rest.translation[k] += s[4 * a + k] * (h[4 * a + 3] - s[4 * a + 3]);
                j->inverse_bind[4 * k + a] = s[4 * a + k];
                j->inverse_bind[4 * k + 3] -= s[4 * a + k] * h[4 * a + 3];
            }
        }
        j->idle = j->rest;
    }
    int count = c->influence_first[c->vertex_count];
    int *influences = malloc((size_t)count * sizeof *influences);
    for (int i = 0; i < count; i++) influences[i] = c->influence_joints[i] == hand ? n + 1 : c->influence_joints[i];
    cutis_character given = *c, *made = NULL;
    given.joint_count = n + 2;
    given.joints = joints;
    given.influence_joints = influences;
    cutis_error error = {0};
    if (cutis_character_create(&given, NULL, &made, &error) != CUTIS_OK) fail_msg("%s", error.text);

    assert_int_equal(cutis_character_add_bvh(made, file, NULL, 0, NULL, &moved, NULL), CUTIS_OK);
    double apart = 0;
    for (int f = 0; f < 10; f++) {
        cutis_pose_sample(moved, moved->clip_count - 1, 0.1 * f, rest);
        apart = fmax(apart, joint_distance(rest, hand, n + 1) / (double)made->size);
    }
    print_message("a hand and its goal are %.1e of the size apart\n", apart);
    assert_true(apart < 1e-3);
    free(rest);
    free(joints);
    free(influences);
    cutis_character_destroy(moved);
    cutis_character_destroy(made);
    cutis_character_destroy(c);
}

/* The clip of one animal moves another, from its own rest pose; a person it does not move. */
static void animals_move_animals_and_no_people(void **unused)
{
    (void)unused;
    static const char *const PAIRS[][2] = {
        {"khronos-Fox/Fox.glb", "mesh2motion-horse/horse.glb"},
        {"rigs/quaternius-cow/Cow.glb", "rigs/mesh2motion-fox-dog/fox-dog.glb"},
        {"khronos-Fox/Fox.glb", "rigs/quaternius-alpaca/Alpaca.glb"},
    };
    for (int i = 0; i < (int)(sizeof PAIRS / sizeof *PAIRS); i++) {
        const char *path = test_model(PAIRS[i][1]);
        if (!path) skip();
        cutis_character *c = NULL, *moved = NULL;
        assert_int_equal(cutis_character_load(path, NULL, &c, NULL), CUTIS_OK);
        joint_part *parts = parts_of(c);
        int hips = part_find(parts, c->joint_count, JOINT_HIPS, JOINT_SIDE_NONE);
        float *rest = malloc(24 * (size_t)c->joint_count * sizeof *rest), *pose = rest + 12 * c->joint_count;
        cutis_pose_rest(c, rest);
        path = test_model(PAIRS[i][0]);
        if (!path) skip();
        assert_int_equal(cutis_character_add_bvh(c, path, NULL, 0, NULL, &moved, NULL), CUTIS_OK);
        double tilt = 0;
        for (int f = 0; f < 10; f++) {
            cutis_pose_sample(moved, moved->clip_count - 1, 0.07 * f, pose);
            tilt = fmax(tilt, joint_tilt(rest, pose, hips));
        }
        print_message("%s on %s: hips tilt by %.0f degrees\n", PAIRS[i][0], PAIRS[i][1], tilt);
        assert_true(tilt < 25);
        free(rest);
        free(parts);
        cutis_character_destroy(moved);
        cutis_character_destroy(c);
    }

    /* a person on two legs */
    const char *path = test_model("khronos-CesiumMan/CesiumMan.glb");
    if (!path) skip();
    cutis_character *c = NULL, *moved = NULL;
    assert_int_equal(cutis_character_load(path, NULL, &c, NULL), CUTIS_OK);
    path = test_model("rigs/quaternius-cow/Cow.glb");
    if (!path) skip();
    cutis_error error = {0};
    assert_int_equal(cutis_character_add_bvh(c, path, NULL, 0, NULL, &moved, &error), CUTIS_ERROR_DATA);
    assert_non_null(strstr(error.text, "on four legs"));
    cutis_character_destroy(c);
}

/* Every capture begins with a T pose, at any frame rate: that frame is left out, and no second one is. */
static void captures_lose_only_their_calibration_pose(void **unused)
{
    (void)unused;
    static const char *const NAMES[] = {"02_01", "02_03", "02_04", "07_01", "16_03", "22_16", "55_02"};
    for (int i = 0; i < (int)(sizeof NAMES / sizeof *NAMES); i++) {
        char name[64];
        snprintf(name, sizeof name, "cmu-mocap/%s.bvh", NAMES[i]);
        const char *path = test_model(name);
        if (!path) skip();
        for (int step = 1; step <= 5; step += 2) {
            long size;
            char *text = file_text(path, &size);
            cutis_error error;
            bvh_reader r = {.name = name, .cursor = text, .end = text + size, .line = 1, .error = &error};
            r.memory = arena_create(NULL);
            warning_list warnings = {.memory = &r.memory};
            assert_int_equal(bvh_read(&r), CUTIS_OK);

            /* 120, 40 and 24 frames per second */
            int count = 1;
            for (int f = 1; f < r.frame_count; f += step, count++)
                memmove(r.values + (size_t)count * (size_t)r.channel_count,
                        r.values + (size_t)f * (size_t)r.channel_count, (size_t)r.channel_count * sizeof *r.values);
            r.frame_count = count;
            for (int again = 0; again < 2; again++) {
                assert_int_equal(bvh_drop_calibration(&r, &warnings), CUTIS_OK);
                assert_int_equal(r.frame_count, count - 1);
            }
            arena_destroy(&r.memory);
            free(text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(captures_lose_only_their_calibration_pose),
                                       cmocka_unit_test(shape_tells_what_names_tell),
                                       cmocka_unit_test(bones_keep_their_length_and_feet_stand),
                                       cmocka_unit_test(legs_bend_as_the_capture_does),
                                       cmocka_unit_test(walkers_stand_upright),
                                       cmocka_unit_test(hips_may_lie_anywhere),
                                       cmocka_unit_test(limbs_of_one_joint_hang),
                                       cmocka_unit_test(arms_point_as_the_capture_does),
                                       cmocka_unit_test(turned_characters_walk_the_same),
                                       cmocka_unit_test(captures_may_be_told_in_any_way),
                                       cmocka_unit_test(animals_keep_their_posture),
                                       cmocka_unit_test(goals_go_with_their_hands),
                                       cmocka_unit_test(animals_move_animals_and_no_people)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
