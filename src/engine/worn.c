/*
 * worn.c: models and states of characters with parts that are worn (see worn.h).
 *
 * A worn vertex is shown at B(v) + sum w_k (x_k - B(k)): B is linear blending of the morphed rest shape in the pose of
 * the instant, x_k where the simulation has the corners of the flesh's triangle below. What is rigid has no weights
 * and goes where its joint takes it.
 */
#include "engine/worn.h"

#include <string.h>

#include "engine/worn_find.h"

/* ---- the flesh as a character ---- */

static const char *part_name(const cutis_character *c, int vertex)
{
    for (int i = 0; i < c->part_count; i++)
        if (vertex >= c->parts[i].first_vertex && vertex - c->parts[i].first_vertex < c->parts[i].vertex_count)
            return c->parts[i].name;
    return c->name;
}

/* Values of the flesh's vertices, `width` floats each. */
static const float *values_pick(const float *values, const int *vertices, int count, size_t width, arena *memory)
{
    float *picked = ARENA_ARRAY(memory, float, (size_t)count *width);
    for (int i = 0; picked && i < count; i++)
        memcpy(picked + (size_t)i * width, values + (size_t)vertices[i] * width, width * sizeof(float));
    return picked;
}

static void influences_pick(const cutis_character *c, const worn *w, cutis_character *flesh, arena *memory)
{
    if (!c->influence_first) return;
    int *first = ARENA_ARRAY(memory, int, flesh->vertex_count + 1);
    int *joints = ARENA_ARRAY(memory, int, c->influence_first[c->vertex_count]);
    float *weights = ARENA_ARRAY(memory, float, c->influence_first[c->vertex_count]);
    if (memory->failed) return;
    int count = 0;
    for (int i = 0; i < flesh->vertex_count; i++) {
        int v = w->flesh_vertices[i];
        first[i] = count;
        for (int k = c->influence_first[v]; k < c->influence_first[v + 1]; k++, count++)
            joints[count] = c->influence_joints[k], weights[count] = c->influence_weights[k];
    }
    first[flesh->vertex_count] = count;
    flesh->influence_first = first, flesh->influence_joints = joints, flesh->influence_weights = weights;
}

/* Faces whose vertices are flesh; corners are noted in the model's memory. */
static void faces_pick(const cutis_character *c, worn *w, cutis_character *flesh, arena *memory, arena *kept)
{
    int *first = ARENA_ARRAY(memory, int, c->face_count + 1), *corners = ARENA_ARRAY(memory, int, c->corner_count);
    int *from = ARENA_ARRAY(kept, int, c->corner_count);
    float *texcoords = c->texcoords ? ARENA_ARRAY(memory, float, 2 * (size_t)c->corner_count) : NULL;
    if (memory->failed || kept->failed) return;
    int count = 0;
    flesh->face_count = 0;
    for (int f = 0; f < c->face_count; f++) {
        if (w->vertex_flesh[c->corners[c->face_first[f]]] < 0) continue;
        first[flesh->face_count++] = count;
        for (int k = c->face_first[f]; k < c->face_first[f + 1]; k++, count++) {
            corners[count] = w->vertex_flesh[c->corners[k]];
            from[count] = k;
            if (texcoords) memcpy(texcoords + 2 * (size_t)count, c->texcoords + 2 * (size_t)k, 2 * sizeof(float));
        }
    }
    first[flesh->face_count] = count;
    flesh->face_first = first, flesh->corners = corners, flesh->texcoords = texcoords;
    w->flesh_corners = from;
}

static cutis_result flesh_make(cutis_model *m, worn *w, int flesh_count, cutis_error *error)
{
    const cutis_character *c = m->character;
    arena memory = arena_create(&m->memory.allocator);
    cutis_character flesh = *c;
    flesh.vertex_count = flesh_count;
    flesh.part_count = 0, flesh.parts = NULL;
    flesh.warning_count = 0, flesh.warnings = NULL;
    flesh.positions = values_pick(c->positions, w->flesh_vertices, flesh_count, 3, &memory);
    influences_pick(c, w, &flesh, &memory);
    faces_pick(c, w, &flesh, &memory, &m->memory);
    cutis_map *maps = ARENA_ARRAY(&memory, cutis_map, c->map_count);
    for (int i = 0; maps && i < c->map_count; i++)
        maps[i] =
            (cutis_map){c->maps[i].name, values_pick(c->maps[i].values, w->flesh_vertices, flesh_count, 1, &memory)};
    cutis_morph *morphs = ARENA_ARRAY(&memory, cutis_morph, c->morph_count);
    for (int i = 0; morphs && i < c->morph_count; i++)
        morphs[i] = (cutis_morph){c->morphs[i].name,
                                  values_pick(c->morphs[i].deltas, w->flesh_vertices, flesh_count, 3, &memory)};
    flesh.maps = maps, flesh.morphs = morphs;
    cutis_result result = memory.failed || m->memory.failed
                              ? error_memory(error, "parts that are worn")
                              : cutis_character_create(&flesh, &m->memory.allocator, &w->flesh, error);
    arena_destroy(&memory);
    return result;
}

