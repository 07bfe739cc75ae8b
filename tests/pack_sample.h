/*
 * pack_sample.h: compressed glTF in memory, by encoders that take the plainest way the formats allow: the sample of
 * gltf_sample.h with meshopt views, and a square that Draco holds. Include gltf_sample.h first.
 */
#ifndef TESTS_PACK_SAMPLE_H
#define TESTS_PACK_SAMPLE_H

#include "gltf_sample.h"

static inline uint32_t pack_zigzag(uint32_t delta, int bits)
{
    uint32_t sign = delta >> (bits - 1) & 1;
    uint32_t value = delta << 1;
    return (sign ? ~value : value) & (bits == 32 ? 0xffffffffu : (1u << bits) - 1);
}

/* The delta of four bytes of an element by a channel mode of version 1. */
static inline void pack_channel(int mode, const uint8_t *last, const uint8_t *now, uint8_t delta[4])
{
    if ((mode & 15) == 0) {
        for (int i = 0; i < 4; i++) delta[i] = (uint8_t)pack_zigzag((uint8_t)(now[i] - last[i]), 8);
    } else if ((mode & 15) == 1) {
        for (int i = 0; i < 4; i += 2) {
            uint32_t difference = (uint32_t)((now[i] | now[i + 1] << 8) - (last[i] | last[i + 1] << 8)) & 0xffff;
            uint32_t value = pack_zigzag(difference, 16);
            delta[i] = (uint8_t)value;
            delta[i + 1] = (uint8_t)(value >> 8);
        }
    } else {
        uint32_t bits = 0;
        for (int i = 0; i < 4; i++) bits |= (uint32_t)(now[i] ^ last[i]) << 8 * i;
        int turn = mode >> 4;
        if (turn) bits = bits << turn | bits >> (32 - turn);
        for (int i = 0; i < 4; i++) delta[i] = (uint8_t)(bits >> 8 * i);
    }
}

/* Up to 16 elements of up to 64 bytes as one block of whole bytes. Returns the size. */
static inline size_t pack_attributes(uint8_t *out, int version, int mode, const uint8_t *data, int count, int stride)
{
    uint8_t planes[64][16] = {{0}};
    for (int i = 0; i < count; i++)
        for (int c = 0; c < stride; c += 4) {
            uint8_t delta[4];
            pack_channel(version ? mode : 0, data + (i ? i - 1 : 0) * stride + c, data + i * stride + c, delta);
            for (int k = 0; k < 4; k++) planes[c + k][i] = delta[k];
        }
    size_t size = 0;
    out[size++] = (uint8_t)(0xa0 | version);
    for (int c = 0; version && c < stride / 4; c++) out[size++] = 0xff; /* literal bytes */
    for (int k = 0; k < stride; k++) {
        if (!version) out[size++] = 3; /* one group of whole bytes */
        memcpy(out + size, planes[k], version ? (size_t)count : 16);
        size += version ? (size_t)count : 16;
    }
    size_t tail = (size_t)(version ? stride + stride / 4 : stride), least = version ? 24 : 32;
    for (; tail < least; least--) out[size++] = 0;
    memcpy(out + size, data, (size_t)stride);
    size += (size_t)stride;
    for (int c = 0; version && c < stride / 4; c++) out[size++] = (uint8_t)mode;
    return size;
}

static inline size_t pack_varint(uint8_t *out, uint32_t value)
{
    size_t size = 0;
    for (; value >= 128; value >>= 7) out[size++] = (uint8_t)(value | 128);
    out[size++] = (uint8_t)value;
    return size;
}

/* Indices, each as a delta from the one before. */
static inline size_t pack_indices(uint8_t *out, const uint16_t *indices, int count)
{
    size_t size = 0;
    uint32_t last = 0;
    out[size++] = 0xd1;
    for (int i = 0; i < count; i++) {
        size += pack_varint(out + size, pack_zigzag(indices[i] - last, 31) << 1);
        last = indices[i];
    }
    memset(out + size, 0, 4);
    return size + 4;
}

/* Triangles, all written out. */
static inline size_t pack_triangles(uint8_t *out, const uint16_t *indices, int count)
{
    size_t size = 0;
    uint32_t last = 0;
    out[size++] = 0xe1;
    for (int i = 0; i < count / 3; i++) out[size++] = 0xff;
    for (int i = 0; i < count; i++) {
        if (i % 3 == 0) out[size++] = 0xff;
        size += pack_varint(out + size, pack_zigzag(indices[i] - last, 32));
        last = indices[i];
    }
    memset(out + size, 0, 16);
    return size + 16;
}

