/* log_fact.h: a fact of a finished run, asked for in a short query: what a prediction is compared with, and what the
 * text of a lesson says.
 *
 *     count copy dir=h2d                 how many events of a kind
 *     sum copy.bytes dir=h2d             of a field of all of them
 *     max copy.bytes                     the largest
 *     first alloc.bytes storage=rows     of the first of them; last: of the last one
 *     max copy.held / first copy.held    how many times the second the first is, to the nearest whole number
 *
 * A condition compares a field as it is printed in the log. Where the field is a tensor or a storage, a name stands for
 * all tensors of that name. A dot leads into an object or a list: "copy.src.device", "op.in.0.storage". The fields are
 * those of lib/trace/schema.h, and line, t, fn and seq. */
#ifndef FERRY_LOG_FACT_H
#define FERRY_LOG_FACT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct log_facts log_facts; /* a run that can be asked */

log_facts *log_facts_of(const char *lines, size_t size); /* JSON lines; others are left out */
/* The answer as text: "3", "cuda:0", "true". Zero events: "0" of count, sum and max, "" of first and last, and of how
 * many times nothing is in something. false, with the reason in err, for a query that is not understood. */
bool log_fact(const log_facts *f, const char *query, char *out, size_t room, char *err, size_t err_room);
/* The lines of the program whose events were counted, "10, 10, 11", at most so many; "": none has a line. */
void log_fact_lines(const log_facts *f, const char *query, char *out, size_t room);
/* Does the schema have the query's kind and fields? Otherwise the answer would be 0 of any log. false, with the reason
 * in err. */
bool log_fact_is_known(const char *query, char *err, size_t room);
void log_facts_free(log_facts *f);

#endif
