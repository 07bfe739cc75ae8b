/*
 * quality.c: the figures of a result as JSON, and the bounds that they break.
 */
#include "quality.h"

#include <math.h>

/* ---- figures ---- */

static json_t *frame_json(int frame) { return frame < 0 ? json_null() : json_integer(frame); }

json_t *quality_json(const cutis_quality *q, double fps)
{
    json_t *root = json_object();

    json_object_set_new(root, "frames", json_integer(q->frames));
    json_object_set_new(root, "fps", cli_json_real(fps));
    json_object_set_new(root, "vertices", json_integer(q->vertices));
    json_object_set_new(root, "size", cli_json_real(q->size));

    json_object_set_new(root, "volume_rest", cli_json_real(q->volume_rest));
    json_object_set_new(root, "volume_error_max", cli_json_real(q->volume_error_max));
    json_object_set_new(root, "volume_error_mean", cli_json_real(q->volume_error_mean));
    json_object_set_new(root, "volume_min_ratio", cli_json_real(q->volume_min_ratio));
    json_object_set_new(root, "volume_union", cli_json_real(q->volume_union));

    json_object_set_new(root, "self_intersections_rest", json_integer(q->self_intersections_rest));
    json_object_set_new(root, "self_intersections_max", json_integer(q->self_intersections_max));
    json_object_set_new(root, "self_intersections_mean", cli_json_real(q->self_intersections_mean));

    json_object_set_new(root, "stretch_p99", cli_json_real(q->stretch_p99));
    json_object_set_new(root, "area_distortion_p99", cli_json_real(q->area_distortion_p99));
    json_object_set_new(root, "acceleration_rms", cli_json_real(q->acceleration_rms));
    json_object_set_new(root, "min_section_ratio", cli_json_real(q->min_section_ratio));
    json_object_set_new(root, "penetration_max", cli_json_real(q->penetration_max));
    json_object_set_new(root, "non_finite", json_integer(q->non_finite));

    json_object_set_new(root, "worst_volume_frame", frame_json(q->worst_volume_frame));
    json_object_set_new(root, "worst_intersection_frame", frame_json(q->worst_intersection_frame));
    json_object_set_new(root, "worst_section_frame", frame_json(q->worst_section_frame));
    json_object_set_new(root, "worst_penetration_frame", frame_json(q->worst_penetration_frame));
    return root;
}

/* ---- bounds ---- */

void quality_print_failures(const cutis_check *checks, int check_count)
{
    for (int i = 0; i < check_count; i++) {
        const cutis_check *check = &checks[i];
        if (check->passed) continue;
        if (isnan(check->value))
            fprintf(stderr, "cutis: check failed: %s%s%.9g, but this result has no such figure\n", check->name,
                    check->relation, check->bound);
        else
            fprintf(stderr, "cutis: check failed: %s%s%.9g, but it is %.9g (off by %.6g)\n", check->name,
                    check->relation, check->bound, check->value, fabs(check->value - check->bound));
    }
}
