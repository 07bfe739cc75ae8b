/*
 * fbx_clips.c: the motions of an FBX file: animation stacks since version 7000, takes before.
 *
 * Curves of single numbers (an angle about x, ...) are evaluated as they stand, with their tangents and weights, at the
 * keys of all the node's curves and at least 60 times a second between them; what comes out are linear keys of whole
 * transforms. Animation layers are added to, replace or are mixed with those below them, as Autodesk's SDK describes
 * (FbxAnimLayer). In-between shapes of a channel are morph targets of their own, whose weights rise and fall in turn.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "io/curve_sample.h"
#include "io/fbx/fbx_scene.h"
#include "math/math3.h"

enum { LAYER_LIMIT = 32, CURVE_LIMIT = 13 * LAYER_LIMIT };
static const double TIME_UNIT = 46186158000.0; /* of a second */

/* ---- curves ---- */

static fbx_curve *curve_make(fbx_reader *r, int count)
{
    fbx_curve *curve = fbx_allocate(&r->file, 1, sizeof *curve);
    if (!curve) return NULL;
    size_t size = (size_t)count + 1;
    curve->times = fbx_allocate(&r->file, size, sizeof(double));
    curve->values = fbx_allocate(&r->file, size, sizeof(double));
    curve->tangents = fbx_allocate(&r->file, size, sizeof *curve->tangents);
    curve->kinds = fbx_allocate(&r->file, size, 1);
    return curve->times && curve->values && curve->tangents && curve->kinds ? curve : NULL;
}

/* Add a key, unless it is not later than the one before. */
static bool curve_add(fbx_curve *curve, double time, double value)
{
    int i = curve->key_count;
    if (!(fabs(time) < 1e7) || !(fabs(value) < 1e30)) return false;
    if (i > 0 && time <= curve->times[i - 1]) return false;
    curve->times[i] = time;
    curve->values[i] = value;
    curve->kinds[i] = 'l';
    curve->tangents[i][2] = 1.0 / 3;
    curve->tangents[i][3] = 1.0 / 3;
    curve->key_count++;
    return true;
}

/* Slopes where the file says "automatic": level at extremes, else along the neighbours. */
static void curve_smooth(fbx_curve *curve)
{
    for (int i = 0; i < curve->key_count; i++) {
        int before = MAX(i - 1, 0), after = MIN(i + 1, curve->key_count - 1);
        double low = curve->values[before], here = curve->values[i], high = curve->values[after], slope = 0;
        if (before < i && after > i && (here - low) * (high - here) > 0)
            slope = (high - low) / (curve->times[after] - curve->times[before]);
        if (curve->kinds[i] == 'a') curve->tangents[i][0] = slope;
        if (i > 0 && curve->kinds[i - 1] == 'a') curve->tangents[i - 1][1] = slope;
    }
    for (int i = 0; i < curve->key_count; i++)
        if (curve->kinds[i] == 'a') curve->kinds[i] = 'c';
}

static double curve_value(const fbx_curve *curve, double time)
{
    int last = curve->key_count - 1, low = instants_find(curve->times, curve->key_count, time);

    /* before the first key and behind the last */
    if (time <= curve->times[0]) return curve->values[0];
    if (low == last) return curve->values[last];

    double span = curve->times[low + 1] - curve->times[low], share = (time - curve->times[low]) / span;
    double a = curve->values[low], d = curve->values[low + 1];

    const double *tangent = curve->tangents[low];
    double points[4] = {a, a + tangent[0] * span * tangent[2], d - tangent[1] * span * tangent[3], d};

    switch (curve->kinds[low]) {
    case 's':
        return a;
    case 'n':
        return d;
    case 'c':
        return bezier_value(share, tangent[2], 1 - tangent[3], points);
    default:
        return a + (d - a) * share;
    }
}

