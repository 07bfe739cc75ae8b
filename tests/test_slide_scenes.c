/*
 * test_slide_scenes.c: the scenes of Li et al. 2013 with the figures they must show. Run by itself it prints the
 * table of docs/reference/solvers/slide.md. Given a folder as its argument, it also writes the painted characters
 * there, from which scripts/slide_pictures.sh makes the pictures. A second argument chooses tests by name.
 */
#include "slide_scenes.h"

static const char *folder; /* for characters, or NULL */

static void keep(const cutis_character *c, const char *name)
{
    char path[600];
    cutis_error error;
    if (!folder) return;
    snprintf(path, sizeof path, "%s/%s.glb", folder, name);
    if (cutis_character_save(c, path, &error) != CUTIS_OK) fail_msg("%s", error.text);
}

static const float *at(const float *frames, const cutis_character *c, int frame)
{
    return frames + (size_t)frame * 3 * (size_t)c->vertex_count;
}

/* ---- torus, Figure 3 ---- */

static double area_deviation(const cutis_character *c, const float *p)
{
    double sum = 0, square = 0, total = 0;
    for (int t = 0; t < c->triangle_count; t++) {
        const int *v = c->triangles + 3 * t;
        double rest = triangle_area(v, c->positions), strain = triangle_area(v, p) / rest - 1;
        sum += rest * strain, square += rest * strain * strain, total += rest;
    }
    return sqrt(fmax(square / total - sum * sum / (total * total), 0));
}

static void torus_spreads_its_distortion(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("torus", 0.5);
    keep(c, "torus");
    scene_motion motion = {c, cutis_character_find_clip(c, "squash"), 0, NULL, 0, NULL};
    const double times[] = {1.39};
    const char *const plain_settings[] = {"output=vertices", NULL};
    const char *const settings[] = {"output=vertices", "area=30", NULL};
    float *plain = scene_run(c, "lbs", NULL, &motion, times, 1);
    float *usual = scene_run(c, "slide", plain_settings, &motion, times, 1);
    float *skin = scene_run(c, "slide", settings, &motion, times, 1);
    double a = area_deviation(c, plain), b = area_deviation(c, skin), d = area_deviation(c, usual);
    print_message(
        "torus squash: deviation of area strain, plain %.4f, slide %.4f: 1/%.1f; without area=30 %.4f: 1/%.1f\n", a, b,
        a / b, d, a / d);
    assert_true(b <= a / 5);
    assert_true(d <= a / 2.5);
    free(plain), free(usual), free(skin);
    cutis_character_destroy(c);
}

/* ---- cylinder, Figure 4 ---- */

static float both_ends(const cutis_character *c, int v) { return fabsf(c->positions[3 * v]) > 0.479f; }
static float left_end(const cutis_character *c, int v) { return c->positions[3 * v] < -0.479f; }

/* How far each vertex of the mantle has turned about the axis, against x: the fit's R2, and the mean turn for x > 0. */
static double turn_of(const float *rest, const float *p)
{
    double a = atan2((double)p[2], (double)p[1]) - atan2((double)rest[2], (double)rest[1]);
    while (a < -0.5) a += 6.283185307179586;
    while (a > 5.78) a -= 6.283185307179586;
    return a;
}

static double linear_fit(const cutis_character *c, const float *p, double *mean_right)
{
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0, right = 0, count = 0;
    for (int v = 0; v < c->vertex_count; v++) {
        double x = (double)c->positions[3 * v];
        if (fabs(x) > 0.47) continue;
        double y = turn_of(c->positions + 3 * v, p + 3 * v);
        n++, sx += x, sy += y, sxx += x * x, sxy += x * y, syy += y * y;
        if (x > 0) right += y, count++;
    }
    double cov = sxy - sx * sy / n, vx = sxx - sx * sx / n, vy = syy - sy * sy / n;
    *mean_right = right / count;
    return vy > 0 ? cov * cov / (vx * vy) : 0;
}

