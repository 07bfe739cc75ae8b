/*
 * layers_build.c: the four layers and their constants, made from a rigged surface.
 *
 * After Deul and Bender 2013, section 3. Each point is projected onto the centre lines of its bones; fat, muscle
 * and bone layer lie on the way there. Departures:
 * - The paper takes the one bone that the weights prefer; here the nearest points of all bones of the point are
 *   blended by squared weights, so that the layers have no step where the preference changes.
 * - A joint without children has no centre line in the file: it gets one towards the mean of its points.
 * - The way to the bone is cut at `flesh` (in sizes), so that a torso has a rib cage and not flesh down to the
 *   spine, without being told.
 * - A rest shape that crosses or touches itself a little is parted first (contact_untangle.c).
 */
#include <string.h>

#include "solvers/flesh_map.h"
#include "solvers/layers/layers.h"
#include "solvers/layers/layers_limits.h"
#include "solvers/solver_kit.h"

typedef struct centre_line {
    vec3 joint; /* rest position, sizes */
    vec3 *ends; /* (end_count) */
    int end_count;
} centre_line;

typedef struct builder {
    const solver_build *build;
    layers_model *model;
    centre_line *bones;
    vec3 *axis;     /* (point_count) by place: nearest point of the bones' centre lines */
    float *weights; /* of the point in hand */
    float *layer_positions, *areas;
    flesh_map anatomy; /* by point of the build */
    float *room;       /* (point_count) for flesh, 0..1 */
    uint8_t *parted;   /* (point_count) not 0: where the rest shape crossed or touched itself and was parted */
} builder;

static vec3 to_sizes(const layers_model *model, vec3 p)
{
    return vec3_scale(vec3_sub(p, vec3_load(model->centre)), 1 / model->size);
}

static vec3 segment_nearest(vec3 p, vec3 a, vec3 b)
{
    vec3 ab = vec3_sub(b, a);
    float length2 = vec3_length2(ab);
    float t = length2 > 0 ? vec3_dot(vec3_sub(p, a), ab) / length2 : 0;
    return vec3_madd(a, ab, CLAMP(t, 0.0f, 1.0f));
}

/* ---- bones ---- */

static cutis_result bones_build(builder *b, arena *scratch, cutis_error *error)
{
    const cutis_character *character = b->build->character;
    const point_weights *weights = b->build->weights;
    int n = character->joint_count;
    b->bones = ARENA_ARRAY(scratch, centre_line, n + 1);
    vec3 *ends = ARENA_ARRAY(scratch, vec3, n + 1), *sums = ARENA_ARRAY(scratch, vec3, n + 1);
    float *totals = ARENA_ARRAY(scratch, float, n + 1), *reaches = ARENA_ARRAY(scratch, float, n + 1);
    if (scratch->failed) return error_memory(error, "the bones of solver layers");

    /* joints in the rest pose */
    for (int j = 0; j < n; j++) b->bones[j].joint = to_sizes(b->model, joint_bind_place(&character->joints[j]));

    /* Children's joints are ends; a joint may have many. */
    int used = 0;
    for (int j = 0; j < n; j++) {
        b->bones[j].ends = ends + used;
        for (int c = j + 1; c < n; c++) {
            if (character->joints[c].parent != j) continue;
            if (vec3_distance(b->bones[c].joint, b->bones[j].joint) < 1e-3f) continue;
            b->bones[j].ends[b->bones[j].end_count++] = b->bones[c].joint;
            used++;
        }
    }

    /* Without children: towards the mean of its points, and as far beyond as they reach. */
    for (int p = 0; p < b->build->mesh->point_count; p++) {
        vec3 x = to_sizes(b->model, vec3_load(b->build->mesh->positions + 3 * p));
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            int j = weights->joints[i];
            float w = weights->weights[i] * weights->weights[i];
            sums[j] = vec3_madd(sums[j], x, w);
            totals[j] += w;
        }
    }

    /* how far the points reach along that way */
    for (int p = 0; p < b->build->mesh->point_count; p++) {
        vec3 x = to_sizes(b->model, vec3_load(b->build->mesh->positions + 3 * p));
        for (int i = weights->first[p]; i < weights->first[p + 1]; i++) {
            int j = weights->joints[i];
            if (weights->weights[i] < 0.5f) continue;

            vec3 way = vec3_normalize(vec3_sub(vec3_scale(sums[j], 1 / totals[j]), b->bones[j].joint));
            reaches[j] = MAX(reaches[j], vec3_dot(vec3_sub(x, b->bones[j].joint), way));
        }
    }

    /* the ends of those bones */
    for (int j = 0; j < n; j++) {
        if (b->bones[j].end_count > 0 || !(totals[j] > 0)) continue;
        vec3 way = vec3_normalize(vec3_sub(vec3_scale(sums[j], 1 / totals[j]), b->bones[j].joint));
        ends[used] = vec3_madd(b->bones[j].joint, way, 0.8f * reaches[j]);
        b->bones[j].ends = ends + used++;
        b->bones[j].end_count = 1;
    }

    return CUTIS_OK;
}

