/* allocator.c: build/tests/allocator FILE...
 *
 * Runs every scenario of the files, one JSON object per line in the format of ../shared/oracle/README.md, on the
 * caching allocator without a card, and compares the state after each step and the totals. Prints each failure with the
 * expected and the actual value. The last line, `N passed, N failed, N skipped`, sums to the number of lines. */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caching_allocator.h"
#include "device.h"
#include "event.h"

enum { MAX_ALLOCATIONS = 1000 };

typedef struct card {
    int64_t capacity, taken;
    uint64_t next;  /* address of the next segment; addresses are not reused */
    int64_t synced; /* number of synchronizations of all streams */
} card;

typedef struct scenario {
    card card;
    fy_pool *pool;
    struct {
        const char *name;
        fy_block *block; /* NULL: zero bytes */
        bool is_live;
    } allocations[MAX_ALLOCATIONS];
    int n;
    char error[400]; /* the allocator's message in this step */
    fy_block *got;   /* the block it returned */
    char complaint[1000];
} scenario;

/* ---- a card of numbers ---- */

static fy_segment_result alloc_segment(void *self, fy_segment *s)
{
    card *c = self;
    if (s->bytes > c->capacity - c->taken) return FY_SEGMENT_OOM;
    c->taken += s->bytes;
    s->addr = c->next;
    c->next += (uint64_t)s->bytes;
    return FY_SEGMENT_OK;
}

static void free_segment(void *self, fy_segment *s, bool for_room)
{
    (void)for_room;
    ((card *)self)->taken -= s->bytes;
}

static bool record(void *self, int where, fy_point *at)
{
    (void)where;
    at->when = ((card *)self)->synced;
    return true;
}

static bool passed(void *self, int where, fy_point *at)
{
    (void)where;
    return at->when < ((card *)self)->synced;
}

static void wait_for(void *self, int where, fy_point *at) { (void)self, (void)where, (void)at; }

/* ---- steps ---- */

static void complain(scenario *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void complain(scenario *s, const char *format, ...)
{
    va_list list;
    if (s->complaint[0]) return; /* keep the first one */
    va_start(list, format);
    vsnprintf(s->complaint, sizeof s->complaint, format, list);
    va_end(list);
}

static int find(scenario *s, const char *name)
{
    for (int i = s->n - 1; i >= 0; i--)
        if (s->allocations[i].is_live && !strcmp(s->allocations[i].name, name)) return i;
    return -1;
}

/* An integer from 0 to most; -1 after a complaint. */
static int64_t integer_in_range(scenario *s, const cJSON *j, const char *what, double most)
{
    double v = cJSON_IsNumber(j) ? j->valuedouble : NAN;
    if (v >= 0 && v <= most && v == floor(v)) return (int64_t)v;
    char *text = j ? cJSON_PrintUnformatted(j) : NULL;
    complain(s, "%s is %s, and should be a whole number from 0 to %.0f", what, text ? text : "missing", most);
    free(text);
    return -1;
}

static void do_alloc(scenario *s, const char *name, const cJSON *step)
{
    int64_t bytes = integer_in_range(s, cJSON_GetArrayItem(step, 2), "the size", 9e18), stream = 0;
    if (cJSON_GetArraySize(step) > 3)
        stream = integer_in_range(s, cJSON_GetArrayItem(step, 3), "the stream", FY_POOL_PLACES - 1);
    if (find(s, name) >= 0) complain(s, "'%s' is allocated already", name);
    if (s->n == MAX_ALLOCATIONS) complain(s, "more than %d allocations", MAX_ALLOCATIONS);
    if (s->complaint[0]) return;
    if (bytes) s->got = fy_pool_alloc(s->pool, bytes, (int)stream, NULL);
    if (bytes && !s->got)
        return fy_pool_oom_text(s->pool, bytes, 0, s->card.capacity, "PyTorch", s->error, sizeof s->error);
    s->allocations[s->n].name = name;
    s->allocations[s->n].block = s->got;
    s->allocations[s->n++].is_live = true;
}

static void do_free_or_record(scenario *s, const char *what, const char *name, const cJSON *step)
{
    int i = find(s, name);
    if (i < 0) return complain(s, "%s of '%s', which is not allocated", what, name);
    if (!strcmp(what, "free")) {
        if (s->allocations[i].block) fy_pool_release(s->pool, s->allocations[i].block);
        s->allocations[i].is_live = false;
        return;
    }
    int64_t stream = integer_in_range(s, cJSON_GetArrayItem(step, 2), "the stream", FY_POOL_PLACES - 1);
    if (stream >= 0 && s->allocations[i].block && !fy_pool_use(s->pool, s->allocations[i].block, (int)stream)) abort();
}

static bool matches_step(const char *what, int least, int most, const char *word, const cJSON *step)
{
    int n = cJSON_GetArraySize(step);
    return !strcmp(what, word) && n >= least && n <= most;
}

static void do_step(scenario *s, const cJSON *step)
{
    const char *what = cJSON_GetStringValue(cJSON_GetArrayItem(step, 0));
    const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(step, 1));
    if (!what) complain(s, "not a step: its first word is missing");
    else if (matches_step(what, 1, 1, "empty_cache", step)) fy_pool_empty(s->pool);
    else if (matches_step(what, 1, 1, "sync", step)) s->card.synced++;
    else if (name && matches_step(what, 3, 4, "alloc", step)) do_alloc(s, name, step);
    else if (name && (matches_step(what, 2, 2, "free", step) || matches_step(what, 3, 3, "record_stream", step)))
        do_free_or_record(s, what, name, step);
    else complain(s, "unknown step, or one of another length");
}

