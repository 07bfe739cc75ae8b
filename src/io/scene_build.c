/*
 * scene_build.c: a character from a scene of nodes, meshes, clusters and sampled motion.
 *
 * Space: with C = turn x unit, a node at W (file) comes to C W unit^-1, so that joints have lengths in metres and no
 * scale of the unit; roots are turned, all translations are multiplied by the unit. A skinned mesh rests where it was
 * bound: B = bound x to_bone of its first cluster, and inverse_bind = unit to_bone B^-1 C^-1. A bone that two meshes
 * bound differently becomes two joints. Vertices without a weight follow the mesh's node.
 */
#include "io/scene_build.h"

#include <limits.h>
#include <math.h>
#include <string.h>

typedef struct scene_builder {
    const scene *s;
    arena *memory;
    affine whole, whole_inverse; /* C and its inverse */
    affine unit;                 /* the unit alone */
    bool *kept;                  /* (node_count) becomes a joint */
    int *node_joints;            /* (node_count) first joint, -1: none */
    cutis_joint *joints;
    int *joint_nodes, *joint_next;
    bool *joint_bound;
    affine *joint_rest;
    int joint_count;
    affine *worlds; /* (node_count) in the file's pose and unit */
    cutis_character given;
    float *positions, *texcoords;
    int *face_first, *corners;
    int *influence_first, *influence_joints;
    float *influence_weights;
    cutis_part *parts;
    cutis_morph *morphs;
    int *first_morphs;   /* (mesh_count) */
    int *first_vertices; /* (mesh_count) */
} scene_builder;

static cutis_result builder_memory(const scene_builder *b) { return error_memory(b->s->error, b->s->name); }

/* ---- joints ---- */

static void keep_up(scene_builder *b, int node)
{
    for (; node >= 0 && !b->kept[node]; node = b->s->nodes[node].parent) b->kept[node] = true;
}

/* Whether some vertex of a skinned mesh has no weight. */
static bool mesh_has_loose(scene_builder *b, const scene_mesh *mesh)
{
    bool *weighted = ARENA_ARRAY(b->memory, bool, mesh->vertex_count);
    for (int c = 0; weighted && c < mesh->cluster_count; c++)
        for (int i = 0; i < mesh->clusters[c].count; i++)
            if (mesh->clusters[c].weights[i] > 0) weighted[mesh->clusters[c].vertices[i]] = true;
    for (int v = 0; weighted && v < mesh->vertex_count; v++)
        if (!weighted[v]) return true;
    return false;
}

static bool skeleton_needed(const scene *s)
{
    if (s->clip_count > 0 || s->motion_only) return true;
    for (int m = 0; m < s->mesh_count; m++)
        if (s->meshes[m].cluster_count) return true;
    return false;
}

static int joint_add(scene_builder *b, int node)
{
    int joint = b->joint_count++;
    int parent = b->s->nodes[node].parent;

    /* node and joint know each other */
    b->joint_nodes[joint] = node;
    b->joint_next[joint] = -1;

    /* behind the other joints of the node */
    if (b->node_joints[node] < 0) {
        b->node_joints[node] = joint;
    } else {
        int last = b->node_joints[node];
        while (b->joint_next[last] >= 0) last = b->joint_next[last];
        b->joint_next[last] = joint;
    }

    b->joints[joint].parent = parent >= 0 ? b->node_joints[parent] : -1;
    return joint;
}

/* A local transform in metres and the character's axes. */
static affine_parts local_convert(const scene *s, int node, affine_parts parts)
{
    for (int k = 0; k < 3; k++) parts.translation[k] *= s->unit;
    if (s->nodes[node].parent < 0) {
        double turned[3];
        rotation_apply(s->turn, parts.translation, turned);
        memcpy(parts.translation, turned, sizeof turned);
        rotation_multiply(s->turn, parts.rotation, parts.rotation);
    }
    return parts;
}

static bool binds_equal(const float a[12], const float b[12])
{
    float largest = 0;
    for (int i = 0; i < 12; i++) largest = MAX(largest, fabsf(b[i]));
    for (int i = 0; i < 12; i++)
        if (!(fabsf(a[i] - b[i]) <= 1e-5f * largest)) return false;
    return true;
}

