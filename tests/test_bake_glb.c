/* Bakes as .glb: what is written plays what was simulated, and keeps what was there. */
#include "testing.h"

#include <unistd.h>

typedef struct scene {
    cutis_character *character;
    int clip, frame_count;
    double start, fps;
    float *frames;
} scene;

/* lbs with the clip's own morph weights: what a player of the file shows. */
static void play(const cutis_character *c, int clip, double time, float *positions)
{
    cutis_model *model = test_build(c, "lbs", NULL);
    cutis_state *state = test_state(model, NULL);
    float *joints = malloc(((size_t)c->joint_count + 1) * 12 * sizeof(float));
    float *weights = malloc(((size_t)c->morph_count + 1) * sizeof(float));
    cutis_pose_sample(c, clip, time, joints);
    cutis_pose_morphs(c, clip, time, weights);
    /* Some players cut weights to this range. */
    for (int k = 0; k < c->morph_count; k++)
        if (strncmp(c->morphs[k].name, "cutis_", 6) == 0) assert_true(weights[k] > -1e-6f && weights[k] < 1 + 1e-6f);
    cutis_state_step(model, state, &(cutis_step_input){.joints = joints, .morphs = weights}, 0.01);
    memcpy(positions, cutis_state_positions(model, state), (size_t)c->vertex_count * 3 * sizeof(float));
    free(joints);
    free(weights);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
}

/* Frames of a clip: what the file plays, with a wobble of the points that travels over the body. */
static scene scene_make(cutis_character *c, int clip, double fps, int frame_limit)
{
    scene s = {.character = c, .clip = clip, .fps = fps, .frame_count = 1};
    if (clip >= 0) {
        s.start = (double)c->clips[clip].start;
        s.frame_count = (int)(((double)c->clips[clip].end - s.start) * fps + 1e-6) + 1;
    }
    if (s.frame_count > frame_limit) s.frame_count = frame_limit;
    size_t floats = (size_t)c->vertex_count * 3;
    s.frames = malloc((size_t)s.frame_count * floats * sizeof(float));
    for (int f = 0; f < s.frame_count; f++) {
        float *frame = s.frames + (size_t)f * floats;
        play(c, clip, s.start + f / fps, frame);
        for (size_t i = 0; i < floats; i++) {
            const float *rest = c->positions + i / 3 * 3;
            double phase = 9 * (double)(rest[0] + 2 * rest[1] - rest[2]) / (double)c->size;
            frame[i] +=
                0.01f * c->size * (float)(sin(phase + 0.4 * f) + 0.3 * sin(3 * phase - 0.7 * f + (double)(i % 3)));
        }
    }
    return s;
}

static void scene_free(scene *s) { free(s->frames); }

static cutis_morphs_def scene_def(const scene *s, const char *source)
{
    return (cutis_morphs_def){.character = s->character,
                              .source = {.name = source},
                              .clip = s->clip,
                              .start = s->start,
                              .fps = s->fps,
                              .frame_count = s->frame_count,
                              .frames = s->frames};
}

/* The largest distance of what a file plays from the frames, over the size. */
static double file_error(const scene *s, const char *path, const char *clip_name)
{
    cutis_character *loaded = NULL;
    cutis_error error;
    if (cutis_character_load(path, NULL, &loaded, &error) != CUTIS_OK) fail_msg("%s", error.text);
    int clip = cutis_character_find_clip(loaded, clip_name);
    assert_true(clip >= 0);
    assert_true(loaded->vertex_count >= s->character->vertex_count); /* copies at texture seams come last */
    float *played = malloc((size_t)loaded->vertex_count * 3 * sizeof(float));
    double largest = 0;
    for (int f = 0; f < s->frame_count; f++) {
        play(loaded, clip, s->start + f / s->fps, played);
        for (int v = 0; v < s->character->vertex_count; v++) {
            const float *wanted = s->frames + ((size_t)f * (size_t)s->character->vertex_count + (size_t)v) * 3;
            double d2 = 0;
            for (int k = 0; k < 3; k++) d2 += pow((double)played[3 * v + k] - (double)wanted[k], 2);
            largest = fmax(largest, sqrt(d2));
        }
    }
    free(played);
    cutis_character_destroy(loaded);
    return largest / (double)s->character->size;
}

