/*
 * springs_sibson.c: natural-neighbour (Sibson) coordinates of a point among sites in space.
 *
 * Sibson 1980, "A vector identity for the Dirichlet tessellation". Put a point among the sites: its Dirichlet (Voronoi)
 * cell takes volume from the cells of its natural neighbours, and the shares of that volume are the coordinates. They
 * are not negative, sum to 1, give back the point (sum of share x site = point) and change smoothly with it.
 *
 * The cell is cut out of a large box by the bisectors to the sites, nearest first, until the next site is too far away
 * to reach it. What it took from one neighbour is the part of the cell that is nearer to that neighbour than to the
 * others. Both are clips of a convex polyhedron, kept as a soup of convex faces: nothing can be inconsistent, and
 * degenerate sets of sites (rings, grids) only give faces without area. Everything is in double precision and relative
 * to the point.
 */
#include <string.h>

#include "solvers/springs/springs_shapes.h"

enum { FACE_LIMIT = 96, CORNER_LIMIT = 40 };

typedef struct corner {
    double x[3];
} corner;

typedef struct polyhedron {
    int face_count;
    int corner_counts[FACE_LIMIT];
    corner corners[FACE_LIMIT][CORNER_LIMIT];
} polyhedron;

struct sibson_work {
    int site_limit;
    polyhedron cell, part, other;
    int *order;      /* (site_limit) sites by distance */
    double *squares; /* (site_limit) squared distances */
    double *offsets; /* (site_limit x 3) sites relative to the point */
    int *neighbours; /* (site_limit) whose bisectors cut the cell */
};

sibson_work *sibson_work_create(int site_limit, arena *memory)
{
    sibson_work *work = ARENA_ARRAY(memory, sibson_work, 1);
    if (!work) return NULL;
    work->site_limit = site_limit;
    work->order = ARENA_ARRAY(memory, int, site_limit);
    work->squares = ARENA_ARRAY(memory, double, site_limit);
    work->offsets = ARENA_ARRAY(memory, double, 3 * (size_t)site_limit);
    work->neighbours = ARENA_ARRAY(memory, int, site_limit);
    return memory->failed ? NULL : work;
}

static double dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* ---- clipping ---- */

static void box_make(polyhedron *p, double half)
{
    p->face_count = 6;
    for (int f = 0; f < 6; f++) {
        int axis = f / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
        p->corner_counts[f] = 4;
        for (int k = 0; k < 4; k++) {
            corner *c = &p->corners[f][k];
            c->x[axis] = f % 2 ? half : -half;
            c->x[u] = k == 0 || k == 3 ? -half : half;
            c->x[v] = k < 2 ? -half : half;
        }
    }
}

static void polyhedron_copy(polyhedron *to, const polyhedron *from)
{
    to->face_count = from->face_count;
    for (int f = 0; f < from->face_count; f++) {
        to->corner_counts[f] = from->corner_counts[f];
        memcpy(to->corners[f], from->corners[f], (size_t)from->corner_counts[f] * sizeof(corner));
    }
}

/* Goes around like the angle of (x, y), from -2 to 2, without trigonometry. */
static double pseudo_angle(double x, double y)
{
    double sum = fabs(x) + fabs(y);
    if (!(sum > 0)) return 0;
    double t = x / sum;
    return y < 0 ? t - 1 : 1 - t;
}

/* The corners of the face that a cut leaves, as the faces around it find them: each twice or more. */
typedef struct cap {
    int count;
    corner corners[FACE_LIMIT];
} cap;

static void cap_corner(cap *c, const corner *at, double tolerance)
{
    for (int i = 0; i < c->count; i++) {
        double d[3] = {c->corners[i].x[0] - at->x[0], c->corners[i].x[1] - at->x[1], c->corners[i].x[2] - at->x[2]};
        if (dot3(d, d) <= tolerance * tolerance) return;
    }
    if (c->count < FACE_LIMIT) c->corners[c->count++] = *at;
}

