/*
 * test_bake_props.c: props under every solver: each has an effect or a warning; the report tells the overlap of the
 * surfaces that are drawn, the force on the skin, and props that were dropped.
 */
#include "testing.h"

#include <unistd.h>

#include "springs_stage.h"

static cutis_bake_result *bake(const cutis_bake_def *def)
{
    cutis_bake_result *result = NULL;
    cutis_error error = {0};
    if (cutis_bake(def, &result, &error) != CUTIS_OK) fail_msg("%s", error.text);
    return result;
}

/* The first number behind a key of the report, from `from` on. */
static double number_after(const char *from, const char *key)
{
    const char *at = strstr(from, key);
    if (!at) fail_msg("the report has no %s", key);
    return strtod(at + strlen(key) + strspn(at + strlen(key), ": ["), NULL);
}

/* A character with a prop beside its own; base is freed. */
static cutis_character *with_prop(cutis_character *base, cutis_prop prop, float x, float y, float z)
{
    cutis_placed_prop placed = {.prop = prop, .place = {1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z}};
    cutis_character *result = NULL;
    cutis_error error;
    if (cutis_character_add_props(base, &placed, 1, NULL, &result, &error) != CUTIS_OK) fail_msg("%s", error.text);
    cutis_character_destroy(base);
    return result;
}

static cutis_prop round_prop(const char *name, cutis_prop_role role, cutis_prop_shape shape)
{
    return (cutis_prop){.name = name,
                        .role = role,
                        .shape = shape,
                        .size = {0.05f, 0.05f, 0.05f},
                        .friction = -1,
                        .restitution = -1,
                        .stiffness = 0.5f};
}

/* ---- every role under every solver ---- */

static uint64_t hash_of(const cutis_character *c, const char *solver, const cutis_setting *setting, int *warnings,
                        char *warning)
{
    cutis_bake_def def = cutis_bake_def_default();
    def.character = c;
    def.clip = "flex";
    def.solver = solver;
    def.fps = 10;
    def.settings = setting;
    def.setting_count = setting ? 1 : 0;
    def.detail = CUTIS_DETAIL_DRAWN;
    def.no_verdict = true;
    def.lead_in = 0;
    def.end = 0.7;

    cutis_bake_result *result = bake(&def);
    uint64_t hash = result->hash;
    *warnings = 0;
    for (int i = 0; i < result->warning_count; i++) {
        if (!strstr(result->warnings[i], "'thing'") || strstr(result->warnings[i], "enters")) continue;
        (*warnings)++;
        snprintf(warning, 300, "%s", result->warnings[i]);
    }
    cutis_bake_destroy(result);
    return hash;
}

/* In the way of the forearm: a collider presses the skin, a free prop is moved or a collider, or a warning says no. */
static void every_role_has_an_effect_or_a_warning(void **unused)
{
    (void)unused;
    static const cutis_prop_role roles[] = {CUTIS_PROP_COLLIDER, CUTIS_PROP_RIGID, CUTIS_PROP_SOFT};
    cutis_character *bare = test_zoo("arm", 0.3);
    char warning[300] = "";
    int warnings;

    for (int s = 0; s < cutis_solver_count(); s++) {
        const cutis_solver_info *info = cutis_solver(s);
        uint64_t before = hash_of(bare, info->name, NULL, &warnings, warning);
        assert_int_equal(warnings, 0);

        for (int i = 0; i < 3; i++) {
            cutis_prop thing = round_prop("thing", roles[i], CUTIS_PROP_SPHERE);
            cutis_character *c = with_prop(test_zoo("arm", 0.3), thing, 0.45f, 0.12f, 0);
            bool effect = hash_of(c, info->name, NULL, &warnings, warning) != before;
            cutis_character_destroy(c);

            bool collides = info->flags & CUTIS_SOLVER_PROP_CONTACT, moves = info->flags & CUTIS_SOLVER_PROP_MOTION;
            print_message("%s, role %d: %s; %d warning%s\n", info->name, i, effect ? "effect" : "no effect", warnings,
                          warnings == 1 ? "" : "s");
            assert_true(effect == collides);
            assert_int_equal(warnings, !collides || (roles[i] != CUTIS_PROP_COLLIDER && !moves));
            if (!collides) assert_non_null(strstr(warning, "has no effect under solver"));
            if (collides && warnings) assert_non_null(strstr(warning, "solvers that move free props: springs"));
        }
    }

    /* a solver whose contact with props is off says so */
    cutis_character *c =
        with_prop(test_zoo("arm", 0.3), round_prop("thing", CUTIS_PROP_RIGID, CUTIS_PROP_SPHERE), 0.45f, 0.12f, 0);
    hash_of(c, "lattice", &(cutis_setting){"props", "off"}, &warnings, warning);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(warning, "because the parameter 'props' is off"));
    cutis_character_destroy(c);
    cutis_character_destroy(bare);
}

