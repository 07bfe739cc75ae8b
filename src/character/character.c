/*
 * character.c: checks, copies and completes a character.
 *
 * Everything that a reader or a host hands in is checked here once, so that nothing behind this point has to:
 * counts, indices, order of joints, finite numbers. Weights are normalised, faces cut into triangles, vertices
 * that share a place welded into points.
 */
#include <string.h>

#include "base/core.h"
#include "character/skinning.h"
#include "cutis/character.h"
#include "math/math3.h"
#include "mesh/mesh.h"

/* A character together with its memory. */
typedef struct character_object {
    cutis_character character; /* first, so that the pointer is the same */
    arena memory;
} character_object;

enum {
    COUNT_LIMIT = 1 << 28, /* vertices, corners and influences: index arithmetic stays within int */
    FACE_LIMIT = 4096      /* corners of one face: cutting a face into triangles is quadratic */
};

/* Everything the steps of create share. */
typedef struct character_build {
    const cutis_character *given;
    cutis_character *c;
    arena *memory;
    cutis_error *error;
    const char **warnings;
    int warning_count, warning_limit;
} character_build;

static void add_warning(character_build *b, const char *sentence)
{
    if (sentence && b->warning_count < b->warning_limit) b->warnings[b->warning_count++] = sentence;
}

static cutis_result data_error(character_build *b, const char *sentence)
{
    return error_set(b->error, CUTIS_ERROR_DATA, "%s: %s", b->c->name, sentence);
}

/* Index of the first value that is not finite (or beyond what float arithmetic survives); -1: all are. */
static long find_wild(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!(fabsf(values[i]) < 1e18f)) return (long)i;
    }
    return -1;
}

/* ---- surface ---- */

static cutis_result copy_surface(character_build *b)
{
    const cutis_character *g = b->given;
    cutis_character *c = b->c;

    /* what a mesh needs */
    if (g->vertex_count <= 0 || g->face_count <= 0 || !g->positions || !g->face_first || !g->corners) {
        return data_error(b, "the mesh is empty; a character needs at least one face");
    }
    if (g->vertex_count > COUNT_LIMIT || g->face_count > COUNT_LIMIT) {
        return data_error(b, "the mesh is too large; 268 million vertices are the limit");
    }
    long wild = find_wild(g->positions, (size_t)g->vertex_count * 3);
    if (wild >= 0) {
        return error_set(b->error, CUTIS_ERROR_DATA, "%s: the position of vertex %ld is not a finite number", c->name,
                         wild / 3);
    }

    /* faces of sensible size, of vertices that exist */
    for (int f = 0; f < g->face_count; f++) {
        int n = g->face_first[f + 1] - g->face_first[f];
        if (g->face_first[f] < 0 || g->face_first[f] > COUNT_LIMIT || n < 3 || n > FACE_LIMIT ||
            g->face_first[0] != 0) {
            return error_set(b->error, CUTIS_ERROR_DATA, "%s: face %d has %d corners; 3 to %d are allowed", c->name, f,
                             n, FACE_LIMIT);
        }
        for (int k = g->face_first[f]; k < g->face_first[f + 1]; k++) {
            if (g->corners[k] < 0 || g->corners[k] >= g->vertex_count) {
                return error_set(b->error, CUTIS_ERROR_DATA, "%s: face %d uses vertex %d, but there are only %d",
                                 c->name, f, g->corners[k], g->vertex_count);
            }
        }
    }

    c->vertex_count = g->vertex_count;
    c->face_count = g->face_count;
    c->corner_count = g->face_first[g->face_count];
    c->positions = arena_copy(b->memory, g->positions, (size_t)g->vertex_count * 3, sizeof(float));
    c->face_first = arena_copy(b->memory, g->face_first, (size_t)g->face_count + 1, sizeof(int));
    c->corners = arena_copy(b->memory, g->corners, (size_t)c->corner_count, sizeof(int));

    /* without texture coordinates a character is still one */
    if (g->texcoords) {
        if (find_wild(g->texcoords, (size_t)c->corner_count * 2) >= 0) {
            add_warning(b, "texture coordinates that are not finite were ignored");
        } else {
            c->texcoords = arena_copy(b->memory, g->texcoords, (size_t)c->corner_count * 2, sizeof(float));
        }
    }

    /* the file's normals, at unit length; what is not a direction is none */
    if (g->normals) {
        float *normals = arena_copy(b->memory, g->normals, (size_t)g->vertex_count * 3, sizeof(float));
        for (int v = 0; normals && v < g->vertex_count; v++) {
            vec3 n = vec3_load(normals + 3 * (size_t)v);
            float length2 = vec3_length2(n);
            bool sound = length2 > 1e-12f && length2 < 1e12f;
            vec3_store(normals + 3 * (size_t)v, sound ? vec3_normalize(n) : vec3_make(0, 0, 0));
        }
        c->normals = normals;
    }
    if (b->memory->failed) return error_memory(b->error, "the mesh");

    /* the bounding box and its diagonal, the unit of lengths */
    vec3 low = vec3_load(c->positions), high = low;
    for (int v = 1; v < c->vertex_count; v++) {
        low = vec3_min(low, vec3_load(c->positions + 3 * v));
        high = vec3_max(high, vec3_load(c->positions + 3 * v));
    }
    vec3_store(c->bounds_min, low);
    vec3_store(c->bounds_max, high);
    c->size = vec3_distance(low, high);
    if (!(c->size > 1e-12f)) return data_error(b, "all vertices have the same position");
    return CUTIS_OK;
}

