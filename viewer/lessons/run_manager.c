/* run_manager.c: a workspace per lesson, each with a thread that runs the last request, and one thread that
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
#include "questions.h"
#include "report.h"
#include "watch.h"
#include "settings.h"

/* by: the tab that asked; "": a save in an editor. */
typedef struct {
    run_request what;
    char by[24];
} asked;

struct workspace {
    run_manager *run_manager;
    const lesson *lesson;
    pthread_t thread;
    watched_file file;
    struct {
        asked *all;
        int count, room;
    } waiting;     /* what runs next; by run_manager.lock */
    char by[24];   /* of the current run; likewise */
    int cancel_fd; /* closing it cancels the current run; -1: none; by run_manager.lock */
    int shown;     /* the server's number of the current run; 0: none */
    bool demo;     /* the current run is the example's */
    bool answered; /* the example has run */
    question_answer answers[LESSON_QUESTIONS];
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
    int threads; /* workspaces whose thread was started */
    bool started, closing;
};

const home *run_manager_paths(const run_manager *m) { return m->home; }
const catalogue *run_manager_catalogue(const run_manager *m) { return m->catalogue; }
workspace *run_manager_workspace(run_manager *m, const lesson *l) { return &m->workspaces[l - m->catalogue->lessons]; }

/* ---- messages to the pages ----------------------------------------------------------------------------- */

static cJSON *status_of(const workspace *w, const char *state)
{
    cJSON *status = cJSON_CreateObject();
    cJSON_AddStringToObject(status, "type", "status");
    cJSON_AddStringToObject(status, "lesson", w->lesson->id);
    cJSON_AddStringToObject(status, "state", state);
    cJSON_AddStringToObject(status, "what", w->demo ? "demo" : "mine");
    if (w->shown) cJSON_AddNumberToObject(status, "run", w->shown);
    if (*w->by) cJSON_AddStringToObject(status, "by", w->by);
    cJSON_AddNumberToObject(status, "pages", server_clients(w->run_manager->web));
    return status;
}

static void end_shown(workspace *w)
{
    if (w->shown) server_run_ended(w->run_manager->web, w->shown);
}

/* The program is about to write this log: pages follow it from its start. */
static void show_log(workspace *w, int log_fd)
{
    char label[128], err[256];
    int copy = fcntl(log_fd, F_DUPFD_CLOEXEC, 3);
    feed *f = copy >= 0 ? feed_of_log(copy, err, sizeof err) : NULL;
    end_shown(w);
    if (!f) return;
    snprintf(label, sizeof label, "%s%s.c", w->demo ? "example of " : "my/", w->lesson->id);
    w->shown = server_add_run_by(w->run_manager->web, f, w->lesson->id, w->demo ? "demo" : "mine", label,
                                 *w->by ? w->by : NULL);
}

static void on_stage(void *user, run_stage stage, int log_fd)
{
    workspace *w = user;
    if (stage == RUN_STARTED) show_log(w, log_fd);
    if (stage == RUN_OVER) end_shown(w);
    if (w->demo || stage == RUN_OVER) return;
    server_status(w->run_manager->web, status_of(w, stage == RUN_STARTED ? "running" : "compiling"));
}

cJSON *workspace_answers(workspace *w)
{
    cJSON *all = cJSON_CreateArray();
    pthread_mutex_lock(&w->run_manager->lock);
    for (int i = 0; w->answered && i < w->lesson->question_count; i++)
        cJSON_AddItemToArray(all, w->answers[i].answer == NO_ANSWER ? cJSON_CreateNull()
                                                                    : cJSON_CreateNumber((double)w->answers[i].answer));
    pthread_mutex_unlock(&w->run_manager->lock);
    return all;
}

/* To what the learner has predicted: the example's log tells. */
static void keep_answers(workspace *w, int log_fd)
{
    question_answer answers[LESSON_QUESTIONS];
    questions_answer(w->lesson, log_fd, answers);
    pthread_mutex_lock(&w->run_manager->lock);
    memcpy(w->answers, answers, sizeof answers);
    w->answered = true;
    pthread_mutex_unlock(&w->run_manager->lock);
}

