/*
 * picture_materials.c: the materials of a character's file, with their images decoded, and which triangle has which.
 */
#include "picture_job.h"

#include <stdlib.h>
#include <string.h>

/* Decode an image; without it the material keeps its colour, and a message says so. */
static void image_take(const picture_job *r, const char *name, const void *bytes, size_t size, picture_image *image)
{
    cutis_error error;
    if (bytes && picture_image_decode(bytes, size, name, image, &error) != CUTIS_OK && !r->quiet)
        cli_warning("%s", error.text);
}

/* The looks of a glTF file, or those that other formats give a character, as one list; to free(). */
static cutis_look *looks_list(const picture_job *r, const cutis_looks *looks, int *count)
{
    const cutis_character *c = r->character;
    *count = looks ? looks->look_count : c->material_count;
    cutis_look *list = cli_allocate((size_t)*count, sizeof *list);

    for (int i = 0; i < *count; i++) {
        if (looks) {
            list[i] = looks->looks[i];
            continue;
        }
        const cutis_material *material = &c->materials[i];
        list[i] = (cutis_look){.name = material->name,
                               .cutoff = material->cutout ? 0.5f : 0,
                               .image = material->image,
                               .image_size = material->image_size};
        memcpy(list[i].color, material->color, sizeof list[i].color);
    }
    return list;
}

/* The material of each triangle, by its part. */
static void triangles_assign(picture_job *r, const cutis_look *list)
{
    const cutis_character *c = r->character;
    for (int t = 0; t < c->triangle_count; t++) r->triangle_materials[t] = -1;

    int *faces = cli_allocate((size_t)c->face_count, sizeof *faces);
    for (int f = 0; f < c->face_count; f++) faces[f] = -1;
    for (int p = 0; p < c->part_count; p++)
        for (int i = 0; i < r->material_count; i++) {
            if (strcmp(c->parts[p].material, list[i].name) != 0) continue;
            for (int f = 0; f < c->parts[p].face_count; f++) faces[c->parts[p].first_face + f] = i;
            break;
        }

    for (int t = 0; t < c->triangle_count; t++) r->triangle_materials[t] = faces[c->triangle_faces[t]];
    free(faces);
}

int picture_materials_load(picture_job *r)
{
    const char *path = r->arguments->positionals[0];
    cutis_looks *looks = NULL;
    cutis_error error;

    /* of a glTF file, or of the character */
    if (cli_is_gltf(path) && cutis_looks_load(path, NULL, &looks, &error) != CUTIS_OK) return cli_library_error(&error);
    cutis_look *list = looks_list(r, looks, &r->material_count);

    if (r->material_count > 0) {
        r->materials = cli_allocate((size_t)r->material_count, sizeof *r->materials);
        r->triangle_materials = cli_allocate((size_t)r->character->triangle_count, sizeof *r->triangle_materials);
        triangles_assign(r, list);
    }

    for (int i = 0; i < r->material_count; i++) {
        picture_material *material = &r->materials[i];
        memcpy(material->color, list[i].color, sizeof material->color);
        material->cutoff = list[i].cutoff;
        if (list[i].left_out && !r->quiet)
            cli_warning("an image of the material '%s' is ignored: it is missing, in a data URI, or does not use the "
                        "first texture coordinates",
                        list[i].name);
        image_take(r, list[i].name, list[i].image, list[i].image_size, &material->image);
        image_take(r, list[i].name, list[i].normals, list[i].normals_size, &material->normals);
    }

    free(list);
    cutis_looks_destroy(looks);
    return CLI_OK;
}

void picture_materials_free(picture_job *r)
{
    for (int i = 0; i < r->material_count; i++) {
        picture_image_destroy(&r->materials[i].image);
        picture_image_destroy(&r->materials[i].normals);
    }
    free(r->materials);
    free(r->triangle_materials);
}
