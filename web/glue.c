/*
 * glue.c: the functions of C that JavaScript needs as pointers. Everything else of include/cutis is called as it is, by
 * the layouts that scripts/web_structs.py reads from the headers.
 */
#include <emscripten.h>

#include <cutis/cutis.h>

/* Module.host of the loader: one object of JavaScript for each call that reports, found by its number. */
EM_JS(int, host_progress, (int number, int stage, int done, int total),
      { return Module['host'].progress(number, stage, done, total) ? 1 : 0; });
EM_JS(void, host_message, (int number, int kind, const char *text), { Module['host'].message(number, kind, text); });

static bool glue_progress(void *context, cutis_bake_stage stage, long done, long total)
{
    return host_progress((int)(intptr_t)context, (int)stage, (int)done, (int)total) != 0;
}

static void glue_message(void *context, cutis_bake_message kind, const char *text)
{
    host_message((int)(intptr_t)context, (int)kind, text);
}

/* For cutis_bake_def.progress and .message; the context is the number of the call. */
void *cutis_web_progress(void);
void *cutis_web_message(void);
/* For cutis_motion.sample; the context is a cutis_clip_motion. */
void *cutis_web_clip_sample(void);

void *cutis_web_progress(void) { return (void *)glue_progress; }
void *cutis_web_message(void) { return (void *)glue_message; }
void *cutis_web_clip_sample(void) { return (void *)cutis_clip_motion_sample; }
