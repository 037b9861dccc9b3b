/* cmd_class.c: `ferry handout` writes the questions for a class; `grade-class` grades its files into a table;
 * `join-class` joins the tables of its parts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alike.h"
#include "class_lock.h"
#include "class_place.h"
#include "class_summary.h"
#include "command.h"
#include "grade_class.h"
#include "memory.h"
#include "own_check.h"
#include "prediction_sheet.h"
#include "stale_rows.h"
#include "student_name.h"

/* ---- handout ---------------------------------------------------------------------------------------------- */

/* The lessons that are named, or all; NULL-terminated, and the caller frees the list. NULL after printing an error. */
static const lesson **lessons_named(const lesson_env *s, const command *c, const char *const names[])
{
    const lesson **list = memory_zeroed((size_t)s->catalogue.count + OPTION_WORDS, sizeof *list, "the lessons");
    int n = 0;
    for (int i = 0; !names[0] && i < s->catalogue.count; i++) list[n++] = &s->catalogue.lessons[i];
    for (int i = 0; names[i]; i++) {
        const lesson *l = lessons_find(s, c, names[i]);
        if (!l) {
            free(list);
            return NULL;
        }
        list[n++] = l;
    }
    return list;
}

/* The first lesson whose questions cannot be handed out; NULL: none. */
static const lesson *mistaken(const lesson *const *lessons)
{
    while (*lessons && !*(*lessons)->mistake) lessons++;
    return *lessons;
}

/* To every student; returns how many could not get all of theirs. err: the first reason. */
static int hand_to_all(const home *h, const lesson *const *lessons, const class_secret *secret, const char *folder,
                       char **students, int count, char *err, size_t room)
{
    char why[PATH_ROOM + 256];
    int written = 0, kept = 0, failed = 0;
    for (int i = 0; i < count; i++)
        if (!sheets_write(h, lessons, secret, folder, students[i], &written, &kept, why, sizeof why) && !failed++)
            snprintf(err, room, "%.3000s", why);
    printf("%d students, %d sheets written, %d kept as they were\n", count, written, kept);
    fflush(stdout);
    return failed;
}

static bool hand_out(const home *h, const lesson *const *lessons, const options *o)
{
    char err[PATH_ROOM + 256] = "", first[PATH_ROOM];
    const char *folder = o->word[0];
    const lesson *wrong = mistaken(lessons);
    class_secret secret;
    int count = 0, failed = 0;
    if (wrong) snprintf(err, sizeof err, "lesson.json of %s: %s", wrong->id, wrong->mistake);
    bool ok = !wrong && class_secret_open(&secret, o->secret, err, sizeof err);
    char **students = ok ? class_students(folder, &count) : NULL;
    if (ok && !students) snprintf(err, sizeof err, "cannot read %.2000s: %s", folder, strerror(errno));
    else if (ok && !count)
        snprintf(err, sizeof err, "no student in %.2000s; make a folder for each: mkdir %.900s/ada", folder, folder);
    ok = ok && count;
    if (ok) failed = hand_to_all(h, lessons, &secret, folder, students, count, first, sizeof first);
    if (failed) make_printable(first);
    if (failed)
        snprintf(err, sizeof err, "%d of them did not get all sheets, the first because: %.2900s", failed, first);
    if (!ok || failed) command_error(err);
    for (int i = 0; i < count; i++) free(students[i]);
    free(students);
    return ok && !failed;
}

int command_handout(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "--secret --lessons", OPTION_WORDS)) return USAGE_ERROR;
    if (!o.word[0]) return fprintf(stderr, "usage: ferry %s %s\n", c->name, c->arguments), USAGE_ERROR;
    if (!lessons_open(&s, &o)) return NOT_PASSED;
    const lesson **lessons = lessons_named(&s, c, o.word + 1);
    int status = !lessons ? USAGE_ERROR : hand_out(&s.home, lessons, &o) ? FINE : NOT_PASSED;
    free(lessons);
    lessons_close(&s);
    return status;
}

/* ---- grade-class ------------------------------------------------------------------------------------------ */

/* "2/8": part 2 of 8. */
static bool read_shard(const char *text, int *part, int *parts)
{
    char after;
    *part = *parts = 1;
    if (!text) return true;
    return sscanf(text, "%d/%d%c", part, parts, &after) == 2 && *parts >= 1 && *parts <= 10000 && *part >= 1 &&
           *part <= *parts;
}

