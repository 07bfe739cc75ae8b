/*
 * gltf_quantize.c: floats of vertices and rotations as integers.
 *
 * All positions of the document share one way back, p = scale x q + place: it goes into the inverse bind matrices of
 * skins, and a mesh without a skin moves to a new child of its node that holds it. Positions and their morph targets
 * are 16-bit, normals 8-bit, texture coordinates within 0..1, weights and rotations 16-bit. What does not fit (texture
 * coordinates beyond 0..1, several sets of weights, cubic rotations, meshes of props) stays as it is.
 */
#include "io/gltf/gltf_quantize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum quant_use {
    QUANT_NONE,
    QUANT_CONFLICT, /* two uses that do not go together */
    QUANT_POSITION,
    QUANT_MORPH,
    QUANT_NORMAL,
    QUANT_MORPH_NORMAL,
    QUANT_TEXCOORD,
    QUANT_WEIGHTS,
    QUANT_ROTATION,
    QUANT_KEPT
} quant_use;

typedef struct quant_accessor {
    quant_use use;
    int count, components;
    float *values; /* (count x components); NULL: stays as it is */
} quant_accessor;

struct gltf_quantizer {
    int accessor_count, skin_count;
    quant_accessor *accessors;
    float **binds; /* (skin_count) inverse bind matrices, (joints x 16) */
    int *bind_counts;
    double place[3], scale;
    bool positions; /* they can be rounded */
};

/* ---- what accessors are for ---- */

static void use_note(gltf_quantizer *q, const json_t *index, quant_use use)
{
    json_int_t i = json_is_integer(index) ? json_integer_value(index) : -1;
    if (i < 0 || i >= q->accessor_count) return;
    quant_use *own = &q->accessors[i].use;
    *own = *own == QUANT_NONE || *own == use ? use : QUANT_CONFLICT;
}

static quant_use attribute_use(const char *name, bool morph, bool several_sets)
{
    if (strcmp(name, "POSITION") == 0) return morph ? QUANT_MORPH : QUANT_POSITION;
    if (strcmp(name, "NORMAL") == 0) return morph ? QUANT_MORPH_NORMAL : QUANT_NORMAL;
    if (strncmp(name, "TEXCOORD_", 9) == 0 && !morph) return QUANT_TEXCOORD;
    if (strcmp(name, "WEIGHTS_0") == 0 && !several_sets) return QUANT_WEIGHTS;
    return QUANT_KEPT;
}

/* kept: the mesh is a prop's, whose node tells what it is. */
static void mesh_note(gltf_quantizer *q, json_t *mesh, bool kept)
{
    json_t *primitives = json_object_get(mesh, "primitives"), *accessor;
    const char *name;

    /* attributes, targets and indices of each primitive */
    for (size_t i = 0; i < json_array_size(primitives); i++) {
        json_t *attributes = json_object_get(json_array_get(primitives, i), "attributes");
        json_t *targets = json_object_get(json_array_get(primitives, i), "targets");

        bool several = json_object_get(attributes, "WEIGHTS_1") != NULL;
        json_object_foreach(attributes, name, accessor)
            use_note(q, accessor, kept ? QUANT_KEPT : attribute_use(name, false, several));

        for (size_t t = 0; t < json_array_size(targets); t++)
            json_object_foreach(json_array_get(targets, t), name, accessor)
                use_note(q, accessor, kept ? QUANT_KEPT : attribute_use(name, true, several));

        use_note(q, json_object_get(json_array_get(primitives, i), "indices"), QUANT_KEPT);
    }
}

static bool node_is_prop(const json_t *node) { return json_object_get(gltf_get_extras(node), "role") != NULL; }

