/* source_check.h: finds mistakes that a compiler reports far from where they were made: an open
 * quote, bracket, brace or comment, text in single quotes; and 1/2 where a half is meant. */
#ifndef FERRY_SOURCE_CHECK_H
#define FERRY_SOURCE_CHECK_H

#include <stdbool.h>

typedef enum mistake_kind {
    MISTAKE_FINE,
    MISTAKE_QUOTE,       /* a " that is not closed on its line */
    MISTAKE_CHARS,       /* 'cuda': several characters in single quotes */
    MISTAKE_DIVISION,    /* fy_full((2), 1/2): integer division */
    MISTAKE_COMMENT,     /* an unterminated comment */
    MISTAKE_OPEN_PAREN,  /* more ( than ) when the statement ends */
    MISTAKE_CLOSE_PAREN, /* a ) that closes nothing */
    MISTAKE_OPEN_BRACE,  /* a { that is never closed */
    MISTAKE_CLOSE_BRACE, /* a } that closes nothing */
} mistake_kind;

typedef struct source_mistake {
    mistake_kind what;
    int line;      /* from 1 */
    char text[64]; /* MISTAKE_CHARS: the quoted text; MISTAKE_DIVISION: "1/2" */
} source_mistake;

/* The first mistake in the file; MISTAKE_FINE: none. */
source_mistake source_check(const char *source);

/* The source with its comments replaced by blanks. The caller frees it. */
char *blank_comments(const char *source);

/* The text of a line, without indentation and trailing blanks. */
void source_line(const char *source, int line, char *out, int room);

#endif
