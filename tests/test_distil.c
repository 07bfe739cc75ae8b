/*
 * test_distil.c: learned flesh: its players, its fit, its limits. Teachers are cheap solvers on characters of the zoo.
 */
#include "testing.h"

#include <unistd.h>

#include "../players/cutis_live.h"

/* A small distillation of a character of the zoo. */
static cutis_distil_def small_def(const cutis_character *character, const char *solver)
{
    return (cutis_distil_def){.character = character, .solver = solver, .poses = 16, .points = 80, .threads = 2};
}

static cutis_character *make_arm(void)
{
    cutis_character *character;
    assert_int_equal(cutis_zoo_make("arm", 0.4, NULL, &character, NULL), CUTIS_OK);
    return character;
}

static cutis_distil_result *distil(const cutis_distil_def *def)
{
    cutis_distil_result *result;
    cutis_error error = {0};
    if (cutis_distil(def, &result, &error) != CUTIS_OK) fail_msg("%s", error.text);
    return result;
}

/* A player over data, with its memory. */
typedef struct player {
    cutis_live live;
    float *memory, *skin;
} player;

static player player_open(const cutis_distil_result *result)
{
    player p;
    assert_true(cutis_live_open(&p.live, result->data, result->size));
    p.memory = malloc(cutis_live_memory(&p.live));
    p.skin = calloc((size_t)p.live.joint_count * 12, sizeof(float));
    cutis_live_begin(&p.live, p.memory);
    return p;
}

static void player_close(player *p)
{
    free(p->memory);
    free(p->skin);
}

/* Skin matrices of a pose: pose x inverse bind, for the joints that deform. */
static void player_pose(player *p, const cutis_character *c, const float *joints)
{
    int listed = 0;
    for (int j = 0; j < c->joint_count; j++) {
        if (!c->joints[j].deforms) continue;
        const float *a = joints + 12 * j, *b = c->joints[j].inverse_bind;
        float *m = p->skin + 12 * listed++;
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 4; k++)
                m[4 * r + k] =
                    a[4 * r] * b[k] + a[4 * r + 1] * b[4 + k] + a[4 * r + 2] * b[8 + k] + (k == 3 ? a[4 * r + 3] : 0);
    }
    assert_int_equal(listed, p->live.joint_count);
}

static float largest_offset(const cutis_live *live)
{
    float largest = 0;
    for (int i = 0; i < 3 * live->point_count; i++) largest = fmaxf(largest, fabsf(live->offsets[i]));
    return largest;
}

/* ---- players ---- */