static vec3 bone_nearest(const centre_line *bone, vec3 p)
{
    vec3 best = bone->joint;
    float best2 = vec3_length2(vec3_sub(p, best));
    for (int e = 0; e < bone->end_count; e++) {
        vec3 q = segment_nearest(p, bone->joint, bone->ends[e]);
        float d2 = vec3_length2(vec3_sub(p, q));
        if (d2 < NEARER * best2) {
            best = q;
            best2 = d2;
        }
    }
    return best;
}

/* ---- painted maps ---- */

/* The painted map of that name by place, `unpainted` where there is none. Returns whether it says anything else. */
static bool map_gather(const builder *b, const char *name, float unpainted, float *values)
{
    const cutis_character *character = b->build->character;
    const float *map = kit_map_find(character, name);
    bool painted = false;
    for (int k = 0; k < b->model->point_count; k++) {
        values[k] = kit_map_at(character, map, b->model->paths.points[k], unpainted);
        painted = painted || values[k] != unpainted;
    }
    return painted;
}

/* ---- layers ---- */

static void axis_find(builder *b)
{
    const point_weights *weights = b->build->weights;
    const layers_model *model = b->model;

    for (int k = 0; k < model->point_count; k++) {
        int point = model->paths.points[k];
        vec3 x = vec3_load(model->mesh->positions + 3 * k), sum = {0, 0, 0};
        float total = 0;

        /* the nearest points of its bones, by the squares of the weights */
        for (int i = weights->first[point]; i < weights->first[point + 1]; i++) {
            float w = weights->weights[i] * weights->weights[i];
            sum = vec3_madd(sum, bone_nearest(b->bones + weights->joints[i], x), w);
            total += w;
        }
        b->axis[k] = total > 0 ? vec3_scale(sum, 1 / total) : x;
    }
}

/* Mean length of the edges at a point. */
static float edge_length(const mesh *m, int p)
{
    float sum = 0;
    int first = m->point_neighbour_first[p], last = m->point_neighbour_first[p + 1];
    for (int i = first; i < last; i++)
        sum += vec3_distance(vec3_load(m->positions + 3 * p), vec3_load(m->positions + 3 * m->point_neighbours[i]));
    return last > first ? sum / (float)(last - first) : 0;
}

/*
 * How much room there is for flesh, 0..1: none where the rest pose touches itself or nearly does, as toes and lips are
 * modelled. Flesh that has nowhere to go would only tangle; thin and stiff it goes with its bone, as it was modelled.
 */
static cutis_result room_find(const builder *b, arena *scratch, cutis_error *error)
{
    float *room = b->room;
    const layers_model *model = b->model;
    const mesh *m = model->mesh;
    int n = model->point_count;

    void *memory = arena_push(scratch, contact_work_size(&model->surface), 1);
    float *next = ARENA_ARRAY(scratch, float, n);
    if (scratch->failed) return error_memory(error, "the layers");

    /* pairs that touch at rest, or nearly do */
    contact_work work = contact_work_make(&model->surface, memory);
    contact_search_options options = {.margin = model->thickness, .thickness = model->thickness, .touching = true};
    contact_search(&model->surface, &work, m->positions, m->positions, &options, b->build->jobs);
    for (int k = 0; k < n; k++) room[k] = model->surface.tangle[k] < 0;

    for (int i = 0; i < work.pair_count; i++) {
        const contact_pair *pair = work.pairs + i;
        float edge = 0;
        for (int v = 0; v < 4; v++) edge = MAX(edge, edge_length(m, pair->v[v]));

        /* Half an edge is room enough for skin that is modelled that finely. */
        for (int v = 0; v < 4 && pair->distance <= 0.5f * edge; v++) room[pair->v[v]] = 0;
    }

    /* the least over some rings, then the mean over the others */
    for (int pass = 0; pass < ROOM_RINGS; pass++) {
        for (int k = 0; k < n; k++) {
            float sum = room[k], least = room[k];
            int first = m->point_neighbour_first[k], last = m->point_neighbour_first[k + 1];
            for (int i = first; i < last; i++) {
                sum += room[m->point_neighbours[i]];
                least = MIN(least, room[m->point_neighbours[i]]);
            }
            next[k] = pass < ROOM_RINGS / 2 ? least : sum / (float)(last - first + 1);
        }
        memcpy(room, next, (size_t)n * sizeof(float));
    }

    return CUTIS_OK;
}

