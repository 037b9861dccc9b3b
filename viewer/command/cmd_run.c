/* cmd_run.c: `ferry run`, `grade` and `watch`: the learner's program on the terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "command.h"
#include "narrate.h"
#include "memory.h"
#include "report.h"
#include "watch.h"
#include "settings.h"

static run_options run_options_for(const lesson_env *s, const lesson *l, const options *o)
{
    return (run_options){.home = &s->home,
                         .lesson = l,
                         .demo = o->demo,
                         .grade = true,
                         .seed = fy_session_seed(),
                         .limits = {.seconds = o->seconds},
                         .stop_fd = -1};
}

/* ---- run: one line per event --------------------------------------------------------------------------- */

static void narrate(int log_fd)
{
    char err[256];
    fy_log *log = log_fd >= 0 ? fy_log_open(log_fd, err, sizeof err) : NULL;
    if (!log) return;
    fy_log_writer_died(log);
    fy_narrator *n = fy_narrator_of(log);
    if (!n || !fy_narrate_to(n, stdout)) memory_fail("the lines of a run");
    fy_narrator_free(n);
    fy_log_close(log);
}

static int run_once(const lesson_env *s, const lesson *l, const options *o)
{
    outcome out;
    run_options run_with = run_options_for(s, l, o);
    run_with.grade = false;
    run(&run_with, &out);
    narrate(out.log_fd);
    if (out.end == RUN_PASSED) print_output(stdout, &out, out.kept);
    else report(stdout, l, &out);
    int status = out.end == RUN_PASSED ? FINE : NOT_PASSED;
    outcome_free(&out);
    return status;
}

int command_run(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "--demo --seconds", 1)) return USAGE_ERROR;
    if (!lessons_open(&s)) return NOT_PASSED;
    const lesson *l = lessons_find(&s, c, o.word[0]);
    int status = l ? run_once(&s, l, &o) : USAGE_ERROR;
    lessons_close(&s);
    return status;
}

/* ---- grade --------------------------------------------------------------------------------------------- */

static void print_json(const lesson *l, const outcome *out)
{
    cJSON *json = outcome_json(out);
    cJSON_AddStringToObject(json, "lesson", l->id);
    char *text = cJSON_PrintUnformatted(json);
    puts(text);
    cJSON_free(text);
    cJSON_Delete(json);
}

static int grade_once(const lesson_env *s, const lesson *l, const options *o)
{
    outcome out;
    run_options run_with = run_options_for(s, l, o);
    run(&run_with, &out);
    if (o->json) print_json(l, &out);
    else report(stdout, l, &out);
    int status = out.end == RUN_PASSED ? FINE : NOT_PASSED;
    outcome_free(&out);
    return status;
}

/* Prints one line for the lesson. Ignores progress.json, which anybody may edit. */
static bool grade_briefly(const lesson_env *s, const lesson *l, const options *o)
{
    char mine[PATH_ROOM];
    outcome out;
    lesson_file_path(&s->home, l, mine);
    if (access(mine, F_OK) != 0) {
        if (!o->json) printf("not started  %s\n", l->id);
        return false;
    }
    run_options run_with = run_options_for(s, l, o);
    run(&run_with, &out);
    bool pass = out.end == RUN_PASSED;
    if (o->json) print_json(l, &out);
    else printf("%s     %s%s%s\n", pass ? "passed" : "failed", l->id, pass ? "" : ": ", pass ? "" : out.message);
    fflush(stdout);
    outcome_free(&out);
    return pass;
}

static int grade_all(const lesson_env *s, const options *o)
{
    int passed = 0, count = s->catalogue.count;
    for (int i = 0; i < count; i++) passed += grade_briefly(s, &s->catalogue.lessons[i], o);
    if (!o->json) printf("\n%d of %d lessons passed\n", passed, count);
    return passed == count ? FINE : NOT_PASSED;
}

int command_grade(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "--all --json --seconds", 1)) return USAGE_ERROR;
    if (o.all && o.word[0]) {
        fprintf(stderr, "ferry grade: --all grades every lesson; remove '%s'\n", o.word[0]);
        return USAGE_ERROR;
    }
    if (!lessons_open(&s)) return NOT_PASSED;
    const lesson *l = o.all ? NULL : lessons_find(&s, c, o.word[0]);
    int status = o.all ? grade_all(&s, &o) : l ? grade_once(&s, l, &o) : USAGE_ERROR;
    lessons_close(&s);
    return status;
}

/* ---- watch --------------------------------------------------------------------------------------------- */

static void watch_forever(const lesson_env *s, const lesson *first, int count, const options *o)
{
    watched_file *files = memory_zeroed((size_t)count, sizeof *files, "the files that are watched");
    const struct timespec pause = {.tv_nsec = WATCH_MS * 1000000L};
    char path[PATH_ROOM];
    for (int i = 0; i < count; i++) {
        lesson_file_path(&s->home, &first[i], path);
        watch_start(&files[i], path);
    }
    if (count == 1) grade_once(s, first, o);
    printf("\nwatching %s; every save is graded; or run `%s grade ID` by hand. Ctrl-C stops.\n", s->home.my,
           command_name);
    fflush(stdout);
    while (nanosleep(&pause, NULL) == 0)
        for (int i = 0; i < count; i++)
            if (watch_poll(&files[i])) grade_once(s, &first[i], o);
    free(files);
}

int command_watch(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    char err[PATH_ROOM * 2];
    if (!options_read(&o, c, argc, argv, "--json --seconds", 1)) return USAGE_ERROR;
    if (!lessons_open(&s)) return NOT_PASSED;
    const lesson *l = o.word[0] ? lessons_find(&s, c, o.word[0]) : &s.catalogue.lessons[0];
    int status = l ? FINE : USAGE_ERROR;
    if (l && !lesson_create_file(&s.home, l, err, sizeof err)) {
        command_error(err);
        status = NOT_PASSED;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (status == FINE) watch_forever(&s, l, o.word[0] ? 1 : s.catalogue.count, &o);
    lessons_close(&s);
    return status;
}
