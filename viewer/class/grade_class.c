/* grade_class.c: worker processes that take one submission after the other. Each builds and runs it in a folder of its
 * own, and appends its rows with one write. */
#define _GNU_SOURCE 1

#include "grade_class.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alike.h"
#include "class_lock.h"
#include "class_place.h"
#include "memory.h"
#include "scratch.h"
#include "stale_rows.h"
#include "student_name.h"

const char starter_earns_nothing[] =
    "the program is the starter, comments and names of variables aside: it earns nothing";

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
    bool pass = !out->unfinished && !out->untouched;
    for (int i = 0; i < out->verdict.checks; i++)
        pass = pass && (out->verdict.check[i].pass || strcmp(out->verdict.check[i].name, c->name) != 0);
    return pass ? check_worth(p, l, out, c) : 0;
}

/* The rows of one submission that was judged; the last is "total". predicted: points for predictions. */
static void submission_rows(fy_text *to, const class_options *o, const submission *s, const outcome *out,
                            double predicted)
{
    const char *student = s->name;
    const lesson *l = s->lesson;
    const points_table *p = o->points;
    double sum = predicted, total = points_total(p, l->id);
    int n = out->graded ? out->verdict.checks : 0;
    if (out->untouched) class_row_add(to, student, l->id, "changed", 0, 0, -1, starter_earns_nothing);
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
    class_row_add(to, student, l->id, "total", sum, total, submission_fingerprint(&o->secret, s),
                  out->end == RUN_PASSED ? "passed" : "failed");
}

/* ---- one submission ----------------------------------------------------------------------------------------- */

/* It is the user's alone: other submissions may not look into it. */
static bool give_to(unsigned user, const char *path) { return chown(path, user, user) == 0 && chmod(path, 0700) == 0; }

/* Makes FOLDER/my/ID.c, a copy, with the headers beside it; the folders of the build; and FOLDER/tmp, for the temporary
 * files of compiler and program. */
static bool lay_out(const class_options *o, const submission *s, const char *folder, const char *temporary, home *h)
{
    char file[PATH_ROOM];
    size_t size;
    *h = *o->home;
    h->made_apart = false;
    if (class_user(&o->users, o->number)) class_place_use(o->scratch, h);
    snprintf(h->beside, sizeof h->beside, "%s", folder);
    snprintf(h->my, sizeof h->my, "%.2900s/my", folder);
    snprintf(h->made, sizeof h->made, "%.2900s/made", folder);
    char *text = file_read(s->path, &size);
    snprintf(file, sizeof file, "%.2900s/%s.c", h->my, s->lesson->id);
    bool ok = text && folder_make(h->my) && folder_make(h->made) && folder_make(temporary) &&
              file_write(file, text, size) && chmod(file, 0644) == 0;
    free(text);
    unsigned user = class_user(&o->users, o->number);
    if (ok && user)
        ok = chmod(folder, 0711) == 0 && give_to(user, h->my) && give_to(user, h->made) && give_to(user, temporary);
    return ok;
}

enum { MOST_LEFT = 64 << 20 }; /* bytes of files that a submission may leave; one that learns writes a few KiB */

static long long blocks_left; /* of the folder that nftw walks; a worker has one thread */

static int add_blocks(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)path, (void)type, (void)at;
    blocks_left += (long long)st->st_blocks;
    return 0;
}

/* Where the disk was full, and its own files are why, that is its result. Others, which it hit, have none. */
static void blame_for_full_disk(const char *folder, outcome *out)
{
    if (out->end != RUN_ENVIRONMENT_ERROR || out->ran) return;
    blocks_left = 0;
    nftw(folder, add_blocks, 16, FTW_PHYS);
    if (blocks_left * 512 < MOST_LEFT) return;
    out->end = RUN_FAILED;
    snprintf(out->message, sizeof out->message, "the program filled the disk: it left files of %lld MiB",
             blocks_left >> 11);
    snprintf(out->hint, sizeof out->hint, "look for a write in a loop that never ends");
}

bool submission_run(const class_options *o, const submission *s, outcome *out, char *err, size_t room)
{
    char folder[PATH_ROOM], temporary[PATH_ROOM];
    home h;
    run_options how = {.home = &h,
                       .lesson = s->lesson,
                       .grade = true,
                       .unrecorded = true,
                       .seed = student_seed(&o->secret, s->student, s->lesson->id, 1),
                       .second_seed = student_seed(&o->secret, s->student, s->lesson->id, 2),
                       .limits = {.seconds = o->seconds},
                       .temporary = temporary,
                       .hidden = o->hidden,
                       .as_user = class_user(&o->users, o->number),
                       .stop_fd = -1};
    snprintf(folder, sizeof folder, "%.2900s/%d", o->scratch, o->job);
    snprintf(temporary, sizeof temporary, "%.2900s/tmp", folder);
    bool ready = folder_make(folder) && lay_out(o, s, folder, temporary, &h);
    if (ready) {
        run(&how, out);
        out->untouched = alike_is_starter(o->home, s);
        blame_for_full_disk(folder, out);
    } else snprintf(err, room, "cannot copy %.900s into %.900s: %s", s->path, folder, strerror(errno));
    folder_remove(folder);
    return ready;
}