/*
 * Which way the flesh lies under each point, and how deep it is at most: down to near the bone, not further than
 * `flesh`, and in thin parts (ears, fins, cloth) less than half through.
 */
static void depths_find(builder *b, const float *normals, vec3 *ways, float *depths, float *next)
{
    const layers_model *model = b->model;
    const mesh *m = model->mesh;
    for (int k = 0; k < model->point_count; k++) {
        int point = model->paths.points[k];
        vec3 x = vec3_load(m->positions + 3 * k), normal = vec3_load(normals + 3 * k);
        vec3 way = vec3_sub(b->axis[k], x);
        float length = vec3_length(way);

        /* a point on its own bone, or without one, goes inwards; no flesh lies outside */
        if (!(length > LEAST_DEPTH)) {
            way = vec3_scale(normal, -1);
            length = 0.02f;
        }

        /* no flatter along the skin than INWARDS */
        way = vec3_normalize(way);
        float along = vec3_dot(way, normal);
        if (along > -INWARDS) way = vec3_normalize(vec3_madd(way, normal, -INWARDS - along));
        ways[k] = way;

        /* down to near the bone, but not through thin parts */
        float flesh = (float)kit_point_value(b->build, point, LAYERS_FLESH_DEPTH);
        depths[k] = MIN((float)kit_point_value(b->build, point, LAYERS_BONE_DEPTH) * length, flesh);
        if (m->triangle_count == 0) continue;
        bvh_hit hit = bvh_ray(&model->tree, m->positions, x, way, LEAST_DEPTH, depths[k] / CHORD_SHARE);
        if (hit.triangle >= 0) depths[k] = MIN(depths[k], CHORD_SHARE * hit.distance);
    }

    /* no steps: each at most the mean of those around it */
    for (int pass = 0; pass < DEPTH_RINGS; pass++) {
        for (int k = 0; k < model->point_count; k++) {
            float sum = depths[k];
            int first = m->point_neighbour_first[k], last = m->point_neighbour_first[k + 1];
            for (int i = first; i < last; i++) sum += depths[m->point_neighbours[i]];
            next[k] = MIN(depths[k], sum / (float)(last - first + 1));
        }
        memcpy(depths, next, (size_t)model->point_count * sizeof(float));
    }
}

/* Rest positions of all particles. */
static void layers_place(builder *b, const vec3 *ways, const float *depths)
{
    layers_model *model = b->model;

    for (int k = 0; k < model->point_count; k++) {
        int point = model->paths.points[k];
        vec3 x = vec3_load(model->mesh->positions + 3 * k);
        float parameters[LAYERS] = {0, (float)kit_point_value(b->build, point, LAYERS_FAT_DEPTH),
                                    (float)kit_point_value(b->build, point, LAYERS_MUSCLE_DEPTH),
                                    (float)kit_point_value(b->build, point, LAYERS_BONE_DEPTH)};

        float deepest = MAX(depths[k] * b->room[k], 3 * LEAST_DEPTH);
        float bottom = MAX(parameters[LAYER_BONE], 1e-3f);

        /* shares of the depth, from skin to bone, with some room between layers */
        for (int l = 0; l < LAYERS; l++) {
            float share = CLAMP(parameters[l] / bottom, l / 12.0f, 1 - (LAYER_BONE - l) / 12.0f);
            vec3 p = vec3_madd(x, ways[k], share * deepest);
            model->depths[4 * k + l] = share;
            model->regions.rest[0][4 * k + l] = p.x;
            model->regions.rest[1][4 * k + l] = p.y;
            model->regions.rest[2][4 * k + l] = p.z;
        }

        /* how thick the flesh is, and how far it gives */
        model->flesh[k] = deepest;
        model->bounds[k] = (float)kit_point_value(b->build, point, LAYERS_GIVE) * deepest;
    }
}

/* Radii of regions: of the same length on coarse and fine meshes, as long as they hold a few points and not too many.
 */
