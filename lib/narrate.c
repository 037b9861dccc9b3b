/* narrate.c: the run as a story, one line an event, for people. */
#include <stdlib.h>

#include "slots.h"

size_t fy_narrate(fy_log *log, uint64_t *cursor, fy_text *out)
{
    return fy_log_read(log, cursor, out, SIZE_MAX);
}

void fy_story_free(struct fy_story *story) { free(story); }