static const char *temporary(const char *name)
{
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "/tmp/cutis_bake_%ld_%s", (long)getpid(), name);
    return path;
}

static void check_bake(const scene *s, const char *source, const char *label)
{
    const char *path = temporary("check.glb"), *clip = s->clip >= 0 ? s->character->clips[s->clip].name : "idle";
    const struct {
        double tolerance;
        int limit;
        bool exact, plain;
    } kinds[] = {{0, 0, false, false}, {0, 8, false, true}, {0, 0, true, true}};
    for (int i = 0; i < 3; i++) {
        cutis_morphs_def def = scene_def(s, source);
        def.tolerance = kinds[i].tolerance;
        def.target_limit = kinds[i].limit;
        def.exact = kinds[i].exact;
        def.positions_only = kinds[i].plain;
        cutis_morphs_info info;
        cutis_error error;
        if (cutis_morphs_save(&def, path, &info, &error) != CUTIS_OK) fail_msg("%s: %s", label, error.text);
        double found = file_error(s, path, clip);
        if (found > info.max_error + 1e-6 || (i != 1 && found > 0.001))
            print_error("%s: %d targets, stated %g, found %g\n", label, info.target_count, info.max_error, found);
        assert_true(found <= info.max_error + 1e-6);
        assert_true(info.rms_error <= info.max_error);
        /* The wobble has no more than four components, in 32 (and 8) targets there is room for them. */
        if (i != 1) assert_true(found <= 0.001);
        if (i == 1) assert_true(info.target_count <= 8);
        if (i == 2) assert_int_equal(info.target_count, s->frame_count);
    }
    remove(path);
}

static void zoo_characters_play_what_was_simulated(void **unused)
{
    (void)unused;
    test_is_heavy();
    for (int i = 0; i < cutis_zoo_count(); i++) {
        cutis_character *c = test_zoo(cutis_zoo(i).name, 0.3);
        scene s = scene_make(c, c->clip_count ? 0 : -1, 12, 16);
        check_bake(&s, NULL, cutis_zoo(i).name);
        scene_free(&s);
        cutis_character_destroy(c);
    }
}

static void files_play_what_was_simulated(void **unused)
{
    (void)unused;
    static const char *const names[] = {"khronos-CesiumMan/CesiumMan.glb",
                                        "khronos-Fox/Fox.glb",
                                        "webxr-generic-hand/left.glb",
                                        "khronos-SimpleSkin/SimpleSkin.gltf",
                                        "mesh2motion-kaiju/kaiju.glb",
                                        "khronos-RiggedSimple/RiggedSimple.glb",
                                        "khronos-RiggedFigure/RiggedFigure.glb",
                                        "makehuman-cmu-average/mh_average.glb",
                                        "mesh2motion-horse/horse.glb"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = test_model(names[i]);
        if (!path) skip();
        cutis_character *c = NULL;
        assert_int_equal(cutis_character_load(path, NULL, &c, NULL), CUTIS_OK);
        scene s = scene_make(c, c->clip_count ? c->clip_count - 1 : -1, 10, c->vertex_count > 5000 ? 4 : 12);
        check_bake(&s, path, names[i]);
        scene_free(&s);
        cutis_character_destroy(c);
    }
}

