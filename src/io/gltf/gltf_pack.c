/*
 * gltf_pack.c: a glTF document as one .glb, plain, quantised or compressed by EXT_meshopt_compression.
 *
 * Compression works on buffer views. Floats of positions, normals and texture coordinates, of morph targets too, are
 * rounded to a fixed step (the exponential filter with one exponent for all of a view), everything else stays exact. A
 * view that several accessors share is compressed as it stands. The plain bytes are left out, as the extension's
 * fallback buffer allows, so the file requires the extension. The order of vertices and corners is kept.
 */
#include "io/gltf/gltf_pack.h"
#include "io/gltf/gltf_edit.h"
#include "io/gltf/gltf_quantize.h"

#include <math.h>
#include <string.h>

#ifdef CUTIS_HAS_MESHOPT
#include <meshoptimizer.h>
#endif

static const char MESHOPT[] = "EXT_meshopt_compression";

/* ---- one buffer ---- */

static size_t *buffers_join(gltf_builder *out, const gltf_document *d)
{
    size_t *offsets = ARENA_ARRAY(&out->memory, size_t, d->buffer_count + 1);
    for (int i = 0; offsets && i < d->buffer_count; i++) {
        uint8_t *bytes = gltf_bytes_push(out, d->buffers[i].size);
        if (!bytes) return NULL;
        offsets[i] = (size_t)(bytes - out->bytes);
        if (d->buffers[i].size) memcpy(bytes, d->buffers[i].bytes, d->buffers[i].size);
    }
    if (!offsets) out->failed = true;
    return offsets;
}

static void views_move(gltf_builder *out, const gltf_document *d, const size_t *offsets)
{
    for (size_t i = 0; offsets && i < json_array_size(out->views); i++) {
        json_t *view = json_array_get(out->views, i);
        json_int_t buffer = json_integer_value(json_object_get(view, "buffer"));
        if (buffer < 0 || buffer >= d->buffer_count) continue;
        json_int_t offset = (json_int_t)json_number_value(json_object_get(view, "byteOffset"));
        gltf_put(out, view, "buffer", json_integer(0));
        gltf_put(out, view, "byteOffset", json_integer(offset + (json_int_t)offsets[buffer]));
    }
}

/* Images in files beside the source; what cannot be read stays a reference, and is counted. */
static void images_embed(gltf_builder *out, const char *source, cutis_convert_info *info)
{
    json_t *images = json_object_get(out->root, "images");
    for (size_t i = 0; i < json_array_size(images) && !out->failed; i++)
        info->image_count += !gltf_edit_image(out, json_array_get(images, i), source);
}

/* ---- compression ---- */

#ifdef CUTIS_HAS_MESHOPT
static const double POSITION_STEP = 2e-5; /* of the size; half of it is the largest error of a coordinate */
static const double NORMAL_STEP = 1.0 / 256;
static const double TEXCOORD_STEP = 1.0 / 8192;
static const double MOTION_STEP = 1.0 / 32768; /* of the largest value of a sampler: that of 16-bit integers */

typedef enum view_use {
    USE_NONE,
    USE_EXACT,
    USE_INDICES,
    USE_POSITION,
    USE_NORMAL,
    USE_TEXCOORD,
    USE_MORPH_POSITION,
    USE_MORPH_NORMAL,
    USE_MOTION /* values of an animation */
} view_use;

typedef struct pack_view {
    view_use use;
    int users;      /* accessors, or halves of sparse ones */
    json_t *bounds; /* the accessor whose min and max follow the values */
    size_t element; /* bytes */
    size_t count;   /* elements of the one user */
    bool shared;    /* several users, or one that starts inside */
} pack_view;

typedef struct packer {
    gltf_builder *out;
    view_use *accessor_uses;
    pack_view *views;
    size_t view_count, accessor_count;
    double position_step;
    uint8_t *plain; /* the chunk before */
} packer;

static void use_note(packer *p, const json_t *accessor, view_use use)
{
    json_int_t index = json_is_integer(accessor) ? json_integer_value(accessor) : -1;
    if (index < 0 || index >= (json_int_t)p->accessor_count) return;
    view_use *place = &p->accessor_uses[index];
    *place = *place == USE_NONE || *place == use ? use : USE_EXACT;
}

