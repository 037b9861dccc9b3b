/* feed.h: the JSON lines of a run, read from a slot log that may still grow, or from a saved file.
 *
 * A cursor counts lines, starting at 0. Thread-safe, except feed_free. err gets a sentence with the fix. */
#ifndef FERRY_FEED_H
#define FERRY_FEED_H

#include <stdbool.h>

#include "text.h"
#include "trace.h"

typedef struct feed feed;
feed *feed_of_log(int fd, char *err, size_t room); /* takes ownership of the descriptor, also on failure */
/* A .jsonl file or a slot log, detected by its first bytes. All lines are validated: err names a bad line's number. */
feed *feed_of_file(const char *path, char *err, size_t room);
void feed_writer_ended(feed *f); /* the writing process is known to be dead: wait for no more events */
/* Appends lines from the cursor on, at most so many bytes but at least one line; advances the cursor, returns how many.
 */
size_t feed_read(feed *f, uint64_t *cursor, fy_text *out, size_t bytes);
bool feed_drained(feed *f, uint64_t cursor); /* ended, and the cursor is at the end */
uint64_t feed_count(feed *f);                /* lines so far */
bool feed_ended(feed *f);                    /* no more lines will come: the writer exited or died */
bool feed_is_truncated(feed *f);             /* the log's file was cut off after it was written */
fy_kind feed_last_kind(feed *f);             /* of the last event so far; FY_KIND_unpublished: none */
const char *feed_warning(const feed *f);     /* what a damaged file, or a full log, lacks; NULL: nothing */
/* Visits each event of a file once, in order, while it is validated; note: as feed_warning. false: as feed_of_file. */
bool feed_each(const char *path, event_visit *visit, void *user, char *note, size_t note_room, char *err, size_t room);
void feed_free(feed *f);

#endif