/* A second bake adds to the first: targets are appended, weights of the other clip get room. */
static void second_bake_keeps_the_first(void **unused)
{
    (void)unused;
    const char *once = temporary("once.glb"), *twice = temporary("twice.glb");
    cutis_character *between = NULL, *after = NULL;
    cutis_morphs_info info;
    cutis_character *c = test_zoo("arm", 0.2);
    assert_true(c->clip_count >= 2);
    scene first = scene_make(c, 0, 12, 20);
    cutis_morphs_def def = scene_def(&first, NULL);
    assert_int_equal(cutis_morphs_save(&def, once, &info, NULL), CUTIS_OK);
    int first_count = info.target_count;
    assert_true(first_count > 0);

    assert_int_equal(cutis_character_load(once, NULL, &between, NULL), CUTIS_OK);
    assert_int_equal(between->morph_count, first_count);
    int clip = cutis_character_find_clip(between, c->clips[1].name);
    scene second = scene_make(between, clip, 12, 20);
    def = scene_def(&second, once);
    assert_int_equal(cutis_morphs_save(&def, twice, &info, NULL), CUTIS_OK);
    assert_true(file_error(&first, twice, c->clips[0].name) <= 0.001);
    assert_true(file_error(&second, twice, c->clips[1].name) <= info.max_error + 1e-6);

    assert_int_equal(cutis_character_load(twice, NULL, &after, NULL), CUTIS_OK);
    assert_int_equal(after->morph_count, first_count + info.target_count);
    assert_int_equal(after->clip_count, c->clip_count);
    scene_free(&first);
    scene_free(&second);
    cutis_character_destroy(c);
    cutis_character_destroy(between);
    cutis_character_destroy(after);
    remove(once);
    remove(twice);
}

/* Two nodes that show one mesh, with a morph target of its own, set and animated; a clip that only moves it. */
static const char shared_mesh[] =
    "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0,1]}],\"nodes\":[{\"name\":"
    "\"left\",\"mesh\":0},{\"name\":\"right\",\"mesh\":0,\"translation\":[3,0,0],\"scale\":[2,2,2],\"w"
    "eights\":[0.25]}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,\"t"
    "argets\":[{\"POSITION\":4}]}],\"weights\":[0.5]}],\"materials\":[{\"name\":\"kept\",\"extras\":{\""
    "note\":7}}],\"animations\":[{\"name\":\"move\",\"samplers\":[{\"input\":2,\"output\":3},{\"input\""
    ":2,\"output\":5},{\"input\":2,\"output\":6}],\"channels\":[{\"sampler\":0,\"target\":{\"node\":0,"
    "\"path\":\"translation\"}},{\"sampler\":2,\"target\":{\"node\":1,\"path\":\"rotation\"}},{\"sampl"
    "er\":1,\"target\":{\"node\":1,\"path\":\"weights\"}}]},{\"name\":\"other\",\"samplers\":[{\"input"
    "\":2,\"output\":5}],\"channels\":[{\"sampler\":0,\"target\":{\"node\":0,\"path\":\"weights\"}}]}]"
    ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\",\"min\":[0"
    ",0,0],\"max\":[1,1,1]},{\"bufferView\":1,\"componentType\":5123,\"count\":12,\"type\":\"SCALAR\"}"
    ",{\"bufferView\":2,\"componentType\":5126,\"count\":2,\"type\":\"SCALAR\",\"min\":[0],\"max\":[1]"
    "},{\"bufferView\":3,\"componentType\":5126,\"count\":2,\"type\":\"VEC3\"},{\"bufferView\":4,\"com"
    "ponentType\":5126,\"count\":4,\"type\":\"VEC3\",\"min\":[0,0,0],\"max\":[0.20000000298023224,0.10"
    "000000149011612,0]},{\"bufferView\":5,\"componentType\":5126,\"count\":2,\"type\":\"SCALAR\"},{\""
    "bufferView\":6,\"componentType\":5126,\"count\":2,\"type\":\"VEC4\"}],\"bufferViews\":[{\"buffer\""
    ":0,\"byteOffset\":0,\"byteLength\":48},{\"buffer\":0,\"byteOffset\":48,\"byteLength\":24},{\"buff"
    "er\":0,\"byteOffset\":72,\"byteLength\":8},{\"buffer\":0,\"byteOffset\":80,\"byteLength\":24},{\""
    "buffer\":0,\"byteOffset\":104,\"byteLength\":48},{\"buffer\":0,\"byteOffset\":152,\"byteLength\":"
    "8},{\"buffer\":0,\"byteOffset\":160,\"byteLength\":32}],\"buffers\":[{\"byteLength\":192,\"uri\":"
    "\"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAA"
    "AAAIA/AAACAAEAAAABAAMAAAADAAIAAQACAAMAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAAAAAAAAPwAAAAAAAAAAAAAAAAAAAAD"
    "NzEw+AAAAAAAAAAAAAAAAzczMPQAAAAAAAAAAAAAAAAAAAAAAAAA/AACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA8wQ1PwAAAADz"
    "BDU/\"}]}";

