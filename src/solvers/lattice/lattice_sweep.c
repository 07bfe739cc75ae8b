/*
 * lattice_sweep.c: sums over regions at a cost that does not depend on their width (Rivers and James 2007, "FastLSM").
 *
 * The region of a voxel is what a walk reaches that goes at most so many links along x, then along y, then along z:
 * on a full grid the cube of d_r x d_r x d_r voxels around it (one more on the positive side for an even d_r). The
 * walks follow links, so a region never jumps a gap between parts. Such a sum is three sums along rods, and along a
 * rod the sum slides: one voxel enters, one leaves.
 *
 * Where FastLSM sums products with absolute rest positions and subtracts large numbers at the end, the moments here
 * are kept relative to the rest place of the voxel they belong to, and move along with it. That costs three products
 * a step, makes single precision sufficient, and lets a rod turn aside, as it does where voxels of two sizes meet.
 *
 * Rods of parts that share a neighbour (two thighs below one pelvis) cannot both own it: it belongs to the rod of its
 * strongest contact, and the other rod ends in copies of it ("borrowed" entries).
 *
 * The second sum is the exact transpose of the first, so that u is in the region of v exactly when v is among the
 * regions that hold u. The first reads borrowed entries and writes owned ones, along x, y, z; the second reads owned
 * entries and writes borrowed ones too, along z, y, x, with the window mirrored. What a voxel gets as a borrowed entry
 * of other rods is added to what it gets in its own. Only so are the pulls of a region on its voxels in balance:
 * momentum is kept, and shape matching is the gradient of an energy.
 */
#include "solvers/lattice/lattice.h"

#include <string.h>

/* ---- rods ---- */

/* Entries of the rod through `voxel`, backwards and forwards; borrowed ones at both ends. Returns the entry count. */
static int chain_collect(const lattice_graph *graph, int axis, int voxel, int region, int *entries,
                         lattice_chain *chain)
{
    int back = 2 * axis, ahead = back + 1, count = 0;
    int borrow_back = (region - 1) / 2, borrow_ahead = region / 2;

    /* To the first voxel of the rod: as long as the link is the first choice of both ends. */
    int first = voxel;
    for (;;) {
        int before = lattice_link(graph, first, back);
        if (before < 0 || lattice_link(graph, before, ahead) != first) break;
        first = before;
    }

    /* entries of the rod before, borrowed */
    int before[16], before_count = 0;
    for (int v = lattice_link(graph, first, back); v >= 0 && before_count < borrow_back;
         v = lattice_link(graph, v, back))
        before[before_count++] = v;
    for (int i = before_count - 1; i >= 0; i--, count++)
        if (entries) entries[count] = before[i];

    /* its own */
    chain->own_first = count;
    int last = first;
    for (;;) {
        if (entries) entries[count] = last;
        count++;
        int next = lattice_link(graph, last, ahead);
        if (next < 0 || lattice_link(graph, next, back) != last) break;
        last = next;
    }
    chain->own_last = count - 1;

    /* entries of the rod behind, borrowed */
    int borrowed = 0;
    for (int v = lattice_link(graph, last, ahead); v >= 0 && borrowed < borrow_ahead;
         v = lattice_link(graph, v, ahead)) {
        if (entries) entries[count] = v;
        count++;
        borrowed++;
    }
    return count;
}

/* Whether `voxel` is the first of its rod. */
static bool chain_starts(const lattice_graph *graph, int axis, int voxel)
{
    int before = lattice_link(graph, voxel, 2 * axis);
    return before < 0 || lattice_link(graph, before, 2 * axis + 1) != voxel;
}