static void uses_find(gltf_quantizer *q, const gltf_document *d)
{
    /* attributes of meshes; those of props stay as they are */
    for (int m = 0; m < d->mesh_count; m++) {
        bool kept = false;
        for (int n = 0; n < d->node_count; n++) {
            const json_t *node = json_array_get(d->nodes, (size_t)n), *own = json_object_get(node, "mesh");
            if (own && json_integer_value(own) == m) kept |= node_is_prop(node);
        }
        mesh_note(q, json_array_get(d->meshes, (size_t)m), kept);
    }

    /* animations: times stay exact, rotations are rounded unless cubic: tangents may exceed 1 */
    for (int a = 0; a < d->animation_count; a++) {
        const json_t *animation = json_array_get(d->animations, (size_t)a);
        const json_t *samplers = json_object_get(animation, "samplers");
        const json_t *channels = json_object_get(animation, "channels");

        for (size_t s = 0; s < json_array_size(samplers); s++)
            use_note(q, json_object_get(json_array_get(samplers, s), "input"), QUANT_KEPT);

        for (size_t c = 0; c < json_array_size(channels); c++) {
            const json_t *channel = json_array_get(channels, c);
            const json_t *index = json_object_get(channel, "sampler");

            const json_t *sampler = json_array_get(samplers, (size_t)json_integer_value(index));
            const char *path = gltf_get_string(json_object_get(channel, "target"), "path");
            const char *kind = gltf_get_string(sampler, "interpolation");
            bool turns = path && strcmp(path, "rotation") == 0 && !(kind && strcmp(kind, "CUBICSPLINE") == 0);
            use_note(q, json_object_get(sampler, "output"), turns ? QUANT_ROTATION : QUANT_KEPT);
        }
    }

    /* inverse bind matrices stay floats */
    for (int s = 0; s < d->skin_count; s++)
        use_note(q, json_object_get(json_array_get(d->skins, (size_t)s), "inverseBindMatrices"), QUANT_KEPT);
}

/* ---- decoding ---- */

static float *floats_read(gltf_builder *out, gltf_document *d, int index, int components, int *count,
                          cutis_result *result)
{
    gltf_accessor accessor;
    *result = gltf_accessor_open(d, index, "what is quantised", components, &accessor);
    if (*result != CUTIS_OK) return NULL;
    float *values = ARENA_ARRAY(&out->memory, float, (size_t)accessor.count *(size_t)components);
    if (!values) *result = gltf_error_memory(d);
    if (values) *result = gltf_accessor_floats(d, &accessor, "what is quantised", values);
    *count = accessor.count;
    return values;
}

/* Texture coordinates, weights and deltas of normals must be within what integers hold. */
static bool values_fit(const quant_accessor *a)
{
    float low = a->use == QUANT_TEXCOORD || a->use == QUANT_WEIGHTS ? 0.0f : -1.0f;
    bool bounded = a->use == QUANT_TEXCOORD || a->use == QUANT_WEIGHTS || a->use == QUANT_MORPH_NORMAL;
    for (size_t i = 0; bounded && i < (size_t)a->count * (size_t)a->components; i++)
        if (!(a->values[i] >= low && a->values[i] <= 1)) return false;
    return true;
}

static cutis_result accessors_read(gltf_quantizer *q, gltf_builder *out, gltf_document *d)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, longest = 0;
    q->positions = true;
    for (int i = 0; i < q->accessor_count; i++) {
        static const int widths[] = {
            [QUANT_POSITION] = 3, [QUANT_MORPH] = 3,   [QUANT_NORMAL] = 3,  [QUANT_MORPH_NORMAL] = 3,
            [QUANT_TEXCOORD] = 2, [QUANT_WEIGHTS] = 4, [QUANT_ROTATION] = 4};

        /* positions share one way back, so one that is no float or has another use keeps them all */
        quant_accessor *a = &q->accessors[i];
        const json_t *object = json_array_get(d->accessors, (size_t)i);
        bool is_float = json_integer_value(json_object_get(object, "componentType")) == GLTF_FLOAT;
        bool place = a->use == QUANT_POSITION || a->use == QUANT_MORPH;
        if (a->use == QUANT_CONFLICT || (place && !is_float)) q->positions = false;
        if (a->use == QUANT_NONE || a->use == QUANT_CONFLICT || a->use == QUANT_KEPT || !is_float) continue;

        /* decode; what exceeds the range of the integers stays as it is */
        cutis_result result;
        a->components = widths[a->use];
        a->values = floats_read(out, d, i, a->components, &a->count, &result);
        if (!a->values) return result;
        if (!values_fit(a)) a->values = NULL;

        /* extent of positions, and of the deltas that share their scale */
        for (size_t v = 0; a->use == QUANT_POSITION && v < 3 * (size_t)a->count; v++) {
            low[v % 3] = fmin(low[v % 3], (double)a->values[v]);
            high[v % 3] = fmax(high[v % 3], (double)a->values[v]);
        }
        for (size_t v = 0; a->use == QUANT_MORPH && v < 3 * (size_t)a->count; v++)
            longest = fmax(longest, fabs((double)a->values[v]));
    }

    /* centre and half extent, as floats: readers compute with what the file holds */
    for (int k = 0; k < 3; k++) {
        q->place[k] = (double)(float)((low[k] + high[k]) / 2);
        longest = fmax(longest, fmax(high[k] - q->place[k], q->place[k] - low[k]));
    }

    /* the next larger float keeps all within -1..1 */
    q->scale = (double)nextafterf((float)longest, INFINITY);
    if (!isfinite(q->scale) || !(q->scale > 0)) q->positions = false;
    return CUTIS_OK;
}

