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

// gram[p, q] = <Y_(first + p), Y_q> becomes the distance of the two rows.
extern "C" __global__ void distances_from_gram(int rows, int n, int first, int width, const double *Y,
                                               const double *norms, double cancellation, double *gram) {
    int64 t = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= (int64)rows * n) return;
    int p = first + t / n, q = t % n;
    double both = norms[p] + norms[q], square = both - 2.0 * gram[t];
    if (square < cancellation * both) square = squared_difference(width, Y + (int64)p * width, Y + (int64)q * width);
    gram[t] = sqrt(square);
}

// out[t] = |Y[rows[t / k]] − Y[others[t]]|².
extern "C" __global__ void squared_differences(int count, int k, int width, const double *Y, const int64 *rows,
                                               const int64 *others, double *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < count) out[t] = squared_difference(width, Y + rows[t / k] * width, Y + others[t] * width);
}