/* Version 7000 and later: keys as arrays, their attributes in runs. */
static const fbx_curve *curve_read(fbx_reader *r, const fbx_node *node)
{
    enum {
        CONSTANT = 2,
        CUBIC = 8,
        NEXT = 256,
        AUTOMATIC = 256,
        USER = 1024,
        WEIGHT_RIGHT = 1 << 24,
        WEIGHT_NEXT = 1 << 25
    };
    int time_count, value_count, flag_count, data_count, run_count;

    /* arrays of the keys */
    const double *times = fbx_numbers(&r->file, fbx_child(node, "KeyTime"), &time_count);
    const double *values = fbx_numbers(&r->file, fbx_child(node, "KeyValueFloat"), &value_count);
    const double *flags = fbx_numbers(&r->file, fbx_child(node, "KeyAttrFlags"), &flag_count);
    const double *data = fbx_numbers(&r->file, fbx_child(node, "KeyAttrDataFloat"), &data_count);
    const double *runs = fbx_numbers(&r->file, fbx_child(node, "KeyAttrRefCount"), &run_count);

    int count = MIN(time_count, value_count);
    fbx_curve *curve = count > 0 ? curve_make(r, count) : NULL;
    if (!curve) return NULL;

    /* attributes are stored for runs of equal keys */
    int run = 0;
    double left = run_count > 0 ? runs[0] : INFINITY;

    for (int i = 0; i < count; i++, left--) {
        while (left <= 0 && run + 1 < run_count) left += runs[++run];
        if (!curve_add(curve, times[i] / TIME_UNIT, values[i]) || run >= flag_count) continue;

        /* interpolation, and whether its tangents are computed */
        int at = curve->key_count - 1;
        double raw = flags[run];
        unsigned flag = raw >= 0 && raw < 4294967296.0 ? (unsigned)raw : (unsigned)(int)CLAMP(raw, -2147483648.0, 0);

        curve->kinds[at] = flag & CONSTANT ? (flag & NEXT ? 'n' : 's') : flag & CUBIC ? 'c' : 'l';
        bool automatic = (flag & AUTOMATIC && !(flag & USER)) || 4 * run + 3 >= data_count;
        if (automatic && curve->kinds[at] == 'c') curve->kinds[at] = 'a';
        if (automatic) continue;

        for (int k = 0; k < 2; k++) {
            double slope = data[4 * run + k];
            curve->tangents[at][k] = fabs(slope) < 1e12 ? slope : 0;
        }

        /* two shares of the interval, as 16-bit integers of a ten-thousandth */
        double packed = data[4 * run + 2]; /* the text form writes their bits as an integer */
        uint32_t weights = packed >= 1e4 && packed < 4294967296.0 ? (uint32_t)packed : bytes_from_float((float)packed);
        if (flag & WEIGHT_RIGHT) curve->tangents[at][2] = CLAMP((double)(weights & 0xffff) / 9999, 1e-4, 1);
        if (flag & WEIGHT_NEXT) curve->tangents[at][3] = CLAMP((double)(weights >> 16) / 9999, 1e-4, 1);
    }

    curve_smooth(curve);
    return curve->key_count ? curve : NULL;
}

/* Before version 7000: time, value, kind and its numbers, one key behind the other. */
static const fbx_curve *take_curve_read(fbx_reader *r, const fbx_node *channel)
{
    /* a key takes three numbers at least */
    const fbx_node *keys = fbx_child(channel, "Key");
    int count = keys ? keys->value_count : 0;
    fbx_curve *curve = count > 0 ? curve_make(r, count / 3 + 1) : NULL;
    if (!curve) return NULL;

    /* time and value, then the interpolation */
    for (int i = 0; i + 2 < count;) {
        double time = fbx_number(keys, i, NAN), value = fbx_number(keys, i + 1, NAN);
        char kind = fbx_text(keys, i + 2, "L")[0];
        bool added = curve_add(curve, time / TIME_UNIT, value);

        int at = curve->key_count - 1;
        i += 3;

        /* constant: at this key's value or, 'n', at the next one's */
        if (kind == 'C') {
            if (added) curve->kinds[at] = fbx_text(keys, i, "s")[0] == 'n' ? 'n' : 's';
            i++;
            continue;
        }

        /* linear keys have no more numbers */
        if (kind != 'U') continue;

        /* cubic: slopes of user and broken tangents, automatic ones elsewhere */
        char mode = fbx_text(keys, i++, "a")[0];
        if (added) curve->kinds[at] = 'a';
        if (mode == 's' || mode == 'b') {
            if (added) {
                curve->kinds[at] = 'c';
                curve->tangents[at][0] = fbx_number(keys, i, 0);
                curve->tangents[at][1] = fbx_number(keys, i + 1, 0);
            }
            i += 2;
        } else if (mode != 'a') {
            i += mode == 't' || mode == 'p' ? 3 : 0; /* tension, continuity, bias */
        }

        /* weights of the tangents; those of one side alone are skipped */
        char weight = fbx_text(keys, i++, "n")[0];
        int weights = weight == 'a' ? 2 : weight == 'l' || weight == 'r' ? 1 : 0;
        if (added && weight == 'a')
            for (int k = 0; k < 2; k++) curve->tangents[at][2 + k] = CLAMP(fbx_number(keys, i + k, 1.0 / 3), 1e-4, 1.0);
        i += weights;
    }

    /* computed tangents need the neighbours of a key */
    curve_smooth(curve);
    return curve->key_count ? curve : NULL;
}

