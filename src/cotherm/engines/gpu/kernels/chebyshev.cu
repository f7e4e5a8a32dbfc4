// The Chebyshev recurrence, next = gain X current − previous with X = (2/bound) L − I, and what a step adds to the sums
// over the terms. Nothing comes before the first step, and from the third on `next` takes the place of `previous`. See
// cotherm/engines/cpu/chebyshev.py for why products are sums of differences.
//
// A thread has two columns of a row, and blockDim.x threads a panel of columns. The rows of neighbors come from places in
// no order: GROUP of them are asked for before the first is used. Measured on one H200, on graphs of a million vertices:
// groups of five in blocks of 64 threads are fastest, for most rows have ten to fifteen neighbors. To fetch the nonzeros
// of a block or warp into shared memory first, to share them by shuffles, to ask for the next group ahead of time, to
// sort rows by their length, to give the nonzeros of eight rows in turns, hints to caches, and a range of rows for every
// processor were all slower: what limits is how many rows of neighbors are on their way at a time. So it pays that a
// kernel for one case, eight columns and one time, needs fewer registers.
#include "common.cuh"
#include "grid.cuh"

#define GROUP 5

struct Recurrence {
    int n, width;
    const int *offsets, *columns;
    const double *weights;
    int times, q;
    double *sums;  // (n, times, q)
};

__device__ inline double2 pair_at(const double *place) { return *(const double2 *)place; }

// Adds w (own − x) for COUNT neighbors from p on, or if these are not ALL there for those before `stop`. All are asked for
// before the first is used.
template <int COUNT, bool ALL>
__device__ __forceinline__ void add_group(double2 &part, const int *columns, const double *weights, int p, int stop,
                                          int width, const double *current, double2 own) {
    int k[COUNT];
    double w[COUNT];
    double2 x[COUNT];
#pragma unroll
    for (int g = 0; g < COUNT; ++g)
        if (ALL || p + g < stop) {
            k[g] = columns[p + g];
            w[g] = weights[p + g];
        }
#pragma unroll
    for (int g = 0; g < COUNT; ++g)
        if (ALL || p + g < stop) x[g] = pair_at(current + (int64)k[g] * width);
#pragma unroll
    for (int g = 0; g < COUNT; ++g)
        if (ALL || p + g < stop) {
            part.x += w[g] * (own.x - x[g].x);
            part.y += w[g] * (own.y - x[g].y);
        }
}

// Adds w (own − x) for the neighbors from p to stop.
__device__ inline void add_part(double2 &part, const int *columns, const double *weights, int p, int stop, int width,
                                const double *current, double2 own) {
#pragma unroll 1
    for (; p + GROUP <= stop; p += GROUP)
        add_group<GROUP, true>(part, columns, weights, p, p + GROUP, width, current, own);
#pragma unroll 1
    for (; p < stop; ++p) add_group<1, true>(part, columns, weights, p, stop, width, current, own);
}

struct Exact {
    double2 total, lost;
};

__device__ inline void add_exactly(Exact &sum, double2 part) {
    add_exactly(sum.total.x, sum.lost.x, part.x);
    add_exactly(sum.total.y, sum.lost.y, part.y);
}

// due: the coefficients of T_{k−2}, T_{k−1} and T_k in the sums of all times; is_first: the sums are begun.
__device__ inline void finish_at(const Recurrence &R, int r, int c, double scale, double gain, double2 product,
                                 double2 own, double2 before, double *next_block, const double *due, bool is_due,
                                 bool is_first) {
    double2 next;
    next.x = scale * product.x - gain * own.x - before.x;
    next.y = scale * product.y - gain * own.y - before.y;
    *(double2 *)(next_block + (int64)r * R.width + c) = next;
    if (!is_due || c >= R.q) return;
    double *sums = R.sums + (int64)r * R.times * R.q + c;
    bool both = c + 1 < R.q, even = R.q % 2 == 0;
    for (int t = 0; t < R.times; ++t, sums += R.q) {
        double oldest = due[t], older = due[R.times + t], newest = due[2 * R.times + t];
        if (!is_first && oldest == 0.0 && older == 0.0 && newest == 0.0) continue;
        double x = oldest * before.x + older * own.x + newest * next.x;
        double y = oldest * before.y + older * own.y + newest * next.y;
        if (even) {
            double2 sum = is_first ? make_double2(0.0, 0.0) : pair_at(sums);
            *(double2 *)sums = make_double2(sum.x + x, sum.y + y);
        } else {
            sums[0] = is_first ? x : sums[0] + x;
            if (both) sums[1] = is_first ? y : sums[1] + y;
        }
    }
}

