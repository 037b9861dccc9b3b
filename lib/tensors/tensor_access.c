/* tensor_access.c: tensor accesses by launches and by the host, for the race detector. */
#include "tensor_access.h"

#include "byte_range.h"
#include "device.h"
#include "race_detector.h"
#include "run_work.h"
#include "shape.h"
#include "stream.h"
#include "tensor.h"
#include "vector_clock.h"

/* False if x is empty, or if the host accesses a storage that no stream has accessed: no race is possible. */
static bool access_of(const fy_tensor *x, int agent, bool write, uint8_t bit, fy_access *a)
{
    if (agent == FY_HOST && !__atomic_load_n(&x->storage->history, __ATOMIC_RELAXED)) return false;
    fy_geometry g = fy_geometry_of(x);
    fy_layout layout = fy_layout_of(&g);
    if (layout.numel == 0) return false;
    *a = (fy_access){.history = &x->storage->history,
                     .storage = x->storage->id,
                     .tensor = x->id,
                     .name = x->name,
                     .agent = agent,
                     .write = write,
                     .bit = bit,
                     .bytes = fy_byte_range_of(&layout, x->offset, x->element_size)};
    return true;
}

void fy_launch_tensor(fy_launch *l, int agent, const fy_tensor *x, bool write, uint8_t bit, int item)
{
    if (!access_of(x, agent, write, bit, &l->access[l->n])) return;
    if (agent != FY_HOST && x->storage->filled.native)
        fy_storage_await_fill(x->storage, fy_dev_at(fy_agent_device(agent)), fy_agent_stream(agent));
    l->access[l->n++].item = (uint8_t)item;
}

void fy_host_access_tensor(fy_site *at, const fy_tensor *x, bool write, uint64_t seq)
{
    const fy_dev *d = x->storage->dev;
    fy_access a;
    if (access_of(x, fy_agent_of(d, fy_stream_current(d)), write, 0, &a)) fy_host_access(at, &a, seq);
}