/* The joint of a node with this inverse bind matrix; a new one when the node's others have different ones. */
static int joint_bind(scene_builder *b, int node, const affine *inverse_bind)
{
    float bind[12];
    affine_store(inverse_bind, bind);

    /* a joint of the node with the same bind pose, or one that has none yet */
    for (int joint = b->node_joints[node]; joint >= 0; joint = b->joint_next[joint]) {
        if (b->joint_bound[joint] && binds_equal(bind, b->joints[joint].inverse_bind)) return joint;
        if (b->joint_bound[joint]) continue;

        b->joint_bound[joint] = true;
        memcpy(b->joints[joint].inverse_bind, bind, sizeof bind);
        return joint;
    }

    int joint = joint_add(b, node);
    b->joint_bound[joint] = true;
    memcpy(b->joints[joint].inverse_bind, bind, sizeof bind);
    return joint;
}

/* Rest transforms: of a bound joint where its inverse bind matrix says, of any other as in the file. */
static cutis_result joints_place(scene_builder *b)
{
    /* parents come before their children */
    for (int i = 0; i < b->joint_count; i++) {
        cutis_joint *joint = &b->joints[i];
        affine parent = joint->parent >= 0 ? b->joint_rest[joint->parent] : affine_identity();

        affine_parts parts = local_convert(b->s, b->joint_nodes[i], b->s->nodes[b->joint_nodes[i]].local);
        joint->idle = affine_parts_store(&parts);

        /* a scale of 0 hides a joint and cannot be inverted */
        for (int k = 0; k < 3; k++)
            if (fabs(parts.scale[k]) < 1e-9) parts.scale[k] = 1;

        /* a bound joint rests where its skin was bound, relative to its parent */
        affine bind = affine_load(joint->inverse_bind), rest, inverse;
        if (b->joint_bound[i] && affine_inverse(&bind, &rest) && affine_inverse(&parent, &inverse)) {
            affine local = affine_multiply(&inverse, &rest);
            affine_decompose(&local, &parts);
        }

        /* world transform from the values as they are stored */
        joint->rest = affine_parts_store(&parts);
        affine_parts stored = affine_parts_load(&joint->rest);
        affine local = affine_compose(&stored);
        b->joint_rest[i] = affine_multiply(&parent, &local);

        if (!affine_finite(&b->joint_rest[i]))
            return error_set(b->s->error, CUTIS_ERROR_DATA,
                             "%.150s: node '%.60s' has a rest position that is not finite", b->s->name,
                             b->s->nodes[b->joint_nodes[i]].name);

        /* joints without a skin are bound where they rest */
        if (!b->joint_bound[i]) {
            if (!affine_inverse(&b->joint_rest[i], &inverse)) b->joint_rest[i] = affine_identity();
            affine_store(&inverse, joint->inverse_bind);
        }
    }
    return CUTIS_OK;
}

static cutis_result joints_name(scene_builder *b)
{
    name_set names = name_set_create(b->memory);
    for (int i = 0; i < b->joint_count; i++) {
        b->joints[i].name = name_set_add(&names, b->s->nodes[b->joint_nodes[i]].name, "joint", i);
        if (!b->joints[i].name) return builder_memory(b);
    }
    return CUTIS_OK;
}

/* ---- meshes ---- */

/* Where a mesh rests, file unit. */
static affine mesh_placement(const scene_builder *b, const scene_mesh *mesh)
{
    if (mesh->cluster_count) {
        affine bind = affine_multiply(&mesh->clusters[0].bound, &mesh->clusters[0].to_bone), inverse;
        if (affine_inverse(&bind, &inverse)) return bind;
    }
    return affine_multiply(&b->worlds[mesh->node], &mesh->to_node);
}

