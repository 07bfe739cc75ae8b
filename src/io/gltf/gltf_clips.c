/*
 * gltf_clips.c: animations of a glTF document as clips.
 *
 * Channels of nodes outside the skeleton are left out. A node that became two joints gives its tracks to
 * both. Weights of morph targets are interleaved in the file; each target becomes a track of its own, less the weight
 * that is part of the rest shape (gltf_mesh.c).
 */
#include <string.h>

#include "io/gltf/gltf_read.h"

/* A sampler, decoded. */
typedef struct clip_sampler {
    cutis_interpolation interpolation;
    int key_count;
    const float *times;
    const float *values;
    int components; /* floats of one value; a key has three values when cubic */
} clip_sampler;

/* Decoded accessors by index, so that channels that share times decode them once. */
typedef struct clip_reader {
    gltf_reader *reader;
    const float **decoded; /* (accessor_count) */
    cutis_track *tracks;
    int track_count, track_capacity;
} clip_reader;

static cutis_result floats_get(clip_reader *r, const gltf_accessor *accessor, const char *use, const float **values)
{
    gltf_document *document = r->reader->document;
    if (!r->decoded[accessor->index]) {
        float *decoded = gltf_allocate(document, (size_t)accessor->count * (size_t)accessor->components, sizeof(float));
        if (!decoded) return gltf_error_memory(document);
        cutis_result result = gltf_accessor_floats(document, accessor, use, decoded);
        if (result != CUTIS_OK) return result;
        r->decoded[accessor->index] = decoded;
    }
    *values = r->decoded[accessor->index];
    return CUTIS_OK;
}

/* Open the sampler of a channel whose values have `components` numbers; `per_key` of them at each key. */
static cutis_result sampler_read(clip_reader *r, const json_t *sampler, const char *place, int components, int per_key,
                                 clip_sampler *result)
{
    gltf_document *document = r->reader->document;

    /* input holds the keys' times, output their values */
    const char *name = gltf_get_string(sampler, "interpolation");
    int input, output;

    cutis_result code = gltf_get_index(document, sampler, "input", place, document->accessor_count, true, &input);
    if (code == CUTIS_OK)
        code = gltf_get_index(document, sampler, "output", place, document->accessor_count, true, &output);
    if (code != CUTIS_OK) return code;

    /* linear where the sampler does not say */
    if (!name || strcmp(name, "LINEAR") == 0)
        result->interpolation = CUTIS_INTERPOLATION_LINEAR;
    else if (strcmp(name, "STEP") == 0)
        result->interpolation = CUTIS_INTERPOLATION_STEP;
    else if (strcmp(name, "CUBICSPLINE") == 0)
        result->interpolation = CUTIS_INTERPOLATION_CUBIC;
    else
        return gltf_error(document, CUTIS_ERROR_FORMAT, "%s: interpolation '%.30s' is not defined by glTF", place,
                          name);

    gltf_accessor times, values;
    gltf_place use = gltf_place_make("input of %.120s", place), output_use = gltf_place_make("output of %.120s", place);
    code = gltf_accessor_open(document, input, use.text, 1, &times);
    if (code == CUTIS_OK) code = gltf_accessor_open(document, output, output_use.text, components, &values);
    if (code != CUTIS_OK) return code;

    /* keys without bytes would all be at time 0 */
    if (!times.bytes && times.count > 1)
        return gltf_error(document, CUTIS_ERROR_DATA, "accessor %d (%s): has no buffer view", input, use.text);

    /* a cubic key has an in-tangent, a value and an out-tangent */
    size_t needed =
        (size_t)times.count * (size_t)per_key * (result->interpolation == CUTIS_INTERPOLATION_CUBIC ? 3 : 1);
    if ((size_t)values.count != needed)
        return gltf_error(document, CUTIS_ERROR_FORMAT, "accessor %d (%s): has %d values, %d keys need %zu", output,
                          output_use.text, values.count, times.count, needed);

    /* decode, or take what another sampler has decoded */
    code = floats_get(r, &times, use.text, &result->times);
    if (code == CUTIS_OK) code = floats_get(r, &values, output_use.text, &result->values);
    if (code != CUTIS_OK) return code;

    /* sampling searches among ascending keys */
    for (int i = 1; i < times.count; i++)
        if (result->times[i] < result->times[i - 1])
            return gltf_error(document, CUTIS_ERROR_FORMAT,
                              "accessor %d (%s): key %d is earlier than the one before it", input, use.text, i);

    result->key_count = times.count;
    result->components = values.components;
    return CUTIS_OK;
}

