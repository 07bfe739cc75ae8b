/* test_gltf.c: glTF files become the characters that the specification describes, or an error that names the place. */
#include "testing.h"

#include <sys/stat.h>
#include <unistd.h>

#include "gltf_sample.h"

/* ---- plain evaluation in doubles ---- */

typedef struct matrix {
    double m[16]; /* row-major */
} matrix;

static matrix multiply(matrix a, matrix b)
{
    matrix c = {{0}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++) c.m[4 * i + j] += a.m[4 * i + k] * b.m[4 * k + j];
    return c;
}

static matrix transform(double tx, double ty, double tz, double qx, double qy, double qz, double qw, double s)
{
    return (matrix){{(1 - 2 * (qy * qy + qz * qz)) * s, 2 * (qx * qy - qw * qz) * s, 2 * (qx * qz + qw * qy) * s, tx,
                     2 * (qx * qy + qw * qz) * s, (1 - 2 * (qx * qx + qz * qz)) * s, 2 * (qy * qz - qw * qx) * s, ty,
                     2 * (qx * qz - qw * qy) * s, 2 * (qy * qz + qw * qx) * s, (1 - 2 * (qx * qx + qy * qy)) * s, tz, 0,
                     0, 0, 1}};
}

static matrix column_major(const float *m)
{
    matrix r;
    for (int i = 0; i < 16; i++) r.m[i] = m[4 * (i % 4) + i / 4];
    return r;
}

static void apply(matrix a, const float *p, double *result)
{
    for (int i = 0; i < 3; i++)
        result[i] = a.m[4 * i] * p[0] + a.m[4 * i + 1] * p[1] + a.m[4 * i + 2] * p[2] + a.m[4 * i + 3];
}

/* Positions that a character's joints and weights give. */
static void skin(const cutis_character *c, int clip, double time, float *positions)
{
    float joints[64 * 12];
    assert_true(c->joint_count <= 64);
    cutis_pose_sample(c, clip, time, joints);
    for (int v = 0; v < c->vertex_count; v++) {
        double sum[3] = {0};
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
            const float *bind = c->joints[c->influence_joints[i]].inverse_bind;
            const float *pose = joints + 12 * c->influence_joints[i], *p = c->positions + 3 * v;
            double local[3];
            for (int k = 0; k < 3; k++)
                local[k] = (double)bind[4 * k] * p[0] + (double)bind[4 * k + 1] * p[1] +
                           (double)bind[4 * k + 2] * p[2] + bind[4 * k + 3];
            for (int k = 0; k < 3; k++)
                sum[k] += c->influence_weights[i] * (pose[4 * k] * local[0] + pose[4 * k + 1] * local[1] +
                                                     pose[4 * k + 2] * local[2] + pose[4 * k + 3]);
        }
        for (int k = 0; k < 3; k++) positions[3 * v + k] = (float)sum[k];
    }
}

/* What the specification says of the sample when the tip is turned about y by the quaternion (0, y, 0, w). */
static void sample_expected(double qy, double qw, double (*expected)[3])
{
    matrix base = transform(1, 2, 3, 0, 0, 0.6, 0.8, 2), tip = transform(0, 1, 0, 0, qy, 0, qw, 1);
    matrix first = multiply(base, column_major(sample_binds));
    matrix second = multiply(multiply(base, tip), column_major(sample_binds + 16));
    for (int v = 0; v < 6; v++) {
        double a[3], b[3];
        apply(first, sample_positions + 3 * v, a);
        apply(second, sample_positions + 3 * v, b);
        for (int k = 0; k < 3; k++) expected[v][k] = sample_weights[4 * v] * a[k] + sample_weights[4 * v + 1] * b[k];
    }
}

static void assert_skin(const cutis_character *c, int clip, double time, double qy, double qw)
{
    double expected[6][3];
    float positions[3 * 64];
    sample_expected(qy, qw, expected);
    skin(c, clip, time, positions);
    for (int i = 0; i < 18; i++) assert_true(fabs(positions[i] - expected[i / 3][i % 3]) < 1e-5);
}

/* ---- characters ---- */

static void test_skinned_positions_are_the_specifications(void **state)
{
    (void)state;
    sample s = sample_make();
    cutis_character *c = sample_load(&s);
    assert_int_equal(c->vertex_count, 6);
    assert_int_equal(c->joint_count, 3); /* base, bone, tip: not the mesh's node */
    assert_int_equal(c->clip_count, 1);
    assert_true(c->clips[0].start == 0.5f && c->clips[0].end == 1.5f);
    assert_skin(c, -1, 0, 0, 1);
    assert_skin(c, 0, 0.5, 0, 1);
    assert_skin(c, 0, 1.5, 0.6, 0.8);
    /* At rest the joints undo their inverse bind matrices. */
    float joints[3 * 12];
    cutis_pose_rest(c, joints);
    for (int j = 1; j < 3; j++)
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 4; k++) {
                double sum = k == 3 ? joints[12 * j + 4 * r + 3] : 0;
                for (int i = 0; i < 3; i++) sum += joints[12 * j + 4 * r + i] * c->joints[j].inverse_bind[4 * i + k];
                assert_true(fabs(sum - (r == k)) < 1e-5);
            }
    cutis_character_destroy(c);
}

static void test_surface_keeps_quads_texcoords_map_and_morph(void **state)
{
    (void)state;
    sample s = sample_make();
    cutis_character *c = sample_load(&s);
    assert_int_equal(c->face_count, 2);
    assert_int_equal(c->corner_count, 8);
    assert_memory_equal(c->corners, ((int[]){0, 1, 3, 2, 2, 3, 5, 4}), 8 * sizeof(int));
    assert_true(c->texcoords[2] == 1 && c->texcoords[3] == 1);
    assert_int_equal(c->map_count, 1);
    assert_string_equal(c->maps[0].name, "stiffness");
    assert_true(c->maps[0].values[3] == 0.6f);
    assert_int_equal(c->morph_count, 1);
    /* scale 2 of the base node */
    assert_true(fabsf(c->morphs[0].deltas[2] - 2) < 1e-6f);
    assert_string_equal(c->parts[0].name, "ladder");
    assert_int_equal(c->warning_count, 0);
    cutis_character_destroy(c);
}

