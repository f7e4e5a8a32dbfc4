// (2I + D + W)⁻¹ b by conjugate gradients with the diagonal as the preconditioner, for a panel of columns in one launch.
//
// W has a 1 for every neighbor that `present` marks. A thread works on the same column of the same rows throughout.
#include "common.cuh"
#include "grid.cuh"

#define SHIFT 2.0

// Not from the read-only cache: x changes while the kernel runs.
__device__ inline double neighbors_sum(int r, int width, const int *offsets, const int *columns,
                                       const unsigned char *present, const double *x) {
    double total = 0.0;
    for (int p = offsets[r]; p < offsets[r + 1]; ++p)
        if (present[p]) total += x[(int64)columns[p] * width + threadIdx.x];
    return total;
}

extern "C" __global__ void __launch_bounds__(256, 4)
    conjugate_gradients(int n, int width, const int *offsets, const int *columns,
                                               const unsigned char *present, const double *degrees, const double *b,
                                               double *x, double *residual, double *p, double *Ap, int has_start,
                                               double tolerance, int rounds, unsigned *arrived, double *parts) {
    SHARED(double, room);
    Grid grid = {arrived, parts, 0};
    int begin = blockIdx.x * blockDim.y + threadIdx.y, stride = gridDim.x * blockDim.y, column = threadIdx.x;
    double sums[3] = {0.0, 0.0, 0.0};
    if (!has_start) {
        for (int r = begin; r < n; r += stride) {
            int64 at = (int64)r * width + column;
            x[at] = b[at] / (degrees[r] + SHIFT);
        }
        wait_for_all(grid);
    }
    for (int r = begin; r < n; r += stride) {
        int64 at = (int64)r * width + column;
        double diagonal = degrees[r] + SHIFT, value = b[at];
        double left = value - diagonal * x[at] - neighbors_sum(r, width, offsets, columns, present, x);
        residual[at] = left;
        p[at] = left / diagonal;
        sums[0] += left * left / diagonal;
        sums[1] += left * left;
        sums[2] += value * value;
    }
    sum_over_grid(grid, 3, sums, room);
    double gain = sums[0], left = sums[1], target = tolerance * tolerance * sums[2];
    for (int round = 0; round < rounds; ++round) {
        // A panel is done when all its columns are; all blocks see the same.
        int open = 0;
        room[threadIdx.y * blockDim.x + threadIdx.x] = left > target ? 1.0 : 0.0;
        __syncthreads();
        for (int c = 0; c < width; ++c) open |= room[c] != 0.0;
        __syncthreads();
        if (!open) break;
        sums[0] = 0.0;
        for (int r = begin; r < n; r += stride) {
            int64 at = (int64)r * width + column;
            double moved = (degrees[r] + SHIFT) * p[at] + neighbors_sum(r, width, offsets, columns, present, p);
            Ap[at] = moved;
            sums[0] += p[at] * moved;
        }
        sum_over_grid(grid, 1, sums, room);
        double step = sums[0] > 0.0 ? gain / sums[0] : 0.0, previous = gain;
        sums[0] = sums[1] = 0.0;
        for (int r = begin; r < n; r += stride) {
            int64 at = (int64)r * width + column;
            x[at] += step * p[at];
            double rest = residual[at] - step * Ap[at];
            residual[at] = rest;
            sums[0] += rest * rest / (degrees[r] + SHIFT);
            sums[1] += rest * rest;
        }
        sum_over_grid(grid, 2, sums, room);
        gain = sums[0];
        left = sums[1];
        double ratio = previous > 0.0 ? gain / previous : 0.0;
        for (int r = begin; r < n; r += stride) {
            int64 at = (int64)r * width + column;
            p[at] = residual[at] / (degrees[r] + SHIFT) + ratio * p[at];
        }
        wait_for_all(grid);
    }
}
