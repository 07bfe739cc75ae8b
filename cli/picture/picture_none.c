/* picture_none.c: stands in for the ray tracer and for video where the program is built without Embree. */
#include "picture.h"

bool picture_possible(void) { return false; }

picture_tracer *picture_tracer_create(void) { return NULL; }

void picture_tracer_destroy(picture_tracer *tracer) { (void)tracer; }

bool picture_render(picture_tracer *tracer, const picture_scene *scene, const cutis_jobs *jobs, picture_image *image)
{
    (void)tracer, (void)scene, (void)jobs, (void)image;
    return false;
}

bool picture_find_opposites(picture_tracer *tracer, const picture_mesh *mesh, const float *normals, float near,
                            int *opposites, float *bary)
{
    (void)tracer, (void)mesh, (void)normals, (void)near, (void)opposites, (void)bary;
    return false;
}

bool picture_video_possible(void) { return false; }

cutis_result picture_video_create(const char *path, int width, int height, double fps, picture_video **video,
                                  cutis_error *error)
{
    (void)width, (void)height, (void)fps;
    *video = NULL;
    return picture_fail(error, CUTIS_ERROR_UNSUPPORTED, "%s: this build of cutis cannot write videos", path);
}

cutis_result picture_video_append(picture_video *video, const picture_image *image, cutis_error *error)
{
    (void)video, (void)image;
    return picture_fail(error, CUTIS_ERROR_UNSUPPORTED, "this build of cutis cannot write videos");
}

cutis_result picture_video_finish(picture_video *video, cutis_error *error)
{
    return picture_video_append(video, NULL, error);
}

void picture_video_discard(picture_video *video) { (void)video; }
