/* diagnostic.h: inside diagnose: one message of the compiler, and what can be told from it. */
#ifndef FERRY_COMPLAINT_H
#define FERRY_COMPLAINT_H

#include "diagnose.h"

typedef struct diagnostic {
    int line, col;
    char text[400];     /* without file, place and [-Woption] */
    char macro[48];     /* the macro that a note below it names */
    const char *source; /* the learner's file, without its comments */
    const char *header; /* ferry.h */
    char here[240];     /* text of the line, without indentation */
    int indent;
    char part[4][96]; /* what the * of the rule stood for */
} diagnostic;

/* Explains by the rules (error_rules.c); false if none fits. May move d->line. */
bool explain(const diagnostic *c, diagnosis *d);

/* What a line tells; false when it tells nothing. */
typedef bool looking(const diagnostic *c, diagnosis *d);
looking fix_semicolon, fix_at_sign, fix_mark, fix_keyword, fix_else, fix_curly_quotes; /* fix_syntax.c */
looking fix_hash;                                                                      /* fix_syntax.c */
looking fix_address, fix_swapped, fix_option;                                          /* fix_syntax.c */
looking fix_too_few, fix_too_many, fix_value_missing, fix_text, fix_assertion;         /* fix_syntax.c */
looking fix_no_option, fix_no_option_of;                                               /* fix_syntax.c */
looking fix_c_type, fix_dtype_text, fix_python_dtype;                                  /* fix_dtypes.c */
looking fix_function_unknown, fix_name_unknown, fix_dot, fix_device;                   /* fix_names.c */
looking fix_not_an_object, fix_operand, fix_star, fix_stars;                           /* fix_types.c */

/* fix_dtypes.c: the dtype that a beginner means by a word, or NULL; and words for one that nobody declared. */
const char *dtype_alias(const char *word);
bool fix_dtype_name(const char *name, diagnosis *d);

/* names.c: does ferry.h have this name as a call? The nearest one to a misspelt name, or "". The way its
 * macro is called, "fy_add(a, b)", or "". */
bool name_known(const char *header, const char *name);
void name_nearest(const char *header, const char *name, char *out, int room);
void name_form(const char *header, const char *name, char *out, int room);
/* The identifier that ends at or before / begins at p, inside line; "" if there is none. */
void word_before(const char *line, const char *p, char *out, int room);
void word_after(const char *p, char *out, int room);

/* What stands inside the parentheses that open at p. */
void text_inside(const char *p, char *out, int room);
/* Says just this; true. */
bool plainly(diagnosis *d, const char *message, const char *hint);
#define SAY(field, ...) snprintf(d->field, sizeof d->field, __VA_ARGS__)

#endif