/* Linear skinning carries the forearm into the ball, and the report says how deep. */
static void overlap_is_reported_under_every_solver(void **unused)
{
    (void)unused;
    cutis_character *c =
        with_prop(test_zoo("arm", 0.5), round_prop("thing", CUTIS_PROP_RIGID, CUTIS_PROP_SPHERE), 0.45f, 0.12f, 0);
    cutis_bake_def def = cutis_bake_def_default();
    def.character = c;
    def.clip = "flex";
    def.solver = "lbs";

    /* a forearm about 4 cm in radius goes through a ball of 5 cm: some point gets to its middle third */
    cutis_bake_result *result = bake(&def);
    double depth = number_after(result->report, "\"penetration\"");
    assert_true(depth > 0.033 && depth <= 0.05);
    assert_true(number_after(result->report, "\"crossings\"") > 0);
    cutis_bake_destroy(result);
    cutis_character_destroy(c);
}

/* By default a floor lies at the lowest point at rest; raised by 6 mm it presses the arm under every solver. */
static void a_floor_holds_the_skin_up(void **unused)
{
    (void)unused;
    cutis_character *c = test_zoo("arm", 0.3);
    cutis_placed_prop floor;
    assert_int_equal(cutis_zoo_prop_make("floor", c, -1, NULL, 1, NULL, &floor, NULL), CUTIS_OK);
    assert_int_equal(floor.prop.role, CUTIS_PROP_COLLIDER);
    assert_int_equal(floor.prop.shape, CUTIS_PROP_PLANE);
    assert_true(floor.place[7] == c->bounds_min[1]);

    for (int s = 0; s < cutis_solver_count(); s++) {
        const cutis_solver_info *info = cutis_solver(s);
        if (!(info->flags & (CUTIS_SOLVER_PROP_CONTACT | CUTIS_SOLVER_BASELINE))) continue;

        cutis_prop_request raised = {.name = "floor", .placed = true, .position = {0, c->bounds_min[1] + 0.006f, 0}};
        cutis_bake_def def = cutis_bake_def_default();
        def.character = c;
        def.clip = "flex";
        def.solver = info->name;
        def.props = &raised;
        def.prop_count = 1;
        def.end = 0.2;
        def.lead_in = 0.5;
        cutis_bake_result *result = bake(&def);
        double depth = number_after(result->report, "\"penetration\"") / (double)c->size;
        print_message("%s: %.3f %% of the size below the floor\n", info->name, 100 * depth);
        if (info->flags & CUTIS_SOLVER_PROP_CONTACT)
            assert_true(depth <= 0.001);
        else
            assert_true(depth * (double)c->size > 0.005);
        cutis_bake_destroy(result);
    }
    cutis_character_destroy(c);
}

/* ---- what is drawn is what is simulated ---- */

static overlap_side side_of(const float *points, int count, const int *triangles, int triangle_count, arena *memory)
{
    overlap_side side = {.points = points, .count = count};
    assert_int_equal(bvh_build(&side.tree, triangle_count, triangles, points, memory, NULL), CUTIS_OK);
    overlap_side_bound(&side);
    return side;
}

/* Overlap of the skin with the surface that pictures and files show of a prop. */
static surface_overlap drawn_overlap(const springs_scene *s, const cutis_prop_state *now)
{
    const cutis_character *c = s->character;
    arena memory = arena_create(NULL);
    overlap_side skin = side_of(s->points, c->point_count, c->point_triangles, c->point_triangle_count, &memory);
    overlap_side prop;

    if (now->vertex_count > 0) {
        prop = side_of(now->positions, now->vertex_count, now->triangles, now->triangle_count, &memory);
    } else {
        int vertices, triangles;
        cutis_prop_surface(&c->props[0], 1, &vertices, &triangles, NULL, NULL);
        float *points = ARENA_ARRAY(&memory, float, 3 * vertices);
        int *corners = ARENA_ARRAY(&memory, int, 3 * triangles);
        cutis_prop_surface(&c->props[0], 1, &vertices, &triangles, points, corners);
        for (int v = 0; v < vertices; v++)
            vec3_store(points + 3 * v, mat34_point(now->transform, vec3_load(points + 3 * v)));
        prop = side_of(points, vertices, corners, triangles, &memory);
    }

    surface_overlap found = overlap_measure(&skin, &prop);
    arena_destroy(&memory);
    return found;
}

