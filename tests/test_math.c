/* Rotations, polar decomposition, eigenvalues, small systems and the deterministic elementary functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "math/math3.h"
#include "math/simd.h"

static uint64_t random_state = 1;

static float random_unit(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (float)(random_state >> 40) / (float)(1 << 23) - 1;
}

static quat random_rotation(void)
{
    return quat_normalize((quat){random_unit(), random_unit(), random_unit(), random_unit() + 0.01f});
}

static float matrix_difference(mat3 a, mat3 b)
{
    float worst = 0;
    for (int i = 0; i < 9; i++) worst = fmaxf(worst, fabsf(a.m[i] - b.m[i]));
    return worst;
}

static void elementary_functions_agree_with_libm(void **unused)
{
    (void)unused;
    for (int i = -20000; i <= 20000; i++) {
        double x = i * 0.0137;
        assert_true(fabs(det_sin(x) - sin(x)) < 1e-12);
        assert_true(fabs(det_cos(x) - cos(x)) < 1e-12);
        assert_true(fabs(det_atan2(x, 1.5) - atan2(x, 1.5)) < 1e-13);
        assert_true(fabs(det_atan2(0.3, x) - atan2(0.3, x)) < 1e-13);
        assert_true(fabs(det_atan2(-x, -x + 1) - atan2(-x, -x + 1)) < 1e-13 || x == 0);
        assert_true(fabs(det_acos(i / 20000.0) - acos(i / 20000.0)) < 1e-12);
        double e = x * 0.1;
        assert_true(fabs(det_exp(e) / exp(e) - 1) < 1e-13);
        if (x > 0) assert_true(fabs(det_log(x) - log(x)) < 1e-13 * fmax(1, fabs(log(x))));
        if (x > 0) assert_true(fabs(det_pow(x, 0.37) / pow(x, 0.37) - 1) < 1e-12);
    }
    assert_true(det_exp(-1e9) == 0 && isfinite(det_exp(1e9)));
}

static void rotations_compose_and_convert(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2000; i++) {
        quat a = random_rotation(), b = random_rotation();
        vec3 p = {random_unit(), random_unit(), random_unit()};
        assert_true(vec3_distance(quat_rotate(quat_multiply(a, b), p), quat_rotate(a, quat_rotate(b, p))) < 2e-6f);
        assert_true(vec3_distance(mat3_vector(quat_matrix(a), p), quat_rotate(a, p)) < 2e-6f);
        assert_true(matrix_difference(quat_matrix(quat_from_matrix(quat_matrix(a))), quat_matrix(a)) < 2e-6f);
        quat middle = quat_slerp(a, b, 0.5f);
        float to_a = fabsf(middle.x * a.x + middle.y * a.y + middle.z * a.z + middle.w * a.w);
        float to_b = fabsf(middle.x * b.x + middle.y * b.y + middle.z * b.z + middle.w * b.w);
        assert_true(fabsf(to_a - to_b) < 1e-5f);
        vec3 u = vec3_normalize(p), v = quat_rotate(a, u);
        assert_true(vec3_distance(quat_rotate(quat_between(u, v), u), v) < 1e-5f);
    }
    vec3 x = {1, 0, 0}, minus_x = {-1, 0, 0};
    assert_true(vec3_distance(quat_rotate(quat_between(x, minus_x), x), minus_x) < 1e-6f);
}

static void transforms_invert_and_decompose(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2000; i++) {
        vec3 t = {random_unit(), random_unit(), random_unit()};
        vec3 s = {0.3f + fabsf(random_unit()), 0.3f + fabsf(random_unit()), 0.3f + fabsf(random_unit())};
        if (i % 2) s.x = -s.x;
        mat34 m = mat34_compose(t, random_rotation(), s), inverse;
        assert_true(mat34_inverse(m, &inverse));
        mat34 product = mat34_multiply(m, inverse), identity = mat34_identity();
        for (int k = 0; k < 12; k++) assert_true(fabsf(product.m[k] - identity.m[k]) < 1e-5f);
        vec3 t2, s2;
        quat r2;
        mat34_decompose(m, &t2, &r2, &s2);
        mat34 again = mat34_compose(t2, r2, s2);
        for (int k = 0; k < 12; k++) assert_true(fabsf(again.m[k] - m.m[k]) < 1e-5f);
    }
    mat34 inverse, zero = {{0}};
    assert_false(mat34_inverse(zero, &inverse));
}

static void polar_rotation_finds_the_rotation_of_stretched_matrices(void **unused)
{
    (void)unused;
    for (int i = 0; i < 500; i++) {
        quat rotation = random_rotation(), stretch_axes = random_rotation();
        mat3 axes = quat_matrix(stretch_axes), scale = mat3_identity();
        for (int k = 0; k < 3; k++) scale.m[4 * k] = 0.2f + fabsf(random_unit()) * 2;
        mat3 stretch = mat3_multiply(mat3_multiply(axes, scale), mat3_transpose(axes));
        mat3 a = mat3_multiply(quat_matrix(rotation), stretch);
        quat found = polar_rotation(a, quat_identity(), 200);
        assert_true(matrix_difference(quat_matrix(found), quat_matrix(rotation)) < 1e-3f);
    }
    /* Flat and zero matrices: finite, and the guess where nothing is known. */
    quat guess = random_rotation();
    quat same = polar_rotation((mat3){{0}}, guess, 20);
    assert_true(matrix_difference(quat_matrix(same), quat_matrix(guess)) < 1e-6f);
    mat3 flat = {{1, 0, 0, 0, 1, 0, 0, 0, 0}};
    quat still = polar_rotation(flat, quat_identity(), 20);
    assert_true(matrix_difference(quat_matrix(still), mat3_identity()) < 1e-5f);
}

