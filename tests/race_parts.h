/* race_parts.h: what race_program.h's random programs are made of: chance, parts of buffers, what each operation
 * touches, what the buffers should hold, and what Ferry told. */
#ifndef RACE_PARTS_H
#define RACE_PARTS_H

#include <math.h>

#include "interleavings.h"
#include "log.h"
#include "recorded.h"
#include "storage.h"
#include "tensor.h"
#include "text.h"

enum { SIDE = 4, BUFFERS = 5, EVENTS = 2, MOST_DEEDS = 40, MOST_USES = 3, ASYNC = 6 };
enum { FIRST, SECOND, OTHER, OTHER_SECOND }; /* queues: two streams of cuda:0, and the same of cuda:1 */

/* ---- chance ---- */

static uint64_t chance;

static uint32_t draw(uint64_t *from, uint32_t n)
{
    *from += 0x9e3779b97f4a7c15u;
    uint64_t x = *from;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((x ^ (x >> 31)) >> 33) % n;
}

static uint32_t below(uint32_t n) { return draw(&chance, n); }

/* ---- what a program is made of ---- */

typedef struct use { /* of bytes: elements of the buffer that lies at an address */
    uint64_t addr;
    uint16_t elements;
    bool write;
} use;

typedef struct deed {
    long long seq;
    bool host;
    int n;
    use uses[MOST_USES];
} deed;

/* A freed storage that was recorded on a stream: what lies there goes to nobody before the stream got to the marker. */
typedef struct leave {
    uint64_t addr;
    int marker; /* a deed that touches nothing */
} leave;

static struct {
    course course;
    deed deeds[MOST_DEEDS];
    int lent[BUFFERS]; /* recorded on this queue; -1 */
    int nleaves;
    leave leaves[MOST_DEEDS];
    int given; /* asynchronous operations so far */
    bool told[MOST_DEEDS][MOST_DEEDS];
    char text[4000];
} run;

static float mirror[BUFFERS]
                   [SIDE * SIDE]; /* what the buffers hold, if all is done in the program's order; NaN: fill byte */
static int wrong;                 /* values that the host saw and that are not those */
static fy_stream *streams[MOST_QUEUES];
static fy_tensor *buffers[BUFFERS]; /* two page-locked, two of cuda:0, one of cuda:1 */
static fy_event *events[EVENTS];
static struct {
    int queue, at;
} recorded_at[EVENTS];
static int busy;      /* ns: how long the host may be busy between calls */
static uint64_t pace; /* another chance than the program's: it stays the same at any speed */
static bool asks;     /* may it ask whether work has ended, and record streams? What follows hangs on the time */

static bool is_pinned(int b) { return b < 2; }
static bool is_other(int b) { return b == 4; }
static bool is_of_other(int queue) { return queue >= OTHER; }

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    va_list list;
    size_t n = strlen(run.text);
    va_start(list, format);
    vsnprintf(run.text + n, sizeof run.text - n, format, list);
    va_end(list);
}

/* A part of every buffer: all, half of it, a row, a column or an element. */
typedef struct part {
    int kind, i, j;
} part;

enum { WHOLE, HALF, ROW, ELEMENT, COLUMN };

static part some_part(bool dense)
{
    return (part){(int)below(dense ? COLUMN : COLUMN + 1), (int)below(SIDE), (int)below(SIDE)};
}

static uint16_t elements_of(part p)
{
    if (p.kind == WHOLE) return 0xffff;
    if (p.kind == HALF) return (uint16_t)(0xff << (p.i / 2 * 8));
    if (p.kind == ROW) return (uint16_t)(0xf << (p.i * SIDE));
    return (uint16_t)(p.kind == COLUMN ? 0x1111 << p.j : 1 << (p.i * SIDE + p.j));
}

static fy_tensor *view_of(int b, part p)
{
    fy_tensor *x = buffers[b];
    if (p.kind == HALF) return fy_narrow(x, 0, p.i / 2 * 2, 2);
    if (p.kind == ROW) return fy_select(x, 0, p.i);
    if (p.kind == COLUMN) return fy_select(x, 1, p.j);
    return p.kind == ELEMENT ? fy_select(fy_select(x, 0, p.i), 0, p.j) : x;
}

/* ---- what the buffers should hold ---- */

typedef enum how { PUT, ADD, FILL } how;

/* Parts of one kind have as many elements, in the same order. */
static void reflect(how does, int to, part p, int from, part q, float value)
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

static void compare(int b, const float *seen, uint16_t elements)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        wrong += (elements >> i & 1) && !isnan(mirror[b][i]) && seen[i] != mirror[b][i];
}

/* ---- telling and being told ---- */

static long long number_in(const char *line, const char *key)
{
    const char *p = strstr(line, key);
    return p ? atoll(p + strlen(key)) : -1;
}

static int deed_with(long long seq)
{
    for (int i = 0; i < run.course.deeds; i++)
        if (run.deeds[i].seq == seq) return i;
    return -1;
}

/* The first copy, op or host_read is the newest launch; data races name two of them. */
static void read_events(void)
{
    fy_text lines = {0};
    deed *newest = run.course.deeds ? &run.deeds[run.course.deeds - 1] : NULL;
    while (fy_log_read(recorded_log, &recorded_cursor, &lines, 1 << 16)) continue;
    for (char *p = lines.data, *end; p && p < lines.data + lines.size; p = end + 1) {
        end = memchr(p, '\n', (size_t)(lines.data + lines.size - p));
        *end = 0;
        const char *kind = strstr(p, "\"kind\":\"") + 8;
        bool work = !strncmp(kind, "copy\"", 5) || !strncmp(kind, "op\"", 3) || !strncmp(kind, "host_read\"", 10);
        if (work && newest && newest->seq < 0) newest->seq = number_in(p, "\"seq\":");
        if (strncmp(kind, "data_race\"", 10) != 0) continue;
        int a = deed_with(number_in(p, "\"a\":")), b = deed_with(number_in(p, "\"b\":"));
        if (a < 0 || b < 0 || run.told[a][b])
            fail_msg("a data race of unknown works, or told twice: %s\n%s", p, run.text);
        run.told[a][b] = true;
    }
    free(lines.data);
}

static deed *new_deed(bool host)
{
    deed *d = &run.deeds[run.course.deeds++];
    *d = (deed){.seq = -1, .host = host};
    return d;
}

static void uses(deed *d, int b, part p, bool write)
{
    const fy_storage *s = buffers[b]->storage;
    d->uses[d->n++] = (use){s->addr, elements_of(p), write};
}

static void to_queue(int queue)
{
    give_task(&run.course, queue, (task){run.course.deeds - 1, -1, 0, -1});
    run.given++;
}

static void host_waits(int queue) { add_step(&run.course, (step){WAIT, -1, queue, 0}); }

#endif