static void cylinder_twists_or_stays(void **state)
{
    (void)state;
    double plain_right, fixed_right, free_right;
    const double times[] = {1.75};
    cutis_character *c = scene_paint(test_zoo("cylinder", 0.6), "freeze", both_ends);
    scene_motion motion = {c, cutis_character_find_clip(c, "twist"), 0, NULL, 0, NULL};
    const char *const settings[] = {"output=vertices", NULL};
    const char *const loose[] = {"output=vertices", "zeta=0", "damping=0", NULL};
    keep(c, "cylinder_fixed");
    float *plain = scene_run(c, "lbs", NULL, &motion, times, 1);
    float *skin = scene_run(c, "slide", settings, &motion, times, 1);
    double plain_fit = linear_fit(c, plain, &plain_right), fit = linear_fit(c, skin, &fixed_right);
    print_message("cylinder twist, right end fixed: R2 of the turn along the axis, plain %.4f, slide %.4f\n", plain_fit,
                  fit);
    free(skin);
    cutis_character_destroy(c);

    c = scene_paint(test_zoo("cylinder", 0.6), "freeze", left_end);
    motion.character = c;
    keep(c, "cylinder_loose");
    skin = scene_run(c, "slide", loose, &motion, times, 1);
    linear_fit(c, skin, &free_right);
    print_message("cylinder twist, right end sliding: body turns by %.1f degrees there, skin by %.2f\n",
                  plain_right * 57.2958, free_right * 57.2958);
    assert_true(fit >= 0.99);
    assert_true(fit > plain_fit);
    assert_true(fabs(free_right) < 0.05 * plain_right);
    free(plain), free(skin);
    cutis_character_destroy(c);
}

/* ---- neck, Figure 5 ---- */

enum { LINE_LIMIT = 100 };

/*
 * The front of the neck: a line of vertices in the middle plane, from the bust's lower edge, where skin is attached, up
 * to the head, to which it is attached too.
 */
static int front_line(const cutis_character *c, int line[LINE_LIMIT])
{
    int head = cutis_character_find_joint(c, "head"), count = 0;
    for (double y = -0.02;;) {
        int next = -1;
        for (int v = 0; v < c->vertex_count; v++) {
            const float *p = c->positions + 3 * v;
            if (fabsf(p[0]) > 0.006f || p[2] < 0 || (double)p[1] < y) continue;
            if (next < 0 || p[1] < c->positions[3 * next + 1]) next = v;
        }
        assert_true(next >= 0 && count < LINE_LIMIT);
        line[count++] = next;
        for (int i = c->influence_first[next]; i < c->influence_first[next + 1]; i++)
            if (c->influence_joints[i] == head && c->influence_weights[i] >= 0.5f) return count;
        y = (double)c->positions[3 * next + 1] + 0.004;
    }
}

static double distance_in_plane(const float *a, const float *b)
{
    return hypot((double)a[1] - (double)b[1], (double)a[2] - (double)b[2]);
}

/*
 * When the head is raised, the front of the neck grows longer. What the skin there should do is what an even strip
 * between its two attachments does: take a share of the growth in proportion to the length below. Told is which part
 * of that way, along the body's line, the skin has gone: the least of all places, and the mean. The lowest tenth of
 * the line is left out, for there the way is too short to divide by.
 */
