/*
 * slide_state.c: the state of the solver `slide` and its scratch as views of one block each; teleport and outputs.
 */
#include "math/math3.h"
#include "solvers/slide/slide.h"
#include "solvers/solver_kit.h"

/* ---- views ---- */

size_t slide_state_view(const slide_model *model, void *memory, slide_state *s)
{
    const cutis_character *c = model->character;
    size_t points = (size_t)model->point_count;
    size_t vertices = (size_t)c->vertex_count;
    size_t corners = model->texcoords ? (size_t)c->corner_count : 0;
    kit_block block = {.memory = memory};

    /* the skin on the body */
    s->places = KIT_CARVE(&block, slide_place, points);
    s->spots = KIT_CARVE(&block, slide_spot, points);
    s->velocities = KIT_CARVE(&block, double, 2 * points);
    s->gains = KIT_CARVE(&block, double, 2 * points);
    s->slips = KIT_CARVE(&block, double, 3 * points);
    s->started = KIT_CARVE(&block, int, 1);
    s->blocked = KIT_CARVE(&block, uint8_t, points);
    s->surface = KIT_CARVE(&block, float, 3 * points);

    s->anchors = KIT_CARVE(&block, double, model->friction ? 3 * points : 0);

    /* where material points are */
    s->tracks = KIT_CARVE(&block, slide_place, model->vertices ? points : 0);

    s->sliding = KIT_CARVE(&block, float, 3 * vertices);
    s->stress = KIT_CARVE(&block, float, 2 * vertices);
    s->wrinkle = KIT_CARVE(&block, float, vertices);
    s->folds = KIT_CARVE(&block, float, 3 * vertices);
    s->attached = KIT_CARVE(&block, float, vertices);
    s->corner_texcoords = KIT_CARVE(&block, float, 2 * corners);
    s->steady_texcoords = KIT_CARVE(&block, float, 2 * corners);
    return block.used;
}

size_t slide_scratch_view(const slide_model *model, void *memory, slide_scratch *s)
{
    size_t points = (size_t)model->point_count;
    size_t triangles = (size_t)model->triangle_count;
    size_t free_points = (size_t)model->free_count;
    size_t links = (size_t)model->link_first[free_points];
    kit_block block = {.memory = memory};

    /* body, skin and their derivatives */
    s->x = kit_carve(&block, 3 * points, sizeof *s->x);
    s->skin = kit_carve(&block, 3 * points, sizeof *s->skin);
    s->normals = kit_carve(&block, 3 * points, sizeof *s->normals);
    s->metrics = kit_carve(&block, triangles, sizeof *s->metrics);
    s->masses = kit_carve(&block, triangles, sizeof *s->masses);
    s->gammas = kit_carve(&block, points, sizeof *s->gammas);
    s->jacobians = kit_carve(&block, points, sizeof *s->jacobians);
    s->inertia = kit_carve(&block, points, sizeof *s->inertia);

    s->shapes = kit_carve(&block, triangles, sizeof *s->shapes);
    s->hessians = kit_carve(&block, triangles + 1, sizeof *s->hessians);
    s->gradients = kit_carve(&block, triangles, sizeof *s->gradients);
    s->energies = kit_carve(&block, triangles, sizeof *s->energies);
    s->old_energies = kit_carve(&block, triangles, sizeof *s->old_energies);
    s->stress = kit_carve(&block, triangles, sizeof *s->stress);
    s->taken = kit_carve(&block, triangles, sizeof *s->taken);
    s->pressed = kit_carve(&block, triangles, sizeof *s->pressed);

    /* the linear system and its solution */
    s->diagonal = kit_carve(&block, free_points, sizeof *s->diagonal);
    s->rows = kit_carve(&block, links, sizeof *s->rows);
    s->pivots = kit_carve(&block, free_points, sizeof *s->pivots);
    s->inverse = kit_carve(&block, free_points, sizeof *s->inverse);
    s->rests = kit_carve(&block, free_points, sizeof *s->rests);
    s->right = kit_carve(&block, 2 * points, sizeof *s->right);
    s->residual = kit_carve(&block, 2 * points, sizeof *s->residual);
    s->search = kit_carve(&block, 2 * points, sizeof *s->search);
    s->image = kit_carve(&block, 2 * points, sizeof *s->image);
    s->smooth = kit_carve(&block, 2 * points, sizeof *s->smooth);

    double **arrays[] = {&s->product,        &s->forward,   &s->solution,     &s->goal,         &s->guess,
                         &s->moved,          &s->way,       &s->first_forces, &s->outer_forces, &s->velocities,
                         &s->old_velocities, &s->old_gains, &s->first_gains};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = kit_carve(&block, 2 * points, sizeof **arrays[i]);
    s->grips = kit_carve(&block, points, sizeof *s->grips);
    s->moving = kit_carve(&block, points, sizeof *s->moving);
    s->ranges = kit_carve(&block, points, sizeof *s->ranges);
    s->shares = kit_carve(&block, points, sizeof *s->shares);
    s->grown = kit_carve(&block, points, sizeof *s->grown);
    s->regrown = kit_carve(&block, triangles, sizeof *s->regrown);
    s->blocked = kit_carve(&block, points, sizeof *s->blocked);
    s->shortened = kit_carve(&block, points, sizeof *s->shortened);
    s->places = kit_carve(&block, points, sizeof *s->places);
    s->old_places = kit_carve(&block, points, sizeof *s->old_places);
    s->spots = kit_carve(&block, points, sizeof *s->spots);
    s->tried_spots = kit_carve(&block, points, sizeof *s->tried_spots);
    s->old_surface = kit_carve(&block, 3 * points, sizeof *s->old_surface);
    s->posed_normals = kit_carve(&block, model->vertices ? 3 * points : 0, sizeof *s->posed_normals);
    return block.used;
}

