/*
 * bake_report.c: what a bake tells: its report as JSON (docs/reference/report.md) and the bounds it was held to.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bake/bake_private.h"
#include "bake/json_text.h"

enum { SCHEMA = 1 }; /* of the report; a key that changes its meaning raises it */

/* ---- bounds ---- */

/* Figures of the bake itself, behind those of its quality. */
static const char *const own_figures[] = {"frames",          "step_ms_median", "step_ms_max",   "peak_memory",
                                          "repairs",         "unconverged",    "morph_targets", "morph_error_max",
                                          "morph_error_rms", "file_bytes",     "seam_position", "seam_velocity"};
enum {
    OWN_COUNT = CUTIS_QUALITY_FIGURES + COUNT_OF(own_figures),
    FIGURE_COUNT = OWN_COUNT + CUTIS_HARM_COUNT + 1 /* the verdict itself: 0 good, 1 look, 2 bad */
};

/* Every figure that can be bounded; NAN: this bake has none. */
static void list_figures(const cutis_bake_result *r, cutis_figure figures[FIGURE_COUNT])
{
    const double none = (double)NAN;

    /* of the bake itself */
    const double own[COUNT_OF(own_figures)] = {r->frame_count,
                                               r->step_median * 1e3,
                                               r->step_max * 1e3,
                                               r->peak_bytes,
                                               (double)r->repairs,
                                               (double)r->unconverged,
                                               r->has_morphs ? r->morphs.target_count : none,
                                               r->has_morphs ? r->morphs.max_error : none,
                                               r->has_morphs ? r->morphs.rms_error : none,
                                               r->has_morphs ? (double)r->morphs.file_bytes : none,
                                               r->has_loop ? r->loop.position_seam : none,
                                               r->has_loop ? r->loop.velocity_seam : none};

    /* all of them: quality, the bake, the verdict */
    cutis_quality_figures(&r->quality, figures);
    for (int i = 0; i < COUNT_OF(own_figures); i++)
        figures[CUTIS_QUALITY_FIGURES + i] = (cutis_figure){own_figures[i], own[i]};

    for (int i = 0; i < CUTIS_HARM_COUNT; i++)
        figures[OWN_COUNT + i] =
            (cutis_figure){cutis_harm_name((cutis_harm)i), r->has_verdict ? r->verdict.figures[i] : none};

    figures[FIGURE_COUNT - 1] = (cutis_figure){"verdict", r->has_verdict ? (double)r->verdict.level : none};
}

cutis_result bake_checks_open(bake *b)
{
    cutis_bake_result *r = b->result;
    const char *text = b->def->checks;
    if (!text) return CUTIS_OK;

    /* the names that bounds may have */
    cutis_figure figures[FIGURE_COUNT];
    const char *names[FIGURE_COUNT];
    list_figures(r, figures);
    for (int i = 0; i < FIGURE_COUNT; i++) names[i] = figures[i].name;

    /* the bounds */
    int capacity = 1, count;
    for (const char *c = text; *c; c++) capacity += *c == ',';
    cutis_check *checks = ARENA_ARRAY(b->memory, cutis_check, capacity);
    if (!checks) return error_memory(b->error, "bounds");

    cutis_result result = cutis_checks_parse(text, names, FIGURE_COUNT, checks, capacity, &count, b->error);
    if (result != CUTIS_OK) return result;

    r->checks = checks;
    r->check_count = count;
    return CUTIS_OK;
}

void bake_checks_decide(bake *b)
{
    cutis_bake_result *r = b->result;
    cutis_figure figures[FIGURE_COUNT];
    if (!r->check_count) return;
    list_figures(r, figures);
    r->failed_checks = cutis_checks_decide((cutis_check *)r->checks, r->check_count, figures, FIGURE_COUNT);
}

/* ---- the report ---- */

static void put_vector(json_text *j, const char *key, const double v[3])
{
    json_open(j, key, '[');
    for (int k = 0; k < 3; k++) json_put_real(j, NULL, v[k]);
    json_close(j, ']');
}

static void put_floats(json_text *j, const char *key, const float v[3])
{
    const double wide[3] = {(double)v[0], (double)v[1], (double)v[2]};
    put_vector(j, key, wide);
}

static void put_frame(json_text *j, const char *key, int frame)
{
    if (frame < 0)
        json_put_string(j, key, NULL, 0);
    else
        json_put_integer(j, key, frame);
}

