/*
 * picture_trace.c: the renderer: one camera, soft light from all around, a key light and a rim light with
 * soft shadows, and a floor that takes shadows, traced with Embree.
 *
 * A picture is made tile by tile. Each pixel has quality x quality samples. For each sample the surface is
 * found, then a few shadow rays are shot; the light they bring (not the colour of the surface) is smoothed
 * over near samples of the same surface, which takes the noise away and leaves edges and textures sharp.
 *
 * Coarse meshes with smooth normals darken in facets where the light grazes; shadow rays start on the
 * rounded surface that the normals describe (Hanika 2021, Hacking the shadow terminator).
 *
 * A cut takes a half-space away: every ray is shortened to the part of it that lies in the kept half, which
 * is one interval. Where a camera ray enters the kept half inside a solid (it leaves the mesh more often than
 * it enters it from there on), the matter at the plane is drawn, in the mesh's cap colour; darker where it is
 * inside twice, that is, where a body passes through itself. Of nested solids, the last in the scene's list wins. A
 * mesh with holes has no inside; rays through its holes show through.
 */
#include "picture_tile.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* Which solids a ray meets at most when the matter at the cut is found. */
#define MAX_CROSSINGS 64
#define MAX_SOLIDS 16

struct picture_tracer {
    RTCDevice device;
};

bool picture_possible(void) { return true; }

picture_tracer *picture_tracer_create(void)
{
    picture_tracer *tracer = calloc(1, sizeof *tracer);
    if (!tracer) return NULL;

    /* One building thread: the same tree every time, and the caller's jobs are the only threads. */
    tracer->device = rtcNewDevice("threads=1,set_affinity=0");
    if (!tracer->device) {
        free(tracer);
        return NULL;
    }
    return tracer;
}

void picture_tracer_destroy(picture_tracer *tracer)
{
    if (!tracer) return;
    rtcReleaseDevice(tracer->device);
    free(tracer);
}

/* ---- surfaces ---- */

/* Linear colour of a place on a mesh, before its texture. */
static void surface_color(const picture_work *w, unsigned mesh_index, const int *corners, const float bary[3],
                          bool inside, bool painted, float albedo[3])
{
    const picture_mesh *mesh = &w->scene->meshes[mesh_index];

    /* the colour of the mesh */
    float rgb[3];
    memcpy(rgb, inside ? mesh->inside_color : mesh->color, sizeof rgb);

    /* values through the colour map */
    if (painted && mesh->vertex_values) {
        float value = 0;
        for (int k = 0; k < 3; k++) value += bary[k] * mesh->vertex_values[corners[k]];
        if (mesh->map == PICTURE_MAP_CATEGORY || !isfinite(value)) {
            /* The nearest corner's: a whole number has no in-between. */
            int best = bary[1] > bary[0] ? 1 : 0;
            if (bary[2] > bary[best]) best = 2;
            picture_color c = picture_map_color(mesh->map, mesh->vertex_values[corners[best]], mesh->range);
            rgb[0] = c.r;
            rgb[1] = c.g;
            rgb[2] = c.b;
            for (int c3 = 0; c3 < 3; c3++) albedo[c3] = picture_linear(rgb[c3]);
        } else {
            float span = mesh->range[1] - mesh->range[0];
            float place = span != 0 ? (value - mesh->range[0]) / span : 0.5f;

            memcpy(albedo, w->palettes[mesh_index][(int)(picture_clamp01(place) * 255 + 0.5f)], 3 * sizeof *albedo);
        }
    } else {
        if (painted && mesh->vertex_colors)
            for (int c = 0; c < 3; c++) {
                rgb[c] = 0;
                for (int k = 0; k < 3; k++) rgb[c] += bary[k] * mesh->vertex_colors[(size_t)corners[k] * 3 + (size_t)c];
            }
        for (int c = 0; c < 3; c++) albedo[c] = picture_linear(rgb[c]);
    }
}

