/* ledger.c: see ledger.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "event.h"
#include "ledger.h"
#include "log_format.h"

jmp_buf check_failed;
char failure_text[1024];

void fail_check(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(failure_text, sizeof failure_text, format, list);
    va_end(list);
    longjmp(check_failed, 1);
}

ledger_state ledger;
coverage *covered;

static entry *entry_of(entry **list, size_t *room, uint32_t id)
{
    if (id >= *room) {
        size_t wanted = 2 * (size_t)id + 1024;
        *list = realloc(*list, wanted * sizeof **list);
        if (!*list) abort();
        memset(*list + *room, 0, (wanted - *room) * sizeof **list);
        *room = wanted;
    }
    return *list + id;
}

entry *tensor_entry(uint32_t id) { return entry_of(&ledger.tensors, &ledger.tensor_room, id); }

entry *storage_entry(uint32_t id) { return entry_of(&ledger.storages, &ledger.storage_room, id); }

static uint64_t mixed_hash(uint64_t kind, uint64_t id, uint64_t version)
{
    rng_state r = {kind << 62 | id << 31 | version};
    return rng_next(&r);
}

static void toggle_storage_hash(uint32_t id) { ledger.digest ^= mixed_hash(1, id, storage_entry(id)->version); }

static void note_write(uint32_t id, uint32_t version)
{
    entry *s = storage_entry(id);
    if (!s->live) fail_check("the log writes to storage %u, which is not alive", id);
    if (version != s->version + 1) fail_check("storage %u goes from version %u to %u", id, s->version, version);
    toggle_storage_hash(id);
    s->version = version;
    toggle_storage_hash(id);
}

static void note_alloc(const fy_ev_alloc *e)
{
    entry *s = storage_entry(e->storage);
    if (s->live || s->bytes) fail_check("the log allocates storage %u twice", e->storage);
    *s = (entry){.live = true, .device = e->device, .bytes = e->bytes};
    ledger.bytes[e->device] += e->bytes;
    ledger.storage_count++;
    toggle_storage_hash(e->storage);
}

static void note_free(const fy_ev_free *e)
{
    entry *s = storage_entry(e->storage);
    if (!s->live) fail_check("the log frees storage %u, which is not alive", e->storage);
    toggle_storage_hash(e->storage);
    s->live = false;
    ledger.bytes[s->device] -= e->bytes;
    ledger.storage_count--;
}

static void note_tensor(const fy_ev_tensor *e)
{
    entry *x = tensor_entry(e->tensor);
    if (x->live) fail_check("the log makes tensor %u twice", e->tensor);
    if (!storage_entry(e->storage)->live)
        fail_check("tensor %u looks at storage %u, which is not alive", e->tensor, e->storage);
    x->live = true;
    ledger.tensor_count++;
    ledger.digest ^= mixed_hash(2, e->tensor, 0);
}

static void note_drop(const fy_ev_drop *e)
{
    entry *x = tensor_entry(e->tensor);
    if (!x->live) fail_check("the log drops tensor %u, which is not alive", e->tensor);
    x->live = false;
    ledger.tensor_count--;
    ledger.digest ^= mixed_hash(2, e->tensor, 0);
}

static int op_named(const char *name, size_t n)
{
    for (int op = 0; op < FY_OP_COUNT; op++)
        if (strlen(fy_ops[op].name) == n && memcmp(fy_ops[op].name, name, n) == 0) return op;
    return -1;
}

static int dtype_of_word(unsigned word)
{
    for (int d = 0; d < DTYPES; d++)
        if (fy_dtype_word(dtypes[d]) == (fy_word)word) return d;
    return DTYPES;
}

/* Kernels on the card have a grid. */
static void note_op(const fy_ev_op *e)
{
    size_t size = 0, length = 0;
    const fy_use *out = fy_log_bytes(fy_log_of_process(), e->out, &size);
    const char *name = fy_log_bytes(fy_log_of_process(), e->name, &length);
    int op = name ? op_named(name, length) : -1, dtype = dtype_of_word(e->dtype);
    if (op < 0) fail_check("the log has an op that is not in the table");
    if (!out || size != sizeof *out) fail_check("%s writes %zu bytes of uses", fy_ops[op].name, size);
    note_write(out->storage, out->version);
    if (e->device > 0 && (e->kernel != 0) != (e->grid[0] > 0))
        fail_check("%s on the card has a kernel without a grid, or a grid without a kernel", fy_ops[op].name);
    covered->ops[e->device > 0][op]++;
    covered->dtypes[e->device > 0][dtype]++;
    if (e->device > 0) covered->pairs[op][dtype]++;
}

static void note_event(uint64_t seq, uint16_t kind)
{
    unsigned char record[FY_RECORD_MAX];
    if (!fy_log_record(fy_log_of_process(), seq, kind, record))
        fail_check("event %llu is damaged", (unsigned long long)seq);
    switch (kind) {
    case FY_KIND_alloc: note_alloc((const void *)record); break;
    case FY_KIND_free: note_free((const void *)record); break;
    case FY_KIND_tensor: note_tensor((const void *)record); break;
    case FY_KIND_drop: note_drop((const void *)record); break;
    case FY_KIND_op: note_op((const void *)record); break;
    case FY_KIND_copy: {
        const fy_ev_copy *e = (const void *)record;
        if (e->dst.storage) note_write(e->dst.storage, e->dst.version);
        break;
    }
    case FY_KIND_host_write: {
        const fy_ev_host_write *e = (const void *)record;
        note_write(e->storage, (uint32_t)e->version);
        break;
    }
    default: break;
    }
}

void follow_log(void)
{
    uint16_t kind;
    while (fy_log_slot(fy_log_of_process(), ledger.cursor, &kind)) note_event(ledger.cursor++, kind);
}

void check_bytes(void)
{
    for (int d = 0; d < 2; d++)
        if (fy_dev_at(d)->live_bytes != ledger.bytes[d])
            fail_check("%s holds %lld bytes, the log says %lld", fy_dev_at(d)->name,
                       (long long)fy_dev_at(d)->live_bytes, (long long)ledger.bytes[d]);
}