static void test_strips_fans_and_plain_triangles(void **state)
{
    (void)state;
    const struct {
        const char *mode;
        int faces, first[3], second[3];
    } cases[] = {{"'mode':5,", 4, {0, 1, 2}, {1, 3, 2}},
                 {"'mode':6,", 4, {1, 2, 0}, {2, 3, 0}},
                 {"'mode':4,", 2, {0, 1, 2}, {3, 4, 5}}};
    for (int i = 0; i < 3; i++) {
        sample s = sample_make();
        char text[40];
        snprintf(text, sizeof text, "%s'targets'", cases[i].mode);
        sample_edit(&s, "'indices':3,'targets'", text);
        cutis_character *c = sample_load(&s);
        assert_int_equal(c->face_count, cases[i].faces);
        assert_memory_equal(c->corners, cases[i].first, 3 * sizeof(int));
        assert_memory_equal(c->corners + 3, cases[i].second, 3 * sizeof(int));
        cutis_character_destroy(c);
    }
}

static void test_points_are_left_out_with_a_warning(void **state)
{
    (void)state;
    sample s = sample_make();
    sample_edit(&s, "'primitives':[", "'primitives':[{'mode':0,'attributes':{'POSITION':0}},");
    cutis_character *c = sample_load(&s);
    assert_int_equal(c->vertex_count, 6);
    assert_int_equal(c->warning_count, 1);
    assert_non_null(strstr(c->warnings[0], "mesh 0 primitive 0"));
    cutis_character_destroy(c);
}

static void test_accessors_of_every_kind(void **state)
{
    (void)state;
    /* Weights as normalised bytes, positions strided with a sparse change, joints as shorts. */
    sample s = sample_make();
    size_t at = SAMPLE_BYTES;
    const uint8_t weights[24] = {255, 0, 0, 0, 255, 0, 0, 0, 51, 204, 0, 0, 51, 204, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0};
    memcpy(s.bin + at, weights, 24);
    for (int v = 0; v < 6; v++) { /* 16 bytes of stride, the last 4 unused */
        memcpy(s.bin + at + 24 + 16 * v, sample_positions + 3 * v, 12);
        s.bin[at + 120 + 8 * v + 2] = 1;
    }
    s.bin[at + 168] = 4; /* sparse index 4 ... */
    memcpy(s.bin + at + 172, (float[]){9, 8, 7}, 12);
    s.bin_size = at + 184;
    sample_edit(&s, "'bufferView':0,'componentType':5126,'count':6,'type':'VEC3'",
                "'bufferView':11,'componentType':5126,'count':6,'type':'VEC3','sparse':{'count':1,"
                "'indices':{'bufferView':13,'componentType':5121},'values':{'bufferView':14}}");
    sample_edit(&s, "'bufferView':1,'componentType':5121", "'bufferView':12,'componentType':5123");
    sample_edit(&s, "'bufferView':2,'componentType':5126", "'bufferView':10,'normalized':true,'componentType':5121");
    sample_add_view(
        &s,
        "{'buffer':0,'byteOffset':528,'byteLength':24},{'buffer':0,'byteOffset':552,'byteLength':96,'byteStride':16},"
        "{'buffer':0,'byteOffset':648,'byteLength':48},{'buffer':0,'byteOffset':696,'byteLength':1},"
        "{'buffer':0,'byteOffset':700,'byteLength':12}");
    sample_edit(&s, "'skins'", "'x'"); /* without a skin: positions where the node is */
    sample_edit(&s, "'mesh':0,'skin':0,'translation':[50,0,0]", "'mesh':0");
    sample_edit(&s, "'animations'", "'y'");
    cutis_character *c = sample_load(&s);
    assert_int_equal(c->joint_count, 0);
    assert_true(c->positions[3] == 0.5f && c->positions[12] == 9 && c->positions[14] == 7 && c->positions[17] == 0.25f);
    cutis_character_destroy(c);

    s = sample_make();
    memcpy(s.bin + at, weights, 24);
    s.bin_size = at + 24;
    sample_edit(&s, "'bufferView':2,'componentType':5126", "'bufferView':10,'normalized':true,'componentType':5121");
    sample_add_view(&s, "{'buffer':0,'byteOffset':528,'byteLength':24}");
    c = sample_load(&s);
    assert_true(fabsf(c->influence_weights[c->influence_first[2]] - 0.2f) < 1e-6f);
    cutis_character_destroy(c);
}

static void test_quantised_positions(void **state)
{
    (void)state;
    sample s = sample_make();
    const int16_t positions[24] = {-5, 0, 0, 0, 5, 0, 0, 0, -5, 10, 0, 0, 5, 10, 0, 0, -5, 20, 0, 0, 5, 20, 0, 0};
    memcpy(s.bin + SAMPLE_BYTES, positions, sizeof positions);
    s.bin_size = SAMPLE_BYTES + sizeof positions;
    sample_edit(&s, "{'asset'",
                "{'extensionsUsed':['KHR_mesh_quantization'],'extensionsRequired':['KHR_mesh_quantization'],'asset'");
    sample_edit(&s, "'bufferView':0,'componentType':5126", "'bufferView':10,'componentType':5122");
    sample_add_view(&s, "{'buffer':0,'byteOffset':528,'byteLength':48,'byteStride':8}");
    sample_edit(&s, "'skin':0,'translation':[50,0,0]", "'scale':[0.1,0.1,0.1]");
    sample_edit(&s, "'animations'", "'y'");
    cutis_character *c = sample_load(&s);
    assert_true(fabsf(c->positions[3] - 0.5f) < 1e-6f && fabsf(c->positions[16] - 2) < 1e-6f);
    cutis_character_destroy(c);
}

static void test_primitives_with_the_same_attributes_share_vertices(void **state)
{
    (void)state;
    sample s = sample_make();
    sample_edit(&s, "'primitives':[",
                "'primitives':[{'attributes':{'POSITION':0,'JOINTS_0':1,'WEIGHTS_0':2,'TEXCOORD_0':7,"
                "'_CUTIS_STIFFNESS':8},'indices':3,'targets':[{'POSITION':9}]},");
    cutis_character *c = sample_load(&s);
    assert_int_equal(c->vertex_count, 6);
    assert_int_equal(c->part_count, 2);
    assert_int_equal(c->face_count, 6); /* 4 triangles and 2 quads */
    assert_string_not_equal(c->parts[0].name, c->parts[1].name);
    cutis_character_destroy(c);

    s = sample_make();
    sample_edit(&s, "'primitives':[",
                "'primitives':[{'attributes':{'POSITION':0,'JOINTS_0':1,'WEIGHTS_0':2},'indices':3},");
    c = sample_load(&s);
    assert_int_equal(c->vertex_count, 12);
    assert_int_equal(c->parts[1].first_vertex, 6);
    assert_true(c->maps[0].values[0] == 1 && c->maps[0].values[6] == 0); /* unpainted, painted */
    cutis_character_destroy(c);
}

