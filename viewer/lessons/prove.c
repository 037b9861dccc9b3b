/* prove.c: see prove.h. */
#define _GNU_SOURCE 1

#include "prove.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json_file.h"
#include "lesson_form.h"
#include "own_check.h"
#include "questions.h"
#include "report.h"
#include "run.h"

enum { SEEDS = 5 };

typedef struct proof {
    home home;           /* of a learner who hands in what is proved */
    const lesson *first; /* with the inputs of the first run */
    lesson second;       /* with those of the second */
    cJSON *facts;        /* lesson.json */
    double seconds;
    FILE *to;
    bool holds;
} proof;

static void say(proof *p, bool holds, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void say(proof *p, bool holds, const char *format, ...)
{
    char words[3072];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    fputs(holds ? "  ok    " : "  FAIL  ", p->to);
    print_escaped(p->to, words, strlen(words), ""); /* it may quote what a program wrote */
    p->holds = p->holds && holds;
}

static const char *fact(const cJSON *facts, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(facts, key));
    return text ? text : "";
}

/* ---- one program ----------------------------------------------------------------------------------------- */

/* Hands the file in as the learner's; false after saying that it is missing. */
static bool hand_in(proof *p, const char *file)
{
    char from[PATH_ROOM], mine[PATH_ROOM];
    size_t size;
    lesson_path(&p->home, p->first, file, from);
    lesson_file_path(&p->home, p->first, mine);
    char *text = file_read(from, &size);
    if (!text) say(p, false, "%s cannot be read: %s", file, strerror(errno));
    bool ok = text && file_write(mine, text, size);
    if (text && !ok) say(p, false, "%s cannot be copied to %s: %s", file, mine, strerror(errno));
    free(text);
    return ok;
}

/* Grades what was handed in; from the second time on, it is built already. */
static void grade_it(const proof *p, const lesson *l, uint64_t seed, bool is_built, outcome *out)
{
    run_options o = {.home = &p->home,
                     .lesson = l,
                     .grade = true,
                     .unrecorded = true,
                     .is_built = is_built,
                     .seed = seed,
                     .second_seed = seed + SEEDS,
                     .limits = {.seconds = p->seconds},
                     .stop_fd = -1};
    run(&o, out);
}

/* Why the program got no verdict, or only a warning; false: it has its verdict, and no warning. */
static bool was_refused(proof *p, const char *file, const outcome *out)
{
    bool refused = out->end == RUN_NOT_COMPILED || out->end == RUN_ENVIRONMENT_ERROR || out->end == RUN_STOPPED;
    const diagnosis *d = &out->diagnosis;
    if (out->end == RUN_NOT_COMPILED) say(p, false, "%s:%d: %s", file, out->line, out->message);
    else if (refused) say(p, false, "%s: %s", file, out->message);
    else if (*d->message) say(p, false, "%s:%d: builds with a warning: %s", file, d->line, d->message);
    return refused;
}

/* ---- programs that must fail -------------------------------------------------------------------------------- */

/* With one of the inputs. True: it fails the check first. */
static bool fails(proof *p, const char *file, const char *check, const char *inputs, const outcome *out)
{
    const struct verdict_check *failed = out->graded && !out->second ? verdict_failure(&out->verdict) : NULL;
    if (out->end == RUN_PASSED || out->second)
        say(p, false, "%s passes with the inputs of \"%s\", and must fail %s", file, inputs, check);
    else if (!failed) say(p, false, "%s fails no check with the inputs of \"%s\": %s", file, inputs, out->message);
    else if (strcmp(failed->name, check) != 0)
        say(p, false, "%s first fails %s with the inputs of \"%s\", and must fail %s: %s", file, failed->name, inputs,
            check, failed->message);
    return failed && !strcmp(failed->name, check);
}

static void prove_failure(proof *p, const char *file, const char *check)
{
    outcome out;
    if (!*check) say(p, false, "%s: lesson.json does not say which check it fails", file);
    if (!*check || !hand_in(p, file)) return;
    grade_it(p, p->first, 0, false, &out);
    bool holds = !was_refused(p, file, &out) && fails(p, file, check, "given", &out);
    const struct verdict_check *failed = holds ? verdict_failure(&out.verdict) : NULL;
    char message[sizeof failed->message];
    snprintf(message, sizeof message, "%s", failed ? failed->message : "");
    outcome_free(&out);
    if (!holds) return;
    grade_it(p, &p->second, 0, true, &out);
    if (fails(p, file, check, "given2", &out)) say(p, true, "%s fails %s: %s", file, check, message);
    outcome_free(&out);
}

