/*
 * fbx_read.c: objects, connections and nodes of an FBX file, versions 5000 to 7700.
 *
 * A node's transform is T Roff Rp Rpre R Rpost^-1 Rp^-1 Soff Sp S Sp^-1 (Autodesk's FBX SDK), with pre- and
 * post-rotation and the order of Euler angles in force only when RotationActive is set; it is folded into translation,
 * rotation and scale. Geometric transforms belong to the mesh alone. A node that does not inherit its parent's scale
 * (InheritType 2: Rrs) has it divided out; one that takes it behind its own rotation (0: RrSs) gets
 * it there. Axes are turned to y up, lengths made metres by UnitScaleFactor
 * (centimetres).
 */
#include "io/fbx/fbx_read.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "io/fbx/fbx_scene.h"
#include "math/math3.h"

/* ---- objects ---- */

/* Objects are known by number since version 7000, by name before. */
static uint64_t id_of(const fbx_value *value)
{
    if (value->kind == FBX_STRING) return hash_bytes(value->text, value->length, 1) | 1;
    return (uint64_t)value->integer;
}

static size_t slot_of(const fbx_reader *r, uint64_t id)
{
    size_t slot = (size_t)hash_bytes(&id, sizeof id, 0) & (r->slot_count - 1);
    while (r->slots[slot] && r->objects[r->slots[slot] - 1].id != id) slot = (slot + 1) & (r->slot_count - 1);
    return slot;
}

int fbx_find(const fbx_reader *r, const fbx_value *id) { return r->slots[slot_of(r, id_of(id))] - 1; }

/* "Name\0\1Class" of the binary form and "Class::Name" of the text form are both Name. */
static const char *object_name(const fbx_node *node, int index)
{
    const char *text = fbx_text(node, index, "");
    const char *colons = strstr(text, "::");
    return colons ? colons + 2 : text;
}

static cutis_result objects_list(fbx_reader *r)
{
    /* a hash table at most half full */
    const fbx_node *list = fbx_child(r->file.root, "Objects");
    size_t count = 0;
    for (const fbx_node *n = list ? list->first_child : NULL; n; n = n->next) count++;
    if (count > INT_MAX / 64) return fbx_error_memory(&r->file);
    r->slot_count = 64;
    while (r->slot_count < 2 * count + 2) r->slot_count *= 2;

    r->slots = fbx_allocate(&r->file, r->slot_count, sizeof *r->slots);
    r->objects = fbx_allocate(&r->file, count + 1, sizeof *r->objects);
    if (!r->slots || !r->objects) return fbx_error_memory(&r->file);

    /* objects by number, or by name before version 7000 */
    for (const fbx_node *n = list ? list->first_child : NULL; n; n = n->next) {
        if (n->value_count == 0 || n->values[0].kind == FBX_ARRAY) continue;
        bool numbered = n->values[0].kind != FBX_STRING;

        fbx_object *object = &r->objects[r->object_count];
        *object = (fbx_object){.id = id_of(&n->values[0]),
                               .node = n,
                               .name = object_name(n, numbered ? 1 : 0),
                               .subtype = fbx_text(n, numbered ? 2 : 1, ""),
                               .index = -1,
                               .first_child = -1};

        /* enter it into the table */
        size_t slot = slot_of(r, object->id);
        if (r->slots[slot]) continue; /* a name that is taken: the first counts */
        r->slots[slot] = ++r->object_count;
    }
    return CUTIS_OK;
}

static cutis_result links_list(fbx_reader *r)
{
    const fbx_node *list = fbx_child(r->file.root, "Connections");

    size_t count = 0;
    for (const fbx_node *n = list ? list->first_child : NULL; n; n = n->next) count++;

    r->links = fbx_allocate(&r->file, count + 1, sizeof *r->links);
    int *last = fbx_allocate(&r->file, (size_t)r->object_count + 1, sizeof *last);
    if (!r->links || !last) return fbx_error_memory(&r->file);
    for (int i = 0; i < r->object_count; i++) last[i] = -1;

    /* child, parent and the property that it is linked to */
    for (const fbx_node *n = list ? list->first_child : NULL; n; n = n->next) {
        if (n->value_count < 3) continue;
        int child = fbx_find(r, &n->values[1]), parent = fbx_find(r, &n->values[2]);
        if (child < 0 || parent < 0) continue;

        /* behind the last child of the same parent */
        int link = r->link_count++;
        r->links[link] = (fbx_link){child, fbx_text(n, 3, NULL), -1};
        if (last[parent] >= 0)
            r->links[last[parent]].next = link;
        else
            r->objects[parent].first_child = link;

        last[parent] = link;
    }
    return CUTIS_OK;
}

