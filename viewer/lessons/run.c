/* run.c: one run: compile, start, grade, run again, and the outcome's message. */
#define _GNU_SOURCE 1

#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "log.h"
#include "compile.h"
#include "event_quote.h"
#include "memory.h"
#include "own_check.h"
#include "progress.h"
#include "settings.h"
#include "source_check.h"

#define SET(field, ...) snprintf(out->field, sizeof out->field, __VA_ARGS__)

enum { LEAST_FREE = 1 << 20, MOST_LOGGED = 256 << 20 /* bytes: an endless loop fills no disk */ };

static const char of_the_teacher[] = "this is not your mistake: whoever wrote the lesson has to mend its check.c";

static bool is_graded(const run_options *o) { return o->grade && !o->demo; }

static void report_stage(const run_options *o, run_stage stage, int fd)
{
    if (o->stage) o->stage(o->user, stage, fd);
}

void outcome_free(outcome *out)
{
    free(out->output);
    if (out->log_fd >= 0) close(out->log_fd);
    *out = (outcome){.log_fd = -1};
}

/* ---- compiling ----------------------------------------------------------------------------------- */

static void copy_diagnosis(outcome *out, run_end end)
{
    const diagnosis *d = &out->diagnosis;
    out->end = end;
    out->line = d->line > 0 ? d->line : -1;
    SET(message, "%s", d->message);
    SET(hint, "%s", d->hint);
    SET(source, "%s", d->source);
}

static bool compiles(const run_options *o, const char *program, outcome *out)
{
    if (o->is_built) return true;
    compile_options c = {.home = o->home,
                         .name = out->file,
                         .program = program,
                         .stop_fd = o->stop_fd,
                         .hidden = o->hidden,
                         .as_user = o->as_user,
                         .temporary = o->temporary};
    report_stage(o, RUN_COMPILING, -1);
    switch (compile(&c, &out->diagnosis)) {
    case COMPILE_DONE: return true;
    case COMPILE_STOPPED: out->end = RUN_STOPPED; break;
    case COMPILE_REFUSED: copy_diagnosis(out, RUN_NOT_COMPILED); break;
    case COMPILE_BROKEN: copy_diagnosis(out, RUN_ENVIRONMENT_ERROR); break;
    }
    return false;
}

/* ---- running --------------------------------------------------------------------------------------- */

/* One execution of the program: its log, its exit, its grading. */
typedef struct attempt {
    uint64_t seed;
    const char *given;
    int log_fd;
    int stop_fd; /* stops it, too; 0: none */
    child_result child;
    bool disk_full; /* when it ended */
    judging judging;
    judgement judgement;
    run_end hindrance; /* it could not run, or not be judged: why; RUN_PASSED: nothing was in the way */
    char message[1024], hint[256];
} attempt;

static bool hinder(attempt *a, run_end end, const char *message, const char *hint)
{
    a->hindrance = end;
    if (message != a->message) snprintf(a->message, sizeof a->message, "%s", message);
    snprintf(a->hint, sizeof a->hint, "%s", hint);
    return false;
}

/* Does `ferry` run programs on the real card? */
static bool is_real(void)
{
    const char *asked = getenv("FERRY_GPU");
    return asked && !strcmp(asked, "real");
}

