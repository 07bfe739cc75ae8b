/*
 * fbx_mesh.c: meshes, clusters and blend shapes of an FBX file.
 *
 * Since version 7000 a Geometry hangs below its Model and carries deformers; before, the Model is the geometry itself,
 * and blend shapes stand in it. A skinned geometry that several models show is taken once.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "io/fbx/fbx_scene.h"

/* ---- polygons ---- */

static cutis_result mesh_polygons(fbx_reader *r, const fbx_node *geometry, scene_mesh *mesh, int **corner_places)
{
    int value_count, index_count;

    const double *values = fbx_numbers(&r->file, fbx_child(geometry, "Vertices"), &value_count);
    const double *indices = fbx_numbers(&r->file, fbx_child(geometry, "PolygonVertexIndex"), &index_count);

    mesh->vertex_count = value_count / 3;
    mesh->positions = values;
    for (int i = 0; i < 3 * mesh->vertex_count; i++)
        if (!(fabs(values[i]) < 1e30))
            return fbx_error(&r->file, CUTIS_ERROR_DATA, "vertex %d of '%.60s' has a position that is not finite",
                             i / 3, mesh->name);

    int *face_first = fbx_allocate(&r->file, (size_t)index_count + 2, sizeof(int));
    int *corners = fbx_allocate(&r->file, (size_t)index_count + 1, sizeof(int));
    *corner_places = fbx_allocate(&r->file, (size_t)index_count + 1, sizeof(int));
    int *face_polygons = fbx_allocate(&r->file, (size_t)index_count + 1, sizeof(int));
    if (!face_first || !corners || !*corner_places || !face_polygons) return fbx_error_memory(&r->file);

    /* a negative index ends a polygon; points and lines are left out */
    int used = 0, start = 0, polygon = 0, dropped = 0;
    for (int i = 0; i < index_count; i++) {
        double index = indices[i] < 0 ? -1 - indices[i] : indices[i];
        if (!(index < mesh->vertex_count))
            return fbx_error(&r->file, CUTIS_ERROR_FORMAT,
                             "a polygon of '%.60s' uses vertex %.0f, but there are only %d", mesh->name, index,
                             mesh->vertex_count);

        corners[used] = (int)index;
        (*corner_places)[used++] = i;
        if (indices[i] >= 0) continue;

        if (used - start >= 3) {
            face_polygons[mesh->face_count] = polygon;
            face_first[mesh->face_count++] = start;
        } else {
            used = start;
            dropped++;
        }
        start = used;
        polygon++;
    }

    face_first[mesh->face_count] = start;
    if (dropped)
        warning_add(&r->warnings, "%d polygons of '%.60s' have fewer than 3 corners and are ignored", dropped,
                    mesh->name);

    mesh->face_first = face_first;
    mesh->corners = corners;
    mesh->face_materials = face_polygons; /* until materials are read */
    return CUTIS_OK;
}

/* Texture coordinates of the first set, by corner. */
static cutis_result mesh_texcoords(fbx_reader *r, const fbx_node *geometry, scene_mesh *mesh, const int *corner_places)
{
    /* the layer's values, its indices and how they map to the mesh */
    const fbx_node *layer = fbx_child(geometry, "LayerElementUV");
    if (!layer) return CUTIS_OK;
    int value_count, index_count;
    const double *values = fbx_numbers(&r->file, fbx_child(layer, "UV"), &value_count);
    const double *indices = fbx_numbers(&r->file, fbx_child(layer, "UVIndex"), &index_count);

    bool by_vertex = strncmp(fbx_text(fbx_child(layer, "MappingInformationType"), 0, ""), "ByVert", 6) == 0;
    bool direct = strcmp(fbx_text(fbx_child(layer, "ReferenceInformationType"), 0, ""), "Direct") == 0;

    /* without values there is nothing to map */
    int corner_count = mesh->face_first[mesh->face_count];
    if (value_count < 2 || corner_count == 0) return CUTIS_OK;

    float *texcoords = fbx_allocate(&r->file, 2 * (size_t)corner_count, sizeof(float));
    if (!texcoords) return fbx_error_memory(&r->file);

    /* the value of each corner; v points up in FBX, down here */
    for (int c = 0; c < corner_count; c++) {
        int at = by_vertex ? mesh->corners[c] : corner_places[c];
        double index = direct || !indices ? at : at < index_count ? indices[at] : -1;

        if (!(index >= 0 && 2 * index + 1 < value_count)) continue;
        double u = values[2 * (int)index], v = values[2 * (int)index + 1];
        texcoords[2 * c] = fabs(u) < 1e30 ? (float)u : 0;
        texcoords[2 * c + 1] = fabs(v) < 1e30 ? (float)(1 - v) : 0;
    }

    mesh->texcoords = texcoords;
    return CUTIS_OK;
}

