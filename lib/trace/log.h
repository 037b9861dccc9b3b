/* log.h: the readers' interface to the slot log: an append-only file, whose newest part its writer has mapped.
 *
 * One process writes it (event.h); any number of readers, in the same process or in others, follow with a cursor. A
 * slot is readable once it is published. One that was claimed and not published blocks readers while the writer lives,
 * and reads as `lost` after it has died. A fy_log is for one thread at a time. */
#ifndef FERRY_LOG_H
#define FERRY_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "text.h"

typedef struct fy_log fy_log;

/* Creates an empty log file. path NULL: an unlinked file (mode 0600) in $XDG_STATE_HOME/ferry or ~/.local/state/ferry,
 * whichever only this user can write, else in /tmp. limit: maximum number of events; 0: any number, in at most 4 GiB or
 * what FERRY_LOG_LIMIT says. Returns a descriptor (close-on-exec) that the caller owns, or -1 with a message in err;
 * errno is EBUSY while another program writes that log. A named log stays locked until it is closed and unmapped. */
int fy_log_file(const char *path, uint64_t limit, char *err, size_t room);
/* Likewise an unlinked one of any number of events, in so many bytes unless FERRY_LOG_LIMIT says otherwise. */
int fy_log_file_within(uint64_t bytes, char *err, size_t room);

/* Maps a log file; the caller keeps the descriptor. NULL with a message in err if it is no log, or from another
 * version. */
fy_log *fy_log_open(int fd, char *err, size_t room);
void fy_log_close(fy_log *log);

/* The caller knows that the writer is dead (it waited for it): from now on unpublished slots read as `lost`. Otherwise
 * fy_log_read checks whether the writer's pid is alive. */
void fy_log_writer_died(fy_log *log);

/* Appends events from *cursor on to out, as JSON lines, until out has about `bytes` bytes; advances *cursor. Returns
 * the number of lines. If out of memory it sets out->lost and stops before the next line. */
size_t fy_log_read(fy_log *log, uint64_t *cursor, fy_text *out, size_t bytes);

/* Has everything been read? True once the writer has ended the log or is dead, and cursor is at the end. */
bool fy_log_drained(fy_log *log, uint64_t cursor);
uint64_t fy_log_count(const fy_log *log); /* events claimed so far */
bool fy_log_is_truncated(fy_log *log);    /* was the file truncated after it was written? */
bool fy_log_is_log(int fd);               /* does the file start with a log's magic number? */

/* From now on fy_emit appends to `log`, of which this process is not the writer: the grader's verdicts. Only after the
 * writer has ended. */
void fy_log_write_to(fy_log *log);

/* Makes this process the writer of the log behind fd (fy_session_start does it for programs). */
bool fy_log_adopt(int fd, char *err, size_t room);

/* The whole schema as one JSON object {kind: {"doc":..., "fields":[{"name","type","doc"}]}}. (format.c) */
void fy_schema_json(fy_text *out);

/* Start time of a process in clock ticks since boot, which detects a reused pid; 0 if it is not alive, or a zombie. Of
 * this process for pid 0. (log_reader.c) */
uint64_t fy_process_started(int64_t pid);

#endif