static void attributes_note(packer *p, json_t *attributes, bool morph)
{
    const char *name;
    json_t *accessor;
    json_object_foreach(attributes, name, accessor)
    {
        view_use use = strcmp(name, "POSITION") == 0        ? (morph ? USE_MORPH_POSITION : USE_POSITION)
                       : strcmp(name, "NORMAL") == 0        ? (morph ? USE_MORPH_NORMAL : USE_NORMAL)
                       : strncmp(name, "TEXCOORD_", 9) == 0 ? USE_TEXCOORD
                                                            : USE_EXACT;
        use_note(p, accessor, use);
    }
}

/* What each accessor is for, and how large the positions are. */
static void uses_find(packer *p)
{
    /* attributes, morph targets and indices of all primitives */
    json_t *meshes = json_object_get(p->out->root, "meshes");
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t m = 0; m < json_array_size(meshes); m++) {
        json_t *primitives = json_object_get(json_array_get(meshes, m), "primitives");
        for (size_t i = 0; i < json_array_size(primitives); i++) {
            json_t *primitive = json_array_get(primitives, i);
            json_t *attributes = json_object_get(primitive, "attributes"),
                   *targets = json_object_get(primitive, "targets");

            attributes_note(p, attributes, false);
            for (size_t t = 0; t < json_array_size(targets); t++) attributes_note(p, json_array_get(targets, t), true);
            use_note(p, json_object_get(primitive, "indices"), USE_INDICES);

            /* bounds of the positions, from the accessors' min and max */
            const json_t *positions =
                json_array_get(p->out->accessors, (size_t)json_integer_value(json_object_get(attributes, "POSITION")));
            for (size_t k = 0; k < 3; k++) {
                low[k] = fmin(low[k], json_number_value(json_array_get(json_object_get(positions, "min"), k)));
                high[k] = fmax(high[k], json_number_value(json_array_get(json_object_get(positions, "max"), k)));
            }
        }
    }

    /* times of keys stay exact, their values are rounded */
    json_t *animations = json_object_get(p->out->root, "animations");
    for (size_t a = 0; a < json_array_size(animations); a++) {
        json_t *samplers = json_object_get(json_array_get(animations, a), "samplers");
        for (size_t i = 0; i < json_array_size(samplers); i++) {
            use_note(p, json_object_get(json_array_get(samplers, i), "input"), USE_EXACT);
            use_note(p, json_object_get(json_array_get(samplers, i), "output"), USE_MOTION);
        }
    }

    /* the step of positions is relative to the diagonal of their bounds */
    double size = sqrt((high[0] - low[0]) * (high[0] - low[0]) + (high[1] - low[1]) * (high[1] - low[1]) +
                       (high[2] - low[2]) * (high[2] - low[2]));
    p->position_step = isfinite(size) && size > 0 ? size * POSITION_STEP : 0;
}

static void view_note(packer *p, const json_t *holder, view_use use, json_t *bounds, size_t element, size_t count)
{
    const json_t *value = json_object_get(holder, "bufferView");
    json_int_t index = json_is_integer(value) ? json_integer_value(value) : -1;
    if (index < 0 || index >= (json_int_t)p->view_count) return;
    pack_view *view = &p->views[index];
    view->shared = view->users++ > 0 || json_number_value(json_object_get(holder, "byteOffset")) != 0;
    view->use = use;
    view->bounds = bounds;
    view->element = element;
    view->count = count;
}

static void views_find(packer *p)
{
    for (size_t i = 0; i < p->accessor_count; i++) {
        /* what its values are used for */
        json_t *accessor = json_array_get(p->out->accessors, i);
        int type = (int)json_integer_value(json_object_get(accessor, "componentType"));
        size_t size = gltf_component_size(type);
        size_t element = size * (size_t)gltf_type_components(gltf_get_string(accessor, "type"));
        size_t count = (size_t)json_integer_value(json_object_get(accessor, "count"));

        view_use use = p->accessor_uses[i];
        if (type != GLTF_FLOAT && use != USE_INDICES) use = USE_EXACT;
        view_note(p, accessor, use, accessor, element, count);

        json_t *sparse = json_object_get(accessor, "sparse");
        if (!sparse) continue;

        /* indices and values of a sparse accessor */
        const json_t *indices = json_object_get(sparse, "indices");
        size_t entries = (size_t)json_integer_value(json_object_get(sparse, "count"));
        size_t width = gltf_component_size((int)json_integer_value(json_object_get(indices, "componentType")));
        view_note(p, indices, USE_INDICES, NULL, width, entries);
        view_note(p, json_object_get(sparse, "values"), use == USE_NONE ? USE_EXACT : use, NULL, element, entries);
    }
}

