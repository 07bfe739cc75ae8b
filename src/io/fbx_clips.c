/*
 * fbx_clips.c: the motions of an FBX file: animation stacks since version 7000, takes before.
 *
 * Curves of single numbers (an angle about x, ...) are evaluated as they stand, with their tangents and weights, at the
 * keys of all the node's curves and at least 60 times a second between them; what comes out are linear keys of whole
 * transforms. Of several animation layers the first that moves a property counts.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/fbx_scene.h"

enum { SAMPLE_RATE = 60, SAMPLE_LIMIT = 1 << 20 };
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

/* The share of the interval at which a Bezier curve with these inner times is at `share`. */
static double bezier_share(double share, double one, double two)
{
    double low = 0, high = 1;
    for (int i = 0; i < 40; i++) {
        double s = (low + high) / 2, t = 1 - s;
        double x = 3 * t * t * s * one + 3 * t * s * s * two + s * s * s;
        if (x < share)
            low = s;
        else
            high = s;
    }
    return (low + high) / 2;
}

static double curve_value(const fbx_curve *curve, double time)
{
    int low = 0, high = curve->key_count - 1;
    if (time <= curve->times[0]) return curve->values[0];
    if (time >= curve->times[high]) return curve->values[high];
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (curve->times[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    double span = curve->times[high] - curve->times[low], share = (time - curve->times[low]) / span;
    double a = curve->values[low], d = curve->values[high];
    switch (curve->kinds[low]) {
    case 's':
        return a;
    case 'n':
        return d;
    case 'c': {
        const double *tangent = curve->tangents[low];
        double b = a + tangent[0] * span * tangent[2], c = d - tangent[1] * span * tangent[3];
        bool even = fabs(tangent[2] - 1.0 / 3) < 1e-6 && fabs(tangent[3] - 1.0 / 3) < 1e-6;
        double s = even ? share : bezier_share(share, tangent[2], 1 - tangent[3]), t = 1 - s;
        return t * t * t * a + 3 * t * t * s * b + 3 * t * s * s * c + s * s * s * d;
    }
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
    const double *times = fbx_numbers(&r->file, fbx_child(node, "KeyTime"), &time_count);
    const double *values = fbx_numbers(&r->file, fbx_child(node, "KeyValueFloat"), &value_count);
    const double *flags = fbx_numbers(&r->file, fbx_child(node, "KeyAttrFlags"), &flag_count);
    const double *data = fbx_numbers(&r->file, fbx_child(node, "KeyAttrDataFloat"), &data_count);
    const double *runs = fbx_numbers(&r->file, fbx_child(node, "KeyAttrRefCount"), &run_count);
    int count = MIN(time_count, value_count);
    fbx_curve *curve = count > 0 ? curve_make(r, count) : NULL;
    if (!curve) return NULL;
    int run = 0;
    double left = run_count > 0 ? runs[0] : INFINITY;
    for (int i = 0; i < count; i++, left--) {
        while (left <= 0 && run + 1 < run_count) left += runs[++run];
        if (!curve_add(curve, times[i] / TIME_UNIT, values[i]) || run >= flag_count) continue;
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
    const fbx_node *keys = fbx_child(channel, "Key");
    int count = keys ? keys->value_count : 0;
    fbx_curve *curve = count > 0 ? curve_make(r, count / 3 + 1) : NULL;
    if (!curve) return NULL;
    for (int i = 0; i + 2 < count;) {
        double time = fbx_number(keys, i, NAN), value = fbx_number(keys, i + 1, NAN);
        char kind = fbx_text(keys, i + 2, "L")[0];
        bool added = curve_add(curve, time / TIME_UNIT, value);
        int at = curve->key_count - 1;
        i += 3;
        if (kind == 'C') {
            if (added) curve->kinds[at] = fbx_text(keys, i, "s")[0] == 'n' ? 'n' : 's';
            i++;
            continue;
        }
        if (kind != 'U') continue;
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
        char weight = fbx_text(keys, i++, "n")[0];
        int weights = weight == 'a' ? 2 : weight == 'l' || weight == 'r' ? 1 : 0;
        if (added && weight == 'a')
            for (int k = 0; k < 2; k++) curve->tangents[at][2 + k] = CLAMP(fbx_number(keys, i + k, 1.0 / 3), 1e-4, 1.0);
        i += weights;
    }
    curve_smooth(curve);
    return curve->key_count ? curve : NULL;
}

/* ---- sampling ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Instants of all curves, and more where they are far apart. NULL: none, or no memory. */
static double *instants_make(fbx_reader *r, const fbx_curve *const *curves, int curve_count, int *count)
{
    size_t keys = 0;
    *count = 0;
    for (int c = 0; c < curve_count; c++) keys += curves[c] ? (size_t)curves[c]->key_count : 0;
    double *sorted = keys ? fbx_allocate(&r->file, keys, sizeof *sorted) : NULL;
    if (!sorted) return NULL;
    size_t used = 0;
    for (int c = 0; c < curve_count; c++)
        for (int i = 0; curves[c] && i < curves[c]->key_count; i++) sorted[used++] = curves[c]->times[i];
    qsort(sorted, used, sizeof *sorted, compare_doubles);
    size_t kept = 1;
    for (size_t i = 1; i < used; i++)
        if (sorted[i] - sorted[kept - 1] > 1e-5) sorted[kept++] = sorted[i];
    double total = 1;
    for (size_t i = 1; i < kept; i++) total += ceil((sorted[i] - sorted[i - 1]) * SAMPLE_RATE - 1e-3);
    if (total > SAMPLE_LIMIT) return NULL;
    double *instants = fbx_allocate(&r->file, (size_t)total + kept + 1, sizeof *instants);
    if (!instants) return NULL;
    for (size_t i = 0; i < kept; i++) {
        instants[(*count)++] = sorted[i];
        int steps = i + 1 < kept ? (int)ceil((sorted[i + 1] - sorted[i]) * SAMPLE_RATE - 1e-3) : 0;
        for (int k = 1; k < steps; k++) instants[(*count)++] = sorted[i] + (sorted[i + 1] - sorted[i]) * k / steps;
    }
    return instants;
}

static void values_at(const fbx_transform *t, const fbx_motion *motion, double time, double values[3][3])
{
    memcpy(values, t->values, 9 * sizeof(double));
    for (int path = 0; path < 3; path++)
        for (int k = 0; k < 3; k++)
            if (motion->curves[path][k]) values[path][k] = curve_value(motion->curves[path][k], time);
}

void fbx_scale_above(const fbx_reader *r, int node, const fbx_motion *motions, double time, double scale[3])
{
    bool all = r->transforms[node].inherit == 0;
    for (int k = 0; k < 3; k++) scale[k] = 1;
    for (int n = r->s.nodes[node].parent; n >= 0; n = r->s.nodes[n].parent) {
        if (r->is_helper[n]) continue;
        for (int k = 0; k < 3; k++) {
            const fbx_curve *curve = motions ? motions[n].curves[2][k] : NULL;
            scale[k] *= curve ? curve_value(curve, time) : r->transforms[n].values[2][k];
        }
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
    const fbx_transform *t = &r->transforms[node];
    int parent = r->s.nodes[node].parent, helper = r->helpers[node];
    if (helper >= 0) parent = r->s.nodes[helper].parent;
    const fbx_curve *curves[12] = {NULL};
    for (int i = 0; i < 9; i++) curves[i] = motions[node].curves[i / 3][i % 3];
    for (int k = 0; parent >= 0 && t->inherit != 1 && k < 3; k++) curves[9 + k] = motions[parent].curves[2][k];
    int count;
    double *instants = instants_make(r, curves, 12, &count);
    if (!instants) return r->file.memory.failed ? fbx_error_memory(&r->file) : CUTIS_OK;
    affine_parts *keys = fbx_allocate(&r->file, (size_t)count, sizeof *keys), *outer = NULL;
    const float *times = times_store(r, instants, count);
    if (!keys || !times) return fbx_error_memory(&r->file);
    if (helper >= 0 && !(outer = fbx_allocate(&r->file, (size_t)count, sizeof *outer)))
        return fbx_error_memory(&r->file);
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

static cutis_result morph_sample(fbx_reader *r, int mesh, int morph, const fbx_curve *curve, scene_clip *clip,
                                 scene_morph_track *tracks)
{
    int count;
    double *instants = instants_make(r, &curve, 1, &count);
    if (!instants) return r->file.memory.failed ? fbx_error_memory(&r->file) : CUTIS_OK;
    float *weights = fbx_allocate(&r->file, (size_t)count, sizeof *weights);
    const float *times = times_store(r, instants, count);
    if (!weights || !times) return fbx_error_memory(&r->file);
    for (int i = 0; i < count; i++) weights[i] = (float)(curve_value(curve, instants[i]) / 100);
    tracks[clip->morph_track_count++] = (scene_morph_track){mesh, morph, count, times, weights};
    return CUTIS_OK;
}

/* What a clip is gathered in. */
typedef struct clip_maker {
    fbx_motion *motions;      /* (node_count) */
    const fbx_curve **morphs; /* (mesh_count x most morphs) */
    int most_morphs;
} clip_maker;

static cutis_result clip_finish(fbx_reader *r, const clip_maker *m, const char *name)
{
    scene_clip *clip = &r->s.clips[r->s.clip_count];
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

static void curve_node_read(fbx_reader *r, int node, const curve_target *target, clip_maker *m)
{
    int cursor = -2, curve;
    const char *label;
    while ((curve = fbx_next_child(r, node, "AnimationCurve", &cursor, &label)) >= 0) {
        int axis = label && strlen(label) == 3 ? label[2] - 'X' : 0;
        if (axis < 0 || axis > 2) axis = 0;
        const fbx_object *driven = &r->objects[target->object];
        if (target->path < 3) {
            if (driven->index < 0 || strcmp(driven->node->name, "Model") != 0) continue;
            const fbx_curve **place = &m->motions[driven->index].curves[target->path][axis];
            if (!*place) *place = curve_read(r, r->objects[curve].node);
        } else {
            int mesh = channel_mesh(r, target->object);
            if (mesh < 0 || driven->index < 0 || driven->index >= r->s.meshes[mesh].morph_count) continue;
            m->morphs[mesh * m->most_morphs + driven->index] = curve_read(r, r->objects[curve].node);
        }
    }
}

static cutis_result stacks_read(fbx_reader *r)
{
    curve_target *targets = fbx_allocate(&r->file, (size_t)r->object_count + 1, sizeof *targets);
    if (!targets) return fbx_error_memory(&r->file);
    for (int i = 0; i < r->object_count; i++) targets[i].object = -1;
    targets_find(r, targets);
    for (int i = 0; i < r->object_count; i++) {
        if (strcmp(r->objects[i].node->name, "AnimationStack") != 0) continue;
        clip_maker m;
        cutis_result result = maker_start(r, &m);
        if (result != CUTIS_OK) return result;
        int cursor = -2, layer, layers = 0;
        while ((layer = fbx_next_child(r, i, "AnimationLayer", &cursor, NULL)) >= 0) {
            int inner = -2, node;
            layers++;
            while ((node = fbx_next_child(r, layer, "AnimationCurveNode", &inner, NULL)) >= 0)
                if (targets[node].object >= 0) curve_node_read(r, node, &targets[node], &m);
        }
        if (layers > 1)
            warning_add(&r->warnings,
                        "clip '%.60s' has %d animation layers; they are not blended, the first one counts",
                        r->objects[i].name, layers);
        result = clip_finish(r, &m, r->objects[i].name);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

/* ---- before version 7000 ---- */

static void take_model_read(fbx_reader *r, const fbx_node *model, clip_maker *m)
{
    static const char *const paths[3] = {"T", "R", "S"}, *const axes[3] = {"X", "Y", "Z"};
    int object = model->value_count ? fbx_find(r, &model->values[0]) : -1;
    if (object < 0 || r->objects[object].index < 0 || strcmp(r->objects[object].node->name, "Model") != 0) return;
    int node = r->objects[object].index;
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
        for (int mesh = 0; mesh < r->s.mesh_count; mesh++)
            for (int k = 0; r->s.meshes[mesh].node == node && k < r->s.meshes[mesh].morph_count; k++)
                if (strcmp(r->s.meshes[mesh].morphs[k].name, fbx_text(n, 0, "")) == 0)
                    m->morphs[mesh * m->most_morphs + k] = take_curve_read(r, n);
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
            const fbx_node *scale = channel_find(channel_find(model, "Transform"), "S");
            const fbx_curve *curves[3];
            for (int k = 0; k < 3; k++) curves[k] = take_curve_read(r, channel_find(scale, axes[k]));
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