static bool write_junit(const char *path, const class_rows *rows, char *err, size_t room)
{
    fy_text xml = {0};
    class_junit(&xml, rows);
    bool ok = !xml.lost && file_write(path, xml.data, xml.size);
    if (!ok)
        snprintf(err, room, "cannot write %.2900s: %s; name a file in a folder you may write to, with --junit", path,
                 strerror(errno));
    free(xml.data);
    return ok;
}

/* What the file holds, in order, and of everybody what failed and what is alike. */
static bool sum_up(const class_options *how, const catalogue *lessons, const submissions *all, const options *o,
                   char *err, size_t room)
{
    class_rows rows = {0};
    bool ok = class_rows_read(&rows, how->csv, err, room);
    if (ok && !class_rows_write(&rows, how->csv)) {
        snprintf(err, room, "cannot write %.2900s: %s", how->csv, strerror(errno));
        ok = false;
    }
    if (ok) {
        class_summary(stdout, &rows, all);
        alike_print(stdout, how->home, all);
        submissions_print_unclaimed(stdout, lessons, o->word[0]);
        fflush(stdout);
        ok = !o->junit || write_junit(o->junit, &rows, err, room);
    }
    class_rows_free(&rows);
    return ok;
}

/* What a killed run had begun. */
static void print_begun(const class_rows *rows, const submissions *all)
{
    int n = 0;
    for (int i = 0; i < all->count; i++) {
        const submission *s = &all->list[i];
        n += s->begun == 1 && !class_rows_have(rows, s->name, s->lesson->id);
    }
    if (n)
        printf("%d submission%s begun when an earlier run was killed: graded last, one at a time\n", n,
               n > 1 ? "s were" : " was");
}

static bool grade(class_options *how, const catalogue *lessons, submissions *all, const options *o)
{
    char err[PATH_ROOM + 256] = "", words[4096];
    class_rows rows = {0};
    int lock = how->lock = class_lock(how->csv, err, sizeof err);
    bool ok = lock >= 0 && class_rows_read(&rows, how->csv, err, sizeof err);
    if (ok) class_lock_read(how->csv, all);
    class_protections(how, words, sizeof words);
    printf("%s\n", words);
    fflush(stdout); /* what follows forks */
    class_openness(how, lessons, all, o->word[0], words, sizeof words);
    printf("%s", words);
    if (ok && rows.count) printf("%s has results already: they count, and the rest is graded\n", how->csv);
    if (ok) print_begun(&rows, all);
    if (ok) stale_rows_print(stdout, how, &rows, all);
    fflush(stdout);
    bool complete = ok && grade_class(how, all, &rows, err, sizeof err);
    class_rows_free(&rows);
    if (ok && !complete) command_error(err); /* what there is, is summed up all the same */
    bool summed = ok && sum_up(how, lessons, all, o, err, sizeof err);
    if (!ok || (complete && !summed)) command_error(err);
    if (lock >= 0) class_unlock(lock, how->csv, grade_class_was_killed());
    return complete && summed;
}

/* Before the class: a check that does not compile would fail everybody. */
static bool build_checks(const lesson_env *s, char *err, size_t room)
{
    char object[OWN_CHECK_ROOM];
    for (int i = 0; i < s->catalogue.count; i++)
        if (*s->catalogue.lessons[i].mistake) {
            snprintf(err, room, "lesson.json of %s: %s", s->catalogue.lessons[i].id, s->catalogue.lessons[i].mistake);
            return false;
        }
    for (int i = 0; *s->home.own && i < s->catalogue.count; i++)
        if (!own_check_build(&s->home, s->catalogue.lessons[i].id, object, err, room)) return false;
    return true;
}

static bool grade_folder(const lesson_env *s, const options *o, int part, int parts)
{
    char err[PATH_ROOM + 256];
    submissions all;
    class_hidden hidden;
    class_options how = {.home = &s->home,
                         .seconds = o->seconds,
                         .jobs = o->jobs,
                         .users = class_users_find(),
                         .csv = o->csv ? o->csv : "class.csv"};
    how.hidden = class_hide(&hidden, &how.users, &s->home, o->word[0]);
    how.points = points_open(&s->home, &s->catalogue, o->points, err, sizeof err);
    bool ok = how.points && build_checks(s, err, sizeof err) &&
              class_secret_open(&how.secret, o->secret, err, sizeof err) &&
              submissions_open(&all, &s->catalogue, o->word[0], err, sizeof err);
    if (!ok) {
        command_error(err);
    } else {
        submissions_shard(&all, part, parts);
        ok = grade(&how, &s->catalogue, &all, o);
        submissions_close(&all);
    }
    points_close(how.points);
    return ok;
}

