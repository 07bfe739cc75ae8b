/*
 * springs.h: what the files of the solver `springs` share.
 *
 * Nodes are the places that move: the skin's points, then the surface points of soft props, then those of rigid props
 * (which follow their body), then the inner nodes of soft props. The first three are the points of one contact mesh.
 * Positions are in sizes of the character relative to the centre of its bounds, four floats a node; forces are in
 * newtons, stiffnesses in newtons per size, so that a size of M metres turns N/m into N/size by the factor M.
 */
#ifndef SOLVERS_SPRINGS_H
#define SOLVERS_SPRINGS_H

#include "contact/contact.h"
#include "math/simd.h"
#include "solvers/solver.h"
#include "solvers/springs/springs_reference.h"

/* Which parameter stands where in solver_build.values. */
enum {
    SPRINGS_REFERENCE,
    SPRINGS_INTEGRATOR,
    SPRINGS_ITERATIONS,
    SPRINGS_TOLERANCE,
    SPRINGS_FLESH_YOUNG,
    SPRINGS_STRETCH,
    SPRINGS_BEND,
    SPRINGS_BONE_RADIUS,
    SPRINGS_BULGE,
    SPRINGS_SELF_COLLISION,
    SPRINGS_CONTACT_GAP,
    SPRINGS_FRICTION,
    SPRINGS_GRAVITY,
    SPRINGS_PROP_DAMPING,
    SPRINGS_STAND,
    SPRINGS_UNIT,
    SPRINGS_CONTROL_RINGS, /* found by name in springs_dffd.c */
    SPRINGS_CONTROL_RADIUS,
    SPRINGS_PARAMETER_COUNT
};

/* Floats of a node, and of the forces that one edge has on its four nodes. */
enum { NODE = 4, EDGE = 16 };

/* ---- the skin's edges (springs_force.c) ---- */

/* Elasticity and curvature over each edge: B and C are its ends, A and D the far corners of its two triangles. */
typedef struct springs_edges {
    int count, blocks; /* blocks of LANES */
    int *nodes;        /* (blocks x 4 x LANES) offsets in positions of B, C, A, D */
    int *slots;        /* (blocks x 4 x LANES) offsets of their forces */
    float *stretch;    /* (blocks x LANES) N per size */
    float *bend;       /* N x size: moment of one radian */
    float *low[2];     /* 1 / height of A and D over the edge below which the moment fades: 0.7 of that at rest */
} springs_edges;

/* ---- props (springs_prop.c, springs_soft.c) ---- */

typedef struct springs_prop {
    const cutis_prop *source;
    int index;       /* in the character */
    bool soft;       /* else rigid */
    bool fixed;      /* a collider: goes where its node goes */
    float scale[3];  /* of the node that carries it, in the rest pose, x 1 / size: own space -> sizes */
    float friction;  /* Coulomb; negative: the skin's */
    float mass;      /* kg x metres of a size: newtons per size/s2 */
    float radius;    /* of its bounds about the centre of mass, sizes */
    vec3 centre;     /* of mass, in the prop's scaled space */
    mat3 inertia;    /* inverse, about the centre, of `mass` */
    int first;       /* first contact point */
    int point_count; /* of its surface */
    int first_inner; /* first inner node (soft) */
    int inner_count;
    int triangle_count;
    int *triangles; /* (triangle_count x 3) over its points */
    int *corners;   /* (triangle_count x 3) the same over contact points */
    bvh tree;       /* of these */
    float *rest;    /* ((point_count + inner_count) x 3) relative to the centre of mass, scaled space */
    int first_soft; /* its nodes in springs_soft */
    int first_spring, spring_count;
    int first_tetra, tetra_count;
    int vertex_count;    /* what is shown of a soft one */
    int *vertex_points;  /* (vertex_count) own surface point of each; NULL: the points themselves */
    int shown_count;     /* triangles */
    const int *shown;    /* (shown_count x 3) over vertices */
    size_t output_first; /* of its vertices in the state */
} springs_prop;

