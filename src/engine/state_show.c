/*
 * state_show.c: what is drawn of a state: positions, normals and outputs of the instant that it has reached.
 *
 * Computed once for an instant, from the state alone; the simulation goes on as if it had not been.
 */
#include <string.h>

#include "character/morph_sum.h"
#include "character/normals.h"
#include "engine/model_object.h"
#include "math/math3.h"

/* ---- show ---- */

/* The amount of a step's input, in range. */
static float input_amount(const cutis_step_input *input)
{
    float amount = input && input->amount ? *input->amount : 1;
    return amount >= 0 ? MIN(amount, (float)CUTIS_MAX_AMOUNT) : amount < 0 ? 0 : 1;
}

/* The vertices of a stack whose last stage is dynamic, or gives points. */
static void show_dynamic(const cutis_model *m, cutis_state *state, float amount, const cutis_jobs *jobs)
{
    const stage *last = &m->stages[m->stage_count - 1];
    bool on_body = last->on_body && !stage_has_points(m, last);
    display_instant instant = {.joints = state_floats(state, m->instant),
                               .joints_ends = {state_floats(state, m->joints_old), state_floats(state, m->joints)},
                               .of_body = on_body,
                               .alpha = 1,
                               .amount = amount,
                               .slack = state->slack,
                               .jobs = jobs};
    instant.points_ends[0] = state_floats(state, on_body ? last->body_points_old : last->points_old);
    instant.points_ends[1] = state_floats(state, on_body ? last->body_points : last->points);
    if (!state_is_exact(m, state)) instant.alpha = (float)(state_reached(m, state) - (double)(state->substeps - 1));

    /* morphs that the first stage skins with are in the points already */
    const float *weights = state_floats(state, m->morph_weights);
    if (stage_is_geometric(&m->stages[0])) {
        float *rest = state_scratch(m, state, m->morphed);
        if (morph_sum(m->character, weights, m->character->positions, rest, &state->stats.repairs)) instant.rest = rest;
    } else {
        instant.morphs = weights;
    }

    display_stats stats =
        display_run(&m->display, &instant, state_scratch(m, state, m->show), state_floats(state, m->vertices));
    state->stats.limited = stats.limited;
    state->stats.limited_vertex = stats.limited_vertex;
    state->stats.repairs += stats.repairs;
}

/* The vertices of a stack without a dynamic stage. */
static void show_geometric(const cutis_model *m, cutis_state *state, float amount, const cutis_jobs *jobs)
{
    const cutis_character *c = m->character;
    state_run_geometric(m, state, jobs);
    if (amount == 1 && !m->display.amounts) return;

    int repairs = 0;
    float *skin = state_scratch(m, state, m->skin), *rest = state_scratch(m, state, m->morphed);
    skin_matrices(c, state_floats(state, m->joints), skin);
    bool morphed = morph_sum(c, state_floats(state, m->morph_weights), c->positions, rest, &repairs);
    display_scale(&m->display, skin, morphed ? rest : NULL, amount, state_scratch(m, state, m->show), jobs,
                  state_floats(state, m->vertices));
}

void cutis_state_show(const cutis_model *model, cutis_state *state, const cutis_step_input *input)
{
    float amount = input_amount(input);
    if (state->shown && state->amount == amount) return;

    const cutis_jobs *jobs = input ? input->jobs : NULL;
    if (model->substep == 0)
        show_geometric(model, state, amount, jobs);
    else
        show_dynamic(model, state, amount, jobs);
    if (!state->shown) state_finish(model, state, jobs);

    state->shown = true;
    state->amount = amount;
}

/* ---- results ---- */

const float *cutis_state_positions(const cutis_model *model, const cutis_state *state)
{
    return state_floats(state, model->vertices);
}

const float *cutis_state_joints(const cutis_model *model, const cutis_state *state)
{
    return state_floats(state, model->instant);
}

void cutis_state_normals(const cutis_model *model, const cutis_state *state, float *normals)
{
    const cutis_character *c = model->character;
    const float *vertices = state_floats(state, model->vertices);
    if (c->normals) {
        character_normals(c, &model->display.normals, vertices, NULL, normals);
        return;
    }

    /* Sum over the triangles of a point, at the point's first vertex; then unit length, for all its vertices. */
    memset(normals, 0, (size_t)c->vertex_count * 3 * sizeof *normals);
    for (int t = 0; t < c->triangle_count; t++) {
        const int *v = c->triangles + 3 * t;
        vec3 a = vec3_load(vertices + 3 * v[0]);
        vec3 n = vec3_cross(vec3_sub(vec3_load(vertices + 3 * v[1]), a), vec3_sub(vec3_load(vertices + 3 * v[2]), a));

        for (int e = 0; e < 3; e++) {
            float *sum = normals + 3 * c->point_vertices[c->vertex_points[v[e]]];
            vec3_store(sum, vec3_add(vec3_load(sum), n));
        }
    }

    /* unit length */
    for (int p = 0; p < c->point_count; p++) {
        float *sum = normals + 3 * c->point_vertices[p];
        vec3 n = vec3_normalize(vec3_load(sum));
        vec3_store(sum, vec3_length2(n) > 0 ? n : vec3_make(0, 1, 0));
    }

    /* the same for all vertices of a point */
    for (int v = 0; v < c->vertex_count; v++) {
        int from = c->point_vertices[c->vertex_points[v]];
        if (from != v) memcpy(normals + 3 * v, normals + 3 * from, 3 * sizeof *normals);
    }
}

