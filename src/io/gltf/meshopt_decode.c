/*
 * meshopt_decode.c: the three codecs and four filters of the glTF extensions EXT_meshopt_compression (Kapoulkine and
 * St. Pierre) and KHR_meshopt_compression (Khronos), written after appendices A and B of the latter.
 *
 * Debian's libmeshoptimizer knows version 0 of the attribute stream only, and files of the KHR extension hold version
 * 1; so both are read here, one byte at a time with every bound checked. A character is small: speed does not matter.
 * Departure: a stream that reads an entry of a queue before it was written gets zeros instead of an error; the indices
 * are checked against the number of vertices afterwards.
 */
#include "io/gltf/meshopt_decode.h"

#include <math.h>
#include <string.h>

#include "io/files.h"

enum {
    GROUP = 16,        /* elements that share one packing */
    BLOCK_LIMIT = 256, /* elements of a block */
    STRIDE_LIMIT = 256
};

/* What is left of a stream. */
typedef struct stream_reader {
    const uint8_t *at, *end;
} stream_reader;

/* ---- attributes ---- */

/* One group of 16 deltas in `bits` bits each (0, 1, 2, 4 or 8); all bits set stands for a whole byte behind them. */
static bool group_read(stream_reader *r, int bits, uint8_t deltas[GROUP])
{
    /* no bits: all deltas are 0 */
    if (bits == 0) {
        memset(deltas, 0, GROUP);
        return true;
    }

    /* the packed part has a fixed size */
    size_t packed_size = (size_t)(GROUP * bits / 8);
    if ((size_t)(r->end - r->at) < packed_size) return false;
    const uint8_t *packed = r->at;
    r->at += packed_size;

    /* whole bytes */
    if (bits == 8) {
        memcpy(deltas, packed, GROUP);
        return true;
    }

    /* fewer bits: unpack, with escapes for the deltas that do not fit */
    int sentinel = (1 << bits) - 1;
    int per_byte = 8 / bits;

    for (int i = 0; i < GROUP; i++) {
        int place = i % per_byte;
        int shift = bits == 1 ? place : 8 - bits * (place + 1); /* single bits start at the low end */
        int value = packed[i / per_byte] >> shift & sentinel;

        if (value == sentinel) {
            if (r->at == r->end) return false;
            value = *r->at++;
        }
        deltas[i] = (uint8_t)value;
    }
    return true;
}

/* The deltas of one byte of the element through a block. widths: bits for each of the four packings. */
static bool plane_read(stream_reader *r, const int widths[4], size_t count, uint8_t *deltas)
{
    size_t groups = (count + GROUP - 1) / GROUP;
    size_t header_size = (groups + 3) / 4;
    if ((size_t)(r->end - r->at) < header_size) return false;
    const uint8_t *header = r->at;
    r->at += header_size;
    for (size_t g = 0; g < groups; g++)
        if (!group_read(r, widths[header[g / 4] >> 2 * (g % 4) & 3], deltas + GROUP * g)) return false;
    return true;
}

static bool plane_decode(stream_reader *r, int version, int control, size_t count, uint8_t *deltas)
{
    /* widths of the groups, by version and control */
    static const int widths_0[4] = {0, 2, 4, 8}, widths_1[2][4] = {{0, 1, 2, 4}, {1, 2, 4, 8}};
    if (version == 0) return plane_read(r, widths_0, count, deltas);
    if (control < 2) return plane_read(r, widths_1[control], count, deltas);

    /* all zero, or stored */
    if (control == 2) {
        memset(deltas, 0, count);
        return true;
    }

    if ((size_t)(r->end - r->at) < count) return false;
    memcpy(deltas, r->at, count);
    r->at += count;
    return true;
}

static uint32_t unzigzag(uint32_t value) { return value & 1 ? ~(value >> 1) : value >> 1; }

