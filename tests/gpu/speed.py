"""The operations of speed.c by PyTorch on the same card, as lines of figures.jsonl (README.md).

    python3 speed.py SIZE [BITS]

on 2**SIZE elements; BITS: the file of random numbers that speed.c wrote, to be compared with PyTorch's. Status 77:
there is no PyTorch that can use the card.
"""
import json
import os
import statistics
import sys
import time

try:
    import torch
    if not torch.cuda.is_available():
        raise ImportError("PyTorch finds no card")
except ImportError as why:
    print(f"skipped: {why}")
    sys.exit(77)

ROUNDS, CALLS, SMALL = 9, 4, 3000


def say(**figure):
    print(json.dumps(figure, separators=(",", ":")), flush=True)


def calls_ns(call, times):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(times):
        call()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1e6 / times


def time_op(op, dtype, elements, bytes_each, flops_each, call):
    calls_ns(call, 1)
    times = 1 if calls_ns(call, 1) > 5e7 else CALLS
    ns = sorted(calls_ns(call, times) for _ in range(ROUNDS))
    size, flops, median = elements * bytes_each, elements * flops_each, statistics.median(ns)
    say(figure="op", by="torch", op=op, dtype=dtype, elements=elements, bytes=size, flops=flops, ns=round(median),
        least=round(ns[0]), most=round(ns[-1]), GB_s=round(size / median, 1), TFLOP_s=round(flops / median / 1e3, 2))


def time_large(size):
    n, side, wide = 2**size, 4096 if size > 24 else 64, 32768 if size > 20 else 64
    x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    bf16, f16, rows, wide_rows = x.bfloat16(), x.half(), x.view(-1, 1024), x.view(-1, wide)
    elementwise = [
        ("add", "float32", 12, 1, lambda: x + y),
        ("add_", "float32", 12, 1, lambda: y.add_(x)),
        ("relu", "float32", 8, 1, lambda: x.relu()),
        ("exp", "float32", 8, 1, lambda: x.exp()),
        ("relu", "bfloat16", 4, 1, lambda: bf16.relu()),
        ("relu", "float16", 4, 1, lambda: f16.relu()),
        ("cast to bfloat16", "float32", 6, 0, lambda: x.bfloat16()),
        ("transpose", "float32", 8, 0, lambda: rows.t().contiguous()),
        ("add a row", "float32", 8, 1, lambda: rows + rows[0]),
        ("sum", "float32", 4, 1, lambda: x.sum()),
        ("sum of rows", "float32", 4, 1, lambda: rows.sum(1)),
        ("sum of columns", "float32", 4, 1, lambda: rows.sum(0)),
        ("max", "float32", 4, 1, lambda: x.max()),
        ("softmax of 1024", "float32", 8, 5, lambda: rows.softmax(1)),
        ("softmax of 32768", "float32", 8, 5, lambda: wide_rows.softmax(1)),
        ("cumsum of rows", "float32", 8, 1, lambda: rows.cumsum(1)),
        ("randn", "float32", 4, 0, lambda: torch.randn_like(x)),
    ]
    for op, dtype, bytes_each, flops_each, call in elementwise:
        time_op(op, dtype, n, bytes_each, flops_each, call)
    square = torch.rand(side, side, device="cuda")
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
        a = square.to(dtype)
        time_op("matmul", str(dtype)[6:], side * side, 3 * a.element_size(), 2 * side, lambda: a @ a)


def time_small(op, call, times):
    for _ in range(200):
        call()
    torch.cuda.synchronize()
    before = time.perf_counter_ns()
    for _ in range(times):
        call()
    queued = time.perf_counter_ns() - before
    torch.cuda.synchronize()
    say(figure="host_op", by="torch", op=op, traced=False, ns=queued // times,
        done_ns=(time.perf_counter_ns() - before) // times)


def compare_random_numbers(path):
    torch.manual_seed(1)
    own = torch.randn(2**20, device="cuda").cpu()
    with open(path, "rb") as file:
        ours = torch.frombuffer(bytearray(file.read()), dtype=torch.float32)
    say(figure="randn", of=own.numel(), equal=(own.view(torch.int32) == ours.view(torch.int32)).sum().item())


torch.backends.cuda.matmul.allow_tf32 = False
print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name(0)}")
time_large(int(sys.argv[1]))
small = torch.rand(1024, device="cuda")
time_small("relu", lambda: small.relu(), SMALL)
time_small("item", lambda: small[0].item(), SMALL // 3)
if len(sys.argv) > 2 and os.path.exists(sys.argv[2]):
    compare_random_numbers(sys.argv[2])