/* Edges of the faces: lines of one pixel. How much they cover, 0..1; t: distance from the camera. */
static float surface_wire(const picture_work *w, const picture_mesh *mesh, size_t triangle, const pvec p[3],
                          const float bary[3], float t)
{
    float wire = 0;
    if (!mesh->wire) return wire;

    /* width of a line and of its soft edge */
    float line = t * w->pixel * 0.55f, soft = t * w->pixel / (float)w->side;
    int mask = mesh->edges ? mesh->edges[triangle] : 7;
    float area2 = pvec_length(pvec_cross(pvec_sub(p[1], p[0]), pvec_sub(p[2], p[0])));

    for (int k = 0; k < 3; k++) {
        if (!(mask >> k & 1)) continue;

        /* distance from each edge that belongs to a face */
        float length = pvec_length(pvec_sub(p[(k + 1) % 3], p[k]));
        float distance = length > 0 ? bary[(k + 2) % 3] * area2 / length : FLT_MAX;
        wire = fmaxf(wire, picture_clamp01((line - distance) / soft + 0.5f));
    }

    return wire;
}

/* The material of a triangle, or NULL. */
static const picture_material *triangle_material(const picture_mesh *mesh, size_t triangle)
{
    if (!mesh->materials || mesh->triangle_materials[triangle] < 0) return NULL;
    return &mesh->materials[mesh->triangle_materials[triangle]];
}

/* Texture coordinates of a place on a triangle; false when the mesh has none. */
static bool triangle_texcoords(const picture_mesh *mesh, size_t triangle, const float bary[3], float uv[2])
{
    if (!mesh->corner_texcoords) return false;
    const float *t = mesh->corner_texcoords + triangle * 6;
    for (int c = 0; c < 2; c++) uv[c] = bary[0] * t[c] + bary[1] * t[2 + c] + bary[2] * t[4 + c];
    return true;
}

/* Whether a hit is on a hole that a material cuts into its surface. */
static bool hit_is_hole(const picture_work *w, const struct RTCHit *hit)
{
    const picture_mesh *mesh = &w->scene->meshes[hit->geomID];
    const picture_material *material = triangle_material(mesh, hit->primID);
    if (!material || !(material->cutoff > 0)) return false;

    const float bary[3] = {1 - hit->u - hit->v, hit->u, hit->v};
    float uv[2], rgba[4];
    bool placed = triangle_texcoords(mesh, hit->primID, bary, uv);
    picture_material_color(material, placed ? uv : NULL, rgba);
    return rgba[3] < material->cutoff;
}

/* Go on through the holes of materials: the first solid hit behind; false when there is none. */
static bool holes_pass(const picture_work *w, pvec origin, pvec direction, float far, float *t, struct RTCHit *hit)
{
    enum { MAX_HOLES = 32 };
    for (int i = 0; hit_is_hole(w, hit); i++) {
        struct RTCRayHit r = {.ray = {origin.x, origin.y, origin.z, *t + w->epsilon, direction.x, direction.y,
                                      direction.z, 0, far, ~0u, 0, 0}};
        struct RTCIntersectContext context;
        rtcInitIntersectContext(&context);
        r.hit.geomID = RTC_INVALID_GEOMETRY_ID;
        if (i < MAX_HOLES) rtcIntersect1(w->rtc, &context, &r);
        if (r.hit.geomID == RTC_INVALID_GEOMETRY_ID) return false;
        *hit = r.hit;
        *t = r.ray.tfar;
    }
    return true;
}

