/*
 * gltf_scene.c: nodes, skins and joints of a glTF document, as the skeleton of a character.
 *
 * glTF places a skinned vertex v at sum w_j world_j(t) IBM_j v; the mesh node's own transform does not count.
 * A character wants rest positions in scene space. So each skin gets a placement B, which is where its
 * topmost joint's default pose puts the mesh (world IBM; for a well-made file in its bind pose the same matrix for
 * every joint), and vertices are stored as B v with inverse_bind_j = IBM_j B^-1: the product is unchanged. A
 * skin that shares a joint with one before it takes the B that gives this joint the same inverse bind
 * matrix, so that body and clothes stay together. A joint that still needs two inverse bind matrices becomes
 * two joints. extras {"cutis": {"placement": "scene"}} on a skin says that its mesh is in scene space already: B
 * is the identity; 16 numbers in place of "scene" are B itself.
 */
#include <math.h>
#include <string.h>

#include "io/gltf/gltf_read.h"

gltf_place gltf_node_place(const gltf_reader *reader, int node)
{
    const char *name = gltf_get_string(reader->nodes[node].object, "name");
    if (!name || !*name) return gltf_place_make("node %d", node);
    return gltf_place_make("node %d ('%.80s')", node, name);
}

/* ---- nodes ---- */

static cutis_result node_read_transform(gltf_reader *reader, int index)
{
    gltf_document *document = reader->document;
    gltf_node *node = &reader->nodes[index];

    gltf_place place = gltf_node_place(reader, index);
    double matrix[16];
    bool found;

    /* a matrix is taken apart; only translation, rotation and scale can be animated */
    node->parts = affine_parts_identity();
    cutis_result result = gltf_get_numbers(document, node->object, "matrix", place.text, 16, matrix, &found);
    if (result != CUTIS_OK) return result;
    if (found) { /* column-major */
        affine map;

        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++) map.m[4 * i + j] = matrix[4 * j + i];
        if (!affine_decompose(&map, &node->parts))
            warning_add(&reader->warnings, "%s: its matrix contains shear, which is ignored", place.text);
        return CUTIS_OK;
    }

    /* or the three of them, each optional */
    result = gltf_get_numbers(document, node->object, "translation", place.text, 3, node->parts.translation, &found);
    if (result == CUTIS_OK)
        result = gltf_get_numbers(document, node->object, "rotation", place.text, 4, node->parts.rotation, &found);
    if (result == CUTIS_OK)
        result = gltf_get_numbers(document, node->object, "scale", place.text, 3, node->parts.scale, &found);

    rotation_normalize(node->parts.rotation);
    return result;
}

static cutis_result nodes_link(gltf_reader *reader)
{
    gltf_document *document = reader->document;

    /* each child has one parent */
    for (int i = 0; i < document->node_count; i++) {
        const json_t *children = json_object_get(reader->nodes[i].object, "children");
        for (size_t c = 0; c < json_array_size(children); c++) {
            const json_t *value = json_array_get(children, c);
            json_int_t child = json_is_integer(value) ? json_integer_value(value) : -1;

            if (child < 0 || child >= document->node_count)
                return gltf_error(document, CUTIS_ERROR_FORMAT, "%s: children[%zu] is not one of the %d nodes",
                                  gltf_node_place(reader, i).text, c, document->node_count);

            gltf_node *node = &reader->nodes[child];
            if (node->parent >= 0)
                return gltf_error(document, CUTIS_ERROR_FORMAT, "node %d: is a child of both node %d and node %d",
                                  (int)child, node->parent, i);
            node->parent = i;
        }
    }
    return CUTIS_OK;
}

/* Append `root` and all below it to the order, parents first, children in their order. */
static void order_add(gltf_reader *reader, int root, bool in_scene, int *stack, bool *reached, int *count)
{
    int depth = 0;
    stack[depth++] = root;
    while (depth > 0) {
        int index = stack[--depth];
        if (reached[index]) continue;
        reached[index] = true;

        gltf_node *node = &reader->nodes[index];
        node->in_scene = in_scene;
        reader->order[(*count)++] = index;

        /* backwards, so that the first is on top */
        const json_t *children = json_object_get(node->object, "children");
        for (size_t c = json_array_size(children); c-- > 0;)
            stack[depth++] = (int)json_integer_value(json_array_get(children, c));
    }
}