static void one_mesh_in_two_places(void **unused)
{
    (void)unused;
    const char *source = temporary("shared.gltf"), *path = temporary("baked.glb");
    FILE *file = fopen(source, "wb");
    assert_int_equal(fwrite(shared_mesh, 1, sizeof shared_mesh - 1, file), sizeof shared_mesh - 1);
    fclose(file);
    cutis_character *c = NULL, *loaded = NULL;
    assert_int_equal(cutis_character_load(source, NULL, &c, NULL), CUTIS_OK);
    assert_int_equal(c->vertex_count, 8);
    scene s = scene_make(c, cutis_character_find_clip(c, "move"), 10, 11);
    check_bake(&s, source, "one mesh in two places");

    /* The other clip still plays what it did. */
    cutis_morphs_def def = scene_def(&s, source);
    cutis_morphs_info info;
    assert_int_equal(cutis_morphs_save(&def, path, &info, NULL), CUTIS_OK);
    assert_int_equal(cutis_character_load(path, NULL, &loaded, NULL), CUTIS_OK);
    assert_int_equal(loaded->morph_count, c->morph_count + 2 * info.target_count);
    float before[24], after[24];
    for (double time = 0; time <= 1; time += 0.25) {
        play(c, cutis_character_find_clip(c, "other"), time, before);
        play(loaded, cutis_character_find_clip(loaded, "other"), time, after);
        for (int i = 0; i < 24; i++) assert_float_equal(before[i], after[i], 1e-6f);
    }
    scene_free(&s);
    cutis_character_destroy(c);
    cutis_character_destroy(loaded);
    remove(source);
    remove(path);
}

static void threads_do_not_change_the_file(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("arm", 1);
    scene s = scene_make(c, 0, 12, 12);
    const char *paths[2] = {temporary("a.glb"), temporary("b.glb")};
    char *bytes[2];
    cutis_morphs_info info[2];
    for (int i = 0; i < 2; i++) {
        cutis_morphs_def def = scene_def(&s, NULL);
        if (i == 1) def.jobs = &test_jobs_backward;
        assert_int_equal(cutis_morphs_save(&def, paths[i], &info[i], NULL), CUTIS_OK);
        FILE *file = fopen(paths[i], "rb");
        bytes[i] = malloc(info[i].file_bytes);
        assert_int_equal(fread(bytes[i], 1, info[i].file_bytes, file), info[i].file_bytes);
        assert_int_equal(fgetc(file), EOF);
        fclose(file);
        remove(paths[i]);
    }
    assert_int_equal(info[0].file_bytes, info[1].file_bytes);
    assert_memory_equal(bytes[0], bytes[1], info[0].file_bytes);
    free(bytes[0]);
    free(bytes[1]);
    scene_free(&s);
    cutis_character_destroy(c);
}

/* Opposite twists flatten the blend: targets stay bounded, the stated error is the true one. */
static void flat_blends_do_not_blow_up(void **unused)
{
    (void)unused;
    const char *path = temporary("twist.glb");
    cutis_character *loaded = NULL;
    cutis_character *c = test_zoo("arm", 0.5);
    scene s = scene_make(c, cutis_character_find_clip(c, "twist"), 15, 40);
    cutis_morphs_def def = scene_def(&s, NULL);
    cutis_morphs_info info;
    assert_int_equal(cutis_morphs_save(&def, path, &info, NULL), CUTIS_OK);
    assert_true(info.flat_blends > 0);
    double found = file_error(&s, path, "twist");
    assert_true(found <= info.max_error + 1e-6);
    assert_true(found < 0.2 * info.residual);
    assert_int_equal(cutis_character_load(path, NULL, &loaded, NULL), CUTIS_OK);
    for (int m = 0; m < loaded->morph_count; m++)
        for (int i = 0; i < 3 * loaded->vertex_count; i++)
            assert_true(fabsf(loaded->morphs[m].deltas[i]) < 0.5f * c->size);
    scene_free(&s);
    cutis_character_destroy(c);
    cutis_character_destroy(loaded);
    remove(path);
}

