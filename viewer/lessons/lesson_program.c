/* lesson_program.c: the command line of a lesson's worked example.
 *
 * Linked into build/lessons/ID with demo.c. Its constructor runs before main, and before the library
 * reads the environment (session.c, priority 102): it turns the command line into environment variables,
 * sets the lesson's inputs, and embeds the source text, so that the page can show it without a source
 * tree. Compiled with LESSON_SOURCE (path of demo.c), LESSON_GIVEN (the inputs)
 * and LESSON_CARD (the cards that are simulated, "": the default). */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"

__asm__(".section .rodata\n"
        "lesson_source: .incbin \"" LESSON_SOURCE "\"\n"
        "lesson_source_end: .byte 0\n"
        ".previous\n");
extern const char lesson_source[] __asm__("lesson_source");
extern const char lesson_source_end[] __asm__("lesson_source_end");

static void print_usage(FILE *to, const char *program)
{
    fprintf(to,
            "usage: %s [--view | --trace FILE]\n"
            "  --view        show this run in the browser, until its page is closed, or Ctrl-C\n"
            "  --trace FILE  write its events to FILE, one JSON object per line\n"
            "  no option     print one line per event\n",
            program);
}

static void refuse(const char *program, const char *what, const char *argument)
{
    fprintf(stderr, "%s: %s '%s'\n", program, what, argument);
    print_usage(stderr, program);
    exit(2);
}

/* Returns the number of further arguments that the option consumed. */
static int read_option(const char *program, const char *option, const char *next)
{
    if (!strcmp(option, "--help") || !strcmp(option, "-h")) {
        print_usage(stdout, program);
        exit(0);
    }
    if (!strcmp(option, "--view")) {
        setenv("FERRY_VIEW", "1", 1);
        return 0;
    }
    if (!strncmp(option, "--trace=", 8) && option[8]) {
        setenv("FERRY_TRACE", option + 8, 1);
        return 0;
    }
    if (strcmp(option, "--trace")) refuse(program, "unknown option", option);
    if (!next || !*next) refuse(program, "a file name is missing after", option);
    setenv("FERRY_TRACE", next, 1);
    return 1;
}

/* glibc passes main's arguments to constructors as well. */
__attribute__((constructor(101))) static void lesson_start(int argc, char **argv)
{
    const char *program = argc > 0 && argv[0] ? argv[0] : "lesson";
    for (int i = 1; i < argc; i++) i += read_option(program, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
    bool observed = getenv("FERRY_LOG_FD") || getenv("FERRY_TRACE") || getenv("FERRY_VIEW");
    if (!observed) setenv("FERRY_NARRATE", "1", 0);
    setenv("FERRY_GIVEN", LESSON_GIVEN, 0);
    if (*LESSON_CARD) setenv("FERRY_SIM", LESSON_CARD, 0);
    fy_source_embed(LESSON_SOURCE, lesson_source, (size_t)(lesson_source_end - lesson_source));
}
