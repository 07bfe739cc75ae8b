/* test_cache.c: caches hold what was written, in the layout other programs read, and appear whole or not at all. */
#include "testing.h"

#include <sys/stat.h>
#include <unistd.h>

enum { FRAMES = 5 };

static char folder[100];

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/cutis_cache_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(folder); /* every test removes what it made; anything else left is a mistake of the writer */
}

static const char *in_folder(const char *name)
{
    static char paths[4][200];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* Positions that differ in every number. */
static void make_frame(int frame, int vertex_count, float *positions)
{
    for (int i = 0; i < 3 * vertex_count; i++) positions[i] = (float)frame + (float)i / 1000 - 0.1f;
}

static void write_cache(const char *path, const cutis_character *character, int frames, double start, double fps)
{
    cutis_cache_writer *writer;
    cutis_error error = {0};
    cutis_cache_info info = {character->vertex_count, frames, start, fps, character, 3};
    cutis_result result = cutis_cache_create(path, &info, NULL, &writer, &error);
    if (result) print_error("%s\n", error.text);
    assert_int_equal(result, CUTIS_OK);
    float *positions = malloc((size_t)character->vertex_count * 12);
    for (int f = 0; f < frames; f++) {
        make_frame(f, character->vertex_count, positions);
        assert_int_equal(cutis_cache_append(writer, positions, &error), CUTIS_OK);
    }
    free(positions);
    assert_int_equal(cutis_cache_finish(writer, &error), CUTIS_OK);
}

static void assert_cache(const char *path, int vertices, int frames, double start, double fps)
{
    cutis_cache *cache;
    cutis_error error = {0};
    cutis_result result = cutis_cache_load(path, NULL, &cache, &error);
    if (result) print_error("%s\n", error.text);
    assert_int_equal(result, CUTIS_OK);
    assert_int_equal(cache->vertex_count, vertices);
    assert_int_equal(cache->frame_count, frames);
    assert_true(fabs(cache->start - start) < 1e-6);
    assert_true(cache->fps == fps);
    float *positions = malloc((size_t)vertices * 12);
    for (int f = 0; f < frames; f++) {
        make_frame(f, vertices, positions);
        assert_memory_equal(positions, cache->positions + (size_t)f * (size_t)vertices * 3, (size_t)vertices * 12);
    }
    free(positions);
    cutis_cache_destroy(cache);
}

static cutis_character *tube_make(void)
{
    cutis_character *tube;
    assert_int_equal(test_tube(NULL, &tube, NULL), CUTIS_OK);
    return tube;
}

static void remove_frames(const char *path, int count)
{
    char name[300];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s/frame_%04d.obj", path, i);
        remove(name);
    }
    rmdir(path);
}

static void test_every_format_comes_back(void **state)
{
    (void)state;
    cutis_character *tube = tube_make();
    const struct {
        const char *name;
        double start, fps;
    } cases[] = {{"a.pc2", 0.5, 30}, {"a.mdd", 0.5, 60}, {"a.npy", 0, 30}, {"A.MDD", 0, 29.97}};
    for (int i = 0; i < 4; i++) {
        assert_true(cutis_cache_known(cases[i].name));
        const char *path = in_folder(cases[i].name);
        write_cache(path, tube, FRAMES, cases[i].start, cases[i].fps);
        if (i < 3) assert_cache(path, tube->vertex_count, FRAMES, cases[i].start, cases[i].fps);
        remove(path);
    }
    const char *path = in_folder("frames.obj");
    write_cache(path, tube, FRAMES, 0.25, 48);
    assert_cache(path, tube->vertex_count, FRAMES, 0.25, 48);
    /* each frame is a mesh with all faces */
    char frame[300];
    snprintf(frame, sizeof frame, "%s/frame_0003.obj", path);
    cutis_character *c;
    assert_int_equal(cutis_character_load(frame, NULL, &c, NULL), CUTIS_OK);
    assert_int_equal(c->face_count, tube->face_count);
    cutis_character_destroy(c);
    remove_frames(path, FRAMES);
    assert_false(cutis_cache_known("a.abc"));
    cutis_character_destroy(tube);
}

