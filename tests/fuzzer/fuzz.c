/* fuzz.c: random programs over the op table and the public API, each run on the CPU and on the simulated card.
 *
 *     fuzz [--programs N] [--seed S] [--keep-on] [--show]
 *
 * Program i has seed S + i: `fuzz --seed X --programs 1` repeats the one with seed X. Invariants after every step:
 * results agree, no other tensor changed, the log's live tensors are the library's, every reference has an owner;
 * a failing step changes nothing. At the end nothing is alive. A program that violates one, crashes or hangs is
 * minimized and printed. The exit status is then 1, also when an op or dtype never ran or too few programs ran
 * without a failure. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "choose.h"
#include "fits.h"
#include "ledger.h"
#include "log.h"
#include "make.h"
#include "memory.h"
#include "op.h"
#include "run.h"
#include "show.h"
#include "storage.h"
#include "tensor.h"

#if defined(__SANITIZE_THREAD__)
/* Workers are forked, and OpenBLAS's threads are not instrumented by TSan. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "die_after_fork=0"; }
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) { return "race:libopenblas\n"; }
#endif

enum { BATCH = 250, PROGRAM_SECONDS = 60, MAX_WORKERS = 8, MAX_SHOWN = 8 };

/* A worker's report to its parent, in shared memory. */
typedef struct report {
    program current;
    char words[1024];
    bool has_message;
} report;

typedef struct shared {
    coverage covered[MAX_WORKERS];
    tally worker_tally[MAX_WORKERS];
    report reports[MAX_WORKERS];
} shared;

static shared *memory;
static bool show; /* print each step before it runs */

/* ---- one program ---- */

/* Kernels find invalid classes and indices by a device-side assertion, which disables the card: such steps are not run
 * on it. */
static bool is_device_assert(const char *words)
{
    return words && (strstr(words, "is out of bounds") || strstr(words, "index out of range in self") ||
                     strstr(words, "Class values"));
}

static bool is_expected(const char *a, const char *b)
{
    const char *only = a ? a : b;
    return !(a && b) && (strstr(only, "not implemented for") || strstr(only, "same dtype") ||
                         strstr(only, "ZeroDivisionError") || is_device_assert(only));
}

/* A step fails in both worlds or in none, except: integer products fail only on the card, and a zero element of an
 * integer divisor fails only on the CPU. */
static void check_outcome(const step *s, fy_tensor **out, const char *host_words, const char *card_words)
{
    if (!host_words == !card_words) return;
    if (!is_expected(host_words, card_words))
        fail_check("it %s on the CPU and %s on the card: %s", host_words ? "fails" : "works",
                   card_words ? "fails" : "works", host_words ? host_words : card_words);
    for (int w = 0; w < 2; w++) {
        if (out[w]) fy_free_at(&sites[s->call_index], out[w]);
        out[w] = NULL;
    }
}

static const char *words_of_error(char *buf, size_t room)
{
    const char *words = fy_error();
    if (!words) return NULL;
    snprintf(buf, room, "%s", words);
    fy_clear_error();
    return buf;
}

/* Puts the step's results into its slot and compares their storages. Returns the storage that was written, or NULL for
 * a view. */
static const fy_storage *store_result(const step *s, int slot, fy_tensor **out)
{
    bool fresh;
    for (int w = 0; w < 2; w++) worlds[w].slot[slot] = out[w];
    check_handles(out[0], out[1]);
    check_inside(out[0]);
    check_inside(out[1]);
    storage_pair *c = find_or_add_pair(out[0], out[1], &fresh);
    tolerance allowed = tolerance_of(s, out[0]);
    if (!fresh && !is_in_place(s)) return NULL; /* a view: nothing was written */
    worker_tally->compared++;
    if (allowed.skip) worker_tally->skipped++;
    if (allowed.skip && !is_random(s) && !is_unset(s))
        snprintf(worker_tally->why_skipped, sizeof worker_tally->why_skipped, "%s", allowed.skip);
    read_pair(c);
    if (is_random(s)) check_random(s, out[0]);
    if (is_random(s) && is_in_place(s)) check_around(c, out[0]);
    if (is_named(s, "pin_memory")) fill_holes(c, out[1]);
    compare_and_align(c, out[0]->dtype, &allowed);
    return c->s[0];
}

