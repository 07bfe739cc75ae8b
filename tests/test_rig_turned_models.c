/*
 * Bodies turned, posed, noisy, cut, thinned out and laid on their backs get the skeleton of the same body as it was;
 * limbs hold no part of the chest. With a count as its argument the program tries that many random bodies, from a
 * number on and of files of one's own where these are given, and prints how far each joint moves:
 *
 *     build/release/bin/test_rig_turned_models 200
 *     build/release/bin/test_rig_turned_models 40 0 one.glb two.glb
 */
#include "testing.h"

#include "math/math3.h"
#include "mesh_shapes.h"

static const char *const BODIES[] = {
    "makehuman-cmu-average/mh_average.glb",
    "rigs/makehuman-woman-average/mh_woman_average.glb",
    "rigs/quaternius-man-farmer/Farmer.glb",
    "mesh2motion-horse/horse.glb",
    "rigs/mesh2motion-human-male/human-male.glb",
    "rigs/quaternius-woman-formal/Formal.glb",
    "rigs/mesh2motion-fox-dog/fox-dog.glb",
    "khronos-CesiumMan/CesiumMan.glb",
    "rigs/makehuman-child-8/mh_child_8.glb",
    "rigs/quaternius-knight/KnightCharacter.glb",
    "rigs/quaternius-cow/Cow.glb",
    "makehuman-cmu-heavy/mh_heavy.glb",
    "rigs/mesh2motion-human-female/human-female.glb",
    "rigs/quaternius-man-adventurer/Adventurer.glb",
    "rigs/mesh2motion-fox-cat/fox-cat.glb",
    "rigs/makehuman-man-old/mh_man_old.glb",
};
enum { BODY_COUNT = sizeof BODIES / sizeof *BODIES, BODY_LIMIT = 128, SHORT_COUNT = 12, JOINT_LIMIT = 96 };

static int case_count = SHORT_COUNT;
static int case_first = 0;
static int given_count = 0;
static char **given_files = NULL;

/* ---- how far each kind of joint moves ---- */

static const char *const KINDS[] = {"hips",    "chest", "neck",  "head", "upper_arm",
                                    "forearm", "hand",  "thigh", "shin", "foot"};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

typedef struct kind_count {
    int count, far; /* far: by 3 % or more */
    double sum, worst;
} kind_count;
static kind_count kind_counts[KIND_COUNT];

/* The kind of a major joint; -1: fingers, ears and tails, which noise and cuts spoil. */
static int joint_kind(const char *name)
{
    for (int k = 0; k < KIND_COUNT; k++)
        if (strncmp(name, KINDS[k], strlen(KINDS[k])) == 0) return k;
    return -1;
}

static void joint_count(const char *name, double away)
{
    kind_count *kind = &kind_counts[joint_kind(name)];
    kind->count++;
    kind->far += away >= 0.03;
    kind->sum += away;
    kind->worst = fmax(kind->worst, away);
}

static void joints_print(void)
{
    for (int k = 0; k < KIND_COUNT; k++) {
        const kind_count *kind = &kind_counts[k];
        if (kind->count == 0) continue;
        print_message("    %-10s mean %.2f, worst %4.1f %%, %d of %d by 3 %% or more\n", KINDS[k],
                      100 * kind->sum / kind->count, 100 * kind->worst, kind->far, kind->count);
    }
}

/* ---- changes ---- */

typedef enum pose_kind {
    POSE_REST,
    POSE_ARMS_DOWN,
    POSE_RAISED,
    POSE_WALK,
    POSE_SIT,
    POSE_RANDOM,
    POSE_KINDS
} pose_kind;
static const char *const POSE_NAMES[] = {"rest", "arms down", "one arm raised", "walk", "sit", "random"};

