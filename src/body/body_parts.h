/*
 * body_parts.h: what each piece of a character is: flesh, a rigid thing, or something that flesh carries.
 */
#ifndef BODY_BODY_PARTS_H
#define BODY_BODY_PARTS_H

#include "body/body_base.h"

typedef enum part_role {
    PART_FLESH,  /* simulated */
    PART_RIGID,  /* moved by one joint, or by joints that move as one: shown exactly where skinning puts it */
    PART_CARRIED /* clothing, hair, sheets, small things: skinning plus what the flesh nearby does */
} part_role;

/* size: that of the character in the units of the base. roles: (b->piece_count). */
cutis_result parts_find(const cutis_character *character, const base *b, float size, arena *memory, part_role *roles,
                        cutis_error *error);

#endif
