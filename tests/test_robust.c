/*
 * test_robust.c: no damaged file, however it is damaged, and no failing allocation makes a reader crash, leak,
 * hang or take memory out of proportion. Meant for a build with sanitizers; CUTIS_MUTATIONS sets how many
 * damaged files are tried in all (100,000 unless set).
 */
#include "testing.h"

#include <time.h>

#include <jansson.h>

#include "dae_sample.h"
#include "fbx_sample.h"
#include "gltf_sample.h"
#include "io/cache/cache_file.h"
#include "pack_sample.h"
#include "retarget/bvh_motion.h"

/* ---- small files of every format ---- */

typedef struct input {
    uint8_t bytes[16384];
    size_t size;
} input;

static const char obj_text[] =
    "# thing\no body\nv 0 0 0\nv 1 0 0 1 1 1\nv 1 1 0\nv 0 1 \\\n 0\nv 0.5 0.5 1e0\nvt 0 0\nvt 1 0.5\nusemtl skin\n"
    "f 1/1 2/2 3/1 4/2\nf -5 -4 -1\ng cap\nf 2//1 3//1 5\n";

static const char bvh_text[] =
    "HIERARCHY\nROOT upper\n{\nOFFSET 0 1 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
    "JOINT lower\n{\nOFFSET 1 0 0.5\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 1 0 "
    "0\n}\n}\n}\nMOTION\n"
    "Frames: 2\nFrame Time: 0.0333\n0 0 0 10 20 30 40 50 60\n1 2 3 -10 0.5 1e1 4 5 6\n";

static const char ply_text[] =
    "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty uchar red\nproperty float y\nproperty float "
    "z\n"
    "property float s\nproperty float t\nelement face 2\nproperty list uchar int vertex_indices\nelement tristrips 1\n"
    "property list int int vertex_indices\nend_header\n0 9 0 0 0 0\n1 9 0 0 1 0\n1 9 1 0 1 1\n0 9 1 0 0 1\n"
    "3 0 1 2\n4 0 1 2 3\n6 0 1 2 -1 3 2\n";

static const char stl_text[] =
    "solid one\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1.5 0\nendloop\nendfacet\n"
    "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet\nendsolid one\n";

static const char off_text[] =
    "COFF\n# thing\n4 3 0\n0 0 0 255 0 0\n1 0 0\n1 1 0\n0 1 1\n3 0 1 2\n4 0 1 2 3 0.5\n3 2 1 3\n";

