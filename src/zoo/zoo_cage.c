/*
 * zoo_cage.c: the coarse quad cage of a character, built by extruding patches, and its texture charts.
 *
 * Every tube becomes one chart (the loop around it opened along the first loop point), every cap another.
 * Coordinates are kept in metres until the charts are packed into the unit square, on shelves by height.
 */
#include <assert.h>

#include "zoo/zoo_kit.h"

/* The square -1..1 onto the unit disc, its border onto the circle. */
static vec3 section_point(zoo_section section, float s, float t)
{
    float x = s * sqrtf(1 - 0.5f * t * t), y = t * sqrtf(1 - 0.5f * s * s);
    x += (s - x) * section.square;
    y += (t - y) * section.square;
    return vec3_madd(vec3_madd(section.centre, section.u, x), section.v, y);
}

int zoo_point_add(zoo_kit *kit, vec3 position)
{
    assert(kit->point_count < ZOO_MAX_POINTS);
    kit->points[kit->point_count] = position;
    return kit->point_count++;
}

int zoo_chart_add(zoo_kit *kit, float width, float height)
{
    assert(kit->chart_count < ZOO_MAX_CHARTS);
    kit->chart_sizes[kit->chart_count][0] = width;
    kit->chart_sizes[kit->chart_count][1] = height;
    return kit->chart_count++;
}

void zoo_face_add(zoo_kit *kit, const int points[4], const float texcoords[4][2], int region, int chart, bool flip)
{
    assert(kit->face_count < ZOO_MAX_FACES);
    zoo_face *face = &kit->faces[kit->face_count++];
    face->region = region;
    face->chart = chart;
    for (int i = 0; i < 4; i++) {
        int j = flip ? (4 - i) % 4 : i;
        face->points[i] = points[j];
        face->texcoords[i][0] = texcoords[j][0];
        face->texcoords[i][1] = texcoords[j][1];
    }
}

int zoo_patch_loop_count(const zoo_patch *patch) { return 2 * (patch->cols + patch->rows); }

int zoo_patch_loop(const zoo_patch *patch, int index)
{
    int cols = patch->cols, rows = patch->rows, i = index % (2 * (cols + rows)), c, r;
    if (i < cols) {
        c = i;
        r = 0;
    } else if (i < cols + rows) {
        c = cols;
        r = i - cols;
    } else if (i < 2 * cols + rows) {
        c = 2 * cols + rows - i;
        r = rows;
    } else {
        c = 0;
        r = 2 * (cols + rows) - i;
    }
    return patch->points[r * (cols + 1) + c];
}

static void patch_place(zoo_kit *kit, zoo_patch *patch, zoo_section section)
{
    for (int r = 0; r <= patch->rows; r++)
        for (int c = 0; c <= patch->cols; c++) {
            float s = 2.0f * (float)c / (float)patch->cols - 1, t = 2.0f * (float)r / (float)patch->rows - 1;
            t -= patch->bias * (1 - t * t);
            patch->points[r * (patch->cols + 1) + c] = zoo_point_add(kit, section_point(section, s, t));
        }
}

zoo_patch zoo_patch_start(zoo_kit *kit, int cols, int rows, zoo_section section)
{
    assert(cols <= ZOO_MAX_GRID && rows <= ZOO_MAX_GRID);
    zoo_patch patch = {.cols = cols, .rows = rows, .chart = -1};
    patch_place(kit, &patch, section);
    return patch;
}

zoo_patch zoo_patch_extrude(zoo_kit *kit, const zoo_patch *patch, zoo_section section, int region, unsigned skip)
{
    zoo_patch end = *patch;
    patch_place(kit, &end, section);
    int count = zoo_patch_loop_count(patch);

    /* A new chart takes its width from the ring that begins it. */
    if (end.chart < 0) {
        end.along = 0;
        end.around[0] = 0;
        for (int i = 0; i < count; i++)
            end.around[i + 1] = end.around[i] + vec3_distance(kit->points[zoo_patch_loop(&end, i)],
                                                              kit->points[zoo_patch_loop(&end, i + 1)]);
        end.chart = zoo_chart_add(kit, end.around[count], 0);
    }

    /* its height grows by the mean way of the points */
    float step = 0;
    for (int i = 0; i < count; i++)
        step += vec3_distance(kit->points[zoo_patch_loop(patch, i)], kit->points[zoo_patch_loop(&end, i)]);
    float low = end.along, high = low + step / (float)count;
    end.along = high;
    kit->chart_sizes[end.chart][1] = high;

    /* a face for each edge of the loop */
    for (int i = 0; i < count; i++) {
        if (skip >> i & 1) continue;
        int points[4] = {zoo_patch_loop(patch, i), zoo_patch_loop(patch, i + 1), zoo_patch_loop(&end, i + 1),
                         zoo_patch_loop(&end, i)};
        float u0 = end.around[i], u1 = end.around[i + 1];
        float texcoords[4][2] = {{u0, low}, {u1, low}, {u1, high}, {u0, high}};
        zoo_face_add(kit, points, texcoords, region, end.chart, patch->flip);
    }
    return end;
}