/* The sample with positions (version 0), weights (version 1, mode) and indices compressed. */
static inline sample pack_sample_make(const char *extension, int mode, bool triangles)
{
    sample s = sample_make();
    uint16_t indices[12];
    memcpy(indices, s.bin + SAMPLE_INDICES, sizeof indices);
    size_t at[4] = {s.bin_size};
    at[1] = at[0] + pack_attributes(s.bin + at[0], 0, 0, s.bin + SAMPLE_POSITIONS, 6, 12);
    at[2] = at[1] + pack_attributes(s.bin + at[1], 1, mode, s.bin + SAMPLE_WEIGHTS, 6, 16);
    at[3] = at[2] + (triangles ? pack_triangles(s.bin + at[2], indices, 12) : pack_indices(s.bin + at[2], indices, 12));
    s.bin_size = (at[3] + 3) & ~(size_t)3;
    static const char *const views[3] = {"{'buffer':0,'byteLength':72}", "{'buffer':0,'byteOffset':96,'byteLength':96}",
                                         "{'buffer':0,'byteOffset':192,'byteLength':24}"};
    static const int counts[3] = {6, 6, 12}, strides[3] = {12, 16, 2};
    for (int i = 0; i < 3; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "{'buffer':1,'byteOffset':%d,'byteLength':%d,'extensions':{'%s':{'buffer':0,'byteOffset':%d,"
                 "'byteLength':%d,'byteStride':%d,'mode':'%s','count':%d}}}",
                 100 * i, counts[i] * strides[i], extension, (int)at[i], (int)(at[i + 1] - at[i]), strides[i],
                 i < 2       ? "ATTRIBUTES"
                 : triangles ? "TRIANGLES"
                             : "INDICES",
                 counts[i]);
        sample_edit(&s, views[i], text);
    }
    memset(s.bin + SAMPLE_POSITIONS, 0x55, 72); /* the plain ones are gone */
    memset(s.bin + SAMPLE_WEIGHTS, 0x55, 96);
    memset(s.bin + SAMPLE_INDICES, 0x55, 24);
    char text[200];
    snprintf(text, sizeof text, "'byteLength':%zu},{'byteLength':400}],'bufferViews'", s.bin_size);
    sample_edit(&s, "'byteLength':528}],'bufferViews'", text);
    snprintf(text, sizeof text, "'asset':{'version':'2.0'},'extensionsUsed':['%s'],'extensionsRequired':['%s']",
             extension, extension);
    sample_edit(&s, "'asset':{'version':'2.0'}", text);
    return s;
}

/* Two triangles that Draco 1.5.5 encoded (edgebreaker, 11 bits). */
static const uint8_t pack_draco[80] = {
    0x44, 0x52, 0x41, 0x43, 0x4f, 0x02, 0x02, 0x01, 0x01, 0x00, 0x00, 0x00, 0x04, 0x02, 0x00, 0x02,
    0x00, 0x00, 0x01, 0x1f, 0xff, 0x01, 0x11, 0x01, 0xff, 0x00, 0x00, 0x01, 0x00, 0x09, 0x03, 0x00,
    0x00, 0x02, 0x01, 0x01, 0x01, 0x00, 0x0c, 0x03, 0x01, 0x30, 0x23, 0x01, 0x10, 0x03, 0x00, 0x28,
    0x82, 0x98, 0x00, 0x00, 0xf0, 0x7f, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0x07, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x3f, 0x0b};

static inline sample draco_sample_make(void)
{
    sample s = {.bin_size = sizeof pack_draco};
    memcpy(s.bin, pack_draco, sizeof pack_draco);
    strcpy(s.json,
           "{'asset':{'version':'2.0'},'extensionsUsed':['KHR_draco_mesh_compression'],'extensionsRequired':["
           "'KHR_draco_mesh_compression'],'scenes':[{'nodes':[0]}],'nodes':[{'mesh':0}],'meshes':[{'primitives':["
           "{'attributes':{'POSITION':0},'indices':1,'extensions':{'KHR_draco_mesh_compression':{'bufferView':0,"
           "'attributes':{'POSITION':0}}}}]}],'accessors':[{'componentType':5126,'count':4,'type':'VEC3'},"
           "{'componentType':5123,'count':6,'type':'SCALAR'}],'bufferViews':[{'buffer':0,'byteLength':80}],"
           "'buffers':[{'byteLength':80}]}");
    return s;
}

#endif
