/*
 * test_reference_skin.c: frames of real characters, skinned by the library, against a plain evaluation of the
 * glTF specification. The reference shares no code with the library: it reads the JSON by itself, works in
 * doubles, and takes the shortest way through the specification's formulas.
 */
#include "testing.h"

#include <jansson.h>

/* ---- a minimal glTF file ---- */

typedef struct document {
    json_t *root;
    uint8_t *file;
    const uint8_t *buffers[8];
} document;

static int integer(const json_t *object, const char *key, int missing)
{
    json_t *value = json_object_get(object, key);
    return value ? (int)json_integer_value(value) : missing;
}

static json_t *entry(const document *d, const char *list, int index)
{
    json_t *object = json_array_get(json_object_get(d->root, list), (size_t)index);
    assert_non_null(object);
    return object;
}

static uint8_t *base64(const char *text)
{
    const char *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t *bytes = malloc(strlen(text)), *out = bytes;
    for (unsigned bits = 0, count = 0; *text && *text != '='; text++) {
        bits = bits << 6 | (unsigned)(strchr(digits, *text) - digits);
        count += 6;
        if (count >= 8) *out++ = (uint8_t)(bits >> (count -= 8));
    }
    return bytes;
}

static document document_open(const char *path)
{
    document d = {0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    d.file = malloc((size_t)size);
    assert_int_equal(fread(d.file, 1, (size_t)size, file), size);
    fclose(file);
    bool binary = memcmp(d.file, "glTF", 4) == 0;
    uint32_t length = (uint32_t)size;
    if (binary) memcpy(&length, d.file + 12, 4);
    d.root = json_loadb((char *)d.file + (binary ? 20 : 0), length, 0, NULL);
    assert_non_null(d.root);
    for (size_t i = 0; i < json_array_size(json_object_get(d.root, "buffers")); i++) {
        const char *uri = json_string_value(json_object_get(entry(&d, "buffers", (int)i), "uri"));
        d.buffers[i] = uri ? base64(strchr(uri, ',') + 1) : d.file + 28 + length;
    }
    return d;
}

static void document_close(document *d)
{
    for (size_t i = 0; i < json_array_size(json_object_get(d->root, "buffers")); i++)
        if (json_object_get(entry(d, "buffers", (int)i), "uri")) free((void *)d->buffers[i]);
    json_decref(d->root);
    free(d->file);
}

/* All numbers of an accessor, as doubles. */
static double *accessor_read(const document *d, int index, int *count, int *components)
{
    json_t *accessor = entry(d, "accessors", index),
           *view = entry(d, "bufferViews", integer(accessor, "bufferView", -1));
    const char *type = json_string_value(json_object_get(accessor, "type"));
    int kind = integer(accessor, "componentType", 0), width = kind <= 5121 ? 1 : kind <= 5123 ? 2 : 4;
    bool normalized = json_is_true(json_object_get(accessor, "normalized"));
    *count = integer(accessor, "count", 0);
    *components = strcmp(type, "SCALAR") == 0 ? 1 : strcmp(type, "MAT4") == 0 ? 16 : type[3] - '0';
    int stride = integer(view, "byteStride", width * *components);
    const uint8_t *bytes =
        d->buffers[integer(view, "buffer", 0)] + integer(view, "byteOffset", 0) + integer(accessor, "byteOffset", 0);
    assert_null(json_object_get(accessor, "sparse")); /* none of the models has one */
    double *values = malloc((size_t)(*count * *components) * sizeof(double));
    for (int i = 0; i < *count; i++)
        for (int k = 0; k < *components; k++) {
            const uint8_t *at = bytes + (size_t)i * (size_t)stride + (size_t)(k * width);
            uint16_t u16 = 0;
            uint32_t u32 = 0;
            float f = 0;
            memcpy(&u16, at, width >= 2 ? 2 : 0);
            memcpy(&u32, at, width >= 4 ? 4 : 0);
            memcpy(&f, at, width >= 4 ? 4 : 0);
            double value = 0;
            if (kind == 5121) value = normalized ? at[0] / 255.0 : at[0];
            if (kind == 5123) value = normalized ? u16 / 65535.0 : u16;
            if (kind == 5125) value = u32;
            if (kind == 5126) value = f;
            assert_true(kind == 5121 || kind == 5123 || kind == 5125 || kind == 5126);
            values[i * *components + k] = value;
        }
    return values;
}

/* ---- matrices, column-major as in the file ---- */

typedef struct matrix {
    double m[16];
} matrix;

static matrix multiply(const matrix *a, const matrix *b)
{
    matrix c;
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++) {
            double sum = 0;
            for (int k = 0; k < 4; k++) sum += a->m[4 * k + row] * b->m[4 * column + k];
            c.m[4 * column + row] = sum;
        }
    return c;
}

