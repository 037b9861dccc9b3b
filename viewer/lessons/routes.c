/* routes.c: the page's requests about lessons: /api/lessons and below.
 *
 *   GET  /api/lessons                [{"id", "part", "title", "summary", "minutes", "done", "attempts"}]
 *   GET  /api/lessons/ID             html, demo, source, path, hints, done, budget, goal, docs, predict, answers
 *   GET  /api/lessons/ID/hints/N     {"html"}
 *   POST /api/lessons/ID/run         {"what": "demo" | "mine", "tab"}
 *   POST /api/lessons/ID/save        {"source", "tab"}
 *   POST /api/lessons/ID/reset       {} -> {"source"} */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lesson_text.h"
#include "progress.h"
#include "run.h"
#include "run_manager.h"

static reply problem(int status, const char *message)
{
    cJSON *json = cJSON_CreateObject();
    json_text(json, "error", message, strlen(message));
    return (reply){status, json};
}

static reply success(cJSON *json)
{
    if (!json) {
        json = cJSON_CreateObject();
        cJSON_AddTrueToObject(json, "ok");
    }
    return (reply){200, json};
}

static void add(cJSON *to, const char *key, const char *text) { json_text(to, key, text, strlen(text)); }

/* ---- GET ----------------------------------------------------------------------------------------------- */

static cJSON *entry_json(const run_manager *m, const lesson *l)
{
    progress p = progress_of(run_manager_paths(m), l);
    cJSON *json = cJSON_CreateObject();
    add(json, "id", l->id);
    add(json, "part", l->part);
    add(json, "title", l->title);
    add(json, "summary", l->summary);
    cJSON_AddNumberToObject(json, "minutes", l->minutes);
    cJSON_AddBoolToObject(json, "done", p.done);
    cJSON_AddNumberToObject(json, "attempts", p.attempts);
    return json;
}

static reply list_lessons(const run_manager *m)
{
    cJSON *all = cJSON_CreateArray();
    const catalogue *c = run_manager_catalogue(m);
    for (int i = 0; i < c->count; i++) cJSON_AddItemToArray(all, entry_json(m, &c->lessons[i]));
    return success(all);
}

static void add_file(cJSON *to, const char *key, const char *path)
{
    size_t size = 0;
    char *text = file_read(path, &size);
    json_text(to, key, text ? text : "", text ? size : 0);
    free(text);
}

static void add_html(cJSON *to, const char *markdown, size_t size)
{
    char *html = lesson_html(markdown, size);
    add(to, "html", html);
    free(html);
}

static void add_text(cJSON *to, const char *path)
{
    size_t size = 0;
    char *text = file_read(path, &size);
    add_html(to, text ? text : "", text ? size : 0);
    free(text);
}

static void add_questions(cJSON *to, const lesson *l)
{
    cJSON *all = cJSON_AddArrayToObject(to, "predict");
    for (int i = 0; i < l->question_count; i++) {
        const lesson_question *q = &l->questions[i];
        cJSON *one = cJSON_CreateObject(), *choices = cJSON_AddArrayToObject(one, "choices");
        add(one, "ask", q->ask);
        for (int k = 0; k < q->choice_count; k++) cJSON_AddItemToArray(choices, cJSON_CreateString(q->choices[k]));
        cJSON_AddItemToArray(all, one);
    }
}

static reply show_lesson(run_manager *m, const lesson *l)
{
    char path[PATH_ROOM], mine[PATH_ROOM], name[256], err[PATH_ROOM * 3];
    const home *h = run_manager_paths(m);
    lesson_file_path(h, l, mine);
    char *source = file_read(mine, NULL);
    if (!source) { /* first use */
        if (!lesson_create_file(h, l, err, sizeof err)) return problem(500, err);
        workspace_ignore_save(run_manager_workspace(m, l));
    }
    free(source);

    cJSON *json = entry_json(m, l);
    lesson_path(h, l, "README.md", path);
    add_text(json, path);
    lesson_path(h, l, "demo.c", path);
    add_file(json, "demo", path);
    add_file(json, "source", mine);
    lesson_name(h, l, name);
    add(json, "path", name);
    cJSON_AddNumberToObject(json, "hints", l->hint_count);
    add(json, "budget", l->budget);
    add(json, "goal", l->goal);
    cJSON *docs = cJSON_AddObjectToObject(json, "docs");
    add(docs, "title", l->docs_title);
    add(docs, "url", l->docs_url);
    add_questions(json, l);
    cJSON_AddItemToObject(json, "answers", workspace_answers(run_manager_workspace(m, l)));
    return success(json);
}

