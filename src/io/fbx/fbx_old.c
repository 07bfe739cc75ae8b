/*
 * fbx_old.c: the tree of an FBX file of before version 6000, brought to the form of version 6100.
 *
 * The old form has no Objects and no Connections: models stand at the top with their transform as channels, the names
 * of their children, and the links to the bones that move their vertices. Takes are the same in both.
 */
#include <string.h>

#include "io/fbx/fbx_parse.h"

typedef struct old_lift {
    fbx_file *file;
    fbx_node **objects, **connections; /* where the next one goes */
    bool failed;
} old_lift;

static fbx_node *node_add(old_lift *l, fbx_node ***tail, const char *name, int value_count)
{
    fbx_node *node = fbx_allocate(l->file, 1, sizeof *node);
    fbx_value *values = node ? fbx_allocate(l->file, (size_t)value_count + 1, sizeof *values) : NULL;
    if (!values) {
        l->failed = true;
        return NULL;
    }
    *node = (fbx_node){.name = name, .values = values, .value_count = value_count};
    **tail = node;
    *tail = &node->next;
    return node;
}

static fbx_value text_value(const char *text) { return (fbx_value){FBX_STRING, .text = text, .length = strlen(text)}; }

/* An object: TYPE: "name", "subtype" {children}. */
static void object_add(old_lift *l, const char *type, const char *name, const char *subtype, fbx_node *children)
{
    fbx_node *node = node_add(l, &l->objects, type, 2);
    if (!node) return;
    node->values[0] = text_value(name);
    node->values[1] = text_value(subtype);
    node->first_child = children;
}

static void connection_add(old_lift *l, const char *child, const char *parent)
{
    fbx_node *node = node_add(l, &l->connections, "Connect", 3);
    if (!node) return;
    node->values[0] = text_value("OO");
    node->values[1] = text_value(child);
    node->values[2] = text_value(parent);
}

/* A child named `name` whose first value is `text`. */
static const fbx_node *channel_find(const fbx_node *node, const char *text)
{
    for (const fbx_node *n = node ? node->first_child : NULL; n; n = n->next)
        if (strcmp(n->name, "Channel") == 0 && strcmp(fbx_text(n, 0, ""), text) == 0) return n;
    return NULL;
}

/* Properties60 with the defaults of the transform's channels. */
static void transform_add(old_lift *l, const fbx_node *model, fbx_node ***tail)
{
    static const char *const paths[3] = {"T", "R", "S"}, *const axes[3] = {"X", "Y", "Z"};
    static const char *const names[3] = {"Lcl Translation", "Lcl Rotation", "Lcl Scaling"};

    /* properties as newer files have them */
    fbx_node *list = node_add(l, tail, "Properties60", 0);
    const fbx_node *transform = channel_find(model, "Transform");

    if (!list) return;
    fbx_node **property_tail = &list->first_child;

    for (int path = 0; path < 3; path++) {
        fbx_node *property = node_add(l, &property_tail, "Property", 6);
        if (!property) return;
        for (int i = 0; i < 3; i++) property->values[i] = text_value(names[path]);

        for (int k = 0; k < 3; k++) {
            const fbx_node *axis = channel_find(channel_find(transform, paths[path]), axes[k]);
            double number = fbx_number(fbx_child(axis, "Default"), 0, path == 2);
            property->values[3 + k] = (fbx_value){FBX_NUMBER, .number = number};
        }
    }
}

/* A copy of a node under another name, at the tail. */
static void copy_add(old_lift *l, fbx_node ***tail, const char *name, const fbx_node *from)
{
    fbx_node *node = from ? node_add(l, tail, name, 0) : NULL;
    if (!node) return;
    node->values = from->values;
    node->value_count = from->value_count;
    node->first_child = from->first_child;
}