static double least_share(const cutis_character *c, const float *body, const float *skin, double *mean)
{
    int line[LINE_LIMIT], count = front_line(c, line), counted = 0;
    double rest[LINE_LIMIT] = {0}, posed[LINE_LIMIT] = {0}, least = HUGE_VAL, sum = 0;
    for (int i = 1; i < count; i++) {
        rest[i] = rest[i - 1] + distance_in_plane(c->positions + 3 * line[i], c->positions + 3 * line[i - 1]);
        posed[i] = posed[i - 1] + distance_in_plane(body + 3 * line[i], body + 3 * line[i - 1]);
    }
    double length = rest[count - 1], growth = posed[count - 1] / length - 1;
    assert_true(growth > 0.1);
    for (int i = 1; i + 1 < count; i++) {
        if (rest[i] < 0.1 * length) continue;
        /* Where on the body's line the skin lies. */
        const float *q = skin + 3 * line[i];
        double nearest = HUGE_VAL, at_length = 0;
        for (int k = 0; k + 1 < count; k++) {
            const float *a = body + 3 * line[k], *b = body + 3 * line[k + 1];
            double ey = (double)b[1] - (double)a[1], ez = (double)b[2] - (double)a[2], dy = (double)q[1] - (double)a[1];
            double dz = (double)q[2] - (double)a[2], t = fmin(fmax((dy * ey + dz * ez) / (ey * ey + ez * ez), 0), 1);
            double off = hypot(dy - t * ey, dz - t * ez);
            if (off < nearest) nearest = off, at_length = posed[k] + t * hypot(ey, ez);
        }
        double share = (at_length - rest[i]) / (growth * rest[i]);
        least = fmin(least, share), sum += share, counted++;
    }
    *mean = sum / counted;
    return least;
}

/* How far the skin over the larynx goes, as a part of the larynx's way. */
static double larynx_follow(const cutis_character *c, const float *skin, double way)
{
    double sum = 0, count = 0;
    for (int v = 0; v < c->vertex_count; v++) {
        const float *p = c->positions + 3 * v;
        double x = (double)p[0], y = (double)p[1] - 0.168, z = (double)p[2] - 0.056;
        if (x * x + y * y + z * z > 0.015 * 0.015) continue;
        sum += (double)skin[3 * v + 1] - (double)p[1], count++;
    }
    assert_true(count > 3);
    return sum / count / way;
}

static float lower_edge(const cutis_character *c, int v) { return c->positions[3 * v + 1] < -0.02f; }

static void neck_skin_follows_the_head_not_the_larynx(void **state)
{
    (void)state;
    cutis_character *c = scene_paint(test_zoo("neck", 0.4), "freeze", lower_edge);
    const char *const settings[] = {"output=vertices", "bones.head.attach=1", NULL};
    keep(c, "neck_skin");
    scene_motion motion = {c, cutis_character_find_clip(c, "look_up"), 0, NULL, 0, NULL};
    const double up[] = {1.75}, swallow[] = {0.74};
    float *plain = scene_run(c, "lbs", NULL, &motion, up, 1), *skin = scene_run(c, "slide", settings, &motion, up, 1);
    double plain_mean, mean;
    double look_plain = least_share(c, plain, plain, &plain_mean), look = least_share(c, plain, skin, &mean);
    free(plain), free(skin);
    motion.clip = cutis_character_find_clip(c, "swallow");
    plain = scene_run(c, "lbs", NULL, &motion, swallow, 1);
    skin = scene_run(c, "slide", settings, &motion, swallow, 1);
    double gulp_plain = larynx_follow(c, plain, 0.022), gulp = larynx_follow(c, skin, 0.022);
    print_message("neck look_up: part of its even share that skin at the front goes, least (mean): plain %.2f (%.2f), "
                  "slide %.2f (%.2f)\n",
                  look_plain, plain_mean, look, mean);
    print_message("neck swallow: skin's way over the larynx's, plain %.2f, slide %.2f\n", gulp_plain, gulp);
    assert_true(look >= 0.5 && look_plain < 0.1);
    assert_true(gulp < 0.2 && gulp_plain > 0.5);
    free(plain), free(skin);
    cutis_character_destroy(c);
}

/* ---- hand, Figure 6 ---- */

static void flex_finger(const scene_motion *m, double time, float *joints)
{
    double bend = m->amount * fmin(time / 0.5, 1);
    char name[32];
    for (int k = 1; k <= 3; k++) {
        snprintf(name, sizeof name, "%s_%d", m->joint, k);
        /* The axis that turns the finger towards the palm: across the hand. */
        const double axis[3] = {1, 0, 0};
        scene_turn(m->character, joints, name, axis, bend);
    }
}

