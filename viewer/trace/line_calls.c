/* line_calls.c: see line_calls.h. */
#include "line_calls.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static int id_in(const cJSON *object, const char *name)
{
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(id) ? id->valueint : 0;
}

static char *copy(const char *text) { return text ? memory_copy(text, "calls") : NULL; }

static char *text_in(const cJSON *object, const char *name)
{
    return copy(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name)));
}

/* What a call leaves out is its parent's. */
static void add(line_calls *c, const cJSON *told)
{
    int parent = id_map_find(&c->ids, id_in(told, "in")), id = id_in(told, "id");
    if (id <= 0 || id_map_find(&c->ids, id) >= 0) return; /* a call may be told again */
    line_call call = {.file = text_in(told, "file"),
                      .fn = text_in(told, "fn"),
                      .line = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(told, "line")),
                      .of = id_map_find(&c->ids, id_in(told, "of"))};
    if (!call.file && parent >= 0) {
        call.line = c->all[parent].line;
        call.file = copy(c->all[parent].file);
        call.fn = copy(c->all[parent].fn);
    }
    int index = MEMORY_PUSH(c, "calls", call);
    *id_map_at(&c->ids, (uint64_t)id) = index;
}

static bool runs_node(const cJSON *event)
{
    const char *kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "kind")),
               *what = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "what"));
    return kind && what && strcmp(kind, "graph") == 0 && strcmp(what, "run") == 0;
}

void line_calls_place(line_calls *c, cJSON *event)
{
    const cJSON *told;
    cJSON_ArrayForEach(told, cJSON_GetObjectItemCaseSensitive(event, "calls")) add(c, told);
    int at = id_map_find(&c->ids, id_in(event, "call"));
    if (at >= 0 && runs_node(event) && c->all[at].of >= 0) at = c->all[at].of;
    if (at < 0 || !c->all[at].file) return;
    cJSON_AddStringToObject(event, "file", c->all[at].file);
    cJSON_AddNumberToObject(event, "line", c->all[at].line);
    if (c->all[at].fn) cJSON_AddStringToObject(event, "fn", c->all[at].fn);
}

void line_calls_free(line_calls *c)
{
    for (int i = 0; i < c->count; i++) {
        free(c->all[i].file);
        free(c->all[i].fn);
    }
    free(c->all);
    id_map_free(&c->ids);
    *c = (line_calls){0};
}
