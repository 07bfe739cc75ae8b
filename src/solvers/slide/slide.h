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

enum { SLIDE_OUTPUT_TEXCOORDS, SLIDE_OUTPUT_SLIDING, SLIDE_OUTPUT_STRESS, SLIDE_OUTPUT_WRINKLE, SLIDE_OUTPUT_COUNT };
enum { SLIDE_BOUNDARY_ALONG, SLIDE_BOUNDARY_FIXED, SLIDE_BOUNDARY_FREE };

typedef struct slide_model {
    const cutis_character *character;
    slide_atlas atlas;
    int point_count, triangle_count;
    double unit; /* file units of one size */
    double h;
    slide_material material;
    double damping, ligament, slack, gravity; /* ligament in radians / s, gravity in sizes / s^2 */
    double young;                             /* by which stresses are told */
    bool vertices;                            /* output */
    bool slips;                               /* some point does not follow the body wholly */
    const double *stiffness;                  /* (triangle_count) */
    const double *zeta, *delta_max;           /* (point_count); delta_max in sizes a substep */
    const double (*allowed)[3];  /* (point_count) symmetric projection xx, xy, yy on the directions that may move */
    const double *areas;         /* (point_count) a third of the triangles around, at rest */
    const double *edges;         /* (point_count) mean length of the edges */
    const double (*fans)[2];     /* (entries of point_triangles) cosine and sine from the point's frame to the chart */
    const double (*stencils)[2]; /* (entries of neighbours) derivative at a point = sum of (neighbour - point) x this */
    const int *slots;            /* (triangle_count x 6) entry of corner k for corners k + 1 and k + 2 in the rows */
    int constraint_count;        /* directions that may not move */
    /* Texture: NULL without texture coordinates. */
    const float (*texcoords)[3][2]; /* (triangle_count) */
    const uint8_t *seams;           /* (triangle_count) bit k: texture breaks across the edge opposite corner k */
    const int *face_triangles;      /* (face_count) one triangle of each, or -1 */
} slide_model;

/* Everything that lives within a step. All doubles but where said. */
typedef struct slide_scratch {
    double *x;                                  /* (point_count x 3) body, in sizes */
    double *skin;                               /* (point_count x 3) rest position of the skin's place */
    double *normals;                            /* (point_count x 3) which side is out at the place */
    double (*metric)[3];                        /* (triangle_count) mass / 3 x gamma^T gamma */
    double (*gammas)[6];                        /* (point_count), 3 x 2 */
    double (*jacobians)[6];                     /* (point_count), constrained directions taken out */
    double (*inertia)[3];                       /* (point_count) */
    double (*blocks)[27];                       /* (triangle_count) 6 gradient, 21 upper triangle of the Hessian */
    double *altitudes;                          /* (triangle_count) */
    double (*stress)[2];                        /* (triangle_count) */
    double (*diagonal)[3];                      /* (point_count) xx, xy, yy */
    double (*rows)[4];                          /* (neighbour entries) */
    double (*pivots)[3], (*inverse)[3];         /* (point_count) of the preconditioner */
    double *right;                              /* (2 point_count) */
    double *residual, *search, *image, *smooth; /* (2 point_count) of the conjugate gradients */
    double *moves;                              /* (2 point_count) displacement in point frames */
    slide_place *places, *old_places;           /* (point_count) */
    double *velocities;                         /* (2 point_count) */
    float *old_surface;                         /* (point_count x 3) the body before the step */
} slide_scratch;

/* What changes. */
typedef struct slide_state {
    slide_place *places;     /* (point_count) of the skin that lies at each point */
    double *velocities;      /* (2 point_count) in point frames, sizes a second */
    double *gains;           /* (2 point_count) of the last substep's velocities */
    double *calm;            /* (point_count) 1: as fast as it likes */
    float *surface;          /* (point_count x 3) the body, scene space */
    slide_place *tracks;     /* (point_count) where each point's own skin is; only for output=vertices */
    slide_place *faces;      /* (face_count) where the middle of each face's skin is; only with texture */
    float *sliding;          /* (vertex_count x 3) outputs */
    float *stress;           /* (vertex_count x 2) */
    float *wrinkle;          /* (vertex_count) */
    float *corner_texcoords; /* (corner_count x 2) only with texture */
} slide_state;

