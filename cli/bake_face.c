/* bake_face.c: run a bake with progress, messages and exit codes. */
#include "bake_face.h"
#include "base/system.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARNINGS_SHOWN = 10 };

typedef struct face {
    bool quiet;
    int warnings;
    cutis_bake_stage stage; /* stage of the progress bar */
    cli_progress bar;
} face;

static bool on_progress(void *context, cutis_bake_stage stage, long done, long total)
{
    face *f = context;

    /* a model build does not check the flag; no file is open, so Ctrl-C may end the program at once */
    cli_interrupt_at_once((stage == CUTIS_BAKE_LOAD || stage == CUTIS_BAKE_BUILD) && done == 0);

    /* one bar per stage */
    static const char *const labels[] = {
        [CUTIS_BAKE_LEAD_IN] = "lead-in", [CUTIS_BAKE_FRAMES] = "baking", [CUTIS_BAKE_WRITE] = NULL};
    if (stage != f->stage) {
        cli_progress_end(&f->bar);
        f->stage = stage;
        if (labels[stage]) cli_progress_begin(&f->bar, labels[stage], total, f->quiet);
    }
    if (labels[stage]) cli_progress_update(&f->bar, done);
    return !cli_interrupted();
}

static void on_message(void *context, cutis_bake_message kind, const char *text)
{
    face *f = context;
    if (f->quiet) return;
    if (kind == CUTIS_BAKE_NOTE)
        printf("%s\n", text);
    else if (f->warnings++ < WARNINGS_SHOWN)
        cli_warning("%s", text);
}

/* Report the clip that is baked by default. */
static int note_clip(const cutis_bake_def *def, const cutis_character *character, bool quiet)
{
    if (def->motion.name || def->example_count) return CLI_OK;
    if (def->clip) return cli_find_clip(character, def->clip) < 0 ? CLI_USAGE : CLI_OK;
    if (def->surface.name || quiet) return CLI_OK;
    if (character->clip_count == 0)
        cli_warning("%s has no clip: baking one frame of its idle pose; --motion FILE.bvh adds a motion%s",
                    character->name, character->joint_count ? "" : " and a skeleton");
    else if (character->clip_count > 1)
        fprintf(stderr, "cutis: baking '%s', the first of %d clips; use --clip to select another\n",
                character->clips[0].name, character->clip_count);
    return CLI_OK;
}

int bake_run(const char *input, const cutis_bake_def *given, bool quiet, cutis_bake_result **result)
{
    *result = NULL;
    cutis_bake_def def = *given;

    int status;
    cli_interrupt_at_once(true);
    cutis_character *character = cli_load_character(input, quiet, &status);
    cli_interrupt_at_once(false);
    if (!character) return status;
    status = note_clip(&def, character, quiet);

    face f = {.quiet = quiet};
    def.character = character;
    def.source.name = input;
    def.progress = on_progress;
    def.message = on_message;
    def.context = &f;
    cutis_error error;
    cutis_result code = status == CLI_OK ? cutis_bake(&def, result, &error) : CUTIS_OK;

    cli_interrupt_at_once(false);
    cli_progress_end(&f.bar);
    cutis_character_destroy(character);
    if (f.warnings > WARNINGS_SHOWN) cli_warning("and %d more", f.warnings - WARNINGS_SHOWN);

    if (status != CLI_OK || code == CUTIS_OK) return status;
    return code == CUTIS_ERROR_INTERRUPTED ? CLI_INTERRUPTED : cli_library_error(&error);
}

json_t *bake_report(const cutis_bake_result *result)
{
    json_error_t error;
    json_t *report = json_loads(result->report, 0, &error);
    return report ? report : json_null();
}

/* ---- the summary ---- */

/* Print bones inside other flesh, the deepest first. */
static void print_bones(const cutis_bake_result *r)
{
    enum { SHOWN = 3 };
    double last = INFINITY;
    printf("  %-10s", "bones");

    /* the deepest pairs of bones */
    for (int shown = 0; shown < SHOWN && shown < r->bone_count; shown++) {
        int best = -1;
        for (int i = 0; i < r->bone_count; i++)
            if (r->bones[i].depth < last && (best < 0 || r->bones[i].depth > r->bones[best].depth)) best = i;
        if (best < 0) break;

        last = r->bones[best].depth;
        printf("%s %s is inside the flesh of %s (%d frame%s, %.2g %% of the size)", shown ? "," : "",
               r->bone_names[2 * best], r->bone_names[2 * best + 1], r->bones[best].frames,
               r->bones[best].frames == 1 ? "" : "s", 100 * last);
    }

    if (r->bone_count > SHOWN) printf(", and %d more", r->bone_count - SHOWN);
    printf("\n");
}