/* An in-place call returns its first operand, borrowed: the new slot needs a reference of its own. */
static fy_tensor *retain_in_place_result(const world *w, const step *s, fy_tensor *out)
{
    if (!out || !is_in_place(s)) return out;
    if (out != operand(w, s, 0)) fail_check("it gives another tensor than the one that it writes into");
    return fy_scope_track(fy_tensor_retain(out));
}

static bool run_step(const step *s, int i)
{
    fy_tensor *out[2] = {0}, *second[2] = {0};
    char words[2][1200];
    const char *error[2] = {0};
    bool split = has_device_conflict(s);
    follow_log();
    uint64_t before = ledger.digest;
    for (int w = split; w < 2 && !is_device_assert(error[0]); w++) {
        out[w] = retain_in_place_result(&worlds[w], s, execute_step(&worlds[w], s, &second[w]));
        error[w] = words_of_error(words[w], sizeof words[w]);
    }
    if (split && !error[1]) fail_check("operands on two devices were accepted");
    if (!split) check_outcome(s, out, error[0], error[1]);
    call_kind k = call_of(s)->kind;
    bool silent = k == FREE || k == ITEM || k == PREDICATE ||
                  k == DEVICE; /* these return no tensor; NULL operands return NULL without an error */
    bool failed = error[0] || error[1] || (!silent && !out[1]);
    if (k == PREDICATE && !split && !failed && predicate_results[0] != predicate_results[1])
        fail_check("the answer is %s on the CPU and %s on the card", predicate_results[0] ? "yes" : "no",
                   predicate_results[1] ? "yes" : "no");
    const fy_storage *written = NULL, *also = NULL;
    if (out[0] && out[1]) written = store_result(s, i, out);
    if (second[0] && second[1]) also = store_result(s, MAX_STEPS + i, second);
    if (!out[0] != !out[1] || !second[0] != !second[1]) fail_check("a result is missing in one world");
    drop_unused_pairs();
    check_unwritten(written, also);
    check_counts(&worlds[0]);
    check_counts(&worlds[1]);
    check_ledger();
    if (failed && ledger.digest != before)
        fail_check("a call failed, and the log's tensors are not as before: %s",
                   error[1] ? error[1] : "NULL was given");
    worker_tally->steps++;
    worker_tally->failed += failed;
    return !failed;
}

/* False for dropped steps, and for those whose operands were dropped or not made. */
static bool is_runnable(const step *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->in[i] >= 0 && !is_live(s->in[i]) && !(worlds[0].dead[s->in[i]] && worlds[1].dead[s->in[i]]))
            return false;
    return !s->dropped;
}

static void end_program(fy_scope *scope)
{
    for (int w = 0; w < 2; w++)
        for (int i = 0; i < MAX_SLOTS && !scope; i++)
            if (worlds[w].slot[i]) fy_free_at(&sites[0], worlds[w].slot[i]);
    if (scope) fy_scope_end(scope);
    memset(worlds[0].slot, 0, sizeof worlds[0].slot);
    memset(worlds[1].slot, 0, sizeof worlds[1].slot);
    drop_unused_pairs();
    check_ledger();
    if (ledger.bytes[0] || ledger.bytes[1])
        fail_check("%lld bytes are left on the CPU, %lld on the card", (long long)ledger.bytes[0],
                   (long long)ledger.bytes[1]);
}

static void begin_program(const program *p)
{
    for (int w = 0; w < 2; w++) worlds[w] = (world){.which = w};
    fy_manual_seed(p->seed);
    fy_clear_error();
    follow_log();
}

/* Runs the program, choosing its steps unless is_made. On a violated invariant returns false, with failure_text set. */
static bool run_program(program *p, bool is_made, bool verbose)
{
    static fy_scope scope;
    static volatile bool all_succeeded;
    all_succeeded = true;
    if (setjmp(check_failed)) return false;
    begin_program(p);
    if (p->scoped) scope = fy_scope_of_program(&sites[0]);
    for (int i = 0; i < (is_made ? p->n : p->planned); i++) {
        if (!is_made) choose_step(p);
        if (!is_made) p->n = i + 1;
        if (!is_runnable(&p->steps[i])) continue;
        if (verbose) show_step(p, i, stderr);
        all_succeeded &= run_step(&p->steps[i], i);
    }
    end_program(p->scoped ? &scope : NULL);
    worker_tally->programs++;
    worker_tally->completed += all_succeeded;
    return true;
}

