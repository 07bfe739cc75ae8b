/* Solver lattice: voxels, layers, sweeps, constraints, and what holds for any motion. */
#include "testing.h"

#include "engine/model_object.h"
#include "solvers/lattice/lattice_step.h"

/* ---- helpers ---- */

typedef struct scene {
    cutis_character *character;
    cutis_model *model;
    cutis_state *state;
} scene;

/* settings: key, value, key, value, ..., NULL. */
static scene scene_make_on(cutis_character *character, const char *const *texts, double substep)
{
    cutis_setting settings[20];
    int count = 0;
    for (; texts && texts[2 * count]; count++)
        settings[count] = (cutis_setting){texts[2 * count], texts[2 * count + 1]};
    cutis_model *model = test_build_def((cutis_model_def){
        .character = character, .solver = "lattice", .substep = substep, .settings = settings, .setting_count = count});
    return (scene){.character = character, .model = model, .state = test_state(model, NULL)};
}

static scene scene_make(const char *name, const char *const *texts)
{
    return scene_make_on(test_zoo(name, 1), texts, 0);
}

static void scene_free(scene *s)
{
    cutis_state_destroy(s->state);
    cutis_model_destroy(s->model);
    cutis_character_destroy(s->character);
}

static const lattice_model *scene_lattice(const scene *s) { return s->model->stages[0].data; }

static void scene_play(scene *s, const char *clip, double fps, int frames, const cutis_jobs *jobs)
{
    cutis_clip_motion motion = {s->character, cutis_character_find_clip(s->character, clip), 0.25};
    assert_true(motion.clip >= 0);
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}, .jobs = jobs};
    for (int i = 0; i < frames; i++) cutis_state_step(s->model, s->state, &input, 1 / fps);
}

static double distance_max(const float *a, const float *b, int count)
{
    double most = 0;
    for (int i = 0; i < 3 * count; i++) most = fmax(most, fabs((double)a[i] - b[i]));
    return most;
}

/* Numbers from -1 to 1 that are the same everywhere. */
static float noise(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(int32_t)*seed / 2147483648.0f;
}

static lattice_graph voxelise(const float *points, int point_count, const int *triangles, int triangle_count,
                              int resolution, arena *memory, int *open_edges)
{
    cutis_error error = {0};
    mesh *m = arena_push(memory, 1, sizeof *m);
    assert_int_equal(mesh_build(m, point_count, points, triangle_count, triangles, memory, &error), CUTIS_OK);
    lattice_shape shape = {point_count, triangle_count, m->positions, m->triangles, m};
    lattice_graph graph;
    if (lattice_voxelise(&shape, resolution, memory, &graph, open_edges, &error) != CUTIS_OK)
        fail_msg("%s", error.text);
    return graph;
}

/* ---- voxels ---- */

static const float box_points[24] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
static const int box_triangles[36] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                      1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};

static void a_box_is_full_of_voxels(void **unused)
{
    (void)unused;
    int open_edges;
    arena memory = arena_create(NULL);
    lattice_graph graph = voxelise(box_points, 8, box_triangles, 12, 7, &memory, &open_edges);
    assert_int_equal(graph.count, 7 * 7 * 7);
    assert_int_equal(open_edges, 0);
    assert_int_equal(graph.cell_conflicts, 0);
    /* Three links inwards at a corner, six inside. */
    int links[7] = {0};
    for (int v = 0; v < graph.count; v++) {
        int count = graph.link_first[6 * v + 6] - graph.link_first[6 * v];
        assert_in_range(count, 3, 6);
        links[count]++;
    }
    assert_int_equal(links[3], 8);
    assert_int_equal(links[6], 5 * 5 * 5);
    arena_destroy(&memory);
}

static void holes_and_orientation_do_not_change_the_voxels(void **unused)
{
    (void)unused;
    int open_edges, turned[36];
    arena memory = arena_create(NULL);
    /* Without its lid, four edges are open; a cone over them is as good as the lid. */
    lattice_graph graph = voxelise(box_points, 8, box_triangles, 10, 6, &memory, &open_edges);
    assert_int_equal(open_edges, 4);
    assert_int_equal(graph.count, 6 * 6 * 6);
    for (int t = 0; t < 12; t++)
        for (int k = 0; k < 3; k++) turned[3 * t + k] = box_triangles[3 * t + 2 - k];
    graph = voxelise(box_points, 8, turned, 12, 6, &memory, &open_edges);
    assert_int_equal(graph.count, 6 * 6 * 6);
    arena_destroy(&memory);
}

/* Two legs, a fiftieth apart, joined at the top: one block, 0.3 deep. */
static void legs_make(float points[72], int triangles[132])
{
    static const float outline[24] = {0, 0,    0.49f, 0, 0.49f, 0.8f, 0.51f, 0.8f, 0.51f, 0, 1, 0,
                                      1, 0.8f, 1,     1, 0.51f, 1,    0.49f, 1,    0,     1, 0, 0.8f};
    static const int front[20] = {0, 1, 2, 11, 4, 5, 6, 3, 11, 2, 9, 10, 2, 3, 8, 9, 3, 6, 7, 8};
    int n = 0;
    for (int i = 0; i < 12; i++)
        for (int side = 0; side < 2; side++) {
            float *p = points + 3 * (i + 12 * side);
            p[0] = outline[2 * i], p[1] = outline[2 * i + 1], p[2] = side ? 0.0f : 0.3f;
        }
    for (int q = 0; q < 5; q++) {
        const int *c = front + 4 * q;
        const int both[12] = {c[0],      c[1],      c[2],      c[0],      c[2],      c[3],
                              c[0] + 12, c[2] + 12, c[1] + 12, c[0] + 12, c[3] + 12, c[2] + 12};
        memcpy(triangles + n, both, sizeof both), n += 12;
    }
    for (int i = 0; i < 12; i++) {
        int j = (i + 1) % 12;
        const int side[6] = {i, i + 12, j + 12, i, j + 12, j};
        memcpy(triangles + n, side, sizeof side), n += 6;
    }
    assert_int_equal(n, 132);
}

static void parts_that_share_cells_do_not_fuse(void **unused)
{
    (void)unused;
    float points[72];
    int triangles[132], open_edges;
    legs_make(points, triangles);
    arena memory = arena_create(NULL);
    /* An odd resolution, so that the gap runs through the middle of a row of cells. */
    lattice_graph graph = voxelise(points, 24, triangles, 44, 11, &memory, &open_edges);
    assert_int_equal(open_edges, 0);
    assert_true(graph.cell_conflicts >= 8 * 3);
    /* From foot to foot the way leads up one leg and down the other. */
    float *distance = arena_push(&memory, graph.count, sizeof(float));
    int *heap = arena_push(&memory, 2 * graph.count, sizeof(int));
    const double left[3] = {0.45, 0.05, 0.15}, right[3] = {0.55, 0.05, 0.15};
    int from = lattice_locate(&graph, 0, left), to = lattice_locate(&graph, 0, right);
    assert_true(from >= 0 && to >= 0 && from != to);
    for (int v = 0; v < graph.count; v++) distance[v] = v != from;
    lattice_distance(&graph, distance, NULL, heap);
    assert_true(distance[to] > 1.5f);
    /* At a lower resolution than the legs are wide it still holds. */
    graph = voxelise(points, 24, triangles, 44, 5, &memory, &open_edges);
    from = lattice_locate(&graph, 0, left), to = lattice_locate(&graph, 0, right);
    assert_true(from >= 0 && to >= 0 && from != to);
    arena_destroy(&memory);
}

/* Two boxes that share half their room are two bodies, at any resolution; so is one surface that enters itself. */
static void what_overlaps_does_not_fuse(void **unused)
{
    (void)unused;
    float points[48];
    int triangles[72], open_edges;
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) {
            points[3 * i + k] = box_points[3 * i + k];
            points[24 + 3 * i + k] = box_points[3 * i + k] + (k == 0 ? 0.5f : 0.1f);
        }
    for (int i = 0; i < 36; i++) {
        triangles[i] = box_triangles[i];
        triangles[36 + i] = box_triangles[i] + 8;
    }
    arena memory = arena_create(NULL);
    static const int resolutions[3] = {3, 8, 15};
    for (int r = 0; r < 3; r++) {
        lattice_graph graph = voxelise(points, 16, triangles, 24, resolutions[r], &memory, &open_edges);
        for (int v = 0; v < graph.count; v++)
            for (int i = graph.link_first[6 * v]; i < graph.link_first[6 * v + 6]; i++)
                assert_int_equal(graph.components[v], graph.components[graph.links[i]]);
        for (int p = 0; p < 16; p++) assert_int_equal(graph.components[graph.point_voxels[p]], p / 8);
    }

    /* the legs of one block, so close that they run into each other: still the way leads over the top */
    float legs[72];
    int leg_triangles[132];
    legs_make(legs, leg_triangles);
    for (int p = 0; p < 24; p++) {
        bool low = legs[3 * p + 1] < 0.1f;
        if (low && legs[3 * p] > 0.4f && legs[3 * p] < 0.5f) legs[3 * p] = 0.53f;
        if (low && legs[3 * p] > 0.5f && legs[3 * p] < 0.52f) legs[3 * p] = 0.47f;
    }
    lattice_graph graph = voxelise(legs, 24, leg_triangles, 44, 16, &memory, &open_edges);
    const double left[3] = {0.2, 0.05, 0.15}, right[3] = {0.8, 0.05, 0.15};
    int from = lattice_locate(&graph, 0, left), to = lattice_locate(&graph, 0, right);
    assert_true(from >= 0 && to >= 0);
    float *distance = arena_push(&memory, graph.count, sizeof(float));
    int *heap = arena_push(&memory, 2 * graph.count, sizeof(int));
    for (int v = 0; v < graph.count; v++) distance[v] = v != from;
    lattice_distance(&graph, distance, NULL, heap);
    assert_true(distance[to] > 1.2f);
    arena_destroy(&memory);
}