/* Fill the order: the active scene's nodes, then the others. A node that no root reaches lies on a cycle. */
static cutis_result nodes_order(gltf_reader *reader)
{
    gltf_document *document = reader->document;

    int node_count = document->node_count, count = 0, scene;
    int *stack = gltf_allocate(document, (size_t)node_count + 1, sizeof(int));
    bool *reached = gltf_allocate(document, (size_t)node_count, sizeof(bool));
    reader->order = gltf_allocate(document, (size_t)node_count, sizeof(int));
    if (!stack || !reached || !reader->order) return gltf_error_memory(document);

    /* the active scene: the one named, else the first */
    cutis_result result =
        gltf_get_index(document, document->root, "scene", "the document", document->scene_count, false, &scene);
    if (result != CUTIS_OK) return result;
    if (scene < 0 && document->scene_count > 0) scene = 0;
    const json_t *roots = json_object_get(json_array_get(document->scenes, (size_t)MAX(scene, 0)), "nodes");

    /* its roots and all below them */
    for (size_t i = 0; i < json_array_size(roots); i++) {
        const json_t *value = json_array_get(roots, i);
        json_int_t root = json_is_integer(value) ? json_integer_value(value) : -1;
        if (root < 0 || root >= node_count)
            return gltf_error(document, CUTIS_ERROR_FORMAT, "scene %d: nodes[%zu] is not one of the %d nodes", scene, i,
                              node_count);

        if (reader->nodes[root].parent >= 0)
            return gltf_error(document, CUTIS_ERROR_FORMAT, "scene %d: nodes[%zu] is not a root: node %d is its parent",
                              scene, i, reader->nodes[root].parent);

        order_add(reader, (int)root, true, stack, reached, &count);
    }

    /* the other nodes, which are shown only in a document without scenes */
    for (int i = 0; i < node_count; i++)
        if (reader->nodes[i].parent < 0) order_add(reader, i, document->scene_count == 0, stack, reached, &count);

    /* a node that no root reaches is on a cycle or below one */
    for (int i = 0; i < node_count; i++) {
        if (reached[i]) continue;
        int on_cycle = i; /* as many steps up as there are nodes end on the cycle itself */
        for (int step = 0; step < node_count; step++) on_cycle = reader->nodes[on_cycle].parent;
        return gltf_error(document, CUTIS_ERROR_FORMAT, "%s: is its own ancestor (a cycle among the nodes)",
                          gltf_node_place(reader, on_cycle).text);
    }
    return CUTIS_OK;
}

cutis_result gltf_read_nodes(gltf_reader *reader)
{
    gltf_document *document = reader->document;

    reader->nodes = gltf_allocate(document, (size_t)document->node_count, sizeof(gltf_node));
    if (!reader->nodes) return gltf_error_memory(document);

    /* meshes, skins and transforms */
    for (int i = 0; i < document->node_count; i++) {
        gltf_node *node = &reader->nodes[i];
        node->object = json_array_get(document->nodes, (size_t)i);
        node->parent = node->first_joint = node->first_morph = -1;

        gltf_place place = gltf_node_place(reader, i);
        cutis_result result =
            gltf_get_index(document, node->object, "mesh", place.text, document->mesh_count, false, &node->mesh);

        if (result == CUTIS_OK)
            result =
                gltf_get_index(document, node->object, "skin", place.text, document->skin_count, false, &node->skin);
        if (result == CUTIS_OK) result = node_read_transform(reader, i);
        if (result != CUTIS_OK) return result;
    }

    /* the tree, and its order */
    cutis_result result = nodes_link(reader);
    if (result == CUTIS_OK) result = nodes_order(reader);
    if (result != CUTIS_OK) return result;

    /* places in the scene, parents first */
    int hidden_meshes = 0;
    for (int i = 0; i < document->node_count; i++) {
        gltf_node *node = &reader->nodes[reader->order[i]];
        affine local = affine_compose(&node->parts);

        /* what the file hides is not there, but may carry what is */
        const json_t *visibility = json_object_get(json_object_get(node->object, "extensions"), "KHR_node_visibility");
        node->hidden = json_is_false(json_object_get(visibility, "visible")) ||
                       (node->parent >= 0 && reader->nodes[node->parent].hidden);
        if (node->hidden && node->mesh >= 0) {
            hidden_meshes++;
            node->mesh = -1;
            node->skin = -1;
        }
        node->world = local;

        if (node->parent >= 0) {
            node->world = affine_multiply(&reader->nodes[node->parent].world, &local);
            node->depth = reader->nodes[node->parent].depth + 1;
        }

        if (!affine_finite(&node->world))
            return gltf_error(document, CUTIS_ERROR_DATA, "%s: its position in the scene is not finite",
                              gltf_node_place(reader, reader->order[i]).text);

        bool role = json_object_get(gltf_get_extras(node->object), "role") != NULL;
        node->is_prop = node->in_scene && !node->hidden && (role || (reader->all_props && node->mesh >= 0));
        if (!reader->props_as_mesh) continue;
        if (!node->is_prop) node->mesh = node->skin = -1;
        node->is_prop = false;
    }

    if (hidden_meshes)
        warning_add(&reader->warnings, "%d meshes are hidden by their nodes (KHR_node_visibility) and are ignored",
                    hidden_meshes);
    return CUTIS_OK;
}

