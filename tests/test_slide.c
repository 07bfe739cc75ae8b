/*
 * test_slide.c: the parts of the solver slide: energies and their derivatives, charts and ways, the linear system.
 */
#include "testing.h"

#include "engine/model_object.h"
#include "solvers/slide/slide.h"

/* ---- random numbers ---- */

static uint64_t random_state;

static double random_double(double low, double high)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return low + (high - low) * (double)(random_state >> 11) / 9007199254740992.0;
}

static const slide_material materials[] = {
    {SLIDE_STVK, 0.7, 1.1, 0, 0, 1},
    {SLIDE_NEO_HOOKEAN, 0.7, 1.1, 0, 0, 1},
    {SLIDE_FUNG, 0.7, 1.1, 6, 0, 1},
    {SLIDE_NEO_HOOKEAN, 0.7, 1.1, 0, 2.5, 1.2},
};

/* ---- energies ---- */

static void densities_have_their_derivatives(void **state)
{
    (void)state;
    random_state = 1;
    double worst = 0;
    for (int i = 0; i < 4000; i++) {
        const slide_material *m = &materials[i % COUNT_OF(materials)];
        double j = random_double(0.02, 4), s = 2 * j + random_double(0, 2), e = 2e-7;
        if (fabs(j - 0.2) < 1e-3) continue; /* the second derivative of Fung's jumps there */
        /* Lanes: at s + e, s - e, j + e and j - e. */
        slide_density d = slide_density_at(m, d4_set(s), d4_set(j));
        slide_density n = slide_density_at(m, (d4){s + e, s - e, s, s}, (d4){j, j, j + e, j - e});
        const double pairs[][3] = {{d.s[0], n.value[0], n.value[1]}, {d.j[0], n.value[2], n.value[3]},
                                   {d.ss[0], n.s[0], n.s[1]},        {d.sj[0], n.s[2], n.s[3]},
                                   {d.sj[0], n.j[0], n.j[1]},        {d.jj[0], n.j[2], n.j[3]}};
        for (int k = 0; k < COUNT_OF(pairs); k++) {
            double numeric = (pairs[k][1] - pairs[k][2]) / (2 * e);
            double scale = fabs(numeric) + fabs(pairs[k][1]) * 1e-3 + 1;
            worst = fmax(worst, fabs(pairs[k][0] - numeric) / scale);
        }
    }
    print_message("densities: relative error of derivatives %.2g\n", worst);
    assert_true(worst < 1e-5);
}

/* One element, alone in a lane; the other lanes hold no numbers, which must not come over. */
typedef struct one_element {
    double energy, j, axes[3][3], gradient[3][2], weights[6], factors[6][3][2];
} one_element;

/* What slide_atlas.h tells of a triangle at rest. */
static void chart_slopes(const double x[3][3], d4 slopes[4], int lane)
{
    double g[3] = {0, 0, 0};
    for (int e = 0; e < 3; e++) {
        double d1 = x[1][e] - x[0][e], d2 = x[2][e] - x[0][e];
        g[0] += d1 * d1, g[1] += d1 * d2, g[2] += d2 * d2;
    }
    double edge = sqrt(g[0]), side = g[1] / edge, height = sqrt(g[2] - side * side);
    slopes[0][lane] = 1 / edge;
    slopes[1][lane] = -side / (edge * height);
    slopes[2][lane] = 1 / height;
    slopes[3][lane] = 0.5 * edge * height;
}