static matrix from_parts(const double *t, const double *q, const double *s)
{
    double x = q[0], y = q[1], z = q[2], w = q[3];
    return (matrix){{(1 - 2 * y * y - 2 * z * z) * s[0], (2 * x * y + 2 * w * z) * s[0], (2 * x * z - 2 * w * y) * s[0],
                     0, (2 * x * y - 2 * w * z) * s[1], (1 - 2 * x * x - 2 * z * z) * s[1],
                     (2 * y * z + 2 * w * x) * s[1], 0, (2 * x * z + 2 * w * y) * s[2], (2 * y * z - 2 * w * x) * s[2],
                     (1 - 2 * x * x - 2 * y * y) * s[2], 0, t[0], t[1], t[2], 1}};
}

/* ---- animation ---- */

static void normalize(double *q)
{
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) q[i] /= length;
}

/* The value of a sampler at a time, by the formulas of the specification's appendix C. */
static void sample_animation(const char *interpolation, const double *times, int count, const double *values, int n,
                             bool rotation, double time, double *result)
{
    bool cubic = interpolation && strcmp(interpolation, "CUBICSPLINE") == 0;
    int stride = cubic ? 3 * n : n, offset = cubic ? n : 0, k = 0;
    while (k + 1 < count && times[k + 1] <= time) k++;
    const double *a = values + k * stride + offset, *b = a + stride;
    if (time <= times[0] || k + 1 == count || (interpolation && strcmp(interpolation, "STEP") == 0)) {
        memcpy(result, time <= times[0] ? values + offset : a, (size_t)n * sizeof(double));
        return;
    }
    double td = times[k + 1] - times[k], t = (time - times[k]) / td;
    if (cubic) {
        for (int i = 0; i < n; i++)
            result[i] = (2 * t * t * t - 3 * t * t + 1) * a[i] + td * (t * t * t - 2 * t * t + t) * a[n + i] +
                        (-2 * t * t * t + 3 * t * t) * b[i] + td * (t * t * t - t * t) * b[i - n];
        if (rotation) normalize(result);
    } else if (!rotation) {
        for (int i = 0; i < n; i++) result[i] = (1 - t) * a[i] + t * b[i];
    } else {
        double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
        double angle = acos(fmin(fabs(dot), 1)), sign = dot < 0 ? -1 : 1;
        for (int i = 0; i < 4; i++)
            result[i] = angle < 1e-4 ? (1 - t) * a[i] + sign * t * b[i]
                                     : (sin((1 - t) * angle) * a[i] + sign * sin(t * angle) * b[i]) / sin(angle);
        normalize(result);
    }
}

typedef struct pose {
    double t[3], r[4], s[3];
    bool has_matrix;
    matrix local;
} pose;

static void read_numbers(const json_t *object, const char *key, double *values)
{
    json_t *list = json_object_get(object, key);
    for (size_t i = 0; i < json_array_size(list); i++) values[i] = json_number_value(json_array_get(list, i));
}