static void test_unskinned_mesh_follows_its_node(void **state)
{
    (void)state;
    sample s = sample_make();
    sample_edit(&s, "'mesh':0,'skin':0,'translation':[50,0,0]", "'x':0");
    sample_edit(&s, "{'name':'tip',", "{'mesh':0,'name':'tip',");
    cutis_character *c = sample_load(&s);
    assert_int_equal(c->joint_count, 3);
    matrix world = multiply(transform(1, 2, 3, 0, 0, 0.6, 0.8, 2), transform(0, 1, 0, 0, 0.6, 0, 0.8, 1));
    float positions[18];
    skin(c, 0, 1.5, positions);
    for (int v = 0; v < 6; v++) {
        double expected[3];
        apply(world, sample_positions + 3 * v, expected);
        for (int k = 0; k < 3; k++) assert_true(fabs(positions[3 * v + k] - expected[k]) < 1e-5);
    }
    cutis_character_destroy(c);
}

static void test_mirrored_node_turns_faces(void **state)
{
    (void)state;
    sample s = sample_make();
    sample_edit(&s, "'skin':0,'translation':[50,0,0]", "'scale':[-1,1,1]");
    sample_edit(&s, "'animations'", "'y'");
    cutis_character *c = sample_load(&s);
    assert_memory_equal(c->corners, ((int[]){0, 2, 3, 1}), 4 * sizeof(int));
    cutis_character_destroy(c);
}

static void test_two_skins_keep_their_own_matrices(void **state)
{
    (void)state;
    /* The second skin's matrices differ by more than one placement: tip becomes two joints, bone stays one. */
    sample s = sample_make();
    float binds[32];
    memcpy(binds, sample_binds, sizeof binds);
    binds[28] = 0.7f;
    sample_floats(&s, SAMPLE_BYTES, binds, 32);
    sample_edit(&s, "'inverseBindMatrices':4}", "'inverseBindMatrices':4},{'joints':[1,2],'inverseBindMatrices':10}");
    sample_edit(&s, "'nodes':[0,3]", "'nodes':[0,3,4]");
    sample_edit(&s, "'mesh':0,'skin':0,'translation':[50,0,0]}", "'mesh':0,'skin':0},{'mesh':0,'skin':1}");
    sample_add_view(&s, "{'buffer':0,'byteOffset':528,'byteLength':128}");
    sample_add_accessor(&s, "{'bufferView':10,'componentType':5126,'count':2,'type':'MAT4'}");
    cutis_character *c = sample_load(&s);
    assert_int_equal(c->joint_count, 4);
    assert_string_equal(c->joints[3].name, "tip_2");
    assert_int_equal(c->clips[0].track_count, 2); /* one for each */
    assert_int_equal(c->vertex_count, 12);
    assert_int_equal(c->morph_count, 2); /* each node has weights of its own */
    assert_skin(c, 0, 1.5, 0.6, 0.8);
    /* the second copy, by the plain rule */
    matrix base = transform(1, 2, 3, 0, 0, 0.6, 0.8, 2), tip = transform(0, 1, 0, 0, 0.6, 0, 0.8, 1);
    matrix second = multiply(multiply(base, tip), column_major(binds + 16));
    float positions[36];
    double expected[3];
    skin(c, 0, 1.5, positions);
    apply(second, sample_positions + 15, expected); /* vertex 5 has the second joint alone */
    for (int k = 0; k < 3; k++) assert_true(fabs(positions[33 + k] - expected[k]) < 1e-5);
    cutis_character_destroy(c);
}

static void test_names_become_unique(void **state)
{
    (void)state;
    sample s = sample_make();
    sample_edit(&s, "'name':'base'", "'name':'tip'");
    sample_edit(&s, "'name':'bone',", "");
    sample_edit(&s, "'name':'bend',", "");
    cutis_character *c = sample_load(&s);
    assert_string_equal(c->joints[0].name, "tip");
    assert_string_equal(c->joints[1].name, "joint_1");
    assert_string_equal(c->joints[2].name, "tip_2");
    assert_string_equal(c->clips[0].name, "clip_0");
    cutis_character_destroy(c);
}

static void test_morph_weights_and_their_defaults(void **state)
{
    (void)state;
    sample s = sample_make();
    sample_edit(&s, "'meshes':[{", "'meshes':[{'extras':{'targetNames':['smile']},'weights':[0.5],");
    sample_edit(&s, "'node':2,'path':'rotation'", "'node':3,'path':'weights'");
    sample_edit(&s, "'output':6", "'output':5"); /* the times, 0.5 and 1.5, as weights */
    cutis_character *c = sample_load(&s);
    assert_string_equal(c->morphs[0].name, "smile");
    assert_int_equal(c->clips[0].tracks[0].path, CUTIS_PATH_MORPH);
    assert_true(c->clips[0].tracks[0].values[0] == 0 && c->clips[0].tracks[0].values[1] == 1); /* less 0.5 */
    sample plain = sample_make();
    cutis_character *d = sample_load(&plain);
    assert_true(fabsf(c->positions[2] - d->positions[2] - 1) < 1e-6f); /* half of a delta of 2 */
    cutis_character_destroy(c);
    cutis_character_destroy(d);
}

static void test_props_and_settings(void **state)
{
    (void)state;
    sample s = sample_make();
    sample_edit(&s, "'scenes':[{'nodes':[0,3]}]",
                "'scenes':[{'nodes':[0,3,4],'extras':{'cutis':{'gravity':9.5,'layers':{'damping':3}}}}]");
    sample_edit(
        &s, "{'name':'tip',",
        "{'extras':{'cutis':{'stiffness':0.25,'soft':true,'mode':'slow','layers':{'friction':0.5}}},'name':'tip',");
    sample_edit(
        &s, "'translation':[50,0,0]}",
        "'translation':[50,0,0]},{'name':'ball','children':[5],'extras':{'cutis':{'role':'rigid','shape':'sphere',"
        "'size':[0.5],'mass':2,'friction':0.3}}},{'name':'wall','mesh':0,'translation':[0,0,-1],"
        "'extras':{'cutis':{'role':'collider'}}}");
    cutis_character *c = sample_load(&s);
    assert_int_equal(c->vertex_count, 6); /* the wall is not part of the surface */
    assert_int_equal(c->prop_count, 2);
    assert_string_equal(c->props[0].name, "ball");
    assert_int_equal(c->props[0].role, CUTIS_PROP_RIGID);
    assert_int_equal(c->props[0].shape, CUTIS_PROP_SPHERE);
    assert_true(c->props[0].size[0] == 0.5f && c->props[0].mass == 2 && c->props[0].restitution < 0);
    assert_int_equal(c->props[1].shape, CUTIS_PROP_MESH);
    assert_int_equal(c->props[1].triangle_count, 4);
    assert_string_equal(c->joints[c->props[1].joint].name, "wall");
    assert_int_equal(c->setting_count, 6);
    assert_string_equal(c->settings[0].key, "gravity");
    assert_string_equal(c->settings[0].value, "9.5");
    assert_string_equal(c->settings[1].key, "layers.damping");
    assert_string_equal(c->settings[2].key, "bones.tip.stiffness");
    assert_string_equal(c->settings[3].value, "on");
    assert_string_equal(c->settings[4].value, "slow");
    assert_string_equal(c->settings[5].key, "layers.bones.tip.friction");
    cutis_character_destroy(c);
}

