// What all kernels share. They use a small part of CUDA C++, so that tests can also run them on a processor
// (tests/engines/emulated/cuda.h): threads, blocks, shared memory, __syncthreads, and sums over a block or the grid.

typedef long long int64;

// Shared memory of a size that the launch sets, and what a thread does that waits for others.
#ifndef EMULATED
#define SHARED(type, name) extern __shared__ type name[]
#define PAUSE
#endif

// Sums over more neighbors than this are added up in parts of as many, and the parts so that nothing is lost.
#define PART 64

// total + lost += part, without rounding (Knuth's TwoSum).
__device__ inline void add_exactly(double &total, double &lost, double part) {
    double old = total;
    total = old + part;
    double taken = total - old;
    lost += (old - (total - taken)) + (part - taken);
}

// The largest `value`, none being negative, of the threads of a block with the same threadIdx.x; all of them get it.
__device__ inline double largest_over_rows(double value, double *room) {
    int columns = blockDim.x, column = threadIdx.x, row = threadIdx.y;
    room[row * columns + column] = value;
    __syncthreads();
    for (int rows = blockDim.y; rows > 1;) {
        int half = (rows + 1) / 2, mine = row * columns + column;
        if (row + half < rows) room[mine] = fmax(room[mine], room[mine + half * columns]);
        __syncthreads();
        rows = half;
    }
    double largest = room[column];
    __syncthreads();
    return largest;
}

// The sum of `value` over the threads of a block that have the same threadIdx.x, in a fixed order; all of them get it.
// `room` has a place for every thread.
__device__ inline double sum_over_rows(double value, double *room) {
    int columns = blockDim.x, column = threadIdx.x, row = threadIdx.y;
    room[row * columns + column] = value;
    __syncthreads();
    for (int rows = blockDim.y; rows > 1;) {
        int half = (rows + 1) / 2;
        if (row + half < rows) room[row * columns + column] += room[(row + half) * columns + column];
        __syncthreads();
        rows = half;
    }
    double total = room[column];
    __syncthreads();
    return total;
}