static cutis_result binds_read(gltf_quantizer *q, gltf_builder *out, gltf_document *d)
{
    for (int s = 0; s < q->skin_count; s++) {
        const json_t *skin = json_array_get(d->skins, (size_t)s), *index = json_object_get(skin, "inverseBindMatrices");
        int joints = (int)json_array_size(json_object_get(skin, "joints")), count = 0;
        cutis_result result = CUTIS_OK;
        q->bind_counts[s] = joints;

        if (index) {
            q->binds[s] = floats_read(out, d, (int)json_integer_value(index), 16, &count, &result);
            if (!q->binds[s]) return result;
            if (count < joints) return gltf_error(d, CUTIS_ERROR_FORMAT, "skin %d: too few inverse bind matrices", s);
            continue;
        }

        q->binds[s] = ARENA_ARRAY(&out->memory, float, 16 * (size_t)joints);
        if (!q->binds[s]) return gltf_error_memory(d);
        for (int j = 0; j < 16 * joints; j++) q->binds[s][j] = j % 16 % 5 == 0;
    }
    return CUTIS_OK;
}

gltf_quantizer *gltf_quantize_read(gltf_builder *out, gltf_document *document, cutis_result *result)
{
    gltf_quantizer *q = ARENA_ARRAY(&out->memory, gltf_quantizer, 1);
    *result = CUTIS_ERROR_MEMORY;
    if (!q) return NULL;

    q->accessor_count = document->accessor_count;
    q->skin_count = document->skin_count;
    q->accessors = ARENA_ARRAY(&out->memory, quant_accessor, q->accessor_count + 1);
    q->binds = ARENA_ARRAY(&out->memory, float *, q->skin_count + 1);
    q->bind_counts = ARENA_ARRAY(&out->memory, int, q->skin_count + 1);
    if (!q->accessors || !q->binds || !q->bind_counts) return NULL;

    uses_find(q, document);
    *result = accessors_read(q, out, document);
    if (*result == CUTIS_OK) *result = binds_read(q, out, document);
    return *result == CUTIS_OK ? q : NULL;
}

/* ---- writing ---- */

/* Integers of one element, from floats. */
static void element_round(const gltf_quantizer *q, const quant_accessor *a, const float *from, int *to, double *error)
{
    bool place = a->use == QUANT_POSITION, delta = a->use == QUANT_MORPH;
    double top = a->use == QUANT_NORMAL || a->use == QUANT_MORPH_NORMAL ? 127
                 : a->use == QUANT_TEXCOORD || a->use == QUANT_WEIGHTS  ? 65535
                                                                        : 32767;
    int sum = 0, largest = 0;

    /* to -1..1 or 0..1, then to whole numbers */
    for (int k = 0; k < a->components; k++) {
        double x = place   ? ((double)from[k] - q->place[k]) / q->scale
                   : delta ? (double)from[k] / q->scale
                           : (double)from[k];

        to[k] = (int)round(CLAMP(x, -1.0, 1.0) * top);
        if (place || delta) *error = fmax(*error, fabs(to[k] / top - x) * q->scale);

        sum += to[k];
        if (to[k] > to[largest]) largest = k;
    }

    /* weights must sum to 1 exactly */
    if (a->use == QUANT_WEIGHTS && sum > 0 && abs(sum - 65535) <= 4) to[largest] += 65535 - sum;
}

static uint8_t *integer_put(uint8_t *at, int value, size_t width)
{
    for (size_t b = 0; b < width; b++) *at++ = (uint8_t)((unsigned)value >> (8 * b));
    return at;
}

