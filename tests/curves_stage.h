/*
 * curves_stage.h: what the tests of solver `curves` on quads and on triangles share.
 */
#ifndef CURVES_STAGE_H
#define CURVES_STAGE_H

#include "testing.h"

#include "limbs/rings.h"
#include "mesh/mesh.h"

/* Each ring has `least` points or more, runs over edges and closes; no point is on two. */
static inline void rings_check(const mesh *m, const rings *r, int least, arena *memory)
{
    uint8_t *seen = ARENA_ARRAY(memory, uint8_t, m->point_count);
    for (int ring = 0; ring < r->count; ring++) {
        int first = r->first[ring], count = r->first[ring + 1] - first;
        assert_true(count >= least);
        for (int k = 0; k < count; k++) {
            int p = r->points[first + k], other = r->points[first + (k + 1) % count];
            bool joined = false;
            assert_int_equal(seen[p]++, 0);
            assert_int_equal(r->ring_of[p], ring);
            for (int e = m->point_neighbour_first[p]; e < m->point_neighbour_first[p + 1]; e++)
                joined = joined || m->point_neighbours[e] == other;
            assert_true(joined);
        }
    }
}

/* A character under one solver, put into poses. */
typedef struct runner {
    cutis_model *model;
    cutis_state *state;
} runner;

static inline runner runner_make(const cutis_character *c, const char *solver, const cutis_setting *settings, int count)
{
    cutis_model *model = test_build_def(
        (cutis_model_def){.character = c, .solver = solver, .settings = settings, .setting_count = count});
    return (runner){model, test_state(model, NULL)};
}

static inline const float *runner_pose(runner *r, const float *joints)
{
    cutis_state_reset(r->model, r->state, joints);
    return cutis_state_positions(r->model, r->state);
}

static inline void runner_free(runner *r)
{
    cutis_state_destroy(r->state);
    cutis_model_destroy(r->model);
}

#endif