static void drawn_penetration_is_the_reported_one(void **unused)
{
    (void)unused;
    static const cutis_prop_role roles[] = {CUTIS_PROP_RIGID, CUTIS_PROP_SOFT, CUTIS_PROP_COLLIDER};
    static const cutis_prop_shape shapes[] = {CUTIS_PROP_SPHERE, CUTIS_PROP_CAPSULE, CUTIS_PROP_BOX};
    static const char *const names[] = {"mesh", "plane", "sphere", "capsule", "box"};

    for (int i = 0; i < 9; i++) {
        /* a forearm swings up under the prop; a collider does not give way to the bone */
        bool collider = roles[i / 3] == CUTIS_PROP_COLLIDER;
        float half = shapes[i % 3] == CUTIS_PROP_CAPSULE ? 0.1f : 0.05f;
        stage_prop thing = {round_prop("thing", roles[i / 3], shapes[i % 3]), {0.45f, half + 0.05f, 0}};
        springs_scene *s = stage_open(test_zoo("arm", 0.3), "flex", &thing, 1, NULL);
        double size = (double)s->character->size, deepest = 0, differs = 0, force = 0;

        /* at the ends of substeps */
        for (int step = 1; step <= 28; step++) {
            stage_step(s, step / 60.0);
            cutis_prop_state now = stage_prop_state(s, 0);
            surface_overlap found = drawn_overlap(s, &now);
            deepest = fmax(deepest, (double)found.depth);
            differs = fmax(differs, fabs((double)found.depth - (double)now.penetration));
            assert_true((double)found.depth <= (double)now.penetration + 1e-6 * size);
            for (int k = 0; k < 3; k++) force = fmax(force, fabs((double)now.force[k]));
        }

        print_message("%s, role %d: %.1f N, drawn at most %.4f %% of the size deep, %.1e %% from the report\n",
                      names[shapes[i % 3]], roles[i / 3], force, 100 * deepest / size, 100 * differs / size);
        assert_true(force > 0.01);
        /* a box is drawn by its corners alone, and simulated with points between them */
        assert_true(differs <= 1e-6 * size || (collider && shapes[i % 3] == CUTIS_PROP_BOX));
        if (!collider) assert_true(deepest <= 1e-3 * size);
        stage_close(s);
    }
}

/* Round surfaces are closed, face outwards and lie on the true shape. */
static void round_surfaces_are_sound(void **unused)
{
    (void)unused;
    for (int capsule = 0; capsule < 2; capsule++) {
        cutis_prop prop = {.shape = capsule ? CUTIS_PROP_CAPSULE : CUTIS_PROP_SPHERE, .size = {0.5f, capsule ? 2 : 0}};
        int vertices, triangles;
        cutis_prop_surface(&prop, 1, &vertices, &triangles, NULL, NULL);
        arena memory = arena_create(NULL);
        float *points = ARENA_ARRAY(&memory, float, 3 * vertices);
        int *corners = ARENA_ARRAY(&memory, int, 3 * triangles);
        cutis_prop_surface(&prop, 1, &vertices, &triangles, points, corners);

        mesh m;
        assert_int_equal(mesh_build(&m, vertices, points, triangles, corners, &memory, NULL), CUTIS_OK);
        assert_int_equal(m.component_count, 1);
        assert_int_equal(m.component_closed[0], 1);

        /* the volume is that of the shape, less the sag of the triangles */
        const double pi = 3.14159265358979323846;
        double whole = 4.0 / 3 * pi * 0.125 + (capsule ? 4 * pi * 0.25 : 0);
        double volume = mesh_volume(triangles, corners, points);
        assert_true(volume < whole && volume > 0.99 * whole);

        /* points on the shape, middles of triangles at most 0.55 % of the radius inside */
        double sag = 0;
        for (int t = 0; t < triangles; t++) {
            vec3 middle = {0, 0, 0};
            for (int k = 0; k < 3; k++) {
                vec3 p = vec3_load(points + 3 * corners[3 * t + k]);
                middle = vec3_madd(middle, p, 1.0f / 3);
                p.y -= CLAMP(p.y, -prop.size[1], prop.size[1]);
                assert_true(fabs((double)vec3_length(p) - 0.5) < 1e-6);
            }
            middle.y -= CLAMP(middle.y, -prop.size[1], prop.size[1]);
            sag = fmax(sag, 1 - (double)vec3_length(middle) / 0.5);
        }
        print_message("%s: volume %.3f %% of the true one, sag %.3f %% of the radius\n", capsule ? "capsule" : "sphere",
                      100 * volume / whole, 100 * sag);
        assert_true(sag <= 0.0055);
        arena_destroy(&memory);
    }
}