static void radii_find(const builder *b, const float *depths, float *radii)
{
    const layers_model *model = b->model;
    for (int k = 0; k < model->point_count; k++)
        radii[k] = MIN((float)b->build->values[LAYERS_RADIUS] * depths[k], RADIUS_EDGES * edge_length(model->mesh, k));
}

static vec3 particle_rest(const layers_model *model, int k, int l)
{
    return vec3_make(model->regions.rest[0][4 * k + l], model->regions.rest[1][4 * k + l],
                     model->regions.rest[2][4 * k + l]);
}

/* Mass: Voronoi area times half the distances to the adjacent layers. moments: the area, for now. */
static void masses_find(builder *b)
{
    layers_model *model = b->model;
    int n = model->point_count;

    double total = 0;
    for (int l = 0; l < LAYERS; l++) {
        for (int k = 0; k < n; k++) vec3_store(b->layer_positions + 3 * k, particle_rest(model, k, l));
        mesh_point_areas(model->mesh, b->layer_positions, b->areas);

        /* areas times half the distances to the layers above and below */
        for (int k = 0; k < n; k++) {
            float height = 0;
            if (l > 0) height += 0.5f * vec3_distance(particle_rest(model, k, l), particle_rest(model, k, l - 1));
            if (l + 1 < LAYERS)
                height += 0.5f * vec3_distance(particle_rest(model, k, l), particle_rest(model, k, l + 1));
            model->regions.mass[4 * k + l] = b->areas[k] * height;
            model->regions.moments[4 * k + l] = b->areas[k];
            total += model->regions.mass[4 * k + l];
        }
    }

    /* in units of the mean mass, none too light */
    double mean = total > 0 ? total / (LAYERS * n) : 1;
    for (int i = 0; i < LAYERS * n; i++)
        model->regions.mass[i] = MAX((float)(model->regions.mass[i] / mean), LEAST_MASS);
}

/*
 * Stiffness of regions and columns. Thin flesh is firmer, as a tissue of one modulus is; regions that had to be larger
 * or smaller than they should be are softer or firmer, so that the layer as a whole is as stiff.
 */
static void stiffness_find(builder *b, const float *depths, float *map, float *fat, double *moduli)
{
    layers_model *model = b->model;
    const layers_paths *paths = &model->paths;
    static const int parameters[LAYERS] = {LAYERS_SKIN_STIFFNESS, LAYERS_FAT_STIFFNESS, LAYERS_MUSCLE_STIFFNESS,
                                           LAYERS_BONE_STIFFNESS};

    map_gather(b, "stiffness", 1, map);
    map_gather(b, "fat", 1, fat); /* without fat its layer is muscle */

    for (int k = 0; k < model->point_count; k++) {
        int point = paths->points[k];
        vec3 x = particle_rest(model, k, LAYER_SKIN);
        double depth = vec3_distance(x, particle_rest(model, k, LAYER_BONE));
        double thin = MAX(DEEP_FLESH / depth, 1.0), kappas[LAYERS];
        static const int tissues[LAYERS] = {FLESH_SKIN, FLESH_FAT, FLESH_MUSCLE, FLESH_MUSCLE};
        double levels[LAYERS];
        for (int l = 0; l < LAYERS; l++) {
            double frequency =
                kit_point_value(b->build, point, parameters[l]) * (double)b->anatomy.stiffness[tissues[l]][point];
            levels[l] = layers_level(MIN(frequency, 250.0));
        }

        /* stiffness of each layer, by parameters, maps, room and thin flesh */
        for (int l = 0; l < LAYERS; l++) {
            double stiffness = levels[l];
            if (l == LAYER_FAT) stiffness += (1 - fat[k]) * (levels[LAYER_MUSCLE] - stiffness);
            stiffness *= map[k];
            double kappa = layers_kappa(1 - (1 - stiffness) * b->room[k]);
            kappas[l] = MAX(kappa, MIN(thin * thin * kappa, layers_kappa(layers_level(THIN_STIFFNESS))));
        }

        /* a spring between two layers is as soft as the softer one */
        for (int l = 0; l < LAYER_BONE; l++) moduli[3 * k + l] = MIN(kappas[l], kappas[l + 1]);

        /* a disc of radius r has its points at r / sqrt 2 in the mean square */
        double sum2 = 0, wanted = b->build->values[LAYERS_RADIUS] * depths[k];
        int members = paths->member_first[k + 1] - paths->member_first[k];
        for (int i = paths->member_first[k]; i < paths->member_first[k + 1]; i++)
            sum2 += vec3_length2(vec3_sub(particle_rest(model, paths->members[i], LAYER_SKIN), x));
        double ratio = sum2 > 0 ? wanted * wanted * members / (2 * sum2) : 1;

        for (int l = 0; l < LAYERS; l++)
            model->regions.kappa[4 * k + l] = (float)(kappas[l] * CLAMP(ratio, 1.0 / RADIUS_RANGE, RADIUS_RANGE));

        model->friction[k] = (float)kit_point_value(b->build, point, LAYERS_FRICTION);
        model->restitution[k] = (float)kit_point_value(b->build, point, LAYERS_RESTITUTION);
    }
}