static bool start(const run_options *o, const char *program, attempt *a)
{
    char seed[48], given[2048], gpu[64], card[256], visible[256];
    const char *cards = getenv("CUDA_VISIBLE_DEVICES"), *argv[] = {program, NULL};
    bool real = is_real();
    snprintf(seed, sizeof seed, "FERRY_SEED=%" PRIu64, a->seed);
    snprintf(given, sizeof given, "FERRY_GIVEN=%s", a->given);
    snprintf(gpu, sizeof gpu, "FERRY_GPU=%s", real ? "real" : "sim");
    snprintf(card, sizeof card, "FERRY_SIM=%s", o->lesson->card);
    snprintf(visible, sizeof visible, "CUDA_VISIBLE_DEVICES=%s", cards ? cards : "");
    const char *values = getenv("FERRY_VALUES"),
               *wanted = values && !strcmp(values, "0") ? "FERRY_VALUES=0" : "FERRY_VALUES=1";
    /* An error's fix may ask for it. A graded run must not have it: the times would be others. */
    const char *blocking =
        fy_launch_blocking() && !is_graded(o) ? "FERRY_LAUNCH_BLOCKING=1" : "FERRY_LAUNCH_BLOCKING=0";
    const char *env[8] = {seed, given, gpu, wanted, blocking};
    int n = 5;
    if (!real && *o->lesson->card) env[n++] = card;
    if (real && cards) env[n++] = visible;
    child_options c = {.argv = argv,
                       .folder = o->home->beside,
                       .env = env,
                       .temporary = o->temporary,
                       .log_fd = a->log_fd,
                       .stop_fd = o->stop_fd,
                       .or_stop_fd = a->stop_fd,
                       .hidden = o->hidden,
                       .as_user = o->as_user,
                       .limits = o->limits};
    return child_run(&c, &a->child, a->message, sizeof a->message) ||
           hinder(a, RUN_ENVIRONMENT_ERROR, a->message, "close other programs and try again");
}

/* A teacher's own check that does not build is the teacher's to mend: the message has the compiler's words. */
static bool build_own_check(const run_options *o, char object[OWN_CHECK_ROOM], attempt *a)
{
    return !*o->home->own || !is_graded(o) ||
           own_check_build(o->home, o->lesson->id, object, a->message, sizeof a->message) ||
           hinder(a, RUN_ENVIRONMENT_ERROR, a->message, of_the_teacher);
}

/* A log that found no room tells less than the program did, and what is judged by it would be wrong. */
static bool disk_is_full(int log_fd)
{
    struct statvfs disk;
    return fstatvfs(log_fd, &disk) == 0 && disk.f_blocks && disk.f_bavail < LEAST_FREE / disk.f_frsize;
}

/* Runs the program; its judgement begins. False, with the hindrance, if it could not run or was cancelled. report:
 * announce its log to the pages. */
static bool attempt_begin(const run_options *o, const char *program, attempt *a, bool report)
{
    char own_check[OWN_CHECK_ROOM];
    if (!build_own_check(o, own_check, a)) return false;
    a->log_fd = fy_log_file_within(MOST_LOGGED, a->message, sizeof a->message);
    if (a->log_fd < 0) return hinder(a, RUN_ENVIRONMENT_ERROR, a->message, "free some disk space");
    if (report) report_stage(o, RUN_STARTED, a->log_fd);
    if (!start(o, program, a)) return false;
    if (a->child.end == CHILD_STOPPED) return hinder(a, RUN_STOPPED, "", "");
    a->disk_full = disk_is_full(a->log_fd);
    a->judging = judge_begin(a->log_fd, is_graded(o) ? o->lesson->id : NULL, *o->home->own ? own_check : NULL, a->seed,
                             a->given, is_real() ? NULL : o->lesson->card);
    return true;
}

/* Waits for the judgement. */
static bool attempt_end(attempt *a)
{
    if (a->hindrance != RUN_PASSED) return false;
    judge_end(&a->judging, &a->judgement);
    if ((a->judgement.judged && a->judgement.verdict.pass) || !a->disk_full) return true;
    return hinder(a, RUN_ENVIRONMENT_ERROR, "the disk of the event log is full, so the log may be incomplete",
                  "free some space there, or name a folder on another disk with XDG_STATE_HOME, then grade again");
}

static void attempt_free(attempt *a)
{
    judge_cancel(&a->judging);
    free(a->child.output);
    if (a->log_fd >= 0) close(a->log_fd);
}

/* ---- the message ------------------------------------------------------------------------------------- */

static void quote_line(const run_options *o, outcome *out)
{
    char path[PATH_ROOM];
    if (out->line < 1) return;
    if (o->demo) lesson_path(o->home, o->lesson, "demo.c", path);
    else lesson_file_path(o->home, o->lesson, path);
    char *text = file_read(path, NULL);
    if (text) source_line(text, out->line, out->source, sizeof out->source);
    free(text);
}

