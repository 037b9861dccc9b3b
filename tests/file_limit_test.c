/* With a file size limit (ulimit -f), the log is smaller or absent, with a message; programs are not killed. */
#define _GNU_SOURCE
#include "event.h"
#include "log.h"
#include "logs.h"
#include "session_hooks.h"
#include "text.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char folder[] = "/tmp/ferry-limit-XXXXXX";
static char path[64], err[64];

static rlim_t size_limit;
static size_t text_bytes;
static int marks = 1;

static void program(void)
{
    int fd = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(fd, 2);
    signal(SIGXFSZ, SIG_DFL);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){size_limit, size_limit});
    setenv("FERRY_TRACE", path, 1);
    fy_session_start();
    char *text = malloc(text_bytes + 1);
    memset(text, 1, text_bytes);
    for (int i = 0; i < marks; i++) FY_EMIT(NULL, mark, .text = fy_ref_bytes(text, text_bytes), .now = FY_ABSENT);
    free(text);
    exit(3);
}

static char *slurp(const char *name)
{
    fy_text t = {0};
    char piece[4096];
    FILE *f = fopen(name, "r");
    for (size_t n; f && (n = fread(piece, 1, sizeof piece, f));) fy_text_add(&t, piece, n);
    if (f) fclose(f);
    fy_text_add(&t, "", 0);
    return t.data;
}

/* Runs the program under the limit: it exits with its own status. Returns its output. */
static char *run_with(rlim_t bytes, size_t text)
{
    int status;
    size_limit = bytes;
    text_bytes = text;
    unlink(path);
    fflush(NULL);
    pid_t child = fork();
    if (!child) program();
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status)) fail_msg("killed by signal %d", WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    return slurp(err);
}

static void a_log_fits_the_largest_file_allowed_and_says_so(void **state)
{
    (void)state;
    char *output = run_with(8 << 20, 10), *lines = slurp(path);
    assert_non_null(strstr(output, "ulimit -f"));
    assert_int_equal(count_of(lines, "\"kind\":\"mark\""), 1);
    assert_int_equal(count_of(lines, "\"kind\":\"end\""), 1);
    free(output);
    free(lines);
}

static void too_small_a_limit_leaves_no_file_and_a_sentence(void **state)
{
    (void)state;
    char *output = run_with(100 << 10, 10);
    assert_non_null(strstr(output, "raise ulimit -f"));
    assert_int_not_equal(access(path, F_OK), 0);
    free(output);
}

static void lines_that_outgrow_the_limit_leave_the_slot_log(void **state)
{
    (void)state;
    char *output = run_with(5 << 19, 500000); /* six times as long in JSON */
    assert_non_null(strstr(output, "raise ulimit -f"));
    int fd = open(path, O_RDONLY);
    assert_true(fy_log_is_log(fd));
    close(fd);
    free(output);
}

/* How many events the message says are in the log, and how many are not. */
static void read_counts(const char *output, unsigned long long *kept, unsigned long long *lost)
{
    const char *said = strstr(output, "the log of this run is full: ");
    if (!said || sscanf(said, "%*[^0-9]%llu events, the last %llu are not recorded", kept, lost) != 2)
        fail_msg("nothing is said of a full log: %s", output);
}

static void a_full_log_says_how_many_events_are_lost(void **state)
{
    (void)state;
    unsigned long long kept, lost;
    marks = 100000; /* and the first event, and the last */
    char *output = run_with(4 << 20, 1);
    marks = 1;
    read_counts(output, &kept, &lost);
    assert_int_equal(kept + lost, 100002);
    assert_non_null(strstr(output, "trace fewer steps: a log has room for "));
    free(output);
}

static void a_log_full_of_text_says_so_too(void **state)
{
    (void)state;
    unsigned long long kept, lost;
    marks = 100;
    char *output = run_with(4 << 20, 100000);
    marks = 1;
    read_counts(output, &kept, &lost);
    assert_int_equal(kept + lost, 102);
    free(output);
}

static void a_log_with_room_says_nothing(void **state)
{
    (void)state;
    char *output = run_with(RLIM_INFINITY, 10);
    assert_string_equal(output, "");
    free(output);
}

static int prepare(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/run.jsonl", folder);
    snprintf(err, sizeof err, "%s/err", folder);
    return 0;
}

static int clear(void **state)
{
    (void)state;
    unlink(path);
    unlink(err);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_fits_the_largest_file_allowed_and_says_so),
        cmocka_unit_test(too_small_a_limit_leaves_no_file_and_a_sentence),
        cmocka_unit_test(lines_that_outgrow_the_limit_leave_the_slot_log),
        cmocka_unit_test(a_full_log_says_how_many_events_are_lost),
        cmocka_unit_test(a_log_full_of_text_says_so_too),
        cmocka_unit_test(a_log_with_room_says_nothing),
    };
    return cmocka_run_group_tests_name("file_limit", tests, prepare, clear);
}