/* Four bytes of an element: the element before, and the deltas. mode: see the extension's "channel modes". */
static void channel_add(int mode, const uint8_t delta[4], uint8_t value[4])
{
    /* bytes, then 16-bit words, then bits */
    if ((mode & 15) == 0) {
        for (int i = 0; i < 4; i++) value[i] = (uint8_t)(value[i] + unzigzag(delta[i]));
    } else if ((mode & 15) == 1) {
        for (int i = 0; i < 4; i += 2) {
            uint32_t sum = bytes_u16(value + i) + unzigzag(bytes_u16(delta + i));
            value[i] = (uint8_t)sum;
            value[i + 1] = (uint8_t)(sum >> 8);
        }
    } else {
        int turn = mode >> 4;
        uint32_t bits = bytes_u32(delta);
        bits = bits >> turn | bits << ((32 - turn) & 31);
        bytes_put_u32(value, bytes_u32(value) ^ bits);
    }
}

/* Put the planes of deltas together: every element is the one before plus its deltas. */
static void block_decode(const uint8_t *planes, const uint8_t *modes, size_t count, size_t stride, uint8_t *last,
                         uint8_t *out)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t c = 0; c < stride; c += 4) {
            uint8_t delta[4];
            for (size_t k = 0; k < 4; k++) delta[k] = planes[(c + k) * BLOCK_LIMIT + i];
            channel_add(modes ? modes[c / 4] : 0, delta, last + c);
        }
        memcpy(out + i * stride, last, stride);
    }
}

bool meshopt_attributes(const uint8_t *stream, size_t size, size_t count, size_t stride, uint8_t *out)
{
    if (size < 1 || stride == 0 || stride > STRIDE_LIMIT || stride % 4 != 0) return false;
    int version = stream[0] & 15;
    if ((stream[0] & 0xf0) != 0xa0 || version > 1) return false;

    /* the tail: the element before the first, then the channel modes */
    size_t tail = version ? stride + stride / 4 : stride;
    size_t padded = tail < (version ? 24u : 32u) ? (version ? 24u : 32u) : tail;
    if (size - 1 < padded) return false;

    uint8_t last[STRIDE_LIMIT];
    memcpy(last, stream + size - tail, stride);
    const uint8_t *modes = version ? stream + size - stride / 4 : NULL;
    for (size_t c = 0; modes && c < stride / 4; c++)
        if ((modes[c] & 15) > 2 || ((modes[c] & 15) < 2 && modes[c] >> 4)) return false;

    stream_reader r = {stream + 1, stream + size - padded};
    uint8_t planes[STRIDE_LIMIT * BLOCK_LIMIT];
    size_t block = (8192 / stride) & ~(size_t)15;
    if (block > BLOCK_LIMIT) block = BLOCK_LIMIT;

    for (size_t done = 0; done < count; done += block) {
        size_t here = count - done < block ? count - done : block;
        const uint8_t *controls = r.at;

        if (version) {
            if ((size_t)(r.end - r.at) < stride / 4) return false;
            r.at += stride / 4;
        }

        for (size_t k = 0; k < stride; k++) {
            int control = version ? controls[k / 4] >> 2 * (k % 4) & 3 : 0;
            if (!plane_decode(&r, version, control, here, planes + k * BLOCK_LIMIT)) return false;
        }

        block_decode(planes, modes, here, stride, last, out + done * stride);
    }
    return r.at == r.end;
}

/* ---- indices ---- */

static bool varint_read(stream_reader *r, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < 5; i++) {
        if (r->at == r->end) return false;
        uint8_t byte = *r->at++;
        *value |= (uint32_t)(byte & 127) << 7 * i;
        if (byte < 128) return true;
    }
    return false;
}

static void index_put(uint8_t *out, size_t i, size_t stride, uint32_t value)
{
    if (stride == 4) {
        bytes_put_u32(out + 4 * i, value);
    } else {
        out[2 * i] = (uint8_t)value;
        out[2 * i + 1] = (uint8_t)(value >> 8);
    }
}

bool meshopt_indices(const uint8_t *stream, size_t size, size_t count, size_t stride, uint8_t *out)
{
    if (size < 5 || stream[0] != 0xd1 || (stride != 2 && stride != 4)) return false;

    stream_reader r = {stream + 1, stream + size - 4};
    uint32_t last[2] = {0, 0};

    /* differences to one of two indices */
    for (size_t i = 0; i < count; i++) {
        uint32_t value;
        if (!varint_read(&r, &value)) return false;

        uint32_t *base = &last[value & 1];
        *base += unzigzag(value >> 1);
        index_put(out, i, stride, *base);
    }

    return r.at == r.end;
}

