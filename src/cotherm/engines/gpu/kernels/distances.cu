// Distances between rows of Y.
#include "common.cuh"

__device__ inline double squared_difference(int width, const double *a, const double *b) {
    double total = 0.0;
    for (int c = 0; c < width; ++c) {
        double gap = a[c] - b[c];
        total += gap * gap;
    }
    return total;
}

// out[t] = |Y[rows[t / k]] − Y[others[t]]|².
extern "C" __global__ void squared_differences(int count, int k, int width, const double *Y, const int64 *rows,
                                               const int64 *others, double *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < count) out[t] = squared_difference(width, Y + rows[t / k] * width, Y + others[t] * width);
}