/* Put the corners in order around their middle, as a face. */
static void cap_close(const cap *c, const double normal[3], polyhedron *p)
{
    if (c->count < 3 || p->face_count == FACE_LIMIT) return;

    double middle[3] = {0, 0, 0}, u[3], v[3], angles[FACE_LIMIT];
    int order[FACE_LIMIT];

    for (int i = 0; i < c->count; i++)
        for (int a = 0; a < 3; a++) middle[a] += c->corners[i].x[a] / c->count;

    /* Two directions in the plane: away from the axis that is nearest to the normal. */
    int axis = fabs(normal[0]) > fabs(normal[1]) ? 0 : 1;
    if (fabs(normal[2]) > fabs(normal[axis])) axis = 2;
    int next = (axis + 1) % 3, last = (axis + 2) % 3;
    u[axis] = -normal[next];
    u[next] = normal[axis];
    u[last] = 0;
    v[0] = normal[1] * u[2] - normal[2] * u[1];
    v[1] = normal[2] * u[0] - normal[0] * u[2];
    v[2] = normal[0] * u[1] - normal[1] * u[0];
    double u_length = sqrt(dot3(u, u)), v_length = sqrt(dot3(v, v));

    for (int i = 0; i < c->count; i++) {
        const double *x = c->corners[i].x, d[3] = {x[0] - middle[0], x[1] - middle[1], x[2] - middle[2]};
        double angle = pseudo_angle(dot3(d, u) / u_length, dot3(d, v) / v_length);
        int at = i;
        for (; at > 0 && angles[at - 1] > angle; at--) {
            angles[at] = angles[at - 1];
            order[at] = order[at - 1];
        }
        angles[at] = angle;
        order[at] = i;
    }

    int face = p->face_count++;
    p->corner_counts[face] = MIN(c->count, CORNER_LIMIT);
    for (int i = 0; i < p->corner_counts[face]; i++) p->corners[face][i] = c->corners[order[i]];
}

/*
 * Keep the half with normal . x <= offset. False: nothing was cut off. `out` is filled when something was. A corner
 * within the tolerance of the plane is on it, for all the faces that share it: planes through a common corner are the
 * rule where sites lie on a sphere.
 */
static bool polyhedron_clip(const polyhedron *in, const double normal[3], double offset, double tolerance,
                            polyhedron *out)
{
    /* whether it cuts anything off */
    double slack = tolerance * sqrt(dot3(normal, normal));
    bool cuts = false;
    for (int f = 0; f < in->face_count && !cuts; f++)
        for (int k = 0; k < in->corner_counts[f] && !cuts; k++)
            cuts = dot3(normal, in->corners[f][k].x) > offset + slack;
    if (!cuts) return false;

    /* each face, and the edge of the cut */
    cap edge = {.count = 0};
    out->face_count = 0;

    for (int f = 0; f < in->face_count; f++) {
        int count = in->corner_counts[f], kept = 0;
        corner *to = out->corners[out->face_count];
        const corner *from = &in->corners[f][count - 1];
        double from_side = dot3(normal, from->x) - offset;

        for (int k = 0; k < count; k++) {
            const corner *at = &in->corners[f][k];
            double side = dot3(normal, at->x) - offset;
            if ((from_side > slack && side < -slack) || (from_side < -slack && side > slack)) {
                corner c;
                double t = from_side / (from_side - side);
                for (int a = 0; a < 3; a++) c.x[a] = from->x[a] + t * (at->x[a] - from->x[a]);
                if (kept < CORNER_LIMIT) to[kept++] = c;
                cap_corner(&edge, &c, 2 * tolerance);
            }

            if (side <= slack && kept < CORNER_LIMIT) to[kept++] = *at;
            if (fabs(side) <= slack) cap_corner(&edge, at, 2 * tolerance);
            from = at;
            from_side = side;
        }

        /* A face of which only an edge or a corner is left, on the plane. */
        if (kept < 3) continue;
        out->corner_counts[out->face_count++] = kept;
    }

    cap_close(&edge, normal, out);
    return true;
}

/* Of a convex polyhedron: tetrahedra from its middle to its faces. */
static double polyhedron_volume(const polyhedron *p)
{
    double middle[3] = {0, 0, 0}, volume = 0;
    int count = 0;

    /* the middle of all corners */
    for (int f = 0; f < p->face_count; f++) {
        for (int k = 0; k < p->corner_counts[f]; k++, count++)
            for (int a = 0; a < 3; a++) middle[a] += p->corners[f][k].x[a];
    }

    if (count == 0) return 0;
    for (int a = 0; a < 3; a++) middle[a] /= count;

    for (int f = 0; f < p->face_count; f++) {
        double six = 0, first[3], b[3], c[3];

        for (int a = 0; a < 3; a++) first[a] = p->corners[f][0].x[a] - middle[a];
        for (int k = 1; k + 1 < p->corner_counts[f]; k++) {
            for (int a = 0; a < 3; a++) {
                b[a] = p->corners[f][k].x[a] - middle[a];
                c[a] = p->corners[f][k + 1].x[a] - middle[a];
            }
            six += first[0] * (b[1] * c[2] - b[2] * c[1]) + first[1] * (b[2] * c[0] - b[0] * c[2]) +
                   first[2] * (b[0] * c[1] - b[1] * c[0]);
        }
        volume += fabs(six) / 6;
    }

    return volume;
}