static one_element make_one(const slide_material *m, double stiffness, const double x[3][3], double stretch,
                            const double places[3][3], const double normal[3], bool project, int lane)
{
    d4 wide_x[3][3], wide_places[3][3], wide_normal[3], wide_stiffness = d4_set(NAN);
    for (int e = 0; e < 3; e++) {
        for (int k = 0; k < 3; k++) {
            wide_x[k][e] = wide_places[k][e] = d4_set(NAN);
            wide_x[k][e][lane] = x[k][e];
            wide_places[k][e][lane] = places[k][e];
        }
        wide_normal[e] = d4_set(NAN);
        wide_normal[e][lane] = normal[e];
    }
    wide_stiffness[lane] = stiffness;
    d4 slopes[4], metric[3], skin;
    for (int i = 0; i < 4; i++) slopes[i] = d4_set(NAN);
    chart_slopes(x, slopes, lane);
    slide_body body = slide_body_make(slopes, (const d4(*)[3])wide_x, stretch, metric);
    assert_true(fabs(metric[0][lane] - 1) + fabs(metric[1][lane]) + fabs(metric[2][lane] - 1) < 1e-9);
    slide_element wide;
    slide_element_make(m, wide_stiffness, &body, (const d4(*)[3])wide_places, wide_normal, project, &wide);
    d4 energy = slide_element_energy(m, wide_stiffness, &body, (const d4(*)[3])wide_places, wide_normal, &skin);
    one_element one = {.energy = wide.energy[lane], .j = wide.j[lane]};
    assert_true(energy[lane] == one.energy);
    for (int i = 0; i < 6; i++) {
        one.weights[i] = wide.weights[i][lane];
        for (int e = 0; e < 6; e++) one.factors[i][e / 2][e % 2] = wide.factors[i][e / 2][e % 2][lane];
        one.gradient[i / 2][i % 2] = wide.gradient[i / 2][i % 2][lane];
    }
    for (int i = 0; i < 9; i++) one.axes[i / 3][i % 3] = wide.axes[i / 3][i % 3][lane];
    return one;
}

/* A random triangle of the body, places of the skin near it, and maps from two unknowns to each place. */
typedef struct example {
    double body[3][3], stretch;
    double places[3][3], normal[3], maps[3][3][2];
} example;

static example make_example(double stretch, double shake)
{
    example x;
    double body[3][3] = {{0, 0, 0}, {1, 0.1, 0}, {0.3, 0.9, 0.2}};
    for (int k = 0; k < 3; k++)
        for (int e = 0; e < 3; e++) {
            body[k][e] += random_double(-0.2, 0.2);
            x.places[k][e] = 0.9 * body[k][e] + random_double(-shake, shake);
            for (int c = 0; c < 2; c++) x.maps[k][e][c] = random_double(-1, 1);
        }
    x.normal[0] = random_double(-0.2, 0.2), x.normal[1] = random_double(-0.2, 0.2), x.normal[2] = 1;
    memcpy(x.body, body, sizeof body);
    x.stretch = stretch;
    return x;
}

/* The gradient by the six unknowns, at an offset of one of them. */
static double element_at(const slide_material *m, const example *x, int unknown, double offset, double gradient[6],
                         one_element *element, bool project)
{
    double places[3][3];
    memcpy(places, x->places, sizeof places);
    for (int e = 0; e < 3 && unknown >= 0; e++) places[unknown / 2][e] += offset * x->maps[unknown / 2][e][unknown % 2];
    *element = make_one(m, 1.3, (const double(*)[3])x->body, x->stretch, (const double(*)[3])places, x->normal, project,
                        unknown & 3);
    for (int u = 0; u < 6; u++) {
        gradient[u] = 0;
        for (int e = 0; e < 3; e++)
            for (int a = 0; a < 2; a++)
                gradient[u] += element->gradient[u / 2][a] * element->axes[a][e] * x->maps[u / 2][e][u % 2];
    }
    return element->energy;
}

static void hessian_of(const one_element *element, const example *x, double hessian[6][6])
{
    memset(hessian, 0, 36 * sizeof(double));
    for (int i = 0; i < 6; i++) {
        double f[6];
        for (int u = 0; u < 6; u++) {
            f[u] = 0;
            for (int e = 0; e < 3; e++)
                for (int a = 0; a < (i < 4 ? 2 : 1); a++)
                    f[u] += element->factors[i][u / 2][a] * element->axes[i < 4 ? a : 2][e] * x->maps[u / 2][e][u % 2];
        }
        for (int a = 0; a < 6; a++)
            for (int b = 0; b < 6; b++) hessian[a][b] += element->weights[i] * f[a] * f[b];
    }
}

