/*
 * simd.h: vectors of LANES floats, by gcc/clang vector extensions. The only file that may use intrinsics.
 *
 * Kernels are written once for vfloat and blocks of LANES items. Lanes never mix (no horizontal sums), every
 * operation is an IEEE one, and contraction is off, so that a build with LANES = 1 (CUTIS_SCALAR) gives the
 * same bits as one with 4 or 8.
 */
#ifndef MATH_SIMD_H
#define MATH_SIMD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(CUTIS_SCALAR)
#define LANES 1
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif

/* How many blocks of LANES hold n items, and n rounded up to whole blocks. */
#define LANE_BLOCKS(n) (((n) + LANES - 1) / LANES)
#define LANE_ROUND(n) (LANE_BLOCKS(n) * LANES)

/* Four floats that belong together, whatever LANES is. */
typedef float vrecord __attribute__((vector_size(16)));
typedef int32_t vrecord_mask __attribute__((vector_size(16)));

#if LANES == 1

typedef float vfloat;
typedef int32_t vint; /* also the mask: 0 or -1 */

static inline vfloat v_set(float x) { return x; }
static inline vint v_set_int(int32_t x) { return x; }
static inline vint v_less(vfloat a, vfloat b) { return -(a < b); }
static inline vint v_less_equal(vfloat a, vfloat b) { return -(a <= b); }
static inline vint v_equal(vfloat a, vfloat b) { return -(a == b); }
static inline float v_lane(vfloat a, int lane)
{
    (void)lane;
    return a;
}
static inline vfloat v_sqrt(vfloat a) { return sqrtf(a); }
static inline vfloat v_from_int(vint a) { return (float)a; }

#else

typedef float vfloat __attribute__((vector_size(4 * LANES)));
typedef int32_t vint __attribute__((vector_size(4 * LANES)));

static inline vfloat v_set(float x) { return x - (vfloat){0}; }
static inline vint v_set_int(int32_t x) { return x - (vint){0}; }
static inline vint v_less(vfloat a, vfloat b) { return a < b; }
static inline vint v_less_equal(vfloat a, vfloat b) { return a <= b; }
static inline vint v_equal(vfloat a, vfloat b) { return a == b; }
static inline float v_lane(vfloat a, int lane) { return a[lane]; }

#if defined(__AVX__) || defined(__SSE2__)
#include <immintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

static inline vfloat v_sqrt(vfloat a)
{
#if LANES == 8 && defined(__AVX__)
    return (vfloat)_mm256_sqrt_ps((__m256)a);
#elif LANES == 4 && defined(__SSE2__)
    return (vfloat)_mm_sqrt_ps((__m128)a);
#elif LANES == 4 && defined(__wasm_simd128__)
    return (vfloat)wasm_f32x4_sqrt((v128_t)a);
#else
    for (int lane = 0; lane < LANES; lane++) a[lane] = sqrtf(a[lane]);
    return a;
#endif
}

static inline vfloat v_from_int(vint a) { return __builtin_convertvector(a, vfloat); }

#endif

static inline vrecord record_load(const float *from)
{
    vrecord r;
    memcpy(&r, from, sizeof r);
    return r;
}

/* x where the mask says so, else 0. */
static inline vrecord record_where(vrecord_mask mask, float x)
{
    return (vrecord)(mask & (vrecord_mask)(x - (vrecord){0}));
}

/* Bits of the lanes whose mask is set. */
static inline unsigned record_bits(vrecord_mask mask)
{
#if LANES > 1 && defined(__SSE2__)
    return (unsigned)_mm_movemask_ps((__m128)mask);
#elif LANES > 1 && defined(__wasm_simd128__)
    return (unsigned)wasm_i32x4_bitmask((v128_t)mask);
#else
    unsigned bits = 0;
    for (int i = 0; i < 4; i++) bits |= (unsigned)(mask[i] != 0) << i;
    return bits;
#endif
}

static inline vrecord record_sqrt(vrecord a)
{
#if LANES > 1 && defined(__SSE2__)
    return (vrecord)_mm_sqrt_ps((__m128)a);
#else
    for (int i = 0; i < 4; i++) a[i] = sqrtf(a[i]);
    return a;
#endif
}

static inline vfloat v_load(const float *from)
{
    vfloat a;
    memcpy(&a, from, sizeof a);
    return a;
}

static inline void v_store(float *to, vfloat a) { memcpy(to, &a, sizeof a); }

/* mask lanes are 0 or -1. */
static inline vfloat v_select(vint mask, vfloat yes, vfloat no)
{
#if LANES == 8 && defined(__AVX__)
    return (vfloat)_mm256_blendv_ps((__m256)no, (__m256)yes, (__m256)mask);
#elif LANES == 4 && defined(__wasm_simd128__)
    return (vfloat)wasm_v128_bitselect((v128_t)yes, (v128_t)no, (v128_t)mask);
#else
    vint y, n;
    memcpy(&y, &yes, sizeof y);
    memcpy(&n, &no, sizeof n);

    vint bits = (mask & y) | (~mask & n);

    vfloat result;
    memcpy(&result, &bits, sizeof result);
    return result;
#endif
}

