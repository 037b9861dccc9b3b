/* ledger.h: what the log says is alive, kept from its events one after the other, and what it has seen
 * run. The library's own books must say the same. */
#ifndef FUZZ_LEDGER_H
#define FUZZ_LEDGER_H

#include <setjmp.h>

#include "op.h"
#include "program.h"

/* A law is broken: the program ends here. */
extern jmp_buf check_failed;
extern char failure_text[1024];
__attribute__((format(printf, 1, 2), noreturn)) void fail_check(const char *format, ...);

typedef struct entry {
    bool live;
    uint8_t device;
    uint32_t version;
    int64_t bytes;
} entry;

/* What was seen, in memory that the processes share. */
typedef struct coverage {
    int64_t ops[2][FY_OP_COUNT], dtypes[2][DTYPES + 1], pairs[FY_OP_COUNT][DTYPES + 1];
} coverage;

typedef struct ledger_state {
    uint64_t cursor;
    entry *tensors, *storages;
    size_t tensor_room, storage_room;
    int64_t tensor_count, storage_count, bytes[2];
    uint64_t digest; /* of all that lives, with versions */
} ledger_state;

extern ledger_state ledger;
extern coverage *covered;

entry *tensor_entry(uint32_t id);
entry *storage_entry(uint32_t id);
/* Read on to the end of the log. */
void follow_log(void);
void check_bytes(void);

#endif
