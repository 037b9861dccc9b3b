/* feed.h: where the lines of a run come from: a slot log, or a saved file of JSON lines. */
#ifndef FERRY_FEED_H
#define FERRY_FEED_H

#include <stdbool.h>

#include "text.h"
#include "trace.h"

typedef struct feed feed;
feed *feed_of_log(int fd, char *err, size_t room);            /* takes the descriptor over */
feed *feed_of_file(const char *path, char *err, size_t room); /* a .jsonl or a slot log, told by its beginning;
                                   a bad line is named with its number, what is wrong and the fix */
void feed_writer_ended(feed *f);
size_t feed_read(feed *f, uint64_t *cursor, fy_text *out, size_t bytes);
bool feed_drained(feed *f, uint64_t cursor);
uint64_t feed_count(feed *f);            /* lines so far */
bool feed_ended(feed *f);                /* nothing more will come: its writer ended in order or is dead */
bool feed_is_truncated(feed *f);         /* somebody cut the log's file off: less is there than was written */
fy_kind feed_last_kind(feed *f);         /* of the last event so far; FY_KIND_unpublished: there is none */
const char *feed_warning(const feed *f); /* what was left out of a damaged file, in words; NULL: nothing */
/* Each event of a file, as it is checked, once, in order; note is what feed_warning says. False: as feed_of_file. */
bool feed_each(const char *path, event_visit *visit, void *user, char *note, size_t note_room, char *err, size_t room);
void feed_free(feed *f);

#endif