/* ---- sampling ---- */

/* Instants of all curves, and more where they are far apart. NULL: none, or no memory. */
static double *instants_make(fbx_reader *r, const fbx_curve *const *curves, int curve_count, int *count)
{
    size_t keys = 0;
    *count = 0;
    for (int c = 0; c < curve_count; c++) keys += (size_t)curves[c]->key_count;

    double *sorted = keys ? fbx_allocate(&r->file, keys, sizeof *sorted) : NULL;
    if (!sorted) return NULL;

    /* all keys, in one list */
    size_t used = 0;
    for (int c = 0; c < curve_count; c++)
        for (int i = 0; i < curves[c]->key_count; i++) sorted[used++] = curves[c]->times[i];

    /* and instants between them */
    bool dense = true;
    size_t total = instants_prepare(sorted, &used, &dense);
    double *instants = fbx_allocate(&r->file, total, sizeof *instants);
    if (!instants) return NULL;

    instants_fill(sorted, used, dense, instants);
    *count = (int)total;
    return instants;
}

/* Add the curves of some paths of all layers of a motion to a list. */
static void curves_gather(const fbx_motion *motion, int first_path, const fbx_curve **curves, int *count)
{
    for (const fbx_motion *m = motion; m; m = m->next) {
        for (int i = 3 * first_path; i < 9; i++)
            if (m->curves[i / 3][i % 3] && *count < CURVE_LIMIT) curves[(*count)++] = m->curves[i / 3][i % 3];
        if (m->layer && m->layer->weight_curve && *count < CURVE_LIMIT) curves[(*count)++] = m->layer->weight_curve;
    }
}

/* One layer's rotation on top of the others', both as Euler angles. */
static void angles_join(const fbx_layer *layer, double weight, int order, const double value[3], double result[3])
{
    double below[4], above[4], joined[4], dot = 0;

    fbx_euler(result, order, below);
    fbx_euler(value, order, above);

    if (layer->mode == FBX_ADDS) {
        /* the part of its own turn, after which comes what is below */
        double identity[4] = {0, 0, 0, above[3] < 0 ? -1 : 1};
        rotation_blend(identity, above, weight, joined);
        rotation_multiply(below, joined, joined);
    } else {
        for (int k = 0; k < 4; k++) dot += below[k] * above[k];
        for (int k = 0; k < 4 && dot < 0; k++) above[k] = -above[k];
        rotation_blend(below, above, weight, joined);
    }

    fbx_euler_find(joined, order, result);
}

static double scales_join(const fbx_layer *layer, double weight, double below, double above)
{
    if (!(below > 0 && above > 0)) return layer->mode == FBX_ADDS ? below * (1 + weight * (above - 1)) : above;
    double own = det_pow(above, weight);
    return layer->mode == FBX_ADDS ? below * own : det_pow(below, 1 - weight) * own;
}

/* A path of a motion at an instant, layer upon layer. rest: where nothing drives it. order: of its angles. */
static void path_value(const fbx_motion *motion, int path, const double rest[3], int order, double time,
                       double result[3])
{
    for (int k = 0; k < 3; k++)
        result[k] = motion->curves[path][k] ? curve_value(motion->curves[path][k], time) : rest[k];

    /* each layer above it, at its own weight */
    for (const fbx_motion *m = motion->next; m; m = m->next) {
        const fbx_layer *layer = m->layer;
        if (!m->driven[path]) continue;

        double value[3];
        for (int k = 0; k < 3; k++)
            value[k] = m->curves[path][k] ? curve_value(m->curves[path][k], time) : m->defaults[path][k];

        double percent = layer->weight_curve ? curve_value(layer->weight_curve, time) : layer->weight;
        double weight = CLAMP(percent / 100, 0.0, 1.0);

        /* blend by the layer's mode; rotations and scales have modes of their own */
        if (layer->mode == FBX_REPLACES) {
            memcpy(result, value, 3 * sizeof *result);
        } else if (path == 1 && !layer->adds_angles) {
            angles_join(layer, weight, order, value, result);
        } else {
            for (int k = 0; k < 3; k++) {
                double joined = layer->mode == FBX_ADDS ? result[k] + weight * value[k]
                                                        : result[k] + weight * (value[k] - result[k]);
                result[k] = path == 2 && !layer->adds_scales ? scales_join(layer, weight, result[k], value[k]) : joined;
            }
        }
    }
}