static cutis_result mesh_bind(scene_builder *b, int index, const affine *placement, int *cluster_joints,
                              int *loose_joint)
{
    const scene_mesh *mesh = &b->s->meshes[index];

    affine inverse;
    *loose_joint = -1;

    if (!affine_inverse(placement, &inverse))
        return error_set(b->s->error, CUTIS_ERROR_DATA, "%.150s: mesh '%.60s' is flattened by its node", b->s->name,
                         mesh->name);

    /* from scene space to each bone, as it was bound */
    for (int c = 0; c < mesh->cluster_count; c++) {
        affine map = affine_multiply(&inverse, &b->whole_inverse);
        map = affine_multiply(&mesh->clusters[c].to_bone, &map);
        map = affine_multiply(&b->unit, &map);
        cluster_joints[c] = joint_bind(b, mesh->clusters[c].node, &map);
    }
    if (b->node_joints[mesh->node] < 0 || (mesh->cluster_count && !mesh_has_loose(b, mesh))) return CUTIS_OK;

    /* what has no weight follows the node, from where the mesh rests */
    affine to_node = affine_multiply(&mesh->to_node, &inverse);
    affine map = affine_multiply(&to_node, &b->whole_inverse);
    map = affine_multiply(&b->unit, &map);
    *loose_joint = joint_bind(b, mesh->node, &map);
    return CUTIS_OK;
}

static cutis_result mesh_positions(scene_builder *b, int index, const affine *placement)
{
    const scene_mesh *mesh = &b->s->meshes[index];

    affine map = affine_multiply(&b->whole, placement);
    double *local = ARENA_ARRAY(b->memory, double, 3 * (size_t)mesh->vertex_count);
    if (!local) return builder_memory(b);
    memcpy(local, mesh->positions, 3 * (size_t)mesh->vertex_count * sizeof *local);

    /* weights that the file sets without a clip are part of the rest shape */
    for (int m = 0; m < mesh->morph_count; m++)
        for (int i = 0; mesh->morphs[m].weight != 0 && i < mesh->morphs[m].count; i++)
            for (int k = 0; k < 3; k++)
                local[3 * mesh->morphs[m].vertices[i] + k] +=
                    mesh->morphs[m].weight * mesh->morphs[m].deltas[3 * i + k];

    /* to the space of the scene */
    for (int v = 0; v < mesh->vertex_count; v++) {
        double place[3];
        affine_point(&map, local + 3 * (size_t)v, place);

        for (int k = 0; k < 3; k++) {
            float *p = &b->positions[3 * (size_t)(b->first_vertices[index] + v) + (size_t)k];
            *p = (float)place[k];
            if (!isfinite(*p))
                return error_set(b->s->error, CUTIS_ERROR_DATA,
                                 "%.150s: vertex %d of mesh '%.60s' has a position that is not finite", b->s->name, v,
                                 mesh->name);
        }
    }

    /* targets over all vertices */
    for (int m = 0; m < mesh->morph_count; m++) {
        const scene_morph *from = &mesh->morphs[m];
        float *deltas = ARENA_ARRAY(b->memory, float, 3 * (size_t)b->given.vertex_count);
        if (!deltas) return builder_memory(b);

        for (int i = 0; i < from->count; i++) {
            double moved[3];
            affine_vector(&map, from->deltas + 3 * (size_t)i, moved);
            for (int k = 0; k < 3; k++)
                deltas[3 * (size_t)(b->first_vertices[index] + from->vertices[i]) + (size_t)k] += (float)moved[k];
        }
        b->morphs[b->first_morphs[index] + m] = (cutis_morph){from->name, deltas};
    }

    return CUTIS_OK;
}

/* Faces of one material after the other, each a part; within a material in the file's order. */
static cutis_result mesh_faces(scene_builder *b, int index)
{
    const scene_mesh *mesh = &b->s->meshes[index];

    int first_vertex = b->first_vertices[index];
    for (int material = -1; material < MAX(mesh->material_count, 0); material++) {
        /* the faces of this material; -1 gathers those without one */
        int first_face = b->given.face_count;
        for (int f = 0; f < mesh->face_count; f++) {
            int own = mesh->face_materials ? mesh->face_materials[f] : mesh->material_count ? 0 : -1;
            if (own < 0 || own >= mesh->material_count) own = -1;
            if (own != material) continue;

            /* corners and their texture coordinates */
            b->face_first[b->given.face_count++] = b->given.corner_count;
            for (int c = mesh->face_first[f]; c < mesh->face_first[f + 1]; c++) {
                if (b->texcoords && mesh->texcoords)
                    memcpy(b->texcoords + 2 * (size_t)b->given.corner_count, mesh->texcoords + 2 * (size_t)c,
                           2 * sizeof(float));
                b->corners[b->given.corner_count++] = first_vertex + mesh->corners[c];
            }
        }

        /* a part for each material that is used */
        if (b->given.face_count == first_face) continue;
        b->parts[b->given.part_count++] = (cutis_part){.name = mesh->name,
                                                       .material = material >= 0 ? mesh->materials[material] : "",
                                                       .first_vertex = first_vertex,
                                                       .vertex_count = mesh->vertex_count,
                                                       .first_face = first_face,
                                                       .face_count = b->given.face_count - first_face};
    }

    /* the end of the last face */
    b->face_first[b->given.face_count] = b->given.corner_count;
    return CUTIS_OK;
}

