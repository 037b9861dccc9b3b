/* Every allocation fails in turn: the program or command reports it and exits with a status other than 0, or its
 * results are complete; never a signal, never silently. Tests a sample; all allocations with LONG=1, but not under
 * TSan, where their tens of thousands of processes would take hours: ASan's do not. */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "ferry.h"
#include "forked.h"
#include "grading.h"
#include "log.h"
#include "memory.h"
#include <dirent.h>
#include <stdlib.h>

#include "scarce.h"
#include "server.h"
#include "text.h"

static char folder[] = "/tmp/ferry-scarce-XXXXXX";
static char out_path[64], err_path[64], trace_path[64], saved_path[64];
static _Atomic long *allocation_count; /* shared with the children */

/* ---- the programs ----------------------------------------------------------------------------------------------- */

static void use_one_of_each(void)
{
    fy_stream *side = fy_cuda_stream();
    fy_event *loaded = fy_cuda_event(.enable_timing = true), *done = fy_cuda_event();
    fy_tensor *host = fy_randn((64, 64), .pin_memory = true), *card = NULL;
    fy_tensor *w = fy_randn((64, 64), .device = "cuda");
    FY_STREAM(side)
    {
        card = fy_to(host, "cuda", .non_blocking = true);
        fy_event_record(loaded);
    }
    fy_event_wait(loaded);
    fy_tensor *y = fy_matmul(card, w);
    fy_event_record(done);
    fy_event_synchronize(done);
    fy_record_stream(y, side);
    FY_SCOPE
    {
        fy_tensor *rows = fy_softmax(fy_t(y), 1), *part = fy_narrow(rows, 0, 8, 16);
        fy_print(fy_sum(fy_cpu(part)));
        fy_tensor *long_row = fy_softmax(fy_randn((2, 2000)), 1);
        fy_print(fy_sum(fy_mean(long_row, (1))));
        fy_tensor *odd = fy_narrow(fy_narrow(fy_randn((9, 9)), 0, 1, 4), 1, 1, 4);
        fy_print(fy_sum(fy_matmul(odd, fy_t(odd))));
        fy_print(fy_sum(fy_sort(odd)));
    }
    fy_free(y);
    fy_free(w);
    fy_event_free(loaded);
    fy_event_free(done);
}

/* Enough names, storages, blocks and streams to make every list grow. */
static void use_many(void)
{
    fy_tensor *kept[120];
    fy_stream *streams[6];
    for (int i = 0; i < 6; i++) streams[i] = fy_cuda_stream();
    for (int i = 0; i < 120; i++) {
        FY_STREAM(streams[i % 6]) { kept[i] = fy_zeros((i % 7 + 1, 100), .device = i % 3 ? "cuda" : "cpu"); }
    }
    for (int i = 0; i < 120; i += 2) fy_free(kept[i]);
    fy_tensor *shared = kept[1];
    for (int i = 0; i < 6; i++) {
        FY_STREAM(streams[i])
        {
            fy_tensor *read = fy_add(shared, 1); /* concurrent streams; the last one is not ordered */
            fy_free(read);
        }
    }
    fy_add_(shared, 1);
    fy_cuda_synchronize();
    fy_print(fy_sum(fy_cat((fy_cpu(kept[1]), fy_cpu(kept[1])), 0)));
    fy_cuda_empty_cache();
}

static int program(void)
{
    use_one_of_each();
    use_many();
    return 0;
}

static int short_program(void)
{
    use_one_of_each();
    return 0;
}

/* Its log is the commands' input: short, because each event is about forty allocations in them. It has one data
 * race. */
static int small_program(void)
{
    fy_tensor *x = fy_to(fy_randn((4, 4)), "cuda"), *y = NULL;
    FY_STREAM(fy_cuda_stream()) { y = fy_add(x, 1); }
    fy_print(fy_cpu(fy_add(y, 1)));
    return 0;
}

/* The commands, called like main does. */
static int call(int (*body)(const command *, int, char **), const char *name, const char *arguments)
{
    char text[200], *argv[8] = {0};
    int argc = 0;
    const command c = {.name = name, .arguments = "", .run = body};
    snprintf(text, sizeof text, "%s", arguments);
    for (char *rest = text, *word; (word = strtok_r(rest, " ", &rest));) argv[argc++] = word;
    memory_hook_cjson();
    return body(&c, argc, argv);
}

