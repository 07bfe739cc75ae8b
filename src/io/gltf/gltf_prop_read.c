/*
 * gltf_prop_read.c: the props of a glTF document: nodes whose extras.cutis say what they are.
 */
#include <stdio.h>
#include <string.h>

#include "io/gltf/gltf_primitive.h"

/* Index of a string among names; -1 when it is absent, an error that lists them when it is another. */
static cutis_result choice_get(const gltf_reader *reader, int node, const json_t *extras, const char *key,
                               const char *const *names, int count, int *choice)
{
    const json_t *value = json_object_get(extras, key);
    const char *text = json_string_value(value);
    *choice = -1;
    if (!value) return CUTIS_OK;

    for (int i = 0; text && i < count; i++)
        if (strcmp(text, names[i]) == 0) *choice = i;
    if (*choice >= 0) return CUTIS_OK;

    /* none of them: tell which there are */
    char list[120] = "";
    for (int i = 0; i < count; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", names[i]);
    return gltf_error(reader->document, CUTIS_ERROR_DATA, "%s: extras.cutis.%s '%.40s' is not one of %s",
                      gltf_node_place(reader, node).text, key, text ? text : "(no text)", list);
}

static cutis_result prop_number(const gltf_reader *reader, int node, const json_t *extras, const char *key, double low,
                                double high, float *number)
{
    const json_t *value = json_object_get(extras, key);
    if (!value) return CUTIS_OK;
    double x = json_number_value(value);
    if (!json_is_number(value) || !(x >= low && x <= high))
        return gltf_error(reader->document, CUTIS_ERROR_DATA, "%s: extras.cutis.%s is not a number from %g to %g",
                          gltf_node_place(reader, node).text, key, low, high);
    *number = (float)x;
    return CUTIS_OK;
}

/* All triangles of the node's mesh, in the node's space. */
static cutis_result prop_read_mesh(gltf_reader *reader, int mesh, cutis_prop *prop)
{
    gltf_document *document = reader->document;
    json_t *list = gltf_primitives(document, mesh);
    int count = (int)json_array_size(list);
    size_t vertices = 0, triangles = 0;
    float *positions = NULL;
    int *corners = NULL;

    /* the first pass counts, the second fills */
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) {
            /* arrays of the exact size */
            if (triangles == 0 || vertices > GLTF_VERTEX_LIMIT || triangles > GLTF_VERTEX_LIMIT)
                return gltf_error(document, CUTIS_ERROR_DATA, "mesh %d: is empty or too large for a prop", mesh);

            positions = gltf_allocate(document, vertices * 3, sizeof(float));
            corners = gltf_allocate(document, triangles * 3, sizeof(int));
            if (!positions || !corners) return gltf_error_memory(document);
            vertices = triangles = 0;
        }

        /* each primitive: its positions and its triangles */
        for (int p = 0; p < count; p++) {
            const json_t *object = json_array_get(list, (size_t)p);
            gltf_primitive primitive = {.place = gltf_place_make("mesh %d primitive %d", mesh, p)};
            gltf_accessor accessor;
            bool usable;

            cutis_result result =
                gltf_positions_open(document, json_object_get(object, "attributes"), primitive.place.text, &accessor);
            if (result == CUTIS_OK)
                result = gltf_primitive_open(reader, object, primitive.place.text, accessor.count, &primitive, &usable);
            if (result != CUTIS_OK) return result;
            if (!usable) continue;

            /* primitives are joined: indices are moved by the vertices before them */
            int here = gltf_triangle_count(primitive.mode, primitive.index_count);
            if (pass == 1) {
                uint32_t *indices;
                result = gltf_indices_read(document, &primitive, accessor.count, &indices);
                if (result == CUTIS_OK)
                    result = gltf_accessor_floats(document, &accessor, primitive.place.text, positions + 3 * vertices);
                if (result != CUTIS_OK) return result;

                for (int t = 0; t < here; t++) {
                    int at[3];
                    gltf_triangle(primitive.mode, t, at);
                    for (int k = 0; k < 3; k++)
                        corners[3 * (triangles + (size_t)t) + (size_t)k] = (int)vertices + (int)indices[at[k]];
                }
            }

            vertices += (size_t)accessor.count;
            triangles += (size_t)here;
        }
    }

    prop->vertex_count = (int)vertices;
    prop->triangle_count = (int)triangles;
    prop->positions = positions;
    prop->triangles = corners;
    return CUTIS_OK;
}

