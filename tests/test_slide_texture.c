/*
 * test_slide_texture.c: textures of sliding skin: across seams both sides show the same skin to a texel, and wrinkles
 * take up the length that a strip loses.
 */
#include "slide_scenes.h"

#include "cutis/texture.h"

enum { SIDE = 1024 };

/* The rest position of the skin as an image: inside of islands, and extended by `border` texels. */
static float *paint_places(const cutis_character *c, double border, cutis_texel *texels)
{
    cutis_error error;
    float *image = calloc((size_t)SIDE * SIDE, 3 * sizeof *image);
    assert_int_equal(cutis_texture_map(c, SIDE, SIDE, border, NULL, texels, &error), CUTIS_OK);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        if (texels[i].triangle < 0 || texels[i].distance > 0) continue;
        for (int k = 0; k < 3; k++)
            for (size_t e = 0; e < 3; e++)
                image[3 * i + e] +=
                    texels[i].weights[k] * c->positions[3 * (size_t)c->triangles[3 * texels[i].triangle + k] + e];
    }
    assert_int_equal(cutis_texture_extend(c, texels, SIDE, SIDE, 3, NULL, image, &error), CUTIS_OK);
    return image;
}

/* Length of the edge at a corner, in space and in the texture. */
static double edge_lengths(const cutis_character *c, int k, int next, double *texture)
{
    const float *a = c->positions + 3 * c->corners[k], *b = c->positions + 3 * c->corners[next];
    const float *t = c->texcoords + 2 * k, *u = c->texcoords + 2 * next;
    double x = (double)a[0] - (double)b[0], y = (double)a[1] - (double)b[1], z = (double)a[2] - (double)b[2];
    *texture = hypot((double)t[0] - (double)u[0], (double)t[1] - (double)u[1]);
    return sqrt(x * x + y * y + z * z);
}

/* The longest side of a texel on the face of a corner, in space, by the first triangle of the face. */
static double texel_length(const cutis_character *c, int face)
{
    int k = c->face_first[face];
    const float *x[3], *t[3];
    for (int i = 0; i < 3; i++) {
        x[i] = c->positions + 3 * c->corners[k + i];
        t[i] = c->texcoords + 2 * (k + i);
    }
    double a = (double)t[1][0] - (double)t[0][0], b = (double)t[2][0] - (double)t[0][0];
    double d = (double)t[1][1] - (double)t[0][1], e = (double)t[2][1] - (double)t[0][1], det = a * e - b * d;

    /* derivatives of the place by the texture, and the larger of their singular values */
    double uu = 0, uv = 0, vv = 0;
    for (int i = 0; i < 3; i++) {
        double p = (double)x[1][i] - (double)x[0][i], q = (double)x[2][i] - (double)x[0][i];
        double du = (p * e - q * d) / det, dv = (q * a - p * b) / det;
        uu += du * du;
        uv += du * dv;
        vv += dv * dv;
    }
    return sqrt(0.5 * (uu + vv) + sqrt(0.25 * (uu - vv) * (uu - vv) + uv * uv)) / SIDE;
}

/* How far what is seen jumps across edges of the body whose faces use different islands, in texels. */
typedef struct jumps {
    int edges, samples, ends;
    int above;       /* samples with more than a texel */
    int far;         /* with more than three */
    int end_above;   /* ends of edges with more than a texel */
    double largest;  /* in texels along the edge */
    double coarsest; /* the same, in texels of the coarser face across their longer side */
} jumps;