/* The knight's sword and helmet are hard, and are where the file's skinning puts them, while he swings. */
static void what_is_hard_stays_hard(void **unused)
{
    (void)unused;
    const char *path = test_model("rigs/kaykit-knight/Knight.glb");
    if (!path) skip();
    cutis_character *knight;
    cutis_error error;
    if (cutis_character_load(path, NULL, &knight, &error) != CUTIS_OK) fail_msg("%s", error.text);
    /* contact would turn joints that linear blending turns as the clip has them */
    static const char *const fixed[] = {"joints", "fixed", NULL};
    scene s = scene_make_on(knight, fixed, 0);
    scene lbs = {.character = knight, .model = test_build(knight, "lbs", NULL)};
    lbs.state = test_state(lbs.model, NULL);
    cutis_clip_motion motion = {knight, 0, 0.25};
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
    double hard = 0, most = 0;
    int hard_count = 0;
    for (int f = 0; f < 45; f++) {
        cutis_state_step(s.model, s.state, &input, 1.0 / 30);
        cutis_state_step(lbs.model, lbs.state, &input, 1.0 / 30);
        const float *p = cutis_state_positions(s.model, s.state), *q = cutis_state_positions(lbs.model, lbs.state);
        for (int part = 0; part < knight->part_count; part++) {
            const char *name = knight->parts[part].name;
            bool is_hard = strstr(name, "Sword") || strstr(name, "Shield") || strstr(name, "Helmet");
            hard_count += is_hard;
            for (int v = knight->parts[part].first_vertex;
                 v < knight->parts[part].first_vertex + knight->parts[part].vertex_count; v++) {
                double d = vec3_distance(vec3_load(p + 3 * v), vec3_load(q + 3 * v)) / knight->size;
                most = fmax(most, d);
                if (is_hard) hard = fmax(hard, d);
            }
        }
    }
    print_message("knight: hard parts within %.1e of linear blending, all within %.3f of the size\n", hard, most);
    assert_true(hard_count > 0 && hard < 1e-6 && most > 0.001 && most < 0.08);
    cutis_state_destroy(lbs.state);
    cutis_model_destroy(lbs.model);
    scene_free(&s);
}

/* ---- layers and weights ---- */

static void layers_lie_from_bone_to_skin(void **unused)
{
    (void)unused;
    scene s = scene_make("man", NULL);
    const lattice_model *m = scene_lattice(&s);
    int counts[LATTICE_LAYERS] = {0};
    for (int v = 0; v < m->count; v++) {
        double share = 0, weight = 0;
        for (int i = 0; i < LATTICE_LAYERS; i++) share += m->shares[LATTICE_LAYERS * v + i];
        for (int i = 0; i < LATTICE_JOINTS; i++) weight += m->weights[LATTICE_JOINTS * v + i];
        assert_float_equal(share, 1, 1e-5);
        assert_float_equal(weight, 1, 1e-5);
        assert_int_equal(v < m->bone_count, m->layers[v] == LATTICE_BONE);
        counts[(int)m->layers[v]]++;
    }
    assert_true(counts[LATTICE_BONE] > 50 && counts[LATTICE_MUSCLE] > 50 && counts[LATTICE_FAT] > 50);
    assert_true(counts[LATTICE_SKIN] > counts[LATTICE_FAT] && counts[LATTICE_INNER3] == 0);
    assert_int_equal(LATTICE_SKIN, 9); /* as model.h says of CUTIS_OUTPUT_ELEMENT_LAYER */
    scene_free(&s);

    /* More layers, one of them for one body part only; and none but muscle. */
    static const char *const more[] = {"inner3_ratio", "0.5", "bones.spine.fat_ratio", "0", NULL};
    s = scene_make("man", more);
    m = scene_lattice(&s);
    memset(counts, 0, sizeof counts);
    for (int v = 0; v < m->count; v++) counts[(int)m->layers[v]]++;
    assert_true(counts[LATTICE_INNER3] > 20);
    scene_free(&s);

    /* Eight between bone and skin, each further out than the one before. Flesh is few voxels thick: by shares. */
    static const char *const eight[] = {"resolution",
                                        "40",
                                        "muscle_ratio",
                                        "1",
                                        "fat_ratio",
                                        "1",
                                        "inner3_ratio",
                                        "1",
                                        "inner4_ratio",
                                        "1",
                                        "inner5_ratio",
                                        "1",
                                        "inner6_ratio",
                                        "1",
                                        "inner7_ratio",
                                        "1",
                                        "inner8_ratio",
                                        "1",
                                        NULL};
    s = scene_make("bunny", eight);
    m = scene_lattice(&s);
    double way[LATTICE_LAYERS] = {0}, voxels[LATTICE_LAYERS] = {0};
    for (int v = m->bone_count; v < m->count; v++) {
        double bone = 1, skin = 1;
        for (int w = 0; w < m->count; w++) {
            double apart = hypot(hypot(m->rest[v][0] - m->rest[w][0], m->rest[v][1] - m->rest[w][1]),
                                 m->rest[v][2] - m->rest[w][2]);
            if (w < m->bone_count) bone = fmin(bone, apart);
            if (m->layers[w] == LATTICE_SKIN) skin = fmin(skin, apart);
        }
        for (int i = 0; i < LATTICE_LAYERS; i++) {
            voxels[i] += m->shares[LATTICE_LAYERS * v + i];
            way[i] += m->shares[LATTICE_LAYERS * v + i] * bone / (bone + skin);
        }
    }
    for (int i = LATTICE_MUSCLE; i < LATTICE_SKIN; i++) {
        assert_true(voxels[i] > 20);
        if (i > LATTICE_MUSCLE) assert_true(way[i] / voxels[i] > way[i - 1] / voxels[i - 1]);
    }
    scene_free(&s);
    static const char *const one[] = {"fat_ratio", "0", "skin_layer", "off", NULL};
    s = scene_make("man", one);
    m = scene_lattice(&s);
    for (int v = m->bone_count; v < m->count; v++) assert_int_equal(m->layers[v], LATTICE_MUSCLE);
    scene_free(&s);
}

static void a_bone_is_as_wide_as_asked_for(void **unused)
{
    (void)unused;
    static const char *const thin[] = {"bone_width", "0", NULL}, *const wide[] = {"bone_width", "0.06", NULL};
    static const char *const part[] = {"bone_width", "0", "bones.head.bone_width", "0.1", NULL};
    scene a = scene_make("man", thin), b = scene_make("man", wide), c = scene_make("man", part);
    int few = scene_lattice(&a)->bone_count, many = scene_lattice(&b)->bone_count, some = scene_lattice(&c)->bone_count;
    assert_true(few > 20 && many > 3 * few && some > few && some < many);
    scene_free(&a), scene_free(&b), scene_free(&c);
}

static void painted_maps_tell_what_is_stiff_fat_and_frozen(void **unused)
{
    (void)unused;
    cutis_character *plain, *painted;
    cutis_error error;
    assert_int_equal(test_tube(NULL, &plain, &error), CUTIS_OK);
    float *values = malloc(sizeof(float) * plain->vertex_count), *none = calloc(plain->vertex_count, sizeof(float));
    /* The further half of the tube only follows the skeleton; there is no fat; stiffness is halved. */
    for (int v = 0; v < plain->vertex_count; v++) values[v] = plain->positions[3 * v] > 1 ? 1.0f : 0.0f;
    float *half = malloc(sizeof(float) * plain->vertex_count);
    for (int v = 0; v < plain->vertex_count; v++) half[v] = 0.5f;
    const cutis_map maps[3] = {{"freeze", values}, {"fat", none}, {"stiffness", half}};
    cutis_character given = *plain;
    given.maps = maps, given.map_count = 3;
    assert_int_equal(cutis_character_create(&given, NULL, &painted, &error), CUTIS_OK);
    scene a = scene_make_on(plain, NULL, 0), b = scene_make_on(painted, NULL, 0);
    const lattice_model *m = scene_lattice(&a), *n = scene_lattice(&b);
    assert_int_equal(m->count, n->count);
    int fat[2] = {0}, softer = 0;
    for (int v = 0; v < m->count; v++) {
        fat[0] += m->layers[v] == LATTICE_FAT, fat[1] += n->layers[v] == LATTICE_FAT;
        softer += v >= m->bone_count && n->gains[v] < m->gains[v];
    }
    assert_true(fat[0] > 0 && fat[1] == 0 && softer > (m->count - m->bone_count) / 2);
    scene_play(&b, "bend", 60, 30, NULL);
    cutis_output voxels, targets;
    assert_true(cutis_state_output(b.model, b.state, "voxels", &voxels));
    assert_true(cutis_state_output(b.model, b.state, "targets", &targets));
    double frozen = 0, free_flesh = 0;
    for (int v = n->bone_count; v < n->count; v++) {
        double d = vec3_distance(vec3_load(voxels.values + 3 * v), vec3_load(targets.values + 3 * v));
        if (n->freezes[v] == 1)
            frozen = fmax(frozen, d);
        else
            free_flesh = fmax(free_flesh, d);
    }
    assert_true(frozen < 1e-6 && free_flesh > 1e-3);

    /* what is frozen is where linear blending puts it, whatever the flesh beside it does */
    cutis_model *plain_model = test_build(painted, "lbs", NULL);
    cutis_state *plain_state = test_state(plain_model, NULL);
    scene lbs = {.character = painted, .model = plain_model, .state = plain_state};
    scene_play(&lbs, "bend", 60, 30, NULL);
    const float *p = cutis_state_positions(b.model, b.state), *q = cutis_state_positions(lbs.model, lbs.state);
    double still = 0, moved = 0;
    for (int v = 0; v < painted->vertex_count; v++) {
        double d = vec3_distance(vec3_load(p + 3 * v), vec3_load(q + 3 * v)) / painted->size;
        if (values[v] == 1)
            still = fmax(still, d);
        else
            moved = fmax(moved, d);
    }
    assert_true(still < 1e-6 && moved > 1e-3);
    cutis_state_destroy(plain_state);
    cutis_model_destroy(plain_model);
    free(values), free(none), free(half);
    scene_free(&a), scene_free(&b);
}

/* The artist's weights count: a voxel and the points in it follow the same joints, by default and not by distance. */
static void voxels_follow_the_weights_of_the_file(void **unused)
{
    (void)unused;
    static const char *const distance[] = {"weights", "distance", NULL};
    double differences[2];
    for (int i = 0; i < 2; i++) {
        scene s = scene_make("man", i ? distance : NULL);
        const cutis_character *c = s.character;
        const lattice_model *m = scene_lattice(&s);
        double sum = 0;
        for (int v = 0; v < c->vertex_count; v++) {
            int p = c->vertex_points[v];
            float *left = calloc(c->joint_count + 1, sizeof(float));
            for (int k = c->influence_first[v]; k < c->influence_first[v + 1]; k++)
                left[c->influence_joints[k]] += c->influence_weights[k];
            for (int k = m->surface.first[p]; k < m->surface.first[p + 1]; k++)
                for (int j = 0; j < LATTICE_JOINTS; j++)
                    left[m->joints[LATTICE_JOINTS * m->surface.voxels[k] + j]] -=
                        m->surface.weights[k] * m->weights[LATTICE_JOINTS * m->surface.voxels[k] + j];
            for (int j = 0; j < c->joint_count; j++) sum += fabs(left[j]);
            free(left);
        }
        differences[i] = sum / c->vertex_count;
        scene_free(&s);
    }
    print_message("weights of voxels against those of the points on them: %.3f by the file, %.3f by distance\n",
                  differences[0], differences[1]);
    assert_true(differences[0] < 0.5 * differences[1]);
}

/* ---- sweeps ---- */

/* The rod that owns each voxel along an axis, and its place there. */
typedef struct rod_index {
    const lattice_sweep *sweep;
    int *chains[3], *places[3]; /* (count) */
} rod_index;

