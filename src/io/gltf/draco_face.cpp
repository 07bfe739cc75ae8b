/*
 * draco_face.cpp: Draco's decoder behind a few C functions; the only C++ of the library.
 */
#include "io/gltf/draco_face.h"

#include <cstdio>
#include <exception>
#include <memory>

#include <draco/compression/decode.h>

struct draco_face {
    std::unique_ptr<draco::Mesh> mesh;
};

extern "C" draco_face *draco_face_open(const void *bytes, size_t size, char reason[128])
{
    std::snprintf(reason, 128, "%s", "out of memory");
    try {
        draco::DecoderBuffer buffer;
        buffer.Init(static_cast<const char *>(bytes), size);
        draco::Decoder decoder;
        auto decoded = decoder.DecodeMeshFromBuffer(&buffer);
        if (!decoded.ok()) {
            std::snprintf(reason, 128, "%s", decoded.status().error_msg());
            return nullptr;
        }
        return new draco_face{std::move(decoded).value()};
    } catch (const std::exception &) {
        return nullptr;
    }
}

extern "C" void draco_face_close(draco_face *face) { delete face; }

extern "C" size_t draco_face_points(const draco_face *face) { return face->mesh->num_points(); }

extern "C" size_t draco_face_triangles(const draco_face *face) { return face->mesh->num_faces(); }

extern "C" bool draco_face_indices(const draco_face *face, uint32_t *indices)
{
    const uint32_t points = face->mesh->num_points();
    for (uint32_t i = 0; i < face->mesh->num_faces(); i++) {
        const auto &triangle = face->mesh->face(draco::FaceIndex(i));
        for (int k = 0; k < 3; k++) {
            const uint32_t index = triangle[k].value();
            if (index >= points) return false;
            indices[3 * size_t(i) + k] = index;
        }
    }
    return true;
}

template <typename value>
static bool convert(const draco_face *face, const draco::PointAttribute *from, int components, void *out)
{
    value *values = static_cast<value *>(out);
    for (uint32_t i = 0; i < face->mesh->num_points(); i++) {
        const draco::AttributeValueIndex index = from->mapped_index(draco::PointIndex(i));
        if (index.value() >= from->size()) return false;
        if (!from->ConvertValue<value>(index, int8_t(components), values + size_t(i) * components)) return false;
    }
    return true;
}

extern "C" bool draco_face_attribute(const draco_face *face, uint32_t id, int type, int components, void *values)
{
    const draco::PointAttribute *from = face->mesh->GetAttributeByUniqueId(id);
    if (!from || (!from->is_mapping_identity() && from->indices_map_size() < face->mesh->num_points())) return false;
    switch (type) {
    case 5120:
        return convert<int8_t>(face, from, components, values);
    case 5121:
        return convert<uint8_t>(face, from, components, values);
    case 5122:
        return convert<int16_t>(face, from, components, values);
    case 5123:
        return convert<uint16_t>(face, from, components, values);
    case 5125:
        return convert<uint32_t>(face, from, components, values);
    case 5126:
        return convert<float>(face, from, components, values);
    default:
        return false;
    }
}
