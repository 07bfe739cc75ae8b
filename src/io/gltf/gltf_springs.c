/*
 * gltf_springs.c: spring bones of VRM 0 (secondaryAnimation: groups of bones, each the root of a chain) and VRM 1
 * (VRMC_springBone: springs, each a list of joints).
 */
#include "io/gltf/gltf_springs.h"

#include <math.h>
#include <string.h>

/* A chain is the bake's when its vertices move by more than this share of the size beyond skinning, on average. */
static const double MOVED_SHARE = 1e-3;

typedef struct springs_edit {
    const gltf_reader *reader;
    const gltf_bake_def *def;
    bool *nodes;   /* (node_count) of the chain that is looked at */
    double *moved; /* (vertex_count) how far the bake takes a vertex at most; -1: not known yet */
} springs_edit;

/* The longest way of a vertex beyond skinning over all frames. */
static double vertex_moved(springs_edit *e, int vertex)
{
    if (e->moved[vertex] >= 0) return e->moved[vertex];
    size_t plane = 3 * (size_t)e->def->morphs->character->vertex_count;
    double longest = 0;

    /* the longest way over the frames */
    for (int f = 0; f < e->def->morphs->frame_count; f++) {
        double way[3] = {0, 0, 0};
        for (int k = 0; k < e->def->position_count; k++) {
            double weight = (double)e->def->weights[(size_t)f * (size_t)e->def->target_count + (size_t)k];
            const float *delta = e->def->deltas + (size_t)k * plane + 3 * (size_t)vertex;
            for (int i = 0; i < 3; i++) way[i] += weight * (double)delta[i];
        }
        longest = fmax(longest, way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
    }

    e->moved[vertex] = sqrt(longest);
    return e->moved[vertex];
}

/* Whether the bake moves what the marked nodes carry. */
static bool chain_replaced(springs_edit *e)
{
    const cutis_character *c = e->def->morphs->character;
    double sum = 0, total = 0;
    for (int v = 0; c->influence_first && v < c->vertex_count; v++)
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
            int joint = c->influence_joints[i];
            if (joint >= e->reader->joint_count || !e->nodes[e->reader->joint_nodes[joint]]) continue;
            sum += (double)c->influence_weights[i] * vertex_moved(e, v);
            total += (double)c->influence_weights[i];
        }
    return total > 0 && sum > MOVED_SHARE * (double)c->size * total;
}

static bool node_mark(springs_edit *e, const json_t *value)
{
    json_int_t node = json_is_integer(value) ? json_integer_value(value) : -1;
    if (node < 0 || node >= e->reader->document->node_count) return false;
    e->nodes[node] = true;
    return true;
}

static void nodes_clear(springs_edit *e)
{
    memset(e->nodes, 0, (size_t)e->reader->document->node_count * sizeof *e->nodes);
}

/* Version 0: {"boneGroups": [{"bones": [root, ...]}]}. */
static int groups_edit(springs_edit *e, json_t *groups)
{
    const gltf_reader *r = e->reader;

    int released = 0;
    for (size_t g = 0; g < json_array_size(groups); g++) {
        json_t *bones = json_object_get(json_array_get(groups, g), "bones");
        for (size_t b = json_array_size(bones); b-- > 0;) {
            nodes_clear(e);
            if (!node_mark(e, json_array_get(bones, b))) continue;

            /* parents come before children in this order */
            for (int i = 0; i < r->document->node_count; i++) {
                int parent = r->nodes[r->order[i]].parent;
                if (parent >= 0 && e->nodes[parent]) e->nodes[r->order[i]] = true;
            }

            if (!chain_replaced(e)) continue;
            json_array_remove(bones, b);
            released++;
        }
    }

    /* a group without bones is left, as others may count them */
    return released;
}

/* Version 1: {"springs": [{"joints": [{"node": n}, ...]}]}. */
static int springs_edit_list(springs_edit *e, json_t *springs)
{
    int released = 0;

    for (size_t s = json_array_size(springs); s-- > 0;) {
        const json_t *joints = json_object_get(json_array_get(springs, s), "joints");
        nodes_clear(e);
        for (size_t j = 0; j < json_array_size(joints); j++)
            node_mark(e, json_object_get(json_array_get(joints, j), "node"));

        if (!chain_replaced(e)) continue;
        json_array_remove(springs, s);
        released++;
    }
    return released;
}

int gltf_springs_release(gltf_builder *out, const gltf_reader *reader, const gltf_bake_def *def)
{
    const json_t *extensions = json_object_get(out->root, "extensions");

    /* lists of both versions of VRM */
    json_t *groups =
        json_object_get(json_object_get(json_object_get(extensions, "VRM"), "secondaryAnimation"), "boneGroups");
    json_t *springs = json_object_get(json_object_get(extensions, "VRMC_springBone"), "springs");
    int vertex_count = def->morphs->character->vertex_count;
    if ((!groups && !springs) || def->target_count == 0) return 0;

    springs_edit e = {.reader = reader,
                      .def = def,
                      .nodes = ARENA_ARRAY(&out->memory, bool, reader->document->node_count + 1),
                      .moved = ARENA_ARRAY(&out->memory, double, vertex_count + 1)};

    if (!e.nodes || !e.moved) {
        out->failed = true;
        return 0;
    }

    for (int v = 0; v < vertex_count; v++) e.moved[v] = -1;
    int released = groups_edit(&e, groups) + springs_edit_list(&e, springs);

    /* a list of springs may not be empty */
    json_t *holder = json_object_get(extensions, "VRMC_springBone");
    if (springs && json_array_size(springs) == 0) json_object_del(holder, "springs");
    return released;
}
