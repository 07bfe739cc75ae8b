/*
 * slide.h: what the files of the solver `slide` share: its model, its state and its scratch.
 *
 * All lengths inside are in sizes of the character, masses in units of the skin's density.
 */
#ifndef SLIDE_H
#define SLIDE_H

#include "solvers/slide/slide_atlas.h"
#include "solvers/slide/slide_material.h"
#include "solvers/solver.h"

typedef enum slide_parameter {
    SLIDE_MATERIAL,
    SLIDE_OUTPUT,
    SLIDE_BOUNDARY,
    SLIDE_WAVE_SPEED,
    SLIDE_STIFFNESS,
    SLIDE_POISSON,
    SLIDE_FUNG_EXPONENT,
    SLIDE_AREA,
    SLIDE_TENSION,
    SLIDE_DAMPING,
    SLIDE_ZETA,
    SLIDE_DRAG,
    SLIDE_FRICTION,
    SLIDE_DELTA_MAX,
    SLIDE_ATTACH,
    SLIDE_LIGAMENT_STIFFNESS,
    SLIDE_SLACK,
    SLIDE_GRAVITY,
    SLIDE_UNIT,
    SLIDE_PARAMETER_COUNT
} slide_parameter;

/* Choices of the parameter `output`. */
enum { SLIDE_SHOW_TEXTURE, SLIDE_SHOW_VERTICES };

enum {
    SLIDE_OUTPUT_TEXCOORDS,
    SLIDE_OUTPUT_SLIDING,
    SLIDE_OUTPUT_STRESS,
    SLIDE_OUTPUT_WRINKLE,
    SLIDE_OUTPUT_FOLDS,
    SLIDE_OUTPUT_ATTACHED,
    SLIDE_OUTPUT_STEADY,
    SLIDE_OUTPUT_COUNT
};
enum { SLIDE_BOUNDARY_ALONG, SLIDE_BOUNDARY_FIXED, SLIDE_BOUNDARY_FREE };

typedef struct slide_model {
    const cutis_character *character;
    slide_atlas atlas;
    int point_count, triangle_count;
    double unit; /* file units of one size */
    double h;
    slide_material material;
    double damping;                  /* 1 / s */
    double viscosity;                /* s: stiffness-proportional damping */
    double ligament, slack, gravity; /* ligament in radians / s, gravity in sizes / s^2 */
    double noise;                    /* energy below which is rounding */
    double tolerance;                /* to which the linear system is solved, relative to its right side */
    double young;                    /* by which stresses are told */
    double poisson;
    bool vertices;                  /* output */
    bool slips;                     /* some point does not follow the body wholly */
    const double *stiffness;        /* (triangle_count) */
    const double *zeta, *delta_max; /* (point_count); delta_max in sizes a second */
    const double *drag;             /* (point_count) viscous friction: decay rate of the sliding, 1 / s */
    const double *friction;         /* (point_count) dry friction: largest force over the area; NULL: none */
    const int *free_points;         /* (free_count) that may move, in order */
    const int *free_triangles;      /* (free_triangle_count) with a corner that may move, in order */
    const int *all_triangles;       /* (triangle_count) */
    int free_count, free_triangle_count;
    const double (*allowed)[3];  /* (point_count) symmetric projection xx, xy, yy on the directions that may move */
    const double *areas;         /* (point_count) a third of the triangles around, at rest */
    const double *edges;         /* (point_count) mean length of the edges */
    const int *fans;             /* (entries of point_triangles) 3 x triangle + the point's corner */
    const double (*stencils)[2]; /* (entries of neighbours) derivative at a point = sum of (neighbour - point) x this */
    const int *equations;        /* (free_count) points that may move, in the order of the linear system */
    const int *links;            /* (link_first[free_count]) neighbours that may move, as places in equations */
    const int *link_first;       /* (free_count + 1) */
    const int *link_upper;       /* (free_count) first link to a later equation */
    const int (*sources)[2];     /* (links) the blocks that add up to an entry, the second in the other order */
    const float *first_slide[3]; /* (vertex_count) sliding at the beginning, file units; NULL: none */
    const float *pull[3]; /* (vertex_count) velocity of attached skin along the body, file units / s; NULL: none */
    int constraint_count; /* directions that may not move */
    /* Texture: NULL without texture coordinates. */
    const float (*texcoords)[3][2]; /* (triangle_count) */
    const uint8_t *seams;           /* (triangle_count) bit k: texture breaks across the edge opposite corner k */
    const uint8_t *near_seam;       /* (triangle_count) a seam is within three triangles */
    const int *islands;        /* (triangle_count) which part of the texture it is in: triangles joined without seams */
    const int *seam_edges;     /* 3 x triangle + corner opposite, island by island */
    const int *seam_first;     /* (triangle_count + 1) where those of an island begin */
    const int *face_triangles; /* (face_count) one triangle of each, or -1 */
} slide_model;

