/* lesson_program.c: the program of all lessons' examples (or of all solutions): it runs the one whose id it is called
 * by, and has its command line.
 *
 * The Makefile makes a link build/lessons/ID for each, renames their main functions, and lists them in table.h. A
 * constructor runs before main, and before the library reads the environment (session.c, priority 102): it turns the
 * command line into environment variables, sets the lesson's inputs and cards, and embeds the source text, so that the
 * page can show it without a source tree. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "source.h"

/* The mains, and the text of each source file. */
#define LESSON(name, id, source, given, card) \
    int name(void); \
    __asm__(".section .rodata\n" #name "_text: .incbin \"" source "\"\n" #name "_text_end: .byte 0\n.previous\n"); \
    extern const char name##_text[], name##_text_end[];
#include "table.h"
#undef LESSON

static const struct program {
    int (*run)(void);
    const char *id, *source, *given, *card; /* card: as FERRY_SIM says it; "": the default */
    const char *text, *text_end;
} programs[] = {
#define LESSON(name, id, source, given, card) {name, id, source, given, card, name##_text, name##_text_end},
#include "table.h"
#undef LESSON
};

static const struct program *program_named(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (!strcmp(programs[i].id, name)) return &programs[i];
    fprintf(stderr, "%s: call this by the name of a lesson, through a link like %s\n", path, programs->id);
    exit(2);
}

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
    if (!observed && !getenv("FERRY_NARRATE")) {
        setenv("FERRY_NARRATE", "1", 0);
        fy_session_narrate_on_stdout(); /* these lines are what the program prints: a pipe gets them, too */
    }
    const struct program *p = program_named(program);
    setenv("FERRY_GIVEN", p->given, 0);
    if (*p->card) setenv("FERRY_SIM", p->card, 0);
    fy_source_embed(p->source, p->text, (size_t)(p->text_end - p->text));
}

int main(int argc, char **argv) { return program_named(argc > 0 && argv[0] ? argv[0] : "")->run(); }