/* Both faces of each edge are sampled along it; caps: the ends of the cylinder count. */
static jumps find_jumps(const cutis_character *c, const float *image, const float *texcoords, bool caps)
{
    jumps found = {0};
    int *seen = malloc((size_t)c->point_count * 16 * sizeof *seen); /* corners at which edges from a point begin */
    int *counts = calloc((size_t)c->point_count, sizeof *counts);
    for (int f = 0; f < c->face_count; f++) {
        for (int k = c->face_first[f]; k < c->face_first[f + 1]; k++) {
            int next = k + 1 < c->face_first[f + 1] ? k + 1 : c->face_first[f];
            int from = c->vertex_points[c->corners[k]], to = c->vertex_points[c->corners[next]];

            /* the face beyond runs the edge the other way */
            int other = -1, other_next = -1, other_face = -1;
            for (int i = 0; i < counts[to]; i++) {
                int at = seen[16 * to + i], face = 0;
                while (c->face_first[face + 1] <= at) face++;
                int end = at + 1 < c->face_first[face + 1] ? at + 1 : c->face_first[face];
                if (c->vertex_points[c->corners[end]] == from) {
                    other = end;
                    other_next = at;
                    other_face = face;
                }
            }
            if (counts[from] < 16) seen[16 * from + counts[from]++] = k;
            if (other < 0) continue;
            double texture, length = edge_lengths(c, k, next, &texture);
            double apart = hypot((double)texcoords[2 * k] - (double)texcoords[2 * other],
                                 (double)texcoords[2 * k + 1] - (double)texcoords[2 * other + 1]);
            bool ends_only = fabsf(c->positions[3 * c->corners[k]]) > 0.45f && !caps;
            if (apart < 1e-3 || ends_only) continue;
            double texel = fmax(texel_length(c, f), texel_length(c, other_face));
            found.edges++;
            for (int at = 0; at <= 10; at++) {
                double s = 0.1 * at;
                float place[2][3];
                const int ends[2][2] = {{k, next}, {other, other_next}};
                for (int side = 0; side < 2; side++) {
                    double uv[2];
                    for (int e = 0; e < 2; e++)
                        uv[e] = (1 - s) * (double)texcoords[2 * ends[side][0] + e] +
                                s * (double)texcoords[2 * ends[side][1] + e];
                    cutis_texture_sample(image, SIDE, SIDE, 3, uv[0], uv[1], place[side]);
                }
                double jump = 0;
                for (int e = 0; e < 3; e++)
                    jump += ((double)place[0][e] - (double)place[1][e]) * ((double)place[0][e] - (double)place[1][e]);
                found.coarsest = fmax(found.coarsest, sqrt(jump) / texel);
                jump = sqrt(jump) / (length / texture) * SIDE;
                found.samples++;
                found.above += jump > 1;
                found.far += jump > 3;
                found.ends += at % 10 == 0;
                found.end_above += at % 10 == 0 && jump > 1;
                found.largest = fmax(found.largest, jump);
            }
        }
    }
    free(seen);
    free(counts);
    return found;
}

static float left_end(const cutis_character *c, int v) { return c->positions[3 * v] < -0.479f; }

/*
 * The body turns under the skin, so that many faces lie across a seam. The cylinder's mantle has a straight seam, and
 * agrees everywhere. Seams of the hand meet in corners and run over webs of fingers: both faces of an edge agree at its
 * ends, but between them each is straight in its own island, and islands are stretched in different ways.
 */
