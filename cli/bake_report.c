/*
 * bake_report.c: what a bake tells: its report as JSON (docs/REPORT.md), the bounds it was held to, the summary on the
 * console.
 */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "bake_private.h"

enum { SCHEMA = 1 }; /* of the report; a key that changes its meaning raises it */

void bake_report_decide(bake *b)
{
    bake_result *r = b->result;
    if (!b->job->check_count) return;
    json_t *figures = quality_json(&r->quality, r->fps);
    json_object_set_new(figures, "step_ms_median", cli_json_real(r->step_median * 1e3));
    json_object_set_new(figures, "step_ms_max", cli_json_real(r->step_max * 1e3));
    json_object_set_new(figures, "peak_memory", cli_json_real(r->peak_bytes));
    json_object_set_new(figures, "repairs", json_integer((json_int_t)r->repairs));
    json_object_set_new(figures, "unconverged", json_integer((json_int_t)r->unconverged));
    if (r->has_morphs) {
        json_object_set_new(figures, "morph_targets", json_integer(r->morphs.target_count));
        json_object_set_new(figures, "morph_error_max", cli_json_real(r->morphs.max_error));
        json_object_set_new(figures, "morph_error_rms", cli_json_real(r->morphs.rms_error));
        json_object_set_new(figures, "file_bytes", json_integer((json_int_t)r->morphs.file_bytes));
    }
    if (r->has_loop) {
        json_object_set_new(figures, "seam_position", cli_json_real(r->loop.position_seam));
        json_object_set_new(figures, "seam_velocity", cli_json_real(r->loop.velocity_seam));
    }
    r->failed_checks = quality_decide(b->job->checks, b->job->check_count, figures);
    json_decref(figures);
}

/* ---- the report ---- */

static json_t *vector_json(double x, double y, double z)
{
    return json_pack("[o, o, o]", cli_json_real(x), cli_json_real(y), cli_json_real(z));
}

static json_t *report_props(const bake *b)
{
    static const char *const roles[] = {"collider", "rigid", "soft"};
    json_t *list = json_array();
    for (int i = 0; i < b->character->prop_count; i++) {
        const cutis_prop *prop = &b->character->props[i];
        const bake_prop *p = &b->props[i];
        json_array_append_new(list,
                              json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "name", cli_json_string(prop->name),
                                        "role", roles[prop->role], "start",
                                        vector_json((double)p->start[0], (double)p->start[1], (double)p->start[2]),
                                        "end", vector_json((double)p->end[0], (double)p->end[1], (double)p->end[2]),
                                        "lift", cli_json_real((double)p->end[1] - (double)p->start[1]), "penetration",
                                        cli_json_real(p->penetration), "force",
                                        vector_json((double)p->force[0], (double)p->force[1], (double)p->force[2])));
    }
    return list;
}

/* Regions that were touched at all. */
static json_t *report_touch(const bake *b)
{
    json_t *regions = json_object();
    double all[3] = {0, 0, 0};
    for (int j = 0; j < b->character->joint_count; j++) {
        const bake_touch *t = &b->touches[j];
        for (int k = 0; k < 3; k++) all[k] += t->sum[k];
        if (!(t->most > 0)) continue;
        json_object_set_new(regions, b->character->joints[j].name,
                            json_pack("{s:o, s:i, s:o}", "most", cli_json_real(t->most), "frame", t->frame, "end",
                                      vector_json(t->sum[0], t->sum[1], t->sum[2])));
    }
    return json_pack("{s:o, s:o}", "end", vector_json(all[0], all[1], all[2]), "regions", regions);
}

static json_t *report_bones(const bake_result *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->bone_count; i++) {
        const cutis_bone_in_flesh *bone = r->bones + i;
        json_array_append_new(list,
                              json_pack("{s:o, s:o, s:i, s:o, s:i}", "joint", cli_json_string(r->bone_names[2 * i]),
                                        "into", cli_json_string(r->bone_names[2 * i + 1]), "frames", bone->frames,
                                        "depth", cli_json_real(bone->depth), "worst_frame", bone->worst_frame));
    }
    return list;
}

