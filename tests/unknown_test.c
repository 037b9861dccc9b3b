/* unknown_test.c: a log whose origin does not know something: what it cannot tell is not taken for a fact. Each golden
 * log is read with something left out, and its session says so: no finding comes that the whole log does not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <cjson/cJSON.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "event_arena.h"
#include "event_json.h"

enum { READS, FREES, ADDRESSES, SOURCES, CALLS, THINGS };
static const char *const things[THINGS] = {"reads", "frees", "addresses", "sources", "calls"};

static bool is_kind(const cJSON *e, const char *kind)
{
    const char *is = cJSON_GetStringValue(cJSON_GetObjectItem(e, "kind"));
    return is && !strcmp(is, kind);
}

static void set_knows(cJSON *session, unsigned lacks)
{
    cJSON *knows = cJSON_CreateArray();
    for (int i = 0; i < THINGS; i++)
        if (!(lacks >> i & 1)) cJSON_AddItemToArray(knows, cJSON_CreateString(things[i]));
    cJSON_DeleteItemFromObject(session, "knows");
    cJSON_AddItemToObject(session, "knows", knows);
}

/* What a log without it would have; false: not the event at all. */
static bool leave_out(cJSON *e, unsigned lacks)
{
    static const char *const sides[] = {"src", "dst"};
    if (is_kind(e, "session")) set_knows(e, lacks);
    if (lacks >> READS & 1) {
        if (is_kind(e, "host_read")) return false;
        if (is_kind(e, "op")) cJSON_DeleteItemFromObject(e, "in");
    }
    if (lacks >> FREES & 1 && (is_kind(e, "free") || is_kind(e, "drop"))) return false;
    if (lacks >> ADDRESSES & 1) {
        cJSON_DeleteItemFromObject(e, "addr");
        for (int i = 0; i < 2; i++) cJSON_DeleteItemFromObject(cJSON_GetObjectItem(e, sides[i]), "addr");
    }
    if (lacks >> SOURCES & 1 && is_kind(e, "source")) return false;
    if (lacks >> CALLS & 1) cJSON_DeleteItemFromObject(e, "calls"), cJSON_DeleteItemFromObject(e, "call");
    return true;
}

/* The lines without it, which the caller frees; in the place of what is left out stands an event that tells nothing, as
 * others name events by their seq. ends: likewise without what lies on the host's end of a copy. */
static char *without(const char *lines, unsigned lacks, bool ends, size_t *size)
{
    static const char nothing[] = "{\"seq\":%d,\"t\":0,\"kind\":\"mode\",\"th\":0,\"mode\":\"nothing\",\"on\":true}\n";
    char *out = malloc(4 * strlen(lines) + 4096), *to = out;
    int seq = 0;
    for (const char *line = lines, *end; (end = strchr(line, '\n')); line = end + 1) {
        cJSON *e = cJSON_ParseWithLength(line, (size_t)(end - line));
        assert_non_null(e);
        const char *dir = cJSON_GetStringValue(cJSON_GetObjectItem(e, "dir"));
        if (ends && dir && strcmp(dir, "d2d") != 0) cJSON_DeleteItemFromObject(e, !strcmp(dir, "h2d") ? "src" : "dst");
        int number = cJSON_GetObjectItem(e, "seq")->valueint;
        while (seq < number) to += sprintf(to, nothing, seq++); /* of golden logs the values are left out */
        if (leave_out(e, lacks)) {
            seq++;
            char *text = cJSON_PrintUnformatted(e);
            to += sprintf(to, "%s\n", text);
            cJSON_free(text);
        }
        cJSON_Delete(e);
    }
    *size = (size_t)(to - out);
    return out;
}

/* Of what was there before the log begins nobody knows who made it. */
static char *as_before(const char *lines)
{
    static const char alloc[] = "\"kind\":\"alloc\",", before[] = "\"before\":true,";
    char *out = malloc(2 * strlen(lines) + 1), *to = out;
    for (const char *at; (at = strstr(lines, alloc)); lines = at + strlen(alloc))
        to += sprintf(to, "%.*s%s%s", (int)(at - lines), lines, alloc, before);
    strcpy(to, lines);
    return out;
}

static bool has(const findings *f, const char *rule)
{
    for (int i = 0; i < f->count; i++)
        if (!strcmp(f->list[i].rule->name, rule)) return true;
    return false;
}

