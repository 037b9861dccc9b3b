/* schema.h: every kind of event and its fields; the only definition.
 *
 * This table generates the enum and the records (event.h), the formatter (format.c), the validator and the
 * documentation (`ferry schema`). KIND opens a kind, FIELD adds a field in print order, END closes it. A field's type
 * determines how it is stored and printed:
 *
 *   INT   int64_t, always printed          OPT    int64_t, omitted if FY_ABSENT
 *   ID    uint32_t, omitted if 0           SEQ    uint64_t, a seq plus 1; omitted if 0
 *   BOOL  uint8_t, true or false           FLAG   uint8_t, printed only if true
 *   ADDR  uint64_t, hex string; not if 0   REAL   double
 *   DEV   uint8_t: 0 "cpu", 1 "cuda:0", 2 "cuda:1" ...; omitted if FY_NO_DEVICE
 *   ENUM  uint8_t, an fy_word below; omitted if 0
 *   STR   fy_ref to bytes in the arena; omitted if 0
 *   DIMS  fy_ref to int64_t[]              IDS    fy_ref to uint32_t[]
 *   NUMS  fy_ref to double[] ("nan", "inf", "-inf" as strings)
 *   REFS  fy_ref to fy_use[]: [{"tensor","storage","version"}]
 *   JSON  fy_ref to JSON text              DIM3   uint32_t[3], omitted if the first is 0
 *   SIDE  fy_side: {"tensor","storage","device","mem","addr","version"}; omitted if its device is FY_NO_DEVICE
 * */
#ifndef FERRY_SCHEMA_H
#define FERRY_SCHEMA_H

#define FY_SCHEMA_VERSION 2 /* major version of the names of events and fields, as JSON lines have them */

/* Values of ENUM fields. */
#define FY_WORDS(W) \
    W(none) W(model) W(measured) \
    W(pageable) W(pinned) W(device) W(foreign) \
    W(h2h) W(h2d) W(d2h) W(d2d) W(p2p) \
    W(direct) W(staged) W(host) \
    W(user) W(op) W(print) W(item) W(copy) W(free) W(scope) W(exit) W(oom) W(policy) W(graph) W(grad) \
    W(stream) W(event) W(compute) \
    W(source) W(destination) \
    W(small) W(large) W(read_early) W(write_early) W(race) W(reuse) \
    W(at) W(set) W(data) W(save) W(load) W(blob) W(given) W(answer) \
    W(float32) W(int64) W(float16) W(bfloat16) W(float64) W(int32) W(uint8) W(bool) \
    W(size) \
    W(make) W(run) W(release) W(begin) W(end) \
    W(ready) W(taken) \
    W(loop) W(turn) W(no_grad) W(autocast) W(gradient) W(module) W(batch)