static cutis_result prop_read(gltf_reader *reader, int index, cutis_prop *prop)
{
    static const char *const roles[] = {"collider", "rigid", "soft"};

    static const char *const shapes[] = {"mesh", "plane", "sphere", "capsule", "box"};
    static const int sizes[] = {0, 0, 1, 2, 3}; /* numbers that each shape needs */
    gltf_document *document = reader->document;

    const gltf_node *node = &reader->nodes[index];
    json_t *extras = gltf_get_extras(node->object);
    gltf_place place = gltf_node_place(reader, index);

    /* defaults; negative friction and restitution stand for the solver's own */
    int role, shape;
    *prop = (cutis_prop){.name = reader->joints[node->first_joint].name,
                         .joint = node->first_joint,
                         .friction = -1,
                         .restitution = -1,
                         .stiffness = 0.5f};

    /* what extras.cutis say, each in its range */
    cutis_result result = choice_get(reader, index, extras, "role", roles, COUNT_OF(roles), &role);
    if (result == CUTIS_OK) result = choice_get(reader, index, extras, "shape", shapes, COUNT_OF(shapes), &shape);
    if (result == CUTIS_OK) result = prop_number(reader, index, extras, "mass", 0, 1e9, &prop->mass);
    if (result == CUTIS_OK) result = prop_number(reader, index, extras, "friction", 0, 2, &prop->friction);
    if (result == CUTIS_OK) result = prop_number(reader, index, extras, "restitution", 0, 1, &prop->restitution);
    if (result == CUTIS_OK) result = prop_number(reader, index, extras, "stiffness", 0, 1, &prop->stiffness);
    if (result != CUTIS_OK) return result;

    /* without a role it is an obstacle, without a shape its mesh */
    prop->role = role >= 0 ? (cutis_prop_role)role : CUTIS_PROP_COLLIDER;
    prop->shape = shape >= 0 ? (cutis_prop_shape)shape : CUTIS_PROP_MESH;

    /* size: radius, half length or half extents, as the shape needs */
    const json_t *size = json_object_get(extras, "size");
    for (int k = 0; k < sizes[prop->shape]; k++) {
        const json_t *value = json_is_number(size) && k == 0 ? size : json_array_get(size, (size_t)k);
        double x = json_number_value(value);
        if (!json_is_number(value) || !(x >= 0 && x < 1e9))
            return gltf_error(document, CUTIS_ERROR_DATA,
                              "%s: extras.cutis.size needs %d numbers of 0 or more for a %s", place.text,
                              sizes[prop->shape], shapes[prop->shape]);
        prop->size[k] = (float)x;
    }

    /* only a mesh needs triangles; the skin of a prop is not applied */
    if (prop->shape != CUTIS_PROP_MESH) return CUTIS_OK;
    if (node->mesh < 0)
        return gltf_error(document, CUTIS_ERROR_DATA, "%s: is a %s but has neither a mesh nor extras.cutis.shape",
                          place.text, roles[prop->role]);
    if (node->skin >= 0) warning_add(&reader->warnings, "%s: the skin of a prop is ignored", place.text);
    return prop_read_mesh(reader, node->mesh, prop);
}

cutis_result gltf_read_props(gltf_reader *reader)
{
    gltf_document *document = reader->document;

    int count = 0;
    for (int i = 0; i < document->node_count; i++) count += reader->nodes[i].is_prop;
    cutis_prop *props = gltf_allocate(document, (size_t)count, sizeof(cutis_prop));
    if (!props) return gltf_error_memory(document);

    /* in the order of the scene */
    for (int i = 0; i < document->node_count; i++) {
        int index = reader->order[i];
        if (!reader->nodes[index].is_prop) continue;

        cutis_result result = prop_read(reader, index, &props[reader->given.prop_count]);
        if (result != CUTIS_OK) return result;
        reader->given.prop_count++;
    }

    reader->given.props = props;
    return CUTIS_OK;
}
