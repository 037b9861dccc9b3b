/* cmd_run.c: `ferry run`, `predict`, `grade`, `check-all` and `watch`: programs of lessons on the terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "command.h"
#include "narrate.h"
#include "memory.h"
#include "questions.h"
#include "report.h"
#include "watch.h"
#include "settings.h"
#include "student_seed.h"

/* False after printing why the secret cannot be used. */
static bool run_options_for(const lesson_env *s, const lesson *l, const options *o, run_options *run_with)
{
    class_secret secret;
    char err[PATH_ROOM + 256];
    *run_with = (run_options){.home = &s->home,
                              .lesson = l,
                              .demo = o->demo,
                              .grade = true,
                              .seed = fy_session_seed(),
                              .limits = {.seconds = o->seconds},
                              .stop_fd = -1};
    if (!o->student && !o->secret) return true;
    if (!o->student) snprintf(err, sizeof err, "--secret %s needs --student NAME", o->secret);
    if (!o->student || !class_secret_open(&secret, o->secret, err, sizeof err)) {
        command_error(err);
        return false;
    }
    run_with->seed = student_seed(&secret, o->student, l->id, 1);
    run_with->second_seed = student_seed(&secret, o->student, l->id, 2);
    run_with->varied = example_variants(l) > 0;
    run_with->variant = student_variant(&secret, o->student, l);
    return true;
}

static cJSON *lesson_outcome(const lesson *l, const outcome *out)
{
    cJSON *json = outcome_json(out);
    cJSON_AddStringToObject(json, "lesson", l->id);
    return json;
}

static void print_json(const lesson *l, const outcome *out) { command_print_json(lesson_outcome(l, out)); }

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

/* Saves the events as FERRY_TRACE does: the program itself writes to a log of its runner. */
static bool save_lines(int log_fd, const char *path)
{
    char err[256];
    uint64_t cursor = 0;
    fy_text lines = {0};
    fy_log *log = log_fd >= 0 ? fy_log_open(log_fd, err, sizeof err) : NULL;
    if (!log) return false; /* the program did not even start: the report says so */
    fy_log_writer_died(log);
    FILE *to = fopen(path, "w");
    while (to && !ferror(to) && fy_log_read(log, &cursor, &lines, 64 << 10) > 0) {
        if (lines.size) fwrite(lines.data, 1, lines.size, to);
        lines.size = 0;
    }
    if (lines.lost) memory_fail("the lines of a run");
    free(lines.data);
    fy_log_close(log);
    bool saved = to && !ferror(to);
    if (to && fclose(to) != 0) saved = false;
    if (!saved) fprintf(stderr, "ferry: cannot write %s\n", path);
    return saved;
}

static int run_once(const lesson_env *s, const lesson *l, const options *o)
{
    outcome out;
    run_options run_with;
    if (!run_options_for(s, l, o, &run_with)) return USAGE_ERROR;
    run_with.grade = false;
    run(&run_with, &out);
    if (o->json) {
        print_json(l, &out);
    } else {
        narrate(out.log_fd);
        if (out.end == RUN_PASSED) print_output(stdout, &out, out.kept);
        else report(stdout, l, &out);
    }
    int status = out.end == RUN_PASSED ? FINE : NOT_PASSED;
    if (o->trace && !save_lines(out.log_fd, o->trace)) status = NOT_PASSED;
    outcome_free(&out);
    return status;
}

int command_run(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "--demo --json --trace --seconds --secret --student --lessons", 1))
        return USAGE_ERROR;
    if (!lessons_open(&s, &o)) return NOT_PASSED;
    const lesson *l = lessons_find(&s, c, o.word[0]);
    int status = l ? run_once(&s, l, &o) : USAGE_ERROR;
    lessons_close(&s);
    return status;
}

/* ---- predict: the questions before the example ------------------------------------------------------------ */

static void print_choices(FILE *to, const lesson_question *q)
{
    for (int k = 0; k < q->choice_count; k++) fprintf(to, "%s%d %s", k ? ", " : " (", k, q->choices[k]);
    fprintf(to, "%s", q->choice_count ? ")" : " (a whole number)");
}

/* Asks on the terminal, again after what is no answer. NO_ANSWER: the input ended. */
static long ask(const lesson_question *q)
{
    char words[256];
    int n = (int)strcspn(q->ask, "?");
    printf("%.*s?", n, q->ask);
    print_choices(stdout, q);
    putchar(' ');
    fflush(stdout);
    while (fgets(words, sizeof words, stdin)) {
        words[strcspn(words, "\r\n")] = '\0';
        long guess = question_guess(q, words);
        if (guess != NO_ANSWER) return guess;
        printf(q->choice_count ? "one of these numbers: " : "a whole number: ");
        fflush(stdout);
    }
    putchar('\n');
    return NO_ANSWER;
}