/* Round floats to multiples of a power of two, in place, and write them as the exponential filter stores them. */
static bool floats_filter(float *values, size_t count, double step, uint8_t *filtered, double *error)
{
    int exponent;

    frexp(step, &exponent);
    exponent -= 1; /* the power of two at or below the step */

    /* a unit that the format can hold */
    if (exponent < -100 || exponent > 100) return false;
    double unit = ldexp(1, exponent);
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)values[i] / unit) < 8388607)) return false;

    /* rounded to whole units, as mantissa and exponent */
    for (size_t i = 0; i < count; i++) {
        double mantissa = round((double)values[i] / unit);
        *error = fmax(*error, fabs(mantissa * unit - (double)values[i]));
        values[i] = (float)(mantissa * unit);
        bytes_put_u32(filtered + 4 * i, ((uint32_t)(int32_t)mantissa & 0xffffff) | (uint32_t)(uint8_t)exponent << 24);
    }

    return true;
}

static void bounds_renew(packer *p, json_t *accessor, const float *values, size_t count)
{
    if (!accessor || json_array_size(json_object_get(accessor, "min")) != 3) return;
    if (json_object_get(accessor, "sparse")) return;
    float low[3] = {values[0], values[1], values[2]}, high[3] = {values[0], values[1], values[2]};
    for (size_t i = 0; i < 3 * count; i++) {
        low[i % 3] = MIN(low[i % 3], values[i]);
        high[i % 3] = MAX(high[i % 3], values[i]);
    }
    gltf_put_floats(p->out, accessor, "min", low, 3);
    gltf_put_floats(p->out, accessor, "max", high, 3);
}

/* What one view is encoded to. */
typedef struct pack_stream {
    uint8_t *bytes;
    size_t size, stride, count;
    const char *mode, *filter;
} pack_stream;

/* The step that floats of a view are rounded to; 0: not at all. */
static double view_step(const packer *p, view_use use, const uint8_t *values, size_t count)
{
    double largest = 0;
    switch (use) {
    case USE_POSITION:
        return p->position_step;
    case USE_MORPH_POSITION:
        return 5 * p->position_step;
    case USE_NORMAL:
        return NORMAL_STEP;
    case USE_MORPH_NORMAL:
        return 8 * NORMAL_STEP;
    case USE_TEXCOORD:
        return TEXCOORD_STEP;
    case USE_MOTION:
        for (size_t i = 0; i < count; i++)
            largest = fmax(largest, fabs((double)bytes_float(bytes_u32(values + 4 * i))));
        return largest * MOTION_STEP;
    default:
        return 0;
    }
}