static void hand_skin_moves_towards_the_flexing_finger(void **state)
{
    (void)state;
    cutis_character *c = test_zoo("hand", 0.3);
    keep(c, "hand");
    static const char *const fingers[] = {"pinky", "index"};
    const char *const settings[] = {
        "output=vertices",         "bones.forearm.attach=1", "bones.thumb_3.attach=1", "bones.index_3.attach=1",
        "bones.middle_3.attach=1", "bones.ring_3.attach=1",  "bones.pinky_3.attach=1", NULL};
    float rest[12 * 32];
    cutis_pose_rest(c, rest);
    int hand = cutis_character_find_joint(c, "hand");
    const float *wrist = rest + 12 * hand, *knuckles[2];
    for (int f = 0; f < 2; f++) {
        char name[32];
        snprintf(name, sizeof name, "%s_1", fingers[f]);
        knuckles[f] = rest + 12 * cutis_character_find_joint(c, name);
    }
    /* Directions: along the hand to each knuckle, and across it from index to pinky. */
    double moved[2][2], across[2] = {0, 0}, width = 0;
    for (int e = 0; e < 3; e++) {
        double d = (double)knuckles[0][4 * e + 3] - (double)knuckles[1][4 * e + 3];
        width += d * d;
    }
    width = sqrt(width);
    for (int f = 0; f < 2; f++) {
        scene_motion motion = {c, -1, 0, flex_finger, 1.2, fingers[f]};
        const double times[] = {0.9};
        float *plain = scene_run(c, "lbs", NULL, &motion, times, 1),
              *skin = scene_run(c, "slide", settings, &motion, times, 1);
        for (int k = 0; k < 2; k++) {
            double d[3], length = 0, sum = 0, count = 0, side = 0;
            for (int e = 0; e < 3; e++) {
                d[e] = (double)knuckles[k][4 * e + 3] - (double)wrist[4 * e + 3];
                length += d[e] * d[e];
            }
            for (int v = 0; v < c->vertex_count; v++) {
                /* The back of the hand: between wrist and knuckles, above the bones. */
                double along = 0, above = (double)c->positions[3 * v + 1] - (double)wrist[7];
                for (int e = 0; e < 3; e++)
                    along += d[e] * ((double)c->positions[3 * v + e] - (double)wrist[4 * e + 3]);
                if (along < 0.5 * length || along > length || above < 0.004) continue;
                for (int e = 0; e < 3; e++) sum += d[e] * ((double)skin[3 * v + e] - (double)plain[3 * v + e]);
                count++;
                for (int e = 0; e < 3; e++)
                    side += ((double)knuckles[0][4 * e + 3] - (double)knuckles[1][4 * e + 3]) *
                            ((double)skin[3 * v + e] - (double)plain[3 * v + e]);
            }
            moved[f][k] = 1e3 * sum / count / sqrt(length);
            across[f] += 0.5e3 * side / count / width;
        }
        free(plain), free(skin);
    }
    print_message("hand: mean slide of the back of the hand, mm towards knuckle of (pinky, index): pinky flexed %.3f, "
                  "%.3f; index flexed %.3f, %.3f\n",
                  moved[0][0], moved[0][1], moved[1][0], moved[1][1]);
    print_message("hand: across, from index to pinky: %.2f mm when the pinky is flexed, %.2f mm when the index is\n",
                  across[0], across[1]);
    assert_true(moved[0][0] > 0 && moved[1][1] > 0);
    assert_true(moved[0][0] > moved[0][1] && moved[1][1] > moved[1][0]);
    /* Figure 6: seen as a shift of veins towards the finger that is flexed, a hundredth of the hand's width or more */
    assert_true(across[0] > 0.8 && across[1] < -0.8);
    cutis_character_destroy(c);
}