/* ---- dropped props ---- */

static const char *const no_stand[] = {"stand=off", NULL};

/* Props that fall beside the arm stop below it, every substep converges, and nothing changes any more. */
static void dropped_props_come_to_rest(void **unused)
{
    (void)unused;
    stage_prop things[] = {{round_prop("ball", CUTIS_PROP_RIGID, CUTIS_PROP_SPHERE), {0.3f, 0.1f, 0.3f}},
                           {round_prop("jelly", CUTIS_PROP_SOFT, CUTIS_PROP_SPHERE), {0.5f, 0.1f, 0.3f}}};
    springs_scene *s = stage_open(test_zoo("arm", 0.3), NULL, things, 2, no_stand);
    double size = (double)s->character->size, low = (double)s->character->bounds_min[1];
    stage_counts counts = {0};
    float rest[2][12];
    bool dropped[2] = {false, false};

    for (int frame = 1; frame <= 180; frame++) {
        stage_count(&counts, stage_step(s, frame / 30.0));
        for (int i = 0; i < 2; i++) {
            cutis_prop_state now = stage_prop_state(s, i);

            /* once dropped, it stays to the bit */
            if (dropped[i]) assert_memory_equal(now.transform, rest[i], sizeof rest[i]);
            dropped[i] = now.dropped;
            memcpy(rest[i], now.transform, sizeof rest[i]);

            /* not while it is still within reach, and not far beyond */
            double below = low - (double)now.transform[7];
            if (now.dropped) assert_true(below > size && below < 1.5 * size);
        }
    }

    assert_true(dropped[0] && dropped[1]);
    print_message("dropped: %d of %d substeps not converged\n", counts.unconverged, counts.substeps);
    assert_int_equal(counts.unconverged, 0);

    /* a reset brings them back */
    cutis_state_reset(s->model, s->state, NULL);
    for (int i = 0; i < 2; i++) assert_false(stage_prop_state(s, i).dropped);
    stage_close(s);
}

/* What will land, however far below, is not dropped. */
static void falling_props_may_land(void **unused)
{
    (void)unused;
    float floor = -2.5f;
    stage_prop plane = {{.role = CUTIS_PROP_COLLIDER, .shape = CUTIS_PROP_PLANE, .friction = -1, .restitution = -1},
                        {0, floor, 0}};
    stage_prop ball = {round_prop("ball", CUTIS_PROP_RIGID, CUTIS_PROP_SPHERE), {0.3f, 0.1f, 0.3f}};
    stage_prop things[] = {ball, plane};
    springs_scene *s = stage_open(test_zoo("arm", 0.3), NULL, things, 2, no_stand);
    assert_true(floor < s->character->bounds_min[1] - 2 * s->character->size);

    for (int frame = 1; frame <= 60; frame++) {
        stage_step(s, frame / 30.0);
        assert_false(stage_prop_state(s, 0).dropped);
    }
    assert_true(fabs((double)stage_prop_state(s, 0).transform[7] - (double)floor - 0.05) < 0.002);
    stage_close(s);
}

static void a_dropped_prop_is_in_verdict_and_report(void **unused)
{
    (void)unused;
    cutis_character *c =
        with_prop(test_zoo("arm", 0.3), round_prop("pear", CUTIS_PROP_RIGID, CUTIS_PROP_SPHERE), 0.3f, 0.1f, 0.3f);
    cutis_setting stand = {"stand", "off"};
    cutis_bake_def def = cutis_bake_def_default();
    def.character = c;
    def.clip = "flex";
    def.solver = "springs";
    def.lead_in = 0;
    def.settings = &stand;
    def.setting_count = 1;
    def.checks = "props_dropped<=0";

    cutis_bake_result *result = bake(&def);
    int frame = (int)number_after(result->report, "\"dropped\"");
    assert_true(frame > 5 && frame < 40);
    assert_int_equal(result->verdict.level, CUTIS_LOOK);
    assert_non_null(strstr(result->verdict.text, "prop 'pear' fell out of range"));
    assert_true(result->verdict.figures[CUTIS_HARM_DROPPED] == 1);
    assert_int_equal(result->verdict.worst_frames[CUTIS_HARM_DROPPED], frame);
    assert_int_equal(result->failed_checks, 1);
    cutis_bake_destroy(result);

    /* what stands is not dropped */
    stand.value = "on";
    result = bake(&def);
    assert_non_null(strstr(result->report, "\"dropped\": null"));
    assert_null(strstr(result->verdict.text, "dropped"));
    assert_int_equal(result->failed_checks, 0);
    cutis_bake_destroy(result);
    cutis_character_destroy(c);
}