/* Fill a sample from a hit. */
static void surface_resolve(const picture_work *w, pvec origin, pvec direction, float t, const struct RTCHit *hit,
                            picture_sample *s)
{
    /* the triangle, and which side of it is seen */
    const picture_mesh *mesh = &w->scene->meshes[hit->geomID];
    size_t triangle = hit->primID;
    const int *corners = mesh->triangles + triangle * 3;
    const float bary[3] = {1 - hit->u - hit->v, hit->u, hit->v};

    pvec p[3];
    for (int k = 0; k < 3; k++) p[k] = pvec_load(mesh->positions + (size_t)corners[k] * 3);

    pvec flat = pvec_unit(pvec_cross(pvec_sub(p[1], p[0]), pvec_sub(p[2], p[0])));
    bool inside = pvec_dot(flat, direction) > 0;
    float side = inside ? -1.0f : 1.0f;
    flat = pvec_scale(flat, side);

    /* where the ray meets it */
    pvec position = pvec_madd(origin, direction, t);

    /* The smooth normal, and the place on the rounded surface. */
    pvec normal = flat, rounded = position;
    if (mesh->corner_normals) {
        normal = (pvec){0, 0, 0};
        const float *n = mesh->corner_normals + triangle * 9;
        for (int k = 0; k < 3; k++) {
            pvec corner = pvec_scale(pvec_load(n + k * 3), side);
            normal = pvec_madd(normal, corner, bary[k]);
            float below = pvec_dot(pvec_sub(position, p[k]), corner);
            if (below < 0) rounded = pvec_madd(rounded, corner, -below * bary[k]);
        }

        normal = pvec_unit(normal);
        if (pvec_dot(normal, normal) == 0) normal = flat;
    }

    /* paint, material and texture */
    bool painted = !inside || !w->scene->cut;
    surface_color(w, hit->geomID, corners, bary, inside, painted, s->albedo);
    const picture_material *material = painted ? triangle_material(mesh, triangle) : NULL;
    const picture_image *normals = mesh->normals;
    float uv[2];
    bool placed = triangle_texcoords(mesh, triangle, bary, uv);

    if (material) {
        float rgba[4];
        picture_material_color(material, placed ? uv : NULL, rgba);
        memcpy(s->albedo, rgba, sizeof s->albedo);
        if (!normals && material->normals.pixels) normals = &material->normals;
    }

    if (painted && placed && (mesh->texture != PICTURE_TEXTURE_NONE || normals)) {
        picture_texture_apply(mesh, uv, s->albedo);

        float strength = mesh->normal_weights ? 0 : 1;
        for (int k = 0; k < 3 && mesh->normal_weights; k++) strength += bary[k] * mesh->normal_weights[corners[k]];
        normal = picture_texture_bump(mesh, normals, mesh->corner_texcoords + triangle * 6, p, uv, strength, normal);
    }

    s->wire = surface_wire(w, mesh, triangle, p, bary, t);
    s->kind = KIND_SURFACE;
    s->id = (uint8_t)(hit->geomID < 254 ? hit->geomID + 1 : 255);
    s->normal = normal;
    s->position = pvec_madd(rounded, flat, w->epsilon);
}

/* ---- cuts ---- */

/* All that a ray meets, gathered by a filter that turns every hit down. */
typedef struct crossings {
    struct RTCIntersectContext context; /* first: Embree hands it back */
    const picture_mesh *meshes;
    int count;
    unsigned triangles[MAX_CROSSINGS];
    float distances[MAX_CROSSINGS];
    uint8_t solids[MAX_CROSSINGS];
    int8_t sides[MAX_CROSSINGS]; /* 1: the ray leaves the solid, -1: it enters */
} crossings;

/* Whether two triangles of a mesh have a corner at the same place. */
static bool triangles_touch(const picture_mesh *mesh, unsigned a, unsigned b)
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const float *p = mesh->positions + (size_t)mesh->triangles[(size_t)a * 3 + (size_t)i] * 3;
            const float *q = mesh->positions + (size_t)mesh->triangles[(size_t)b * 3 + (size_t)k] * 3;
            if (p[0] == q[0] && p[1] == q[1] && p[2] == q[2]) return true;
        }
    return false;
}

static void crossing_add(const struct RTCFilterFunctionNArguments *arguments)
{
    crossings *c = (crossings *)arguments->context;
    arguments->valid[0] = 0;

    /* For single rays, as here, the layouts of the two structures are those of RTCRay and RTCHit. */
    const struct RTCRay *ray = (const struct RTCRay *)(const void *)arguments->ray;
    const struct RTCHit *hit = (const struct RTCHit *)(const void *)arguments->hit;
    if (c->count == MAX_CROSSINGS || hit->geomID >= MAX_SOLIDS) return;

    float facing = hit->Ng_x * ray->dir_x + hit->Ng_y * ray->dir_y + hit->Ng_z * ray->dir_z, t = ray->tfar;
    int8_t side = facing > 0 ? 1 : -1;

    /* A ray through an edge meets both of its triangles: that is one crossing. */
    for (int i = 0; i < c->count; i++)
        if (c->solids[i] == hit->geomID && c->sides[i] == side && fabsf(c->distances[i] - t) <= 1e-4f * t &&
            triangles_touch(&c->meshes[hit->geomID], c->triangles[i], hit->primID))
            return;

    c->triangles[c->count] = hit->primID;
    c->distances[c->count] = t;
    c->solids[c->count] = (uint8_t)hit->geomID;
    c->sides[c->count] = side;
    c->count++;
}

