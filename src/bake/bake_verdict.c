/*
 * bake_verdict.c: every frame of a bake judged against linear skinning of the pose shown, which is evaluated beside.
 */
#include <string.h>

#include "bake/bake_private.h"

/* Whether the solver is the reference itself. */
static bool is_reference(const bake *b)
{
    const cutis_solver_info *solver = cutis_solver_find(b->solver);
    return solver && solver->flags & CUTIS_SOLVER_BASELINE;
}

cutis_result bake_verdict_open(bake *b)
{
    const cutis_bake_def *def = b->def;

    /* linear skinning itself has nothing to be judged by */
    if (def->no_verdict || (is_reference(b) && !b->surface)) return CUTIS_OK;

    /* the judge */
    double start = clock_seconds();
    cutis_result result =
        cutis_judge_create(b->character, b->result->frame_count, b->jobs, def->allocator, &b->judge, b->error);

    if (result == CUTIS_OK) {
        double unit = cutis_model_parameter(b->model, "unit");
        if (unit > 0) cutis_judge_unit(b->judge, unit);
    }

    /* what it is judged against: the given surface, or linear skinning */
    if (result == CUTIS_OK && b->surface) {
        b->reference_surface = ARENA_ARRAY(&b->scratch, float, 3 * (size_t)b->character->vertex_count);
        if (!b->reference_surface) result = error_memory(b->error, "a verdict");
    } else if (result == CUTIS_OK) {
        cutis_model_def model = cutis_model_def_default();
        model.character = b->character;
        model.solver = cutis_solver_with(CUTIS_SOLVER_BASELINE)->name;
        model.jobs = b->jobs;
        model.allocator = def->allocator;
        result = cutis_model_build(&model, &b->reference, b->error);
        if (result == CUTIS_OK)
            result = cutis_state_create(b->reference, def->allocator, &b->reference_state, b->error);
    }

    b->judge_seconds += clock_seconds() - start;
    return result;
}

/* Linear skinning at a time: it has no past, so that any time can be reached from rest in one step. */
static const float *reference_positions(bake *b, double time)
{
    if (b->reference_surface) {
        bake_surface_sample(b, time, b->reference_surface);
        return b->reference_surface;
    }

    cutis_step_input input = {.motion = {&b->motion, bake_motion_sample}, .jobs = b->jobs};
    if (b->poses) input.joints = cutis_state_joints(b->model, b->state);
    if (b->character->morph_count) {
        bake_motion_morphs(&b->motion, time, b->morphs);
        input.morphs = b->morphs;
    }

    cutis_state_reset(b->reference, b->reference_state, NULL);
    cutis_state_step(b->reference, b->reference_state, &input, time);
    return cutis_state_positions(b->reference, b->reference_state);
}

void bake_verdict_frame(bake *b, double time)
{
    if (!b->judge) return;

    double start = clock_seconds();

    /* the innermost tissue, where the solver tells it */
    const float *inner = NULL;
    cutis_output tissue;
    for (int i = 0; cutis_state_output_role(b->model, b->state, CUTIS_OUTPUT_TISSUE, i, &tissue); i++)
        inner = tissue.values;

    const float *reference = reference_positions(b, time);
    cutis_judge_frame(b->judge, cutis_state_positions(b->model, b->state), reference, inner);

    /* skin that slides under them */
    cutis_output sliding;
    if (cutis_state_output_role(b->model, b->state, CUTIS_OUTPUT_SLIDING, 0, &sliding))
        cutis_judge_sliding(b->judge, sliding.values);

    /* what the engine did not show */
    const cutis_step_stats *stats = cutis_state_stats(b->model, b->state);
    cutis_judge_fallback(b->judge, (double)stats->limited / MAX(b->character->point_count, 1), stats->limited_vertex);

    b->judge_seconds += clock_seconds() - start;
}

void bake_verdict_finish(bake *b)
{
    cutis_bake_result *r = b->result;
    if (!b->judge && !b->def->no_verdict) {
        r->has_verdict = true;
        strcpy(r->verdict.text, "good: this is linear skinning");
    }
    if (!b->judge) return;
    cutis_judge_finish(b->judge, r->substeps, r->unconverged, r->repairs, &r->verdict);
    r->has_verdict = true;
}

void bake_verdict_close(bake *b)
{
    cutis_judge_destroy(b->judge);
    cutis_state_destroy(b->reference_state);
    cutis_model_destroy(b->reference);
}