static void report_props(json_text *j, const bake *b)
{
    static const char *const roles[] = {"collider", "rigid", "soft"};

    json_open(j, "props", '[');
    for (int i = 0; i < b->character->prop_count; i++) {
        const cutis_prop *prop = &b->character->props[i];
        const bake_prop *p = &b->props[i];

        json_open(j, NULL, '{');
        json_put_string(j, "name", prop->name, -1);
        json_put_string(j, "role", roles[prop->role], -1);
        put_floats(j, "start", p->start);
        put_floats(j, "end", p->end);

        json_put_real(j, "lift", (double)p->end[1] - (double)p->start[1]);
        json_put_real(j, "penetration", p->penetration);
        json_put_integer(j, "crossings", p->crossings);
        put_frame(j, "dropped", p->dropped_frame);

        /* the bone that it was deepest in */
        json_put_string(j, "bone", p->bone >= 0 ? b->character->joints[p->bone].name : NULL, -1);
        json_put_real(j, "bone_depth", p->bone_depth);
        put_floats(j, "force", p->force);

        json_close(j, '}');
    }

    json_close(j, ']');
}

/* Regions that were touched at all, and the sum over all of them. */
static void report_touch(json_text *j, const bake *b)
{
    double all[3] = {0, 0, 0};

    json_open(j, "touch", '{');
    json_open(j, "regions", '{');

    /* the largest force of each region, and the last */
    for (int n = 0; n < b->character->joint_count; n++) {
        const bake_touch *t = &b->touches[n];
        for (int k = 0; k < 3; k++) all[k] += t->sum[k];
        if (!(t->most > 0)) continue;
        json_open(j, b->character->joints[n].name, '{');
        json_put_real(j, "most", t->most);
        json_put_integer(j, "frame", t->frame);
        put_vector(j, "end", t->sum);
        json_close(j, '}');
    }

    json_close(j, '}');
    put_vector(j, "end", all);
    json_close(j, '}');
}

static void report_pairs(json_text *j, const char *key, const cutis_bone_in_flesh *bones, const char *const *names,
                         int count)
{
    json_open(j, key, '[');
    for (int i = 0; i < count; i++) {
        const cutis_bone_in_flesh *bone = bones + i;

        json_open(j, NULL, '{');
        json_put_string(j, "joint", names[2 * i], -1);
        json_put_string(j, "into", names[2 * i + 1], -1);
        json_put_integer(j, "frames", bone->frames);
        json_put_real(j, "depth", bone->depth);
        json_put_integer(j, "worst_frame", bone->worst_frame);
        json_close(j, '}');
    }

    json_close(j, ']');
}

