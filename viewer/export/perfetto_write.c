/* perfetto_write.c: the trace as JSON. Perfetto drops a slice that overlaps another of its row in part: each begins
 * when the one before has ended, as on the page. */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "perfetto_trace.h"

typedef struct writer {
    const perfetto *p;
    FILE *out;
    bool any;
} writer;

static void begin(writer *w)
{
    fputs(w->any ? ",\n" : "\n", w->out);
    w->any = true;
}

static void write_json(writer *w, const char *text, size_t size)
{
    fy_text json = {0};
    fy_text_json(&json, text, size);
    if (json.lost) memory_fail("a trace");
    fwrite(json.data, 1, json.size, w->out);
    free(json.data);
}

/* Microseconds, with the nanoseconds behind the point. */
static void write_time(writer *w, const char *key, int64_t ns)
{
    fprintf(w->out, "\"%s\":%" PRId64 ".%03d,", key, ns / 1000, (int)(ns % 1000));
}

static void write_metadata(writer *w, const char *what, int pid, int tid, const char *name, int index)
{
    begin(w);
    fprintf(w->out, "{\"ph\":\"M\",\"name\":\"%s_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":", what, pid, tid);
    write_json(w, name, strlen(name));
    fprintf(w->out, "}},\n{\"ph\":\"M\",\"name\":\"%s_sort_index\",\"pid\":%d,\"tid\":%d,\"args\":{\"sort_index\":%d}}",
            what, pid, tid, index);
}

/* ---- the head: the devices ---- */

static const char *text_in(const cJSON *o, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static void write_devices(writer *w, const cJSON *devices)
{
    const cJSON *d;
    int n = 0;
    fputs("\"deviceProperties\":[", w->out);
    cJSON_ArrayForEach(d, devices)
    {
        const cJSON *capacity = cJSON_GetObjectItemCaseSensitive(d, "capacity");
        if (strncmp(text_in(d, "name"), "cuda:", 5)) continue;
        fprintf(w->out, "%s{\"id\":%d,\"name\":", n ? "," : "", n);
        write_json(w, text_in(d, "card"), strlen(text_in(d, "card")));
        fprintf(w->out, ",\"totalGlobalMem\":%.0f}", cJSON_IsNumber(capacity) ? capacity->valuedouble : 0);
        n++;
    }
    fputs("],", w->out);
}

static void write_processes(writer *w, const cJSON *devices)
{
    const perfetto *p = w->p;
    bool seen[GPUS + MEMORIES] = {false};
    char name[192];
    const char *times = p->measured ? "measured" : "modelled";
    for (int i = 0; i < p->rows.count; i++) {
        const row *r = &p->rows.all[i];
        write_metadata(w, "thread", r->pid, r->tid, r->name,
                       r->pid == HOST && r->tid >= WAITS ? 2 * (r->tid - WAITS) + 1
                       : r->pid == HOST                  ? 2 * (r->tid - 1)
                                                         : r->tid);
        seen[r->pid] = true;
    }
    for (int i = 0; i < p->points.count; i++)
        seen[p->points.all[i].device ? GPUS + p->points.all[i].device - 1 : HOST] = true;
    for (int pid = HOST; pid < GPUS + MEMORIES; pid++) {
        const char *card = text_in(cJSON_GetArrayItem(devices, pid - GPUS + 1), "card");
        if (!seen[pid]) continue;
        if (pid == HOST) snprintf(name, sizeof name, "Host (%s times)", times);
        else if (pid == BUS) snprintf(name, sizeof name, "Bus (%s times)", times);
        else snprintf(name, sizeof name, "GPU %d: %.100s (%s times)", pid - GPUS, *card ? card : "card", times);
        write_metadata(w, "process", pid, 0, name, pid);
    }
}

/* ---- slices and flows ---- */

static int by_row(const void *a, const void *b)
{
    const slice *x = a, *y = b;
    if (x->pid != y->pid) return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid) return x->tid < y->tid ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Sorts the slices, and cuts those that begin before the one in front of them has ended; returns where each is by now. */
static int *settle(perfetto *p, uint64_t *shortened)
{
    int *placed = memory_realloc(NULL, (size_t)p->slices.count + 1, sizeof *placed, "a trace");
    if (p->slices.count) qsort(p->slices.all, (size_t)p->slices.count, sizeof *p->slices.all, by_row);
    for (int i = 0; i < p->slices.count; i++) {
        slice *s = &p->slices.all[i], *before = i ? s - 1 : NULL;
        placed[s->number] = i;
        if (!before || before->pid != s->pid || before->tid != s->tid || s->from >= before->until) continue;
        ++*shortened;
        s->from = before->until;
        if (s->until < s->from) s->until = s->from;
    }
    return placed;
}

static void write_slices(writer *w)
{
    for (int i = 0; i < w->p->slices.count; i++) {
        const slice *s = &w->p->slices.all[i];
        begin(w);
        fprintf(w->out, "{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,", s->pid, s->tid);
        write_time(w, "ts", s->from);
        write_time(w, "dur", s->until - s->from);
        fwrite(w->p->text.data + s->text.at, 1, s->text.size, w->out);
        putc('}', w->out);
    }
}

static void write_flow_end(writer *w, const flow *f, int id, const slice *at, bool last)
{
    begin(w);
    fprintf(w->out, "{\"ph\":\"%s\",\"cat\":\"%s\",\"name\":\"%s\",\"id\":%d,\"pid\":%d,\"tid\":%d,", last ? "f" : "s",
            f->cat, f->cat, id, at->pid, at->tid);
    write_time(w, "ts", at->from);
    fputs(last ? "\"bp\":\"e\"}" : "\"args\":{}}", w->out);
}

/* Of work that never completed there is no slice, and so no flow. */
static void write_flows(writer *w, const int *placed)
{
    const perfetto *p = w->p;
    for (int i = 0; i < p->flows.count; i++) {
        const flow *f = &p->flows.all[i];
        int from = f->from_work >= 0 ? p->works.all[f->from_work].slice : f->from_slice;
        int to = f->to_work >= 0 ? p->works.all[f->to_work].slice : f->to_slice;
        if (from < 0 || to < 0) continue;
        write_flow_end(w, f, i + 1, &p->slices.all[placed[from]], false);
        write_flow_end(w, f, i + 1, &p->slices.all[placed[to]], true);
    }
}

/* ---- lifetimes, counters, moments ---- */

static int pid_of(int device) { return device ? GPUS + device - 1 : HOST; }

static void write_life(writer *w, const life *l, bool end)
{
    const piece *name = l->name >= 0 ? &w->p->name_at.all[l->name] : NULL;
    begin(w);
    fprintf(w->out, "{\"ph\":\"%s\",\"cat\":\"tensor\",\"id\":\"0x%x\",\"pid\":%d,\"tid\":0,\"name\":", end ? "e" : "b",
            l->storage, pid_of(l->device));
    if (name) write_json(w, w->p->names.data + name->at, name->size);
    else fprintf(w->out, "\"storage %u\"", l->storage);
    putc(',', w->out);
    write_time(w, "ts", end ? (l->until >= 0 ? l->until : w->p->end) : l->from);
    fprintf(w->out, "\"args\":{\"Addr\":\"0x%" PRIx64 "\",\"Bytes\":%" PRId64 "}}", l->addr, l->bytes);
}

static void write_rest(writer *w)
{
    const perfetto *p = w->p;
    for (int i = 0; i < p->lives.count; i++)
        write_life(w, &p->lives.all[i], false), write_life(w, &p->lives.all[i], true);
    for (int i = 0; i < p->points.count; i++) {
        const point *at = &p->points.all[i];
        begin(w);
        fprintf(w->out, "{\"ph\":\"C\",\"name\":\"%s\",\"pid\":%d,\"tid\":0,", at->device ? "GPU memory" : "CPU memory",
                pid_of(at->device));
        write_time(w, "ts", at->t);
        fprintf(w->out, "\"args\":{\"in use (bytes)\":%" PRId64 ",\"%s (bytes)\":%" PRId64 "}}", at->live,
                at->device ? "reserved" : "page-locked", at->reserved);
    }
    for (int i = 0; i < p->moments.count; i++) {
        const moment *m = &p->moments.all[i];
        begin(w);
        fprintf(w->out, "{\"ph\":\"i\",\"s\":\"t\",\"pid\":%d,\"tid\":%d,", HOST, m->tid);
        write_time(w, "ts", m->t);
        fwrite(p->text.data + m->text.at, 1, m->text.size, w->out);
        putc('}', w->out);
    }
}

void perfetto_write(perfetto *p, const char *name, FILE *out, uint64_t *shortened)
{
    writer w = {.p = p, .out = out};
    *shortened = 0;
    int *placed = settle(p, shortened);
    cJSON *devices = cJSON_ParseWithLength(p->devices.data ? p->devices.data : "", p->devices.size);
    fprintf(out, "{\"schemaVersion\":1,");
    write_devices(&w, devices);
    fprintf(out, "\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":0,\"traceName\":");
    write_json(&w, name, strlen(name));
    fprintf(out, ",\"otherData\":{\"program\":");
    write_json(&w, p->program.data ? p->program.data : "", p->program.size);
    fprintf(out, ",\"clock\":\"%s\",\"ferry\":\"%s\"},\"traceEvents\":[", p->measured ? "measured" : "model",
            FERRY_VERSION);
    write_processes(&w, devices);
    write_slices(&w);
    write_flows(&w, placed);
    write_rest(&w);
    fputs("\n]}\n", out);
    cJSON_Delete(devices);
    free(placed);
}