/* Weights of a mesh's vertices, gathered from its clusters. */
static cutis_result mesh_influences(scene_builder *b, int index, const int *cluster_joints, int loose_joint)
{
    /* influences of each vertex */
    const scene_mesh *mesh = &b->s->meshes[index];
    int *cursors = ARENA_ARRAY(b->memory, int, mesh->vertex_count + 1);
    if (!cursors) return builder_memory(b);
    for (int c = 0; c < mesh->cluster_count; c++)
        for (int i = 0; i < mesh->clusters[c].count; i++)
            if (mesh->clusters[c].weights[i] > 0) cursors[mesh->clusters[c].vertices[i]]++;

    /* their places; a vertex without weights follows the loose joint */
    int *first = b->influence_first + b->first_vertices[index];
    int used = first[0];

    for (int v = 0; v < mesh->vertex_count; v++) {
        int count = cursors[v];
        first[v] = used;
        cursors[v] = used;

        if (count == 0 && loose_joint >= 0) {
            b->influence_joints[used] = loose_joint;
            b->influence_weights[used] = 1;
            count = 1;
        }

        used += count;
    }
    first[mesh->vertex_count] = used;

    /* joints and weights, cluster by cluster */
    for (int c = 0; c < mesh->cluster_count; c++)
        for (int i = 0; i < mesh->clusters[c].count; i++) {
            if (!(mesh->clusters[c].weights[i] > 0)) continue;
            int at = cursors[mesh->clusters[c].vertices[i]]++;
            b->influence_joints[at] = cluster_joints[c];
            b->influence_weights[at] = (float)mesh->clusters[c].weights[i];
        }
    return CUTIS_OK;
}

static cutis_result surface_allocate(scene_builder *b)
{
    /* where each mesh begins, and the size of all */
    const scene *s = b->s;
    size_t vertices = 0, faces = 0, corners = 0, influences = 0, parts = 0, morphs = 0;
    bool texcoords = false;
    b->first_vertices = ARENA_ARRAY(b->memory, int, s->mesh_count + 1);
    b->first_morphs = ARENA_ARRAY(b->memory, int, s->mesh_count + 1);
    if (b->memory->failed) return builder_memory(b);

    for (int m = 0; m < s->mesh_count; m++) {
        const scene_mesh *mesh = &s->meshes[m];
        b->first_vertices[m] = (int)vertices;
        b->first_morphs[m] = (int)morphs;

        vertices += (size_t)mesh->vertex_count;
        faces += (size_t)mesh->face_count;
        corners += (size_t)mesh->face_first[mesh->face_count];
        parts += (size_t)mesh->material_count + 1;
        morphs += (size_t)mesh->morph_count;
        influences += (size_t)mesh->vertex_count;

        for (int c = 0; c < mesh->cluster_count; c++) influences += (size_t)mesh->clusters[c].count;
        texcoords |= mesh->texcoords != NULL;

        /* arrays are indexed by int */
        if (vertices > INT_MAX / 16 || corners > INT_MAX / 16 || influences > INT_MAX / 16 || morphs > 4096)
            return error_set(s->error, CUTIS_ERROR_UNSUPPORTED, "%.150s: its meshes are too large", s->name);
    }

    /* each morph target holds all vertices */
    if (morphs * vertices > ((size_t)1 << 28))
        return error_set(s->error, CUTIS_ERROR_UNSUPPORTED, "%.150s: its blend shapes are too large", s->name);

    /* one array each for all meshes */
    b->positions = ARENA_ARRAY(b->memory, float, 3 * vertices);
    b->face_first = ARENA_ARRAY(b->memory, int, faces + 1);
    b->corners = ARENA_ARRAY(b->memory, int, corners);
    if (texcoords) b->texcoords = ARENA_ARRAY(b->memory, float, 2 * corners);
    b->parts = ARENA_ARRAY(b->memory, cutis_part, parts);
    b->morphs = ARENA_ARRAY(b->memory, cutis_morph, morphs);
    b->influence_first = ARENA_ARRAY(b->memory, int, vertices + 1);
    b->influence_joints = ARENA_ARRAY(b->memory, int, influences);
    b->influence_weights = ARENA_ARRAY(b->memory, float, influences);

    b->given.vertex_count = (int)vertices;
    b->given.morph_count = (int)morphs;
    return b->memory->failed ? builder_memory(b) : CUTIS_OK;
}