/* ---- the drive ---- */

/* Skin and bone layer, then the fans' centres, as positions to be skinned. */
static cutis_result drive_build(builder *b, arena *scratch, cutis_error *error)
{
    layers_model *model = b->model;
    const layers_volumes *volumes = &model->volumes;
    const point_weights *weights = b->build->weights;
    int n = model->point_count, axes = 2 * n + volumes->centre_count, count = axes + n;

    model->parents = ARENA_ARRAY(b->build->memory, int, model->joint_count + 1);
    size_t influences = 3 * (size_t)weights->first[n] + (size_t)volumes->centre_first[volumes->centre_count];

    float *rest = ARENA_ARRAY(scratch, float, 3 * (size_t)count), *values = ARENA_ARRAY(scratch, float, influences + 1);
    int *first = ARENA_ARRAY(scratch, int, count + 1), *joints = ARENA_ARRAY(scratch, int, influences + 1);
    if (scratch->failed || !model->parents) return error_memory(error, "the drive of solver layers");

    /* skin, bone layer, centres of fans, then the axes */
    for (int j = 0; j < model->joint_count; j++) model->parents[j] = b->build->character->joints[j].parent;
    int at = 0;
    for (int i = 0; i < count; i++) {
        first[i] = at;
        if (i < 2 * n || i >= axes) {
            int k = i < 2 * n ? i % n : i - axes, point = model->paths.points[k];
            vec3 x = i >= axes ? b->axis[k] : particle_rest(model, k, i < n ? LAYER_SKIN : LAYER_BONE);
            vec3_store(rest + 3 * i, vec3_madd(vec3_load(model->centre), x, model->size));
            for (int w = weights->first[point]; w < weights->first[point + 1]; w++) {
                joints[at] = weights->joints[w];
                values[at++] = weights->weights[w];
            }
            continue;
        }

        /* a centre has weights of its own */
        int c = i - 2 * n;
        memcpy(rest + 3 * i, volumes->centre_rest + 3 * c, 3 * sizeof(float));
        for (int w = volumes->centre_first[c]; w < volumes->centre_first[c + 1]; w++) {
            joints[at] = volumes->centre_joints[w];
            values[at++] = volumes->centre_weights[w];
        }
    }

    /* the skinning of all of them */
    first[count] = at;
    cutis_result result =
        skinning_build(&model->drive, count, rest, first, joints, values, model->joint_count, b->build->memory, error);
    if (result != CUTIS_OK) return result;

    /* the axes once more, by linear skinning */
    int start = first[axes];
    for (int i = axes; i <= count; i++) first[i] -= start;
    return skinning_build(&model->axis_drive, n, rest + 3 * axes, first + axes, joints + start, values + start,
                          model->joint_count, b->build->memory, error);
}

/* ---- painted maps of places ---- */

/* Frozen points: linear blend skinning of their skin and bone layer; neither contact nor volume moves them. */
static cutis_result frozen_build(builder *b, arena *scratch, cutis_error *error)
{
    layers_model *model = b->model;
    const point_weights *weights = b->build->weights;
    int n = model->point_count, count = 0, influences = 0;

    /* how many there are; what is frozen gives no volume */
    for (int k = 0; k < n; k++) count += model->freeze[k] > 0;
    for (int k = 0; k < n; k++) {
        int point = model->paths.points[k];
        if (model->freeze[k] > 0) influences += 2 * (weights->first[point + 1] - weights->first[point]);
        model->volumes.softness[k] *= 1 - model->freeze[k];
    }

    model->frozen_count = count;
    model->frozen = ARENA_ARRAY(b->build->memory, int, count + 1);
    float *rest = ARENA_ARRAY(scratch, float, 6 * (size_t)count + 1),
          *values = ARENA_ARRAY(scratch, float, influences + 1);
    int *first = ARENA_ARRAY(scratch, int, 2 * count + 1), *joints = ARENA_ARRAY(scratch, int, influences + 1);

    if (scratch->failed || !model->frozen) return error_memory(error, "the frozen points of solver layers");

    /* their skin, then their bone layer */
    for (int k = 0, i = 0; k < n; k++)
        if (model->freeze[k] > 0) model->frozen[i++] = k;

    for (int i = 0, at = 0; i < 2 * count; i++) {
        int k = model->frozen[i % count], point = model->paths.points[k];
        vec3 x = particle_rest(model, k, i < count ? LAYER_SKIN : LAYER_BONE);
        vec3_store(rest + 3 * i, vec3_madd(vec3_load(model->centre), x, model->size));
        for (int w = weights->first[point]; w < weights->first[point + 1]; w++) {
            joints[at] = weights->joints[w];
            values[at++] = weights->weights[w];
        }

        first[i + 1] = at;
    }

    return skinning_build(&model->frozen_drive, 2 * count, rest, first, joints, values, model->joint_count,
                          b->build->memory, error);
}

