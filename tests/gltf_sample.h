/*
 * gltf_sample.h: a small glTF file in memory that tests change before they load it: a ladder of two quads,
 * skinned to two joints below a turned and scaled node, with texture coordinates, a painted map, a morph
 * target and a clip. Include testing.h first.
 */
#ifndef TESTS_GLTF_SAMPLE_H
#define TESTS_GLTF_SAMPLE_H

#include "testing.h"

enum {
    SAMPLE_POSITIONS = 0,
    SAMPLE_JOINTS = 72,
    SAMPLE_WEIGHTS = 96,
    SAMPLE_INDICES = 192,
    SAMPLE_BINDS = 216,
    SAMPLE_TIMES = 344,
    SAMPLE_ROTATIONS = 352,
    SAMPLE_TEXCOORDS = 384,
    SAMPLE_MAP = 432,
    SAMPLE_MORPH = 456,
    SAMPLE_BYTES = 528
};

typedef struct sample {
    char json[12000]; /* with ' for " */
    uint8_t bin[2048];
    size_t bin_size;
    uint8_t file[16384];
    size_t size;
} sample;

static inline void sample_floats(sample *s, size_t at, const float *values, int count)
{
    memcpy(s->bin + at, values, (size_t)count * 4); /* tests run on little-endian machines */
    if (at + (size_t)count * 4 > s->bin_size) s->bin_size = at + (size_t)count * 4;
}

static const float sample_positions[18] = {-0.5f, 0, 0, 0.5f,  0, 0, -0.5f, 1, 0,
                                           0.5f,  1, 0, -0.5f, 2, 0, 0.5f,  2, 0.25f};
static const float sample_weights[24] = {1,     0,     0, 0, 1, 0, 0, 0, 0.5f, 0.5f, 0, 0,
                                         0.25f, 0.75f, 0, 0, 0, 1, 0, 0, 0,    1,    0, 0};
/* Column-major; the second does not undo its joint's place. */
static const float sample_binds[32] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0.1f, -0.2f, 0,    1,
                                       1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0,    -1,    0.5f, 1};

static inline sample sample_make(void)
{
    sample s = {.bin_size = SAMPLE_BYTES};
    sample_floats(&s, SAMPLE_POSITIONS, sample_positions, 18);
    for (int v = 0; v < 6; v++) s.bin[SAMPLE_JOINTS + 4 * v + 1] = 1;
    sample_floats(&s, SAMPLE_WEIGHTS, sample_weights, 24);
    const uint16_t indices[12] = {0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4};
    memcpy(s.bin + SAMPLE_INDICES, indices, sizeof indices);
    sample_floats(&s, SAMPLE_BINDS, sample_binds, 32);
    sample_floats(&s, SAMPLE_TIMES, (float[]){0.5f, 1.5f}, 2);
    sample_floats(&s, SAMPLE_ROTATIONS, (float[]){0, 0, 0, 1, 0, 0.6f, 0, 0.8f}, 8);
    sample_floats(&s, SAMPLE_TEXCOORDS, (float[]){0, 1, 1, 1, 0, 0.5f, 1, 0.5f, 0, 0, 1, 0}, 12);
    sample_floats(&s, SAMPLE_MAP, (float[]){0, 0.2f, 0.4f, 0.6f, 0.8f, 1}, 6);
    for (int v = 0; v < 6; v++) sample_floats(&s, SAMPLE_MORPH + 12 * (size_t)v, (float[]){0, 0, 1}, 3);
    strcpy(s.json,
           "{'asset':{'version':'2.0'},'scene':0,'scenes':[{'nodes':[0,3]}],"
           "'nodes':[{'name':'base','translation':[1,2,3],'rotation':[0,0,0.6,0.8],'scale':[2,2,2],'children':[1]},"
           "{'name':'bone','children':[2]},{'name':'tip','translation':[0,1,0]},"
           "{'name':'ladder','mesh':0,'skin':0,'translation':[50,0,0]}],"
           "'meshes':[{'primitives':[{'attributes':{'POSITION':0,'JOINTS_0':1,'WEIGHTS_0':2,'TEXCOORD_0':7,"
           "'_CUTIS_STIFFNESS':8},'indices':3,'targets':[{'POSITION':9}],'extensions':{'FB_ngon_encoding':{}}}]}],"
           "'skins':[{'joints':[1,2],'inverseBindMatrices':4}],"
           "'animations':[{'name':'bend','samplers':[{'input':5,'output':6}],"
           "'channels':[{'sampler':0,'target':{'node':2,'path':'rotation'}}]}],"
           "'buffers':[{'byteLength':528}],'bufferViews':["
           "{'buffer':0,'byteLength':72},{'buffer':0,'byteOffset':72,'byteLength':24},"
           "{'buffer':0,'byteOffset':96,'byteLength':96},{'buffer':0,'byteOffset':192,'byteLength':24},"
           "{'buffer':0,'byteOffset':216,'byteLength':128},{'buffer':0,'byteOffset':344,'byteLength':8},"
           "{'buffer':0,'byteOffset':352,'byteLength':32},{'buffer':0,'byteOffset':384,'byteLength':48},"
           "{'buffer':0,'byteOffset':432,'byteLength':24},{'buffer':0,'byteOffset':456,'byteLength':72}],'accessors':["
           "{'bufferView':0,'componentType':5126,'count':6,'type':'VEC3'},"
           "{'bufferView':1,'componentType':5121,'count':6,'type':'VEC4'},"
           "{'bufferView':2,'componentType':5126,'count':6,'type':'VEC4'},"
           "{'bufferView':3,'componentType':5123,'count':12,'type':'SCALAR'},"
           "{'bufferView':4,'componentType':5126,'count':2,'type':'MAT4'},"
           "{'bufferView':5,'componentType':5126,'count':2,'type':'SCALAR'},"
           "{'bufferView':6,'componentType':5126,'count':2,'type':'VEC4'},"
           "{'bufferView':7,'componentType':5126,'count':6,'type':'VEC2'},"
           "{'bufferView':8,'componentType':5126,'count':6,'type':'SCALAR'},"
           "{'bufferView':9,'componentType':5126,'count':6,'type':'VEC3'}]}");
    return s;
}