static cutis_result track_add(clip_reader *r, const cutis_track *track, int components)
{
    gltf_document *document = r->reader->document;

    /* a cubic key has two tangents beside its value */
    if (track->interpolation == CUTIS_INTERPOLATION_CUBIC) components *= 3;

    /* The character copies what tracks share. */
    if (!gltf_charge(document, (size_t)track->key_count * (size_t)(components + 1), sizeof(float)))
        return gltf_error_memory(document);

    if (r->track_count == r->track_capacity) {
        int capacity = MAX(64, 2 * r->track_capacity);
        cutis_track *larger = gltf_allocate(document, (size_t)capacity, sizeof(cutis_track));
        if (!larger) return gltf_error_memory(document);
        if (r->track_count) memcpy(larger, r->tracks, (size_t)r->track_count * sizeof(cutis_track));
        r->tracks = larger;
        r->track_capacity = capacity;
    }

    r->tracks[r->track_count++] = *track;
    return CUTIS_OK;
}

static cutis_result weights_read(clip_reader *r, const json_t *sampler, const char *place, const gltf_node *node)
{
    gltf_document *document = r->reader->document;

    /* the node's weights, interleaved */
    clip_sampler s;
    cutis_result result = sampler_read(r, sampler, place, 1, node->morph_count, &s);
    if (result != CUTIS_OK) return result;

    bool cubic = s.interpolation == CUTIS_INTERPOLATION_CUBIC;
    int values = s.key_count * (cubic ? 3 : 1);

    /* a track for each target */
    for (int m = 0; m < node->morph_count; m++) {
        float *own = gltf_allocate(document, (size_t)values, sizeof(float));
        if (!own) return gltf_error_memory(document);

        for (int i = 0; i < values; i++) {
            own[i] = s.values[(size_t)i * (size_t)node->morph_count + (size_t)m];
            if (!cubic || i % 3 == 1) own[i] -= node->morph_defaults[m]; /* tangents stay */
        }

        cutis_track track = {node->first_morph + m, CUTIS_PATH_MORPH, s.interpolation, s.key_count, s.times, own};
        result = track_add(r, &track, 1);
        if (result != CUTIS_OK) return result;
    }

    return CUTIS_OK;
}

static cutis_result channel_read(clip_reader *r, const json_t *animation, int animation_index, int index)
{
    gltf_reader *reader = r->reader;
    gltf_document *document = reader->document;

    /* the sampler and the node that the channel leads it to */
    const json_t *channel = json_array_get(json_object_get(animation, "channels"), (size_t)index);
    const json_t *target = json_object_get(channel, "target"), *samplers = json_object_get(animation, "samplers");
    gltf_place place = gltf_place_make("animation %d channel %d", animation_index, index);
    int node_index, sampler_index;

    cutis_result result =
        gltf_get_index(document, target, "node", place.text, document->node_count, false, &node_index);
    if (result == CUTIS_OK)
        result = gltf_get_index(document, channel, "sampler", place.text, (int)json_array_size(samplers), true,
                                &sampler_index);
    if (result != CUTIS_OK) return result;

    /* an extension's target may have no node */
    const char *path = gltf_get_string(target, "path");
    if (node_index < 0 || !path) return CUTIS_OK; /* of an extension */

    const gltf_node *node = &reader->nodes[node_index];
    const json_t *sampler = json_array_get(samplers, (size_t)sampler_index);

    /* weights of morph targets: a track each */
    if (strcmp(path, "weights") == 0)
        return node->morph_count > 0 ? weights_read(r, sampler, place.text, node) : CUTIS_OK;

    /* a joint's translation, rotation or scale; other paths and nodes outside the skeleton are left out */
    cutis_track track = {0};
    if (strcmp(path, "translation") == 0)
        track.path = CUTIS_PATH_TRANSLATION;
    else if (strcmp(path, "rotation") == 0)
        track.path = CUTIS_PATH_ROTATION;
    else if (strcmp(path, "scale") == 0)
        track.path = CUTIS_PATH_SCALE;
    else
        return CUTIS_OK;
    if (node->first_joint < 0) return CUTIS_OK;

    /* its keys, as the file has them */
    int components = track.path == CUTIS_PATH_ROTATION ? 4 : 3;
    clip_sampler s;
    result = sampler_read(r, sampler, place.text, components, 1, &s);
    if (result != CUTIS_OK) return result;

    track.interpolation = s.interpolation;
    track.key_count = s.key_count;
    track.times = s.times;
    track.values = s.values;

    /* a node that became several joints gives the track to each */
    for (int joint = node->first_joint; joint >= 0 && result == CUTIS_OK; joint = reader->joint_next[joint]) {
        track.target = joint;
        result = track_add(r, &track, components);
    }
    return result;
}

