/* command.h: the subcommands of `ferry`. Each parses its own arguments and returns an exit status: 0
 * success, 1 not passed or an error, 2 usage error. */
#ifndef FERRY_COMMAND_H
#define FERRY_COMMAND_H

#include <cjson/cJSON.h>

#include "lesson.h"
#include "report.h"

enum { FINE = 0, NOT_PASSED = 1, USAGE_ERROR = 2 };

typedef struct command {
    const char *name;
    const char *arguments; /* "ID [--json]" */
    const char *help;      /* one line */
    int (*run)(const struct command *c, int argc, char **argv);
} command;

extern const command commands[]; /* ferry.c; ends with a NULL name */

/* cmd_lessons.c */
int command_list(const command *c, int argc, char **argv);
int command_hint(const command *c, int argc, char **argv);
int command_reset(const command *c, int argc, char **argv);
int command_next(const command *c, int argc, char **argv);
int command_solution(const command *c, int argc, char **argv);
/* cmd_run.c */
int command_run(const command *c, int argc, char **argv);
int command_predict(const command *c, int argc, char **argv);
int command_grade(const command *c, int argc, char **argv);
int command_check_all(const command *c, int argc, char **argv);
int command_watch(const command *c, int argc, char **argv);
/* cmd_teach.c */
int command_new_lesson(const command *c, int argc, char **argv);
int command_prove(const command *c, int argc, char **argv);
/* cmd_class.c */
int command_handout(const command *c, int argc, char **argv);
int command_grade_class(const command *c, int argc, char **argv);
int command_join_class(const command *c, int argc, char **argv);
/* cmd_doctor.c */
int command_doctor(const command *c, int argc, char **argv);
/* cmd_completion.c */
int command_completion(const command *c, int argc, char **argv);
/* cmd_serve.c */
int command_serve(const command *c, int argc, char **argv);
/* cmd_log.c */
int command_view(const command *c, int argc, char **argv);
int command_log(const command *c, int argc, char **argv);
int command_schema(const command *c, int argc, char **argv);
/* cmd_whatif.c */
int command_whatif(const command *c, int argc, char **argv);
/* cmd_calibrate.c */
int command_calibrate(const command *c, int argc, char **argv);
/* cmd_compare.c */
int command_compare(const command *c, int argc, char **argv);
/* cmd_explain.c */
int command_explain(const command *c, int argc, char **argv);
/* cmd_where.c */
int command_where(const command *c, int argc, char **argv);
/* cmd_export.c */
int command_export(const command *c, int argc, char **argv);

/* ---- options.c: what the subcommands share ---------------------------------------------------------- */

enum { OPTION_WORDS = 1024 };

typedef struct options {
    const char *word[OPTION_WORDS + 1]; /* positional arguments, in order; NULL: not given */
    bool all, demo, json, yes, no_browser, pinned, async, html, perfetto, svg, png;
    int port;  /* 8700 */
    long step; /* --step and --at, from 1; 0: not given */
    int jobs;  /* 0: not given */
    const char *csv, *gradescope, *junit, *lessons, *points, *secret, *shard, *student;
    const char *allow_host, *card, *bus, *peer, *output, *browser, *trace;
    double seconds; /* wall-time limit of a program; 0: the default */
} options;

/* allowed: the command's options, "--json --port"; words: the maximum of positional arguments.
 * False after printing the error and the usage. */
bool options_read(options *o, const command *c, int argc, char **argv, const char *allowed, int words);

/* Finds the folders, that of --lessons among them, and reads the catalogue; false after printing the error. Close it
 * either way. */
typedef struct lesson_env {
    home home;
    catalogue catalogue;
} lesson_env;
bool lessons_open(lesson_env *s, const options *o);
void lessons_close(lesson_env *s);
/* The lesson `asked`, as in lesson_find; NULL after printing the error. */
const lesson *lessons_find(const lesson_env *s, const command *c, const char *asked);
/* cmd_gradescope.c: `ferry grade ... --gradescope FILE`; the exit status. */
int grade_for_gradescope(const lesson_env *s, const command *c, const options *o);
/* "ferry: MESSAGE" on stderr. */
void command_error(const char *message);
/* What is not done, and why: the same, or with --json an object with "error" on stdout. Returns NOT_PASSED. */
int command_refuse(bool json, const char *id, const char *message);
/* Prints it on one line of stdout, and frees it. */
void command_print_json(cJSON *json);

#endif