static void player_of_the_file_equals_the_library(void **state)
{
    (void)state;
    cutis_character *arm = make_arm(), *loaded;
    char source[] = "/tmp/cutis_distil_XXXXXX", output[64];
    assert_true(mkdtemp(source));
    snprintf(output, sizeof output, "%s/live.glb", source);
    char input[64];
    snprintf(input, sizeof input, "%s/arm.glb", source);
    assert_int_equal(cutis_character_save(arm, input, NULL), CUTIS_OK);
    assert_int_equal(cutis_character_load(input, NULL, &loaded, NULL), CUTIS_OK);

    cutis_distil_def def = small_def(loaded, "lattice");
    def.source.name = input;
    def.output = output;
    def.poses = 64;
    cutis_distil_result *result = distil(&def);

    /* the file is still the character, and has the data */
    cutis_character *again;
    cutis_file data;
    assert_int_equal(cutis_character_load(output, NULL, &again, NULL), CUTIS_OK);
    assert_int_equal(again->vertex_count, loaded->vertex_count);
    assert_int_equal(cutis_distil_load(output, NULL, &data, NULL), CUTIS_OK);
    assert_int_equal(data.size, result->size);
    assert_memory_equal(data.data, result->data, data.size);

    /* frames of the library against offsets of the player, skinned here */
    enum { FRAMES = 12 };
    size_t floats = 3 * (size_t)again->vertex_count;
    float *frames = malloc(FRAMES * floats * sizeof *frames), *offsets = malloc(floats * sizeof *offsets);
    float *joints = malloc((size_t)again->joint_count * 12 * sizeof *joints);
    cutis_distil_play_def play = {again, data.data, data.size, 0, 0, 30, FRAMES, NULL};
    assert_int_equal(cutis_distil_play(&play, frames, NULL, NULL), CUTIS_OK);
    player p = player_open(result);
    double worst = 0, moved = 0;
    for (int f = 0; f < FRAMES; f++) {
        cutis_pose_sample(again, 0, f / 30.0, joints);
        player_pose(&p, again, joints);
        cutis_live_update(&p.live, p.skin, 1 / 30.0f);
        cutis_live_vertices(&p.live, offsets);
        moved = fmax(moved, (double)largest_offset(&p.live));
        for (int v = 0; v < again->vertex_count; v++) {
            double m[12] = {0};
            for (int i = again->influence_first[v]; i < again->influence_first[v + 1]; i++) {
                int listed = 0;
                for (int j = 0; j < again->influence_joints[i]; j++) listed += again->joints[j].deforms;
                for (int k = 0; k < 12; k++)
                    m[k] += (double)again->influence_weights[i] * (double)p.live.skin[12 * listed + k];
            }
            for (int k = 0; k < 3; k++) {
                double place = m[4 * k + 3];
                for (int a = 0; a < 3; a++)
                    place += m[4 * k + a] * (double)(again->positions[3 * v + a] + offsets[3 * v + a]);
                worst = fmax(worst, fabs(place - (double)frames[(size_t)f * floats + (size_t)(3 * v + k)]));
            }
        }
    }
    assert_true(moved > 1e-3 * (double)again->size);
    assert_true(worst < 1e-5 * (double)again->size);

    player_close(&p);
    free(joints);
    free(offsets);
    free(frames);
    cutis_distil_data_destroy(&data, NULL);
    cutis_distil_destroy(result);
    cutis_character_destroy(again);
    cutis_character_destroy(loaded);
    cutis_character_destroy(arm);
    remove(input);
    remove(output);
    remove(source);
}

static void rest_pose_has_no_offsets(void **state)
{
    (void)state;
    cutis_character *arm = make_arm();
    cutis_distil_def def = small_def(arm, "lattice");
    cutis_distil_result *result = distil(&def);
    player p = player_open(result);
    float *joints = malloc((size_t)arm->joint_count * 12 * sizeof *joints);
    cutis_pose_rest(arm, joints);
    player_pose(&p, arm, joints);
    for (int f = 0; f < 5; f++) cutis_live_update(&p.live, p.skin, 1 / 30.0f);
    assert_true(largest_offset(&p.live) < 1e-5f * arm->size);
    assert_true(p.live.outside == 0);

    free(joints);
    player_close(&p);
    cutis_distil_destroy(result);
    cutis_character_destroy(arm);
}

/* Turn everything below a joint about it, far beyond any sampled pose. */
static void poses_outside_the_range_fade_to_skinning(void **state)
{
    (void)state;
    cutis_character *arm = make_arm();
    cutis_distil_def def = small_def(arm, "lattice");
    cutis_distil_result *result = distil(&def);
    player p = player_open(result);
    float *joints = malloc((size_t)arm->joint_count * 12 * sizeof *joints);

    /* half a turn of every second joint about its parent */
    cutis_pose_rest(arm, joints);
    for (int j = 1; j < arm->joint_count; j += 2)
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 2; k++) joints[12 * j + 4 * r + k] *= -1;
    player_pose(&p, arm, joints);
    cutis_live_update(&p.live, p.skin, 0);
    assert_true(p.live.outside == 1);
    assert_true(largest_offset(&p.live) < 1e-6f * arm->size);

    free(joints);
    player_close(&p);
    cutis_distil_destroy(result);
    cutis_character_destroy(arm);
}