static cutis_result mesh_materials(fbx_reader *r, const fbx_node *geometry, int model, scene_mesh *mesh)
{
    int count = 0, cursor = -2, material;
    while ((material = fbx_next_child(r, model, "Material", &cursor, NULL)) >= 0) count++;

    const char **names = fbx_allocate(&r->file, (size_t)count + 1, sizeof *names);
    int *face_materials = fbx_allocate(&r->file, (size_t)mesh->face_count + 1, sizeof(int));
    if (!names || !face_materials) return fbx_error_memory(&r->file);

    /* names of the model's materials */
    cursor = -2;
    while ((material = fbx_next_child(r, model, "Material", &cursor, NULL)) >= 0)
        names[mesh->material_count++] = r->objects[material].name;

    /* a material for each polygon, or one for all */
    const fbx_node *layer = fbx_child(geometry, "LayerElementMaterial");
    int index_count;
    const double *indices = fbx_numbers(&r->file, fbx_child(layer, "Materials"), &index_count);
    bool by_polygon = strcmp(fbx_text(fbx_child(layer, "MappingInformationType"), 0, ""), "ByPolygon") == 0;

    for (int f = 0; f < mesh->face_count; f++) {
        int polygon = by_polygon ? mesh->face_materials[f] : 0;
        double index = polygon < index_count ? indices[polygon] : 0;
        face_materials[f] = index >= 0 && index < count ? (int)index : -1;
    }

    mesh->materials = names;
    mesh->face_materials = face_materials;
    return CUTIS_OK;
}

/* ---- skin ---- */

static affine matrix_read(fbx_reader *r, const fbx_node *node)
{
    int count;
    const double *m = fbx_numbers(&r->file, node, &count);
    affine map = affine_identity();
    for (int i = 0; i < 3 && count == 16; i++)
        for (int j = 0; j < 4; j++) map.m[4 * i + j] = fabs(m[4 * j + i]) < 1e30 ? m[4 * j + i] : 0;
    return map;
}

static cutis_result cluster_read(fbx_reader *r, int object, const scene_mesh *mesh, scene_cluster *cluster)
{
    /* vertices and weights of one bone */
    const fbx_node *node = r->objects[object].node;
    int cursor = -2, index_count, weight_count;
    int bone = fbx_next_child(r, object, "Model", &cursor, NULL);
    const double *indices = fbx_numbers(&r->file, fbx_child(node, "Indexes"), &index_count);
    const double *weights = fbx_numbers(&r->file, fbx_child(node, "Weights"), &weight_count);

    /* matrices at the time of binding */
    affine to_bone = matrix_read(r, fbx_child(node, "Transform"));
    *cluster = (scene_cluster){.node = bone >= 0 ? r->objects[bone].index : -1,
                               .to_bone = affine_multiply(&to_bone, &mesh->to_node),
                               .bound = matrix_read(r, fbx_child(node, "TransformLink"))};
    if (cluster->node < 0) return CUTIS_OK;

    /* weights of 0 are dropped, vertices outside of the mesh are an error */
    int count = MIN(index_count, weight_count);
    int *vertices = fbx_allocate(&r->file, (size_t)count + 1, sizeof(int));
    double *kept = fbx_allocate(&r->file, (size_t)count + 1, sizeof(double));
    if (!vertices || !kept) return fbx_error_memory(&r->file);

    for (int i = 0; i < count; i++) {
        if (!(indices[i] >= 0 && indices[i] < mesh->vertex_count))
            return fbx_error(&r->file, CUTIS_ERROR_FORMAT, "cluster '%.60s' uses vertex %.0f, but there are only %d",
                             r->objects[object].name, indices[i], mesh->vertex_count);
        if (!(weights[i] > 0 && weights[i] < 1e6)) continue;

        vertices[cluster->count] = (int)indices[i];
        kept[cluster->count++] = weights[i];
    }

    cluster->vertices = vertices;
    cluster->weights = kept;
    return CUTIS_OK;
}