static rod_index rods_index(const lattice_sweep *sweep, arena *memory)
{
    rod_index index = {.sweep = sweep};
    for (int axis = 0; axis < 3; axis++) {
        index.chains[axis] = ARENA_ARRAY(memory, int, sweep->count);
        index.places[axis] = ARENA_ARRAY(memory, int, sweep->count);
        for (int c = 0; c < sweep->chain_counts[axis]; c++) {
            const lattice_chain *chain = &sweep->chains[axis][c];
            for (int i = chain->own_first; i <= chain->own_last; i++) {
                int voxel = sweep->chain_voxels[axis][chain->first + i];
                index.chains[axis][voxel] = c;
                index.places[axis][voxel] = i;
            }
        }
    }
    return index;
}

static int region_walk(const rod_index *rods, int voxel, int axis, int *voxels, int count, int limit)
{
    if (axis < 0) {
        if (count < limit) voxels[count] = voxel;
        return count + 1;
    }
    const lattice_sweep *sweep = rods->sweep;
    int back = (sweep->region - 1) / 2, ahead = sweep->region / 2, place = rods->places[axis][voxel];
    const lattice_chain *chain = &sweep->chains[axis][rods->chains[axis][voxel]];
    for (int i = MAX(place - back, 0); i <= MIN(place + ahead, chain->count - 1); i++)
        count = region_walk(rods, sweep->chain_voxels[axis][chain->first + i], axis - 1, voxels, count, limit);
    return count;
}

/* The voxels of a region, by walking the rods one by one. Returns their count. */
static int region_voxels(const rod_index *rods, int voxel, int *voxels, int limit)
{
    /* The last pass is along z, so the walk starts there. */
    return region_walk(rods, voxel, 2, voxels, 0, limit);
}

static void sweeps_equal_sums_over_each_region(void **unused)
{
    (void)unused;
    test_is_heavy();
    static const char *const regions[] = {"2", "3", "4", "5", "6"};
    for (int i = 0; i < 5; i++) {
        const char *const texts[] = {"resolution", "20", "region", regions[i], i == 3 ? "adaptive" : NULL, "on", NULL};
        scene s = scene_make("bunny", texts);
        const lattice_model *m = scene_lattice(&s);
        arena memory = arena_create(NULL);
        rod_index rods = rods_index(&m->sweep, &memory);
        quad *positions = ARENA_ARRAY(&memory, quad, m->padded);
        lattice_frame *in = ARENA_ARRAY(&memory, lattice_frame, m->padded),
                      *a = ARENA_ARRAY(&memory, lattice_frame, m->padded),
                      *b = ARENA_ARRAY(&memory, lattice_frame, m->padded);
        uint32_t seed = 7;
        for (int v = 0; v < m->count; v++) {
            for (int k = 0; k < 3; k++) positions[v][k] = (m->rest[v][k] + 0.02f * noise(&seed)) * m->masses[v];
            positions[v][3] = m->masses[v];
            in[v].b = (quad){noise(&seed), noise(&seed), noise(&seed), 1};
            for (int k = 0; k < 3; k++) in[v].r[k] = (quad){noise(&seed), noise(&seed), noise(&seed), 0};
        }
        double centroid_error = 0, moment_error = 0;
        int found[512], largest = 0;
        lattice_sum_moments(&m->sweep, positions, a, b, NULL);
        for (int v = 0; v < m->count; v += 7) {
            int count = region_voxels(&rods, v, found, 512);
            double sum[4] = {0}, moments[3][3] = {{0}};
            largest = MAX(largest, count);
            for (int j = 0; j < count; j++)
                for (int k = 0; k < 4; k++) {
                    sum[k] += positions[found[j]][k];
                    for (int n = 0; n < 3 && k < 3; n++)
                        moments[n][k] += (double)positions[found[j]][k] * (m->rest[found[j]][n] - m->rest[v][n]);
                }
            for (int k = 0; k < 3; k++) {
                centroid_error = fmax(centroid_error, fabs(sum[k] / sum[3] - a[v].b[k] / a[v].b[3]));
                for (int n = 0; n < 3; n++)
                    moment_error = fmax(moment_error, fabs(moments[n][k] - a[v].r[n][k]) / sum[3]);
            }
        }
        print_message(
            "d_r %s: regions of up to %d voxels; sweeps against sums: centroid %.1e, moments %.1e of the size\n",
            regions[i], largest, centroid_error, moment_error);
        assert_true(centroid_error < 1e-5 && moment_error < 1e-5);
        assert_true(largest <= (i + 2) * (i + 2) * (i + 2));
        if (i < 3) assert_int_equal(largest, (i + 2) * (i + 2) * (i + 2));
        arena_destroy(&memory);
        scene_free(&s);
    }
}

/*
 * The second sum is the transpose of the first: a voxel gets the maps of exactly those regions that it is in, for every
 * pair, on shapes where parts meet and where voxels of several sizes do.
 */
static void regions_hold_what_is_in_them(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *resolution, *region, *adaptive;
    } cases[] = {{"bunny", "20", "2", "off"}, {"bunny", "20", "3", "off"}, {"hand", "24", "5", "off"},
                 {"man", "24", "4", "off"},   {"bunny", "16", "3", "on"},  {"man", "16", "6", "on"}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        const char *const texts[] = {"resolution", cases[i].resolution, "region", cases[i].region,
                                     "adaptive",   cases[i].adaptive,   NULL};
        scene s = scene_make(cases[i].name, texts);
        const lattice_model *m = scene_lattice(&s);
        arena memory = arena_create(NULL);
        rod_index rods = rods_index(&m->sweep, &memory);
        lattice_frame *in = ARENA_ARRAY(&memory, lattice_frame, m->padded),
                      *a = ARENA_ARRAY(&memory, lattice_frame, m->padded),
                      *b = ARENA_ARRAY(&memory, lattice_frame, m->padded),
                      *loans = ARENA_ARRAY(&memory, lattice_frame, m->sweep.loan_most + 1);
        double *goals = ARENA_ARRAY(&memory, double, 4 * m->count);
        uint32_t seed = 7;
        for (int v = 0; v < m->count; v++) {
            in[v].b = (quad){noise(&seed), noise(&seed), noise(&seed), 1};
            for (int k = 0; k < 3; k++) in[v].r[k] = (quad){noise(&seed), noise(&seed), noise(&seed), 0};
        }

        /* hand the map of each region to its voxels, one by one */
        int found[512];
        for (int r = 0; r < m->count; r++) {
            int count = region_voxels(&rods, r, found, 512);
            for (int j = 0; j < count; j++)
                for (int k = 0; k < 4; k++) {
                    double goal = in[r].b[k];
                    for (int n = 0; n < 3; n++) goal += (double)in[r].r[n][k] * (m->rest[found[j]][n] - m->rest[r][n]);
                    goals[4 * found[j] + k] += goal;
                }
        }
        lattice_sum_frames(&m->sweep, in, a, b, loans, NULL);
        double most = 0;
        int borrowed = 0;
        for (int axis = 0; axis < 3; axis++) borrowed += m->sweep.lender_counts[axis];
        for (int v = 0; v < m->count; v++) {
            /* the count is exact: no region too many, none missing */
            assert_true(a[v].b[3] == goals[4 * v + 3]);
            for (int k = 0; k < 3; k++) most = fmax(most, fabs(goals[4 * v + k] - a[v].b[k]) / goals[4 * v + 3]);
        }
        print_message("%s: %d voxels, %d borrowed; goals against sums: %.1e of the size\n", cases[i].name, m->count,
                      borrowed, most);
        assert_true(most < 1e-5);
        arena_destroy(&memory);
        scene_free(&s);
    }
}

/* ---- kernels ---- */

/* Equation 11 by its eight terms, the third as printed or with the sign that makes it a volume. */
static double volume_terms(const double p[6][3], bool printed)
{
    enum { XM, XP, YM, YP, ZM, ZP };
    const int terms[8][3] = {{XP, YP, ZP}, {XP, YM, ZM}, {printed ? XP : XM, YP, ZM},
                             {XM, YM, ZP}, {ZP, YP, XM}, {ZP, YM, XP},
                             {ZM, YP, XP}, {ZM, YM, XM}};
    double volume = 0;
    for (int i = 0; i < 8; i++) {
        const double *a = p[terms[i][0]], *b = p[terms[i][1]], *c = p[terms[i][2]];
        volume += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                  a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return volume;
}

static void volume_and_gradient_are_those_of_the_corrected_equations(void **unused)
{
    (void)unused;
    uint32_t seed = 3;
    double p[6][3];
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 3; k++) p[i][k] = (k == i / 2 ? (i & 1 ? 0.5 : -0.5) : 0) + 0.2 * noise(&seed) + 0.7;
    float d[3][3], gradients[9];
    for (int axis = 0; axis < 3; axis++)
        for (int k = 0; k < 3; k++) d[axis][k] = (float)(p[2 * axis + 1][k] - p[2 * axis][k]);
    double volume = lattice_volume_of(d[0], d[1], d[2], gradients);
    assert_float_equal(volume, volume_terms(p, false), 1e-5);
    /* As printed the sum is no volume: it changes when the voxel is only moved. */
    double moved[6][3];
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 3; k++) moved[i][k] = p[i][k] + 0.5;
    assert_float_equal(volume_terms(moved, false), volume, 1e-5);
    assert_true(fabs(volume_terms(moved, true) - volume_terms(p, true)) > 0.05);
    /* Gradients to all six points against finite differences. */
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 3; k++) {
            double keep = p[i][k], step = 1e-6;
            p[i][k] = keep + step;
            double above = volume_terms(p, false);
            p[i][k] = keep - step;
            double below = volume_terms(p, false);
            p[i][k] = keep;
            assert_float_equal((i & 1 ? 1 : -1) * gradients[3 * (i / 2) + k], (above - below) / (2 * step), 1e-4);
        }
}

