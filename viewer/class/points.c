/* points.c: see points.h. */
#include "points.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths.h"

/* The first value that is no number of points; NULL: all are. */
static const cJSON *wrong_value(const cJSON *all)
{
    const cJSON *checks, *check;
    cJSON_ArrayForEach(checks, all)
    {
        if (!cJSON_IsObject(checks)) return checks;
        cJSON_ArrayForEach(check, checks)
        {
            bool fits = cJSON_IsNumber(check) && check->valuedouble >= 0 && check->valuedouble < 1e6;
            if (!fits) return check;
        }
    }
    return NULL;
}

static points_table *read_points(const char *path, char *err, size_t room)
{
    char *text = file_read(path, NULL);
    cJSON *all = text ? cJSON_Parse(text) : NULL;
    const cJSON *wrong = all ? wrong_value(all) : NULL;
    if (!text) snprintf(err, room, "cannot read %s: %s; name the file of points with --points", path, strerror(errno));
    else if (!cJSON_IsObject(all)) snprintf(err, room, "%s is not a JSON object of lessons; fix it", path);
    else if (wrong)
        snprintf(err, room, "%s: \"%.60s\" must be a lesson's object of checks, or a check's points from 0 to 1000000",
                 path, wrong->string ? wrong->string : "");
    free(text);
    if (cJSON_IsObject(all) && !wrong) return all;
    cJSON_Delete(all);
    return NULL;
}

/* ---- misspelt names ----------------------------------------------------------------------------------------- */

static const lesson *lesson_named(const catalogue *c, const char *id)
{
    for (int i = 0; i < c->count; i++)
        if (!strcmp(c->lessons[i].id, id)) return &c->lessons[i];
    return NULL;
}

/* "predicted-2": of a lesson that asks so much. */
static bool is_prediction(const lesson *l, const char *check)
{
    char name[32];
    for (int i = 1; i <= l->question_count; i++) {
        snprintf(name, sizeof name, "predicted-%d", i);
        if (!strcmp(check, name)) return true;
    }
    return false;
}

/* Says what checks the lesson has. */
static void say_unknown_check(const char *path, const cJSON *checks, const lesson *l, const char *check, char *err,
                              size_t room)
{
    const cJSON *one;
    snprintf(err, room, "%.900s: %s has no check \"%.60s\"; it has", path, l->id, check);
    cJSON_ArrayForEach(one, checks)
    {
        size_t n = strlen(err);
        snprintf(err + n, room - n, "%s %s", one != checks->child ? "," : "", one->string);
    }
    size_t n = strlen(err);
    if (l->question_count) snprintf(err + n, room - n, ", predicted-1 to predicted-%d", l->question_count);
}

/* Has every lesson and check of the table a name that exists? known: the checks that do; NULL: any. */
static bool names_exist(const points_table *p, const points_table *known, const catalogue *c, const char *path,
                        char *err, size_t room)
{
    const cJSON *mine, *check;
    cJSON_ArrayForEach(mine, p)
    {
        const lesson *l = lesson_named(c, mine->string);
        const cJSON *checks = cJSON_GetObjectItemCaseSensitive(known, mine->string);
        if (!l) {
            snprintf(err, room, "%.900s: there is no lesson \"%.60s\"; the first is %s, and ferry list names all", path,
                     mine->string, c->lessons[0].id);
            return false;
        }
        cJSON_ArrayForEach(check, mine)
        {
            const char *name = check->string;
            if (!checks || is_prediction(l, name) || cJSON_GetObjectItemCaseSensitive(checks, name)) continue;
            say_unknown_check(path, checks, l, name, err, room);
            return false;
        }
    }
    return true;
}

points_table *points_open(const home *h, const catalogue *c, const char *asked, char *err, size_t room)
{
    char usual[PATH_ROOM], ignored[PATH_ROOM];
    snprintf(usual, sizeof usual, "%.3000s/points.json", h->lessons);
    const char *path = asked ? asked : usual;
    points_table *p = read_points(path, err, room),
                 *known = p && asked && !*h->own ? read_points(usual, ignored, sizeof ignored) : NULL;
    bool ok = p && names_exist(p, known, c, path, err, room);
    cJSON_Delete(known);
    if (ok) return p;
    cJSON_Delete(p);
    return NULL;
}

void points_close(points_table *p) { cJSON_Delete(p); }

double points_of(const points_table *p, const char *id, const char *check)
{
    const cJSON *one = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(p, id), check);
    return cJSON_IsNumber(one) ? one->valuedouble : 0;
}

double points_total(const points_table *p, const char *id)
{
    double total = 0;
    const cJSON *check;
    cJSON_ArrayForEach(check, cJSON_GetObjectItemCaseSensitive(p, id)) total += check->valuedouble;
    return total;
}
