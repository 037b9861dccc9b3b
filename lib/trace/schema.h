/* schema.h: every kind of event and its fields, once.
 *
 * From this table come the enum and the records (event.h), the formatter (format.c), the validator
 * and the documentation (`ferry schema`). KIND opens a kind, FIELD adds a field in the order in
 * which it is printed, END closes it. The type of a field says how it is stored and printed:
 *
 *   INT   int64_t, always printed          OPT    int64_t, left out when FY_ABSENT
 *   ID    uint32_t, left out when 0        SEQ    uint64_t, a seq plus 1; left out when 0
 *   BOOL  uint8_t, true or false           FLAG   uint8_t, printed only when true
 *   ADDR  uint64_t, a hex string; 0 out    REAL   double
 *   DEV   uint8_t: 0 "cpu", 1 "cuda:0", 2 "cuda:1" ...; left out when FY_NO_DEVICE
 *   ENUM  uint8_t, an fy_word below; left out when 0
 *   STR   fy_ref to bytes in the arena; left out when 0
 *   DIMS  fy_ref to int64_t[]              IDS    fy_ref to uint32_t[]
 *   NUMS  fy_ref to double[] ("nan", "inf", "-inf" as strings)
 *   REFS  fy_ref to fy_use[]: [{"tensor","storage","version"}]
 *   JSON  fy_ref to ready JSON text        DIM3   uint32_t[3], left out when the first is 0
 *   SIDE  fy_side: {"tensor","storage","device","mem","addr","version"}
 */
#ifndef FERRY_SCHEMA_H
#define FERRY_SCHEMA_H

/* Words that ENUM fields hold. */
#define FY_WORDS(W) \
    W(none) W(model) W(measured) \
    W(pageable) W(pinned) W(device) W(foreign) \
    W(h2h) W(h2d) W(d2h) W(d2d) W(p2p) \
    W(direct) W(staged) W(host) \
    W(user) W(op) W(print) W(item) W(copy) W(free) W(scope) W(exit) W(oom) W(policy) \
    W(stream) W(event) W(compute) \
    W(source) W(destination) \
    W(small) W(large) W(read_early) W(write_early) W(race) W(reuse) \
    W(at) W(set) W(data) W(save) W(load) W(blob) W(given) W(answer) \
    W(float32) W(int64) W(float16) W(bfloat16) W(float64) W(int32) W(uint8) W(bool) \
    W(size)