static double polyhedron_reach2(const polyhedron *p)
{
    double most = 0;
    for (int f = 0; f < p->face_count; f++)
        for (int k = 0; k < p->corner_counts[f]; k++) most = MAX(most, dot3(p->corners[f][k].x, p->corners[f][k].x));
    return most;
}

/* ---- coordinates ---- */

static void sites_sort(sibson_work *w, int count)
{
    /* Shell sort; equal distances keep the order of the sites by comparing them too. */
    for (int gap = count / 2; gap > 0; gap /= 2) {
        for (int i = gap; i < count; i++) {
            int site = w->order[i], at = i;
            for (; at >= gap; at -= gap) {
                int before = w->order[at - gap];
                if (w->squares[before] < w->squares[site] || (w->squares[before] == w->squares[site] && before < site))
                    break;
                w->order[at] = before;
            }
            w->order[at] = site;
        }
    }
}

bool sibson_coordinates(int count, const float *sites, vec3 point, sibson_work *w, double *shares)
{
    /* offsets from the point, nearest first */
    double extent = 0;
    memset(shares, 0, (size_t)count * sizeof *shares);
    for (int i = 0; i < count; i++) {
        const double x[3] = {(double)sites[3 * i] - (double)point.x, (double)sites[3 * i + 1] - (double)point.y,
                             (double)sites[3 * i + 2] - (double)point.z};
        memcpy(w->offsets + 3 * i, x, sizeof x);
        w->squares[i] = dot3(x, x);
        w->order[i] = i;
        extent = MAX(extent, w->squares[i]);
    }

    /* nearest first */
    extent = sqrt(extent);
    if (count == 0 || !(extent > 0)) return false;
    sites_sort(w, count);

    /* on a site */
    double nearest = w->squares[w->order[0]], tolerance = 1e-10 * extent;
    if (nearest <= 1e-14 * extent * extent) {
        shares[w->order[0]] = 1;
        return true;
    }

    /* The cell: within the bisector of every site, x . s <= s . s / 2. */
    double half = 8 * extent;
    int neighbour_count = 0;
    box_make(&w->cell, half);
    double reach2 = polyhedron_reach2(&w->cell);
    for (int i = 0; i < count && w->squares[w->order[i]] < 4 * reach2; i++) {
        int site = w->order[i];
        const double *s = w->offsets + 3 * site;

        if (!polyhedron_clip(&w->cell, s, 0.5 * w->squares[site], tolerance, &w->other)) continue;
        polyhedron_copy(&w->cell, &w->other);
        reach2 = polyhedron_reach2(&w->cell);
        w->neighbours[neighbour_count++] = site;
        if (w->cell.face_count >= FACE_LIMIT) return false;
    }

    /* A cell that still has a corner of the box is open: the point is outside of the sites. */
    if (reach2 > 0.99 * half * half) return false;

    /* What it took from each: the part of the cell that is nearer to this neighbour than to the others. */
    double total = 0;
    for (int n = 0; n < neighbour_count; n++) {
        const double *own = w->offsets + 3 * w->neighbours[n];
        polyhedron *part = &w->part, *next = &w->other;
        polyhedron_copy(part, &w->cell);

        for (int m = 0; m < neighbour_count && part->face_count > 0; m++) {
            const double *other = w->offsets + 3 * w->neighbours[m];
            double normal[3] = {other[0] - own[0], other[1] - own[1], other[2] - own[2]};
            if (m == n || !(dot3(normal, normal) > tolerance * tolerance)) continue;
            double offset = 0.5 * (w->squares[w->neighbours[m]] - w->squares[w->neighbours[n]]);
            if (!polyhedron_clip(part, normal, offset, tolerance, next)) continue;
            polyhedron *swap = part;
            part = next;
            next = swap;
        }

        double volume = part->face_count >= 4 ? polyhedron_volume(part) : 0;
        shares[w->neighbours[n]] = volume;
        total += volume;
    }

    /* shares sum to 1 */
    if (!(total > 0)) return false;
    for (int n = 0; n < neighbour_count; n++) shares[w->neighbours[n]] /= total;
    return true;
}