static void values_at(const fbx_transform *t, const fbx_motion *motion, double time, double values[3][3])
{
    for (int path = 0; path < 3; path++) path_value(motion, path, t->values[path], t->order, time, values[path]);
}

void fbx_scale_above(const fbx_reader *r, int node, const fbx_motion *motions, double time, double scale[3])
{
    bool all = r->transforms[node].inherit == 0;
    for (int k = 0; k < 3; k++) scale[k] = 1;

    for (int n = r->s.nodes[node].parent; n >= 0; n = r->s.nodes[n].parent) {
        if (r->is_helper[n]) continue;

        /* the node's own scale, animated where it is */
        double own[3];
        memcpy(own, r->transforms[n].values[2], sizeof own);
        if (motions) path_value(&motions[n], 2, r->transforms[n].values[2], 0, time, own);

        for (int k = 0; k < 3; k++) scale[k] *= own[k];
        if (!all) return;
        if (r->transforms[n].inherit != 2) continue;

        /* such a node has its parent's own scale taken away */
        int up = r->s.nodes[n].parent;
        if (up >= 0 && r->is_helper[up]) up = r->s.nodes[up].parent;
        if (up < 0) return;
        n = up;
    }
}

static const float *times_store(fbx_reader *r, const double *instants, int count)
{
    float *times = fbx_allocate(&r->file, (size_t)count, sizeof *times);
    for (int i = 0; times && i < count; i++) times[i] = (float)instants[i];
    return times;
}

/* A node's own curves, and the scale of its parent where that counts. */
static cutis_result node_sample(fbx_reader *r, int node, const fbx_motion *motions, scene_clip *clip,
                                scene_track *tracks)
{
    /* a helper node holds the outer part of the transform: the parent is above it */
    const fbx_transform *t = &r->transforms[node];
    int parent = r->s.nodes[node].parent, helper = r->helpers[node];
    if (helper >= 0) parent = r->s.nodes[helper].parent;

    /* keys where the node has them, and its parent's scale unless that is inherited plainly */
    const fbx_curve *curves[CURVE_LIMIT];
    int curve_count = 0, count;
    curves_gather(&motions[node], 0, curves, &curve_count);
    if (parent >= 0 && t->inherit != 1) curves_gather(&motions[parent], 2, curves, &curve_count);
    double *instants = instants_make(r, curves, curve_count, &count);
    if (!instants) return r->file.memory.failed ? fbx_error_memory(&r->file) : CUTIS_OK;

    /* memory for the keys, of the helper too */
    affine_parts *keys = fbx_allocate(&r->file, (size_t)count, sizeof *keys), *outer = NULL;
    const float *times = times_store(r, instants, count);
    if (!keys || !times) return fbx_error_memory(&r->file);
    if (helper >= 0 && !(outer = fbx_allocate(&r->file, (size_t)count, sizeof *outer)))
        return fbx_error_memory(&r->file);

    /* compose the transform at each instant */
    for (int i = 0; i < count; i++) {
        double values[3][3], above[3];
        values_at(t, &motions[node], instants[i], values);
        fbx_scale_above(r, node, motions, instants[i], above);
        keys[i] = fbx_local(t, (const double(*)[3])values, above, outer ? &outer[i] : NULL);
    }

    tracks[clip->track_count++] = (scene_track){node, count, times, keys};
    if (outer) tracks[clip->track_count++] = (scene_track){helper, count, times, outer};
    return CUTIS_OK;
}

/* What drives a blend shape channel. */
typedef struct fbx_morph_motion {
    fbx_motion motion;
    double rest; /* percent */
    const fbx_shape *shapes;
    int shape_count;
} fbx_morph_motion;