/* ---- shirt, Figure 7 ---- */

/* All but trunk and upper arms is no shirt. */
static float not_shirt(const cutis_character *c, int v)
{
    double shirt = 0;
    for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
        const char *name = c->joints[c->influence_joints[i]].name;
        if (strcmp(name, "spine") == 0 || strcmp(name, "chest") == 0 || strncmp(name, "shoulder", 8) == 0 ||
            strncmp(name, "upper_arm", 9) == 0)
            shirt += (double)c->influence_weights[i];
    }
    return shirt < 0.5;
}

static void lift_arm(const scene_motion *m, double time, float *joints)
{
    const double axis[3] = {0, 0, 1};
    scene_turn(m->character, joints, "upper_arm_l", axis, m->amount * fmin(time / 0.6, 1));
}

static void shrug(const scene_motion *m, double time, float *joints)
{
    const double left[3] = {0, 0, 1}, right[3] = {0, 0, -1};
    double turn = m->amount * fmin(time / 0.6, 1);
    scene_turn(m->character, joints, "shoulder_l", left, turn);
    scene_turn(m->character, joints, "shoulder_r", right, turn);
}

static double largest_strain(const cutis_character *c, const float *p)
{
    double largest = 0;
    for (int t = 0; t < c->triangle_count; t++) {
        const int *v = c->triangles + 3 * t;
        bool shirt = true;
        for (int k = 0; k < 3; k++) shirt &= not_shirt(c, v[k]) < 0.5f;
        if (shirt) largest = fmax(largest, triangle_strain(v, c->positions, p));
    }
    return largest;
}

static void shirt_shares_its_stretch(void **state)
{
    (void)state;
    cutis_character *c = scene_paint(test_zoo("man", 0.25), "freeze", not_shirt);
    const char *const settings[] = {"output=vertices", NULL};
    const double times[] = {1.2};
    static const struct {
        const char *name;
        void (*pose)(const scene_motion *, double, float *);
        double amount;
    } moves[] = {{"arm lift", lift_arm, 0.9}, {"shrug", shrug, 0.35}};
    keep(c, "man_shirt");
    for (int i = 0; i < 2; i++) {
        scene_motion motion = {c, -1, 0, moves[i].pose, moves[i].amount, NULL};
        float *plain = scene_run(c, "lbs", NULL, &motion, times, 1),
              *skin = scene_run(c, "slide", settings, &motion, times, 1);
        double a = largest_strain(c, plain), b = largest_strain(c, skin);
        print_message("shirt, %s: largest strain, plain %.3f, slide %.3f: %.2f of it\n", moves[i].name, a, b, b / a);
        assert_true(b <= 0.5 * a);
        free(plain), free(skin);
    }
    cutis_character_destroy(c);
}

/* ---- torus shaken, Figure 8 ---- */

