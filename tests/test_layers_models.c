/*
 * Solver layers on characters that others made, without a word of tuning. Skips where ../shared/models is not there.
 * scripts/layers_models.sh runs whole clips and prints the table of docs/reference/solvers/layers.md; here are short
 * pieces.
 */
#include "testing.h"

#include "math/math3.h"

typedef struct model_case {
    const char *file, *clip;
    double from, seconds; /* the piece of the clip, which a reset leads into */
    double volume_error;  /* at most; NAN: open */
} model_case;

/* A motion that begins inside a clip. */
typedef struct piece_motion {
    cutis_clip_motion clip;
    double from;
} piece_motion;

static void piece_sample(void *context, double time, float *joints)
{
    piece_motion *piece = context;
    cutis_clip_motion_sample(&piece->clip, piece->from + time, joints);
}

static cutis_character *character_load(const char *file)
{
    const char *path = test_model(file);
    if (!path) return NULL;
    cutis_character *character = NULL;
    cutis_error error = {0};
    if (cutis_character_load(path, NULL, &character, &error) != CUTIS_OK) print_error("%s\n", error.text);
    assert_non_null(character);
    return character;
}

static int clip_find(const cutis_character *character, const char *name)
{
    for (int i = 0; i < character->clip_count; i++)
        if (strcmp(character->clips[i].name, name) == 0) return i;
    fail_msg("there is no clip %s", name);
    return -1;
}

/* On the drawn mesh: a body of its own keeps apart its own surface, and what is drawn up to an edge of it. */
static void state_make(const cutis_character *character, const char *solver, int detail, cutis_model **model,
                       cutis_state **state)
{
    cutis_error error = {0};
    cutis_model_def def = cutis_model_def_default();
    def.character = character;
    def.solver = solver;
    def.detail = detail;
    assert_int_equal(cutis_model_build(&def, model, &error), CUTIS_OK);
    assert_int_equal(cutis_state_create(*model, NULL, state, &error), CUTIS_OK);
}

static cutis_quality frames_measure(const cutis_character *character, const char *name, const char *solver,
                                    const float *positions, int frames, double fps)
{
    cutis_quality quality;
    assert_int_equal(cutis_measure(character, positions, frames, fps, NULL, NULL, &quality, NULL), CUTIS_OK);
    print_message("%s %s, %s: volume error %.3f %%, %d intersecting pairs, %d at rest\n", character->name, name, solver,
                  100 * quality.volume_error_max, quality.self_intersections_max, quality.self_intersections_rest);
    return quality;
}

/* No intersections, be there some at rest or not, and the volume. */
static void quality_hold(cutis_quality quality, double volume_error)
{
    assert_int_equal(quality.non_finite, 0);
    assert_int_equal(quality.self_intersections_max, 0);
    if (!isnan(volume_error)) assert_true(quality.volume_error_max <= volume_error);
}

/* Seconds between a reset and what is measured. */
#define SETTLE 0.25

/* The piece of the clip; its last `shown` frames are measured (0: all). */
static cutis_quality piece_run(const cutis_character *character, const model_case *c, int detail, int shown)
{
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    state_make(character, "layers", detail, &model, &state);
    piece_motion piece = {{character, clip_find(character, c->clip), 0}, c->from - SETTLE};
    float *joints = malloc((size_t)character->joint_count * 12 * sizeof(float));
    piece_sample(&piece, SETTLE, joints);
    cutis_state_reset(model, state, joints);

    /* flesh is not yet settled after a reset into a pose: a quarter of a second in it */
    cutis_step_input still = {.joints = joints};
    cutis_state_step(model, state, &still, SETTLE);
    const double fps = 30;
    int frames = (int)(c->seconds * fps) + 1;
    size_t floats = 3 * (size_t)character->vertex_count;
    float *positions = malloc((size_t)frames * floats * sizeof(float));
    cutis_step_input input = {.motion = {&piece, piece_sample}};
    for (int i = 0; i < frames; i++) {
        if (i > 0) cutis_state_step(model, state, &input, SETTLE + i / fps - cutis_state_time(state));
        memcpy(positions + (size_t)i * floats, cutis_state_positions(model, state), floats * sizeof(float));
    }

    int first = shown > 0 ? frames - shown : 0;
    cutis_quality quality =
        frames_measure(character, c->clip, "layers", positions + (size_t)first * floats, frames - first, fps);
    free(positions);
    free(joints);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return quality;
}