/* The line of the log that shows why. */
static void quote_event(const attempt *a, outcome *out)
{
    char err[256];
    fy_log *log = out->seq >= 0 && a->log_fd >= 0 ? fy_log_open(a->log_fd, err, sizeof err) : NULL;
    if (!log) return;
    fy_log_writer_died(log);
    event_quote(log, (uint64_t)out->seq, out->event, sizeof out->event);
    fy_log_close(log);
}

/* How the program ended, beside "exit status 0". */
static void describe_status(const child_result *child, outcome *out)
{
    SET(expected, "exit status 0");
    if (child->end == CHILD_EXITED) SET(got, "exit status %d", child->code);
    else if (child->end == CHILD_SIGNALLED) SET(got, "a crash: signal %d", child->code);
    else SET(got, "stopped before its end");
}

/* What was expected and what came, and the event that shows it: the failed check's, as on the page. */
static void describe_difference(const attempt *a, outcome *out)
{
    const judgement *j = &a->judgement;
    const struct verdict_check *failed = j->judged ? verdict_failure(&j->verdict) : NULL;
    /* Where something stopped the program, "answered" only says that there is no answer. */
    bool says_why = failed && !(out->unfinished && !strcmp(failed->name, "answered"));
    if (says_why && (!out->unfinished || out->stopped)) {
        SET(expected, "%s", failed->expected);
        SET(got, "%s", failed->got);
    } else if (out->stopped) {
        SET(expected, "no call that fails");
        SET(got, "a call that failed (%s)", j->error.code);
    } else if (out->unfinished) {
        describe_status(&a->child, out);
    } else {
        SET(expected, "the whole log of the run");
        SET(got, "a log that was cut off or overwritten");
    }
    if (failed && failed->seq >= 0) out->seq = failed->seq;
    else if (out->seq < 0 && out->unfinished) out->seq = *j->error.code ? j->error.seq : j->last_seq;
}

/* The program did not exit with status 0. A logged error event explains more than the exit status does. */
static void describe_end(const run_options *o, const attempt *a, outcome *out)
{
    const judgement *j = &a->judgement;
    child_describe(&a->child, &o->limits, out->message, sizeof out->message, out->hint, sizeof out->hint);
    out->end = RUN_FAILED;
    out->line = j->last_line;
    bool failed_call =
        *j->error.code && strcmp(j->error.code, "crash") != 0; /* child_describe explains a crash better */
    if (!failed_call || (a->child.end != CHILD_EXITED && a->child.end != CHILD_SIGNALLED)) {
        size_t n = strlen(out->message);
        const bool is_located = *j->error.code && j->error.line > 0; /* a crash */
        if (is_located) {
            out->line = j->error.line;
            snprintf(out->message + n, sizeof out->message - n, ". That was on line %d", j->error.line);
        } else if (j->last_line > 0) {
            snprintf(out->message + n, sizeof out->message - n, ". The last Ferry call that finished was on line %d",
                     j->last_line);
        }
        return;
    }
    const struct verdict_check *failed = j->judged ? verdict_failure(&j->verdict) : NULL;
    /* A check about the same event explains more, except "answered", which only reports the missing answer. */
    bool explained = failed && failed->seq == j->error.seq && strcmp(failed->name, "answered") != 0;
    out->stopped = true;
    SET(message, "%s", explained ? failed->message : j->error.message);
    SET(hint, "%s", j->error.hint);
    out->line = j->error.line;
    out->seq = j->error.seq;
}

static void describe_hindrance(const attempt *a, outcome *out)
{
    out->end = a->hindrance;
    SET(message, "%s", a->message);
    SET(hint, "%s", a->hint);
}