static vec3 corner_position(const cutis_character *c, int corner)
{
    return vec3_load(c->positions + 3 * c->corners[corner]);
}

/* Whether corner triple (i, j, k) turns with the face's normal and holds none of the other corners left. */
static bool is_ear(const cutis_character *c, const int *left, int count, int at, vec3 normal)
{
    int i = left[(at + count - 1) % count], j = left[at], k = left[(at + 1) % count];
    vec3 a = corner_position(c, i), b = corner_position(c, j), d = corner_position(c, k);
    if (vec3_dot(vec3_cross(vec3_sub(b, a), vec3_sub(d, b)), normal) <= 0) return false;
    for (int o = 0; o < count; o++) {
        int other = left[o];
        if (other == i || other == j || other == k) continue;
        vec3 p = corner_position(c, other);
        bool inside = vec3_dot(vec3_cross(vec3_sub(b, a), vec3_sub(p, a)), normal) >= 0 &&
                      vec3_dot(vec3_cross(vec3_sub(d, b), vec3_sub(p, b)), normal) >= 0 &&
                      vec3_dot(vec3_cross(vec3_sub(a, d), vec3_sub(p, d)), normal) >= 0;
        if (inside) return false;
    }
    return true;
}

static void emit_triangle(const cutis_character *c, int face, int i, int j, int k, int *triangles, int *faces,
                          int *corners)
{
    corners[0] = i;
    corners[1] = j;
    corners[2] = k;
    for (int e = 0; e < 3; e++) triangles[e] = c->corners[corners[e]];
    *faces = face;
}