int command_grade_class(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    int part, parts;
    if (!options_read(&o, c, argc, argv, "--csv --jobs --junit --points --secret --seconds --shard --lessons", 1))
        return USAGE_ERROR;
    if (!o.word[0] || !read_shard(o.shard, &part, &parts)) {
        if (o.word[0]) fprintf(stderr, "ferry %s: --shard '%s' must be like 2/8: part 2 of 8\n", c->name, o.shard);
        fprintf(stderr, "usage: ferry %s %s\n", c->name, c->arguments);
        return USAGE_ERROR;
    }
    if (!lessons_open(&s, &o)) return NOT_PASSED;
    bool ok = grade_folder(&s, &o, part, parts);
    lessons_close(&s);
    return ok ? FINE : NOT_PASSED;
}

/* ---- join-class ------------------------------------------------------------------------------------------- */

/* Moves the rows of the file to the others; false, with the reason in err. */
static bool add_part(class_rows *rows, const char *path, char *err, size_t room)
{
    class_rows more;
    if (access(path, F_OK) != 0) {
        snprintf(err, room, "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    if (!class_rows_read(&more, path, err, room)) return false;
    int count = rows->count + more.count;
    if (more.count) {
        rows->list = memory_realloc(rows->list, (size_t)count, sizeof *rows->list, "the rows");
        memcpy(rows->list + rows->count, more.list, (size_t)more.count * sizeof *more.list);
    }
    rows->count = count;
    free(more.list); /* not what its rows hold */
    return true;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

/* Every student has rows of every lesson of which one has: prints what the tables lack, as a part may be missing. The
 * rows are sorted by student and lesson. */
static void print_gaps(const class_rows *rows, int graded)
{
    int students = 0, lessons = 0;
    for (int i = 0; i < rows->count; i++) {
        const class_row *r = &rows->list[i];
        students += i == 0 || strcmp(r[-1].student, r->student) != 0;
        int k = 0;
        while (strcmp(rows->list[k].lesson, r->lesson) != 0) k++;
        lessons += k == i;
    }
    int gaps = students * lessons - graded;
    if (gaps > 0)
        printf(
            "%d of the %d submissions of %d students for %d lessons are in none of these tables: if a part is missing, "
            "name it, too\n",
            gaps, students * lessons, students, lessons);
}

static bool join(const options *o)
{
    char err[PATH_ROOM + 512] = "";
    class_rows rows = {0};
    int files = 0, graded = 0;
    bool ok = true;
    for (int i = 1; ok && o->word[i]; i++) {
        ok = !is_same_file(o->word[0], o->word[i]);
        if (!ok)
            snprintf(err, sizeof err, "%.900s is one of the tables to join, and would be lost: name another file first",
                     o->word[0]);
    }
    while (ok && o->word[files + 1]) ok = add_part(&rows, o->word[++files], err, sizeof err);
    const class_row *twice = ok ? class_rows_twice(&rows) : NULL;
    if (twice) {
        snprintf(err, sizeof err, "%.200s's %s is in two of these tables: name each part of a class once",
                 twice->student, twice->lesson);
        ok = false;
    }
    if (ok && !class_rows_write(&rows, o->word[0])) {
        snprintf(err, sizeof err, "cannot write %.2900s: %s", o->word[0], strerror(errno));
        ok = false;
    }
    for (int i = 0; i < rows.count; i++) graded += !strcmp(rows.list[i].check, "total");
    if (ok) printf("%s: %d submissions of %d tables\n", o->word[0], graded, files);
    if (ok) print_gaps(&rows, graded);
    ok = ok && (!o->junit || write_junit(o->junit, &rows, err, sizeof err));
    if (!ok) command_error(err);
    class_rows_free(&rows);
    return ok;
}

int command_join_class(const command *c, int argc, char **argv)
{
    options o;
    if (!options_read(&o, c, argc, argv, "--junit", OPTION_WORDS)) return USAGE_ERROR;
    if (!o.word[0] || !o.word[1]) {
        fprintf(stderr, "usage: ferry %s %s\n", c->name, c->arguments);
        return USAGE_ERROR;
    }
    return join(&o) ? FINE : NOT_PASSED;
}
