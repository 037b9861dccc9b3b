/* ferry.c: the `ferry` command: the table of subcommands. Everything works without a terminal and
 * without a browser. Exit status: 0 success, 1 not passed or an error, 2 usage error. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "diagnostic.h" /* name_distance */
#include "log.h"
#include "session.h"
#include "memory.h"

#ifndef FERRY_VERSION
#define FERRY_VERSION "unknown"
#endif

/* This program reads logs and writes none, so it needs no session. */
__attribute__((constructor(101))) static void have_no_session(void) { fy_session_none(); }

const command commands[] = {
    {"serve", "[--port N] [--no-browser] [--allow-host NAME] [--seconds N]",
     "the lessons in the browser; what `make run` starts", command_serve},
    {"list", "[--json]", "the lessons by parts, and which are done", command_list},
    {"next", "[--json]", "the first lesson that is not done: what to read, to predict and to edit", command_next},
    {"predict", "ID [ANSWER ...] [--json] [--seconds N]", "answer the lesson's questions, then watch the example",
     command_predict},
    {"run", "ID [--demo] [--json] [--trace FILE] [--seconds N]",
     "run my/ID.c, or the worked example: one line per event", command_run},
    {"grade", "ID|--all [--json] [--seconds N] [--student NAME [--secret FILE]] [--gradescope FILE [--points FILE]]",
     "build, run and grade my/ID.c, or all your files; with a student's own inputs; for Gradescope, of several IDs",
     command_grade},
    {"check-all", "[--json] [--seconds N] [--gradescope FILE [--points FILE] [--student NAME [--secret FILE]]]",
     "grade all your files anew; status 0 if all of them pass", command_check_all},
    {"watch", "[ID] [--json] [--seconds N]", "grade on every save", command_watch},
    {"hint", "ID [N] [--json]", "the next hint, or hint N", command_hint},
    {"solution", "ID [--yes] [--json]", "a solution, once yours has passed; --yes: before", command_solution},
    {"reset", "ID [--yes] [--json]", "restore the starter in my/ID.c; the old file is backed up", command_reset},
    {"handout", "DIR [ID ...] [--secret FILE]",
     "for each student of a class, DIR/STUDENT, their own examples to predict: ID.predict.c", command_handout},
    {"grade-class",
     "DIR [--csv FILE] [--jobs N] [--secret FILE] [--points FILE] [--junit FILE] [--shard I/N] [--seconds N]",
     "grade the files of a class, DIR/STUDENT/ID.c, into a table", command_grade_class},
    {"join-class", "OUT FILE... [--junit FILE]",
     "join the tables of the parts of a class, graded with --shard, into one", command_join_class},
    {"new-lesson", "DIR/NN-name", "a lesson of your own in DIR: every file it needs, for you to edit",
     command_new_lesson},
    {"prove", "ID|--all [--seconds N]", "does the lesson hold? its starter and wrong answers fail, its solution passes",
     command_prove},
    {"doctor", "[--json]", "what this machine has and lacks, with the command that mends it", command_doctor},
    {"view", "FILE [FILE] [--port N] [--no-browser] [--allow-host NAME]",
     "a saved run in the browser; two of them, compared", command_view},
    {"log", "FILE", "a saved run as JSON lines", command_log},
    {"whatif", "FILE [--card NAME] [--bus RATE] [--peer on|off] [--pinned] [--async]",
     "a saved run's times compared with another card, bus or memory", command_whatif},
    {"calibrate", "FIGURES",
     "a card for FERRY_SIM from what `make gpu-check` measured on a real one, and the model's error",
     command_calibrate},
    {"explain", "FILE [--json]", "what a saved run did that was wasteful or wrong, and how to fix it", command_explain},
    {"compare", "FILE FILE", "what two saved runs cost, and the lines that differ", command_compare},
    {"where", "[NAME] [--at STEP] FILE", "where a tensor's bytes are at a step of a saved run; without NAME, the steps",
     command_where},
    {"export", "FILE --html|--perfetto|--svg|--png [--step N] [--browser PATH] [-o OUT]",
     "a saved run as one web page, as a trace for Perfetto, or one of its steps as a picture", command_export},
    {"completion", "bash|zsh|fish", "a script that completes commands and lessons in your shell", command_completion},
    {"schema", "", "every kind of event and its fields, as JSON", command_schema},
    {NULL, NULL, NULL, NULL},
};

static void print_usage(FILE *to)
{
    fprintf(to, "usage: ferry COMMAND ...\n\n");
    for (const command *c = commands; c->name; c++)
        fprintf(to, "  %s%s%s\n          %s\n", c->name, *c->arguments ? " " : "", c->arguments, c->help);
    fprintf(to, "\nID is a lesson: 1, 01 or 01-where-am-i. Your files are in my/; FERRY_MY names another folder.\n"
                "Every command about lessons takes --lessons DIR: lessons of your own, in place of Ferry's. So does\n"
                "FERRY_LESSONS=DIR.\n"
                "Exit status: 0 success, 1 not passed or an error, 2 usage error.\n");
}

/* The first of the commands that begin with `name` or are spelt most like it; NULL: none is near. */
static const char *nearest_command(const char *name)
{
    size_t length = strlen(name);
    int least = length < 3 ? 2 : (int)length / 3 + 1; /* from that distance on it is another word */
    const char *nearest = NULL;
    for (const command *c = commands; c->name && length; c++) {
        int far = strncmp(c->name, name, length) ? name_distance(name, length, c->name, strlen(c->name)) : 0;
        if (far < least) nearest = c->name, least = far;
    }
    return nearest;
}

int main(int argc, char **argv)
{
    if (argc > 0 && *argv[0]) command_name = argv[0];
    memory_hook_cjson();
    const char *name = argc > 1 ? argv[1] : "help";
    if (!strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h")) {
        print_usage(argc > 1 ? stdout : stderr);
        return argc > 1 ? FINE : USAGE_ERROR;
    }
    if (!strcmp(name, "--version") || !strcmp(name, "version")) {
        printf("ferry %s\n", FERRY_VERSION);
        return FINE;
    }
    for (const command *c = commands; c->name; c++)
        if (!strcmp(c->name, name)) return c->run(c, argc - 2, argv + 2);
    const char *near = nearest_command(name);
    fprintf(stderr, "ferry: there is no command '%s'; %s%s%sall commands: %s help\n", name, near ? "did you mean " : "",
            near ? near : "", near ? "? " : "", command_name);
    return USAGE_ERROR;
}
