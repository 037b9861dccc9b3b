/* perfetto_trace.h: what perfetto.c collects and perfetto_write.c writes. */
#ifndef FERRY_PERFETTO_TRACE_H
#define FERRY_PERFETTO_TRACE_H

#include "id_map.h"
#include "perfetto.h"
#include "text.h"

enum { HOST = 1, BUS = 2, GPUS = 10, WAITS = 100000, MEMORIES = 256 }; /* pids; tid of the first thread's waits */

/* Some bytes of perfetto.text or perfetto.names. */
typedef struct piece {
    size_t at, size;
} piece;

typedef struct slice {
    int64_t from, until;
    uint64_t seq;
    int pid, tid, number;
    piece text;
} slice;

/* A copy or an op on a card; slice: -1 until it is known when it ran. */
typedef struct work {
    int pid, tid, slice;
    int64_t bytes;
    piece text;
} work;

/* From the slice or the work to another; next: of those that wait for the same stream's next work. */
typedef struct flow {
    const char *cat;
    int from_slice, from_work, to_slice, to_work, next;
} flow;

typedef struct row {
    int pid, tid, last_work, last_slice, pending;
    uint64_t last_seq;
    char name[48];
} row;

typedef struct life {
    uint32_t storage;
    int device, name;
    uint64_t addr;
    int64_t bytes, from, until;
} life;

typedef struct point {
    int64_t t, live, reserved;
    int device;
} point;

typedef struct moment {
    int64_t t;
    int tid;
    piece text;
} moment;

typedef struct memory {
    int64_t live, reserved;
    int point;
} memory;

#define LIST(type) \
    struct { \
        type *all; \
        int count, room; \
    }

struct perfetto {
    fy_text text, names, devices, program;
    bool measured;
    int64_t end;
    LIST(row) rows;
    LIST(slice) slices;
    LIST(work) works;
    LIST(flow) flows;
    LIST(life) lives;
    LIST(point) points;
    LIST(moment) moments;
    LIST(piece) name_at;
    id_map row_ids, work_ids, event_ids, storage_ids, name_ids;
    memory memories[MEMORIES];
};

#endif
