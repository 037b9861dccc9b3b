/* cmd_gradescope.c: `ferry grade ... --gradescope FILE`: what one student has handed in, as Gradescope's results.json.
 * Programs run as those of a class do: as another user where this is root, and each in a folder of its own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "class_place.h"
#include "command.h"
#include "gradescope.h"
#include "memory.h"
#include "scratch.h"

static void print_last_line(const gradescope *g, size_t from)
{
    fwrite(g->words.data + from, 1, g->words.size - from, stdout);
    fflush(stdout);
}

/* A failure of the machine is no result: it goes into err, and Gradescope can run the autograder again. */
static void grade_lesson(gradescope *g, const class_options *how, submission *s, char *err, size_t room)
{
    outcome out = {0};
    char why[PATH_ROOM];
    size_t from = g->words.size;
    predictions predicted;
    if (!submission_predictions(how, s, &predicted, err, room)) return;
    bool ready = s->path && !*s->refused && submission_run(how, s, &out, why, sizeof why);
    if (!s->path) snprintf(why, sizeof why, "no file %s.c was handed in", s->lesson->id);
    if (*s->refused) snprintf(why, sizeof why, "%s", s->refused);

    if (!s->path || *s->refused) {
        gradescope_ungraded(g, s->lesson, how->points, "submitted", why, &predicted);
    } else if (!ready) {
        snprintf(err, room, "%s", why);
    } else if (out.end == RUN_ENVIRONMENT_ERROR && !out.ran) {
        snprintf(err, room, "%s is not graded, as the machine failed: %s; %s", s->lesson->id, out.message, out.hint);
    } else {
        gradescope_judged(g, s->lesson, how->points, &out, &predicted);
    }
    if (ready) outcome_free(&out);
    print_last_line(g, from);
}

static void grade_named(gradescope *g, const class_options *how, const char *student, const lesson *l, bool must_be,
                        char *err, size_t room)
{
    submission s = submission_of(how->home->my, student, l);
    if (!*err && (s.path || must_be)) grade_lesson(g, how, &s, err, room);
    submission_free(&s);
}

/* False: a name is no lesson's. What the machine could not do is in err. */
static bool grade_all_named(gradescope *g, const class_options *how, const lesson_env *s, const command *c,
                            const options *o, char *err, size_t room)
{
    char line[256];
    const char *student = o->student ? o->student : "student";
    for (int i = 0; !o->all && o->word[i]; i++) /* a wrong name is told before anything runs */
        if (!lessons_find(s, c, o->word[i])) return false;
    for (int i = 0, k = 0; !o->all && o->word[i]; i++, k = 0) {
        const lesson *l = lessons_find(s, c, o->word[i]);
        while (lessons_find(s, c, o->word[k]) != l) k++;
        if (k == i) grade_named(g, how, student, l, true, err, room); /* each once */
    }
    for (int i = 0; o->all && i < s->catalogue.count; i++)
        grade_named(g, how, student, &s->catalogue.lessons[i], false, err, room);
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
    char err[PATH_ROOM + 256] = "", scratch[PATH_ROOM] = "";
    gradescope g;
    int status = NOT_PASSED, held = -1;
    class_options how = {.home = &s->home, .seconds = o->seconds, .users = class_users_find(), .scratch = scratch};
    class_hidden hidden;
    how.hidden = class_hide(&hidden, &how.users, &s->home, s->home.my);
    how.points = points_open(&s->home, &s->catalogue, o->points, err, sizeof err);
    gradescope_open(&g);
    class_protections(&how, err, sizeof err);
    gradescope_say(&g, err);
    *err = '\0';
    if (o->secret && !o->student) snprintf(err, sizeof err, "--secret %s needs --student NAME", o->secret);
    else if (how.points) class_secret_open(&how.secret, o->secret, err, sizeof err);
    if (!*err) held = class_place_make(&how.users, how.home, scratch, err, sizeof err);
    if (!*err && !grade_all_named(&g, &how, s, c, o, err, sizeof err)) status = USAGE_ERROR;
    else if (!*err) status = FINE;
    if (held >= 0) scratch_remove(scratch, held);
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