/* What a decoder of triangles remembers: the last 16 edges and vertices. */
typedef struct triangle_reader {
    stream_reader data;
    uint32_t next, last;
    uint32_t edges[16][2];
    uint32_t vertices[16];
    unsigned edge_count, vertex_count; /* ever pushed */
} triangle_reader;

static void edge_push(triangle_reader *t, uint32_t a, uint32_t b)
{
    t->edges[t->edge_count % 16][0] = a;
    t->edges[t->edge_count % 16][1] = b;
    t->edge_count++;
}

static void vertex_push(triangle_reader *t, uint32_t a)
{
    t->vertices[t->vertex_count % 16] = a;
    t->vertex_count++;
}

/* The vertex that was pushed `age` pushes ago, 0 the newest. */
static uint32_t vertex_recall(const triangle_reader *t, unsigned age)
{
    return t->vertices[(t->vertex_count - 1 - age) % 16];
}

static bool index_read(triangle_reader *t, uint32_t *index)
{
    uint32_t value;
    if (!varint_read(&t->data, &value)) return false;
    t->last += unzigzag(value);
    *index = t->last;
    return true;
}

/* A triangle beside a known edge (high < 15). */
static bool triangle_beside(triangle_reader *t, unsigned high, unsigned low, uint32_t v[3])
{
    const uint32_t *edge = t->edges[(t->edge_count - 1 - high) % 16];

    v[0] = edge[0];
    v[1] = edge[1];

    /* new, recalled, next to the last, or written out */
    if (low == 0) {
        v[2] = t->next++;
    } else if (low < 13) {
        v[2] = vertex_recall(t, low);
    } else if (low < 15) {
        t->last += low == 13 ? 0xffffffffu : 1;
        v[2] = t->last;
    } else if (!index_read(t, &v[2])) {
        return false;
    }

    /* later triangles refer to its two new edges */
    edge_push(t, v[2], v[1]);
    edge_push(t, v[0], v[2]);
    if (low == 0 || low >= 13) vertex_push(t, v[2]);
    return true;
}

/* One of the last two corners of a free triangle: new, remembered, or written out. */
static bool corner_read(triangle_reader *t, unsigned code, uint32_t *index)
{
    if (code == 15) return index_read(t, index);
    *index = code == 0 ? t->next++ : vertex_recall(t, code - 1);
    return true;
}

/* A triangle of its own: `low` chooses from the table of common ones, or 14 and 15 for one in the data. */
static bool triangle_free(triangle_reader *t, unsigned low, const uint8_t *table, uint32_t v[3])
{
    /* code of the second and third corner; 0 restarts the numbering of new vertices */
    unsigned code;
    if (low < 14) {
        code = table[low];
    } else {
        if (t->data.at == t->data.end) return false;
        code = *t->data.at++;
        if (code == 0) t->next = 0;
    }

    /* first corner: new, or written out */
    if (low == 15) {
        if (!index_read(t, &v[0])) return false;
    } else {
        v[0] = t->next++;
    }

    unsigned second = code >> 4;
    unsigned third = code & 15;
    if (!corner_read(t, second, &v[1]) || !corner_read(t, third, &v[2])) return false;

    /* later triangles refer to its edges and to the vertices that were not remembered yet */
    edge_push(t, v[1], v[0]);
    edge_push(t, v[2], v[1]);
    edge_push(t, v[0], v[2]);
    vertex_push(t, v[0]);

    if (second == 0 || second == 15) vertex_push(t, v[1]);
    if (third == 0 || third == 15) vertex_push(t, v[2]);
    return true;
}

bool meshopt_triangles(const uint8_t *stream, size_t size, size_t count, size_t stride, uint8_t *out)
{
    size_t triangles = count / 3;
    if (count % 3 != 0 || (stride != 2 && stride != 4)) return false;
    if (size < 17 || stream[0] != 0xe1 || size - 17 < triangles) return false;

    /* codes first, then data, then the table */
    const uint8_t *codes = stream + 1;
    const uint8_t *table = stream + size - 16;
    triangle_reader t = {.data = {codes + triangles, table}};

    for (size_t i = 0; i < triangles; i++) {
        uint32_t v[3];
        unsigned high = codes[i] >> 4;
        unsigned low = codes[i] & 15;

        if (!(high < 15 ? triangle_beside(&t, high, low, v) : triangle_free(&t, low, table, v))) return false;
        for (size_t k = 0; k < 3; k++) index_put(out, 3 * i + k, stride, v[k]);
    }

    return t.data.at == t.data.end;
}