bool submission_predictions(const class_options *o, const submission *s, predictions *all, char *err, size_t room)
{
    return sheet_grade(o->home, s->lesson, &o->secret, s->student, s->sheet, o->points, o->seconds, all, err, room);
}

/* The rows of what has no verdict. */
static void add_reason(fy_text *rows, const class_options *o, const submission *s, const char *check, const char *why,
                       double predicted)
{
    const char *id = s->lesson->id;
    class_row_add(rows, s->name, id, check, 0, 0, -1, why);
    class_row_add(rows, s->name, id, "total", predicted, points_total(o->points, id),
                  submission_fingerprint(&o->secret, s), "failed");
}

/* The rows of a submission; false, with the reason in err, if the machine failed: then there are none. */
static bool grade_one(const class_options *o, const submission *s, fy_text *rows, char *err, size_t room)
{
    outcome out;
    predictions all;
    if (!submission_predictions(o, s, &all, err, room)) return false;
    for (int i = 0; i < all.count; i++) {
        const prediction *p = &all.list[i];
        class_row_add(rows, s->name, s->lesson->id, p->check, p->points, p->of, -1, p->message);
    }
    if (!s->path || *s->refused) {
        add_reason(rows, o, s, "submitted", *s->refused ? s->refused : "no file was handed in", all.points);
        return true;
    }
    if (s->begun > 1) {
        add_reason(rows, o, s, "ran", "the grader was killed while it ran: grade it by hand", all.points);
        return true;
    }
    if (!submission_run(o, s, &out, err, room)) return false;
    bool judged = out.ran || out.end != RUN_ENVIRONMENT_ERROR;
    if (judged) submission_rows(rows, o, s, &out, all.points);
    else snprintf(err, room, "%.600s; %.500s", out.message, out.hint);
    outcome_free(&out);
    return judged;
}

/* ---- the workers --------------------------------------------------------------------------------------------- */

typedef struct work {
    atomic_int next;      /* of the submissions that are left */
    int doing[MOST_JOBS]; /* by worker: the one in hand, from 1; 0: none */
    atomic_int broken;    /* errno of a failed write */
    atomic_int undone;    /* submissions that the machine could not grade */
    char why[1200];       /* the first of them, and the reason */
} work;

static bool append(int fd, const fy_text *rows)
{
    ssize_t n = rows->size ? write(fd, rows->data, rows->size) : 0; /* O_APPEND: whole, whoever writes as well */
    if (n != (ssize_t)rows->size && n >= 0) errno = ENOSPC;
    return n == (ssize_t)rows->size;
}

static void note_undone(work *w, const submission *s, const char *why)
{
    if (atomic_fetch_add(&w->undone, 1) != 0) return;
    snprintf(w->why, sizeof w->why, "%.200s's %s: %.900s", s->name, s->lesson->id, why);
    make_printable(w->why); /* it may have the compiler's words, with a student's in them */
}

static _Noreturn void work_on(const class_options *o, const submissions *all, const int *left, int count, work *w,
                              int me, int fd)
{
    class_options mine = *o;
    mine.job = me;
    for (int i; !atomic_load(&w->broken) && (i = atomic_fetch_add(&w->next, 1)) < count;) {
        fy_text rows = {0};
        char err[1200];
        const submission *s = &all->list[left[i]];
        mine.number = left[i];
        w->doing[me] = left[i] + 1;
        bool noted = class_lock_note(o->lock, s, true), graded = noted && grade_one(&mine, s, &rows, err, sizeof err);
        if (rows.lost) memory_fail("the rows of a class");
        if (noted && !graded) note_undone(w, s, err);
        if (!noted || (graded && !append(fd, &rows)) || !class_lock_note(o->lock, s, false))
            atomic_store(&w->broken, errno);
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
    if (pid == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
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

static volatile sig_atomic_t ending, killed; /* asked for; by a process */

static void note_ending(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    ending = 1;
    if (info->si_code <= 0) killed = 1; /* the kernel's own, from the keyboard or a closed terminal, are above */
}

bool grade_class_was_killed(void) { return killed; }

/* Ctrl-C, kill and a closed terminal end the workers, too, and leave no folder behind. */
static void catch_endings(void)
{
    const struct sigaction noted = {.sa_sigaction = note_ending, .sa_flags = SA_SIGINFO}; /* so wait() returns */
    const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) sigaction(signals[i], &noted, NULL);
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
        for (int i = 0; ending && i < jobs; i++)
            if (pids[i] > 0) kill(pids[i], SIGKILL);
        if (ended < 0 && errno == EINTR) continue;
        if (ended < 0) return;
        while (me < jobs && pids[me] != ended) me++;
        if (me == jobs) continue;
        running--;
        pids[me] = 0;
        if (ending || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) continue;
        bury(o, all, w, me, fd);
        running += (pids[me] = start_worker(o, all, left, count, w, me, fd)) > 0;
    }
}

/* Why some are left; false: none. */
static bool explain_rest(const work *w, int broken, const char *csv, char *err, size_t room)
{
    int undone = atomic_load(&w->undone);
    if (ending) snprintf(err, room, "stopped; what is in %.900s counts: start again to go on", csv);
    else if (broken)
        snprintf(err, room, "cannot write %.900s: %s; what is in it counts: start again to go on", csv,
                 strerror(broken));
    else if (undone)
        snprintf(err, room, "%d submission%s not graded, as the machine failed: %s. Mend that and start again", undone,
                 undone == 1 ? " is" : "s are", w->why);
    return ending || broken || undone;
}

/* left: `count`, and behind them `alone`, which are graded one at a time: if the grader is killed, it is known by whom.
 */
static bool grade_rest(const class_options *o, const submissions *all, const int *left, int count, int alone,
                       class_rows *done, char *err, size_t room)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    int jobs = o->jobs > 0 ? o->jobs : cpus > 0 ? (int)cpus : 1;
    if (jobs > MOST_JOBS) jobs = MOST_JOBS;
    if (jobs > count) jobs = count;
    work *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w == MAP_FAILED) return snprintf(err, room, "cannot share memory: %s", strerror(errno)), false;
    bool ready = class_rows_write(done, o->csv); /* without what a killed run has left unfinished */
    int fd = ready ? open(o->csv, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (fd < 0) atomic_store(&w->broken, errno);
    else if (count && !ending) supervise(o, all, left, count, w, jobs, fd);
    atomic_store(&w->next, 0);
    if (alone && !ending && !atomic_load(&w->broken)) supervise(o, all, left + count, alone, w, 1, fd);
    bool rest = explain_rest(w, atomic_load(&w->broken), o->csv, err, room);
    if (fd >= 0) close(fd);
    munmap(w, sizeof *w);
    return !rest;
}