/* ---- which nodes are joints ---- */

static void skeleton_include(gltf_reader *reader, int node)
{
    for (; node >= 0 && !reader->nodes[node].in_skeleton; node = reader->nodes[node].parent)
        reader->nodes[node].in_skeleton = true;
}

/* The node of joint `index` of a skin. */
static cutis_result skin_joint_node(const gltf_reader *reader, int skin, const json_t *joints, size_t index, int *node)
{
    *node = 0;
    const json_t *value = json_array_get(joints, index);
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    if (number < 0 || number >= reader->document->node_count)
        return gltf_error(reader->document, CUTIS_ERROR_FORMAT, "skin %d: joints[%zu] is not one of the %d nodes", skin,
                          index, reader->document->node_count);
    *node = (int)number;
    return CUTIS_OK;
}

static cutis_result skeleton_mark(gltf_reader *reader, size_t *capacity)
{
    gltf_document *document = reader->document;
    int used_skins = 0, props = 0;
    for (int i = 0; i < document->node_count; i++) {
        gltf_node *node = &reader->nodes[i];
        if (!node->in_scene) continue;

        if (node->is_prop) props++;
        if (reader->motion_only || node->is_prop || (node->mesh >= 0 && node->skin < 0)) skeleton_include(reader, i);
        if (node->is_prop || node->mesh < 0 || node->skin < 0 || reader->skins[node->skin].used) continue;

        /* a skin counts once, however many meshes use it */
        gltf_skin *skin = &reader->skins[node->skin];
        const json_t *joints = json_object_get(json_array_get(document->skins, (size_t)node->skin), "joints");
        skin->used = true;
        skin->joint_count = (int)json_array_size(joints);
        used_skins++;

        if (skin->joint_count == 0)
            return gltf_error(document, CUTIS_ERROR_FORMAT, "skin %d: has no joints", node->skin);
        *capacity += (size_t)skin->joint_count;

        for (int j = 0; j < skin->joint_count; j++) {
            int joint_node;
            cutis_result result = skin_joint_node(reader, node->skin, joints, (size_t)j, &joint_node);
            if (result != CUTIS_OK) return result;
            skeleton_include(reader, joint_node);
        }
    }

    /* What nothing moves needs no joints: its vertices are placed in the scene once and for all. */
    reader->has_skeleton = reader->motion_only || used_skins > 0 || document->animation_count > 0 || props > 0;
    return CUTIS_OK;
}

