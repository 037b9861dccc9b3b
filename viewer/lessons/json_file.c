/* json_file.c: see json_file.h. */
#include "json_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths.h"

static int line_of(const char *text, const char *at)
{
    int line = 1;
    for (const char *p = text; p < at; p++) line += *p == '\n';
    return line;
}

/* "my/lesson.json:4: no JSON from here on: "summary": ..." */
static void describe_mistake(const char *path, const char *text, const char *at, const char *mend, char *err,
                             size_t room)
{
    while (at > text && (size_t)(at - text) >= strlen(text)) at--; /* the text ends too early */
    at += strspn(at, " \t\r\n");
    int shown = (int)strcspn(at, "\r\n");
    if (!*at) snprintf(err, room, "%s:%d: the JSON ends too early; %s", path, line_of(text, at), mend);
    else
        snprintf(err, room,
                 "%s:%d: no valid JSON from '%.*s' on: is a comma, a quote or a bracket missing or one too many there, "
                 "or before? %s",
                 path, line_of(text, at), shown < 40 ? shown : 40, at, mend);
}

cJSON *json_file_read(const char *path, const char *mend, char *err, size_t room)
{
    char *text = file_read(path, NULL);
    const char *end = NULL;
    cJSON *json = text ? cJSON_ParseWithOpts(text, &end, false) : NULL;
    if (!text) snprintf(err, room, "cannot read %s: %s; the folder of a lesson needs this file", path, strerror(errno));
    else if (!json) describe_mistake(path, text, end ? end : text, mend, err, room);
    free(text);
    return json;
}

int json_file_rest(const char *path)
{
    char *text = file_read(path, NULL);
    const char *end = NULL;
    cJSON *json = text ? cJSON_ParseWithOpts(text, &end, false) : NULL;
    if (json) end += strspn(end, " \t\r\n");
    int line = json && *end ? line_of(text, end) : 0;
    cJSON_Delete(json);
    free(text);
    return line;
}
