/* findings_fields.c: an event's fields as what a history keeps of them. */
#include "event.h"
#include "findings_history.h"

#include <stdlib.h>
#include <string.h>

int history_site(history *h, const cJSON *e)
{
    int64_t line = event_int(e, "line");
    int file = name_index(h, event_text(e, "file"));
    if (file < 0 || line < 1 || line > 100000000) return -1;
    int *at = map_at(&h->site_ids, ((uint64_t)file << 32 | (uint64_t)line) + 1);
    if (*at >= 0) return *at;
    place *s = HISTORY_ADD(h, site);
    if (!s) return -1;
    *s = (place){file, (int)line};
    return *at = h->site_count - 1;
}

uint8_t field_word(const cJSON *e, const char *field)
{
    static const char *const words[] = {
#define W(word) #word,
        FY_WORDS(W)
#undef W
    };
    const char *s = event_text(e, field);
    for (size_t i = 1; *s && i < sizeof words / sizeof *words; i++)
        if (*s == *words[i] && !strcmp(s, words[i])) return (uint8_t)i;
    return FY_WORD_none;
}

uint8_t field_kind(const cJSON *e)
{
    static const char *const kinds[] = {"",
#define KIND(kind, doc) #kind,
#define FIELD(kind, type, name, doc)
#define END(kind)
                                        FY_SCHEMA(KIND, FIELD, END)
#undef KIND
#undef FIELD
#undef END
    };
    const char *s = event_kind(e);
    for (size_t i = 1; i < sizeof kinds / sizeof *kinds; i++)
        if (*s == *kinds[i] && !strcmp(s, kinds[i])) return (uint8_t)i;
    return 0;
}

int device_named(const char *s)
{
    if (!strncmp(s, "cpu", 3)) return 0;
    long n = strncmp(s, "cuda:", 5) ? -1 : strtol(s + 5, NULL, 10);
    return n >= 0 && n < MOST_CARDS ? (int)n + 1 : -1;
}

int field_device(const cJSON *e, const char *field) { return device_named(event_text(e, field)); }

int64_t field_amount(const cJSON *e, const char *field)
{
    int64_t n = event_int(e, field);
    return n > 0 && n < (int64_t)1 << 50 ? n : 0;
}

bool field_is_yes(const cJSON *e, const char *field)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(e, field));
}