static void piece_hold(const model_case *c)
{
    cutis_character *character = character_load(c->file);
    if (!character) return;
    quality_hold(piece_run(character, c, CUTIS_DETAIL_DRAWN, 0), c->volume_error);
    cutis_character_destroy(character);
}

static void small_characters_keep_clear_of_themselves(void **unused)
{
    (void)unused;
    const model_case cases[] = {
        {"khronos-CesiumMan/CesiumMan.glb", "clip_0", 0.2, 0.5, 0.015},
        {"khronos-Fox/Fox.glb", "Run", 0, 1.15, 0.015},
        {"mesh2motion-horse/horse.glb", "Run", 0, 0.3, 0.015},
        /* Open; the mirrored halves of its jaw cross at rest. */
        {"mesh2motion-kaiju/kaiju.glb", "Walk", 0, 0.7, NAN},
        {"mesh2motion-kaiju/kaiju.glb", "Roar", 1, 0.7, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) piece_hold(&cases[i]);
}

/* The captured motion drives the right thumb into the lower back; toes pass through each other at rest. */
static void thumb_in_the_back_stays_out_of_it(void **unused)
{
    (void)unused;
    const model_case run = {"makehuman-cmu-average/mh_average.glb", "run", 0.6, 0.14, 0.015};
    piece_hold(&run);
}

/*
 * A jump's landing drives the fingers into the thighs, and contact lets go there. It must not let go of the arms, which
 * skinning has inside of the trunk all the time: after the landing linear skinning has more than 400 pairs.
 */
static void fingers_in_the_thighs_let_go_of_no_arm(void **unused)
{
    (void)unused;
    cutis_character *character = character_load("makehuman-cmu-heavy/mh_heavy.glb");
    if (!character) return;
    const model_case landing = {"", "high_jump", 1.65, 0.6, 0.01};
    cutis_quality quality = piece_run(character, &landing, 0, 1);
    assert_int_equal(quality.non_finite, 0);
    assert_true(quality.volume_error_max <= landing.volume_error);
    assert_true(quality.self_intersections_max <= quality.self_intersections_rest + 20);
    cutis_character_destroy(character);
}

/* The report explains why: it names the thumb. */
static void thumb_in_the_back_is_named(void **unused)
{
    (void)unused;
    cutis_character *character = character_load("makehuman-cmu-average/mh_average.glb");
    if (!character) return;
    enum { FRAMES = 8, ENTRIES = 32 };
    int clip = clip_find(character, "run"), count = 0;
    size_t floats = (size_t)character->joint_count * 12;
    float *poses = malloc(FRAMES * floats * sizeof(float));
    for (int i = 0; i < FRAMES; i++) cutis_pose_sample(character, clip, 0.6 + i / 30.0, poses + (size_t)i * floats);
    cutis_bone_in_flesh entries[ENTRIES];
    assert_int_equal(cutis_measure_bones(character, poses, FRAMES, NULL, NULL, entries, ENTRIES, &count, NULL),
                     CUTIS_OK);
    bool named = false;
    for (int i = 0; i < count && i < ENTRIES; i++) {
        const char *joint = character->joints[entries[i].joint].name, *into = character->joints[entries[i].into].name;
        print_message("%s in %s: %d frames, %.2f %% of the size\n", joint, into, entries[i].frames,
                      100 * entries[i].depth);
        assert_true(entries[i].frames > 0 && entries[i].frames <= FRAMES && entries[i].depth > 0);
        named = named || (strcmp(joint, "RThumb") == 0 && strcmp(into, "LowerBack") == 0);
    }
    assert_true(named);
    free(poses);
    cutis_character_destroy(character);
}

/*
 * The pose of a hand of WebXR's joints, which all hang on one node, with its fingers curled by a share of a fist. A
 * joint bends about its own x axis, and takes along what is beyond it.
 */
static void fist_pose(const cutis_character *character, const float *rest, double share, float *joints)
{
    static const char *const fingers[] = {"index-finger", "middle-finger", "ring-finger", "pinky-finger", "thumb"};
    static const char *const parts[] = {"metacarpal", "phalanx-proximal", "phalanx-intermediate", "phalanx-distal",
                                        "tip"};
    static const double finger_angles[] = {0, 80, 95, 60, 0}, thumb_angles[] = {15, 20, 0, 40, 0};
    memcpy(joints, rest, (size_t)character->joint_count * 12 * sizeof(float));
    for (int finger = 0; finger < 5; finger++) {
        mat34 carried = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}}; /* how the joints before move those beyond */
        for (int part = 0; part < 5; part++) {
            char name[64];
            snprintf(name, sizeof name, "%s-%s", fingers[finger], parts[part]);
            int j = cutis_character_find_joint(character, name);
            if (j < 0) continue; /* a thumb has no intermediate phalanx */
            double angle = -share * (finger < 4 ? finger_angles : thumb_angles)[part] * 3.14159265358979 / 180;
            float c = (float)cos(angle), s = (float)sin(angle);
            mat34 turn = {{1, 0, 0, 0, 0, c, -s, 0, 0, s, c, 0}}, own, inverse;
            memcpy(own.m, rest + 12 * j, sizeof own.m);
            mat34 pose = mat34_multiply(mat34_multiply(carried, own), turn);
            assert_true(mat34_inverse(own, &inverse));
            carried = mat34_multiply(pose, inverse);
            memcpy(joints + 12 * j, pose.m, sizeof pose.m);
        }
    }
}