/* Quads along the shorter diagonal, larger faces by clipping ears. */
static cutis_result triangulate(character_build *b)
{
    /* room: a face of n corners has n - 2 triangles */
    cutis_character *c = b->c;
    int count = c->corner_count - 2 * c->face_count;
    int *triangles = ARENA_ARRAY(b->memory, int, (size_t)count * 3);
    int *faces = ARENA_ARRAY(b->memory, int, count);
    int *corners = ARENA_ARRAY(b->memory, int, (size_t)count * 3);
    if (b->memory->failed) return error_memory(b->error, "triangles");

    int t = 0;
    for (int f = 0; f < c->face_count; f++) {
        int first = c->face_first[f], n = c->face_first[f + 1] - first;

        if (n == 4) {
            float d02 = vec3_distance(corner_position(c, first), corner_position(c, first + 2));
            float d13 = vec3_distance(corner_position(c, first + 1), corner_position(c, first + 3));
            int s = d13 < d02 ? 1 : 0;
            emit_triangle(c, f, first + s, first + s + 1, first + (s + 2) % 4, triangles + 3 * t, faces + t,
                          corners + 3 * t);
            t++;
            emit_triangle(c, f, first + s, first + (s + 2) % 4, first + (s + 3) % 4, triangles + 3 * t, faces + t,
                          corners + 3 * t);
            t++;
            continue;
        }

        /* The normal of a polygon that need not be flat (Newell). */
        vec3 normal = {0, 0, 0};
        int left[FACE_LIMIT];
        for (int k = 0; k < n; k++) {
            left[k] = first + k;
            normal =
                vec3_add(normal, vec3_cross(corner_position(c, first + k), corner_position(c, first + (k + 1) % n)));
        }

        /* cut off one ear after another */
        while (n > 3) {
            int ear = 0;
            while (ear < n && !is_ear(c, left, n, ear, normal)) ear++;
            if (ear == n) ear = 1; /* a face that crosses itself: any cut is as good */
            emit_triangle(c, f, left[(ear + n - 1) % n], left[ear], left[(ear + 1) % n], triangles + 3 * t, faces + t,
                          corners + 3 * t);
            t++;
            memmove(left + ear, left + ear + 1, (size_t)(n - ear - 1) * sizeof *left);
            n--;
        }
        emit_triangle(c, f, left[0], left[1], left[2], triangles + 3 * t, faces + t, corners + 3 * t);
        t++;
    }

    c->triangle_count = t;
    c->triangles = triangles;
    c->triangle_faces = faces;
    c->triangle_corners = corners;
    return CUTIS_OK;
}

/* ---- skeleton ---- */

static void normalize_transform(cutis_transform *t)
{
    quat q = quat_normalize((quat){t->rotation[0], t->rotation[1], t->rotation[2], t->rotation[3]});
    memcpy(t->rotation, &q, sizeof q);
}

static cutis_result copy_joints(character_build *b)
{
    const cutis_character *g = b->given;
    cutis_character *c = b->c;

    /* a number that memory can hold */
    if (g->joint_count < 0 || g->joint_count > COUNT_LIMIT / 16)
        return data_error(b, "the number of joints is not valid");
    cutis_joint *joints = arena_copy(b->memory, g->joints, (size_t)g->joint_count, sizeof *joints);
    if (b->memory->failed) return error_memory(b->error, "joints");

    /* each is checked and brought into order */
    for (int j = 0; joints && j < g->joint_count; j++) {
        if (!joints[j].name || !joints[j].name[0]) {
            return error_set(b->error, CUTIS_ERROR_DATA, "%s: joint %d has no name", c->name, j);
        }
        joints[j].name = arena_string(b->memory, joints[j].name);
        if (joints[j].role) joints[j].role = arena_string(b->memory, joints[j].role);
        if (b->memory->failed) return error_memory(b->error, "joint names");
        joints[j].deforms = false;

        /* parents come first */
        if (joints[j].parent < -1 || joints[j].parent >= j) {
            return error_set(b->error, CUTIS_ERROR_DATA,
                             "%s: joint '%s' comes before its parent or is its own ancestor", c->name, joints[j].name);
        }

        /* finite, with unit rotations */
        if (find_wild((const float *)&joints[j].rest, 10) >= 0 || find_wild((const float *)&joints[j].idle, 10) >= 0 ||
            find_wild(joints[j].inverse_bind, 12) >= 0) {
            return error_set(b->error, CUTIS_ERROR_DATA, "%s: the transform of joint '%s' is not finite", c->name,
                             joints[j].name);
        }

        normalize_transform(&joints[j].rest);
        normalize_transform(&joints[j].idle);
    }
    c->joint_count = g->joint_count;
    c->joints = joints;
    return CUTIS_OK;
}

