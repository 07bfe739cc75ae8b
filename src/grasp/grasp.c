/*
 * grasp.c: from a character and a prop to a clip that grasps it, and the simulation of that clip.
 */
#include "cutis/grasp.h"

#include <string.h>

#include "character/joint_parts.h"
#include "character/skinning.h"
#include "cutis/model.h"
#include "grasp/grasp_private.h"

/* Length of a hand, metres: the mean of adults (A. Tilley 2002, "The measure of man and woman"). */
static const double HAND_METRES = 0.185;
static const double WATER = 1000; /* kg per cubic metre */
static const double GRAVITY = 9.81;
/* Way of the hand to the prop, over the length of the hand. */
static const float APPROACH = 0.6f;
/* Lift, over the length of the hand. */
static const double LIFT = 1.5;
/* Points of the rest of the body that are looked at. */
enum { BODY_POINTS = 3000 };
/* Share of the way by which a lifted prop may be off. */
static const double HELD_TOLERANCE = 0.05;

typedef struct grasp_object {
    cutis_grasp grasp;
    arena memory;
    cutis_allocator allocator;
} grasp_object;

cutis_grasp_def cutis_grasp_def_default(void) { return (cutis_grasp_def){.friction = -1, .lift = -1}; }

/* ---- the scene ---- */

/* Of the units that files use, the one in which the hand is nearest to a human one. */
static double guess_unit(double length)
{
    static const double units[] = {1, 0.01, 0.001, 0.0254, 0.3048, 0.1};
    double best = 1, least = INFINITY;
    for (int i = 0; i < COUNT_OF(units); i++) {
        double off = fabs(det_log(units[i] * length / HAND_METRES));
        if (off < least - 0.5) {
            least = off;
            best = units[i];
        }
    }
    return best;
}

/* Bounds, volume and centre of mass of the prop's surface. */
static cutis_result measure_prop(grasp_scene *scene, const cutis_prop *prop, arena *memory, cutis_error *error)
{
    int vertex_count, triangle_count;
    cutis_prop_surface(prop, 0, &vertex_count, &triangle_count, NULL, NULL);
    float *positions = ARENA_ARRAY(memory, float, 3 * (size_t)vertex_count + 3);
    int *triangles = ARENA_ARRAY(memory, int, 3 * (size_t)triangle_count + 3);
    if (memory->failed) return error_memory(error, "a prop");
    cutis_prop_surface(prop, 0, &vertex_count, &triangle_count, positions, triangles);
    if (vertex_count == 0 || triangle_count == 0)
        return error_set(error, CUTIS_ERROR_UNSUPPORTED, "prop '%s' has no surface to grasp", prop->name);

    vec3 low = vec3_load(positions), high = low;
    for (int v = 1; v < vertex_count; v++) {
        low = vec3_min(low, vec3_load(positions + 3 * (size_t)v));
        high = vec3_max(high, vec3_load(positions + 3 * (size_t)v));
    }
    scene->extent = vec3_scale(vec3_sub(high, low), 0.5f);
    scene->middle = vec3_lerp(low, high, 0.5f);

    /* tetrahedra from the middle to each triangle */
    double volume = 0, moment[3] = {0, 0, 0};
    for (int t = 0; t < triangle_count; t++) {
        vec3 a = vec3_sub(vec3_load(positions + 3 * (size_t)triangles[3 * t]), scene->middle);
        vec3 b = vec3_sub(vec3_load(positions + 3 * (size_t)triangles[3 * t + 1]), scene->middle);
        vec3 c = vec3_sub(vec3_load(positions + 3 * (size_t)triangles[3 * t + 2]), scene->middle);
        double six = (double)vec3_dot(a, vec3_cross(b, c));
        vec3 sum = vec3_add(vec3_add(a, b), c);
        volume += six / 6;
        moment[0] += six / 24 * (double)sum.x;
        moment[1] += six / 24 * (double)sum.y;
        moment[2] += six / 24 * (double)sum.z;
    }
    scene->volume = fabs(volume);
    if (!(scene->volume > 0))
        return error_set(error, CUTIS_ERROR_UNSUPPORTED, "prop '%s' encloses no volume; give it a closed surface",
                         prop->name);
    vec3 away = vec3_make((float)(moment[0] / volume), (float)(moment[1] / volume), (float)(moment[2] / volume));
    scene->centre = vec3_add(scene->middle, away);
    for (int v = 0; v < vertex_count; v++)
        scene->radius = MAX(scene->radius, vec3_distance(vec3_load(positions + 3 * (size_t)v), scene->centre));
    return CUTIS_OK;
}