static void elements_have_their_derivatives(void **state)
{
    (void)state;
    random_state = 7;
    double worst_gradient = 0, worst_hessian = 0;
    for (int i = 0; i < 2000; i++) {
        const slide_material *m = &materials[i % COUNT_OF(materials)];
        example x = make_example(m->stretch, i % 2 ? 0.15 : 0.4);
        one_element element, moved;
        double gradient[6], hessian[6][6], plus[6], minus[6], e = 1e-5;
        element_at(m, &x, -1, 0, gradient, &element, false);
        if (element.j < 0.03 || fabs(element.j - 0.2) < 1e-3) continue; /* too near to the barrier for differences */
        hessian_of(&element, &x, hessian);
        double gradient_size = 1e-6, hessian_size = 1e-6, gradient_error = 0, hessian_error = 0;
        for (int u = 0; u < 6; u++) {
            double up = element_at(m, &x, u, e, plus, &moved, false),
                   down = element_at(m, &x, u, -e, minus, &moved, false);
            gradient_error = fmax(gradient_error, fabs((up - down) / (2 * e) - gradient[u]));
            gradient_size = fmax(gradient_size, fabs(gradient[u]));
            for (int b = 0; b < 6; b++) {
                hessian_error = fmax(hessian_error, fabs((plus[b] - minus[b]) / (2 * e) - hessian[u][b]));
                hessian_size = fmax(hessian_size, fabs(hessian[u][b]));
            }
        }
        worst_gradient = fmax(worst_gradient, gradient_error / gradient_size);
        worst_hessian = fmax(worst_hessian, hessian_error / hessian_size);
    }
    print_message("elements: relative error of gradient %.2g, of Hessian %.2g\n", worst_gradient, worst_hessian);
    assert_true(worst_gradient < 1e-5);
    assert_true(worst_hessian < 1e-5);
}

