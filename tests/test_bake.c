/*
 * test_bake.c: the bake as a call: from bytes to bytes, the same as from file to file; progress, interruption and what
 * it keeps; ranges; the report; failing memory.
 */
#include "testing.h"

#include <unistd.h>

/* A bake that is expected to work. */
static cutis_bake_result *bake(const cutis_bake_def *def)
{
    cutis_bake_result *result = NULL;
    cutis_error error = {0};
    if (cutis_bake(def, &result, &error) != CUTIS_OK) fail_msg("%s", error.text);
    return result;
}

static void expect_error(const cutis_bake_def *def, cutis_result code, const char *words)
{
    cutis_bake_result *result = (cutis_bake_result *)def;
    cutis_error error = {0};
    assert_int_equal(cutis_bake(def, &result, &error), code);
    assert_null(result);
    if (!strstr(error.text, words)) fail_msg("'%s' does not say '%s'", error.text, words);
    assert_null(strstr(error.text, "--"));
}

static char *read_all(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("there is no %s", path);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*size + 1);
    assert_int_equal(fread(data, 1, *size, file), *size);
    fclose(file);
    return data;
}

/* Files in memory are those on the disk, for every format. */
static void memory_is_the_disk(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("arm", 0.3);
    static const char *const formats[] = {".npy", ".pc2", ".mdd", ".usda", ".glb", ".vat", ".obj"};
    char folder[] = "/tmp/cutis_bake_XXXXXX";
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < (int)(sizeof formats / sizeof formats[0]); i++) {
        char path[200], inner[300];
        snprintf(path, sizeof path, "%s/bake%s", folder, formats[i]);
        cutis_bake_def def = cutis_bake_def_default();
        def.character = c;
        def.clip = "flex";
        def.solver = "dqs";
        def.fps = 5;
        def.output = path;
        cutis_bake_result *disk = bake(&def);
        assert_int_equal(disk->file_count, 0);
        def.output = NULL;
        def.format = formats[i];
        cutis_bake_result *memory = bake(&def);
        assert_true(memory->file_count >= 1);
        assert_true(memory->hash == disk->hash);
        for (int k = 0; k < memory->file_count; k++) {
            size_t size;
            snprintf(inner, sizeof inner, "%s/%s", folder, memory->files[k].name);
            char *data = read_all(inner, &size);
            assert_int_equal(size, memory->files[k].size);
            assert_memory_equal(data, memory->files[k].data, size);
            free(data);
            unlink(inner);
        }
        cutis_bake_destroy(memory);
        cutis_bake_destroy(disk);
        rmdir(path);
    }
    assert_int_equal(rmdir(folder), 0);
    cutis_character_destroy(c);
}

/* Bytes of a .glb in, bytes of a .glb out, whose frames are those that were asked to be kept. */
static void bytes_to_bytes(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("arm", 0.3);
    cutis_bake_def def = cutis_bake_def_default();
    def.character = c;
    def.clip = "flex";
    def.solver = "lbs";
    def.format = "glb";
    cutis_bake_result *first = bake(&def);
    def = cutis_bake_def_default();
    def.source = (cutis_file){"arm.glb", first->files[0].data, first->files[0].size};
    def.clip = "flex";
    def.solver = "dqs";
    def.format = ".glb";
    def.keep_frames = true;
    def.measure = true;
    def.outputs = NULL;
    cutis_bake_result *second = bake(&def);
    assert_int_equal(second->file_count, 1);
    assert_true(second->has_morphs && second->morphs.max_error < 1.01e-3);
    assert_true(second->has_quality && second->has_verdict);
    assert_non_null(second->positions);
    assert_int_equal(second->frame_count, 79);
    assert_non_null(strstr(second->report, "\"verdict\": {"));
    assert_non_null(strstr(second->report, "\"solver\": \"dqs\""));
    cutis_bake_destroy(second);
    cutis_bake_destroy(first);
    cutis_character_destroy(c);
}

/* Stops after a number of frames. */
typedef struct stopper {
    int frames;
    int stages;
} stopper;

static bool stop(void *context, cutis_bake_stage stage, long done, long total)
{
    stopper *s = context;
    s->stages |= 1 << stage;
    assert_true(total == 0 || done <= total);
    return stage != CUTIS_BAKE_FRAMES || done < s->frames;
}

