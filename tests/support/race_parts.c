/* race_parts.c: see race_parts.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "race_parts.h"

uint64_t rng_state;

uint32_t rng_below(uint64_t *from, uint32_t n)
{
    *from += 0x9e3779b97f4a7c15u;
    uint64_t x = *from;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((x ^ (x >> 31)) >> 33) % n;
}

uint32_t random_below(uint32_t n) { return rng_below(&rng_state, n); }

struct race_run race_run;

float expected[BUFFERS][SIDE * SIDE];

int wrong_reads;

fy_stream *streams[MAX_QUEUES];

fy_tensor *buffers[BUFFERS];

fy_event *events[EVENTS];

struct record_place recorded_at[EVENTS];

int max_pause;

uint64_t pause_rng_state;

bool may_query;

bool is_pinned(int b) { return b < 2; }

bool is_on_card1(int b) { return b == 4; }

bool is_queue_of_card1(int queue) { return queue >= CARD1_QUEUES; }

void append_text(const char *format, ...)
{
    va_list list;
    size_t n = strlen(race_run.text);
    va_start(list, format);
    vsnprintf(race_run.text + n, sizeof race_run.text - n, format, list);
    va_end(list);
}

region random_region(bool dense)
{
    return (region){(int)random_below(dense ? COLUMN : COLUMN + 1), (int)random_below(SIDE), (int)random_below(SIDE)};
}

uint16_t elements_of(region p)
{
    if (p.kind == WHOLE) return 0xffff;
    if (p.kind == HALF) return (uint16_t)(0xff << (p.i / 2 * 8));
    if (p.kind == ROW) return (uint16_t)(0xf << (p.i * SIDE));
    return (uint16_t)(p.kind == COLUMN ? 0x1111 << p.j : 1 << (p.i * SIDE + p.j));
}

fy_tensor *view_of(int b, region p)
{
    fy_tensor *x = buffers[b];
    if (p.kind == HALF) return fy_narrow(x, 0, p.i / 2 * 2, 2);
    if (p.kind == ROW) return fy_select(x, 0, p.i);
    if (p.kind == COLUMN) return fy_select(x, 1, p.j);
    return p.kind == ELEMENT ? fy_select(fy_select(x, 0, p.i), 0, p.j) : x;
}

void update_expected(update_kind kind, int to, region p, int from, region q, float value)
{
    float values[SIDE * SIDE];
    int n = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        if (elements_of(q) >> i & 1) values[n++] = expected[from][i];
    n = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        if (elements_of(p) >> i & 1) {
            expected[to][i] = kind == FILL ? value : kind == COPY ? values[n] : expected[to][i] + values[n];
            n++;
        }
}

void compare_with_expected(int b, const float *seen, uint16_t elements)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        wrong_reads += (elements >> i & 1) && !isnan(expected[b][i]) && seen[i] != expected[b][i];
}

/* ---- Ferry's events and the model's tasks ---- */

static long long number_in(const char *line, const char *key)
{
    const char *p = strstr(line, key);
    return p ? atoll(p + strlen(key)) : -1;
}

static int operation_of_seq(long long seq)
{
    for (int i = 0; i < race_run.schedule.noperations; i++)
        if (race_run.operations[i].seq == seq) return i;
    return -1;
}

void read_events(void)
{
    fy_text lines = {0};
    operation *newest = race_run.schedule.noperations ? &race_run.operations[race_run.schedule.noperations - 1] : NULL;
    while (fy_log_read(recorded_log, &recorded_cursor, &lines, 1 << 16)) continue;
    for (char *p = lines.data, *end; p && p < lines.data + lines.size; p = end + 1) {
        end = memchr(p, '\n', (size_t)(lines.data + lines.size - p));
        *end = 0;
        const char *kind = strstr(p, "\"kind\":\"") + 8;
        bool work = !strncmp(kind, "copy\"", 5) || !strncmp(kind, "op\"", 3) || !strncmp(kind, "host_read\"", 10);
        if (work && newest && newest->seq < 0) newest->seq = number_in(p, "\"seq\":");
        if (strncmp(kind, "data_race\"", 10) != 0) continue;
        int a = operation_of_seq(number_in(p, "\"a\":")), b = operation_of_seq(number_in(p, "\"b\":"));
        if (a < 0 || b < 0 || race_run.reported[a][b])
            fail_msg("a data race of unknown works, or told twice: %s\n%s", p, race_run.text);
        race_run.reported[a][b] = true;
    }
    free(lines.data);
}

operation *new_operation(bool host)
{
    operation *d = &race_run.operations[race_run.schedule.noperations++];
    *d = (operation){.seq = -1, .host = host};
    return d;
}

void add_access(operation *d, int b, region p, bool write)
{
    const fy_storage *s = buffers[b]->storage;
    d->accesses[d->n++] = (buffer_access){s->addr, elements_of(p), write};
}

void queue_operation(int queue)
{
    queue_task(&race_run.schedule, queue, (task){race_run.schedule.noperations - 1, -1, 0, -1});
    race_run.nasync++;
}

void host_waits_for_queue(int queue) { add_step(&race_run.schedule, (step){WAIT_QUEUE, -1, queue, 0}); }