/* Eqs. (1) to (3) as they stand: thin QR of both edge matrices, F, Green strain, the energy. */
static void energy_is_that_of_the_paper(void **state)
{
    (void)state;
    random_state = 3;
    const slide_material *m = &materials[0];
    for (int i = 0; i < 200; i++) {
        double x[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, places[3][3], normal[3] = {0, 0, 1};
        for (int k = 0; k < 3; k++)
            for (int e = 0; e < 3; e++) {
                places[k][e] = x[k][e] + random_double(-0.1, 0.1);
                x[k][e] += random_double(-0.1, 0.1);
            }
        /* Gram-Schmidt on the edges of the skin. */
        double d1[3], d2[3], q1[3], q2[3], x1[3], x2[3], r11 = 0, r12 = 0, r22 = 0;
        for (int e = 0; e < 3; e++) {
            d1[e] = places[1][e] - places[0][e], d2[e] = places[2][e] - places[0][e];
            x1[e] = x[1][e] - x[0][e], x2[e] = x[2][e] - x[0][e];
            r11 += d1[e] * d1[e];
        }
        r11 = sqrt(r11);
        for (int e = 0; e < 3; e++) q1[e] = d1[e] / r11, r12 += q1[e] * d2[e];
        for (int e = 0; e < 3; e++) q2[e] = d2[e] - r12 * q1[e], r22 += q2[e] * q2[e];
        r22 = sqrt(r22);
        /* F = D_x R^-1, 3 x 2. */
        double c11 = 0, c12 = 0, c22 = 0;
        for (int e = 0; e < 3; e++) {
            double f1 = x1[e] / r11, f2 = (x2[e] - r12 / r11 * x1[e]) / r22;
            c11 += f1 * f1, c12 += f1 * f2, c22 += f2 * f2;
        }
        double e11 = 0.5 * (c11 - 1), e12 = 0.5 * c12, e22 = 0.5 * (c22 - 1), trace = e11 + e22;
        double energy =
            0.5 * r11 * r22 * (0.5 * m->lambda * trace * trace + m->mu * (e11 * e11 + 2 * e12 * e12 + e22 * e22));
        one_element element = make_one(m, 1, (const double(*)[3])x, 1, (const double(*)[3])places, normal, true, 1);
        if (element.j > 0.2 && element.j < 1.5) assert_true(fabs(element.energy - energy) < 1e-12 + 1e-9 * energy);
    }
}

/* Towards having no area the energy grows and the force leads back; inside out it is infinite. */
static void skin_is_not_turned_inside_out(void **state)
{
    (void)state;
    double x[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, normal[3] = {0, 0, 1};
    for (int i = 0; i < COUNT_OF(materials); i++) {
        slide_material material = materials[i];
        material.stretch = 1;
        double last = HUGE_VAL;
        for (double y = 0.01; y <= 0.8; y += 0.01) {
            double places[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, y, 0}};
            one_element element =
                make_one(&material, 1, (const double(*)[3])x, 1, (const double(*)[3])places, normal, true, 2);
            assert_true(isfinite(element.energy));
            assert_true(element.energy < last);
            assert_true(element.gradient[2][1] * element.axes[1][1] < 0);
            last = element.energy;
        }
        double inverted[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, -0.5, 0}};
        one_element element =
            make_one(&material, 1, (const double(*)[3])x, 1, (const double(*)[3])inverted, normal, true, 2);
        assert_true(element.energy == HUGE_VAL);
    }
    for (int i = 0; i < COUNT_OF(materials); i++) {
        double places[3][3] = {{0.2, 0.1, 0}, {0.2, 0.1, 0}, {0.2, 0.1, 0}};
        one_element element =
            make_one(&materials[i], 1, (const double(*)[3])x, 1, (const double(*)[3])places, normal, true, 3);
        for (int k = 0; k < 3; k++) assert_true(isfinite(element.gradient[k][0]) && isfinite(element.gradient[k][1]));
        for (int k = 0; k < 6; k++) assert_true(element.weights[k] >= 0 && isfinite(element.weights[k]));
    }
}

/* Skin that is pressed together resists the more the further: no material gives way. */
static void pressed_skin_does_not_give_way(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(materials); i++) {
        double last = 0;
        for (double stretch = 0.95; stretch > 0.15; stretch -= 0.01) {
            /* both ways; stress as energy of the skin by its stretch */
            double p = 1 / stretch, q = 1 / (stretch - 1e-4);
            double w0 = slide_density_at(&materials[i], d4_set(2 * p * p), d4_set(p * p)).value[0] / (p * p);
            double w1 = slide_density_at(&materials[i], d4_set(2 * q * q), d4_set(q * q)).value[0] / (q * q);
            double force = (w1 - w0) / 1e-4;
            if (stretch < 0.6) assert_true(force > last);
            last = stretch < 0.7 ? force : 0;
        }
    }
}

/* Materials agree for small strain. */
static void materials_agree_for_small_strain(void **state)
{
    (void)state;
    double e = 1e-4;
    for (int k = 0; k < 3; k++) {
        double a = 1 + e * (k != 1), d = 1 + e * (k != 0) * (k == 2 ? -1 : 1);
        double values[3];
        for (int i = 0; i < 3; i++)
            values[i] = slide_density_at(&materials[i], d4_set(a * a + d * d), d4_set(a * d)).value[0] / (e * e);
        assert_true(fabs(values[1] / values[0] - 1) < 1e-3);
        assert_true(fabs(values[2] / values[0] - 1) < 1e-3);
    }
}

/* ---- charts ---- */