static cutis_result mesh_clusters(fbx_reader *r, int owner, scene_mesh *mesh)
{
    /* an upper bound of the clusters, for the memory */
    int capacity = 0, cursor = -2, skin;
    while ((skin = fbx_next_child(r, owner, "Deformer", &cursor, NULL)) >= 0) {
        int inner = -2;
        while (fbx_next_child(r, skin, "Deformer", &inner, NULL) >= 0) capacity++;
    }
    scene_cluster *clusters = fbx_allocate(&r->file, (size_t)capacity + 1, sizeof *clusters);
    if (!clusters) return fbx_error_memory(&r->file);

    /* clusters of skin deformers that move something */
    cursor = -2;
    while ((skin = fbx_next_child(r, owner, "Deformer", &cursor, NULL)) >= 0) {
        int inner = -2, object;
        if (strcmp(r->objects[skin].subtype, "Skin") != 0) continue;
        while ((object = fbx_next_child(r, skin, "Deformer", &inner, NULL)) >= 0) {
            if (strcmp(r->objects[object].subtype, "Cluster") != 0) continue;
            scene_cluster *cluster = &clusters[mesh->cluster_count];
            cutis_result result = cluster_read(r, object, mesh, cluster);
            if (result != CUTIS_OK) return result;
            if (cluster->node >= 0 && cluster->count) mesh->cluster_count++;
        }
    }

    mesh->clusters = clusters;
    return CUTIS_OK;
}

/* ---- blend shapes ---- */

static cutis_result shape_read(fbx_reader *r, const fbx_node *shape, const scene_mesh *mesh, scene_morph *morph)
{
    int index_count, value_count;

    const double *indices = fbx_numbers(&r->file, fbx_child(shape, "Indexes"), &index_count);
    const double *deltas = fbx_numbers(&r->file, fbx_child(shape, "Vertices"), &value_count);
    int count = MIN(index_count, value_count / 3);

    int *vertices = fbx_allocate(&r->file, (size_t)count + 1, sizeof(int));
    if (!vertices) return fbx_error_memory(&r->file);

    /* vertices that exist, at finite places */
    for (int i = 0; i < count; i++) {
        bool finite = true;
        for (int k = 0; k < 3; k++) finite = finite && fabs(deltas[3 * i + k]) < 1e30;
        if (!(indices[i] >= 0 && indices[i] < mesh->vertex_count) || !finite)
            return fbx_error(&r->file, CUTIS_ERROR_FORMAT, "blend shape '%.60s' uses a vertex that does not exist",
                             morph->name);

        vertices[i] = (int)indices[i];
    }

    morph->count = count;
    morph->vertices = vertices;
    morph->deltas = deltas;
    return CUTIS_OK;
}

const fbx_shape *fbx_channel_shapes(fbx_reader *r, int channel, int *count)
{
    int cursor = -2, object, found = 0, weight_count;

    *count = 0;
    while (fbx_next_child(r, channel, "Geometry", &cursor, NULL) >= 0) found++;

    const double *full = fbx_numbers(&r->file, fbx_child(r->objects[channel].node, "FullWeights"), &weight_count);
    fbx_shape *shapes = found ? fbx_allocate(&r->file, (size_t)found, sizeof *shapes) : NULL;
    if (!shapes) return NULL;

    /* each with its full weight */
    cursor = -2;
    bool rising = weight_count >= found;

    while ((object = fbx_next_child(r, channel, "Geometry", &cursor, NULL)) >= 0) {
        double weight = *count < weight_count ? full[*count] : 100;
        rising &= weight > (*count ? shapes[*count - 1].full : 0) && weight < 1e6;
        shapes[(*count)++] = (fbx_shape){object, weight};
    }
    if (rising) return shapes;

    /* without weights that make sense: the last shape, at 100 % */
    shapes[0] = (fbx_shape){shapes[found - 1].object, 100};
    *count = 1;
    return shapes;
}

double fbx_shape_weight(const fbx_shape *shapes, int count, int shape, double percent)
{
    /* rises from the shape before, falls to the one behind; the first and the last go on outside */
    double here = shapes[shape].full, before = shape ? shapes[shape - 1].full : 0;
    if (shape && percent <= before) return 0;
    if (percent <= here) return (percent - before) / (here - before);
    if (shape + 1 == count) return percent / here;
    double after = shapes[shape + 1].full;
    return percent >= after ? 0 : (after - percent) / (after - here);
}

