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
#endif

static inline vfloat v_sqrt(vfloat a)
{
#if LANES == 8 && defined(__AVX__)
    return (vfloat)_mm256_sqrt_ps((__m256)a);
#elif LANES == 4 && defined(__SSE2__)
    return (vfloat)_mm_sqrt_ps((__m128)a);
#else
    for (int lane = 0; lane < LANES; lane++) a[lane] = sqrtf(a[lane]);
    return a;
#endif
}

static inline vfloat v_from_int(vint a) { return __builtin_convertvector(a, vfloat); }

#endif

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
    vint y, n;
    memcpy(&y, &yes, sizeof y);
    memcpy(&n, &no, sizeof n);
    vint bits = (mask & y) | (~mask & n);
    vfloat result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* The second operand when they are equal or unordered, as the x86 instruction does. */
static inline vfloat v_min(vfloat a, vfloat b) { return v_select(v_less(a, b), a, b); }
static inline vfloat v_max(vfloat a, vfloat b) { return v_select(v_less(b, a), a, b); }
static inline vfloat v_abs(vfloat a) { return v_max(a, -a); }

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

#endif