const cutis_step_stats *cutis_state_stats(const cutis_model *model, const cutis_state *state)
{
    (void)model;
    return &state->stats;
}

/* An output of the body's vertices on the drawn mesh. */
static void output_show(const cutis_model *m, const cutis_state *state, const stage *s, int index, cutis_output *output)
{
    const cutis_character *c = m->character;
    const float *vertices = state_floats(state, m->vertices), *own = state_floats(state, s->body_points);
    const int *vertex_points = m->body.character->vertex_points;
    int width = output->components;
    bool place = s->solver->info.outputs[index].role == CUTIS_OUTPUT_TISSUE;
    float *all = (float *)state_scratch(m, state, m->outputs) + (size_t)index * (size_t)c->vertex_count * 3;

    for (int v = 0; v < c->vertex_count; v++) {
        float *to = all + (size_t)v * (size_t)width;
        int p = c->vertex_points[v];

        if (!place) {
            embedding_spread(&m->body, p, output->values, width, to);
            continue;
        }

        /* an inner surface lies below the drawn vertex as it lies below the body's points; clothing has none */
        memcpy(to, vertices + 3 * (size_t)v, 3 * sizeof(float));
        for (int k = m->body.anchor_first[p]; k < m->body.anchor_first[p + 1] && m->body.bare[p]; k++) {
            int from = m->body.character->point_vertices[m->body.anchors[k]];
            for (int e = 0; e < 3; e++)
                to[e] += m->body.anchor_weights[k] * (output->values[3 * from + e] - own[3 * vertex_points[from] + e]);
        }
    }

    output->count = c->vertex_count;
    output->values = all;
}

/*
 * A place inside the body between two substeps: solvers tell those of the last one's end, and the vertices are of the
 * instant, so what lies below a vertex goes along with it.
 */
static void output_shift(const cutis_model *m, const cutis_state *state, const stage *s, int index,
                         cutis_output *output)
{
    if (state_is_exact(m, state)) return;

    const cutis_character *c = m->character;
    const float *vertices = state_floats(state, m->vertices), *points = state_floats(state, s->points);
    float *all = (float *)state_scratch(m, state, m->outputs) + (size_t)index * (size_t)c->vertex_count * 3;

    /* the surface keeps its offset from the drawn vertex */
    for (int v = 0; v < c->vertex_count; v++) {
        const float *point = points + 3 * (size_t)c->vertex_points[v];
        for (size_t e = 0; e < 3; e++) {
            size_t at = 3 * (size_t)v + e;
            all[at] = vertices[at] + (output->values[at] - point[e]);
        }
    }

    output->values = all;
}

bool cutis_state_output(const cutis_model *model, const cutis_state *state, const char *name, cutis_output *output)
{
    /* The last stage that has it wins: it is nearest to the surface that is shown. */
    for (int i = model->stage_count - 1; i >= 0; i--) {
        const stage *s = &model->stages[i];
        for (int k = 0; k < s->solver->info.output_count; k++) {
            if (strcmp(s->solver->info.outputs[k].name, name) == 0) {
                if (!s->solver->output(s->data, state_floats(state, s->state), k, output)) return false;
                if (s->on_body && output->domain == CUTIS_DOMAIN_VERTEX && output->components <= 3)
                    output_show(model, state, s, k, output);
                else if (model->stage_count == 1 && s->solver->info.outputs[k].role == CUTIS_OUTPUT_TISSUE)
                    output_shift(model, state, s, k, output);
                return true;
            }
        }
    }

    return false;
}

bool cutis_state_output_role(const cutis_model *model, const cutis_state *state, cutis_output_role role, int index,
                             cutis_output *output)
{
    const cutis_output_info *info = cutis_model_find_output(model, role, index);
    return info && cutis_state_output(model, state, info->name, output);
}

void cutis_state_prop(const cutis_model *model, const cutis_state *state, int index, cutis_prop_state *prop)
{
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const cutis_prop *source = &model->character->props[index];
    *prop = (cutis_prop_state){.bone = -1};
    const float *transform = source->joint >= 0 ? state_floats(state, model->joints) + 12 * source->joint : identity;
    memcpy(prop->transform, transform, sizeof prop->transform);
    for (int i = 0; i < model->stage_count; i++) {
        const stage *s = &model->stages[i];
        if (s->solver->prop) s->solver->prop(s->data, state_floats(state, s->state), index, prop);
    }
}