#define FY_SCHEMA(KIND, FIELD, END) \
    KIND(session, "the first event: the program and its devices") \
        FIELD(session, INT, schema, "major version of these names: 2") \
        FIELD(session, STR, ferry, "version of the library") \
        FIELD(session, STR, program, "base name of the executable") \
        FIELD(session, JSON, args, "the program's own arguments") \
        FIELD(session, ENUM, clock, "model or measured") \
        FIELD(session, INT, seed, "seed of the random inputs") \
        FIELD(session, JSON, devices, "name, kind (cpu, sim, real), card, capacity, physical number, model parameters") \
        FIELD(session, JSON, knows, "a list: what its origin can tell of, of reads, frees, addresses, sources and calls; left out: of all") \
        FIELD(session, STR, language, "the program's, C; sentences and fixes are in its words") \
        FIELD(session, OPT, rank, "of a run of several processes: which it is, from 0") \
        FIELD(session, OPT, ranks, "how many there are") \
        FIELD(session, SEQ, parent_seq, "after fork: the parent's last event") \
    END(session) \
    KIND(source, "text of a source file, before the first event with a call site in it") \
        FIELD(source, STR, path, "as compiled") \
        FIELD(source, STR, hash, "FNV-1a of the text") \
        FIELD(source, STR, text, "the file") \
    END(source) \
    KIND(segment, "the caching allocator allocated memory from a card, or pinned memory") \
        FIELD(segment, DEV, device, "where") \
        FIELD(segment, ENUM, mem, "device or pinned") \
        FIELD(segment, ADDR, addr, "modelled address") \
        FIELD(segment, INT, bytes, "how many") \
        FIELD(segment, ENUM, pool, "small (blocks up to 1 MiB) or large") \
        FIELD(segment, OPT, stream, "stream of its blocks") \
        FIELD(segment, INT, held, "ns the host was blocked") \
    END(segment) \
    KIND(segment_free, "the caching allocator returned a segment to the card") \
        FIELD(segment_free, DEV, device, "where") \
        FIELD(segment_free, ADDR, addr, "modelled address") \
        FIELD(segment_free, INT, bytes, "how many") \
        FIELD(segment_free, ENUM, why, "user (empty_cache) or oom") \
        FIELD(segment_free, INT, held, "ns the host was blocked") \
    END(segment_free) \
    KIND(alloc, "a storage was allocated") \
        FIELD(alloc, ID, storage, "its id, never reused") \
        FIELD(alloc, DEV, device, "where") \
        FIELD(alloc, ENUM, mem, "pageable, pinned, device or foreign") \
        FIELD(alloc, ADDR, addr, "modelled address") \
        FIELD(alloc, INT, asked, "bytes asked for") \
        FIELD(alloc, INT, bytes, "bytes allocated, after rounding") \
        FIELD(alloc, OPT, stream, "stream it belongs to") \
        FIELD(alloc, INT, tenant, "how many storages used this address before") \
        FIELD(alloc, FLAG, before, "it was there before the trace began") \
    END(alloc) \
    KIND(free, "a storage was freed: its last reference was dropped") \
        FIELD(free, ID, storage, "which") \
        FIELD(free, INT, bytes, "bytes freed") \
        FIELD(free, FLAG, deferred, "its block is not reused yet: another stream may still use it") \
    END(free) \
    KIND(tensor, "a tensor handle was created") \
        FIELD(tensor, ID, tensor, "its id, never reused") \
        FIELD(tensor, STR, name, "name of the variable, if the source shows it") \
        FIELD(tensor, ID, storage, "the storage that it views") \
        FIELD(tensor, DIMS, shape, "sizes") \
        FIELD(tensor, DIMS, strides, "in elements") \
        FIELD(tensor, INT, offset, "first element, in elements") \
        FIELD(tensor, STR, dtype, "element type: float32, int64, bool ..., or one that Ferry does not have") \
        FIELD(tensor, OPT, itemsize, "bytes of an element; left out: as its dtype says") \
        FIELD(tensor, DEV, device, "of its storage") \
        FIELD(tensor, ID, view_of, "the tensor that it was made from as a view") \
        FIELD(tensor, FLAG, saved, "a handle of the autograd graph, which keeps the bytes for a gradient") \
    END(tensor) \
    KIND(name, "a handle got a new name") \
        FIELD(name, ID, tensor, "which") \
        FIELD(name, STR, name, "the name") \
    END(name) \
    KIND(same, "a call returned its argument: device and dtype were as asked") \
        FIELD(same, ID, tensor, "which") \
        FIELD(same, STR, name, "name of the variable that it is assigned to, if the source shows it") \
    END(same) \
    KIND(results, "what a call returned, if that is more than one tensor") \
        FIELD(results, IDS, tensors, "in the order in which the program gets them; .indices comes last") \
    END(results) \
    KIND(drop, "a tensor handle was freed") \
        FIELD(drop, ID, tensor, "which") \
        FIELD(drop, ENUM, why, "free, scope, exit; graph: saved for a gradient until now; data: fy_module_to put another in its place") \
    END(drop) \
    KIND(copy, "a copy was issued") \
        FIELD(copy, ID, id, "id of the work, shared with its complete") \
        FIELD(copy, SIDE, src, "from") \
        FIELD(copy, SIDE, dst, "to") \
        FIELD(copy, INT, bytes, "how many") \
        FIELD(copy, ENUM, dir, "h2h, h2d, d2h, d2d, p2p") \
        FIELD(copy, OPT, stream, "stream of the card; between two cards: of the source's") \
        FIELD(copy, OPT, dst_stream, "p2p: current stream of the destination's card; it waits too") \
        FIELD(copy, BOOL, async, "requested as non_blocking") \
        FIELD(copy, BOOL, was_async, "did not block the host") \
        FIELD(copy, ENUM, route, "direct, staged or host") \
        FIELD(copy, ENUM, cast, "source or destination: the side where the dtype was converted") \
        FIELD(copy, ENUM, why, "user, op, print, item, save, policy, grad; size: the result's size depends on values") \
        FIELD(copy, SEQ, cause, "event that needed it") \
        FIELD(copy, INT, held, "ns the host was blocked") \
    END(copy) \
    KIND(op, "an operation was launched on a card, or computed on the host") \
        FIELD(op, ID, id, "id of the work, shared with its complete") \
        FIELD(op, STR, name, "add, matmul ...") \
        FIELD(op, DEV, device, "where it runs") \
        FIELD(op, OPT, stream, "stream of the card") \
        FIELD(op, REFS, in, "what it reads; a launch of a list: as many for each output, in their order") \
        FIELD(op, REFS, out, "what it writes; version is the one after the write") \
        FIELD(op, JSON, numbers, "its numbers by PyTorch's names: alpha, dim ..., other or self for one in place of a tensor; of cat and stack the part that it writes. Without defaults such as alpha 1; may differ between machines, as a time does") \
        FIELD(op, ENUM, dtype, "dtype of the computation") \
        FIELD(op, INT, flops, "floating point operations") \
        FIELD(op, INT, bytes, "bytes read and written") \
        FIELD(op, STR, kernel, "CUDA kernel") \
        FIELD(op, DIM3, grid, "blocks") \
        FIELD(op, DIM3, block, "threads per block") \
        FIELD(op, STR, blas, "BLAS routine, if one was used") \
        FIELD(op, INT, held, "ns the host was blocked") \
        FIELD(op, FLAG, inplace, "writes into an operand") \
        FIELD(op, JSON, sides, "of a collective: a list of {device, stream, rank}, one for each output") \
        FIELD(op, FLAG, own, "a kernel of the program's own, known by its name") \
        FIELD(op, JSON, declared, "of such a kernel: what it was said to access, a list of {storage, first, bytes, write}") \
        FIELD(op, JSON, observed, "likewise what it was seen to access") \
    END(op) \
    KIND(complete, "a copy or an op ended") \
        FIELD(complete, ID, id, "which") \
        FIELD(complete, INT, start, "ns") \
        FIELD(complete, INT, end, "ns") \
        FIELD(complete, ENUM, engine, "h2d, d2h, p2p, compute or host") \
        FIELD(complete, OPT, wire, "ns on the bus; by way of the host: on both") \
        FIELD(complete, OPT, wire_up, "by way of the host: ns of `wire` on the bus to the destination's card") \
        FIELD(complete, OPT, staging, "ns in the staging buffer") \
        FIELD(complete, OPT, overhead, "ns of call and launch overhead") \
        FIELD(complete, OPT, launch, "measured, and its stream was idle: ns from `start` to the return of its launch") \
        FIELD(complete, OPT, marks, "likewise: ns that an empty kernel takes on a busy stream. The work took at least end - start - launch - marks") \
    END(complete) \
    KIND(sync, "the host waited") \
        FIELD(sync, ENUM, scope, "device, stream, event, copy") \
        FIELD(sync, DEV, device, "for which card") \
        FIELD(sync, OPT, stream, "for which stream") \
        FIELD(sync, ID, event, "for which event") \
        FIELD(sync, ENUM, why, "user, item, print, save, size, copy, free, oom; policy: launch blocking") \
        FIELD(sync, SEQ, cause, "event that needed it") \
        FIELD(sync, INT, held, "ns the host was blocked") \
    END(sync) \
    KIND(event_record, "an event was recorded in a stream") \
        FIELD(event_record, ID, event, "its id, from 1") \
        FIELD(event_record, DEV, device, "card") \
        FIELD(event_record, OPT, stream, "stream") \
        FIELD(event_record, OPT, when, "ns at which the stream reaches it, if known") \
    END(event_record) \
    KIND(event_wait, "a stream waits for an event") \
        FIELD(event_wait, ID, event, "its id") \
        FIELD(event_wait, DEV, device, "card of the stream that waits") \
        FIELD(event_wait, OPT, stream, "stream that waits") \
    END(event_wait) \
    KIND(query, "the program queried whether work has ended, without waiting") \
        FIELD(query, ENUM, scope, "stream or event") \
        FIELD(query, DEV, device, "card") \
        FIELD(query, OPT, stream, "stream") \
        FIELD(query, ID, event, "event") \
        FIELD(query, BOOL, done, "the result; true orders like a wait") \
    END(query) \
    KIND(record_stream, "another stream uses a storage (fy_record_stream)") \
        FIELD(record_stream, ID, tensor, "which") \
        FIELD(record_stream, ID, storage, "its bytes") \
        FIELD(record_stream, DEV, device, "card") \
        FIELD(record_stream, OPT, stream, "stream") \
    END(record_stream) \
    KIND(graph, "a node of the autograd graph: recorded, run by a backward pass, or its saved tensors released") \
        FIELD(graph, ID, node, "its id, never reused") \
        FIELD(graph, ENUM, what, "make, run (its ops follow; its region says which call it differentiates) or release") \
        FIELD(graph, STR, op, "the op or view that it differentiates; leaf: gradients add up in it") \
        FIELD(graph, ID, tensor, "the result") \
        FIELD(graph, IDS, saves, "handles of its own that it keeps for the gradient") \
        FIELD(graph, IDS, next, "nodes of the operands; 0: no gradient is needed") \
    END(graph) \
    KIND(backward, "a backward pass") \
        FIELD(backward, ENUM, what, "begin or end") \
        FIELD(backward, ID, tensor, "the tensor whose gradients it computes") \
    END(backward) \
    KIND(grad, "a gradient was stored in a leaf, or in a tensor that retains its gradient") \
        FIELD(grad, ID, leaf, "the tensor that it is the gradient of") \
        FIELD(grad, ID, tensor, "the gradient") \
        FIELD(grad, ID, storage, "its bytes") \
        FIELD(grad, FLAG, added, "to an earlier one") \
    END(grad) \
    KIND(state, "an optimizer made a tensor that it keeps for a parameter") \
        FIELD(state, ID, parameter, "the parameter") \
        FIELD(state, ID, tensor, "what it keeps") \
        FIELD(state, ID, storage, "its bytes") \
        FIELD(state, STR, what, "exp_avg, exp_avg_sq, max_exp_avg_sq or momentum_buffer") \
        FIELD(state, STR, optimizer, "Adam, AdamW or SGD") \
    END(state) \
    KIND(batch, "a loader's batch: a worker, or without workers the loop, begins it; it is ready; the loop takes it") \
        FIELD(batch, ENUM, what, "begin, ready (workers only) or taken") \
        FIELD(batch, ID, loader, "its id, from 1") \
        FIELD(batch, INT, epoch, "which loop over the loader, from 0") \
        FIELD(batch, INT, index, "which batch of the epoch, from 0") \
        FIELD(batch, OPT, worker, "who makes it; absent without workers") \
        FIELD(batch, IDS, tensors, "its tensors, once made") \
        FIELD(batch, OPT, held, "taken: ns the loop waited for it") \
    END(batch) \
    KIND(data_race, "two accesses that nothing orders") \
        FIELD(data_race, ENUM, type, "read_early, write_early, race or reuse") \
        FIELD(data_race, ID, storage, "bytes of the later access") \
        FIELD(data_race, INT, first, "first byte in it") \
        FIELD(data_race, INT, bytes, "how many both access") \
        FIELD(data_race, SEQ, a, "the earlier access: a copy, op, host_read or host_write") \
        FIELD(data_race, SEQ, b, "the later one") \
        FIELD(data_race, STR, fix, "the call that would order the two") \
    END(data_race) \
    KIND(set_device, "the thread's current card changed") \
        FIELD(set_device, DEV, device, "the new current card") \
    END(set_device) \
    KIND(set_stream, "the thread's current stream of a card changed") \
        FIELD(set_stream, DEV, device, "card") \
        FIELD(set_stream, OPT, stream, "its new current stream") \
    END(set_stream) \
    KIND(peer, "peer access between two cards; emitted before the first copy between them") \
        FIELD(peer, DEV, from, "card") \
        FIELD(peer, DEV, to, "card") \
        FIELD(peer, BOOL, can, "false: copies go through the host") \
    END(peer) \
    KIND(mode, "a mode was set") \
        FIELD(mode, STR, mode, "launch_blocking, autocast cuda float16, training (of a module) ...") \
        FIELD(mode, BOOL, on, "is it on") \
    END(mode) \
    KIND(host_read, "the program read tensor data through the API") \
        FIELD(host_read, ID, tensor, "which") \
        FIELD(host_read, ID, storage, "its bytes") \
        FIELD(host_read, INT, version, "version that was read") \
        FIELD(host_read, INT, first, "first element") \
        FIELD(host_read, INT, count, "elements") \
        FIELD(host_read, ENUM, via, "at, item, print, data, answer, save") \
    END(host_read) \
    KIND(host_write, "the program wrote tensor data through the API") \
        FIELD(host_write, ID, tensor, "which") \
        FIELD(host_write, ID, storage, "its bytes") \
        FIELD(host_write, INT, version, "version after the write") \
        FIELD(host_write, INT, first, "first element") \
        FIELD(host_write, INT, count, "elements") \
        FIELD(host_write, ENUM, via, "set, data, given, load, blob") \
    END(host_write) \
    KIND(oom, "an allocation failed") \
        FIELD(oom, DEV, device, "where") \
        FIELD(oom, INT, asked, "bytes asked for") \
        FIELD(oom, INT, allocated, "bytes in use") \
        FIELD(oom, INT, reserved, "bytes allocated from the card") \
        FIELD(oom, INT, free, "bytes free") \
        FIELD(oom, INT, largest, "bytes of the largest free block") \
    END(oom) \
    KIND(mark, "a mark of the program (fy_mark), or a call of fy_now") \
        FIELD(mark, STR, text, "of fy_mark; absent for fy_now") \
        FIELD(mark, OPT, now, "ns on the session's clock") \
    END(mark) \
    KIND(scalar, "a number that the program logged, such as its loss (fy_log_scalar); may differ between machines") \
        FIELD(scalar, STR, name, "the curve that it belongs to") \
        FIELD(scalar, REAL, value, "the number") \
    END(scalar) \
    KIND(given, "a lesson's input was loaded") \
        FIELD(given, STR, name, "name asked for") \
        FIELD(given, ID, tensor, "the tensor") \
        FIELD(given, ID, storage, "its bytes") \
        FIELD(given, DEV, device, "where") \
    END(given) \
    KIND(answer, "a result was submitted") \
        FIELD(answer, STR, name, "name of the answer") \
        FIELD(answer, ID, tensor, "the tensor") \
        FIELD(answer, ID, storage, "its bytes") \
        FIELD(answer, DEV, device, "of its storage when submitted") \
    END(answer) \
    KIND(values, "contents of a tensor; may differ between machines") \
        FIELD(values, ID, tensor, "whose") \
        FIELD(values, INT, version, "version that was sampled") \
        FIELD(values, ID, work, "the copy or op whose result this is; absent: the host read or wrote it") \
        FIELD(values, INT, first, "first element, row-major") \
        FIELD(values, NUMS, data, "values; all of them for an answer of up to 65536 elements") \
        FIELD(values, INT, count, "elements in the tensor") \
        FIELD(values, OPT, seen, "elements that the following are of: all, or so many, evenly spaced") \
        FIELD(values, REAL, min, "smallest") \
        FIELD(values, REAL, max, "largest") \
        FIELD(values, REAL, mean, "mean") \
        FIELD(values, INT, nan, "how many are NaN") \
        FIELD(values, OPT, inf, "how many are infinite") \
        FIELD(values, NUMS, range, "smallest and largest of the finite ones; absent: fewer than 2") \
        FIELD(values, NUMS, bins, "how many finite ones lie in each of so many equal parts of the range") \
    END(values) \
    KIND(error, "a call failed") \
        FIELD(error, STR, code, "device_mismatch, shape, device, oom, use_after_free, device_pointer ...") \
        FIELD(error, STR, message, "what, with real values") \
        FIELD(error, STR, hint, "how to fix it") \
        FIELD(error, STR, written, "the call as the program has it") \
        FIELD(error, IDS, operands, "the tensors that it is about, in the order of the arguments") \
        FIELD(error, SEQ, caused_by, "the earlier event whose work failed") \
    END(error) \
    KIND(check, "the result of one of the grader's checks") \
        FIELD(check, STR, lesson, "which lesson") \
        FIELD(check, STR, check, "name of the check") \
        FIELD(check, BOOL, pass, "did it pass") \
        FIELD(check, INT, points, "points it earned") \
        FIELD(check, IDS, at, "seqs of the deciding events") \
        FIELD(check, STR, expected, "expected result") \
        FIELD(check, STR, got, "actual result") \
        FIELD(check, STR, message, "in plain words") \
    END(check) \
    KIND(grade, "the verdict") \
        FIELD(grade, STR, lesson, "which lesson") \
        FIELD(grade, BOOL, pass, "did all checks pass") \
        FIELD(grade, INT, passed, "checks passed") \
        FIELD(grade, INT, checks, "checks made") \
        FIELD(grade, STR, message, "in plain words") \
    END(grade) \
    KIND(lost, "a slot that a killed program claimed and never filled") \
    END(lost) \
    KIND(log_full, "the log's limit was reached; nothing later is recorded") \
        FIELD(log_full, INT, limit, "events") \
    END(log_full) \
    KIND(end, "the session ended normally") \
        FIELD(end, INT, status, "exit status; -1 if not known yet") \
        FIELD(end, IDS, live, "live storages") \
    END(end)

#endif
