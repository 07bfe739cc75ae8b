/*
 * dae_clips.c: the animations of a COLLADA file.
 *
 * A channel drives numbers of a node's transform or the weights of morph targets. Segments are steps, straight, Bezier
 * or Hermite curves by their tangents, or cardinal splines; B-splines are taken as straight. Whole matrices are read at
 * their keys; single numbers and curves are sampled at least 60 times a second, as the result holds linear keys only.
 */
#include <math.h>
#include <string.h>

#include "io/curve_sample.h"
#include "io/dae/dae_scene.h"

/* Keys of one channel of an animation. */
typedef struct dae_channel {
    const xml_node *animation;
    const xml_node *element; /* the node that it drives, or the source of morph weights */
    int op;                  /* the step of the node's transform; -1: morph weights */
    int component;           /* of the step's values or the weights, -1: all */
    int key_count, width;    /* numbers a key */
    const double *times, *values;
    const double *tangents[2]; /* at a segment's end and start, or NULL */
    int tangent_widths[2];     /* numbers a key */
    const char *kinds;         /* (key_count) of the segment behind it: Step, Linear, Bezier, Hermite, Cardinal */
} dae_channel;

typedef struct channel_list {
    dae_channel *items;
    int count, capacity;
} channel_list;

/* ---- reading ---- */

/* "(3)", "(1)(2)" or ".X" behind the name: a component. False when it is none. */
static bool component_parse(const char *text, int *component)
{
    *component = -1;

    if (*text == '.') {
        static const char *const members[4] = {"X", "Y", "Z", "ANGLE"};
        for (int i = 0; i < 4; i++)
            if (strcmp(text + 1, members[i]) == 0) *component = i;
        return *component >= 0;
    }
    if (*text != '(') return true;

    /* one index, or column and row of a matrix */
    int indices[2] = {0, -1};
    const char *cursor = text + 1, *end = cursor + strlen(cursor);
    for (int i = 0; i < 2; i++) {
        long long value;
        if (!text_integer(&cursor, end, &value) || value < 0 || value > 4095) break;
        indices[i] = (int)value;
        if (strncmp(cursor, ")(", 2) != 0) break;
        cursor += 2;
    }

    *component = indices[1] >= 0 ? 4 * indices[1] + indices[0] : indices[0];
    return true;
}

static bool id_is(const xml_node *element, const char *id, size_t length)
{
    const char *own = xml_attribute(element, "id");
    return length && strlen(own) == length && memcmp(own, id, length) == 0;
}

/* "weights(2)" or "weights/(2)", by the id of the source or of its array. */
static bool target_is_weight(const dae_reader *r, const char *target, dae_channel *channel)
{
    size_t length = strcspn(target, "/(");
    const char *rest = target + length + (target[length] == '/');
    for (int m = 0; m < r->s.mesh_count; m++) {
        const xml_node *weights = r->morph_weights[m];
        if (!id_is(weights, target, length) && !id_is(xml_child(weights, "float_array"), target, length)) continue;
        channel->element = weights;
        channel->op = -1;
        return component_parse(rest, &channel->component);
    }
    return false;
}

/* "node/sid", "node/sid.X", "node/sid(3)", or morph weights: what a channel drives. */
static bool target_parse(const dae_reader *r, const char *target, dae_channel *channel)
{
    if (target_is_weight(r, target, channel)) return true;

    /* a node by its id, then its operation by its sid */
    const char *slash = strchr(target, '/');
    int found = slash ? dae_find_node(r, -1, "id", target, (size_t)(slash - target)) : -1;
    if (found < 0) return false;

    const dae_node *node = &r->nodes[found];
    const char *sid = slash + 1;
    size_t length = strcspn(sid, ".(");

    channel->element = node->element;
    channel->op = -1;

    for (int i = 0; i < node->op_count; i++) {
        const char *own = xml_attribute(node->ops[i].element, "sid");
        if (strlen(own) == length && memcmp(own, sid, length) == 0) channel->op = i;
    }

    return channel->op >= 0 && component_parse(sid + length, &channel->component) &&
           channel->component < node->ops[channel->op].count;
}