static void nonsense_is_refused(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("arm", 0.2);
    scene s = scene_make(c, 0, 12, 2);
    cutis_error error;
    cutis_morphs_def def = scene_def(&s, NULL);
    assert_int_equal(cutis_morphs_save(&def, "x.fbx", NULL, &error), CUTIS_ERROR_ARGUMENT);
    def.frame_count = 0;
    assert_int_equal(cutis_morphs_save(&def, "x.glb", NULL, &error), CUTIS_ERROR_ARGUMENT);
    def = scene_def(&s, NULL);
    def.target_limit = 99;
    assert_int_equal(cutis_morphs_save(&def, "x.glb", NULL, &error), CUTIS_ERROR_ARGUMENT);
    def = scene_def(&s, "no/such/file.glb");
    assert_int_equal(cutis_morphs_save(&def, temporary("no.glb"), NULL, &error), CUTIS_ERROR_FILE);
    scene_free(&s);
    cutis_character_destroy(c);
}

/* Read back as a cache: the frames of the bake, at its instants, in the character's vertices. */
static bool play_once(void *path, const cutis_allocator *allocator)
{
    cutis_cache *cache = NULL;
    cutis_error error = {0};
    cutis_result result = cutis_cache_play(path, NULL, 0, 0, allocator, &cache, &error);
    if (result) assert_int_equal(error.code, CUTIS_ERROR_MEMORY);
    cutis_cache_destroy(cache);
    return !result;
}

static void test_a_bake_is_read_back_as_a_cache(void **state)
{
    (void)state;
    char path[100];
    snprintf(path, sizeof path, "/tmp/cutis_play_%d.glb", (int)getpid());
    cutis_character *c = NULL;
    assert_int_equal(cutis_zoo_make("arm", 0.1, NULL, &c, NULL), CUTIS_OK);
    scene s = scene_make(c, 1, 12.5, 20); /* not the first clip: the one with moving morph targets is played */
    cutis_morphs_def def = scene_def(&s, NULL);
    def.exact = true;
    cutis_morphs_info info;
    cutis_error error;
    assert_int_equal(cutis_morphs_save(&def, path, &info, NULL), CUTIS_OK);
    cutis_cache *cache = NULL;
    assert_int_equal(cutis_cache_play(path, NULL, 0, c->vertex_count, NULL, &cache, NULL), CUTIS_OK);
    assert_int_equal(cache->vertex_count, c->vertex_count);
    assert_int_equal(cache->frame_count, s.frame_count);
    assert_true(fabs(cache->fps - 12.5) < 1e-3 && fabs(cache->start - s.start) < 1e-6);
    for (int i = 0; i < 3 * c->vertex_count * s.frame_count; i++)
        assert_true(fabsf(cache->positions[i] - s.frames[i]) <= 1e-5f * c->size);
    cutis_cache_destroy(cache);
    assert_int_equal(cutis_cache_load(path, NULL, &cache, NULL), CUTIS_OK);
    assert_true(cache->vertex_count >= c->vertex_count); /* with the copies for texture seams */
    cutis_cache_destroy(cache);
    assert_int_equal(cutis_cache_play(path, c->clips[0].name, 10, 0, NULL, &cache, NULL), CUTIS_OK);
    assert_true(cache->fps == 10);
    cutis_cache_destroy(cache);
    assert_int_equal(cutis_cache_play(path, "none", 0, 0, NULL, &cache, &error), CUTIS_ERROR_ARGUMENT);
    assert_int_equal(cutis_cache_play(path, NULL, 0, 1000000, NULL, &cache, &error), CUTIS_ERROR_DATA);
    assert_true(test_every_allocation(play_once, path) > 3);
    remove(path);
    scene_free(&s);
    cutis_character_destroy(c);
}

static bool third_time(void *asked) { return ++*(int *)asked >= 3; }

