/*
 * articulation.h: a skeleton that yields to contact.
 *
 * A clip may drive bones into other flesh of the character, or into a prop. The articulation turns joints away from the
 * animated pose and shifts the character until each bone stays outside. docs/reference/joints.md has the energy. It
 * runs before the solvers, so that all of them see the corrected pose. Without contact, and with joints of full
 * strength, the corrected pose equals the animated one to the bit.
 *
 * Links. A link is a joint with what it carries rigidly. A hand with its fingers, a foot, a head are one link each.
 * The unknowns are a rotation vector for every link that can turn, relative to the animated pose, in rest axes as its
 * parent turns them, and a shift of the whole character in scene axes.
 */
#ifndef ARTICULATION_ARTICULATION_H
#define ARTICULATION_ARTICULATION_H

#include "base/core.h"
#include "character/skinning.h"
#include "contact/contact.h"
#include "cutis/model.h"
#include "mesh/mesh.h"

typedef struct articulation_link {
    int joint;  /* that it turns about */
    int parent; /* link; -1: none. A parent comes before its children */
    bool turns;
    double inertia;           /* about the joint, of all flesh that it carries */
    double mass, spread;      /* of its own flesh: volume, and moment of inertia about its middle */
    double strength;          /* 0 to 1: of the muscles that hold the pose, see docs/reference/joints.md */
    double mobility;          /* per mass: of the middle of its flesh, by the links that carry it */
    bool trunk;               /* carries several limbs, or a link that does */
    int limb;                 /* the first link of its limb; -1: of the trunk */
    vec3 place, middle;       /* of the joint and of its flesh, at rest */
    bvh tree;                 /* of its skin, at rest; no nodes where it has none */
    int first_node;           /* of the trees of all links */
    int box_first, box_count; /* boxes that enclose its skin in any pose */
} articulation_link;

/* A place on the centre line of a bone. */
typedef struct articulation_sample {
    int link, joint;
    vec3 rest;
    float radius;    /* of the flesh around it: distance from the skin at rest, scene units */
    double mobility; /* by the links that carry it */
} articulation_sample;

/* A vertex of the drawn skin, for contact with props. */
typedef struct articulation_touch {
    int vertex, link;
    float depth; /* to which a prop may press the skin, scene units */
} articulation_touch;

/* The bend between the bones above and below a joint of a known kind. */
typedef struct articulation_limit {
    int link;
    vec3 above, below; /* directions of the bones at rest, in the rest axes of the joint's parent and of the joint */
    double largest;    /* angle between them, radians */
} articulation_limit;

/* The points of a link's skin that a joint moves lie in this box at rest. */
typedef struct articulation_box {
    int joint;
    vec3 low, high;
} articulation_box;

/* Immutable. No links: nothing can yield. */
typedef struct articulation {
    const cutis_character *character;
    const mesh *surface;
    skinning points;           /* of the surface */
    const int *first, *joints; /* its weights, as given */
    const float *weights;
    int joint_count, link_count, sample_count, node_count, touch_count, limit_count;
    articulation_link *links;
    articulation_sample *samples;
    articulation_touch *touches;
    articulation_limit *limits;
    contact_props props;
    double mass;  /* of all links */
    double hold;  /* strength of the first link: it holds the shift */
    bool weak;    /* some link has less than full strength */
    bool *shifts; /* (joint_count) moves with the shift: it carries flesh */
    articulation_box *boxes;
    int *joint_links; /* (joint_count) the link that carries it, -1: none */
    float *gaps;   /* (sample_count x link_count) distance from the skin of the link at which contact begins; -INFINITY:
                      never */
    float reach;   /* of the search for contact, beyond the gap */
    float outside; /* 1; -1 when the normals of the surface point inwards */
} articulation;

/* Velocity of the middle of a link's flesh and of its rotation, scene axes, 1/s. */
typedef struct link_rate {
    double way[3], turn[3];
} link_rate;

/*
 * What changes, of one link. The entry behind the last link is the shift of the character: turn and turn_old are
 * lengths in the scene, and the rest is unused.
 */
typedef struct link_state {
    double turn[3], turn_old[3]; /* rotation vectors at the ends of the last substep, radians */
    link_rate rate;              /* relative to the animated motion */
    link_rate scene_rate;        /* in the scene, where some link is weak; else 0 */
    double place[3], pose[4];    /* of the middle and of the link at the last substep, likewise */
} link_state;

/* A contact of a sample with the skin of another link or of a touch with a prop, or a joint at its limit. */
typedef struct articulation_contact {
    int link;           /* whose skin it is; -1: none */
    vec3 place, normal; /* the nearest point of the surface, and the direction from it to the outside */
    double distance;    /* from there, negative inside */
    double gap, scale;  /* distance at which contact begins; that at which it is firm */
    double stiffness;   /* energy: stiffness x scale^2 x contact_potential((gap - distance) / scale) */
} articulation_contact;

