/* steps.h: the steps of a run, the same that the page shows: a step is what happens in one call of the program, from
 * its first event until another one's begins.
 *
 * An event is of the call that the log says; that is of the innermost call or region around it that the program wrote:
 * one with a place of its own, or a turn of a loop. So a backward pass is one step, and so is each call in a forward
 * function of the program. Events of one such call and of one thread that follow one another are a step; where the call
 * goes on after another one's events, another step of it begins.
 *
 * An operation's end, values, a source text and names come later, or tell nothing of their own: they begin no step.
 * Values of a result are logged when the next call waits for the card: they are of the step of the event behind them.
 * What no call causes (session, end, log_full, check, grade, lost) is a step of its own; but checks and their grade are
 * one, and so are lost events, and the end of a program that an error stops is the error's. */
#ifndef FERRY_STEPS_H
#define FERRY_STEPS_H

#include "trace.h"

typedef struct step {
    uint64_t from, to; /* its events */
    int file;          /* of its call: steps_file(); 0: none */
    uint32_t line;
} step;

typedef struct steps steps;

steps *steps_begin(void);
void steps_add(steps *s, const fy_event *e); /* each event once, in order */
int steps_count(const steps *s);
const step *steps_at(const steps *s, int i);
const char *steps_file(const steps *s, int file); /* as compiled; "" */
/* Line `line` of a file's text, without indentation; its length in *size, 0 if the text is not known. */
const char *steps_source(const steps *s, int file, uint32_t line, size_t *size);
void steps_free(steps *s);

#endif