/* What the questions are about, with the lines' numbers. False after printing why there is nothing to show. */
static bool show_example(const run_options *run_with, const lesson *l)
{
    char err[PATH_ROOM + 256];
    const example_variant unchanged = {{0}};
    char *text = example_text(run_with->home, l, run_with->varied ? &run_with->variant : &unchanged, err, sizeof err);
    int line = 1;
    if (!text) {
        command_error(err);
        return false;
    }
    printf("lessons/%s/README.md is the text, and this is %s:\n\n", l->id,
           run_with->varied ? "demo.c, your own example, with other lines than on the page" : "demo.c, the example");
    for (char *at = text; *at; line++) {
        size_t n = strcspn(at, "\n");
        printf("%4d  %.*s\n", line, (int)n, at);
        at += n + (at[n] == '\n');
    }
    putchar('\n');
    free(text);
    return true;
}

/* Where nobody can be asked, all questions are shown at once. */
static void demand_answers(const command *c, const lesson *l)
{
    fprintf(stderr, "ferry %s: give %d answer%s, one to each question: ferry %s %s\n", c->name, l->question_count,
            l->question_count == 1 ? "" : "s", c->name, c->arguments);
    for (int i = 0; i < l->question_count; i++) {
        fprintf(stderr, "  %d. %s", i + 1, l->questions[i].ask);
        print_choices(stderr, &l->questions[i]);
        fputc('\n', stderr);
    }
}

static bool take_guesses(const command *c, const lesson *l, const options *o, long guesses[LESSON_QUESTIONS])
{
    if (o->word[1] && o->word[1 + l->question_count]) {
        fprintf(stderr, "ferry %s: '%s' is one answer too many\n", c->name, o->word[1 + l->question_count]);
        demand_answers(c, l);
        return false;
    }
    for (int i = 0; i < l->question_count; i++) {
        const lesson_question *q = &l->questions[i];
        const char *given = o->word[1 + i];
        bool lacks = !given && o->word[1] && !isatty(STDIN_FILENO); /* some are given, and nobody can be asked */
        guesses[i] = given ? question_guess(q, given) : lacks ? NO_ANSWER : ask(q);
        if (guesses[i] != NO_ANSWER) continue;
        if (lacks) fprintf(stderr, "ferry %s: question %d has no answer: %s\n", c->name, i + 1, q->ask);
        if (given) fprintf(stderr, "ferry %s: '%s' does not answer: %s\n", c->name, given, q->ask);
        else demand_answers(c, l);
        return false;
    }
    return true;
}

static void tell_answers(const lesson *l, const long guesses[], const question_answer answers[], bool json)
{
    cJSON *all = cJSON_CreateArray();
    char one[24], two[24];
    for (int i = 0; i < l->question_count; i++) {
        const lesson_question *q = &l->questions[i];
        const char *said = question_words(q, guesses[i], one), *is = question_words(q, answers[i].answer, two);
        const char *lines = answers[i].lines, *at = *lines ? " (line " : "", *end = *lines ? ")" : "";
        bool right = guesses[i] == answers[i].answer;
        int n = (int)strcspn(q->ask, "?");
        if (!json && right) printf("  right  %.*s: %s%s%s%s\n", n, q->ask, is, at, lines, end);
        else if (!json) printf("  wrong  %.*s: you said %s; it is %s%s%s%s\n", n, q->ask, said, is, at, lines, end);
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "ask", q->ask);
        cJSON_AddStringToObject(item, "guess", said);
        cJSON_AddStringToObject(item, "answer", is);
        cJSON_AddStringToObject(item, "lines", lines);
        cJSON_AddBoolToObject(item, "right", right);
        cJSON_AddItemToArray(all, item);
    }
    if (!json) {
        cJSON_Delete(all);
        return;
    }
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "lesson", l->id);
    cJSON_AddItemToObject(object, "predictions", all);
    command_print_json(object);
}

static int predict(const command *c, const lesson_env *s, const lesson *l, options *o)
{
    outcome out;
    long guesses[LESSON_QUESTIONS];
    question_answer answers[LESSON_QUESTIONS];
    run_options run_with;
    o->demo = true;
    if (!run_options_for(s, l, o, &run_with)) return USAGE_ERROR;
    if (!o->json && !o->word[1] && !show_example(&run_with, l)) return NOT_PASSED;
    if (!take_guesses(c, l, o, guesses)) return USAGE_ERROR;
    run_with.grade = false;
    run(&run_with, &out);
    char why[1024];
    bool told = questions_answered(l, &out, answers, why, sizeof why);
    if (!o->json) narrate(out.log_fd);
    if (told && !o->json) print_output(stdout, &out, out.kept);
    if (told) tell_answers(l, guesses, answers, o->json);
    else if (out.end != RUN_PASSED && !o->json) report(stdout, l, &out);
    if (!told) {
        fy_text words = {0};
        fy_text_printf(&words, "your answers are not judged: %s%s", why,
                       out.end == RUN_ENVIRONMENT_ERROR ? ""
                                                        : "; this is not your mistake: tell whoever wrote the lesson");
        if (words.lost) memory_fail("a message");
        command_error(words.data);
        free(words.data);
    }
    outcome_free(&out);
    return told ? FINE : NOT_PASSED;
}

