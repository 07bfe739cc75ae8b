/*
 * bake_props.c: where the props go during a bake, and how hard the skin is touched.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bake_private.h"

void bake_props_open(bake *b)
{
    const cutis_character *c = b->character;
    b->props = cli_allocate((size_t)c->prop_count + 1, sizeof *b->props);
    for (int i = 0; b->glb && i < c->prop_count; i++)
        b->props[i].motions = cli_allocate((size_t)b->result->frames, 12 * sizeof(float));
    cutis_output touch;
    if (!c->influence_first || !cutis_state_output_role(b->model, b->state, CUTIS_OUTPUT_TOUCH, 0, &touch)) return;
    b->touches = cli_allocate((size_t)c->joint_count + 1, sizeof *b->touches);
    b->regions = cli_allocate((size_t)c->point_count + 1, sizeof *b->regions);
    for (int p = 0; p < c->point_count; p++) {
        int v = c->point_vertices[p];
        float most = 0;
        b->regions[p] = -1;
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++)
            if (c->influence_weights[i] > most) most = c->influence_weights[i], b->regions[p] = c->influence_joints[i];
    }
}

static void record_prop(bake *b, int index, int frame)
{
    bake_prop *p = &b->props[index];
    cutis_prop_state now;
    cutis_state_prop(b->model, b->state, index, &now);
    for (int k = 0; k < 3; k++) {
        p->end[k] = now.transform[4 * k + 3];
        if (frame == 0) p->start[k] = p->end[k];
        p->force[k] = now.force[k];
    }
    bool moved = p->end[0] != p->start[0] || p->end[1] != p->start[1] || p->end[2] != p->start[2];
    bool given = b->character->props[index].role != CUTIS_PROP_COLLIDER;
    if (given && (moved || now.vertex_count > 0)) b->result->props_moved = true;
    if ((double)now.penetration > p->penetration) p->penetration = (double)now.penetration;
    if (!p->motions) return;
    memcpy(p->motions + 12 * (size_t)frame, now.transform, sizeof now.transform);
    if (now.vertex_count == 0) return;
    size_t floats = 3 * (size_t)now.vertex_count;
    if (!p->shapes) {
        p->shapes = cli_allocate((size_t)b->result->frames * floats, sizeof(float));
        p->vertex_count = now.vertex_count;
        p->triangle_count = now.triangle_count;
        p->triangles = now.triangles;
    }
    memcpy(p->shapes + (size_t)frame * floats, now.positions, floats * sizeof(float));
}

static void record_touch(bake *b, int frame)
{
    const cutis_character *c = b->character;
    cutis_output touch;
    if (!b->touches || !cutis_state_output_role(b->model, b->state, CUTIS_OUTPUT_TOUCH, 0, &touch)) return;
    for (int j = 0; j < c->joint_count; j++) memset(b->touches[j].sum, 0, sizeof b->touches[j].sum);
    /* Vertices of one point tell the same force: it counts once. */
    for (int p = 0; p < c->point_count; p++)
        for (int k = 0; k < 3 && b->regions[p] >= 0; k++)
            b->touches[b->regions[p]].sum[k] += (double)touch.values[3 * (size_t)c->point_vertices[p] + (size_t)k];
    for (int j = 0; j < c->joint_count; j++) {
        const double *f = b->touches[j].sum;
        double length = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
        if (length > b->touches[j].most) b->touches[j].most = length, b->touches[j].frame = frame;
    }
}

void bake_props_record(bake *b, int frame)
{
    for (int i = 0; i < b->character->prop_count; i++) record_prop(b, i, frame);
    record_touch(b, frame);
}

void bake_props_close(bake *b)
{
    for (int i = 0; b->props && i < b->character->prop_count; i++) {
        free(b->props[i].motions);
        free(b->props[i].shapes);
    }
    free(b->props);
    free(b->touches);
    free(b->regions);
}