/* ---- build ---- */

static void warn(cutis_model *m, const worn_points *found)
{
    const cutis_character *c = m->character;
    int others = found->piece_count - 1;
    const char *name = part_name(c, c->point_vertices[found->example]);
    const char *by = part_name(c, c->point_vertices[found->carrier]);
    const char *lie = others == 0 ? "lies" : others == 1 ? "and another piece lie" : "and other pieces lie";
    if (strcmp(name, by) == 0) name = others == 0 ? "a piece" : "pieces", lie = others == 0 ? "lies" : "lie";
    char *sentence =
        arena_format(&m->memory, "%s %s on or in the flesh of %s: carried along, not simulated", name, lie, by);
    if (sentence && m->warning_count < COUNT_OF(m->warnings)) m->warnings[m->warning_count++] = sentence;
}

/* Vertices sorted into flesh and worn, with the anchors of the latter. */
static bool vertices_sort(cutis_model *m, worn *w, const worn_points *found, int *flesh_count)
{
    const cutis_character *c = m->character;
    int n = c->vertex_count;
    int *flesh = ARENA_ARRAY(&m->memory, int, n), *index = ARENA_ARRAY(&m->memory, int, n);
    int *vertices = ARENA_ARRAY(&m->memory, int, n), *anchors = ARENA_ARRAY(&m->memory, int, 3 * (size_t)n);
    float *weights = ARENA_ARRAY(&m->memory, float, 3 * (size_t)n);
    if (m->memory.failed) return false;
    for (int v = 0; v < n; v++) {
        int p = c->vertex_points[v];
        index[v] = found->worn[p] ? -1 : *flesh_count;
        if (!found->worn[p]) {
            flesh[(*flesh_count)++] = v;
            continue;
        }
        for (int k = 0; k < 3; k++) {
            anchors[3 * w->count + k] = c->point_vertices[found->anchors[3 * p + k]];
            weights[3 * w->count + k] = found->weights[3 * p + k];
        }
        vertices[w->count++] = v;
    }
    w->flesh_vertices = flesh, w->vertex_flesh = index;
    w->vertices = vertices, w->anchors = anchors, w->weights = weights;
    return true;
}

cutis_result worn_build(cutis_model *m, const cutis_model_def *def, cutis_error *error)
{
    worn_points found;
    cutis_result result = worn_find(m->character, &m->mesh, &m->weights, &m->memory, &found, error);
    if (result || found.piece_count == 0) return result;
    int flesh_count = 0;
    worn *w = ARENA_ARRAY(&m->memory, worn, 1);
    if (!w || !vertices_sort(m, w, &found, &flesh_count)) return error_memory(error, "parts that are worn");
    m->worn = w;
    warn(m, &found);
    result = flesh_make(m, w, flesh_count, error);
    cutis_model_def inner = *def;
    inner.character = w->flesh;
    inner.all_flesh = true;
    if (!result) result = cutis_model_build(&inner, &w->inner, error);
    /* Those about settings stand here already. */
    for (int i = 0; !result && i < w->inner->warning_count && m->warning_count < COUNT_OF(m->warnings); i++) {
        bool known = false;
        for (int k = 0; k < m->warning_count; k++) known |= strcmp(m->warnings[k], w->inner->warnings[i]) == 0;
        if (!known) m->warnings[m->warning_count++] = w->inner->warnings[i];
    }
    return result;
}

void worn_destroy(worn *w)
{
    if (!w) return;
    cutis_model_destroy(w->inner);
    cutis_character_destroy(w->flesh);
}