/* Texture coordinates and materials of polygons under their later names. */
static void layers_add(old_lift *l, const fbx_node *model, fbx_node ***tail)
{
    const fbx_node *uv = fbx_child(model, "GeometryUVInfo");

    /* texture coordinates */
    fbx_node *layer = uv ? node_add(l, tail, "LayerElementUV", 0) : NULL;
    if (layer) {
        fbx_node **inner = &layer->first_child;
        const fbx_node *indices = fbx_child(uv, "TextureUVVerticeIndex");
        copy_add(l, &inner, "MappingInformationType", fbx_child(uv, "MappingInformationType"));
        copy_add(l, &inner, "UV", fbx_child(uv, "TextureUV"));
        copy_add(l, &inner, "UVIndex", indices && indices->value_count ? indices : NULL);
    }

    const fbx_node *materials = fbx_child(model, "Materials");
    layer = materials ? node_add(l, tail, "LayerElementMaterial", 0) : NULL;
    if (layer) {
        fbx_node **inner = &layer->first_child;
        copy_add(l, &inner, "MappingInformationType", fbx_child(model, "MaterialAssignation"));
        copy_add(l, &inner, "Materials", materials);
    }
}

/* A link is a cluster of a skin of its own name. */
static void links_add(old_lift *l, const fbx_node *model, const char *name)
{
    /* a skin with a cluster for each link */
    char *skin = arena_format(&l->file->memory, "\1skin %s", name);
    int count = 0;

    for (const fbx_node *n = model->first_child; skin && n && !l->failed; n = n->next) {
        if (strcmp(n->name, "Link") != 0) continue;
        if (count == 0) {
            object_add(l, "Deformer", skin, "Skin", NULL);
            connection_add(l, skin, name);
        }

        char *cluster = arena_format(&l->file->memory, "\1cluster %d %s", count++, name);
        if (!cluster) break;

        object_add(l, "Deformer", cluster, "Cluster", n->first_child);
        connection_add(l, cluster, skin);
        connection_add(l, fbx_text(n, 0, ""), cluster);
    }
}

static void model_add(old_lift *l, fbx_node *model)
{
    const char *name = fbx_text(model, 0, "");
    const char *type = fbx_text(fbx_child(model, "Type"), 0, fbx_child(model, "Vertices") ? "Mesh" : "Null");

    /* what newer files have inside a model */
    fbx_node *added = NULL, **tail = &added;
    transform_add(l, model, &tail);
    layers_add(l, model, &tail);
    if (l->failed) return;

    /* before its own children */
    *tail = model->first_child;
    object_add(l, "Model", name, type, added);
    links_add(l, model, name);

    /* materials and children become connections */
    for (const fbx_node *n = model->first_child; n && !l->failed; n = n->next) {
        if (strcmp(n->name, "Material") == 0 && n->value_count) {
            object_add(l, "Material", fbx_text(n, 0, ""), "", n->first_child);
            connection_add(l, fbx_text(n, 0, ""), name);
        }

        for (int i = 0; strcmp(n->name, "Children") == 0 && i < n->value_count && !l->failed; i++)
            connection_add(l, fbx_text(n, i, ""), name);
    }
}

cutis_result fbx_lift_old(fbx_file *file)
{
    fbx_node *added = NULL, **end = &added;
    old_lift l = {.file = file};

    fbx_node *first = node_add(&l, &end, "Objects", 0);
    fbx_node *second = first ? node_add(&l, &end, "Connections", 0) : NULL;
    if (!second) return fbx_error_memory(file);

    l.objects = &first->first_child;
    l.connections = &second->first_child;

    for (fbx_node *n = file->root->first_child; n && !l.failed; n = n->next)
        if (strcmp(n->name, "Model") == 0) model_add(&l, n);
    if (l.failed || file->memory.failed) return fbx_error_memory(file);

    /* before what was there, so that they are found first */
    second->next = file->root->first_child;
    file->root->first_child = first;
    return CUTIS_OK;
}
