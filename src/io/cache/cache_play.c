/*
 * cache_play.c: a .glb or .gltf played as any player does (skeleton, skin, morph targets), as a cache. A bake into a
 * .glb is thus read back like one into a .npy, within the error that the bake tells.
 */
#include <math.h>
#include <string.h>

#include "cutis/model.h"
#include "io/cache/cache_file.h"
#include "io/gltf/gltf_read.h"

/* What plays: the character of the file, under linear blending. */
typedef struct cache_player {
    cutis_character *character;
    cutis_model *model;
    cutis_state *state;
    int clip; /* -1: none, one frame of the idle pose */
    double start, fps;
    size_t frame_count;
} cache_player;

/* The first track of a clip that moves a morph target; NULL when there is none. */
static const cutis_track *morph_track(const cutis_clip *clip)
{
    for (int i = 0; i < clip->track_count; i++)
        if (clip->tracks[i].path == CUTIS_PATH_MORPH) return &clip->tracks[i];
    return NULL;
}

static cutis_result clip_choose(cache_player *p, const char *path, const char *name, cutis_error *error)
{
    const cutis_character *c = p->character;
    p->clip = c->clip_count > 0 ? 0 : -1;
    if (name) {
        p->clip = cutis_character_find_clip(c, name);
        if (p->clip >= 0) return CUTIS_OK;
        return error_set(error, CUTIS_ERROR_ARGUMENT, "%.200s has no clip '%.100s'", path_base(path), name);
    }
    for (int i = c->clip_count - 1; i >= 0; i--)
        if (morph_track(&c->clips[i])) p->clip = i;
    return CUTIS_OK;
}

/* A bake has keys of its morph targets at every frame: they tell where its frames are. */
static cutis_result times_choose(cache_player *p, const char *path, double fps, cutis_error *error)
{
    p->start = 0;
    p->fps = fps > 0 ? fps : 30;
    p->frame_count = 1;

    /* a file without a clip is one frame */
    if (p->clip < 0) return CUTIS_OK;
    const cutis_clip *clip = &p->character->clips[p->clip];
    const cutis_track *track = morph_track(clip);
    double end = (double)clip->end;
    p->start = (double)clip->start;

    /* a bake has a key for each frame: its rate, unless another is asked for */
    if (track && track->key_count > 1 && !(fps > 0)) {
        p->start = (double)track->times[0];
        end = (double)track->times[track->key_count - 1];
        p->fps = cache_rate_round((track->key_count - 1) / (end - p->start));
    }

    /* Keys are floats: one that lies a thousandth of a frame early counts. */
    double frames = floor((end - p->start) * p->fps + 1e-3) + 1;
    if (!(frames * p->character->vertex_count < 3e8))
        return error_set(error, CUTIS_ERROR_DATA, "%.200s: clip '%.100s' has too many frames, %.0f at %g per second",
                         path_base(path), clip->name, frames, p->fps);

    p->frame_count = (size_t)frames;
    return CUTIS_OK;
}

/* Play all frames, and keep the first vertices of each: positions (frame_count x vertex_count x 3). */
static cutis_result play(const cache_player *p, size_t vertex_count, const cutis_allocator *allocator, float *positions,
                         cutis_error *error)
{
    const cutis_character *c = p->character;
    arena memory = arena_create(allocator);
    float *joints = ARENA_ARRAY(&memory, float, (size_t)c->joint_count * 12 + 1);
    float *morphs = ARENA_ARRAY(&memory, float, (size_t)c->morph_count + 1);

    /* sample, step and keep each frame */
    if (!memory.failed) {
        for (size_t f = 0; f < p->frame_count; f++) {
            double time = p->start + (double)f / p->fps;
            cutis_pose_sample(c, p->clip, time, joints);
            cutis_pose_morphs(c, p->clip, time, morphs);
            cutis_step_input input = {.joints = joints, .morphs = morphs};

            cutis_state_step(p->model, p->state, &input, 1 / p->fps);
            memcpy(positions + f * vertex_count * 3, cutis_state_positions(p->model, p->state),
                   vertex_count * 3 * sizeof(float));
        }
    }

    bool failed = memory.failed;
    arena_destroy(&memory);
    return failed ? error_memory(error, "a cache") : CUTIS_OK;
}

/* The model and state that play p->character. */
static cutis_result player_open(cache_player *p, const cutis_allocator *allocator, cutis_error *error)
{
    cutis_model_def def = cutis_model_def_default();
    def.character = p->character;
    def.allocator = allocator;
    cutis_result result = cutis_model_build(&def, &p->model, error);
    return result == CUTIS_OK ? cutis_state_create(p->model, allocator, &p->state, error) : result;
}

static void player_close(cache_player *p)
{
    cutis_state_destroy(p->state);
    cutis_model_destroy(p->model);
    cutis_character_destroy(p->character);
}

/* ---- props ---- */