static int joint_add(gltf_reader *reader, int node)
{
    int index = reader->joint_count++;

    gltf_node *from = &reader->nodes[node];
    reader->joint_nodes[index] = node;
    reader->joint_next[index] = -1;

    /* behind the other joints of the node */
    if (from->first_joint < 0) {
        from->first_joint = index;
    } else {
        int last = from->first_joint;
        while (reader->joint_next[last] >= 0) last = reader->joint_next[last];
        reader->joint_next[last] = index;
    }

    reader->joints[index].parent = from->parent >= 0 ? reader->nodes[from->parent].first_joint : -1;
    reader->joints[index].idle = affine_parts_store(&from->parts);
    return index;
}

/* ---- skins ---- */

static bool binds_equal(const float a[12], const float b[12])
{
    float largest = 0;
    for (int i = 0; i < 12; i++) largest = MAX(largest, fabsf(b[i]));
    for (int i = 0; i < 12; i++)
        if (!(fabsf(a[i] - b[i]) <= 2e-6f * largest)) return false;
    return true;
}

/* The joint of `node` with this inverse bind matrix; a new one when the node's others have different ones. */
static int skin_bind_joint(gltf_reader *reader, int node, const affine *inverse_bind)
{
    float bind[12];
    affine_store(inverse_bind, bind);

    /* a joint of the node with the same bind pose, or one that has none yet */
    for (int joint = reader->nodes[node].first_joint; joint >= 0; joint = reader->joint_next[joint]) {
        if (reader->joint_bound[joint] && binds_equal(bind, reader->joints[joint].inverse_bind)) return joint;
        if (reader->joint_bound[joint]) continue;

        reader->joint_bound[joint] = true;
        memcpy(reader->joints[joint].inverse_bind, bind, sizeof bind);
        return joint;
    }

    int joint = joint_add(reader, node);
    reader->joint_bound[joint] = true;
    memcpy(reader->joints[joint].inverse_bind, bind, sizeof bind);
    return joint;
}

/* Where the skin's mesh is in the rest scene; see the top of this file. */
static affine skin_placement(const gltf_reader *reader, int skin_index, const int *nodes, const affine *matrices)
{
    const gltf_skin *skin = &reader->skins[skin_index];

    const json_t *object = json_array_get(reader->document->skins, (size_t)skin_index);
    const char *placement = gltf_get_string(gltf_get_extras(object), "placement");
    if (placement && strcmp(placement, "scene") == 0) return affine_identity();
    affine map = affine_identity(), inverse;

    /* or the way to scene space, column-major: of a file whose positions were rounded to integers */
    const json_t *way = json_object_get(gltf_get_extras(object), "placement");
    if (json_array_size(way) == 16) {
        for (size_t i = 0; i < 12; i++) map.m[i] = json_number_value(json_array_get(way, 4 * (i % 4) + i / 4));
        return affine_finite(&map) && affine_inverse(&map, &inverse) ? map : affine_identity();
    }
    int top = 0;
    bool shared = false;

    /* a joint that another skin has bound tells where this one's mesh is */
    for (int j = 0; j < skin->joint_count && !shared; j++) {
        int joint = reader->nodes[nodes[j]].first_joint;
        if (reader->nodes[nodes[j]].depth < reader->nodes[nodes[top]].depth) top = j;
        if (!reader->joint_bound[joint]) continue;

        affine bind = affine_load(reader->joints[joint].inverse_bind);
        if (!affine_inverse(&bind, &inverse)) continue;
        map = affine_multiply(&inverse, &matrices[j]);
        shared = true;
    }

    if (!shared) map = affine_multiply(&reader->nodes[nodes[top]].world, &matrices[top]);
    return affine_inverse(&map, &inverse) ? map : affine_identity();
}