static cutis_result surface_fill(scene_builder *b)
{
    const scene *s = b->s;

    for (int m = 0; m < s->mesh_count; m++) {
        const scene_mesh *mesh = &s->meshes[m];
        affine placement = mesh_placement(b, mesh);
        int *cluster_joints = ARENA_ARRAY(b->memory, int, mesh->cluster_count + 1);
        int loose_joint = -1;
        if (!cluster_joints) return builder_memory(b);

        cutis_result result = CUTIS_OK;
        if (b->joints) result = mesh_bind(b, m, &placement, cluster_joints, &loose_joint);
        if (result == CUTIS_OK) result = mesh_positions(b, m, &placement);
        if (result == CUTIS_OK) result = mesh_faces(b, m);
        if (result == CUTIS_OK) result = mesh_influences(b, m, cluster_joints, loose_joint);

        if (result != CUTIS_OK) return result;
    }

    /* names are unique */
    name_set names = name_set_create(b->memory);
    for (int i = 0; i < b->given.part_count; i++) {
        b->parts[i].name = name_set_add(&names, b->parts[i].name, "part", i);
        if (!b->parts[i].name) return builder_memory(b);
    }

    return CUTIS_OK;
}

/* ---- clips ---- */

/* Whether the values of a path leave the node's own by more than rounding. */
static bool path_moves(const scene *s, const scene_track *track, cutis_path path)
{
    const affine_parts *idle = &s->nodes[track->node].local;

    /* lengths in relation to those at rest */
    double scale = 1e-30;
    for (int k = 0; k < 3; k++) scale = MAX(scale, fabs(idle->translation[k]));

    for (int i = 0; i < track->key_count; i++)
        for (int k = 0; k < 4; k++) {
            const affine_parts *key = &track->keys[i];
            if (path == CUTIS_PATH_ROTATION && fabs(key->rotation[k] - idle->rotation[k]) > 1e-7) return true;
            if (k == 3) continue;
            if (path == CUTIS_PATH_TRANSLATION && fabs(key->translation[k] - idle->translation[k]) > 1e-7 * scale)
                return true;
            if (path == CUTIS_PATH_SCALE && fabs(key->scale[k] - idle->scale[k]) > 1e-6) return true;
        }

    return false;
}

static const float *path_values(scene_builder *b, const scene_track *track, cutis_path path)
{
    size_t components = path == CUTIS_PATH_ROTATION ? 4 : 3;
    float *values = ARENA_ARRAY(b->memory, float, components *(size_t)track->key_count);

    for (int i = 0; values && i < track->key_count; i++) {
        affine_parts parts = local_convert(b->s, track->node, track->keys[i]);
        const double *from = path == CUTIS_PATH_ROTATION ? parts.rotation
                             : path == CUTIS_PATH_SCALE  ? parts.scale
                                                         : parts.translation;
        float *to = values + components * (size_t)i;

        /* of a rotation and its opposite the one that is nearer to the key before */
        double dot = 0;
        for (size_t k = 0; path == CUTIS_PATH_ROTATION && i > 0 && k < 4; k++) dot += from[k] * (double)to[(int)k - 4];
        for (size_t k = 0; k < components; k++) to[k] = (float)(dot < 0 ? -from[k] : from[k]);
    }

    return values;
}