typedef struct change {
    pose_kind pose;
    double yaw;   /* radians */
    double noise; /* of the size */
    double merge; /* grid that points are merged on, of the size; 0: none */
    double cut;   /* height of a cut through all triangles that leaves a gap, of the height; 0: none */
    bool lying;   /* +Z up */
} change;

static double random_between(double low, double high) { return low + (high - low) * (0.5 + 0.5 * shape_random()); }

static change change_random(int number)
{
    /* numbers in a row give unlike bodies */
    uint64_t mixed = 0x9E3779B97F4A7C15u * (uint64_t)(number + 1);
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    shape_random_state = mixed ^ mixed >> 31;
    change c = {.yaw = 3.14159265 * shape_random()};
    c.pose = number % 2 ? (pose_kind)(1 + number / 2 % (POSE_KINDS - 1)) : POSE_REST;
    if (random_between(0, 1) < 0.4) c.noise = random_between(0, 0.0015);
    if (random_between(0, 1) < 0.25) c.merge = random_between(0.004, 0.009);
    if (random_between(0, 1) < 0.3) c.cut = random_between(0.3, 0.85);
    c.lying = random_between(0, 1) < 0.15;
    return c;
}

static cutis_rig *rig_make(const cutis_character *c)
{
    cutis_rig_def def = cutis_rig_def_default();
    def.character = c;
    def.no_curves = true;
    cutis_rig *rig = NULL;
    cutis_error error;
    if (cutis_rig_create(&def, &rig, &error) != CUTIS_OK) fail_msg("%s", error.text);
    return rig;
}

static vec3 place_change(const change *how, vec3 p)
{
    p = quat_rotate(quat_axis_angle((vec3){0, 1, 0}, how->yaw), p);
    return how->lying ? (vec3){p.x, -p.z, p.y} : p;
}

/* The bare mesh, changed. */
static cutis_character *body_change(const cutis_character *c, const float *places, const change *how)
{
    int corners = 3 * c->triangle_count;
    int n = how->cut > 0 ? 2 * c->vertex_count : c->vertex_count;
    float *positions = malloc(3 * (size_t)n * sizeof *positions);
    float *noise = malloc(3 * (size_t)c->point_count * sizeof *noise);
    int *first = malloc(((size_t)c->triangle_count + 1) * sizeof *first);
    int *vertices = malloc((size_t)corners * sizeof *vertices);
    for (int i = 0; i < 3 * c->point_count; i++) noise[i] = (float)(how->noise * c->size * shape_random());
    for (int v = 0; v < n; v++) {
        int from = v % c->vertex_count;
        float p[3];
        memcpy(p, places + 3 * (size_t)from, sizeof p);
        for (int k = 0; k < 3; k++) {
            double grid = how->merge * c->size;
            if (how->merge > 0) p[k] = (float)(grid * floor(p[k] / grid + 0.5));
            p[k] += noise[3 * c->vertex_points[from] + k];
        }
        if (v >= c->vertex_count) p[1] += 0.002f * c->size;
        vec3_store(positions + 3 * (size_t)v, place_change(how, vec3_load(p)));
    }

    /* what lies above the cut has vertices of its own */
    double height = c->bounds_min[1] + how->cut * (c->bounds_max[1] - c->bounds_min[1]);
    for (int t = 0; t <= c->triangle_count; t++) first[t] = 3 * t;
    for (int i = 0; i < corners; i++) {
        bool above = how->cut > 0 && places[3 * (size_t)c->triangles[i - i % 3] + 1] > height;
        vertices[i] = c->triangles[i] + (above ? c->vertex_count : 0);
    }
    cutis_character given = {.name = c->name,
                             .vertex_count = n,
                             .positions = positions,
                             .face_count = c->triangle_count,
                             .face_first = first,
                             .corners = vertices};
    cutis_character *made = NULL;
    cutis_error error;
    if (cutis_character_create(&given, NULL, &made, &error) != CUTIS_OK) fail_msg("%s", error.text);
    free(positions);
    free(noise);
    free(first);
    free(vertices);
    return made;
}

