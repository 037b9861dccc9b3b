/* cmd_lessons.c: `ferry list`, `hint` and `reset`: the lessons and the learner's files, without running anything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "progress.h"

/* ---- list -------------------------------------------------------------------------------------------- */

int command_list(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "", 0)) return USAGE_ERROR;
    if (!lessons_open(&s)) return NOT_PASSED;
    for (int i = 0; i < s.catalogue.count; i++) {
        const lesson *l = &s.catalogue.lessons[i];
        progress p = progress_of(&s.home, l);
        printf("%-5s  %-16s  %s\n", p.done ? "done" : p.attempts ? "started" : "new", l->id, l->title);
    }
    printf("\nread lessons/ID/README.md, work in my/ID.c, then: %s grade ID\n"
           "these marks come from my/progress.json; to grade everything again: %s grade --all\n",
           command_name, command_name);
    lessons_close(&s);
    return FINE;
}

/* ---- hint -------------------------------------------------------------------------------------------- */

/* Shows the hint `asked`; NULL: the one after the last shown. */
static int show_hint(const command *c, const home *h, const lesson *l, const char *asked)
{
    char *end = NULL;
    int next = progress_of(h, l).hints + 1;
    long n = asked ? strtol(asked, &end, 10) : next < l->hint_count ? next : l->hint_count;
    if ((end && *end) || n < 1 || n > l->hint_count) {
        fprintf(stderr, "ferry %s: %s has hints 1 to %d; there is no hint '%s'\n", c->name, l->id, l->hint_count,
                asked ? asked : "1");
        return USAGE_ERROR;
    }
    printf("hint %ld of %d: %s\n", n, l->hint_count, l->hints[n - 1]);
    if (n < l->hint_count) printf("\nthe next one: %s hint %.2s\n", command_name, l->id);
    progress_record_hint(h, l, (int)n);
    return FINE;
}

int command_hint(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "", 2)) return USAGE_ERROR;
    if (!lessons_open(&s)) return NOT_PASSED;
    const lesson *l = lessons_find(&s, c, o.word[0]);
    int status = l ? show_hint(c, &s.home, l, o.word[1]) : USAGE_ERROR;
    lessons_close(&s);
    return status;
}

/* ---- reset ------------------------------------------------------------------------------------------- */

static bool confirm(const char *name)
{
    char answer[16] = "";
    if (!isatty(STDIN_FILENO)) {
        command_error("add --yes to reset without a prompt; nothing was changed");
        return false;
    }
    printf("reset %s? The old file is kept as .bak in the same folder [y/N] ", name);
    fflush(stdout);
    return fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
}

static int reset(const home *h, const lesson *l, bool confirmed)
{
    char name[256], mine[PATH_ROOM], kept[PATH_ROOM], err[PATH_ROOM * 3];
    lesson_name(h, l, name);
    lesson_file_path(h, l, mine);
    bool exists = access(mine, F_OK) == 0;
    if (exists && !confirmed && !confirm(name)) return NOT_PASSED;
    if (!lesson_reset(h, l, kept, err, sizeof err)) {
        command_error(err);
        return NOT_PASSED;
    }
    const char *slash = strrchr(kept, '/');
    printf("%s is the starter again%s%s\n", name, *kept ? "; the old one is kept in the same folder as " : "",
           slash ? slash + 1 : kept);
    return FINE;
}

int command_reset(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "--yes", 1)) return USAGE_ERROR;
    if (!lessons_open(&s)) return NOT_PASSED;
    const lesson *l = lessons_find(&s, c, o.word[0]);
    int status = l ? reset(&s.home, l, o.yes) : USAGE_ERROR;
    lessons_close(&s);
    return status;
}