void worn_lay_out(cutis_model *m)
{
    const cutis_character *c = m->character;
    worn *w = m->worn;
    size_t joint_bytes = (size_t)c->joint_count * 12 * sizeof(float);
    size_t vertex_bytes = (size_t)c->vertex_count * 3 * sizeof(float);
    size_t end = sizeof(cutis_state);
    m->joints = model_take(&end, joint_bytes);
    m->vertices = model_take(&end, vertex_bytes);
    w->state = model_take(&end, w->inner->state_bytes);
    m->state_bytes = end; /* whole lines of memory, as those of every model: the inner scratch follows */
    size_t scratch = w->inner->scratch_bytes;
    int outputs = 0;
    for (int i = 0; i < w->inner->stage_count; i++) outputs += w->inner->stages[i].solver->info.output_count;
    w->output_floats = MAX(3 * (size_t)c->vertex_count, 2 * (size_t)c->corner_count);
    m->skin = model_take(&scratch, joint_bytes);
    m->target = model_take(&scratch, joint_bytes);
    m->morphed = model_take(&scratch, c->morph_count ? vertex_bytes : 0);
    m->surface = model_take(&scratch, vertex_bytes);
    w->drags = model_take(&scratch, (size_t)c->vertex_count * sizeof(cutis_drag));
    w->outputs = model_take(&scratch, (size_t)outputs * w->output_floats * sizeof(float));
    model_take(&scratch, 0);
    m->scratch_bytes = scratch;
    m->substep = w->inner->substep;
}

/* ---- states ---- */

cutis_state *worn_inner(const cutis_model *m, const cutis_state *state)
{
    return (cutis_state *)((char *)state + m->worn->state);
}

static float *floats_at(cutis_state *state, size_t offset) { return (float *)((char *)state + offset); }

static vec3 blend(const cutis_character *c, const float *skin, const float *rest, int vertex)
{
    vec3 x = vec3_load(rest + 3 * (size_t)vertex), sum = {0, 0, 0};
    if (!c->influence_first || c->influence_first[vertex] == c->influence_first[vertex + 1]) return x;
    for (int k = c->influence_first[vertex]; k < c->influence_first[vertex + 1]; k++)
        sum = vec3_madd(sum, mat34_point(skin + 12 * (size_t)c->influence_joints[k], x), c->influence_weights[k]);
    return sum;
}

/* All vertices from the flesh as it is and the pose in the state's joints. */
static void show(const cutis_model *m, cutis_state *state, const float *morphs)
{
    const cutis_character *c = m->character;
    const worn *w = m->worn;
    cutis_state *inner = worn_inner(m, state);
    float *vertices = floats_at(state, m->vertices), *skin = floats_at(state, m->state_bytes + m->skin);
    const float *flesh = cutis_state_positions(w->inner, inner);
    const float *rest = state_morph_sum(m, state, morphs, c->positions);
    if (!rest) rest = c->positions;
    state->time = cutis_state_time(inner);
    state->stats = *cutis_state_stats(w->inner, inner);
    skin_matrices(c, floats_at(state, m->joints), skin);
    for (int i = 0; i < w->flesh->vertex_count; i++)
        memcpy(vertices + 3 * (size_t)w->flesh_vertices[i], flesh + 3 * (size_t)i, 3 * sizeof(float));
    for (int i = 0; i < w->count; i++) {
        vec3 x = blend(c, skin, rest, w->vertices[i]);
        for (int k = 0; k < 3; k++) {
            int a = w->anchors[3 * (size_t)i + (size_t)k];
            float weight = w->weights[3 * (size_t)i + (size_t)k];
            if (weight == 0) continue;
            vec3 moved = vec3_sub(vec3_load(vertices + 3 * (size_t)a), blend(c, skin, rest, a));
            x = vec3_madd(x, moved, weight);
        }
        vec3_store(vertices + 3 * (size_t)w->vertices[i], x);
    }
}

void worn_create(const cutis_model *m, cutis_state *state)
{
    cutis_state *inner = worn_inner(m, state);
    inner->allocator = state->allocator;
    inner->block_bytes = m->worn->inner->state_bytes + m->worn->inner->scratch_bytes;
}

void worn_reset(const cutis_model *m, cutis_state *state, const float *joints)
{
    float *own = floats_at(state, m->joints);
    cutis_state_reset(m->worn->inner, worn_inner(m, state), joints);
    cutis_pose_rest(m->character, own);
    if (joints) state_copy_pose(m, own, joints);
    show(m, state, NULL);
}

/* A body's surface for the flesh alone. */
typedef struct flesh_body {
    const cutis_model *model;
    const cutis_body *body;
    float *vertices; /* of the whole character */
} flesh_body;

static void flesh_body_sample(void *context, double time, float *positions)
{
    const flesh_body *b = context;
    const worn *w = b->model->worn;
    b->body->sample(b->body->context, time, b->vertices);
    for (int i = 0; i < w->flesh->vertex_count; i++)
        memcpy(positions + 3 * (size_t)i, b->vertices + 3 * (size_t)w->flesh_vertices[i], 3 * sizeof(float));
}