/*
 * Numbers of a triangle: six 2 x 2 blocks of the Hessian, each row by row, of each corner with itself and then of each
 * with the next; the gradient of three corners and two unused.
 */
enum { SLIDE_BLOCKS = 6, SLIDE_HESSIAN_SIZE = 24, SLIDE_GRADIENT_SIZE = 8 };

/* Everything that lives within a step. All doubles but where said. */
typedef struct slide_scratch {
    double *x;                                  /* (point_count x 3) body, in sizes */
    double *skin;                               /* (point_count x 3) rest position of the skin's place */
    const double *anchors;                      /* (point_count x 3) the state's; only with friction */
    double *normals;                            /* (point_count x 3) which side is out there */
    double (*metrics)[3][4];                    /* (triangle_count) gamma^T gamma in the frame of each corner's point */
    double *masses;                             /* (triangle_count) a third of the skin that lies on each */
    double (*gammas)[6];                        /* (point_count), 3 x 2 */
    double (*jacobians)[6];                     /* (point_count), constrained directions taken out */
    double (*inertia)[3];                       /* (point_count) */
    double (*shapes)[4];                        /* (triangle_count) of the body: area and triangular factor */
    double (*hessians)[SLIDE_HESSIAN_SIZE];     /* (triangle_count, and a zero) slide_system.c */
    double (*gradients)[SLIDE_GRADIENT_SIZE];   /* (triangle_count) */
    double *energies, *old_energies;            /* (triangle_count) */
    double (*stress)[2];                        /* (triangle_count) */
    double *taken;                              /* (triangle_count) share of length that wrinkles take up */
    double (*pressed)[3];                       /* (triangle_count) direction of the smaller stress, in the skin */
    double (*diagonal)[3];                      /* (free_count, as equations are) xx, xy, yy */
    double (*rows)[4];                          /* (links) xx, xy, yx, yy */
    double (*pivots)[3], (*inverse)[3];         /* (free_count) of the preconditioner: E and its inverse */
    double (*rests)[3];                         /* (free_count) D - 2 E */
    double *right;                              /* (2 point_count) */
    double *residual, *search, *image, *smooth; /* (2 point_count) of the conjugate gradients */
    double *product, *forward, *solution;       /* (2 point_count) likewise */
    double *goal, *guess, *moved, *way;         /* (2 point_count) of a step, slide_step.c */
    double *shares;                             /* (point_count) likewise */
    uint8_t *grown, *blocked, *shortened;       /* (point_count) likewise */
    int *regrown;                               /* (triangle_count) those around grown points */
    double *first_forces, *outer_forces;        /* (2 point_count) elastic at its beginning; gravity and drags */
    double *grips; /* (point_count) viscous friction in E: force over the way and the inertia, slide_step.c */
    slide_place *places, *old_places;    /* (point_count) tried; before the step */
    slide_spot *spots, *tried_spots;     /* (point_count) of the places at hand (a step has the state's); tried */
    double *velocities, *old_velocities; /* (2 point_count) */
    int *moving;                         /* (point_count) points whose velocities are carried along */
    double (*ranges)[2][2];              /* (point_count) of these velocities */
    double *old_gains, *first_gains;     /* (2 point_count) */
    float *old_surface;                  /* (point_count x 3) the body before the step */
    double *posed_normals;               /* (point_count x 3) of the body; only for output=vertices */
} slide_scratch;

