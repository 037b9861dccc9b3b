/* where_log.h: what where.c keeps of a log, and where_ask.c asks: tensors, storages and works, each with the events
 * between which it holds, and every write. */
#ifndef FERRY_WHERE_LOG_H
#define FERRY_WHERE_LOG_H

#include "findings_history.h" /* MOST_CARDS */
#include "id_map.h"
#include "where.h"

#define NEVER UINT64_MAX

typedef struct handle {
    uint32_t id, storage, line;
    int name, former; /* indices into names; former: the name before its last; -1: none */
    int fn, dtype;    /* likewise */
    int dims;         /* index into dims; -1: a scalar */
    int rank;
    int64_t offset, itemsize; /* itemsize: bytes of an element; 0: not known */
    uint32_t view_of;
    uint64_t from, named, until; /* events; named: got its last name; until: dropped */
    uint64_t renamed;            /* its variable got another tensor */
    uint32_t dropped_line;
} handle;

typedef struct bytes_of {
    uint32_t id, line;
    int device, mem;
    uint64_t addr;
    int64_t asked, bytes, tenant;
    uint64_t from, until;
    int last; /* its newest version */
} bytes_of;

/* At event seq the storage got its lineage's content: new (a write), or that of another (a copy). */
typedef struct version {
    uint64_t seq;
    int storage, lineage; /* storage: index into storages; lineage: index of its first storage */
    int64_t rev;
} version;

/* A copy or an op that fills a storage. */
typedef struct filling {
    uint64_t seq, done; /* of its event; of its complete */
    uint32_t id;
    bool copy, staged, through_host, up;
    int storage, from_device, to_device;
    int64_t bytes, start, end, wire, wire_up, staging;
} filling;

typedef struct card {
    int64_t latency, chunk;
    char name[16]; /* "" unless its kind is not one of Ferry's */
} card;

#define LIST(type) \
    struct { \
        type *all; \
        int count, room; \
    }

struct where {
    steps *steps;
    LIST(handle) handles;
    LIST(bytes_of) storages;
    LIST(version) versions;
    LIST(filling) fillings;
    LIST(char *) names;
    LIST(int64_t) dims;  /* shape and then strides of each */
    LIST(int64_t) times; /* of each event, never falling */
    int64_t *revs;       /* by storage index: of the lineage that began there */
    int revs_room;
    id_map handle_ids, storage_ids, work_ids, name_ids, variable_ids;
    card cards[MOST_CARDS + 1]; /* by device */
    int64_t total;
    bool stopped, ended;
};

/* where_log.c */
int lineage_at(const where *w, int storage, uint64_t seq, int64_t *rev); /* of a storage after event seq */

/* where_arrived.c: the bytes of a copy that have arrived at time t, as www/model/transfer.js has it. */
int64_t arrived_at(const where *w, const filling *f, int64_t t);

#endif