/* World matrices of all nodes at a time of an animation (-1: none). */
static matrix *worlds_at(const document *d, int animation, double time)
{
    int count = (int)json_array_size(json_object_get(d->root, "nodes"));
    pose *poses = calloc((size_t)count, sizeof *poses);
    int *parents = malloc((size_t)count * sizeof(int));
    for (int i = 0; i < count; i++) parents[i] = -1;
    for (int i = 0; i < count; i++) {
        json_t *node = entry(d, "nodes", i), *children = json_object_get(node, "children");
        poses[i] = (pose){.r = {0, 0, 0, 1}, .s = {1, 1, 1}};
        read_numbers(node, "translation", poses[i].t);
        read_numbers(node, "rotation", poses[i].r);
        read_numbers(node, "scale", poses[i].s);
        poses[i].has_matrix = json_object_get(node, "matrix") != NULL;
        read_numbers(node, "matrix", poses[i].local.m);
        normalize(poses[i].r);
        for (size_t k = 0; k < json_array_size(children); k++)
            parents[json_integer_value(json_array_get(children, k))] = i;
    }
    json_t *source = animation >= 0 ? entry(d, "animations", animation) : NULL;
    for (size_t c = 0; c < json_array_size(json_object_get(source, "channels")); c++) {
        json_t *channel = json_array_get(json_object_get(source, "channels"), c),
               *target = json_object_get(channel, "target");
        json_t *sampler = json_array_get(json_object_get(source, "samplers"), (size_t)integer(channel, "sampler", 0));
        const char *path = json_string_value(json_object_get(target, "path"));
        pose *p = &poses[integer(target, "node", 0)];
        double *result = path[0] == 't' ? p->t : path[0] == 'r' ? p->r : path[0] == 's' ? p->s : NULL;
        assert_non_null(result);
        int keys, one, values, n;
        double *times = accessor_read(d, integer(sampler, "input", 0), &keys, &one);
        double *output = accessor_read(d, integer(sampler, "output", 0), &values, &n);
        /* The specification wants unit quaternions; SimpleSkin has 0.707 for the square root of 1/2. */
        const char *way = json_string_value(json_object_get(sampler, "interpolation"));
        for (int i = 0; n == 4 && !(way && way[0] == 'C') && i < values; i++) normalize(output + 4 * i);
        sample_animation(way, times, keys, output, n, path[0] == 'r', time, result);
        free(times);
        free(output);
    }
    matrix *worlds = malloc((size_t)count * sizeof *worlds);
    for (int i = 0; i < count; i++) {
        worlds[i] = poses[i].has_matrix ? poses[i].local : from_parts(poses[i].t, poses[i].r, poses[i].s);
        for (int p = parents[i]; p >= 0; p = parents[p]) {
            matrix local = poses[p].has_matrix ? poses[p].local : from_parts(poses[p].t, poses[p].r, poses[p].s);
            worlds[i] = multiply(&local, &worlds[i]);
        }
    }
    free(poses);
    free(parents);
    return worlds;
}

/* ---- skinning: the sum over influences of weight x world x inverse bind x position ---- */

typedef struct skinned_mesh {
    int vertex_count, joint_count, set_count;
    double *positions, *binds, *joints[4], *weights[4];
    int joint_nodes[128];
} skinned_mesh;

static skinned_mesh mesh_read(const document *d)
{
    skinned_mesh mesh = {0};
    int node = -1, n, count;
    for (size_t i = 0; i < json_array_size(json_object_get(d->root, "nodes")); i++)
        if (json_object_get(entry(d, "nodes", (int)i), "skin")) {
            assert_int_equal(node, -1); /* the models have one skinned mesh each, of one primitive */
            node = (int)i;
        }
    json_t *primitives = json_object_get(entry(d, "meshes", integer(entry(d, "nodes", node), "mesh", 0)), "primitives");
    json_t *skin = entry(d, "skins", integer(entry(d, "nodes", node), "skin", 0)),
           *joints = json_object_get(skin, "joints");
    assert_int_equal(json_array_size(primitives), 1);
    json_t *attributes = json_object_get(json_array_get(primitives, 0), "attributes");
    mesh.positions = accessor_read(d, integer(attributes, "POSITION", 0), &mesh.vertex_count, &n);
    mesh.binds = accessor_read(d, integer(skin, "inverseBindMatrices", 0), &count, &n);
    mesh.joint_count = (int)json_array_size(joints);
    for (int i = 0; i < mesh.joint_count; i++)
        mesh.joint_nodes[i] = (int)json_integer_value(json_array_get(joints, (size_t)i));
    for (; mesh.set_count < 4; mesh.set_count++) {
        char key[2][20];
        snprintf(key[0], 20, "JOINTS_%d", mesh.set_count);
        snprintf(key[1], 20, "WEIGHTS_%d", mesh.set_count);
        if (!json_object_get(attributes, key[0])) break;
        mesh.joints[mesh.set_count] = accessor_read(d, integer(attributes, key[0], 0), &count, &n);
        mesh.weights[mesh.set_count] = accessor_read(d, integer(attributes, key[1], 0), &count, &n);
    }
    return mesh;
}