static program program_of(uint64_t seed)
{
    rng = (rng_state){seed};
    rng_next(&rng);
    program p = {.seed = seed, .careful = rng_percent(&rng, 75), .scoped = rng_percent(&rng, 25)};
    p.planned = (int)rng_between(&rng, 3, MAX_STEPS - 6);
    return p;
}

/* ---- processes: a crash is the end of one worker, not of the search ---- */

/* Every second batch runs with FERRY_LAUNCH_BLOCKING, where new blocks have a known content (memory.c). */
static void start_ferry(uint64_t seed)
{
    char err[256] = "", text[16];
    int fd = fy_log_file(NULL, 0, err, sizeof err);
    if (fd < 0) fprintf(stderr, "fuzz: no log: %s\n", err), _exit(2);
    snprintf(text, sizeof text, "%d", fd);
    setenv("FERRY_LOG_FD", text, 1);
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_LAUNCH_BLOCKING", seed / BATCH % 2 ? "0" : "1", 1);
    fy_on_error(FY_RETURN);
    fy_mark("start");
    close(fd);
    set_sites();
}

static void finish_worker(report *r, bool ok)
{
    if (!ok) snprintf(r->words, sizeof r->words, "%s", failure_text);
    r->has_message = !ok;
    _exit(ok ? 0 : 1);
}

static void run_worker(int worker, uint64_t from, uint64_t to)
{
    report *r = &memory->reports[worker];
    covered = &memory->covered[worker];
    worker_tally = &memory->worker_tally[worker];
    start_ferry(from);
    for (uint64_t seed = from; seed < to; seed++) {
        alarm(PROGRAM_SECONDS);
        r->current = program_of(seed);
        if (!run_program(&r->current, false, show)) finish_worker(r, false);
    }
    finish_worker(r, true);
}

static pid_t start_worker(int worker, uint64_t from, uint64_t to)
{
    memory->reports[worker].has_message = false;
    pid_t pid = fork();
    if (pid == 0) run_worker(worker, from, to);
    return pid;
}

/* Does the program, without its dropped steps, still fail? The report holds the new text. */
static bool still_fails(report *r, bool verbose)
{
    int status;
    r->has_message = false;
    pid_t pid = fork();
    if (pid == 0) {
        coverage nothing = {0};
        tally none = {0};
        covered = &nothing, worker_tally = &none;
        if (!verbose && !freopen("/dev/null", "w", stderr)) _exit(2);
        start_ferry(r->current.seed);
        alarm(PROGRAM_SECONDS);
        finish_worker(r, run_program(&r->current, true, verbose));
    }
    waitpid(pid, &status, 0);
    return status != 0;
}

static void report_failure(report *r, int status)
{
    bool has_message = r->has_message;
    char words[sizeof r->words];
    snprintf(words, sizeof words, "%s", r->words);
    fprintf(stderr, "\nseed %llu: ", (unsigned long long)r->current.seed);
    if (has_message) fprintf(stderr, "%s\n", words);
    else if (WIFSIGNALED(status))
        fprintf(stderr, "%s\n", WTERMSIG(status) == SIGALRM ? "it hangs" : strsignal(WTERMSIG(status)));
    else fprintf(stderr, "the process ended with status %d\n", WEXITSTATUS(status));
    if (still_fails(r, false)) {
        for (int i = r->current.n - 1; i >= 0; i--) {
            r->current.steps[i].dropped = true;
            r->current.steps[i].dropped = still_fails(r, false);
        }
    }
    fprintf(stderr, "    // made shorter, as it runs:\n");
    still_fails(r, true);
    if (r->has_message) fprintf(stderr, "    // %s\n", r->words);
}

/* ---- the search ---- */

static int64_t total(size_t offset)
{
    int64_t n = 0;
    for (int i = 0; i < MAX_WORKERS; i++) n += *(int64_t *)((char *)&memory->worker_tally[i] + offset);
    return n;
}
#define TOTAL(field) total(offsetof(tally, field))

