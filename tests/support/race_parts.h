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

extern uint64_t chance;
uint32_t draw(uint64_t *from, uint32_t n);
uint32_t below(uint32_t n);

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

extern struct race_run {
    course course;
    deed deeds[MOST_DEEDS];
    int lent[BUFFERS]; /* recorded on this queue; -1 */
    int nleaves;
    leave leaves[MOST_DEEDS];
    int given; /* asynchronous operations so far */
    bool told[MOST_DEEDS][MOST_DEEDS];
    char text[4000];
} trial;

/* What the buffers hold, if all is done in the program's order; NaN: fill byte. */
extern float mirror[BUFFERS][SIDE * SIDE];
extern int wrong; /* values that the host saw and that are not those */
extern fy_stream *streams[MOST_QUEUES];
extern fy_tensor *buffers[BUFFERS]; /* two page-locked, two of cuda:0, one of cuda:1 */
extern fy_event *events[EVENTS];
extern struct record_place {
    int queue, at;
} recorded_at[EVENTS];
extern int busy;      /* ns: how long the host may be busy between calls */
extern uint64_t pace; /* another chance than the program's: it stays the same at any speed */
extern bool asks;     /* may it ask whether work has ended, and record streams? What follows hangs on the time */
bool is_pinned(int b);
bool is_other(int b);
bool is_of_other(int queue);

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A part of every buffer: all, half of it, a row, a column or an element. */
typedef struct part {
    int kind, i, j;
} part;

enum { WHOLE, HALF, ROW, ELEMENT, COLUMN };

part some_part(bool dense);
uint16_t elements_of(part p);
fy_tensor *view_of(int b, part p);

/* ---- what the buffers should hold ---- */

typedef enum how { PUT, ADD, FILL } how;

/* Parts of one kind have as many elements, in the same order. */
void reflect(how does, int to, part p, int from, part q, float value);
void compare(int b, const float *seen, uint16_t elements);

/* ---- telling and being told ---- */

/* The first copy, op or host_read is the newest launch; data races name two of them. */
void read_events(void);
deed *new_deed(bool host);
void uses(deed *d, int b, part p, bool write);
void to_queue(int queue);
void wait_for_queue(int queue);

#endif
