/* stale_rows.c: see stale_rows.h. Six digits are of the files, three of the secret: a change escapes once in a million
 * submissions, and another secret never in a whole class. */
#include "stale_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "memory.h"

enum { OF_FILES = 1000000, OF_SECRET = 1000, MOST_NAMED = 5 };

/* ---- the number --------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211); /* FNV-1a */
    return hash;
}

static uint64_t mix_file(uint64_t hash, const char *path)
{
    size_t size = 0;
    char *text = path ? file_read(path, &size) : NULL;
    hash = mix(hash, text ? "+" : "-", 1);
    if (text) hash = mix(hash, text, size);
    free(text);
    return hash;
}

/* A huge file is not read, and a sheet without answers says nothing. */
static uint64_t hash_of_files(const submission *s)
{
    struct stat st = {0};
    bool is_huge = *s->refused && stat(s->path, &st) == 0;
    uint64_t hash = mix_file(UINT64_C(14695981039346656037), is_huge ? NULL : s->path);
    hash = mix(hash, (const char *)&st.st_size, sizeof st.st_size);
    hash = mix_file(hash, s->sheet && !sheet_is_blank(s->sheet) ? s->sheet : NULL);
    return hash ^ hash >> 32;
}

/* From 1 on. */
static int64_t number_of_secret(const class_secret *secret, const submission *s)
{
    return 1 + (int64_t)(student_seed(secret, s->student, s->lesson->id, 3) % (OF_SECRET - 1));
}

int64_t submission_fingerprint(const class_secret *secret, const submission *s)
{
    return (int64_t)(hash_of_files(s) % OF_FILES) * OF_SECRET + number_of_secret(secret, s);
}

/* ---- the comparison ------------------------------------------------------------------------------------------- */

typedef struct stale {
    int count;
    fy_text names; /* of the first */
} stale;

static void note(stale *list, const submission *s)
{
    if (list->count++ >= MOST_NAMED) return;
    fy_text_printf(&list->names, "%s%s's %s", list->count > 1 ? ", " : "", s->name, s->lesson->id);
}

static bool is_of(const class_row *r, const submission *s)
{
    return !strcmp(r->student, s->name) && !strcmp(r->lesson, s->lesson->id);
}

/* The first row of a submission, looked for from *at on, where the one before it was; NULL: none. */
static const class_row *rows_of(const class_rows *rows, const submission *s, int *at)
{
    for (int i = 0; i < rows->count; i++) {
        int k = (*at + i) % rows->count;
        if (!is_of(&rows->list[k], s)) continue;
        while (k > 0 && is_of(&rows->list[k - 1], s)) k--;
        *at = k;
        return &rows->list[k];
    }
    return NULL;
}

static bool differs(double a, double b) { return fabs(a - b) > 1e-6; }

/* Compares a submission with its rows; one that was entered by hand, or by an older Ferry, has no number. */
static void compare(const class_options *o, const class_rows *rows, const class_row *r, const submission *s,
                    stale *files, stale *secret, stale *points)
{
    bool has_other_points = false;
    for (; r < rows->list + rows->count && is_of(r, s); r++) {
        bool is_total = !strcmp(r->check, "total");
        double of = is_total ? points_total(o->points, r->lesson) : points_of(o->points, r->lesson, r->check);
        has_other_points |= (is_total || r->of > 0) && differs(r->of, of);
        if (!is_total || r->event < 0) continue;
        int64_t now = submission_fingerprint(&o->secret, s);
        if (r->event / OF_SECRET != now / OF_SECRET) note(files, s);
        if (r->event % OF_SECRET != now % OF_SECRET) note(secret, s);
        if (has_other_points) note(points, s);
    }
}

/* what: of one, and of several. */
static int print_stale(FILE *to, stale *list, const char *const what[2], const char *fix, const char *csv)
{
    fy_text_add(&list->names, "", 1);
    if (list->names.lost) memory_fail("the names of submissions");
    int more = list->count - MOST_NAMED;
    if (list->count) fprintf(to, "%d %s: %s", list->count, what[list->count > 1], list->names.data);
    if (more > 0) fprintf(to, " and %d more", more);
    if (list->count) fprintf(to, "; %s %s\n", fix, csv);
    free(list->names.data);
    return list->count > 0;
}

int stale_rows_print(FILE *to, const class_options *o, const class_rows *rows, const submissions *all)
{
    static const char *const changed[] = {"submission has changed since it was graded, and is not graded again",
                                          "submissions have changed since they were graded, and are not graded again"},
                             *const secrets[] =
                                 {"submission was graded with another --secret, and keeps its result",
                                  "submissions were graded with another --secret, and keep their results"},
                             *const other[] = {"submission was graded with other points, and keeps them",
                                               "submissions were graded with other points, and keep them"};
    stale files = {0}, secret = {0}, points = {0};
    int at = 0;
    for (int i = 0; i < all->count; i++) {
        const class_row *r = rows_of(rows, &all->list[i], &at);
        if (r) compare(o, rows, r, &all->list[i], &files, &secret, &points);
    }
    return print_stale(to, &files, changed, "to grade anew, remove the rows from", o->csv) +
           print_stale(to, &secret, secrets, "name that secret, or to grade all anew remove", o->csv) +
           print_stale(to, &points, other, "name those points, or to grade all anew remove", o->csv);
}
