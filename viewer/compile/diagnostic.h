/* diagnostic.h: internal to diagnose: one compiler message, and the rules that explain it. */
#ifndef FERRY_DIAGNOSTIC_H
#define FERRY_DIAGNOSTIC_H

#include "diagnose.h"

typedef struct diagnostic {
    int line, col;
    char text[400];     /* without file, position and [-Woption] */
    char macro[48];     /* the macro that the note after it names */
    const char *source; /* the learner's file, comments blanked */
    const char *header; /* text of ferry.h */
    char here[240];     /* the line, without indentation */
    int indent;         /* of that line, in columns */
    char part[4][96];   /* what each * of the rule's pattern matched */
} diagnostic;

/* Applies the rules of error_rules.c; false if none matches. May change d->line. */
bool explain(const diagnostic *c, diagnosis *d);

/* Explains the diagnostic from the learner's line; false, with d's texts undefined, where it does not apply. */
typedef bool line_rule(const diagnostic *c, diagnosis *d);
line_rule fix_semicolon, fix_at_sign, fix_mark, fix_keyword, fix_else, fix_curly_quotes; /* fix_syntax.c */
line_rule fix_hash;                                                                      /* fix_syntax.c */
line_rule fix_address, fix_swapped, fix_option;                                          /* fix_syntax.c */
line_rule fix_too_few, fix_too_many, fix_value_missing, fix_text, fix_assertion;         /* fix_syntax.c */
line_rule fix_no_option, fix_no_option_of;                                               /* fix_syntax.c */
line_rule fix_c_type, fix_dtype_text, fix_python_dtype;                                  /* fix_dtypes.c */
line_rule fix_function_unknown, fix_name_unknown, fix_dot, fix_device;                   /* fix_names.c */
line_rule fix_not_an_object, fix_operand, fix_star, fix_stars;                           /* fix_types.c */

/* fix_dtypes.c: the dtype that a beginner means by a word, or NULL. Explains an undeclared name that is one. */
const char *dtype_alias(const char *word);
bool fix_dtype_name(const char *name, diagnosis *d);

/* names.c: is this a call in ferry.h? The nearest call to a misspelt name, or "". The form of its macro,
 * "fy_add(a, b)", or "". */
bool name_known(const char *header, const char *name);
int name_distance(const char *a, size_t na, const char *b, size_t nb); /* Levenshtein's; 99: too long */
void name_nearest(const char *header, const char *name, char *out, int room);
void macro_form(const char *header, const char *name, char *out, int room);
/* The identifier that ends before / begins at p, blanks skipped; "" if there is none. */
void word_before(const char *line, const char *p, char *out, int room);
void word_after(const char *p, char *out, int room);

/* The text inside the parentheses that open at p. */
void text_in_parentheses(const char *p, char *out, int room);
/* Sets both texts; true. */
bool diagnosis_set(diagnosis *d, const char *message, const char *hint);
#define SET(field, ...) snprintf(d->field, sizeof d->field, __VA_ARGS__)

#endif
