/*
 * contact_prop.c: rigid animated colliders: meshes and primitives that move with a node of the skeleton. A solver that
 * does not move free props takes them as colliders, too.
 *
 * A point meets a prop as a plane at the prop's nearest surface point, carried to the end of the substep: from
 * the signed distance at the end, or, when the point would be swept right through, from where its way (in the
 * prop's own space, so that fast props count too) first enters. Points of the skin against the prop's faces only:
 * a prop's edge between two skin points may dent less than it should by the sag of one triangle.
 */
#include "contact/contact.h"

/* Whether a prop goes where its node goes, and nowhere else. */
static bool is_driven(const cutis_prop *prop, contact_roles roles)
{
    return roles == CONTACT_ALL_PROPS || prop->role == CUTIS_PROP_COLLIDER;
}

cutis_result contact_props_build(contact_props *props, const cutis_character *character, contact_roles roles,
                                 float scale, const float origin[3], float friction, float restitution, arena *memory,
                                 cutis_error *error)
{
    *props = (contact_props){.scale = scale, .origin = {origin[0], origin[1], origin[2]}};
    for (int i = 0; i < character->prop_count; i++) props->count += is_driven(&character->props[i], roles);
    if (props->count == 0) return CUTIS_OK;
    props->props = ARENA_ARRAY(memory, contact_prop, props->count);
    if (!props->props) return error_memory(error, "the props");

    /* its own friction and restitution, or the skin's */
    int at = 0;
    for (int i = 0; i < character->prop_count; i++) {
        const cutis_prop *source = character->props + i;
        if (!is_driven(source, roles)) continue;
        contact_prop *prop = props->props + at++;
        prop->source = source;
        prop->friction = source->friction >= 0 ? source->friction : friction;
        prop->restitution = source->restitution >= 0 ? source->restitution : restitution;

        /* a mesh has a tree */
        if (source->shape != CUTIS_PROP_MESH) continue;
        cutis_result result = mesh_build(&prop->mesh, source->vertex_count, source->positions, source->triangle_count,
                                         source->triangles, memory, error);
        if (result == CUTIS_OK && source->triangle_count > 0)
            result = bvh_build(&prop->tree, source->triangle_count, prop->mesh.triangles, prop->mesh.positions, memory,
                               error);
        if (result != CUTIS_OK) return result;
    }

    return CUTIS_OK;
}

static float sphere_distance(vec3 p, float radius, vec3 *normal)
{
    float length = vec3_length(p);
    *normal = length > 0 ? vec3_scale(p, 1 / length) : vec3_make(0, 1, 0);
    return length - radius;
}

static float box_distance(vec3 p, const float half[3], vec3 *normal)
{
    float x[3] = {p.x, p.y, p.z}, n[3] = {0, 0, 0}, outside[3], length2 = 0, best = -1e30f;
    int axis = 0;

    for (int k = 0; k < 3; k++) {
        float d = fabsf(x[k]) - half[k];
        outside[k] = MAX(d, 0);
        length2 += outside[k] * outside[k];
        if (d > best) {
            best = d;
            axis = k;
        }
    }

    /* outside: the nearest point lies on a face, an edge or a corner */
    if (length2 > 0) {
        float length = sqrtf(length2);
        for (int k = 0; k < 3; k++) n[k] = (x[k] < 0 ? -outside[k] : outside[k]) / length;
        *normal = vec3_load(n);
        return length;
    }

    /* inside: out through the nearest face */
    n[axis] = x[axis] < 0 ? -1.0f : 1.0f;
    *normal = vec3_load(n);
    return best;
}