static uint32_t big(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

/* The bytes of a cache of two frames at 25 per second; returns their number. */
static size_t write_and_read(const char *path, const cutis_character *tube, double start, uint8_t *data, size_t limit)
{
    write_cache(path, tube, 2, start, 25);
    FILE *file = fopen(path, "rb");
    size_t size = fread(data, 1, limit, file);
    fclose(file);
    remove(path);
    return size;
}

/* The layouts as Blender's Mesh Cache modifier and NumPy read them, byte by byte. */
static void test_layouts_are_those_of_other_programs(void **state)
{
    (void)state;
    cutis_character *tube = tube_make();
    static uint8_t data[64 * 1024];
    size_t n = (size_t)tube->vertex_count;
    float first[3 * TEST_TUBE_VERTICES], last[3 * TEST_TUBE_VERTICES];
    make_frame(0, tube->vertex_count, first);
    make_frame(1, tube->vertex_count, last);

    size_t size = write_and_read(in_folder("b.pc2"), tube, 1.5, data, sizeof data);
    struct {
        char magic[12];
        int32_t version, vertices;
        float start, sampling; /* in frames */
        int32_t frames;
    } head;
    assert_int_equal(sizeof head, 32);
    memcpy(&head, data, 32);
    assert_string_equal(head.magic, "POINTCACHE2");
    assert_true(head.version == 1 && head.vertices == (int)n && head.frames == 2);
    assert_true(head.start == 37.5f && head.sampling == 1);
    assert_int_equal(size, 32 + 2 * n * 12);
    assert_memory_equal(data + 32 + n * 12, last, n * 12);

    size = write_and_read(in_folder("b.mdd"), tube, 1.5, data, sizeof data);
    assert_int_equal(size, 8 + 8 + 2 * n * 12);
    assert_true(big(data) == 2 && big(data + 4) == n);
    assert_true(as_float(big(data + 8)) == 1.5f && as_float(big(data + 12)) == 1.54f);
    for (size_t i = 0; i < 3 * n; i++) assert_true(as_float(big(data + 16 + 4 * i)) == first[i]);

    size = write_and_read(in_folder("b.npy"), tube, 0, data, sizeof data);
    assert_memory_equal(data, "\x93NUMPY\x01\x00", 8);
    size_t header = data[8] | (size_t)data[9] << 8;
    assert_int_equal((10 + header) % 64, 0);
    assert_int_equal(data[10 + header - 1], '\n');
    char expected[100];
    snprintf(expected, sizeof expected, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, %zu, 3), }", n);
    assert_memory_equal(data + 10, expected, strlen(expected));
    assert_int_equal(size, 10 + header + 2 * n * 12);
    assert_memory_equal(data + 10 + header, first, n * 12);
    cutis_character_destroy(tube);
}

static void test_an_unfinished_cache_leaves_the_old_one(void **state)
{
    (void)state;
    cutis_character *tube = tube_make();
    const char *names[] = {"c.pc2", "c.mdd", "c.npy", "c.obj"};
    float positions[3 * TEST_TUBE_VERTICES] = {0};
    for (int i = 0; i < 4; i++) {
        const char *path = in_folder(names[i]);
        write_cache(path, tube, 2, 0, 30);
        cutis_cache_writer *writer;
        cutis_error error = {0};
        cutis_cache_info info = {tube->vertex_count, 3, 0, 30, tube, 3};
        assert_int_equal(cutis_cache_create(path, &info, NULL, &writer, &error), CUTIS_OK);
        assert_int_equal(cutis_cache_append(writer, positions, &error), CUTIS_OK);
        cutis_cache_discard(writer);
        assert_cache(path, tube->vertex_count, 2, 0, 30);
        /* too few frames, and too many */
        assert_int_equal(cutis_cache_create(path, &info, NULL, &writer, &error), CUTIS_OK);
        assert_int_equal(cutis_cache_append(writer, positions, &error), CUTIS_OK);
        assert_int_equal(cutis_cache_finish(writer, &error), CUTIS_ERROR_ARGUMENT);
        assert_non_null(strstr(error.text, "3 frames but received 1"));
        assert_cache(path, tube->vertex_count, 2, 0, 30);
        info.frame_count = 1;
        assert_int_equal(cutis_cache_create(path, &info, NULL, &writer, &error), CUTIS_OK);
        assert_int_equal(cutis_cache_append(writer, positions, &error), CUTIS_OK);
        assert_int_equal(cutis_cache_append(writer, positions, &error), CUTIS_ERROR_ARGUMENT);
        cutis_cache_discard(writer);
        if (i < 3)
            remove(path);
        else
            remove_frames(path, 2);
    }
    cutis_cache_discard(NULL);
    cutis_character_destroy(tube);
}

static void test_a_folder_keeps_what_is_not_ours(void **state)
{
    (void)state;
    cutis_character *tube = tube_make();
    const char *path = in_folder("d.obj");
    char notes[300], other[300];
    write_cache(path, tube, FRAMES, 0, 30);
    snprintf(notes, sizeof notes, "%s/notes.txt", path);
    snprintf(other, sizeof other, "%s/frame_x.obj", path);
    fclose(fopen(notes, "w"));
    fclose(fopen(other, "w"));
    write_cache(path, tube, 2, 0, 30); /* fewer frames: the old ones must go */
    assert_cache(path, tube->vertex_count, 2, 0, 30);
    assert_int_equal(access(notes, F_OK), 0);
    assert_int_equal(access(other, F_OK), 0);
    remove(notes);
    remove(other);
    remove_frames(path, 2);

    /* a file of that name is not touched */
    fclose(fopen(path, "w"));
    cutis_cache_writer *writer;
    cutis_error error = {0};
    cutis_cache_info info = {tube->vertex_count, 3, 0, 30, tube, 3};
    assert_int_equal(cutis_cache_create(path, &info, NULL, &writer, &error), CUTIS_ERROR_FILE);
    assert_non_null(strstr(error.text, "this is a file"));
    assert_null(writer);
    remove(path);
    cutis_character_destroy(tube);
}