static void test_what_is_odd_but_usable_is_warned_of(void **state)
{
    (void)state;
    const struct {
        const char *from, *to, *warning;
    } cases[] = {
        {"_CUTIS_STIFFNESS", "_CUTIS_STIFNESS", "_CUTIS_STIFNESS is not a known painted map"},
        {"'rotation':[0,0,0.6,0.8],'scale':[2,2,2]", "'x':0", ""},
        {"'translation':[1,2,3],'rotation':[0,0,0.6,0.8],'scale':[2,2,2]", "'matrix':[1,0,0,0,1,1,0,0,0,0,1,0,0,0,0,1]",
         "shear"},
        {"'node':2,'path':'rotation'", "'node':3,'path':'rotation'", "moves no joint"},
        {"'indices':3,", "'indices':3,'mode':4,", ""},
    };
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
        sample s = sample_make();
        sample_edit(&s, cases[i].from, cases[i].to);
        cutis_character *c = sample_load(&s);
        assert_int_equal(c->warning_count, cases[i].warning[0] ? 1 : 0);
        if (cases[i].warning[0]) assert_non_null(strstr(c->warnings[0], cases[i].warning));
        cutis_character_destroy(c);
    }
    sample s = sample_make();
    memset(s.bin + SAMPLE_WEIGHTS, 0, 16);
    cutis_character *c = sample_load(&s);
    assert_int_equal(c->warning_count, 1);
    assert_non_null(strstr(c->warnings[0], "1 vertices have no weight"));
    assert_string_equal(c->joints[c->influence_joints[0]].name, "bone");
    cutis_character_destroy(c);
    /* Without a weight, the joint that is named first counts, as in three.js; one that is not there does not. */
    const int named[] = {1, 200};
    for (int i = 0; i < 2; i++) {
        s = sample_make();
        memset(s.bin + SAMPLE_WEIGHTS, 0, 16);
        s.bin[SAMPLE_JOINTS] = (uint8_t)named[i];
        c = sample_load(&s);
        int second = c->influence_joints[c->influence_first[5]]; /* all of the last vertex */
        assert_true((c->influence_joints[0] == second) == (i == 0));
        cutis_character_destroy(c);
    }
}

/* ---- errors ---- */