/* Replace the first `from` in the JSON; it must be there. */
static inline void sample_edit(sample *s, const char *from, const char *to)
{
    char *at = strstr(s->json, from);
    if (!at) print_error("the sample holds no %s\n", from);
    assert_non_null(at);
    size_t tail = strlen(at + strlen(from)) + 1;
    assert_true(strlen(s->json) + strlen(to) < sizeof s->json);
    memmove(at + strlen(to), at + strlen(from), tail);
    memcpy(at, to, strlen(to));
}

/* Add an entry at the end of a top-level list whose closing text is given, such as "'accessors':[". */
static inline void sample_add_accessor(sample *s, const char *entry)
{
    char *end = strrchr(s->json, ']');
    assert_non_null(end);
    assert_true(strlen(s->json) + strlen(entry) + 2 < sizeof s->json);
    char tail[64];
    snprintf(tail, sizeof tail, "%s", end);
    sprintf(end, ",%s%s", entry, tail);
}

static inline void sample_add_view(sample *s, const char *entry)
{
    char text[300];
    snprintf(text, sizeof text, ",%s],'accessors':[", entry);
    sample_edit(s, "],'accessors':[", text);
}

static inline void sample_quote(char *text)
{
    for (; *text; text++)
        if (*text == '\'') *text = '"';
}

static inline void sample_word(uint8_t *p, size_t value)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(value >> (8 * i));
}

/* Put the .glb together. */
static inline void sample_build(sample *s)
{
    char bytes[64];
    snprintf(bytes, sizeof bytes, "'byteLength':%zu}],'bufferViews'", s->bin_size);
    char *length = strstr(s->json, "'byteLength':528}],'bufferViews'");
    if (length && s->bin_size != SAMPLE_BYTES) sample_edit(s, "'byteLength':528}],'bufferViews'", bytes);
    char json[sizeof s->json + 4];
    snprintf(json, sizeof json, "%s", s->json);
    sample_quote(json);
    size_t json_size = strlen(json), bin_size = (s->bin_size + 3) / 4 * 4;
    while (json_size % 4) json[json_size++] = ' ';
    s->size = 20 + json_size + 8 + bin_size;
    assert_true(s->size <= sizeof s->file);
    memcpy(s->file, "glTF", 4);
    sample_word(s->file + 4, 2);
    sample_word(s->file + 8, s->size);
    sample_word(s->file + 12, json_size);
    memcpy(s->file + 16, "JSON", 4);
    memcpy(s->file + 20, json, json_size);
    sample_word(s->file + 20 + json_size, bin_size);
    memcpy(s->file + 24 + json_size, "BIN", 4);
    memcpy(s->file + 28 + json_size, s->bin, bin_size);
}

/* Load it; the test fails when that does. */
static inline cutis_character *sample_load(sample *s)
{
    sample_build(s);
    cutis_character *character = NULL;
    cutis_error error = {0};
    cutis_result result = cutis_character_load_memory(s->file, s->size, "ladder.glb", NULL, &character, &error);
    if (result != CUTIS_OK) print_error("%s\n", error.text);
    assert_int_equal(result, CUTIS_OK);
    return character;
}

#endif
