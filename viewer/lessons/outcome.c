/* outcome.c: an outcome as JSON, for the page and for `ferry grade --json`. */
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "memory.h"
#include "run.h"

/* The trace's writer replaces invalid UTF-8: the text is written by it, then parsed back. */
void json_text(cJSON *to, const char *key, const char *text, size_t size)
{
    fy_text quoted = {0};
    fy_text_json(&quoted, text, size);
    fy_text_add(&quoted, "", 1);
    if (quoted.lost) memory_fail("JSON");
    cJSON *item = cJSON_Parse(quoted.data);
    cJSON_AddItemToObject(to, key, item ? item : cJSON_CreateString(""));
    free(quoted.data);
}

static void add_number_or_null(cJSON *to, const char *key, long long value)
{
    if (value >= 0) cJSON_AddNumberToObject(to, key, (double)value);
    else cJSON_AddNullToObject(to, key);
}

static cJSON *check_json(const struct verdict_check *c)
{
    cJSON *json = cJSON_CreateObject();
    json_text(json, "check", c->name, strlen(c->name));
    cJSON_AddBoolToObject(json, "pass", c->pass);
    json_text(json, "expected", c->expected, strlen(c->expected));
    json_text(json, "got", c->got, strlen(c->got));
    json_text(json, "message", c->message, strlen(c->message));
    add_number_or_null(json, "seq", c->seq);
    add_number_or_null(json, "line", c->line);
    if (*c->limits) {
        cJSON *limit = cJSON_AddObjectToObject(json, "limit");
        cJSON_AddStringToObject(limit, "of", c->limits);
        cJSON_AddNumberToObject(limit, "most", c->most);
        cJSON_AddNumberToObject(limit, "used", c->used);
    }
    return json;
}

static void add_board(cJSON *to, const board *b, const char *of)
{
    if (!b->count) return;
    cJSON *json = cJSON_AddObjectToObject(to, "board");
    cJSON_AddStringToObject(json, "of", of);
    cJSON *all = cJSON_AddArrayToObject(json, "best");
    for (int i = 0; i < b->count; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "used", b->best[i].used);
        cJSON_AddNumberToObject(one, "attempt", b->best[i].attempt);
        cJSON_AddBoolToObject(one, "latest", i == b->latest);
        cJSON_AddItemToArray(all, one);
    }
}

cJSON *outcome_json(const outcome *out)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddBoolToObject(json, "pass", out->end == RUN_PASSED);
    json_text(json, "message", out->message, strlen(out->message));
    json_text(json, "hint", out->hint, strlen(out->hint));
    json_text(json, "file", out->file, strlen(out->file));
    json_text(json, "source", out->source, strlen(out->source));
    add_number_or_null(json, "line", out->line);
    add_number_or_null(json, "seq", out->seq);
    json_text(json, "event", out->event, strlen(out->event));
    json_text(json, "expected", out->expected, strlen(out->expected));
    json_text(json, "got", out->got, strlen(out->got));
    cJSON *checks = cJSON_AddArrayToObject(json, "checks");
    int n = out->graded ? out->verdict.checks : 0;
    for (int i = 0; i < n && i < VERDICT_CHECKS; i++) cJSON_AddItemToArray(checks, check_json(&out->verdict.check[i]));
    add_board(json, &out->board, out->board_of);
    json_text(json, "output", out->output, out->kept < OUTPUT_SHOWN ? out->kept : OUTPUT_SHOWN);
    cJSON_AddNumberToObject(json, "printed", (double)out->printed);
    cJSON_AddNumberToObject(json, "seconds", out->seconds);
    cJSON_AddNumberToObject(json, "seed", (double)out->seed);
    cJSON_AddBoolToObject(json, "second", out->second);
    cJSON_AddBoolToObject(json, "stopped", out->stopped);
    return json;
}
