/* submissions.c: see submissions.h. */
#include "submissions.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "memory.h"
#include "prediction_sheet.h"
#include "student_name.h"

static bool is_student(const struct dirent *e, const char *folder)
{
    char path[PATH_ROOM];
    struct stat st;
    snprintf(path, sizeof path, "%.2500s/%s", folder, e->d_name);
    return e->d_name[0] != '.' && lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

char **class_students(const char *folder, int *count)
{
    DIR *dir = opendir(folder);
    char **names = dir ? memory_zeroed(1, sizeof *names, "the students") : NULL;
    *count = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (!is_student(e, folder)) continue;
        names = memory_realloc(names, (size_t)*count + 2, sizeof *names, "the students");
        names[(*count)++] = memory_copy(e->d_name, "the students");
        names[*count] = NULL;
    }
    if (dir) closedir(dir);
    if (names) qsort(names, (size_t)*count, sizeof *names, by_name);
    return names;
}

/* In the folder or in its my/; from 1: in my/ alone. */
static char *file_below(const char *folder, const lesson *l, const char *ending, int from)
{
    static const char *const below[] = {"", "/my"};
    char path[PATH_ROOM];
    struct stat st;
    for (int i = from; i < 2; i++) {
        snprintf(path, sizeof path, "%.2500s%s", folder, below[i]);
        if (lstat(path, &st) != 0 || (i && !S_ISDIR(st.st_mode))) continue; /* my may be a link to another's */
        snprintf(path, sizeof path, "%.2500s%s/%s%s", folder, below[i], l->id, ending);
        if (lstat(path, &st) == 0 && S_ISREG(st.st_mode)) return memory_copy(path, "a submission");
    }
    return NULL;
}

char *submission_file(const char *folder, const lesson *l, const char *ending)
{
    return file_below(folder, l, ending, 0);
}

/* Its sheet: one with answers before a blank one, which may lie where it was handed out. */
static char *sheet_in(const char *folder, const lesson *l)
{
    char *sheet = file_below(folder, l, ".predict.c", 0);
    char *other = sheet && sheet_is_blank(sheet) ? file_below(folder, l, ".predict.c", 1) : NULL;
    if (!other) return sheet;
    free(sheet);
    return other;
}

enum { MOST_BYTES = 1 << 20 }; /* of a file; the longest solution has 3 KiB */

/* A huge file, even a sparse one, would take the memory that the others need. */
static void refuse_large(submission *s)
{
    struct stat st;
    if (!s->path || stat(s->path, &st) != 0 || st.st_size <= MOST_BYTES) return;
    snprintf(s->refused, sizeof s->refused,
             "the file has %lld bytes, and at most %d are read: hand in the C file alone", (long long)st.st_size,
             MOST_BYTES);
}

submission submission_of(const char *folder, const char *student, const lesson *l)
{
    submission s = {.student = memory_copy(student, "a submission"),
                    .name = student_name(student),
                    .lesson = l,
                    .path = submission_file(folder, l, ".c"),
                    .sheet = sheet_in(folder, l)};
    refuse_large(&s);
    return s;
}

void submission_free(submission *s) { free(s->student), free(s->name), free(s->path), free(s->sheet); }

/* Anything of a lesson: a program, or a sheet with answers. */
static bool has_handed_in(const char *folder, const char *student, const lesson *l)
{
    char theirs[PATH_ROOM];
    snprintf(theirs, sizeof theirs, "%.2000s/%.255s", folder, student);
    char *path = submission_file(theirs, l, ".c"), *sheet = path ? NULL : sheet_in(theirs, l);
    bool any = path || (sheet && !sheet_is_blank(sheet));
    free(path), free(sheet);
    return any;
}

static void add(submissions *s, const char *folder, const char *student, const lesson *l)
{
    char theirs[PATH_ROOM];
    snprintf(theirs, sizeof theirs, "%.2000s/%.255s", folder, student);
    s->list = memory_realloc(s->list, (size_t)s->count + 1, sizeof *s->list, "the submissions");
    s->list[s->count++] = submission_of(theirs, student, l);
}

static void add_student(submissions *s, const catalogue *c, const char *folder, const char *student, const bool *asked)
{
    for (int i = 0; i < c->count; i++)
        if (asked[i]) add(s, folder, student, &c->lessons[i]);
}

bool submissions_open(submissions *s, const catalogue *c, const char *folder, char *err, size_t room)
{
    *s = (submissions){0};
    char **names = class_students(folder, &s->students);
    if (!names) {
        snprintf(err, room, "cannot read %s: %s", folder, strerror(errno));
        return false;
    }
    bool *asked = memory_zeroed((size_t)c->count, sizeof *asked, "the submissions");
    bool any = false;
    for (int n = 0; names[n]; n++)
        for (int i = 0; i < c->count; i++) {
            bool is = has_handed_in(folder, names[n], &c->lessons[i]);
            asked[i] |= is;
            any |= is;
        }
    for (int n = 0; names[n]; n++) {
        add_student(s, c, folder, names[n], asked);
        free(names[n]);
    }
    free(names);
    free(asked);
    if (!any)
        snprintf(err, room, "no submission in %s; it holds a folder for each student, with files like STUDENT/%s.c",
                 folder, c->lessons[0].id);
    return any;
}