static void region_rotations_are_polar_decompositions(void **unused)
{
    (void)unused;
    enum { N = 64 };
    static float offset[3][N], inverse_mass[N], shape[6][N], prior[3][N], rotations[4 * N], counts[N], stiffness[N];
    static uint8_t thin[N];
    static lattice_frame moments[N], priors[N], frames[N];
    lattice_regions regions = {
        .count = N, .padded = N, .inverse_mass = inverse_mass, .thin = thin, .inverse_counts = counts};
    for (int k = 0; k < 3; k++) regions.offset[k] = offset[k], regions.prior[k] = prior[k];
    for (int i = 0; i < 6; i++) regions.shape[i] = shape[i];
    for (int v = 0; v < N; v++) stiffness[v] = 1;
    regions.stiffness = stiffness;
    uint32_t seed = 11;
    mat3 a[N];
    for (int v = 0; v < N; v++) {
        /* A rotation of up to a radian, times a stretch. */
        vec3 axis = vec3_normalize(vec3_make(noise(&seed), noise(&seed), noise(&seed)));
        mat3 r = quat_matrix(quat_axis_angle(axis, noise(&seed))), stretch = {{0}};
        for (int i = 0; i < 3; i++)
            for (int k = i; k < 3; k++)
                stretch.m[3 * i + k] = stretch.m[3 * k + i] = 0.2f * noise(&seed) + (i == k ? 1 : 0);
        a[v] = mat3_multiply(r, stretch);
        inverse_mass[v] = 1, rotations[3 * N + v] = 1;
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) moments[v].r[k][i] = a[v].m[3 * i + k];
    }
    for (int i = 0; i < 4; i++) lattice_rotations(&regions, moments, priors, rotations, frames, NULL);
    for (int v = 0; v < N; v++) {
        mat3 r = quat_matrix(polar_rotation(a[v], quat_identity(), 100));
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) assert_float_equal(frames[v].r[k][i] + (i == k), r.m[3 * i + k], 1e-5);
    }
}

/* ---- surface ---- */

/* A smooth motion of the voxels moves the surface smoothly: no step of its slope where voxels meet. */
static void the_grid_does_not_show(void **unused)
{
    (void)unused;
    enum { STRIP = 1201 };
    int open_edges;
    arena memory = arena_create(NULL);
    lattice_graph graph = voxelise(box_points, 8, box_triangles, 12, 6, &memory, &open_edges);
    float *points = ARENA_ARRAY(&memory, float, 3 * STRIP), *moved = ARENA_ARRAY(&memory, float, 3 * STRIP);
    graph.point_voxels = ARENA_ARRAY(&memory, int, STRIP);
    for (int i = 0; i < STRIP; i++) {
        double place[3] = {0.1 + 0.8 * i / (STRIP - 1), 0.31, 1};
        for (int k = 0; k < 3; k++) points[3 * i + k] = (float)place[k];
        place[2] = 0.999;
        graph.point_voxels[i] = lattice_locate(&graph, 0, place);
    }
    lattice_surface surface;
    assert_int_equal(lattice_embed(&graph, points, STRIP, NULL, &memory, &surface, NULL), CUTIS_OK);
    quad *displacements = ARENA_ARRAY(&memory, quad, graph.count);
    uint32_t seed = 5;
    for (int v = 0; v < graph.count; v++) displacements[v] = (quad){0, 0, 0.1f * noise(&seed), 0};
    memcpy(moved, points, sizeof(float) * 3 * STRIP);
    lattice_surface_displace(&surface, displacements, 1, moved, NULL);
    double slope_most = 0, bend_most = 0;
    for (int i = 1; i + 1 < STRIP; i++) {
        double step = 0.8 / (STRIP - 1);
        double before = (moved[3 * i + 2] - moved[3 * i - 1]) / step,
               after = (moved[3 * i + 5] - moved[3 * i + 2]) / step;
        slope_most = fmax(slope_most, fabs(after)), bend_most = fmax(bend_most, fabs(after - before));
    }
    /* A slope of order 0.1 / (1/6); a kink would change it at once by as much. */
    assert_true(slope_most > 0.1);
    assert_true(bend_most < 0.02 * slope_most);

    /* a displacement that is linear in the rest place is met, although the points are on the rim of their voxels */
    double most = 0;
    for (int v = 0; v < graph.count; v++) {
        const float *at = graph.rest + 4 * v;
        displacements[v] = (quad){0.2f * at[2], 0.1f * at[0], 0.3f * at[1] - 0.2f * at[2], 0};
    }
    memcpy(moved, points, sizeof(float) * 3 * STRIP);
    lattice_surface_displace(&surface, displacements, 1, moved, NULL);
    for (int i = 0; i < STRIP; i++) {
        const float *at = points + 3 * i;
        vec3 expected = {at[0] + 0.2f * at[2], at[1] + 0.1f * at[0], at[2] + 0.3f * at[1] - 0.2f * at[2]};
        most = fmax(most, vec3_distance(expected, vec3_load(moved + 3 * i)));
    }
    /* the mean of the voxels alone is wrong by half an edge times the slope, 0.03 */
    print_message("linear displacement met within %.4f\n", most);
    assert_true(most < 0.004);
    arena_destroy(&memory);
}

/* Two slabs that lie on each other and follow the same joints move as one, whatever their voxels do; if they follow
 * others, each by itself. */
static void what_lies_on_each_other_moves_as_one(void **unused)
{
    (void)unused;
    for (int apart = 0; apart < 2; apart++) {
        float points[48], weights[32];
        int face_first[25], corners[72], first[17], influences[32];
        for (int f = 0; f <= 24; f++) face_first[f] = 3 * f;
        for (int i = 0; i < 16; i++) {
            for (int k = 0; k < 3; k++) points[3 * i + k] = box_points[3 * (i % 8) + k] * (k == 1 ? 0.2f : 1);
            points[3 * i + 1] += i < 8 ? 0 : 0.201f;
            first[i] = 2 * i;
            for (int k = 0; k < 2; k++) {
                influences[2 * i + k] = (apart && i >= 8 ? 2 : 0) + k;
                weights[2 * i + k] = (k == 0) == (points[3 * i] < 0.5f) ? 0.7f : 0.3f;
            }
        }
        first[16] = 32;
        for (int i = 0; i < 72; i++) corners[i] = box_triangles[i % 36] + (i < 36 ? 0 : 8);
        cutis_joint joints[4];
        for (int j = 0; j < 4; j++) {
            cutis_transform place = {{0.2f + 0.6f * (j & 1), j < 2 ? 0.1f : 0.3f, 0.5f}, {0, 0, 0, 1}, {1, 1, 1}};
            static const char *const names[4] = {"a", "b", "c", "d"};
            joints[j] = (cutis_joint){.name = names[j], .parent = -1, .rest = place, .idle = place};
            float *bind = joints[j].inverse_bind;
            bind[0] = bind[5] = bind[10] = 1;
            for (int k = 0; k < 3; k++) bind[4 * k + 3] = -place.translation[k];
        }
        cutis_character given = {.name = "slabs",
                                 .vertex_count = 16,
                                 .positions = points,
                                 .face_count = 24,
                                 .face_first = face_first,
                                 .corners = corners,
                                 .influence_first = first,
                                 .influence_joints = influences,
                                 .influence_weights = weights,
                                 .joint_count = 4,
                                 .joints = joints};
        cutis_character *slabs;
        cutis_error error;
        if (cutis_character_create(&given, NULL, &slabs, &error) != CUTIS_OK) fail_msg("%s", error.text);
        static const char *const texts[] = {"resolution", "10", NULL};
        scene s = scene_make_on(slabs, texts, 0);
        const lattice_model *m = scene_lattice(&s);

        /* all voxels move at random; corners of the lower one's top, and of the upper one's bottom on them */
        static const int top[4] = {2, 3, 6, 7}, bottom[4] = {8 + 1, 8 + 0, 8 + 5, 8 + 4};
        quad *moves = calloc((size_t)m->padded, sizeof *moves);
        uint32_t seed = 3;
        for (int v = 0; v < m->count; v++) moves[v][1] = noise(&seed);
        double moved = 0, torn = 0;
        for (int i = 0; i < 4; i++) {
            double a = lattice_surface_displacement(&m->surface, slabs->vertex_points[top[i]], moves)[1];
            double b = lattice_surface_displacement(&m->surface, slabs->vertex_points[bottom[i]], moves)[1];
            moved += 0.125 * (fabs(a) + fabs(b));
            torn += 0.25 * fabs(a - b);
        }
        print_message("slabs of %s joints: move by %.3f, apart by %.3f\n", apart ? "other" : "the same", moved, torn);
        assert_true(apart ? torn > 0.5 * moved : torn < 0.1 * moved);
        free(moves);
        scene_free(&s);
    }
}

/* ---- motion ---- */

static void rest_is_exact(void **unused)
{
    (void)unused;
    /* Also where parts meet in one voxel, as fingers do in a coarse lattice, and without damping. */
    static const char *const coarse[] = {"resolution", "12",           "inertia", "1", "fat_damping",
                                         "0",          "skin_damping", "0",       NULL};
    for (int i = 0; i < 2; i++) {
        scene s = scene_make("man", i ? coarse : NULL);
        double size = s.character->size;
        int count = s.character->vertex_count;
        const float *p = cutis_state_positions(s.model, s.state);
        assert_true(distance_max(p, s.character->positions, count) < 1e-6 * size);
        /* And stays so. */
        float *rest = malloc(sizeof(float) * 12 * s.character->joint_count);
        cutis_pose_rest(s.character, rest);
        cutis_step_input input = {.joints = rest};
        for (int f = 0; f < 300; f++) cutis_state_step(s.model, s.state, &input, 1.0 / 60);
        assert_true(distance_max(p, s.character->positions, count) < 1e-5 * size);
        free(rest);
        scene_free(&s);
    }
}

/* The rest pose turned about an axis and moved. */
static void rigid_pose(const cutis_character *c, vec3 axis, double angle, const double shift[3], float *joints,
                       mat34 *motion)
{
    *motion = mat34_compose(vec3_make((float)shift[0], (float)shift[1], (float)shift[2]), quat_axis_angle(axis, angle),
                            vec3_make(1, 1, 1));
    cutis_pose_rest(c, joints);
    for (int j = 0; j < c->joint_count; j++) {
        mat34 m;
        memcpy(&m, joints + 12 * j, sizeof m);
        m = mat34_multiply(*motion, m);
        memcpy(joints + 12 * j, &m, sizeof m);
    }
}

static double rigid_deformation(const scene *s, const mat34 *motion)
{
    double most = 0;
    const float *p = cutis_state_positions(s->model, s->state);
    for (int v = 0; v < s->character->vertex_count; v++) {
        vec3 expected = mat34_point(motion->m, vec3_load(s->character->positions + 3 * v));
        most = fmax(most, vec3_distance(expected, vec3_load(p + 3 * v)));
    }
    return most / s->character->size;
}

static void rigid_motion_with(const char *const *texts, vec3 axis)
{
    scene s = scene_make("man", texts);
    float *joints = malloc(sizeof(float) * 12 * s.character->joint_count);
    mat34 motion;
    cutis_step_input input = {.joints = joints};
    double on_the_way = 0;
    for (int i = 0; i < 420; i++) {
        /* Two seconds of turning and travelling, then five of standing still. */
        double t = fmin(i / 120.0, 1), eased = t * t * (3 - 2 * t), shift[3] = {3 * eased, eased, -2 * eased};
        rigid_pose(s.character, axis, 2.5 * eased, shift, joints, &motion);
        cutis_state_step(s.model, s.state, &input, 1.0 / 60);
        on_the_way = fmax(on_the_way, rigid_deformation(&s, &motion));
    }
    double settled = rigid_deformation(&s, &motion);
    print_message("rigid motion: %.1e of the size on the way, %.1e once settled\n", on_the_way, settled);
    assert_true(settled < 1e-5);
    assert_true(on_the_way < 0.05);
    free(joints);
    scene_free(&s);
}