static void interruption_keeps_what_is_asked(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("arm", 0.3);
    stopper s = {.frames = 10};
    cutis_bake_def def = cutis_bake_def_default();
    def.character = c;
    def.clip = "flex";
    def.solver = "dqs";
    def.format = "mdd";
    def.progress = stop;
    def.context = &s;
    def.keep_frames = true;
    expect_error(&def, CUTIS_ERROR_INTERRUPTED, "interrupted");
    def.partial = true;
    cutis_bake_result *part = bake(&def);
    assert_true(part->interrupted);
    assert_int_equal(part->frame_count, 10);
    assert_int_equal(part->files[0].size, 8 + 10 * 4 + 10 * 12 * (size_t)c->vertex_count);
    s.frames = 1000;
    s.stages = 0;
    cutis_bake_result *whole = bake(&def);
    assert_false(whole->interrupted);
    assert_int_equal(s.stages & (1 << CUTIS_BAKE_FRAMES | 1 << CUTIS_BAKE_BUILD | 1 << CUTIS_BAKE_WRITE),
                     1 << CUTIS_BAKE_FRAMES | 1 << CUTIS_BAKE_BUILD | 1 << CUTIS_BAKE_WRITE);
    assert_memory_equal(part->positions, whole->positions, 10 * 12 * (size_t)c->vertex_count);
    cutis_bake_destroy(part);
    cutis_bake_destroy(whole);
    cutis_character_destroy(c);
}

/* A range of a dynamic solver moves from its first frame on. */
static void a_range_is_led_in(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("arm", 0.3);
    cutis_bake_def def = cutis_bake_def_default();
    def.character = c;
    def.clip = "flex";
    def.solver = "lattice";
    def.keep_frames = true;
    cutis_bake_result *whole = bake(&def);
    def.start = 1;
    def.end = 1.5;
    cutis_bake_result *range = bake(&def);
    assert_int_equal(range->frame_count, 16);
    assert_true(range->start == 1);
    double largest = 0;
    size_t floats = 3 * (size_t)c->vertex_count;
    for (size_t i = 0; i < 16 * floats; i++)
        largest = fmax(largest, fabs((double)range->positions[i] - (double)whole->positions[30 * floats + i]));
    assert_true(largest < 0.01 * (double)c->size);
    cutis_bake_destroy(range);
    cutis_bake_destroy(whole);
    cutis_character_destroy(c);
}

/* Without a lead-in a clip whose first pose is far from rest starts there, not with a leap from rest. */
static void no_lead_in_is_no_leap(void **state)
{
    (void)state;
    static const char *const solvers[] = {"layers", "lattice", "springs", "slide"};
    cutis_character *c = test_zoo("man", 0.3);
    for (int i = 0; i < (int)(sizeof solvers / sizeof solvers[0]); i++) {
        cutis_bake_def def = cutis_bake_def_default();
        def.character = c;
        def.clip = "walk";
        def.solver = solvers[i];
        def.end = 0.1;
        def.lead_in = 0;
        def.format = ".npy";
        if (i == 3) def.outputs = "sliding";
        cutis_bake_result *result = bake(&def);
        assert_true(result->has_verdict && result->verdict.level != CUTIS_BAD);
        cutis_bake_destroy(result);
    }
    cutis_character_destroy(c);
}