/* There and back again along a straight way is the same place, whatever is crossed in between. */
static void ways_can_be_gone_back(void **state)
{
    (void)state;
    static const char *const names[] = {"torus", "hand", "neck"};
    for (int n = 0; n < COUNT_OF(names); n++) {
        cutis_character *c = test_zoo(names[n], 0.3);
        arena memory = arena_create(NULL);
        mesh m;
        slide_atlas atlas;
        cutis_error error;
        assert_int_equal(mesh_build_character(&m, c, &memory, &error), CUTIS_OK);
        assert_int_equal(slide_atlas_build(&atlas, &m, (double)c->size, &memory, &error), CUTIS_OK);
        random_state = 5;
        double worst = 0;
        int far = 0;
        for (int i = 0; i < 2000; i++) {
            double b1 = random_double(0.05, 0.5), b2 = random_double(0.05, 0.4);
            slide_place start = {.triangle = i % m.triangle_count, .b = {b1, b2}}, place = start;
            double angle = random_double(0, 6.28), length = random_double(0, 0.2);
            double way[2] = {length * cos(angle), length * sin(angle)}, carried[2] = {way[0], way[1]};
            slide_walk(&atlas, &place, way, carried, NULL);
            assert_true(way[0] == 0 && way[1] == 0);
            far += place.triangle != start.triangle;
            double back[2] = {-carried[0], -carried[1]};
            slide_walk(&atlas, &place, back, NULL, NULL);
            double a[3], b[3], distance = 0;
            slide_place_position(&atlas, &start, a);
            slide_place_position(&atlas, &place, b);
            for (int e = 0; e < 3; e++) distance += (a[e] - b[e]) * (a[e] - b[e]);
            worst = fmax(worst, sqrt(distance));
        }
        assert_true(far > 1000);
        assert_true(worst < 1e-9);
        arena_destroy(&memory);
        cutis_character_destroy(c);
    }
}

/* The rounded surface passes through the vertices, is continuous across edges, and has nearly one tangent plane there.
 */
static void rounded_surface_has_no_ridges(void **state)
{
    (void)state;
    static const char *const names[] = {"torus", "hand", "neck"};
    for (int n = 0; n < COUNT_OF(names); n++) {
        cutis_character *c = test_zoo(names[n], 0.3);
        arena memory = arena_create(NULL);
        mesh m;
        slide_atlas atlas;
        cutis_error error;
        assert_int_equal(mesh_build_character(&m, c, &memory, &error), CUTIS_OK);
        assert_int_equal(slide_atlas_build(&atlas, &m, (double)c->size, &memory, &error), CUTIS_OK);
        double gap = 0, flat = 0, rounded = 0;
        for (int t = 0; t < m.triangle_count; t++) {
            for (int k = 0; k < 3; k++) {
                slide_place corner = slide_place_of_corner(t, k);
                double normal[3], other_normal[3];
                slide_spot p = slide_place_rounded(&atlas, &corner);
                for (int e = 0; e < 3; e++)
                    gap = fmax(gap, fabs(p.position[e] - atlas.positions[3 * m.triangles[3 * t + k] + e]));

                /* both sides of the middle of an edge */
                int across = atlas.charts[t].across[k];
                if (across < 0 || !(atlas.charts[t].area > 0) || !(atlas.charts[across / 3].area > 0)) continue;
                slide_place here = {.triangle = t, .b = {k == 1 ? 0 : 0.5, k == 2 ? 0 : 0.5}};
                slide_place there = {.triangle = across / 3,
                                     .b = {across % 3 == 1 ? 0 : 0.5, across % 3 == 2 ? 0 : 0.5}};
                p = slide_place_rounded(&atlas, &here);
                slide_spot q = slide_place_rounded(&atlas, &there);
                slide_spot_normal(&p, normal);
                slide_spot_normal(&q, other_normal);
                double cosine = 0, plain = 0;
                for (int e = 0; e < 3; e++) {
                    gap = fmax(gap, fabs(p.position[e] - q.position[e]));
                    cosine += normal[e] * other_normal[e];
                    plain += atlas.charts[t].normal[e] * atlas.charts[across / 3].normal[e];
                }
                rounded += acos(fmin(cosine, 1)), flat += acos(fmin(plain, 1));
            }
        }
        print_message("%s: rounded surface: largest gap %.2g, bend at edges %.2g of that of flat triangles\n", names[n],
                      gap, rounded / flat);
        assert_true(gap < 1e-12);
        assert_true(rounded < 0.02 * flat);
        arena_destroy(&memory);
        cutis_character_destroy(c);
    }
}

