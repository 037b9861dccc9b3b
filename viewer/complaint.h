/* complaint.h: inside diagnose: one message of the compiler, and what can be told from it. */
#ifndef FERRY_COMPLAINT_H
#define FERRY_COMPLAINT_H

#include "diagnose.h"

typedef struct complaint {
    int line, col;
    char text[400];     /* without file, place and [-Woption] */
    char macro[48];     /* the macro that a note below it names */
    const char *source; /* the learner's file */
    const char *header; /* ferry.h */
    char here[240];     /* text of the line, without indentation */
    int indent;
    char part[4][96]; /* what the * of the rule stood for */
} complaint;

/* Explains by the rules (rules.c); false if none fits. May move d->line. */
bool explain(const complaint *c, diagnosis *d);

/* meant.c: false when the line does not tell. */
bool meant_semicolon(const complaint *c, diagnosis *d);
bool meant_not_an_object(const complaint *c, diagnosis *d);
bool meant_operand(const complaint *c, diagnosis *d);
bool meant_function_unknown(const complaint *c, diagnosis *d);
bool meant_name_unknown(const complaint *c, diagnosis *d);
bool meant_too_few(const complaint *c, diagnosis *d);
bool meant_too_many(const complaint *c, diagnosis *d);
bool meant_value_missing(const complaint *c, diagnosis *d);
bool meant_assertion(const complaint *c, diagnosis *d);

/* names.c: does ferry.h have this name as a call? The nearest one to a misspelt name, or "". The way its
 * macro is called, "fy_add(a, b)", or "". */
bool name_known(const char *header, const char *name);
void name_nearest(const char *header, const char *name, char *out, int room);
void name_form(const char *header, const char *name, char *out, int room);
/* The identifier that ends at or before / begins at p, inside line; "" if there is none. */
void word_before(const char *line, const char *p, char *out, int room);
void word_after(const char *p, char *out, int room);

#endif