static void test_bad_requests_are_refused(void **state)
{
    (void)state;
    cutis_cache_writer *writer;
    cutis_cache *cache;
    cutis_error error = {0};
    cutis_cache_info info = {3, 3, 0, 30, NULL, 3};
    assert_int_equal(cutis_cache_create("x.abc", &info, NULL, &writer, &error), CUTIS_ERROR_ARGUMENT);
    assert_int_equal(cutis_cache_create(in_folder("x.obj"), &info, NULL, &writer, &error), CUTIS_ERROR_ARGUMENT);
    assert_int_equal(cutis_cache_create("/nowhere/x.pc2", &info, NULL, &writer, &error), CUTIS_ERROR_FILE);
    info.fps = 0;
    assert_int_equal(cutis_cache_create(in_folder("x.pc2"), &info, NULL, &writer, &error), CUTIS_ERROR_ARGUMENT);
    assert_int_equal(cutis_cache_load("/nowhere/x.pc2", NULL, &cache, &error), CUTIS_ERROR_FILE);
    assert_int_equal(cutis_cache_load("/nowhere/x.obj", NULL, &cache, &error), CUTIS_ERROR_FILE);
    assert_int_equal(cutis_cache_load("x.abc", NULL, &cache, &error), CUTIS_ERROR_ARGUMENT);
    assert_int_equal(cutis_cache_load(folder, NULL, &cache, &error), CUTIS_ERROR_ARGUMENT);
}

static void test_files_cut_short_say_what_they_hold(void **state)
{
    (void)state;
    cutis_character *tube = tube_make();
    const char *names[] = {"e.pc2", "e.mdd", "e.npy"};
    for (int i = 0; i < 3; i++) {
        const char *path = in_folder(names[i]);
        write_cache(path, tube, FRAMES, 0, 30);
        struct stat info;
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(truncate(path, info.st_size - 10), 0);
        cutis_cache *cache;
        cutis_error error = {0};
        assert_int_equal(cutis_cache_load(path, NULL, &cache, &error), CUTIS_ERROR_FORMAT);
        assert_non_null(strstr(error.text, "holds 4 of 5 frames"));
        remove(path);
    }
    cutis_character_destroy(tube);
}

typedef struct write_job {
    const cutis_character *character;
    const char *path;
} write_job;

static bool write_once(void *context, const cutis_allocator *allocator)
{
    write_job *job = context;
    cutis_cache_info info = {job->character->vertex_count, 2, 0, 30, job->character, 3};
    cutis_cache_writer *writer;
    cutis_cache *cache;
    cutis_error error = {0};
    if (cutis_cache_create(job->path, &info, allocator, &writer, &error) != CUTIS_OK) {
        assert_int_equal(error.code, CUTIS_ERROR_MEMORY);
        return false;
    }
    for (int f = 0; f < 2; f++)
        if (cutis_cache_append(writer, job->character->positions, &error) != CUTIS_OK) {
            assert_int_equal(error.code, CUTIS_ERROR_MEMORY);
            cutis_cache_discard(writer);
            return false;
        }
    if (cutis_cache_finish(writer, &error) != CUTIS_OK) return false;
    if (cutis_cache_load(job->path, allocator, &cache, &error) != CUTIS_OK) return false;
    cutis_cache_destroy(cache);
    return true;
}

static void test_every_allocation_failing(void **state)
{
    (void)state;
    cutis_character *tube = tube_make();
    const char *names[] = {"f.pc2", "f.mdd", "f.npy", "f.obj"};
    for (int i = 0; i < 4; i++) {
        write_job job = {tube, in_folder(names[i])};
        assert_true(test_every_allocation(write_once, &job) > 3);
        if (i < 3)
            remove(job.path);
        else
            remove_frames(job.path, 2);
    }
    cutis_character_destroy(tube);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_format_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_layouts_are_those_of_other_programs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_unfinished_cache_leaves_the_old_one, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_folder_keeps_what_is_not_ours, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_requests_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_files_cut_short_say_what_they_hold, setup, teardown),
        cmocka_unit_test_setup_teardown(test_every_allocation_failing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
