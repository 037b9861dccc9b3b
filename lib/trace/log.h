/* log.h: the slot log as its readers see it: a shared, append-only mapping of a file.
 *
 * One writer process maps it and emits (event.h); any number of readers, in the same process or in
 * others, follow with a cursor. A slot is readable once it is published. A slot that was claimed and
 * never published holds readers back while the writer lives and reads as `lost` once it is dead. */
#ifndef FERRY_LOG_H
#define FERRY_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "text.h"

typedef struct fy_log fy_log;

/* Make the file behind a log, sized and empty. path NULL: an unlinked file (mode 0600) in
 * $XDG_STATE_HOME/ferry or ~/.local/state/ferry, whichever is this user's alone, else in /tmp.
 * limit: events at most, 0 for the default (4 million). Returns a descriptor (close-on-exec) that the
 * caller owns, or -1 with a message in err; errno is EBUSY where a living program writes a log of that name. A named
 * log is locked until its descriptors are closed and its mappings gone. */
int fy_log_file(const char *path, uint64_t limit, char *err, size_t room);

/* Map a log file. The descriptor stays the caller's. NULL with a message in err when it is not a log,
 * or one of another layout. */
fy_log *fy_log_open(int fd, char *err, size_t room);
void fy_log_close(fy_log *log);

/* Say that the writer is dead (waited for): from now on unpublished slots read as `lost`.
 * Without it fy_log_read asks the kernel whether the writer's pid lives. */
void fy_log_writer_gone(fy_log *log);

/* Append JSON lines of events [*cursor, ...) to out until out holds about `bytes`; moves *cursor.
 * Returns the number of lines. Where there is no memory for the next, out->lost says so, and *cursor stays there. */
size_t fy_log_read(fy_log *log, uint64_t *cursor, fy_text *out, size_t bytes);

/* Has everything been read that will ever come? True when the writer ended in order or is dead and
 * cursor is at the end. */
bool fy_log_drained(fy_log *log, uint64_t cursor);
uint64_t fy_log_count(const fy_log *log); /* events claimed so far */
bool fy_log_is_cut(fy_log *log);          /* was the file cut off, so that less is there than was written? */
bool fy_log_is_log(int fd);               /* does the file begin like a log? */

/* Record into `log` from this process although it is not its writer: the grader appends verdicts.
 * Only after the writer is gone. From now on fy_emit writes there. */
void fy_log_write_to(fy_log *log);

/* Make this process the writer of the log behind fd (fy_session_start does it for programs). */
bool fy_log_adopt(int fd, char *err, size_t room);

/* The whole schema as one JSON object {kind: {"doc":..., "fields":[{"name","type","doc"}]}}. (format.c) */
void fy_schema_json(fy_text *out);

/* When a process was born, in the kernel's ticks; 0 if it does not live, or is a zombie. Tells a process
 * from a later one with its number. (log_reader.c) */
uint64_t fy_process_started(int64_t pid);

#endif