/* Since version 7000: BlendShape, its channels, the shapes of each. */
static cutis_result channels_read(fbx_reader *r, int owner, scene_mesh *mesh, scene_morph *morphs, int capacity)
{
    int cursor = -2, blend;

    while ((blend = fbx_next_child(r, owner, "Deformer", &cursor, NULL)) >= 0) {
        int inner = -2, channel;
        if (strcmp(r->objects[blend].subtype, "BlendShape") != 0) continue;
        while ((channel = fbx_next_child(r, blend, "Deformer", &inner, NULL)) >= 0) {
            /* shapes of a channel; all but the last are in-betweens */
            int count;
            const fbx_shape *shapes = fbx_channel_shapes(r, channel, &count);
            if (!shapes || mesh->morph_count + count > capacity) continue;

            /* the weight at rest, in percent */
            const fbx_node *node = r->objects[channel].node;
            double percent = fbx_number(fbx_child(node, "DeformPercent"), 0, 0);
            percent = fbx_property_number(node, "DeformPercent", percent);
            r->objects[channel].index = mesh->morph_count;

            /* a morph target for each; in-betweens are named after the percentage at which they are full */
            for (int k = 0; k < count; k++) {
                scene_morph *morph = &morphs[mesh->morph_count++];
                *morph = (scene_morph){.name = r->objects[channel].name};
                if (!*morph->name) morph->name = r->objects[shapes[count - 1].object].name;
                if (k + 1 < count)
                    morph->name = arena_format(&r->file.memory, "%.200s at %g %%", morph->name, shapes[k].full);
                if (!morph->name) return fbx_error_memory(&r->file);

                morph->weight = fabs(percent) < 1e6 ? fbx_shape_weight(shapes, count, k, percent) : 0;
                cutis_result result = shape_read(r, r->objects[shapes[k].object].node, mesh, morph);
                if (result != CUTIS_OK) return result;
            }
        }
    }
    return CUTIS_OK;
}

static cutis_result mesh_morphs(fbx_reader *r, const fbx_node *geometry, int owner, scene_mesh *mesh)
{
    /* an upper bound of the shapes, for the memory */
    int capacity = 0, cursor = -2, blend;
    for (const fbx_node *n = geometry->first_child; n; n = n->next) capacity += strcmp(n->name, "Shape") == 0;
    while ((blend = fbx_next_child(r, owner, "Deformer", &cursor, NULL)) >= 0) {
        int inner = -2, channel;
        while ((channel = fbx_next_child(r, blend, "Deformer", &inner, NULL)) >= 0) {
            int below = -2;
            while (fbx_next_child(r, channel, "Geometry", &below, NULL) >= 0) capacity++;
        }
    }

    scene_morph *morphs = fbx_allocate(&r->file, (size_t)capacity + 1, sizeof *morphs);
    if (!morphs) return fbx_error_memory(&r->file);
    mesh->morphs = morphs;

    /* before version 7000 shapes are children of the geometry */
    for (const fbx_node *n = geometry->first_child; n; n = n->next) {
        if (strcmp(n->name, "Shape") != 0) continue;
        scene_morph *morph = &morphs[mesh->morph_count];
        *morph = (scene_morph){.name = fbx_text(n, 0, "")};

        double percent = fbx_property_number(geometry, morph->name, 0);
        morph->weight = fabs(percent) < 1e6 ? percent / 100 : 0;
        cutis_result result = shape_read(r, n, mesh, morph);
        if (result != CUTIS_OK) return result;

        mesh->morph_count++;
    }
    return channels_read(r, owner, mesh, morphs, capacity);
}

/* ---- meshes ---- */

static affine geometric_read(const fbx_node *model)
{
    fbx_transform t = {.pre = {0, 0, 0, 1}, .post_inverse = {0, 0, 0, 1}, .inherit = 1};
    double values[3][3] = {{0, 0, 0}, {0, 0, 0}, {1, 1, 1}}, one[3] = {1, 1, 1};
    fbx_property_vector(model, "GeometricTranslation", values[0]);
    fbx_property_vector(model, "GeometricRotation", values[1]);
    fbx_property_vector(model, "GeometricScaling", values[2]);
    affine_parts parts = fbx_local(&t, (const double(*)[3])values, one, NULL);
    return affine_compose(&parts);
}