static cutis_result open_scene(const cutis_grasp_def *def, const cutis_prop *prop, const grasp_hand *hand,
                               arena *memory, grasp_scene *scene, cutis_error *error)
{
    const cutis_character *c = def->character;
    *scene = (grasp_scene){.character = c, .hand = hand};
    cutis_result result = measure_prop(scene, prop, memory, error);
    if (result != CUTIS_OK) return result;

    /* the prop as contact has it */
    contact_props props;
    const cutis_character holder = {.prop_count = 1, .props = prop};
    const float origin[3] = {0, 0, 0};
    result = contact_props_build(&props, &holder, CONTACT_ALL_PROPS, 1, origin, 0.8f, 0, memory, error);
    if (result != CUTIS_OK) return result;
    scene->prop = props.props[0];

    /* in SI units */
    scene->unit = def->unit > 0 ? def->unit : guess_unit((double)hand->length);
    double cubic = scene->volume * scene->unit * scene->unit * scene->unit;
    scene->mass = prop->mass > 0 ? (double)prop->mass : WATER * cubic;
    scene->friction = def->friction >= 0 ? def->friction : prop->friction >= 0 ? (double)prop->friction : 0.8;
    scene->young = 1000 * (def->flesh_young > 0 ? def->flesh_young : 30);
    double stiffness = (double)CLAMP(prop->stiffness, 0.0f, 1.0f);
    if (prop->role == CUTIS_PROP_SOFT) scene->soft = 2000 * det_pow(100, stiffness);
    scene->approach = vec3_scale(hand->normal, APPROACH * hand->length);

    /* the skin that is not of the hand */
    scene->body = ARENA_ARRAY(memory, float, 3 * BODY_POINTS + 3);
    if (memory->failed) return error_memory(error, "a grasp");
    int step = MAX(c->point_count / BODY_POINTS + 1, 1);
    for (int p = 0; p < c->point_count; p += step) {
        int v = c->point_vertices[p];
        bool of_hand = false;
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++)
            of_hand = of_hand || hand->link_of[c->influence_joints[i]] != -2;
        if (!of_hand && scene->body_count < BODY_POINTS)
            memcpy(scene->body + 3 * (size_t)scene->body_count++, c->positions + 3 * (size_t)v, 3 * sizeof(float));
    }
    return CUTIS_OK;
}

/* The prop at its true size, so that its place is rigid. */
static cutis_result scale_prop(const cutis_placed_prop *given, arena *memory, cutis_prop *prop, cutis_error *error)
{
    mat34 place;
    vec3 translation, scale;
    quat rotation;
    memcpy(place.m, given->place, sizeof place.m);
    mat34_decompose(place, &translation, &rotation, &scale);
    *prop = given->prop;
    if (!(scale.x > 0 && scale.y > 0 && scale.z > 0))
        return error_set(error, CUTIS_ERROR_DATA, "the transform of prop '%s' is mirrored or singular", prop->name);

    /* a primitive has one radius: it takes the mean scale */
    const float factors[3] = {scale.x, scale.y, scale.z};
    float mean = (scale.x + scale.y + scale.z) / 3;
    for (int k = 0; k < 3; k++) prop->size[k] *= prop->shape == CUTIS_PROP_BOX ? factors[k] : mean;
    if (prop->shape != CUTIS_PROP_MESH) return CUTIS_OK;
    float *positions = arena_copy(memory, prop->positions, 3 * (size_t)prop->vertex_count, sizeof(float));
    if (!positions) return error_memory(error, "a prop");
    for (int i = 0; i < 3 * prop->vertex_count; i++) positions[i] *= factors[i % 3];
    prop->positions = positions;
    return CUTIS_OK;
}