int fbx_next_child(const fbx_reader *r, int object, const char *type, int *cursor, const char **label)
{
    int link = *cursor == -2 ? r->objects[object].first_child : *cursor >= 0 ? r->links[*cursor].next : -1;
    for (; link >= 0; link = r->links[link].next) {
        *cursor = link;
        int child = r->links[link].child;
        if (strcmp(r->objects[child].node->name, type) != 0) continue;
        if (label) *label = r->links[link].label;
        return child;
    }
    *cursor = -1;
    return -1;
}

const fbx_node *fbx_property(const fbx_node *object, const char *name, int *first)
{
    const fbx_node *list = fbx_child(object, "Properties70");
    *first = 4;
    if (!list) {
        list = fbx_child(object, "Properties60");
        *first = 3;
    }
    for (const fbx_node *n = list ? list->first_child : NULL; n; n = n->next)
        if (strcmp(fbx_text(n, 0, ""), name) == 0) return n;
    return NULL;
}

double fbx_property_number(const fbx_node *object, const char *name, double missing)
{
    int first;
    const fbx_node *property = fbx_property(object, name, &first);
    double value = fbx_number(property, first, missing);
    return isfinite(value) ? value : missing;
}

void fbx_property_vector(const fbx_node *object, const char *name, double vector[3])
{
    int first;
    const fbx_node *property = fbx_property(object, name, &first);
    for (int k = 0; k < 3; k++) {
        double value = fbx_number(property, first + k, vector[k]);
        if (fabs(value) < 1e30) vector[k] = value;
    }
}

/* ---- transforms ---- */

static const int euler_orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0}};

void fbx_euler(const double angles[3], int order, double rotation[4])
{
    memcpy(rotation, (double[]){0, 0, 0, 1}, 4 * sizeof(double));
    for (int i = 0; i < 3; i++) {
        int axis = euler_orders[order >= 0 && order < 6 ? order : 0][i];
        double half = angles[axis] * (3.14159265358979323846 / 360);
        double turn[4] = {0, 0, 0, det_cos(half)};
        turn[axis] = det_sin(half);
        rotation_multiply(turn, rotation, rotation);
    }
}

void fbx_euler_find(const double rotation[4], int order, double angles[3])
{
    const int *axes = euler_orders[order >= 0 && order < 6 ? order : 0];
    int i = axes[0], j = axes[1], k = axes[2];
    double sign = (j - i + 3) % 3 == 1 ? 1 : -1;

    /* the rotation as a matrix */
    affine_parts parts = affine_parts_identity();
    memcpy(parts.rotation, rotation, sizeof parts.rotation);
    affine map = affine_compose(&parts);
    const double *m = map.m;

    /* m = turn about k, after that about j, after that about i */
    double flat = sqrt(m[4 * i + i] * m[4 * i + i] + m[4 * j + i] * m[4 * j + i]);
    angles[j] = det_atan2(-sign * m[4 * k + i], flat);
    if (flat > 1e-9) {
        angles[i] = det_atan2(sign * m[4 * k + j], m[4 * k + k]);
        angles[k] = det_atan2(sign * m[4 * j + i], m[4 * i + i]);
    } else {
        angles[i] = det_atan2(-sign * m[4 * j + k], m[4 * j + j]);
        angles[k] = 0;
    }

    for (int n = 0; n < 3; n++) angles[n] *= 180 / 3.14159265358979323846;
}

static affine affine_move(const double v[3], double sign)
{
    affine a = affine_identity();
    for (int k = 0; k < 3; k++) a.m[4 * k + 3] = sign * v[k];
    return a;
}

static affine affine_stretch(const double v[3])
{
    affine a = affine_identity();
    for (int k = 0; k < 3; k++) a.m[5 * k] = v[k];
    return a;
}

static affine affine_turn(const double rotation[4])
{
    affine_parts parts = affine_parts_identity();
    memcpy(parts.rotation, rotation, sizeof parts.rotation);
    return affine_compose(&parts);
}