/* Kinds of all segments; those that the file does not name are straight. */
static const char *kinds_read(dae_reader *r, const xml_node *source, int key_count)
{
    static const char *const names[] = {"STEP", "LINEAR", "BEZIER", "HERMITE", "CARDINAL"};
    static const char letters[] = "SLBHC";

    char *kinds = ARENA_ARRAY(&r->memory, char, key_count + 1);
    const xml_node *list = xml_child(source, "Name_array");
    const char *cursor = NULL;

    /* an unknown word is linear */
    for (int i = 0; kinds && i < key_count; i++) {
        size_t length;
        const char *word = dae_word(list, &cursor, &length);
        kinds[i] = 'L';

        for (int k = 0; word && k < COUNT_OF(names); k++)
            if (strlen(names[k]) == length && memcmp(names[k], word, length) == 0) kinds[i] = letters[k];
        if (!word) list = NULL;
    }

    return kinds;
}

static cutis_result channel_store(dae_reader *r, channel_list *list, const dae_channel *channel)
{
    if (list->count == list->capacity) {
        int capacity = 2 * list->capacity + 64;
        dae_channel *larger = ARENA_ARRAY(&r->memory, dae_channel, capacity);
        if (!larger) return dae_memory(r);
        if (list->count) memcpy(larger, list->items, (size_t)list->count * sizeof *larger);
        list->items = larger;
        list->capacity = capacity;
    }
    list->items[list->count++] = *channel;
    return CUTIS_OK;
}

/* outer: the animation of the library that holds it, which clips name. */
static cutis_result channel_read(dae_reader *r, const xml_node *animation, const xml_node *outer,
                                 const xml_node *element, channel_list *list)
{
    static const char *const semantics[] = {"INPUT", "OUTPUT", "IN_TANGENT", "OUT_TANGENT", "INTERPOLATION"};
    dae_channel channel = {.animation = outer};
    if (!target_parse(r, xml_attribute(element, "target"), &channel)) return CUTIS_OK;

    const xml_node *sampler = dae_find_url(r, animation, xml_attribute(element, "source")), *sources[5];
    for (int i = 0; i < 5; i++)
        sources[i] = dae_find_url(r, animation, xml_attribute(dae_find_input(sampler, semantics[i]), "source"));

    /* keys, up to the first that is not a time or not in order */
    int time_count, value_count, stride;
    channel.times = dae_source_numbers(r, sources[0], &time_count, &stride);
    channel.values = dae_source_numbers(r, sources[1], &value_count, &channel.width);

    if (!channel.times || !channel.values) return dae_memory(r);
    channel.key_count = MIN(time_count, value_count / channel.width);
    for (int i = 0; i < channel.key_count; i++)
        if (!(fabs(channel.times[i]) < 1e6) || (i && channel.times[i] < channel.times[i - 1])) channel.key_count = i;

    int needed = channel.component >= 0 || channel.op < 0 ? 1 : 3;
    if (channel.component < 0 && channel.op >= 0)
        for (int n = 0; n < r->s.node_count; n++)
            if (r->nodes[n].element == channel.element) needed = r->nodes[n].ops[channel.op].count;
    if (channel.width < needed || channel.key_count == 0) return CUTIS_OK;

    /* curves: a number, or a time and a number, for each of a key's numbers */
    channel.kinds = kinds_read(r, sources[4], channel.key_count);
    for (int i = 0; i < 2; i++) {
        int count;
        const double *numbers = dae_source_numbers(r, sources[2 + i], &count, &stride);
        if (!numbers) return dae_memory(r);
        channel.tangent_widths[i] = count / channel.key_count >= 2 * channel.width ? 2 * channel.width : channel.width;
        if (count >= channel.key_count * channel.tangent_widths[i]) channel.tangents[i] = numbers;
    }

    return channel.kinds ? channel_store(r, list, &channel) : dae_memory(r);
}