static void test_errors_name_the_place(void **state)
{
    (void)state;
    const struct {
        const char *from, *to, *text;
        cutis_result code;
    } cases[] = {
        {"{'asset'", "{'extensionsRequired':['ACME_magic'],'extensions':{'ACME_magic':{}},'asset'",
         "requires the extension ACME_magic", CUTIS_ERROR_UNSUPPORTED},
        {"'version':'2.0'", "'version':'1.0'", "glTF 1.0", CUTIS_ERROR_UNSUPPORTED},
        {"'byteLength':528}", "'byteLength':529}", "buffer 0: declares 529 bytes, but only 528", CUTIS_ERROR_FORMAT},
        {"'byteLength':528}", "'byteLength':528,'uri':'gone.bin'}", "buffer 0: 'gone.bin' is an external file",
         CUTIS_ERROR_UNSUPPORTED},
        {"'byteLength':528}", "'byteLength':528},{'byteLength':4}", "buffer 1: is missing", CUTIS_ERROR_FORMAT},
        {"'byteLength':528}", "'byteLength':528,'uri':'https://x.org/a.bin'}", "download it into the same folder",
         CUTIS_ERROR_UNSUPPORTED},
        {"'byteLength':528}", "'byteLength':528,'uri':'data:x;base64,@@'}", "not valid base64", CUTIS_ERROR_FORMAT},
        {"'byteOffset':456,'byteLength':72", "'byteOffset':456,'byteLength':73",
         "buffer view 9: goes beyond the 528 bytes", CUTIS_ERROR_FORMAT},
        {"'bufferView':0,'componentType':5126,'count':6", "'bufferView':0,'componentType':5126,'count':7",
         "accessor 0 (POSITION of mesh 0 primitive 0): its 7 elements go beyond", CUTIS_ERROR_FORMAT},
        {"'bufferView':0,'componentType':5126,'count':6", "'bufferView':0,'componentType':5126,'count':4000000000",
         "accessor 0 (POSITION of mesh 0 primitive 0): 4000000000 elements", CUTIS_ERROR_UNSUPPORTED},
        {"'bufferView':0,'componentType':5126,'count':6", "'componentType':5126,'count':60000000",
         "its positions are missing", CUTIS_ERROR_DATA},
        {"'bufferView':0,'componentType':5126,'count':6", "'bufferView':0,'componentType':5126,'count':0", "is empty",
         CUTIS_ERROR_DATA},
        {"'bufferView':0,'componentType':5126", "'bufferView':0,'componentType':5127", "componentType 5127",
         CUTIS_ERROR_FORMAT},
        {"'bufferView':1,'componentType':5121,'count':6,'type':'VEC4'",
         "'bufferView':1,'componentType':5121,'count':6,'type':'VEC3'",
         "accessor 1 (JOINTS_0 of mesh 0 primitive 0): type VEC3", CUTIS_ERROR_FORMAT},
        {"'bufferView':1,'componentType':5121,'count':6", "'bufferView':1,'componentType':5121,'count':5",
         "accessor 1 (JOINTS_0 of mesh 0 primitive 0): has 5 elements for 6 vertices", CUTIS_ERROR_FORMAT},
        {"'POSITION':0", "'POSITION':77", "mesh 0 primitive 0: 'POSITION' is 77, but there are only 10",
         CUTIS_ERROR_FORMAT},
        {"'bufferView':9,", "'bufferView':99,", "'bufferView' is 99", CUTIS_ERROR_FORMAT},
        {"'joints':[1,2]", "'joints':[1,9]", "skin 0: joints[1]", CUTIS_ERROR_FORMAT},
        {"'joints':[1,2]", "'joints':[]", "skin 0: has no joints", CUTIS_ERROR_FORMAT},
        {"'joints':[1,2]", "'joints':[1]", "vertex 2 uses joint 1, but skin 0 has only 1", CUTIS_ERROR_FORMAT},
        {"'name':'bone','children':[2]},{'name':'tip'", "'name':'bone','children':[2]},{'children':[1],'name':'tip'",
         "node 1: is a child of both node 0 and node 2", CUTIS_ERROR_FORMAT},
        {"'nodes':[0,3]", "'nodes':[1,3]", "nodes[0] is not a root: node 0 is its parent", CUTIS_ERROR_FORMAT},
        {"'children':[2]}", "'children':[12]}", "node 1 ('bone'): children[0]", CUTIS_ERROR_FORMAT},
        {"'nodes':[0,3]", "'nodes':[0,13]", "scene 0: nodes[1]", CUTIS_ERROR_FORMAT},
        {"'scene':0", "'scene':4", "'scene' is 4", CUTIS_ERROR_FORMAT},
        {"'mesh':0,'skin':0", "'mesh':5,'skin':0", "node 3 ('ladder'): 'mesh' is 5", CUTIS_ERROR_FORMAT},
        {"'primitives':[{", "'primitives':[],'x':[{", "the mesh is empty", CUTIS_ERROR_DATA},
        {"'mesh':0,'skin':0,", "", "the mesh is empty", CUTIS_ERROR_DATA},
        {"'translation':[0,1,0]", "'translation':[0,1]", "node 2 ('tip'): 'translation' is not an array of 3",
         CUTIS_ERROR_FORMAT},
        {"'translation':[0,1,0]", "'translation':[0,1e300,0]", "'translation'[1] is not a finite number",
         CUTIS_ERROR_FORMAT},
        {"'output':6", "'output':5", "accessor 5 (output of animation 0 channel 0)", CUTIS_ERROR_FORMAT},
        {"'sampler':0", "'sampler':3", "animation 0 channel 0: 'sampler' is 3", CUTIS_ERROR_FORMAT},
        {"{'input':5", "{'interpolation':'ODD','input':5", "interpolation 'ODD'", CUTIS_ERROR_FORMAT},
        {"'indices':3,", "'indices':3,'mode':9,", "mode 9", CUTIS_ERROR_FORMAT},
        {"'name':'tip'", "'extras':{'cutis':{'role':'colider'}},'name':'tip'",
         "'colider' is not one of collider, rigid, soft", CUTIS_ERROR_DATA},
        {"'name':'tip'", "'extras':{'cutis':{'role':'rigid','shape':'box','size':[1,2]}},'name':'tip'",
         "size needs 3 numbers", CUTIS_ERROR_DATA},
        {"'nodes':[{'name':'base'", "'nodes':[[],{'name':'base'", "'nodes'[0] is not an object", CUTIS_ERROR_FORMAT},
        {"'asset'", "'asset' oh", "its JSON is damaged at line 1", CUTIS_ERROR_FORMAT},
    };
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
        sample s = sample_make();
        sample_edit(&s, cases[i].from, cases[i].to);
        sample_build(&s);
        cutis_character *c = (cutis_character *)1;
        cutis_error error = {0};
        cutis_result result = cutis_character_load_memory(s.file, s.size, "folder/ladder.glb", NULL, &c, &error);
        if (result != cases[i].code || !strstr(error.text, cases[i].text))
            print_error("case %d: %d '%s', expected %d '%s'\n", i, result, error.text, cases[i].code, cases[i].text);
        assert_int_equal(result, cases[i].code);
        assert_non_null(strstr(error.text, cases[i].text));
        assert_int_equal(strncmp(error.text, "ladder.glb: ", 12), 0);
        assert_null(strchr(error.text, '\n'));
        assert_null(c);
    }
}

static void test_cycles_and_wild_numbers_are_refused(void **state)
{
    (void)state;
    cutis_character *c;
    cutis_error error;
    sample s = sample_make();
    sample_edit(&s, "'translation':[50,0,0]}]",
                "'translation':[50,0,0]},{'name':'a','children':[5]},{'name':'b','children':[4]}]");
    sample_build(&s);
    assert_int_equal(cutis_character_load_memory(s.file, s.size, "x.glb", NULL, &c, &error), CUTIS_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "cycle"));
    assert_true(strstr(error.text, "'a'") || strstr(error.text, "'b'"));

    const struct {
        size_t at;
        const char *text;
    } wild[] = {{SAMPLE_POSITIONS + 16, "accessor 0 (POSITION of mesh 0 primitive 0): element 1 is not a finite"},
                {SAMPLE_WEIGHTS, "WEIGHTS_0"},
                {SAMPLE_BINDS, "inverseBindMatrices of skin 0"},
                {SAMPLE_MORPH, "target 0 of mesh 0 primitive 0"}};
    for (int i = 0; i < (int)(sizeof wild / sizeof wild[0]); i++) {
        s = sample_make();
        sample_floats(&s, wild[i].at, (float[]){NAN}, 1);
        sample_build(&s);
        assert_int_equal(cutis_character_load_memory(s.file, s.size, "x.glb", NULL, &c, &error), CUTIS_ERROR_DATA);
        assert_non_null(strstr(error.text, wild[i].text));
    }
    s = sample_make();
    s.bin[SAMPLE_INDICES + 4] = 200;
    sample_build(&s);
    assert_int_equal(cutis_character_load_memory(s.file, s.size, "x.glb", NULL, &c, &error), CUTIS_ERROR_FORMAT);
    assert_non_null(
        strstr(error.text, "accessor 3 (indices of mesh 0 primitive 0): index 2 is 200, but there are only 6"));
}

/* A clip of keys that are not numbers is named and left out; the character is read. */
static void test_damaged_clips_are_left_out(void **state)
{
    (void)state;
    const struct {
        size_t at;
        const char *text;
    } wild[] = {{SAMPLE_ROTATIONS, "output of animation 0 channel 0"},
                {SAMPLE_TIMES, "input of animation 0 channel 0"}};
    for (int i = 0; i < 2; i++) {
        cutis_character *c;
        cutis_error error = {0};
        sample s = sample_make();
        sample_floats(&s, wild[i].at, (float[]){NAN}, 1);
        sample_build(&s);
        assert_int_equal(cutis_character_load_memory(s.file, s.size, "x.glb", NULL, &c, &error), CUTIS_OK);
        assert_int_equal(c->clip_count, 0);
        assert_string_equal(error.text, "");
        bool named = false;
        for (int w = 0; w < c->warning_count; w++)
            named |= strstr(c->warnings[w], "is ignored") && strstr(c->warnings[w], wild[i].text);
        assert_true(named);
        cutis_character_destroy(c);
    }
}