static cutis_result copy_weights(character_build *b)
{
    const cutis_character *g = b->given;
    cutis_character *c = b->c;

    /* each vertex has its own run of influences */
    if (!g->influence_first || g->joint_count == 0) return CUTIS_OK;
    if (g->influence_first[0] != 0) return data_error(b, "the influences do not start at 0");
    for (int v = 0; v < g->vertex_count; v++) {
        if (g->influence_first[v + 1] < g->influence_first[v] || g->influence_first[v + 1] > COUNT_LIMIT) {
            return error_set(b->error, CUTIS_ERROR_DATA, "%s: the influences of vertex %d are out of order", c->name,
                             v);
        }
    }

    int total = g->influence_first[g->vertex_count];
    int *first = ARENA_ARRAY(b->memory, int, (size_t)g->vertex_count + 1);
    int *joints = ARENA_ARRAY(b->memory, int, total);
    float *weights = ARENA_ARRAY(b->memory, float, total);
    if (b->memory->failed) return error_memory(b->error, "weights");

    cutis_joint *all_joints = (cutis_joint *)c->joints;
    int out = 0, uneven = 0, empty = 0;
    for (int v = 0; v < g->vertex_count; v++) {
        first[v] = out;
        double sum = 0;
        for (int k = g->influence_first[v]; k < g->influence_first[v + 1]; k++) {
            int joint = g->influence_joints[k];
            float weight = g->influence_weights[k];
            if (joint < 0 || joint >= g->joint_count) {
                return error_set(b->error, CUTIS_ERROR_DATA,
                                 "%s: vertex %d is bound to joint %d, but there are only %d", c->name, v, joint,
                                 g->joint_count);
            }
            if (!(fabsf(weight) < 1e18f)) {
                return error_set(b->error, CUTIS_ERROR_DATA, "%s: a weight of vertex %d is not a finite number",
                                 c->name, v);
            }
            if (weight <= 0) continue;

            /* One joint named twice is one influence. */
            int at = first[v];
            while (at < out && joints[at] != joint) at++;
            if (at == out) joints[out++] = joint;
            weights[at] += weight;
            sum += (double)weight;
        }

        /* weights sum to 1; joints that move anything deform */
        if (sum <= 0) {
            empty++;
            continue;
        }
        if (fabs(sum - 1) > 2e-3) uneven++;
        for (int k = first[v]; k < out; k++) {
            weights[k] = (float)((double)weights[k] / sum);
            all_joints[joints[k]].deforms = true;
        }
    }
    first[g->vertex_count] = out;
    c->influence_first = first;
    c->influence_joints = joints;
    c->influence_weights = weights;

    /* what had to be mended */
    if (uneven) {
        add_warning(b,
                    arena_format(b->memory, "the weights of %d vertices did not sum to 1 and were normalised", uneven));
    }
    if (empty && out > 0) {
        add_warning(b, arena_format(b->memory, "%d vertices have no weight and will not move", empty));
    }
    return CUTIS_OK;
}

/* ---- motion ---- */