/* The value in force of one parameter, as JSON. */
static json_t *parameter_json(const cutis_parameter *parameter, double value)
{
    if (isnan(value)) return json_null();
    if (parameter->type == CUTIS_PARAMETER_BOOL) return json_boolean(value != 0);
    if (parameter->type == CUTIS_PARAMETER_INT) return json_integer((json_int_t)value);
    if (parameter->type == CUTIS_PARAMETER_FLOAT) return cli_json_real(value);
    const char *choice = parameter->choices;
    for (int i = (int)value; i > 0 && strchr(choice, '|'); i--) choice = strchr(choice, '|') + 1;
    return json_stringn(choice, strcspn(choice, "|"));
}

/* Parameters and parts of every solver of the stack. */
static void report_solvers(const bake *b, json_t *parameters, json_t *parts)
{
    const bake_result *r = b->result;
    const cutis_solver_info *solver;
    bool stack = strchr(b->solver, '+') != NULL;
    int part = 0;
    for (const char *rest = b->solver; (solver = cli_stack_next(&rest));) {
        for (int i = 0; i < solver->parameter_count; i++) {
            const cutis_parameter *parameter = &solver->parameters[i];
            char key[128];
            snprintf(key, sizeof key, "%s%s%s", stack ? solver->name : "", stack ? "." : "", parameter->name);
            json_object_set_new(parameters, key, parameter_json(parameter, cutis_model_parameter(b->model, key)));
        }
        /* part_ms is summed over the stack by index: the names of the first solver stand for all. */
        for (int i = 0; i < solver->part_count && part == 0 && i < CUTIS_MAX_PARTS; i++)
            json_object_set_new(parts, solver->parts[i], cli_json_real(r->part_ms[i]));
        part += solver->part_count;
    }
}

static json_t *report_settings(const bake *b)
{
    json_t *settings = json_object();
    for (int i = 0; i < b->character->setting_count; i++)
        json_object_set_new(settings, b->character->settings[i].key, cli_json_string(b->character->settings[i].value));
    for (int i = 0; i < b->job->setting_count; i++)
        json_object_set_new(settings, b->job->settings[i].key, cli_json_string(b->job->settings[i].value));
    return settings;
}

static json_t *report_warnings(const bake *b)
{
    json_t *warnings = json_array();
    for (int i = 0; i < b->character->warning_count; i++)
        json_array_append_new(warnings, cli_json_string(b->character->warnings[i]));
    for (int i = 0; i < b->info.warning_count; i++)
        json_array_append_new(warnings, cli_json_string(b->info.warnings[i]));
    return warnings;
}