static void test_container_lengths_are_checked(void **state)
{
    (void)state;
    for (size_t length = 0; length < 4000; length += length < 64 ? 1 : 97) {
        for (int field = 8; field <= 12; field += 4) { /* of the file, of the JSON chunk */
            sample s = sample_make();
            sample_build(&s);
            uint8_t *file = malloc(s.size);
            memcpy(file, s.file, s.size);
            sample_word(file + field, length);
            cutis_character *c;
            cutis_error error = {0};
            assert_int_equal(cutis_character_load_memory(file, s.size, "x.glb", NULL, &c, &error), CUTIS_ERROR_FORMAT);
            free(file);
        }
    }
}

/* ---- files ---- */

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static void test_external_and_embedded_buffers(void **state)
{
    (void)state;
    char folder[] = "/tmp/cutis_gltf_XXXXXX", path[200], buffer[200];
    assert_non_null(mkdtemp(folder));
    sample s = sample_make();
    sample_edit(&s, "'byteLength':528}]", "'byteLength':528,'uri':'my%20buffer.bin'}]");
    sample_quote(s.json);
    snprintf(path, sizeof path, "%s/worm.gltf", folder);
    snprintf(buffer, sizeof buffer, "%s/my buffer.bin", folder);
    write_file(path, s.json, strlen(s.json));
    cutis_character *c;
    cutis_error error;
    assert_int_equal(cutis_character_load(path, NULL, &c, &error), CUTIS_ERROR_FILE);
    assert_non_null(strstr(error.text, "worm.gltf: buffer 0: cannot open"));
    assert_non_null(strstr(error.text, "my buffer.bin"));
    write_file(buffer, s.bin, s.bin_size);
    assert_int_equal(cutis_character_load(path, NULL, &c, &error), CUTIS_OK);
    assert_string_equal(c->name, "worm");
    assert_skin(c, 0, 1.5, 0.6, 0.8);
    cutis_character_destroy(c);
    write_file(buffer, s.bin, 100);
    assert_int_equal(cutis_character_load(path, NULL, &c, &error), CUTIS_ERROR_FORMAT);
    remove(buffer);
    remove(path);
    rmdir(folder);

    /* base64 */
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char uri[1200] = "'byteLength':528,'uri':'data:application/octet-stream;base64,";
    size_t length = strlen(uri);
    for (int i = 0; i < 528; i += 3) {
        unsigned bits = (unsigned)s.bin[i] << 16 | (unsigned)s.bin[i + 1] << 8 | s.bin[i + 2];
        for (int k = 0; k < 4; k++) uri[length++] = digits[bits >> (18 - 6 * k) & 63];
    }
    strcpy(uri + length, "'}]");
    s = sample_make();
    sample_edit(&s, "'byteLength':528}]", uri);
    sample_quote(s.json);
    assert_int_equal(cutis_character_load_memory(s.json, strlen(s.json), "a.gltf", NULL, &c, &error), CUTIS_OK);
    assert_skin(c, 0, 1.5, 0.6, 0.8);
    cutis_character_destroy(c);
}

static void test_humanoids_of_vrm_are_understood(void **state)
{
    (void)state;
    static const char *const humanoids[] = {
        "{'extensions':{'VRM':{'humanoid':{'humanBones':[{'bone':'leftUpperLeg','node':2},{'bone':'x','node':99}]}}},'"
        "asset'",
        "{'extensions':{'VRMC_vrm':{'humanoid':{'humanBones':{'leftUpperLeg':{'node':2},'hips':3}}}},'asset'"};
    for (int i = 0; i < 2; i++) {
        sample s = sample_make();
        sample_edit(&s, "{'asset'", humanoids[i]);
        cutis_character *c = sample_load(&s);
        int tip = cutis_character_find_joint(c, "tip");
        assert_non_null(c->joints[tip].role);
        assert_string_equal(c->joints[tip].role, "leftUpperLeg");
        assert_null(c->joints[0].role);
        cutis_character_destroy(c);
    }
}

static void test_hidden_nodes_are_left_out(void **state)
{
    (void)state;
    sample s = sample_make();
    sample_edit(&s, "{'asset'", "{'extensionsRequired':['KHR_node_visibility'],'asset'");
    sample_edit(&s, "'nodes':[0,3]", "'nodes':[0,3,4]");
    sample_edit(&s, "'translation':[50,0,0]}",
                "'translation':[50,0,0]},{'name':'veil','extensions':{'KHR_node_visibility':{'visible':false}},"
                "'children':[5]},{'name':'under','mesh':0}");
    cutis_character *c = sample_load(&s);
    assert_int_equal(c->vertex_count, 6); /* once, not twice */
    assert_true(cutis_character_find_joint(c, "under") < 0);
    cutis_character_destroy(c);
}

static void test_unknown_endings_are_named(void **state)
{
    (void)state;
    cutis_character *c;
    cutis_error error;
    assert_int_equal(cutis_character_load("hero.blend", NULL, &c, &error), CUTIS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, ".glb, .gltf, .vrm, .fbx, .dae, .obj"));
    assert_int_equal(cutis_character_load("/nowhere/hero.glb", NULL, &c, &error), CUTIS_ERROR_FILE);
    assert_int_equal(cutis_character_load("/tmp.glb/", NULL, &c, &error), CUTIS_ERROR_ARGUMENT);
}

/* ---- writing ---- */