/* For each voxel that other rods borrow along an axis: which of the borrowed entries are its copies. */
static void loans_list(lattice_sweep *sweep, int axis, int *first, int *entries, int *voxels)
{
    const int *rods = sweep->chain_voxels[axis];

    /* count the copies of each voxel */
    for (int v = 0; v <= sweep->count; v++) first[v] = 0;
    for (int c = 0; c < sweep->chain_counts[axis]; c++) {
        const lattice_chain *chain = &sweep->chains[axis][c];
        for (int i = 0; i < chain->count; i++)
            if (i < chain->own_first || i > chain->own_last) first[rods[chain->first + i]]++;
    }

    /* list the voxels that have some, with the place of the first copy of each */
    int at = 0;
    sweep->lender_counts[axis] = 0;
    for (int v = 0; v < sweep->count; v++) {
        int copies = first[v];
        first[v] = at;
        if (!copies) continue;
        voxels[2 * sweep->lender_counts[axis]] = v;
        voxels[2 * sweep->lender_counts[axis] + 1] = at;
        sweep->lender_counts[axis]++;
        at += copies;
    }
    voxels[2 * sweep->lender_counts[axis] + 1] = at;

    /* a rod's borrowed entries are numbered in its order */
    for (int c = 0; c < sweep->chain_counts[axis]; c++) {
        const lattice_chain *chain = &sweep->chains[axis][c];
        int entry = chain->borrowed;
        for (int i = 0; i < chain->count; i++)
            if (i < chain->own_first || i > chain->own_last) entries[first[rods[chain->first + i]]++] = entry++;
    }
}

cutis_result lattice_chains(const lattice_graph *graph, int region, const quad *rest, arena *memory,
                            lattice_sweep *sweep, cutis_error *error)
{
    *sweep = (lattice_sweep){.count = graph->count, .region = region, .rest = rest};

    for (int axis = 0; axis < 3; axis++) {
        /* how many rods and entries */
        int chain_count = 0;
        size_t entry_count = 0;
        int loan_count = 0;
        lattice_chain chain = {0};
        for (int v = 0; v < graph->count; v++) {
            if (!chain_starts(graph, axis, v)) continue;
            chain_count++;
            int entries = chain_collect(graph, axis, v, region, NULL, &chain);
            entry_count += entries;
            loan_count += entries - (chain.own_last - chain.own_first + 1);
        }

        /* room */
        lattice_chain *chains = ARENA_ARRAY(memory, lattice_chain, chain_count + 1);
        int *voxels = ARENA_ARRAY(memory, int, entry_count + 1);
        int *loans = ARENA_ARRAY(memory, int, loan_count + 1);
        int *lenders = ARENA_ARRAY(memory, int, 2 * (size_t)loan_count + 2);
        int *cursor = ARENA_ARRAY(memory, int, graph->count + 1);
        if (memory->failed) return error_memory(error, "the lattice's rods");

        /* the entries */
        int at = 0, n = 0, borrowed = 0;
        for (int v = 0; v < graph->count; v++) {
            if (!chain_starts(graph, axis, v)) continue;
            chains[n].first = at;
            chains[n].count = chain_collect(graph, axis, v, region, voxels + at, &chains[n]);
            chains[n].borrowed = borrowed;
            borrowed += chains[n].count - (chains[n].own_last - chains[n].own_first + 1);
            at += chains[n++].count;
        }

        /* hand over */
        sweep->chain_counts[axis] = chain_count;
        sweep->chains[axis] = chains;
        sweep->chain_voxels[axis] = voxels;
        sweep->lenders[axis] = lenders;
        sweep->loans[axis] = loans;
        sweep->loan_most = MAX(sweep->loan_most, loan_count);

        /* who lends to whom */
        loans_list(sweep, axis, cursor, loans, lenders);
    }
    return CUTIS_OK;
}

/* ---- sliding sums ---- */

/* A sweep along one axis. */
typedef struct sweep_pass {
    const lattice_sweep *sweep;
    int axis, back, ahead; /* links behind and before that the window spans */
    const quad *positions; /* first pass of the moments */
    const lattice_frame *in;
    lattice_frame *out;
    lattice_frame *loans; /* of the transposed sum: what borrowed entries get */
} sweep_pass;

