/* hazard_program.h: random programs of asynchronous operations, done by Ferry and at the same time written down as a
 * course for interleavings.h, with what every operation touches and what Ferry told of it. */
#ifndef HAZARD_PROGRAM_H
#define HAZARD_PROGRAM_H

#include <math.h>

#include "interleavings.h"
#include "recorded.h"
#include "tensor.h"

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
    uint32_t storage;
    uint16_t elements;
    bool write;
} use;

typedef struct deed {
    long long seq;
    bool host;
    int n;
    use uses[MOST_USES];
} deed;

static struct {
    course course;
    deed deeds[MOST_DEEDS];
    int given; /* asynchronous operations so far */
    bool told[MOST_DEEDS][MOST_DEEDS];
    char text[4000];
} run;

static float mirror[BUFFERS][SIDE * SIDE]; /* what the buffers hold, if all is done in the program's order; NaN: junk */
static int wrong;                          /* values that the host saw and that are not those */
static fy_stream *streams[MOST_QUEUES];
static fy_tensor *buffers[BUFFERS]; /* two page-locked, two of cuda:0, one of cuda:1 */
static fy_event *events[EVENTS];
static struct {
    int queue, at;
} recorded_at[EVENTS];
static int busy;      /* ns: how long the host may be busy between calls */
static uint64_t pace; /* another chance than the program's: it stays the same at any speed */
static bool asks;     /* may it ask whether work has ended? The answer hangs on the time */

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
static void reflect(how how, int to, part p, int from, part q, float value)
{
    float taken[SIDE * SIDE];
    int n = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        if (elements_of(q) >> i & 1) taken[n++] = mirror[from][i];
    n = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        if (elements_of(p) >> i & 1) {
            mirror[to][i] = how == FILL ? value : how == PUT ? taken[n] : mirror[to][i] + taken[n];
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

/* The first copy, op or host_read is the newest deed's; hazards name two of them. */
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
        if (strncmp(kind, "hazard\"", 7) != 0) continue;
        int a = deed_with(number_in(p, "\"a\":")), b = deed_with(number_in(p, "\"b\":"));
        if (a < 0 || b < 0 || run.told[a][b]) fail_msg("a hazard of unknown works, or told twice: %s\n%s", p, run.text);
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
    d->uses[d->n++] = (use){s->addr, s->id, elements_of(p), write};
}

static void to_queue(int queue)
{
    give_task(&run.course, queue, (task){run.course.deeds - 1, -1, 0, -1});
    run.given++;
}

static void host_waits(int queue) { add_step(&run.course, (step){WAIT, -1, queue, 0}); }

/* ---- operations ---- */

static int a_queue_of(int b) { return is_other(b) ? OTHER + (int)below(2) : (int)below(2); }

/* Page-locked memory and a card's, either way. */
static void cross(bool home, bool wait)
{
    int p = (int)below(2), d = 2 + (int)below(3), queue = a_queue_of(d);
    part of = some_part(true);
    deed *made = new_deed(false);
    say("%s %d %d part %d,%d,%d queue %d%s\n", home ? "d2h" : "h2d", p, d, of.kind, of.i, of.j, queue,
        wait ? " wait" : "");
    uses(made, p, of, home);
    uses(made, d, of, !home);
    to_queue(queue);
    if (wait) host_waits(queue);
    FY_STREAM(streams[queue])
    {
        fy_tensor *host = view_of(p, of), *card = view_of(d, of);
        assert_non_null(fy_copy_(home ? host : card, home ? card : host, .non_blocking = !wait));
    }
    reflect(PUT, home ? p : d, of, home ? d : p, of, 0);
}

/* Two tensors of cuda:0, or one twice. */
static void compute(bool add)
{
    int d = 2 + (int)below(2), s = 2 + (int)below(2), queue = a_queue_of(d);
    part to = some_part(false), from = s == d ? to : (part){to.kind, (int)below(SIDE), (int)below(SIDE)};
    if (s == d && !add) s = 5 - d;
    deed *made = new_deed(false);
    say("%s %d part %d,%d,%d from %d part %d,%d,%d queue %d\n", add ? "add" : "copy", d, to.kind, to.i, to.j, s,
        from.kind, from.i, from.j, queue);
    uses(made, d, to, true);
    uses(made, s, from, false);
    if (add) uses(made, d, to, false);
    to_queue(queue);
    FY_STREAM(streams[queue])
    {
        fy_tensor *x = view_of(d, to), *y = view_of(s, from);
        assert_non_null(add ? fy_add_(x, y) : fy_copy_(x, y));
    }
    reflect(add ? ADD : PUT, d, to, s, from, 0);
}

static void fill(void)
{
    int d = 2 + (int)below(3), queue = a_queue_of(d);
    part of = some_part(false);
    deed *made = new_deed(false);
    say("fill %d part %d,%d,%d queue %d\n", d, of.kind, of.i, of.j, queue);
    uses(made, d, of, true);
    to_queue(queue);
    FY_STREAM(streams[queue]) assert_non_null(fy_fill_(view_of(d, of), (double)run.course.deeds));
    reflect(FILL, d, of, d, of, (float)run.course.deeds);
}

/* From card to card: in the order of the streams of that number of both. */
static void cross_cards(void)
{
    int d = 2 + (int)below(2), queue = (int)below(2);
    bool back = below(2);
    part of = some_part(true);
    deed *made = new_deed(false);
    say("peers %d %s 4 part %d,%d,%d queues %d, %d\n", d, back ? "from" : "to", of.kind, of.i, of.j, queue,
        queue + OTHER);
    uses(made, d, of, back);
    uses(made, 4, of, !back);
    give_task(&run.course, queue, (task){run.course.deeds - 1, -1, 0, queue + OTHER});
    give_task(&run.course, queue + OTHER, (task){run.course.deeds - 1, -1, 0, queue});
    run.given++;
    FY_STREAM(streams[back ? queue + OTHER : queue])
    {
        fy_tensor *x = view_of(d, of), *y = view_of(4, of);
        assert_non_null(back ? fy_copy_(x, y) : fy_copy_(y, x));
    }
    reflect(PUT, back ? d : 4, of, back ? 4 : d, of, 0);
}

static void look_at_card(void)
{
    int d = 2 + (int)below(3), queue = a_queue_of(d);
    part of = {ELEMENT, (int)below(SIDE), (int)below(SIDE)};
    deed *made = new_deed(false);
    say("item %d part %d,%d,%d queue %d\n", d, of.kind, of.i, of.j, queue);
    uses(made, d, of, false);
    to_queue(queue);
    host_waits(queue);
    float seen[SIDE * SIDE];
    FY_STREAM(streams[queue]) seen[of.i * SIDE + of.j] = (float)fy_item(view_of(d, of));
    compare(d, seen, elements_of(of));
}

static void host(bool write)
{
    int p = (int)below(2);
    part of = some_part(false);
    deed *made = new_deed(true);
    say("host %s %d part %d,%d,%d\n", write ? "writes" : "reads", p, of.kind, of.i, of.j);
    uses(made, p, of, write);
    add_step(&run.course, (step){DO, run.course.deeds - 1, 0, 0});
    fy_tensor *x = view_of(p, of);
    if (!write) {
        assert_non_null(fy_data(x));
        compare(p, buffers[p]->storage->data, elements_of(of));
        return;
    }
    assert_non_null(fy_fill_(x, (double)run.course.deeds));
    reflect(FILL, p, of, p, of, (float)run.course.deeds);
}

static void record(void)
{
    int e = (int)below(EVENTS), queue = (int)below(MOST_QUEUES);
    /* an event stays with the card of its first record */
    if (recorded_at[e].queue >= 0 && is_of_other(recorded_at[e].queue) != is_of_other(queue)) queue ^= OTHER;
    say("record %d queue %d\n", e, queue);
    recorded_at[e].queue = queue;
    recorded_at[e].at = give_task(&run.course, queue, (task){-1, -1, 0, -1});
    fy_event_record(events[e], streams[queue]);
}

static void await(void)
{
    int e = (int)below(EVENTS), queue = (int)below(MOST_QUEUES);
    say("wait %d queue %d\n", e, queue);
    give_task(&run.course, queue, (task){-1, recorded_at[e].queue, recorded_at[e].at, -1});
    fy_event_wait(events[e], streams[queue]);
}

static void await_stream(void)
{
    int a = (int)below(MOST_QUEUES), b = (int)below(MOST_QUEUES);
    say("queue %d waits for queue %d\n", a, b);
    give_task(&run.course, a, (task){-1, b, run.course.ntasks[b], -1});
    fy_stream_wait_stream(streams[a], streams[b]);
}

static void synchronize(void)
{
    int e = (int)below(EVENTS), queue = (int)below(MOST_QUEUES);
    uint32_t which = below(asks ? 4 : 3);
    say("synchronize %u: event %d, queue %d\n", which, e, queue);
    if (which == 0) {
        if (recorded_at[e].queue >= 0)
            add_step(&run.course, (step){ATTEND, -1, recorded_at[e].queue, recorded_at[e].at});
        fy_event_synchronize(events[e]);
    } else if (which == 1) {
        fy_cuda_set_device(is_of_other(queue));
        host_waits(queue);
        host_waits(queue ^ 1);
        fy_cuda_synchronize();
    } else {
        if (which == 2) fy_stream_synchronize(streams[queue]);
        if (which == 2 || fy_stream_query(streams[queue])) host_waits(queue);
    }
}

static fy_tensor *empty(fy_dev *d)
{
    fy_geometry g = {.dtype = FY_FLOAT32, .shape = {2, {SIDE, SIDE}}, .strides = {SIDE, 1}};
    return fy_tensor_make(NULL, fy_storage_make(NULL, d, sizeof(float) * SIDE * SIDE), &g, NULL, 0);
}

static void renew(void)
{
    int d = 2 + (int)below(3), queue = a_queue_of(d);
    fy_tensor *old = buffers[d];
    say("free and make %d anew in queue %d\n", d, queue);
    fy_free(old);
    FY_STREAM(streams[queue]) buffers[d] = empty(fy_dev_at(is_other(d) ? 2 : 1));
    for (int i = 0; i < SIDE * SIDE; i++) mirror[d][i] = NAN;
}

static void step_of_program(void)
{
    bool more = run.given < ASYNC;
    fy_clock_spend(busy ? draw(&pace, (uint32_t)busy) : 0);
    FY_SCOPE switch (below(more ? 20 : 9))
    {
    case 0: record(); break;
    case 1:
    case 2: await(); break;
    case 3: await_stream(); break;
    case 4: synchronize(); break;
    case 5: host(false); break;
    case 6: host(true); break;
    case 7:
    case 8: renew(); break;
    case 9:
    case 10:
    case 11: cross(false, false); break;
    case 12:
    case 13: cross(true, false); break;
    case 14: cross(below(2), true); break;
    case 15: look_at_card(); break;
    case 16: cross_cards(); break;
    case 17: fill(); break;
    default: compute(below(2));
    }
    read_events();
}

static void all_done(void)
{
    for (int card = 1; card >= 0; card--) {
        fy_cuda_set_device(card);
        fy_cuda_synchronize();
    }
    read_events();
}

static void begin(void)
{
    memset(&run, 0, sizeof run);
    for (int e = 0; e < EVENTS; e++) {
        fy_event_free(events[e]);
        events[e] = fy_cuda_event();
        recorded_at[e].queue = -1;
    }
    all_done();
    for (int b = 0; b < BUFFERS; b++) {
        fy_fill_(buffers[b], 100.0 + b);
        reflect(FILL, b, (part){0}, b, (part){0}, 100.0f + (float)b);
    }
    all_done();
    wrong = 0;
}

/* What is left in the buffers in the end. */
static void look_at_all(void)
{
    all_done();
    for (int b = 0; b < BUFFERS; b++) FY_SCOPE compare(b, fy_cpu(buffers[b])->storage->data, 0xffff);
}

#endif