affine_parts fbx_local(const fbx_transform *t, const double values[3][3], const double scale_above[3],
                       affine_parts *outer)
{
    double rotation[4], inverse[3];
    bool even = scale_above[0] == scale_above[1] && scale_above[1] == scale_above[2];
    bool shared = t->inherit == 0 && !even; /* an even scale above makes no difference */

    /* rotation between pre- and post-rotation */
    fbx_euler(values[1], t->order, rotation);
    rotation_multiply(t->pre, rotation, rotation);
    rotation_multiply(rotation, t->post_inverse, rotation);

    /* undo of the scale above */
    for (int k = 0; k < 3; k++)
        inverse[k] = (shared || t->inherit == 2) && fabs(scale_above[k]) > 1e-9 ? 1 / scale_above[k] : 1;

    /* what is outside of the rotation, then the rest */
    affine first = affine_move(values[0], 1), undone = affine_stretch(inverse);
    first = affine_multiply(&first, &undone);

    affine steps[9];
    int count = 0;

    /* the chain of pivots */
    steps[count++] = affine_move(t->rotation_offset, 1);
    steps[count++] = affine_move(t->rotation_pivot, 1);
    steps[count++] = affine_turn(rotation);
    steps[count++] = affine_move(t->rotation_pivot, -1);
    steps[count++] = affine_move(t->scaling_offset, 1);
    steps[count++] = affine_move(t->scaling_pivot, 1);
    if (shared) steps[count++] = affine_stretch(scale_above);
    steps[count++] = affine_stretch(values[2]);
    steps[count++] = affine_move(t->scaling_pivot, -1);

    /* multiply, and take apart */
    affine map = outer ? affine_identity() : first;
    for (int i = 0; i < count; i++) map = affine_multiply(&map, &steps[i]);
    if (outer) affine_decompose(&first, outer);

    affine_parts parts;
    affine_decompose(&map, &parts);
    return parts;
}

/* A small whole number; the fallback where a damaged file holds none. */
static int fbx_property_choice(const fbx_node *object, const char *name, int fallback)
{
    double value = fbx_property_number(object, name, fallback);
    return value >= 0 && value <= 100 ? (int)value : fallback;
}

/* defaults: the file's template of nodes, or NULL; what neither sets is as in Autodesk's SDK. */
static void transform_read(const fbx_node *object, const fbx_node *defaults, fbx_transform *t)
{
    /* translation, rotation, scale and the pivots */
    *t =
        (fbx_transform){.values = {{0, 0, 0}, {0, 0, 0}, {1, 1, 1}}, .pre = {0, 0, 0, 1}, .post_inverse = {0, 0, 0, 1}};
    fbx_property_vector(object, "Lcl Translation", t->values[0]);
    fbx_property_vector(object, "Lcl Rotation", t->values[1]);
    fbx_property_vector(object, "Lcl Scaling", t->values[2]);
    fbx_property_vector(object, "RotationOffset", t->rotation_offset);
    fbx_property_vector(object, "RotationPivot", t->rotation_pivot);
    fbx_property_vector(object, "ScalingOffset", t->scaling_offset);
    fbx_property_vector(object, "ScalingPivot", t->scaling_pivot);

    /* how the scale of the parent is inherited */
    t->inherit = fbx_property_choice(object, "InheritType", fbx_property_choice(defaults, "InheritType", 0));

    /* pre- and post-rotation and the order of angles count only while active */
    double active = fbx_property_number(defaults, "RotationActive", 0);
    if (fbx_property_number(object, "RotationActive", active) == 0) return;
    if (fbx_property_number(object, "RotationSpaceForLimitOnly", 0) != 0) return;

    /* both are XYZ angles, whatever the order of the rotation is */
    double angles[3] = {0, 0, 0};
    fbx_property_vector(object, "PreRotation", angles);
    fbx_euler(angles, 0, t->pre);

    memset(angles, 0, sizeof angles);
    fbx_property_vector(object, "PostRotation", angles);
    fbx_euler(angles, 0, t->post_inverse);
    rotation_conjugate(t->post_inverse, t->post_inverse);

    t->order = fbx_property_choice(object, "RotationOrder", 0);
}

/* ---- nodes ---- */

/* The template of models: what their properties are when they do not say. */
static const fbx_node *template_find(const fbx_reader *r)
{
    const fbx_node *definitions = fbx_child(r->file.root, "Definitions");
    for (const fbx_node *n = definitions ? definitions->first_child : NULL; n; n = n->next)
        if (strcmp(n->name, "ObjectType") == 0 && strcmp(fbx_text(n, 0, ""), "Model") == 0)
            return fbx_child(n, "PropertyTemplate");
    return NULL;
}

