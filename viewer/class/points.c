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
    const cJSON *lesson, *check;
    cJSON_ArrayForEach(lesson, all)
    {
        if (!cJSON_IsObject(lesson)) return lesson;
        cJSON_ArrayForEach(check, lesson)
        {
            bool fits = cJSON_IsNumber(check) && check->valuedouble >= 0 && check->valuedouble < 1e6;
            if (!fits) return check;
        }
    }
    return NULL;
}

points_table *points_open(const char *path, char *err, size_t room)
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

void points_close(points_table *p) { cJSON_Delete(p); }

double points_of(const points_table *p, const char *lesson, const char *check)
{
    const cJSON *one = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(p, lesson), check);
    return cJSON_IsNumber(one) ? one->valuedouble : 0;
}

double points_total(const points_table *p, const char *lesson)
{
    double total = 0;
    const cJSON *check;
    cJSON_ArrayForEach(check, cJSON_GetObjectItemCaseSensitive(p, lesson)) total += check->valuedouble;
    return total;
}