/* Springs of the soft props. */
typedef struct springs_soft {
    int node_count; /* surface and inner */
    int *nodes;     /* (node_count) node */
    int *owners;    /* (node_count) prop */
    float *mass;    /* (node_count) N per size/s2 */
    int spring_count;
    int *ends;         /* (spring_count x 2) nodes */
    float *rest;       /* (spring_count) */
    float *stiff;      /* (spring_count) N per size */
    int *first;        /* (node_count + 1) incidence */
    int *springs;      /* 2 x spring + end */
    int tetra_count;   /* corners of cells, which resist being crushed and must not turn inside out (springs_guard.c) */
    int *tetras;       /* (tetra_count x 4) numbers in `nodes` */
    float *volumes;    /* (tetra_count) six times the volume at rest, above 0; square sizes x size */
    float *pressure;   /* (tetra_count) N per square size, of one that lacks all its volume */
    int *corner_first; /* (node_count + 1) incidence */
    int *corners;      /* 4 x tetrahedron + corner */
} springs_soft;

/* ---- model ---- */

typedef struct springs_model {
    const cutis_character *character;
    const mesh *skin;  /* topology; its positions are in scene units */
    int point_count;   /* of the skin */
    int soft_points;   /* surface points of soft props */
    int rigid_points;  /* surface points of rigid props */
    int inner_count;   /* inner nodes of soft props */
    int contact_count; /* points of the contact mesh */
    int node_count;
    int joint_count;
    float size, centre[3];
    float metres;    /* of a size */
    float fingertip; /* width of the thinnest limbs, sizes; 0: there are no bones */
    springs_reference *reference;
    float *anchor;       /* (point_count) N per size */
    float *depth;        /* (point_count) 1 / depth squared */
    float *flesh;        /* (point_count) depth over the bone */
    float *area;         /* (point_count) at rest */
    float *bulge;        /* (point_count) share of pressed flesh that comes out beside */
    float *diagonal;     /* (node_count) bound of the stiffness row without anchors' growth and inertia; 0: rigid */
    float *friction;     /* (contact_count) */
    int *owner;          /* (contact_count) prop, -1: skin */
    uint8_t *frozen;     /* (point_count) */
    int *bone;           /* (point_count) the joint that moves it most, -1: none */
    int *incident_first; /* (point_count + 1) */
    int *incident;       /* offsets in edge forces */
    springs_edges edges;
    springs_soft soft;
    int prop_count; /* free ones, and colliders that have a surface */
    springs_prop *props;
    bool bodies;         /* some of them are rigid and free */
    int *prop_of;        /* (character's prop_count) one of props, or -1: a plane */
    int *collider_index; /* (collider count) index in the character */
    float friction_default;
    float *vertex_share; /* (vertex_count) 1 / vertices of its point */
    size_t prop_vertex_count;
    int prop_nodes, prop_triangles; /* most of a prop's tree and surface */
    mesh mesh;                      /* of contact, rest positions in sizes, props far apart */
    contact_surface surface;
    contact_props colliders;
    bvh tree; /* of the skin alone, scaled */
    int rest_intersections;
    float spectral; /* radius of the Jacobi iteration, for its acceleration */
    bool rk4, self_contact, stand;
    int iterations;
    float tolerance, contact_tolerance; /* of forces, of corrections by contacts; sizes */
    float thickness, gravity, damping;
} springs_model;

cutis_result springs_model_build(const solver_build *build, springs_model *model, cutis_error *error);
/* Bodies of the free props, and the contact mesh of all. The skin's part of the model is made already. */
cutis_result springs_props_build(const solver_build *build, springs_model *model, cutis_error *error);
/* Surface and inner nodes of a prop's shape, in its own scaled space, about its centre of mass. */
cutis_result springs_shape_build(const solver_build *build, springs_model *m, springs_prop *prop, cutis_error *error);

/* ---- a substep ---- */

