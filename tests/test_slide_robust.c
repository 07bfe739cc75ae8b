/*
 * test_slide_robust.c: what the solver slide promises as a whole: nothing breaks it,
 * bits do not depend on threads or frame rate, texture coordinates never span a seam.
 */
#include "slide_scenes.h"

static uint64_t random_state;

static double random_double(double low, double high)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return low + (high - low) * (double)(random_state >> 11) / 9007199254740992.0;
}

/* ---- wild bodies ---- */

typedef struct wild_body {
    const cutis_character *character;
    int step;
} wild_body;

/* Noise, flattening, mirroring, collapse to a line or a point, leaps, and values that are no numbers. */
static void sample_wild(void *context, double time, float *positions)
{
    wild_body *w = context;
    (void)time;
    int kind = (int)random_double(0, 9), step = w->step++;
    double noise = random_double(0, 0.3);
    for (int i = 0; i < 3 * w->character->vertex_count; i++) {
        double x = (double)w->character->positions[i];
        switch (kind) {
        case 0:
            x += random_double(-noise, noise);
            break;
        case 1:
            x = i % 3 == 2 ? 0 : x;
            break;
        case 2:
            x = i % 3 == 0 ? -x : x;
            break;
        case 3:
            x = i % 3 == 0 ? x : 0.1;
            break;
        case 4:
            x = 0.2;
            break;
        case 5:
            x += 100 * noise;
            break;
        case 6:
            x = i % 50 == step % 50 ? (double)NAN : x;
            break;
        case 7:
            x *= 1 + 20 * noise;
            break;
        default:
            break;
        }
        positions[i] = (float)x;
    }
}

static void wild_bodies_do_no_harm(void **state)
{
    (void)state;
    static const char *const sets[][6] = {
        {"zeta=0", "material=stvk", "output=vertices", NULL},
        {"zeta=0.5", "material=fung", "ligament_stiffness=8", "tension=0.3", "delta_max=1", NULL},
        {"zeta=1", "material=neohookean", "boundary=free", "gravity=10", "area=20", NULL},
    };
    random_state = 99;
    cutis_character *c = test_zoo("torus", 0.1);
    for (int k = 0; k < 3; k++) {
        cutis_model *model = test_build(c, "slide", sets[k]);
        const slide_model *m = model->stages[1].data;
        cutis_state *run = test_state(model, NULL);
        wild_body body = {c, 0};
        for (int i = 0; i < 1000; i++) {
            cutis_step_input input = {.surface = {&body, sample_wild}};
            cutis_state_step(model, run, &input, 0.004);
            const float *p = cutis_state_positions(model, run);
            for (int j = 0; j < 3 * c->vertex_count; j++) assert_true(isfinite(p[j]));
            static const char *const names[] = {"texcoords", "sliding", "stress", "wrinkle"};
            for (int n = 0; n < 4; n++) {
                cutis_output output = {0};
                bool shown = k == 0 && n == 1; /* positions show the sliding themselves */
                assert_int_equal(cutis_state_output(model, run, names[n], &output), !shown);
                for (int j = 0; j < output.count * output.components; j++) assert_true(isfinite(output.values[j]));
            }
            /* Places stay on the surface. */
            slide_state view;
            slide_state_view(m, (char *)run + model->stages[1].state, &view);
            const slide_place *places = view.places;
            for (int j = 0; j < m->point_count; j++) {
                double b1 = places[j].b[0], b2 = places[j].b[1];
                assert_true(places[j].triangle >= 0 && places[j].triangle < m->triangle_count);
                assert_true(b1 >= 0 && b2 >= 0 && b1 + b2 <= 1 + 1e-12);
            }
        }
        print_message("wild bodies: %d motions with %s\n", body.step, sets[k][0]);
        assert_true(body.step >= 1000);
        cutis_state_destroy(run);
        cutis_model_destroy(model);
    }
    cutis_character_destroy(c);
}

