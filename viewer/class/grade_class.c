/* grade_class.c: worker processes that take one submission after the other. Each builds and runs it in a folder of its
 * own, and appends its rows with one write. */
#define _GNU_SOURCE 1

#include "grade_class.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory.h"

/* ---- rows ------------------------------------------------------------------------------------------------- */

/* Of a lesson with two answers some checks have the same name: the first is worth the points, if all of them pass. */
double check_worth(const points_table *p, const lesson *l, const outcome *out, const struct verdict_check *c)
{
    for (const struct verdict_check *e = out->verdict.check; e < c; e++)
        if (!strcmp(e->name, c->name)) return 0;
    return points_of(p, l->id, c->name);
}

double check_points(const points_table *p, const lesson *l, const outcome *out, const struct verdict_check *c)
{
    bool pass = !out->unfinished;
    for (int i = 0; i < out->verdict.checks; i++)
        pass = pass && (out->verdict.check[i].pass || strcmp(out->verdict.check[i].name, c->name) != 0);
    return pass ? check_worth(p, l, out, c) : 0;
}

/* The rows of one submission that was judged; the last is "total". predicted: points for predictions. */
static void submission_rows(fy_text *to, const char *student, const lesson *l, const points_table *p,
                            const outcome *out, double predicted)
{
    double sum = predicted, total = points_total(p, l->id);
    int n = out->graded ? out->verdict.checks : 0;
    bool held = out->end == RUN_PASSED || !out->second; /* the second run counts where the first one has passed */
    for (int i = 0; i < n && i < VERDICT_CHECKS; i++) {
        const struct verdict_check *c = &out->verdict.check[i];
        double of = check_worth(p, l, out, c), earned = check_points(p, l, out, c);
        sum += earned;
        class_row_add(to, student, l->id, c->name, earned, of, c->seq, c->pass ? "" : c->message);
    }
    bool stopped = n && out->end != RUN_PASSED && strcmp(out->message, verdict_message(&out->verdict)) != 0;
    if (!n || !held || stopped)
        class_row_add(to, student, l->id, held ? "ran" : "other-inputs", 0, 0, out->seq, out->message);
    class_row_add(to, student, l->id, "total", sum, total, -1, out->end == RUN_PASSED ? "passed" : "failed");
}

/* ---- one submission ----------------------------------------------------------------------------------------- */

/* Makes FOLDER/my/ID.c, a copy, with the headers beside it; and the folders of the build. */
static bool lay_out(const class_options *o, const submission *s, const char *folder, home *h)
{
    char command_path[PATH_ROOM];
    size_t size;
    *h = *o->home;
    h->made_apart = false;
    snprintf(h->beside, sizeof h->beside, "%s", folder);
    snprintf(h->my, sizeof h->my, "%.2900s/my", folder);
    snprintf(h->made, sizeof h->made, "%.2900s/made", folder);
    char *text = file_read(s->path, &size);
    snprintf(command_path, sizeof command_path, "%.2900s/%s.c", h->my, s->lesson->id);
    bool ok = text && folder_make(h->my) && folder_make(h->made) && file_write(command_path, text, size);
    free(text);
    if (ok && o->as_user)
        ok = chmod(folder, 0711) == 0 && chown(h->my, o->as_user, o->as_user) == 0 &&
             chown(h->made, o->as_user, o->as_user) == 0;
    return ok;
}

bool submission_run(const class_options *o, const submission *s, outcome *out, char *err, size_t room)
{
    char folder[] = "/tmp/ferry-class-XXXXXX";
    home h;
    run_options how = {.home = &h,
                       .lesson = s->lesson,
                       .grade = true,
                       .unrecorded = true,
                       .seed = student_seed(&o->secret, s->student, s->lesson->id, 1),
                       .second_seed = student_seed(&o->secret, s->student, s->lesson->id, 2),
                       .limits = {.seconds = o->seconds},
                       .as_user = o->as_user,
                       .stop_fd = -1};
    bool made = mkdtemp(folder), ready = made && lay_out(o, s, folder, &h);
    if (ready) run(&how, out);
    else snprintf(err, room, "cannot copy %.900s: %s", s->path, strerror(errno));
    if (made) folder_remove(folder);
    return ready;
}

predictions submission_predictions(const class_options *o, const submission *s)
{
    return sheet_grade(o->home, s->lesson, &o->secret, s->student, s->sheet, o->points);
}

/* The rows of what has no verdict. */
static void add_reason(fy_text *rows, const class_options *o, const submission *s, const char *check, const char *why,
                       double predicted)
{
    const char *id = s->lesson->id;
    class_row_add(rows, s->student, id, check, 0, 0, -1, why);
    class_row_add(rows, s->student, id, "total", predicted, points_total(o->points, id), -1, "failed");
}

