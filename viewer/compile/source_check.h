/* source_check.h: reading a C file for what a compiler reports far from where it was forgotten: an open
 * quote, bracket, brace or comment, text in single quotes, and 1/2 where a half is meant. */
#ifndef FERRY_PROOFREAD_H
#define FERRY_PROOFREAD_H

#include <stdbool.h>

typedef enum proof {
    PROOF_FINE,
    PROOF_QUOTE,       /* a " without its partner on the line */
    PROOF_CHARS,       /* 'cuda': several letters in single quotes */
    PROOF_DIVISION,    /* fy_full((2), 1/2): whole numbers */
    PROOF_COMMENT,     /* a comment that does not end */
    PROOF_OPEN_PAREN,  /* more ( than ) when the statement ends */
    PROOF_CLOSE_PAREN, /* a ) that closes nothing */
    PROOF_OPEN_BRACE,  /* a { that is never closed */
    PROOF_CLOSE_BRACE, /* a } that closes nothing */
} proof;

typedef struct finding {
    proof what;
    int line;      /* from 1 */
    char text[64]; /* PROOF_CHARS: what stands in the quotes; PROOF_DIVISION: "1/2" */
} finding;

/* The first such mistake. */
finding proofread(const char *source);

/* The source with blanks in the place of its comments. The caller frees it. */
char *without_comments(const char *source);

/* The text of a line, without indentation and trailing blanks. */
void source_line(const char *source, int line, char *out, int room);

#endif
