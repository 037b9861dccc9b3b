/* options.c: parses a subcommand's arguments, and opens the lessons. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

void command_error(const char *message) { fprintf(stderr, "ferry: %s\n", message); }

void command_print_json(cJSON *json)
{
    char *text = cJSON_PrintUnformatted(json);
    puts(text);
    cJSON_free(text);
    cJSON_Delete(json);
}

int command_refuse(bool json, const char *id, const char *message)
{
    cJSON *object = json ? cJSON_CreateObject() : NULL;
    if (!json) {
        command_error(message);
        return NOT_PASSED;
    }
    cJSON_AddStringToObject(object, "lesson", id);
    cJSON_AddStringToObject(object, "error", message);
    command_print_json(object);
    return NOT_PASSED;
}

static bool refuse(const command *c, const char *what, const char *argument)
{
    fprintf(stderr, "ferry %s: %s '%s'\nusage: ferry %s %s\n", c->name, what, argument, c->name, c->arguments);
    return false;
}

/* Is the option, of n characters, a word of "--json --port"? */
static bool is_allowed(const char *allowed, const char *option, size_t n)
{
    for (const char *p = allowed; (p = strstr(p, option)); p++)
        if ((p == allowed || p[-1] == ' ') && (p[n] == ' ' || !p[n])) return true;
    return false;
}

static bool set_flag(options *o, const char *name)
{
    if (!strcmp(name, "--all")) return o->all = true;
    if (!strcmp(name, "--demo")) return o->demo = true;
    if (!strcmp(name, "--json")) return o->json = true;
    if (!strcmp(name, "--yes")) return o->yes = true;
    if (!strcmp(name, "--no-browser")) return o->no_browser = true;
    if (!strcmp(name, "--pinned")) return o->pinned = true;
    if (!strcmp(name, "--async")) return o->async = true;
    if (!strcmp(name, "--html")) return o->html = true;
    if (!strcmp(name, "--perfetto")) return o->perfetto = true;
    if (!strcmp(name, "--svg")) return o->svg = true;
    if (!strcmp(name, "--png")) return o->png = true;
    return false;
}

static bool set_value(options *o, const char *name, const char *value)
{
    char *end;
    const char **text = NULL;
    if (!strcmp(name, "--allow-host")) text = &o->allow_host;
    if (!strcmp(name, "--card")) text = &o->card;
    if (!strcmp(name, "--bus")) text = &o->bus;
    if (!strcmp(name, "--peer")) text = &o->peer;
    if (!strcmp(name, "-o")) text = &o->output;
    if (!strcmp(name, "--browser")) text = &o->browser;
    if (!strcmp(name, "--csv")) text = &o->csv;
    if (!strcmp(name, "--gradescope")) text = &o->gradescope;
    if (!strcmp(name, "--junit")) text = &o->junit;
    if (!strcmp(name, "--lessons")) text = &o->lessons;
    if (!strcmp(name, "--points")) text = &o->points;
    if (!strcmp(name, "--secret")) text = &o->secret;
    if (!strcmp(name, "--shard")) text = &o->shard;
    if (!strcmp(name, "--student")) text = &o->student;
    if (!strcmp(name, "--trace")) text = &o->trace;
    if (text) {
        *text = value;
        return *value != '\0';
    }

    errno = 0;
    if (!strcmp(name, "--port")) {
        long port = strtol(value, &end, 10);
        o->port = (int)port;
        return *value && !*end && !errno && port > 0 && port < 65536;
    }
    if (!strcmp(name, "--jobs")) {
        long jobs = strtol(value, &end, 10);
        o->jobs = (int)jobs;
        return *value && !*end && !errno && jobs > 0 && jobs <= 64;
    }
    if (!strcmp(name, "--step") || !strcmp(name, "--at")) {
        o->step = strtol(value, &end, 10);
        return *value && !*end && !errno && o->step > 0;
    }
    o->seconds = strtod(value, &end);
    return *value && !*end && o->seconds > 0 && o->seconds <= 3600;
}

/* "--port 8800" or "--port=8800". Returns the number of arguments consumed, 0 after an error. */
static int read_option(options *o, const command *c, char **argv, const char *allowed)
{
    char name[32];
    size_t n = strcspn(argv[0], "=");
    snprintf(name, sizeof name, "%.*s", (int)(n < 31 ? n : 31), argv[0]);
    if (!is_allowed(allowed, name, n)) return refuse(c, "unknown option", argv[0]);
    if (set_flag(o, name)) return argv[0][n] ? refuse(c, "this option takes no value:", argv[0]) : 1;
    const char *value = argv[0][n] ? argv[0] + n + 1 : argv[1];
    if (!value) return refuse(c, "a value is missing after", argv[0]);
    if (!set_value(o, name, value)) return refuse(c, "invalid value:", value);
    return argv[0][n] ? 1 : 2;
}

bool options_read(options *o, const command *c, int argc, char **argv, const char *allowed, int words)
{
    int count = 0;
    *o = (options){.port = 8700};
    for (int i = 0, taken; i < argc; i += taken) {
        taken = 1;
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            printf("usage: ferry %s %s\n  %s\n", c->name, c->arguments, c->help);
            exit(0);
        }
        if (argv[i][0] == '-' && argv[i][1]) {
            taken = read_option(o, c, argv + i, allowed);
            if (!taken) return false;
        } else if (count < words) {
            o->word[count++] = argv[i];
        } else {
            return refuse(c, "one argument too many:", argv[i]);
        }
    }
    return true;
}

/* --lessons is FERRY_LESSONS from here on, and commands that are suggested say so. */
static void use_lessons(const char *folder)
{
    static char name[2 * PATH_ROOM];
    bool needs_quotes = strpbrk(folder, " \t\n'\"\\$`&|;<>()*?[]#~!{}") != NULL;
    setenv("FERRY_LESSONS", folder, 1);
    if (needs_quotes) return;
    snprintf(name, sizeof name, "FERRY_LESSONS=%.3000s %.3000s", folder, command_name);
    command_name = name;
}

bool lessons_open(lesson_env *s, const options *o)
{
    char err[2048] = "";
    if (o->lessons) use_lessons(o->lessons);
    bool ok = paths_find(&s->home, err, sizeof err) && catalogue_open(&s->catalogue, &s->home, err, sizeof err);
    if (!ok) command_error(err);
    for (int i = 0; ok && i < s->catalogue.broken_count; i++)
        fprintf(stderr, "ferry: %s (the other lessons work without it)\n", s->catalogue.broken[i].why);
    return ok;
}

void lessons_close(lesson_env *s) { catalogue_close(&s->catalogue); }

const lesson *lessons_find(const lesson_env *s, const command *c, const char *asked)
{
    char err[2048];
    if (!asked) {
        fprintf(stderr, "usage: ferry %s %s\n", c->name, c->arguments);
        return NULL;
    }
    const lesson *l = lesson_find(&s->catalogue, asked, err, sizeof err);
    if (!l) command_error(err);
    return l;
}
