/*
 * anatomy_limits.h: every constant of the anatomy map: what it is, its unit, where it comes from, and the test that
 * fails when it is wrong. None is chosen for a particular character. A softness is 0 on bone, 0.5 on muscle and 1 on
 * the fat of a belly. Places on the trunk: t runs along the spine from the hips (0) to the shoulders (1), beyond both.
 * Sides: 1 is the belly's side, 0 a flank, -1 the back; "across" runs from the middle (0) to the flank (1).
 */
#ifndef CHARACTER_ANATOMY_LIMITS_H
#define CHARACTER_ANATOMY_LIMITS_H

/* LIMIT(name, value, unit, meaning, origin, test); the tests are functions of tests/test_anatomy.c. */
/* clang-format off */
#define ANATOMY_LIMITS(LIMIT)                                                                                          \
    /* ---- trunk of an upright body ---- */                                                                           \
    LIMIT(TRUNK_SOFT, 0.42, "", "back and flanks", "muscle over ribs and spine", "regions_are_where_people_have_them") \
    LIMIT(RIBS_SOFT, 0.3, "", "ribs and sternum", "skin and thin muscle over bone", "regions_are_where_people_have_them") \
    LIMIT(BELLY_SOFT, 0.85, "", "belly", "no bone in front of the spine", "regions_are_where_people_have_them")         \
    LIMIT(BREAST_SOFT, 0.95, "", "breasts where they stand out", "fat on muscle", "regions_are_where_people_have_them") \
    LIMIT(PECTORAL_SOFT, 0.45, "", "the same place where nothing stands out", "muscle", "regions_are_where_people_have_them") \
    LIMIT(BUTTOCK_SOFT, 0.92, "", "buttocks", "fat on relaxed muscle", "regions_are_where_people_have_them")           \
    /* ---- trunk of an animal ---- */                                                                                 \
    LIMIT(ANIMAL_BELLY_SOFT, 1.0, "", "belly", "no bone below the ribs", "regions_are_where_animals_have_them")        \
    LIMIT(ANIMAL_TRUNK_SOFT, 0.35, "", "back, ribs", "muscle over bone", "regions_are_where_animals_have_them")        \
    LIMIT(ANIMAL_RUMP_SOFT, 0.6, "", "rump", "large muscle with fat", "regions_are_where_animals_have_them")           \
    LIMIT(HUMP_SOFT, 0.85, "", "a hump", "fat", "regions_are_where_animals_have_them")                                 \
    /* ---- neck and head ---- */                                                                                      \
    LIMIT(THROAT_SOFT, 0.55, "", "the front of a neck, at most", "no bone before the spine", "regions_are_where_people_have_them") \
    LIMIT(DEWLAP_SOFT, 0.8, "", "the underside of an animal's neck", "skin and fat", "regions_are_where_animals_have_them") \
    LIMIT(CHEEK_SOFT, 0.3, "", "cheeks and chin", "thin fat over bone: a face must not shake", "regions_are_where_people_have_them") \
    /* ---- proportions ---- */                                                                                        \
    LIMIT(TRUNK_GIRTH, 0.235, "trunk length", "half depth of the waist of a person of average weight", "bodies of average proportions", "thick_bodies_are_softer") \
    LIMIT(THIGH_GIRTH, 0.19, "bone length", "mean radius of such a thigh", "likewise", "thick_bodies_are_softer")      \
    LIMIT(ARM_GIRTH, 0.18, "bone length", "mean radius of such an upper arm", "likewise", "thick_bodies_are_softer")   \
    LIMIT(MIN_GIRTH, 0.6, "", "least factor of proportions", "thin people have half of the fat", "thick_bodies_are_softer") \
    LIMIT(MAX_GIRTH, 1.7, "", "largest factor of proportions", "beyond it a body is stylised, not fat", "thick_bodies_are_softer") \
    /* ---- bodies that are not recognised ---- */                                                                     \
    LIMIT(UNKNOWN_SOFT, 0.62, "", "the thickest parts", "between muscle and fat: it may be a head", "unknown_bodies_are_soft_where_thick") \
    LIMIT(UNKNOWN_THIN, 0.015, "size", "radius below which flesh is firm", "fingers, ears, feet", "unknown_bodies_are_soft_where_thick") \
    LIMIT(UNKNOWN_THICK, 0.09, "size", "radius from which it is softest", "trunks", "unknown_bodies_are_soft_where_thick") \
    /* ---- shape ---- */                                                                                              \
    LIMIT(SMOOTH_LENGTH, 0.015, "size", "distance over which the map is diffused", "three centimetres on a person: no edge is seen", "map_is_smooth") \
    LIMIT(LYING_COSINE, 0.75, "", "cosine between spine and legs below which the body is an animal's", "40 degrees: between a person who bends and a bird", "regions_are_where_animals_have_them") \
    LIMIT(HUMP_RISE, 1.25, "", "height of the back over its mean where a hump begins", "above that of withers", "regions_are_where_animals_have_them") \
    /* ---- units ---- */                                                                                              \
    LIMIT(MIN_HEIGHT, 0.4, "m", "least height of a person", "a doll", "unit_is_guessed_from_height")                   \
    LIMIT(MAX_HEIGHT, 4, "m", "largest height of a person", "a giant", "unit_is_guessed_from_height")                  \
    LIMIT(HEIGHT, 1.7, "m", "height of a person", "an adult", "unit_is_guessed_from_height")                           \
    LIMIT(MIN_SIZE, 0.02, "m", "least size of a body", "a finger", "unit_is_guessed_from_height")                      \
    LIMIT(MAX_SIZE, 15, "m", "largest size of a body", "a whale", "unit_is_guessed_from_height")
/* clang-format on */

#define ANATOMY_DECLARE(name, value, unit, meaning, origin, test) static const float name = (float)(value);
ANATOMY_LIMITS(ANATOMY_DECLARE)
#undef ANATOMY_DECLARE

#endif