static void grade_one(const class_options *o, const submission *s, fy_text *rows)
{
    outcome out;
    char err[PATH_ROOM];
    predictions all = submission_predictions(o, s);
    for (int i = 0; i < all.count; i++) {
        const prediction *p = &all.list[i];
        class_row_add(rows, s->student, s->lesson->id, p->check, p->points, p->of, -1, p->message);
    }
    if (!s->path) {
        add_reason(rows, o, s, "submitted", "no file was handed in", all.points);
    } else if (!submission_run(o, s, &out, err, sizeof err)) {
        add_reason(rows, o, s, "ran", err, all.points);
    } else {
        submission_rows(rows, s->student, s->lesson, o->points, &out, all.points);
        outcome_free(&out);
    }
}

/* ---- the workers --------------------------------------------------------------------------------------------- */

typedef struct work {
    atomic_int next;   /* of the submissions that are left */
    int doing[64];     /* by worker: the one in hand, from 1; 0: none */
    atomic_int broken; /* errno of a failed write */
} work;

enum { MOST_JOBS = 64 };

static bool append(int fd, const fy_text *rows)
{
    ssize_t n = rows->size ? write(fd, rows->data, rows->size) : 0; /* O_APPEND: whole, whoever writes as well */
    if (n != (ssize_t)rows->size && n >= 0) errno = ENOSPC;
    return n == (ssize_t)rows->size;
}

static _Noreturn void work_on(const class_options *o, const submissions *all, const int *left, int count, work *w,
                              int me, int fd)
{
    for (int i; !atomic_load(&w->broken) && (i = atomic_fetch_add(&w->next, 1)) < count;) {
        fy_text rows = {0};
        w->doing[me] = left[i] + 1;
        grade_one(o, &all->list[left[i]], &rows);
        if (rows.lost) memory_fail("the rows of a class");
        if (!append(fd, &rows)) atomic_store(&w->broken, errno);
        free(rows.data);
        w->doing[me] = 0;
    }
    _exit(0);
}

static pid_t start_worker(const class_options *o, const submissions *all, const int *left, int count, work *w, int me,
                          int fd)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) work_on(o, all, left, count, w, me, fd);
    return pid;
}

/* A worker that died in the middle: its submission gets a row, and another worker goes on. */
static void bury(const class_options *o, const submissions *all, work *w, int me, int fd)
{
    if (!w->doing[me]) return;
    const submission *s = &all->list[w->doing[me] - 1];
    fy_text rows = {0};
    add_reason(&rows, o, s, "ran", "the process that graded it died: grade it by hand", 0);
    if (!append(fd, &rows)) atomic_store(&w->broken, errno);
    free(rows.data);
    w->doing[me] = 0;
}

static void supervise(const class_options *o, const submissions *all, const int *left, int count, work *w, int jobs,
                      int fd)
{
    pid_t pids[MOST_JOBS];
    int running = 0;
    for (int i = 0; i < jobs; i++) running += (pids[i] = start_worker(o, all, left, count, w, i, fd)) > 0;
    if (!running) atomic_store(&w->broken, errno);
    while (running > 0) {
        int status, me = 0;
        pid_t ended = wait(&status);
        if (ended < 0 && errno == EINTR) continue;
        if (ended < 0) return;
        while (me < jobs && pids[me] != ended) me++;
        if (me == jobs) continue;
        running--;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        bury(o, all, w, me, fd);
        running += (pids[me] = start_worker(o, all, left, count, w, me, fd)) > 0;
    }
}

bool grade_class(const class_options *o, const submissions *all, class_rows *done, char *err, size_t room)
{
    int *left = memory_zeroed((size_t)all->count + 1, sizeof *left, "the submissions"), count = 0;
    for (int i = 0; i < all->count; i++)
        if (!class_rows_have(done, all->list[i].student, all->list[i].lesson->id)) left[count++] = i;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    int jobs = o->jobs > 0 ? o->jobs : cpus > 0 ? (int)cpus : 1;
    if (jobs > MOST_JOBS) jobs = MOST_JOBS;
    if (jobs > count) jobs = count;
    work *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool ready = w != MAP_FAILED && class_rows_write(done, o->csv); /* without what a killed run has left unfinished */
    int fd = ready ? open(o->csv, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (fd >= 0 && count) supervise(o, all, left, count, w, jobs, fd);
    int broken = fd < 0 ? errno : atomic_load(&w->broken);
    if (broken)
        snprintf(err, room, "cannot write %s: %s; what is in it counts: start again to go on", o->csv,
                 strerror(broken));
    if (fd >= 0) close(fd);
    if (w != MAP_FAILED) munmap(w, sizeof *w);
    free(left);
    return !broken;
}

/* ---- protections ---------------------------------------------------------------------------------------------- */

unsigned class_user(void)
{
    const struct passwd *nobody = geteuid() == 0 ? getpwnam("nobody") : NULL;
    return nobody ? nobody->pw_uid : 0;
}

void class_protections(const class_options *o, char *out, size_t room)
{
    child_limits l = child_default_limits();
    double seconds = o->seconds > 0 ? o->seconds : l.seconds;
    const char *user = o->as_user ? "as another user (nobody), who cannot gain rights"
                                  : "as you: only root can run them as another user";
    const char *network = o->as_user && child_can_unplug() ? "without network" : "with network";
    snprintf(out, room, "each program has %g s, %zu MiB, %d processes; it runs %s, %s", seconds, l.memory >> 20,
             l.processes, user, network);
}
