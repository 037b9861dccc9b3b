/* race_parts.c: see race_parts.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "race_parts.h"

uint64_t chance;

uint32_t draw(uint64_t *from, uint32_t n)
{
    *from += 0x9e3779b97f4a7c15u;
    uint64_t x = *from;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((x ^ (x >> 31)) >> 33) % n;
}

uint32_t below(uint32_t n) { return draw(&chance, n); }

struct race_run trial;

float mirror[BUFFERS][SIDE * SIDE];

int wrong;

fy_stream *streams[MOST_QUEUES];

fy_tensor *buffers[BUFFERS];

fy_event *events[EVENTS];

struct record_place recorded_at[EVENTS];

int busy;

uint64_t pace;

bool asks;

bool is_pinned(int b) { return b < 2; }

bool is_other(int b) { return b == 4; }

bool is_of_other(int queue) { return queue >= OTHER; }

void say(const char *format, ...)
{
    va_list list;
    size_t n = strlen(trial.text);
    va_start(list, format);
    vsnprintf(trial.text + n, sizeof trial.text - n, format, list);
    va_end(list);
}

part some_part(bool dense)
{
    return (part){(int)below(dense ? COLUMN : COLUMN + 1), (int)below(SIDE), (int)below(SIDE)};
}

uint16_t elements_of(part p)
{
    if (p.kind == WHOLE) return 0xffff;
    if (p.kind == HALF) return (uint16_t)(0xff << (p.i / 2 * 8));
    if (p.kind == ROW) return (uint16_t)(0xf << (p.i * SIDE));
    return (uint16_t)(p.kind == COLUMN ? 0x1111 << p.j : 1 << (p.i * SIDE + p.j));
}

fy_tensor *view_of(int b, part p)
{
    fy_tensor *x = buffers[b];
    if (p.kind == HALF) return fy_narrow(x, 0, p.i / 2 * 2, 2);
    if (p.kind == ROW) return fy_select(x, 0, p.i);
    if (p.kind == COLUMN) return fy_select(x, 1, p.j);
    return p.kind == ELEMENT ? fy_select(fy_select(x, 0, p.i), 0, p.j) : x;
}

void reflect(how does, int to, part p, int from, part q, float value)
{
    float taken[SIDE * SIDE];
    int n = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        if (elements_of(q) >> i & 1) taken[n++] = mirror[from][i];
    n = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        if (elements_of(p) >> i & 1) {
            mirror[to][i] = does == FILL ? value : does == PUT ? taken[n] : mirror[to][i] + taken[n];
            n++;
        }
}

void compare(int b, const float *seen, uint16_t elements)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        wrong += (elements >> i & 1) && !isnan(mirror[b][i]) && seen[i] != mirror[b][i];
}

/* ---- Ferry's events and the model's tasks ---- */

static long long number_in(const char *line, const char *key)
{
    const char *p = strstr(line, key);
    return p ? atoll(p + strlen(key)) : -1;
}

static int deed_with(long long seq)
{
    for (int i = 0; i < trial.course.deeds; i++)
        if (trial.deeds[i].seq == seq) return i;
    return -1;
}

void read_events(void)
{
    fy_text lines = {0};
    deed *newest = trial.course.deeds ? &trial.deeds[trial.course.deeds - 1] : NULL;
    while (fy_log_read(recorded_log, &recorded_cursor, &lines, 1 << 16)) continue;
    for (char *p = lines.data, *end; p && p < lines.data + lines.size; p = end + 1) {
        end = memchr(p, '\n', (size_t)(lines.data + lines.size - p));
        *end = 0;
        const char *kind = strstr(p, "\"kind\":\"") + 8;
        bool work = !strncmp(kind, "copy\"", 5) || !strncmp(kind, "op\"", 3) || !strncmp(kind, "host_read\"", 10);
        if (work && newest && newest->seq < 0) newest->seq = number_in(p, "\"seq\":");
        if (strncmp(kind, "data_race\"", 10) != 0) continue;
        int a = deed_with(number_in(p, "\"a\":")), b = deed_with(number_in(p, "\"b\":"));
        if (a < 0 || b < 0 || trial.told[a][b])
            fail_msg("a data race of unknown works, or told twice: %s\n%s", p, trial.text);
        trial.told[a][b] = true;
    }
    free(lines.data);
}

deed *new_deed(bool host)
{
    deed *d = &trial.deeds[trial.course.deeds++];
    *d = (deed){.seq = -1, .host = host};
    return d;
}

void uses(deed *d, int b, part p, bool write)
{
    const fy_storage *s = buffers[b]->storage;
    d->uses[d->n++] = (use){s->addr, elements_of(p), write};
}

void to_queue(int queue)
{
    give_task(&trial.course, queue, (task){trial.course.deeds - 1, -1, 0, -1});
    trial.given++;
}

void wait_for_queue(int queue) { add_step(&trial.course, (step){WAIT, -1, queue, 0}); }
