/*
 * Solver layers on characters that others made, without a word of tuning. Skips where ../shared/models is not there.
 * scripts/layers_models.sh runs whole clips and prints the table of docs/solvers/layers.md; here are short pieces.
 */
#include "testing.h"

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

/* No more intersections than at rest, and the volume, at every frame of the piece. */
static void piece_hold(const model_case *c)
{
    cutis_character *character = character_load(c->file);
    if (!character) return;
    cutis_error error = {0};
    cutis_model_def def = cutis_model_def_default();
    def.character = character;
    def.solver = "layers";
    cutis_model *model = NULL;
    cutis_state *state = NULL;
    assert_int_equal(cutis_model_build(&def, &model, &error), CUTIS_OK);
    assert_int_equal(cutis_state_create(model, NULL, &state, &error), CUTIS_OK);
    piece_motion piece = {{character, clip_find(character, c->clip), 0}, c->from};
    float *joints = malloc((size_t)character->joint_count * 12 * sizeof(float));
    piece_sample(&piece, 0, joints);
    cutis_state_reset(model, state, joints);
    const double fps = 30;
    int frames = (int)(c->seconds * fps) + 1;
    size_t floats = 3 * (size_t)character->vertex_count;
    float *positions = malloc((size_t)frames * floats * sizeof(float));
    cutis_step_input input = {.motion = {&piece, piece_sample}};
    for (int i = 0; i < frames; i++) {
        if (i > 0) cutis_state_step(model, state, &input, i / fps - cutis_state_time(state));
        memcpy(positions + (size_t)i * floats, cutis_state_positions(model, state), floats * sizeof(float));
    }
    cutis_quality quality;
    assert_int_equal(cutis_measure(character, positions, frames, fps, NULL, NULL, &quality, &error), CUTIS_OK);
    print_message("%s %s: volume error %.3f %%, %d intersecting pairs, %d at rest\n", c->file, c->clip,
                  100 * quality.volume_error_max, quality.self_intersections_max, quality.self_intersections_rest);
    assert_int_equal(quality.non_finite, 0);
    assert_true(quality.self_intersections_max <= quality.self_intersections_rest);
    if (!isnan(c->volume_error)) assert_true(quality.volume_error_max <= c->volume_error);
    free(positions);
    free(joints);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(character);
}

static void small_characters_keep_clear_of_themselves(void **unused)
{
    (void)unused;
    const model_case cases[] = {
        {"khronos-CesiumMan/CesiumMan.glb", "clip_0", 0.2, 0.5, 0.015},
        {"khronos-Fox/Fox.glb", "Run", 0, 1.15, 0.015},
        {"mesh2motion-horse/horse.glb", "Run", 0, 0.3, 0.015},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) piece_hold(&cases[i]);
}

/* The captured motion drives the right thumb into the lower back; toes pass through each other at rest already. */
static void thumb_in_the_back_stays_out_of_it(void **unused)
{
    (void)unused;
    const model_case run = {"makehuman-cmu-average/mh_average.glb", "run", 0.6, 0.14, 0.015};
    piece_hold(&run);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_characters_keep_clear_of_themselves),
        cmocka_unit_test(thumb_in_the_back_stays_out_of_it),
        cmocka_unit_test(thumb_in_the_back_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