json_t *bake_report_make(const bake *b)
{
    const bake_result *r = b->result;
    const cutis_character *character = b->character;
    json_t *parameters = json_object(), *parts = json_object();
    report_solvers(b, parameters, parts);
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)r->hash);
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_integer(SCHEMA));
    json_object_set_new(root, "version", cli_json_string(cutis_version()));
    json_object_set_new(root, "input", cli_json_string(b->job->input));
    json_object_set_new(root, "output", cli_json_string(b->job->output));
    json_object_set_new(root, "solver", cli_json_string(b->solver));
    json_object_set_new(root, "character",
                        json_pack("{s:o, s:i, s:i, s:i, s:i, s:o}", "name", cli_json_string(character->name),
                                  "vertices", character->vertex_count, "points", character->point_count, "faces",
                                  character->face_count, "joints", character->joint_count, "size",
                                  cli_json_real((double)character->size)));
    json_object_set_new(root, "clip", cli_json_string(r->clip));
    json_object_set_new(root, "frames", json_integer(r->frames));
    json_object_set_new(root, "fps", cli_json_real(r->fps));
    json_object_set_new(root, "start", cli_json_real(r->start));
    json_object_set_new(root, "lead_in", cli_json_real(r->lead_in));
    json_object_set_new(root, "substep", cli_json_real(r->substep));
    json_object_set_new(root, "threads", json_integer(r->threads));
    json_object_set_new(root, r->element ? r->element : "elements", json_integer(r->element_count));
    json_object_set_new(root, "parameters", parameters);
    json_object_set_new(root, "settings", report_settings(b));
    json_object_set_new(
        root, "timings",
        json_pack("{s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o, s:o}, s:o}", "load_ms", cli_json_real(r->load_seconds * 1e3),
                  "build_ms", cli_json_real(r->build_seconds * 1e3), "lead_in_ms",
                  cli_json_real(r->lead_in_seconds * 1e3), "total_ms", cli_json_real(r->total_seconds * 1e3), "step_ms",
                  "min", cli_json_real(r->step_min * 1e3), "median", cli_json_real(r->step_median * 1e3), "mean",
                  cli_json_real(r->step_mean * 1e3), "max", cli_json_real(r->step_max * 1e3), "parts_ms", parts));
    json_object_set_new(root, "peak_memory", json_integer((json_int_t)r->peak_bytes));
    json_object_set_new(root, "model_memory", json_integer((json_int_t)r->model_bytes));
    json_object_set_new(root, "state_memory", json_integer((json_int_t)r->state_bytes));
    json_object_set_new(
        root, "volume",
        json_pack("{s:o, s:o}", "min_ratio", cli_json_real(r->volume_min), "max_ratio", cli_json_real(r->volume_max)));
    json_object_set_new(root, "stats",
                        json_pack("{s:I, s:I, s:I, s:I, s:i, s:o}", "substeps", (json_int_t)r->substeps, "iterations",
                                  (json_int_t)r->iterations, "unconverged", (json_int_t)r->unconverged, "repairs",
                                  (json_int_t)r->repairs, "contacts_max", r->contacts_max, "residual_max",
                                  cli_json_real(r->residual_max)));
    if (r->has_loop)
        json_object_set_new(root, "loop",
                            json_pack("{s:o, s:o, s:i, s:b, s:b, s:o, s:o, s:o, s:o, s:b}", "period",
                                      cli_json_real(b->period), "closed_by", cli_json_real(b->closed_by), "periods_run",
                                      r->loop.periods, "closed", (int)r->loop.closed, "accelerated",
                                      (int)r->loop.accelerated, "seam_position", cli_json_real(r->loop.position_seam),
                                      "seam_velocity", cli_json_real(r->loop.velocity_seam), "seam_time",
                                      cli_json_real(r->loop.seam_time), "speed", cli_json_real(r->loop.speed),
                                      "travels", (int)b->travels));
    if (character->prop_count) json_object_set_new(root, "props", report_props(b));
    if (b->touches) json_object_set_new(root, "touch", report_touch(b));
    if (r->bones) json_object_set_new(root, "bones_in_flesh", report_bones(r));
    if (r->has_quality) json_object_set_new(root, "quality", quality_json(&r->quality, r->fps));
    if (b->job->check_count)
        json_object_set_new(root, "checks", quality_checks_json(b->job->checks, b->job->check_count));
    if (r->has_morphs)
        json_object_set_new(
            root, "morphs",
            json_pack("{s:i, s:o, s:o, s:o, s:i, s:o, s:I}", "targets", r->morphs.target_count, "rms_error",
                      cli_json_real(r->morphs.rms_error), "max_error", cli_json_real(r->morphs.max_error), "residual",
                      cli_json_real(r->morphs.residual), "worst_frame", r->morphs.worst_frame, "flat_blends",
                      cli_json_real(r->morphs.flat_blends), "file_bytes", (json_int_t)r->morphs.file_bytes));
    json_object_set_new(root, "hash", cli_json_string(hash));
    json_object_set_new(root, "warnings", report_warnings(b));
    return root;
}

