// For kernels whose blocks wait for each other, so that all must run at the same time (a cooperative launch).

struct Grid {
    unsigned *arrived;  // zero before the launch
    double *parts;      // of the sums, (2, 3, blocks, columns): used in turns, for some blocks read while others write
    int turn;
};

__device__ inline void wait_for_all(const Grid &grid) {
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        __threadfence();
        unsigned ticket = atomicAdd(grid.arrived, 1u);
        unsigned goal = (ticket / gridDim.x + 1u) * gridDim.x;
        while (*(volatile unsigned *)grid.arrived < goal) PAUSE;
        __threadfence();
    }
    __syncthreads();
}

// Sums over all rows of the grid, of each column its own; all threads of the column get them. Every block adds up the
// sums of all blocks in the same order: all come to the same numbers, from run to run too. The last `largest` of them are
// no sums but the largest numbers.
__device__ inline void sum_over_grid(Grid &grid, int count, double *values, double *room, int largest = 0) {
    int columns = blockDim.x, column = threadIdx.x;
    double *parts = grid.parts + (int64)grid.turn * 3 * gridDim.x * columns;
    grid.turn ^= 1;
    for (int s = 0; s < count; ++s) {
        double total = s < count - largest ? sum_over_rows(values[s], room) : largest_over_rows(values[s], room);
        if (threadIdx.y == 0) parts[((int64)s * gridDim.x + blockIdx.x) * columns + column] = total;
    }
    wait_for_all(grid);
    for (int s = 0; s < count; ++s) {
        double total = 0.0;
        for (int k = threadIdx.y; k < (int)gridDim.x; k += blockDim.y) {
            double part = ((volatile double *)parts)[((int64)s * gridDim.x + k) * columns + column];
            total = s < count - largest ? total + part : fmax(total, part);
        }
        values[s] = s < count - largest ? sum_over_rows(total, room) : largest_over_rows(total, room);
    }
}