/* ---- slide_state.c ---- */

/* Views of a block; memory NULL: only the size, which they return. */
size_t slide_state_view(const slide_model *model, void *memory, slide_state *s);
size_t slide_scratch_view(const slide_model *model, void *memory, slide_scratch *s);
size_t slide_state_size(const void *data);
size_t slide_scratch_size(const void *data);
void slide_teleport(const void *data, void *state, const float transform[12]);
bool slide_output(const void *data, const void *state, int index, cutis_output *output);

/* ---- slide_advection.c ---- */

/* How far the skin is left behind by the body's displacement from old_surface: into s->moves. */
void slide_slip(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs);
/*
 * Places that come to the points when the skin moves by s->moves, into s->places. v (2 point_count): velocities that
 * are carried along into s->velocities, the moves limited by the heights of triangles; NULL: the body slips.
 */
void slide_advect(const slide_model *model, slide_scratch *s, const slide_place *places, const double *v,
                  const cutis_jobs *jobs);

/* ---- slide_system.c ---- */

/*
 * From x: the derivatives of the body's motion at points, which only slip, gravity and drags need. From x and the
 * places: those of the skin's, and inertia.
 */
void slide_system_body(const slide_model *model, slide_scratch *s, const cutis_jobs *jobs);
void slide_system_skin(const slide_model *model, slide_scratch *s, const slide_place *places, const cutis_jobs *jobs);
/* Only the rest positions of places, into skin. */
void slide_skin_points(const slide_model *model, slide_scratch *s, const slide_place *places, const cutis_jobs *jobs);
/* Blocks of the triangles; then the linear system of a step with velocities v. */
void slide_system_elements(const slide_model *model, slide_scratch *s, const slide_place *places,
                           const cutis_jobs *jobs);
void slide_system_assemble(const slide_model *model, slide_scratch *s, const double *v, const cutis_drag *drags,
                           int drag_count, const cutis_jobs *jobs);
/* Whether something pushes the skin from outside: gravity, an acceleration, a drag or a blow. */
bool slide_pushed(const slide_model *model, const solver_input *input);
/* Add an acceleration and blows to the right side; they need slide_system_body. */
void slide_system_push(const slide_model *model, slide_scratch *s, const solver_input *input);
/* image = system x vector. */
void slide_system_multiply(const slide_model *model, slide_scratch *s, const double *vector, double *image,
                           const cutis_jobs *jobs);
/* Solve for v, starting from it. Returns the iterations; *residual is relative to the right side. */
int slide_system_solve(const slide_model *model, slide_scratch *s, double *v, double *residual, const cutis_jobs *jobs);
/* Elastic energy, ligaments included. */
double slide_system_energy(const slide_model *model, slide_scratch *s, const slide_place *places);
/* Kinetic and elastic energy of a state over a surface, for tests. */
double slide_energy(const slide_model *model, void *state, void *scratch, const float *surface, double *kinetic);

/* ---- slide_build.c ---- */
cutis_result slide_build(const solver_build *build, void **data, cutis_error *error);

/* ---- slide_output.c ---- */

/* Put tracks (places of the body where the material points are) and face references at rest. */
void slide_tracks_reset(const slide_model *model, slide_state *state);
/* Follow the material points; `points` gets their positions on the surface. skin: rest positions of the places. */
void slide_tracks_follow(const slide_model *model, slide_state *state, const double *skin, const float *surface,
                         float *points, const cutis_jobs *jobs);
/* Follow the middles of faces, from which texture coordinates are found. */
void slide_faces_follow(const slide_model *model, slide_state *state, const double *skin, const cutis_jobs *jobs);
/* Fill all outputs of the state. */
void slide_outputs_fill(const slide_model *model, slide_state *state, slide_scratch *s, const cutis_jobs *jobs);

#endif