/* One part of the props' surface, out of the frames of all. */
static cutis_result prop_keep(const cache_player *p, const cutis_part *part, const float *frames, arena *memory,
                              cutis_cache_prop *prop, cutis_error *error)
{
    const cutis_character *c = p->character;
    size_t count = (size_t)part->vertex_count;
    float *positions = ARENA_ARRAY(memory, float, p->frame_count *count * 3);
    int *triangles = ARENA_ARRAY(memory, int, 3 * (size_t)c->triangle_count + 1);
    *prop = (cutis_cache_prop){arena_string(memory, part->name), part->vertex_count, 0, positions, triangles};
    if (memory->failed) return error_memory(error, "the props of a cache");

    for (size_t f = 0; f < p->frame_count; f++)
        memcpy(positions + f * count * 3, frames + (f * (size_t)c->vertex_count + (size_t)part->first_vertex) * 3,
               count * 3 * sizeof(float));

    for (int t = 0; t < c->triangle_count; t++) {
        int face = c->triangle_faces[t] - part->first_face;
        if (face < 0 || face >= part->face_count) continue;
        for (int k = 0; k < 3; k++)
            triangles[3 * prop->triangle_count + k] = c->triangles[3 * (size_t)t + (size_t)k] - part->first_vertex;
        prop->triangle_count++;
    }
    return CUTIS_OK;
}

/* The props of the file at the frames of the cache. */
static cutis_result play_props(const cache_player *body, const char *path, const cutis_allocator *allocator,
                               cutis_cache *cache, cutis_error *error)
{
    file_data file = {0};
    cache_player p = {.start = body->start, .fps = body->fps, .frame_count = body->frame_count, .clip = -1};
    cutis_result result = file_read(path, 0, allocator, &file, error);
    if (!result) result = gltf_props_read(file.bytes, file.size, path, allocator, &p.character, error);
    file_release(&file);
    if (result || !p.character) return result;

    /* the same clip, in which props may stand still */
    if (body->clip >= 0) p.clip = cutis_character_find_clip(p.character, body->character->clips[body->clip].name);
    result = player_open(&p, allocator, error);

    /* all frames, then part by part */
    size_t floats = p.frame_count * (size_t)p.character->vertex_count * 3;
    float *frames = result ? NULL : memory_allocate(allocator, floats, sizeof *frames);
    if (!result && !frames) result = error_memory(error, "the props of a cache");
    if (!result) result = play(&p, (size_t)p.character->vertex_count, allocator, frames, error);

    arena *memory = cache_memory(cache);
    cutis_cache_prop *props = ARENA_ARRAY(memory, cutis_cache_prop, p.character->part_count + 1);
    if (!result && !props) result = error_memory(error, "the props of a cache");
    for (int i = 0; !result && i < p.character->part_count; i++)
        result = prop_keep(&p, &p.character->parts[i], frames, memory, &props[i], error);
    if (!result) {
        cache->prop_count = p.character->part_count;
        cache->props = props;
    }

    memory_release(allocator, frames, frames ? floats : 0, sizeof *frames);
    player_close(&p);
    return result;
}

cutis_result cutis_cache_play(const char *path, const char *clip, double fps, int vertex_count,
                              const cutis_allocator *allocator, cutis_cache **cache, cutis_error *error)
{
    /* load the character, choose its clip and the times of the frames */
    cache_player p = {0};
    *cache = NULL;
    if (!path_is_gltf(path))
        return error_set(error, CUTIS_ERROR_ARGUMENT, "'%.300s' cannot be played: it must end in .glb or .gltf", path);

    /* character, clip and times */
    cutis_result result = cutis_character_load(path, allocator, &p.character, error);
    if (!result) result = clip_choose(&p, path, clip, error);
    if (!result) result = times_choose(&p, path, fps, error);

    /* fewer vertices than asked for: a bake of another character */
    if (!result && vertex_count > p.character->vertex_count)
        result = error_set(error, CUTIS_ERROR_DATA,
                           "%.200s has %d vertices, %d are required: it was made from another character",
                           path_base(path), p.character->vertex_count, vertex_count);

    /* play the clip into a cache */
    size_t count = vertex_count > 0 ? (size_t)vertex_count : p.character ? (size_t)p.character->vertex_count : 0;
    if (!result) result = player_open(&p, allocator, error);
    if (!result) result = cache_make(p.frame_count, count, allocator, cache, error);

    if (!result) {
        (*cache)->start = p.start;
        (*cache)->fps = p.fps;
        result = play(&p, count, allocator, (float *)(*cache)->positions, error);
    }
    if (!result && p.character->prop_count > 0) result = play_props(&p, path, allocator, *cache, error);

    /* the cache keeps none of these, and is dropped on failure */
    player_close(&p);

    if (result) {
        cutis_cache_destroy(*cache);
        *cache = NULL;
    }
    return result;
}
