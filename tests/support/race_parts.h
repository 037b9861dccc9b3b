/* race_parts.h: the parts of race_program.h's random programs: random numbers, views of buffers, accesses of
 * operations, expected values, and the data races that Ferry reported. */
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

typedef struct buffer_access { /* an access to elements (a bit set) of the buffer at an address */
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

/* A freed storage that was recorded on a stream: its memory is reused only after the stream has executed the marker. */
typedef struct deferred_free {
    uint64_t addr;
    int marker; /* an operation without accesses */
} deferred_free;

extern struct race_run {
    schedule schedule;
    operation operations[MAX_OPERATIONS];
    int recorded_on[BUFFERS]; /* the queue given to fy_record_stream; -1 */
    int ndeferred_frees;
    deferred_free deferred_frees[MAX_OPERATIONS];
    int nasync; /* number of asynchronous operations */
    bool reported[MAX_OPERATIONS][MAX_OPERATIONS];
    char text[4000];
} race_run;

/* The buffers' values if everything runs in program order; NaN: undefined. */
extern float expected[BUFFERS][SIDE * SIDE];
extern int wrong_reads; /* values read by the host that differ from `expected` */
extern fy_stream *streams[MAX_QUEUES];
extern fy_tensor *buffers[BUFFERS]; /* two page-locked, two of cuda:0, one of cuda:1 */
extern fy_event *events[EVENTS];
extern struct record_place {
    int queue, at;
} recorded_at[EVENTS];
extern int max_pause;            /* ns: maximum pause of the host between calls */
extern uint64_t pause_rng_state; /* a separate generator for the pauses: the program must not depend on them */
extern bool may_query;           /* may the program query completion and record streams? It then depends on timing */
bool is_pinned(int b);
bool is_on_card1(int b);
bool is_queue_of_card1(int queue);

void append_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A view of a buffer: all, half, a row, a column or an element. */
typedef struct region {
    int kind, i, j;
} region;

enum { WHOLE, HALF, ROW, ELEMENT, COLUMN };

region random_region(bool dense);
uint16_t elements_of(region p);
fy_tensor *view_of(int b, region p);

/* ---- expected values ---- */

typedef enum update_kind { COPY, ADD, FILL } update_kind;

/* Regions of the same kind have the same number of elements, in the same order. */
void update_expected(update_kind kind, int to, region p, int from, region q, float value);
void compare_with_expected(int b, const float *seen, uint16_t elements);

/* ---- Ferry's events and the model's tasks ---- */

/* Reads the events since the last call: the first copy, op or host_read sets the newest operation's seq; data races
 * name two of these. */
void read_events(void);
operation *new_operation(bool host);
void add_access(operation *d, int b, region p, bool write);
void queue_operation(int queue);
void host_waits_for_queue(int queue);

#endif