/* ---- a baked file that is played ---- */

static const char *played_path;

static bool play_once(void *context, const cutis_allocator *allocator)
{
    cutis_cache *cache = NULL;
    (void)context;
    bool fine = cutis_cache_load(played_path, allocator, &cache, NULL) == CUTIS_OK;
    cutis_cache_destroy(cache);
    return fine;
}

/* The props of a baked file are where the bake had them, in the shape that it gave them. */
static void a_played_file_shows_its_props(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/cutis_props_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/props.glb", folder);
    cutis_character *c =
        with_prop(test_zoo("arm", 0.3), round_prop("pear", CUTIS_PROP_RIGID, CUTIS_PROP_SPHERE), 0.3f, 0.1f, 0.3f);
    c = with_prop(c, round_prop("jelly", CUTIS_PROP_SOFT, CUTIS_PROP_BOX), 0.45f, 0.1f, 0);
    cutis_bake_def def = cutis_bake_def_default();
    def.character = c;
    def.clip = "flex";
    def.solver = "springs";
    def.end = 0.5;
    def.exact = true;
    def.output = path;
    cutis_bake_result *result = bake(&def);

    cutis_cache *cache;
    cutis_error error;
    if (cutis_cache_load(path, NULL, &cache, &error) != CUTIS_OK) fail_msg("%s", error.text);
    assert_int_equal(cache->frame_count, result->frame_count);
    assert_int_equal(cache->prop_count, 2);

    const char *at = result->report;
    for (int i = 0; i < 2; i++) {
        const cutis_cache_prop *prop = &cache->props[i];
        assert_string_equal(prop->name, i ? "jelly" : "pear");
        assert_true(prop->triangle_count >= 12);

        /* closed, and its middle is where the report has it at the end */
        const float *last = prop->positions + 3 * (size_t)(cache->frame_count - 1) * (size_t)prop->vertex_count;
        assert_true(mesh_volume(prop->triangle_count, prop->triangles, last) > 0.9 * 0.0005);
        double end[3];
        at = strstr(at, "\"end\": [");
        assert_int_equal(sscanf(at++, "\"end\": [%lf, %lf, %lf", &end[0], &end[1], &end[2]), 3);
        for (int k = 0; k < 3; k++) {
            double mean = 0;
            for (int v = 0; v < prop->vertex_count; v++) mean += (double)last[3 * v + k] / prop->vertex_count;
            assert_true(fabs(mean - end[k]) < 0.002);
        }
    }

    /* the box was pushed by the arm, and is no box any more */
    const cutis_cache_prop *jelly = &cache->props[1];
    size_t floats = 3 * (size_t)jelly->vertex_count;
    double changed = 0;
    for (int v = 1; v < jelly->vertex_count; v++) {
        const float *first = jelly->positions, *last = first + floats * (size_t)(cache->frame_count - 1);
        double before = (double)vec3_distance(vec3_load(first), vec3_load(first + 3 * v));
        changed = fmax(changed, fabs(before - (double)vec3_distance(vec3_load(last), vec3_load(last + 3 * v))));
    }
    assert_true(changed > 1e-4);
    cutis_cache_destroy(cache);

    played_path = path;
    test_every_allocation(play_once, NULL);
    unlink(path);
    rmdir(folder);
    cutis_bake_destroy(result);
    cutis_character_destroy(c);
}

/* ---- touch ---- */