static void eigenvectors_diagonalise(void **unused)
{
    (void)unused;
    for (int i = 0; i < 500; i++) {
        mat3 b;
        for (int k = 0; k < 9; k++) b.m[k] = random_unit();
        mat3 a = mat3_multiply(b, mat3_transpose(b)), vectors;
        float values[3];
        eigen_symmetric(a, values, &vectors);
        assert_true(values[0] >= values[1] && values[1] >= values[2]);
        mat3 d = mat3_multiply(mat3_multiply(mat3_transpose(vectors), a), vectors);
        for (int k = 0; k < 9; k++) assert_true(fabsf(d.m[k] - (k % 4 == 0 ? values[k / 4] : 0)) < 1e-5f);
    }
}

static void vectors_do_in_each_lane_what_a_float_does(void **unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++) {
        float a[LANES], b[LANES], c[LANES];
        int32_t index[LANES];
        float table[16];
        for (int k = 0; k < 16; k++) table[k] = random_unit();
        for (int k = 0; k < LANES; k++) a[k] = random_unit(), b[k] = random_unit(), index[k] = (k * 7 + i) % 16;
        vfloat x = v_load(a), y = v_load(b);
        v_store(c, v_select(v_less(x, y), v_sqrt(v_abs(x)), v_min(x, y) * v_set(2) + v_max(x, y)));
        for (int k = 0; k < LANES; k++) {
            float lower = a[k] < b[k] ? a[k] : b[k], upper = a[k] > b[k] ? a[k] : b[k];
            float expected = a[k] < b[k] ? sqrtf(fabsf(a[k])) : lower * 2 + upper;
            assert_memory_equal(&c[k], &expected, sizeof expected);
        }
        v_store(c, v_gather(table, index));
        for (int k = 0; k < LANES; k++) assert_memory_equal(&c[k], &table[index[k]], sizeof c[k]);
    }
}

static void cholesky_solves_what_is_definite_and_refuses_the_rest(void **unused)
{
    (void)unused;
    enum { N = 7 };
    double a[N * N], factor[N * N], b[N], x[N];
    for (int i = 0; i < N; i++) {
        b[i] = x[i] = (double)random_unit();
        for (int j = 0; j <= i; j++) a[i * N + j] = a[j * N + i] = (double)random_unit() + (i == j ? N : 0);
    }
    memcpy(factor, a, sizeof a);
    assert_true(cholesky_solve(factor, x, N));
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++) sum += a[i * N + j] * x[j];
        assert_true(fabs(sum - b[i]) < 1e-12);
    }
    a[(N - 1) * N + N - 1] = -1;
    assert_false(cholesky_solve(a, x, N));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementary_functions_agree_with_libm),
        cmocka_unit_test(rotations_compose_and_convert),
        cmocka_unit_test(transforms_invert_and_decompose),
        cmocka_unit_test(polar_rotation_finds_the_rotation_of_stretched_matrices),
        cmocka_unit_test(eigenvectors_diagonalise),
        cmocka_unit_test(cholesky_solves_what_is_definite_and_refuses_the_rest),
        cmocka_unit_test(vectors_do_in_each_lane_what_a_float_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
