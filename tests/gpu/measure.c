/* Figures of a card, as lines of figures.jsonl (README.md): what the timing model of the simulated card needs, and what
 * the marks around a piece of work measure. Part of `make gpu-check`; plain CUDA, nothing of Ferry is in it.
 *
 *   measure card DRIVER    the first line
 *   measure [LOG2]         all others; the largest copies have 2^LOG2 bytes, 2^30 unless told
 *
 * Each is said as soon as it is known. A call that fails ends it, with status 1. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "measure.h"
#include "stopwatch.h"

enum { TIMES = 2001, FEW = 101, COPIES = 21, LARGE_COPIES = 5 };
#define MIB ((size_t)1 << 20)
#define OK(call) succeed(call, #call)

static cudaStream_t stream;
static cudaEvent_t begun, ended;
static size_t most; /* bytes of each of these */
static char *on_card[2], *pinned, *pageable;
static struct {
    void *to;
    const void *from;
    size_t bytes;
    enum cudaMemcpyKind kind;
    int words;
} it; /* the copy that is measured */

static void succeed(cudaError_t e, const char *call)
{
    if (e == cudaSuccess) return;
    fprintf(stderr, "measure: %s (%s)\n", cudaGetErrorString(e), call);
    exit(1);
}

static void say(const char *figure, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const char *figure, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("{\"figure\":\"%s\",", figure);
    vprintf(format, arguments);
    printf("}\n");
    fflush(stdout);
    va_end(arguments);
}

/* ---- times --------------------------------------------------------------------------------------- */

/* The host's time for one call of `work`. */
static double host_ns(int times, void (*work)(void))
{
    double taken[TIMES];
    for (int i = 0; i < times; i++) {
        double before = now();
        work();
        taken[i] = now() - before;
    }
    OK(cudaDeviceSynchronize());
    return median(taken, times);
}

static double elapsed_ns(cudaEvent_t from, cudaEvent_t to)
{
    float ms;
    OK(cudaEventElapsedTime(&ms, from, to));
    return (double)ms * 1e6;
}

/* The card's time between two events with `work` between; the stream is idle before, or busy for some 50 us. */
static double card_ns(int times, bool busy, void (*work)(void))
{
    double taken[TIMES];
    for (int i = 0; i < times; i++) {
        OK(cudaStreamSynchronize(stream));
        if (busy) measure_spin(100000, stream);
        OK(cudaEventRecord(begun, stream));
        work();
        OK(cudaEventRecord(ended, stream));
        OK(cudaEventSynchronize(ended));
        taken[i] = elapsed_ns(begun, ended);
    }
    return median(taken, times);
}

/* ---- calls --------------------------------------------------------------------------------------- */

static void idle(void) {}
static void launch(void) { measure_nothing(stream); }
static void wait_for_all(void) { OK(cudaStreamSynchronize(stream)); }
static void launch_and_wait(void) { launch(), wait_for_all(); }
static void record(void) { OK(cudaEventRecord(begun, stream)); }
static void query(void) { cudaEventQuery(begun); }
static void elapsed(void) { elapsed_ns(begun, ended); }
static void set_device(void) { OK(cudaSetDevice(0)); }

/* Launches of an empty kernel behind a long one, until one does not return at once. */
static int launches_queued(void)
{
    int waited = -1;
    measure_spin(200000000, stream); /* some 0.1 s */
    for (int i = 0; i < 3000 && waited < 0; i++) {
        double before = now();
        launch();
        if (now() - before > 1e7) waited = i; /* not merely interrupted */
    }
    OK(cudaDeviceSynchronize());
    return waited;
}

