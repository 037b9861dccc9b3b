/* recorded.c: see recorded.h. */
#include "recorded.h"

#include "line_calls.h"

fy_log *recorded_log;

uint64_t recorded_cursor;

cJSON *recorded_events;

static line_calls calls;

void recorded_start(void)
{
    char err[256] = "", text[16];
    int fd = fy_log_file(NULL, 0, err, sizeof err), mine = dup(fd);
    if (fd < 0 || mine < 0) {
        fprintf(stderr, "no log: %s\n", err);
        exit(1);
    }
    snprintf(text, sizeof text, "%d", fd);
    setenv("FERRY_LOG_FD", text, 1);
    fy_on_error(FY_RETURN);
    fy_mark("start");
    recorded_log = fy_log_open(mine, err, sizeof err);
    close(mine);
    if (!recorded_log) {
        fprintf(stderr, "no log: %s\n", err);
        exit(1);
    }
}

void recorded_end(void)
{
    cJSON_Delete(recorded_events);
    recorded_events = NULL;
    line_calls_free(&calls);
    fy_log_close(recorded_log);
}

int record_on_sim(void **state)
{
    (void)state;
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    return 0;
}

int record_no_more(void **state)
{
    (void)state;
    recorded_end();
    return 0;
}

const char *event_kind_of(const cJSON *e) { return cJSON_GetStringValue(cJSON_GetObjectItem(e, "kind")); }

void recorded_read(void)
{
    fy_text lines = {0};
    while (fy_log_read(recorded_log, &recorded_cursor, &lines, 1 << 16)) continue;
    if (!recorded_events) recorded_events = cJSON_CreateArray();
    for (const char *p = lines.data, *end; p && p < lines.data + lines.size; p = end + 1) {
        end = memchr(p, '\n', (size_t)(lines.data + lines.size - p));
        cJSON *e = end ? cJSON_ParseWithLength(p, (size_t)(end - p))
                       : NULL; /* cJSON_Parse would call strlen on all remaining text */
        if (!e) abort();
        line_calls_place(&calls, e);
        if (strcmp(event_kind_of(e), "source") != 0) cJSON_AddItemToArray(recorded_events, e);
        else cJSON_Delete(e);
    }
    free(lines.data);
}

void since(void)
{
    recorded_read();
    cJSON_Delete(recorded_events);
    recorded_events = NULL;
}

const char *kinds(void)
{
    static char text[4096];
    const cJSON *e;
    recorded_read();
    text[0] = 0;
    cJSON_ArrayForEach(e, recorded_events)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", text[0] ? " " : "", event_kind_of(e));
    return text;
}

const cJSON *event_of(const char *kind, int n)
{
    const cJSON *e;
    recorded_read();
    cJSON_ArrayForEach(e, recorded_events) if (strcmp(event_kind_of(e), kind) == 0 && n-- == 0) return e;
    return NULL;
}

const cJSON *field(const cJSON *e, const char *path)
{
    char name[64];
    while (e && *path) {
        size_t n = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        e = cJSON_IsArray(e) ? cJSON_GetArrayItem(e, atoi(name)) : cJSON_GetObjectItem(e, name);
        path += path[n] ? n + 1 : n;
    }
    return e;
}

const char *text_of(const cJSON *e, const char *path)
{
    const char *s = cJSON_GetStringValue(field(e, path));
    return s ? s : "";
}

double number_of(const cJSON *e, const char *path)
{
    const cJSON *f = field(e, path);
    return cJSON_IsNumber(f) ? f->valuedouble : -1;
}

double element(fy_tensor *x, int64_t i)
{
    double value = 0;
    FY_SCOPE
    {
        fy_tensor *on_host = fy_contiguous(fy_cpu(x));
        value = fy_real_at(fy_dtype_of(on_host), fy_data(on_host), i);
    }
    return value;
}

bool holds(fy_tensor *x, size_t n, const double *want)
{
    if (!x || fy_numel(x) != (int64_t)n) return false;
    for (size_t i = 0; i < n; i++)
        if (element(x, (int64_t)i) != want[i]) {
            fprintf(stderr, "element %zu is %.9g, not %.9g\n", i, element(x, (int64_t)i), want[i]);
            return false;
        }
    return true;
}

bool has_shape(fy_tensor *x, size_t n, const int64_t *want)
{
    if (!x || fy_dim(x) != (int)n) return false;
    for (size_t i = 0; i < n; i++)
        if (fy_size(x, (int)i) != want[i]) return false;
    return true;
}

bool has_strides(fy_tensor *x, size_t n, const int64_t *want)
{
    if (!x || fy_dim(x) != (int)n) return false;
    for (size_t i = 0; i < n; i++)
        if (fy_stride(x, (int)i) != want[i]) return false;
    return true;
}

bool failed_with(const char *words)
{
    bool found = fy_error() && strstr(fy_error(), words);
    if (!found) fprintf(stderr, "wanted: %s\nfound:  %s\n", words, fy_error() ? fy_error() : "no error");
    fy_clear_error();
    return found;
}