static bool check_seen(void)
{
    bool all = true;
    for (int card = 0; card < 2; card++) {
        for (int op = 0; op < FY_OP_COUNT; op++) {
            int64_t n = 0;
            if (strstr(fy_ops[op].name, "_backward")) continue; /* only gradients use it */
            for (int i = 0; i < MAX_WORKERS; i++) n += memory->covered[i].ops[card][op];
            if (!n) all = false, fprintf(stderr, "%s never ran on the %s\n", fy_ops[op].name, card ? "card" : "CPU");
        }
        for (int d = 0; d < DTYPES; d++) {
            int64_t n = 0;
            for (int i = 0; i < MAX_WORKERS; i++) n += memory->covered[i].dtypes[card][d];
            if (!n)
                all = false, fprintf(stderr, "nothing of %s was ever made on the %s\n", fy_dtype_name(dtypes[d]),
                                     card ? "card" : "CPU");
        }
    }
    return all;
}

static void count_pairs(int *pairs)
{
    *pairs = 0;
    for (int op = 0; op < FY_OP_COUNT; op++)
        for (int d = 0; d < DTYPES; d++) {
            int64_t n = 0;
            for (int i = 0; i < MAX_WORKERS; i++) n += memory->covered[i].pairs[op][d];
            *pairs += n > 0;
        }
}

static bool summarise(void)
{
    int pairs;
    int64_t programs = TOTAL(programs), all_succeeded = TOTAL(completed);
    count_pairs(&pairs);
    printf("%lld programs, %lld %% ran to the end without a mistake; %lld steps, %lld of them failed as they should\n",
           (long long)programs, (long long)(programs ? 100 * all_succeeded / programs : 0), (long long)TOTAL(steps),
           (long long)TOTAL(failed));
    printf("%lld results compared, %lld of them by shape alone; %d pairs of op and result type on the card\n",
           (long long)TOTAL(compared), (long long)TOTAL(skipped), pairs);
    if (programs < 1000) return true; /* too few for these criteria */
    if (100 * all_succeeded < 60 * programs) fprintf(stderr, "fewer than 60 %% ran to the end\n");
    return check_seen() && 100 * all_succeeded >= 60 * programs;
}

typedef struct search {
    uint64_t next, end;
    int workers, failures;
    bool keep_on;
    pid_t pids[MAX_WORKERS];
} search;

static void start_batch(search *s, int worker)
{
    uint64_t next = (s->next / BATCH + 1) * BATCH, to = next < s->end ? next : s->end;
    s->pids[worker] = 0;
    if (s->next >= s->end || (s->failures && !s->keep_on)) return;
    s->pids[worker] = start_worker(worker, s->next, to);
    s->next = to;
}

static void run_search(search *s)
{
    int status;
    for (int i = 0; i < s->workers; i++) start_batch(s, i);
    for (pid_t pid; (pid = wait(&status)) > 0;)
        for (int i = 0; i < s->workers; i++) {
            if (s->pids[i] != pid) continue;
            if (status && ++s->failures <= MAX_SHOWN) report_failure(&memory->reports[i], status);
            start_batch(s, i);
        }
}

int main(int argc, char **argv)
{
    uint64_t programs = 3000, seed = 1;
    search s = {.keep_on = false};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--programs") && i + 1 < argc) programs = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc) seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--keep-on")) s.keep_on = true;
        else if (!strcmp(argv[i], "--show")) show = true;
        else return fprintf(stderr, "fuzz [--programs N] [--seed S] [--keep-on] [--show]\n"), 2;
    }
    memory = mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 2;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    s.workers = cores < 1 ? 1 : cores > MAX_WORKERS ? MAX_WORKERS : (int)cores;
    s.next = seed, s.end = seed + programs;
    printf("fuzz: %llu programs from seed %llu\n", (unsigned long long)programs, (unsigned long long)seed);
    fflush(stdout);
    run_search(&s);
    bool ok = summarise() && s.failures == 0;
    printf("%s\n", ok ? "every law held" : "FAILED");
    return ok ? 0 : 1;
}