/* What changes. */
typedef struct slide_state {
    slide_place *places; /* (point_count) of the skin that lies at each point */
    slide_spot *spots;   /* (point_count) of these places */
    double *velocities;  /* (2 point_count) against the body, in point frames, sizes a second */
    double *gains;       /* (2 point_count) of the last step's velocities */
    double *slips;       /* (point_count x 3) the part of the body's velocity that skin does not follow, sizes a s */
    int *started;        /* (1) steps since the reset, up to 2: slips are known from then on */
    uint8_t *blocked;    /* (point_count) the point could not go where it is pulled to, slide_step.c */
    float *surface;      /* (point_count x 3) the body, scene space */
    double *anchors;     /* (point_count x 3) rest position that dry friction holds; only with friction */
    slide_place *tracks; /* (point_count) where each point's own skin is; only for output=vertices */
    float *sliding;      /* (vertex_count x 3) outputs */
    float *stress;       /* (vertex_count x 2) */
    float *wrinkle;      /* (vertex_count) */
    float *folds;        /* (vertex_count x 3) */
    float *attached;     /* (vertex_count) */
    float *corner_texcoords; /* (corner_count x 2) only with texture */
    float *steady_texcoords; /* likewise: those of the face's own island */
} slide_state;

/* The inertial part of an increment: c M (goal - moved) + first_share x the force at the beginning. */
typedef struct slide_increment {
    double inertia, first_share;
    const double *goal, *moved; /* (2 point_count) */
    bool first;                 /* this is the beginning */
} slide_increment;

/* Parts of the time, as told. */
enum { SLIDE_PART_COUPLING, SLIDE_PART_ELEMENTS, SLIDE_PART_SOLVE, SLIDE_PART_ADVECTION };

/* ---- slide_state.c ---- */

/* Views of a block; memory NULL: only the size, which they return. */
size_t slide_state_view(const slide_model *model, void *memory, slide_state *s);
size_t slide_scratch_view(const slide_model *model, void *memory, slide_scratch *s);
size_t slide_state_size(const void *data);
size_t slide_scratch_size(const void *data);
void slide_teleport(const void *data, void *state, const float transform[12]);
bool slide_output(const void *data, const void *state, int index, cutis_output *output);

/* ---- slide_advection.c ---- */

/*
 * The body has moved from s->old_surface to s->x within h: what the skin does not follow of the change of its velocity
 * is taken from the skin's velocities.
 */
void slide_couple(const slide_model *model, slide_state *state, slide_scratch *s, double h, const cutis_jobs *jobs);
/* Whether an acceleration or a blow pushes the skin; then give it the velocity it gains. Needs slide_system_body. */
bool slide_pushed(const solver_input *input);
void slide_push(const slide_model *model, slide_state *state, const slide_scratch *s, const solver_input *input);
/* A vector of space along the body at rest, in the frame of a point. */
void slide_rest_vector(const slide_model *model, int point, const double vector[3], double own[2]);
/* Carry velocities v along with the skin's way (both 2 point_count), Eq. (8). */
void slide_advect(const slide_model *model, slide_scratch *s, const double *way, double *v, const cutis_jobs *jobs);

/* ---- slide_system.c ---- */