/* ---- the linear system ---- */

/* Dense Gauss elimination with pivots, of n unknowns. */
static void solve_dense(double *a, double *b, int n)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int r = k + 1; r < n; r++)
            if (fabs(a[r * n + k]) > fabs(a[pivot * n + k])) pivot = r;
        for (int c = 0; c < n; c++) {
            double swap = a[k * n + c];
            a[k * n + c] = a[pivot * n + c], a[pivot * n + c] = swap;
        }
        double swap = b[k];
        b[k] = b[pivot], b[pivot] = swap;
        for (int r = k + 1; r < n; r++) {
            double f = a[r * n + k] / a[k * n + k];
            if (f == 0) continue;
            for (int c = k; c < n; c++) a[r * n + c] -= f * a[k * n + c];
            b[r] -= f * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int c = k + 1; c < n; c++) b[k] -= a[k * n + c] * b[c];
        b[k] /= a[k * n + k];
    }
}

/* The system of the implicit Euler method with velocities v. */
static void make_system(const slide_model *model, slide_scratch *s, const slide_place *places, const double *v)
{
    size_t n = 2 * (size_t)model->point_count;
    memset(s->jacobians, 0, (size_t)model->point_count * sizeof *s->jacobians);
    memset(s->right, 0, n * sizeof *s->right);
    memset(s->moved, 0, n * sizeof *s->moved);
    memset(s->grips, 0, (size_t)model->point_count * sizeof *s->grips);
    for (size_t i = 0; i < n; i++) s->goal[i] = model->h * v[i];
    slide_system_body(model, s, NULL);
    slide_system_outer(model, s, NULL, 0, 1);
    slide_system_shapes(model, s, NULL);
    slide_skin_points(model, s, places, NULL);
    slide_system_jacobians(model, s, NULL);
    slide_system_elements(model, s, NULL);
    slide_system_inertia(model, s, NULL);
    slide_increment increment = {1 / (model->h * model->h), 0, s->goal, s->moved, true};
    slide_system_assemble(model, s, &increment, NULL);
}

static bool fixed_point(const slide_model *model, int i) { return model->allowed[i][0] + model->allowed[i][2] == 0; }

/* The system of a model in a strained configuration, as a dense matrix and right side. */
static int dense_system(const slide_model *model, slide_scratch *s, const slide_place *places, const double *v,
                        double **matrix, double **right)
{
    int n = 2 * model->point_count;
    make_system(model, s, places, v);
    *matrix = calloc((size_t)n * (size_t)n, sizeof(double));
    *right = malloc((size_t)n * sizeof(double));
    double *unit = calloc((size_t)n, sizeof(double)), *image = calloc((size_t)n, sizeof(double));
    for (int k = 0; k < n; k++) {
        unit[k] = 1;
        slide_system_multiply(model, s, unit, image, NULL);
        unit[k] = 0;
        for (int r = 0; r < n; r++) (*matrix)[r * n + k] = image[r];
        if (fixed_point(model, k / 2)) (*matrix)[k * n + k] = 1;
    }
    memcpy(*right, s->right, (size_t)n * sizeof(double));
    free(unit);
    free(image);
    return n;
}

