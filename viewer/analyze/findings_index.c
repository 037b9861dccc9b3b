/* findings_index.c: the containers of a history: growing lists, and hash maps from the log's ids and strings to
 * indices. Ids are hashed because they need not be dense: a forked child continues its parent's. */
#include "findings_history.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "text.h"

uint64_t map_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t slot_of(const id_map *m, uint64_t key)
{
    size_t i = map_mix(key) & (m->room - 1);
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

int *map_at(id_map *m, uint64_t key)
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

int map_find(const id_map *m, int64_t key)
{
    if (!m->room || key <= 0) return -1;
    size_t i = slot_of(m, (uint64_t)key);
    return m->keys[i] ? m->values[i] : -1;
}

bool history_grow(history *h, void *list, int *room, int count, size_t size)
{
    void **p = list;
    if (count < *room) return true;
    int more = *room ? 2 * *room : 64;
    if (more <= *room) return !(h->too_long = true);
    void *grown = memory_realloc(*p, (size_t)more, size, "a log");
    memset((char *)grown + (size_t)*room * size, 0, (size_t)(more - *room) * size);
    *p = grown;
    *room = more;
    return true;
}

static uint64_t hash_text(fy_bytes s)
{
    uint64_t z = 0xcbf29ce484222325u;
    for (size_t i = 0; i < s.size; i++) z = (z ^ (unsigned char)s.data[i]) * 0x100000001b3u;
    return map_mix(z) | 1;
}

static int name_of_hash(history *h, fy_bytes text, uint64_t key)
{
    for (;; key += 2) { /* strings with equal hashes take consecutive keys */
        int *at = map_at(&h->name_ids, key);
        if (*at >= 0 && (strlen(h->names[*at]) != text.size || memcmp(h->names[*at], text.data, text.size))) continue;
        if (*at >= 0) return *at;
        char **to = HISTORY_ADD(h, name);
        if (!to) return -1;
        *to = utf8_copy(text);
        return *map_at(&h->name_ids, key) = h->name_count - 1;
    }
}

/* Names are stored as valid UTF-8, so that an invalid text is converted before the lookup. */
int name_index(history *h, fy_bytes text)
{
    text.size = strnlen(text.data, text.size);
    if (!text.size) return -1;
    if (fy_utf8_is_valid(text.data, text.size)) return name_of_hash(h, text, hash_text(text));
    char *valid = utf8_copy(text);
    text = (fy_bytes){valid, strlen(valid)};
    int i = name_of_hash(h, text, hash_text(text));
    free(valid);
    return i;
}

void map_free(id_map *m)
{
    free(m->keys);
    free(m->values);
    *m = (id_map){0};
}
