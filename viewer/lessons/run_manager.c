/* run_manager.c: a workspace a lesson, each with a thread that runs what was asked for last, and one thread that
 * watches the files. */
#define _GNU_SOURCE 1

#include "run_manager.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "report.h"
#include "watch.h"
#include "settings.h"

struct workspace {
    run_manager *run_manager;
    const lesson *lesson;
    pthread_t thread;
    watched file;
    run_request wished; /* what to do next */
    int stopper;        /* closing it stops what runs now; -1: nothing runs */
    int shown;          /* the server's number of the run that is on; 0: none */
    bool demo;          /* is it the example's? */
};

struct run_manager {
    const home *home;
    const catalogue *catalogue;
    child_limits limits;
    server *web;
    workspace *workspaces;
    pthread_mutex_t lock;     /* guards the workspaces */
    pthread_mutex_t terminal; /* one report at a time */
    pthread_cond_t changed;
    pthread_t watcher;
    int threads; /* workspaces whose thread runs */
    bool started, closing;
};

const home *run_manager_paths(const run_manager *s) { return s->home; }
const catalogue *run_manager_catalogue(const run_manager *s) { return s->catalogue; }
workspace *run_manager_workspace(run_manager *s, const lesson *l) { return &s->workspaces[l - s->catalogue->lessons]; }

/* ---- what pages are told ------------------------------------------------------------------------------- */

static cJSON *status_of(const workspace *d, const char *state)
{
    cJSON *status = cJSON_CreateObject();
    cJSON_AddStringToObject(status, "type", "status");
    cJSON_AddStringToObject(status, "lesson", d->lesson->id);
    cJSON_AddStringToObject(status, "state", state);
    cJSON_AddStringToObject(status, "what", d->demo ? "demo" : "mine");
    if (d->shown) cJSON_AddNumberToObject(status, "run", d->shown);
    return status;
}

static void end_shown(workspace *d)
{
    if (d->shown) server_run_ended(d->run_manager->web, d->shown);
}

/* The program is about to write this log: pages follow it from now on. */
static void show_log(workspace *d, int log_fd)
{
    char label[128], err[256];
    int own = fcntl(log_fd, F_DUPFD_CLOEXEC, 3);
    feed *f = own >= 0 ? feed_of_log(own, err, sizeof err) : NULL;
    end_shown(d);
    if (!f) return;
    snprintf(label, sizeof label, "%s%s.c", d->demo ? "example of " : "my/", d->lesson->id);
    d->shown = server_add_run(d->run_manager->web, f, d->lesson->id, d->demo ? "demo" : "mine", label);
}

static void on_stage(void *user, run_stage stage, int log_fd)
{
    workspace *d = user;
    if (stage == RUN_STARTED) show_log(d, log_fd);
    if (stage == RUN_OVER) end_shown(d);
    if (d->demo || stage == RUN_OVER) return;
    server_status(d->run_manager->web, status_of(d, stage == RUN_STARTED ? "running" : "compiling"));
}

static void add_error(cJSON *status, const outcome *out)
{
    json_text(status, "message", out->message, strlen(out->message));
    json_text(status, "hint", out->hint, strlen(out->hint));
    json_text(status, "source", out->source, strlen(out->source));
    json_text(status, "file", out->file, strlen(out->file));
    json_text(status, "compiler", out->diagnosis.raw, strlen(out->diagnosis.raw));
    if (out->line > 0) cJSON_AddNumberToObject(status, "line", out->line);
    else cJSON_AddNullToObject(status, "line");
}

/* Of an example that ran: what it printed, as a verdict has it. */
static void tell_demo(const workspace *d, const outcome *out)
{
    cJSON *status = status_of(d, "done");
    json_text(status, "output", out->output, out->kept < OUTPUT_SHOWN ? out->kept : OUTPUT_SHOWN);
    server_status(d->run_manager->web, status);
}

static void tell_outcome(workspace *d, const outcome *out)
{
    bool error = out->end == RUN_REFUSED || out->end == RUN_TROUBLE || (d->demo && out->end == RUN_FAILED);
    if (out->end == RUN_STOPPED) return;
    if (d->demo && !error) {
        tell_demo(d, out);
        return;
    }
    cJSON *status = status_of(d, error ? "error" : "done");
    if (error) add_error(status, out);
    else cJSON_AddItemToObject(status, "verdict", outcome_json(out));
    server_status(d->run_manager->web, status);
    pthread_mutex_lock(&d->run_manager->terminal);
    report(stdout, d->lesson, out);
    pthread_mutex_unlock(&d->run_manager->terminal);
}

/* ---- a workspace's thread -------------------------------------------------------------------------------------- */