/* Whether the axes of a model's scale differ, or do so at some key. */
static bool scale_uneven(fbx_reader *r, int object)
{
    double scale[3] = {1, 1, 1};
    fbx_property_vector(r->objects[object].node, "Lcl Scaling", scale);
    if (fabs(scale[0] - scale[1]) > 1e-5 * fabs(scale[0]) || fabs(scale[0] - scale[2]) > 1e-5 * fabs(scale[0]))
        return true;

    /* animated: takes before version 7000, curves since */
    if (r->file.version < 7000) return fbx_take_uneven(r, object);
    int cursor = -2, node;
    const char *label;
    while ((node = fbx_next_child(r, object, "AnimationCurveNode", &cursor, &label)) >= 0) {
        if (!label || strcmp(label, "Lcl Scaling") != 0) continue;

        /* the curves of the three axes, key against key */
        int inner = -2, curve, first_count = -1, count;
        const double *first = NULL;
        while ((curve = fbx_next_child(r, node, "AnimationCurve", &inner, NULL)) >= 0) {
            const double *values = fbx_numbers(&r->file, fbx_child(r->objects[curve].node, "KeyValueFloat"), &count);
            for (int i = 0; first && i < count && count == first_count; i++)
                if (!(fabs(values[i] - first[i]) <= 1e-4 * fabs(first[i]))) return true;
            if (first && count != first_count) return true;

            first = values;
            first_count = count;
        }
    }
    return false;
}

/* Whether a node needs a helper that takes away what an uneven scale above would make a shear. */
static bool helper_needed(const fbx_transform *t, const int *parents, const bool *uneven, int object)
{
    if (t->inherit == 1 || parents[object] < 0) return false;
    if (t->inherit == 2) return uneven[parents[object]];
    for (int p = parents[object]; p >= 0; p = parents[p])
        if (uneven[p]) return true;
    return false;
}

/* All models, parents before children. */
static cutis_result nodes_read(fbx_reader *r)
{
    int capacity = r->object_count;

    int *parents = fbx_allocate(&r->file, (size_t)capacity + 1, sizeof *parents);
    int *depths = fbx_allocate(&r->file, (size_t)capacity + 1, sizeof *depths);
    bool *uneven = fbx_allocate(&r->file, (size_t)capacity + 1, sizeof *uneven);

    /* room for nodes and helpers */
    size_t most = 2 * (size_t)capacity + 1; /* each may have a helper */
    r->node_objects = fbx_allocate(&r->file, most, sizeof *r->node_objects);
    r->transforms = fbx_allocate(&r->file, most, sizeof *r->transforms);
    r->helpers = fbx_allocate(&r->file, most, sizeof *r->helpers);
    r->is_helper = fbx_allocate(&r->file, most, sizeof *r->is_helper);
    r->s.nodes = fbx_allocate(&r->file, most, sizeof *r->s.nodes);
    if (!parents || !depths || !uneven || !r->node_objects || !r->transforms || !r->helpers || !r->is_helper ||
        !r->s.nodes)
        return fbx_error_memory(&r->file);
    for (int i = 0; i < capacity; i++) parents[i] = -1;

    /* the first parent counts */
    for (int i = 0; i < capacity; i++) {
        if (strcmp(r->objects[i].node->name, "Model") != 0) continue;
        int cursor = -2, child;
        while ((child = fbx_next_child(r, i, "Model", &cursor, NULL)) >= 0)
            if (parents[child] < 0 && child != i) parents[child] = i;
    }

    /* the depth of each; a way up that is longer than there are models is a circle, which is cut */
    int deepest = 0;
    for (int i = 0; i < capacity; i++) {
        for (int p = parents[i]; p >= 0; p = parents[p])
            if (++depths[i] > MIN(capacity, 2000))
                return fbx_error(&r->file, CUTIS_ERROR_FORMAT, "model '%.60s' is its own ancestor", r->objects[i].name);
        deepest = MAX(deepest, depths[i]);
    }

    /* breadth first keeps siblings in the file's order */
    const fbx_node *defaults = template_find(r);
    for (int i = 0; i < capacity; i++)
        if (strcmp(r->objects[i].node->name, "Model") == 0) uneven[i] = scale_uneven(r, i);
    for (int depth = 0; depth <= deepest; depth++)
        for (int i = 0; i < capacity; i++) {
            fbx_object *object = &r->objects[i];
            if (depths[i] != depth || strcmp(object->node->name, "Model") != 0) continue;
            int parent = parents[i] >= 0 ? r->objects[parents[i]].index : -1, helper = -1;

            fbx_transform transform;
            transform_read(object->node, defaults, &transform);

            /* a helper node where the scale above is uneven */
            if (helper_needed(&transform, parents, uneven, i)) {
                helper = r->s.node_count++;
                r->node_objects[helper] = i;
                r->helpers[helper] = -1;
                r->is_helper[helper] = true;
                r->transforms[helper] = (fbx_transform){.inherit = 1};
                r->s.nodes[helper] =
                    (scene_node){.name = arena_format(&r->file.memory, "%s_scale", object->name), .parent = parent};
                if (!r->s.nodes[helper].name) return fbx_error_memory(&r->file);
                parent = helper;
            }

            int index = r->s.node_count++;
            object->index = index;
            r->node_objects[index] = i;
            r->helpers[index] = helper;
            r->transforms[index] = transform;

            r->s.nodes[index] = (scene_node){
                .name = object->name,
                .parent = parent,
                .is_bone = strcmp(object->subtype, "LimbNode") == 0 || strcmp(object->subtype, "Limb") == 0 ||
                           strcmp(object->subtype, "Root") == 0,
            };

            /* its transform at rest */
            double above[3];
            fbx_scale_above(r, index, NULL, 0, above);
            r->s.nodes[index].local =
                fbx_local(&transform, transform.values, above, helper >= 0 ? &r->s.nodes[helper].local : NULL);
        }
    return CUTIS_OK;
}

