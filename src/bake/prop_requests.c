/*
 * prop_requests.c: things to touch, as hosts name them, put beside a character.
 */
#include <string.h>

#include "bake/bake_private.h"
#include "cutis/zoo.h"

/* One prop more. */
static cutis_result add_one(const cutis_character *character, const cutis_prop_request *request, int clip,
                            void (*message)(void *context, cutis_bake_message kind, const char *text), void *context,
                            const cutis_allocator *allocator, cutis_character **result, cutis_error *error)
{
    cutis_placed_prop prop;
    if (strpbrk(request->name, "./"))
        return bake_add_prop_file(character, request, message, context, allocator, result, error);
    double scale = request->scale > 0 ? request->scale : 1;
    cutis_result code = cutis_zoo_prop_make(request->name, character, clip, request->placed ? request->position : NULL,
                                            scale, allocator, &prop, error);
    return code == CUTIS_OK ? cutis_character_add_props(character, &prop, 1, allocator, result, error) : code;
}

cutis_result cutis_bake_add_props(const cutis_character *character, const cutis_prop_request *props, int prop_count,
                                  int clip, void (*message)(void *context, cutis_bake_message kind, const char *text),
                                  void *context, const cutis_allocator *allocator, cutis_character **result,
                                  cutis_error *error)
{
    *result = NULL;
    cutis_character *made = NULL;

    if (prop_count < 1) return error_set(error, CUTIS_ERROR_ARGUMENT, "no prop is given");

    for (int i = 0; i < prop_count; i++) {
        cutis_character *more = NULL;
        cutis_result code =
            !props[i].name || !(props[i].scale >= 0)
                ? error_set(error, CUTIS_ERROR_ARGUMENT, "prop %d needs a name and a scale above 0", i)
                : add_one(made ? made : character, &props[i], clip, message, context, allocator, &more, error);

        cutis_character_destroy(made);
        made = more;
        if (code != CUTIS_OK) return code;
    }

    *result = made;
    return CUTIS_OK;
}