static void calls(void)
{
    say("launch", "\"ns\":%.0f", host_ns(TIMES, launch));
    say("record", "\"ns\":%.0f", host_ns(TIMES, record));
    say("query", "\"ns\":%.0f", host_ns(TIMES, query));
    OK(cudaEventRecord(ended, stream));
    OK(cudaDeviceSynchronize());
    say("elapsed", "\"ns\":%.0f", host_ns(TIMES, elapsed));
    say("elapsed_backwards", "\"ns\":%.0f", elapsed_ns(ended, begun));
    say("set_device", "\"ns\":%.0f", host_ns(TIMES, set_device));
    say("launch_wait", "\"ns\":%.0f", host_ns(FEW, launch_and_wait));
    for (int i = 0; i < 4; i++)
        say("marks", "\"stream\":\"%s\",\"kernels\":%d,\"ns\":%.0f", i & 2 ? "busy" : "idle", i & 1,
            card_ns(FEW, i & 2, i & 1 ? launch : idle));
    say("queue", "\"launches\":%d", launches_queued());
}

/* ---- memory -------------------------------------------------------------------------------------- */

/* false: there is not that much */
static bool time_allocation(size_t bytes, bool pin, double *made, double *freed)
{
    void *p;
    double before = now();
    cudaError_t e = pin ? cudaHostAlloc(&p, bytes, cudaHostAllocPortable) : cudaMalloc(&p, bytes);
    *made = now() - before;
    if (e == cudaErrorMemoryAllocation) return cudaGetLastError(), false;
    OK(e);
    before = now();
    OK(pin ? cudaFreeHost(p) : cudaFree(p));
    *freed = now() - before;
    return true;
}

static void allocations(bool pin, size_t least, size_t largest, int times)
{
    for (size_t bytes = least; bytes <= largest; bytes *= 4) {
        double made[COPIES], freed[COPIES];
        for (int i = 0; i < times; i++)
            if (!time_allocation(bytes, pin, &made[i], &freed[i])) return;
        say(pin ? "pin" : "malloc", "\"bytes\":%zu,\"ns\":%.0f", bytes, median(made, times));
        say(pin ? "unpin" : "free", "\"bytes\":%zu,\"ns\":%.0f", bytes, median(freed, times));
    }
}

static void copy(void) { OK(cudaMemcpyAsync(it.to, it.from, it.bytes, it.kind, stream)); }
static void copy_and_wait(void) { copy(), wait_for_all(); }
static void copy_by_kernel(void) { measure_copy(it.words, it.to, it.from, it.bytes, stream); }

static void copies_of(size_t bytes, bool up, const char *host, char *memory)
{
    int times = bytes > 64 * MIB ? LARGE_COPIES : COPIES;
    it.bytes = bytes;
    it.to = up ? on_card[0] : memory, it.from = up ? memory : on_card[0];
    it.kind = up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    const char *dir = up ? "h2d" : "d2h";
    say("copy", "\"dir\":\"%s\",\"host\":\"%s\",\"bytes\":%zu,\"ns\":%.0f", dir, host, bytes,
        host_ns(times, copy_and_wait));
    if (bytes <= MIB)
        say("copy_call", "\"dir\":\"%s\",\"host\":\"%s\",\"bytes\":%zu,\"ns\":%.0f", dir, host, bytes,
            host_ns(times, copy));
}

/* Home into memory that nothing was written to: its pages are made on the way. */
static void copy_into_fresh(size_t bytes)
{
    double taken[LARGE_COPIES];
    for (int i = 0; i < LARGE_COPIES; i++) {
        void *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (fresh == MAP_FAILED) return;
        double before = now();
        OK(cudaMemcpyAsync(fresh, on_card[0], bytes, cudaMemcpyDeviceToHost, stream));
        wait_for_all();
        taken[i] = now() - before;
        munmap(fresh, bytes);
    }
    say("copy", "\"dir\":\"d2h\",\"host\":\"fresh\",\"bytes\":%zu,\"ns\":%.0f", bytes, median(taken, LARGE_COPIES));
}

