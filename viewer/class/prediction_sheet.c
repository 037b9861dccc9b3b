/* prediction_sheet.c: see prediction_sheet.h. */
#include "prediction_sheet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "memory.h"
#include "run.h"
#include "student_name.h"

static const char before_questions[] = "/* Lesson ", before_answer[] = "answer:";

/* ---- handed out ---------------------------------------------------------------------------------------- */

static void add_question(fy_text *to, const lesson_question *q, int number)
{
    fy_text_printf(to, " * %d. %.*s (", number, (int)strcspn(q->ask, "?"), q->ask);
    for (int k = 0; k < q->choice_count; k++) fy_text_printf(to, "%s%s", k ? " / " : "", q->choices[k]);
    fy_text_printf(to, "%s)\n *    %s\n *\n", q->choice_count ? "" : "a whole number", before_answer);
}

/* The questions are below the program, whose lines keep their numbers. */
static char *sheet_text(const home *h, const lesson *l, const class_secret *secret, const char *student, char *err,
                        size_t room)
{
    fy_text sheet = {0};
    example_variant v = student_variant(secret, student, l);
    char *example = example_text(h, l, &v, err, room);
    if (!example) return NULL;
    fy_text_str(&sheet, example);
    char *name = student_name(student);
    fy_text_printf(&sheet, "\n%s%s: predictions of %s.\n *\n", before_questions, l->id, name);
    free(name);
    fy_text_str(&sheet,
                " * Read the program above, which is yours alone. Before it runs, write each answer behind its\n"
                " * colon. A wrong guess teaches, too. ");
    fy_text_printf(&sheet, "Hand this file in beside %s.c.\n *\n", l->id);
    for (int i = 0; i < l->question_count; i++) add_question(&sheet, &l->questions[i], i + 1);
    fy_text_add(&sheet, " */\n", 5);
    if (sheet.lost) memory_fail("a sheet of predictions");
    free(example);
    return sheet.data;
}

bool sheets_write(const home *h, const lesson *const *lessons, const class_secret *secret, const char *folder,
                  const char *student, int *written, int *kept, char *err, size_t room)
{
    char path[PATH_ROOM];
    for (; *lessons; lessons++) {
        if (!(*lessons)->question_count) continue;
        snprintf(path, sizeof path, "%.2000s/%.255s/%s.predict.c", folder, student, (*lessons)->id);
        char *text = sheet_text(h, *lessons, secret, student, err, room);
        if (!text) return false;
        bool is_new = file_create(path, text, strlen(text));
        free(text);
        struct stat st;
        bool is_kept = !is_new && errno == EEXIST && stat(path, &st) == 0 && S_ISREG(st.st_mode);
        if (!is_new && !is_kept) {
            snprintf(err, room, "cannot write %.2500s: %s; make room for a file there that you may write", path,
                     strerror(errno));
            return false;
        }
        ++*(is_new ? written : kept);
    }
    return true;
}

/* ---- handed in ------------------------------------------------------------------------------------------ */

void sheet_answer(const char *sheet, int n, char *words, size_t room)
{
    const char *at = NULL, *end;
    *words = '\0';
    for (const char *found = sheet; (found = strstr(found, before_questions)); found++) at = found;
    end = at ? strstr(at, "*/") : NULL;
    for (int i = 0; end && at && i <= n; i++) {
        at = strstr(at, before_answer);
        if (at) at += strlen(before_answer);
    }
    if (!end || !at || at > end) return;
    at += strspn(at, " \t");
    size_t size = strcspn(at, "\r\n");
    if (at + size > end) size = (size_t)(end - at);
    while (size && (at[size - 1] == ' ' || at[size - 1] == '\t')) size--;
    snprintf(words, room, "%.*s", (int)(size < room ? size : room - 1), at);
}

bool sheet_is_blank(const char *path)
{
    char words[64] = "";
    char *sheet = file_read(path, NULL);
    for (int i = 0; sheet && i < LESSON_QUESTIONS && !*words; i++) sheet_answer(sheet, i, words, sizeof words);
    free(sheet);
    return !*words;
}

