/* compile_check.c: runs the compiler in the folder of the lessons, so that its messages name 01-mine/check.c. What the
 * check calls is found in `ferry`, which exports the grader's functions. */
#define _GNU_SOURCE 1

#include "compile_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "compiler.h"
#include "memory.h"
#include "reads.h"

/* ---- is it up to date? ------------------------------------------------------------------------------ */

static bool is_newer(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/* Is the object newer than every file of the compiler's list, and than this program? */
static bool is_up_to_date(const home *h, const char *object, const char *list)
{
    struct stat made, ferry, source;
    char word[PATH_MAX], full[2 * PATH_MAX];
    char *text = file_read(list, NULL);
    const char *p = text ? strstr(text, ": ") : NULL;
    bool yes =
        p && stat(object, &made) == 0 && stat("/proc/self/exe", &ferry) == 0 && is_newer(made.st_mtim, ferry.st_mtim);
    for (p += p ? 2 : 0; yes && reads_next(&p, word);) {
        snprintf(full, sizeof full, "%s%s%s", *word == '/' ? "" : h->lessons, *word == '/' ? "" : "/", word);
        yes = stat(full, &source) == 0 && is_newer(made.st_mtim, source.st_mtim);
    }
    free(text);
    return yes;
}

/* ---- compiling ---------------------------------------------------------------------------------------- */

static bool make_command(compiler_command *c, const home *h, const char *name, const char *out, const char *list,
                         char *paths, char *err, size_t room)
{
    bool clang;
    diagnosis d = {0};
    char *grader = paths, *include = paths + PATH_ROOM + 8;
    if (!compiler_choose(c, &clang, &d)) {
        snprintf(err, room, "%s; %s", d.message, d.hint);
        return false;
    }
    snprintf(grader, PATH_ROOM + 8, "-I%s", h->grader);
    snprintf(include, PATH_ROOM + 8, "-I%s", h->include);
    compiler_add_words(c, "-std=gnu11 -g -O1 -Wall -Wextra -Werror=implicit-function-declaration "
                          "-Werror=incompatible-pointer-types -Werror=int-conversion -fPIC -shared -Wl,-Bsymbolic");
    compiler_add(c, grader);
    compiler_add(c, include);
    compiler_add(c, name);
    compiler_add_words(c, "-lm -MMD -MF");
    compiler_add(c, list);
    compiler_add(c, "-o");
    compiler_add(c, out);
    return true;
}

/* Runs it. False, with the compiler's words in err, unless it made the object. */
static bool run_compiler(const compiler_command *c, const home *h, const char *name, char *err, size_t room)
{
    char why[256] = "";
    child_result r;
    child_options run = {.argv = c->argv,
                         .folder = h->lessons,
                         .env = compiler_english,
                         .log_fd = -1,
                         .stop_fd = -1,
                         .limits = {.seconds = 60}};
    if (!child_run(&run, &r, why, sizeof why)) {
        snprintf(err, room, "cannot run %s: %s; close other programs", c->argv[0], why);
        return false;
    }
    bool ok = r.end == CHILD_EXITED && r.code == 0;
    if (!ok) snprintf(err, room, "%s does not compile:\n%s", name, r.output);
    free(r.output);
    return ok;
}

bool compile_check(const home *h, const char *name, const char *object, char *err, size_t room)
{
    compiler_command c = {.count = 0};
    char paths[2 * (PATH_ROOM + 8)], out[PATH_ROOM + 160], list[PATH_ROOM + 160], new_list[PATH_ROOM + 200];
    snprintf(list, sizeof list, "%s.d", object);
    if (is_up_to_date(h, object, list)) return true;
    snprintf(out, sizeof out, "%s.%ld.new", object, (long)getpid());
    snprintf(new_list, sizeof new_list, "%s.d", out);
    bool ok = make_command(&c, h, name, out, new_list, paths, err, room) && run_compiler(&c, h, name, err, room);
    if (ok && (rename(new_list, list) != 0 || rename(out, object) != 0)) {
        snprintf(err, room, "cannot write %s: %s; free disk space, or make its folder writable", object,
                 strerror(errno));
        ok = false;
    }
    unlink(out);
    unlink(new_list);
    return ok;
}