/* At a cut: the solid in which the ray enters the kept half, or -1; *twice: it is inside some solid two times. */
static int cap_find(const picture_work *w, pvec origin, pvec direction, float start, bool *twice)
{
    crossings c = {.meshes = w->scene->meshes};
    rtcInitIntersectContext(&c.context);
    c.context.filter = crossing_add;

    /* every crossing behind the cut face */
    struct RTCRayHit r = {
        .ray = {origin.x, origin.y, origin.z, start, direction.x, direction.y, direction.z, 0, FLT_MAX, ~0u, 0, 0}};
    r.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(w->rtc, &c.context, &r);

    /* the innermost solid that it lies in */
    int winding[MAX_SOLIDS] = {0}, innermost = -1;
    for (int i = 0; i < c.count; i++) winding[c.solids[i]] += c.sides[i];
    *twice = false;

    for (int i = 0; i < MAX_SOLIDS; i++) {
        if (winding[i] > 0) innermost = i;
        if (winding[i] > 1) *twice = true;
    }

    return innermost;
}

/* ---- a tile ---- */

/* The ray of a sample: inside a pixel, samples stand so that all rows and columns differ. */
static void camera_ray(const picture_work *w, int gx, int gy, pvec *origin, pvec *direction)
{
    const picture_camera *camera = &w->scene->camera;
    int side = w->side, big = side * 4096;
    int i = (gx + big) % side, j = (gy + big) % side;
    float x = ((float)gx + ((float)j + 0.5f) / (float)side) / (float)side;
    float y = ((float)gy + ((float)i + 0.5f) / (float)side) / (float)side;
    float px = (x / (float)w->image->width * 2 - 1) * camera->tan_x;
    float py = (1 - y / (float)w->image->height * 2) * camera->tan_y;
    *origin = camera->position;
    *direction =
        pvec_unit(pvec_add(camera->forward, pvec_add(pvec_scale(camera->right, px), pvec_scale(camera->up, py))));
}

float picture_floor_strength(const picture_scene *scene, pvec p)
{
    pvec d = pvec_sub(p, scene->centre);
    d = pvec_madd(d, scene->up, -pvec_dot(d, scene->up));
    return 1 - picture_smoothstep(1.2f, 3.2f, pvec_length(d) / scene->radius);
}

static void tile_trace(const picture_work *w, picture_tile *tile)
{
    const picture_scene *scene = w->scene;
    struct RTCRayHit8 r;
    _Alignas(32) int valid[8];
    pvec origins[8], directions[8];

    for (int y = 0; y < tile->height; y++)
        for (int x = 0; x < tile->width; x += 8) {
            /* eight rays at once */
            float starts[8], ends[8];
            for (int i = 0; i < 8; i++) {
                camera_ray(w, tile->x0 + x + i, tile->y0 + y, &origins[i], &directions[i]);
                float near = 0, far = FLT_MAX;
                bool any = x + i < tile->width && picture_ray_clip(scene, origins[i], directions[i], &near, &far);

                valid[i] = any ? -1 : 0;
                starts[i] = near;
                ends[i] = far;

                r.ray.org_x[i] = origins[i].x;
                r.ray.org_y[i] = origins[i].y;
                r.ray.org_z[i] = origins[i].z;
                r.ray.dir_x[i] = directions[i].x;
                r.ray.dir_y[i] = directions[i].y;
                r.ray.dir_z[i] = directions[i].z;
                r.ray.tnear[i] = near;
                r.ray.tfar[i] = far;
                r.ray.time[i] = 0;
                r.ray.mask[i] = ~0u;
                r.ray.id[i] = 0;
                r.ray.flags[i] = 0;
                r.hit.geomID[i] = RTC_INVALID_GEOMETRY_ID;
            }

            struct RTCIntersectContext context;
            rtcInitIntersectContext(&context);
            context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
            rtcIntersect8(valid, w->rtc, &context, &r);

            for (int i = 0; i < 8 && x + i < tile->width; i++) {
                picture_sample *s = &tile->samples[(size_t)y * (size_t)tile->width + (size_t)(x + i)];
                s->kind = KIND_NONE;
                s->id = 0;
                s->wire = 0;

                bool hit = valid[i] && r.hit.geomID[i] != RTC_INVALID_GEOMETRY_ID;
                float t = hit ? r.ray.tfar[i] : FLT_MAX;
                struct RTCHit h = {r.hit.Ng_x[i], r.hit.Ng_y[i],   r.hit.Ng_z[i],   r.hit.u[i],
                                   r.hit.v[i],    r.hit.primID[i], r.hit.geomID[i], {0}};
                if (hit) hit = holes_pass(w, origins[i], directions[i], ends[i], &t, &h);
                if (!hit) t = FLT_MAX;

                /* the cut face, or a surface behind it */
                if (hit) {
                    bool twice = false;
                    int solid = -1;
                    if (scene->cut && starts[i] > 0) solid = cap_find(w, origins[i], directions[i], starts[i], &twice);
                    if (solid >= 0) {
                        t = starts[i];
                        s->kind = KIND_CAP;
                        s->id = (uint8_t)(solid + 1 + (twice ? MAX_SOLIDS : 0));
                        s->normal = scene->cut_normal;
                        s->position = pvec_madd(origins[i], directions[i], t);
                        for (int c = 0; c < 3; c++)
                            s->albedo[c] = picture_linear(scene->meshes[solid].cap_color[c]) * (twice ? 0.3f : 1.0f);
                    } else {
                        surface_resolve(w, origins[i], directions[i], t, &h, s);
                    }
                }

                /* The floor is seen from above alone. */
                float drop = pvec_dot(scene->up, directions[i]);
                float height = pvec_dot(scene->up, origins[i]) - scene->floor;
                if (scene->ground && drop < 0 && height > 0 && -height / drop < t) {
                    s->position = pvec_madd(origins[i], directions[i], -height / drop);
                    s->normal = scene->up;
                    s->kind = picture_floor_strength(scene, s->position) > 0 ? KIND_FLOOR : KIND_NONE;
                    s->id = 0;
                    s->wire = 0;
                }
            }
        }
}