static bool view_encode(packer *p, pack_view *view, const uint8_t *bytes, size_t size, size_t own_stride,
                        double *position_error, pack_stream *s)
{
    arena *memory = &p->out->memory;
    size_t stride = own_stride ? own_stride : view->element;

    /* indices as a sequence */
    if (view->use == USE_INDICES && !view->shared && (view->element == 2 || view->element == 4)) {
        unsigned *indices = ARENA_ARRAY(memory, unsigned, view->count);
        size_t bound = meshopt_encodeIndexSequenceBound(view->count, (size_t)1 << 31);
        s->bytes = ARENA_ARRAY(memory, uint8_t, bound);
        if (!indices || !s->bytes || view->count * view->element > size) return false;

        for (size_t i = 0; i < view->count; i++)
            indices[i] = view->element == 2 ? bytes_u16(bytes + 2 * i) : bytes_u32(bytes + 4 * i);

        s->size = meshopt_encodeIndexSequence(s->bytes, bound, indices, view->count);
        s->stride = view->element;
        s->count = view->count;
        s->mode = "INDICES";
        return s->size > 0;
    }

    /* one accessor, or several of one stride */
    s->stride = stride;
    s->count = view->shared ? size / (stride ? stride : 1) : view->count;
    if (stride == 0 || stride % 4 != 0 || stride > 256 || s->count == 0 || s->count * stride > size) return false;
    if (view->shared && (own_stride == 0 || size % stride != 0)) return false;

    if (own_stride && own_stride != view->element) view->use = USE_EXACT;
    uint8_t *values = ARENA_ARRAY(memory, uint8_t, s->count * stride), *filtered = NULL;
    if (!values) return false;
    memcpy(values, bytes, s->count * stride);

    /* round the values, and tell by how much */
    double step = view_step(p, view->use, values, s->count * stride / 4);
    double error = 0;
    if (step > 0 && !view->shared) filtered = ARENA_ARRAY(memory, uint8_t, s->count * stride);

    if (filtered && floats_filter((float *)(void *)values, s->count * stride / 4, step, filtered, &error)) {
        if (stride == 12) bounds_renew(p, view->bounds, (const float *)(void *)values, s->count);
        if (view->use == USE_POSITION || view->use == USE_MORPH_POSITION)
            *position_error = fmax(*position_error, error);
        s->filter = "EXPONENTIAL";
        values = filtered;
    }

    size_t bound = meshopt_encodeVertexBufferBound(s->count, stride);
    s->bytes = ARENA_ARRAY(memory, uint8_t, bound);
    if (!s->bytes) return false;
    s->size = meshopt_encodeVertexBuffer(s->bytes, bound, values, s->count, stride);

    s->mode = "ATTRIBUTES";
    return s->size > 0;
}

static void view_write(packer *p, json_t *view, const pack_stream *s, size_t *fallback)
{
    uint8_t *room = gltf_bytes_push(p->out, s->size);
    if (!room) return;
    memcpy(room, s->bytes, s->size);

    /* the view tells the plain layout, in a buffer that need not be there */
    gltf_put(p->out, view, "buffer", json_integer(1));
    gltf_put(p->out, view, "byteOffset", json_integer((json_int_t)*fallback));
    gltf_put(p->out, view, "byteLength", json_integer((json_int_t)(s->count * s->stride)));
    *fallback += (s->count * s->stride + 3) & ~(size_t)3;

    /* the extension tells where the packed bytes are */
    json_t *packing = gltf_put_object(p->out, gltf_put_object(p->out, view, "extensions"), MESHOPT);
    gltf_put(p->out, packing, "buffer", json_integer(0));
    gltf_put(p->out, packing, "byteOffset", json_integer((json_int_t)(room - p->out->bytes)));
    gltf_put(p->out, packing, "byteLength", json_integer((json_int_t)s->size));
    gltf_put(p->out, packing, "byteStride", json_integer((json_int_t)s->stride));
    gltf_put(p->out, packing, "count", json_integer((json_int_t)s->count));
    gltf_put(p->out, packing, "mode", json_string(s->mode));
    if (s->filter) gltf_put(p->out, packing, "filter", json_string(s->filter));
}

static void name_require(gltf_builder *out, const char *key)
{
    json_t *list = json_object_get(out->root, key);
    if (!list) list = gltf_put_array(out, out->root, key);
    gltf_append(out, list, json_string(MESHOPT));
}

