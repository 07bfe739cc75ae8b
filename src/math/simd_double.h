/*
 * simd_double.h: vectors of four doubles, by gcc/clang vector extensions.
 *
 * For kernels whose differences of near values floats do not bear. Four of them in every build, so that a kernel may
 * also use them for the parts of one item. Like those of simd.h, operations are IEEE ones and lanes do not mix.
 */
#ifndef MATH_SIMD_DOUBLE_H
#define MATH_SIMD_DOUBLE_H

#include <stdbool.h>

#include "math/simd.h"

typedef double d4 __attribute__((vector_size(32)));
typedef int64_t d4_mask __attribute__((vector_size(32))); /* 0 or -1 */
typedef double dpair __attribute__((vector_size(16)));

static inline d4 d4_set(double x) { return x - (d4){0}; }
static inline d4 d4_load(const double *from)
{
    d4 a;
    memcpy(&a, from, sizeof a);
    return a;
}
/* Four floats. */
static inline d4 d4_load_floats(const float *from)
{
    typedef float floats __attribute__((vector_size(16)));
    floats a;
    memcpy(&a, from, sizeof a);
    return __builtin_convertvector(a, d4);
}
static inline void d4_store(double *to, d4 a) { memcpy(to, &a, sizeof a); }
#if LANES == 8 && defined(__AVX__)
static inline d4 d4_select(d4_mask mask, d4 yes, d4 no)
{
    return (d4)_mm256_blendv_pd((__m256d)no, (__m256d)yes, (__m256d)mask);
}
/* b when one is no number. */
static inline d4 d4_max(d4 a, d4 b) { return (d4)_mm256_max_pd((__m256d)a, (__m256d)b); }
static inline d4 d4_min(d4 a, d4 b) { return (d4)_mm256_min_pd((__m256d)a, (__m256d)b); }
static inline bool d4_any(d4_mask mask) { return _mm256_movemask_pd((__m256d)mask) != 0; }
#else
static inline d4 d4_select(d4_mask mask, d4 yes, d4 no) { return (d4)((mask & (d4_mask)yes) | (~mask & (d4_mask)no)); }
static inline d4 d4_max(d4 a, d4 b) { return d4_select(a > b, a, b); }
static inline d4 d4_min(d4 a, d4 b) { return d4_select(a < b, a, b); }
static inline bool d4_any(d4_mask mask) { return (mask[0] | mask[1] | mask[2] | mask[3]) != 0; }
#endif
static inline d4 d4_abs(d4 a) { return (d4)((d4_mask)a & INT64_MAX); }
static inline d4 d4_sqrt(d4 a)
{
#if LANES == 8 && defined(__AVX__)
    return (d4)_mm256_sqrt_pd((__m256d)a);
#elif LANES == 4 && defined(__wasm_simd128__)
    dpair low = (dpair)wasm_f64x2_sqrt((v128_t)(dpair){a[0], a[1]});
    dpair high = (dpair)wasm_f64x2_sqrt((v128_t)(dpair){a[2], a[3]});
    return __builtin_shufflevector(low, high, 0, 1, 2, 3);
#else
    for (int lane = 0; lane < 4; lane++) a[lane] = sqrt(a[lane]);
    return a;
#endif
}
/* The two numbers at `from`, twice: a, b, a, b. */
static inline d4 d4_pair(const double *from)
{
#if LANES == 8 && defined(__AVX__)
    return (d4)_mm256_broadcast_pd((const __m128d *)from);
#else
    return (d4){from[0], from[1], from[0], from[1]};
#endif
}
/* Two doubles. */
static inline dpair dpair_load(const double *from)
{
    dpair a;
    memcpy(&a, from, sizeof a);
    return a;
}
static inline void dpair_store(double *to, dpair a) { memcpy(to, &a, sizeof a); }
/* a + b, c + d of a, b, c, d. */
static inline dpair d4_add_pairs(d4 a) { return (dpair){a[0], a[2]} + (dpair){a[1], a[3]}; }
/* Rows become columns. */
static inline void d4_transpose(d4 m[4])
{
    d4 a = m[0], b = m[1], c = m[2], d = m[3];
    m[0] = (d4){a[0], b[0], c[0], d[0]};
    m[1] = (d4){a[1], b[1], c[1], d[1]};
    m[2] = (d4){a[2], b[2], c[2], d[2]};
    m[3] = (d4){a[3], b[3], c[3], d[3]};
}

#endif