/* The same character with every second face on vertices of its own, as texture seams split them. */
static cutis_character *split(cutis_character *base)
{
    int vertices = base->vertex_count, weights = base->influence_first[vertices];
    float *positions = malloc((size_t)vertices * 6 * sizeof *positions);
    int *corners = malloc((size_t)base->corner_count * sizeof *corners);
    int *first = malloc((2 * (size_t)vertices + 1) * sizeof *first);
    int *joints = malloc(2 * (size_t)weights * sizeof *joints);
    float *shares = malloc(2 * (size_t)weights * sizeof *shares);

    for (int copy = 0; copy < 2; copy++) {
        memcpy(positions + (size_t)copy * (size_t)vertices * 3, base->positions, (size_t)vertices * 12);
        memcpy(joints + (size_t)copy * (size_t)weights, base->influence_joints, (size_t)weights * sizeof *joints);
        memcpy(shares + (size_t)copy * (size_t)weights, base->influence_weights, (size_t)weights * sizeof *shares);
        for (int v = 0; v <= vertices; v++) first[copy * vertices + v] = base->influence_first[v] + copy * weights;
    }
    for (int f = 0; f < base->face_count; f++)
        for (int k = base->face_first[f]; k < base->face_first[f + 1]; k++)
            corners[k] = base->corners[k] + f % 2 * vertices;

    cutis_character given = *base, *result = NULL;
    given.vertex_count = 2 * vertices;
    given.positions = positions;
    given.corners = corners;
    given.influence_first = first;
    given.influence_joints = joints;
    given.influence_weights = shares;
    given.part_count = given.map_count = given.morph_count = 0;
    cutis_error error;
    if (cutis_character_create(&given, NULL, &result, &error) != CUTIS_OK) fail_msg("%s", error.text);
    assert_int_equal(result->point_count, base->point_count);
    cutis_character_destroy(base);
    free(positions), free(corners), free(first), free(joints), free(shares);
    return result;
}

/* The total of the report is the sum of the output over all vertices, and does not depend on how vertices are split. */
static void touch_does_not_depend_on_split_vertices(void **unused)
{
    (void)unused;
    double totals[2][3];
    for (int whole = 0; whole < 2; whole++) {
        cutis_character *c = test_zoo("hand", 0.15);
        if (!whole) c = split(c);
        cutis_prop_request table = {.name = "table", .placed = true, .position = {0, -0.02f, 0}};
        cutis_bake_def def = cutis_bake_def_default();
        def.character = c;
        def.clip = "fist";
        def.solver = "springs";
        def.props = &table;
        def.prop_count = 1;
        def.end = 0.1;
        def.detail = CUTIS_DETAIL_DRAWN;
        def.format = ".npy";
        def.outputs = "touch";
        cutis_bake_result *result = bake(&def);

        /* the last "end" of the report is that of all regions */
        const char *at = result->report, *last = NULL;
        while ((at = strstr(at, "\"end\": ["))) last = at++;
        assert_int_equal(
            sscanf(last, "\"end\": [%lf, %lf, %lf", &totals[whole][0], &totals[whole][1], &totals[whole][2]), 3);

        /* the output of the last frame */
        double sum[3] = {0, 0, 0};
        for (int i = 0; i < result->file_count; i++) {
            if (!strstr(result->files[i].name, "touch")) continue;
            size_t floats = 3 * (size_t)result->vertex_count;
            const char *end = (const char *)result->files[i].data + result->files[i].size;
            for (size_t k = 0; k < floats; k++) {
                float value;
                memcpy(&value, end - (floats - k) * sizeof value, sizeof value);
                sum[k % 3] += (double)value;
            }
        }
        double force = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
        print_message("%s: %.4f N, the report says (%.4f, %.4f, %.4f)\n", whole ? "whole" : "split", force,
                      totals[whole][0], totals[whole][1], totals[whole][2]);
        assert_true(force > 0.1);
        for (int k = 0; k < 3; k++) assert_true(fabs(sum[k] - totals[whole][k]) < 1e-4 * force);
        cutis_bake_destroy(result);
        cutis_character_destroy(c);
    }
    for (int k = 0; k < 3; k++) assert_true(fabs(totals[0][k] - totals[1][k]) < 0.02 * fabs(totals[1][1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_role_has_an_effect_or_a_warning),
        cmocka_unit_test(overlap_is_reported_under_every_solver),
        cmocka_unit_test(a_floor_holds_the_skin_up),
        cmocka_unit_test(drawn_penetration_is_the_reported_one),
        cmocka_unit_test(round_surfaces_are_sound),
        cmocka_unit_test(dropped_props_come_to_rest),
        cmocka_unit_test(falling_props_may_land),
        cmocka_unit_test(a_dropped_prop_is_in_verdict_and_report),
        cmocka_unit_test(a_played_file_shows_its_props),
        cmocka_unit_test(touch_does_not_depend_on_split_vertices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
