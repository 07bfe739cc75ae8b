/*
 * fit.h: template skeletons put into the solid of a body, each with a score between 0 and 1.
 *
 * A template tries the ways in which the far ends of the solid may be its hands, feet, head ..., places the joints for
 * the likely ones, and scores them: joints inside, bones inside, lengths in proportion, both sides alike, order of
 * heights, far ends explained. The best score of all templates wins. Nothing depends on the direction that a body
 * faces.
 */
#ifndef RIG_FIT_H
#define RIG_FIT_H

#include "rig/rigging.h"
#include "rig/shape.h"
#include "rig/skeleton.h"

enum { FIT_BINS = 64, FIT_WAY = 24, FIT_CELLS = 100 /* along the longest side */ };

/* A body below this score is not recognised: it gets the tree of its limbs. */
#define FIT_BOUND 0.5f
/* Below this score, or nearer than the gap to another reading of it, the best template is a guess and told so. */
#define FIT_SURE 0.74f
#define FIT_GAP 0.05f
/* The same beside a template of another kind. */
#define FIT_KIND_GAP 0.08f

typedef struct fit {
    const char *name; /* of the template */
    const char *kind; /* templates of one kind are no rivals: fish and snake */
    float score;
    int thing_count; /* loose pieces that the body holds, left out of it */
    float rival;     /* score of another reading by the same template whose joints are elsewhere; 0: none comes near */
    float guess;     /* how likely its far ends looked, of templates with several readings */
    vec3 up, forward;
    skeleton skeleton;
} fit;

/* An upright plane across which a body is about its own mirror image: normal . p = offset. */
typedef struct fit_plane {
    vec3 normal;
    float offset;
    float share; /* of the cells whose image is inside */
} fit_plane;

enum { FIT_PLANES = 3 };
vec3 fit_plane_image(const fit_plane *plane, vec3 p);

/* What the fits of one body share. */
typedef struct fit_body {
    const shape *shape;
    const cutis_jobs *jobs;
    vec3 up;
    vec3 ahead;        /* where a body faces whose shape does not tell: +Z of the file */
    float ground, top; /* heights of the lowest and highest cells */
    float height;
    shape_curve *curves; /* (tip_count) */
    float *between;      /* (SHAPE_TIPS x SHAPE_TIPS) way through the solid from tip to tip */
    vec3 *ways;          /* (SHAPE_TIPS x SHAPE_TIPS x FIT_WAY) places along that way, evenly by cells */
    float *joins;        /* (SHAPE_TIPS x SHAPE_TIPS) length along the first one's curve where the second's joins it */
    float *areas;        /* (tip_count x FIT_BINS) section of the body by the way from the tip, in steps of bin */
    float bin;
    int plane_count; /* 0: the body is posed, or has no two sides */
    fit_plane planes[FIT_PLANES];
    int landmark_count;
    const cutis_rig_landmark *landmarks; /* what the user knows, in the turned body */
    int *scratch;                        /* (count) */
} fit_body;

static inline float fit_height(const fit_body *b, vec3 p) { return vec3_dot(p, b->up); }
/* p without its part along up. */
static inline vec3 fit_level(const fit_body *b, vec3 p) { return vec3_madd(p, b->up, -vec3_dot(p, b->up)); }
/* 1 at equal sizes, falling to 0 when one is `worst` times the other. */
float fit_alike(float a, float b, float worst);
/* 1 within low..high, falling to 0 over `slack` on both sides. */
float fit_within(float x, float low, float high, float slack);
/*
 * How far along the curves of two tips the body is parted between them: a sum over all lengths of how little flesh lies
 * between the curves there, so that it changes by little where the flesh does. Legs that touch are parted still: flesh
 * counts whole when it is half as deep as the legs.
 */
float fit_parted(const fit_body *b, int tip_a, int tip_b);
/*
 * The way from the end of one tip to that of another: along their curves for the given lengths, and pulled taut between
 * them. Steps from cell to cell are up to 8 % longer than the way that they stand for, by its direction; a taut way
 * cuts the corners of limbs that are bent, which their curves do not.
 */
