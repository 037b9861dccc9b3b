/* findings_index.c: the containers of a history: growing lists, and its strings. */
#include "findings_history.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "text.h"

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
    return id_map_mix(z) | 1;
}

static int name_of_hash(history *h, fy_bytes text, uint64_t key)
{
    for (;; key += 2) { /* strings with equal hashes take consecutive keys */
        int *at = id_map_at(&h->name_ids, key);
        if (*at >= 0 && (strlen(h->names[*at]) != text.size || memcmp(h->names[*at], text.data, text.size))) continue;
        if (*at >= 0) return *at;
        char **to = HISTORY_ADD(h, name);
        if (!to) return -1;
        *to = utf8_copy(text);
        return *id_map_at(&h->name_ids, key) = h->name_count - 1;
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