/*
 * Where the rest pose intersects itself there is no side that contact could keep, and flesh of its own would only
 * tangle further: the skin is frozen there, and so intersects as it was modelled, and is let go over the rings around.
 * So it is where the rest pose was parted (toes, mirrored halves of a jaw): what was modelled in touch stays in touch,
 * and contact does the rest. Returns whether there is such a place.
 */
static bool tangles_freeze(const builder *b, float *freeze, float *next)
{
    const layers_model *model = b->model;
    const mesh *m = model->mesh;
    int n = model->point_count, count = 0;

    for (int k = 0; k < n; k++) {
        if (model->surface.tangle[k] < 0 && !b->parted[k]) continue;
        freeze[k] = MAX(freeze[k], TANGLE_FREEZE);
        count++;
    }

    if (count == 0) return false;

    /* whole over the rings next to them, then fading */
    for (int pass = 0; pass < TANGLE_RINGS + TANGLE_FADE; pass++) {
        float fade = pass < TANGLE_RINGS ? 0 : 1.0f / (TANGLE_FADE + 1);
        for (int k = 0; k < n; k++) {
            float most = 0;
            for (int i = m->point_neighbour_first[k]; i < m->point_neighbour_first[k + 1]; i++)
                most = MAX(most, freeze[m->point_neighbours[i]]);
            next[k] = MAX(freeze[k], most - fade);
        }
        memcpy(freeze, next, (size_t)n * sizeof(float));
    }

    return true;
}

static cutis_result maps_build(builder *b, float *map, arena *scratch, cutis_error *error)
{
    layers_model *model = b->model;
    int n = model->point_count;

    /* how far skin may be pressed in */
    if (map_gather(b, "depth", 1, map)) {
        model->press = arena_copy(b->build->memory, map, (size_t)n, sizeof(float));
        if (!model->press) return error_memory(error, "the painted depths of solver layers");
    }

    /* what is painted frozen, or tangled at rest */
    bool painted = map_gather(b, "freeze", 0, map);
    float *next = ARENA_ARRAY(scratch, float, n);
    if (!next) return error_memory(error, "the frozen points of solver layers");
    bool tangled = model->self_contact && tangles_freeze(b, map, next);
    if (!painted && !tangled) return CUTIS_OK;

    model->freeze = arena_copy(b->build->memory, map, (size_t)n, sizeof(float));
    if (!model->freeze) return error_memory(error, "the frozen points of solver layers");
    return frozen_build(b, scratch, error);
}

/* ---- all of it ---- */

/*
 * Take small intersections out of the rest shape, for contact to have a side to keep. Points painted as frozen follow
 * the skeleton as they were modelled, and stay.
 */
