// Sums for every edge: gaps b_eᵀx of functions along it, multiplied.
#include "common.cuh"

// out[e, column + pair] = scale[pair] Σ_r weights[r] gap_a(r) gap_b(r) for the pairs (a, b) of functions.
//
// A block has blockDim.y edges. Their gaps are computed once, `at_once` terms at a time, and kept in shared memory, from
// where every pair takes its own.
extern "C" __global__ void edge_products(int m, int q, int stored, int first, int terms, int at_once, int pairs,
                                         const double *__restrict__ x, const int *i, const int *j,
                                         const double *weights, const double *scale, const int *pair_a,
                                         const int *pair_b, double *__restrict__ out, int64 out_stride, int column) {
    SHARED(double, gaps);
    int e = blockIdx.x * blockDim.y + threadIdx.y;
    bool mine = e < m;
    double *own = gaps + threadIdx.y * at_once * q;
    const double *head = x + ((int64)(mine ? i[e] : 0) * stored + first) * q;
    const double *tail = x + ((int64)(mine ? j[e] : 0) * stored + first) * q;
    double *row = out + e * out_stride + column;
    for (int begin = 0; begin < terms; begin += at_once) {
        int count = min(at_once, terms - begin);
        for (int k = threadIdx.x; mine && k < count * q; k += blockDim.x)
            own[k] = head[begin * q + k] - tail[begin * q + k];
        __syncthreads();
        for (int k = threadIdx.x; mine && k < pairs; k += blockDim.x) {
            int a = pair_a[k], b = pair_b[k];
            double total = 0.0;
            for (int r = 0; r < count; ++r) total += weights[begin + r] * own[r * q + a] * own[r * q + b];
            total *= scale[k];
            row[k] = begin ? row[k] + total : total;
        }
        __syncthreads();
    }
}

// out[e] = Σ_k factors[k] (x[i, k] − x[j, k]) (z[i, k] − z[j, k]); blockDim.x threads share an edge.
extern "C" __global__ void edge_inner_products(int m, int width, const double *__restrict__ x,
                                               const double *__restrict__ z, const int *i, const int *j,
                                               const double *factors, double *out) {
    SHARED(double, parts);
    int e = blockIdx.x * blockDim.y + threadIdx.y;
    double total = 0.0;
    if (e < m) {
        int64 a = (int64)i[e] * width, b = (int64)j[e] * width;
        for (int k = threadIdx.x; k < width; k += blockDim.x)
            total += factors[k] * (x[a + k] - x[b + k]) * (z[a + k] - z[b + k]);
    }
    double *own = parts + threadIdx.y * blockDim.x;
    own[threadIdx.x] = total;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half) own[threadIdx.x] += own[threadIdx.x + half];
        __syncthreads();
    }
    if (e < m && threadIdx.x == 0) out[e] = own[0];
}
