// The graph by rows: weights into the matrix, sums at vertices and edges, the bound on the spectrum.
#include "common.cuh"

// weights[p] = w[edges[p]], and their sum in every row.
extern "C" __global__ void fill_rows(int n, const int *offsets, const int *edges, const double *w, double *weights,
                                     double *degrees) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    int p = offsets[r], end = offsets[r + 1];
    double total = 0.0, lost = 0.0;
    while (p < end) {
        int stop = min(p + PART, end);
        double part = 0.0;
        for (; p < stop; ++p) {
            double value = w[edges[p]];
            weights[p] = value;
            part += value;
        }
        add_exactly(total, lost, part);
    }
    degrees[r] = total + lost;
}

// The sum of d over the edges at every vertex.
extern "C" __global__ void sum_rows(int n, const int *offsets, const int *edges, const double *d, double *out) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    double total = 0.0;
    for (int p = offsets[r]; p < offsets[r + 1]; ++p) total += d[edges[p]];
    out[r] = total;
}

// The sum of y over both ends of every edge.
extern "C" __global__ void sum_ends(int m, const int *i, const int *j, const double *y, double *out) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < m) out[e] = y[i[e]] + y[j[e]];
}

// out[v] += the rows of E that belong to the edges at v. keys are sorted: vertex * count + place, a place for both ends
// of each of the count / 2 edges. The first of every vertex adds all of them up, always in the same order.
extern "C" __global__ void add_rows(int count, int columns, const int64 *keys, const double *rows, double *out) {
    int t = blockIdx.x * blockDim.y + threadIdx.y;
    if (t >= count) return;
    int64 vertex = keys[t] / count;
    if (t > 0 && keys[t - 1] / count == vertex) return;
    int half = count / 2;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        double total = out[vertex * columns + c];
        for (int s = t; s < count && keys[s] / count == vertex; ++s)
            total += rows[(int64)((keys[s] % count) % half) * columns + c];
        out[vertex * columns + c] = total;
    }
}

// out[r, k] = factors[k] Σ_p v[edges[p]] (x[r, k] − x[columns[p], k]): rows of L(v) x by differences.
extern "C" __global__ void laplacian_rows(int n, int width, const int *offsets, const int *columns, const int *edges,
                                          const double *v, const double *x, const double *factors, double *out) {
    int r = blockIdx.x * blockDim.y + threadIdx.y;
    if (r >= n) return;
    int first = offsets[r], end = offsets[r + 1];
    for (int k = threadIdx.x; k < width; k += blockDim.x) {
        double own = x[(int64)r * width + k], total = 0;
        for (int p = first; p < end; ++p) total += v[edges[p]] * (own - x[(int64)columns[p] * width + k]);
        out[(int64)r * width + k] = factors[k] * total;
    }
}
