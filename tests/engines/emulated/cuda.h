// The part of CUDA that our kernels use, on a processor: slow, but the same source runs.
//
// The threads of a block are coroutines in one thread of the processor. A barrier hands over to the others until all
// threads of the block that still run have come there. Blocks run one after the other, or all at once where they wait
// for each other (a cooperative launch). Kernels without barriers are called thread by thread.
#include <csetjmp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <tuple>
#include <ucontext.h>
#include <utility>
#include <vector>

#define EMULATED
#define __global__ static
#define __device__ static
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)
#define SHARED(type, name) type *name = (type *)emulated::now->block->shared
#define PAUSE emulated::yield()

struct dim3 {
    unsigned x, y, z;
};
struct alignas(16) double2 {
    double x, y;
};
static inline double2 make_double2(double x, double y) { return {x, y}; }
static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulated {
const size_t STACK = 64 * 1024;

struct Barrier {
    int running = 0, arrived = 0, generation = 0;
    void release() {
        if (running && arrived == running) {
            arrived = 0;
            generation++;
        }
    }
};
struct Block {
    dim3 index;
    Barrier all, warps[32];
    void *shared = nullptr;
};
struct Thread {
    Block *block = nullptr;
    Barrier *warp = nullptr;
    dim3 index;
    ucontext_t context;
    jmp_buf place;
    void *stack = nullptr;
    bool begun = false, ended = false;
};

static Thread *now;
static Thread lone;
static jmp_buf scheduler;
static void (*body)();

static inline void yield() {
    if (_setjmp(now->place) == 0) _longjmp(scheduler, 1);
}
static inline void wait(Barrier &barrier) {
    int generation = barrier.generation;
    barrier.arrived++;
    barrier.release();
    while (barrier.generation == generation) yield();
}
// Never returns: a coroutine that has ended waits for the next launch, for to make one takes long.
static void main_of_thread() {
    for (;;) {
        body();
        now->ended = true;
        for (Barrier *barrier : {&now->block->all, now->warp}) {
            barrier->running--;
            barrier->release();
        }
        yield();
    }
}
static void resume(Thread &thread) {
    now = &thread;
    threadIdx = thread.index;
    blockIdx = thread.block->index;
    if (_setjmp(scheduler) == 0) {
        if (thread.begun) _longjmp(thread.place, 1);
        thread.begun = true;
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack;
        thread.context.uc_stack.ss_size = STACK;
        thread.context.uc_link = nullptr;
        makecontext(&thread.context, main_of_thread, 0);
        setcontext(&thread.context);
    }
}
static std::vector<Thread> pool;
static void run_together(std::vector<Block> &blocks) {
    size_t threads = (size_t)blockDim.x * blockDim.y * blockDim.z, total = threads * blocks.size();
    while (pool.size() < total) {
        pool.emplace_back();
        pool.back().stack = malloc(STACK);
    }
    for (size_t k = 0; k < total; ++k) {
        Thread &thread = pool[k];
        unsigned t = k % threads;
        thread.block = &blocks[k / threads];
        thread.warp = &thread.block->warps[t / 32];
        thread.block->all.running++;
        thread.warp->running++;
        thread.index = {t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y};
        thread.ended = false;
    }
    for (bool all_ended = false; !all_ended;) {
        all_ended = true;
        for (size_t k = 0; k < total; ++k)
            if (!pool[k].ended) {
                resume(pool[k]);
                all_ended = false;
            }
    }
}
template <class Call>
static void launch(Call call, const unsigned *grid, const unsigned *block, size_t shared, int barriers, int at_once) {
    static Call *kept;
    kept = &call;
    body = [] { (*kept)(); };
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    size_t count = (size_t)grid[0] * grid[1] * grid[2], step = at_once ? count : 1;
    for (size_t first = 0; first < count; first += step) {
        std::vector<Block> blocks(step);
        for (size_t k = 0; k < step; ++k) {
            unsigned b = first + k;
            blocks[k].index = {b % grid[0], b / grid[0] % grid[1], b / grid[0] / grid[1]};
            blocks[k].shared = shared ? malloc(shared) : nullptr;
            if (shared) memset(blocks[k].shared, 0x7f, shared);
        }
        if (barriers) {
            run_together(blocks);
        } else {
            lone.block = &blocks[0];
            now = &lone;
            blockIdx = blocks[0].index;
            for (unsigned z = 0; z < block[2]; ++z)
                for (unsigned y = 0; y < block[1]; ++y)
                    for (unsigned x = 0; x < block[0]; ++x) {
                        threadIdx = {x, y, z};
                        body();
                    }
        }
        for (Block &one : blocks) free(one.shared);
    }
}
template <class... A, size_t... I>
static void run(void (*kernel)(A...), void **arguments, const unsigned *grid, const unsigned *block, size_t shared,
                int barriers, int at_once, std::index_sequence<I...>) {
    launch([=] { kernel(*(std::decay_t<A> *)arguments[I]...); }, grid, block, shared, barriers, at_once);
}
template <class... A>
static void run(void (*kernel)(A...), void **arguments, const unsigned *grid, const unsigned *block, size_t shared,
                int barriers, int at_once) {
    run(kernel, arguments, grid, block, shared, barriers, at_once, std::index_sequence_for<A...>{});
}
}  // namespace emulated

static inline void __syncthreads() { emulated::wait(emulated::now->block->all); }
static inline void __syncwarp() { emulated::wait(*emulated::now->warp); }
static inline void __threadfence() {}
static inline unsigned atomicAdd(unsigned *place, unsigned amount) {
    unsigned old = *place;
    *place += amount;
    return old;
}