/* ---- the result ---- */

static cutis_result check_def(const cutis_grasp_def *def, cutis_error *error)
{
    if (!def->character || !def->prop)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "a grasp needs a character and a prop");
    const cutis_prop *prop = &def->prop->prop;
    if (prop->shape == CUTIS_PROP_PLANE || prop->role == CUTIS_PROP_COLLIDER)
        return error_set(error, CUTIS_ERROR_ARGUMENT, "prop '%s' is fixed; a hand grasps a rigid or soft prop",
                         prop->name);
    if (!(def->force >= 0) || !isfinite(def->force))
        return error_set(error, CUTIS_ERROR_ARGUMENT, "a force of %g N is not 0 or more", def->force);
    if (!(def->friction <= 2)) return error_set(error, CUTIS_ERROR_ARGUMENT, "the friction must be 0 to 2");
    if (!isfinite(def->lift) || !(def->unit >= 0) || !isfinite(def->unit) || !(def->flesh_young >= 0))
        return error_set(error, CUTIS_ERROR_ARGUMENT, "lift, unit and flesh must be finite and not below 0");
    return CUTIS_OK;
}

/* The character with the prop at its place, the clip, and the unit as a setting. */
static cutis_result make_character(const cutis_grasp_def *def, const cutis_prop *prop, const grasp_scene *scene,
                                   const grasp_plan *plan, const grasp_way *way, cutis_clip *clip, grasp_object *object,
                                   cutis_error *error)
{
    const cutis_character *c = def->character;
    arena *memory = &object->memory;
    cutis_placed_prop placed = {.prop = *prop};
    placed.prop.friction = (float)scene->friction;
    placed.prop.mass = (float)scene->mass;
    memcpy(placed.place, plan->place.m, sizeof placed.place);
    const float shift[3] = {way->approach.x, way->approach.y, way->approach.z};
    for (int k = 0; k < 3; k++) placed.place[4 * k + 3] += shift[k];
    cutis_character *with_prop = NULL;
    cutis_result result = cutis_character_add_props(c, &placed, 1, &object->allocator, &with_prop, error);
    if (result != CUTIS_OK) return result;

    /* the clip goes first, so that it is the one that is baked */
    cutis_clip *clips = ARENA_ARRAY(memory, cutis_clip, (size_t)c->clip_count + 2);
    cutis_setting *settings = ARENA_ARRAY(memory, cutis_setting, (size_t)c->setting_count + 2);
    float *focus = ARENA_ARRAY(memory, float, 3);
    const char *unit = arena_format(memory, "%g", scene->unit);
    if (memory->failed) {
        cutis_character_destroy(with_prop);
        return error_memory(error, "a grasp");
    }
    vec3 centre = vec3_add(mat34_point(plan->place.m, scene->centre), way->approach);
    vec3_store(focus, centre);
    clip->focus = focus;
    cutis_character given = *with_prop;
    int count = 0;
    clips[count++] = *clip;
    for (int i = 0; i < c->clip_count; i++)
        if (strcmp(c->clips[i].name, clip->name) != 0) clips[count++] = with_prop->clips[i];
    given.clips = clips;
    given.clip_count = count;

    /* forces in newtons need the unit */
    bool has_unit = false;
    for (int i = 0; i < given.setting_count; i++) {
        settings[i] = given.settings[i];
        has_unit = has_unit || strcmp(given.settings[i].key, "unit") == 0;
    }
    if (!has_unit && scene->unit != 1) settings[given.setting_count++] = (cutis_setting){"unit", unit};
    given.settings = settings;

    result = cutis_character_create(&given, &object->allocator, &object->grasp.character, error);
    object->grasp.clip = 0;
    object->grasp.prop = c->prop_count;
    cutis_character_destroy(with_prop);
    return result;
}