/* Slivers, lines, an edge of three triangles, a lone triangle, a Moebius band: built and stepped, or refused. */
static void degenerate_meshes_are_borne(void **state)
{
    (void)state;
    static const float positions[] = {0,    0,    0, 1, 0, 0, 0, 1, 0, 1, 1, 0,     0.5f, 0,    0,
                                      0.5f, 0.5f, 1, 3, 3, 3, 2, 0, 0, 2, 0, 1e-7f, 0.2f, 0.1f, 0.9f};
    static const int corners[] = {0, 1, 2, 1, 3, 2, 0, 4, 1, 0, 1, 5, 7, 8, 3, 2, 1, 9};
    static const int face_first[] = {0, 3, 6, 9, 12, 15, 18};
    cutis_character given = {.name = "scraps",
                             .vertex_count = 10,
                             .positions = positions,
                             .face_count = 6,
                             .face_first = face_first,
                             .corners = corners};
    cutis_character *c = NULL;
    cutis_error error;
    assert_int_equal(cutis_character_create(&given, NULL, &c, &error), CUTIS_OK);
    const char *const settings[] = {"zeta=0", "boundary=free", "output=vertices", NULL};
    cutis_model *model = test_build(c, "slide", settings);
    cutis_state *run = test_state(model, NULL);
    wild_body body = {c, 0};
    random_state = 4;
    for (int i = 0; i < 500; i++) {
        cutis_step_input input = {.surface = {&body, sample_wild}};
        cutis_state_step(model, run, &input, 0.002);
        const float *p = cutis_state_positions(model, run);
        for (int j = 0; j < 3 * c->vertex_count; j++) assert_true(isfinite(p[j]));
    }
    cutis_state_destroy(run);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
}

/* ---- the same bits ---- */

static uint64_t hash_of_run(const cutis_character *c, const cutis_jobs *jobs, double dt, int steps)
{
    const char *const settings[] = {"zeta=0.5", NULL};
    cutis_model *model = test_build(c, "slide", settings);
    cutis_state *run = test_state(model, NULL);
    scene_motion motion = {c, 0, 0, NULL, 0, NULL};
    for (int i = 0; i < steps; i++) {
        cutis_step_input input = {.motion = {&motion, scene_sample}, .jobs = jobs};
        cutis_state_step(model, run, &input, dt * (i + 1) - cutis_state_time(run));
    }
    uint64_t hash = cutis_state_hash(model, run);
    cutis_state_destroy(run);
    cutis_model_destroy(model);
    return hash;
}

static void bits_depend_on_nothing(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("neck", 0.2);
    uint64_t hash = hash_of_run(c, NULL, 0.016, 10);
    assert_true(hash == hash_of_run(c, &test_jobs_backward, 0.016, 10));
    assert_true(hash == hash_of_run(c, NULL, 0.032, 5));
    assert_true(hash == hash_of_run(c, NULL, 0.008, 20));
    cutis_pool *pool = NULL;
    cutis_error error;
    assert_int_equal(cutis_pool_create(2, NULL, &pool, &error), CUTIS_OK);
    assert_true(hash == hash_of_run(c, cutis_pool_jobs(pool), 0.016, 10));
    cutis_pool_destroy(pool);
    cutis_character_destroy(c);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("torus", 0.1);
    cutis_model_def def = {.character = c, .solver = "slide"};
    assert_true(test_every_allocation(test_build_and_step, &def) > 3);
    cutis_character_destroy(c);
}

/* ---- texture ---- */

/* Largest edge of a face in the texture, over its edge on the unstressed skin. */
static double texture_scale(const cutis_character *c, const float *texcoords, double *shift)
{
    double largest = 0;
    *shift = 0;
    for (int f = 0; f < c->face_count; f++) {
        for (int k = c->face_first[f]; k < c->face_first[f + 1]; k++) {
            int n = k + 1 < c->face_first[f + 1] ? k + 1 : c->face_first[f];
            const float *a = c->positions + 3 * c->corners[k], *b = c->positions + 3 * c->corners[n];
            double length = 0, texture = 0;
            for (int e = 0; e < 3; e++) length += ((double)a[e] - (double)b[e]) * ((double)a[e] - (double)b[e]);
            for (int e = 0; e < 2; e++) {
                double d = (double)texcoords[2 * k + e] - (double)texcoords[2 * n + e];
                texture += d * d;
                *shift = fmax(*shift, fabs((double)texcoords[2 * k + e] - (double)c->texcoords[2 * k + e]));
            }
            largest = fmax(largest, sqrt(texture / length));
        }
    }
    return largest;
}

static float left_end(const cutis_character *c, int v) { return c->positions[3 * v] < -0.479f; }

