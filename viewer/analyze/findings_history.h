/* findings_history.h: a log reduced to what the rules need: acts (the relevant events) in order, the storages and
 * tensors that they access, and the accesses of each storage. References are indices into the lists below; -1: none.
 * The log is untrusted: values out of range read as none. */
#ifndef FERRY_FINDINGS_HISTORY_H
#define FERRY_FINDINGS_HISTORY_H

#include "event_reader.h"
#include "findings.h"
#include "id_map.h"
#include "run_work.h"

enum { WORTH_FREEING = 64 << 10 /* bytes: smaller storages are not reported */ };
enum { MOST_CARDS = 63 }; /* devices are numbered as in the log: 0 the CPU, 1 cuda:0 */

typedef struct place {
    int file, line; /* file: index into h->names */
    int fn;         /* the function, likewise; -1 */
    bool loads;     /* a loop over a data loader */
} place;

typedef struct side { /* one end of a copy */
    int storage, tensor, device;
    int64_t version;
} side;

typedef struct act { /* an event that rules look at */
    int64_t seq;
    uint8_t kind;                        /* FY_KIND_copy ... */
    uint8_t dir, route, why, cast, type; /* FY_WORD_...; type: of a data race, the scope of a sync, the via of a host
                                            access, the mem of a segment, the dtype of an op, the what of a graph
                                            or a backward;
                                            mark: `at` for a reading of the clock; mode: begin or end */
    bool async, was_async, completed;
    int site, thread, device, stream;
    int64_t t, bytes, held;
    int64_t start, end; /* ns; segment, segment_free, alloc: addresses; mark: start is the clock's reading */
    int64_t wire, wire_up, staging, overhead;
    side src, dst;           /* copy; dst.storage, dst.tensor: also of alloc, free, drop, host_read, answer ...;
                                src.version: the seq that a data race or an error refers to; src.device, dst.device:
                                of an error, the first two devices in its message; grad: the leaf, its gradient */
    int name, first_use;     /* op; name: index into h->names: also a data race's fix, an error's code, a mark's text */
    int message, hint, call; /* error: index into h->names */
    int nin, nout;           /* op: its uses from first_use, inputs before outputs; error: its operands, nin of them */
    int node;                /* graph */
    int64_t flops;           /* op */
    int64_t free, largest, in_use, reserved; /* oom; in_use: allocated */
} act;

typedef struct use {
    int tensor, storage;
} use;

typedef struct tensor {
    int storage, site, view_of, made; /* made: the act that created it */
    int name;                         /* index into h->names; -1 */
    int saver, dropped;               /* the node that keeps this handle for a gradient; the act that freed it; -1 */
    int64_t offset, bytes;            /* bytes of its elements; 0: unknown */
    uint64_t layout;                  /* hash of offset, shape and strides: equal ones view the same elements */
    uint8_t dtype;                    /* FY_WORD_float32 ... */
} tensor;

typedef struct storage {
    int site, born, freed; /* born, freed: the alloc and free acts; -1: not in the log */
    int device;
    uint8_t mem;
    bool live;            /* still allocated at the end, by the end event */
    bool before;          /* it was there before the log begins: who made it is not known */
    bool answered;        /* submitted as an answer, or given as an input */
    int opened;           /* the act by which the program got a raw pointer: later writes may not be logged; -1 */
    int64_t asked, bytes; /* requested, and with the allocator's rounding */
    int touches, first_touch, last_touch; /* acts that read or wrote it */
    int last_read, last_out;              /* last_out: the last copy of it to another device */
} storage;

typedef struct node {     /* of the autograd graph */
    int made, last_run;   /* acts; last_run: the last backward pass that ran it; -1 */
    int site, op, tensor; /* op: index into h->names; tensor: the result */
    int first_edge, nedges;
    bool is_leaf;
} node;

typedef struct edge { /* to the node of an operand; -1: it needs no gradient */
    int node;
} edge;

typedef struct figures { /* of a modelled device; 0: not in the log */
    double flops, bandwidth;
    int64_t overhead, latency; /* latency: of a kernel */
} figures;

typedef struct card_seen {
    char name[16]; /* of a kind that Ferry does not make; "": cuda:0 ... */
    int64_t capacity, live, peak;
    int64_t call_overhead, launch_overhead;
    figures model;
} card_seen;