static cutis_result fill_contacts(const grasp_scene *scene, const grasp_plan *plan, const grasp_way *way,
                                  grasp_object *object, cutis_error *error)
{
    static const char *const kinds[] = {"thumb", "index", "middle", "ring", "pinky"};
    cutis_grasp *g = &object->grasp;
    const grasp_hand *hand = scene->hand;
    cutis_grasp_contact *contacts = ARENA_ARRAY(&object->memory, cutis_grasp_contact, plan->patch_count + 1);
    if (!contacts) return error_memory(error, "a grasp");
    double metres = scene->unit * scene->unit;
    for (int i = 0; i < plan->patch_count; i++) {
        const grasp_patch *patch = &plan->patches[i];
        bool palm = patch->link == PALM;
        const grasp_finger *finger = &hand->fingers[palm ? 0 : patch->link / LINK_LIMIT];
        int joint = palm ? hand->wrist : finger->links[patch->link % LINK_LIMIT].joint;
        contacts[i] = (cutis_grasp_contact){.finger = palm ? "palm" : kinds[finger->kind - JOINT_THUMB],
                                            .joint = g->character->joints[joint].name,
                                            .area = metres * (double)patch->area,
                                            .force = patch->force,
                                            .depth = (double)patch->depth,
                                            .cone = det_atan2(scene->friction, 1) * 180 / 3.14159265358979323846};
        vec3_store(contacts[i].place, vec3_add(patch->place, way->approach));
        vec3_store(contacts[i].normal, patch->normal);
    }
    g->contacts = contacts;
    g->contact_count = plan->patch_count;
    return CUTIS_OK;
}

static cutis_result plan_grasp(const cutis_grasp_def *def, arena *scratch, grasp_object *object, cutis_error *error)
{
    static const char *const types[] = {"power", "pinch", "hook"};
    cutis_grasp *g = &object->grasp;
    const cutis_character *c = def->character;
    grasp_hand hand;
    grasp_scene scene;

    /* the hand and the prop */
    cutis_prop prop;
    cutis_result result = scale_prop(def->prop, scratch, &prop, error);
    if (result == CUTIS_OK) result = grasp_hand_find(c, def->side, false, scratch, &hand, error);
    if (result == CUTIS_OK) result = grasp_hand_skin(c, scratch, &hand, error);
    if (result == CUTIS_OK) result = open_scene(def, &prop, &hand, scratch, &scene, error);
    if (result != CUTIS_OK) return result;

    /* the way of the arm */
    float *rest = ARENA_ARRAY(scratch, float, 12 * (size_t)c->joint_count + 12);
    grasp_plan *plan = ARENA_ARRAY(scratch, grasp_plan, 1);
    if (scratch->failed) return error_memory(error, "a grasp");
    cutis_pose_rest(c, rest);
    grasp_arm arm;
    grasp_arm_find(c, &hand, rest, &arm);
    scene.approach = grasp_arm_reach(&arm, scene.approach);
    grasp_way way = {.approach = scene.approach};
    double lift = def->lift >= 0 ? def->lift : LIFT * (double)hand.length;
    vec3 top = grasp_arm_reach(&arm, vec3_add(way.approach, vec3_make(0, (float)lift, 0)));
    way.lift = vec3_sub(top, way.approach);

    /* the placement, the force */
    if (!grasp_plan_search(&scene, def->type, plan))
        return error_set(
            error, CUTIS_ERROR_UNSUPPORTED,
            "no placement of prop '%s' in the hand at '%s' touches it on two sides (%s grasp, %d placements); "
            "use another type of grasp or another scale of the prop",
            prop.name, c->joints[hand.wrist].name, types[def->type], plan->tried);
    grasp_plan_squeeze(&scene, def->type, def->force, plan);

    /* the clip: seconds as a careful hand takes */
    grasp_times times = {
        .shape = 0.4, .near = 0.9, .touch = 1.6, .squeeze = 2.2, .lift_start = 2.5, .lift_end = 3.7, .end = 4.2};
    cutis_clip clip;
    result = grasp_clip_make(c, &hand, plan, &arm, &times, &way, scratch, &clip, error);
    if (result == CUTIS_OK) result = make_character(def, &prop, &scene, plan, &way, &clip, object, error);
    if (result == CUTIS_OK) result = fill_contacts(&scene, plan, &way, object, error);
    if (result != CUTIS_OK) return result;

    g->unit = scene.unit;
    g->friction = scene.friction;
    g->weight = scene.mass * GRAVITY;
    g->force = plan->force;
    g->force_needed = plan->needed * g->weight;
    g->score = plan->score;
    g->bone_depth = plan->bone_depth;
    g->force_reached = plan->force_reached;
    g->tried = plan->tried;
    g->touch_time = times.touch;
    g->squeeze_time = times.squeeze;
    g->lift_start = times.lift_start;
    g->lift_end = times.lift_end;
    g->lift = (double)way.lift.y;
    return CUTIS_OK;
}