/* ---- state after a step ---- */

static cJSON *state_json(const scenario *s)
{
    cJSON *j = cJSON_CreateObject();
    fy_memory_stats now = fy_pool_stats(s->pool);
    if (s->got) {
        cJSON_AddNumberToObject(j, "segment", s->got->segment->number);
        cJSON_AddNumberToObject(j, "offset", (double)s->got->offset);
        cJSON_AddNumberToObject(j, "block", (double)s->got->bytes);
    }
    if (s->error[0]) cJSON_AddStringToObject(j, "error", s->error);
    cJSON_AddNumberToObject(j, "allocated", (double)now.allocated_bytes);
    cJSON_AddNumberToObject(j, "reserved", (double)now.reserved_bytes);
    cJSON_AddNumberToObject(j, "segments", (double)now.segments);
    return j;
}

static cJSON *totals_json(const scenario *s)
{
    cJSON *j = cJSON_CreateObject();
    fy_memory_stats now = fy_pool_stats(s->pool);
    cJSON_AddNumberToObject(j, "peak_allocated", (double)now.max_allocated_bytes);
    cJSON_AddNumberToObject(j, "peak_reserved", (double)now.max_reserved_bytes);
    cJSON_AddNumberToObject(j, "alloc_retries", (double)now.num_alloc_retries);
    cJSON_AddNumberToObject(j, "ooms", (double)now.num_ooms);
    return j;
}

static bool is_among(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(name, *list)) return true;
    return false;
}

/* Compares all fields of both sides except `ignored`; frees got. where: "step 3 [...]", or "the end". */
static void compare(scenario *s, const char *where, const cJSON *want, cJSON *got, const char *const *ignored)
{
    const cJSON *f;
    cJSON_ArrayForEach(f, got) if (!cJSON_HasObjectItem(want, f->string))
    {
        char *text = cJSON_PrintUnformatted(f);
        complain(s, "%s: expected no %s, got %s", where, f->string, text);
        free(text);
    }
    cJSON_ArrayForEach(f, want)
    {
        const cJSON *mine = cJSON_GetObjectItemCaseSensitive(got, f->string);
        if (is_among(f->string, ignored) || cJSON_Compare(f, mine, true)) continue;
        char *a = cJSON_PrintUnformatted(f), *b = mine ? cJSON_PrintUnformatted(mine) : NULL;
        complain(s, "%s: expected %s %s, got %s", where, f->string, a, b ? b : "none");
        free(a), free(b);
    }
    cJSON_Delete(got);
}