static cutis_result copy_track(character_build *b, const char *clip, int index, cutis_track *track)
{
    int limit = track->path == CUTIS_PATH_MORPH ? b->given->morph_count : b->given->joint_count;
    int components = track->path == CUTIS_PATH_ROTATION ? 4 : track->path == CUTIS_PATH_MORPH ? 1 : 3;
    if (track->interpolation == CUTIS_INTERPOLATION_CUBIC) components *= 3;

    /* the first thing that is wrong with it */
    const char *problem = NULL;
    if (track->target < 0 || track->target >= limit)
        problem = "has a target that does not exist";
    else if (track->key_count < 1 || track->key_count > COUNT_LIMIT / 16)
        problem = "has no keys";
    else if (find_wild(track->times, (size_t)track->key_count) >= 0)
        problem = "has a time that is not finite";
    else if (find_wild(track->values, (size_t)track->key_count * (size_t)components) >= 0) {
        problem = "has a value that is not finite";
    }
    for (int k = 1; !problem && k < track->key_count; k++) {
        if (track->times[k] < track->times[k - 1]) problem = "has times that are not ascending";
    }

    /* name the clip and the track */
    if (problem) {
        return error_set(b->error, CUTIS_ERROR_DATA, "%s: clip '%s': track %d %s", b->c->name, clip, index, problem);
    }
    track->times = arena_copy(b->memory, track->times, (size_t)track->key_count, sizeof(float));
    track->values = arena_copy(b->memory, track->values, (size_t)track->key_count * (size_t)components, sizeof(float));
    return track->times && track->values ? CUTIS_OK : error_memory(b->error, "a clip");
}

static cutis_result copy_clips(character_build *b)
{
    const cutis_character *g = b->given;

    if (g->clip_count <= 0) return CUTIS_OK;
    cutis_clip *clips = arena_copy(b->memory, g->clips, (size_t)g->clip_count, sizeof *clips);
    if (!clips) return error_memory(b->error, "clips");

    /* each with copies of what it refers to */
    for (int i = 0; i < g->clip_count; i++) {
        cutis_clip *clip = &clips[i];
        clip->name = arena_string(b->memory, clip->name && clip->name[0] ? clip->name : "clip");
        cutis_track *tracks = arena_copy(b->memory, clip->tracks, (size_t)MAX(clip->track_count, 0), sizeof *tracks);
        if (b->memory->failed) return error_memory(b->error, "clips");
        clip->tracks = tracks;
        if (clip->focus) clip->focus = arena_copy(b->memory, clip->focus, 3, sizeof(float));
        if (b->memory->failed) return error_memory(b->error, "clips");

        /* it lasts from the first key of all tracks to the last */
        clip->start = clip->end = 0;
        for (int k = 0; k < clip->track_count; k++) {
            cutis_result result = copy_track(b, clip->name, k, &tracks[k]);
            if (result) return result;
            float start = tracks[k].times[0], end = tracks[k].times[tracks[k].key_count - 1];
            clip->start = k ? MIN(clip->start, start) : start;
            clip->end = k ? MAX(clip->end, end) : end;
        }
    }

    b->c->clip_count = g->clip_count;
    b->c->clips = clips;
    return CUTIS_OK;
}

/* ---- everything else ---- */

/* Parts: runs of vertices and faces. */
static cutis_result copy_parts(character_build *b)
{
    const cutis_character *g = b->given;
    cutis_character *c = b->c;
    arena *memory = b->memory;

    /* without parts the whole mesh is one */
    int part_count = MAX(g->part_count, 1);
    cutis_part *parts = ARENA_ARRAY(memory, cutis_part, part_count);
    if (!parts) return error_memory(b->error, "parts");
    if (g->part_count <= 0) {
        parts[0] = (cutis_part){c->name, "", 0, c->vertex_count, 0, c->face_count};
    }

    /* each within the mesh */
    for (int i = 0; i < g->part_count; i++) {
        parts[i] = g->parts[i];
        parts[i].name = arena_string(memory, parts[i].name ? parts[i].name : "part");
        parts[i].material = arena_string(memory, parts[i].material ? parts[i].material : "");
        bool fits = parts[i].first_vertex >= 0 && parts[i].vertex_count >= 0 &&
                    parts[i].first_vertex <= c->vertex_count - parts[i].vertex_count && parts[i].first_face >= 0 &&
                    parts[i].face_count >= 0 && parts[i].first_face <= c->face_count - parts[i].face_count;
        if (!fits) return error_set(b->error, CUTIS_ERROR_DATA, "%s: part %d is out of range", c->name, i);
    }

    c->part_count = part_count;
    c->parts = parts;
    return CUTIS_OK;
}