/* Bones that joints keep out of other flesh, those of most frames first, and the joint that is turned most. */
static void print_turned(const cutis_bake_result *r)
{
    enum { SHOWN = 3 };
    int last = INT_MAX, shown = 0;
    printf("  %-10s", "joints");
    while (shown < SHOWN && shown < r->held_count) {
        int best = -1;
        for (int i = 0; i < r->held_count; i++)
            if (r->held[i].frames < last && (best < 0 || r->held[i].frames > r->held[best].frames)) best = i;
        if (best < 0) break;
        last = r->held[best].frames;
        printf("%s %s held out of %s in %d frame%s", shown ? "," : "", r->held_names[2 * best],
               r->held_names[2 * best + 1], last, last == 1 ? "" : "s");
        shown++;
    }
    if (r->held_count > shown) printf("%s %d more", shown ? ", and" : "", r->held_count - shown);
    printf("%s %s turned by up to %.3g degrees\n", r->held_count ? ";" : "", r->turned[0].name, r->turned[0].degrees);
}

static void print_morphs(const cutis_bake_def *def, const cutis_morphs_info *m)
{
    printf("  %-10s %d, maximum error %.3g %% of the size, RMS %.3g %% (without targets %.3g %%)\n", "targets",
           m->target_count, 100 * m->max_error, 100 * m->rms_error, 100 * m->residual);
    if (m->texcoord_residual > 0)
        printf(
            "  %-10s %d targets move texture coordinates, maximum error %.3g %% of the size (without them %.3g %%)\n",
            "sliding", m->texcoord_target_count, 100 * m->texcoord_max_error, 100 * m->texcoord_residual);
    if (fmax(m->max_error, m->texcoord_max_error) > def->tolerance && !def->exact)
        printf("  %-10s the error exceeds %.3g %%: use more --targets, or --targets exact%s\n", "",
               100 * def->tolerance,
               m->flat_blends > 0 ? "; opposite twists flatten the skin there, which targets cannot correct" : "");
}

/* Print the verdict: the frames compared with linear-blend skinning. */
static void print_verdict(const cutis_bake_result *r)
{
    enum { SHOWN = 3 }; /* findings beside the first */
    const cutis_verdict *v = &r->verdict;
    if (v->gained.text[0]) printf("  %-10s %s\n", "gained", v->gained.text);
    if (v->gained.missed[0]) printf("  %-10s %s\n", "no better", v->gained.missed);
    printf("  %-10s %s\n", "verdict", v->text);
    for (int i = 1; i < v->finding_count && i <= SHOWN; i++) printf("  %-10s %s\n", "", v->findings[i].text);
}

void bake_print_summary(const cutis_bake_def *def, const cutis_bake_result *r)
{
    char count[32], seconds[32], bytes[32];
    system_file about;

    printf("%s", def->output);
    if (system_look(def->output, &about) && about.regular) printf(" (%s)", cli_format_bytes((double)about.size, bytes));
    printf("\n  %-10s %s, %s %s", "solver", r->solver, cli_format_count(r->element_count, count),
           r->element ? r->element : "elements");

    if (r->substep > 0) printf(", substep %.9g s, lead-in %.9g s", r->substep, r->lead_in);
    if (r->body_points > 0)
        printf("\n  %-10s %s points; %d rigid and %d carried pieces", "body", cli_format_count(r->body_points, count),
               r->rigid_pieces, r->carried_pieces);
    printf("\n  %-10s %s, %d at %.9g per second, %s vertices\n", "frames", r->clip ? r->clip : "idle pose",
           r->frame_count, r->fps, cli_format_count(r->vertex_count, count));

    printf("  %-10s %s per frame ", "time", cli_format_seconds(r->step_median, seconds));
    printf("(median; slowest %s), ", cli_format_seconds(r->step_max, seconds));
    printf("build %s, ", cli_format_seconds(r->build_seconds, seconds));
    printf("total %s, %d thread%s\n", cli_format_seconds(r->total_seconds, seconds), r->threads,
           r->threads == 1 ? "" : "s");

    if (!isnan(r->volume_min))
        printf("  %-10s %.2f %% to %.2f %% of rest\n", "volume", 100 * r->volume_min, 100 * r->volume_max);

    if (r->turned_count > 0) print_turned(r);
    if (r->bone_count > 0) print_bones(r);
    if (r->has_loop && r->substep > 0)
        printf("  %-10s seam %.2g %% of the size, %.2g %% of the speed, after %d period%s%s\n", "loop",
               100 * r->loop.position_seam, 100 * r->loop.velocity_seam, r->loop.periods,
               r->loop.periods == 1 ? "" : "s", r->loop.accelerated ? " (accelerated)" : "");
    if (r->has_morphs) print_morphs(def, &r->morphs);
    if (r->has_verdict) print_verdict(r);

    printf("  %-10s %s at most\n", "memory", cli_format_bytes(r->peak_bytes, bytes));
    if (r->repairs || r->unconverged)
        printf("  %-10s %ld non-finite values reset, %ld substeps not converged\n", "trouble", r->repairs,
               r->unconverged);
    printf("  %-10s %016llx\n", "hash", (unsigned long long)r->hash);
}