void worn_step(const cutis_model *m, cutis_state *state, const cutis_step_input *input, double dt)
{
    const worn *w = m->worn;
    float *joints = floats_at(state, m->joints), *target = floats_at(state, m->state_bytes + m->target);
    cutis_drag *drags = (cutis_drag *)floats_at(state, m->state_bytes + w->drags);
    cutis_state *inner = worn_inner(m, state);
    cutis_step_input flesh = *input;
    /* What is worn is pulled by the flesh below it. */
    flesh.drag_count = MIN(input->drag_count, m->character->vertex_count);
    flesh.drags = drags;
    for (int i = 0, k = 0; i < flesh.drag_count; i++) {
        drags[i] = input->drags[i];
        drags[i].vertex = w->vertex_flesh[input->drags[i].vertex];
        if (drags[i].vertex >= 0) continue;
        for (k = 0; w->vertices[k] != input->drags[i].vertex;) k++;
        drags[i].vertex = w->vertex_flesh[w->anchors[3 * (size_t)k]];
    }
    flesh_body body = {m, &input->body, floats_at(state, m->state_bytes + m->surface)};
    if (input->body.sample) flesh.body = (cutis_body){&body, flesh_body_sample};
    cutis_state_step(w->inner, inner, &flesh, dt);
    if (input->joints) {
        state_copy_pose(m, joints, input->joints);
    } else if (input->motion.sample) {
        input->motion.sample(input->motion.context, cutis_state_time(inner), target);
        state_copy_pose(m, joints, target);
    }
    show(m, state, input->morphs);
}

void worn_teleport(const cutis_model *m, cutis_state *state, const float transform[12])
{
    cutis_state_teleport(m->worn->inner, worn_inner(m, state), transform);
    state_move_joints(m, floats_at(state, m->joints), transform);
    state_move_points(floats_at(state, m->vertices), m->character->vertex_count, transform);
}

/* The output of that name in a stack, the last stage's first, and its number; NULL: none. */
static const cutis_output_info *output_find(const cutis_model *m, const char *name, int *number)
{
    *number = 0;
    for (int i = m->stage_count - 1; i >= 0; i--) {
        const cutis_solver_info *info = &m->stages[i].solver->info;
        for (int k = 0; k < info->output_count; k++, ++*number)
            if (strcmp(info->outputs[k].name, name) == 0) return &info->outputs[k];
    }
    return NULL;
}

bool worn_output(const cutis_model *m, const cutis_state *state, const char *name, cutis_output *output)
{
    const worn *w = m->worn;
    const cutis_character *c = m->character;
    if (!cutis_state_output(w->inner, worn_inner(m, state), name, output)) return false;
    if (output->domain == CUTIS_DOMAIN_ELEMENT) return true;
    /* A place of its own for every output, so that several can be looked at together. */
    int slot;
    const cutis_output_info *info = output_find(w->inner, name, &slot);
    float *all = floats_at((cutis_state *)state, m->state_bytes + w->outputs) + (size_t)slot * w->output_floats;
    bool corners = output->domain == CUTIS_DOMAIN_CORNER;
    size_t width = (size_t)output->components, count = (size_t)(corners ? c->corner_count : c->vertex_count);
    if (count * width > w->output_floats) return false;
    memset(all, 0, count * width * sizeof(float));
    if (corners && width == 2 && c->texcoords) memcpy(all, c->texcoords, count * width * sizeof(float));
    /* of inner surfaces it has none but itself, of all others nothing */
    if (info && info->role == CUTIS_OUTPUT_TISSUE)
        memcpy(all, cutis_state_positions(m, state), count * width * sizeof(float));
    for (int i = 0; i < output->count; i++)
        memcpy(all + (size_t)(corners ? w->flesh_corners[i] : w->flesh_vertices[i]) * width,
               output->values + (size_t)i * width, width * sizeof(float));
    output->count = (int)count;
    output->values = all;
    return true;
}

cutis_result worn_find_loop(const cutis_model *m, cutis_state *state, const cutis_loop_def *def,
                            const cutis_allocator *allocator, cutis_loop_info *info, cutis_error *error)
{
    const worn *w = m->worn;
    cutis_loop_def flesh = *def;
    if (def->seam) flesh.seam = worn_inner(m, def->seam);
    cutis_result result = cutis_state_find_loop(w->inner, worn_inner(m, state), &flesh, allocator, info, error);
    if (result || !def->motion.sample) return result;
    cutis_state *shown[2] = {state, def->seam};
    for (int i = 0; i < 2 && shown[i]; i++) {
        float *target = floats_at(shown[i], m->state_bytes + m->target);
        def->motion.sample(def->motion.context, i == 0 ? 0 : info->seam_time, target);
        state_copy_pose(m, floats_at(shown[i], m->joints), target);
        show(m, shown[i], NULL);
    }
    return CUTIS_OK;
}