enum { FIST_CLOSING = 24, FIST_FRAMES = 34 };

/* Stepped live, from the pose the hand is in to a fist, and held there. */
static cutis_quality fist_make(const cutis_character *character, const char *solver)
{
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    state_make(character, solver, CUTIS_DETAIL_DRAWN, &model, &state);
    size_t floats = 3 * (size_t)character->vertex_count, joint_floats = (size_t)character->joint_count * 12;
    float *positions = malloc(FIST_FRAMES * floats * sizeof(float)), *rest = malloc(2 * joint_floats * sizeof(float));
    float *joints = rest + joint_floats, moved = 0;
    cutis_pose_rest(character, rest);
    for (int f = 0; f < FIST_FRAMES; f++) {
        fist_pose(character, rest, fmin((double)f / FIST_CLOSING, 1), joints);
        const cutis_step_input input = {.joints = joints};
        cutis_state_step(model, state, &input, f ? 1 / 30.0 : 0);
        memcpy(positions + (size_t)f * floats, cutis_state_positions(model, state), floats * sizeof(float));
    }
    for (size_t v = 0; v < floats; v++)
        moved = fmaxf(moved, fabsf(positions[(FIST_FRAMES - 1) * floats + v] - positions[v]));
    assert_true(moved > 0.25f * character->size); /* the fingertips have gone where they were told */
    cutis_quality quality = frames_measure(character, "fist", solver, positions, FIST_FRAMES, 30);
    free(positions);
    free(rest);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    return quality;
}

/* Hands come without clips. */
static void hands_make_a_fist(void **unused)
{
    (void)unused;
    static const char *const files[] = {"webxr-generic-hand/left.glb", "webxr-generic-hand/right.glb"};
    for (int i = 0; i < 2; i++) {
        cutis_character *character = character_load(files[i]);
        if (!character) return;
        assert_true(fist_make(character, "lbs").self_intersections_max > 100);
        quality_hold(fist_make(character, "layers"), 0.015);
        cutis_character_destroy(character);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_characters_keep_clear_of_themselves), cmocka_unit_test(hands_make_a_fist),
        cmocka_unit_test(thumb_in_the_back_stays_out_of_it),         cmocka_unit_test(thumb_in_the_back_is_named),
        cmocka_unit_test(fingers_in_the_thighs_let_go_of_no_arm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