// A step at a row and two columns.
__device__ inline void step_at(const Recurrence &R, int r, int c, double scale, double gain, const double *current,
                               const double *previous, double *next, const double *due, bool is_due, bool is_first) {
    int64 place = (int64)r * R.width + c;
    double2 own = pair_at(current + place), zero = make_double2(0.0, 0.0);
    double2 before = previous ? pair_at(previous + place) : zero;
    int p = R.offsets[r], end = R.offsets[r + 1];
    double2 product = zero;
    if (end - p <= PART) {
        add_part(product, R.columns, R.weights, p, end, R.width, current + c, own);
    } else {
        Exact sum = {zero, zero};
        for (; p < end; p += PART) {
            double2 part = zero;
            add_part(part, R.columns, R.weights, p, min(p + PART, end), R.width, current + c, own);
            add_exactly(sum, part);
        }
        product = make_double2(sum.total.x + sum.lost.x, sum.total.y + sum.lost.y);
    }
    finish_at(R, r, c, scale, gain, product, own, before, next, due, is_due, is_first);
}

// One step: a launch for each.
extern "C" __global__ void __launch_bounds__(64, 16)
    chebyshev_step(int n, int width, const int *__restrict__ offsets, const int *__restrict__ columns,
                   const double *__restrict__ weights, double scale, double gain,
                   const double *__restrict__ current, const double *previous, double *next, int times, int q,
                   const double *__restrict__ due, int is_due, int is_first, double *__restrict__ sums) {
    Recurrence R = {n, width, offsets, columns, weights, times, q, sums};
    int r = blockIdx.x * blockDim.y + threadIdx.y, c = 2 * (blockIdx.y * blockDim.x + threadIdx.x);
    if (r < n && c < width) step_at(R, r, c, scale, gain, current, previous, next, due, is_due, is_first);
}

// The same for eight columns and one time, no row having more than PART neighbors.
extern "C" __global__ void __launch_bounds__(64, 16)
    chebyshev_step_of_8(int n, const int *__restrict__ offsets, const int *__restrict__ columns,
                        const double *__restrict__ weights, double scale, double gain,
                        const double *__restrict__ current, const double *previous, double *next,
                        const double *__restrict__ due, int is_due, int is_first, double *__restrict__ sums) {
    int r = blockIdx.x * blockDim.y + threadIdx.y, c = 2 * threadIdx.x;
    if (r >= n) return;
    int64 place = (int64)r * 8 + c;
    double2 own = pair_at(current + place), product = make_double2(0.0, 0.0);
    double2 before = previous ? pair_at(previous + place) : product;
    int p = offsets[r], end = offsets[r + 1];
    for (; p + GROUP <= end; p += GROUP)
        add_group<GROUP, true>(product, columns, weights, p, p + GROUP, 8, current + c, own);
    if (p < end) add_group<GROUP - 1, false>(product, columns, weights, p, end, 8, current + c, own);
    double x = scale * product.x - gain * own.x - before.x, y = scale * product.y - gain * own.y - before.y;
    *(double2 *)(next + place) = make_double2(x, y);
    if (!is_due) return;
    x = due[0] * before.x + due[1] * own.x + due[2] * x;
    y = due[0] * before.y + due[1] * own.y + due[2] * y;
    double2 sum = is_first ? make_double2(0.0, 0.0) : pair_at(sums + place);
    *(double2 *)(sums + place) = make_double2(sum.x + x, sum.y + y);
}

// All steps in one launch, for graphs so small that launches would take longest. X = (2/bound) L − I.
extern "C" __global__ void __launch_bounds__(256, 3)
    chebyshev_sweep(int n, int width, int panels, const int *offsets, const int *columns, const double *weights,
                    double scale, int steps, const double *F, double *one, double *other, int times, int q,
                    const double *due, double *sums, unsigned *arrived) {
    Recurrence R = {n, width, offsets, columns, weights, times, q, sums};
    Grid grid = {arrived, 0, 0};
    int tiles = (n + blockDim.y - 1) / blockDim.y;
    const double *current = F, *previous = 0;
    double *next = one;
    for (int k = 1; k <= steps; ++k) {
        double gain = k == 1 ? 1.0 : 2.0;
        bool is_due = k % 3 == 2 || k == steps;
        for (int tile = blockIdx.x; tile < tiles * panels; tile += gridDim.x) {
            int r = tile / panels * blockDim.y + threadIdx.y, c = 2 * (tile % panels * blockDim.x + threadIdx.x);
            if (r < n && c < width)
                step_at(R, r, c, gain * scale, gain, current, previous, next, due + (int64)3 * times * k, is_due,
                        k == 2 || (k == 1 && steps == 1));
        }
        if (k < steps) wait_for_all(grid);
        previous = current;
        current = next;
        next = next == one ? other : one;
    }
}
