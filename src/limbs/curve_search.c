/* curve_search.c: the two searches for curves, side by side: neither needs the other. */
#include "limbs/curve_search.h"

#include "limbs/curve_centres.h"

cutis_result curve_search_prepare(const cutis_character *character, arena *memory, curve_search *search,
                                  cutis_error *error)
{
    cutis_result result = mesh_build_character(&search->mesh, character, memory, error);
    if (search->bare) return result;
    if (result == CUTIS_OK) result = quads_build(&search->quads, character, memory, error);
    if (result == CUTIS_OK) result = rings_reserve(&search->quads, &search->mesh, memory, &search->rings, error);
    return result;
}

typedef struct search_job {
    const cutis_character *character;
    arena *memory;
    curve_search *search;
    cutis_result result;
    cutis_error error;
} search_job;

/* Limbs allocate and rings do not, so that the allocator sees one thread at a time. */
static void search_block(void *context, int begin, int end)
{
    search_job *job = context;
    curve_search *s = job->search;
    const float *low = job->character->bounds_min, *high = job->character->bounds_max;
    for (int task = begin; task < end; task++)
        if (task == 0)
            job->result = limbs_find(&s->mesh, job->character->size, false, NULL, job->memory, &s->limbs, &job->error);
        else
            rings_trace(&s->quads, &s->mesh, vec3_lerp(vec3_load(low), vec3_load(high), 0.5f), job->character->size,
                        &s->rings);
}

cutis_result curve_search_run(const cutis_character *character, const limb_poses *poses, const cutis_jobs *jobs,
                              arena *memory, curve_search *search, cutis_error *error)
{
    static const limb_poses none = {0};
    search_job job = {character, memory, search, CUTIS_OK, {0}};

    if (search->bare)
        job.result = limbs_find(&search->mesh, character->size, false, jobs, memory, &search->limbs, &job.error);
    else
        parallel_for(jobs, 2, 1, search_block, &job);

    if (job.result != CUTIS_OK) {
        if (error) *error = job.error;
        return job.result;
    }

    cutis_result result =
        limbs_ring(&search->mesh, character->size, poses ? poses : &none, jobs, memory, &search->limbs, error);

    /* what the quads know better */
    if (result == CUTIS_OK && !search->bare && search->rings.count > 0)
        result = limbs_centre(&search->mesh, &search->rings, memory, &search->limbs, error);
    return result;
}
