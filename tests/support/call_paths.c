/* call_paths.c: see call_paths.h. */
#include "call_paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static cJSON *earlier; /* calls that events told before the newest since() */

const cJSON *told(int id)
{
    const cJSON *e, *call;
    cJSON_ArrayForEach(call, earlier) if ((int)number_of(call, "id") == id) return call;
    cJSON_ArrayForEach(e, recorded_events)
        cJSON_ArrayForEach(call, field(e, "calls")) if ((int)number_of(call, "id") == id) return call;
    return NULL;
}

void begin(void)
{
    const cJSON *e, *call;
    recorded_read();
    if (!earlier) earlier = cJSON_CreateArray();
    cJSON_ArrayForEach(e, recorded_events) cJSON_ArrayForEach(call, field(e, "calls"))
        cJSON_AddItemToArray(earlier, cJSON_Duplicate(call, true));
    since();
}

static void add_call(char *text, size_t room, const cJSON *call)
{
    const char *region = text_of(call, "region"), *name = text_of(call, "name");
    size_t n = strlen(text);
    if (cJSON_HasObjectItem(call, "turns")) snprintf(text + n, room - n, "%s of %g", name, number_of(call, "turns"));
    else if (!strcmp(region, "loop")) snprintf(text + n, room - n, "%s of ?", name);
    else if (!strcmp(region, "turn")) snprintf(text + n, room - n, "%g", number_of(call, "turn"));
    else if (!strcmp(region, "item") || !strcmp(region, "batch"))
        snprintf(text + n, room - n, "%s %g", region, number_of(call, region));
    else
        snprintf(text + n, room - n, "%s%s%s", !strcmp(region, "module") ? region : "",
                 !strcmp(region, "module") ? " " : "", *name ? name : region);
}

const char *path_of(const cJSON *e)
{
    static char text[1000];
    int ids[64], n = 0;
    *text = 0;
    for (int id = (int)number_of(e, "call"); id > 0 && n < 64; id = (int)number_of(told(id), "in")) ids[n++] = id;
    while (n > 0) {
        assert_non_null(told(ids[n - 1]));
        add_call(text, sizeof text, told(ids[--n]));
        if (n) strncat(text, " > ", sizeof text - strlen(text) - 1);
    }
    return text;
}

const char *path(const char *kind, int n)
{
    const cJSON *e = event_of(kind, n);
    return e ? path_of(e) : "no such event";
}

const char *marks(void)
{
    static char text[4000];
    *text = 0;
    recorded_read();
    for (int i = 0; event_of("mark", i); i++) {
        if (i) strncat(text, "; ", sizeof text - strlen(text) - 1);
        strncat(text, path("mark", i), sizeof text - strlen(text) - 1);
    }
    return text;
}