/* What a voxel adds to the sum of a window whose place is `anchor`. */
typedef lattice_frame window_term(const sweep_pass *pass, int voxel, quad anchor);
/* The same sum, told for the place `way` further. */
typedef void window_move(lattice_frame *sum, quad way);

static inline void frame_add(lattice_frame *sum, lattice_frame term)
{
    sum->b += term.b;
    for (int k = 0; k < 3; k++) sum->r[k] += term.r[k];
}

static inline void frame_remove(lattice_frame *sum, lattice_frame term)
{
    sum->b -= term.b;
    for (int k = 0; k < 3; k++) sum->r[k] -= term.r[k];
}

/* Slide the window along rods. Inlined, so that each kind of sum is compiled with its own term and move. */
static inline __attribute__((always_inline)) void rods_slide(const sweep_pass *pass, int begin, int end,
                                                             window_term *term, window_move *move)
{
    const quad *rest = pass->sweep->rest;

    for (int c = begin; c < end; c++) {
        const lattice_chain *chain = &pass->sweep->chains[pass->axis][c];
        const int *voxels = pass->sweep->chain_voxels[pass->axis] + chain->first;

        /* the window around the first entry */
        lattice_frame sum = {{0}, {{0}, {0}, {0}}};
        int first = chain->own_first, low = MAX(first - pass->back, 0),
            high = MIN(first + pass->ahead, chain->count - 1);
        quad anchor = rest[voxels[first]];
        for (int i = low; i <= high; i++) frame_add(&sum, term(pass, voxels[i], anchor));
        pass->out[voxels[first]] = sum;

        /* one entry leaves, one enters */
        for (int i = first + 1; i <= chain->own_last; i++) {
            quad next = rest[voxels[i]];
            move(&sum, next - anchor);
            anchor = next;
            int leaves = i - 1 - pass->back, enters = i + pass->ahead;
            if (leaves >= 0) frame_remove(&sum, term(pass, voxels[leaves], anchor));
            if (enters < chain->count) frame_add(&sum, term(pass, voxels[enters], anchor));
            pass->out[voxels[i]] = sum;
        }
    }
}

/* The transpose: the window holds owned entries and all entries are written, borrowed ones apart. */
static inline __attribute__((always_inline)) void rods_slide_back(const sweep_pass *pass, int begin, int end,
                                                                  window_term *term, window_move *move)
{
    const quad *rest = pass->sweep->rest;
    for (int c = begin; c < end; c++) {
        const lattice_chain *chain = &pass->sweep->chains[pass->axis][c];
        const int *voxels = pass->sweep->chain_voxels[pass->axis] + chain->first;
        int own_first = chain->own_first;
        int own_last = chain->own_last;
        lattice_frame *loan = pass->loans + chain->borrowed;

        /* what the first entry is in */
        lattice_frame sum = {{0}, {{0}, {0}, {0}}};
        quad anchor = rest[voxels[0]];
        for (int i = own_first; i <= MIN(pass->ahead, own_last); i++) frame_add(&sum, term(pass, voxels[i], anchor));

        for (int i = 0;;) {
            if (i >= own_first && i <= own_last)
                pass->out[voxels[i]] = sum;
            else
                *loan++ = sum;
            if (++i >= chain->count) break;

            /* one entry leaves, one enters */
            quad next = rest[voxels[i]];
            move(&sum, next - anchor);
            anchor = next;
            int leaves = i - 1 - pass->back;
            int enters = i + pass->ahead;
            if (leaves >= own_first && leaves <= own_last) frame_remove(&sum, term(pass, voxels[leaves], anchor));
            if (enters >= own_first && enters <= own_last) frame_add(&sum, term(pass, voxels[enters], anchor));
        }
    }
}

/* Add to each lender what its copies got. */
static void loans_return(const sweep_pass *pass)
{
    const int *lenders = pass->sweep->lenders[pass->axis];
    const int *loans = pass->sweep->loans[pass->axis];
    for (int i = 0; i < pass->sweep->lender_counts[pass->axis]; i++)
        for (int k = lenders[2 * i + 1]; k < lenders[2 * i + 3]; k++)
            frame_add(&pass->out[lenders[2 * i]], pass->loans[loans[k]]);
}

