/* compiler.h: internal to compile: the C compiler that is here, and its command line. */
#ifndef FERRY_COMPILER_H
#define FERRY_COMPILER_H

#include <stdbool.h>
#include <stddef.h>

#include "diagnose.h"

enum { COMPILER_ARGUMENTS = 64 };

/* argv, and the storage of the words split from one string. */
typedef struct compiler_command {
    const char *argv[COMPILER_ARGUMENTS];
    int count;
    char words[4096];
    size_t used;
} compiler_command;

void compiler_add(compiler_command *c, const char *word);
void compiler_add_words(compiler_command *c, const char *text); /* each blank-separated word */
/* Begins the command with $CC, else cc, gcc or clang; false, with d explaining it, if there is none. */
bool compiler_choose(compiler_command *c, bool *clang, diagnosis *d);
/* Adds a word that asks for the linker that needs half the time for a program with Ferry in it; false: it is not there.
 */
bool compiler_add_fast_linker(compiler_command *c);
/* For its environment: messages in English, without colours. */
extern const char *const compiler_english[];

#endif