static void tile_job(void *data, int index)
{
    picture_work *w = data;

    /* the tile and a border, for smoothing */
    int px0 = index % w->columns * PICTURE_TILE, py0 = index / w->columns * PICTURE_TILE;
    picture_tile tile = {0};
    tile.width = tile.height = (PICTURE_TILE + 2 * w->border) * w->side;
    tile.x0 = (px0 - w->border) * w->side;
    tile.y0 = (py0 - w->border) * w->side;

    size_t count = (size_t)tile.width * (size_t)tile.height;
    tile.samples = malloc(count * sizeof *tile.samples);
    tile.lights = malloc(count * sizeof *tile.lights);
    tile.smooth = malloc(count * sizeof *tile.smooth);

    /* trace, light, smooth, shade */
    if (tile.samples && tile.lights && tile.smooth) {
        tile_trace(w, &tile);
        picture_tile_light(w, &tile);
        picture_tile_smooth(w, &tile);
        picture_tile_shade(w, &tile, px0, py0);
    } else {
        __atomic_store_n(&w->failed, true, __ATOMIC_RELAXED);
    }

    free(tile.samples);
    free(tile.lights);
    free(tile.smooth);
}

/* ---- the picture ---- */

/* Attach one mesh; false without memory. Embree reads 16 bytes at the last vertex, so positions are copied. */
static bool mesh_attach(RTCDevice device, RTCScene scene, const picture_mesh *mesh)
{
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    float *vertices =
        rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, (size_t)mesh->vertex_count);
    unsigned *indices =
        rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, (size_t)mesh->triangle_count);
    bool good = vertices && indices;

    /* copies of its arrays */
    if (good) {
        memcpy(vertices, mesh->positions, (size_t)mesh->vertex_count * 12);
        memcpy(indices, mesh->triangles, (size_t)mesh->triangle_count * 12);
        rtcCommitGeometry(geometry);
        rtcAttachGeometry(scene, geometry);
    }

    rtcReleaseGeometry(geometry);
    return good;
}

