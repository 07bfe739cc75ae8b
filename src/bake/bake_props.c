/*
 * bake_props.c: where the props go during a bake, and how hard the skin is touched.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bake/bake_private.h"

cutis_result bake_props_open(bake *b)
{
    const cutis_character *c = b->character;

    b->props = ARENA_ARRAY(&b->scratch, bake_prop, c->prop_count + 1);
    for (int i = 0; b->glb && b->props && i < c->prop_count; i++)
        b->props[i].motions = ARENA_ARRAY(&b->scratch, float, (size_t)b->result->frame_count * 12);
    if (b->scratch.failed) return error_memory(b->error, "props");

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

    /* the worst of all frames */
    if ((double)now.penetration > p->penetration) p->penetration = (double)now.penetration;
    if (now.crossings > p->crossings) p->crossings = now.crossings;

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
    for (int i = 0; i < b->character->prop_count; i++) {
        cutis_result result = record_prop(b, i, frame);
        if (result != CUTIS_OK) return result;
    }
    record_touch(b, frame);
    return CUTIS_OK;
}