static void send_outcome(workspace *w, const outcome *out)
{
    if (out->end == RUN_STOPPED) return;
    /* An example may end in the failed call that it is about: its picture shows it. */
    bool broken = w->demo && out->end == RUN_FAILED && !out->stopped;
    bool error = out->end == RUN_NOT_COMPILED || out->end == RUN_ENVIRONMENT_ERROR || broken;
    cJSON *status = status_of(w, error ? "error" : "done");
    if (error) {
        json_text(status, "message", out->message, strlen(out->message));
        json_text(status, "hint", out->hint, strlen(out->hint));
        json_text(status, "source", out->source, strlen(out->source));
        json_text(status, "file", out->file, strlen(out->file));
        json_text(status, "compiler", out->diagnosis.raw, strlen(out->diagnosis.raw));
        if (out->line > 0) cJSON_AddNumberToObject(status, "line", out->line);
        else cJSON_AddNullToObject(status, "line");
    } else if (w->demo) { /* in the same field as a verdict's */
        json_text(status, "output", out->output, out->kept < OUTPUT_SHOWN ? out->kept : OUTPUT_SHOWN);
        keep_answers(w, out->log_fd);
        cJSON_AddItemToObject(status, "answers", workspace_answers(w));
    } else {
        cJSON_AddItemToObject(status, "verdict", outcome_json(out));
    }
    server_status(w->run_manager->web, status);

    if (w->demo && !error) return; /* the page shows its output */
    pthread_mutex_lock(&w->run_manager->terminal);
    report(stdout, w->lesson, out);
    pthread_mutex_unlock(&w->run_manager->terminal);
}

/* ---- a workspace's thread -------------------------------------------------------------------------------------- */

static void run_request_now(workspace *w, run_request what, int stop_fd)
{
    outcome out;
    w->demo = what == REQUEST_DEMO;
    w->shown = 0;
    run_options o = {.home = w->run_manager->home,
                     .lesson = w->lesson,
                     .demo = w->demo,
                     .grade = true,
                     .seed = fy_session_seed(),
                     .limits = w->run_manager->limits,
                     .stop_fd = stop_fd,
                     .stage = on_stage,
                     .user = w};
    run(&o, &out);
    send_outcome(w, &out);
    outcome_free(&out);
}

/* Waits for a request; false when the run_manager closes. *stop_fd hangs up when the run is cancelled. */
static bool wait_for_request(workspace *w, run_request *what, int *stop_fd)
{
    run_manager *m = w->run_manager;
    int ends[2];
    pthread_mutex_lock(&m->lock);
    while (!m->closing && !w->waiting.count) pthread_cond_wait(&m->changed, &m->lock);
    if (w->waiting.count) {
        *what = w->waiting.all[0].what;
        memcpy(w->by, w->waiting.all[0].by, sizeof w->by);
        memmove(w->waiting.all, w->waiting.all + 1, (size_t)--w->waiting.count * sizeof *w->waiting.all);
    }
    bool ready = !m->closing && pipe2(ends, O_CLOEXEC) == 0;
    *stop_fd = ready ? ends[0] : -1;
    w->cancel_fd = ready ? ends[1] : -1;
    bool closing = m->closing;
    pthread_mutex_unlock(&m->lock);
    return !closing;
}

static void cancel_run(workspace *w)
{
    if (w->cancel_fd >= 0) close(w->cancel_fd);
    w->cancel_fd = -1;
}

static void *workspace_thread(void *user)
{
    workspace *w = user;
    run_request what = {0};
    for (int stop_fd; wait_for_request(w, &what, &stop_fd);) {
        run_request_now(w, what, stop_fd);
        pthread_mutex_lock(&w->run_manager->lock);
        cancel_run(w);
        pthread_mutex_unlock(&w->run_manager->lock);
        if (stop_fd >= 0) close(stop_fd);
    }
    return NULL;
}