/* About the vertical the weight stays where it is on the body; about a slanted axis only flesh without weight does. */
static void rigid_motion_leaves_no_deformation(void **unused)
{
    (void)unused;
    static const char *const weightless[] = {"gravity", "0", NULL};
    rigid_motion_with(NULL, vec3_make(0, 1, 0));
    rigid_motion_with(weightless, vec3_normalize(vec3_make(0.3f, 1, 0.2f)));
}

static void travelling_evenly_leaves_no_deformation_at_all(void **unused)
{
    (void)unused;
    scene s = scene_make("arm", NULL);
    float *joints = malloc(sizeof(float) * 12 * s.character->joint_count);
    mat34 motion;
    cutis_step_input input = {.joints = joints};
    for (int i = 0; i < 240; i++) {
        double shift[3] = {0.005 * i, 0.002 * i, 0};
        rigid_pose(s.character, vec3_make(0, 1, 0), 0, shift, joints, &motion);
        cutis_state_step(s.model, s.state, &input, 1.0 / 60);
    }
    double deformation = rigid_deformation(&s, &motion);
    print_message("even travel: %.1e of the size\n", deformation);
    assert_true(deformation < 1e-5);
    free(joints);
    scene_free(&s);
}

static void teleport_moves_everything_along(void **unused)
{
    (void)unused;
    scene s = scene_make("arm", NULL);
    cutis_state *other = test_state(s.model, NULL);
    scene_play(&s, "shake", 60, 70, NULL);
    cutis_state_copy(s.model, other, s.state);
    mat34 move = mat34_compose(vec3_make(3, -1, 2), quat_axis_angle(vec3_make(0, 1, 0), 2), vec3_make(1, 1, 1));
    cutis_state_teleport(s.model, other, move.m);
    float *joints = malloc(sizeof(float) * 12 * s.character->joint_count);
    for (int i = 0; i < 20; i++) {
        cutis_pose_sample(s.character, 2, 1 + i / 60.0, joints);
        cutis_step_input input = {.joints = joints};
        cutis_state_step(s.model, s.state, &input, 1.0 / 60);
        for (int j = 0; j < s.character->joint_count; j++) {
            mat34 m;
            memcpy(&m, joints + 12 * j, sizeof m);
            m = mat34_multiply(move, m);
            memcpy(joints + 12 * j, &m, sizeof m);
        }
        cutis_state_step(s.model, other, &input, 1.0 / 60);
    }
    const float *a = cutis_state_positions(s.model, s.state), *b = cutis_state_positions(s.model, other);
    double most = 0;
    for (int v = 0; v < s.character->vertex_count; v++)
        most = fmax(most, vec3_distance(mat34_point(move.m, vec3_load(a + 3 * v)), vec3_load(b + 3 * v)));
    assert_true(most < 1e-3 * s.character->size);
    free(joints);
    cutis_state_destroy(other);
    scene_free(&s);
}

static void frame_rate_does_not_matter(void **unused)
{
    (void)unused;
    static const double rates[] = {24, 30, 60, 120};
    uint64_t hash = 0;
    for (int i = 0; i < 4; i++) {
        scene s = scene_make("arm", NULL);
        scene_play(&s, "shake", rates[i], (int)rates[i], NULL);
        uint64_t now =
            hash_bytes(cutis_state_positions(s.model, s.state), sizeof(float) * 3 * s.character->vertex_count, 0);
        if (i) assert_true(now == hash);
        hash = now;
        scene_free(&s);
    }
}

/* Stiffness and damping mean the same at other substeps: the flesh of a shaken arm moves alike. */
static void substep_hardly_matters(void **unused)
{
    (void)unused;
    test_is_heavy();
    double jiggle[3];
    static const double substeps[3] = {1.0 / 120, 1.0 / 240, 1.0 / 480};
    for (int i = 0; i < 3; i++) {
        cutis_character *character = test_zoo("arm", 1);
        scene s = scene_make_on(character, NULL, substeps[i]);
        cutis_clip_motion motion = {character, cutis_character_find_clip(character, "shake"), 0.25};
        cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
        double sum = 0;
        long count = 0;
        for (int f = 0; f < 120; f++) {
            cutis_state_step(s.model, s.state, &input, 1.0 / 60);
            cutis_output voxels, targets;
            assert_true(cutis_state_output(s.model, s.state, "voxels", &voxels));
            assert_true(cutis_state_output(s.model, s.state, "targets", &targets));
            for (int k = 0; k < 3 * voxels.count; k++, count++) {
                double d = voxels.values[k] - targets.values[k];
                sum += d * d;
            }
        }
        jiggle[i] = sqrt(sum / count) / character->size;
        scene_free(&s);
    }
    print_message("jiggle at substeps of 1/120, 1/240, 1/480 s: %.4f %.4f %.4f of the size\n", jiggle[0], jiggle[1],
                  jiggle[2]);
    assert_true(fabs(jiggle[0] / jiggle[1] - 1) < 0.25 && fabs(jiggle[1] / jiggle[2] - 1) < 0.25);
}

static void units_do_not_matter(void **unused)
{
    (void)unused;
    cutis_character *metres, *centimetres;
    cutis_error error;
    assert_int_equal(test_tube(NULL, &metres, &error), CUTIS_OK);
    /* The same tube, a hundred times as large. */
    cutis_character given = *metres;
    float *positions = malloc(sizeof(float) * 3 * given.vertex_count);
    cutis_joint *joints = malloc(sizeof *joints * given.joint_count);
    for (int i = 0; i < 3 * given.vertex_count; i++) positions[i] = 100 * given.positions[i];
    memcpy(joints, given.joints, sizeof *joints * given.joint_count);
    for (int j = 0; j < given.joint_count; j++)
        for (int k = 0; k < 3; k++) {
            joints[j].rest.translation[k] *= 100, joints[j].idle.translation[k] *= 100;
            joints[j].inverse_bind[4 * k + 3] *= 100;
        }
    given.positions = positions, given.joints = joints;
    assert_int_equal(cutis_character_create(&given, NULL, &centimetres, &error), CUTIS_OK);
    scene a = scene_make_on(metres, NULL, 0), b = scene_make_on(centimetres, NULL, 0);
    scene_play(&a, "bend", 60, 60, NULL), scene_play(&b, "bend", 60, 60, NULL);
    const float *p = cutis_state_positions(a.model, a.state), *q = cutis_state_positions(b.model, b.state);
    double most = 0;
    for (int i = 0; i < 3 * metres->vertex_count; i++) most = fmax(most, fabs(q[i] / 100 - p[i]));
    assert_true(most < 1e-3 * metres->size);
    free(positions), free(joints);
    scene_free(&a), scene_free(&b);
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    cutis_pool *pool;
    assert_int_equal(cutis_pool_create(3, NULL, &pool, NULL), CUTIS_OK);
    const cutis_jobs *jobs[3] = {NULL, cutis_pool_jobs(pool), &test_jobs_backward};
    uint64_t hash = 0;
    for (int i = 0; i < 3; i++) {
        scene s = scene_make("man", NULL);
        scene_play(&s, "jump", 60, 45, jobs[i]);
        uint64_t now = cutis_state_hash(s.model, s.state);
        if (i) assert_true(now == hash);
        hash = now;
        scene_free(&s);
    }
    cutis_pool_destroy(pool);
}

static void a_mesh_without_skeleton_stays_put(void **unused)
{
    (void)unused;
    int face_first[13], corners[36];
    for (int f = 0; f <= 12; f++) face_first[f] = 3 * f;
    memcpy(corners, box_triangles, sizeof corners);
    cutis_character given = {.name = "box",
                             .vertex_count = 8,
                             .positions = box_points,
                             .face_count = 12,
                             .face_first = face_first,
                             .corners = corners};
    cutis_character *box;
    assert_int_equal(cutis_character_create(&given, NULL, &box, NULL), CUTIS_OK);
    static const char *const texts[] = {"resolution", "8", NULL};
    scene s = scene_make_on(box, texts, 0);
    cutis_drag drag = {6, {1.5f, 1.5f, 1.5f}, 1};
    cutis_step_input input = {.drags = &drag, .drag_count = 1};
    for (int i = 0; i < 30; i++) cutis_state_step(s.model, s.state, &input, 1.0 / 60);
    const float *p = cutis_state_positions(s.model, s.state);
    assert_float_equal(p[18], 1.5, 0.02);
    input.drag_count = 0;
    for (int i = 0; i < 240; i++) cutis_state_step(s.model, s.state, &input, 1.0 / 60);
    double back = distance_max(cutis_state_positions(s.model, s.state), box_points, 8);
    print_message("box, dragged by a corner and let go: back within %.3f\n", back);
    assert_true(back < 0.01);
    scene_free(&s);
}

/* ---- frequency, damping, energy ---- */

static lattice_state scene_state(const scene *s)
{
    lattice_state view;
    lattice_state_view(scene_lattice(s), (char *)s->state + s->model->stages[0].state, &view);
    return view;
}

/* Flesh that is the same everywhere, as that whose frequency is measured. */
#define UNIFORM "anatomy", "0", "gravity", "0"

/*
 * A slab whose lower half is frozen, so that flesh a tenth of the size thick swings on it. One stiffness throughout, no
 * damping unless told.
 */
static scene slab_make(const char *stiffness, const char *damping, const char *resolution, const char *region,
                       double substep)
{
    float points[24], freeze[8];
    int face_first[13], corners[36];
    for (int f = 0; f <= 12; f++) face_first[f] = 3 * f;
    memcpy(corners, box_triangles, sizeof corners);
    /* 0.6 x 0.1732 x 0.6: the thickness is a fifth of the diagonal */
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 3; k++) points[3 * i + k] = box_points[3 * i + k] * (k == 1 ? 0.1732f : 0.6f);
        freeze[i] = points[3 * i + 1] > 0.1f ? 0.0f : 1.0f;
    }
    const cutis_map map = {"freeze", freeze};
    cutis_character given = {.name = "slab",
                             .vertex_count = 8,
                             .positions = points,
                             .face_count = 12,
                             .face_first = face_first,
                             .corners = corners,
                             .maps = &map,
                             .map_count = 1};
    cutis_character *slab;
    assert_int_equal(cutis_character_create(&given, NULL, &slab, NULL), CUTIS_OK);
    const char *const texts[] = {"resolution",     resolution,      "region",      region,           "muscle_stiffness",
                                 stiffness,        "fat_stiffness", stiffness,     "skin_stiffness", stiffness,
                                 "muscle_damping", damping,         "fat_damping", damping,          "skin_damping",
                                 damping,          UNIFORM,         NULL};
    scene s = scene_make_on(slab, texts, substep);
    /* the map goes to the nearest points; here height decides */
    const lattice_model *m = scene_lattice(&s);
    float *freezes = (float *)m->freezes;
    for (int v = 0; v < m->count; v++) freezes[v] = m->rest[v][1] > 0 ? 0.0f : 1.0f;
    return s;
}