typedef struct articulation_step_info {
    int contacts; /* that push */
    double turn;  /* the largest correction, radians */
    int link;     /* whose that is; -1: none */
} articulation_step_info;

typedef struct articulation_def {
    const cutis_character *character;
    const mesh *surface; /* the flesh; kept by reference, as the weights are */
    const int *first, *joints;
    const float *weights;    /* of the points of the surface, as skinning_build takes them */
    const double *strengths; /* (joint_count) 0 to 1; NULL: all 1 */
    bool meets_props;        /* props act on joints */
} articulation_def;

/* What acts in a substep. */
typedef struct articulation_input {
    const float *animated; /* (joint_count x 12) the pose at its end */
    double h;              /* seconds */
    bool still;            /* animated has not changed */
    float acceleration[3]; /* scene units/s2; on links as far as their strength does not hold them */
    const cutis_impulse *impulses;
    int impulse_count;
    const cutis_jobs *jobs;
} articulation_input;

/* A character without joints that could yield gives no links. */
cutis_result articulation_build(articulation *a, const articulation_def *def, arena *memory, cutis_error *error);
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
/* Advance to the animated pose, and put the corrected one into joints. */
articulation_step_info articulation_step(const articulation *a, link_state *state, void *scratch,
                                         const articulation_input *input, float *joints);
/* The correction that a pose needs, without motion. */
void articulation_settle(const articulation *a, link_state *state, void *scratch, const float *animated,
                         const cutis_jobs *jobs, float *joints);
/* Move everything rigidly. */
void articulation_teleport(const articulation *a, link_state *state, const float transform[12]);

/* ---- between the files of this module, and for tests ---- */

/* Where the links are in a pose. */
typedef struct link_frame {
    mat34 move;  /* from the animated to the corrected place */
    mat3 axes;   /* of the rotation vector, in the scene */
    vec3 origin; /* of the joint */
} link_frame;

/* Where a link's flesh is, and where inertia takes it in a substep. */
typedef struct link_motion {
    double place[3], pose[4]; /* of the middle, and the rotation of the link: x, y, z, w */
    link_rate held, falling;  /* of the substep: with the animated motion, and without muscles */
} link_motion;

typedef struct articulation_scratch {
    link_frame *frames;   /* (link_count) */
    float *joints, *skin; /* (joint_count x 12) */
    float *positions;     /* of the surface */
    vec3 *touches;        /* (touch_count) where they are */
    float *skinning;
    bvh_node *nodes;
    vec3 *lows, *highs; /* (link_count) box of the skin */
    bool *fresh;        /* (link_count) the tree is refitted */
    int capacity;       /* of contacts: one for each sample, touch and limit; more props at one place are left out */
    articulation_contact *contacts; /* (capacity) */
    double *rows;                   /* (capacity x (link_count + 1) x 3) derivatives of the contacts' distances */
    double *step, *gradient, *pull; /* (3 (link_count + 1)) */
    double *matrix, *mass;          /* the square of that */
    int *active;                    /* (link_count + 1) */
    double (*sums)[4];              /* (link_count) */
    link_motion *motions;           /* (link_count) */
} articulation_scratch;

articulation_scratch articulation_scratch_lay_out(const articulation *a, void *block, size_t *bytes);
/* Frames of the links, and the corrected pose, for rotation vectors (a stride of `stride` doubles from link to link).
 */
void articulation_place(const articulation *a, const double *turns, size_t stride, const float *animated,
                        link_frame *frames, float *joints);
/* A row of derivatives: three for each link, and three for the shift. */
static inline double *contact_row(const articulation *a, const articulation_scratch *s, int contact)
{
    return s->rows + 3 * (size_t)contact * (size_t)(a->link_count + 1);
}
/* Contacts of the pose in scratch->joints, and their rows. Returns how many there are. */
int articulation_find_contacts(const articulation *a, articulation_scratch *s, const articulation_input *input);
/* Whether a link, or the shift (link_count), moves another link. */
bool articulation_carries(const articulation *a, int by, int link);
/*
 * How often the skin of a limb (-1: the trunk) winds around a place: 1 inside. Links with which the sample has no
 * contact are left out; sample -1: none are.
 */
double articulation_winding(const articulation *a, const float *positions, int limb, int sample, vec3 x);
/* Potential of contact, its first and its second derivative, at an overlap in units of the scale. */
double contact_potential(double overlap, double *first, double *second);
/* exp(a) after exp(b), as a rotation vector. */
void turns_join(const double a[3], const double b[3], double joined[3]);

#endif