/* From x: the derivatives of the body's motion at points, which only slips, gravity and drags need. */
void slide_system_body(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs);
/* From x: shapes of the body's triangles, which all of the following need. */
void slide_system_shapes(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs);
/* Rest positions of places: spots, then skin and normals; of one point, whose spot is known; of all likewise. */
void slide_skin_points(const slide_model *model, slide_scratch *s, const slide_place *places, const cutis_jobs *jobs);
void slide_skin_point(const slide_model *model, slide_scratch *s, int point, const slide_place *place,
                      const slide_spot *spot);
void slide_skin_known(const slide_model *model, slide_scratch *s, const slide_place *places, const cutis_jobs *jobs);
/* From these: derivatives of the places. */
void slide_system_jacobians(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs);
/* Inertia, from the shapes and the masses that the last energy was told with. */
void slide_system_inertia(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs);
/* The derivative of the place at one point (3 x 2), in all directions. */
void slide_point_derivative(const slide_model *model, const slide_scratch *s, int point, double derivative[6]);
/* Elastic energy, ligaments and dry friction included, infinite for skin inside out; `elements` also makes the blocks
 * of the triangles.
 */
double slide_system_elements(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs);
double slide_system_energy(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs);
/* The same, where only points that are marked as grown have moved since the last energy. */
double slide_system_regrown(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs);
/* Stresses of all triangles, for outputs. */
void slide_system_stresses(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs);
/* Dry friction gives way: anchors follow the skin where they are further from it than friction holds. */
void slide_system_yield(const slide_model *model, const slide_scratch *s, double *anchors);
/* Gravity and drags, times share. */
void slide_system_outer(const slide_model *model, slide_scratch *s, const cutis_drag *drags, int drag_count,
                        double share);
/* How the energy of a triangle should change along shares of the way, by its block; *size: by which that is told. */
double slide_system_foretold(const slide_model *model, const slide_scratch *s, int triangle, double *size);
/* The linear system, from blocks, inertia and outer forces. */
void slide_system_assemble(const slide_model *model, slide_scratch *s, const slide_increment *increment,
                           const cutis_jobs *jobs);

/* ---- slide_solve.c ---- */

/* image = system x vector. */
void slide_system_multiply(const slide_model *model, slide_scratch *s, const double *vector, double *image,
                           const cutis_jobs *jobs);
/*
 * Solve for v, starting from it. Returns the iterations; *residual is relative to the largest right side so far, which
 * *largest holds (0 at first): the systems of later iterations need not be solved better than the first.
 */
int slide_system_solve(const slide_model *model, slide_scratch *s, double *v, double *largest, double *residual,
                       const cutis_jobs *jobs);

/* ---- slide_step.c ---- */

/* The skin moves within a substep, the body from s->old_surface to state->surface. */
void slide_advance(const slide_model *model, slide_state *state, slide_scratch *s, const solver_input *input,
                   cutis_step_stats *stats);
/* Attached skin goes as it is pulled (Eq. 10 with g). */
void slide_pull(const slide_model *model, slide_state *state, slide_scratch *s, const cutis_jobs *jobs);
double slide_kinetic(const slide_model *model, const slide_scratch *s, const double *v);
/* Kinetic and elastic energy of a state over a surface, for tests. */
double slide_energy(const slide_model *model, void *state, void *scratch, const float *surface, double *kinetic);

/* ---- slide_build.c ---- */
cutis_result slide_build(const solver_build *build, void **data, cutis_error *error);

/* ---- slide_output.c ---- */

/* Put tracks (places of the body where the material points are) at rest. */
void slide_tracks_reset(const slide_model *model, slide_state *state);
/* Follow the material points; `points` gets their positions on the rounded surface. Needs slide_skin_points. */
void slide_tracks_follow(const slide_model *model, slide_state *state, slide_scratch *s, const float *surface,
                         float *points, const cutis_jobs *jobs);
/* Fill all outputs of the state. */
void slide_outputs_fill(const slide_model *model, slide_state *state, slide_scratch *s, const cutis_jobs *jobs);

#endif