/* Frequency of the slab after a kick to the side, from `periods` periods of its top. */
static double slab_frequency(scene *s, int periods)
{
    const lattice_model *m = scene_lattice(s);
    lattice_state state = scene_state(s);
    double thickness = 0.0866 / s->character->size, top = 0;
    for (int v = 0; v < m->count; v++) top = fmax(top, m->rest[v][1]);
    for (int v = m->bone_count; v < m->count; v++)
        if (m->rest[v][1] > 0) state.velocities[v][0] = 0.01f * (float)sin(1.5708 * m->rest[v][1] / thickness);
    double last = 0, first_crossing = -1, crossing = -1;
    int crossings = 0;
    cutis_step_input input = {0};
    for (int i = 1; i < 100000 && crossings < 2 * periods + 1; i++) {
        cutis_state_step(s->model, s->state, &input, m->substep);
        double mean = 0;
        int count = 0;
        for (int v = m->bone_count; v < m->count; v++) {
            if (m->rest[v][1] < top - 1e-4 || fabs(m->rest[v][0]) > 0.15 || fabs(m->rest[v][2]) > 0.15) continue;
            mean += state.deviations[v][0];
            count++;
        }
        mean /= count;
        if (i > 1 && (mean > 0) != (last > 0)) {
            crossing = (i - mean / (mean - last)) * m->substep;
            if (first_crossing < 0) first_crossing = crossing;
            crossings++;
        }
        last = mean;
    }
    return periods / (crossing - first_crossing);
}

/* A layer's stiffness is the frequency at which its flesh swings, at any substep, resolution and region width. */
static void stiffness_is_a_frequency(void **unused)
{
    (void)unused;
    test_is_heavy();
    static const struct {
        const char *stiffness, *resolution, *region;
        double substep;
    } cases[] = {{"4", "28", "3", 1.0 / 120}, {"4", "28", "3", 1.0 / 240}, {"4", "28", "3", 1.0 / 480},
                 {"4", "28", "5", 1.0 / 120}, {"4", "56", "5", 1.0 / 120}, {"4", "56", "7", 1.0 / 120},
                 {"4", "42", "3", 1.0 / 480}, {"4", "28", "5", 1.0 / 60},  {"2", "28", "3", 1.0 / 120},
                 {"8", "28", "5", 1.0 / 240}, {"4", "42", "4", 1.0 / 240}};
    double worst = 0;
    for (int i = 0; i < COUNT_OF(cases); i++) {
        scene s = slab_make(cases[i].stiffness, "0", cases[i].resolution, cases[i].region, cases[i].substep);
        double asked = strtod(cases[i].stiffness, NULL), found = slab_frequency(&s, 2);
        print_message("%s Hz, resolution %s, region %s, substep 1/%.0f: %.2f Hz\n", cases[i].stiffness,
                      cases[i].resolution, cases[i].region, 1 / cases[i].substep, found);
        worst = fmax(worst, fabs(found / asked - 1));
        scene_free(&s);
    }
    assert_true(worst < 0.1);
}

/* The default width of a region reaches the default stiffness at any usual resolution, slender or squat: no warning. */
static void default_stiffness_is_reached(void **unused)
{
    (void)unused;
    static const char *const names[] = {"arm", "man", "hand"};
    static const char *const resolutions[] = {"16", "24", "32", "40", "48"};
    for (int i = 0; i < COUNT_OF(names) * COUNT_OF(resolutions); i++) {
        const char *resolution = resolutions[i % COUNT_OF(resolutions)];
        const char *const texts[] = {"resolution", resolution, NULL};
        scene s = scene_make(names[i / COUNT_OF(resolutions)], texts);
        cutis_model_info info = cutis_model_get_info(s.model);
        if (info.warning_count) fail_msg("%s at resolution %s: %s", s.character->name, resolution, info.warnings[0]);

        /* no region is at the limit, where flesh would be softer than its frequency says */
        const lattice_model *m = scene_lattice(&s);
        for (int v = 0; v < m->count; v++) assert_true(m->regions.stiffness[v] < 1.5f);
        scene_free(&s);
    }
}

/* Kinetic energy of the flesh; the mass of a voxel is that which shape matching implies. */
static double flesh_energy(const scene *s)
{
    const lattice_model *m = scene_lattice(s);
    lattice_state state = scene_state(s);
    double sum = 0;
    for (int v = m->bone_count; v < m->count; v++)
        for (int k = 0; k < 3; k++)
            sum +=
                (double)state.velocities[v][k] * state.velocities[v][k] * m->masses[v] / m->regions.inverse_counts[v];
    return sum;
}

/* Damping is what is asked for: exp(-c t) of the energy, slow or fast. */
static void damping_is_what_is_asked_for(void **unused)
{
    (void)unused;
    test_is_heavy();
    static const struct {
        const char *stiffness, *damping, *region;
        double substep;
    } cases[] = {{"2", "2", "3", 1.0 / 120},  {"4", "2", "3", 1.0 / 120}, {"8", "4", "5", 1.0 / 120},
                 {"14", "6", "8", 1.0 / 120}, {"14", "6", "8", 1.0 / 60}, {"4", "4", "3", 1.0 / 480}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        double damping = strtod(cases[i].damping, NULL), frequency = strtod(cases[i].stiffness, NULL);
        scene s = slab_make(cases[i].stiffness, cases[i].damping, "28", cases[i].region, cases[i].substep);
        slab_frequency(&s, 1);
        cutis_step_input input = {0};
        double energies[2] = {0, 0};
        /* two stretches of a whole number of half periods, one after the other */
        int steps = (int)(ceil(1.6 / damping * 2 * frequency) / (2 * frequency) / cases[i].substep + 0.5);
        for (int n = 0; n < 2 * steps; n++) {
            cutis_state_step(s.model, s.state, &input, cases[i].substep);
            energies[n / steps] += flesh_energy(&s);
        }
        double found = log(energies[0] / energies[1]) / (steps * cases[i].substep);
        print_message("%s Hz at 1/%.0f s: energy falls by %.2f 1/s, asked for %.2f\n", cases[i].stiffness,
                      1 / cases[i].substep, found, damping);
        assert_true(fabs(found / damping - 1) < 0.2);
        scene_free(&s);
    }
}

/* Thin flesh swings faster, and is damped as much faster: it rings as often as thick flesh before it rests. */
static void thin_flesh_is_damped_faster(void **unused)
{
    (void)unused;
    static const char *const texts[] = {"muscle_damping", "10", "fat_damping", "10",
                                        "skin_damping",   "10", UNIFORM,       NULL};
    scene s = scene_make("arm", texts);
    const lattice_model *m = scene_lattice(&s);

    /* at most the arm's radius is between bone and skin, in sizes */
    const cutis_character *c = s.character;
    double radius = 1, mean = 0;
    for (int k = 0; k < 3; k++)
        radius = fmin(radius, 0.5 * (double)(c->bounds_max[k] - c->bounds_min[k]) / (double)c->size);
    assert_true(radius < 0.1);

    for (int v = m->bone_count; v < m->count; v++) {
        double rate = -log((double)m->keeps[v]) / m->substep;
        assert_true(rate > 9.9);
        mean += rate / (m->count - m->bone_count);
    }
    print_message("flesh at most %.3f sizes thick is damped by %.1f 1/s, of a tenth by 10\n", radius, mean);
    assert_true(mean > 10 * 0.1 / radius && mean < 30 * 0.1 / radius);
    scene_free(&s);
}

/* Without damping, kicked flesh neither gains energy nor loses much of it, however long it rings. */
static void undamped_flesh_keeps_its_energy(void **unused)
{
    (void)unused;
    test_is_heavy();
    static const struct {
        const char *name, *resolution, *shape;
        double substep;
        int seconds;
    } cases[] = {{"torus", "20", "skinning", 1.0 / 60, 60},  {"torus", "16", "skinning", 1.0 / 120, 20},
                 {"torus", "12", "skinning", 1.0 / 480, 10}, {"man", "20", "skinning", 1.0 / 120, 10},
                 {"hand", "16", "skinning", 1.0 / 120, 20},  {"bunny", "20", "lattice", 1.0 / 60, 20}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        const char *const texts[] = {
            "resolution", cases[i].resolution, "shape", cases[i].shape, "fat_damping", "0", "muscle_damping",
            "0",          "skin_damping",      "0",     UNIFORM,        NULL};
        scene s = scene_make_on(test_zoo(cases[i].name, 1), texts, cases[i].substep);
        const lattice_model *m = scene_lattice(&s);
        lattice_state state = scene_state(&s);
        uint32_t seed = 9;
        /* a smooth kick, and noise on it */
        for (int v = m->bone_count; v < m->count; v++)
            for (int k = 0; k < 3; k++)
                state.velocities[v][k] = 0.1f * sinf(20 * m->rest[v][(k + 1) % 3]) + 0.02f * noise(&seed);
        float *joints = malloc(sizeof(float) * 12 * (s.character->joint_count + 1));
        cutis_pose_rest(s.character, joints);
        cutis_step_input input = {.joints = joints};
        double first = 0, second = 0, most = 0, last = 0;
        int repairs = 0;
        for (int t = 0; t < cases[i].seconds; t++) {
            double sum = 0;
            int steps = (int)(1 / cases[i].substep + 0.5);
            for (int f = 0; f < steps; f++) {
                cutis_state_step(s.model, s.state, &input, cases[i].substep);
                repairs += (int)cutis_state_stats(s.model, s.state)->repairs;
                sum += flesh_energy(&s) / steps;
            }
            if (t == 0) first = sum;
            if (t == 1) second = sum;
            if (t > 0) most = fmax(most, sum);
            last = sum;
        }
        print_message("%s, 1/%.0f s: energy of the second second %.3f of the first; after %d s %.3f, at most %.3f\n",
                      cases[i].name, 1 / cases[i].substep, second / first, cases[i].seconds, last / second,
                      most / first);
        assert_true(most < 1.05 * first && second > 0.9 * first && repairs == 0);
        free(joints);
        scene_free(&s);
    }
}

/* Gravity lets the slab lean by a / w^2 of its lowest mode; a blow at one place starts a wave there and nowhere else.
 */