/* The shapes of a channel, from morph `first` of a mesh on. */
static cutis_result morph_sample(fbx_reader *r, int mesh, int first, const fbx_morph_motion *from, scene_clip *clip,
                                 scene_morph_track *tracks)
{
    const fbx_curve *curves[CURVE_LIMIT];
    int curve_count = 0, count;

    /* instants of all layers */
    curves_gather(&from->motion, 0, curves, &curve_count);
    double *instants = instants_make(r, curves, curve_count, &count);
    if (!instants) return r->file.memory.failed ? fbx_error_memory(&r->file) : CUTIS_OK;

    const float *times = times_store(r, instants, count);
    const double rest[3] = {from->rest, 0, 0};

    /* each shape of the channel */
    for (int s = 0; s < from->shape_count; s++) {
        float *weights = fbx_allocate(&r->file, (size_t)count, sizeof *weights);
        if (!weights || !times) return fbx_error_memory(&r->file);

        for (int i = 0; i < count; i++) {
            double value[3];
            path_value(&from->motion, 0, rest, 0, instants[i], value);
            weights[i] = (float)fbx_shape_weight(from->shapes, from->shape_count, s, value[0]);
        }

        tracks[clip->morph_track_count++] = (scene_morph_track){mesh, first + s, count, times, weights};
    }
    return CUTIS_OK;
}

/* What a clip is gathered in. */
typedef struct clip_maker {
    fbx_motion *motions;       /* (node_count) of the first layer */
    fbx_morph_motion **morphs; /* (mesh_count x most morphs) by the first morph of a channel, or NULL */
    int most_morphs;
} clip_maker;

static cutis_result clip_finish(fbx_reader *r, const clip_maker *m, const char *name)
{
    scene_clip *clip = &r->s.clips[r->s.clip_count];

    /* room for all tracks */
    size_t morph_capacity = (size_t)r->s.mesh_count * (size_t)m->most_morphs;
    scene_track *tracks = fbx_allocate(&r->file, (size_t)r->s.node_count + 1, sizeof *tracks);
    scene_morph_track *morph_tracks = fbx_allocate(&r->file, morph_capacity + 1, sizeof *morph_tracks);
    if (!tracks || !morph_tracks) return fbx_error_memory(&r->file);

    *clip = (scene_clip){.name = name, .tracks = tracks, .morph_tracks = morph_tracks};

    for (int n = 0; n < r->s.node_count; n++) {
        cutis_result result = node_sample(r, n, m->motions, clip, tracks);
        if (result != CUTIS_OK) return result;
    }

    for (int i = 0; i < (int)morph_capacity; i++) {
        if (!m->morphs[i]) continue;
        cutis_result result = morph_sample(r, i / m->most_morphs, i % m->most_morphs, m->morphs[i], clip, morph_tracks);
        if (result != CUTIS_OK) return result;
    }

    if (clip->track_count || clip->morph_track_count) r->s.clip_count++;
    return CUTIS_OK;
}

static cutis_result maker_start(fbx_reader *r, clip_maker *m)
{
    m->most_morphs = 0;
    for (int i = 0; i < r->s.mesh_count; i++) m->most_morphs = MAX(m->most_morphs, r->s.meshes[i].morph_count);
    m->motions = fbx_allocate(&r->file, (size_t)r->s.node_count + 1, sizeof *m->motions);
    m->morphs = fbx_allocate(&r->file, (size_t)r->s.mesh_count * (size_t)m->most_morphs + 1, sizeof *m->morphs);
    return m->motions && m->morphs ? CUTIS_OK : fbx_error_memory(&r->file);
}

/* ---- version 7000 and later ---- */

/* The motion that a layer gives a node or channel, behind that of the first layer; NULL: no memory. */
static fbx_motion *motion_of_layer(fbx_reader *r, fbx_motion *first, const fbx_layer *layer)
{
    if (!first->layer) first->layer = layer;
    for (fbx_motion *m = first;; m = m->next) {
        if (m->layer == layer) return m;
        if (m->next) continue;
        m->next = fbx_allocate(&r->file, 1, sizeof *m->next);
        if (m->next) m->next->layer = layer;
        return m->next;
    }
}