zoo_patch zoo_patch_loft(zoo_kit *kit, zoo_patch patch, const zoo_section *sections, int count, int region)
{
    for (int i = 0; i < count; i++) patch = zoo_patch_extrude(kit, &patch, sections[i], region, 0);
    return patch;
}

zoo_patch zoo_patch_part(const zoo_patch *patch, int c0, int c1, int r0, int r1)
{
    zoo_patch part = {.cols = c1 - c0, .rows = r1 - r0, .flip = patch->flip, .chart = -1};
    for (int r = r0; r <= r1; r++)
        for (int c = c0; c <= c1; c++)
            part.points[(r - r0) * (part.cols + 1) + c - c0] = patch->points[r * (patch->cols + 1) + c];
    return part;
}

void zoo_patch_close(zoo_kit *kit, const zoo_patch *patch, int region, unsigned skip)
{
    int cols = patch->cols, rows = patch->rows;
    const int *p = patch->points;

    /* The cap's chart is a rectangle with the mean lengths of its two directions. */
    float width = 0, height = 0;
    for (int c = 0; c < cols; c++)
        width +=
            vec3_distance(kit->points[p[rows / 2 * (cols + 1) + c]], kit->points[p[rows / 2 * (cols + 1) + c + 1]]);
    for (int r = 0; r < rows; r++)
        height +=
            vec3_distance(kit->points[p[r * (cols + 1) + cols / 2]], kit->points[p[(r + 1) * (cols + 1) + cols / 2]]);
    int chart = zoo_chart_add(kit, width, height);

    /* a face a cell */
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) {
            if (skip >> (r * cols + c) & 1) continue;
            int points[4] = {p[r * (cols + 1) + c], p[r * (cols + 1) + c + 1], p[(r + 1) * (cols + 1) + c + 1],
                             p[(r + 1) * (cols + 1) + c]};
            float u0 = width * (float)c / (float)cols, u1 = width * (float)(c + 1) / (float)cols;
            float v0 = height * (float)r / (float)rows, v1 = height * (float)(r + 1) / (float)rows;
            float texcoords[4][2] = {{u0, v0}, {u1, v0}, {u1, v1}, {u0, v1}};
            zoo_face_add(kit, points, texcoords, region, chart, patch->flip);
        }
}

zoo_patch zoo_patch_reverse(const zoo_patch *patch)
{
    zoo_patch reverse = *patch;
    reverse.flip = !patch->flip;
    reverse.chart = -1;
    return reverse;
}

/* Shelves of falling height, as wide as the square root of the whole area; then all is scaled into 0..1. */
static void charts_pack(zoo_kit *kit)
{
    int order[ZOO_MAX_CHARTS];

    /* total area and widest */
    float area = 0, margin, widest = 0;
    for (int i = 0; i < kit->chart_count; i++) {
        order[i] = i;
        area += kit->chart_sizes[i][0] * kit->chart_sizes[i][1];
        widest = MAX(widest, kit->chart_sizes[i][0]);
    }

    /* in descending height */
    for (int i = 1; i < kit->chart_count; i++)
        for (int j = i; j > 0 && kit->chart_sizes[order[j]][1] > kit->chart_sizes[order[j - 1]][1]; j--) {
            int swap = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swap;
        }

    /* from left to right, shelf by shelf */
    margin = 0.03f * sqrtf(area);
    float limit = MAX(widest, 1.15f * sqrtf(area)) + 2 * margin, x = margin, y = margin, shelf = 0, right = 0;
    for (int i = 0; i < kit->chart_count; i++) {
        float *size = kit->chart_sizes[order[i]], *place = kit->chart_places[order[i]];

        /* the next shelf */
        if (x + size[0] + margin > limit && x > margin) {
            x = margin;
            y += shelf + margin;
            shelf = 0;
        }
        place[0] = x;
        place[1] = y;
        x += size[0] + margin;
        shelf = MAX(shelf, size[1]);
        right = MAX(right, x);
    }

    /* scale into 0..1 */
    float scale = 1 / MAX(right, y + shelf + margin);
    for (int i = 0; i < kit->face_count; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 2; k++) {
                zoo_face *face = &kit->faces[i];
                face->texcoords[j][k] = (face->texcoords[j][k] + kit->chart_places[face->chart][k]) * scale;
            }
}

void zoo_cage_finish(zoo_kit *kit)
{
    int map[ZOO_MAX_POINTS];
    for (int i = 0; i < kit->point_count; i++) map[i] = -1;
    for (int i = 0; i < kit->face_count; i++)
        for (int j = 0; j < 4; j++) map[kit->faces[i].points[j]] = 0;
    int count = 0;
    for (int i = 0; i < kit->point_count; i++)
        if (map[i] >= 0) {
            kit->points[count] = kit->points[i];
            map[i] = count++;
        }
    kit->point_count = count;
    for (int i = 0; i < kit->face_count; i++)
        for (int j = 0; j < 4; j++) kit->faces[i].points[j] = map[kit->faces[i].points[j]];
    charts_pack(kit);
}