/* Painted maps, clamped to 0..1. */
static void copy_maps(character_build *b)
{
    const cutis_character *g = b->given;
    cutis_character *c = b->c;
    arena *memory = b->memory;
    cutis_map *maps = arena_copy(memory, g->maps, (size_t)MAX(g->map_count, 0), sizeof *maps);

    for (int i = 0; maps && i < g->map_count; i++) {
        float *values = arena_copy(memory, maps[i].values, (size_t)c->vertex_count, sizeof *values);
        maps[i].name = arena_string(memory, maps[i].name);
        if (!values || !maps[i].name) break;

        /* a value that is not a number counts as 0 */
        int wild = 0;
        for (int v = 0; v < c->vertex_count; v++) {
            if (!(values[v] >= 0 && values[v] <= 1)) wild++;
            values[v] = values[v] > 0 ? MIN(values[v], 1) : 0;
        }
        maps[i].values = values;
        if (wild) {
            add_warning(b, arena_format(memory, "the painted map '%s' has %d values outside 0..1, which were clamped",
                                        maps[i].name, wild));
        }
    }

    c->map_count = MAX(g->map_count, 0);
    c->maps = maps;
}

static cutis_result copy_morphs(character_build *b)
{
    const cutis_character *g = b->given;
    cutis_character *c = b->c;
    arena *memory = b->memory;
    cutis_morph *morphs = arena_copy(memory, g->morphs, (size_t)MAX(g->morph_count, 0), sizeof *morphs);
    for (int i = 0; morphs && i < g->morph_count; i++) {
        if (find_wild(morphs[i].deltas, (size_t)c->vertex_count * 3) >= 0) {
            return error_set(b->error, CUTIS_ERROR_DATA, "%s: morph target %d is not finite", c->name, i);
        }
        morphs[i].name = arena_string(memory, morphs[i].name ? morphs[i].name : "morph");
        morphs[i].deltas = arena_copy(memory, morphs[i].deltas, (size_t)c->vertex_count * 3, sizeof(float));
    }
    c->morph_count = MAX(g->morph_count, 0);
    c->morphs = morphs;
    return CUTIS_OK;
}

static cutis_result copy_props(character_build *b)
{
    const cutis_character *g = b->given;
    cutis_character *c = b->c;
    arena *memory = b->memory;
    cutis_prop *props = arena_copy(memory, g->props, (size_t)MAX(g->prop_count, 0), sizeof *props);

    for (int i = 0; props && i < g->prop_count; i++) {
        cutis_prop *p = &props[i];

        /* a joint that is not there: fixed in the scene */
        if (p->joint < -1 || p->joint >= c->joint_count) p->joint = -1;
        bool fine = p->vertex_count >= 0 && p->triangle_count >= 0 && p->vertex_count <= COUNT_LIMIT &&
                    p->triangle_count <= COUNT_LIMIT && find_wild(p->size, 3) < 0 &&
                    find_wild(p->positions, (size_t)p->vertex_count * 3) < 0;
        for (int k = 0; fine && k < 3 * p->triangle_count; k++) {
            fine = p->triangles[k] >= 0 && p->triangles[k] < p->vertex_count;
        }
        p->name = arena_string(memory, p->name ? p->name : "prop");
        if (!fine) return error_set(b->error, CUTIS_ERROR_DATA, "%s: the mesh of prop %d is not valid", c->name, i);

        p->positions = arena_copy(memory, p->positions, (size_t)p->vertex_count * 3, sizeof(float));
        p->triangles = arena_copy(memory, p->triangles, (size_t)p->triangle_count * 3, sizeof(int));
    }
    c->prop_count = MAX(g->prop_count, 0);
    c->props = props;
    return CUTIS_OK;
}

