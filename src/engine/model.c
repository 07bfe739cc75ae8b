/* model.c: builds a model: parses the stack, sets the parameters, lets each solver build, lays out the state. */
#include <stdio.h>
#include <string.h>

#include "engine/model_object.h"
#include "engine/presets.h"

/* Where a state's own fields end and its arrays begin. */
static size_t align_up(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

/* Room for `bytes` behind *end, which moves behind it, at a line of memory. Returns its offset. */
static size_t take(size_t *end, size_t bytes)
{
    size_t at = align_up(*end);
    *end = at + bytes;
    return at;
}

static void model_warn(void *context, const char *sentence)
{
    cutis_model *m = context;
    const char *copy = arena_string(&m->memory, sentence);
    if (copy && m->warning_count < COUNT_OF(m->warnings)) m->warnings[m->warning_count++] = copy;
}

static void model_note(void *context, const char *sentence)
{
    cutis_model *m = context;
    const char *copy = arena_string(&m->memory, sentence);
    if (copy && m->note_count < COUNT_OF(m->notes)) m->notes[m->note_count++] = copy;
}

cutis_model_def cutis_model_def_default(void)
{
    return (cutis_model_def){.solver = cutis_solver_with(CUTIS_SOLVER_BASELINE)->name};
}

/* ---- the stack ---- */

static cutis_result unknown_solver(const char *name, cutis_error *error)
{
    name_search search = name_search_start(name);
    for (int i = 0; i < solver_table_count; i++) name_search_offer(&search, solver_table[i]->info.name);
    if (search.nearest) {
        return error_set(error, CUTIS_ERROR_ARGUMENT, "there is no solver '%s'; did you mean '%s'?", name,
                         search.nearest);
    }
    return error_set(error, CUTIS_ERROR_ARGUMENT, "there is no solver '%s'; 'cutis solvers' lists them", name);
}

static const solver *find_solver(const char *name, size_t length)
{
    for (int i = 0; i < solver_table_count; i++) {
        const char *other = solver_table[i]->info.name;
        if (strlen(other) == length && strncmp(other, name, length) == 0) return solver_table[i];
    }
    return NULL;
}

static const solver *baseline(void)
{
    for (int i = 0; i < solver_table_count; i++) {
        if (solver_table[i]->info.flags & CUTIS_SOLVER_BASELINE) return solver_table[i];
    }
    return NULL;
}

/* "body+skin" to stages. A surface solver in front runs on the baseline. */
static cutis_result parse_stack(cutis_model *m, const char *text, cutis_error *error)
{
    for (const char *at = text; at;) {
        /* the solver named up to the next plus */
        const char *plus = strchr(at, '+');
        size_t length = plus ? (size_t)(plus - at) : strlen(at);
        const solver *s = find_solver(at, length);
        if (!s) {
            const char *name = arena_format(&m->memory, "%.*s", (int)MIN(length, 64), at);
            return name ? unknown_solver(name, error) : error_memory(error, "a model");
        }

        /* one body first, then surfaces on it */
        bool surface = s->info.flags & CUTIS_SOLVER_SURFACE;
        if (surface && m->stage_count == 0) m->stages[m->stage_count++].solver = baseline();
        if (!surface && m->stage_count > 0) {
            return error_set(error, CUTIS_ERROR_ARGUMENT,
                             "solver '%s' simulates a body and cannot run on another solver; put it first",
                             s->info.name);
        }

        /* the next of the stack */
        if (m->stage_count == STAGE_LIMIT) {
            return error_set(error, CUTIS_ERROR_ARGUMENT, "'%s': a stack has at most %d solvers", text, STAGE_LIMIT);
        }
        m->stages[m->stage_count++].solver = s;
        at = plus ? plus + 1 : NULL;
    }

    return CUTIS_OK;
}

/*
 * Every stage runs at its own substep: the first dynamic one at the one asked for, or its own, so that it moves as it
 * does alone; those that follow at the substep before, divided by the whole number that comes nearest to their own. A
 * geometric stage is evaluated whenever the last one runs.
 */
static void divide_time(cutis_model *m, double asked)
{
    /* the first dynamic stage sets the substep; the others divide it further */
    int parts[STAGE_LIMIT] = {0};
    m->parts = 1;
    for (int i = 0; i < m->stage_count; i++) {
        double own = m->stages[i].solver->info.substep;
        if (!(own > 0)) continue;
        if (m->substep > 0) {
            m->parts *= MAX((int)floor(m->substep / m->parts / own + 0.5 + 1e-6), 1);
        } else {
            m->substep = asked > 0 ? asked : own;
        }
        parts[i] = m->parts;
    }

    /* how many of the last stage's substeps each stage's own spans */
    for (int i = 0; i < m->stage_count; i++) {
        stage *s = &m->stages[i];
        s->span = parts[i] > 0 ? m->parts / parts[i] : 1;
        s->substep = m->substep / (m->parts / s->span);
    }
}

/* ---- weights of the points ---- */

/* The average of the vertices that make a point; vertices of a point have nearly equal weights. */
static cutis_result build_point_weights(const cutis_character *c, arena *memory, point_weights *result,
                                        cutis_error *error)
{
    int *first = ARENA_ARRAY(memory, int, (size_t)c->point_count + 1);
    if (!first) return error_memory(error, "weights");
    *result = (point_weights){first, NULL, NULL};
    if (!c->influence_first) return CUTIS_OK;

    /* room: as many influences as the first vertex of each point has */
    size_t total = 0;
    for (int p = 0; p < c->point_count; p++) {
        int v = c->point_vertices[p];
        first[p] = (int)total;
        total += (size_t)(c->influence_first[v + 1] - c->influence_first[v]);
    }

    first[c->point_count] = (int)total;
    int *joints = ARENA_ARRAY(memory, int, total);
    float *weights = ARENA_ARRAY(memory, float, total);
    if (memory->failed) return error_memory(error, "weights");

    /* Joints of the first vertex; weights of all, as far as they share those joints. */
    for (int p = 0; p < c->point_count; p++) {
        int from = c->influence_first[c->point_vertices[p]];
        for (int k = first[p]; k < first[p + 1]; k++) joints[k] = c->influence_joints[from + k - first[p]];
    }

    for (int v = 0; v < c->vertex_count; v++) {
        int p = c->vertex_points[v];
        for (int i = c->influence_first[v]; i < c->influence_first[v + 1]; i++) {
            for (int k = first[p]; k < first[p + 1]; k++) {
                if (joints[k] == c->influence_joints[i]) weights[k] += c->influence_weights[i];
            }
        }
    }

    /* weights of a point sum to 1 */
    for (int p = 0; p < c->point_count; p++) {
        float sum = 0;
        for (int k = first[p]; k < first[p + 1]; k++) sum += weights[k];
        for (int k = first[p]; k < first[p + 1]; k++) weights[k] /= sum;
    }

    *result = (point_weights){first, joints, weights};
    return CUTIS_OK;
}

/* ---- build ---- */

/*
 * Settings that the file brings along were written for whatever solver its author used: those that no stage
 * here knows are passed over, with a warning if no solver at all knows them.
 */
static cutis_result apply_file_settings(cutis_model *m, solver_values *values, cutis_error *error)
{
    const cutis_character *c = m->character;

    for (int i = 0; i < c->setting_count; i++) {
        const char *key = c->settings[i].key;
        if (settings_of_model(key) || strcmp(key, SETTING_PRESET) == 0) continue;

        bool anywhere = false;
        for (int s = 0; s < solver_table_count; s++)
            anywhere |= settings_concern(&(solver_values){.solver = solver_table[s]}, 1, key);

        if (settings_concern(values, m->stage_count, key)) {
            cutis_result result = settings_apply(values, m->stage_count, c, &c->settings[i], 1, error);
            if (result) return result;
        } else if (!anywhere) {
            char *sentence =
                arena_format(&m->memory, "the file sets '%s', which is not a parameter of any solver", key);
            if (sentence) model_warn(m, sentence);
        }
    }

    return CUTIS_OK;
}

/* The values in force of every stage. */
static cutis_result build_values(cutis_model *m, const cutis_model_def *def, cutis_error *error)
{
    solver_values values[STAGE_LIMIT];
    for (int i = 0; i < m->stage_count; i++) values[i] = (solver_values){.solver = m->stages[i].solver};
    cutis_result result = settings_default(values, m->stage_count, m->character, &m->memory, error);

    /* a preset, then what the file sets, then the settings of this model */
    const char *preset = presets_named(def->settings, def->setting_count);
    if (!preset && solver_parameter_index(m->stages[0].solver, "anatomy") >= 0)
        preset = presets_named(m->character->settings, m->character->setting_count);
    if (!result && preset) result = presets_apply(values, m->stage_count, m->character, preset, error);
    if (!result) result = apply_file_settings(m, values, error);
    if (!result) {
        result = settings_apply(values, m->stage_count, m->character, def->settings, def->setting_count, error);
    }
    for (int i = 0; i < m->stage_count; i++) m->stages[i].values = values[i];
    return result;
}

/* ---- the simulation body ---- */

static void note_format(cutis_model *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note_format(cutis_model *m, const char *format, ...)
{
    char sentence[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    model_note(m, sentence);
}

static void warn_format(cutis_model *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void warn_format(cutis_model *m, const char *format, ...)
{
    char sentence[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    model_warn(m, sentence);
}

static const char *piece_name(const cutis_character *c, int vertex)
{
    for (int i = 0; i < c->part_count; i++) {
        const cutis_part *p = &c->parts[i];
        if (vertex >= p->first_vertex && vertex - p->first_vertex < p->vertex_count) return p->name;
    }
    return c->name;
}

/* Nothing to simulate: the baseline takes the place of the first solver. */
static cutis_result fall_back(cutis_model *m, cutis_error *error)
{
    model_warn(m, "no part of the character is flesh: all of it is rigid or thin, and shown by linear skinning");
    solver_values values = {.solver = baseline()};
    cutis_result result = settings_default(&values, 1, m->character, &m->memory, error);
    m->stages[0].solver = values.solver;
    m->stages[0].values = values;
    return result;
}

/* The body that the first stage runs on, if it runs on one. */
static cutis_result build_body(cutis_model *m, const cutis_model_def *def, cutis_error *error)
{
    /* whether it runs on one */
    const cutis_character *c = m->character;
    if (!(m->stages[0].solver->info.flags & CUTIS_SOLVER_BODY) || def->detail == CUTIS_DETAIL_DRAWN) return CUTIS_OK;
    if (c->point_triangle_count == 0) return CUTIS_OK;

    /* pieces, roles, surface and embedding */
    body_def body = {.character = c,
                     .mesh = &m->mesh,
                     .cracks = &m->cracks,
                     .point_budget = def->detail > 0 ? def->detail : CUTIS_DETAIL_DEFAULT,
                     .jobs = def->jobs};
    cutis_result result = body_build(&body, &m->memory, &m->body, error);
    if (result) return result;
    if (m->body.flesh_count == 0) return fall_back(m, error);
    if (!m->body.character) return CUTIS_OK;

    /* what the solver sees of it */
    m->stages[0].on_body = true;
    result = build_point_weights(m->body.character, &m->memory, &m->body_weights, error);

    /* what is not simulated */
    if (m->body.rigid_count > 0)
        note_format(m, "%d rigid piece%s skinning exactly", m->body.rigid_count,
                    m->body.rigid_count > 1 ? "s follow" : " follows");
    if (m->body.carried_count > 0)
        note_format(m, "%d thin, small or outer piece%s (%s%s) follow%s the flesh and %s not simulated",
                    m->body.carried_count, m->body.carried_count > 1 ? "s" : "", piece_name(c, m->body.example_carried),
                    m->body.carried_count > 1 ? ", ..." : "", m->body.carried_count > 1 ? "" : "s",
                    m->body.carried_count > 1 ? "are" : "is");
    return result;
}

/* Joints that yield to contact, where flesh is simulated. */
static cutis_result build_articulation(cutis_model *m, const cutis_model_def *def, cutis_error *error)
{
    const cutis_character *c = m->character;
    const solver *first = m->stages[0].solver;
    bool flesh = !(first->info.flags & (CUTIS_SOLVER_GEOMETRIC | CUTIS_SOLVER_SURFACE));
    bool yields = flesh, asked = false, strength = false;
    cutis_result result = settings_joints(c->settings, c->setting_count, &yields, &asked, error);
    if (!result) result = settings_joints(def->settings, def->setting_count, &yields, &asked, error);
    if (result) return result;

    /* how strong joints are */
    double *strengths = ARENA_ARRAY(&m->memory, double, c->joint_count + 1);
    if (!strengths) return error_memory(error, "the joints");
    for (int j = 0; j < c->joint_count; j++) strengths[j] = 1;
    solver_values values[STAGE_LIMIT];
    for (int i = 0; i < m->stage_count; i++) values[i] = m->stages[i].values;
    result = settings_strengths(values, m->stage_count, c, c->settings, c->setting_count, strengths, &strength, error);
    if (!result)
        result = settings_strengths(values, m->stage_count, c, def->settings, def->setting_count, strengths, &strength,
                                    error);
    if (result) return result;
    if (asked && !flesh)
        warn_format(m, "joints = yield has no effect under solver %s: joints yield under solvers with flesh",
                    first->info.name);
    if (strength && !(yields && flesh))
        warn_format(m, "joint_strength has no effect here: joints are fixed%s%s", flesh ? "" : " under solver ",
                    flesh ? "" : first->info.name);
    if (!yields || !flesh) return CUTIS_OK;

    /* on the drawn mesh: the simulation body of a thin finger is coarse, and rigid parts have none */
    articulation_def articulated = {.character = c,
                                    .surface = &m->mesh,
                                    .first = m->weights.first,
                                    .joints = m->weights.joints,
                                    .weights = m->weights.weights,
                                    .strengths = strength ? strengths : NULL,
                                    .props = first->info.flags & CUTIS_SOLVER_PROP_MOTION ? CONTACT_COLLIDERS
                                                                                          : CONTACT_ALL_PROPS};
    result = articulation_build(&m->articulation, &articulated, &m->memory, error);
    for (int j = 0; j < c->joint_count && !result && strength; j++) {
        int link = m->articulation.link_count > 0 ? m->articulation.joint_links[j] : -1;
        int owner = link >= 0 ? m->articulation.links[link].joint : -1;
        if (strengths[j] == 1 || owner == j || (owner >= 0 && strengths[j] == strengths[owner])) continue;
        warn_format(m, "joint_strength of '%s' has no effect: it %s%s", c->joints[j].name,
                    owner >= 0 ? "is part of " : "carries no flesh that could move", owner >= 0 ? c->joints[owner].name : "");
    }
    return result;
}

static cutis_result build_stages(cutis_model *m, const cutis_model_def *def, cutis_error *error)
{
    cutis_result result = CUTIS_OK;
    for (int i = 0; !result && i < m->stage_count; i++) {
        stage *s = &m->stages[i];
        solver_build build = {.character = s->on_body ? m->body.character : m->character,
                              .mesh = s->on_body ? &m->body.mesh : &m->mesh,
                              .weights = s->on_body ? &m->body_weights : &m->weights,
                              .values = s->values.values,
                              .bone_values = s->values.bone_values,
                              .parameter_count = s->solver->info.parameter_count,
                              .substep = s->substep,
                              .jobs = def->jobs,
                              .memory = &m->memory,
                              .allocator = m->memory.allocator,
                              .warn = model_warn,
                              .note = model_note,
                              .warn_context = m};

        /* the stage's own build, on the body or on the drawn mesh */
        result = s->solver->build(&build, &s->data, error);
    }

    return result;
}

static void lay_out_state(cutis_model *m)
{
    /* joints of the whole model, and its vertices */
    size_t joint_bytes = (size_t)m->character->joint_count * 12 * sizeof(float);
    size_t point_bytes = (size_t)m->character->point_count * 3 * sizeof(float);
    size_t end = sizeof(cutis_state), scratch = 0;

    /* what is drawn of the instant */
    m->instant = take(&end, joint_bytes);
    m->morph_weights = take(&end, (size_t)m->character->morph_count * sizeof(float));
    stage *first = &m->stages[0];
    bool single = first->on_body && !stage_has_points(m, first);
    first->body_points_old = take(&end, single ? (size_t)m->body.character->point_count * 3 * sizeof(float) : 0);

    m->joints = take(&end, joint_bytes);
    m->joints_old = take(&end, joint_bytes);
    m->joints_given = take(&end, joint_bytes);
    m->vertices = take(&end, (size_t)m->character->vertex_count * 3 * sizeof(float));

    /* scratch that no stage owns */
    m->skin = take(&scratch, joint_bytes);
    m->target = take(&scratch, joint_bytes);
    m->morphed = take(&scratch, m->character->morph_count ? (size_t)m->character->vertex_count * 3 * sizeof(float) : 0);
    m->surface = take(&scratch, m->parts > 1 ? point_bytes : 0);
    m->show = take(&scratch, display_scratch_count(&m->display) * sizeof(float));
    if (m->stages[0].on_body) m->drags = take(&scratch, DRAG_LIMIT * sizeof(cutis_drag));

    /* outputs of a body, spread over the drawn vertices */
    size_t outputs = stage_is_geometric(&m->stages[0]) ? 0 : (size_t)m->stages[0].solver->info.output_count;
    m->outputs = take(&scratch, outputs * (size_t)m->character->vertex_count * 3 * sizeof(float));

    /* each stage's own */
    for (int i = 0; i < m->stage_count; i++) {
        stage *s = &m->stages[i];
        s->joints = s->span > 1 ? take(&end, joint_bytes) : m->joints;
        s->joints_old = s->span > 1 ? take(&end, joint_bytes) : m->joints_old;

        /* a geometric stage in a stack has points too: the surface for the next */
        bool has_points = stage_has_points(m, s);
        s->points_old = take(&end, has_points ? point_bytes : 0);
        s->points = take(&end, has_points ? point_bytes : 0);
        s->body_points = take(&end, s->on_body ? (size_t)m->body.character->point_count * 3 * sizeof(float) : 0);
        s->state = take(&end, s->solver->state_size(s->data));
        s->scratch = take(&scratch, s->solver->scratch_size(s->data));
    }

    /* what is neither the solvers' nor hashed while it is zero */
    m->links = take(&end, articulation_state_bytes(&m->articulation));
    m->animated = take(&end, joint_bytes);
    m->articulation_scratch = take(&scratch, articulation_scratch_bytes(&m->articulation));
    m->before = take(&scratch, m->articulation.link_count ? joint_bytes : 0);

    /* both blocks are aligned */
    m->state_bytes = align_up(end);
    m->scratch_bytes = align_up(scratch);
}

/*
 * Whether what is shown is bounded against linear skinning: flesh is, but not a surface that slides on it, nor what
 * props do. Who simulates the drawn mesh itself wants the solver's own result.
 */
static bool is_bounded(const cutis_model *m, const cutis_model_def *def)
{
    bool flesh = !(m->stages[0].solver->info.flags & (CUTIS_SOLVER_GEOMETRIC | CUTIS_SOLVER_SURFACE));
    return m->stage_count == 1 && flesh && m->character->prop_count == 0 && def->detail != CUTIS_DETAIL_DRAWN;
}

/* What is drawn. */
static cutis_result build_display(cutis_model *m, const cutis_model_def *def, cutis_error *error)
{
    const sim_body *body = m->stages[0].on_body ? &m->body : NULL;
    return display_build(&m->display, m->character, &m->cracks, body, is_bounded(m, def), def->jobs, &m->memory, error);
}

/* ---- props ---- */

static bool has_flag(const cutis_model *m, unsigned flag)
{
    bool has = false;
    for (int i = 0; i < m->stage_count; i++) has |= (m->stages[i].solver->info.flags & flag) != 0;
    return has;
}

/* The names of the solvers that have a flag: "layers, springs, lattice". */
static void list_solvers(unsigned flag, char *text, size_t size)
{
    text[0] = 0;
    for (int i = 0; i < solver_table_count; i++) {
        if (!(solver_table[i]->info.flags & flag)) continue;
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", used ? ", " : "", solver_table[i]->info.name);
    }
}

/* The parameter that disables contact with props, when it does; NULL otherwise. */
static const char *disabled_prop_contact(const cutis_model *m)
{
    for (int i = 0; i < m->stage_count; i++) {
        const stage *s = &m->stages[i];
        int p = solver_role_index(s->solver, CUTIS_PARAMETER_PROP_CONTACT);
        if (p >= 0 && s->values.values[p] == 0) return s->solver->info.parameters[p].name;
    }
    return NULL;
}

/* Warn once of props without effect, or else of free props that this solver does not move. */
static void warn_props(cutis_model *m)
{
    const cutis_character *c = m->character;
    bool collides = has_flag(m, CUTIS_SOLVER_PROP_CONTACT);
    const char *off = collides ? disabled_prop_contact(m) : NULL;
    bool effect = collides && !off;
    if (effect && has_flag(m, CUTIS_SOLVER_PROP_MOTION)) return;

    /* the props in question */
    int count = 0, first = 0;
    for (int i = c->prop_count - 1; i >= 0; i--) {
        if (effect && c->props[i].role == CUTIS_PROP_COLLIDER) continue;
        first = i;
        count++;
    }
    if (count == 0) return;

    char who[160], solvers[120], sentence[500];
    bool one = count == 1;
    const char *here = m->stage_count == 1 ? m->stages[0].solver->info.name : m->solver_name;
    snprintf(who, sizeof who, one ? "prop '%.80s'" : "props '%.80s' and %d more", c->props[first].name, count - 1);
    list_solvers(effect ? CUTIS_SOLVER_PROP_MOTION : CUTIS_SOLVER_PROP_CONTACT, solvers, sizeof solvers);

    /* in a sentence */
    if (effect)
        snprintf(sentence, sizeof sentence,
                 "%s %s not move under solver %.60s: %s with its node, as a collider; solvers that move free props: %s",
                 who, one ? "does" : "do", here, one ? "it goes" : "each goes", solvers);
    else if (off)
        snprintf(sentence, sizeof sentence, "%s %s no effect, because the parameter '%s' is off", who,
                 one ? "has" : "have", off);
    else
        snprintf(sentence, sizeof sentence,
                 "%s %s no effect under solver %.60s, which has no contact with props; solvers that have: %s", who,
                 one ? "has" : "have", here, solvers);
    model_warn(m, sentence);
}

cutis_result cutis_model_build(const cutis_model_def *def, cutis_model **result_model, cutis_error *error)
{
    *result_model = NULL;

    /* what is asked for */
    if (!def->character || !def->solver) {
        return error_set(error, CUTIS_ERROR_ARGUMENT, "a model needs a character and the name of a solver");
    }
    if (def->detail < CUTIS_DETAIL_DRAWN || def->detail > CUTIS_DETAIL_LIMIT) {
        return error_set(error, CUTIS_ERROR_ARGUMENT, "a detail of %d points is out of range: 1 to %d", def->detail,
                         CUTIS_DETAIL_LIMIT);
    }
    if (def->substep != 0 && !(def->substep >= 0.0005 && def->substep <= 0.05)) {
        return error_set(error, CUTIS_ERROR_ARGUMENT, "a substep of %g s is out of range: 0.0005 to 0.05 s",
                         def->substep);
    }

    /* what the model is of */
    cutis_model *m = memory_allocate(def->allocator, 1, sizeof *m);
    if (!m) return error_memory(error, "a model");
    m->memory = arena_create(def->allocator);
    m->character = def->character;
    m->solver_name = arena_string(&m->memory, def->solver);

    /* stack, points, parameters, body, then the solvers themselves */
    cutis_result result = m->solver_name ? parse_stack(m, def->solver, error) : error_memory(error, "a model");
    if (!result) result = mesh_build_character(&m->mesh, m->character, &m->memory, error);
    if (!result) result = cracks_close(&m->cracks, m->character, &m->mesh, &m->memory, error);
    if (!result) result = build_point_weights(m->character, &m->memory, &m->weights, error);
    if (!result) result = build_values(m, def, error);
    if (!result) result = build_body(m, def, error);
    if (!result) {
        divide_time(m, def->substep);
        result = build_stages(m, def, error);
    }
    if (!result) result = build_articulation(m, def, error);
    if (!result) warn_props(m);
    if (!result) result = build_display(m, def, error);
    if (!result && m->memory.failed) result = error_memory(error, "a model");

    /* all of it or nothing */
    if (result) {
        cutis_model_destroy(m);
        return result;
    }

    lay_out_state(m);
    *result_model = m;
    return CUTIS_OK;
}

void cutis_model_destroy(cutis_model *model)
{
    if (!model) return;
    cutis_allocator allocator = model->memory.allocator;
    body_release(&model->body);
    arena_destroy(&model->memory);
    memory_release(&allocator, model, 1, sizeof *model);
}

cutis_model_info cutis_model_get_info(const cutis_model *model)
{
    /* A surface solver that stands alone has a baseline below it that nobody named. */
    const char *below = model->stages[0].solver->info.name;
    bool named = strncmp(model->solver_name, below, strlen(below)) == 0;
    const stage *first = &model->stages[named || model->stage_count == 1 ? 0 : 1];
    bool geometric = stage_is_geometric(&model->stages[0]);

    /* sizes, pieces, memory, and what the build had to say */
    return (cutis_model_info){.solver = model->solver_name,
                              .substep = model->substep,
                              .element_count = first->solver->element_count(first->data),
                              .body_points = geometric               ? 0
                                             : model->body.character ? model->body.character->point_count
                                                                     : model->character->point_count,
                              .body_is_drawn = !geometric && !model->body.character,
                              .flesh_pieces = model->body.flesh_count,
                              .rigid_pieces = model->body.rigid_count,
                              .carried_pieces = model->body.carried_count,
                              .model_bytes = model->memory.bytes,
                              .state_bytes = model->state_bytes + model->scratch_bytes,
                              .warning_count = model->warning_count,
                              .warnings = model->warnings,
                              .note_count = model->note_count,
                              .notes = model->notes};
}

double cutis_model_parameter(const cutis_model *model, const char *name)
{
    for (int i = 0; i < model->stage_count; i++) {
        const stage *s = &model->stages[i];
        const char *own = name;
        size_t n = strlen(s->solver->info.name);
        if (strncmp(name, s->solver->info.name, n) == 0 && name[n] == '.') own = name + n + 1;
        int p = solver_parameter_index(s->solver, own);
        if (p >= 0) return s->values.values[p];
    }
    return NAN;
}

const cutis_output_info *cutis_model_find_output(const cutis_model *model, cutis_output_role role, int index)
{
    for (int i = 0; i < model->stage_count; i++) {
        const cutis_solver_info *info = &model->stages[i].solver->info;
        for (int k = 0; k < info->output_count; k++) {
            if (info->outputs[k].role == role && index-- == 0) return &info->outputs[k];
        }
    }
    return NULL;
}