/* ---- filters ---- */

static int component_get(const uint8_t *p, size_t size, bool is_signed)
{
    if (size == 1) return is_signed ? (int8_t)p[0] : p[0];
    return is_signed ? (int16_t)bytes_u16(p) : (int)bytes_u16(p);
}

static void component_put(uint8_t *p, size_t size, double value)
{
    int integer = isfinite(value) ? (int)CLAMP(round(value), -65536.0, 65536.0) : 0;
    p[0] = (uint8_t)integer;
    if (size == 2) p[1] = (uint8_t)((unsigned)integer >> 8);
}

static void filter_octahedral(uint8_t *p, size_t size)
{
    double top = size == 1 ? 127 : 32767;
    double one = component_get(p + 2 * size, size, true);
    double v[3];
    for (size_t k = 0; k < 2; k++) v[k] = component_get(p + k * size, size, true) / one;
    v[2] = 1 - fabs(v[0]) - fabs(v[1]);
    double fold = fmin(v[2], 0);
    v[0] -= copysign(fold, v[0]);
    v[1] -= copysign(fold, v[1]);
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (size_t k = 0; k < 3; k++) component_put(p + k * size, size, v[k] / length * top);
}

static void filter_quaternion(uint8_t *p)
{
    int last = component_get(p + 6, 2, true);
    double scale = sqrt(0.5) / (last | 3);
    double v[3];
    for (size_t k = 0; k < 3; k++) v[k] = component_get(p + 2 * k, 2, true) * scale;
    double w = sqrt(fmax(0, 1 - v[0] * v[0] - v[1] * v[1] - v[2] * v[2]));
    size_t largest = (size_t)(last & 3);
    for (size_t k = 0; k < 3; k++) component_put(p + 2 * ((largest + 1 + k) % 4), 2, v[k] * 32767);
    component_put(p + 2 * largest, 2, w * 32767);
}

static void filter_exponential(uint8_t *p)
{
    uint32_t bits = bytes_u32(p);
    int exponent = (int8_t)(bits >> 24);
    int mantissa = (int)(bits & 0xffffff);
    if (mantissa & 0x800000) mantissa -= 0x1000000;
    bytes_put_u32(p, bytes_from_float((float)ldexp(mantissa, exponent)));
}

static void filter_color(uint8_t *p, size_t size)
{
    double top = size == 1 ? 255 : 65535;

    /* luma and two chroma differences */
    int y = component_get(p, size, false);
    int co = component_get(p + size, size, true);
    int cg = component_get(p + 2 * size, size, true);
    int alpha = component_get(p + 3 * size, size, false);

    /* the highest bit of alpha tells the range */
    int range = 1;
    while (range <= alpha) range *= 2;
    range -= 1;
    alpha &= range >> 1;
    alpha = alpha << 1 | (alpha & 1);

    int values[4] = {y + co - cg, y + cg, y - co - cg, alpha};
    for (size_t k = 0; k < 4; k++) component_put(p + k * size, size, values[k] * top / (range > 0 ? range : 1));
}

bool meshopt_filter(meshopt_filter_kind filter, uint8_t *values, size_t count, size_t stride)
{
    bool pair = stride == 4 || stride == 8;
    if (filter == MESHOPT_FILTER_NONE) return true;

    /* floats of any number */
    if (filter == MESHOPT_FILTER_EXPONENTIAL) {
        if (stride % 4 != 0) return false;
        for (size_t i = 0; i < count * (stride / 4); i++) filter_exponential(values + 4 * i);
        return true;
    }

    /* elements of four components */
    if (filter == MESHOPT_FILTER_QUATERNION ? stride != 8 : !pair) return false;
    for (size_t i = 0; i < count; i++) {
        uint8_t *p = values + i * stride;
        if (filter == MESHOPT_FILTER_OCTAHEDRAL)
            filter_octahedral(p, stride / 4);
        else if (filter == MESHOPT_FILTER_QUATERNION)
            filter_quaternion(p);
        else
            filter_color(p, stride / 4);
    }

    return true;
}
