/* findings_fields.c: converts and checks an event's fields for a history. */
#include "event.h"
#include "findings_history.h"

#include <stdlib.h>
#include <string.h>

int history_site(history *h, const fy_event *e)
{
    int file = e->line ? name_index(h, fy_event_bytes(e, e->file)) : -1;
    if (file < 0 || e->line > 100000000) return -1;
    int *at = id_map_at(&h->site_ids, ((uint64_t)file << 32 | e->line) + 1);
    if (*at >= 0) return *at;
    place *s = HISTORY_ADD(h, site);
    if (!s) return -1;
    *s = (place){.file = file, .line = (int)e->line, .fn = name_index(h, fy_event_bytes(e, e->fn))};
    return *at = h->site_count - 1;
}

int device_named(const char *s)
{
    if (!strncmp(s, "cpu", 3)) return 0;
    long n = strncmp(s, "cuda:", 5) ? -1 : strtol(s + 5, NULL, 10);
    return n >= 0 && n < MOST_CARDS ? (int)n + 1 : -1;
}

int device_index(uint8_t device) { return device <= MOST_CARDS ? device : -1; }
int stream_index(int64_t stream) { return stream >= 0 && stream < 1 << 20 ? (int)stream : -1; }
int64_t amount(int64_t n) { return n > 0 && n < MOST_AMOUNT ? n : 0; }
int64_t whole(int64_t n) { return n == FY_ABSENT ? -1 : n; }