bool picture_render(picture_tracer *tracer, const picture_scene *scene, const cutis_jobs *jobs, picture_image *image)
{
    /* samples and rays by quality */
    picture_work w = {0};
    w.scene = scene;
    w.image = image;
    w.side = scene->quality < 1 ? 1 : scene->quality > 8 ? 8 : scene->quality;
    static const int sky_rays[9] = {0, 8, 4, 3, 2, 2, 2, 2, 2};
    w.sky_rays = sky_rays[w.side];

    w.reach = w.side + 1;
    w.border = (2 * w.reach + w.side - 1) / w.side;
    w.epsilon = 1e-4f * scene->radius;
    w.pixel = 2 * scene->camera.tan_y / (float)image->height;
    w.columns = (image->width + PICTURE_TILE - 1) / PICTURE_TILE;
    picture_lights_place(&w);

    w.rtc = rtcNewScene(tracer->device);
    w.palettes = malloc((size_t)(scene->mesh_count + 1) * sizeof *w.palettes);
    w.curve = malloc(PICTURE_BLOCK * PICTURE_BLOCK * sizeof *w.curve);
    w.points = malloc((size_t)(PICTURE_BLOCK * PICTURE_BLOCK * w.sky_rays) * sizeof *w.points);
    bool good = w.rtc && w.palettes && w.curve && w.points;

    /* the meshes and their colours */
    if (good)
        rtcSetSceneFlags(w.rtc, RTC_SCENE_FLAG_ROBUST |
                                    (scene->cut ? RTC_SCENE_FLAG_CONTEXT_FILTER_FUNCTION : RTC_SCENE_FLAG_NONE));
    if (good) picture_points_make(&w);
    for (int i = 0; i < scene->mesh_count && good; i++) {
        const picture_mesh *mesh = &scene->meshes[i];
        good = mesh_attach(tracer->device, w.rtc, mesh);

        const float whole[2] = {0, 255};
        for (int k = 0; k < 256 && mesh->map != PICTURE_MAP_CATEGORY; k++) {
            picture_color c = picture_map_color(mesh->map, (float)k, whole);
            w.palettes[i][k][0] = picture_linear(c.r);
            w.palettes[i][k][1] = picture_linear(c.g);
            w.palettes[i][k][2] = picture_linear(c.b);
        }
    }

    if (good) {
        rtcCommitScene(w.rtc);
        good = rtcGetDeviceError(tracer->device) == RTC_ERROR_NONE;
    }

    /* tiles, which any thread may take */
    if (good) {
        int count = w.columns * ((image->height + PICTURE_TILE - 1) / PICTURE_TILE);
        if (jobs)
            jobs->run(jobs->context, count, tile_job, &w);
        else
            for (int i = 0; i < count; i++) tile_job(&w, i);
        good = !w.failed;
    }

    if (w.rtc) rtcReleaseScene(w.rtc);
    free(w.palettes);
    free(w.curve);
    free(w.points);
    return good;
}

bool picture_find_opposites(picture_tracer *tracer, const picture_mesh *mesh, const float *normals, float near,
                            int *opposites, float *bary)
{
    RTCScene scene = rtcNewScene(tracer->device);

    if (!scene || !mesh_attach(tracer->device, scene, mesh)) {
        if (scene) rtcReleaseScene(scene);
        return false;
    }

    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
    rtcCommitScene(scene);

    /* from each vertex inwards, to the first surface that is left */
    for (int i = 0; i < mesh->vertex_count; i++) {
        pvec p = pvec_load(mesh->positions + (size_t)i * 3);
        pvec d = pvec_scale(pvec_unit(pvec_load(normals + (size_t)i * 3)), -1);

        float start = near;
        opposites[i] = -1;
        for (int k = 0; k < MAX_CROSSINGS && pvec_dot(d, d) > 0; k++) {
            struct RTCRayHit r = {.ray = {p.x, p.y, p.z, start, d.x, d.y, d.z, 0, FLT_MAX, ~0u, 0, 0}};
            r.hit.geomID = RTC_INVALID_GEOMETRY_ID;

            struct RTCIntersectContext context;
            rtcInitIntersectContext(&context);
            rtcIntersect1(scene, &context, &r);
            if (r.hit.geomID == RTC_INVALID_GEOMETRY_ID) break;

            if (r.hit.Ng_x * d.x + r.hit.Ng_y * d.y + r.hit.Ng_z * d.z > 0) {
                opposites[i] = (int)r.hit.primID;
                bary[i * 3] = 1 - r.hit.u - r.hit.v;
                bary[i * 3 + 1] = r.hit.u;
                bary[i * 3 + 2] = r.hit.v;
                break;
            }
            start = r.ray.tfar + near;
        }
    }

    rtcReleaseScene(scene);
    return true;
}