float fit_way(const fit_body *b, int tip_a, int tip_b, float along_a, float along_b);
/* Length along a curve at which it is nearest to a place. */
float fit_nearest(const shape_curve *c, vec3 place);
/*
 * The thinnest place of a curve between two lengths, as a mean over all of them in which the thin ones count most: the
 * least alone jumps when a radius changes by a fraction of a cell. around: where it is expected; a place `away` from
 * there counts as thicker by pull * away / (to - from) of its radius.
 */
float fit_thinnest(const fit_body *b, const shape_curve *c, float from, float to, float around, float pull);
/*
 * Whether pairs of tips are images of one another, and single tips lie on the plane, across one plane of symmetry of
 * the body: 0 to 1, and 1 for a body that has none. It keeps a trunk, a tail or a tuft from being one of two legs.
 */
float fit_symmetry(const fit_body *b, const int (*pairs)[2], int pair_count, const int *singles, int single_count);
/* A tip that a template uses; it explains those whose curves join its own within `limit` of its end: fingers, ears. */
typedef struct fit_use {
    int tip;
    float limit;
} fit_use;

/*
 * Share of the reach of large tips that the used ones explain. head: a tip (or -1) that also explains all that is near,
 * nearer to it than to the other used ones and above `height`: ears, horns, hair, a hat.
 */
float fit_explained(const fit_body *b, const fit_use *used, int used_count, int head, float height);
/*
 * How many tips that the used ones do not explain stand on the ground: legs that a template leaves out. reach: the
 * least of such a tip, as a share of the farthest distance.
 */
int fit_other_feet(const fit_body *b, const fit_use *used, int used_count, float reach);
/* How many large limbs above the ground are rods and not explained, as by fit_explained: arms that it leaves out. */
int fit_other_arms(const fit_body *b, const fit_use *used, int used_count, int head, float height);
/*
 * How far the sole of a foot lies along an axis before a place of its leg, over the leg's length `seam`: paws and
 * hooves point forward, and hocks are behind hind feet.
 */
float fit_toes(const fit_body *b, int tip, float seam, vec3 leg, vec3 axis);
/* 1 for a rod, 0 for a plate, by the sections of a limb between two lengths from its tip. */
float fit_rod(const fit_body *b, int tip, float from, float to);
/*
 * How much a body stands upright: the spread of its cells in height over that along its longest level line. Birds are
 * long, with high legs too (at most 0.8 over 9 of them); people are high (1.4 and more, whatever they hold).
 */
float fit_slender(const fit_body *b);
/* How well a skeleton agrees with the landmarks, 0 to 1; 1 without any. Joints that it has not count against it. */
float fit_agree(const fit_body *b, const skeleton *s);
/* One answer between 0 and 1, and how much it counts. */
typedef struct fit_term {
    float value, weight;
} fit_term;

/* What every template is asked: how much each answer counts, and what is enough. */
typedef struct fit_demand {
    float inside;                        /* weight of the joints and bones that run inside */
    float cover, cover_low, cover_slack; /* weight of the cells that bones explain; the share that is enough; how far
                                            below it that is nothing */
    float explained;                     /* weight of the far ends that the used ones explain */
    float feet, foot_cost;               /* weight of the legs that are left out, and what each of them costs */
    float trust;                         /* factor of the whole beside other templates */
} fit_demand;

/* The far ends that a skeleton uses; head and height as for fit_explained, foot_reach as for fit_other_feet. */
typedef struct fit_ends {
    const fit_use *used;
    int used_count;
    int head;
    float height;
    float foot_reach;
} fit_ends;

/*
 * The score of a skeleton: the weighted mean of what every template is asked and of its own terms, pulled down by the
 * worst of them.
 */