static void check(const char *name, const char *lines, const findings *whole, unsigned lacks, bool ends)
{
    char err[200] = "";
    size_t size;
    char *some = without(lines, lacks, ends, &size);
    findings f;
    if (!findings_of_lines(&f, some, size, err, sizeof err)) fail_msg("%s without %#x: %s", name, lacks, err);
    for (int i = 0; i < f.count; i++)
        if (!has(whole, f.list[i].rule->name))
            fail_msg("%s without %#x%s: %s, %s", name, lacks, ends ? " and ends" : "", f.list[i].rule->name,
                     f.list[i].what);
    if (lacks & ~(1u << SOURCES) && !strstr(f.note, "does not know of")) fail_msg("%s: %s", name, f.note);
    findings_free(&f);
    free(some);
}

static char *text_of_file(const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "tests/golden/%s", name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    size_t size = (size_t)ftell(f);
    rewind(f);
    char *text = calloc(size + 1, 1);
    assert_int_equal(fread(text, 1, size, f), size);
    fclose(f);
    return text;
}

static void what_is_not_known_is_no_finding(void **state)
{
    (void)state;
    DIR *d = opendir("tests/golden");
    int logs = 0, found = 0;
    assert_non_null(d);
    for (const struct dirent *entry; (entry = readdir(d));) {
        const char *end = strrchr(entry->d_name, '.');
        if (!end || strcmp(end, ".jsonl") != 0) continue;
        char *text = text_of_file(entry->d_name), err[200];
        size_t size;
        char *lines = without(text, 0, false, &size);
        findings whole;
        if (!findings_of_lines(&whole, lines, strlen(lines), err, sizeof err)) fail_msg("%s: %s", entry->d_name, err);
        for (int i = 0; i < THINGS; i++) check(entry->d_name, lines, &whole, 1u << i, false);
        check(entry->d_name, lines, &whole, 1u << READS, true);
        check(entry->d_name, lines, &whole, (1u << THINGS) - 1, true);
        found += whole.count;
        findings_free(&whole);
        free(lines);
        free(text);
        logs++;
    }
    closedir(d);
    assert_true(logs > 80 && found > 50);
}

static void replace_all(char *text, const char *from, const char *to)
{
    assert_int_equal(strlen(from), strlen(to));
    for (char *at = text; (at = strstr(at, from)); at += strlen(to)) memcpy(at, to, strlen(to));
}

/* A device has the name that its log gives it, in findings too, and nobody is said to have made what was there. */
static void devices_and_storages_of_others_are_told_as_they_are(void **state)
{
    (void)state;
    char err[200];
    size_t size;
    findings mine, theirs;
    char *text = text_of_file("demo-03-round-trip.jsonl"), *lines = without(text, 0, false, &size),
         *other = strdup(lines);
    replace_all(other, "\"cuda:0\"", "\"tpu:07\"");
    assert_true(findings_of_lines(&mine, lines, size, err, sizeof err));
    if (!findings_of_lines(&theirs, other, size, err, sizeof err)) fail_msg("%s", err);
    assert_int_equal(mine.count, theirs.count);
    assert_true(mine.count > 3);
    bool named = false;
    for (int i = 0; i < mine.count; i++) {
        named |= strstr(mine.list[i].what, "cuda:0") != NULL;
        replace_all(mine.list[i].what, "cuda:0", "tpu:07");
        assert_string_equal(mine.list[i].what, theirs.list[i].what);
    }
    assert_true(named);
    char *old = as_before(lines);
    findings of_old;
    if (!findings_of_lines(&of_old, old, strlen(old), err, sizeof err)) fail_msg("%s", err);
    assert_true(has(&mine, "created-then-moved") && !has(&of_old, "created-then-moved"));
    findings_free(&of_old);
    free(old);
    findings_free(&mine);
    findings_free(&theirs);
    free(text);
    free(lines);
    free(other);
}

#define SESSION \
    "{\"seq\":0,\"t\":0,\"kind\":\"session\",\"th\":0,\"schema\":2,\"ferry\":\"0\",\"program\":\"p\"," \
    "\"clock\":\"measured\",\"seed\":0"

static line_says says(const char *line, char *err, size_t room)
{
    fy_event e;
    event_arena *a = event_arena_make(false);
    line_says is = event_of_line(a, line, strlen(line), &e, err, room);
    event_arena_free(a);
    return is;
}

static void a_field_of_others_is_no_mistake(void **state)
{
    (void)state;
    char err[200];
    assert_int_equal(says(SESSION ",\"x_tool\":{\"name\":\"nsys\"},\"x_n\":1}", err, sizeof err), LINE_EVENT);
    assert_int_equal(says(SESSION ",\"tool\":1}", err, sizeof err), LINE_LOOSE);
    assert_non_null(strstr(err, "\"tool\" is not in the schema"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_known_is_no_finding),
        cmocka_unit_test(devices_and_storages_of_others_are_told_as_they_are),
        cmocka_unit_test(a_field_of_others_is_no_mistake),
    };
    return cmocka_run_group_tests_name("unknown", tests, NULL, NULL);
}