/* ---- the summary ---- */

/* Where no skin can lie well, deepest first. */
static void print_bones(const bake_result *r)
{
    enum { SHOWN = 3 };
    double last = INFINITY;
    printf("  %-10s", "bones");
    for (int shown = 0; shown < SHOWN && shown < r->bone_count; shown++) {
        int best = -1;
        for (int i = 0; i < r->bone_count; i++)
            if (r->bones[i].depth < last && (best < 0 || r->bones[i].depth > r->bones[best].depth)) best = i;
        if (best < 0) break;
        last = r->bones[best].depth;
        printf("%s %s runs into the flesh of %s (%d frame%s, %.2g %% of the size)", shown ? "," : "",
               r->bone_names[2 * best], r->bone_names[2 * best + 1], r->bones[best].frames,
               r->bones[best].frames == 1 ? "" : "s", 100 * last);
    }
    if (r->bone_count > SHOWN) printf(", and %d more", r->bone_count - SHOWN);
    printf("\n");
}

void bake_print_summary(const bake_job *job, const bake_result *r)
{
    char count[32], seconds[32], bytes[32];
    struct stat about;
    printf("%s", job->output);
    if (stat(job->output, &about) == 0 && S_ISREG(about.st_mode))
        printf(" (%s)", cli_format_bytes((double)about.st_size, bytes));
    printf("\n  %-10s %s, %s %s", "solver", r->solver, cli_format_count(r->element_count, count),
           r->element ? r->element : "elements");
    if (r->substep > 0) printf(", substep %.9g s, lead-in %.9g s", r->substep, r->lead_in);
    printf("\n  %-10s %s, %d at %.9g per second, %s vertices\n", "frames", r->clip ? r->clip : "idle pose", r->frames,
           r->fps, cli_format_count(r->vertices, count));
    printf("  %-10s %.3g ms a frame (median; slowest %.3g), ", "time", r->step_median * 1e3, r->step_max * 1e3);
    printf("build %s, ", cli_format_seconds(r->build_seconds, seconds));
    printf("all %s, %d thread%s\n", cli_format_seconds(r->total_seconds, seconds), r->threads,
           r->threads == 1 ? "" : "s");
    if (!isnan(r->volume_min))
        printf("  %-10s %.2f %% to %.2f %% of rest\n", "volume", 100 * r->volume_min, 100 * r->volume_max);
    if (r->bone_count > 0) print_bones(r);
    if (r->has_loop && r->substep > 0)
        printf("  %-10s seam %.2g %% of the size, %.2g %% of the speed, after %d period%s%s\n", "loop",
               100 * r->loop.position_seam, 100 * r->loop.velocity_seam, r->loop.periods,
               r->loop.periods == 1 ? "" : "s", r->loop.accelerated ? " (accelerated)" : "");
    if (r->has_morphs) {
        printf("  %-10s %d, which leave %.3g %% of the size at most, %.3g %% RMS (without them %.3g %%)\n", "targets",
               r->morphs.target_count, 100 * r->morphs.max_error, 100 * r->morphs.rms_error, 100 * r->morphs.residual);
        if (r->morphs.max_error > job->tolerance && !job->exact)
            printf("  %-10s the error is above %.3g %%: allow more --targets, or --exact%s\n", "", 100 * job->tolerance,
                   r->morphs.flat_blends > 0 ? "; opposite twists flatten the skin there, which targets cannot undo"
                                             : "");
    }
    printf("  %-10s %s at most\n", "memory", cli_format_bytes(r->peak_bytes, bytes));
    if (r->repairs || r->unconverged)
        printf("  %-10s %ld values put back, %ld substeps not converged\n", "trouble", r->repairs, r->unconverged);
    printf("  %-10s %016llx\n", "hash", (unsigned long long)r->hash);
}