#define FY_SCHEMA(KIND, FIELD, END) \
    KIND(session, "the first line: what runs, and on what") \
        FIELD(session, INT, schema, "major version of these names: 1") \
        FIELD(session, STR, ferry, "version of the library") \
        FIELD(session, STR, program, "base name of the executable") \
        FIELD(session, JSON, args, "the program's own arguments") \
        FIELD(session, ENUM, clock, "model or measured") \
        FIELD(session, INT, seed, "the seed that inputs are made from") \
        FIELD(session, JSON, devices, "name, kind (cpu, sim, real), card, capacity, physical number, model figures") \
        FIELD(session, SEQ, parent_seq, "after fork: the parent's last event") \
    END(session) \
    KIND(source, "text of a source file, when its first line is named") \
        FIELD(source, STR, path, "as compiled") \
        FIELD(source, STR, hash, "FNV-1a of the text") \
        FIELD(source, STR, text, "the file") \
    END(source) \
    KIND(segment, "the caching allocator took memory from a card, or page-locked some") \
        FIELD(segment, DEV, device, "where") \
        FIELD(segment, ENUM, mem, "device or pinned") \
        FIELD(segment, ADDR, addr, "modelled address") \
        FIELD(segment, INT, bytes, "how many") \
        FIELD(segment, ENUM, pool, "small (blocks up to 1 MiB) or large") \
        FIELD(segment, OPT, stream, "stream whose blocks it holds") \
        FIELD(segment, INT, held, "ns the host was held") \
    END(segment) \
    KIND(segment_free, "and gave it back") \
        FIELD(segment_free, DEV, device, "where") \
        FIELD(segment_free, ADDR, addr, "modelled address") \
        FIELD(segment_free, INT, bytes, "how many") \
        FIELD(segment_free, ENUM, why, "user (empty_cache) or oom") \
        FIELD(segment_free, INT, held, "ns the host was held") \
    END(segment_free) \
    KIND(alloc, "a storage was born") \
        FIELD(alloc, ID, storage, "its number, never used again") \
        FIELD(alloc, DEV, device, "where") \
        FIELD(alloc, ENUM, mem, "pageable, pinned, device or foreign") \
        FIELD(alloc, ADDR, addr, "modelled address") \
        FIELD(alloc, INT, asked, "bytes asked for") \
        FIELD(alloc, INT, bytes, "bytes taken, after rounding") \
        FIELD(alloc, OPT, stream, "stream it belongs to") \
        FIELD(alloc, INT, tenant, "how many storages used this address before") \
    END(alloc) \
    KIND(free, "a storage died: its last reference is gone") \
        FIELD(free, ID, storage, "which") \
        FIELD(free, INT, bytes, "bytes given back") \
        FIELD(free, FLAG, deferred, "another stream still uses it") \
    END(free) \
    KIND(tensor, "a handle was made") \
        FIELD(tensor, ID, tensor, "its number, never used again") \
        FIELD(tensor, STR, name, "the variable's name where the source tells it") \
        FIELD(tensor, ID, storage, "the bytes it looks at") \
        FIELD(tensor, DIMS, shape, "sizes") \
        FIELD(tensor, DIMS, strides, "steps, in elements") \
        FIELD(tensor, INT, offset, "first element, in elements") \
        FIELD(tensor, ENUM, dtype, "element type: float32, int64, bool ...") \
        FIELD(tensor, DEV, device, "where its storage lives") \
        FIELD(tensor, ID, view_of, "the tensor it is a view of") \
    END(tensor) \
    KIND(name, "a handle got a new name") \
        FIELD(name, ID, tensor, "which") \
        FIELD(name, STR, name, "the name") \
    END(name) \
    KIND(drop, "a handle went") \
        FIELD(drop, ID, tensor, "which") \
        FIELD(drop, ENUM, why, "free, scope or exit") \
    END(drop) \
    KIND(copy, "bytes were asked to move") \
        FIELD(copy, ID, id, "number of the work, shared with its complete") \
        FIELD(copy, SIDE, src, "from") \
        FIELD(copy, SIDE, dst, "to") \
        FIELD(copy, INT, bytes, "how many") \
        FIELD(copy, ENUM, dir, "h2h, h2d, d2h, d2d, p2p") \
        FIELD(copy, OPT, stream, "stream of the card") \
        FIELD(copy, BOOL, async, "asked not to wait") \
        FIELD(copy, BOOL, was_async, "did not wait") \
        FIELD(copy, ENUM, route, "direct, staged or host") \
        FIELD(copy, ENUM, cast, "source or destination: where the dtype was converted, if it was") \
        FIELD(copy, ENUM, why, "user, op, print, item, save, policy; size: of a result that hangs on values") \
        FIELD(copy, SEQ, cause, "event that needed it") \
        FIELD(copy, INT, held, "ns the host was held") \
    END(copy) \
    KIND(op, "work was launched on a card or done on the host") \
        FIELD(op, ID, id, "number of the work, shared with its complete") \
        FIELD(op, STR, name, "add, matmul ...") \
        FIELD(op, DEV, device, "where it runs") \
        FIELD(op, OPT, stream, "stream of the card") \
        FIELD(op, REFS, in, "what it reads") \
        FIELD(op, REFS, out, "what it writes; version is the one after the write") \
        FIELD(op, ENUM, dtype, "type it computes in") \
        FIELD(op, INT, flops, "floating point operations") \
        FIELD(op, INT, bytes, "bytes read and written") \
        FIELD(op, STR, kernel, "CUDA kernel") \
        FIELD(op, DIM3, grid, "blocks") \
        FIELD(op, DIM3, block, "threads a block") \
        FIELD(op, STR, blas, "BLAS routine, where one did the work") \
        FIELD(op, INT, held, "ns the host was held") \
        FIELD(op, FLAG, inplace, "writes into an operand") \
    END(op) \
    KIND(complete, "a copy or an op ended") \
        FIELD(complete, ID, id, "which") \
        FIELD(complete, INT, start, "ns") \
        FIELD(complete, INT, end, "ns") \
        FIELD(complete, ENUM, engine, "h2d, d2h, p2p, compute or host") \
        FIELD(complete, OPT, wire, "ns on the bus") \
        FIELD(complete, OPT, staging, "ns in the staging buffer") \
        FIELD(complete, OPT, overhead, "ns of call and launch") \
    END(complete) \
    KIND(sync, "the host waited") \
        FIELD(sync, ENUM, scope, "device, stream, event, copy") \
        FIELD(sync, DEV, device, "for which card") \
        FIELD(sync, OPT, stream, "for which stream") \
        FIELD(sync, ID, event, "for which event") \
        FIELD(sync, ENUM, why, "user, item, print, save, size, copy, free, oom; policy: launch blocking") \
        FIELD(sync, SEQ, cause, "event that needed it") \
        FIELD(sync, INT, held, "ns the host was held") \
    END(sync) \
    KIND(event_record, "an event was put into a stream") \
        FIELD(event_record, ID, event, "its number, from 1") \
        FIELD(event_record, DEV, device, "card") \
        FIELD(event_record, OPT, stream, "stream") \
        FIELD(event_record, OPT, when, "ns: when the stream gets there, where that is known") \
    END(event_record) \
    KIND(event_wait, "a stream was told to wait for an event") \
        FIELD(event_wait, ID, event, "its number") \
        FIELD(event_wait, DEV, device, "card of the stream that waits") \
        FIELD(event_wait, OPT, stream, "stream that waits") \
    END(event_wait) \
    KIND(query, "the program asked whether work has ended, without waiting") \
        FIELD(query, ENUM, scope, "stream or event") \
        FIELD(query, DEV, device, "card") \
        FIELD(query, OPT, stream, "stream") \
        FIELD(query, ID, event, "event") \
        FIELD(query, BOOL, done, "the answer; a yes orders as a wait does") \
    END(query) \
    KIND(record_stream, "a storage is used on another stream than its own (fy_record_stream)") \
        FIELD(record_stream, ID, tensor, "which") \
        FIELD(record_stream, ID, storage, "its bytes") \
        FIELD(record_stream, DEV, device, "card") \
        FIELD(record_stream, OPT, stream, "stream") \
    END(record_stream) \
    KIND(data_race, "two accesses that nothing orders") \
        FIELD(data_race, ENUM, type, "read_early, write_early, race or reuse") \
        FIELD(data_race, ID, storage, "bytes of the later access") \
        FIELD(data_race, INT, first, "first byte in it") \
        FIELD(data_race, INT, bytes, "how many both touch") \
        FIELD(data_race, SEQ, a, "the earlier access: a copy, op, host_read or host_write") \
        FIELD(data_race, SEQ, b, "the later one") \
        FIELD(data_race, STR, fix, "the call that would order them") \
    END(data_race) \
    KIND(set_device, "the thread's current card changed") \
        FIELD(set_device, DEV, device, "to this") \
    END(set_device) \
    KIND(set_stream, "the thread's current stream of a card changed") \
        FIELD(set_stream, DEV, device, "card") \
        FIELD(set_stream, OPT, stream, "to this") \
    END(set_stream) \
    KIND(peer, "may one card read another's memory directly? Said before the first copy between them") \
        FIELD(peer, DEV, from, "card") \
        FIELD(peer, DEV, to, "card") \
        FIELD(peer, BOOL, can, "no: copies go through the host") \
    END(peer) \
    KIND(mode, "a way of working was set") \
        FIELD(mode, STR, mode, "launch_blocking") \
        FIELD(mode, BOOL, on, "is it on") \
    END(mode) \
    KIND(host_read, "the program read tensor data through the API") \
        FIELD(host_read, ID, tensor, "which") \
        FIELD(host_read, ID, storage, "its bytes") \
        FIELD(host_read, INT, version, "content that was read") \
        FIELD(host_read, INT, first, "first element") \
        FIELD(host_read, INT, count, "elements") \
        FIELD(host_read, ENUM, via, "at, item, print, data, answer, save") \
    END(host_read) \
    KIND(host_write, "the program wrote tensor data through the API") \
        FIELD(host_write, ID, tensor, "which") \
        FIELD(host_write, ID, storage, "its bytes") \
        FIELD(host_write, INT, version, "content after the write") \
        FIELD(host_write, INT, first, "first element") \
        FIELD(host_write, INT, count, "elements") \
        FIELD(host_write, ENUM, via, "set, data, given, load, blob") \
    END(host_write) \
    KIND(oom, "an allocation failed") \
        FIELD(oom, DEV, device, "where") \
        FIELD(oom, INT, asked, "bytes asked for") \
        FIELD(oom, INT, allocated, "bytes in use") \
        FIELD(oom, INT, reserved, "bytes taken from the card") \
        FIELD(oom, INT, free, "bytes free") \
        FIELD(oom, INT, largest, "bytes of the largest hole") \
    END(oom) \
    KIND(mark, "the program's own note, or its look at the clock") \
        FIELD(mark, STR, text, "the note; left out when it is fy_now that looks at the clock") \
        FIELD(mark, OPT, now, "ns: what the clock said") \
    END(mark) \
    KIND(given, "a lesson's input came") \
        FIELD(given, STR, name, "name asked for") \
        FIELD(given, ID, tensor, "the tensor") \
        FIELD(given, ID, storage, "its bytes") \
        FIELD(given, DEV, device, "where") \
    END(given) \
    KIND(answer, "a result was submitted") \
        FIELD(answer, STR, name, "name of the answer") \
        FIELD(answer, ID, tensor, "the tensor") \
        FIELD(answer, ID, storage, "its bytes") \
        FIELD(answer, DEV, device, "where it lived when submitted") \
    END(answer) \
    KIND(values, "contents, outside the byte-for-byte promise") \
        FIELD(values, ID, tensor, "whose") \
        FIELD(values, INT, version, "content that was sampled") \
        FIELD(values, INT, first, "first element, row-major") \
        FIELD(values, NUMS, data, "values; all of them for an answer of up to 65536 elements") \
        FIELD(values, INT, count, "elements in the tensor") \
        FIELD(values, REAL, min, "smallest") \
        FIELD(values, REAL, max, "largest") \
        FIELD(values, REAL, mean, "mean") \
        FIELD(values, INT, nan, "how many are NaN") \
    END(values) \
    KIND(error, "a call failed") \
        FIELD(error, STR, code, "device_mismatch, shape, device, oom, use_after_free, device_pointer ...") \
        FIELD(error, STR, message, "what, with real values") \
        FIELD(error, STR, hint, "how to fix it") \
        FIELD(error, STR, call, "the call as written") \
        FIELD(error, SEQ, caused_by, "event that surfaced late") \
    END(error) \
    KIND(check, "the grader looked at one thing") \
        FIELD(check, STR, lesson, "which lesson") \
        FIELD(check, STR, check, "name of the check") \
        FIELD(check, BOOL, pass, "did it hold") \
        FIELD(check, INT, points, "points it earned") \
        FIELD(check, IDS, at, "seqs of the deciding events") \
        FIELD(check, STR, expected, "what should have been") \
        FIELD(check, STR, got, "what was") \
        FIELD(check, STR, message, "in plain words") \
    END(check) \
    KIND(grade, "the verdict") \
        FIELD(grade, STR, lesson, "which lesson") \
        FIELD(grade, BOOL, pass, "are all checks green") \
        FIELD(grade, INT, passed, "checks that held") \
        FIELD(grade, INT, checks, "checks made") \
        FIELD(grade, STR, message, "in plain words") \
    END(grade) \
    KIND(lost, "a slot that a killed program claimed and never filled") \
    END(lost) \
    KIND(log_full, "the log's limit was reached; nothing later is recorded") \
        FIELD(log_full, INT, limit, "events") \
    END(log_full) \
    KIND(end, "the session ended in order") \
        FIELD(end, INT, status, "exit status; -1 where it is not known yet") \
        FIELD(end, IDS, live, "storages alive") \
    END(end)

#endif
