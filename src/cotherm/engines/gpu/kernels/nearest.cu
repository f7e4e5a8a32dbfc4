// The nearest rows of Y, by products of rows.
#include "common.cuh"

// More than any number that is compared.
#define FARTHEST 1.7976931348623157e308
// Numbers that a thread looks at before those that are near enough are put in order.
#define LOOKS 4

// Whether (key, place) comes after another: by key, then by place.
__device__ inline int is_after(double key, int place, double other, int other_place) {
    return key > other || (key == other && place > other_place);
}

// One round of a bitonic sort of `room` entries, a power of two of them; all threads of the block take part.
__device__ inline void exchange(double *keys, int *places, int room, int size, int gap) {
    for (int a = threadIdx.x; a < room; a += blockDim.x) {
        int b = a ^ gap;
        if (b < a) continue;
        int ascends = (a & size) == 0;
        if (is_after(keys[a], places[a], keys[b], places[b]) == ascends) {
            double key = keys[a];
            int place = places[a];
            keys[a] = keys[b], places[a] = places[b];
            keys[b] = key, places[b] = place;
        }
    }
}

// nearest[p, :] = the `count` columns c of row p of the products, products[p, c] = <Y_p, Y_c>, with the smallest
// |Y_c|² − 2 <Y_p, Y_c>, which is their squared distance but for |Y_p|², the same for all; nearest first, of equal ones
// the first column. A block has a row. It keeps the nearest so far, in order, and behind them what is nearer than the
// last of them, until there is no room: count + LOOKS * blockDim.x <= room. Atomic additions give places behind them, in
// any order; what comes out depends on none.
extern "C" __global__ void __launch_bounds__(256)
    nearest_of_rows(int n, int count, int room, const double *products, const double *norms, int64 *nearest) {
    SHARED(double, keys);
    int *places = (int *)(keys + room);
    __shared__ unsigned waiting;
    const double *row = products + (int64)blockIdx.x * n;
    int look = LOOKS * blockDim.x;
    double last = FARTHEST;
    for (int a = threadIdx.x; a < room; a += blockDim.x) keys[a] = FARTHEST, places[a] = n;
    if (threadIdx.x == 0) waiting = 0;
    __syncthreads();
    for (int64 first = 0; first < n; first += look) {
        for (int k = 0; k < LOOKS; ++k) {
            int64 c = first + k * (int)blockDim.x + threadIdx.x;
            if (c >= n) break;
            double key = norms[c] - 2.0 * row[c];
            if (key < last) {
                int at = count + atomicAdd(&waiting, 1u);
                keys[at] = key, places[at] = (int)c;
            }
        }
        __syncthreads();
        int taken = count + (int)waiting;
        __syncthreads();  // before any thread adds to what wait
        if (taken + look <= room && first + look < n) continue;
        for (int size = 2; size <= room; size *= 2)
            for (int gap = size / 2; gap > 0; gap /= 2) {
                exchange(keys, places, room, size, gap);
                __syncthreads();
            }
        last = keys[count - 1];
        for (int a = count + threadIdx.x; a < room; a += blockDim.x) keys[a] = FARTHEST, places[a] = n;
        if (threadIdx.x == 0) waiting = 0;
        __syncthreads();
    }
    for (int a = threadIdx.x; a < count; a += blockDim.x) nearest[(int64)blockIdx.x * count + a] = places[a];
}