/* A side of a contact that is neither skin nor a prop of the character. */
enum { SPRINGS_NOBODY = -1000000 };

/* One contact: a distance of features along a normal, kept at least `gap`. */
typedef struct springs_contact {
    int count;     /* of nodes */
    int bones;     /* a bone against a prop: of nodes above it, which do not take part; count is 0 */
    int v[4];      /* nodes */
    float w[4];    /* weights; zero sum but for planes and rigid sides */
    int body[2];   /* rigid bodies that take part, -1: none */
    float sign[2]; /* weight of the body's point */
    vec3 arm[2];   /* from its centre of mass */
    vec3 base;     /* what is constant in the difference */
    vec3 start;    /* the difference at the start of the substep, for friction */
    vec3 normal;
    float gap;
    float cushion;  /* sizes per newton by which the gap gives way */
    float value;    /* distance beyond the gap, when it was last looked at */
    float nodes;    /* sizes per newton of its nodes, in this iteration */
    float mobility; /* the same along the normal, of its bodies */
    float slip;     /* and across */
    float friction; /* Coulomb coefficient */
    float most;     /* newtons that count for it */
    float lambda;   /* newtons, >= 0 */
    vec3 shear;     /* newtons, across */
    vec3 last;      /* both together, as the iteration before found them */
    int key[4];     /* pair, to be found again: its points, or plane: point, -1 - prop */
    float bone;     /* sizes by which a bone is in the collider, 0: none */
    int prop[2];    /* free props of its two sides, -1: skin; collider: -2 - index */
} springs_contact;

/* What is kept of a contact until the next substep. */
typedef struct springs_memory {
    int key[4];
    float lambda, shear[3];
} springs_memory;

typedef struct springs_body {
    float centre[3], rotation[4]; /* sizes; unit quaternion */
    float velocity[3], spin[3];   /* sizes/s, radians/s */
    float touching;               /* not 0: something bore on it in the last substep, so that it does not simply fall */
    float dropped;                /* not 0: it fell out of reach, and stays where it is */
} springs_body;

/*
 * A rigid body in this substep: how far it is from where inertia takes it, and what moves it. It gives way less than
 * its mass alone would let it, by the stiffness of the nodes that it touches: light as it is, contacts would otherwise
 * pass it to and fro between them.
 */
typedef struct springs_motion {
    vec3 shift, turn;  /* sizes, radians */
    vec3 push, torque; /* of its contacts, newtons and newtons x sizes */
    float give;        /* sizes per newton, in this iteration */
    mat3 give_turn;    /* radians per newton x size */
    mat3 back;         /* share of the turn that inertia takes back */
} springs_motion;

/* What is told of a prop. */
typedef struct springs_report {
    float force[3];    /* newtons, mean over the last moments */
    float penetration; /* sizes */
    float bone_depth;  /* sizes by which a bone is in it */
    int bone;          /* joint of that bone */
    int crossings;     /* pairs of triangles of skin and prop that pass through each other */
    float stand[3];    /* where it stood at reset: centre across, height of its lowest point; sizes */
} springs_report;

/* What changes. */
typedef struct springs_state {
    float *x;                 /* (node_count x 4) */
    float *reference;         /* (point_count x 4) */
    float *elongation;        /* (point_count x 4) of the anchors, a substep before */
    float *bulge;             /* (point_count) offset outwards of what skin is anchored to, beside pressed flesh */
    float *turns;             /* (joint_count x 4) see skinning_dual_on */
    float *velocity;          /* (soft.node_count x 4) */
    springs_body *bodies;     /* (prop_count) of soft ones the best fit */
    springs_report *reports;  /* (character's prop_count) */
    float *released;          /* (contact_count) above 0: contact with other released points rests */
    springs_memory *memories; /* (memory_capacity) */
    int *header;              /* memory count, recovering */
    float *touch;             /* (vertex_count x 3) newtons */
    float *prop_vertices;     /* (prop_vertex_count x 3) scene space */
} springs_state;