static cutis_result animations_read(dae_reader *r, const xml_node *above, const xml_node *top, channel_list *list)
{
    for (const xml_node *animation = xml_child(above, "animation"); animation;
         animation = xml_next(animation, "animation")) {
        const xml_node *outer = top ? top : animation;
        cutis_result result = CUTIS_OK;
        for (const xml_node *c = xml_child(animation, "channel"); c && result == CUTIS_OK; c = xml_next(c, "channel"))
            result = channel_read(r, animation, outer, c, list);
        if (result == CUTIS_OK) result = animations_read(r, animation, outer, list);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

/* ---- sampling ---- */

/* The inner point of a segment at one of its ends: its time as a share of the segment, and its value. */
static void inner_point(const dae_channel *channel, int low, bool at_end, int i, double point[2])
{
    int key = low + at_end, width = channel->tangent_widths[!at_end];
    double start = channel->times[low], span = channel->times[low + 1] - start, sign = at_end ? -1 : 1;
    double value = channel->values[(size_t)key * (size_t)channel->width + (size_t)i];

    point[0] = at_end ? 2.0 / 3 : 1.0 / 3;
    point[1] = value;

    /* cardinal: along the neighbours */
    if (channel->kinds[low] == 'C') {
        int before = MAX(key - 1, 0), after = MIN(key + 1, channel->key_count - 1);
        double rise = channel->values[(size_t)after * (size_t)channel->width + (size_t)i] -
                      channel->values[(size_t)before * (size_t)channel->width + (size_t)i];
        double run = channel->times[after] - channel->times[before];
        if (run > 0) point[1] += sign * rise / run * span / 3;
        return;
    }

    /* a tangent of the file, with a time of its own or a third of the span */
    const double *tangent = channel->tangents[!at_end];
    if (!tangent) return;
    tangent += (size_t)key * (size_t)width;

    bool timed = width == 2 * channel->width;
    double time = timed ? tangent[2 * i] : 0, height = timed ? tangent[2 * i + 1] : tangent[i];
    if (!(fabs(time) < 1e12) || !(fabs(height) < 1e30)) return;

    if (channel->kinds[low] == 'B') {
        if (timed) point[0] = CLAMP((time - start) / span, 0.0, 1.0);
        point[1] = height;
    } else {
        if (timed) point[0] = CLAMP((channel->times[key] + sign * time / 3 - start) / span, 0.0, 1.0);
        point[1] = value + sign * height / 3;
    }
}

static double channel_value(const dae_channel *channel, double time, int i)
{
    int low = instants_find(channel->times, channel->key_count, time);

    /* constant and linear */
    double a = channel->values[(size_t)low * (size_t)channel->width + (size_t)i];
    if (low + 1 == channel->key_count || channel->kinds[low] == 'S') return a;

    double b = channel->values[(size_t)(low + 1) * (size_t)channel->width + (size_t)i];
    double span = channel->times[low + 1] - channel->times[low];
    double share = span > 0 ? CLAMP((time - channel->times[low]) / span, 0.0, 1.0) : 0;
    if (channel->kinds[low] == 'L' || !(span > 0)) return a + (b - a) * share;

    /* cubic */
    double first[2], second[2];
    inner_point(channel, low, false, i, first);
    inner_point(channel, low, true, i, second);
    return bezier_value(share, first[0], second[0], (double[4]){a, first[1], second[1], b});
}

/* What a clip takes: the channels of its animations, from `start` to `end`. element NULL: all, as long as they are. */
typedef struct clip_range {
    const xml_node *element;
    double start, end;
} clip_range;

static bool clip_takes(const clip_range *clip, const dae_channel *channel)
{
    if (!clip->element) return true;
    const char *key = "instance_animation";
    for (const xml_node *i = xml_child(clip->element, key); i; i = xml_next(i, key)) {
        const char *url = xml_attribute(i, "url");
        if (strcmp(url + (*url == '#'), xml_attribute(channel->animation, "id")) == 0) return true;
    }
    return false;
}

/* Whether a channel of the clip drives a number of this element; morph: of the weights, -1: a node. */
static bool channel_drives(const dae_channel *channel, const clip_range *clip, const xml_node *element, int morph)
{
    if (channel->element != element || (channel->op < 0) != (morph >= 0)) return false;
    int index = channel->component >= 0 ? channel->component : morph;
    if (morph >= 0 && (index != morph || (channel->component < 0 && morph >= channel->width))) return false;
    return clip_takes(clip, channel);
}

/* Instants at which the channels of an element are sampled; *count 0: none drives it. */
static cutis_result element_instants(dae_reader *r, const channel_list *list, const clip_range *clip,
                                     const xml_node *element, int morph, double **instants, int *count)
{
    *count = 0;

    size_t keys = 0;
    bool dense = false;

    /* how many keys, and whether straight lines between them suffice */
    for (int c = 0; c < list->count; c++) {
        const dae_channel *channel = &list->items[c];
        if (!channel_drives(channel, clip, element, morph)) continue;

        keys += (size_t)channel->key_count;
        dense |= channel->op >= 0 && (channel->component >= 0 || channel->width == 4);
        for (int i = 0; i < channel->key_count; i++) dense |= strchr("BHC", channel->kinds[i]) != NULL;
    }

    if (keys == 0) return CUTIS_OK;
    double *sorted = ARENA_ARRAY(&r->memory, double, keys + 2);
    if (!sorted) return dae_memory(r);

    /* keys within the clip, and its ends */
    size_t used = 0;
    for (int c = 0; c < list->count; c++) {
        const dae_channel *channel = &list->items[c];
        if (!channel_drives(channel, clip, element, morph)) continue;
        for (int i = 0; i < channel->key_count; i++)
            if (channel->times[i] > clip->start && channel->times[i] < clip->end) sorted[used++] = channel->times[i];
    }

    if (clip->element) {
        sorted[used++] = clip->start;
        sorted[used++] = clip->end;
    }

    /* instants between the keys, where these do not suffice */
    size_t total = instants_prepare(sorted, &used, &dense);
    cutis_result result = dae_charge(r, total * sizeof(affine_parts), xml_attribute(element, "id"));
    if (result != CUTIS_OK) return result;

    *instants = ARENA_ARRAY(&r->memory, double, total + 1);
    if (!*instants) return dae_memory(r);
    instants_fill(sorted, used, dense, *instants);
    *count = (int)total;

    return CUTIS_OK;
}

static float *times_store(dae_reader *r, const clip_range *clip, const double *instants, int count)
{
    float *times = ARENA_ARRAY(&r->memory, float, count + 1);
    for (int i = 0; times && i < count; i++) times[i] = (float)(instants[i] - (clip->element ? clip->start : 0));
    return times;
}

static cutis_result node_sample(dae_reader *r, const channel_list *list, const clip_range *clip, int node,
                                scene_clip *out, scene_track *tracks)
{
    /* instants at which any channel of the node has a key */
    const dae_node *from = &r->nodes[node];
    double *instants;
    int count;
    cutis_result result = element_instants(r, list, clip, from->element, -1, &instants, &count);
    if (result != CUTIS_OK || count == 0) return result;

    /* memory for a key at each instant */
    affine_parts *parts = ARENA_ARRAY(&r->memory, affine_parts, count);
    const float *times = times_store(r, clip, instants, count);
    if (!parts || !times) return dae_memory(r);

    /* at each instant: the operations of the node, with the animated numbers replaced */
    for (int i = 0; i < count; i++) {
        dae_op ops[OP_LIMIT];
        memcpy(ops, from->ops, sizeof ops);
        for (int c = 0; c < list->count; c++) {
            const dae_channel *channel = &list->items[c];
            if (!channel_drives(channel, clip, from->element, -1)) continue;

            dae_op *op = &ops[channel->op];
            int first = MAX(channel->component, 0), numbers = channel->component >= 0 ? 1 : op->count;
            for (int k = 0; k < numbers; k++) {
                double value = channel_value(channel, instants[i], k);
                if (fabs(value) < 1e30) op->values[first + k] = value;
            }
        }

        /* the stack of operations as translation, rotation and scale */
        parts[i] = dae_node_local(ops, from->op_count);
    }

    tracks[out->track_count++] = (scene_track){node, count, times, parts};
    return CUTIS_OK;
}

static cutis_result morph_sample(dae_reader *r, const channel_list *list, const clip_range *clip, int mesh, int morph,
                                 scene_clip *out, scene_morph_track *tracks)
{
    const xml_node *element = r->morph_weights[mesh];

    double *instants;
    int count;
    cutis_result result = element_instants(r, list, clip, element, morph, &instants, &count);
    if (result != CUTIS_OK || count == 0) return result;

    /* room for the weights */
    float *weights = ARENA_ARRAY(&r->memory, float, count);
    const float *times = times_store(r, clip, instants, count);
    if (!weights || !times) return dae_memory(r);

    /* each channel that drives the target */
    for (int c = 0; c < list->count; c++) {
        const dae_channel *channel = &list->items[c];
        if (!channel_drives(channel, clip, element, morph)) continue;

        for (int i = 0; i < count; i++) {
            double weight = channel_value(channel, instants[i], channel->component >= 0 ? 0 : morph);
            weights[i] = fabs(weight) < 1e6 ? (float)weight : 0;
        }
    }

    tracks[out->morph_track_count++] = (scene_morph_track){mesh, morph, count, times, weights};
    return CUTIS_OK;
}

/* ---- clips ---- */

static cutis_result clip_read(dae_reader *r, const channel_list *list, const clip_range *range, const char *name)
{
    scene_clip *out = &r->s.clips[r->s.clip_count];

    int morphs = 0;
    for (int m = 0; m < r->s.mesh_count; m++) morphs += r->s.meshes[m].morph_count;

    /* room for all tracks */
    scene_track *tracks = ARENA_ARRAY(&r->memory, scene_track, r->s.node_count + 1);
    scene_morph_track *morph_tracks = ARENA_ARRAY(&r->memory, scene_morph_track, morphs + 1);
    if (!tracks || !morph_tracks) return dae_memory(r);
    *out = (scene_clip){.name = name, .tracks = tracks, .morph_tracks = morph_tracks};
    cutis_result result = CUTIS_OK;

    /* nodes, then morph targets */
    for (int n = 0; n < r->s.node_count && result == CUTIS_OK; n++)
        result = node_sample(r, list, range, n, out, tracks);
    for (int m = 0; m < r->s.mesh_count; m++)
        for (int k = 0; k < r->s.meshes[m].morph_count && result == CUTIS_OK; k++)
            result = morph_sample(r, list, range, m, k, out, morph_tracks);

    if (out->track_count || out->morph_track_count) r->s.clip_count++;
    return result;
}

static double attribute_number(const xml_node *node, const char *key, double missing)
{
    const char *text = xml_attribute(node, key), *cursor = text;
    double value;
    return text_number(&cursor, text + strlen(text), &value) && fabs(value) < 1e6 ? value : missing;
}

static const char *name_of(const xml_node *element)
{
    const char *name = xml_attribute(element, "name");
    return *name ? name : xml_attribute(element, "id");
}

cutis_result dae_read_clips(dae_reader *r)
{
    channel_list list = {0};
    cutis_result result = CUTIS_OK;

    const xml_node *first = NULL;
    size_t capacity = 1;

    /* channels of all animations */
    for (const xml_node *l = r->root->first_child; l && result == CUTIS_OK; l = l->next) {
        if (strcmp(l->name, "library_animation_clips") == 0)
            for (const xml_node *c = xml_child(l, "animation_clip"); c; c = xml_next(c, "animation_clip")) capacity++;

        if (strcmp(l->name, "library_animations") != 0) continue;
        if (!first) first = xml_child(l, "animation");
        result = animations_read(r, l, NULL, &list);
    }
    if (result != CUTIS_OK || list.count == 0) return result;

    /* when the last key is */
    double last = -1e6;
    for (int c = 0; c < list.count; c++) last = MAX(last, list.items[c].times[list.items[c].key_count - 1]);
    r->s.clips = ARENA_ARRAY(&r->memory, scene_clip, capacity);
    if (!r->s.clips) return dae_memory(r);

    /* the clips that the file names, else one of everything */
    for (const xml_node *l = r->root->first_child; l; l = l->next) {
        if (strcmp(l->name, "library_animation_clips") != 0) continue;
        for (const xml_node *c = xml_child(l, "animation_clip"); c && result == CUTIS_OK;
             c = xml_next(c, "animation_clip")) {
            clip_range range = {c, attribute_number(c, "start", 0), attribute_number(c, "end", last)};
            if (range.end < range.start) range.end = range.start;
            result = clip_read(r, &list, &range, name_of(c));
        }
    }

    clip_range all = {NULL, -INFINITY, INFINITY};
    if (result == CUTIS_OK && r->s.clip_count == 0) result = clip_read(r, &list, &all, name_of(first));
    return result;
}