static void assert_same(const cutis_character *a, const cutis_character *b, bool same_vertices)
{
    assert_int_equal(a->vertex_count <= b->vertex_count, true);
    if (same_vertices) assert_int_equal(a->vertex_count, b->vertex_count);
    assert_memory_equal(a->positions, b->positions, (size_t)a->vertex_count * 12);
    assert_int_equal(a->face_count, b->face_count);
    assert_int_equal(a->corner_count, b->corner_count);
    assert_int_equal(a->point_count, b->point_count);
    for (int f = 0; f < a->face_count; f++) { /* the same polygon, perhaps from another corner on */
        int first = a->face_first[f], n = a->face_first[f + 1] - first;
        assert_int_equal(b->face_first[f], first);
        int shift = 0;
        while (shift < n && a->vertex_points[a->corners[first]] != b->vertex_points[b->corners[first + shift]]) shift++;
        for (int k = 0; k < n; k++) {
            int other = first + (k + shift) % n;
            assert_int_equal(a->vertex_points[a->corners[first + k]], b->vertex_points[b->corners[other]]);
            if (a->texcoords) assert_memory_equal(a->texcoords + 2 * (first + k), b->texcoords + 2 * other, 8);
        }
    }
    assert_int_equal(a->joint_count, b->joint_count);
    for (int j = 0; j < a->joint_count; j++) {
        assert_string_equal(a->joints[j].name, b->joints[j].name);
        assert_int_equal(a->joints[j].parent, b->joints[j].parent);
        for (int k = 0; k < 12; k++) assert_true(a->joints[j].inverse_bind[k] == b->joints[j].inverse_bind[k]);
        for (int k = 0; k < 10; k++) {
            assert_true(fabsf(((const float *)&a->joints[j].idle)[k] - ((const float *)&b->joints[j].idle)[k]) < 2e-6f);
            assert_true(fabsf(((const float *)&a->joints[j].rest)[k] - ((const float *)&b->joints[j].rest)[k]) < 2e-5f);
        }
    }
    for (int i = 0; a->influence_first && i < a->influence_first[a->vertex_count]; i++) {
        assert_int_equal(a->influence_joints[i], b->influence_joints[i]);
        assert_true(fabsf(a->influence_weights[i] - b->influence_weights[i]) < 1e-6f);
    }
    assert_int_equal(a->clip_count, b->clip_count);
    for (int i = 0; i < a->clip_count; i++) {
        assert_string_equal(a->clips[i].name, b->clips[i].name);
        assert_int_equal(a->clips[i].track_count, b->clips[i].track_count);
        assert_true(a->clips[i].start == b->clips[i].start && a->clips[i].end == b->clips[i].end);
    }
    assert_int_equal(a->setting_count, b->setting_count);
    for (int i = 0; i < a->setting_count; i++) {
        assert_string_equal(a->settings[i].key, b->settings[i].key);
        assert_string_equal(a->settings[i].value, b->settings[i].value);
    }
    assert_int_equal(a->part_count, b->part_count);
    for (int i = 0; i < a->part_count; i++) {
        assert_string_equal(a->parts[i].name, b->parts[i].name);
        assert_string_equal(a->parts[i].material, b->parts[i].material);
        assert_int_equal(a->parts[i].face_count, b->parts[i].face_count);
        if (same_vertices) assert_int_equal(a->parts[i].first_vertex, b->parts[i].first_vertex);
    }
    assert_int_equal(a->map_count, b->map_count);
    for (int i = 0; i < a->map_count; i++)
        assert_memory_equal(a->maps[i].values, b->maps[i].values, (size_t)a->vertex_count * 4);
    assert_int_equal(a->morph_count, b->morph_count);
    for (int i = 0; i < a->morph_count; i++) {
        assert_string_equal(a->morphs[i].name, b->morphs[i].name);
        assert_memory_equal(a->morphs[i].deltas, b->morphs[i].deltas, (size_t)a->vertex_count * 12);
    }
    assert_int_equal(a->prop_count, b->prop_count);
    for (int i = 0; i < a->prop_count; i++) {
        assert_string_equal(a->props[i].name, b->props[i].name);
        assert_int_equal(a->props[i].role, b->props[i].role);
        assert_int_equal(a->props[i].joint, b->props[i].joint);
        assert_true(a->props[i].mass == b->props[i].mass && a->props[i].friction == b->props[i].friction);
        assert_int_equal(a->props[i].triangle_count, b->props[i].triangle_count);
        if (a->props[i].triangle_count)
            assert_memory_equal(a->props[i].triangles, b->props[i].triangles, (size_t)a->props[i].triangle_count * 12);
    }
}

static cutis_character *round_trip(const cutis_character *c)
{
    char folder[] = "/tmp/cutis_gltf_XXXXXX", path[100];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/back.glb", folder);
    cutis_error error = {0};
    cutis_character *back = NULL;
    assert_int_equal(cutis_character_save(c, path, &error), CUTIS_OK);
    cutis_result result = cutis_character_load(path, NULL, &back, &error);
    if (result) print_error("%s\n", error.text);
    assert_int_equal(result, CUTIS_OK);
    remove(path);
    rmdir(folder);
    return back;
}

static void test_saving_and_loading_gives_the_same_character(void **state)
{
    (void)state;
    cutis_error error;
    cutis_character *tube;
    assert_int_equal(test_tube(NULL, &tube, &error), CUTIS_OK);
    cutis_character *back = round_trip(tube);
    assert_same(tube, back, true);
    cutis_character_destroy(back);

    /* Everything at once: a placement, two parts with materials, props, settings, a morph with a track. */
    sample s = sample_make();
    sample_edit(&s, "'nodes':[0,3]}]", "'nodes':[0,3],'extras':{'cutis':{'gravity':9.5,'kind':'1e2'}}}]");
    sample_edit(&s, "{'asset'", "{'materials':[{'name':'skin'},{}],'asset'");
    sample_edit(&s, "'primitives':[",
                "'primitives':[{'material':1,'attributes':{'POSITION':0,'JOINTS_0':1,'WEIGHTS_0':2},'indices':3},");
    sample_edit(&s, "'indices':3,'targets'", "'indices':3,'material':0,'targets'");
    sample_edit(&s, "{'name':'tip',",
                "{'extras':{'cutis':{'role':'rigid','shape':'box','size':[1,2,3],'mass':2,'stiffness':0.5,'jiggle':3}},"
                "'name':'tip',");
    sample_edit(&s, "'samplers':[", "'samplers':[{'input':5,'output':5},");
    sample_edit(&s, "'channels':[{'sampler':0,",
                "'channels':[{'sampler':0,'target':{'node':3,'path':'weights'}},{'sampler':1,");
    cutis_character *c = sample_load(&s);
    assert_int_equal(c->setting_count, 3);
    back = round_trip(c);
    assert_same(c, back, true);
    float a[36], b[36];
    skin(c, 0, 1.2, a);
    skin(back, 0, 1.2, b);
    for (int i = 0; i < 36; i++) assert_true(fabsf(a[i] - b[i]) < 1e-5f);
    cutis_character_destroy(back);
    cutis_character_destroy(c);

    /* Texture seams: a corner of its own coordinate makes one vertex more, at the end. */
    cutis_character seamed = *tube;
    float *texcoords = calloc((size_t)tube->corner_count, 2 * sizeof(float));
    for (int i = 0; i < tube->corner_count; i++) texcoords[2 * i] = (float)tube->corners[i] / 1000;
    texcoords[2 * 17] = 0.75f;
    seamed.texcoords = texcoords;
    assert_int_equal(cutis_character_create(&seamed, NULL, &c, &error), CUTIS_OK);
    back = round_trip(c);
    assert_int_equal(back->vertex_count, c->vertex_count + 1);
    assert_same(c, back, false);
    cutis_character_destroy(back);
    cutis_character_destroy(c);
    cutis_character_destroy(tube);
    free(texcoords);
}

