/* race_parts.h: the parts of race_program.h's random programs: random numbers, views of buffers, the accesses of each
 * operation, the expected values, and the data races that Ferry reported. */
#ifndef RACE_PARTS_H
#define RACE_PARTS_H

#include <math.h>

#include "interleavings.h"
#include "log.h"
#include "recorded.h"
#include "storage.h"
#include "tensor.h"
#include "text.h"

enum { SIDE = 4, BUFFERS = 5, EVENTS = 2, MAX_OPERATIONS = 40, MAX_ACCESSES = 3, MAX_ASYNC = 6 };
enum { CARD1_QUEUES = 2 }; /* queues: two streams of cuda:0, then two of cuda:1 */

/* ---- random numbers ---- */

extern uint64_t rng_state;
uint32_t rng_below(uint64_t *from, uint32_t n);
uint32_t random_below(uint32_t n);

/* ---- the program ---- */

typedef struct buffer_access { /* an access: elements (a bit set) of the buffer at an address */
    uint64_t addr;
    uint16_t elements;
    bool write;
} buffer_access;

typedef struct operation {
    long long seq;
    bool host;
    int n;
    buffer_access accesses[MAX_ACCESSES];
} operation;

/* A freed storage that was recorded on a stream: its memory is reused only after the stream has reached the marker. */
typedef struct deferred_free {
    uint64_t addr;
    int marker; /* a deed without accesses */
} deferred_free;

extern struct race_run {
    schedule schedule;
    operation operations[MAX_OPERATIONS];
    int recorded_on[BUFFERS]; /* recorded on this queue; -1 */
    int ndeferred_frees;
    deferred_free deferred_frees[MAX_OPERATIONS];
    int nasync; /* asynchronous operations so far */
    bool reported[MAX_OPERATIONS][MAX_OPERATIONS];
    char text[4000];
} race_run;

/* The buffers' values if everything runs in program order; NaN: the fill byte. */
extern float expected[BUFFERS][SIDE * SIDE];
extern int wrong_reads; /* values read by the host that differ from the mirror */
extern fy_stream *streams[MAX_QUEUES];
extern fy_tensor *buffers[BUFFERS]; /* two page-locked, two of cuda:0, one of cuda:1 */
extern fy_event *events[EVENTS];
extern struct record_place {
    int queue, at;
} recorded_at[EVENTS];
extern int max_pause;            /* ns: the host's longest pause between calls */
extern uint64_t pause_rng_state; /* a generator of its own for the pauses, so that the program does not depend on them */
extern bool may_query; /* may the program query completion and record streams? Its course then depends on time */
bool is_pinned(int b);
bool is_on_card1(int b);
bool is_queue_of_card1(int queue);

void append_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A view of a buffer: all, half of it, a row, a column or an element. */
typedef struct region {
    int kind, i, j;
} region;

enum { WHOLE, HALF, ROW, ELEMENT, COLUMN };

region random_region(bool dense);
uint16_t elements_of(region p);
fy_tensor *view_of(int b, region p);

/* ---- expected values ---- */

typedef enum update_kind { COPY, ADD, FILL } update_kind;

/* Parts of one kind have equally many elements, in the same order. */
void update_expected(update_kind kind, int to, region p, int from, region q, float value);
void compare_with_expected(int b, const float *seen, uint16_t elements);

/* ---- Ferry's events and the model's tasks ---- */

/* The first copy, op or host_read is the newest launch; data races name two of them. */
void read_events(void);
operation *new_operation(bool host);
void add_access(operation *d, int b, region p, bool write);
void queue_operation(int queue);
void host_waits_for_queue(int queue);

#endif