/* The elimination of attachments gives the velocities of the KKT system (Eq. 10). */
static void elimination_is_the_kkt_system(void **state)
{
    (void)state;
    cutis_character *plain = test_zoo("torus", 0.1), *c = NULL;
    /* Some points attached, a closed ring of them a curve. */
    float *freeze = calloc((size_t)plain->vertex_count, sizeof(float)),
          *curve = calloc((size_t)plain->vertex_count, sizeof(float));
    for (int v = 0; v < plain->vertex_count; v++) {
        freeze[v] = v % 11 == 3;
        curve[v] = fabsf(plain->positions[3 * v + 2]) < 1e-4f &&
                   plain->positions[3 * v] * plain->positions[3 * v] +
                           plain->positions[3 * v + 1] * plain->positions[3 * v + 1] >
                       0.09f;
    }
    cutis_map maps[2] = {{"freeze", freeze}, {"curve", curve}};
    cutis_character given = *plain;
    given.maps = maps, given.map_count = 2;
    cutis_error error;
    assert_int_equal(cutis_character_create(&given, NULL, &c, &error), CUTIS_OK);
    cutis_model *tied = test_build(c, "slide", NULL), *loose = test_build(plain, "slide", NULL);
    const slide_model *mt = tied->stages[1].data, *ml = loose->stages[1].data;
    void *block_t = aligned_alloc(64, (slide_scratch_size(mt) + 63) / 64 * 64),
         *block_l = aligned_alloc(64, (slide_scratch_size(ml) + 63) / 64 * 64);
    slide_scratch st, sl;
    slide_scratch_view(mt, block_t, &st);
    slide_scratch_view(ml, block_l, &sl);

    /* A body squeezed at random, skin slid at random where it may. */
    random_state = 11;
    int n = mt->point_count;
    slide_place *places = calloc((size_t)n, sizeof *places);
    double *v = calloc(2 * (size_t)n, sizeof *v);
    for (int i = 0; i < n; i++) {
        double way[2] = {random_double(-0.004, 0.004), random_double(-0.004, 0.004)}, axis[2] = {1, 0};
        places[i] = slide_walk_from_point(&mt->atlas, i, way, axis);
        for (int e = 0; e < 3; e++)
            st.x[3 * i + e] = sl.x[3 * i + e] = mt->atlas.positions[3 * i + e] * (e == 0 ? 1.3 : 0.9);
    }
    int constraints = 0, along = 0;
    for (int i = 0; i < n; i++) {
        double trace = mt->allowed[i][0] + mt->allowed[i][2];
        constraints += trace < 0.5 ? 2 : trace < 1.5 ? 1 : 0;
        along += trace > 0.5 && trace < 1.5;
    }
    assert_true(along > 3);
    assert_int_equal(constraints, mt->constraint_count);
    double *a, *b, *at, *bt;
    int size = dense_system(ml, &sl, places, v, &a, &b);
    dense_system(mt, &st, places, v, &at, &bt);
    solve_dense(at, bt, size);

    int total = size + constraints, row = size;
    double *kkt = calloc((size_t)total * (size_t)total, sizeof *kkt), *rhs = calloc((size_t)total, sizeof *rhs);
    for (int r = 0; r < size; r++) {
        memcpy(kkt + r * total, a + r * size, (size_t)size * sizeof *kkt);
        rhs[r] = b[r];
    }
    for (int i = 0; i < n; i++) {
        const double *q = mt->allowed[i];
        double trace = q[0] + q[2];
        double normals[2][2] = {{1, 0}, {0, 1}};
        int count = trace < 0.5 ? 2 : trace < 1.5 ? 1 : 0;
        /* The direction taken out by the projection. */
        if (count == 1) normals[0][0] = sqrt(1 - q[0]), normals[0][1] = q[1] > 0 ? -sqrt(1 - q[2]) : sqrt(1 - q[2]);
        for (int k = 0; k < count; k++, row++)
            for (int e = 0; e < 2; e++) kkt[row * total + 2 * i + e] = kkt[(2 * i + e) * total + row] = normals[k][e];
    }
    solve_dense(kkt, rhs, total);
    double largest = 0, worst = 0;
    for (int k = 0; k < size; k++) largest = fmax(largest, fabs(rhs[k])), worst = fmax(worst, fabs(rhs[k] - bt[k]));
    print_message("elimination against KKT: %d unknowns, %d constraints, relative difference %.2g\n", size, constraints,
                  worst / largest);
    assert_true(largest > 1e-6);
    assert_true(worst < 1e-9 * largest);

    /* The conjugate gradients come to the same. */
    double residual, *x = calloc((size_t)(unsigned)size, sizeof *x);
    double asked = 0;
    slide_system_solve(mt, &st, x, &asked, &residual, NULL);
    worst = 0;
    for (int k = 0; k < size; k++) worst = fmax(worst, fabs(x[k] - bt[k]));
    assert_true(worst < 1e-3 * largest);
    free(x), free(kkt), free(rhs), free(a), free(b), free(at), free(bt), free(places), free(v), free(block_t),
        free(block_l);
    free(freeze), free(curve);
    cutis_model_destroy(tied);
    cutis_model_destroy(loose);
    cutis_character_destroy(c);
    cutis_character_destroy(plain);
}