static void test_vertices_without_weights_and_several_roots_survive_saving(void **state)
{
    (void)state;
    cutis_error error;
    cutis_character *tube, *c;
    assert_int_equal(test_tube(NULL, &tube, &error), CUTIS_OK);
    cutis_character given = *tube;
    cutis_joint joints[2] = {tube->joints[0], tube->joints[1]};
    joints[1].parent = -1;
    given.joints = joints;
    int *first = malloc(((size_t)tube->vertex_count + 1) * sizeof(int));
    memcpy(first, tube->influence_first, ((size_t)tube->vertex_count + 1) * sizeof(int));
    for (int v = 0; v < 10; v++) first[v] = 0; /* no weights for the first ten */
    first[10] = 0;
    given.influence_first = first;
    assert_int_equal(cutis_character_create(&given, NULL, &c, &error), CUTIS_OK);
    assert_int_equal(c->influence_first[10], 0);
    cutis_character *back = round_trip(c);
    assert_int_equal(back->vertex_count, c->vertex_count);
    int still = cutis_character_find_joint(back, "static");
    assert_true(still >= 0);
    assert_int_equal(back->influence_joints[0], still);
    cutis_character_destroy(back);
    cutis_character_destroy(c);
    cutis_character_destroy(tube);
    free(first);
}

static void test_a_failed_save_leaves_nothing(void **state)
{
    (void)state;
    cutis_error error = {0};
    cutis_character *tube;
    assert_int_equal(test_tube(NULL, &tube, &error), CUTIS_OK);
    assert_int_equal(cutis_character_save(tube, "/nonexistent/folder/x.glb", &error), CUTIS_ERROR_FILE);
    assert_non_null(strstr(error.text, "/nonexistent/folder/x.glb"));
    assert_int_equal(cutis_character_save(tube, "x.fbx", &error), CUTIS_ERROR_ARGUMENT);
    /* a folder stands where the file should go */
    char folder[] = "/tmp/cutis_gltf_XXXXXX", path[100];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.glb", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(cutis_character_save(tube, path, &error), CUTIS_ERROR_FILE);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0); /* fails when a temporary file was left */
    cutis_character_destroy(tube);
}

/* ---- the models outside the repository ---- */

static void test_shared_models_load(void **state)
{
    (void)state;
    const struct {
        const char *path;
        int vertices, points, faces, joints, clips;
    } models[] = {{"makehuman-cmu-average/mh_average.glb", 13380, 13380, 26756, 31, 4},
                  {"makehuman-cmu-heavy/mh_heavy.glb", 13380, 13380, 26756, 31, 4},
                  {"mesh2motion-horse/horse.glb", 2146, 1709, 3414, 57, 14},
                  {"mesh2motion-kaiju/kaiju.glb", 1561, 1169, 2318, 59, 10},
                  {"khronos-CesiumMan/CesiumMan.glb", 3273, 2338, 4672, 21, 1},
                  {"khronos-Fox/Fox.glb", 1728, 290, 576, 25, 3},
                  {"khronos-RiggedFigure/RiggedFigure.glb", 370, 130, 256, 21, 1},
                  {"khronos-RiggedSimple/RiggedSimple.glb", 160, 96, 188, 4, 1},
                  {"khronos-SimpleSkin/SimpleSkin.gltf", 10, 10, 8, 2, 1},
                  {"webxr-generic-hand/left.glb", 1360, 1159, 2314, 26, 0},
                  {"webxr-generic-hand/right.glb", 1360, 1159, 2314, 26, 0}};
    for (int i = 0; i < (int)(sizeof models / sizeof models[0]); i++) {
        const char *path = test_model(models[i].path);
        if (!path) skip();
        cutis_character *c;
        cutis_error error = {0};
        cutis_result result = cutis_character_load(path, NULL, &c, &error);
        if (result) print_error("%s\n", error.text);
        assert_int_equal(result, CUTIS_OK);
        assert_int_equal(c->vertex_count, models[i].vertices);
        assert_int_equal(c->point_count, models[i].points);
        assert_int_equal(c->face_count, models[i].faces);
        assert_int_equal(c->joint_count, models[i].joints);
        assert_int_equal(c->clip_count, models[i].clips);
        assert_int_equal(c->warning_count, 0);
        cutis_character *back = round_trip(c);
        assert_same(c, back, true);
        cutis_character_destroy(back);
        cutis_character_destroy(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_skinned_positions_are_the_specifications),
        cmocka_unit_test(test_surface_keeps_quads_texcoords_map_and_morph),
        cmocka_unit_test(test_strips_fans_and_plain_triangles),
        cmocka_unit_test(test_points_are_left_out_with_a_warning),
        cmocka_unit_test(test_accessors_of_every_kind),
        cmocka_unit_test(test_quantised_positions),
        cmocka_unit_test(test_primitives_with_the_same_attributes_share_vertices),
        cmocka_unit_test(test_unskinned_mesh_follows_its_node),
        cmocka_unit_test(test_mirrored_node_turns_faces),
        cmocka_unit_test(test_two_skins_keep_their_own_matrices),
        cmocka_unit_test(test_names_become_unique),
        cmocka_unit_test(test_morph_weights_and_their_defaults),
        cmocka_unit_test(test_props_and_settings),
        cmocka_unit_test(test_what_is_odd_but_usable_is_warned_of),
        cmocka_unit_test(test_errors_name_the_place),
        cmocka_unit_test(test_cycles_and_wild_numbers_are_refused),
        cmocka_unit_test(test_damaged_clips_are_left_out),
        cmocka_unit_test(test_container_lengths_are_checked),
        cmocka_unit_test(test_external_and_embedded_buffers),
        cmocka_unit_test(test_humanoids_of_vrm_are_understood),
        cmocka_unit_test(test_hidden_nodes_are_left_out),
        cmocka_unit_test(test_unknown_endings_are_named),
        cmocka_unit_test(test_saving_and_loading_gives_the_same_character),
        cmocka_unit_test(test_vertices_without_weights_and_several_roots_survive_saving),
        cmocka_unit_test(test_a_failed_save_leaves_nothing),
        cmocka_unit_test(test_shared_models_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