/* Give every joint the same turn per depth, drive an arm into the trunk, and look at what turns. */
static void contact_turns_limbs_about_their_joints(void **state)
{
    (void)state;
    cutis_character *man;
    assert_int_equal(cutis_zoo_make("man", 0.4, NULL, &man, NULL), CUTIS_OK);
    cutis_distil_def def = small_def(man, "lbs");
    def.points = 240;
    cutis_distil_result *result = distil(&def);
    player p = player_open(result);
    float *joints = malloc((size_t)man->joint_count * 12 * sizeof *joints);
    int arm = -1;
    for (int j = 0, listed = 0; j < man->joint_count; j++) {
        if (!man->joints[j].deforms) continue;
        if (strcmp(man->joints[j].name, "upper_arm_l") == 0) arm = listed;
        listed++;
    }
    assert_true(arm >= 0);
    int patches = p.live.patch_counts[0] + p.live.patch_counts[1];
    ((float *)(uintptr_t)p.live.turn_limits)[arm] = 0.25f;
    ((float *)(uintptr_t)p.live.turn_scales)[3 * arm] = 1;
    for (int k = 0; k < patches; k++) ((int16_t *)(uintptr_t)p.live.turns)[3 * arm * patches + k] = 100;

    /* at rest nothing touches: no joint turns, to the bit */
    cutis_pose_rest(man, joints);
    player_pose(&p, man, joints);
    cutis_live_update(&p.live, p.skin, 0);
    assert_memory_equal(p.live.skin, p.skin, (size_t)p.live.joint_count * 12 * sizeof(float));

    /* the arm and all below it a quarter of the shoulder's height towards the middle: inside the trunk */
    const float *pivot = p.live.pivots + 3 * arm;
    for (int j = 0; j < p.live.joint_count; j++) {
        int above = j;
        while (above > arm) above = p.live.parents[above];
        if (above == arm) p.skin[12 * j + 3] -= pivot[0];
    }
    cutis_live_update(&p.live, p.skin, 0);
    float moved = 0, pivot_moved = 0, others = 0;
    for (int j = 0; j < p.live.joint_count; j++) {
        int above = j;
        while (above > arm) above = p.live.parents[above];
        for (int k = 0; k < 12; k++) {
            float change = fabsf(p.live.skin[12 * j + k] - p.skin[12 * j + k]);
            if (above == arm) moved = fmaxf(moved, change);
            if (above != arm) others = fmaxf(others, change);
        }
    }
    for (int k = 0; k < 3; k++) {
        float places[2];
        for (int n = 0; n < 2; n++) {
            const float *m = (n ? p.live.skin : p.skin) + 12 * arm + 4 * k;
            places[n] = m[0] * pivot[0] + m[1] * pivot[1] + m[2] * pivot[2] + m[3];
        }
        pivot_moved = fmaxf(pivot_moved, fabsf(places[1] - places[0]));
    }
    assert_true(moved > 0.05f);
    assert_true(pivot_moved < 1e-5f * man->size);
    assert_true(others == 0);

    /* the limit: the cosine of 0.25 radians */
    float relative[9], own[9], before[9];
    cutis_live_rotation(p.live.skin + 12 * arm, own);
    cutis_live_rotation(p.skin + 12 * arm, before);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            relative[3 * a + b] =
                own[3 * a] * before[3 * b] + own[3 * a + 1] * before[3 * b + 1] + own[3 * a + 2] * before[3 * b + 2];
    assert_true(relative[0] + relative[4] + relative[8] > 1 + 2 * cosf(0.2501f));

    free(joints);
    player_close(&p);
    cutis_distil_destroy(result);
    cutis_character_destroy(man);
}

static void damaged_data_is_refused_or_harmless(void **state)
{
    (void)state;
    cutis_character *arm = make_arm();
    cutis_distil_def def = small_def(arm, "dqs");
    def.points = 16;
    def.poses = 8;
    cutis_distil_result *result = distil(&def);
    cutis_live live;

    /* cut off anywhere */
    for (size_t size = 0; size < result->size; size += 1 + size / 64)
        assert_false(cutis_live_open(&live, result->data, size));

    /* a byte changed anywhere: refused, or played without leaving the data */
    char *copy = malloc(result->size);
    for (size_t at = 0; at < result->size; at += 1 + at / 200) {
        memcpy(copy, result->data, result->size);
        copy[at] = (char)~copy[at];
        if (!cutis_live_open(&live, copy, result->size)) continue;
        if (cutis_live_memory(&live) > 1u << 24) continue;
        float *memory = malloc(cutis_live_memory(&live)),
              *offsets = calloc(3, sizeof(float) * (size_t)live.vertex_count);
        float *skin = calloc((size_t)live.joint_count * 12, sizeof *skin);
        cutis_live_begin(&live, memory);
        cutis_live_update(&live, skin, 1 / 30.0f);
        cutis_live_vertices(&live, offsets);
        free(skin);
        free(offsets);
        free(memory);
    }
    free(copy);
    cutis_distil_destroy(result);
    cutis_character_destroy(arm);
}