/* The body turns under the skin by 180 degrees: every seam along the mantle is crossed by many faces. */
static void faces_cross_seams_whole(void **state)
{
    (void)state;
    cutis_character *c = scene_paint(test_zoo("cylinder", 0.4), "freeze", left_end);
    const char *const settings[] = {"zeta=0", NULL};
    cutis_model *model = test_build(c, "slide", settings);
    cutis_output output;
    cutis_state *run = test_state(model, NULL);
    assert_true(cutis_state_output(model, run, "texcoords", &output));
    assert_int_equal(output.count, c->corner_count);
    assert_memory_equal(output.values, c->texcoords, (size_t)c->corner_count * 8);
    double shift, rest = texture_scale(c, c->texcoords, &shift), worst = 0, largest = 0;
    scene_motion motion = {c, cutis_character_find_clip(c, "twist"), 0, NULL, 0, NULL};
    for (int i = 0; i < 30; i++) {
        cutis_step_input input = {.motion = {&motion, scene_sample}};
        cutis_state_step(model, run, &input, 0.04);
        assert_true(cutis_state_output(model, run, "texcoords", &output));
        worst = fmax(worst, texture_scale(c, output.values, &shift) / rest);
        largest = fmax(largest, shift);
    }
    print_message("texture: moved by %.2f of its width; longest edge in it %.2f times that at rest\n", largest, worst);
    assert_true(largest > 0.2);
    assert_true(worst < 2.5);
    cutis_state_destroy(run);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
}

/* ---- extras ---- */

/* Mean length of the sliding, in sizes, of a squashed torus under settings. */
static double mean_slide(const cutis_character *c, const char *a, const char *b, double *wrinkle, double *stress)
{
    const char *const settings[] = {a, b, NULL};
    cutis_model *model = test_build(c, "slide", settings);
    cutis_output output;
    cutis_state *run = test_state(model, NULL);
    scene_motion motion = {c, 0, 0, NULL, 0, NULL};
    cutis_step_input input = {.motion = {&motion, scene_sample}};
    cutis_state_step(model, run, &input, 1.0);
    double sum = 0;
    assert_true(cutis_state_output(model, run, "sliding", &output));
    for (int v = 0; v < c->vertex_count; v++)
        sum += sqrt((double)output.values[3 * v] * (double)output.values[3 * v] +
                    (double)output.values[3 * v + 1] * (double)output.values[3 * v + 1] +
                    (double)output.values[3 * v + 2] * (double)output.values[3 * v + 2]);
    *wrinkle = *stress = 0;
    assert_true(cutis_state_output(model, run, "wrinkle", &output));
    for (int v = 0; v < c->vertex_count; v++) *wrinkle = fmax(*wrinkle, (double)output.values[v]);
    assert_true(cutis_state_output(model, run, "stress", &output));
    for (int v = 0; v < c->vertex_count; v++) *stress = fmax(*stress, (double)output.values[2 * v]);
    cutis_state_destroy(run);
    cutis_model_destroy(model);
    return sum / c->vertex_count / (double)c->size;
}

static void ligaments_hold_and_compression_wrinkles(void **state)
{
    (void)state;
    test_is_heavy();
    cutis_character *c = test_zoo("torus", 0.3);
    double wrinkle, stress, tight, held_wrinkle;
    double loose = mean_slide(c, "ligament_stiffness=0", NULL, &wrinkle, &stress);
    double held = mean_slide(c, "ligament_stiffness=31.8", "slack=0.005", &held_wrinkle, &stress);
    double stuck = mean_slide(c, "attach=1", NULL, &held_wrinkle, &stress);
    mean_slide(c, "tension=0.3", NULL, &tight, &stress);
    print_message("torus: mean slide %.4f, with ligaments of slack 0.005 %.4f, attached %.4f; wrinkles %.3f, of tight "
                  "skin %.3f\n",
                  loose, held, stuck, wrinkle, tight);
    assert_true(loose > 0.01);
    assert_true(held < 0.5 * loose && held > 0.001);
    assert_true(stuck < 1e-9);
    assert_true(wrinkle > 0.02);
    assert_true(tight < 0.5 * wrinkle);
    assert_true(stress > 0.1);
    cutis_character_destroy(c);
}

/* On a stack and on a cache, the skin slides on that body. */
static void skin_slides_on_other_bodies(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("torus", 0.2);
    scene_motion motion = {c, 0, 0, NULL, 0, NULL};
    const double times[] = {0.05};
    for (int i = 0; i < cutis_solver_count(); i++) {
        const char *name = cutis_solver(i)->name;
        char stack[64];
        if (strcmp(name, "slide") == 0 || strcmp(name, "springs") == 0 || strcmp(name, "curves") == 0) continue;
        snprintf(stack, sizeof stack, "%s+slide", name);
        free(scene_run(c, stack, NULL, &motion, times, 1));
    }
    cutis_character_destroy(c);
}

int main(int count, char **arguments)
{
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wild_bodies_do_no_harm),      cmocka_unit_test(degenerate_meshes_are_borne),
        cmocka_unit_test(bits_depend_on_nothing),      cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(faces_cross_seams_whole),     cmocka_unit_test(ligaments_hold_and_compression_wrinkles),
        cmocka_unit_test(skin_slides_on_other_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