enum { HEADER_MEMORIES, HEADER_RECOVERING, HEADER_COUNT };

typedef struct springs_scratch {
    float *rest;             /* (edges.blocks x LANES) length of each edge on the reference shape */
    float *cosine, *sine;    /* (edges.blocks x LANES) of its angle there */
    float *edge_forces;      /* (edges.blocks x LANES x EDGE) */
    float *spring_forces;    /* (soft.spring_count x 4) */
    float *cell_forces;      /* (soft.tetra_count x 4 x 4) and bounds of their rows of the stiffness */
    float *push;             /* (node_count x 4) forces of contacts */
    float *force;            /* (node_count x 4) net */
    float *give;             /* (node_count) sizes per newton */
    float *next, *last;      /* (node_count x 4) iterates */
    float *unrest;           /* (point_count) square of the skin's net force as an elongation, sizes */
    float *calm;             /* (point_count x 4) force of the last iteration, and share of the step that is taken */
    int *local;              /* (node_count) nodes of a local iteration: skin, then soft */
    int *blocks;             /* (edges.blocks) blocks of edges that they need */
    float *inert;            /* (soft.node_count x 4) where inertia takes the soft nodes */
    float *before;           /* (soft.node_count x 4) where they were */
    float *carried;          /* (soft.node_count x 4) the same, moved as a rigid body to where they are */
    float *guarded;          /* (soft.node_count x 4) places between the two */
    float *stages;           /* (6 x node_count x 4) Runge-Kutta slopes, only for rk4 */
    float *start, *end;      /* (contact_count x 3) */
    float *points;           /* (point_count x 3) reference in scene space */
    float *target;           /* (point_count x 4) reference and bulge: what skin is anchored to */
    float *rests;            /* (contact_count) where contact rests in this substep, see contact_search_options */
    springs_motion *motions; /* (prop_count) */
    springs_body *predicted; /* (prop_count) */
    mat3 *inertia;           /* (prop_count) inverse, in the predicted pose, x h2 */
    springs_contact *contacts;
    int *active; /* (active_count) those that bear or may come to */
    int contact_capacity;
    contact_plane *planes;
    int plane_capacity;
    int *table; /* (table_size) of memories by key */
    int table_size;
    int memory_capacity;
    double *partial;      /* per block of nodes */
    double *moves;        /* (blocks x 3) squares of the last two moves of its nodes, and their product; by stiffness */
    int *queue;           /* (point_count) */
    uint8_t *marks;       /* (point_count) */
    float *walk;          /* poses of a reset */
    bvh_node *nodes;      /* of the skin's tree */
    bvh_node *prop_nodes; /* of a prop's tree, the largest */
    void *reference;
    contact_work contact;
} springs_scratch;

typedef struct springs_run {
    const springs_model *m;
    springs_state s;
    springs_scratch w;
    const solver_input *input;
    float h;
    bool held; /* free props stand still (a reset) */
    int contact_count;
    int active_count;     /* contacts that bear or may come to, of the last iteration over all */
    bool local;           /* this iteration moves the nodes of w.local alone */
    int local_skin;       /* count of its nodes of the skin */
    int local_count;      /* and of all */
    int local_blocks;     /* and of blocks of edges */
    double residual;      /* of the last evaluation: largest net force over anchor stiffness, sizes */
    double body_residual; /* the same of rigid bodies, of the last correction */
    float *at;            /* positions that forces are evaluated at */
    float omega;          /* of Chebyshev's acceleration */
    float share;          /* of it that nodes in contact get */
} springs_run;

enum { NODE_GRAIN = 512, EDGE_GRAIN = 128 /* blocks */ };
#define NODE_BLOCKS(n) (((n) + NODE_GRAIN - 1) / NODE_GRAIN)

