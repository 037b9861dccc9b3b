/* program_tokens.h: a C program as tokens, without what changes nothing about it. */
#ifndef FERRY_PROGRAM_TOKENS_H
#define FERRY_PROGRAM_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct token {
    const char *at; /* in the program's text, which must outlive it */
    size_t size;
    bool is_word; /* a name or a number */
} token;

typedef struct program_tokens {
    token *list;
    int count;
} program_tokens;

/* Comments, empty statements, braces around whole statements of a block, and variables that are declared and never used
 * are left out. The caller frees the list. */
program_tokens program_tokens_of(const char *program);
bool token_is(const token *t, const char *text);

#endif