/* The second operand when they are equal or unordered, as the x86 instruction does. */
#if LANES == 8 && defined(__AVX__)
static inline vfloat v_min(vfloat a, vfloat b) { return (vfloat)_mm256_min_ps((__m256)a, (__m256)b); }
static inline vfloat v_max(vfloat a, vfloat b) { return (vfloat)_mm256_max_ps((__m256)a, (__m256)b); }
#elif LANES == 4 && defined(__wasm_simd128__)
static inline vfloat v_min(vfloat a, vfloat b) { return (vfloat)wasm_f32x4_pmin((v128_t)b, (v128_t)a); }
static inline vfloat v_max(vfloat a, vfloat b) { return (vfloat)wasm_f32x4_pmax((v128_t)b, (v128_t)a); }
#else
static inline vfloat v_min(vfloat a, vfloat b) { return v_select(v_less(a, b), a, b); }
static inline vfloat v_max(vfloat a, vfloat b) { return v_select(v_less(b, a), a, b); }
#endif
static inline vfloat v_abs(vfloat a) { return v_max(a, -a); }

/* A bit for each lane of a mask, that of lane 0 lowest. */
static inline unsigned v_mask(vint mask)
{
#if LANES == 8 && defined(__AVX__)
    return (unsigned)_mm256_movemask_ps((__m256)mask);
#elif LANES == 4 && defined(__SSE2__)
    return (unsigned)_mm_movemask_ps((__m128)mask);
#elif LANES == 4 && defined(__wasm_simd128__)
    return (unsigned)wasm_i32x4_bitmask((v128_t)mask);
#elif LANES == 1
    return mask != 0;
#else
    unsigned bits = 0;
    for (int lane = 0; lane < LANES; lane++) bits |= (unsigned)(mask[lane] != 0) << lane;
    return bits;
#endif
}

/* from[index[lane]] for each lane. */
static inline vfloat v_gather(const float *from, const int32_t *index)
{
#if LANES == 8 && defined(__AVX2__)
    return (vfloat)_mm256_i32gather_ps(from, _mm256_loadu_si256((const __m256i *)index), 4);
#else
    float values[LANES];
    for (int lane = 0; lane < LANES; lane++) values[lane] = from[index[lane]];
    return v_load(values);
#endif
}

/* ---- groups of exactly four and eight floats, for kernels whose vectors have a meaning (columns, quaternions) ---- */

#if LANES == 1

typedef struct f4 {
    float v[4];
} f4;
typedef struct f8 {
    float v[8];
} f8;

#define SIMD_GROUP(type, count)                                     \
    static inline type type##_add(type a, type b)                   \
    {                                                               \
        for (int i = 0; i < (count); i++) a.v[i] = a.v[i] + b.v[i]; \
        return a;                                                   \
    }                                                               \
    static inline type type##_mul(type a, type b)                   \
    {                                                               \
        for (int i = 0; i < (count); i++) a.v[i] = a.v[i] * b.v[i]; \
        return a;                                                   \
    }                                                               \
    static inline type type##_set(float x)                          \
    {                                                               \
        type a;                                                     \
        for (int i = 0; i < (count); i++) a.v[i] = x;               \
        return a;                                                   \
    }
SIMD_GROUP(f4, 4)
SIMD_GROUP(f8, 8)
#undef SIMD_GROUP

static inline f8 f8_pair(float low, float high) { return (f8){{low, low, low, low, high, high, high, high}}; }
static inline f4 f8_low(f8 a) { return (f4){{a.v[0], a.v[1], a.v[2], a.v[3]}}; }
static inline f4 f8_high(f8 a) { return (f4){{a.v[4], a.v[5], a.v[6], a.v[7]}}; }

#else

typedef float f4 __attribute__((vector_size(16)));

static inline f4 f4_add(f4 a, f4 b) { return a + b; }
static inline f4 f4_mul(f4 a, f4 b) { return a * b; }
static inline f4 f4_set(float x) { return x - (f4){0}; }