static void flesh_feels_gravity_and_blows(void **unused)
{
    (void)unused;
    scene s = slab_make("4", "20", "28", "3", 1.0 / 120);
    const lattice_model *m = scene_lattice(&s);
    lattice_state state = scene_state(&s);
    cutis_step_input input = {.acceleration = {0.5f, 0, 0}};
    for (int i = 0; i < 240; i++) cutis_state_step(s.model, s.state, &input, 1.0 / 60);
    double lean = 0, top = 0;
    for (int v = m->bone_count; v < m->count; v++) top = fmax(top, m->rest[v][1]);
    int count = 0;
    for (int v = m->bone_count; v < m->count; v++) {
        if (m->rest[v][1] < top - 1e-4 || fabs(m->rest[v][0]) > 0.15 || fabs(m->rest[v][2]) > 0.15) continue;
        lean += state.deviations[v][0];
        count++;
    }
    /* a uniform load on a quarter wave: 4 / pi of the mode's own deflection, at the top */
    double frequency = 2 * 3.14159265 * 4,
           expected = 0.5 / s.character->size / (frequency * frequency) * 4 / 3.14159265;
    print_message("slab under 0.5 units/s2: leans %.5f of the size, expected %.5f\n", lean / count, expected);
    assert_true(fabs(lean / count / expected - 1) < 0.25);
    scene_free(&s);

    s = scene_make("man", NULL);
    m = scene_lattice(&s);
    state = scene_state(&s);
    float *joints = malloc(sizeof(float) * 12 * s.character->joint_count);
    cutis_pose_rest(s.character, joints);
    int struck = m->count - 1;
    cutis_impulse blow = {.radius = 0.1f * m->size, .velocity = {0, 0, 0.2f * m->size}};
    for (int k = 0; k < 3; k++) blow.place[k] = m->origin[k] + m->size * m->rest[struck][k];
    cutis_step_input hit = {.joints = joints, .impulses = &blow, .impulse_count = 1};
    cutis_state_step(s.model, s.state, &hit, 1.0 / 60);
    double near = 0, far = 0;
    for (int v = m->bone_count; v < m->count; v++) {
        quad d = m->rest[v] - m->rest[struck];
        double distance = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), moved = fabs(state.deviations[v][2]);
        if (distance < 0.05) near = fmax(near, moved);
        if (distance > 0.3) far = fmax(far, moved);
    }
    print_message("a blow moves flesh by %.5f of the size where it falls, by %.1e elsewhere\n", near, far);
    /* two substeps at 0.2 sizes/s, once */
    assert_true(near > 0.001 && near < 0.0034 && far < 1e-5);
    free(joints);
    scene_free(&s);
}

/* Joints that scale, together or one by one, evenly or not, mirrored or not: the surface is that of skinning. */
static void joints_may_scale(void **unused)
{
    (void)unused;
    static const float factors[][3] = {{1.5f, 1.5f, 1.5f}, {0.5f, 0.5f, 0.5f}, {2, 1, 1}, {-1, 1, 1}, {0, 1, 1}};
    for (int i = 0; i < COUNT_OF(factors); i++) {
        scene s = scene_make("man", NULL);
        scene lbs = {.character = s.character, .model = test_build(s.character, "lbs", NULL)};
        lbs.state = test_state(lbs.model, NULL);
        const cutis_character *c = s.character;
        float *joints = malloc(sizeof(float) * 12 * c->joint_count);
        cutis_step_input input = {.joints = joints};
        /* grown within half a second, then held for one */
        for (int f = 0; f < 90; f++) {
            cutis_pose_rest(c, joints);
            float t = MIN((float)f / 30, 1.0f);
            for (int j = 0; j < c->joint_count; j++)
                for (int k = 0; k < 9; k++) joints[12 * j + k / 3 * 4 + k % 3] *= 1 + t * (factors[i][k / 3] - 1);
            for (int j = 0; j < c->joint_count; j++)
                for (int k = 0; k < 3; k++) joints[12 * j + 4 * k + 3] *= 1 + t * (factors[i][k] - 1);
            cutis_state_step(s.model, s.state, &input, 1.0 / 60);
            cutis_state_step(lbs.model, lbs.state, &input, 1.0 / 60);
        }
        const float *p = cutis_state_positions(s.model, s.state), *q = cutis_state_positions(lbs.model, lbs.state);
        double ratio = mesh_closed_volume(&s.model->mesh, p) / mesh_closed_volume(&s.model->mesh, q);
        double most = distance_max(p, q, c->vertex_count) / c->size;
        print_message("man times %g %g %g: volume %.3f of that of linear blending, within %.4f of the size\n",
                      factors[i][0], factors[i][1], factors[i][2], ratio, most);
        for (int v = 0; v < 3 * c->vertex_count; v++) assert_true(isfinite(p[v]));
        if (i < 2) assert_true(fabs(ratio - 1) < 0.01 && most < 0.01);
        if (i == 3) assert_true(fabs(ratio - 1) < 0.02);
        free(joints);
        cutis_state_destroy(lbs.state);
        cutis_model_destroy(lbs.model);
        scene_free(&s);
    }
}

/* ---- contact ---- */

/* The most intersecting pairs of triangles in a clip. */
static int clip_pairs(scene *s, const char *clip, int frames, int every, const cutis_jobs *jobs)
{
    arena memory = arena_create(NULL);
    mesh m;
    bvh tree;
    int most = 0;
    float *points = ARENA_ARRAY(&memory, float, 3 * s->character->point_count);
    assert_int_equal(mesh_build_character(&m, s->character, &memory, NULL), CUTIS_OK);
    assert_int_equal(bvh_build(&tree, m.triangle_count, m.triangles, m.positions, &memory, NULL), CUTIS_OK);
    cutis_clip_motion motion = {s->character, cutis_character_find_clip(s->character, clip), 0.25};
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}, .jobs = jobs};
    for (int f = 0; f < frames; f++) {
        cutis_state_step(s->model, s->state, &input, 1.0 / 60);
        if (f % every) continue;
        const float *p = cutis_state_positions(s->model, s->state);
        for (int k = 0; k < s->character->point_count; k++)
            memcpy(points + 3 * k, p + 3 * s->character->point_vertices[k], 3 * sizeof(float));
        bvh_refit(&tree, points, 0);
        most = MAX(most, mesh_self_intersections(&m, &tree, points, NULL, NULL, 0));
    }
    arena_destroy(&memory);
    return most;
}

/* A half twist folds no skin and keeps the volume, where linear blending loses a cross-section. */
static void a_twist_does_not_collapse(void **unused)
{
    (void)unused;
    int pairs[2];
    double least[2] = {2, 2};
    for (int i = 0; i < 2; i++) {
        scene s = {.character = test_zoo("arm", 1)};
        s.model = test_build(s.character, i ? "lattice" : "lbs", NULL);
        s.state = test_state(s.model, NULL);
        pairs[i] = clip_pairs(&s, "twist", 90, 6, NULL);

        /* the volume at the end of the twist */
        cutis_state_reset(s.model, s.state, NULL);
        double rest = mesh_closed_volume(&s.model->mesh, cutis_state_positions(s.model, s.state));
        for (int f = 0; f < 15; f++) {
            scene_play(&s, "twist", 10, 1, NULL);
            least[i] =
                fmin(least[i], mesh_closed_volume(&s.model->mesh, cutis_state_positions(s.model, s.state)) / rest);
        }
        scene_free(&s);
    }
    print_message("arm twist: %d intersecting pairs, %.3f of the volume; linear blending %d and %.3f\n", pairs[1],
                  least[1], pairs[0], least[0]);
    assert_true(pairs[1] == 0 && pairs[0] > 100 && least[1] > 0.985);
}

/* Nor is its least section much smaller than at rest, however coarse the voxels are. */
static void a_twist_keeps_its_section(void **unused)
{
    (void)unused;
    test_is_heavy();
    enum { FRAMES = 30 };
    static const char *const texts[2][3] = {{NULL}, {"resolution", "16", NULL}};
    for (int i = 0; i < COUNT_OF(texts); i++) {
        scene s = scene_make("arm", texts[i]);
        size_t size = 3 * (size_t)s.character->vertex_count;
        float *frames = malloc(FRAMES * size * sizeof *frames);
        assert_non_null(frames);
        cutis_clip_motion motion = {s.character, cutis_character_find_clip(s.character, "twist"), 0.25};
        cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
        for (int f = 0; f < FRAMES; f++) {
            cutis_state_step(s.model, s.state, &input, 1.0 / 20);
            memcpy(frames + f * size, cutis_state_positions(s.model, s.state), size * sizeof *frames);
        }

        cutis_quality quality;
        assert_int_equal(cutis_measure(s.character, frames, FRAMES, 20, NULL, NULL, &quality, NULL), CUTIS_OK);
        print_message("arm twist%s: least section %.3f, union volume %.2f %%\n", i ? ", resolution 16" : "",
                      quality.min_section_ratio, 100 * quality.volume_union);
        assert_true(quality.min_section_ratio > 0.85 && quality.volume_union < 0.005);
        free(frames);
        scene_free(&s);
    }
}

static void skin_does_not_pass_through_itself(void **unused)
{
    (void)unused;
    test_is_heavy();
    static const char *const texts[2][3] = {{NULL}, {"self_collision", "on", NULL}};
    int most[2];
    for (int i = 0; i < 2; i++) {
        scene s = scene_make("arm", texts[i]);
        most[i] = clip_pairs(&s, "flex", 100, 5, NULL);
        scene_free(&s);
    }
    print_message("arm flex: at most %d intersecting pairs without self-collision, %d with it\n", most[0], most[1]);
    assert_true(most[0] > 20 && most[1] == 0);
}

/* In real time parts that meet go out of each other, nowhere is worse than linear blending, and threads do not matter.
 */
static void parts_that_touch_give_way(void **unused)
{
    (void)unused;
    test_is_heavy();
    static const struct {
        const char *name, *clip;
        int frames;
        double share; /* of linear blending's pairs, at most */
    } cases[] = {{"man", "jump", 100, 0.25}, {"hand", "fist", 70, 0.7}, {"arm", "flex", 100, 0.35}};
    static const char *const touch[] = {"touch", "on", NULL};
    cutis_pool *pool;
    assert_int_equal(cutis_pool_create(3, NULL, &pool, NULL), CUTIS_OK);
    for (int i = 0; i < COUNT_OF(cases); i++) {
        scene s = scene_make(cases[i].name, touch);
        scene lbs = {.character = s.character, .model = test_build(s.character, "lbs", NULL)};
        lbs.state = test_state(lbs.model, NULL);
        int linear = clip_pairs(&lbs, cases[i].clip, cases[i].frames, 4, NULL);
        int pairs = clip_pairs(&s, cases[i].clip, cases[i].frames, 4, NULL);
        uint64_t hash = cutis_state_hash(s.model, s.state);
        print_message("%s %s: at most %d intersecting pairs with touch, linear blending %d\n", cases[i].name,
                      cases[i].clip, pairs, linear);
        assert_true(linear > 20 && pairs <= cases[i].share * linear);
        if (i == 0) {
            cutis_state_reset(s.model, s.state, NULL);
            clip_pairs(&s, cases[i].clip, cases[i].frames, 50, cutis_pool_jobs(pool));
            assert_true(cutis_state_hash(s.model, s.state) == hash);
        }
        cutis_state_destroy(lbs.state);
        cutis_model_destroy(lbs.model);
        scene_free(&s);
    }
    cutis_pool_destroy(pool);
}

