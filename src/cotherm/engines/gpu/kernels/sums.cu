// Numbers about a whole graph or block of functions, in one launch.
#include "common.cuh"
#include "grid.cuh"

#define FLOOR 1e-100
#define SMALLEST 1e-290

// bound[0] >= the largest eigenvalue of D − W: max_i ((D + W)x)_i / x_i for every x > 0, each round of the power iteration
// x <- (D + W)x tightens it (Collatz and Wielandt). In units of the largest degree nothing overflows.
extern "C" __global__ void __launch_bounds__(256, 4)
    spectral_bound(int n, const int *offsets, const int *columns, const double *weights, const double *degrees,
                   double *x, double *y, int rounds, unsigned *arrived, double *parts, double *bound) {
    SHARED(double, room);
    Grid grid = {arrived, parts, 0};
    int begin = blockIdx.x * blockDim.y + threadIdx.y, stride = gridDim.x * blockDim.y;
    double top = 0.0;
    int numbers = 1;
    for (int r = begin; r < n; r += stride) {
        top = fmax(top, degrees[r]);
        if (!(degrees[r] <= 1.7976931348623157e308)) numbers = 0;
    }
    double both[2] = {numbers ? 0.0 : 1.0, top};
    sum_over_grid(grid, 2, both, room, 1);
    top = both[1];
    if (both[0] > 0.0 || top < SMALLEST) {
        if (begin == 0) bound[0] = both[0] > 0.0 ? (top + 1.0) * 1e308 * 1e308 : 2.0 * top;
        return;
    }
    double unit = 1.0 / top, best = 0.0;
    for (int r = begin; r < n; r += stride) x[r] = fmax(degrees[r] / top, FLOOR);
    for (int round = 0; round < rounds; ++round) {
        wait_for_all(grid);
        double largest = 0.0;
        for (int r = begin; r < n; r += stride) {
            double total = unit * degrees[r] * x[r];
            for (int p = offsets[r]; p < offsets[r + 1]; ++p) total += unit * weights[p] * x[columns[p]];
            y[r] = total;
            largest = fmax(largest, total / x[r]);
        }
        sum_over_grid(grid, 1, &largest, room, 1);
        best = round == 0 || largest < best ? largest : best;
        for (int r = begin; r < n; r += stride) x[r] = fmax(y[r] / best, FLOOR);
    }
    if (begin == 0) bound[0] = best * top * (1.0 + 1e-12);  // the quotients are rounded
}