static int on_saved(int (*body)(const command *, int, char **), const char *name, const char *asked_for)
{
    char arguments[200];
    snprintf(arguments, sizeof arguments, "%s %s", saved_path, asked_for);
    return call(body, name, arguments);
}

static int log_command(void) { return on_saved(command_log, "log", ""); }
static int explain(void) { return on_saved(command_explain, "explain", ""); }
static int explain_json(void) { return on_saved(command_explain, "explain", "--json"); }
static int what_if(void) { return on_saved(command_whatif, "whatif", "--card laptop --pinned"); }
static int list(void) { return call(command_list, "list", ""); }
static int hint(void) { return call(command_hint, "hint", "1 1"); }
static int schema(void) { return call(command_schema, "schema", ""); }

/* Starts and stops `ferry view`. */
static int view(void)
{
    char err[300] = "";
    memory_hook_cjson();
    feed *f = feed_of_file(saved_path, err, sizeof err);
    server *s = f ? server_start(&(server_options){.mode = "view", .allow_host = "a.b"}, err, sizeof err) : NULL;
    if (!s) return command_error(err), 1;
    int run = server_add_run(s, f, "01", "view", "a run");
    if (run) server_run_ended(s, run);
    server_stop(s);
    if (!run) command_error("no memory for a run");
    return !run;
}

static void add_event(void *run, const fy_event *e) { trace_add(run, e); }

/* Judges a lesson with an unrelated log. */
static int grade(void)
{
    char err[300] = "", note[200];
    verdict v;
    trace run;
    trace_begin(&run);
    if (!feed_each(saved_path, add_event, &run, note, sizeof note, err, sizeof err)) return command_error(err), 1;
    if (!grade_run("01-where-am-i", &run, 0, "mat1:float32:4x3", &v, err, sizeof err)) return command_error(err), 1;
    printf("%d checks, %s\n", v.checks, verdict_message(&v));
    trace_free(&run);
    return 0;
}

/* ---- one run ---------------------------------------------------------------------------------------------------- */

typedef struct ending {
    int status; /* of waitpid */
    char *out, *err, *trace;
} ending;

static char *contents(const char *path)
{
    fy_text text = {0};
    char piece[4096];
    int fd = open(path, O_RDONLY);
    if (fd < 0) return NULL;
    if (fy_log_is_log(fd)) { /* the conversion to JSON failed: nothing is lost */
        char err[200];
        uint64_t cursor = 0;
        fy_log *log = fy_log_open(fd, err, sizeof err);
        while (log && fy_log_read(log, &cursor, &text, text.size + 65536)) continue;
        fy_log_close(log);
    } else {
        for (ssize_t n; (n = read(fd, piece, sizeof piece)) > 0;) fy_text_add(&text, piece, (size_t)n);
    }
    close(fd);
    fy_text_add(&text, "", 0);
    return text.data;
}

static void to_file(int fd, const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, fd);
    close(file);
}

static ending run_with(int (*body)(void), const char *environment, long fails, bool for_good)
{
    ending e = {0};
    unlink(trace_path);
    *allocation_count = 0;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        to_file(STDOUT_FILENO, out_path);
        to_file(STDERR_FILENO, err_path);
        signal(SIGABRT, SIG_DFL);
        signal(SIGSEGV, SIG_DFL);
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        if (strstr(environment, "trace")) setenv("FERRY_TRACE", trace_path, 1);
        if (strstr(environment, "narrate")) setenv("FERRY_NARRATE", "1", 1);
        scarce.fails = fails;
        scarce.for_good = for_good;
        scarce.asked = allocation_count;
        exit(body());
    }
    e.status = status_of_child(child);
    e.out = contents(out_path);
    e.err = contents(err_path);
    e.trace = contents(trace_path);
    return e;
}

static void forget(ending *e)
{
    free(e->out);
    free(e->err);
    free(e->trace);
}

/* ---- comparison ---------------------------------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

/* How the ending differs from one without failures; NULL: it does not. */
static const char *difference(const ending *e, const ending *reference)
{
    bool has_memory_error = strstr(e->err, "memory");
    if (strstr(e->err, "Sanitizer") || strstr(e->err, "runtime error")) return "a sanitizer complains";
    if (!WIFEXITED(e->status)) return "killed by a signal";
    if (WEXITSTATUS(e->status)) return has_memory_error ? NULL : "failed without a word of memory";
    if (!is_same(e->out, reference->out)) return "status 0, and other output";
    if (reference->trace && !e->trace && !has_memory_error) return "status 0, no trace and no word";
    if (e->trace && !is_same(e->trace, reference->trace)) return "status 0, and another trace";
    return has_memory_error || is_same(e->err, reference->err) ? NULL : "status 0, and other words";
}

