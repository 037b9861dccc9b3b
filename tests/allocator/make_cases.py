#!/usr/bin/env python3
"""Scenarios for the caching allocator, to stdout: ours, beside the given ones.

A second model, written straight after c10/cuda/CUDACachingAllocator.cpp of PyTorch 1.13.1 (lists that are sorted
anew, no trees), says what each step should give.  python3 tests/allocator/make_cases.py >tests/allocator/cases.jsonl
"""
import json

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def size_text(n):
    for most, unit, by in ((KIB, "bytes", 0), (MIB, "KiB", KIB), (GIB, "MiB", MIB)):
        if n <= most:
            return f"{n / by:.2f} {unit}" if by else f"{n} {unit}"
    return f"{n / GIB:.2f} GiB"


class Full(Exception):
    pass


class Block:
    def __init__(self, segment, offset, size, stream, small):
        self.segment, self.offset, self.size, self.stream, self.small = segment, offset, size, stream, small
        self.allocated, self.events, self.uses = True, 0, set()


class Model:
    def __init__(self, capacity):
        self.capacity, self.blocks, self.sizes, self.pending = capacity, [], {}, []
        self.last = self.allocated = self.retries = self.ooms = self.most_allocated = self.most_reserved = 0

    def reserved(self):
        return sum(self.sizes.values())

    def is_free(self, b):
        return not b.allocated and b.events == 0 and not b.uses

    def of_segment(self, number):
        return sorted((b for b in self.blocks if b.segment == number), key=lambda b: b.offset)

    def merge(self, b):
        near = self.of_segment(b.segment)
        i = near.index(b)
        for other in near[max(i - 1, 0):i] + near[i + 1:i + 2]:
            if self.is_free(other):
                b.offset, b.size = min(b.offset, other.offset), b.size + other.size
                self.blocks.remove(other)

    def finish_events(self):
        for b in self.pending:
            b.events = 0
            self.merge(b)
        self.pending = []

    def release_cached(self):
        self.finish_events()
        for number in list(self.sizes):
            blocks = self.of_segment(number)
            if len(blocks) == 1 and self.is_free(blocks[0]):
                self.blocks.remove(blocks[0])
                del self.sizes[number]

    def new_segment(self, size, stream, small):
        if self.reserved() + size > self.capacity:
            return None
        self.last += 1
        self.sizes[self.last] = size
        self.most_reserved = max(self.most_reserved, self.reserved())
        self.blocks.append(Block(self.last, 0, size, stream, small))
        return self.blocks[-1]

    def alloc(self, asked, stream):
        if asked >= 1 << 60:
            raise Full("CUDA out of memory. Tried to allocate more than 1EB memory.")
        size = max(512, (asked + 511) // 512 * 512)
        small = size <= MIB
        segment = 2 * MIB if small else 20 * MIB if size < 10 * MIB else (size + 2 * MIB - 1) // (2 * MIB) * 2 * MIB
        fits = [b for b in self.blocks
                if self.is_free(b) and b.small == small and b.stream == stream and b.size >= size]
        b = min(fits, key=lambda b: (b.size, b.segment, b.offset), default=None)
        b = b or self.new_segment(segment, stream, small)
        if not b:
            self.release_cached()
            self.retries += 1
            b = self.new_segment(segment, stream, small)
        if not b:
            self.ooms += 1
            raise Full(f"CUDA out of memory. Tried to allocate {size_text(segment)} (GPU 0; "
                       f"{size_text(self.capacity)} total capacity; {size_text(self.allocated)} already allocated; "
                       f"{size_text(self.capacity - self.reserved())} free; {size_text(self.reserved())} reserved in "
                       "total by PyTorch)")
        rest = b.size - size
        if rest >= 512 if small else rest > MIB:
            tail = Block(b.segment, b.offset + size, rest, stream, small)
            tail.allocated = False
            self.blocks.append(tail)
            b.size = size
        b.allocated = True
        self.allocated += b.size
        self.most_allocated = max(self.most_allocated, self.allocated)
        return b

    def free(self, b):
        b.allocated = False
        self.allocated -= b.size
        if b.uses:
            b.events, b.uses = len(b.uses), set()
            self.pending.append(b)
        else:
            self.merge(b)


def play(name, capacity, steps):
    m, named, trace = Model(capacity), {}, []
    for step in steps:
        said = {"step": step}
        try:
            if step[0] == "alloc" and step[2] == 0:
                named[step[1]] = None
            elif step[0] == "alloc":
                b = named[step[1]] = m.alloc(step[2], step[3] if len(step) > 3 else 0)
                said.update(segment=b.segment, offset=b.offset, block=b.size)
            elif step[0] == "free":
                if named[step[1]]:
                    m.free(named[step[1]])
                del named[step[1]]
            elif step[0] == "empty_cache":
                m.release_cached()
            elif step[0] == "sync":
                m.finish_events()
            elif named[step[1]] and named[step[1]].stream != step[2]:
                named[step[1]].uses.add(step[2])
        except Full as e:
            said["error"] = str(e)
        said.update(allocated=m.allocated, reserved=m.reserved(), segments=len(m.sizes))
        trace.append(said)
    return {"name": name, "device_bytes": capacity, "trace": trace, "peak_allocated": m.most_allocated,
            "peak_reserved": m.most_reserved, "alloc_retries": m.retries, "ooms": m.ooms}


def alloc(name, size, *stream):
    return ["alloc", name, size, *stream]


def free(*names):
    return [["free", n] for n in names]


BIG = 80 * GIB
SCENARIOS = [
    ("sizes around 512", BIG, [alloc(n, s) for n, s in zip("abcde", (1, 511, 512, 513, 1024))]),
    ("sizes around 1 MiB", BIG, [alloc("a", MIB - 511), alloc("b", MIB), alloc("c", MIB + 1)]),
    ("sizes around 10 MiB", BIG, [alloc("a", 10 * MIB - 512), alloc("b", 10 * MIB - 511), alloc("c", 10 * MIB),
                                  alloc("d", 10 * MIB + 1)]),
    ("a large segment is rounded to 2 MiB and kept whole when 1 MiB or less is left", BIG,
     [alloc("a", 21 * MIB), alloc("b", 21 * MIB + 1), alloc("c", 23 * MIB - 512), alloc("d", 22 * MIB)]),
    ("a small block leaves 512 bytes, a full one nothing", BIG,
     [alloc("a", MIB), alloc("b", MIB - 512), alloc("c", 512), alloc("d", 512)]),
    ("a large block is cut when more than 1 MiB is left", BIG,
     [alloc("a", 4 * MIB), alloc("g", 2 * MIB), *free("a"), alloc("b", 3 * MIB), *free("b"),
      alloc("c", 3 * MIB - 512), alloc("d", MIB + 512)]),
    ("the smallest that fits, then the lowest address", BIG,
     [alloc("a", 4096), alloc("x", 512), alloc("b", 2048), alloc("y", 512), alloc("c", 2048), alloc("z", 512),
      *free("a", "c", "b"), alloc("d", 1024), alloc("e", 2048), alloc("f", 3000)]),
    ("the lower segment of two that fit alike", BIG,
     [alloc("a", 10 * MIB), alloc("b", 10 * MIB), *free("b", "a"), alloc("c", 10 * MIB), alloc("d", 10 * MIB)]),
    ("neighbours are one again, in whatever order they go", BIG,
     [alloc("a", 512), alloc("b", 512), alloc("c", 512), alloc("d", 512), *free("b", "d", "c"), alloc("e", 1536),
      *free("a", "e"), ["empty_cache"]]),
    ("small and large do not lend to one another", BIG,
     [alloc("a", 2 * MIB), *free("a"), alloc("b", 512), *free("b"), alloc("c", 2 * MIB)]),
    ("streams do not lend to one another", BIG,
     [alloc("a", 4096, 3), *free("a"), alloc("b", 4096), alloc("c", 4096, 3), *free("b", "c"), ["empty_cache"]]),
    ("empty_cache keeps what is partly in use", BIG,
     [alloc("a", 2 * MIB), alloc("b", 2 * MIB), alloc("s", 4), *free("a", "s"), ["empty_cache"], *free("b"),
      ["empty_cache"]]),
    ("a block that another stream uses waits for it", BIG,
     [alloc("a", 512), ["record_stream", "a", 1], *free("a"), alloc("b", 512), ["sync"], alloc("c", 512)]),
    ("its own stream need not be waited for", BIG,
     [alloc("a", 512, 2), ["record_stream", "a", 2], *free("a"), alloc("b", 512, 2)]),
    ("used by two streams, and said twice", BIG,
     [alloc("a", 2 * MIB), ["record_stream", "a", 1], ["record_stream", "a", 1], ["record_stream", "a", 2], *free("a"),
      alloc("b", 2 * MIB), ["sync"], *free("b"), alloc("c", 20 * MIB)]),
    ("the event is placed when the block is freed", BIG,
     [alloc("a", 512), ["record_stream", "a", 1], ["sync"], *free("a"), alloc("b", 512), ["sync"], alloc("c", 512)]),
    ("what waits does not merge", BIG,
     [alloc("a", 512), alloc("b", 512), alloc("c", 512), ["record_stream", "b", 1], *free("a", "b", "c"),
      alloc("d", 1024), ["sync"], alloc("e", 1024), *free("d", "e")]),
    ("used before it was freed and no more by the next", BIG,
     [alloc("a", 512), ["record_stream", "a", 1], *free("a"), ["sync"], alloc("b", 512), *free("b"), alloc("c", 512)]),
    ("empty_cache waits for the streams", BIG,
     [alloc("a", 2 * MIB), ["record_stream", "a", 1], *free("a"), ["empty_cache"], alloc("b", 2 * MIB)]),
    ("a full card waits for the streams", 32 * MIB,
     [alloc("a", 20 * MIB), ["record_stream", "a", 1], *free("a"), alloc("b", 24 * MIB)]),
    ("a full card gives back what is whole and unused, of every stream", 44 * MIB,
     [alloc("a", 2 * MIB), alloc("b", 2 * MIB), alloc("c", 20 * MIB, 1), alloc("s", 512), *free("a", "c", "s"),
      alloc("d", 22 * MIB)]),
    ("in pieces: enough is free, and none of it in one", 20 * MIB,
     [*[alloc(n, 2 * MIB) for n in "abcdefghij"], *free("b", "d", "f", "h"), alloc("k", 4 * MIB), *free("c"),
      alloc("k", 4 * MIB)]),
    ("nothing is left of one that failed", 64 * MIB,
     [alloc("a", 40 * MIB), alloc("b", 30 * MIB), alloc("b", 22 * MIB), *free("a"), alloc("c", 41 * MIB)]),
    ("a card of one small segment", 2 * MIB, [alloc("a", 4), alloc("b", 2 * MIB), alloc("c", MIB), alloc("d", MIB)]),
    ("the words for a card without any room", 1 << 20, [alloc("a", 4)]),
    ("more than there is of anything", BIG, [alloc("a", 1 << 60), alloc("b", (1 << 60) - 1024), alloc("c", 4)]),
    ("zero bytes are freed, used and forgotten", BIG,
     [alloc("a", 0), ["record_stream", "a", 1], *free("a"), alloc("a", 0), ["empty_cache"]]),
    ("sizes in GiB and KiB", 3 * GIB, [alloc("a", 2 * GIB), alloc("b", 1 << 20), alloc("c", GIB)]),
]

for i, (name, capacity, steps) in enumerate(SCENARIOS):
    print(json.dumps({"id": f"own_{i + 1:03}", **play(name, capacity, steps)}, separators=(",", ":")))