/* What an origin may know; a rule that needs what a log lacks would take silence for a fact. */
enum { KNOWS_READS = 1, KNOWS_FREES = 2, KNOWS_ADDRESSES = 4, KNOWS_SOURCES = 8, KNOWS_CALLS = 16 };

typedef struct history {
    act *acts;
    use *uses;
    tensor *tensors;
    storage *storages;
    place *sites;
    node *nodes;
    edge *edges;
    char **names, **sources; /* interned strings; by name index of a file: its text, or NULL */
    int act_count, use_count, tensor_count, storage_count, site_count, node_count, edge_count, name_count;
    int act_room, use_room, tensor_room, storage_room, site_room, node_room, edge_room, name_room, source_room;
    id_map tensor_ids, storage_ids, work_ids, site_ids, node_ids, name_ids;
    card_seen device[MOST_CARDS + 1];
    figures host;
    unsigned lacks;                            /* what its origin does not know: KNOWS_READS ... */
    bool measured, ended, cut, full, too_long; /* cut: events are missing; full: the log's limit was reached */
    int64_t events, last_end, status;          /* status: the exit status; -1: unknown */
} history;

/* Adds one event; events come in order of seq. */
void history_add(history *h, const fy_event *e);
/* A new act with its seq, site and thread; the caller fills in the rest. NULL: too many. */
act *history_act(history *h, const fy_event *e);
/* Adds to a note, which may have what a feed said, what the log lacks; then `what`, such as "this list", may be
 * incomplete. */
void history_note(const history *h, const char *what, char *note, size_t room);
void history_free(history *h);

/* ---- findings_index.c ---- */