/* A clip that starts at rest needs no lead-in: the same frames in less time. What does not rest keeps it. */
static void flesh_at_rest_is_not_led_in(void **state)
{
    (void)state;
    static const char *const solvers[] = {"layers", "lattice", "springs"};
    cutis_character *c = test_zoo("arm", 0.3);
    size_t floats = 3 * (size_t)c->vertex_count;
    for (int i = 0; i < (int)(sizeof solvers / sizeof solvers[0]); i++) {
        cutis_bake_def def = cutis_bake_def_default();
        def.character = c;
        def.clip = "flex";
        def.solver = solvers[i];
        def.end = 0.4;
        def.format = ".npy";
        def.keep_frames = true;
        cutis_bake_result *at_once = bake(&def);
        def.lead_in = 0.75;
        cutis_bake_result *led_in = bake(&def);
        double largest = 0;
        for (size_t k = 0; k < (size_t)led_in->frame_count * floats; k++)
            largest = fmax(largest, fabs((double)at_once->positions[k] - (double)led_in->positions[k]));
        print_message("%s: %.1e of the size apart\n", solvers[i], largest / (double)c->size);
        assert_true(at_once->lead_in == 0 && led_in->lead_in > 0.7);
        assert_true(largest < 1e-5 * (double)c->size);
        cutis_bake_destroy(led_in);
        cutis_bake_destroy(at_once);

        /* from within the clip, in a wind, a clip on the move */
        def.lead_in = (double)NAN;
        def.end = 0.55;
        for (int k = 0; k < 3; k++) {
            def.start = k == 0 ? 0.5 : (double)NAN;
            def.end = k == 0 ? 0.55 : 0.05;
            def.wind[0] = k == 1 ? 1 : 0;
            def.clip = k == 2 ? "shake" : "flex";
            cutis_bake_result *moving = bake(&def);
            assert_true(k == 0 ? moving->lead_in == 0 : moving->lead_in > 0.7); /* 0: its run-up begins at rest */
            cutis_bake_destroy(moving);
        }
    }

    /* further into the clip, and beside a prop */
    cutis_model *model = test_build_def((cutis_model_def){.character = c, .solver = "layers"});
    int flex = cutis_character_find_clip(c, "flex");
    double whole = cutis_bake_lead_in(model);
    assert_true(whole > 0.7 && cutis_bake_clip_lead_in(model, c, -1, 0) == 0);
    assert_true(cutis_bake_clip_lead_in(model, c, flex, 0) == 0 &&
                cutis_bake_clip_lead_in(model, c, flex, 0.6) == whole);

    /* the rest pose elsewhere is at rest, too */
    const float time = 0, place[3] = {c->joints[0].rest.translation[0] + 3, 1, 2};
    cutis_track tracks[8] = {{0, CUTIS_PATH_TRANSLATION, CUTIS_INTERPOLATION_LINEAR, 1, &time, place}};
    cutis_clip moved = c->clips[flex];
    assert_true(moved.track_count < 8);
    memcpy(tracks + 1, moved.tracks, (size_t)moved.track_count * sizeof *tracks);
    moved.tracks = tracks;
    moved.track_count++;
    cutis_character given = *c, *elsewhere = NULL;
    given.clips = &moved;
    given.clip_count = 1;
    assert_int_equal(cutis_character_create(&given, NULL, &elsewhere, NULL), CUTIS_OK);
    assert_true(cutis_bake_clip_lead_in(model, elsewhere, 0, 0) == 0);
    cutis_character_destroy(elsewhere);
    cutis_model_destroy(model);

    /* props act from the first instant on */
    cutis_prop_request request = {.name = "ball"};
    cutis_character *beside = NULL;
    assert_int_equal(cutis_bake_add_props(c, &request, 1, flex, NULL, NULL, NULL, &beside, NULL), CUTIS_OK);
    model = test_build_def((cutis_model_def){.character = beside, .solver = "layers"});
    assert_true(cutis_bake_clip_lead_in(model, beside, flex, 0) == whole);
    cutis_model_destroy(model);
    cutis_character_destroy(beside);
    cutis_character_destroy(c);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("arm", 0.3);
    cutis_bake_def def = cutis_bake_def_default();
    expect_error(&def, CUTIS_ERROR_ARGUMENT, "needs a character");
    def.character = c;
    def.clip = "flexx";
    expect_error(&def, CUTIS_ERROR_ARGUMENT, "did you mean 'flex'");
    def.clip = "flex";
    def.format = "avi";
    expect_error(&def, CUTIS_ERROR_ARGUMENT, "cannot detect the format");
    def.format = NULL;
    def.checks = "volume<1";
    expect_error(&def, CUTIS_ERROR_ARGUMENT, "there is no measure 'volume'");
    def.checks = NULL;
    def.start = 2;
    def.end = 1;
    expect_error(&def, CUTIS_ERROR_ARGUMENT, "the range from 2 to 1 s");
    def.end = (double)NAN;
    def.loop = true;
    expect_error(&def, CUTIS_ERROR_ARGUMENT, "a loop is the whole clip");
    def = cutis_bake_def_default();
    def.source.name = "/nowhere/hero.glb";
    expect_error(&def, CUTIS_ERROR_FILE, "/nowhere/hero.glb");
    cutis_character_destroy(c);
}

static void bounds_are_decided(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("arm", 0.3);
    cutis_bake_def def = cutis_bake_def_default();
    def.character = c;
    def.clip = "flex";
    def.solver = "dqs";
    def.checks = "verdict, displacement_max < 0.2,frames=79, patch_angle_p95<0.1";
    cutis_bake_result *result = bake(&def);
    assert_int_equal(result->check_count, 4);
    assert_int_equal(result->failed_checks, 1);
    assert_false(result->checks[3].passed);
    cutis_bake_destroy(result);
    cutis_character_destroy(c);
}

static bool bake_once(void *context, const cutis_allocator *allocator)
{
    cutis_bake_def def = cutis_bake_def_default();
    def.character = context;
    def.solver = "dqs";
    def.fps = 3;
    def.format = "glb";
    def.keep_frames = true;
    def.checks = "verdict";
    def.threads = 1;
    def.allocator = allocator;
    cutis_bake_result *result;
    cutis_result code = cutis_bake(&def, &result, NULL);
    cutis_bake_destroy(result);
    return code == CUTIS_OK;
}

static void memory_may_fail(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("cylinder", 0.3);
    assert_true(test_every_allocation(bake_once, c) > 20);
    cutis_character_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_the_disk),
        cmocka_unit_test(bytes_to_bytes),
        cmocka_unit_test(interruption_keeps_what_is_asked),
        cmocka_unit_test(a_range_is_led_in),
        cmocka_unit_test(no_lead_in_is_no_leap),
        cmocka_unit_test(flesh_at_rest_is_not_led_in),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(bounds_are_decided),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