static cutis_result skin_read(gltf_reader *reader, int index)
{
    gltf_document *document = reader->document;
    gltf_skin *skin = &reader->skins[index];
    const json_t *object = json_array_get(document->skins, (size_t)index);
    const json_t *list = json_object_get(object, "joints");
    size_t count = (size_t)skin->joint_count;

    skin->joints = gltf_allocate(document, count, sizeof(int));
    int *nodes = gltf_allocate(document, count, sizeof(int));
    affine *matrices = gltf_allocate(document, count, sizeof(affine));
    if (!skin->joints || !nodes || !matrices) return gltf_error_memory(document);

    /* inverse bind matrices, identities where the skin has none */
    gltf_place place = gltf_place_make("skin %d", index);
    int accessor_index;
    cutis_result result = gltf_get_index(document, object, "inverseBindMatrices", place.text, document->accessor_count,
                                         false, &accessor_index);
    if (result != CUTIS_OK) return result;
    float *values = NULL;

    if (accessor_index >= 0) {
        gltf_place use = gltf_place_make("inverseBindMatrices of skin %d", index);
        gltf_accessor accessor;
        result = gltf_accessor_open(document, accessor_index, use.text, 16, &accessor);
        if (result != CUTIS_OK) return result;

        if (accessor.count < skin->joint_count)
            return gltf_error(document, CUTIS_ERROR_FORMAT, "accessor %d (%s): holds %d matrices for %d joints",
                              accessor_index, use.text, accessor.count, skin->joint_count);
        if (!accessor.bytes)
            return gltf_error(document, CUTIS_ERROR_DATA, "accessor %d (%s): has no buffer view", accessor_index,
                              use.text);

        values = gltf_allocate(document, (size_t)accessor.count * 16, sizeof(float));
        if (!values) return gltf_error_memory(document);
        result = gltf_accessor_floats(document, &accessor, use.text, values);
        if (result != CUTIS_OK) return result;
    }

    /* nodes of the joints; matrices from columns to rows */
    for (size_t j = 0; j < count; j++) {
        result = skin_joint_node(reader, index, list, j, &nodes[j]);
        if (result != CUTIS_OK) return result;
        matrices[j] = affine_identity();
        for (int i = 0; values && i < 12; i++) matrices[j].m[i] = values[16 * j + (size_t)(4 * (i % 4) + i / 4)];
    }

    /* with the placement B, inverse_bind_j = IBM_j B^-1 (see the top of this file) */
    skin->placement = skin_placement(reader, index, nodes, matrices);
    affine inverse;
    affine_inverse(&skin->placement, &inverse);

    for (size_t j = 0; j < count; j++) {
        affine bind = affine_multiply(&matrices[j], &inverse);
        if (!affine_finite(&bind))
            return gltf_error(document, CUTIS_ERROR_DATA,
                              "skin %d: the inverse bind matrix of joint %zu is singular or not finite", index, j);
        skin->joints[j] = skin_bind_joint(reader, nodes[j], &bind);
    }
    return CUTIS_OK;
}

/* ---- rest pose ---- */

/*
 * Rest transforms: of a skin's joint where its inverse bind matrix says, of any other node as in the file. A
 * node that the file hides by a scale of 0 is shown at scale 1, or nothing could be bound to it.
 */
static cutis_result joints_place(gltf_reader *reader)
{
    /* parents first */
    for (int i = 0; i < reader->joint_count; i++) {
        cutis_joint *joint = &reader->joints[i];
        affine parent = joint->parent >= 0 ? reader->joint_rest[joint->parent] : affine_identity();
        affine_parts parts = reader->nodes[reader->joint_nodes[i]].parts;

        for (int k = 0; k < 3; k++)
            if (fabs(parts.scale[k]) < 1e-9) parts.scale[k] = 1;

        /* a bound joint rests where its skin was bound */
        affine bind = affine_load(joint->inverse_bind), rest, inverse;
        if (reader->joint_bound[i] && affine_inverse(&bind, &rest) && affine_inverse(&parent, &inverse)) {
            affine local = affine_multiply(&inverse, &rest);
            affine_decompose(&local, &parts);
        }

        /* From the floats that the character will hold, so that children take up the rounding. */
        joint->rest = affine_parts_store(&parts);
        affine_parts stored = affine_parts_load(&joint->rest);
        affine local = affine_compose(&stored);
        reader->joint_rest[i] = affine_multiply(&parent, &local);

        if (!affine_finite(&reader->joint_rest[i]))
            return gltf_error(reader->document, CUTIS_ERROR_DATA, "%s: its rest position is not finite",
                              gltf_node_place(reader, reader->joint_nodes[i]).text);

        /* joints without a skin are bound where they rest */
        if (!reader->joint_bound[i]) {
            if (!affine_inverse(&reader->joint_rest[i], &inverse))
                reader->joint_rest[i] = affine_identity(); /* keeps rest x inverse bind the identity */
            affine_store(&inverse, joint->inverse_bind);
        }

        for (int k = 0; k < 12; k++)
            if (!isfinite(joint->inverse_bind[k]))
                return gltf_error(reader->document, CUTIS_ERROR_DATA, "%s: its inverse bind matrix is not finite",
                                  gltf_node_place(reader, reader->joint_nodes[i]).text);
    }
    return CUTIS_OK;
}