/* Room for one more element, zeroed; list: the address of a pointer. false: more elements than an int counts. */
bool history_grow(history *h, void *list, int *room, int count, size_t size);
/* A new zeroed element of a list of the history, or NULL. */
#define HISTORY_ADD(h, what) \
    (history_grow(h, &(h)->what##s, &(h)->what##_room, (h)->what##_count, sizeof *(h)->what##s) \
         ? &(h)->what##s[(h)->what##_count++] \
         : NULL)
int name_index(history *h, fy_bytes text); /* -1: "" */

/* ---- findings_fields.c ---- */

#define MOST_AMOUNT ((int64_t)1 << 50) /* bytes, ns ...: larger values are invalid, and sums cannot overflow */

int history_site(history *h, const fy_event *e); /* of its file and line; -1: none */
int device_named(const char *begin);             /* by a prefix: "cuda:1 and ..." is 2; -1: none */
int device_index(uint8_t device);                /* -1: none, or above MOST_CARDS */
int stream_index(int64_t stream);                /* -1: none */
int64_t amount(int64_t n);                       /* 0: absent or invalid */
int64_t whole(int64_t n);                        /* -1: absent */

/* ---- findings_graph.c ---- */

void history_add_graph(history *h, const fy_event *e);
void history_add_backward(history *h, const fy_event *e);
void history_add_grad(history *h, const fy_event *e);
void history_add_mode(history *h, const fy_event *e);
/* The CPU tensor, if any, for which a call failed (act i) because fy_module_to had moved other tensors to the card, but
 * not this one: *move is the act that copied one of those. -1: no such error. */
int left_behind(const history *h, int i, int *move);
bool is_step(const history *h, const act *error); /* did a call of fy_step fail? */
int node_edge(const history *h, int node, int i); /* the node of operand i, unless it is a leaf; -1 */
/* By storage: does a leaf that requires grad view it, or did, before fy_module_to? The caller frees it. */
bool *leaf_storages(const history *h);
/* By tensor: the act by which fy_module_to put another in its place; -1. The caller frees it. */
int *module_moves(const history *h);

/* ---- queries (findings_ask.c) ---- */

/* The distinct storages that an act reads, or writes, such as those of a launch of a list. Return how many. */
enum { ACT_STORAGES = FY_MOST_ITEMS * FY_ITEM_INPUTS };
int act_reads(const history *h, const act *a, int out[ACT_STORAGES]);
int act_writes(const history *h, const act *a, int out[ACT_STORAGES]);
bool act_touches(const history *h, const act *a, int storage);
bool act_wrote(const history *h, const act *a, int storage);
bool act_reads_too(const history *h, const act *a, int storage); /* and writes it: in place */
int act_index(const history *h, const act *a);
bool is_open(const history *h, int storage, int now); /* has the program a raw pointer to it before act `now`? */
int act_of_seq(const history *h, int64_t seq);        /* the act of this event; -1 */
bool act_on_card(const act *a);                       /* an op or a copy that a card executes */
/* ns: its execution and the overhead of the call; without a complete event, the time that the host was blocked. */
int64_t act_ns(const history *h, const act *a);
bool is_op(const history *h, const act *a, const char *name);
/* Would so many more bytes have fit on the device at its peak? */
bool had_room(const history *h, int device, int64_t bytes);
int64_t dtype_size(uint8_t dtype); /* bytes; 0: not a dtype */

/* For messages: "x", or "a tensor"; "cuda:0"; "line 12", or "other.c:12" if site `from` is in another file. */
const char *name_of(const history *h, int tensor);
const char *label_of(const history *h, int tensor, int storage, char out[64]); /* or "the result of sum" */
const char *device_name(const history *h, int device, char out[16]);
const char *amount_of(int64_t bytes, char out[32]); /* "96 bytes", "1.5 MiB" */
const char *line_of(const history *h, int at, int from, char out[96]);
const char *time_text(int64_t ns, char out[32]); /* "71.0 us" */

/* An int per storage, all -1. The caller frees it. */
int *by_storage(const history *h);
/* By act: is it a copy made once, before a loop that reads its result in every iteration? Its cost is amortized, and
 * not reported. The caller frees it. */
bool *set_up_copies(const history *h);
/* By act: is it a copy that the program called for and whose result is never read? The caller frees it. */
bool *unused_copies(const history *h); /* rules_redundant_copy.c */
/* Did the copying call allocate the destination, as fy_to does? false: the program passed it, as to fy_copy_. */
bool made_its_destination(const history *h, const act *copy); /* rules_redundant_copy.c */
/* Was a copy's source made before fy_module_to moved a module to the copy's card, and left behind? */
bool made_before_move(const history *h, const act *copy); /* rules_redundant_copy.c */
/* Updates the last writer of each storage that act a writes, in a pass over the acts in order. */
void written_now(const history *h, int a, int *written_by);

/* ---- reporting (findings.c) ---- */

/* Adds an occurrence to the current rule's finding at a site, creating it if needed: the caller fills in the texts when
 * times is 1. NULL: part of a demonstration, not reported. */
finding *found(findings *f, const history *h, int site, int act, int64_t ns, int64_t bytes);
__attribute__((format(printf, 2, 3))) void say_what(finding *x, const char *format, ...);
__attribute__((format(printf, 2, 3))) void say_fix(finding *x, const char *format, ...);
__attribute__((format(printf, 2, 3))) void say_no_try(finding *x, const char *format, ...); /* no what-if: ... */
/* What-if can undo an occurrence of the finding by changing the event of this act: `change` says how, in the words of
 * "the same run, without the second copies". x may be NULL. */
void could_try(finding *x, const char *change, const act *a, replay_how how, int64_t value);
/* Rules skip an act that an earlier rule has marked as explained. */
bool is_explained(const findings *f, int act);
void explained(findings *f, int act);

/* ---- the rules; findings.c has the table ---- */

typedef void rule(findings *f, const history *h);
/* rules_stop.c */
rule rule_stopped;
/* rules_correctness.c */
rule rule_data_race, rule_stale_read, rule_fragmentation, rule_kept_after_home, rule_out_of_memory;
/* rules_redundant_copy.c */
rule rule_sent_again, rule_round_trip, rule_there_and_back, rule_through_host, rule_bounced, rule_unused_copy;
/* rules_placement.c */
rule rule_converts_late, rule_created_then_moved, rule_pin_once, rule_pinned_each_time;
/* rules_copy_cost.c */
rule rule_blocking_pageable, rule_many_small, rule_copies_cost_more;
/* rules_sync.c */
rule rule_hidden_sync, rule_device_sync, rule_missed_overlap;
/* rules_training.c */
rule rule_graph_kept, rule_graph_unused, rule_trained_elsewhere, rule_autocast_without_gain;
/* rules_memory.c */
rule rule_leak, rule_small_view, rule_other_card, rule_device_not_restored;

#endif