/* The sign is that of the nearest face; at an edge or corner, of the mean normal of the faces there. */
static float mesh_distance(const contact_prop *prop, vec3 p, float max_distance, vec3 *normal)
{
    if (prop->tree.triangle_count == 0) return max_distance;
    bvh_hit hit = bvh_closest(&prop->tree, prop->mesh.positions, p, max_distance);
    if (hit.triangle < 0) return max_distance;

    /* mean normal of the faces around the nearest point */
    const int *c = prop->mesh.triangles + 3 * hit.triangle;
    float weights[3] = {1 - hit.u - hit.v, hit.u, hit.v};
    vec3 mean = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        if (weights[k] <= 1e-5f) continue;
        for (int i = prop->mesh.point_triangle_first[c[k]]; i < prop->mesh.point_triangle_first[c[k] + 1]; i++) {
            const int *t = prop->mesh.triangles + 3 * prop->mesh.point_triangles[i];

            /* Faces that hold all corners the nearest point leans on. */
            bool holds = true;
            for (int j = 0; j < 3; j++)
                holds = holds && (weights[j] <= 1e-5f || t[0] == c[j] || t[1] == c[j] || t[2] == c[j]);
            if (!holds) continue;

            vec3 a = vec3_load(prop->mesh.positions + 3 * t[0]), b = vec3_load(prop->mesh.positions + 3 * t[1]);
            vec3 d = vec3_load(prop->mesh.positions + 3 * t[2]);
            mean = vec3_add(mean, vec3_normalize(vec3_cross(vec3_sub(b, a), vec3_sub(d, a))));
        }
    }

    /* the sign from the side of that normal */
    vec3 away = vec3_sub(p, hit.point);
    float length = vec3_length(away);
    bool inside = vec3_dot(away, mean) < 0;
    *normal = length > 1e-9f ? vec3_scale(away, (inside ? -1 : 1) / length) : vec3_normalize(mean);
    return inside ? -length : length;
}

float contact_prop_distance(const contact_prop *prop, vec3 p, float max_distance, vec3 *normal)
{
    const float *size = prop->source->size;
    switch (prop->source->shape) {
    case CUTIS_PROP_PLANE:
        *normal = vec3_make(0, 1, 0);
        return p.y;
    case CUTIS_PROP_SPHERE:
        return sphere_distance(p, size[0], normal);
    case CUTIS_PROP_CAPSULE:
        return sphere_distance(vec3_make(p.x, p.y - CLAMP(p.y, -size[1], size[1]), p.z), size[0], normal);
    case CUTIS_PROP_BOX:
        return box_distance(p, size, normal);
    case CUTIS_PROP_MESH:
        break;
    }
    return mesh_distance(prop, p, max_distance, normal);
}

/* Time of the first entry on the way from a to b, both in the prop's space; 2 when there is none. */
static float prop_entry(const contact_prop *prop, vec3 a, vec3 b, float skin, vec3 *normal)
{
    vec3 way = vec3_sub(b, a);
    float length = vec3_length(way);

    /* a mesh: the first crossing from outside */
    if (prop->source->shape == CUTIS_PROP_MESH) {
        if (prop->tree.triangle_count == 0 || !(length > 0)) return 2;
        bvh_hit hit = bvh_ray(&prop->tree, prop->mesh.positions, a, way, 0, 1);
        if (hit.triangle < 0) return 2;
        const int *c = prop->mesh.triangles + 3 * hit.triangle;
        vec3 p = vec3_load(prop->mesh.positions + 3 * c[0]), q = vec3_load(prop->mesh.positions + 3 * c[1]);
        vec3 r = vec3_load(prop->mesh.positions + 3 * c[2]);
        *normal = vec3_normalize(vec3_cross(vec3_sub(q, p), vec3_sub(r, p)));
        return vec3_dot(*normal, way) < 0 ? hit.distance : 2; /* leaving is free */
    }

    /* Sphere tracing: distances of primitives are exact. */
    float t = 0;
    for (int step = 0; step < 32; step++) {
        float d = contact_prop_distance(prop, vec3_madd(a, way, t), 1e30f, normal);
        if (d < skin) return t;
        t += d / length;
        if (!(t < 1)) return 2;
    }
    return t;
}

