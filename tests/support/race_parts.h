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

enum { SIDE = 4, BUFFERS = 5, EVENTS = 2, MOST_DEEDS = 40, MOST_USES = 3, ASYNC = 6 };
enum { FIRST, SECOND, OTHER, OTHER_SECOND }; /* queues: two streams of cuda:0, and the same of cuda:1 */

/* ---- random numbers ---- */

extern uint64_t chance;
uint32_t draw(uint64_t *from, uint32_t n);
uint32_t below(uint32_t n);

/* ---- the program ---- */

typedef struct use { /* an access: elements (a bit set) of the buffer at an address */
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

/* A freed storage that was recorded on a stream: its memory is reused only after the stream has reached the marker. */
typedef struct leave {
    uint64_t addr;
    int marker; /* a deed without accesses */
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

/* The buffers' values if everything runs in program order; NaN: the fill byte. */
extern float mirror[BUFFERS][SIDE * SIDE];
extern int wrong; /* values read by the host that differ from the mirror */
extern fy_stream *streams[MOST_QUEUES];
extern fy_tensor *buffers[BUFFERS]; /* two page-locked, two of cuda:0, one of cuda:1 */
extern fy_event *events[EVENTS];
extern struct record_place {
    int queue, at;
} recorded_at[EVENTS];
extern int busy;      /* ns: the host's longest pause between calls */
extern uint64_t pace; /* a generator of its own for the pauses, so that the program does not depend on them */
extern bool asks;     /* may the program query completion and record streams? Its course then depends on time */
bool is_pinned(int b);
bool is_other(int b);
bool is_of_other(int queue);

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A view of a buffer: all, half of it, a row, a column or an element. */
typedef struct part {
    int kind, i, j;
} part;

enum { WHOLE, HALF, ROW, ELEMENT, COLUMN };

part some_part(bool dense);
uint16_t elements_of(part p);
fy_tensor *view_of(int b, part p);

/* ---- expected values ---- */

typedef enum how { PUT, ADD, FILL } how;

/* Parts of one kind have equally many elements, in the same order. */
void reflect(how does, int to, part p, int from, part q, float value);
void compare(int b, const float *seen, uint16_t elements);

/* ---- Ferry's events and the model's tasks ---- */

/* The first copy, op or host_read is the newest launch; data races name two of them. */
void read_events(void);
deed *new_deed(bool host);
void uses(deed *d, int b, part p, bool write);
void to_queue(int queue);
void wait_for_queue(int queue);

#endif