/* What a substep works with: views of the state's and the scratch memory. */
springs_run springs_run_make(const void *data, void *state, void *scratch, const solver_input *input);
size_t springs_state_size(const void *data);
size_t springs_scratch_size(const void *data);
void springs_teleport(const void *data, void *state, const float transform[12]);
bool springs_output(const void *data, const void *state, int index, cutis_output *output);
void springs_prop_get(const void *data, const void *state, int index, cutis_prop_state *prop);
/* Lengths and angles of the edges on the reference shape, which the forces are measured from. */
void springs_rest(springs_run *run);
/* Forces of edges at run->at into edge_forces, of soft springs into spring_forces. */
void springs_forces(springs_run *run);
/* Net forces at run->at into w.force, and run->residual. Calls springs_forces. */
void springs_net(springs_run *run);
/* Steps of soft props as a whole, towards balance, added to w.next. */
void springs_soft_step(springs_run *run);
/* Bring all nodes to equilibrium with each other and the contacts. Fills iterations, residual, unconverged. */
void springs_equilibrium(springs_run *run, cutis_step_stats *stats);
/* One embedded Runge-Kutta step of pseudo-time t from w.next = x: returns the error estimate (sizes). */
double springs_rk_step(springs_run *run, float *x, float t);

/* Contacts of this substep, from the start positions to the guess, with what was learnt in the last one. */
void springs_contacts_find(springs_run *run);
/* Kinematic corrections of all contacts, on positions x. Returns the largest of them (sizes). */
float springs_contacts_correct(springs_run *run, float *x);
/* Forces of contacts go on as they went, by a factor of their last change. */
void springs_contacts_extrapolate(springs_run *run, float factor);
/* The corrections of one contact's nodes for an impulse along `direction`: (count x 3). */
void springs_contact_shift(const springs_contact *c, const float *give, vec3 impulse, vec3 shifts[4]);
/* Position adjustment after the integration: motion from start to end free of impacts. True when it failed. */
bool springs_contacts_adjust(springs_run *run);
/* Keep what the next substep starts from, and add up the props' forces. */
void springs_contacts_keep(springs_run *run);

/* Volume that pressed flesh loses, for the skin around it: the offsets of the next substep, and what they make of the
 * reference. */
void springs_bulge_find(springs_run *run);
void springs_bulge_apply(springs_run *run);
/* Unit normal of a point of the skin; places: (point_count x 4). */
vec3 springs_point_normal(const mesh *skin, const float *places, int p);

/* Skin whose contact rests goes back to equilibrium over a few substeps. */
void springs_yield_return(springs_run *run);
/* Contact lets go where it pushes skin through its own bones. Returns the number of points where contact rests. */
int springs_yield_update(springs_run *run);

/* Free props: to their place in this pose; where inertia takes them; what their motion was. */
void springs_props_reset(springs_run *run, const float *joints);
void springs_props_predict(springs_run *run);
/* Soft ones begin where the skin that holds them goes. */
void springs_soft_carry(springs_run *run);
/* The rigid ones alone, again from the start of the substep. */
void springs_bodies_predict(springs_run *run);
/* Acceleration of free props, sizes/s2. */
vec3 springs_fall(const springs_run *run);
void springs_props_finish(springs_run *run);
/* The same for soft ones: `before` (soft.node_count x 4) is where their nodes were. */
void springs_soft_finish(springs_run *run, const float *before);
/* Whether a prop does not move by itself in this substep: a collider, a dropped prop, any during a reset. */
bool springs_prop_still(const springs_run *run, int index);
/* Stop free props that have fallen out of reach. */
void springs_props_drop(springs_run *run);
/* Cells of soft props that were crushed or turned inside out get room again. `settled`: surfaces are where contacts
 * have them, what lies inside moves first. */
void springs_soft_guard(springs_run *run, bool settled);
/* Position of a rigid prop's surface point (relative to its centre of mass) on a body. */
vec3 springs_body_point(const springs_body *body, const float *rest);
/* How deep skin and props are in each other, by winding numbers and crossing triangles: whatever contact knew. */
void springs_penetration_measure(springs_run *run);
/* What is shown. */
void springs_props_report(springs_run *run);

#endif