/* owner: the object that carries the deformers, the geometry or (before 7000) the model. */
static cutis_result mesh_read(fbx_reader *r, const fbx_node *geometry, int owner, int model, scene_mesh *mesh)
{
    int *corner_places = NULL;
    *mesh = (scene_mesh){.name = r->objects[model].name,
                         .node = r->objects[model].index,
                         .to_node = geometric_read(r->objects[model].node)};
    cutis_result result = mesh_polygons(r, geometry, mesh, &corner_places);
    if (result == CUTIS_OK) result = mesh_texcoords(r, geometry, mesh, corner_places);
    if (result == CUTIS_OK) result = mesh_materials(r, geometry, model, mesh);
    if (result == CUTIS_OK) result = mesh_clusters(r, owner, mesh);
    if (result == CUTIS_OK) result = mesh_morphs(r, geometry, owner, mesh);
    return result;
}

/* Whether a node is not shown: hidden by itself or by one above, or a coarser level of detail than the first. */
static bool node_hidden(const fbx_reader *r, int node)
{
    for (int n = node; n >= 0; n = r->s.nodes[n].parent) {
        const fbx_node *model = r->objects[r->node_objects[n]].node;
        bool own = n == node || fbx_property_number(model, "Visibility Inheritance", 1) != 0;
        if (own && fbx_property_number(model, "Visibility", 1) <= 0) return true;
        if (fbx_property_number(model, "Show", 1) == 0 && n == node) return true;

        /* of several levels of detail the first */
        int parent = r->s.nodes[n].parent;
        if (parent < 0 || strcmp(r->objects[r->node_objects[parent]].subtype, "LodGroup") != 0) continue;
        int cursor = -2;
        if (fbx_next_child(r, r->node_objects[parent], "Model", &cursor, NULL) != r->node_objects[n]) return true;
    }

    return false;
}

static bool node_has_polygons(const fbx_reader *r, int node)
{
    int model = r->node_objects[node], cursor = -2, geometry;
    if (r->is_helper[node]) return false;
    if (fbx_child(r->objects[model].node, "PolygonVertexIndex")) return true;
    while ((geometry = fbx_next_child(r, model, "Geometry", &cursor, NULL)) >= 0)
        if (fbx_child(r->objects[geometry].node, "PolygonVertexIndex")) return true;
    return false;
}

cutis_result fbx_read_meshes(fbx_reader *r)
{
    /* what is hidden is left out, unless everything is */
    int hidden = 0, shown = 0;
    for (int n = 0; n < r->s.node_count; n++) {
        if (!node_has_polygons(r, n)) continue;
        if (node_hidden(r, n))
            hidden++;
        else
            shown++;
    }

    bool leave_out = hidden > 0 && shown > 0;
    if (leave_out) warning_add(&r->warnings, "%d meshes are hidden in the file and are ignored", hidden);

    /* meshes of each node that is shown */
    r->s.meshes = fbx_allocate(&r->file, (size_t)r->object_count + (size_t)r->link_count + 1, sizeof(scene_mesh));
    if (!r->s.meshes) return fbx_error_memory(&r->file);
    for (int n = 0; n < r->s.node_count; n++) {
        int model = r->node_objects[n], cursor = -2, geometry;
        const fbx_node *own = r->objects[model].node;
        scene_mesh *mesh = &r->s.meshes[r->s.mesh_count];
        if (r->is_helper[n] || (leave_out && node_hidden(r, n))) continue;

        /* before version 7000 the model holds the polygons itself */
        if (fbx_child(own, "PolygonVertexIndex")) {
            cutis_result result = mesh_read(r, own, model, model, mesh);
            if (result != CUTIS_OK) return result;
            if (mesh->face_count) r->s.mesh_count++;
            continue;
        }

        /* since then geometries are connected to it */
        while ((geometry = fbx_next_child(r, model, "Geometry", &cursor, NULL)) >= 0) {
            fbx_object *object = &r->objects[geometry];
            if (!fbx_child(object->node, "PolygonVertexIndex")) continue;
            mesh = &r->s.meshes[r->s.mesh_count];

            /* a skinned geometry does not follow its node: instances of it would coincide */
            if (object->index >= 0 && r->s.meshes[object->index].cluster_count) continue;
            cutis_result result = mesh_read(r, object->node, geometry, model, mesh);
            if (result != CUTIS_OK) return result;
            if (mesh->face_count == 0) continue;
            object->index = r->s.mesh_count++;
        }
    }

    return CUTIS_OK;
}
