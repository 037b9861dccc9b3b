/* id_map.h: hash maps from ids to indices. Ids of a log are hashed, because they need not be dense: a forked child
 * continues its parent's. Running out of memory ends the process. */
#ifndef FERRY_ID_MAP_H
#define FERRY_ID_MAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct id_map { /* open addressing; key 0: a free slot */
    uint64_t *keys;
    int *values;
    size_t room, count;
} id_map;

uint64_t id_map_mix(uint64_t z);
/* The value slot of a key, inserted as -1 if it is new; valid until the next insertion. Key 0 is reserved. */
int *id_map_at(id_map *m, uint64_t key);
int id_map_find(const id_map *m, int64_t key); /* -1: not found */
void id_map_free(id_map *m);

#endif
