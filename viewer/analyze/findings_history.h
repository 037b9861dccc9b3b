/* findings_history.h: a log folded into what the rules ask for: acts in order, the storages and tensors that they
 * touch, and who touched a storage when. Everything is an index; -1 is none. Events of a log are believed as little as
 * elsewhere: numbers that make no sense read as none. */
#ifndef FERRY_FINDINGS_HISTORY_H
#define FERRY_FINDINGS_HISTORY_H

#include "event_reader.h"
#include "findings.h"

enum { WORTH_FREEING = 64 << 10 /* bytes: less is not told of */ };
enum { MOST_CARDS = 63 }; /* devices are numbered as in the log's DEV fields: 0 the CPU, 1 cuda:0 */

typedef struct place {
    int file, line; /* file: index into h->names */
} place;

typedef struct side { /* one end of a copy */
    int storage, tensor, device;
    int64_t version;
} side;

typedef struct act { /* an event that is kept */
    int64_t seq;
    uint8_t kind;                        /* FY_KIND_copy ... */
    uint8_t dir, route, why, cast, type; /* FY_WORD_...; type: of a data race; also scope of a sync, via of a host
                                            access; mark: at, for the clock */
    bool async, was_async, completed;
    int site, thread, device, stream;
    int64_t bytes, held;
    int64_t start, end; /* ns; segment, segment_free, alloc: addresses; mark: start is what the clock said */
    int64_t wire, staging, overhead;
    side src, dst;       /* copy; dst.storage, dst.tensor: also of alloc, free, drop, host_read, answer ...;
                            src.version: the seq that a data race or an error points back to; src.device,
                            dst.device: of an error, the first two that its message names */
    int name, first_use; /* op; name: index into h->names: also a data race's fix, an error's code, a
                            mark's note */
    int said, advice;    /* error: its message and hint: index into h->names */
    int nin, nout;       /* its uses: inputs, then outputs */
    int64_t flops;       /* op */
    int64_t free, largest, in_use, reserved; /* oom; in_use: allocated */
} act;

typedef struct use {
    int tensor, storage;
} use;

typedef struct tensor {
    int storage, site, view_of, made; /* made: an act */
    int name;                         /* index into h->names; -1 */
    int64_t offset, bytes;            /* bytes of its elements; 0 where the log makes no sense */
    uint64_t look;                    /* same storage, same look: the same elements in the same order */
    uint8_t dtype;                    /* FY_WORD_float32 ... */
} tensor;

typedef struct storage {
    int site, born, freed; /* acts; -1: not seen */
    int device;
    uint8_t mem;
    bool live;     /* at the end, by the log's word */
    bool answered; /* or given: the lesson's */
    int opened;    /* since this act the program holds a bare pointer to it: writes may go unseen; -1 */
    int64_t asked, bytes;
    int touches, first_touch, last_touch; /* acts that read or wrote it */
    int last_read, last_out;              /* last_out: the last copy of it to another memory */
} storage;

typedef struct figures { /* of the modelled host; 0: the log has none */
    double flops, bandwidth;
    int64_t overhead;
} figures;

typedef struct card_seen {
    int64_t capacity, live, peak;
    int64_t call_overhead, launch_overhead;
} card_seen;

typedef struct id_map { /* numbers of the log to indices */
    uint64_t *keys;
    int *values;
    size_t room, count;
} id_map;

typedef struct history {
    act *acts;
    use *uses;
    tensor *tensors;
    storage *storages;
    place *sites;
    char **names, **sources; /* sources[file]: its text; NULL */
    int act_count, use_count, tensor_count, storage_count, site_count, name_count;
    int act_room, use_room, tensor_room, storage_room, site_room, name_room, source_room;
    id_map tensor_ids, storage_ids, work_ids, site_ids, name_ids;
    card_seen device[MOST_CARDS + 1];
    figures host;
    bool measured, ended, cut, full, too_long; /* full: the log's limit was reached */
    int64_t events, last_end, status;          /* status: of the end; -1: not known */
} history;

/* Take one event, in order. */
void history_add(history *h, const fy_event *e);
void history_free(history *h);

/* ---- findings_index.c ---- */

