/*
 * test_twins.c: one character in several packings and formats is one character: same shape, same motion. The files are
 * those of ../shared/models; skips where they are not there.
 */
#include "testing.h"

#include <unistd.h>

typedef struct twin {
    const char *file, *plain;
    double rest, motion; /* bounds on the distance of a vertex from the twin's surface vertices, over the size */
} twin;

/* Draco keeps 14 bits of a position and 12 of a weight, the others 14 and 8. */
static const twin twins[] = {
    {"formats/gltf-CesiumMan/CesiumMan-draco-edgebreaker.glb", "khronos-CesiumMan/CesiumMan.glb", 3e-4, 1.2e-3},
    {"formats/gltf-CesiumMan/CesiumMan-draco-sequential.glb", "khronos-CesiumMan/CesiumMan.glb", 3e-4, 1.2e-3},
    {"formats/gltf-CesiumMan/CesiumMan-khr-meshopt.glb", "khronos-CesiumMan/CesiumMan.glb", 3e-4, 1.5e-3},
    {"formats/gltf-CesiumMan/CesiumMan-meshopt-high.glb", "khronos-CesiumMan/CesiumMan.glb", 3e-4, 1.5e-3},
    {"formats/gltf-CesiumMan/CesiumMan-meshopt-medium.glb", "khronos-CesiumMan/CesiumMan.glb", 3e-4, 1.5e-3},
    {"formats/gltf-CesiumMan/CesiumMan-quantized.glb", "khronos-CesiumMan/CesiumMan.glb", 3e-4, 1.5e-3},
    {"formats/gltf-horse/horse-draco-edgebreaker.glb", "mesh2motion-horse/horse.glb", 3e-4, 1.2e-3},
    {"formats/gltf-horse/horse-khr-meshopt.glb", "mesh2motion-horse/horse.glb", 3e-4, 1.5e-3},
    {"formats/gltf-horse/horse-meshopt-high.glb", "mesh2motion-horse/horse.glb", 3e-4, 1.5e-3},
    {"formats/gltf-horse/horse-meshopt-medium.glb", "mesh2motion-horse/horse.glb", 3e-4, 1.5e-3},
    {"formats/gltf-horse/horse-quantized.glb", "mesh2motion-horse/horse.glb", 3e-4, 1.5e-3},
    {"formats/bare-spot/spot-be-double.ply", "crane-spot/spot/spot_triangulated.obj", 1e-6, 0},
    {"formats/bare-spot/spot-le.ply", "crane-spot/spot/spot_triangulated.obj", 1e-6, 0},
    {"formats/bare-spot/spot-quads-ascii.ply", "crane-spot/spot/spot_quadrangulated.obj", 1e-6, 0},
    {"formats/bare-spot/spot-tristrips-be.ply", "crane-spot/spot/spot_triangulated.obj", 1e-6, 0},
    {"formats/bare-spot/spot-binary.stl", "crane-spot/spot/spot_triangulated.obj", 1e-6, 0},
    {"formats/bare-spot/spot-quads.off", "crane-spot/spot/spot_quadrangulated.obj", 1e-6, 0},

    /* the file has no keys for jaw and toes, which its own pose leaves open: they are what is off in motion */
    {"formats/dae-fox/fox-walk.dae", "rigs/mesh2motion-fox-fox/fox-fox.glb", 1e-5, 6e-2},
    /* both by our own reader: the old form against the new one */
    {"formats/fbx-ufbx/maya_game_sausage_6100_binary_combined.fbx",
     "formats/fbx-ufbx/maya_game_sausage_7500_ascii_combined.fbx", 1e-5, 5e-3} /* its slopes are "automatic" */,
    {"formats/fbx-ufbx/max_transformed_skin_6100_ascii.fbx", "formats/fbx-ufbx/max_transformed_skin_7500_binary.fbx",
     1e-5, 1e-4},
};

static cutis_character *load(const char *name)
{
    char path[512];
    cutis_character *c = NULL;
    cutis_error error = {0};
    snprintf(path, sizeof path, "%s%s", access(name, R_OK) == 0 ? "" : "../shared/models/", name);
    if (cutis_character_load(path, NULL, &c, &error) != CUTIS_OK) print_error("%s\n", error.text);
    assert_non_null(c);
    return c;
}

/* Linear-blend skinning in doubles, written again for the test. clip -1: the rest shape. */
static float *pose(const cutis_character *c, int clip, double time)
{
    float *out = malloc((size_t)c->vertex_count * 3 * sizeof(float));
    memcpy(out, c->positions, (size_t)c->vertex_count * 3 * sizeof(float));
    if (clip < 0 || !c->influence_first) return out;
    float *joints = malloc((size_t)c->joint_count * 12 * sizeof(float));
    cutis_pose_sample(c, clip, time, joints);
    for (int v = 0; v < c->vertex_count; v++) {
        double sum[3] = {0, 0, 0};
        const float *p = c->positions + 3 * (size_t)v;
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
            const cutis_joint *joint = &c->joints[c->influence_joints[i]];
            const float *m = joints + 12 * (size_t)c->influence_joints[i];
            double local[3];
            for (int k = 0; k < 3; k++)
                local[k] = (double)joint->inverse_bind[4 * k] * p[0] + (double)joint->inverse_bind[4 * k + 1] * p[1] +
                           (double)joint->inverse_bind[4 * k + 2] * p[2] + joint->inverse_bind[4 * k + 3];
            for (int k = 0; k < 3; k++)
                sum[k] += (double)c->influence_weights[i] * (m[4 * k] * local[0] + m[4 * k + 1] * local[1] +
                                                             m[4 * k + 2] * local[2] + (double)m[4 * k + 3]);
        }
        if (c->influence_first[v + 1] > c->influence_first[v])
            for (int k = 0; k < 3; k++) out[3 * (size_t)v + (size_t)k] = (float)sum[k];
    }
    free(joints);
    return out;
}