static void zeta_ties_the_skin(void **state)
{
    (void)state;
    enum { COUNT = 64 };
    static const char *const values[] = {"zeta=0", "zeta=0.5", "zeta=1"};
    cutis_character *c = test_zoo("torus", 0.5);
    scene_motion motion = {c, cutis_character_find_clip(c, "shake"), 0, NULL, 0, NULL};
    double times[COUNT], largest[3], lag[3], over[3];
    for (int i = 0; i < COUNT; i++) times[i] = 0.05 * (i + 1);
    float *body = scene_run(c, "lbs", NULL, &motion, times, COUNT);
    for (int z = 0; z < 3; z++) {
        const char *const settings[] = {"output=vertices", values[z], NULL};
        float *skin = scene_run(c, "slide", settings, &motion, times, COUNT);
        largest[z] = lag[z] = over[z] = 0;
        for (int i = 0; i < COUNT; i++) {
            double mean = 0, shift = (double)at(body, c, i)[0] - (double)c->positions[0];
            for (int v = 0; v < c->vertex_count; v++) {
                double square = 0;
                for (int e = 0; e < 3; e++) {
                    double d = (double)at(skin, c, i)[3 * v + e] - (double)at(body, c, i)[3 * v + e];
                    square += d * d;
                }
                mean += ((double)at(skin, c, i)[3 * v] - (double)at(body, c, i)[3 * v]) / c->vertex_count;
                largest[z] = fmax(largest[z], sqrt(square) / (double)c->size);
            }
            /* Against the body's way: behind it; along: beyond it. */
            double signed_lag = shift > 0 ? -mean : mean;
            lag[z] = fmax(lag[z], signed_lag / (double)c->size), over[z] = fmax(over[z], -signed_lag / (double)c->size);
        }
        free(skin);
    }
    for (int z = 0; z < 3; z++)
        print_message("torus shake, %s: largest slide %.2g of the size; mean lag %.2g, overshoot %.2g\n", values[z],
                      largest[z], lag[z], over[z]);
    /* a body of floats trembles by their rounding, and the skin with it */
    assert_true(largest[2] < 1e-4);
    assert_true(largest[0] > largest[1] && largest[1] > largest[2]);
    assert_true(lag[0] > 1e-3 && over[0] > 0.1 * lag[0]);
    free(body);
    cutis_character_destroy(c);
}

/* ---- dinosaur ---- */

/* How the skin of a walker swings after it stops. */
typedef struct jiggle {
    double soon, later, late; /* its speed after the stop, 0.4 s and 1.2 s later, sizes a second */
    double rate;              /* at which it dies down, 1 / s */
    int turns;                /* how often its velocity, in the measure of what it was at first, passes zero */
} jiggle;

static jiggle jiggle_after_stop(const cutis_character *c, const char *const *settings)
{
    enum { COUNT = 150 };
    scene_motion motion = {c, cutis_character_find_clip(c, "Walk"), 0.7, NULL, 0, NULL};
    cutis_model *model = test_build(c, "slide", settings);
    cutis_state *run = test_state(model, NULL);
    cutis_step_input input = {.motion = {&motion, scene_sample}};
    float *joints = malloc((size_t)c->joint_count * 12 * sizeof *joints);
    scene_sample(&motion, 0, joints);
    cutis_state_reset(model, run, joints);
    free(joints);

    /* velocities by differences of the sliding */
    size_t n = 3 * (size_t)c->vertex_count;
    float *last = calloc(n, sizeof *last);
    double *first = calloc(n, sizeof *first), along[COUNT] = {0}, speed[COUNT] = {0};
    for (int i = 0; i < COUNT; i++) {
        cutis_output sliding;
        cutis_state_step(model, run, &input, i == 0 ? 0.7 : 0.008);
        scene_assert_sound(model, run);
        assert_true(cutis_state_output(model, run, "sliding", &sliding));
        for (size_t k = 0; k < n; k++) {
            double v = ((double)sliding.values[k] - (double)last[k]) / 0.008 / (double)c->size;
            if (i == 2) first[k] = v;
            along[i] += v * first[k];
            speed[i] += v * v / c->vertex_count;
            last[k] = sliding.values[k];
        }
    }

    /* swings count from 1 % of the first speed on: below, single points that come free decide */
    jiggle found = {0};
    double swing = along[2];
    for (int i = 3; i < COUNT; i++) {
        if (!(fabs(along[i]) > 0.01 * along[2])) continue;
        found.turns += along[i] * swing < 0;
        swing = along[i];
    }
    for (int i = 2; i < 12; i++) found.soon = fmax(found.soon, sqrt(speed[i]));
    for (int i = 50; i < 60; i++) found.later = fmax(found.later, sqrt(speed[i]));
    for (int i = COUNT - 10; i < COUNT; i++) found.late = fmax(found.late, sqrt(speed[i]));
    found.rate = log(found.soon / found.later) / (48 * 0.008);

    free(last);
    free(first);
    cutis_state_destroy(run);
    cutis_model_destroy(model);
    return found;
}