/* Each wrong answer that lesson.json names; and whether it names all that are there. */
static void prove_wrong_answers(proof *p)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(p->facts, "wrong"), *one;
    char path[PATH_ROOM];
    if (!cJSON_GetArraySize(all))
        say(p, false, "lesson.json names no wrong answer: \"wrong\": [{\"file\", \"check\"}]");
    cJSON_ArrayForEach(one, all) prove_failure(p, fact(one, "file"), fact(one, "check"));
    lesson_path(&p->home, p->first, "", path);
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        size_t n = strlen(e->d_name);
        bool named = strncmp(e->d_name, "wrong_", 6) != 0 || n < 3 || strcmp(e->d_name + n - 2, ".c") != 0;
        cJSON_ArrayForEach(one, all) named = named || !strcmp(fact(one, "file"), e->d_name);
        if (!named) say(p, false, "lesson.json does not name %s in \"wrong\"", e->d_name);
    }
    if (folder) closedir(folder);
}

/* ---- the solution, the example, the text --------------------------------------------------------------------- */

static void prove_solution(proof *p)
{
    char path[PATH_ROOM];
    bool holds = true;
    lesson_path(&p->home, p->first, "solution.c", path);
    if (access(path, F_OK) != 0) {
        fprintf(p->to, "  --    solution.c is not here, so that it passes is not proved\n");
        return;
    }
    if (!hand_in(p, "solution.c")) return;
    for (uint64_t seed = 1; holds && seed <= SEEDS; seed++) {
        outcome out;
        grade_it(p, p->first, seed, seed > 1, &out);
        holds = !was_refused(p, "solution.c", &out) && out.end == RUN_PASSED;
        if (!holds && out.graded)
            say(p, false, "solution.c fails with seed %" PRIu64 " and the inputs of \"given%s\": %s", out.seed,
                out.second ? "2" : "", out.message);
        outcome_free(&out);
    }
    if (holds) say(p, true, "solution.c passes with %d seeds and both inputs", SEEDS);
}

/* The program must run, or stop with the error that it is about, and answer each question. */
static bool answers_questions(proof *p, const char *name, const outcome *out, question_answer answers[LESSON_QUESTIONS])
{
    bool is_to_stop = *fact(p->facts, "demo_stops"), refused = was_refused(p, name, out);
    bool holds = !refused && (out->end == RUN_PASSED || (is_to_stop && out->stopped));
    if (!holds && !refused) say(p, false, "%s: %s", name, out->message);
    questions_answer(p->first, out->log_fd, answers);
    for (int i = 0; holds && i < p->first->question_count; i++)
        if (answers[i].answer == NO_ANSWER) {
            say(p, false, "the run of %s does not answer \"%s\": %s", name, p->first->questions[i].ask,
                p->first->questions[i].fact);
            holds = false;
        }
    return holds;
}

static run_options example_run(const proof *p)
{
    return (run_options){.home = &p->home,
                         .lesson = p->first,
                         .demo = true,
                         .unrecorded = true,
                         .limits = {.seconds = p->seconds},
                         .stop_fd = -1};
}

static void prove_demo(proof *p)
{
    outcome out;
    question_answer answers[LESSON_QUESTIONS];
    run_options o = example_run(p);
    run(&o, &out);
    if (answers_questions(p, "demo.c", &out, answers))
        say(p, true, "demo.c runs, and answers %d questions", p->first->question_count);
    outcome_free(&out);
}

static bool have_same_answers(const proof *p, const question_answer *a, const question_answer *b)
{
    for (int i = 0; i < p->first->question_count; i++)
        if (a[i].answer != b[i].answer) return false;
    return true;
}