static void seams_do_not_show(void **state)
{
    (void)state;
    static const struct {
        const char *character, *clip, *settings[2];
        double resolution, time;
        bool caps;
    } cases[] = {{"cylinder", "twist", {"zeta=0", NULL}, 0.5, 0.8, false},
                 {"hand", "fist", {"bones.forearm.attach=1", NULL}, 1, 0.6, true}};
    jumps with[2];
    for (int i = 0; i < 2; i++) {
        cutis_character *c = test_zoo(cases[i].character, cases[i].resolution);
        if (i == 0) c = scene_paint(c, "freeze", left_end);
        cutis_model *model = test_build(c, "slide", cases[i].settings);
        cutis_state *run = test_state(model, NULL);
        scene_motion motion = {.character = c, .clip = cutis_character_find_clip(c, cases[i].clip)};
        cutis_step_input input = {.motion = {&motion, scene_sample}};
        cutis_state_step(model, run, &input, cases[i].time);
        cutis_output output;
        assert_true(cutis_state_output(model, run, "texcoords", &output));

        /* with the border, and without */
        cutis_texel *texels = malloc((size_t)SIDE * SIDE * sizeof *texels);
        float *padded = paint_places(c, 40, texels), *plain = paint_places(c, 0, texels);
        free(texels);
        with[i] = find_jumps(c, padded, output.values, cases[i].caps);
        jumps without = find_jumps(c, plain, output.values, cases[i].caps);
        print_message("%s: %d edges between islands; jumps of at most %.2f texels; %.1f %% of the samples above one, "
                      "%.1f %% of the ends, %.1f %% of the samples above three; without a border %.0f and %.1f %%\n",
                      c->name, with[i].edges, with[i].largest, 100.0 * with[i].above / with[i].samples,
                      100.0 * with[i].end_above / with[i].ends, 100.0 * with[i].far / with[i].samples, without.largest,
                      100.0 * without.above / without.samples);
        assert_true(with[i].edges > 10);
        assert_true(without.largest > 100);
        free(padded);
        free(plain);
        cutis_state_destroy(run);
        cutis_model_destroy(model);
        cutis_character_destroy(c);
    }
    assert_true(with[0].largest < 1);
    assert_true(with[1].largest < 12);
    assert_true(with[1].above < 0.08 * with[1].samples);
    assert_true(with[1].end_above < 0.04 * with[1].ends);
    assert_true(with[1].far < 0.02 * with[1].samples);
}

/* How far the texture at each corner is from the skin that lies there: the mean, and the part that is off by a texel.
 */
static double find_misses(const cutis_character *c, const float *image, const float *texcoords, const float *sliding,
                          double *above)
{
    double sum = 0, misses = 0;
    for (int f = 0; f < c->face_count; f++) {
        double texel = texel_length(c, f);
        for (int k = c->face_first[f]; k < c->face_first[f + 1]; k++) {
            float place[3];
            double off = 0;
            cutis_texture_sample(image, SIDE, SIDE, 3, (double)texcoords[2 * k], (double)texcoords[2 * k + 1], place);
            for (int e = 0; e < 3; e++) {
                int at = 3 * c->corners[k] + e;
                double d = (double)place[e] - ((double)c->positions[at] - (double)sliding[at]);
                off += d * d;
            }
            sum += sqrt(off) / texel / c->corner_count;
            misses += sqrt(off) > texel;
        }
    }
    *above = misses / c->corner_count;
    return sum;
}

/*
 * Steady coordinates stay in the island of their face: they show the skin that lies at each corner, like the others,
 * and change from frame to frame by about as much as the skin slides, which the others do not.
 */