static void oscillators_do_not_depend_on_the_frame_rate_and_decay(void **state)
{
    (void)state;
    cutis_character *arm = make_arm();
    cutis_distil_def def = small_def(arm, "dqs");
    cutis_distil_result *result = distil(&def);
    float *joints = malloc((size_t)arm->joint_count * 12 * sizeof *joints), peaks[2];

    /* a push of 0.1 s along x, then rest: the same largest swing of 3 Hz at 240 and at 960 frames per second */
    for (int rate = 0; rate < 2; rate++) {
        player p = player_open(result);
        int fps = rate ? 960 : 240;
        peaks[rate] = 0;
        for (int f = 0; f < fps * 3; f++) {
            double u = fmin((double)f / fps / 0.1, 1);
            cutis_pose_rest(arm, joints);
            for (int j = 0; j < arm->joint_count; j++)
                joints[12 * j + 3] += 0.05f * arm->size * (float)(u * u * (3 - 2 * u));
            player_pose(&p, arm, joints);
            cutis_live_update(&p.live, p.skin, 1.0f / (float)fps);
            peaks[rate] = fmaxf(peaks[rate], fabsf(p.live.swings[0]));
        }
        assert_true(fabsf(p.live.swings[0]) < 1e-3f * peaks[rate]);
        player_close(&p);
    }
    assert_true(peaks[0] > 1e-3f * arm->size);
    assert_true(fabsf(peaks[0] - peaks[1]) < 0.03f * peaks[0]);

    free(joints);
    cutis_distil_destroy(result);
    cutis_character_destroy(arm);
}

/* ---- the fit ---- */

static void learned_flesh_is_nearer_to_the_teacher_than_skinning(void **state)
{
    (void)state;
    cutis_character *arm = make_arm();
    cutis_distil_def def = small_def(arm, "dqs");
    def.poses = 64;
    cutis_distil_result *all = distil(&def);

    /* dual quaternions are a function of the pose alone */
    assert_true(all->skinning_rms > 1e-3 * (double)arm->size);
    assert_true(all->rms < 0.5 * all->skinning_rms);

    /* every term has an effect: none without it */
    def.terms = CUTIS_DISTIL_CONTACT;
    cutis_distil_result *none = distil(&def);
    assert_true(none->rms > all->rms);
    double sum = 0;
    for (int i = 0; i < all->region_count; i++) sum += all->regions[i].points;
    assert_true(sum == all->points);

    cutis_distil_destroy(none);
    cutis_distil_destroy(all);
    cutis_character_destroy(arm);
}

static void result_does_not_depend_on_threads(void **state)
{
    (void)state;
    cutis_character *arm = make_arm();
    cutis_distil_def def = small_def(arm, "lattice");
    cutis_distil_result *one, *three;
    def.threads = 1;
    one = distil(&def);
    def.threads = 3;
    three = distil(&def);
    assert_int_equal(one->size, three->size);
    assert_memory_equal(one->data, three->data, one->size);
    cutis_distil_destroy(one);
    cutis_distil_destroy(three);
    cutis_character_destroy(arm);
}

static bool stop_in_fit(void *context, cutis_distil_stage stage, long done, long total)
{
    (void)done;
    (void)total;
    return stage != *(cutis_distil_stage *)context;
}