#if defined(__AVX__)
typedef float f8 __attribute__((vector_size(32)));
static inline f8 f8_add(f8 a, f8 b) { return a + b; }
static inline f8 f8_mul(f8 a, f8 b) { return a * b; }
static inline f8 f8_set(float x) { return x - (f8){0}; }
static inline f8 f8_pair(float low, float high)
{
    return (f8)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_set1_ps(low)), _mm_set1_ps(high), 1);
}
static inline f4 f8_low(f8 a) { return (f4)_mm256_castps256_ps128((__m256)a); }
static inline f4 f8_high(f8 a) { return (f4)_mm256_extractf128_ps((__m256)a, 1); }
#else
/* Two halves: a 32-byte vector type would change the calling convention without AVX. */
typedef struct f8 {
    f4 low, high;
} f8;
static inline f8 f8_add(f8 a, f8 b) { return (f8){a.low + b.low, a.high + b.high}; }
static inline f8 f8_mul(f8 a, f8 b) { return (f8){a.low * b.low, a.high * b.high}; }
static inline f8 f8_set(float x) { return (f8){f4_set(x), f4_set(x)}; }
static inline f8 f8_pair(float low, float high) { return (f8){f4_set(low), f4_set(high)}; }
static inline f4 f8_low(f8 a) { return a.low; }
static inline f4 f8_high(f8 a) { return a.high; }
#endif

#endif

static inline f4 f4_load(const float *from)
{
    f4 a;
    memcpy(&a, from, sizeof a);
    return a;
}
static inline f8 f8_load(const float *from)
{
    f8 a;
    memcpy(&a, from, sizeof a);
    return a;
}
static inline void f4_store(float *to, f4 a) { memcpy(to, &a, sizeof a); }

/*
 * Records of four floats, one for each lane: out[c][lane] = from[index[lane] + c], and back. Cheaper than gathers.
 */
#if LANES == 8

/* Exchange lanes and components within each half: the same network serves both ways. */
static inline void v_exchange(vfloat m[4])
{
    /* interleave the components in pairs */
    vfloat a = __builtin_shufflevector(m[0], m[1], 0, 8, 1, 9, 4, 12, 5, 13);
    vfloat b = __builtin_shufflevector(m[0], m[1], 2, 10, 3, 11, 6, 14, 7, 15);
    vfloat c = __builtin_shufflevector(m[2], m[3], 0, 8, 1, 9, 4, 12, 5, 13);
    vfloat d = __builtin_shufflevector(m[2], m[3], 2, 10, 3, 11, 6, 14, 7, 15);

    m[0] = __builtin_shufflevector(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
    m[1] = __builtin_shufflevector(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
    m[2] = __builtin_shufflevector(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
    m[3] = __builtin_shufflevector(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
}

static inline void v_load4(const float *from, const int32_t *index, vfloat out[4])
{
    for (int i = 0; i < 4; i++) {
        vrecord low, high;
        memcpy(&low, from + index[i], sizeof low);
        memcpy(&high, from + index[i + 4], sizeof high);
        out[i] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    }
    v_exchange(out);
}

static inline void v_store4(float *to, const int32_t *index, const vfloat in[4])
{
    vfloat m[4] = {in[0], in[1], in[2], in[3]};
    v_exchange(m);

    for (int i = 0; i < 4; i++) {
        vrecord low = __builtin_shufflevector(m[i], m[i], 0, 1, 2, 3);
        vrecord high = __builtin_shufflevector(m[i], m[i], 4, 5, 6, 7);
        memcpy(to + index[i], &low, sizeof low);
        memcpy(to + index[i + 4], &high, sizeof high);
    }
}

#elif LANES == 4

/* Exchange lanes and components. */
static inline void v_exchange(vfloat m[4])
{
    /* interleave the components in pairs */
    vfloat a = __builtin_shufflevector(m[0], m[1], 0, 4, 1, 5);
    vfloat b = __builtin_shufflevector(m[0], m[1], 2, 6, 3, 7);
    vfloat c = __builtin_shufflevector(m[2], m[3], 0, 4, 1, 5);
    vfloat d = __builtin_shufflevector(m[2], m[3], 2, 6, 3, 7);

    m[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    m[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    m[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    m[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

static inline void v_load4(const float *from, const int32_t *index, vfloat out[4])
{
    for (int i = 0; i < 4; i++) out[i] = v_load(from + index[i]);
    v_exchange(out);
}

static inline void v_store4(float *to, const int32_t *index, const vfloat in[4])
{
    vfloat m[4] = {in[0], in[1], in[2], in[3]};
    v_exchange(m);
    for (int i = 0; i < 4; i++) v_store(to + index[i], m[i]);
}

#else

static inline void v_load4(const float *from, const int32_t *index, vfloat out[4])
{
    float values[4][LANES];
    for (int lane = 0; lane < LANES; lane++)
        for (int c = 0; c < 4; c++) values[c][lane] = from[index[lane] + c];
    for (int c = 0; c < 4; c++) out[c] = v_load(values[c]);
}

static inline void v_store4(float *to, const int32_t *index, const vfloat in[4])
{
    for (int lane = 0; lane < LANES; lane++)
        for (int c = 0; c < 4; c++) to[index[lane] + c] = v_lane(in[c], lane);
}

#endif

#endif