static reply show_hint(const lesson *l, const char *number)
{
    char *end, message[128];
    long n = strtol(number, &end, 10);
    if (!*number || *end || n < 1 || n > l->hint_count) {
        snprintf(message, sizeof message, "%s has hints 1 to %d", l->id, l->hint_count);
        return problem(404, message);
    }
    cJSON *json = cJSON_CreateObject();
    add_html(json, l->hints[n - 1], strlen(l->hints[n - 1]));
    return success(json);
}

/* ---- POST ---------------------------------------------------------------------------------------------- */

static const char *text_in(const cJSON *body, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(body, key);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

/* The name of the tab that asks; other tabs do not go to its run. NULL: none, or not of letters and digits. */
static const char *tab_in(const cJSON *body)
{
    const char *name = text_in(body, "tab");
    size_t n = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789") : 0;
    return n && n < 24 && !name[n] ? name : NULL;
}

static reply post_run(run_manager *m, const lesson *l, const cJSON *body)
{
    const char *what = text_in(body, "what");
    bool demo = what && !strcmp(what, "demo");
    if (!demo && (!what || strcmp(what, "mine")))
        return problem(400, "say which program to run: {\"what\": \"demo\"} or {\"what\": \"mine\"}");
    workspace_request(run_manager_workspace(m, l), demo ? REQUEST_DEMO : REQUEST_MINE, tab_in(body));
    return success(NULL);
}

/* Runs at once, without waiting for the watcher to notice the save. */
static reply post_save(run_manager *m, const lesson *l, const cJSON *body)
{
    char path[PATH_ROOM], message[PATH_ROOM + 128];
    const char *source = text_in(body, "source");
    if (!source) return problem(400, "send the whole file: {\"source\": \"...\"}");
    lesson_file_path(run_manager_paths(m), l, path);
    if (!folder_make(run_manager_paths(m)->my) || !file_write(path, source, strlen(source))) {
        snprintf(message, sizeof message, "cannot write %s: %s; make the folder writable", path, strerror(errno));
        return problem(500, message);
    }
    workspace_ignore_save(run_manager_workspace(m, l));
    workspace_request(run_manager_workspace(m, l), REQUEST_MINE, tab_in(body));
    return success(NULL);
}

static reply post_reset(run_manager *m, const lesson *l)
{
    char path[PATH_ROOM], kept[PATH_ROOM], err[PATH_ROOM * 3];
    if (!lesson_reset(run_manager_paths(m), l, kept, err, sizeof err)) return problem(500, err);
    workspace_ignore_save(run_manager_workspace(m, l));
    cJSON *json = cJSON_CreateObject();
    lesson_file_path(run_manager_paths(m), l, path);
    add_file(json, "source", path);
    return success(json);
}

/* ---- dispatch -------------------------------------------------------------------------------------------- */

/* "/01-where-am-i/hints/2" becomes the lesson and "hints/2". Only full ids match. */
static const lesson *split(const run_manager *m, const char *rest, const char **below)
{
    const catalogue *c = run_manager_catalogue(m);
    size_t n = strcspn(rest + 1, "/");
    *below = rest[1 + n] ? rest + n + 2 : "";
    for (int i = 0; i < c->count; i++)
        if (strlen(c->lessons[i].id) == n && !strncmp(c->lessons[i].id, rest + 1, n)) return &c->lessons[i];
    return NULL;
}

static reply no_lesson(void) { return problem(404, "there is no such lesson; GET /api/lessons lists them"); }

static reply get_lessons(const request *r)
{
    const char *below;
    run_manager *m = r->user;
    if (!*r->rest || !strcmp(r->rest, "/")) return list_lessons(m);
    const lesson *l = split(m, r->rest, &below);
    if (!l) return no_lesson();
    if (!*below) return show_lesson(m, l);
    if (!strncmp(below, "hints/", 6)) return show_hint(l, below + 6);
    return problem(404, "a lesson has no such resource, only hints/N");
}

static reply post_lessons(const request *r)
{
    const char *below = "";
    run_manager *m = r->user;
    const lesson *l = *r->rest ? split(m, r->rest, &below) : NULL;
    if (!l) return no_lesson();
    if (!strcmp(below, "run")) return post_run(m, l, r->body);
    if (!strcmp(below, "save")) return post_save(m, l, r->body);
    if (!strcmp(below, "reset")) return post_reset(m, l);
    return problem(404, "no such action: a lesson takes run, save and reset");
}

const route lesson_routes[] = {
    {"GET", "/api/lessons", get_lessons},
    {"POST", "/api/lessons", post_lessons},
    {NULL, NULL, NULL},
};