/* Bones that the motion drives into other flesh: those that are there, those that joints keep out, and how. */
static void report_bones(json_text *j, const bake *b)
{
    const cutis_bake_result *r = b->result;
    report_pairs(j, "bones_in_flesh", r->bones, r->bone_names, r->bone_count);
    report_pairs(j, "bones_held_out", r->held, r->held_names, r->held_count);

    json_open(j, "joints_turned", '[');
    for (int i = 0; i < r->turned_count; i++) {
        json_open(j, NULL, '{');
        json_put_string(j, "joint", r->turned[i].name, -1);
        json_put_real(j, "degrees", r->turned[i].degrees);
        json_put_integer(j, "frames", r->turned[i].frames);
        json_put_integer(j, "worst_frame", r->turned[i].worst_frame);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_put_real(j, "joints_shift", b->joint_shift);
}

/* The value in force of one parameter. */
static void put_parameter(json_text *j, const char *key, const cutis_parameter *parameter, double value)
{
    if (isnan(value)) {
        json_put_string(j, key, NULL, 0);
    } else if (parameter->type == CUTIS_PARAMETER_BOOL) {
        json_put_bool(j, key, value != 0);
    } else if (parameter->type == CUTIS_PARAMETER_INT) {
        json_put_integer(j, key, (long long)value);
    } else if (parameter->type == CUTIS_PARAMETER_FLOAT) {
        json_put_real(j, key, value);
    } else {
        const char *choice = parameter->choices;
        for (int i = (int)value; i > 0 && strchr(choice, '|'); i--) choice = strchr(choice, '|') + 1;
        json_put_string(j, key, choice, (int)strcspn(choice, "|"));
    }
}

/* Parameters of every solver of the stack. */
static void report_parameters(json_text *j, const bake *b)
{
    const cutis_solver_info *solver;
    bool stack = strchr(b->solver, '+') != NULL;

    json_open(j, "parameters", '{');
    for (const char *rest = b->solver; (solver = bake_stack_next(&rest));) {
        for (int i = 0; i < solver->parameter_count; i++) {
            char key[128];

            snprintf(key, sizeof key, "%s%s%s", stack ? solver->name : "", stack ? "." : "",
                     solver->parameters[i].name);
            put_parameter(j, key, &solver->parameters[i], cutis_model_parameter(b->model, key));
        }
    }

    json_close(j, '}');
}

/* Whether a later setting has the same key, which then wins. */
static bool set_later(const bake *b, const char *key, int from)
{
    for (int i = from; i < b->def->setting_count; i++)
        if (strcmp(b->def->settings[i].key, key) == 0) return true;
    return false;
}

static void report_settings(json_text *j, const bake *b)
{
    const cutis_character *c = b->character;
    json_open(j, "settings", '{');
    for (int i = 0; i < c->setting_count; i++)
        if (!set_later(b, c->settings[i].key, 0)) json_put_string(j, c->settings[i].key, c->settings[i].value, -1);
    for (int i = 0; i < b->def->setting_count; i++) {
        const cutis_setting *setting = &b->def->settings[i];
        if (!set_later(b, setting->key, i + 1)) json_put_string(j, setting->key, setting->value, -1);
    }
    json_close(j, '}');
}

static void report_timings(json_text *j, const bake *b)
{
    const cutis_bake_result *r = b->result;

    /* each stage of the bake */
    json_open(j, "timings", '{');
    json_put_real(j, "load_ms", r->load_seconds * 1e3);
    json_put_real(j, "build_ms", r->build_seconds * 1e3);
    json_put_real(j, "lead_in_ms", r->lead_in_seconds * 1e3);
    json_put_real(j, "total_ms", r->total_seconds * 1e3);

    /* a frame */
    json_open(j, "step_ms", '{');
    json_put_real(j, "min", r->step_min * 1e3);
    json_put_real(j, "median", r->step_median * 1e3);
    json_put_real(j, "mean", r->step_mean * 1e3);
    json_put_real(j, "max", r->step_max * 1e3);
    json_close(j, '}');

    /* part_ms is summed over the stack by index: the names of the first solver stand for all. */
    const char *rest = b->solver;
    const cutis_solver_info *solver = bake_stack_next(&rest);
    while (solver && solver->part_count == 0) solver = bake_stack_next(&rest);

    json_open(j, "parts_ms", '{');
    for (int i = 0; solver && i < solver->part_count && i < CUTIS_MAX_PARTS; i++)
        json_put_real(j, solver->parts[i], r->part_ms[i]);
    json_close(j, '}');

    json_close(j, '}');
}

static void report_loop(json_text *j, const bake *b)
{
    const cutis_loop_info *loop = &b->result->loop;

    json_open(j, "loop", '{');
    json_put_real(j, "period", b->period);
    json_put_real(j, "closed_by", b->closed_by);

    json_put_integer(j, "periods_run", loop->periods);
    json_put_bool(j, "closed", loop->closed);
    json_put_bool(j, "accelerated", loop->accelerated);

    /* how well the ends meet */
    json_put_real(j, "seam_position", loop->position_seam);
    json_put_real(j, "seam_velocity", loop->velocity_seam);
    json_put_real(j, "seam_time", loop->seam_time);
    json_put_real(j, "speed", loop->speed);

    json_put_bool(j, "travels", b->travels);
    json_close(j, '}');
}

static void report_quality(json_text *j, const cutis_bake_result *r)
{
    const cutis_quality *q = &r->quality;

    /* what was measured */
    json_open(j, "quality", '{');
    json_put_integer(j, "frames", q->frames);
    json_put_real(j, "fps", r->fps);
    json_put_integer(j, "vertices", q->vertices);
    json_put_real(j, "size", q->size);
    json_put_real(j, "volume_rest", q->volume_rest);

    /* volume */
    json_put_real(j, "volume_error_max", q->volume_error_max);
    json_put_real(j, "volume_error_mean", q->volume_error_mean);
    json_put_real(j, "volume_min_ratio", q->volume_min_ratio);
    json_put_real(j, "volume_union", q->volume_union);

    /* self-intersection */
    json_put_integer(j, "self_intersections_rest", q->self_intersections_rest);
    json_put_integer(j, "self_intersections_max", q->self_intersections_max);
    json_put_real(j, "self_intersections_mean", q->self_intersections_mean);

    /* shape */
    json_put_real(j, "stretch_p99", q->stretch_p99);
    json_put_real(j, "area_distortion_p99", q->area_distortion_p99);
    json_put_real(j, "acceleration_rms", q->acceleration_rms);
    json_put_real(j, "min_section_ratio", q->min_section_ratio);
    json_put_real(j, "penetration_max", q->penetration_max);
    json_put_integer(j, "non_finite", q->non_finite);

    /* where to look */
    put_frame(j, "worst_volume_frame", q->worst_volume_frame);
    put_frame(j, "worst_intersection_frame", q->worst_intersection_frame);
    put_frame(j, "worst_section_frame", q->worst_section_frame);
    put_frame(j, "worst_penetration_frame", q->worst_penetration_frame);
    json_close(j, '}');
}

/* What the result has that linear skinning has not; linear skinning itself has no gains. */
static void report_gains(json_text *j, const cutis_character *c, const cutis_gains *g)
{
    json_open(j, "gained", '{');
    json_put_string(j, "text", g->text, -1);
    json_put_string(j, "missed", g->missed[0] ? g->missed : NULL, -1);
    json_put_integer(j, "intersections_removed", MAX(g->reference_intersections - g->intersections, 0));
    json_put_integer(j, "intersections_linear", g->reference_intersections);
    json_put_real(j, "movement", g->movement);
    json_put_string(j, "movement_joint", g->movement_joint >= 0 ? c->joints[g->movement_joint].name : NULL, -1);
    json_put_string(j, "volume_joint", g->volume_joint >= 0 ? c->joints[g->volume_joint].name : NULL, -1);
    json_put_real(j, "volume", g->volume);
    json_put_real(j, "volume_linear", g->reference_volume);
    json_close(j, '}');
}

static void report_verdict(json_text *j, const bake *b)
{
    static const char *const levels[] = {"good", "look", "bad"};
    const cutis_verdict *v = &b->result->verdict;
    const cutis_character *c = b->character;

    /* the judgement in a word and a sentence */
    json_open(j, "verdict", '{');
    json_put_string(j, "level", levels[v->level], -1);
    json_put_string(j, "text", v->text, -1);

    if (v->gained.text[0]) report_gains(j, c, &v->gained);

    /* its figures */
    json_open(j, "figures", '{');
    for (int i = 0; i < CUTIS_HARM_COUNT; i++) json_put_real(j, cutis_harm_name((cutis_harm)i), v->figures[i]);
    json_close(j, '}');
    json_put_integer(j, "intersections", v->intersections);
    json_put_integer(j, "intersections_linear", v->reference_intersections);

    /* what led to it, and where */
    json_open(j, "findings", '[');
    for (int i = 0; i < v->finding_count; i++) {
        const cutis_finding *f = &v->findings[i];
        json_open(j, NULL, '{');
        json_put_string(j, "figure", cutis_harm_name(f->harm), -1);
        json_put_string(j, "level", levels[f->level], -1);
        json_put_real(j, "value", f->value);
        json_put_real(j, "bound", f->bound);
        put_frame(j, "first_frame", f->first_frame);
        put_frame(j, "last_frame", f->last_frame);
        put_frame(j, "worst_frame", f->worst_frame);
        json_put_string(j, "joint", f->joint >= 0 ? c->joints[f->joint].name : NULL, -1);
        json_put_string(j, "part", f->part >= 0 ? c->parts[f->part].name : NULL, -1);
        json_put_string(j, "text", f->text, -1);
        json_close(j, '}');
    }

    json_close(j, ']');
    json_put_real(j, "ms", b->judge_seconds * 1e3);
    json_close(j, '}');
}

static void report_checks(json_text *j, const cutis_bake_result *r)
{
    json_open(j, "checks", '[');
    for (int i = 0; i < r->check_count; i++) {
        const cutis_check *check = &r->checks[i];

        json_open(j, NULL, '{');
        json_put_string(j, "figure", check->name, -1);
        json_put_string(j, "operator", check->relation, -1);
        json_put_real(j, "bound", check->bound);
        json_put_real(j, "value", check->value);
        json_put_bool(j, "passed", check->passed);
        json_close(j, '}');
    }

    json_close(j, ']');
}

static void report_morphs(json_text *j, const cutis_morphs_info *m)
{
    json_open(j, "morphs", '{');
    json_put_integer(j, "targets", m->target_count);
    json_put_real(j, "rms_error", m->rms_error);
    json_put_real(j, "max_error", m->max_error);
    json_put_real(j, "residual", m->residual);
    json_put_integer(j, "worst_frame", m->worst_frame);
    json_put_real(j, "flat_blends", m->flat_blends);
    json_put_integer(j, "file_bytes", (long long)m->file_bytes);
    json_put_integer(j, "texcoord_targets", m->texcoord_target_count);
    json_put_real(j, "texcoord_max_error", m->texcoord_max_error);
    json_put_real(j, "texcoord_residual", m->texcoord_residual);
    json_close(j, '}');
}

/* What was baked. */
static void report_subject(json_text *j, const bake *b)
{
    const cutis_bake_result *r = b->result;
    const cutis_character *c = b->character;

    /* files */
    json_put_integer(j, "schema", SCHEMA);
    json_put_string(j, "version", cutis_version(), -1);
    json_put_string(j, "input", b->def->source.name ? b->def->source.name : c->name, -1);
    json_put_string(j, "output", b->path, -1);
    json_put_string(j, "solver", b->solver, -1);

    /* the character */
    json_open(j, "character", '{');
    json_put_string(j, "name", c->name, -1);
    json_put_integer(j, "vertices", c->vertex_count);
    json_put_integer(j, "points", c->point_count);
    json_put_integer(j, "faces", c->face_count);
    json_put_integer(j, "joints", c->joint_count);
    json_put_real(j, "size", (double)c->size);
    json_close(j, '}');

    /* the motion */
    json_put_string(j, "clip", r->clip, -1);
    json_put_integer(j, "frames", r->frame_count);
    if (r->interrupted) json_put_bool(j, "interrupted", true);
    json_put_real(j, "fps", r->fps);
    json_put_real(j, "start", r->start);
    json_put_real(j, "lead_in", r->lead_in);
    json_put_real(j, "substep", r->substep);
    json_put_integer(j, "threads", r->threads);

    /* the model */
    if (r->element) json_put_integer(j, r->element, r->element_count);
    if (r->body_points > 0) json_put_integer(j, "body_points", r->body_points);
    if (r->rigid_pieces > 0) json_put_integer(j, "rigid_pieces", r->rigid_pieces);
    if (r->carried_pieces > 0) json_put_integer(j, "carried_pieces", r->carried_pieces);
}

const char *bake_report_make(bake *b)
{
    const cutis_bake_result *r = b->result;
    json_text text = json_start(b->memory), *j = &text;
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)r->hash);

    json_open(j, NULL, '{');

    /* what was baked, and how */
    report_subject(j, b);
    report_parameters(j, b);
    report_settings(j, b);
    report_timings(j, b);

    json_put_integer(j, "peak_memory", (long long)r->peak_bytes);
    json_put_integer(j, "model_memory", (long long)r->model_bytes);
    json_put_integer(j, "state_memory", (long long)r->state_bytes);

    /* what came of it */
    json_open(j, "volume", '{');
    json_put_real(j, "min_ratio", r->volume_min);
    json_put_real(j, "max_ratio", r->volume_max);
    json_close(j, '}');

    json_open(j, "stats", '{');
    json_put_integer(j, "substeps", r->substeps);
    json_put_integer(j, "iterations", r->iterations);
    json_put_integer(j, "unconverged", r->unconverged);
    json_put_integer(j, "repairs", r->repairs);
    json_put_integer(j, "contacts_max", r->contacts_max);
    json_put_real(j, "residual_max", r->residual_max);
    json_close(j, '}');

    /* sections that this bake has */
    if (r->has_verdict) report_verdict(j, b);
    if (r->has_loop) report_loop(j, b);
    if (b->character->prop_count) report_props(j, b);
    if (b->touches) report_touch(j, b);
    if (r->bones) report_bones(j, b);
    if (r->has_quality) report_quality(j, r);
    if (r->check_count) report_checks(j, r);
    if (r->has_morphs) report_morphs(j, &r->morphs);

    json_put_string(j, "hash", hash, -1);

    /* of the character, then of the bake */
    json_open(j, "warnings", '[');
    for (int i = 0; b->def->character && i < b->def->character->warning_count; i++)
        json_put_string(j, NULL, b->def->character->warnings[i], -1);
    for (int i = 0; i < r->warning_count; i++) json_put_string(j, NULL, r->warnings[i], -1);
    json_close(j, ']');

    json_close(j, '}');
    return json_finish(j);
}