static int view_add(gltf_builder *out, const uint8_t *start, size_t size, size_t stride, int target)
{
    json_t *view = gltf_append_object(out, out->views);
    gltf_put(out, view, "buffer", json_integer(0));
    gltf_put(out, view, "byteOffset", json_integer((json_int_t)(start - out->bytes)));
    gltf_put(out, view, "byteLength", json_integer((json_int_t)size));
    if (stride) gltf_put(out, view, "byteStride", json_integer((json_int_t)stride));
    if (target) gltf_put(out, view, "target", json_integer(target));
    return (int)json_array_size(out->views) - 1;
}

/* Deltas of which most are zero stay a short list of those that are not. */
static bool sparse_write(gltf_builder *out, json_t *object, const quant_accessor *a, const int *rounded, size_t width)
{
    /* sparse costs an index for each moved vertex, and some 160 bytes of overhead */
    int moved = 0;
    for (int v = 0; v < a->count; v++)
        moved += rounded[3 * v] != 0 || rounded[3 * v + 1] != 0 || rounded[3 * v + 2] != 0;
    size_t index_width = a->count <= 65536 ? 2 : 4, dense = (3 * width + 3) & ~(size_t)3;
    if (moved == 0 || (size_t)moved * (3 * width + index_width) + 160 >= (size_t)a->count * dense) return false;

    /* indices of the moved vertices; written before the next push, which may move the bytes */
    uint8_t *at = gltf_bytes_push(out, (size_t)moved * index_width);
    if (!at) return true;
    int indices = view_add(out, at, (size_t)moved * index_width, 0, 0);
    for (int v = 0; v < a->count; v++)
        if (rounded[3 * v] != 0 || rounded[3 * v + 1] != 0 || rounded[3 * v + 2] != 0)
            at = integer_put(at, v, index_width);

    at = gltf_bytes_push(out, (size_t)moved * 3 * width);
    if (!at) return true;
    int values = view_add(out, at, (size_t)moved * 3 * width, 0, 0);
    for (int v = 0; v < a->count; v++)
        for (int k = 0; (rounded[3 * v] != 0 || rounded[3 * v + 1] != 0 || rounded[3 * v + 2] != 0) && k < 3; k++)
            at = integer_put(at, rounded[3 * v + k], width);

    /* the accessor is zeros but for these */
    json_object_del(object, "bufferView");
    json_t *sparse = gltf_put_object(out, object, "sparse"), *part = gltf_put_object(out, sparse, "indices");

    gltf_put(out, sparse, "count", json_integer(moved));
    gltf_put(out, part, "bufferView", json_integer(indices));
    gltf_put(out, part, "componentType", json_integer(index_width == 2 ? GLTF_UNSIGNED_SHORT : GLTF_UNSIGNED_INT));
    gltf_put(out, gltf_put_object(out, sparse, "values"), "bufferView", json_integer(values));
    return true;
}

static void bounds_put(gltf_builder *out, json_t *object, const quant_accessor *a, const int *rounded)
{
    if (!json_object_get(object, "min") && a->use != QUANT_POSITION) return;
    json_t *low = gltf_put_array(out, object, "min"), *high = gltf_put_array(out, object, "max");

    for (int k = 0; k < a->components; k++) {
        int least = rounded[k], most = rounded[k];
        for (int v = 1; v < a->count; v++) {
            least = MIN(least, rounded[v * a->components + k]);
            most = MAX(most, rounded[v * a->components + k]);
        }

        gltf_append(out, low, json_integer(least));
        gltf_append(out, high, json_integer(most));
    }
}