static void interrupted_run_continues_from_its_data(void **state)
{
    (void)state;
    cutis_character *arm = make_arm();
    char path[] = "/tmp/cutis_distil_data_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    cutis_distil_def def = small_def(arm, "lattice");
    cutis_distil_result *whole = distil(&def), *result;

    /* stopped behind the simulations */
    cutis_distil_stage stage = CUTIS_DISTIL_FIT;
    def.data = path;
    def.progress = stop_in_fit;
    def.context = &stage;
    assert_int_equal(cutis_distil(&def, &result, NULL), CUTIS_ERROR_INTERRUPTED);
    assert_null(result);

    /* the second run must not simulate */
    stage = CUTIS_DISTIL_TEACH;
    result = distil(&def);
    assert_memory_equal(result->data, whole->data, whole->size);
    cutis_distil_destroy(result);

    /* another definition does not take these simulations */
    def.poses = 24;
    assert_int_equal(cutis_distil(&def, &result, NULL), CUTIS_ERROR_INTERRUPTED);
    cutis_distil_destroy(whole);
    cutis_character_destroy(arm);
    close(file);
    remove(path);
}

/* ---- mistakes ---- */

static void invalid_definitions_are_reported(void **state)
{
    (void)state;
    cutis_character *arm = make_arm();
    const char *clips[] = {"flx"};
    const struct {
        cutis_distil_def def;
        const char *text;
    } cases[] = {
        {{.character = NULL}, "needs a character"},
        {{.character = arm, .poses = 7}, "8 to 100,000 poses"},
        {{.character = arm, .points = 15}, "16 to 20,000 points"},
        {{.character = arm, .output = "x.glb"}, "cutis convert"},
        {{.character = arm, .source.name = "x.glb", .output = "x.npy"}, "must end in .glb"},
        {{.character = arm, .clips = clips, .clip_count = 1}, "no clip 'flx'"},
        {{.character = arm, .solver = "jelly"}, "jelly"},
        {{.character = arm, .terms = 8}, "terms"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cutis_distil_result *result;
        cutis_error error = {0};
        assert_int_not_equal(cutis_distil(&cases[i].def, &result, &error), CUTIS_OK);
        assert_null(result);
        if (!strstr(error.text, cases[i].text)) fail_msg("'%s' does not contain '%s'", error.text, cases[i].text);
    }

    /* a mesh without skeleton */
    cutis_character bare = {.name = "bare", .vertex_count = arm->vertex_count, .positions = arm->positions};
    bare.face_count = arm->face_count;
    bare.face_first = arm->face_first;
    bare.corners = arm->corners;
    cutis_character *made;
    cutis_distil_result *result;
    cutis_error error = {0};
    assert_int_equal(cutis_character_create(&bare, NULL, &made, NULL), CUTIS_OK);
    cutis_distil_def def = small_def(made, "lbs");
    assert_int_equal(cutis_distil(&def, &result, &error), CUTIS_ERROR_DATA);
    assert_non_null(strstr(error.text, "cutis rig"));
    cutis_character_destroy(made);
    cutis_character_destroy(arm);
}

static bool distil_with(void *context, const cutis_allocator *allocator)
{
    cutis_distil_def def = small_def(context, "dqs");
    cutis_distil_result *result;
    def.poses = 8;
    def.points = 16;
    def.threads = 1;
    def.allocator = allocator;
    bool succeeded = cutis_distil(&def, &result, NULL) == CUTIS_OK;
    cutis_distil_destroy(result);
    return succeeded;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    cutis_character *arm;
    assert_int_equal(cutis_zoo_make("arm", 0.1, NULL, &arm, NULL), CUTIS_OK);
    assert_true(test_every_allocation(distil_with, arm) > 20);
    cutis_character_destroy(arm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(player_of_the_file_equals_the_library),
        cmocka_unit_test(rest_pose_has_no_offsets),
        cmocka_unit_test(poses_outside_the_range_fade_to_skinning),
        cmocka_unit_test(contact_turns_limbs_about_their_joints),
        cmocka_unit_test(damaged_data_is_refused_or_harmless),
        cmocka_unit_test(oscillators_do_not_depend_on_the_frame_rate_and_decay),
        cmocka_unit_test(learned_flesh_is_nearer_to_the_teacher_than_skinning),
        cmocka_unit_test(result_does_not_depend_on_threads),
        cmocka_unit_test(interrupted_run_continues_from_its_data),
        cmocka_unit_test(invalid_definitions_are_reported),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
