/*
 * flesh_map.h: the anatomy of a character as factors on a solver's flesh: stiffness by tissue, depth of fat, damping.
 *
 * All solvers of flesh read the same map with the same three parameters, so that one character with one setting looks
 * alike in all of them. docs/ANATOMY.md describes it for users.
 */
#ifndef SOLVERS_FLESH_MAP_H
#define SOLVERS_FLESH_MAP_H

#include "character/anatomy.h"
#include "solvers/solver_kit.h"

/* For every solver of flesh; all can be set for one bone. */
#define FLESH_PARAMETER_ANATOMY                                                                        \
    PARAMETER_FLOAT("anatomy", 1, 0, 2, ""), .per_bone = true,                                         \
                                             .help = "how much tissue differs over the body: off (0) " \
                                                     "uniform, on (1), 2 exaggerated"
/* The same for a solver that leaves it off by default. */
#define FLESH_PARAMETER_ANATOMY_OFF                                                                    \
    PARAMETER_FLOAT("anatomy", 0, 0, 2, ""), .per_bone = true,                                         \
                                             .help = "how much tissue differs over the body: off (0) " \
                                                     "uniform, 1 as in solvers that have it on, 2 exaggerated"
#define FLESH_PARAMETER_FATNESS                                               \
    PARAMETER_FLOAT("fatness", 1, 0.2, 3, ""), .per_bone = true,              \
                                               .help = "amount of fat, over " \
                                                       "that which the body's proportions show; acts through anatomy"
#define FLESH_PARAMETER_UNIT                                                                                        \
    PARAMETER_FLOAT("unit", 0, 0, 1e6, "m"), .help =                                                                \
                                                 "length of the file's unit, for parameters in metres; 0: guessed " \
                                                 "from the height of a person or the size of a body"
#define FLESH_PARAMETER_FIRMNESS \
    PARAMETER_FLOAT("firmness", 1, 0.2, 10, ""), .per_bone = true, .help = "factor on the stiffness of all tissue"

enum { FLESH_SKIN, FLESH_FAT, FLESH_MUSCLE, FLESH_TISSUES };

typedef struct flesh_map_request {
    const solver_build *build;
    int anatomy, fatness, firmness, unit; /* which parameters these are in the solver's table */
} flesh_map_request;

/* By the build's points. Factors are 1 to the bit where `anatomy` is 0 and `firmness` is 1. */
typedef struct flesh_map {
    anatomy anatomy;
    float *softness;                 /* (point_count) after `anatomy` and `fatness`; 0 firm, 0.5 muscle, 1 fat */
    float *stiffness[FLESH_TISSUES]; /* (point_count) factors on frequencies */
    float *damping;                  /* (point_count) factor */
    float *amounts;                  /* (point_count) the parameter `anatomy` */
    double unit;                     /* m, given or guessed */
} flesh_map;

/* All arrays in scratch. */
cutis_result flesh_map_find(const flesh_map_request *request, flesh_map *map, arena *scratch, cutis_error *error);

/* The same factors at any softness, for solvers whose elements are not points. */
double flesh_stiffness(int tissue, double softness, double amount);
double flesh_damping(double softness, double amount);

/* Where fat ends at a point, as a share of the depth of the flesh; `depth` is where it ends without anatomy. */
float flesh_map_fat_end(const flesh_map *map, int point, float depth);

/*
 * Gravity in sizes/s2 from m/s2. A body smaller than a person has flesh of the same frequencies, which real flesh of
 * its size would exceed; it gets the gravity of a body of SMALL_BODY metres, so that it hangs no deeper for its size.
 */
double flesh_gravity(double gravity, double unit, double size);

#endif