static void accessor_write(gltf_builder *out, const gltf_quantizer *q, int index, double *error)
{
    /* the layout: normals in bytes, all else in 16 bits; attributes of vertices are aligned to 4 bytes */
    const quant_accessor *a = &q->accessors[index];
    bool bytes = a->use == QUANT_NORMAL || a->use == QUANT_MORPH_NORMAL;
    bool vertices = a->use != QUANT_ROTATION, morph = a->use == QUANT_MORPH || a->use == QUANT_MORPH_NORMAL;
    bool is_unsigned = a->use == QUANT_TEXCOORD || a->use == QUANT_WEIGHTS;

    size_t width = bytes ? 1 : 2, components = (size_t)a->components;
    size_t stride = vertices ? (components * width + 3) & ~(size_t)3 : components * width;
    int *rounded = ARENA_ARRAY(&out->memory, int, (size_t)a->count *components);
    json_t *object = json_array_get(out->accessors, (size_t)index);

    if (!rounded) {
        out->failed = true;
        return;
    }

    /* round, and keep the largest error of a position */
    for (size_t v = 0; v < (size_t)a->count; v++)
        element_round(q, a, a->values + v * components, rounded + v * components, error);

    /* integers that a reader maps to -1..1 or 0..1 */
    gltf_put(out, object, "componentType",
             json_integer(bytes         ? GLTF_BYTE
                          : is_unsigned ? GLTF_UNSIGNED_SHORT
                                        : GLTF_SHORT));
    gltf_put(out, object, "normalized", json_true());
    bounds_put(out, object, a, rounded);

    /* the layout of the floats goes; deltas may be sparse again */
    json_object_del(object, "sparse");
    json_object_del(object, "byteOffset");
    if (morph && sparse_write(out, object, a, rounded, width)) return;

    /* a dense array; its stride is told where elements are padded */
    uint8_t *start = gltf_bytes_push(out, (size_t)a->count * stride);
    if (!start) return;
    memset(start, 0, (size_t)a->count * stride);
    int view = view_add(out, start, (size_t)a->count * stride, vertices && stride != components * width ? stride : 0,
                        vertices ? GLTF_TARGET_VERTICES : 0);

    for (size_t v = 0; v < (size_t)a->count; v++) {
        uint8_t *at = start + v * stride;
        for (size_t k = 0; k < components; k++) at = integer_put(at, rounded[v * components + k], width);
    }
    gltf_put(out, object, "bufferView", json_integer(view));
}

/* inverse bind matrix x way back, column-major. */
static void skin_write(gltf_builder *out, const gltf_quantizer *q, int index)
{
    json_t *skin = json_array_get(json_object_get(out->root, "skins"), (size_t)index);

    /* p = scale x q + place, folded into the matrices */
    float *m = q->binds[index];
    for (int j = 0; j < q->bind_counts[index]; j++, m += 16)
        for (int r = 0; r < 4; r++) {
            double moved = (double)m[12 + r];
            for (int k = 0; k < 3; k++) moved += (double)m[4 * k + r] * q->place[k];
            for (int k = 0; k < 3; k++) m[4 * k + r] = (float)((double)m[4 * k + r] * q->scale);
            m[12 + r] = (float)moved;
        }

    gltf_put(out, skin, "inverseBindMatrices",
             json_integer(gltf_floats_add(out, q->binds[index], q->bind_counts[index], 16, GLTF_TARGET_NONE, false)));

    /* where our own files say that the mesh is in scene space: the way there */
    json_t *extras = gltf_get_extras(skin);
    if (!gltf_get_string(extras, "placement")) return;
    json_t *placement = gltf_put_array(out, extras, "placement");
    for (int i = 0; i < 16; i++)
        gltf_append(out, placement, json_real(i == 15 ? 1 : i % 5 == 0 ? q->scale : i >= 12 ? q->place[i - 12] : 0));
}

/* A mesh without a skin goes to a child that holds the way back. */
static void node_write(gltf_builder *out, const gltf_quantizer *q, json_t *nodes, int index)
{
    /* skins hold the way back in their matrices, props stay as they are */
    json_t *node = json_array_get(nodes, (size_t)index);
    if (!json_object_get(node, "mesh") || json_object_get(node, "skin") || node_is_prop(node)) return;

    /* mesh and default weights move to the child */
    int child = (int)json_array_size(nodes);
    json_t *holder = gltf_append_object(out, nodes), *children = json_object_get(node, "children");
    static const char *const moved[] = {"mesh", "weights"};
    for (int i = 0; i < 2; i++) {
        json_t *value = json_object_get(node, moved[i]);
        if (value) gltf_put(out, holder, moved[i], json_incref(value));
        json_object_del(node, moved[i]);
    }

    /* the way back: p = scale x q + place */
    json_t *place = gltf_put_array(out, holder, "translation"), *scale = gltf_put_array(out, holder, "scale");
    for (int k = 0; k < 3; k++) {
        gltf_append(out, place, json_real(q->place[k]));
        gltf_append(out, scale, json_real(q->scale));
    }

    /* the child follows the node */
    if (!children) children = gltf_put_array(out, node, "children");
    gltf_append(out, children, json_integer(child));

    /* weights are animated where the mesh is */
    json_t *animations = json_object_get(out->root, "animations");
    for (size_t a = 0; a < json_array_size(animations); a++) {
        json_t *channels = json_object_get(json_array_get(animations, a), "channels");
        for (size_t c = 0; c < json_array_size(channels); c++) {
            json_t *target = json_object_get(json_array_get(channels, c), "target");
            const char *path = gltf_get_string(target, "path");
            const json_t *own = json_object_get(target, "node");
            if (path && strcmp(path, "weights") == 0 && own && json_integer_value(own) == index)
                gltf_put(out, target, "node", json_integer(child));
        }
    }
}

