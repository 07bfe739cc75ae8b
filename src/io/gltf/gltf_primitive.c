/*
 * gltf_primitive.c: primitives of a glTF mesh: their mode, positions and indices, checked.
 */
#include "io/gltf/gltf_primitive.h"

json_t *gltf_primitives(const gltf_document *document, int mesh)
{
    return json_object_get(json_array_get(document->meshes, (size_t)mesh), "primitives");
}

int gltf_triangle_count(int mode, int count) { return mode == GLTF_TRIANGLES ? count / 3 : MAX(count - 2, 0); }

void gltf_triangle(int mode, int triangle, int corner[3])
{
    int odd = triangle % 2;
    corner[0] = mode == GLTF_TRIANGLES ? 3 * triangle : mode == GLTF_STRIP ? triangle : triangle + 1;
    corner[1] = mode == GLTF_TRIANGLES ? 3 * triangle + 1 : mode == GLTF_STRIP ? triangle + 1 + odd : triangle + 2;
    corner[2] = mode == GLTF_TRIANGLES ? 3 * triangle + 2 : mode == GLTF_STRIP ? triangle + 2 - odd : 0;
}

cutis_result gltf_positions_open(gltf_document *document, const json_t *attributes, const char *place,
                                 gltf_accessor *accessor)
{
    int index;

    cutis_result result =
        gltf_get_index(document, attributes, "POSITION", place, document->accessor_count, true, &index);
    if (result != CUTIS_OK) return result;

    gltf_place use = gltf_place_make("POSITION of %.120s", place);
    result = gltf_accessor_open(document, index, use.text, 3, accessor);
    if (result != CUTIS_OK) return result;

    /* positions cannot be left to default */
    if (!accessor->bytes && accessor->sparse_count < accessor->count)
        return gltf_error(document, CUTIS_ERROR_DATA,
                          "accessor %d (%s): has no buffer view, so its positions are missing", index, use.text);
    return CUTIS_OK;
}

cutis_result gltf_primitive_open(gltf_reader *reader, const json_t *object, const char *place, int vertex_count,
                                 gltf_primitive *primitive, bool *usable)
{
    gltf_document *document = reader->document;

    /* mode, material and indices; triangles where no mode is given */
    size_t mode;
    cutis_result result = gltf_get_size(document, object, "mode", place, GLTF_TRIANGLES, &mode);
    if (result == CUTIS_OK)
        result =
            gltf_get_index(document, object, "material", place, document->material_count, false, &primitive->material);
    if (result == CUTIS_OK)
        result = gltf_get_index(document, object, "indices", place, document->accessor_count, false,
                                &primitive->index_accessor);
    if (result != CUTIS_OK) return result;

    /* only triangles, strips and fans make a surface */
    if (mode > GLTF_FAN)
        return gltf_error(document, CUTIS_ERROR_FORMAT, "%s: mode %zu is not defined by glTF", place, mode);

    *usable = mode >= GLTF_TRIANGLES;
    primitive->mode = (int)mode;
    primitive->index_count = vertex_count;
    if (!*usable) {
        warning_add(&reader->warnings, "%s: points and lines are ignored", place);
        return CUTIS_OK;
    }

    /* without indices the vertices are taken in their order */
    if (primitive->index_accessor >= 0) {
        gltf_place use = gltf_place_make("indices of %.120s", place);
        gltf_accessor accessor;
        result = gltf_accessor_open(document, primitive->index_accessor, use.text, 1, &accessor);
        if (result != CUTIS_OK) return result;

        if (!accessor.bytes)
            return gltf_error(document, CUTIS_ERROR_DATA,
                              "accessor %d (%s): has no buffer view, so its indices are missing",
                              primitive->index_accessor, use.text);
        primitive->index_count = accessor.count;
    }

    /* an incomplete triangle at the end is left out */
    if (mode == GLTF_TRIANGLES && primitive->index_count % 3 != 0)
        warning_add(&reader->warnings, "%s: %d indices do not form whole triangles; the last ones are ignored", place,
                    primitive->index_count);
    return CUTIS_OK;
}

cutis_result gltf_indices_read(gltf_document *document, const gltf_primitive *primitive, int vertex_count,
                               uint32_t **indices)
{
    *indices = gltf_allocate(document, (size_t)primitive->index_count, sizeof(uint32_t));
    if (!*indices) return gltf_error_memory(document);

    /* without indices: the vertices in their order */
    if (primitive->index_accessor < 0) {
        for (int i = 0; i < primitive->index_count; i++) (*indices)[i] = (uint32_t)i;
        return CUTIS_OK;
    }

    gltf_place use = gltf_place_make("indices of %.120s", primitive->place.text);
    gltf_accessor accessor;
    cutis_result result = gltf_accessor_open(document, primitive->index_accessor, use.text, 1, &accessor);
    if (result == CUTIS_OK) result = gltf_accessor_integers(document, &accessor, use.text, *indices);
    if (result != CUTIS_OK) return result;

    for (int i = 0; i < primitive->index_count; i++)
        if ((*indices)[i] >= (uint32_t)vertex_count)
            return gltf_error(document, CUTIS_ERROR_FORMAT,
                              "accessor %d (%s): index %d is %u, but there are only %d vertices", accessor.index,
                              use.text, i, (unsigned)(*indices)[i], vertex_count);
    return CUTIS_OK;
}