static cutis_result copy_extras(character_build *b)
{
    const cutis_character *g = b->given;
    cutis_character *c = b->c;
    arena *memory = b->memory;

    /* what has its own file section */
    cutis_result result = copy_parts(b);
    if (result == CUTIS_OK) copy_maps(b);
    if (result == CUTIS_OK) result = copy_morphs(b);
    if (result == CUTIS_OK) result = copy_props(b);
    if (result != CUTIS_OK) return result;

    cutis_setting *settings = arena_copy(memory, g->settings, (size_t)MAX(g->setting_count, 0), sizeof *settings);
    for (int i = 0; settings && i < g->setting_count; i++) {
        settings[i].key = arena_string(memory, settings[i].key);
        settings[i].value = arena_string(memory, settings[i].value);
    }
    c->setting_count = MAX(g->setting_count, 0);
    c->settings = settings;

    cutis_material *materials = arena_copy(memory, g->materials, (size_t)MAX(g->material_count, 0), sizeof *materials);
    for (int i = 0; materials && i < g->material_count; i++) {
        materials[i].name = arena_string(memory, materials[i].name);
        if (materials[i].image) materials[i].image = arena_copy(memory, materials[i].image, materials[i].image_size, 1);
    }
    c->material_count = MAX(g->material_count, 0);
    c->materials = materials;
    return memory->failed ? error_memory(b->error, "the character") : CUTIS_OK;
}

/* Two vertices at one place that move alike are one point, else they belong to two surfaces that touch. */
static bool same_influences(void *context, int a, int b) { return vertices_move_alike(context, a, b); }

static cutis_result weld(character_build *b)
{
    cutis_character *c = b->c;

    /* vertices of one place and equal influences are one point */
    int *vertex_points = ARENA_ARRAY(b->memory, int, c->vertex_count);
    if (!vertex_points) return error_memory(b->error, "points");
    c->point_count = weld_positions(c->vertex_count, c->positions, 1e-6f * c->size, same_influences, c,
                                    &b->memory->allocator, vertex_points);
    if (c->point_count < 0) return error_memory(b->error, "points");

    /* the first vertex of each point */
    int *point_vertices = ARENA_ARRAY(b->memory, int, c->point_count);
    int *triangles = ARENA_ARRAY(b->memory, int, (size_t)c->triangle_count * 3);
    if (b->memory->failed) return error_memory(b->error, "points");
    for (int v = c->vertex_count - 1; v >= 0; v--) point_vertices[vertex_points[v]] = v;

    /* triangles of points, without those that have collapsed */
    for (int t = 0; t < c->triangle_count; t++) {
        int p[3];
        for (int e = 0; e < 3; e++) p[e] = vertex_points[c->triangles[3 * t + e]];
        if (p[0] == p[1] || p[1] == p[2] || p[2] == p[0]) continue;
        memcpy(triangles + 3 * c->point_triangle_count++, p, sizeof p);
    }

    c->vertex_points = vertex_points;
    c->point_vertices = point_vertices;
    c->point_triangles = triangles;
    if (c->point_triangle_count == 0) return data_error(b, "all faces are collapsed to lines or points");
    return CUTIS_OK;
}

/* ---- strays ---- */

/* Whether two vertices share a joint, or have joints that follow each other in the skeleton. */
static bool are_kin(const cutis_character *c, int a, int b)
{
    for (int i = c->influence_first[a]; i < c->influence_first[a + 1]; i++) {
        for (int k = c->influence_first[b]; k < c->influence_first[b + 1]; k++) {
            int one = c->influence_joints[i], other = c->influence_joints[k];
            if (one == other || c->joints[one].parent == other || c->joints[other].parent == one) return true;
        }
    }
    return false;
}

/*
 * Warn of points whose joints are far from those of all their neighbours: forgotten when weights were painted, or given
 * to a bone of their own by an exporter. Any motion pulls them out of the surface, under every solver.
 */