static void steady_coordinates_do_not_jump(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("hand", 1);
    const char *const settings[] = {"bones.forearm.attach=1", NULL};
    cutis_model *model = test_build(c, "slide", settings);
    cutis_state *run = test_state(model, NULL);
    scene_motion motion = {.character = c, .clip = cutis_character_find_clip(c, "fist")};
    cutis_step_input input = {.motion = {&motion, scene_sample}};
    static const char *const names[2] = {"texcoords", "texcoords_steady"};
    size_t floats = 2 * (size_t)c->corner_count;
    float *before[2] = {malloc(floats * sizeof(float)), malloc(floats * sizeof(float))};
    float *old = calloc((size_t)c->vertex_count, 3 * sizeof *old);
    double jump[2] = {0, 0}, slid = 0;
    cutis_output output, sliding;
    for (int i = 0; i < 2; i++) memcpy(before[i], c->texcoords, floats * sizeof(float));
    for (int frame = 0; frame < 18; frame++) {
        cutis_state_step(model, run, &input, 1.0 / 30);
        assert_true(cutis_state_output(model, run, "sliding", &sliding));
        for (int k = 0; k < 3 * c->vertex_count; k++)
            slid = fmax(slid, fabs((double)sliding.values[k] - (double)old[k]) / (double)c->size);
        memcpy(old, sliding.values, 3 * (size_t)c->vertex_count * sizeof *old);
        for (int i = 0; i < 2; i++) {
            assert_true(cutis_state_output(model, run, names[i], &output));
            for (size_t k = 0; k < floats; k++)
                jump[i] = fmax(jump[i], fabs((double)output.values[k] - (double)before[i][k]));
            memcpy(before[i], output.values, floats * sizeof(float));
        }
    }

    cutis_texel *texels = malloc((size_t)SIDE * SIDE * sizeof *texels);
    float *image = paint_places(c, 40, texels);
    double above[2], mean[2];
    for (int i = 0; i < 2; i++) mean[i] = find_misses(c, image, before[i], old, &above[i]);
    print_message("hand: skin slides by %.4f sizes per frame at most; coordinates change by %.3f, steady ones by %.3f; "
                  "off by %.3f and %.3f texels in the mean, by more than one at %.2f and %.2f %% of the corners\n",
                  slid, jump[0], jump[1], mean[0], mean[1], 100 * above[0], 100 * above[1]);
    assert_true(jump[0] > 0.1);
    assert_true(jump[1] < 0.03);
    assert_true(mean[1] < 0.2);
    assert_true(above[1] < 0.002);
    free(texels);
    free(image);
    free(old);
    for (int i = 0; i < 2; i++) free(before[i]);
    cutis_state_destroy(run);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
}

/* Where the skin at a texel comes from: between that of the corners, not yet on the surface. */
static void slid_place(const cutis_character *c, const cutis_texel *texel, const float *sliding, double place[3])
{
    for (int e = 0; e < 3; e++) {
        place[e] = 0;
        for (int k = 0; k < 3; k++) {
            int at = 3 * c->triangles[3 * texel->triangle + k] + e;
            place[e] += (double)texel->weights[k] * ((double)c->positions[at] - (double)sliding[at]);
        }
    }
}

/*
 * The same skin, with a texture for the instant instead of moved coordinates: it shows the skin that lies there, and no
 * seam shows anywhere. Texels of CesiumMan are longer than wide, and seams run along both sides.
 */
