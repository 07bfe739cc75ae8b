/*
 * gltf_unpack.c: compressed glTF made plain, right after a document was parsed, so that readers and writers never meet
 * compression.
 *
 * What a compressed view or primitive decodes to becomes the bytes of a buffer view; at the end all views are gathered
 * in one buffer. A Draco primitive that has plain accessors as well (the extension is not required) keeps those. The
 * order of vertices is the decoded one.
 */
#include "io/gltf/gltf_unpack.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "io/gltf/draco_face.h"
#include "io/gltf/meshopt_decode.h"

static const char DRACO[] = "KHR_draco_mesh_compression";
static const char *const MESHOPT[] = {"EXT_meshopt_compression", "KHR_meshopt_compression"};

/* The bytes that a view will have. */
typedef struct view_bytes {
    const uint8_t *bytes; /* NULL: those that it has in its buffer */
    size_t size;
} view_bytes;

typedef struct unpacker {
    gltf_document *document;
    view_bytes *views;
    int view_count, view_capacity;
    bool changed;
    bool failed; /* memory for JSON ran out */
} unpacker;

json_t *gltf_view_packing(const json_t *view)
{
    const json_t *extensions = json_object_get(view, "extensions");
    for (int i = 0; i < COUNT_OF(MESHOPT); i++) {
        json_t *packing = json_object_get(extensions, MESHOPT[i]);
        if (json_is_object(packing)) return packing;
    }
    return NULL;
}

static void put(unpacker *u, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) u->failed = true;
}

/* Take extensions off an object, and the empty list with the last one. */
static void extension_remove(json_t *object, const char *name)
{
    json_t *extensions = json_object_get(object, "extensions");
    json_object_del(extensions, name);
    if (json_is_object(extensions) && json_object_size(extensions) == 0) json_object_del(object, "extensions");
}

/* ---- meshopt ---- */

