/* class_rows.c: see class_rows.h. */
#define _GNU_SOURCE 1 /* asprintf */

#include "class_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_arena.h"
#include "memory.h"
#include "paths.h"

enum { FIELDS = 7 };
const char class_header[] = "student,lesson,check,points,event,of,message\n";

/* A spreadsheet computes what begins with = + - or @, after blanks as well. add_text puts an apostrophe before it,
 * which row_of takes off again; what has one already gets one more, so that any text comes back as it was. */
static bool is_formula(const char *text)
{
    while (*text && ((unsigned char)*text <= ' ' || *text == '\'')) text++;
    return *text && strchr("=+-@", *text);
}

/* What is no UTF-8 becomes U+FFFD, and control characters blanks: the table is read by other programs. */
static void add_field(fy_text *to, const char *text, char after)
{
    char *clean = utf8_copy((fy_bytes){text, strlen(text)});
    bool quoted = clean[strcspn(clean, ",\"\r\n")] != '\0';
    if (quoted) fy_text_add(to, "\"", 1);
    for (const char *p = clean; *p; p++) {
        bool is_control = (unsigned char)*p < ' ' && !strchr("\t\r\n", *p);
        if (*p == '"') fy_text_add(to, "\"", 1);
        fy_text_add(to, is_control ? " " : p, 1);
    }
    if (quoted) fy_text_add(to, "\"", 1);
    fy_text_add(to, &after, 1);
    free(clean);
}

/* Others' words; numbers are ours, and stay numbers. */
static void add_text(fy_text *to, const char *text, char after)
{
    char *quoted = NULL;
    if (is_formula(text) && asprintf(&quoted, "'%s", text) < 0) memory_fail("the rows of a class");
    add_field(to, quoted ? quoted : text, after);
    free(quoted);
}

static void add_number(fy_text *to, double n)
{
    char text[32];
    snprintf(text, sizeof text, "%.10g", n);
    add_field(to, text, ',');
}