static bool is_whole(void)
{
#ifdef __SANITIZE_THREAD__
    return false;
#else
    return getenv("LONG") != NULL;
#endif
}

/* About `most` allocations, failing once and for good, and the last ones; all with LONG=1. */
static void try_each(int (*body)(void), const char *environment, long most)
{
    ending reference = run_with(body, environment, 0, false);
    long count = *allocation_count, step = is_whole() || count <= most ? 1 : (count + most - 1) / most, bad = 0;
    if (!WIFEXITED(reference.status) || WEXITSTATUS(reference.status))
        fail_msg("status %#x with all memory: %s", reference.status, reference.err);
    for (int for_good = 0; for_good < 2; for_good++)
        for (long n = 1 + (for_good ? step / 2 : 0); n <= count;
             n = n < count - 3 && n + step > count - 3 ? count - 3 : n + (n < count - 3 ? step : 1)) {
            ending e = run_with(body, environment, n, for_good);
            const char *wrong = difference(&e, &reference);
            if (wrong && ++bad <= 20)
                fprintf(stderr, "allocation %ld of %ld fails%s: %s (status %#x)\n%.300s\n", n, count,
                        for_good ? ", and all later ones" : "", wrong, e.status, e.err);
            forget(&e);
        }
    forget(&reference);
    if (bad) fail_msg("%ld wrong ends", bad);
    assert_true(count > 5);
}

static void a_program_says_so(void **state)
{
    (void)state;
    try_each(program, "", 40);
}

static void a_small_program_says_so_at_each(void **state)
{
    (void)state;
    try_each(small_program, "trace", 400);
}

static void a_traced_program_says_so(void **state)
{
    (void)state;
    try_each(program, "trace", 40);
}

static void a_narrated_program_says_so(void **state)
{
    (void)state;
    try_each(short_program, "trace narrate", 24);
}

static void log_says_so(void **state)
{
    (void)state;
    try_each(log_command, "", 8);
}

static void explain_says_so(void **state)
{
    (void)state;
    try_each(explain, "", 16);
    try_each(explain_json, "", 8);
}

static void whatif_says_so(void **state)
{
    (void)state;
    try_each(what_if, "", 12);
}

static void grading_says_so(void **state)
{
    (void)state;
    try_each(grade, "", 8);
}

static void the_start_of_a_page_says_so(void **state)
{
    (void)state;
    try_each(view, "", 4);
}

static void the_lessons_commands_say_so(void **state)
{
    (void)state;
    try_each(list, "", 12);
    try_each(hint, "", 8);
    try_each(schema, "", 8);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(out_path, sizeof out_path, "%s/out", folder);
    snprintf(err_path, sizeof err_path, "%s/err", folder);
    snprintf(trace_path, sizeof trace_path, "%s/trace.jsonl", folder);
    snprintf(saved_path, sizeof saved_path, "%s/saved.jsonl", folder);
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_THREADS", "1", 1);
    setenv("FERRY_MY", folder, 1);
    if (!getenv("FERRY_HOME")) setenv("FERRY_HOME", ".", 1);
    allocation_count = mmap(NULL, sizeof *allocation_count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ending e = run_with(small_program, "trace", 0, false);
    if (e.status || rename(trace_path, saved_path)) return fprintf(stderr, "no log: %s\n", e.err), -1;
    forget(&e);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char path[400];
    DIR *files = __real_opendir(folder);
    for (struct dirent *e; files && (e = readdir(files));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path); /* also the files of `ferry hint` */
    }
    if (files) closedir(files);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_program_says_so_at_each),
        cmocka_unit_test(a_program_says_so),
        cmocka_unit_test(a_traced_program_says_so),
        cmocka_unit_test(a_narrated_program_says_so),
        cmocka_unit_test(log_says_so),
        cmocka_unit_test(explain_says_so),
        cmocka_unit_test(whatif_says_so),
        cmocka_unit_test(grading_says_so),
        cmocka_unit_test(the_start_of_a_page_says_so),
        cmocka_unit_test(the_lessons_commands_say_so),
    };
    return cmocka_run_group_tests_name("scarce", tests, set_up, tear_down);
}