static void test_an_interrupted_bake_writes_nothing(void **state)
{
    (void)state;
    char path[100];
    snprintf(path, sizeof path, "/tmp/cutis_stop_%d.glb", (int)getpid());
    cutis_character *c = NULL;
    assert_int_equal(cutis_zoo_make("arm", 0.1, NULL, &c, NULL), CUTIS_OK);
    scene s = scene_make(c, 1, 12.5, 20);
    int asked = 0;
    cutis_morphs_def def = scene_def(&s, NULL);
    def.interrupted = third_time, def.context = &asked;
    cutis_morphs_info info;
    assert_int_equal(cutis_morphs_save(&def, path, &info, NULL), CUTIS_OK);
    assert_true(info.interrupted);
    assert_int_equal(access(path, F_OK), -1);
    scene_free(&s);
    cutis_character_destroy(c);
}

/* The height of the hips in a clip's pose, and the lowest vertex that linear skinning shows. */
static double pose_height(const cutis_character *c, const char *clip, double time, double *root)
{
    int index = cutis_character_find_clip(c, clip), hips = 0;
    while (hips < c->joint_count && strcmp(c->joints[hips].name, "hips") != 0) hips++;
    assert_true(index >= 0 && hips < c->joint_count);
    float *positions = malloc((size_t)c->vertex_count * 3 * sizeof(float));
    float *joints = malloc((size_t)c->joint_count * 12 * sizeof(float));
    cutis_pose_sample(c, index, time, joints);
    *root = (double)joints[12 * hips + 7];
    play(c, index, time, positions);
    double lowest = INFINITY;
    for (int v = 0; v < c->vertex_count; v++) lowest = fmin(lowest, (double)positions[3 * v + 1]);
    free(positions);
    free(joints);
    return lowest;
}

/* A body that stands in a floor is lifted: the file's clip holds the lift, and the clip as it was stays beside it. */
static void corrected_poses_are_tracks_of_the_file(void **unused)
{
    (void)unused;
    cutis_character *man = test_zoo("man", 0.3), *loaded = NULL;
    cutis_prop_request floor = {.name = "floor", .placed = true, .position = {0, 0.1f, 0}};
    cutis_bake_def def = cutis_bake_def_default();
    def.character = man;
    def.clip = "jump";
    def.end = 0.2;
    def.solver = "lattice";
    def.props = &floor;
    def.prop_count = 1;
    def.output = "corrected.glb";
    def.no_verdict = true;
    cutis_bake_result *result = NULL;
    cutis_error error;
    if (cutis_bake(&def, &result, &error) != CUTIS_OK) fail_msg("%s", error.text);
    assert_true(result->turned_count > 0);
    cutis_bake_destroy(result);
    if (cutis_character_load("corrected.glb", NULL, &loaded, &error) != CUTIS_OK) fail_msg("%s", error.text);

    for (int f = 0; f < 6; f++) {
        double lifted, given, own;
        double lowest = pose_height(loaded, "jump", f / 30.0, &lifted);
        double before = pose_height(loaded, "jump.animated", f / 30.0, &given);
        pose_height(man, "jump", f / 30.0, &own);
        if (!(fabs(given - own) < 1e-5))
            fail_msg("frame %d: %g, lifted %g, given %g, lowest %g before %g", f, own, lifted, given, lowest, before);
        assert_true(lifted > given + 0.02);
        assert_true(before < 0.02 && lowest > 0.1 - 0.005 * 1.8);
    }
    unlink("corrected.glb");
    cutis_character_destroy(loaded);
    cutis_character_destroy(man);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_bake_is_read_back_as_a_cache),
        cmocka_unit_test(test_an_interrupted_bake_writes_nothing),
        cmocka_unit_test(zoo_characters_play_what_was_simulated),
        cmocka_unit_test(files_play_what_was_simulated),
        cmocka_unit_test(second_bake_keeps_the_first),
        cmocka_unit_test(one_mesh_in_two_places),
        cmocka_unit_test(threads_do_not_change_the_file),
        cmocka_unit_test(flat_blends_do_not_blow_up),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(corrected_poses_are_tracks_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
