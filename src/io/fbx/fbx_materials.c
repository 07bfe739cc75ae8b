/*
 * fbx_materials.c: base colours and their images of an FBX file's materials.
 *
 * A texture is linked to a material's property (DiffuseColor; Maya and 3ds Max call it otherwise for their own
 * shaders), perhaps by way of a LayeredTexture; its image is a Video with the file's bytes, or a name. Before version
 * 7000 textures are linked to the model, in the order of its materials.
 */
#include <math.h>
#include <string.h>

#include "io/fbx/fbx_scene.h"
#include "io/image_find.h"

/* Names of the base colour among a material's properties. */
static bool label_is_color(const char *label)
{
    static const char *const names[] = {"DiffuseColor",
                                        "Maya|baseColor",
                                        "Maya|TEX_color_map",
                                        "Maya|diffuse",
                                        "Maya|DiffuseTexture",
                                        "3dsMax|Parameters|base_color_map",
                                        "3dsMax|main|base_color_map",
                                        "Maya|base_color"};

    /* names under which exporters link a colour */
    for (int i = 0; label && i < COUNT_OF(names); i++)
        if (strcmp(label, names[i]) == 0) return true;
    return false;
}

static bool label_is_opacity(const char *label)
{
    return label && (strcmp(label, "TransparentColor") == 0 || strcmp(label, "TransparencyFactor") == 0 ||
                     strcmp(label, "Maya|opacity") == 0 || strcmp(label, "Maya|TEX_opacity_map") == 0);
}

/* The bytes of a Video: raw in the binary form, base64 in the text form. */
static bool content_take(fbx_reader *r, const fbx_node *video, cutis_material *material)
{
    const fbx_node *content = fbx_child(video, "Content");

    if (!content || content->value_count == 0 || content->values[0].kind != FBX_STRING) return false;
    const fbx_value *first = &content->values[0];
    if (image_take(first->text, first->length, &r->file.memory, material)) return true;

    /* the text form cuts long ones into several */
    size_t length = 0, size = 0;
    for (int i = 0; i < content->value_count; i++)
        if (content->values[i].kind == FBX_STRING) length += content->values[i].length;
    char *text = fbx_allocate(&r->file, length + 1, 1);
    uint8_t *bytes = fbx_allocate(&r->file, length / 4 * 3 + 3, 1);
    if (!text || !bytes) return false;

    length = 0;
    for (int i = 0; i < content->value_count; i++) {
        if (content->values[i].kind != FBX_STRING) continue;
        memcpy(text + length, content->values[i].text, content->values[i].length);
        length += content->values[i].length;
    }

    return base64_decode(text, bytes, &size) && image_take(bytes, size, &r->file.memory, material);
}

static const char *file_name(const fbx_node *object)
{
    const char *name = fbx_text(fbx_child(object, "RelativeFilename"), 0, "");
    if (!*name) name = fbx_text(fbx_child(object, "FileName"), 0, "");
    return *name ? name : fbx_text(fbx_child(object, "Filename"), 0, "");
}

/* Fill the image of a material from a texture. */
static void texture_read(fbx_reader *r, int texture, const char *path, cutis_material *material)
{
    /* embedded bytes win over a file */
    int cursor = -2, video;
    const char *name = file_name(r->objects[texture].node);

    while ((video = fbx_next_child(r, texture, "Video", &cursor, NULL)) >= 0) {
        if (content_take(r, r->objects[video].node, material)) return;
        if (!*name) name = file_name(r->objects[video].node);
    }

    /* before version 7000 a video goes by the texture's media name, with its bytes nowhere linked */
    const char *media = fbx_text(fbx_child(r->objects[texture].node, "Media"), 0, "");
    for (int i = 0; *media && i < r->object_count; i++)
        if (strcmp(r->objects[i].node->name, "Video") == 0 &&
            strcmp(fbx_text(r->objects[i].node, r->file.version >= 7000 ? 1 : 0, ""), media) == 0 &&
            content_take(r, r->objects[i].node, material))
            return;

    if (path) image_find(path, name, &r->file.memory, &r->warnings, material);
}