/* Compress every view of the chunk and make it anew. Returns the size of what a reader decodes to. */
static size_t compress(gltf_builder *out, cutis_convert_info *info)
{
    packer p = {
        .out = out, .view_count = json_array_size(out->views), .accessor_count = json_array_size(out->accessors)};
    size_t plain_size = out->size, fallback = 0;

    /* the chunk's bytes are set aside while it is made anew */
    p.accessor_uses = ARENA_ARRAY(&out->memory, view_use, p.accessor_count + 1);
    p.views = ARENA_ARRAY(&out->memory, pack_view, p.view_count + 1);
    p.plain = ARENA_ARRAY(&out->memory, uint8_t, plain_size + 1);
    if (out->memory.failed) {
        out->failed = true;
        return 0;
    }

    if (plain_size) memcpy(p.plain, out->bytes, plain_size);
    out->size = 0;

    /* what each view holds decides how it is rounded */
    meshopt_encodeIndexVersion(1); /* the one that the extension knows */
    uses_find(&p);
    views_find(&p);

    /* each view of the chunk */
    for (size_t i = 0; i < p.view_count && !out->failed; i++) {
        json_t *view = json_array_get(out->views, i);
        size_t offset = (size_t)json_integer_value(json_object_get(view, "byteOffset"));
        size_t size = (size_t)json_integer_value(json_object_get(view, "byteLength"));
        size_t stride = (size_t)json_integer_value(json_object_get(view, "byteStride"));

        /* compressed, when that is smaller */
        if (offset > plain_size || size > plain_size - offset) continue; /* the reader refused it before */
        pack_stream s = {.size = 0};
        if (p.views[i].users &&
            view_encode(&p, &p.views[i], p.plain + offset, size, stride, &info->position_error, &s) && s.size < size) {
            view_write(&p, view, &s, &fallback);
            continue;
        }

        /* plain otherwise, as images are */
        uint8_t *room = gltf_bytes_push(out, size);
        if (!room) break;
        memcpy(room, p.plain + offset, size);
        gltf_put(out, view, "byteOffset", json_integer((json_int_t)(room - out->bytes)));
    }

    /* a reader must know the extension when plain bytes are left out */
    if (out->memory.failed) out->failed = true;
    if (fallback) {
        name_require(out, "extensionsUsed");
        name_require(out, "extensionsRequired");
    }
    return fallback;
}

#endif

cutis_result gltf_pack_save(gltf_document *document, const char *source, cutis_compression compression,
                            const char *path, cutis_convert_info *info, cutis_error *error)
{
    gltf_builder out = {.memory = arena_create(&document->memory.allocator), .root = json_incref(document->root)};
    out.accessors = json_object_get(out.root, "accessors");
    out.views = json_object_get(out.root, "bufferViews");
    if (!out.accessors) out.accessors = gltf_put_array(&out, out.root, "accessors");
    if (!out.views) out.views = gltf_put_array(&out, out.root, "bufferViews");
    cutis_result result = CUTIS_OK;
    gltf_quantizer *quantizer = NULL;

    /* what is quantized is read before anything moves */
    if (compression == CUTIS_COMPRESSION_QUANTIZE) quantizer = gltf_quantize_read(&out, document, &result);
    if (result != CUTIS_OK) {
        gltf_builder_destroy(&out);
        return result == CUTIS_ERROR_MEMORY ? error_memory(error, "a glTF document") : result;
    }

    /* one buffer, images included */
    size_t *offsets = buffers_join(&out, document);
    views_move(&out, document, offsets);
    images_embed(&out, source, info);
    if (quantizer && !out.failed) gltf_quantize_write(&out, quantizer, info);

    size_t fallback = 0;
#ifdef CUTIS_HAS_MESHOPT
    if (compression == CUTIS_COMPRESSION_MESHOPT && !out.failed) fallback = compress(&out, info);
#else
    (void)compression;
#endif
    gltf_bytes_push(&out, 0);

    /* buffers: the chunk, and the placeholder of what was packed */
    json_t *buffers = gltf_put_array(&out, out.root, "buffers");
    json_t *buffer = gltf_append_object(&out, buffers);
    gltf_put(&out, buffer, "byteLength", json_integer((json_int_t)out.size));

    if (fallback) {
        json_t *placeholder = gltf_append_object(&out, buffers);
        gltf_put(&out, placeholder, "byteLength", json_integer((json_int_t)fallback));
        json_t *note = gltf_put_object(&out, gltf_put_object(&out, placeholder, "extensions"), MESHOPT);
        gltf_put(&out, note, "fallback", json_true());
    }

    /* empty lists are not allowed */
    if (json_array_size(out.accessors) == 0) json_object_del(out.root, "accessors");
    if (json_array_size(out.views) == 0) {
        json_object_del(out.root, "bufferViews");
        json_object_del(out.root, "buffers");
    }

    result = out.failed ? error_memory(error, "a glTF document")
                        : gltf_builder_save(&out, NULL, path, &info->file_bytes, error);
    gltf_builder_destroy(&out);
    return result;
}
