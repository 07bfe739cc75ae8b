/*
 * dae_materials.c: base colours and their images of a COLLADA file's materials.
 *
 * Polygons name a symbol; instance_material binds it to a material, that to an effect, whose diffuse is a colour or a
 * sampler, whose surface (1.4) or instance_image (1.5) names an image.
 */
#include <math.h>
#include <string.h>

#include "io/dae/dae_read.h"
#include "io/image_find.h"

/* The element of a library with this id; `url` may start with '#'. */
static const xml_node *library_find(const xml_node *root, const char *library, const char *url)
{
    if (*url == '#') url++;
    for (const xml_node *list = xml_child(root, library); list; list = xml_next(list, library))
        for (const xml_node *child = list->first_child; child; child = child->next)
            if (*url && strcmp(xml_attribute(child, "id"), url) == 0) return child;
    return NULL;
}

/* The first element of this name below a node, itself left out. */
static const xml_node *find_below(const xml_node *node, const char *name, int depth)
{
    for (const xml_node *child = node ? node->first_child : NULL; child && depth > 0; child = child->next) {
        if (strcmp(child->name, name) == 0) return child;
        const xml_node *found = find_below(child, name, depth - 1);
        if (found) return found;
    }
    return NULL;
}

/* A node's text without the white space around it. */
static char *text_copy(const xml_node *node, arena *memory)
{
    const char *start = node ? node->text : "", *end = node ? node->text_end : start;
    while (start < end && (unsigned char)*start <= 32) start++;
    while (end > start && (unsigned char)end[-1] <= 32) end--;
    return arena_format(memory, "%.*s", (int)(end - start), start);
}

/* newparam of a profile by its sid. */
static const xml_node *param_find(const xml_node *profile, const char *sid)
{
    for (const xml_node *p = xml_child(profile, "newparam"); p; p = xml_next(p, "newparam"))
        if (strcmp(xml_attribute(p, "sid"), sid) == 0) return p;
    return NULL;
}

/* The name of the image file that a texture shows; "" when there is none. */
static const char *image_name(const xml_node *root, const xml_node *profile, const char *texture, arena *memory)
{
    const xml_node *sampler = param_find(profile, texture), *image = NULL;

    /* by sampler and surface, or by the sampler's own image */
    if (sampler) {
        const xml_node *instance = find_below(sampler, "instance_image", 4);
        if (instance) image = library_find(root, "library_images", xml_attribute(instance, "url"));

        char *source = text_copy(find_below(sampler, "source", 3), memory);
        const xml_node *surface = source ? param_find(profile, source) : NULL;
        char *id = text_copy(find_below(surface, "init_from", 3), memory);
        if (!image && id) image = library_find(root, "library_images", id);
    } else {
        image = library_find(root, "library_images", texture); /* some name the image itself */
    }

    const xml_node *from = find_below(image, "init_from", 2), *ref = xml_child(from, "ref");
    const char *name = image ? text_copy(ref ? ref : from, memory) : NULL;
    if (name && strncmp(name, "file://", 7) == 0) name += 7;
    return name ? name : "";
}

static void look_read(const xml_node *root, const xml_node *effect, const char *path, arena *memory,
                      warning_list *warnings, cutis_material *material)
{
    /* diffuse colour and texture */
    const xml_node *profile = xml_child(effect, "profile_COMMON");
    const xml_node *diffuse = find_below(xml_child(profile, "technique"), "diffuse", 3);
    const xml_node *texture = xml_child(diffuse, "texture");

    int count = 0;
    const double *color = xml_numbers(xml_child(diffuse, "color"), memory, &count);

    /* colours of Blender are linear */
    const xml_node *contributor = xml_child(xml_child(root, "asset"), "contributor");
    const xml_node *tool = xml_child(contributor, "authoring_tool");
    bool is_linear = tool && written_by_blender(tool->text, tool->text_end);
    for (int k = 0; color && count >= 3 && k < 3; k++) material->color[k] = color_read(color[k], is_linear);

    if (!texture || !path) return;
    image_find(path, image_name(root, profile, xml_attribute(texture, "texture"), memory), memory, warnings, material);
    for (int k = 0; k < 3; k++) material->color[k] = material->image ? 1 : 0.8f;
}

/* Visit every instance_material of the scene; with materials NULL only count. */
static void bindings_visit(const xml_node *root, const xml_node *node, int depth, const char *path, arena *memory,
                           warning_list *warnings, cutis_material *materials, int *count)
{
    for (const xml_node *child = node ? node->first_child : NULL; child && depth > 0; child = child->next) {
        bindings_visit(root, child, depth - 1, path, memory, warnings, materials, count);
        if (strcmp(child->name, "instance_material") != 0) continue;

        /* each symbol once */
        const char *symbol = xml_attribute(child, "symbol");
        bool known = false;
        for (int i = 0; materials && i < *count; i++) known |= strcmp(materials[i].name, symbol) == 0;
        if (known) continue;

        if (materials) {
            const xml_node *target = library_find(root, "library_materials", xml_attribute(child, "target"));
            const char *url = xml_attribute(xml_child(target, "instance_effect"), "url");
            cutis_material *material = &materials[*count];
            *material = (cutis_material){.name = symbol, .color = {0.8f, 0.8f, 0.8f, 1}};
            look_read(root, library_find(root, "library_effects", url), path, memory, warnings, material);
        }

        (*count)++;
    }
}

const cutis_material *dae_materials_read(const xml_node *root, const char *path, arena *memory, warning_list *warnings,
                                         int *count)
{
    enum { DEPTH = 64 };
    const xml_node *scenes = xml_child(root, "library_visual_scenes");
    *count = 0;
    bindings_visit(root, scenes, DEPTH, path, memory, warnings, NULL, count);
    cutis_material *materials = ARENA_ARRAY(memory, cutis_material, *count + 1);
    *count = 0;
    if (materials) bindings_visit(root, scenes, DEPTH, path, memory, warnings, materials, count);
    return materials;
}