static void work(workspace *d, run_request what, int stop_fd)
{
    outcome out;
    d->demo = what == REQUEST_DEMO;
    d->shown = 0;
    run_options o = {.home = d->run_manager->home,
                     .lesson = d->lesson,
                     .demo = d->demo,
                     .grade = true,
                     .seed = fy_session_seed(),
                     .limits = d->run_manager->limits,
                     .stop_fd = stop_fd,
                     .stage = on_stage,
                     .user = d};
    run(&o, &out);
    tell_outcome(d, &out);
    outcome_free(&out);
}

/* Waits for a run_request; false when the run_manager closes. stop_fd hangs up when the run is to end. */
static bool take_wish(workspace *d, run_request *what, int *stop_fd)
{
    run_manager *s = d->run_manager;
    int ends[2];
    pthread_mutex_lock(&s->lock);
    while (!s->closing && d->wished == REQUEST_NOTHING) pthread_cond_wait(&s->changed, &s->lock);
    *what = d->wished;
    d->wished = REQUEST_NOTHING;
    bool ready = !s->closing && pipe2(ends, O_CLOEXEC) == 0;
    *stop_fd = ready ? ends[0] : -1;
    d->stopper = ready ? ends[1] : -1;
    bool closing = s->closing;
    pthread_mutex_unlock(&s->lock);
    return !closing;
}

static void stop_work(workspace *d)
{
    if (d->stopper >= 0) close(d->stopper);
    d->stopper = -1;
}

static void *sit_at(void *user)
{
    workspace *d = user;
    run_request what;
    for (int stop_fd; take_wish(d, &what, &stop_fd);) {
        work(d, what, stop_fd);
        pthread_mutex_lock(&d->run_manager->lock);
        stop_work(d);
        pthread_mutex_unlock(&d->run_manager->lock);
        if (stop_fd >= 0) close(stop_fd);
    }
    return NULL;
}

void workspace_request(workspace *d, run_request what)
{
    pthread_mutex_lock(&d->run_manager->lock);
    d->wished = what;
    stop_work(d);
    pthread_cond_broadcast(&d->run_manager->changed);
    pthread_mutex_unlock(&d->run_manager->lock);
}

void workspace_saved(workspace *d)
{
    char path[HOME_PATH];
    lesson_mine(d->run_manager->home, d->lesson, path);
    pthread_mutex_lock(&d->run_manager->lock);
    watch_begin(&d->file, path);
    pthread_mutex_unlock(&d->run_manager->lock);
}

/* ---- the watcher ------------------------------------------------------------------------------------------ */

static bool was_saved(run_manager *s, workspace *d)
{
    pthread_mutex_lock(&s->lock);
    bool saved = watch_look(&d->file);
    pthread_mutex_unlock(&s->lock);
    return saved;
}

static bool is_closing(run_manager *s)
{
    pthread_mutex_lock(&s->lock);
    bool closing = s->closing;
    pthread_mutex_unlock(&s->lock);
    return closing;
}

static void *watch_files(void *user)
{
    run_manager *s = user;
    const struct timespec pause = {.tv_nsec = WATCH_MS * 1000000L};
    while (!is_closing(s)) {
        for (int i = 0; i < s->catalogue->count; i++)
            if (was_saved(s, &s->workspaces[i])) workspace_request(&s->workspaces[i], REQUEST_MINE);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* ---- open and close --------------------------------------------------------------------------------------- */

run_manager *run_manager_open(const home *h, const catalogue *c, double seconds)
{
    run_manager *s = memory_zeroed(1, sizeof *s, "the lessons");
    workspace *workspaces = memory_zeroed((size_t)c->count, sizeof *workspaces, "the lessons");
    *s = (run_manager){.home = h, .catalogue = c, .limits = {.seconds = seconds}, .workspaces = workspaces};
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->terminal, NULL);
    pthread_cond_init(&s->changed, NULL);
    for (int i = 0; i < c->count; i++) {
        workspaces[i].run_manager = s;
        workspaces[i].lesson = &c->lessons[i];
        workspaces[i].stopper = -1;
        workspace_saved(&workspaces[i]);
    }
    return s;
}

bool run_manager_start(run_manager *s, server *web)
{
    s->web = web;
    for (int i = 0; i < s->catalogue->count; i++) {
        if (pthread_create(&s->workspaces[i].thread, NULL, sit_at, &s->workspaces[i]) != 0) return false;
        s->threads++;
    }
    s->started = pthread_create(&s->watcher, NULL, watch_files, s) == 0;
    return s->started;
}

void run_manager_stop(run_manager *s)
{
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    for (int i = 0; i < s->catalogue->count; i++) stop_work(&s->workspaces[i]);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < s->threads; i++) pthread_join(s->workspaces[i].thread, NULL);
    if (s->started) pthread_join(s->watcher, NULL);
    s->threads = 0;
    s->started = false;
}

void run_manager_free(run_manager *s)
{
    if (!s) return;
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->terminal);
    pthread_cond_destroy(&s->changed);
    free(s->workspaces);
    free(s);
}