static cutis_result clip_build(scene_builder *b, const scene_clip *from, cutis_clip *clip)
{
    /* room for three paths of each joint */
    size_t capacity = (size_t)from->morph_track_count;
    for (int t = 0; t < from->track_count; t++)
        for (int j = b->node_joints[from->tracks[t].node]; j >= 0; j = b->joint_next[j]) capacity += 3;

    cutis_track *tracks = ARENA_ARRAY(b->memory, cutis_track, capacity);
    if (!tracks && capacity) return builder_memory(b);
    int count = 0;

    /* tracks of what moves, for each joint of the node */
    for (int t = 0; t < from->track_count; t++) {
        const scene_track *track = &from->tracks[t];
        for (int path = CUTIS_PATH_TRANSLATION; path <= CUTIS_PATH_SCALE; path++) {
            if (b->node_joints[track->node] < 0 || !path_moves(b->s, track, (cutis_path)path)) continue;
            const float *values = path_values(b, track, (cutis_path)path);
            if (!values) return builder_memory(b);

            for (int j = b->node_joints[track->node]; j >= 0; j = b->joint_next[j])
                tracks[count++] = (cutis_track){
                    j, (cutis_path)path, CUTIS_INTERPOLATION_LINEAR, track->key_count, track->times, values};
        }
    }

    /* a clip that holds still is one all the same, as long as its keys say */
    for (int t = 0; t < from->track_count && count == 0 && from->morph_track_count == 0; t++) {
        const scene_track *track = &from->tracks[t];
        if (b->node_joints[track->node] < 0) continue;

        const float *values = path_values(b, track, CUTIS_PATH_ROTATION);
        if (!values) return builder_memory(b);
        tracks[count++] = (cutis_track){b->node_joints[track->node],
                                        CUTIS_PATH_ROTATION,
                                        CUTIS_INTERPOLATION_LINEAR,
                                        track->key_count,
                                        track->times,
                                        values};
    }

    /* morph weights, relative to those at rest */
    for (int t = 0; t < from->morph_track_count; t++) {
        const scene_morph_track *track = &from->morph_tracks[t];
        float *weights = ARENA_ARRAY(b->memory, float, track->key_count);
        if (!weights) return builder_memory(b);

        for (int i = 0; i < track->key_count; i++)
            weights[i] = track->weights[i] - (float)b->s->meshes[track->mesh].morphs[track->morph].weight;
        tracks[count++] = (cutis_track){b->first_morphs[track->mesh] + track->morph,
                                        CUTIS_PATH_MORPH,
                                        CUTIS_INTERPOLATION_LINEAR,
                                        track->key_count,
                                        track->times,
                                        weights};
    }

    *clip = (cutis_clip){.track_count = count, .tracks = tracks};
    return CUTIS_OK;
}

static cutis_result clips_build(scene_builder *b)
{
    cutis_clip *clips = ARENA_ARRAY(b->memory, cutis_clip, b->s->clip_count);

    if (!clips && b->s->clip_count) return builder_memory(b);
    name_set names = name_set_create(b->memory);
    int count = 0;

    /* clips that move something */
    for (int i = 0; i < b->s->clip_count; i++) {
        cutis_result result = clip_build(b, &b->s->clips[i], &clips[count]);
        if (result != CUTIS_OK) return result;

        if (clips[count].track_count == 0) {
            warning_add(b->s->warnings, "clip '%.60s' moves no joint of the character and is ignored",
                        b->s->clips[i].name);
            continue;
        }

        clips[count].name = name_set_add(&names, b->s->clips[i].name, "clip", i);
        if (!clips[count++].name) return builder_memory(b);
    }

    b->given.clip_count = count;
    b->given.clips = clips;
    return CUTIS_OK;
}

/* ---- the whole ---- */

static cutis_result skeleton_build(scene_builder *b)
{
    const scene *s = b->s;
    if (!skeleton_needed(s)) return CUTIS_OK;
    size_t capacity = (size_t)s->node_count + 1;

    /* nodes that hold skin, and all above them */
    for (int m = 0; m < s->mesh_count; m++) {
        const scene_mesh *mesh = &s->meshes[m];
        capacity += (size_t)mesh->cluster_count + 1;
        for (int c = 0; c < mesh->cluster_count; c++) keep_up(b, mesh->clusters[c].node);
        if (mesh->cluster_count == 0 || mesh_has_loose(b, mesh)) keep_up(b, mesh->node);
    }

    for (int n = 0; n < s->node_count; n++)
        if (s->nodes[n].is_bone || s->motion_only) keep_up(b, n);

    b->joints = ARENA_ARRAY(b->memory, cutis_joint, capacity);
    b->joint_nodes = ARENA_ARRAY(b->memory, int, capacity);
    b->joint_next = ARENA_ARRAY(b->memory, int, capacity);
    b->joint_bound = ARENA_ARRAY(b->memory, bool, capacity);
    b->joint_rest = ARENA_ARRAY(b->memory, affine, capacity);
    if (b->memory->failed) return builder_memory(b);

    /* joints of the nodes that are kept */
    for (int n = 0; n < s->node_count; n++)
        if (b->kept[n]) joint_add(b, n);

    return CUTIS_OK;
}