static void both_ways(void)
{
    cudaStream_t home;
    double taken[LARGE_COPIES];
    size_t half = most / 2;
    OK(cudaStreamCreateWithFlags(&home, cudaStreamNonBlocking));
    for (int i = 0; i < LARGE_COPIES; i++) {
        double before = now();
        OK(cudaMemcpyAsync(on_card[0], pinned, half, cudaMemcpyHostToDevice, stream));
        OK(cudaMemcpyAsync(pinned + half, on_card[1], half, cudaMemcpyDeviceToHost, home));
        OK(cudaDeviceSynchronize());
        taken[i] = now() - before;
    }
    OK(cudaStreamDestroy(home));
    say("both_ways", "\"bytes\":%zu,\"ns\":%.0f", half, median(taken, LARGE_COPIES));
}

static void copies(void)
{
    for (size_t bytes = 4 << 10; bytes <= most; bytes *= 4) {
        copies_of(bytes, true, "pinned", pinned);
        copies_of(bytes, false, "pinned", pinned);
        copies_of(bytes, true, "pageable", pageable);
        copies_of(bytes, false, "pageable", pageable);
        if (bytes >= MIB) copy_into_fresh(bytes);
    }
    both_ways();
}

static void memory_of_the_card(void)
{
    static const char *const names[] = {"memcpy", "float", "float4", "4xfloat4"};
    static const int words[] = {0, 1, 4, 16};
    it.to = on_card[1], it.from = on_card[0], it.kind = cudaMemcpyDeviceToDevice, it.bytes = most;
    for (int i = 0; i < 4; i++) {
        it.words = words[i];
        say("memory", "\"how\":\"%s\",\"bytes\":%zu,\"ns\":%.0f", names[i], 2 * most,
            card_ns(COPIES, false, i ? copy_by_kernel : copy));
    }
}

static void make_memory(void)
{
    for (int i = 0; i < 2; i++) {
        OK(cudaMalloc((void **)&on_card[i], most));
        OK(cudaMemsetAsync(on_card[i], 1, most, stream));
    }
    OK(cudaHostAlloc((void **)&pinned, most, cudaHostAllocPortable));
    pageable = malloc(most);
    if (!pageable) exit((fprintf(stderr, "measure: no memory\n"), 1));
    memset(pinned, 1, most);
    memset(pageable, 1, most);
    wait_for_all();
}

/* ---- products, by cuBLAS if it is found; its values are not in the header that we have ------------ */

enum { R_16F = 2, R_16BF = 14, COMPUTE_32F = 68, DEFAULT_ALGORITHM = -1 };
typedef int sgemm_call(void *, int, int, int, int, int, const float *, const void *, int, const void *, int,
                       const float *, void *, int);
typedef int dgemm_call(void *, int, int, int, int, int, const double *, const void *, int, const void *, int,
                       const double *, void *, int);
typedef int gemm_call(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                      const void *, void *, int, int, int, int);
static struct {
    void *handle;
    sgemm_call *single;
    dgemm_call *twice; /* as exact */
    gemm_call *any;
    int n, type, status;
} blas;

static const float one = 1, zero = 0;
static const double one_64 = 1, zero_64 = 0;

static void product_f32(void)
{
    blas.status |= blas.single(blas.handle, 0, 0, blas.n, blas.n, blas.n, &one, on_card[0], blas.n, on_card[1], blas.n,
                               &zero, on_card[0] + most / 2, blas.n);
}

static void product_f64(void)
{
    blas.status |= blas.twice(blas.handle, 0, 0, blas.n, blas.n, blas.n, &one_64, on_card[0], blas.n, on_card[1],
                              blas.n, &zero_64, on_card[0] + most / 2, blas.n);
}

static void product_f16(void)
{
    blas.status |=
        blas.any(blas.handle, 0, 0, blas.n, blas.n, blas.n, &one, on_card[0], blas.type, blas.n, on_card[1], blas.type,
                 blas.n, &zero, on_card[0] + most / 2, blas.type, blas.n, COMPUTE_32F, DEFAULT_ALGORITHM);
}