/* Give the joints of a node the bone that it is. */
static void role_give(gltf_reader *reader, const json_t *node, const char *bone)
{
    json_int_t index = json_is_integer(node) ? json_integer_value(node) : -1;
    if (!bone || index < 0 || index >= reader->document->node_count) return;
    for (int joint = reader->nodes[index].first_joint; joint >= 0; joint = reader->joint_next[joint])
        reader->joints[joint].role = bone;
}

/* The humanoid of VRM: a list of bones in version 0, an object of them in version 1. */
static void roles_read(gltf_reader *reader)
{
    const json_t *extensions = json_object_get(reader->document->root, "extensions");
    const json_t *list = json_object_get(json_object_get(json_object_get(extensions, "VRM"), "humanoid"), "humanBones");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        role_give(reader, json_object_get(entry, "node"), gltf_get_string(entry, "bone"));
    }
    json_t *bones = json_object_get(json_object_get(json_object_get(extensions, "VRMC_vrm"), "humanoid"), "humanBones");
    const char *bone;
    json_t *entry;
    json_object_foreach(bones, bone, entry) role_give(reader, json_object_get(entry, "node"), bone);
}

cutis_result gltf_read_skeleton(gltf_reader *reader)
{
    gltf_document *document = reader->document;
    reader->skins = gltf_allocate(document, (size_t)document->skin_count, sizeof(gltf_skin));
    if (!reader->skins) return gltf_error_memory(document);

    size_t capacity = (size_t)document->node_count;
    cutis_result result = skeleton_mark(reader, &capacity);
    if (result != CUTIS_OK || !reader->has_skeleton) return result;

    /* room for the joints */
    reader->joints = gltf_allocate(document, capacity, sizeof(cutis_joint));
    reader->joint_nodes = gltf_allocate(document, capacity, sizeof(int));
    reader->joint_next = gltf_allocate(document, capacity, sizeof(int));
    reader->joint_rest = gltf_allocate(document, capacity, sizeof(affine));
    reader->joint_bound = gltf_allocate(document, capacity, sizeof(bool));
    if (!reader->joints || !reader->joint_nodes || !reader->joint_next || !reader->joint_rest || !reader->joint_bound)
        return gltf_error_memory(document);

    for (int i = 0; i < document->node_count; i++)
        if (reader->nodes[reader->order[i]].in_skeleton) joint_add(reader, reader->order[i]);

    /* In the order in which the scene uses them, so that the first mesh decides where the character rests. */
    for (int i = 0; i < document->node_count; i++) {
        const gltf_node *node = &reader->nodes[reader->order[i]];
        if (!node->in_scene || node->is_prop || node->mesh < 0 || node->skin < 0) continue;
        if (reader->skins[node->skin].joints) continue;
        result = skin_read(reader, node->skin);
        if (result != CUTIS_OK) return result;
    }

    result = joints_place(reader);
    if (result != CUTIS_OK) return result;

    name_set names = name_set_create(&document->memory);
    for (int i = 0; i < reader->joint_count; i++) {
        const json_t *object = reader->nodes[reader->joint_nodes[i]].object;
        reader->joints[i].name = name_set_add(&names, gltf_get_string(object, "name"), "joint", i);
        if (!reader->joints[i].name) return gltf_error_memory(document);
    }

    roles_read(reader);
    reader->given.joint_count = reader->joint_count;
    reader->given.joints = reader->joints;
    return CUTIS_OK;
}

/* ---- settings ---- */

/* Keys that describe a prop rather than set a parameter. */
static bool key_is_prop(const char *key, bool is_prop)
{
    static const char *const keys[] = {"role", "shape", "size", "mass", "friction", "restitution", "stiffness"};
    for (int i = 0; i < (is_prop ? COUNT_OF(keys) : 2); i++)
        if (strcmp(key, keys[i]) == 0) return true;
    return false;
}