void scene_stand_in(cutis_character *given)
{
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    static const int corners[3] = {0, 1, 2}, face_first[2] = {0, 3};
    given->vertex_count = 3;
    given->positions = positions;
    given->face_count = 1;
    given->face_first = face_first;
    given->corners = corners;
}

cutis_result scene_build(const scene *s, const char *path, const cutis_allocator *allocator,
                         cutis_character **character)
{
    /* transform from the file's axes and unit to metres with y up */
    scene_builder b = {.s = s, .memory = s->memory};
    affine_parts whole = affine_parts_identity();
    memcpy(whole.rotation, s->turn, sizeof whole.rotation);
    for (int k = 0; k < 3; k++) whole.scale[k] = s->unit;

    b.whole = affine_compose(&whole);
    memcpy(whole.rotation, (double[]){0, 0, 0, 1}, sizeof whole.rotation);
    b.unit = affine_compose(&whole);

    /* tables over the nodes */
    b.kept = ARENA_ARRAY(b.memory, bool, s->node_count + 1);
    b.node_joints = ARENA_ARRAY(b.memory, int, s->node_count + 1);
    b.worlds = ARENA_ARRAY(b.memory, affine, s->node_count + 1);
    if (b.memory->failed) return builder_memory(&b);

    if (!affine_inverse(&b.whole, &b.whole_inverse))
        return error_set(s->error, CUTIS_ERROR_DATA, "%.150s: its unit is not a length", s->name);

    /* transforms of the nodes in the file's pose */
    for (int n = 0; n < s->node_count; n++) {
        b.node_joints[n] = -1;
        affine local = affine_compose(&s->nodes[n].local);
        b.worlds[n] = s->nodes[n].parent >= 0 ? affine_multiply(&b.worlds[s->nodes[n].parent], &local) : local;
    }

    /* a file without a mesh may still be a motion */
    if (s->mesh_count == 0 && !s->motion_only)
        return error_set(s->error, CUTIS_ERROR_DATA, "%.150s: it holds no mesh%s", s->name,
                         s->clip_count ? "; it is a motion: pass a character, and this file with --motion" : "");

    /* skeleton, surface and clips; joints are placed after the skins that bind them */
    cutis_result result = skeleton_build(&b);
    if (result == CUTIS_OK && s->mesh_count) result = surface_allocate(&b);
    if (result == CUTIS_OK && s->mesh_count) result = surface_fill(&b);
    if (result == CUTIS_OK && b.joints) result = joints_place(&b);
    if (result == CUTIS_OK && b.joints) result = joints_name(&b);
    if (result == CUTIS_OK) result = clips_build(&b);
    if (result != CUTIS_OK) return result;

    cutis_character *given = &b.given;
    given->name = path_stem(b.memory, path);
    given->joint_count = b.joint_count;
    given->joints = b.joints;
    given->material_count = s->material_count;
    given->materials = s->materials;
    given->warning_count = warning_finish(s->warnings);
    given->warnings = s->warnings->sentences;

    /* a motion alone gets a stand-in for a surface */
    if (s->mesh_count) {
        given->positions = b.positions;
        given->face_first = b.face_first;
        given->corners = b.corners;
        given->texcoords = b.texcoords;
        given->parts = b.parts;
        given->morphs = b.morphs;
        if (b.joints) {
            given->influence_first = b.influence_first;
            given->influence_joints = b.influence_joints;
            given->influence_weights = b.influence_weights;
        }
    } else {
        scene_stand_in(given);
    }

    if (b.memory->failed) return builder_memory(&b);
    return cutis_character_create(given, allocator, character, s->error);
}