/* The right side of the system is the derivative of the energy by the points' own movement. */
static void force_is_the_derivative_of_energy(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("torus", 0.1);
    static const char *const settings[] = {"ligament_stiffness=4.77", "slack=0.001", NULL};
    cutis_model *model = test_build(c, "slide", settings);
    const slide_model *m = model->stages[1].data;
    void *block = aligned_alloc(64, (slide_scratch_size(m) + 63) / 64 * 64);
    slide_scratch s;
    slide_scratch_view(m, block, &s);
    int n = m->point_count;
    slide_place *places = calloc((size_t)n, sizeof *places);
    double *v = calloc(2 * (size_t)n, sizeof *v);
    random_state = 13;
    for (int i = 0; i < n; i++) {
        double way[2] = {random_double(-0.004, 0.004), random_double(-0.004, 0.004)}, axis[2] = {1, 0};
        places[i] = slide_walk_from_point(&m->atlas, i, way, axis);
        for (int e = 0; e < 3; e++) s.x[3 * i + e] = m->atlas.positions[3 * i + e] * (e == 0 ? 1.3 : 0.9);
    }
    make_system(m, &s, places, v);
    double worst = 0, largest = 0, e = 1e-6;
    double *jacobians = malloc((size_t)n * sizeof s.jacobians[0]);
    memcpy(jacobians, s.jacobians, (size_t)n * sizeof s.jacobians[0]);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 2; k++) {
            double energy[2];
            for (int side = 0; side < 2; side++) {
                /* along the rounded surface, as a step goes */
                slide_place moved = places[i];
                double way[3];
                for (int d = 0; d < 3; d++) way[d] = -(side ? -e : e) * jacobians[6 * i + 2 * d + k];
                slide_spot spot = slide_place_rounded(&m->atlas, &moved);
                slide_place_move(&m->atlas, &moved, way, &spot);
                slide_skin_point(m, &s, i, &places[i], &spot);
                energy[side] = slide_system_energy(m, &s, NULL);
            }
            slide_spot spot = slide_place_rounded(&m->atlas, &places[i]);
            slide_skin_point(m, &s, i, &places[i], &spot);
            double force = -(energy[0] - energy[1]) / (2 * e), own = s.right[2 * i + k];
            worst = fmax(worst, fabs(force - own)), largest = fmax(largest, fabs(own));
        }
    }
    print_message("forces: relative error %.2g\n", worst / largest);
    assert_true(worst < 1e-3 * largest);
    free(places), free(v), free(block), free(jacobians);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(densities_have_their_derivatives),
        cmocka_unit_test(elements_have_their_derivatives),
        cmocka_unit_test(energy_is_that_of_the_paper),
        cmocka_unit_test(skin_is_not_turned_inside_out),
        cmocka_unit_test(pressed_skin_does_not_give_way),
        cmocka_unit_test(materials_agree_for_small_strain),
        cmocka_unit_test(ways_can_be_gone_back),
        cmocka_unit_test(rounded_surface_has_no_ridges),
        cmocka_unit_test(elimination_is_the_kkt_system),
        cmocka_unit_test(force_is_the_derivative_of_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