static cutis_result surface_untangle(builder *b, mesh *own, float *positions, arena *scratch, cutis_error *error)
{
    layers_model *model = b->model;
    int n = model->point_count;
    float *freeze = ARENA_ARRAY(scratch, float, n);
    uint8_t *fixed = ARENA_ARRAY(scratch, uint8_t, n);
    b->parted = ARENA_ARRAY(scratch, uint8_t, n);
    if (scratch->failed) return error_memory(error, "the surface of solver layers");

    /* part what crosses; painted points stay */
    map_gather(b, "freeze", 0, freeze);
    for (int k = 0; k < n; k++) fixed[k] = freeze[k] >= 1;
    contact_untangle_options options = {.touch = UNTANGLE_TOUCH * model->thickness,
                                        .gap = UNTANGLE_GAP * model->thickness,
                                        .limit = UNTANGLE_LIMIT,
                                        .fixed = fixed};
    contact_untangle_stats stats;
    cutis_result result = contact_untangle(own, &options, &b->build->allocator, positions, b->parted, &stats, error);
    if (result != CUTIS_OK) return result;

    if (stats.moved > 0)
        kit_note(b->build,
                 "layers: the rest shape intersects or touches itself; %d points were moved by up to %.2g %% of the "
                 "size to separate it",
                 stats.moved, 100 * (double)stats.distance);
    if (stats.left > 0)
        kit_warn(b->build,
                 "layers: the rest shape intersects itself at %d points; there the skin follows linear skinning",
                 stats.left);

    if (stats.moved == 0) return CUTIS_OK;
    own->positions = arena_copy(b->build->memory, positions, 3 * (size_t)n, sizeof(float));
    return own->positions ? CUTIS_OK : error_memory(error, "the surface of solver layers");
}

/* The surface in place order, in sizes. */
static cutis_result surface_build(builder *b, arena *scratch, cutis_error *error)
{
    layers_model *model = b->model;
    const mesh *m = b->build->mesh;
    float *positions = ARENA_ARRAY(scratch, float, 3 * (size_t)m->point_count);
    int *triangles = ARENA_ARRAY(scratch, int, 3 * (size_t)m->triangle_count + 1);
    if (scratch->failed) return error_memory(error, "the surface of solver layers");

    /* points and triangles by places */
    for (int k = 0; k < m->point_count; k++)
        vec3_store(positions + 3 * k, to_sizes(model, vec3_load(m->positions + 3 * model->paths.points[k])));
    for (int i = 0; i < 3 * m->triangle_count; i++) triangles[i] = model->paths.places[m->triangles[i]];

    /* a mesh of its own */
    mesh *own = ARENA_ARRAY(b->build->memory, mesh, 1);
    if (!own) return error_memory(error, "the surface of solver layers");

    model->mesh = own;
    cutis_result result =
        mesh_build(own, m->point_count, positions, m->triangle_count, triangles, b->build->memory, error);
    if (result == CUTIS_OK && model->self_contact) result = surface_untangle(b, own, positions, scratch, error);
    return result;
}

static bool arrays_push(layers_model *model, arena *memory)
{
    int n = model->point_count, particles = LAYERS * n;
    layers_regions *r = &model->regions;
    float **arrays[] = {&r->mass,    &r->masses,       &r->rest[0],    &r->rest[1], &r->rest[2],
                        &r->moments, &r->kappa,        &r->kappa_mean, &r->weights, &r->weight_inverse,
                        &r->springs, &r->mass_inverse, &model->depths};

    for (int i = 0; i < COUNT_OF(arrays); i++) *arrays[i] = ARENA_ARRAY(memory, float, particles);
    model->friction = ARENA_ARRAY(memory, float, n);
    model->restitution = ARENA_ARRAY(memory, float, n);
    model->frequencies = ARENA_ARRAY(memory, float, n);
    model->bounds = ARENA_ARRAY(memory, float, n);
    model->flesh = ARENA_ARRAY(memory, float, n);
    model->least = ARENA_ARRAY(memory, float, LAYER_BONE *(size_t)model->mesh->triangle_count);
    return !memory->failed;
}

static void parameters_read(const solver_build *build, layers_model *model)
{
    const double *v = build->values;
    model->iterations = (int)v[LAYERS_ITERATIONS];
    model->volume_iterations = (int)v[LAYERS_VOLUME_ITERATIONS];
    model->match_every = (int)v[LAYERS_MATCH_EVERY];
    model->naive = v[LAYERS_SUMMATION] == 1;
    model->drive_linear = v[LAYERS_DRIVE] == 1;
    model->self_contact = v[LAYERS_SELF_COLLISION] != 0;
    model->volume_on = v[LAYERS_VOLUME] != 0;
    model->damping = (float)v[LAYERS_DAMPING];
    model->thickness = (float)v[LAYERS_CONTACT_GAP];
}