/* Replaces what the same tab asked for before; what other tabs asked for runs to its end first, since they wait for
 * its verdict. A save in an editor replaces all: its verdict goes to every tab. */
void workspace_request(workspace *w, run_request what, const char *by)
{
    asked one = {.what = what};
    snprintf(one.by, sizeof one.by, "%s", by ? by : "");
    pthread_mutex_lock(&w->run_manager->lock);
    int kept = 0;
    for (int i = 0; i < w->waiting.count; i++)
        if (*one.by && strcmp(w->waiting.all[i].by, one.by) != 0) w->waiting.all[kept++] = w->waiting.all[i];
    w->waiting.count = kept;
    MEMORY_PUSH(&w->waiting, "the lessons", one);
    if (!*one.by || !strcmp(w->by, one.by)) cancel_run(w);
    pthread_cond_broadcast(&w->run_manager->changed);
    pthread_mutex_unlock(&w->run_manager->lock);
}

void workspace_ignore_save(workspace *w)
{
    char path[PATH_ROOM];
    lesson_file_path(w->run_manager->home, w->lesson, path);
    pthread_mutex_lock(&w->run_manager->lock);
    watch_start(&w->file, path);
    pthread_mutex_unlock(&w->run_manager->lock);
}

/* ---- the watcher ------------------------------------------------------------------------------------------ */

static void *watch_files(void *user)
{
    run_manager *m = user;
    const struct timespec pause = {.tv_nsec = WATCH_MS * 1000000L};
    for (;;) {
        pthread_mutex_lock(&m->lock);
        bool closing = m->closing;
        pthread_mutex_unlock(&m->lock);
        if (closing) return NULL;

        for (int i = 0; i < m->catalogue->count; i++) {
            workspace *w = &m->workspaces[i];
            pthread_mutex_lock(&m->lock);
            bool saved = watch_poll(&w->file);
            pthread_mutex_unlock(&m->lock);
            if (saved) workspace_request(w, REQUEST_MINE, NULL);
        }
        nanosleep(&pause, NULL);
    }
}

/* ---- open and close --------------------------------------------------------------------------------------- */

run_manager *run_manager_open(const home *h, const catalogue *c, double seconds)
{
    run_manager *m = memory_zeroed(1, sizeof *m, "the lessons");
    workspace *workspaces = memory_zeroed((size_t)c->count, sizeof *workspaces, "the lessons");
    *m = (run_manager){.home = h, .catalogue = c, .limits = {.seconds = seconds}, .workspaces = workspaces};
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_init(&m->terminal, NULL);
    pthread_cond_init(&m->changed, NULL);
    for (int i = 0; i < c->count; i++) {
        workspaces[i].run_manager = m;
        workspaces[i].lesson = &c->lessons[i];
        workspaces[i].cancel_fd = -1;
        workspace_ignore_save(&workspaces[i]);
    }
    return m;
}

bool run_manager_start(run_manager *m, server *web)
{
    m->web = web;
    for (int i = 0; i < m->catalogue->count; i++) {
        if (pthread_create(&m->workspaces[i].thread, NULL, workspace_thread, &m->workspaces[i]) != 0) return false;
        m->threads++;
    }
    m->started = pthread_create(&m->watcher, NULL, watch_files, m) == 0;
    return m->started;
}

void run_manager_stop(run_manager *m)
{
    pthread_mutex_lock(&m->lock);
    m->closing = true;
    for (int i = 0; i < m->catalogue->count; i++) cancel_run(&m->workspaces[i]);
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    for (int i = 0; i < m->threads; i++) pthread_join(m->workspaces[i].thread, NULL);
    if (m->started) pthread_join(m->watcher, NULL);
    m->threads = 0;
    m->started = false;
}

void run_manager_free(run_manager *m)
{
    if (!m) return;
    pthread_mutex_destroy(&m->lock);
    pthread_mutex_destroy(&m->terminal);
    pthread_cond_destroy(&m->changed);
    for (int i = 0; i < m->catalogue->count; i++) free(m->workspaces[i].waiting.all);
    free(m->workspaces);
    free(m);
}
