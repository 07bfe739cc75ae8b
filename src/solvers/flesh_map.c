/* flesh_map.c: anatomy as factors on flesh, see flesh_map.h. */
#include "solvers/flesh_map.h"

/*
 * Factors on frequencies at softness 0 and 1, by tissue. Skin over bone hardly moves. The skin over fat is as firm as
 * elsewhere: it carries the fat, which otherwise hangs to a point. With them a belly or breast swings at about 3 Hz.
 */
static const double FIRM_STIFFNESS[FLESH_TISSUES] = {4, 6, 4};
static const double SOFT_STIFFNESS[FLESH_TISSUES] = {1, 0.6, 0.6};
/* Factors on damping: thin flesh over bone stops at once, fat swings on. */
static const double FIRM_DAMPING = 3, SOFT_DAMPING = 0.8;
/* Where fat ends, as a share of the depth, at softness 0 and 1. */
static const float FIRM_FAT_END = 0.25f, SOFT_FAT_END = 0.85f;
/* Diagonal of a body, m, below which gravity grows no further: that of a child. */
static const double SMALL_BODY = 1.5;

/* A factor that is `firm` at softness 0, 1 at 0.5 and `soft` at 1, to the power of an amount. */
static double factor_at(double softness, double firm, double soft, double amount)
{
    double log = softness < 0.5 ? det_log(firm) * (1 - 2 * softness) : det_log(soft) * (2 * softness - 1);
    return amount > 0 ? det_exp(amount * log) : 1;
}

double flesh_stiffness(int tissue, double softness, double amount)
{
    return factor_at(softness, FIRM_STIFFNESS[tissue], SOFT_STIFFNESS[tissue], amount);
}

double flesh_damping(double softness, double amount) { return factor_at(softness, FIRM_DAMPING, SOFT_DAMPING, amount); }

static double unit_of(const flesh_map_request *r, const anatomy *a)
{
    double given = r->build->values[r->unit];
    return given > 0 ? given : anatomy_unit(r->build->character, a);
}

cutis_result flesh_map_find(const flesh_map_request *request, flesh_map *map, arena *scratch, cutis_error *error)
{
    const solver_build *build = request->build;
    int n = build->mesh->point_count;

    /* the character's own, or painted */
    anatomy_request find = {build->character, build->mesh, build->weights->first, build->weights->joints,
                            build->weights->weights};
    cutis_result result = anatomy_find(&find, scratch, scratch, &map->anatomy, error);
    if (result != CUTIS_OK) return result;
    const float *painted = kit_map_find(build->character, "softness");
    map->unit = unit_of(request, &map->anatomy);

    map->softness = map->anatomy.softness;
    map->damping = ARENA_ARRAY(scratch, float, n + 1);
    map->amounts = ARENA_ARRAY(scratch, float, n + 1);
    for (int t = 0; t < FLESH_TISSUES; t++) map->stiffness[t] = ARENA_ARRAY(scratch, float, n + 1);
    if (scratch->failed) return error_memory(error, "the anatomy");

    for (int p = 0; p < n; p++) {
        double amount = kit_point_value(build, p, request->anatomy);
        double fatness = kit_point_value(build, p, request->fatness);
        double firmness = kit_point_value(build, p, request->firmness);
        double soft = (double)map->softness[p];
        if (fatness != 1 && soft > 0) soft = det_pow(soft, 1 / fatness);
        if (painted) soft = (double)kit_map_at(build->character, painted, p, 0);

        map->softness[p] = (float)soft;
        map->amounts[p] = (float)amount;
        map->damping[p] = (float)flesh_damping(soft, amount);
        for (int t = 0; t < FLESH_TISSUES; t++)
            map->stiffness[t][p] = (float)(firmness * flesh_stiffness(t, soft, amount));
    }
    return CUTIS_OK;
}

float flesh_map_fat_end(const flesh_map *map, int point, float depth)
{
    float soft = map->softness[point], amount = MIN(map->amounts[point], 1.0f);
    float to = soft < 0.5f ? FIRM_FAT_END : SOFT_FAT_END;
    return depth + amount * fabsf(2 * soft - 1) * (to - depth);
}

double flesh_gravity(double gravity, double unit, double size) { return gravity / MAX(unit * size, SMALL_BODY); }