static void slid_textures_have_no_seams(void **state)
{
    (void)state;
    static const struct {
        const char *character, *clip, *settings[2];
        double resolution, time;
        bool caps, coarse;
    } cases[] = {{"hand", "fist", {"bones.forearm.attach=1", NULL}, 1, 0.6, true, false},
                 {"cylinder", "twist", {"zeta=0", NULL}, 0.5, 0.8, false, false},
                 {"khronos-CesiumMan/CesiumMan.glb", NULL, {"zeta=0.3", NULL}, 0, 0.4, true, true}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        cutis_character *c = NULL;
        cutis_error error;
        const char *path = cases[i].resolution > 0 ? NULL : test_model(cases[i].character);
        if (path) assert_int_equal(cutis_character_load(path, NULL, &c, &error), CUTIS_OK);
        if (cases[i].resolution > 0) c = test_zoo(cases[i].character, cases[i].resolution);
        if (!c) continue;

        /* the skin at the instant */
        cutis_model *model = test_build(c, "slide", cases[i].settings);
        cutis_state *run = test_state(model, NULL);
        scene_motion motion = {.character = c, .clip = cases[i].clip ? cutis_character_find_clip(c, cases[i].clip) : 0};
        cutis_step_input input = {.motion = {&motion, scene_sample}};
        cutis_state_step(model, run, &input, cases[i].time);
        cutis_output sliding;
        assert_true(cutis_state_output(model, run, "sliding", &sliding));

        /* skin that has not slid keeps its colours */
        cutis_texel *texels = malloc((size_t)SIDE * SIDE * sizeof *texels);
        float *image = paint_places(c, 3, texels), *slid = malloc((size_t)SIDE * SIDE * 3 * sizeof *slid);
        float *still = calloc((size_t)c->vertex_count, 3 * sizeof *still);
        assert_int_equal(cutis_texture_slide(c, texels, SIDE, SIDE, 3, still, image, NULL, slid, &error), CUTIS_OK);
        double changed = 0;
        for (size_t k = 0; k < (size_t)SIDE * SIDE * 3; k++)
            if (texels[k / 3].triangle >= 0 && !(texels[k / 3].distance > 0))
                changed = fmax(changed, fabs((double)slid[k] - (double)image[k]) / (double)c->size);
        assert_true(changed < 1e-6);

        /* what is shown against what lies there: apart by how far chords of the skin lie under it */
        assert_int_equal(cutis_texture_slide(c, texels, SIDE, SIDE, 3, sliding.values, image, NULL, slid, &error),
                         CUTIS_OK);
        double off = 0, moved = 0;
        for (size_t k = 0; k < (size_t)SIDE * SIDE; k++) {
            if (texels[k].triangle < 0 || texels[k].distance > 0) continue;
            double place[3];
            slid_place(c, &texels[k], sliding.values, place);
            for (size_t e = 0; e < 3; e++) {
                off += ((double)slid[3 * k + e] - place[e]) * ((double)slid[3 * k + e] - place[e]);
                moved += ((double)image[3 * k + e] - place[e]) * ((double)image[3 * k + e] - place[e]);
            }
        }

        jumps found = find_jumps(c, slid, c->texcoords, cases[i].caps);
        print_message("%s, a texture for the instant: %d edges at seams, jumps of at most %.2f texels (%.2f of the "
                      "coarser face); places are off by %.3f of the sliding\n",
                      c->name, found.edges, found.largest, found.coarsest, sqrt(off / moved));
        assert_true(found.edges > 10);
        assert_true((cases[i].coarse ? found.coarsest : found.largest) < 1);
        assert_true(off < 0.04 * moved);
        free(still);
        free(slid);
        free(image);
        free(texels);
        cutis_state_destroy(run);
        cutis_model_destroy(model);
        cutis_character_destroy(c);
    }
}

/* Faces across seams of a coarse character stay about as wide in the texture as they were. */
static void faces_stay_together_in_the_texture(void **state)
{
    (void)state;
    const char *path = test_model("mesh2motion-kaiju/kaiju.glb");
    if (!path) skip();
    cutis_character *c = NULL;
    assert_int_equal(cutis_character_load(path, NULL, &c, NULL), CUTIS_OK);
    const char *const settings[] = {"zeta=0.3", NULL};
    cutis_model *model = test_build(c, "slide", settings);
    cutis_state *run = test_state(model, NULL);
    scene_motion motion = {.character = c, .clip = cutis_character_find_clip(c, "Walk")};
    cutis_step_input input = {.motion = {&motion, scene_sample}};
    cutis_state_step(model, run, &input, 0.9);
    cutis_output output;
    assert_true(cutis_state_output(model, run, "texcoords", &output));
    double grown = 0;
    for (int f = 0; f < c->face_count; f++)
        for (int k = c->face_first[f] + 1; k < c->face_first[f + 1]; k++) {
            const float *a = output.values + 2 * k, *b = c->texcoords + 2 * k;
            double now = hypot((double)a[0] - (double)a[-2], (double)a[1] - (double)a[-1]);
            grown = fmax(grown, now - hypot((double)b[0] - (double)b[-2], (double)b[1] - (double)b[-1]));
        }
    print_message("kaiju: an edge grows by %.3f of the texture at most\n", grown);
    assert_true(grown < 0.2);
    cutis_state_destroy(run);
    cutis_model_destroy(model);
    cutis_character_destroy(c);
}

/* ---- wrinkles ---- */

enum { COLUMNS = 40, ROWS = 8 };

