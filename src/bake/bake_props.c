/*
 * bake_props.c: where the props go during a bake, how deep skin and props are in each other, and how hard the skin is
 * touched. The overlap is measured between the surfaces that are drawn, under every solver.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bake/bake_private.h"
#include "math/math3.h"

/* ---- the overlap of skin and props ---- */

/* The skin at a frame: its points, bounds and, when a prop is near, its tree. */
static void gather_skin(bake *b)
{
    const cutis_character *c = b->character;
    const float *drawn = cutis_state_positions(b->model, b->state);
    for (int p = 0; p < c->point_count; p++)
        memcpy(b->skin.points + 3 * (size_t)p, drawn + 3 * (size_t)c->point_vertices[p], 3 * sizeof(float));
    overlap_side_bound(&b->skin.surface);
    b->skin.fitted = false;
}

static cutis_result open_skin(bake *b)
{
    const cutis_character *c = b->character;
    b->skin.points = ARENA_ARRAY(&b->scratch, float, 3 * (size_t)c->point_count);
    if (!b->skin.points) return error_memory(b->error, "props");

    b->skin.surface = (overlap_side){.points = b->skin.points, .count = c->point_count};
    gather_skin(b);
    if (c->point_triangle_count == 0) return CUTIS_OK;
    return bvh_build(&b->skin.surface.tree, c->point_triangle_count, c->point_triangles, b->skin.points, &b->scratch,
                     b->error);
}

/* Place the drawn surface of a prop. */
static void place_surface(bake_prop *p, const cutis_prop_state *now)
{
    float *points = (float *)p->surface.points;
    if (!p->own) {
        memcpy(points, now->positions, 3 * (size_t)p->surface.count * sizeof(float));
    } else {
        for (int v = 0; v < p->surface.count; v++)
            vec3_store(points + 3 * (size_t)v, mat34_point(now->transform, vec3_load(p->own + 3 * (size_t)v)));
    }
    overlap_side_bound(&p->surface);
}

/* The drawn surface of a prop and its tree, from the first frame. */
static cutis_result open_surface(bake *b, const cutis_prop *source, bake_prop *p, const cutis_prop_state *now)
{
    /* deformed by the solver, or as it is */
    int vertex_count = now->vertex_count, triangle_count = now->triangle_count;
    const int *triangles = now->triangles;
    if (vertex_count == 0) {
        cutis_prop_surface(source, 0, &vertex_count, &triangle_count, NULL, NULL);
        float *own = ARENA_ARRAY(&b->scratch, float, 3 * (size_t)vertex_count + 1);
        int *corners = ARENA_ARRAY(&b->scratch, int, 3 * (size_t)triangle_count + 1);
        if (b->scratch.failed) return error_memory(b->error, "props");
        cutis_prop_surface(source, 0, &vertex_count, &triangle_count, own, corners);
        p->own = own;
        triangles = corners;
    }

    float *points = ARENA_ARRAY(&b->scratch, float, 3 * (size_t)vertex_count + 1);
    if (!points) return error_memory(b->error, "props");
    p->surface = (overlap_side){.points = points, .count = vertex_count};
    place_surface(p, now);
    if (triangle_count == 0) return CUTIS_OK;
    return bvh_build(&p->surface.tree, triangle_count, triangles, points, &b->scratch, b->error);
}

/* How far the skin is below a plane, which has no end and so no surface to be drawn whole. */
static float plane_depth(const bake *b, const cutis_prop_state *now)
{
    const float *m = now->transform;
    vec3 place = vec3_make(m[3], m[7], m[11]), normal = vec3_normalize(vec3_make(m[1], m[5], m[9]));
    float deepest = 0;
    for (int p = 0; p < b->character->point_count; p++) {
        vec3 above = vec3_sub(vec3_load(b->skin.points + 3 * (size_t)p), place);
        deepest = MAX(deepest, -vec3_dot(normal, above));
    }
    return deepest;
}

/* How deep skin and prop are in each other, as both are drawn. */
static cutis_result measure_overlap(bake *b, int index, const cutis_prop_state *now, surface_overlap *found)
{
    const cutis_prop *source = &b->character->props[index];
    bake_prop *p = &b->props[index];
    *found = (surface_overlap){0, 0};
    if (source->shape == CUTIS_PROP_PLANE) {
        found->depth = plane_depth(b, now);
        return CUTIS_OK;
    }

    /* the surface of the prop at this frame */
    if (!p->surface.points) {
        cutis_result result = open_surface(b, source, p, now);
        if (result != CUTIS_OK) return result;
    } else {
        place_surface(p, now);
    }

    /* most props are far from the skin in most frames */
    overlap_side *skin = &b->skin.surface;
    if (!overlap_sides_near(skin, &p->surface)) return CUTIS_OK;
    if (skin->tree.triangle_count == 0 || p->surface.tree.triangle_count == 0) return CUTIS_OK;

    if (!b->skin.fitted) bvh_refit(&skin->tree, skin->points, 0);
    b->skin.fitted = true;
    bvh_refit(&p->surface.tree, p->surface.points, 0);
    *found = overlap_measure(skin, &p->surface);
    return CUTIS_OK;
}

/* ---- frames ---- */

