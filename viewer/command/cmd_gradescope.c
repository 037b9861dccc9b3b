/* cmd_gradescope.c: `ferry grade ... --gradescope FILE`: what one student has handed in, as Gradescope's results.json.
 * Programs run as those of a class do: as another user where this is root, and each in a folder of its own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "gradescope.h"
#include "memory.h"

static void print_last_line(const gradescope *g, size_t from)
{
    fwrite(g->words.data + from, 1, g->words.size - from, stdout);
    fflush(stdout);
}

static void grade_lesson(gradescope *g, const class_options *how, submission *s)
{
    outcome out;
    char why[PATH_ROOM];
    size_t from = g->words.size;
    predictions predicted = submission_predictions(how, s);
    if (!s->path) {
        snprintf(why, sizeof why, "no file %s.c was handed in", s->lesson->id);
        gradescope_ungraded(g, s->lesson, how->points, "submitted", why, &predicted);
    } else if (!submission_run(how, s, &out, why, sizeof why)) {
        gradescope_ungraded(g, s->lesson, how->points, "ran", why, &predicted);
    } else {
        gradescope_judged(g, s->lesson, how->points, &out, &predicted);
        outcome_free(&out);
    }
    print_last_line(g, from);
}

static void grade_named(gradescope *g, const class_options *how, const char *student, const lesson *l, bool must_be)
{
    submission s = {memory_copy(student, "a submission"), l, submission_file(how->home->my, l, ".c"),
                    submission_file(how->home->my, l, ".predict.c")};
    if (s.path || must_be) grade_lesson(g, how, &s);
    free(s.student);
    free(s.path);
    free(s.sheet);
}

static bool grade_all_named(gradescope *g, const class_options *how, const lesson_env *s, const command *c,
                            const options *o)
{
    char line[256];
    const char *student = o->student ? o->student : "student";
    for (int i = 0; !o->all && o->word[i]; i++) /* a wrong name is told before anything runs */
        if (!lessons_find(s, c, o->word[i])) return false;
    for (int i = 0; !o->all && o->word[i]; i++) grade_named(g, how, student, lessons_find(s, c, o->word[i]), true);
    for (int i = 0; o->all && i < s->catalogue.count; i++)
        grade_named(g, how, student, &s->catalogue.lessons[i], false);
    if (!g->lessons) {
        size_t from = g->words.size;
        snprintf(line, sizeof line, "no file of a lesson was handed in: its name is that of the lesson, as %s.c",
                 s->catalogue.lessons[0].id);
        gradescope_say(g, line);
        print_last_line(g, from);
    }
    return true;
}

int grade_for_gradescope(const lesson_env *s, const command *c, const options *o)
{
    char err[PATH_ROOM + 256] = "", path[PATH_ROOM];
    gradescope g;
    int status = NOT_PASSED;
    snprintf(path, sizeof path, "%.3000s/points.json", s->home.lessons);
    class_options how = {.home = &s->home, .seconds = o->seconds, .as_user = class_user()};
    how.points = points_open(o->points ? o->points : path, err, sizeof err);
    gradescope_open(&g);
    if (o->secret && !o->student) snprintf(err, sizeof err, "--secret %s needs --student NAME", o->secret);
    else if (how.points) class_secret_open(&how.secret, o->secret, err, sizeof err);
    if (!*err && !grade_all_named(&g, &how, s, c, o)) status = USAGE_ERROR;
    else if (!*err) status = FINE;
    if (*err) command_error(err);
    if (status == FINE && !gradescope_write(&g, o->gradescope)) {
        snprintf(err, sizeof err, "cannot write %.2900s: %s", o->gradescope, strerror(errno));
        command_error(err);
        status = NOT_PASSED;
    }
    gradescope_close(&g);
    points_close(how.points);
    return status;
}