/* Which curve node drives which property: links from the driven object to its curve nodes. */
typedef struct curve_target {
    int object; /* model or channel, -1: none */
    int path;   /* 0 translation, 1 rotation, 2 scaling, 3 morph */
} curve_target;

static void targets_find(fbx_reader *r, curve_target *targets)
{
    static const char *const labels[4] = {"Lcl Translation", "Lcl Rotation", "Lcl Scaling", "DeformPercent"};
    for (int i = 0; i < r->object_count; i++) {
        const char *type = r->objects[i].node->name;
        if (strcmp(type, "Model") != 0 && strcmp(type, "Deformer") != 0) continue;
        int cursor = -2, node;
        const char *label;
        while ((node = fbx_next_child(r, i, "AnimationCurveNode", &cursor, &label)) >= 0)
            for (int path = 0; label && path < 4; path++)
                if (strcmp(label, labels[path]) == 0) targets[node] = (curve_target){i, path};
    }
}

/* The mesh whose morph a channel is. */
static int channel_mesh(const fbx_reader *r, int channel)
{
    for (int i = 0; i < r->object_count; i++) {
        if (strcmp(r->objects[i].node->name, "Geometry") != 0 || r->objects[i].index < 0) continue;
        int cursor = -2, blend;
        while ((blend = fbx_next_child(r, i, "Deformer", &cursor, NULL)) >= 0) {
            int inner = -2, found;
            while ((found = fbx_next_child(r, blend, "Deformer", &inner, NULL)) >= 0)
                if (found == channel) return r->objects[i].index;
        }
    }
    return -1;
}

/* The motion of a channel's morphs; NULL: it has none, or no memory. */
static fbx_motion *channel_motion(fbx_reader *r, int channel, clip_maker *m)
{
    int mesh = channel_mesh(r, channel), first = r->objects[channel].index;
    if (mesh < 0 || first < 0 || first >= r->s.meshes[mesh].morph_count) return NULL;

    /* the motion that is there already */
    fbx_morph_motion **place = &m->morphs[mesh * m->most_morphs + first];
    if (*place) return &(*place)->motion;

    /* or a new one, with the shapes of its channel */
    *place = fbx_allocate(&r->file, 1, sizeof **place);
    if (!*place) return NULL;
    (*place)->shapes = fbx_channel_shapes(r, channel, &(*place)->shape_count);
    const fbx_node *node = r->objects[channel].node;

    (*place)->rest = fbx_property_number(node, "DeformPercent", fbx_number(fbx_child(node, "DeformPercent"), 0, 0));
    if (first + (*place)->shape_count > r->s.meshes[mesh].morph_count) *place = NULL;

    return *place ? &(*place)->motion : NULL;
}

/* base: the layer below all others, whose numbers without a curve are the node's own. */
static void curve_node_read(fbx_reader *r, int node, const curve_target *target, const fbx_layer *layer,
                            const fbx_layer *base, clip_maker *m)
{
    const fbx_object *driven = &r->objects[target->object];

    bool is_model = strcmp(driven->node->name, "Model") == 0;
    if (target->path < 3 && (driven->index < 0 || !is_model)) return;

    int path = target->path < 3 ? target->path : 0;
    fbx_motion *motion = target->path < 3 ? &m->motions[driven->index] : channel_motion(r, target->object, m);
    if (!motion) return;

    if (!motion->layer) motion->layer = base;
    motion = motion_of_layer(r, motion, layer);
    if (!motion) return;

    /* numbers without a curve, then the curves */
    static const char *const names[3] = {"d|X", "d|Y", "d|Z"};
    motion->driven[path] = true;
    for (int k = 0; k < 3; k++)
        motion->defaults[path][k] = fbx_property_number(r->objects[node].node, names[k], path == 2 ? 1 : 0);

    int cursor = -2, curve;
    const char *label;
    while ((curve = fbx_next_child(r, node, "AnimationCurve", &cursor, &label)) >= 0) {
        int axis = label && strlen(label) == 3 ? label[2] - 'X' : 0;
        if (axis < 0 || axis > 2) axis = 0;
        const fbx_curve **place = &motion->curves[path][axis];
        if (!*place) *place = curve_read(r, r->objects[curve].node);
    }
}