/* Is the program in the sheet this one? Spaces and line ends aside, which editors change. */
static bool begins_with_program(const char *sheet, const char *program)
{
    if (!strncmp(sheet, "\xef\xbb\xbf", 3)) sheet += 3; /* a byte order mark */
    for (;; sheet++, program++) {
        sheet += strspn(sheet, " \t\r\n");
        program += strspn(program, " \t\r\n");
        if (!*program) return true;
        if (*sheet != *program) return false;
    }
}

/* The sheet's text; NULL, with what the student is told: there is none, or it is another's. */
static char *read_sheet(const home *h, const lesson *l, const example_variant *v, const char *path, char *why,
                        size_t room)
{
    char err[PATH_ROOM + 256];
    snprintf(why, room, "no file of predictions was handed in");
    char *sheet = path ? file_read(path, NULL) : NULL;
    if (path && !sheet) snprintf(why, room, "the file of predictions cannot be read: %s", strerror(errno));
    char *program = sheet ? example_text(h, l, v, err, sizeof err) : NULL;
    if (!sheet || (program && begins_with_program(sheet, program))) {
        free(program);
        return sheet;
    }
    snprintf(why, room,
             "the program in this sheet is not the one that this student was asked about, so nothing is compared: it "
             "must be "
             "the sheet of ferry handout, with the same --secret, saved as plain text, and only answers added");
    free(program), free(sheet);
    return NULL;
}

/* The answers of the student's variant. False, with the reason in err, if it does not tell them. */
static bool find_answers(const home *h, const lesson *l, const class_secret *secret, const char *student,
                         double seconds, question_answer answers[LESSON_QUESTIONS], char *err, size_t room)
{
    outcome out;
    char why[1024];
    run_options o = {.home = h,
                     .lesson = l,
                     .demo = true,
                     .varied = example_variants(l) > 0,
                     .variant = student_variant(secret, student, l),
                     .unrecorded = true,
                     .seed = student_seed(secret, student, l->id, 1),
                     .limits = {.seconds = seconds},
                     .stop_fd = -1};
    run(&o, &out);
    bool told = questions_answered(l, &out, answers, why, sizeof why);
    if (!told)
        snprintf(err, room, "%.700s%s", why,
                 out.end == RUN_ENVIRONMENT_ERROR ? "" : " (mend demo.c or \"vary\": ferry prove shows it)");
    outcome_free(&out);
    return told;
}

/* What a wrong or missing answer is told; "": it is right. */
static void compare(const lesson_question *q, const char *words, const question_answer *is, char *message, size_t room)
{
    char answer[24];
    long guess = question_guess(q, words);
    const char *lines = is->lines, *at = *lines ? " (line " : "", *end = *lines ? ")" : "";
    *message = '\0';
    if (guess != NO_ANSWER && guess == is->answer) return;
    if (!*words) snprintf(message, room, "no answer to: %.200s", q->ask);
    else if (guess == NO_ANSWER) snprintf(message, room, "'%.60s' does not answer: %.200s", words, q->ask);
    else
        snprintf(message, room, "%.200s: the answer was %.60s; it is %s%s%s%s", q->ask, words,
                 question_words(q, is->answer, answer), at, lines, end);
}

bool sheet_grade(const home *h, const lesson *l, const class_secret *secret, const char *student, const char *path,
                 const points_table *p, double seconds, predictions *all, char *err, size_t room)
{
    char words[64], why[1024];
    question_answer answers[LESSON_QUESTIONS];
    example_variant v = student_variant(secret, student, l);
    *all = (predictions){.count = 0};
    char *sheet = read_sheet(h, l, &v, path, why, sizeof why);
    bool known = !sheet || find_answers(h, l, secret, student, seconds, answers, err, room);
    for (int i = 0; known && i < l->question_count; i++) {
        prediction *one = &all->list[all->count];
        *words = '\0';
        snprintf(one->check, sizeof one->check, "predicted-%d", i + 1);
        snprintf(one->message, sizeof one->message, "%s", why);
        one->of = points_of(p, l->id, one->check);
        if (sheet) sheet_answer(sheet, i, words, sizeof words);
        if (!*words && one->of <= 0 && (sheet || !path)) continue;
        if (sheet) compare(&l->questions[i], words, &answers[i], one->message, sizeof one->message);
        one->points = *one->message ? 0 : one->of;
        all->points += one->points;
        all->count++;
    }
    free(sheet);
    return known;
}