cutis_result cutis_grasp_create(const cutis_grasp_def *def, cutis_grasp **grasp, cutis_error *error)
{
    *grasp = NULL;
    cutis_result result = check_def(def, error);
    if (result != CUTIS_OK) return result;
    cutis_allocator allocator = memory_resolve(def->allocator);
    grasp_object *object = memory_allocate(&allocator, 1, sizeof *object);
    if (!object) return error_memory(error, "a grasp");
    object->allocator = allocator;
    object->memory = arena_create(&object->allocator);

    arena scratch = arena_create(&allocator);
    result = plan_grasp(def, &scratch, object, error);
    arena_destroy(&scratch);
    if (result == CUTIS_OK)
        result = cutis_hand_find(def->character, def->side, false, &allocator, &object->grasp.hand, error);
    if (result != CUTIS_OK) {
        cutis_grasp_destroy(&object->grasp);
        return result;
    }
    *grasp = &object->grasp;
    return CUTIS_OK;
}

void cutis_grasp_destroy(cutis_grasp *grasp)
{
    if (!grasp) return;
    grasp_object *object = (grasp_object *)grasp;
    cutis_allocator allocator = object->allocator;
    cutis_character_destroy(object->grasp.character);
    arena_destroy(&object->memory);
    memory_release(&allocator, object, 1, sizeof *object);
}

/* ---- the trial ---- */

typedef struct trial_run {
    const cutis_grasp *grasp;
    cutis_model *model;
    cutis_state *state;
    float *joints;
    float prop_start[3], prop_before[3], wrist_before[3]; /* at the start; at the start of the lift */
} trial_run;

static void read_places(const trial_run *run, double time, cutis_prop_state *prop, float wrist[3])
{
    const cutis_grasp *g = run->grasp;
    cutis_state_prop(run->model, run->state, g->prop, prop);
    cutis_pose_sample(g->character, g->clip, time, run->joints);
    for (int k = 0; k < 3; k++) wrist[k] = run->joints[12 * g->hand.wrist + 4 * k + 3];
}

