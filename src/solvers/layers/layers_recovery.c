/*
 * layers_recovery.c: the way back of a skin that is torn or tangled.
 *
 * Torn bones can leave the skin caught behind itself, where pairs would hold it for ever, or turned inside out, where
 * elasticity would. Then contact rests, and the skeleton brings the flesh home, until it is where the skeleton has it.
 * What crosses there is the pose's own: contact lets go of it until it is apart (layers_yield.c).
 */
#include "solvers/layers/layers_step.h"

void layers_recovery_update(layers_run *run)
{
    const layers_model *m = run->m;
    const float *skin = run->w.volume.positions;
    const float *home = run->w.drive;

    /* a sound skin may be torn */
    if (*run->s.recovering == 0) {
        if (kit_skin_strays(skin, home, m->point_count, 3, TORN_DISTANCE)) *run->s.recovering = 1;
        return;
    }

    /* a torn one may be home; all that crosses there is let go */
    if (kit_skin_strays(skin, home, m->point_count, 3, SOUND_SHARE * TORN_DISTANCE)) return;
    *run->s.recovering = 0;
    run->impacts_left = true;
    layers_yield_update(run);
}

void layers_recovery_pull(layers_run *run)
{
    float share = (float)(1 - det_exp(-RECOVERY_RATE * run->h));
    for (int c = 0; c < 3; c++) {
        float *x = run->w.iterate.x[c];
        const float *target = run->w.iterate.target[c];
        for (int i = 0; i < LAYERS * run->m->point_count; i++) x[i] += share * (target[i] - x[i]);
    }
}