cutis_result bake_props_open(bake *b)
{
    const cutis_character *c = b->character;

    b->props = ARENA_ARRAY(&b->scratch, bake_prop, c->prop_count + 1);
    for (int i = 0; b->glb && b->props && i < c->prop_count; i++)
        b->props[i].motions = ARENA_ARRAY(&b->scratch, float, (size_t)b->result->frame_count * 12);
    if (b->scratch.failed) return error_memory(b->error, "props");

    /* the drawn skin */
    if (c->prop_count > 0) {
        cutis_result result = open_skin(b);
        if (result != CUTIS_OK) return result;
    }

    /* which joint moves a point most */
    cutis_output touch;
    if (!c->influence_first || !cutis_state_output_role(b->model, b->state, CUTIS_OUTPUT_TOUCH, 0, &touch))
        return CUTIS_OK;

    b->touches = ARENA_ARRAY(&b->scratch, bake_touch, c->joint_count + 1);
    b->regions = ARENA_ARRAY(&b->scratch, int, c->point_count + 1);
    if (b->scratch.failed) return error_memory(b->error, "props");

    for (int p = 0; p < c->point_count; p++) {
        int v = c->point_vertices[p];
        float most = 0;
        b->regions[p] = -1;
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
            if (!(c->influence_weights[i] > most)) continue;
            most = c->influence_weights[i];
            b->regions[p] = c->influence_joints[i];
        }
    }

    return CUTIS_OK;
}

static cutis_result record_prop(bake *b, int index, int frame)
{
    bake_prop *p = &b->props[index];
    cutis_prop_state now;
    cutis_state_prop(b->model, b->state, index, &now);

    /* place and force */
    for (int k = 0; k < 3; k++) {
        p->end[k] = now.transform[4 * k + 3];
        if (frame == 0) p->start[k] = p->end[k];
        p->force[k] = now.force[k];
    }

    /* whether it took part at all */
    bool moved = p->end[0] != p->start[0] || p->end[1] != p->start[1] || p->end[2] != p->start[2];
    bool given = b->character->props[index].role != CUTIS_PROP_COLLIDER;
    if (given && (moved || now.vertex_count > 0)) b->result->props_moved = true;

    /* the worst of all frames, as skin and prop are drawn */
    surface_overlap found;
    cutis_result result = measure_overlap(b, index, &now, &found);
    if (result != CUTIS_OK) return result;
    p->penetration = MAX(p->penetration, (double)found.depth);
    p->crossings = MAX(p->crossings, found.crossings);

    if (frame == 0) p->dropped_frame = -1;
    if (now.dropped && p->dropped_frame < 0) p->dropped_frame = frame;

    if (frame == 0) p->bone = -1;
    if (now.bone >= 0 && (double)now.bone_depth > p->bone_depth) {
        p->bone = now.bone;
        p->bone_depth = (double)now.bone_depth;
        p->bone_frame = frame;
    }

    if (!p->motions) return CUTIS_OK;

    /* its way through the frames, for a .glb */
    memcpy(p->motions + 12 * (size_t)frame, now.transform, sizeof now.transform);
    if (now.vertex_count == 0) return CUTIS_OK;

    size_t floats = 3 * (size_t)now.vertex_count;
    if (!p->shapes) {
        p->shapes = ARENA_ARRAY(&b->scratch, float, (size_t)b->result->frame_count *floats);
        if (!p->shapes) return error_memory(b->error, "props");
        p->vertex_count = now.vertex_count;
        p->triangle_count = now.triangle_count;
        p->triangles = now.triangles;
    }

    memcpy(p->shapes + (size_t)frame * floats, now.positions, floats * sizeof(float));
    return CUTIS_OK;
}

/* Say which bones the motion drives into props: the skin lies on the prop there, beyond its bone. */
void bake_props_warn(bake *b)
{
    for (int i = 0; b->props && i < b->character->prop_count; i++) {
        const bake_prop *p = &b->props[i];
        if (p->bone < 0 || !(p->bone_depth > 0.001 * (double)b->character->size)) continue;
        char text[256];
        snprintf(text, sizeof text,
                 "bone '%s' enters prop '%s' by %.1f %% of the size (frame %d), deeper than its flesh",
                 b->character->joints[p->bone].name, b->character->props[i].name,
                 100 * p->bone_depth / (double)b->character->size, p->bone_frame);
        bake_say(b, CUTIS_BAKE_WARNING, text);
    }
}

static void record_touch(bake *b, int frame)
{
    const cutis_character *c = b->character;
    cutis_output touch;
    if (!b->touches || !cutis_state_output_role(b->model, b->state, CUTIS_OUTPUT_TOUCH, 0, &touch)) return;

    for (int j = 0; j < c->joint_count; j++) memset(b->touches[j].sum, 0, sizeof b->touches[j].sum);

    /* The vertices of a point share its force, so that the sum over all vertices is the force on the skin. */
    for (int v = 0; v < c->vertex_count; v++) {
        int region = b->regions[c->vertex_points[v]];
        for (int k = 0; k < 3 && region >= 0; k++)
            b->touches[region].sum[k] += (double)touch.values[3 * (size_t)v + (size_t)k];
    }

    /* the largest force on each region, and when */
    for (int j = 0; j < c->joint_count; j++) {
        const double *f = b->touches[j].sum;
        double length = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);

        if (!(length > b->touches[j].most)) continue;
        b->touches[j].most = length;
        b->touches[j].frame = frame;
    }
}

cutis_result bake_props_record(bake *b, int frame)
{
    if (b->character->prop_count > 0) gather_skin(b);
    for (int i = 0; i < b->character->prop_count; i++) {
        cutis_result result = record_prop(b, i, frame);
        if (result != CUTIS_OK) return result;
    }
    record_touch(b, frame);

    /* a dropped prop stays dropped */
    int dropped = 0, first = -1;
    for (int i = 0; i < b->character->prop_count; i++) {
        if (b->props[i].dropped_frame < 0) continue;
        dropped++;
        if (first < 0 || b->props[i].dropped_frame < b->props[first].dropped_frame) first = i;
    }
    if (b->judge) cutis_judge_dropped(b->judge, dropped, first);
    return CUTIS_OK;
}