/* ---- poses of the skeleton that was found ---- */

static vec3 joint_place(const float *pose, int joint)
{
    return (vec3){pose[12 * joint + 3], pose[12 * joint + 7], pose[12 * joint + 11]};
}

/* The turn of a joint, in the axes of the body: x to its left, y up, z ahead. */
static quat joint_turn(const cutis_character *c, const float *rest, int joint, pose_kind kind, const double *draw)
{
    const char *name = c->joints[joint].name;
    size_t length = strlen(name);
    double side = length > 2 && name[length - 1] == 'r' ? -1 : 1;
    double lift = 0;  /* arms upwards */
    double swing = 0; /* forwards */
    double bend = 0;
    const double degree = 3.14159265358979 / 180;
    double step = kind == POSE_WALK ? side * draw[0] : 0;
    bool person = cutis_character_find_joint(c, "toe_l") >= 0 && cutis_character_find_joint(c, "shoulder_l") >= 0;
    if (strncmp(name, "upper_arm", 9) == 0 && person) {
        int hand = cutis_character_find_joint(c, side > 0 ? "hand_l" : "hand_r");
        vec3 arm = vec3_sub(joint_place(rest, hand), joint_place(rest, joint));
        double now = atan2(arm.y, side * arm.x) / degree;
        double wanted = now;
        if (kind == POSE_ARMS_DOWN || kind == POSE_WALK) wanted = -68 + 6 * draw[1];
        if (kind == POSE_RAISED) wanted = side * draw[2] > 0 ? 60 + 15 * draw[1] : -55;
        if (kind == POSE_SIT) wanted = -50;
        if (kind == POSE_RANDOM) wanted = now - 25 + 35 * draw[side > 0 ? 1 : 3];
        lift = fmax(wanted, -72) - now;
        swing = -25 * step + (kind == POSE_RANDOM ? 20 * draw[side > 0 ? 4 : 5] : 0);
    } else if (strncmp(name, "upper_arm", 9) == 0) {
        swing = kind == POSE_REST ? 0 : 18 * (side > 0 ? draw[1] : draw[3]);
    } else if (strncmp(name, "forearm", 7) == 0 && person) {
        if (kind == POSE_WALK) bend = 15;
        if (kind == POSE_SIT) bend = 30;
        if (kind == POSE_RANDOM) bend = 25 + 25 * draw[side > 0 ? 6 : 7];
    } else if (strncmp(name, "thigh", 5) == 0) {
        swing = 25 * step;
        if (kind == POSE_SIT && person) swing = 70 + 10 * draw[0];
        if (kind == POSE_RANDOM) swing = 25 * draw[side > 0 ? 8 : 9];
        if (!person) swing = kind == POSE_REST ? 0 : 15 * (side > 0 ? draw[8] : draw[9]);
    } else if (strncmp(name, "shin", 4) == 0 && person) {
        if (kind == POSE_WALK) bend = step < 0 ? 30 : 5;
        if (kind == POSE_SIT) bend = 75;
        if (kind == POSE_RANDOM) bend = 20 + 20 * draw[side > 0 ? 10 : 11];
        swing = -bend;
        bend = 0;
    } else if (strcmp(name, "head") == 0) {
        swing = kind == POSE_RANDOM ? -12 * draw[12] : 0;
    }

    /* arms bend forwards in the plane that they and the way ahead make */
    quat turn = quat_axis_angle((vec3){-1, 0, 0}, swing * degree);
    turn = quat_multiply(turn, quat_axis_angle((vec3){0, 0, 1}, side * lift * degree));
    if (bend > 0) {
        int hand = cutis_character_find_joint(c, side > 0 ? "hand_l" : "hand_r");
        vec3 arm = vec3_sub(joint_place(rest, hand), joint_place(rest, joint));
        vec3 axis = vec3_normalize(vec3_cross(arm, (vec3){0, 0, 1}));
        turn = quat_multiply(turn, quat_axis_angle(axis, bend * degree));
    }
    return turn;
}

