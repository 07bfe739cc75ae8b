/*
 * articulation.h: a skeleton that yields to contact.
 *
 * A pose that a clip asks for may drive bones into other flesh of the character. The articulation turns joints away
 * from that pose so far that each bone stays outside: docs/JOINTS.md has the energy. It runs before the solvers, so
 * that all of them see the corrected pose. Without contact the corrected pose equals the animated one to the bit.
 *
 * Links. A link is a joint with what it carries rigidly. A hand with its fingers, a foot, a head are one link each.
 * The unknowns are a rotation vector for every link that can turn, relative to the animated pose, in rest axes as its
 * parent turns them; and its rate.
 */
#ifndef ARTICULATION_ARTICULATION_H
#define ARTICULATION_ARTICULATION_H

#include "base/core.h"
#include "character/skinning.h"
#include "mesh/mesh.h"

typedef struct articulation_link {
    int joint;            /* that it turns about */
    int parent;           /* link; -1: none. A parent comes before its children */
    double inertia;       /* about the joint, of all flesh that it carries; 0: does not turn */
    double mobility;      /* per mass: of the middle of its flesh, by the links that carry it */
    bool trunk;           /* carries several limbs, or a link that does */
    int limb;             /* the first link of its limb; -1: of the trunk */
    vec3 place, middle;   /* of the joint and of its flesh, at rest */
    bvh tree;             /* of its skin, at rest; no nodes where it has none */
    int first_node;       /* of the trees of all links */
    int box_first, box_count; /* boxes that enclose its skin in any pose */
} articulation_link;

/* A place on the centre line of a bone. */
typedef struct articulation_sample {
    int link, joint;
    vec3 rest;
    float radius;    /* of the flesh around it: distance from the skin at rest, scene units */
    double mobility; /* by the links that carry it */
} articulation_sample;

/* The points of a link's skin that a joint moves lie in this box at rest. */
typedef struct articulation_box {
    int joint;
    vec3 low, high;
} articulation_box;

/* Immutable. No links: nothing can yield. */
typedef struct articulation {
    const cutis_character *character;
    const mesh *surface;
    skinning points; /* of the surface */
    const int *first, *joints; /* its weights, as given */
    const float *weights;
    int joint_count, link_count, sample_count, node_count;
    articulation_link *links;
    articulation_sample *samples;
    articulation_box *boxes;
    int *joint_links; /* (joint_count) the link that carries it, -1: none */
    float *gaps;      /* (sample_count x link_count) distance from the skin of the link at which contact begins; -INFINITY: never */
    float reach;      /* of the search for contact, beyond the gap */
    float outside;    /* 1; -1 when the normals of the surface point inwards */
} articulation;

/* What changes, of one link. */
typedef struct link_state {
    double turn[3], turn_old[3]; /* rotation vectors at the ends of the last substep, radians */
    double spin[3];              /* radians/s */
} link_state;

/* A contact of a sample with the skin of another link. */
typedef struct articulation_contact {
    int sample, link;
    vec3 place, normal; /* the nearest point of the skin, and the direction from it to the outside */
    double distance;    /* of the sample from there, negative inside */
    double gap, scale;  /* distance at which contact begins; that at which it is firm */
    double stiffness;   /* energy: stiffness x scale^2 x contact_potential((gap - distance) / scale) */
} articulation_contact;

typedef struct articulation_step_info {
    int contacts; /* that push */
    double turn;  /* the largest correction, radians */
    int link;     /* whose that is; -1: none */
} articulation_step_info;

/*
 * surface: the flesh, of the points whose weights are given (as skinning_build takes them); all are kept by reference. A
 * character without joints that could yield gives no links.
 */
cutis_result articulation_build(articulation *a, const cutis_character *character, const mesh *surface,
                                const int *first, const int *joints, const float *weights, arena *memory,
                                cutis_error *error);
size_t articulation_state_bytes(const articulation *a);
size_t articulation_scratch_bytes(const articulation *a);

/*
 * The animated pose (joint_count x 12) with the corrections of a state, `part` of the way from the last substep but
 * one to the last. joints may be animated.
 */
void articulation_pose(const articulation *a, const link_state *state, void *scratch, const float *animated,
                       double part, float *joints);
/* Whether no joint is turned, and none turns. */
bool articulation_is_idle(const articulation *a, const link_state *state);
/* Advance by h seconds to the animated pose, and put the corrected one into joints. still: animated has not changed. */
articulation_step_info articulation_step(const articulation *a, link_state *state, void *scratch,
                                         const float *animated, double h, bool still, const cutis_jobs *jobs,
                                         float *joints);
/* The correction that a pose needs, without motion. */
void articulation_settle(const articulation *a, link_state *state, void *scratch, const float *animated,
                         const cutis_jobs *jobs, float *joints);

/* ---- between the files of this module, and for tests ---- */

/* Where the links are in a pose. */
typedef struct link_frame {
    mat34 move;  /* from the animated to the corrected place */
    mat3 axes;   /* of the rotation vector, in the scene */
    vec3 origin; /* of the joint */
} link_frame;

typedef struct articulation_scratch {
    link_frame *frames;     /* (link_count) */
    float *joints, *skin;   /* (joint_count x 12) */
    float *positions;       /* of the surface */
    float *skinning;
    bvh_node *nodes;
    vec3 *lows, *highs;     /* (link_count) box of the skin */
    bool *fresh;            /* (link_count) the tree is refitted */
    articulation_contact *contacts; /* (sample_count) */
    double *rows;           /* (sample_count x link_count x 3) derivatives of the contacts' distances */
    double *step, *gradient, *matrix; /* (3 link_count), the same, its square */
    int *active;            /* (link_count) */
    double (*sums)[4];      /* (link_count) */
} articulation_scratch;

articulation_scratch articulation_scratch_lay_out(const articulation *a, void *block, size_t *bytes);
/* Frames of the links, and the corrected pose, for rotation vectors (a stride of `stride` doubles from link to link). */
void articulation_place(const articulation *a, const double *turns, size_t stride, const float *animated,
                        link_frame *frames, float *joints);
/* Contacts of the pose in scratch->joints, and their rows. Returns how many there are. */
int articulation_find_contacts(const articulation *a, articulation_scratch *s, const cutis_jobs *jobs);
/*
 * How often the skin of a limb (-1: the trunk) winds around a place: 1 inside. Links with which the sample has no
 * contact are left out.
 */
double articulation_winding(const articulation *a, const float *positions, int limb, int sample, vec3 x);
/* Potential of contact, its first and its second derivative, at an overlap in units of the scale. */
double contact_potential(double overlap, double *first, double *second);
/* exp(a) after exp(b), as a rotation vector. */
void turns_join(const double a[3], const double b[3], double joined[3]);

#endif