/* ---- what is no longer used ---- */

/* Visit every "bufferView" of the document: mark it in `used`, or give it its new number. */
static void views_visit(gltf_builder *out, json_t *value, bool *used, const int *numbers, size_t count, int depth)
{
    size_t index;

    const char *key;
    json_t *inner;
    void *next;

    if (depth == 0) return;
    json_array_foreach(value, index, inner) views_visit(out, inner, used, numbers, count, depth - 1);
    json_object_foreach_safe(value, next, key, inner)
    {
        views_visit(out, inner, used, numbers, count, depth - 1);
        json_int_t i = strcmp(key, "bufferView") == 0 && json_is_integer(inner) ? json_integer_value(inner) : -1;
        if (i < 0 || (size_t)i >= count) continue;

        used[i] = true;
        if (numbers) gltf_put(out, value, key, json_integer(numbers[i]));
    }
}

static void views_compact(gltf_builder *out)
{
    enum { DEPTH = 64 };

    size_t count = json_array_size(out->views), size = out->size;
    bool *used = ARENA_ARRAY(&out->memory, bool, count + 1);
    int *numbers = ARENA_ARRAY(&out->memory, int, count + 1);
    uint8_t *plain = ARENA_ARRAY(&out->memory, uint8_t, size + 1);

    if (!used || !numbers || !plain) {
        out->failed = true;
        return;
    }

    /* numbers of the views that something refers to */
    views_visit(out, out->root, used, NULL, count, DEPTH);
    int kept = 0;
    for (size_t i = 0; i < count; i++) numbers[i] = used[i] ? kept++ : -1;
    views_visit(out, out->root, used, numbers, count, DEPTH);

    /* bytes in the order of the views that stay */
    if (size) memcpy(plain, out->bytes, size);
    out->size = 0;
    for (size_t i = 0; i < count && !out->failed; i++) {
        if (!used[i]) continue;
        json_t *view = json_array_get(out->views, i);
        size_t offset = (size_t)json_integer_value(json_object_get(view, "byteOffset"));
        size_t length = (size_t)json_integer_value(json_object_get(view, "byteLength"));
        if (offset > size || length > size - offset) continue; /* the reader refused it before */

        uint8_t *room = gltf_bytes_push(out, length);
        if (!room) return;
        memcpy(room, plain + offset, length);
        gltf_put(out, view, "byteOffset", json_integer((json_int_t)(room - out->bytes)));
    }

    for (size_t i = count; i-- > 0;)
        if (!used[i]) json_array_remove(out->views, i);
}

void gltf_quantize_write(gltf_builder *out, const gltf_quantizer *q, cutis_convert_info *info)
{
    /* integers in place of floats */
    for (int i = 0; i < q->accessor_count && !out->failed; i++) {
        const quant_accessor *a = &q->accessors[i];
        bool place = a->use == QUANT_POSITION || a->use == QUANT_MORPH;
        if (a->values && (!place || q->positions)) accessor_write(out, q, i, &info->position_error);
    }

    /* the way back; new children are behind the nodes that are visited */
    json_t *nodes = json_object_get(out->root, "nodes");
    int node_count = (int)json_array_size(nodes);
    for (int s = 0; s < q->skin_count && q->positions && !out->failed; s++) skin_write(out, q, s);
    for (int n = 0; n < node_count && q->positions && !out->failed; n++) node_write(out, q, nodes, n);

    /* positions and normals as integers need the extension */
    static const char *const lists[] = {"extensionsUsed", "extensionsRequired"};
    for (int i = 0; i < 2 && !out->failed; i++) {
        json_t *list = json_object_get(out->root, lists[i]);
        bool known = false;
        if (!list) list = gltf_put_array(out, out->root, lists[i]);
        for (size_t k = 0; k < json_array_size(list); k++) {
            const char *name = json_string_value(json_array_get(list, k));
            known |= name && strcmp(name, "KHR_mesh_quantization") == 0;
        }

        if (!known) gltf_append(out, list, json_string("KHR_mesh_quantization"));
    }

    /* bytes of the floats go */
    if (!out->failed) views_compact(out);
}