/* How a layer is joined. False when it is muted. */
static bool layer_read(fbx_reader *r, int object, fbx_layer *layer)
{
    const fbx_node *node = r->objects[object].node;

    /* mode, and what it adds */
    double mode = fbx_property_number(node, "BlendMode", 0);
    *layer = (fbx_layer){.mode = mode == 1   ? FBX_REPLACES
                                 : mode == 2 ? FBX_MIXES
                                             : FBX_ADDS,
                         .adds_angles = fbx_property_number(node, "RotationAccumulationMode", 0) == 1,
                         .adds_scales = fbx_property_number(node, "ScaleAccumulationMode", 0) == 1,
                         .weight = fbx_property_number(node, "Weight", 100)};

    int cursor = -2, driver;
    const char *label;

    while ((driver = fbx_next_child(r, object, "AnimationCurveNode", &cursor, &label)) >= 0) {
        int inner = -2;
        int curve = fbx_next_child(r, driver, "AnimationCurve", &inner, NULL);
        if (label && strcmp(label, "Weight") == 0 && curve >= 0)
            layer->weight_curve = curve_read(r, r->objects[curve].node);
    }

    return fbx_property_number(node, "Mute", 0) == 0;
}

/* The layers of a stack; one that plays alone mutes all others. */
static cutis_result layers_read(fbx_reader *r, int stack, const curve_target *targets, clip_maker *m)
{
    int cursor = -2, layer, count = 0, alone = -1;

    /* how many there are, and whether one plays alone */
    while ((layer = fbx_next_child(r, stack, "AnimationLayer", &cursor, NULL)) >= 0) {
        count++;
        if (fbx_property_number(r->objects[layer].node, "Solo", 0) != 0) alone = layer;
    }

    if (count > LAYER_LIMIT)
        warning_add(&r->warnings, "clip '%.60s' has %d animation layers; the first %d are read", r->objects[stack].name,
                    count, LAYER_LIMIT);

    fbx_layer *layers = fbx_allocate(&r->file, LAYER_LIMIT, sizeof *layers);
    if (!layers) return fbx_error_memory(&r->file);

    /* layers from the base up */
    cursor = -2;
    count = 0;
    while ((layer = fbx_next_child(r, stack, "AnimationLayer", &cursor, NULL)) >= 0 && count < LAYER_LIMIT) {
        int inner = -2, node;
        bool plays = layer_read(r, layer, &layers[count]) && (alone < 0 || alone == layer);
        while (plays && (node = fbx_next_child(r, layer, "AnimationCurveNode", &inner, NULL)) >= 0)
            if (targets[node].object >= 0) curve_node_read(r, node, &targets[node], &layers[count], layers, m);

        count++;
    }

    return r->file.memory.failed ? fbx_error_memory(&r->file) : CUTIS_OK;
}

