/* figures.c: reads figures.jsonl and checks each line of a kind that calibration uses. Other kinds and members are
 * passed over: a later version may have more. */
#include "figures.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 }; /* of the file */
static const int64_t MOST_COPIED = (int64_t)1 << 46;

/* Members that a line of a kind must have, separated by blanks. */
static const struct kind {
    const char *name, *numbers, *words;
} kinds[] = {
    {"card", "format bytes multiprocessors threads_each", "card driver date"},
    {"launch", "ns", ""},
    {"record", "ns", ""},
    {"query", "ns", ""},
    {"launch_wait", "ns", ""},
    {"marks", "kernels ns", "stream"},
    {"queue", "launches", ""},
    {"malloc", "bytes ns", ""},
    {"free", "bytes ns", ""},
    {"pin", "bytes ns", ""},
    {"unpin", "bytes ns", ""},
    {"copy", "bytes ns", "dir host"},
    {"copy_call", "bytes ns", "dir host"},
    {"both_ways", "bytes ns", ""},
    {"memory", "bytes ns", "how"},
    {"op", "bytes flops ns", "by op dtype"},
};

const char *figures_word(const cJSON *line, const char *member)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(line, member);
    return cJSON_IsString(m) ? m->valuestring : "";
}

double figures_number(const cJSON *line, const char *member)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(line, member);
    return cJSON_IsNumber(m) ? m->valuedouble : 0;
}

bool figures_is(const cJSON *line, const char *kind) { return strcmp(figures_word(line, "figure"), kind) == 0; }

/* Is the member there, and what it must be? */
static bool check_member(const cJSON *line, const char *kind, const char *name, bool number, char *err, size_t room)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(line, name);
    double least = strcmp(name, "launches") ? 0 : -1;                 /* -1: the queue never was full */
    double most = strcmp(name, "bytes") ? 1e15 : (double)MOST_COPIED; /* more than any has; times stay below 2^63 */
    if (!m) return snprintf(err, room, "figure '%s' lacks \"%s\"", kind, name), false;
    if (!number && cJSON_IsString(m)) return true;
    if (number && cJSON_IsNumber(m) && isfinite(m->valuedouble) && m->valuedouble >= least && m->valuedouble <= most)
        return true;
    char *text = cJSON_PrintUnformatted(m);
    snprintf(err, room, "figure '%s' has \"%s\":%.40s; %s", kind, name, text ? text : "?",
             number ? "it must be a number of at least 0 that a card can have: measure it again"
                    : "it must be a word in quotes");
    cJSON_free(text);
    return false;
}

static bool check_members(const cJSON *line, const char *kind, const char *names, bool number, char *err, size_t room)
{
    char name[32];
    for (size_t n; *names; names += n, names += strspn(names, " ")) {
        n = strcspn(names, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, names);
        if (!check_member(line, kind, name, number, err, room)) return false;
    }
    return true;
}

/* Takes the line, or frees it. */
static bool take(figures *f, cJSON *line, char *err, size_t room)
{
    const char *name = figures_word(line, "figure");
    const struct kind *k = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !k; i++)
        if (strcmp(kinds[i].name, name) == 0) k = &kinds[i];
    bool ok = cJSON_IsObject(line) && *name;
    if (!ok) snprintf(err, room, "no figure: a JSON object with \"figure\"");
    if (ok && k)
        ok = check_members(line, name, k->numbers, true, err, room) &&
             check_members(line, name, k->words, false, err, room);
    if (ok && (k == &kinds[0]) != !f->card) {
        ok = false;
        snprintf(err, room,
                 f->card ? "a second figure 'card'; give the figures of one card"
                         : "figure 'card' must come first: it says whose figures these are");
    }
    if (ok && k == &kinds[0] && figures_number(line, "format") != 1) {
        ok = false;
        snprintf(err, room, "format %g; this ferry reads format 1", figures_number(line, "format"));
    }
    cJSON **more = ok && k ? realloc(f->line, (size_t)(f->n + 1) * sizeof *more) : NULL;
    if (ok && k && !more) ok = false, snprintf(err, room, "no memory left");
    if (!more) return cJSON_Delete(line), ok;
    f->line = more;
    f->line[f->n++] = line;
    if (!f->card) f->card = line;
    return true;
}

bool figures_read(figures *f, const char *path, char *err, size_t room)
{
    char *line = NULL, why[200];
    size_t size = 0, read = 0;
    int number = 0;
    bool ok = true;
    *f = (figures){0};
    FILE *file = fopen(path, "re");
    if (!file) return snprintf(err, room, "%.200s: %s", path, strerror(errno)), false;
    errno = 0;
    for (ssize_t n; ok && (n = getline(&line, &size, file)) >= 0;) {
        number++;
        read += (size_t)n;
        const char *end = NULL;
        if (line[strspn(line, " \t\r\n")] == 0) continue;
        cJSON *json = read <= MOST_BYTES && strlen(line) == (size_t)n ? cJSON_ParseWithOpts(line, &end, true) : NULL;
        snprintf(why, sizeof why, "no JSON object");
        ok = json && take(f, json, why, sizeof why);
        if (!ok) snprintf(err, room, "%.200s: line %d: %s", path, number, why);
    }
    if (ok && ferror(file)) ok = false, snprintf(err, room, "%.200s: %s", path, strerror(errno));
    if (ok && !f->card) ok = false, snprintf(err, room, "%.200s has no figures; `make gpu-check` makes them", path);
    fclose(file);
    free(line);
    return ok;
}

void figures_free(figures *f)
{
    for (int i = 0; i < f->n; i++) cJSON_Delete(f->line[i]);
    free(f->line);
    *f = (figures){0};
}