/* As often as half a second allows. */
static void products(const char *dtype, int size, int largest, void (*product)(void))
{
    for (blas.n = 256; blas.n <= largest && (size_t)blas.n * (size_t)blas.n * (size_t)size <= most / 2; blas.n *= 2) {
        double n = blas.n, bytes = 3 * n * n * size, flops = 2 * n * n * n;
        product();
        double once = card_ns(1, false, product);
        double ns = card_ns(once > 1e8 ? 1 : once > 2e7 ? 5 : COPIES, false, product);
        if (blas.status) return;
        say("op",
            "\"by\":\"cublas\",\"op\":\"matmul\",\"dtype\":\"%s\",\"elements\":%.0f,\"bytes\":%.0f,\"flops\":%.0f,"
            "\"ns\":%.0f,\"GB_s\":%.1f,\"TFLOP_s\":%.2f",
            dtype, n * n, bytes, flops, ns, bytes / ns, flops / ns / 1e3);
    }
}

static void *cublas(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
    void *library = NULL;
    for (int i = 0; i < 3 && !library; i++) library = dlopen(names[i], RTLD_NOW);
    return library;
}

static void all_products(void)
{
    void *library = cublas();
    if (!library) return say("cublas", "\"found\":false");
    int (*create)(void **) = (int (*)(void **))(uintptr_t)dlsym(library, "cublasCreate_v2");
    int (*in_stream)(void *, cudaStream_t) =
        (int (*)(void *, cudaStream_t))(uintptr_t)dlsym(library, "cublasSetStream_v2");
    blas.single = (sgemm_call *)(uintptr_t)dlsym(library, "cublasSgemm_v2");
    blas.twice = (dgemm_call *)(uintptr_t)dlsym(library, "cublasDgemm_v2");
    blas.any = (gemm_call *)(uintptr_t)dlsym(library, "cublasGemmEx");
    double before = now();
    if (!create || !in_stream || !blas.single || !blas.twice || !blas.any || create(&blas.handle))
        return say("cublas", "\"found\":false");
    say("cublas", "\"found\":true,\"ns\":%.0f", now() - before);
    in_stream(blas.handle, stream);
    products("float32", 4, 8192, product_f32);
    products("float64", 8, 4096, product_f64);
    blas.type = R_16BF;
    products("bfloat16", 2, 8192, product_f16);
    blas.type = R_16F;
    products("float16", 2, 8192, product_f16);
}

/* -------------------------------------------------------------------------------------------------- */

static int describe(const char *driver)
{
    struct cudaDeviceProp p;
    int cuda = 0;
    char date[32];
    time_t today = time(NULL);
    OK(cudaGetDeviceProperties(&p, 0));
    OK(cudaDriverGetVersion(&cuda));
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&today));
    say("card",
        "\"format\":1,\"card\":\"%s\",\"driver\":\"%s\",\"cuda\":%d,\"date\":\"%s\",\"bytes\":%zu,\"sm\":%d,"
        "\"multiprocessors\":%d,\"threads_each\":%d%s",
        p.name, driver, cuda, date, p.totalGlobalMem, p.major * 10 + p.minor, p.multiProcessorCount,
        p.maxThreadsPerMultiProcessor, strncmp(p.name, "stand-in", 8) == 0 ? ",\"stand_in\":true" : "");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "card") == 0) return describe(argv[2]);
    most = (size_t)1 << (argc > 1 ? atoi(argv[1]) : 30);
    double before = now();
    OK(cudaFree(NULL));
    say("context", "\"ns\":%.0f", now() - before);
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaEventCreate(&begun));
    OK(cudaEventCreate(&ended));
    calls();
    allocations(false, 1 << 10, 4 * most, COPIES);
    allocations(true, 4 << 10, most, 3);
    make_memory();
    copies();
    memory_of_the_card();
    all_products();
    return 0;
}