static void mesh_free(skinned_mesh *mesh)
{
    free(mesh->positions);
    free(mesh->binds);
    for (int i = 0; i < mesh->set_count; i++) free(mesh->joints[i]), free(mesh->weights[i]);
}

static void mesh_skin(const skinned_mesh *mesh, const matrix *worlds, double *positions)
{
    matrix skin[128];
    for (int j = 0; j < mesh->joint_count; j++) {
        matrix bind;
        memcpy(bind.m, mesh->binds + 16 * j, sizeof bind.m);
        skin[j] = multiply(&worlds[mesh->joint_nodes[j]], &bind);
    }
    for (int v = 0; v < mesh->vertex_count; v++) {
        const double *p = mesh->positions + 3 * v;
        double sum[3] = {0}, total = 0;
        for (int i = 0; i < 4 * mesh->set_count; i++) {
            double weight = mesh->weights[i / 4][4 * v + i % 4];
            const double *m = skin[(int)mesh->joints[i / 4][4 * v + i % 4]].m;
            total += weight;
            for (int k = 0; k < 3; k++)
                sum[k] += weight * (m[k] * p[0] + m[4 + k] * p[1] + m[8 + k] * p[2] + m[12 + k]);
        }
        /* Weights that do not quite sum to 1 (quantised ones) are normalised by the library, and so here. */
        for (int k = 0; k < 3; k++) positions[3 * v + k] = sum[k] / total;
    }
}

/* ---- the comparison ---- */

static double compare(const char *path, int *frames)
{
    cutis_character *character;
    cutis_error error = {0};
    assert_int_equal(cutis_character_load(path, NULL, &character, &error), CUTIS_OK);
    cutis_model *model = test_build(character, "lbs", NULL);
    cutis_state *state = test_state(model, NULL);
    document d = document_open(path);
    skinned_mesh mesh = mesh_read(&d);
    assert_int_equal(mesh.vertex_count, character->vertex_count);
    double *expected = malloc((size_t)mesh.vertex_count * 3 * sizeof(double)), largest = 0;
    float *joints = malloc((size_t)character->joint_count * 12 * sizeof(float));
    for (int clip = -1; clip < character->clip_count; clip++) {
        double start = clip >= 0 ? (double)character->clips[clip].start : 0,
               end = clip >= 0 ? (double)character->clips[clip].end : 0;
        int steps = clip >= 0 ? 7 : 1;
        for (int i = 0; i < steps; i++, (*frames)++) {
            /* odd fractions, so that most instants lie between keys */
            double time = start + (end - start) * (i == steps - 1 ? 1 : i / 6.37);
            matrix *worlds = worlds_at(&d, clip, time);
            mesh_skin(&mesh, worlds, expected);
            free(worlds);
            cutis_pose_sample(character, clip, time, joints);
            cutis_state_step(model, state, &(cutis_step_input){.joints = joints}, 0.01);
            const float *positions = cutis_state_positions(model, state);
            for (int k = 0; k < 3 * mesh.vertex_count; k++)
                largest = fmax(largest, fabs((double)positions[k] - expected[k]));
        }
    }
    largest /= (double)character->size;
    free(joints);
    free(expected);
    mesh_free(&mesh);
    document_close(&d);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(character);
    return largest;
}

static void test_skinned_frames_agree_with_a_plain_evaluation(void **state)
{
    (void)state;
    const char *models[] = {"makehuman-cmu-average/mh_average.glb",  "makehuman-cmu-heavy/mh_heavy.glb",
                            "mesh2motion-horse/horse.glb",           "mesh2motion-kaiju/kaiju.glb",
                            "khronos-CesiumMan/CesiumMan.glb",       "khronos-Fox/Fox.glb",
                            "khronos-RiggedFigure/RiggedFigure.glb", "khronos-RiggedSimple/RiggedSimple.glb",
                            "khronos-SimpleSkin/SimpleSkin.gltf",    "webxr-generic-hand/left.glb",
                            "webxr-generic-hand/right.glb"};
    for (int i = 0; i < (int)(sizeof models / sizeof models[0]); i++) {
        const char *path = test_model(models[i]);
        if (!path) skip();
        int frames = 0;
        double error = compare(path, &frames);
        print_message("%-40s %3d frames, largest error %.2g of the size\n", models[i], frames, error);
        assert_true(error < 1e-5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_skinned_frames_agree_with_a_plain_evaluation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