uint64_t map_mix(uint64_t z);
/* Where the index of a key is, a new one being -1. Key 0 is nobody's. */
int *map_at(id_map *m, uint64_t key);
int map_find(const id_map *m, int64_t key); /* -1: not there */
void map_free(id_map *m);
/* Room for one element more, zeroed: list is the address of a pointer. False: more than can be numbered. */
bool history_grow(history *h, void *list, int *room, int count, size_t size);
/* A new zeroed element of a list of the history, or NULL. */
#define HISTORY_ADD(h, what) \
    (history_grow(h, &(h)->what##s, &(h)->what##_room, (h)->what##_count, sizeof *(h)->what##s) \
         ? &(h)->what##s[(h)->what##_count++] \
         : NULL)
int name_index(history *h, fy_bytes text); /* -1 of "" */

/* ---- findings_fields.c ---- */

#define MOST_AMOUNT ((int64_t)1 << 50) /* of bytes, ns ...: more makes no sense in sums */

int history_site(history *h, const fy_event *e); /* of its file and line; -1: it names none */
int device_named(const char *begin);             /* by the text's beginning: "cuda:1 and ..." is 2; -1: none */
int device_index(uint8_t device);                /* -1: none, or one beyond MOST_CARDS */
int stream_index(int64_t stream);                /* -1: none */
int64_t amount(int64_t n);                       /* 0 where it is left out or makes no sense */
int64_t whole(int64_t n);                        /* -1 where it is left out */

/* ---- asked by the rules (findings_ask.c) ---- */

/* Reads of an act: fn(storage) for each; writes likewise. At most 8 of each. */
int act_reads(const history *h, const act *a, int out[8]);
int act_writes(const history *h, const act *a, int out[8]);
bool act_touches(const history *h, const act *a, int storage);
bool act_wrote(const history *h, const act *a, int storage);
bool act_reads_too(const history *h, const act *a, int storage); /* what it also wrote: in place */
int act_index(const history *h, const act *a);
bool is_open(const history *h, int storage, int now); /* could it have been written unseen by then? */
int act_of_seq(const history *h, int64_t seq);        /* the act that this event became; -1 */
bool act_on_card(const act *a);                       /* an op or a copy, part of which a card does */
/* ns that it cost: its work, and what the call itself took. */
int64_t act_ns(const history *h, const act *a);
bool is_op(const history *h, const act *a, const char *name);
/* Could the card have kept so many more bytes all the time? */
bool had_room(const history *h, int device, int64_t bytes);
int64_t dtype_size(uint8_t dtype); /* 0: no dtype */

/* For sentences: "x", or "a tensor"; "cuda:0"; "line 12" or "other.c:12", seen from another line. */
const char *name_of(const history *h, int tensor);
const char *label_of(const history *h, int tensor, int storage, char out[64]); /* or "the result of sum" */
const char *device_name(int device, char out[16]);
const char *amount_of(int64_t bytes, char out[32]); /* "96 bytes", "1.5 MiB" */
const char *line_of(const history *h, int at, int from, char out[96]);
const char *time_text(int64_t ns, char out[32]); /* "71.0 us" */

/* An index a storage, all -1. The caller frees it. */
int *by_storage(const history *h);
/* By act: is it a copy that brings something once, before a loop that reads it turn after turn? What is set up so is no
 * waste: no turn pays for it. The caller frees it. */
bool *set_up_copies(const history *h);
/* By act: is it a copy that was asked for, and whose content nobody reads? The caller frees it. */
bool *orphan_copies(const history *h); /* rules_redundant_copy.c */
/* Was a copy's destination made by the call that copied, as fy_to makes it, or named by the program? */
bool made_its_destination(const history *h, const act *copy); /* rules_redundant_copy.c */
/* Act a is over: keep who wrote what last, while going through the acts in order. */
void written_now(const history *h, int a, int *written_by);

/* ---- telling (findings.c) ---- */

/* A finding at a place, or once more there: the sums grow. Its words are needed the first time only (times is 1). */
finding *found(findings *f, const history *h, int site, int act, int64_t ns, int64_t bytes);
__attribute__((format(printf, 2, 3))) void say_what(finding *x, const char *format, ...);
__attribute__((format(printf, 2, 3))) void say_fix(finding *x, const char *format, ...);
/* An act that one rule has explained is left alone by the milder ones behind it. */
bool is_explained(const findings *f, int act);
void explained(findings *f, int act);

/* ---- the rules; findings.c has the table ---- */

typedef void rule(findings *f, const history *h);
rule rule_stopped;                                                                                        /* _stop.c */
rule rule_data_race, rule_stale_read, rule_fragmentation, rule_kept_after_home, rule_out_of_memory;       /* _wrong.c */
rule rule_sent_again, rule_round_trip, rule_there_and_back, rule_through_host, rule_bounced, rule_orphan; /* _trips.c */
rule rule_converts_late, rule_created_then_moved, rule_pin_once, rule_pinned_each_time;                   /* _ways.c */
rule rule_blocking_pageable, rule_many_small, rule_dearer_than_op;                                        /* _price.c */
rule rule_hidden_sync, rule_device_sync, rule_missed_overlap;                                             /* _waits.c */
rule rule_leak, rule_small_view, rule_other_card, rule_card_not_put_back;                                 /* _keeps.c */

#endif