/* Place the joints of a pose; pose: (joint_count x 12). Joints of a rig that was made have no rotation at rest. */
static void pose_make(const cutis_character *c, pose_kind kind, float *pose)
{
    float *rest = malloc(12 * (size_t)c->joint_count * sizeof *rest);
    quat turns[JOINT_LIMIT];
    double draw[13];
    for (int k = 0; k < 13; k++) draw[k] = shape_random();
    cutis_pose_rest(c, rest);
    cutis_pose_rest(c, pose);
    for (int j = 0; j < c->joint_count; j++) {
        int parent = c->joints[j].parent;
        vec3 at = joint_place(rest, j);
        turns[j] = joint_turn(c, rest, j, kind, draw);
        if (parent >= 0) {
            turns[j] = quat_multiply(turns[parent], turns[j]);
            vec3 arm = vec3_sub(at, joint_place(rest, parent));
            at = vec3_add(joint_place(pose, parent), quat_rotate(turns[parent], arm));
        }
        mat34 made = mat34_compose(at, turns[j], (vec3){1, 1, 1});
        memcpy(pose + 12 * (size_t)j, made.m, sizeof made.m);
    }
    free(rest);
}

/* ---- the comparison ---- */

typedef struct difference {
    bool same;          /* the same template with the same major joints */
    double mean, worst; /* of the longest side */
    char at[32];
} difference;

static difference rigs_differ(const cutis_rig *was, const float *pose, const change *how, const cutis_rig *is)
{
    const cutis_character *a = was->character;
    const cutis_character *b = is->character;
    difference d = {.same = strcmp(was->skeleton, is->skeleton) == 0};
    float *rest = malloc(12 * (size_t)b->joint_count * sizeof *rest);
    cutis_pose_rest(b, rest);
    double longest = 0;
    int count = 0;
    for (int k = 0; k < 3; k++) longest = fmax(longest, (double)a->bounds_max[k] - a->bounds_min[k]);
    for (int j = 0; j < a->joint_count && d.same; j++) {
        if (joint_kind(a->joints[j].name) < 0) continue;
        int i = cutis_character_find_joint(b, a->joints[j].name);
        d.same = d.same && i >= 0;
        if (i < 0) continue;
        double away = vec3_distance(place_change(how, joint_place(pose, j)), joint_place(rest, i)) / longest;
        d.mean += away;
        count++;
        joint_count(a->joints[j].name, away);
        if (away >= 0.03) print_message("        %s %.1f %%\n", a->joints[j].name, 100 * away);
        if (away > d.worst) snprintf(d.at, sizeof d.at, "%s", a->joints[j].name);
        d.worst = fmax(d.worst, away);
    }
    d.mean /= fmax(count, 1);
    free(rest);
    return d;
}

