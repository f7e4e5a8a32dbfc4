// The Chebyshev recurrence, previous <- gain X current − previous with X = (2/bound) L − I, and what a step adds to the
// sums over the terms. See cotherm/engines/cpu/chebyshev.py for why products are sums of differences.
//
// A thread has two columns of a row, and blockDim.x threads a panel of columns. The rows of neighbors come from places in
// no order: GROUP of them are asked for before the first is used. Measured on one H200, on graphs of a million vertices:
// groups of five in blocks of 64 threads are fastest, for most rows have ten to fifteen neighbors. To fetch the nonzeros
// of a block or warp into shared memory first, to share them by shuffles, to ask for the next group ahead of time, and to
// sort rows by their length were all slower: what limits is how many rows of neighbors are on their way at a time.
#include "common.cuh"
#include "grid.cuh"

#define GROUP 5

struct Recurrence {
    int n, width;
    const int *offsets, *columns;
    const double *weights;
    int times, q;
    double *sums;
    int64 vertex_stride, time_stride;
};

__device__ inline double2 pair_at(const double *place) { return *(const double2 *)place; }

// Adds w (own − x) for the neighbors from p to stop.
__device__ inline void add_part(double2 &part, const int *columns, const double *weights, int p, int stop, int width,
                                const double *current, double2 own) {
    for (; p + GROUP <= stop; p += GROUP) {
        int k[GROUP];
        double w[GROUP];
        double2 x[GROUP];
#pragma unroll
        for (int g = 0; g < GROUP; ++g) {
            k[g] = columns[p + g];
            w[g] = weights[p + g];
        }
#pragma unroll
        for (int g = 0; g < GROUP; ++g) x[g] = pair_at(current + (int64)k[g] * width);
#pragma unroll
        for (int g = 0; g < GROUP; ++g) {
            part.x += w[g] * (own.x - x[g].x);
            part.y += w[g] * (own.y - x[g].y);
        }
    }
    for (; p < stop; ++p) {
        double2 x = pair_at(current + (int64)columns[p] * width);
        double w = weights[p];
        part.x += w * (own.x - x.x);
        part.y += w * (own.y - x.y);
    }
}

struct Exact {
    double2 total, lost;
};

__device__ inline void add_exactly(Exact &sum, double2 part) {
    add_exactly(sum.total.x, sum.lost.x, part.x);
    add_exactly(sum.total.y, sum.lost.y, part.y);
}

// due: the coefficients of T_{k−2}, T_{k−1} and T_k in the sums of all times; is_first: the sums are begun.
__device__ inline void finish_at(const Recurrence &R, int r, int c, double scale, double gain, const Exact &product,
                                 double2 own, double2 before, double *previous, const double *due, bool is_due,
                                 bool is_first) {
    double2 next;
    next.x = scale * (product.total.x + product.lost.x) - gain * own.x - before.x;
    next.y = scale * (product.total.y + product.lost.y) - gain * own.y - before.y;
    *(double2 *)(previous + (int64)r * R.width + c) = next;
    if (!is_due || c >= R.q) return;
    double *sums = R.sums + r * R.vertex_stride + c;
    bool both = c + 1 < R.q, even = R.q % 2 == 0;
    for (int t = 0; t < R.times; ++t, sums += R.time_stride) {
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
                               double *previous, const double *due, bool is_due, bool is_first) {
    int64 place = (int64)r * R.width + c;
    double2 own = pair_at(current + place), before = pair_at(previous + place), zero = make_double2(0.0, 0.0);
    Exact sum = {zero, zero};
    for (int p = R.offsets[r], end = R.offsets[r + 1]; p < end; p += PART) {
        double2 part = zero;
        add_part(part, R.columns, R.weights, p, min(p + PART, end), R.width, current + c, own);
        add_exactly(sum, part);
    }
    finish_at(R, r, c, scale, gain, sum, own, before, previous, due, is_due, is_first);
}

// One step: a launch for each.
extern "C" __global__ void __launch_bounds__(64, 16)
    chebyshev_step(int n, int width, const int *__restrict__ offsets, const int *__restrict__ columns,
                   const double *__restrict__ weights, double scale, double gain,
                   const double *__restrict__ current, double *__restrict__ previous, int times, int q,
                   const double *__restrict__ due, int is_due, int is_first, double *__restrict__ sums,
                   int64 vertex_stride, int64 time_stride) {
    Recurrence R = {n, width, offsets, columns, weights, times, q, sums, vertex_stride, time_stride};
    int r = blockIdx.x * blockDim.y + threadIdx.y, c = 2 * (blockIdx.y * blockDim.x + threadIdx.x);
    if (r < n && c < width) step_at(R, r, c, scale, gain, current, previous, due, is_due, is_first);
}

// All steps in one launch, for graphs so small that launches would take longest. X = (2/bound) L − I.
extern "C" __global__ void __launch_bounds__(256, 3)
    chebyshev_sweep(int n, int width, int panels, const int *offsets, const int *columns, const double *weights,
                    double scale, int steps, double *current, double *previous, int times, int q, const double *due,
                    double *sums, int64 vertex_stride, int64 time_stride, unsigned *arrived) {
    Recurrence R = {n, width, offsets, columns, weights, times, q, sums, vertex_stride, time_stride};
    Grid grid = {arrived, 0, 0};
    int tiles = (n + blockDim.y - 1) / blockDim.y;
    for (int k = 1; k <= steps; ++k) {
        double gain = k == 1 ? 1.0 : 2.0;
        bool is_due = k % 3 == 2 || k == steps;
        for (int tile = blockIdx.x; tile < tiles * panels; tile += gridDim.x) {
            int r = tile / panels * blockDim.y + threadIdx.y, c = 2 * (tile % panels * blockDim.x + threadIdx.x);
            if (r < n && c < width)
                step_at(R, r, c, gain * scale, gain, current, previous, due + (int64)3 * times * k, is_due,
                        k == 2 || (k == 1 && steps == 1));
        }
        if (k < steps) wait_for_all(grid);
        double *old = current;
        current = previous;
        previous = old;
    }
}