static void record_frame(trial_run *run, double time, cutis_grasp_trial *trial)
{
    const cutis_grasp *g = run->grasp;
    cutis_prop_state prop;
    float wrist[3];
    read_places(run, time, &prop, wrist);
    const cutis_step_stats *stats = cutis_state_stats(run->model, run->state);
    trial->unconverged += stats->unconverged;
    trial->limited_share += stats->limited > 0;
    if (time >= g->touch_time && (double)prop.bone_depth > trial->bone_depth) {
        trial->bone_depth = (double)prop.bone_depth;
        trial->bone = prop.bone;
    }
    if (time >= g->lift_start)
        trial->penetration = MAX(trial->penetration, (double)prop.penetration / (double)g->character->size);
    if (time <= g->lift_start)
        for (int k = 0; k < 3; k++) {
            run->prop_before[k] = prop.transform[4 * k + 3];
            run->wrist_before[k] = wrist[k];
        }
}

cutis_result cutis_grasp_try(const cutis_grasp *g, const cutis_jobs *jobs,
                             bool (*progress)(void *context, long done, long total), void *context,
                             cutis_grasp_trial *trial, cutis_error *error)
{
    const cutis_solver_info *solver = cutis_solver_with(CUTIS_SOLVER_PROP_MOTION);
    *trial = (cutis_grasp_trial){.bone = -1};
    if (!solver) return error_set(error, CUTIS_ERROR_UNSUPPORTED, "no solver of this library moves free props");
    trial->solver = solver->name;
    trial_run run = {.grasp = g};
    arena scratch = arena_create(NULL);
    run.joints = ARENA_ARRAY(&scratch, float, 12 * (size_t)g->character->joint_count + 12);

    cutis_model_def def = cutis_model_def_default();
    def.character = g->character;
    def.solver = solver->name;
    def.jobs = jobs;
    cutis_result result = run.joints ? cutis_model_build(&def, &run.model, error) : error_memory(error, "a grasp");
    if (result == CUTIS_OK) result = cutis_state_create(run.model, NULL, &run.state, error);

    /* the clip from its first pose, which is the rest pose */
    cutis_clip_motion motion = {g->character, g->clip, 0};
    cutis_step_input input = {.motion = {&motion, cutis_clip_motion_sample}, .jobs = jobs};
    double fps = 30, end = (double)g->character->clips[g->clip].end;
    long frames = (long)(end * fps + 0.5);
    cutis_prop_state prop = {.vertex_count = 0};
    float wrist[3] = {0, 0, 0};
    if (result == CUTIS_OK) {
        read_places(&run, 0, &prop, wrist);
        for (int k = 0; k < 3; k++) run.prop_start[k] = prop.transform[4 * k + 3];
    }
    double clock = clock_seconds();
    for (long i = 1; i <= frames && result == CUTIS_OK; i++) {
        if (progress && !progress(context, i - 1, frames)) {
            result = error_set(error, CUTIS_ERROR_INTERRUPTED, "the simulation of the grasp was stopped");
            break;
        }
        cutis_state_step(run.model, run.state, &input, 1 / fps);
        record_frame(&run, (double)i / fps, trial);
    }

    if (result == CUTIS_OK) {
        trial->step_ms = 1000 * (clock_seconds() - clock) / (double)MAX(frames, 1);
        trial->limited_share /= (double)MAX(frames, 1);
        read_places(&run, end, &prop, wrist);
        trial->lifted = (double)(prop.transform[7] - run.prop_start[1]);
        double slip = 0, height = (double)(wrist[1] - run.wrist_before[1]);
        for (int k = 0; k < 3; k++) {
            double d = (double)(prop.transform[4 * k + 3] - run.prop_before[k] - (wrist[k] - run.wrist_before[k]));
            slip += d * d;
            trial->force[k] = (double)prop.force[k];
        }
        trial->slip = sqrt(slip);
        double rise = (double)(prop.transform[7] - run.prop_before[1]);
        trial->held = !prop.dropped && fabs(rise - height) <= HELD_TOLERANCE * height;
    }
    cutis_state_destroy(run.state);
    cutis_model_destroy(run.model);
    arena_destroy(&scratch);
    return result;
}