static cutis_result find_strays(character_build *b)
{
    const cutis_character *c = b->c;
    if (!c->influence_first) return CUTIS_OK;
    bool *kin = memory_allocate(&b->memory->allocator, (size_t)c->point_count, sizeof *kin);
    if (!kin) return error_memory(b->error, "points");

    /* over the edges of all triangles; points of no weight have a warning of their own */
    memset(kin, 1, (size_t)c->point_count * sizeof *kin);
    for (int i = 0; i < 3 * c->point_triangle_count; i++) {
        int v = c->point_vertices[c->point_triangles[i]];
        kin[c->point_triangles[i]] = c->influence_first[v + 1] == c->influence_first[v];
    }
    for (int i = 0; i < 3 * c->point_triangle_count; i++) {
        int p = c->point_triangles[i], q = c->point_triangles[i % 3 == 2 ? i - 2 : i + 1];
        if (kin[p] && kin[q]) continue;
        if (!are_kin(c, c->point_vertices[p], c->point_vertices[q])) continue;
        kin[p] = true;
        kin[q] = true;
    }

    /* how many there are, and one of them */
    int count = 0, example = 0;
    for (int p = c->point_count - 1; p >= 0; p--) {
        if (kin[p]) continue;
        count++;
        example = c->point_vertices[p];
    }
    memory_release(&b->memory->allocator, kin, (size_t)c->point_count, sizeof *kin);
    if (count)
        add_warning(b, arena_format(b->memory,
                                    "%d point%s on joints far from those of all neighbours, such as vertex %d on '%s'; "
                                    "motion pulls %s out of the surface; correct the weights",
                                    count, count == 1 ? " hangs" : "s hang", example,
                                    c->joints[c->influence_joints[c->influence_first[example]]].name,
                                    count == 1 ? "it" : "them"));
    return CUTIS_OK;
}

cutis_result cutis_character_create(const cutis_character *given, const cutis_allocator *allocator,
                                    cutis_character **character, cutis_error *error)
{
    *character = NULL;
    character_object *object = memory_allocate(allocator, 1, sizeof *object);
    if (!object) return error_memory(error, "a character");
    object->memory = arena_create(allocator);
    character_build b = {.given = given, .c = &object->character, .memory = &object->memory, .error = error};

    /* name, and warnings of the reader */
    b.c->name = arena_string(b.memory, given->name && given->name[0] ? given->name : "character");
    b.warning_limit = MAX(given->warning_count, 0) + 16;
    b.warnings = ARENA_ARRAY(b.memory, const char *, b.warning_limit);
    cutis_result result = b.memory->failed ? error_memory(error, "a character") : CUTIS_OK;
    for (int i = 0; !result && i < given->warning_count; i++) {
        add_warning(&b, arena_string(b.memory, given->warnings[i]));
    }

    /* every part in turn */
    cutis_result (*const steps[])(character_build *) = {copy_surface, triangulate, copy_joints, copy_weights,
                                                        copy_clips,   copy_extras, weld,        find_strays};
    for (int i = 0; !result && i < COUNT_OF(steps); i++) result = steps[i](&b);
    if (!result && b.memory->failed) result = error_memory(error, "a character");

    /* all of it or nothing */
    if (result) {
        cutis_character_destroy(b.c);
        return result;
    }
    b.c->warnings = b.warnings;
    b.c->warning_count = b.warning_count;
    *character = b.c;
    return CUTIS_OK;
}

void cutis_character_destroy(cutis_character *character)
{
    if (!character) return;
    character_object *object = (character_object *)character;
    cutis_allocator allocator = object->memory.allocator;
    arena_destroy(&object->memory);
    memory_release(&allocator, object, 1, sizeof *object);
}

int cutis_character_find_joint(const cutis_character *character, const char *name)
{
    for (int j = 0; j < character->joint_count; j++) {
        if (strcmp(character->joints[j].name, name) == 0) return j;
    }
    return -1;
}

int cutis_character_find_clip(const cutis_character *character, const char *name)
{
    for (int i = 0; i < character->clip_count; i++) {
        if (strcmp(character->clips[i].name, name) == 0) return i;
    }
    return -1;
}