static void put_word(input *in, uint32_t word, bool big)
{
    for (int i = 0; i < 4; i++) in->bytes[in->size++] = (uint8_t)(word >> (big ? 24 - 8 * i : 8 * i));
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static void input_text(input *in, const char *text)
{
    in->size = strlen(text);
    memcpy(in->bytes, text, in->size);
}

static void input_glb(input *in)
{
    sample s = sample_make();
    /* A second primitive, a prop, settings and a sparse accessor, so that most of the reader is reached. */
    sample_edit(&s, "'nodes':[0,3]", "'nodes':[0,3,4]");
    sample_edit(&s, "'translation':[50,0,0]}",
                "'translation':[50,0,0]},{'name':'ball','mesh':0,'extras':{'cutis':{'role':'rigid','mass':2}}}");
    sample_edit(&s, "{'name':'tip',", "{'extras':{'cutis':{'stiffness':0.25}},'name':'tip',");
    sample_edit(&s, "'primitives':[",
                "'primitives':[{'mode':5,'attributes':{'POSITION':0,'JOINTS_0':1,'WEIGHTS_0':2}},");
    sample_edit(
        &s, "'bufferView':9,'componentType':5126,'count':6,'type':'VEC3'",
        "'componentType':5126,'count':6,'type':'VEC3','sparse':{'count':2,'indices':{'bufferView':3,'byteOffset':2,"
        "'componentType':5123},'values':{'bufferView':9}}");
    sample_edit(&s, "'samplers':[", "'samplers':[{'input':5,'output':5,'interpolation':'STEP'},");
    sample_edit(&s, "'channels':[{'sampler':0,",
                "'channels':[{'sampler':0,'target':{'node':3,'path':'weights'}},{'sampler':1,");
    sample_build(&s);
    memcpy(in->bytes, s.file, s.size);
    in->size = s.size;
}

static void input_gltf(input *in)
{
    sample s = sample_make();
    char uri[900] = "'byteLength':528,'uri':'data:application/octet-stream;base64,";
    size_t length = strlen(uri);
    for (int i = 0; i < 528; i += 3) { /* base64, with digits from a formula to keep the table out of here */
        unsigned bits = (unsigned)s.bin[i] << 16 | (unsigned)s.bin[i + 1] << 8 | s.bin[i + 2];
        for (int k = 0; k < 4; k++) {
            unsigned d = bits >> (18 - 6 * k) & 63;
            uri[length++] = (char)(d < 26    ? 'A' + d
                                   : d < 52  ? 'a' + d - 26
                                   : d < 62  ? '0' + d - 52
                                   : d == 62 ? '+'
                                             : '/');
        }
    }
    strcpy(uri + length, "'}]");
    sample_edit(&s, "'byteLength':528}]", uri);
    sample_quote(s.json);
    input_text(in, s.json);
}

static void input_obj(input *in) { input_text(in, obj_text); }

static void input_bvh(input *in) { input_text(in, bvh_text); }

static void input_sample(input *in, sample s)
{
    sample_build(&s);
    memcpy(in->bytes, s.file, s.size);
    in->size = s.size;
}

static void input_meshopt(input *in) { input_sample(in, pack_sample_make("KHR_meshopt_compression", 0x52, true)); }

static void input_draco(input *in)
{
#ifdef CUTIS_HAS_DRACO
    input_sample(in, draco_sample_make());
#else
    input_meshopt(in);
#endif
}

static void input_made(input *in, char *text)
{
    input_text(in, text);
    free(text);
}

static void input_dae(input *in) { input_made(in, dae_sample_rich()); }

static void input_fbx(input *in) { input_made(in, fbx_sample_rich()); }

static void input_fbx_binary(input *in) { in->size = fbx_sample_binary(in->bytes); }

static void input_ply(input *in) { input_text(in, ply_text); }

static void input_stl(input *in) { input_text(in, stl_text); }

static void input_off(input *in) { input_text(in, off_text); }

static void input_ply_binary(input *in)
{
    input_text(in, "ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                   "property float z\nelement face 1\nproperty list int int vertex_indices\nproperty list int float "
                   "texcoord\nend_header\n");
    static const float points[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    for (int i = 0; i < 9; i++) put_word(in, float_bits(points[i]), true);
    for (uint32_t i = 0; i < 4; i++) put_word(in, i ? i - 1 : 3, true);
    put_word(in, 6, true);
    for (int i = 0; i < 6; i++) put_word(in, float_bits(0.5f), true);
}

static void input_stl_binary(input *in)
{
    memset(in->bytes, 0, 80);
    in->size = 80;
    put_word(in, 2, false);
    for (int t = 0; t < 2; t++) {
        const float values[12] = {0, 0, 1, 0, 0, (float)t, 1, 0, 0, 0, 1, 0};
        for (int i = 0; i < 12; i++) put_word(in, float_bits(values[i]), false);
        in->bytes[in->size++] = 0;
        in->bytes[in->size++] = 0;
    }
}

static void input_pc2(input *in)
{
    memcpy(in->bytes, "POINTCACHE2", 12);
    in->size = 12;
    const uint32_t words[] = {1, 2, float_bits(0.5f), float_bits(1 / 30.0f), 3};
    for (int i = 0; i < 5; i++) put_word(in, words[i], false);
    for (int i = 0; i < 18; i++) put_word(in, float_bits((float)i), false);
}

static void input_mdd(input *in)
{
    in->size = 0;
    put_word(in, 3, true);
    put_word(in, 2, true);
    for (int i = 0; i < 3; i++) put_word(in, float_bits((float)i / 30), true);
    for (int i = 0; i < 18; i++) put_word(in, float_bits((float)i), true);
}

static void input_npy(input *in)
{
    static const char text[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2, 3), }         \n";
    memcpy(in->bytes, "\x93NUMPY\x01\x00", 8);
    in->bytes[8] = (uint8_t)strlen(text);
    in->bytes[9] = 0;
    memcpy(in->bytes + 10, text, strlen(text));
    in->size = 10 + strlen(text);
    for (int i = 0; i < 18; i++) put_word(in, float_bits((float)i), false);
}

/* ---- readers ---- */

static cutis_character *tube; /* what motion is put on */

static bool read_character(const char *name, const uint8_t *bytes, size_t size, const cutis_allocator *allocator,
                           cutis_error *error)
{
    cutis_character *c = NULL;
    cutis_result result = cutis_character_load_memory(bytes, size, name, allocator, &c, error);
    assert_true((result == CUTIS_OK) == (c != NULL));
    cutis_character_destroy(c);
    return result == CUTIS_OK;
}

static bool read_glb(const uint8_t *b, size_t n, const cutis_allocator *a, cutis_error *e)
{
    return read_character("a.glb", b, n, a, e);
}
static bool read_gltf(const uint8_t *b, size_t n, const cutis_allocator *a, cutis_error *e)
{
    return read_character("a.gltf", b, n, a, e);
}
static bool read_obj(const uint8_t *b, size_t n, const cutis_allocator *a, cutis_error *e)
{
    return read_character("a.obj", b, n, a, e);
}

static bool read_ply(const uint8_t *b, size_t n, const cutis_allocator *a, cutis_error *e)
{
    return read_character("a.ply", b, n, a, e);
}
static bool read_stl(const uint8_t *b, size_t n, const cutis_allocator *a, cutis_error *e)
{
    return read_character("a.stl", b, n, a, e);
}
static bool read_fbx(const uint8_t *b, size_t n, const cutis_allocator *a, cutis_error *e)
{
    return read_character("a.fbx", b, n, a, e);
}
static bool read_dae(const uint8_t *b, size_t n, const cutis_allocator *a, cutis_error *e)
{
    return read_character("a.dae", b, n, a, e);
}
static bool read_off(const uint8_t *b, size_t n, const cutis_allocator *a, cutis_error *e)
{
    return read_character("a.off", b, n, a, e);
}

static bool read_bvh(const uint8_t *bytes, size_t size, const cutis_allocator *allocator, cutis_error *error)
{
    cutis_character *c = NULL;
    const cutis_name_pair pair = {"Up.per", "upper"};
    cutis_result result = bvh_motion_add(tube, (const char *)bytes, size, "a.bvh", &pair, 1, allocator, &c, error);
    assert_true((result == CUTIS_OK) == (c != NULL));
    cutis_character_destroy(c);
    return result == CUTIS_OK;
}

static bool read_cache(const char *name, const uint8_t *bytes, size_t size, const cutis_allocator *allocator,
                       cutis_error *error)
{
    cutis_cache *cache = NULL;
    cutis_result result = cache_read_memory(bytes, size, name, allocator, &cache, error);
    assert_true((result == CUTIS_OK) == (cache != NULL));
    cutis_cache_destroy(cache);
    return result == CUTIS_OK;
}

static bool read_pc2(const uint8_t *b, size_t n, const cutis_allocator *a, cutis_error *e)
{
    return read_cache("a.pc2", b, n, a, e);
}
static bool read_mdd(const uint8_t *b, size_t n, const cutis_allocator *a, cutis_error *e)
{
    return read_cache("a.mdd", b, n, a, e);
}
static bool read_npy(const uint8_t *b, size_t n, const cutis_allocator *a, cutis_error *e)
{
    return read_cache("a.npy", b, n, a, e);
}

typedef struct reader {
    const char *name;
    void (*make)(input *in);
    bool (*read)(const uint8_t *bytes, size_t size, const cutis_allocator *allocator, cutis_error *error);
    int share;    /* of 100 mutations */
    bool may_end; /* text that may end early and still be whole: a number with fewer digits, a missing last line */
} reader;

static const reader readers[] = {{"glb", input_glb, read_glb, 22, false},
                                 {"gltf", input_gltf, read_gltf, 15, false},
                                 {"obj", input_obj, read_obj, 10, true},
                                 {"bvh", input_bvh, read_bvh, 10, true},
                                 {"pc2", input_pc2, read_pc2, 5, false},
                                 {"mdd", input_mdd, read_mdd, 5, false},
                                 {"npy", input_npy, read_npy, 5, false},
                                 {"ply", input_ply, read_ply, 4, true},
                                 {"binary ply", input_ply_binary, read_ply, 4, false},
                                 {"stl", input_stl, read_stl, 4, true},
                                 {"binary stl", input_stl_binary, read_stl, 4, false},
                                 {"dae", input_dae, read_dae, 4, true},
                                 {"fbx", input_fbx, read_fbx, 4, true},
                                 {"binary fbx", input_fbx_binary, read_fbx, 4, false},
                                 {"meshopt", input_meshopt, read_glb, 4, false},
                                 {"draco", input_draco, read_glb, 4, false},
                                 {"off", input_off, read_off, 4, true}};

enum { READERS = sizeof readers / sizeof readers[0] };

/* Read exactly these bytes from a block of their own, so that a sanitizer sees a read beyond them. */
static bool read_copy(const reader *r, const uint8_t *bytes, size_t size, const cutis_allocator *allocator,
                      cutis_error *error)
{
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    bool good = r->read(copy, size, allocator, error);
    free(copy);
    return good;
}

/* A damaged file: no leak, and when it is refused a sentence in one line. */
static bool read_damaged(const reader *r, const uint8_t *bytes, size_t size)
{
    test_memory memory = {0};
    cutis_allocator allocator = test_allocator(&memory);
    cutis_error error = {.text = ""};
    bool good = read_copy(r, bytes, size, &allocator, &error);
    assert_memory_clean(&memory);
    if (!good) {
        assert_true(error.text[0] != 0);
        assert_null(strchr(error.text, '\n'));
        assert_non_null(memchr(error.text, 0, sizeof error.text));
    }
    return good;
}

/* ---- tests ---- */

static void test_the_samples_themselves_are_read(void **state)
{
    (void)state;
    for (int i = 0; i < READERS; i++) {
        input in = {.size = 0};
        readers[i].make(&in);
        bool good = read_damaged(&readers[i], in.bytes, in.size);
        if (!good) print_error("%s\n", readers[i].name);
        assert_true(good);
    }
}

static void test_truncation_at_every_byte(void **state)
{
    (void)state;
    for (int i = 0; i < READERS; i++) {
        input in = {.size = 0};
        readers[i].make(&in);
        int good = 0;
        for (size_t size = 0; size < in.size; size++) good += read_damaged(&readers[i], in.bytes, size);
        if (!readers[i].may_end) assert_int_equal(good, 0);
    }
}

static uint32_t random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Damage a file in one of the ways that find mistakes: bits, bytes, numbers, pieces moved, doubled or lost. */
static void mutate(input *in, uint64_t *random)
{
    static const char *const tokens[] = {"-1",   "0",      "99999999", "4294967295", "1e38", "9e15",
                                         "-0.0", "1e-320", "[]",       "{}",         "null", "2147483647"};
    int changes = 1 + (int)(random_next(random) % 4);
    for (int c = 0; c < changes && in->size > 0; c++) {
        size_t at = random_next(random) % in->size, length = 1 + random_next(random) % 24,
               to = random_next(random) % in->size;
        if (length > in->size - at) length = in->size - at;
        switch (random_next(random) % 7) {
        case 0:
            in->bytes[at] ^= (uint8_t)(1u << (random_next(random) % 8));
            break;
        case 1:
            in->bytes[at] = (uint8_t)random_next(random);
            break;
        case 2: { /* another number where a number begins */
            while (at < in->size && !(in->bytes[at] >= '0' && in->bytes[at] <= '9')) at++;
            const char *token = tokens[random_next(random) % (sizeof tokens / sizeof tokens[0])];
            size_t old = 0, size = strlen(token);
            while (at + old < in->size && in->bytes[at + old] >= '0' && in->bytes[at + old] <= '9') old++;
            if (in->size - old + size > sizeof in->bytes) break;
            memmove(in->bytes + at + size, in->bytes + at + old, in->size - at - old);
            memcpy(in->bytes + at, token, size);
            in->size = in->size - old + size;
            break;
        }
        case 3: /* one digit, so that an index stays near */
            while (at < in->size && !(in->bytes[at] >= '0' && in->bytes[at] <= '9')) at++;
            if (at < in->size) in->bytes[at] = (uint8_t)('0' + random_next(random) % 10);
            break;
        case 4: /* lose a piece */
            memmove(in->bytes + at, in->bytes + at + length, in->size - at - length);
            in->size -= length;
            break;
        case 5: /* double a piece */
            if (in->size + length > sizeof in->bytes) break;
            memmove(in->bytes + at + length, in->bytes + at, in->size - at);
            in->size += length;
            break;
        default: /* write a piece over another */
            if (length > in->size - to) length = in->size - to;
            memmove(in->bytes + to, in->bytes + at, length);
        }
    }
}

/* Let the lengths of a .glb agree again, so that damage inside its JSON is reached. */
static void repair_glb(input *in, const input *original)
{
    size_t json = original->bytes[12] | (size_t)original->bytes[13] << 8, tail = original->size - 20 - json;
    if (in->size < 20 + tail + 4) return;
    memcpy(in->bytes, original->bytes, 20);
    sample_word(in->bytes + 8, in->size);
    sample_word(in->bytes + 12, in->size - 20 - tail);
    memcpy(in->bytes + in->size - tail, original->bytes + 20 + json, 8);
}

static void test_random_mutations(void **state)
{
    (void)state;
    const char *setting = getenv("CUTIS_MUTATIONS");
    long total = setting ? atol(setting) : 100000;
    uint64_t random = 20240229;
    for (int i = 0; i < READERS; i++) {
        input original = {.size = 0};
        readers[i].make(&original);
        long count = total * readers[i].share / 100, good = 0;
        for (long m = 0; m < count; m++) {
            static input in;
            memcpy(&in, &original, sizeof in);
            mutate(&in, &random);
            bool binary = readers[i].read == read_glb;
            if (binary && m % 4 != 0) repair_glb(&in, &original);
            if (binary && m % 16 == 0) /* one of the lengths and types of the container */
                sample_word(in.bytes + 4 * (random_next(&random) % 5),
                            random_next(&random) >> random_next(&random) % 31);
            good += read_damaged(&readers[i], in.bytes, in.size);
        }
        print_message("%s: %ld mutations, %ld of them still read\n", readers[i].name, count, good);
        /* Damage must reach the depth of the reader: some files survive it, most do not. */
        if (count >= 1000) assert_true(good > 0 && good < count);
    }
}

typedef struct read_job {
    const reader *r;
    input in;
} read_job;

static bool read_once(void *context, const cutis_allocator *allocator)
{
    read_job *job = context;
    cutis_error error = {.text = ""};
    bool good = job->r->read(job->in.bytes, job->in.size, allocator, &error);
    if (!good) assert_int_equal(error.code, CUTIS_ERROR_MEMORY);
    return good;
}

static void test_every_allocation_failing(void **state)
{
    (void)state;
    for (int i = 0; i < READERS; i++) {
        read_job job = {.r = &readers[i]};
        readers[i].make(&job.in);
        long allocations = test_every_allocation(read_once, &job);
        assert_true(allocations > 0);
    }
}

/* jansson has its own allocator, for the whole process. */
static long json_calls, json_fail_at, json_live;

static void *json_allocate(size_t size)
{
    if (++json_calls == json_fail_at) return NULL;
    json_live++;
    return malloc(size);
}

static void json_release(void *block)
{
    if (block) json_live--;
    free(block);
}

static void test_every_allocation_of_the_json_library_failing(void **state)
{
    (void)state;
    input in = {.size = 0};
    input_gltf(&in);
    json_set_alloc_funcs(json_allocate, json_release);
    bool good = false;
    for (json_fail_at = 1; !good && json_fail_at < 100000; json_fail_at++) {
        test_memory memory = {0};
        cutis_allocator allocator = test_allocator(&memory);
        cutis_error error = {.text = ""};
        json_calls = 0;
        good = read_gltf(in.bytes, in.size, &allocator, &error);
        assert_memory_clean(&memory);
        assert_int_equal(json_live, 0);
        assert_true(good || error.text[0]);
        /* jansson itself goes on when its buffer for a long string cannot grow, so success proves nothing. */
        good = json_calls < json_fail_at;
    }
    assert_true(good);

    /* and while writing */
    bool saved = false;
    for (json_fail_at = 1; !saved && json_fail_at < 100000; json_fail_at++) {
        cutis_error error = {.text = ""};
        json_calls = 0;
        saved = cutis_character_save(tube, "/tmp/cutis_robust.glb", &error) == CUTIS_OK;
        assert_int_equal(json_live, 0);
        assert_true(saved || error.code == CUTIS_ERROR_MEMORY);
    }
    assert_true(saved);
    remove("/tmp/cutis_robust.glb");
    json_set_alloc_funcs(malloc, free);
}

/* An allocator with a bound on what it has given out at one time. */
typedef struct bounded {
    test_memory memory;
    long limit;
    bool exceeded;
} bounded;

static void *bounded_allocate(void *context, size_t size, size_t alignment)
{
    bounded *b = context;
    if (atomic_load(&b->memory.live_bytes) + (long)size > b->limit || (long)size < 0) {
        b->exceeded = true;
        return NULL;
    }
    return test_memory_allocate(&b->memory, size, alignment);
}

static void bounded_release(void *context, void *block, size_t size)
{
    test_memory_release(&((bounded *)context)->memory, block, size);
}

static void test_declared_sizes_take_no_memory(void **state)
{
    (void)state;
    static const char gltf[] =
        "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],\"meshes\":[{"
        "\"primitives\":[{\"attributes\":"
        "{\"POSITION\":0}}]}],\"accessors\":[{\"componentType\":5126,\"count\":100000000,\"type\":\"VEC3\"}]}";
    static const char bvh[] = "HIERARCHY ROOT upper { CHANNELS 1 Xposition } MOTION Frames: 2000000000 Frame Time: 1 0";
    input pc2 = {.size = 0}, mdd = {.size = 0}, npy = {.size = 0};
    input_pc2(&pc2);
    memset(pc2.bytes + 16, 0x7f, 4);
    memset(pc2.bytes + 28, 0x7f, 4);
    input_mdd(&mdd);
    memset(mdd.bytes, 0x7f, 8);
    input_npy(&npy);
    memcpy(strstr((char *)npy.bytes + 10, "(3, 2, 3)"), "(9999999,99999999,3)", 20);
    const struct {
        const reader *r;
        const void *bytes;
        size_t size;
    } cases[] = {{&readers[1], gltf, sizeof gltf - 1},
                 {&readers[3], bvh, sizeof bvh - 1},
                 {&readers[4], pc2.bytes, pc2.size},
                 {&readers[5], mdd.bytes, mdd.size},
                 {&readers[6], npy.bytes, npy.size}};
    for (int i = 0; i < 5; i++) {
        bounded b = {.limit = 8 << 20};
        cutis_allocator allocator = {&b, bounded_allocate, bounded_release};
        cutis_error error = {.text = ""};
        assert_false(read_copy(cases[i].r, cases[i].bytes, cases[i].size, &allocator, &error));
        assert_false(b.exceeded);
        assert_true(error.code == CUTIS_ERROR_FORMAT || error.code == CUTIS_ERROR_DATA);
        assert_memory_clean(&b.memory);
    }
}

/* Files made to be slow: a chain of nodes, equal names, instances of instances, nested arrays. */
static void test_nothing_grows_out_of_proportion(void **state)
{
    (void)state;
    enum { NODES = 20000 };
    size_t capacity = 4 << 20, length = 0;
    char *text = malloc(capacity);
    cutis_error error = {.text = ""};
    length += (size_t)sprintf(
        text, "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"animations\":[{}],\"nodes\":[");
    for (int i = 0; i < NODES; i++)
        length += (size_t)sprintf(text + length,
                                  "%s{\"name\":\"same\",\"translation\":[1e-3,0,0],\"mesh\":0,\"children\":[%d]}",
                                  i ? "," : "", i + 1);
    length += (size_t)sprintf(
        text + length,
        ",{\"name\":\"same\"}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"accessors\":[{"
        "\"bufferView\":0,"
        "\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],"
        "\"buffers\":"
        "[{\"byteLength\":36,\"uri\":\"data:;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"}]}");
    assert_true(length < capacity);
    clock_t before = clock();
    cutis_character *c = NULL;
    cutis_result result = cutis_character_load_memory(text, length, "deep.gltf", NULL, &c, &error);
    if (result) print_error("%s\n", error.text);
    assert_int_equal(result, CUTIS_OK);
    assert_int_equal(c->joint_count, NODES);
    assert_int_equal(c->vertex_count, 3 * NODES);
    cutis_character_destroy(c);

    /* brackets 200,000 deep */
    memset(text, '[', 200000);
    assert_int_not_equal(cutis_character_load_memory(text, 200000, "deep.gltf", NULL, &c, &error), CUTIS_OK);
    /* braces of a BVH 100,000 deep */
    length = (size_t)sprintf(text, "HIERARCHY ROOT upper\n{\n");
    for (int i = 0; i < 100000; i++) length += (size_t)sprintf(text + length, "JOINT j\n{\n");
    assert_int_not_equal(bvh_motion_add(tube, text, length, "deep.bvh", NULL, 0, NULL, &c, &error), CUTIS_OK);
    /* What is quadratic here takes hours, and the time limit of the test ends it. */
    print_message("slow files: %.2f s\n", (double)(clock() - before) / CLOCKS_PER_SEC);
    free(text);
}

int main(void)
{
    if (test_tube(NULL, &tube, NULL) != CUTIS_OK) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_samples_themselves_are_read),
        cmocka_unit_test(test_truncation_at_every_byte),
        cmocka_unit_test(test_random_mutations),
        cmocka_unit_test(test_every_allocation_failing),
        cmocka_unit_test(test_every_allocation_of_the_json_library_failing),
        cmocka_unit_test(test_declared_sizes_take_no_memory),
        cmocka_unit_test(test_nothing_grows_out_of_proportion),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cutis_character_destroy(tube);
    return failed;
}