bool grade_class(const class_options *o, const submissions *all, class_rows *done, char *err, size_t room)
{
    int *left = memory_zeroed((size_t)all->count + 1, sizeof *left, "the submissions"), count = 0, alone = 0;
    char scratch[PATH_ROOM];
    class_options how = *o;
    how.scratch = scratch;
    for (int last = 0; last < 2; last++)
        for (int i = 0; i < all->count; i++) {
            const submission *s = &all->list[i];
            if ((s->begun == 1) != last || class_rows_have(done, s->name, s->lesson->id)) continue;
            left[count + alone] = i;
            last ? alone++ : count++;
        }
    catch_endings();
    int held = class_place_make(&o->users, o->home, scratch, err, room);
    bool ok = held >= 0 && grade_rest(&how, all, left, count, alone, done, err, room);
    if (held >= 0) scratch_remove(scratch, held);
    free(left);
    return ok;
}

/* ---- protections ---------------------------------------------------------------------------------------------- */

void class_protections(const class_options *o, char *out, size_t room)
{
    child_limits l = child_default_limits();
    double seconds = o->seconds > 0 ? o->seconds : l.seconds;
    const char *user =
        !o->users.first      ? "as you: only root can run them as other users, so it can read and change what you can, "
                               "solutions and others' files too"
        : o->users.count > 1 ? "as a user of its own, who cannot gain rights or reach the run of another submission"
                             : "as another user (nobody), who cannot gain rights; those that run at once share it";
    const char *network = o->users.first && child_can_unplug() ? "without network" : "with network";
    snprintf(out, room, "each program has %g s, %zu MiB, %d processes; it runs %s, %s", seconds, l.memory >> 20,
             l.processes, user, network);
}

/* "open: programs ... read WHAT in FOLDER; close it: chmod 700 FOLDER" */
static size_t say_access(class_access is, const char *what, const char *folder, char *out, size_t room)
{
    if (is == CLASS_CLOSED) return 0;
    int n = snprintf(out, room, "open: programs that are graded can read%s %s in %.900s; close it: chmod 700 %.900s\n",
                     is == CLASS_WRITABLE ? " and change" : "", what, folder, folder);
    return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

void class_openness(const class_options *o, const catalogue *lessons, const submissions *all, const char *folder,
                    char *out, size_t room)
{
    int count = all->count > lessons->count ? all->count : lessons->count;
    const char **files = memory_zeroed((size_t)count + 1, sizeof *files, "the submissions");
    char(*solutions)[PATH_ROOM + 80] = memory_zeroed((size_t)lessons->count + 1, sizeof *solutions, "the lessons");
    *out = '\0';
    if (o->users.first) {
        for (int i = 0; i < all->count; i++) files[i] = all->list[i].path ? all->list[i].path : all->list[i].sheet;
        size_t n = say_access(class_users_access(&o->users, o->hidden, files, all->count), "the files of others",
                              folder, out, room);
        for (int i = 0; i < lessons->count; i++) {
            snprintf(solutions[i], sizeof *solutions, "%s/%.63s/solution.c", o->home->lessons, lessons->lessons[i].id);
            files[i] = solutions[i];
        }
        n += say_access(class_users_access(&o->users, o->hidden, files, lessons->count), "the solutions",
                        o->home->lessons, out + n, room - n);
        if (!n)
            snprintf(out, room, "closed: programs that are graded see neither the solutions nor the files of others\n");
    }
    free(solutions);
    free(files);
}