/* ---- axes and unit ---- */

static void settings_read(fbx_reader *r)
{
    const fbx_node *settings = fbx_child(r->file.root, "GlobalSettings");
    if (!settings) settings = fbx_child(fbx_child(r->file.root, "Objects"), "GlobalSettings");

    /* the unit, in metres */
    double unit = fbx_property_number(settings, "UnitScaleFactor", 1) / 100;
    r->s.unit = unit > 1e-9 && unit < 1e9 ? unit : 0.01;

    /* rows: where x and y of the character come from; z follows */
    int up = fbx_property_choice(settings, "UpAxis", 1);
    int side = fbx_property_choice(settings, "CoordAxis", 0);

    if (up < 0 || up > 2) up = 1;
    if (side < 0 || side > 2 || side == up) side = (up + 2) % 3;
    affine map = {{0}};

    map.m[side] = fbx_property_number(settings, "CoordAxisSign", 1) < 0 ? -1 : 1;
    map.m[4 + up] = fbx_property_number(settings, "UpAxisSign", 1) < 0 ? -1 : 1;
    for (int k = 0; k < 3; k++)
        map.m[8 + k] = map.m[(k + 1) % 3] * map.m[4 + (k + 2) % 3] - map.m[(k + 2) % 3] * map.m[4 + (k + 1) % 3];

    affine_parts parts;
    affine_decompose(&map, &parts);
    memcpy(r->s.turn, parts.rotation, sizeof r->s.turn);
}

cutis_result fbx_character_read(const void *data, size_t size, const char *path, bool motion_only, bool external,
                                const cutis_allocator *allocator, cutis_character **character, cutis_error *error)
{
    fbx_reader r = {.object_count = 0};
    cutis_result result = fbx_parse(&r.file, data, size, path, allocator, error);

    /* what the reader and the scene share */
    r.warnings.memory = &r.file.memory;
    r.s.name = r.file.name;
    r.s.memory = &r.file.memory;
    r.s.warnings = &r.warnings;
    r.s.error = error;
    r.s.motion_only = motion_only;

    /* objects and links, nodes, then what hangs on them */
    if (result == CUTIS_OK) result = objects_list(&r);
    if (result == CUTIS_OK) result = links_list(&r);
    if (result == CUTIS_OK) result = nodes_read(&r);
    if (result == CUTIS_OK) settings_read(&r);
    if (result == CUTIS_OK) result = fbx_read_meshes(&r);
    if (result == CUTIS_OK) result = fbx_read_clips(&r);
    if (result == CUTIS_OK && !motion_only) result = fbx_read_materials(&r, external ? path : NULL);
    if (result == CUTIS_OK) result = scene_build(&r.s, path, allocator, character);

    fbx_destroy(&r.file);
    return result;
}