/* An error of the program takes precedence over the verdict. */
static void describe_attempt(const run_options *o, const attempt *a, outcome *out)
{
    const judgement *j = &a->judgement;
    out->ran = true;
    out->seed = a->seed;
    out->graded = j->judged;
    if (j->judged) out->verdict = j->verdict;

    out->unfinished = a->child.end != CHILD_EXITED || a->child.code != 0;
    if (out->unfinished) {
        describe_end(o, a, out);
    } else if (j->spoiled) {
        out->end = RUN_FAILED;
        out->line = -1;
        SET(message,
            "the event log of this run was cut off or overwritten while the program ran, so there is nothing to grade");
        SET(hint,
            "only use file descriptors that the program opened itself: a loop over all of them also reaches the log");
    } else if (j->judged) {
        const struct verdict_check *failed = verdict_failure(&j->verdict);
        out->end = j->verdict.pass ? RUN_PASSED : RUN_FAILED;
        SET(message, "%s", verdict_message(&j->verdict));
        if (failed) {
            out->line = failed->line;
            out->seq = failed->seq;
        }
    } else if (is_graded(o)) {
        out->end = RUN_ENVIRONMENT_ERROR;
        SET(message, "%s", j->trouble);
        SET(hint, "%s", *o->home->own ? of_the_teacher : "this is not your mistake; run make and try again");
    } else {
        out->end = RUN_PASSED;
        SET(message, "the program ran to its end: %lld events", j->events);
    }
    if (out->end == RUN_FAILED && is_graded(o)) describe_difference(a, out);
    quote_line(o, out);
    quote_event(a, out);
}

/* ---- the whole run ------------------------------------------------------------------------------------ */

static void store_output(const attempt *a, outcome *out)
{
    free(out->output);
    out->output = a->child.output ? a->child.output : memory_copy("", "what the program printed");
    out->kept = a->child.kept;
    out->printed = a->child.printed;
    out->seconds = a->child.seconds;
    if (out->log_fd >= 0) close(out->log_fd);
    out->log_fd = a->log_fd;
}

static bool end_first(const run_options *o, attempt *a, outcome *out)
{
    bool ended = attempt_end(a);
    store_output(a, out);
    if (ended) describe_attempt(o, a, out);
    else describe_hindrance(a, out);
    return ended;
}

/* With other inputs: those of the lesson's second shape, from another seed. */
static attempt second_attempt(const run_options *o)
{
    uint32_t random = 1;
    if (getrandom(&random, sizeof random, 0) != sizeof random) random = (uint32_t)getpid();
    return (attempt){.seed = o->second_seed ? o->second_seed : random,
                     .given = *o->lesson->given2 ? o->lesson->given2 : o->lesson->given,
                     .log_fd = -1};
}

/* The second run is reported only if it fails: the results were right by chance or for one size only. */
static void end_second(const run_options *o, attempt *a, bool ran, outcome *out)
{
    outcome second = *out;
    if (!ran || !attempt_end(a)) {
        out->ran = false; /* as far as it has to, to be judged */
        describe_hindrance(a, out);
        return attempt_free(a);
    }
    describe_attempt(o, a, &second);
    if (second.end == RUN_PASSED) return attempt_free(a);
    *out = second;
    out->second = true;
    SET(message, "it passes with the inputs shown but not with others (seed %" PRIu64 ", %s): %.600s", a->seed,
        a->given, second.message);
    report_stage(o, RUN_STARTED, a->log_fd);
    store_output(a, out);
}

static void record(const run_options *o, outcome *out)
{
    bool pass = out->end == RUN_PASSED;
    const struct verdict_check *c = *o->lesson->board ? verdict_check_named(&out->verdict, o->lesson->board) : NULL;
    progress p = progress_record(o->home, o->lesson, pass, c && *c->limits ? &c->used : NULL);
    if (!pass || !c) return;
    out->board = p.board;
    SET(board_of, "%s", c->limits);
}

/* The first judgement takes its time: the second run is beside it, until that fails. */
static bool begin_beside(const run_options *o, const char *program, attempt *first, attempt *second)
{
    second->stop_fd = first->judging.failed[0];
    const bool ran = attempt_begin(o, program, second, false);
    const bool is_cancelled = !ran && second->hindrance == RUN_STOPPED && !judge_has_failed(&first->judging);
    if (is_cancelled) judge_cancel(&first->judging), hinder(first, RUN_STOPPED, "", "");
    return ran;
}