void class_row_add(fy_text *to, const char *student, const char *lesson, const char *check, double points, double of,
                   int64_t event, const char *message)
{
    char number[24] = "";
    if (event >= 0) snprintf(number, sizeof number, "%" PRId64, event);
    add_text(to, student, ',');
    add_text(to, lesson, ',');
    add_text(to, check, ',');
    add_number(to, points);
    add_field(to, number, ',');
    add_number(to, of);
    add_text(to, message, '\n');
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

/* Cuts a record into its fields, in place; returns where the next one begins, NULL if this one is not complete. */
static char *cut(char *at, char *fields[FIELDS], int *count)
{
    for (*count = 0;; at++) {
        char *to = at;
        bool quoted = *at == '"';
        if (*count < FIELDS) fields[*count] = to;
        (*count)++;
        at += quoted;
        while (*at && (quoted || !strchr(",\r\n", *at))) {
            if (quoted && *at == '"' && *++at != '"') quoted = false;
            else *to++ = *at++;
        }
        if (!*at) return NULL;
        char end = *at;
        *to = '\0';
        if (end == '\r' && at[1] == '\n') at++, end = '\n';
        if (end == '\n') return at + 1;
        if (end != ',') return NULL;
    }
}

static char *text_of(const char *field)
{
    return memory_copy(field + (*field == '\'' && is_formula(field)), "the rows");
}

static class_row row_of(char *fields[FIELDS])
{
    return (class_row){.student = text_of(fields[0]),
                       .lesson = text_of(fields[1]),
                       .check = text_of(fields[2]),
                       .points = strtod(fields[3], NULL),
                       .event = *fields[4] ? strtoll(fields[4], NULL, 10) : -1,
                       .of = strtod(fields[5], NULL),
                       .message = text_of(fields[6])};
}

static void free_row(class_row *r) { free(r->student), free(r->lesson), free(r->check), free(r->message); }

/* A submission whose last row is missing was being written when the run was killed: it is graded again. */
static void drop_incomplete(class_rows *rows)
{
    int complete = 0;
    for (int i = 0, from = 0; i < rows->count; i++) {
        const class_row *r = &rows->list[i], *next = i + 1 < rows->count ? r + 1 : NULL;
        bool is_total = !strcmp(r->check, "total");
        bool ends = is_total || !next || strcmp(next->student, r->student) != 0 || strcmp(next->lesson, r->lesson) != 0;
        if (!ends) continue;
        for (int k = from; k <= i; k++) {
            if (is_total) rows->list[complete++] = rows->list[k];
            else free_row(&rows->list[k]);
        }
        from = i + 1;
    }
    rows->count = complete;
}

/* A run that was killed leaves the beginning of a record at the end of the file. If whole records follow there,
 * somebody has damaged it by hand: a quote that does not end swallows them. */
static bool swallows_records(const char *rest)
{
    char one[2048], *fields[FIELDS] = {0};
    int count = 0;
    if (strchr(rest, '\r') && !strchr(rest, '\n')) return true;
    for (const char *line = strchr(rest, '\n'); line; line = strchr(line, '\n')) {
        size_t size = strcspn(++line, "\n") + 1;
        if (size >= sizeof one || !line[size - 1]) continue;
        snprintf(one, sizeof one, "%.*s", (int)size, line);
        if (cut(one, fields, &count) && count == FIELDS) return true;
    }
    return false;
}

bool class_rows_read(class_rows *rows, const char *path, char *err, size_t room)
{
    char *fields[FIELDS] = {0}, *text = file_read(path, NULL);
    char *intact = text ? memory_copy(text, "the rows") : NULL; /* cut() writes into the other */
    int count = 0, line = 1;
    bool ok = true;
    *rows = (class_rows){0};
    if (!text && errno != ENOENT) snprintf(err, room, "cannot read %s: %s", path, strerror(errno));
    if (!text) return errno == ENOENT;
    size_t header = sizeof class_header - 2;
    for (char *at = text, *next; ok && *at; at = next, line++) {
        bool is_header = !strncmp(at, class_header, header);
        next = cut(at, fields, &count);
        if (!next && !swallows_records(intact + (at - text))) break; /* cut short: the record is not complete */
        ok = next && count == FIELDS && (line > 1 || is_header);
        if (!ok || is_header) continue;
        rows->list = memory_realloc(rows->list, (size_t)rows->count + 1, sizeof *rows->list, "the rows");
        rows->list[rows->count++] = row_of(fields);
    }
    free(text), free(intact);
    if (!ok)
        snprintf(err, room,
                 "%.900s: record %d is not of a class, or a quote in it does not end: mend it, name another file with "
                 "--csv, or remove this one",
                 path, line - 1);
    if (!ok) class_rows_free(rows);
    else drop_incomplete(rows);
    return ok;
}

/* By student and lesson; a submission's rows stay in their order. */
static int in_order(const void *a, const void *b)
{
    const class_row *x = a, *y = b;
    int by_student = strcmp(x->student, y->student), by_lesson = strcmp(x->lesson, y->lesson);
    return by_student ? by_student : by_lesson ? by_lesson : x->at - y->at;
}

static void sort(class_rows *rows)
{
    for (int i = 0; i < rows->count; i++) rows->list[i].at = i;
    if (rows->count) qsort(rows->list, (size_t)rows->count, sizeof *rows->list, in_order);
}

const class_row *class_rows_twice(class_rows *rows)
{
    const class_row *last = NULL;
    sort(rows);
    for (int i = 0; i < rows->count; i++) {
        const class_row *r = &rows->list[i];
        if (strcmp(r->check, "total") != 0) continue;
        if (last && !strcmp(last->student, r->student) && !strcmp(last->lesson, r->lesson)) return r;
        last = r;
    }
    return NULL;
}

bool class_rows_write(class_rows *rows, const char *path)
{
    fy_text text = {0};
    sort(rows);
    fy_text_add(&text, class_header, strlen(class_header));
    for (int i = 0; i < rows->count; i++) {
        const class_row *r = &rows->list[i];
        class_row_add(&text, r->student, r->lesson, r->check, r->points, r->of, r->event, r->message);
    }
    if (text.lost) memory_fail("the rows of a class");
    bool ok = file_write(path, text.data, text.size);
    free(text.data);
    return ok;
}

bool class_rows_have(const class_rows *rows, const char *student, const char *lesson)
{
    for (int i = 0; i < rows->count; i++)
        if (!strcmp(rows->list[i].student, student) && !strcmp(rows->list[i].lesson, lesson)) return true;
    return false;
}

void class_rows_free(class_rows *rows)
{
    for (int i = 0; i < rows->count; i++) free_row(&rows->list[i]);
    free(rows->list);
    *rows = (class_rows){0};
}