static cutis_result model_fill(builder *b, arena *scratch, cutis_error *error)
{
    const solver_build *build = b->build;
    layers_model *model = b->model;
    int n = model->point_count;

    /* paths, surface and bones */
    cutis_result result = layers_paths_build(&model->paths, build->mesh, build->memory, &build->allocator, error);
    if (result == CUTIS_OK) result = surface_build(b, scratch, error);
    if (result == CUTIS_OK) result = bones_build(b, scratch, error);
    if (result != CUTIS_OK) return result;

    b->axis = ARENA_ARRAY(scratch, vec3, n);
    b->layer_positions = ARENA_ARRAY(scratch, float, 3 * (size_t)n);
    b->areas = ARENA_ARRAY(scratch, float, n);
    float *normals = ARENA_ARRAY(scratch, float, 3 * (size_t)n), *map = ARENA_ARRAY(scratch, float, n);
    float *radii = ARENA_ARRAY(scratch, float, n), *fat = ARENA_ARRAY(scratch, float, n);
    float *depths = ARENA_ARRAY(scratch, float, n);
    vec3 *ways = ARENA_ARRAY(scratch, vec3, n);
    double *moduli = ARENA_ARRAY(scratch, double, 3 * (size_t)n);
    b->room = ARENA_ARRAY(scratch, float, n);
    if (scratch->failed || !arrays_push(model, build->memory)) return error_memory(error, "the layers");

    /* depth of the flesh, and regions by it */
    mesh_normals(model->mesh, model->mesh->positions, normals, NULL);
    axis_find(b);

    if (model->mesh->triangle_count > 0) {
        result = bvh_build(&model->tree, model->mesh->triangle_count, model->mesh->triangles, model->mesh->positions,
                           build->memory, error);
        if (result != CUTIS_OK) return result;
    }

    /* regions by the depth of the flesh */
    depths_find(b, normals, ways, depths, map);
    radii_find(b, depths, radii);
    result = layers_paths_regions(&model->paths, model->mesh, radii, build->memory, &build->allocator, error);
    if (result != CUTIS_OK) return result;

    /* where the rest pose leaves room */
    result = contact_surface_build(&model->surface, model->mesh, build->memory, &build->allocator, error);
    if (result == CUTIS_OK) result = room_find(b, scratch, error);
    if (result != CUTIS_OK) return result;

    /* what kind of flesh, and its weight */
    flesh_map_request map_request = {build, LAYERS_ANATOMY, LAYERS_FATNESS, LAYERS_FIRMNESS, LAYERS_UNIT};
    result = flesh_map_find(&map_request, &b->anatomy, scratch, error);
    if (result != CUTIS_OK) return result;
    model->gravity = (float)flesh_gravity(build->values[LAYERS_GRAVITY], b->anatomy.unit, (double)model->size);

    /* layers, masses and stiffness */
    layers_place(b, ways, depths);
    layers_apart_build(model);
    masses_find(b);
    stiffness_find(b, depths, map, fat, moduli);
    layers_columns_build(n, moduli, &model->regions, model->frequencies);
    layers_regions_finish(&model->paths, &model->regions);
    for (int i = 0; i < LAYERS * n; i++) /* a ball's 2/5 r^2, halved for R's trace, of the particle's own area */
        model->regions.moments[i] = model->regions.masses[i] * 0.2f * model->regions.moments[i] / 3.14159265f;

    /* sub-volumes, drive, painted maps, props */
    result = layers_volumes_build(build, model, error);
    if (result == CUTIS_OK) result = drive_build(b, scratch, error);
    if (result == CUTIS_OK) result = layers_fibres_build(build, model, error);
    if (result == CUTIS_OK) result = maps_build(b, map, scratch, error);
    if (result == CUTIS_OK) layers_volumes_freeze(&model->volumes, model->mesh);

    if (result == CUTIS_OK)
        result = contact_props_build(&model->props, build->character, CONTACT_ALL_PROPS, 1 / model->size, model->centre,
                                     (float)build->values[LAYERS_FRICTION], (float)build->values[LAYERS_RESTITUTION],
                                     build->memory, error);
    return result;
}

cutis_result layers_model_build(const solver_build *build, layers_model *model, cutis_error *error)
{
    const cutis_character *character = build->character;
    *model = (layers_model){.character = character,
                            .point_count = build->mesh->point_count,
                            .joint_count = character->joint_count,
                            .size = character->size > 0 ? character->size : 1};

    for (int c = 0; c < 3; c++) model->centre[c] = 0.5f * (character->bounds_min[c] + character->bounds_max[c]);
    parameters_read(build, model);

    if (model->point_count == 0)
        return error_set(error, CUTIS_ERROR_DATA, "solver layers needs a mesh, and the character has no points");

    arena scratch = arena_create(&build->allocator);
    builder b = {.build = build, .model = model};
    cutis_result result = model_fill(&b, &scratch, error);
    arena_destroy(&scratch);
    return result;
}