size_t slide_state_size(const void *data)
{
    slide_state unused;
    return slide_state_view(data, NULL, &unused);
}

size_t slide_scratch_size(const void *data)
{
    slide_scratch unused;
    return slide_scratch_view(data, NULL, &unused);
}

/* ---- teleport, outputs ---- */

void slide_teleport(const void *data, void *state, const float transform[12])
{
    const slide_model *model = data;
    slide_state s;
    slide_state_view(model, state, &s);

    for (int i = 0; i < model->point_count; i++)
        vec3_store(s.surface + 3 * i, mat34_point(transform, vec3_load(s.surface + 3 * i)));

    /* rotate the slip velocities; the translation does not matter */
    for (int i = 0; i < model->point_count; i++) {
        double old[3] = {s.slips[3 * i], s.slips[3 * i + 1], s.slips[3 * i + 2]};
        for (int e = 0; e < 3; e++) {
            const float *row = transform + 4 * e;
            s.slips[3 * i + e] = (double)row[0] * old[0] + (double)row[1] * old[1] + (double)row[2] * old[2];
        }
    }
}

bool slide_output(const void *data, const void *state, int index, cutis_output *output)
{
    const slide_model *model = data;
    const cutis_character *c = model->character;
    slide_state s;
    slide_state_view(model, (void *)state, &s); /* only read through */

    const cutis_output outputs[SLIDE_OUTPUT_COUNT] = {
        [SLIDE_OUTPUT_TEXCOORDS] = {CUTIS_DOMAIN_CORNER, c->corner_count, 2, s.corner_texcoords},
        [SLIDE_OUTPUT_SLIDING] = {CUTIS_DOMAIN_VERTEX, c->vertex_count, 3, s.sliding},
        [SLIDE_OUTPUT_STRESS] = {CUTIS_DOMAIN_VERTEX, c->vertex_count, 2, s.stress},
        [SLIDE_OUTPUT_WRINKLE] = {CUTIS_DOMAIN_VERTEX, c->vertex_count, 1, s.wrinkle},
        [SLIDE_OUTPUT_FOLDS] = {CUTIS_DOMAIN_VERTEX, c->vertex_count, 3, s.folds},
        [SLIDE_OUTPUT_ATTACHED] = {CUTIS_DOMAIN_VERTEX, c->vertex_count, 1, s.attached},
        [SLIDE_OUTPUT_STEADY] = {CUTIS_DOMAIN_CORNER, c->corner_count, 2, s.steady_texcoords}};

    /* vertices that move with their skin show the sliding themselves */
    bool texture = index == SLIDE_OUTPUT_TEXCOORDS || index == SLIDE_OUTPUT_STEADY;
    if (model->vertices && index == SLIDE_OUTPUT_SLIDING) return false;
    if (texture && !model->texcoords) return false;
    *output = outputs[index];
    return true;
}