/* Longest way from a vertex of a to the nearest vertex of b, over the size. */
static double farthest(const float *a, int a_count, const float *b, int b_count, double size)
{
    double worst = 0;
    for (int i = 0; i < a_count; i++) {
        float best = INFINITY;
        for (int j = 0; j < b_count; j++) {
            float dx = a[3 * i] - b[3 * j], dy = a[3 * i + 1] - b[3 * j + 1], dz = a[3 * i + 2] - b[3 * j + 2];
            best = fminf(best, dx * dx + dy * dy + dz * dz);
        }
        worst = fmax(worst, (double)best);
    }
    return sqrt(worst) / size;
}

static double difference(const cutis_character *a, const cutis_character *b, int clip_a, int clip_b, double time_a,
                         double time_b)
{
    float *x = pose(a, clip_a, time_a), *y = pose(b, clip_b, time_b);
    if (a->vertex_count == b->vertex_count) { /* the same order, it may be */
        double worst = 0;
        for (int v = 0; v < a->vertex_count; v++) {
            double dx = x[3 * v] - y[3 * v], dy = x[3 * v + 1] - y[3 * v + 1], dz = x[3 * v + 2] - y[3 * v + 2];
            worst = fmax(worst, sqrt(dx * dx + dy * dy + dz * dz) / (double)b->size);
        }
        if (worst < 1e-2) {
            free(x);
            free(y);
            return worst;
        }
    }
    double one = farthest(x, a->vertex_count, y, b->vertex_count, (double)b->size);
    double two = farthest(y, b->vertex_count, x, a->vertex_count, (double)b->size);
    free(x);
    free(y);
    return fmax(one, two);
}

/* The clip of `c` that is called so, or whose name holds it: Blender writes "Armature|Walk_Armature". */
static int clip_find(const cutis_character *c, const char *name)
{
    int best = cutis_character_find_clip(c, name);
    if (best >= 0) return best;
    for (int i = 0; i < c->clip_count; i++) {
        if (!strstr(c->clips[i].name, name) && c->clip_count > 1) continue;
        if (best < 0 || strlen(c->clips[i].name) < strlen(c->clips[best].name)) best = i; /* "Walk", not "Walk fast" */
    }
    return best;
}

/* The key of a clip that is nearest to a time: programs interpolate in their own ways between keys. */
static double nearest_key(const cutis_clip *clip, double time)
{
    double best = clip->start;
    for (int t = 0; t < clip->track_count; t++)
        for (int i = 0; i < clip->tracks[t].key_count; i++) {
            double key = (double)clip->tracks[t].times[i];
            if (fabs(key - time) < fabs(best - time)) best = key;
        }
    return best;
}

static void compare(const twin *t, int clips)
{
    cutis_character *a = load(t->file), *b = load(t->plain);
    double rest = difference(a, b, -1, -1, 0, 0), motion = 0;
    int compared = 0;
    assert_int_equal(a->triangle_count, b->triangle_count);
    for (int c = 0; c < b->clip_count && c < clips; c++) {
        const cutis_clip *clip = &b->clips[c];
        int own = clip_find(a, clip->name);
        if (own < 0) print_error("%s has no clip '%s'\n", t->file, clip->name);
        assert_true(own >= 0);
        double length = clip->end - clip->start;
        bool other = a->clip_count == 1 && fabs(a->clips[0].end - a->clips[0].start - length) > 0.034;
        if (other && b->clip_count > 1) continue; /* the file holds one clip of several */
        compared++;
        assert_true(fabs(a->clips[own].end - a->clips[own].start - length) < 0.034); /* some are resampled at 30 Hz */
        for (int f = 1; f <= 2; f++) {
            double time = nearest_key(clip, clip->start + length * f / 3.0);
            motion = fmax(motion, difference(a, b, own, c, a->clips[own].start + time - clip->start, time));
        }
    }
    print_message("%-62s rest %.1e motion %.1e\n", t->file, rest, motion);
    assert_true(compared > 0 || b->clip_count == 0);
    assert_true(rest <= t->rest);
    assert_true(motion <= t->motion);
    cutis_character_destroy(a);
    cutis_character_destroy(b);
}

static void test_twins_are_alike(void **state)
{
    (void)state;
    if (access("../shared/models/formats", R_OK) != 0) {
        print_message("no ../shared/models/formats: skipped\n");
        skip();
    }
    for (int i = 0; i < (int)(sizeof twins / sizeof twins[0]); i++) {
#ifndef CUTIS_HAS_DRACO
        if (strstr(twins[i].file, "draco")) continue;
#endif
        compare(&twins[i], 3);
    }
}

static twin asked;

static void test_these_two(void **state)
{
    (void)state;
    compare(&asked, 100);
}

/* test_twins FILE TWIN REST MOTION: these two alone, all their clips. */
int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_twins_are_alike)},
                            two[] = {cmocka_unit_test(test_these_two)};
    if (count != 5) return cmocka_run_group_tests(tests, NULL, NULL);
    asked = (twin){arguments[1], arguments[2], atof(arguments[3]), atof(arguments[4])};
    return cmocka_run_group_tests(two, NULL, NULL);
}