/* All of them: a student gets any. One who copies another's answers must be able to be wrong. */
static void prove_variants(proof *p)
{
    question_answer first[LESSON_QUESTIONS], answers[LESSON_QUESTIONS];
    int count = example_variants(p->first);
    bool holds = true, differ = false;
    char name[64];
    run_options o = example_run(p);
    o.varied = true;
    if (*p->first->mistake) {
        say(p, false, "lesson.json: %s", p->first->mistake);
        return;
    }
    for (int i = 0; holds && i < count; i++) {
        outcome out;
        o.variant = example_variant_of(p->first, (uint64_t)i);
        snprintf(name, sizeof name, "demo.c (variant %d of %d)", i + 1, count);
        run(&o, &out);
        holds = answers_questions(p, name, &out, i ? answers : first);
        differ = differ || (i && !have_same_answers(p, first, answers));
        outcome_free(&out);
    }
    if (!count && p->first->question_count)
        fprintf(p->to, "  --    lesson.json has no \"vary\": all students are asked about the same example\n");
    if (count && holds && !differ) say(p, false, "all variants of demo.c have the same answers: change \"vary\"");
    if (count && holds && differ) say(p, true, "demo.c has %d variants, and they answer differently", count);
}

static void prove_text(proof *p)
{
    static const char *const headings[] = {"\n## Before you run\n", "\n## What to watch\n", "\n## Your turn\n",
                                           "\n## In PyTorch\n"};
    char path[PATH_ROOM];
    lesson_path(&p->home, p->first, "README.md", path);
    char *text = file_read(path, NULL);
    if (!text) say(p, false, "README.md cannot be read: %s", strerror(errno));
    for (int i = 0; text && i < 4; i++)
        if (!strstr(text, headings[i]))
            say(p, false, "README.md has no heading \"%.*s\"", (int)strlen(headings[i]) - 2, headings[i] + 1);
    free(text);
}

/* ---- lesson.json, and the starter's marks -------------------------------------------------------------------- */

static void say_mistake(void *user, const char *mistake) { say(user, false, "lesson.json: %s", mistake); }

static void prove_form(proof *p)
{
    char path[PATH_ROOM];
    lesson_path(&p->home, p->first, "lesson.json", path);
    int rest = json_file_rest(path);
    lesson_form_check(p->facts, p->first->id, say_mistake, p);
    if (rest) say(p, false, "lesson.json:%d: text follows the end of the JSON: remove it", rest);
}

/* What stands between them is the learner's: the page leads there. */
static void prove_marks(proof *p)
{
    char path[PATH_ROOM];
    lesson_path(&p->home, p->first, "starter.c", path);
    char *text = file_read(path, NULL), *open = text ? strstr(text, "// --- your code ---") : NULL;
    if (text && (!open || !strstr(open, "// --- end ---")))
        say(p, false, "starter.c has no lines \"// --- your code ---\" and \"// --- end ---\" around what to change");
    free(text);
}

/* ---- the whole lesson ------------------------------------------------------------------------------------------- */

static cJSON *read_facts(const home *h, const lesson *l)
{
    char path[PATH_ROOM];
    lesson_path(h, l, "lesson.json", path);
    char *text = file_read(path, NULL);
    cJSON *facts = text ? cJSON_Parse(text) : NULL; /* the catalogue has read it already */
    free(text);
    return facts;
}

static bool lay_out(proof *p, const char *folder)
{
    home *h = &p->home;
    h->made_apart = false;
    snprintf(h->beside, sizeof h->beside, "%s", folder);
    snprintf(h->my, sizeof h->my, "%.2900s/my", folder);
    snprintf(h->made, sizeof h->made, "%.2900s/made", folder);
    return folder_make(h->my) && folder_make(h->made);
}

static void prove_programs(proof *p)
{
    prove_form(p);
    prove_marks(p);
    prove_text(p);
    prove_demo(p);
    prove_variants(p);
    prove_failure(p, "starter.c", fact(p->facts, "starter_fails"));
    prove_solution(p);
    prove_wrong_answers(p);
}

bool prove(const home *h, const lesson *l, double seconds, FILE *to)
{
    char folder[PATH_ROOM] = "", object[OWN_CHECK_ROOM], err[3000] = "";
    proof p = {.home = *h, .first = l, .second = *l, .seconds = seconds, .to = to, .holds = true};
    if (*l->given2) p.second.given = l->given2;
    fprintf(to, "%s\n", l->id);
    p.facts = read_facts(h, l);
    if (*h->own && !own_check_build(h, l->id, object, err, sizeof err)) say(&p, false, "%s", err);
    else if (!folder_temporary("ferry-prove", folder))
        say(&p, false, "cannot make the folder %s: %s; free disk space", folder, strerror(errno));
    else if (!lay_out(&p, folder)) say(&p, false, "cannot make folders in %s: %s", folder, strerror(errno));
    else prove_programs(&p);
    folder_remove(folder);
    cJSON_Delete(p.facts);
    fflush(to);
    return p.holds;
}