/*
 * After the stop the skin swings, and its energy dies down at the rate that was asked for and not at once: the default
 * damping leaves a few swings above 1 %, a quarter of it many.
 */
static void dinosaur_jiggles_after_the_stop(void **state)
{
    (void)state;
    const char *path = test_model("mesh2motion-kaiju/kaiju.glb");
    if (!path) skip();
    cutis_character *c = NULL;
    cutis_error error;
    assert_int_equal(cutis_character_load(path, NULL, &c, &error), CUTIS_OK);
    const char *const settings[2][4] = {{"zeta=0.3", "wave_speed=4"}, {"zeta=0.3", "wave_speed=4", "damping=1"}};
    jiggle found[2];
    for (int i = 0; i < 2; i++) {
        found[i] = jiggle_after_stop(c, settings[i]);
        print_message("dinosaur%s: speed of the skin %.2g sizes a second after the stop, %.2g after 0.4 s, %.2g after "
                      "1.2 s; it turns %d times and dies down at %.1f 1/s\n",
                      i ? ", damping 1" : "", found[i].soon, found[i].later, found[i].late, found[i].turns,
                      found[i].rate);
        assert_true(found[i].soon > 1e-3);
    }
    assert_true(found[0].turns >= 4);
    assert_true(found[0].rate > 2 && found[0].rate < 12);
    assert_true(found[0].late < 0.1 * found[0].soon);
    assert_true(found[1].turns >= 8);
    assert_true(found[1].rate < 0.7 * found[0].rate);
    cutis_character_destroy(c);
}

/* ---- rest and rigid motion ---- */

static void rigid_turn(const scene_motion *m, double time, float *joints)
{
    const double axis[3] = {0.6, 0, 0.8};
    scene_turn(m->character, joints, m->character->joints[0].name, axis, m->amount * time);
    for (int j = 0; j < m->character->joint_count; j++) joints[12 * j + 3] += (float)(m->amount * time);
}

static void nothing_slides_without_deformation(void **state)
{
    (void)state;
    static const char *const names[] = {"torus", "neck", "man"};
    const double times[] = {0.1, 0.5};
    const char *const settings[] = {"output=vertices", NULL};
    double worst[2] = {0, 0};
    for (int n = 0; n < 3; n++) {
        cutis_character *c = test_zoo(names[n], 0.2);
        for (int rigid = 0; rigid < 2; rigid++) {
            scene_motion motion = {c, -1, 0, rigid ? rigid_turn : NULL, 2, NULL};
            float *plain = scene_run(c, "lbs", NULL, &motion, times, 2),
                  *skin = scene_run(c, "slide", settings, &motion, times, 2);
            for (int i = 0; i < 6 * c->vertex_count; i++)
                worst[rigid] = fmax(worst[rigid], fabs((double)plain[i] - (double)skin[i]) / (double)c->size);
            free(plain), free(skin);
        }
        cutis_character_destroy(c);
    }
    print_message("largest slide at rest %.2g, in rigid motion %.2g of the size\n", worst[0], worst[1]);
    assert_true(worst[0] < 1e-6);
    assert_true(worst[1] < 1e-6);
}

int main(int count, char **arguments)
{
    folder = count > 1 && arguments[1][0] ? arguments[1] : NULL;
    if (count > 2) cmocka_set_test_filter(arguments[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torus_spreads_its_distortion),
        cmocka_unit_test(cylinder_twists_or_stays),
        cmocka_unit_test(neck_skin_follows_the_head_not_the_larynx),
        cmocka_unit_test(hand_skin_moves_towards_the_flexing_finger),
        cmocka_unit_test(shirt_shares_its_stretch),
        cmocka_unit_test(zeta_ties_the_skin),
        cmocka_unit_test(dinosaur_jiggles_after_the_stop),
        cmocka_unit_test(nothing_slides_without_deformation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