/* Moments: a voxel at rest place x0 has a value b and moments r about x0; here they are about the anchor. */
static inline lattice_frame moments_term(const sweep_pass *pass, int voxel, quad anchor)
{
    const lattice_frame *in = &pass->in[voxel];
    quad offset = pass->sweep->rest[voxel] - anchor;
    return (lattice_frame){in->b,
                           {in->r[0] + in->b * offset[0], in->r[1] + in->b * offset[1], in->r[2] + in->b * offset[2]}};
}

/* In the first pass a voxel is a bare position without moments. */
static inline lattice_frame position_term(const sweep_pass *pass, int voxel, quad anchor)
{
    quad s = pass->positions[voxel], offset = pass->sweep->rest[voxel] - anchor;
    return (lattice_frame){s, {s * offset[0], s * offset[1], s * offset[2]}};
}

static inline void moments_move(lattice_frame *sum, quad way)
{
    for (int k = 0; k < 3; k++) sum->r[k] -= sum->b * way[k];
}

/* Affine maps r, each given by its value b at its own rest place; here at the anchor. */
static inline quad frame_at(const lattice_frame *frame, quad offset)
{
    return frame->b + frame->r[0] * offset[0] + frame->r[1] * offset[1] + frame->r[2] * offset[2];
}

static inline lattice_frame map_term(const sweep_pass *pass, int voxel, quad anchor)
{
    const lattice_frame *in = &pass->in[voxel];
    return (lattice_frame){frame_at(in, anchor - pass->sweep->rest[voxel]), {in->r[0], in->r[1], in->r[2]}};
}

static inline void map_move(lattice_frame *sum, quad way) { sum->b = frame_at(sum, way); }

static void position_rods(void *context, int begin, int end)
{
    rods_slide(context, begin, end, position_term, moments_move);
}

static void moments_rods(void *context, int begin, int end)
{
    rods_slide(context, begin, end, moments_term, moments_move);
}

static void map_rods(void *context, int begin, int end) { rods_slide_back(context, begin, end, map_term, map_move); }

/* Rods in one block of work: their length varies, but not so much as to matter. */
#define ROD_GRAIN 64

void lattice_sum_moments(const lattice_sweep *sweep, const quad *positions, lattice_frame *a, lattice_frame *b,
                         const cutis_jobs *jobs)
{
    int back = (sweep->region - 1) / 2;
    int ahead = sweep->region / 2;
    sweep_pass x = {sweep, 0, back, ahead, positions, NULL, a, NULL};
    sweep_pass y = {sweep, 1, back, ahead, NULL, a, b, NULL};
    sweep_pass z = {sweep, 2, back, ahead, NULL, b, a, NULL};
    parallel_for(jobs, sweep->chain_counts[0], ROD_GRAIN, position_rods, &x);
    parallel_for(jobs, sweep->chain_counts[1], ROD_GRAIN, moments_rods, &y);
    parallel_for(jobs, sweep->chain_counts[2], ROD_GRAIN, moments_rods, &z);
}

void lattice_sum_frames(const lattice_sweep *sweep, const lattice_frame *in, lattice_frame *a, lattice_frame *b,
                        lattice_frame *loans, const cutis_jobs *jobs)
{
    int back = sweep->region / 2;
    int ahead = (sweep->region - 1) / 2;
    sweep_pass passes[3] = {{sweep, 2, back, ahead, NULL, in, a, loans},
                            {sweep, 1, back, ahead, NULL, a, b, loans},
                            {sweep, 0, back, ahead, NULL, b, a, loans}};
    for (int i = 0; i < 3; i++) {
        parallel_for(jobs, sweep->chain_counts[passes[i].axis], ROD_GRAIN, map_rods, &passes[i]);
        loans_return(&passes[i]);
    }
}
