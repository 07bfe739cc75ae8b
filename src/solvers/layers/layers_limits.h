/*
 * layers_limits.h: every constant of the solver `layers` that is not a parameter: what it bounds, its unit, where it
 * comes from, and the test that fails when it is wrong. None is chosen for a particular character. Lengths are shares
 * of the character's size (the diagonal of its bounds at rest).
 */
#ifndef SOLVERS_LAYERS_LIMITS_H
#define SOLVERS_LAYERS_LIMITS_H

/* LIMIT(type, name, value, unit, meaning, origin, test); the tests are functions of tests/test_*.c. */
/* clang-format off */
#define LAYERS_LIMITS(LIMIT)                                                                                           \
    /* ---- elasticity ---- */                                                                                         \
    LIMIT(float, CHEBYSHEV_RADIUS, 0.8f, "",                                                                           \
          "contraction of an iteration, by which Chebyshev's recurrence extrapolates",                                 \
          "Wang 2015; less than most scenes have, so that it stays stable: 8 iterations leave the error of 15",        \
          "stiffness_does_not_depend_on_substep_or_iterations")                                                        \
    LIMIT(float, TIE_SHARE, 0.98f, "", "square of the share of its bound at which flesh stiffens no more",              \
          "50 times as stiff there, stiff enough to hold any jump", "nothing_breaks_it_and_it_comes_back")             \
    LIMIT(float, FREEZE_MOST, 0.9999f, "", "painted freezing above which a point counts as wholly frozen in its tie",   \
          "1e8 times as stiff: no motion is left", "frozen_points_follow_linear_skinning")                             \
    LIMIT(float, SPEED_LIMIT, 5, "size/s", "speed of flesh relative to its bones",                                     \
          "above that of any jump or blow", "nothing_breaks_it_and_it_comes_back")                                     \
    /* ---- contact ---- */                                                                                            \
    LIMIT(float, TRAVEL_LIMIT, 0.0125f, "size", "way of the skeleton in a part of a substep, against its mean",           \
          "2.5 sizes/s: people who run stay below; shorter parts cross less where limbs meet, but damp less and tremble", \
          "fast_limbs_are_followed")                                                                                   \
    LIMIT(int, PARTS_LIMIT, 8, "parts", "of a substep at most", "20 sizes/s: what is faster is a cut, no motion",         \
          "fast_limbs_are_followed")                                                                                   \
    LIMIT(float, REACH_LIMIT, 0.04f, "size", "motion of the skin in a substep relative to its mean",                   \
          "a joint torn elsewhere drags its skin along over some substeps", "ten_thousand_random_poses_leave_no_trace") \
    LIMIT(float, REACH_RATE, 3, "size/s", "the same, growing with the substep",                                        \
          "below SPEED_LIMIT", "ten_thousand_random_poses_leave_no_trace")                                             \
    LIMIT(float, YIELD_LEAST, 0.005f, "size", "least depth of flesh that contact counts with",                           \
          "a centimetre on a man: fingers and ears bend out of the way", "touching_sheets_do_not_cross")              \
    LIMIT(float, YIELD_SPREAD, 1.5f, "", "how far around contact lets go, over the distance that it pushes",           \
          "more than the dent's radius", "touching_sheets_do_not_cross")                                       \
    LIMIT(float, HOME_SPEED, 0.5f, "size/s", "speed at which displaced skin comes home, at most",                       \
          "1 m/s on a man: swings of flesh are slower, thin skin that snaps back is not", "skin_comes_home_slowly")       \
    LIMIT(double, RELEASE_TIME, 0.1, "s", "time without crossings after which contact takes hold again",               \
          "one swing of flesh", "touching_sheets_do_not_cross")                                                \
    LIMIT(float, HELD_PUSH, 0.05f, "thickness",                                                                        \
          "push of contact from which on a point gives way to contact alone, not to volume",                           \
          "above rounding, which else would switch the point's share of the volume on and off",                        \
          "contact_does_not_magnify_rounding")                                                                           \
    LIMIT(float, TORN_DISTANCE, 0.3f, "size", "distance of the skin from its place at which it counts as torn",        \
          "six times as deep as flesh is: out of reach of elasticity", "nothing_breaks_it_and_it_comes_back")                 \
    LIMIT(float, SOUND_SHARE, 0.025f, "", "part of TORN_DISTANCE within which a torn skin is home again",              \
          "within the flesh", "nothing_breaks_it_and_it_comes_back")                                                 \
    LIMIT(double, RECOVERY_RATE, 10, "1/s", "rate at which a torn skin is brought home",                               \
          "within a few frames, without a jump", "nothing_breaks_it_and_it_comes_back")                                \
    /* ---- volume ---- */                                                                                             \
    LIMIT(double, PRESSURE_RATE, 4, "1/s", "rate at which a pressure that is not needed goes",                         \
          "the default of damping", "flexed_arm_keeps_volume_and_does_not_intersect")                                  \
    LIMIT(float, PRESSURE_LIMIT, 0.3f, "depth", "largest pressure, over the depth of its sub-volume",                  \
          "skin is not moved by more than a part of its flesh", "nothing_breaks_it_and_it_comes_back")                 \
    LIMIT(double, PRESSURE_STEP, 0.005, "s", "substep that this pressure is of: it acts over a substep squared",         \
          "so that the bound is the same force for all", "flexed_arm_keeps_volume_and_does_not_intersect")             \
    LIMIT(float, FREEDOM_LEAST, 0.3f, "", "part of a sub-volume that must be free for it to be kept in a substep",     \
          "the rest would have to move three times as far", "fist_does_not_intersect")                                 \
    LIMIT(double, VOLUME_SLACK, 1e-4, "", "error of a sub-volume at which its iterations end",                           \
          "below what is seen; pressures take the rest out in later substeps", "every_sub_volume_is_kept")             \
    LIMIT(double, STEP_LIMIT, 0.1, "depth", "how far a projection of volume moves the skin",                           \
          "within the range of its linearisation", "nothing_breaks_it_and_it_comes_back")                              \
    LIMIT(float, PATCH_FLATNESS, 0.6f, "",                                                                             \
          "mean of a piece's normals above which it is no sub-volume",                                                 \
          "0 for a tube, 0.5 for half a sphere, 1 for a plane", "patches_are_no_sub_volumes")                          \
    LIMIT(int, PIECE_TRIANGLES, 32, "triangles", "least size of a sub-volume",                                         \
          "fewer do not enclose a limb", "patches_are_no_sub_volumes")                                                 \
    LIMIT(double, SCALE_LEAST, 0.02, "volume", "swelling of a joint up to which volumes are kept",                       \
          "above rounding and the shear of retargeted joints", "flesh_goes_along_with_scaled_joints")                  \
    LIMIT(double, SCALE_MOST, 0.1, "volume", "swelling of a joint from which on they are not",                           \
          "a kept volume would undo what is asked for and be seen", "flesh_goes_along_with_scaled_joints")              \
    LIMIT(double, CHANGE_LEAST, 0.3, "flesh", "change of a sub-volume by skinning alone, over its flesh, that flesh makes up for",       \
          "creases of elbows and fists are below", "every_sub_volume_is_kept")                                         \
    LIMIT(double, CHANGE_MOST, 0.6, "flesh", "and from which on it does not",                                           \
          "a limb of half its volume is seen to be thin", "flesh_answers_for_no_more_than_itself")                               \
    /* ---- inner layers ---- */                                                                                       \
    LIMIT(float, APART_SHARE, 0.1f, "", "least height of the flesh between two layers as shown, over that at rest",      \
          "clear of 0, little enough for any crease", "inner_layers_do_not_turn_over")                                   \
    LIMIT(float, APART_STEP, 1.3f, "", "over-relaxation of its projections",                                              \
          "between 1 and 2", "inner_layers_do_not_turn_over")                                                          \
    LIMIT(float, APART_DRAW, 0.2f, "way to the skin", "by which columns are drawn whose prism faces away from the skin",   \
          "at 0.5 the layers around them turn over", "inner_layers_stay_in_the_skin")                                   \
    LIMIT(int, APART_SWEEPS, 24, "sweeps", "over those prisms in a substep at most",                                    \
          "what is left is done in the next substeps", "inner_layers_do_not_turn_over")                                \
    LIMIT(int, APART_RINGS, 2, "rings", "around prisms that are too low, which their projections may lower",            \
          "wider than the layers are deep on coarse meshes", "inner_layers_do_not_turn_over")                           \
    LIMIT(float, APART_MOST, 1.5f, "depth", "how far a shown layer is from the simulated one at most",                   \
          "to the other side of its flesh; bounds prisms that no place suits", "inner_layers_do_not_turn_over")            \
    LIMIT(double, APART_TIME, 0.1, "s", "in which shown layers come back to the simulated ones",                        \
          "one swing of flesh", "inner_layers_do_not_turn_over")                                                        \
    /* ---- reset ---- */                                                                                              \
    LIMIT(int, RESET_SUBSTEPS, 40, "substeps", "length of the walk from the rest pose",                                \
          "a joint turns by 5 degrees in each at most", "reset_into_a_pose_is_clean")                                  \
    LIMIT(int, RESET_SETTLING, 10, "substeps", "at the end of that walk, for volumes to settle",                        \
          "pressures have levelled by then", "reset_into_a_pose_is_clean")                                             \
    LIMIT(double, RESET_SUBSTEP, 0.05, "s", "least substep of that walk",                                              \
          "long, so that inertia does not hold soft flesh back", "reset_into_a_pose_is_clean")                         \
    /* ---- build ---- */                                                                                              \
    LIMIT(float, NEARER, 0.9999f, "",                                                                                   \
          "share of the first of two distances squared, or weights, that the second must be below to count as less",     \
          "far above rounding: in a symmetric body the first one is taken, whatever the last bits are",                  \
          "noise_in_the_file_makes_no_difference")                                                                       \
    LIMIT(double, DEEP_FLESH, 0.05, "size", "depth of flesh whose frequency a stiffness gives",                        \
          "the default of `flesh_depth`", "belly_swings_on_after_the_stop_slower_when_softer")                               \
    LIMIT(double, THIN_STIFFNESS, 95.2, "Hz", "stiffness that thin flesh is raised to at most",                           \
          "that of the bone layer", "hands_make_a_fist")                                                               \
    LIMIT(float, LEAST_DEPTH, 2e-4f, "size", "least thickness between layers",                                         \
          "a tenth of a fingernail on a man", "build_survives_every_failing_allocation")                               \
    LIMIT(float, LEAST_MASS, 0.02f, "mean", "least mass of a particle",                                                \
          "keeps ratios of masses that an iteration can level", "size_of_the_character_does_not_matter")               \
    LIMIT(float, CHORD_SHARE, 0.4f, "", "depth of flesh at most, over the thickness of the body there",                \
          "less than half: the layers of two sides do not meet", "hands_make_a_fist")                         \
    LIMIT(float, INWARDS, 0.3f, "", "least cosine of the flesh's way with the inner normal",                           \
          "the bone of an ear lies outside of it", "hands_make_a_fist")                                       \
    LIMIT(int, DEPTH_RINGS, 3, "rings", "over which the depth of the flesh has no steps",                              \
          "as far as a region reaches", "hands_make_a_fist")                                                  \
    LIMIT(float, RADIUS_EDGES, 3.2f, "edges", "radius of a region at most",                                            \
          "three rings: more cost time and change little", "fast_sums_equal_naive_sums")                          \
    LIMIT(double, RADIUS_RANGE, 8, "", "how many times softer or firmer a region gets for its size",                   \
          "the square of three times the radius", "fast_sums_equal_naive_sums")                                   \
    LIMIT(float, UNTANGLE_TOUCH, 0.02f, "thickness", "distance up to which a rest shape is parted",                    \
          "where the search takes features for touching", "touching_sheets_do_not_cross")                              \
    LIMIT(float, UNTANGLE_GAP, 0.1f, "thickness", "distance to which it is parted",                                    \
          "clear of UNTANGLE_TOUCH", "touching_sheets_do_not_cross")                                                   \
    LIMIT(float, UNTANGLE_LIMIT, 2e-3f, "size", "how far a point is moved for it",                                     \
          "more would be seen", "touching_sheets_do_not_cross")                                                        \
    LIMIT(float, TANGLE_FREEZE, 0.999f, "", "how far a place that crosses itself at rest is frozen",                   \
          "all but wholly: contact may still move it", "touching_sheets_do_not_cross")                                 \
    LIMIT(int, TANGLE_RINGS, 5, "rings", "frozen with such a place",                                                   \
          "wider than a contact's stencil", "touching_sheets_do_not_cross")                                            \
    LIMIT(int, TANGLE_FADE, 5, "rings", "over which the freezing fades", "as TANGLE_RINGS",                            \
          "touching_sheets_do_not_cross")                                                                              \
    LIMIT(int, ROOM_RINGS, 6, "rings", "over which flesh grows to its depth around places without room",               \
          "in the first half there is none", "touching_sheets_do_not_cross")                                           \
    LIMIT(float, SHARE_WIDTH, 0.75f, "depth", "over which the shares of neighbouring sub-volumes blend (mean square)",    \
          "no step shows at a cut", "flexed_arm_keeps_volume_and_does_not_intersect")                                  \
    LIMIT(int, SHARE_PASSES, 8, "passes", "in which they do",                                                            \
          "enough for edges of a third of the depth", "flexed_arm_keeps_volume_and_does_not_intersect")                  \
    LIMIT(float, SHARE_STEP, 0.8f, "", "share of the neighbours in a pass at most",                                      \
          "1 would alternate", "flexed_arm_keeps_volume_and_does_not_intersect")                                        \
    LIMIT(int, SHARE_LIMIT, 4, "sub-volumes", "that a point serves at most",                                           \
          "as many as meet at a hip", "flexed_arm_keeps_volume_and_does_not_intersect")
/* clang-format on */

#define LAYERS_LIMIT_ENUM_int(name, value) enum { name = value };
#define LAYERS_LIMIT_ENUM_float(name, value) static const float name = value;
#define LAYERS_LIMIT_ENUM_double(name, value) static const double name = value;
#define LAYERS_LIMIT_DECLARE(type, name, value, unit, meaning, origin, test) LAYERS_LIMIT_ENUM_##type(name, value)
LAYERS_LIMITS(LAYERS_LIMIT_DECLARE)

#endif
