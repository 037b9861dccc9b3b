/* id_map.c: see id_map.h. */
#include "id_map.h"

#include <stdlib.h>

#include "memory.h"

uint64_t id_map_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t slot_of(const id_map *m, uint64_t key)
{
    size_t i = id_map_mix(key) & (m->room - 1);
    while (m->keys[i] && m->keys[i] != key) i = (i + 1) & (m->room - 1);
    return i;
}

static void map_grow(id_map *m)
{
    id_map more = {.room = m->room ? 2 * m->room : 256, .count = m->count};
    more.keys = memory_zeroed(more.room, sizeof *more.keys, "a log");
    more.values = memory_zeroed(more.room, sizeof *more.values, "a log");
    for (size_t i = 0; i < m->room; i++)
        if (m->keys[i]) {
            size_t to = slot_of(&more, m->keys[i]);
            more.keys[to] = m->keys[i];
            more.values[to] = m->values[i];
        }
    free(m->keys);
    free(m->values);
    *m = more;
}

int *id_map_at(id_map *m, uint64_t key)
{
    if (2 * (m->count + 1) > m->room) map_grow(m);
    size_t i = slot_of(m, key);
    if (!m->keys[i]) {
        m->keys[i] = key;
        m->values[i] = -1;
        m->count++;
    }
    return &m->values[i];
}

int id_map_find(const id_map *m, int64_t key)
{
    if (!m->room || key <= 0) return -1;
    size_t i = slot_of(m, (uint64_t)key);
    return m->keys[i] ? m->values[i] : -1;
}

void id_map_free(id_map *m)
{
    free(m->keys);
    free(m->values);
    *m = (id_map){0};
}