float fit_score(const fit_body *b, const skeleton *s, const fit_ends *ends, const fit_demand *demand,
                const fit_term *terms, int count);
/*
 * Where the solid is about its own mirror image across the plane that halves the pairs (_l, _r), pairs that are images
 * of one another are averaged and the rest is put on the plane; posed limbs stay as they are. lateral: unit, to the
 * left.
 */
void fit_mirror(const fit_body *b, vec3 lateral, skeleton *s);
/* A tail of five joints from the tip's base. */
void fit_tail(const fit_body *b, int tip, float base, int parent, skeleton *s);

/* One way to name the tips of a body, and how likely it looks before joints are placed. */
typedef struct fit_try {
    int tips[5];
    float guess;
} fit_try;
enum { FIT_TRIES = 16 };
/* Keep a try among the best FIT_TRIES, best first. */
void fit_try_keep(fit_try *tries, int *count, fit_try t);

/* Templates with several readings: the likeliest ones, best first, and the skeleton of one. */
int fit_biped_tries(const fit_body *b, fit_try *tries);
bool fit_biped_place(const fit_body *b, const fit_try *t, fit *made);
int fit_quadruped_tries(const fit_body *b, fit_try *tries);
bool fit_quadruped_place(const fit_body *b, const fit_try *t, fit *made);
/* Templates with one reading. */
bool fit_many_legs(const fit_body *b, fit *best);
bool fit_bird(const fit_body *b, fit *best);
bool fit_fish(const fit_body *b, fit *best);
bool fit_snake(const fit_body *b, fit *best);
bool fit_tree(const fit_body *b, fit *best);

/* The upright planes across which at least such a share of the body has an image, best first: b->planes. */
void fit_planes_find(fit_body *b, float least);
/*
 * The triangles without the loose pieces that are on one side of the body only (swords, shields, staffs), and with
 * `rods` without slender pieces, too. kept: (triangle_count x 3). Returns how many pieces were left out, -1 when memory
 * runs out.
 */
int fit_things_drop(const shape *s, vec3 up, bool rods, int point_count, const float *positions, int triangle_count,
                    const int *triangles, const cutis_jobs *jobs, arena *memory, int *kept, int *kept_count);
/* A person put together from boxes, by the boxes. False for any other body, or when memory runs out. */
bool fit_blocks(const float *positions, int triangle_count, const int *triangles, bool y_up, arena *memory, fit *made);
/* Whether a fit is good enough, and no alternative fit of the same kind (facing, up axis) is near. */
bool fit_unrivalled(const fit *best);
/* Whether the best fit is certain: unrivalled, and far from the best one of another kind. */
bool fit_certain(const fit *best, const fit *second);
/*
 * The turn about +Y that lays the longer side of a body along x, so that the cells of a body do not depend on the way
 * it faces. positions: (point_count x 3).
 */
quat fit_turn(int point_count, const float *positions, int triangle_count, const int *triangles);
/*
 * The best fit over all templates, or of the one named, with up along +Y or (unless y_up) +Z before `turn`. second: the
 * best template of another kind, score -1 when there is none. False when memory runs out or nothing fits.
 */
bool fit_find(const shape *s, const char *name, quat turn, bool y_up, const cutis_rig_landmark *landmarks,
              int landmark_count, const cutis_jobs *jobs, arena *memory, fit *best, fit *second);
/*
 * The same in one call, from a surface: the solid is built of the turned body, and the skeletons are turned back.
 * landmarks: (landmark_count); those on the surface are moved to the middle of the body below it. A named template that
 * does not fit is laid through three landmarks or more. whole: the solid of all parts, in the arena; nothing else lives
 * there.
 */
cutis_result fit_surface(int point_count, const float *positions, int triangle_count, const int *triangles,
                         const char *name, bool y_up, cutis_rig_landmark *landmarks, int landmark_count,
                         const cutis_jobs *jobs, arena *memory, fit *best, fit *second, rig_solid *whole,
                         cutis_error *error);

#endif
