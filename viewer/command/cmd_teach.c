/* cmd_teach.c: `ferry new-lesson` and `prove`: for who writes lessons. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "new_lesson.h"
#include "prove.h"

int command_new_lesson(const command *c, int argc, char **argv)
{
    options o;
    char err[PATH_ROOM * 2];
    if (!options_read(&o, c, argc, argv, "", 1)) return USAGE_ERROR;
    if (!o.word[0]) return fprintf(stderr, "usage: ferry %s %s\n", c->name, c->arguments), USAGE_ERROR;
    if (!new_lesson(o.word[0], err, sizeof err)) {
        command_error(err);
        return NOT_PASSED;
    }
    const char *slash = strrchr(o.word[0], '/'), *id = slash ? slash + 1 : o.word[0];
    int n = slash && slash > o.word[0] ? (int)(slash - o.word[0]) : 1;
    const char *folder = slash ? o.word[0] : ".";
    printf("%s is a small lesson that holds. To make it yours:\n\n"
           "  edit     check.c first: what a run must show; then the programs, lesson.json and README.md\n"
           "  prove    %s prove %s --lessons %.*s\n"
           "  look     %s serve --lessons %.*s\n"
           "  points   %.*s/points.json: what each check is worth, a row for each lesson\n"
           "  grade    %s grade-class CLASS --lessons %.*s\n\n"
           "lessons/writing.md says what belongs into each file, and viewer/grade/grade.h what check.c may call.\n",
           o.word[0], command_name, id, n, folder, command_name, n, folder, n, folder, command_name, n, folder);
    return FINE;
}

static bool prove_all(const lesson_env *s, const options *o)
{
    const catalogue *c = &s->catalogue;
    int held = 0, count = c->count + c->broken_count;
    for (int i = 0; i < c->count; i++) held += prove(&s->home, &c->lessons[i], o->seconds, stdout);
    for (int i = 0; i < c->broken_count; i++) printf("%s\n  FAIL  %s\n", c->broken[i].id, c->broken[i].why);
    printf("\n%d of %d lessons hold\n", held, count);
    return held == count;
}

int command_prove(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "--all --seconds --lessons", 1)) return USAGE_ERROR;
    if (o.all && o.word[0]) {
        fprintf(stderr, "ferry prove: --all proves every lesson; remove '%s'\n", o.word[0]);
        return USAGE_ERROR;
    }
    if (!lessons_open(&s, &o)) return NOT_PASSED;
    const lesson *l = o.all ? NULL : lessons_find(&s, c, o.word[0]);
    bool holds = o.all ? prove_all(&s, &o) : l && prove(&s.home, l, o.seconds, stdout);
    bool asked = o.all || l || (o.word[0] && lesson_find_broken(&s.catalogue, o.word[0]));
    lessons_close(&s);
    return holds ? FINE : asked ? NOT_PASSED : USAGE_ERROR;
}