/* Names that somebody meant as a program: "01.c", "01.cpp", "01.c.txt". */
static bool looks_like_program(const char *name)
{
    static const char *const endings[] = {".c", ".C", ".cc", ".cpp", ".cxx", ".c++", ".c.txt", ".h.txt"};
    size_t size = strlen(name);
    for (size_t i = 0; *name != '.' && i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (size > n && !strcmp(name + size - n, endings[i])) return true;
    }
    return false;
}

/* Is it ID.c or ID.predict.c? */
static bool is_claimed(const catalogue *c, const char *name)
{
    size_t size = strlen(name), stem;
    if (size < 3 || strcmp(name + size - 2, ".c") != 0) return false;
    stem = size - (size > 10 && !strcmp(name + size - 10, ".predict.c") ? 10 : 2);
    for (int i = 0; i < c->count; i++)
        if (strlen(c->lessons[i].id) == stem && !strncmp(c->lessons[i].id, name, stem)) return true;
    return false;
}

/* The lesson that a name such as 3-Round.c or c1.c begins with the number of; NULL: none. */
static const lesson *meant_by(const catalogue *c, const char *name)
{
    char number[8], err[256];
    size_t n = strcspn(name, "0123456789"), digits = strspn(name + n, "0123456789");
    if (n > 1 || !digits || n + digits >= sizeof number) return NULL;
    snprintf(number, sizeof number, "%.*s", (int)(n + digits), name);
    *number = (char)tolower((unsigned char)*number);
    return lesson_find(c, number, err, sizeof err);
}

/* Why this entry of a folder is not graded, in words for the end of its line; NULL: it is, or it is nobody's program. */
static const char *why_unclaimed(const catalogue *c, const char *path, const char *name, bool in_class, char words[160])
{
    struct stat st;
    const lesson *l = meant_by(c, name);
    if (*name == '.' || lstat(path, &st) != 0) return NULL;
    bool is_link = S_ISLNK(st.st_mode), is_folder = is_link && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    bool is_of_class = in_class || !strcmp(name, "my"), is_named = looks_like_program(name) && !S_ISDIR(st.st_mode);
    if (is_link && is_folder && is_of_class) return " (a link: put the folder itself there)";
    if (!is_named) return NULL;
    if (in_class) return " (in nobody's folder)";
    if (is_link) return " (a link: put the file itself there)";
    if (is_claimed(c, name)) return NULL;
    *words = '\0';
    if (l) snprintf(words, 160, " (meant: %.120s.c?)", l->id);
    return words;
}

/* The folder DIR/THEIRS, or DIR itself. before: how many lines there were. */
static int print_unclaimed_of(FILE *to, const catalogue *c, const char *folder, const char *theirs, int before)
{
    char path[PATH_ROOM], one[PATH_ROOM + 260], words[160];
    struct dirent **entries = NULL;
    struct stat st;
    snprintf(path, sizeof path, "%.2000s%s%.300s", folder, *theirs ? "/" : "", theirs);
    bool is_link = *theirs && lstat(path, &st) == 0 && S_ISLNK(st.st_mode); /* to another's */
    int n = 0, count = is_link ? 0 : scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(one, sizeof one, "%s/%s", path, entries[i]->d_name);
        const char *why = why_unclaimed(c, one, entries[i]->d_name, !*theirs, words);
        char *name = student_name(entries[i]->d_name), *who = student_name(theirs);
        if (why && before + n++ == 0) fprintf(to, "\nfiles that are not graded:\n");
        if (why) fprintf(to, "  %s%s%s%s\n", who, *who ? "/" : "", name, why);
        free(name), free(who), free(entries[i]);
    }
    free(entries);
    return n;
}

int submissions_print_unclaimed(FILE *to, const catalogue *c, const char *folder)
{
    char my[320];
    int students = 0, n = print_unclaimed_of(to, c, folder, "", 0);
    char **names = class_students(folder, &students);
    for (int i = 0; i < students; i++) {
        snprintf(my, sizeof my, "%.255s/my", names[i]);
        n += print_unclaimed_of(to, c, folder, names[i], n);
        n += print_unclaimed_of(to, c, folder, my, n);
        free(names[i]);
    }
    free(names);
    return n;
}

void submissions_shard(submissions *s, int part, int parts)
{
    int kept = 0;
    for (int i = 0; i < s->count; i++) {
        if (i % parts == part - 1) {
            s->list[kept++] = s->list[i];
        } else {
            submission_free(&s->list[i]);
        }
    }
    s->count = kept;
}

void submissions_close(submissions *s)
{
    for (int i = 0; i < s->count; i++) submission_free(&s->list[i]);
    free(s->list);
    *s = (submissions){0};
}