/* All channels of an animation; `why` takes the sentence of one that fails. */
static cutis_result channels_read(clip_reader *r, const json_t *animation, int index, cutis_error *why)
{
    gltf_document *document = r->reader->document;
    cutis_error *given = document->error;
    cutis_result result = CUTIS_OK;

    document->error = why;
    int channels = (int)json_array_size(json_object_get(animation, "channels"));
    for (int c = 0; c < channels && result == CUTIS_OK; c++) result = channel_read(r, animation, index, c);
    document->error = given;
    return result;
}

/* extras.cutis.focus: where the clip reaches for a thing. */
static cutis_result focus_read(gltf_reader *reader, const json_t *animation, int index, cutis_clip *clip)
{
    const json_t *extras = gltf_get_extras(animation);

    char place[64];
    double values[3];
    bool found;
    snprintf(place, sizeof place, "animations[%d].extras.cutis", index);

    cutis_result result = gltf_get_numbers(reader->document, extras, "focus", place, 3, values, &found);
    if (result != CUTIS_OK || !found) return result;

    float *focus = gltf_allocate(reader->document, 3, sizeof(float));
    if (!focus) return gltf_error_memory(reader->document);
    for (int k = 0; k < 3; k++) focus[k] = (float)values[k];

    clip->focus = focus;
    return CUTIS_OK;
}

cutis_result gltf_read_clips(gltf_reader *reader)
{
    gltf_document *document = reader->document;

    cutis_clip *clips = gltf_allocate(document, (size_t)document->animation_count, sizeof(cutis_clip));
    int *first_tracks = gltf_allocate(document, (size_t)document->animation_count, sizeof(int));
    clip_reader r = {.reader = reader};

    r.decoded = gltf_allocate(document, (size_t)document->accessor_count, sizeof(float *));
    reader->clip_animations = gltf_allocate(document, (size_t)document->animation_count, sizeof(int));
    if (!clips || !first_tracks || !r.decoded || !reader->clip_animations) return gltf_error_memory(document);

    /* a clip for each animation that moves something of the character */
    name_set names = name_set_create(&document->memory);
    int clip_count = 0;
    for (int i = 0; i < document->animation_count; i++) {
        const json_t *animation = json_array_get(document->animations, (size_t)i);

        /* tracks of all channels; an animation of keys that are not numbers is left out, the character is sound */
        const char *name = gltf_get_string(animation, "name");
        int first = r.track_count;
        cutis_error why = {0};
        cutis_result result = channels_read(&r, animation, i, &why);
        if (result == CUTIS_ERROR_DATA) {
            warning_add(&reader->warnings, "animation %d ('%.60s') is ignored: %s", i, name ? name : "", why.text);
            r.track_count = first;
            continue;
        }
        if (result != CUTIS_OK) return error_set(document->error, result, "%s", why.text);

        /* an animation of cameras or other nodes alone is left out */
        if (r.track_count == first) {
            warning_add(&reader->warnings, "animation %d ('%.60s') moves no joint of the character and is ignored", i,
                        name ? name : "");
            continue;
        }

        /* name, tracks and focus of the clip */
        clips[clip_count].name = name_set_add(&names, name, "clip", i);
        clips[clip_count].track_count = r.track_count - first;
        first_tracks[clip_count] = first;

        result = focus_read(reader, animation, i, &clips[clip_count]);
        if (result != CUTIS_OK) return result;
        reader->clip_animations[clip_count] = i;
        if (!clips[clip_count++].name) return gltf_error_memory(document);
    }

    /* pointers only now: the array of tracks moves as it grows */
    for (int i = 0; i < clip_count; i++) clips[i].tracks = r.tracks + first_tracks[i];
    reader->given.clip_count = clip_count;
    reader->given.clips = clips;
    return CUTIS_OK;
}