static cutis_result stacks_read(fbx_reader *r)
{
    /* what each curve node drives */
    curve_target *targets = fbx_allocate(&r->file, (size_t)r->object_count + 1, sizeof *targets);
    if (!targets) return fbx_error_memory(&r->file);
    for (int i = 0; i < r->object_count; i++) targets[i].object = -1;
    targets_find(r, targets);

    /* a clip for each stack */
    for (int i = 0; i < r->object_count; i++) {
        if (strcmp(r->objects[i].node->name, "AnimationStack") != 0) continue;
        clip_maker m;
        cutis_result result = maker_start(r, &m);
        if (result == CUTIS_OK) result = layers_read(r, i, targets, &m);
        if (result == CUTIS_OK) result = clip_finish(r, &m, r->objects[i].name);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

/* ---- before version 7000 ---- */

/* The weight of a morph, in percent. */
static void take_morph_read(fbx_reader *r, const fbx_node *channel, fbx_morph_motion **morph)
{
    static const fbx_shape whole = {-1, 100};
    *morph = fbx_allocate(&r->file, 1, sizeof **morph);
    if (!*morph) return;
    (*morph)->shapes = &whole;
    (*morph)->shape_count = 1;
    (*morph)->motion.curves[0][0] = take_curve_read(r, channel);
}

static void take_model_read(fbx_reader *r, const fbx_node *model, clip_maker *m)
{
    static const char *const paths[3] = {"T", "R", "S"}, *const axes[3] = {"X", "Y", "Z"};

    /* the node that the model became */
    int object = model->value_count ? fbx_find(r, &model->values[0]) : -1;
    if (object < 0 || r->objects[object].index < 0 || strcmp(r->objects[object].node->name, "Model") != 0) return;
    int node = r->objects[object].index;

    /* channels: the transform, or a morph target */
    for (const fbx_node *n = model->first_child; n; n = n->next) {
        if (strcmp(n->name, "Channel") != 0) continue;
        if (strcmp(fbx_text(n, 0, ""), "Transform") == 0) {
            for (const fbx_node *path = n->first_child; path; path = path->next)
                for (const fbx_node *axis = path->first_child; axis; axis = axis->next)
                    for (int i = 0; i < 9; i++)
                        if (strcmp(fbx_text(path, 0, ""), paths[i / 3]) == 0 &&
                            strcmp(fbx_text(axis, 0, ""), axes[i % 3]) == 0)
                            m->motions[node].curves[i / 3][i % 3] = take_curve_read(r, axis);
            continue;
        }

        /* a morph target of one of the model's meshes */
        for (int mesh = 0; mesh < r->s.mesh_count; mesh++)
            for (int k = 0; r->s.meshes[mesh].node == node && k < r->s.meshes[mesh].morph_count; k++)
                if (strcmp(r->s.meshes[mesh].morphs[k].name, fbx_text(n, 0, "")) == 0)
                    take_morph_read(r, n, &m->morphs[mesh * m->most_morphs + k]);
    }
}

/* The keys of a channel's axis, by the letters of the path to it. */
static const fbx_node *channel_find(const fbx_node *node, const char *name)
{
    for (const fbx_node *n = node ? node->first_child : NULL; n; n = n->next)
        if (strcmp(n->name, "Channel") == 0 && strcmp(fbx_text(n, 0, ""), name) == 0) return n;
    return NULL;
}

bool fbx_take_uneven(fbx_reader *r, int object)
{
    const fbx_node *takes = fbx_child(r->file.root, "Takes");
    for (const fbx_node *take = takes ? takes->first_child : NULL; take; take = take->next)
        for (const fbx_node *model = take->first_child; model; model = model->next) {
            if (strcmp(model->name, "Model") != 0 || model->value_count == 0) continue;
            if (fbx_find(r, &model->values[0]) != object) continue;
            static const char *const axes[3] = {"X", "Y", "Z"};

            /* its scale along the three axes */
            const fbx_node *scale = channel_find(channel_find(model, "Transform"), "S");
            const fbx_curve *curves[3];
            for (int k = 0; k < 3; k++) curves[k] = take_curve_read(r, channel_find(scale, axes[k]));

            /* curves that differ from axis to axis, key by key */
            for (int k = 1; k < 3; k++) {
                if (!curves[0] && !curves[k]) continue;
                if (!curves[0] || !curves[k] || curves[0]->key_count != curves[k]->key_count) return true;
                for (int i = 0; i < curves[0]->key_count; i++)
                    if (!(fabs(curves[k]->values[i] - curves[0]->values[i]) <= 1e-4 * fabs(curves[0]->values[i])))
                        return true;
            }
        }

    return false;
}

static cutis_result takes_read(fbx_reader *r)
{
    const fbx_node *takes = fbx_child(r->file.root, "Takes");

    for (const fbx_node *take = takes ? takes->first_child : NULL; take; take = take->next) {
        if (strcmp(take->name, "Take") != 0) continue;
        clip_maker m;
        cutis_result result = maker_start(r, &m);
        if (result != CUTIS_OK) return result;

        /* models of the take */
        for (const fbx_node *n = take->first_child; n; n = n->next)
            if (strcmp(n->name, "Model") == 0) take_model_read(r, n, &m);

        result = clip_finish(r, &m, fbx_text(take, 0, ""));
        if (result != CUTIS_OK) return result;
    }

    return CUTIS_OK;
}

cutis_result fbx_read_clips(fbx_reader *r)
{
    const fbx_node *takes = fbx_child(r->file.root, "Takes");
    size_t capacity = (size_t)r->object_count + 1;
    for (const fbx_node *n = takes ? takes->first_child : NULL; n; n = n->next) capacity++;
    r->s.clips = fbx_allocate(&r->file, capacity, sizeof *r->s.clips);
    if (!r->s.clips) return fbx_error_memory(&r->file);
    return r->file.version >= 7000 ? stacks_read(r) : takes_read(r);
}