int command_predict(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "--json --seconds --secret --student --lessons", 1 + LESSON_QUESTIONS))
        return USAGE_ERROR;
    if (!lessons_open(&s, &o)) return NOT_PASSED;
    const lesson *l = lessons_find(&s, c, o.word[0]);
    int status = l ? predict(c, &s, l, &o) : USAGE_ERROR;
    lessons_close(&s);
    return status;
}

/* ---- grade --------------------------------------------------------------------------------------------- */

static int grade_once(const lesson_env *s, const lesson *l, const options *o)
{
    outcome out;
    run_options run_with;
    if (!run_options_for(s, l, o, &run_with)) return USAGE_ERROR;
    run(&run_with, &out);
    if (o->json) print_json(l, &out);
    else report(stdout, l, &out);
    int status = out.end == RUN_PASSED ? FINE : NOT_PASSED;
    outcome_free(&out);
    return status;
}

static bool has_file(const home *h, const lesson *l)
{
    char mine[PATH_ROOM];
    lesson_file_path(h, l, mine);
    return access(mine, F_OK) == 0;
}

/* Prints one line for the lesson, or adds it to the list. Ignores progress.json, which anybody may edit. */
static bool grade_briefly(const lesson_env *s, const lesson *l, const options *o, cJSON *list)
{
    outcome out;
    run_options run_with;
    if (!run_options_for(s, l, o, &run_with)) return false;
    run(&run_with, &out);
    bool pass = out.end == RUN_PASSED;
    if (o->json) cJSON_AddItemToArray(list, lesson_outcome(l, &out));
    else printf("%s     %s%s%s\n", pass ? "passed" : "failed", l->id, pass ? "" : ": ", pass ? "" : out.message);
    fflush(stdout);
    outcome_free(&out);
    return pass;
}

static void print_summary(const lesson_env *s, int files, int passed)
{
    int without = s->catalogue.count - files;
    const char *folder = path_from_here(s->home.my);
    if (!files) printf("no file of a lesson is in %s: nothing to grade; to begin: %s next\n", folder, command_name);
    else printf("\n%d of %d file%s passed", passed, files, files == 1 ? "" : "s");
    if (files && without) printf("; %d lesson%s no file yet", without, without == 1 ? " has" : "s have");
    if (files) putchar('\n');
}

/* The files that are there; a lesson not begun is no failure. */
static int grade_all(const lesson_env *s, const options *o)
{
    int files = 0, passed = 0;
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < s->catalogue.count; i++) {
        const lesson *l = &s->catalogue.lessons[i];
        if (!has_file(&s->home, l)) continue;
        files++;
        passed += grade_briefly(s, l, o, list);
    }
    if (o->json) {
        command_print_json(list);
    } else {
        cJSON_Delete(list);
        print_summary(s, files, passed);
    }
    return passed == files ? FINE : NOT_PASSED;
}

/* Gradescope's file may be of several lessons. */
static bool names_file(int argc, char **argv)
{
    static const char name[] = "--gradescope";
    bool found = false;
    for (int i = 0; i < argc; i++) found |= !strncmp(argv[i], name, sizeof name - 1);
    return found;
}

int command_grade(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "--all --gradescope --json --points --seconds --secret --student --lessons",
                      names_file(argc, argv) ? OPTION_WORDS : 1))
        return USAGE_ERROR;
    if (o.all && o.word[0]) {
        fprintf(stderr, "ferry grade: --all grades every lesson; remove '%s'\n", o.word[0]);
        return USAGE_ERROR;
    }
    if (!lessons_open(&s, &o)) return NOT_PASSED;
    const lesson *l = o.all ? NULL : lessons_find(&s, c, o.word[0]);
    int status = !l && !o.all   ? USAGE_ERROR
                 : o.gradescope ? grade_for_gradescope(&s, c, &o)
                 : o.all        ? grade_all(&s, &o)
                                : grade_once(&s, l, &o);
    lessons_close(&s);
    return status;
}

int command_check_all(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "--gradescope --json --points --seconds --secret --student --lessons", 0))
        return USAGE_ERROR;
    if (!lessons_open(&s, &o)) return NOT_PASSED;
    o.all = true;
    int status = o.gradescope ? grade_for_gradescope(&s, c, &o) : grade_all(&s, &o);
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
    if (!options_read(&o, c, argc, argv, "--json --seconds --lessons", 1)) return USAGE_ERROR;
    if (!lessons_open(&s, &o)) return NOT_PASSED;
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
