/*
 * picture.h: pictures of meshes, made on the processor: an image with text and shapes drawn into it, a ray
 * traced scene, PNG files and video through ffmpeg.
 *
 * The program's own renderer; nothing here is part of the library. A picture has the same bytes for any
 * number of threads. Colours are sRGB, 0..1, unless a name says otherwise.
 */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cutis/base.h>

/* ---- vectors ---- */

typedef struct pvec {
    float x, y, z;
} pvec;

static inline pvec pvec_make(float x, float y, float z) { return (pvec){x, y, z}; }
static inline pvec pvec_load(const float *p) { return (pvec){p[0], p[1], p[2]}; }
static inline pvec pvec_add(pvec a, pvec b) { return (pvec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline pvec pvec_sub(pvec a, pvec b) { return (pvec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline pvec pvec_scale(pvec a, float s) { return (pvec){a.x * s, a.y * s, a.z * s}; }
static inline pvec pvec_madd(pvec a, pvec b, float s) { return (pvec){a.x + b.x * s, a.y + b.y * s, a.z + b.z * s}; }
static inline float pvec_dot(pvec a, pvec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline float pvec_length(pvec a) { return sqrtf(pvec_dot(a, a)); }
static inline pvec pvec_cross(pvec a, pvec b)
{
    return (pvec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/* The zero vector when a has no length. */
static inline pvec pvec_unit(pvec a)
{
    float length = pvec_length(a);
    return length > 0 ? pvec_scale(a, 1 / length) : (pvec){0, 0, 0};
}

/* Whether a place can be drawn: finite, and within what the ray tracer takes. */
static inline bool pvec_usable(pvec a) { return fabsf(a.x) < 1e15f && fabsf(a.y) < 1e15f && fabsf(a.z) < 1e15f; }

static inline float picture_clamp01(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; } /* 0 for NaN */

/* ---- images ---- */

/* RGBA, 8 bits, straight (not premultiplied) alpha, rows from the top. */
typedef struct picture_image {
    int width, height;
    uint8_t *pixels; /* (height x width x 4) */
} picture_image;

typedef struct picture_color {
    float r, g, b, a;
} picture_color;

/* A transparent image; false when there is no memory. Free it with picture_image_destroy. */
bool picture_image_create(int width, int height, picture_image *image);
void picture_image_destroy(picture_image *image);
void picture_image_fill(picture_image *image, picture_color color);
/* Copy `from` into `to` with its upper left corner at x, y; what lies outside is cut off. */
void picture_image_place(picture_image *to, const picture_image *from, int x, int y);

/* Lay a colour over a pixel; coverage 0..1 scales its alpha. */
void picture_image_blend(picture_image *image, int x, int y, picture_color color, float coverage);
/* Shapes with soft edges; coordinates in pixels, pixel centres at .5. */
void picture_draw_rectangle(picture_image *image, float x, float y, float width, float height, picture_color color);
void picture_draw_line(picture_image *image, float x0, float y0, float x1, float y1, float width, picture_color color);
void picture_draw_disc(picture_image *image, float x, float y, float radius, picture_color color);
/* A convex polygon; points: (count x 2). */
void picture_draw_polygon(picture_image *image, const float *points, int count, picture_color color);

/* ---- text: one stroke font, ASCII (picture_font.c) ---- */

/* Width in pixels of a line of text whose capitals are `height` pixels high. */
float picture_text_width(const char *text, float height);
/* Draw a line of text. x is its left edge, y its base line. Characters outside ASCII are shown as a box. */
void picture_text_draw(picture_image *image, float x, float y, float height, picture_color color, const char *text);

/* ---- colour maps (picture_color.c) ---- */

typedef enum picture_map {
    PICTURE_MAP_SEQUENTIAL, /* dark blue to light yellow */
    PICTURE_MAP_DIVERGING,  /* blue, light grey in the middle of the range, red */
    PICTURE_MAP_TOUCH,      /* skin to deep red: pressure and touch */
    PICTURE_MAP_CATEGORY    /* a colour for each whole number */
} picture_map;

/* The colour of a value; not finite: grey. */
picture_color picture_map_color(picture_map map, float value, const float range[2]);
float picture_linear(float srgb);
float picture_srgb(float linear);

/* ---- scenes (picture_trace.c) ---- */

typedef enum picture_texture {
    PICTURE_TEXTURE_NONE,
    PICTURE_TEXTURE_CHECKER,
    PICTURE_TEXTURE_GRID,
    PICTURE_TEXTURE_TATTOO,
    PICTURE_TEXTURE_VEINS,
    PICTURE_TEXTURE_IMAGE,
} picture_texture;

/* How a part of a surface looks. */
typedef struct picture_material {
    float color[4];        /* linear, with opacity */
    float cutoff;          /* holes where the opacity is below; 0: none */
    picture_image image;   /* base colour; no pixels: none */
    picture_image normals; /* normal map; no pixels: none */
} picture_material;

/* A surface. Arrays belong to the caller and may be NULL where it is said. */
typedef struct picture_mesh {
    int vertex_count, triangle_count;
    const float *positions;        /* (vertex_count x 3) */
    const int *triangles;          /* (triangle_count x 3) */
    const float *corner_normals;   /* (triangle_count x 3 x 3); NULL: flat triangles */
    const float *corner_texcoords; /* (triangle_count x 3 x 2); NULL: no texture */
    const uint8_t *edges; /* (triangle_count) bit i: the edge from corner i to the next is one of the face; NULL: all */
    const float *vertex_colors; /* (vertex_count x 3), or NULL */
    const float *vertex_values; /* (vertex_count), or NULL; through `map` and `range` */
    picture_map map;
    float range[2];
    float color[3];        /* without vertex_colors and vertex_values */
    float inside_color[3]; /* back faces */
    float cap_color[3];    /* solid matter at the cut */
    picture_texture texture;
    float texture_scale;               /* squares of the checker and the grid along u and v */
    const picture_image *image;        /* PICTURE_TEXTURE_IMAGE */
    const picture_image *normals;      /* normal map in tangent space as in glTF, or NULL */
    const float *normal_weights;       /* (vertex_count) strength of the normal map; NULL: 1 */
    const picture_material *materials; /* in place of `color`; NULL: none */
    const int *triangle_materials;     /* (triangle_count) index into materials, -1: none */
    bool wire;                         /* draw the edges of the faces */
} picture_mesh;

typedef struct picture_camera {
    pvec position, right, up, forward;
    float tan_x, tan_y; /* half extents of the picture at distance 1 */
} picture_camera;

typedef enum picture_background {
    PICTURE_BACKGROUND_STUDIO,
    PICTURE_BACKGROUND_WHITE,
    PICTURE_BACKGROUND_TRANSPARENT
} picture_background;

typedef struct picture_scene {
    int mesh_count;
    const picture_mesh *meshes;
    picture_camera camera;
    picture_background background;
    pvec up;      /* unit, +Y or +Z */
    float radius; /* half the size of what is shown: sets light distances and ray offsets */
    pvec centre;  /* of what is shown */
    bool ground;  /* a floor at `floor` along up that takes shadows */
    float floor;
    bool cut; /* what lies where cut_normal . p > cut_offset is taken away */
    pvec cut_normal;
    float cut_offset;
    int quality; /* 1 to 8: quality x quality samples a pixel */
} picture_scene;

/*
 * A camera that looks from azimuth and elevation (degrees; azimuth 0 sees the front, 90 the character's
 * left side) and does not yet stand anywhere; tan_x : tan_y is as `aspect` = width / height.
 */
picture_camera picture_camera_aim(float azimuth, float elevation, float aspect, pvec up);
/* What a camera must see of a set of points. Start it with picture_frame_start. */
typedef struct picture_frame {
    float low[2], high[2]; /* bounds of the two side planes and of the two others, in camera axes */
    float near;            /* nearest depth */
    long count;
} picture_frame;
picture_frame picture_frame_start(void);
void picture_frame_add(picture_frame *frame, const picture_camera *camera, const float *positions, int count);
/* Stand so that all points of the frame fill the picture but a margin (a share of it). */
void picture_camera_stand(picture_camera *camera, const picture_frame *frame, float margin);
/* Pixel position of a point and its depth; false behind the camera. */
bool picture_camera_project(const picture_camera *camera, int width, int height, pvec p, float *x, float *y,
                            float *depth);

/* Whether this build has a ray tracer (Embree). */
bool picture_possible(void);

typedef struct picture_tracer picture_tracer;
/* The ray tracer; one serves any number of pictures, one after the other. NULL when it cannot start. */
picture_tracer *picture_tracer_create(void);
void picture_tracer_destroy(picture_tracer *tracer);
/* Fill the image. False when memory ran out. */
bool picture_render(picture_tracer *tracer, const picture_scene *scene, const cutis_jobs *jobs, picture_image *image);

/*
 * For each vertex the triangle that a ray against its normal meets from inside, with barycentric coordinates,
 * or -1; hits nearer than `near` are the surface itself. False when memory ran out.
 */
bool picture_find_opposites(picture_tracer *tracer, const picture_mesh *mesh, const float *normals, float near,
                            int *opposites, float *bary);

/* ---- textures (picture_texture.c) ---- */

/* A pattern by its name, with squares across the texture: "checker", "checker@8"; -1: neither. */
int picture_texture_find(const char *text, float *squares);
/* An image between its texel centres; it repeats. rgba: 0..1 as stored. */
void picture_image_sample(const picture_image *image, const float uv[2], float rgba[4]);
/* The linear colour and the opacity of a material at texture coordinates, which may be NULL. */
void picture_material_color(const picture_material *material, const float *uv, float rgba[4]);
/* Paint the mesh's pattern over a colour. */
void picture_texture_apply(const picture_mesh *mesh, const float uv[2], float albedo[3]);
/*
 * Tilt the normal by the veins and a normal map (NULL: none), whose axes are found from the triangle. t: (3 x 2);
 * strength: of the normal map.
 */
pvec picture_texture_bump(const picture_mesh *mesh, const picture_image *normals, const float *t, const pvec p[3],
                          const float uv[2], float strength, pvec n);

/* ---- smooth normals (picture_mesh.c) ---- */

/* Which triangles share a smooth normal: decided once at rest, where faces meet at less than a crease angle. */
typedef struct picture_smooth picture_smooth;
/* triangles run over vertices; points: the point of each vertex, so that seams stay smooth. */
picture_smooth *picture_smooth_create(const float *rest, const int *triangles, int triangle_count, const int *points,
                                      int point_count, float crease_degrees);
void picture_smooth_destroy(picture_smooth *smooth);
/* Normals of a mesh that is drawn once, sharp at edges; to free(). NULL without memory. */
float *picture_smooth_once(const picture_mesh *mesh);
/* Angle-weighted unit normals, (triangle_count x 3 x 3). */
void picture_smooth_normals(const picture_smooth *smooth, const float *positions, float *corner_normals);

/* ---- files (picture_file.c, picture_video.c) ---- */

/* Fill an error and return the code. */
cutis_result picture_fail(cutis_error *error, cutis_result code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "DIR/.NAME.PID.tmpENDING": hidden, beside the target, and known by its ending to ffmpeg. NULL: no memory. */
char *picture_temporary_name(const char *path, const char *ending);

/* Read a PNG of any kind. Free it with picture_image_destroy. */
cutis_result picture_png_read(const char *path, picture_image *image, cutis_error *error);
/* Decode the bytes of a PNG or JPEG file. name: what messages call it. */
cutis_result picture_image_decode(const void *bytes, size_t size, const char *name, picture_image *image,
                                  cutis_error *error);
/* Write a PNG under a temporary name and rename it when whole. */
cutis_result picture_png_write(const char *path, const picture_image *image, cutis_error *error);

/* A video that ffmpeg encodes: .mp4, .webm or .gif by the path's ending. */
typedef struct picture_video picture_video;
/* Whether ffmpeg is on the path. */
bool picture_video_possible(void);
cutis_result picture_video_create(const char *path, int width, int height, double fps, picture_video **video,
                                  cutis_error *error);
cutis_result picture_video_append(picture_video *video, const picture_image *image, cutis_error *error);
/* Wait for the encoder and put the file in place; frees the video, also on failure. */
cutis_result picture_video_finish(picture_video *video, cutis_error *error);
/* Stop the encoder and remove what it wrote; NULL is allowed. */
void picture_video_discard(picture_video *video);

/* Numbers from a NumPy file: float32, float64 or a whole number type, up to 4 dimensions, C order. */
typedef struct picture_array {
    int dimension_count;
    long shape[4];
    float *values;
} picture_array;
cutis_result picture_array_load(const char *path, picture_array *array, cutis_error *error);
void picture_array_destroy(picture_array *array);

#endif
