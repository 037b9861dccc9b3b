/* ledger.h: the live tensors and storages according to the log, updated event by event, and the ops that ran. They must
 * match the library's own state. */
#ifndef FUZZ_LEDGER_H
#define FUZZ_LEDGER_H

#include <setjmp.h>

#include "op.h"
#include "program.h"

/* Ends the program with this message: an invariant is violated. */
extern jmp_buf check_failed;
extern char failure_text[1024];
__attribute__((format(printf, 1, 2), noreturn)) void fail_check(const char *format, ...);

typedef struct entry {
    bool live;
    uint8_t device;
    uint32_t version;
    int64_t bytes;
} entry;

/* Counts of ops and dtypes by device, in memory shared by the processes. */
typedef struct coverage {
    int64_t ops[2][FY_OP_COUNT], dtypes[2][DTYPES + 1], pairs[FY_OP_COUNT][DTYPES + 1];
} coverage;

typedef struct ledger_state {
    uint64_t cursor;
    entry *tensors, *storages;
    size_t tensor_room, storage_room;
    int64_t tensor_count, storage_count, bytes[2];
    uint64_t digest; /* hash of all live ids and versions */
} ledger_state;

extern ledger_state ledger;
extern coverage *covered;

entry *tensor_entry(uint32_t id);
entry *storage_entry(uint32_t id);
/* Processes the events since the last call. */
void follow_log(void);
void check_bytes(void);

#endif