static void run_twice(const run_options *o, const char *program, attempt *a, outcome *out)
{
    enum { MOMENT = 20 /* milliseconds */ };
    attempt b = second_attempt(o);
    const bool beside = a->child.end == CHILD_EXITED && a->child.code == 0 && !judge_is_done(&a->judging, MOMENT);
    bool ran = beside && begin_beside(o, program, a, &b);
    if (!end_first(o, a, out) || out->end != RUN_PASSED) return attempt_free(&b);
    if (!beside) ran = attempt_begin(o, program, &b, false);
    end_second(o, &b, ran, out);
}

static void run_program(const run_options *o, const char *program, outcome *out)
{
    attempt a = {.seed = o->seed, .given = o->lesson->given, .log_fd = -1};
    if (!attempt_begin(o, program, &a, true)) {
        store_output(&a, out);
        describe_hindrance(&a, out);
    } else if (is_graded(o)) {
        run_twice(o, program, &a, out);
    } else {
        end_first(o, &a, out);
    }
    bool judged = out->end == RUN_PASSED || out->end == RUN_FAILED;
    if (is_graded(o) && judged && !o->unrecorded) record(o, out);
}

static void run_demo(const run_options *o, outcome *out)
{
    char program[PATH_ROOM];
    SET(file, "lessons/%s/demo.c", o->lesson->id);
    lesson_demo(o->home, o->lesson, program);
    if (access(program, X_OK) == 0) {
        run_program(o, program, out);
        return;
    }
    out->end = RUN_ENVIRONMENT_ERROR;
    SET(message, "the worked example %.900s is not built", program);
    SET(hint, "run make");
}

/* An example that make has not built: it is built when it is asked for, like a learner's file. */
static void build_and_run_demo(const run_options *o, const home *build, const home *start_in, outcome *out)
{
    char program[PATH_ROOM + 80];
    run_options to_build = *o, to_run = *o;
    SET(file, "lessons/%s/demo.c", o->lesson->id);
    to_build.home = build;
    to_run.home = start_in;
    snprintf(program, sizeof program, "%.3000s/%s", build->made, o->lesson->id);
    if (compiles(&to_build, program, out)) run_program(&to_run, program, out);
}

/* The example of a teacher's own lesson. */
static void run_own_demo(const run_options *o, outcome *out)
{
    home build, start_in;
    if (example_homes(o->home, o->lesson, &build, &start_in, out->message, sizeof out->message))
        build_and_run_demo(o, &build, &start_in, out);
    else out->end = RUN_ENVIRONMENT_ERROR;
}

static void run_variant(const run_options *o, outcome *out)
{
    home build, start_in;
    char folder[PATH_ROOM];
    bool made = folder_temporary("ferry-example", folder);
    if (!made) SET(message, "cannot make the folder %.800s: %s; free disk space", folder, strerror(errno));
    if (made && example_variant_homes(o->home, o->lesson, &o->variant, folder, &build, &start_in, out->message,
                                      sizeof out->message))
        build_and_run_demo(o, &build, &start_in, out);
    else out->end = RUN_ENVIRONMENT_ERROR;
    if (made) folder_remove(folder);
}

void run(const run_options *o, outcome *out)
{
    char program[PATH_ROOM + 80];
    *out = (outcome){.line = -1, .seq = -1, .log_fd = -1, .seed = o->seed, .output = memory_copy("", "a run")};
    lesson_name(o->home, o->lesson, out->file);
    if (!o->demo) lesson_file_path(o->home, o->lesson, out->path);
    if (o->demo && o->varied) {
        run_variant(o, out);
    } else if (o->demo && *o->home->own) {
        run_own_demo(o, out);
    } else if (o->demo) {
        run_demo(o, out);
    } else if (!lesson_create_file(o->home, o->lesson, out->message, sizeof out->message)) {
        out->end = RUN_ENVIRONMENT_ERROR;
    } else {
        snprintf(program, sizeof program, "%s/%s", o->home->made, o->lesson->id);
        if (compiles(o, program, out)) run_program(o, program, out);
        if (o->grade && !o->unrecorded && out->end == RUN_NOT_COMPILED)
            progress_record(o->home, o->lesson, false, NULL);
    }
    report_stage(o, RUN_OVER, -1);
}