/* A ball of radius 0.3 on a joint of its own beside the two of the tube. */
static void ball_put(cutis_character *given, const float centre[3], cutis_joint joints[3], cutis_prop *ball)
{
    memcpy(joints, given->joints, 2 * sizeof *joints);
    cutis_transform place = {{centre[0], centre[1], centre[2]}, {0, 0, 0, 1}, {1, 1, 1}};
    joints[2] = (cutis_joint){.name = "ball", .parent = -1, .rest = place, .idle = place};
    const float bind[12] = {1, 0, 0, -centre[0], 0, 1, 0, -centre[1], 0, 0, 1, -centre[2]};
    memcpy(joints[2].inverse_bind, bind, sizeof bind);
    *ball = test_ball(0.3f, 2);
    given->joints = joints;
    given->joint_count = 3;
    given->props = ball;
    given->prop_count = 1;
}

/* A ball where the end of the bent tube goes, the flesh painted with a depth; how deep in the ball some skin gets. */
/* A prop presses the flesh instead of turning the bones. */
static const char *const fixed_joints[] = {"joints", "fixed", NULL};

static double ball_press(float depth, int *contacts)
{
    cutis_character *tube, *with;
    cutis_error error;
    assert_int_equal(test_tube(NULL, &tube, &error), CUTIS_OK);
    cutis_character given = *tube;
    float *depths = malloc((size_t)tube->vertex_count * sizeof *depths);
    for (int v = 0; v < tube->vertex_count; v++) depths[v] = depth;
    const cutis_map map = {"depth", depths};
    given.maps = &map, given.map_count = 1;
    const float centre[3] = {1.2f, 0.75f, 0};
    cutis_joint joints[3];
    cutis_prop ball;
    ball_put(&given, centre, joints, &ball);

    /* joints that yield would carry the tube away from the ball */
    const cutis_setting fixed = {"joints", "fixed"};
    given.settings = &fixed;
    given.setting_count = 1;
    if (cutis_character_create(&given, NULL, &with, &error) != CUTIS_OK) fail_msg("%s", error.text);
    cutis_character_destroy(tube);
    free(depths);
    scene s = scene_make_on(with, fixed_joints, 0);
    cutis_clip_motion motion = {with, cutis_character_find_clip(with, "bend"), 0.25};
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}};
    double deepest = 0;
    *contacts = 0;
    for (int f = 0; f < 40; f++) {
        cutis_state_step(s.model, s.state, &input, 1.0 / 60);
        *contacts = MAX(*contacts, cutis_state_stats(s.model, s.state)->contacts);
        const float *p = cutis_state_positions(s.model, s.state);
        for (int v = 0; v < with->vertex_count; v++)
            deepest = fmax(deepest, 0.3 - vec3_distance(vec3_load(p + 3 * v), vec3_load(centre)));
    }
    print_message("ball, painted depth %.1f: %d contacts, skin at most %.1e of the size inside\n", depth, *contacts,
                  deepest / with->size);
    deepest /= with->size;
    scene_free(&s);
    return deepest;
}

/* A ball that strikes the tube from the side and is gone: flesh goes on swinging, and comes to rest. */
static void a_moving_collider_strikes_a_ripple(void **unused)
{
    (void)unused;
    cutis_character *tube, *with;
    assert_int_equal(test_tube(NULL, &tube, NULL), CUTIS_OK);
    cutis_character given = *tube;
    cutis_joint joints[3];
    cutis_prop ball;
    ball_put(&given, (const float[3]){1.5f, 0, 1}, joints, &ball);
    assert_int_equal(cutis_character_create(&given, NULL, &with, NULL), CUTIS_OK);
    cutis_character_destroy(tube);
    scene s = scene_make_on(with, fixed_joints, 0);
    const lattice_model *m = scene_lattice(&s);
    lattice_state state = scene_state(&s);
    float pose[36];
    cutis_step_input input = {.joints = pose};
    double after = 0, end = 0;
    int struck = 0;
    for (int f = 0; f < 240; f++) {
        /* there within a tenth of a second, back within another */
        double there = f < 6 ? f / 6.0 : f < 12 ? (12 - f) / 6.0 : 0;
        cutis_pose_rest(with, pose);
        pose[12 * 2 + 11] = (float)(1 - 0.5 * there);
        cutis_state_step(s.model, s.state, &input, 1.0 / 60);
        struck = MAX(struck, cutis_state_stats(s.model, s.state)->contacts);
        double most = 0;
        for (int v = m->bone_count; v < m->count; v++)
            for (int k = 0; k < 3; k++) most = fmax(most, fabs(state.deviations[v][k]));
        if (f >= 14 && f < 24) after = fmax(after, most);
        end = most;
    }
    print_message("ball that strikes: %d contacts, flesh %.4f of the size away once it has gone, %.1e after 4 s\n",
                  struck, after, end);
    assert_true(struck > 3 && after > 0.002 && end < 1e-4);
    scene_free(&s);
}

static void skin_stays_out_of_props(void **unused)
{
    (void)unused;
    int contacts;
    assert_true(ball_press(1, &contacts) < 0.005);
    assert_true(contacts > 3);
}

/* What may not be pressed in lets the ball enter; half the depth, half as far. */
static void a_painted_depth_bounds_the_dent(void **unused)
{
    (void)unused;
    int contacts;
    double none = ball_press(0, &contacts), half = ball_press(0.5f, &contacts), all = ball_press(1, &contacts);
    assert_true(none > half && half > all && none > 0.02);
}

/* A voxel turned inside out has all its lengths: stretch must not hold it there. */
static void stretch_lets_go_of_voxels_turned_inside_out(void **unused)
{
    (void)unused;
    enum { COUNT = 16 };
    int32_t neighbours[COUNT];
    float lengths[COUNT], gains[COUNT], intact[COUNT];
    quad places[COUNT], pulls[COUNT];
    for (int i = 0; i < COUNT; i++) {
        neighbours[i] = 4 * (i ^ 1);
        lengths[i] = 0.5f;
        gains[i] = 1;
        intact[i] = i >= 2;
        places[i] = (quad){(float)i, 0, 0, 0};
    }
    lattice_stretch stretch = {0, COUNT, 1, COUNT, neighbours, lengths, gains};
    lattice_stretch_pull(&stretch, places, intact, pulls, NULL);
    for (int i = 0; i < COUNT; i++) assert_float_equal(pulls[i][0], i < 2 ? 0 : i & 1 ? -0.5f : 0.5f, 1e-6f);
}

/* ---- memory ---- */

static void every_failing_allocation_is_survived(void **unused)
{
    (void)unused;
    cutis_character *tube;
    assert_int_equal(test_tube(NULL, &tube, NULL), CUTIS_OK);
    static const cutis_setting settings[] = {
        {"resolution", "6"}, {"adaptive", "on"}, {"self_collision", "on"}, {"touch", "on"}};
    cutis_model_def def = {.character = tube, .solver = "lattice", .settings = settings, .setting_count = 4};
    assert_true(test_every_allocation(test_build_and_step, &def) > 3);
    cutis_character_destroy(tube);
}

static void a_step_allocates_nothing(void **unused)
{
    (void)unused;
    test_memory memory = {0};
    cutis_allocator allocator = test_allocator(&memory);
    cutis_character *tube;
    assert_int_equal(test_tube(&allocator, &tube, NULL), CUTIS_OK);
    cutis_model *model =
        test_build_def((cutis_model_def){.character = tube, .solver = "lattice", .allocator = &allocator});
    cutis_state *state = test_state(model, &allocator);
    long before = atomic_load(&memory.allocations);
    cutis_clip_motion motion = {tube, 0, 0.25};
    cutis_drag drag = {5, {0, 1, 0}, 0.5f};
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}, .drags = &drag, .drag_count = 1};
    for (int i = 0; i < 30; i++) cutis_state_step(model, state, &input, 1.0 / 60);
    cutis_state_reset(model, state, NULL);
    assert_int_equal(atomic_load(&memory.allocations), before);
    cutis_state_destroy(state);
    cutis_model_destroy(model);
    cutis_character_destroy(tube);
    assert_memory_clean(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_is_full_of_voxels),
        cmocka_unit_test(holes_and_orientation_do_not_change_the_voxels),
        cmocka_unit_test(parts_that_share_cells_do_not_fuse),
        cmocka_unit_test(what_overlaps_does_not_fuse),
        cmocka_unit_test(what_is_hard_stays_hard),
        cmocka_unit_test(layers_lie_from_bone_to_skin),
        cmocka_unit_test(a_bone_is_as_wide_as_asked_for),
        cmocka_unit_test(painted_maps_tell_what_is_stiff_fat_and_frozen),
        cmocka_unit_test(voxels_follow_the_weights_of_the_file),
        cmocka_unit_test(sweeps_equal_sums_over_each_region),
        cmocka_unit_test(regions_hold_what_is_in_them),
        cmocka_unit_test(volume_and_gradient_are_those_of_the_corrected_equations),
        cmocka_unit_test(region_rotations_are_polar_decompositions),
        cmocka_unit_test(the_grid_does_not_show),
        cmocka_unit_test(what_lies_on_each_other_moves_as_one),
        cmocka_unit_test(rest_is_exact),
        cmocka_unit_test(rigid_motion_leaves_no_deformation),
        cmocka_unit_test(travelling_evenly_leaves_no_deformation_at_all),
        cmocka_unit_test(teleport_moves_everything_along),
        cmocka_unit_test(frame_rate_does_not_matter),
        cmocka_unit_test(substep_hardly_matters),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_mesh_without_skeleton_stays_put),
        cmocka_unit_test(stiffness_is_a_frequency),
        cmocka_unit_test(default_stiffness_is_reached),
        cmocka_unit_test(damping_is_what_is_asked_for),
        cmocka_unit_test(thin_flesh_is_damped_faster),
        cmocka_unit_test(undamped_flesh_keeps_its_energy),
        cmocka_unit_test(flesh_feels_gravity_and_blows),
        cmocka_unit_test(joints_may_scale),
        cmocka_unit_test(a_twist_does_not_collapse),
        cmocka_unit_test(a_twist_keeps_its_section),
        cmocka_unit_test(skin_does_not_pass_through_itself),
        cmocka_unit_test(parts_that_touch_give_way),
        cmocka_unit_test(stretch_lets_go_of_voxels_turned_inside_out),
        cmocka_unit_test(a_moving_collider_strikes_a_ripple),
        cmocka_unit_test(skin_stays_out_of_props),
        cmocka_unit_test(a_painted_depth_bounds_the_dent),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(a_step_allocates_nothing),
    };
    return cmocka_run_group_tests_name("lattice", tests, NULL, NULL);
}