static bool filter_find(const json_t *packing, meshopt_filter_kind *filter)
{
    static const char *const names[] = {"NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "COLOR"};
    const char *name = gltf_get_string(packing, "filter");
    *filter = MESHOPT_FILTER_NONE;
    for (int i = 0; name && i < COUNT_OF(names); i++)
        if (strcmp(name, names[i]) == 0) {
            *filter = (meshopt_filter_kind)i;
            return true;
        }
    return name == NULL;
}

static cutis_result view_decode(unpacker *u, int index, json_t *view, const json_t *packing)
{
    gltf_document *d = u->document;

    /* where the packed data is, and of what shape */
    gltf_place place = gltf_place_make("buffer view %d", index);
    size_t offset, size, stride, count;
    int buffer;

    cutis_result result = gltf_get_index(d, packing, "buffer", place.text, d->buffer_count, true, &buffer);
    if (result == CUTIS_OK) result = gltf_get_size(d, packing, "byteOffset", place.text, 0, &offset);
    if (result == CUTIS_OK) result = gltf_get_size(d, packing, "byteLength", place.text, 0, &size);
    if (result == CUTIS_OK) result = gltf_get_size(d, packing, "byteStride", place.text, 0, &stride);
    if (result == CUTIS_OK) result = gltf_get_size(d, packing, "count", place.text, 0, &count);
    if (result != CUTIS_OK) return result;

    if (offset > d->buffers[buffer].size || size > d->buffers[buffer].size - offset)
        return gltf_error(d, CUTIS_ERROR_FORMAT, "buffer view %d: its compressed data goes beyond buffer %d", index,
                          buffer);

    meshopt_filter_kind filter;
    const char *mode = gltf_get_string(packing, "mode");
    if (!filter_find(packing, &filter) || !mode || stride == 0 || stride > 256 || count == 0)
        return gltf_error(d, CUTIS_ERROR_FORMAT, "buffer view %d: its compression has an unknown filter or no size",
                          index);

    /* decode into memory of the document */
    uint8_t *bytes = gltf_allocate(d, count, stride);
    if (!bytes) return gltf_error_memory(d);
    const uint8_t *stream = d->buffers[buffer].bytes + offset;

    bool good = false;
    if (strcmp(mode, "ATTRIBUTES") == 0)
        good = meshopt_attributes(stream, size, count, stride, bytes) && meshopt_filter(filter, bytes, count, stride);
    else if (strcmp(mode, "TRIANGLES") == 0)
        good = meshopt_triangles(stream, size, count, stride, bytes);
    else if (strcmp(mode, "INDICES") == 0)
        good = meshopt_indices(stream, size, count, stride, bytes);

    if (!good)
        return gltf_error(d, CUTIS_ERROR_FORMAT,
                          "buffer view %d: its meshopt data is damaged (%zu elements of %zu "
                          "bytes, mode %.20s)",
                          index, count, stride, mode);

    /* plain from here on */
    u->views[index] = (view_bytes){bytes, count * stride};
    for (int i = 0; i < COUNT_OF(MESHOPT); i++) extension_remove(view, MESHOPT[i]);
    u->changed = true;
    return CUTIS_OK;
}

/* ---- Draco ---- */

#ifdef CUTIS_HAS_DRACO

/* A view for decoded bytes; returns its index, -1 when memory runs out. */
static int view_append(unpacker *u, const uint8_t *bytes, size_t size)
{
    /* grow by doubling */
    if (u->view_count == u->view_capacity) {
        int capacity = 2 * u->view_capacity + 64;
        view_bytes *larger = gltf_allocate(u->document, (size_t)capacity, sizeof *larger);
        if (!larger) return -1;
        if (u->view_count) memcpy(larger, u->views, (size_t)u->view_count * sizeof *larger);
        u->views = larger;
        u->view_capacity = capacity;
    }

    if (json_array_append_new(u->document->buffer_views, json_object()) != 0) return -1;
    u->views[u->view_count] = (view_bytes){bytes, size};
    return u->view_count++;
}

static void accessor_point(unpacker *u, json_t *accessor, int view, size_t count)
{
    put(u, accessor, "bufferView", json_integer(view));
    put(u, accessor, "count", json_integer((json_int_t)count));
    json_object_del(accessor, "byteOffset");
    json_object_del(accessor, "sparse");
    json_object_del(accessor, "min");
    json_object_del(accessor, "max");
}

/* Bounds of positions, which glTF asks for and which the packing may have moved. */
static void bounds_put(unpacker *u, json_t *accessor, const float *values, size_t count)
{
    double low[3] = {(double)values[0], (double)values[1], (double)values[2]};
    double high[3] = {low[0], low[1], low[2]};
    for (size_t i = 0; i < 3 * count; i++) {
        low[i % 3] = MIN(low[i % 3], (double)values[i]);
        high[i % 3] = MAX(high[i % 3], (double)values[i]);
    }
    put(u, accessor, "min", json_pack("[f,f,f]", low[0], low[1], low[2]));
    put(u, accessor, "max", json_pack("[f,f,f]", high[0], high[1], high[2]));
}

/* Float weights of a primitive, whose sums the packing has moved off 1. */
typedef struct weight_sets {
    float *sets[4]; /* WEIGHTS_0 to WEIGHTS_3: (points x 4) */
    int count;
} weight_sets;

static void weights_normalize(const weight_sets *weights, size_t points)
{
    for (size_t i = 0; i < 4 * points; i += 4) {
        double sum = 0;
        for (int s = 0; s < weights->count; s++)
            for (size_t k = 0; k < 4; k++) sum += (double)weights->sets[s][i + k];
        if (!(fabs(sum - 1) < 0.02)) continue; /* then it is the file's own doing */
        for (int s = 0; s < weights->count; s++)
            for (size_t k = 0; k < 4; k++) weights->sets[s][i + k] = (float)((double)weights->sets[s][i + k] / sum);
    }
}

static cutis_result attribute_decode(unpacker *u, const draco_face *face, const char *name, json_t *accessor,
                                     const json_t *id, const char *place, weight_sets *weights)
{
    /* the declared type, which the decoder converts to */
    gltf_document *d = u->document;
    size_t type, points = draco_face_points(face);

    int components = gltf_type_components(gltf_get_string(accessor, "type"));
    cutis_result result = gltf_get_size(d, accessor, "componentType", place, 0, &type);
    if (result != CUTIS_OK) return result;

    size_t size = type <= INT_MAX ? gltf_component_size((int)type) * (size_t)components : 0;
    if (size == 0 || components > 4 || !json_is_integer(id) || json_integer_value(id) < 0)
        return gltf_error(d, CUTIS_ERROR_FORMAT, "%s: %.40s has a type that Draco does not support", place, name);

    /* decode to a tight array */
    uint8_t *bytes = gltf_allocate(d, points, size);
    if (!bytes) return gltf_error_memory(d);
    if (!draco_face_attribute(face, (uint32_t)json_integer_value(id), (int)type, components, bytes))
        return gltf_error(d, CUTIS_ERROR_FORMAT, "%s: its Draco data holds no attribute %lld for %.40s", place,
                          (long long)json_integer_value(id), name);

    /* the accessor refers to the array; positions need new bounds */
    int view = view_append(u, bytes, points * size);
    if (view < 0) return gltf_error_memory(d);
    accessor_point(u, accessor, view, points);
    if (strcmp(name, "POSITION") == 0 && type == GLTF_FLOAT && components == 3)
        bounds_put(u, accessor, (const float *)(const void *)bytes, points);

    /* weights are normalised when all sets are there */
    if (strncmp(name, "WEIGHTS_", 8) == 0 && type == GLTF_FLOAT && components == 4 && weights->count < 4)
        weights->sets[weights->count++] = (float *)(void *)bytes;
    return CUTIS_OK;
}

static cutis_result mesh_decode(unpacker *u, json_t *primitive, const json_t *packing, const draco_face *face,
                                const char *place)
{
    gltf_document *d = u->document;

    size_t points = draco_face_points(face), triangles = draco_face_triangles(face);
    if (points == 0 || triangles == 0 || points > INT_MAX / 16 || triangles > INT_MAX / 48)
        return gltf_error(d, CUTIS_ERROR_FORMAT, "%s: its Draco data holds no triangles, or too many", place);

    uint32_t *indices = gltf_allocate(d, 3 * triangles, sizeof *indices);
    if (!indices) return gltf_error_memory(d);

    if (!draco_face_indices(face, indices))
        return gltf_error(d, CUTIS_ERROR_FORMAT, "%s: its Draco data is damaged", place);
    int view = view_append(u, (const uint8_t *)indices, 3 * triangles * sizeof *indices);
    if (view < 0) return gltf_error_memory(d);

    /* an accessor of its own: another primitive may use the declared one */
    json_t *accessor = json_object();
    if (!accessor || json_array_append_new(d->accessors, accessor) != 0) return error_memory(d->error, d->name);
    put(u, accessor, "type", json_string("SCALAR"));
    put(u, accessor, "componentType", json_integer(GLTF_UNSIGNED_INT));
    accessor_point(u, accessor, view, 3 * triangles);
    put(u, primitive, "indices", json_integer((json_int_t)json_array_size(d->accessors) - 1));
    put(u, primitive, "mode", json_integer(4));

    /* attributes of the mesh, by the numbers of the decoder */
    const char *name;
    json_t *id;
    json_t *attributes = json_object_get(primitive, "attributes");
    weight_sets weights = {.count = 0};
    json_object_foreach(json_object_get(packing, "attributes"), name, id)
    {
        int index;
        cutis_result result = gltf_get_index(d, attributes, name, place, d->accessor_count, false, &index);
        if (result == CUTIS_OK && index >= 0)
            result = attribute_decode(u, face, name, json_array_get(d->accessors, (size_t)index), id, place, &weights);
        if (result != CUTIS_OK) return result;
    }

    weights_normalize(&weights, points);
    return CUTIS_OK;
}

static cutis_result primitive_decode(unpacker *u, json_t *primitive, const json_t *packing, const char *place)
{
    gltf_document *d = u->document;
    const uint8_t *bytes;
    size_t size;
    int index;

    cutis_result result = gltf_get_index(d, packing, "bufferView", place, d->view_count, true, &index);
    if (result == CUTIS_OK) result = gltf_view_bytes(d, index, &bytes, &size);
    if (result != CUTIS_OK) return result;

    char reason[128];
    draco_face *face = draco_face_open(bytes, size, reason);
    if (!face) return gltf_error(d, CUTIS_ERROR_FORMAT, "%s: its Draco data is damaged: %s", place, reason);

    result = mesh_decode(u, primitive, packing, face, place);
    draco_face_close(face);
    return result;
}

#endif

/* Whether the accessor of an attribute has bytes of its own. */
static bool accessor_is_plain(const gltf_document *d, const json_t *primitive)
{
    int index;
    const json_t *attributes = json_object_get(primitive, "attributes");
    if (gltf_get_index(d, attributes, "POSITION", "", d->accessor_count, false, &index) != CUTIS_OK) return true;
    return index < 0 || json_object_get(json_array_get(d->accessors, (size_t)index), "bufferView");
}

static cutis_result draco_unpack(unpacker *u)
{
    gltf_document *d = u->document;

    for (int m = 0; m < d->mesh_count; m++) {
        json_t *primitives = json_object_get(json_array_get(d->meshes, (size_t)m), "primitives");
        for (size_t p = 0; p < json_array_size(primitives); p++) {
            json_t *primitive = json_array_get(primitives, p);
            json_t *packing = json_object_get(json_object_get(primitive, "extensions"), DRACO);
            gltf_place place = gltf_place_make("mesh %d primitive %zu", m, p);

            /* only primitives with the extension; those with plain bytes beside need no decoder */
            if (!json_is_object(packing)) continue;
            if (!accessor_is_plain(d, primitive)) {
#ifdef CUTIS_HAS_DRACO
                cutis_result result = primitive_decode(u, primitive, packing, place.text);
                if (result != CUTIS_OK) return result;
                u->changed = true;
#else
                return gltf_error(d, CUTIS_ERROR_UNSUPPORTED,
                                  "%s: is compressed with Draco, and this build of cutis has no Draco; install "
                                  "libdraco and rebuild, or save the file uncompressed",
                                  place.text);
#endif
            }

            /* the primitive is plain from here on */
            extension_remove(primitive, DRACO);
        }
    }
    return CUTIS_OK;
}

/* ---- the whole ---- */

/* All views in one buffer, one behind the other. */
static cutis_result views_gather(unpacker *u)
{
    gltf_document *d = u->document;
    size_t total = 0;

    /* views that were not packed, from where they are */
    for (int v = 0; v < u->view_count; v++) {
        view_bytes *view = &u->views[v];
        if (!view->bytes) {
            cutis_result result = gltf_view_bytes(d, v, &view->bytes, &view->size);
            if (result != CUTIS_OK) return result;
        }
        total += (view->size + 3) & ~(size_t)3;
    }

    uint8_t *bytes = gltf_allocate(d, total, 1);
    gltf_buffer *buffers = gltf_allocate(d, (size_t)d->buffer_count + 1, sizeof *buffers);
    if (!bytes || !buffers) return gltf_error_memory(d);

    /* one after the other */
    size_t at = 0;
    for (int v = 0; v < u->view_count; v++) {
        json_t *view = json_array_get(d->buffer_views, (size_t)v);
        memcpy(bytes + at, u->views[v].bytes, u->views[v].size);

        put(u, view, "buffer", json_integer(0));
        put(u, view, "byteOffset", json_integer((json_int_t)at));
        put(u, view, "byteLength", json_integer((json_int_t)u->views[v].size));
        at += (u->views[v].size + 3) & ~(size_t)3;
    }

    /* the old buffers stay behind the new one, empty, for their files to be released */
    buffers[0] = (gltf_buffer){.bytes = bytes, .size = total};
    for (int i = 0; i < d->buffer_count; i++)
        buffers[i + 1] = (gltf_buffer){.bytes = bytes, .size = 0, .file = d->buffers[i].file};
    d->buffers = buffers;
    d->buffer_count++;

    put(u, d->root, "buffers", json_pack("[{s:I}]", "byteLength", (json_int_t)total));
    return CUTIS_OK;
}

static void names_remove(json_t *root, const char *key, const char *name)
{
    json_t *list = json_object_get(root, key);
    for (size_t i = json_array_size(list); i-- > 0;) {
        const char *entry = json_string_value(json_array_get(list, i));
        if (entry && strcmp(entry, name) == 0) json_array_remove(list, i);
    }
    if (json_is_array(list) && json_array_size(list) == 0) json_object_del(root, key);
}

/* Whether the document names one of the compressions. */
static bool names_packing(const gltf_document *d)
{
    const json_t *used = json_object_get(d->root, "extensionsUsed");
    const json_t *required = json_object_get(d->root, "extensionsRequired");
    for (size_t i = 0; i < json_array_size(used) + json_array_size(required); i++) {
        const json_t *entry =
            i < json_array_size(used) ? json_array_get(used, i) : json_array_get(required, i - json_array_size(used));
        const char *name = json_string_value(entry);
        if (name && (strcmp(name, DRACO) == 0 || strcmp(name, MESHOPT[0]) == 0 || strcmp(name, MESHOPT[1]) == 0))
            return true;
    }
    return false;
}

cutis_result gltf_document_unpack(gltf_document *document)
{
    if (!names_packing(document)) return CUTIS_OK;

    unpacker u = {.document = document, .view_count = document->view_count, .view_capacity = document->view_count};
    u.views = gltf_allocate(document, (size_t)document->view_count, sizeof *u.views);
    if (!u.views) return gltf_error_memory(document);

    /* decode */
    cutis_result result = CUTIS_OK;
    for (int v = 0; v < document->view_count && result == CUTIS_OK; v++) {
        json_t *view = json_array_get(document->buffer_views, (size_t)v);
        const json_t *packing = gltf_view_packing(view);
        if (packing) result = view_decode(&u, v, view, packing);
    }

    if (result == CUTIS_OK) result = draco_unpack(&u);
    if (result == CUTIS_OK && u.changed) result = views_gather(&u);

    /* and forget that it was compressed */
    static const char *const lists[] = {"extensionsUsed", "extensionsRequired"};
    for (int i = 0; i < COUNT_OF(lists); i++) {
        names_remove(document->root, lists[i], DRACO);
        for (int k = 0; k < COUNT_OF(MESHOPT); k++) names_remove(document->root, lists[i], MESHOPT[k]);
    }

    document->view_count = (int)json_array_size(document->buffer_views);
    document->accessor_count = (int)json_array_size(document->accessors);
    if (result == CUTIS_OK && u.failed) result = error_memory(document->error, document->name);
    return result;
}