/* A JSON value as the text of a setting; NULL when it is not a number, string or boolean. */
static const char *setting_text(arena *memory, const json_t *value)
{
    if (json_is_string(value)) return arena_string(memory, json_string_value(value));
    if (json_is_boolean(value)) return json_is_true(value) ? "on" : "off";
    if (!json_is_number(value)) return NULL;
    char text[32];
    text_from_float((float)json_number_value(value), text);
    return arena_string(memory, text);
}

/* One value as a setting, of a joint when it has a name, of one solver when that has one ("" for none). */
static cutis_result setting_add(gltf_reader *reader, const char *solver, const char *joint, const char *key,
                                const json_t *value, cutis_setting *settings)
{
    arena *memory = &reader->document->memory;

    /* its value as text */
    const char *dot = *solver ? "." : "";
    const char *text = setting_text(memory, value);
    if (memory->failed) return gltf_error_memory(reader->document);

    if (!text) {
        warning_add(&reader->warnings, "extras.cutis.%.60s%s%.60s%s%.60s is not a number, a string or a boolean",
                    solver, dot, key, joint ? " of joint " : "", joint ? joint : "");
        return CUTIS_OK;
    }

    /* its key, with solver and joint */
    cutis_setting *setting = &settings[reader->given.setting_count++];
    setting->value = text;
    setting->key = joint ? arena_format(memory, "%.60s%sbones.%s.%.200s", solver, dot, joint, key)
                         : arena_format(memory, "%.60s%s%.200s", solver, dot, key);
    return setting->key ? CUTIS_OK : gltf_error_memory(reader->document);
}

/* {"KEY": value, "SOLVER": {"KEY": value}} */
static cutis_result settings_collect(gltf_reader *reader, json_t *extras, const char *joint, bool is_prop,
                                     cutis_setting *settings)
{
    const char *key, *inner;
    json_t *value, *own;
    cutis_result result = CUTIS_OK;

    /* those of a solver stand in an object of their own */
    json_object_foreach(extras, key, value)
    {
        if (joint && key_is_prop(key, is_prop)) continue;
        if (!json_is_object(value)) {
            result = setting_add(reader, "", joint, key, value, settings);
        } else {
            json_object_foreach(value, inner, own)
            {
                result = setting_add(reader, key, joint, inner, own, settings);
                if (result) break;
            }
        }

        if (result) return result;
    }
    return CUTIS_OK;
}

/* How many settings there are at most. */
static size_t settings_count(json_t *extras)
{
    const char *key;
    json_t *value;
    size_t count = 0;
    json_object_foreach(extras, key, value) count += json_is_object(value) ? json_object_size(value) : 1;
    return count;
}

/*
 * extras.cutis of the active scene hold settings of the whole, those of joint nodes settings of one bone; in an object
 * of a solver's name those of that solver.
 */
cutis_result gltf_read_settings(gltf_reader *reader)
{
    gltf_document *document = reader->document;
    json_t *scene_index = json_object_get(document->root, "scene");
    json_t *scene = json_array_get(document->scenes, (size_t)json_integer_value(scene_index));

    /* as many as there can be */
    size_t capacity = settings_count(gltf_get_extras(scene));
    for (int i = 0; i < reader->joint_count; i++)
        capacity += settings_count(gltf_get_extras(reader->nodes[reader->joint_nodes[i]].object));

    cutis_setting *settings = gltf_allocate(document, capacity, sizeof(cutis_setting));
    if (!settings) return gltf_error_memory(document);

    /* of the scene, then of each joint */
    cutis_result result = settings_collect(reader, gltf_get_extras(scene), NULL, false, settings);
    for (int i = 0; i < reader->joint_count && result == CUTIS_OK; i++) {
        const gltf_node *node = &reader->nodes[reader->joint_nodes[i]];
        result =
            settings_collect(reader, gltf_get_extras(node->object), reader->joints[i].name, node->is_prop, settings);
    }

    reader->given.settings = settings;
    return result;
}