/* ---- a scenario ---- */

static void run_steps(scenario *s, const cJSON *trace)
{
    static const char *const ignored[] = {"step", NULL};
    const cJSON *t;
    int i = 0;
    cJSON_ArrayForEach(t, trace)
    {
        const cJSON *step = cJSON_GetObjectItem(t, "step");
        char *text = step ? cJSON_PrintUnformatted(step) : NULL, where[300];
        snprintf(where, sizeof where, "step %d %.250s", i++, text ? text : "(no step)");
        free(text);
        s->got = NULL;
        s->error[0] = 0;
        do_step(s, step);
        if (s->complaint[0]) {
            char why[sizeof s->complaint];
            snprintf(why, sizeof why, "%s", s->complaint);
            snprintf(s->complaint, sizeof s->complaint, "%s: %.600s", where, why);
        } else compare(s, where, t, state_json(s), ignored);
        if (s->complaint[0]) return;
    }
}

static void run(scenario *s, const cJSON *json)
{
    static const char *const ignored[] = {"id", "name", "note", "device_bytes", "trace", NULL};
    static const char *const totals[] = {"peak_allocated", "peak_reserved", "alloc_retries", "ooms"};
    const cJSON *trace = cJSON_GetObjectItem(json, "trace");
    s->card.capacity = integer_in_range(s, cJSON_GetObjectItem(json, "device_bytes"), "device_bytes", 9e15);
    if (cJSON_GetArraySize(trace) == 0) complain(s, "there is no trace");
    for (int i = 0; i < 4; i++)
        if (!cJSON_HasObjectItem(json, totals[i])) complain(s, "there is no %s", totals[i]);
    if (s->complaint[0]) return;
    run_steps(s, trace);
    if (!s->complaint[0]) compare(s, "the end", json, totals_json(s), ignored);
}

static bool run_line(const char *path, int number, const char *line)
{
    scenario s = {.card.next = FY_POOL_GRAIN};
    fy_pool_source source = {&s.card, alloc_segment, free_segment, record, passed, wait_for};
    cJSON *json = cJSON_ParseWithOpts(line, NULL, 1);
    const char *id = cJSON_GetStringValue(cJSON_GetObjectItem(json, "id"));
    if (!json) complain(&s, "%s:%d: this line is not JSON: %.60s", path, number, line);
    else if (!id) complain(&s, "%s:%d: this line has no id: %.60s", path, number, line);
    else if (!(s.pool = fy_pool_make(&source, FY_WORD_device))) complain(&s, "no memory");
    else run(&s, json);
    if (s.complaint[0]) printf("failed %s: %s\n", id ? id : "?", s.complaint);
    if (s.pool) fy_pool_free(s.pool);
    cJSON_Delete(json);
    return !s.complaint[0];
}

static bool run_file(const char *path, int *passes, int *fails)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t n = 0;
    if (!f) return perror(path), false;
    for (int number = 1; (n = getline(&line, &room, f)) > 0; number++) {
        line[strcspn(line, "\n")] = 0;
        if (line[strspn(line, " \t\r")] == 0) continue;
        if (run_line(path, number, line)) (*passes)++;
        else (*fails)++;
    }
    bool read = feof(f) != 0;
    if (!read) perror(path);
    free(line);
    fclose(f);
    return read;
}

int main(int argc, char **argv)
{
    int passes = 0, fails = 0;
    bool read = true;
    if (argc < 2) return fprintf(stderr, "usage: allocator FILE...\n"), 2;
    for (int i = 1; i < argc; i++) read &= run_file(argv[i], &passes, &fails);
    printf("%d passed, %d failed, 0 skipped\n", passes, fails);
    return !read ? 2 : fails || passes == 0;
}