static void changed_bodies_get_the_same_skeleton(void **unused)
{
    (void)unused;
    cutis_rig *rigs[BODY_LIMIT] = {NULL};
    cutis_character *bare[BODY_LIMIT] = {NULL};
    int body_count = given_count > 0 ? given_count : BODY_COUNT;
    int same = 0;
    int near = 0;
    int near_mean = 0;
    for (int n = case_first; n < case_count; n++) {
        int body = n % body_count;
        const char *file = given_count > 0 ? given_files[body] : BODIES[body];
        if (!bare[body]) {
            const char *path = given_count > 0 ? file : test_model(file);
            cutis_character *loaded = NULL;
            if (!path) skip();
            assert_int_equal(cutis_character_load(path, NULL, &loaded, NULL), CUTIS_OK);
            bare[body] = body_change(loaded, loaded->positions, &(change){0});
            rigs[body] = rig_make(bare[body]);
            cutis_character_destroy(loaded);
        }
        const cutis_character *c = rigs[body]->character;
        float *pose = malloc(12 * (size_t)c->joint_count * sizeof *pose);
        change how = change_random(n / body_count * 31 + n);
        pose_make(c, how.pose, pose);
        cutis_model_def def = {.character = c, .solver = "lbs"};
        cutis_model *model = test_build_def(def);
        cutis_state *state = test_state(model, NULL);
        cutis_state_reset(model, state, pose);
        cutis_character *changed = body_change(c, cutis_state_positions(model, state), &how);
        cutis_rig *is = rig_make(changed);
        difference d = rigs_differ(rigs[body], pose, &how, is);
        print_message("%3d %-18.18s %-14s yaw %4.0f%s%s%s%s: %s %.2f, mean %.1f, worst %.1f %% %s%s\n", n,
                      strrchr(file, '/') ? strrchr(file, '/') + 1 : file, POSE_NAMES[how.pose], how.yaw * 57.3,
                      how.noise > 0 ? " noisy" : "", how.merge > 0 ? " coarse" : "", how.cut > 0 ? " cut" : "",
                      how.lying ? " z-up" : "", is->skeleton, (double)is->score, 100 * d.mean, 100 * d.worst, d.at,
                      d.same ? "" : " OTHER");
        same += d.same;
        near += d.same && d.worst < 0.03;
        near_mean += d.same && d.mean < 0.03;
        cutis_rig_destroy(is);
        cutis_character_destroy(changed);
        cutis_state_destroy(state);
        cutis_model_destroy(model);
        free(pose);
    }
    for (int k = 0; k < BODY_LIMIT; k++) {
        cutis_rig_destroy(rigs[k]);
        cutis_character_destroy(bare[k]);
    }
    int count = case_count - case_first;
    joints_print();
    print_message("%d of %d the same, mean within 3 %% in %d, every joint in %d\n", same, count, near_mean, near);
    assert_true(same >= (99 * count) / 100);
    assert_true(near_mean >= (9 * count) / 10);

    /* a few bodies are too few for a share */
    if (given_count == 0) assert_true(near >= ((count < 100 ? 80 : 95) * count) / 100);
}

/* Arms hold at most 2 % of the sternum, and nothing across the middle. */
static void arms_leave_the_chest_alone(void **unused)
{
    (void)unused;
    cutis_character *man = test_zoo("man", 1);
    cutis_rig *rig = rig_make(man);
    const cutis_character *c = rig->character;
    float *rest = malloc(12 * (size_t)c->joint_count * sizeof *rest);
    cutis_pose_rest(c, rest);
    int arms[2] = {cutis_character_find_joint(c, "upper_arm_l"), cutis_character_find_joint(c, "upper_arm_r")};
    double width = (double)rest[12 * arms[0] + 3] - rest[12 * arms[1] + 3];
    double middle = 0.5 * ((double)rest[12 * arms[0] + 3] + rest[12 * arms[1] + 3]);
    for (int v = 0; v < c->vertex_count; v++)
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
            double aside = (c->positions[3 * v] - middle) / width;
            int j = c->influence_joints[i];
            if (j != arms[0] && j != arms[1]) continue;
            if (fabs(aside) < 0.1) assert_true(c->influence_weights[i] <= 0.02f);
            if (aside * (j == arms[0] ? 1 : -1) < -0.05) assert_true(c->influence_weights[i] == 0);
        }
    free(rest);
    cutis_rig_destroy(rig);
    cutis_character_destroy(man);
}

int main(int count, char **arguments)
{
    if (count > 1) case_count = atoi(arguments[1]);
    if (count > 2) case_first = atoi(arguments[2]);
    if (count > 3) {
        given_files = arguments + 3;
        given_count = count - 3 < BODY_LIMIT ? count - 3 : BODY_LIMIT;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changed_bodies_get_the_same_skeleton),
        cmocka_unit_test(arms_leave_the_chest_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