/* The texture that drives the base colour of an object; -1: none. */
static int texture_find(const fbx_reader *r, int object, bool labelled, bool *cutout)
{
    int cursor = -2, texture, found = -1;
    const char *label;

    while ((texture = fbx_next_child(r, object, "Texture", &cursor, &label)) >= 0) {
        if (label_is_opacity(label)) *cutout = true;
        if (found < 0 && (!labelled || label_is_color(label))) found = texture;
    }
    cursor = -2;

    /* below a layered texture */
    while (found < 0 && (texture = fbx_next_child(r, object, "LayeredTexture", &cursor, &label)) >= 0) {
        int inner = -2;
        if (!labelled || label_is_color(label)) found = fbx_next_child(r, texture, "Texture", &inner, NULL);
    }

    return found;
}

/* Whether the file holds linear colours; see image_find.h. */
static bool colors_are_linear(const fbx_reader *r)
{
    const fbx_node *header = fbx_child(r->file.root, "FBXHeaderExtension");
    const char *texts[2] = {fbx_text(fbx_child(header, "Creator"), 0, ""),
                            fbx_text(fbx_child(r->file.root, "Creator"), 0, "")};
    return written_by_blender(texts[0], texts[0] + strlen(texts[0])) ||
           written_by_blender(texts[1], texts[1] + strlen(texts[1]));
}

static void base_color(const fbx_node *object, bool is_linear, float color[4])
{
    static const char *const names[] = {"DiffuseColor", "Diffuse", "Maya|baseColor", "3dsMax|Parameters|base_color"};
    double rgb[3] = {0.8, 0.8, 0.8};
    int first;
    for (int i = 0; i < COUNT_OF(names); i++)
        if (fbx_property(object, names[i], &first)) fbx_property_vector(object, names[i], rgb);
    double factor = fbx_property_number(object, "DiffuseFactor", 1);
    for (int k = 0; k < 3; k++) color[k] = color_read(rgb[k] * factor, is_linear);
    color[3] = 1;
}

/* The texture of a model whose materials have none of their own: the one at the material's place, else the first. */
static int model_texture(const fbx_reader *r, int material)
{
    for (int n = 0; n < r->s.node_count; n++) {
        int model = r->node_objects[n], cursor = -2, other, place = 0, found = -1, texture;

        /* which of the model's materials it is */
        while ((other = fbx_next_child(r, model, "Material", &cursor, NULL)) >= 0) {
            if (other == material && found < 0) found = place;
            place++;
        }
        if (found < 0) continue;

        /* textures stand in the order of the materials */
        int first = -1;
        cursor = -2;
        for (place = 0; (texture = fbx_next_child(r, model, "Texture", &cursor, NULL)) >= 0; place++) {
            if (first < 0) first = texture;
            if (place == found) return texture;
        }

        if (first >= 0) return first;
    }
    return -1;
}

cutis_result fbx_read_materials(fbx_reader *r, const char *path)
{
    int count = 0;
    for (int i = 0; i < r->object_count; i++) count += strcmp(r->objects[i].node->name, "Material") == 0;
    cutis_material *materials = fbx_allocate(&r->file, (size_t)count + 1, sizeof *materials);
    if (!materials) return fbx_error_memory(&r->file);

    for (int i = 0; i < r->object_count; i++) {
        if (strcmp(r->objects[i].node->name, "Material") != 0) continue;
        cutis_material *material = &materials[r->s.material_count++];
        *material = (cutis_material){.name = r->objects[i].name};
        base_color(r->objects[i].node, colors_are_linear(r), material->color);

        int texture = texture_find(r, i, true, &material->cutout);
        if (texture < 0 && r->file.version < 7000) texture = model_texture(r, i);
        if (texture < 0) continue;

        /* an image takes the colour's place, which is often black then */
        texture_read(r, texture, path, material);
        for (int k = 0; k < 3; k++) material->color[k] = material->image ? 1 : 0.8f;
        if (!material->image) material->cutout = false;
    }
    r->s.materials = materials;
    return CUTIS_OK;
}