static mat34 prop_pose(const contact_props *props, const contact_prop *prop, const float *joints)
{
    mat34 pose = mat34_identity();
    if (prop->source->joint >= 0)
        for (int i = 0; i < 12; i++) pose.m[i] = joints[12 * prop->source->joint + i];

    /* To the caller's units. */
    for (int row = 0; row < 3; row++) {
        pose.m[4 * row + 3] -= props->origin[row];
        for (int k = 0; k < 4; k++) pose.m[4 * row + k] *= props->scale;
    }
    return pose;
}

/* A plane's normal goes with the inverse transpose. */
static vec3 normal_to_scene(const mat34 *inverse, vec3 n)
{
    const float *m = inverse->m;
    return vec3_normalize(vec3_make(m[0] * n.x + m[4] * n.y + m[8] * n.z, m[1] * n.x + m[5] * n.y + m[9] * n.z,
                                    m[2] * n.x + m[6] * n.y + m[10] * n.z));
}

contact_prop_place contact_prop_locate(const contact_props *props, int index, const float *joints)
{
    contact_prop_place place = {.unit = 0};
    if (mat34_inverse(prop_pose(props, &props->props[index], joints), &place.inverse))
        place.unit = vec3_length(mat34_vector(place.inverse.m, vec3_make(0.57735f, 0.57735f, 0.57735f)));
    return place;
}

float contact_prop_near(const contact_prop *prop, const contact_prop_place *place, vec3 x, float max_distance,
                        vec3 *normal)
{
    if (!(place->unit > 0)) return max_distance;
    vec3 own = mat34_point(place->inverse.m, x);
    float d = contact_prop_distance(prop, own, max_distance * place->unit, normal);
    *normal = normal_to_scene(&place->inverse, *normal);
    return d / place->unit;
}

int contact_props_search(const contact_props *props, const float *joints_old, const float *joints, double h,
                         int point_count, const float *start, const float *end, float margin, float thickness,
                         contact_plane *planes, int capacity)
{
    int count = 0;

    for (int i = 0; i < props->count; i++) {
        const contact_prop *prop = props->props + i;
        mat34 before = prop_pose(props, prop, joints_old), after = prop_pose(props, prop, joints), to_before, to_after;
        if (!mat34_inverse(before, &to_before) || !mat34_inverse(after, &to_after)) continue;

        /* Lengths in the prop's space over the caller's. */
        float unit = vec3_length(mat34_vector(to_after.m, vec3_make(0.57735f, 0.57735f, 0.57735f)));

        for (int p = 0; p < point_count && count < capacity; p++) {
            vec3 a = mat34_point(to_before.m, vec3_load(start + 3 * p));
            vec3 b = mat34_point(to_after.m, vec3_load(end + 3 * p));
            vec3 normal, contact = b;

            /* near the prop at the start */
            float reach = margin * unit + vec3_distance(a, b);
            float d0 = contact_prop_distance(prop, a, 2 * reach, &normal);
            if (d0 >= 2 * reach) continue;
            float d1 = contact_prop_distance(prop, b, 2 * reach, &normal);

            /* the place of entry when it passed through, else the nearest point */
            vec3 entry_normal;
            float t = d0 > 0 ? prop_entry(prop, a, b, 1e-4f * thickness * unit, &entry_normal) : 2;
            if (t <= 1 && (d1 > 0 || vec3_dot(normal, entry_normal) < 0.5f)) {
                contact = vec3_lerp(a, b, t);
                normal = entry_normal;
            } else if (d1 < margin * unit)
                contact = vec3_madd(b, normal, -d1);
            else
                continue;

            vec3 world = normal_to_scene(&to_after, normal);

            vec3 place = mat34_point(after.m, contact);
            vec3 velocity = vec3_scale(vec3_sub(place, mat34_point(before.m, contact)), (float)(1 / h));
            planes[count++] = (contact_plane){.point = p,
                                              .normal = world,
                                              .offset = vec3_dot(world, place) + thickness,
                                              .velocity = velocity,
                                              .friction = prop->friction,
                                              .restitution = prop->restitution};
        }
    }

    return count;
}