/* A strip along x, 1 by 0.2, whose texture is 0.9 wide. */
static cutis_character *make_strip(void)
{
    static float positions[3 * (COLUMNS + 1) * (ROWS + 1)], texcoords[8 * COLUMNS * ROWS];
    static int corners[4 * COLUMNS * ROWS], face_first[COLUMNS * ROWS + 1];
    for (int j = 0, v = 0; j <= ROWS; j++) {
        for (int i = 0; i <= COLUMNS; i++, v++) {
            positions[3 * v] = (float)i / COLUMNS;
            positions[3 * v + 1] = 0.2f * (float)j / ROWS;
        }
    }
    for (int j = 0, f = 0; j < ROWS; j++) {
        for (int i = 0; i < COLUMNS; i++, f++) {
            static const int step[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
            for (int k = 0; k < 4; k++) {
                int v = (j + step[k][1]) * (COLUMNS + 1) + i + step[k][0];
                corners[4 * f + k] = v;
                texcoords[8 * f + 2 * k] = 0.05f + 0.9f * positions[3 * v];
                texcoords[8 * f + 2 * k + 1] = 0.05f + 0.9f * positions[3 * v + 1];
            }
            face_first[f + 1] = 4 * (f + 1);
        }
    }
    cutis_character given = {.name = "strip",
                             .vertex_count = (COLUMNS + 1) * (ROWS + 1),
                             .positions = positions,
                             .face_count = COLUMNS * ROWS,
                             .face_first = face_first,
                             .corners = corners,
                             .texcoords = texcoords};
    cutis_character *c = NULL;
    cutis_error error;
    assert_int_equal(cutis_character_create(&given, NULL, &c, &error), CUTIS_OK);
    return c;
}

typedef struct squeeze {
    const cutis_character *character;
    double share;
} squeeze;

static void sample_squeezed(void *context, double time, float *positions)
{
    const squeeze *s = context;
    (void)time;
    for (int i = 0; i < 3 * s->character->vertex_count; i++)
        positions[i] = s->character->positions[i] * (i % 3 == 0 ? (float)s->share : 1);
}

/* The waves of a strip that is pressed together are as long as what it has lost, as many as asked for, and across it.
 */
static void wrinkles_take_up_what_is_lost(void **state)
{
    (void)state;
    static const double wavelength = 0.05;
    static const double shares[] = {1, 0.99, 0.96, 0.9};
    cutis_character *c = make_strip();
    cutis_error error;
    cutis_texel *texels = malloc((size_t)SIDE * SIDE * sizeof *texels);
    float *normals = malloc((size_t)SIDE * SIDE * 3 * sizeof *normals),
          *heights = malloc(SIDE * SIDE * sizeof *heights);
    float *weights = malloc((size_t)c->vertex_count * sizeof *weights);
    assert_int_equal(cutis_texture_map(c, SIDE, SIDE, 4, NULL, texels, &error), CUTIS_OK);
    for (int i = 0; i < COUNT_OF(shares); i++) {
        const char *const settings[] = {"attach=1", NULL};
        cutis_model *model = test_build(c, "slide", settings);
        cutis_state *run = test_state(model, NULL);
        squeeze body = {c, shares[i]};
        cutis_step_input input = {.surface = {&body, sample_squeezed}};
        cutis_state_step(model, run, &input, 0.02);
        cutis_output folds;
        assert_true(cutis_state_output(model, run, "folds", &folds));
        assert_int_equal(cutis_texture_wrinkles(c, texels, SIDE, SIDE, folds.values, 1, wavelength, 0, NULL, normals,
                                                heights, weights, &error),
                         CUTIS_OK);

        /* along the middle of the strip */
        int row = (int)(0.14 * SIDE), turns = 0;
        double texel = 1 / (0.9 * SIDE), length = 0, base = 0, slope = 0, across = 0;
        for (int x = SIDE / 10; x < SIDE * 9 / 10; x++) {
            size_t at = (size_t)row * SIDE + (size_t)x;
            double rise = (double)heights[at + 1] - (double)heights[at];
            length += hypot(texel, rise);
            base += texel;
            turns += heights[at] * heights[at + 1] < 0;
            slope = fmax(slope, fabs((double)normals[3 * at]));
            across = fmax(across, fabs((double)normals[3 * at + 1]));
        }
        double taken = length / base - 1, lost = 1 / shares[i] - 1;
        print_message("strip at %.2f: wrinkles take up %.4f of %.4f, %d zeros, slope %.2f along, %.3f across\n",
                      shares[i], taken, lost, turns, slope, across);
        assert_true(fabs(taken - lost) <= 0.15 * lost + 1e-6);
        assert_true(across <= 0.05 * slope + 1e-6);
        if (lost > 0) assert_true(fabs(turns - 2 * base / wavelength) < 2.5);
        if (lost > 0) assert_true(weights[c->vertex_count / 2] > 0.999f);

        /* skin that bears as much without buckling has no waves */
        assert_int_equal(cutis_texture_wrinkles(c, texels, SIDE, SIDE, folds.values, 1, wavelength, lost + 0.02, NULL,
                                                NULL, heights, NULL, &error),
                         CUTIS_OK);
        for (int x = 0; x < SIDE; x++) assert_true(heights[(size_t)row * SIDE + (size_t)x] == 0);
        cutis_state_destroy(run);
        cutis_model_destroy(model);
    }
    free(texels);
    free(normals);
    free(heights);
    free(weights);
    cutis_character_destroy(c);
}

/* ---- images that many faces share ---- */

enum { PALETTE_SIDE = 32, PALETTE_FACES = 60 };

/*
 * A strip of squares, each coloured by an island of its own in a palette: strips narrower than a texel, lines, points
 * and squares of about a texel, anywhere between texel centres.
 */
static cutis_character *make_palette_strip(void)
{
    static float positions[6 * (PALETTE_FACES + 1)], texcoords[8 * PALETTE_FACES];
    static int corners[4 * PALETTE_FACES], face_first[PALETTE_FACES + 1];
    static const float widths[][2] = {{0.02f, 3}, {0, 2}, {0, 0}, {1, 1}, {0.3f, 0.3f}, {2.5f, 0.1f}};
    unsigned random = 1;
    for (int i = 0; i <= PALETTE_FACES; i++) {
        positions[6 * i] = positions[6 * i + 3] = (float)i;
        positions[6 * i + 4] = 1;
    }
    for (int f = 0; f < PALETTE_FACES; f++) {
        static const int step[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
        float place[2];
        for (int e = 0; e < 2; e++) {
            random = random * 1664525u + 1013904223u;
            place[e] = (float)(random >> 8) / (float)(1 << 24);
        }
        for (int k = 0; k < 4; k++) {
            corners[4 * f + k] = 2 * (f + step[k][0]) + step[k][1];
            for (int e = 0; e < 2; e++)
                texcoords[8 * f + 2 * k + e] = place[e] + (float)step[k][e] * widths[f % 6][e] / PALETTE_SIDE;
        }
        face_first[f + 1] = 4 * (f + 1);
    }
    cutis_character given = {.name = "palette strip",
                             .vertex_count = 2 * (PALETTE_FACES + 1),
                             .positions = positions,
                             .face_count = PALETTE_FACES,
                             .face_first = face_first,
                             .corners = corners,
                             .texcoords = texcoords};
    cutis_character *c = NULL;
    cutis_error error;
    assert_int_equal(cutis_character_create(&given, NULL, &c, &error), CUTIS_OK);
    return c;
}

/* The largest change of what faces show between two images with one channel. */
static double shown_change(const cutis_character *c, int side, const float *before, const float *after)
{
    enum { STEPS = 9 };
    double most = 0;
    for (int t = 0; t < c->triangle_count; t++) {
        for (int i = 0; i <= STEPS; i++) {
            for (int j = 0; i + j <= STEPS; j++) {
                const double w[3] = {1 - (double)(i + j) / STEPS, (double)i / STEPS, (double)j / STEPS};
                double uv[2] = {0, 0};
                for (int k = 0; k < 3; k++)
                    for (int e = 0; e < 2; e++)
                        uv[e] += w[k] * (double)c->texcoords[2 * c->triangle_corners[3 * t + k] + e];
                float shown[2];
                cutis_texture_sample(before, side, side, 1, uv[0], uv[1], shown);
                cutis_texture_sample(after, side, side, 1, uv[0], uv[1], shown + 1);
                most = fmax(most, fabs((double)shown[1] - (double)shown[0]));
            }
        }
    }
    return most;
}

/* An image that has got a border shows the same on every face, whatever the islands are like; so does skin at rest. */
static void borders_do_not_change_what_faces_show(void **state)
{
    (void)state;
    static const char *const files[] = {NULL, NULL, "khronos-Fox/Fox.glb",
                                        "rigs/quaternius-knight/KnightCharacter.glb"};
    for (int n = 0; n < COUNT_OF(files); n++) {
        const char *path = files[n] ? test_model(files[n]) : NULL;
        cutis_error error;
        cutis_character *c = n == 0 ? make_palette_strip() : n == 1 ? test_zoo("hand", 0.3) : NULL;
        if (path) assert_int_equal(cutis_character_load(path, NULL, &c, &error), CUTIS_OK);
        if (!c) continue;

        int side = n == 0 ? PALETTE_SIDE : 512;
        size_t count = (size_t)side * (size_t)side;
        cutis_texel *texels = malloc(count * sizeof *texels);
        float *image = malloc(count * sizeof *image), *after = malloc(count * sizeof *after);
        float *still = calloc((size_t)c->vertex_count, 3 * sizeof *still);
        assert_int_equal(cutis_texture_map(c, side, side, 8, NULL, texels, &error), CUTIS_OK);

        /* every texel has a colour of its own */
        unsigned random = 7;
        int filled = 0;
        for (size_t i = 0; i < count; i++) {
            random = random * 1664525u + 1013904223u;
            image[i] = (float)(random >> 8) / (float)(1 << 24);
            after[i] = image[i];
        }
        assert_int_equal(cutis_texture_extend(c, texels, side, side, 1, NULL, after, &error), CUTIS_OK);
        for (size_t i = 0; i < count; i++) filled += after[i] != image[i];
        double extended = shown_change(c, side, image, after);
        assert_int_equal(cutis_texture_slide(c, texels, side, side, 1, still, image, NULL, after, &error), CUTIS_OK);
        double slid = shown_change(c, side, image, after);
        print_message("%s: %d texels of a border; faces show %.2g and, as skin at rest, %.2g of another colour\n",
                      c->name, filled, extended, slid);
        assert_true(filled > 10);
        assert_true(extended < 1e-3);
        assert_true(slid < 1e-3);
        free(texels);
        free(image);
        free(after);
        free(still);
        cutis_character_destroy(c);
    }
}

static void textures_are_refused_with_a_sentence(void **state)
{
    (void)state;
    cutis_character *c = make_strip();
    cutis_error error;
    cutis_texel texels[4];
    assert_int_equal(cutis_texture_map(c, 0, 2, 0, NULL, texels, &error), CUTIS_ERROR_ARGUMENT);
    assert_int_equal(cutis_texture_map(c, 2, 2, NAN, NULL, texels, &error), CUTIS_ERROR_ARGUMENT);
    cutis_character bare = *c;
    bare.texcoords = NULL;
    assert_int_equal(cutis_texture_map(&bare, 2, 2, 0, NULL, texels, &error), CUTIS_ERROR_DATA);
    assert_int_equal(cutis_texture_map(c, 2, 2, 0, NULL, texels, &error), CUTIS_OK);
    cutis_character_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seams_do_not_show),
        cmocka_unit_test(steady_coordinates_do_not_jump),
        cmocka_unit_test(slid_textures_have_no_seams),
        cmocka_unit_test(faces_stay_together_in_the_texture),
        cmocka_unit_test(wrinkles_take_up_what_is_lost),
        cmocka_unit_test(borders_do_not_change_what_faces_show),
        cmocka_unit_test(textures_are_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
