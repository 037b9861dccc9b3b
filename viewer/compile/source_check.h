/* source_check.h: reading a C file for what a compiler reports far from where it was forgotten: an open
 * quote, bracket, brace or comment, text in single quotes, and 1/2 where a half is meant. */
#ifndef FERRY_PROOFREAD_H
#define FERRY_PROOFREAD_H

#include <stdbool.h>

typedef enum mistake_kind {
    MISTAKE_FINE,
    MISTAKE_QUOTE,       /* a " without its partner on the line */
    MISTAKE_CHARS,       /* 'cuda': several letters in single quotes */
    MISTAKE_DIVISION,    /* fy_full((2), 1/2): whole numbers */
    MISTAKE_COMMENT,     /* a comment that does not end */
    MISTAKE_OPEN_PAREN,  /* more ( than ) when the statement ends */
    MISTAKE_CLOSE_PAREN, /* a ) that closes nothing */
    MISTAKE_OPEN_BRACE,  /* a { that is never closed */
    MISTAKE_CLOSE_BRACE, /* a } that closes nothing */
} mistake_kind;

typedef struct source_mistake {
    mistake_kind what;
    int line;      /* from 1 */
    char text[64]; /* MISTAKE_CHARS: what stands in the quotes; MISTAKE_DIVISION: "1/2" */
} source_mistake;

/* The first such mistake. */
source_mistake source_check(const char *source);

/* The source with blanks in the place of its comments. The caller frees it. */
char *without_comments(const char *source);

/* The text of a line, without indentation and trailing blanks. */
void source_line(const char *source, int line, char *out, int room);

#endif
