/* class_summary.c: see class_summary.h. */
#include "class_summary.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { MOST_NAMED = 10 };

/* ---- results ------------------------------------------------------------------------------------------------ */

typedef struct tally {
    const char *lesson, *check;
    int failed;
} tally;

static int most_failed_first(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    if (x->failed != y->failed) return y->failed - x->failed;
    int by_lesson = strcmp(x->lesson, y->lesson);
    return by_lesson ? by_lesson : strcmp(x->check, y->check);
}

/* A failed check has a message; "total" is the sum. */
static bool is_failure(const class_row *r) { return *r->message && strcmp(r->check, "total") != 0; }

static int tally_failures(const class_rows *rows, tally *list)
{
    int n = 0;
    for (int i = 0; i < rows->count; i++) {
        const class_row *r = &rows->list[i];
        if (!is_failure(r)) continue;
        int k = 0;
        while (k < n && (strcmp(list[k].lesson, r->lesson) != 0 || strcmp(list[k].check, r->check) != 0)) k++;
        if (k == n) list[n++] = (tally){r->lesson, r->check, 0};
        list[k].failed++;
    }
    qsort(list, (size_t)n, sizeof *list, most_failed_first);
    return n;
}

void class_summary(FILE *to, const class_rows *rows, const submissions *all)
{
    int passed = 0, graded = 0;
    for (int i = 0; i < rows->count; i++) {
        if (strcmp(rows->list[i].check, "total") != 0) continue;
        graded++;
        passed += !strcmp(rows->list[i].message, "passed");
    }
    fprintf(to, "%d students, %d submissions graded, %d passed\n", all->students, graded, passed);
    tally *list = memory_zeroed((size_t)rows->count + 1, sizeof *list, "the summary");
    int n = tally_failures(rows, list);
    if (n) fprintf(to, "\nchecks most often failed:\n");
    for (int i = 0; i < n && i < MOST_NAMED; i++)
        fprintf(to, "  %4d  %s %s\n", list[i].failed, list[i].lesson, list[i].check);
    free(list);
}

/* ---- JUnit ---------------------------------------------------------------------------------------------------- */

static void add(fy_text *to, const char *text) { fy_text_add(to, text, strlen(text)); }

static void add_escaped(fy_text *to, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p == '&') add(to, "&amp;");
        else if (*p == '<') add(to, "&lt;");
        else if (*p == '>') add(to, "&gt;");
        else if (*p == '"') add(to, "&quot;");
        else if ((unsigned char)*p >= ' ' || *p == '\t') fy_text_add(to, p, 1);
        else add(to, " ");
    }
}

static void add_attribute(fy_text *to, const char *name, const char *value)
{
    add(to, " ");
    add(to, name);
    add(to, "=\"");
    add_escaped(to, value);
    add(to, "\"");
}

static void add_suite(fy_text *to, const class_row *rows, int count)
{
    char numbers[80];
    int failures = 0, tests = 0;
    for (int i = 0; i < count; i++) failures += is_failure(&rows[i]), tests += strcmp(rows[i].check, "total") != 0;
    snprintf(numbers, sizeof numbers, " tests=\"%d\" failures=\"%d\">\n", tests, failures);
    add(to, "  <testsuite");
    fy_text name = {0};
    add(&name, rows->student);
    add(&name, "/");
    fy_text_add(&name, rows->lesson, strlen(rows->lesson) + 1);
    if (!name.lost) add_attribute(to, "name", name.data);
    free(name.data);
    add(to, numbers);
    for (int i = 0; i < count; i++) {
        if (!strcmp(rows[i].check, "total")) continue;
        add(to, "    <testcase");
        add_attribute(to, "classname", rows[i].lesson);
        add_attribute(to, "name", rows[i].check);
        add(to, is_failure(&rows[i]) ? "><failure" : "/>\n");
        if (!is_failure(&rows[i])) continue;
        add_attribute(to, "message", rows[i].message);
        add(to, "/></testcase>\n");
    }
    add(to, "  </testsuite>\n");
}

void class_junit(fy_text *to, const class_rows *rows)
{
    add(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ferry\">\n");
    for (int i = 0, from = 0; i < rows->count; i++) {
        if (strcmp(rows->list[i].check, "total") != 0) continue;
        add_suite(to, &rows->list[from], i - from + 1);
        from = i + 1;
    }
    add(to, "</testsuites>\n");
}
