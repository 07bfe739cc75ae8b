/*
 * bench_solvers.c: every solver of the table on one scene: a frame of the arm in the middle of its flex, one thread.
 */
#include "bench.h"

static int solvers_run(bench_context *context)
{
    int status = CLI_OK;

    for (int i = 0; i < cutis_solver_count() && status == CLI_OK; i++) {
        const cutis_solver_info *solver = cutis_solver(i);
        bench_clip clip = {.solver = solver->name,
                           .character = "arm",
                           .clip = "flex",
                           .resolution = 0.3,
                           .time = 0.5,
                           .dt = 1 / 60.0,
                           .steps = 4};

        bench_row row = {.name = solver->name, .element = solver->element, .threads = 1};
        status = bench_clip_run(context, &clip, &row);
    }
    return status;
}

const bench bench_solvers = {"solvers", "every solver: one frame of 1/60 s of the arm's flex, one thread", solvers_run};
